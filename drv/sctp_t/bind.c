/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Binding: T_BIND_REQ, T_UNBIND_REQ, T_ADDR_REQ.
 *
 * Ports belong to the domain: no other program of the host has them.  A bound
 * endpoint has a slot, its home, whose conn answers packets that belong to no
 * association: INITs, if it listens.
 */
#include "sctp_t.h"

/* sctpt_is_ours - is it an address of this host, or of a wire? */
int
sctpt_is_ours(struct sctpt_state *st, const struct ip_addr *a)
{
	static const struct ip_addr none;
	struct ip_addr src;
	uint32_t mtu;

	return sctpt_route(st, a, &none, &src, &mtu) == sctpt_lo(st);
}

/* The addresses that are wanted: at most one is any.  0, or a TLI error. */
static int
wanted(struct sctpt_state *st, const struct tpi_buf *want, struct ip_addr *a,
	uint32_t *n, uint16_t *port)
{
	uint32_t i;
	int err;

	*n = 1;
	*port = 0;
	a[0].len = 0;
	if (want->len == 0)
		return 0;
	err = sctpt_addr_of(want, a, SCTP_LOCALS, n, port);
	if (err != 0)
		return err;
	if (*n == 1 && sctpt_addr_any(&a[0])) {
		a[0].len = 0;
		return 0;
	}
	for (i = 0; i < *n; i++)
		if (sctpt_addr_any(&a[i]) || !sctpt_is_ours(st, &a[i]))
			return -TNOADDR;
	return 0;
}

/* A port that is not bound; 0: all are.  Locks: the provider's. */
static uint16_t
choose(struct sctpt_state *st, const struct ip_addr *a)
{
	uint32_t i, n = 65536 - SCTPT_PORT_FIRST;
	uint16_t port;

	for (i = 0; i < n; i++) {
		port = (uint16_t)(SCTPT_PORT_FIRST + st->port++ % n);
		if (sctpt_port_free(st, port, a))
			return port;
	}
	return 0;
}

/* Locks: the provider's. */
static int
take_port(struct sctpt *u, struct sctpt_conn *c, const struct ip_addr *a,
	uint32_t n, uint16_t *port, int any)
{
	struct ip_addr one = a[0];
	struct sctpt_slot *sl;

	if (n > 1)
		one.len = 0; /* all their packets come to one home */
	if (*port != 0 && !sctpt_port_free(u->st, *port, &one)) {
		if (!any)
			return -TADDRBUSY;
		*port = 0;
	}
	if (*port == 0)
		*port = choose(u->st, &one);
	if (*port == 0)
		return -TNOADDR;
	sl = sctpt_slot_make(u->st, 1, *port, 0);
	if (sl == NULL)
		return ENOSR;
	c->ep.port = *port;
	c->slot = sl;
	sl->conn = c;
	sl->local = one;
	/* noted first: a killed binder's slot is closed with the endpoint */
	str_store(&u->home, sl);
	STR_POINT("sctp:binding");
	__atomic_store_n(&sl->gen, sl->gen + 1, __ATOMIC_RELEASE);
	sctpt_turn_leave(sl);
	return 0;
}

int
sctpt_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct sctpt *u = sctpt_of(tp);
	struct ip_addr a[SCTP_LOCALS];
	struct sctpt_conn *c;
	uint16_t port, fam;
	uint32_t n, i;
	int err;

	if (u->home != NULL)
		(void)sctpt_unbind(tp); /* of a dead thread */
	err = wanted(u->st, want, a, &n, &port);
	if (err != 0)
		return err;
	u->family = AF_INET;
	if (want->len != 0) {
		bcopy(want->buf, &fam, sizeof(fam));
		u->family = fam;
	}
	c = sctpt_conn_make(&u->conf, port);
	if (c == NULL)
		return ENOSR;
	if (*qlen > SCTPT_QLEN)
		*qlen = SCTPT_QLEN;
	c->user = u;
	c->ref = tp->ref;
	c->ep.listening = *qlen != 0;
	c->ep.nlocal = n > 1 ? n : 0;
	bcopy(a, c->ep.local, sizeof(a));
	mutex_enter(&tp->prov->lock);
	err = take_port(u, c, a, n, &port, any);
	mutex_exit(&tp->prov->lock);
	if (err != 0) {
		sctpt_conn_free(u->st, c);
		return err;
	}
	got->len = 0;
	for (i = 0; i < n; i++)
		got->len += sctpt_addr_put(got->buf + got->len, &a[i], port,
			u->family);
	return 0;
}

/*
 * sctpt_listen - does the endpoint take calls?
 * Context: no turn.
 */
void
sctpt_listen(struct sctpt *u, int on)
{
	struct sctpt_slot *sl = u->home;

	sctpt_turn_wait(sl);
	if (sctpt_in_use(sl) && sl->conn != NULL && sl->conn->user == u)
		sl->conn->ep.listening = on;
	sctpt_turn_leave(sl);
	sctpt_late_place(u);
}

int
sctpt_unbind(struct tpi *tp)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpt_slot *sl = u->home;

	if (sl == NULL)
		return 0;
	if (str_load(&sl->late) != NULL)
		sctpt_listen(u, 0); /* callers that are kept are refused */
	sctpt_turn_wait(sl);
	if (sctpt_in_use(sl) && sl->conn != NULL && sl->conn->user == u)
		sctpt_slot_close(u->st, sl);
	str_store_rel(&sl->busy, 0u);
	str_store(&u->home, (struct sctpt_slot *)NULL);
	sctpt_turn_leave(sl);
	return 0;
}

/* An endpoint that is bound to any address has one while it is connected. */
void
sctpt_addrs(struct tpi *tp, struct tpi_addr *local, struct tpi_addr *remote)
{
	struct sctpt *u = sctpt_of(tp);
	struct ip_addr a;
	uint16_t port;
	uint32_t n;

	if (remote->len == 0 || u->from.len == 0 || sctpt_addr_of(
		&(struct tpi_buf){local->buf, local->len}, &a, 1, &n,
		&port) != 0 || !sctpt_addr_any(&a))
		return;
	local->len = sctpt_addr_put(local->buf, &u->from, port, u->family);
}

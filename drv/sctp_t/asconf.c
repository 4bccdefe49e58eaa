/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of addresses (RFC 5061): the list of an endpoint, and that of each of
 * its associations whose peer has agreed to changes.
 *
 * The engine has one request under way.  What the user asks for meanwhile waits
 * in the conn, and is sent when that one is over.  A new address becomes a
 * source of packets after the peer's answer.  A deleted one is no source from
 * the request on.
 *
 * Locks.  The gate; the turn of the home, or of the association.
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

/* The addresses of @o; 0, or EINVAL. */
int
sctpt_read_addrs(const struct sctpio_addrs *o, struct ip_addr *a,
	uint16_t *port)
{
	uint16_t first = 0;
	uint32_t i, n;
	int err;

	if (o->n == 0 || o->n > SCTPIO_ADDRS)
		return EINVAL;
	for (i = 0; i < o->n; i++) {
		err = sctpt_addr_of(&(struct tpi_buf){
			(const unsigned char *)&o->addr[i],
			o->addr[i].v4.sin_family == AF_INET ?
				(unsigned int)sizeof(struct sockaddr_in) :
				(unsigned int)sizeof(struct sockaddr_in6)},
			&a[i], 1, &n, port);
		if (err != 0 || (i != 0 && *port != first))
			return EINVAL;
		first = *port;
	}
	return 0;
}

static uint32_t
find(const struct ip_addr *all, uint32_t n, const struct ip_addr *a)
{
	uint32_t i = 0;

	while (i < n && !sctpt_addr_eq(&all[i], a))
		i++;
	return i;
}

/* Put the @n addresses @a into the list @all, or take them out.  0, or errno. */
static int
change_list(struct sctpt *u, struct ip_addr *all, uint32_t *nall,
	const struct ip_addr *a, uint32_t n, int remove)
{
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		if (sctpt_addr_any(&a[i]) ||
			(!remove && !sctpt_is_ours(u->st, &a[i])))
			return EADDRNOTAVAIL;
		k = find(all, *nall, &a[i]);
		if (remove && k == *nall)
			return EINVAL;
		if (remove && *nall == 1)
			return EBUSY; /* the last one stays */
		if (remove)
			all[k] = all[--*nall];
		else if (k == *nall && k == SCTPIO_ADDRS)
			return ENOSPC;
		else if (k == *nall)
			all[(*nall)++] = a[i];
	}
	return 0;
}

/* ------------------------------------------------------------- the association */

/* The addresses of an association, in ep.local. */
static void
list_own(struct sctpt_conn *c)
{
	if (c->ep.nlocal != 0)
		return;
	c->ep.local[0] = c->from;
	c->ep.nlocal = 1;
}

/* The address is the association's: packets may come from there. */
static void
add_own(struct sctpt_conn *c, const struct ip_addr *a)
{
	list_own(c);
	if (find(c->ep.local, c->ep.nlocal, a) == c->ep.nlocal &&
		c->ep.nlocal < SCTP_LOCALS)
		c->ep.local[c->ep.nlocal++] = *a;
	str_store(&c->slot->local.len, (uint8_t)0);
}

static void
remove_own(struct sctpt_conn *c, const struct ip_addr *a)
{
	uint32_t i;

	list_own(c);
	i = find(c->ep.local, c->ep.nlocal, a);
	if (i == c->ep.nlocal || c->ep.nlocal == 1)
		return;
	c->ep.local[i] = c->ep.local[--c->ep.nlocal];
	if (sctpt_addr_eq(&c->from, a))
		c->from = c->ep.local[0];
}

/* Send the request at the front of the list, if none is under way. */
static void
next(struct sctpt_conn *c, const struct sctp_env *env)
{
	struct ip_addr a;
	uint32_t what;
	int err = 0;

	while (c->nwish != 0 && err != EBUSY) {
		what = c->wish[0].what;
		a = c->wish[0].addr;
		if (what == SCTP_ADDR_REMOVED) /* it may have been added since */
			remove_own(c, &a);
		err = what == SCTP_ADDR_ADDED ?
			sctp_addr_add(env, c->as, &a, 1) :
			what == SCTP_ADDR_REMOVED ?
			sctp_addr_delete(env, c->as, &a, 1) :
			sctp_addr_primary(env, c->as, &a);
		if (err == EBUSY)
			return;
		c->nwish--;
		bcopy(&c->wish[1], &c->wish[0], c->nwish * sizeof(c->wish[0]));
		c->asked = a;
		c->asking = err == 0;
	}
}

/* sctpt_addr_answered - the request that was under way is over; in the turn */
void
sctpt_addr_answered(struct sctpt_conn *c, const struct sctp_env *env)
{
	uint32_t what;

	if (c->asking && sctp_addr_result(c->as, &what) == SCTP_E_NONE &&
		what == SCTP_ADDR_ADDED)
		add_own(c, &c->asked);
	c->asking = 0;
	next(c, env);
}

/* May changes be asked for?  0, or an errno; in the turn. */
static int
may_ask(const struct sctpt_conn *c, uint32_t n)
{
	struct sctp_status s;

	if (sctp_assoc_state(c->as) != SCTP_ESTABLISHED)
		return ENOTCONN;
	sctp_status(c->as, &s);
	if (!s.asconf)
		return EOPNOTSUPP;
	return c->nwish + n > SCTPT_WISHES ? ENOSPC : 0;
}

static void
wish(struct sctpt_conn *c, uint32_t what, const struct ip_addr *a, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		c->wish[c->nwish].what = what;
		c->wish[c->nwish++].addr = a[i];
		if (what == SCTP_ADDR_REMOVED)
			remove_own(c, &a[i]);
	}
}

/*
 * Change one association, whose turn the caller has; it ends here.  An
 * association whose peer does not support changes keeps its addresses.
 */
static int
change_assoc(struct sctpt_conn *c, const struct ip_addr *a, uint32_t n,
	int remove)
{
	struct sctp_env env;
	int err = may_ask(c, n);

	sctpt_env(&env, c);
	if (err == 0) {
		wish(c, remove ? SCTP_ADDR_REMOVED : SCTP_ADDR_ADDED, a, n);
		next(c, &env);
	}
	sctpt_serve_owned(c->slot, 1);
	return err == ENOSPC ? EBUSY : 0;
}

static int
change_assocs(struct sctpt *u, const struct ip_addr *a, uint32_t n, int remove)
{
	const void *pos = NULL;
	struct sctpt_conn *c;
	uint32_t at = 0;
	int err = 0, one;

	if (u->many == NULL)
		return sctpt_enter_wait(u, 0, &c) == 0 ?
			change_assoc(c, a, n, remove) : 0;
	while (sctpt_many_next(u, &at, &pos) != NULL) {
		if (sctpt_enter_wait(u, sctpt_many_id(pos), &c) != 0)
			continue;
		one = change_assoc(c, a, n, remove);
		err = err != 0 ? err : one;
	}
	return err;
}

/* ---------------------------------------------------------------- the endpoint */

/* The list of the home, from which callers and calls get theirs. */
static void
set_home(struct sctpt *u, const struct ip_addr *all, uint32_t n)
{
	struct sctpt_slot *sl = u->home;

	if (sl == NULL)
		return;
	sctpt_turn_wait(sl);
	if (sctpt_in_use(sl) && sl->conn != NULL && sl->conn->user == u) {
		bcopy(all, sl->conn->ep.local, n * sizeof(all[0]));
		sl->conn->ep.nlocal = n;
		sl->local.len = 0; /* packets for all of them come here */
	}
	sctpt_turn_leave(sl);
}

/*
 * sctpt_bindx - SCTPIO_BINDX: the list of an endpoint that is bound to addresses
 * Associations whose peer has agreed to changes get them, too.
 */
int
sctpt_bindx(struct sctpt *u, const struct sctpio_addrs *o)
{
	struct ip_addr a[SCTPIO_ADDRS], all[SCTPIO_ADDRS];
	struct tpi_addr local = {.len = 0};
	uint16_t port, have;
	uint32_t n, i;
	int err = sctpt_read_addrs(o, a, &port);

	if (err != 0 || (u->home == NULL && u->as == NULL) ||
		sctpt_addr_of(&(struct tpi_buf){u->tpi.local.buf,
			u->tpi.local.len}, all, SCTPIO_ADDRS, &n, &have) != 0)
		return EINVAL;
	if ((port != 0 && port != have) || sctpt_addr_any(&all[0]))
		return EINVAL;
	err = change_list(u, all, &n, a, o->n, o->remove != 0);
	if (err == 0)
		err = change_assocs(u, a, o->n, o->remove != 0);
	if (err != 0)
		return err;
	set_home(u, all, n);
	for (i = 0; i < n; i++)
		local.len += sctpt_addr_put(local.buf + local.len, &all[i],
			have, u->family);
	tpi_set_local(&u->tpi, &local);
	return 0;
}

/* sctpt_peer_primary - SCTPIO_PEER_PRIMARY */
int
sctpt_peer_primary(struct sctpt *u, const struct sctpio_addrs *o)
{
	struct ip_addr a[SCTPIO_ADDRS];
	struct sctpt_conn *c;
	struct sctp_env env;
	uint16_t port;
	int err = sctpt_read_addrs(o, a, &port);

	if (err == 0)
		err = sctpt_enter_wait(u, o->assoc, &c);
	if (err != 0)
		return err;
	err = may_ask(c, 1);
	if (err == 0 && !sctpt_addr_eq(&c->from, &a[0]) &&
		find(c->ep.local, c->ep.nlocal, &a[0]) == c->ep.nlocal)
		err = EADDRNOTAVAIL;
	if (err == 0) {
		sctpt_env(&env, c);
		wish(c, SCTP_ADDR_PRIMARY, a, 1);
		next(c, &env);
	}
	sctpt_serve_owned(c->slot, 1);
	return err;
}

/* ----------------------------------------------------------------------- notes */

/*
 * sctpt_note_addrs - tell the user of the peer's changes
 * The peer decides how many there are: while the read queue is full they stay in
 * the engine, which keeps few of them.
 */
void
sctpt_note_addrs(struct sctpt_conn *c)
{
	struct sctpio_note n = {.event = SCTPIO_EV_PATH};
	struct ip_addr a;
	uint32_t what;

	while (!sctpt_is_full(c) &&
		(what = sctp_addr_change(c->as, &a)) != 0) {
		if (!sctpt_wants(c, SCTPIO_EV_PATH))
			continue;
		n.state = what == SCTP_ADDR_ADDED ? SCTPIO_PATH_ADDED :
			what == SCTP_ADDR_REMOVED ? SCTPIO_PATH_REMOVED :
						    SCTPIO_PATH_PRIMARY;
		bzero(&n.addr, sizeof(n.addr));
		(void)sctpt_addr_put((unsigned char *)&n.addr, &a,
			c->slot->pport, c->user->family);
		sctpt_note(c, &n, NULL, 0);
	}
}

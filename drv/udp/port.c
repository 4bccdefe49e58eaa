/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints in the tables of ports (<str/ports.h>): one of UDP's ports, one of
 * the protocols of raw IP.
 *
 * The kernel decides whether a port may be bound: each endpoint has a socket
 * that is bound to it.  So entries are bound as shared.
 */
#include "udp_impl.h"

/* udp_at_of - get address and port of a socket address; 0: it is not one */
int
udp_at_of(const void *sa, uint32_t len, struct ports_at *ret)
{
	static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0xff, 0xff};
	struct sockaddr_in6 s6;
	struct sockaddr_in s4;
	uint16_t fam;

	bzero(ret, sizeof(*ret));
	if (len < sizeof(s4))
		return 0;
	bcopy(sa, &fam, sizeof(fam));
	if (fam == AF_INET) {
		bcopy(sa, &s4, sizeof(s4));
		ret->a.len = 4;
		bcopy(&s4.sin_addr, ret->a.b, 4);
		ret->port = s4.sin_port;
		return 1;
	}
	if (fam != AF_INET6 || len < sizeof(s6))
		return 0;
	bcopy(sa, &s6, sizeof(s6));
	ret->port = s6.sin6_port;
	if (bcmp(&s6.sin6_addr, mapped, sizeof(mapped)) == 0) {
		ret->a.len = 4;
		bcopy((char *)&s6.sin6_addr + 12, ret->a.b, 4);
	} else {
		ret->a.len = 16;
		bcopy(&s6.sin6_addr, ret->a.b, 16);
	}
	return 1;
}

static int
is_any(const struct ip_addr *a)
{
	uint32_t i;

	for (i = 0; i < a->len; i++)
		if (a->b[i] != 0)
			return 0;
	return 1;
}

/* The default destination of @u; port 0: none.  @port: of @u's entry. */
static void
peer_of(const struct udp *u, uint16_t port, struct ports_at *ret)
{
	if (u->peerlen == 0 || !udp_at_of(u->peer, u->peerlen, ret))
		bzero(ret, sizeof(*ret));
	else if (u->raw)
		ret->port = port;
}

/*
 * udp_port_bound - @u's socket is bound to @at: make an entry for it; 0, ENOSR
 */
int
udp_port_bound(struct udp *u, const struct tpi_addr *at)
{
	struct ports_want w;
	int only = 0, err;
	uint32_t len = sizeof(only);

	bzero(&w, sizeof(w));
	if (!udp_at_of(at->buf, at->len, &w.at))
		return 0; /* lo does not support the family */
	if (is_any(&w.at.a))
		w.at.a.len = 0;
	if (u->in.family == AF_INET6)
		(void)ksock_getopt(u->in.ks, IPPROTO_IPV6, IPV6_V6ONLY, &only,
			&len);
	if (u->raw)
		w.at.port = (uint16_t)(u->in.proto != 0 ? u->in.proto :
			IPPROTO_RAW);
	w.six = u->in.family == AF_INET6;
	w.v6only = only != 0 || u->raw;
	w.shared = 1;
	w.ep = u;
	w.rq = u->in.tp.rq;
	peer_of(u, w.at.port, &w.peer);
	str_store(&u->stuck, 0u);
	err = ports_bind(udp_table(u), &w, &u->port);
	if (err == 0 && u->raw)
		wire_watched(w.at.port);
	return err;
}

/* udp_port_peer - @u's default destination, or local address, has changed */
void
udp_port_peer(struct udp *u)
{
	struct ports_entry *e = u->port;
	struct sockaddr_storage ss;
	uint32_t len = sizeof(ss);
	struct ports_at a, peer;
	int moved = 0;

	if (e == NULL)
		return;
	if (!u->raw && ksock_name(u->in.ks, 0, &ss, &len) == 0 &&
		udp_at_of(&ss, len, &a) && a.port == e->at.port) {
		moved = 1;
		if (is_any(&a.a))
			a.a.len = 0;
	}
	peer_of(u, e->at.port, &peer);
	ports_change(udp_table(u), e, u, moved ? &a.a : NULL, &peer);
	udp_forget(u);
}

/*
 * udp_port_free - @u is not bound any more
 * The thread that bound it may have died before it noted the binding: then
 * `port' is set already.
 */
void
udp_port_free(struct udp *u)
{
	struct ports_entry *e = u->port;

	if (e == NULL)
		return;
	u->port = NULL;
	ports_free(udp_table(u), e, u);
}

/* udp_is_wires - does @a belong to a wire, and not to the host? */
int
udp_is_wires(struct udp_state *st, const struct ip_addr *a)
{
	struct wire *lo = udp_lo(st);
	struct wire_path path;

	return lo != NULL && str_load(&lo->others) != 0 && a->len != 0 &&
		wire_route(lo, a, NULL, &path) == lo;
}

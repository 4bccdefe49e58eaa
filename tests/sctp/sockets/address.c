/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of addresses (RFC 5061; RFC 6458 s8.1.10, s8.3.2, s9.1), and the
 * adaptation indication (s6.1.6).
 */
#include "sk.h"

#define SAME(a, b) T_EQ((long)(a), (long)(b))

static void
set_value(int fd, int name, uint32_t v)
{
	struct sctp_assoc_value av = {.assoc_value = v};

	T_OK(setsockopt(fd, IPPROTO_SCTP, name, &av, sizeof(av)));
}

static uint32_t
value_of(int fd, int name)
{
	struct sctp_assoc_value av = {.assoc_value = 77};
	socklen_t len = sizeof(av);

	T_OK(getsockopt(fd, IPPROTO_SCTP, name, &av, &len));
	return av.assoc_value;
}

/* 127.0.0.@last */
static struct sockaddr_in
host(int last, unsigned port)
{
	struct sockaddr_in sa = loop(port);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + (unsigned)last);
	return sa;
}

static int
change(int fd, int flag, int last)
{
	struct sockaddr_in sa = host(last, 0);

	return sctp_bindx(fd, (struct sockaddr *)&sa, 1, flag);
}

static int
peer_primary(int fd, int last)
{
	struct sockaddr_in sa = host(last, 0);
	struct sctp_setpeerprim o;

	memset(&o, 0, sizeof(o));
	memcpy(&o.sspp_addr, &sa, sizeof(sa));
	return setsockopt(fd, IPPROTO_SCTP, SCTP_SET_PEER_PRIMARY_ADDR, &o,
		sizeof(o));
}

/* The next notification is of the address 127.0.0.*ret_last.  Its state. */
static int
next(int fd, int *ret_last)
{
	union sctp_notification n;
	struct sockaddr_in sa;
	int fl = 0;

	T_OK(sctp_recvmsg(fd, &n, sizeof(n), NULL, NULL, NULL, &fl));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	SAME(n.sn_header.sn_type, SCTP_PEER_ADDR_CHANGE);
	memcpy(&sa, &n.sn_paddr_change.spc_aaddr, sizeof(sa));
	*ret_last = (int)(ntohl(sa.sin_addr.s_addr) - INADDR_LOOPBACK + 1);
	return n.sn_paddr_change.spc_state;
}

static void
expect(int fd, int state, int last)
{
	int got;

	SAME(next(fd, &got), state);
	SAME(got, last);
}

static int
count(int fd, int (*get)(int, sctp_assoc_t, struct sockaddr **))
{
	struct sockaddr *list = NULL;
	int n = (int)T_OK(get(fd, 0, &list));

	T_OK(sctp_freeladdrs(list));
	return n;
}

static int
changing(void)
{
	int fd = new_socket();

	set_value(fd, SCTP_ASCONF_SUPPORTED, 1);
	SAME(value_of(fd, SCTP_AUTH_SUPPORTED), 1);
	return fd;
}

/* As pair(): both are bound to an address, and agree to changes. */
static void
changing_pair(int fd[2])
{
	struct sockaddr_in sa = loop(0);
	int l = changing();

	T_OK(bind(l, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(l, 5));
	fd[0] = changing();
	T_OK(bind(fd[0], (struct sockaddr *)&sa, sizeof(sa)));
	subscribe(fd[0], SCTP_PEER_ADDR_CHANGE);
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	subscribe(fd[1], SCTP_PEER_ADDR_CHANGE);
	T_OK(close(l));
}

static void
passes(int from, int to)
{
	char c = 0;

	SAME(T_OK(send(from, "x", 1, 0)), 1);
	SAME(T_OK(recv(to, &c, 1, 0)), 1);
	SAME(c, 'x');
}

T_CASE(an_address_is_added_to_a_living_association_and_confirmed)
{
	int fd[2], i;

	changing_pair(fd);
	for (i = 0; i < 2; i++) {
		SAME(value_of(fd[i], SCTP_ASCONF_SUPPORTED), 1);
		T_OK(change(fd[i], SCTP_BINDX_ADD_ADDR, 2));
		expect(fd[1 - i], SCTP_ADDR_ADDED, 2);
		expect(fd[1 - i], SCTP_ADDR_CONFIRMED, 2);
		SAME(count(fd[1 - i], sctp_getpaddrs), 2);
		SAME(count(fd[i], sctp_getladdrs), 2);
		passes(fd[0], fd[1]);
		passes(fd[1], fd[0]);
	}
}

T_CASE(the_first_address_is_deleted_and_data_goes_on)
{
	int fd[2], i;

	changing_pair(fd);
	for (i = 0; i < 2; i++) {
		T_OK(change(fd[i], SCTP_BINDX_ADD_ADDR, 2));
		expect(fd[1 - i], SCTP_ADDR_ADDED, 2);
		expect(fd[1 - i], SCTP_ADDR_CONFIRMED, 2);
		T_OK(change(fd[i], SCTP_BINDX_REM_ADDR, 1));
		expect(fd[1 - i], SCTP_ADDR_REMOVED, 1);
		SAME(count(fd[1 - i], sctp_getpaddrs), 1);
		SAME(count(fd[i], sctp_getladdrs), 1);
		passes(fd[0], fd[1]);
		passes(fd[1], fd[0]);
		/* the one before has another name, and this is the last one */
		T_ERR(change(fd[i], SCTP_BINDX_REM_ADDR, 2), EBUSY);
		T_OK(change(fd[i], SCTP_BINDX_ADD_ADDR, 3));
		expect(fd[1 - i], SCTP_ADDR_ADDED, 3);
		expect(fd[1 - i], SCTP_ADDR_CONFIRMED, 3);
	}
}

T_CASE(changes_wait_for_the_one_under_way)
{
	int fd[2], i, last;

	changing_pair(fd);
	for (i = 2; i < 8; i++)
		T_OK(change(fd[0], SCTP_BINDX_ADD_ADDR, i));
	T_OK(change(fd[0], SCTP_BINDX_REM_ADDR, 3));
	while (next(fd[1], &last) != SCTP_ADDR_REMOVED)
		continue;
	SAME(last, 3);
	SAME(count(fd[1], sctp_getpaddrs), 6);
	passes(fd[1], fd[0]);
}

T_CASE(the_peer_is_asked_to_send_to_an_address)
{
	struct sctp_prim p;
	socklen_t len = sizeof(p);
	struct sockaddr_in sa;
	int fd[2];

	changing_pair(fd);
	T_OK(change(fd[1], SCTP_BINDX_ADD_ADDR, 2));
	expect(fd[0], SCTP_ADDR_ADDED, 2);
	expect(fd[0], SCTP_ADDR_CONFIRMED, 2);
	T_ERR(peer_primary(fd[1], 3), EADDRNOTAVAIL);
	T_OK(peer_primary(fd[1], 2));
	expect(fd[0], SCTP_ADDR_MADE_PRIM, 2);
	memset(&p, 0, sizeof(p));
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &p, &len));
	memcpy(&sa, &p.ssp_addr, sizeof(sa));
	SAME(ntohl(sa.sin_addr.s_addr), INADDR_LOOPBACK + 1);
	passes(fd[0], fd[1]);
}

T_CASE(an_association_without_the_extension_keeps_its_addresses)
{
	struct sockaddr_in sa = loop(0);
	int fd[2], l = listener(5);

	fd[0] = changing();
	T_OK(bind(fd[0], (struct sockaddr *)&sa, sizeof(sa)));
	T_ERR(peer_primary(fd[0], 1), ENOTCONN);
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	SAME(value_of(fd[0], SCTP_ASCONF_SUPPORTED), 0);
	T_ERR(peer_primary(fd[0], 1), EPERM);
	T_OK(change(fd[0], SCTP_BINDX_ADD_ADDR, 2));
	SAME(count(fd[1], sctp_getpaddrs), 1);
	passes(fd[0], fd[1]);
}

T_CASE(bad_changes_are_refused)
{
	struct sockaddr_in sa;
	int fd[2], v = 1;

	changing_pair(fd);
	sa = host(2, port_of(fd[0]) + 1);
	T_ERR(sctp_bindx(fd[0], (struct sockaddr *)&sa, 1,
		SCTP_BINDX_ADD_ADDR), EINVAL);
	sa.sin_port = 0;
	sa.sin_addr.s_addr = htonl(0xc0000201);
	T_ERR(sctp_bindx(fd[0], (struct sockaddr *)&sa, 1,
		SCTP_BINDX_ADD_ADDR), EADDRNOTAVAIL);
	sa.sin_addr.s_addr = 0;
	T_ERR(sctp_bindx(fd[0], (struct sockaddr *)&sa, 1,
		SCTP_BINDX_ADD_ADDR), EADDRNOTAVAIL);
	T_ERR(change(fd[0], SCTP_BINDX_REM_ADDR, 5), EINVAL);
	T_ERR(change(fd[0], SCTP_BINDX_REM_ADDR, 1), EBUSY);
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_SET_PEER_PRIMARY_ADDR, &sa,
		sizeof(sa)), EINVAL);
	/* the provider is not told of changes of the host */
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_AUTO_ASCONF, &v, sizeof(v)),
		EOPNOTSUPP);
	set_int(fd[0], IPPROTO_SCTP, SCTP_AUTO_ASCONF, 0);
	SAME(get_int(fd[0], IPPROTO_SCTP, SCTP_AUTO_ASCONF), 0);
	passes(fd[0], fd[1]);
}

T_CASE(changes_need_authentication)
{
	int fd = changing();

	set_value(fd, SCTP_AUTH_SUPPORTED, 0);
	SAME(value_of(fd, SCTP_ASCONF_SUPPORTED), 0);
}

T_CASE(a_one_to_many_socket_changes_all_its_associations)
{
	struct sockaddr_in sa = loop(0), to;
	int one, l[2], fd[2], i;
	sctp_assoc_t id;

	one = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	set_value(one, SCTP_ASCONF_SUPPORTED, 1);
	T_OK(bind(one, (struct sockaddr *)&sa, sizeof(sa)));
	for (i = 0; i < 2; i++) {
		l[i] = changing();
		T_OK(bind(l[i], (struct sockaddr *)&sa, sizeof(sa)));
		T_OK(listen(l[i], 5));
		to = loop(port_of(l[i]));
		T_OK(sctp_connectx(one, (struct sockaddr *)&to, 1, &id));
		fd[i] = (int)T_OK(accept(l[i], NULL, NULL));
		subscribe(fd[i], SCTP_PEER_ADDR_CHANGE);
	}
	/* when its data has come, both sides are established */
	for (i = 0; i < 2; i++) {
		to = loop(port_of(l[i]));
		T_OK(sctp_sendmsg(one, "x", 1, (struct sockaddr *)&to,
			sizeof(to), 0, 0, 0, 0, 0));
		SAME(T_OK(recv(fd[i], &to, 1, 0)), 1);
	}
	T_OK(change(one, SCTP_BINDX_ADD_ADDR, 2));
	for (i = 0; i < 2; i++) {
		expect(fd[i], SCTP_ADDR_ADDED, 2);
		expect(fd[i], SCTP_ADDR_CONFIRMED, 2);
	}
}

T_CASE(the_peer_is_told_an_adaptation)
{
	struct sctp_setadaptation o = {.ssb_adaptation_ind = 0x12345678};
	struct sctp_event ev = {.se_type = SCTP_ADAPTATION_INDICATION,
		.se_on = 1};
	union sctp_notification n;
	int l = listener(5), fd = new_socket(), fl = 0;

	T_OK(setsockopt(l, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, &o, sizeof(o)));
	SAME(get_int(l, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER), 0x12345678);
	T_ERR(setsockopt(l, IPPROTO_SCTP, SCTP_ADAPTATION_LAYER, &o, 3), EINVAL);
	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)));
	T_OK(call(fd, port_of(l)));
	SAME(T_OK(sctp_recvmsg(fd, &n, sizeof(n), NULL, NULL, NULL, &fl)),
		sizeof(n.sn_adaptation_event));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	SAME(n.sn_header.sn_type, SCTP_ADAPTATION_INDICATION);
	SAME(n.sn_adaptation_event.sai_adaptation_ind, 0x12345678);
}

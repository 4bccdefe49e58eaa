/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp(7) by its primitives, with plain sockets at the other end: the device,
 * binding and connecting.  Each case runs over IPv4 and IPv6.
 */
#include <sched.h>
#include <sys/syscall.h>

#include "tcp.h"

T_TARGETS("ipv4", "ipv6")

/* ------------------------------------------------------------- the device */

T_CASE(the_info_is_that_of_a_stream_with_orderly_release)
{
	int fd = in_open(dev());
	struct T_info_req r = {T_INFO_REQ};

	in_put(fd, &r, sizeof(r), NULL, 0, 1);
	in_want(fd, T_INFO_ACK);
	T_EQ(in.p.info_ack.TSDU_size, 0);
	T_EQ(in.p.info_ack.ETSDU_size, 1);
	T_EQ(in.p.info_ack.CDATA_size, -2);
	T_EQ(in.p.info_ack.DDATA_size, -2);
	T_EQ(in.p.info_ack.ADDR_size, family() == AF_INET ? 16 : 28);
	T_EQ(in.p.info_ack.OPT_size, 1024); /* XNS: a number above 0, or -2 */
	T_EQ(in.p.info_ack.TIDU_size, 65535);
	T_EQ(in.p.info_ack.SERV_type, T_COTS_ORD);
	T_EQ(in.p.info_ack.CURRENT_state, TS_UNBND);
	T_EQ(in.p.info_ack.PROVIDER_flag, XPG4_1);
	T_OK(close(fd));
}

T_CASE(its_names_are_those_of_the_reference)
{
	static const char *const names[] = {"/dev/tcp", "/dev/inet/tcp",
		"/dev/streams/inet/tcp", "/dev/streams/clone/tcp", "/dev/udp",
		"/dev/inet/udp", "/dev/streams/inet/udp",
		"/dev/streams/clone/udp", "/dev/rawip", "/dev/icmp",
		"/dev/streams/inet/rawip", "/dev/streams/inet/icmp",
		"/dev/xti/tcp", "/dev/xti/udp", "/dev/streams/xtiso/tcp",
		"/dev/streams/xtiso/tcp+", "/dev/streams/xtiso/udp",
		"/dev/streams/xtiso/udp+", "/dev/inet_cots", "/dev/inet_clts",
		NULL};
	char name[16];
	int i, fd;

	for (i = 0; names[i] != NULL; i++) {
		fd = in_open(names[i]);
		T_OK(ioctl(fd, I_PUSH, "nullmod"));
		T_OK(ioctl(fd, I_LOOK, name));
		T_STR(name, "nullmod");
		T_EQ(in_state(fd), TS_UNBND);
		T_OK(close(fd));
	}
	T_ERR(open("/dev/streams/inet/99", O_RDWR), ENXIO);
}

/* ------------------------------------------------------------------ binding */

T_CASE(any_port_is_a_real_one)
{
	int fd = in_open(dev()), port = in_bind(fd, NULL, 0, 0);

	T_GT(port, 0);
	in_prim(fd, T_ADDR_REQ);
	in_want(fd, T_ADDR_ACK);
	T_EQ(in_port(in.ctl + in.p.addr_ack.LOCADDR_offset), port);
	T_EQ(in.p.addr_ack.REMADDR_length, 0);
	T_EQ(in_state(fd), TS_IDLE);
	in_prim(fd, T_UNBIND_REQ);
	in_ok(fd, T_UNBIND_REQ);
	T_EQ(in_state(fd), TS_UNBND);
	T_OK(close(fd));
}

T_CASE(a_port_in_use_is_refused_or_another_one_given)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int s = in_listener(family(), &ss, &len), fd = in_open(dev()), port;

	in_bind_req(fd, T_BIND_REQ, &ss, (int)len, 0);
	in_error(fd, T_BIND_REQ, TADDRBUSY, 0);
	T_EQ(in_state(fd), TS_UNBND);
	/* TLI t_bind: the caller compares */
	in_bind_req(fd, O_T_BIND_REQ, &ss, (int)len, 3);
	in_want(fd, T_BIND_ACK);
	port = in_port(in.ctl + in.p.bind_ack.ADDR_offset);
	T_NE(port, in_port(&ss));
	T_EQ(in.p.bind_ack.CONIND_number, 3u);
	in_prim(fd, T_UNBIND_REQ);
	in_ok(fd, T_UNBIND_REQ);
	T_OK(close(s));
	T_EQ(in_bind(fd, &ss, len, 1), in_port(&ss));
	/* ours are in use for others */
	s = in_sock(family(), SOCK_STREAM);
	T_ERR(bind(s, (struct sockaddr *)&ss, len), EADDRINUSE);
	in_prim(fd, T_UNBIND_REQ);
	in_ok(fd, T_UNBIND_REQ);
	T_OK(bind(s, (struct sockaddr *)&ss, len));
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(malformed_addresses_are_refused)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family(), home(), 0);
	int fd = in_open(dev()), n;

	for (n = 1; n < (int)len; n++) {
		in_bind_req(fd, T_BIND_REQ, &ss, n, 0);
		in_error(fd, T_BIND_REQ, TBADADDR, 0);
	}
	ss.ss_family = AF_UNIX;
	in_bind_req(fd, T_BIND_REQ, &ss, (int)len, 0);
	in_error(fd, T_BIND_REQ, TBADADDR, 0);
	/* of documentation: no host's, so not ours */
	len = family() == AF_INET ?
		in_addr(&ss, AF_INET, "192.0.2.1", 0) :
		in_addr(&ss, AF_INET6, "2001:db8::1", 0);
	in_bind_req(fd, T_BIND_REQ, &ss, (int)len, 0);
	in_error(fd, T_BIND_REQ, TNOADDR, 0);
	T_EQ(in_state(fd), TS_UNBND);
	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, 7);
	in_error(fd, T_CONN_REQ, TBADADDR, 0);
	len = in_addr(&ss, family(), home(), 0);
	in_conn_req(fd, &ss, (int)len); /* no port */
	in_error(fd, T_CONN_REQ, TBADADDR, 0);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(tcp_takes_addresses_of_both_families)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l = in_listener(family(), &ss, &len), fd = in_open("/dev/tcp"), s;

	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, (int)len);
	in_ok(fd, T_CONN_REQ);
	in_want(fd, T_CONN_CON);
	T_EQ(in.p.conn_con.RES_length, (int)len);
	s = T_OK(accept(l, NULL, NULL));
	T_OK(close(s));
	T_OK(close(l));
	T_OK(close(fd));
	len = in_addr(&ss, family(), home(), 0);
	fd = in_open("/dev/tcp");
	T_GT(in_bind(fd, &ss, len, 1), 0);
	T_EQ(in.p.bind_ack.ADDR_length, (int)len);
	T_OK(close(fd));
	/* longer than an address is none */
	fd = in_open("/dev/tcp");
	in_bind_req(fd, T_BIND_REQ, &ss, (int)len + 1, 1);
	in_error(fd, T_BIND_REQ, TBADADDR, 0);
	T_OK(close(fd));
}

T_CASE(the_port_is_kept_from_one_connection_to_the_next)
{
	struct sockaddr_storage ss, peer;
	socklen_t len, plen;
	int l = in_listener(family(), &ss, &len), fd = in_open(dev()), s, i;
	int port;

	/* what that one had a moment ago is free */
	s = in_here(family(), SOCK_STREAM, &peer, &plen);
	T_OK(close(s));
	port = in_bind(fd, &peer, plen, 0);

	for (i = 0; i < 3; i++) {
		in_conn_req(fd, &ss, (int)len);
		in_ok(fd, T_CONN_REQ);
		in_want(fd, T_CONN_CON);
		plen = sizeof(peer);
		s = T_OK(accept(l, (struct sockaddr *)&peer, &plen));
		T_EQ(in_port(&peer), port);
		in_discon(fd, -1);
		while (in_get(fd) != T_OK_ACK)
			;
		T_OK(close(s));
	}
	T_OK(close(l));
	T_OK(close(fd));
}

/* -------------------------------------------------------------- connecting */

T_CASE(a_connection_to_a_socket_carries_data_both_ways)
{
	struct T_data_req dr = {T_DATA_REQ, 0};
	char buf[16];
	int s, fd = in_pair(dev(), family(), &s);

	T_EQ(in_state(fd), TS_DATA_XFER);
	in_put(fd, &dr, sizeof(dr), "hello", 5, 0);
	in_readn(s, buf, 5);
	T_MEM(buf, "hello", 5);
	in_put(fd, NULL, 0, "world", 5, 0); /* T_DATA_REQ may be left out */
	in_readn(s, buf, 5);
	T_MEM(buf, "world", 5);
	T_EQ(write(s, "answer", 6), 6);
	in_want(fd, -1);
	T_EQ(in.datalen, 6);
	T_MEM(in.data, "answer", 6);
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(a_refused_connection_is_a_disconnection)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l = in_listener(family(), &ss, &len), fd = in_open(dev()), i;

	T_OK(close(l));
	in_bind(fd, NULL, 0, 0);
	for (i = 0; i < 3; i++) {
		in_conn_req(fd, &ss, (int)len);
		in_ok(fd, T_CONN_REQ);
		in_want(fd, T_DISCON_IND);
		T_EQ(in.p.discon_ind.DISCON_reason, ECONNREFUSED);
		T_EQ(in.p.discon_ind.SEQ_number, -1);
		T_EQ(in_state(fd), TS_IDLE);
	}
	T_OK(close(fd));
}

/* In a network without any way out; nothing can leave it. */
/* In it this user keeps its number: a domain has no owner without one. */
static bool
own_user_namespace(void)
{
	char map[64];
	int fd, n = snprintf(map, sizeof(map), "%u %u 1", (unsigned)geteuid(),
		(unsigned)geteuid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/uid_map",
		O_WRONLY | O_CLOEXEC);
	return fd >= 0 && syscall(SYS_write, fd, map, n) == n &&
		syscall(SYS_close, fd) == 0;
}

T_CASE(an_unreachable_host_is_a_disconnection)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	if (unshare(CLONE_NEWNET) != 0 && !own_user_namespace())
		T_SKIP("no network namespace of one's own: %s",
			strerror(errno));
	len = family() == AF_INET ?
		in_addr(&ss, AF_INET, "192.0.2.1", 9) :
		in_addr(&ss, AF_INET6, "2001:db8::1", 9);
	fd = in_open(dev());
	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, (int)len);
	in_ok(fd, T_CONN_REQ);
	in_want(fd, T_DISCON_IND);
	T_TRUE(in.p.discon_ind.DISCON_reason == ENETUNREACH ||
		in.p.discon_ind.DISCON_reason == EHOSTUNREACH ||
		in.p.discon_ind.DISCON_reason == EADDRNOTAVAIL);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(a_call_can_be_given_up)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l = in_sock(family(), SOCK_STREAM), fd = in_open(dev()), n, s[8];

	/* who has a queue of none and does not accept lets others wait */
	len = in_addr(&ss, family(), home(), 0);
	T_OK(bind(l, (struct sockaddr *)&ss, len));
	T_OK(listen(l, 0));
	T_OK(getsockname(l, (struct sockaddr *)&ss, &len));
	for (n = 0; n < 4; n++) {
		s[n] = T_OK(socket(family(),
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
		(void)connect(s[n], (struct sockaddr *)&ss, len);
	}
	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, (int)len);
	in_ok(fd, T_CONN_REQ);
	T_TRUE(in_quiet(fd, 100));
	T_EQ(in_state(fd), TS_WCON_CREQ);
	in_discon(fd, -1);
	in_ok(fd, T_DISCON_REQ);
	T_EQ(in_state(fd), TS_IDLE);
	while (n-- > 0)
		T_OK(close(s[n]));
	T_OK(close(l));
	T_OK(close(fd));
}

/* The socket below the endpoint whose other end @plain is. */
static int
socket_of(int plain)
{
	struct sockaddr_storage me, other;
	socklen_t mlen = sizeof(me), len;
	int fd;

	T_OK(getsockname(plain, (struct sockaddr *)&me, &mlen));
	for (fd = 65536; fd-- > 0;) {
		len = sizeof(other);
		if (fd == plain || getpeername(fd, (struct sockaddr *)&other,
				&len) != 0 || len != mlen ||
		    in_port(&other) != in_port(&me))
			continue;
		return fd;
	}
	T_FAIL("no descriptor of this process is the other end");
	return -1;
}

static void
control_of(int plain, char *ret)
{
	socklen_t len = 15;

	memset(ret, 0, 16);
	T_OK(getsockopt(socket_of(plain), IPPROTO_TCP, TCP_CONGESTION, ret,
		&len));
}

/* tcp(7): what stays in the machine is not paced. */
T_CASE(a_connection_with_a_loopback_address_is_not_paced)
{
	char all[16] = "", has[16];
	struct sockaddr_storage ss;
	socklen_t len = 15;
	int s, fd, to;

	fd = in_pair(dev(), family(), &s);
	T_OK(getsockopt(s, IPPROTO_TCP, TCP_CONGESTION, all, &len));
	if (strncmp(all, "bbr", 3) == 0)
		strcpy(all, "reno");
	else
		printf("# the system has %s: nothing is to be changed\n", all);
	control_of(s, has);
	T_STR(has, all);
	T_OK(close(s));
	T_OK(close(fd));
	fd = listener(1, &ss, &len);
	to = in_open(dev());
	s = call(&ss, len);
	in_want(fd, T_CONN_IND);
	in_accept(fd, in.p.conn_ind.SEQ_number, to);
	control_of(s, has);
	T_STR(has, all);
	T_OK(close(s));
	T_OK(close(to));
	T_OK(close(fd));
}

/* ... though a send finds the reset before it has been read */
T_CASE(expedited_data_before_a_reset_comes_as_such)
{
	int s, fd = in_pair(dev(), family(), &s), own = socket_of(s), n, urgent = 0;
	struct linger lg = {1, 0};
	struct strbuf x = {0, 1, "x"};
	static char buf[4096];
	size_t sent = 0, came = 0;

	/* more than is read without being asked for */
	for (n = 0; n == 0; T_OK(ioctl(own, FIONREAD, &n))) {
		T_EQ(write(s, buf, sizeof(buf)), (int)sizeof(buf));
		sent += sizeof(buf);
		(void)poll(NULL, 0, 1);
	}
	T_EQ(send(s, "!", 1, MSG_OOB), 1);
	T_EQ(write(s, "def", 3), 3);
	T_SOON(ioctl(s, TIOCOUTQ, &n) == 0 && n == 0, 2000);
	T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	T_OK(close(s));
	(void)putmsg(fd, NULL, &x, 0);
	while (in_get(fd) != T_DISCON_IND) {
		if (in.prim == T_EXDATA_IND) {
			T_EQ(in.datalen, 1);
			T_EQ(in.data[0], '!');
			urgent++;
		} else {
			T_EQ(in.prim, -1);
			came += (size_t)in.datalen;
		}
	}
	T_EQ(urgent, 1);
	T_EQ(came, sent + 3);
	T_OK(close(fd));
}

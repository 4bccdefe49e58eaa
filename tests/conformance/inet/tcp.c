/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp(7) by its primitives, with plain sockets at the other end.  Each case
 * runs over IPv4 and IPv6.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "in.h"

T_TARGETS("ipv4", "ipv6")

static int
family(void)
{
	return strcmp(t_target(), "ipv6") == 0 ? AF_INET6 : AF_INET;
}

static const char *
dev(void)
{
	return family() == AF_INET6 ? "/dev/tcp6" : "/dev/tcp";
}

static const char *
home(void)
{
	return family() == AF_INET6 ? "::1" : "127.0.0.1";
}

/* How much is sent where it matters: INET_MB, for the stress test. */
static uint64_t
megabytes(unsigned every_day)
{
	const char *mb = getenv("INET_MB");

	return (mb != NULL ? strtoull(mb, NULL, 10) : every_day) << 20;
}

/* An endpoint that listens, and where. */
static int
listener(unsigned qlen, struct sockaddr_storage *ss, socklen_t *len)
{
	int fd = in_open(dev());

	*len = in_addr(ss, family(), home(), 0);
	((struct sockaddr_in *)ss)->sin_port =
		htons((uint16_t)in_bind(fd, ss, *len, qlen));
	return fd;
}

/* A plain socket on its way to @ss. */
static int
call(const struct sockaddr_storage *ss, socklen_t len)
{
	int s = in_sock(family(), SOCK_STREAM);

	T_OK(connect(s, (const struct sockaddr *)ss, len));
	return s;
}

/* Read until the end; what the last read gave, 0 or minus an errno. */
static int
drain(int s)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(s, buf, sizeof(buf))) > 0)
		;
	return n < 0 ? -errno : 0;
}

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

/* --------------------------------------------------------------- accepting */

T_CASE(a_listener_is_told_who_calls_and_gives_it_to_another)
{
	struct sockaddr_storage ss, me;
	socklen_t len, mlen = sizeof(me);
	int fd = listener(5, &ss, &len), to = in_open(dev()), s, seq;
	char buf[8];

	T_EQ(in.p.bind_ack.CONIND_number, 5u);
	s = call(&ss, len);
	T_OK(getsockname(s, (struct sockaddr *)&me, &mlen));
	in_want(fd, T_CONN_IND);
	T_EQ(in.p.conn_ind.SRC_length, (int)mlen);
	T_MEM(in.ctl + in.p.conn_ind.SRC_offset, &me, mlen);
	seq = in.p.conn_ind.SEQ_number;
	T_EQ(in_state(fd), TS_WRES_CIND);
	T_EQ(write(s, "early", 5), 5);
	in_accept(fd, seq, to);
	T_EQ(in_state(fd), TS_IDLE);
	T_EQ(in_state(to), TS_DATA_XFER);
	in_want(to, -1);
	T_MEM(in.data, "early", 5);
	in_put(to, NULL, 0, "reply", 5, 0);
	in_readn(s, buf, 5);
	T_MEM(buf, "reply", 5);
	in_prim(to, T_ADDR_REQ);
	in_want(to, T_ADDR_ACK);
	T_EQ(in_port(in.ctl + in.p.addr_ack.LOCADDR_offset), in_port(&ss));
	T_EQ(in_port(in.ctl + in.p.addr_ack.REMADDR_offset), in_port(&me));
	T_OK(close(s));
	in_want(to, T_ORDREL_IND);
	T_OK(close(to));
	T_OK(close(fd));
}

T_CASE(a_listener_accepts_itself_and_listens_again)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = listener(1, &ss, &len), s, i;
	char buf[8];

	for (i = 0; i < 3; i++) {
		s = call(&ss, len);
		in_want(fd, T_CONN_IND);
		in_accept(fd, in.p.conn_ind.SEQ_number, fd);
		T_EQ(in_state(fd), TS_DATA_XFER);
		in_put(fd, NULL, 0, "self", 4, 0);
		in_readn(s, buf, 4);
		if (i == 1) {
			in_discon(fd, -1);
			while (in_get(fd) != T_OK_ACK)
				;
			T_EQ(drain(s), -ECONNRESET);
			T_OK(close(s));
		} else {
			T_OK(close(s));
			in_want(fd, T_ORDREL_IND);
			in_prim(fd, T_ORDREL_REQ);
		}
		T_EQ(in_state(fd), TS_IDLE);
	}
	T_OK(close(fd));
}

T_CASE(no_more_than_qlen_wait)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = listener(2, &ss, &len), s[3], seq[2], i;

	for (i = 0; i < 3; i++)
		s[i] = call(&ss, len);
	for (i = 0; i < 2; i++) {
		in_want(fd, T_CONN_IND);
		seq[i] = in.p.conn_ind.SEQ_number;
	}
	T_NE(seq[0], seq[1]);
	T_TRUE(in_quiet(fd, 100));
	in_discon(fd, seq[0]);
	in_ok(fd, T_DISCON_REQ);
	T_EQ(drain(s[0]), -ECONNRESET);
	in_want(fd, T_CONN_IND);
	in_discon(fd, in.p.conn_ind.SEQ_number);
	in_ok(fd, T_DISCON_REQ);
	T_EQ(drain(s[2]), -ECONNRESET);
	in_discon(fd, 12345);
	in_error(fd, T_DISCON_REQ, TBADSEQ, 0);
	T_OK(close(fd));
	T_EQ(drain(s[1]), -ECONNRESET);
	for (i = 0; i < 3; i++)
		T_OK(close(s[i]));
}

T_CASE(a_call_that_met_no_descriptor_is_told_of_later)
{
	struct rlimit was, now;
	struct sockaddr_storage ss;
	socklen_t len;
	int fd, s, low;

	/* which would have a descriptor for it */
	T_OK(setenv("STREAMS_DAEMON", "/nonexistent", 1));
	fd = listener(3, &ss, &len);
	s = in_sock(family(), SOCK_STREAM);
	T_TRUE(in_quiet(fd, 0)); /* whatever that needs is there by now */
	T_OK(getrlimit(RLIMIT_NOFILE, &was));
	low = T_OK(dup(s));
	T_OK(close(low));
	now = was;
	now.rlim_cur = (rlim_t)low;
	T_OK(setrlimit(RLIMIT_NOFILE, &now));
	T_OK(connect(s, (struct sockaddr *)&ss, len));
	T_TRUE(in_quiet(fd, 200));
	T_OK(setrlimit(RLIMIT_NOFILE, &was));
	in_want(fd, T_CONN_IND); /* though no other comes */
	T_OK(close(s));
	T_OK(close(fd));
}

/* What an image that was executed does with the stream that it got. */
T_CONSTRUCTOR static void
say_after_exec(void)
{
	const char *num = getenv("INET_SAY");
	int fd;

	if (num == NULL)
		return;
	fd = atoi(num);
	unsetenv("INET_SAY");
	/* every way to send, and every time */
	for (int i = 0; i < 3; i++) {
		struct T_data_req r = {T_DATA_REQ, 0};
		struct strbuf ctl = {0, sizeof(r), (void *)&r};
		struct strbuf data = {0, 3, "put"};

		if (write(fd, "said", 4) != -1)
			_exit(10);
		if (errno != EBADF)
			_exit(12);
		if (putmsg(fd, &ctl, &data, 0) != -1)
			_exit(11);
		if (errno != ENOSTR)
			_exit(13);
	}
	_exit(0);
}

/* This process becomes another image, which sends on @fd. */
static void
become(int fd)
{
	char num[16];

	snprintf(num, sizeof(num), "%d", fd);
	setenv("INET_SAY", num, 1);
	(void)fcntl(fd, F_SETFD, 0);
	execl("/proc/self/exe", "inet-tcp", "--list", (char *)NULL);
	_exit(99);
}

/* A child with an endpoint becomes an image; @daemon: NULL: it has a streamsd. */
static int
become_with(const char *daemon, int *ret_peer)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l = in_listener(family(), &ss, &len), st;
	pid_t pid;

	pid = T_OK(fork());
	if (pid == 0) {
		int fd;

		if (daemon != NULL)
			setenv("STREAMS_DAEMON", daemon, 1);
		fd = in_open(dev());
		in_bind(fd, NULL, 0, 0);
		in_conn_req(fd, &ss, (int)len);
		in_ok(fd, T_CONN_REQ);
		in_want(fd, T_CONN_CON);
		T_OK(close(l));
		become(fd);
	}
	*ret_peer = T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
	T_EQ(waitpid(pid, &st, 0), pid);
	T_TRUE(WIFEXITED(st));
	return WEXITSTATUS(st);
}

T_CASE(an_image_that_was_executed_sends)
{
	char buf[4];
	int s;

	T_EQ(become_with(NULL, &s), 10);
	in_readn(s, buf, 4);
	T_MEM(buf, "said", 4);
	T_OK(close(s));
}

/* Its socket cannot reach it: no call accepts data that is never sent. */
T_CASE(an_image_that_has_no_streamsd_sends_nothing_and_is_told)
{
	int s;

	T_EQ(become_with("/nonexistent", &s), 0);
	T_EQ(drain(s), 0);
	T_OK(close(s));
}

T_CASE(who_gives_up_before_the_answer_is_gone)
{
	struct linger lg = {1, 0};
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = listener(3, &ss, &len), s = call(&ss, len), seq;

	in_want(fd, T_CONN_IND);
	seq = in.p.conn_ind.SEQ_number;
	T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	T_OK(close(s));
	in_want(fd, T_DISCON_IND);
	T_EQ(in.p.discon_ind.SEQ_number, seq);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_EQ(in_state(fd), TS_IDLE);
	s = call(&ss, len);
	in_want(fd, T_CONN_IND);
	T_OK(close(s));
	T_OK(close(fd));
}

/* -------------------------------------------------------------- the ends */

T_CASE(both_sides_release)
{
	int s, fd = in_pair(dev(), family(), &s);
	char buf[8];

	in_put(fd, NULL, 0, "last", 4, 0);
	in_prim(fd, T_ORDREL_REQ);
	T_EQ(in_state(fd), TS_WIND_ORDREL);
	in_readn(s, buf, 4);
	T_EQ(read(s, buf, 1), 0);
	/* the other direction goes on */
	T_EQ(write(s, "more", 4), 4);
	in_want(fd, -1);
	T_EQ(in.datalen, 4);
	T_OK(close(s));
	in_want(fd, T_ORDREL_IND);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(the_peer_releases_first)
{
	int s, fd = in_pair(dev(), family(), &s);
	char buf[8];

	T_EQ(write(s, "bye", 3), 3);
	T_OK(shutdown(s, SHUT_WR));
	in_want(fd, -1); /* data first */
	T_EQ(in.datalen, 3);
	in_want(fd, T_ORDREL_IND);
	T_EQ(in_state(fd), TS_WREQ_ORDREL);
	in_put(fd, NULL, 0, "on", 2, 0);
	in_readn(s, buf, 2);
	in_prim(fd, T_ORDREL_REQ);
	T_EQ(read(s, buf, 1), 0);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(a_reset_by_the_peer_is_a_disconnection)
{
	struct linger lg = {1, 0};
	int s, fd = in_pair(dev(), family(), &s);

	T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	T_OK(close(s));
	in_want(fd, T_DISCON_IND);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(a_reset_met_by_a_send_is_a_disconnection)
{
	int s, fd = in_pair(dev(), family(), &s), i;
	static char buf[4096];

	T_EQ(write(s, "unread", 6), 6);
	T_OK(shutdown(s, SHUT_RD));
	in_put(fd, NULL, 0, "x", 1, 0);
	T_OK(close(s)); /* with data unread: a reset */
	for (i = 0; i < 1000 && in_quiet(fd, 0); i++) {
		struct strbuf d = {0, sizeof(buf), buf};

		if (putmsg(fd, NULL, &d, 0) != 0)
			break;
	}
	while (in_get(fd) == -1)
		;
	T_EQ(in.prim, T_DISCON_IND);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(an_abort_resets_the_peer)
{
	int s, fd = in_pair(dev(), family(), &s);

	in_discon(fd, -1);
	while (in_get(fd) != T_OK_ACK) /* M_FLUSH is not seen */
		;
	T_EQ(in_state(fd), TS_IDLE);
	T_EQ(drain(s), -ECONNRESET);
	T_OK(close(s));
	T_OK(close(fd));
}

/* @n bytes from @from on, as messages of all sizes. */
static void
send_bytes(int fd, uint64_t from, uint64_t n, size_t most)
{
	static unsigned char buf[65536];
	uint64_t at = from;

	while (at < from + n) {
		size_t k = 1 + t_rand_below(most), i;

		if (k > from + n - at)
			k = (size_t)(from + n - at);
		for (i = 0; i < k; i++)
			buf[i] = in_byte(at + i);
		in_put(fd, NULL, 0, buf, (int)k, 0);
		at += k;
	}
}

/* What @s gets from @at on, up to the end; how many. */
static uint64_t
check_bytes(int s, uint64_t at)
{
	static unsigned char buf[100000];
	ssize_t n, i;

	while ((n = T_OK(read(s, buf, 1 + t_rand_below(sizeof(buf))))) > 0)
		for (i = 0; i < n; i++, at++)
			if (buf[i] != in_byte(at))
				T_FAIL("byte %llu is wrong",
					(unsigned long long)at);
	return at;
}

T_CASE(what_was_accepted_is_delivered_after_a_close)
{
	int s, fd = in_pair(dev(), family(), &s);

	send_bytes(fd, 0, 200000, 3000);
	T_OK(close(fd));
	T_EQ(check_bytes(s, 0), 200000u);
	T_OK(close(s));
}

T_CASE_TIMEOUT(what_was_accepted_is_delivered_after_a_close_that_does_not_wait,
	60)
{
	static unsigned char buf[8192];
	struct strbuf d = {0, sizeof(buf), (char *)buf};
	int s, fd = in_pair(dev(), family(), &s);
	uint64_t sent = 0;
	unsigned i;

	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	for (;;) {
		for (i = 0; i < sizeof(buf); i++)
			buf[i] = in_byte(sent + i);
		if (putmsg(fd, NULL, &d, 0) != 0)
			break;
		sent += sizeof(buf);
	}
	T_EQ(errno, EAGAIN);
	T_OK(close(fd));
	T_EQ(check_bytes(s, 0), sent);
	T_OK(close(s));
}

/* Fill @fd until nothing more is taken; how many bytes were. */
static uint64_t
fill(int fd)
{
	static unsigned char buf[8192];
	struct strbuf d = {0, sizeof(buf), (char *)buf};
	uint64_t sent = 0;
	unsigned i;

	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	for (;;) {
		for (i = 0; i < sizeof(buf); i++)
			buf[i] = in_byte(sent + i);
		if (putmsg(fd, NULL, &d, 0) != 0)
			break;
		sent += sizeof(buf);
	}
	T_EQ(errno, EAGAIN);
	return sent;
}

T_CASE_TIMEOUT(what_a_close_has_to_throw_away_ends_in_a_reset, 60)
{
	int s, fd = in_pair(dev(), family(), &s);
	struct pollfd p = {fd, 0, 0};

	(void)fill(fd);
	/* no primitive at all: the endpoint is of no use any more */
	in_put(fd, "xx", 2, NULL, 0, 1);
	T_EQ(T_OK(poll(&p, 1, 10000)), 1);
	T_TRUE(p.revents & POLLERR);
	T_OK(close(fd));
	T_EQ(drain(s), -ECONNRESET);
	T_OK(close(s));
}

T_CASE_TIMEOUT(a_reset_is_told_though_unread_data_stands_in_front, 60)
{
	struct linger lg = {1, 0};
	int s, fd = in_pair(dev(), family(), &s), i;
	static unsigned char buf[65536], some[1024];
	struct strbuf d = {0, sizeof(some), (char *)some};
	uint64_t came = 0, at = 0;
	ssize_t n;

	/* more than the head takes; the rest stays in the socket */
	T_OK(fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK));
	for (;;) {
		for (i = 0; i < (int)sizeof(buf); i++)
			buf[i] = in_byte(at + (uint64_t)i);
		n = write(s, buf, sizeof(buf));
		if (n < 0)
			break;
		at += (uint64_t)n;
		(void)in_quiet(fd, 0);
		if (at > 1 << 19)
			break;
	}
	T_OK(setsockopt(s, SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	T_OK(close(s));
	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	/* who goes on sending finds that there is no connection */
	for (i = 0; i < 5000 && in_state(fd) == TS_DATA_XFER; i++) {
		(void)putmsg(fd, NULL, &d, 0);
		(void)poll(NULL, 0, 1);
	}
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(fcntl(fd, F_SETFL, O_RDWR));
	while (in_get(fd) == -1)
		for (i = 0; i < in.datalen; i++, came++)
			if (in.data[i] != in_byte(came))
				T_FAIL("byte %llu is wrong",
					(unsigned long long)came);
	T_EQ(in.prim, T_DISCON_IND);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE_TIMEOUT(a_send_after_the_peers_end_that_fails_is_a_disconnection, 60)
{
	int s, fd = in_pair(dev(), family(), &s), i;

	T_OK(close(s));
	in_want(fd, T_ORDREL_IND);
	T_EQ(in_state(fd), TS_WREQ_ORDREL);
	for (i = 0; i < 1000 && in_quiet(fd, 1); i++)
		in_put(fd, NULL, 0, "x", 1, 0);
	in_want(fd, T_DISCON_IND);
	T_EQ(in.p.discon_ind.DISCON_reason, ECONNRESET);
	T_EQ(in_state(fd), TS_IDLE);
	T_OK(close(fd));
}

T_CASE(what_was_accepted_is_delivered_after_an_exit)
{
	int s, fd = in_pair(dev(), family(), &s), st;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		send_bytes(fd, 0, 200000, 300);
		_exit(0);
	}
	T_OK(close(fd));
	T_EQ(check_bytes(s, 0), 200000u);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(s));
}

/* A child that says how far it is, and is killed then. */
T_CASE_TIMEOUT(what_was_accepted_is_delivered_after_a_kill, 60)
{
	int round;

	for (round = 0; round < (int)(megabytes(8) >> 20); round++) {
		int s, fd = in_pair(dev(), family(), &s), p[2], st;
		uint64_t done = 0, at, got;
		pid_t pid;

		T_OK(pipe(p));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(p[0]));
			for (at = 0;;) {
				size_t k = 1 + t_rand_below(2000);

				send_bytes(fd, at, k, 2000);
				at += k;
				if (write(p[1], &at, sizeof(at)) < 0)
					_exit(1);
			}
		}
		T_OK(close(fd));
		T_OK(close(p[1]));
		do
			in_readn(p[0], &done, sizeof(done));
		while (done < 1000 + 20000 * (uint64_t)(round % 50));
		T_OK(kill(pid, SIGKILL));
		while (read(p[0], &at, sizeof(at)) == sizeof(at))
			done = at;
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		got = check_bytes(s, 0);
		T_GE(got, done);
		T_OK(close(s));
		T_OK(close(p[0]));
	}
}

/* -------------------------------------------------------------------- data */

T_CASE_TIMEOUT(all_bytes_arrive_in_order_whatever_their_sizes, 60)
{
	uint64_t total = megabytes(8), at = 0;
	int s, fd = in_pair(dev(), family(), &s), st;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_OK(close(s));
		send_bytes(fd, 0, total / 2, 40);
		send_bytes(fd, total / 2, total / 4, 60000);
		send_bytes(fd, total / 2 + total / 4, total / 4, 3000);
		in_prim(fd, T_ORDREL_REQ);
		in_want(fd, T_ORDREL_IND);
		_exit(0);
	}
	T_OK(close(fd));
	at = check_bytes(s, 0);
	T_EQ(at, total);
	T_OK(close(s));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
}

T_CASE_TIMEOUT(all_bytes_are_read_in_order_by_a_reader_that_stalls, 60)
{
	static unsigned char buf[65536];
	uint64_t total = megabytes(8), at = 0;
	int s, fd = in_pair(dev(), family(), &s), st, i, n = 0;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		for (at = 0; at < total;) {
			size_t k = 1 + t_rand_below(sizeof(buf));

			if (k > total - at)
				k = (size_t)(total - at);
			for (i = 0; i < (int)k; i++)
				buf[i] = in_byte(at + (uint64_t)i);
			for (i = 0; i < (int)k;)
				i += (int)T_OK(write(s, buf + i,
					k - (size_t)i));
			at += k;
		}
		_exit(0);
	}
	T_OK(close(s));
	while (in_get(fd) == -1) {
		for (i = 0; i < in.datalen; i++, at++)
			if (in.data[i] != in_byte(at))
				T_FAIL("byte %llu is wrong",
					(unsigned long long)at);
		if (++n % 64 == 0)
			t_pause();
	}
	T_EQ(in.prim, T_ORDREL_IND);
	T_EQ(at, total);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(fd));
}

T_CASE_TIMEOUT(a_writer_is_held_back_and_goes_on, 60)
{
	struct strbuf d;
	static unsigned char buf[8192];
	int s, fd = in_pair(dev(), family(), &s);
	uint64_t sent = 0, got = 0;
	ssize_t n;

	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	d.buf = (char *)buf;
	d.len = sizeof(buf);
	while (putmsg(fd, NULL, &d, 0) == 0) {
		sent += sizeof(buf);
		T_LT(sent, 1u << 28);
	}
	T_EQ(errno, EAGAIN);
	while (got < sent) {
		n = T_OK(read(s, buf, sizeof(buf)));
		got += (uint64_t)n;
	}
	T_SOON(putmsg(fd, NULL, &d, 0) == 0, 5000);
	in_readn(s, buf, sizeof(buf));
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(expedited_data_is_the_urgent_byte)
{
	struct T_exdata_req ex = {T_EXDATA_REQ, 0};
	int s, fd = in_pair(dev(), family(), &s), mark = 0, one = 1, n;
	char buf[64];

	/* out: in its place */
	T_OK(setsockopt(s, SOL_SOCKET, SO_OOBINLINE, &one, sizeof(one)));
	in_put(fd, NULL, 0, "abc", 3, 0);
	in_put(fd, &ex, sizeof(ex), "!", 1, 0);
	in_put(fd, NULL, 0, "def", 3, 0);
	in_readn(s, buf, 3);
	T_MEM(buf, "abc", 3);
	T_SOON(ioctl(s, SIOCATMARK, &mark) == 0 && mark == 1, 2000);
	in_readn(s, buf, 1);
	T_EQ(buf[0], '!');
	in_readn(s, buf, 3);
	T_MEM(buf, "def", 3);

	/* in: T_EXDATA_IND, which may overtake */
	T_EQ(write(s, "abc", 3), 3);
	T_EQ(send(s, "?", 1, MSG_OOB), 1);
	T_EQ(write(s, "def", 3), 3);
	for (n = 0; n < 6;) {
		if (in_get(fd) == T_EXDATA_IND) {
			T_EQ(in.datalen, 1);
			T_EQ(in.data[0], '?');
			mark++;
		} else {
			T_EQ(in.prim, -1);
			memcpy(buf + n, in.data, (size_t)in.datalen);
			n += in.datalen;
		}
	}
	T_EQ(mark, 2);
	T_MEM(buf, "abcdef", 6);
	T_OK(close(s));
	T_OK(close(fd));
}

T_CASE(a_flush_drops_what_waits_and_nothing_comes_twice)
{
	int s, fd = in_pair(dev(), family(), &s);
	char buf[8];

	send_bytes(fd, 0, 50000, 100);
	T_OK(ioctl(fd, I_FLUSH, FLUSHW));
	in_put(fd, NULL, 0, "\377end", 4, 0);
	in_prim(fd, T_ORDREL_REQ);
	do
		T_EQ(read(s, buf + 3, 1), 1);
	while (memcmp(memmove(buf, buf + 1, 3), "end", 3) != 0);
	T_EQ(read(s, buf, 1), 0);
	T_OK(close(s));
	T_OK(close(fd));
}

/* ---------------------------------------------------------------- options */

static int
option(int fd, int flags, int level, int name, const void *val, int len)
{
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		unsigned char v[32];
	} m;

	memset(&m, 0, sizeof(m));
	m.r.PRIM_type = T_OPTMGMT_REQ;
	m.r.OPT_length = (int)sizeof(m.h) + len;
	m.r.OPT_offset = (int)sizeof(m.r);
	m.r.MGMT_flags = flags;
	m.h.len = (t_uscalar_t)sizeof(m.h) + (t_uscalar_t)len;
	m.h.level = (t_uscalar_t)level;
	m.h.name = (t_uscalar_t)name;
	if (len != 0)
		memcpy(m.v, val, (size_t)len);
	in_put(fd, &m, (int)(sizeof(m.r) + sizeof(m.h)) + len, NULL, 0, 0);
	in_want(fd, T_OPTMGMT_ACK);
	return in.p.optmgmt_ack.MGMT_flags;
}

static int
option_value(void)
{
	int v;

	memcpy(&v, in.ctl + in.p.optmgmt_ack.OPT_offset +
		sizeof(struct t_opthdr), sizeof(v));
	return v;
}

T_CASE(options_reach_the_socket_in_all_states)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l, s, fd = in_open(dev()), yes = T_YES, size = 65536;
	struct t_kpalive ka = {T_YES, 5};
	long both = T_YES;

	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_NODELAY, &yes, 4),
		T_SUCCESS);
	T_EQ(option(fd, T_NEGOTIATE, SOL_SOCKET, SO_REUSEADDR, &both, 8),
		T_SUCCESS);
	T_EQ(option(fd, T_NEGOTIATE, XTI_GENERIC, XTI_SNDBUF, &size, 4),
		T_SUCCESS);
	l = in_listener(family(), &ss, &len);
	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, (int)len);
	in_ok(fd, T_CONN_REQ);
	in_want(fd, T_CONN_CON);
	s = T_OK(accept(l, NULL, NULL));
	T_EQ(option(fd, T_CURRENT, INET_TCP, T_TCP_NODELAY, &yes, 0),
		T_SUCCESS);
	T_EQ(option_value(), T_YES);
	T_EQ(option(fd, T_CURRENT, XTI_GENERIC, XTI_SNDBUF, &yes, 0),
		T_SUCCESS);
	T_EQ(option_value(), size);
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_KEEPALIVE, &ka,
		sizeof(ka)), T_SUCCESS);
	T_EQ(option(fd, T_CURRENT, INET_TCP, T_TCP_KEEPALIVE, &ka, 0),
		T_SUCCESS);
	memcpy(&ka, in.ctl + in.p.optmgmt_ack.OPT_offset +
		sizeof(struct t_opthdr), sizeof(ka));
	T_EQ(ka.kp_onoff, T_YES);
	T_EQ(ka.kp_timeout, 5);
	/* the kernel's probes have no garbage: without it, then */
	ka.kp_onoff = T_YES | T_GARBAGE;
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_KEEPALIVE, &ka,
		sizeof(ka)), T_PARTSUCCESS);
	memcpy(&ka, in.ctl + in.p.optmgmt_ack.OPT_offset +
		sizeof(struct t_opthdr), sizeof(ka));
	T_EQ(ka.kp_onoff, T_YES);
	ka.kp_onoff = T_GARBAGE;
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_KEEPALIVE, &ka,
		sizeof(ka)), T_FAILURE);
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_MAXSEG, &size, 4),
		T_READONLY);
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, 4711, &size, 4),
		T_NOTSUPPORT);
	T_OK(close(s));
	T_OK(close(l));
	T_OK(close(fd));
}

/* The segments with data that have come at a socket. */
static unsigned
segments(int s)
{
	struct {
		unsigned char before[152];
		unsigned data_segs_in; /* <netinet/tcp.h> ends before it */
	} ti;
	socklen_t len = sizeof(ti);

	T_OK(getsockopt(s, IPPROTO_TCP, TCP_INFO, &ti, &len));
	T_EQ(len, sizeof(ti));
	return ti.data_segs_in;
}

/* Bytes written one after the other, by a thread that does not wait. */
static unsigned
segments_of(int fd, int s, unsigned n)
{
	unsigned was = segments(s), i;
	char buf[32];

	for (i = 0; i < n; i++)
		in_put(fd, NULL, -1, "x", 1, 0);
	for (i = 0; i < n;)
		i += (unsigned)T_OK(read(s, buf, sizeof(buf)));
	return segments(s) - was;
}

/* The option is one of the endpoint, or comes from the socket that listened. */
T_CASE(without_delay_each_message_is_sent_at_once)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd, at, s, yes = T_YES;
	unsigned n = 8; /* the first window has room for them */

	fd = in_pair(dev(), family(), &s);
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_NODELAY, &yes, 4),
		T_SUCCESS);
	T_EQ(segments_of(fd, s, n), n);
	T_OK(close(s));
	T_OK(close(fd));
	fd = listener(2, &ss, &len);
	T_EQ(option(fd, T_NEGOTIATE, INET_TCP, T_TCP_NODELAY, &yes, 4),
		T_SUCCESS);
	s = call(&ss, len);
	in_want(fd, T_CONN_IND);
	at = in_open(dev());
	in_accept(fd, in.p.conn_ind.SEQ_number, at);
	T_EQ(segments_of(at, s, n), n);
	T_OK(close(s));
	T_OK(close(at));
	T_OK(close(fd));
}

/* Whether its options were looked at before makes no difference to an acceptor. */
T_CASE(an_acceptor_that_was_asked_for_its_options_can_call_afterwards)
{
	struct sockaddr_storage ss, to;
	socklen_t len, tolen;
	int fd = listener(2, &ss, &len), at, s, l, yes, seq;

	s = call(&ss, len);
	in_want(fd, T_CONN_IND);
	seq = in.p.conn_ind.SEQ_number;
	at = in_open(dev());
	T_EQ(option(at, T_CURRENT, INET_TCP, T_TCP_NODELAY, &yes, 0),
		T_SUCCESS);
	in_accept(fd, seq, at);
	in_discon(at, -1);
	while (in_get(at) != T_OK_ACK)
		;
	T_OK(close(s));
	l = in_listener(family(), &to, &tolen);
	in_conn_req(at, &to, (int)tolen);
	in_ok(at, T_CONN_REQ);
	in_want(at, T_CONN_CON);
	T_OK(close(l));
	T_OK(close(at));
	T_OK(close(fd));
}

/* ------------------------------------------------------- without descriptors */

/* A child has no instance of its own yet to watch sockets with. */
T_CASE(poll_keeps_its_time_when_no_descriptor_is_left)
{
	struct rlimit rl = {64, 64};
	struct rusage ru;
	struct pollfd pfd = {.events = POLLOUT};
	static char buf[65536];
	uint64_t was;
	int s, status, i, quiet = 0;
	pid_t pid;

	/* neither side reads: then it is news of any kind that is waited for */
	pfd.fd = in_pair(dev(), family(), &s);
	T_OK(fcntl(pfd.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	T_OK(fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK));
	/* the kernel may find room for more for a while */
	for (i = 0; i < 100 && quiet < 3; i++) {
		while (write(s, buf, sizeof(buf)) > 0)
			;
		while (write(pfd.fd, buf, sizeof(buf)) > 0)
			;
		if (T_OK(poll(&pfd, 1, 50)) == 0)
			quiet++;
	}
	T_EQ(quiet, 3);
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setrlimit(RLIMIT_NOFILE, &rl));
		while (dup(s) >= 0)
			;
		for (i = 0; i < 3; i++) {
			was = t_now_ns();
			T_EQ(T_OK(poll(&pfd, 1, 200)), 0);
			T_GE(t_now_ns() - was, 190000000u);
		}
		T_OK(getrusage(RUSAGE_SELF, &ru));
		T_LT(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec, 1);
		_exit(0);
	}
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
	T_OK(close(s));
	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_OK(close(pfd.fd));
}

/* --------------------------------------------------------------------- many */

T_CASE_TIMEOUT(a_thousand_connections_come_and_go, 120)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd = listener(16, &ss, &len), to, s, i;
	char buf[4];

	for (i = 0; i < 500; i++) {
		s = call(&ss, len);
		in_want(fd, T_CONN_IND);
		to = in_open(dev());
		in_accept(fd, in.p.conn_ind.SEQ_number, to);
		if (i % 3 != 0) {
			in_put(to, NULL, 0, "hi", 2, 0);
			in_readn(s, buf, 2);
		}
		if (i % 2 == 0)
			T_OK(close(s));
		T_OK(close(to));
		if (i % 2 != 0)
			T_OK(close(s));
	}
	T_OK(close(fd));
	for (i = 0; i < 500; i++) {
		fd = in_pair(dev(), family(), &s);
		if (i % 2 == 0) {
			in_discon(fd, -1);
			while (in_get(fd) != T_OK_ACK)
				;
		}
		T_OK(close(fd));
		T_OK(close(s));
	}
}

/* FIONREAD: what a read would find now, in the socket too */
T_CASE(FIONREAD_counts_what_stands_in_the_socket)
{
	int s, n = 0, fd = in_pair("/dev/tcp", AF_INET, &s);

	T_EQ(write(s, "hello", 5), 5);
	T_SOON(ioctl(fd, FIONREAD, &n) == 0 && n == 5, 5000);
	T_OK(close(fd));
	T_OK(close(s));
}

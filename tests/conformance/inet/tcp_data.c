/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp(7) by its primitives: data and options.
 */
#include "tcp.h"

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

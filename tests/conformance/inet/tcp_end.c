/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp(7) by its primitives: the ends of a connection.
 */
#include "tcp.h"

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
	/* a later send finds that there is no connection */
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

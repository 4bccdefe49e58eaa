/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp(7) by its primitives: a listener, many connections, and no descriptors.
 */
#include <sys/resource.h>

#include "tcp.h"

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

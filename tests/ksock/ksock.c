/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Kernel sockets below a driver: all ways in which a program waits for what
 * comes there, processes that share one, and those that die.  The driver is
 * `wire'; at the other end of each connection is a plain socket of the test.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stropts.h>

#include <t.h>
#include "wire.h"

#define WIRE "/dev/streams/clone/wire"

static int
cmd(int fd, int c, int arg)
{
	struct wire_msg m = {c, arg};
	struct strbuf ctl = {0, sizeof m, (void *)&m};

	return putmsg(fd, &ctl, NULL, 0);
}

static void
answer(int fd, void *p, int n)
{
	struct strbuf ctl = {n, 0, p}, data = {0, 0, NULL};
	int flags = 0;

	T_EQ(getmsg(fd, &ctl, &data, &flags), 0);
	T_EQ(ctl.len, n);
}

/* A plain socket that listens; *ret_port, which is nobody's afterwards. */
static int
listener(int *ret_port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = T_OK(socket(AF_INET, SOCK_STREAM, 0)), r;

	do {
		*ret_port = t_port(AF_INET, SOCK_STREAM);
		sin.sin_port = htons((uint16_t)*ret_port);
		r = bind(fd, (void *)&sin, sizeof sin);
	} while (r < 0 && errno == EADDRINUSE);
	T_OK(r);
	T_OK(listen(fd, 64));
	return fd;
}

/* A stream and the plain socket at its other end. */
static void
wired(int *ret_stream, int *ret_peer)
{
	int port, l = listener(&port);

	*ret_stream = T_OK(open(WIRE, O_RDWR));
	T_OK(cmd(*ret_stream, WIRE_CONNECT, port));
	*ret_peer = T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void
text(int fd, const char *s)
{
	T_EQ(write(fd, s, strlen(s)), (long)strlen(s));
}

/* Exactly the bytes of @s. */
static void
expect(int fd, const char *s)
{
	char buf[256];
	size_t n = 0, want = strlen(s);

	while (n < want) {
		ssize_t r = read(fd, buf + n, want - n);

		if (r <= 0)
			T_FAIL("read: %zd, %s, after %zu bytes", r,
				strerror(errno), n);
		n += (size_t)r;
	}
	T_MEM(buf, s, want);
}

static pid_t
child(void (*fn)(int arg, int arg2), int arg, int arg2)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn(arg, arg2);
		_exit(0);
	}
	return pid;
}

static void
reap(pid_t pid)
{
	int st;

	T_EQ(waitpid(pid, &st, 0), pid);
	T_EQ(st, 0);
}

static void
later(int fd, int ms)
{
	/* the other side shall be asleep, which nobody can see from here */
	struct pollfd none = {-1, 0, 0};

	poll(&none, 1, ms);
	text(fd, "late");
}

/* ------------------------------------------------------------------- waiting */

T_CASE(bytes_go_both_ways)
{
	int s, p;

	wired(&s, &p);
	text(s, "down");
	expect(p, "down");
	text(p, "up");
	expect(s, "up");
	T_OK(close(s));
	T_OK(close(p));
}

T_CASE(blocked_read_wakes_when_data_comes)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	for (int i = 0; i < 3; i++) {
		pid = child(later, p, i == 0 ? 120 : 5);
		expect(s, "late");
		reap(pid);
	}
	T_OK(close(p));
}

T_CASE(nonblocking_read_finds_what_has_come)
{
	int s, p;
	char c;

	wired(&s, &p);
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	T_ERR(read(s, &c, 1), EAGAIN);
	text(p, "x");
	T_SOON(read(s, &c, 1) == 1, 1000);
	T_ERR(read(s, &c, 1), EAGAIN);
}

T_CASE(nonblocking_getmsg_finds_what_has_come)
{
	int s, p, flags;
	char buf[8];
	struct strbuf data = {sizeof buf, 0, buf};

	wired(&s, &p);
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	text(p, "x");
	T_SOON((flags = 0, getmsg(s, NULL, &data, &flags) == 0), 1000);
	T_EQ(data.len, 1);
}

T_CASE(i_nread_and_i_peek_look_at_the_socket)
{
	int s, p, n;
	char buf[8];
	struct strpeek pk = {.databuf = {sizeof buf, 0, buf}};

	wired(&s, &p);
	text(p, "four");
	T_SOON(ioctl(s, I_NREAD, &n) == 1, 1000);
	T_EQ(n, 4);
	T_EQ(ioctl(s, I_PEEK, &pk), 1);
	T_EQ(pk.databuf.len, 4);
}

T_CASE(poll_of_one_stream)
{
	int s, p;
	struct pollfd pfd;
	pid_t pid;

	wired(&s, &p);
	pfd = (struct pollfd){s, POLLIN, 0};
	T_EQ(poll(&pfd, 1, 0), 0);
	T_EQ(poll(&pfd, 1, 20), 0);
	pid = child(later, p, 100);
	T_EQ(poll(&pfd, 1, 5000), 1);
	T_EQ(pfd.revents, POLLIN);
	expect(s, "late");
	reap(pid);
	text(p, "x");
	T_SOON(poll(&pfd, 1, 0) == 1, 1000);
}

T_CASE(poll_of_many_streams_and_a_pipe)
{
	int s[40], p[40], pp[2];
	struct pollfd pfd[41];
	pid_t pid;

	for (int i = 0; i < 40; i++) {
		wired(&s[i], &p[i]);
		pfd[i] = (struct pollfd){s[i], POLLIN, 0};
	}
	T_OK(pipe(pp));
	pfd[40] = (struct pollfd){pp[0], POLLIN, 0};
	for (int i = 0; i < 3; i++) {
		pid = child(later, p[i * 13], 60);
		T_EQ(poll(pfd, 41, 5000), 1);
		T_EQ(pfd[i * 13].revents, POLLIN);
		expect(s[i * 13], "late");
		reap(pid);
	}
	text(pp[1], "x");
	T_EQ(poll(pfd, 41, 5000), 1);
	T_EQ(pfd[40].revents, POLLIN);
	text(p[7], "x");
	T_SOON(poll(pfd, 41, 0) == 2, 1000);
}

T_CASE(select_of_two_streams)
{
	int s[2], p[2];
	fd_set in;
	pid_t pid;

	wired(&s[0], &p[0]);
	wired(&s[1], &p[1]);
	for (int i = 0; i < 2; i++) {
		struct timeval tv = {5, 0};

		FD_ZERO(&in);
		FD_SET(s[0], &in);
		FD_SET(s[1], &in);
		pid = child(later, p[i], 60);
		T_EQ(select(s[1] + 1, &in, NULL, NULL, &tv), 1);
		T_TRUE(FD_ISSET(s[i], &in));
		expect(s[i], "late");
		reap(pid);
	}
}

static void
epoll_case(uint32_t flags)
{
	int s[3], p[3], ep = T_OK(epoll_create1(0));
	struct epoll_event ev;
	pid_t pid;

	for (uint32_t i = 0; i < 3; i++) {
		wired(&s[i], &p[i]);
		ev = (struct epoll_event){.events = EPOLLIN | flags,
			.data = {.u32 = i}};
		T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s[i], &ev));
	}
	T_EQ(epoll_wait(ep, &ev, 1, 0), 0);
	for (uint32_t i = 0; i < 6; i++) {
		char c;

		pid = child(later, p[i % 3], 40);
		T_EQ(epoll_wait(ep, &ev, 1, 5000), 1);
		T_EQ(ev.data.u32, i % 3);
		expect(s[i % 3], "late");
		reap(pid);
		T_OK(fcntl(s[i % 3], F_SETFL, O_NONBLOCK));
		T_ERR(read(s[i % 3], &c, 1), EAGAIN);
	}
	text(p[1], "x");
	T_SOON(epoll_wait(ep, &ev, 1, 0) == 1, 1000);
	T_EQ(ev.data.u32, 1);
}

T_CASE(epoll_level_triggered)
{
	epoll_case(0);
}

T_CASE(epoll_edge_triggered)
{
	epoll_case(EPOLLET);
}

T_CASE(end_of_the_connection_is_a_hangup_and_does_not_spin)
{
	int s, p;
	char c;
	struct pollfd pfd[2];
	struct rusage a, b;

	wired(&s, &p);
	text(p, "last");
	T_OK(close(p));
	expect(s, "last");
	T_EQ(read(s, &c, 1), 0);
	pfd[0] = (struct pollfd){s, POLLIN, 0};
	T_EQ(poll(pfd, 1, 1000), 1);
	T_TRUE(pfd[0].revents & POLLHUP);
	/* another one, whose socket stands at its end, is waited for */
	wired(&pfd[1].fd, &p);
	pfd[1].events = POLLIN;
	T_OK(getrusage(RUSAGE_SELF, &a));
	T_EQ(poll(&pfd[1], 1, 200), 0);
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 12);
}

T_CASE(a_connection_that_is_taken)
{
	int s = T_OK(open(WIRE, O_RDWR)), port, p;
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)}};

	T_OK(cmd(s, WIRE_LISTEN, 0));
	answer(s, &port, sizeof port);
	sin.sin_port = htons((uint16_t)port);
	p = T_OK(socket(AF_INET, SOCK_STREAM, 0));
	T_OK(connect(p, (void *)&sin, sizeof sin));
	text(p, "in");
	expect(s, "in");
	text(s, "out");
	expect(p, "out");
}

T_CASE(a_bound_name_is_free_when_it_was_closed)
{
	int s = T_OK(open(WIRE, O_RDWR)), port, again;

	T_OK(cmd(s, WIRE_LISTEN, t_port(AF_INET, SOCK_STREAM)));
	answer(s, &port, sizeof port);
	for (int i = 0; i < 20; i++) {
		T_OK(cmd(s, WIRE_LISTEN, port));
		answer(s, &again, sizeof again);
		T_EQ(again, port);
	}
}

T_CASE(a_refused_connection_is_told)
{
	int port, l = listener(&port), s = T_OK(open(WIRE, O_RDWR));
	char c;

	T_OK(close(l));
	T_OK(cmd(s, WIRE_CONNECT, port));
	/* hung up, or already when it was told to connect */
	T_LE(read(s, &c, 1), 0);
}

/* ----------------------------------------------------------------- much data */

/* What came is wrong: say so, and let the writer fail instead of waiting. */
static void
drain_failed(int fd, long at, int status)
{
	fprintf(stderr, "# %s at byte %ld\n",
		status == 1 ? "the end, or an error," : "another byte", at);
	(void)shutdown(fd, SHUT_RDWR);
	_exit(status);
}

static void
drain_slowly(int fd, int total)
{
	static char buf[65536];
	struct pollfd none = {-1, 0, 0};
	int n = 0;

	while (n < total) {
		ssize_t r = read(fd, buf, sizeof buf);

		if (r <= 0)
			drain_failed(fd, n, 1);
		for (ssize_t i = 0; i < r; i++)
			if (buf[i] != (char)((n + i) % 251))
				drain_failed(fd, n + i, 2);
		n += (int)r;
		if (n < total / 8)
			poll(&none, 1, 1);
	}
}

static void
fill(int fd, int total)
{
	static char buf[10007];
	int n = 0;

	while (n < total) {
		int k = total - n < (int)sizeof buf ? total - n :
						      (int)sizeof buf;
		ssize_t r;

		for (int i = 0; i < k; i++)
			buf[i] = (char)((n + i) % 251);
		r = write(fd, buf, (size_t)k);
		if (r < 0)
			_exit(3);
		n += (int)r;
	}
}

#define MUCH (16 << 20)

T_CASE(a_blocked_writer_goes_on_when_there_is_room)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	pid = child(drain_slowly, p, MUCH);
	fill(s, MUCH);
	reap(pid);
}

T_CASE(much_data_comes_in_order)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	pid = child(fill, p, MUCH);
	drain_slowly(s, MUCH);
	reap(pid);
}

T_CASE(a_head_that_is_full_costs_no_time)
{
	int s, p, n = 0;
	struct rusage a, b;
	struct pollfd pfd;
	static char buf[65536];
	ssize_t r;

	wired(&s, &p);
	T_OK(fcntl(p, F_SETFL, O_NONBLOCK));
	for (int idle = 0; idle < 20;) {
		struct pollfd out = {p, POLLOUT, 0};

		r = write(p, buf, sizeof buf);
		if (r > 0)
			n += (int)r;
		else
			idle++;
		/* what the head has room for is taken in */
		pfd = (struct pollfd){s, POLLIN | POLLOUT | POLLPRI, 0};
		(void)poll(&pfd, 1, 5);
		(void)poll(&out, 1, 5);
	}
	/* asleep for something else, the socket readable all the time */
	pfd = (struct pollfd){s, POLLPRI, 0};
	T_OK(getrusage(RUSAGE_SELF, &a));
	T_EQ(poll(&pfd, 1, 500), 0);
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 60);
	T_LT((b.ru_utime.tv_sec - a.ru_utime.tv_sec) * 1000000 +
		b.ru_utime.tv_usec - a.ru_utime.tv_usec, 100000);
	/* and it is all there */
	while (n > 0) {
		r = read(s, buf, sizeof buf);
		T_GT(r, 0);
		n -= (int)r;
	}
	T_EQ(n, 0);
}

T_CASE(an_idle_reader_costs_no_time)
{
	int s, p;
	struct rusage a, b;
	pid_t pid;

	wired(&s, &p);
	pid = child(later, p, 700);
	T_OK(getrusage(RUSAGE_SELF, &a));
	expect(s, "late");
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 12);
	reap(pid);
}

T_CASE(a_blocked_read_and_a_dialogue_waste_no_calls)
{
	int s, p;
	struct wire_count c;

	wired(&s, &p);
	for (int i = 0; i < 100; i++) {
		text(s, "q");
		expect(p, "q");
		text(p, "a");
		expect(s, "a");
	}
	T_OK(cmd(s, WIRE_COUNT, 0));
	answer(s, &c, sizeof c);
	T_LE(c.writes, 101);
	T_LE(c.reads, 105);
	T_LE(c.dry, 5);
}

/* ----------------------------------------------------------------- gathering */

T_CASE(gathered_data_goes_before_the_thread_sleeps)
{
	int s, p;
	struct wire_count c;

	wired(&s, &p);
	text(s, "up"); /* it is connected */
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	for (int i = 0; i < 20; i++) {
		pid_t pid;

		text(s, "one ");
		text(s, "two");
		pid = child(later, p, 1);
		expect(s, "late");
		expect(p, "one two");
		reap(pid);
	}
	T_OK(cmd(s, WIRE_COUNT, 0));
	answer(s, &c, sizeof c);
	T_LE(c.writes, 45);
}

T_CASE(gathered_data_goes_by_itself)
{
	int s, p;
	struct pollfd pfd;
	uint64_t then;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	for (int i = 0; i < 10; i++) {
		text(s, "x");
		/* the real one: this process's own poll would flush */
		then = now_ms();
		pfd = (struct pollfd){p, POLLIN, 0};
		T_EQ(syscall(SYS_ppoll, &pfd, 1, &(struct timespec){2, 0},
			NULL, 8), 1);
		T_LT(now_ms() - then, 1000);
		expect(p, "x");
	}
}

T_CASE(gathered_data_goes_when_the_stream_is_closed)
{
	int s, p;
	char c;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(cmd(s, WIRE_GATHER, 1000));
	text(s, "rest");
	T_OK(close(s));
	expect(p, "rest");
	T_EQ(read(p, &c, 1), 0);
}

/* What a slow peer has not taken when the stream is closed. */
static void
left_behind(int oflags)
{
	int s, p, total = 0, n = 0;
	static char buf[65536];
	ssize_t r;
	uint64_t then;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	while ((r = write(s, buf, sizeof buf)) > 0)
		total += (int)r;
	T_OK(fcntl(s, F_SETFL, oflags));
	then = now_ms();
	T_OK(close(s));
	if (oflags & O_NONBLOCK)
		T_LT(now_ms() - then, 3000);
	while ((r = read(p, buf, sizeof buf)) > 0)
		n += (int)r;
	T_EQ(n, total);
}

T_CASE(a_close_that_does_not_wait_loses_nothing)
{
	left_behind(O_NONBLOCK);
}

static void
slow_close(int s, int arg)
{
	(void)arg;
	(void)close(s);
}

T_CASE(a_close_that_waits_lets_the_rest_go)
{
	int s, p, total = 0, n = 0;
	static char buf[65536];
	ssize_t r;
	pid_t pid;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	while ((r = write(s, buf, sizeof buf)) > 0)
		total += (int)r;
	T_OK(fcntl(s, F_SETFL, 0));
	pid = child(slow_close, s, 0);
	T_OK(close(s));
	while ((r = read(p, buf, sizeof buf)) > 0)
		n += (int)r;
	T_EQ(n, total);
	reap(pid);
}

/* ------------------------------------------------------------- processes */

static void
echo_once(int s, int arg)
{
	char buf[16];
	ssize_t n = read(s, buf, sizeof buf);

	(void)arg;
	if (n <= 0 || write(s, buf, (size_t)n) != n)
		_exit(1);
}

T_CASE(a_forked_child_reads_and_writes)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	for (int i = 0; i < 3; i++) {
		pid = child(echo_once, s, 0);
		text(p, "ping");
		expect(p, "ping");
		reap(pid);
	}
	text(p, "mine");
	expect(s, "mine");
}

static void
poll_echo_once(int s, int arg)
{
	struct pollfd pfd[2] = {{s, POLLIN, 0}, {arg, POLLIN, 0}};

	if (poll(pfd, 2, 5000) != 1)
		_exit(9);
	echo_once(s, 0);
}

T_CASE(a_forked_child_polls_with_an_instance_of_its_own)
{
	int s, p, pp[2];
	pid_t pid;
	struct pollfd pfd[2];

	wired(&s, &p);
	T_OK(pipe(pp));
	pfd[0] = (struct pollfd){s, POLLIN, 0};
	pfd[1] = (struct pollfd){pp[0], POLLIN, 0};
	T_EQ(poll(pfd, 2, 10), 0);
	for (int i = 0; i < 3; i++) {
		pid = child(poll_echo_once, s, pp[0]);
		text(p, "ping");
		expect(p, "ping");
		reap(pid);
		T_EQ(poll(pfd, 2, 10), 0);
	}
}

static void
become(int s, int arg)
{
	char num[16];

	snprintf(num, sizeof num, "%d", s);
	setenv("WIRE_ECHO", num, 1);
	fcntl(s, F_SETFD, 0);
	execl("/proc/self/exe", "ksock-streams", "--list", (char *)NULL);
	_exit(99);
}

/* What an image that was exec'ed does with the stream it got. */
T_CONSTRUCTOR static void
after_exec(void)
{
	const char *num = getenv("WIRE_ECHO");

	if (num == NULL)
		return;
	unsetenv("WIRE_ECHO");
	echo_once(atoi(num), 0);
	_exit(0);
}

T_CASE(an_image_that_was_executed_fetches_the_socket)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	for (int i = 0; i < 3; i++) {
		pid = child(become, s, 0);
		text(p, "ping");
		expect(p, "ping");
		reap(pid);
	}
}

static void
take_and_echo(int end, int arg)
{
	struct strrecvfd r;

	(void)arg;
	if (ioctl(end, I_RECVFD, &r) != 0)
		_exit(8);
	echo_once(r.fd, 0);
}

T_CASE(who_receives_the_stream_fetches_the_socket)
{
	int s, p, pp[2];
	pid_t pid;

	T_OK(pipe(pp));
	pid = child(take_and_echo, pp[1], 0);
	wired(&s, &p);
	T_OK(ioctl(pp[0], I_SENDFD, s));
	T_OK(close(s));
	text(p, "ping");
	expect(p, "ping");
	reap(pid);
}

static void
read_bytes(int s, int n)
{
	char c[64];

	while (n > 0) {
		ssize_t r = read(s, c, sizeof c);

		if (r == 0)
			return;
		if (r < 0)
			_exit(1);
		n -= (int)r;
	}
}

T_CASE(several_processes_share_one_stream)
{
	int s, p;
	pid_t pid[4];
	static char buf[1000];

	wired(&s, &p);
	for (int i = 0; i < 4; i++)
		pid[i] = child(read_bytes, s, 1 << 30);
	for (int i = 0; i < 50; i++)
		T_EQ(write(p, buf, sizeof buf), (long)sizeof buf);
	T_OK(shutdown(p, SHUT_WR));
	for (int i = 0; i < 4; i++)
		reap(pid[i]);
}

static void
write_and_die(int s, int n)
{
	static char buf[4096];

	(void)fcntl(s, F_SETFL, 0);
	for (int i = 0; i < n; i++)
		if (write(s, buf, sizeof buf) != (long)sizeof buf)
			_exit(1);
	kill(getpid(), SIGKILL);
}

T_CASE(what_was_accepted_is_delivered_though_the_writer_is_killed)
{
	for (int round = 0; round < 4; round++) {
		int s, p, st, n = 0;
		static char buf[65536];
		ssize_t r;
		pid_t pid;

		wired(&s, &p);
		text(s, "up");
		expect(p, "up");
		if (round & 1)
			T_OK(cmd(s, WIRE_GATHER, 1 << 20));
		pid = child(write_and_die, s, round & 1 ? 10 : 3);
		T_OK(close(s));
		T_EQ(waitpid(pid, &st, 0), pid);
		T_TRUE(WIFSIGNALED(st));
		while ((r = read(p, buf, sizeof buf)) > 0)
			n += (int)r;
		T_EQ(n, (round & 1 ? 10 : 3) * 4096);
		T_OK(close(p));
	}
}

/* More than the kernel takes: the rest is in the driver's queue. */
static void
write_much_and_die(int s, int total)
{
	int n = 0;
	static char buf[4096];

	(void)fcntl(s, F_SETFL, O_NONBLOCK);
	while (n < total) {
		ssize_t r = write(s, buf, sizeof buf);

		if (r < 0)
			break;
		n += (int)r;
	}
	(void)fcntl(s, F_SETFL, 0);
	T_EQ(write(9, &n, sizeof n), (long)sizeof n);
	kill(getpid(), SIGKILL);
}

T_CASE(what_waited_for_room_is_delivered_though_the_writer_is_killed)
{
	int s, p, st, n = 0, want = 0, pp[2];
	static char buf[65536];
	ssize_t r;
	pid_t pid;

	wired(&s, &p);
	T_EQ(syscall(SYS_pipe2, pp, 0), 0);
	T_OK(dup2(pp[1], 9));
	pid = child(write_much_and_die, s, 64 << 20);
	T_OK(close(s));
	T_EQ(waitpid(pid, &st, 0), pid);
	T_TRUE(WIFSIGNALED(st));
	T_EQ(read(pp[0], &want, sizeof want), (long)sizeof want);
	while ((r = read(p, buf, sizeof buf)) > 0)
		n += (int)r;
	T_EQ(n, want);
}

static void
hold(int s, int arg)
{
	char c;

	(void)arg;
	(void)read(s, &c, 1);
}

T_CASE(a_stopped_holder_keeps_nobody_from_the_end)
{
	int s, p, st;
	char c;
	pid_t pid;
	struct pollfd none = {-1, 0, 0};

	wired(&s, &p);
	pid = child(hold, s, 0);
	poll(&none, 1, 50); /* it sleeps there, perhaps */
	T_OK(kill(pid, SIGSTOP));
	text(p, "mine");
	expect(s, "mine");
	text(s, "back");
	expect(p, "back");
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, &st, 0), pid);
	T_OK(close(s));
	T_EQ(read(p, &c, 1), 0);
}

static void
on_alarm(int sig)
{
	(void)sig;
}

T_CASE(a_signal_ends_a_read)
{
	int s, p;
	char c;
	struct sigaction sa = {.sa_handler = on_alarm};
	struct itimerval it = {{0, 3000}, {0, 3000}};

	wired(&s, &p);
	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_OK(setitimer(ITIMER_REAL, &it, NULL));
	for (int i = 0; i < 100; i++)
		T_ERR(read(s, &c, 1), EINTR);
	/* and with SA_RESTART it goes on */
	sa.sa_flags = SA_RESTART;
	T_OK(sigaction(SIGALRM, &sa, NULL));
	reap(child(later, p, 30));
	expect(s, "late");
}

static volatile int polls;

static void
on_poll(int sig)
{
	(void)sig;
	polls++;
}

T_CASE(i_setsig_tells_of_what_comes)
{
	int s, p;
	struct sigaction sa = {.sa_handler = on_poll};

	wired(&s, &p);
	T_OK(sigaction(SIGPOLL, &sa, NULL));
	T_OK(ioctl(s, I_SETSIG, S_INPUT));
	for (int i = 1; i <= 3; i++) {
		text(p, "x");
		T_SOON(polls >= i, 3000);
		expect(s, "x");
	}
}

/* The socket is below a multiplexor: nobody waits for it but streamsd. */
T_CASE(a_linked_stream_is_read_though_nobody_waits_at_it)
{
	int s, p, m = T_OK(open("/dev/mux", O_RDWR)), id;
	pid_t pid;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	id = ioctl(m, I_LINK, s);
	T_GT(id, 0);
	text(m, "down");
	expect(p, "down");
	for (int i = 0; i < 3; i++) {
		pid = child(later, p, 20);
		expect(m, "late");
		reap(pid);
	}
	T_OK(ioctl(m, I_UNLINK, id));
	text(p, "own");
	expect(s, "own");
}

/* ---------------------------------------------------------------- streamsd */

/* The streamsd that was started here, which the harness adopts; 0: none. */
static pid_t
streamsd_of(pid_t harness)
{
	char path[64], line[256], *end;
	pid_t found = 0;
	FILE *f, *g;
	int pid;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", harness,
		harness);
	f = fopen(path, "r");
	while (f != NULL && fscanf(f, "%d", &pid) == 1) {
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
		g = fopen(path, "r");
		if (g == NULL)
			continue;
		end = fgets(line, sizeof line, g);
		fclose(g);
		/* pid (comm) state: not the one that was killed */
		end = end != NULL ? strstr(line, "(streamsd") : NULL;
		if (end != NULL && strstr(end, ") Z ") == NULL)
			found = pid;
	}
	if (f != NULL)
		fclose(f);
	return found;
}

static pid_t
streamsd(void)
{
	return streamsd_of(getppid());
}

T_CASE(one_thousand_connections_made_and_dropped)
{
	int port, l = listener(&port);
	char c;

	for (int i = 0; i < 1000; i++) {
		int s = T_OK(open(WIRE, O_RDWR)), p;

		T_OK(cmd(s, WIRE_CONNECT, port));
		p = T_OK(accept(l, NULL, NULL));
		T_OK(close(s));
		T_EQ(read(p, &c, 1), 0);
		T_OK(close(p));
	}
}

static void
kill_streamsd(int ms, int harness)
{
	struct pollfd none = {-1, 0, 0};

	(void)harness;
	for (;;) {
		syscall(SYS_ppoll, &none, 0,
			&(struct timespec){0, ms * 1000000L}, NULL, 8);
		pid_t pid = streamsd_of(harness);

		if (pid != 0)
			kill(pid, SIGKILL);
	}
}

T_CASE(a_new_streamsd_has_the_sockets_too)
{
	int s, p;
	pid_t pid, was;
	struct pollfd pfd;

	wired(&s, &p);
	T_SOON((was = streamsd()) != 0, 3000);
	T_OK(kill(was, SIGKILL));
	/* whoever sleeps at a stream notices */
	pfd = (struct pollfd){s, POLLIN, 0};
	T_SOON(poll(&pfd, 1, 10) == 0 && (pid = streamsd()) != 0 && pid != was,
		5000);
	T_EQ(poll(&pfd, 1, 10), 0);
	text(s, "still");
	expect(p, "still");
	/* who has none gets it from the new one */
	pid = child(become, s, 0);
	text(p, "ping");
	expect(p, "ping");
	reap(pid);
}

/* Is there a streamsd yet that is to die?  Its environment says so. */
static int
doomed(void)
{
	char path[64], env[1024];
	pid_t pid = streamsd();
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	fd = pid == 0 ? -1 : open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, env, sizeof env);
	(void)close(fd);
	return n > 0 && memmem(env, (size_t)n, "STREAMS_CRASH=", 14) != NULL;
}

/* What has come at @p, where @got bytes have. */
static long
take_pattern(int p, long got)
{
	static char in[65536];
	ssize_t r = recv(p, in, sizeof in, MSG_DONTWAIT);

	for (ssize_t i = 0; i < r; i++)
		if (in[i] != (char)((got + i) % 251))
			T_FAIL("byte %ld is another", got + (long)i);
	return r > 0 ? r : 0;
}

/* It sends when there is room for what waits and nobody else looks. */
T_CASE(what_streamsd_has_in_its_hands_when_it_dies_is_not_lost)
{
	static char buf[10007];
	long total = 0, got = 0;
	struct pollfd pfd[2];
	uint64_t end;
	pid_t was;
	int s, p;
	ssize_t r;

	T_OK(setenv("STREAMS_DAEMON_CRASH", "ksock:sent", 1));
	wired(&s, &p);
	T_SOON(doomed(), 3000);
	was = streamsd();
	T_OK(setenv("STREAMS_DAEMON_CRASH", "", 1));
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	do {
		for (size_t i = 0; i < sizeof buf; i++)
			buf[i] = (char)((total + (long)i) % 251);
		r = write(s, buf, sizeof buf);
		total += r > 0 ? r : 0;
	} while (r > 0);
	T_EQ(errno, EAGAIN);
	for (end = now_ms() + 10000; streamsd() == was && now_ms() < end;) {
		got += take_pattern(p, got);
		(void)poll(NULL, 0, 1);
	}
	/* it has died of sending, or nothing is shown by this */
	T_TRUE(streamsd() != was);
	pfd[0] = (struct pollfd){s, POLLOUT, 0};
	pfd[1] = (struct pollfd){p, POLLIN, 0};
	for (end = now_ms() + 10000; got < total && now_ms() < end;) {
		(void)poll(pfd, 2, 100);
		got += take_pattern(p, got);
	}
	T_EQ(got, total);
}

T_CASE(much_data_while_streamsd_is_killed_again_and_again)
{
	int s, p, st;
	pid_t killer, pid;

	wired(&s, &p);
	killer = child(kill_streamsd, 100, getppid());
	pid = child(drain_slowly, p, MUCH);
	fill(s, MUCH);
	reap(pid);
	pid = child(fill, p, MUCH);
	drain_slowly(s, MUCH);
	reap(pid);
	T_OK(kill(killer, SIGKILL));
	T_EQ(waitpid(killer, &st, 0), killer);
}

T_CASE(a_stopped_streamsd_keeps_nobody_who_has_the_socket)
{
	int s, p;
	pid_t d;

	wired(&s, &p);
	T_SOON((d = streamsd()) != 0, 3000);
	T_OK(kill(d, SIGSTOP));
	for (int i = 0; i < 20; i++) {
		text(s, "down");
		expect(p, "down");
		text(p, "up");
		expect(s, "up");
	}
	T_OK(kill(d, SIGCONT));
}

/* -------------------------------------------------- killed at every point */

/* Connects, echoes, closes; somewhere there it dies. */
static void
die_at(int port, int n)
{
	static const char *const label[] = {"ksock:alive", "ksock:adopted",
		"sock:adopted", "ksock:event", "sleep:sock",
		"ksock:shut", "ksock:dead", "close:begun", "close:driver",
		"close:down"};
	char buf[8];
	int s;

	setenv("STREAMS_CRASH", label[n], 1);
	s = open(WIRE, O_RDWR);
	if (s < 0 || cmd(s, WIRE_CONNECT, port) != 0 ||
	    write(s, "hello", 5) != 5 || read(s, buf, sizeof buf) <= 0)
		_exit(1);
	close(s);
	_exit(2);
}

T_CASE_TIMEOUT(killed_at_any_point_its_connection_ends, 60)
{
	int port, l = listener(&port), p, st, s;
	struct pollfd pfd = {l, POLLIN, 0};
	char buf[8];
	ssize_t r;
	pid_t pid;

	for (int n = 0; n < 10; n++) {
		pid = child(die_at, port, n);
		/* some die before */
		do
			p = poll(&pfd, 1, 20) == 1 ?
				T_OK(accept(l, NULL, NULL)) : -1;
		while (p < 0 && waitpid(pid, &st, WNOHANG) == 0);
		if (p >= 0) {
			while ((r = read(p, buf, sizeof buf)) > 0)
				T_EQ(send(p, buf, (size_t)r, MSG_NOSIGNAL), r);
			T_OK(close(p));
			(void)waitpid(pid, &st, 0);
		}
		/* streamsd may be the one that closes, and is let live */
		if (st != SIGKILL && !(n >= 5 && st == 2 << 8))
			T_FAIL("point %d: status %x", n, (unsigned)st);
		/* and others go on */
		wired(&s, &p);
		text(s, "x");
		expect(p, "x");
		T_OK(close(s));
		T_EQ(read(p, buf, 1), 0);
		T_OK(close(p));
	}
}

/* How often @pid has slept. */
static long
naps(pid_t pid)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	T_NOTNULL(f);
	while (fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	fclose(f);
	return n;
}

T_CASE(streamsd_sleeps_when_there_is_nothing_to_be_done)
{
	int s, p;
	static char buf[65536];
	struct pollfd none = {-1, 0, 0};
	long before;
	pid_t d;

	wired(&s, &p);
	text(s, "up");
	expect(p, "up");
	T_SOON((d = streamsd()) != 0, 3000);
	T_OK(cmd(s, WIRE_GATHER, 1000));
	text(s, "x");
	expect(p, "x");
	poll(&none, 1, 100); /* it looks for a while yet */
	before = naps(d);
	poll(&none, 1, 400);
	T_LT(naps(d) - before, 20);
	/* nor for a writer whom a peer that reads nothing keeps waiting */
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	while (write(s, buf, sizeof buf) > 0)
		;
	poll(&none, 1, 200);
	before = naps(d);
	poll(&none, 1, 400);
	T_LT(naps(d) - before, 20);
}

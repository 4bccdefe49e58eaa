/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Processes that share a kernel socket below a driver, and those that die
 * there; signals; and a stream that is linked.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stropts.h>

#include "ks.h"

/* ------------------------------------------------------------- processes */

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

/* The socket is below a multiplexor: only streamsd waits for it. */
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

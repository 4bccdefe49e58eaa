/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * streamsd, which has the kernel sockets of all streams: it is killed, is
 * stopped, has many, and sleeps when there is nothing to be done.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ks.h"

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
	/* a sleeper at a stream notices */
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

/* It sends when there is room for what waits and no other looks. */
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

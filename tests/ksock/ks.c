/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the cases about kernel sockets below a driver share.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stropts.h>

#include "ks.h"

int
cmd(int fd, int c, int arg)
{
	struct wire_msg m = {c, arg};
	struct strbuf ctl = {0, sizeof m, (void *)&m};

	return putmsg(fd, &ctl, NULL, 0);
}

void
answer(int fd, void *p, int n)
{
	struct strbuf ctl = {n, 0, p}, data = {0, 0, NULL};
	int flags = 0;

	T_EQ(getmsg(fd, &ctl, &data, &flags), 0);
	T_EQ(ctl.len, n);
}

int
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

void
wired(int *ret_stream, int *ret_peer)
{
	int port, l = listener(&port);

	*ret_stream = T_OK(open(WIRE, O_RDWR));
	T_OK(cmd(*ret_stream, WIRE_CONNECT, port));
	*ret_peer = T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

uint64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void
text(int fd, const char *s)
{
	T_EQ(write(fd, s, strlen(s)), (long)strlen(s));
}

void
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

pid_t
child(void (*fn)(int arg, int arg2), int arg, int arg2)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn(arg, arg2);
		_exit(0);
	}
	return pid;
}

void
reap(pid_t pid)
{
	int st;

	T_EQ(waitpid(pid, &st, 0), pid);
	T_EQ(st, 0);
}

void
later(int fd, int ms)
{
	/* the other side shall be asleep, which cannot be seen from here */
	struct pollfd none = {-1, 0, 0};

	poll(&none, 1, ms);
	text(fd, "late");
}

/* What came is wrong: say so, and let the writer fail instead of waiting. */
static void
drain_failed(int fd, long at, int status)
{
	fprintf(stderr, "# %s at byte %ld\n",
		status == 1 ? "the end, or an error," : "another byte", at);
	(void)shutdown(fd, SHUT_RDWR);
	_exit(status);
}

void
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

void
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

void
echo_once(int s, int arg)
{
	char buf[16];
	ssize_t n = read(s, buf, sizeof buf);

	(void)arg;
	if (n <= 0 || write(s, buf, (size_t)n) != n)
		_exit(1);
}

void
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

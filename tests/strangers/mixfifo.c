/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two talk through two FIFOs, each opened by two processes that have nothing
 * but the names in common; an open waits until there is another.
 */
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#undef NDEBUG

static char up[200], down[200];
static volatile sig_atomic_t rang;

static void ring(int sig) { rang = sig; }

/* answers every line with its letters reversed */
static int answerer(void)
{
	char b[100];
	struct strbuf d = { 0 };
	int in, out, i, n, flags;

	in = open(up, O_RDONLY);
	out = open(down, O_WRONLY);
	if (in < 0 || out < 0)
		return 20;
	for (;;) {
		n = read(in, b, sizeof b);
		if (n == 0)
			return 0;
		if (n < 0)
			return 21;
		for (i = 0; i < n / 2; i++) {
			char c = b[i];
			b[i] = b[n - 1 - i];
			b[n - 1 - i] = c;
		}
		d.buf = b;
		d.len = n;
		if (putmsg(out, NULL, &d, 0) < 0)
			return 22;
	}
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	struct sigaction sa;
	struct strbuf d;
	struct pollfd p;
	char b[100];
	int fd, in, out, i, st, flags;
	pid_t pid;

	snprintf(up, sizeof up, "%s/up.%d", dir ? dir : "/tmp", (int)getpid());
	snprintf(down, sizeof down, "%s/down.%d", dir ? dir : "/tmp",
	    (int)getpid());
	assert(mkfifo(up, 0600) == 0 && mkfifo(down, 0600) == 0);

	/* no reader: ENXIO; no writer: never mind */
	assert(open(up, O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO);
	fd = open(down, O_RDONLY | O_NONBLOCK);
	assert(fd >= 0);
	assert(isastream(fd) == 1);
	assert(read(fd, b, sizeof b) == 0);
	close(fd);

	/* an open that waits ends with a signal */
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = ring;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	assert(open(up, O_WRONLY) == -1 && errno == EINTR && rang == SIGALRM);
	setitimer(ITIMER_REAL, &never, NULL);

	pid = fork();
	assert(pid >= 0);
	if (pid == 0)
		_exit(answerer());
	out = open(up, O_WRONLY);
	in = open(down, O_RDONLY);
	assert(out >= 0 && in >= 0);
	assert(write(in, "x", 1) == -1 && errno == EBADF);
	assert(read(out, b, 1) == -1 && errno == EBADF);
	for (i = 0; i < 200; i++) {
		char say[40], hear[40];
		int n = sprintf(say, "%d bottles of beer", i), k;

		assert(write(out, say, n) == n);
		d.buf = hear;
		d.maxlen = sizeof hear;
		flags = 0;
		assert(getmsg(in, NULL, &d, &flags) == 0);
		assert(d.len == n);
		for (k = 0; k < n; k++)
			assert(hear[k] == say[n - 1 - k]);
	}
	/* the other one sees the end, and so do we */
	close(out);
	assert(waitpid(pid, &st, 0) == pid && st == 0);
	p.fd = in;
	p.events = POLLIN;
	assert(poll(&p, 1, 5000) == 1 && (p.revents & POLLHUP));
	assert(read(in, b, sizeof b) == 0);
	close(in);

	/* a writer whose reader goes is told by signal, and by errno */
	sa.sa_handler = ring;
	sigaction(SIGPIPE, &sa, NULL);
	in = open(up, O_RDONLY | O_NONBLOCK);
	out = open(up, O_WRONLY);
	assert(in >= 0 && out >= 0);
	close(in);
	assert(write(out, "x", 1) == -1 && errno == EPIPE && rang == SIGPIPE);
	close(out);
	assert(unlink(up) == 0 && unlink(down) == 0);
	return 0;
}

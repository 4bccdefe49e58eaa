/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * See pipeline.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline.h"

#define HANG 15 /* seconds */

static bool ours;	/* pipes are the library's */
static int report;	/* a kernel's pipe: what the row has observed */

/* ---------------------------------------------------------- observations */

void
note(const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)!write(report, text, (size_t)n);
}

void
mk(int p[2])
{
	int err = ours ? pipe(p) : (int)syscall(SYS_pipe2, p, 0);

	if (err != 0)
		note("pipe: %d\n", errno);
	/* numbers that no row and no shell uses */
	for (int i = 0; i < 2 && err == 0; i++) {
		int fd = fcntl(p[i], F_DUPFD, 20);

		close(p[i]);
		p[i] = fd;
	}
}

/* Observations of @row, in @buf. */
static void
observe(void (*row)(void), bool with_ours, char *buf, size_t size)
{
	struct pollfd pfd = {.events = POLLIN};
	size_t at = 0;
	ssize_t n;
	int p[2];
	pid_t pid;

	T_OK(syscall(SYS_pipe2, p, O_CLOEXEC));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(p[0]));
		T_OK(setpgid(0, 0));
		report = (int)syscall(SYS_fcntl, p[1], F_DUPFD_CLOEXEC, 100);
		ours = with_ours;
		row();
		note("end\n");
		_exit(0);
	}
	T_OK(close(p[1]));
	pfd.fd = p[0];
	while (at < size - 1) {
		if (poll(&pfd, 1, HANG * 1000) != 1) {
			at += (size_t)snprintf(buf + at, size - at, "HANG\n");
			break;
		}
		n = read(p[0], buf + at, size - 1 - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	buf[at] = '\0';
	(void)kill(-pid, SIGKILL);
	T_OK(waitpid(pid, NULL, 0));
	T_OK(close(p[0]));
}

/* Without the program a row waits for it in vain, for HANG seconds. */
static void
need_program(void)
{
	const char *path = getenv("PLAINPROG");

	if (path == NULL)
		T_FAIL("PLAINPROG is not set: run this by meson test");
	if (access(path, X_OK) != 0)
		T_FAIL("PLAINPROG: %s: %s", path, strerror(errno));
}

void
same(void (*row)(void))
{
	char want[8192], got[8192];

	need_program();
	observe(row, false, want, sizeof want);
	observe(row, true, got, sizeof got);
	T_TRUE(strstr(want, "end\n") != NULL);
	T_STR(got, want);
}

/* ------------------------------------------------------------- processes */

/*
 * @argv by fork, dup2 and exec, with @in and @out (-1: its own); the child
 * closes the descriptors of @shut, which ends with -1, first.
 */
pid_t
run(const char *const *argv, int in, int out, const int *shut)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (in >= 0)
		dup2(in, 0);
	if (out >= 0)
		dup2(out, 1);
	for (; shut != NULL && *shut >= 0; shut++)
		close(*shut);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

void
status(const char *who, pid_t pid)
{
	int st = -1;

	if (waitpid(pid, &st, 0) != pid)
		note("%s: lost\n", who);
	else if (WIFSIGNALED(st))
		note("%s: signal %d\n", who, WTERMSIG(st));
	else
		note("%s: exit %d\n", who, WEXITSTATUS(st));
}

/* -------------------------------------------------------------- contents */

unsigned char
byte_at(size_t i)
{
	return (unsigned char)(i * 2654435761u >> 13);
}

void
put(int fd, size_t n)
{
	static unsigned char buf[65536];

	for (size_t at = 0; at < n;) {
		size_t len = n - at < sizeof buf ? n - at : sizeof buf;
		ssize_t done;

		for (size_t i = 0; i < len; i++)
			buf[i] = byte_at(at + i);
		done = write(fd, buf, len);
		if (done < 0) {
			note("write: %d\n", errno);
			return;
		}
		at += (size_t)done;
	}
}

/* Read to the end of file, and note count and sum. */
void
get(int fd)
{
	static unsigned char buf[65536];
	uint32_t h = 2166136261u;
	size_t n = 0;
	ssize_t k;

	while ((k = read(fd, buf, sizeof buf)) > 0) {
		for (ssize_t i = 0; i < k; i++)
			h = (h ^ buf[i]) * 16777619u;
		n += (size_t)k;
	}
	note("got %zu %08x, then %d\n", n, h, k < 0 ? errno : 0);
}

/* A child of this program that runs @fn. */
pid_t
member(void (*fn)(int), int arg, const int *shut)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (; *shut >= 0; shut++)
		close(*shut);
	fn(arg);
	_exit(0);
}

void
nap(unsigned ms)
{
	while (ms-- > 0)
		t_pause();
}

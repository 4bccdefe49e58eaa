/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A little shell's job control on a Stream that is a terminal (kit/glass.c):
 * foreground and background groups, ^C and ^Z, TOSTOP, orphans, hang-up.
 */
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <termio.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

static int p[2];	/* p[0]: the terminal, p[1]: keyboard and screen */
static volatile sig_atomic_t caught;

static void
catch(int sig)
{
	caught = sig;
}

static void
fg(pid_t pg)
{
	CHECK(ioctl(p[0], TIOCSPGRP, &pg) == 0);
}

static pid_t
job(void (*fn)(void))
{
	pid_t pid = fork();

	CHECK(pid != -1);
	if (pid == 0) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_DFL);
		fn();
		_exit(0);
	}
	setpgid(pid, pid);
	return (pid);
}

static int
state(pid_t pid)
{
	int st;

	CHECK(waitpid(pid, &st, WUNTRACED) == pid);
	return (st);
}

static void
reader(void)
{
	char buf[16];

	CHECK(read(p[0], buf, sizeof buf) == 3 && memcmp(buf, "abc", 3) == 0);
}

static void
getter(void)
{
	char buf[16];
	struct strbuf d;
	int flags = 0;

	d.buf = buf;
	d.maxlen = sizeof buf;
	CHECK(getmsg(p[0], NULL, &d, &flags) == 0 && d.len == 3);
}

static void
writer(void)
{
	CHECK(write(p[0], "out", 3) == 3);
}

static void
putter(void)
{
	struct strbuf d;

	d.buf = "out";
	d.len = 3;
	CHECK(putmsg(p[0], NULL, &d, 0) == 0);
}

static void
setter(void)
{
	struct termio t;

	memset(&t, 0, sizeof t);
	CHECK(ioctl(p[0], TCSETAW, &t) == 0);
}

static void
deaf(void)
{
	char c;

	signal(SIGTTIN, SIG_IGN);
	CHECK(read(p[0], &c, 1) == -1 && errno == EIO);
	signal(SIGTTOU, SIG_IGN);
	CHECK(write(p[0], "out", 3) == 3);
}

static void
handled(void)
{
	struct sigaction sa;
	char c;

	memset(&sa, 0, sizeof sa);
	sa.sa_handler = catch;
	sigaction(SIGTTIN, &sa, NULL);
	CHECK(read(p[0], &c, 1) == -1 && errno == EINTR);
	CHECK(caught == SIGTTIN);
}

static void
waits(void)
{
	for (;;)
		pause();
}

static int *shared;

static void
orphan(void)
{
	char c;

	while (getppid() != *shared)
		poll(NULL, 0, 1);
	if (read(p[0], &c, 1) == -1 && errno == EIO)
		shared[1] = 1;
	else
		shared[1] = 2;
}

static void
screen(const char *s)
{
	char buf[16];

	CHECK(read(p[1], buf, sizeof buf) == (int)strlen(s));
	CHECK(memcmp(buf, s, strlen(s)) == 0);
}

int
main(void)
{
	pid_t me, pid, v;
	int st, i;
	char c;

	alarm(25);
	if (getpid() != getsid(0)) {
		/* a session of our own */
		pid = fork();
		if (pid != 0) {
			CHECK(waitpid(pid, &st, 0) == pid);
			return (WIFEXITED(st) ? WEXITSTATUS(st) : 1);
		}
		alarm(20);
		CHECK(setsid() != -1);
	}
	me = getpid();
	signal(SIGTTOU, SIG_IGN);
	CHECK(pipe(p) == 0);
	v = getpgrp();
	CHECK(ioctl(p[0], TIOCSPGRP, &v) == -1 && errno == ENOTTY);
	CHECK(ioctl(p[0], I_PUSH, "glass") == 0);
	CHECK(ioctl(p[0], TIOCGSID, &v) == -1 && errno == ENOTTY);
	fg(me);
	CHECK(ioctl(p[0], TIOCGSID, &v) == 0 && v == me);
	CHECK(ioctl(p[0], TIOCGPGRP, &v) == 0 && v == me);
	v = getppid();
	CHECK(ioctl(p[0], TIOCSPGRP, &v) == -1 && errno == EPERM);

	/* who is in the foreground may do everything */
	CHECK(write(p[0], "hi", 2) == 2);
	screen("hi");

	/* SO_NDELON: nothing there is no error */
	CHECK(fcntl(p[0], F_SETFL, O_NDELAY) == 0);
	CHECK(read(p[0], &c, 1) == 0);
	CHECK(fcntl(p[0], F_SETFL, 0) == 0);

	/* reading in the background stops, and goes on in the foreground */
	for (i = 0; i < 2; i++) {
		pid = job(i == 0 ? reader : getter);
		st = state(pid);
		CHECK(WIFSTOPPED(st) && WSTOPSIG(st) == SIGTTIN);
		CHECK(write(p[1], "abc", 3) == 3);
		fg(pid);
		CHECK(kill(-pid, SIGCONT) == 0);
		CHECK(state(pid) == 0);
		fg(me);
	}
	/* so do writing, with TOSTOP, and changing the terminal */
	for (i = 0; i < 3; i++) {
		pid = job(i == 0 ? writer : i == 1 ? putter : setter);
		st = state(pid);
		CHECK(WIFSTOPPED(st) && WSTOPSIG(st) == SIGTTOU);
		fg(pid);
		CHECK(kill(-pid, SIGCONT) == 0);
		CHECK(state(pid) == 0);
		fg(me);
		if (i < 2)
			screen("out");
	}
	/* who ignores the signals */
	CHECK(state(job(deaf)) == 0);
	screen("out");
	/* who catches them */
	CHECK(state(job(handled)) == 0);

	/* ^C and ^Z are for the foreground */
	pid = job(waits);
	fg(pid);
	c = 'Z' & 037;
	CHECK(write(p[1], &c, 1) == 1);
	st = state(pid);
	CHECK(WIFSTOPPED(st) && WSTOPSIG(st) == SIGTSTP);
	CHECK(kill(-pid, SIGCONT) == 0);
	c = 'C' & 037;
	CHECK(write(p[1], &c, 1) == 1);
	st = state(pid);
	CHECK(WIFSIGNALED(st) && WTERMSIG(st) == SIGINT);
	fg(me);

	/* ^D is end of file, once */
	c = 'D' & 037;
	CHECK(write(p[1], &c, 1) == 1);
	CHECK(read(p[0], &c, 1) == 0);

	/* without TOSTOP anybody writes */
	CHECK(ioctl(p[0], TIOCNXCL, 0) == 0);
	CHECK(state(job(writer)) == 0);
	screen("out");

	/* an orphaned group is not stopped: no shell would continue it */
	shared = mmap(NULL, 4096, PROT_READ|PROT_WRITE,
	    MAP_SHARED|MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			setpgid(0, 0);
			*shared = getppid();
			while (getppid() == *shared)
				poll(NULL, 0, 1);
			*shared = getppid();
			orphan();
			_exit(0);
		}
		while (*shared == 0)
			poll(NULL, 0, 1);
		_exit(0);
	}
	CHECK(state(pid) == 0);
	for (i = 0; i < 5000 && shared[1] == 0; i++)
		poll(NULL, 0, 1);
	CHECK(shared[1] == 1);

	/* the line is cut: the session's leader is told */
	signal(SIGHUP, catch);
	CHECK(ioctl(p[0], I_POP, 0) == 0);
	CHECK(ioctl(p[0], TIOCGPGRP, &v) == -1 && errno == ENOTTY);
	return (0);
}

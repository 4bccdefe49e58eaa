/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Processes that are in the way of the storm's streams and take nothing.
 *
 * A bystander holds a duplicate of each end, as any child of a program does
 * that was not told to close it.  Its calls run the service procedures of
 * others.  A plumber pushes and pops modules that pass everything on.
 */
#include "storm.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "left.h"
#include "t.h"

static struct {
	int fd[2 * STORM_STREAMS];
	unsigned n, mix;
	volatile sig_atomic_t ended;
} me;

static void
on_term(int sig)
{
	(void)sig;
	me.ended = 1;
}

static int
any(void)
{
	return me.fd[storm_rand_below(me.n)];
}

static void
peek(int fd)
{
	char ctl[64], data[300];
	struct strpeek pk = {.ctlbuf = {sizeof(ctl), 0, ctl},
		.databuf = {sizeof(data), 0, data}};

	(void)ioctl(fd, I_PEEK, &pk);
}

/* One call of those that take nothing; its errors do not matter. */
static void
look(void)
{
	struct pollfd p[4];
	int n, fd = any();

	switch (storm_rand_below(6)) {
	case 0:
	case 1:
		for (int i = 0; i < 4; i++)
			p[i] = (struct pollfd){any(),
				storm_chance(2) ? POLLIN : POLLOUT, 0};
		(void)poll(p, 1 + storm_rand_below(4), (int)storm_rand_below(3));
		break;
	case 2:
		(void)ioctl(fd, I_NREAD, &n);
		break;
	case 3:
		peek(fd);
		break;
	case 4:
		(void)ioctl(fd, I_CANPUT, 0);
		break;
	default:
		fd = dup(fd);
		if (fd >= 0)
			(void)close(fd);
		break;
	}
}

static void
look_in_a_child(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint64_t n = storm_rand_below(10); n > 0; n--)
		look();
	_exit(0);
}

static void
hold_term(int how)
{
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	T_OK(sigprocmask(how, &term, NULL));
}

/*
 * The same program once more: an image that has made no call yet.  SIGTERM
 * waits for it: what a handler sets goes with the image.
 */
static void
execute(void)
{
	char list[2 * STORM_STREAMS * 6 + 32];
	int at = snprintf(list, sizeof(list), "%u %llu", me.mix,
		(unsigned long long)storm_rand_below(UINT64_MAX));

	for (unsigned i = 0; i < me.n; i++)
		at += snprintf(list + at, sizeof(list) - (size_t)at, " %d",
			me.fd[i]);
	setenv("STORM_BYSTANDER", list, 1);
	hold_term(SIG_BLOCK);
	if (me.ended)
		_exit(0);
	(void)execl("/proc/self/exe", "storm", (char *)NULL);
	T_FAIL("execl: %s", t_errno_name(errno));
}

static _Noreturn void
go_on(void)
{
	struct sigaction sa = {.sa_handler = on_term};

	signal(SIGCHLD, SIG_IGN);
	sigaction(SIGTERM, &sa, NULL);
	hold_term(SIG_UNBLOCK);
	while (!me.ended) {
		for (uint64_t n = storm_rand_below(40); n > 0; n--)
			look();
		if (storm != NULL)
			storm->looked++;
		if (me.mix & STORM_FORKS && storm_chance(10))
			look_in_a_child();
		if (me.mix & STORM_EXECS && storm_chance(50))
			execute();
		storm_pause(3);
	}
	_exit(0);
}

void
storm_bystander(unsigned mix)
{
	me.mix = mix;
	for (unsigned i = 0; i < storm_n; i++)
		for (int e = 0; e < 2; e++)
			me.fd[me.n++] = storm_stream[i].fd[e];
	go_on();
}

/* What execute() left to do, before the harness looks for cases. */
T_CONSTRUCTOR static void
executed(void)
{
	char *s = getenv("STORM_BYSTANDER");

	if (s == NULL)
		return;
	me.mix = (unsigned)strtoul(s, &s, 10);
	storm_seed(strtoull(s, &s, 10));
	while (*s != '\0' && me.n < 2 * STORM_STREAMS)
		me.fd[me.n++] = (int)strtol(s, &s, 10);
	go_on();
}

/* ---------------------------------------------------------------- streamsd */

/*
 * Kill streamsd.  Its death and its successor's start take the kernel the longer
 * the more the machine has to do: the time until it has ended, and that of the
 * start of a program as large, is allowed to ends of file meanwhile.
 */
unsigned
storm_kill_streamsd(void)
{
	struct storm_gone *g = &storm->gone[storm->ngone % STORM_GONE];
	struct pollfd p = {.events = POLLIN};
	pid_t pid, child;
	unsigned killed;

	if (streamsd_of(getppid(), &pid) == 0)
		return 0;
	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd < 0)
		return 0;
	g->pid = pid;
	g->waited = cpu_waited(pid);
	g->started = g->ended = 0;
	g->at = t_now_ns();
	storm->ngone++;
	killed = kill(pid, SIGKILL) == 0;
	(void)syscall(SYS_poll, &p, 1, 10000);
	(void)syscall(SYS_close, p.fd);
	g->ended = t_now_ns();
	child = T_OK(fork());
	if (child == 0) {
		setenv("STORM_NOTHING", "1", 1);
		(void)execl("/proc/self/exe", "storm", (char *)NULL);
		_exit(1);
	}
	T_EQ(T_OK(waitpid(child, NULL, 0)), child);
	g->started = t_now_ns();
	return killed;
}

/* The program that is started to see how long it takes. */
T_CONSTRUCTOR static void
nothing(void)
{
	if (getenv("STORM_NOTHING") != NULL)
		_exit(0);
}

/* ---------------------------------------------------------------- plumbers */

static const char *const module[] = {"nullmod", "relay", "relay2"};

static bool
is_a_plumbers(int fd)
{
	char name[FMNAMESZ + 1];

	if (ioctl(fd, I_LOOK, name) == -1)
		return false;
	for (int i = 0; i < 3; i++)
		if (strcmp(name, module[i]) == 0)
			return true;
	return false;
}

static void
pop_all(int fd)
{
	int ret;

	while (is_a_plumbers(fd)) {
		do
			ret = ioctl(fd, I_POP, 0);
		while (ret == -1 && errno == EINTR);
		T_OK(ret);
	}
}

static void
push(int fd)
{
	const char *name = module[storm_rand_below(3)];
	int ret;

	do
		ret = ioctl(fd, I_PUSH, name);
	while (ret == -1 && errno == EINTR);
	if (ret == -1)
		T_FAIL("I_PUSH %s on %d: %s", name, fd, t_errno_name(errno));
}

/* Streams @nr, @nr + @n ... have this plumber alone. */
void
storm_plumber(unsigned nr, unsigned n)
{
	unsigned of = (storm_n + n - 1 - nr) / n;

	/* a plumber that was killed has left its modules there */
	for (unsigned i = nr; i < storm_n; i += n)
		for (int e = 0; e < 2; e++)
			pop_all(storm_stream[i].fd[e]);
	while (storm->over == 0 && of > 0) {
		struct storm_stream *s =
			&storm_stream[nr + n * storm_rand_below(of)];
		int fd = s->fd[storm_rand_below(2)];

		push(fd);
		if (storm_chance(3))
			push(fd);
		storm_pause(2);
		pop_all(fd);
		storm->plumbed++;
		if (storm_chance(10))
			storm_pause(5);
	}
}

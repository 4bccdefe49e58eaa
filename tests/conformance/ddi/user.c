/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The suite on the real host: what it and the fixture use of sim.h, by
 * processes of a private domain. A task begins at once and runs beside the
 * others.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
/* Both have these names. */
#undef FNDELAY
#undef FNONBLOCK
#include "user.h"
#include "d.h"

#define NTASKS 32

struct sim_task {
	pid_t pid;
	bool killed;
	bool ended;
};

static struct sim_task task[NTASKS];
static unsigned ntasks;
static struct host_call hc = {.fd = -1};
static uint64_t seed;

bool
d_is_user(void)
{
	return true;
}

static void
handler(int sig)
{
	(void)sig;
}

void
sim_init(uint64_t s)
{
	seed = s;
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	/* no other process has the modules of this program */
	T_OK(setenv("STREAMS_DAEMON", "/nonexistent", 1));
	T_EQ(host_enter(&hc), 0);
}

void
sim_fini(void)
{
	host_leave();
}

uint64_t
sim_seed(void)
{
	return seed;
}

void
sim_grain(unsigned points)
{
	(void)points;
}

void
sim_point(void)
{
}

void
sim_fail_commit(unsigned nth, bool forever)
{
	(void)nth, (void)forever; /* the domain is small instead */
}

void
sim_close(int fd)
{
	T_OK(close(fd));
}

bool
sim_held(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

uint32_t
sim_rand(uint32_t n)
{
	return (uint32_t)t_rand_below(n);
}

void
sim_sleep(uint64_t ns)
{
	str_a32 word = 0;
	uint64_t end = host_now() + ns, now;

	while ((now = host_now()) < end)
		(void)host_wait(NULL, &word, 0u, end - now);
}

/* The task that this process is. */
static struct sim_task *self;

struct sim_task *
sim_spawn(const char *name, void (*fn)(void *arg), void *arg)
{
	struct sim_task *t = &task[ntasks++];
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct host_call c = {.fd = -1};

	(void)name;
	T_LE(ntasks, NTASKS);
	/* the handler is there before the child is */
	T_EQ(host_sigaction(SIGUSR2, &sa, NULL), 0);
	sa.sa_flags = 0;
	T_EQ(host_sigaction(SIGUSR1, &sa, NULL), 0);
	host_leave();
	t->pid = T_OK(fork());
	if (t->pid == 0) {
		self = t;
		T_EQ(host_enter(&c), 0);
		fn(arg);
		host_leave();
		_exit(0);
	}
	T_EQ(host_enter(&hc), 0);
	return t;
}

struct sim_task *
sim_current(void)
{
	return self;
}

static void
reap(struct sim_task *t)
{
	int status;

	if (t->ended)
		return;
	T_EQ(T_OK(waitpid(t->pid, &status, 0)), t->pid);
	t->ended = true;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return; /* as it was told, by itself or by sim_kill() */
	T_EQ(status, 0);
}

int
sim_run(void)
{
	unsigned i;

	for (i = 0; i < ntasks; i++)
		reap(&task[i]);
	/* the next tasks are others: these have ended */
	memset(task, 0, sizeof(task));
	ntasks = 0;
	return 0;
}

void
sim_kill(struct sim_task *t)
{
	if (t == self) {
		raise(SIGKILL);
		return;
	}
	T_OK(kill(t->pid, SIGKILL));
	reap(t);
}

bool
sim_ended(const struct sim_task *t)
{
	return t->ended;
}

void
sim_signal(struct sim_task *t, bool restart)
{
	T_OK(kill(t->pid, restart ? SIGUSR2 : SIGUSR1));
}

bool
d_dies(void (*fn)(void *arg), void *arg)
{
	struct host_call c = {.fd = -1};
	int status;
	pid_t pid;

	host_leave();
	pid = T_OK(fork());
	if (pid == 0) {
		/* what it says about its end is no part of the report */
		(void)close(2);
		if (host_enter(&c) == 0)
			fn(arg);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(host_enter(&hc), 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

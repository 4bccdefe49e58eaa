/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What it costs to begin and to end: one chore, again and again, in one
 * process, each timed by itself.
 *
 *	first-new	the first pipe() of a program, in a domain of its own
 *	first		the same, in this domain, which has n pipes
 *	exec		a program that makes no stream, from start to end
 *	fork		a child that does nothing, with n pipes open
 *	child		the first call of a child on one of n pipes
 *	connect		connect, accept and both ends closed
 *	endpoint	an endpoint opened and closed
 *
 * A started program leaves its time in a file without a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crew.h"
#include "lib/child.h"
#include "lib/pin.h"
#include "lib/timing.h"

#define MAX_TIMES   500
#define LEAST_TIMES 5
#define STACK_SIZE  (64 << 10)
#define SETTLE_NS   (500 * 1000000ull) /* what opening has left to do */

struct life {
	const struct job *job;
	int memory;	    /* descriptor of *told */
	uint64_t *told; /* by a child or a started program, ns */
	struct end listener;
	struct address at;
};

struct chore {
	const char *name;
	int pipes;  /* it wants n of them */
	int listen; /* it wants a listener */
	int (*once)(struct life *life);
};

static int
child_ended(pid_t pid)
{
	int status = pid == -1 ? -1 : bench_child_wait(pid);

	if (status == 0)
		return 0;
	(void)fprintf(stderr, "a child ended with %d\n", status);
	return -1;
}

/* This program again, with test "first", which fills in *told. */
static int
start_first(struct life *life, int new_domain)
{
	char n[24];
	char *argv[] = {(char[]){"/proc/self/exe"}, (char[]){"first"},
		(char *)(uintptr_t)life->job->transport->name, n, NULL};
	pid_t pid;

	(void)snprintf(n, sizeof(n), "n=%d", life->memory);
	*life->told = 0;
	pid = fork();
	if (pid == 0) {
		if (new_domain)
			(void)setenv("STREAMS_DOMAIN", "private", 1);
		(void)fcntl(life->memory, F_SETFD, 0);
		(void)execv(argv[0], argv);
		_exit(127);
	}
	return child_ended(pid);
}

static int
first_new(struct life *life)
{
	return start_first(life, 1);
}

static int
first(struct life *life)
{
	return start_first(life, 0);
}

/* The program that first and first-new start; job->n is the file. */
int
be_first(const struct job *job)
{
	uint64_t begin = bench_now_ns(), took;
	int fds[2];

	if (pipe(fds) != 0)
		return worker_fail("pipe");
	took = bench_now_ns() - begin;
	return pwrite((int)job->n, &took, sizeof(took), 0) == sizeof(took)
		       ? 0
		       : worker_fail("telling the time");
}

/* The program that exec starts. */
int
be_nothing(const struct job *job)
{
	(void)job;
	return 0;
}

static int
become_nothing(void *data)
{
	/* Past the library: the memory here is the parent's. */
	(void)syscall(SYS_execve, "/proc/self/exe", data, environ);
	_exit(127);
}

/*
 * Started as posix_spawn() does, so that the starting program and what it has
 * open do not matter.
 */
static int
exec(struct life *life)
{
	static _Alignas(16) char stack[STACK_SIZE];
	char *argv[] = {(char[]){"nothing"}, (char[]){"nothing"},
		(char *)(uintptr_t)life->job->transport->name, NULL};
	uint64_t begin = bench_now_ns();
	pid_t pid = clone(become_nothing, stack + STACK_SIZE,
		CLONE_VM | CLONE_VFORK | SIGCHLD, argv);

	if (child_ended(pid) != 0)
		return -1;
	*life->told = bench_now_ns() - begin;
	return 0;
}

static int
fork_only(struct life *life)
{
	uint64_t begin = bench_now_ns();
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (child_ended(pid) != 0)
		return -1;
	*life->told = bench_now_ns() - begin;
	return 0;
}

static struct channel *pipes;

static int
child_call(struct life *life)
{
	pid_t pid = fork();

	if (pid == 0) {
		uint64_t begin = bench_now_ns();
		ssize_t n = life->job->transport->send(&pipes[0].ends[0], "", 1);

		*life->told = bench_now_ns() - begin;
		_exit(n == 1 ? 0 : 1);
	}
	return child_ended(pid);
}

static int
connect_once(struct life *life)
{
	const struct net *net = life->job->transport->net;
	struct address mine = {0};
	struct end caller, taken;
	uint64_t begin = bench_now_ns();

	if (net->reach(net, &caller, &life->at, &mine, 0) != 0 ||
		net->accept(net, &life->listener, &taken, 0) != 0 ||
		net->reached(net, &caller) != 0)
		return worker_fail("connecting");
	end_close_fds(&caller);
	end_close_fds(&taken);
	*life->told = bench_now_ns() - begin;
	return 0;
}

static int
endpoint_once(struct life *life)
{
	const struct net *net = life->job->transport->net;
	struct end end;
	uint64_t begin = bench_now_ns();

	if (net->create(net, &end) != 0)
		return worker_fail("opening an endpoint");
	end_close_fds(&end);
	*life->told = bench_now_ns() - begin;
	return 0;
}

static const struct chore chores[] = {
	{"first-new", 0, 0, first_new},
	{"first", 1, 0, first},
	{"exec", 0, 0, exec},
	{"fork", 1, 0, fork_only},
	{"child", 1, 0, child_call},
	{"connect", 0, 1, connect_once},
	{"endpoint", 0, 0, endpoint_once},
};

/* They do not pass into a started program: it is to have its own only. */
static int
open_channels(const struct job *job, long n)
{
	pipes = calloc((size_t)n + 1, sizeof(*pipes));
	if (pipes == NULL)
		return worker_fail("memory");
	if (crew_need_descriptors(2 * n + 100) != 0)
		return -1;
	for (long i = 0; i < n; i++) {
		if (channel_open(job, &pipes[i], 0) != 0)
			return -1;
		for (int e = 0; e < 2; e++) {
			const struct end *end = &pipes[i].ends[e];
			int fd = end->rfd != -1 ? end->rfd : end->wfd;

			if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
				return worker_fail("FD_CLOEXEC");
		}
	}
	return 0;
}

static int
prepare(const struct chore *chore, struct life *life)
{
	const struct job *job = life->job;
	const struct net *net = job->transport->net;
	int error = bench_pin_self(job->cpus[0]);

	if (error != 0) {
		errno = error;
		return worker_fail("pinning to a CPU");
	}
	life->memory = memfd_create("strbench", MFD_CLOEXEC);
	if (life->memory == -1 ||
		ftruncate(life->memory, sizeof(*life->told)) != 0)
		return worker_fail("memory for the times");
	life->told = mmap(NULL, sizeof(*life->told), PROT_READ | PROT_WRITE,
		MAP_SHARED, life->memory, 0);
	if (life->told == MAP_FAILED)
		return worker_fail("memory for the times");
	if (chore->pipes && open_channels(job, job->n) != 0)
		return -1;
	if (!chore->listen)
		return 0;
	if (!net->loopback)
		life->at = net_address_ipv4(0x7f000001, 0);
	return net->offer(net, &life->listener, &life->at, 0) == 0
		       ? 0
		       : worker_fail("listening");
}

/* The first of all is not counted. */
static int
repeat(const struct chore *chore, struct life *life)
{
	static double times[MAX_TIMES];
	uint64_t deadline = bench_now_ns() +
			    bench_seconds_to_ns(life->job->seconds);
	size_t n = 0;

	if (chore->once(life) != 0)
		return -1;
	while (n < MAX_TIMES &&
		(n < LEAST_TIMES || bench_now_ns() < deadline)) {
		if (chore->once(life) != 0)
			return -1;
		times[n++] = (double)*life->told;
	}
	worker_print_times(times, n);
	return 0;
}

int
measure_life(const struct job *job)
{
	struct life life = {.job = job};

	for (size_t i = 0; i < sizeof(chores) / sizeof(chores[0]); i++) {
		if (strcmp(chores[i].name, job->what) != 0)
			continue;
		if (prepare(&chores[i], &life) != 0)
			return -1;
		return repeat(&chores[i], &life);
	}
	(void)fprintf(stderr, "what: no chore '%s'\n", job->what);
	return -1;
}

/* n channels, which carry nothing: the CPU time of all processes. */
int
measure_rest(const struct job *job)
{
	struct crew *crew = crew_create(0);

	if (crew == NULL || open_channels(job, job->n) != 0)
		return -1;
	bench_sleep_until_ns(bench_now_ns() + SETTLE_NS);
	if (crew_run(job, crew, 0, 0) != 0)
		return -1;
	printf("cpu_ns_per_s %.0f\n", crew->cpu_ns_per_s);
	return 0;
}

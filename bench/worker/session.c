/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The life of a measurement.
 *
 * Both sides are forked, pin themselves, report ready and wait.  The worker
 * then walks the phase from WARMUP over MEASURE to STOP.  A side looks at
 * the phase once per message, a load of a line that is not written, and on a
 * change takes its own mark: time, messages, switches, CPU time.  So rates
 * are by the time each side really measured, however late the worker or the
 * side itself got the CPU, and the measured time only starts to run when
 * both have taken their first mark.
 *
 * The end.  The first side stops sending after its second mark and hangs up;
 * the second receives until the end.  A side that is blocked when STOP comes
 * is released by the other one's going on, or by the hang-up.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/pin.h"
#include "lib/timing.h"
#include "netns.h"

#define TICK_NS         500000
#define MARK_TIMEOUT_NS (10 * BENCH_NS_PER_S)

static char detail[160];

void
worker_detail(const char *what, const char *reason)
{
	if (what == NULL)
		detail[0] = '\0';
	else
		(void)snprintf(
			detail, sizeof(detail), " (%s: %s)", what, reason);
}

int
worker_fail(const char *what)
{
	(void)fprintf(stderr, "%s: %s%s\n", what, strerror(errno), detail);
	return -1;
}

/*
 * Between namespaces the daemon may have work to do for each message, and one
 * CPU is to be one CPU.
 */
static int
share_cpu(const struct job *job, struct channel *channel)
{
	const struct net *net = job->transport->net;

	if (net == NULL || net->apart == NULL || job->cpus[0] < 0 ||
		job->cpus[0] != job->cpus[1] || netns_pin(job->cpus[0]) == 0)
		return 0;
	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	return worker_fail("one CPU for all");
}

int
channel_open(const struct job *job, struct channel *channel, int two_way)
{
	*channel = (struct channel){
		.transport = job->transport,
		.bufsize = job->bufsize,
	};
	worker_detail(NULL, NULL);
	if (job->transport->open(channel, two_way) == 0)
		return share_cpu(job, channel);
	(void)worker_fail("opening the channel");
	if (channel->absent)
		exit(WORKER_SKIP);
	return -1;
}

struct session *
session_create(size_t max_times)
{
	size_t times_at = (sizeof(struct session) + 4095) & ~(size_t)4095;
	size_t bytes = times_at + max_times * sizeof(uint32_t);
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct session *session;

	if (memory == MAP_FAILED)
		return NULL;
	session = (struct session *)(void *)memory;
	session->times = (uint32_t *)(void *)(memory + times_at);
	session->max_times = max_times;
	return session;
}

static uint64_t
timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * BENCH_NS_PER_S +
	       (uint64_t)tv->tv_usec * 1000;
}

void
side_mark(struct side *side, uint64_t messages, uint64_t read_calls)
{
	int n = atomic_load_explicit(&side->marks, memory_order_relaxed);
	struct mark *mark = &side->marked[n];
	struct rusage usage;

	if (n >= 2)
		return;
	(void)getrusage(RUSAGE_SELF, &usage);
	mark->ns = bench_now_ns();
	mark->messages = messages;
	mark->switches = (uint64_t)usage.ru_nvcsw;
	mark->cpu_ns =
		timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	side->read_calls = n == 0 ? read_calls : read_calls - side->read_calls;
	atomic_store_explicit(&side->marks, n + 1, memory_order_release);
}

static void
tick(void)
{
	bench_sleep_until_ns(bench_now_ns() + TICK_NS);
}

static int
side_run(const struct job *job, struct session *session,
	struct channel *channel, int which, side_main *run)
{
	struct side *side = &session->sides[which];
	int error = bench_pin_self(job->cpus[which]);

	if (error != 0) {
		errno = error;
		return worker_fail("pinning to a CPU");
	}
	if (job->niced && setpriority(PRIO_PROCESS, 0, job->nice[which]) != 0)
		return worker_fail("changing the priority");
	if (job->transport->keep(channel, which) != 0)
		return worker_fail("joining the channel");
	atomic_store(&side->ready, 1);
	while (atomic_load(&session->phase) == PHASE_START)
		tick();
	return run(job, session, &channel->ends[which]);
}

static pid_t
fork_side(const struct job *job, struct session *session,
	struct channel *channel, int which, side_main *run)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == -1)
		(void)worker_fail("fork");
	if (pid != 0)
		return pid;
	bench_child_bind(parent);
	_exit(side_run(job, session, channel, which, run) == 0 ? 0 : 1);
}

/* One that failed has said why, unless it could not. */
static int
side_ended(int how, int status)
{
	if (how != CLD_EXITED)
		(void)fprintf(stderr, "a side was ended by signal %d, %s\n",
			status, strsignal(status));
	else if (status == 0)
		(void)fprintf(stderr, "a side ended too early\n");
	return -1;
}

/*
 * Until both sides are ready and have taken that many marks.  @alone: a receiver
 * that gets no CPU beside the sender takes none, and the measurement goes on.
 */
static int
wait_for_sides(struct session *session, const pid_t *pids, int marks, int alone)
{
	uint64_t deadline = bench_now_ns() + MARK_TIMEOUT_NS;

	for (;;) {
		int there = 0, sends = 0;

		for (int i = 0; i < 2; i++) {
			struct side *side = &session->sides[i];
			siginfo_t info = {0};

			there += atomic_load(&side->ready) &&
				 atomic_load(&side->marks) >= marks;
			sends = i == 0 ? there : sends;
			/* A look only: reaping is for the end. */
			if (waitid(P_PID, (id_t)pids[i], &info,
				    WEXITED | WNOHANG | WNOWAIT) != 0)
				return worker_fail("waiting for a side");
			if (info.si_pid != 0)
				return side_ended(info.si_code,
					info.si_status);
		}
		if (there == 2)
			return 0;
		if (bench_now_ns() >= deadline) {
			if (alone && sends)
				return 0;
			errno = ETIMEDOUT;
			return worker_fail("waiting for both sides to run");
		}
		tick();
	}
}

static int
lead(const struct job *job, struct session *session, const pid_t *pids)
{
	if (wait_for_sides(session, pids, 0, 0) != 0)
		return -1;
	atomic_store(&session->phase, PHASE_WARMUP);
	/* A test that counts its samples needs no more leading. */
	if (job->samples > 0)
		return 0;
	bench_sleep_until_ns(bench_now_ns() + bench_seconds_to_ns(job->warmup));
	atomic_store(&session->phase, PHASE_MEASURE);
	if (wait_for_sides(session, pids, 1, job->niced) != 0)
		return -1;
	bench_sleep_until_ns(
		bench_now_ns() + bench_seconds_to_ns(job->seconds));
	atomic_store(&session->phase, PHASE_STOP);
	return 0;
}

int
session_run(const struct job *job, struct session *session, int two_way,
	side_main *side0, side_main *side1)
{
	struct channel channel;
	pid_t pids[2];
	int ret = -1;

	if (channel_open(job, &channel, two_way) != 0)
		return -1;
	pids[1] = fork_side(job, session, &channel, 1, side1);
	pids[0] = pids[1] == -1 ? -1
				: fork_side(job, session, &channel, 0, side0);
	/* The end must come when a side goes, so no other process holds one. */
	end_close_fds(&channel.ends[0]);
	end_close_fds(&channel.ends[1]);
	if (pids[0] == -1 || pids[1] == -1)
		goto out;
	ret = lead(job, session, pids);
	if (ret != 0)
		goto out;
	for (int i = 0; i < 2; i++) {
		int status = bench_child_wait(pids[i]);

		pids[i] = -1;
		if (WIFSIGNALED(status))
			ret = side_ended(CLD_KILLED, WTERMSIG(status));
		else if (WEXITSTATUS(status) != 0)
			ret = -1;
		if (ret != 0)
			break;
	}
out:
	bench_child_kill(pids[0]);
	bench_child_kill(pids[1]);
	return ret;
}

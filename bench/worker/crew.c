/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "crew.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"
#include "lib/child.h"
#include "lib/pin.h"
#include "lib/stats.h"
#include "lib/timing.h"

#define TICK_NS          500000
#define READY_TIMEOUT_NS (60 * BENCH_NS_PER_S)
#define LATEST_NS        (15 * BENCH_NS_PER_S)

/* Of fewer times a percentile says nothing. */
#define LEAST_FOR_P99  100
#define LEAST_FOR_P999 1000

struct crew *
crew_create(size_t max_times)
{
	size_t times_at = (sizeof(struct crew) + 4095) & ~(size_t)4095;
	size_t bytes = times_at + max_times * sizeof(uint32_t);
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct crew *crew;

	if (memory == MAP_FAILED) {
		(void)worker_fail("memory");
		return NULL;
	}
	crew = (struct crew *)(void *)memory;
	crew->times = (uint32_t *)(void *)(memory + times_at);
	crew->max_times = max_times;
	family_adopt();
	return crew;
}

static void
tick(void)
{
	bench_sleep_until_ns(bench_now_ns() + TICK_NS);
}

int
crew_start(const struct job *job, struct crew *crew, int me, int cpu,
	crew_main *run, void *data)
{
	struct crew_member *member = &crew->members[me];
	pid_t parent = getpid();
	pid_t pid = fork();
	int error;

	if (pid == -1)
		return worker_fail("fork");
	if (pid != 0) {
		member->pid = pid;
		if (crew->n <= me)
			crew->n = me + 1;
		return 0;
	}
	bench_child_bind(parent);
	error = bench_pin_self(cpu);
	if (error != 0) {
		errno = error;
		(void)worker_fail("pinning to a CPU");
		_exit(1);
	}
	_exit(run(job, crew, me, data) == 0 ? 0 : 1);
}

void
crew_ready(struct crew *crew, int me)
{
	atomic_store(&crew->members[me].ready, 1);
	while (atomic_load(&crew->phase) == PHASE_START)
		tick();
}

int
crew_fail(const struct crew *crew, const char *what)
{
	return atomic_load(&crew->phase) == PHASE_STOP ? -1 : worker_fail(what);
}

/* One that ended has said why, unless a signal has ended it. */
static int
all_alive(const struct crew *crew)
{
	for (int i = 0; i < crew->n; i++) {
		siginfo_t info = {0};

		if (crew->members[i].pid <= 0)
			continue;
		if (waitid(P_PID, (id_t)crew->members[i].pid, &info,
			    WEXITED | WNOHANG | WNOWAIT) != 0)
			return worker_fail("waiting for a process");
		if (info.si_pid == 0)
			continue;
		if (info.si_code != CLD_EXITED)
			(void)fprintf(stderr,
				"a process was ended by signal %d, %s\n",
				info.si_status, strsignal(info.si_status));
		else if (info.si_status == 0)
			(void)fprintf(stderr, "a process ended too early\n");
		return -1;
	}
	return 0;
}

static int
wait_until_ready(const struct crew *crew)
{
	uint64_t deadline = bench_now_ns() + READY_TIMEOUT_NS;

	for (;;) {
		int missing = 0;

		for (int i = 0; i < crew->n; i++)
			missing += crew->members[i].pid > 0 &&
				   !atomic_load(&crew->members[i].ready);
		if (all_alive(crew) != 0)
			return -1;
		if (missing == 0)
			return 0;
		if (bench_now_ns() >= deadline) {
			errno = ETIMEDOUT;
			return worker_fail("waiting until all are ready");
		}
		tick();
	}
}

static void
take_counts(struct crew *crew, uint64_t *counts)
{
	for (int i = 0; i < crew->n; i++)
		counts[i] = atomic_load_explicit(
			&crew->members[i].count, memory_order_relaxed);
}

/* Until @due, and until one of these members has counted, if there are any. */
static uint64_t
wait_to_end(struct crew *crew, const uint64_t *before, uint64_t due, int first,
	int end)
{
	uint64_t counts[CREW_MAX];
	uint64_t latest = due + LATEST_NS;

	bench_sleep_until_ns(due);
	for (;;) {
		int counted = first == end;

		take_counts(crew, counts);
		for (int i = first; i < end; i++)
			counted |= counts[i] != before[i];
		if (counted || bench_now_ns() >= latest ||
			all_alive(crew) != 0)
			return bench_now_ns();
		tick();
	}
}

static int
lead(const struct job *job, struct crew *crew, int first, int end)
{
	uint64_t before[CREW_MAX], after[CREW_MAX];
	uint64_t begin, over, cpu, looked, looked_again;

	if (wait_until_ready(crew) != 0)
		return -1;
	atomic_store(&crew->phase, PHASE_WARMUP);
	bench_sleep_until_ns(bench_now_ns() + bench_seconds_to_ns(job->warmup));
	atomic_store(&crew->phase, PHASE_MEASURE);
	looked = bench_now_ns();
	cpu = family_cpu_begin();
	begin = bench_now_ns();
	take_counts(crew, before);
	over = wait_to_end(crew, before,
		begin + bench_seconds_to_ns(job->seconds), first, end);
	take_counts(crew, after);
	looked_again = bench_now_ns();
	cpu = family_cpu_end() - cpu;
	crew->seconds = (double)(over - begin) / BENCH_NS_PER_S;
	crew->cpu_ns_per_s = (double)cpu * BENCH_NS_PER_S /
			     (double)(looked_again - looked);
	for (int i = 0; i < crew->n; i++)
		crew->members[i].counted = after[i] - before[i];
	return all_alive(crew);
}

int
crew_run(const struct job *job, struct crew *crew, int first, int end)
{
	int ret = lead(job, crew, first, end);

	/* One that is waited for must not keep others from being killed. */
	atomic_store(&crew->phase, PHASE_STOP);
	for (int i = 0; i < crew->n; i++) {
		if (crew->members[i].pid > 0)
			(void)kill(crew->members[i].pid, SIGKILL);
	}
	for (int i = 0; i < crew->n; i++)
		bench_child_kill(crew->members[i].pid);
	return ret;
}

uint64_t
crew_sum(const struct crew *crew, int first, int end)
{
	uint64_t sum = 0;

	for (int i = first; i < end; i++)
		sum += crew->members[i].counted;
	return sum;
}

double
crew_fairness(const struct crew *crew, int first, int end)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (int i = first; i < end; i++) {
		uint64_t counted = crew->members[i].counted;

		least = counted < least ? counted : least;
		most = counted > most ? counted : most;
	}
	return most == 0 ? 0 : (double)least / (double)most;
}

void
crew_time(struct crew *crew, uint64_t ns)
{
	size_t n = atomic_load_explicit(&crew->n_times, memory_order_relaxed);

	if (n == crew->max_times ||
		atomic_load_explicit(&crew->phase, memory_order_relaxed) !=
			PHASE_MEASURE)
		return;
	crew->times[n] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	atomic_store_explicit(&crew->n_times, n + 1, memory_order_release);
}

int
crew_print_times(const struct crew *crew)
{
	size_t n = atomic_load(&crew->n_times);
	double *times = malloc((n + 1) * sizeof(*times));

	if (times == NULL)
		return worker_fail("memory");
	for (size_t i = 0; i < n; i++)
		times[i] = crew->times[i];
	worker_print_times(times, n);
	free(times);
	return 0;
}

void
worker_print_times(const double *times, size_t n)
{
	if (n != 0)
		printf("p50_ns %.0f\n", bench_percentile(times, n, 50));
	if (n >= LEAST_FOR_P99)
		printf("p99_ns %.0f\n", bench_percentile(times, n, 99));
	if (n >= LEAST_FOR_P999)
		printf("p999_ns %.0f\n", bench_percentile(times, n, 99.9));
}

int
crew_need_descriptors(long n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return worker_fail("the number of descriptors");
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max >= (rlim_t)n)
		return 0;
	(void)fprintf(stderr, "%ld descriptors are not permitted: at most %llu\n",
		n, (unsigned long long)limit.rlim_max);
	return -1;
}

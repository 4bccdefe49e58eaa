/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Blocked processes must cost nothing: a reader of an empty channel, a
 * writer to a full one and a poller of an empty one are left alone, and the
 * context switches of all their threads are counted, from SETTLE_NS after
 * they blocked.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/pin.h"
#include "lib/timing.h"
#include "worker.h"

#define SETTLE_NS        (200 * 1000000ull)
#define BLOCK_TIMEOUT_NS (10 * BENCH_NS_PER_S)
#define TICK_NS          1000000

struct waiter {
	const char *role;
	int end; /* which one it uses */
	int (*wait)(const struct job *job, struct end *end);
	pid_t pid;
	struct channel channel;
	uint64_t before;
};

static int
wait_reading(const struct job *job, struct end *end)
{
	char *buf = malloc(job->size);

	if (buf == NULL)
		return -1;
	return job->transport->recv(end, buf, job->size) < 0 ? -1 : 0;
}

static int
wait_writing(const struct job *job, struct end *end)
{
	char *buf = calloc(1, job->size);

	if (buf == NULL)
		return -1;
	while (job->transport->send(end, buf, job->size) == (ssize_t)job->size)
		;
	return -1;
}

static int
wait_polling(const struct job *job, struct end *end)
{
	struct pollfd pfd = {.fd = end->rfd, .events = POLLIN};

	(void)job;
	return poll(&pfd, 1, -1) == 1 ? 0 : -1;
}

/* Adds up one field's numbers over all threads; -1 if it has gone. */
static int
count_switches(pid_t pid, uint64_t *ret_count)
{
	char path[64], line[256];
	struct dirent *entry;
	DIR *tasks;

	*ret_count = 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (tasks == NULL)
		return -1;
	while ((entry = readdir(tasks)) != NULL) {
		FILE *status;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%.10s/status",
			(int)pid, entry->d_name);
		status = fopen(path, "re");
		while (status != NULL && fgets(line, sizeof(line), status)) {
			uint64_t n;

			if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64,
				    &n) == 1 ||
				sscanf(line,
					"nonvoluntary_ctxt_switches: %" SCNu64,
					&n) == 1)
				*ret_count += n;
		}
		if (status != NULL)
			(void)fclose(status);
	}
	(void)closedir(tasks);
	return 0;
}

/* Asleep for as long as two looks a tick apart see no switch between them. */
static int
wait_until_blocked(const struct waiter *waiter)
{
	uint64_t deadline = bench_now_ns() + BLOCK_TIMEOUT_NS;
	uint64_t count, last = UINT64_MAX;
	char path[64], state = 0;

	for (;;) {
		FILE *stat;

		(void)snprintf(
			path, sizeof(path), "/proc/%d/stat", (int)waiter->pid);
		stat = fopen(path, "re");
		if (stat == NULL ||
			fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = 'X';
		if (stat != NULL)
			(void)fclose(stat);
		if (state == 'X' || state == 'Z' ||
			count_switches(waiter->pid, &count) != 0) {
			(void)fprintf(
				stderr, "the %s has ended\n", waiter->role);
			return -1;
		}
		if (state == 'S' && count == last)
			return 0;
		if (bench_now_ns() >= deadline) {
			(void)fprintf(stderr, "the %s does not block\n",
				waiter->role);
			return -1;
		}
		last = count;
		bench_sleep_until_ns(bench_now_ns() + TICK_NS);
	}
}

static int
start_waiter(const struct job *job, struct waiter *waiter)
{
	pid_t parent = getpid();

	if (channel_open(job, &waiter->channel, 0) != 0)
		return -1;
	waiter->pid = fork();
	if (waiter->pid == -1)
		return worker_fail("fork");
	if (waiter->pid != 0)
		return 0;
	bench_child_bind(parent);
	if (bench_pin_self(job->cpus[waiter->end]) != 0 ||
		job->transport->keep(&waiter->channel, waiter->end) != 0)
		_exit(1);
	_exit(waiter->wait(job, &waiter->channel.ends[waiter->end]) != 0);
}

static int
count_all(const struct job *job, struct waiter *waiters, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (wait_until_blocked(&waiters[i]) != 0)
			return -1;
	}
	bench_sleep_until_ns(bench_now_ns() + SETTLE_NS);
	for (size_t i = 0; i < n; i++) {
		if (count_switches(waiters[i].pid, &waiters[i].before) != 0)
			return worker_fail(waiters[i].role);
	}
	bench_sleep_until_ns(
		bench_now_ns() + bench_seconds_to_ns(job->seconds));
	for (size_t i = 0; i < n; i++) {
		uint64_t after;

		if (count_switches(waiters[i].pid, &after) != 0)
			return worker_fail(waiters[i].role);
		printf("%s %" PRIu64 "\n", waiters[i].role,
			after - waiters[i].before);
	}
	return 0;
}

/* The worker keeps the other end of each channel, so nothing hangs up. */
int
measure_idle(const struct job *job)
{
	struct waiter waiters[] = {
		{.role = "reader", .end = 1, .wait = wait_reading},
		{.role = "writer", .end = 0, .wait = wait_writing},
		{.role = "poller", .end = 1, .wait = wait_polling},
	};
	size_t n = sizeof(waiters) / sizeof(waiters[0]);
	int ret = 0;

	for (size_t i = 0; i < n && ret == 0; i++) {
		ret = start_waiter(job, &waiters[i]);
		/* A transport without descriptors cannot be polled. */
		if (i == 0 && waiters[0].channel.ends[1].rfd == -1)
			n--;
	}
	if (ret == 0)
		ret = count_all(job, waiters, n);
	for (size_t i = 0; i < n; i++)
		bench_child_kill(waiters[i].pid);
	return ret;
}

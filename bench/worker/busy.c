/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Round trips on CPUs that are busy with something else: beside the two sides
 * runs a process that never sleeps, one for each CPU that they may use.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/pin.h"
#include "worker.h"

#define MAX_BUSY 64

static void
never_sleep(const struct job *job, int cpu, pid_t parent)
{
	volatile unsigned int n = 0;

	bench_child_bind(parent);
	if (bench_pin_self(cpu) != 0 ||
		setpriority(PRIO_PROCESS, 0, job->busy_nice) != 0)
		_exit(1);
	for (;;)
		n++;
}

static int
start_busy(const struct job *job, pid_t *pids)
{
	pid_t parent = getpid();
	int cpus[2] = {job->cpus[0], job->cpus[1]};
	int n = cpus[0] == cpus[1] ? 1 : 2;

	if (cpus[0] == -1) {
		n = bench_cpus_allowed(cpus, 0);
		cpus[1] = -1;
	}
	if (n > MAX_BUSY)
		n = MAX_BUSY;
	for (int i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			never_sleep(job, cpus[i % 2], parent);
		if (pids[i] == -1) {
			(void)worker_fail("fork");
			return -1;
		}
	}
	return 0;
}

int
measure_busy(const struct job *job)
{
	pid_t pids[MAX_BUSY] = {0};
	int ret = start_busy(job, pids);

	if (ret == 0)
		ret = measure_round_trips(job);
	for (int i = 0; i < MAX_BUSY; i++)
		bench_child_kill(pids[i]);
	return ret;
}

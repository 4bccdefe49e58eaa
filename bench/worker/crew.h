/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_CREW_H
#define WORKER_CREW_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "worker.h"

/*
 * Any number of processes that work at the same time, until they are killed.
 *
 * The worker creates the crew before the first channel, starts the members,
 * lets them go when all are ready, and reads their counts at the beginning and
 * the end of the measured time.  A member counts what it does with
 * crew_count(); a thread of a member has a place of its own.
 */
#define CREW_MAX 160

struct crew_member {
	_Alignas(SHARED_LINE) atomic_uint_least64_t count;
	atomic_int ready;
	pid_t pid;	   /* 0: a thread's place, or none */
	uint64_t counted;  /* in the measured time; the worker's */
};

struct crew {
	_Alignas(SHARED_LINE) atomic_int phase;
	uint32_t *times; /* ns, of one member; shared as well */
	size_t max_times;
	_Alignas(SHARED_LINE) atomic_size_t n_times;
	struct crew_member members[CREW_MAX];
	int n;		      /* the worker's: places in use */
	double seconds;	      /* measured, by the worker's clock */
	double cpu_ns_per_s; /* of all processes */
};

/* 0, or -1 with the reason on stderr; it need never return. */
typedef int crew_main(
	const struct job *job, struct crew *crew, int me, void *data);

/* NULL: no memory.  It ends with the worker. */
struct crew *crew_create(size_t max_times);

/* Forks member @me, pinned to @cpu.  0, or -1 with the reason on stderr. */
int crew_start(const struct job *job, struct crew *crew, int me, int cpu,
	crew_main *run, void *data);

/* A member's: says that it is ready, and returns when all are to begin. */
void crew_ready(struct crew *crew, int me);

/* worker_fail(); but at the end, when others have been killed, it is silent. */
int crew_fail(const struct crew *crew, const char *what);

/*
 * Leads all from start to end, and ends them.  On a busy machine it measures
 * for longer, until one of the members from @first to before @end has counted.
 * 0, or -1 and it has been said.
 */
int crew_run(const struct job *job, struct crew *crew, int first, int end);

/* What the members from @first to before @end counted together. */
uint64_t crew_sum(const struct crew *crew, int first, int end);

/* The slowest of them over the fastest. */
double crew_fairness(const struct crew *crew, int first, int end);

static inline void
crew_count(struct crew *crew, int me, uint64_t count)
{
	atomic_store_explicit(
		&crew->members[me].count, count, memory_order_relaxed);
}

/* As a recorder of times: only while it is measured. */
void crew_time(struct crew *crew, uint64_t ns);

/* p50_ns, and of enough times p99_ns and p999_ns. */
int crew_print_times(const struct crew *crew);

/* As many descriptors as are permitted: 0 if that is @n at least. */
int crew_need_descriptors(long n);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport.h"

/*
 * One measurement, one process: strbench starts a worker, the worker forks
 * the two sides, prints what they found as "key value" lines and ends.
 */
struct job {
	const struct transport *transport;
	size_t size;
	size_t bufsize; /* of sockets; 0: as they are */
	int niced;      /* nice[] is to be set */
	int nice[2];    /* of end 0 and end 1 */
	int cpus[2];   /* of end 0 and end 1; -1: any */
	double warmup; /* seconds */
	double seconds;
	long samples;      /* round trips after a pause */
	double pause;      /* seconds between two of them */
	uint64_t begin_ns; /* bench_now_ns() of the first; 0: as it comes */
	const char *host;  /* of the server */
	long port;
	const char *device; /* in place of the transport's own */
	long parts;	    /* of a message, for writev(); 0: write() */
	const char *what;   /* which of the test's own kinds; "" if none */
	long n;		    /* how many of these */
	long active;	    /* and how many of them do something */
	int busy_nice;	    /* of the busy processes */
};

/* The exit status that says: this cannot be measured here; see stderr. */
#define WORKER_SKIP 77

/*
 * Where the sides are told what to do and leave what they measured: memory
 * they share with the worker.  phase is written by the worker alone.
 */
enum phase { PHASE_START, PHASE_WARMUP, PHASE_MEASURE, PHASE_STOP };

#define SHARED_LINE 128

/* A side's own account at the beginning or the end of the measured time. */
struct mark {
	uint64_t ns;
	uint64_t messages;
	uint64_t switches; /* voluntary */
	uint64_t cpu_ns;
};

struct side {
	_Alignas(SHARED_LINE) atomic_int ready;
	atomic_int marks; /* how many of marked[] are valid */
	struct mark marked[2];
	uint64_t read_calls;
	uint64_t total; /* messages from the first to the last */
};

struct session {
	_Alignas(SHARED_LINE) atomic_int phase;
	struct side sides[2];
	uint32_t *times; /* round trips, ns; shared as well */
	size_t max_times;
	_Alignas(SHARED_LINE) atomic_size_t n_times;
};

/* A side's program; returns 0, or -1 with the reason on stderr. */
typedef int side_main(
	const struct job *job, struct session *session, struct end *end);

/* session.c */
struct session *session_create(size_t max_times);
void side_mark(struct side *side, uint64_t messages, uint64_t read_calls);
int worker_fail(const char *what);

/* What errno does not tell, for the next worker_fail(); NULL: nothing. */
void worker_detail(const char *what, const char *reason);

/* Ends the program where the channel cannot be had on this machine. */
int channel_open(const struct job *job, struct channel *channel, int two_way);

/*
 * Forks and pins both sides, leads them through the phases and reaps them.
 * 0, or -1 with the reason on stderr and no child left.
 */
int session_run(const struct job *job, struct session *session, int two_way,
	side_main *side0, side_main *side1);

/* Each is a test: 0, or -1 with the reason on stderr. */
int verify(const struct job *job);
int measure_throughput(const struct job *job);
int measure_round_trips(const struct job *job);
int measure_answers_after_pause(const struct job *job);
int measure_idle(const struct job *job);
int measure_open(const struct job *job);

/* The everyday suites, and the programs that "life" starts. */
int measure_paced(const struct job *job);
int measure_servers(const struct job *job);
int measure_crowd(const struct job *job);
int measure_busy(const struct job *job);
int measure_life(const struct job *job);
int measure_rest(const struct job *job);
int be_first(const struct job *job);
int be_nothing(const struct job *job);

/* parts.c: one message; its size, or -1 and errno. */
#define PARTS_MAX 1024
ssize_t job_send(const struct job *job, struct end *end, const void *buf);

/* Percentiles of @times: p50_ns, and of enough of them p99_ns and p999_ns. */
void worker_print_times(const double *times, size_t n);

/* remote.c: the two ends on two hosts.  docs/benchmarks.md has the words. */
int remote_serve(const struct job *job);
int remote_stream(const struct job *job);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef STRBENCH_H
#define STRBENCH_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "str/annot.h"

#define EXIT_USAGE 2

/* What is measured of a sample, and comes before it, unless told otherwise. */
#define USUAL_SECONDS 0.13
#define USUAL_WARMUP  0.06

#define SIZE_LIMIT 65536
#define MAX_SIZES  64
#define MAX_REPEAT 1000

enum suite {
	SUITE_PIPE,
	SUITE_RTT,
	SUITE_ABLATION,
	SUITE_PERFTEST,
	SUITE_IDLE,
	SUITE_OPEN,
	SUITE_TCP,
	SUITE_UDP,
	SUITE_LOOPBACK,
	SUITE_NETRTT,
	SUITE_WIRE,
	SUITE_NETNS,
	SUITE_NICE,
	SUITE_SIZES,
	SUITE_PACED,
	SUITE_SERVERS,
	SUITE_CROWD,
	SUITE_BUSY,
	SUITE_LIFE,
	N_SUITES,
};

/* MODE_UNPINNED: the everyday suites only. */
enum mode { MODE_SAME, MODE_SPLIT, MODE_UNPINNED, N_MODES };

#define BIT(n) (UINT64_C(1) << (n))

/* Which executable measures an implementation. */
enum program {
	PROGRAM_NATIVE,
	PROGRAM_STREAMS,
	PROGRAM_XTI,
	PROGRAM_PERFTEST,
	PROGRAM_PERFTESTN,
	N_PROGRAMS,
};

struct implementation {
	const char *name;
	const char *about;
	enum program program;
	uint64_t suites; /* BIT(enum suite): can be measured there */
	uint64_t usual;  /* is, unless --impl says otherwise */
	int eager;           /* service queues and wakes on every call */
	const char *transport; /* what the worker calls it; NULL: the same */
	int niced;             /* sender and receiver at the extremes of nice */
	int slow;              /* a sample takes seconds: fewer usual sizes */
};

/* Socket buffers where there is a network, the papers' size. */
#define NET_SUITES                                          \
	(BIT(SUITE_TCP) | BIT(SUITE_UDP) | BIT(SUITE_LOOPBACK) | \
		BIT(SUITE_NETRTT) | BIT(SUITE_WIRE) | BIT(SUITE_NETNS) | \
		BIT(SUITE_NICE))
#define NET_BUFFERS 131071

/* In suites where messages may be lost those received count. */
#define RX_SUITES                                               \
	(BIT(SUITE_TCP) | BIT(SUITE_UDP) | BIT(SUITE_LOOPBACK) | \
		BIT(SUITE_WIRE) | BIT(SUITE_NETNS) | BIT(SUITE_NICE))

/* everyday.c: each point is a question, and its result a comparison. */
#define EVERYDAY_SUITES                                              \
	(BIT(SUITE_SIZES) | BIT(SUITE_PACED) | BIT(SUITE_SERVERS) | \
		BIT(SUITE_CROWD) | BIT(SUITE_BUSY) | BIT(SUITE_LIFE))

/* Whatever can be measured there needs two network namespaces. */
#define NEEDS_NETNS(implementation) \
	(((implementation)->suites & BIT(SUITE_NETNS)) != 0)

#define RTT_SUITES (BIT(SUITE_RTT) | BIT(SUITE_NETRTT))

/* Where the result is a time. */
#define TIMED_SUITES (RTT_SUITES | BIT(SUITE_OPEN))

/* table.c */
extern const struct implementation implementations[];
extern const size_t n_implementations;
extern const char *const suite_names[N_SUITES];
extern const char *const mode_names[N_MODES];
const struct implementation *implementation_find(const char *name);
const char *transport_name(const struct implementation *implementation);

/* What strbench run was asked for. */
struct run_options {
	uint64_t suites;
	uint64_t modes;
	int modes_usual; /* they were not given */
	int full;        /* all questions of the everyday suites */
	long sizes[MAX_SIZES];
	size_t n_sizes; /* 0: each suite's own */
	double seconds;
	double warmup;
	long repeat;
	long idle_samples;
	double idle_seconds;
	double again; /* seconds for points whose samples disagree */
	int cpus[2];
	int n_cpus;          /* how many may be used */
	uint64_t chosen;     /* --impl: bits into implementations[] */
	const char *json;    /* NULL, "-" or a path */
	const char *programs[N_PROGRAMS]; /* NULL: not installed */
	int argc;
	char **argv;
};

/* options.c: all but the first end the program when they do not like it. */
int complain(const char *what, int error); /* on stderr; returns -1 */
double option_time(const char *option, const char *text, double lo, double hi);
long option_number(const char *option, const char *text, long lo, long hi);
void run_options_parse(struct run_options *options, int argc, char **argv);
void usage_error(const char *format, ...) STR_NORETURN STR_PRINTF(1, 2);

/*
 * One line of the result: an implementation at one point.  What a
 * measurement yields is a value per key; the keys are those the workers
 * print.
 */
enum key {
	KEY_TX,
	KEY_RX,
	KEY_SWITCHES,
	KEY_CPU,
	KEY_READ_CALLS,
	KEY_ARRIVED,
	KEY_P50,
	KEY_P99,
	KEY_ROUND_TRIPS,
	KEY_SAMPLE,
	KEY_READER,
	KEY_WRITER,
	KEY_POLLER,
	KEY_MEAN,
	KEY_P999,
	KEY_CPU_RATE,
	KEY_FAIR,
	N_KEYS,
};

struct series {
	double *values;
	size_t n;
};

/* The implementations that are compared; the list ends with an empty entry. */
struct pair {
	const char *ours;
	const char *peer;
};

/* A point of an everyday suite. */
struct question {
	char name[64];
	const char *test; /* the worker's */
	const struct pair *pairs;
	char settings[4][24]; /* for the worker */
	int n_settings;
	long size;
	double seconds;
	double least; /* seconds, whatever --seconds says */
	double warmup;
	double overhead; /* seconds more that a sample takes */
	long descriptors; /* of one process, if many */
	int checked; /* the pattern has to pass first */
	int single;  /* one process is measured */
};

struct task {
	const struct implementation *implementation;
	enum suite suite;
	enum mode mode;
	long size;
	const struct question *question; /* of everyday suites; NULL */
	int after_pause; /* round trips after idling, not warm ones */
	struct series series[N_KEYS];
	int failures;
	int skipped;     /* it is not to be had on this machine */
	char error[200]; /* why it failed, the last time, or was skipped */
};

struct plan {
	struct task *tasks; /* those of one point lie side by side */
	size_t n;
	struct question **questions;
	size_t n_questions;
};

/* plan.c */
void *must(void *memory); /* ends the program when there is none */
void plan_ask(const struct run_options *options, struct plan *plan,
	enum suite suite, uint64_t modes, const struct question *question);
struct plan plan_make(const struct run_options *options);
void plan_free(struct plan *plan);
int same_point(const struct task *a, const struct task *b);
double task_seconds(const struct run_options *options, const struct task *task);
void task_add(struct task *task, enum key key, double value);
double task_median(const struct task *task, enum key key);

/* again.c: points whose samples disagree get so many more at a time. */
#define AGAIN_ROUNDS 2
enum key task_key(const struct task *task); /* what the result is of */
int sampled_again(const struct task *task);
size_t again_next(const struct run_options *options, const struct plan *plan,
	double seconds, size_t *ret_n);

/* everyday.c */
void everyday_plan(const struct run_options *options, struct plan *plan,
	enum suite suite);
uint64_t everyday_suites_of(const struct implementation *implementation);

/* compare.c: the questions' answers, losses first */
json_t *compare_array(const struct plan *plan);
void compare_print(const struct plan *plan);

/* measure.c: 0, or the number of the signal that stopped it. */
int measure_plan(const struct run_options *options, struct plan *plan);

/*
 * process.c: a program that runs for us, what it prints collected.
 * Signals that mean "stop" are blocked except while process_collect() waits.
 */
struct process {
	pid_t pid;
	int fd;
	char *output;
	size_t length;
	uint64_t voluntary_switches; /* with its children, once it has ended */
	uint64_t cpu_ns;
	int how; /* it ended: as waitpid(2) has it */
};

#define PROCESS_MAX 33 /* at one time */

void stop_signals_block(void);
int stop_signal(void); /* the one that came, or 0 */
/* One that was started elsewhere: to be reaped by who started it. */
void process_own(pid_t pid);
/* This process and those that it starts are in a domain with a name, which
 * nothing else uses.  It ends with them. */
void process_own_domain(void);
int process_start(struct process *process, const char *const *argv, int eager);
/*
 * Waits for all of them until deadline.  Returns 0, ECANCELED when a signal
 * says stop, or ETIMEDOUT; those that did not end are killed.
 */
int process_collect(struct process *processes, size_t n, uint64_t deadline);
/* Reaps one.  Its exit status; -1 if it has none. */
int process_finish(struct process *process);

/* paths.c */
const char *program_path(enum program program);
const char *program_name(enum program program);
const char *report_directory(void);

/* machine.c */
json_t *machine_facts(const struct run_options *options);

/* result.c: both say on stderr what is wrong; 0 or -1. */
json_t *series_array(const struct series *series);
int result_check_output(const char *path);
int result_write(const struct run_options *options, const struct plan *plan,
	json_t *machine, int partial);

/* progress.c */
void progress_begin(double seconds);
void progress_show(const struct task *task, double seconds_left);
void progress_end(void);

/* summary.c */
void summary_print(const struct plan *plan);

/* server.c: the exit status; a listening socket, or -1 and it has been said */
#define SERVER_PORT 12866
int server_main(int argc, char **argv);
int server_listen(const char *host, const char *port, long *ret_port);
STR_NORETURN void server_loop(int fd);

/* range.c: the exit status */
int range_main(int argc, char **argv);

/* report.c */
int report_main(int argc, char **argv);

#endif

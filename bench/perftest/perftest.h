/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef PERFTEST_H
#define PERFTEST_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#define PERFTEST_SIZE_MAX 32768

/* What a reader with -F asks for; POSIX's atomic amount on Linux. */
#define PERFTEST_PIPE_BUF 4096

#define PERFTEST_NAME_MAX 8 /* FMNAMESZ: length of a module name */

/* The command line, one to one; -1 is "not given" where 0 has a meaning. */
struct perftest_options {
	long hiwat;
	long lowat;
	int mread;
	int readfill;
	int full;
	int hold;
	int async;
	int fifo;
	int blocking;
	int readwrite;
	int nice_read;
	int nice_send;
	int set_nice_read;
	int set_nice_send;
	const char *module;
	long push;
	size_t size;
	double period;   /* seconds between two reports */
	long iterations; /* reports to make; -1: without end */
	int verbose;
	int pinned;
	int cpu_writer;
	int cpu_reader;
};

/*
 * What one direction did since the last report, and the weighted averages
 * over all reports.
 */
struct tally {
	const char *what; /* "sent" or "read" */
	long long calls;  /* that moved a message */
	long long bytes;
	long long smallest;
	long long largest;
	long long again;       /* calls that returned EAGAIN */
	long long interrupted; /* calls that returned EINTR */
	long long empty;       /* polls that reported nothing */
	long long reports;
	long long mean_calls;
	long long mean_bytes;
};

/* The ends of the pipe: fds[0] is read from, fds[1] is written to. */
struct perftest {
	const struct perftest_options *options;
	int fds[2];
	size_t read_size;
	char *buffer;
};

/* main.c: says on stderr what failed, by errno, and returns -1. */
int perftest_complain(const char *what);

/* tally.c */
void tally_init(struct tally *tally, const char *what);
void tally_add(struct tally *tally, long long bytes, long long extent);
void tally_report(struct tally *tally, const struct perftest *test, int fd);

/* setup.c: both say what failed on stderr and return -1. */
int perftest_open(struct perftest *test);
void perftest_close(struct perftest *test);

/* move.c: one message; what read(2), write(2) and their kin return. */
ssize_t perftest_send(const struct perftest *test, struct tally *tally);
ssize_t perftest_receive(const struct perftest *test, struct tally *tally);

/* sync.c, async.c: 0, or -1 when a call failed (stderr tells). */
int perftest_sync(struct perftest *test);
int perftest_async(struct perftest *test);

/*
 * alarm.c: the end of a report period.  The timer fires once a period and
 * then again every few milliseconds until it is acknowledged by arming it
 * again, so a signal that arrives between the look at the flag and a
 * blocking call cannot be lost for good.
 */
extern volatile sig_atomic_t perftest_timed_out;
extern volatile sig_atomic_t perftest_hung_up;
int perftest_signals(void);
int perftest_timer_arm(double seconds);
void perftest_timer_disarm(void);

#endif

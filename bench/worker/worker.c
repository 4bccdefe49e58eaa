/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * strbench-native, strbench-streams and strbench-xti: one measurement each
 * time they are started.  For strbench, not for people; the protocol is
 *
 *	strbench-native TEST TRANSPORT [KEY=VALUE ...]	-> "key value" lines
 *
 * and exit status 0, or 1 with the reason on stderr, or 77 with the reason
 * why it cannot be measured here at all.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/parse.h"
#include "lib/pin.h"

#define SIZE_MAX_BYTES (1 << 20)
#define MANY           100000

struct test {
	const char *name;
	int (*run)(const struct job *job);
};

static const struct test tests[] = {
	{"verify", verify},
	{"throughput", measure_throughput},
	{"rtt", measure_round_trips},
	{"pause", measure_answers_after_pause},
	{"idle", measure_idle},
	{"open", measure_open},
	{"paced", measure_paced},
	{"servers", measure_servers},
	{"crowd", measure_crowd},
	{"busy", measure_busy},
	{"life", measure_life},
	{"rest", measure_rest},
	{"first", be_first},
	{"nothing", be_nothing},
	{"serve", remote_serve},
	{"stream", remote_stream},
};

static int
set_size(struct job *job, const char *value)
{
	long size;
	int error = bench_parse_long(value, 1, SIZE_MAX_BYTES, &size);

	if (error == 0)
		job->size = (size_t)size;
	return error;
}

static int
set_cpus(struct job *job, const char *value)
{
	return bench_parse_cpus(value, &job->cpus[0], &job->cpus[1]);
}

static int
set_warmup(struct job *job, const char *value)
{
	return bench_parse_seconds(value, 0, 3600, &job->warmup);
}

static int
set_seconds(struct job *job, const char *value)
{
	return bench_parse_seconds(value, 0, 3600, &job->seconds);
}

static int
set_samples(struct job *job, const char *value)
{
	return bench_parse_long(value, 1, 1 << 20, &job->samples);
}

static int
set_pause(struct job *job, const char *value)
{
	return bench_parse_seconds(value, 0, 3600, &job->pause);
}

static int
set_begin(struct job *job, const char *value)
{
	long begin;
	int error = bench_parse_long(value, 0, INT64_MAX, &begin);

	if (error == 0)
		job->begin_ns = (uint64_t)begin;
	return error;
}

static int
set_bufsize(struct job *job, const char *value)
{
	long size;
	int error = bench_parse_long(value, 1, 1 << 30, &size);

	if (error == 0)
		job->bufsize = (size_t)size;
	return error;
}

/* "S,R", of the sender and of the receiver. */
static int
set_nice(struct job *job, const char *value)
{
	job->niced = 1;
	return sscanf(value, "%d,%d", &job->nice[0], &job->nice[1]) == 2
		       ? 0
		       : EINVAL;
}

static int
set_host(struct job *job, const char *value)
{
	job->host = value;
	return 0;
}

static int
set_port(struct job *job, const char *value)
{
	return bench_parse_long(value, 1, 65535, &job->port);
}

static int
set_device(struct job *job, const char *value)
{
	job->device = value;
	return strncmp(value, "/dev/", 5) == 0 ? 0 : EINVAL;
}

static int
set_parts(struct job *job, const char *value)
{
	return bench_parse_long(value, 1, PARTS_MAX, &job->parts);
}

static int
set_what(struct job *job, const char *value)
{
	job->what = value;
	return 0;
}

static int
set_n(struct job *job, const char *value)
{
	return bench_parse_long(value, 1, MANY, &job->n);
}

static int
set_active(struct job *job, const char *value)
{
	return bench_parse_long(value, 1, MANY, &job->active);
}

static int
set_busy_nice(struct job *job, const char *value)
{
	long nice;
	int error = bench_parse_long(value, 0, 19, &nice);

	if (error == 0)
		job->busy_nice = (int)nice;
	return error;
}

static const struct {
	const char *key;
	int (*set)(struct job *job, const char *value);
} settings[] = {
	{"size", set_size},
	{"cpus", set_cpus},
	{"warmup", set_warmup},
	{"seconds", set_seconds},
	{"samples", set_samples},
	{"pause", set_pause},
	{"begin", set_begin},
	{"bufsize", set_bufsize},
	{"nice", set_nice},
	{"host", set_host},
	{"port", set_port},
	{"device", set_device},
	{"parts", set_parts},
	{"what", set_what},
	{"n", set_n},
	{"active", set_active},
	{"busynice", set_busy_nice},
};

static int
apply_setting(struct job *job, char *argument)
{
	char *value = strchr(argument, '=');

	if (value == NULL)
		return -1;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (strcmp(settings[i].key, argument) == 0)
			return settings[i].set(job, value) == 0 ? 0 : -1;
	}
	return -1;
}

static const struct transport *
find_transport(const char *name)
{
	for (size_t i = 0; transports[i] != NULL; i++) {
		if (strcmp(transports[i]->name, name) == 0)
			return transports[i];
	}
	return NULL;
}

static const struct test *
find_test(const char *name)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (strcmp(tests[i].name, name) == 0)
			return &tests[i];
	}
	return NULL;
}

/* Whether the sides will be allowed what they have to do. */
static void
try_priorities(const struct job *job)
{
	int mine = getpriority(PRIO_PROCESS, 0);

	if (setpriority(PRIO_PROCESS, 0, job->nice[0]) == 0 &&
		setpriority(PRIO_PROCESS, 0, mine) == 0)
		return;
	(void)fprintf(stderr, "nice %d is not permitted: %s\n", job->nice[0],
		strerror(errno));
	exit(WORKER_SKIP);
}

int
main(int argc, char **argv)
{
	struct job job = {
		.size = 1,
		.seconds = 0.2,
		.warmup = 0.1,
		.cpus = {-1, -1},
		.what = "",
	};
	const struct test *test = argc > 1 ? find_test(argv[1]) : NULL;

	job.transport = argc > 2 ? find_transport(argv[2]) : NULL;
	if (test == NULL || job.transport == NULL) {
		(void)fprintf(stderr,
			"usage: %s TEST TRANSPORT [KEY=VALUE ...]"
			"\nThis program belongs to strbench, see "
			"strbench(1).\n",
			argv[0]);
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		if (apply_setting(&job, argv[i]) != 0) {
			(void)fprintf(stderr, "%s: bad setting '%s'\n", argv[0],
				argv[i]);
			return 2;
		}
	}
	/* A peer that has gone is an error to report, not a way to die. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (job.niced)
		try_priorities(&job);
	if (test->run(&job) != 0)
		return 1;
	return fflush(stdout) == 0 ? 0 : 1;
}

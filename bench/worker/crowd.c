/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Many processes at once, all as fast as they can.
 *
 *	in	n writers of one pipe, one reader
 *	out	one writer, in turns to n pipes with a reader each
 *	shared	one writer, n readers of one pipe
 *	pairs	n pipes, each with a writer and a reader
 *	threads	n threads of one process write to one pipe, one reader
 *
 * Messages read count.  Where there are several of a kind, the count of the
 * slowest of them over that of the fastest says how evenly they are served.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"

struct crowd {
	struct channel *channels;
	int n_channels;
	int writers; /* members 0 to writers - 1; readers lie behind them */
	int readers;
	int threads;
	/* What a thread of the writer needs. */
	const struct job *job;
	struct crew *crew;
};

static const struct shape {
	const char *name;
	int writers, readers, channels, threads; /* 0: as many as asked for */
} shapes[] = {
	{"in", 0, 1, 1, 1},
	{"out", 1, 0, 0, 1},
	{"shared", 1, 0, 1, 1},
	{"pairs", 0, 0, 0, 1},
	{"threads", 1, 1, 1, 0},
};

/* The ends that a process does not use; an end that is none is left alone. */
static void
let_go(struct crowd *crowd, int which, int channel)
{
	for (int i = 0; i < crowd->n_channels; i++) {
		end_close_fds(&crowd->channels[i].ends[!which]);
		if (channel != -1 && channel != i)
			end_close_fds(&crowd->channels[i].ends[which]);
	}
}

static int
write_on(struct crowd *crowd, int place, int first, int channels)
{
	const struct job *job = crowd->job;
	char *buf = calloc(1, job->size);

	if (buf == NULL)
		return worker_fail("memory");
	for (uint64_t n = 1;; n++) {
		int i = first + (int)(n % (uint64_t)channels);

		if (job->transport->send(&crowd->channels[i].ends[0], buf,
			    job->size) != (ssize_t)job->size)
			return crew_fail(crowd->crew, "sending");
		crew_count(crowd->crew, place, n);
	}
}

struct writer_thread {
	struct crowd *crowd;
	int place;
};

static void *
thread_main(void *data)
{
	struct writer_thread *thread = data;

	(void)write_on(thread->crowd, thread->place, 0, 1);
	exit(1);
}

/* The places of its threads lie behind those of all processes. */
static int
write_in_threads(struct crowd *crowd)
{
	int first = crowd->writers + crowd->readers;
	pthread_t id;

	for (int i = 0; i < crowd->threads; i++) {
		struct writer_thread *thread = malloc(sizeof(*thread));

		if (thread == NULL)
			return worker_fail("memory");
		*thread = (struct writer_thread){crowd, first + i};
		if (pthread_create(&id, NULL, thread_main, thread) != 0)
			return worker_fail("a thread");
	}
	/* A thread that ends ends the process. */
	(void)pthread_join(id, NULL);
	return -1;
}

static int
write_all(const struct job *job, struct crew *crew, int me, void *data)
{
	struct crowd *crowd = data;
	int own = crowd->writers > 1 && crowd->n_channels > 1;

	(void)job;
	let_go(crowd, 0, own ? me : -1);
	crew_ready(crew, me);
	if (crowd->threads > 1)
		return write_in_threads(crowd);
	return own ? write_on(crowd, me, me, 1)
		   : write_on(crowd, me, 0, crowd->n_channels);
}

static int
read_all(const struct job *job, struct crew *crew, int me, void *data)
{
	struct crowd *crowd = data;
	int which = crowd->n_channels > 1 ? me - crowd->writers : 0;
	char *buf = calloc(1, job->size);

	if (buf == NULL)
		return worker_fail("memory");
	let_go(crowd, 1, which);
	crew_ready(crew, me);
	for (uint64_t n = 1;; n++) {
		if (job->transport->recv(&crowd->channels[which].ends[1], buf,
			    job->size) != (ssize_t)job->size)
			return crew_fail(crew, "receiving");
		crew_count(crew, me, n);
	}
}

static int
start_all(const struct job *job, struct crew *crew, struct crowd *crowd)
{
	for (int i = 0; i < crowd->readers; i++) {
		if (crew_start(job, crew, crowd->writers + i, job->cpus[1],
			    read_all, crowd) != 0)
			return -1;
	}
	for (int i = 0; i < crowd->writers; i++) {
		if (crew_start(job, crew, i, job->cpus[0], write_all, crowd) !=
			0)
			return -1;
	}
	if (crowd->threads > 1)
		crew->n += crowd->threads;
	for (int i = 0; i < crowd->n_channels; i++) {
		end_close_fds(&crowd->channels[i].ends[0]);
		end_close_fds(&crowd->channels[i].ends[1]);
	}
	return crew_run(job, crew, crowd->writers,
		crowd->writers + crowd->readers);
}

static void
print_all(const struct crew *crew, const struct crowd *crowd)
{
	int readers = crowd->writers, threads = readers + crowd->readers;
	double rate = (double)crew_sum(crew, readers, threads) / crew->seconds;

	printf("rx_per_s %.1f\n", rate);
	if (rate > 0)
		printf("cpu_ns_per_message %.1f\n", crew->cpu_ns_per_s / rate);
	if (crowd->threads > 1)
		printf("slowest_over_fastest %.6f\n",
			crew_fairness(crew, threads, threads + crowd->threads));
	else if (crowd->writers > 1 && crowd->readers == 1)
		printf("slowest_over_fastest %.6f\n",
			crew_fairness(crew, 0, readers));
	else if (crowd->readers > 1)
		printf("slowest_over_fastest %.6f\n",
			crew_fairness(crew, readers, threads));
}

static int
crowd_shape(const struct job *job, struct crowd *crowd)
{
	int n = (int)job->n;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *shape = &shapes[i];

		if (strcmp(shape->name, job->what) != 0)
			continue;
		crowd->writers = shape->writers == 0 ? n : shape->writers;
		crowd->readers = shape->readers == 0 ? n : shape->readers;
		crowd->n_channels = shape->channels == 0 ? n : shape->channels;
		crowd->threads = shape->threads == 0 ? n : shape->threads;
		if (crowd->writers + crowd->readers + crowd->threads <=
			CREW_MAX)
			return 0;
		(void)fputs("n: too many processes\n", stderr);
		return -1;
	}
	(void)fprintf(stderr, "what: no crowd '%s'\n", job->what);
	return -1;
}

int
measure_crowd(const struct job *job)
{
	struct crew *crew = crew_create(0);
	struct crowd crowd = {.job = job, .crew = crew};

	if (crew == NULL || crowd_shape(job, &crowd) != 0)
		return -1;
	crowd.channels =
		calloc((size_t)crowd.n_channels, sizeof(*crowd.channels));
	if (crowd.channels == NULL)
		return worker_fail("memory");
	for (int i = 0; i < crowd.n_channels; i++) {
		if (channel_open(job, &crowd.channels[i], 0) != 0)
			return -1;
	}
	if (start_all(job, crew, &crowd) != 0)
		return -1;
	if (crew_sum(crew, crowd.writers, crowd.writers + crowd.readers) == 0) {
		(void)fputs("no message in the measured time\n", stderr);
		return -1;
	}
	print_all(crew, &crowd);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * One message after each pause, or a burst of them: how late each is read, and
 * what that costs.
 *
 * A message carries the time at which it was sent; both processes have the
 * same clock.  The sender sleeps until the next is due, and sends at once
 * when it is late.  Below SHORTEST_SLEEP_NS a sleep would take longer than
 * the pause, so the sender loops, and its loop is part of the CPU time of
 * both implementations.
 *
 * Datagrams may be lost: how many arrive is told as well.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "crew.h"
#include "lib/timing.h"

#define SHORTEST_SLEEP_NS 50000
#define MAX_TIMES         (1u << 20)
#define LEAST_SIZE        sizeof(uint64_t)

enum { SENDER, RECEIVER };

static void
wait_until(uint64_t due, uint64_t pause)
{
	if (pause >= SHORTEST_SLEEP_NS) {
		bench_sleep_until_ns(due);
		return;
	}
	while (bench_now_ns() < due)
		;
}

static int
send_paced(const struct job *job, struct crew *crew, int me, void *data)
{
	struct channel *channel = data;
	struct end *end = &channel->ends[0];
	uint64_t pause = bench_seconds_to_ns(job->pause);
	char *buf = calloc(1, job->size);
	uint64_t due, sent = 0;

	if (buf == NULL || job->transport->keep(channel, 0) != 0)
		return worker_fail("sender");
	(void)prctl(PR_SET_TIMERSLACK, 1);
	crew_ready(crew, me);
	due = bench_now_ns();
	for (;;) {
		uint64_t now = 0;

		due += pause;
		wait_until(due, pause);
		for (long i = 0; i < (job->n > 1 ? job->n : 1); i++) {
			now = bench_now_ns();
			memcpy(buf, &now, sizeof(now));
			if (job->transport->send(end, buf, job->size) !=
				(ssize_t)job->size)
				return crew_fail(crew, "sending");
			crew_count(crew, me, ++sent);
		}
		/* What could not be sent in time is not caught up with. */
		if (now > due + 10 * pause)
			due = now;
	}
}

static int
receive_paced(const struct job *job, struct crew *crew, int me, void *data)
{
	struct channel *channel = data;
	struct end *end = &channel->ends[1];
	char *buf = calloc(1, job->size);

	if (buf == NULL || job->transport->keep(channel, 1) != 0)
		return worker_fail("receiver");
	crew_ready(crew, me);
	for (uint64_t n = 1;; n++) {
		uint64_t sent;

		if (job->transport->recv(end, buf, job->size) !=
			(ssize_t)job->size)
			return crew_fail(crew, "receiving");
		memcpy(&sent, buf, sizeof(sent));
		crew_time(crew, bench_now_ns() - sent);
		crew_count(crew, me, n);
	}
}

int
measure_paced(const struct job *job)
{
	struct crew *crew = crew_create(MAX_TIMES);
	struct channel channel;
	double rate;

	if (crew == NULL || channel_open(job, &channel, 0) != 0)
		return -1;
	if (job->size < LEAST_SIZE) {
		(void)fprintf(stderr, "a message needs %zu bytes\n", LEAST_SIZE);
		return -1;
	}
	if (crew_start(job, crew, RECEIVER, job->cpus[1], receive_paced,
		    &channel) != 0 ||
		crew_start(job, crew, SENDER, job->cpus[0], send_paced,
			&channel) != 0 ||
		crew_run(job, crew, RECEIVER, RECEIVER + 1) != 0)
		return -1;
	rate = (double)crew->members[RECEIVER].counted / crew->seconds;
	if (!(rate > 0)) {
		(void)fputs("no message in the measured time\n", stderr);
		return -1;
	}
	printf("cpu_ns_per_message %.1f\n", crew->cpu_ns_per_s / rate);
	if (job->transport->datagrams)
		printf("arrived %.6f\n",
			(double)crew->members[RECEIVER].counted /
				(double)crew->members[SENDER].counted);
	return crew_print_times(crew);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Round trips: end 0 sends a message, end 1 sends it back.  Warm: one after
 * the other; the time of one begins when the one before has ended, so that
 * the clock is read once per round trip.  After a pause: both sides have
 * been blocked for that long.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stats.h"
#include "lib/timing.h"
#include "worker.h"

#define MAX_TIMES (4u << 20)

static int
echo(const struct job *job, struct session *session, struct end *end)
{
	struct side *side = &session->sides[1];
	const struct transport *transport = job->transport;
	char *buf = calloc(1, job->size);
	int seen = PHASE_WARMUP;
	uint64_t messages = 0;
	ssize_t n;

	if (buf == NULL)
		return worker_fail("memory");
	for (;;) {
		int phase = atomic_load_explicit(
			&session->phase, memory_order_relaxed);

		if (__builtin_expect(phase != seen, 0)) {
			side_mark(side, messages, end->read_calls);
			seen = phase;
		}
		n = transport->recv(end, buf, job->size);
		if (n != (ssize_t)job->size)
			break;
		if (transport->send(end, buf, job->size) != n)
			return worker_fail("answering");
		messages++;
	}
	if (n != 0)
		return worker_fail("receiving");
	if (seen != PHASE_STOP && atomic_load(&session->phase) == PHASE_STOP)
		side_mark(side, messages, end->read_calls);
	transport->hang_up(end);
	free(buf);
	return 0;
}

static int
one_round_trip(const struct job *job, struct end *end, char *buf)
{
	ssize_t size = (ssize_t)job->size;
	ssize_t n;

	if (job->transport->send(end, buf, job->size) != size)
		return worker_fail("sending");
	n = job->transport->recv(end, buf, job->size);
	if (n == size)
		return 0;
	if (n == 0)
		errno = EPIPE;
	return worker_fail("receiving the answer");
}

static void
record_time(struct session *session, uint64_t ns)
{
	size_t n =
		atomic_load_explicit(&session->n_times, memory_order_relaxed);

	if (n == session->max_times)
		return;
	session->times[n] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	atomic_store_explicit(&session->n_times, n + 1, memory_order_release);
}

static int
asker(const struct job *job, struct session *session, struct end *end)
{
	struct side *side = &session->sides[0];
	char *buf = calloc(1, job->size);
	int seen = PHASE_WARMUP;
	uint64_t messages = 0;
	uint64_t last = 0;

	if (buf == NULL)
		return worker_fail("memory");
	while (seen != PHASE_STOP) {
		int phase = atomic_load_explicit(
			&session->phase, memory_order_relaxed);
		uint64_t now;

		if (__builtin_expect(phase != seen, 0)) {
			side_mark(side, messages, 0);
			seen = phase;
			last = bench_now_ns();
			continue;
		}
		if (one_round_trip(job, end, buf) != 0)
			return -1;
		messages++;
		now = bench_now_ns();
		if (seen == PHASE_MEASURE)
			record_time(session, now - last);
		last = now;
	}
	job->transport->hang_up(end);
	free(buf);
	return 0;
}

static double *
times_of(const struct session *session, size_t *ret_n)
{
	size_t n = atomic_load(&session->n_times);
	double *times = malloc((n + 1) * sizeof(*times));

	for (size_t i = 0; times != NULL && i < n; i++)
		times[i] = session->times[i];
	*ret_n = n;
	return times;
}

int
measure_round_trips(const struct job *job)
{
	struct session *session = session_create(MAX_TIMES);
	double elapsed, switches = 0;
	double *times;
	uint64_t cpu_ns = 0;
	size_t n;

	if (session == NULL)
		return worker_fail("memory");
	if (session_run(job, session, 1, asker, echo) != 0)
		return -1;
	times = times_of(session, &n);
	if (times == NULL)
		return worker_fail("memory");
	if (n == 0) {
		(void)fputs("no round trip in the measured time\n", stderr);
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		const struct mark *mark = session->sides[i].marked;

		switches += (double)(mark[1].switches - mark[0].switches);
		cpu_ns += mark[1].cpu_ns - mark[0].cpu_ns;
	}
	elapsed = (double)(session->sides[0].marked[1].ns -
			   session->sides[0].marked[0].ns) /
		  1e9;
	printf("mean_ns %.0f\n",
		elapsed * 1e9 /
			(double)(session->sides[0].marked[1].messages -
				 session->sides[0].marked[0].messages));
	printf("p50_ns %.0f\n", bench_percentile(times, n, 50));
	printf("p99_ns %.0f\n", bench_percentile(times, n, 99));
	printf("round_trips_per_s %.1f\n",
		(double)(session->sides[0].marked[1].messages -
			 session->sides[0].marked[0].messages) /
			elapsed);
	printf("voluntary_switches_per_s %.1f\n", switches / elapsed);
	printf("cpu_ns_per_message %.1f\n", (double)cpu_ns / (double)n);
	free(times);
	return 0;
}

/*
 * begin_ns and pause are a timetable: several workers can sleep at the same
 * time and still never measure at the same time.
 */
static int
rare_asker(const struct job *job, struct session *session, struct end *end)
{
	uint64_t pause = bench_seconds_to_ns(job->pause);
	uint64_t next =
		job->begin_ns != 0 ? job->begin_ns : bench_now_ns() + pause;
	char *buf = calloc(1, job->size);

	if (buf == NULL)
		return worker_fail("memory");
	/* Not measured: first use of the code and of the memory. */
	if (one_round_trip(job, end, buf) != 0)
		return -1;
	for (long i = 0; i < job->samples; i++) {
		uint64_t begin;

		bench_sleep_until_ns(next + (uint64_t)i * pause);
		begin = bench_now_ns();
		if (one_round_trip(job, end, buf) != 0)
			return -1;
		record_time(session, bench_now_ns() - begin);
	}
	job->transport->hang_up(end);
	free(buf);
	return 0;
}

int
measure_answers_after_pause(const struct job *job)
{
	struct session *session = session_create((size_t)job->samples);

	if (session == NULL)
		return worker_fail("memory");
	if (session_run(job, session, 1, rare_asker, echo) != 0)
		return -1;
	for (size_t i = 0; i < atomic_load(&session->n_times); i++)
		printf("sample_ns %u\n", session->times[i]);
	return 0;
}

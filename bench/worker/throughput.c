/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Throughput: end 0 sends messages of one size as fast as it can, end 1
 * receives them, both blocking.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

static int
wrong_size(ssize_t n)
{
	if (n == -1)
		return worker_fail("receiving");
	(void)fprintf(stderr, "received %zd bytes, not a whole message\n", n);
	return -1;
}

static int
sender(const struct job *job, struct session *session, struct end *end)
{
	struct side *side = &session->sides[0];
	const struct transport *transport = job->transport;
	char *buf = aligned_alloc(4096, (job->size + 4095) & ~(size_t)4095);
	int seen = PHASE_WARMUP;
	uint64_t messages = 0;

	if (buf == NULL)
		return worker_fail("memory");
	memset(buf, 'x', job->size);
	while (seen != PHASE_STOP) {
		int phase = atomic_load_explicit(
			&session->phase, memory_order_relaxed);

		if (__builtin_expect(phase != seen, 0)) {
			side_mark(side, messages, 0);
			seen = phase;
			continue;
		}
		if (job_send(job, end, buf) != (ssize_t)job->size)
			return worker_fail("sending");
		messages++;
	}
	side->total = messages;
	transport->hang_up(end);
	free(buf);
	return 0;
}

static int
receiver(const struct job *job, struct session *session, struct end *end)
{
	struct side *side = &session->sides[1];
	const struct transport *transport = job->transport;
	char *buf = aligned_alloc(4096, (job->size + 4095) & ~(size_t)4095);
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
		if (__builtin_expect(n != (ssize_t)job->size, 0))
			break;
		messages++;
	}
	if (n != 0)
		return wrong_size(n);
	/* Blocked when STOP came, and released by the hang-up. */
	if (seen != PHASE_STOP && atomic_load(&session->phase) == PHASE_STOP)
		side_mark(side, messages, end->read_calls);
	side->total = messages;
	transport->hang_up(end);
	free(buf);
	return 0;
}

static double
per_second(const struct side *side, uint64_t count)
{
	return (double)count * 1e9 /
	       (double)(side->marked[1].ns - side->marked[0].ns);
}

/*
 * The messages that @side, number @which, has counted between its marks.  No
 * message is a mistake, with one exception: a receiver at nice 19 beside a sender
 * that never blocks may receive none, or not even get the CPU to take its marks.
 * Then 0 is the result.
 */
static int
counted(const struct job *job, const struct side *side, int which, uint64_t *ret)
{
	int starves = job->niced && which == 1;

	*ret = 0;
	if (atomic_load(&side->marks) == 2)
		*ret = side->marked[1].messages - side->marked[0].messages;
	if (*ret != 0 || starves)
		return 0;
	(void)fprintf(stderr, "no message was %s in the measured time\n",
		which == 0 ? "sent" : "received");
	return -1;
}

int
measure_throughput(const struct job *job)
{
	struct session *session = session_create(0);
	uint64_t messages[2], cpu_ns = 0;
	double switches = 0;

	if (session == NULL)
		return worker_fail("memory");
	if (session_run(job, session, 0, sender, receiver) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		const struct side *side = &session->sides[i];

		if (counted(job, side, i, &messages[i]) != 0)
			return -1;
		if (messages[i] == 0)
			continue;
		switches += per_second(side,
			side->marked[1].switches - side->marked[0].switches);
		cpu_ns += side->marked[1].cpu_ns - side->marked[0].cpu_ns;
	}
	printf("tx_per_s %.1f\n", per_second(&session->sides[0], messages[0]));
	printf("rx_per_s %.1f\n", messages[1] == 0 ? 0.0 :
		per_second(&session->sides[1], messages[1]));
	printf("arrived %.6f\n", (double)session->sides[1].total /
					  (double)session->sides[0].total);
	printf("voluntary_switches_per_s %.1f\n", switches);
	if (messages[1] == 0)
		return 0;
	printf("cpu_ns_per_message %.2f\n",
		(double)cpu_ns / (double)messages[1]);
	printf("read_calls_per_message %.4f\n",
		(double)session->sides[1].read_calls / (double)messages[1]);
	return 0;
}

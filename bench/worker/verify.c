/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Before anything is measured: does it carry data at all?  A few messages
 * with a pattern that depends on their number, each checked byte by byte,
 * then the end.  A transport that loses, repeats, reorders or invents
 * something must not get a score.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/timing.h"
#include "worker.h"

#define VERIFY_BYTES (256u << 10)
#define VERIFY_MIN   32
#define VERIFY_MAX   4096

/*
 * Datagrams that find no room are lost, as they may be.  Here none may: the
 * sender waits until no more than so much is on its way.
 */
#define VERIFY_DATAGRAMS  256
#define WINDOW_BYTES      8192
#define WINDOW_DATAGRAMS  16
#define WINDOW_TIMEOUT_NS (5 * BENCH_NS_PER_S)
#define WINDOW_TICK_NS    20000

static unsigned char
pattern(size_t message, size_t byte)
{
	return (unsigned char)(message * 167 + (message >> 8) * 31 + byte * 13 +
			       (byte >> 8) * 7);
}

static size_t
message_count(const struct job *job)
{
	size_t n = VERIFY_BYTES / job->size;
	size_t max = job->transport->datagrams ? VERIFY_DATAGRAMS : VERIFY_MAX;

	return n < VERIFY_MIN ? VERIFY_MIN : n > max ? max : n;
}

/* Until there is room for the next one; got is the receiver's count. */
static int
wait_for_window(const struct job *job, size_t sent, const atomic_size_t *got)
{
	size_t window = WINDOW_BYTES / job->size;
	uint64_t deadline = bench_now_ns() + WINDOW_TIMEOUT_NS;

	if (!job->transport->datagrams)
		return 0;
	if (window > WINDOW_DATAGRAMS)
		window = WINDOW_DATAGRAMS;
	while (sent > atomic_load(got) + window) {
		uint64_t now = bench_now_ns();

		if (now >= deadline) {
			errno = ETIMEDOUT;
			return -1;
		}
		bench_sleep_until_ns(now + WINDOW_TICK_NS);
	}
	return 0;
}

static int
send_pattern(const struct job *job, struct channel *channel,
	const atomic_size_t *got)
{
	struct end *end = &channel->ends[0];
	unsigned char *buf = malloc(job->size);

	if (buf == NULL || job->transport->keep(channel, 0) != 0)
		return worker_fail("check: sender");
	for (size_t i = 0; i < message_count(job); i++) {
		for (size_t j = 0; j < job->size; j++)
			buf[j] = pattern(i, j);
		if (wait_for_window(job, i, got) != 0)
			return worker_fail("check: waiting for the receiver");
		if (job_send(job, end, buf) != (ssize_t)job->size)
			return worker_fail("check: sending");
	}
	job->transport->hang_up(end);
	free(buf);
	return 0;
}

static int
receive_pattern(const struct job *job, struct end *end, unsigned char *buf,
	atomic_size_t *got)
{
	ssize_t n;

	for (size_t i = 0; i < message_count(job); i++) {
		n = job->transport->recv(end, buf, job->size);
		if (n == -1)
			return worker_fail("check: receiving");
		if (n != (ssize_t)job->size) {
			(void)fprintf(stderr,
				"check: message %zu has %zd "
				"bytes, not %zu\n",
				i, n, job->size);
			return -1;
		}
		for (size_t j = 0; j < job->size; j++) {
			if (buf[j] == pattern(i, j))
				continue;
			(void)fprintf(stderr,
				"check: message %zu is wrong at "
				"byte %zu\n",
				i, j);
			return -1;
		}
		atomic_store(got, i + 1);
	}
	n = job->transport->recv(end, buf, job->size);
	if (n == 0)
		return 0;
	(void)fprintf(stderr, "check: %zd where the end should be\n", n);
	return -1;
}

int
verify(const struct job *job)
{
	struct channel channel;
	unsigned char *buf = malloc(job->size);
	atomic_size_t *got = mmap(NULL, sizeof(*got), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid();
	pid_t pid;
	int ret, status;

	if (buf == NULL || got == MAP_FAILED)
		return worker_fail("check: memory");
	if (channel_open(job, &channel, 0) != 0)
		return -1;
	pid = fork();
	if (pid == -1)
		return worker_fail("check: fork");
	if (pid == 0) {
		bench_child_bind(parent);
		_exit(send_pattern(job, &channel, got) == 0 ? 0 : 1);
	}
	if (job->transport->keep(&channel, 1) != 0)
		ret = worker_fail("check: receiver");
	else
		ret = receive_pattern(job, &channel.ends[1], buf, got);
	/* A connection that is released in order waits for both sides. */
	if (ret == 0)
		job->transport->hang_up(&channel.ends[1]);
	else
		(void)kill(pid, SIGKILL);
	status = bench_child_wait(pid);
	if (ret == 0 && status != 0)
		ret = -1;
	free(buf);
	return ret;
}

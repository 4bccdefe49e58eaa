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
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "worker.h"

#define VERIFY_BYTES (256u << 10)
#define VERIFY_MIN   32
#define VERIFY_MAX   4096

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

	return n < VERIFY_MIN ? VERIFY_MIN : n > VERIFY_MAX ? VERIFY_MAX : n;
}

static int
send_pattern(const struct job *job, struct channel *channel)
{
	struct end *end = &channel->ends[0];
	unsigned char *buf = malloc(job->size);

	if (buf == NULL || job->transport->keep(channel, 0) != 0)
		return worker_fail("check: sender");
	for (size_t i = 0; i < message_count(job); i++) {
		for (size_t j = 0; j < job->size; j++)
			buf[j] = pattern(i, j);
		if (job->transport->send(end, buf, job->size) !=
			(ssize_t)job->size)
			return worker_fail("check: sending");
	}
	job->transport->hang_up(end);
	free(buf);
	return 0;
}

static int
receive_pattern(const struct job *job, struct end *end, unsigned char *buf)
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
	struct channel channel = {.transport = job->transport};
	unsigned char *buf = malloc(job->size);
	pid_t parent = getpid();
	pid_t pid;
	int ret, status;

	if (buf == NULL || job->transport->open(&channel, 0) != 0)
		return worker_fail("check: opening the channel");
	pid = fork();
	if (pid == -1)
		return worker_fail("check: fork");
	if (pid == 0) {
		bench_child_bind(parent);
		_exit(send_pattern(job, &channel) == 0 ? 0 : 1);
	}
	if (job->transport->keep(&channel, 1) != 0)
		ret = worker_fail("check: receiver");
	else
		ret = receive_pattern(job, &channel.ends[1], buf);
	if (ret != 0)
		(void)kill(pid, SIGKILL);
	status = bench_child_wait(pid);
	if (ret == 0 && status != 0)
		ret = -1;
	job->transport->hang_up(&channel.ends[1]);
	free(buf);
	return ret;
}

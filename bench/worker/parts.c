/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A message as the job has it written: in one piece by the transport's call,
 * or in equal parts by one writev().
 */
#include <errno.h>
#include <stdint.h>
#include <sys/uio.h>

#include "worker.h"

/* The parts of the last buffer, which is nearly always that of the next. */
static const void *built;
static struct iovec parts[PARTS_MAX];

static void
build(const struct job *job, const void *buf)
{
	size_t part = job->size / (size_t)job->parts;

	for (long i = 0; i < job->parts; i++)
		parts[i] = (struct iovec){
			.iov_base = (char *)(uintptr_t)buf + (size_t)i * part,
			.iov_len = part,
		};
	built = buf;
}

ssize_t
job_send(const struct job *job, struct end *end, const void *buf)
{
	ssize_t ret;

	if (job->parts == 0)
		return job->transport->send(end, buf, job->size);
	if (built != buf)
		build(job, buf);
	ret = writev(end->wfd, parts, (int)job->parts);
	if (ret >= 0 && ret != (ssize_t)job->size)
		errno = EIO;
	return ret == (ssize_t)job->size ? ret : -1;
}

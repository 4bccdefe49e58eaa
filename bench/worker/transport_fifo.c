/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * FIFOs, of the kernel or STREAMS ones: the same calls, compiled and linked
 * twice.  The name is gone when the channel is open, so that none is left
 * however the worker ends.
 */
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens both ends: a reader that does not wait for a writer, and a writer. */
static int
open_ends(struct channel *channel, const char *path)
{
	int rfd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int wfd = rfd == -1 ? -1 : open(path, O_WRONLY | O_CLOEXEC);
	int error;

	channel_set_fds(channel, -1, wfd, rfd, -1);
	if (wfd != -1 && fcntl(rfd, F_SETFL, 0) == 0)
		return 0;
	error = errno;
	end_close_fds(&channel->ends[0]);
	end_close_fds(&channel->ends[1]);
	errno = error;
	return -1;
}

int
fifo_open(struct channel *channel, void (*announce)(const char *path))
{
	const char *tmp = getenv("TMPDIR");
	char directory[512], path[sizeof(directory) + 8];
	int ret = -1, error;

	(void)snprintf(directory, sizeof(directory), "%s/strbench-XXXXXX",
		tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(directory) == NULL)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/fifo", directory);
	if (announce != NULL)
		announce(path);
	if (mkfifo(path, 0600) == 0)
		ret = open_ends(channel, path);
	error = errno;
	(void)unlink(path);
	(void)rmdir(directory);
	errno = error;
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Uses a device, for which streamsd is started.  Exit status: 0 when the
 * device could be opened, else the errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
main(void)
{
	int fd = open("/dev/streams/loop/7", O_RDWR);

	if (fd < 0)
		return errno;
	return close(fd) != 0;
}

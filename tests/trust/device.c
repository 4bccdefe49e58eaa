/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Uses a device, for which streamsd is started.  Exit status: 0 when the
 * device could be opened.
 */
#include <fcntl.h>
#include <unistd.h>

int
main(void)
{
	int fd = open("/dev/streams/loop/7", O_RDWR);

	return fd < 0 || close(fd) != 0;
}

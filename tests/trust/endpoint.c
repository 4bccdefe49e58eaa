/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Opens a transport endpoint.  Exit status: 0 when it could, the errno when
 * t_errno is TSYSERR, else 200 and t_errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <xti.h>

int
main(void)
{
	int fd = t_open("/dev/ticotsord", O_RDWR, NULL);

	if (fd < 0)
		return t_errno == TSYSERR ? errno : 200 + t_errno;
	return t_close(fd) != 0;
}

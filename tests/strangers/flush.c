/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* M_FLUSH on a pipe with pipemod: what one end writes, it can take back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <stropts.h>

#define CHECK(e) do { if (!(e)) { perror(#e); exit(1); } } while (0)

int
main()
{
	char buf[16];
	int fds[2], n;

	CHECK(pipe(fds) == 0);
	CHECK(ioctl(fds[1], I_PUSH, "pipemod") == 0);
	CHECK(fcntl(fds[0], F_SETFL, O_NDELAY | O_RDWR) >= 0);
	CHECK(fcntl(fds[1], F_SETFL, O_NONBLOCK | O_RDWR) >= 0);
	CHECK(write(fds[0], "mine", 4) == 4);
	CHECK(write(fds[1], "yours", 5) == 5);
	CHECK(ioctl(fds[0], I_FLUSH, FLUSHW) == 0);
	CHECK(ioctl(fds[1], I_NREAD, &n) == 0 && n == 0);
	CHECK(ioctl(fds[0], I_NREAD, &n) == 1 && n == 5);
	CHECK(ioctl(fds[0], I_FLUSH, FLUSHR) == 0);
	CHECK(ioctl(fds[0], I_NREAD, &n) == 0 && n == 0);
	CHECK(read(fds[1], buf, sizeof(buf)) == -1 && errno == EAGAIN);
	CHECK(ioctl(fds[0], I_FLUSH, 4) == -1 && errno == EINVAL);
	return 0;
}

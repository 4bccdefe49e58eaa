/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Pushes tally onto a pipe and asks what it has counted. */
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

#include "tally.h"

int
main(void)
{
	struct tally t;
	struct strioctl ic = {TALLY_GET, 0, 0, (char *)&t};
	char buf[64];
	int fd[2];

	if (pipe(fd) != 0) {
		perror("pipe");
		return 1;
	}
	if (ioctl(fd[0], I_PUSH, "tally") != 0) {
		perror("I_PUSH tally");
		return 1;
	}
	if (write(fd[0], "hello", 5) != 5 || write(fd[0], "world!", 6) != 6 ||
	    write(fd[1], "hi", 2) != 2 || read(fd[0], buf, sizeof(buf)) != 2) {
		perror("traffic");
		return 1;
	}
	if (ioctl(fd[0], I_STR, &ic) < 0) {
		perror("TALLY_GET");
		return 1;
	}
	printf("written %ld in %ld, read %ld in %ld\n", t.bytes[0], t.msgs[0],
		t.bytes[1], t.msgs[1]);
	return t.bytes[0] != 11 || t.msgs[0] != 2 || t.bytes[1] != 2 ||
		t.msgs[1] != 1;
}

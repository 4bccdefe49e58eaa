/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * stuck - writes into a pipe that is not read, until flow control stops it.
 */
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

int
main(void)
{
	char block[4096];
	int fd[2];

	if (pipe(fd) < 0) {
		perror("pipe");
		return 1;
	}
	memset(block, 'x', sizeof(block));
	while (write(fd[0], block, sizeof(block)) > 0)
		;
	return 0;
}

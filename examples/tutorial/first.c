/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * first - a pipe whose two ends both read and write.
 */
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

int
main(void)
{
	char buf[64];
	ssize_t n;
	int fd[2];

	if (pipe(fd) < 0) {
		perror("pipe");
		return 1;
	}
	printf("a stream: %s\n", isastream(fd[0]) == 1 ? "yes" : "no");

	/* from end 0 to end 1 */
	write(fd[0], "question", 8);
	n = read(fd[1], buf, sizeof(buf));
	printf("end 1 reads: %.*s\n", (int)n, buf);

	/* and back, through the same two descriptors */
	write(fd[1], "answer", 6);
	n = read(fd[0], buf, sizeof(buf));
	printf("end 0 reads: %.*s\n", (int)n, buf);

	/* when the last descriptor of an end is closed, the other reads 0 */
	close(fd[1]);
	n = read(fd[0], buf, sizeof(buf));
	printf("end 0 reads %zd bytes\n", n);
	return 0;
}

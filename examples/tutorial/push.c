/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * push - put a module into an open pipe, speak to it, and take it out.
 */
#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

#include "tally.h" /* of the module: examples/module-pass */

int
main(void)
{
	struct tally t;
	struct strioctl ic = {.ic_cmd = TALLY_GET, .ic_dp = (char *)&t};
	char name[FMNAMESZ + 1], buf[64];
	int fd[2];

	if (pipe(fd) < 0 || ioctl(fd[0], I_PUSH, "tally") < 0) {
		perror("I_PUSH tally");
		return 1;
	}
	ioctl(fd[0], I_LOOK, name);
	printf("on top of end 0: %s\n", name);

	/* it sees what passes, in both directions */
	write(fd[0], "hello", 5);
	write(fd[1], "good morning", 12);
	read(fd[0], buf, sizeof(buf));

	/* I_STR sends a command down; the module answers it */
	if (ioctl(fd[0], I_STR, &ic) < 0) {
		perror("TALLY_GET");
		return 1;
	}
	printf("written %ld bytes, read %ld\n", t.bytes[0], t.bytes[1]);

	ioctl(fd[0], I_POP, 0);
	printf("then: %s\n", ioctl(fd[0], I_LOOK, name) < 0 ? "no module" : name);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A message of band 3 overtakes one of band 0. */

#include <stdio.h>
#include <stropts.h>
#include <unistd.h>

int
main(void)
{
	struct strbuf low = { .len = 3, .buf = "low" };
	struct strbuf high = { .len = 4, .buf = "high" };
	int fd[2], i;

	if (pipe(fd) == -1 || putpmsg(fd[0], NULL, &low, 0, MSG_BAND) == -1 ||
	    putpmsg(fd[0], NULL, &high, 3, MSG_BAND) == -1) {
		perror("band");
		return 1;
	}
	for (i = 0; i < 2; i++) {
		char text[16];
		struct strbuf in = { .maxlen = sizeof text, .buf = text };
		int band = 0, flags = MSG_ANY;

		if (getpmsg(fd[1], NULL, &in, &band, &flags) == -1) {
			perror("band");
			return 1;
		}
		printf("%d %.*s\n", band, in.len, text);
	}
	return 0;
}

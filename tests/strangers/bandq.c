/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A queue by bands: getpmsg(2) takes the highest first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <stropts.h>

int
main()
{
	static int order[] = { 0, 3, 1, 3, 0, 2 };

	char out[16], c;
	struct strbuf dat;
	int fds[2], i, band, flags, n = 0;

	if (pipe(fds) < 0) {
		perror("pipe");
		exit(1);
	}
	for (i = 0; i < 6; i++) {
		c = 'a' + i;
		dat.buf = &c;
		dat.len = 1;
		if (putpmsg(fds[1], NULL, &dat, order[i], MSG_BAND) < 0) {
			perror("putpmsg");
			exit(1);
		}
	}
	if (ioctl(fds[0], I_CKBAND, 2) != 1 || ioctl(fds[0], I_CKBAND, 5) != 0) {
		fprintf(stderr, "I_CKBAND\n");
		exit(1);
	}
	if (ioctl(fds[0], I_GETBAND, &band) < 0 || band != 3) {
		fprintf(stderr, "I_GETBAND %d\n", band);
		exit(1);
	}
	while (n < 6) {
		dat.buf = &out[n];
		dat.maxlen = 1;
		band = 0;
		flags = MSG_ANY;
		if (getpmsg(fds[0], NULL, &dat, &band, &flags) < 0) {
			perror("getpmsg");
			exit(1);
		}
		if (flags != MSG_BAND || band != order[out[n] - 'a']) {
			fprintf(stderr, "flags %d band %d\n", flags, band);
			exit(1);
		}
		n++;
	}
	if (memcmp(out, "bdfcae", 6) != 0) {
		fprintf(stderr, "got %.6s, not bdfcae\n", out);
		exit(1);
	}
	return 0;
}

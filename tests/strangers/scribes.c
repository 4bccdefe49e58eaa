/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What is logged comes to the scribe module (kit/scribe.c), by all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/wait.h>
#include <unistd.h>

#define SC_HEARD (('h' << 8) | 1)
#define SC_SAY	 (('h' << 8) | 2)
#define SC_DEAF	 (('h' << 8) | 3)
#define SC_WHICH (('h' << 8) | 4)

static void expect(int fd, int cmd, int value, int line)
{
	struct strioctl s = { cmd, 0, 0, NULL };
	int r = ioctl(fd, I_STR, &s);

	if (r != value) {
		fprintf(stderr, "line %d: %d, not %d (%s)\n", line, r, value,
		    strerror(errno));
		exit(1);
	}
}
#define EXPECT(fd, cmd, value) expect(fd, cmd, value, __LINE__)

int main(void)
{
	static char big[250];
	struct strbuf d;
	int p[2], o[2], st, flags = 0;

	if (pipe(p) < 0 || pipe(o) < 0 || ioctl(p[0], I_PUSH, "scribe") < 0 ||
	    ioctl(o[0], I_PUSH, "scribe") < 0) {
		perror("scribe");
		return 1;
	}
	EXPECT(p[0], SC_WHICH, 1);
	EXPECT(o[0], SC_WHICH, 2);
	EXPECT(p[0], SC_HEARD, 0);
	EXPECT(p[0], SC_SAY, 1);
	EXPECT(p[0], SC_HEARD, 142);
	if (fork() == 0) {
		EXPECT(o[0], SC_SAY, 1);
		EXPECT(o[0], SC_SAY, 1);
		exit(0);
	}
	wait(&st);
	if (st != 0)
		return 1;
	EXPECT(o[0], SC_HEARD, 342);
	EXPECT(p[0], SC_DEAF, 1);
	EXPECT(p[0], SC_SAY, 1);
	EXPECT(o[0], SC_HEARD, 342);

	/* the second one's packets have another greatest size */
	if (write(p[0], big, sizeof big) != sizeof big ||
	    write(o[0], big, sizeof big) != sizeof big)
		return 2;
	d.buf = big;
	d.maxlen = sizeof big;
	if (getmsg(p[1], NULL, &d, &flags) != 0 || d.len != 250)
		return 3;
	if (getmsg(o[1], NULL, &d, &flags) != 0 || d.len != 100) {
		fprintf(stderr, "%d bytes\n", d.len);
		return 4;
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* A client of the Solaris module kit/tagger.c. */
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define TAG_SET		(('T' << 8) | 200)
#define TAG_TEXT	(('T' << 8) | 201)

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static int
istr(int fd, int cmd, char *dp, int *lenp)
{
	struct strioctl s;
	int r;

	s.ic_cmd = cmd;
	s.ic_timout = INFTIM;
	s.ic_len = *lenp;
	s.ic_dp = dp;
	r = ioctl(fd, I_STR, &s);
	*lenp = s.ic_len;
	return (r);
}

static void
sees(int fd, const char *want)
{
	char buf[128];
	int n;

	n = read(fd, buf, sizeof (buf));
	if (n != (int)strlen(want) || memcmp(buf, want, n) != 0) {
		fprintf(stderr, "read %d bytes, not \"%s\"\n", n, want);
		exit(1);
	}
}

int
main(void)
{
	char name[FMNAMESZ + 1], text[64];
	int fd[2], len, i, st;
	pid_t pid;

	if (pipe(fd) < 0)
		fail("pipe");
	if (ioctl(fd[0], I_PUSH, "tagger") < 0)
		fail("I_PUSH tagger");
	if (ioctl(fd[0], I_LOOK, name) < 0 || strcmp(name, "tagger") != 0)
		fail("I_LOOK");
	if (ioctl(fd[0], I_FIND, "tagger") != 1)
		fail("I_FIND");
	write(fd[0], "one", 3);
	sees(fd[1], "tag one");
	strcpy(text, "label");
	len = 5;
	if (istr(fd[0], TAG_SET, text, &len) != 0)
		fail("TAG_SET");
	len = 0;
	if (istr(fd[0], TAG_SET, text, &len) != -1 || errno != EINVAL)
		fail("TAG_SET without data");
	if (ioctl(fd[0], TAG_SET, 0) != -1 || errno != EINVAL)
		fail("TAG_SET, transparent");
	/* another process, and the same module there */
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 10; i++)
			if (write(fd[0], "two", 3) != 3)
				_exit(1);
		_exit(0);
	}
	if (waitpid(pid, &st, 0) != pid || st != 0)
		fail("the child");
	for (i = 0; i < 10; i++) {
		ioctl(fd[1], I_SRDOPT, RMSGN);
		sees(fd[1], "label two");
	}
	len = 0;
	if (istr(fd[0], TAG_TEXT, text, &len) != 7 || len != 10 ||
	    strcmp(text, "label: 11") != 0)
		fail("TAG_TEXT");
	if (ioctl(fd[0], I_POP, 0) < 0)
		fail("I_POP");
	write(fd[0], "three", 5);
	sees(fd[1], "three");
	return (0);
}

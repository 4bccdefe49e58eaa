/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A canonical line discipline (kit/cooked.c), and typists who are killed in
 * the middle of a line: what they had typed is the module's, which goes on.
 */
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <termio.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, errno %d\n", __LINE__, #x, errno); \
	exit(1); } } while (0)

#define CK_HOLD	(('k' << 8) | 1)
#define CK_GIVE	(('k' << 8) | 2)

static int p[2];	/* p[0]: the terminal, p[1]: the keyboard */
static char *self;

static void
str(int cmd)
{
	struct strioctl ic = { cmd, 5, 0, NULL };

	CHECK(ioctl(p[0], I_STR, &ic) == 0);
}

static void
type(const char *s)
{
	CHECK(write(p[1], s, strlen(s)) == (ssize_t)strlen(s));
}

static void
line(const char *want)
{
	char buf[256];
	ssize_t n = read(p[0], buf, sizeof buf - 1);

	CHECK(n >= 0);
	buf[n] = '\0';
	if (strcmp(buf, want) != 0) {
		fprintf(stderr, "read %s not %s\n", buf, want);
		exit(1);
	}
}

/* Who comes into the domain sees to those who have died in it. */
static void
newcomer(void)
{
	pid_t pid = fork();
	int st, i;

	if (pid == 0) {
		execl(self, self, "newcomer", (char *)NULL);
		_exit(1);
	}
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);
	for (i = 0; i < 200; i++)	/* blocks are used again */
		CHECK(write(p[0], "screen", 6) == 6);
	CHECK(ioctl(p[1], I_FLUSH, FLUSHR) == 0);
}

/* A process types this, perhaps waits in an ioctl, and is killed. */
static void
typist(const char *s, int asleep)
{
	struct termio tio;
	int fd[2], st;
	char c;
	pid_t pid;

	CHECK(pipe(fd) == 0);
	if ((pid = fork()) == 0) {
		type(s);
		CHECK(write(fd[1], "x", 1) == 1);
		if (asleep) {
			struct strioctl ic = { TCSETAW, INFTIM, sizeof tio,
				(char *)&tio };

			(void)ioctl(p[0], I_STR, &ic);
		}
		for (;;)
			pause();
	}
	CHECK(read(fd[0], &c, 1) == 1);
	if (asleep)
		usleep(20000);	/* lint-ok: most likely it is asleep then */
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &st, 0) == pid);
	close(fd[0]);
	close(fd[1]);
	newcomer();
}

int
main(int argc, char **argv)
{
	struct strioctl ic;
	struct termio a, b;
	struct pollfd pfd;
	int i;

	self = argv[0];
	CHECK(pipe(p) == 0);
	if (argc > 1)
		return (0);
	CHECK(ioctl(p[0], I_PUSH, "cooked") == 0);
	CHECK(ioctl(p[0], I_SRDOPT, RMSGN) == 0);

	/* lines */
	type("one\ntw");
	line("one\n");
	pfd.fd = p[0];
	pfd.events = POLLIN;
	CHECK(poll(&pfd, 1, 0) == 0);
	type("o#o\nxyz@th\\#ree#\\@\n");
	line("two\n");
	line("th#re@\n");
	type("end\004\004");
	line("end");
	line("");

	/* termio: by I_STR, plainly, to an address that is not one */
	memset(&a, 0, sizeof a);
	CHECK(ioctl(p[0], TCGETA, &a) == 0 && (a.c_cflag & CBAUD) == B9600);
	a.c_cflag = B300 | CS7;
	a.c_cc[VKILL] = 'U' & 037;
	CHECK(ioctl(p[0], TCSETA, &a) == 0);
	memset(&b, 0, sizeof b);
	ic.ic_cmd = TCGETA;
	ic.ic_timout = 0;
	ic.ic_len = 0;
	ic.ic_dp = (char *)&b;
	CHECK(ioctl(p[0], I_STR, &ic) == 0 && ic.ic_len == sizeof b);
	CHECK(memcmp(&a, &b, sizeof a) == 0);
	b.c_cflag = B1200 | CS8;
	ic.ic_cmd = TCSETA;
	CHECK(ioctl(p[0], I_STR, &ic) == 0 && ic.ic_len == 0);
	ic.ic_len = 3;
	CHECK(ioctl(p[0], I_STR, &ic) == -1 && errno == EINVAL);
	CHECK(ioctl(p[0], TCGETA, &a) == 0 && memcmp(&a, &b, sizeof a) == 0);
	CHECK(ioctl(p[0], TCSETA, (void *)8) == -1 && errno == EFAULT);
	CHECK(ioctl(p[0], TCGETA, (void *)8) == -1 && errno == EFAULT);
	CHECK(ioctl(p[0], TCGETA, &a) == 0 && memcmp(&a, &b, sizeof a) == 0);

	/* half a line, and the typist is killed; so is the next */
	typist("to be, or", 0);
	typist(" not to be", 0);
	type(": that\n");
	line("to be, or not to be: that\n");

	/* lines that wait, of many who are no more */
	str(CK_HOLD);
	for (i = 0; i < 5; i++) {
		char s[32];

		snprintf(s, sizeof s, "line %d\nunfin", i);
		typist(s, 0);
		type("ished@");
	}
	str(CK_GIVE);
	for (i = 0; i < 5; i++) {
		char s[32];

		snprintf(s, sizeof s, "line %d\n", i);
		line(s);
	}

	/* an ioctl that waits, whose caller is killed; another takes its place */
	str(CK_HOLD);
	typist("", 1);
	typist("and", 1);
	str(CK_GIVE);
	type(" so on\n");
	line("and so on\n");

	/* what is left when the module goes */
	str(CK_HOLD);
	typist("a\nb\nc", 1);
	CHECK(ioctl(p[0], I_POP, 0) == 0);
	type("raw");
	line("raw");
	return (0);
}

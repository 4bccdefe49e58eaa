/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Modules and drivers for AIX, HP-UX and OSF/1 (kit/aix*.c, kit/hp*.c,
 * kit/osfmark.c, kit/cell*.c), in several processes; and tables that are no
 * good (kit/hostile.c).
 */
#include <sys/types.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "%d, line %d: %s, errno %d\n", (int)getpid(), \
	    __LINE__, #x, errno); \
	exit(1); } } while (0)

#define COM "/dev/streams/aixcom/"

static char *self;

static int
str(int fd, int cmd, void *p, int len)
{
	struct strioctl ic;

	ic.ic_cmd = cmd;
	ic.ic_timout = 5;
	ic.ic_len = len;
	ic.ic_dp = (char *)p;
	return ioctl(fd, I_STR, &ic);
}

/* What comes out at @to when @text is written to @from? */
static char *
through(int from, int to, const char *text)
{
	static char b[64];
	int n;

	CHECK(write(from, text, strlen(text)) == (ssize_t)strlen(text));
	n = read(to, b, sizeof b - 1);
	CHECK(n > 0);
	b[n] = '\0';
	return b;
}

/* A process that knows nothing of this one but the domain. */
static void
another(const char *what, const char *arg)
{
	pid_t pid = fork();
	int st;

	CHECK(pid != -1);
	if (pid == 0) {
		execl(self, self, what, arg, (char *)0);
		_exit(99);
	}
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);
}

static void
aix_module(int again)
{
	int p[2], n[3], i;

	CHECK(pipe(p) == 0);
	CHECK(ioctl(p[0], I_PUSH, "aixcaps") == 0);
	for (i = 1; i <= 20; i++)
		CHECK(strcmp(through(p[0], p[1], "hello"),
		    i % 10 ? "HELLO" : "hello") == 0);
	CHECK(strcmp(through(p[1], p[0], "hello"), "hello") == 0);
	CHECK(str(p[0], ('A' << 8) | 1, n, sizeof n) == 0);
	CHECK(n[0] == 1);		/* configured once, in whatever process */
	CHECK(n[1] >= 1 + again && n[2] >= 1 + again);
	CHECK(ioctl(p[0], I_POP, 0) == 0);
	CHECK(strcmp(through(p[0], p[1], "hello"), "hello") == 0);
	close(p[0]);
	close(p[1]);
}

static void
aix_driver_elsewhere(const char *minor_that_is_open)
{
	char path[64];
	struct stat st;
	int fd, n[2];

	sprintf(path, COM "%s", minor_that_is_open);
	CHECK(open(path, O_RDWR) == -1 && errno == EBUSY);
	fd = open("/dev/streams/clone/aixcom", O_RDWR);
	CHECK(fd != -1);
	CHECK(strcmp(through(fd, fd, "there"), "there") == 0);
	CHECK(str(fd, ('A' << 8) | 2, n, sizeof n) == 0);
	CHECK(n[1] == (int)geteuid());
	CHECK(fstat(fd, &st) == 0 && S_ISCHR(st.st_mode));
	exit(0);
}

static void
aix_driver(void)
{
	struct stat st[3];
	char b[16];
	int fd[3], i;

	for (i = 0; i < 3; i++) {
		fd[i] = open("/dev/streams/clone/aixcom", O_RDWR);
		CHECK(fd[i] != -1);
		CHECK(fstat(fd[i], &st[i]) == 0);
	}
	CHECK(st[0].st_rdev != st[1].st_rdev && st[1].st_rdev != st[2].st_rdev
	    && st[0].st_rdev != st[2].st_rdev);
	/* what the driver says in u.u_error, and says not */
	CHECK(open("/dev/streams/clone/aixcom", O_RDWR) == -1);
	CHECK(errno == EAGAIN);
	CHECK(open(COM "0", O_RDWR) == -1 && errno == EBUSY);
	CHECK(open(COM "3", O_RDWR | O_NONBLOCK) == -1 && errno == EACCES);
	CHECK(open(COM "4", O_RDWR) == -1 && errno == ENXIO);
	i = open(COM "3", O_RDWR);
	CHECK(i != -1);
	CHECK(strcmp(through(i, i, "operator"), "operator") == 0);
	CHECK(close(i) == 0);
	close(fd[1]);
	another("aixcom", "0");
	fd[1] = open(COM "1", O_RDWR);
	CHECK(fd[1] != -1);
	for (i = 0; i < 3; i++) {
		sprintf(b, "line %d", i);
		CHECK(strcmp(through(fd[i], fd[i], b), b) == 0);
		CHECK(ioctl(fd[i], I_PUSH, "hprev") == 0);
		CHECK(strcmp(through(fd[i], fd[i], "abc"), "cba") == 0);
		CHECK(close(fd[i]) == 0);
	}
}

static void
hpux(void)
{
	int a, b, n = 0;
	struct stat st;

	a = open("/dev/streams/hplo/0", O_RDWR);
	b = open("/dev/streams/clone/hplo", O_RDWR);
	CHECK(a != -1 && b != -1);
	CHECK(fstat(a, &st) == 0 && (st.st_rdev & 0xff) != 0);
	CHECK(strcmp(through(a, a, "to and fro"), "to and fro") == 0);
	CHECK(ioctl(a, I_PUSH, "hprev") == 0);
	CHECK(strcmp(through(a, a, "to and fro"), "orf dna ot") == 0);
	CHECK(str(a, ('H' << 8) | 1, &n, sizeof n) == 0 && n == 1);
	CHECK(strcmp(through(b, b, "here"), "here") == 0);
	close(a);
	close(b);
}

static void
osf(void)
{
	int fd = open("/dev/streams/clone/osfmark", O_RDWR);

	CHECK(fd != -1);
	CHECK(strcmp(through(fd, fd, "abcdef"), "a=cdef") == 0);
	CHECK(ioctl(fd, I_PUSH, "osfmark") == 0);
	CHECK(strcmp(through(fd, fd, "abcdef"), "<=cde>") == 0);
	/* SVR3's close of a module returns nothing in particular */
	CHECK(ioctl(fd, I_POP, 0) == 0);
	close(fd);
}

/* Two modules of one group: never two threads in them. */
#define NCELL 2000
static void
cells(void)
{
	int a[2], b[2], n[2], fd, i;
	void *note;
	pid_t kid[2];
	int st;

	CHECK(pipe(a) == 0 && pipe(b) == 0);
	CHECK(ioctl(a[0], I_PUSH, "cella") == 0);
	CHECK(ioctl(b[0], I_PUSH, "cellb") == 0);
	CHECK(str(a[0], ('c' << 8) | 1, &note, sizeof note) == 0);
	CHECK(str(b[0], ('c' << 8) | 2, &note, sizeof note) == 0);
	for (i = 0; i < 2; i++) {
		kid[i] = fork();
		CHECK(kid[i] != -1);
		if (kid[i] == 0) {
			fd = i ? a[0] : b[0];
			for (i = 0; i < NCELL; i++)
				CHECK(write(fd, "x", 1) == 1);
			/* the answer comes behind all that */
			CHECK(str(fd, ('c' << 8) | 3, n, sizeof n) == 0);
			_exit(0);
		}
	}
	for (i = 0; i < 2; i++)
		CHECK(waitpid(kid[i], &st, 0) == kid[i] && st == 0);
	CHECK(str(a[0], ('c' << 8) | 3, n, sizeof n) == 0);
	CHECK(n[1] == 2 * NCELL);
	CHECK(n[0] == 0);
	for (i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* Is the table of kit/hostile.c refused, for a reason that is told? */
static void
hostile(int wrong, const char *reason)
{
	static char text[4096];
	char name[16], path[] = "/tmp/hostile-XXXXXX";
	int p[2], fd, err, old, n, pushed;

	sprintf(name, "wrong%d", wrong);
	CHECK(pipe(p) == 0);
	fd = mkstemp(path);
	CHECK(fd != -1);
	CHECK(unlink(path) == 0);
	fflush(stderr);
	old = dup(2);
	CHECK(dup2(fd, 2) == 2);
	pushed = ioctl(p[0], I_PUSH, name);
	err = errno;
	CHECK(dup2(old, 2) == 2);
	close(old);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	if (pushed != -1 || err != EINVAL || strstr(text, reason) == NULL) {
		fprintf(stderr, "%s: %d, errno %d, not \"%s\" but \"%s\"\n",
		    name, pushed, err, reason, text);
		exit(1);
	}
	close(fd);
	/* and there is nothing left of it */
	CHECK(ioctl(p[0], I_LOOK, name) == -1 && errno == EINVAL);
	CHECK(strcmp(through(p[0], p[1], "as ever"), "as ever") == 0);
	close(p[0]);
	close(p[1]);
}

static void
no_good(void)
{
	int p[2];

	CHECK(pipe(p) == 0);
	CHECK(ioctl(p[0], I_PUSH, "hostile") == 0);
	CHECK(ioctl(p[0], I_PUSH, "nullmod") == 0);
	close(p[0]);
	close(p[1]);
	hostile(1, "no name of 1 to 8");
	hostile(2, "no name of 1 to 8");
	hostile(3, "no name of 1 to 8");
	hostile(4, "streamtab");
	hostile(5, "streamtab");
	hostile(6, "streamtab");
	hostile(7, "streamtab");
	hostile(8, "level 77");
	hostile(9, "level -1");
	hostile(10, "no group");
	hostile(11, "no group");
	hostile(12, "flags 0x40000000");
	hostile(13, "a command that is none");
	hostile(14, "without a table");
	hostile(15, "without a table");
	hostile(16, "STR_IS_DEVICE and STR_IS_MODULE");
	hostile(17, "STR_IS_DEVICE and STR_IS_MODULE");
	hostile(18, "flags 0x4000");
	hostile(19, "no group");
	hostile(20, "taken");
	hostile(21, "wrong21_config() returns 5");
	hostile(22, "registered nothing");
	hostile(23, "not registered a module of that name");
	hostile(24, "wrong24_config() returns 1");
	hostile(25, "without a streamadm");
	hostile(26, "group of no name");
	/* whose name others tried to take, or to take away */
	CHECK(pipe(p) == 0);
	CHECK(ioctl(p[0], I_PUSH, "nullmod") == 0);
	CHECK(strcmp(through(p[0], p[1], "as ever"), "as ever") == 0);
	CHECK(ioctl(p[0], I_PUSH, "hostile") == 0);
	close(p[0]);
	close(p[1]);
}

int
main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2 && strcmp(argv[1], "aixcom") == 0)
		aix_driver_elsewhere(argv[2]);
	if (argc > 1 && strcmp(argv[1], "aixcaps") == 0) {
		aix_module(1);
		return 0;
	}
	aix_module(0);
	another("aixcaps", NULL);
	aix_driver();
	hpux();
	osf();
	cells();
	no_good();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program that uses a pipe, for tests that are no members themselves.
 *
 *	use			make one, carry a message through a module
 *	use crash		use many, then be killed
 *	use stay		use one, say so on 1, use another when 0 says so
 *	use inherit COUNT	make COUNT; the time of a child's first call, in ms
 *	use locked		mlockall(MCL_FUTURE), then one: KiB locked by it
 *	use chroot DIR		make one, chroot, use it in a child
 *	use device		use one, and open a device
 *	use time		make one; how long that took, in ms
 *	use hand		as crash, but another program keeps an end
 *
 * Exit status: 0, the errno of pipe(), or 200 and above for another failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <stropts.h>

static int
use_these(const int fd[2])
{
	char buf[8];

	if (write(fd[1], "record", 6) != 6 || read(fd[0], buf, 8) != 6 ||
	    memcmp(buf, "record", 6) != 0)
		return 201;
	return 0;
}

static int
use(void)
{
	int fd[2];

	if (pipe(fd) == -1)
		return errno;
	if (isastream(fd[0]) != 1 || ioctl(fd[0], I_PUSH, "nullmod") == -1)
		return 200;
	return use_these(fd);
}

static int
crash(void)
{
	int fd[2], err;

	for (int i = 0; i < 20; i++)
		if (pipe(fd) == -1 || write(fd[i % 2], "left over", 9) != 9)
			return 202;
	err = use();
	if (err == 0)
		raise(SIGKILL);
	return err;
}

static int
stay(void)
{
	int err = use();
	char c = (char)err;

	if (write(1, &c, 1) != 1 || read(0, &c, 1) != 1)
		return 203;
	return err != 0 ? err : use();
}

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* @fn(@fd) in a child. */
static int
in_child(int (*fn)(const int fd[2]), const int fd[2])
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fn(fd));
	if (pid == -1 || waitpid(pid, &status, 0) != pid)
		return 204;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 205;
}

static int
first_call(const int fd[2])
{
	double at = now_ms();
	int err = use_these(fd);

	printf("%.1f\n", now_ms() - at);
	fflush(stdout);
	return err;
}

static int
inherit(int count)
{
	int fd[2];

	for (int i = 0; i < count; i++)
		if (pipe(fd) == -1)
			return errno;
	return in_child(first_call, fd);
}

static long
locked_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		(void)sscanf(line, "VmLck: %ld", &kib);
	if (f != NULL)
		fclose(f);
	return kib;
}

static int
locked(void)
{
	long before;
	int err;

	if (mlockall(MCL_FUTURE) == -1)
		return 206;
	before = locked_kib();
	err = use();
	printf("%ld\n", locked_kib() - before);
	return err;
}

static int
elsewhere(const char *dir)
{
	int fd[2], err;

	if (pipe(fd) == -1)
		return errno;
	if (chroot(dir) == -1 || chdir("/") == -1)
		return 207;
	err = in_child(use_these, fd);
	return err != 0 ? err : use_these(fd);
}

static int
timed(void)
{
	double at = now_ms();
	int fd[2];

	if (pipe(fd) == -1)
		return errno;
	printf("%.2f\n", now_ms() - at);
	return 0;
}

static int
device(void)
{
	int err = use();
	int fd = err == 0 ? open("/dev/streams/loop/7", O_RDWR) : -1;

	if (err == 0 && fd < 0)
		return errno;
	return err;
}

/* A program that knows nothing of Streams keeps an end until 0 is closed. */
static int
hand(void)
{
	int fd[2];

	if (pipe(fd) == -1)
		return errno;
	if (fork() == 0) {
		(void)dup2(fd[0], 3);
		execlp("cat", "cat", NULL);
		_exit(127);
	}
	return crash();
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct rlimit no_core = { 0, 0 };

	(void)setrlimit(RLIMIT_CORE, &no_core);
	if (strcmp(what, "crash") == 0)
		return crash();
	if (strcmp(what, "stay") == 0)
		return stay();
	if (strcmp(what, "inherit") == 0 && argc == 3)
		return inherit(atoi(argv[2]));
	if (strcmp(what, "locked") == 0)
		return locked();
	if (strcmp(what, "time") == 0)
		return timed();
	if (strcmp(what, "device") == 0)
		return device();
	if (strcmp(what, "hand") == 0)
		return hand();
	if (strcmp(what, "chroot") == 0 && argc == 3)
		return elsewhere(argv[2]);
	return argc == 1 ? use() : 208;
}

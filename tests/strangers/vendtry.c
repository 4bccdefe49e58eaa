/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Everything that the ioctls of the vend driver (kit/vend.c) can meet. */
#include <sys/types.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <time.h>
#include <unistd.h>
#include "kit/vend.h"

static int fd, failures;

static void want(int line, const char *what, long got, long expected, int err)
{
	int e = errno;

	if (got == expected && (got != -1 || e == err))
		return;
	fprintf(stderr, "line %d: %s is %ld, not %ld; errno %d (%s), not %d\n",
	    line, what, got, expected, e, strerror(e), err);
	failures++;
}
#define OK(call, value)	want(__LINE__, #call, (long)(call), (long)(value), 0)
#define NO(call, err)	want(__LINE__, #call, (long)(call), -1L, err)

static int str(int cmd, int timeout, void *dp, int len)
{
	struct strioctl s;
	int r;

	s.ic_cmd = cmd;
	s.ic_timout = timeout;
	s.ic_dp = dp;
	s.ic_len = len;
	r = ioctl(fd, I_STR, &s);
	return r;
}

static int busy(void)
{
	int n = -1;

	if (str(V_BUSY, 0, &n, sizeof n) != 0)
		return -1;
	return n;
}

static void nothing(int sig)
{
}

int main(void)
{
	struct vsum sum = { 40, 2, 0 };
	struct vcaps caps;
	struct strioctl s;
	struct sigaction sa;
	char text[9000], pair[16], *page;
	struct timespec t0, t1;
	int i, st, v;
	struct itimerval often = { { 0, 30000 }, { 0, 30000 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	if ((fd = open("/dev/streams/clone/vend", O_RDWR)) < 0) {
		perror("vend");
		return 1;
	}

	/* with its data */
	OK(str(V_SUM, 0, &sum, sizeof sum), 0);
	OK(sum.sum, 42);
	NO(str(V_SUM, 0, &sum, sizeof sum - 1), EINVAL);
	NO(str(V_SUM, 0, (void *)16, sizeof sum), EFAULT);
	NO(str(V_SUM, -2, &sum, sizeof sum), EINVAL);
	NO(str(V_SUM, 0, &sum, -1), EINVAL);
	OK(str(V_SUM, INFTIM, &sum, sizeof sum), 0);
	v = EXDEV;
	NO(str(V_FAIL, 0, &v, sizeof v), EXDEV);
	v = 0; /* a refusal without a reason is EINVAL */
	NO(str(V_FAIL, 0, &v, sizeof v), EINVAL);
	v = 77;
	OK(str(V_RVAL, 0, &v, sizeof v), 77);
	NO(str(0x7601 + 98, 0, NULL, 0), EINVAL);
	memcpy(pair, "ab", 2);
	memset(&s, 0, sizeof s);
	s.ic_cmd = V_TWICE;
	s.ic_len = 2;
	s.ic_dp = pair;
	OK(ioctl(fd, I_STR, &s), 2);
	OK(s.ic_len, 4);
	OK(memcmp(pair, "abab", 4), 0);

	/* transparent, one struct there and back */
	sum.a = 1000;
	sum.b = -1;
	OK(ioctl(fd, V_SUM, &sum), 0);
	OK(sum.sum, 999);
	NO(ioctl(fd, V_SUM, (void *)8), EFAULT);
	NO(ioctl(fd, V_SUM, NULL), EFAULT);
	NO(ioctl(fd, V_FAIL, 5), EINVAL);
	OK(ioctl(fd, V_ONE, 5L), 6);
	OK(ioctl(fd, V_ONE, 0L), 1);

	/* transparent, in four steps; longer than one block may be */
	for (i = 0; i < (int)sizeof text; i++)
		text[i] = i % 3 ? 'm' : '.';
	caps.text = text;
	caps.len = sizeof text;
	caps.changed = -1;
	OK(ioctl(fd, V_CAPS, &caps), 6000);
	OK(caps.changed, 6000);
	for (i = 0; i < (int)sizeof text; i++)
		if (text[i] != (i % 3 ? 'M' : '.'))
			break;
	OK(i, sizeof text);
	caps.len = 20000;
	NO(ioctl(fd, V_CAPS, &caps), ERANGE);
	caps.len = 3;
	caps.text = (char *)24;
	NO(ioctl(fd, V_CAPS, &caps), EFAULT);

	/* read-only: the first copy fails on the way out, or the last one */
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	caps.text = strcpy(page, "abc");
	OK(ioctl(fd, V_CAPS, &caps), 3);
	strcpy(page, "abc");
	mprotect(page, 4096, PROT_READ);
	NO(ioctl(fd, V_CAPS, &caps), EFAULT);
	memcpy(page + 4096, &caps, sizeof caps);
	((struct vcaps *)(page + 4096))->text = text;
	mprotect(page + 4096, 4096, PROT_READ);
	NO(ioctl(fd, V_CAPS, page + 4096), EFAULT);
	OK(busy(), 0);

	/* what is not answered ends by time, by a signal, or not at all */
	clock_gettime(CLOCK_MONOTONIC, &t0);
	NO(str(V_SILENT, 1, NULL, 0), ETIME);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	OK(t1.tv_sec > t0.tv_sec, 1);
	memset(&sa, 0, sizeof sa);
	sa.sa_handler = nothing;
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	NO(ioctl(fd, V_SILENT, 0), EINTR);
	NO(str(V_SILENT, INFTIM, NULL, 0), EINTR);
	setitimer(ITIMER_REAL, &never, NULL);
	OK(str(V_RVAL, 0, &v, sizeof v), 77);

	/* several at once: each gets its own answer */
	for (i = 0; i < 4; i++)
		if (fork() == 0) {
			int k;

			for (k = 0; k < 200; k++) {
				sum.a = i * 1000;
				sum.b = k;
				if ((k % 2 ? ioctl(fd, V_SUM, &sum) :
				    str(V_SUM, 0, &sum, sizeof sum)) != 0 ||
				    sum.sum != i * 1000 + k)
					_exit(1);
			}
			_exit(0);
		}
	for (i = 0; i < 4; i++) {
		wait(&st);
		OK(st, 0);
	}
	OK(busy(), 0);

	/* as many clones as there are, and then no more */
	for (i = 1; i < 8; i++)
		if (open("/dev/streams/clone/vend", O_RDWR) < 0)
			break;
	OK(i, 8);
	NO(open("/dev/streams/clone/vend", O_RDWR), ENXIO);
	close(fd);
	fd = open("/dev/streams/clone/vend", O_RDWR);
	OK(fd >= 0, 1);
	OK(busy(), 0);

	/* one that is closed is free, also when a process died just now */
	for (i = 0; i < 300; i++) {
		if (fork() == 0)
			_exit(0);
		wait(&st);
		close(fd);
		fd = open("/dev/streams/clone/vend", O_RDWR);
		if (fd < 0)
			break;
	}
	OK(i, 300);
	return failures != 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the tests of streamsd share.  The program that they start is the test
 * itself: an image that is executed as `streamsd', by any path, runs
 * streamsd's main().
 */
#ifndef DAEMON_FIXTURE_H
#define DAEMON_FIXTURE_H

#include <dirent.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <t.h>

#include "upcalls_test_double.h"

#define MS 1000000ull

int streamsd_main(int argc, char **argv);

STR_CONSTRUCTOR static void
be_streamsd(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (strcmp(slash != NULL ? slash + 1 : argv[0], "streamsd") == 0)
		exit(streamsd_main(argc, argv));
}

static char self[512];

static inline void
setup_in(const char *domain, const char *linger)
{
	struct host_call hc = { .fd = -1 };
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	T_GT(n, 0);
	setenv("STREAMS_DOMAIN", domain, 1);
	setenv("STREAMS_LINGER", linger, 1);
	setenv("STREAMS_DAEMON", self, 1);
	up_enter(&hc);
	host_leave();
}

/* It stays for as long as the test. */
static inline void
setup(void)
{
	setup_in("private", "60000");
}

/* It is read when a process comes: come with another program. */
static inline void
program(const char *path)
{
	T_OK(setenv("STREAMS_DAEMON", path, 1));
	host_daemon_environment();
}

static inline int
ask(void)
{
	struct host_call hc = { .fd = -1 };
	int err;

	up_enter(&hc);
	err = host_daemon();
	host_leave();
	return err;
}

static inline void
want(bool yes)
{
	str_store(up_word(UP_WANTED), yes ? 1ull : 0ull);
}

static inline uint64_t
name(void)
{
	return str_load(&host_shared(host_domain)->daemon);
}

/* Its pid; 0: no process says that it is. */
static inline pid_t
daemon_pid(void)
{
	return name() >> 62 == 2 ? (pid_t)(uint32_t)name() : 0;
}

static inline char
state_of(pid_t pid)
{
	char path[64], buf[512], *p;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, buf, sizeof buf - 1);
		(void)close(fd);
	}
	if (n <= 0)
		return 'X';
	buf[n] = '\0';
	p = strrchr(buf, ')');
	return p != NULL ? p[2] : 'X';
}

static inline bool
gone(pid_t pid)
{
	char c = state_of(pid);
	struct pollfd pfd = { -1, POLLIN, 0 };

	if (c != 'Z')
		return c == 'X';
	/* its other thread may take a moment longer */
	pfd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pfd.fd >= 0) {
		c = poll(&pfd, 1, 0) == 1 ? 'X' : 'S';
		(void)close(pfd.fd);
	}
	return c != 'S';
}

/* Member slots of living daemons. */
static inline int
daemons(void)
{
	uint32_t high = str_load(&host_domain->proc_high);
	int n = 0;

	for (uint32_t i = 0; i < high; i++) {
		struct str_proc *p = &host_domain->proc[i];

		if ((str_load(&p->flags) & STR_PROC_DAEMON) &&
		    str_load(&p->pid) != 0 &&
		    !gone((pid_t)str_load(&p->pid)))
			n++;
	}
	return n;
}

/* A case that passed leaves none behind. */
static inline void
end_daemon(struct t *t)
{
	if (host_domain != NULL && daemon_pid() != 0)
		(void)kill(daemon_pid(), SIGKILL);
}

STR_CONSTRUCTOR static void
end_each(void)
{
	t_after_each(end_daemon);
}

static inline bool
member(pid_t pid)
{
	uint32_t high = str_load(&host_domain->proc_high);

	for (uint32_t i = 0; i < high; i++)
		if (str_load(&host_domain->proc[i].pid) == (uint32_t)pid)
			return true;
	return false;
}

/* What the daemon has done; while nothing is wanted only events make it. */
static inline uint64_t
looks(void)
{
	return str_load(up_word(UP_DIED));
}

/* It has done what starting asks for, and sleeps. */
static inline void
settled(void)
{
	T_SOON(looks() != 0 && state_of(daemon_pid()) == 'S', 5000);
}

static inline void
kill_daemon(void)
{
	pid_t pid = daemon_pid();

	T_GT(pid, 0);
	T_OK(kill(pid, SIGKILL));
	T_SOON(gone(pid), 5000);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Job control: process groups, and stopping the caller's own.
 *
 * A group is orphaned if no member has a parent in another group of the same
 * session, which could continue it.  The kernel ignores stop signals for such a
 * group and does not report that, so a caller would retry for ever.  Therefore
 * we read /proc, only if a process is about to stop.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "user_impl.h"

void
host_job(uint32_t pid, struct host_job *ret_job)
{
	long other = pid != 0 ? sys_call1(SYS_getsid, (int)pid) : 0;

	ret_job->pgrp = (uint32_t)sys_call1(SYS_getpgid, 0);
	ret_job->sid = (uint32_t)sys_call1(SYS_getsid, 0);
	ret_job->other = other > 0 ? (uint32_t)other : 0;
}

/* Parent, group and session of the process with this number. */
static bool
stat_of(const char *pid, int ret[3])
{
	char path[64], buf[512], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	fd = (int)sys_call4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = sys_call3(SYS_read, fd, buf, sizeof buf - 1);
	(void)sys_call1(SYS_close, fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	p = strrchr(buf, ')'); /* a name may contain any */
	return p != NULL &&
	       sscanf(p + 1, " %*c %d %d %d", &ret[0], &ret[1], &ret[2]) == 3;
}

/* Is @pid in @job's group, and has it a parent that could continue it? */
static bool
has_keeper(const char *pid, const struct host_job *job)
{
	int one[3], parent[3];
	char num[16];

	if (pid[0] < '1' || pid[0] > '9' || !stat_of(pid, one) ||
	    one[1] != (int)job->pgrp)
		return false;
	snprintf(num, sizeof num, "%d", one[0]);
	return stat_of(num, parent) && parent[1] != one[1] &&
	       parent[2] == (int)job->sid;
}

static bool
keeps(const char *pid, void *arg)
{
	return has_keeper(pid, arg);
}

static bool
orphaned(struct host_job *job)
{
	return !host_dir_find("/proc", keeps, job);
}

int
host_job_stop(int sig)
{
	struct host_job job;

	if (host_signal_ignored(sig))
		return EPERM;
	host_job(0, &job);
	if (orphaned(&job))
		return EIO;
	return -(int)sys_call2(SYS_kill, -(int)job.pgrp, sig);
}

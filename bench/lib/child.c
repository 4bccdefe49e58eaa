/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
bench_child_bind(pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have gone before the request was made. */
	if (getppid() != parent)
		_exit(1);
}

int
bench_child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) == -1) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

void
bench_child_kill(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	(void)bench_child_wait(pid);
}

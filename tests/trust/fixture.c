/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

#include "fixture.h"

char trust_dir[64];

static void
remove_dir(void)
{
	char cmd[128];

	snprintf(cmd, sizeof cmd, "rm -rf %s", trust_dir);
	if (trust_dir[0] != '\0')
		(void)!system(cmd);
}

void
trust_begin(const char *name)
{
	snprintf(trust_dir, sizeof trust_dir, "/tmp/%s-%d", name, getpid());
	T_OK(mkdir(trust_dir, 0700));
	t_at_end(remove_dir);
	T_OK(setenv("XDG_RUNTIME_DIR", trust_dir, 1));
	T_OK(unsetenv("STREAMS_DOMAIN"));
}

pid_t
trust_start(const char *what, const char *arg, int in, int out,
	unsigned seconds)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		alarm(seconds);
		T_OK(dup2(in, 0));
		T_OK(dup2(out, 1));
		execl(USE, "use", what, arg, NULL);
		_exit(127);
	}
	return pid;
}

int
trust_ended(pid_t pid)
{
	int status;

	T_OK(waitpid(pid, &status, 0));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void
trust_at_work(int via)
{
	char c;

	T_EQ(read(via, &c, 1), 1);
	T_EQ(c, 0);
}

pid_t
trust_stay(int *ret_via, unsigned seconds)
{
	int to[2];
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to));
	pid = trust_start("stay", NULL, to[1], to[1], seconds);
	T_OK(close(to[1]));
	trust_at_work(to[0]);
	*ret_via = to[0];
	return pid;
}

void
trust_finish(pid_t pid, int via)
{
	T_EQ(write(via, "", 1), 1);
	T_EQ(trust_ended(pid), 0);
	T_OK(close(via));
}

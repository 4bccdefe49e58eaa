/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include "names.h"

#include <dirent.h>
#include <stdio.h>

static char dir_[64];
static pid_t owner_;

static void
clean(void)
{
	char path[400];
	struct dirent *e;
	DIR *d;

	if (dir_[0] == '\0' || owner_ != getpid())
		return;
	d = opendir(dir_);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir_, e->d_name);
		(void)fdetach(path);
		(void)unlink(path);
	}
	if (d != NULL)
		closedir(d);
	(void)rmdir(dir_);
	dir_[0] = '\0';
}

const char *
n_path(const char *name)
{
	static char path[8][128];
	static unsigned turn;
	char *p = path[turn++ % 8];

	if (dir_[0] == '\0') {
		snprintf(dir_, sizeof(dir_), "%s/streams-names.XXXXXX",
			getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
		T_NOTNULL(mkdtemp(dir_));
		T_OK(chmod(dir_, 0755));
		owner_ = getpid();
		t_at_end(clean);
	}
	snprintf(p, sizeof(path[0]), "%s/%s", dir_, name);
	return p;
}

const char *
n_file(const char *name)
{
	const char *path = n_path(name);
	int fd = T_OK(open(path, O_CREAT | O_RDWR | O_EXCL, 0600));

	T_OK(close(fd));
	return path;
}

pid_t
n_child(void (*fn)(void *arg), void *arg)
{
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		fn(arg);
		_exit(0);
	}
	return pid;
}

int
n_wait(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   1000 + WTERMSIG(status);
}

bool
n_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

int
n_events(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLPRI};

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Why a program has no domain reaches its user: by strinfo, and on standard
 * error with STREAMS_VERBOSE=1.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <t.h>

/* What @path says on standard error, and its exit status. */
static const char *
says(const char *path, int *ret_status)
{
	static char text[4096];
	size_t len = 0;
	int p[2], status;
	ssize_t n;
	pid_t pid;

	T_OK(pipe(p));
	pid = T_OK(fork());
	if (pid == 0) {
		alarm(60);
		T_OK(dup2(p[1], 2));
		T_OK(close(p[0]));
		T_OK(close(p[1]));
		execl(path, path, NULL);
		_exit(127);
	}
	T_OK(close(p[1]));
	while (len < sizeof text - 1 &&
		(n = read(p[0], text + len, sizeof text - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	T_OK(close(p[0]));
	T_OK(waitpid(pid, &status, 0));
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) :
		-WTERMSIG(status);
	return text;
}

/* Nothing without being asked; @words, and @advice, when asked. */
static void
told(const char *words, const char *advice)
{
	const char *text;
	int status;

	T_OK(unsetenv("STREAMS_VERBOSE"));
	text = says(USE, &status);
	T_EQ(status, ENOSR);
	T_STR(text, "");
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	text = says(USE, &status);
	T_EQ(status, ENOSR);
	if (strstr(text, words) == NULL || strstr(text, advice) == NULL)
		T_FAIL("use says \"%s\"", text);
	T_OK(unsetenv("STREAMS_VERBOSE"));
	text = says(STRINFO, &status);
	T_EQ(status, 1);
	if (strstr(text, words) == NULL || strstr(text, advice) == NULL)
		T_FAIL("strinfo says \"%s\"", text);
}

static void
own_mounts(void)
{
	T_OK(unsetenv("XDG_RUNTIME_DIR"));
	T_OK(unsetenv("STREAMS_DOMAIN"));
	if (unshare(CLONE_NEWNS) != 0)
		T_SKIP("no mount namespace of one's own: %s", strerror(errno));
	T_OK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

T_CASE(a_read_only_dev_shm_is_told)
{
	own_mounts();
	T_OK(mount("none", "/dev/shm", "tmpfs", MS_RDONLY, NULL));
	told("/dev/shm", "XDG_RUNTIME_DIR");
	told("Read-only file system", "STREAMS_DOMAIN");
}

T_CASE(a_full_dev_shm_is_told)
{
	own_mounts();
	T_OK(mount("none", "/dev/shm", "tmpfs", 0, "size=64k"));
	told("No space left", "make room");
}

T_CASE(a_limit_of_file_sizes_is_told)
{
	struct rlimit rl = { 100 << 10, 100 << 10 };

	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setrlimit(RLIMIT_FSIZE, &rl));
	told("ulimit -f", "raise it");
}

T_CASE(a_path_that_is_no_domain_is_told)
{
	T_OK(setenv("STREAMS_DOMAIN", "/dev/null", 1));
	told("/dev/null is no regular file", "another path");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Why a program has no domain reaches its user: by strinfo, and on standard
 * error with STREAMS_VERBOSE=1.
 */
#include <fcntl.h>
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
		T_OK(dup2(T_OK(open("/dev/null", O_WRONLY)), 1));
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
	t_own_mounts();
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

/* A directory of the case's own. */
static char dir[64];

static void
remove_dir(void)
{
	char cmd[96];

	snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
	if (dir[0] != '\0')
		(void)!system(cmd);
}

static void
own_dir(void)
{
	strcpy(dir, "/tmp/streams-reason-XXXXXX");
	T_NOTNULL(mkdtemp(dir));
	t_at_end(remove_dir);
}

/* Another program of the user would find another file there. */
T_CASE(a_path_in_a_directory_that_others_can_change_is_told)
{
	char path[96];
	const char *text;
	int status;

	own_dir();
	snprintf(path, sizeof path, "%s/domain", dir);
	T_OK(setenv("STREAMS_DOMAIN", path, 1));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	T_OK(chmod(dir, 0777));
	told("can be written by others", "a directory of yours");
	T_OK(chmod(dir, 01777));
	text = says(USE, &status);
	if (status != 0)
		T_FAIL("in a sticky directory: %d, \"%s\"", status, text);
	T_SOON(access(path, F_OK) != 0, 10000); /* removed by streamsd */
	T_OK(chmod(dir, 0755));
	if (chown(dir, 12345, 12345) != 0)
		T_SKIP("only root can give a directory away");
	told("belongs to user 12345", "a directory of yours");
	T_ERR(access(path, F_OK), ENOENT);
}

T_CASE(a_path_in_no_directory_is_told)
{
	T_OK(setenv("STREAMS_DOMAIN", "/nonexistent/domain", 1));
	told("No such file", "a directory of yours");
}

/* What a refused streamsd costs is seen later: so it is told when asked. */
T_CASE(a_refused_streamsd_is_told)
{
	const char *text;
	int status;

	own_dir();
	T_OK(setenv("XDG_RUNTIME_DIR", dir, 1));
	T_OK(unsetenv("STREAMS_DOMAIN"));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	T_OK(setenv("STREAMS_DAEMON", "/dev/null", 1));
	T_OK(unsetenv("STREAMS_VERBOSE"));
	text = says(USE, &status);
	T_EQ(status, 0);
	T_STR(text, "");
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	text = says(USE, &status);
	T_EQ(status, 0);
	if (strstr(text, "streamsd cannot be started") == NULL ||
		strstr(text, "/dev/null: it is not a file") == NULL)
		T_FAIL("use says \"%s\"", text);
	T_OK(unsetenv("STREAMS_VERBOSE"));
	text = says(STRINFO, &status);
	T_EQ(status, 0);
	if (strstr(text, "no streamsd: /dev/null: it is not a file") == NULL)
		T_FAIL("strinfo says \"%s\"", text);
}

/* A file that is not used is told too. */
T_CASE(a_refused_configuration_is_told)
{
	const char *text;
	int status;

	own_dir();
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setenv("STREAMS_CONF", dir, 1));
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	text = says(DEVICE, &status);
	T_EQ(status, 0);
	if (strstr(text, " is not used: it is not a file") == NULL)
		T_FAIL("device says \"%s\"", text);
}

/* An open that fails for want of an inode says so. */
T_CASE(a_file_system_without_inodes_is_told)
{
	char options[32];
	const char *text;
	int status, failed = 0;

	own_mounts();
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	for (int n = 2; n < 16; n++) {
		snprintf(options, sizeof options, "mode=1777,nr_inodes=%d", n);
		T_OK(mount("none", "/dev/shm", "tmpfs", 0, options));
		text = says(DEVICE, &status);
		if (status != 0 && status != ENOSR)
			T_FAIL("%d inodes: %s: \"%s\"", n, strerror(status),
				text);
		if (status != 0 && strstr(text, "No space left") == NULL)
			T_FAIL("%d inodes: \"%s\"", n, text);
		failed += status != 0;
		T_SOON(umount("/dev/shm") == 0, 10000 * t_scale());
		if (status == 0)
			break;
	}
	T_TRUE(failed > 0);
	T_EQ(status, 0);
}

T_CASE(a_path_that_is_no_domain_is_told)
{
	T_OK(setenv("STREAMS_DOMAIN", "/dev/null", 1));
	told("/dev/null is no regular file", "another path");
}

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

/* The limit of open files for what is run; 0: as it is. */
static rlim_t files;

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
		if (files != 0)
			T_OK(setrlimit(RLIMIT_NOFILE,
				&(struct rlimit){ files, files }));
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

/* Each asks for a domain by another call: pipe, open, t_open. */
static const char *const programs[] = { USE, DEVICE, ENDPOINT };

/*
 * Each call fails with ENOSR.  The program says nothing without being asked;
 * @words, and @advice, when asked.
 */
static void
told(const char *words, const char *advice)
{
	const char *text;
	int status;

	for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
		T_OK(unsetenv("STREAMS_VERBOSE"));
		text = says(programs[i], &status);
		if (status != ENOSR || text[0] != '\0')
			T_FAIL("%s: %d, \"%s\"", programs[i], status, text);
		T_OK(setenv("STREAMS_VERBOSE", "1", 1));
		text = says(programs[i], &status);
		if (status != ENOSR || strstr(text, words) == NULL ||
			strstr(text, advice) == NULL)
			T_FAIL("%s: %d, \"%s\"", programs[i], status, text);
	}
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

/* Whose limit is small, or whose domain is large. */
T_CASE(a_limit_of_address_space_is_told)
{
	struct rlimit rl = { 512u << 20, 512u << 20 };

	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setrlimit(RLIMIT_AS, &rl));
	told("1024 MiB", "STREAMS_SIZE");
	told("Cannot allocate memory", "ulimit -v");
}

/*
 * From the limit on at which the loader finds the libraries, one more file each
 * time until all works.
 */
static void
few_files(const char *path)
{
	const char *text;
	int status = 127, failed = 0;

	for (files = 4; files < 64 && status != 0; files++) {
		text = says(path, &status);
		if (status == 127)
			continue;
		if (status != 0 && status != EMFILE)
			T_FAIL("%s, %d files: %s: \"%s\"", path, (int)files,
				strerror(status), text);
		if ((strstr(text, "attach to a domain: ") != NULL ||
			strstr(text, "cannot be started: ") != NULL) &&
			strstr(text, "(ulimit -n) is ") == NULL)
			T_FAIL("%s, %d files: \"%s\"", path, (int)files, text);
		failed += status == EMFILE;
	}
	files = 0;
	T_EQ(status, 0);
	T_GT(failed, 0);
}

T_CASE(a_limit_of_open_files_is_told)
{
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	own_mounts();
	T_OK(mount("none", "/dev/shm", "tmpfs", 0, "mode=1777"));
	for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
		few_files(programs[i]);
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
		few_files(programs[i]);
	T_SOON(umount("/dev/shm") == 0, 10000 * t_scale());
}

/* A size that is none costs no call, but is not passed over in silence. */
T_CASE(a_size_that_is_none_is_told)
{
	static const char *const wrong[] = { "foo", "64mb", "-1", "1.5g", "m" };
	static const char *const right[] = { "", "64m", "33554432", "0x4000k",
		"99999999999g", "1" };
	const char *text;
	char words[80];
	int status;

	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(unsetenv("STREAMS_VERBOSE"));
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		T_OK(setenv("STREAMS_SIZE", wrong[i], 1));
		text = says(DEVICE, &status);
		snprintf(words, sizeof words, "STREAMS_SIZE=%s is not a size",
			wrong[i]);
		if (status != 0 || strstr(text, words) == NULL ||
			strstr(text, "has 1024m") == NULL)
			T_FAIL("%s: %d, \"%s\"", wrong[i], status, text);
	}
	for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
		T_OK(setenv("STREAMS_SIZE", right[i], 1));
		text = says(DEVICE, &status);
		if (status != 0 || text[0] != '\0')
			T_FAIL("%s: %d, \"%s\"", right[i], status, text);
	}
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
	if (strstr(text, "streamsd cannot be started: /dev/null: it is not a file") == NULL)
		T_FAIL("strinfo says \"%s\"", text);
}

/* A call that needs streamsd tells it in each domain, unasked.  In one with a
 * name, streamsd was refused before, without a word, when the domain was made. */
T_CASE(a_device_tells_that_streamsd_is_refused)
{
	static const char *const domain[] = { "default", "private" };
	const char *text;
	int status;

	own_dir();
	T_OK(setenv("XDG_RUNTIME_DIR", dir, 1));
	T_OK(setenv("STREAMS_SIZE", "16M", 1));
	T_OK(setenv("STREAMS_DAEMON", "/dev/null", 1));
	T_OK(unsetenv("STREAMS_VERBOSE"));
	for (unsigned i = 0; i < sizeof domain / sizeof *domain; i++) {
		T_OK(setenv("STREAMS_DOMAIN", domain[i], 1));
		text = says(DEVICE, &status);
		T_EQ(status, 0);
		if (strstr(text, "/dev/null: it is not a file") == NULL)
			T_FAIL("%s: \"%s\"", domain[i], text);
	}
}

/* The reason names the program, and what is wrong with it. */
T_CASE(a_refused_streamsd_is_told_by_its_path)
{
	static const struct {
		const char *file, *says;
	} row[] = {
		{ "none", "/none: No such file or directory;" },
		{ "none/streamsd",
			"/none/streamsd: none: No such file or directory;" },
		{ "plain", "/plain: Permission denied: it has to be a file" },
	};
	const char *text;
	char path[96];
	int status;

	own_dir();
	T_OK(setenv("STREAMS_DOMAIN", "private", 1));
	T_OK(setenv("STREAMS_VERBOSE", "1", 1));
	snprintf(path, sizeof path, "%s/plain", dir);
	T_OK(close(T_OK(open(path, O_WRONLY | O_CREAT, 0600))));
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, row[i].file);
		T_OK(setenv("STREAMS_DAEMON", path, 1));
		text = says(DEVICE, &status);
		if (status != 0 || strstr(text, row[i].says) == NULL)
			T_FAIL("%s: %d, \"%s\"", path, status, text);
	}
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

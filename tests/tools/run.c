/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Tools are found in the folder TOOLS_DIR.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"
#include "t.h"

char out_text[1 << 18], err_text[8192];

static char dir[64];
static char paths[16][128]; /* of files made in it */

static void
clean(void)
{
	if (dir[0] == '\0')
		return;
	for (int i = 0; i < 16 && paths[i][0] != '\0'; i++)
		(void)unlink(paths[i]);
	(void)rmdir(dir);
	dir[0] = '\0';
}

const char *
temp(const char *name)
{
	char path[128];
	int i;

	if (dir[0] == '\0') {
		strcpy(dir, "/tmp/str-tools-XXXXXX");
		T_NOTNULL(mkdtemp(dir));
		t_at_end(clean);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (i = 0; i < 15 && paths[i][0] != '\0'; i++)
		if (strcmp(paths[i], path) == 0)
			break;
	strcpy(paths[i], path);
	return paths[i];
}

void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	T_NOTNULL(f);
	T_TRUE(fputs(text, f) >= 0);
	T_EQ(fclose(f), 0);
	T_OK(chmod(path, 0644));
}

static void
read_all(const char *path, char *buf, size_t size)
{
	int fd = T_OK(open(path, O_RDONLY));
	ssize_t n = read(fd, buf, size - 1);

	T_GE(n, 0);
	buf[n] = '\0';
	T_OK(close(fd));
}

bool
file_has(const char *path, const char *text)
{
	static char buf[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	(void)close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return strstr(buf, text) != NULL;
}

static void
child(int in, const char *out, const char *err, const char *const *argv)
{
	char path[1024];
	int o = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int e = open(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (in < 0)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/%s", TOOLS_DIR, argv[0]);
	if (o < 0 || e < 0 || dup2(in, 0) < 0 || dup2(o, 1) < 0 ||
		dup2(e, 2) < 0)
		_exit(120);
	execv(path, (char *const *)(uintptr_t)argv);
	_exit(121);
}

static int
status_of(pid_t pid)
{
	int status;

	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   1000 + WTERMSIG(status);
}

/* A private domain is that of the process that used it first: not the tool's,
 * which would be another each time. */
static void
be_first(void)
{
	int fd[2];

	if (getenv("STREAMS_DOMAIN") == NULL ||
		strcmp(getenv("STREAMS_DOMAIN"), "private") != 0)
		return;
	T_OK(pipe(fd));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

int
run_argv(int in, const char *const *argv)
{
	const char *out = temp("out"), *err = temp("err");
	int status;
	pid_t pid;

	be_first();
	pid = T_OK(fork());
	if (pid == 0)
		child(in, out, err, argv);
	status = status_of(pid);
	read_all(out, out_text, sizeof(out_text));
	read_all(err, err_text, sizeof(err_text));
	T_NE(status, 120);
	T_NE(status, 121);
	return status;
}

pid_t
start_argv(int in, const char *path, const char *const *argv)
{
	const char *err = temp("err");
	pid_t pid;

	be_first();
	(void)unlink(err);
	pid = T_OK(fork());
	if (pid == 0)
		child(in, path, err, argv);
	return pid;
}

int
stop(pid_t pid, int sig)
{
	T_OK(kill(pid, sig));
	return status_of(pid);
}

bool
json_says(const char *expr)
{
	char program[1024];
	pid_t pid;

	snprintf(program, sizeof(program),
		"import json,sys\nv=json.load(open('%s'))\n"
		"sys.exit(0 if (%s) else 1)\n", temp("out"), expr);
	pid = T_OK(fork());
	if (pid == 0) {
		execlp("python3", "python3", "-c", program, (char *)NULL);
		_exit(121);
	}
	return status_of(pid) == 0;
}

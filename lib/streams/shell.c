/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * system(3) and popen(3).
 *
 * The C library's start the shell by functions of its own, which do not know
 * that the shell gets the kernel's pipes in the place of ours.  So where it
 * would get one of ours, the shell is started here.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "shell.h"
#include "spawned.h"
#include "sys.h"

extern char **environ;

struct shell {
	FILE *f;
	pid_t pid;
	struct shell *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shell *shells; /* [lock] those of popen() */
static unsigned waiting;     /* [lock] threads in system() */
static struct sigaction was_int, was_quit; /* [lock] */

static char *const *
args(char *argv[4], const char *command)
{
	argv[0] = (char *)(uintptr_t)"sh";
	argv[1] = (char *)(uintptr_t)"-c";
	argv[2] = (char *)(uintptr_t)command;
	argv[3] = NULL;
	return argv;
}

/* -------------------------------------------------------------- system */

/* POSIX system(): SIGINT and SIGQUIT are ignored while the command runs. */
static void
ignore(void)
{
	struct sigaction sa = {.sa_handler = SIG_IGN};

	pthread_mutex_lock(&lock);
	if (waiting++ == 0) {
		(void)sigaction(SIGINT, &sa, &was_int);
		(void)sigaction(SIGQUIT, &sa, &was_quit);
	}
	pthread_mutex_unlock(&lock);
}

static void
heed(void)
{
	pthread_mutex_lock(&lock);
	if (--waiting == 0) {
		(void)sigaction(SIGINT, &was_int, NULL);
		(void)sigaction(SIGQUIT, &was_quit, NULL);
	}
	pthread_mutex_unlock(&lock);
}

static void
cancelled(void *pid)
{
	(void)kill(*(pid_t *)pid, SIGKILL);
	(void)waitpid(*(pid_t *)pid, NULL, 0);
	heed();
}

static int
await(pid_t pid)
{
	int status = -1;
	pid_t got;

	pthread_cleanup_push(cancelled, &pid);
	do
		got = waitpid(pid, &status, 0);
	while (got < 0 && errno == EINTR);
	pthread_cleanup_pop(0);
	return got == pid ? status : -1;
}

static int
command(struct spawn_ends *ends, const char *text)
{
	posix_spawnattr_t attr;
	sigset_t set, old;
	char *argv[4];
	int err, status = -1;
	pid_t pid;

	ignore();
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &set, &old);
	(void)sigemptyset(&set);
	if (was_int.sa_handler != SIG_IGN)
		(void)sigaddset(&set, SIGINT);
	if (was_quit.sa_handler != SIG_IGN)
		(void)sigaddset(&set, SIGQUIT);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &old);
	(void)posix_spawnattr_setsigdefault(&attr, &set);
	(void)posix_spawnattr_setflags(&attr,
		POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	err = REAL(posix_spawn)(&pid, "/bin/sh", ends->fa, &attr,
		args(argv, text), environ);
	(void)posix_spawnattr_destroy(&attr);
	spawn_end(ends);
	if (err == 0)
		status = await(pid);
	else
		status = 127 << 8; /* as if the shell had not been found */
	heed();
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err != 0)
		errno = err;
	return status;
}

STR_EXPORT int
system(const char *text)
{
	struct spawn_ends ends;

	fd_shared();
	if (text == NULL)
		return REAL(system)(NULL);
	spawn_begin(&ends, "/bin/sh", false, NULL, environ);
	return ends.n != 0 ? command(&ends, text) : REAL(system)(text);
}

/* --------------------------------------------------------------- popen */

/* POSIX popen(): the command gets none of the earlier ones' files. */
static int
open_shell(struct spawn_ends *ends, const char *text, int end, int as,
	pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	char *argv[4];
	int err;

	err = posix_spawn_file_actions_init(&fa);
	if (err != 0)
		return err;
	for (int i = 0; i < ends->n && err == 0; i++)
		if (ends->e[i].from != as)
			err = posix_spawn_file_actions_adddup2(&fa,
				ends->e[i].end, ends->e[i].from);
	if (err == 0)
		err = posix_spawn_file_actions_adddup2(&fa, end, as);
	for (struct shell *s = shells; s != NULL && err == 0; s = s->next)
		if (fileno(s->f) != as)
			err = posix_spawn_file_actions_addclose(&fa,
				fileno(s->f));
	if (err == 0)
		err = REAL(posix_spawn)(pid, "/bin/sh", &fa, NULL,
			args(argv, text), environ);
	(void)posix_spawn_file_actions_destroy(&fa);
	return err;
}

static FILE *
pipe_open(struct spawn_ends *ends, const char *text, bool reads, bool cloexec)
{
	struct shell *s = calloc(1, sizeof *s);
	int fd[2] = {-1, -1}, err;

	err = s != NULL ? -(int)sys_call2(SYS_pipe2, fd, O_CLOEXEC) : ENOMEM;
	if (err == 0 && (s->f = fdopen(fd[!reads], reads ? "r" : "w")) == NULL)
		err = errno;
	pthread_mutex_lock(&lock);
	if (err == 0)
		err = open_shell(ends, text, fd[reads], reads, &s->pid);
	if (err == 0) {
		s->next = shells;
		shells = s;
	}
	pthread_mutex_unlock(&lock);
	if (fd[reads] >= 0)
		(void)close(fd[reads]);
	if (err == 0) {
		if (!cloexec)
			(void)fcntl(fd[!reads], F_SETFD, 0);
		return s->f;
	}
	if (s != NULL && s->f != NULL)
		(void)REAL(fclose)(s->f);
	else if (fd[!reads] >= 0)
		(void)close(fd[!reads]);
	free(s);
	errno = err;
	return NULL;
}

STR_EXPORT FILE *
popen(const char *text, const char *mode)
{
	struct spawn_ends ends;
	FILE *f;

	fd_shared();
	spawn_begin(&ends, "/bin/sh", false, NULL, environ);
	if (ends.n == 0 || (mode[0] != 'r' && mode[0] != 'w') ||
		(strspn(mode + 1, "e") != strlen(mode + 1))) {
		spawn_end(&ends);
		return REAL(popen)(text, mode);
	}
	f = pipe_open(&ends, text, mode[0] == 'r', mode[1] == 'e');
	spawn_end(&ends);
	return f;
}

bool
shell_close(FILE *f, int *ret_status)
{
	struct shell **p, *s;
	pid_t got;

	pthread_mutex_lock(&lock);
	for (p = &shells; *p != NULL && (*p)->f != f; p = &(*p)->next)
		;
	s = *p;
	if (s != NULL)
		*p = s->next;
	pthread_mutex_unlock(&lock);
	if (s == NULL)
		return false;
	(void)REAL(fclose)(f);
	do
		got = waitpid(s->pid, ret_status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		*ret_status = -1;
	free(s);
	return true;
}

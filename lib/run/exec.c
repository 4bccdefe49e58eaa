/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fork(2), exec(2), and functions that make processes.
 *
 * Before a process is made, or a program is started, no pipe of this process is
 * in STREAM.  A child is entered in the records of the pipes that it inherits.
 * A pipe that a program outside inherits is unfit from then on.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "run.h"
#include "sys.h"

extern char **environ;

/* ------------------------------------------------------------------ fork */

NEXT_SLOT(execve);
NEXT_SLOT(_exit);

/*
 * A child that a shell forks makes the same few calls, and makes them for the first
 * time.  If its parent has found them, and what exec calls here, each child has
 * less to do, and fewer pages to copy.
 */
static void
find_common(void)
{
	static bool found STR_HOT_DATA;

	if (found)
		return;
	found = true;
	run_find_common();
	(void)NEXT(execve);
	(void)NEXT(_exit);
	(void)run_will_join(environ);
}

static void
fork_prepare(void)
{
	if (!run_on)
		return;
	run_settle_all(RUN_FORK);
	run_know_held();
	if (!run_on)
		return;
	find_common();
	run_fork_begin();
}

static void
fork_parent(void)
{
	/* the child makes its entries */
	if (run_on)
		run_fork_leave();
}

static void
fork_child(void)
{
	if (run_on)
		run_fork_child();
}

static void
leave(void)
{
	run_ending = true;
	if (run_armed != 0)
		run_settle_all(RUN_EXIT);
}

/* The start files have it usually: atexit() and its like tell libraries apart by
 * it. */
extern void *const __dso_handle STR_HIDDEN;
void *const __dso_handle = (void *)(uintptr_t)&__dso_handle;

/* For every fork of the C library, whichever function makes it. */
STR_CONSTRUCTOR static void
hook(void)
{
	if (getenv(RUN_VAR) == NULL)
		return;
	(void)pthread_atfork(fork_prepare, fork_parent, fork_child);
	(void)atexit(leave);
}

NEXT_SLOT(fork);

STR_EXPORT pid_t
fork(void)
{
	pid_t pid = NEXT(fork)();

	if (pid < 0 && run_on)
		run_fork_failed();
	return pid;
}

NEXT_SLOT(_Fork);

/* No handlers run: the same, by hand. */
STR_EXPORT pid_t
_Fork(void)
{
	pid_t pid;

	fork_prepare();
	pid = NEXT(_Fork)();
	if (pid == 0)
		fork_child();
	else
		fork_parent();
	if (pid < 0 && run_on)
		run_fork_failed();
	return pid;
}

static pid_t
forked(void)
{
	return fork();
}

/*
 * A child of vfork(2) runs in the memory of its parent.  If the process holds a
 * pipe that may be carried, it is made by fork(2) instead.
 */
uintptr_t run_vfork_by(void);

STR_HIDDEN uintptr_t
run_vfork_by(void)
{
	static void *next STR_HOT_DATA;
	int err = errno;

	if (run_on) {
		run_settle_all(RUN_FORK);
		run_know_held();
	}
	errno = err;
	/* nor may the child change what is kept of the parent's actions */
	if (run_on && (run_caught || run_holds_any()))
		return (uintptr_t)forked;
	return (uintptr_t)run_next(&next, "vfork");
}

/* A jump, because the child must return from its caller's frame. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	endbr64\n"
	"	subq $8, %rsp\n"
	"	call run_vfork_by\n"
	"	addq $8, %rsp\n"
	"	jmp *%rax\n"
	".size vfork, .-vfork\n");
#else
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	stp x29, x30, [sp, -16]!\n"
	"	bl run_vfork_by\n"
	"	ldp x29, x30, [sp], 16\n"
	"	mov x16, x0\n"
	"	br x16\n"
	".size vfork, .-vfork\n");
#endif

/* What makes processes in ways that are not followed. */
static void
leave_all(void)
{
	if (!run_on)
		return;
	run_settle_all(RUN_FORK);
	run_know_held();
	run_unfit_held(false, RUN_OUTSIDE);
}

NEXT_SLOT(clone);

STR_EXPORT int
clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	pid_t *parent, *child;
	va_list ap;
	void *tls;

	va_start(ap, arg);
	parent = va_arg(ap, pid_t *);
	tls = va_arg(ap, void *);
	child = va_arg(ap, pid_t *);
	va_end(ap);
	leave_all();
	return NEXT(clone)(fn, stack, flags, arg, parent, tls, child);
}

NEXT_SLOT(system);

STR_EXPORT int
system(const char *text)
{
	leave_all();
	return NEXT(system)(text);
}

NEXT_SLOT(popen);

STR_EXPORT FILE *
popen(const char *text, const char *mode)
{
	leave_all();
	return NEXT(popen)(text, mode);
}

NEXT_SLOT(wordexp);

STR_EXPORT int
wordexp(const char *text, wordexp_t *w, int flags)
{
	leave_all();
	return NEXT(wordexp)(text, w, flags);
}

/* ------------------------------------------------------------------ exec */

/* The environment for @path, after the pipes that it inherits are ready. */
static char *const *
ready(const char *path, char *const *envp, struct run_env *e)
{
	enum run_image image;

	e->v = NULL;
	if (!run_on)
		return envp;
	run_settle_all(RUN_EXEC);
	image = run_image(path, envp, run_map != NULL ? run_map->member :
		NULL);
	if (image == RUN_IMAGE_STATIC || image == RUN_IMAGE_FOREIGN)
		run_unfit_held(true, RUN_OUTSIDE);
	return image == RUN_IMAGE_FOREIGN ? run_env_without(envp, e) : envp;
}

STR_EXPORT int
execve(const char *path, char *const *argv, char *const *envp)
{
	struct run_env e;
	char *const *env = ready(path, envp, &e);

	(void)NEXT(execve)(path, argv, env);
	run_env_free(&e);
	return -1;
}

NEXT_SLOT(execvpe);

STR_EXPORT int
execvpe(const char *file, char *const *argv, char *const *envp)
{
	char path[PATH_MAX];
	struct run_env e;
	char *const *env = ready(run_on ? run_search(file, path) : file, envp,
		&e);

	(void)NEXT(execvpe)(file, argv, env);
	run_env_free(&e);
	return -1;
}

NEXT_SLOT(fexecve);

STR_EXPORT int
fexecve(int fd, char *const *argv, char *const *envp)
{
	if (run_on) {
		run_settle_all(RUN_EXEC);
		run_unfit_held(true, RUN_OUTSIDE);
	}
	return NEXT(fexecve)(fd, argv, envp);
}

NEXT_SLOT(execveat);

STR_EXPORT int
execveat(int fd, const char *path, char *const *argv, char *const *envp,
	int flags)
{
	if (run_on) {
		run_settle_all(RUN_EXEC);
		run_unfit_held(true, RUN_OUTSIDE);
	}
	return NEXT(execveat)(fd, path, argv, envp, flags);
}

STR_EXPORT int
execv(const char *path, char *const *argv)
{
	return execve(path, argv, environ);
}

STR_EXPORT int
execvp(const char *file, char *const *argv)
{
	return execvpe(file, argv, environ);
}

struct args {
	char **v;
	size_t size;
};

static bool
args_get(struct args *a, const char *first, va_list ap)
{
	va_list count;
	size_t n = 1;
	long p;

	va_copy(count, ap);
	if (first != NULL)
		while (va_arg(count, char *) != NULL)
			n++;
	va_end(count);
	a->size = (n + 1) * sizeof *a->v;
	p = sys_call6(SYS_mmap, NULL, a->size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p < 0 && p > -4096) {
		errno = ENOMEM;
		return false;
	}
	a->v = (char **)p;
	a->v[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; first != NULL && i <= n; i++)
		a->v[i] = va_arg(ap, char *);
	return true;
}

static void
args_free(struct args *a)
{
	(void)sys_call2(SYS_munmap, a->v, a->size);
}

STR_EXPORT int
execl(const char *path, const char *arg, ...)
{
	struct args a;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&a, arg, ap)) {
		(void)execve(path, a.v, environ);
		args_free(&a);
	}
	va_end(ap);
	return -1;
}

STR_EXPORT int
execlp(const char *file, const char *arg, ...)
{
	struct args a;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&a, arg, ap)) {
		(void)execvpe(file, a.v, environ);
		args_free(&a);
	}
	va_end(ap);
	return -1;
}

STR_EXPORT int
execle(const char *path, const char *arg, ...)
{
	struct args a;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&a, arg, ap)) {
		(void)execve(path, a.v, va_arg(ap, char **));
		args_free(&a);
	}
	va_end(ap);
	return -1;
}

/* ----------------------------------------------------------------- spawn */

typedef int spawn(pid_t *, const char *, const posix_spawn_file_actions_t *,
	const posix_spawnattr_t *, char *const *, char *const *);

static int
spawned(spawn *f, pid_t *pid, const char *file, const char *path,
	const posix_spawn_file_actions_t *fa, const posix_spawnattr_t *attr,
	char *const *argv, char *const *envp)
{
	enum run_image image;
	struct run_env e;
	pid_t child = 0;
	int err;

	if (!run_on)
		return f(pid, file, fa, attr, argv, envp);
	e.v = NULL;
	run_settle_all(RUN_FORK);
	run_know_held();
	image = run_image(path, envp, run_map != NULL ? run_map->member :
		NULL);
	if (image == RUN_IMAGE_STATIC || image == RUN_IMAGE_FOREIGN)
		run_unfit_held(false, RUN_OUTSIDE);
	if (image == RUN_IMAGE_FOREIGN)
		envp = run_env_without(envp, &e);
	run_fork_begin();
	err = f(&child, file, fa, attr, argv, envp);
	run_fork_made(err == 0 ? child : 0);
	if (err == 0 && pid != NULL)
		*pid = child;
	run_env_free(&e);
	return err;
}

/* glibc 2.39: the pid is a descriptor, so the child is not followed. */
#define PIDFD_SPAWN(name) \
	spawn name; \
	NEXT_SLOT(name); \
	STR_EXPORT int \
	name(pid_t *pidfd, const char *file, \
		const posix_spawn_file_actions_t *fa, \
		const posix_spawnattr_t *attr, char *const *argv, \
		char *const *envp) \
	{ \
		leave_all(); \
		return NEXT(name)(pidfd, file, fa, attr, argv, envp); \
	}
PIDFD_SPAWN(pidfd_spawn)
PIDFD_SPAWN(pidfd_spawnp)

NEXT_SLOT(posix_spawn);

STR_EXPORT int
posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
	const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	return spawned(NEXT(posix_spawn), pid, path, path, fa, attr, argv,
		envp);
}

NEXT_SLOT(posix_spawnp);

STR_EXPORT int
posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
	const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	char path[PATH_MAX];

	return spawned(NEXT(posix_spawnp), pid, file,
		run_on ? run_search(file, path) : file, fa, attr, argv, envp);
}

/* ------------------------------------------------------------------ wait */

/* The process that has ended may have been the reader of a pipe. */
#define WAITS(type, name, args, ...) \
	NEXT_SLOT(name); \
	STR_EXPORT type \
	name args \
	{ \
		type ret = NEXT(name)(__VA_ARGS__); \
		if (run_armed != 0) \
			run_look_again(); \
		return ret; \
	}
WAITS(pid_t, wait, (int *status), status)
WAITS(pid_t, waitpid, (pid_t pid, int *status, int flags), pid, status, flags)
WAITS(pid_t, wait3, (int *status, int flags, struct rusage *ru), status, flags,
	ru)
WAITS(pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *ru), pid,
	status, flags, ru)
WAITS(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), type,
	id, info, flags)

/* ------------------------------------------------------------------ exit */

STR_EXPORT void
_exit(int status)
{
	if (run_armed != 0)
		run_settle_all(RUN_EXIT);
	NEXT(_exit)(status);
	for (;;)
		(void)sys_call1(SYS_exit_group, status);
}

STR_EXPORT void
_Exit(int status)
{
	_exit(status);
}

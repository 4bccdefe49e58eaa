/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * fork(2), exec(2), posix_spawn(3), and the end.
 *
 * A Stream's descriptor is inherited like any other.  A domain without a name
 * can be found only through the environment; if a new image inherits a Stream,
 * the variable is added to any environment.
 *
 * All of this may run between fork and exec: no malloc().
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/single_threaded.h>

#include "call.h"
#include "leave.h"
#include "plain.h"
#include "spawned.h"
#include "user_impl.h"

#define VAR "STREAMS_DOMAIN="

extern char **environ;

/*
 * The handlers of pthread_atfork(3), by which the library takes part, do not
 * learn the child's pid in the parent.  The C library's own forks, in daemon(3)
 * for example, do not come here: there only the child tells streamsd.
 */
STR_EXPORT pid_t
fork(void)
{
	pid_t pid = REAL(fork)();

	made_process(pid);
	return pid;
}

/*
 * vfork(2) would let the child run in our identity.
 */
STR_EXPORT pid_t
vfork(void)
{
	return fork();
}

/* ------------------------------------------------------------------ exit */

/*
 * A process that ends closes its Streams as if by close(), so that threads that
 * sleep at the other end are woken at once, and the last close of a device is
 * complete before the end of the process can be noticed.  Runs after all other
 * exit handlers, because they may use the Streams.
 *
 * Not in a process that is not a member, and not in a child that shares its
 * parent's memory.
 */
static bool
exit_ours(void)
{
	return host_domain != NULL && host_known() &&
	       str_load(&host_domain->proc[host_priv_page->proc].pid) ==
		       (uint32_t)sys_getpid();
}

str_a32 exit_pid;
static __thread bool exit_by_me;

/* Long enough for the rest of what runs at exit; then a waiter there for
 * this thread gets it. */
void
exit_wait(void)
{
	struct timespec ts = {.tv_nsec = 10000000};

	if (exit_by_me || str_load(&exit_pid) != (uint32_t)sys_getpid())
		return;
	for (int i = 0; i < 200; i++)
		(void)sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts,
			NULL);
}

/* Suppress signals about the close of its own Streams. */
static void
exit_deafen(void)
{
	static const int sig[] = {SIGPIPE, SIGPOLL, SIGURG, SIGHUP};
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} ignore = {SIG_IGN, 0, NULL, 0};

	for (size_t i = 0; i < STR_ARRAY_LEN(sig); i++)
		(void)sys_call4(SYS_rt_sigaction, sig[i], &ignore, NULL,
			SYS_SIGSET);
}

static void
exit_release(void)
{
	struct fd_release rel;
	int high = fd_high();

	if (!exit_ours())
		return; /* the kernel closes them, streamsd notices */
	exit_by_me = true;
	str_store(&exit_pid, (uint32_t)sys_getpid());
	exit_deafen();
	for (int fd = 0; fd <= high; fd++) {
		uintptr_t v = fd_get(fd);

		if (v <= FD_NOT || (v & 1) != 0)
			continue;
		(void)fd_close(fd, &rel);
		if (rel.sd != NULL)
			fd_release_end(&rel);
	}
	/* now that none of its carriers is there: the domain itself */
	host_domain_exit();
}

/*
 * exit(3) flushes stdio after all exit handlers, when the Streams are closed.
 * So we flush before. fflush(NULL) would wait for a thread that sleeps in a
 * call on its FILE, which exit(3) does not: with other threads, FILEs in use
 * are skipped, as far as the C library allows access to single FILEs.
 */
static void
flush_unlocked_ones(void)
{
	void (*lock)(void), (*unlock)(void);
	void *(*begin)(void), *(*end)(void), *(*next)(void *);
	FILE *(*file)(void *);

	*(void **)&lock = dlsym(RTLD_DEFAULT, "_IO_list_lock");
	*(void **)&unlock = dlsym(RTLD_DEFAULT, "_IO_list_unlock");
	*(void **)&begin = dlsym(RTLD_DEFAULT, "_IO_iter_begin");
	*(void **)&end = dlsym(RTLD_DEFAULT, "_IO_iter_end");
	*(void **)&next = dlsym(RTLD_DEFAULT, "_IO_iter_next");
	*(void **)&file = dlsym(RTLD_DEFAULT, "_IO_iter_file");
	if (lock == NULL || unlock == NULL || begin == NULL || end == NULL ||
		next == NULL || file == NULL)
		return;
	lock();
	for (void *i = begin(); i != end(); i = next(i)) {
		FILE *f = file(i);

		if (ftrylockfile(f) != 0)
			continue;
		(void)fflush_unlocked(f);
		funlockfile(f);
	}
	unlock();
}

static void
flush(void)
{
	if (__libc_single_threaded)
		(void)fflush(NULL);
	else
		flush_unlocked_ones();
}

static STR_NOINLINE void
exit_of_member(void)
{
	if (!exit_ours())
		return;
	flush();
	exit_release();
}

STR_START_TEXT static void
exit_in_order(void *unused)
{
	if (host_domain != NULL)
		exit_of_member();
}

bool host_exit_by_caller = true;

STR_CONSTRUCTOR static void
exit_hook(void)
{
	(void)__cxa_atexit(exit_in_order, NULL, __dso_handle);
}

STR_EXPORT void
_exit(int status)
{
	exit_release();
	REAL(_exit)(status);
	for (;;)
		(void)sys_call1(SYS_exit_group, status);
}

STR_EXPORT void
_Exit(int status)
{
	_exit(status);
}

/* --------------------------------------------------------- array storage */

struct strings {
	char **v;
	size_t size;
};

static bool
strings_alloc(struct strings *s, size_t n)
{
	long p;

	s->size = n * sizeof *s->v;
	p = sys_call6(SYS_mmap, NULL, s->size, 3 /* rw */,
		0x22 /* private, anonymous */, -1, 0);
	s->v = p < 0 && p > -4096 ? NULL : (char **)p;
	return s->v != NULL;
}

static void
strings_free(struct strings *s)
{
	if (s->v != NULL)
		(void)sys_call2(SYS_munmap, s->v, s->size);
}

/* ----------------------------------------------------------- environment */

static bool
stream_inherited(void)
{
	int high = fd_high();

	for (int fd = 0; fd <= high; fd++) {
		uintptr_t v = fd_get(fd);

		if (v > FD_NOT && (v & 1) == 0 &&
			(sys_fcntl(fd, F_GETFD, 0) & FD_CLOEXEC) == 0)
			return true;
	}
	return false;
}

/*
 * The environment to give to a new image instead of @envp: the same, or one
 * with room in @s that names our domain; @lost: the program does not get the
 * descriptor of ours, and makes a private one.  @var is room for the variable.
 */
static char **
env_for(char *const *envp, struct strings *s, char var[64], bool lost)
{
	const char *path = host_domain_path();
	size_t n = 0, at;
	bool same;

	s->v = NULL;
	if (strncmp(path, "fd:", 3) != 0 || envp == NULL)
		return (char **)envp;
	snprintf(var, 64, VAR "%s", path);
	for (at = SIZE_MAX;; n++) {
		char *entry, head[sizeof VAR] = "";
		int err;

		/* the kernel has the error for what cannot be read */
		if (host_copyin(&envp[n], &entry, sizeof entry) != 0)
			return (char **)envp;
		if (entry == NULL)
			break;
		err = host_copyinstr(entry, head, sizeof head);
		if (err == EFAULT)
			return (char **)envp;
		if (at == SIZE_MAX && memcmp(head, VAR, sizeof VAR - 1) == 0)
			at = n;
	}
	same = at != SIZE_MAX && strcmp(envp[at], var) == 0;
	if (lost)
		strcpy(var, VAR "private");
	if ((lost ? !same : same || !stream_inherited()) ||
	    !strings_alloc(s, n + 2))
		return (char **)envp;
	memcpy(s->v, envp, n * sizeof *s->v);
	if (at == SIZE_MAX)
		at = n++;
	s->v[at] = var;
	s->v[n] = NULL;
	return s->v;
}

/* ------------------------------------------------------------------ exec */

STR_EXPORT int
execve(const char *path, char *const *argv, char *const *envp)
{
	struct strings s;
	char var[64];
	char **env = env_for(envp, &s, var, false);

	leave_exec(path, false, env);
	host_exec_begin();
	(void)REAL(execve)(path, argv, env);
	host_exec_failed();
	plain_recover();
	strings_free(&s);
	return -1;
}

STR_EXPORT int
execvpe(const char *file, char *const *argv, char *const *envp)
{
	struct strings s;
	char var[64];
	char **env = env_for(envp, &s, var, false);

	leave_exec(file, true, env);
	host_exec_begin();
	(void)REAL(execvpe)(file, argv, env);
	host_exec_failed();
	plain_recover();
	strings_free(&s);
	return -1;
}

STR_EXPORT int
fexecve(int fd, char *const *argv, char *const *envp)
{
	struct strings s;
	char var[64];
	char **env = env_for(envp, &s, var, false);

	leave_fexec(fd, env);
	host_exec_begin();
	(void)REAL(fexecve)(fd, argv, env);
	host_exec_failed();
	plain_recover();
	strings_free(&s);
	return -1;
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

/*
 * Collect the arguments of execl() and its like from @first to the NULL; the
 * environment of execle() follows.
 */
static bool
args_get(struct strings *s, const char *first, va_list ap)
{
	va_list count;
	size_t n = 1;

	va_copy(count, ap);
	if (first != NULL)
		while (va_arg(count, char *) != NULL)
			n++;
	va_end(count);
	if (!strings_alloc(s, n + 1)) {
		errno = ENOMEM;
		return false;
	}
	s->v[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; first != NULL && i <= n; i++)
		s->v[i] = va_arg(ap, char *);
	return true;
}

STR_EXPORT int
execl(const char *path, const char *arg, ...)
{
	struct strings s;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&s, arg, ap)) {
		(void)execve(path, s.v, environ);
		strings_free(&s);
	}
	va_end(ap);
	return -1;
}

STR_EXPORT int
execlp(const char *file, const char *arg, ...)
{
	struct strings s;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&s, arg, ap)) {
		(void)execvpe(file, s.v, environ);
		strings_free(&s);
	}
	va_end(ap);
	return -1;
}

STR_EXPORT int
execle(const char *path, const char *arg, ...)
{
	struct strings s;
	va_list ap;

	va_start(ap, arg);
	if (args_get(&s, arg, ap)) {
		(void)execve(path, s.v, va_arg(ap, char **));
		strings_free(&s);
	}
	va_end(ap);
	return -1;
}

/* ----------------------------------------------------------------- spawn */

STR_EXPORT int
posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *fa,
	const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	struct spawn_ends ends;
	struct strings s;
	char var[64];
	char **env = env_for(envp, &s, var, spawn_closes_domain(fa));
	pid_t child;
	int err;

	fd_shared();
	spawn_begin(&ends, path, false, fa, env);
	pid = pid != NULL ? pid : &child;
	err = REAL(posix_spawn)(pid, path, ends.fa, attr, argv, env);
	spawn_end(&ends);
	if (err == 0)
		made_process(*pid);
	strings_free(&s);
	return err;
}

STR_EXPORT int
posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *fa,
	const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	struct spawn_ends ends;
	struct strings s;
	char var[64];
	char **env = env_for(envp, &s, var, spawn_closes_domain(fa));
	pid_t child;
	int err;

	fd_shared();
	spawn_begin(&ends, file, true, fa, env);
	pid = pid != NULL ? pid : &child;
	err = REAL(posix_spawnp)(pid, file, ends.fa, attr, argv, env);
	spawn_end(&ends);
	if (err == 0)
		made_process(*pid);
	strings_free(&s);
	return err;
}

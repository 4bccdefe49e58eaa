/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Starting streamsd: the program, its process and its descriptors.
 *
 * Program.  STREAMS_DAEMON; else, for a library that is loaded from the build
 * tree, the build tree's; else the one in libexecdir.  It runs with our rights,
 * so no other user may have chosen it: trust.c.  The checked descriptor is
 * executed, so a file that later replaces the name is never run.
 *
 * Process.  Two processes between us and streamsd, which share our memory and
 * last until the exec: so no fork handler runs, no child remains to be waited
 * for, and the program gets no signal.  A pipe reports when streamsd is ready.
 *
 * Descriptors. streamsd would keep inherited descriptors open for ever, so that
 * the other ends would never notice a close.  If a sandbox forbids
 * close_range(), descriptors are closed one by one.
 */
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user_impl.h"

#define READY_MS 5000 /* until it reports that it runs */
#define STACK_SIZE (32u << 10)
#define FDS 3 /* descriptors for streamsd; see descriptors() */

static char why[1200];

static int
reason(int err, const char *fmt, ...) STR_PRINTF(2, 3);

/* Store the text with the reason of a failure.  Return: @err. */
static int
reason(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return err;
}

/* -------------------------------------------------------------- which one */

/* The program @path was found, and its start fails with @err.  Return: @err. */
static int
failed(int err, const char *path)
{
	char words[200];

	if (err == ESRCH)
		return reason(err, "%s ends before it says that it is ready",
			path);
	if (err == ETIMEDOUT)
		return reason(err, "%s does not say within %d s that it is "
			"ready", path, READY_MS / 1000);
	return reason(err, "%s: %s%s", path,
		host_words(err, words, sizeof words), err == EACCES ?
		": it has to be a file that this user can execute, in a file "
		"system without noexec" : "");
}

/*
 * Values from the environment at the attach: a sleeping thread, or a thread of
 * ours, may start streamsd while the program changes its environment.
 */
static struct {
	char linger[64];
	char sanitizer[512]; /* TSAN_OPTIONS: otherwise its reports are lost */
} env;

char host_daemon_program[4096] STR_LARGE;
bool host_daemon_verbose;

static void
keep(char *to, size_t size, const char *name, bool whole)
{
	/* a set-id program must not use its caller's environment */
	const char *v = secure_getenv(name);
	size_t at = whole ? strlen(name) + 1 : 0, len;

	to[0] = '\0';
	if (v == NULL)
		return;
	len = strlen(v);
	if (at + len >= size)
		return;
	memcpy(to + at, v, len + 1);
	if (whole) {
		memcpy(to, name, at - 1);
		to[at - 1] = '=';
	}
}

/* host_daemon_environment - read it.  Locks: [attach] */
void
host_daemon_environment(void)
{
	keep(host_daemon_program, sizeof host_daemon_program,
		"STREAMS_DAEMON", false);
	keep(env.linger, sizeof env.linger, "STREAMS_LINGER", true);
	host_daemon_verbose = host_verbose();
#if defined(__SANITIZE_THREAD__)
	keep(env.sanitizer, sizeof env.sanitizer, "TSAN_OPTIONS", true);
#endif
}

/* Open @path for execution alone.  Return: 0 or an errno. */
static int
program_open(const char *path, unsigned how, int *ret_fd, const char **ret_path)
{
	char text[400];
	int err = host_trust_open(path, how | HOST_TRUST_EXEC, ret_fd, text,
		sizeof text);

	*ret_path = path;
	if (err == EMFILE || err == ENFILE)
		return failed(err, path);
	return err != 0 ? reason(err, "%s: %s", path, text) : 0;
}

static int
program_find(int *ret_fd, const char **ret_path)
{
	static const char tree[] = HOST_BUILD_DIR "/";
	const char *name = host_trust_library();

	if (host_daemon_program[0] != '\0')
		return program_open(host_daemon_program, HOST_TRUST_CHOSEN, ret_fd,
			ret_path);
	/* an installed library is not in its build tree */
	if (name != NULL && strncmp(name, tree, sizeof tree - 1) == 0 &&
	    program_open(HOST_BUILD_DIR "/tools/streamsd/streamsd", 0,
		    ret_fd, ret_path) == 0)
		return 0;
	return program_open(HOST_LIBEXECDIR "/streamsd", 0, ret_fd, ret_path);
}

/* ----------------------------------------------------------- descriptors */

struct start {
	char *argv[4];
	char *env[8];
	char domain[800], crash[64];
	int program_fd, domain_fd, ready_fd;
	char *stack; /* of the second process */
};

static bool
is_higher(const char *name, void *arg)
{
	int *high = arg;
	int fd = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		fd = fd * 10 + (*name - '0');
	*high = STR_MAX(*high, fd);
	return false;
}

/* The greatest descriptor that can be open. */
static int
highest(void)
{
	struct rlimit rl = { 0, 0 };
	int high = -1;

	(void)host_dir_find("/proc/self/fd", is_higher, &high);
	if (high >= 0)
		return high;
	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	return (int)STR_MIN(STR_MAX(rl.rlim_cur, 4096u), 1u << 20);
}

/* Close @from and all above it, except the @n in @stay, which ascend. */
static void
close_from(int from, const int *stay, int n)
{
	bool forbidden = false;
	int high;

	for (int i = 0; i <= n && !forbidden; i++) {
		long last = i < n ? stay[i] - 1 : (long)~0u;
		long first = i > 0 ? stay[i - 1] + 1 : from;

		forbidden = first <= last &&
			sys_call3(SYS_close_range, first, last, 0) != 0;
	}
	high = forbidden ? highest() : -1;
	for (int fd = from, i = 0; fd <= high; fd++) {
		if (i < n && fd == stay[i])
			i++;
		else
			(void)sys_close(fd);
	}
}

/*
 * The final descriptors: /dev/null at 0 to 2, the domain or nothing at 3, the
 * pipe at 4, the program at 5, which the exec closes.  Unneeded ones are closed
 * first, because there may be no free number below the limit of open files.
 */
static int
descriptors(struct start *s)
{
	int *from[FDS] = { &s->program_fd, &s->ready_fd, &s->domain_fd };
	int stay[FDS], n = 0, null, fd;

	for (int i = 0; i < FDS; i++) {
		int at = n;

		if (*from[i] < 0)
			continue; /* the domain has a name */
		for (n++; at > 0 && stay[at - 1] > *from[i]; at--)
			stay[at] = stay[at - 1];
		stay[at] = *from[i];
	}
	close_from(0, stay, n);
	for (int i = 0; i < n; i++) {
		fd = sys_fcntl(*from[i], F_DUPFD, 10);
		if (fd < 0) /* EINVAL: the limit is below 10 */
			return fd == -EINVAL ? EMFILE : -fd;
		stay[i] = *from[i] = fd;
	}
	close_from(0, stay, n); /* each dup has a greater number than the one
				 * before */
	null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	if (null < 0)
		return -null;
	while (null < 3)
		null = sys_fcntl(null, F_DUPFD, null + 1);
	if (s->domain_fd >= 0)
		(void)sys_call3(SYS_dup3, s->domain_fd, 3, 0);
	fd = (int)sys_call3(SYS_dup3, s->ready_fd, 4, 0);
	if (fd < 0)
		return -fd;
	s->ready_fd = fd;
	fd = (int)sys_call3(SYS_dup3, s->program_fd, 5, O_CLOEXEC);
	if (fd < 0)
		return -fd;
	s->program_fd = fd;
	close_from(6, NULL, 0);
	return 0;
}

/* --------------------------------------------------------------- process */

/*
 * The thread sanitizer's clone() assumes that the child has its own memory.  It
 * decrements a counter twice that was incremented once, and ignores all atomic
 * operations of this thread from then on.
 */
#if defined(__SANITIZE_THREAD__)
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
#define clone __clone
#endif

/*
 * The second process, which becomes streamsd.  It shares our memory.
 *
 * It never returns after the exec, so a sanitizer would leave marks on a stack
 * that is unmapped, or in a list of calls.
 */
__attribute__((no_sanitize_address, no_sanitize_thread)) /* lint-ok: here only */
static int
second_main(void *arg)
{
	struct { uint64_t handler, flags, restorer, mask; } dfl = { 0 };
	static const uint64_t none;
	static const int zero; /* struct sched_param */
	struct start *s = arg;
	uint64_t cpus[128];
	char err;

	for (int sig = 1; sig <= 64; sig++)
		(void)sys_call4(SYS_rt_sigaction, sig, &dfl, NULL, SYS_SIGSET);
	err = (char)descriptors(s);
	if (err == 0) {
		memset(cpus, 0xff, sizeof cpus);
		(void)sys_call3(SYS_sched_setaffinity, 0, sizeof cpus, cpus);
		/* a real-time policy would keep other processes from a CPU */
		(void)sys_call3(SYS_sched_setscheduler, 0, SCHED_OTHER, &zero);
		(void)sys_call1(SYS_chdir, "/");
		(void)sys_call1(SYS_umask, 077);
		sys_sigmask(SIG_SETMASK, &none, NULL);
		/* the checked file, even if its name refers to another now */
		for (int i = 0; i < 2 && (i == 0 || err == ENOENT); i++) {
			err = (char)-sys_call5(SYS_execveat, s->program_fd, "",
				s->argv, s->env, AT_EMPTY_PATH);
			/* a script's interpreter opens it by its number */
			(void)sys_fcntl(s->program_fd, F_SETFD, 0);
		}
	}
	(void)sys_write(s->ready_fd, &err, 1);
	return 127;
}

/* The first process: makes a session that ends with it. */
static int
first_main(void *arg)
{
	struct start *s = arg;
	int fd = s->ready_fd;
	int pid;
	char err;

	(void)sys_call1(SYS_setsid, 0);
	pid = clone(second_main, s->stack + STACK_SIZE,
		CLONE_VM | CLONE_VFORK, s);
	if (pid < 0) {
		err = (char)errno;
		(void)sys_write(fd, &err, 1);
	}
	return 0;
}

/* Start the program.  It writes its report to s->ready_fd. */
static int
spawn(struct start *s)
{
	int pid, status, err = errno, ret = 0;
	uint64_t old;
	char *stack;
	long r;

	r = sys_call6(SYS_mmap, NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return ENOMEM;
	stack = (char *)r;
	s->stack = stack + STACK_SIZE;
	host_sig_block(&old);
	pid = clone(first_main, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, s);
	if (pid < 0)
		ret = errno;
	else
		(void)sys_call4(SYS_wait4, pid, &status, __WALL, NULL);
	host_sig_restore(&old);
	(void)sys_call2(SYS_munmap, stack, 2 * STACK_SIZE);
	errno = err;
	return ret;
}

/*
 * The result of the start: 0 or an errno.  Without @wait, 0 also if it is still
 * starting, which is so from the exec on.
 */
static int
ready(int fd, bool wait)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	struct timespec ts = { READY_MS / 1000, READY_MS % 1000 * 1000000l };
	unsigned char c;

	if (!wait)
		ts = (struct timespec){ 0, 0 };
	/* in a call, so that no handler interrupts it */
	if (sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) == 0)
		return wait ? ETIMEDOUT : 0;
	return sys_read(fd, &c, 1) == 1 ? c : ESRCH;
}

static void
environment(struct start *s)
{
	int n = 0;

	if (s->domain_fd >= 0)
		strcpy(s->domain, "STREAMS_DOMAIN=fd:3");
	else
		snprintf(s->domain, sizeof s->domain, "STREAMS_DOMAIN=%s",
			host_domain_path());
	s->env[n++] = s->domain;
	if (env.linger[0] != '\0')
		s->env[n++] = env.linger;
	if (env.sanitizer[0] != '\0')
		s->env[n++] = env.sanitizer;
#ifdef STR_CRASH_POINTS
	/* STREAMS_CRASH applies to the member only */
	strcpy(s->crash, "STREAMS_CRASH=");
	if (host_crash_env("STREAMS_DAEMON_CRASH", s->crash + 14,
		    sizeof s->crash - 14))
		s->env[n++] = s->crash;
#endif
	s->env[n] = NULL;
}

/*
 * The user's directory, which streamsd removes with the domain, if it is empty:
 * that of domains with a name, where the socket directories usually are, too.
 * "": the domain has no file there.
 */
static void
directory(const struct start *s, char dir[520])
{
	const struct host_shared *sh = host_shared(host_domain);

	dir[0] = '\0';
	if (s->domain_fd >= 0)
		return;
	if (host_named_dir()[0] != '\0') {
		snprintf(dir, 520, "-r%s", host_named_dir());
	} else if (sh->dir_in_base) {
		snprintf(dir, 520, "-r%.95s", sh->dir);
		*strrchr(dir, '/') = '\0';
	}
}

/* Run the program in @s->program_fd; @wait: wait until it is ready. */
static int
run(struct start *s, bool wait)
{
	static char dir[520];
	int fd[2], err;

	environment(s);
	directory(s, dir);
	s->argv[0] = (char[]){ "streamsd" };
	s->argv[1] = (char[]){ "-n4" };
	if (dir[0] != '\0')
		s->argv[2] = dir;
	err = -(int)sys_call2(SYS_pipe2, fd, O_CLOEXEC);
	if (err != 0)
		return err;
	s->ready_fd = fd[1];
	err = spawn(s);
	(void)sys_close(fd[1]);
	if (err == 0)
		err = ready(fd[0], wait);
	(void)sys_close(fd[0]);
	return err;
}

int
host_daemon_spawn(bool wait, const char **ret_why)
{
	static struct start s; /* the domain's word allows one at a time */
	const char *path;
	int program, err;

	*ret_why = why;
	memset(&s, 0, sizeof s);
	s.domain_fd = strncmp(host_domain_path(), "fd:", 3) == 0 ?
		host_domain_fd() : -1;
	err = program_find(&program, &path);
	if (err != 0)
		return err;
	s.program_fd = program;
	err = run(&s, wait);
	(void)sys_close(program);
	return err != 0 ? failed(err, path) : 0;
}

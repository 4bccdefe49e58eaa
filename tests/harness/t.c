/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * The runner.
 *
 * It must work in a program that links libstreams, whose functions replace
 * open, close, poll, sigaction and the like, and it must not attach this
 * process to a domain: it is the cases that do.  So it makes the few system
 * calls it needs itself.
 *
 * The verdict of a case travels through a page shared with its processes, not
 * through a descriptor: a case may close or count all of those.  The first
 * process to fail writes the reason.
 *
 * A case leads a session.  When it ends, its process group is killed; what
 * moved to another group is adopted by the runner, which is a subreaper, and
 * killed as a child.  The streamsd of a domain with a name is given a moment to
 * end by itself: it removes the domain's file.
 */
#include "t.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT = 20, FD_WORDS = 64, LEAVE_MS = 1000,
	HIDDEN_FROM = 1000, HIDDEN = 8 };
enum verdict { UNDECIDED, WRITING, PASSED, FAILED, SKIPPED };

struct result {
	int verdict;		/* [A] one process moves it from UNDECIDED */
	char text[2048];
};

static struct t_case *cases, **cases_tail = &cases;
static const char *const *targets;
static void (*after_each)(struct t *t);
static void (*at_end[4])(void); /* the last one runs first */
static unsigned nat_end;
static struct result *result;
static struct t self;
static pid_t leader;		/* the process a case starts in */
static uint64_t rand_state;
static unsigned long fds_before[FD_WORDS];
static int fds_checked;

void
t_case_add(struct t_case *c)
{
	*cases_tail = c;
	cases_tail = &c->next;
}

void
t_targets_set(const char *const *names)
{
	targets = names;
}

void
t_after_each(void (*fn)(struct t *t))
{
	after_each = fn;
}

void
t_at_end(void (*fn)(void))
{
	if (nat_end == sizeof(at_end) / sizeof(*at_end))
		t_fail(__FILE__, __LINE__, "too many t_at_end()");
	at_end[nat_end++] = fn;
}

const char *
t_target(void)
{
	return self.target;
}

uint64_t
t_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void
t_pause(void)
{
	struct timespec ts = { 0, 1000000 };

	syscall(SYS_nanosleep, &ts, NULL);
}

/* splitmix64: any seed is a good seed, zero too. */
uint64_t
t_rand(void)
{
	uint64_t z = __atomic_add_fetch(&rand_state, 0x9e3779b97f4a7c15u,
		__ATOMIC_RELAXED);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t
t_rand_below(uint64_t n)
{
	return n == 0 ? 0 : t_rand() % n;
}

unsigned int
t_scale(void)
{
	const char *s = getenv("T_TIMEOUT_SCALE");
	int n = s != NULL ? atoi(s) : 1;

	return n > 0 ? (unsigned int)n : 1;
}

const char *
t_errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return err == 0 ? "no error" : name != NULL ? name : "unknown error";
}

/* Verdicts, in the processes of a case. */

static void T_NORETURN
leave(int status)
{
	while (nat_end != 0) {
		void (*fn)(void) = at_end[--nat_end]; /* it may fail, too */

		if (getpid() == leader)
			fn();
	}
	fflush(stdout);		/* all of them might wait for a thread's lock */
	_exit(status);
}

static void
pass(void)
{
	int was = UNDECIDED;

	__atomic_compare_exchange_n(&result->verdict, &was, PASSED, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void
decide(enum verdict v, const char *file, int line, const char *fmt, va_list ap)
{
	int was = UNDECIDED, n = 0;

	if (!__atomic_compare_exchange_n(&result->verdict, &was, WRITING, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return;
	if (file != NULL)
		n = snprintf(result->text, sizeof result->text, "%s:%d: ",
			file, line);
	vsnprintf(result->text + n, sizeof result->text - (size_t)n, fmt, ap);
	__atomic_store_n(&result->verdict, v, __ATOMIC_RELEASE);
}

void
t_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(FAILED, file, line, fmt, ap);
	va_end(ap);
	/* Who waits for this child of the case might wait for ever. */
	if (getpid() != leader)
		kill(leader, SIGKILL);
	leave(1);
}

void
t_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(SKIPPED, NULL, 0, fmt, ap);
	va_end(ap);
	leave(0);
}

long long
t_ok(const char *file, int line, const char *expr, long long ret)
{
	if (ret == -1)
		t_fail(file, line, "%s failed: %s", expr,
			t_errno_name(errno));
	return ret;
}

void
t_cmp(const char *file, int line, const char *expr, long long a, long long b)
{
	t_fail(file, line, "%s: %lld (%#llx), %lld (%#llx)", expr, a,
		(unsigned long long)a, b, (unsigned long long)b);
}

void
t_ptr(const char *file, int line, const char *expr, const void *p,
	int want_null)
{
	if ((p == NULL) != want_null)
		t_fail(file, line, "%s is %p", expr, p);
}

void
t_str(const char *file, int line, const char *expr, const char *a,
	const char *b)
{
	if (a == NULL || b == NULL ? a != b : strcmp(a, b) != 0)
		t_fail(file, line, "%s is \"%s\", not \"%s\"", expr,
			a != NULL ? a : "(null)", b != NULL ? b : "(null)");
}

void
t_mem(const char *file, int line, const char *expr, const void *a,
	const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (size_t i = 0; i < n; i++)
		if (x[i] != y[i])
			t_fail(file, line, "%s differs at byte %zu of %zu: "
				"%#x, not %#x", expr, i, n, x[i], y[i]);
}

void
t_err(const char *file, int line, const char *expr, long long ret, int err,
	int want)
{
	if (ret != -1)
		t_fail(file, line, "%s is %lld, not -1 with %s", expr, ret,
			t_errno_name(want));
	if (err != want)
		t_fail(file, line, "%s: %s, not %s", expr, t_errno_name(err),
			t_errno_name(want));
}

static void
fds_read(unsigned long *set)
{
	memset(set, 0, FD_WORDS * sizeof *set);
	for (unsigned int fd = 0; fd < FD_WORDS * 8 * sizeof *set; fd++)
		if (syscall(SYS_fcntl, fd, F_GETFD) != -1)
			set[fd / (8 * sizeof *set)] |=
				1ul << fd % (8 * sizeof *set);
}

void
t_check_fds(void)
{
	fds_read(fds_before);
	fds_checked = 1;
}

/*
 * libstreams has a few descriptors of its own from HIDDEN_FROM on, and makes each
 * once in a process, when it is first needed: that may be during the case.
 */
static void
fds_compare(void)
{
	unsigned int hidden = 0;
	unsigned long now[FD_WORDS];
	char name[32], path[256];
	ssize_t n;
	pid_t pid = fork(); /* before it libstreams closes spare carriers */

	if (pid == 0)
		syscall(SYS_exit_group, 0);
	(void)waitpid(pid, NULL, 0);
	fds_read(now);
	for (unsigned int fd = 0; fd < FD_WORDS * 8 * sizeof *now; fd++) {
		unsigned long bit = 1ul << fd % (8 * sizeof *now);

		if (!(now[fd / (8 * sizeof *now)] & bit) ||
			fds_before[fd / (8 * sizeof *now)] & bit)
			continue;
		if (fd >= HIDDEN_FROM && ++hidden <= HIDDEN)
			continue;
		snprintf(name, sizeof name, "/proc/self/fd/%u", fd);
		n = syscall(SYS_readlinkat, AT_FDCWD, name, path,
			sizeof path - 1);
		path[n > 0 ? n : 0] = '\0';
		T_FAIL("descriptor %u (%s) was left open", fd, path);
	}
}

/* The runner. */

static uint64_t
bit_of(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

static void T_NORETURN
run_child(struct t_case *c, pid_t runner, const uint64_t *mask)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != runner)
		_exit(1);
	leader = getpid();
	syscall(SYS_setsid);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof *mask);
	syscall(SYS_dup3, 2, 1, 0);	/* TAP is the runner's alone */
	c->run(&self);
	if (after_each != NULL)
		after_each(&self);
	if (fds_checked)
		fds_compare();
	if (getppid() != runner)
		T_FAIL("a child of the case came back from it");
	pass();
	leave(0);
}

/* Is the process @pid, with this stat, the streamsd of a domain with a name? */
static int
is_named_streamsd(const char *pid, const char *stat)
{
	char path[300], env[4096];
	size_t n;

	if (strstr(stat, "(streamsd") == NULL || strstr(stat, ") T ") != NULL)
		return 0;
	snprintf(path, sizeof path, "/proc/%s/environ", pid);
	n = t_file(path, env, sizeof env);
	for (size_t i = 0; i < n; i += strlen(env + i) + 1)
		if (strncmp(env + i, "STREAMS_DOMAIN=fd:", 18) == 0)
			return 0;
	return n != 0;
}

/*
 * One pass over /proc; returns how many children there were to kill.  @spare:
 * not a streamsd that is about to end.
 */
static int
kill_children(int spare)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	char path[300], buf[512], *p;
	int n = 0, ppid;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		(void)t_file(path, buf, sizeof buf);
		p = strrchr(buf, ')');
		if (p == NULL || sscanf(p, ") %*c %d", &ppid) != 1)
			continue;
		if (ppid == getpid() &&
			!(spare && is_named_streamsd(e->d_name, buf))) {
			kill((pid_t)atoi(e->d_name), SIGKILL);
			n++;
		}
	}
	if (d != NULL)
		closedir(d);
	return n;
}

/*
 * Reap until no child is left.  A killed process may take a while to go, and
 * its children come to us only then.
 */
static void
sweep(pid_t pid)
{
	uint64_t end = t_now_ns() + LEAVE_MS * UINT64_C(1000000);
	int n = 0;
	pid_t r;

	kill(-pid, SIGKILL);
	for (;;) {
		r = (pid_t)syscall(SYS_wait4, -1, NULL, WNOHANG, NULL);
		if (r == -1)
			break;
		if (r == 0) {
			n += kill_children(t_now_ns() < end);
			t_pause();
		}
	}
	if (n > 0)
		printf("# killed what the case had left running\n");
}

/* Wait for the case's own process; 0 when the time is over. */
static int
wait_case(pid_t pid, unsigned int seconds, int *status)
{
	uint64_t end = t_now_ns() + seconds * UINT64_C(1000000000), now;
	uint64_t set = bit_of(SIGCHLD) | bit_of(SIGTERM) | bit_of(SIGINT) |
		bit_of(SIGHUP);
	struct timespec ts;
	int sig;

	for (;;) {
		if (syscall(SYS_wait4, pid, status, WNOHANG, NULL) == pid)
			return 1;
		now = t_now_ns();
		if (now >= end)
			return 0;
		ts.tv_sec = (time_t)((end - now) / 1000000000u);
		ts.tv_nsec = (long)((end - now) % 1000000000u);
		sig = (int)syscall(SYS_rt_sigtimedwait, &set, NULL, &ts,
			sizeof set);
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP) {
			sweep(pid);
			printf("Bail out! signal %d\n", sig);
			exit(1);
		}
	}
}

static uint64_t
case_seed(const char *name)
{
	uint64_t h = self.seed ^ UINT64_C(0xcbf29ce484222325);

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return h;
}

static enum verdict
run_case(struct t_case *c)
{
	unsigned int limit = (c->timeout != 0 ? c->timeout : DEFAULT_TIMEOUT) *
		t_scale();
	uint64_t set = bit_of(SIGCHLD) | bit_of(SIGTERM) | bit_of(SIGINT) |
		bit_of(SIGHUP), mask;
	pid_t runner = getpid(), pid;
	int status = 0, in_time, v;

	memset(result, 0, sizeof *result);
	rand_state = case_seed(c->name);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, &mask, sizeof set);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run_child(c, runner, &mask);
	if (pid == -1) {
		snprintf(result->text, sizeof result->text, "fork: %s",
			strerrorname_np(errno));
		return FAILED;
	}
	in_time = wait_case(pid, limit, &status);
	sweep(pid);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
	v = __atomic_load_n(&result->verdict, __ATOMIC_ACQUIRE);
	if (v == FAILED)
		return FAILED;
	if (!in_time) {
		snprintf(result->text, sizeof result->text,
			"not finished after %u s", limit);
		return FAILED;
	}

	if (WIFSIGNALED(status))
		snprintf(result->text, sizeof result->text, "killed by SIG%s",
			sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		snprintf(result->text, sizeof result->text,
			"exited with status %d", WEXITSTATUS(status));
	else if (v == PASSED || v == SKIPPED)
		return (enum verdict)v;
	else
		snprintf(result->text, sizeof result->text,
			"exited before its end");
	return FAILED;
}

static void
print_text(void)
{
	char *save, *l;

	for (l = strtok_r(result->text, "\n", &save); l != NULL;
		l = strtok_r(NULL, "\n", &save))
		printf("#   %s\n", l);
}

/* Filters match part of a name, with underscores or spaces. */
static int
selected(const char *name, char **filters, int n)
{
	for (int i = 0; i < n; i++)
		if (strstr(name, filters[i]) != NULL)
			return 1;
	return n == 0;
}

static void
underscores(char *s, char from, char to)
{
	for (; *s != '\0'; s++)
		if (*s == from)
			*s = to;
}

static int
usage(const char *prog, int status)
{
	fprintf(status == 0 ? stdout : stderr,
		"usage: %s [--list] [--target=NAME] [CASE ...]\n"
		"CASE is part of a case's name.  The environment may set "
		"T_SEED, T_TIMEOUT_SCALE.\n", prog);
	return status;
}

static int
run_all(const char *only, char **filters, int n_filters, int list)
{
	static const char *const no_targets[] = { "", NULL };
	int n = 0, count[SKIPPED + 1] = { 0 };
	const char *const *tg;
	struct t_case *c;
	char name[256];
	enum verdict v;

	for (tg = targets != NULL ? targets : no_targets; *tg != NULL; tg++) {
		if (only != NULL && strcmp(only, *tg) != 0)
			continue;
		for (c = cases; c != NULL; c = c->next) {
			if (!selected(c->name, filters, n_filters))
				continue;
			n++;
			snprintf(name, sizeof name, "%s%s%s", *tg,
				**tg != '\0' ? ": " : "", c->name);
			underscores(name, '_', ' ');
			if (list) {
				printf("%s\n", name);
				continue;
			}
			self.name = name;
			self.target = *tg;
			v = run_case(c);
			count[v]++;
			printf("%sok %d - %s%s%s\n", v == FAILED ? "not " : "",
				n, name, v == SKIPPED ? " # SKIP " : "",
				v == SKIPPED ? result->text : "");
			if (v == FAILED)
				print_text();
			fflush(stdout);
		}
	}
	if (n == 0) {
		fprintf(stderr, "no such case or target\n");
		return 2;
	}
	if (list)
		return 0;
	printf("1..%d\n", n);
	if (count[FAILED] > 0) {
		printf("# %d of %d failed; T_SEED=%llu repeats the run\n",
			count[FAILED], n, (unsigned long long)self.seed);
		return 1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	const char *seed = getenv("T_SEED"), *only = NULL;
	int i, list = 0;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--list") == 0)
			list = 1;
		else if (strncmp(argv[i], "--target=", 9) == 0)
			only = argv[i] + 9;
		else
			return usage(argv[0], strcmp(argv[i], "--help") != 0
				? 2 : 0);
	}
	for (int j = i; j < argc; j++)
		underscores(argv[j], ' ', '_');

	self.seed = seed != NULL ? strtoull(seed, NULL, 0) :
		t_now_ns() % 1000000007u;
	result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!list)
		printf("TAP version 13\n# T_SEED=%llu\n",
			(unsigned long long)self.seed);
	return run_all(only, argv + i, argc - i, list);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A sandbox that forbids one system call.  For each that the library makes by
 * number (calls.py) worker.c runs while that one fails, with EPERM or ENOSYS,
 * wherever the library or streamsd makes it.  It has to work, or to fail with
 * an errno, and with a reason in words when there is no domain; within a few
 * seconds; no process and no file may be left.
 *
 * The tracer is ptrace(2), since some kernels do not stand thousands of filters
 * that are freed at once.  It sees each system call of the program, of its
 * children and of streamsd, and replaces the number by one that does not exist.
 * The C library's own calls are let through.  A call is the library's when its
 * instruction is in the library's code, or in streamsd's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"
#include "worker.h"

#define RUN_S 8u     /* a program may take so long, streamsd's linger with it */
#define TASKS 64
#define PAGES 64
#define AT_ONCE 8 /* runs of a case at one time */

static const struct call {
	const char *name;
	int nr;
} calls[] = {
#include "calls.h"
};
#define NCALLS ((int)(sizeof calls / sizeof calls[0]))

static char top[64];

/* ------------------------------------------------------------ the tracer */

struct task {
	pid_t tid;
	bool started;
	bool deny; /* the call that it is in is replaced */
};

static struct task task[TASKS];

/* Code pages by address; there is no randomization of addresses. */
static struct page {
	pid_t tid; /* another program has another one there */
	uint64_t at;
	bool ours;
} page[PAGES];
static unsigned npage;
static unsigned char made[512]; /* by number: calls that were made */

static struct task *
task_of(pid_t tid)
{
	struct task *none = NULL;

	for (int i = 0; i < TASKS; i++) {
		if (task[i].tid == tid)
			return &task[i];
		if (task[i].tid == 0 && none == NULL)
			none = &task[i];
	}
	if (none == NULL)
		_exit(99);
	*none = (struct task){ .tid = tid };
	return none;
}

/* Is the code at @ip the library's, or streamsd's? */
static bool
is_ours(pid_t tid, uint64_t ip)
{
	char path[32], line[512];
	unsigned long lo, hi;
	bool ours = false;
	FILE *f;

	for (unsigned i = 0; i < npage && i < PAGES; i++)
		if (page[i].tid == tid && page[i].at == ip >> 12)
			return page[i].ours;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%lx-%lx", &lo, &hi) == 2 && ip >= lo &&
		    ip < hi) {
			ours = strstr(line, "libstreams") != NULL ||
				strstr(line, "/streamsd") != NULL;
			break;
		}
	if (f != NULL)
		(void)fclose(f);
	page[npage++ % PAGES] = (struct page){ tid, ip >> 12, ours };
	return ours;
}

static void
forget_pages(pid_t tid)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (page[i].tid == tid)
			page[i].tid = 0;
}

static void
set_result(pid_t tid, long nr, long ret)
{
	struct user_regs_struct r;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0)
		return;
	if (nr != 0)
		r.orig_rax = (unsigned long long)nr;
	else
		r.rax = (unsigned long long)ret;
	(void)ptrace(PTRACE_SETREGS, tid, NULL, &r);
}

/* At a stop for a system call: its begin, or its end. */
static void
at_call(struct task *t, int nr, int err)
{
	struct __ptrace_syscall_info si;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof si, &si) <= 0)
		return;
	if (si.op == PTRACE_SYSCALL_INFO_ENTRY) {
		if (nr < 0 && si.entry.nr < sizeof made &&
		    is_ours(t->tid, si.instruction_pointer))
			made[si.entry.nr] = 1;
		t->deny = (int)si.entry.nr == nr &&
			is_ours(t->tid, si.instruction_pointer);
		if (t->deny)
			set_result(t->tid, -1, 0);
	} else if (si.op == PTRACE_SYSCALL_INFO_EXIT && t->deny) {
		t->deny = false;
		set_result(t->tid, 0, -err);
	}
}

static bool
any_task(void)
{
	for (int i = 0; i < TASKS; i++)
		if (task[i].tid != 0)
			return true;
	return false;
}

/* Go on with @tid after the stop @status. */
static void
go_on(pid_t tid, int status, int nr, int err)
{
	struct task *t = task_of(tid);
	int sig = WSTOPSIG(status), event = status >> 16;
	static const long options = PTRACE_O_TRACESYSGOOD |
		PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

	if (sig == (SIGTRAP | 0x80)) {
		at_call(t, nr, err);
		sig = 0;
	} else if (event == PTRACE_EVENT_EXEC) {
		t->deny = false;
		forget_pages(tid);
		sig = 0;
	} else if (event != 0) {
		sig = 0;
	} else if (sig == SIGSTOP && !t->started) {
		/* the first stop of a new task */
		(void)ptrace(PTRACE_SETOPTIONS, tid, NULL, options);
		sig = 0;
	}
	t->started = true;
	(void)ptrace(PTRACE_SYSCALL, tid, NULL, (long)sig);
}

static void
on_alarm(int sig)
{
}

/* Trace @pid and all that it starts; its status, or -1: it takes too long. */
static int
trace(pid_t pid, int nr, int err, bool *ret_left)
{
	uint64_t end = t_now_ns() + RUN_S * t_scale() * 1000000000ull;
	struct itimerval often = { { 0, 100000 }, { 0, 100000 } };
	struct sigaction sa = { .sa_handler = on_alarm };
	int status, ret = -1;
	bool late = false;
	pid_t tid;

	/* ends a waitpid() */
	(void)sigaction(SIGALRM, &sa, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
	(void)task_of(pid);
	while (any_task()) {
		tid = waitpid(-1, &status, __WALL);
		late = t_now_ns() > end;
		if (late || (tid < 0 && errno != EINTR))
			break;
		if (tid < 0)
			continue;
		if (WIFSTOPPED(status)) {
			go_on(tid, status, nr, err);
			continue;
		}
		if (tid == pid)
			ret = status;
		forget_pages(tid);
		task_of(tid)->tid = 0;
	}
	*ret_left = late;
	return ret;
}

/* --------------------------------------------------------------- one run */

static void
worker(const char *dir, int out)
{
	char path[128], pattern[128];

	(void)dup2(out, 1);
	(void)dup2(out, 2);
	(void)setenv("XDG_RUNTIME_DIR", dir, 1);
	(void)setenv("STREAMS_VERBOSE", "1", 1);
	(void)setenv("STREAMS_DOMAIN", "sandbox", 1);
	(void)setenv("STREAMS_LINGER", "250", 1);
	snprintf(pattern, sizeof pattern, "%s/fifo*", dir);
	(void)setenv("STREAMS_FIFOS", pattern, 1);
	snprintf(path, sizeof path, "%s/fifo", dir);
	(void)personality(ADDR_NO_RANDOMIZE);
	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	(void)raise(SIGSTOP);
	(void)execl(WORKER, WORKER, path, (char *)NULL);
	_exit(127);
}

/* Remove @dir.  Return: whether a file of the library's was left in it. */
static bool
tidy(const char *dir, char *what, size_t size)
{
	struct dirent *e;
	bool left = false;
	char path[400];
	DIR *d = opendir(dir);

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		left = true;
		if (unlink(path) == 0)
			snprintf(what, size, "%.60s", e->d_name);
		else
			(void)tidy(path, what, size);
		if (what[0] == '\0')
			snprintf(what, size, "%.60s/", e->d_name);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(dir);
	return left;
}

/*
 * Without these the last member cannot remove the domain's files, or cannot know
 * that it is the last or that no descriptor of a Stream is left.  The files
 * stay then, and the maker of the user's next domain removes them.
 */
static bool
removes(const char *name)
{
	static const char *const needed[] = {
		"unlinkat", "fcntl", "pread64", /* of the file */
		"socket", "sendto", "recvfrom", /* asking for sockets' holders */
	};

	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (strcmp(name, needed[i]) == 0)
			return true;
	return false;
}

/* In a process of its own: what it finds wrong is in @said.  True: nothing. */
static bool
run(const struct call *c, int err, char *said, size_t size)
{
	char dir[128], text[3000], file[64] = "";
	int status, p[2], nr = c != NULL ? c->nr : -1;
	bool left, files;
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	snprintf(dir, sizeof dir, "%s/%s-%d", top, c != NULL ? c->name : "none",
		err);
	if (mkdir(dir, 0700) != 0 || pipe2(p, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid == 0)
		worker(dir, p[1]);
	status = trace(pid, nr, err, &left);
	while (have < sizeof text - 1 && (n = read(p[0], text + have,
		sizeof text - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	files = tidy(dir, file, sizeof file);
	if (status == -1)
		snprintf(said, size, "it hangs: %s", text);
	else if (WIFSIGNALED(status))
		snprintf(said, size, "killed by signal %d: %s",
			WTERMSIG(status), text);
	else if (WEXITSTATUS(status) != WORKS && WEXITSTATUS(status) != FAILED)
		snprintf(said, size, "exit status %d: %s", WEXITSTATUS(status),
			text);
	else if (strstr(text, strerror(ENOSR)) != NULL &&
	    strstr(text, "attach to a domain: ") == NULL)
		snprintf(said, size, "no reason in words: %s", text);
	else if (left)
		snprintf(said, size, "a process is left: %s", text);
	else if (files && (c == NULL || !removes(c->name)))
		snprintf(said, size, "a file is left: %s: %s", file, text);
	else
		snprintf(said, size, "%s%s", WEXITSTATUS(status) == WORKS ?
			"works" : "fails: ", text);
	return status != -1 && WIFEXITED(status) &&
		(strncmp(said, "works", 5) == 0 ||
		 strncmp(said, "fails: ", 7) == 0);
}

/* ----------------------------------------------------------------- cases */

static void
remove_top(void)
{
	char what[64] = "";

	(void)tidy(top, what, sizeof what);
}

static void
setup(void)
{
	strcpy(top, "/tmp/streams-sandbox-XXXXXX");
	T_NOTNULL(mkdtemp(top));
	t_at_end(remove_top);
}

struct result {
	bool good;
	unsigned char made[sizeof made];
	char said[3400];
};

/* Run it in a process of its own; its result comes by the pipe. */
static int
begin(const struct call *c, int err)
{
	struct result r = { .good = false };
	int p[2];

	T_OK(pipe2(p, O_CLOEXEC));
	if (T_OK(fork()) == 0) {
		(void)setpgid(0, 0);
		r.good = run(c, err, r.said, sizeof r.said);
		memcpy(r.made, made, sizeof made);
		_exit(write(p[1], &r, sizeof r) != sizeof r);
	}
	T_OK(close(p[1]));
	return p[0];
}

static bool
end(int fd, const char *name, const char *err)
{
	struct result r = { .good = false };
	size_t have = 0;
	ssize_t n;

	while (have < sizeof r &&
	    (n = read(fd, (char *)&r + have, sizeof r - have)) > 0)
		have += (size_t)n;
	T_OK(close(fd));
	memcpy(made, r.made, sizeof made);
	if (!r.good || getenv("SANDBOX_VERBOSE") != NULL) {
		for (char *s = r.said; *s != '\0'; s++)
			if (*s == '\n')
				*s = ';';
		printf("# %s %s: %s\n", name, err, r.said);
		(void)fflush(stdout);
	}
	return r.good;
}

/* Each call of the table, but for those that are not made. */
static void
deny(int err, const char *name)
{
	int fd[AT_ONCE], which[AT_ONCE], n = 0, bad = 0;
	unsigned char used[sizeof made];

	setup();
	T_TRUE(end(begin(NULL, 0), "nothing", ""));
	memcpy(used, made, sizeof used);
	/* the last round, beyond the table, is for what is on its way */
	for (int i = 0; i <= NCALLS; i++) {
		if (i < NCALLS && used[calls[i].nr]) {
			which[n] = i;
			fd[n++] = begin(&calls[i], err);
		}
		if (n < AT_ONCE && i < NCALLS)
			continue;
		for (int j = 0; j < n; j++)
			bad += !end(fd[j], calls[which[j]].name, name);
		n = 0;
	}
	T_EQ(bad, 0);
}

T_CASE_TIMEOUT(EPERM_works_or_is_told, 300)
{
	deny(EPERM, "EPERM");
}

T_CASE_TIMEOUT(ENOSYS_works_or_is_told, 300)
{
	deny(ENOSYS, "ENOSYS");
}

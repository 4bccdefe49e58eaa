/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program that uses pipes in ways that a library hardly notices.
 *
 *	awkward fill LINES	write numbered lines of 8 bytes, one by one
 *	awkward next HOW	read them, one in between in another way: alias,
 *				link, wordexp, dup, user
 *	awkward handler SECONDS	write records; a handler writes others
 *	awkward records		read them, and check their order
 *	awkward restart		write, while handlers with SA_RESTART run
 *	awkward spawn		start a program from a thread with a small stack
 *	awkward raw		two children read, unknown to the library
 *	awkward first		read, until another reader has begun
 *	awkward lone		a thread reads on when the first one has ended
 *	awkward signals		send a signal to a blocked writer at each of its
 *				steps
 *	awkward idle		read until the pipe is carried, then no more
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wordexp.h>

#include "sys.h"

extern char **environ;
ssize_t __read(int fd, void *buf, size_t n);

#define LINE 8
#define BEFORE 30000 /* lines after which the other way is used */

static void
die(const char *what)
{
	fprintf(stderr, "awkward: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int
fill(long lines)
{
	char text[16];

	for (long i = 0; i < lines; i++) {
		snprintf(text, sizeof text, "%07u\n", (unsigned)i % 10000000);
		if (write(1, text, LINE) != LINE)
			die("write");
	}
	return 0;
}

/* One line by read(): its number; -1: the end. */
static long
line(int fd, ssize_t (*call)(int, void *, size_t))
{
	char text[LINE + 1] = "";
	ssize_t n, have = 0;

	while (have < LINE && (n = call(fd, text + have,
			(size_t)(LINE - have))) > 0)
		have += n;
	return have == LINE ? atol(text) : -1;
}

static long
line_by(const char *how)
{
	wordexp_t w;
	long n;
	int fd;

	if (strcmp(how, "alias") == 0)
		return line(0, __read);
	if (strcmp(how, "link") == 0) {
		(void)symlink("/dev/stdin", "link");
		fd = open("link", O_RDONLY);
		return line(fd, read);
	}
	if (strcmp(how, "wordexp") == 0) {
		if (wordexp("$(dd bs=8 count=1 2>/dev/null)", &w, 0) != 0)
			die("wordexp");
		n = atol(w.we_wordv[0]);
		wordfree(&w);
		return n;
	}
	if (strcmp(how, "user") == 0)
		(void)setfsuid(65534);
	fd = dup(0);
	n = line(fd, read);
	(void)close(fd);
	return n;
}

static int
next(const char *how)
{
	long i, n;

	for (i = 0; (n = i == BEFORE ? line_by(how) : line(0, read)) >= 0; i++)
		if (n != i) {
			fprintf(stderr, "awkward: line %ld is %ld\n", i, n);
			return 1;
		}
	printf("%ld lines\n", i);
	return 0;
}

/* ---------------------------------------------------------------- handlers */

struct record {
	uint64_t handler, n;
};

static volatile uint64_t count;

static void
on_alarm(int sig)
{
	struct record r = {1, count};

	(void)sig;
	if (write(1, &r, sizeof r) != sizeof r)
		_exit(2);
	if (count % 7 == 0)
		(void)close(dup(1));
}

static void
alarm_each(int us)
{
	struct itimerval it = {{0, us}, {0, us}};

	(void)setitimer(ITIMER_REAL, &it, NULL);
}

static int
handler(long seconds)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	time_t end = time(NULL) + seconds;

	(void)sigaction(SIGALRM, &sa, NULL);
	alarm_each(97);
	while (count % 1000 != 0 || time(NULL) < end) {
		struct record r = {0, count};

		if (write(1, &r, sizeof r) != sizeof r)
			die("write");
		count++;
	}
	alarm_each(0);
	return 0;
}

static int
records(void)
{
	uint64_t want = 0, bad = 0, handlers = 0;
	struct record r;
	char *at = (char *)&r;
	size_t have = 0;
	ssize_t n;

	while ((n = read(0, at + have, sizeof r - have)) > 0) {
		have += (size_t)n;
		if (have < sizeof r)
			continue;
		have = 0;
		if (r.handler == 0)
			bad += r.n != want++;
		else if (r.handler != 1 || (r.n != want && r.n + 1 != want))
			bad++;
		handlers += r.handler;
	}
	printf("%s\n", bad == 0 && have == 0 && want > 0 && handlers > 0 ?
		"in order" : "out of order");
	return 0;
}

static void
nothing(int sig)
{
	(void)sig;
}

static int
restart(void)
{
	struct sigaction sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	static char text[4096];

	(void)sigaction(SIGALRM, &sa, NULL);
	sa.sa_flags = 0;
	(void)sigaction(SIGUSR1, &sa, NULL); /* it never comes */
	alarm_each(500);
	for (int i = 0; i < 500; i++)
		if (write(1, text, sizeof text) != sizeof text)
			die("write");
	return 0;
}

/* ------------------------------------------------------- threads, processes */

static void *
start(void *arg)
{
	char *argv[] = {(char *)(uintptr_t)"true", NULL};
	pid_t pid;
	int err = posix_spawnp(&pid, "true", NULL, NULL, argv, environ);

	(void)arg;
	if (err == 0)
		(void)waitpid(pid, NULL, 0);
	return (void *)(uintptr_t)err;
}

static int
spawn(void)
{
	pthread_attr_t attr;
	pthread_t t;
	void *ret;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	if (pthread_create(&t, &attr, start, NULL) != 0 ||
			pthread_join(t, &ret) != 0)
		return 1;
	printf("%d\n", (int)(uintptr_t)ret);
	return 0;
}

static void
await(const char *name)
{
	while (access(name, F_OK) != 0)
		(void)sched_yield();
}

/* By an absolute name, which changes nothing for a carried pipe. */
static void
tell(const char *name)
{
	char dir[PATH_MAX], path[2 * PATH_MAX];

	if (getcwd(dir, sizeof dir) == NULL)
		die("getcwd");
	snprintf(path, sizeof path, "%s/%s", dir, name);
	(void)close(open(path, O_CREAT | O_WRONLY, 0600));
}

/* The first reader, which could carry the pipe; the other one is still there. */
static int
first(void)
{
	for (long i = 0; i < 2 * BEFORE; i++)
		if (line(0, read) != i)
			return 1;
	tell("first");
	await("second");
	printf("both\n");
	return 0;
}

static void *
second(void *arg)
{
	(void)arg;
	await("first");
	tell("second");
	if (line(0, read) < 2 * BEFORE)
		_exit(1);
	_exit(0);
}

static int
raw(void)
{
	for (int i = 0; i < 2; i++)
		if (sys_call5(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
			if (i == 0)
				second(NULL);
			_exit(first() == 0 && fflush(stdout) == 0 ? 0 : 1);
		}
	return 0;
}

static int
lone(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, second, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}

/* ----------------------------------------------------------- blocked writes */

#define STEPS 40    /* system calls of a blocked write that are tried */
#define PATIENT 400 /* after so many more, the write has missed the signal */

static int
idle(void)
{
	for (long i = 0; i < BEFORE; i++)
		if (line(0, read) != i)
			return 1;
	tell("idle");
	await("done");
	return 0;
}

/* Write for ever; count the calls that end with EINTR. */
static void
interrupted(volatile uint32_t *ended)
{
	struct sigaction sa = {.sa_handler = nothing};
	char text[16];

	(void)sigaction(SIGUSR1, &sa, NULL);
	for (unsigned i = 0;; i++) {
		snprintf(text, sizeof text, "%07u\n", i % 10000000);
		while (write(1, text, LINE) != LINE)
			if (errno == EINTR)
				++*ended;
			else
				_exit(1);
	}
}

/* Let the traced @pid go on to its next system call, or to the end of one. */
static bool
step(pid_t pid, int sig)
{
	int status;

	if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)sig) != 0 ||
			waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	/* a signal arrives: it is delivered */
	return WSTOPSIG(status) != SIGUSR1 || step(pid, SIGUSR1);
}

/* Does @pid sleep in the kernel's write? */
static bool
in_write(pid_t pid)
{
	char path[64];
	long number = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	(void)fscanf(f, "%ld", &number);
	(void)fclose(f);
	return number == SYS_write;
}

static int
signals(void)
{
	volatile uint32_t *ended = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, missed = 0;
	pid_t pid = fork();

	if (pid == 0)
		interrupted(ended);
	(void)dup2(2, 1);
	await("idle");
	/* it is blocked when a signal ends its call */
	while (*ended == 0) {
		(void)sched_yield();
		(void)kill(pid, SIGUSR1);
	}
	if (in_write(pid) || ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0) {
		fprintf(stderr, in_write(pid) ? "not carried\n" : "not traced\n");
		(void)kill(pid, SIGKILL);
		tell("done");
		return 0;
	}
	(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	(void)waitpid(pid, &status, 0);
	/* the last signals arrive, and the writer is blocked again */
	for (int i = 0; i < PATIENT / 4; i++)
		if (!step(pid, 0))
			die("step");
	for (int k = 0; k < STEPS && missed == 0; k++) {
		uint32_t was = *ended;

		for (int i = 0; i < 8 + k; i++)
			if (!step(pid, 0))
				die("step");
		(void)kill(pid, SIGUSR1);
		for (int i = 0; *ended == was && i < PATIENT; i++)
			if (!step(pid, 0))
				die("step");
		missed += *ended == was;
	}
	(void)kill(pid, SIGKILL);
	fprintf(stderr, missed ? "missed\n" : "none missed\n");
	tell("done");
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 3 && strcmp(what, "fill") == 0)
		return fill(atol(argv[2]));
	if (argc == 3 && strcmp(what, "next") == 0)
		return next(argv[2]);
	if (argc == 3 && strcmp(what, "handler") == 0)
		return handler(atol(argv[2]));
	if (strcmp(what, "records") == 0)
		return records();
	if (strcmp(what, "restart") == 0)
		return restart();
	if (strcmp(what, "spawn") == 0)
		return spawn();
	if (strcmp(what, "raw") == 0)
		return raw();
	if (strcmp(what, "lone") == 0)
		return lone();
	if (strcmp(what, "first") == 0)
		return first();
	if (strcmp(what, "signals") == 0)
		return signals();
	if (strcmp(what, "idle") == 0)
		return idle();
	fprintf(stderr, "awkward: wrong usage\n");
	return 2;
}

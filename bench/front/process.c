/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Programs that measure for us.
 *
 * Life.  Each leads a process group of its own, dies with us (the kernel
 * sees to it), and hands its orphans to us, because we are a subreaper:
 * killing the group and waiting until it has no member left means that
 * nothing runs on when we return.
 *
 * Stopping.  SIGINT, SIGTERM and SIGHUP stay blocked except inside ppoll(),
 * where all waiting is done; so none of them can be missed and none can come
 * between two halves of anything.
 */
#include "strbench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/child.h"
#include "lib/timing.h"

#define OUTPUT_MAX (1u << 20)

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stopped_by;
static sigset_t mask_outside;

static pid_t running[PROCESS_MAX];
static size_t n_running;

static void
note_stop(int signo)
{
	stopped_by = signo;
}

void
stop_signals_block(void)
{
	struct sigaction action = {.sa_handler = note_stop};
	sigset_t block;

	(void)sigemptyset(&action.sa_mask);
	(void)sigemptyset(&block);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(int); i++) {
		struct sigaction old;

		/* nohup and background jobs ignore some: keep it so. */
		if (sigaction(stop_signals[i], NULL, &old) == 0 &&
			old.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(stop_signals[i], &action, NULL);
		(void)sigaddset(&block, stop_signals[i]);
	}
	(void)sigprocmask(SIG_BLOCK, &block, &mask_outside);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void
process_own(pid_t pid)
{
	if (n_running < PROCESS_MAX)
		running[n_running++] = pid;
}

int
stop_signal(void)
{
	return stopped_by;
}

void
process_own_domain(void)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "strbench-%ld", (long)getpid());
	(void)setenv("STREAMS_DOMAIN", name, 1);
}

STR_NORETURN static void
become(const char *const *argv, int eager, int output, pid_t parent)
{
	bench_child_bind(parent);
	(void)setpgid(0, 0);
	/* Both: what is no result is a message, and belongs to this run. */
	if (dup2(output, STDOUT_FILENO) == -1 ||
		dup2(output, STDERR_FILENO) == -1)
		_exit(126);
	process_own_domain();
	(void)setenv("STREAMS_LINGER", "250", 1);
	if (eager)
		(void)setenv("STREAMS_EAGER", "1", 1);
	else
		(void)unsetenv("STREAMS_EAGER");
	(void)sigprocmask(SIG_SETMASK, &mask_outside, NULL);
	(void)execv(argv[0], (char *const *)(uintptr_t)argv);
	(void)fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int
process_start(struct process *process, const char *const *argv, int eager)
{
	pid_t parent = getpid();
	int fds[2];

	*process = (struct process){.pid = -1, .fd = -1};
	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	process->pid = fork();
	if (process->pid == 0)
		become(argv, eager, fds[1], parent);
	(void)close(fds[1]);
	if (process->pid == -1) {
		(void)close(fds[0]);
		return EAGAIN;
	}
	/* Both do it, so that it is done when either goes on. */
	(void)setpgid(process->pid, process->pid);
	process_own(process->pid);
	process->fd = fds[0];
	return 0;
}

/* Takes what is there.  0 at the end of the output. */
static int
take_output(struct process *process)
{
	char chunk[4096];
	ssize_t n = read(process->fd, chunk, sizeof(chunk));
	char *larger;

	if (n == -1 && errno == EINTR)
		return 1;
	if (n <= 0 || process->length + (size_t)n >= OUTPUT_MAX)
		return 0;
	larger = realloc(process->output, process->length + (size_t)n + 1);
	if (larger == NULL)
		return 0;
	memcpy(larger + process->length, chunk, (size_t)n);
	process->output = larger;
	process->length += (size_t)n;
	larger[process->length] = '\0';
	return 1;
}

static void
close_output(struct process *process)
{
	(void)close(process->fd);
	process->fd = -1;
}

int
process_collect(struct process *processes, size_t n, uint64_t deadline)
{
	struct pollfd pfds[PROCESS_MAX];

	for (;;) {
		uint64_t now = bench_now_ns();
		struct timespec left = {0};
		size_t talking = 0;
		int error = 0;

		for (size_t i = 0; i < n; i++) {
			pfds[i] = (struct pollfd){
				.fd = processes[i].fd,
				.events = POLLIN,
			};
			talking += processes[i].fd != -1;
		}
		if (talking == 0)
			return 0;
		if (now < deadline) {
			left.tv_sec =
				(time_t)((deadline - now) / BENCH_NS_PER_S);
			left.tv_nsec =
				(long)((deadline - now) % BENCH_NS_PER_S);
		}
		if (ppoll(pfds, n, &left, &mask_outside) == 0)
			error = ETIMEDOUT;
		if (stopped_by != 0)
			error = ECANCELED;
		if (error != 0) {
			for (size_t i = 0; i < n; i++) {
				if (processes[i].pid > 0)
					(void)kill(-processes[i].pid, SIGKILL);
			}
			return error;
		}
		for (size_t i = 0; i < n; i++) {
			if ((pfds[i].revents & (POLLIN | POLLHUP | POLLERR)) !=
					0 &&
				!take_output(&processes[i]))
				close_output(&processes[i]);
		}
	}
}

/*
 * Daemons of the measured domains lead sessions of their own and end by
 * themselves, soon after their last member; then they are ours to bury.  A
 * process of ours that has ended is not taken away from process_finish().
 */
static void
bury_strangers(void)
{
	for (;;) {
		siginfo_t info = {0};

		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
			info.si_pid == 0)
			return;
		for (size_t i = 0; i < n_running; i++) {
			if (running[i] == info.si_pid)
				return;
		}
		(void)waitpid(info.si_pid, NULL, 0);
	}
}

static void
forget(pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < n_running; i++) {
		if (running[i] != pid)
			running[kept++] = running[i];
	}
	n_running = kept;
}

int
process_finish(struct process *process)
{
	struct rusage usage = {0};
	siginfo_t info;
	int first = 0;

	if (process->fd != -1)
		close_output(process);
	if (process->pid <= 0)
		return -1;
	/* What it leaves behind goes first: its number is still its own. */
	while (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOWAIT) ==
			-1 &&
		errno == EINTR)
		;
	(void)kill(-process->pid, SIGKILL);
	while (wait4(process->pid, &first, 0, &usage) == -1 && errno == EINTR)
		;
	process->how = first;
	process->voluntary_switches = (uint64_t)usage.ru_nvcsw;
	process->cpu_ns =
		(uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
			BENCH_NS_PER_S +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
			1000;
	while (waitpid(-process->pid, NULL, 0) > 0 || errno == EINTR)
		;
	forget(process->pid);
	process->pid = -1;
	bury_strangers();
	return WIFEXITED(first) ? WEXITSTATUS(first) : -1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * sigaction(), the masks and their relatives, beside pipes.  A library that
 * has its own hand in them must give the program what POSIX promises.
 */
#include "posix.h"

#include <sys/wait.h>

#include <ucontext.h>

static void
set_action(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_sigaction = fn;
	sa.sa_flags = SA_SIGINFO | flags;
	sigemptyset(&sa.sa_mask);
	if (sigaction(sig, &sa, NULL) != 0)
		p_die("sigaction");
}

/* POSIX sigprocmask(): what was blocked is reported as blocked, all of it */
T_CASE(a_mask_reads_back_as_it_was_set)
{
	sigset_t all, old, got;
	int fd[2];

	p_pipe(fd);
	T_OK(sigprocmask(SIG_SETMASK, NULL, &old));
	sigfillset(&all);
	T_OK(sigprocmask(SIG_BLOCK, &all, NULL));
	T_OK(sigprocmask(SIG_SETMASK, NULL, &got));
	for (int sig = 1; sig < 32; sig++)
		if (sig != SIGKILL && sig != SIGSTOP &&
			sigismember(&got, sig) != 1)
			T_FAIL("SIG%s is not blocked", sigabbrev_np(sig));
	T_EQ(sigismember(&got, SIGSEGV), 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
	T_OK(sigprocmask(SIG_SETMASK, &old, &got));
	T_EQ(sigismember(&got, SIGBUS), 1);
	T_EQ(pthread_sigmask(SIG_SETMASK, NULL, &got), 0);
	T_EQ(sigismember(&got, SIGSEGV), 0);
	T_EQ(pthread_sigmask(77, &all, NULL), EINVAL);
}

/* EFAULT also in a program that blocks everything */
T_CASE(EFAULT_is_told_with_all_signals_blocked)
{
	static void *volatile nowhere = (void *)8;
	sigset_t all;
	int fd[2];

	p_pipe(fd);
	sigfillset(&all);
	T_OK(sigprocmask(SIG_SETMASK, &all, NULL));
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(read(fd[0], nowhere, 1), EFAULT);
	T_ERR(write(fd[1], nowhere, 1), EFAULT);
	T_EQ(p_drain(fd[0]), 1u);
}

T_CASE(a_blocked_signal_waits_and_comes_when_unblocked)
{
	struct p_call c;
	sigset_t set, pending;
	int fd[2];
	char b;

	p_signal(SIGUSR1, NULL, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	p_pipe(fd);
	p_call(&c, P_READ, fd[0], &b, 1); /* inherits the mask */
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_kill(c.thread, SIGUSR1), 0);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 1);
	T_OK(kill(getpid(), SIGUSR1));
	T_OK(sigpending(&pending));
	T_EQ(sigismember(&pending, SIGUSR1), 1);
	T_EQ(p_signals, 0);
	T_OK(sigprocmask(SIG_UNBLOCK, &set, NULL));
	T_EQ(p_signals, 1);
}

static siginfo_t last_info;

static void
keep_info(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	last_info = *si;
	p_signals++;
}

/* POSIX sigqueue(): the value arrives; realtime signals queue in order */
T_CASE(queued_signals_keep_their_values)
{
	union sigval v = { .sival_int = 4711 };
	struct p_call c;
	int fd[2];
	char b;

	P_HANDLERS_AT_ONCE();
	set_action(SIGRTMIN, keep_info, 0);
	p_pipe(fd);
	T_OK(sigqueue(getpid(), SIGRTMIN, v));
	T_EQ(p_signals, 1);
	T_EQ(last_info.si_value.sival_int, 4711);
	T_EQ(last_info.si_code, SI_QUEUE);
	T_EQ(last_info.si_pid, getpid());
	p_call(&c, P_READ, fd[0], &b, 1);
	T_TRUE(p_call_blocks(&c));
	v.sival_int = 4712;
	T_EQ(pthread_sigqueue(c.thread, SIGRTMIN, v), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.err, EINTR);
	T_EQ(last_info.si_value.sival_int, 4712);
}

static char *alt_stack;
static volatile int on_alt;

static void
where(int sig, siginfo_t *si, void *uc)
{
	char here;

	(void)sig;
	(void)si;
	(void)uc;
	on_alt = &here >= alt_stack && &here < alt_stack + 65536;
	p_signals++;
}

/* POSIX sigaltstack(): SA_ONSTACK handlers run there, during calls too */
T_CASE(a_handler_runs_on_the_alternate_stack)
{
	stack_t ss = { .ss_size = 65536 };
	int fd[2];
	char b;

	P_HANDLERS_AT_ONCE();
	alt_stack = malloc(65536);
	ss.ss_sp = alt_stack;
	T_OK(sigaltstack(&ss, NULL));
	set_action(SIGUSR1, where, SA_ONSTACK);
	T_OK(raise(SIGUSR1));
	T_EQ(on_alt, 1);
	set_action(SIGALRM, where, SA_ONSTACK);
	on_alt = 0;
	p_pipe(fd);
	ualarm(5000, 0);
	T_ERR(read(fd[0], &b, 1), EINTR);
	T_EQ(on_alt, 1);
	set_action(SIGUSR1, where, 0);
	T_OK(raise(SIGUSR1));
	T_EQ(on_alt, 0);
}

static void
block_more(int sig, siginfo_t *si, void *uc)
{
	ucontext_t *u = uc;

	(void)sig;
	(void)si;
	p_signals++;
	sigaddset(&u->uc_sigmask, SIGUSR2);
}

/* what a handler writes into its context is in force when it returns */
T_CASE(a_handler_can_change_the_mask_it_returns_to)
{
	sigset_t now;
	int fd[2];

	p_pipe(fd);
	set_action(SIGUSR1, block_more, 0);
	T_OK(raise(SIGUSR1));
	T_EQ(p_signals, 1);
	T_OK(sigprocmask(SIG_SETMASK, NULL, &now));
	T_EQ(sigismember(&now, SIGUSR2), 1);
	T_EQ(sigismember(&now, SIGUSR1), 0);
}

/* POSIX sigsuspend(), sigwait(), pause() */
T_CASE(sigsuspend_sigwait_and_pause_work_as_ever)
{
	sigset_t set, none;
	int fd[2], sig;

	p_pipe(fd);
	p_signal(SIGUSR1, NULL, 0);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	T_OK(raise(SIGUSR1));
	T_ERR(sigsuspend(&none), EINTR);
	T_EQ(p_signals, 1);
	T_OK(raise(SIGUSR1));
	T_EQ(sigwait(&set, &sig), 0);
	T_EQ(sig, SIGUSR1);
	T_EQ(p_signals, 1);
	T_OK(sigprocmask(SIG_UNBLOCK, &set, NULL));
	p_signal(SIGALRM, NULL, SA_RESTART);
	ualarm(5000, 0);
	T_ERR(pause(), EINTR);
	T_EQ(p_signals, 2);
}

/* POSIX exec: caught signals get the default action, ignored stay ignored */
T_CASE(exec_resets_handlers_and_keeps_ignored_signals)
{
	int fd[2], status;
	pid_t pid;

	p_pipe(fd);
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (pid == 0) {
			p_signal(SIGUSR1, NULL, 0);
			if (i == 1)
				signal(SIGUSR1, SIG_IGN);
			execl("/bin/sh", "sh", "-c", "kill -USR1 $$; exit 6",
				(char *)NULL);
			_exit(1);
		}
		status = p_wait(pid, P_MS_LONG);
		if (i == 0) {
			T_TRUE(WIFSIGNALED(status));
			T_EQ(WTERMSIG(status), SIGUSR1);
		} else {
			T_TRUE(WIFEXITED(status));
			T_EQ(WEXITSTATUS(status), 6);
		}
	}
}

/* POSIX fork(): the child has the handlers, not the pending signals */
T_CASE(a_child_keeps_the_handlers)
{
	sigset_t set, pending;
	int fd[2];
	pid_t pid;

	p_pipe(fd);
	p_signal(SIGUSR1, NULL, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	T_OK(sigprocmask(SIG_BLOCK, &set, NULL));
	T_OK(raise(SIGUSR2));
	pid = fork();
	if (pid == 0) {
		T_OK(sigpending(&pending));
		T_EQ(sigismember(&pending, SIGUSR2), 0);
		T_OK(raise(SIGUSR1));
		T_EQ(p_signals, 1);
		_exit(0);
	}
	T_TRUE(p_exited(pid, 0));
	T_EQ(p_signals, 0);
}

/* default actions do what they do */
T_CASE(default_actions_stop_continue_and_terminate)
{
	int fd[2], status;
	char b;
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		p_signal(SIGTERM, NULL, 0);
		signal(SIGTERM, SIG_DFL);
		(void)!read(fd[0], &b, 1);
		_exit(1);
	}
	T_TRUE(p_asleep(pid, pid));
	T_OK(kill(pid, SIGSTOP));
	T_EQ(waitpid(pid, &status, WUNTRACED), pid);
	T_TRUE(WIFSTOPPED(status));
	T_OK(kill(pid, SIGCONT));
	T_OK(kill(pid, SIGTERM));
	status = p_wait(pid, P_MS_LONG);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGTERM);
}

/* a handler may itself wait on a pipe, inside a wait on the same pipe */
static int inner[2];

static void
read_one(int sig)
{
	int err = errno;
	char c;

	(void)sig;
	p_signals++;
	if (read(inner[0], &c, 1) != 1 || c != 'i')
		_exit(94);
	p_signals++;
	errno = err;
}

T_CASE(a_handler_may_wait_on_the_pipe_it_interrupted)
{
	struct p_call c;
	char b;

	P_HANDLERS_AT_ONCE();
	p_pipe(inner);
	p_signal(SIGUSR1, read_one, SA_RESTART);
	p_call(&c, P_READ, inner[0], &b, 1);
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_kill(c.thread, SIGUSR1), 0);
	T_SOON(p_signals == 1, P_MS_LONG);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(inner[1], "i", 1), 1);
	T_SOON(p_signals == 2, P_MS_LONG);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(inner[1], "o", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 1);
	T_EQ(b, 'o');
}

/* nested: a second signal interrupts the handler of the first */
static void
outer(int sig)
{
	(void)sig;
	p_signals++;
	raise(SIGUSR2);
	if (p_signals != 2)
		_exit(93);
}

T_CASE(a_handler_can_be_interrupted_by_another_signal)
{
	struct p_call c;
	int fd[2];
	char b;

	P_HANDLERS_AT_ONCE();
	p_pipe(fd);
	p_signal(SIGUSR1, outer, SA_RESTART);
	p_signal(SIGUSR2, NULL, 0);
	p_call(&c, P_READ, fd[0], &b, 1);
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_kill(c.thread, SIGUSR1), 0);
	T_SOON(p_signals == 2, P_MS_LONG);
	T_EQ(write(fd[1], "x", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	/* the outer one restarts, the inner one interrupts: either is seen */
	T_TRUE(c.ret == 1 || (c.ret == -1 && c.err == EINTR));
}

/* POSIX: SIGCHLD's default is to be ignored, a handler interrupts */
T_CASE(a_child_that_exits_interrupts_only_when_SIGCHLD_is_caught)
{
	struct p_call c;
	int fd[2];
	char b;
	pid_t pid;

	p_pipe(fd);
	signal(SIGCHLD, SIG_DFL);
	p_call(&c, P_READ, fd[0], &b, 1);
	T_TRUE(p_call_blocks(&c));
	pid = fork();
	if (pid == 0)
		_exit(0);
	T_TRUE(p_exited(pid, 0));
	T_TRUE(p_call_blocks(&c));
	p_signal(SIGCHLD, NULL, 0);
	T_EQ(pthread_kill(c.thread, SIGCHLD), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.err, EINTR);
}

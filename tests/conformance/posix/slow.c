/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Reads of a pipe whose messages come rarely.  A reader that has often waited
 * for long sleeps in another way than at the first time; signals, cancellation
 * and the end of the writer must end that sleep as well.
 */
#include "posix.h"

#include <sys/wait.h>

#include <setjmp.h>

/* The calls of a reader, after which its pipe counts as slow. */
#define ROUNDS 6

static char buf[16];

static void
slow_down(int fd[2])
{
	struct p_call c;

	p_pipe(fd);
	for (int i = 0; i < ROUNDS; i++) {
		p_call(&c, P_READ, fd[0], buf, 4);
		T_TRUE(p_call_blocks(&c));
		p_pause(1);
		T_EQ(write(fd[1], "abcd", 4), 4);
		T_TRUE(p_call_returns(&c, P_MS_LONG));
		T_EQ(c.ret, 4);
		T_MEM(buf, "abcd", 4);
	}
}

T_CASE(a_slow_message_longer_than_the_buffer_is_read_in_parts)
{
	struct p_call c;
	int fd[2];

	slow_down(fd);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "abcdefg", 7), 7);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 4);
	T_MEM(buf, "abcd", 4);
	T_EQ(read(fd[0], buf, sizeof(buf)), 3);
	T_MEM(buf, "efg", 3);
}

T_CASE(a_signal_ends_the_sleep_of_a_slow_reader)
{
	struct p_call c;
	int fd[2];

	slow_down(fd);
	p_signals = 0;
	p_signal(SIGUSR1, NULL, 0);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_kill(c.thread, SIGUSR1), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, -1);
	T_EQ(c.err, EINTR);
	T_EQ(p_signals, 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], buf, 4), 1);
}

T_CASE(a_slow_reader_goes_on_after_a_signal_with_SA_RESTART)
{
	struct p_call c;
	int fd[2];

	P_HANDLERS_AT_ONCE();
	slow_down(fd);
	p_signals = 0;
	p_signal(SIGUSR1, NULL, SA_RESTART);
	p_call(&c, P_READ, fd[0], buf, 4);
	for (int i = 1; i <= 3; i++) {
		T_TRUE(p_call_blocks(&c));
		T_EQ(pthread_kill(c.thread, SIGUSR1), 0);
		T_SOON(p_signals == i, P_MS_LONG);
	}
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "abcd", 4), 4);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 4);
}

T_CASE(a_slow_reader_can_be_cancelled)
{
	struct p_call c;
	void *ret;
	int fd[2];

	slow_down(fd);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(pthread_cancel(c.thread), 0);
	T_EQ(pthread_join(c.thread, &ret), 0);
	T_TRUE(ret == PTHREAD_CANCELED);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], buf, 4), 1);
}

T_CASE(two_slow_readers_get_one_message_each)
{
	struct p_call c, d;
	char other[4];
	int fd[2];

	slow_down(fd);
	p_call(&c, P_READ, fd[0], buf, 4);
	p_call(&d, P_READ, fd[0], other, 4);
	T_TRUE(p_call_blocks(&c));
	T_TRUE(p_call_blocks(&d));
	T_EQ(write(fd[1], "abcd", 4), 4);
	T_EQ(write(fd[1], "efgh", 4), 4);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(p_call_returns(&d, P_MS_LONG));
	T_EQ(c.ret, 4);
	T_EQ(d.ret, 4);
	T_NE(buf[0], other[0]);
}

T_CASE(the_last_close_ends_the_sleep_of_a_slow_reader)
{
	struct p_call c;
	int fd[2];

	slow_down(fd);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(close(fd[1]), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 0);
}

T_CASE(a_kill_of_the_writer_ends_the_sleep_of_a_slow_reader)
{
	struct p_call c;
	int fd[2];
	pid_t pid;

	slow_down(fd);
	pid = fork();
	T_GE(pid, 0);
	if (pid == 0) {
		close(fd[0]);
		for (;;)
			pause();
	}
	T_EQ(close(fd[1]), 0);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(kill(pid, SIGKILL), 0);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 0);
	T_EQ(waitpid(pid, NULL, 0), pid);
}

/* ------------------------- a process with one thread, whose handlers do more */

static sigjmp_buf away;
static int pair[2];

static void
leaps(int sig)
{
	(void)sig;
	siglongjmp(away, 1);
}

static void
forks(int sig)
{
	pid_t pid = fork();

	(void)sig;
	if (pid == 0) {
		/* the read of the child is interrupted, too */
		return;
	}
	T_TRUE(p_exited(pid, 3));
}

/* A child pokes the reader when it sleeps, then writes. */
static pid_t
poker(pid_t reader)
{
	pid_t pid = fork();

	T_GE(pid, 0);
	if (pid != 0)
		return pid;
	for (int i = 0; i < ROUNDS; i++) {
		if (!p_asleep(reader, reader))
			_exit(1);
		p_pause(1);
		if (write(pair[1], "abcd", 4) != 4)
			_exit(1);
		/* until it has been read, and the reader sleeps again */
		p_pause(5);
	}
	if (!p_asleep(reader, reader) || kill(reader, SIGUSR1) != 0)
		_exit(1);
	_exit(0);
}

T_CASE(a_slow_reader_may_be_left_by_siglongjmp)
{
	volatile int n = 0;
	pid_t pid;

	P_HANDLERS_AT_ONCE();
	p_signal(SIGUSR1, leaps, 0);
	p_pipe(pair);
	pid = poker(getpid());
	if (sigsetjmp(away, 1) == 0)
		while (read(pair[0], buf, 4) == 4)
			n++;
	T_EQ(n, ROUNDS);
	T_TRUE(p_exited(pid, 0));
	T_EQ(write(pair[1], "x", 1), 1);
	T_EQ(read(pair[0], buf, 4), 1);
}

T_CASE(a_handler_forks_in_the_sleep_of_a_slow_reader)
{
	pid_t self = getpid(), pid;
	int n = 0;

	P_HANDLERS_AT_ONCE();
	p_signal(SIGUSR1, forks, 0);
	p_pipe(pair);
	pid = poker(self);
	while (read(pair[0], buf, 4) == 4)
		n++;
	if (getpid() != self)
		_exit(errno == EINTR && n == ROUNDS &&
			write(pair[1], "x", 1) == 1 ? 3 : 4);
	T_EQ(errno, EINTR);
	T_EQ(n, ROUNDS);
	T_TRUE(p_exited(pid, 0));
	T_EQ(read(pair[0], buf, 4), 1);
}

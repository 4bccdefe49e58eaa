/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * write() and writev() to a pipe: how much, when it waits, what is atomic,
 * and what happens when no reader is left.
 */
#include "posix.h"

#include <sys/uio.h>
#include <sys/wait.h>

/* POSIX write(): returns the number of bytes written */
T_CASE(write_returns_the_number_of_bytes)
{
	static char buf[PIPE_BUF];
	int fd[2];

	p_pipe(fd);
	for (size_t n = 1; n <= sizeof(buf); n *= 2) {
		T_EQ(write(fd[1], buf, n), (ssize_t)n);
		T_EQ(p_drain(fd[0]), n);
	}
}

/* POSIX: {PIPE_BUF} is at least {_POSIX_PIPE_BUF}, 512 */
T_CASE(PIPE_BUF_is_what_fpathconf_says)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(fpathconf(fd[0], _PC_PIPE_BUF), PIPE_BUF);
	T_EQ(fpathconf(fd[1], _PC_PIPE_BUF), PIPE_BUF);
}

/* POSIX pipe(): an empty pipe takes an atomic write, always */
T_CASE(an_empty_pipe_takes_PIPE_BUF_bytes_at_once)
{
	static char buf[PIPE_BUF];
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	for (int i = 0; i < 100; i++) {
		T_EQ(write(fd[1], buf, sizeof(buf)), PIPE_BUF);
		T_EQ(p_drain(fd[0]), (size_t)PIPE_BUF);
	}
}

/*
 * POSIX write(), O_NONBLOCK, {PIPE_BUF} or fewer bytes: "transfer all the
 * data" or "transfer no data and return -1 with errno set to [EAGAIN]".
 */
T_CASE(nonblocking_write_up_to_PIPE_BUF_is_all_or_EAGAIN)
{
	static char buf[PIPE_BUF];
	static const size_t size[] = {
		1, 2, 63, 64, 65, 511, 512, 1000, 2048, 3001, 4095, PIPE_BUF,
	};
	size_t in;
	ssize_t n;
	int fd[2];

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		T_EQ(pipe2(fd, O_NONBLOCK), 0);
		for (in = 0;; in += size[i]) {
			T_LT(in, (size_t)4 * P_BIG);
			n = write(fd[1], buf, size[i]);
			if (n < 0)
				break;
			T_EQ(n, (ssize_t)size[i]);
		}
		T_EQ(errno, EAGAIN);
		T_GT(in, 0u);
		T_EQ(p_drain(fd[0]), in);
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
	}
}

/* ... "more than {PIPE_BUF} bytes: ... transfer what it can" */
T_CASE(nonblocking_write_of_more_than_fits_is_partial)
{
	char *buf = malloc(P_BIG);
	int fd[2];
	ssize_t n, r;
	size_t got = 0;

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	p_pattern(buf, P_BIG, 0);
	n = write(fd[1], buf, P_BIG);
	T_GE(n, PIPE_BUF);
	T_LE(n, (ssize_t)P_BIG);
	memset(buf, 0, P_BIG);
	while ((r = read(fd[0], buf + got, P_BIG)) > 0)
		got += (size_t)r;
	T_EQ(got, (size_t)n);
	T_EQ(p_pattern_ok(buf, got, 0), got);
	free(buf);
}

/* ... "If no data can be written, ... return -1 with ... [EAGAIN]" */
T_CASE(nonblocking_big_write_to_a_full_pipe_fails_with_EAGAIN)
{
	char *buf = calloc(1, P_BIG);
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	T_GT(p_fill(fd[1]), 0u);
	T_ERR(write(fd[1], buf, P_BIG), EAGAIN);
	T_ERR(write(fd[1], buf, 1), EAGAIN);
	free(buf);
}

/*
 * ... "When all data previously written to the pipe is read, it shall
 * transfer at least {PIPE_BUF} bytes."
 */
T_CASE(an_emptied_pipe_takes_at_least_PIPE_BUF_of_a_big_write)
{
	char *buf = calloc(1, P_BIG);
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	for (int i = 0; i < 5; i++) {
		p_fill(fd[1]);
		p_drain(fd[0]);
		T_GE(write(fd[1], buf, P_BIG), PIPE_BUF);
	}
	free(buf);
}

/* the bound must come back to where it was, else space leaks */
T_CASE(a_pipe_filled_and_emptied_holds_as_much_every_time)
{
	size_t first, n;
	int fd[2];

	p_pipe(fd);
	first = p_fill(fd[1]);
	T_EQ(p_drain(fd[0]), first);
	for (int i = 0; i < 20; i++) {
		n = p_fill(fd[1]);
		T_EQ(p_drain(fd[0]), n);
		T_GE(2 * n, first);
		T_LE(n, 2 * first);
	}
}

/* POSIX write(): O_NONBLOCK clear, "a write request may cause the thread to
 * block, but on normal completion it shall return nbyte" */
T_CASE(blocking_big_write_returns_only_when_all_is_written)
{
	static char buf[65536];
	char *big = malloc(P_BIG);
	struct p_call c;
	size_t got = 0;
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	p_pattern(big, P_BIG, 0);
	p_call(&c, P_WRITE, fd[1], big, P_BIG);
	T_TRUE(p_call_blocks(&c));
	while (got < P_BIG) {
		T_FALSE(c.done && c.ret != (long)P_BIG);
		n = read(fd[0], buf, 1 + (size_t)t_rand_below(sizeof(buf)));
		T_GT(n, 0);
		T_EQ(p_pattern_ok(buf, (size_t)n, got), (size_t)n);
		got += (size_t)n;
	}
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, (long)P_BIG);
	free(big);
}

T_CASE(blocking_big_writev_returns_only_when_all_is_written)
{
	static char buf[65536];
	char *big = malloc(P_BIG);
	struct p_call c;
	size_t got = 0;
	ssize_t n;
	int fd[2];

	p_pipe(fd);
	p_pattern(big, P_BIG, 0);
	p_call(&c, P_WRITEV, fd[1], big, P_BIG);
	while (got < P_BIG) {
		n = read(fd[0], buf, sizeof(buf));
		T_GT(n, 0);
		T_EQ(p_pattern_ok(buf, (size_t)n, got), (size_t)n);
		got += (size_t)n;
	}
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, (long)P_BIG);
	free(big);
}

T_CASE(write_to_a_full_pipe_waits_for_a_reader)
{
	struct p_call c;
	size_t in;
	int fd[2];

	p_pipe(fd);
	in = p_fill(fd[1]);
	p_call(&c, P_WRITE, fd[1], "w", 1);
	T_TRUE(p_call_blocks(&c));
	T_GE(p_drain(fd[0]), in);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 1);
}

/* a blocked write of <= PIPE_BUF goes in whole, when there is room for it */
T_CASE(an_atomic_write_that_waits_is_not_begun)
{
	static char buf[PIPE_BUF], out[P_BIG];
	struct p_call c;
	size_t in, got;
	int fd[2];

	p_pipe(fd);
	in = p_fill(fd[1]);
	memset(buf, 0xff, sizeof(buf)); /* not in the pattern */
	p_call(&c, P_WRITE, fd[1], buf, sizeof(buf));
	T_TRUE(p_call_blocks(&c));
	got = p_read_all(fd[0], out, in);
	T_EQ(got, in);
	for (size_t i = 0; i < in; i++)
		T_NE(out[i], (char)0xff);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, PIPE_BUF);
	T_EQ(p_read_all(fd[0], out, PIPE_BUF), (size_t)PIPE_BUF);
	T_MEM(out, buf, PIPE_BUF);
}

T_CASE(every_writer_that_waits_gets_its_turn)
{
	static char byte[6] = "abcdef";
	struct p_call c[6];
	int fd[2], back = 0;
	double end;

	p_pipe(fd);
	p_fill(fd[1]);
	for (int i = 0; i < 6; i++)
		p_call(&c[i], P_WRITE, fd[1], &byte[i], 1);
	for (int i = 0; i < 6; i++)
		T_TRUE(p_call_blocks(&c[i]));
	for (end = p_ms() + P_MS_LONG; back < 6 && p_ms() < end;) {
		p_drain(fd[0]);
		for (int i = back = 0; i < 6; i++)
			back += c[i].done;
		p_pause(1);
	}
	T_EQ(back, 6);
}

/* POSIX write(): nbyte 0 on a pipe is unspecified; Linux returns 0 */
T_CASE(write_of_no_bytes_returns_0_on_an_empty_and_on_a_full_pipe)
{
	int fd[2];
	size_t in;

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	T_EQ(write(fd[1], "x", 0), 0);
	T_EQ(write(fd[1], NULL, 0), 0);
	in = p_fill(fd[1]);
	T_EQ(write(fd[1], "x", 0), 0);
	T_EQ(p_drain(fd[0]), in);
}

/* POSIX writev(): "gather the output data from the iovcnt buffers" */
T_CASE(writev_gathers_in_order)
{
	struct iovec iov[4] = {
		{ (char[]){ "ab" }, 2 }, { NULL, 0 },
		{ (char[]){ "cde" }, 3 }, { (char[]){ "f" }, 1 },
	};
	char buf[8];
	int fd[2];

	p_pipe(fd);
	T_EQ(writev(fd[1], iov, 4), 6);
	T_EQ(read(fd[0], buf, 8), 6);
	T_MEM(buf, "abcdef", 6);
}

T_CASE(writev_takes_IOV_MAX_areas)
{
	static struct iovec iov[IOV_MAX];
	static char buf[3 * IOV_MAX], out[3 * IOV_MAX];
	int fd[2];

	p_pipe(fd);
	p_pattern(buf, sizeof(buf), 0);
	for (int i = 0; i < IOV_MAX; i++) {
		iov[i].iov_base = &buf[3 * i];
		iov[i].iov_len = 3;
	}
	T_EQ(writev(fd[1], iov, IOV_MAX), 3 * IOV_MAX);
	T_EQ(p_read_all(fd[0], out, sizeof(out)), sizeof(out));
	T_MEM(out, buf, sizeof(out));
}

T_CASE(writev_refuses_impossible_counts)
{
	static struct iovec iov[IOV_MAX + 1];
	volatile int minus = -1;
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i <= IOV_MAX; i++) {
		iov[i].iov_base = (char[]){ "z" };
		iov[i].iov_len = 1;
	}
	T_ERR(writev(fd[1], iov, minus), EINVAL);
	T_ERR(writev(fd[1], iov, INT_MIN + 1 + minus), EINVAL);
	T_ERR(writev(fd[1], iov, IOV_MAX + 1), EINVAL);
	T_EQ(p_drain(fd[0]), 0u);
}

/* Linux: no memory is so long; and not a byte of it is written or read */
T_CASE(lengths_of_nobodys_memory_are_EFAULT)
{
	static const size_t len[] = { SIZE_MAX, (size_t)SSIZE_MAX + 1,
		SSIZE_MAX };
	static char memory[300000];
	char *volatile buf = memory; /* the compiler knows, too */
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 3; i++) {
		volatile size_t n = len[i];

		T_ERR(write(fd[1], buf, n), EFAULT);
		T_ERR(read(fd[0], buf, n), EFAULT);
	}
	T_EQ(p_drain(fd[0]), 0u);
}

T_CASE(writev_refuses_lengths_that_overflow)
{
	struct iovec iov[2] = {
		{ (char[]){ "z" }, 1 }, { (char[]){ "z" }, SIZE_MAX },
	};
	int fd[2];

	p_pipe(fd);
	T_ERR(writev(fd[1], iov, 2), EINVAL);
	T_EQ(p_drain(fd[0]), 0u);
}

T_CASE(writev_of_empty_areas_writes_nothing)
{
	struct iovec iov[2] = { { NULL, 0 }, { NULL, 0 } };
	int fd[2];

	p_pipe(fd);
	T_EQ(writev(fd[1], iov, 2), 0);
	T_EQ(p_drain(fd[0]), 0u);
}

/* POSIX writev(): one write as far as atomicity goes */
T_CASE(nonblocking_writev_up_to_PIPE_BUF_is_all_or_EAGAIN)
{
	static char buf[1500];
	struct iovec iov[2] = { { buf, 1500 }, { buf, 1201 } };
	size_t in = 0;
	ssize_t n;
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	while ((n = writev(fd[1], iov, 2)) > 0) {
		T_EQ(n, 2701);
		in += 2701;
	}
	T_EQ(errno, EAGAIN);
	T_EQ(p_drain(fd[0]), in);
}

/* POSIX write(): EPIPE, "and a SIGPIPE signal shall also be sent" */
T_CASE(write_without_a_reader_fails_with_EPIPE_when_SIGPIPE_is_ignored)
{
	struct iovec iov = { (char[]){ "z" }, 1 };
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	T_OK(close(fd[0]));
	for (int i = 0; i < 3; i++) {
		T_ERR(write(fd[1], "x", 1), EPIPE);
		T_ERR(writev(fd[1], &iov, 1), EPIPE);
	}
	p_nonblock(fd[1], 1);
	T_ERR(write(fd[1], "x", 1), EPIPE);
}

T_CASE(write_without_a_reader_runs_the_handler_of_SIGPIPE)
{
	int fd[2];

	p_signal(SIGPIPE, NULL, 0);
	p_pipe(fd);
	T_OK(close(fd[0]));
	T_ERR(write(fd[1], "x", 1), EPIPE);
	T_EQ(p_signals, 1);
	T_ERR(write(fd[1], "x", 1), EPIPE);
	T_EQ(p_signals, 2);
}

T_CASE(write_without_a_reader_fails_with_EPIPE_also_under_SA_RESTART)
{
	int fd[2];

	p_signal(SIGPIPE, NULL, SA_RESTART);
	p_pipe(fd);
	T_OK(close(fd[0]));
	T_ERR(write(fd[1], "x", 1), EPIPE);
	T_EQ(p_signals, 1);
}

/* POSIX <signal.h>: the default action of SIGPIPE is to terminate */
T_CASE(write_without_a_reader_kills_by_default)
{
	int fd[2], status;
	pid_t pid;

	p_pipe(fd);
	T_OK(close(fd[0]));
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		if (write(fd[1], "x", 1) != 0)
			_exit(1);
		_exit(2);
	}
	status = p_wait(pid, P_MS_LONG);
	T_TRUE(WIFSIGNALED(status));
	T_EQ(WTERMSIG(status), SIGPIPE);
}

/* POSIX write(): the signal goes "to the thread"; blocked, it is pending */
T_CASE(a_blocked_SIGPIPE_stays_pending_for_the_thread)
{
	int fd[2];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	T_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
	p_pipe(fd);
	T_OK(close(fd[0]));
	T_ERR(write(fd[1], "x", 1), EPIPE);
	T_OK(sigpending(&set));
	T_EQ(sigismember(&set, SIGPIPE), 1);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	T_EQ(sigtimedwait(&set, NULL, &(struct timespec){ 0, 0 }), SIGPIPE);
}

/* a reader that leaves ends a write that waits for it */
T_CASE(write_that_waits_fails_with_EPIPE_when_the_last_reader_closes)
{
	struct p_call c;
	int fd[2], d;

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	d = T_OK(dup(fd[0]));
	p_fill(fd[1]);
	p_call(&c, P_WRITE, fd[1], "x", 1);
	T_OK(close(fd[0]));
	T_TRUE(p_call_blocks(&c));
	T_OK(close(d));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, -1);
	T_EQ(c.err, EPIPE);
}

/*
 * POSIX write() returns the bytes written if any were.  What came of a big
 * write whose reader left half way is a count or EPIPE, never the whole.
 */
T_CASE(big_write_whose_reader_leaves_does_not_claim_to_be_complete)
{
	char *big = calloc(1, P_BIG);
	struct p_call c;
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	p_call(&c, P_WRITE, fd[1], big, P_BIG);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret < (long)P_BIG);
	T_TRUE(c.ret > 0 || (c.ret == -1 && c.err == EPIPE));
	T_ERR(write(fd[1], "x", 1), EPIPE);
	free(big);
}

T_CASE(every_writer_that_waits_gets_EPIPE_when_the_reader_closes)
{
	struct p_call c[6];
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	p_fill(fd[1]);
	for (int i = 0; i < 6; i++)
		p_call(&c[i], P_WRITE, fd[1], "x", 1);
	for (int i = 0; i < 6; i++)
		T_TRUE(p_call_blocks(&c[i]));
	T_OK(close(fd[0]));
	for (int i = 0; i < 6; i++) {
		T_TRUE(p_call_returns(&c[i], P_MS_LONG));
		T_EQ(c[i].ret, -1);
		T_EQ(c[i].err, EPIPE);
	}
}

/* data that cannot be read any more is no reason to go on accepting data */
T_CASE(write_after_the_reader_left_fails_although_there_was_room)
{
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	T_EQ(write(fd[1], "abc", 3), 3);
	T_OK(close(fd[0]));
	T_ERR(write(fd[1], "x", 1), EPIPE);
}

T_CASE(write_goes_on_while_one_reader_is_left)
{
	int fd[2], d;
	char c;

	p_pipe(fd);
	d = T_OK(dup(fd[0]));
	T_OK(close(fd[0]));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(d, &c, 1), 1);
}

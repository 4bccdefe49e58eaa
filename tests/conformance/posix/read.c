/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * read() and readv() from a pipe: how much, when it waits, when it ends.
 */
#include "posix.h"

#include <sys/ioctl.h>
#include <sys/uio.h>

/* POSIX read(): bytes come out in the order they went in */
T_CASE(bytes_come_out_in_the_order_they_went_in)
{
	char buf[64];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "abc", 3), 3);
	T_EQ(write(fd[1], "defg", 4), 4);
	T_EQ(p_read_all(fd[0], buf, 7), 7u);
	T_MEM(buf, "abcdefg", 7);
}

/* POSIX read(): a pipe is a byte stream, writes leave no boundaries */
T_CASE(one_read_takes_what_several_writes_left)
{
	char buf[64];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "one", 3), 3);
	T_EQ(write(fd[1], "two", 3), 3);
	T_EQ(write(fd[1], "three", 5), 5);
	T_EQ(read(fd[0], buf, sizeof(buf)), 11);
	T_MEM(buf, "onetwothree", 11);
}

/* POSIX read(): "may be less than nbyte if ... fewer than nbyte bytes" */
T_CASE(read_returns_what_there_is_without_waiting_for_more)
{
	char buf[64];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "short", 5), 5);
	T_EQ(read(fd[0], buf, sizeof(buf)), 5);
}

/* POSIX read(): "no bytes beyond" those asked for are consumed */
T_CASE(what_a_short_read_leaves_is_read_next)
{
	char buf[64];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "0123456789", 10), 10);
	memset(buf, '#', sizeof(buf));
	T_EQ(read(fd[0], buf, 4), 4);
	T_MEM(buf, "0123####", 8);
	T_EQ(read(fd[0], buf, 1), 1);
	T_EQ(buf[0], '4');
	T_EQ(read(fd[0], buf, sizeof(buf)), 5);
	T_MEM(buf, "56789", 5);
}

T_CASE(reading_byte_by_byte_loses_nothing)
{
	static char in[3000];
	int fd[2];
	char c, want;

	p_pipe(fd);
	p_pattern(in, sizeof(in), 0);
	T_EQ(write(fd[1], in, sizeof(in)), 3000);
	for (size_t i = 0; i < sizeof(in); i++) {
		T_EQ(read(fd[0], &c, 1), 1);
		p_pattern(&want, 1, i);
		T_EQ(c, want);
	}
}

T_CASE(writing_byte_by_byte_is_read_as_one)
{
	static char out[4000];
	int fd[2];
	char c;

	p_pipe(fd);
	for (size_t i = 0; i < sizeof(out); i++) {
		p_pattern(&c, 1, i);
		T_EQ(write(fd[1], &c, 1), 1);
	}
	T_EQ(p_read_all(fd[0], out, sizeof(out)), 4000u);
	T_EQ(p_pattern_ok(out, sizeof(out), 0), 4000u);
}

/*
 * POSIX read(): the stream is the same however it is cut.  Sizes around
 * every power of two on both sides, none a divisor of the other.
 */
T_CASE(any_cut_of_writes_and_reads_gives_the_same_bytes)
{
	static char out[9000], in[9000];
	size_t wrote = 0, got = 0, n;
	int fd[2];
	ssize_t r;

	p_pipe(fd);
	for (int i = 0; i < 3000; i++) {
		n = 1 + (size_t)t_rand_below(1u << t_rand_below(12));
		p_pattern(out, n, wrote);
		T_EQ(write(fd[1], out, n), (ssize_t)n);
		wrote += n;
		while (wrote - got > 3000) {
			n = 1 + (size_t)t_rand_below(
				1u << t_rand_below(13));
			r = read(fd[0], in, n);
			T_GT(r, 0);
			T_LE((size_t)r, n);
			T_EQ(p_pattern_ok(in, (size_t)r, got), (size_t)r);
			got += (size_t)r;
		}
	}
	T_OK(close(fd[1]));
	while ((r = read(fd[0], in, sizeof(in))) > 0) {
		T_EQ(p_pattern_ok(in, (size_t)r, got), (size_t)r);
		got += (size_t)r;
	}
	T_EQ(r, 0);
	T_EQ(got, wrote);
}

/* POSIX read(): "If nbyte is 0 ... return 0 and have no other results" */
T_CASE(read_of_no_bytes_returns_0_at_once_and_takes_nothing)
{
	int fd[2];
	char c = '#';

	p_pipe(fd);
	T_EQ(read(fd[0], &c, 0), 0);
	T_EQ(write(fd[1], "k", 1), 1);
	T_EQ(read(fd[0], &c, 0), 0);
	T_EQ(c, '#');
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'k');
}

T_CASE(read_of_no_bytes_does_not_wait_with_O_NONBLOCK_either)
{
	int fd[2];

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_EQ(read(fd[0], NULL, 0), 0);
	T_EQ(write(fd[1], "k", 1), 1);
	T_EQ(read(fd[0], NULL, 0), 0);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX read(): "O_NONBLOCK set, read() shall return -1 ... [EAGAIN]" */
T_CASE(nonblocking_read_of_an_empty_pipe_fails_with_EAGAIN)
{
	int fd[2];
	char c;

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_EQ(write(fd[1], "k", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

T_CASE(nonblocking_read_returns_what_there_is)
{
	char buf[16];
	int fd[2];

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_EQ(write(fd[1], "abc", 3), 3);
	T_EQ(read(fd[0], buf, sizeof(buf)), 3);
	T_ERR(read(fd[0], buf, sizeof(buf)), EAGAIN);
}

/* POSIX read(): O_NONBLOCK clear, "block ... until some data is written" */
T_CASE(read_waits_until_something_is_written)
{
	struct p_call c;
	char buf[16];
	int fd[2];

	p_pipe(fd);
	p_call(&c, P_READ, fd[0], buf, sizeof(buf));
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "now", 3), 3);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 3);
	T_MEM(buf, "now", 3);
}

T_CASE(readv_waits_until_something_is_written)
{
	struct p_call c;
	char buf[8];
	int fd[2];

	p_pipe(fd);
	p_call(&c, P_READV, fd[0], buf, sizeof(buf));
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "123456", 6), 6);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 6);
	T_MEM(buf, "123456", 6);
}

/* ... "or the pipe is closed by all processes that had it open for writing" */
T_CASE(read_that_waits_returns_0_when_the_last_writer_closes)
{
	struct p_call c;
	int fd[2], d;
	char buf[4];

	p_pipe(fd);
	d = T_OK(dup(fd[1]));
	p_call(&c, P_READ, fd[0], buf, sizeof(buf));
	T_OK(close(fd[1]));
	T_TRUE(p_call_blocks(&c));
	T_OK(close(d));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 0);
}

/* POSIX read(): "no process has the pipe open for writing ... return 0" */
T_CASE(read_after_the_last_writer_is_end_of_file_again_and_again)
{
	int fd[2];
	char c;

	p_pipe(fd);
	T_OK(close(fd[1]));
	for (int i = 0; i < 5; i++)
		T_EQ(read(fd[0], &c, 1), 0);
	p_nonblock(fd[0], 1);
	T_EQ(read(fd[0], &c, 1), 0);
}

/* POSIX close(): data written before the close is still to be read */
T_CASE(end_of_file_comes_after_the_last_byte)
{
	static char buf[5100];
	int fd[2];

	p_pipe(fd);
	p_pattern(buf, 5000, 0);
	T_EQ(write(fd[1], buf, 5000), 5000);
	T_OK(close(fd[1]));
	memset(buf, 0, sizeof(buf));
	T_EQ(p_read_all(fd[0], buf, 4999), 4999u);
	T_EQ(read(fd[0], buf + 4999, 100), 1);
	T_EQ(p_pattern_ok(buf, 5000, 0), 5000u);
	T_EQ(read(fd[0], buf, 1), 0);
}

T_CASE(end_of_file_comes_after_the_last_byte_of_a_full_pipe)
{
	int fd[2];
	size_t in;
	char c;

	p_pipe(fd);
	in = p_fill(fd[1]);
	T_OK(close(fd[1]));
	T_EQ(p_drain(fd[0]), in);
	T_EQ(read(fd[0], &c, 1), 0);
}

/* POSIX write(): a write of no bytes is no end of file */
T_CASE(write_of_no_bytes_is_not_an_end_of_file)
{
	int fd[2];
	char c;

	p_pipe(fd);
	p_nonblock(fd[0], 1);
	T_EQ(write(fd[1], "", 0), 0);
	T_ERR(read(fd[0], &c, 1), EAGAIN);
	T_EQ(write(fd[1], "a", 1), 1);
	T_EQ(write(fd[1], "", 0), 0);
	T_EQ(write(fd[1], "b", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'a');
	T_EQ(read(fd[0], &c, 1), 1);
	T_EQ(c, 'b');
	T_ERR(read(fd[0], &c, 1), EAGAIN);
}

/* POSIX read(): each byte goes to exactly one of the readers that wait */
T_CASE(one_byte_wakes_one_of_two_readers)
{
	struct p_call a, b;
	char x, y;
	int fd[2];

	p_pipe(fd);
	p_call(&a, P_READ, fd[0], &x, 1);
	p_call(&b, P_READ, fd[0], &y, 1);
	T_TRUE(p_call_blocks(&a));
	T_TRUE(p_call_blocks(&b));
	T_EQ(write(fd[1], "1", 1), 1);
	T_SOON(a.done || b.done, P_MS_LONG);
	T_TRUE(p_call_blocks(a.done ? &b : &a));
	T_EQ(write(fd[1], "2", 1), 1);
	T_TRUE(p_call_returns(&a, P_MS_LONG));
	T_TRUE(p_call_returns(&b, P_MS_LONG));
	T_EQ(x + y, '1' + '2');
}

T_CASE(the_last_close_wakes_every_reader)
{
	struct p_call c[6];
	char x;
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 6; i++)
		p_call(&c[i], P_READ, fd[0], &x, 1);
	for (int i = 0; i < 6; i++)
		T_TRUE(p_call_blocks(&c[i]));
	T_OK(close(fd[1]));
	for (int i = 0; i < 6; i++) {
		T_TRUE(p_call_returns(&c[i], P_MS_LONG));
		T_EQ(c[i].ret, 0);
	}
}

/* one big write must be enough for all who wait, not only for the first */
T_CASE(one_write_of_two_bytes_serves_two_readers)
{
	struct p_call a, b;
	char x, y;
	int fd[2];

	p_pipe(fd);
	p_call(&a, P_READ, fd[0], &x, 1);
	p_call(&b, P_READ, fd[0], &y, 1);
	T_TRUE(p_call_blocks(&a));
	T_TRUE(p_call_blocks(&b));
	T_EQ(write(fd[1], "12", 2), 2);
	T_TRUE(p_call_returns(&a, P_MS_LONG));
	T_TRUE(p_call_returns(&b, P_MS_LONG));
	T_EQ(x + y, '1' + '2');
}

/* POSIX readv(): fills the areas in order, each before the next */
T_CASE(readv_scatters_in_order)
{
	char a[3], b[5], c[10];
	struct iovec iov[3] = {
		{ a, sizeof(a) }, { b, sizeof(b) }, { c, sizeof(c) },
	};
	int fd[2];

	p_pipe(fd);
	memset(c, '#', sizeof(c));
	T_EQ(write(fd[1], "0123456789", 10), 10);
	T_EQ(readv(fd[0], iov, 3), 10);
	T_MEM(a, "012", 3);
	T_MEM(b, "34567", 5);
	T_MEM(c, "89########", 10);
}

T_CASE(readv_passes_over_empty_areas)
{
	char a, b;
	struct iovec iov[5] = {
		{ NULL, 0 }, { &a, 1 }, { NULL, 0 }, { &b, 1 }, { NULL, 0 },
	};
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "xyz", 3), 3);
	T_EQ(readv(fd[0], iov, 5), 2);
	T_EQ(a, 'x');
	T_EQ(b, 'y');
	T_EQ(p_drain(fd[0]), 1u);
}

T_CASE(readv_into_empty_areas_only_returns_0)
{
	struct iovec iov[2] = { { NULL, 0 }, { NULL, 0 } };
	int fd[2];

	p_pipe(fd);
	T_EQ(readv(fd[0], iov, 2), 0);
	T_EQ(write(fd[1], "xyz", 3), 3);
	T_EQ(readv(fd[0], iov, 2), 0);
	T_EQ(p_drain(fd[0]), 3u);
}

T_CASE(readv_takes_IOV_MAX_areas)
{
	static struct iovec iov[IOV_MAX];
	static char buf[IOV_MAX];
	int fd[2];

	p_pipe(fd);
	p_pattern(buf, sizeof(buf), 7);
	T_EQ(write(fd[1], buf, sizeof(buf)), IOV_MAX);
	memset(buf, 0, sizeof(buf));
	for (int i = 0; i < IOV_MAX; i++) {
		iov[i].iov_base = &buf[i];
		iov[i].iov_len = 1;
	}
	T_EQ(readv(fd[0], iov, IOV_MAX), IOV_MAX);
	T_EQ(p_pattern_ok(buf, sizeof(buf), 7), (size_t)IOV_MAX);
}

/* POSIX readv(): EINVAL, iovcnt "less than or equal to 0, or greater" */
T_CASE(readv_refuses_impossible_counts)
{
	static struct iovec iov[IOV_MAX + 1];
	volatile int minus = -1;
	int fd[2];
	char c;

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	for (int i = 0; i <= IOV_MAX; i++)
		iov[i].iov_base = &c;
	iov[0].iov_len = 1;
	T_ERR(readv(fd[0], iov, minus), EINVAL);
	T_ERR(readv(fd[0], iov, INT_MIN + 1 + minus), EINVAL);
	T_ERR(readv(fd[0], iov, IOV_MAX + 1), EINVAL);
	T_EQ(p_drain(fd[0]), 1u);
}

/* POSIX readv(): EINVAL, the sum of lengths "overflowed an ssize_t" */
T_CASE(readv_refuses_lengths_that_overflow)
{
	char c;
	struct iovec iov[2] = { { &c, 1 }, { &c, SIZE_MAX } };
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_ERR(readv(fd[0], iov, 2), EINVAL);
	T_EQ(p_drain(fd[0]), 1u);
}

T_CASE(readv_of_an_empty_nonblocking_pipe_fails_with_EAGAIN)
{
	char a[4];
	struct iovec iov = { a, sizeof(a) };
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	T_ERR(readv(fd[0], &iov, 1), EAGAIN);
	T_OK(close(fd[1]));
	T_EQ(readv(fd[0], &iov, 1), 0);
}

/*
 * POSIX F_SETFL: the flag counts for the next call, from whatever process it
 * was set in.
 */
T_CASE(read_waits_again_when_O_NONBLOCK_is_cleared)
{
	struct p_call c;
	char buf[4];
	int fd[2];

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	T_ERR(read(fd[0], buf, 1), EAGAIN);
	p_nonblock(fd[0], 0);
	p_call(&c, P_READ, fd[0], buf, 4);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "go", 2), 2);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 2);
}

/* POSIX read(): a reader in another process sees the same stream */
T_CASE(parent_and_child_reading_in_turn_share_one_stream)
{
	int fd[2], turn[2];
	char buf[4];
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(turn);
	T_EQ(write(fd[1], "aabb", 4), 4);
	pid = fork();
	if (pid == 0) {
		T_EQ(read(fd[0], buf, 2), 2);
		T_MEM(buf, "aa", 2);
		T_EQ(write(turn[1], "x", 1), 1);
		_exit(0);
	}
	T_EQ(read(turn[0], buf, 1), 1);
	T_EQ(read(fd[0], buf, 4), 2);
	T_MEM(buf, "bb", 2);
	T_TRUE(p_exited(pid, 0));
}

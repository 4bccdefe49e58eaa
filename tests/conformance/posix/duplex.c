/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * What a STREAMS pipe does and a kernel pipe does not: both descriptors are
 * read and written.  POSIX pipe() leaves that open ("unspecified whether
 * fildes[0] is also open for writing"), SVR4 pipe(2) promises it: "data
 * written to fildes[0] becomes available for reading on fildes[1]".
 */
#include "posix.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

T_CASE(each_end_reads_what_the_other_wrote)
{
	char buf[8];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[0], "left", 4), 4);
	T_EQ(write(fd[1], "right", 5), 5);
	T_EQ(read(fd[0], buf, 8), 5);
	T_MEM(buf, "right", 5);
	T_EQ(read(fd[1], buf, 8), 4);
	T_MEM(buf, "left", 4);
}

T_CASE(both_ends_are_open_for_reading_and_writing)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(fcntl(fd[0], F_GETFL) & O_ACCMODE, O_RDWR);
	T_EQ(fcntl(fd[1], F_GETFL) & O_ACCMODE, O_RDWR);
}

/* flow control of one direction does not touch the other */
T_CASE(a_full_direction_leaves_the_other_free)
{
	int fd[2];

	p_pipe(fd);
	T_GT(p_fill(fd[1]), 0u);
	T_EQ(p_ready(fd[1], POLLOUT, 0), 0);
	T_EQ(p_ready(fd[0], POLLIN | POLLOUT, 0), POLLIN | POLLOUT);
	T_EQ(write(fd[0], "back", 4), 4);
	T_EQ(p_ready(fd[1], POLLIN | POLLOUT, 0), POLLIN);
	T_EQ(p_drain(fd[1]), 4u);
	T_GT(p_fill(fd[0]), 0u);
	T_EQ(p_ready(fd[0], POLLIN | POLLOUT, 0), POLLIN);
}

T_CASE(a_close_is_end_of_file_and_EPIPE_for_the_other_end)
{
	char buf[8];
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		p_pipe(fd);
		T_EQ(write(fd[i], "last", 4), 4);
		T_OK(close(fd[i]));
		T_ERR(write(fd[!i], "x", 1), EPIPE);
		T_EQ(read(fd[!i], buf, 8), 4);
		T_EQ(read(fd[!i], buf, 8), 0);
		T_EQ(p_ready(fd[!i], POLLIN, 0) & POLLHUP, POLLHUP);
		T_OK(close(fd[!i]));
	}
}

T_CASE(FIONREAD_counts_each_direction_by_itself)
{
	int fd[2], n;

	p_pipe(fd);
	T_EQ(write(fd[0], "abc", 3), 3);
	T_EQ(write(fd[1], "defgh", 5), 5);
	T_OK(ioctl(fd[0], FIONREAD, &n));
	T_EQ(n, 5);
	T_OK(ioctl(fd[1], FIONREAD, &n));
	T_EQ(n, 3);
}

T_CASE(epoll_watches_both_directions_of_one_end)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT }, got;
	int fd[2], ep = T_OK(epoll_create1(0));

	p_pipe(fd);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	T_EQ(epoll_wait(ep, &got, 1, 0), 1);
	T_EQ(got.events, (uint32_t)EPOLLOUT);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(ep, &got, 1, 0), 1);
	T_EQ(got.events, (uint32_t)(EPOLLIN | EPOLLOUT));
	p_fill(fd[0]);
	T_EQ(epoll_wait(ep, &got, 1, 0), 1);
	T_EQ(got.events, (uint32_t)EPOLLIN);
	p_drain(fd[0]);
	T_EQ(epoll_wait(ep, &got, 1, 0), 0);
	p_drain(fd[1]);
	T_EQ(epoll_wait(ep, &got, 1, P_MS_LONG), 1);
	T_EQ(got.events, (uint32_t)EPOLLOUT);
}

/* one reader and one writer on the same end, each in its own thread */
T_CASE(a_read_and_a_write_wait_on_one_end_at_the_same_time)
{
	struct p_call r, w;
	int fd[2];
	char b;

	p_pipe(fd);
	p_fill(fd[0]);
	p_call(&r, P_READ, fd[0], &b, 1);
	p_call(&w, P_WRITE, fd[0], "w", 1);
	T_TRUE(p_call_blocks(&r));
	T_TRUE(p_call_blocks(&w));
	T_EQ(write(fd[1], "r", 1), 1);
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_EQ(b, 'r');
	T_TRUE(p_call_blocks(&w));
	p_drain(fd[1]);
	T_TRUE(p_call_returns(&w, P_MS_LONG));
	T_EQ(w.ret, 1);
}

/* a dialogue of two processes over the two ends of one pipe */
T_CASE(two_processes_hold_a_dialogue_over_one_pipe)
{
	int fd[2], v;
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		while (read(fd[1], &v, sizeof(v)) == sizeof(v)) {
			v = -v;
			T_EQ(write(fd[1], &v, sizeof(v)), (ssize_t)sizeof(v));
		}
		_exit(0);
	}
	T_OK(close(fd[1]));
	for (int i = 1; i <= 5000; i++) {
		T_EQ(write(fd[0], &i, sizeof(i)), (ssize_t)sizeof(i));
		T_EQ(read(fd[0], &v, sizeof(v)), (ssize_t)sizeof(v));
		T_EQ(v, -i);
	}
	T_OK(close(fd[0]));
	T_TRUE(p_exited(pid, 0));
}

/* data flows both ways at full length, nothing mixes */
T_CASE(both_directions_at_once_carry_their_own_bytes)
{
	static char out[3000], in[3000];
	size_t sent = 0, got = 0, total = 2u << 20;
	struct pollfd p;
	int fd[2], end;
	ssize_t n;
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	end = pid == 0;
	T_OK(close(fd[!end]));
	p_nonblock(fd[end], 1);
	while (sent < total || got < total) {
		p = (struct pollfd){ fd[end], 0, 0 };
		p.events = (short)((sent < total ? POLLOUT : 0) |
			(got < total ? POLLIN : 0));
		T_GT(poll(&p, 1, P_MS_LONG), 0);
		if (p.revents & POLLOUT) {
			size_t k = 1 + (size_t)t_rand_below(sizeof(out));

			if (k > total - sent)
				k = total - sent;
			p_pattern(out, k, sent + (size_t)end * 100);
			n = write(fd[end], out, k);
			T_TRUE(n > 0 || errno == EAGAIN);
			sent += n > 0 ? (size_t)n : 0;
		}
		if (p.revents & POLLIN) {
			n = read(fd[end], in, sizeof(in));
			T_GT(n, 0);
			T_EQ(p_pattern_ok(in, (size_t)n,
				got + (size_t)!end * 100), (size_t)n);
			got += (size_t)n;
		}
	}
	if (pid == 0)
		_exit(0);
	T_TRUE(p_exited(pid, 0));
}

/* the end that is closed hangs up both directions, data first */
T_CASE(a_killed_partner_ends_both_directions)
{
	struct p_call r;
	int fd[2];
	pid_t pid;
	char b;

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		for (;;)
			pause();
	}
	T_OK(close(fd[1]));
	p_call(&r, P_READ, fd[0], &b, 1);
	T_TRUE(p_call_blocks(&r));
	T_OK(kill(pid, SIGKILL));
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_EQ(r.ret, 0);
	T_ERR(write(fd[0], "x", 1), EPIPE);
	T_NE(p_wait(pid, P_MS_LONG), -1);
}

/*
 * freopen() closes before it opens, and its open may take long: of a FIFO, it
 * waits for a writer.  The pipe is closed meanwhile.
 */
static char fifo_dir[] = "/tmp/posixXXXXXX", fifo[sizeof(fifo_dir) + 5];

static void
fifo_gone(void)
{
	unlink(fifo);
	rmdir(fifo_dir);
}

static void *
reopen(void *arg)
{
	return freopen(fifo, "r", arg);
}

T_CASE(freopen_closes_the_pipe_before_it_waits_for_what_it_opens)
{
	struct p_call r;
	pthread_t th;
	void *ret;
	int fd[2], w;
	char c;
	FILE *f;

	T_NOTNULL(mkdtemp(fifo_dir));
	snprintf(fifo, sizeof(fifo), "%s/f", fifo_dir);
	t_at_end(fifo_gone);
	T_OK(mkfifo(fifo, 0600));
	p_pipe(fd);
	T_NOTNULL(f = fdopen(fd[1], "w"));
	T_EQ(pthread_create(&th, NULL, reopen, f), 0);
	p_call(&r, P_READ, fd[0], &c, 1);
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_EQ(r.ret, 0);
	T_OK(w = open(fifo, O_WRONLY));
	T_EQ(pthread_join(th, &ret), 0);
	T_TRUE(ret == f);
	T_EQ(fileno(f), fd[1]);
	T_EQ(write(w, "x", 1), 1);
	T_EQ(fgetc(f), 'x');
	T_EQ(fclose(f), 0);
}

T_CASE(pclose_of_a_stream_closes_it)
{
	struct p_call r;
	int fd[2];
	FILE *f;
	char c;

	/* a Stream comes there by dup2() alone */
	p_pipe(fd);
	T_NOTNULL(f = popen("exit 3", "w"));
	T_EQ(dup2(fd[1], fileno(f)), fileno(f));
	T_OK(close(fd[1]));
	T_EQ(pclose(f), 3 << 8);
	p_call(&r, P_READ, fd[0], &c, 1);
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_EQ(r.ret, 0);
}

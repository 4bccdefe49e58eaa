/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Closing while others are at it.
 *
 * POSIX leaves open what becomes of a call whose descriptor another thread
 * closes (close(), RATIONALE).  Linux lets it go on, others end it with
 * EBADF.  Neither may hang once the pipe itself gives it a reason to return,
 * crash, or touch a file that gets the number afterwards.
 */
#include "posix.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <sched.h>

/* the last bytes before a close are never lost, and then it is the end */
struct farewell {
	int fd, n;
};

static void *
write_and_close(void *arg)
{
	struct farewell *f = arg;
	char buf[300];

	p_pattern(buf, sizeof(buf), 0);
	T_EQ(write(f->fd, buf, (size_t)f->n), f->n);
	T_OK(close(f->fd));
	return NULL;
}

T_CASE(the_last_bytes_before_a_close_are_always_read_by_a_thread)
{
	struct farewell f;
	char buf[400];
	pthread_t th;
	int fd[2];

	for (int i = 0; i < 4000; i++) {
		p_pipe(fd);
		f.fd = fd[1];
		f.n = 1 + (int)t_rand_below(300);
		T_EQ(pthread_create(&th, NULL, write_and_close, &f), 0);
		T_EQ(p_read_all(fd[0], buf, sizeof(buf)), (size_t)f.n);
		T_EQ(p_pattern_ok(buf, (size_t)f.n, 0), (size_t)f.n);
		T_EQ(pthread_join(th, NULL), 0);
		T_OK(close(fd[0]));
	}
}

T_CASE(the_last_bytes_before_an_exit_are_always_read_by_a_process)
{
	char buf[400];
	pid_t pid;
	int fd[2], n;

	for (int i = 0; i < 120; i++) {
		p_pipe(fd);
		n = 1 + (int)t_rand_below(300);
		pid = fork();
		if (pid == 0) {
			p_pattern(buf, sizeof(buf), 0);
			if (write(fd[1], buf, (size_t)n) != n)
				_exit(1);
			if (i & 1)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		T_OK(close(fd[1]));
		T_EQ(p_read_all(fd[0], buf, sizeof(buf)), (size_t)n);
		T_EQ(p_pattern_ok(buf, (size_t)n, 0), (size_t)n);
		T_OK(close(fd[0]));
		T_EQ(waitpid(pid, NULL, 0), pid);
	}
}

/* poll must not say hang-up without the data that came before it */
T_CASE(poll_never_reports_a_hangup_without_the_data_before_it)
{
	struct farewell f;
	char buf[400];
	pthread_t th;
	int fd[2], ev;

	for (int i = 0; i < 1500; i++) {
		p_pipe(fd);
		f.fd = fd[1];
		f.n = 100;
		T_EQ(pthread_create(&th, NULL, write_and_close, &f), 0);
		while (!((ev = p_ready(fd[0], POLLIN, P_MS_LONG)) & POLLHUP))
			sched_yield();
		T_TRUE(ev & POLLIN);
		T_EQ(read(fd[0], buf, sizeof(buf)), 100);
		T_EQ(pthread_join(th, NULL), 0);
		T_OK(close(fd[0]));
	}
}

static void *
close_it(void *arg)
{
	int *fd = arg;

	T_OK(close(*fd));
	return NULL;
}

T_CASE(both_ends_closed_at_once_by_two_threads)
{
	pthread_t th;
	int fd[2];

	p_warm_up();
	T_CHECK_FDS();
	for (int i = 0; i < 4000; i++) {
		p_pipe(fd);
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(pthread_create(&th, NULL, close_it, &fd[i & 1]), 0);
		T_OK(close(fd[!(i & 1)]));
		T_EQ(pthread_join(th, NULL), 0);
	}
}

/* a writer in full swing learns that the reader has gone, every time */
static void *
write_until_EPIPE(void *arg)
{
	int *fd = arg;
	char buf[100] = "";
	ssize_t n;

	while ((n = write(*fd, buf, sizeof(buf))) == 100)
		;
	T_EQ(n, -1);
	T_EQ(errno, EPIPE);
	return NULL;
}

T_CASE(a_writer_in_full_swing_gets_EPIPE_when_the_reader_closes)
{
	pthread_t th;
	char buf[1000];
	int fd[2];

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 1500; i++) {
		p_pipe(fd);
		T_EQ(pthread_create(&th, NULL, write_until_EPIPE, &fd[1]), 0);
		for (int k = (int)t_rand_below(20); k > 0; k--)
			T_GT(read(fd[0], buf, sizeof(buf)), 0);
		T_OK(close(fd[0]));
		T_EQ(pthread_join(th, NULL), 0);
		T_OK(close(fd[1]));
	}
}

/* the other side's reason to return still arrives after the close */
T_CASE(read_whose_descriptor_is_closed_returns_when_the_writer_leaves)
{
	struct p_call c;
	char buf[8];
	int fd[2];

	p_pipe(fd);
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	T_TRUE(p_is_closed(fd[0]));
	T_OK(close(fd[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret == 0 || (c.ret == -1 && c.err == EBADF));
}

T_CASE(read_whose_descriptor_is_closed_does_not_hang_the_writer)
{
	struct p_call c;
	char buf[8];
	int fd[2];
	ssize_t n;

	signal(SIGPIPE, SIG_IGN);
	p_pipe(fd);
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	n = write(fd[1], "x", 1);
	T_TRUE(n == 1 || (n == -1 && errno == EPIPE));
	if (n == -1)
		T_OK(close(fd[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret == 0 || c.ret == 1 || (c.ret == -1 && c.err == EBADF));
}

T_CASE(write_whose_descriptor_is_closed_returns_when_the_reader_acts)
{
	struct p_call c;
	int fd[2], ok;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		p_pipe(fd);
		p_fill(fd[1]);
		p_call(&c, P_WRITE, fd[1], "x", 1);
		T_TRUE(p_call_blocks(&c));
		T_OK(close(fd[1]));
		if (i == 0)
			p_drain(fd[0]);
		T_OK(close(fd[0]));
		T_TRUE(p_call_returns(&c, P_MS_LONG));
		ok = c.ret == 1 || (c.ret == -1 &&
			(c.err == EBADF || c.err == EPIPE));
		T_TRUE(ok);
	}
}

T_CASE(poll_whose_descriptor_is_closed_returns_when_the_writer_leaves)
{
	struct p_call c;
	int fd[2];

	p_pipe(fd);
	p_call_poll(&c, P_POLL, fd[0], POLLIN);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret == 1);
	T_NE(c.revents & (POLLHUP | POLLNVAL), 0);
}

/* a waiting call may not take from the file that gets the number next */
T_CASE(a_waiting_read_does_not_take_from_the_next_pipe_of_that_number)
{
	struct p_call c;
	char buf[8];
	int fd[2], next[2];

	p_pipe(fd);
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	p_pipe(next);
	T_EQ(next[0], fd[0]);
	T_EQ(write(next[1], "mine", 4), 4);
	p_pause(150); /* into its last stage of sleep */
	T_EQ(read(next[0], buf, 8), 4);
	T_OK(close(fd[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
}

T_CASE(dup2_over_a_descriptor_that_is_being_read_is_safe)
{
	struct p_call c;
	int fd[2], b[2];
	char buf[8];

	p_pipe(fd);
	p_pipe(b);
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_EQ(dup2(b[0], fd[0]), fd[0]);
	T_OK(close(fd[1]));
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_LE(c.ret, 0);
	T_EQ(write(b[1], "x", 1), 1);
	T_EQ(read(fd[0], buf, 8), 1);
}

/*
 * The same where a child holds the pipe too, so that no one is told of the
 * last close: the reader finds out by itself, although another pipe has its
 * number.
 */
static void
hold_and_read(int fd, int say)
{
	char c;

	(void)!read(fd, &c, 1);
	(void)!write(say, "r", 1);
	for (;;)
		pause();
}

T_CASE(read_whose_descriptor_is_closed_returns_when_the_writer_is_killed)
{
	int fd[2], next[2], told[2];
	struct p_call c;
	char buf[8];
	pid_t pid;

	p_pipe(fd);
	p_kernel_pipe(told);
	pid = fork();
	if (pid == 0) {
		T_OK(close(fd[0]));
		hold_and_read(fd[1], told[1]);
	}
	T_OK(close(fd[1]));
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	p_pipe(next);
	T_EQ(read(told[0], buf, 1), 1);
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret == 0 || (c.ret == -1 && c.err == EBADF));
}

T_CASE(read_whose_number_is_anothers_returns_when_the_last_holder_is_killed)
{
	int fd[2], next[2];
	struct p_call c;
	char buf[8];
	pid_t pid;

	p_pipe(fd);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	p_call(&c, P_READ, fd[0], buf, 8);
	T_TRUE(p_call_blocks(&c));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	p_pipe(next);
	T_EQ(next[0], fd[0]);
	T_EQ(write(next[1], "mine", 4), 4);
	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, NULL, 0), pid);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_TRUE(c.ret == 0 || (c.ret == -1 && c.err == EBADF));
	T_EQ(read(next[0], buf, 8), 4);
}

/*
 * Everybody at once: two threads make and close pipes, four use whatever the
 * numbers happen to mean.  Any answer of those four will do, but there must
 * be one, and in the end a fresh pipe works.
 */
static _Atomic int stop;
static int numbers[4];

/* Only one of the programs has it. */
void strm_inspect(void);
#pragma weak strm_inspect

static void *
churn(void *arg)
{
	int *slot = arg, fd[2];

	while (!stop) {
		p_pipe(fd);
		p_nonblock(fd[0], 1);
		p_nonblock(fd[1], 1);
		__atomic_store_n(&slot[0], fd[0], __ATOMIC_RELAXED);
		__atomic_store_n(&slot[1], fd[1], __ATOMIC_RELAXED);
		(void)!write(fd[1], "churn", 5);
		close(fd[0]);
		close(fd[1]);
	}
	return NULL;
}

static int
is_pipe_number(int fd)
{
	return fd > 2;
}

static void *
use(void *arg)
{
	char buf[64];
	long *count = arg;
	ssize_t n;

	while (!stop) {
		for (int i = 0; i < 4; i++) {
			int fd = __atomic_load_n(&numbers[i],
				__ATOMIC_RELAXED);
			struct pollfd p = { .fd = fd,
				.events = POLLIN | POLLOUT };

			if (!is_pipe_number(fd))
				continue;
			n = i & 1 ? write(fd, buf, sizeof(buf)) :
				read(fd, buf, sizeof(buf));
			if (n == -1 && errno != EBADF && errno != EAGAIN &&
				errno != EPIPE)
				T_FAIL("%s: %s", i & 1 ? "write" : "read",
					t_errno_name(errno));
			T_GE(poll(&p, 1, 0), 0);
			(void)fcntl(fd, F_GETFL);
			(*count)++;
		}
	}
	return NULL;
}

T_CASE(pipes_closed_under_the_hands_of_their_users_do_no_harm)
{
	long count[4] = { 0 };
	pthread_t th[6];
	double end;
	int fd[2];

#ifdef __SANITIZE_THREAD__
	if (strm_inspect == NULL)
		T_SKIP("the thread sanitizer crashes in its own descriptors");
#endif
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++)
		T_EQ(pthread_create(&th[i], NULL, churn, &numbers[2 * i]), 0);
	for (int i = 2; i < 6; i++)
		T_EQ(pthread_create(&th[i], NULL, use, &count[i - 2]), 0);
	for (end = p_ms() + 1500; p_ms() < end;)
		p_pause(10);
	stop = 1;
	for (int i = 0; i < 6; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
	for (int i = 0; i < 4; i++)
		T_GT(count[i], 0);
	p_pipe(fd);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(p_drain(fd[0]), 1u);
}

/*
 * The same with readers who wait until it is closed, at both ends, and others
 * who ask what the numbers mean.  Each waiter gets away.
 */
static void *
wait_at(void *arg)
{
	int *slot = arg;
	char c;

	while (!stop)
		(void)!read(__atomic_load_n(slot, __ATOMIC_RELAXED), &c, 1);
	return NULL;
}

static void *
ask(void *arg)
{
	int *slot = arg;

	while (!stop)
		for (int i = 0; i < 2; i++)
			(void)fcntl(__atomic_load_n(&slot[i],
				__ATOMIC_RELAXED), F_GETFL);
	return NULL;
}

T_CASE(who_waits_at_pipes_that_are_closed_gets_away)
{
	pthread_t th[4];
	double end;
	int fd[2];

	p_warm_up();
	p_pipe(fd);
	for (int i = 0; i < 2; i++)
		numbers[i] = fd[i];
	for (int i = 0; i < 4; i++)
		T_EQ(pthread_create(&th[i], NULL, i < 2 ? wait_at : ask,
			i < 2 ? &numbers[i] : numbers), 0);
	for (end = p_ms() + 2000; p_ms() < end;) {
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		p_pipe(fd);
		for (int i = 0; i < 2; i++)
			__atomic_store_n(&numbers[i], fd[i], __ATOMIC_RELAXED);
		sched_yield();
	}
	stop = 1;
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	for (int i = 0; i < 4; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
}

/* threads that fork while others open and close: no end stays behind */
static void *
open_and_close(void *arg)
{
	char c;

	(void)arg;
	while (!stop) {
		int fd[2];

		T_EQ(pipe2(fd, O_CLOEXEC), 0);
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(read(fd[0], &c, 1), 1);
		T_OK(close(fd[1]));
		T_OK(close(fd[0]));
	}
	return NULL;
}

T_CASE(fork_among_threads_that_open_and_close_is_safe)
{
	pthread_t th[3];
	pid_t pid;

	for (int i = 0; i < 3; i++)
		T_EQ(pthread_create(&th[i], NULL, open_and_close, NULL), 0);
	for (int i = 0; i < 150; i++) {
		pid = fork();
		if (pid == 0) {
			int fd[2];

			p_pipe(fd);
			T_EQ(write(fd[1], "abc", 3), 3);
			T_EQ(p_drain(fd[0]), 3u);
			_exit(0);
		}
		T_TRUE(p_exited(pid, 0));
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
}

/*
 * The same while a handler runs in the thread that waits, and makes calls of
 * its own: what it waits for is not another pipe when it comes back.
 */
static int own[2];
static _Atomic int in_handler, let_go;

static void
calls_in_handler(int sig)
{
	char c;

	(void)sig;
	T_EQ(write(own[1], "h", 1), 1);
	T_EQ(read(own[0], &c, 1), 1);
	in_handler = 1;
	while (!let_go)
		sched_yield();
}

struct waiter {
	int fd, err;
	pid_t tid;
	ssize_t n;
	char buf[16];
};

static void *
waits_at_one(void *arg)
{
	struct waiter *w = arg;

	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid),
		__ATOMIC_RELEASE);
	w->n = read(w->fd, w->buf, sizeof(w->buf));
	w->err = errno;
	return NULL;
}

T_CASE(who_waits_at_a_pipe_does_not_come_back_to_another)
{
	enum { PIPES = 8 };
	struct sigaction sa = {.sa_handler = calls_in_handler,
		.sa_flags = SA_RESTART};
	struct waiter w = {.tid = 0};
	int fd[2], other[PIPES][2];
	pthread_t th;

	P_HANDLERS_AT_ONCE();
	T_OK(sigaction(SIGUSR1, &sa, NULL));
	p_pipe(own);
	p_pipe(fd);
	w.fd = fd[0];
	T_EQ(pthread_create(&th, NULL, waits_at_one, &w), 0);
	T_SOON(__atomic_load_n(&w.tid, __ATOMIC_ACQUIRE) != 0, 5000);
	T_TRUE(p_asleep(getpid(), w.tid));
	T_EQ(pthread_kill(th, SIGUSR1), 0);
	T_SOON(in_handler, 5000);
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
	/* a call that begins anew may go by the number */
	for (int i = 0; i < 2; i++)
		fd[i] = T_OK(open("/dev/null", O_RDONLY));
	for (int i = 0; i < PIPES; i++) {
		p_pipe(other[i]);
		T_EQ(write(other[i][1], "other", 5), 5);
	}
	let_go = 1;
	T_EQ(pthread_join(th, NULL), 0);
	if (w.n != 0 && (w.n != -1 || w.err != EBADF))
		T_FAIL("read %zd bytes: %.*s", w.n, (int)w.n, w.buf);
	for (int i = 0; i < PIPES; i++)
		T_EQ(read(other[i][0], w.buf, sizeof(w.buf)), 5);
}

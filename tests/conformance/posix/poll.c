/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * poll(), ppoll(), select() and pselect() on pipes, and on pipes mixed with
 * descriptors of the kernel.
 *
 * Of a writer whose readers are gone POSIX says that a write does not block,
 * and Linux reports POLLERR; an implementation may report POLLHUP instead,
 * what matters is that an event loop is told.
 */
#include "posix.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/timerfd.h>

#define GONE (POLLERR | POLLHUP)

/* POSIX poll(): POLLIN, "data ... may be read without blocking" */
T_CASE(poll_tells_POLLIN_when_there_is_data)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	T_EQ(write(fd[1], "ab", 2), 2);
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN);
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
}

/* POSIX poll(): POLLRDNORM is equivalent to POLLIN for normal data */
T_CASE(poll_tells_POLLRDNORM_and_POLLWRNORM)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(p_ready(fd[0], POLLRDNORM, 0), 0);
	T_EQ(p_ready(fd[1], POLLWRNORM, 0), POLLWRNORM);
	T_EQ(write(fd[1], "a", 1), 1);
	T_EQ(p_ready(fd[0], POLLRDNORM, 0), POLLRDNORM);
	T_EQ(p_ready(fd[0], POLLIN | POLLRDNORM, 0), POLLIN | POLLRDNORM);
}

/* POSIX poll(): only what was asked for is reported, but for the three */
T_CASE(poll_reports_only_what_was_asked_for)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "a", 1), 1);
	T_EQ(p_ready(fd[0], 0, 0), 0);
	T_EQ(p_ready(fd[0], POLLPRI, 0), 0);
	T_EQ(p_ready(fd[1], 0, 0), 0);
	T_EQ(p_ready(fd[1], POLLIN | POLLOUT, 0) & POLLOUT, POLLOUT);
}

/* POSIX poll(): POLLOUT, "may be written without blocking" */
T_CASE(poll_tells_POLLOUT_until_the_pipe_is_full)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(p_ready(fd[1], POLLOUT, 0), POLLOUT);
	p_fill(fd[1]);
	T_EQ(p_ready(fd[1], POLLOUT, 0), 0);
	p_drain(fd[0]);
	T_EQ(p_ready(fd[1], POLLOUT, 0), POLLOUT);
}

/* ... and an atomic write is one that need not block */
T_CASE(POLLOUT_promises_room_for_PIPE_BUF)
{
	static char buf[PIPE_BUF];
	int fd[2], rounds;

	T_EQ(pipe2(fd, O_NONBLOCK), 0);
	for (rounds = 0; rounds < 30000; rounds++) {
		if (p_ready(fd[1], POLLOUT, 0) == POLLOUT) {
			T_EQ(write(fd[1], buf, PIPE_BUF), PIPE_BUF);
			continue;
		}
		T_EQ(read(fd[0], buf, 1 + rounds % 3000), 1 + rounds % 3000);
	}
}

/* POSIX poll(): POLLHUP, "closed by the last process ... for writing" */
T_CASE(poll_tells_POLLHUP_when_the_last_writer_closed)
{
	int fd[2], d;

	p_pipe(fd);
	d = T_OK(dup(fd[1]));
	T_OK(close(fd[1]));
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	T_OK(close(d));
	T_EQ(p_ready(fd[0], POLLIN, 0) & POLLHUP, POLLHUP);
	T_EQ(p_ready(fd[0], 0, 0), POLLHUP);
	T_EQ(p_ready(fd[0], POLLOUT, 0) & POLLOUT, 0);
}

/* POSIX poll(): POLLHUP and POLLIN "are not mutually-exclusive" */
T_CASE(poll_tells_POLLIN_and_POLLHUP_while_data_is_left)
{
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "ab", 2), 2);
	T_OK(close(fd[1]));
	T_EQ(p_ready(fd[0], POLLIN, 0), POLLIN | POLLHUP);
	T_EQ(p_drain(fd[0]), 2u);
	T_EQ(p_ready(fd[0], POLLIN, 0) & POLLHUP, POLLHUP);
}

T_CASE(poll_tells_a_writer_that_the_last_reader_closed)
{
	int fd[2];

	p_pipe(fd);
	T_OK(close(fd[0]));
	T_NE(p_ready(fd[1], POLLOUT, 0) & GONE, 0);
	T_NE(p_ready(fd[1], 0, 0) & GONE, 0);
}

T_CASE(poll_tells_the_writer_of_a_full_pipe_that_the_reader_closed)
{
	int fd[2];

	p_pipe(fd);
	p_fill(fd[1]);
	T_EQ(p_ready(fd[1], POLLOUT, 0), 0);
	T_OK(close(fd[0]));
	T_NE(p_ready(fd[1], POLLOUT, 0) & GONE, 0);
}

/* POSIX poll(): POLLNVAL, "the specified fd value is invalid" */
T_CASE(poll_tells_POLLNVAL_for_a_closed_descriptor)
{
	struct pollfd p[2];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "a", 1), 1);
	p[0] = (struct pollfd){ .fd = fd[1] };
	p[1] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	T_OK(close(fd[1]));
	T_EQ(poll(p, 2, -1), 2);
	T_EQ(p[0].revents, POLLNVAL);
	T_EQ(p[1].revents, POLLIN | POLLHUP);
	T_OK(close(fd[0]));
	T_EQ(poll(p, 2, -1), 2);
	T_EQ(p[1].revents, POLLNVAL);
}

/* POSIX poll(): fd less than 0 "shall be ignored", revents set to 0 */
T_CASE(poll_ignores_negative_descriptors)
{
	struct pollfd p[3];
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "a", 1), 1);
	memset(p, 0xff, sizeof(p));
	p[1].fd = fd[0];
	p[1].events = POLLIN;
	p[2].fd = -fd[0] - 1;
	T_EQ(poll(p, 3, 0), 1);
	T_EQ(p[0].revents, 0);
	T_EQ(p[1].revents, POLLIN);
	T_EQ(p[2].revents, 0);
	T_EQ(read(fd[0], (char[1]){ 0 }, 1), 1);
	T_EQ(poll(p, 3, 20), 0);
	T_EQ(p[1].revents, 0);
}

/* POSIX poll(): returns "the total number of ... structures selected" */
T_CASE(poll_counts_the_entries_with_events)
{
	struct pollfd p[5];
	int a[2], b[2];

	p_pipe(a);
	p_pipe(b);
	T_EQ(write(a[1], "x", 1), 1);
	p[0] = (struct pollfd){ .fd = a[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = b[0], .events = POLLIN };
	p[2] = (struct pollfd){ .fd = a[1], .events = POLLOUT };
	p[3] = (struct pollfd){ .fd = a[0], .events = POLLIN };
	p[4] = (struct pollfd){ .fd = -1, .events = POLLIN };
	T_EQ(poll(p, 5, -1), 3);
	T_EQ(p[0].revents, POLLIN);
	T_EQ(p[1].revents, 0);
	T_EQ(p[2].revents, POLLOUT);
	T_EQ(p[3].revents, POLLIN);
}

/* POSIX poll(): waits at least timeout milliseconds, 0 does not wait */
T_CASE(poll_waits_its_timeout_and_no_less)
{
	double start = p_ms();
	int fd[2];

	p_pipe(fd);
	T_EQ(p_ready(fd[0], POLLIN, 0), 0);
	start = p_ms();
	T_EQ(p_ready(fd[0], POLLIN, 120), 0);
	T_GE(p_ms() - start, 120.0);
	T_LT(p_ms() - start, 120.0 + P_MS_LONG);
	start = p_ms();
	T_EQ(p_ready(fd[0], POLLIN, 1), 0);
	T_GE(p_ms() - start, 1.0);
	T_EQ(poll(NULL, 0, 5), 0);
}

T_CASE(poll_does_not_wait_when_something_is_ready)
{
	double start;
	int fd[2];

	p_pipe(fd);
	T_EQ(write(fd[1], "a", 1), 1);
	start = p_ms();
	T_EQ(p_ready(fd[0], POLLIN, 60000), POLLIN);
	T_EQ(p_ready(fd[0], POLLIN, -1), POLLIN);
	T_LT(p_ms() - start, 1000.0 + P_MS_LONG);
}

/* POSIX poll(): timeout -1 blocks "until a requested event occurs" */
T_CASE(poll_that_waits_returns_when_data_comes)
{
	struct p_call c;
	int fd[2];

	p_pipe(fd);
	p_call_poll(&c, P_POLL, fd[0], POLLIN);
	T_TRUE(p_call_blocks(&c));
	T_EQ(write(fd[1], "a", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.ret, 1);
	T_EQ(c.revents, POLLIN);
}

T_CASE(poll_that_waits_returns_when_there_is_room)
{
	struct p_call c;
	int fd[2];

	p_pipe(fd);
	p_fill(fd[1]);
	p_call_poll(&c, P_POLL, fd[1], POLLOUT);
	T_TRUE(p_call_blocks(&c));
	p_drain(fd[0]);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	T_EQ(c.revents, POLLOUT);
}

T_CASE(poll_that_waits_returns_when_the_other_end_closes)
{
	struct p_call r, w, none;
	int a[2], b[2];

	p_pipe(a);
	p_pipe(b);
	p_fill(b[1]);
	p_call_poll(&r, P_POLL, a[0], POLLIN);
	p_call_poll(&none, P_POLL, a[0], 0);
	p_call_poll(&w, P_POLL, b[1], POLLOUT);
	T_TRUE(p_call_blocks(&r));
	T_TRUE(p_call_blocks(&w));
	T_TRUE(p_call_blocks(&none));
	T_OK(close(a[1]));
	T_OK(close(b[0]));
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_TRUE(p_call_returns(&w, P_MS_LONG));
	T_TRUE(p_call_returns(&none, P_MS_LONG));
	T_EQ(r.revents & POLLHUP, POLLHUP);
	T_EQ(none.revents, POLLHUP);
	T_NE(w.revents & GONE, 0);
}

/* POSIX poll(): nothing is consumed, so everybody who waits is told */
T_CASE(one_byte_wakes_every_poller)
{
	struct p_call c[5];
	int fd[2];

	p_pipe(fd);
	for (int i = 0; i < 5; i++)
		p_call_poll(&c[i], i < 3 ? P_POLL : P_SELECT, fd[0], POLLIN);
	for (int i = 0; i < 5; i++)
		T_TRUE(p_call_blocks(&c[i]));
	T_EQ(write(fd[1], "a", 1), 1);
	for (int i = 0; i < 5; i++) {
		T_TRUE(p_call_returns(&c[i], P_MS_LONG));
		T_EQ(c[i].revents, POLLIN);
	}
}

/* a poller may not keep a reader from its byte, nor the reader the poller */
T_CASE(a_reader_and_a_poller_can_wait_together)
{
	struct p_call r, p;
	char x;
	int fd[2];

	p_pipe(fd);
	p_call_poll(&p, P_POLL, fd[0], POLLIN);
	p_call(&r, P_READ, fd[0], &x, 1);
	T_TRUE(p_call_blocks(&p));
	T_TRUE(p_call_blocks(&r));
	T_EQ(write(fd[1], "ab", 2), 2);
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_TRUE(p_call_returns(&p, P_MS_LONG));
	T_EQ(p.revents, POLLIN);
	T_EQ(p_drain(fd[0]), 1u);
}

T_CASE(a_child_can_wake_a_poller)
{
	int fd[2];
	pid_t pid, parent = getpid();

	p_pipe(fd);
	pid = fork();
	if (pid == 0) {
		T_TRUE(p_asleep(parent, parent));
		T_EQ(write(fd[1], "a", 1), 1);
		_exit(0);
	}
	T_EQ(p_ready(fd[0], POLLIN, P_MS_LONG), POLLIN);
	T_TRUE(p_exited(pid, 0));
}

/* pipes and kernel descriptors in one call, each able to end it */
T_CASE(poll_mixes_pipes_with_kernel_descriptors)
{
	struct itimerspec its = { .it_value = { 0, 20000000 } };
	struct pollfd p[4];
	int s[2], k[2], ev, tm;
	uint64_t one = 1;

	p_pipe(s);
	p_kernel_pipe(k);
	ev = T_OK(eventfd(0, 0));
	tm = T_OK(timerfd_create(CLOCK_MONOTONIC, 0));
	p[0] = (struct pollfd){ .fd = s[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = k[0], .events = POLLIN };
	p[2] = (struct pollfd){ .fd = ev, .events = POLLIN };
	p[3] = (struct pollfd){ .fd = tm, .events = POLLIN };
	T_EQ(poll(p, 4, 0), 0);

	T_OK(timerfd_settime(tm, 0, &its, NULL));
	T_EQ(poll(p, 4, P_MS_LONG), 1);
	T_EQ(p[3].revents, POLLIN);
	T_EQ(read(tm, &one, 8), 8);

	T_EQ(write(k[1], "x", 1), 1);
	T_EQ(poll(p, 4, -1), 1);
	T_EQ(p[1].revents, POLLIN);

	T_EQ(write(s[1], "x", 1), 1);
	T_EQ(poll(p, 4, -1), 2);
	T_EQ(p[0].revents, POLLIN);

	one = 1;
	T_EQ(write(ev, &one, 8), 8);
	T_EQ(poll(p, 4, -1), 3);
	T_EQ(p[2].revents, POLLIN);

	p_drain(s[0]);
	T_EQ(poll(p, 4, -1), 2);
	T_EQ(p[0].revents, 0);
}

struct mixed {
	struct pollfd p[3];
	int n;
	_Atomic int done;
};

static void *
poll_mixed(void *arg)
{
	struct mixed *m = arg;

	m->n = poll(m->p, 3, P_MS_LONG);
	m->done = 1;
	return NULL;
}

T_CASE(poll_that_waits_on_a_mixture_is_ended_by_either_kind)
{
	int s[2], k[2];
	struct mixed m;
	pthread_t th;

	p_pipe(s);
	p_kernel_pipe(k);
	for (int i = 0; i < 200; i++) {
		memset(&m, 0, sizeof(m));
		m.p[0] = (struct pollfd){ .fd = s[0], .events = POLLIN };
		m.p[1] = (struct pollfd){ .fd = k[0], .events = POLLIN };
		m.p[2] = (struct pollfd){ .fd = -1 };
		T_EQ(pthread_create(&th, NULL, poll_mixed, &m), 0);
		if (i % 20 == 0)
			p_pause(2);
		T_EQ(write(i & 1 ? s[1] : k[1], "x", 1), 1);
		T_EQ(pthread_join(th, NULL), 0);
		T_EQ(m.n, 1);
		T_EQ(m.p[!(i & 1)].revents, POLLIN);
		T_EQ(read(i & 1 ? s[0] : k[0], (char[1]){ 0 }, 1), 1);
	}
}

/* POSIX poll(): as many as {OPEN_MAX} entries */
T_CASE(poll_finds_the_one_that_is_ready_among_many)
{
	static struct pollfd p[400];
	static int fd[200][2];

	for (int i = 0; i < 200; i++) {
		p_pipe(fd[i]);
		p[2 * i] = (struct pollfd){ .fd = fd[i][0], .events = POLLIN };
		p[2 * i + 1] = (struct pollfd){ .fd = -1, .events = POLLIN };
	}
	T_EQ(poll(p, 400, 0), 0);
	for (int i = 0; i < 200; i += 9) {
		T_EQ(write(fd[i][1], "x", 1), 1);
		T_EQ(poll(p, 400, -1), 1);
		T_EQ(p[2 * i].revents, POLLIN);
		T_EQ(p_drain(fd[i][0]), 1u);
	}
	T_EQ(poll(p, 400, 10), 0);
}

/* POSIX poll(): EINVAL, "nfds argument is greater than {OPEN_MAX}" */
T_CASE(poll_refuses_more_entries_than_files_can_be_open)
{
	static struct pollfd p[64];
	struct rlimit rl;
	int fd[2];

	p_pipe(fd);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = 32;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	for (int i = 0; i < 64; i++)
		p[i] = (struct pollfd){ .fd = i ? -1 : fd[0] };
	T_ERR(poll(p, 64, 0), EINVAL);
	T_EQ(poll(p, 32, 0), 0);
}

/* Linux ppoll(): the timeout is a timespec, NULL waits for ever */
T_CASE(ppoll_takes_a_timespec_and_does_not_change_it)
{
	struct timespec ts = { 0, 30000000 };
	struct pollfd p;
	double start;
	int fd[2];

	p_pipe(fd);
	p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	start = p_ms();
	T_EQ(ppoll(&p, 1, &ts, NULL), 0);
	T_GE(p_ms() - start, 30.0);
	T_EQ(ts.tv_nsec, 30000000);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(ppoll(&p, 1, NULL, NULL), 1);
	T_EQ(p.revents, POLLIN);
	ts.tv_nsec = 1000000000;
	T_ERR(ppoll(&p, 1, &ts, NULL), EINVAL);
	ts = (struct timespec){ -1, 0 };
	T_ERR(ppoll(&p, 1, &ts, NULL), EINVAL);
}

/* POSIX pselect(), ppoll(): the mask is in force during the call only */
T_CASE(ppoll_unblocks_a_pending_signal_for_the_call)
{
	sigset_t block, none, now;
	struct pollfd p;
	int fd[2];

	p_pipe(fd);
	p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p_signal(SIGUSR1, NULL, 0);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &block, NULL));
	raise(SIGUSR1);
	T_EQ(p_signals, 0);
	T_ERR(ppoll(&p, 1, NULL, &none), EINTR);
	T_EQ(p_signals, 1);
	T_OK(sigprocmask(SIG_SETMASK, NULL, &now));
	T_EQ(sigismember(&now, SIGUSR1), 1);
	raise(SIGUSR1);
	T_EQ(poll(&p, 1, 10), 0);
	T_EQ(p_signals, 1);
}

T_CASE(ppoll_can_block_a_signal_for_the_call)
{
	struct timespec ts = { 0, 50000000 };
	sigset_t block;
	struct pollfd p;
	int fd[2];

	p_pipe(fd);
	p = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	p_signal(SIGALRM, NULL, 0);
	sigemptyset(&block);
	sigaddset(&block, SIGALRM);
	ualarm(10000, 0);
	T_EQ(ppoll(&p, 1, &ts, &block), 0);
	T_EQ(p_signals, 1);
}

/* POSIX select(): readable, writable, at end of file readable */
T_CASE(select_tells_readable_and_writable)
{
	struct timeval zero = { 0, 0 };
	fd_set r, w, x;
	int fd[2], n;

	p_pipe(fd);
	n = (fd[0] > fd[1] ? fd[0] : fd[1]) + 1;
	FD_ZERO(&r);
	FD_ZERO(&w);
	FD_ZERO(&x);
	FD_SET(fd[0], &r);
	FD_SET(fd[1], &w);
	FD_SET(fd[0], &x);
	T_EQ(select(n, &r, &w, &x, &zero), 1);
	T_FALSE(FD_ISSET(fd[0], &r));
	T_TRUE(FD_ISSET(fd[1], &w));
	T_FALSE(FD_ISSET(fd[0], &x));

	T_EQ(write(fd[1], "x", 1), 1);
	FD_SET(fd[0], &r);
	T_EQ(select(n, &r, &w, NULL, NULL), 2);
	T_TRUE(FD_ISSET(fd[0], &r));

	p_fill(fd[1]);
	T_EQ(select(n, &r, &w, NULL, &zero), 1);
	T_TRUE(FD_ISSET(fd[0], &r));
	T_FALSE(FD_ISSET(fd[1], &w));
}

/* POSIX select(): "ready for reading when ... would not block, whether or
 * not the function would transfer data successfully": EOF, EPIPE */
T_CASE(select_tells_readable_at_end_of_file)
{
	fd_set r;
	int fd[2];

	p_pipe(fd);
	T_OK(close(fd[1]));
	FD_ZERO(&r);
	FD_SET(fd[0], &r);
	T_EQ(select(fd[0] + 1, &r, NULL, NULL, NULL), 1);
	T_TRUE(FD_ISSET(fd[0], &r));
}

T_CASE(select_tells_writable_when_nobody_reads)
{
	fd_set w;
	int fd[2];

	p_pipe(fd);
	p_fill(fd[1]);
	T_OK(close(fd[0]));
	FD_ZERO(&w);
	FD_SET(fd[1], &w);
	T_EQ(select(fd[1] + 1, NULL, &w, NULL, NULL), 1);
	T_TRUE(FD_ISSET(fd[1], &w));
}

T_CASE(select_that_waits_returns_when_data_or_room_comes)
{
	struct p_call r, w;
	int a[2], b[2];

	p_pipe(a);
	p_pipe(b);
	p_fill(b[1]);
	p_call_poll(&r, P_SELECT, a[0], POLLIN);
	p_call_poll(&w, P_SELECT, b[1], POLLOUT);
	T_TRUE(p_call_blocks(&r));
	T_TRUE(p_call_blocks(&w));
	T_EQ(write(a[1], "x", 1), 1);
	p_drain(b[0]);
	T_TRUE(p_call_returns(&r, P_MS_LONG));
	T_TRUE(p_call_returns(&w, P_MS_LONG));
	T_EQ(r.revents, POLLIN);
	T_EQ(w.revents, POLLOUT);
}

T_CASE(select_clears_all_sets_when_the_time_is_over)
{
	struct timeval tv = { 0, 30000 };
	double start = p_ms();
	fd_set r;
	int fd[2];

	p_pipe(fd);
	FD_ZERO(&r);
	FD_SET(fd[0], &r);
	T_EQ(select(fd[0] + 1, &r, NULL, NULL, &tv), 0);
	T_GE(p_ms() - start, 30.0);
	T_FALSE(FD_ISSET(fd[0], &r));
	tv = (struct timeval){ 0, 1000 };
	T_EQ(select(0, NULL, NULL, NULL, &tv), 0);
}

/* POSIX select(): EBADF, "one or more of the ... sets specified a file
 * descriptor that is not ... valid"; the sets are not changed */
T_CASE(select_of_a_closed_descriptor_fails_with_EBADF)
{
	struct timeval zero = { 0, 0 };
	fd_set r;
	int fd[2], a[2];

	p_pipe(a);
	p_pipe(fd);
	T_OK(close(fd[0]));
	FD_ZERO(&r);
	FD_SET(fd[0], &r);
	FD_SET(a[0], &r);
	T_ERR(select(fd[0] + 1, &r, NULL, NULL, &zero), EBADF);
	T_TRUE(FD_ISSET(a[0], &r));
	T_EQ(select(a[0] + 1, &r, NULL, NULL, &zero), 0);
}

/* POSIX select(): EINVAL for nfds less than 0 and for a bad timeout */
T_CASE(select_refuses_bad_arguments)
{
	struct timeval tv = { -1, 0 };
	struct timespec ts = { 0, 1000000000 };
	fd_set r;

	FD_ZERO(&r);
	T_ERR(select(-1, &r, NULL, NULL, NULL), EINVAL);
	T_ERR(select(1, &r, NULL, NULL, &tv), EINVAL);
	T_ERR(pselect(1, &r, NULL, NULL, &ts, NULL), EINVAL);
}

T_CASE(pselect_unblocks_a_pending_signal_for_the_call)
{
	sigset_t block, none;
	fd_set r;
	int fd[2];

	p_pipe(fd);
	p_signal(SIGUSR1, NULL, SA_RESTART);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	T_OK(sigprocmask(SIG_BLOCK, &block, NULL));
	raise(SIGUSR1);
	FD_ZERO(&r);
	FD_SET(fd[0], &r);
	T_ERR(pselect(fd[0] + 1, &r, NULL, NULL, NULL, &none), EINTR);
	T_EQ(p_signals, 1);
}

T_CASE(pselect_takes_a_timespec_and_does_not_change_it)
{
	struct timespec ts = { 0, 30000000 };
	fd_set r;
	int fd[2];

	p_pipe(fd);
	FD_ZERO(&r);
	FD_SET(fd[0], &r);
	T_EQ(pselect(fd[0] + 1, &r, NULL, NULL, &ts, NULL), 0);
	T_EQ(ts.tv_nsec, 30000000);
	T_EQ(write(fd[1], "x", 1), 1);
	FD_SET(fd[0], &r);
	T_EQ(pselect(fd[0] + 1, &r, NULL, NULL, &ts, NULL), 1);
}

/* an event loop of the plainest kind carries a lot of data both ways */
T_CASE(a_poll_loop_carries_a_mebibyte_around_a_ring_of_processes)
{
	int there[2], back[2];
	static char buf[4096], out[4096];
	size_t sent = 0, got = 0, total = 1 << 20;
	struct pollfd p[2];
	ssize_t n;
	pid_t pid;

	p_pipe(there);
	p_pipe(back);
	pid = fork();
	if (pid == 0) {
		close(there[1]);
		close(back[0]);
		while ((n = read(there[0], buf, sizeof(buf))) > 0)
			T_EQ(p_write_all(back[1], buf, (size_t)n), 0);
		_exit(n == 0 ? 0 : 1);
	}
	T_OK(close(there[0]));
	T_OK(close(back[1]));
	p_nonblock(there[1], 1);
	p_nonblock(back[0], 1);
	while (got < total) {
		p[0] = (struct pollfd){ sent < total ? there[1] : -1,
			POLLOUT, 0 };
		p[1] = (struct pollfd){ back[0], POLLIN, 0 };
		T_GT(poll(p, 2, P_MS_LONG), 0);
		if (p[0].revents != 0) {
			size_t k = 1 + (size_t)t_rand_below(sizeof(out));

			if (k > total - sent)
				k = total - sent;
			p_pattern(out, k, sent);
			n = write(there[1], out, k);
			T_GT(n, 0);
			sent += (size_t)n;
		}
		if (p[1].revents != 0) {
			n = read(back[0], buf, sizeof(buf));
			T_GT(n, 0);
			T_EQ(p_pattern_ok(buf, (size_t)n, got), (size_t)n);
			got += (size_t)n;
		}
	}
	T_OK(close(there[1]));
	T_TRUE(p_exited(pid, 0));
	T_EQ(p_ready(back[0], POLLIN, P_MS_LONG) & POLLHUP, POLLHUP);
}

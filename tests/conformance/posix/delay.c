/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Interleavings that a busy machine makes once in a thousand runs, made every
 * time: a thread is stopped at a labelled place (STREAMS_DELAY) while another
 * does what must not happen in between.
 */
#include "posix.h"

#include <stropts.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* a pipe whose ends the library has not seen close */
static void
lost_pipe(int fd[2])
{
	p_pipe(fd);
	for (int i = 0; i < 2; i++)
		p_nonblock(fd[i], 1);
	for (int i = 0; i < 2; i++)
		T_EQ(syscall(SYS_close, fd[i]), 0);
}

/* a thread finds out that both numbers are stale, and stops there */
static void
find_out(const int fd[2], struct p_call c[2], char buf[2])
{
	for (int i = 0; i < 2; i++)
		p_call(&c[i], P_READ, fd[i], &buf[i], 1);
	for (int i = 0; i < 2; i++)
		T_TRUE(p_call_blocks(&c[i]));
}

static void
same_numbers(const int old[2], int fd[2])
{
	p_pipe(fd);
	for (int i = 0; i < 2; i++)
		T_EQ(fd[i], old[i]);
}

T_CASE(a_number_found_to_be_stale_is_not_forgotten_when_it_is_another_pipes)
{
	struct epoll_event ev = {.events = EPOLLIN}, out;
	struct p_call c[2];
	int old[2], fd[2], ep;
	char buf[2];

	T_OK(setenv("STREAMS_DELAY", "fd:stale:1000", 1));
	p_warm_up();
	T_OK(ep = epoll_create1(0));
	lost_pipe(old);
	find_out(old, c, buf);
	same_numbers(old, fd);
	ev.data.fd = fd[0];
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	for (int i = 0; i < 2; i++) {
		T_TRUE(p_call_returns(&c[i], P_MS_LONG));
		T_EQ(c[i].ret, -1);
		T_EQ(c[i].err, EBADF);
	}
	/* what was registered for it still is */
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(ep, &out, 1, P_MS_LONG), 1);
	T_EQ(out.data.fd, fd[0]);
}

T_CASE(who_waits_at_a_pipe_with_such_numbers_is_told_that_it_is_closed)
{
	struct p_call c[2], reader;
	int old[2], fd[2], next[2];
	char buf[2], c1;

	T_OK(setenv("STREAMS_DELAY", "fd:stale:1000", 1));
	p_warm_up();
	lost_pipe(old);
	find_out(old, c, buf);
	same_numbers(old, fd);
	p_call(&reader, P_READ, fd[0], &c1, 1);
	T_TRUE(p_call_blocks(&reader));
	for (int i = 0; i < 2; i++)
		T_TRUE(p_call_returns(&c[i], P_MS_LONG));
	for (int i = 0; i < 2; i++)
		T_OK(close(fd[i]));
	/* its number is of no use to find out by itself */
	same_numbers(old, next);
	T_TRUE(p_call_returns(&reader, P_MS_LONG));
	T_TRUE(reader.ret == 0 || (reader.ret == -1 && reader.err == EBADF));
}

/*
 * A call on a device that another thread closes finds nothing below the head.
 */
struct command {
	int fd, cmd, ret, err;
	void *arg;
	_Atomic pid_t tid;
};

static void *
command(void *arg)
{
	struct command *c = arg;

	c->tid = gettid();
	c->ret = ioctl(c->fd, (unsigned long)c->cmd, c->arg);
	c->err = errno;
	return NULL;
}

T_CASE(a_number_that_was_looked_up_is_not_read_as_another_pipes)
{
	int old[2], fd[2], null;
	struct p_call c;
	char buf[1] = "";

	p_warm_up();
	p_pipe(old);
	T_OK(setenv("STREAMS_DELAY", "fd:found:1000", 1));
	p_call(&c, P_READ, old[0], buf, 1);
	T_TRUE(p_call_blocks(&c));
	T_OK(unsetenv("STREAMS_DELAY"));
	T_OK(close(old[0]));
	T_EQ(null = open("/dev/null", O_RDWR), old[0]);
	T_OK(close(old[1]));
	p_pipe(fd);
	T_TRUE(fd[0] != old[0]);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(write(fd[0], "y", 1), 1);
	T_TRUE(p_call_returns(&c, P_MS_LONG));
	/* what has the number, or nothing: not what another one has */
	T_TRUE(c.ret == 0 || (c.ret == -1 && c.err == EBADF));
	T_EQ(read(fd[0], buf, 1), 1);
	T_EQ(buf[0], 'x');
	T_EQ(read(fd[1], buf, 1), 1);
	T_EQ(buf[0], 'y');
	T_OK(close(null));
}

static void
command_of_a_closed_device(struct command *c)
{
	pthread_t th;

	T_OK(c->fd = open("/dev/streams/clone/echo", O_RDWR));
	T_EQ(pthread_create(&th, NULL, command, c), 0);
	T_SOON(c->tid != 0, P_MS_LONG);
	T_TRUE(p_asleep(getpid(), c->tid));
	T_OK(close(c->fd));
	T_EQ(pthread_join(th, NULL), 0);
	T_EQ(c->ret, -1);
	T_EQ(c->err, ENXIO);
}

T_CASE(a_flush_of_a_device_that_is_closed_before_it_is_ENXIO)
{
	struct command c = {.cmd = I_FLUSH, .arg = (void *)FLUSHRW};

	T_OK(setenv("STREAMS_DELAY", "flush:begun:1000", 1));
	command_of_a_closed_device(&c);
}

T_CASE(an_ioctl_of_a_device_that_is_closed_before_it_is_ENXIO)
{
	struct strioctl si = {.ic_cmd = 1, .ic_timout = 5};
	struct command c = {.cmd = I_STR, .arg = &si};

	T_OK(setenv("STREAMS_DELAY", "ioctl:begun:1000", 1));
	command_of_a_closed_device(&c);
}

/* Opens @path as @flags say, when another does it the other way; to it. */
static void
fleeting(const char *path, int flags)
{
	char c = 'x';
	int fd = T_OK(open(path, flags));

	if (flags == O_WRONLY)
		T_EQ(write(fd, &c, 1), 1);
	_exit(0);
}

/* POSIX open(): it blocks "until a thread opens the file" the other way */
T_CASE_TIMEOUT(a_FIFOs_other_side_that_leaves_at_once_has_been_there, 20)
{
	static const int way[2] = {O_RDONLY, O_WRONLY};
	char path[64], c = 0;
	int i, fd;
	pid_t pid;

	p_warm_up();
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/dev/streams/fifo/%d", 2000 + i);
		pid = T_OK(fork());
		if (pid == 0)
			fleeting(path, way[!i]);
		T_SOON(p_asleep(pid, pid), P_MS_LONG);
		T_OK(setenv("STREAMS_DELAY", "fifo:joined:1000", 1));
		fd = T_OK(open(path, way[i]));
		T_OK(unsetenv("STREAMS_DELAY"));
		T_EQ(p_wait(pid, P_MS_LONG), 0);
		if (way[i] == O_RDONLY) {
			T_EQ(read(fd, &c, 1), 1);
			T_EQ(c, 'x');
			T_EQ(read(fd, &c, 1), 0);
		}
		T_OK(close(fd));
	}
}

static void *
closes(void *arg)
{
	struct command *c = arg;

	c->tid = gettid();
	c->ret = close(c->fd);
	return NULL;
}

/* POSIX write(): EPIPE when the FIFO "is not open for reading by any process" */
T_CASE(a_reader_who_comes_while_the_last_one_goes_is_a_reader)
{
	const char *path = "/dev/streams/fifo/2010";
	struct command c = {0};
	pthread_t th;
	int fd, wr;
	char buf[1];

	p_warm_up();
	signal(SIGPIPE, SIG_IGN);
	c.fd = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	wr = T_OK(open(path, O_WRONLY));
	T_OK(setenv("STREAMS_DELAY", "fifo:counted:2000", 1));
	T_EQ(pthread_create(&th, NULL, closes, &c), 0);
	T_SOON(c.tid != 0, P_MS_LONG);
	T_TRUE(p_asleep(getpid(), c.tid));
	T_OK(unsetenv("STREAMS_DELAY"));
	fd = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	T_EQ(pthread_join(th, NULL), 0);
	T_EQ(c.ret, 0);
	T_EQ(write(wr, "x", 1), 1);
	T_EQ(read(fd, buf, 1), 1);
	T_OK(close(fd));
	T_OK(close(wr));
}

struct addition {
	int ep, fd;
	_Atomic pid_t tid;
};

static void *
adds(void *arg)
{
	struct addition *a = arg;
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = a->fd};

	a->tid = gettid();
	T_OK(epoll_ctl(a->ep, EPOLL_CTL_ADD, a->fd, &ev));
	return NULL;
}

/* epoll_ctl(2): "data ... that the kernel should save and then return" */
static void
told_as_given(int first)
{
	struct epoll_event ev = {.events = EPOLLIN}, out;
	struct addition a;
	int idle[2], fd[2];
	pthread_t th;

	T_OK(a.ep = epoll_create1(0));
	p_pipe(idle);
	ev.data.fd = idle[0];
	if (!first)
		T_OK(epoll_ctl(a.ep, EPOLL_CTL_ADD, idle[0], &ev));
	p_pipe(fd);
	T_OK(close(fd[1]));
	a.fd = fd[0];
	a.tid = 0;
	T_OK(setenv("STREAMS_DELAY", "epoll:added:1000", 1));
	T_EQ(pthread_create(&th, NULL, adds, &a), 0);
	T_SOON(a.tid != 0, P_MS_LONG);
	T_TRUE(p_asleep(getpid(), a.tid));
	T_EQ(epoll_wait(a.ep, &out, 1, P_MS_LONG), 1);
	T_EQ(out.data.fd, fd[0]);
	T_TRUE(out.events & EPOLLHUP);
	T_EQ(pthread_join(th, NULL), 0);
}

T_CASE(what_is_told_of_a_pipe_that_is_being_added_is_what_was_given)
{
	told_as_given(0);
}

T_CASE(what_is_told_of_the_first_pipe_that_is_added_is_what_was_given)
{
	told_as_given(1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * FIFOs, after POSIX open(), read(), write() and poll(), with the kernel's
 * FIFO as the oracle: the same cases run over a path made with mkfifo(2) that
 * is the kernel's, one that is configured to be ours, and a minor of
 * /dev/streams/fifo.
 */
#include "names.h"

#include <stdio.h>

T_TARGETS("kernel", "mkfifo", "device")

/* Children forked later shall be in the same private domain. */
static void
attach(void)
{
	const char *tmp = getenv("TMPDIR");
	char path[128];
	int fd[2];

	snprintf(path, sizeof(path), "%s/*/ours*", tmp != NULL ? tmp : "/tmp");
	setenv("STREAMS_FIFOS", path, 1);
	T_OK(pipe(fd));
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

static const char *
fifo(void)
{
	static char dev[64];
	const char *path;

	attach();
	if (strcmp(t_target(), "device") == 0) {
		snprintf(dev, sizeof(dev), "/dev/streams/fifo/%u",
			100u + (unsigned)t_rand_below(1000));
		return dev;
	}
	path = n_path(strcmp(t_target(), "kernel") == 0 ? "theirs" : "ours");
	T_OK(mkfifo(path, 0600));
	return path;
}

static bool
ours(int fd)
{
	return isastream(fd) == 1;
}

/* POSIX open(): "O_NONBLOCK ... for writing only shall return an error if no
 * process currently has the file open for reading": ENXIO. */
T_CASE(nonblocking_writer_without_reader_is_ENXIO)
{
	T_ERR(open(fifo(), O_WRONLY | O_NONBLOCK), ENXIO);
}

/* POSIX open(): "O_NONBLOCK ... reading only shall return without delay" */
T_CASE(nonblocking_reader_opens_at_once)
{
	int fd = T_OK(open(fifo(), O_RDONLY | O_NONBLOCK));

	T_EQ(ours(fd), strcmp(t_target(), "kernel") != 0);
	T_OK(close(fd));
}

/* A file that is removed while it is open stays apart from a new one, which
 * may have its inode. */
T_CASE(a_new_fifo_is_not_a_removed_one)
{
	const char *path = fifo();
	char buf[8];
	int r, w, r2, w2;

	if (strcmp(t_target(), "device") == 0)
		T_SKIP("a device is no file");
	for (int i = 0; i < 20; i++) {
		r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
		w = T_OK(open(path, O_WRONLY));
		T_EQ(write(w, "old", 3), 3);
		T_OK(unlink(path));
		T_OK(mkfifo(path, 0600));
		r2 = T_OK(open(path, O_RDONLY | O_NONBLOCK));
		w2 = T_OK(open(path, O_WRONLY));
		T_EQ(write(w2, "new", 3), 3);
		T_EQ(read(r2, buf, sizeof buf), 3);
		T_TRUE(memcmp(buf, "new", 3) == 0);
		T_EQ(read(r, buf, sizeof buf), 3);
		T_TRUE(memcmp(buf, "old", 3) == 0);
		T_OK(close(r));
		T_OK(close(w));
		T_OK(close(r2));
		T_OK(close(w2));
	}
}

struct opener {
	const char *path;
	int flags;
	int tell[2];
};

static void
open_and_tell(void *arg)
{
	struct opener *o = arg;
	int fd = open(o->path, o->flags);
	char c = fd >= 0 ? 'y' : 'n';

	T_EQ(T_OK(write(o->tell[1], &c, 1)), 1);
	if (fd >= 0 && (o->flags & O_ACCMODE) == O_WRONLY)
		T_EQ(T_OK(write(fd, "hello", 5)), 5);
	else if (fd >= 0)
		T_EQ(T_OK(read(fd, &c, 1)), 1);
}

/* POSIX open(): "O_NONBLOCK is clear: reading only shall block the calling
 * thread until a thread opens the file for writing". */
T_CASE(reader_waits_for_a_writer)
{
	struct opener o = {.path = fifo(), .flags = O_RDONLY};
	char c = 0;
	pid_t pid;
	int fd;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, o.tell));
	pid = n_child(open_and_tell, &o);
	T_FALSE(n_readable(o.tell[0], 100));
	fd = T_OK(open(o.path, O_WRONLY));
	T_EQ(T_OK(read(o.tell[0], &c, 1)), 1);
	T_EQ(c, 'y');
	T_EQ(T_OK(write(fd, "x", 1)), 1);
	T_EQ(n_wait(pid), 0);
}

/* ... "for writing only shall block until ... opens the file for reading". */
T_CASE(writer_waits_for_a_reader)
{
	struct opener o = {.path = fifo(), .flags = O_WRONLY};
	char buf[8];
	char c = 0;
	pid_t pid;
	int fd;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, o.tell));
	pid = n_child(open_and_tell, &o);
	T_FALSE(n_readable(o.tell[0], 100));
	fd = T_OK(open(o.path, O_RDONLY));
	T_EQ(T_OK(read(o.tell[0], &c, 1)), 1);
	T_EQ(c, 'y');
	T_EQ(T_OK(read(fd, buf, sizeof(buf))), 5);
	T_MEM(buf, "hello", 5);
	T_EQ(n_wait(pid), 0);
	T_EQ(T_OK(read(fd, buf, sizeof(buf))), 0);
}

static void
on_alarm(int sig)
{
	(void)sig;
}

/* POSIX open(): EINTR "A signal was caught during open()". */
T_CASE(waiting_open_is_interrupted)
{
	struct sigaction sa = {.sa_handler = on_alarm};
	const char *path = fifo();

	T_OK(sigaction(SIGALRM, &sa, NULL));
	alarm(1);
	T_ERR(open(path, O_RDONLY), EINTR);
	/* and left nothing behind: there is no reader */
	T_ERR(open(path, O_WRONLY | O_NONBLOCK), ENXIO);
}

T_CASE(what_is_written_is_read)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));
	char buf[100];

	T_ERR(read(r, buf, sizeof(buf)), EAGAIN);
	T_EQ(T_OK(write(w, "abc", 3)), 3);
	T_EQ(T_OK(write(w, "defg", 4)), 4);
	T_EQ(T_OK(read(r, buf, sizeof(buf))), 7);
	T_MEM(buf, "abcdefg", 7);
}

/* POSIX read(): "If no process has the pipe open for writing, read() shall
 * return 0 to indicate end-of-file"; a writer that comes ends that. */
T_CASE(end_of_file_comes_and_goes)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	char buf[8];
	int w, i;

	T_EQ(T_OK(read(r, buf, sizeof(buf))), 0);
	for (i = 0; i < 3; i++) {
		w = T_OK(open(path, O_WRONLY));
		T_ERR(read(r, buf, sizeof(buf)), EAGAIN);
		T_EQ(T_OK(write(w, "z", 1)), 1);
		T_OK(close(w));
		T_EQ(T_OK(read(r, buf, sizeof(buf))), 1);
		T_EQ(T_OK(read(r, buf, sizeof(buf))), 0);
	}
}

/* POSIX write(): EPIPE and SIGPIPE when no file is open for reading. */
T_CASE(write_without_readers_is_EPIPE)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));

	signal(SIGPIPE, SIG_IGN);
	T_EQ(T_OK(write(w, "a", 1)), 1);
	T_OK(close(r));
	T_ERR(write(w, "b", 1), EPIPE);
	signal(SIGPIPE, SIG_DFL);
	{
		pid_t pid = T_OK(fork());

		if (pid == 0) {
			(void)write(w, "c", 1);
			_exit(0);
		}
		T_EQ(n_wait(pid), 1000 + SIGPIPE);
	}
	/* a reader makes it a FIFO again */
	r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	T_EQ(T_OK(write(w, "d", 1)), 1);
}

/* POSIX: a descriptor not open for that is EBADF. */
T_CASE(wrong_direction_is_EBADF)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));
	char c;

	T_ERR(write(r, "a", 1), EBADF);
	T_ERR(read(w, &c, 1), EBADF);
}

/* Linux: opening for both succeeds at once, and counts as both. */
T_CASE(read_write_open_does_not_wait)
{
	const char *path = fifo();
	int fd = T_OK(open(path, O_RDWR));
	int w = T_OK(open(path, O_WRONLY | O_NONBLOCK));
	char c = 0;

	T_EQ(T_OK(write(w, "q", 1)), 1);
	T_EQ(T_OK(read(fd, &c, 1)), 1);
	T_EQ(c, 'q');
	T_OK(close(w));
}

T_CASE(fcntl_and_fstat_say_what_it_is)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));
	struct stat st;

	T_EQ(T_OK(fcntl(r, F_GETFL)) & (O_ACCMODE | O_NONBLOCK), O_NONBLOCK);
	T_EQ(T_OK(fcntl(w, F_GETFL)) & (O_ACCMODE | O_NONBLOCK), O_WRONLY);
	T_OK(fstat(r, &st));
	T_TRUE(S_ISFIFO(st.st_mode));
	/* the status flags are the open file's, not the FIFO's */
	T_OK(fcntl(w, F_SETFL, O_NONBLOCK));
	T_EQ(T_OK(fcntl(r, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
	T_OK(fcntl(r, F_SETFL, 0));
	T_EQ(T_OK(fcntl(w, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
}

T_CASE(poll_events_of_both_sides)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));

	T_EQ(n_events(r), 0);
	T_EQ(n_events(w) & POLLOUT, POLLOUT);
	T_EQ(T_OK(write(w, "a", 1)), 1);
	T_EQ(n_events(r), POLLIN);
	T_OK(close(w));
	T_EQ(n_events(r) & (POLLIN | POLLHUP), POLLIN | POLLHUP);
	w = T_OK(open(path, O_WRONLY));
	T_EQ(n_events(r), POLLIN);
	T_OK(close(r));
	T_EQ(n_events(w) & POLLERR, POLLERR);
}

/* poll(): it waits "at least timeout milliseconds for an event to occur" */
T_CASE(poll_for_what_a_side_is_not_open_for_ends_in_time)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	int w = T_OK(open(path, O_WRONLY));
	struct pollfd p = {.fd = r, .events = POLLOUT};

	T_EQ(poll(&p, 1, 50), 0);
	T_EQ(T_OK(write(w, "a", 1)), 1);
	p = (struct pollfd){.fd = w, .events = POLLIN};
	T_EQ(poll(&p, 1, 50), 0);
}

struct holder {
	const char *path;
	int flags;
	int ready[2];
};

static void
hold(void *arg)
{
	struct holder *h = arg;

	(void)T_OK(open(h->path, h->flags));
	T_EQ(T_OK(write(h->ready[1], "r", 1)), 1);
	for (;;)
		pause();
}

/* A killed writer is a closed one: its reader sees the end of file. */
T_CASE(killed_writer_is_end_of_file)
{
	struct holder h = {.path = fifo(), .flags = O_WRONLY};
	int r = T_OK(open(h.path, O_RDONLY | O_NONBLOCK));
	char c;
	pid_t pid;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, h.ready));
	pid = n_child(hold, &h);
	T_EQ(T_OK(read(h.ready[0], &c, 1)), 1);
	T_ERR(read(r, &c, 1), EAGAIN);
	T_OK(fcntl(r, F_SETFL, 0));
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(read(r, &c, 1)), 0);
	T_EQ(n_wait(pid), 1000 + SIGKILL);
}

T_CASE(killed_reader_is_EPIPE)
{
	struct holder h = {.path = fifo(), .flags = O_RDONLY};
	char buf[4096], c;
	pid_t pid;
	int w;

	memset(buf, 1, sizeof(buf));
	signal(SIGPIPE, SIG_IGN);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, h.ready));
	pid = n_child(hold, &h);
	w = T_OK(open(h.path, O_WRONLY));
	T_EQ(T_OK(read(h.ready[0], &c, 1)), 1);
	T_OK(kill(pid, SIGKILL));
	T_EQ(n_wait(pid), 1000 + SIGKILL);
	/* blocked for want of room, or not: it ends */
	while (write(w, buf, sizeof(buf)) > 0)
		;
	T_EQ(errno, EPIPE);
}

/* POSIX write(): at most PIPE_BUF bytes are not interleaved. */
T_CASE(small_writes_are_atomic)
{
	const char *path = fifo();
	int r = T_OK(open(path, O_RDONLY | O_NONBLOCK));
	char buf[512];
	pid_t pid[4];
	int i, got = 0;

	for (i = 0; i < 4; i++) {
		pid[i] = T_OK(fork());
		if (pid[i] == 0) {
			int w = T_OK(open(path, O_WRONLY));

			memset(buf, 'a' + i, sizeof(buf));
			for (int k = 0; k < 200; k++)
				T_EQ(T_OK(write(w, buf, 512)), 512);
			_exit(0);
		}
	}
	while (got < 4 * 200) {
		size_t have = 0;
		ssize_t n;

		while (have < 512) {
			T_TRUE(n_readable(r, 5000));
			n = read(r, buf + have, 512 - have);
			if (n > 0)
				have += (size_t)n;
		}
		for (i = 1; i < 512; i++)
			T_EQ(buf[i], buf[0]);
		got++;
	}
	for (i = 0; i < 4; i++)
		T_EQ(n_wait(pid[i]), 0);
}

/* A server may be met at a FIFO as well as at an attached pipe: the message of
 * I_SENDFD goes to the FIFO's readers. */
static void
call_by_fifo(void *arg)
{
	const char *path = arg;
	char buf[8];
	int fd[2], file, w;

	w = T_OK(open(path, O_WRONLY | O_NONBLOCK));
	T_OK(pipe(fd));
	T_OK(ioctl(w, I_SENDFD, fd[1]));
	T_OK(close(fd[1]));
	/* and one that is no Stream's */
	file = T_OK(open("/dev/null", O_WRONLY));
	T_OK(ioctl(w, I_SENDFD, file));
	T_OK(close(file));
	T_ERR(ioctl(w, I_SENDFD, w), EINVAL);
	T_OK(close(w));
	T_EQ(T_OK(write(fd[0], "hello", 5)), 5);
	T_EQ(T_OK(read(fd[0], buf, sizeof(buf))), 3);
	T_TRUE(memcmp(buf, "yes", 3) == 0);
}

T_CASE(descriptors_are_passed_through_a_fifo)
{
	const char *path = fifo();
	struct strrecvfd r;
	struct stat st;
	char buf[8];
	pid_t pid;
	int fd;

	fd = T_OK(open(path, O_RDWR | O_NONBLOCK));
	if (!ours(fd))
		return; /* the kernel's has nothing of the kind */
	T_ERR(ioctl(fd, I_RECVFD, &r), EAGAIN);
	for (int i = 0; i < 2; i++) {
		pid = n_child(call_by_fifo, (void *)(uintptr_t)path);
		T_TRUE(n_readable(fd, 5000));
		T_OK(ioctl(fd, I_RECVFD, &r));
		T_EQ(r.uid, geteuid());
		T_EQ(ours(r.fd), true);
		T_TRUE(n_readable(r.fd, 5000));
		T_EQ(T_OK(read(r.fd, buf, sizeof(buf))), 5);
		T_TRUE(memcmp(buf, "hello", 5) == 0);
		T_EQ(T_OK(write(r.fd, "yes", 3)), 3);
		T_OK(close(r.fd));
		T_TRUE(n_readable(fd, 5000));
		T_OK(ioctl(fd, I_RECVFD, &r));
		T_OK(fstat(r.fd, &st));
		T_TRUE(S_ISCHR(st.st_mode));
		T_EQ(T_OK(write(r.fd, "x", 1)), 1);
		T_OK(close(r.fd));
		T_EQ(n_wait(pid), 0);
	}
}

/* What no process can get at is closed, and with a FIFO's last close goes what is
 * in it. */
T_CASE(fifos_that_wait_in_each_other_are_closed)
{
	const char *path = fifo();
	struct strrecvfd r;
	int fd[2], i;

	fd[0] = T_OK(open(path, O_RDWR | O_NONBLOCK));
	if (!ours(fd[0]))
		return; /* the kernel's has nothing of the kind */
	fd[1] = T_OK(open("/dev/streams/fifo/99", O_RDWR | O_NONBLOCK));
	for (i = 0; i < 2; i++) {
		T_EQ(T_OK(write(fd[i], "x", 1)), 1);
		T_OK(ioctl(fd[i], I_SENDFD, fd[!i]));
	}
	for (i = 0; i < 2; i++)
		T_OK(close(fd[i]));
	/* streamsd sees to it; a look may come before */
	T_SOON((fd[0] = T_OK(open(path, O_RDWR | O_NONBLOCK))) >= 0 &&
		T_OK(ioctl(fd[0], I_NREAD, &i)) >= 0 &&
		T_OK(close(fd[0])) == 0 && i == 0, 10000);
	fd[0] = T_OK(open(path, O_RDWR | O_NONBLOCK));
	T_ERR(ioctl(fd[0], I_RECVFD, &r), EAGAIN);
	T_OK(close(fd[0]));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * I_SENDFD and I_RECVFD of descriptors that are no Stream's: whatever holds the
 * receiving end meanwhile, what becomes of a descriptor that is never received,
 * and what happens when there is no room.
 *
 * The writing end of a kernel's pipe is the witness: its reading end is at end
 * of file when no process, and nothing on its way, has the writing end.
 */
#include "names.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void
make(int fd[2])
{
	T_OK(pipe(fd));
}

struct witness {
	int rd, wr;
};

static struct witness
witness(void)
{
	int fd[2];

	T_OK(syscall(SYS_pipe2, fd, O_NONBLOCK));
	return (struct witness){ fd[0], fd[1] };
}

static bool
is_closed(const struct witness *w)
{
	char c;

	return read(w->rd, &c, 1) == 0;
}

static void
send_witness(int to, struct witness *w)
{
	*w = witness();
	T_OK(ioctl(to, I_SENDFD, w->wr));
	T_OK(close(w->wr));
	T_FALSE(is_closed(w));
}

static int
numbered(int n)
{
	int fd = T_OK(memfd_create("numbered", 0));

	T_EQ(T_OK(write(fd, &n, sizeof(n))), (ssize_t)sizeof(n));
	return fd;
}

static void
send_number(int to, int n)
{
	int fd = numbered(n);

	T_OK(ioctl(to, I_SENDFD, fd));
	T_OK(close(fd));
}

static int
number_of(int fd)
{
	int n = -1;

	T_EQ(T_OK(pread(fd, &n, sizeof(n), 0)), (ssize_t)sizeof(n));
	return n;
}

static int
receive_number(int from)
{
	struct strrecvfd r;
	int n;

	T_TRUE(n_readable(from, 10000));
	T_OK(ioctl(from, I_RECVFD, &r));
	n = number_of(r.fd);
	T_OK(close(r.fd));
	return n;
}

/* ------------------------------------------------------- who holds the end */

/* A server's end that it gets only after a client has sent to it. */
T_CASE(to_an_end_that_is_on_its_way)
{
	struct strrecvfd r;
	int server[2], mine[2];

	make(server);
	make(mine);
	T_OK(ioctl(server[0], I_SENDFD, mine[1]));
	T_OK(close(mine[1]));
	send_number(mine[0], 1);
	send_number(mine[0], 2);
	T_OK(ioctl(server[1], I_RECVFD, &r));
	T_EQ(receive_number(r.fd), 1);
	send_number(mine[0], 3);
	T_EQ(receive_number(r.fd), 2);
	T_EQ(receive_number(r.fd), 3);
}

static void
send_both_and_die(void *arg)
{
	int *to = arg, mine[2];

	make(mine);
	T_OK(ioctl(to[0], I_SENDFD, mine[1]));
	T_OK(close(mine[1]));
	send_number(mine[0], 7);
	raise(SIGKILL);
}

/* The sender of both is dead before either is received. */
T_CASE(to_an_end_that_is_on_its_way_by_a_sender_that_is_killed)
{
	struct strrecvfd r;
	int server[2];

	make(server);
	T_EQ(n_wait(n_child(send_both_and_die, server)), 1000 + SIGKILL);
	T_OK(ioctl(server[1], I_RECVFD, &r));
	T_EQ(receive_number(r.fd), 7);
}

/* The end with the name waits for a process that opens it. */
T_CASE(to_an_end_that_has_only_a_name)
{
	const char *path = n_file("a");
	int fd[2], end;

	make(fd);
	T_OK(fattach(fd[1], path));
	T_OK(close(fd[1]));
	send_number(fd[0], 1);
	end = T_OK(open(path, O_RDWR));
	T_EQ(receive_number(end), 1);
	/* and after it has been closed again */
	send_number(fd[0], 2);
	T_OK(close(end));
	end = T_OK(open(path, O_RDWR));
	T_EQ(receive_number(end), 2);
	T_OK(fdetach(path));
}

/* The sender has the other end by its name, the receiver by pipe(2). */
T_CASE(from_a_name_to_an_end_of_pipe)
{
	const char *path = n_file("a");
	int fd[2], client;

	make(fd);
	T_OK(fattach(fd[1], path));
	client = T_OK(open(path, O_RDWR));
	send_number(client, 1);
	T_OK(close(fd[1]));
	send_number(client, 2);
	T_EQ(receive_number(fd[0]), 1);
	T_EQ(receive_number(fd[0]), 2);
	/* and back: whichever file of that end asks gets the next one */
	send_number(fd[0], 3);
	T_EQ(receive_number(client), 3);
	T_OK(fdetach(path));
}

static void
receive_4(void *arg)
{
	T_EQ(receive_number(*(int *)arg), 4);
}

/* One of several open files of the end, in another process. */
T_CASE(to_any_open_file_of_an_end)
{
	struct strrecvfd r;
	int fd[2], via[2];

	make(fd);
	make(via);
	T_OK(ioctl(via[0], I_SENDFD, fd[1]));
	T_OK(ioctl(via[1], I_RECVFD, &r));
	send_number(fd[0], 3);
	send_number(fd[0], 4);
	T_EQ(receive_number(r.fd), 3);
	T_EQ(n_wait(n_child(receive_4, &fd[1])), 0);
	send_number(fd[0], 5);
	T_EQ(receive_number(fd[1]), 5);
}

/* ---------------------------------------------------- what is never received */

T_CASE(closing_the_receiving_end_closes_what_waits_there)
{
	struct witness w[3];
	int fd[2], i;

	make(fd);
	for (i = 0; i < 3; i++)
		send_witness(fd[0], &w[i]);
	T_OK(close(fd[1]));
	/* the end is closed when a holder of the other one looks */
	T_SOON(is_closed(&w[0]) && is_closed(&w[1]) && is_closed(&w[2]),
		10000);
	T_ERR(ioctl(fd[0], I_SENDFD, 0), ENXIO);
}

T_CASE(closing_a_stream_closes_what_waits_in_it)
{
	struct witness w[2];
	int fd[2], f;

	make(fd);
	send_witness(fd[0], &w[0]);
	T_OK(close(fd[0]));
	T_FALSE(is_closed(&w[0]));
	T_OK(close(fd[1]));
	T_SOON(is_closed(&w[0]), 10000);
	f = T_OK(open("/dev/streams/fifo/77", O_RDWR | O_NONBLOCK));
	send_witness(f, &w[1]);
	T_OK(close(f));
	T_SOON(is_closed(&w[1]), 10000);
}

static void
hold_and_die(void *arg)
{
	int *fd = arg;

	T_OK(close(fd[0]));
	pause();
}

/* The sender has its end, and makes no calls. */
T_CASE(killing_the_receiver_closes_what_waits_there)
{
	struct witness w;
	int fd[2];
	pid_t pid;

	make(fd);
	pid = n_child(hold_and_die, fd);
	T_OK(close(fd[1]));
	send_witness(fd[0], &w);
	T_OK(kill(pid, SIGKILL));
	T_EQ(n_wait(pid), 1000 + SIGKILL);
	T_SOON(is_closed(&w), 10000);
}

T_CASE(flushing_closes_what_was_flushed)
{
	struct witness w[2];
	int fd[2];

	make(fd);
	send_witness(fd[0], &w[0]);
	send_witness(fd[0], &w[1]);
	T_OK(ioctl(fd[1], I_FLUSH, FLUSHR));
	T_SOON(is_closed(&w[0]) && is_closed(&w[1]), 10000);
	send_number(fd[0], 9);
	T_EQ(receive_number(fd[1]), 9);
}

/* ---------------------------------------------------------------------- room */

T_CASE(a_receiver_without_a_free_number_loses_nothing)
{
	struct rlimit rl, less;
	struct strrecvfd r;
	int fd[2], i;

	make(fd);
	send_number(fd[0], 0);
	T_EQ(receive_number(fd[1]), 0);
	for (i = 1; i <= 3; i++)
		send_number(fd[0], i);
	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	less = rl;
	less.rlim_cur = 3;
	T_OK(setrlimit(RLIMIT_NOFILE, &less));
	for (i = 0; i < 3; i++)
		T_ERR(ioctl(fd[1], I_RECVFD, &r), EMFILE);
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	for (i = 1; i <= 3; i++)
		T_EQ(receive_number(fd[1]), i);
}

/* Whatever the carriers are: the limit is that of the box alone. */
static void
fill(int to, int from)
{
	int fd, n, i, err = 0;

	for (n = 0; err == 0; n++) {
		T_LT(n, 100000);
		fd = numbered(n);
		if (ioctl(to, I_SENDFD, fd) != 0)
			err = errno;
		T_OK(close(fd));
	}
	n--;
	T_EQ(err, EAGAIN);
	T_GT(n, 100);
	for (i = 0; i < 10; i++)
		T_EQ(receive_number(from), i);
	for (i = n; i < n + 10; i++)
		send_number(to, i);
	for (i = 10; i < n + 10; i++)
		T_EQ(receive_number(from), i);
}

T_CASE(a_full_box_is_EAGAIN_and_loses_nothing)
{
	int fd[2], f;

	make(fd);
	fill(fd[0], fd[1]);
	f = T_OK(open("/dev/streams/fifo/78", O_RDWR | O_NONBLOCK));
	fill(f, f);
}

/* A module above the receiver does not see what is passed, nor its order. */
T_CASE(with_modules_pushed)
{
	struct strbuf b = { .len = 1, .buf = "h" };
	int fd[2], i;
	char c;

	make(fd);
	T_OK(ioctl(fd[0], I_PUSH, "nullmod"));
	T_OK(ioctl(fd[1], I_PUSH, "nullmod"));
	for (i = 0; i < 5; i++)
		send_number(fd[0], i);
	/* a message of high priority goes first, and is in the way of none */
	T_OK(putmsg(fd[0], &b, NULL, RS_HIPRI));
	b.maxlen = 1;
	b.buf = &c;
	i = RS_HIPRI;
	T_OK(getmsg(fd[1], &b, NULL, &i));
	for (i = 0; i < 5; i++)
		T_EQ(receive_number(fd[1]), i);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The kernel's pipes of PLAIN pipes.
 *
 * Objects.  The number of such a pipe is its inode.  A process refers to it by a
 * hidden descriptor that was opened with O_PATH: the kernel does not count that
 * as a reader or a writer, and either side can be opened through it, by /proc.
 * The references of a process are in a table, which its children inherit.
 *
 * Why not a FIFO with a name: open(2) of a FIFO without a writer waits, so that
 * `cat /dev/stdin' would hang after the writer has ended.
 *
 * Life.  The contents of the pipe exist as long as a process, or a message in a
 * carrier's queue, has one of its sides open.
 *
 * A member's descriptors of the sides have O_NONBLOCK: the executive waits.
 */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user_impl.h"

#define REFS 512
#define HIGH 1000      /* of hidden descriptors */
#define NEAR 2048      /* a limit of descriptors that leaves few from HIGH on */
#define SIZE (1 << 20) /* more than a head queue's high water mark */
#define PATH 32

struct ref {
	str_a64 number; /* [A] 0: unused; stored last */
	int fd;
};

struct ref host_plain_ref[REFS] STR_LARGE;
static str_a32 high;	       /* [A] no entry from here on was ever used */
static str_a32 lowest = INT_MAX; /* [A] all were at or above this number */

static bool
is_fifo(int fd, struct stat *st)
{
	return sys_call2(SYS_fstat, fd, st) == 0 && S_ISFIFO(st->st_mode);
}

bool
host_plain_is(int fd, uint64_t number)
{
	struct stat st;

	return is_fifo(fd, &st) && st.st_ino == number;
}

/* ---------------------------------------------------------------- table */

static struct ref *
find(uint64_t number)
{
	uint32_t n = str_load(&high);

	for (uint32_t i = 0; number != 0 && i < n; i++)
		if (str_load(&host_plain_ref[i].number) == number)
			return &host_plain_ref[i];
	return NULL;
}

/* Where hidden descriptors begin: above those that a program counts on. */
static int
high_numbers(void)
{
	struct rlimit rl = { 0, 0 };

	(void)sys_call4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &rl);
	return rl.rlim_cur < NEAR ? (int)(rl.rlim_cur - rl.rlim_cur / 8) : HIGH;
}

/*
 * Enter the pipe under @fd.  @must: under a low number if there is no other.
 * Return: its number, or 0.
 */
static uint64_t
enter(int fd, bool must)
{
	char path[PATH];
	struct stat st;
	int to;

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	to = sys_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
	if (to < 0)
		return 0;
	fd = sys_fcntl(to, F_DUPFD_CLOEXEC, high_numbers());
	if (fd < 0 && must)
		fd = sys_fcntl(to, F_DUPFD_CLOEXEC, 3);
	(void)sys_close(to);
	if (fd >= 0 && is_fifo(fd, &st))
		for (uint32_t i = 0; i < REFS; i++) {
			if (!str_cas(&host_plain_ref[i].number, 0ull, ~0ull))
				continue;
			host_plain_ref[i].fd = fd;
			if ((uint32_t)fd < str_load(&lowest))
				str_store(&lowest, (uint32_t)fd);
			if (i >= str_load(&high))
				str_store(&high, i + 1);
			str_store_rel(&host_plain_ref[i].number, st.st_ino);
			return st.st_ino;
		}
	if (fd >= 0)
		(void)sys_close(fd);
	return 0;
}

bool
host_plain_hidden(int fd)
{
	return str_unlikely(fd >= (int)str_load(&lowest)) &&
		host_plain_hidden_from(fd) == fd;
}

bool
host_plain_known(uint64_t number)
{
	struct ref *r = find(number);

	return r != NULL && host_plain_is(r->fd, number);
}

void
host_plain_forget(uint64_t number)
{
	struct ref *r = find(number);

	if (r == NULL)
		return;
	if (host_plain_is(r->fd, number))
		(void)sys_close(r->fd);
	str_store(&r->number, 0ull);
}

int
host_plain_hidden_from(int from)
{
	uint32_t n = str_load(&high);
	int low = -1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t v = str_load_acq(&host_plain_ref[i].number);

		if (v != 0 && v != ~0ull && host_plain_ref[i].fd >= from &&
		    (low < 0 || host_plain_ref[i].fd < low))
			low = host_plain_ref[i].fd;
	}
	return low;
}

void
host_plain_hidden_move(int fd)
{
	uint32_t n = str_load(&high);

	for (uint32_t i = 0; i < n; i++) {
		int to;

		if (str_load(&host_plain_ref[i].number) == 0 || host_plain_ref[i].fd != fd)
			continue;
		to = sys_fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
		if (to < 0)
			to = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (to < 0)
			continue;
		host_plain_ref[i].fd = to;
		if ((uint32_t)to < str_load(&lowest))
			str_store(&lowest, (uint32_t)to);
		(void)sys_close(fd);
	}
}

/* --------------------------------------------------------------- making */

int
host_plain_make(uint64_t *ret_number)
{
	int fd[2], err;

	err = -(int)sys_call2(SYS_pipe2, fd, O_CLOEXEC);
	if (err != 0)
		return err;
	*ret_number = enter(fd[0], false);
	(void)sys_close(fd[0]);
	(void)sys_close(fd[1]);
	return *ret_number != 0 ? 0 : ENOSYS;
}

int
host_plain_open(uint64_t number, unsigned how, bool nonblock)
{
	static const int mode[] = {0, O_RDONLY, O_WRONLY, O_RDWR};
	struct ref *r = find(number);
	char path[PATH];
	int fd;

	if (r == NULL || !host_plain_is(r->fd, number))
		return -EIO;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", r->fd);
	fd = sys_openat(AT_FDCWD, path, mode[how & 3] | O_CLOEXEC |
		(nonblock ? O_NONBLOCK : 0), 0);
	if (fd >= 0 && (how & HOST_PLAIN_LARGE) != 0 &&
		sys_fcntl(fd, F_GETPIPE_SZ, 0) < SIZE)
		(void)sys_fcntl(fd, F_SETPIPE_SZ, SIZE);
	return fd >= 0 ? host_fd_protect(fd) : fd;
}

/* A descriptor that came with the first message in @sock's queue, or -1. */
static int
first_passed(int sock)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} u = { .room = { 0 } };
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u.room };
	struct cmsghdr *h;
	int fd;

	if (sys_call3(SYS_recvmsg, sock, &m,
		MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return -1;
	h = CMSG_FIRSTHDR(&m);
	if (h == NULL || h->cmsg_level != SOL_SOCKET ||
	    h->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(h), sizeof fd);
	return fd;
}

bool
host_plain_find(int sock, uint64_t number)
{
	char byte;
	int fd;

	while ((fd = first_passed(sock)) >= 0) {
		bool it = host_plain_is(fd, number);

		if (it) {
			/* an entry whose descriptor the program has closed */
			host_plain_forget(number);
			(void)enter(fd, true);
		}
		(void)sys_close(fd);
		if (it)
			return host_plain_known(number);
		/* a token, which no thread waits for */
		(void)sys_call6(SYS_recvfrom, sock, &byte, 1, MSG_DONTWAIT,
			NULL, NULL);
	}
	return false;
}

int
host_plain_keep(int fd, int end)
{
	long r = host_marked_send(fd, end);

	return r == 1 ? 0 : r == -ECONNRESET || r == -EPIPE ? EPIPE :
		r == -ETOOMANYREFS ? EMFILE : ENOSR;
}

/* ----------------------------------------------------------------- data */

uint32_t
host_plain_look(int fd)
{
	struct pollfd pfd = { fd, POLLIN, 0 };
	struct timespec ts = { 0, 0 };

	if (sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) < 0)
		return 0;
	return ((pfd.revents & (POLLHUP | POLLERR)) != 0 ? HOST_C_HUP : 0) |
		((pfd.revents & POLLIN) != 0 ? HOST_C_TOKEN : 0);
}

long
host_plain_get(int fd, void *buf, size_t len)
{
	long r = sys_call3(SYS_read, fd, buf, len);

	return r >= 0 || r == -EFAULT || r == -EAGAIN ? r :
		r == -EINTR ? -EAGAIN : -ENOTSOCK;
}

/*
 * Write to it without waiting.  The kernel would send SIGPIPE, which is sent
 * where the call ends.
 */
long
host_plain_put(int fd, const void *buf, size_t len)
{
	struct pollfd pfd = { fd, POLLOUT, 0 };
	struct timespec ts = { 0, 0 };
	struct stat st;
	long r;

	if (!is_fifo(fd, &st))
		return -ENOTSOCK;
	r = sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET);
	if (r == 1 && (pfd.revents & POLLERR) != 0)
		return -EPIPE;
	r = sys_call3(SYS_write, fd, buf, len);
	return r >= 0 || r == -EFAULT || r == -EPIPE ? r :
		r == -EAGAIN || r == -EINTR ? -EAGAIN : -ENOTSOCK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Giving the ring up: from STREAM back to KERNEL.
 *
 * Before a call that the ring does not know, the side that makes it closes both
 * positions, moves what is in the ring into the kernel's pipe, and declares the
 * pipe to be in KERNEL.  The other side waits so long.  One writev(2) moves all:
 * the kernel's pipe was enlarged for that (run_upgrade()).
 *
 * The reader has no descriptor to write with: it opens one by /proc/self/fd.
 *
 * Crash: a writer that is killed here has moved all or nothing; the reader finds
 * out (wait.c:take_over).  A reader that is killed here was the only one.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "run.h"
#include "sys.h"
#include "word.h"

struct moving {
	int fd;
	const unsigned char *ring;
	uint32_t at, n; /* position of what is still to be moved, and its size */
};

char *
run_decimal(char text[16], unsigned v)
{
	char digits[12];
	int n = 0, i = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	while (n > 0)
		text[i++] = digits[--n];
	text[i] = '\0';
	return text;
}

char *
run_fd_path(char path[40], int fd)
{
	char digits[16];

	strcpy(path, "/proc/self/fd/");
	return strcat(path, run_decimal(digits, (unsigned)fd));
}

/* 0, or minus an errno: then @m tells what is left. */
static long
write_all(int fd, struct moving *m)
{
	while (m->n != 0) {
		uint32_t at = m->at & (RUN_RING - 1), k = RUN_RING - at;
		struct iovec v[2] = {
			{(void *)(uintptr_t)(m->ring + at), m->n < k ? m->n : k},
			{(void *)(uintptr_t)m->ring, m->n < k ? 0 : m->n - k}};
		long r = sys_call3(SYS_writev, fd, v, 2);

		if (r <= 0)
			return r < 0 ? r : -EAGAIN;
		m->at += (uint32_t)r;
		m->n -= (uint32_t)r;
	}
	return 0;
}

/*
 * All numbers are in use.  A process with a copy of the descriptors can close
 * one.  It shares our memory, and we wait for it.
 */
static int
move_apart(void *arg)
{
	struct moving *m = arg;
	char path[40];
	long fd;

	(void)sys_close(m->fd == 0 ? 1 : 0);
	fd = sys_openat(AT_FDCWD, run_fd_path(path, m->fd),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd >= 0)
		(void)write_all((int)fd, m);
	(void)sys_call1(SYS_exit, 0);
	return 0;
}

NEXT_SLOT(clone);

/* Return: as write_all(). */
static long
move_by_reader(struct moving *m)
{
	_Alignas(16) static char stack[8192] STR_LARGE_DATA;
	char path[40];
	long fd = sys_openat(AT_FDCWD, run_fd_path(path, m->fd),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
	int pid;

	if (fd >= 0) {
		long err = write_all((int)fd, m);

		(void)sys_close((int)fd);
		return err;
	}
	if (fd != -EMFILE)
		return fd;
	pid = NEXT(clone)(move_apart, stack + sizeof stack,
		CLONE_VM | CLONE_VFORK, m);
	if (pid > 0)
		(void)sys_call4(SYS_wait4, pid, NULL, __WALL, NULL);
	return m->n == 0 ? 0 : -EAGAIN;
}

/*
 * The pipe has room for all (run_upgrade()), and could be opened when it was
 * armed.  So only the system's lack of files or memory fails, and that ends.
 */
static void
move_surely(struct moving *m)
{
	while (m->n != 0 && move_by_reader(m) != 0)
		run_sleep_ms();
}

/* A descriptor of @e, or -1. */
static int
fd_of(const struct run_end *e)
{
	for (int fd = 0; fd < RUN_NFD; fd++)
		if (run_fds[fd].kind >= RUN_END && run_end(run_fds[fd].kind) == e)
			return fd;
	return -1;
}

static void
move(const struct run_end *e, struct run_pipe *p, int fd)
{
	uint64_t closed = (uint64_t)RUN_CLOSED << 32;
	uint32_t tail, head;
	struct moving m = {.fd = fd, .ring = e->ring};
	int have;

	tail = (uint32_t)__atomic_fetch_or(&p->tail, closed, __ATOMIC_SEQ_CST);
	head = (uint32_t)__atomic_fetch_or(&p->head, closed, __ATOMIC_SEQ_CST);
	/* the writer has filled the ring, and has not written what precedes it */
	if (e->reads && !run_wait_woken(p, fd))
		return;
	m.at = head;
	m.n = tail - head;
	if (m.n == 0 || m.n > RUN_RING || fd < 0)
		return;
	if (e->reads) {
		move_surely(&m);
		return;
	}
	run_wait_read(p);
	have = run_unread(fd);
	__atomic_store_n(&p->before, have > 0 ? (uint32_t)have : 0,
		__ATOMIC_SEQ_CST);
	(void)write_all(fd, &m);
}

/*
 * The caller's signals are held: a handler would find the ring half moved.
 */
static void
move_quietly(const struct run_end *e, struct run_pipe *p, int fd, uint64_t to)
{
	uint64_t pend = 0, was = 0;
	uint64_t pipe_sig = 1ull << (SIGPIPE - 1);
	struct timespec none = {0, 0};

	(void)sys_call2(SYS_rt_sigpending, &was, SYS_SIGSET);
	if (e->reads || (fd >= 0 && !run_is_gone(fd)))
		move(e, p, fd);
	(void)sys_call2(SYS_rt_sigpending, &pend, SYS_SIGSET);
	if ((pend & ~was & pipe_sig) != 0)
		(void)sys_call4(SYS_rt_sigtimedwait, &pipe_sig, NULL, &none,
			SYS_SIGSET);
	__atomic_store_n(&p->state, to, __ATOMIC_SEQ_CST);
	run_wake_writer(p);
	run_end_nap(p);
}

/* Change the state to @mine, and from there to KERNEL.  False: it has changed. */
static bool
give_up(const struct run_end *e, struct run_pipe *p, int fd, uint64_t was,
	uint64_t mine)
{
	struct run_held h = {0, false};
	bool ok;

	run_hold(&h);
	ok = swap(&p->state, was, mine);

	if (ok)
		move_quietly(e, p, fd, ((was >> 8) + 1) << 8 | RUN_KERNEL);
	(void)run_let(&h, true);
	return ok;
}

void
run_settle(struct run_end *e, bool never, enum run_count why)
{
	int err = errno, fd = fd_of(e);

	for (;;) {
		struct run_pipe *p = e->p;
		uint64_t was, ep;
		unsigned st;

		if (p == NULL)
			break;
		was = LOAD(&p->state);
		ep = was >> 8;
		st = (unsigned)(was & 0xff);
		if (e->epoch != ep || st == RUN_KERNEL || st == RUN_BUSY ||
				(st == RUN_ARMED && !e->reads))
			break;
		if (st == RUN_ARMED) {
			if (swap(&p->state, was, (ep + 1) << 8 | RUN_KERNEL))
				break;
		} else if (st == RUN_STREAM) {
			if (give_up(e, p, fd, was, ep << 8 |
					(e->reads ? RUN_TO_R : RUN_TO_W))) {
				run_count(why);
				break;
			}
		} else {
			struct run_held h = {0, false};

			/* the other side does; its death is seen */
			(void)run_wait_move(e, p, fd, was, &h);
			(void)run_let(&h, true);
			if (!e->reads && LOAD(&p->state) == was)
				break;
		}
	}
	run_disarm(e, never);
	errno = err;
}

void
run_settle_fd(int fd, bool never, enum run_count why)
{
	unsigned kind;

	if (fd < 0 || fd >= RUN_NFD)
		return;
	kind = run_fds[fd].kind;
	if (kind >= RUN_END)
		run_settle(run_end(kind), never, why);
	if (never)
		run_fds[fd].kind = RUN_NEVER;
}

void
run_settle_all(enum run_count why)
{
	for (int fd = 0; fd < RUN_NFD && run_armed != 0; fd++)
		if (run_fds[fd].kind >= RUN_END)
			run_settle(run_end(run_fds[fd].kind), false, why);
}

void
run_forget(int fd)
{
	static const struct run_fd unknown = {RUN_COUNTING, 0, 0};

	if (fd < 0 || fd >= RUN_NFD)
		return;
	if (run_fds[fd].kind >= RUN_END)
		run_settle(run_end(run_fds[fd].kind), false, RUN_CLOSE);
	/* a child that closes what it does not need copies no page for it */
	if (memcmp(&run_fds[fd], &unknown, sizeof unknown) != 0)
		run_fds[fd] = unknown;
	if (run_watched[fd])
		run_watched[fd] = false;
}

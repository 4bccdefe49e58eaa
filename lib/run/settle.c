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
 * out (ring.c:take_over).  A reader that is killed here was the only one.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "run.h"
#include "sys.h"

struct moving {
	int fd;
	struct iovec v[2];
	int n;
};

static char *
fd_path(char path[40], int fd)
{
	char digits[12], *p;
	int n = 0;

	strcpy(path, "/proc/self/fd/");
	p = path + strlen(path);
	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) != 0);
	while (n > 0)
		*p++ = digits[--n];
	*p = '\0';
	return path;
}

static void
write_all(int fd, const struct moving *m)
{
	struct iovec v[2] = {m->v[0], m->v[1]};

	for (int i = 0; i < m->n;) {
		long r = sys_call3(SYS_writev, fd, v + i, m->n - i);

		if (r < 0)
			return;
		while (i < m->n && (size_t)r >= v[i].iov_len)
			r -= (long)v[i++].iov_len;
		if (i < m->n) {
			v[i].iov_base = (char *)v[i].iov_base + r;
			v[i].iov_len -= (size_t)r;
		}
	}
}

/*
 * All numbers are in use.  A process with a copy of the descriptors can close
 * one.  It shares our memory, and we wait for it.
 */
static int
move_apart(void *arg)
{
	const struct moving *m = arg;
	char path[40];
	long fd;

	(void)sys_close(m->fd == 0 ? 1 : 0);
	fd = sys_openat(AT_FDCWD, fd_path(path, m->fd),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd >= 0)
		write_all((int)fd, m);
	(void)sys_call1(SYS_exit, 0);
	return 0;
}

NEXT_SLOT(clone);

static void
move_by_reader(struct moving *m)
{
	_Alignas(16) static char stack[8192];
	char path[40];
	long fd = sys_openat(AT_FDCWD, fd_path(path, m->fd),
		O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
	int pid;

	if (fd >= 0) {
		write_all((int)fd, m);
		(void)sys_close((int)fd);
		return;
	}
	pid = NEXT(clone)(move_apart, stack + sizeof stack,
		CLONE_VM | CLONE_VFORK, m);
	if (pid > 0)
		(void)sys_call4(SYS_wait4, pid, NULL, __WALL, NULL);
}

/* A descriptor of @e, or -1. */
static int
fd_of(const struct run_end *e)
{
	for (int fd = 0; fd < RUN_NFD; fd++)
		if (run_kind[fd] >= RUN_END && run_end(run_kind[fd]) == e)
			return fd;
	return -1;
}

static void
move(struct run_end *e, int fd)
{
	struct run_pipe *p = e->p;
	uint64_t closed = (uint64_t)RUN_CLOSED << 32;
	uint32_t tail, head, at, n;
	struct moving m = {.fd = fd};

	/* the writer has filled the ring, and has not written what precedes it */
	if (e->reads && !run_wait_woken(p, fd))
		return;
	tail = (uint32_t)__atomic_fetch_or(&p->tail, closed, __ATOMIC_SEQ_CST);
	head = (uint32_t)__atomic_fetch_or(&p->head, closed, __ATOMIC_SEQ_CST);
	n = tail - head;
	at = head & (RUN_RING - 1);
	if (n == 0 || n > RUN_RING || fd < 0)
		return;
	m.v[0].iov_base = e->ring + at;
	m.v[0].iov_len = n < RUN_RING - at ? n : RUN_RING - at;
	m.v[1].iov_base = e->ring;
	m.v[1].iov_len = n - m.v[0].iov_len;
	m.n = m.v[1].iov_len != 0 ? 2 : 1;
	if (e->reads)
		move_by_reader(&m);
	else
		write_all(fd, &m);
}

/* Without signals: a handler would find the ring half moved. */
static void
move_quietly(struct run_end *e, int fd, uint64_t to)
{
	struct run_pipe *p = e->p;
	uint64_t all = ~0ull, old, pend = 0, was = 0;
	uint64_t pipe_sig = 1ull << (SIGPIPE - 1);
	struct timespec none = {0, 0};

	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old,
		SYS_SIGSET);
	(void)sys_call2(SYS_rt_sigpending, &was, SYS_SIGSET);
	if (e->reads || (fd >= 0 && !run_is_gone(fd)))
		move(e, fd);
	(void)sys_call2(SYS_rt_sigpending, &pend, SYS_SIGSET);
	if ((pend & ~was & pipe_sig) != 0)
		(void)sys_call4(SYS_rt_sigtimedwait, &pipe_sig, NULL, &none,
			SYS_SIGSET);
	__atomic_store_n(&p->state, to, __ATOMIC_SEQ_CST);
	run_wake_writer(p);
	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL,
		SYS_SIGSET);
}

void
run_settle(struct run_end *e, bool never, enum run_count why)
{
	int err = errno, fd = fd_of(e);

	while (e->p != NULL) {
		struct run_pipe *p = e->p;
		uint64_t was = __atomic_load_n(&p->state, __ATOMIC_SEQ_CST);
		uint64_t ep = was >> 8, mine = ep << 8 |
			(e->reads ? RUN_TO_R : RUN_TO_W);
		unsigned st = (unsigned)(was & 0xff);

		if (e->epoch != ep || st == RUN_KERNEL || st == RUN_BUSY)
			break;
		if (st == RUN_ARMED) {
			if (!e->reads)
				break;
			mine = (ep + 1) << 8 | RUN_KERNEL;
		} else if (st != RUN_STREAM) {
			if (was == mine || !run_wait_move(e, fd, was) ||
				__atomic_load_n(&p->state, __ATOMIC_SEQ_CST) ==
					was)
				break;
			continue;
		}
		if (!__atomic_compare_exchange_n(&p->state, &was, mine, false,
			__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		if (st == RUN_STREAM) {
			run_count(why);
			move_quietly(e, fd, (ep + 1) << 8 | RUN_KERNEL);
		}
		break;
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
	kind = run_kind[fd];
	if (kind >= RUN_END)
		run_settle(run_end(kind), never, why);
	if (never)
		run_kind[fd] = RUN_NEVER;
}

void
run_settle_all(enum run_count why)
{
	for (int fd = 0; fd < RUN_NFD && run_armed != 0; fd++)
		if (run_kind[fd] >= RUN_END)
			run_settle(run_end(run_kind[fd]), false, why);
}

void
run_forget(int fd)
{
	if (fd < 0 || fd >= RUN_NFD)
		return;
	if (run_kind[fd] >= RUN_END)
		run_settle(run_end(run_kind[fd]), false, RUN_CLOSE);
	run_kind[fd] = RUN_COUNTING;
	run_calls[fd] = 0;
	run_shift[fd] = 0;
}

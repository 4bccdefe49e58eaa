/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting for the other side of a pipe in STREAM.  The kernel's pipe tells of
 * the death of the other side: POLLERR for the writer, POLLHUP for the reader.
 */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "run.h"
#include "sys.h"
#include "word.h"

#define LOOK_MS 5 /* between two looks of a writer for the reader */

/*
 * A signal has interrupted a sleep of the ring.  Would it interrupt a call of
 * the kernel's?  Only a handler without SA_RESTART does; which one ran is not
 * known, so any counts.
 */
static bool
interrupts(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} sa;

	for (int sig = 1; sig < 65; sig++)
		if (sys_call4(SYS_rt_sigaction, sig, NULL, &sa, SYS_SIGSET) ==
				0 && sa.handler != SIG_DFL &&
			sa.handler != SIG_IGN && (sa.flags & SA_RESTART) == 0)
			return true;
	return false;
}

short
run_events(int fd, int ms, bool *ret_intr)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};
	struct pollfd pfd = {.fd = fd};
	long n = sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET);

	if (ret_intr != NULL)
		*ret_intr = n == -EINTR;
	return n > 0 ? pfd.revents : 0;
}

bool
run_is_gone(int fd)
{
	return (run_events(fd, 0, NULL) & POLLERR) != 0;
}

/* Sleep until the reader has made room.  @fd: the writer's.
 * False: the call ends with EINTR. */
bool
run_wait_room(struct run_pipe *p, uint64_t tail, int fd, bool *ret_gone)
{
	uint32_t turn = LOAD(&p->turn);
	struct timespec ts = {0, LOOK_MS * 1000000};
	long r;

	__atomic_store_n(&p->room, 1, __ATOMIC_SEQ_CST);
	if (POS(tail) - POS(LOAD(&p->head)) <= RUN_RING / 2 ||
		LOAD(&p->tail) != tail)
		return true;
	r = sys_call6(SYS_futex, &p->turn, 0 /* FUTEX_WAIT */, turn, &ts, NULL,
		0);
	if (r == -EINTR)
		return !interrupts();
	if (r == -ETIMEDOUT && run_is_gone(fd))
		*ret_gone = true;
	return true;
}

void
run_wake_writer(struct run_pipe *p)
{
	if (LOAD(&p->room) == 0)
		return;
	__atomic_store_n(&p->room, 0, __ATOMIC_SEQ_CST);
	(void)__atomic_fetch_add(&p->turn, 1, __ATOMIC_SEQ_CST);
	(void)sys_call6(SYS_futex, &p->turn, 1 /* FUTEX_WAKE */, 1, NULL, NULL,
		0);
}

int
run_unread(int fd)
{
	int n = 0;

	return sys_call3(SYS_ioctl, fd, FIONREAD, &n) == 0 ? n : -1;
}

/*
 * The writer was killed while it moved the ring into the kernel's pipe.  It
 * wrote all of it, or nothing.  If the kernel's pipe may have older bytes, it is
 * not certain which.
 */
static void
take_over(struct run_end *e, int fd, uint64_t state)
{
	struct run_pipe *p = e->p;
	uint32_t n = POS(LOAD(&p->tail)) - POS(LOAD(&p->head));
	int have = run_unread(fd);
	uint64_t to;

	if (have < 0 || (e->kernel != RUN_EMPTY ? (uint32_t)have >= n : have > 0) || n == 0) {
		to = ((state >> 8) + 1) << 8 | RUN_KERNEL;
	} else {
		(void)__atomic_fetch_and(&p->head,
			~((uint64_t)RUN_CLOSED << 32), __ATOMIC_SEQ_CST);
		(void)__atomic_fetch_and(&p->tail,
			~((uint64_t)RUN_CLOSED << 32), __ATOMIC_SEQ_CST);
		to = (state >> 8) << 8 | RUN_STREAM;
	}
	(void)swap(&p->state, state, to);
}

bool
run_wait_move(struct run_end *e, int fd, uint64_t state)
{
	for (int i = 0; LOAD(&e->p->state) == state; i++) {
		bool intr;
		short ev;

		if (i < 100) {
			relax();
			continue;
		}
		if (i < 200) {
			(void)sys_call1(SYS_sched_yield, 0);
			continue;
		}
		/* a reader without data would return at once for its data */
		ev = run_events(fd, 1, &intr);
		if (intr && interrupts())
			return false;
		if ((ev & (POLLHUP | POLLERR)) != 0 &&
				LOAD(&e->p->state) == state) {
			if (!e->reads)
				return true; /* the kernel says EPIPE */
			take_over(e, fd, state);
		}
		if (ev != 0)
			(void)sys_call1(SYS_sched_yield, 0);
	}
	return true;
}

bool
run_wait_woken(struct run_pipe *p, int fd)
{
	for (int i = 0;; i++) {
		uint64_t tail = LOAD(&p->tail);

		if (!FLAG(tail, RUN_WAKING) ||
			POS(tail) == POS(LOAD(&p->head)))
			return true;
		if (i < 100)
			relax();
		else if (i < 200)
			(void)sys_call1(SYS_sched_yield, 0);
		else if ((run_events(fd, 1, NULL) & POLLHUP) != 0)
			return false;
	}
}

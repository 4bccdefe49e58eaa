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

uint64_t
run_hold_signals(void)
{
	uint64_t mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));
	uint64_t old = 0;

	(void)sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &old, SYS_SIGSET);
	return old;
}

/* Does a handler of @sig run, after which a call of the kernel's is not
 * restarted? */
static bool
ends_calls(int sig)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} sa;

	return sys_call4(SYS_rt_sigaction, sig, NULL, &sa, SYS_SIGSET) == 0 &&
		sa.handler != SIG_DFL && sa.handler != SIG_IGN &&
		(sa.flags & SA_RESTART) == 0;
}

/*
 * Each sleep of the ring holds the signals, and so is short.  What has come
 * meanwhile is known here: a handler without SA_RESTART ends the program's call,
 * as it ends the kernel's.
 */
bool
run_let_signals(uint64_t mask)
{
	uint64_t come = 0;
	bool ends = false;

	(void)sys_call2(SYS_rt_sigpending, &come, SYS_SIGSET);
	come &= ~mask;
	for (int sig = 1; come != 0 && sig < 65; sig++)
		if ((come >> (sig - 1) & 1) != 0 && ends_calls(sig))
			ends = true;
	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL,
		SYS_SIGSET);
	return ends;
}

short
run_events(int fd, int ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};
	struct pollfd pfd = {.fd = fd};

	return sys_call5(SYS_ppoll, &pfd, 1, &ts, NULL, SYS_SIGSET) > 0 ?
		pfd.revents : 0;
}

bool
run_is_gone(int fd)
{
	return (run_events(fd, 0) & POLLERR) != 0;
}

/* Sleep until the reader has made room.  @fd: the writer's.
 * False: the call ends with EINTR. */
bool
run_wait_room(struct run_pipe *p, uint64_t tail, int fd, bool *ret_gone)
{
	uint32_t turn = LOAD(&p->turn);
	struct timespec ts = {0, LOOK_MS * 1000000};
	uint64_t mask;
	long r;

	__atomic_store_n(&p->room, 1, __ATOMIC_SEQ_CST);
	if (POS(tail) - POS(LOAD(&p->head)) <= RUN_RING / 2 ||
		LOAD(&p->tail) != tail)
		return true;
	mask = run_hold_signals();
	r = sys_call6(SYS_futex, &p->turn, 0 /* FUTEX_WAIT */, turn, &ts, NULL,
		0);
	if (run_let_signals(mask))
		return false;
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
 * wrote all of it, or nothing.  It has noted how many bytes were there before;
 * this reader has taken none since.
 */
static void
take_over(struct run_pipe *p, int fd, uint64_t state)
{
	uint32_t n = POS(LOAD(&p->tail)) - POS(LOAD(&p->head));
	int have = run_unread(fd);
	uint64_t to;

	if (have < 0 || n == 0 || (uint32_t)have > LOAD(&p->before)) {
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
run_wait_move(const struct run_end *e, struct run_pipe *p, int fd,
	uint64_t state)
{
	for (int i = 0; LOAD(&p->state) == state; i++) {
		uint64_t mask;
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
		mask = run_hold_signals();
		ev = run_events(fd, 1);
		if (run_let_signals(mask))
			return false;
		if ((ev & (POLLHUP | POLLERR)) != 0 &&
				LOAD(&p->state) == state) {
			if (!e->reads)
				return true; /* the kernel says EPIPE */
			take_over(p, fd, state);
		}
		if (ev != 0)
			(void)sys_call1(SYS_sched_yield, 0);
	}
	return true;
}

/*
 * The reader counts on what the writer notes only if it has not been in a read
 * meanwhile.  It finds data there, so the read ends, unless the reader is
 * stopped.
 */
void
run_wait_read(struct run_pipe *p)
{
	struct timespec ms = {0, 1000000};

	for (int i = 0; i < 250 && LOAD(&p->in_read) != 0; i++)
		if (i < 100)
			relax();
		else if (i < 200)
			(void)sys_call1(SYS_sched_yield, 0);
		else
			(void)sys_call5(SYS_ppoll, NULL, 0, &ms, NULL,
				SYS_SIGSET);
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
		else if ((run_events(fd, 1) & POLLHUP) != 0)
			return false;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting for the other side of a pipe in STREAM.  The kernel's pipe tells of
 * the death of the other side: POLLERR for the writer, POLLHUP for the reader.
 */
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "run.h"
#include "sys.h"
#include "way.h"
#include "word.h"

#define LOOK_MS 5 /* between two looks of a writer for the reader */
#define PAUSES 100 /* looks, each after a pause */
#define YIELDS 100 /* looks after these, each after a yield */
#define SLEEPS 50 /* looks after these, each after a sleep of 1 ms */
#define LOOK_PAUSES 32 /* between two looks at a position that another changes */
/* ticks for which a reader lets few bytes become more: at most about 10 us */
#define GATHER_MIN 500u
#define GATHER_MAX 32000u
#define SLOW 4096u /* bytes in that time: a writer for which a sleep is worth it */
#define NAP_US 500 /* of a reader, for more bytes */
#define NAP_WORTH 1024u /* bytes that must come meanwhile */
#define NAP_FAST 300000u /* ticks; the writer is not slow: about 100 us */
#define NAP_SKIP 16u /* reads without a nap after one that was not worth it */
#define NAP_LOST_MAX 10u
#define LOST_TICKS 750000u /* a yield that is too long: about 250 us */

static void
yield(void)
{
	(void)sys_call1(SYS_sched_yield, 0);
}

/*
 * A long yield is lost even if the other side has gone on meanwhile: a program that
 * has nothing to do with the pipe may have run before it.  If none has, the other
 * side works so long that a sleep and a wake cost little in comparison.
 */
bool
run_give_way(void)
{
	static STR_TLS struct host_way way;

	return host_way_give(&way, ticks, yield, LOST_TICKS);
}

/*
 * Count looks by *@i, at a word that the other side changes soon.  False: the
 * caller sleeps before the next one.
 */
static bool
looks_again(int *i)
{
	if (++*i <= PAUSES) {
		relax();
		return true;
	}
	if (*i <= PAUSES + YIELDS && run_give_way())
		return true;
	if (*i < PAUSES + YIELDS)
		*i = PAUSES + YIELDS;
	return false;
}

void
run_hold(struct run_held *h)
{
	uint64_t mask = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1));

	if (h->on)
		return;
	(void)sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &mask, &h->mask,
		SYS_SIGSET);
	h->on = true;
}

void
run_sleep_ms(void)
{
	/* the kernel writes to it what is left */
	struct timespec ms = {0, 1000000};

	(void)sys_call5(SYS_ppoll, NULL, 0, &ms, NULL, SYS_SIGSET);
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
 * A call that has to wait holds the signals from before its first wait to its
 * end.  So one that comes is not missed between two sleeps, or while the call
 * copies: it is pending.  A handler without SA_RESTART ends the program's call, as
 * it ends the kernel's.  After one with SA_RESTART the call begins anew, as the
 * kernel's does.
 */
enum run_came
run_let(struct run_held *h, bool release)
{
	enum run_came ret = RUN_NONE;
	uint64_t come = 0;

	if (!h->on)
		return RUN_NONE;
	(void)sys_call2(SYS_rt_sigpending, &come, SYS_SIGSET);
	come &= ~h->mask;
	if (come == 0 && !release)
		return RUN_NONE;
	if (come != 0)
		ret = RUN_RESTARTS;
	for (int sig = 1; come != 0 && sig < 65; sig++)
		if ((come >> (sig - 1) & 1) != 0 && ends_calls(sig))
			ret = RUN_ENDS_CALL;
	h->on = false;
	(void)sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &h->mask, NULL,
		SYS_SIGSET);
	return ret;
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

/* Half of the ring: so both sides have much to do between two waits. */
static bool
has_room(struct run_pipe *p, uint64_t tail)
{
	return POS(tail) - POS(LOAD(&p->head)) <= RUN_RING / 2 ||
		LOAD(&p->tail) != tail;
}

/* Does the reader make room while this writer looks? */
static bool
gets_room(struct run_end *e, struct run_pipe *p, uint64_t tail)
{
	uint64_t start, now;
	uint32_t time;

	if (on_cpu_of(&p->wcpu, &p->rcpu))
		return run_give_way() && has_room(p, tail);
	time = look_begin(&e->look);
	start = ticks();
	do {
		if (has_room(p, tail)) {
			look_end(&e->look, ticks() - start, time, true);
			return true;
		}
		for (int i = 0; i < LOOK_PAUSES; i++)
			relax();
		now = ticks();
	} while (now - start < time);
	look_end(&e->look, now - start, time, false);
	return false;
}

enum run_came
run_wait_room(struct run_end *e, struct run_pipe *p, uint64_t tail, int fd,
	struct run_held *h, bool *ret_gone)
{
	struct timespec ts = {0, LOOK_MS * 1000000};
	uint32_t turn;
	long r = 0;

	if (gets_room(e, p, tail))
		return run_let(h, false);
	turn = LOAD(&p->turn);
	__atomic_store_n(&p->room, 1, __ATOMIC_SEQ_CST);
	if (!has_room(p, tail))
		r = sys_call6(SYS_futex, &p->turn, 0 /* FUTEX_WAIT */, turn,
			&ts, NULL, 0);
	if (r == -ETIMEDOUT && run_is_gone(fd))
		*ret_gone = true;
	return run_let(h, false);
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

/*
 * A writer of short records wakes a reader on its CPU by each of them, if the
 * reader sleeps whenever the ring is empty, and runs at once when it is woken.  A
 * reader on another CPU that looks for each record takes the lines away from a slow
 * writer.  So the reader sleeps here until there are many.  That delays a writer
 * which waits for an answer: after a sleep that has brought nothing, the next one
 * comes after twice as many reads.  The writer does not depend on it: if it does
 * not end the sleep, time does.
 */
void
run_nap(struct run_end *e, struct run_pipe *p, size_t len)
{
	struct timespec ts = {0, NAP_US * 1000};
	struct run_nap *n = &e->nap;
	uint64_t state = LOAD(&p->state), start;
	uint32_t tail = POS(LOAD(&p->tail)), have = tail - POS(LOAD(&p->head));

	if ((state & 0xff) != RUN_STREAM || have >= len || have >= RUN_ENOUGH)
		return;
	if (n->skip != 0) {
		n->skip--;
		return;
	}
	start = ticks();
	__atomic_store_n(&p->fill, 1, __ATOMIC_SEQ_CST);
	if (LOAD(&p->state) == state &&
		POS(LOAD(&p->tail)) - POS(LOAD(&p->head)) < RUN_PLENTY)
		(void)sys_call6(SYS_futex, &p->fill, 0 /* FUTEX_WAIT */, 1,
			&ts, NULL, 0);
	__atomic_store_n(&p->fill, 0, __ATOMIC_SEQ_CST);
	if (POS(LOAD(&p->tail)) - tail >= NAP_WORTH) {
		n->lost = 0;
		n->slow = n->slow && ticks() - start >= NAP_FAST;
		return;
	}
	n->slow = false;
	n->skip = NAP_SKIP << n->lost;
	if (n->lost < NAP_LOST_MAX)
		n->lost++;
}

/*
 * The ring has few bytes.  If the writer is writing, it has more in a moment, and
 * neither side waits for the lines that the other one has just changed.
 */
void
run_gather(struct run_end *e, struct run_pipe *p, uint64_t tail, size_t len)
{
	uint64_t end;
	uint32_t more;

	if (on_cpu_of(&p->rcpu, &p->wcpu) || e->nap.slow) {
		run_nap(e, p, len);
		return;
	}
	end = ticks() + e->gather;
	do
		relax();
	while (ticks() < end);
	more = POS(LOAD(&p->tail)) - POS(tail);
	if (more == 0)
		e->gather = e->gather > 2 * GATHER_MIN ? e->gather / 2 :
			GATHER_MIN;
	else if (e->gather < GATHER_MAX)
		e->gather *= 2;
	else
		e->nap.slow = more < SLOW;
}

void
run_end_nap(struct run_pipe *p)
{
	if (__atomic_exchange_n(&p->fill, 0, __ATOMIC_SEQ_CST) != 0)
		(void)sys_call6(SYS_futex, &p->fill, 1 /* FUTEX_WAKE */, 1,
			NULL, NULL, 0);
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

enum run_came
run_wait_move(const struct run_end *e, struct run_pipe *p, int fd,
	uint64_t state, struct run_held *h)
{
	int i = 0;

	while (LOAD(&p->state) == state) {
		enum run_came came;
		short ev;

		if (looks_again(&i))
			continue;
		/* a reader without data would return at once for its data */
		run_hold(h);
		ev = run_events(fd, 1);
		came = run_let(h, false);
		if (came != RUN_NONE)
			return came;
		if ((ev & (POLLHUP | POLLERR)) != 0 &&
				LOAD(&p->state) == state) {
			if (!e->reads)
				return RUN_NONE; /* the kernel says EPIPE */
			take_over(p, fd, state);
		}
		if (ev != 0)
			run_sleep_ms(); /* the poll did not sleep */
	}
	return RUN_NONE;
}

/*
 * The reader counts on what the writer notes only if it has not been in a read
 * meanwhile.  It finds data there, so the read ends, unless the reader is
 * stopped.
 */
void
run_wait_read(struct run_pipe *p)
{
	int i = 0;

	while (i < PAUSES + YIELDS + SLEEPS && LOAD(&p->in_read) != 0)
		if (!looks_again(&i))
			run_sleep_ms();
}

bool
run_wait_woken(struct run_pipe *p, int fd)
{
	int i = 0;

	for (;;) {
		uint64_t tail = LOAD(&p->tail);

		if (!FLAG(tail, RUN_WAKING) ||
			POS(tail) == POS(LOAD(&p->head)))
			return true;
		if (!looks_again(&i) && (run_events(fd, 1) & POLLHUP) != 0)
			return false;
	}
}

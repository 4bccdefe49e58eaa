/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * timeout, bufcall and related functions, and the timers of drivers.
 *
 * A pending callback is a record in the domain's table of timers (timer.c).
 * streamsd, or any other member, calls str_timer_run(), which runs what is due,
 * whichever process requested it: every procedure that is given here has one
 * address in all members (str_code_of()).  A bufcall waits for memory: it is
 * tried every 10 ms.
 *
 * States.  PENDING, then RUNNING, then OVER; or from PENDING to OVER at once,
 * when it is cancelled.  A timer of a driver returns from RUNNING to PENDING.
 *
 * Context.  A callback runs in its perimeter only: a qtimeout's in that of its
 * queue pair, and with a claim on the stream; others in the module-wide
 * perimeter of the module whose code requested it.  The requesting thread may
 * be in no such module, for example in an init procedure, before the module is
 * registered.  Then the callback runs in the perimeter of such a module of the
 * image that contains its code; if there is none, in no perimeter.  If the
 * perimeter is occupied the callback is retried later.
 *
 * Crash.  The callback of a thread that died in it is not repeated; that of a
 * timer is.
 */
#include "sched/timer.h"

#define BUFCALL_NS 10000000u /* between two attempts to get memory */
#define AGAIN_NS 1000000u    /* between two attempts to enter a perimeter */
#define HZ 100		     /* ticks per second, as in drv_usectohz() */
#define TICK_NS (1000000000ull / HZ)

/* A long timeout is up to 1/128 late, so that one look serves several. */
#define COARSE_SHIFT 7

/* Make a record, not started yet; NULL: no memory.  @qp: whose callback it is,
 * or NULL. */
static struct str_timer *
add(enum str_timer_kind kind, struct str_plumb *pl, struct str_qpair *qp,
	void (*func)(void *), void *arg, size_t size)
{
	struct str_timer *tm = str_timer_new();
	void *code = NULL;

	if (tm == NULL)
		return NULL;
	if (kind != STR_TM_RUN) {
		code = str_code_of((void (*)(void))func);
		STR_VERIFY(code != NULL); /* `calls' of its str_builtin */
	}
	tm->func = (void (*)(void *))code;
	tm->arg = arg;
	tm->size = size;
	tm->pl = pl;
	tm->serial = 0;
	if (qp != NULL) {
		tm->qp = qp;
		tm->serial = str_load(&qp->serial);
		str_store(&qp->evused, 1u);
	} else {
		tm->fm = kind != STR_TM_RUN ? host_tls.perim : NULL;
	}
	tm->kind = (uint16_t)kind;
	tm->keeps = 0;
	return tm;
}

/* Return: the record's number; 0 if @tm is NULL. */
static uint64_t
start(struct str_timer *tm, uint64_t now, uint64_t when)
{
	return tm == NULL ? 0 : str_timer_start(tm, now, when);
}

/* ---------------------------------------------------------------- running */

static void
call(void *arg)
{
	struct str_timer *tm = arg;
	uint64_t was = host_tls.event, w = str_load(&tm->word);
	uint64_t base = w & ~(uint64_t)STR_TM_STATE;

	host_tls.event = w >> STR_TM_SHIFT;
	if (str_cas(&tm->word, base | STR_TM_PENDING, base | STR_TM_RUNNING)) {
		STR_CRASH_POINT("timer:running");
		tm->func(tm->arg);
		/* the function may have freed its timer */
		(void)str_cas(&tm->word, base | STR_TM_RUNNING,
			base | (tm->keeps ? STR_TM_PENDING : STR_TM_OVER));
		STR_CRASH_POINT("timer:ran");
	}
	host_tls.event = was;
}

/* Make a PENDING record OVER; false: it is not PENDING. */
static bool
drop(struct str_timer *tm)
{
	uint64_t base = str_load(&tm->word) & ~(uint64_t)STR_TM_STATE;

	return str_cas(&tm->word, base | STR_TM_PENDING, base | STR_TM_OVER);
}

/* Is tm->qp still the same queue pair?  A claim on its stream is held. */
static bool
pair_lives(const struct str_timer *tm)
{
	return str_mem_valid(tm->qp) && tm->qp->blk.state == STR_BLK_QPAIR &&
		tm->qp->plumb == tm->pl &&
		str_load(&tm->qp->serial) == tm->serial;
}

/*
 * Are @qp's procedures disabled, because it is being closed?  Then the module's
 * data may be freed by now.  qprocsoff() has waited for the claims of threads
 * that did not see this.
 */
static bool
is_off(const struct str_qpair *qp)
{
	return (str_load(&qp->rq.q_flag) & QPROCS) != 0 &&
		str_load(&qp->closing) != 0;
}

/* Handle @tm, a record with a stream.  False: it must be tried again later. */
static bool
call_stream(struct str_timer *tm)
{
	bool done = true;

	if (!str_claim_stream(tm->pl)) {
		if (str_stream_lives(tm->pl))
			return false;
		(void)drop(tm);
		return true;
	}
	if (tm->kind == STR_TM_RUN) {
		(void)drop(tm);
		(void)str_sched_run(tm->pl);
	} else if (!pair_lives(tm)) {
		(void)drop(tm);
	} else if (is_off(tm->qp)) {
		/* the close procedure may still use its timers */
		if (!tm->keeps)
			(void)drop(tm);
	} else if (!str_perim_try(tm->qp)) {
		done = false;
	} else {
		struct str_qpair *qp = tm->qp;
		struct str_plumb *pl = tm->pl;
		struct str_fmod *fm = host_tls.perim;

		host_tls.perim = qp->perim == STR_PERIM_MODULE ?
			qp->fmod : NULL;
		call(tm);
		str_perim_out(qp);
		host_tls.perim = fm;
		(void)str_sched_run(pl);
	}
	str_unclaim(tm->pl);
	return done;
}

/* False: it must be tried again later. */
static bool
see_to(struct str_timer *tm)
{
	struct str_fmod *fm = tm->fm;

	if (tm->kind == STR_TM_BUFCALL && !testb(tm->size, BPRI_LO))
		return false;
	if (tm->pl != NULL)
		return call_stream(tm);
	if (fm == NULL)
		fm = str_foreign_exclusive((const void *)(uintptr_t)tm->func);
	if (fm == NULL) {
		call(tm);
		return true;
	}
	return str_perim_run(fm, call, tm);
}

bool
str_timer_handle(struct str_timer *tm)
{
	if (see_to(tm))
		return true;
	str_timer_again(tm, host_now() + (tm->kind == STR_TM_BUFCALL ?
		BUFCALL_NS : AGAIN_NS));
	return false;
}

/* str_sched_defer - have @pl's queues run by the thread that runs timers;
 * false: no memory. */
bool
str_sched_defer(struct str_plumb *pl)
{
	uint64_t now = host_now();

	return start(add(STR_TM_RUN, pl, NULL, NULL, NULL, 0), now, now) != 0;
}

/* ------------------------------------------------------------- cancelling */

/* Free @tm, which is OVER, unless another thread is about to do so. */
static void
settle(struct str_timer *tm)
{
	STR_CRASH_POINT("timer:over");
	if (str_timer_take(tm))
		str_timer_give(tm);
}

/* The function of @tm runs in another thread: wait a moment.  False: that
 * thread is dead. */
static bool
wait_for(struct str_timer *tm)
{
	uint32_t t = str_load(&tm->taken);

	if (t != 0 && host_owner_dead(t))
		return false;
	host_yield();
	return true;
}

/* Return: ns that were left; UINT64_MAX: too late. */
static uint64_t
cancel(uint64_t id)
{
	struct str_timer *tm;
	uint64_t w, at, now;

	while ((tm = str_timer_named(id, &w)) != NULL) {
		uint32_t state = w & STR_TM_STATE;

		if (state == STR_TM_OVER || host_tls.event == w >> STR_TM_SHIFT)
			break; /* from the callback itself, or too late */
		if (state != STR_TM_PENDING) {
			if (!wait_for(tm))
				break;
			continue;
		}
		at = str_timer_deadline(tm);
		if (!str_cas(&tm->word, w, (w & ~(uint64_t)STR_TM_STATE) |
				STR_TM_OVER))
			continue;
		settle(tm);
		if (at == STR_TIMER_NEVER)
			return 0;
		now = host_now();
		return at > now ? at - now : 0;
	}
	return UINT64_MAX;
}

struct pair {
	struct str_qpair *qp;
	uint64_t serial;
};

static void
drop_of_pair(struct str_timer *tm, void *arg)
{
	struct pair *p = arg;
	uint64_t w = str_load_acq(&tm->word);

	if (tm->serial != p->serial || tm->qp != p->qp ||
	    (w & STR_TM_STATE) != STR_TM_PENDING)
		return;
	/* the place may have a new record, which has another number */
	if (str_cas(&tm->word, w, (w & ~(uint64_t)STR_TM_STATE) | STR_TM_OVER))
		settle(tm);
}

/*
 * str_timer_cancel_pair - a queue pair is being freed: cancel its callbacks.  A
 * running one has a claim; str_perim_fini() waits for it.
 */
void
str_timer_cancel_pair(struct str_qpair *qp)
{
	struct pair p = {qp, str_xchg(&qp->serial, (uint64_t)0)};

	if (str_unlikely(str_load(&qp->evused) != 0))
		str_timer_each(drop_of_pair, &p);
}

/* ----------------------------------------------------- timers of drivers */

struct str_timer *
str_timer_make(queue_t *q, void (*fn)(void *), void *arg)
{
	struct str_qpair *qp = q != NULL ? q->q_pair : NULL;
	struct str_timer *tm = add(STR_TM_CALL, qp != NULL ? qp->plumb : NULL,
		qp, fn, arg, 0);

	if (tm == NULL)
		return NULL;
	tm->keeps = 1;
	(void)str_timer_start(tm, 0, UINT64_MAX);
	return tm;
}

void
str_timer_set(struct str_timer *tm, uint64_t when)
{
	(void)str_timer_arm(tm, host_now(), when);
}

int
str_timer_stop(struct str_timer *tm)
{
	return str_timer_disarm(tm) != STR_TIMER_NEVER;
}

void
str_timer_free(struct str_timer *tm)
{
	uint64_t w = str_load(&tm->word), base = w & ~(uint64_t)STR_TM_STATE;

	(void)str_timer_disarm(tm);
	if (host_tls.event == w >> STR_TM_SHIFT) {
		/* handle() in timer.c, which called the function, frees it */
		(void)str_cas(&tm->word, base | STR_TM_RUNNING,
			base | STR_TM_OVER);
		return;
	}
	for (;;) {
		w = base | STR_TM_PENDING;
		if (str_cas_see(&tm->word, &w, base | STR_TM_OVER)) {
			settle(tm);
			return;
		}
		if (w != (base | STR_TM_RUNNING))
			return; /* it was freed with its pair */
		if (!wait_for(tm) && str_cas(&tm->word, w, base | STR_TM_OVER))
			return; /* the reaper frees it */
	}
}

/* ------------------------------------------------------ the DDI's names */

/* Ticks as ns, at most a quarter of all time: some callers pass the maximum. */
static uint64_t
in_ns(long ticks)
{
	uint64_t n = ticks > 0 ? (uint64_t)ticks : 0;

	return STR_MIN(n, UINT64_MAX / 4 / TICK_NS) * TICK_NS;
}

static uint64_t
coarse(uint64_t now, uint64_t ns)
{
	uint64_t grain = ns >> COARSE_SHIFT;

	if (grain < 2 * AGAIN_NS)
		return now + ns;
	grain = 1ull << (63 - (unsigned)__builtin_clzll(grain));
	return (now + ns + grain - 1) & ~(grain - 1);
}

static toid_t
request(struct str_plumb *pl, struct str_qpair *qp, void (*func)(void *),
	void *arg, long ticks)
{
	uint64_t now = host_now();

	return start(add(STR_TM_CALL, pl, qp, func, arg, 0), now,
		coarse(now, in_ns(ticks)));
}

/* @left ns in ticks, rounded up: the result of quntimeout(D3F). */
static int
in_ticks(uint64_t left)
{
	uint64_t n = (left + TICK_NS - 1) / TICK_NS;

	return left == UINT64_MAX ? -1 : (int)STR_MIN(n, (uint64_t)INT_MAX);
}

/* SVR4 timeout(D3) */
toid_t
timeout(void (*func)(void *), void *arg, long ticks)
{
	return request(NULL, NULL, func, arg, ticks);
}

/* SVR4 untimeout(D3): waits for a callback that is running. */
int
untimeout(toid_t id)
{
	return in_ticks(cancel(id));
}

toid_t
qtimeout(queue_t *q, void (*func)(void *), void *arg, long ticks)
{
	return request(q->q_pair->plumb, q->q_pair, func, arg, ticks);
}

long
quntimeout(queue_t *q, toid_t id)
{
	(void)q;
	return in_ticks(cancel(id));
}

static bcid_t
request_room(struct str_plumb *pl, struct str_qpair *qp, size_t size,
	void (*func)(void *), void *arg)
{
	uint64_t now = host_now();

	return start(add(STR_TM_BUFCALL, pl, qp, func, arg, size), now, now);
}

/* SVR4 bufcall(D3): runs when a block of @size can be had. */
bcid_t
bufcall(size_t size, unsigned int pri, void (*func)(long), long arg)
{
	(void)pri;
	return request_room(NULL, NULL, size,
		(void (*)(void *))(void (*)(void))func, (void *)arg);
}

bcid_t
esbbcall(unsigned int pri, void (*func)(long), long arg)
{
	return bufcall(0, pri, func, arg);
}

void
unbufcall(bcid_t id)
{
	(void)cancel(id);
}

bcid_t
qbufcall(queue_t *q, size_t size, unsigned int pri, void (*func)(void *),
	void *arg)
{
	(void)pri;
	return request_room(q->q_pair->plumb, q->q_pair, size, func, arg);
}

void
qunbufcall(queue_t *q, bcid_t id)
{
	(void)q;
	(void)cancel(id);
}

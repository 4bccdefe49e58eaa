/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * timeout, bufcall and their kin.
 *
 * A pending callback is an event on the domain's list.  Its procedure's
 * address is one of the process that made it, so that process runs it: the
 * host calls str_timer_run() there at the time asked for.  A bufcall waits
 * for memory: it is tried every 10 ms.
 *
 * Locks.  The list has one lock, held for a walk of it; a callback runs with
 * the event marked, so that untimeout() can wait until it is over, unless it
 * is called from the callback itself.
 */
#include "core.h"

#define BUFCALL_NS 10000000u /* between two tries for memory */
#define HZ 100 /* ticks a second, what drv_usectohz() says */

struct str_event {
	struct str_blk blk;
	struct str_event *next;
	uint64_t id;
	uint64_t when;		/* host_now() */
	void (*func)(void *);
	void *arg;
	size_t size;		/* bufcall: bytes wanted */
	bool bufcall;
	struct str_qpair *qp;	/* qtimeout, qbufcall: whose; else NULL */
	str_a32 running;	/* [A] tag of the thread in the callback */
	uint32_t cancelled;
	uint32_t proc;		/* process slot of the owner */
	uint32_t procgen;	/* its generation */
};

static void
lock_list(void)
{
	(void)str_lock((struct str_lock *)(void *)str_root(STR_ROOT_EVLOCK));
}

static void
unlock_list(void)
{
	str_unlock((struct str_lock *)(void *)str_root(STR_ROOT_EVLOCK));
}

static struct str_event *
first(void)
{
	return (struct str_event *)(uintptr_t)
		str_load(str_root(STR_ROOT_EVENTS));
}

static uint64_t
add(struct str_qpair *qp, void (*func)(void *), void *arg, uint64_t when,
	size_t size, bool bufcall)
{
	struct str_event *ev = str_mem_alloc(sizeof(*ev), STR_BLK_EVENT);

	if (ev == NULL)
		return 0;
	ev->when = when;
	ev->func = func;
	ev->arg = arg;
	ev->size = size;
	ev->qp = qp;
	ev->cancelled = 0;
	ev->bufcall = bufcall;
	ev->proc = str_load(&host_self()->proc);
	ev->procgen = str_load(&host_domain->proc[ev->proc].gen);
	str_store(&ev->running, 0u);
	ev->id = str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1;
	lock_list();
	ev->next = first();
	str_mem_disown(ev);
	str_store(str_root(STR_ROOT_EVENTS), (uint64_t)(uintptr_t)ev);
	unlock_list();
	host_defer(when);
	return ev->id;
}

/* Unlink @ev.  Locks: the list. */
static void
unlink_event(struct str_event *ev)
{
	struct str_event *p = first(), *prev = NULL;

	for (; p != NULL && p != ev; prev = p, p = p->next)
		;
	if (p == NULL)
		return;
	if (prev != NULL)
		prev->next = ev->next;
	else
		str_store(str_root(STR_ROOT_EVENTS),
			(uint64_t)(uintptr_t)ev->next);
}

static void
call(struct str_event *ev)
{
	struct str_qpair *qp = ev->qp;

	if (ev->cancelled)
		return;
	if (qp != NULL)
		(void)str_claim(qp->plumb);
	if (!ev->cancelled)
		ev->func(ev->arg);
	if (qp != NULL) {
		(void)str_sched_run(qp->plumb);
		str_unclaim(qp->plumb);
	}
}

/* Is it an event of this process? */
static bool
mine(const struct str_event *ev)
{
	return ev->proc == str_load(&host_self()->proc) &&
		ev->procgen == str_load(&host_domain->proc[ev->proc].gen);
}

/* Run one event that is due; false when none is. */
static bool
run_one(uint64_t now)
{
	struct str_event *ev, *p;

	lock_list();
	for (ev = NULL, p = first(); p != NULL; p = p->next)
		if (p->when <= now && mine(p) && str_load(&p->running) == 0 &&
		    (ev == NULL || p->when < ev->when ||
			    (p->when == ev->when && p->id < ev->id)))
			ev = p;
	if (ev != NULL && ev->bufcall && !testb(ev->size, BPRI_LO)) {
		ev->when = now + BUFCALL_NS; /* not yet */
		unlock_list();
		return true;
	}
	if (ev == NULL) {
		unlock_list();
		return false;
	}
	str_store(&ev->running, host_self_tag());
	unlock_list();
	call(ev);
	lock_list();
	unlink_event(ev);
	unlock_list();
	str_mem_own(ev);
	str_mem_free(ev);
	return true;
}

/*
 * str_timer_run - call what is due
 * Return: when the next one is due, UINT64_MAX when none is.
 */
uint64_t
str_timer_run(uint64_t now)
{
	struct str_event *ev;
	uint64_t next = UINT64_MAX;

	while (run_one(now))
		;
	lock_list();
	for (ev = first(); ev != NULL; ev = ev->next)
		if (ev->when < next && mine(ev) &&
		    str_load(&ev->running) == 0)
			next = ev->when;
	unlock_list();
	return next;
}

static int
cancel(uint64_t id)
{
	struct str_event *ev;

	for (;;) {
		uint32_t r;

		lock_list();
		for (ev = first(); ev != NULL && ev->id != id; ev = ev->next)
			;
		if (ev == NULL) {
			unlock_list();
			return -1;
		}
		r = str_load(&ev->running);
		if (r == 0) {
			unlink_event(ev);
			unlock_list();
			str_mem_own(ev);
			str_mem_free(ev);
			return 0;
		}
		ev->cancelled = 1;
		unlock_list();
		if (r == host_self_tag() || host_owner_dead(r))
			return -1; /* from the callback itself */
		host_yield();
	}
}

/* str_timer_cancel_pair - a queue pair goes: so do its callbacks. */
void
str_timer_cancel_pair(struct str_qpair *qp)
{
	struct str_event *ev;

	for (;;) {
		uint64_t id = 0;

		if (first() == NULL)
			return;
		lock_list();
		for (ev = first(); ev != NULL; ev = ev->next) {
			if (ev->qp != qp)
				continue;
			if (str_load(&ev->running) == 0) {
				id = ev->id;
				break;
			}
			ev->cancelled = 1; /* it waits for us to be done */
		}
		unlock_list();
		if (id == 0)
			return;
		(void)cancel(id);
	}
}

static uint64_t
in_ticks(long ticks)
{
	return host_now() + (ticks > 0 ? (uint64_t)ticks : 0) *
		(1000000000ull / HZ);
}

/* SVR4 timeout(D3) */
toid_t
timeout(void (*func)(void *), void *arg, long ticks)
{
	return add(NULL, func, arg, in_ticks(ticks), 0, false);
}

/* SVR4 untimeout(D3): waits for a callback that is running. */
int
untimeout(toid_t id)
{
	return cancel(id);
}

toid_t
qtimeout(queue_t *q, void (*func)(void *), void *arg, long ticks)
{
	return add(q->q_pair, func, arg, in_ticks(ticks), 0, false);
}

long
quntimeout(queue_t *q, toid_t id)
{
	(void)q;
	return cancel(id);
}

/* SVR4 bufcall(D3): runs when a block of @size can be had. */
bcid_t
bufcall(size_t size, unsigned int pri, void (*func)(long), long arg)
{
	(void)pri;
	return add(NULL, (void (*)(void *))(void (*)(void))func, (void *)arg,
		host_now(), size, true);
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
	return add(q->q_pair, func, arg, host_now(), size, true);
}

void
qunbufcall(queue_t *q, bcid_t id)
{
	(void)q;
	(void)cancel(id);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * timeout, bufcall and related functions.
 *
 * A pending callback is an *event* on the list of the process that requested
 * it.  That process runs it: the host calls str_timer_run() there at the
 * requested time.  When the process has ended, another process, usually
 * streamsd, runs the events whose procedure has the same address in every
 * process (str_code_of()) and frees the rest.  A bufcall waits for memory: it
 * is tried every 10 ms.
 *
 * States.  `word' holds the event's number and its state, so that one
 * compare-and-swap decides between the callback and untimeout(): PENDING,
 * then RUNNING, then OVER; or from PENDING to OVER at once.  Number 0 is not an
 * event.  A number contains the position of the event in the arena; its low 31
 * bits are sufficient, for modules that store it in an int.
 *
 * Context.  A callback runs in its perimeter only: a qtimeout's in that of its
 * queue pair, and with a claim on the stream; others in that of the module
 * whose code requested it.  For a loaded module that requests it before it is
 * registered, in its init procedure, the perimeter is found by the address of
 * the callback.  If the perimeter is occupied the event is retried later.
 *
 * Locks.  No process waits for another: events are added by compare-and-swap,
 * and only a thread that holds `evlock', which is only tried, removes events.
 *
 * Crash.  An event is stamped until it is on a list, and again when it is about
 * to be removed; str_timer_reap() checks whether it is on the list.  The
 * callback of a thread that died in it is not repeated.
 */
#include "core.h"

#define BUFCALL_NS 10000000u /* between two attempts to get memory */
#define AGAIN_NS 1000000u    /* between two attempts to enter a perimeter */
#define HZ 100		     /* ticks per second, as in drv_usectohz() */
#define GRAIN 16u	     /* blocks begin at multiples of this */
#define OFF_BITS 28
#define SEQ_BITS 3	     /* of the sequence, below bit 31 */

#define EV_PENDING 1u
#define EV_RUNNING 2u
#define EV_OVER 3u
#define EV_STATE 3u

enum ev_kind {
	EV_TIMEOUT,
	EV_BUFCALL,
	EV_RUN, /* str_sched_defer() */
};

struct str_event {
	struct str_blk blk;
	struct str_event *volatile next; /* [evlock] but for the first */
	str_a64 word;		/* [A] number << 2 | state */
	uint64_t seq;		/* [I] order of the requests */
	str_a64 when;		/* [A] host_now() */
	void (*func)(void *);	/* [I] */
	void *arg;		/* [I] */
	size_t size;		/* [I] bufcall: bytes wanted */
	struct str_plumb *pl;	/* [I] of qp; or to be run */
	union {
		struct str_qpair *qp; /* [I] pl not NULL: qtimeout's, qbufcall's */
		struct str_fmod *fm;  /* [I] module whose perimeter it needs, or
				       * NULL */
	};
	uint64_t serial;	/* [I] of qp */
	uint64_t image;		/* [I] of the process */
	uint32_t gen;		/* [I] of the process */
	str_a32 taken;		/* [A] tag of the thread that handles it */
	uint16_t proc;		/* [I] slot of the process */
	uint8_t kind;		/* [I] enum ev_kind */
	uint8_t shared;		/* [I] func is valid in every process */
	uint32_t pad;
};

_Static_assert(sizeof(struct str_event) <= 128, "a small block");

static struct str_proc *
my_proc(void)
{
	return &host_domain->proc[str_load(&host_self()->proc) % STR_NPROC];
}

static uint32_t
nproc(void)
{
	uint32_t n = str_load(&host_domain->proc_high);

	return n == 0 || n > STR_NPROC ? STR_NPROC : n;
}

static struct str_event *
first(struct str_proc *p)
{
	return (struct str_event *)(uintptr_t)str_load_acq(&p->events);
}

/* Does the process that requested it still run? */
static bool
lives(const struct str_event *ev)
{
	const struct str_proc *p = &host_domain->proc[ev->proc];

	return ev->gen == str_load(&p->gen) && ev->image == str_load(&p->image);
}

static bool
mine(const struct str_event *ev)
{
	return &host_domain->proc[ev->proc] == my_proc() && lives(ev);
}

/* ------------------------------------------------------------------ lists */

static bool
trylock(struct str_proc *p)
{
	uint32_t v = str_load(&p->evlock), me = host_self_tag();

	if (v != 0 && (v == me || !host_owner_dead(v)))
		return false;
	return str_cas(&p->evlock, v, me);
}

static void
unlock(struct str_proc *p)
{
	str_store_rel(&p->evlock, 0u);
}

/* Other threads may add events meanwhile, in front.  Locks: evlock. */
static void
take_out(struct str_proc *p, struct str_event *ev)
{
	struct str_event *e, *n = ev->next;

	if (str_cas(&p->events, (uint64_t)(uintptr_t)ev,
		(uint64_t)(uintptr_t)n))
		return;
	for (e = first(p); e != NULL && e->next != ev; e = e->next)
		;
	if (e != NULL)
		e->next = n;
}

static void
ev_free(struct str_event *ev)
{
	str_store(&ev->word, (uint64_t)0);
	str_mem_free(ev);
}

static uint32_t
state_of(const struct str_event *ev)
{
	return (uint32_t)str_load(&ev->word) & EV_STATE;
}

/* Remove events that are OVER.  Locks: evlock. */
static void
clean(struct str_proc *p)
{
	struct str_event *ev, *next;

	for (ev = first(p); ev != NULL; ev = next) {
		uint32_t t = str_load(&ev->taken);

		next = ev->next;
		if (t != 0 && t != host_self_tag() && host_owner_dead(t)) {
			if (state_of(ev) == EV_RUNNING)
				str_store(&ev->word, (str_load(&ev->word) &
					~(uint64_t)EV_STATE) | EV_OVER);
			(void)str_cas(&ev->taken, t, 0u);
			t = 0;
		}
		if (t != 0 || state_of(ev) != EV_OVER)
			continue;
		str_mem_own(ev);
		STR_CRASH_POINT("timer:out");
		take_out(p, ev);
		ev_free(ev);
	}
}

static void
sweep(struct str_proc *p)
{
	if (!trylock(p))
		return; /* the owner of the lock does it */
	clean(p);
	unlock(p);
}

static uint64_t
make_id(const struct str_event *ev, uint64_t seq)
{
	uint64_t off = ((uint64_t)(uintptr_t)ev -
		(uint64_t)(uintptr_t)host_domain) / GRAIN;

	return off | (seq & ((1u << SEQ_BITS) - 1)) << OFF_BITS |
		((seq >> SEQ_BITS) & 0xffffffu) << 32;
}

static uint64_t
add(enum ev_kind kind, struct str_plumb *pl, struct str_qpair *qp,
	void (*func)(void *), void *arg, uint64_t when, size_t size)
{
	struct str_event *ev = str_mem_zalloc(sizeof(*ev), STR_BLK_KMEM);
	struct str_proc *p = my_proc();
	void *code = kind == EV_RUN ? NULL :
		str_code_of((void (*)(void))func);
	bool shared = code != NULL;
	uint64_t id, head;

	if (ev == NULL)
		return 0;
	str_store(&ev->when, when);
	ev->func = code != NULL ? (void (*)(void *))code : func;
	ev->shared = code != NULL || kind == EV_RUN;
	ev->arg = arg;
	ev->size = size;
	ev->pl = pl;
	ev->serial = 0;
	if (qp != NULL) {
		ev->qp = qp;
		ev->serial = str_load(&qp->serial);
		str_store(&qp->evused, 1u);
	} else {
		ev->fm = kind != EV_RUN ? host_tls.perim : NULL;
	}
	ev->kind = (uint8_t)kind;
	ev->proc = (uint16_t)(p - host_domain->proc);
	ev->gen = str_load(&p->gen);
	ev->image = str_load(&p->image);
	str_store(&ev->taken, 0u);
	ev->seq = str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1;
	id = make_id(ev, ev->seq);
	str_store(&ev->word, id << 2 | EV_PENDING);
	str_store_rel(&ev->blk.state, (uint32_t)STR_BLK_EVENT);
	do {
		head = str_load(&p->events);
		ev->next = (struct str_event *)(uintptr_t)head;
	} while (!str_cas(&p->events, head, (uint64_t)(uintptr_t)ev));
	STR_CRASH_POINT("timer:linked");
	str_mem_disown(ev);
	if (shared)
		(void)host_daemon(); /* another process may have to run it */
	host_defer(when);
	return id;
}

/* ---------------------------------------------------------------- running */

static bool
start(struct str_event *ev)
{
	uint64_t w = str_load(&ev->word);

	if ((w & EV_STATE) != EV_PENDING)
		return false;
	host_tls.event = w >> 2;
	return str_cas(&ev->word, w, (w & ~(uint64_t)EV_STATE) | EV_RUNNING);
}

static void
call(void *arg)
{
	struct str_event *ev = arg;
	uint64_t was = host_tls.event;

	if (start(ev)) {
		STR_CRASH_POINT("timer:running");
		ev->func(ev->arg);
		str_store_rel(&ev->word, (str_load(&ev->word) &
			~(uint64_t)EV_STATE) | EV_OVER);
	}
	host_tls.event = was;
}

static void
drop(struct str_event *ev)
{
	uint64_t w = str_load(&ev->word);

	(void)str_cas(&ev->word, (w & ~(uint64_t)EV_STATE) | EV_PENDING,
		(w & ~(uint64_t)EV_STATE) | EV_OVER);
}

/* With a claim on the stream: is it still the same queue pair? */
static bool
pair_lives(const struct str_event *ev)
{
	return str_mem_valid(ev->qp) && ev->qp->blk.state == STR_BLK_QPAIR &&
		ev->qp->plumb == ev->pl &&
		str_load(&ev->qp->serial) == ev->serial;
}

/*
 * Are its procedures disabled, because it is being closed?  Then the module's
 * data may be freed by now. qprocsoff() has waited for the claims of threads
 * that did not see this.
 */
static bool
is_off(const struct str_qpair *qp)
{
	return (str_load(&qp->rq.q_flag) & QPROCS) != 0 &&
		str_load(&qp->closing) != 0;
}

/* False: not now. */
static bool
call_stream(struct str_event *ev)
{
	bool done = true;

	if (!str_claim_stream(ev->pl)) {
		if (str_stream_lives(ev->pl))
			return false;
		drop(ev);
		return true;
	}
	if (ev->kind == EV_RUN) {
		drop(ev);
		(void)str_sched_run(ev->pl);
	} else if (!pair_lives(ev) || is_off(ev->qp)) {
		drop(ev);
	} else if (!str_perim_try(ev->qp)) {
		done = false;
	} else {
		struct str_fmod *fm = host_tls.perim;

		host_tls.perim = ev->qp->perim == STR_PERIM_MODULE ?
			ev->qp->fmod : NULL;
		call(ev);
		str_perim_out(ev->qp);
		host_tls.perim = fm;
		(void)str_sched_run(ev->pl);
	}
	str_unclaim(ev->pl);
	return done;
}

/* False: not now. */
static bool
see_to(struct str_event *ev)
{
	struct str_fmod *fm = ev->fm;

	if (ev->kind == EV_BUFCALL && !testb(ev->size, BPRI_LO))
		return false;
	if (ev->pl != NULL)
		return call_stream(ev);
	if (fm == NULL)
		fm = str_foreign_exclusive((const void *)(uintptr_t)ev->func);
	if (fm == NULL) {
		call(ev);
		return true;
	}
	return str_perim_run(fm, call, ev);
}

/* Must this process run it, or drop it? */
static bool
ours(struct str_event *ev)
{
	return str_load(&ev->taken) == 0 && state_of(ev) == EV_PENDING &&
		(mine(ev) || !lives(ev));
}

/* Run one event of @p that is due.  False: none is, or another thread has the
 * lock. */
static bool
run_one(struct str_proc *p, uint64_t now)
{
	struct str_event *ev = NULL, *e;
	uint64_t w;

	if (!trylock(p))
		return false;
	clean(p);
	for (e = first(p); e != NULL; e = e->next) {
		if (!ours(e) || (str_load(&e->when) > now &&
			(e->shared || lives(e))))
			continue;
		if (ev == NULL || str_load(&e->when) < str_load(&ev->when) ||
		    (str_load(&e->when) == str_load(&ev->when) &&
			e->seq < ev->seq))
			ev = e;
	}
	if (ev != NULL)
		str_store(&ev->taken, host_self_tag());
	unlock(p);
	if (ev == NULL)
		return false;
	w = str_load(&ev->word);
	if (!ev->shared && !lives(ev))
		drop(ev); /* its procedure does not exist any more */
	else if (!see_to(ev) && str_load(&ev->word) == w)
		str_store(&ev->when, now + (ev->kind == EV_BUFCALL ?
			BUFCALL_NS : AGAIN_NS));
	str_store_rel(&ev->taken, 0u);
	sweep(p);
	str_sched_touched();
	return true;
}

/*
 * str_timer_run - call the due callbacks
 * Return: time of the next one, UINT64_MAX if there is none.
 */
uint64_t
str_timer_run(uint64_t now)
{
	uint32_t n = nproc(), i;
	uint64_t next = UINT64_MAX;

	for (i = 0; i < n; i++) {
		struct str_proc *p = &host_domain->proc[i];
		struct str_event *ev;

		if (str_load(&p->events) == 0)
			continue;
		while (run_one(p, now))
			;
		if (!trylock(p)) {
			/* a thread is running it, or is stopped there */
			next = STR_MIN(next, now + BUFCALL_NS);
			continue;
		}
		for (ev = first(p); ev != NULL; ev = ev->next)
			if (ours(ev))
				next = STR_MIN(next, str_load(&ev->when));
		unlock(p);
	}
	return next;
}

/* str_timer_pending - is there a pending callback? */
bool
str_timer_pending(void)
{
	uint32_t n = nproc(), i;

	for (i = 0; i < n; i++)
		if (str_load(&host_domain->proc[i].events) != 0)
			return true;
	return false;
}

/*
 * str_timer_reap - free an event that a dead thread held, unless it is on a
 * list.
 */
void
str_timer_reap(struct str_blk *b)
{
	struct str_event *ev = (struct str_event *)(void *)b, *e;
	struct str_proc *p = &host_domain->proc[ev->proc % STR_NPROC];

	if (!trylock(p)) {
		str_mem_disown(b); /* unknown: keep it */
		return;
	}
	for (e = first(p); e != NULL && e != ev; e = e->next)
		;
	if (e != NULL)
		str_mem_disown(b);
	else
		ev_free(ev);
	unlock(p);
}

/* str_sched_defer - have @pl's queues run by the interrupt context. */
bool
str_sched_defer(struct str_plumb *pl)
{
	return add(EV_RUN, pl, NULL, NULL, NULL, host_now(), 0) != 0;
}

/* ------------------------------------------------------------- cancelling */

/* The event that @id names, with its word; NULL: none. */
static struct str_event *
find(uint64_t id, uint64_t *ret_word)
{
	uint64_t off = (id & ((1ull << OFF_BITS) - 1)) * GRAIN, w;
	struct str_event *ev = (struct str_event *)(void *)
		((char *)host_domain + off);

	if (id == 0 || off >= host_domain->cap || !str_mem_valid(ev) ||
	    *(volatile uint32_t *)&ev->blk.state != STR_BLK_EVENT)
		return NULL;
	w = str_load_acq(&ev->word);
	if ((id >> 31) == 0 ? ((w >> 2) & 0x7fffffffu) != id : (w >> 2) != id)
		return NULL;
	*ret_word = w;
	return ev;
}

static int
cancel(uint64_t id)
{
	struct str_event *ev;
	uint64_t w;

	while ((ev = find(id, &w)) != NULL) {
		uint32_t t;

		if ((w & EV_STATE) == EV_OVER || host_tls.event == w >> 2)
			return -1; /* from the callback itself, or too late */
		if ((w & EV_STATE) == EV_PENDING) {
			struct str_proc *p =
				&host_domain->proc[ev->proc % STR_NPROC];

			if (!str_cas(&ev->word, w, w | EV_OVER))
				continue;
			sweep(p);
			return 0;
		}
		t = str_load(&ev->taken);
		if (t != 0 && host_owner_dead(t))
			return -1;
		host_yield();
	}
	return -1;
}

/*
 * str_timer_cancel_pair - a queue pair is being freed: cancel its callbacks.  A
 * running one has a claim; str_perim_fini() waits for it.
 */
void
str_timer_cancel_pair(struct str_qpair *qp)
{
	struct str_event *ev;
	uint64_t serial = str_xchg(&qp->serial, (uint64_t)0);
	uint32_t n, i;

	if (str_likely(str_load(&qp->evused) == 0))
		return;
	for (i = 0, n = nproc(); i < n; i++) {
		struct str_proc *p = &host_domain->proc[i];

		if (str_load(&p->events) == 0 || !trylock(p))
			continue; /* they are dropped when they are due */
		for (ev = first(p); ev != NULL; ev = ev->next)
			if (ev->serial == serial && ev->qp == qp)
				drop(ev);
		clean(p);
		unlock(p);
	}
}

/* ------------------------------------------------------ the DDI's names */

static uint64_t
in_ticks(long ticks)
{
	uint64_t n = ticks > 0 ? (uint64_t)ticks : 0;

	/* some callers pass the maximum */
	return host_now() + STR_MIN(n, UINT64_MAX / 4 / (1000000000ull / HZ)) *
		(1000000000ull / HZ);
}

/* SVR4 timeout(D3) */
toid_t
timeout(void (*func)(void *), void *arg, long ticks)
{
	return add(EV_TIMEOUT, NULL, NULL, func, arg, in_ticks(ticks), 0);
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
	return add(EV_TIMEOUT, q->q_pair->plumb, q->q_pair, func, arg,
		in_ticks(ticks), 0);
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
	return add(EV_BUFCALL, NULL, NULL,
		(void (*)(void *))(void (*)(void))func, (void *)arg,
		host_now(), size);
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
	return add(EV_BUFCALL, q->q_pair->plumb, q->q_pair, func, arg,
		host_now(), size);
}

void
qunbufcall(queue_t *q, bcid_t id)
{
	(void)q;
	(void)cancel(id);
}

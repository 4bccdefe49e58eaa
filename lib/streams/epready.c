/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which items of an epoll instance are ready: those with a slot of their
 * Stream's head, whose bits wakers set in the instance's watcher.
 *
 * An item with a slot is either armed, or in `pend', the list of those that a
 * call has to check.  A bit of the watcher puts it there, and so does
 * epoll_ctl().
 *
 * Level-triggered items stay in the list while they are ready.  One that is not
 * ready is not armed at once: in a busy server it is ready again soon, and an
 * item that is not armed costs its writer nothing.  It is armed before the
 * thread sleeps, or after some calls.
 *
 * Edge-triggered items stay in the list in the same way.  An item that is not
 * armed has an edge of something to read when the head's mark (str_watch_mark)
 * is another than at the last look.  No mark tells of room: an item that wants
 * room and has none is armed, before it is checked; and so is one whose write
 * found none (ep_item_room).
 *
 * One fence follows the arming of all the items of a call; it is a heavy one
 * unless all wakers execute the fence (head/watch.c).  Items armed without a
 * heavy fence are checked once more before a sleep without limit (ep_sure).
 */
#include <limits.h>

#include "epitem.h"
#include "epollset.h"
#include "sock/sock.h"

#define IDLE    4u  /* calls that find an item not ready, until it is armed */
#define GLANCE  64u /* items without a slot checked when the call need not sleep */

/* ------------------------------------------------------------ the report */

void
ep_put(struct ep_wait *w, uint32_t events, epoll_data_t data)
{
	struct epoll_event ev = {.events = events, .data = data};

	if (host_copyout(&ev, &w->out[w->n], sizeof ev) != 0)
		w->fault = true;
	else
		w->n++;
}

/* Report @it with @ev, which is not 0. */
void
ep_report(struct ep_wait *w, struct ep_item *it, uint32_t ev)
{
	ep_put(w, ev, it->data);
	if (w->fault) {
		it->fresh = true;
		return;
	}
	it->fresh = false;
	it->round = w->round;
	if (it->events & EPOLLONESHOT)
		it->spent = true;
}

/* -------------------------------------------------------------- one item */

static bool
is_edge(const struct ep_item *it)
{
	return (it->events & (uint32_t)EPOLLET) != 0;
}

/* The wanted events that are present; a hang-up of the carrier is looked at. */
static uint32_t
now(struct ep_item *it, struct host_call *hc)
{
	uint64_t was;
	struct str_head *sd = fd_inside(it->rec, &was);
	bool stale = sd != NULL && str_head_stale(sd);

	fd_outside(was);
	if (str_unlikely(stale) && hc != NULL && ep_item_here(it))
		fd_look(it->rec, hc, it->fd);
	return ep_item_events(it);
}

/* Has something come since the last look at @it? */
static void
look(struct ep_item *it)
{
	uint64_t was;
	struct str_head *sd = fd_inside(it->rec, &was);
	uint32_t mark = sd != NULL ? str_watch_mark(sd) : it->armed.mark;

	fd_outside(was);
	if (mark != it->armed.mark)
		it->why |= STR_WATCH_READ;
	it->armed.mark = mark;
}

/*
 * now() for an edge-triggered item: nothing without an edge, and room alone is
 * no edge if what has come is something to read.
 */
static uint32_t
edge_now(struct ep_item *it, struct host_call *hc, bool *ret_full)
{
	uint32_t ev;

	look(it); /* before the events: what comes later is another edge */
	ev = now(it, hc);
	*ret_full = (ep_wants(it) & ~ev & STR_POLL_WRITE) != 0;
	if (it->why == 0 || ((it->why & STR_WATCH_WRITE) == 0 &&
			(ev & (STR_POLL_READ | STR_POLLRDHUP | STR_POLLMSG |
				EP_ALWAYS)) == 0))
		return 0;
	return ev;
}

enum armed {
	ARMED,       /* no heavy fence is needed */
	ARMED_HEAVY, /* one is needed before it is checked */
	ARMED_NOT,   /* it waits by tokens from now on */
};

static enum armed
arm(struct ep_item *it, struct host_call *hc)
{
	uint32_t ways = STR_WATCH_READ, wants = ep_wants(it) & STR_POLL_WRITE;
	uint32_t mark = it->armed.mark; /* of the last look */
	uint64_t was;
	struct str_head *sd = fd_inside(it->rec, &was);
	bool ok = true;

	if (sd == NULL) {
		/* gone: the check reports a hang-up */
		it->armed = (struct str_armed){.fenced = true};
		fd_outside(was);
		return ARMED;
	}
	if (hc != NULL) {
		hc->fd = ep_item_here(it) ? it->fd : -1;
		hc->head = sd;
		(void)str_sched_run_head(sd, hc);
		hc->fd = -1;
	}
	/* no edge of room while there is room */
	if (wants != 0 && !(is_edge(it) && (str_head_events_for(sd,
			fd_fflags(it->rec), wants) & wants) != 0))
		ways |= STR_WATCH_WRITE;
	ok = !str_watch_unfit(sd) && str_watch_arm(it->ep->watch, sd, it->slot,
		it->number, ways, &it->armed);
	if (ok && it->armed.mark != mark)
		it->why |= STR_WATCH_READ;
	/* streamsd watches the socket of one whose input comes from within the
	 * domain; the others are this process's to watch.  When that changes,
	 * ksock_near() reports an event of all armed items. */
	if (!str_sock_leave(str_head_sock(sd)))
		str_head_watch(sd);
	it->ways = (uint8_t)ways;
	fd_outside(was);
	if (!ok)
		ep_item_slow(it);
	return !ok ? ARMED_NOT : it->armed.fenced ? ARMED : ARMED_HEAVY;
}

/*
 * A write has found no room.  An item that wants to know of room, and was not
 * armed for it because there was some, is armed; a fence and a look follow.
 */
void
ep_item_room(struct ep_item *it)
{
	struct str_armed armed;
	struct str_head *sd;
	uint64_t was;

	if (!ep_is_fast(it) || !is_edge(it) || it->spent ||
		(ep_wants(it) & STR_POLL_WRITE) == 0)
		return;
	sd = fd_inside(it->rec, &was);
	if (sd != NULL && str_watch_arm(it->ep->watch, sd, it->slot,
			it->number, STR_WATCH_WRITE, &armed))
		it->ways |= STR_WATCH_WRITE;
	fd_outside(was);
}

/* A heavy fence was executed after the arming. */
static void
fenced(struct ep_item *it)
{
	uint64_t was;
	struct str_head *sd = fd_inside(it->rec, &was);

	if (sd != NULL)
		str_watch_fenced(sd, &it->armed);
	fd_outside(was);
}

/* ------------------------------------------------------------- all items */

static struct ep_item *
item_at(struct ep_link *l)
{
	return str_container(l, struct ep_item, link);
}

/* Move the items whose bits are set to the list. */
static void
collect(struct ep *ep)
{
	uint64_t some = str_watch_some(ep->watch);

	for (; some != 0; some &= some - 1) {
		unsigned line = (unsigned)__builtin_ctzll(some);

		for (unsigned k = 0; k < STR_WATCH_WORDS; k++) {
			unsigned i = line * STR_WATCH_WORDS + k;
			uint64_t bits = str_watch_bits(ep->watch, i);

			for (; bits != 0; bits &= bits - 1) {
				unsigned n = i * 64 +
					(unsigned)__builtin_ctzll(bits);
				struct ep_item *it = n / 2 < ep->cap ?
					ep->item[n / 2] : NULL;

				if (it == NULL || !ep_is_fast(it))
					continue;
				it->why |= n % 2 != 0 ? STR_WATCH_WRITE :
							STR_WATCH_READ;
				ep_queue(it);
			}
		}
	}
}

/* Check @it, which was armed. @heavy: with a heavy fence since. */
static void
check_armed(struct ep_wait *w, struct ep_item *it, bool heavy)
{
	struct ep *ep = w->ep;
	bool full;
	uint32_t ev = is_edge(it) ? edge_now(it, w->hc, &full) : now(it, w->hc);

	if (ev != 0 && w->n < w->max && !w->fault)
		ep_report(w, it, ev);
	if (ev != 0 && (w->fault || (it->round != w->round) || !is_edge(it))) {
		ep_queue(it);
		return;
	}
	it->why = 0;
	if (!heavy) {
		it->doubtful = true;
		it->link.next = &ep->unsure;
		it->link.prev = ep->unsure.prev;
		ep->unsure.prev->next = &it->link;
		ep->unsure.prev = &it->link;
	}
}

/*
 * One item of the list.  Return: true: it has been armed, and is to be checked
 * after the fence.
 */
static bool
take(struct ep_wait *w, struct ep_item *it, enum ep_how how, bool *ret_heavy)
{
	bool full = false;
	enum armed a;
	uint32_t ev;

	if (it->spent) {
		ep_unqueue(it);
		return false;
	}
	ev = is_edge(it) ? edge_now(it, w->hc, &full) : now(it, w->hc);
	if (!full) {
		if (ev != 0) {
			ep_report(w, it, ev);
			if (!w->fault)
				it->why = 0;
			it->idle = 0;
			return false;
		}
		it->why = 0;
		if (how == EP_GLANCE || (how == EP_TAKE && ++it->idle < IDLE))
			return false;
		it->idle = 0;
	}
	a = arm(it, w->hc);
	if (a == ARMED_NOT)
		return false;
	*ret_heavy |= a == ARMED_HEAVY;
	return true;
}

/*
 * Some of the first *n items of the list, as many as there may be room for.
 */
static void
pass_some(struct ep_wait *w, enum ep_how how, unsigned *n)
{
	struct ep_link looks = {&looks, &looks};
	struct ep *ep = w->ep;
	bool heavy = false;
	int nlook = 0;

	for (; *n != 0 && w->n + nlook < w->max && !w->fault; --*n) {
		struct ep_item *it = item_at(ep->pend.next);

		ep_queue(it); /* behind the others */
		if (it->round == w->round || !take(w, it, how, &heavy))
			continue;
		ep_unqueue(it);
		it->link.next = &looks;
		it->link.prev = looks.prev;
		looks.prev->next = &it->link;
		looks.prev = &it->link;
		nlook++;
	}
	if (heavy) {
		host_fence_heavy(); /* pairs with the waker's light fence */
		for (struct ep_link *l = looks.next; l != &looks; l = l->next)
			fenced(item_at(l));
	}
	while (looks.next != &looks) {
		struct ep_item *it = item_at(looks.next);

		ep_unqueue(it);
		check_armed(w, it, heavy);
	}
}

/*
 * Report the items that are ready, as many as there is room for, each once in a
 * call.
 */
void
ep_pass(struct ep_wait *w, enum ep_how how)
{
	struct ep *ep = w->ep;
	unsigned n;

	if (ep->watch == NULL)
		return;
	collect(ep);
	n = str_load(&ep->npend);
	while (n != 0 && w->n < w->max && !w->fault)
		pass_some(w, how, &n);
}

/*
 * ep_sure - a heavy fence has been executed: check the items that were armed
 * without one
 */
void
ep_sure(struct ep *ep, struct host_call *hc)
{
	while (ep->unsure.next != &ep->unsure) {
		struct ep_item *it = item_at(ep->unsure.next);
		uint32_t ev = now(it, hc), mark, why = 0;
		uint64_t was;
		struct str_head *sd = fd_inside(it->rec, &was);

		mark = sd != NULL ? str_watch_mark(sd) : 0;
		fd_outside(was);
		if (mark != it->armed.mark)
			why |= STR_WATCH_READ;
		if ((it->ways & STR_WATCH_WRITE) != 0)
			why |= ev & STR_POLL_WRITE ? STR_WATCH_WRITE : 0;
		ep_unqueue(it);
		if (is_edge(it) ? why != 0 : ev != 0) {
			it->why |= (uint8_t)why;
			ep_queue(it);
		}
	}
}

/* --------------------------------------------------------------- waiting */

/* Check up to @most items without a slot, and all that need no token. */
static void
glance(struct ep_wait *w, unsigned most)
{
	struct ep *ep = w->ep;
	unsigned n = STR_MIN(most, str_load(&ep->nslow));

	for (unsigned i = 0; i < n && w->n < w->max && !w->fault; i++) {
		struct ep_item *it = ep->slow[ep->turn++ % str_load(&ep->nslow)];
		uint32_t ev;

		if ((ep_is_edge(it) && !it->fresh) || it->round == w->round)
			continue;
		ev = ep_item_events(it);
		if (ev != 0)
			ep_report(w, it, ev);
	}
}

/* What the Streams have. */
void
ep_take(struct ep_wait *w, enum ep_how how)
{
	struct fd_guard g;

	fd_lock(&g);
	ep_own(w->ep);
	ep_pass(w, how);
	if (w->n < w->max && how != EP_GLANCE)
		glance(w, w->n != 0 ? GLANCE : UINT_MAX);
	fd_unlock(&g);
}

/* Arm what waits by tokens, and check everything. */
void
ep_arm_all(struct ep_wait *w)
{
	struct ep *ep = w->ep;
	struct fd_guard g;

	fd_lock(&g);
	for (unsigned i = 0; i < str_load(&ep->nslow); i++)
		ep_item_arm(ep->slow[i],
			ep_is_edge(ep->slow[i])
				? fd_events(ep->slow[i]->rec, 0) : 0,
			w->hc);
	host_fence_heavy(); /* pairs with the waker's light fence */
	ep_own(ep);
	if (ep->watch != NULL) {
		ep_pass(w, EP_REST);
		ep_sure(ep, w->hc);
	}
	glance(w, UINT_MAX);
	fd_unlock(&g);
}

/* -------------------------------------------- an epoll that is polled */

bool
ep_ready(struct ep *ep)
{
	struct fd_guard g;
	bool yes = false, full;

	fd_lock(&g);
	for (unsigned i = 0; i < str_load(&ep->nslow) && !yes; i++) {
		struct ep_item *it = ep->slow[i];

		yes = (!ep_is_edge(it) || it->fresh) &&
			ep_item_events(it) != 0;
	}
	if (!yes && ep->watch != NULL) {
		ep_own(ep);
		collect(ep);
		ep_sure(ep, NULL);
	}
	for (struct ep_link *l = ep->pend.next; !yes && l != &ep->pend;
		l = l->next) {
		struct ep_item *it = item_at(l);

		yes = (is_edge(it) ? edge_now(it, NULL, &full) :
					now(it, NULL)) != 0;
	}
	fd_unlock(&g);
	return yes;
}

/* The thread is about to sleep: a waker of a Stream in @ep rings the bell. */
void
ep_arm(struct ep *ep, struct host_call *hc)
{
	struct ep_link *l, *next;
	struct fd_guard g;

	fd_lock(&g);
	for (unsigned i = 0; i < str_load(&ep->nslow); i++)
		ep_item_arm(ep->slow[i],
			ep_is_edge(ep->slow[i])
				? fd_events(ep->slow[i]->rec, 0) : 0,
			hc);
	ep_own(ep);
	if (ep->watch != NULL) {
		collect(ep);
		for (l = ep->pend.next; l != &ep->pend; l = next) {
			next = l->next;
			if (!item_at(l)->spent)
				(void)arm(item_at(l), hc);
		}
		str_watch_bell_on(ep->watch);
	}
	fd_unlock(&g);
}

/* It is awake. */
void
ep_awake(struct ep *ep)
{
	struct fd_guard g;

	fd_lock(&g);
	if (ep->watch != NULL)
		str_watch_bell_off(ep->watch);
	fd_unlock(&g);
}

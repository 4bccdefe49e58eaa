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
 * Edge-triggered items are armed when they are taken from the list, before they
 * are checked.  So an arrival after the report sets the bit again, and a read
 * that finds nothing need not arm.
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
#define SPIN_US 20u
#define FEW     32u /* items that a thread that spins checks each time */
/* pause instructions between two looks at the same word: about a microsecond */
#define SPIN_PAUSES 24u

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

/*
 * now() for an edge-triggered item: nothing without an edge, and room alone is
 * no edge if what has come is something to read.
 */
static uint32_t
edge_now(struct ep_item *it, struct host_call *hc)
{
	uint32_t ev = now(it, hc);

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

	if (!ep_is_fast(it) || !is_edge(it) || it->spent || it->queued ||
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
	uint32_t ev = is_edge(it) ? edge_now(it, w->hc) : now(it, w->hc);

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
	enum armed a;
	uint32_t ev;

	if (it->spent) {
		ep_unqueue(it);
		return false;
	}
	if (!is_edge(it)) {
		ev = now(it, w->hc);
		if (ev != 0) {
			ep_report(w, it, ev);
			it->idle = 0;
			return false;
		}
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

/* Does the other side of the stream that was ready last run on this CPU? */
static bool
is_near(struct ep_wait *w)
{
	struct ep *ep = w->ep;
	struct fd_guard g;
	bool yes = false;

	fd_lock(&g);
	if (str_load(&ep->npend) != 0) {
		struct ep_item *it = str_container(
			ep->pend.prev, struct ep_item, link);

		yes = str_watch_cpu(str_load(&it->rec->sd)) == host_cpu();
	}
	fd_unlock(&g);
	return yes;
}

/*
 * Look for a moment whether a Stream becomes ready: that costs less than a
 * wake-up, and while the items are not armed it costs their writers nothing.
 * After an unsuccessful attempt this is not tried for a while.
 */
void
ep_spin(struct ep_wait *w)
{
	struct ep *ep = w->ep;
	struct str_watch *watch = str_load(&ep->watch);
	uint64_t start = host_ticks();
	uint64_t most = SPIN_US * host_ticks_per_ms / 1000;
	uint32_t n = str_load(&ep->rest);
	bool near;

	if (watch == NULL || str_load(&ep->n) == str_load(&ep->nslow))
		return;
	if (n != 0) {
		str_store(&ep->rest, n - 1);
		return;
	}
	near = is_near(w);
	if (near && !host_give_way())
		return;
	ep_take(w, str_load(&ep->npend) > FEW ? EP_REST : EP_GLANCE);
	while (w->n == 0 && !w->fault && host_tls.sig_saved == 0 &&
		host_interrupted(w->hc) == HOST_SIG_NONE &&
		host_ticks() - start < most) {
		if (near) {
			if (!host_give_way())
				break;
			near = false;
		}
		for (unsigned i = 0; i < SPIN_PAUSES; i++)
			str_cpu_relax();
		if (str_load(&watch->some) != 0 || str_load(&ep->npend) != 0)
			ep_take(w, EP_GLANCE);
	}
	if (w->n != 0) {
		str_store(&ep->vain, 0u);
		return;
	}
	n = str_load(&ep->vain) % 32 * 2 + 1;
	str_store(&ep->vain, n);
	str_store(&ep->rest, n);
}

/*
 * Stage 1, for an instance that has only Streams.  Return: 0: check again;
 * -EINTR; -ETIMEDOUT: no wake in 20 ms, or until the deadline; -EAGAIN: this
 * stage is not possible.
 */
int
ep_sleep_near(struct ep_wait *w, uint64_t deadline, const sigset_t *mask)
{
	struct ep *ep = w->ep;
	struct str_watch *watch = str_load(&ep->watch);
	uint64_t most = EP_NEAR_NS, at = 0;
	uint32_t word;

	if (mask != NULL || watch == NULL || str_load(&ep->mixed) ||
		str_load(&ep->nslow) != 0 || host_sock_watching())
		return -EAGAIN;
	str_sock_flush(w->hc);
	word = str_load_acq(&watch->word);
	ep_take(w, EP_REST);
	if (w->n != 0 || w->fault)
		return 0;
	if (deadline != UINT64_MAX) {
		at = host_now();
		most = deadline > at ? STR_MIN(deadline - at, most) : 0;
	}
	if (!str_watch_sleep(watch))
		return 0;
	STR_CRASH_POINT("epoll:asleep");
	return -host_wait(w->hc, &watch->word, word, most);
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
	bool yes = false;

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

		yes = (is_edge(it) ? edge_now(it, NULL) : now(it, NULL)) != 0;
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

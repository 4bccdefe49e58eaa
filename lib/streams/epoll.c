/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * epoll(7) on Streams and other descriptors together.
 *
 * Objects.  `struct ep' is an epoll instance with Streams in it; the table of
 * descriptors leads to it.  `struct ep_item' is one registration of a
 * Stream.  The kernel's instance contains the Stream's carrier, for input, with
 * a tag of ours as its data, which identifies the item.  Other descriptors in
 * the instance are handled by the kernel and passed through unchanged.
 *
 * Events.  The state is read from the domain.  Wakers report when to check it:
 * they set the item's bit in the instance's watcher (core/head/watch.c), so
 * that a wait costs what is active, not what is registered (epready.c).  The
 * kernel reports hang-ups, and tokens that were meant for other threads.
 *
 * Tokens.  Some items wait by tokens instead; epitem.c says which.  A token
 * makes a carrier readable; it is sent once for each arming.  Level-triggered
 * items are checked in every call, in turn, and all are armed and checked
 * before the thread sleeps.  Edge-triggered and one-shot items are registered
 * edge-triggered: a token is an edge, and they are armed for the next one when
 * this one is reported, and for room to write when a call on the Stream returns
 * EAGAIN. `fresh' means that an item must be checked without a token: it was
 * added or changed, or an edge was missed.
 *
 * Poking.  A process cannot put a token into its own carrier.  If there is an
 * event and no token will come, the item is made ready in the kernel: it is
 * registered for room to write in the carrier, which there always is.  Then
 * threads that sleep here, and epoll instances that watch this one, check the
 * item.
 *
 * Sleeping.  If the instance has only Streams, the thread first looks for a
 * moment whether one is ready, and then sleeps on the watcher's word for 20 ms:
 * meanwhile the end of a process that held the other end is not noticed.  After
 * that, or with other descriptors, it polls the epoll descriptor and the bell
 * (sleep.c).
 *
 * Turns.  If the instance has other descriptors, every second call begins with
 * the Streams, so that neither side keeps the other from the caller's buffer.
 *
 * Ends of life.  A registration belongs to the open file description: it stays
 * while a duplicate of the descriptor is open in this process, and ends with
 * the last one.
 *
 * Locks.  Everything here is [F], under fd_lock().
 */
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>

#include "epitem.h"
#include "epollset.h"
#include "sys.h"

#define BATCH 64  /* events taken from the kernel at once */
#define KWAIT 64u

/* Threads that wait in the kernel, by epoll descriptor. */
static str_a32 kwait[KWAIT];

/*
 * A call on @r found nothing.  An event that came while an item without a slot
 * was not armed was no edge for the kernel: report it as one.  An item with a
 * slot is not armed for room while there is room.
 */
void
ep_rearm(struct fd_rec *r, uint32_t events)
{
	bool tokens = str_load(&r->nitem) != 0;
	struct ep_item *it;
	struct fd_guard g;
	uint32_t ev;

	fd_lock(&g);
	if (tokens)
		fd_arm(r, NULL, -1, events);
	if ((events & STR_POLL_WRITE) != 0)
		for (it = r->items; it != NULL; it = it->rec_next) {
			ep_own(it->ep);
			ep_item_room(it);
		}
	host_fence_heavy(); /* pairs with the waker's light fence */
	ev = fd_events(r, 0) & events;
	if (fd_outside_full(r))
		ev |= events & STR_POLL_WRITE;
	for (it = r->items; it != NULL && ev != 0; it = it->rec_next) {
		if (!ep_is_edge(it) || (ep_wants(it) & ev) == 0)
			continue;
		if (!ep_is_fast(it)) {
			it->fresh = true;
			if (ep_item_here(it))
				(void)ep_item_poke(it, true);
		} else if ((events & STR_POLL_WRITE) != 0) {
			ep_post(it, STR_WATCH_WRITE);
		}
	}
	fd_unlock(&g);
}

/* ------------------------------------------------------------- epoll_ctl */

static int
ctl_kernel(int epfd, int op, int fd, struct epoll_event *ev)
{
	return -(int)sys_call4(SYS_epoll_ctl, epfd, op, fd, ev);
}

/* The kernel's flags for a registration with EPOLLEXCLUSIVE. */
#define EXCLUSIVE_OK \
	((uint32_t)EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | \
		EPOLLET | EPOLLEXCLUSIVE)

static int
ctl_add(int epfd, struct fd_rec *r, int fd, const struct epoll_event *uev)
{
	struct ep_item *it;
	struct epoll_event kev;
	struct ep *ep;
	int err;

	if ((uev->events & EPOLLEXCLUSIVE) && (uev->events & ~EXCLUSIVE_OK))
		return EINVAL;
	/* add it first without events, to get the kernel's errors; only a
	 * hang-up would be reported at once, to a thread that waits there
	 * already */
	kev = (struct epoll_event){.events = (uint32_t)EPOLLET,
		.data.u64 = EP_TAG_NONE};
	err = ctl_kernel(epfd, EPOLL_CTL_ADD, fd, &kev);
	if (err != 0)
		return err;
	STR_CRASH_POINT("epoll:added");
	ep = ep_of(epfd);
	if (ep != NULL)
		ep_own(ep);
	it = ep != NULL ? ep_item_new(ep, r, fd, uev) : NULL;
	if (it == NULL) {
		(void)ctl_kernel(epfd, EPOLL_CTL_DEL, fd, &kev);
		return ENOMEM;
	}
	/* a thread that waits in the kernel must get a token; it counts itself
	 * first, and then looks for items */
	str_fence_full();
	if (str_load(&ep->n) == 1 && str_load(&kwait[(unsigned)epfd % KWAIT]) != 0)
		ep_tokens(ep, true);
	return 0;
}

static int
ctl_mod(int epfd, struct fd_rec *r, int fd, const struct epoll_event *uev)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? ep_item_find(ep, r, fd) : NULL;
	struct epoll_event kev = {.events = 0};

	if (it == NULL)
		return ctl_kernel(epfd, EPOLL_CTL_MOD, fd, &kev);
	if ((it->events | uev->events) & EPOLLEXCLUSIVE)
		return EINVAL;
	ep_own(ep);
	ep_item_set(it, uev);
	return 0;
}

static int
ctl_del(int epfd, struct fd_rec *r, int fd)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? ep_item_find(ep, r, fd) : NULL;
	struct epoll_event kev = {.events = 0};
	int err = ctl_kernel(epfd, EPOLL_CTL_DEL, fd, &kev);

	if (err == 0 && it != NULL)
		ep_item_remove(it);
	return err;
}

/*
 * An item was added or changed.  One with a slot is checked by the next wait,
 * or by a thread that sleeps here.  One without is armed, and if its event is
 * present the kernel reports it.
 */
static int
ctl_armed(int epfd, int op, struct fd_rec *r, int fd)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? ep_item_find(ep, r, fd) : NULL;
	int err;

	if (it == NULL)
		return 0;
	if (ep_is_fast(it)) {
		err = op == EPOLL_CTL_ADD ? ep_item_poke(it, false) : 0;
		if (err == 0)
			ep_post(it, STR_WATCH_WAYS);
		return err;
	}
	ep_item_arm(it, 0, NULL);
	host_fence_heavy(); /* pairs with the waker's light fence */
	return ep_item_poke(it, ep_item_events(it) != 0);
}

/*
 * Another descriptor than a Stream's has been added to @epfd.  If it is an
 * instance, threads wait in the kernel for the items in it.
 */
static void
ctl_other(int epfd, int fd)
{
	struct epoll_event kev = {.events = 0};
	struct fd_guard g;
	struct ep *ep;

	if (fd_epoll(epfd) != NULL)
		str_store(&fd_epoll(epfd)->mixed, true);
	/* ENOENT: it could contain the outer one, but does not */
	if (ctl_kernel(fd, EPOLL_CTL_DEL, epfd, &kev) != ENOENT)
		return;
	fd_lock(&g);
	ep = ep_of(fd);
	if (ep != NULL) {
		ep->nested = true;
		ep_tokens(ep, true);
	}
	fd_unlock(&g);
}

STR_EXPORT int
epoll_ctl(int epfd, int op, int fd, struct epoll_event *uev)
{
	struct fd_rec *r = fd_stream(fd);
	struct epoll_event ev = {.events = 0};
	struct fd_guard g;
	int err;

	if (r == NULL || fd_stream(epfd) != NULL ||
		(op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD &&
			op != EPOLL_CTL_DEL)) {
		err = REAL(epoll_ctl)(epfd, op, fd, uev);
		if (err == 0 && op == EPOLL_CTL_ADD)
			ctl_other(epfd, fd);
		return err;
	}
	if (op != EPOLL_CTL_DEL && host_copyin(uev, &ev, sizeof ev) != 0)
		return fail(EFAULT);
	fd_lock(&g);
	if (op == EPOLL_CTL_ADD)
		err = ctl_add(epfd, r, fd, &ev);
	else if (op == EPOLL_CTL_MOD)
		err = ctl_mod(epfd, r, fd, &ev);
	else
		err = ctl_del(epfd, r, fd);
	if (err == 0 && op != EPOLL_CTL_DEL)
		err = ctl_armed(epfd, op, r, fd);
	fd_unlock(&g);
	return err != 0 ? fail(err) : 0;
}

/* ------------------------------------------------------------ epoll_wait */

/* Drain the useless token of @it's carrier. */
static void
token_out(struct ep_item *it, uint32_t wanted)
{
	struct fd_rec *r = it->rec;

	fd_drain(r, it->fd, r->items != it || it->rec_next != NULL
			? ~0u : STR_POLL_READ & ~wanted);
}

/*
 * The kernel has reported @it, which has a slot: a hang-up, or a token for
 * another thread, or data of a program outside the domain.
 */
static void
fast_heard(struct ep_wait *w, struct ep_item *it, uint32_t kernel)
{
	bool here = ep_item_here(it);

	if ((kernel & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) && here)
		fd_look(it->rec, w->hc, it->fd);
	if ((kernel & EPOLLIN) && here && ep_item_events(it) == 0)
		token_out(it, ep_wants(it));
	if ((kernel & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) == 0)
		return;
	it->why |= STR_WATCH_READ;
	ep_queue(it);
}

/*
 * The kernel has reported @it.  Return: the events to report, or 0.
 */
static uint32_t
item_heard(struct ep_wait *w, struct ep_item *it, uint32_t kernel)
{
	bool here = ep_item_here(it);
	uint32_t ev;

	if ((kernel & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) && here) {
		fd_look(it->rec, w->hc, it->fd);
		if (!it->lost && fd_lost(it->rec)) {
			it->lost = true;
			(void)ep_item_poke(it, false);
		}
	}
	if ((kernel & EPOLLOUT) && here && fd_outside_full(it->rec))
		fd_outside_room(it->rec, w->hc, it->fd);
	ev = ep_item_events(it);
	if (ep_is_edge(it) || ev == 0 || it->poked) {
		if (here && (kernel & EPOLLIN) && (ep_is_edge(it) || ev == 0))
			token_out(it, ep_wants(it));
		if (here && it->poked)
			(void)ep_item_poke(it, false);
		ep_item_arm(it, ev, w->hc);
		host_fence_heavy(); /* pairs with the waker's light fence */
		ev = ep_item_events(it);
	}
	return ev;
}

/* What the kernel has, without waiting.  Return: minus an errno, or 0. */
static int
kernel_take(struct ep_wait *w)
{
	struct epoll_event kev[BATCH];
	struct fd_guard g;
	bool ours, past = false;
	int n;

	str_store(&w->ep->looked, host_ticks());
	n = (int)sys_call6(SYS_epoll_pwait, w->epfd, kev,
		STR_MIN(w->max - w->n, BATCH), 0, NULL, SYS_SIGSET);
	if (n <= 0)
		return n;
	fd_lock(&g);
	for (int i = 0; i < n && !w->fault; i++) {
		struct ep_item *it =
			ep_item_of(w->ep, kev[i].data.u64, &ours);
		uint32_t ev;

		if (it == NULL) {
			if (ours)
				past = true;
			else
				ep_put(w, kev[i].events, kev[i].data);
			continue;
		}
		if (ep_is_fast(it)) {
			fast_heard(w, it, kev[i].events);
			continue;
		}
		ev = item_heard(w, it, kev[i].events);
		if (ev != 0 && it->round != w->round)
			ep_report(w, it, ev);
	}
	fd_unlock(&g);
	if (past && w->n == 0)
		host_yield(); /* registered by another process */
	return 0;
}

/*
 * Collect the present events, without waiting.  @look: consult the kernel, even
 * if the instance has only Streams.
 * Return: minus an errno, or 0.
 */
static int
wait_take(struct ep_wait *w, bool look)
{
	struct ep *ep = w->ep;
	bool mixed = str_load(&ep->mixed) || str_load(&ep->nslow) != 0;
	bool later = mixed && (w->round & 1) != 0;
	int err = 0;

	/* without those that wait by tokens: the kernel's report of a token
	 * comes first, or it would be a second edge */
	if (later)
		ep_take(w, EP_GLANCE);
	if ((mixed || look || host_ticks() - str_load(&ep->looked) >
			EP_NEAR_NS / 1000000u * host_ticks_per_ms) &&
		w->n < w->max && !w->fault)
		err = kernel_take(w);
	if (err == 0 && w->n < w->max && !w->fault)
		ep_take(w, EP_TAKE);
	return w->fault && w->n == 0 ? -EFAULT : w->n != 0 ? 0 : err;
}

/* Stage 2.  Return: 0, or minus an errno; *ret_over at the end. */
static int
wait_sleep(struct ep_wait *w, uint64_t deadline, const sigset_t *mask,
	bool *ret_over)
{
	struct pollfd pfd[1 + SLEEP_ROOM] = {{w->epfd, POLLIN, 0}};
	struct sleep_set set = {pfd, 1, deadline, mask};
	struct str_watch *watch = str_load(&w->ep->watch);
	bool rung;
	int n = 0;

	sleep_begin();
	if (watch != NULL)
		str_watch_bell_on(watch);
	ep_arm_all(w);
	if (w->n == 0 && !w->fault && str_load(&w->ep->npend) == 0 &&
		(watch == NULL || str_load(&watch->some) == 0)) {
		n = sleep_poll(w->hc, &set, &rung);
		if (n == 0 && !rung)
			*ret_over = true;
	}
	if (watch != NULL)
		str_watch_bell_off(watch);
	sleep_end();
	if (w->fault && w->n == 0)
		return -EFAULT;
	return n < 0 ? n : 0;
}

static int
wait_loop(struct ep_wait *w, uint64_t deadline, const sigset_t *mask)
{
	bool over = deadline == 0, look = over;
	int err;

	for (;;) {
		if (str_unlikely(host_sock_watching()))
			(void)str_sock_gather();
		err = wait_take(w, look);
		if (err != 0 || w->n != 0 || over)
			return err != 0 ? err : w->n;
		ep_spin(w);
		if (w->n == 0 && !w->fault)
			err = ep_sleep_near(w, deadline, mask);
		look = err == -EAGAIN || err == -ETIMEDOUT;
		over = err == -ETIMEDOUT && deadline != UINT64_MAX &&
			host_now() >= deadline;
		if (look && !over)
			err = wait_sleep(w, deadline, mask, &over);
		else if (look)
			err = 0;
		if (err == 0 && w->fault && w->n == 0)
			err = -EFAULT;
		if (err != 0 || w->n != 0)
			return w->n != 0 ? w->n : err;
	}
}

/*
 * Does this call leave events?  One that has @failed, because of a signal, may
 * have been woken by a bit that it has not taken.
 */
static bool
leaves_some(const struct ep *ep, bool failed)
{
	struct str_watch *watch = str_load(&ep->watch);

	return str_load(&ep->npend) != 0 || (failed && watch != NULL &&
		str_load(&watch->some) != 0);
}

/*
 * What this call leaves is for the other threads that may sleep: those that wait
 * here, and those that poll the instance.
 */
static void
hand_on(struct ep *ep, bool failed)
{
	struct str_watch *watch = str_load(&ep->watch);
	struct fd_guard g;

	if (str_sub(&ep->waiters, 1u) == 1 && (watch == NULL ||
		(str_load(&watch->bell) & STR_WATCH_COUNT) == 0))
		return;
	if (!leaves_some(ep, failed))
		return;
	fd_lock(&g);
	if (leaves_some(ep, failed) && ep->watch != NULL)
		str_watch_nudge(ep->watch);
	fd_unlock(&g);
}

/* Has @epfd Streams in it, for a call that is valid? */
static bool
has_streams(int epfd, int max)
{
	struct ep *ep = fd_epoll(epfd);

	return ep != NULL && str_load(&ep->n) != 0 && max > 0 &&
	       max <= INT_MAX / (int)sizeof(struct epoll_event);
}

/* No thread waits in the kernel any more, as it did when Streams were added. */
static void
without_tokens(int epfd, struct ep *ep)
{
	struct fd_guard g;

	if (ep->nested || str_load(&kwait[(unsigned)epfd % KWAIT]) != 0)
		return;
	fd_lock(&g);
	ep_tokens(ep, false);
	fd_unlock(&g);
}

static int
wait_counted(struct ep_wait *w, uint64_t deadline, const sigset_t *mask)
{
	struct ep *ep = w->ep;
	int ret;

	if (str_unlikely(str_load(&ep->tokens)))
		without_tokens(w->epfd, ep);
	(void)str_add(&ep->waiters, 1u);
	w->round = str_add(&ep->round, 1u) + 1;
	ret = wait_loop(w, deadline, mask);
	hand_on(ep, ret < 0);
	return ret;
}

/* Is @epfd one of ours?  Then *ret is the call's result, with errno. */
static bool
wait_streams(int epfd, struct epoll_event *out, int max, uint64_t deadline,
	const sigset_t *mask, int *ret)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	struct epoll_event probe;
	struct ep_wait w = {.epfd = epfd, .hc = &hc, .out = out, .max = max};
	sigset_t filtered;

	w.ep = fd_epoll(epfd);
	if (w.ep == NULL)
		return false;
	if (mask != NULL) {
		if (host_copyin(mask, &probe, 8) != 0)
			return false; /* the kernel has the error */
		mask = host_sigmask_filter(SIG_SETMASK, mask, &filtered);
	}
	*ret = -host_enter(&hc);
	if (*ret == 0) {
		/* no event is taken if the caller's buffer is bad */
		if (host_copyin(out, &probe, sizeof probe) != 0)
			*ret = -EFAULT;
		else
			*ret = wait_counted(&w, deadline, mask);
		host_leave();
	}
	*ret = (int)call_value(*ret);
	return true;
}

/*
 * A thread that began to sleep in the kernel when there was no Stream in @epfd
 * may return with our tags.  Return: events left for the caller.
 */
static int
wait_strip(int epfd, struct epoll_event *out, int n)
{
	struct ep *ep = n > 0 ? fd_epoll(epfd) : NULL;
	int kept = 0;
	struct fd_guard g;
	bool ours;

	if (ep == NULL) {
		/* perhaps the first Stream is being added just now */
		for (int i = 0; i < n; i++)
			if (out[i].data.u64 != EP_TAG_NONE)
				out[kept++] = out[i];
		return n > 0 ? kept : n;
	}
	fd_lock(&g);
	ep_own(ep);
	for (int i = 0; i < n; i++) {
		struct ep_item *it = ep_item_of(ep, out[i].data.u64, &ours);

		if (it != NULL) {
			it->fresh = true;
			if (ep_is_fast(it))
				ep_post(it, STR_WATCH_READ);
			else if (it->poked && ep_item_here(it))
				(void)ep_item_poke(it, false);
		} else if (!ours)
			out[kept++] = out[i];
	}
	fd_unlock(&g);
	return kept;
}

static uint64_t
ms_deadline(int ms)
{
	if (ms < 0)
		return UINT64_MAX;
	return ms == 0 ? 0 : host_now() + (uint64_t)ms * 1000000u;
}

static int
wait_kernel(int epfd, struct epoll_event *out, int max, int ms,
	const struct timespec *ts, const sigset_t *mask)
{
	sigset_t buf;

	if (mask != NULL)
		mask = host_sigmask_filter(SIG_SETMASK, mask, &buf);
	if (ts != NULL)
		return REAL(epoll_pwait2)(epfd, out, max, ts, mask);
	if (mask != NULL)
		return REAL(epoll_pwait)(epfd, out, max, ms, mask);
	return REAL(epoll_wait)(epfd, out, max, ms);
}

static int
wait_any(int epfd, struct epoll_event *out, int max, int ms,
	const struct timespec *ts, const sigset_t *mask, uint64_t deadline)
{
	str_a32 *here = &kwait[(unsigned)epfd % KWAIT];
	bool had, late;
	int n, ret;

	for (;;) {
		had = has_streams(epfd, max);
		if (had && wait_streams(epfd, out, max, deadline, mask, &ret)) {
			exit_look();
			return ret;
		}
		(void)str_add(here, 1u);
		str_fence_full(); /* pairs with ctl_add() */
		late = !had && has_streams(epfd, max);
		n = late ? 0 : wait_kernel(epfd, out, max, ms, ts, mask);
		(void)str_sub(here, 1u);
		if (late)
			continue;
		ret = wait_strip(epfd, out, n);
		if (ret != 0 || n <= 0)
			return ret;
	}
}

STR_EXPORT int
epoll_wait(int epfd, struct epoll_event *out, int max, int ms)
{
	return epoll_pwait(epfd, out, max, ms, NULL);
}

STR_EXPORT int
epoll_pwait(int epfd, struct epoll_event *out, int max, int ms,
	const sigset_t *mask)
{
	pthread_testcancel();
	return wait_any(epfd, out, max, ms, NULL, mask,
		ms <= 0 || fd_possible() ? ms_deadline(ms) : 0);
}

STR_EXPORT int
epoll_pwait2(int epfd, struct epoll_event *out, int max,
	const struct timespec *ts, const sigset_t *mask)
{
	uint64_t deadline = ts == NULL ? UINT64_MAX : 0;

	pthread_testcancel();
	if (fd_possible() && poll_deadline(ts, &deadline) != 0)
		return wait_kernel(epfd, out, max, -1, ts, mask);
	return wait_any(epfd, out, max, -1, ts, mask, deadline);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * epoll(7) on Streams and other descriptors together.
 *
 * Objects.  `struct ep' is an epoll instance with Streams in it; the table of
 * descriptors leads to it.  `struct ep_item' is one registration of a
 * Stream.  In the kernel's instance stands the Stream's carrier, for input,
 * with a tag of ours as its data, that leads back to the item; whatever else
 * is in the instance is the kernel's alone and passes through untouched.
 *
 * Events.  What holds is read from the domain; the kernel only says when to
 * look.  A carrier becomes readable by a token, which comes once for each
 * arming.  Level-triggered items are looked at in every call, in turn, and
 * all of them, armed, before the thread sleeps.  Edge-triggered and one-shot
 * items are registered edge-triggered: a token is an edge, and they are armed
 * for the next one when this one is reported; for room to write when a call
 * on the Stream says EAGAIN.  `fresh' says that an item is to be looked at
 * without a token: it was added or changed, or an edge went by.
 *
 * Poking.  A process cannot put a token into its own carrier.  When there is
 * something to be seen and no token will come, the item is made ready in the
 * kernel by asking for room to write in the carrier, which there always is:
 * so that threads asleep here, and epoll instances that watch this one, look.
 *
 * Sleeping is a poll of the epoll descriptor and the bell (sleep.c).
 *
 * Ends of life.  A registration belongs to the open file description: it
 * stays while a duplicate of the descriptor is open in this process, and goes
 * with the last one.
 *
 * Locks.  Everything here is [F], under fd_lock().
 */
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "epollset.h"
#include "pollset.h"
#include "sys.h"

#define ITEM_CHUNK  512u
#define ITEM_CHUNKS 4096u
#define BATCH       64  /* events taken from the kernel at once */
#define GLANCE      64u /* items looked at when the call need not sleep */

#define ALWAYS (STR_POLLERR | STR_POLLHUP | STR_POLLNVAL)
#define FLAGS  ((uint32_t)EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)

struct ep_item {
	struct ep *ep; /* NULL: free */
	struct fd_rec *rec;
	struct ep_item *rec_next; /* of the same Stream */
	struct ep_item *free_next;
	epoll_data_t data; /* the caller's */
	uint32_t events;   /* the caller's, flags included */
	uint32_t index;    /* [I] its number */
	uint32_t gen;      /* uses of this memory */
	uint32_t place;    /* in ep->item[] */
	int fd;            /* as registered */
	uint32_t forks;    /* forks before it was added */
	bool fresh;
	bool poked; /* the kernel has been made to say so */
	bool spent; /* one shot, fired */
	bool lost;  /* its hang-up is none, and said once is enough */
};

struct ep {
	struct fd_obj obj;
	struct ep *free_next;
	struct ep_item **item;
	unsigned n; /* [F] to write, [A] */
	unsigned cap;
	unsigned turn; /* where the next glance begins */
	int fd;        /* a descriptor of it */
};

static struct ep_item *chunk[ITEM_CHUNKS];
static unsigned chunks;
static struct ep_item *item_free;
static struct ep *ep_unused;

/* ---------------------------------------------------------------- memory */

static void *
pages(size_t size)
{
	long p = sys_call6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static struct ep_item *
item_alloc(void)
{
	struct ep_item *it = item_free;

	if (it == NULL) {
		if (chunks == ITEM_CHUNKS)
			return NULL;
		it = pages(ITEM_CHUNK * sizeof *it);
		if (it == NULL)
			return NULL;
		chunk[chunks] = it;
		for (unsigned i = 0; i < ITEM_CHUNK; i++) {
			it[i].index = chunks * ITEM_CHUNK + i;
			it[i].free_next = item_free;
			item_free = &it[i];
		}
		chunks++;
		it = item_free;
	}
	item_free = it->free_next;
	it->gen++;
	return it;
}

static struct ep *
ep_alloc(int fd)
{
	struct ep *ep = ep_unused;

	if (ep == NULL) {
		ep = pages(4096);
		if (ep == NULL)
			return NULL;
		for (unsigned i = 0; i < 4096 / sizeof *ep; i++) {
			ep[i].free_next = ep_unused;
			ep_unused = &ep[i];
		}
		ep = ep_unused;
	}
	ep_unused = ep->free_next;
	memset(ep, 0, sizeof *ep);
	ep->obj.epoll = 1;
	ep->fd = fd;
	return ep;
}

static bool
ep_room(struct ep *ep)
{
	unsigned cap = ep->cap != 0 ? ep->cap * 2 : 512;
	struct ep_item **v;

	if (ep->n < ep->cap)
		return true;
	v = pages(cap * sizeof(struct ep_item *));
	if (v == NULL)
		return false;
	if (ep->n != 0) {
		memcpy(v, ep->item, ep->n * sizeof(struct ep_item *));
		(void)sys_call2(SYS_munmap, ep->item,
			ep->cap * sizeof(struct ep_item *));
	}
	ep->item = v;
	ep->cap = cap;
	return true;
}

/* ------------------------------------------------------------------ tags */

#define TAG_MAGIC 0x53a7u
#define TAG_NONE  ((uint64_t)TAG_MAGIC << 48 | 0xffffff) /* ours, no item's */

static uint64_t
tag_of(const struct ep_item *it)
{
	return (uint64_t)TAG_MAGIC << 48 |
	       (uint64_t)(it->gen & 0xffffff) << 24 | it->index;
}

/* The item @data names; NULL with *ret_ours when it is past. */
static struct ep_item *
item_of(const struct ep *ep, uint64_t data, bool *ret_ours)
{
	uint32_t index = (uint32_t)data & 0xffffff;
	struct ep_item *it;

	*ret_ours = data == TAG_NONE;
	if (data >> 48 != TAG_MAGIC || index >= chunks * ITEM_CHUNK)
		return NULL;
	it = &chunk[index / ITEM_CHUNK][index % ITEM_CHUNK];
	*ret_ours = it->gen != 0;
	return it->ep == ep && tag_of(it) == data ? it : NULL;
}

static bool
is_edge(const struct ep_item *it)
{
	return (it->events & ((uint32_t)EPOLLET | EPOLLONESHOT)) != 0;
}

static struct epoll_event
kernel_event(const struct ep_item *it)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP};

	if (it->poked)
		ev.events |= EPOLLOUT | (uint32_t)EPOLLET;
	if (is_edge(it) || it->lost)
		ev.events |= (uint32_t)EPOLLET;
	ev.data.u64 = tag_of(it);
	return ev;
}

/* ----------------------------------------------------------------- items */

static struct ep_item *
item_find(const struct ep *ep, const struct fd_rec *r, int fd)
{
	struct ep_item *it;

	for (it = r->items; it != NULL; it = it->rec_next)
		if (it->ep == ep && it->fd == fd)
			return it;
	return NULL;
}

static void
item_remove(struct ep_item *it)
{
	struct ep *ep = it->ep;
	struct ep_item **p;

	for (p = &it->rec->items; *p != NULL; p = &(*p)->rec_next)
		if (*p == it) {
			*p = it->rec_next;
			break;
		}
	if (is_edge(it))
		(void)str_sub(&it->rec->nitem, 1u);
	str_store(&ep->n, ep->n - 1);
	ep->item[it->place] = ep->item[ep->n];
	ep->item[it->place]->place = it->place;
	it->ep = NULL;
	it->free_next = item_free;
	item_free = it;
}

static void
item_set(struct ep_item *it, const struct epoll_event *ev)
{
	if (is_edge(it))
		(void)str_sub(&it->rec->nitem, 1u);
	it->events = ev->events;
	it->data = ev->data;
	it->fresh = true;
	it->poked = it->spent = it->lost = false;
	if (is_edge(it))
		(void)str_add(&it->rec->nitem, 1u);
}

static uint32_t
item_wants(const struct ep_item *it)
{
	return (it->events & ~FLAGS) | ALWAYS;
}

/* What holds of what is wanted. */
static uint32_t
item_events(const struct ep_item *it)
{
	return it->spent ? 0 : fd_events(it->rec, STR_POLLHUP) & item_wants(it);
}

/* Does the number still name the Stream it was registered for? */
static bool
same_stream(const struct ep_item *it)
{
	return fd_get(it->fd) == (uintptr_t)it->rec;
}

/* A descriptor of @ep: the one we know may have been closed. */
static int
ep_number(struct ep *ep)
{
	uintptr_t v = (uintptr_t)ep | 1;
	int high = fd_high();

	for (int fd = 0; fd_get(ep->fd) != v && fd <= high; fd++)
		if (fd_get(fd) == v)
			ep->fd = fd;
	return ep->fd;
}

static int
item_poke(struct ep_item *it, bool on)
{
	struct epoll_event kev;

	it->poked = on;
	kev = kernel_event(it);
	return -(int)sys_call4(
		SYS_epoll_ctl, ep_number(it->ep), EPOLL_CTL_MOD, it->fd, &kev);
}

/*
 * Ask for a token.  An edge-triggered item wants one for each arrival, but
 * not for room to write while there is room.
 */
static void
item_arm(struct ep_item *it, uint32_t hold, struct host_call *hc)
{
	uint32_t want = item_wants(it);

	if (it->spent)
		return;
	if (is_edge(it))
		want &= ~(hold & STR_POLL_WRITE);
	/* outside the domain it is the kernel that says when there is room */
	if ((want & STR_POLL_WRITE) != 0 && !it->poked && same_stream(it) &&
	    fd_outside_full(it->rec))
		(void)item_poke(it, true);
	fd_arm(it->rec, hc, same_stream(it) ? it->fd : -1, want);
}

void
ep_rec_gone(struct fd_rec *r)
{
	while (r->items != NULL) {
		struct ep_item *it = r->items;

		/* a child may go on with what both have */
		if (it->forks == fd_forks())
			(void)sys_call4(SYS_epoll_ctl, ep_number(it->ep),
				EPOLL_CTL_DEL, it->fd, NULL);
		item_remove(it);
	}
}

void
ep_free(struct ep *ep)
{
	while (ep->n != 0)
		item_remove(ep->item[ep->n - 1]);
	if (ep->cap != 0)
		(void)sys_call2(SYS_munmap, ep->item,
			ep->cap * sizeof(struct ep_item *));
	ep->cap = 0;
	ep->free_next = ep_unused;
	ep_unused = ep;
}

/*
 * A call on @r found nothing.  What came while no item was armed for it is no
 * edge to the kernel: see that it becomes one.
 */
void
ep_rearm(struct fd_rec *r, uint32_t events)
{
	struct ep_item *it;
	struct fd_guard g;
	uint32_t ev;

	fd_lock(&g);
	fd_arm(r, NULL, -1, events);
	host_fence_heavy(); /* pairs with the waker's light fence */
	ev = fd_events(r, 0) & events;
	if (fd_outside_full(r))
		ev |= events & STR_POLL_WRITE;
	for (it = r->items; it != NULL && ev != 0; it = it->rec_next)
		if (is_edge(it) && (item_wants(it) & ev) != 0) {
			it->fresh = true;
			if (same_stream(it))
				(void)item_poke(it, true);
		}
	fd_unlock(&g);
}

/* ------------------------------------------------------------- epoll_ctl */

static int
ctl_kernel(int epfd, int op, int fd, struct epoll_event *ev)
{
	return -(int)sys_call4(SYS_epoll_ctl, epfd, op, fd, ev);
}

/* The instance of @epfd, a new one if need be. */
static struct ep *
ep_of(int epfd)
{
	uintptr_t v = fd_get(epfd);
	struct ep *ep;

	if ((v & 1) != 0 && v != FD_NOT)
		return (struct ep *)(v - 1);
	ep = ep_alloc(epfd);
	if (ep == NULL)
		return NULL;
	ep->obj.count = 1;
	fd_put(epfd, (uintptr_t)ep | 1);
	if (fd_get(epfd) != ((uintptr_t)ep | 1)) {
		ep_free(ep);
		return NULL;
	}
	return ep;
}

static int
ctl_add(int epfd, struct fd_rec *r, int fd, const struct epoll_event *uev)
{
	struct ep_item *it;
	struct epoll_event kev;
	struct ep *ep;
	int err;

	/* is it one, and may it be added?  Then with the right tag; but a
	 * hang-up is told at once, to a thread that waits there already */
	kev = (struct epoll_event){.events = (uint32_t)EPOLLET,
		.data.u64 = TAG_NONE};
	err = ctl_kernel(epfd, EPOLL_CTL_ADD, fd, &kev);
	if (err != 0)
		return err;
	STR_CRASH_POINT("epoll:added");
	ep = ep_of(epfd);
	it = ep != NULL && ep_room(ep) ? item_alloc() : NULL;
	if (it == NULL) {
		(void)ctl_kernel(epfd, EPOLL_CTL_DEL, fd, &kev);
		return ENOMEM;
	}
	it->ep = ep;
	it->events = 0;
	it->rec = r;
	it->fd = fd;
	it->forks = fd_forks();
	item_set(it, uev);
	it->place = ep->n;
	ep->item[ep->n] = it;
	str_store(&ep->n, ep->n + 1);
	it->rec_next = r->items;
	r->items = it;
	return 0;
}

static int
ctl_mod(int epfd, struct fd_rec *r, int fd, const struct epoll_event *uev)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? item_find(ep, r, fd) : NULL;
	struct epoll_event kev = {.events = 0};

	if (it == NULL)
		return ctl_kernel(epfd, EPOLL_CTL_MOD, fd, &kev);
	if ((it->events | uev->events) & EPOLLEXCLUSIVE)
		return EINVAL;
	item_set(it, uev);
	return 0;
}

static int
ctl_del(int epfd, struct fd_rec *r, int fd)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? item_find(ep, r, fd) : NULL;
	struct epoll_event kev = {.events = 0};
	int err = ctl_kernel(epfd, EPOLL_CTL_DEL, fd, &kev);

	if (err == 0 && it != NULL)
		item_remove(it);
	return err;
}

/* Arm what was added or changed; if it holds, the kernel shall say so. */
static int
ctl_armed(int epfd, struct fd_rec *r, int fd)
{
	struct ep *ep = fd_epoll(epfd);
	struct ep_item *it = ep != NULL ? item_find(ep, r, fd) : NULL;

	if (it == NULL)
		return 0;
	item_arm(it, 0, NULL);
	host_fence_heavy(); /* pairs with the waker's light fence */
	return item_poke(it, item_events(it) != 0);
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
			op != EPOLL_CTL_DEL))
		return REAL(epoll_ctl)(epfd, op, fd, uev);
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
		err = ctl_armed(epfd, r, fd);
	fd_unlock(&g);
	return err != 0 ? fail(err) : 0;
}

/* ------------------------------------------------------------ epoll_wait */

struct wait {
	struct ep *ep;
	int epfd;
	struct host_call *hc;
	struct epoll_event *out; /* the caller's */
	int max, n;
	bool fault;
};

static void
wait_put(struct wait *w, uint32_t events, epoll_data_t data)
{
	struct epoll_event ev = {.events = events, .data = data};

	if (host_copyout(&ev, &w->out[w->n], sizeof ev) != 0)
		w->fault = true;
	else
		w->n++;
}

/* Report @it with @ev, which is not 0. */
static void
item_report(struct wait *w, struct ep_item *it, uint32_t ev)
{
	wait_put(w, ev, it->data);
	if (w->fault) {
		it->fresh = true;
		return;
	}
	it->fresh = false;
	if (it->events & EPOLLONESHOT)
		it->spent = true;
}

/* Has this call reported @it already? */
static bool
reported(const struct ep_item *it, struct ep_item *const *done, int ndone)
{
	for (int i = 0; i < ndone; i++)
		if (done[i] == it)
			return true;
	return false;
}

/* The token of @it's carrier is of no use any more. */
static void
token_out(struct ep_item *it, uint32_t wanted)
{
	struct fd_rec *r = it->rec;

	fd_drain(r, it->fd, r->items != it || it->rec_next != NULL
			? ~0u : STR_POLL_READ & ~wanted);
}

/*
 * The kernel says that there is something about @it.
 * Return: what to report, 0 for nothing.
 */
static uint32_t
item_heard(struct wait *w, struct ep_item *it, uint32_t kernel)
{
	bool here = same_stream(it);
	uint32_t ev;

	if ((kernel & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) && here) {
		fd_look(it->rec, w->hc, it->fd);
		if (!it->lost && fd_lost(it->rec)) {
			it->lost = true;
			(void)item_poke(it, false);
		}
	}
	if ((kernel & EPOLLOUT) && here && fd_outside_full(it->rec))
		fd_outside_room(it->rec, w->hc, it->fd);
	ev = item_events(it);
	if (is_edge(it) || ev == 0 || it->poked) {
		if (here && (kernel & EPOLLIN) && (is_edge(it) || ev == 0))
			token_out(it, item_wants(it));
		if (here && it->poked)
			(void)item_poke(it, false);
		item_arm(it, ev, w->hc);
		host_fence_heavy(); /* pairs with the waker's light fence */
		ev = item_events(it);
	}
	return ev;
}

/* Look at up to @most items, at all that need no token to be reported. */
static void
glance(struct wait *w, unsigned most, struct ep_item *const *done, int ndone)
{
	struct ep *ep = w->ep;
	unsigned n = STR_MIN(most, ep->n);

	for (unsigned i = 0; i < n && w->n < w->max && !w->fault; i++) {
		struct ep_item *it = ep->item[ep->turn++ % ep->n];
		uint32_t ev;

		if ((is_edge(it) && !it->fresh) || reported(it, done, ndone))
			continue;
		ev = item_events(it);
		if (ev != 0)
			item_report(w, it, ev);
	}
}

/* Take what is there, without waiting.  Return: minus an errno, or 0. */
static int
wait_take(struct wait *w)
{
	struct epoll_event kev[BATCH];
	struct ep_item *done[BATCH];
	int n, ndone = 0;
	struct fd_guard g;
	bool ours, past = false;

	n = (int)sys_call6(SYS_epoll_pwait, w->epfd, kev,
		STR_MIN(w->max, BATCH), 0, NULL, SYS_SIGSET);
	if (n < 0)
		return n;
	fd_lock(&g);
	for (int i = 0; i < n && !w->fault; i++) {
		struct ep_item *it = item_of(w->ep, kev[i].data.u64, &ours);
		uint32_t ev;

		if (it == NULL) {
			if (ours)
				past = true;
			else
				wait_put(w, kev[i].events, kev[i].data);
			continue;
		}
		ev = item_heard(w, it, kev[i].events);
		if (ev != 0) {
			item_report(w, it, ev);
			done[ndone++] = it;
		}
	}
	if (w->n < w->max)
		glance(w, w->n != 0 ? GLANCE : UINT_MAX, done, ndone);
	fd_unlock(&g);
	if (past && w->n == 0)
		host_yield(); /* registered by another process */
	return w->fault && w->n == 0 ? -EFAULT : 0;
}

static void
arm_locked(struct ep *ep, struct host_call *hc)
{
	for (unsigned i = 0; i < ep->n; i++)
		item_arm(ep->item[i],
			is_edge(ep->item[i])
				? fd_events(ep->item[i]->rec, 0)
				: 0,
			hc);
}

/* Arm, look, sleep.  Return: 0, or minus an errno; *ret_over at the end. */
static int
wait_sleep(
	struct wait *w, uint64_t deadline, const sigset_t *mask, bool *ret_over)
{
	struct pollfd pfd[1 + SLEEP_ROOM] = {{w->epfd, POLLIN, 0}};
	struct sleep_set set = {pfd, 1, deadline, mask};
	struct fd_guard g;
	bool rung;
	int n = 0;

	*ret_over = false;
	sleep_begin();
	fd_lock(&g);
	arm_locked(w->ep, w->hc);
	host_fence_heavy(); /* pairs with the waker's light fence */
	glance(w, UINT_MAX, NULL, 0);
	fd_unlock(&g);
	if (w->n == 0 && !w->fault) {
		n = sleep_poll(w->hc, &set, &rung);
		if (n == 0 && !rung)
			*ret_over = true;
	}
	sleep_end();
	if (w->fault && w->n == 0)
		return -EFAULT;
	return n < 0 ? n : 0;
}

static int
wait_loop(struct wait *w, uint64_t deadline, const sigset_t *mask)
{
	bool over = deadline == 0;
	int err;

	for (;;) {
		if (str_unlikely(host_sock_watching()))
			(void)str_sock_gather();
		err = wait_take(w);
		if (err != 0 || w->n != 0 || over)
			return err != 0 ? err : w->n;
		err = wait_sleep(w, deadline, mask, &over);
		if (err != 0 || w->n != 0)
			return err != 0 ? err : w->n;
	}
}

/* Is it for us?  Then *ret is the call's value, as errno has it. */
static bool
wait_streams(int epfd, struct epoll_event *out, int max, uint64_t deadline,
	const sigset_t *mask, int *ret)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	struct epoll_event probe;
	struct wait w = {.epfd = epfd, .hc = &hc, .out = out, .max = max};
	sigset_t filtered;

	w.ep = fd_epoll(epfd);
	if (w.ep == NULL || str_load(&w.ep->n) == 0 || max <= 0 ||
		max > INT_MAX / (int)sizeof *out)
		return false;
	if (mask != NULL) {
		if (host_copyin(mask, &probe, 8) != 0)
			return false; /* the kernel has the error */
		mask = host_sigmask_filter(SIG_SETMASK, mask, &filtered);
	}
	*ret = -host_enter(&hc);
	if (*ret == 0) {
		/* nothing is taken for a caller that cannot have it */
		if (host_copyin(out, &probe, sizeof probe) != 0)
			*ret = -EFAULT;
		else
			*ret = wait_loop(&w, deadline, mask);
		host_leave();
	}
	*ret = (int)call_value(*ret);
	return true;
}

/*
 * A thread that fell asleep in the kernel when there was no Stream in @epfd
 * may come back with our tags.  Return: events left for the caller.
 */
static int
wait_strip(int epfd, struct epoll_event *out, int n)
{
	struct ep *ep = n > 0 ? fd_epoll(epfd) : NULL;
	int kept = 0;
	struct fd_guard g;
	bool ours;

	if (ep == NULL) {
		/* the first Stream is just being added, perhaps */
		for (int i = 0; i < n; i++)
			if (out[i].data.u64 != TAG_NONE)
				out[kept++] = out[i];
		return n > 0 ? kept : n;
	}
	fd_lock(&g);
	for (int i = 0; i < n; i++) {
		struct ep_item *it = item_of(ep, out[i].data.u64, &ours);

		if (it != NULL) {
			it->fresh = true;
			if (it->poked && same_stream(it))
				(void)item_poke(it, false);
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
	int n, ret;

	for (;;) {
		if (wait_streams(epfd, out, max, deadline, mask, &ret)) {
			exit_look();
			return ret;
		}
		n = wait_kernel(epfd, out, max, ms, ts, mask);
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
		fd_possible() ? ms_deadline(ms) : 0);
}

STR_EXPORT int
epoll_pwait2(int epfd, struct epoll_event *out, int max,
	const struct timespec *ts, const sigset_t *mask)
{
	uint64_t deadline = 0;

	pthread_testcancel();
	if (fd_possible() && poll_deadline(ts, &deadline) != 0)
		return wait_kernel(epfd, out, max, -1, ts, mask);
	return wait_any(epfd, out, max, -1, ts, mask, deadline);
}

/* -------------------------------------------- an epoll that is polled */

bool
ep_ready(struct ep *ep)
{
	struct fd_guard g;
	bool yes = false;

	fd_lock(&g);
	for (unsigned i = 0; i < ep->n && !yes; i++) {
		struct ep_item *it = ep->item[i];

		yes = (!is_edge(it) || it->fresh) && item_events(it) != 0;
	}
	fd_unlock(&g);
	return yes;
}

void
ep_arm(struct ep *ep, struct host_call *hc)
{
	struct fd_guard g;

	fd_lock(&g);
	arm_locked(ep, hc);
	fd_unlock(&g);
}

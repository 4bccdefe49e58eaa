/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Epoll instances and their items: memory, tags, the list of items to be
 * checked, and the way in which each item waits.  epoll.c has the theory.
 *
 * An item has a slot of its Stream's head, so that wakers set its bit in the
 * instance's watcher; or it waits by tokens, and is in slow[].  It waits by
 * tokens if the Stream's events may come through the carrier (data of a program
 * outside the domain), if the head has no free slot, or if the instance itself
 * is waited for in the kernel, where no waker of ours can report anything.
 *
 * A driver's socket is watched by this process, or by streamsd if the driver
 * says so (str_sock_near): what it receives reaches the head, whose wakers set
 * the bits.
 *
 * A watcher belongs to a process.  A forked child, which has a copy of the
 * instance, takes a watcher and slots of its own when it uses the instance
 * (ep_own), and checks all items once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "epitem.h"
#include "sys.h"

#define ITEM_CHUNK  512u
#define ITEM_CHUNKS 4096u

struct ep_item *ep_chunk[ITEM_CHUNKS] STR_LARGE;
static unsigned chunks;
static struct ep_item *item_free;
struct ep *ep_unused;

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
		ep_chunk[chunks] = it;
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

/* May other descriptors than one Stream be in the kernel's instance? */
static bool
is_mixed(int epfd)
{
	char path[40], text[2048];
	const char *p = text;
	unsigned n = 0;
	long fd, len;

	(void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epfd);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return true;
	len = sys_read((int)fd, text, sizeof text - 1);
	(void)sys_close((int)fd);
	if (len <= 0)
		return true;
	text[len] = '\0';
	while ((p = strstr(p, "tfd:")) != NULL) {
		p++;
		n++;
	}
	return n != 1;
}

/* @fd: its descriptor, or -1: a set of poll(2).  NULL: no memory. */
struct ep *
ep_make(int fd)
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
	ep->pend.next = ep->pend.prev = &ep->pend;
	ep->unsure.next = ep->unsure.prev = &ep->unsure;
	ep->mixed = fd >= 0 && is_mixed(fd);
	return ep;
}

void
ep_arrays_free(struct ep *ep)
{
	if (ep->cap != 0)
		(void)sys_call2(SYS_munmap, ep->item,
			2 * ep->cap * sizeof(struct ep_item *));
	ep->cap = 0;
}

static bool
ep_room(struct ep *ep)
{
	unsigned cap = ep->cap != 0 ? ep->cap * 2 : 512;
	struct ep_item **v;

	if (str_load(&ep->n) < ep->cap)
		return true;
	v = pages(2 * cap * sizeof(struct ep_item *));
	if (v == NULL)
		return false;
	if (ep->cap != 0) {
		memcpy(v, ep->item, ep->cap * sizeof(struct ep_item *));
		memcpy(v + cap, ep->slow,
			str_load(&ep->nslow) * sizeof(struct ep_item *));
	}
	ep_arrays_free(ep);
	ep->item = v;
	ep->slow = v + cap;
	ep->cap = cap;
	return true;
}

/* The instance of @epfd; made if necessary. */
struct ep *
ep_of(int epfd)
{
	uintptr_t v = fd_get(epfd);
	struct ep *ep;

	if ((v & 1) != 0 && v != FD_NOT)
		return (struct ep *)(v - 1);
	ep = ep_make(epfd);
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

/* ------------------------------------------------------------------ tags */

static uint64_t
tag_of(const struct ep_item *it)
{
	return (uint64_t)EP_TAG_MAGIC << 48 |
	       (uint64_t)(it->gen & 0xffffff) << 24 | it->index;
}

/* The item of the tag @data; NULL with *ret_ours: it has ended. */
struct ep_item *
ep_item_of(const struct ep *ep, uint64_t data, bool *ret_ours)
{
	uint32_t index = (uint32_t)data & 0xffffff;
	struct ep_item *it;

	*ret_ours = data == EP_TAG_NONE;
	if (data >> 48 != EP_TAG_MAGIC || index >= chunks * ITEM_CHUNK)
		return NULL;
	it = &ep_chunk[index / ITEM_CHUNK][index % ITEM_CHUNK];
	*ret_ours = it->gen != 0;
	return it->ep == ep && tag_of(it) == data ? it : NULL;
}

struct epoll_event
ep_kernel_event(const struct ep_item *it)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP};

	if (it->poked)
		ev.events |= EPOLLOUT | (uint32_t)EPOLLET;
	if (ep_is_fast(it) || ep_is_edge(it) || it->lost)
		ev.events |= (uint32_t)EPOLLET;
	ev.data.u64 = tag_of(it);
	return ev;
}

/* ----------------------------------------------------------------- lists */

static void
unlink_item(struct ep_item *it)
{
	it->link.next->prev = it->link.prev;
	it->link.prev->next = it->link.next;
	it->link.next = it->link.prev = &it->link;
	it->doubtful = false;
}

/* To be checked, after those that are to be checked already. */
void
ep_queue(struct ep_item *it)
{
	struct ep_link *l = &it->ep->pend;

	if (!it->queued)
		str_store(&it->ep->npend, str_load(&it->ep->npend) + 1);
	unlink_item(it);
	it->queued = true;
	it->link.next = l;
	it->link.prev = l->prev;
	l->prev->next = &it->link;
	l->prev = &it->link;
}

void
ep_unqueue(struct ep_item *it)
{
	if (it->queued)
		str_store(&it->ep->npend, str_load(&it->ep->npend) - 1);
	it->queued = false;
	unlink_item(it);
}

/* Edges @why of @it are to be reported: wake a thread that sleeps here. */
void
ep_post(struct ep_item *it, uint32_t why)
{
	it->why |= (uint8_t)why;
	(void)str_watch_post(it->ep->watch, it->number,
		why & STR_WATCH_WRITE ? STR_WATCH_WRITE : STR_WATCH_READ);
}

/* ----------------------------------------------------------------- items */

struct ep_item *
ep_item_find(const struct ep *ep, const struct fd_rec *r, int fd)
{
	struct ep_item *it;

	for (it = r->items; it != NULL; it = it->rec_next)
		if (it->ep == ep && it->fd == fd)
			return it;
	return NULL;
}

/* What calls on the Stream must note when they find nothing: fd_again(). */
static void
item_count(const struct ep_item *it, uint32_t by)
{
	if (!ep_is_fast(it) && ep_is_edge(it))
		(void)str_add(&it->rec->nitem, by);
	if (ep_is_fast(it) && (it->events & (uint32_t)EPOLLET) != 0 &&
		(it->events & STR_POLL_WRITE) != 0)
		(void)str_add(&it->rec->nroom, by);
}

/* Has @ep a watcher of this process? */
bool
ep_has_watch(const struct ep *ep)
{
	return ep->watch != NULL && host_self() != NULL &&
	       str_watch_mine(ep->watch);
}

/* Get a slot of the Stream's head.  False: it waits by tokens. */
static bool
item_join(struct ep_item *it)
{
	struct ep *ep = it->ep;
	struct str_head *sd;
	uint64_t was;
	bool yes = false;

	if (ep->tokens || !ep_has_watch(ep) || it->number >= STR_WATCH_ITEMS)
		return false;
	sd = fd_inside(it->rec, &was);
	if (sd != NULL && !str_watch_unfit(sd))
		yes = str_watch_join(ep->watch, sd, it->number,
			(it->events & EPOLLEXCLUSIVE) != 0, &it->slot);
	fd_outside(was);
	if (!yes)
		it->slot = EP_NO_SLOT;
	it->ways = 0;
	return yes;
}

static void
slow_enter(struct ep_item *it)
{
	struct ep *ep = it->ep;

	it->slot = EP_NO_SLOT;
	it->place = str_load(&ep->nslow);
	ep->slow[it->place] = it;
	str_store(&ep->nslow, it->place + 1);
}

static void
slow_leave(struct ep_item *it)
{
	struct ep *ep = it->ep;
	uint32_t last = str_load(&ep->nslow) - 1;

	ep->slow[it->place] = ep->slow[last];
	ep->slow[it->place]->place = it->place;
	str_store(&ep->nslow, last);
}

static void
slot_leave(struct ep_item *it)
{
	struct ep *ep = it->ep;

	ep_unqueue(it);
	/* a forked child's copy has the parent's slot */
	if (ep_is_fast(it) && ep_has_watch(ep))
		str_watch_leave(ep->watch, str_load(&it->rec->sd), it->slot,
			it->number);
}

/* @it has just entered ep->item[], or lost its slot: give it a slot of its
 * stream, or enter it in the list of items without one. */
static void
item_place(struct ep_item *it)
{
	if (!item_join(it))
		slow_enter(it);
	item_count(it, 1u);
}

/* A free number; there is one. */
static uint32_t
number(struct ep *ep)
{
	while (ep->item[ep->low] != NULL)
		ep->low++;
	return ep->low;
}

/* A registration, not known to the kernel yet; NULL: no memory. */
struct ep_item *
ep_item_new(struct ep *ep, struct fd_rec *r, int fd,
	const struct epoll_event *ev)
{
	struct ep_item *it = ep_room(ep) ? item_alloc() : NULL;

	if (it == NULL)
		return NULL;
	it->ep = ep;
	it->rec = r;
	it->fd = fd;
	it->forks = fd_forks();
	it->number = number(ep);
	it->events = ev->events;
	it->queued = it->doubtful = false;
	it->link.next = it->link.prev = &it->link;
	it->round = str_load(&ep->round) - 1;
	ep->item[it->number] = it;
	str_store(&ep->n, str_load(&ep->n) + 1);
	it->rec_next = r->items;
	r->items = it;
	item_place(it);
	ep_item_set(it, ev);
	return it;
}

void
ep_item_remove(struct ep_item *it)
{
	struct ep *ep = it->ep;
	struct ep_item **p;

	for (p = &it->rec->items; *p != NULL; p = &(*p)->rec_next)
		if (*p == it) {
			*p = it->rec_next;
			break;
		}
	item_count(it, ~0u);
	slot_leave(it);
	if (!ep_is_fast(it))
		slow_leave(it);
	ep->item[it->number] = NULL;
	ep->low = STR_MIN(ep->low, it->number);
	str_store(&ep->n, str_load(&ep->n) - 1);
	it->ep = NULL;
	it->free_next = item_free;
	item_free = it;
}

void
ep_item_set(struct ep_item *it, const struct epoll_event *ev)
{
	item_count(it, ~0u);
	it->events = ev->events;
	it->data = ev->data;
	it->fresh = true;
	it->poked = it->spent = it->lost = false;
	it->idle = 0;
	it->why = STR_WATCH_WAYS;
	item_count(it, 1u);
}

/* The wanted events that are present. */
uint32_t
ep_item_events(const struct ep_item *it)
{
	uint32_t wants = ep_wants(it);

	return it->spent ? 0 :
		fd_events_for(it->rec, STR_POLLHUP, wants) & wants;
}

/* Does the number still refer to the registered Stream? */
bool
ep_item_here(const struct ep_item *it)
{
	return fd_get(it->fd) == (uintptr_t)it->rec;
}

/* A descriptor of @ep: the recorded one may have been closed. */
int
ep_number(struct ep *ep)
{
	uintptr_t v = (uintptr_t)ep | 1;
	int high = fd_high();

	for (int fd = 0; fd_get(ep->fd) != v && fd <= high; fd++)
		if (fd_get(fd) == v)
			ep->fd = fd;
	return ep->fd;
}

/* Tell the kernel how @it waits; @on: and that it is to be reported. */
int
ep_item_poke(struct ep_item *it, bool on)
{
	struct epoll_event kev;

	it->poked = on;
	if (it->ep->fd < 0)
		return 0;
	kev = ep_kernel_event(it);
	return -(int)sys_call4(
		SYS_epoll_ctl, ep_number(it->ep), EPOLL_CTL_MOD, it->fd, &kev);
}

/*
 * Request a token.  An edge-triggered item needs one for each arrival, but not
 * for room to write while there is room.
 */
void
ep_item_arm(struct ep_item *it, uint32_t hold, struct host_call *hc)
{
	uint32_t want = ep_wants(it);

	if (it->spent)
		return;
	if (ep_is_edge(it))
		want &= ~(hold & STR_POLL_WRITE);
	/* if the reader is outside the domain, the kernel reports room */
	if ((want & STR_POLL_WRITE) != 0 && !it->poked && ep_item_here(it) &&
	    fd_outside_full(it->rec))
		(void)ep_item_poke(it, true);
	fd_arm(it->rec, hc, ep_item_here(it) ? it->fd : -1, want);
}

/* ------------------------------------------------- the way an item waits */

/* @it waits by tokens from now on; the next wait arms and checks it. */
void
ep_item_slow(struct ep_item *it)
{
	if (!ep_is_fast(it))
		return;
	item_count(it, ~0u);
	slot_leave(it);
	slow_enter(it);
	item_count(it, 1u);
	/* threads that wait in the kernel must get a token */
	ep_item_arm(it, 0, NULL);
	host_fence_heavy(); /* pairs with the waker's light fence */
	it->fresh = true;
	if (ep_item_here(it))
		(void)ep_item_poke(it, ep_item_events(it) != 0);
}

/* @it, which waits by tokens, gets a slot if that is possible. */
static void
item_fast(struct ep_item *it)
{
	item_count(it, ~0u);
	slow_leave(it);
	item_place(it);
	if (!ep_is_fast(it))
		return;
	if (ep_item_here(it))
		(void)ep_item_poke(it, false);
	ep_post(it, STR_WATCH_WAYS);
}

/* From now on all items wait by tokens, or by slots where that is possible. */
void
ep_tokens(struct ep *ep, bool on)
{
	str_store(&ep->tokens, on);
	if (!on)
		ep_own(ep);
	for (unsigned i = 0; i < ep->cap; i++) {
		struct ep_item *it = ep->item[i];

		if (it != NULL && on)
			ep_item_slow(it);
		else if (it != NULL && !ep_is_fast(it))
			item_fast(it);
	}
}

/*
 * Before @ep is used: it needs a watcher of this process.  What the forked
 * child's copy has is the parent's.
 */
void
ep_own(struct ep *ep)
{
	if (ep->tokens || host_self() == NULL || ep_has_watch(ep))
		return;
	str_store(&ep->watch, str_watch_make());
	for (unsigned i = 0; i < ep->cap; i++) {
		struct ep_item *it = ep->item[i];

		if (it == NULL || !ep_is_fast(it))
			continue;
		item_count(it, ~0u);
		ep_unqueue(it);
		item_place(it);
		it->fresh = true;
		if (ep_is_fast(it))
			ep_post(it, STR_WATCH_WAYS);
		else if (ep_item_here(it))
			(void)ep_item_poke(it, false);
	}
}

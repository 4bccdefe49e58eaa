/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sets of poll(2) that are kept between calls.
 *
 * A server that polls a thousand Streams polls the same thousand in the next
 * call.  Such a set is kept, with a list of those that are ready, as an epoll
 * instance has one (epready.c), but without a descriptor: a call compares what
 * the caller passes with the kept set, and then checks only the Streams that
 * wakers have reported, and those that were ready before.
 *
 * A set is kept when it is polled for the second time in succession.  It is
 * forgotten when another one needs its place, and rebuilt when one of its
 * numbers refers to another file.  Only one thread uses it at a time.  Sets
 * with an epoll instance in them, or with a Stream that waits by tokens, are
 * not kept.
 *
 * Other descriptors are polled in every call; with them a thread sleeps in the
 * kernel only.
 *
 * Locks. `busy' is taken by one compare-and-swap.
 */
#include <string.h>
#include <sys/mman.h>

#include "epitem.h"
#include "sys.h"

#define KEPT 8u

struct kept {
	str_a32 busy;  /* [A] a thread uses it, and owns the following */
	unsigned n;    /* 0: none is kept */
	unsigned nstream;
	struct poll_set s;
	struct pollfd *in;       /* what the caller passes */
	struct epoll_event *out; /* what is ready: the place in the set */
	struct pollfd *other;    /* other descriptors, nother of them */
	unsigned *at;            /* their places in the set */
	unsigned nother;
	void *block;
	size_t size;
	struct ep *ep;
	uint64_t used; /* host_ticks() of the last call */
};

struct kept poll_sets[KEPT] STR_LARGE;
static str_a64 last; /* [A] a hash of the last set that was not kept */

static bool
grab(struct kept *k)
{
	return str_load(&k->busy) == 0 && str_cas(&k->busy, 0u, 1u);
}

static void
release(struct kept *k)
{
	str_store_rel(&k->busy, 0u);
}

static void
forget(struct kept *k)
{
	struct fd_guard g;

	if (k->ep != NULL) {
		fd_lock(&g);
		ep_free(k->ep);
		fd_unlock(&g);
	}
	if (k->block != NULL)
		(void)sys_call2(SYS_munmap, k->block, k->size);
	poll_set_free(&k->s);
	k->ep = NULL;
	k->block = NULL;
	k->n = 0;
}

/* ------------------------------------------------------------ which set? */

static bool
is_same(const struct pollfd *a, const struct pollfd *b, unsigned n)
{
	unsigned diff = 0;

	for (unsigned i = 0; i < n; i++)
		diff |= (unsigned)(a[i].fd ^ b[i].fd) |
			(unsigned)(a[i].events ^ b[i].events);
	return diff == 0;
}

/* Do the numbers refer to the same files still? */
static bool
is_valid(const struct kept *k)
{
	uintptr_t diff = 0;

	for (unsigned i = 0; i < k->n; i++) {
		int fd = k->s.u[i].fd;
		uintptr_t v = fd < 0 ? FD_NOT : (unsigned)fd < FD_LOW ?
			str_load_acq(&fd_low[fd]) : fd_get(fd);

		diff |= v ^ k->s.word[i];
	}
	return diff == 0 && str_load(&k->ep->n) == k->nstream;
}

static struct kept *
find(const struct pollfd *ufds, size_t n)
{
	for (unsigned i = 0; i < KEPT; i++) {
		struct kept *k = &poll_sets[i];

		if (str_load(&k->n) != n || !grab(k))
			continue;
		if (k->n == n &&
			host_copyin(ufds, k->in, n * sizeof *ufds) == 0 &&
			is_same(k->in, k->s.u, k->n)) {
			if (is_valid(k))
				return k;
			forget(k);
		}
		release(k);
	}
	return NULL;
}

static uint64_t
hash(const struct poll_set *s)
{
	uint64_t h = s->n;

	for (unsigned i = 0; i < s->n; i++)
		h = (h ^ ((uint64_t)(uint32_t)s->u[i].fd << 16 |
			(uint16_t)s->u[i].events)) * 0x9e3779b97f4a7c15ull;
	return h | 1;
}

/* ------------------------------------------------------------ a new one */

/* Room for the arrays of @k, which has a copy of the set. */
static bool
room(struct kept *k, unsigned n)
{
	char *p;
	long r;

	k->size = n * (2 * sizeof *k->in + sizeof *k->out + sizeof *k->at);
	r = sys_call6(SYS_mmap, NULL, k->size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096)
		return false;
	p = (char *)r;
	k->block = p;
	k->in = (struct pollfd *)(void *)p;
	k->other = k->in + n;
	k->out = (struct epoll_event *)(void *)(k->other + n);
	k->at = (unsigned *)(void *)(k->out + n);
	return true;
}

/* Register the Streams.  False: one has to wait by tokens. */
static bool
fill(struct kept *k)
{
	struct poll_set *s = &k->s;
	bool ok = true;

	ep_own(k->ep);
	for (unsigned i = 0; i < s->n && ok; i++) {
		struct epoll_event ev = {
			.events = (uint32_t)(uint16_t)s->u[i].events,
			.data.u32 = i,
		};
		struct ep_item *it;

		if ((s->word[i] & 1) != 0) {
			if (s->word[i] != FD_NOT)
				return false;
			if (s->u[i].fd < 0)
				continue;
			k->other[k->nother] = s->u[i];
			k->at[k->nother++] = i;
			continue;
		}
		it = ep_item_new(k->ep, (struct fd_rec *)s->word[i],
			s->u[i].fd, &ev);
		ok = it != NULL && ep_is_fast(it);
		if (ok)
			ep_queue(it);
		k->nstream++;
	}
	k->ep->mixed = k->nother != 0;
	return ok && k->nstream >= POLL_KEEP;
}

static void
build(struct kept *k, const struct poll_set *s)
{
	struct fd_guard g;
	bool ok;

	forget(k);
	k->nother = k->nstream = 0;
	if (!room(k, s->n) || poll_set_alloc(&k->s, s->n) != 0) {
		forget(k);
		return;
	}
	memcpy(k->s.u, s->u, s->n * sizeof *s->u);
	memcpy(k->s.word, s->word, s->n * sizeof *s->word);
	k->s.nstream = s->nstream;
	fd_lock(&g);
	k->ep = ep_make(-1);
	ok = k->ep != NULL && fill(k);
	fd_unlock(&g);
	if (!ok) {
		forget(k);
		return;
	}
	k->used = host_ticks();
	str_store(&k->n, s->n);
}

void
poll_keep(const struct poll_set *s)
{
	struct kept *k = NULL;
	uint64_t h = hash(s);

	if (str_xchg(&last, h) != h)
		return;
	for (unsigned i = 0; i < KEPT; i++)
		if (str_load(&poll_sets[i].busy) == 0 &&
			(k == NULL || str_load(&poll_sets[i].n) == 0 ||
				(k->n != 0 && poll_sets[i].used < k->used)))
			k = &poll_sets[i];
	if (k == NULL || !grab(k))
		return;
	build(k, s);
	/* a set that cannot be kept is not tried in every call */
	if (k->n == 0)
		str_store(&last, 0ull);
	release(k);
}

/* ---------------------------------------------------------------- a call */

/* The other descriptors that are ready now; or minus an errno. */
static int
others(struct kept *k)
{
	struct timespec none = {0, 0};
	long r;

	if (k->nother == 0)
		return 0;
	r = sys_call5(SYS_ppoll, k->other, k->nother, &none, NULL, SYS_SIGSET);
	for (unsigned i = 0; r > 0 && i < k->nother; i++)
		k->s.u[k->at[i]].revents = k->other[i].revents;
	return (int)r;
}

/*
 * Enter what @w reports into the set; and what other descriptors have, if there
 * is anything.  Return: how many have events.
 */
static int
enter(struct kept *k, struct ep_wait *w)
{
	int n = 0, more;

	for (int i = 0; i < w->n; i++) {
		unsigned at = k->out[i].data.u32;
		uint32_t ev = poll_set_events(&k->s, at);

		k->s.u[at].revents = (short)ev;
		n += ev != 0;
	}
	w->n = 0;
	w->round = str_add(&k->ep->round, 1u) + 1;
	more = n != 0 ? others(k) : 0;
	return n + STR_MAX(more, 0);
}

/* Consult the kernel as well, and wait there until @deadline; 0: do not. */
static int
kernel(struct kept *k, struct host_call *hc, uint64_t deadline, bool *ret_rung)
{
	struct sleep_set set = {k->s.k, k->s.n, deadline, NULL};
	struct timespec none = {0, 0};
	int n;

	str_store(&k->ep->looked, host_ticks());
	poll_set_kernel(&k->s);
	if (deadline == 0)
		n = (int)sys_call5(SYS_ppoll, k->s.k, k->s.n, &none, NULL,
			SYS_SIGSET);
	else
		n = sleep_poll(hc, &set, ret_rung);
	return n < 0 ? n : poll_set_heard(&k->s, hc);
}

/* Sleep in the kernel.  Return: what is ready, or minus an errno. */
static int
sleep_far(struct kept *k, struct ep_wait *w, uint64_t deadline)
{
	struct str_watch *watch = str_load(&k->ep->watch);
	bool rung;
	int n;

	sleep_begin();
	if (watch != NULL)
		str_watch_bell_on(watch);
	ep_arm_all(w);
	n = enter(k, w);
	if (n == 0 && str_load(&k->ep->npend) == 0 &&
		(watch == NULL || str_load(&watch->some) == 0))
		n = kernel(k, w->hc, deadline, &rung);
	if (watch != NULL)
		str_watch_bell_off(watch);
	sleep_end();
	return n;
}

static int
kept_wait(struct kept *k, struct host_call *hc, uint64_t deadline)
{
	struct ep_wait w = {.ep = k->ep, .epfd = -1, .hc = hc, .out = k->out,
		.max = (int)k->n};
	bool over = deadline == 0, rung;
	int n;

	(void)enter(k, &w);
	for (;;) {
		if (str_unlikely(host_sock_watching()))
			(void)str_sock_gather();
		ep_take(&w, EP_TAKE);
		n = enter(k, &w);
		if (n == 0)
			n = others(k);
		if (n != 0)
			return n;
		if (over || host_ticks() - str_load(&k->ep->looked) >
				EP_NEAR_NS / 1000000u * host_ticks_per_ms)
			n = kernel(k, hc, 0, &rung);
		if (n != 0 || over)
			return n;
		ep_spin(&w);
		if (w.n == 0)
			n = ep_sleep_near(&w, deadline, NULL);
		if (w.n != 0)
			n = enter(k, &w);
		if (n == -EAGAIN)
			n = sleep_far(k, &w, deadline);
		else if (n == -ETIMEDOUT)
			n = deadline == UINT64_MAX || host_now() < deadline ?
				sleep_far(k, &w, deadline) : 0;
		if (n != 0)
			return n;
		over = deadline != UINT64_MAX && host_now() >= deadline;
	}
}

static void
cancelled(void *k)
{
	release(k);
}

static int
kept_call(struct kept *k, uint64_t deadline)
{
	struct host_call hc = {.fd = -1, .flags = HOST_CALL_CANCEL};
	int ret = -host_enter(&hc);

	if (ret != 0)
		return ret;
	pthread_cleanup_push(cancelled, k);
	ret = kept_wait(k, &hc, deadline);
	pthread_cleanup_pop(0);
	host_leave();
	return ret;
}

bool
poll_kept(struct pollfd *ufds, size_t n, uint64_t deadline, int *ret)
{
	struct kept *k = find(ufds, n);

	if (k == NULL)
		return false;
	for (unsigned i = 0; i < k->n; i++)
		k->s.u[i].revents = 0;
	*ret = kept_call(k, deadline);
	exit_look();
	if (*ret >= 0 && host_copyout(k->s.u, ufds, n * sizeof *ufds) != 0)
		*ret = -EFAULT;
	k->used = host_ticks();
	release(k);
	*ret = (int)call_value(*ret);
	return true;
}

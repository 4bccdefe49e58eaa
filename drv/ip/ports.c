/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Tables of ports: <str/ports.h>. */
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/ddi.h>
#include <str/driver.h>
#include <str/ports.h>

/* ------------------------------------------------------------------ finding */

/* How well @e matches; 0: not at all. */
static uint32_t
score(const struct ports_entry *e, const struct ports_at *dst,
	const struct ports_at *src)
{
	uint32_t n = 1;

	if (e->at.a.len != 0) {
		if (!ports_same(&e->at.a, &dst->a))
			return 0;
		n += 4;
	} else if (dst->a.len == 16 ? !e->six : e->six && e->v6only) {
		return 0;
	}
	if (e->peer.port != 0) {
		if (e->peer.port != src->port ||
			!ports_same(&e->peer.a, &src->a))
			return 0;
		n += 8;
	}
	return n + (dst->a.len == 4 && !e->six);
}

struct ports_entry *
ports_find(struct ports *t, const struct ports_at *dst,
	const struct ports_at *src, uint32_t *ret_gen)
{
	struct ports_entry *e, *best = NULL;
	uint32_t most = 0, gen, n;

	e = str_load_acq(&t->chain[ports_hash(dst->port)]);
	for (; e != NULL; e = e->next) {
		gen = ports_gen(e);
		if ((gen & 1) == 0 || e->at.port != dst->port)
			continue;
		n = score(e, dst, src);
		if (n == 0 || n < most || (n == most &&
			(int32_t)(e->seq - best->seq) < 0))
			continue;
		if (ports_gen(e) != gen)
			continue; /* it has changed since it was read */
		most = n;
		best = e;
		*ret_gen = gen;
	}
	return best;
}

struct ports_entry *
ports_next(struct ports *t, struct ports_entry *e, const struct ports_at *dst,
	const struct ports_at *src, uint32_t *ret_gen)
{
	uint32_t gen;

	e = e != NULL ? e->next :
		str_load_acq(&t->chain[ports_hash(dst->port)]);
	for (; e != NULL; e = e->next) {
		gen = ports_gen(e);
		if ((gen & 1) == 0 || e->at.port != dst->port ||
			score(e, dst, src) == 0)
			continue;
		*ret_gen = gen;
		return e;
	}
	return NULL;
}

/*
 * Count the bound entries of a chain, plus @more.  They are counted again each
 * time, so that a wrong count after a kill is corrected.  Locks: the table's.
 */
static void
count(struct ports *t, uint16_t port, uint32_t more)
{
	uint32_t k = ports_hash(port), n = more;
	struct ports_entry *e;

	for (e = str_load_acq(&t->chain[k]); e != NULL; e = e->next)
		n += ports_gen(e) & 1;
	str_store(&t->count[k], n);
}

/* The closer of @e died before it could mark the entry as unused. */
static void
free_lost(struct ports *t, struct ports_entry *e, uint32_t gen)
{
	(void)__atomic_compare_exchange_n(&e->gen, &gen, gen + 1, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	(void)str_add(&t->changed, 1u);
	mutex_enter(&t->lock);
	count(t, e->at.port, 0);
	mutex_exit(&t->lock);
}

int
ports_hold(struct ports *t, struct ports_entry *e, uint32_t gen,
	struct str_hold *h, void **ret_ep)
{
	struct str_ref ref = e->ref;
	int err;

	*ret_ep = str_load(&e->ep);
	err = str_hold(h, &ref);
	if (err == 0) {
		STR_POINT("ports:held");
		if (ports_gen(e) == gen)
			return 0;
		str_unhold(h);
		return ESRCH;
	}
	if (err == ESRCH && ports_gen(e) == gen)
		free_lost(t, e, gen);
	return err;
}

/* ------------------------------------------------------------------ binding */

/* A free entry of the chain, not bound yet.  Locks: the table's. */
static struct ports_entry *
make(struct ports_entry *volatile *chain)
{
	struct ports_entry *e;

	for (e = *chain; e != NULL && (e->gen & 1) != 0; e = e->next)
		;
	if (e == NULL) {
		e = kmem_zalloc(sizeof(*e), KM_NOSLEEP);
		if (e == NULL)
			return NULL;
		e->next = *chain;
		__atomic_store_n(chain, e, __ATOMIC_RELEASE);
	}
	return e;
}

/* Could one packet be for both? */
static int
overlap(const struct ports_entry *e, const struct ports_want *w)
{
	const struct ip_addr *a = &e->at.a, *b = &w->at.a;

	if (a->len != 0 && b->len != 0)
		return ports_same(a, b);
	if (a->len != 0)
		return a->len == 16 ? w->six : !w->six || !w->v6only;
	if (b->len != 0)
		return b->len == 16 ? e->six : !e->six || !e->v6only;
	return e->six == w->six || (e->six ? !e->v6only : !w->v6only);
}

/* Has another endpoint the address?  Locks: the table's. */
static int
is_taken(struct ports *t, const struct ports_want *w)
{
	struct ports_entry *e = t->chain[ports_hash(w->at.port)];

	for (; e != NULL; e = e->next)
		if ((ports_gen(e) & 1) != 0 && e->at.port == w->at.port &&
			e->ep != w->ep && overlap(e, w) &&
			!str_ref_gone(&e->ref))
			return 1;
	return 0;
}

/* RFC 6056 s3.3.1: a free port, not predictable; 0: none.  Locks: as above. */
static int
choose(struct ports *t, struct ports_want *w)
{
	uint32_t n = PORTS_FREE_LAST - PORTS_FREE_FIRST + 1, i, at;

	at = (uint32_t)(str_random() % n);
	for (i = 0; i < n; i++) {
		uint32_t p = PORTS_FREE_FIRST + (at + i) % n;

		w->at.port = (uint16_t)(p >> 8 | (p & 0xff) << 8);
		if (!is_taken(t, w))
			return 1;
	}
	w->at.port = 0;
	return 0;
}

int
ports_bind(struct ports *t, struct ports_want *w, struct ports_entry **ret)
{
	struct ports_entry *e = NULL;
	int err = 0;

	mutex_enter(&t->lock);
	if (!w->shared && (w->at.port == 0 ? !choose(t, w) : is_taken(t, w)))
		err = EADDRINUSE;
	if (err == 0) {
		e = make(&t->chain[ports_hash(w->at.port)]);
		err = e == NULL ? ENOSR : 0;
	}
	if (err == 0) {
		e->at = w->at;
		e->peer = w->peer;
		e->six = w->six;
		e->v6only = w->v6only;
		e->ep = w->ep;
		str_ref(w->rq, &e->ref);
		e->seq = str_add(&t->seq, 1u);
		*ret = e;
		/*
		 * a count that is too high costs time; one too low loses
		 * packets
		 */
		count(t, w->at.port, 1);
		STR_POINT("ports:bound");
		__atomic_store_n(&e->gen, e->gen + 1, __ATOMIC_RELEASE);
		STR_POINT("ports:named");
		(void)str_add(&t->changed, 1u);
	}
	mutex_exit(&t->lock);
	return err;
}

void
ports_change(struct ports *t, struct ports_entry *e, const void *ep,
	const struct ip_addr *own, const struct ports_at *peer)
{
	mutex_enter(&t->lock);
	if (e->ep == ep && (e->gen & 1) != 0) {
		/* lookups do not find it meanwhile */
		__atomic_store_n(&e->gen, e->gen + 1, __ATOMIC_SEQ_CST);
		if (own != NULL)
			e->at.a = *own;
		e->peer = *peer;
		STR_POINT("ports:changing");
		__atomic_store_n(&e->gen, e->gen + 1, __ATOMIC_RELEASE);
		(void)str_add(&t->changed, 1u);
	}
	mutex_exit(&t->lock);
}

void
ports_free(struct ports *t, struct ports_entry *e, const void *ep)
{
	mutex_enter(&t->lock);
	STR_POINT("ports:freeing");
	if (e->ep == ep && (e->gen & 1) != 0) {
		__atomic_store_n(&e->gen, e->gen + 1, __ATOMIC_RELEASE);
		count(t, e->at.port, 0);
		(void)str_add(&t->changed, 1u);
	}
	mutex_exit(&t->lock);
	STR_POINT("ports:freed");
	ports_wake(e);
}

/* ------------------------------------------------------------------ waiting */

void
ports_wait(struct ports_entry *e, queue_t *rq, queue_t *wq)
{
	uint32_t i;

	mutex_enter(&e->lock);
	for (i = 0; i < e->nwait && i < PORTS_NWAIT && e->wq[i] != wq; i++)
		;
	if (i < PORTS_NWAIT) {
		STR_POINT("ports:waiting");
		str_ref(rq, &e->wref[i]);
		e->wq[i] = wq;
	}
	if (i == e->nwait)
		str_store(&e->nwait, i + 1);
	mutex_exit(&e->lock);
	STR_POINT("ports:waits");
}

void
ports_wake(struct ports_entry *e)
{
	struct str_ref ref[PORTS_NWAIT];
	queue_t *wq[PORTS_NWAIT];
	struct str_hold h;
	uint32_t n, i;

	/* pairs with the fence of a sender between ports_wait() and its look
	 * whether there is room */
	str_fence_full();
	if (str_load(&e->nwait) == 0)
		return;
	mutex_enter(&e->lock);
	STR_POINT("ports:waking");
	n = e->nwait < PORTS_NWAIT ? e->nwait : PORTS_NWAIT;
	bcopy(e->wref, ref, sizeof(ref));
	bcopy(e->wq, wq, sizeof(wq));
	str_store(&e->nwait, 0u);
	mutex_exit(&e->lock);
	STR_POINT("ports:woken");
	for (i = 0; i < n; i++) {
		if (str_hold(&h, &ref[i]) != 0)
			continue; /* its clock runs */
		qenable(wq[i]);
		str_unhold(&h);
	}
}

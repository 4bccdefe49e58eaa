/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Addresses of ticlts, ticots and ticotsord: the table of names, bind, unbind,
 * and the senders that wait for room at a name.
 *
 * ti.c describes the design.
 */
#include "ti_impl.h"

static unsigned int
hash(const unsigned char *buf, unsigned int len)
{
	unsigned int h = 2166136261u, i;

	for (i = 0; i < len; i++)
		h = (h ^ buf[i]) * 16777619u;
	return (h ^ h >> 15) % TI_HASH;
}

/*
 * The endpoint bound to an address; NULL: none.  Without a lock: the result is
 * valid if gen is still *@ret_gen once its stream is held.
 */
struct ti_name *
ti_lookup(struct ti_shared *st, const unsigned char *buf, unsigned int len,
	unsigned int *ret_gen)
{
	struct ti_name *nm;

	nm = __atomic_load_n(&st->chain[hash(buf, len)], __ATOMIC_ACQUIRE);
	for (; nm != NULL; nm = nm->next) {
		unsigned int gen = gen_of(nm);

		if ((gen & 1) != 0 && nm->len == len &&
			bcmp(nm->addr, buf, len) == 0) {
			*ret_gen = gen;
			return nm;
		}
	}
	return NULL;
}

/* Locks: the provider's. */
static struct ti_name *
name_make(struct ti_shared *st, struct ti *ep, const unsigned char *buf,
	unsigned int len)
{
	struct ti_name **chain = &st->chain[hash(buf, len)], *nm;

	for (nm = *chain; nm != NULL && (nm->gen & 1) != 0; nm = nm->next)
		;
	if (nm == NULL) {
		nm = kmem_zalloc(sizeof(*nm), KM_NOSLEEP);
		if (nm == NULL)
			return NULL;
		nm->next = *chain;
		__atomic_store_n(chain, nm, __ATOMIC_RELEASE);
	}
	nm->ep = ep;
	nm->ref = ep->tpi.ref;
	nm->len = len;
	bcopy(buf, nm->addr, len);
	/* noted before it is bound, so that a killed maker leaks no name */
	ep->name = nm;
	__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
	return nm;
}

void
ti_name_free(struct ti *me)
{
	struct ti_name *nm = me->name;

	/* an earlier binder may have died: is the name still ours? */
	if (nm != NULL && nm->ep == me && (nm->gen & 1) != 0)
		__atomic_store_n(&nm->gen, nm->gen + 1, __ATOMIC_RELEASE);
	me->name = NULL;
}

/* Choose a free address.  Locks: the provider's. */
static void
choose(struct ti_shared *st, struct tpi_addr *ret)
{
	unsigned int gen, n;

	do {
		n = ++st->auto_addr;
		ret->len = TI_ADDRSZ;
		ret->buf[0] = (unsigned char)(n >> 24);
		ret->buf[1] = (unsigned char)(n >> 16);
		ret->buf[2] = (unsigned char)(n >> 8);
		ret->buf[3] = (unsigned char)n;
	} while (ti_lookup(st, ret->buf, ret->len, &gen) != NULL);
}

/*
 * Is a name's owner alive?  An endpoint whose closer died does not keep a name.
 */
static int
is_owned(struct ti_name *nm)
{
	struct str_hold h;
	int err = str_hold(&h, &nm->ref);

	if (err == 0)
		str_unhold(&h);
	return err != ESRCH;
}

int
ti_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct ti_shared *st = shared_of(tp);
	struct ti *me = ti_of(tp);
	struct ti_name *nm = NULL;
	unsigned int gen;
	int err = 0;

	(void)qlen;
	mutex_enter(&tp->prov->lock);
	got->len = want->len;
	if (want->len != 0) {
		bcopy(want->buf, got->buf, want->len);
		nm = ti_lookup(st, want->buf, want->len, &gen);
		if (nm != NULL && !is_owned(nm)) {
			__atomic_store_n(&nm->gen, gen + 1, __ATOMIC_RELEASE);
			nm = NULL;
		}
	}
	if (nm != NULL && !any)
		err = -TADDRBUSY;
	else if (nm != NULL || want->len == 0)
		choose(st, got);
	if (err == 0 && name_make(st, me, got->buf, got->len) == NULL)
		err = -TNOADDR;
	mutex_exit(&tp->prov->lock);
	return err;
}

/* Wake the senders that wait for room above us, or for our end. */
void
ti_wake(struct ti *me)
{
	struct str_hold h;
	struct tpi *tp;

	if (!me->waiters)
		return;
	me->waiters = 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	mutex_enter(&me->tpi.prov->lock);
	for (tp = me->tpi.prov->first; tp != NULL; tp = tp->next) {
		if (ti_of(tp)->wait == NULL || ti_of(tp)->wait != me->name ||
			!ti_reach(ti_of(tp), &h))
			continue;
		qenable(WR(tp->rq));
		ti_leave(&h);
	}
	mutex_exit(&me->tpi.prov->lock);
}

int
ti_unbind(struct tpi *tp)
{
	struct ti *me = ti_of(tp);

	ti_wake(me);
	mutex_enter(&tp->prov->lock);
	ti_name_free(me);
	mutex_exit(&tp->prov->lock);
	return 0;
}

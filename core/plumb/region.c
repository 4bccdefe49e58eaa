/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's part of a domain: made once, attached by every image, and
 * cleared of what dead threads held.
 */
#include "core.h"

/*
 * The creator has no thread slot yet, and the allocator wants one: the last
 * slot of the table lends its magazines for the while.
 */
int
str_region_init(struct str_domain *d)
{
	struct str_thread *lent = &d->thread[STR_NTHREAD - 1];
	struct host_tls save = host_tls;
	int err = str_mem_init(d);

	host_tls.slot = lent;
	host_tls.tag = STR_TAG(STR_NTHREAD - 1, 1u);
	if (err == 0)
		err = str_registry_init(d);
	str_mem_reap(lent);
	host_tls.slot = save.slot;
	host_tls.tag = save.tag;
	if (err == 0)
		str_store_rel(&d->ready, 1u);
	return err;
}

int
str_region_attach(struct str_domain *d)
{
	return str_registry_attach(d);
}

/*
 * Reaping.  A thread that died may have been anywhere: inside a stream, with
 * blocks in its hands, with locks held.  Locks are taken over by whoever
 * meets them.  The rest is done here, in this order: the streams it was
 * inside are revived; its magazines are given back; the blocks stamped with
 * its tag are freed, except those that turn out to be linked: they were
 * stamped before an unlinking that never happened, or not yet unstamped
 * after a linking.
 */
#define FOUND 64

struct reap {
	uint32_t tag;
	struct str_blk *found[FOUND];
	unsigned n;
	uintptr_t epoch;
};

static void
collect(struct str_blk *b, void *arg)
{
	struct reap *r = arg;

	if (str_load(&b->owner) == r->tag && r->n < FOUND)
		r->found[r->n++] = b;
}

/* While a block is in use its free-list link is the reaper's mark. */
static void
mark(struct str_blk *b, uintptr_t epoch)
{
	b->next = (void *)epoch;
}

static void
mark_message(mblk_t *mp, uintptr_t epoch)
{
	for (; mp != NULL; mp = mp->b_cont)
		mark(&str_mdb_of_m(mp)->blk, epoch);
}

static void
mark_queue(queue_t *q, uintptr_t epoch)
{
	mblk_t *mp;
	qband_t *qb;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		mark_message(mp, epoch);
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next)
		mark((struct str_blk *)(void *)qb - 1, epoch);
	str_unlock(&q->q_klock);
}

static void
mark_pair(struct str_qpair *qp, uintptr_t epoch)
{
	mblk_t *mp;

	mark(&qp->blk, epoch);
	mark_queue(&qp->rq, epoch);
	mark_queue(&qp->wq, epoch);
	for (mp = qp->bl_first; mp != NULL; mp = mp->b_next)
		mark_message(mp, epoch);
}

static void
mark_pipe(struct str_plumb *pl, void *arg)
{
	uintptr_t epoch = *(uintptr_t *)arg;
	queue_t *q;
	int e;

	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->qp == NULL)
			continue;
		mark_pair(sd->qp, epoch);
		if (str_hlock(&sd->hq.clock, STR_HOLD_C))
			str_headq_repair_c(&sd->hq);
		str_headq_refs(&sd->hq, mark_message, epoch);
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		mark_message(sd->ioc.reply, epoch);
	}
	(void)str_claim(pl);
	for (q = pl->head[0].qp->wq.q_next; q != NULL && q->q_head == NULL;
		q = q->q_next)
		mark_pair(q->q_pair, epoch);
	str_unclaim(pl);
}

/* Is segment @s still part of its log? */
static bool
seg_linked(struct str_seg *s)
{
	struct str_headq *hq = s->hq;
	struct str_seg *p;

	if (hq == NULL || !str_mem_valid(hq))
		return false;
	if (hq->spare == s)
		return true;
	for (p = hq->head; p != NULL; p = p->next)
		if (p == s)
			return true;
	return false;
}

static void
reap_block(struct str_blk *b, uintptr_t epoch)
{
	if (b->state == STR_BLK_FREE)
		return;
	if (b->next == (void *)epoch || (b->state == STR_BLK_SEG &&
		seg_linked((struct str_seg *)(void *)b))) {
		str_mem_disown(b);
		return;
	}
	str_mem_own(b);
	switch (b->state) {
	case STR_BLK_MDB:
		str_mdb_reap((struct str_mdb *)(void *)b);
		break;
	case STR_BLK_QPAIR:
		str_qpair_free((struct str_qpair *)(void *)b);
		break;
	case STR_BLK_PIPE:
		/* never entered, or on its way out: dead to all */
		str_pipe_bury((struct str_plumb *)(void *)b);
		break;
	default:
		str_mem_free(b);
		break;
	}
}

/*
 * A thread died inside this stream: what it had begun goes on.  The stream
 * may be gone since, or go meanwhile: we count as inside it.
 */
static void
revive(uint64_t at, uint32_t tag)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	struct str_plumb *pl;

	if (!str_mem_valid((void *)(uintptr_t)at))
		return;
	pl = (struct str_plumb *)(uintptr_t)at;
	str_store(&t->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	str_fence_full(); /* pairs with the heavy fence of str_pipe_free() */
	if (str_head_lookup(&pl->head[0].carrier) == NULL &&
	    str_head_lookup(&pl->head[1].carrier) == NULL) {
		str_store(&t->inside, was);
		return;
	}
	if (str_load(&pl->plumber.owner) == tag && str_plumb_lock(pl, NULL) == 0)
		str_plumb_unlock(pl);
	str_sched_revive(pl, tag);
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	str_store(&t->inside, was);
}

void
str_thread_reap(struct str_domain *d, struct str_thread *t)
{
	uint32_t tag = str_load(&t->tag), k;
	uint64_t in[STR_NCLAIM + 1];
	struct reap r;
	unsigned i;

	for (k = 0; k < STR_NCLAIM; k++) {
		in[k] = str_load(&t->claim[k]);
		str_store(&t->claim[k], (uint64_t)0);
	}
	in[k] = str_load(&t->inside);
	if (in[k] != 0)
		in[k] = (uint64_t)(uintptr_t)
			((struct str_head *)(uintptr_t)in[k])->plumb;
	str_store(&t->inside, (uint64_t)0);
	str_store(&t->asleep_on, (uint64_t)0);
	if (t == host_self() || host_self() == NULL) {
		/* a thread that ends in order holds nothing else */
		str_mem_reap(t);
		return;
	}
	for (k = 0; k <= STR_NCLAIM; k++)
		if (in[k] != 0)
			revive(in[k], tag);
	str_mem_reap(t);
	do {
		r.tag = tag;
		r.n = 0;
		str_mem_walk(collect, &r);
		if (r.n == 0)
			break;
		r.epoch = (uintptr_t)str_add(str_root(STR_ROOT_EPOCH),
				  (uint64_t)2) | 1u;
		str_pipe_each(d, mark_pipe, &r.epoch);
		for (i = 0; i < r.n; i++)
			reap_block(r.found[i], r.epoch);
	} while (r.n == FOUND);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The reaper's marks.  Blocks that are reachable from a stream are in use,
 * whatever their stamps are; they are marked under the locks of the stream.  If
 * a living thread holds one of these locks the reaper waits a moment, and then
 * leaves the dead thread's slot for the next attempt.
 */
#include "reap.h"

#define LONG 500u /* ms for a lock whose owner only waits for a CPU */

/*
 * Has the wait for the owner @tag of a lock reached its limit, after @n of @ms?
 * When it has, later messages overtake those that are not put back. So a busy
 * machine alone must not make a wait reach the limit.
 */
static bool
is_over(unsigned n, unsigned ms, uint32_t tag)
{
	return n >= ms &&
		(ms < PATIENCE || n >= LONG || host_owner_stopped(tag));
}

/* Wait, within the limit of is_over(), until no living thread other than this
 * one holds @l. */
static bool
is_free(struct str_lock *l, unsigned ms)
{
	unsigned n;

	for (n = 0;; n++) {
		uint32_t v = str_load(&l->owner);

		if (v == 0 || v == host_self_tag() || host_owner_dead(v))
			return true;
		if (is_over(n, ms, v))
			return false;
		(void)host_wait(NULL, (str_a32 *)&l->owner, v, 1000000u);
	}
}

bool
str_reap_patient(const struct reap *r, struct str_lock *l)
{
	return is_free(l, r->ms);
}

bool
str_reap_idle(const struct reap *r, struct str_qpair *qp)
{
	return str_perim_idle(qp, r->ms, is_free);
}

/* str_reap_patient() for a biased lock; its owner holds it if its slot names
 * the lock. */
bool
str_reap_hpatient(const struct reap *r, struct str_hlock *l)
{
	uint64_t a = (uint64_t)(uintptr_t)l;
	unsigned n;

	for (n = 0;; n++) {
		uint32_t b = str_load(&l->bias);
		struct str_thread *t = &host_domain->thread[STR_TAG_IDX(b)];

		if (!str_reap_patient(r, &l->lk))
			return false;
		if (b == 0 || (str_load(&t->hold[STR_HOLD_P]) != a &&
				      str_load(&t->hold[STR_HOLD_C]) != a) ||
		    host_owner_dead(b))
			return true;
		if (is_over(n, r->ms, b))
			return false;
		(void)host_wait(NULL, &l->bias, b, 1000000u);
	}
}

/*
 * While a block is in use its free-list link is the reaper's mark: an odd
 * number, where a free list has an address or nothing.
 */
bool
str_reap_marked(const struct str_blk *b, uintptr_t epoch)
{
	uintptr_t v = (uintptr_t)str_load(&b->next);

	return (v & 1u) != 0 && v >= epoch;
}

void
str_reap_mark(struct str_blk *b, uintptr_t epoch)
{
	void *v = str_load(&b->next);

	while (((uintptr_t)v & 1u) == 0 || (uintptr_t)v < epoch) {
		if (__atomic_compare_exchange_n(&b->next, &v, (void *)epoch,
			    0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

static void
mark_message(mblk_t *mp, uintptr_t epoch)
{
	for (; mp != NULL; mp = mp->b_cont)
		str_reap_mark(&str_mdb_of_m(mp)->blk, epoch);
}

static bool
mark_queue(const struct reap *r, queue_t *q)
{
	uintptr_t epoch = r->epoch;
	mblk_t *mp;
	qband_t *qb;

	if (!str_reap_patient(r, &q->q_klock))
		return false;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		mark_message(mp, epoch);
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next)
		str_reap_mark((struct str_blk *)(void *)qb - 1, epoch);
	str_unlock(&q->q_klock);
	return true;
}

/* Mark the messages at @qp; not @qp itself, which may be about to be freed. */
static bool
mark_queues(const struct reap *r, struct str_qpair *qp)
{
	if (!mark_queue(r, &qp->rq) || !mark_queue(r, &qp->wq) ||
	    !str_reap_idle(r, qp))
		return false;
	str_perim_backlog(qp, mark_message, r->epoch);
	return true;
}

static bool
mark_pair(const struct reap *r, struct str_qpair *qp)
{
	str_reap_mark(&qp->blk, r->epoch);
	return mark_queues(r, qp);
}

/*
 * Take busy of @pl, if no living thread holds it, or the owner releases it
 * within r->ms; *@ret_mine: it must be released.
 */
static bool
busy_patient(const struct reap *r, struct str_plumb *pl, bool *ret_mine)
{
	unsigned n;
	bool died;

	*ret_mine = false;
	for (n = 0; n < r->ms; n++) {
		uint32_t v = str_load(&pl->busy.owner);

		if (v == host_self_tag())
			return true;
		/* the dead owner may be the plumber, too: the new plumber mends
		 * the change that it had begun */
		if (v != 0 && host_owner_dead(v)) {
			if (!str_plumb_lock_soon(pl, r->ms))
				return false;
			str_plumb_unlock(pl);
		}
		if (str_busy_grab(pl, &died)) {
			*ret_mine = true;
			if (died)
				(void)str_busy_mend(pl);
			return true;
		}
		(void)host_wait(NULL, (str_a32 *)&pl->busy.owner, v, 1000000u);
	}
	return false;
}

struct lower {
	const struct reap *r;
	bool ok;
};

static void
mark_link(struct str_link *l, void *arg)
{
	struct lower *w = arg;

	str_reap_mark(&l->blk, w->r->epoch);
	if (!l->persist)
		w->ok = w->ok && mark_pair(w->r, l->qp);
	else /* the list's lock is held, and no queue's may be taken; the
	      * messages are marked with the lower stream */
		str_reap_mark(&l->qp->blk, w->r->epoch);
}

/* Mark the links of @pl. */
static bool
mark_links(const struct reap *r, struct str_plumb *pl)
{
	struct lower w = {r, true};
	bool mine;

	if (str_link_none(pl))
		return true;
	if (!busy_patient(r, pl, &mine))
		return false;
	str_link_each(pl, mark_link, &w);
	if (mine)
		str_busy_unlock(pl);
	return w.ok;
}

/* Return: false: the owner of a lock does not release it. */
bool
str_reap_mark_pipe(const struct reap *r, struct str_plumb *pl)
{
	uintptr_t epoch = r->epoch;
	struct str_qpair *qp;
	struct str_link *l;
	bool ok = true;
	queue_t *q;
	int e;

	for (e = 0; e < 2 && ok; e++) {
		struct str_head *sd = &pl->head[e];
		struct str_file *f;

		if (sd->qp == NULL)
			continue; /* a dummy */
		for (f = sd->file.next; f != NULL; f = f->next)
			str_reap_mark(&str_container(f, struct str_fileblk, f)->blk,
				epoch);
		str_sig_each(sd, str_reap_mark, epoch);
		ok = mark_pair(r, sd->qp) && str_reap_hpatient(r, &sd->hq.clock);
		if (!ok)
			break;
		if (str_hlock(&sd->hq.clock, STR_HOLD_C))
			str_headq_repair_c(&sd->hq);
		str_headq_refs(&sd->hq, mark_message, epoch);
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
	}
	if (!ok || !str_reap_patient(r, &pl->plumber) || !str_reap_patient(r, &pl->rlock))
		return false;
	str_sched_late_walk(pl, mark_message, epoch);
	(void)str_claim(pl);
	str_fence_full(); /* pairs with the one in str_qpair_free() */
	for (q = pl->head[0].qp->wq.q_next;
		ok && q != NULL && q->q_head == NULL; q = q->q_next)
		ok = mark_pair(r, q->q_pair);
	/* while it is being closed it is not in the chain any more */
	if (ok && (qp = pl->driver) != NULL)
		ok = mark_pair(r, qp);
	if (ok && (qp = pl->leaving) != NULL)
		ok = mark_queues(r, qp);
	if (ok && (l = pl->under) != NULL)
		ok = mark_pair(r, l->qp);
	str_unclaim(pl);
	return ok && mark_links(r, pl);
}

/* Is segment @s part of a log of a stream the dead thread was inside? */
bool
str_reap_seg_linked(struct reap *r, struct str_seg *s)
{
	struct str_headq *hq = s->hq;
	struct str_seg *p;
	unsigned i;
	bool yes;

	for (i = 0; i < NPLACE; i++)
		if (r->in[i] != NULL && (hq == &r->in[i]->head[0].hq ||
				hq == &r->in[i]->head[1].hq))
			break;
	if (i == NPLACE || !str_stream_inside(r->in[i]))
		return false;
	if (!str_reap_hpatient(r, &hq->plock) || !str_reap_hpatient(r, &hq->clock)) {
		r->undone = true;
		return true;
	}
	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	yes = hq->spare == s;
	for (p = hq->head; p != NULL && !yes; p = p->next)
		yes = p == s;
	str_hunlock(&hq->clock, STR_HOLD_C);
	str_hunlock(&hq->plock, STR_HOLD_P);
	return yes;
}

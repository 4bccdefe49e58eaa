/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's part of a domain is cleared of what dead threads held.
 */
#include "core.h"
#include "sock/sock.h"

/*
 * Reaping.  A thread that died may have been anywhere: inside a stream, with
 * blocks in its hands, with locks held.  Locks are taken over by whoever
 * meets them.  The rest is done here, in this order: the streams it was
 * inside are revived; its magazines are given back; the blocks stamped with
 * its tag are freed, except those that turn out to be linked: they were
 * stamped before an unlinking that never happened, or not yet unstamped
 * after a linking.
 *
 * Where they could be linked is known: in the streams its slot names, which
 * therefore stands until all is done; a reaper that dies is followed by one
 * that finds the same.  Those streams are locked to be looked at, and what is
 * linked there is marked with a number that only grows, so that two reapers in
 * one stream do not undo each other's marks.  A queue pair, or a link, stays
 * where it can be found until its queues are empty, and is freed after all
 * claims have been waited for: so what is found under a claim is in use.
 *
 * When somebody alive keeps a lock, a stopped process or an open procedure
 * that sleeps, the reaper waits a moment and then gives the slot back as it
 * was (STR_THR_UNDONE): the next look does it, by whoever attaches or by
 * streamsd, which stays for it.
 */
#define FOUND 64
#define PATIENCE 20 /* of 1 ms */
#define NPLACE (STR_NCLAIM + 2) /* claims, inside, held */

struct reap {
	uint32_t tag;
	struct str_blk *found[FOUND];
	unsigned n;
	bool undone; /* one could not be decided */
	bool late;   /* buffers, too: their messages are gone */
	bool buffers; /* there are some */
	struct str_plumb *in[NPLACE]; /* alive, or NULL */
	uintptr_t epoch;
};

static void
collect(struct str_blk *b, void *arg)
{
	struct reap *r = arg;
	uint32_t state = str_load(&b->state);

	if (str_load(&b->owner) != r->tag || state == STR_BLK_FREE)
		return;
	if (state == STR_BLK_BUF && !r->late)
		r->buffers = true;
	else if (r->n < FOUND)
		r->found[r->n++] = b;
}

/* No living thread holds @l, or none does after @ms. */
static bool
is_free(struct str_lock *l, unsigned ms)
{
	unsigned n;

	for (n = 0; n < ms; n++) {
		uint32_t v = str_load(&l->owner);

		if (v == 0 || v == host_self_tag() || host_owner_dead(v))
			return true;
		(void)host_wait(NULL, (str_a32 *)&l->owner, v, 1000000u);
	}
	return false;
}

static bool
patient(struct str_lock *l)
{
	return is_free(l, PATIENCE);
}

/* The same for a biased lock; its owner holds it when its slot says so. */
static bool
hpatient(struct str_hlock *l)
{
	uint64_t a = (uint64_t)(uintptr_t)l;
	unsigned n;

	for (n = 0; n < PATIENCE; n++) {
		uint32_t b = str_load(&l->bias);
		struct str_thread *t = &host_domain->thread[STR_TAG_IDX(b)];

		if (!patient(&l->lk))
			return false;
		if (b == 0 || (str_load(&t->hold[STR_HOLD_P]) != a &&
				      str_load(&t->hold[STR_HOLD_C]) != a) ||
		    host_owner_dead(b))
			return true;
		(void)host_wait(NULL, &l->bias, b, 1000000u);
	}
	return false;
}

/*
 * While a block is in use its free-list link is the reaper's mark: an odd
 * number, where a free list has an address or nothing.
 */
static bool
is_marked(const struct str_blk *b, uintptr_t epoch)
{
	uintptr_t v = (uintptr_t)str_load(&b->next);

	return (v & 1u) != 0 && v >= epoch;
}

static void
mark(struct str_blk *b, uintptr_t epoch)
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
		mark(&str_mdb_of_m(mp)->blk, epoch);
}

static bool
mark_queue(queue_t *q, uintptr_t epoch)
{
	mblk_t *mp;
	qband_t *qb;

	if (!patient(&q->q_klock))
		return false;
	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		mark_message(mp, epoch);
	for (qb = q->q_bandp; qb != NULL; qb = qb->qb_next)
		mark((struct str_blk *)(void *)qb - 1, epoch);
	str_unlock(&q->q_klock);
	return true;
}

/* What waits at @qp: of one that leaves, which is no part of the stream. */
static bool
mark_queues(struct str_qpair *qp, uintptr_t epoch)
{
	if (!mark_queue(&qp->rq, epoch) || !mark_queue(&qp->wq, epoch) ||
	    !str_perim_idle(qp, patient))
		return false;
	str_perim_backlog(qp, mark_message, epoch);
	return true;
}

static bool
mark_pair(struct str_qpair *qp, uintptr_t epoch)
{
	mark(&qp->blk, epoch);
	return mark_queues(qp, epoch);
}

/*
 * The plumbing of @pl, when nobody alive is at it, or no more after a moment;
 * @ret_mine: it is to be given back.
 */
static bool
busy_patient(struct str_plumb *pl, bool *ret_mine)
{
	unsigned n;
	bool died;

	*ret_mine = false;
	for (n = 0; n < PATIENCE; n++) {
		uint32_t v = str_load(&pl->busy.owner);

		if (v == host_self_tag())
			return true;
		/* what he had begun is mended by the plumber */
		if (v != 0 && host_owner_dead(v)) {
			if (!str_plumb_lock_soon(pl, PATIENCE))
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
	uintptr_t epoch;
	bool ok;
};

static void
mark_link(struct str_link *l, void *arg)
{
	struct lower *w = arg;

	mark(&l->blk, w->epoch);
	if (!l->persist)
		w->ok = w->ok && mark_pair(l->qp, w->epoch);
	else /* with the list's lock; its queues are the lower stream's */
		mark(&l->qp->blk, w->epoch);
}

/* What hangs on @pl by links. */
static bool
mark_links(struct str_plumb *pl, uintptr_t epoch)
{
	struct lower w = {epoch, true};
	bool mine;

	if (str_link_none(pl))
		return true;
	if (!busy_patient(pl, &mine))
		return false;
	str_link_each(pl, mark_link, &w);
	if (mine)
		str_busy_unlock(pl);
	return w.ok;
}

/* False: somebody does not go on. */
static bool
mark_pipe(struct str_plumb *pl, uintptr_t epoch)
{
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
			mark(&str_container(f, struct str_fileblk, f)->blk,
				epoch);
		str_sig_each(sd, mark, epoch);
		ok = mark_pair(sd->qp, epoch) && hpatient(&sd->hq.clock);
		if (!ok)
			break;
		if (str_hlock(&sd->hq.clock, STR_HOLD_C))
			str_headq_repair_c(&sd->hq);
		str_headq_refs(&sd->hq, mark_message, epoch);
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
	}
	if (!ok || !patient(&pl->plumber) || !patient(&pl->rlock))
		return false;
	str_sched_late_walk(pl, mark_message, epoch);
	(void)str_claim(pl);
	for (q = pl->head[0].qp->wq.q_next;
		ok && q != NULL && q->q_head == NULL; q = q->q_next)
		ok = mark_pair(q->q_pair, epoch);
	/* while it goes it is not in the chain any more */
	if (ok && (qp = pl->driver) != NULL)
		ok = mark_pair(qp, epoch);
	if (ok && (qp = pl->leaving) != NULL)
		ok = mark_queues(qp, epoch);
	if (ok && (l = pl->under) != NULL)
		ok = mark_pair(l->qp, epoch);
	str_unclaim(pl);
	return ok && mark_links(pl, epoch);
}

/* Is segment @s part of a log of a stream the dead thread was inside? */
static bool
seg_linked(struct reap *r, struct str_seg *s)
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
	if (!hpatient(&hq->plock) || !hpatient(&hq->clock)) {
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

/*
 * Does a neighbour of @qp lead to it?  For pairs of streams that the dead
 * thread's slot did not name: whose last reference it gave up, for instance.
 */
static bool
pair_linked(const struct str_qpair *qp)
{
	queue_t *n[2] = {qp->rq.q_next, qp->wq.q_next};
	const queue_t *self[2] = {&qp->wq, &qp->rq};
	int i;

	if (qp->fmod == NULL || !str_stream_inside(qp->plumb))
		return false;
	for (i = 0; i < 2; i++)
		if (n[i] != NULL && n[i] != &qp->rq && str_mem_valid(n[i]) &&
		    n[i]->q_pair != NULL && str_mem_valid(n[i]->q_pair) &&
		    n[i]->q_pair->plumb == qp->plumb &&
		    str_otherq(n[i])->q_next == self[i])
			return true;
	return false;
}

/*
 * Is it one of its head's?  A descriptor that is received is opened in another
 * stream than the call is on.
 */
static bool
file_linked(const struct str_fileblk *b)
{
	const struct str_head *sd = b->f.head;
	const struct str_file *f;
	struct str_plumb *pl;

	if (((uintptr_t)sd & 7u) != 0 || !str_mem_valid(sd))
		return false;
	pl = sd->plumb;
	if (((uintptr_t)pl & 7u) != 0 || !str_mem_valid(pl) ||
	    (sd != &pl->head[0] && sd != &pl->head[1]) ||
	    !str_stream_inside(pl))
		return false;
	for (f = sd->file.next; f != NULL && f != &b->f;)
		f = f->next;
	return f != NULL;
}

/* Does anything lead to @b, which the dead thread had stamped? */
static bool
is_linked(struct reap *r, struct str_blk *b)
{
	void *p = b;

	if (is_marked(b, r->epoch))
		return true;
	switch (str_load(&b->state)) {
	case STR_BLK_SEG:
		return seg_linked(r, p);
	case STR_BLK_QPAIR:
		return pair_linked(p);
	case STR_BLK_PIPE:
		return str_stream_kept(p);
	case STR_BLK_FILE:
		return file_linked(p);
	case STR_BLK_NODE:
		return str_node_listed(p);
	default:
		return false;
	}
}

static void
reap_block(struct reap *r, struct str_blk *b)
{
	bool linked;

	if (b->state == STR_BLK_FREE || str_load(&b->owner) != r->tag)
		return;
	linked = is_linked(r, b);
	if (!linked && b->state == STR_BLK_MDB) {
		struct str_lock *l =
			str_mdb_wants((struct str_mdb *)(void *)b);

		r->undone |= l != NULL && !patient(l);
	}
	if (r->undone)
		return;
	/* who has taken over the lock it is under may have been here as well */
	if (!str_cas(&b->owner, r->tag, linked ? 0u : host_self_tag()) ||
	    linked)
		return;
	switch (b->state) {
	case STR_BLK_MDB:
		str_mdb_reap((struct str_mdb *)(void *)b);
		break;
	case STR_BLK_QPAIR:
		/* nobody leads to it, whatever its owner had begun to say */
		str_qclr(&((struct str_qpair *)(void *)b)->rq, QMOUNTED);
		str_qpair_free((struct str_qpair *)(void *)b);
		break;
	case STR_BLK_PIPE:
		/* never entered, or on its way out: dead to all */
		str_stream_reap((struct str_plumb *)(void *)b);
		break;
	case STR_BLK_PASS:
		/* it died as it gave the last of the message back, or before
		 * it was in one: then there is nothing to give back */
		str_pass_free((char *)b);
		break;
	case STR_BLK_EVENT:
		str_timer_reap(b);
		break;
	case STR_BLK_LINK:
		/* the collector may have found it, and looks again only when
		 * references have changed since */
		str_ref_begin();
		str_store_rel(&((struct str_link *)(void *)b)->carries, 0u);
		str_ref_end();
		str_mem_free(b);
		break;
	default:
		str_mem_free(b);
		break;
	}
}

/*
 * A thread died inside this stream: what it had begun goes on.  @ms: the time
 * there is for a stopped process.
 */
static bool
revive(struct str_plumb *pl, uint32_t tag, unsigned ms)
{
	bool ok = true, died;

	/* not by str_plumb_lock(): somebody inside may be stopped */
	if (str_load(&pl->plumber.owner) == tag ||
	    str_load(&pl->busy.owner) == tag) {
		ok = str_plumb_lock_soon(pl, ms);
		if (ok)
			str_plumb_unlock(pl);
	}
	if (is_free(&pl->plumber, ms) && is_free(&pl->rlock, ms))
		str_sched_revive(pl, tag);
	/* what a link was to be is undone with the help of its driver */
	str_ioctl_revive(&pl->head[0], tag);
	str_ioctl_revive(&pl->head[1], tag);
	if (ok && str_load(&pl->busy.owner) == tag &&
	    str_busy_grab(pl, &died)) {
		(void)str_busy_mend(pl);
		str_busy_unlock(pl);
	}
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	/* it may have had the token that was for others */
	str_ring_sleepers(&pl->head[0], true);
	str_ring_sleepers(&pl->head[1], true);
	return ok;
}

/* The streams the dead thread was inside, and nothing of them twice. */
static void
places(struct reap *r, struct str_thread *t)
{
	uint64_t at[2] = {str_load(&t->inside), str_load(&t->held)};
	unsigned i, k;

	for (k = 0; k < STR_NCLAIM; k++)
		r->in[k] = (struct str_plumb *)(uintptr_t)
			str_load(&t->claim[k]);
	for (; k < NPLACE; k++) {
		uint64_t a = at[k - STR_NCLAIM];

		r->in[k] = a == 0 || !str_mem_valid((void *)(uintptr_t)a) ?
			NULL : ((struct str_head *)(uintptr_t)a)->plumb;
	}
	for (k = 0; k < NPLACE; k++)
		for (i = 0; i < k; i++)
			if (r->in[i] == r->in[k])
				r->in[k] = NULL;
}

/*
 * A place that is no stream in the directory.  One that is on its way out may
 * lead to the dead thread's blocks until it is gone; unless it is his own.
 */
static bool
is_going(const struct reap *r, struct str_plumb *pl)
{
	return str_load(&pl->blk.state) == STR_BLK_PIPE &&
		str_load(&pl->blk.owner) != r->tag && !str_stream_lives(pl);
}

/*
 * What the dead thread of tag r->tag had in its hands.  Most streams are
 * gone together with who died inside; we count as inside what is not.
 */
static void
reap_found(struct reap *r)
{
	struct str_thread *self = host_self();
	uint64_t was = str_load(&self->inside);
	bool asked = r->late;
	unsigned i, k;

	do {
		r->n = 0;
		str_mem_walk(collect, r);
		if (r->n == 0)
			break;
		r->epoch = (uintptr_t)str_add(str_root(STR_ROOT_EPOCH),
				   (uint64_t)2) | 1u;
		for (k = 0; k < NPLACE && !r->undone; k++) {
			if (r->in[k] == NULL)
				continue;
			if (str_stream_inside(r->in[k]))
				r->undone = !mark_pipe(r->in[k], r->epoch);
			else
				r->undone = is_going(r, r->in[k]);
		}
		/* now that queues it died at are whole: a message it had just
		 * taken from one is not put away because its neighbour there
		 * still says so */
		if (!r->undone && !asked)
			str_parked(r->tag);
		asked = true;
		/* pipes first, then pairs: what they hold goes with them */
		for (i = 0; i < r->n && !r->undone; i++)
			if (r->found[i]->state == STR_BLK_PIPE)
				reap_block(r, r->found[i]);
		for (i = 0; i < r->n && !r->undone; i++)
			if (r->found[i]->state == STR_BLK_QPAIR)
				reap_block(r, r->found[i]);
		for (i = 0; i < r->n && !r->undone; i++)
			reap_block(r, r->found[i]);
	} while (r->n == FOUND && !r->undone);
	str_store_rel(&self->inside, was);
}

/* A message may still have the buffer that it was about to free: it goes first. */
static void
reap_blocks(struct reap *r)
{
	reap_found(r);
	r->late = true;
	if (r->buffers && !r->undone)
		reap_found(r);
}

bool
str_thread_reap(struct str_domain *d, struct str_thread *t, bool all)
{
	struct str_thread *self = host_self();
	struct reap r = {.tag = str_load(&t->tag)};
	uint32_t k;

	(void)d;
	if (t == self || self == NULL) {
		/* a thread that ends in order holds nothing else */
		str_mem_reap(t);
	} else {
		uint64_t was = str_load(&self->inside);

		places(&r, t);
		for (k = 0; k < NPLACE; k++)
			if (r.in[k] != NULL && str_stream_inside(r.in[k]))
				r.undone |= !revive(r.in[k], r.tag,
					all ? PATIENCE : 1);
		str_store_rel(&self->inside, was);
		str_foreign_revive(r.tag);
		str_sock_reap(r.tag);
		str_store(&t->state, (uint32_t)STR_THR_UNDONE);
		if (!all)
			return false;
		str_mem_reap(t);
		if (str_load(&t->sharing) != 0 && !patient(str_mdb_share(t)))
			r.undone = true;
		else
			str_mdb_revive(t);
		reap_blocks(&r);
	}
	str_store(&t->state,
		(uint32_t)(r.undone ? STR_THR_UNDONE : STR_THR_RUN));
	if (r.undone)
		return false;
	for (k = 0; k < STR_NCLAIM; k++)
		str_store(&t->claim[k], (uint64_t)0);
	str_store_rel(&t->inside, (uint64_t)0);
	str_store(&t->held, (uint64_t)0);
	str_store(&t->moving, 0u);
	str_store(&t->asleep_on, (uint64_t)0);
	return true;
}

/* str_region_undone - has a dead thread blocks still that were in its hands? */
bool
str_region_undone(void)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++)
		if (str_load(&d->thread[i].state) == STR_THR_UNDONE &&
		    str_load(&d->thread[i].tag) != 0)
			return true;
	return false;
}

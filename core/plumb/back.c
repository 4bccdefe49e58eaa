/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Puts messages that a dead thread had taken from queues back there
 * (msg/origin.h).
 */
#include "reap.h"
#include "msg/origin.h"

/* The block of the dead thread that contains message block @bp, or NULL. */
static struct str_mdb *
in_hand(const struct reap *r, mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);

	return ((uintptr_t)x & 63u) == 0 && str_mem_valid(x) &&
		str_load(&x->blk.state) == STR_BLK_MDB &&
		str_load(&x->blk.owner) == r->tag &&
		(str_load(&x->parts) & STR_MDB_M) != 0 ? x : NULL;
}

/* The block linked after @x goes back with @x: clear its own record, if any. */
static void
forget_rest(const struct reap *r, struct str_mdb *x)
{
	mblk_t *bp = x->m.b_cont;

	if (bp != NULL && in_hand(r, bp) != NULL && str_origin_known(bp))
		str_origin_set(str_mdb_of_m(bp), 0);
}

/* Is the record of @x for str_msg_fate()?  Then @x is a duplicate, and its
 * driver keeps the original. */
static bool
is_watched(const struct str_mdb *x)
{
	uint64_t w = str_origin(x);

	if ((w & 1u) == 0 && (w & STR_ORIGIN_UNTIL) != 0)
		w = (uint64_t)(uintptr_t)x->m.b_prev;
	return (w & STR_ORIGIN_BITS) == STR_ORIGIN_WATCH;
}

void
str_reap_tell(struct str_mdb *x)
{
	uint64_t w = str_origin(x);

	if ((str_load(&x->parts) & STR_MDB_M) == 0)
		return;
	if ((w & 1u) == 0 && (w & STR_ORIGIN_UNTIL) != 0)
		w = str_origin_proper(x, w);
	/* the driver may have another use for the word by now */
	if ((w & STR_ORIGIN_BITS) == STR_ORIGIN_WATCH)
		(void)str_cas(str_origin_wordof(w),
			~(uint64_t)(uintptr_t)&x->m, (uint64_t)0);
}

bool
str_reap_taken(const struct reap *r, struct str_mdb *x)
{
	if (in_hand(r, &x->m) == NULL || !str_origin_known(&x->m) ||
	    is_watched(x))
		return false;
	forget_rest(r, x);
	return true;
}

/*
 * The record of @x, a block of the dead thread; 0: there is none, or the message
 * has been handed on, to a log or to freeb().
 */
static uint64_t
origin_of(const struct reap *r, struct str_mdb *x)
{
	const dblk_t *d = x->m.b_datap;
	uint64_t w = str_origin(x);

	if (in_hand(r, &x->m) == NULL || d == NULL || !str_origin_known(&x->m) ||
	    (d == &x->d && str_load(&d->db_ref) == 0))
		return 0;
	return (w & STR_ORIGIN_UNTIL) != 0 ? str_origin_proper(x, w) : w;
}

/*
 * Put @mp back on @q, which exists.  The message is cut before a block that the
 * dead thread does not hold any more: the thread may have freed the block
 * before it changed the b_cont that points there.  It is also cut before a
 * block that is reachable from another place.
 */
static void
put_back(struct reap *r, queue_t *q, mblk_t *mp, uint64_t w)
{
	bool going = (str_origin(str_mdb_of_m(mp)) & STR_ORIGIN_UNTIL) != 0;
	mblk_t *bp;

	mp->b_next = mp->b_prev = NULL;
	str_origin_set(str_mdb_of_m(mp), w);
	for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont) {
		struct str_mdb *x = in_hand(r, bp->b_cont);

		/* a message that was being appended to a log is complete:
		 * rest_of() (headq.c) may have disowned its later blocks */
		if ((x == NULL && !going) ||
		    (x != NULL && str_reap_marked(&x->blk, r->epoch))) {
			bp->b_cont = NULL;
			break;
		}
		str_reap_mark(&str_mdb_of_m(bp->b_cont)->blk, r->epoch);
	}
	STR_CRASH_POINT("reap:back");
	if ((w & STR_ORIGIN_KIND) == STR_ORIGIN_QUEUE)
		str_queue_return(q, mp);
	else if ((w & STR_ORIGIN_KIND) == STR_ORIGIN_BACKLOG)
		str_perim_return(q, mp);
	else
		str_sched_late_return(q->q_pair->plumb, q, mp,
			(w & STR_ORIGIN_NEXT) != 0 ? STR_MP_NEXT : 0);
	str_sched_touch(q->q_pair->plumb);
}

/*
 * Put @x back where the dead thread had taken it from, if the queue still
 * exists.  A message taken from a module that has been popped is freed, like
 * the messages on the module's queues.
 */
static void
give_back(struct reap *r, struct str_mdb *x)
{
	uint64_t w = origin_of(r, x);
	struct str_qpair *qp = str_origin_at(w);
	struct str_plumb *pl;
	queue_t *q = (w & STR_ORIGIN_READ) != 0 ? &qp->rq : &qp->wq;

	if (w == 0 || !str_mem_valid(qp) ||
	    str_load(&qp->blk.state) != STR_BLK_QPAIR)
		return;
	pl = qp->plumb;
	if (!str_mem_valid(pl) || !str_reap_patient(r, &pl->plumber) ||
	    !str_claim_stream(pl)) {
		r->undone |= str_stream_lives(pl);
		return;
	}
	if (qp->plumb == pl && (str_load(&qp->serial) << 40) >> 40 == w >> 40 &&
	    (qp->fmod == NULL || str_reap_pair_linked(qp))) {
		r->undone |= !str_reap_patient(r, &q->q_klock) ||
			!str_reap_patient(r, &pl->rlock) || !str_reap_idle(r, qp);
		if (!r->undone)
			put_back(r, q, &x->m, w);
	}
	str_unclaim(pl);
}

/* Put back the messages that were found, in the reverse order of their taking;
 * if the place does not exist any more, only the record is cleared. */
void
str_reap_give_back(struct reap *r)
{
	while (r->n != 0 && !r->undone) {
		struct str_mdb *x, *last = NULL;
		unsigned i, k = 0;

		for (i = 0; i < r->n; i++) {
			x = (struct str_mdb *)(void *)r->found[i];
			if (last == NULL || (int8_t)((origin_of(r, x) >> 32) -
				(origin_of(r, last) >> 32)) > 0) {
				last = x;
				k = i;
			}
		}
		r->found[k] = r->found[--r->n];
		give_back(r, last);
		if (r->undone)
			r->found[r->n++] = (struct str_blk *)(void *)last;
		else if (in_hand(r, &last->m) != NULL &&
		    str_origin_known(&last->m))
			str_origin_set(last, 0);
	}
}

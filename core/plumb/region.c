/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's part of a domain is cleared of what dead threads held.
 */
#include "kind.h"
#include "msg/origin.h"
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
#define PATIENCE 20u /* ms for a lock, when others do not wait for the reaper */
#define LONG 500u    /* ms for one whose owner only waits for a CPU */
#define NPLACE (STR_NCLAIM + 2) /* claims, inside, held */

struct reap {
	uint32_t tag;
	struct str_blk *found[FOUND];
	unsigned n;
	enum { TAKEN, BLOCKS, BUFFERS } what; /* is being looked for */
	bool any;    /* there is a block of the dead thread */
	bool undone; /* one could not be decided */
	struct str_plumb *in[NPLACE]; /* alive, or NULL */
	uintptr_t epoch;
	unsigned ms; /* to wait for a lock that a living thread keeps */
};

/* The block of the dead thread that @bp is the message block of, or NULL. */
static struct str_mdb *
in_hand(const struct reap *r, mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);

	return ((uintptr_t)x & 63u) == 0 && str_mem_valid(x) &&
		str_load(&x->blk.state) == STR_BLK_MDB &&
		str_load(&x->blk.owner) == r->tag &&
		(str_load(&x->parts) & STR_MDB_M) != 0 ? x : NULL;
}

/* What is linked behind @x goes back with that, not by itself. */
static void
forget_rest(const struct reap *r, struct str_mdb *x)
{
	mblk_t *bp = x->m.b_cont;

	if (bp != NULL && in_hand(r, bp) != NULL && str_origin_known(bp))
		str_origin_set(str_mdb_of_m(bp), 0);
}

/* Its driver has another one of it: the record is for str_msg_handed(). */
static bool
is_watched(const struct str_mdb *x)
{
	uint64_t w = str_origin(x);

	return w == STR_ORIGIN_WATCH || ((w & STR_ORIGIN_UNTIL) != 0 &&
		(uint64_t)(uintptr_t)x->m.b_prev == STR_ORIGIN_WATCH);
}

static void
collect(struct str_blk *b, void *arg)
{
	struct reap *r = arg;
	uint32_t state = str_load(&b->state);

	struct str_mdb *x = (struct str_mdb *)(void *)b;
	bool wanted = true;

	if (str_load(&b->owner) != r->tag || state == STR_BLK_FREE)
		return;
	r->any = true;
	if (r->what == TAKEN) {
		wanted = in_hand(r, &x->m) != NULL &&
			str_origin_known(&x->m) && !is_watched(x);
		if (wanted)
			forget_rest(r, x);
	} else if (r->what == BLOCKS) {
		/* a message may still have the buffer that it was about to
		 * free: it goes first */
		wanted = state != STR_BLK_BUF;
	}
	if (wanted && r->n < FOUND)
		r->found[r->n++] = b;
}

/*
 * Has the owner @tag of a lock been waited for in vain, for @n of @ms?  In the end
 * later messages overtake what is not put back: not because the machine is busy.
 */
static bool
is_over(unsigned n, unsigned ms, uint32_t tag)
{
	return n >= ms &&
		(ms < PATIENCE || n >= LONG || host_owner_stopped(tag));
}

/* No living thread holds @l, or none does after @ms. */
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

static bool
patient(const struct reap *r, struct str_lock *l)
{
	return is_free(l, r->ms);
}

static bool
perim_idle(const struct reap *r, struct str_qpair *qp)
{
	return str_perim_idle(qp, r->ms, is_free);
}

/* The same for a biased lock; its owner holds it when its slot says so. */
static bool
hpatient(const struct reap *r, struct str_hlock *l)
{
	uint64_t a = (uint64_t)(uintptr_t)l;
	unsigned n;

	for (n = 0;; n++) {
		uint32_t b = str_load(&l->bias);
		struct str_thread *t = &host_domain->thread[STR_TAG_IDX(b)];

		if (!patient(r, &l->lk))
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
mark_queue(const struct reap *r, queue_t *q)
{
	uintptr_t epoch = r->epoch;
	mblk_t *mp;
	qband_t *qb;

	if (!patient(r, &q->q_klock))
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
mark_queues(const struct reap *r, struct str_qpair *qp)
{
	if (!mark_queue(r, &qp->rq) || !mark_queue(r, &qp->wq) ||
	    !perim_idle(r, qp))
		return false;
	str_perim_backlog(qp, mark_message, r->epoch);
	return true;
}

static bool
mark_pair(const struct reap *r, struct str_qpair *qp)
{
	mark(&qp->blk, r->epoch);
	return mark_queues(r, qp);
}

/*
 * The plumbing of @pl, when nobody alive is at it, or no more after a moment;
 * @ret_mine: it is to be given back.
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
		/* what he had begun is mended by the plumber */
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

	mark(&l->blk, w->r->epoch);
	if (!l->persist)
		w->ok = w->ok && mark_pair(w->r, l->qp);
	else /* with the list's lock; its queues are the lower stream's */
		mark(&l->qp->blk, w->r->epoch);
}

/* What hangs on @pl by links. */
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

/* False: somebody does not go on. */
static bool
mark_pipe(const struct reap *r, struct str_plumb *pl)
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
			mark(&str_container(f, struct str_fileblk, f)->blk,
				epoch);
		str_sig_each(sd, mark, epoch);
		ok = mark_pair(r, sd->qp) && hpatient(r, &sd->hq.clock);
		if (!ok)
			break;
		if (str_hlock(&sd->hq.clock, STR_HOLD_C))
			str_headq_repair_c(&sd->hq);
		str_headq_refs(&sd->hq, mark_message, epoch);
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
	}
	if (!ok || !patient(r, &pl->plumber) || !patient(r, &pl->rlock))
		return false;
	str_sched_late_walk(pl, mark_message, epoch);
	(void)str_claim(pl);
	for (q = pl->head[0].qp->wq.q_next;
		ok && q != NULL && q->q_head == NULL; q = q->q_next)
		ok = mark_pair(r, q->q_pair);
	/* while it goes it is not in the chain any more */
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
	if (!hpatient(r, &hq->plock) || !hpatient(r, &hq->clock)) {
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

/* ------------------------------------------------------------ putting back */

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

/* @q is there; so is what of @mp has not been freed by who has not said so. */
static void
put_back(struct reap *r, queue_t *q, mblk_t *mp, uint64_t w)
{
	bool going = (str_origin(str_mdb_of_m(mp)) & STR_ORIGIN_UNTIL) != 0;
	mblk_t *bp;

	mp->b_next = mp->b_prev = NULL;
	str_origin_set(str_mdb_of_m(mp), w);
	for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont) {
		struct str_mdb *x = in_hand(r, bp->b_cont);

		/* the blocks behind the first may be in a log already */
		if ((x == NULL && !going) ||
		    (x != NULL && is_marked(&x->blk, r->epoch))) {
			bp->b_cont = NULL;
			break;
		}
		mark(&str_mdb_of_m(bp->b_cont)->blk, r->epoch);
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
 * Put @x back where the dead thread had taken it from, if that is there still:
 * what was taken from a module that has been popped goes as what the module's
 * queues had.
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
	if (!str_mem_valid(pl) || !patient(r, &pl->plumber) ||
	    !str_claim_stream(pl)) {
		r->undone |= str_stream_lives(pl);
		return;
	}
	if (qp->plumb == pl && (str_load(&qp->serial) << 40) >> 40 == w >> 40 &&
	    (qp->fmod == NULL || pair_linked(qp))) {
		r->undone |= !patient(r, &q->q_klock) ||
			!patient(r, &pl->rlock) || !perim_idle(r, qp);
		if (!r->undone)
			put_back(r, q, &x->m, w);
	}
	str_unclaim(pl);
}

/* What was found, what was taken last first; where there is no place any more,
 * the record goes. */
static void
give_all_back(struct reap *r)
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

/* ------------------------------------------------------------- kinds of blocks */

static bool
seg_kept(struct reap *r, struct str_blk *b)
{
	return seg_linked(r, (struct str_seg *)(void *)b);
}

static bool
pair_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return pair_linked((struct str_qpair *)(void *)b);
}

static bool
stream_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return str_stream_kept((struct str_plumb *)(void *)b);
}

static bool
file_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return file_linked((struct str_fileblk *)(void *)b);
}

static bool
node_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return str_node_listed((struct str_node *)(void *)b);
}

/* Not by itself, but it has to be decided now whether it can be freed. */
static bool
message_kept(struct reap *r, struct str_blk *b)
{
	struct str_lock *l = str_mdb_wants((struct str_mdb *)(void *)b);

	r->undone |= l != NULL && !patient(r, l);
	return false;
}

static void
message_fini(struct str_blk *b)
{
	str_mdb_reap((struct str_mdb *)(void *)b);
}

static void
pair_fini(struct str_blk *b)
{
	struct str_qpair *qp = (struct str_qpair *)(void *)b;

	/* no block leads to it, whatever its owner had begun to say */
	str_qclr(&qp->rq, QMOUNTED);
	str_qpair_free(qp);
}

/* Never entered, or on its way out: dead to all. */
static void
stream_fini(struct str_blk *b)
{
	str_stream_reap((struct str_plumb *)(void *)b);
}

/*
 * It died as it gave the last of the message back, or before it was in one: then
 * there is nothing to give back.
 */
static void
pass_fini(struct str_blk *b)
{
	str_pass_free((char *)b);
}

/* The collector may have found it, and looks again only when references have
 * changed since. */
static void
link_fini(struct str_blk *b)
{
	str_ref_begin();
	str_store_rel(&((struct str_link *)(void *)b)->carries, 0u);
	str_ref_end();
	str_mem_free(b);
}

static void
memory_fini(struct str_blk *b)
{
	str_mem_free(b);
}

const struct str_kind str_kind[STR_BLK_NKIND] = {
	[STR_BLK_KMEM] = {NULL, memory_fini, 2, str_words_kmem, NULL},
	[STR_BLK_SEG] = {seg_kept, memory_fini, 2, NULL, NULL},
	[STR_BLK_QPAIR] = {pair_kept, pair_fini, 1, str_words_pair, NULL},
	[STR_BLK_PIPE] = {stream_kept, stream_fini, 0, NULL, NULL},
	[STR_BLK_BUF] = {NULL, memory_fini, 2, NULL, NULL},
	[STR_BLK_MDB] = {message_kept, message_fini, 2, str_words_message, NULL},
	[STR_BLK_EVENT] = {NULL, str_timer_reap, 2, str_words_event, NULL},
	[STR_BLK_STRAPP] = {NULL, memory_fini, 2, NULL, NULL},
	[STR_BLK_FILE] = {file_kept, memory_fini, 2, NULL, NULL},
	[STR_BLK_LINK] = {NULL, link_fini, 2, NULL, str_link_refers},
	[STR_BLK_NODE] = {node_kept, memory_fini, 2, NULL, NULL},
	[STR_BLK_SIG] = {NULL, memory_fini, 2, NULL, NULL},
	[STR_BLK_LOG] = {NULL, memory_fini, 2, NULL, NULL},
	[STR_BLK_PASS] = {NULL, pass_fini, 2, NULL, str_pass_refers},
};
#define NTURN 3u

static void
reap_block(struct reap *r, struct str_blk *b, unsigned turn)
{
	uint32_t state = str_load(&b->state);
	bool kept;

	if (state == STR_BLK_FREE || str_load(&b->owner) != r->tag ||
	    str_kind[state].turn != turn)
		return;
	kept = is_marked(b, r->epoch) ||
		(str_kind[state].kept != NULL && str_kind[state].kept(r, b));
	if (r->undone)
		return;
	/* who has taken over the lock it is under may have been here as well */
	if (str_cas(&b->owner, r->tag, kept ? 0u : host_self_tag()) && !kept)
		str_kind[state].fini(b);
}

/* A thread died inside this stream: what it had begun to plumb goes on. */
static bool
mend(const struct reap *r, struct str_plumb *pl)
{
	bool ok = true, died;
	uint32_t tag = r->tag;

	/* not by str_plumb_lock(): somebody inside may be stopped */
	if (str_load(&pl->plumber.owner) == tag ||
	    str_load(&pl->busy.owner) == tag) {
		ok = str_plumb_lock_soon(pl, r->ms);
		if (ok)
			str_plumb_unlock(pl);
	}
	/* what a link was to be is undone with the help of its driver */
	str_ioctl_revive(&pl->head[0], tag);
	str_ioctl_revive(&pl->head[1], tag);
	if (ok && str_load(&pl->busy.owner) == tag &&
	    str_busy_grab(pl, &died)) {
		(void)str_busy_mend(pl);
		str_busy_unlock(pl);
	}
	return ok;
}

/* ... and so do its queues, with what the thread had in hand. */
static void
revive(const struct reap *r, struct str_plumb *pl)
{
	if (patient(r, &pl->plumber) && patient(r, &pl->rlock))
		str_sched_revive(pl, r->tag);
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	/* it may have had the token that was for others */
	str_ring_sleepers(&pl->head[0], true);
	str_ring_sleepers(&pl->head[1], true);
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

static void
find(struct reap *r)
{
	r->n = 0;
	str_mem_walk(collect, r);
}

/*
 * Mark what the streams lead to.  Most of them are gone together with the
 * thread that died inside; this thread counts as inside what is not.
 */
static void
mark_places(struct reap *r)
{
	unsigned k;

	r->epoch = (uintptr_t)str_add(str_root(STR_ROOT_EPOCH), (uint64_t)2) |
		1u;
	for (k = 0; k < NPLACE && !r->undone; k++) {
		if (r->in[k] == NULL)
			continue;
		if (str_stream_inside(r->in[k]))
			r->undone = !mark_pipe(r, r->in[k]);
		else
			r->undone = is_going(r, r->in[k]);
	}
	/* now that queues it died at are whole: a message it had just taken
	 * from one is not put away because its neighbour there still says so */
	if (!r->undone)
		str_parked(r->tag);
}

static void
revive_places(struct reap *r)
{
	unsigned k;

	host_tls.reaping = r->tag;
	for (k = 0; k < NPLACE; k++)
		if (r->in[k] != NULL && str_stream_inside(r->in[k]))
			revive(r, r->in[k]);
	/* the thread that is let out of a module's perimeter does what waits */
	str_foreign_revive(r->tag);
}

/*
 * Put back what the slot @t says was taken last, and have the streams go on: to
 * look through the memory is for later.  What could not be put back keeps them
 * waiting for the reaper that has more time.
 */
static void
reap_streams(struct reap *r, struct str_thread *t)
{
	unsigned i, k;

	r->what = TAKEN;
	for (i = 0; i < STR_NHAND; i++) {
		struct str_blk *b = (struct str_blk *)(uintptr_t)
			str_load(&t->hand[i]);

		for (k = 0; k < r->n && r->found[k] != b; k++)
			;
		if (k == r->n && b != NULL && str_mem_valid(b))
			collect(b, r);
	}
	if (r->n != 0 && !r->undone) {
		mark_places(r);
		give_all_back(r);
	}
	if (r->n == 0)
		revive_places(r);
}

/*
 * What the dead thread of tag r->tag had in its hands.  First what goes back,
 * then the streams go on, and then what is left goes: drivers may ask, of a
 * duplicate for instance, whether the dead thread had it still.
 */
static void
reap_blocks(struct reap *r)
{
	unsigned i, k;

	r->what = TAKEN;
	find(r);
	if (r->any && !r->undone)
		mark_places(r);
	while (r->n != 0 && !r->undone) {
		bool more = r->n == FOUND;

		give_all_back(r);
		if (more)
			find(r);
	}
	revive_places(r);
	for (r->what = BLOCKS; r->any && r->what <= BUFFERS; r->what++)
		do {
			find(r);
			for (k = 0; k < NTURN; k++)
				for (i = 0; i < r->n && !r->undone; i++)
					reap_block(r, r->found[i], k);
		} while (r->n == FOUND && !r->undone);
}

bool
str_thread_reap(struct str_domain *d, struct str_thread *t, bool all)
{
	struct str_thread *self = host_self();
	uint32_t state = STR_THR_UNDONE;
	struct reap r = {.tag = str_load(&t->tag), .ms = all ? PATIENCE : 1};
	uint32_t k;

	(void)d;
	if (t == self || self == NULL) {
		/* a thread that ends in order holds nothing else */
		str_mem_reap(t);
	} else {
		uint64_t was = str_load(&self->inside);
		uint32_t busy = host_tls.busy, other = host_tls.reaping;

		/* nothing of its streams runs before all is in its place */
		host_tls.busy = 1;
		places(&r, t);
		for (k = 0; k < NPLACE; k++)
			if (r.in[k] != NULL && str_stream_inside(r.in[k]))
				r.undone |= !mend(&r, r.in[k]);
		str_store_rel(&self->inside, was);
		str_sock_reap(r.tag);
		if (!all) {
			reap_streams(&r, t);
			state = r.n != 0 ? STR_THR_LATER : STR_THR_UNDONE;
			r.undone = true;
		} else {
			str_mem_reap(t);
			if (str_load(&t->sharing) != 0 &&
			    !patient(&r, str_mdb_share(t)))
				r.undone = true;
			else
				str_mdb_revive(t);
			reap_blocks(&r);
		}
		str_store_rel(&self->inside, was);
		host_tls.busy = busy;
		str_sched_touched();
		host_tls.reaping = other;
	}
	str_store(&t->state, r.undone ? state : (uint32_t)STR_THR_RUN);
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
		if (str_load(&d->thread[i].state) >= STR_THR_UNDONE &&
		    str_load(&d->thread[i].tag) != 0)
			return true;
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Removes from the executive's part of a domain what dead threads held.
 */
#include "reap.h"
#include "sock/sock.h"

/*
 * Reaping.  A thread may have died anywhere: inside a stream, with private
 * blocks, with locks held.  Locks are taken over by the next thread that needs
 * them.  The reaper does the rest, in this order: it completes the changes of
 * plumbing that the dead thread had begun; returns its magazines to the depots;
 * puts the messages back that it had taken; makes the queues of its streams run
 * again and wakes their sleepers; and frees the blocks with its stamp.
 *
 * Stamped blocks that are linked are not freed.  A thread stamps a block before
 * it unlinks the block, and clears the stamp after it has linked the block: so
 * a death in between leaves a block that is both stamped and linked.  Nearly
 * all such blocks are linked in the streams that the dead thread's slot names;
 * the `kept' functions find the others.  Therefore the slot stays until
 * everything is done, and if a reaper dies, the next one finds the same
 * streams.  The blocks linked in these streams are marked, under the streams'
 * locks, with a number that only increases, so that two reapers in one stream
 * do not undo each other's marks.  A queue pair, or a link, stays reachable
 * until its queues are empty, and is not freed before all claims have ended:
 * so a reaper that reaches it under a claim may use it.
 *
 * If a living thread holds a lock (in a stopped process, or in an open
 * procedure that sleeps), the reaper waits a moment and then leaves the slot as
 * it was (STR_THR_UNDONE).  The next process that attaches tries again, and so
 * does streamsd, which does not end while there is such a slot.
 */
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
		wanted = str_reap_taken(r, x);
	} else if (r->what == BLOCKS) {
		/* a message may still refer to a buffer that was being freed:
		 * messages first */
		wanted = state != STR_BLK_BUF && state != STR_BLK_PASS;
	}
	if (wanted && r->n < FOUND)
		r->found[r->n++] = b;
}

/*
 * Does a neighbour of @qp lead to it?  This is for queue pairs of a stream that
 * the dead thread's slot does not name, for instance because the thread
 * released the last reference to that stream.
 */
bool
str_reap_pair_linked(const struct str_qpair *qp)
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
 * Is @b linked to its head?  That head may be in a stream that the slot does
 * not name: I_RECVFD makes an open file of another stream than that of the
 * call.
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

/* ------------------------------------------------------------- kinds of blocks */

static bool
seg_kept(struct reap *r, struct str_blk *b)
{
	return str_reap_seg_linked(r, (struct str_seg *)(void *)b);
}

static bool
pair_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return str_reap_pair_linked((struct str_qpair *)(void *)b);
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

static bool
timers_kept(struct reap *r, struct str_blk *b)
{
	(void)r;
	return str_timer_kept(b);
}

/* It is not reachable.  If freeing it needs a lock that a living thread holds,
 * it is left to the next attempt. */
static bool
message_kept(struct reap *r, struct str_blk *b)
{
	struct str_lock *l = str_mdb_wants((struct str_mdb *)(void *)b);

	r->undone |= l != NULL && !str_reap_patient(r, l);
	return false;
}

static void
message_fini(struct str_blk *b)
{
	str_reap_tell((struct str_mdb *)(void *)b);
	str_mdb_reap((struct str_mdb *)(void *)b);
}

static void
pair_fini(struct str_blk *b)
{
	struct str_qpair *qp = (struct str_qpair *)(void *)b;

	/* no block points to it, whatever flags its owner had set */
	str_qclr(&qp->rq, QMOUNTED);
	str_qpair_free(qp);
}

/* The stream was not in the directory yet, or not any more: no thread can reach
 * it. */
static void
stream_fini(struct str_blk *b)
{
	str_stream_reap((struct str_plumb *)(void *)b);
}

/*
 * The thread died while it freed the M_PASSFP, or before the pass (struct
 * str_pass) was in a message.  In the second case there is no reference to
 * release.
 */
static void
pass_fini(struct str_blk *b)
{
	str_pass_free((char *)b);
}

/* The collector may have counted the link's reference.  It runs again only if
 * references have changed since, which str_ref_begin() records. */
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
	[STR_BLK_EVENT] = {timers_kept, memory_fini, 2, str_words_event, NULL},
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
	kept = str_reap_marked(b, r->epoch) ||
		(str_kind[state].kept != NULL && str_kind[state].kept(r, b));
	if (r->undone)
		return;
	/* a thread that took over the dead one's lock may have stamped it */
	if (!str_cas(&b->owner, r->tag, kept ? 0u : host_self_tag()))
		return;
	if (!kept)
		str_kind[state].fini(b);
	else if (state == STR_BLK_PIPE)
		/* while the stream had the dead thread's stamp, no sweep could
		 * free it: sweep again */
		host_daemon_soon();
}

/* A thread died inside this stream: complete its change of plumbing. */
static bool
mend(const struct reap *r, struct str_plumb *pl)
{
	bool ok = true, died;
	uint32_t tag = r->tag;

	/* not by str_plumb_lock(): a thread inside may be stopped */
	if (str_load(&pl->plumber.owner) == tag ||
	    str_load(&pl->busy.owner) == tag) {
		ok = str_plumb_lock_soon(pl, r->ms);
		if (ok)
			str_plumb_unlock(pl);
	}
	/* a half made link is removed with the help of its driver */
	str_ioctl_revive(&pl->head[0], tag);
	str_ioctl_revive(&pl->head[1], tag);
	if (ok && str_load(&pl->busy.owner) == tag &&
	    str_busy_grab(pl, &died)) {
		(void)str_busy_mend(pl);
		str_busy_unlock(pl);
	}
	return ok;
}

/* Make the queues of the stream run again, and wake its sleepers. */
static void
revive(const struct reap *r, struct str_plumb *pl)
{
	if (str_reap_patient(r, &pl->plumber) && str_reap_patient(r, &pl->rlock))
		str_sched_revive(pl, r->tag);
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	/* the dead thread may have taken out a token for other sleepers */
	str_ring_sleepers(&pl->head[0], true);
	str_ring_sleepers(&pl->head[1], true);
}

/* The streams that the dead thread was inside, each once. */
static void
places(struct reap *r, struct str_thread *t)
{
	uint64_t at[NPLACE - STR_NCLAIM] = {str_load(&t->inside),
		str_load(&t->held), str_load(&t->late)};
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
 * Is @pl a stream that is not in the directory any more, but not freed yet?  It
 * may point to blocks of the dead thread until it is freed.  False if the dead
 * thread was freeing it: then no other thread does, and there is nothing to
 * wait for.
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
 * Mark the blocks reachable from the streams, with this thread inside them.  A
 * stream that has been freed meanwhile is left out; if another thread is still
 * freeing one (is_going()), everything is left to the next attempt.
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
			r->undone = !str_reap_mark_pipe(r, r->in[k]);
		else
			r->undone = is_going(r, r->in[k]);
	}
	/* clear the stamps of messages that modules keep, after the queues have
	 * been repaired: otherwise a stale link on a queue would look like a
	 * module's pointer to a message that the dead thread had just taken */
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
	/*
	 * removing the dead thread from a module's perimeter lets waiting work
	 * run
	 */
	str_foreign_revive(r->tag);
}

/*
 * Put back the messages that the slot @t names as taken last, and let the
 * streams continue; the memory is searched later.  If a message could not be
 * put back, the streams wait for the reaper that searches the memory.
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
		str_reap_give_back(r);
	}
	if (r->n == 0)
		revive_places(r);
}

/*
 * The blocks that the dead thread with tag r->tag held.  First messages are put
 * back, then the streams continue, and then the other blocks are freed.  A
 * driver that runs in between may ask what became of a duplicate of a message
 * (str_msg_fate()): the answer is EAGAIN until the duplicate has been freed.
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

		str_reap_give_back(r);
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
		/* a thread that ends normally holds no other blocks */
		str_mem_reap(t);
	} else {
		uint64_t was = str_load(&self->inside);
		uint32_t busy = host_tls.busy, other = host_tls.reaping;

		/*
		 * no queue of its streams runs before all messages are in place
		 */
		host_tls.busy = 1;
		places(&r, t);
		for (k = 0; k < NPLACE; k++)
			if (r.in[k] != NULL && str_stream_inside(r.in[k])) {
				str_stream_uncount(r.in[k], t);
				r.undone |= !mend(&r, r.in[k]);
			}
		str_store_rel(&self->inside, was);
		str_sock_reap(r.tag);
		str_timer_reap(r.tag);
		if (!all) {
			reap_streams(&r, t);
			state = r.n != 0 ? STR_THR_LATER : STR_THR_UNDONE;
			r.undone = true;
		} else {
			str_mem_reap(t);
			if (str_load(&t->sharing) != 0 &&
			    !str_reap_patient(&r, str_mdb_share(t)))
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
	/* it may have died after it had made a stream other than a common pipe,
	 * and before it called this function */
	str_stream_odd();
	str_store(&t->state, r.undone ? state : (uint32_t)STR_THR_RUN);
	if (r.undone)
		return false;
	for (k = 0; k < STR_NCLAIM; k++)
		str_store(&t->claim[k], (uint64_t)0);
	str_store_rel(&t->inside, (uint64_t)0);
	str_store(&t->held, (uint64_t)0);
	str_store(&t->late, (uint64_t)0);
	str_store(&t->moving, 0u);
	str_store(&t->asleep_on, (uint64_t)0);
	return true;
}

/* str_region_undone - is there a dead thread that could not be reaped yet? */
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

/*
 * str_ring_sleepers - ring the threads that sleep at @sd, and @pollers: those
 * that sleep at many streams
 * For sleepers that neither a word nor a token of the caller can reach.
 */
STR_COLD void
str_ring_sleepers(struct str_head *sd, bool pollers)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t on = str_load(&t->asleep_on);

		if (str_load(&t->tag) == 0 || t == host_self())
			continue;
		if (on == (uint64_t)(uintptr_t)sd || (pollers && on == ~0ull))
			host_bell_ring(t);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Making streams and taking them apart: what pipes, FIFOs and device streams
 * have in common.
 *
 * Life.  str_stream_alloc() gives the memory, with heads that no lookup can find
 * yet.  The maker of the stream enters it into the directory, by its sid;
 * from there on it is one.  str_stream_free() takes that entry out, which
 * only one caller can do, and frees all, at once or when the last call that
 * is still inside has ended.
 *
 * Crash.  Until it is in the directory a stream is stamped with its creator's
 * tag and falls to str_thread_reap(); so it does again from the moment it is
 * taken out.
 */
#include "core.h"
#include "sock/sock.h"

/* The memory is clear. */
static int
head_init(struct str_plumb *pl, int end, uint32_t hiwat, uint32_t lowat,
	uint64_t now)
{
	struct str_head *sd = &pl->head[end];

	str_headq_init(&sd->hq, hiwat, lowat);
	sd->plumb = pl;
	sd->peer = pl->kind == STR_PL_FIFO ? sd : &pl->head[!end];
	sd->end = (uint32_t)end;
	sd->file.head = sd;
	sd->cltime = STR_CLTIME;
	str_store(&sd->ctime, now);
	if (end >= (int)pl->nheads) {
		str_store(&sd->flags, STR_H_STUB | STR_H_CLOSED);
		sd->peer = &pl->head[0];
		return 0;
	}
	sd->wropt = pl->kind == STR_PL_DEV ? 1 : 2; /* SNDZERO, SNDPIPE */
	sd->qp = str_qpair_alloc(pl, NULL);
	if (sd->qp == NULL)
		return ENOSR;
	str_mem_disown(sd->qp);
	sd->qp->rq.q_head = sd->qp->wq.q_head = sd;
	sd->qp->rq.q_hiwat = hiwat;
	sd->qp->rq.q_lowat = lowat;
	sd->qp->rq.q_maxpsz = INFPSZ;
	return 0;
}

/*
 * Streams that wait to be buried: the lower half of the word is how many there
 * may be, the upper one numbers the times that one more was said.  A thread that has
 * looked at all sets the lower half right, unless it was said once more
 * meanwhile; so saying it too often does no harm.
 */
#define MORE (1ull << 32)

static void
unburied_more(void)
{
	(void)str_add(str_root(STR_ROOT_UNBURIED), MORE + 1);
}

/* str_stream_unburied - may there be some? */
bool
str_stream_unburied(void)
{
	return (uint32_t)str_load(str_root(STR_ROOT_UNBURIED)) != 0;
}

/* str_stream_alloc - memory for a stream of @kind, without owner yet; or NULL. */
struct str_plumb *
str_stream_alloc(uint32_t kind, uint32_t hiwat, uint32_t lowat)
{
	struct str_plumb *pl;
	uint64_t now;
	uint32_t gen;
	int e, err = 0;

	if (str_unlikely(str_stream_unburied()))
		(void)str_stream_bury_all();
	pl = str_mem_alloc_plumb(STR_BLK_KMEM);
	if (pl == NULL)
		return NULL;
	gen = str_load(&pl->head[0].file.gen);
	__builtin_memset((char *)pl + sizeof(pl->blk), 0,
		sizeof(*pl) - sizeof(pl->blk));
	pl->kind = kind;
	pl->nheads = kind == STR_PL_PIPE ? 2 : 1;
	/* only now: the reaper takes it for one */
	str_store_rel(&pl->blk.state, STR_BLK_PIPE);
	now = host_now();
	for (e = 0; e < 2 && err == 0; e++) {
		err = head_init(pl, e, hiwat, lowat, now);
		str_store(&pl->head[e].file.gen, gen + 1);
	}
	if (err != 0) {
		str_stream_discard(pl);
		return NULL;
	}
	return pl;
}

/* str_stream_discard - one that was never entered */
void
str_stream_discard(struct str_plumb *pl)
{
	struct str_fileblk *b;
	struct str_qpair *qp;
	struct str_file *f;
	int e;

	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		while ((f = sd->file.next) != NULL) {
			b = str_container(f, struct str_fileblk, f);
			str_mem_own(b);
			__atomic_store_n(&sd->file.next, f->next,
				__ATOMIC_RELEASE);
			str_mem_free(b);
		}
		str_sig_free(sd);
		qp = sd->qp;
		if (qp != NULL) {
			str_mem_own(qp);
			__atomic_store_n(&sd->qp, (struct str_qpair *)NULL,
				__ATOMIC_RELEASE);
			str_qpair_free(qp);
			STR_CRASH_POINT("stream:dropped");
		}
	}
	str_mem_free(pl);
}

/*
 * Is this the domain's only thread?  One that has no slot yet will find the
 * generation raised: its full fence, when it has taken one, pairs with this.
 */
static bool
is_alone(void)
{
	struct str_domain *d = host_domain;
	uint32_t n, i;

	str_fence_full();
	n = str_load(&d->thread_high);
	for (i = 0; i < n && i < STR_NTHREAD; i++)
		if (&d->thread[i] != host_self() &&
			str_load_acq(&d->thread[i].tag) != 0)
			return false;
	return true;
}

/* Is a call on either end still going on, in a thread that lives? */
static bool
is_inside(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n, i, k;

	if (is_alone())
		return false;
	host_fence_heavy(); /* pairs with str_head_enter() */
	n = str_load(&d->thread_high);
	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t in = str_load_acq(&t->inside);
		bool here = in == (uint64_t)(uintptr_t)&pl->head[0] ||
			in == (uint64_t)(uintptr_t)&pl->head[1];

		if (t == host_self())
			continue;
		for (k = 0; k < STR_NCLAIM && !here; k++)
			here = str_load_acq(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl;
		if (here && str_load(&t->tag) != 0 &&
		    !host_owner_dead(str_load(&t->tag)))
			return true;
	}
	return false;
}

/*
 * What the queues hold, and they themselves.  Each thing is ours before the
 * stream forgets it: a thread killed here leaves it to its reaper,
 * and the rest to the one that goes on here.
 */
static void
dismantle(struct str_plumb *pl)
{
	mblk_t *reply;
	int e;

	if (str_unlikely(str_load(&pl->ksocked) != 0))
		str_sock_stream_gone(pl);
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		if (str_hlock(&sd->hq.plock, STR_HOLD_P))
			str_headq_repair_p(&sd->hq);
		str_store(&sd->direct, (struct str_headq *)NULL);
		str_headq_fini(&sd->hq);
		str_hunlock(&sd->hq.plock, STR_HOLD_P);
		reply = sd->ioc.reply;
		if (reply != NULL) {
			str_msg_own(reply);
			__atomic_store_n(&sd->ioc.reply, (mblk_t *)NULL,
				__ATOMIC_RELEASE);
			freemsg(reply);
		}
	}
	str_stream_discard(pl);
}

/*
 * The stream is dead to all and ours.  A thread may still be inside, its
 * descriptor closed by another: it then waits for that one's end.
 */
void
str_stream_bury(struct str_plumb *pl)
{
	if (!is_inside(pl)) {
		dismantle(pl);
		return;
	}
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	str_store_rel(&pl->freed, 1u); /* still stamped: str_stream_kept() */
	STR_CRASH_POINT("pipe:unburied");
	unburied_more();
	str_mem_disown(pl); /* the thread that stamps it now buries it */
}

/*
 * str_stream_free - it has no holder, nothing is pushed or linked: take it
 * apart.  Several may find out; @sid proves that it is the same stream still.
 * @clear: called when it is ours, to pop what is pushed; or NULL.
 * Return: true for the one caller that did it.
 */
bool
str_stream_free(struct str_plumb *pl, uint64_t sid,
	void (*clear)(struct str_plumb *pl))
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	unsigned e;

	/* stamped first: a killed thread has it in the directory or in hand */
	if (!str_cas(&pl->blk.owner, 0u, host_self_tag()))
		return false;
	STR_CRASH_POINT("pipe:owned");
	if (!str_dir_remove(sid)) {
		str_mem_disown(pl);
		return false;
	}
	/* where the reaper finds what we had in hand */
	str_store_rel(&t->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	STR_CRASH_POINT("pipe:removed");
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->file.carrier.cookie != 0 &&
			sd->file.carrier.cookie != sid)
			(void)str_dir_remove(sd->file.carrier.cookie);
		/* before claims are looked for: head/short.c */
		str_store(&sd->hq.ticket, (uint64_t)0);
		(void)str_or(&sd->flags, STR_H_CLOSED | STR_H_HUP | STR_H_PEER);
		(void)str_add(&sd->file.gen, 1u);
	}
	if (clear != NULL)
		clear(pl);
	(void)str_sub(str_root(STR_ROOT_NPIPES), (uint64_t)1);
	if (pl->kind != STR_PL_PIPE)
		(void)str_sub(str_root(STR_ROOT_NDEVS), (uint64_t)1);
	str_stream_bury(pl);
	str_store_rel(&t->inside, was);
	return true;
}

struct burial {
	unsigned n, left;
};

static void
bury(struct str_blk *b, void *arg)
{
	struct str_plumb *pl = (struct str_plumb *)(void *)b;
	struct burial *y = arg;

	if (str_load(&b->state) != STR_BLK_PIPE || str_load(&pl->freed) == 0)
		return;
	if (is_inside(pl) || !str_cas(&b->owner, 0u, host_self_tag())) {
		y->left++;
		return;
	}
	STR_CRASH_POINT("pipe:stamped");
	if (!str_cas(&pl->freed, 1u, 0u)) {
		str_mem_disown(pl); /* another by now */
		return;
	}
	dismantle(pl);
	y->n++;
}

unsigned
str_stream_bury_all(void)
{
	uint64_t v = str_load(str_root(STR_ROOT_UNBURIED));
	struct burial y = {0, 0};

	str_mem_walk(bury, &y);
	if ((uint32_t)v != y.left)
		(void)str_cas(str_root(STR_ROOT_UNBURIED), v,
			(v & ~(MORE - 1)) | y.left);
	return y.n;
}

/*
 * str_stream_kept - is @pl, stamped by the dead, not the reaper's?
 * A device's or FIFO's in the directory is closed by the next sweep, as if it
 * had never been stamped.  A pipe's maker had not told anybody of it yet.
 */
bool
str_stream_kept(struct str_plumb *pl)
{
	if (str_load(&pl->freed) != 0) {
		/* the caller may not have said so */
		unburied_more();
		return true;
	}
	return pl->kind != STR_PL_PIPE && str_stream_lives(pl);
}

/* str_stream_reap - a stream that is in no directory: its memory. */
void
str_stream_reap(struct str_plumb *pl)
{
	unsigned e;

	(void)str_dir_remove(pl->sid);
	for (e = 0; e < pl->nheads && e < 2; e++) {
		struct str_qpair *qp = pl->head[e].qp;

		if (qp == NULL || !str_mem_valid(qp) ||
		    qp->blk.state != STR_BLK_QPAIR)
			break;
	}
	if (e == pl->nheads && e != 0 && pl->head[0].plumb == pl &&
	    pl->head[1].plumb == pl) {
		for (e = 0; e < 2; e++) {
			struct str_head *sd = &pl->head[e];

			if (sd->file.carrier.cookie != 0)
				(void)str_dir_remove(sd->file.carrier.cookie);
			str_store(&sd->hq.ticket, (uint64_t)0);
			(void)str_or(&sd->flags,
				STR_H_CLOSED | STR_H_HUP | STR_H_PEER);
			(void)str_add(&sd->file.gen, 1u);
		}
		str_plumb_clear_all(pl);
		str_stream_bury(pl);
		return;
	}
	/* its creator died, or who took it apart did, when one was left */
	for (e = 0; e < 2; e++) {
		struct str_qpair *qp = pl->head[e].qp;

		if (qp != NULL && str_mem_valid(qp) &&
		    qp->blk.state == STR_BLK_QPAIR && qp->plumb == pl)
			str_qpair_free(qp);
		pl->head[e].qp = NULL;
	}
	str_mem_free(pl);
}

uint32_t
str_head_kind(struct str_head *sd, uint64_t *ret_dev)
{
	*ret_dev = sd->plumb->dev;
	return sd->plumb->kind;
}

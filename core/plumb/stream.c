/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Making and dismantling streams: the common part of pipes, FIFOs and device
 * streams.
 *
 * Life.  str_stream_alloc() gives the memory, with heads that no lookup can find
 * yet.  The maker of the stream enters it into the directory, by its sid; from
 * then on it is a stream. str_stream_free() removes that entry, which only one
 * caller can do, and frees everything, at once or when the last call that is
 * still inside has ended.
 *
 * Crash.  Until it is in the directory a stream is stamped with its creator's
 * tag, and str_thread_reap() frees it; the same is true from the moment it is
 * removed.
 */
#include "core.h"
#include "sock/sock.h"

/* Initialize a head of @pl, whose memory is zero. */
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
 * Streams that wait to be freed: the lower half of the word is an upper bound
 * of their number, the upper half counts increments.  A thread that has
 * examined all streams corrects the lower half, unless there was an increment
 * meanwhile; so an unnecessary increment does no harm.
 */
#define MORE (1ull << 32)

static void
unburied_more(void)
{
	(void)str_add(str_root(STR_ROOT_UNBURIED), MORE + 1);
	host_daemon_soon();
}

/* str_stream_unburied - may such streams exist? */
bool
str_stream_unburied(void)
{
	return (uint32_t)str_load(str_root(STR_ROOT_UNBURIED)) != 0;
}

/* str_stream_alloc - memory for a stream of @kind, stamped by this thread; or
 * NULL. */
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
	/* only now, because the reaper then treats it as a stream */
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

/* str_stream_discard - free a stream that is not in the directory */
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
 * Have only threads of this process ever followed a pointer to @pl under the
 * protection of a light fence?  Yes, if no other process ever had a descriptor
 * of the pipe, and if the pipe never had anything but its two heads.  A thread
 * of another process finds it in the directory, and executes a full fence:
 * str_stream_inside().
 */
static bool
is_private(struct str_plumb *pl)
{
	unsigned e;

	if (str_load(&pl->sole) != 3u || str_load(&pl->pushed) != 0)
		return false;
	for (e = 0; e < 2; e++)
		if (pl->head[e].file.next != NULL ||
		    str_load(&pl->head[e].refs) != 0)
			return false;
	return true;
}

/*
 * May a thread be inside @pl that has executed a light fence only?  A thread
 * without a slot will see the incremented generation: the full fence after it
 * takes a slot pairs with this one.
 */
static bool
is_fence_needed(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	bool private = is_private(pl);
	uint32_t n, i, me = str_load(&host_self()->proc);

	str_fence_full();
	n = str_load(&d->thread_high);
	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];

		if (t != host_self() && str_load_acq(&t->tag) != 0 &&
		    (!private || str_load(&t->proc) == me))
			return true;
	}
	return false;
}

/*
 * str_stream_uncount - thread @t, which is dead, may have been counted as a writer
 * that sleeps at @pl: it does so no longer
 * Context: the caller is inside of @pl, or frees it.
 */
void
str_stream_uncount(struct str_plumb *pl, struct str_thread *t)
{
	uint64_t at = str_load(&t->counted);

	if (at == (uint64_t)(uintptr_t)&pl->head[0].hq.wsleep ||
	    at == (uint64_t)(uintptr_t)&pl->head[1].hq.wsleep)
		str_thread_uncount(t);
}

/*
 * Is another living thread still inside a call on either end, or does it have a
 * claim?  A dead thread does not keep the stream.  It must not be counted as a
 * sleeping writer any more: its reaper may come when the memory is another
 * stream.
 */
static bool
is_inside(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n, i, k;

	if (is_fence_needed(pl))
		host_fence_heavy(); /* pairs with str_head_enter() */
	n = str_load(&d->thread_high);
	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t in;
		bool here;

		if (t == host_self() || str_load(&t->tag) == 0)
			continue;
		in = str_load_acq(&t->inside);
		here = in == (uint64_t)(uintptr_t)&pl->head[0] ||
			in == (uint64_t)(uintptr_t)&pl->head[1];
		for (k = 0; k < STR_NCLAIM && !here; k++)
			here = str_load_acq(&t->claim[k]) ==
				(uint64_t)(uintptr_t)pl;
		if (here && !host_owner_dead(str_load(&t->tag)))
			return true;
		if (here)
			str_stream_uncount(pl, t);
	}
	return false;
}

/*
 * Free the queues and their messages.  This thread owns each object before it
 * is unlinked from the stream: if it is killed, its reaper frees this object,
 * and the next thread frees the rest.
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
 * str_stream_bury - free a stream that no thread can find and this one owns
 * A thread may still be inside, if another thread closed its descriptor: then
 * the stream is kept until that call ends.  Return: false: it is kept.
 */
bool
str_stream_bury(struct str_plumb *pl)
{
	if (!is_inside(pl)) {
		dismantle(pl);
		return true;
	}
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	str_store_rel(&pl->freed, 1u); /* still stamped: str_stream_kept() */
	STR_CRASH_POINT("pipe:unburied");
	unburied_more();
	str_mem_disown(pl); /* the thread that stamps it now frees it */
	return false;
}

/*
 * str_stream_free - dismantle a stream without holder and links
 * Several threads may call it; @sid shows that it is still the same stream.
 * @clear: called when this thread owns it, to pop its modules; NULL: it has
 * none.
 * Return: STR_FREED_NOT, except to the one caller that did it: STR_FREED, or
 * STR_FREED_LATER: another thread is still inside.
 */
enum str_freed
str_stream_free(struct str_plumb *pl, uint64_t sid,
	void (*clear)(struct str_plumb *pl))
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	enum str_freed how;
	unsigned e;

	/* stamped first: if this thread is killed, the stream is in the
	 * directory or stamped */
	if (!str_cas(&pl->blk.owner, 0u, host_self_tag()))
		return STR_FREED_NOT;
	STR_CRASH_POINT("pipe:owned");
	if (!str_dir_remove(sid)) {
		str_mem_disown(pl);
		return STR_FREED_NOT;
	}
	/* so that the reaper finds what this thread holds */
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
	how = str_stream_bury(pl) ? STR_FREED : STR_FREED_LATER;
	str_store_rel(&t->inside, was);
	return how;
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
		str_mem_disown(pl); /* it is another stream by now */
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
 * str_stream_kept - is @pl, stamped by a dead thread, not to be freed by the
 * reaper?
 * A device or FIFO in the directory is closed by the next sweep, as if it had
 * never been stamped.  A pipe was not known to any other process yet, or had no
 * holder any more.
 */
bool
str_stream_kept(struct str_plumb *pl)
{
	if (str_load(&pl->freed) != 0) {
		/* the dead thread may not have counted it */
		unburied_more();
		return true;
	}
	return pl->kind != STR_PL_PIPE && str_stream_lives(pl);
}

/*
 * str_stream_reap - free a stream that a dead thread was making or freeing
 * It may still have entries in the directory, which are removed.
 */
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
		(void)str_stream_bury(pl);
		return;
	}
	/* its creator died before all heads had queues, or the thread that
	 * dismantled it died after it had freed some */
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

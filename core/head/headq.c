/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue: ordinary messages waiting at a Stream head.
 *
 * Purpose.  A list of message blocks under one lock moves three or four
 * cache lines per message between two CPUs, and a lock besides.  Here a
 * message that need not be a message block is a record in a log: a header
 * word, then its bytes.  Writers append, readers consume, and the two sides
 * share no lock and, per message, no line but those of the log itself.
 *
 * Objects.  The log is a chain of segments.  `pos' is the published end,
 * `cpos' the first unread record; both count bytes since the pipe was made,
 * so nothing wraps.  A record never crosses a segment.  A message that comes
 * as a block (from a module) is copied in when it is small and stands as a
 * reference when it is not.
 *
 * Life.  Producer (under plock): write the record beyond pos, publish it by
 * one release store of pos.  When it does not fit, put a skip record, link a
 * new segment, go on there.  Consumer (under clock): read up to pos, advance
 * cpos; a segment left behind goes to the one-place `spare', where the
 * producer finds it warm.
 *
 * Flow control.  pbytes - cbytes is the count of bytes queued.  `full' is
 * QFULL: set above hiwat, clear when the count is zero or below lowat.  A
 * log of many tiny records is full at `loglimit' bytes, headers included.
 *
 * Want of memory.  A writer is told; but a message that comes from a module
 * cannot be refused.  It waits on the head's write queue, which is used for
 * nothing else, and nothing is appended before it: `full' says so in a way that
 * reading alone does not change (STR_FULL_HELD), and no room is known of
 * (plimit).  It is let in by the next who comes with a message, or by the
 * reader who has read all else: an empty log begins anew in the segment it has.
 *
 * Failure.  What is beyond pos has no owner: a producer that dies
 * there has written nothing.  pbytes is recounted by walking
 * (str_headq_repair_p).  A consumer commits by storing cpos; `part' is
 * cleared before, so a death in between repeats part of a record to the next
 * reader rather than losing the next one's head.  The record has been counted
 * in cbytes then, and will be once more.  The next owner of the consumer's lock
 * cannot recount, since the producer may be at work: it raises `doubt', and a
 * producer that goes the slow way recounts.  Until then the count is too small,
 * and perhaps less than nothing, which counts as nothing (headq_bytes()).
 *
 * models/seg.pml checks segments and publication.
 */
#include "core.h"
#include "headq.h"
#include "msg/alloc.h"
#include "sig.h"

#define LOOK_NS 3000u	/* from one look of who only reads to the next */
#define LOOK_PAUSES 100u /* ... whatever the clock says */
#define LOOK_STREAK 8u	/* looks that make a stream */

static void
set_limit(struct str_headq *hq)
{
	uint64_t l = (uint64_t)hq->hiwat * 8 + LOG_SLACK;

	hq->loglimit = STR_MIN(l, STR_MAX((uint64_t)LOG_MAX,
					(uint64_t)hq->hiwat * 2));
}

/* str_headq_init - a new one; its memory is clear. */
void
str_headq_init(struct str_headq *hq, uint32_t hiwat, uint32_t lowat)
{
	hq->hiwat = hiwat;
	hq->lowat = lowat;
	hq->segsize = SEG_MIN;
	hq->credit = 1;
	str_store(&hq->pcpu, ~0u);
	str_store(&hq->ccpu, ~0u);
	set_limit(hq);
}

/*
 * str_headq_limits - new water marks; the caller has checked them.
 * Locks: takes plock.
 */
void
str_headq_limits(struct str_headq *hq, uint32_t hiwat, uint32_t lowat)
{
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	hq->hiwat = hiwat;
	hq->lowat = lowat;
	set_limit(hq);
	hq->plimit = 0; /* it follows from the old ones */
	str_hunlock(&hq->plock, STR_HOLD_P);
}

/* ------------------------------------------------------------- segments */

/* Do who writes and who reads run on two CPUs, as far as is known? */
static bool
is_far(const struct str_headq *hq)
{
	uint32_t p = str_load(&hq->pcpu), c = str_load(&hq->ccpu);

	return p != c && p != ~0u && c != ~0u;
}

static uint32_t
longer(uint32_t size)
{
	return size < 4096 ? 4352 : size < 16384 ? 16640 : SEG_MAX;
}

static struct str_seg *
seg_alloc(struct str_headq *hq, uint32_t want)
{
	uint32_t size = hq->segsize;
	struct str_seg *s;

	while (size < want + SEG_HDR && size < SEG_MAX)
		size = longer(size);
	s = str_mem_alloc(size, STR_BLK_SEG);
	if (s == NULL)
		return NULL;
	s->size = (uint32_t)((str_mem_size(s) - SEG_HDR) & ~3ull);
	/* the next one: longer, unless little may wait here anyway */
	if (size < hq->hiwat)
		hq->segsize = longer(size);
	return s;
}

/*
 * Between two CPUs long ones take their turn with others (mem.c): the spare one
 * goes, and stays if there is no memory, for then it is what to go on with.
 */
static struct str_seg *
seg_new(struct str_headq *hq, uint64_t base, uint32_t want)
{
	struct str_seg *s = str_load_acq(&hq->spare), *fresh;

	/* only a producer empties the place, only a consumer fills it; the
	 * segment is stamped while it still stands there */
	if (s != NULL) {
		str_mem_own(s);
		str_store_rel(&hq->spare, (struct str_seg *)NULL);
		STR_CRASH_POINT("headq:spare");
		if (s->size > SEG_MAX / 2 && is_far(hq) &&
		    (fresh = seg_alloc(hq, want)) != NULL) {
			str_mem_free_from(s, str_load(&hq->ccpu));
			s = fresh;
		}
	}
	if (s != NULL && s->size < want) {
		str_mem_free(s);
		s = NULL;
	}
	if (s == NULL)
		s = seg_alloc(hq, want);
	if (s == NULL)
		return NULL;
	s->base = base;
	s->next = NULL;
	s->hq = hq;
	return s;
}

static void
seg_retire(struct str_headq *hq, struct str_seg *s)
{
	str_mem_own(s);
	if (str_load(&hq->spare) != NULL) {
		str_mem_free(s);
		return;
	}
	str_store_rel(&hq->spare, s);
	/* the next producer may have it already, and have given it away */
	(void)str_cas(&s->blk.owner, host_self_tag(), 0u);
}

/*
 * An empty log can begin its last segment anew: that needs no memory.
 * Locks: plock and clock.
 */
static bool
rewind_empty(struct str_headq *hq)
{
	uint64_t pos = str_load(&hq->pos);

	if (hq->tail == NULL || hq->tail != hq->head ||
	    str_load(&hq->cpos) != pos)
		return false;
	hq->tail->base = pos;
	hq->plimit = hq->climit = 0;
	return true;
}

/*
 * Room for a record of @len bytes (a multiple of 4).  Returns its address
 * and, in *ret_pos, its log position; NULL when there is no memory.
 * Locks: plock.
 */
STR_NOINLINE unsigned char *
str_headq_room_slow(struct str_headq *hq, uint32_t len, uint64_t *ret_pos)
{
	uint64_t pos = str_load(&hq->pos), end;
	struct str_seg *t = hq->tail, *s;

	if (t == NULL) {
		s = seg_new(hq, pos, len);
		if (s == NULL)
			return NULL;
		/* the consumer finds its first segment through pos > cpos */
		hq->head = s;
		str_barrier();
		hq->tail = s;
		str_mem_disown(s); /* linked first: the reaper can tell */
		*ret_pos = pos;
		return s->data;
	}
	/* a producer that died may have left a successor already */
	s = t->next;
	end = t->base + t->size;
	if (s == NULL || s->size < len) {
		if (s != NULL) {
			t->next = NULL;
			str_mem_own(s);
			str_mem_free(s);
		}
		s = seg_new(hq, end, len);
		if (s == NULL) {
			bool again = false, died;

			if (str_htrylock_hard(&hq->clock, &died)) {
				if (died)
					str_headq_repair_c(hq);
				again = len <= t->size && rewind_empty(hq);
				str_hunlock(&hq->clock, STR_HOLD_C);
			}
			*ret_pos = pos;
			return again ? t->data : NULL;
		}
		if (pos < end)
			store32(t->data + (pos - t->base), STR_REC_SKIP);
		STR_CRASH_POINT("headq:seg");
		t->next = s;
		str_mem_disown(s);
	} else if (pos < end) {
		store32(t->data + (pos - t->base), STR_REC_SKIP);
	}
	*ret_pos = end;
	return s->data;
}

/*
 * Is the queue flow controlled?  Any thread; exact under plock.
 * Clears `full' with the hysteresis of the reference: at zero or below lowat.
 */
bool
str_headq_is_full(struct str_headq *hq)
{
	uint32_t full = str_load(&hq->full);
	uint64_t count, log;

	if (str_likely(full == 0))
		return false;
	if (str_unlikely(full == STR_FULL_HELD))
		return true;
	log = str_load(&hq->pos) - str_load_acq(&hq->cpos);
	count = str_headq_count(hq);
	if ((count == 0 || count < hq->lowat) &&
	    (log == 0 || log < hq->loglimit / 2))
		return !str_cas(&hq->full, STR_FULL_MARK, 0u) &&
			str_load(&hq->full) != 0;
	return true;
}

uint64_t
str_headq_count(struct str_headq *hq)
{
	uint64_t out = str_load_acq(&hq->cbytes);

	return headq_bytes(str_load(&hq->pbytes), out);
}

/* ------------------------------------------------------------ producing */

/*
 * str_headq_append - one M_DATA message of @len bytes from the caller's
 * memory
 * Return: 0, EFAULT (nothing appended), ENOSR.
 * Locks: plock.
 */
STR_HOT int
str_headq_append(struct str_headq *hq, const void *ubase, size_t len,
	uint32_t flags)
{
	if (str_unlikely(len > INLINE_MAX)) {
		int err = 0;
		mblk_t *mp = str_msg_from_user(ubase, len, M_DATA, &err);

		if (mp == NULL)
			return err;
		if (flags & STR_REC_DELIM)
			mp->b_flag |= MSGDELIM;
		err = str_headq_append_mblk(hq, mp);
		if (err != 0)
			freemsg(mp);
		return err;
	}
	return headq_put(hq, ubase, len, flags);
}

/*
 * str_headq_coalesce - as str_headq_append(), but join the last message when
 * it is M_DATA, unread, not delimited, and stays within a small buffer.  A
 * reader that is at work just now is left alone.
 * Locks: plock; takes clock for a moment.
 */
int
str_headq_coalesce(struct str_headq *hq, const void *ubase, size_t len,
	uint32_t flags)
{
	uint64_t pos = str_load(&hq->pos), last = hq->last;
	struct str_seg *t = hq->tail;
	unsigned char *p;
	uint32_t hdr, span;
	int err;

	if (t == NULL || last < t->base || last >= pos ||
	    str_load(&hq->cpos) > last || !str_htrylock(&hq->clock))
		goto append;
	p = t->data + (last - t->base);
	hdr = load32(p);
	span = 4 + ALIGN4((hdr & STR_REC_LEN) + (uint32_t)len);
	if (str_load(&hq->cpos) > last || last + rec_span(hdr, p) != pos ||
	    (hdr & ~STR_REC_LEN) != STR_REC_DATA || flags != 0 ||
	    (hdr & STR_REC_LEN) + len > STR_FASTBUF ||
	    last + span > t->base + t->size) {
		str_hunlock(&hq->clock, STR_HOLD_C);
		goto append;
	}
	if (host_copyin(ubase, p + 4 + (hdr & STR_REC_LEN), len) != 0) {
		str_hunlock(&hq->clock, STR_HOLD_C);
		return EFAULT;
	}
	/* the reader is out: header, count and end change together */
	store32(p, hdr + (uint32_t)len);
	str_store(&hq->pbytes, str_load(&hq->pbytes) + len);
	str_store_rel(&hq->pos, last + span);
	hq->cpos_seen = str_load(&hq->cpos);
	hq->climit = 0;
	str_hunlock(&hq->clock, STR_HOLD_C);
	return 0;
append:
	pos = str_load(&hq->pos);
	err = str_headq_append(hq, ubase, len, flags);
	if (err == 0 && str_load(&hq->pos) - pos == 4 + ALIGN4((uint32_t)len))
		hq->last = pos;
	return err;
}

/*
 * str_headq_append_msg - an M_PROTO message with both parts inline
 * @dlen: -1: no data part.  The parts together are at most INLINE_MAX.
 * Locks: plock.
 */
int
str_headq_append_msg(struct str_headq *hq, const void *uctl, size_t clen,
	const void *udata, ssize_t dlen, uint32_t flags)
{
	return headq_put_msg(hq, uctl, (uint32_t)clen, udata, dlen, flags,
		false);
}

/*
 * The blocks behind the first of @mp, which goes into the log by reference, in
 * @rest; *@ret_n: how many.  They stay the producer's until pos has changed: a
 * crash before that leaves them to the reaper.  Of more blocks than @rest has
 * room for a crash leaves those in the domain.
 */
#define REST 8u

static void
rest_of(mblk_t *mp, mblk_t *rest[REST], unsigned *ret_n)
{
	mblk_t *bp = mp->b_cont;
	unsigned n;

	if (bp != NULL)
		str_origin_set(str_mdb_of_m(bp), 0);
	for (n = 0; bp != NULL && n < REST; bp = bp->b_cont)
		rest[n++] = bp;
	str_msg_disown(bp);
	*ret_n = n;
}

/*
 * str_headq_append_mblk - a message of blocks, band 0, M_DATA or M_PROTO
 * Consumes @mp when it returns 0.  Locks: plock.
 */
int
str_headq_append_mblk(struct str_headq *hq, mblk_t *mp)
{
	size_t bytes = msgsize(mp);
	uint32_t flags = 0;
	unsigned char *p;
	mblk_t *bp;
	mblk_t *rest[REST];
	unsigned n;
	uint64_t pos;
	uint32_t rec, off;

	if (mp->b_flag & MSGMARK)
		flags |= STR_REC_MARK;
	if (mp->b_flag & MSGDELIM)
		flags |= STR_REC_DELIM;
	if (bytes <= COPY_MAX && mp->b_datap->db_type == M_DATA) {
		p = room(hq, ALIGN4((uint32_t)bytes) + 4 + 64, &pos);
		if (str_unlikely(p == NULL))
			goto ref; /* that may fit all the same */
		off = data_off((uint32_t)bytes, p);
		rec = off + ALIGN4((uint32_t)bytes);
		for (bp = mp; bp != NULL; bp = bp->b_cont) {
			size_t len = str_blen(bp);

			if (len != 0)
				__builtin_memcpy(p + off, bp->b_rptr, len);
			off += (uint32_t)len;
		}
		store32(p, (uint32_t)bytes | flags);
		headq_goes(hq, mp);
		publish(hq, pos, rec, bytes);
		freemsg(mp);
		return 0;
	}
ref:
	bp = str_msg_unpin(mp);
	if (bp == NULL)
		return ENOSR;
	mp = bp;
	p = room(hq, REF_SPAN, &pos);
	if (p == NULL)
		return ENOSR;
	__builtin_memcpy(p + 4, &mp, sizeof(mp));
	/* how long it is is asked of the message, which may be more than the
	 * header can say */
	store32(p, STR_REC_REF | flags);
	headq_goes(hq, mp);
	rest_of(mp, rest, &n);
	publish(hq, pos, REF_SPAN, bytes);
	headq_gone(mp);
	while (n > 0)
		headq_gone(rest[--n]);
	return 0;
}

/* ------------------------------------------------------------ consuming */

/* Parts of a referenced message: leading M_PROTO blocks, then the rest. */
static void
ref_parts(struct str_rec *rec)
{
	mblk_t *bp = rec->mp;

	rec->ctl = rec->data = ~0u;
	if (bp->b_datap->db_type == M_PROTO) {
		rec->ctl = 0;
		for (; bp != NULL && bp->b_datap->db_type == M_PROTO;
			bp = bp->b_cont)
			rec->ctl += (uint32_t)str_blen(bp);
	}
	if (bp != NULL)
		rec->data = (uint32_t)msgsize(bp);
}

/*
 * str_headq_hold - messages wait for memory, or none does any more
 * In this order: the lock's next owner goes by `overflow'.
 * Locks: plock.
 */
void
str_headq_hold(struct str_headq *hq, bool yes)
{
	if (yes) {
		str_store(&hq->overflow, 1u);
		STR_CRASH_POINT("headq:holds");
		hq->plimit = 0;
		str_store(&hq->full, STR_FULL_HELD);
		STR_CRASH_POINT("headq:held");
	} else {
		str_store(&hq->full, hq->plimit == 0 ? STR_FULL_MARK : 0u);
		STR_CRASH_POINT("headq:unheld");
		str_store(&hq->overflow, 0u);
	}
}

/* Let in what waits for memory, oldest first.  Locks: plock. */
static void
let_in(struct str_headq *hq)
{
	struct str_head *sd = str_container(hq, struct str_head, hq);
	mblk_t *mp;

	while ((mp = getq(&sd->qp->wq)) != NULL) {
		if (str_headq_append_mblk(hq, mp) == 0)
			continue;
		(void)putbq(&sd->qp->wq, mp);
		str_headq_hold(hq, true);
		return;
	}
	str_headq_hold(hq, false);
}

/*
 * str_headq_deliver - as str_headq_append_mblk(), but always consumes: what
 * finds no memory waits for it, in order.
 * Locks: plock.
 */
void
str_headq_deliver(struct str_headq *hq, mblk_t *mp)
{
	struct str_head *sd = str_container(hq, struct str_head, hq);

	if (str_unlikely(str_load(&hq->overflow) != 0))
		let_in(hq);
	if (str_likely(str_load(&hq->overflow) == 0 &&
		str_headq_append_mblk(hq, mp) == 0))
		return;
	str_headq_hold(hq, true);
	(void)putq(&sd->qp->wq, mp); /* band 0: needs no memory */
}

static void repair_p(struct str_headq *hq);

/* The log is empty: do messages wait for memory?  Locks: clock. */
static STR_NOINLINE bool
refill(struct str_headq *hq)
{
	bool some, died;

	/* a producer that is there lets them in itself */
	if (!str_htrylock_hard(&hq->plock, &died))
		return false;
	if (died)
		repair_p(hq);
	(void)rewind_empty(hq);
	let_in(hq);
	some = str_load(&hq->pos) != str_load(&hq->cpos);
	str_hunlock(&hq->plock, STR_HOLD_P);
	return some;
}

/* The consumer stands at a segment's end: go to the next. */
static STR_NOINLINE void
next_seg(struct str_headq *hq)
{
	struct str_seg *s = hq->head, *n = s->next;

	hq->climit = 0;
	str_store(&hq->cpos, n->base);
	STR_CRASH_POINT("headq:leave");
	str_mem_own(s);
	hq->head = n;
	seg_retire(hq, s);
}

/* A signal message has come to the front: it counts now. */
static STR_NOINLINE void
come_first(struct str_headq *hq, struct str_rec *rec)
{
	int sig = *rec->mp->b_rptr;

	str_headq_advance(hq, rec, 0, 0, STR_TOOK_ALL);
	str_sig_message(str_container(hq, struct str_head, hq), sig);
}

/*
 * A look at pos, where all that was seen has been read.  Locks: clock.
 *
 * A reader that is faster than its writer would find one record at each look,
 * and take the line of pos away from it for each; that costs the writer more than
 * the record.  So a reader that finds something every time does not look again
 * for a moment, in which the writer gets ahead.  A reader that writes in between
 * is in a dialogue, and the other side waits for its answer.
 */
STR_INLINE uint64_t
look_pos(struct str_headq *hq, uint64_t cpos)
{
	uint32_t now = (uint32_t)host_ticks(), i, other;
	uint32_t least = (uint32_t)(LOOK_NS * host_ticks_per_ms / 1000000);
	uint64_t pos;

	if (hq->streak >= LOOK_STREAK && now - hq->looked < least &&
	    host_tls.wrote == 0 && (other = str_load(&hq->pcpu)) != ~0u &&
	    other != host_cpu()) {
		for (i = 0; i < LOOK_PAUSES && now - hq->looked < least; i++) {
			str_cpu_relax();
			now = (uint32_t)host_ticks();
		}
	}
	pos = str_load_acq(&hq->pos);
	hq->looked = now;
	hq->streak = pos != cpos && host_tls.wrote == 0 ? hq->streak + 1 : 0;
	hq->cpos_seen = pos;
	return pos;
}

/*
 * str_headq_look_any - what is there now, over the end of a segment, and up to
 * where the next records can be taken unseen
 * Locks: clock.  Return: the first record if it is whole, or NULL.
 */
STR_NOINLINE const unsigned char *
str_headq_look_any(struct str_headq *hq)
{
	uint64_t cpos = str_load(&hq->cpos);
	struct str_seg *s;
	const unsigned char *p;

	hq->climit = 0;
	if (str_load(&hq->part) != 0)
		return NULL;
	if (cpos == hq->cpos_seen && look_pos(hq, cpos) == cpos)
		return NULL;
	for (;;) {
		s = hq->head; /* the first one came with the first record */
		if (cpos == s->base + s->size) {
			next_seg(hq);
			cpos = str_load(&hq->cpos);
			continue;
		}
		p = s->data + (cpos - s->base);
		if ((load32(p) & STR_REC_KIND) != STR_REC_SKIP)
			break;
		cpos = s->base + s->size;
		str_store(&hq->cpos, cpos);
		if (hq->cpos_seen < cpos)
			hq->cpos_seen = cpos;
	}
	if (cpos == hq->cpos_seen)
		return NULL;
	hq->cbase = (uint64_t)(uintptr_t)s->data - s->base;
	hq->climit = STR_MIN(hq->cpos_seen, s->base + s->size);
	return p;
}

/* str_headq_look - the slow half of headq_peek(): the same of plain data. */
STR_NOINLINE const unsigned char *
str_headq_look(struct str_headq *hq)
{
	const unsigned char *p = str_headq_look_any(hq);

	return p != NULL && rec_plain(load32(p)) ? p : NULL;
}

/*
 * str_headq_first - the oldest unread record, or what is left of it
 * Locks: clock.  Return: false when the queue is empty.
 */
STR_HOT bool
str_headq_first(struct str_headq *hq, struct str_rec *rec)
{
	for (;;) {
		uint64_t cpos = str_load(&hq->cpos), part;
		const unsigned char *p;
		struct str_seg *s;
		uint32_t hdr;

		if (cpos == hq->cpos_seen) {
			hq->cpos_seen = str_load_acq(&hq->pos);
			if (cpos == hq->cpos_seen &&
			    (str_likely(str_load(&hq->overflow) == 0) ||
				    !refill(hq)))
				return false;
			continue;
		}
		s = hq->head;
		if (str_unlikely(cpos == s->base + s->size)) {
			next_seg(hq);
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if (str_unlikely((hdr & STR_REC_KIND) == STR_REC_SKIP)) {
			str_store(&hq->cpos, s->base + s->size);
			if (hq->cpos_seen < s->base + s->size)
				hq->cpos_seen = s->base + s->size;
			continue;
		}
		rec->hdr = hdr;
		rec->span = rec_span(hdr, p);
		rec->mp = NULL;
		if (str_likely((hdr & STR_REC_KIND) == STR_REC_DATA)) {
			rec->ctl = ~0u;
			rec->data = hdr & STR_REC_LEN;
			rec->cptr = NULL;
			rec->dptr = p + data_off(rec->data, p);
		} else if ((hdr & STR_REC_KIND) == STR_REC_MSG) {
			rec->ctl = load32(p + 4);
			rec->data = (hdr & STR_REC_NODATA) ? ~0u :
				(hdr & STR_REC_LEN) - rec->ctl;
			rec->cptr = p + 8;
			rec->dptr = p + msg_off(rec->ctl,
				(hdr & STR_REC_LEN) - rec->ctl, p);
		} else {
			__builtin_memcpy(&rec->mp, p + 4, sizeof(rec->mp));
			rec->cptr = rec->dptr = NULL;
			ref_parts(rec);
			if (str_unlikely(rec->mp->b_datap->db_type == M_SIG)) {
				come_first(hq, rec);
				continue;
			}
			return true; /* its own pointers say what is taken */
		}
		part = str_load(&hq->part);
		if (str_unlikely(part != 0)) {
			uint32_t c = (uint32_t)(part >> 32) & 0x7fffffffu;
			uint32_t d = (uint32_t)part & 0x7fffffffu;

			if (part & PART_CTL) {
				rec->ctl = ~0u;
			} else if (rec->ctl != ~0u) {
				rec->ctl -= c;
				rec->cptr += c;
			}
			if (part & PART_DATA) {
				rec->data = ~0u;
			} else if (rec->data != ~0u) {
				rec->data -= d;
				rec->dptr += d;
			}
		}
		return true;
	}
}

/*
 * The control part of @mp, the message that the first record refers to, is done
 * with: the record refers to the data behind it then.  Its blocks are freed; that
 * they are data now cannot be said of them, for others may share them.
 */
static mblk_t *
drop_ctl(struct str_headq *hq, mblk_t *mp)
{
	struct str_seg *s = hq->head;
	unsigned char *p = s->data + (str_load(&hq->cpos) - s->base);
	mblk_t *next = mp->b_cont;

	next->b_band = mp->b_band;
	next->b_flag |= mp->b_flag;
	/* as long as it is in the log it is not the reaper's */
	str_msg_take_one(mp, 0);
	__builtin_memcpy(p + 4, &next, sizeof(next));
	STR_CRASH_POINT("headq:trimmed");
	mp->b_cont = NULL;
	freeb(mp);
	return next;
}

/* The data part behind control part @mp is done with. */
static void
drop_data(mblk_t *mp)
{
	mblk_t *gone = mp->b_cont;

	str_msg_own(gone);
	__atomic_store_n(&mp->b_cont, (mblk_t *)NULL, __ATOMIC_RELEASE);
	STR_CRASH_POINT("headq:trimmed");
	freemsg(gone);
}

/* The parts of a referenced message that have been delivered go. */
static void
ref_trim(struct str_headq *hq, mblk_t *mp, uint32_t ctl_taken,
	uint32_t data_taken, unsigned done)
{
	mblk_t *bp;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		uint32_t *n = bp->b_datap->db_type != M_DATA ? &ctl_taken :
							       &data_taken;
		uint32_t len = (uint32_t)str_blen(bp);

		len = STR_MIN(len, *n);
		bp->b_rptr += len;
		*n -= len;
	}
	if (done & STR_TOOK_CTL)
		while (mp->b_datap->db_type != M_DATA && mp->b_cont != NULL)
			mp = drop_ctl(hq, mp);
	if (done & STR_TOOK_DATA)
		for (; mp->b_cont != NULL; mp = mp->b_cont)
			if (mp->b_cont->b_datap->db_type == M_DATA) {
				drop_data(mp);
				break;
			}
}

/*
 * str_headq_advance - @ctl_taken and @data_taken bytes of the first record
 * have been delivered; @done: which parts are done with, STR_TOOK_*.
 * Locks: clock.  A referenced message's blocks are trimmed or freed.
 */
STR_HOT void
str_headq_advance(struct str_headq *hq, const struct str_rec *rec,
	uint32_t ctl_taken, uint32_t data_taken, unsigned done)
{
	uint64_t bytes = str_load(&hq->cbytes) + ctl_taken + data_taken;
	mblk_t *mp = rec->mp;
	uint64_t part;

	if (str_unlikely(done != STR_TOOK_ALL)) {
		str_store(&hq->cbytes, bytes);
		if (mp != NULL) {
			ref_trim(hq, mp, ctl_taken, data_taken, done);
			return;
		}
		part = str_load(&hq->part);
		part += ((uint64_t)ctl_taken << 32) | data_taken;
		if (done & STR_TOOK_CTL)
			part |= PART_CTL;
		if (done & STR_TOOK_DATA)
			part |= PART_DATA;
		hq->climit = 0;
		str_store(&hq->part, part);
		return;
	}
	if (str_unlikely(mp != NULL)) {
		bytes = str_load(&hq->cbytes) + msgsize(mp);
		str_store(&hq->cbytes, bytes);
		/* as long as it is in the log it is not the reaper's */
		str_msg_own(mp);
		STR_CRASH_POINT("headq:refread");
		str_store_rel(&hq->cpos, str_load(&hq->cpos) + REF_SPAN);
		freemsg(mp);
		return;
	}
	/* what is skipped unread counts as taken */
	if (rec->ctl != ~0u)
		bytes += rec->ctl - ctl_taken;
	if (rec->data != ~0u)
		bytes += rec->data - data_taken;
	if (str_load(&hq->part) != 0)
		str_store(&hq->part, (uint64_t)0);
	str_store(&hq->cbytes, bytes);
	STR_CRASH_POINT("headq:consumed");
	str_store_rel(&hq->cpos, str_load(&hq->cpos) + rec->span);
}

/*
 * str_headq_part - read(2) of data that is longer than what is asked for, or
 * stands as one block: all of it that is left, or its first @len bytes
 * Return: bytes; 0: it is not as simple as that, or the buffer is bad.
 * Locks: clock.
 */
STR_HOT size_t
str_headq_part(struct str_headq *hq, void *ubuf, size_t len)
{
	uint64_t cpos = str_load(&hq->cpos), part;
	const struct str_seg *s = hq->head;
	struct str_rec rec = {.ctl = ~0u};
	const unsigned char *p;
	mblk_t *mp = NULL;

	if (cpos == hq->cpos_seen)
		hq->cpos_seen = str_load_acq(&hq->pos);
	/* what was put ahead of it, and before it, is seen after that look */
	if (cpos == hq->cpos_seen || cpos == s->base + s->size ||
	    str_load(&hq->npri) != 0)
		return 0;
	p = s->data + (cpos - s->base);
	rec.hdr = load32(p);
	part = str_load(&hq->part);
	if ((rec.hdr & (STR_REC_KIND | STR_REC_MARK)) == STR_REC_REF) {
		__builtin_memcpy(&mp, p + 4, sizeof(mp));
		if (mp->b_datap->db_type != M_DATA || mp->b_cont != NULL)
			return 0;
		rec.mp = mp;
		rec.dptr = mp->b_rptr;
		rec.data = (uint32_t)str_blen(mp);
	} else if (rec_plain(rec.hdr) && part < PART_DATA) {
		rec.data = rec.hdr & STR_REC_LEN;
		rec.dptr = p + data_off(rec.data, p) + part;
		rec.span = rec_span(rec.hdr, p);
		rec.data -= (uint32_t)part;
	} else {
		return 0;
	}
	len = STR_MIN(len, (size_t)rec.data);
	if (len == 0 || host_copyout(rec.dptr, ubuf, len) != 0)
		return 0;
	if (len == rec.data && mp != NULL) {
		str_store(&hq->cbytes, str_load(&hq->cbytes) + len);
		/* as in str_headq_advance() */
		str_msg_take_one(mp, 0);
		STR_CRASH_POINT("headq:refread");
		str_store_rel(&hq->cpos, cpos + REF_SPAN);
		mdb_done(mp);
		return len;
	}
	if (len == rec.data) {
		str_headq_advance(hq, &rec, 0, (uint32_t)len, STR_TOOK_ALL);
		return len;
	}
	str_store(&hq->cbytes, str_load(&hq->cbytes) + len);
	if (mp != NULL) {
		mp->b_rptr += len;
	} else {
		hq->climit = 0;
		str_store(&hq->part, part + len);
	}
	return len;
}

/*
 * str_headq_take - the first record as a message of its own; NULL: none, or
 * no memory for one
 * Locks: clock.
 */
mblk_t *
str_headq_take(struct str_headq *hq)
{
	struct str_rec rec;
	mblk_t *mp, *dp = NULL;

	if (!str_headq_first(hq, &rec))
		return NULL;
	if (rec.mp != NULL) {
		mp = rec.mp;
		str_store(&hq->cbytes, str_load(&hq->cbytes) + msgsize(mp));
		/* as long as it is in the log it is not the reaper's */
		str_msg_own(mp);
		mp->b_next = mp->b_prev = NULL;
		str_store_rel(&hq->cpos, str_load(&hq->cpos) + REF_SPAN);
		return mp;
	}
	mp = rec.ctl != ~0u ? allocb(rec.ctl, BPRI_HI) : NULL;
	if (rec.data != ~0u)
		dp = allocb(rec.data, BPRI_HI);
	if ((rec.ctl != ~0u && mp == NULL) ||
	    (rec.data != ~0u && dp == NULL)) {
		freemsg(mp);
		freemsg(dp);
		return NULL;
	}
	if (mp != NULL) {
		mp->b_datap->db_type = M_PROTO;
		__builtin_memcpy(mp->b_wptr, rec.cptr, rec.ctl);
		mp->b_wptr += rec.ctl;
	}
	if (dp != NULL) {
		__builtin_memcpy(dp->b_wptr, rec.dptr, rec.data);
		dp->b_wptr += rec.data;
	}
	str_headq_advance(hq, &rec, rec.ctl != ~0u ? rec.ctl : 0,
		rec.data != ~0u ? rec.data : 0, STR_TOOK_ALL);
	return linkmsg(mp, dp);
}

/* Unread records whose header has all of @bits; takes clock. */
unsigned
str_headq_records(struct str_headq *hq, uint32_t bits)
{
	uint64_t cpos, pos;
	struct str_seg *s;
	unsigned n = 0;

	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	cpos = str_load(&hq->cpos);
	pos = str_load_acq(&hq->pos);
	for (s = hq->head; cpos < pos && s != NULL;) {
		const unsigned char *p;
		uint32_t hdr;

		if (cpos >= s->base + s->size) {
			s = s->next;
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if ((hdr & STR_REC_KIND) == STR_REC_SKIP) {
			cpos = s->base + s->size;
			continue;
		}
		n += (hdr & bits) == bits;
		cpos += rec_span(hdr, p);
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
	return n;
}

static void
flush_log(struct str_headq *hq)
{
	struct str_rec rec;
	uint64_t stop;

	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	stop = str_load_acq(&hq->pos);
	while (str_load(&hq->cpos) < stop && str_headq_first(hq, &rec)) {
		if (str_load(&hq->cpos) >= stop)
			break;
		str_headq_advance(hq, &rec, 0, 0, STR_TOOK_ALL);
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
}

/* What waits for memory need not come in any more. */
static STR_NOINLINE void
flush_held(struct str_headq *hq)
{
	struct str_head *sd = str_container(hq, struct str_head, hq);
	mblk_t *mp, *gone = NULL;

	if (str_hlock(&hq->plock, STR_HOLD_P))
		str_headq_repair_p(hq);
	while ((mp = getq(&sd->qp->wq)) != NULL) {
		mp->b_next = gone;
		gone = mp;
	}
	if (str_load(&hq->overflow) != 0)
		str_headq_hold(hq, false);
	str_hunlock(&hq->plock, STR_HOLD_P);
	while ((mp = gone) != NULL) {
		gone = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
}

/*
 * str_headq_flush - drop everything unread
 * Locks: takes clock, then plock.
 */
void
str_headq_flush(struct str_headq *hq, bool data_only)
{
	(void)data_only; /* all records are of data types */
	flush_log(hq);
	if (str_unlikely(str_load(&hq->overflow) != 0))
		flush_held(hq);
}

/* --------------------------------------------------------------- repair */

/* Bytes in the unread records, by walking.  Locks: clock and plock. */
static uint64_t
walk_bytes(struct str_headq *hq)
{
	uint64_t cpos = str_load(&hq->cpos), pos = str_load_acq(&hq->pos);
	struct str_seg *s = hq->head;
	uint64_t n = 0;

	while (cpos < pos && s != NULL) {
		const unsigned char *p;
		uint32_t hdr;

		if (cpos >= s->base + s->size) {
			s = s->next;
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if ((hdr & STR_REC_KIND) == STR_REC_SKIP) {
			cpos = s->base + s->size;
			continue;
		}
		if ((hdr & STR_REC_KIND) == STR_REC_REF) {
			mblk_t *mp;

			__builtin_memcpy(&mp,
				p + 4, sizeof(mp));
			n += msgsize(mp);
		} else {
			n += hdr & STR_REC_LEN;
		}
		cpos += rec_span(hdr, p);
	}
	return n;
}

/* str_headq_refs - @fn for every message the log refers to.  Locks: clock. */
void
str_headq_refs(struct str_headq *hq, void (*fn)(mblk_t *mp, uintptr_t arg),
	uintptr_t arg)
{
	uint64_t cpos = str_load(&hq->cpos), pos = str_load_acq(&hq->pos);
	struct str_seg *s = hq->head;

	while (cpos < pos && s != NULL) {
		const unsigned char *p;
		uint32_t hdr;

		if (cpos >= s->base + s->size) {
			s = s->next;
			continue;
		}
		p = s->data + (cpos - s->base);
		hdr = load32(p);
		if ((hdr & STR_REC_KIND) == STR_REC_SKIP) {
			cpos = s->base + s->size;
			continue;
		}
		if ((hdr & STR_REC_KIND) == STR_REC_REF) {
			mblk_t *mp;

			__builtin_memcpy(&mp,
				p + 4, sizeof(mp));
			fn(mp, arg);
		}
		cpos += rec_span(hdr, p);
	}
}

/* The segment @pos is in, from @s on. */
static struct str_seg *
seg_of(struct str_seg *s, uint64_t pos)
{
	while (s != NULL && pos > s->base + s->size && s->next != NULL)
		s = s->next;
	return s;
}

/* Locks: plock and clock. */
/*
 * What the dead producer was about to lay here: has it come?  If not, the
 * reaper puts it back; to be decided before `pos' changes again.
 */
static void
mend_going(struct str_headq *hq)
{
	if (hq->going != 0)
		str_origin_went(str_origin_at(hq->going), &hq->pos);
	hq->going = 0;
}

static void
repair_p(struct str_headq *hq)
{
	uint64_t part;

	mend_going(hq);
	hq->plimit = 0;
	if (hq->head != NULL) {
		uint64_t d = str_load(&hq->part);

		hq->tail = seg_of(hq->head, str_load(&hq->pos));
		part = (d & 0x7fffffffu) + ((d >> 32) & 0x7fffffffu);
		str_store(&hq->pbytes, str_load(&hq->cbytes) +
			walk_bytes(hq) - part);
	}
	hq->ccpos = str_load(&hq->cpos);
	hq->ccbytes = str_load(&hq->cbytes);
	if (str_load(&hq->overflow) != 0 ||
	    str_load(&hq->full) == STR_FULL_HELD)
		str_headq_hold(hq, str_load(&hq->overflow) != 0);
}

/* str_headq_repair_p - plock was taken over from a dead producer. */
void
str_headq_repair_p(struct str_headq *hq)
{
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	repair_p(hq);
	str_hunlock(&hq->clock, STR_HOLD_C);
}

/* str_headq_recount - the slow half of str_headq_settle(). */
void
str_headq_recount(struct str_headq *hq)
{
	if (str_load(&hq->doubt) != 0) {
		str_store(&hq->doubt, 0u); /* before: plock stays with a killed thread */
		str_headq_repair_p(hq);
	}
	if (str_load(&hq->overflow) != 0)
		let_in(hq);
}

/* str_headq_repair_c - clock was taken over from a dead consumer. */
void
str_headq_repair_c(struct str_headq *hq)
{
	struct str_seg *s = hq->head;

	hq->climit = 0;
	/* cpos may already be in the next segment */
	while (s != NULL && str_load(&hq->cpos) >= s->base + s->size &&
		s->next != NULL && str_load(&hq->cpos) >= s->next->base) {
		str_mem_own(s);
		hq->head = s->next;
		seg_retire(hq, s);
		s = hq->head;
	}
	hq->cpos_seen = str_load(&hq->cpos);
	str_store(&hq->doubt, 1u);
}

/* str_headq_fini - free it all; no thread uses the queue any more. */
void
str_headq_fini(struct str_headq *hq)
{
	struct str_seg *s;

	flush_log(hq);
	/* one after the other: a thread killed in between leaves the rest */
	while ((s = hq->head) != NULL) {
		str_mem_own(s);
		__atomic_store_n(&hq->head, s->next, __ATOMIC_RELEASE);
		str_mem_free(s);
		STR_CRASH_POINT("headq:dropped");
	}
	hq->tail = NULL;
	hq->plimit = hq->climit = 0;
	s = hq->spare;
	if (s != NULL) {
		str_mem_own(s);
		hq->spare = NULL;
		str_mem_free(s);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue: messages of band 0, not of high priority, that wait at a
 * Stream head.
 *
 * Purpose.  A list of message blocks under one lock moves three or four
 * cache lines per message between two CPUs, and a lock besides.  Here a
 * message that need not be a message block is a record in a log: a header
 * word, then its bytes.  Writers append, readers consume, and the two sides
 * share no lock and, per message, no line but those of the log itself.
 *
 * Objects.  The log is a chain of segments.  `pos' is the published end,
 * `cpos' the first unread record; both count bytes since the pipe was made,
 * so nothing wraps.  A record never crosses a segment.  A message that arrives
 * as a block (from a module) is copied into the log if it is small; otherwise
 * the log gets a reference to it.
 *
 * Life.  Producer (under plock): write the record beyond pos, publish it by
 * one release store of pos.  If it does not fit, write a skip record, link a
 * new segment, continue there.  Consumer (under clock): read up to pos, advance
 * cpos; a segment that has been read becomes the `spare' (there is one at
 * most), which the producer reuses while it is in the cache.
 *
 * Flow control.  pbytes - cbytes is the count of bytes queued.  `full' is
 * QFULL: set above hiwat, clear when the count is zero or below lowat.  A
 * log of many tiny records is full at `loglimit' bytes, headers included.
 *
 * Turns.  A reader that has made room wakes all writers that wait.  The first
 * one to run could fill the queue again before another one runs, each time.  So
 * while others wait a writer has room for its share alone, and then lets them
 * run.
 *
 * Lack of memory.  A writer gets an error; but a message that comes from a
 * module cannot be refused.  It waits on the head's write queue, which has no
 * other use.  Nothing is appended before it: `full' has a bit that reading
 * alone does not clear (STR_FULL_HELD), and plimit is 0.  The message is
 * appended by the next thread that brings a message, or by the reader that has
 * emptied the log: an empty log is restarted in its current segment.
 *
 * Failure.  Bytes beyond pos are not part of the log: a producer that dies
 * while it writes them has written nothing. pbytes is recounted by walking
 * (str_headq_repair_p).  A consumer commits by storing cpos; `part' is cleared
 * before, so after a death in between the next reader gets part of a record
 * twice; otherwise the beginning of the next record could be lost.  The record
 * has then been counted in cbytes, and is counted once more.  The next owner of
 * the consumer's lock cannot recount, because the producer may be active: it
 * sets `doubt', and a producer on the slow path recounts.  Until then the count
 * is too small; a negative count is treated as 0 (headq_bytes()).
 *
 * Files.  headq.c segments, and writing; headq_take.c reading; headq_repair.c
 * what a death leaves.
 *
 * models/seg.pml checks segments and publication.
 */
#include "core.h"
#include "headq.h"
#include "msg/alloc.h"
#include "sig.h"

static void
set_limit(struct str_headq *hq)
{
	uint64_t l = (uint64_t)hq->hiwat * 8 + LOG_SLACK;

	hq->loglimit = STR_MIN(l, STR_MAX((uint64_t)LOG_MAX,
					(uint64_t)hq->hiwat * 2));
}

/* str_headq_init - initialize @hq, whose memory is zero */
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
	hq->plimit = 0; /* it was computed from the old marks */
	str_hunlock(&hq->plock, STR_HOLD_P);
}

/* ------------------------------------------------------------- segments */

/* Do writer and reader run on different CPUs, as far as known? */
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
	/* the next segment is longer, unless hiwat is small */
	if (size < hq->hiwat)
		hq->segsize = longer(size);
	return s;
}

/*
 * Between two CPUs long segments are used in rotation with other blocks
 * (mem.c): the spare segment is freed, unless there is no memory for another
 * one.
 */
static struct str_seg *
seg_new(struct str_headq *hq, uint64_t base, uint32_t want)
{
	struct str_seg *s = str_load_acq(&hq->spare), *fresh;

	/* only a producer takes the spare segment, only a consumer sets it; the
	 * segment is stamped while it is still the spare */
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

void
str_headq_retire(struct str_headq *hq, struct str_seg *s)
{
	str_mem_own(s);
	if (str_load(&hq->spare) != NULL) {
		str_mem_free(s);
		return;
	}
	str_store_rel(&hq->spare, s);
	/* the next producer may have taken and linked it already */
	(void)str_cas(&s->blk.owner, host_self_tag(), 0u);
}

/*
 * An empty log can restart its only segment, which needs no memory.
 * Locks: plock and clock.
 */
bool
str_headq_rewind(struct str_headq *hq)
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
 * Make room for a record of @len bytes (a multiple of 4). Return: its address
 * and, in *ret_pos, its log position; NULL: no memory.
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
				again = len <= t->size && str_headq_rewind(hq);
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
 * Is the queue full?  Any thread may call it; exact under plock.  Clears `full'
 * when the count is zero or below lowat, as SVR4 says.
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
 * str_headq_append - one M_DATA message of the next @len bytes of @src
 * Return: 0, EFAULT (nothing appended), ENOSR.
 * Locks: plock.
 */
STR_HOT int
str_headq_append(struct str_headq *hq, const struct str_src *src, size_t len,
	uint32_t flags)
{
	if (str_unlikely(len > INLINE_MAX)) {
		int err;
		mblk_t *mp = allocb(len, BPRI_MED);

		if (mp == NULL)
			return ENOSR;
		err = src_copy(src, mp->b_wptr, len);
		if (err != 0) {
			freeb(mp);
			return err;
		}
		mp->b_wptr += len;
		if (flags & STR_REC_DELIM)
			mp->b_flag |= MSGDELIM;
		err = str_headq_append_mblk(hq, mp);
		if (err != 0)
			freemsg(mp);
		return err;
	}
	return headq_put(hq, src, len, flags);
}

/*
 * str_headq_coalesce - as str_headq_append(), but join the last message when it
 * is M_DATA, unread, not delimited, and stays within a small buffer.  While a
 * reader holds clock, the data becomes a message of its own.
 * Locks: plock; tries clock.
 */
int
str_headq_coalesce(struct str_headq *hq, const struct str_src *src,
	size_t len, uint32_t flags)
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
	if (src_copy(src, p + 4 + (hdr & STR_REC_LEN), len) != 0) {
		str_hunlock(&hq->clock, STR_HOLD_C);
		return EFAULT;
	}
	/* the reader is excluded: header, count and end change together */
	store32(p, hdr + (uint32_t)len);
	str_store(&hq->pbytes, str_load(&hq->pbytes) + len);
	str_store_rel(&hq->pos, last + span);
	hq->cpos_seen = str_load(&hq->cpos);
	hq->climit = 0;
	str_hunlock(&hq->clock, STR_HOLD_C);
	return 0;
append:
	pos = str_load(&hq->pos);
	err = str_headq_append(hq, src, len, flags);
	if (err == 0 && str_load(&hq->pos) - pos == 4 + ALIGN4((uint32_t)len))
		hq->last = pos;
	return err;
}

/*
 * str_headq_append_msg - an M_PROTO message with both parts inline
 * @dlen: -1: no data part.  The parts together are at most INLINE_MAX.
 * Return: 0, EFAULT (nothing appended), ENOSR.
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
 * Stores in @rest the blocks after the first of @mp, which is appended by
 * reference, and their number in *@ret_n.  The producer owns them until pos has
 * changed: after a crash before that the reaper frees them.  Blocks for which
 * @rest has no room stay in the domain after such a crash.
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
 * str_headq_append_mblk - an ordinary message of blocks, band 0
 * Return: 0: @mp is consumed; ENOSR.  Locks: plock.
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
			goto ref; /* a reference may still fit */
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
	/* the length is taken from the message, because it may be too large for
	 * the header */
	store32(p, STR_REC_REF | flags);
	headq_goes(hq, mp);
	rest_of(mp, rest, &n);
	publish(hq, pos, REF_SPAN, bytes);
	headq_gone(mp);
	while (n > 0)
		headq_gone(rest[--n]);
	return 0;
}

/* --------------------------------------- messages that wait for memory */

/*
 * str_headq_hold - record whether messages wait for memory
 * The order of the stores matters: the lock's next owner relies on `overflow'.
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

/* Append the messages that wait for memory, oldest first.  Locks: plock. */
void
str_headq_let_in(struct str_headq *hq)
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
 * str_headq_deliver - as str_headq_append_mblk(), but always consumes @mp:
 * without memory the message waits, in order.
 * Locks: plock.
 */
void
str_headq_deliver(struct str_headq *hq, mblk_t *mp)
{
	struct str_head *sd = str_container(hq, struct str_head, hq);

	if (str_unlikely(str_load(&hq->overflow) != 0))
		str_headq_let_in(hq);
	if (str_likely(str_load(&hq->overflow) == 0 &&
		str_headq_append_mblk(hq, mp) == 0))
		return;
	str_headq_hold(hq, true);
	(void)putq(&sd->qp->wq, mp); /* band 0: needs no memory */
}

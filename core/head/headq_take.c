/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue: reading the log.  headq.c has the theory.
 *
 * The log is read under clock.  A message that lies in the log by reference is
 * trimmed as it is read, so that a part that was read is not read again if the
 * reader dies.
 */
#include "core.h"
#include "headq.h"
#include "msg/alloc.h"
#include "sig.h"

#define LOOK_NS 3000u	/* between two looks of a thread that only reads */
#define LOOK_PAUSES 100u /* pauses after which it looks in any case */
#define LOOK_STREAK 8u	/* successful looks before it delays a look */
/*
 * Set the lengths of the parts of a referenced message: of the leading M_PROTO
 * blocks, and of the rest.
 */
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

/* The log is empty: do messages wait for memory?  Locks: clock. */
static STR_NOINLINE bool
refill(struct str_headq *hq)
{
	bool some, died;

	/* if the lock has an owner, this producer appends them */
	if (!str_htrylock_hard(&hq->plock, &died))
		return false;
	if (died)
		str_headq_mend_p(hq);
	(void)str_headq_rewind(hq);
	str_headq_let_in(hq);
	some = str_load(&hq->pos) != str_load(&hq->cpos);
	str_hunlock(&hq->plock, STR_HOLD_P);
	return some;
}

/* The consumer is at the end of a segment: continue in the next one. */
static STR_NOINLINE void
next_seg(struct str_headq *hq)
{
	struct str_seg *s = hq->head, *n = s->next;

	hq->climit = 0;
	str_store(&hq->cpos, n->base);
	STR_CRASH_POINT("headq:leave");
	str_mem_own(s);
	hq->head = n;
	str_headq_retire(hq, s);
}

/* A signal message has become the first one: it takes effect now. */
static STR_NOINLINE void
come_first(struct str_headq *hq, struct str_rec *rec)
{
	int sig = *rec->mp->b_rptr;

	str_headq_advance(hq, rec, 0, 0, STR_TOOK_ALL);
	str_sig_message(str_container(hq, struct str_head, hq), sig);
}

/*
 * Load pos when all records seen so far have been read.  Locks: clock.
 *
 * A reader that is faster than its writer would find one record at each look.
 * Each look takes the cache line of pos away from the writer's CPU, and that
 * costs the writer more time than the record.  So a reader that finds records
 * every time does not look again for a moment, in which the writer can write
 * several. This does not apply to a reader that writes in between: the other
 * side waits for its answer.
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
 * Is the queue part of a PLAIN pipe?  Then only str_headq_first() finds its
 * records, for callers that look into the kernel's pipe before.
 */
STR_INLINE bool
is_plain_pipe(const struct str_headq *hq)
{
	return (str_load(&str_container(hq, struct str_head, hq)->flags) &
		STR_H_PLAIN) != 0;
}

/*
 * str_headq_look_any - look at pos, go to the next segment if necessary, and
 * set the limit up to which records can be taken without another look
 * Locks: clock.
 * Return: the first record if no part of it has been read, or NULL; always NULL
 * in a PLAIN pipe.
 */
STR_NOINLINE STR_WAKE_TEXT const unsigned char *
str_headq_look_any(struct str_headq *hq)
{
	uint64_t cpos = str_load(&hq->cpos);
	struct str_seg *s;
	const unsigned char *p;

	hq->climit = 0;
	if (str_load(&hq->part) != 0 || is_plain_pipe(hq))
		return NULL;
	if (cpos == hq->cpos_seen && look_pos(hq, cpos) == cpos)
		return NULL;
	for (;;) {
		s = hq->head; /* the first segment was linked with the first
			       * record */
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

/* str_headq_look - the slow half of headq_peek(): the same for plain data. */
STR_NOINLINE STR_WAKE_TEXT const unsigned char *
str_headq_look(struct str_headq *hq)
{
	const unsigned char *p = str_headq_look_any(hq);

	return p != NULL && rec_plain(load32(p)) ? p : NULL;
}

/*
 * str_headq_first - the oldest unread record, or the rest of it
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
			return true; /* b_rptr of its blocks is past the part
				      * taken */
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
 * The control part of @mp, the message that the first record refers to, has
 * been consumed: the record then refers to the data after it.  The control
 * blocks are freed and not changed into data, because they may be shared.
 */
static mblk_t *
drop_ctl(struct str_headq *hq, mblk_t *mp)
{
	struct str_seg *s = hq->head;
	unsigned char *p = s->data + (str_load(&hq->cpos) - s->base);
	mblk_t *next = mp->b_cont;

	next->b_band = mp->b_band;
	next->b_flag |= mp->b_flag;
	/* the reaper must not free a message in the log */
	str_msg_take_one(mp, 0);
	__builtin_memcpy(p + 4, &next, sizeof(next));
	STR_CRASH_POINT("headq:trimmed");
	mp->b_cont = NULL;
	freeb(mp);
	return next;
}

/* The data part after control part @mp has been consumed. */
static void
drop_data(mblk_t *mp)
{
	mblk_t *gone = mp->b_cont;

	str_msg_own(gone);
	__atomic_store_n(&mp->b_cont, (mblk_t *)NULL, __ATOMIC_RELEASE);
	STR_CRASH_POINT("headq:trimmed");
	freemsg(gone);
}

/* Free the delivered parts of a referenced message. */
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
 * have been delivered; @done: the parts that are consumed, STR_TOOK_*.
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
		/* the reaper must not free a message in the log */
		str_msg_own(mp);
		STR_CRASH_POINT("headq:refread");
		str_store_rel(&hq->cpos, str_load(&hq->cpos) + REF_SPAN);
		freemsg(mp);
		return;
	}
	/* skipped bytes count as taken */
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
 * str_headq_part - read(2) from the first record: what is left of it, at most
 * @len bytes, if it is plain data in the log or a single block of data
 * Return: bytes; 0: not such a simple case, or the buffer is bad.
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
	/*
	 * a message of high priority, or of a band, that was put before this
	 * record is visible after the load of pos, and is first
	 */
	if (cpos == hq->cpos_seen || cpos == s->base + s->size ||
	    str_load(&hq->npri) != 0 || is_plain_pipe(hq))
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
 * str_headq_take - the first record as a separate message; NULL: none, or no
 * memory
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
		/* the reaper must not free a message in the log */
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

/* Number of unread records whose header has all of @bits; takes clock. */
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

void
str_headq_flush_log(struct str_headq *hq)
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

/* Discard the messages that wait for memory. */
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
 * str_headq_flush - drop everything unread in the head queue
 * Locks: takes clock, and after its release plock.
 */
void
str_headq_flush(struct str_headq *hq, bool data_only)
{
	(void)data_only; /* all records are of data types */
	str_headq_flush_log(hq);
	if (str_unlikely(str_load(&hq->overflow) != 0))
		flush_held(hq);
}

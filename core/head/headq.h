/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue's inner loop: what write(2) and read(2) of plain data do
 * with it, inlined into them.  headq.c has the theory.
 */
#ifndef STR_HEADQ_H
#define STR_HEADQ_H

#define SEG_HDR sizeof(struct str_seg)
#define SEG_MIN 1088u	/* first segment: an idle pipe costs little */
#define SEG_MAX 131072u /* seven records of 16 KiB */
#define INLINE_MAX 32768u /* longer messages stand as references */
#define COPY_MAX 1024u	  /* message blocks up to this are copied in */
#define LOG_SLACK 65536u
#define LOG_MAX 1048576u

/* hq->part: that part of the first record is done with */
#define PART_CTL (1ull << 63)
#define PART_DATA (1ull << 31)

#define ALIGN4(n) (((n) + 3u) & ~3u)

#define LINE_MIN 256u /* data from here on is aligned to lines */

/* Where the data of a DATA record of @len bytes begins, from its header @p.
 * Segments begin on a line. */
STR_INLINE uint32_t
data_off(uint32_t len, const unsigned char *p)
{
	if (len < LINE_MIN)
		return 4;
	return (uint32_t)((((uintptr_t)p + 4 + 63) & ~(uintptr_t)63) -
		(uintptr_t)p);
}

STR_INLINE uint32_t
load32(const unsigned char *p)
{
	return *(const uint32_t *)(const void *)p;
}

STR_INLINE void
store32(unsigned char *p, uint32_t v)
{
	*(uint32_t *)(void *)p = v;
}

/*
 * Log bytes of the record with header @hdr at @p.  Longer
 * data begins on a cache line of its own: copies of it then do not split
 * lines.
 */
STR_INLINE uint32_t
rec_span(uint32_t hdr, const unsigned char *p)
{
	switch (hdr & STR_REC_KIND) {
	case STR_REC_DATA:
		return data_off(hdr & STR_REC_LEN, p) +
			ALIGN4(hdr & STR_REC_LEN);
	case STR_REC_REF:
		return 12;
	case STR_REC_MSG:
	default:
		return 8 + ALIGN4(hdr & STR_REC_LEN);
	}
}

unsigned char *str_headq_room_slow(struct str_headq *hq, uint32_t len,
	uint64_t *ret_pos);

/*
 * Room for a record of @len bytes (a multiple of 4): its address and, in
 * *ret_pos, its log position; NULL when there is no memory.  Locks: plock.
 */
STR_INLINE unsigned char *
room(struct str_headq *hq, uint32_t len, uint64_t *ret_pos)
{
	struct str_seg *t = hq->tail;
	uint64_t pos = str_load(&hq->pos);

	if (str_likely(t != NULL && pos + len <= t->base + t->size)) {
		*ret_pos = pos;
		return t->data + (pos - t->base);
	}
	return str_headq_room_slow(hq, len, ret_pos);
}

/* Publish a record of @len log bytes and @bytes data bytes at @pos. */
STR_INLINE void
publish(struct str_headq *hq, uint64_t pos, uint32_t len, uint64_t bytes)
{
	uint64_t pb = str_load(&hq->pbytes) + bytes;

	if (str_unlikely(pos >= hq->tail->base + hq->tail->size))
		hq->tail = hq->tail->next;
	str_store(&hq->pbytes, pb);
	STR_CRASH_POINT("headq:counted");
	str_store_rel(&hq->pos, pos + len); /* pairs with the acquire of pos
					     * by the consumer */
	STR_CRASH_POINT("headq:published");
	/* QFULL: strictly above the mark; the consumer's end is looked at
	 * only when the last look does not settle it */
	if (str_unlikely(pb - hq->ccbytes > hq->hiwat ||
		pos + len - hq->ccpos > hq->loglimit)) {
		hq->ccbytes = str_load_acq(&hq->cbytes);
		hq->ccpos = str_load_acq(&hq->cpos);
		if (pb - hq->ccbytes > hq->hiwat ||
		    pos + len - hq->ccpos > hq->loglimit)
			str_store(&hq->full, 1u);
	}
}

/*
 * One M_DATA message of @len <= INLINE_MAX bytes from the caller's memory.
 * Return: 0, EFAULT (nothing appended), ENOSR.  Locks: plock.
 */
STR_INLINE int
headq_put(struct str_headq *hq, const void *ubase, size_t len, uint32_t flags)
{
	uint32_t most = ALIGN4((uint32_t)len) + (len < LINE_MIN ? 4 : 4 + 64);
	unsigned char *p;
	uint64_t pos;
	uint32_t off;

	p = room(hq, most, &pos);
	if (str_unlikely(p == NULL))
		return ENOSR;
	off = data_off((uint32_t)len, p);
	if (str_unlikely(host_copyin(ubase, p + off, len) != 0))
		return EFAULT;
	store32(p, (uint32_t)len | flags);
	publish(hq, pos, off + ALIGN4((uint32_t)len), len);
	return 0;
}

/*
 * The first record, when it is plain data no part of which has been taken.
 * Return: its data and, in *ret_len, *ret_span, its length and log bytes;
 * NULL: empty or anything else, str_headq_first() knows.  Locks: clock.
 */
STR_INLINE const unsigned char *
headq_peek(struct str_headq *hq, uint32_t *ret_len, uint32_t *ret_span)
{
	uint64_t cpos = str_load(&hq->cpos);
	const struct str_seg *s = hq->head;
	const unsigned char *p;
	uint32_t hdr, off;

	if (str_unlikely(cpos == hq->cpos_seen)) {
		hq->cpos_seen = str_load_acq(&hq->pos);
		if (cpos == hq->cpos_seen)
			return NULL;
		s = hq->head; /* the first segment came with the first record */
	}
	if (str_unlikely(cpos >= s->base + s->size))
		return NULL;
	p = s->data + (cpos - s->base);
	hdr = load32(p);
	if (str_unlikely((hdr & (STR_REC_KIND | STR_REC_MARK)) !=
			STR_REC_DATA || str_load(&hq->part) != 0))
		return NULL;
	*ret_len = hdr & STR_REC_LEN;
	off = data_off(*ret_len, p);
	*ret_span = off + ALIGN4(*ret_len);
	return p + off;
}

/* The record headq_peek() showed has been delivered whole.  Locks: clock. */
STR_INLINE void
headq_next(struct str_headq *hq, uint32_t len, uint32_t span)
{
	str_store(&hq->cbytes, str_load(&hq->cbytes) + len);
	STR_CRASH_POINT("headq:consumed");
	str_store_rel(&hq->cpos, str_load(&hq->cpos) + span);
}

/*
 * The fast calls' way in and out: host_enter(), str_head_enter() and a biased
 * lock in one, for a thread that has been here before, in a domain whose
 * members all have the heavy fence.
 */
STR_INLINE bool
fast_enter(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_thread *t)
{
	host_tls.depth++;
	str_barrier();
	str_store(&t->inside, (uint64_t)(uintptr_t)sd);
	str_barrier(); /* light fence: asym is set */
	return str_likely(str_load_acq(&id[1]) == gen);
}

/* May this thread try at all? */
STR_INLINE bool
fast_ready(const struct str_thread *t)
{
	return str_likely(t != NULL && *host_identity != 0 &&
		str_load(&host_domain->asym) != 0);
}

STR_INLINE void
fast_leave(struct str_thread *t)
{
	str_store_rel(&t->inside, (uint64_t)0);
	host_tls.depth--;
	str_barrier();
	if (str_unlikely(host_tls.sig_saved != 0) && host_tls.depth == 0)
		host_leave_slow();
}

STR_INLINE bool
fast_lock(struct str_hlock *l, unsigned kind, struct str_thread *t)
{
	uint32_t me = host_tls.tag;

	if (str_unlikely(str_load(&l->bias) != me ||
		str_load(&t->hold[kind]) != 0))
		return false;
	str_store(&t->hold[kind], (uint64_t)(uintptr_t)l);
	str_barrier();
	if (str_likely(str_load_acq(&l->bias) == me))
		return true;
	str_store_rel(&t->hold[kind], (uint64_t)0);
	return false;
}

STR_INLINE void
fast_unlock(struct str_hlock *l, unsigned kind, struct str_thread *t)
{
	str_store_rel(&t->hold[kind], (uint64_t)0);
	str_barrier();
	if (str_unlikely(str_load(&l->lk.waiters) != 0))
		str_hunlock_slow(l);
}

#endif

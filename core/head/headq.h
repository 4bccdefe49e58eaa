/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The head queue's inner loop, inlined into write(2) and read(2) of plain data.
 * headq.c has the theory.
 */
#ifndef STR_HEADQ_H
#define STR_HEADQ_H

#include "msg/origin.h"
#include "source.h"

#define SEG_HDR sizeof(struct str_seg)
#define SEG_MIN 1216u	/* first segment: an idle pipe costs little */
#define SEG_MAX 131072u /* seven records of 16 KiB */
#define INLINE_MAX 32768u /* longer messages are stored as references */
#define COPY_MAX 4096u	  /* message blocks up to this are copied in */
#define LOG_SLACK 65536u
#define LOG_MAX 1048576u

/* bits of hq->part: this part of the first record has been consumed */
#define PART_CTL (1ull << 63)
#define PART_DATA (1ull << 31)

#define ALIGN4(n) (((n) + 3u) & ~3u)
#define REF_SPAN 12u /* log bytes of a reference */

#define LINE_MIN 256u /* data from here on is aligned to lines */

/* Offset of the data of a DATA record of @len bytes from its header @p.
 * Segments begin on a cache line. */
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
 * data_off() for a MSG record whose parts have @clen and @dlen bytes: both
 * follow two words, longer data begins on a cache line.
 */
STR_INLINE uint32_t
msg_off(uint32_t clen, uint32_t dlen, const unsigned char *p)
{
	uint32_t off = 8 + clen;

	if (str_likely(dlen < LINE_MIN))
		return off;
	return (uint32_t)((((uintptr_t)p + off + 63) & ~(uintptr_t)63) -
		(uintptr_t)p);
}

/*
 * Log bytes of the record with header @hdr at @p.  Longer data begins on a
 * cache line, so that copies of it do not split lines.
 */
STR_INLINE uint32_t
rec_span(uint32_t hdr, const unsigned char *p)
{
	uint32_t clen, dlen;

	switch (hdr & STR_REC_KIND) {
	case STR_REC_DATA:
		return data_off(hdr & STR_REC_LEN, p) +
			ALIGN4(hdr & STR_REC_LEN);
	case STR_REC_REF:
		return REF_SPAN;
	case STR_REC_MSG:
	default:
		clen = load32(p + 4);
		dlen = (hdr & STR_REC_LEN) - clen;
		return ALIGN4(msg_off(clen, dlen, p) + dlen);
	}
}

/*
 * What the files of the head queue call of each other.
 * str_headq_retire - @s has been read: keep it as the spare, or free it.  Locks:
 * clock.
 * str_headq_rewind - restart an empty log in its only segment, which needs no
 * memory.  False: it is not empty, or has not one segment.  Locks: plock and
 * clock.
 * str_headq_let_in - append the messages that wait for memory.  Locks: plock.
 * str_headq_flush_log - drop the records of the log.  Locks: takes clock.
 * str_headq_mend_p - the producer died: count again.  Locks: plock and clock.
 */
void str_headq_retire(struct str_headq *hq, struct str_seg *s);
bool str_headq_rewind(struct str_headq *hq);
void str_headq_let_in(struct str_headq *hq);
void str_headq_flush_log(struct str_headq *hq);
void str_headq_mend_p(struct str_headq *hq);

void str_headq_share(struct str_headq *hq, uint64_t pb);
void str_headq_yield(struct str_headq *hq);
int str_headq_await(struct str_head *sd, struct host_call *hc);
void str_headq_lost(struct str_headq *hq);
void str_headq_turn(struct str_headq *hq);
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

/* Bytes queued.  A reader that died may have counted too much: see headq.c. */
STR_INLINE uint64_t
headq_bytes(uint64_t in, uint64_t out)
{
	return in > out ? in - out : 0;
}

/* Once four writers have waited at once, writers take turns, even if none waits
 * now: turn.c.  `crowd' is twice their number, so that a small crowd survives two
 * lost turns. */
#define HEADQ_CROWD 8u
#define TURN_NEXT (~0u) /* turn_of: the turn of the thread that wakes next */
/*
 * number of fraction bits of `crowd'; a crowd that has ended is forgotten
 * within about 2^8 turns
 */
#define HEADQ_CROWD_SHIFT 8

/*
 * Have many writers waited at once, in the last turns? If the caller does not
 * hold plock, the answer is a hint.
 */
STR_INLINE bool
headq_crowded(const struct str_headq *hq)
{
	return str_load(&hq->crowd) >= HEADQ_CROWD << HEADQ_CROWD_SHIFT;
}

/*
 * Before a write that may block: if it is the turn of another writer of a
 * crowd, wait for the next turn.  Return: as str_headq_await().
 */
STR_INLINE int
headq_await(struct str_head *sd, struct host_call *hc)
{
	if (str_unlikely(headq_crowded(&sd->peer->hq)))
		return str_headq_await(sd, hc);
	return 0;
}

/*
 * Before a reader waits at the empty queue of a crowd: end the turn of a writer
 * that does not write.
 */
STR_INLINE void
headq_lost(struct str_headq *hq)
{
	if (str_unlikely(str_load(&hq->wsleep) != 0) && headq_crowded(hq))
		str_headq_lost(hq);
}

/*
 * Publish a record of @len log bytes and @bytes data bytes at @pos.  Sets the
 * limits for the next records: up to plimit and pblimit neither the segment nor
 * the consumer's end need be examined.  Locks: plock.
 */
STR_INLINE void
publish(struct str_headq *hq, uint64_t pos, uint32_t len, uint64_t bytes)
{
	uint64_t pb = str_load(&hq->pbytes) + bytes;
	struct str_seg *t = hq->tail;

	if (str_unlikely(pos >= t->base + t->size))
		hq->tail = t = t->next;
	str_store(&hq->pbytes, pb);
	STR_CRASH_POINT("headq:counted");
	str_store_rel(&hq->pos, pos + len); /* pairs with the acquire of pos
					     * by the consumer */
	STR_CRASH_POINT("headq:published");
	/* QFULL: strictly above the mark; the consumer's end is loaded only if
	 * its last value does not decide this */
	if (str_unlikely(pb - hq->ccbytes > hq->hiwat ||
		pos + len - hq->ccpos > hq->loglimit)) {
		hq->ccbytes = str_load_acq(&hq->cbytes);
		hq->ccpos = str_load_acq(&hq->cpos);
		if (headq_bytes(pb, hq->ccbytes) > hq->hiwat ||
		    pos + len - hq->ccpos > hq->loglimit) {
			hq->plimit = 0;
			str_store(&hq->full, STR_FULL_MARK);
			return;
		}
	}
	hq->pbase = (uint64_t)(uintptr_t)t->data - t->base;
	hq->pblimit = hq->ccbytes + hq->hiwat;
	hq->plimit = STR_MIN(t->base + t->size, hq->ccpos + hq->loglimit);
	if (str_unlikely(str_load(&hq->wsleep) != 0 || headq_crowded(hq)))
		str_headq_share(hq, pb);
}

/* Is more than about an eighth of the queue filled? */
STR_INLINE bool
headq_much(const struct str_headq *hq)
{
	return str_load(&hq->pos) - str_load(&hq->cpos) > hq->loglimit / 8 ||
		headq_bytes(str_load(&hq->pbytes), str_load(&hq->cbytes)) >
			hq->hiwat / 8;
}

/*
 * After publish().  Return: true: the writer's share is written, and it must call
 * str_headq_yield().  Else, if a crowd writes and it is no thread's turn, this
 * thread's turn begins.
 * Locks: plock.
 */
STR_INLINE bool
headq_over(struct str_headq *hq)
{
	if (str_likely(hq->over == 0)) {
		if (str_unlikely(headq_crowded(hq)) &&
		    str_load(&hq->turn_of) == 0)
			str_headq_turn(hq);
		return false;
	}
	hq->over = 0;
	return true;
}

/*
 * One M_DATA message of @len <= INLINE_MAX bytes from the caller's memory.
 * Return: 0, EFAULT (nothing appended), ENOSR.  Locks: plock.
 */
STR_INLINE int
headq_put(struct str_headq *hq, const struct str_src *src, size_t len,
	uint32_t flags)
{
	uint32_t most = ALIGN4((uint32_t)len) + (len < LINE_MIN ? 4 : 4 + 64);
	unsigned char *p;
	uint64_t pos;
	uint32_t off;

	p = room(hq, most, &pos);
	if (str_unlikely(p == NULL))
		return ENOSR;
	off = data_off((uint32_t)len, p);
	if (str_unlikely(src_copy(src, p + off, len) != 0))
		return EFAULT;
	store32(p, (uint32_t)len | flags);
	publish(hq, pos, off + ALIGN4((uint32_t)len), len);
	return 0;
}

/*
 * The same within the limits.  Return: false: nothing appended, because it is
 * beyond the limits, or the buffer is bad; then call headq_put().  Locks:
 * plock.
 */
STR_INLINE bool
headq_put_quick(struct str_headq *hq, const void *ubase, size_t len)
{
	uint64_t pos = str_load(&hq->pos), pb = str_load(&hq->pbytes) + len;
	uint32_t off = 4, room = ALIGN4((uint32_t)len);
	unsigned char *p;

	p = (unsigned char *)(uintptr_t)(hq->pbase + pos);
	if (len >= LINE_MIN)
		off = data_off((uint32_t)len, p);
	room += off;
	if (str_unlikely(pos + room > hq->plimit || pb > hq->pblimit))
		return false;
	store32(p, (uint32_t)len);
	if (str_unlikely(host_copyin_few(ubase, p + off, len) != 0))
		return false;
	str_store(&hq->pbytes, pb);
	STR_CRASH_POINT("headq:counted");
	str_store_rel(&hq->pos, pos + room); /* as in publish() */
	STR_CRASH_POINT("headq:published");
	return true;
}

/* Copy a control part from or to valid memory: most have 16 to 32 bytes. */
STR_INLINE void
copy_ctl(void *to, const void *from, uint32_t n)
{
	struct {
		unsigned char b[16];
	} first, last;

	if (str_unlikely(n - 16 > 16)) {
		__builtin_memcpy(to, from, n);
		return;
	}
	__builtin_memcpy(&first, from, 16);
	__builtin_memcpy(&last, (const unsigned char *)from + n - 16, 16);
	__builtin_memcpy(to, &first, 16);
	__builtin_memcpy((unsigned char *)to + n - 16, &last, 16);
}

/*
 * headq_put_msg - an M_PROTO message, both parts inline: together they have at
 * most INLINE_MAX bytes
 * @dlen: -1: no data part.
 * @trust: @ctl is valid memory, of the library or a driver, not the caller's.
 * Return: 0, EFAULT (nothing appended), ENOSR.  Locks: plock.
 */
STR_INLINE int
headq_put_msg(struct str_headq *hq, const void *ctl, uint32_t clen,
	const void *udata, ssize_t dlen, uint32_t flags, bool trust)
{
	uint64_t pos = str_load(&hq->pos), pb;
	uint32_t n = dlen > 0 ? (uint32_t)dlen : 0, off, rec, most;
	unsigned char *p;
	bool quick;

	most = 8 + ALIGN4(clen + n) + (n < LINE_MIN ? 0 : 64);
	p = (unsigned char *)(uintptr_t)(hq->pbase + pos);
	pb = str_load(&hq->pbytes) + clen + n;
	/* within the limits: see publish() */
	quick = pos + most <= hq->plimit && pb <= hq->pblimit;
	if (str_unlikely(!quick)) {
		p = room(hq, most, &pos);
		if (p == NULL)
			return ENOSR;
	}
	off = msg_off(clen, n, p);
	if (trust)
		copy_ctl(p + 8, ctl, clen);
	else if (clen != 0 && host_copyin(ctl, p + 8, clen) != 0)
		return EFAULT;
	if (n != 0 && str_unlikely(host_copyin(udata, p + off, n) != 0))
		return EFAULT;
	rec = ALIGN4(off + n);
	store32(p + 4, clen);
	store32(p, (clen + n) | STR_REC_MSG | flags |
			(dlen < 0 ? STR_REC_NODATA : 0));
	if (str_unlikely(!quick)) {
		publish(hq, pos, rec, clen + n);
		return 0;
	}
	str_store(&hq->pbytes, pb);
	STR_CRASH_POINT("headq:counted");
	str_store_rel(&hq->pos, pos + rec); /* as in publish() */
	STR_CRASH_POINT("headq:published");
	return 0;
}

/*
 * headq_goes - the next store of pos hands the bytes of @mp on (msg/origin.h)
 * Locks: plock.
 */
STR_INLINE void
headq_goes(struct str_headq *hq, mblk_t *mp)
{
	if (!str_origin_known(mp))
		return;
	hq->going = (uint32_t)(uintptr_t)str_mdb_of_m(mp);
	str_origin_goes(mp, &hq->pos);
}

/*
 * headq_gone - @mp is in the log, by reference: its reader may have freed it
 * already, and another thread may own the block
 */
STR_INLINE void
headq_gone(mblk_t *mp)
{
	(void)str_cas(&str_mdb_of_m(mp)->blk.owner, host_self_tag(), 0u);
}

/*
 * Append a block of plain data of @len bytes as a reference, within the limits.
 * Return: true: the log owns the message; false: nothing done.  Locks: plock.
 */
STR_INLINE bool
headq_put_ref(struct str_headq *hq, mblk_t *mp, size_t len)
{
	uint64_t pos = str_load(&hq->pos), pb = str_load(&hq->pbytes) + len;
	unsigned char *p = (unsigned char *)(uintptr_t)(hq->pbase + pos);

	if (str_unlikely(pos + REF_SPAN > hq->plimit || pb > hq->pblimit))
		return false;
	__builtin_memcpy(p + 4, &mp, sizeof(mp));
	store32(p, STR_REC_REF);
	headq_goes(hq, mp);
	str_store(&hq->pbytes, pb);
	STR_CRASH_POINT("headq:counted");
	str_store_rel(&hq->pos, pos + REF_SPAN); /* as in publish() */
	STR_CRASH_POINT("headq:published");
	headq_gone(mp);
	return true;
}

/* Is it plain data without a mark, at which a read would have to stop? */
STR_INLINE bool
rec_plain(uint32_t hdr)
{
	return (hdr & (STR_REC_KIND | STR_REC_MARK)) == STR_REC_DATA;
}

const unsigned char *str_headq_look(struct str_headq *hq);
const unsigned char *str_headq_look_any(struct str_headq *hq);

/*
 * The first record, if it is plain data and no part of it has been taken.
 * Return: its data and, in *ret_len, *ret_span, its length and log bytes;
 * NULL: empty, or another case for str_headq_first().  Locks: clock.
 */
STR_INLINE const unsigned char *
headq_peek(struct str_headq *hq, uint32_t *ret_len, uint32_t *ret_span)
{
	uint64_t cpos = str_load(&hq->cpos);
	const unsigned char *p;
	uint32_t hdr, off;

	p = (const unsigned char *)(uintptr_t)(hq->cbase + cpos);
	if (str_unlikely(cpos >= hq->climit || !rec_plain(hdr = load32(p)))) {
		p = str_headq_look(hq);
		if (p == NULL)
			return NULL;
		hdr = load32(p);
	}
	*ret_len = hdr & STR_REC_LEN;
	off = data_off(*ret_len, p);
	*ret_span = off + ALIGN4(*ret_len);
	return p + off;
}

/*
 * headq_take_quick - headq_peek() below climit, and, if the record fits into
 * @len bytes, copy it to the caller
 * Return: its length and, in *ret_span, its log bytes; 0: nothing has been
 * done, because the record is beyond climit, not plain data, empty or longer
 * than @len, or the buffer is bad; then call headq_peek().
 * Locks: clock.
 */
STR_INLINE uint32_t
headq_take_quick(struct str_headq *hq, void *ubuf, size_t len,
	uint32_t *ret_span)
{
	uint64_t cpos = str_load(&hq->cpos);
	const unsigned char *p;
	uint32_t hdr, off, have;

	p = (const unsigned char *)(uintptr_t)(hq->cbase + cpos);
	if (str_unlikely(cpos >= hq->climit || !rec_plain(hdr = load32(p))))
		return 0;
	have = hdr & STR_REC_LEN;
	off = data_off(have, p);
	*ret_span = off + ALIGN4(have);
	if (str_unlikely(have - 1 >= len ||
		host_copyout_few(p + off, ubuf, have) != 0))
		return 0;
	return have;
}

/*
 * The record that headq_peek() returned has been delivered completely.  Locks:
 * clock.
 */
STR_INLINE void
headq_next(struct str_headq *hq, uint32_t len, uint32_t span)
{
	str_store(&hq->cbytes, str_load(&hq->cbytes) + len);
	STR_CRASH_POINT("headq:consumed");
	str_store_rel(&hq->cpos, str_load(&hq->cpos) + span);
}

size_t str_headq_part(struct str_headq *hq, void *ubuf, size_t len);

/* Is it certain that no writer can continue yet?  Called by a reader. */
STR_INLINE bool
headq_stays_full(const struct str_headq *hq)
{
	uint64_t count = headq_bytes(str_load(&hq->pbytes),
		str_load(&hq->cbytes));
	uint64_t log = str_load(&hq->pos) - str_load(&hq->cpos);

	return str_load(&hq->full) != 0 &&
		((count != 0 && count >= hq->lowat) ||
			(log != 0 && log >= hq->loglimit / 2));
}

/* Is the queue full where a message put on @q would be queued?  Unlike canput()
 * this leaves no mark there.  A claim is held. */
STR_INLINE bool
full_ahead(queue_t *q)
{
	q = str_queue_nfsrv(q);
	if (q->q_head != NULL && (str_load(&q->q_flag) & QREADR) != 0)
		return str_headq_is_full(&q->q_head->hq);
	return (str_load(&q->q_flag) & QFULL) != 0;
}

#endif

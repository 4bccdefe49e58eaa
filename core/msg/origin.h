/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The origin of a message: the place that a thread has taken it from, for as
 * long as the thread has it in hand.
 *
 * Purpose.  A service procedure takes a message from a queue and hands it on.
 * The thread that runs it may be killed between the two, and the message is
 * often another process's.  The reaper then puts the message back where it was
 * (core/plumb/back.c).
 *
 * Record.  One word, the free-list link of the message's first block, which no
 * block in use needs for anything else but the reaper's mark, an odd number:
 *
 *	63..40	serial number of the queue pair, so that another pair in the
 *		same memory is not taken for it
 *	39..32	number of the taking, by thread: what was taken last is put
 *		back first
 *	31..6	the queue pair, relative to the domain
 *	5..0	STR_ORIGIN_*, bit 0 clear
 *
 * Addresses of free blocks are multiples of 64: no record.
 *
 * The thread's slot names the messages that it took last, for a reaper that has
 * no time to look through the memory (str_thread.hand).
 *
 * Life.  getq() writes the record before it unlinks the message, as do the
 * takers of a backlog and of a late list.  putq() and its like clear it when
 * the message is linked and stamped as without owner.  A message that is copied
 * is handed on by the store that makes the copy count, `pos' of a log for
 * instance: STR_ORIGIN_UNTIL says so (str_origin_goes()).  freeb() hands on with the store that
 * takes the data's last reference away, or clears b_datap.  rmvq() leaves no
 * record: its caller has one of its own, or frees the message.
 *
 * Changes.  A message goes back as its blocks stand: what the module has changed
 * in place, trimmed or pulled up stays so.  What unlinkb() cuts off inherits the
 * record, and the first block has none any more.  Of a message and its
 * duplicate, or copy, the first goes back.  Blocks that were linked behind
 * another message go back with that one.
 */
#ifndef STR_ORIGIN_H
#define STR_ORIGIN_H

#include "core.h"

#define STR_ORIGIN_KIND 0x06u
#define STR_ORIGIN_QUEUE 0x02u
#define STR_ORIGIN_BACKLOG 0x04u /* of the queue's perimeter */
#define STR_ORIGIN_LATE 0x06u
#define STR_ORIGIN_READ 0x08u /* the pair's read queue */
#define STR_ORIGIN_NEXT 0x10u /* LATE: for the queue after that one */
/*
 * In the address's place, with bits 5..3 of it in 34..32: a word of which the next
 * change hands the message on.  b_prev has the record proper, b_next the value.
 */
#define STR_ORIGIN_UNTIL 0x20u
/*
 * Of no queue pair: the message goes back to no place.  Its driver has another one
 * of it, and asks whether this one has been handed on: str_msg_handed().
 */
#define STR_ORIGIN_WATCH STR_ORIGIN_QUEUE

STR_INLINE uint64_t
str_origin_word(queue_t *q, unsigned bits)
{
	struct str_qpair *qp = q->q_pair;

	if (q == &qp->rq)
		bits |= STR_ORIGIN_READ;
	return str_load(&qp->serial) << 40 |
		(uint64_t)(++host_tls.taken & 0xff) << 32 |
		(uint32_t)((uintptr_t)qp | bits);
}

STR_INLINE uint64_t
str_origin(const struct str_mdb *x)
{
	return (uint64_t)(uintptr_t)str_load(&x->blk.next);
}

STR_INLINE void
str_origin_set(struct str_mdb *x, uint64_t word)
{
	str_store(&x->blk.next, (void *)(uintptr_t)word);
}

/* The address in a record, or of which the lower half is known. */
STR_INLINE void *
str_origin_at(uint64_t w)
{
	uint64_t base = host_domain->base;

	return (void *)(uintptr_t)((base + (uint32_t)((uint32_t)w -
		(uint32_t)base)) & ~(uint64_t)63);
}

/* Has @mp a record, that is, was it taken from a place? */
STR_INLINE bool
str_origin_known(mblk_t *mp)
{
	uint64_t w = str_origin(str_mdb_of_m(mp));

	return (w & 1u) == 0 && (w & (STR_ORIGIN_KIND | STR_ORIGIN_UNTIL)) != 0;
}

STR_INLINE uint64_t
str_origin_until(const void *word)
{
	uintptr_t a = (uintptr_t)word;

	return (uint64_t)(a >> 3 & 7u) << 32 |
		((uint32_t)a & ~UINT32_C(63)) | STR_ORIGIN_UNTIL;
}

/* The record proper of a record @w that is STR_ORIGIN_UNTIL, or 0. */
STR_INLINE uint64_t
str_origin_proper(const struct str_mdb *x, uint64_t w)
{
	const uint64_t *word = (uint64_t *)str_origin_at(w) + (w >> 32 & 7u);

	return str_load(word) == (uint64_t)(uintptr_t)x->m.b_next ?
		(uint64_t)(uintptr_t)x->m.b_prev : 0;
}

/*
 * str_origin_goes - the next change of *@word, in the domain, hands the bytes of
 * @mp on: from then on @mp does not go back to where it was taken from
 * str_origin_stays - it has not come to that
 */
STR_INLINE void
str_origin_goes(mblk_t *mp, const void *word)
{
	struct str_mdb *x = str_mdb_of_m(mp);

	mp->b_prev = str_load(&x->blk.next);
	mp->b_next = (mblk_t *)(uintptr_t)str_load((const uint64_t *)word);
	str_barrier();
	str_origin_set(x, str_origin_until(word));
	str_barrier();
}

STR_INLINE void
str_origin_stays(mblk_t *mp)
{
	struct str_mdb *x = str_mdb_of_m(mp);

	if (!str_origin_known(mp) || (str_origin(x) & STR_ORIGIN_UNTIL) == 0)
		return;
	str_store(&x->blk.next, (void *)mp->b_prev);
	str_barrier();
	mp->b_prev = mp->b_next = NULL;
}

/*
 * str_origin_went - was @x, which a dead thread had, handed on by a change of
 * *@word?  Before the word changes again.  @x may be any block by now.
 */
STR_INLINE void
str_origin_went(struct str_mdb *x, const void *word)
{
	void *w = (void *)(uintptr_t)str_origin_until(word);

	if (str_load(&x->blk.state) == STR_BLK_MDB &&
	    str_load(&x->blk.next) == w)
		(void)str_cas(&x->blk.next, w, (void *)(uintptr_t)
			str_origin_proper(x, (uint64_t)(uintptr_t)w));
}

/*
 * str_msg_take - @mp is about to be unlinked by this thread; @word: its record
 * Locks: those of the place.
 */
STR_INLINE void
str_msg_take_one(mblk_t *bp, uint64_t word)
{
	str_origin_set(str_mdb_of_m(bp), word);
	str_store(&str_mdb_of_m(bp)->blk.owner, host_self_tag());
}

STR_INLINE void
str_msg_take(mblk_t *mp, uint64_t word)
{
	if (word != 0)
		str_store(&host_self()->hand[host_tls.taken % STR_NHAND],
			(uint64_t)(uintptr_t)str_mdb_of_m(mp));
	str_msg_take_one(mp, word);
	while (str_unlikely((mp = mp->b_cont) != NULL))
		str_msg_take_one(mp, 0);
}

#endif

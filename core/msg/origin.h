/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The origin of a message: the place from which a thread has taken it, recorded
 * while the thread holds the message.
 *
 * Purpose.  A service procedure takes a message from a queue and hands it on.
 * The thread that runs it may be killed between the two, and the message often
 * belongs to another process.  The reaper then puts the message back where it
 * was (core/plumb/back.c).
 *
 * Record.  One word, the free-list link of the message's first block.  A block
 * in use needs this word only for the reaper's mark, an odd number.  The record
 * is:
 *
 *	63..40	serial number of the queue pair, so that another pair in the
 *		same memory is not taken for it
 *	39..32	a number that each thread increments with each message that it
 *		takes: the reaper puts back the last one first
 *	31..6	these bits of the address of the queue pair; str_origin_at()
 *		finds the others
 *	5..0	STR_ORIGIN_*, bit 0 clear
 *
 * The link of a free block is an address, a multiple of 64: with bits 5..0
 * clear it is not taken for a record.
 *
 * The thread's slot names the messages that it took last, for a reaper that
 * cannot search the memory now (str_thread.hand).
 *
 * Life.  getq() writes the record before it unlinks the message, as do the
 * takers of a backlog and of a late list. putq() and similar functions clear it
 * when the message is linked and has no owner.  A message that is copied is
 * handed on by the store that makes the copy valid, for instance `pos' of a
 * log.  Before this store the record becomes STR_ORIGIN_UNTIL
 * (str_origin_goes()). freeb() hands a message on when it removes the last
 * reference to the data, or clears b_datap; either is one store. rmvq() writes
 * no record: its caller has a record of its own, or frees the message.
 *
 * Changes.  A message returns with the current contents of its blocks: changes
 * that the module has made in place, by trimming or pulling up, remain.  The
 * rest that unlinkb() returns inherits the record, and the first block loses
 * it.  A duplicate or a copy has no record of a place: the message from which
 * it was made returns, and the duplicate is freed.  Blocks that were linked to
 * the end of another message return with that one.
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
 * Instead of a queue pair the record has the address of a word (bits 5..3 of it
 * in 34..32); the next change of this word hands the message on. b_prev has the
 * record proper, b_next the word's value.
 */
#define STR_ORIGIN_UNTIL 0x20u
/*
 * Of a duplicate, which the reaper does not put back: the driver that made it
 * keeps the original.  The record has the address of the driver's word, in the
 * form of STR_ORIGIN_UNTIL; by this word the driver finds out whether the
 * duplicate has been handed on (str_msg_fate()).
 */
#define STR_ORIGIN_WATCH (STR_ORIGIN_BACKLOG | STR_ORIGIN_NEXT)
#define STR_ORIGIN_BITS 0x3fu

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

/*
 * The address in the domain, a multiple of 64, that has bits 31..6 of @w.  The
 * other bits of @w are ignored: @w is a record, or the low half of an address.
 */
STR_INLINE void *
str_origin_at(uint64_t w)
{
	uint64_t base = host_domain->base;

	return (void *)(uintptr_t)((base + (uint32_t)((uint32_t)w -
		(uint32_t)base)) & ~(uint64_t)63);
}

/*
 * Has @mp a record: was it taken from a queue, a backlog or a late list, or is
 * it a duplicate with STR_ORIGIN_WATCH?
 */
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

STR_INLINE uint64_t
str_origin_watch(const void *word)
{
	return str_origin_until(word) ^ (STR_ORIGIN_UNTIL | STR_ORIGIN_WATCH);
}

/* The word whose address a record of either kind has. */
STR_INLINE uint64_t *
str_origin_wordof(uint64_t w)
{
	return (uint64_t *)str_origin_at(w) + (w >> 32 & 7u);
}

/* The record proper of @x, whose record @w is STR_ORIGIN_UNTIL; 0: the word has
 * changed. */
STR_INLINE uint64_t
str_origin_proper(const struct str_mdb *x, uint64_t w)
{
	const uint64_t *word = str_origin_wordof(w);

	return str_load(word) == (uint64_t)(uintptr_t)x->m.b_next ?
		(uint64_t)(uintptr_t)x->m.b_prev : 0;
}

/*
 * str_origin_goes - the next change of *@word, in the domain, hands the bytes
 * of @mp on: from then on @mp does not return to the place from which it was
 * taken
 * str_origin_stays - cancel this
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
 * str_origin_went - if the record of @x is STR_ORIGIN_UNTIL with *@word: clear
 * it if the word has changed since, and otherwise restore the record proper
 * Called before the word changes again.  The thread that had @x has died, and
 * the block may have been reused since: then nothing is changed.
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
 * str_msg_take_one - the same for one block, which is not entered in the slot
 * Locks: those of the list from which it is unlinked.
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

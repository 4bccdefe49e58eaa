/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Watchers: lists of ready streams, which wakers fill.  watch.c has the theory.
 *
 * A process that waits for many streams makes a watcher.  In the watcher each
 * of these streams has a number, its *item*.  It arms an item for the events
 * that the stream does not have yet. Then it need not look at the stream again
 * until the watcher has one of the item's bits.
 *
 *	str_watch_join(w, sd, item, false, &slot);
 *	str_watch_arm(w, sd, slot, item, STR_WATCH_READ, &armed);
 *	host_fence_heavy();		unless all armed.fenced
 *	look at the stream; then sleep on w->word, or for the bell
 *	some = str_watch_some(w);	and for each bit of it the words of bits
 *
 * Context: in a call; functions with a head: in a call on that head.
 */
#ifndef STR_WATCH_H
#define STR_WATCH_H

#include "core.h"

#define STR_WATCH_LINES 64u /* cache lines of bits; one bit of `some' each */
#define STR_WATCH_WORDS 8u  /* words of a line */
#define STR_WATCH_ITEMS (STR_WATCH_LINES * STR_WATCH_WORDS * 32u)

struct str_watch {
	struct str_blk blk;
	str_a64 owner;	  /* [A] the process: slot, and generation above; 0:
			   * free */
	str_a32 gen;	  /* [A] counts uses of this memory; never 0 */
	uint32_t number;  /* [I] its place in the table */
	str_a32 bell;	  /* [A] the low 16 bits (STR_WATCH_COUNT): number of
			   * threads that sleep until their process's bell
			   * rings.  Then the bit STR_WATCH_RUNG.  The bits
			   * above change whenever a thread counts itself */
	uint32_t pad;
	/* written by wakers */
	str_a64 some STR_LINE; /* [A] lines that may have bits */
	str_a32 word;	  /* [A] threads sleep here in stage 1 */
	str_a32 sleepers; /* [A] the low 16 bits (STR_WATCH_COUNT): number of
			   * threads that sleep at `word'; too great if a
			   * signal or a time-out woke some.  The high 16
			   * bits change whenever a thread counts itself */
	str_a64 bits[STR_WATCH_LINES * STR_WATCH_WORDS] STR_LINE; /* [A] two
			   * for each item: str_watch_bit() */
};

#define STR_WATCH_COUNT 0xffffu /* mask of the count, and its greatest value */
/* bell: it has been rung since the last thread counted itself there */
#define STR_WATCH_RUNG 0x10000u

#define STR_WATCH_READ 1u  /* something to read, hang-up, errors */
#define STR_WATCH_WRITE 2u /* room */
#define STR_WATCH_WAYS 3u

/* The number of the bit of @item for one way. */
STR_INLINE uint32_t
str_watch_bit(uint32_t item, uint32_t way)
{
	return item * 2 + (way == STR_WATCH_WRITE);
}

/* What str_watch_arm() did. */
struct str_armed {
	uint32_t want[2]; /* values of the want words, to read and to write */
	uint32_t mark;	  /* str_watch_mark(), after it was armed */
	bool fenced;	  /* wakers execute the fence */
};

struct str_watch *str_watch_make(void);
void str_watch_free(struct str_watch *w);
bool str_watch_mine(const struct str_watch *w);

bool str_watch_join(struct str_watch *w, struct str_head *sd, uint32_t item,
	bool exclusive, uint32_t *ret_slot);
void str_watch_leave(struct str_watch *w, struct str_head *sd, uint32_t slot,
	uint32_t item);
bool str_watch_arm(struct str_watch *w, struct str_head *sd, uint32_t slot,
	uint32_t item, uint32_t ways, struct str_armed *ret);
void str_watch_fenced(struct str_head *sd, const struct str_armed *a);
uint32_t str_watch_armed(const struct str_watch *w, struct str_head *sd,
	uint32_t slot, uint32_t item);
uint32_t str_watch_mark(struct str_head *sd);
bool str_watch_unfit(struct str_head *sd);
uint32_t str_watch_cpu(struct str_head *sd);

bool str_watch_wake(struct str_watch *w);
bool str_watch_post(struct str_watch *w, uint32_t item, uint32_t way);
void str_watch_nudge(struct str_watch *w);
void str_watch_again(struct str_head *sd, str_a32 *want);
bool str_watch_sleep(struct str_watch *w);
void str_watch_bell_on(struct str_watch *w);
void str_watch_bell_off(struct str_watch *w);

/* Take the lines that have bits. */
STR_INLINE uint64_t
str_watch_some(struct str_watch *w)
{
	return str_load(&w->some) == 0 ? 0 : str_xchg(&w->some, (uint64_t)0);
}

/* Take the bits of word @i. */
STR_INLINE uint64_t
str_watch_bits(struct str_watch *w, uint32_t i)
{
	return str_load(&w->bits[i]) == 0 ? 0 :
					    str_xchg(&w->bits[i], (uint64_t)0);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * For each kind of block: the blocks to which it points, and its treatment when
 * its owner was killed.  One table, str_kind, for the reaper (region.c), the
 * search for messages that modules keep (parked.c), the collector (tally.c) and
 * the description of a block (core/inspect/block.c).
 */
#ifndef KIND_H
#define KIND_H

#include "core.h"

struct reap;
typedef void str_word_fn(void *arg, uint64_t word);

struct str_kind {
	/*
	 * Is the block reachable other than from marked blocks?  NULL: never.
	 */
	bool (*kept)(struct reap *r, struct str_blk *b);
	/* Free it if it is not reachable. */
	void (*fini)(struct str_blk *b);
	/*
	 * Order: streams first, then queue pairs, because the blocks that are
	 * linked in them are freed with them.
	 */
	unsigned turn;
	/*
	 * Call @fn for each word of the block that may point into a message;
	 * NULL: none.  Other threads may change the block meanwhile.
	 */
	void (*words)(const struct str_blk *b, str_word_fn *fn, void *arg);
	/*
	 * The head to which the block carries a reference now, or NULL.
	 * @ret_at: the head at which the block waits, if it is at one
	 */
	struct str_head *(*refers)(const struct str_blk *b,
		struct str_head **ret_at);
};

extern const struct str_kind str_kind[STR_BLK_NKIND];

/* parked.c and tally.c, for the table */
void str_words_kmem(const struct str_blk *b, str_word_fn *fn, void *arg);
void str_words_event(const struct str_blk *b, str_word_fn *fn, void *arg);
void str_words_pair(const struct str_blk *b, str_word_fn *fn, void *arg);
void str_words_message(const struct str_blk *b, str_word_fn *fn, void *arg);
struct str_head *str_link_refers(const struct str_blk *b,
	struct str_head **ret_at);
struct str_head *str_pass_refers(const struct str_blk *b,
	struct str_head **ret_at);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A run of the collector, shared by collect.c and tally.c.
 */
#ifndef CORE_PLUMB_COLLECT_H
#define CORE_PLUMB_COLLECT_H

#include "core.h"

#define CHUNK 32768u /* bytes */
#define NCHUNK 256u
#define BETWEEN 64u /* entries between two reads of the clock */

struct cand {
	struct str_head *sd;
	struct str_plumb *pl;
	uint64_t sid;
	uint64_t refs;	/* the word when it was read */
	uint32_t found;	/* references to it that were found */
	uint32_t inner;	/* those that are in M_PASSFP messages (struct str_pass)
			 * which wait at heads of the set */
	uint32_t in;	/* in the set of heads that may be unreachable: at
			 * first all but those of devices */
	uint32_t mine;	/* has the collector's reference */
};

struct edge {
	struct str_head *at, *to;
};

struct table {
	struct str_blk *chunk[NCHUNK];
	uint32_t n, per, size; /* entries, in a chunk, bytes of one */
};

/* The result of a step. */
enum went {
	MORE, /* its time is up */
	NEXT,
	LAST, /* leave out the other steps of this round, except let_go() if
	       * heads may have been seized */
};

struct str_collect {
	struct str_blk blk;
	struct table cand, edge;
	bool full;	/* there was no memory for an entry */
	bool any;	/* the set has heads with references */
	bool again;	/* circles() has removed heads, and must look again */
	bool done;	 /* this round has changed something */
	bool late;	 /* a head could not be seized: it is gone, was opened,
			  * or its references have changed */
	bool sure;	 /* this round has found that there is nothing to do */
	uint64_t key;	 /* seq, plus a sum over the heads: looked_at() */
	uint64_t seq;	 /* STR_ROOT_REFSEQ when the round began */
	struct str_walk walk;
	uint64_t slab;	/* where the walk over the memory is */
	uint32_t i;	/* where a step over the heads, or edges, is */
	uint32_t phase; /* of a step that has several */
	uint32_t step, round;
	bool unsure; /* after the last round: another run is needed */
};

STR_INLINE void *
str_collect_entry(struct table *t, uint32_t i)
{
	return (char *)(t->chunk[i / t->per] + 1) +
		(size_t)(i % t->per) * t->size;
}

STR_INLINE struct cand *
cand(struct str_collect *r, uint32_t i)
{
	return str_collect_entry(&r->cand, i);
}

/* Is the slice's time over? */
STR_INLINE bool
is_over(uint64_t until)
{
	return until != UINT64_MAX && host_now() >= until;
}

/* tally.c: the entry of @sd among the recorded heads, or NULL. */
struct cand *str_collect_lookup(struct str_collect *r, const struct str_head *sd);

/* Steps that count, in this order. */
enum went str_collect_note(struct str_collect *r, uint64_t until);
enum went str_collect_sort(struct str_collect *r, uint64_t until);
enum went str_collect_hands(struct str_collect *r, uint64_t until);
enum went str_collect_blocks(struct str_collect *r, uint64_t until);
enum went str_collect_names(struct str_collect *r, uint64_t until);
enum went str_collect_halves(struct str_collect *r, uint64_t until);
enum went str_collect_hands_again(struct str_collect *r, uint64_t until);

/* A value for the state of @r's heads when there is nothing to collect: never
 * 0, and different after any change of references. */
STR_INLINE uint64_t
looked_at(const struct str_collect *r)
{
	return r->key << 1 | 1;
}

#endif

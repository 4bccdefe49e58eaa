/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the files of the reaper share: region.c, mark.c (waiting for locks, and
 * marking what streams lead to), back.c (putting back what the thread had taken).
 */
#ifndef REAP_H
#define REAP_H

#include "kind.h"

#define FOUND 64
#define PATIENCE 20u /* ms for a lock, when others do not wait for the reaper */
#define NPLACE (STR_NCLAIM + 2) /* claims, inside, held */

struct reap {
	uint32_t tag;
	struct str_blk *found[FOUND];
	unsigned n;
	enum { TAKEN, BLOCKS, BUFFERS } what; /* is being looked for */
	bool any;    /* there is a block of the dead thread */
	bool undone; /* one could not be decided */
	struct str_plumb *in[NPLACE]; /* alive, or NULL */
	uintptr_t epoch;
	unsigned ms; /* to wait for a lock that a living thread keeps */
};

/* No living thread holds the lock, or is in the pair's perimeter; or none is
 * after r->ms. */
bool str_reap_patient(const struct reap *r, struct str_lock *l);
bool str_reap_hpatient(const struct reap *r, struct str_hlock *l);
bool str_reap_idle(const struct reap *r, struct str_qpair *qp);

/* The mark of a block, in its free-list link; str_reap_mark_pipe() marks all that
 * leads from @pl.  False: a living thread keeps a lock. */
bool str_reap_marked(const struct str_blk *b, uintptr_t epoch);
void str_reap_mark(struct str_blk *b, uintptr_t epoch);
bool str_reap_mark_pipe(const struct reap *r, struct str_plumb *pl);

/* Is segment @s part of a log of a stream that the dead thread was inside?
 * Undecided, with r->undone: true. */
bool str_reap_seg_linked(struct reap *r, struct str_seg *s);

/* Does a neighbour of @qp lead to it? */
bool str_reap_pair_linked(const struct str_qpair *qp);

/*
 * str_reap_taken - had the dead thread taken message @x from a place it can go
 * back to?  Then the blocks behind it go with it.
 * str_reap_give_back - put the messages of r->found back, the last taken first
 */
bool str_reap_taken(const struct reap *r, struct str_mdb *x);
void str_reap_give_back(struct reap *r);

#endif

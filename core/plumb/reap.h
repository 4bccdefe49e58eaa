/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shared by the files of the reaper: region.c, mark.c (waiting for locks, and
 * marking reachable blocks), back.c (putting messages back).
 */
#ifndef REAP_H
#define REAP_H

#include "kind.h"

#define FOUND 64
#define PATIENCE 20u /* ms for a lock, when no thread waits for the reaper */
#define NPLACE (STR_NCLAIM + 3) /* claims, inside, held, late */

struct reap {
	uint32_t tag;
	struct str_blk *found[FOUND];
	unsigned n;
	enum { TAKEN, BLOCKS, BUFFERS } what; /* the kind of blocks searched */
	bool any;    /* there is a block of the dead thread */
	bool undone; /* a block could not be decided */
	struct str_plumb *in[NPLACE]; /* the streams that the slot names, which
				       * may be closed by now; or NULL */
	uintptr_t epoch;
	unsigned ms; /* limit for a lock that a living thread holds; if it is
		      * PATIENCE, more unless the thread is stopped: is_over()
		      * in mark.c */
};

/* Wait, within the limit r->ms, until no living thread holds the lock; for
 * str_reap_idle() the locks of the pair's backlog and jobs.  False: a living
 * thread holds it.
 */
bool str_reap_patient(const struct reap *r, struct str_lock *l);
bool str_reap_hpatient(const struct reap *r, struct str_hlock *l);
bool str_reap_idle(const struct reap *r, struct str_qpair *qp);

/* The mark of a block is in its free-list link; str_reap_mark_pipe() marks all
 * blocks reachable from @pl.  False: a living thread holds a lock. */
bool str_reap_marked(const struct str_blk *b, uintptr_t epoch);
void str_reap_mark(struct str_blk *b, uintptr_t epoch);
bool str_reap_mark_pipe(const struct reap *r, struct str_plumb *pl);

/* Is segment @s part of a log of a stream that the dead thread was inside?
 * Undecided, with r->undone: true. */
bool str_reap_seg_linked(struct reap *r, struct str_seg *s);

/* Does a neighbour of @qp point to it? */
bool str_reap_pair_linked(const struct str_qpair *qp);

/*
 * str_reap_taken - had the dead thread taken message @x from a place to which
 * it can return?  Then the blocks after it return with it.
 * str_reap_give_back - put the messages of r->found back, last taken first
 */
bool str_reap_taken(const struct reap *r, struct str_mdb *x);
void str_reap_give_back(struct reap *r);

/* @x is about to be freed, and was not handed on: tell the driver that watches
 * it, if one does (str_msg_fate()). */
void str_reap_tell(struct str_mdb *x);

#endif

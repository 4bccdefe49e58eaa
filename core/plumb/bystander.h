/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shared by bystander_test.c and bystander_drv.c (the arrangements of drivers).
 */
#ifndef BYSTANDER_H
#define BYSTANDER_H

#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../../drv/drvfix.h"
#include <sys/stropts.h>

#define N 40u	/* messages; the first ones fill the sink */
#define RUNS 250u /* of an arrangement */

/*
 * One arrangement.  The run sets it to zero, calls the arrangement's function,
 * puts N numbered messages and lets the bystander run the enabled queues.
 */
extern struct arrangement {
	struct fx_pipe *run[2]; /* the streams whose services run */
	queue_t *from;		/* messages are put here */
	queue_t *sink;		/* "store", or NULL: ... */
	struct fx_pipe *head;	/* ... the head of its end 0 */
	bool fill;		/* they wait only if the sink is full */
	bool kept;		/* the reaper finds a lock taken for some
				 * time */
	unsigned band;
	unsigned twice;		/* number that may be delivered twice, in
				 * order */
	unsigned lost;		/* number that may be missing after a kill */
	mblk_t *(*wrap)(unsigned i, mblk_t *mp);	/* before the put */
	mblk_t *(*unwrap)(mblk_t *mp);	/* a message of the sink; NULL: none */
	long (*next)(void);	/* instead of sink and head: a number, or -1 */
	void (*ready)(void);	/* all are put */
	bool ticks;		/* they wait for a callback, which the bystander
				 * calls */
	unsigned first;		/* only so many points are tried; 0: all */
	void (*done)(void);	/* before the domain is audited */
} arr;

extern struct dv by_a; /* a stream, for an arrangement's use */

/*
 * Kill the bystander at each point of @arrange, called @name, one after the
 * other.
 */
void by_everywhere(const char *name, void (*arrange)(void));

#define ARRANGEMENT(name)						\
	T_CASE_TIMEOUT(killed_##name, 300)				\
	{								\
		(void)t;						\
		by_everywhere(#name, name);				\
	}

#endif

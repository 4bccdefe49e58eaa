/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What bystander_test.c and the arrangements of drivers, bystander_drv.c, share.
 */
#ifndef BYSTANDER_H
#define BYSTANDER_H

#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../../drv/drvfix.h"
#include <sys/stropts.h>

#define N 40u	/* messages; what comes first fills the sink */

/*
 * One arrangement.  The run sets it to zero, calls the arrangement's function,
 * puts N numbered messages and has the bystander run what is enabled.
 */
extern struct arrangement {
	struct fx_pipe *run[2]; /* where services run */
	queue_t *from;		/* messages are put here */
	queue_t *sink;		/* "store", or NULL: ... */
	struct fx_pipe *head;	/* ... the head of its end 0 */
	bool fill;		/* they wait only when the sink is full */
	bool kept;		/* the reaper finds a lock taken for a while */
	unsigned band;
	unsigned twice;		/* so many may come once more, at their place */
	unsigned lost;		/* so many may be missing, if one is killed */
	mblk_t *(*wrap)(unsigned i, mblk_t *mp);	/* before it is put */
	mblk_t *(*unwrap)(mblk_t *mp);	/* of what the sink has; NULL: none */
	long (*next)(void);	/* instead of sink and head: a number, or -1 */
	void (*ready)(void);	/* all are put */
	void (*done)(void);	/* before the domain is looked at */
} arr;

extern struct dv by_a; /* a stream, for an arrangement's use */

/* Kill the bystander at one point of @arrange, called @name, after the other. */
void by_everywhere(const char *name, void (*arrange)(void));

#define ARRANGEMENT(name)						\
	T_CASE_TIMEOUT(killed_##name, 300)				\
	{								\
		(void)t;						\
		by_everywhere(#name, name);				\
	}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The short way of a message: from the caller's memory to another Stream.
 *
 * Purpose.  A driver that only hands messages on from one Stream to another
 * needs neither blocks nor queues for what can go at once.  So a message of
 * one control part, of band 0 and no priority, is shown to its *direct*
 * procedure while its data is in the caller's memory still; if there is
 * nothing in the way the procedure has it appended to what waits to be read
 * at the other Stream, with a control part of its own in place of the one
 * that came.  In all other cases it does nothing, and the message goes the
 * usual way: through put procedures, to queues, with all that has to be said
 * when something is wrong.
 *
 * When.  Between the Stream head and the driver stand only modules that pass
 * such messages as they are (STR_D_PLAIN).  Nothing waits on the driver's
 * queues: that is for the procedure to see to, or it would overtake.
 *
 * Locks.  The procedure's Stream is claimed, the other one is held
 * (<str/hold.h>) by the procedure.  Crash: nothing is shared before the one
 * store that publishes the record at the other head.
 */
#ifndef STR_DIRECT_H
#define STR_DIRECT_H

#include <sys/stream.h>

struct str_direct {
	const void *ctl;   /* control part, a copy, aligned */
	size_t clen;
	const void *udata; /* the caller's memory, perhaps bad */
	ssize_t dlen;	   /* -1: no data part */
	void **full;	   /* the executive's: where there was no room */
	struct str_take *take; /* not NULL: nothing is sent; see below */
};

/*
 * The other direction: a reader that waits at a stream has lent the driver what
 * it will come by (<str/ksock.h>: STR_LEND_UNITS), and asks the direct
 * procedure for it, inside the driver's perimeter.
 */
struct str_take {
	void *udata;   /* the caller's memory, perhaps bad */
	uint32_t room; /* bytes there */
	void *ctl;     /* good memory for a control part, aligned */
	uint32_t croom;
	uint32_t clen; /* out: bytes of the control part */
	uint32_t dlen; /* out: bytes of data */
};

/* What it returns then. */
#define STR_TAKE_DONE 0
#define STR_TAKE_NONE 1 /* nothing is there */
#define STR_TAKE_LOOK 2 /* something else is to be seen to, or has come up */
#define STR_TAKE_FAULT 3 /* the caller's memory is bad */

/* What a direct procedure returns: nothing else is possible. */
#define STR_DIRECT_DONE 0
#define STR_DIRECT_NOT 1 /* nothing has been done */
#define STR_DIRECT_FULL 2 /* ... because it is full, and so it may be soon */
#define STR_DIRECT_SOON 3 /* ... for a moment, as who takes things is at work */

/*
 * str_direct_up - append a message of @ctl and @d's data to what waits to be
 * read above @rq, a driver's read queue of a stream that is held
 * Return: STR_DIRECT_DONE; STR_DIRECT_FULL; STR_DIRECT_NOT: it is too long for
 * that, or something stands between.
 */
int str_direct_up(queue_t *rq, const void *ctl, size_t clen,
	const struct str_direct *d);

/*
 * str_direct_enter, str_direct_leave - the perimeter of @wq, a driver's write
 * queue, of whose direct procedure this is; 0: a thread is inside
 */
int str_direct_enter(queue_t *wq);
void str_direct_leave(queue_t *wq);

#endif

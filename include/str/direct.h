/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The direct path of a message: from the caller's memory to another Stream.
 *
 * Purpose.  A driver that only passes messages on from one Stream to another
 * needs neither blocks nor queues for a message that can be delivered at once.
 * So the executive calls the driver's *direct* procedure with a message that
 * has a control part, band 0 and no high priority, while its data is still in
 * the caller's memory.  If nothing prevents that, the procedure appends the
 * message to the messages that wait to be read at the other Stream, and
 * replaces the control part by one of its own.  In all other cases it does
 * nothing, and the message takes the usual path through put procedures and
 * queues, which also makes the error replies.
 *
 * When.  All modules between the Stream head and the driver pass such messages
 * unchanged (STR_D_PLAIN).  Nothing may wait on the driver's queues: the
 * procedure checks that, because its message would overtake what waits there.
 *
 * Locks.  The caller has claimed the procedure's Stream; the procedure holds
 * the other one (<str/hold.h>).  Crash: nothing is shared before the one store
 * that publishes the record at the other head.
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
 * The other direction.  The driver has lent the Stream head its source of
 * messages (<str/ksock.h>: STR_LEND_UNITS).  A reader that waits at the stream
 * calls the direct procedure, inside the driver's perimeter, to receive from
 * it.
 */
struct str_take {
	void *udata;   /* the caller's memory, perhaps bad */
	uint32_t room; /* bytes there */
	void *ctl;     /* good memory for a control part, aligned */
	uint32_t croom;
	uint32_t clen; /* out: bytes of the control part */
	uint32_t dlen; /* out: bytes of data */
};

/* The direct procedure's result for a struct str_take. */
#define STR_TAKE_DONE 0
#define STR_TAKE_NONE 1 /* nothing is there */
#define STR_TAKE_LOOK 2 /* nothing is in the caller's memory: make the full
			 * call; messages may have been sent up */
#define STR_TAKE_FAULT 3 /* the caller's memory is bad */

/* Result of a direct procedure; no other value is allowed. */
#define STR_DIRECT_DONE 0
#define STR_DIRECT_NOT 1 /* nothing has been done */
#define STR_DIRECT_FULL 2 /* ... because the receiver's queue is full */
#define STR_DIRECT_SOON 3 /* ... for a moment, because the receiver is reading
			   * now: yield and try again */

/*
 * str_direct_up - append a message of @ctl and @d's data to the messages that
 * wait to be read at the head above @rq, the driver's read queue of a stream
 * that is held
 * Return: STR_DIRECT_DONE; STR_DIRECT_FULL; STR_DIRECT_NOT: the message is too
 * long, its memory is bad, there is no memory, a module between does not pass
 * it unchanged, or late messages wait there.
 */
int str_direct_up(queue_t *rq, const void *ctl, size_t clen,
	const struct str_direct *d);

/*
 * str_direct_enter,
 * str_direct_leave - enter and leave the perimeter of @wq, the driver's write
 * queue.  For the direct procedure of that driver.
 * Return: 0: another thread is inside
 */
int str_direct_enter(queue_t *wq);
void str_direct_leave(queue_t *wq);

#endif

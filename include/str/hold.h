/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reaching queues of other streams, for drivers that have them connected.
 *
 * A driver may put messages on any queue it knows of, as long as that queue
 * is there.  A driver whose procedures run in many processes at once, any of
 * which may die, cannot know that by its own tables alone: so it holds the
 * stream first, and then looks at its tables once more.  What is held is not
 * taken apart until it is let go; and the closer has changed the
 * tables before, so one of the two notices the other (core/plumb/claim.c).
 */
#ifndef STR_HOLD_H
#define STR_HOLD_H

#include <sys/stream.h>

/* A stream and its number, which no other ever has. */
struct str_ref {
	void *stream;
	uint64_t sid;
};

struct str_hold {
	void *pl, *was;
	int how;
};

/*
 * str_ref - the stream of @q, which is being served and open
 */
void str_ref(queue_t *q, struct str_ref *ret);

/*
 * str_hold - keep a stream's queues where they are; never waits
 * Return: 0: it is held, to be let go by str_unhold(), in reverse order;
 * EBUSY: not now, it is being plumbed or closed; ESRCH: it is
 * no more, or its closer was killed meanwhile.
 * Context: put and service procedures.  What @ref's memory holds may change
 * meanwhile: it is a copy that the caller verifies afterwards.
 */
int str_hold(struct str_hold *h, const struct str_ref *ref);
void str_unhold(struct str_hold *h);

/*
 * str_ref_gone - is that stream no more, and no thread at work there?  What
 * belonged to it can be another's from then on.  Where its closer was killed
 * in it, str_hold() says ESRCH before that: callbacks and service procedures of
 * its queues may still run then, until another thread has gone on with the close.
 * Costs a heavy fence.  Context: any.
 */
int str_ref_gone(const struct str_ref *ref);

/*
 * str_hold_note - str_hold() has said EBUSY, but a lock of the caller's keeps
 * the stream from going, and messages will be queued there: if the caller
 * is killed, its messages are to be looked for there, too
 * Undone by str_unhold().  One at a time: the second is not noted.
 */
void str_hold_note(struct str_hold *h, const struct str_ref *ref);

/*
 * str_read_mark - how far reading above @rq, the read queue of a driver whose
 * stream is held, has come: another value when something has been read since,
 * or has come that flow control does not hold back.  Context: as str_hold.
 */
uint64_t str_read_mark(queue_t *rq);

/*
 * str_put_mark - how much has been laid at the head above @rq, as above: another
 * value when a message without a band has come there since.  What its reader
 * does changes nothing.
 */
uint64_t str_put_mark(queue_t *rq);

/*
 * str_msg_watch - the caller, which alone knows of @mp, is about to hand it on
 * Return: the caller, as a number, for str_msg_handed().
 *
 * str_msg_handed - was @mp handed on by the thread @by, which has been killed: is
 * it on a queue or in a head's log, or was it freed?  @mp may be another thread's
 * by now.  Ask before the reaper frees it: in a procedure of a stream that the
 * thread was inside.
 */
unsigned int str_msg_watch(mblk_t *mp);
int str_msg_handed(const mblk_t *mp, unsigned int by);

/*
 * str_read_soon - the head above @rq, as above, is full: its reader is
 * given the CPU, if this is the one that it runs on, or a moment
 * Return: is there room now?
 */
int str_read_soon(queue_t *rq);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Access to queues of other streams, for drivers that connect streams.
 *
 * A driver may put messages on any queue in its tables as long as that queue
 * exists.  The procedures of a driver run in many processes at once, and each
 * of them may die, so the tables alone do not prove that a queue exists.
 * Therefore the driver holds the stream first, and then checks its tables
 * again.  A held stream is not dismantled until it is released.  A closer
 * changes the tables before it dismantles the stream, so one of the two threads
 * notices the other (core/plumb/claim.c).
 */
#ifndef STR_HOLD_H
#define STR_HOLD_H

#include <sys/stream.h>

/* A stream and its number, which is never given to another stream. */
struct str_ref {
	void *stream;
	uint64_t sid;
};

struct str_hold {
	void *pl, *was;
	int how;
};

/*
 * str_ref - the stream of @q; the caller is in one of its procedures, so it is
 * open
 */
void str_ref(queue_t *q, struct str_ref *ret);

/*
 * str_hold - keep a stream's queues where they are; never waits
 * Return: 0: it is held, and the caller releases it by str_unhold(), in reverse
 * order; EBUSY: not now, its plumbing is being changed or it is being closed;
 * ESRCH: it no longer exists, or its closer was killed meanwhile.
 * Context: put and service procedures. @ref may lie in shared memory that
 * changes meanwhile: the caller then checks its tables again.
 */
int str_hold(struct str_hold *h, const struct str_ref *ref);
void str_unhold(struct str_hold *h);

/*
 * str_ref_gone - has that stream ended, and is no thread working in it?  From
 * then on its resources can be given to another stream.  If its closer was
 * killed during the close, str_hold() returns ESRCH before this is true:
 * callbacks and service procedures of its queues may still run, until another
 * thread has finished the close.  Costs a heavy fence.  Context: any.
 */
int str_ref_gone(const struct str_ref *ref);

/*
 * str_ref_unheld - has that stream lost its last holder, and is it not closed
 * yet?  So it is after its holders were killed, until streamsd closes it.
 * @ask: if so, ask streamsd to do it now; asking once is enough
 * Return: 1: yes, or its plumbing is being changed now: ask again in a tick.  0:
 * it has a holder, it has ended, its close waits for data to be sent, or there
 * is no streamsd.
 * Costs one or two system calls for each open file; starts streamsd if needed.
 * Context: put and service procedures; the caller need not hold the stream.
 */
int str_ref_unheld(const struct str_ref *ref, int ask);

/*
 * str_hold_note - note a stream for which str_hold() returned EBUSY.  A lock of
 * the caller prevents the end of the stream, and the caller will queue messages
 * there.  If the caller is killed, the reaper also searches that stream for its
 * messages.
 * Undone by str_unhold().  Only one stream is noted at a time: a second one is
 * ignored.
 */
void str_hold_note(struct str_hold *h, const struct str_ref *ref);

/*
 * str_read_mark - progress of the reader above @rq, the read queue of a driver
 * whose stream is held.  The value changes when a message is read, or when one
 * arrives that flow control does not hold back.  Context: as str_hold.
 */
uint64_t str_read_mark(queue_t *rq);

/*
 * str_unread - is there data that no user will read, at the head above @rq, the
 * read queue of a driver, or on @rq?  Messages at the head are discarded.
 * @counts: does a message with data and this control part, of @n bytes, not
 * aligned, count?  It is called with a lock, and calls nothing.  A message
 * without a control part counts.
 * Context: the close procedure of the driver.  Return: 1 or 0.
 */
int str_unread(queue_t *rq, int (*counts)(const unsigned char *ctl, size_t n));

/*
 * str_msg_watch - the caller, which has the only reference to @mp, is about to
 * pass it on.  If the caller is killed, str_msg_fate() says what became of @mp.
 * @word: in the domain's memory, aligned; set here, and the driver keeps it
 * until the message has been passed on, or its fate is known
 *
 * str_msg_fate - of the message that @word watches, of a thread that was killed
 * Return: 1: it was put on a queue or into a head's log, or was freed; 0: it
 * was not, and will be freed; EAGAIN: that is not known before the reaper has
 * finished.
 */
void str_msg_watch(mblk_t *mp, uint64_t *word);
int str_msg_fate(const uint64_t *word);

/*
 * str_read_soon - the head above @rq, as above, is full.  Give its reader time:
 * wake it, if str_wake_begin() has put that off; then yield to it if it runs on
 * this CPU, else look again for a moment; then sleep until there is room.
 * @ns: longest sleep; 0: none
 * Context: as str_hold; with @ns a service procedure that no lock is held for.
 * Return: is there room now?
 */
int str_read_soon(queue_t *rq, uint64_t ns);

/*
 * str_wake_begin,
 * str_wake_end - the caller passes several messages up between these calls,
 * without waiting.  A reader that sleeps is woken when a message for another
 * stream is passed up, and at the end: so a batch of messages for one stream
 * costs one wake.  Pairs may be nested.  Context: put and service procedures.
 */
void str_wake_begin(void);
void str_wake_end(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shortcuts, for drivers that have streams connected (<str/hold.h>).
 *
 * What a program writes at one stream, and a driver would only hand on to the
 * head of another, may go there at once.  The driver says so when nothing of
 * it waits in its queues, and takes it back before anything is to come after
 * what has been written.  It is of M_DATA messages of band 0 alone, and a
 * matter of speed alone: any of them may come to the driver all the same, and
 * whatever it queues ends the shortcut until it is made again.
 */
#ifndef STR_SHORT_H
#define STR_SHORT_H

#include <sys/stream.h>

/*
 * str_short_make - from the head above @wq to that above @rq, if all that is
 * in between lets data through as it is (STR_D_PLAIN), and @wq is empty
 * Context: the put or service procedure of @wq, one thread at a time; the
 * stream of @rq is held.  Return: 1, 0.
 */
int str_short_make(queue_t *wq, queue_t *rq);

/* str_short_stands - is there one from @wq to @rq? */
int str_short_stands(queue_t *wq, queue_t *rq);

/*
 * str_short_break - data has been put on @wq: a writer that sees that it has been,
 * writes behind it.  Context: any thread at @wq.
 */
void str_short_break(queue_t *wq);

/*
 * str_short_end - from here on nothing comes to the head above @rq but what
 * its driver sends; what was written is there.  Context: any; the stream is
 * held, or cannot be closed meanwhile.
 */
void str_short_end(queue_t *rq);

#endif

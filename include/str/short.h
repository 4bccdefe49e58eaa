/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Shortcuts, for drivers that connect streams (<str/hold.h>).
 *
 * If a driver only passes data on from one stream to the head of another, a
 * writer may put the data there directly.  The driver allows that when no data
 * waits in its queues, and ends it before it sends anything behind the written
 * data.  A shortcut is for M_DATA messages of band 0 only, and only for speed:
 * any such message may come to the driver anyway, and when the driver queues a
 * message the shortcut ends until it is made again.
 */
#ifndef STR_SHORT_H
#define STR_SHORT_H

#include <sys/stream.h>

/*
 * str_short_make - make a shortcut from the head above @wq to the one above
 * @rq, if @wq is empty, and all modules between pass data unchanged
 * (STR_D_PLAIN), have no perimeter, and set no limit to packets
 * Context: the put or service procedure of @wq, one thread at a time; the
 * stream of @rq is held.
 * Return: 1: made; 0.
 */
int str_short_make(queue_t *wq, queue_t *rq);

/* str_short_stands - is there a shortcut from @wq to @rq? */
int str_short_stands(queue_t *wq, queue_t *rq);

/*
 * str_short_break - end the shortcut, because data has been put on @wq.  A
 * writer that sees this data writes behind it.  Context: any thread at @wq.
 */
void str_short_break(queue_t *wq);

/*
 * str_short_end - end all shortcuts to the head above @rq
 * From the return on only the driver sends there, and all data written before
 * has arrived.
 * Context: any; the stream is held, or cannot be closed meanwhile.
 */
void str_short_end(queue_t *rq);

#endif

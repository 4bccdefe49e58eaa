/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Timers that a driver keeps and sets again and again, such as the
 * retransmission timer of a connection.
 *
 * Deadlines.  A timer is stopped, or has a deadline.  When the deadline has
 * passed the timer is stopped and its function is called.  To set a timer that
 * has a deadline to a later one is one atomic store and two loads: no thread is
 * woken, and the old deadline costs one look when it has passed.
 *
 * Life.  A timer belongs to the domain: neither a stopped nor a killed process
 * delays it, whichever process made it. streamsd calls the function, or any
 * member if there is no streamsd.  If a thread is killed in the function, the
 * function is called again.
 *
 * timeout(D3) and qtimeout(D3F) are for callbacks that are requested once.
 */
#ifndef STR_TIMER_H
#define STR_TIMER_H

#include <sys/stream.h>

struct str_timer; /* in the domain's memory; the same address in all members */

/*
 * str_timer_make - make a timer, which is stopped
 * @q:  the function is called in the perimeter of this queue's pair, and not
 *      while the pair is being closed; the timer is freed with the pair.  NULL:
 *      the context is that of a callback of timeout(D3), and the caller frees
 *      the timer
 * @fn: one of the driver's `calls' (<str/builtin.h>), or a procedure of a
 *      loaded module
 *
 * @fn is called with @arg.  It may be called without need: when a thread was
 * killed in it, or was about to call it when another one set or stopped the
 * timer.  So it compares its own state with str_now().  It may set the timer
 * again, and free it.
 * Return: the timer; NULL: no memory.
 */
struct str_timer *str_timer_make(queue_t *q, void (*fn)(void *), void *arg);

/*
 * str_timer_set - set the timer to the deadline @when
 * @when: ns, as str_now(); one that has passed: as soon as possible; UINT64_MAX:
 *        stop it
 *
 * Replaces the deadline that it has.  The function is called at the deadline or
 * up to about a millisecond later.  Context: any; does not sleep.
 */
void str_timer_set(struct str_timer *tm, uint64_t when);

/*
 * str_timer_stop - stop the timer
 * The function may be running, or about to run, in another thread.
 * Return: 1: it had a deadline, for which the function has not been called yet;
 * 0: it had none.  Context: any; does not sleep.
 */
int str_timer_stop(struct str_timer *tm);

/*
 * str_timer_free - stop the timer, and free it
 * Waits for the function if another thread is in it; so the caller must not be
 * in a perimeter, or hold a lock, that the function needs.  From the function
 * itself: does not wait.  Context: any.
 */
void str_timer_free(struct str_timer *tm);

#endif

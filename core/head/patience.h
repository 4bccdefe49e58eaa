/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How long a thread tries before it sleeps.
 *
 * To try is to spin, or to yield the CPU, and to look again.  It saves a sleep
 * and a wake if the event comes within some microseconds; else it is wasted.
 * What the last waits at the same place brought decides.  After a wait in which
 * trying was in vain the next ones do without, each time twice as many and one
 * more, up to 127.  A wait in which trying has helped, or would have helped, ends
 * that.  After a sleep the thread knows whether it would have: then 15 waits do
 * without at first.  Where only another try shows it, one wait does.
 *
 * State of a place, for reads and for writes: @skip, the last of these numbers,
 * 0 if trying helps; @rest, how many of these waits are left.
 *
 * The counts are hints.  Threads that wait at the same place at the same time
 * change them without order.
 */
#ifndef STR_PATIENCE_H
#define STR_PATIENCE_H

#include <str/types.h>

#define SPIN_READ_US 30u
#define SPIN_WRITE_US 20u
#define SPIN_FLOW_US 60u /* byte stream of a socket: until more arrives */
#define YIELDS 2u
#define LONG_READ_US 60u /* a sleep after which trying was in vain */
/* ... of a writer: it wakes only when the reader has read much */
#define LONG_WRITE_US 500u
/* full fences in a row that found no sleeper, after which wakers execute light
 * ones again: wake.c:wanted() */
#define VAIN_FENCES 64u
/* a flow: a thread tries if the kernel has named another CPU as that of the
 * data at this wait or at one of so many before it: lent.c:lent_soon() */
#define FAR_WAITS 8u
/* pause instructions between two looks at the same word: about a microsecond */
#define SPIN_PAUSES 24u
#define SKIP_MOST 127u
#define SKIP_SLEEP 15u /* waits without, after the first sleep that is long */
#define SKIP_TRY 1u /* ... after the first try in vain */

/* Is this one of the waits that do without?  It is counted. */
STR_INLINE bool
patience_rests(str_a8 *rest)
{
	uint8_t n = str_load(rest);

	if (n != 0)
		str_store(rest, (uint8_t)(n - 1));
	return n != 0;
}

/* A wait is over in which trying was in vain. */
STR_INLINE void
patience_vain(str_a8 *skip, str_a8 *rest, unsigned least)
{
	unsigned n = str_load(skip) * 2u + 1;

	n = STR_MAX(STR_MIN(n, SKIP_MOST), least);
	str_store(skip, (uint8_t)n);
	str_store(rest, (uint8_t)n);
}

/* A wait is over in which trying has helped, or would have helped. */
STR_INLINE void
patience_paid(str_a8 *skip, str_a8 *rest)
{
	if (str_load(skip) == 0)
		return;
	str_store(skip, (uint8_t)0);
	str_store(rest, (uint8_t)0);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * How long a thread tries before it sleeps.
 *
 * To try is to spin, or to yield the CPU, and to look again.  A try saves a
 * sleep and a wake if the event comes within some microseconds; otherwise it
 * only costs time.  The last waits at the same place decide whether a thread
 * tries.  After a try in vain the next waits omit it.  Their number is @least
 * after the first try in vain, and 2 n + 1 after n, but at most SKIP_MOST.  A
 * wait in which a try has helped, or would have helped, ends the omissions.
 *
 * @least.  A sleep at a head queue shows by its length whether a try would have
 * helped, so many waits may omit it: SKIP_SLEEP.  At a socket only the next try
 * shows it, so one wait omits it: SKIP_TRY.
 *
 * State of a place, for reads and for writes: @skip, the number of waits that
 * omit the try after the last try in vain, 0 if tries help; @rest, how many of
 * these waits are left.
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
/* lent.c:lent_soon(): a receiver of a flow of bytes tries if the kernel says
 * that the data came from another CPU, and in so many waits after that */
#define FAR_WAITS 8u
/* pause instructions between two looks at the same word: about a microsecond */
#define SPIN_PAUSES 24u
#define SKIP_MOST 127u
#define SKIP_SLEEP 15u /* waits that omit the try, after the first long sleep */
#define SKIP_TRY 1u /* ... after the first try in vain at a socket */

/* Does this wait omit the try?  Then it is subtracted from @rest. */
STR_INLINE bool
patience_rests(str_a8 *rest)
{
	uint8_t n = str_load(rest);

	if (n != 0)
		str_store(rest, (uint8_t)(n - 1));
	return n != 0;
}

/* The thread has tried in vain: the next waits omit the try. */
STR_INLINE void
patience_vain(str_a8 *skip, str_a8 *rest, unsigned least)
{
	unsigned n = str_load(skip) * 2u + 1;

	n = STR_MAX(STR_MIN(n, SKIP_MOST), least);
	str_store(skip, (uint8_t)n);
	str_store(rest, (uint8_t)n);
}

/* A try has helped, or would have helped: the next wait tries. */
STR_INLINE void
patience_paid(str_a8 *skip, str_a8 *rest)
{
	if (str_load(skip) == 0)
		return;
	str_store(skip, (uint8_t)0);
	str_store(rest, (uint8_t)0);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A read that sleeps at once, and takes one record of plain data.
 *
 * Purpose.  On a stream whose messages come a millisecond or more apart, each
 * read sleeps, and after the sleep the caches have lost the thread's code and
 * data: every cache line that the way back touches costs up to 100 ns.  The
 * general way, read.c:read_slow() and str_sleep(), touches about a hundred.
 *
 * Use.  str_head_await() does the same for the common case: a pipe without
 * modules, in byte-stream mode, whose last waits omitted the try (patience.h).
 * If anything else is found, before or after the sleep, it returns 0, and the
 * general way does the rest; that is always correct.
 */
#include "core.h"
#include "fast.h"
#include "headq.h"
#include "patience.h"
#include "sleep.h"

/* Flags of a head at which the general way must be used. */
#define NOT_AWAITED \
	(STR_READ_SLOW | STR_H_HUP | STR_H_PEER | STR_H_NOWR | STR_H_EOF | \
		STR_H_CLOSED)

/* Would a read at @sd sleep at once, and is it of the common case? */
static bool
is_awaited(struct str_head *sd, const struct host_call *hc)
{
	return (hc->fflags & STR_O_NONBLOCK) == 0 &&
		str_load(&sd->direct) != NULL &&
		(str_load(&sd->flags) & NOT_AWAITED) == 0 &&
		(str_load(&sd->peer->flags) & STR_H_AWAY) == 0 &&
		str_load(&sd->hq.overflow) == 0 && host_tls.nsoon == 0 &&
		(str_load(&sd->plumb->committed) |
			str_load(&sd->plumb->nrun)) == 0 &&
		!str_head_pending(sd);
}

/*
 * headq_peek() for a log that was empty: the first record, if it is whole, plain
 * data, and in the consumer's segment.  The flags, and the read options, may
 * have changed during the sleep.  In a PLAIN pipe `climit' must stay 0.
 * Locks: clock.  Return: its header, or NULL.
 */
STR_INLINE const unsigned char *
peek_new(struct str_head *sd)
{
	struct str_headq *hq = &sd->hq;
	uint64_t cpos = str_load(&hq->cpos), pos = str_load_acq(&hq->pos), end;
	const struct str_seg *s = hq->head;
	const unsigned char *p;

	if (str_unlikely(cpos == pos || s == NULL || str_load(&hq->part) != 0))
		return NULL;
	if (str_unlikely((str_load(&sd->flags) & STR_READ_SLOW) != 0 ||
		str_load(&hq->npri) != 0 || sd->rdopt != 0))
		return NULL;
	end = s->base + s->size;
	if (str_unlikely(cpos >= end))
		return NULL;
	p = s->data + (cpos - s->base);
	if (str_unlikely(!rec_plain(load32(p))))
		return NULL;
	hq->streak = 0;
	hq->cpos_seen = pos;
	hq->cbase = (uint64_t)(uintptr_t)s->data - s->base;
	hq->climit = STR_MIN(pos, end);
	return p;
}

/*
 * str_head_await - read(2) of @len bytes at @sd, whose mode is RNORM
 * Context: inside a call on @sd; no lock, no claim.
 * Return: bytes, more than 0: what the first record had; minus an errno; 0:
 * nothing was taken, str_head_readv() does the work.
 */
STR_WAKE_TEXT long
str_head_await(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len)
{
	struct str_headq *hq = &sd->hq;
	const unsigned char *p;
	uint32_t have, off;
	long done = 0;
	int err;

	if (!is_awaited(sd, hc))
		return 0;
	err = str_sleep_awaited(sd, hc);
	if (str_unlikely(err != 0))
		return err == ENOSYS ? 0 : -err;
	if (str_unlikely(str_hlock(&hq->clock, STR_HOLD_C)))
		str_headq_repair_c(hq);
	p = peek_new(sd);
	if (str_likely(p != NULL)) {
		have = load32(p) & STR_REC_LEN;
		off = data_off(have, p);
		if (str_likely(have != 0 && have <= len &&
			host_copyout(p + off, ubuf, have) == 0)) {
			headq_next(hq, have, off + ALIGN4(have));
			done = have;
		}
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
	return done;
}

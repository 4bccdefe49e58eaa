/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The two words of a socket: flags; the error in the low half of the second
 * one, the number of streams for sending in the high half.
 */
#include "sock.h"

static void
change(uint32_t *p, uint32_t clear, uint32_t set)
{
	uint32_t v = __atomic_load_n(p, __ATOMIC_ACQUIRE);

	while (!__atomic_compare_exchange_n(p, &v, (v & ~clear) | set, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

void
sk_word(struct sock *s, uint32_t clear, uint32_t set)
{
	change(&s->w[0], clear, set);
}

/* sk_error - the error for SO_ERROR */
void
sk_error(struct sock *s, int err)
{
	change(&s->w[1], 0xffffu, (uint32_t)err & 0xffffu);
}

/* sk_take_error - return it, and clear it */
int
sk_take_error(struct sock *s)
{
	uint32_t v = __atomic_load_n(&s->w[1], __ATOMIC_ACQUIRE);

	while (!__atomic_compare_exchange_n(&s->w[1], &v, v & ~0xffffu, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return (int)(v & 0xffffu);
}

void
sk_nout(struct sock *s, uint32_t nout)
{
	change(&s->w[1], 0xffff0000u, nout << 16);
}

uint32_t
sk_streams(const struct sock *s)
{
	return __atomic_load_n(&s->w[1], __ATOMIC_ACQUIRE) >> 16;
}

/* sk_has_stream - may be sent on @sid?  Their number may have become larger. */
int
sk_has_stream(struct sock *s, uint32_t sid)
{
	struct sctpio_status st = {.assoc = 0};

	if (sid < sk_streams(s))
		return 1;
	if (sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) != 0)
		return 0;
	sk_nout(s, st.ostreams);
	return sid < st.ostreams;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The two words of a socket: flags, and the number of streams for sending.
 */
#include "sock.h"

void
sk_word(struct sock *s, uint32_t clear, uint32_t set)
{
	uint32_t v = SK(s);

	while (!__atomic_compare_exchange_n(s->w, &v, (v & ~clear) | set, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

void
sk_nout(struct sock *s, uint32_t nout)
{
	__atomic_store_n(&s->w[1], nout, __ATOMIC_RELEASE);
}

uint32_t
sk_streams(const struct sock *s)
{
	return __atomic_load_n(&s->w[1], __ATOMIC_ACQUIRE);
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

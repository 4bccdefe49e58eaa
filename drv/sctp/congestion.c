/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Congestion control of a path: RFC 9260 s7.2.  Sizes are bytes of user data.
 * PMDCS is the size of the largest DATA chunk that fits a packet.
 */
#include "association.h"

uint32_t
sctp_cc_chunk(const struct sctp_path *pa)
{
	return sctp_path_room(pa) - SCTP_HDR;
}

static uint32_t
at_least(uint32_t v, uint32_t least)
{
	return v > least ? v : least;
}

/* s7.2.1: the initial window. */
static uint32_t
initial(const struct sctp_path *pa)
{
	uint32_t c = sctp_cc_chunk(pa), most = at_least(2 * c, 4404);

	return 4 * c < most ? 4 * c : most;
}

void
sctp_cc_begin(struct sctp_path *pa)
{
	pa->cwnd = initial(pa);
	pa->ssthresh = 0x7fffffff;
	pa->pba = 0;
	pa->fast = 0;
}

/*
 * @bytes were acknowledged by a SACK that advanced the cumulative TSN.
 * @was_full: before it, the window was fully used
 */
void
sctp_cc_acked(struct sctp_path *pa, uint32_t bytes, int was_full)
{
	uint32_t c = sctp_cc_chunk(pa);

	if (pa->cwnd <= pa->ssthresh) { /* s7.2.1, L is 1 */
		if (was_full)
			pa->cwnd += bytes < c ? bytes : c;
		return;
	}
	pa->pba += bytes; /* s7.2.2 */
	if (pa->pba < pa->cwnd)
		return;
	if (was_full) {
		pa->pba -= pa->cwnd;
		pa->cwnd += c;
	} else {
		pa->pba = pa->cwnd;
	}
}

/* s7.2.4 (2): fast recovery begins; it ends when @exit is acknowledged. */
void
sctp_cc_fast(struct sctp_path *pa, uint32_t exit)
{
	pa->ssthresh = at_least(pa->cwnd / 2, 4 * sctp_cc_chunk(pa));
	pa->cwnd = pa->ssthresh;
	pa->pba = 0;
	pa->fast = 1;
	pa->fast_exit = exit;
}

/*
 * s7.2.3, s6.3.3 (E3): T3 has expired; one packet may be in flight.
 * @hdr: bytes in front of the data of a chunk
 */
void
sctp_cc_timeout(struct sctp_path *pa, uint32_t hdr)
{
	pa->ssthresh = at_least(pa->cwnd / 2, 4 * sctp_cc_chunk(pa));
	pa->cwnd = sctp_cc_chunk(pa) - hdr; /* one packet */
	pa->pba = 0;
	pa->fast = 0;
}

/* s7.2.1: a window that was not used shrinks, by half in each RTO. */
void
sctp_cc_idle(struct sctp_path *pa, uint64_t now)
{
	uint32_t least = 4 * sctp_cc_chunk(pa);

	if (pa->sent_at == 0 || pa->flight != 0)
		return;
	while (now - pa->sent_at >= pa->rto && pa->cwnd > least) {
		pa->cwnd = at_least(pa->cwnd / 2, least);
		pa->sent_at += pa->rto;
	}
}

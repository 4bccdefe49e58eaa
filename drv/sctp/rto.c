/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The retransmission timeout of a path: RFC 9260 s6.3.1, with RTO.Alpha 1/8 and
 * RTO.Beta 1/4.
 */
#include "association.h"

void
sctp_rto_begin(const struct sctp_conf *c, struct sctp_path *pa)
{
	pa->rto = c->rto_initial;
	pa->measured = 0;
}

void
sctp_rto_measured(const struct sctp_conf *c, struct sctp_path *pa,
	uint64_t rtt)
{
	uint32_t r = rtt < c->rto_max ? (uint32_t)rtt : c->rto_max, diff;
	uint64_t rto;

	if (!pa->measured) { /* (C2) */
		pa->measured = 1;
		pa->srtt = r;
		pa->rttvar = r / 2;
	} else { /* (C3) */
		diff = pa->srtt > r ? pa->srtt - r : r - pa->srtt;
		pa->rttvar = pa->rttvar - pa->rttvar / 4 + diff / 4;
		pa->srtt = pa->srtt - pa->srtt / 8 + r / 8;
	}
	if (pa->rttvar == 0)
		pa->rttvar = 1; /* (G1): the granularity of the clock */
	rto = pa->srtt + 4ull * pa->rttvar;
	if (rto < c->rto_min) /* (C6) */
		rto = c->rto_min;
	pa->rto = rto < c->rto_max ? (uint32_t)rto : c->rto_max; /* (C7) */
}

/* s6.3.3 (E2) */
void
sctp_rto_backoff(const struct sctp_conf *c, struct sctp_path *pa)
{
	pa->rto = pa->rto < c->rto_max / 2 ? 2 * pa->rto : c->rto_max;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ICMP errors about packets of ours: RFC 9260 s10.
 *
 * An error quotes the beginning of the packet.  It is believed only if that has
 * the verification tag of the association, or is our INIT.  Two errors matter:
 * that the peer has no SCTP, and that a packet was too long.  Others may pass;
 * timers find out.
 */
#include "association.h"

#define MTU_LEAST 552u /* of a path, whatever a router says */

/* (ICMP6): did the association send the packet that begins at @p? */
static int
is_ours(const struct sctp_assoc *as, const unsigned char *p, size_t n)
{
	uint32_t vtag = sctp_get32(p + SCTP_AT_VTAG);

	if (vtag != 0)
		return vtag == as->peer_tag;
	return n >= SCTP_HDR + SCTP_INIT_TAG + 4 &&
		p[SCTP_HDR] == SCTP_C_INIT &&
		sctp_get32(p + SCTP_HDR + SCTP_INIT_TAG) == as->my_tag;
}

/*
 * (ICMP8), s7.3: the path's packets become shorter.  Chunks in flight that are
 * too long now are sent again at once, in packets that may be fragmented; that
 * they were lost says nothing about congestion.
 */
static void
narrower(struct sctp_assoc *as, uint32_t path, uint32_t mtu)
{
	struct sctp_path *pa = &as->path[path];
	struct sctp_tx *tx;
	uint32_t tsn, most;

	if (mtu < MTU_LEAST)
		mtu = MTU_LEAST;
	if (mtu >= pa->mtu)
		return;
	pa->mtu = mtu;
	sctp_path_sizes(as);
	most = sctp_cc_chunk(pa) - as->data_hdr - as->data_auth;
	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state == SCTP_TX_FLIGHT && tx->path == path &&
			tx->len > most)
			sctp_tx_lose(as, tx, tsn);
	}
}

struct sctp_assoc *
sctp_icmp(const struct sctp_env *env, struct sctp_ep *ep,
	const struct ip_addr *dst, const unsigned char *p, size_t n, int error,
	uint32_t mtu)
{
	struct sctp_assoc *as;
	uint32_t path;

	(void)env;
	if (n < 8 || sctp_get16(p + SCTP_AT_SPORT) != ep->port)
		return NULL;
	as = sctp_assoc_find(ep, dst, sctp_get16(p + SCTP_AT_DPORT));
	if (as == NULL || !is_ours(as, p, n))
		return NULL;
	path = sctp_path_find(as, dst);
	if (error == ENOPROTOOPT) { /* (ICMP7): as an ABORT */
		as->owes = 0;
		sctp_assoc_down(as, SCTP_DOWN_REFUSED);
	} else if (error == EMSGSIZE && mtu != 0) {
		as->burst = 0;
		narrower(as, path, mtu);
	}
	return as;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The state cookie (RFC 9260 s5.1.3): all that an endpoint must know of an
 * association before its peer has shown that it receives at its address.  No
 * memory is used for a peer until it returns the cookie.  Only the endpoint
 * itself reads a cookie, so it is this structure as it lies in memory, cut off
 * behind the last address and, with AUTH, the two vectors that follow it.
 */
#ifndef DRV_SCTP_COOKIE_H
#define DRV_SCTP_COOKIE_H

#include "association.h"
#include "hmac.h"

struct sctp_cookie {
	unsigned char mac[SHA256_LEN]; /* of all that follows */
	uint64_t made;		/* us */
	uint32_t life;		/* us */
	uint32_t key;		/* id of the secret */
	uint16_t lport, pport;
	uint32_t my_tag, peer_tag;
	uint32_t my_tsn, peer_tsn;
	uint32_t peer_rwnd;
	uint16_t nout, nin;	/* streams, agreed */
	uint32_t tie_mine, tie_peer;
	uint32_t ext;		/* SCTP_X_* */
	uint32_t adaptation;	/* the peer's */
	uint32_t naddr;
	uint16_t nmine, npeer;	/* bytes of the vectors of AUTH */
	struct ip_addr src;	/* INIT came from there */
	struct ip_addr addr[SCTP_PATHS];
	unsigned char room[2 * SCTP_VECTOR_MOST];
};

_Static_assert(sizeof(struct ip_addr) == 20, "no padding");
_Static_assert(offsetof(struct sctp_cookie, addr) ==
	SHA256_LEN + 88, "no padding");
_Static_assert(offsetof(struct sctp_cookie, room) ==
	SHA256_LEN + 88 + SCTP_PATHS * 20, "no padding");

static inline size_t
sctp_cookie_size(const struct sctp_cookie *ck)
{
	return offsetof(struct sctp_cookie, addr) +
		ck->naddr * sizeof(ck->addr[0]) + ck->nmine + ck->npeer;
}

/* Where the vectors are: behind the last address. */
static inline size_t
sctp_cookie_at(const struct sctp_cookie *ck)
{
	return offsetof(struct sctp_cookie, addr) +
		ck->naddr * sizeof(ck->addr[0]);
}

void sctp_cookie_keep(struct sctp_cookie *ck, const struct sctp_vector *mine,
	const struct sctp_vector *peer);
void sctp_cookie_vectors(const struct sctp_cookie *ck,
	struct sctp_vector *mine, struct sctp_vector *peer);

#endif

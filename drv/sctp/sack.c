/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A SACK arrives: RFC 9260 s6.2.1, s6.3.2, s7.2.
 *
 * What is acknowledged by the cumulative TSN is forgotten.  What gap blocks
 * acknowledge is kept, because the peer may take it back; `stamp' tells which
 * chunks the last SACK named.
 */
#include "association.h"

static void
ack_begin(struct sctp_assoc *as)
{
	struct sctp_path *pa;

	for (pa = as->path; pa < as->path + as->npaths; pa++) {
		pa->acked = 0;
		pa->restart = 0;
		pa->was_full = pa->flight >= pa->cwnd;
	}
}

/* A chunk is acknowledged for the first time. */
static void
acked_first(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_tx *tx, uint32_t tsn)
{
	struct sctp_path *pa = &as->path[tx->path];

	pa->acked += tx->len;
	if (pa->timing && pa->timed_tsn == tsn) {
		pa->timing = 0;
		if (tx->sends == 1)
			sctp_rto_measured(&as->conf, pa,
				env->now - tx->sent_at);
	}
}

static void
ack_cumulative(const struct sctp_env *env, struct sctp_assoc *as, uint32_t cum)
{
	struct sctp_tx *tx;

	while (as->acked != cum) {
		as->acked++;
		tx = sctp_tx_of(as, as->acked);
		if (tx->state == SCTP_TX_FLIGHT || tx->state == SCTP_TX_LOST)
			acked_first(env, as, tx, as->acked);
		/* the peer has the FORWARD TSN: that is progress, too */
		if (tx->state == SCTP_TX_ABANDONED &&
			as->forward_path < as->npaths)
			sctp_path_alive(as, as->forward_path);
		as->path[tx->path].restart = 1;
		sctp_tx_done(env, as, tx);
	}
	if (sctp_before(as->advanced, cum))
		as->advanced = cum;
	if (sctp_before(as->lost_from, cum + 1))
		as->lost_from = cum + 1;
}

/*
 * Windows and timers after a SACK.
 * @moved: the cumulative TSN has advanced
 */
static void
ack_end(const struct sctp_env *env, struct sctp_assoc *as, int moved)
{
	struct sctp_path *pa;
	uint32_t i;

	for (i = 0; i < as->npaths; i++) {
		pa = &as->path[i];
		if (pa->fast && !sctp_before(as->acked, pa->fast_exit))
			pa->fast = 0;
		if (pa->acked != 0) {
			/* s7.2.1, s7.2.2: not in fast recovery */
			if (moved && !pa->fast)
				sctp_cc_acked(pa, pa->acked, pa->was_full);
			sctp_path_alive(as, i);
		}
		if (pa->flight == 0) { /* s6.3.2 (R2), s7.2.2 */
			pa->t3_at = 0;
			pa->pba = 0;
		} else if (pa->restart || pa->t3_at == 0) { /* (R3), (R4) */
			pa->t3_at = env->now + pa->rto;
		}
	}
	/* RFC 3758 s3.5 (C3): the peer has not seen the FORWARD TSN */
	if (sctp_before(as->acked, as->advanced))
		as->owes |= SCTP_OWES_FORWARD;
}

/* Acknowledge all up to @cum, which is not beyond what was sent. */
void
sctp_cum_acked(const struct sctp_env *env, struct sctp_assoc *as, uint32_t cum)
{
	int moved = cum != as->acked;

	ack_begin(as);
	ack_cumulative(env, as, cum);
	ack_end(env, as, moved);
}

/* What the gap blocks say. */
struct gaps {
	uint32_t covered; /* chunks that they name */
	uint32_t highest; /* TSN named; the cumulative one: none */
	uint32_t newest;  /* highest TSN that was acknowledged first */
};

static void
gap_block(const struct sctp_env *env, struct sctp_assoc *as, uint32_t from,
	uint32_t to, struct gaps *g)
{
	struct sctp_tx *tx;
	uint32_t tsn;

	for (tsn = from; tsn != to + 1; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state == SCTP_TX_ABANDONED)
			continue;
		g->covered++;
		tx->stamp = as->stamp;
		if (tx->state == SCTP_TX_ACKED)
			continue;
		acked_first(env, as, tx, tsn);
		if (tx->state == SCTP_TX_FLIGHT) {
			as->path[tx->path].flight -= tx->len;
			as->flight -= tx->len;
		} else {
			as->nlost--;
		}
		tx->state = SCTP_TX_ACKED;
		as->ngapped++;
		g->newest = tsn;
	}
	g->highest = to;
}

/*
 * Read the blocks; those that are out of order, or beyond what was sent, are
 * ignored.
 */
static void
gap_blocks(const struct sctp_env *env, struct sctp_assoc *as,
	const unsigned char *p, uint32_t n, struct gaps *g)
{
	uint32_t end = 0, from, to, i, sent = as->next_tsn - 1 - as->acked;

	as->stamp++;
	g->covered = 0;
	g->highest = g->newest = as->acked;
	for (i = 0; i < n; i++, p += 4) {
		from = sctp_get16(p);
		to = sctp_get16(p + 2);
		if (from <= end || to < from || to > sent)
			continue;
		end = to;
		gap_block(env, as, as->acked + from, as->acked + to, g);
	}
}

/* s6.2.1 (iv): chunks that earlier SACKs acknowledged and this one does not. */
static void
take_back(struct sctp_assoc *as)
{
	struct sctp_tx *tx;
	uint32_t tsn;

	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state != SCTP_TX_ACKED || tx->stamp == as->stamp)
			continue;
		tx->state = SCTP_TX_FLIGHT;
		tx->miss = 1;
		as->ngapped--;
		as->path[tx->path].flight += tx->len;
		as->flight += tx->len;
	}
}

/*
 * s7.2.4: count what is reported missing below @limit; the third report makes a
 * chunk lost.
 */
static void
missing(struct sctp_assoc *as, uint32_t limit)
{
	struct sctp_tx *tx;
	uint32_t tsn;

	for (tsn = as->acked + 1; sctp_before(tsn, limit); tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state != SCTP_TX_FLIGHT || tx->fast || ++tx->miss < 3)
			continue;
		tx->fast = 1;
		sctp_tx_lose(as, tx, tsn);
		if (as->ep != NULL)
			as->ep->count[SCTP_N_RTX_FAST]++;
		if (!as->path[tx->path].fast) {
			sctp_cc_fast(&as->path[tx->path], as->next_tsn - 1);
			as->fast_now = 1;
		}
	}
}

static int
in_recovery(const struct sctp_assoc *as)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++)
		if (as->path[i].fast)
			return 1;
	return 0;
}

/*
 * s6.1 (A), s6.2: a receiver drops new chunks for which it has no room, and
 * answers by a SACK at once.  So if a SACK shows no room for the first chunk
 * behind @highest, all in flight there are probably dropped, and are sent again
 * as soon as a SACK shows room.  This is not a sign of congestion.  Chunks that
 * are lost already do not count.
 */
static void
look_at_window(struct sctp_assoc *as, uint32_t highest)
{
	uint32_t tsn, room = as->peer_rwnd;
	struct sctp_tx *tx;
	int shut = -1;

	for (tsn = highest + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state != SCTP_TX_FLIGHT)
			continue;
		if (shut < 0)
			shut = tx->len > room;
		if (shut) {
			tx->refused = 1;
			continue;
		}
		if (!tx->refused || tx->len > room)
			break;
		room -= tx->len;
		sctp_tx_lose(as, tx, tsn);
	}
}

/* RFC 6525: is @cum, which was not sent, from before our TSNs jumped? */
int
sctp_is_delayed(const struct sctp_assoc *as, uint32_t cum)
{
	return as->jumped && as->jumped_from - 1 - cum <= SCTP_MAP;
}

void
sctp_sack_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	uint32_t cum, n;
	struct gaps g;
	int moved;

	if (c->len < SCTP_SACK_HDR)
		return;
	n = sctp_get16(c->p + SCTP_SACK_NGAPS);
	if (c->len < SCTP_SACK_HDR + 4u * n ||
		as->state < SCTP_ESTABLISHED)
		return;
	cum = sctp_get32(c->p + SCTP_SACK_CUM);
	if (sctp_before(cum, as->acked))
		return; /* an old one */
	if (!sctp_before(cum, as->next_tsn)) {
		if (sctp_is_delayed(as, cum))
			return;
		sctp_violation(in->env, as, "SACK of a TSN that was not sent");
		return;
	}
	as->peer_rwnd = sctp_get32(c->p + SCTP_SACK_RWND);
	as->probe = 0;
	moved = cum != as->acked;
	ack_begin(as);
	ack_cumulative(in->env, as, cum);
	g.highest = cum;
	if (n != 0 || as->ngapped != 0) {
		gap_blocks(in->env, as, c->p + SCTP_SACK_HDR, n, &g);
		if (g.covered != as->ngapped)
			take_back(as);
		/* HTNA; in fast recovery all that is reported counts */
		missing(as, moved && in_recovery(as) ? g.highest : g.newest);
	}
	ack_end(in->env, as, moved);
	look_at_window(as, g.highest); /* behind it: T3 keeps running */
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Retransmission: RFC 9260 s6.3.3, s6.4, s7.2.4.
 *
 * A chunk is lost when T3 of its path expires, or when three SACKs have
 * reported it missing.  Lost chunks are sent before new ones, in the order of
 * their TSNs.
 *
 * The receiver's window.  Chunks that a SACK has shown no room for (`refused')
 * are neither lost nor in the receiver's buffer.  They stay in flight until a
 * SACK shows room (sack.c), or until T3 sends the first of them again as a
 * probe.  Lost chunks are sent as far as there is room for them; one chunk may
 * be in flight whatever the window (s6.1 (A)).  Refused chunks do not hold them
 * back, by cwnd or by the window: the window may stay closed until the first
 * lost chunk has arrived.
 *
 * Where to.  After T3 a chunk goes to another active address of the peer, if
 * there is one (s6.4).  After SACKs it goes where it was sent before: the SACKs
 * show that the path works.
 */
#include "association.h"

/* A chunk in flight is lost. */
void
sctp_tx_lose(struct sctp_assoc *as, struct sctp_tx *tx, uint32_t tsn)
{
	struct sctp_path *pa = &as->path[tx->path];

	pa->flight -= tx->len;
	as->flight -= tx->len;
	tx->state = SCTP_TX_LOST;
	if (as->nlost++ == 0 || sctp_before(tsn, as->lost_from))
		as->lost_from = tsn;
	if (pa->timing && pa->timed_tsn == tsn)
		pa->timing = 0; /* Karn's algorithm */
}

/* All chunks in flight, whatever the path. */
void
sctp_tx_lose_all(struct sctp_assoc *as)
{
	uint32_t tsn;

	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++)
		if (sctp_tx_of(as, tsn)->state == SCTP_TX_FLIGHT)
			sctp_tx_lose(as, sctp_tx_of(as, tsn), tsn);
}

/* The first lost chunk; there is one. */
uint32_t
sctp_first_lost(struct sctp_assoc *as)
{
	uint32_t tsn = as->lost_from;

	while (sctp_tx_of(as, tsn)->state != SCTP_TX_LOST)
		tsn++;
	as->lost_from = tsn;
	return tsn;
}

static uint32_t
path_of(const struct sctp_assoc *as, const struct sctp_tx *tx)
{
	uint32_t same = tx->path < as->npaths ? tx->path : as->primary;

	if (as->state == SCTP_COOKIE_ECHOED)
		return as->primary;
	if (tx->fast && as->path[same].state == SCTP_PATH_ACTIVE)
		return same;
	return sctp_path_other(as, same);
}

/*
 * Has the peer room for @len bytes, lost chunk @tsn?  Refused chunks in flight
 * take none.  The first chunk of all may be sent if no other is on its way.
 */
static int
has_room(struct sctp_assoc *as, uint32_t tsn, uint32_t len)
{
	uint32_t t, n = 0, before = 0;
	const struct sctp_tx *tx;

	if (len <= sctp_window(as))
		return 1;
	for (t = as->acked + 1; t != as->next_tsn; t++) {
		tx = sctp_tx_of(as, t);
		if (tx->state != SCTP_TX_FLIGHT)
			continue;
		before |= sctp_before(t, tsn);
		if (!tx->refused)
			n += tx->len;
	}
	if (n == 0 && !before)
		return 1;
	return as->peer_rwnd >= n && len <= as->peer_rwnd - n;
}

/* Does cwnd of @path have room?  Refused chunks in flight take none. */
static int
cwnd_has_room(struct sctp_assoc *as, uint32_t path)
{
	const struct sctp_path *pa = &as->path[path];
	const struct sctp_tx *tx;
	uint32_t t, n = 0;

	if (pa->flight < pa->cwnd)
		return 1;
	for (t = as->acked + 1; t != as->next_tsn && n < pa->cwnd; t++) {
		tx = sctp_tx_of(as, t);
		if (tx->state == SCTP_TX_FLIGHT && tx->path == path &&
			!tx->refused)
			n += tx->len;
	}
	return n < pa->cwnd;
}

/*
 * May lost chunk @tsn be sent to @path?  The packet of a fast retransmission
 * may exceed the windows (s7.2.4 (3)).
 */
static int
may_resend(struct sctp_assoc *as, uint32_t tsn, uint32_t path)
{
	return as->fast_now || (cwnd_has_room(as, path) &&
		has_room(as, tsn, sctp_tx_of(as, tsn)->len));
}

/* Where the first lost chunk goes; -1: there is none, or it has to wait. */
int
sctp_rtx_path(struct sctp_assoc *as)
{
	uint32_t tsn, path;

	if (as->nlost == 0)
		return -1;
	tsn = sctp_first_lost(as);
	path = path_of(as, sctp_tx_of(as, tsn));
	return may_resend(as, tsn, path) ? (int)path : -1;
}

/* Room for a lost chunk; one that is longer than the path's MTU goes alone. */
static unsigned char *
rtx_chunk(const struct sctp_assoc *as, struct sctp_out *o, uint32_t len)
{
	sctp_out_widen(o, sctp_data_type(as), as->data_hdr + len);
	return sctp_out_chunk(o, sctp_data_type(as), 0, as->data_hdr + len);
}

/*
 * Put lost chunks for @path into @o.  Return: how many.
 */
int
sctp_rtx_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	struct sctp_path *pa = &as->path[path];
	struct sctp_tx *tx;
	unsigned char *p;
	uint32_t tsn;
	int n = 0;

	while (as->nlost != 0) {
		tsn = sctp_first_lost(as);
		tx = sctp_tx_of(as, tsn);
		/* without memory to abandon the message it is sent again */
		if (sctp_pr_is_over(env, as, tx->seg, tx->sends) &&
			sctp_pr_abandon(env, as, tx->sid, tx->seg->message))
			continue;
		if (path_of(as, tx) != path || !may_resend(as, tsn, path))
			break;
		p = rtx_chunk(as, o, tx->len);
		if (p == NULL)
			break;
		sctp_tx_write(as, tx, tsn, p);
		as->nlost--;
		sctp_tx_sent(env, as, tx, tsn, path);
		/* s7.2.4 (4): the first outstanding chunk */
		if (tsn == as->acked + 1 && as->state != SCTP_COOKIE_ECHOED)
			pa->t3_at = env->now + pa->rto;
		n++;
	}
	if (n != 0)
		as->fast_now = 0;
	return n;
}

/* The first chunk in flight to @path; NULL: there is none. */
static struct sctp_tx *
first_in_flight(struct sctp_assoc *as, uint32_t path)
{
	struct sctp_tx *tx;
	uint32_t tsn;

	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state == SCTP_TX_FLIGHT && tx->path == path)
			return tx;
	}
	return NULL;
}

/* The chunks in flight to @path are lost; of those refused, only @first. */
static void
lose_path(struct sctp_assoc *as, uint32_t path, const struct sctp_tx *first)
{
	struct sctp_tx *tx;
	uint32_t tsn, n = 0;

	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->state != SCTP_TX_FLIGHT || tx->path != path ||
			(tx->refused && tx != first))
			continue;
		tx->fast = 0;
		sctp_tx_lose(as, tx, tsn);
		n++;
	}
	if (as->ep != NULL)
		as->ep->count[SCTP_N_RTX_TIMER] += n;
}

/* s6.3.3: nothing has been acknowledged for an RTO. */
void
sctp_t3_expired(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path)
{
	struct sctp_path *pa = &as->path[path];
	struct sctp_tx *first = first_in_flight(as, path);
	int refused = first != NULL && first->refused;

	pa->t3_at = 0;
	if (sctp_is_shut_out(as)) {
		as->probe = 1;
		sctp_rto_backoff(&as->conf, pa);
	}
	/* RFC 3758 s3.5: FORWARD TSN may have been lost, too */
	if (sctp_before(as->acked, as->advanced))
		as->owes |= SCTP_OWES_FORWARD;
	else if (first == NULL)
		return;
	/* s6.1 (A): a chunk that the peer has no room for, and says so, is
	 * neither lost nor an error */
	if (!refused)
		sctp_cc_timeout(pa, as->data_hdr + as->data_auth);
	sctp_rto_backoff(&as->conf, pa);
	lose_path(as, path, first);
	if (pa->flight != 0)
		pa->t3_at = env->now + pa->rto;
	as->fast_now = 0;
	pa->timing = 0;
	if (!refused)
		sctp_path_error(env, as, path);
}

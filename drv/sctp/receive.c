/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * DATA arrives, SACKs leave: RFC 9260 s6.2, s6.5, s6.7; RFC 7053.
 *
 * `map' has a bit for each TSN behind the cumulative one, in a ring.  A chunk
 * that is accepted stays accepted: the association never takes back what a gap
 * block has acknowledged.
 */
#include "association.h"

static int
map_has(const struct sctp_assoc *as, uint32_t tsn)
{
	uint32_t bit = tsn % SCTP_MAP;

	return (as->map[bit / 64] >> bit % 64 & 1) != 0;
}

static void
map_set(struct sctp_assoc *as, uint32_t tsn, int value)
{
	uint32_t bit = tsn % SCTP_MAP;
	uint64_t mask = 1ull << bit % 64;

	if (value)
		as->map[bit / 64] |= mask;
	else
		as->map[bit / 64] &= ~mask;
}

/* Advance the cumulative TSN over what has been received. */
static void
advance(struct sctp_assoc *as)
{
	while (as->cum != as->high && map_has(as, as->cum + 1)) {
		as->cum++;
		map_set(as, as->cum, 0);
	}
}

/* RFC 3758 s3.6: all up to @cum counts as received. */
void
sctp_rcv_skip(struct sctp_assoc *as, uint32_t cum)
{
	if (cum - as->cum >= SCTP_MAP)
		__builtin_memset(as->map, 0, sizeof(as->map));
	else
		while (as->cum != cum)
			map_set(as, ++as->cum, 0);
	as->cum = cum;
	if (sctp_before(as->high, cum))
		as->high = cum;
	advance(as);
}

static uint32_t
used(const struct sctp_assoc *as)
{
	/* small messages use more memory than they have bytes */
	uint32_t mem = as->rcv_mem / SCTP_RX_OVERHEAD;

	return as->rcv_bytes > mem ? as->rcv_bytes : mem;
}

uint32_t
sctp_rcv_window(const struct sctp_assoc *as)
{
	uint32_t n = used(as);

	return n < as->conf.rcvbuf ? as->conf.rcvbuf - n : 0;
}

/*
 * s6.2: is there room for the chunk?  One below the highest TSN fills a gap,
 * and is needed to deliver what is behind it: it may exceed the buffer.
 */
static int
has_room(const struct sctp_assoc *as, uint32_t tsn)
{
	if (used(as) < as->conf.rcvbuf)
		return 1;
	return sctp_before(tsn, as->high) &&
		used(as) / 2 < as->conf.rcvbuf;
}

static void
duplicate(struct sctp_in *in, uint32_t tsn)
{
	struct sctp_assoc *as = in->as;

	in->ep->count[SCTP_N_DUPLICATE]++;
	in->now = 1;
	if (as->ndups < SCTP_DUPS)
		as->dup[as->ndups++] = tsn;
}

/* s6.5: there is no such stream; the chunk is acknowledged all the same. */
static void
bad_stream(struct sctp_in *in, const struct sctp_tlv *c)
{
	unsigned char info[4] = {0};

	__builtin_memcpy(info, c->p + SCTP_DATA_SID, 2);
	sctp_error_send(in->env, in->as, SCTP_E_STREAM, info, 4);
}

static int
state_takes_data(const struct sctp_assoc *as)
{
	return as->state == SCTP_ESTABLISHED ||
		as->state == SCTP_SHUTDOWN_PENDING ||
		as->state == SCTP_SHUTDOWN_SENT;
}

/* The SSN of DATA, or the MID of I-DATA. */
static uint32_t
number_of(const struct sctp_assoc *as, const struct sctp_tlv *c)
{
	return sctp_has(as, SCTP_X_IDATA) ?
		sctp_get32(c->p + SCTP_I_DATA_MID) :
		sctp_get16(c->p + SCTP_DATA_SSN);
}

/* The chunk as the reassembly wants it; NULL: no memory */
static struct sctp_rx *
make(struct sctp_in *in, const struct sctp_tlv *c)
{
	uint32_t n = c->len - in->as->data_hdr;
	struct sctp_rx *rx = sctp_rx_make(in->env, in->as, n);

	if (rx == NULL)
		return NULL;
	rx->tsn = sctp_get32(c->p + SCTP_DATA_TSN);
	rx->sid = sctp_get16(c->p + SCTP_DATA_SID);
	rx->flags = c->flags & (SCTP_DATA_U | SCTP_DATA_B | SCTP_DATA_E);
	rx->last = rx->tsn;
	rx->ssn = number_of(in->as, c);
	if (!sctp_has(in->as, SCTP_X_IDATA)) {
		__builtin_memcpy(&rx->ppid, c->p + SCTP_DATA_PPID, 4);
	} else if ((c->flags & SCTP_DATA_B) != 0) {
		__builtin_memcpy(&rx->ppid, c->p + SCTP_I_DATA_PPID, 4);
		rx->last = 0;
	} else {
		rx->last = rx->fsn = sctp_get32(c->p + SCTP_I_DATA_PPID);
	}
	__builtin_memcpy(rx->data, c->p + in->as->data_hdr, n);
	return rx;
}

/* It is new and there is room for it. */
static void
accept(struct sctp_in *in, const struct sctp_tlv *c, uint32_t tsn)
{
	struct sctp_assoc *as = in->as;
	uint32_t n = c->len - as->data_hdr;
	const char *wrong = NULL;
	struct sctp_rx *rx = NULL;

	if (sctp_get16(c->p + SCTP_DATA_SID) < as->nin) {
		rx = make(in, c);
		if (rx == NULL) {
			in->ep->count[SCTP_N_NO_ROOM]++;
			in->now = 1; /* s6.2 */
			return;
		}
	} else {
		bad_stream(in, c);
		in->now = 1;
	}
	in->ep->count[SCTP_N_DATA_IN]++;
	/* s6.7: a gap, one that was filled too, is told at once */
	if (tsn != as->cum + 1 || as->high != as->cum)
		in->now = 1;
	if (sctp_before(as->high, tsn))
		as->high = tsn;
	map_set(as, tsn, 1);
	advance(as);
	as->advertised -= as->advertised < n ? as->advertised : n;
	if (rx != NULL)
		wrong = sctp_has(as, SCTP_X_IDATA) ?
			sctp_ix_add(in->env, as, rx) :
			sctp_rx_add(in->env, as, rx);
	if (wrong != NULL)
		sctp_violation(in->env, as, wrong);
}

/*
 * RFC 6525 s5.2.7: the peer may have begun with SSN 0 already, and its answer
 * been lost.  Such a chunk is dropped; it comes again after the answer.
 */
static int
is_early(const struct sctp_assoc *as, const struct sctp_tlv *c)
{
	uint32_t sid = sctp_get16(c->p + SCTP_DATA_SID);

	return (as->reconf->parts & SCTP_RECONF_TSN) != 0 &&
		(c->flags & SCTP_DATA_U) == 0 && sid < as->nin &&
		sctp_is_earlier(as, number_of(as, c), as->in[sid].next);
}

void
sctp_data_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	uint32_t tsn;

	if (!state_takes_data(as))
		return;
	/* RFC 8260 s2.2.1: only the kind that was agreed is used */
	if ((c->type == SCTP_C_I_DATA) != sctp_has(as, SCTP_X_IDATA)) {
		sctp_violation(in->env, as, "DATA and I-DATA are mixed");
		return;
	}
	if (c->len < as->data_hdr)
		return;
	tsn = sctp_get32(c->p + SCTP_DATA_TSN);
	if (c->len == as->data_hdr) { /* s6.2 */
		sctp_abort_with(in->env, as, SCTP_DOWN_PROTOCOL,
			SCTP_E_NO_DATA, c->p + SCTP_DATA_TSN, 4);
		return;
	}
	in->data = 1;
	if ((c->flags & SCTP_DATA_I) != 0)
		in->now = 1;
	if (!sctp_before(as->cum, tsn) ||
		(!sctp_before(as->high, tsn) && map_has(as, tsn))) {
		duplicate(in, tsn);
	} else if (tsn - as->cum > SCTP_MAP || !has_room(as, tsn) ||
		(as->reconf != NULL && is_early(as, c))) {
		in->ep->count[SCTP_N_NO_ROOM]++;
		in->now = 1;
	} else {
		accept(in, c, tsn);
	}
}

/* The packet is read: when is its data acknowledged?  s6.2 */
void
sctp_data_end(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;

	if (!in->data)
		return;
	as->unacked++;
	if (sctp_has(as, SCTP_X_IDATA))
		sctp_ix_partial(in->env, as);
	else
		sctp_rx_partial(in->env, as);
	if (!as->any_data) { /* s5.1: the first data at once */
		as->any_data = 1;
		in->now = 1;
	}
	if (as->state == SCTP_SHUTDOWN_SENT) { /* s9.2 */
		as->owes |= SCTP_OWES_SHUTDOWN;
		in->now = 1;
	}
	if (in->now || as->unacked >= as->conf.sack_freq)
		as->owes |= SCTP_OWES_SACK;
	else if (as->sack_at == 0)
		as->sack_at = in->env->now + as->conf.sack_delay;
}

void
sctp_ack_now(struct sctp_assoc *as)
{
	if (as->unacked != 0)
		as->owes |= SCTP_OWES_SACK;
}

/*
 * The user has read: tell the peer of the room when there is much more than it
 * knows of, and it knew of little.
 */
void
sctp_rcv_read(struct sctp_assoc *as)
{
	uint32_t window = sctp_rcv_window(as), part = as->conf.rcvbuf / 4;

	if (as->any_data && state_takes_data(as) &&
		as->advertised < 2 * part &&
		window >= as->advertised + part)
		as->owes |= SCTP_OWES_SACK;
}

/* The first TSN from @tsn on whose bit is @value; at most @end. */
static uint32_t
map_next(const struct sctp_assoc *as, uint32_t tsn, uint32_t end, int value)
{
	uint64_t skip = value ? 0 : ~0ull;

	while (tsn != end) {
		if (tsn % 64 == 0 && end - tsn >= 64 &&
			as->map[tsn % SCTP_MAP / 64] == skip) {
			tsn += 64;
			continue;
		}
		if (map_has(as, tsn) == value)
			break;
		tsn++;
	}
	return tsn;
}

/* Gap blocks at @p, @most of them; returns how many. */
static uint32_t
put_gaps(const struct sctp_assoc *as, unsigned char *p, uint32_t most)
{
	uint32_t end = as->high + 1, tsn = as->cum + 1, n = 0;

	while (n < most) {
		tsn = map_next(as, tsn, end, 1);
		if (tsn == end)
			break;
		sctp_put16(p, tsn - as->cum);
		tsn = map_next(as, tsn, end, 0);
		sctp_put16(p + 2, tsn - 1 - as->cum);
		p += 4;
		n++;
	}
	return n;
}

void
sctp_sack_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o)
{
	unsigned char gaps[4 * 256], *p;
	uint32_t room, ngaps, ndups, i;

	(void)env;
	room = (uint32_t)sctp_out_room(o, SCTP_C_SACK);
	if (room < SCTP_SACK_HDR)
		return;
	room = (room - SCTP_SACK_HDR) / 4;
	ngaps = put_gaps(as, gaps, room < 256 ? room : 256);
	ndups = as->ndups < room - ngaps ? as->ndups : room - ngaps;
	p = sctp_out_chunk(o, SCTP_C_SACK, 0,
		SCTP_SACK_HDR + 4 * (ngaps + ndups));
	as->advertised = sctp_rcv_window(as);
	sctp_put32(p + SCTP_SACK_CUM, as->cum);
	sctp_put32(p + SCTP_SACK_RWND, as->advertised);
	sctp_put16(p + SCTP_SACK_NGAPS, ngaps);
	sctp_put16(p + SCTP_SACK_NDUPS, ndups);
	p += SCTP_SACK_HDR;
	__builtin_memcpy(p, gaps, 4 * ngaps);
	for (i = 0; i < ndups; i++)
		sctp_put32(p + 4 * (ngaps + i), as->dup[i]);
	as->ndups = as->unacked = 0;
	as->sack_at = 0;
	as->owes &= ~SCTP_OWES_SACK;
}

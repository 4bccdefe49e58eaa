/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The addresses of a peer: RFC 9260 s5.4, s6.4, s8.1, s8.2; RFC 7829.
 *
 * An address is active until too many things in a row were not answered
 * (Path.Max.Retrans); then it is inactive, until something is.  Between the two
 * it is potentially failed, from the threshold of RFC 7829 on: data goes
 * elsewhere, and heartbeats show quickly what has happened.  Data goes only to
 * addresses that are confirmed to be the peer's.
 */
#include "association.h"

/* Bytes of an SCTP packet to @pa: what the IP header leaves. */
uint32_t
sctp_path_room(const struct sctp_path *pa)
{
	uint32_t ip = pa->addr.len == 4 ? 20 : 40;

	return (pa->mtu > ip + 512 ? pa->mtu - ip : 512) & ~3u;
}

void
sctp_path_init(const struct sctp_assoc *as, struct sctp_path *pa,
	const struct ip_addr *a)
{
	__builtin_memset(pa, 0, sizeof(*pa));
	pa->addr = *a;
	pa->mtu = as->conf.mtu;
	sctp_rto_begin(&as->conf, pa);
	sctp_cc_begin(pa);
}

/* 0: there are as many as there may be. */
int
sctp_path_add(struct sctp_assoc *as, const struct ip_addr *a, int confirmed)
{
	if (as->npaths == SCTP_PATHS)
		return 0;
	sctp_path_init(as, &as->path[as->npaths], a);
	as->path[as->npaths++].confirmed = (uint8_t)confirmed;
	return 1;
}

/* sctp_path_confirmed - the first one that is confirmed; SCTP_NONE: there is none */
uint32_t
sctp_path_confirmed(const struct sctp_assoc *as)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++)
		if (as->path[i].confirmed)
			return i;
	return SCTP_NONE;
}

/* What index @i is when path @gone is removed; @instead: if it is that one. */
static uint32_t
moved(uint32_t i, uint32_t gone, uint32_t instead)
{
	if (i == gone)
		return instead;
	return i - (i != SCTP_NONE && i > gone);
}

/*
 * sctp_path_remove - an address is not the peer's any more; there is another one
 * What was in flight there is sent again, elsewhere.  If no address is confirmed
 * then, all others are probed.
 */
void
sctp_path_remove(struct sctp_assoc *as, uint32_t path)
{
	uint32_t tsn, i, n = as->npaths - 1;
	struct sctp_control *c;
	struct sctp_tx *tx;

	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->path == path && tx->state == SCTP_TX_FLIGHT)
			sctp_tx_lose(as, tx, tsn);
		tx->path = (uint8_t)moved(tx->path, path, 0);
	}
	for (c = as->control; c != NULL; c = c->next)
		c->path = moved(c->path, path, SCTP_NONE);
	if (sctp_before(as->acked, as->advanced))
		as->owes |= SCTP_OWES_FORWARD;
	for (i = path; i < n; i++)
		as->path[i] = as->path[i + 1];
	as->npaths = n;
	i = sctp_path_confirmed(as);
	as->primary = moved(as->primary, path, i != SCTP_NONE ? i : 0);
	as->from_path = moved(as->from_path, path, SCTP_NONE);
	as->forward_path = moved(as->forward_path, path, SCTP_NONE);
	as->t2_path = moved(as->t2_path, path, 0);
	if (as->reconf != NULL)
		as->reconf->path = moved(as->reconf->path, path, SCTP_NONE);
	if (as->asconf != NULL)
		as->asconf->path = moved(as->asconf->path, path, SCTP_NONE);
	/*
	 * Only a heartbeat confirms an address: the source of a request may be
	 * forged by the peer.  Data waits for the answer (RFC 9260 s5.4).
	 */
	for (i = 0; i < n && sctp_path_confirmed(as) == SCTP_NONE; i++)
		as->path[i].hb_owed |= !as->path[i].hb_out;
	sctp_path_sizes(as);
}

/* @path is the primary one, as soon as it is confirmed. */
void
sctp_path_prefer(struct sctp_assoc *as, uint32_t path)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++)
		as->path[i].preferred = i == path;
	if (as->path[path].confirmed)
		as->primary = path;
}

/* A heartbeat to @path was answered: s5.4. */
void
sctp_path_confirm(struct sctp_assoc *as, uint32_t path)
{
	int first = sctp_path_confirmed(as) == SCTP_NONE;

	if (as->path[path].confirmed)
		return;
	as->path[path].confirmed = 1;
	as->events |= SCTP_EV_PATH;
	if (first || as->path[path].preferred)
		as->primary = path;
}

uint32_t
sctp_path_find(const struct sctp_assoc *as, const struct ip_addr *a)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++)
		if (sctp_addr_eq(&as->path[i].addr, a))
			return i;
	return SCTP_NONE;
}

/* The size of fragments: they fit the packets of all paths. */
void
sctp_path_sizes(struct sctp_assoc *as)
{
	uint32_t i, room, least = 0xfffc;

	for (i = 0; i < as->npaths; i++) {
		room = sctp_path_room(&as->path[i]);
		if (room < least)
			least = room;
	}
	as->data_hdr = sctp_has(as, SCTP_X_IDATA) ? SCTP_I_DATA_HDR :
						    SCTP_DATA_HDR;
	as->data_auth = (uint8_t)sctp_auth_of_data(as);
	as->frag = least - SCTP_HDR - as->data_hdr - as->data_auth;
	if (as->conf.maxseg != 0 && as->frag > as->conf.maxseg)
		as->frag = as->conf.maxseg;
}

/* The best path other than @not; SCTP_NONE: there is none. */
static uint32_t
best(const struct sctp_assoc *as, uint32_t not)
{
	const struct sctp_path *pa;
	uint32_t i, found = SCTP_NONE;

	for (i = 0; i < as->npaths; i++) {
		pa = &as->path[i];
		if (i == not || !pa->confirmed ||
			pa->state == SCTP_PATH_INACTIVE)
			continue;
		if (found == SCTP_NONE ||
			pa->state < as->path[found].state ||
			(pa->state == as->path[found].state &&
				(i == as->primary ||
				(found != as->primary &&
				pa->errors < as->path[found].errors))))
			found = i;
	}
	return found;
}

/*
 * Where new data goes: the primary path while it is active, else the best one.
 * If all are inactive it is the primary (s6.4.1 leaves that open), which is
 * confirmed unless no path is.
 */
uint32_t
sctp_path_for_data(const struct sctp_assoc *as)
{
	uint32_t i;

	if (as->path[as->primary].state == SCTP_PATH_ACTIVE &&
		as->path[as->primary].confirmed)
		return as->primary;
	i = best(as, SCTP_NONE);
	return i != SCTP_NONE ? i : as->primary;
}

/* s6.4: where a retransmission goes: an active path other than @not. */
uint32_t
sctp_path_other(const struct sctp_assoc *as, uint32_t not)
{
	uint32_t i = best(as, not);

	if (i != SCTP_NONE && as->path[i].state == SCTP_PATH_ACTIVE)
		return i;
	return as->path[not].confirmed &&
		as->path[not].state != SCTP_PATH_INACTIVE ? not :
							    sctp_path_for_data(as);
}

static void
set_state(struct sctp_assoc *as, struct sctp_path *pa,
	enum sctp_path_state state)
{
	if (pa->state == state)
		return;
	pa->state = (uint8_t)state;
	as->events |= SCTP_EV_PATH;
}

/* Something that was sent to @path was not answered: s8.1, s8.2. */
void
sctp_path_error(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path)
{
	struct sctp_path *pa = &as->path[path];

	pa->errors++;
	/* s5.4: an address that is none is no error, if there is another one */
	if (pa->confirmed || sctp_path_confirmed(as) == SCTP_NONE)
		as->errors++;
	if (as->errors > as->conf.assoc_max_retrans) {
		sctp_assoc_down(as, SCTP_DOWN_UNREACHABLE);
		return;
	}
	if (pa->errors > as->conf.path_max_retrans) {
		set_state(as, pa, SCTP_PATH_INACTIVE);
	} else if (pa->errors > as->conf.pf_threshold &&
		pa->state == SCTP_PATH_ACTIVE && as->npaths > 1) {
		set_state(as, pa, SCTP_PATH_PF);
		if (!pa->hb_out)
			sctp_heartbeat_plan(env, as, pa);
	}
}

void
sctp_path_alive(struct sctp_assoc *as, uint32_t path)
{
	as->path[path].errors = 0;
	as->errors = 0;
	set_state(as, &as->path[path], SCTP_PATH_ACTIVE);
}

/* ------------------------------------------------------- for the engine's user */

uint32_t
sctp_path_count(const struct sctp_assoc *as)
{
	return as->npaths;
}

uint8_t *
sctp_path_word(struct sctp_assoc *as, uint32_t i)
{
	return &as->path[i].word;
}

enum sctp_path_state
sctp_path_state(const struct sctp_assoc *as, uint32_t i, struct ip_addr *ret,
	int *ret_confirmed)
{
	*ret = as->path[i].addr;
	*ret_confirmed = as->path[i].confirmed;
	return as->path[i].state;
}

int
sctp_set_primary(struct sctp_assoc *as, const struct ip_addr *a)
{
	uint32_t i = sctp_path_find(as, a);

	if (i == SCTP_NONE || !as->path[i].confirmed)
		return EINVAL;
	sctp_path_prefer(as, i);
	return 0;
}

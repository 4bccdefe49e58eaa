/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Management of an association: parameters that change while it exists, and
 * what it tells about its paths.
 */
#include "association.h"

/*
 * Paths that are idle get their next heartbeat by the new interval, in RTOs
 * that keep to the new limits.
 */
static void
replan(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_path *pa;
	uint32_t i;

	for (i = 0; i < as->npaths; i++) {
		pa = &as->path[i];
		if (pa->rto < as->conf.rto_min)
			pa->rto = as->conf.rto_min;
		if (pa->rto > as->conf.rto_max)
			pa->rto = as->conf.rto_max;
		if (as->state >= SCTP_ESTABLISHED && pa->confirmed &&
			!pa->hb_out)
			sctp_heartbeat_plan(env, as, pa);
	}
}

void
sctp_get_conf(const struct sctp_assoc *as, struct sctp_conf *ret)
{
	*ret = as->conf;
	ret->scheduler = (uint8_t)as->scheduler;
}

int
sctp_set_conf(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_conf *c)
{
	struct sctp_conf new = *c;

	if (sctp_conf_check(c) != 0)
		return EINVAL;
	/* these are agreed upon, or belong to the path */
	new.mtu = as->conf.mtu;
	new.ostreams = as->conf.ostreams;
	new.istreams = as->conf.istreams;
	new.ostreams_most = as->conf.ostreams_most;
	new.pr = as->conf.pr;
	new.interleave = as->conf.interleave;
	new.scheduler = as->conf.scheduler;
	new.reconf = (as->conf.reconf & SCTP_RECONF_ON) |
		(c->reconf & (uint8_t)~SCTP_RECONF_ON);
	new.half_close = as->conf.half_close;
	new.auth = as->conf.auth;
	new.asconf = as->conf.asconf;
	new.adapts = as->conf.adapts;
	new.adaptation = as->conf.adaptation;
	__builtin_memcpy(new.hmac, as->conf.hmac, sizeof(new.hmac));
	__builtin_memcpy(new.auth_chunks, as->conf.auth_chunks,
		sizeof(new.auth_chunks));
	as->conf = new;
	sctp_path_sizes(as);
	if (as->down == SCTP_DOWN_NOT)
		replan(env, as);
	if (as->wants_room && as->snd_bytes <= as->conf.sndbuf / 4 * 3) {
		as->wants_room = 0;
		as->events |= SCTP_EV_ROOM;
	}
	return 0;
}

int
sctp_path_info(const struct sctp_assoc *as, uint32_t i,
	struct sctp_path_info *ret)
{
	const struct sctp_path *pa = &as->path[i];

	if (i >= as->npaths)
		return EINVAL;
	ret->addr = pa->addr;
	ret->state = pa->state;
	ret->confirmed = pa->confirmed;
	ret->primary = i == as->primary;
	ret->mtu = pa->mtu;
	ret->cwnd = pa->cwnd;
	ret->flight = pa->flight;
	ret->srtt = pa->measured ? pa->srtt : 0;
	ret->rto = pa->rto;
	ret->errors = pa->errors;
	return 0;
}

int
sctp_beat(struct sctp_assoc *as, const struct ip_addr *a)
{
	uint32_t i = sctp_path_find(as, a);

	if (i == SCTP_NONE || as->down != SCTP_DOWN_NOT)
		return EINVAL;
	as->path[i].hb_owed = 1;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Timers.  Each is a time in the association or in a path, 0 if it does not
 * run.  The engine's user needs only the earliest.
 */
#include "association.h"

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

uint64_t
sctp_deadline(const struct sctp_assoc *as)
{
	uint64_t at = earlier(as->t1_at, as->t2_at);
	uint32_t i;

	at = earlier(at, as->t5_at);
	at = earlier(at, as->sack_at);
	at = earlier(at, as->hold_until);
	if (as->reconf != NULL)
		at = earlier(at, as->reconf->at);
	if (as->asconf != NULL)
		at = earlier(at, as->asconf->at);
	for (i = 0; i < as->npaths; i++) {
		at = earlier(at, as->path[i].t3_at);
		at = earlier(at, as->path[i].hb_at);
	}
	return at;
}

static int
is_due(const struct sctp_env *env, uint64_t at)
{
	return at != 0 && at <= env->now;
}

/* s5.1: INIT or COOKIE ECHO was not answered; s4, T1. */
static void
t1_expired(const struct sctp_env *env, struct sctp_assoc *as)
{
	as->t1_at = 0;
	if (++as->t1_count > as->conf.init_max_retrans) {
		sctp_assoc_down(as, SCTP_DOWN_UNREACHABLE);
		return;
	}
	as->t1_rto = as->t1_rto < as->conf.rto_max / 2 ? 2 * as->t1_rto :
							 as->conf.rto_max;
	if (as->state == SCTP_COOKIE_WAIT) {
		/* the next of the addresses that the user gave */
		as->primary = (as->primary + 1) % as->npaths;
		as->owes |= SCTP_OWES_INIT;
	} else {
		sctp_tx_lose_all(as);
		as->owes |= SCTP_OWES_COOKIE_ECHO;
	}
	(void)env;
}

static void
path_timers(const struct sctp_env *env, struct sctp_assoc *as, uint32_t i)
{
	struct sctp_path *pa = &as->path[i];

	if (is_due(env, pa->t3_at))
		sctp_t3_expired(env, as, i);
	if (as->down == SCTP_DOWN_NOT && is_due(env, pa->hb_at))
		sctp_heartbeat_expired(env, as, i);
}

void
sctp_timeout(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t i;

	as->burst = 0;
	if (is_due(env, as->sack_at)) {
		as->sack_at = 0;
		as->owes |= SCTP_OWES_SACK;
	}
	if (is_due(env, as->t1_at))
		t1_expired(env, as);
	if (is_due(env, as->t2_at))
		sctp_t2_expired(env, as);
	if (is_due(env, as->t5_at)) /* s9.2: the guard */
		sctp_abort_with(env, as, SCTP_DOWN_GUARD, SCTP_E_USER, NULL,
			0);
	if (is_due(env, as->hold_until))
		as->hold_until = 0;
	if (as->reconf != NULL && is_due(env, as->reconf->at))
		sctp_reconf_expired(env, as);
	if (as->asconf != NULL && is_due(env, as->asconf->at))
		sctp_asconf_expired(env, as);
	for (i = 0; i < as->npaths && as->down == SCTP_DOWN_NOT; i++)
		path_timers(env, as, i);
	if (as->down == SCTP_DOWN_NOT)
		sctp_shutdown_look(env, as);
}

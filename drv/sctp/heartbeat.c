/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Heartbeats: RFC 9260 s5.4, s8.3; RFC 7829.
 *
 * A path over which nothing is sent is probed after HB.interval and an RTO, one
 * that is potentially failed or not confirmed after an RTO.  A heartbeat that
 * is not answered within an RTO is an error of the path.  The answer must have
 * the random number of the last heartbeat, so that no other host can confirm an
 * address.
 *
 * In SHUTDOWN-ACK-SENT none is sent.  The peer's association may have ended, and
 * its SHUTDOWN COMPLETE been lost: the peer would answer by an ABORT.  T2 counts
 * the errors of the path.
 */
#include "association.h"

#define INFO_LEN 8u /* a random number */

/* When the next one is due: with a jitter of half an RTO (s8.3). */
void
sctp_heartbeat_plan(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_path *pa)
{
	uint64_t wait = pa->rto / 2;
	uint32_t r;

	env->random(env->arg, &r, sizeof(r));
	wait += r % pa->rto;
	pa->hb_out = 0;
	pa->hb_at = 0;
	if (pa->confirmed && pa->state != SCTP_PATH_PF) {
		if (as->conf.hb_interval == 0)
			return;
		wait += as->conf.hb_interval;
	}
	pa->hb_at = env->now + wait;
}

/* The association is established. */
void
sctp_heartbeat_begin(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++) {
		if (as->path[i].confirmed)
			sctp_heartbeat_plan(env, as, &as->path[i]);
		else
			as->path[i].hb_owed = 1; /* s5.4: verify it now */
	}
}

void
sctp_heartbeat_expired(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t path)
{
	struct sctp_path *pa = &as->path[path];

	pa->hb_at = 0;
	if (as->state == SCTP_SHUTDOWN_ACK_SENT)
		return;
	if (pa->hb_out) {
		pa->hb_out = 0;
		sctp_rto_backoff(&as->conf, pa);
		sctp_path_error(env, as, path);
		if (as->down != SCTP_DOWN_NOT)
			return;
		if (pa->confirmed && pa->state != SCTP_PATH_PF) {
			sctp_heartbeat_plan(env, as, pa);
			return;
		}
	} else if (pa->confirmed && pa->state == SCTP_PATH_ACTIVE &&
		pa->sent_at != 0 &&
		env->now - pa->sent_at < as->conf.hb_interval) {
		sctp_heartbeat_plan(env, as, pa); /* it is not idle */
		return;
	}
	/* s5.4: an address that does not answer is left alone at last */
	if (!pa->confirmed && pa->state == SCTP_PATH_INACTIVE &&
		sctp_path_confirmed(as) != SCTP_NONE)
		return;
	pa->hb_owed = 1;
}

int
sctp_heartbeat_is_owed(const struct sctp_assoc *as, uint32_t path)
{
	return as->path[path].hb_owed && as->state != SCTP_SHUTDOWN_ACK_SENT;
}

int
sctp_heartbeat_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	struct sctp_path *pa = &as->path[path];
	unsigned char *p = sctp_out_chunk(o, SCTP_C_HEARTBEAT, 0,
		SCTP_TLV + SCTP_TLV + INFO_LEN);

	if (p == NULL)
		return 0;
	env->random(env->arg, &pa->hb_nonce, sizeof(pa->hb_nonce));
	(void)sctp_put_tlv(p + SCTP_TLV, SCTP_P_HEARTBEAT_INFO, &pa->hb_nonce,
		INFO_LEN);
	pa->hb_owed = 0;
	pa->hb_out = 1;
	pa->hb_sent = env->now;
	pa->hb_at = env->now + pa->rto;
	return 1;
}

/* s8.3: it is returned as it came. */
void
sctp_heartbeat_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	unsigned char *p;

	if (in->as->state < SCTP_COOKIE_ECHOED || c->len < 2 * SCTP_TLV ||
		c->len > sctp_path_room(&in->as->path[0]) - SCTP_HDR)
		return;
	p = sctp_control_add(in->env, in->as, in->as->from_path,
		SCTP_C_HEARTBEAT_ACK, 0, c->len);
	if (p != NULL)
		__builtin_memcpy(p + SCTP_TLV, c->p + SCTP_TLV,
			c->len - SCTP_TLV);
}

void
sctp_heartbeat_ack_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	const unsigned char *info = c->p + 2 * SCTP_TLV;
	struct sctp_assoc *as = in->as;
	struct sctp_path *pa;
	uint32_t path = 0;

	if (c->len != 2 * SCTP_TLV + INFO_LEN ||
		sctp_get16(c->p + SCTP_TLV) != SCTP_P_HEARTBEAT_INFO)
		return;
	/* the number finds the path: indexes change when paths are removed */
	for (pa = as->path; path < as->npaths; pa = &as->path[++path])
		if (pa->hb_out && __builtin_memcmp(info, &pa->hb_nonce,
			INFO_LEN) == 0)
			break;
	if (path == as->npaths)
		return;
	sctp_rto_measured(&as->conf, pa, in->env->now - pa->hb_sent);
	sctp_path_confirm(as, path);
	sctp_path_alive(as, path);
	sctp_heartbeat_plan(in->env, as, pa);
}

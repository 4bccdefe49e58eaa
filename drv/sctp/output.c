/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Composing the next packet that is due.
 *
 * First a path is chosen, by the most urgent chunk that waits; then the packet
 * is filled with all that may go that way: control chunks first, DATA last
 * (RFC 9260 s6.10).  INIT and SHUTDOWN COMPLETE go alone.  A SACK that is being
 * delayed goes with DATA.
 */
#include "association.h"

/* May DATA be sent in this state?  (With a COOKIE ECHO: put_data().) */
static int
state_has_data(const struct sctp_assoc *as)
{
	return as->state == SCTP_ESTABLISHED ||
		as->state == SCTP_SHUTDOWN_PENDING ||
		as->state == SCTP_SHUTDOWN_RECEIVED;
}

/* May a new chunk be sent to @path, by its window and the peer's? */
static int
may_send_new(const struct sctp_assoc *as, uint32_t path)
{
	const struct sctp_path *pa = &as->path[path];

	if (!sctp_has_new(as) || pa->flight >= pa->cwnd || as->nlost != 0)
		return 0;
	if (as->conf.max_burst != 0 && as->burst >= as->conf.max_burst)
		return 0;
	/* s6.1 (A): one chunk may probe a closed window, when it is time */
	return sctp_window(as) != 0 || (as->probe && as->flight == 0);
}

/*
 * s6.1 (A): the first probe of a closed window is sent after an RTO, unless the
 * peer opens the window before.
 */
static void
wait_for_window(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_path *pa = &as->path[sctp_path_for_data(as)];

	if (state_has_data(as) && pa->confirmed && !as->probe && pa->t3_at == 0 &&
		sctp_is_shut_out(as))
		pa->t3_at = env->now + pa->rto;
}

/* Where DATA is to go now; SCTP_NONE: there is none, or it has to wait. */
static uint32_t
data_path(struct sctp_assoc *as)
{
	uint32_t path;
	int rtx;

	if (!state_has_data(as) || sctp_path_confirmed(as) == SCTP_NONE)
		return SCTP_NONE;
	rtx = sctp_rtx_path(as);
	if (rtx >= 0)
		return (uint32_t)rtx;
	path = sctp_path_for_data(as);
	return may_send_new(as, path) ? path : SCTP_NONE;
}

static uint32_t
heartbeat_path(const struct sctp_assoc *as)
{
	uint32_t i;

	for (i = 0; i < as->npaths; i++)
		if (sctp_heartbeat_is_owed(as, i))
			return i;
	return SCTP_NONE;
}

/* Where the next packet is to go; SCTP_NONE: none is due. */
static uint32_t
choose(struct sctp_assoc *as)
{
	uint32_t from = as->from_path < as->npaths ? as->from_path : 0, path;

	if ((as->owes & (SCTP_OWES_INIT | SCTP_OWES_COOKIE_ECHO)) != 0)
		return as->primary;
	if (as->control != NULL && as->control->path != SCTP_NONE)
		return as->control->path < as->npaths ? as->control->path :
							from;
	if ((as->owes & ~(SCTP_OWES_SHUTDOWN | SCTP_OWES_SHUTDOWN_ACK |
		SCTP_OWES_RECONF | SCTP_OWES_ASCONF)) != 0)
		return from;
	if ((as->owes & SCTP_OWES_ASCONF) != 0)
		return sctp_asconf_path(as);
	if (as->owes != 0) /* these are repeated elsewhere if need be */
		return sctp_path_for_data(as);
	if (as->control != NULL)
		return from;
	path = heartbeat_path(as);
	return path != SCTP_NONE ? path : data_path(as);
}

/* Waiting control chunks that may go to @path. */
static void
put_control(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	struct sctp_control *c;
	unsigned char *p;

	while ((c = as->control) != NULL) {
		if (c->path != SCTP_NONE && c->path != path &&
			c->path < as->npaths)
			return;
		sctp_out_widen(o, c->chunk[0], c->len);
		p = sctp_out_chunk(o, c->chunk[0], c->chunk[1], c->len);
		if (p == NULL && o->n > SCTP_HDR)
			return; /* the next packet has room */
		if (p != NULL)
			__builtin_memcpy(p, c->chunk, c->len);
		sctp_control_drop(env, as);
	}
}

static void
put_plain(struct sctp_assoc *as, struct sctp_out *o, uint32_t owes,
	unsigned int type)
{
	if ((as->owes & owes) != 0 &&
		sctp_out_chunk(o, type, 0, SCTP_TLV) != NULL)
		as->owes &= ~owes;
}

static void
put_cookie_echo(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o)
{
	size_t len = SCTP_TLV + as->cookie_len;
	unsigned char *p;

	sctp_out_widen(o, SCTP_C_COOKIE_ECHO, len);
	p = sctp_out_chunk(o, SCTP_C_COOKIE_ECHO, 0, len);
	as->owes &= ~SCTP_OWES_COOKIE_ECHO;
	as->echoed_at = env->now;
	as->t1_at = env->now + as->t1_rto;
	if (p != NULL)
		__builtin_memcpy(p + SCTP_TLV, as->cookie, as->cookie_len);
}

static void
put_shutdown(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o)
{
	unsigned char *p;

	if ((as->owes & SCTP_OWES_SHUTDOWN) != 0) {
		p = sctp_out_chunk(o, SCTP_C_SHUTDOWN, 0, SCTP_SHUTDOWN_LEN);
		if (p != NULL) {
			sctp_put32(p + SCTP_SHUTDOWN_CUM, as->cum);
			as->owes &= ~SCTP_OWES_SHUTDOWN;
		}
	}
	put_plain(as, o, SCTP_OWES_SHUTDOWN_ACK, SCTP_C_SHUTDOWN_ACK);
	if (as->state == SCTP_SHUTDOWN_SENT ||
		as->state == SCTP_SHUTDOWN_ACK_SENT)
		sctp_t2_begin(env, as);
}

static void
put_data(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	int first = 1, rtx, r;

	rtx = as->nlost != 0 ? sctp_rtx_path(as) : -1;
	if (rtx >= 0) {
		if ((uint32_t)rtx != path)
			return; /* it has a packet of its own */
		if (sctp_rtx_put(env, as, o, path))
			first = 0;
	}
	if (as->scheduler != SCTP_SCHED_FCFS)
		sctp_sched_packet(as);
	while (may_send_new(as, path)) {
		r = sctp_tx_put(env, as, o, path, first);
		if (r == 0)
			break;
		if (r == 1 && first) {
			first = 0;
			as->path[path].sent_at = env->now;
		}
	}
	as->burst += !first && rtx < 0;
}

/* The sack is due, or goes with DATA. */
static int
sack_goes(struct sctp_assoc *as, uint32_t path)
{
	if ((as->owes & SCTP_OWES_SACK) != 0)
		return 1;
	return as->unacked != 0 && data_path(as) == path;
}

static void
fill(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_out *o,
	uint32_t path)
{
	int echo = (as->owes & SCTP_OWES_COOKIE_ECHO) != 0;

	if (echo)
		put_cookie_echo(env, as, o);
	put_plain(as, o, SCTP_OWES_COOKIE_ACK, SCTP_C_COOKIE_ACK);
	if (!echo && as->any_data && sack_goes(as, path))
		sctp_sack_put(env, as, o);
	as->owes &= ~SCTP_OWES_SACK;
	put_control(env, as, o, path);
	put_shutdown(env, as, o);
	if ((as->owes & SCTP_OWES_FORWARD) != 0)
		sctp_forward_put(env, as, o);
	if ((as->owes & SCTP_OWES_ASCONF) != 0)
		sctp_asconf_put(env, as, o, path);
	if ((as->owes & SCTP_OWES_RECONF) != 0)
		sctp_reconf_put(env, as, o, path);
	if (sctp_heartbeat_is_owed(as, path) && !echo)
		(void)sctp_heartbeat_put(env, as, o, path);
	if (echo || (state_has_data(as) && as->path[path].confirmed))
		put_data(env, as, o, path);
}

/* What goes alone, or is the last; 0: none of these. */
static int
alone(const struct sctp_env *env, struct sctp_assoc *as, struct sctp_out *o,
	uint32_t path)
{
	if ((as->owes & SCTP_OWES_ABORT) != 0) {
		put_control(env, as, o, path);
		as->owes = 0;
		return 1;
	}
	if ((as->owes & SCTP_OWES_SHUTDOWN_COMPLETE) != 0) {
		put_plain(as, o, SCTP_OWES_SHUTDOWN_COMPLETE,
			SCTP_C_SHUTDOWN_COMPLETE);
		as->owes = 0;
		return 1;
	}
	if ((as->owes & SCTP_OWES_INIT) != 0) {
		sctp_put32(o->p + SCTP_AT_VTAG, 0);
		sctp_init_send(env, as, o);
		as->owes &= ~SCTP_OWES_INIT;
		return 1;
	}
	return 0;
}

/* The next packet; -1: nothing is due. 0: nothing was left to put into it. */
static int
compose(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_packet *out)
{
	struct sctp_out o;
	uint32_t path;
	size_t most;

	sctp_pr_look(env, as);
	if (as->reconf != NULL)
		sctp_reconf_look(env, as);
	if (as->down != SCTP_DOWN_NOT && as->owes == 0)
		return -1;
	path = choose(as);
	if (path == SCTP_NONE || path >= as->npaths)
		return -1;
	most = sctp_path_room(&as->path[path]);
	sctp_out_begin(&o, out->p, out->size, as->lport, as->pport,
		as->peer_tag);
	if (most < o.most)
		o.most = most;
	o.unsummed = out->unsummed;
	o.as = as;
	if (!alone(env, as, &o, path))
		fill(env, as, &o, path);
	out->dst = as->path[path].addr;
	out->src.len = 0;
	out->n = sctp_out_end(&o, as->instruction);
	out->fragment = out->n > most;
	return out->n != 0;
}

size_t
sctp_output(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_packet *out)
{
	int tries, r = 0;

	/* what was chosen may have been abandoned instead of sent */
	out->n = 0;
	for (tries = 0; r == 0 && tries < 4; tries++)
		r = compose(env, as, out);
	if (r < 0)
		wait_for_window(env, as);
	if (r == 1 && as->ep != NULL)
		as->ep->count[SCTP_N_OUT]++;
	return out->n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * COOKIE ECHO and COOKIE ACK: RFC 9260 s5.1.5, s5.2.4 to s5.2.6.
 *
 * A valid cookie for a peer without an association makes one.  With an
 * association, the tags of the cookie are compared with those of the
 * association (table 12):
 *
 *	mine	peer's	tie-tags	action
 *	other	other	both match	A: the peer has restarted
 *	same	other	any		B: both called at the same time
 *	other	same	both zero	C: an old cookie; ignored
 *	same	same	any		D: it is this association
 */
#include "cookie.h"

/* Data may flow; the timers of an established association run. */
void
sctp_established(const struct sctp_env *env, struct sctp_assoc *as)
{
	uint32_t i;

	as->state = SCTP_ESTABLISHED;
	as->events |= SCTP_EV_UP;
	as->owes &= ~(SCTP_OWES_INIT | SCTP_OWES_COOKIE_ECHO);
	as->t1_at = 0;
	as->errors = 0;
	if (as->cookie != NULL)
		env->release(env->arg, as->cookie, as->cookie_len);
	as->cookie = NULL;
	as->cookie_len = 0;
	for (i = 0; i < as->npaths; i++)
		if (as->path[i].flight != 0) /* sent with the COOKIE ECHO */
			as->path[i].t3_at = env->now + as->path[i].rto;
	sctp_heartbeat_begin(env, as);
	if (as->shutdown_wanted)
		(void)sctp_shutdown(env, as);
}

static void
set_paths(struct sctp_assoc *as, const struct sctp_cookie *ck)
{
	uint32_t i;

	as->npaths = 0;
	as->primary = as->from_path = 0;
	(void)sctp_path_add(as, &ck->src, 1);
	for (i = 0; i < ck->naddr; i++)
		if (sctp_path_find(as, &ck->addr[i]) == SCTP_NONE)
			(void)sctp_path_add(as, &ck->addr[i], 0);
	sctp_path_sizes(as);
}

/* What @ck says about the peer; 0: no memory. */
static int
take_cookie(const struct sctp_env *env, struct sctp_assoc *as,
	const struct sctp_cookie *ck)
{
	struct sctp_vector mine, peer;

	if ((ck->ext & SCTP_X_AUTH) != 0 && !sctp_auth_room(env, as))
		return 0;
	if (!sctp_assoc_streams(env, as, ck->nout, ck->nin))
		return 0;
	sctp_cookie_vectors(ck, &mine, &peer);
	as->ext = (uint16_t)ck->ext;
	as->adaptation = ck->adaptation;
	sctp_auth_agree(as, &mine, &peer);
	as->my_tag = ck->my_tag;
	as->peer_tag = ck->peer_tag;
	sctp_assoc_peer_tsn(as, ck->peer_tsn);
	as->peer_rwnd = ck->peer_rwnd;
	sctp_path_sizes(as);
	return 1;
}

/* A new association. */
static void
create(struct sctp_in *in, const struct sctp_cookie *ck)
{
	struct sctp_assoc *as = NULL;
	struct sctp_ep *ep = in->ep;

	if (!ep->listening) {
		sctp_reply_abort(in, ck->peer_tag, 0, SCTP_E_NONE, NULL, 0);
		return;
	}
	if (ep->most == 0 || ep->nassoc < ep->most)
		as = sctp_assoc_new(in->env, ep, ck->pport);
	if (as == NULL) {
		sctp_reply_abort(in, ck->peer_tag, 0, SCTP_E_RESOURCE, NULL,
			0);
		return;
	}
	set_paths(as, ck);
	if (!take_cookie(in->env, as, ck)) {
		sctp_assoc_free(in->env, as);
		sctp_reply_abort(in, ck->peer_tag, 0, SCTP_E_RESOURCE, NULL,
			0);
		return;
	}
	sctp_assoc_my_tsn(as, ck->my_tsn);
	as->local = in->pkt->dst;
	in->as = as;
	in->fresh = 1;
	as->owes = SCTP_OWES_COOKIE_ACK;
	sctp_established(in->env, as);
}

/* Action A. */
static void
restarted(struct sctp_in *in, const struct sctp_cookie *ck)
{
	struct sctp_assoc *as = in->as;
	uint32_t i;

	if (as->state == SCTP_SHUTDOWN_ACK_SENT) {
		as->owes |= SCTP_OWES_SHUTDOWN_ACK;
		sctp_error_send(in->env, as, SCTP_E_SHUTTING_DOWN, NULL, 0);
		return;
	}
	sctp_reconf_forget(in->env, as);
	sctp_asconf_forget(in->env, as);
	as->hold_until = 0;
	sctp_assoc_forget_data(in->env, as);
	while (as->control != NULL)
		sctp_control_drop(in->env, as);
	for (i = 0; i < as->nout; i++)
		as->out[i].next = as->out[i].next_u = 0;
	if (!take_cookie(in->env, as, ck))
		return;
	sctp_assoc_my_tsn(as, ck->my_tsn);
	as->local = in->pkt->dst;
	/* all congestion state begins again */
	set_paths(as, ck);
	as->owes = SCTP_OWES_COOKIE_ACK;
	as->nlost = as->ndups = as->unacked = as->any_data = 0;
	as->shutdown_wanted = as->half_closed = 0;
	as->sack_at = as->t2_at = as->t5_at = 0;
	as->fast_now = as->probe = 0;
	sctp_established(in->env, as);
	as->events = (as->events & ~SCTP_EV_UP) | SCTP_EV_RESTART;
}

/* Action B: the peer has another tag than we knew, if we knew one. */
static void
collided(struct sctp_in *in, const struct sctp_cookie *ck)
{
	struct sctp_assoc *as = in->as;
	struct ip_addr a;
	uint32_t i;

	if (as->state != SCTP_COOKIE_WAIT && as->state != SCTP_COOKIE_ECHOED) {
		/* the cookie of a call that has come to nothing */
		as->peer_tag = ck->peer_tag;
		as->owes |= SCTP_OWES_COOKIE_ACK;
		return;
	}
	if (!take_cookie(in->env, as, ck))
		return;
	a = as->path[as->primary].addr;
	as->local = in->pkt->dst;
	sctp_tx_lose_all(as);
	set_paths(as, ck);
	/* what our user gave is confirmed, and the primary stays */
	i = sctp_path_find(as, &a);
	if (i != SCTP_NONE) {
		as->path[i].confirmed = 1;
		as->primary = i;
	}
	as->owes = SCTP_OWES_COOKIE_ACK;
	sctp_established(in->env, as);
}

/* Action D. */
static void
same(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;

	as->owes |= SCTP_OWES_COOKIE_ACK;
	if (as->state == SCTP_COOKIE_ECHOED)
		sctp_established(in->env, as);
}

/* s5.1.5 (4), s3.3.10.3: by how much the cookie is too old. */
static void
tell_stale(struct sctp_in *in, const struct sctp_cookie *ck)
{
	unsigned char *p, us[4];
	struct sctp_out o;
	uint64_t late = in->env->now - ck->made - ck->life;

	in->ep->count[SCTP_N_STALE]++;
	sctp_put32(us, late > 0xffffffffu ? 0xffffffffu : (uint32_t)late);
	sctp_out_begin(&o, in->reply->p, in->reply->size, in->dport, in->sport,
		ck->peer_tag);
	p = sctp_out_chunk(&o, SCTP_C_ERROR, 0, SCTP_TLV + 8);
	if (p == NULL)
		return;
	(void)sctp_put_tlv(p + SCTP_TLV, SCTP_E_STALE, us, 4);
	in->reply->n = sctp_out_end(&o, in->ep->instruction);
}

void
sctp_cookie_echo_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct sctp_cookie ck;
	int mine, peer;

	if (!sctp_cookie_read(in->ep, c, &ck)) {
		in->ep->count[SCTP_N_COOKIE_BAD]++;
		in->as = NULL; /* the rest of the packet is not read either */
		return;
	}
	in->as = NULL;
	if (ck.lport != in->dport || ck.pport != in->sport ||
		ck.my_tag != in->vtag)
		return;
	in->as = as;
	if (!sctp_auth_cookie(in, &ck)) {
		in->as = NULL;
		return;
	}
	in->as = NULL;
	mine = as != NULL && ck.my_tag == as->my_tag;
	peer = as != NULL && ck.peer_tag == as->peer_tag;
	if (in->env->now - ck.made > ck.life && !(mine && peer)) {
		tell_stale(in, &ck);
		return;
	}
	if (as == NULL) {
		create(in, &ck);
		return;
	}
	if (mine && peer) {
		in->as = as;
		same(in);
	} else if (mine) {
		in->as = as;
		collided(in, &ck);
	} else if (!peer && ck.tie_mine == as->my_tag &&
		ck.tie_peer == as->peer_tag) {
		in->as = as;
		restarted(in, &ck);
	}
}

/* s5.2.5: only one in COOKIE-ECHOED means anything. */
void
sctp_cookie_ack_received(struct sctp_in *in)
{
	struct sctp_assoc *as = in->as;

	if (as->state != SCTP_COOKIE_ECHOED)
		return;
	if (as->t1_count == 0)
		sctp_rto_measured(&as->conf, &as->path[as->primary],
			in->env->now - as->echoed_at);
	sctp_established(in->env, as);
}

/*
 * s5.2.6: the cookie was too old when it arrived.  A new INIT asks for a longer
 * life; after three of these the association is given up.
 */
void
sctp_stale_received(struct sctp_in *in, uint32_t staleness)
{
	struct sctp_assoc *as = in->as;
	uint64_t more = 2ull * staleness + SCTP_S;

	if (as->state != SCTP_COOKIE_ECHOED)
		return;
	if (++as->stale > 3) {
		sctp_assoc_down(as, SCTP_DOWN_STALE);
		return;
	}
	sctp_tx_lose_all(as);
	as->state = SCTP_COOKIE_WAIT;
	as->preservative = more < as->conf.cookie_inc ? (uint32_t)more :
							as->conf.cookie_inc;
	as->owes = SCTP_OWES_INIT;
	as->t1_at = 0;
	as->t1_count = 0;
}

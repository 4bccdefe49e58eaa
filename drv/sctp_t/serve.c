/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Serving a slot: one turn after the other until nothing is left.
 *
 * In a turn the packets of the inbox are read, timers that are due expire, the
 * user is told what has happened and gets data, and the packets that are due
 * are composed.  After the turn they are sent.  Packets to other conns of the
 * domain make their slots the next to be served, by this thread, one after the
 * other: there is no recursion, and never a second turn.
 */
#include "sctp_t.h"

/* sctpt_work_add - serve @sl soon */
void
sctpt_work_add(struct sctpt_work *w, struct sctpt_slot *sl)
{
	uint32_t i;

	for (i = 0; i < w->n; i++)
		if (w->slot[i] == sl)
			return;
	if (w->n < SCTPT_WORK)
		w->slot[w->n++] = sl;
	else
		sctpt_soon(sl);
}

static struct sctpt_slot *
work_next(struct sctpt_work *w)
{
	struct sctpt_slot *sl = w->slot[0];
	uint32_t i;

	w->n--;
	for (i = 0; i < w->n; i++)
		w->slot[i] = w->slot[i + 1];
	return sl;
}

/*
 * A COOKIE ECHO for the listener @home: if the cookie is valid, it becomes an
 * association with a conn and a slot of its own.
 */
static void
called(struct sctpt_state *st, struct sctpt_conn *home,
	const struct sctp_packet *pkt, uint16_t encap,
	struct sctp_packet *reply, struct sctpt_work *w)
{
	uint16_t pport = (uint16_t)(pkt->p[0] << 8 | pkt->p[1]);
	struct sctp_conf conf = home->ep.conf;
	struct sctpt_slot *sl = NULL;
	struct sctpt_conn *c;
	struct sctp_env env;
	struct ip_addr src;
	struct sctpt *u = home->user;
	int fresh = 0;

	if (sctpt_route(st, &pkt->src, &pkt->dst, &src, &conf.mtu) == NULL)
		return;
	c = sctpt_conn_make(&conf, home->ep.port);
	if (c == NULL)
		return;
	bcopy(home->ep.key, c->ep.key, sizeof(c->ep.key));
	bcopy(home->ep.local, c->ep.local, sizeof(c->ep.local));
	c->ep.nlocal = home->ep.nlocal;
	c->ep.listening = 1;
	sctpt_env(&env, c);
	if (sctp_keyring_copy(&env, &c->ep.keys, &u->keys) != 0) {
		sctpt_conn_free(st, c);
		return;
	}
	c->as = sctp_input(&env, &c->ep, pkt, reply, &fresh);
	c->ep.listening = 0;
	if (fresh) {
		mutex_enter(&st->prov.lock);
		sl = sctpt_slot_make(st, 0, c->ep.port, pport);
		mutex_exit(&st->prov.lock);
	}
	if (sl == NULL) {
		sctpt_conn_free(st, c);
		return;
	}
	c->slot = sl;
	if (u->many != NULL && sctpt_many_add(u, c) != 0) {
		sctpt_conn_free(st, c);
		sctpt_turn_leave(sl);
		return;
	}
	str_store_rel(&sl->busy, 1u);
	c->from = pkt->dst;
	c->encap = encap;
	if (u->many != NULL)
		c->user = u; /* it is not asked */
	else
		c->listener = u;
	c->ref = home->ref;
	sl->conn = c;
	sl->local = home->slot->local;
	sctpt_conn_name(c, sl);
	STR_POINT("sctp:called");
	__atomic_store_n(&sl->gen, sl->gen + 1, __ATOMIC_RELEASE);
	if (c->listener != NULL && sctpt_conn_ind(c, &env) != 0) {
		c->listener = NULL;
		sctp_abort(&env, c->as, NULL, 0);
	}
	str_store_rel(&sl->busy, 0u);
	(void)sctpt_turn_end(sl);
	sctpt_work_add(w, sl);
}

/* Has the packet the verification tag of the association? */
static int
is_ours(const struct sctpt_conn *c, const struct sctp_packet *pkt)
{
	uint32_t tag = str_load(&c->slot->tag);
	const unsigned char *p = pkt->p + 4;

	return c->as != NULL && tag != 0 && ((uint32_t)p[0] << 24 |
		(uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]) == tag;
}

/* Is there no place for the caller whose COOKIE ECHO @pkt is?  Then it is kept
 * (*kept), or dropped. */
static int
is_late(struct sctpt_conn *home, const struct sctp_packet *pkt, mblk_t *mp,
	int *kept)
{
	struct sctpt *u = home->user;

	if (u->many != NULL || tpi_can_call(&u->tpi))
		return 0;
	*kept = sctp_has_cookie(&home->ep, pkt) &&
		sctpt_late_put(home->slot, mp);
	return 1;
}

/* @there: the user's stream is held.  Return: 1: @mp is kept, see late.c. */
static int
input(struct sctpt_state *st, struct sctpt_conn *c, const struct sctp_env *env,
	int there, mblk_t *mp, struct sctpt_list *out, struct sctpt_work *w)
{
	unsigned char buf[SCTP_REPLY];
	struct sctp_packet pkt, reply = {.p = buf, .size = sizeof(buf)};
	int fresh, kept = 0;

	sctpt_packet_of(mp, &pkt);
	out->encap = sctpt_encap_of(mp);
	reply.n = 0;
	if (c->slot->home && sctp_is_abort(&pkt))
		sctpt_late_abort(c->slot, mp);
	if (c->slot->home && sctp_is_cookie_echo(&pkt) && c->ep.listening) {
		reply.src = pkt.dst;
		reply.dst = pkt.src;
		if (there && !is_late(c, &pkt, mp, &kept))
			called(st, c, &pkt, out->encap, &reply, w);
	} else {
		(void)sctp_input(env, &c->ep, &pkt, &reply, &fresh);
		/* only from packets whose tag is right: RFC 6951 s5.4 */
		if (out->encap != c->encap && is_ours(c, &pkt))
			c->encap = out->encap;
		if (c->as != NULL && c->calling)
			sctpt_conn_name(c, c->slot);
	}
	if (reply.n != 0) {
		reply.unsummed = 0;
		sctpt_append(out, &reply);
	}
	return kept;
}

/* Read the packets of the list @mp. */
static void
input_all(struct sctpt_state *st, struct sctpt_conn *c,
	const struct sctp_env *env, int there, mblk_t *mp,
	struct sctpt_list *out, struct sctpt_work *w)
{
	mblk_t *next;

	for (; mp != NULL; mp = next) {
		next = mp->b_next;
		mp->b_next = NULL;
		if (c->slot->home && sctpt_pass(st, mp, w))
			continue;
		if (!input(st, c, env, there, mp, out, w))
			freemsg(mp);
	}
}

/* Are there callers for which the listener has a place now, or never? */
static int
has_place(struct sctpt_slot *home, const struct sctpt_conn *c, int there)
{
	return home->home && there && str_load(&home->late) != NULL &&
		(!c->ep.listening || tpi_can_call(&c->user->tpi));
}

/* Is the association over, and has it no user? */
static int
is_over(const struct sctpt_conn *c)
{
	return !c->slot->home && c->user == NULL && c->listener == NULL &&
		sctp_down_reason(c->as) != SCTP_DOWN_NOT;
}

/* Of two times the sooner; 0 is never. */
static uint64_t
sooner(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* What there is to be done in a turn of a conn that is in order. */
static void
work_on(struct sctpt_state *st, struct sctpt_slot *sl, struct sctpt_list *out,
	struct sctpt_work *w)
{
	struct sctpt_conn *c = sl->conn;
	mblk_t *mp = sctpt_take_inbox(sl), *last;
	struct sctp_env env;
	struct str_hold h;
	uint64_t due, idle = 0;
	int there;

	STR_POINT("sctp:taken");
	there = sctpt_hold(c, &h);
	sctpt_env(&env, c);
	input_all(st, c, &env, there, mp, out, w);
	while (has_place(sl, c, there))
		input_all(st, c, &env, there, sctpt_late_take(sl), out, w);
	if (c->as != NULL) {
		due = sctp_deadline(c->as);
		if (due != 0 && due <= env.now)
			sctp_timeout(&env, c->as);
		if (there)
			idle = sctpt_many_idle(c, &env);
		if (str_load(&sl->bare) != 0)
			sctp_ack_now(c->as); /* no DATA will carry the SACK */
		sctpt_collect(c, &env, out, w);
		do { /* reading data may make a packet due, and the other way */
			last = out->last;
			if (there || (c->user == NULL && c->listener == NULL))
				sctpt_events(c, &env);
			sctpt_collect(c, &env, out, w);
		} while (out->last != last);
		if (str_load(&sl->blocked) != 0 && there && c->user != NULL) {
			str_store(&sl->blocked, 0u);
			qenable(WR(c->user->tpi.rq));
		}
		sctpt_near_turn(sl, c, there);
	}
	sctpt_unhold(&h);
	if (c->as != NULL && sctp_down_reason(c->as) != SCTP_DOWN_NOT)
		sctpt_conn_unname(sl);
	if (c->as != NULL && is_over(c))
		c->last = 1;
	else if (c->as != NULL)
		sctpt_arm(sl, sooner(sctp_deadline(c->as), idle), env.now);
}

/*
 * One turn, which this thread has.
 * @sent: of a conn that is over: this thread has sent its last packets
 */
static void
turn(struct sctpt_state *st, struct sctpt_slot *sl, int begun, int sent,
	struct sctpt_list *out, struct sctpt_work *w)
{
	str_store(&sl->missed, 0u);
	if (!begun && sl->busy != 0) {
		sctpt_conn_mend(st, sl, out);
		if (sl->busy == 0)
			str_store(&sl->missed, 1u); /* what there is to be done */
		return;
	}
	if (!sctpt_in_use(sl) || sl->conn == NULL) {
		sctpt_slot_close(st, sl); /* packets for a former conn */
	} else if (sl->conn->last) {
		if (!sent) /* its thread was killed, or is still at it */
			sctpt_conn_abort(sl->conn, out);
		sctpt_slot_close(st, sl);
	} else {
		str_store_rel(&sl->busy, 1u);
		STR_POINT("sctp:turn");
		work_on(st, sl, out, w);
	}
	str_store_rel(&sl->busy, 0u);
}

static void
serve(struct sctpt_slot *sl, int sure, int owned, struct sctpt_work *w)
{
	struct sctpt_state *st = sl->st;
	struct sctpt_list out = {NULL, NULL, 0};
	int again, last = 0;

	do {
		if (!owned && !sctpt_turn(sl, sure))
			return;
		turn(st, sl, owned, last, &out, w);
		owned = 0;
		last = sctpt_in_use(sl) && sl->conn->last;
		if (last) /* in case that this thread is killed */
			sctpt_arm(sl, 1, sctpt_now());
		again = sctpt_turn_end(sl);
		STR_POINT("sctp:sending");
		sctpt_send(st, &out, w);
	} while (again || last);
}

/*
 * sctpt_work_do - serve the slots of @w, and those that get packets from them
 * @sure: of the first: see sctpt_turn()
 */
void
sctpt_work_do(struct sctpt_work *w, int sure)
{
	while (w->n != 0) {
		serve(work_next(w), sure, 0, w);
		sure = 0;
	}
	if (w->spare != NULL)
		freeb(w->spare);
	w->spare = NULL;
}

/* sctpt_serve - there may be work for @sl.  Context: no turn. */
void
sctpt_serve(struct sctpt_slot *sl, int sure)
{
	struct sctpt_work w = {NULL, 1, {sl}};

	sctpt_work_do(&w, sure);
}

/*
 * sctpt_serve_owned - the same in a turn that this thread has begun: `busy' is
 * set, unless its last owner was killed.  The turn ends here.
 */
void
sctpt_serve_owned(struct sctpt_slot *sl, int begun)
{
	struct sctpt_work w = {NULL, 0, {NULL}};

	if (begun) {
		serve(sl, 0, 1, &w);
		sctpt_work_do(&w, 0);
		return;
	}
	(void)sctpt_turn_end(sl);
	sctpt_serve(sl, 1);
}

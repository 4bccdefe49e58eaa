/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data between two endpoints of the domain, without packets.
 *
 * If both ends of an established association are in the domain, a message can
 * go from the write side of one stream to the head of the other, as in drv/ti.
 * Such a message has no chunk and no TSN, and is never in flight: to the two
 * engines the association is idle, and the packets that end it need to know
 * nothing of the message.  All else goes in packets: a message with options, or
 * in pieces, expedited data, data to a user that wants options, and all data
 * while a tap or a raw endpoint looks, or lo is impaired.
 *
 * Order.  A message goes directly only if all that was accepted before has been
 * acknowledged (`idle' of the sender's slot), so that the receiver's engine has
 * it; if the receiver's engine has nothing for its user (`user' of its slot);
 * and if the receiver's read queue is empty (tpi.up).  A packet that is sent
 * afterwards comes behind the message, because that is at the head already.
 * Only the owner of the sender's gate makes packets of data, so `idle' stays 1
 * while that thread looks.
 *
 * Acknowledgement.  Such a message carries no SACK.  An end that has begun to
 * send so (`bare' of its slot) delays no SACK, and sends one that is due before
 * the first message: go_bare().  So data in packets that a message without
 * packets answers has been acknowledged before.  A message in packets resets
 * `bare'; without it there is no shortcut.
 *
 * Existence.  The sender finds `user' in the receiver's slot, which is never
 * freed, holds the stream and looks there again.  The receiver clears `user'
 * before it parts from the association.  The sender also has the receiver's
 * `door', a lock that is only tried.  `late' is set while the sender gives a
 * message, and stays set if the receiver has parted meanwhile, or if the sender
 * was killed: the message may have come too late.  A T_DISCON_REQ is not
 * answered, and an endpoint not connected again, before the door has been free
 * once; what came late is discarded then (sctpt_near_quiet()).
 *
 * Shortcut.  The first message that goes so makes a shortcut (<str/short.h>);
 * the following ones do not come here.  A shortcut is made under the provider's
 * lock, and only while all conditions hold; a thread that ends one of them ends
 * the shortcut under the same lock.  A message that is to go in packets ends it,
 * too.
 *
 * Flow control.  Without room at the receiver's head a message waits on the
 * sender's queue.  The receiver's slot names that queue (`fwq'), which is
 * enabled when the receiver's read side is.
 *
 * Locks.  The sender's gate, the receiver's door; the provider's lock.
 */
#include "sctp_t.h"

#define LONGER 255u /* messages before the next try of a shortcut */

static int
is_up(const struct sctpt *to)
{
	return str_load_acq(&to->tpi.up) != 0;
}

/* Does the receiver take data without packets? */
static int
takes(const struct sctpt *to)
{
	return str_load(&to->recvopt) == 0 && str_load(&to->check) == 0;
}

/* Is the association of @u, the sender, the one of @u->to, and idle? */
static int
is_near(const struct sctpt *u)
{
	const struct sctpt_slot *own = str_load(&u->as), *peer = u->to;

	return peer != NULL && own != NULL && str_load_acq(&own->idle) != 0 &&
		str_load_acq(&own->gen) == u->asgen &&
		str_load_acq(&peer->gen) == u->togen &&
		str_load(&u->check) == 0 && u->sid < str_load(&u->nout) &&
		!sctpt_is_watched(u->st);
}

/* sctpt_near_is - does @u's data go without packets, as far as it knows? */
int
sctpt_near_is(const struct sctpt *u)
{
	return is_near(u) && str_load_acq(&u->to->user) != NULL;
}

/* Is the peer of @u, whose conn is @c, in the domain?  Context: the turn. */
static void
find(struct sctpt *u, struct sctpt_conn *c)
{
	struct sctpt_slot *own = c->slot, *peer;
	uint32_t mine, theirs, mtu, gen;
	struct ip_addr src;

	if (c->encap != 0 || sctp_assoc_state(c->as) < SCTP_ESTABLISHED ||
		sctpt_route(u->st, &c->peer, &c->from, &src, &mtu) !=
			sctpt_lo(u->st))
		return;
	sctp_tags(c->as, &mine, &theirs);
	peer = sctpt_slot_find(u->st, own->pport, own->lport, theirs, &c->from,
		&c->peer);
	if (peer == NULL || peer == own)
		return;
	gen = str_load_acq(&peer->gen);
	if ((gen & 1) == 0 || str_load(&peer->tag) != theirs)
		return;
	peer->fref = u->tpi.ref;
	peer->fwq = WR(u->tpi.rq);
	str_store_rel(&peer->fgen, gen);
	str_fence_full(); /* with `up': sctpt_near_room() */
	u->longer = 0;
	u->togen = gen;
	u->to = peer;
}

static void
look(struct sctpt *u)
{
	struct sctpt_conn *c;

	if (u->longer != 0) {
		u->longer--;
		return;
	}
	u->longer = LONGER;
	if (sctpt_enter(u, 0, &c) != 0)
		return;
	find(u, c);
	sctpt_serve_owned(c->slot, 1);
}

/* sctpt_near_begin - @u has a new association */
void
sctpt_near_begin(struct sctpt *u)
{
	u->to = NULL;
	u->longer = 0;
}

/* Hold the stream of the user at @peer.  0; EBUSY; ESRCH: there is none. */
static int
cross(const struct sctpt_slot *peer, struct str_hold *h, struct sctpt **ret,
	struct str_ref *ref)
{
	struct sctpt *to = str_load_acq(&peer->user);
	int err;

	if (to == NULL)
		return ESRCH;
	*ref = peer->uref;
	err = str_hold(h, ref);
	if (err != 0)
		return err;
	*ret = to;
	if (str_load_acq(&peer->user) == to && peer->uref.sid == ref->sid)
		return 0;
	str_unhold(h);
	return ESRCH;
}

/*
 * No DATA of @u will carry a SACK from now on: what has been received is
 * acknowledged before the first message, what will be received at once.
 * Return: 0; EAGAIN; ESRCH: the data of @u goes in packets.
 */
static int
go_bare(struct sctpt *u)
{
	struct sctpt_conn *c;
	int err = sctpt_enter(u, 0, &c);

	if (err != 0)
		return err;
	str_store(&c->slot->bare, 1u);
	sctpt_serve_owned(c->slot, 1);
	return is_near(u) ? 0 : ESRCH;
}

/* As cross(); and the data of @u goes without packets, if the user takes it. */
static int
reach(struct sctpt *u, struct str_hold *h, struct sctpt **ret,
	struct str_ref *ref)
{
	int err = cross(u->to, h, ret, ref);

	if (err != 0 || str_load(&u->as->bare) != 0 || !takes(*ret))
		return err;
	str_unhold(h);
	err = go_bare(u);
	return err != 0 ? err : cross(u->to, h, ret, ref);
}

static int
is_flowing(const struct sctpt *u, const struct sctpt *to)
{
	unsigned int from = u->tpi.state, at = to->tpi.state;

	return str_load_acq(&u->to->user) == to && is_near(u) && takes(to) &&
		!is_up(to) && !u->tpi.closing && !to->tpi.closing &&
		(from == TS_DATA_XFER || from == TS_WREQ_ORDREL) &&
		(at == TS_DATA_XFER || at == TS_WIND_ORDREL);
}

/*
 * Make the shortcut for the following data.  If that fails, perhaps because of
 * a pushed module, try again after many messages.
 */
static void
shorten(struct sctpt *u, struct sctpt *to)
{
	int made = 0;

	if (u->longer != 0) {
		u->longer--;
		return;
	}
	if (!mutex_tryenter(&u->st->prov.lock))
		return;
	if (is_flowing(u, to))
		made = str_short_make(WR(u->tpi.rq), to->tpi.rq);
	mutex_exit(&u->st->prov.lock);
	STR_POINT("sctp:shortened");
	if (!made)
		u->longer = LONGER;
}

/* With the door of @to, whose stream is held. */
static int
give(struct sctpt *u, struct sctpt *to, mblk_t *mp)
{
	if (str_load_acq(&u->to->user) != to || !takes(to))
		return SCTPT_FAR;
	if (is_up(to) || !canputnext(to->tpi.rq))
		return EAGAIN;
	str_store(&to->late, 1u); /* until it is known that it was not */
	STR_POINT("sctp:giving");
	tpi_goes(&u->tpi, mp);
	putnext(to->tpi.rq, mp);
	STR_POINT("sctp:given");
	if (str_load_acq(&u->to->user) != to)
		return 0;
	str_store(&to->late, 0u);
	if (!str_short_stands(WR(u->tpi.rq), to->tpi.rq))
		shorten(u, to);
	return 0;
}

/*
 * sctpt_near_data - send the message @mp, M_DATA, of @u's user without packets
 * Context: op data.  Return: 0: consumed; EAGAIN: later; SCTPT_FAR: not so.
 */
int
sctpt_near_data(struct sctpt *u, mblk_t *mp)
{
	struct str_hold h;
	struct str_ref ref;
	struct sctpt *to;
	int err;

	if (u->to == NULL)
		look(u);
	if (!is_near(u))
		return SCTPT_FAR;
	err = reach(u, &h, &to, &ref);
	if (err == ESRCH)
		return SCTPT_FAR;
	if (err == 0) {
		err = EAGAIN;
		if (mutex_tryenter(&to->door)) {
			err = give(u, to, mp);
			mutex_exit(&to->door);
		}
		str_unhold(&h);
	} else {
		err = EAGAIN;
	}
	if (err == EAGAIN)
		tpi_retry(&u->tpi); /* if nothing else enables the queue */
	return err;
}

/* --------------------------------------------------------- the receiving side */

/* sctpt_near_room - op rsrv: there is room above @u, or its read queue is empty */
void
sctpt_near_room(struct sctpt *u)
{
	const struct sctpt_slot *sl = str_load(&u->as);
	struct str_hold h;
	struct str_ref ref;
	queue_t *wq;
	int err;

	if (sl == NULL || str_load_acq(&sl->fgen) != str_load(&sl->gen))
		return;
	ref = sl->fref;
	wq = sl->fwq;
	err = str_hold(&h, &ref);
	if (err == 0) {
		if (sl->fwq == wq && sl->fref.sid == ref.sid)
			qenable(wq);
		str_unhold(&h);
	} else if (err == EBUSY) {
		tpi_retry(&u->tpi); /* a tick enables this side, too */
	}
}

/*
 * sctpt_near_turn - the end of a turn: what may go without packets?
 * @there: the stream of the conn's user is held
 */
void
sctpt_near_turn(struct sctpt_slot *sl, struct sctpt_conn *c, int there)
{
	struct sctpt *user = NULL;

	if (there && c->user != NULL && c->user->many == NULL &&
		!c->calling && !c->said &&
		sctp_auth_hmac(c->as) == 0 && /* codes are in packets */
		sctp_down_reason(c->as) == SCTP_DOWN_NOT &&
		sctp_assoc_state(c->as) >= SCTP_ESTABLISHED &&
		sctp_readable(c->as) == 0)
		user = c->user;
	if (user != sl->user) {
		str_store_rel(&sl->user, (struct sctpt *)NULL);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		sl->uref = c->ref;
		str_store_rel(&sl->user, user);
	}
	str_store_rel(&sl->idle, (uint32_t)(c->user != NULL &&
		sctp_is_idle(c->as)));
}

/*
 * sctpt_near_in_end - the user of @c gets nothing more without packets, and all
 * that has come so precedes what is laid on its read queue next
 * Context: the turn; the user's stream is held, or cannot be closed.
 */
void
sctpt_near_in_end(struct sctpt_conn *c)
{
	struct sctpt_state *st = c->slot->st;

	if (c->user == NULL)
		return;
	mutex_enter(&st->prov.lock);
	str_store_rel(&c->slot->user, (struct sctpt *)NULL);
	str_short_end(c->user->tpi.rq);
	mutex_exit(&st->prov.lock);
}

/* sctpt_near_out_end - the user of @c sends nothing more; as above */
void
sctpt_near_out_end(struct sctpt_conn *c)
{
	struct sctpt_state *st = c->slot->st;

	if (c->user == NULL)
		return;
	mutex_enter(&st->prov.lock);
	str_store_rel(&c->slot->idle, 0u);
	str_short_break(WR(c->user->tpi.rq));
	mutex_exit(&st->prov.lock);
}

/*
 * sctpt_near_quiet - has the thread ended that was giving data to the last
 * connection of @u?  Then data that came late is discarded.
 * Return: 1; 0: not yet; the request is tried again.
 */
int
sctpt_near_quiet(struct sctpt *u)
{
	if (!mutex_tryenter(&u->door)) {
		tpi_retry(&u->tpi);
		return 0;
	}
	mutex_exit(&u->door);
	if (str_load(&u->late) != 0) {
		str_store(&u->late, 0u);
		tpi_flush_up(&u->tpi);
	}
	return 1;
}

/* sctpt_near_stop - @u takes no data without packets, because takes() says so */
void
sctpt_near_stop(struct sctpt *u)
{
	mutex_enter(&u->st->prov.lock);
	str_short_end(u->tpi.rq);
	mutex_exit(&u->st->prov.lock);
}

/* sctpt_near_watched - packets of the protocol are watched from now on */
void
sctpt_near_watched(void)
{
	/* if no endpoint has been made there is nothing to end */
	struct sctpt_state *st = str_drv_state("sctp", 0);
	struct str_hold h;
	struct tpi *tp;
	int err;

	if (st == NULL)
		return;
	mutex_enter(&st->prov.lock);
	for (tp = st->prov.first; tp != NULL; tp = tp->next) {
		if (tp->closing || tp->ref.stream == NULL)
			continue;
		err = str_hold(&h, &tp->ref);
		/* one that is being closed exists as long as we have the lock */
		if (err != ESRCH)
			str_short_end(tp->rq);
		if (err == 0)
			str_unhold(&h);
	}
	mutex_exit(&st->prov.lock);
}

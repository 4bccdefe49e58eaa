/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of streams (RFC 6525), and messages that fail: requests of the user,
 * and the notes about them.
 *
 * A request is answered when it has begun.  Its end is an event, and so is a
 * change that the peer makes.  The number of streams that the endpoint may send
 * on (`nout') follows each change, before the user is told.
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

_Static_assert(SCTPIO_RESET_OFFER == SCTP_RECONF_ON &&
	SCTPIO_RESET_OUT == SCTP_RECONF_OUT &&
	SCTPIO_RESET_IN == SCTP_RECONF_IN &&
	SCTPIO_RESET_TSN == SCTP_RECONF_TSN &&
	SCTPIO_RESET_ADD_OUT == SCTP_RECONF_ADD_OUT &&
	SCTPIO_RESET_ADD_IN == SCTP_RECONF_ADD_IN, "one number for each");

/* -------------------------------------------------------------------- requests */

/* SCTPIO_RESET; @arg is aligned to 4 bytes, as ioctl arguments are. */
int
sctpt_reset(struct sctpt *u, const struct tpi_buf *arg)
{
	const struct sctpio_reset *r = (const void *)arg->buf;
	struct sctp_env env;
	struct sctpt_conn *c;
	int err;

	if (arg->len < sizeof(*r) || r->n > 0xffff ||
		arg->len != sizeof(*r) + r->n * sizeof(r->sid[0]))
		return EINVAL;
	if (r->what == SCTPIO_RESET_TSN && r->n != 0)
		return EINVAL;
	err = sctpt_enter_wait(u, r->assoc, &c);
	if (err != 0)
		return err;
	sctpt_env(&env, c);
	err = r->what == SCTPIO_RESET_TSN ? sctp_reset_tsn(&env, c->as) :
		sctp_reset_streams(&env, c->as, r->what, r->sid, r->n);
	sctpt_serve_owned(c->slot, 1);
	return err;
}

/* SCTPIO_ADD */
int
sctpt_add(struct sctpt *u, const struct sctpio_add *a)
{
	struct sctp_env env;
	struct sctpt_conn *c;
	int err = sctpt_enter_wait(u, a->assoc, &c);

	if (err != 0)
		return err;
	sctpt_env(&env, c);
	err = a->out > 0xffff || a->in > 0xffff ? EINVAL :
		sctp_add_streams(&env, c->as, a->out, a->in);
	sctpt_serve_owned(c->slot, 1);
	return err;
}

/* SCTPIO_VALUE: the answer is the value. */
int
sctpt_value(struct sctpt *u, struct sctpio_value *v, mblk_t **ret)
{
	struct sctpt_conn *c;
	int err = sctpt_enter_wait(u, v->assoc, &c);

	if (err != 0)
		return err;
	err = v->set ? sctp_set_stream_value(c->as, v->sid, v->value) :
		       sctp_stream_value(c->as, v->sid, &v->value);
	sctpt_serve_owned(c->slot, 1);
	if (err != 0)
		return err;
	*ret = canon_block(v, sizeof(*v));
	return *ret != NULL ? 0 : ENOSR;
}

/* SCTPIO_ABANDONED */
int
sctpt_abandoned(struct sctpt *u, struct sctpio_abandoned *a, mblk_t **ret)
{
	struct sctpt_conn *c;
	uint16_t out, in;
	int err;

	if (a->pr > SCTPIO_PR_RTX)
		return EINVAL;
	err = sctpt_enter_wait(u, a->assoc, &c);
	if (err != 0)
		return err;
	sctp_streams(c->as, &out, &in);
	if (a->sid != SCTPIO_ALL_STREAMS && a->sid >= out)
		err = EINVAL;
	else
		sctp_abandoned_count(c->as, a->sid,
			a->pr == SCTPIO_PR_TTL ? SCTP_SEND_TTL :
			a->pr == SCTPIO_PR_RTX ? SCTP_SEND_RTX : 0,
			&a->unsent, &a->sent);
	sctpt_serve_owned(c->slot, 1);
	if (err != 0)
		return err;
	*ret = canon_block(a, sizeof(*a));
	return *ret != NULL ? 0 : ENOSR;
}

/* ----------------------------------------------------------------------- notes */

/* The flags of a change that has ended, or that the peer has made. */
static uint32_t
flags_of(const struct sctp_change *ch)
{
	if (!ch->ours || ch->result <= SCTP_R_DONE)
		return 0;
	return ch->result == SCTP_R_DENIED ? SCTPIO_CHANGE_DENIED :
					     SCTPIO_CHANGE_FAILED;
}

/* SSNs begin with 0.  The peer's "out" is our "in". */
static void
reset_note(struct sctpt_conn *c, const struct sctp_change *ch)
{
	struct sctpio_note n = {.event = SCTPIO_EV_RESET,
		.state = flags_of(ch)};
	uint32_t out = ch->ours ? SCTP_RECONF_OUT : SCTP_RECONF_IN;
	uint32_t in = ch->ours ? SCTP_RECONF_IN : SCTP_RECONF_OUT;

	/* what we asked the peer to do has been told when it did it */
	if ((ch->what & in) != 0 && (!ch->ours || n.state != 0))
		n.state |= SCTPIO_CHANGE_IN;
	if ((ch->what & out) != 0)
		n.state |= SCTPIO_CHANGE_OUT;
	if ((n.state & (SCTPIO_CHANGE_IN | SCTPIO_CHANGE_OUT)) == 0)
		return;
	n.len = ch->n * (uint32_t)sizeof(ch->sid[0]);
	sctpt_note(c, &n, ch->sid, n.len);
}

static void
tsn_note(struct sctpt_conn *c, const struct sctp_change *ch)
{
	struct sctpio_note n = {.event = SCTPIO_EV_TSN, .state = flags_of(ch)};
	struct sctp_status s;

	sctp_status(c->as, &s);
	n.tsn[0] = s.next_tsn;
	n.tsn[1] = s.rcvd_tsn + 1;
	sctpt_note(c, &n, NULL, 0);
}

static void
number_note(struct sctpt_conn *c, const struct sctp_change *ch)
{
	struct sctpio_note n = {.event = SCTPIO_EV_STREAMS,
		.state = flags_of(ch)};
	uint16_t out, in;

	/* what we asked the peer to do is told when it does it */
	if (ch->ours && n.state == 0 && ch->what == SCTP_RECONF_ADD_IN)
		return;
	sctp_streams(c->as, &out, &in);
	n.ostreams = out;
	n.istreams = in;
	sctpt_note(c, &n, NULL, 0);
}

/*
 * sctpt_changes - tell the user of changes of streams; in the turn
 * The peer decides how many there are: while the read queue is full they stay in
 * the engine, which keeps few of them.
 */
void
sctpt_changes(struct sctpt_conn *c, const struct sctp_env *env)
{
	const struct sctp_change *ch = sctp_change(c->as);

	if (ch == NULL)
		return;
	if (c->user != NULL && c->user->many == NULL)
		sctpt_count(c, c->user);
	for (; ch != NULL; ch = sctp_change(c->as)) {
		if (sctpt_is_full(c)) {
			sctpt_wait_room(c);
			return;
		}
		sctpt_change_done(c, ch);
		if ((ch->what & (SCTP_RECONF_OUT | SCTP_RECONF_IN)) != 0 &&
			sctpt_wants(c, SCTPIO_EV_RESET))
			reset_note(c, ch);
		if ((ch->what & SCTP_RECONF_TSN) != 0 &&
			sctpt_wants(c, SCTPIO_EV_TSN))
			tsn_note(c, ch);
		if ((ch->what & (SCTP_RECONF_ADD_OUT | SCTP_RECONF_ADD_IN)) !=
			0 && sctpt_wants(c, SCTPIO_EV_STREAMS))
			number_note(c, ch);
		sctp_change_done(env, c->as);
	}
}

/* The cause in the ABORT that ended the association; 0: there was none. */
static uint32_t
cause_of(const struct sctpt_conn *c)
{
	const unsigned char *p;
	size_t n;

	switch (sctp_down_reason(c->as)) {
	case SCTP_DOWN_PEER:
		return (uint32_t)sctp_peer_cause(c->as, &p, &n);
	case SCTP_DOWN_USER:
		return SCTP_E_USER;
	case SCTP_DOWN_PROTOCOL:
		return SCTP_E_PROTOCOL;
	default:
		return 0;
	}
}

/*
 * sctpt_failures - tell the user of messages that were not delivered; in the
 * turn, before the user is parted from an association that is over
 */
void
sctpt_failures(struct sctpt_conn *c, const struct sctp_env *env)
{
	struct sctp_failure f;
	struct sctpio_note n;

	if (sctp_down_reason(c->as) != SCTP_DOWN_NOT &&
		sctpt_wants(c, SCTPIO_EV_FAILED))
		sctp_fail_all(env, c->as);
	for (; sctp_failed(c->as, &f); sctp_failed_done(env, c->as)) {
		if (!sctpt_wants(c, SCTPIO_EV_FAILED))
			continue;
		n = (struct sctpio_note){.event = SCTPIO_EV_FAILED,
			.state = f.sent, .error = cause_of(c), .sid = f.sid,
			.ppid = f.ppid, .context = f.context,
			.unordered = f.unordered, .ends = f.ends, .len = f.n};
		sctpt_note(c, &n, f.data, f.n);
	}
}

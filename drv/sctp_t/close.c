/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stream is closed: the end of its associations.
 */
#include "sctp_t.h"

/* Take the turn of @sl for the last time. */
static int
last_turn(struct sctpt *u, struct sctpt_slot *sl)
{
	struct sctpt_conn *c;

	sctpt_turn_wait(sl);
	c = sl->conn;
	if (sctpt_in_use(sl) && c != NULL && sl->busy != 0) {
		/* its last owner was killed: an ABORT */
		if (c->user == u || c->listener == u) {
			sctpt_near_in_end(c);
			c->user = c->listener = NULL;
		}
		sctpt_serve_owned(sl, 0);
		return 0;
	}
	if (!sctpt_in_use(sl) || c == NULL || c->last ||
		(c->user != u && c->listener != u)) {
		sctpt_turn_leave(sl);
		return 0;
	}
	return sctpt_begin(sl);
}

/* Discard what the user has not read; more of it is answered by an ABORT. */
static void
discard(struct sctpt_conn *c, const struct sctp_env *env)
{
	struct sctp_info info;
	unsigned char buf[512];

	while (sctp_readable(c->as) != 0)
		(void)sctp_recv(env, c->as, &info, buf, sizeof(buf));
}

/* Is it a message for the user, not a note?  For str_unread(). */
static int
is_message(const unsigned char *ctl, size_t n)
{
	struct T_unitdata_ind ui;
	struct T_optdata_ind oi;
	struct t_opthdr h;
	t_scalar_t prim, at;

	if (n < sizeof(prim))
		return 0;
	bcopy(ctl, &prim, sizeof(prim));
	if (prim == T_DATA_IND || prim == T_EXDATA_IND)
		return 1;
	if (prim == T_OPTDATA_IND && n >= sizeof(oi)) {
		bcopy(ctl, &oi, sizeof(oi));
		at = oi.OPT_offset;
	} else if (prim == T_UNITDATA_IND && n >= sizeof(ui)) {
		bcopy(ctl, &ui, sizeof(ui));
		at = ui.OPT_offset;
	} else {
		return 0;
	}
	if (at <= 0 || (size_t)at + sizeof(h) > n)
		return 1;
	bcopy(ctl + at, &h, sizeof(h));
	return h.level != T_INET_SCTP || h.name != T_SCTP_NOTE;
}

/* Has the user not read all?  What it has not read is discarded. */
static int
is_unread(struct sctpt *u)
{
	return str_unread(u->tpi.rq, is_message);
}

/*
 * The stream is closed: what was accepted is delivered, and then the
 * association ends in order.  If the user of a socket has not read all
 * (@unread) it ends by an ABORT: the peer learns that data is lost.
 */
static void
leave(struct sctpt *u, struct sctpt_slot *sl, int unread)
{
	struct sctp_env env;
	struct sctpt_conn *c;

	if (sl == NULL || !last_turn(u, sl))
		return;
	c = sl->conn;
	sctpt_env(&env, c);
	sctpt_near_in_end(c); /* all data without packets has arrived */
	if (u->sock && (sctp_readable(c->as) != 0 ||
			(u->many == NULL && is_unread(u))))
		unread = 1;
	if (c->calling || u->tpi.dead || !sctpt_lingers(u) || unread) {
		sctp_abort(&env, c->as, NULL, 0);
	} else {
		if (u->many == NULL)
			sctpt_data_rest(u, c, &env);
		discard(c, &env);
		(void)sctp_shutdown(&env, c->as);
	}
	c->gone = 1;
	sctpt_near_out_end(c);
	c->user = NULL;
	sctpt_serve_owned(sl, 1);
}

/* The slot of a caller that waits to be answered; NULL: none. */
static struct sctpt_slot *
first_caller(struct tpi *tp)
{
	struct sctpt_slot *sl = NULL;
	struct tpi_ind *in;

	mutex_enter(&tp->lock);
	for (in = tp->ind; in != NULL && sl == NULL; in = in->next)
		sl = in->cookie;
	mutex_exit(&tp->lock);
	return sl;
}

void
sctpt_close(struct tpi *tp)
{
	struct sctpt *u = sctpt_of(tp);
	const void *pos = NULL;
	struct sctpt_slot *sl;
	uint32_t at = 0;
	int unread = u->many != NULL && is_unread(u);

	if (u->many != NULL)
		sctpt_many_rest(u);
	(void)sctpt_unbind(tp);
	STR_POINT("sctp:closing");
	/* meanwhile the others may go, and free their indications */
	while ((sl = first_caller(tp)) != NULL) {
		if (last_turn(u, sl))
			sctpt_end(sl->conn, NULL);
		tpi_conn_forget(tp, sl);
	}
	leave(u, u->as, 0);
	sctpt_keys_free(u);
	if (u->many == NULL)
		return;
	while ((sl = sctpt_many_next(u, &at, &pos)) != NULL)
		leave(u, sl, unread);
	sctpt_many_end(u);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: T_CONN_REQ, T_CONN_RES, T_DISCON_REQ.
 *
 * An association is established before the listener's user has accepted it, as
 * a connection of TCP.  Until then its conn has a listener and no user, and
 * data waits in the engine.  A refusal is an ABORT.
 */
#include "sctp_t.h"

/* sctpt_begin - begin work in a turn of @sl that has just been taken; 1, or 0 */
int
sctpt_begin(struct sctpt_slot *sl)
{
	if (sl->busy != 0 || !sctpt_in_use(sl) || sl->conn == NULL ||
		sl->conn->last)
		return 0;
	str_store_rel(&sl->busy, 1u);
	return 1;
}

/* Is the conn of @sl association @id of @u?  Context: the turn. */
static int
is_users(const struct sctpt *u, const struct sctpt_slot *sl, uint32_t id)
{
	if (!sctpt_in_use(sl) || sl->conn == NULL || sl->conn->user != u)
		return 0;
	return u->many != NULL ? sl->conn->id == id : sl->gen == u->asgen;
}

static int
enter(struct sctpt *u, struct sctpt_slot *sl, uint32_t id, int sure,
	struct sctpt_conn **ret)
{
	if (!sctpt_turn(sl, sure)) {
		str_store(&sl->blocked, 1u);
		str_fence_full(); /* pairs with sctpt_turn_end() */
		if (!sctpt_turn(sl, 0)) {
			tpi_retry(&u->tpi);
			return EAGAIN;
		}
	}
	if (sl->busy == 0 && is_users(u, sl, id)) {
		*ret = sl->conn;
		(void)sctpt_begin(sl);
		return 0;
	}
	if (sl->busy != 0) {
		sctpt_serve_owned(sl, 0);
		tpi_retry(&u->tpi);
		return EAGAIN;
	}
	sctpt_turn_leave(sl);
	return ESRCH;
}

/*
 * sctpt_enter - take the turn of @u's association, for a request
 * @sure: as for sctpt_turn()
 * Return: 0: the caller ends it by sctpt_serve_owned(sl, 1); EAGAIN: not now,
 * the request is tried again; ESRCH: there is none any more.
 */
int
sctpt_enter(struct sctpt *u, int sure, struct sctpt_conn **ret)
{
	struct sctpt_slot *sl = u->as;

	if (sl == NULL || str_load_acq(&sl->gen) != u->asgen)
		return ESRCH;
	return enter(u, sl, 0, sure, ret);
}

/* sctpt_enter_member - the same of one of many associations */
int
sctpt_enter_member(struct sctpt *u, uint32_t id, int sure,
	struct sctpt_conn **ret)
{
	struct sctpt_slot *sl = sctpt_many_slot(u, id);

	return sl == NULL ? ESRCH : enter(u, sl, id, sure, ret);
}

/*
 * sctpt_enter_wait - the same for an ioctl, which waits for the turn
 * @id: which of many associations
 * Return: 0, or ENOTCONN.
 */
int
sctpt_enter_wait(struct sctpt *u, uint32_t id, struct sctpt_conn **ret)
{
	struct sctpt_slot *sl = u->many != NULL ? sctpt_many_slot(u, id) :
						  u->as;

	if (sl == NULL)
		return ENOTCONN;
	sctpt_turn_wait(sl);
	if (is_users(u, sl, id) && sctpt_begin(sl)) {
		*ret = sl->conn;
		return 0;
	}
	if (sl->busy != 0)
		sctpt_serve_owned(sl, 0);
	else
		sctpt_turn_leave(sl);
	return ENOTCONN;
}

/* sctpt_end - end the association: an ABORT with the user's @data, or NULL */
void
sctpt_end(struct sctpt_conn *c, mblk_t *data)
{
	mblk_t *mp = data != NULL ? msgpullup(data, -1) : NULL;
	struct sctp_env env;

	sctpt_env(&env, c);
	sctp_abort(&env, c->as, mp != NULL ? mp->b_rptr : NULL,
		mp != NULL ? (size_t)MBLKL(mp) : 0);
	sctpt_near_in_end(c);
	sctpt_near_out_end(c);
	c->user = c->listener = NULL;
	if (mp != NULL)
		freemsg(mp);
	sctpt_serve_owned(c->slot, 1);
}

/* -------------------------------------------------------------------- calling */

/* The user's call, in the conn @c; 0, or an errno.  @c has its slot then. */
static int
start(struct sctpt *u, struct sctpt_conn *c, const struct ip_addr *to,
	uint32_t n, uint16_t port)
{
	struct sctpt_slot *sl;
	struct sctp_env env;
	int err;

	sctpt_env(&env, c);
	err = sctp_keyring_copy(&env, &c->ep.keys, &u->keys);
	if (err != 0)
		return err;
	err = sctp_connect(&env, &c->ep, to, n, port, &c->as);
	if (err != 0)
		return err;
	mutex_enter(&u->st->prov.lock);
	sl = sctpt_slot_make(u->st, 0, c->ep.port, port);
	mutex_exit(&u->st->prov.lock);
	if (sl == NULL)
		return ENOSR;
	c->slot = sl;
	if (u->many != NULL && sctpt_many_add(u, c) != 0) {
		sctpt_turn_leave(sl);
		return ENOSR;
	}
	str_store_rel(&sl->busy, 1u);
	c->user = u;
	c->ref = u->tpi.ref;
	c->calling = 1;
	c->from = u->from;
	sl->conn = c;
	sl->local = u->home->local;
	sctpt_conn_name(c, sl);
	if (u->many == NULL) {
		u->asgen = sl->gen + 1;
		str_store(&u->as, sl);
	}
	STR_POINT("sctp:calling");
	__atomic_store_n(&sl->gen, sl->gen + 1, __ATOMIC_RELEASE);
	return 0;
}

/*
 * sctpt_many_connect - begin one more association
 * *ret: a struct sctpio_word with its number.
 */
int
sctpt_many_connect(struct sctpt *u, const struct ip_addr *to, uint32_t n,
	uint16_t port, mblk_t **ret)
{
	struct sctpt_slot *home = u->home;
	struct sctp_conf conf = u->conf;
	struct sctpio_word w = {.assoc = 0};
	struct sctpt_conn *c;
	int err;

	if (port == 0 || sctpt_addr_any(&to[0]) || home == NULL)
		return EINVAL;
	if (sctpt_route(u->st, &to[0], &home->local, &u->from, &conf.mtu) ==
		NULL)
		return ENETUNREACH;
	c = sctpt_conn_make(&conf, home->lport);
	*ret = allocb(sizeof(w), BPRI_MED);
	if (c == NULL || *ret == NULL) {
		sctpt_conn_free(u->st, c);
		return ENOSR;
	}
	c->ep.nlocal = home->conn->ep.nlocal;
	bcopy(home->conn->ep.local, c->ep.local, sizeof(c->ep.local));
	err = start(u, c, to, n, port);
	if (err != 0) {
		sctpt_conn_free(u->st, c);
		freemsg(*ret);
		*ret = NULL;
		return err;
	}
	w.assoc = c->id;
	bcopy(&w, (*ret)->b_wptr, sizeof(w));
	(*ret)->b_wptr += sizeof(w);
	sctpt_serve_owned(c->slot, 1);
	return 0;
}

/* No way leads there: the call has failed. */
static int
unreachable(struct sctpt *u)
{
	tpi_conn_ok(&u->tpi);
	(void)tpi_discon_ind(&u->tpi, ENETUNREACH, NULL);
	return 0;
}

/*
 * Part from the association before.  It has ended, or both users have released
 * it; if not, a killed thread has left it.
 */
static int
part(struct sctpt *u)
{
	struct sctpt_conn *c;
	int err = sctpt_enter(u, 1, &c);

	if (err == EAGAIN)
		return EAGAIN;
	if (err == 0)
		sctpt_end(c, NULL);
	str_store(&u->as, (struct sctpt_slot *)NULL);
	sctpt_near_begin(u);
	return sctpt_near_quiet(u) ? 0 : EAGAIN;
}

int
sctpt_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpt_slot *home = u->home;
	struct ip_addr peer[SCTP_PATHS];
	struct sctp_conf conf = u->conf;
	struct sctpt_conn *c;
	uint16_t port;
	uint32_t n;
	int err = sctpt_addr_of(to, peer, SCTP_PATHS, &n, &port);

	(void)data; /* none is accepted: CDATA_size */
	if (err != 0)
		return err;
	if (port == 0 || sctpt_addr_any(&peer[0]) || home == NULL)
		return -TBADADDR;
	if (part(u) != 0)
		return EAGAIN;
	if (sctpt_route(u->st, &peer[0], &home->local, &u->from, &conf.mtu) == NULL)
		return unreachable(u);
	c = sctpt_conn_make(&conf, home->lport);
	if (c == NULL)
		return ENOSR;
	/* constant while the endpoint is bound; the gate keeps it so */
	c->ep.nlocal = home->conn->ep.nlocal;
	bcopy(home->conn->ep.local, c->ep.local, sizeof(c->ep.local));
	err = start(u, c, peer, n, port);
	if (err != 0) {
		sctpt_conn_free(u->st, c);
		return err == EINVAL ? -TBADADDR : err;
	}
	tpi_conn_ok(tp);
	sctpt_serve_owned(u->as, 1);
	return 0;
}

/* ------------------------------------------------------------------- answering */

/* Take the turn of the caller of @in.  NULL: it has gone, or, *err EAGAIN,
 * not now. */
static struct sctpt_conn *
caller(struct sctpt *u, struct tpi_ind *in, int *err)
{
	struct sctpt_slot *sl = in->gone == 0 ? in->cookie : NULL;

	*err = 0;
	if (sl == NULL)
		return NULL;
	if (!sctpt_turn(sl, 1)) {
		tpi_retry(&u->tpi);
		*err = EAGAIN;
		return NULL;
	}
	if (sl->busy != 0) {
		sctpt_serve_owned(sl, 0);
		tpi_retry(&u->tpi);
		*err = EAGAIN;
		return NULL;
	}
	if (sl->conn != NULL && sl->conn->listener == u && sctpt_begin(sl))
		return sl->conn;
	sctpt_turn_leave(sl);
	return NULL;
}

int
sctpt_accept(struct tpi *tp, struct tpi *to, struct tpi_ind *in, mblk_t *data)
{
	struct sctpt *u = sctpt_of(tp), *at = sctpt_of(to);
	struct sctpt_conn *c;
	int err;

	(void)data;
	if (part(at) != 0)
		return EAGAIN;
	c = caller(u, in, &err);
	if (c == NULL)
		return err != 0 ? err : -TBADSEQ;
	c->listener = NULL;
	c->ref = to->ref;
	at->from = c->from;
	at->family = u->family;
	at->asgen = c->slot->gen;
	str_store(&at->as, c->slot);
	sctpt_count(c, at);
	if (u->sock && at != u)
		sctpt_sock_inherit(u, at);
	STR_POINT("sctp:accepting");
	c->user = at;
	sctpt_serve_owned(c->slot, 1);
	sctpt_late_place(u);
	return 0;
}

int
sctpt_disconnect(struct tpi *tp, struct tpi_ind *in, mblk_t *data)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpt_conn *c = NULL;
	int err;

	if (in != NULL)
		c = caller(u, in, &err);
	else
		err = sctpt_enter(u, 1, &c);
	if (err == EAGAIN)
		return EAGAIN;
	if (c != NULL)
		sctpt_end(c, data);
	if (in != NULL)
		sctpt_late_place(u);
	if (in == NULL && !sctpt_near_quiet(u))
		return EAGAIN; /* then there is no association any more */
	if (data != NULL)
		freemsg(data);
	if (in == NULL)
		str_store(&u->as, (struct sctpt_slot *)NULL);
	return 0;
}

/* sctpt_many_abort - end association @id now */
int
sctpt_many_abort(struct sctpt *u, uint32_t id)
{
	struct sctp_env env;
	struct sctpt_conn *c;
	int err = sctpt_enter_wait(u, id, &c);

	if (err != 0)
		return err;
	sctpt_env(&env, c);
	sctp_abort(&env, c->as, NULL, 0); /* the user is told */
	sctpt_serve_owned(c->slot, 1);
	return 0;
}

/* ------------------------------------------------------------- handing over */

struct peel {
	struct sctpt *u;
	struct sctpt_conn *c;
};

/* The association becomes the connection of @to; in its turn. */
static int
hand_over(struct tpi *to, void *arg)
{
	struct sctpt *at = sctpt_of(to);
	struct peel *p = arg;

	if (part(at) != 0)
		return EAGAIN;
	at->from = p->c->from;
	at->asgen = p->c->slot->gen;
	sctpt_sock_inherit(p->u, at);
	sctpt_count(p->c, at);
	str_store(&at->as, p->c->slot);
	p->c->ref = to->ref;
	p->c->id = SCTPT_ONE;
	p->c->user = at;
	return 0;
}

/*
 * sctpt_many_peel - association @id becomes the connection of the endpoint with
 * the id @acceptor.  What has been passed up stays with the old one.
 */
int
sctpt_many_peel(struct sctpt *u, uint32_t id, uint32_t acceptor)
{
	struct tpi_addr from = {.len = 0};
	struct peel p = {.u = u};
	struct sctpt_slot *sl;
	int err;

	err = sctpt_enter_wait(u, id, &p.c);
	if (err != 0)
		return EINVAL;
	sl = p.c->slot;
	if (sctp_assoc_state(p.c->as) < SCTP_ESTABLISHED)
		err = EINVAL;
	from.len = sctpt_addr_put(from.buf, &p.c->peer, sl->pport, u->family);
	if (err == 0)
		err = tpi_hand_over(&u->tpi, acceptor, &from, hand_over, &p);
	if (err == 0)
		sctpt_many_forget(u, id);
	sctpt_serve_owned(sl, 1);
	return err < 0 ? EINVAL : err;
}

/* ---------------------------------------------------------- after a killed one */

/*
 * Op connected, op waits: what had a thread done that was killed in accept?
 * These wait for the turn: an association that was taken for one that is not
 * there would keep its pointer to the endpoint.
 */
int
sctpt_connected(struct tpi *tp)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpt_slot *sl = u->as;
	int yes;

	if (sl == NULL)
		return 0;
	sctpt_turn_wait(sl);
	yes = sl->gen == u->asgen && sl->conn->user == u && sctpt_begin(sl);
	sctpt_serve_owned(sl, yes);
	return yes;
}

int
sctpt_waits(struct tpi *tp, struct tpi_ind *in)
{
	struct sctpt_slot *sl = in->gone == 0 ? in->cookie : NULL;
	int yes;

	if (sl == NULL)
		return 0;
	sctpt_turn_wait(sl);
	yes = sl->conn != NULL && sl->conn->listener == sctpt_of(tp) &&
		sctpt_begin(sl);
	sctpt_serve_owned(sl, yes);
	return yes;
}

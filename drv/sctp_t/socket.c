/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets: the ioctls of <sys/sctpio.h>, for libstreams-sctp.
 *
 * An endpoint in the mode of a socket differs from others: the peer's SHUTDOWN
 * is acknowledged without its user; events are told as notes (note.c); data in a
 * wrong state, or for a stream that is not there, is dropped and is no protocol
 * error, because threads that share a socket race with each other.
 *
 * Locks.  The gate; the turn of an association, or of the home, for what is in
 * the conn.
 */
#include "sctp_t.h"

/* Copy the argument, which must have exactly @n bytes.  0, or EINVAL. */
static int
argument(const struct tpi_buf *arg, void *to, size_t n)
{
	if (arg->len != n)
		return EINVAL;
	bcopy(arg->buf, to, n);
	return 0;
}

static int
answer(mblk_t **ret, const void *p, size_t n)
{
	*ret = canon_block(p, n);
	return *ret != NULL ? 0 : ENOSR;
}

/* sctpt_sock_inherit - an endpoint accepts for another one, which is a socket's */
void
sctpt_sock_inherit(const struct sctpt *from, struct sctpt *to)
{
	uint32_t on, secs;

	to->sock = 1;
	to->tpi.calm = 1;
	to->family = from->family;
	to->conf = from->conf;
	str_store(&to->autoclose, 0u); /* one-to-many only */
	str_store(&to->recvopt, from->recvopt);
	str_store(&to->events, from->events);
	bcopy(from->keep, to->keep, sizeof(to->keep));
	sctpt_linger((struct sctpt *)(uintptr_t)from, &on, &secs);
	sctpt_set_linger(to, on, secs);
}

static int
mode(struct sctpt *u, const struct sctpio_word *w)
{
	uint32_t family = w->value & ~SCTPIO_MANY;

	if (family != AF_INET && family != AF_INET6)
		return EAFNOSUPPORT;
	if (u->home != NULL || u->as != NULL || u->sock)
		return EISCONN;
	if ((w->value & SCTPIO_MANY) != 0 && sctpt_many_begin(u) != 0)
		return ENOSR;
	u->family = family;
	u->conf.half_close = 0;
	/* RFC 6525 s6.3.1: the peer may change nothing, by default */
	u->conf.reconf = SCTP_RECONF_ON;
	u->tpi.calm = 1;
	u->tpi.backlog = 0; /* the number that listen() gets is the whole queue */
	str_store(&u->sock, 1u);
	return 0;
}

/*
 * Wake the threads that wait for a caller: the message stays at the Stream head
 * until the socket listens again.
 */
static int
deafen(struct sctpt *u)
{
	t_scalar_t prim = T_ORDREL_IND;
	mblk_t *mp = canon_block(&prim, sizeof(prim));

	if (mp == NULL)
		return ENOSR;
	DB_TYPE(mp) = M_PROTO;
	putnext(u->tpi.rq, mp);
	return 0;
}

static int
set_listen(struct sctpt *u, uint32_t n)
{
	int err;

	if (u->home == NULL)
		return EINVAL;
	if (n > SCTPT_QLEN)
		n = SCTPT_QLEN;
	err = u->many != NULL ? 0 : tpi_set_qlen(&u->tpi, n);
	if (err == 0 && n == 0 && u->many == NULL)
		err = deafen(u);
	if (err != 0)
		return err;
	sctpt_listen(u, n != 0);
	return 0;
}

/* ------------------------------------------------------------------ parameters */

/*
 * The parameters of the endpoint, or those of one of its many associations.
 * Return: 0; EINVAL: there is no such association.
 */
static int
conf_of(struct sctpt *u, uint32_t id, struct sctp_conf *ret)
{
	struct sctpt_conn *conn;

	*ret = u->conf;
	if (u->many == NULL || id == 0)
		return 0;
	if (sctpt_enter_wait(u, id, &conn) != 0)
		return EINVAL;
	sctp_get_conf(conn->as, ret);
	sctpt_serve_owned(conn->slot, 1);
	return 0;
}

static int
get_conf(struct sctpt *u, uint32_t id, mblk_t **ret)
{
	struct sctp_conf conf, *c = &conf;
	int err = conf_of(u, id, c);
	struct sctpio_conf o;

	if (err != 0)
		return err;
	o = (struct sctpio_conf){
		.assoc = id,
		.rto_initial = c->rto_initial / SCTP_MS,
		.rto_min = c->rto_min / SCTP_MS,
		.rto_max = c->rto_max / SCTP_MS,
		.cookie_life = c->cookie_life / SCTP_MS,
		.hb_interval = c->hb_interval / SCTP_MS,
		.sack_delay = c->sack_delay / SCTP_MS,
		.sack_freq = c->sack_freq,
		.assoc_max_retrans = c->assoc_max_retrans,
		.path_max_retrans = c->path_max_retrans,
		.init_max_retrans = c->init_max_retrans,
		.pf_threshold = c->pf_threshold,
		.max_burst = c->max_burst,
		.sndbuf = c->sndbuf, .rcvbuf = c->rcvbuf,
		.partial = c->partial,
		.nodelay = !c->nagle,
		.ostreams = c->ostreams, .istreams = c->istreams,
		.options = str_load(&u->recvopt),
		.pr = c->pr, .interleave = c->interleave,
		.reconf = c->reconf, .scheduler = c->scheduler,
		.maxseg = c->maxseg,
		.autoclose = str_load(&u->autoclose),
		.auth = c->auth, .hmac = {c->hmac[0], c->hmac[1]},
		.asconf = c->asconf,
		.adapts = c->adapts, .adaptation = c->adaptation,
	};
	bcopy(c->auth_chunks, o.auth_chunks, sizeof(o.auth_chunks));
	sctpt_linger(u, &o.linger, &o.linger_time);
	return answer(ret, &o, sizeof(o));
}

#define HOUR 3600000u /* ms */

/* The engine's parameters that @o says.  0, or EINVAL. */
static int
read_conf(struct sctp_conf *c, const struct sctpio_conf *o)
{
	if (o->rto_initial > HOUR || o->rto_min > HOUR || o->rto_max > HOUR ||
		o->cookie_life > HOUR || o->hb_interval > HOUR ||
		o->sack_delay > HOUR || o->linger_time > 32767)
		return EINVAL;
	if (o->ostreams > 65535 || o->istreams > 65535 ||
		o->reconf > SCTP_RECONF_ALL || o->scheduler > 255 ||
		o->autoclose > 0x7fffffff || o->hmac[0] > 255 ||
		o->hmac[1] > 255)
		return EINVAL;
	c->rto_initial = o->rto_initial * SCTP_MS;
	c->rto_min = o->rto_min * SCTP_MS;
	c->rto_max = o->rto_max * SCTP_MS;
	c->cookie_life = o->cookie_life * SCTP_MS;
	c->hb_interval = o->hb_interval * SCTP_MS;
	c->sack_delay = o->sack_delay * SCTP_MS;
	c->sack_freq = o->sack_freq;
	c->assoc_max_retrans = o->assoc_max_retrans;
	c->path_max_retrans = o->path_max_retrans;
	c->init_max_retrans = o->init_max_retrans;
	c->pf_threshold = o->pf_threshold;
	c->max_burst = o->max_burst;
	c->sndbuf = o->sndbuf;
	c->rcvbuf = o->rcvbuf;
	c->partial = o->partial;
	c->nagle = !o->nodelay;
	c->ostreams = (uint16_t)o->ostreams;
	c->istreams = (uint16_t)o->istreams;
	c->pr = o->pr != 0;
	c->interleave = o->interleave != 0;
	c->reconf = (uint8_t)o->reconf;
	c->scheduler = (uint8_t)o->scheduler;
	c->maxseg = o->maxseg;
	c->auth = o->auth != 0;
	c->hmac[0] = (uint8_t)o->hmac[0];
	c->hmac[1] = (uint8_t)o->hmac[1];
	bcopy(o->auth_chunks, c->auth_chunks, sizeof(c->auth_chunks));
	c->asconf = o->asconf != 0;
	c->adapts = o->adapts != 0;
	c->adaptation = o->adaptation;
	return sctp_conf_check(c);
}

static int
set_conf(struct sctpt *u, const struct sctpio_conf *o)
{
	struct sctpt_conn *conn;
	struct sctp_env env;
	struct sctp_conf c;
	int err = conf_of(u, o->assoc, &c);

	if (err == 0)
		err = read_conf(&c, o);
	if (err != 0)
		return err;
	if (u->many == NULL || o->assoc == 0) {
		if (c.rcvbuf != u->conf.rcvbuf)
			sctpt_set_rcvbuf(u->tpi.rq, (t_scalar_t)c.rcvbuf);
		u->conf = c;
		sctpt_set_linger(u, o->linger, o->linger_time);
		str_store(&u->recvopt, (uint32_t)(o->options != 0));
		str_store(&u->autoclose, o->autoclose);
		sctpt_near_stop(u);
		sctpt_tell_home(u);
	}
	if (sctpt_enter_wait(u, o->assoc, &conn) == 0) {
		sctpt_env(&env, conn);
		(void)sctp_set_conf(&env, conn->as, &c);
		(void)sctp_set_scheduler(conn->as,
			(enum sctp_scheduler)c.scheduler);
		sctpt_serve_owned(conn->slot, 1);
	}
	return 0;
}

static int
keep(struct sctpt *u, const struct tpi_buf *arg)
{
	struct sctpio_keep k;
	int err = argument(arg, &k, sizeof(k));

	if (err == 0)
		bcopy(k.w, u->keep, sizeof(u->keep));
	return err;
}

static int
kept(struct sctpt *u, mblk_t **ret)
{
	struct sctpio_keep k = {.assoc = 0};

	bcopy(u->keep, k.w, sizeof(k.w));
	return answer(ret, &k, sizeof(k));
}

static int
events(struct sctpt *u, const struct sctpio_word *w)
{
	uint32_t new = w->value & ~str_load(&u->events);
	struct sctpt_conn *c;
	struct sctp_env env;

	str_store(&u->events, w->value);
	u->conf.report = (w->value & SCTPIO_EV_FAILED) != 0;
	sctpt_tell_home(u);
	if (u->many != NULL)
		sctpt_many_report(u, u->conf.report);
	if (sctpt_enter_wait(u, w->assoc, &c) != 0)
		return 0;
	if (u->many == NULL) {
		sctpt_env(&env, c);
		(void)sctp_set_conf(&env, c->as, &u->conf);
	}
	if ((new & SCTPIO_EV_DRY) != 0)
		c->wet = 1; /* told at once if it is dry now */
	sctpt_serve_owned(c->slot, 1);
	return 0;
}

/* ----------------------------------------------------------------- association */

static int
status(struct sctpt *u, uint32_t id, mblk_t **ret)
{
	struct sctpio_status o = {.assoc = id, .state = T_SCTP_S_CLOSED};
	struct sctp_path_info pi;
	struct sctpt_conn *c;
	enum sctp_state state;
	struct sctp_status s;
	uint16_t out, in;
	int err = sctpt_enter_wait(u, id, &c);

	if (err != 0)
		return err;
	state = sctp_assoc_state(c->as);
	sctp_status(c->as, &s);
	sctp_streams(c->as, &out, &in);
	sctp_tags(c->as, &o.my_tag, &o.peer_tag);
	o.state = (uint32_t)state + T_SCTP_S_CLOSED;
	o.may_send = state == SCTP_COOKIE_WAIT ||
		state == SCTP_COOKIE_ECHOED || state == SCTP_ESTABLISHED;
	o.ostreams = out;
	o.istreams = in;
	o.peer_window = s.peer_window;
	o.window = s.window;
	o.unacked_chunks = s.chunks;
	o.unacked = s.unacked;
	o.unread = s.unread;
	o.fragment = s.fragment;
	o.pr = s.pr;
	o.reconf = s.reconf;
	o.interleave = s.interleave;
	o.auth = sctp_auth_hmac(c->as);
	o.asconf = s.asconf;
	o.npaths = sctp_path_count(c->as);
	while (sctp_path_info(c->as, o.primary, &pi) == 0 && !pi.primary)
		o.primary++;
	sctpt_serve_owned(c->slot, 1);
	return answer(ret, &o, sizeof(o));
}

static int
paths(struct sctpt *u, uint32_t id, mblk_t **ret)
{
	struct sctpio_paths o = {.assoc = id};
	struct sctp_path_info pi;
	struct sctpio_path *p;
	struct sctpt_conn *c;
	int err = sctpt_enter_wait(u, id, &c);

	if (err != 0)
		return err;
	while (o.n < SCTPIO_ADDRS && sctp_path_info(c->as, o.n, &pi) == 0) {
		p = &o.path[o.n];
		(void)sctpt_addr_put((unsigned char *)&p->addr, &pi.addr,
			c->slot->pport, u->family);
		p->state = pi.state;
		p->confirmed = (uint32_t)pi.confirmed;
		p->cwnd = pi.cwnd;
		p->mtu = pi.mtu;
		p->flight = pi.flight;
		p->srtt = pi.srtt / SCTP_MS;
		p->rto = pi.rto / SCTP_MS;
		p->errors = pi.errors;
		if (pi.primary)
			o.primary = o.n;
		o.n++;
	}
	sctpt_serve_owned(c->slot, 1);
	return answer(ret, &o, sizeof(o));
}

/* SCTPIO_PRIMARY, SCTPIO_BEAT */
static int
one_path(struct sctpt *u, const struct sctpio_addrs *o, int beat)
{
	struct ip_addr a[SCTPIO_ADDRS];
	struct sctpt_conn *c;
	uint16_t port;
	int err = sctpt_read_addrs(o, a, &port);

	if (err == 0)
		err = sctpt_enter_wait(u, o->assoc, &c);
	if (err != 0)
		return err;
	err = beat ? sctp_beat(c->as, &a[0]) : sctp_set_primary(c->as, &a[0]);
	sctpt_serve_owned(c->slot, 1);
	return err;
}

/* ----------------------------------------------------------------------- calls */

static int
with_word(struct sctpt *u, int cmd, const struct tpi_buf *arg, mblk_t **ret)
{
	struct sctpio_word w;
	int err = argument(arg, &w, sizeof(w));

	if (err != 0)
		return err;
	switch (cmd) {
	case SCTPIO_MODE:
		return mode(u, &w);
	case SCTPIO_LISTEN:
		return set_listen(u, w.value);
	case SCTPIO_RELEASE:
		return u->sock && u->many == NULL ? sctpt_release(u) : EINVAL;
	case SCTPIO_GCONF:
		return get_conf(u, w.assoc, ret);
	case SCTPIO_GKEEP:
		return kept(u, ret);
	case SCTPIO_EVENTS:
		return events(u, &w);
	case SCTPIO_STATUS:
		return status(u, w.assoc, ret);
	case SCTPIO_PATHS:
		return paths(u, w.assoc, ret);
	case SCTPIO_CHUNKS:
		return sctpt_chunks(u, &w, ret);
	case SCTPIO_ASSOCS:
		return u->many == NULL ? EINVAL : sctpt_many_list(u, ret);
	case SCTPIO_ABORT:
		return u->many == NULL ? EINVAL :
					 sctpt_many_abort(u, w.assoc);
	case SCTPIO_PEEL:
		return u->many == NULL ? EINVAL :
			sctpt_many_peel(u, w.assoc, w.value);
	default:
		return EINVAL;
	}
}

static int
with_addrs(struct sctpt *u, int cmd, const struct tpi_buf *arg, mblk_t **ret)
{
	struct ip_addr a[SCTPIO_ADDRS];
	struct sctpio_addrs o;
	uint16_t port;
	int err = argument(arg, &o, sizeof(o));

	if (err != 0)
		return err;
	switch (cmd) {
	case SCTPIO_BINDX:
		return sctpt_bindx(u, &o);
	case SCTPIO_PEER_PRIMARY:
		return sctpt_peer_primary(u, &o);
	case SCTPIO_CONNECT:
	case SCTPIO_FIND:
		err = u->many == NULL ? EINVAL : sctpt_read_addrs(&o, a, &port);
		if (err != 0)
			return err;
		return cmd == SCTPIO_FIND ?
			sctpt_many_find(u, &a[0], port, ret) :
			sctpt_many_connect(u, a, o.n, port, ret);
	default:
		return one_path(u, &o, cmd == SCTPIO_BEAT);
	}
}

/* sctpt_ctl - op ctl.  Get commands have a struct sctpio_word as argument. */
int
sctpt_ctl(struct tpi *tp, int cmd, const struct tpi_buf *arg, mblk_t **ret)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpio_abandoned ab;
	struct sctpio_value v;
	struct sctpio_conf o;
	struct sctpio_add a;
	int err;

	switch (cmd) {
	case SCTPIO_SCONF:
		err = argument(arg, &o, sizeof(o));
		return err != 0 ? err : set_conf(u, &o);
	case SCTPIO_SKEEP:
		return keep(u, arg);
	case SCTPIO_RESET:
		return sctpt_reset(u, arg);
	case SCTPIO_ADD:
		err = argument(arg, &a, sizeof(a));
		return err != 0 ? err : sctpt_add(u, &a);
	case SCTPIO_VALUE:
		err = argument(arg, &v, sizeof(v));
		return err != 0 ? err : sctpt_value(u, &v, ret);
	case SCTPIO_ABANDONED:
		err = argument(arg, &ab, sizeof(ab));
		return err != 0 ? err : sctpt_abandoned(u, &ab, ret);
	case SCTPIO_KEY:
		return sctpt_key(u, arg, ret);
	case SCTPIO_BINDX:
	case SCTPIO_PEER_PRIMARY:
	case SCTPIO_PRIMARY:
	case SCTPIO_BEAT:
	case SCTPIO_CONNECT:
	case SCTPIO_FIND:
		return with_addrs(u, cmd, arg, ret);
	default:
		return with_word(u, cmd, arg, ret);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: XTI_GENERIC, and of T_INET_SCTP those that are parameters of the
 * engine (struct sctp_conf).  They are for the associations that the endpoint
 * makes or accepts later.
 */
#include "sctp_t.h"

/* Indexes in tpi.val. */
enum { V_DEBUG, V_LINGER, V_LINGER_TIME, V_SNDLOWAT, V_RCVLOWAT };

#define BIG 0x7fffffff
#define INT_OPT(level_, name_, dflt_, min_, max_) \
	{level_, name_, TPI_OPT_INT, TPI_OPT_OPS, dflt_, min_, max_, 0}
#define SCTP_INT(name_, dflt_, min_, max_) \
	INT_OPT(T_INET_SCTP, name_, dflt_, min_, max_)

#define MAY_ALL (T_SCTP_MAY_RESET | T_SCTP_MAY_RESET_TSN | T_SCTP_MAY_ADD)
#define REQUEST(name_) \
	{T_INET_SCTP, name_, TPI_OPT_BYTES, TPI_OPT_OPS, 0, 0, 64, 0}

const struct tpi_opt sctpt_opts[] = {
	{XTI_GENERIC, XTI_DEBUG, TPI_OPT_INT, 0, 0, 0, BIG, V_DEBUG},
	{XTI_GENERIC, XTI_LINGER, TPI_OPT_LINGER, 0, T_NO, 0, 32767, V_LINGER},
	INT_OPT(XTI_GENERIC, XTI_RCVBUF, SCTPT_RCVBUF, 4096, 1 << 26),
	{XTI_GENERIC, XTI_RCVLOWAT, TPI_OPT_INT, 0, 1, 1, 1 << 26,
		V_RCVLOWAT},
	INT_OPT(XTI_GENERIC, XTI_SNDBUF, SCTPT_SNDBUF, 1, 1 << 26),
	{XTI_GENERIC, XTI_SNDLOWAT, TPI_OPT_INT, 0, 1, 1, 1 << 26,
		V_SNDLOWAT},
	{T_INET_SCTP, T_SCTP_NODELAY, TPI_OPT_YESNO, TPI_OPT_OPS, T_YES, T_NO,
		T_YES, 0},
	{T_INET_SCTP, T_SCTP_RECVOPT, TPI_OPT_YESNO, TPI_OPT_OPS, T_NO, T_NO,
		T_YES, 0},
	SCTP_INT(T_SCTP_PPI, 0, -BIG - 1, BIG),
	SCTP_INT(T_SCTP_SID, 0, 0, 65535),
	SCTP_INT(T_SCTP_COOKIE_LIFE, 60000, 10, 3600000),
	SCTP_INT(T_SCTP_SACK_DELAY, 200, 0, 500),
	SCTP_INT(T_SCTP_PATH_MAX_RETRANS, 5, 0, 255),
	SCTP_INT(T_SCTP_ASSOC_MAX_RETRANS, 10, 0, 255),
	SCTP_INT(T_SCTP_MAX_INIT_RETRIES, 8, 0, 255),
	SCTP_INT(T_SCTP_HEARTBEAT_ITVL, 30000, 0, 3600000),
	SCTP_INT(T_SCTP_RTO_INITIAL, 1000, 1, 3600000),
	SCTP_INT(T_SCTP_RTO_MIN, 1000, 1, 3600000),
	SCTP_INT(T_SCTP_RTO_MAX, 60000, 1, 3600000),
	SCTP_INT(T_SCTP_OSTREAMS, 10, 1, 65535),
	SCTP_INT(T_SCTP_ISTREAMS, 2048, 1, 65535),
	SCTP_INT(T_SCTP_COOKIE_INC, 60000, 0, 3600000),
	SCTP_INT(T_SCTP_MAX_BURST, 4, 0, 65535),
	{T_INET_SCTP, T_SCTP_MAXSEG, TPI_OPT_INT, TPI_OPT_OPS | TPI_OPT_RDONLY,
		0, 0, BIG, 0},
	{T_INET_SCTP, T_SCTP_STATUS, TPI_OPT_BYTES,
		TPI_OPT_OPS | TPI_OPT_RDONLY, 0, 0,
		sizeof(struct t_sctp_status), 0},
	SCTP_INT(T_SCTP_SACK_FREQUENCY, 2, 1, 255),
	{T_INET_SCTP, T_SCTP_LOCHECK, TPI_OPT_YESNO, TPI_OPT_OPS, T_NO, T_NO,
		T_YES, 0},
	{T_INET_SCTP, T_SCTP_INTERLEAVE, TPI_OPT_YESNO, TPI_OPT_OPS, T_NO,
		T_NO, T_YES, 0},
	SCTP_INT(T_SCTP_SCHEDULER, SCTP_SCHED_FCFS, SCTP_SCHED_FCFS,
		SCTP_SCHED_WEIGHTED),
	{T_INET_SCTP, T_SCTP_AUTH, TPI_OPT_YESNO, TPI_OPT_OPS, T_NO, T_NO,
		T_YES, 0},
	{T_INET_SCTP, T_SCTP_ASCONF, TPI_OPT_YESNO, TPI_OPT_OPS, T_NO, T_NO,
		T_YES, 0},
	SCTP_INT(T_SCTP_ALI, 0, -BIG - 1, BIG),
	SCTP_INT(T_SCTP_RECONF, MAY_ALL, 0, MAY_ALL),
	REQUEST(T_SCTP_RESET),
	REQUEST(T_SCTP_ADD_STREAMS),
	REQUEST(T_SCTP_ADD_IP),
	REQUEST(T_SCTP_DEL_IP),
	REQUEST(T_SCTP_SET_IP),
	{T_INET_SCTP, T_SCTP_CHANGE, TPI_OPT_INT,
		TPI_OPT_OPS | TPI_OPT_RDONLY, 0, 0, BIG, 0},
};
_Static_assert(SCTP_CLOSED + T_SCTP_S_CLOSED == T_SCTP_S_CLOSED &&
	SCTP_SHUTDOWN_ACK_SENT + T_SCTP_S_CLOSED == T_SCTP_S_SHUTDOWN_ACK_SENT,
	"enum sctp_state");
_Static_assert(STR_ARRAY_LEN(sctpt_opts) == SCTPT_NOPT, "sctp_t.h");

/* The parameter that is an option's value, and its unit. */
static uint32_t *
parameter(struct sctp_conf *c, const struct tpi_opt *o, uint32_t *ret_unit)
{
	*ret_unit = SCTP_MS;
	switch (o->name) {
	case T_SCTP_COOKIE_LIFE:
		return &c->cookie_life;
	case T_SCTP_SACK_DELAY:
		return &c->sack_delay;
	case T_SCTP_HEARTBEAT_ITVL:
		return &c->hb_interval;
	case T_SCTP_RTO_INITIAL:
		return &c->rto_initial;
	case T_SCTP_RTO_MIN:
		return &c->rto_min;
	case T_SCTP_RTO_MAX:
		return &c->rto_max;
	case T_SCTP_COOKIE_INC:
		return &c->cookie_inc;
	default:
		break;
	}
	*ret_unit = 1;
	switch (o->name) {
	case T_SCTP_PATH_MAX_RETRANS:
		return &c->path_max_retrans;
	case T_SCTP_ASSOC_MAX_RETRANS:
		return &c->assoc_max_retrans;
	case T_SCTP_MAX_INIT_RETRIES:
		return &c->init_max_retrans;
	case T_SCTP_MAX_BURST:
		return &c->max_burst;
	case T_SCTP_SACK_FREQUENCY:
		return &c->sack_freq;
	default:
		return NULL;
	}
}

/* T_SCTP_RECONF, as the engine has it, and back. */
static const struct {
	uint32_t may, reconf;
} permits[] = {
	{T_SCTP_MAY_RESET, SCTP_RECONF_OUT | SCTP_RECONF_IN},
	{T_SCTP_MAY_RESET_TSN, SCTP_RECONF_TSN},
	{T_SCTP_MAY_ADD, SCTP_RECONF_ADD_OUT | SCTP_RECONF_ADD_IN},
};

static t_scalar_t
permitted(const struct sctp_conf *c)
{
	uint32_t i, v = 0;

	for (i = 0; i < STR_ARRAY_LEN(permits); i++)
		if ((c->reconf & permits[i].reconf) != 0)
			v |= permits[i].may;
	return (t_scalar_t)v;
}

static void
permit(struct sctp_conf *c, uint32_t v)
{
	uint32_t i;

	c->reconf = SCTP_RECONF_ON;
	for (i = 0; i < STR_ARRAY_LEN(permits); i++)
		if ((v & permits[i].may) != 0)
			c->reconf |= (uint8_t)permits[i].reconf;
}

static t_scalar_t
value(struct sctpt *u, const struct tpi_opt *o)
{
	uint32_t unit, *p;

	if (o->level == XTI_GENERIC)
		return (t_scalar_t)(o->name == XTI_RCVBUF ? u->conf.rcvbuf :
							    u->conf.sndbuf);
	switch (o->name) {
	case T_SCTP_NODELAY:
		return u->conf.nagle ? T_NO : T_YES;
	case T_SCTP_MAXSEG: /* of a DATA chunk, over IPv4 */
		return (t_scalar_t)u->conf.mtu - 20 - 12 - 16;
	case T_SCTP_RECVOPT:
		return u->recvopt ? T_YES : T_NO;
	case T_SCTP_LOCHECK:
		return u->check ? T_YES : T_NO;
	case T_SCTP_SCHEDULER:
		return u->conf.scheduler;
	case T_SCTP_INTERLEAVE:
		return u->conf.interleave ? T_YES : T_NO;
	case T_SCTP_AUTH:
		return u->conf.auth ? T_YES : T_NO;
	case T_SCTP_ASCONF:
		return u->conf.asconf ? T_YES : T_NO;
	case T_SCTP_ALI:
		return (t_scalar_t)u->conf.adaptation;
	case T_SCTP_RECONF:
		return permitted(&u->conf);
	case T_SCTP_CHANGE:
		return sctpt_change_state(u);
	case T_SCTP_PPI:
		return (t_scalar_t)u->ppid;
	case T_SCTP_SID:
		return (t_scalar_t)u->sid;
	case T_SCTP_OSTREAMS:
		return u->conf.ostreams;
	case T_SCTP_ISTREAMS:
		return u->conf.istreams;
	default:
		p = parameter(&u->conf, o, &unit);
		return p != NULL ? (t_scalar_t)(*p / unit) : 0;
	}
}

/* Of the association of @c; context: the turn. */
static void
describe(const struct sctpt *u, const struct sctpt_conn *c,
	struct t_sctp_status *ret)
{
	struct sctp_status s;
	uint16_t out, in;

	sctp_streams(c->as, &out, &in);
	sctp_status(c->as, &s);
	ret->state = (t_uscalar_t)sctp_assoc_state(c->as) + T_SCTP_S_CLOSED;
	ret->direct = (t_uscalar_t)sctpt_near_is(u);
	ret->ostreams = out;
	ret->istreams = in;
	ret->next_tsn = s.next_tsn;
	ret->acked_tsn = s.acked_tsn;
	ret->rcvd_tsn = s.rcvd_tsn;
	ret->unacked = s.unacked;
	ret->flight = s.flight;
	ret->unread = s.unread;
	ret->peer_window = s.peer_window;
	ret->window = s.window;
	ret->addresses = sctp_path_count(c->as);
	ret->cwnd = s.cwnd;
	ret->srtt = s.srtt;
	ret->rto = s.rto;
}

/* T_SCTP_STATUS: without an association the state, and zeros. */
static void
status(struct sctpt *u, struct t_sctp_status *ret)
{
	struct sctpt_slot *sl = u->as;

	bzero(ret, sizeof(*ret));
	ret->state = T_SCTP_S_CLOSED;
	if (sl == NULL)
		return;
	sctpt_turn_wait(sl);
	if (sl->gen == u->asgen && sl->busy == 0 && sl->conn->user == u)
		describe(u, sl->conn, ret);
	sctpt_turn_leave(sl);
}

int
sctpt_getopt(struct tpi *tp, const struct tpi_opt *o, void *val,
	unsigned int *len)
{
	struct t_sctp_status s;

	if (o->level == T_INET_SCTP && o->name == T_SCTP_STATUS) {
		status(sctpt_of(tp), &s);
		bcopy(&s, val, sizeof(s));
		*len = sizeof(s);
		return 0;
	}
	if (o->type == TPI_OPT_BYTES) {
		*len = 0; /* a request has no value */
		return 0;
	}
	*(t_scalar_t *)val = value(sctpt_of(tp), o);
	*len = sizeof(t_scalar_t);
	return 0;
}

/*
 * Set the stream of messages without options.  An association has the number
 * of its streams from the beginning, and one that is not there is refused.
 */
static int
set_stream(struct sctpt *u, uint32_t v)
{
	unsigned int state = u->tpi.state;

	if ((state == TS_DATA_XFER || state == TS_WREQ_ORDREL) &&
		v >= str_load(&u->nout))
		return EINVAL;
	u->sid = v;
	return 0;
}

static void
set_parameter(struct sctpt *u, const struct tpi_opt *o, t_scalar_t v)
{
	struct sctp_conf c = u->conf;
	uint32_t unit, *p = parameter(&c, o, &unit);

	if (p == NULL)
		return;
	*p = (uint32_t)v * unit;
	/* the three limits of RTO are set one after the other */
	if (o->name == T_SCTP_RTO_MIN && c.rto_initial < c.rto_min)
		c.rto_initial = c.rto_min;
	if (c.rto_max < c.rto_initial && o->name != T_SCTP_RTO_MAX)
		c.rto_max = c.rto_initial;
	if (c.rto_initial > c.rto_max)
		c.rto_initial = c.rto_max;
	if (c.rto_min > c.rto_initial)
		c.rto_min = c.rto_initial;
	if (sctp_conf_check(&c) == 0)
		u->conf = c;
}

/*
 * sctpt_tell_home - the parameters of @u have changed: callers to come get those
 * of its home
 */
void
sctpt_tell_home(struct sctpt *u)
{
	struct sctpt_slot *sl = u->home;

	if (sl == NULL)
		return;
	sctpt_turn_wait(sl);
	if (sctpt_in_use(sl) && sl->conn->user == u)
		sl->conn->ep.conf = u->conf;
	sctpt_turn_leave(sl);
}

static int
set_generic(struct sctpt *u, const struct tpi_opt *o, t_scalar_t v)
{
	if (o->name == XTI_RCVBUF) {
		u->conf.rcvbuf = (uint32_t)v;
		sctpt_set_rcvbuf(u->tpi.rq, v);
	} else if (o->name == XTI_SNDBUF) {
		u->conf.sndbuf = (uint32_t)v;
	}
	sctpt_tell_home(u);
	return 0;
}

int
sctpt_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len)
{
	struct sctpt *u = sctpt_of(tp);
	t_scalar_t v;

	if (o->type == TPI_OPT_BYTES)
		return sctpt_request(u, o->name, val, len);
	bcopy(val, &v, sizeof(v));
	if (o->level == XTI_GENERIC)
		return set_generic(u, o, v);
	switch (o->name) {
	case T_SCTP_NODELAY:
		u->conf.nagle = v == T_NO;
		break;
	case T_SCTP_RECVOPT:
		str_store(&u->recvopt, (uint32_t)(v == T_YES));
		sctpt_near_stop(u);
		return 0;
	case T_SCTP_LOCHECK:
		str_store(&u->check, (uint32_t)(v == T_YES));
		str_short_break(WR(tp->rq));
		sctpt_near_stop(u);
		return 0;
	case T_SCTP_PPI:
		u->ppid = (uint32_t)v;
		return 0;
	case T_SCTP_SID:
		return set_stream(u, (uint32_t)v);
	case T_SCTP_SCHEDULER:
		u->conf.scheduler = (uint8_t)v;
		break;
	case T_SCTP_INTERLEAVE:
		u->conf.interleave = v == T_YES;
		break;
	case T_SCTP_AUTH: /* RFC 5061 s4.2.7: without it no ASCONF */
		u->conf.auth = v == T_YES;
		u->conf.asconf = u->conf.asconf && u->conf.auth;
		break;
	case T_SCTP_ASCONF:
		u->conf.asconf = v == T_YES;
		u->conf.auth = u->conf.auth || u->conf.asconf;
		break;
	case T_SCTP_ALI:
		u->conf.adapts = v != 0;
		u->conf.adaptation = (uint32_t)v;
		break;
	case T_SCTP_RECONF:
		permit(&u->conf, (uint32_t)v);
		break;
	case T_SCTP_OSTREAMS:
		u->conf.ostreams = (uint16_t)v;
		break;
	case T_SCTP_ISTREAMS:
		u->conf.istreams = (uint16_t)v;
		break;
	default:
		set_parameter(u, o, v);
		break;
	}
	sctpt_tell_home(u);
	return 0;
}

/* sctpt_conf - the parameters of a new endpoint */
void
sctpt_conf(struct sctp_conf *c)
{
	sctp_conf_default(c);
	c->rcvbuf = SCTPT_RCVBUF;
	c->sndbuf = SCTPT_SNDBUF;
	c->mtu = SCTPT_LO_MTU;
	c->half_close = 1;
}

/* Is data delivered after a close?  Not with an XTI_LINGER of 0. */
int
sctpt_lingers(const struct sctpt *u)
{
	return u->tpi.val[V_LINGER] != T_YES ||
		u->tpi.val[V_LINGER_TIME] != 0;
}

/* sctpt_linger - XTI_LINGER */
void
sctpt_linger(struct sctpt *u, uint32_t *ret_on, uint32_t *ret_secs)
{
	*ret_on = u->tpi.val[V_LINGER] == T_YES;
	*ret_secs = *ret_on ? (uint32_t)u->tpi.val[V_LINGER_TIME] : 0;
}

void
sctpt_set_linger(struct sctpt *u, uint32_t on, uint32_t secs)
{
	u->tpi.val[V_LINGER] = on ? T_YES : T_NO;
	u->tpi.val[V_LINGER_TIME] = on ? (t_scalar_t)secs : T_UNSPEC;
}

/* sctpt_set_rcvbuf - set the limit of data that waits to be read */
void
sctpt_set_rcvbuf(queue_t *rq, t_scalar_t n)
{
	mblk_t *mp = allocb(sizeof(struct stroptions), BPRI_MED);
	struct stroptions *so;

	if (mp == NULL)
		return;
	DB_TYPE(mp) = M_SETOPTS;
	so = (struct stroptions *)(void *)mp->b_wptr;
	mp->b_wptr += sizeof(*so);
	bzero(so, sizeof(*so));
	so->so_flags = SO_HIWAT | SO_LOWAT;
	so->so_hiwat = (size_t)n;
	so->so_lowat = (size_t)n / 4;
	putnext(rq, mp);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What an association tells its user: indications, data, the end.
 *
 * All of it is laid on the read queue of the user's stream during the turn, so
 * its order is that of the events, and a message that has left the engine is on
 * the queue before the turn ends.  The queue's service procedure sends it up
 * (drv/tpi).  Data is taken from the engine while the queue is short; what is
 * left there closes the window that the peer sees.
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

#define AT_ONCE 128u /* messages in a turn, when many are small */
#define PIECE 65536u /* bytes of a message in one block, at most */

#define OPT_SIZE (sizeof(struct t_opthdr) + sizeof(uint32_t))
#define NOPTS 4u /* of a message: PPI, SID, SSN, TSN */
_Static_assert(sizeof(struct t_opthdr) + sizeof(struct sctpio_rcvinfo) <=
	NOPTS * OPT_SIZE, "header()");

/* Room for the largest primitive with data; NULL: no memory. */
static mblk_t *
header(void)
{
	size_t n = sizeof(struct T_optdata_ind) + NOPTS * OPT_SIZE;
	mblk_t *mp = allocb(n, BPRI_MED);

	if (mp == NULL)
		return NULL;
	bzero(mp->b_wptr, n);
	DB_TYPE(mp) = M_PROTO;
	return mp;
}

static void
put_opt(mblk_t *hd, uint32_t name, uint32_t value)
{
	struct t_opthdr h = {.len = OPT_SIZE, .level = T_INET_SCTP,
		.name = name, .status = T_SUCCESS};

	bcopy(&h, hd->b_wptr, sizeof(h));
	bcopy(&value, hd->b_wptr + sizeof(h), sizeof(value));
	hd->b_wptr += OPT_SIZE;
}

static void
get_rcvinfo(const struct sctpt_conn *c, const struct sctp_info *info,
	uint32_t unordered, struct sctpio_rcvinfo *ret)
{
	struct sctp_status s;

	sctp_status(c->as, &s);
	*ret = (struct sctpio_rcvinfo){.assoc = c->id, .sid = info->sid,
		.ssn = info->ssn, .ppid = info->ppid, .tsn = info->tsn,
		.cumtsn = s.rcvd_tsn, .unordered = unordered != 0,
		.more = (info->flags & SCTP_RECV_MORE) != 0};
}

/* The same for a socket, in one option. */
static void
put_rcvinfo(mblk_t *hd, const struct sctpt_conn *c,
	const struct sctp_info *info, uint32_t unordered)
{
	struct t_opthdr h = {.len = sizeof(h) + sizeof(struct sctpio_rcvinfo),
		.level = T_INET_SCTP, .name = T_SCTP_RCVINFO,
		.status = T_SUCCESS};
	struct sctpio_rcvinfo ri;

	get_rcvinfo(c, info, unordered, &ri);
	bcopy(&h, hd->b_wptr, sizeof(h));
	bcopy(&ri, hd->b_wptr + sizeof(h), sizeof(ri));
	hd->b_wptr += h.len;
}

/* A T_OPTDATA_IND: what the message has on the wire. */
static void
set_options(mblk_t *hd, const struct sctpt_conn *c,
	const struct sctp_info *info, uint32_t unordered)
{
	struct T_optdata_ind *oi = (struct T_optdata_ind *)(void *)hd->b_rptr;

	hd->b_wptr += sizeof(*oi);
	oi->PRIM_type = T_OPTDATA_IND;
	oi->DATA_flag = ((info->flags & SCTP_RECV_MORE) != 0 ? T_ODF_MORE : 0) |
		((info->flags & SCTP_SEND_UNORDERED) != 0 ? T_ODF_EX : 0);
	oi->OPT_offset = sizeof(*oi);
	if (c->user->sock) {
		put_rcvinfo(hd, c, info, unordered);
	} else {
		put_opt(hd, T_SCTP_PPI, info->ppid);
		put_opt(hd, T_SCTP_SID, info->sid);
		put_opt(hd, T_SCTP_SSN, info->ssn);
		put_opt(hd, T_SCTP_TSN, info->tsn);
	}
	oi = (struct T_optdata_ind *)(void *)hd->b_rptr;
	oi->OPT_length = (t_scalar_t)(MBLKL(hd) - (ssize_t)sizeof(*oi));
}

/* A T_DATA_IND or T_EXDATA_IND. */
static void
set_plain(mblk_t *hd, const struct sctp_info *info)
{
	struct T_data_ind *di = (struct T_data_ind *)(void *)hd->b_rptr;

	hd->b_wptr += sizeof(*di);
	di->MORE_flag = (info->flags & SCTP_RECV_MORE) != 0;
	di->PRIM_type = (info->flags & SCTP_SEND_UNORDERED) != 0 ?
		T_EXDATA_IND : T_DATA_IND;
}

/* One of many associations: @mp as a datagram.  0: no memory. */
static int
lay_unit(struct sctpt_conn *c, mblk_t *mp, const struct sctp_info *info,
	uint32_t unordered, mblk_t *hd)
{
	struct sctpio_rcvinfo ri;

	freemsg(hd);
	get_rcvinfo(c, info, unordered, &ri);
	hd = sctpt_unit(c, T_SCTP_RCVINFO, &ri, sizeof(ri));
	if (hd == NULL) {
		freemsg(mp);
		return 0;
	}
	hd->b_cont = mp;
	if (tpi_unitdata_force(&c->user->tpi, hd) != 0)
		freemsg(hd);
	return 1;
}

/*
 * Does a message go up with options?  A socket's user can ask for them when the
 * message is already on the queue: it has them if they say anything.
 */
static int
is_described(const struct sctpt *u, const struct sctp_info *info,
	uint32_t unordered)
{
	return str_load(&u->recvopt) != 0 ||
		(u->sock && (info->sid != 0 || info->ppid != 0 || unordered));
}

/* Take one message, or a part of one.  0: no memory. */
static int
take(struct sctpt_conn *c, const struct sctp_env *env)
{
	size_t n = sctp_readable(c->as), got;
	struct sctp_info info;
	uint32_t unordered;
	mblk_t *mp, *hd;
	int described;

	if (n > PIECE)
		n = PIECE;
	mp = allocb(n, BPRI_MED);
	hd = header();
	if (mp == NULL || hd == NULL) {
		freemsg(mp);
		freemsg(hd);
		return 0;
	}
	got = sctp_recv(env, c->as, &info, mp->b_wptr, n);
	c->active_at = env->now;
	mp->b_wptr += got;
	unordered = info.flags & SCTP_SEND_UNORDERED;
	/* a socket's user gets messages in the order in which they come */
	if (c->user->sock)
		info.flags &= ~SCTP_SEND_UNORDERED;
	if ((info.flags & SCTP_RECV_CUT) != 0 && c->user->sock) {
		freemsg(mp);
		freemsg(hd);
		return sctpt_note_cut(c, &info);
	}
	if (c->user->many != NULL)
		return lay_unit(c, mp, &info, unordered, hd);
	described = is_described(c->user, &info, unordered);
	if (!described && info.flags == 0) {
		freeb(hd); /* the unit, complete: M_DATA */
	} else {
		if (described)
			set_options(hd, c, &info, unordered);
		else
			set_plain(hd, &info);
		hd->b_cont = mp;
		mp = hd;
	}
	if (tpi_data_force(&c->user->tpi, mp, 0, 0) != 0)
		freemsg(mp);
	return 1;
}

/* sctpt_is_full - does the user of @c, if there is one, not read for now? */
int
sctpt_is_full(const struct sctpt_conn *c)
{
	return c->user != NULL && c->user->tpi.rq->q_count >= SCTPT_HIWAT;
}

/* sctpt_wait_room - the rest waits in the engine until the user has read */
void
sctpt_wait_room(struct sctpt_conn *c)
{
	str_store(&c->slot->full, 1u);
	str_store(&c->user->stuck, 1u);
	qenable(c->user->tpi.rq);
}

/*
 * Data for the user.
 * @all: whatever room there is, because the connection has ended
 */
static void
data(struct sctpt_conn *c, const struct sctp_env *env, int all)
{
	uint32_t n = 0;

	str_store(&c->slot->full, 0u);
	while (sctp_readable(c->as) != 0) {
		if (!all && (n++ == AT_ONCE || sctpt_is_full(c))) {
			sctpt_wait_room(c);
			return;
		}
		if (!take(c, env)) {
			str_store(&c->slot->full, 1u);
			str_store(&c->user->stuck, 1u);
			tpi_retry(&c->user->tpi);
			return;
		}
	}
}

/* The errno of a T_DISCON_IND. */
static int
reason(const struct sctpt_conn *c)
{
	switch (sctp_down_reason(c->as)) {
	case SCTP_DOWN_PEER:
		return c->calling ? ECONNREFUSED : ECONNRESET;
	case SCTP_DOWN_REFUSED:
		return ECONNREFUSED;
	case SCTP_DOWN_UNREACHABLE:
	case SCTP_DOWN_STALE:
	case SCTP_DOWN_GUARD:
		return ETIMEDOUT;
	case SCTP_DOWN_PROTOCOL:
		return EPROTO;
	default:
		return ECONNRESET;
	}
}

/* The user's data in the peer's ABORT; NULL: none, or no memory. */
static mblk_t *
last_words(const struct sctpt_conn *c)
{
	const unsigned char *p;
	mblk_t *mp = NULL;
	size_t n;

	if (sctp_down_reason(c->as) != SCTP_DOWN_PEER ||
		sctp_peer_cause(c->as, &p, &n) != SCTP_E_USER || n == 0)
		return NULL;
	mp = allocb(n, BPRI_MED);
	if (mp == NULL)
		return NULL;
	bcopy(p, mp->b_wptr, n);
	mp->b_wptr += n;
	return mp;
}

/* The peer's addresses, the one that has been used first; bytes. */
static unsigned int
put_peer(const struct sctpt_conn *c, uint32_t family, unsigned char *sa)
{
	uint32_t i, n = sctp_path_count(c->as);
	unsigned int len = 0;
	struct ip_addr a;
	int ok;

	for (i = 0; i < n; i++) {
		(void)sctp_path_state(c->as, i, &a, &ok);
		len += sctpt_addr_put(sa + len, &a, c->slot->pport, family);
	}
	return len;
}

#define LIST (SCTP_PATHS * sizeof(struct sockaddr_in6))

/* sctpt_count - @c gets the user @u: how many streams it may send on */
void
sctpt_count(const struct sctpt_conn *c, struct sctpt *u)
{
	uint16_t out, in;

	sctp_streams(c->as, &out, &in);
	str_store(&u->nout, (uint32_t)out);
}

static int
say_connected(struct sctpt_conn *c)
{
	unsigned char sa[LIST];
	struct tpi_buf res = {sa, put_peer(c, c->user->family, sa)};

	if (c->user->many != NULL)
		return 0; /* a note tells it */
	sctpt_count(c, c->user);
	return tpi_conn_con(&c->user->tpi, &res, NULL);
}

/* sctpt_conn_ind - tell the listener's user of its caller */
int
sctpt_conn_ind(struct sctpt_conn *c, const struct sctp_env *env)
{
	unsigned char sa[LIST];
	struct tpi_buf from = {sa, put_peer(c, c->listener->family, sa)};

	(void)env;
	return tpi_conn_ind(&c->listener->tpi, &from, NULL, c->slot);
}

/*
 * The peer has shut down.  A user that wants to know when the association is
 * over gets the end behind that.
 */
static int
is_released(struct sctpt_conn *c)
{
	if (!c->released || c->said || c->user == NULL ||
		sctp_readable(c->as) != 0)
		return 0;
	if ((c->user->many == NULL && !sctpt_wants(c, SCTPIO_EV_ASSOC)) ||
		sctp_down_reason(c->as) != SCTP_DOWN_NOT)
		return 1;
	sctpt_note_shut(c);
	return 0;
}

/* The peer has shut down, and the user has all its data. */
static void
release(struct sctpt_conn *c)
{
	c->said = 1;
	sctpt_near_in_end(c);
	sctpt_note_shut(c);
	if (sctp_down_reason(c->as) != SCTP_DOWN_NOT)
		sctpt_note_down(c, 0, SCTPIO_COMM_DONE);
	if (c->user->many == NULL)
		(void)tpi_ordrel_ind(&c->user->tpi, NULL);
	if (c->ours || c->user->many != NULL)
		c->user = NULL; /* the rest goes on without it */
}

static void
restarted(struct sctpt_conn *c, const struct sctp_env *env)
{
	sctpt_tell_end(c, ECONNRESET, NULL);
	sctp_abort(env, c->as, NULL, 0);
}

/*
 * sctpt_events - look at what has happened to the association
 * Context: the turn; the stream of the user, or the listener, is held.
 */
void
sctpt_events(struct sctpt_conn *c, const struct sctp_env *env)
{
	uint32_t ev = sctp_events(c->as);

	if ((ev & (SCTP_EV_FAILED | SCTP_EV_DOWN)) != 0)
		sctpt_failures(c, env);
	if ((ev & SCTP_EV_RESTART) != 0)
		restarted(c, env);
	if ((ev & (SCTP_EV_UP | SCTP_EV_PATH | SCTP_EV_ADDR_PEER)) != 0)
		sctpt_conn_name(c, c->slot);
	if ((ev & SCTP_EV_ADDR) != 0)
		sctpt_addr_answered(c, env);
	if ((ev & SCTP_EV_SHUTDOWN) != 0)
		c->released = 1;
	if (c->calling && sctp_assoc_state(c->as) >= SCTP_ESTABLISHED &&
		c->user != NULL) {
		if (say_connected(c) == ENOSR) {
			str_store(&c->slot->full, 1u); /* again in a tick */
			tpi_retry(&c->user->tpi);
			return;
		}
		c->calling = 0;
	}
	if (c->user != NULL && !c->calling && !c->told_up)
		sctpt_note_up(c);
	if ((ev & SCTP_EV_AUTH) != 0 && !c->calling)
		sctpt_note_key(c); /* before the data that has it */
	/* a message may also wait for the peer, without packets: near.c */
	if ((ev & (SCTP_EV_ROOM | SCTP_EV_SHUTDOWN)) != 0 && c->user != NULL)
		qenable(WR(c->user->tpi.rq));
	if (c->user != NULL && !c->calling)
		data(c, env, sctp_down_reason(c->as) > SCTP_DOWN_SHUTDOWN);
	/* data for a stream that was closed: as TCP's reset */
	if (c->gone && sctp_readable(c->as) != 0)
		sctp_abort(env, c->as, NULL, 0);
	sctpt_changes(c, env);
	if (c->user != NULL && !c->calling && c->user->sock)
		sctpt_note_events(c, ev);
	if (is_released(c))
		release(c);
	if (sctp_down_reason(c->as) > SCTP_DOWN_SHUTDOWN ||
		(sctp_down_reason(c->as) == SCTP_DOWN_SHUTDOWN && c->calling))
		sctpt_tell_end(c, reason(c), last_words(c));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * getmsg(2), getpmsg(2), putmsg(2), putpmsg(2).
 *
 * A message that is taken in parts stays first on the queue; once its whole
 * control part has been delivered the rest is an ordinary data message.
 * The caller's pointers may be bad: everything is copied out before the message
 * is consumed, so EFAULT loses nothing.
 */
#include "core.h"
#include "headq.h"
#include "sig.h"
#include "sock/sock.h"
#include "source.h"

#include <str/builtin.h>

#define RS_HIPRI 1
#define MSG_HIPRI 1
#define MSG_ANY 2
#define MSG_BAND 4
#define MORECTL 1
#define MOREDATA 2
#define INLINE_MAX 32768u

#define WR_FLAGS \
	(STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_CLOSED | STR_H_PLEX | \
		STR_H_NORD)

/* Not opened for this access: possible only for FIFOs and devices. */
#define NOT_FOR(sd, hc, mode) \
	((str_load(&(sd)->flags) & (STR_H_FIFO | STR_H_DEV)) != 0 && \
		((hc)->fflags & 3) == (mode))
#define READING 0
#define WRITING 1

/* ---------------------------------------------------------------- putmsg */

/* Error of a putmsg; EPIPE is accompanied by SIGPIPE. */
static int
put_error(struct str_head *sd)
{
	uint32_t f = str_load(&sd->flags);

	if (f & STR_H_PLEX)
		return EINVAL;
	if (f & STR_H_WRERR)
		return str_head_wrerr(sd);
	if (f & (STR_H_PEER | STR_H_CLOSED | STR_H_NORD))
		return (f & STR_H_DEV) ? ENXIO : EPIPE;
	if (f & STR_H_HUP)
		return ENXIO;
	return 0;
}

struct parts {
	const void *cbuf, *dbuf;
	ssize_t clen, dlen; /* -1: no such part */
	int band;
	bool hipri;
};

/*
 * Check the packet size against the limits of the topmost module, or the
 * driver.
 */
static int
packet_size(struct str_head *sd, ssize_t n)
{
	queue_t *q;
	int err = 0;

	if (n < 0 || (str_load(&sd->flags) & (STR_H_MODS | STR_H_DEV)) == 0)
		return 0;
	(void)str_claim(sd->plumb);
	q = sd->qp->wq.q_next;
	if (q != NULL && (n < q->q_minpsz ||
		    (q->q_maxpsz > 0 && n > q->q_maxpsz)))
		err = ERANGE;
	str_unclaim(sd->plumb);
	return err;
}

/*
 * Check the arguments of putmsg(2) and putpmsg(2) according to SVR4 and POSIX.
 */
static int
put_args(struct str_head *sd, const struct str_strbuf *uctl,
	const struct str_strbuf *udata, int band, int flags, struct parts *p)
{
	struct str_strbuf sb;

	p->clen = p->dlen = -1;
	p->cbuf = p->dbuf = NULL;
	if (uctl != NULL) {
		if (host_copyin(uctl, &sb, sizeof(sb)) != 0)
			return EFAULT;
		p->clen = sb.len < 0 ? -1 : sb.len;
		p->cbuf = sb.buf;
	}
	if (udata != NULL) {
		if (host_copyin(udata, &sb, sizeof(sb)) != 0)
			return EFAULT;
		p->dlen = sb.len < 0 ? -1 : sb.len;
		p->dbuf = sb.buf;
	}
	p->hipri = false;
	p->band = 0;
	if (band == -1) {
		if (flags != 0 && flags != RS_HIPRI)
			return EINVAL;
		p->hipri = flags == RS_HIPRI;
	} else {
		if (flags != MSG_HIPRI && flags != MSG_BAND)
			return EINVAL;
		if (flags == MSG_HIPRI && band != 0)
			return EINVAL;
		if (band < 0 || band > 255)
			return EINVAL;
		p->hipri = flags == MSG_HIPRI;
		p->band = band;
	}
	if (p->hipri && p->clen < 0)
		return EINVAL;
	if (p->clen > (ssize_t)STR_CTLSZ || p->dlen > (ssize_t)STR_MSGSZ)
		return ERANGE;
	return packet_size(sd, p->dlen);
}

/* The message as blocks. */
static int
make_message(const struct parts *p, mblk_t **ret)
{
	mblk_t *mp = NULL, *dp = NULL;
	int err = 0;

	if (p->clen >= 0) {
		mp = str_msg_from_user(p->cbuf, (size_t)p->clen,
			p->hipri ? M_PCPROTO : M_PROTO, &err);
		if (mp == NULL)
			return err;
	}
	if (p->dlen >= 0) {
		dp = str_msg_from_user(p->dbuf, (size_t)p->dlen, M_DATA, &err);
		if (dp == NULL) {
			freemsg(mp);
			return err;
		}
	}
	mp = linkmsg(mp, dp);
	mp->b_band = (unsigned char)p->band;
	mp->b_flag |= MSGDELIM; /* SNDHOLD never joins it */
	*ret = mp;
	return 0;
}

/*
 * Send @mp down the stream, with its band and through modules.  Consumes @mp.
 */
static int
send_slow(struct str_head *sd, struct host_call *hc, mblk_t *mp,
	const struct parts *p)
{
	struct str_plumb *pl = sd->plumb;
	struct host_call *old = host_tls.call;
	bool tried = false;
	/* this thread has slept once, or will not sleep: write_message() */
	bool ask_canput = p->band != 0 || (hc->fflags & STR_O_NONBLOCK) != 0;
	queue_t *q;
	int err;

	if ((str_load(&sd->flags) & STR_H_DELIM) == 0)
		mp->b_flag &= (unsigned short)~MSGDELIM;
	for (;;) {
		if (str_load(&sd->flags) & STR_H_LOOK) {
			err = str_head_look(sd, hc);
			if (err != 0)
				break;
		}
		(void)str_claim(pl);
		err = put_error(sd);
		q = sd->qp->wq.q_next;
		/* high priority is not flow controlled */
		if (err == 0 && (p->hipri ||
			((ask_canput || q == NULL || !full_ahead(q)) &&
				bcanput(q, p->band)))) {
			host_tls.call = hc;
			str_put(q, mp);
			str_sched_leave(sd);
			host_tls.call = old;
			str_unclaim(pl);
			str_outside_sent(sd, hc,
				(hc->fflags & STR_O_NONBLOCK) == 0);
			return 0;
		}
		if (err == 0 && str_load(&pl->nrun) != 0) {
			host_tls.call = hc;
			(void)str_sched_run(pl);
			host_tls.call = old;
			if (bcanput(q, p->band)) {
				str_unclaim(pl);
				continue;
			}
		}
		str_unclaim(pl);
		if (err == 0 && (hc->fflags & STR_O_NONBLOCK) != 0 && !tried &&
		    (tried = str_sock_try(sd, hc, KS_OUT)))
			continue;
		if (err == 0)
			str_sig_refused(sd, p->band);
		if (err == 0 && (hc->fflags & STR_O_NONBLOCK)) {
			/*
			 * a thread that never sleeps would not notice the
			 * reader's death
			 */
			err = str_head_look(sd, hc);
			if (err == 0)
				err = put_error(sd);
			if (err == 0)
				err = EAGAIN;
		}
		if (err != 0)
			break;
		err = str_sleep(sd, hc, STR_SLEEP_WRITE |
			(p->band > 0 ? STR_SLEEP_BAND(p->band) : 0),
			UINT64_MAX);
		ask_canput = true;
		if (err != 0)
			break;
	}
	freemsg(mp);
	return err;
}

static int
put_slow(struct str_head *sd, struct host_call *hc, const struct parts *p)
{
	mblk_t *mp = NULL;
	int err;

	/* errors of the stream come before EFAULT */
	if (str_load(&sd->flags) & WR_FLAGS) {
		err = put_error(sd);
		if (err != 0)
			return err;
	}
	err = p->hipri || p->band != 0 ? 0 : str_sleep_room(sd, hc);
	if (err == 0)
		err = make_message(p, &mp);
	return err != 0 ? err : send_slow(sd, hc, mp, p);
}

/*
 * Band 0, no module, small enough: append a record.  Return: 0 or an errno; -1:
 * a module or no room: put_slow().
 */
static int
put_direct(struct str_head *sd, struct host_call *hc, const struct parts *p)
{
	const struct str_iov iov = {(void *)(uintptr_t)p->dbuf,
		p->dlen < 0 ? 0 : (size_t)p->dlen};
	const struct str_src src = {&iov, 0};
	struct str_headq *hq = &sd->peer->hq;
	uint32_t flags = (str_load(&sd->flags) & STR_H_DELIM) ?
		STR_REC_DELIM : 0;
	uint32_t cpu;
	bool over;
	int err;

	if ((hc->fflags & STR_O_NONBLOCK) == 0 &&
	    str_unlikely((err = headq_await(sd, hc)) != 0))
		return err;
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	str_headq_settle(hq);
	if (str_unlikely(str_load(&sd->direct) == NULL ||
		(str_load(&hq->full) != 0 && str_headq_is_full(hq)))) {
		str_hunlock(&hq->plock, STR_HOLD_P);
		return -1;
	}
	if (p->clen < 0)
		err = str_headq_append(hq, &src, (size_t)p->dlen, flags);
	else
		err = str_headq_append_msg(hq, p->cbuf, (size_t)p->clen,
			p->dbuf, p->dlen, flags);
	cpu = host_cpu();
	if (str_load(&hq->pcpu) != cpu)
		str_store(&hq->pcpu, cpu);
	over = headq_over(hq);
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (err == 0 && str_unlikely(str_load(&hq->rwant) != 0))
		str_wake_readers_from(sd, hc);
	if (over)
		str_headq_yield(hq);
	return err;
}

/*
 * Write where a process outside may read.  Plain data is sent to it; any other
 * message waits for a member, if one holds the other end.
 * Return: 0, minus an errno, or STR_INSIDE as str_outside_write().
 */
static STR_NOINLINE long
put_outside(struct str_head *sd, struct host_call *hc, const struct parts *p)
{
	bool plain = p->clen < 0 && !p->hipri && p->band == 0;
	int err = put_error(sd);
	long n = STR_INSIDE;

	if (err == 0 && plain)
		n = str_outside_write(sd, hc, p->dbuf, (size_t)p->dlen,
			(hc->fflags & STR_O_NONBLOCK) == 0);
	else if (err == 0 && str_outside_only(sd))
		err = EPIPE;
	if (err != 0)
		n = -err;
	if (n == -EPIPE)
		host_signal_self(13);
	return n > 0 ? 0 : n;
}

long
str_head_putmsg(struct str_head *sd, struct host_call *hc,
	const struct str_strbuf *uctl, const struct str_strbuf *udata,
	int band, int flags)
{
	struct parts p;
	int err;

	hc->head = sd;
	host_tls.wrote = 1;
	if (str_unlikely(NOT_FOR(sd, hc, READING)))
		return -EBADF;
	err = put_args(sd, uctl, udata, band, flags, &p);
	if (err == 0)
		err = str_tty_access(sd, hc, STR_SIGTTOU);
	if (err != 0)
		return -err;
	if (p.clen < 0 && p.dlen < 0)
		return 0; /* no part at all: no message is sent */
	if (p.clen < 0 && p.dlen == 0 && (sd->wropt & 1) == 0)
		return 0; /* an empty data part needs SNDZERO */
	if (str_unlikely((str_load(&sd->flags) & (STR_H_AWAY | STR_H_LEFT |
		    STR_H_MIXED)) != 0)) {
		long n = put_outside(sd, hc, &p);

		if (n != STR_INSIDE)
			return n;
	}
	err = -1;
	if (str_likely(!p.hipri && p.band == 0 &&
		(str_load(&sd->flags) &
			(WR_FLAGS | STR_H_LOOK | STR_H_MODS | STR_H_AWAY |
				STR_H_MIXED)) == 0 &&
		(size_t)(p.dlen > 0 ? p.dlen : 0) +
			(size_t)(p.clen > 0 ? p.clen : 0) <= INLINE_MAX))
		err = put_direct(sd, hc, &p);
	if (err == -1)
		err = put_slow(sd, hc, &p);
	if (str_unlikely(err == EPIPE))
		host_signal_self(13);
	return -err;
}

/* ------------------------------------------------------------- I_FDINSERT */

/* Equal in layout to struct strfdinsert of <stropts.h>. */
struct u_strfdinsert {
	struct str_strbuf ctl, data;
	long flags;
	int fildes;
	int offset;
};

/*
 * The token of a stream: the low half of the address of its bottommost read
 * queue, by which its driver, or the last module of a pipe's end, identifies
 * it.
 */
static uint32_t
token(struct str_head *sd)
{
	queue_t *q = &sd->qp->wq;
	uintptr_t v;

	(void)str_claim(sd->plumb);
	while (q->q_next != NULL && (str_load(&q->q_next->q_flag) & QREADR) == 0)
		q = q->q_next;
	v = (uintptr_t)RD(q);
	str_unclaim(sd->plumb);
	return (uint32_t)v;
}

/* Check the other descriptor and return its stream's token. */
static int
token_of(struct host_call *hc, int fd, uint32_t *ret)
{
	struct str_head *other = str_head_of_fd(hc, fd);
	int err;

	if (other == NULL)
		return EINVAL;
	err = str_head_state_error(other);
	if (err == 0)
		*ret = token(other);
	return err;
}

long
str_head_fdinsert(struct str_head *sd, struct host_call *hc, const void *uarg)
{
	struct u_strfdinsert u;
	struct parts p = {.band = 0};
	mblk_t *mp = NULL;
	uint32_t tok = 0;
	int err = 0;

	if (str_load(&sd->flags) & WR_FLAGS)
		err = put_error(sd);
	if (err == 0 && host_copyin(uarg, &u, sizeof(u)) != 0)
		err = EFAULT;
	if (err != 0)
		goto out;
	if ((u.flags != 0 && u.flags != RS_HIPRI) || u.offset < 0 ||
	    (u.offset & 3) != 0 || u.ctl.len < (int)sizeof(tok) ||
	    u.offset > u.ctl.len - (int)sizeof(tok))
		return -EINVAL;
	p.cbuf = u.ctl.buf;
	p.clen = u.ctl.len;
	p.dbuf = u.data.buf;
	p.dlen = u.data.len < 0 ? -1 : u.data.len;
	p.hipri = u.flags == RS_HIPRI;
	if (p.clen > (ssize_t)STR_CTLSZ || p.dlen > (ssize_t)STR_MSGSZ)
		return -ERANGE;
	err = packet_size(sd, p.dlen);
	if (err == 0)
		err = token_of(hc, u.fildes, &tok);
	if (err == 0)
		err = make_message(&p, &mp);
	if (err != 0)
		return -err;
	__builtin_memcpy(mp->b_rptr + u.offset, &tok, sizeof(tok));
	err = send_slow(sd, hc, mp, &p);
out:
	/* a command, not a write: no signal, and the error of a hang-up */
	return err == EPIPE ? -ENXIO : -err;
}

/* ---------------------------------------------------------------- getmsg */

struct getter {
	struct str_strbuf ctl, data; /* as the caller gave them */
	bool has_ctl, has_data;
	struct str_strbuf *uctl, *udata;
	int *uband, *uflags;
	int want;	/* MSG_HIPRI, MSG_ANY, MSG_BAND */
	int band;
	bool pmsg;
	struct str_getprim *prim; /* select by number of the primitive */
};

static int
get_args(struct getter *g)
{
	int flags;

	g->has_ctl = g->uctl != NULL;
	g->has_data = g->udata != NULL;
	g->ctl.maxlen = g->data.maxlen = -1;
	if (g->has_ctl && host_copyin(g->uctl, &g->ctl, sizeof(g->ctl)) != 0)
		return EFAULT;
	if (g->has_data &&
	    host_copyin(g->udata, &g->data, sizeof(g->data)) != 0)
		return EFAULT;
	if (host_copyin(g->uflags, &flags, sizeof(flags)) != 0)
		return EFAULT;
	g->band = 0;
	if (!g->pmsg) {
		if (flags != 0 && flags != RS_HIPRI)
			return EINVAL;
		g->want = flags == RS_HIPRI ? MSG_HIPRI : MSG_ANY;
		return 0;
	}
	if (host_copyin(g->uband, &g->band, sizeof(g->band)) != 0)
		return EFAULT;
	switch (flags) {
	case MSG_HIPRI:
	case MSG_ANY:
		if (flags == MSG_HIPRI && g->band != 0)
			return EINVAL;
		g->band = 0;
		break;
	case MSG_BAND:
		if (g->band < 0 || g->band > 255)
			return EINVAL;
		break;
	default:
		return EINVAL;
	}
	g->want = flags;
	return 0;
}

static int
put_int(int *u, int v)
{
	return host_copyout(&v, u, sizeof(v));
}

/* Store the result for the caller.  Return: 0 or EFAULT. */
static int
report(struct getter *g, int clen, int dlen, int band, bool hipri)
{
	int flags;

	if (g->has_ctl && put_int(&g->uctl->len, clen) != 0)
		return EFAULT;
	if (g->has_data && put_int(&g->udata->len, dlen) != 0)
		return EFAULT;
	if (!g->pmsg) {
		flags = hipri ? RS_HIPRI : 0;
	} else {
		flags = hipri ? MSG_HIPRI : MSG_BAND;
		if (put_int(g->uband, hipri ? 0 : band) != 0)
			return EFAULT;
	}
	return put_int(g->uflags, flags);
}

static int
out_blocks(mblk_t *mp, bool ctl, char *ubuf, uint32_t n)
{
	for (; mp != NULL && n > 0; mp = mp->b_cont) {
		bool is_ctl = mp->b_datap->db_type != M_DATA;
		uint32_t len;

		if (is_ctl != ctl)
			continue;
		len = (uint32_t)STR_MIN(str_blen(mp), (size_t)n);
		if (len != 0 && host_copyout(mp->b_rptr, ubuf, len) != 0)
			return EFAULT;
		ubuf += len;
		n -= len;
	}
	return 0;
}

/*
 * Is the message in @rec one that is wanted?  Return: 0, -ENOMSG, -EMSGSIZE.
 */
static int
choose(struct str_getprim *gp, const struct str_rec *rec)
{
	int32_t prim = STR_PRIM_ODD;
	uint32_t bit = 0;

	if (rec->ctl == ~0u) {
		prim = STR_PRIM_NONE;
		bit = STR_PRIM_DATA;
	} else if (rec->mp == NULL && rec->ctl >= sizeof(prim)) {
		__builtin_memcpy(&prim, rec->cptr, sizeof(prim));
	} else if (rec->mp != NULL && rec->mp->b_wptr - rec->mp->b_rptr >=
			(ssize_t)sizeof(prim)) {
		__builtin_memcpy(&prim, rec->mp->b_rptr, sizeof(prim));
	}
	if (bit == 0 && (prim < 0 || prim > 30))
		prim = STR_PRIM_ODD;
	else if (bit == 0)
		bit = 1u << prim;
	gp->prim = prim;
	if ((gp->want & bit) == 0 && (prim != STR_PRIM_ODD || gp->want != ~0u))
		return -ENOMSG;
	if (rec->ctl != ~0u && (long)rec->ctl > (long)gp->ctl.maxlen) {
		gp->ctl.len = (int)rec->ctl;
		return -EMSGSIZE;
	}
	return 0;
}

/*
 * Deliver from one message whose parts have @c and @d bytes (~0: none).
 * Return: >= 0 as getmsg(2), with *ret_c and *ret_d bytes taken; -EFAULT.
 */
static int
deliver(struct getter *g, const struct str_rec *rec, int band, bool hipri,
	uint32_t *ret_c, uint32_t *ret_d)
{
	uint32_t c = 0, d = 0;
	int clen = -1, dlen = -1, more = 0;

	if (rec->ctl != ~0u) {
		if (g->has_ctl && g->ctl.maxlen >= 0) {
			c = (uint32_t)STR_MIN((long)rec->ctl,
				(long)g->ctl.maxlen);
			clen = (int)c;
			if (c < rec->ctl)
				more |= MORECTL;
		} else {
			more |= MORECTL;
		}
	}
	if (rec->data != ~0u) {
		if (g->has_data && g->data.maxlen >= 0) {
			d = (uint32_t)STR_MIN((long)rec->data,
				(long)g->data.maxlen);
			dlen = (int)d;
			if (d < rec->data)
				more |= MOREDATA;
		} else {
			more |= MOREDATA;
		}
	}
	if (rec->mp != NULL) {
		if (out_blocks(rec->mp, true, g->ctl.buf, c) != 0 ||
		    out_blocks(rec->mp, false, g->data.buf, d) != 0)
			return -EFAULT;
	} else if ((c != 0 && host_copyout(rec->cptr, g->ctl.buf, c) != 0) ||
		(d != 0 && host_copyout(rec->dptr, g->data.buf, d) != 0)) {
		return -EFAULT;
	}
	if (report(g, clen, dlen, band, hipri) != 0)
		return -EFAULT;
	*ret_c = c;
	*ret_d = d;
	return more;
}

/* Remove what was taken from a message of blocks; NULL when nothing is left */
static mblk_t *
trim(mblk_t *mp, uint32_t c, uint32_t d, int more)
{
	mblk_t *bp, *next;
	bool ctl_done = (more & MORECTL) == 0;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		bool is_ctl = bp->b_datap->db_type != M_DATA;
		uint32_t *n = is_ctl ? &c : &d;
		uint32_t len = (uint32_t)str_blen(bp);

		len = STR_MIN(len, *n);
		bp->b_rptr += len;
		*n -= len;
	}
	if (more == 0) {
		freemsg(mp);
		return NULL;
	}
	/* the control part has been removed: the rest is data */
	while (ctl_done && mp->b_datap->db_type != M_DATA) {
		next = mp->b_cont;
		mp->b_cont = NULL;
		if (next != NULL) {
			next->b_band = mp->b_band;
			next->b_flag |= mp->b_flag;
		}
		freeb(mp);
		mp = next;
	}
	/* the data part has been removed: only the control part is left */
	if ((more & MOREDATA) == 0 && !ctl_done) {
		for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont) {
			if (bp->b_cont->b_datap->db_type != M_DATA)
				continue;
			freemsg(bp->b_cont);
			bp->b_cont = NULL;
			break;
		}
	}
	return mp;
}

/*
 * Is @mp, a message on the read queue proper, wanted by @arg, a struct getter?
 */
static bool
is_wanted(const mblk_t *mp, const void *arg)
{
	const struct getter *g = arg;

	if (mp->b_datap->db_type >= QPCTL)
		return g->prim == NULL;
	return g->want != MSG_HIPRI &&
		(g->want != MSG_BAND || mp->b_band >= g->band);
}

/* Take the first message of the read queue proper.  -EAGAIN: it is not
 * wanted. */
static int
get_queued(struct str_head *sd, struct getter *g)
{
	mblk_t *mp = str_queue_take(&sd->qp->rq, is_wanted, g), *bp;
	struct str_rec rec = {.ctl = ~0u, .data = ~0u};
	uint32_t c = 0, d = 0;
	bool hipri;
	int more, band;

	if (mp == NULL)
		return -EAGAIN;
	hipri = mp->b_datap->db_type >= QPCTL;
	band = mp->b_band;
	if (mp->b_datap->db_type == M_PASSFP) {
		str_head_putback(sd, mp);
		return -EBADMSG;
	}
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		uint32_t *n = bp->b_datap->db_type != M_DATA ? &rec.ctl :
							       &rec.data;

		*n = (*n == ~0u ? 0 : *n) + (uint32_t)str_blen(bp);
	}
	rec.mp = mp;
	more = g->prim != NULL ? choose(g->prim, &rec) : 0;
	if (more == 0)
		more = deliver(g, &rec, band, hipri, &c, &d);
	if (more >= 0)
		mp = trim(mp, c, d, more);
	if (mp != NULL)
		str_head_putback(sd, mp);
	return more;
}

/* One attempt.  Locks: clock. -EAGAIN: no message that is wanted. */
static int
get_one(struct str_head *sd, struct getter *g)
{
	struct str_headq *hq = &sd->hq;
	struct str_rec rec;
	uint32_t c = 0, d = 0;
	int more;

	if (str_unlikely(str_load(&hq->npri) != 0)) {
		more = get_queued(sd, g);
		if (more != -EAGAIN ||
		    (str_load(&hq->npri) != 0 && g->prim == NULL))
			return more;
	}
	if (g->want == MSG_HIPRI || (g->want == MSG_BAND && g->band > 0))
		return -EAGAIN;
	if (!str_headq_first(hq, &rec))
		return -EAGAIN;
	if (str_unlikely(rec.mp != NULL &&
		rec.mp->b_datap->db_type == M_PASSFP)) /* for I_RECVFD */
		return -EBADMSG;
	if (g->prim != NULL) {
		more = choose(g->prim, &rec);
		if (more != 0)
			return more;
	}
	more = deliver(g, &rec, 0, false, &c, &d);
	if (more >= 0)
		str_headq_advance(hq, &rec, c, d,
			((more & MORECTL) ? 0 : STR_TOOK_CTL) |
				((more & MOREDATA) ? 0 : STR_TOOK_DATA));
	return more;
}

/*
 * Take data from the kernel's pipe of a PLAIN pipe, as one message.  That data
 * comes before the messages in the head queue.  Locks: clock, see take_kernel()
 * in read.c.
 * Return: as get_one(); -EAGAIN: it is empty.
 */
static STR_COLD int
get_kernel(struct str_head *sd, struct host_call *hc, struct getter *g,
	bool *ret_ended)
{
	long most = g->has_data ? g->data.maxlen : -1, n;
	uint32_t ev;

	if (!str_plain_reads(sd, hc) || str_load(&sd->peer->direct) == NULL ||
	    g->want == MSG_HIPRI || (g->want == MSG_BAND && g->band > 0))
		return -EAGAIN;
	ev = host_plain_look(hc->fd);
	STR_CRASH_POINT("plain:looked");
	*ret_ended = (ev & (HOST_C_TOKEN | HOST_C_HUP)) == HOST_C_HUP;
	if ((ev & HOST_C_TOKEN) == 0)
		return -EAGAIN;
	/* nothing is taken for a caller with a bad pointer */
	if (report(g, -1, (int)STR_MIN(most, 0l), 0, false) != 0)
		return -EFAULT;
	if (most <= 0)
		return MOREDATA;
	n = host_plain_get(hc->fd, g->data.buf, (size_t)most);
	if (n < 0)
		return n == -EFAULT ? -EFAULT : -EAGAIN;
	return report(g, -1, (int)n, 0, false) != 0 ? -EFAULT : 0;
}

static void
after_get(struct str_head *sd, struct host_call *hc)
{
	if (str_unlikely(str_load(&sd->hq.wwant) != 0))
		str_wake_writers_from(sd, hc);
	if (str_unlikely(host_tls.ntouch != 0))
		str_sched_touched(); /* writers of a band may have been
				      * enabled */
	if (str_unlikely(str_load(&sd->flags) & STR_H_MSIG))
		str_sig_front(sd);
}

/* There is no message: how the call ends; 1 for hang-up, 0 to wait. */
static int
get_dry(struct str_head *sd, struct host_call *hc)
{
	uint32_t f = str_load(&sd->flags);

	if (f & STR_H_PLEX)
		return -EINVAL;
	if (f & STR_H_RDERR) {
		int e = str_head_rderr(sd);

		return e != 0 ? -e : 1;
	}
	if (f & (STR_H_HUP | STR_H_PEER | STR_H_NOWR | STR_H_EOF)) {
		if ((f & STR_H_PEER) && hc->fd >= 0)
			(void)str_head_look(sd, hc); /* the last from outside */
		return 1;
	}
	if (hc->fflags & STR_O_NONBLOCK) {
		int err = str_head_look(sd, hc);

		if (err != 0)
			return -err;
		return str_load(&sd->flags) & (STR_H_HUP | STR_H_PEER |
			STR_H_NOWR | STR_H_EOF) ? 1 : -EAGAIN;
	}
	return 0;
}

/* Is there a message without high priority? */
static bool
normal_pending(struct str_head *sd)
{
	return str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos);
}

/* What to sleep for if not any message will do, see get_one(). */
static unsigned
rarely(struct str_head *sd, const struct getter *g)
{
	if (str_likely(!str_head_pending(sd)))
		return 0;
	if (g->prim != NULL)
		return STR_SLEEP_RARE | STR_SLEEP_NORMAL;
	if (g->want == MSG_HIPRI)
		return STR_SLEEP_RARE | STR_SLEEP_HIPRI;
	return g->want == MSG_BAND && g->band > 0 ? STR_SLEEP_BAND(g->band) : 0;
}

static long
get(struct str_head *sd, struct host_call *hc, struct getter *g)
{
	struct str_transit transit = {0};
	bool tried = false, gone = false, moved, ended;
	int ret;

	if (str_unlikely((str_load(&sd->peer->flags) & STR_H_AWAY) != 0))
		str_outside_home(sd, hc);
	for (;;) {
		if (str_load(&sd->flags) & STR_H_LOOK) {
			ret = str_head_look(sd, hc);
			if (ret != 0)
				return -ret;
		}
		if (str_load(&sd->flags) & (STR_H_RDERR | STR_H_PLEX)) {
			ret = get_dry(sd, hc);
			if (ret < 0)
				return ret;
		}
		if (str_unlikely((str_load(&sd->flags) & STR_H_PLAIN) != 0)) {
			ret = str_plain_adopt(sd, hc);
			if (ret != 0)
				return -ret;
			str_plain_take(sd, hc->fd);
		}
		if (str_unlikely(str_hlock(&sd->hq.clock, STR_HOLD_C)))
			str_headq_repair_c(&sd->hq);
		{
			uint32_t cpu = host_cpu();

			if (str_load(&sd->hq.ccpu) != cpu)
				str_store(&sd->hq.ccpu, cpu);
		}
		moved = ended = false;
		ret = -EAGAIN;
		if (str_unlikely(str_head_plain(sd))) {
			moved = str_plain_moved(sd, hc);
			ret = get_kernel(sd, hc, g, &ended);
		}
		if (str_likely(ret == -EAGAIN && !moved))
			ret = get_one(sd, g);
		str_hunlock(&sd->hq.clock, STR_HOLD_C);
		if (str_unlikely(ended))
			str_plain_ended(sd);
		if (ret != -EAGAIN) {
			after_get(sd, hc);
			return ret;
		}
		if (str_unlikely(moved))
			continue;
		if (str_sched_run_head(sd, hc) ||
		    ((hc->fflags & STR_O_NONBLOCK) != 0 && !tried &&
			    (tried = str_sock_try(sd, hc, KS_IN))))
			continue;
		ret = get_dry(sd, hc);
		if (str_unlikely(ret == 1 && str_load(&sd->hq.overflow) != 0 &&
			    !str_head_pending(sd)))
			ret = -ENOSR; /* not end of file: a message waits for
				       * memory */
		if (ret == 1) {
			int err = str_head_transit(sd, hc, &transit);

			if (err == EAGAIN)
				continue;
			if (err != 0)
				return -err;
		}
		if (ret == 1 && g->prim != NULL) {
			if (normal_pending(sd))
				continue;
			return -ENXIO;
		}
		if (ret == 1) {
			/* the wanted message may have arrived before the
			 * hang-up */
			if (str_head_pending(sd) &&
			    (g->want == MSG_ANY || !gone)) {
				gone = true;
				continue;
			}
			return report(g, 0, 0, 0, false) != 0 ? -EFAULT : 0;
		}
		if (ret < 0)
			return ret;
		ret = str_sleep(sd, hc, STR_SLEEP_READ | rarely(sd, g),
			UINT64_MAX);
		if (ret != 0)
			return -ret;
	}
}

long
str_head_getmsg(struct str_head *sd, struct host_call *hc,
	struct str_strbuf *uctl, struct str_strbuf *udata, int *uband,
	int *uflags)
{
	struct getter g;
	int err;

	hc->head = sd;
	if (str_unlikely(NOT_FOR(sd, hc, WRITING)))
		return -EBADF;
	g.uctl = uctl;
	g.udata = udata;
	g.uband = uband;
	g.uflags = uflags;
	g.pmsg = uband != NULL;
	g.prim = NULL;
	err = get_args(&g);
	if (err == 0)
		err = str_tty_access(sd, hc, STR_SIGTTIN);
	if (err != 0)
		return -err;
	return get(sd, hc, &g);
}

long
str_head_getprim(struct str_head *sd, struct host_call *hc,
	struct str_getprim *gp)
{
	int flags = 0;
	struct getter g = {.ctl = gp->ctl, .data = gp->data,
		.has_ctl = true, .has_data = true, .uctl = &gp->ctl,
		.udata = &gp->data, .uflags = &flags, .want = MSG_ANY,
		.prim = gp};

	hc->head = sd;
	if (str_unlikely(NOT_FOR(sd, hc, WRITING)))
		return -EBADF;
	if (gp->nowait)
		hc->fflags |= STR_O_NONBLOCK;
	return get(sd, hc, &g);
}

str_a32 *
str_head_user(struct str_head *sd)
{
	return sd->user;
}

/* str_head_local - see head.h */
bool
str_head_local(struct str_head *sd)
{
	const struct str_fmod *fm;
	bool yes = false;
	queue_t *q;

	(void)str_claim(sd->plumb);
	for (q = sd->qp->wq.q_next; q != NULL &&
		q->q_pair->role == STR_QP_MODULE;)
		q = q->q_next;
	if (q != NULL && q->q_head == NULL &&
	    q->q_pair->role == STR_QP_DRIVER) {
		fm = q->q_pair->fmod;
		yes = (fm->flag & STR_D_LOCAL) != 0 && sd->plumb->links == NULL &&
			fm->plinks == NULL;
	}
	str_unclaim(sd->plumb);
	return yes;
}

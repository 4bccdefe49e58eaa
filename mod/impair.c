/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * impair - makes a Stream as unreliable as a network: it loses messages,
 * delays them, passes them twice or out of order: impair(7).
 *
 * Which messages.  Datagrams: M_DATA, T_UNITDATA_REQ and T_UNITDATA_IND.  All
 * others pass at once.
 *
 * Life of a message.  Four random numbers decide its treatment.  They are drawn
 * for every message, needed or not, so that the treatment of the n-th message
 * depends only on the seed and on n.  A message without delay is passed on at
 * once, unless others wait for room.  A delayed one waits on the queue behind a
 * block with its time of release (im_held), in the order of these times.  A
 * message to be overtaken waits until the given number of others has passed, or
 * for a second.
 *
 * Messages wait only on the queue, so that they belong to the domain and not to
 * the thread that put them there.
 *
 * Flow control.  Without a delay a full queue stops the sender, as in any
 * module.  With a delay it does not, like a network: messages that come while
 * `limit' messages are held are lost.
 *
 * D_MTQPAIR: one thread at a time in each direction.  The timer's callback only
 * enables the queue.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/tihdr.h>
#include <sys/impair.h>
#include "../drv/canon.h"

#define IM_LIMIT 1000u
#define IM_PATIENCE HZ	      /* longest wait to be overtaken */
#define IM_MAXMS 3600000u
#define IM_NEVER_FULL (1ul << 40)
#define IM_HIWAT 65536u
#define IM_LOWAT 16384u

/*
 * Lies in front of a held message.  If the thread that released a message was
 * killed, the message is on the queue without it, and is due.
 */
struct im_held {
	const void *self;	  /* its own address, to distinguish it from
				   * messages */
	unsigned long due;	  /* ticks */
	unsigned long long after; /* due when so many have been sent; 0: by
				   * time */
};

struct im_side {
	struct impair_side conf;
	struct impair_count count;
	unsigned long long rand;
	unsigned int burst;   /* so many more are lost */
	unsigned int nafter;  /* held ones that wait for others to pass */
	unsigned long armed;  /* the timer is for this tick; 0: none */
};

struct im {
	unsigned int seed;
	struct im_side up, down;
};

static struct im_side *
im_side(queue_t *q)
{
	struct im *im = q->q_ptr;

	return q == RD(q) ? &im->up : &im->down;
}

static unsigned long
im_ticks(void)
{
	unsigned long now = 0;

	(void)drv_getparm(LBOLT, &now);
	return now;
}

/* ------------------------------------------------------------------ chance */

/* xorshift64*: fast, and sufficiently random. */
static unsigned long long
im_draw(struct im_side *s)
{
	s->rand ^= s->rand >> 12;
	s->rand ^= s->rand << 25;
	s->rand ^= s->rand >> 27;
	return s->rand * 0x2545f4914f6cdd1dull >> 32;
}

static int
im_chance(struct im_side *s, unsigned int millionths)
{
	return im_draw(s) % IMPAIR_ALWAYS < millionths;
}

/* Restart the generators; the directions get different numbers. */
static void
im_seed(struct im *im)
{
	im->up.rand = (im->seed + 1ull) * 0x9e3779b97f4a7c15ull;
	im->down.rand = ~im->up.rand;
	im->up.burst = im->down.burst = 0;
}

/* ----------------------------------------------------------------- holding */

static void
im_timer(void *arg)
{
	queue_t *q = arg;

	im_side(q)->armed = 0;
	qenable(q);
}

static const struct im_held im_bare;

static const struct im_held *
im_held(const mblk_t *mp)
{
	const struct im_held *h = (const struct im_held *)(void *)mp->b_rptr;

	return mp->b_cont != NULL && MBLKL(mp) == sizeof(*h) &&
		h->self == h ? h : &im_bare;
}

/* The message itself. */
static mblk_t *
im_message(mblk_t *hp)
{
	return im_held(hp) == &im_bare ? hp : hp->b_cont;
}

/* Make the service procedure run when the first is due. */
static void
im_arm(queue_t *q)
{
	struct im_side *s = im_side(q);
	unsigned long now = im_ticks(), due;

	if (q->q_first == NULL)
		return;
	due = im_held(q->q_first)->due;
	if (due <= now) {
		qenable(q);
		return;
	}
	if (s->armed != 0 && s->armed <= due)
		return;
	if (qtimeout(q, im_timer, q, (long)(due - now)) != 0)
		s->armed = due;
	else
		qenable(q); /* no memory for a timer: check again soon */
}

/* Hold @mp, which is consumed. */
static void
im_hold(queue_t *q, mblk_t *mp, unsigned long due, unsigned long long after)
{
	struct im_held held = { NULL, due, after };
	struct im_side *s = im_side(q);
	mblk_t *hp, *at;

	hp = s->count.held >= s->conf.limit ? NULL :
		allocb(sizeof(struct im_held), BPRI_MED);
	if (hp == NULL) {
		s->count.full++;
		freemsg(mp);
		return;
	}
	held.self = hp->b_wptr;
	bcopy(&held, hp->b_wptr, sizeof(held));
	hp->b_wptr += sizeof(held);
	linkb(hp, mp);
	/* behind all that are not due later: usually the end */
	for (at = q->q_last; at != NULL && im_held(at)->due > due;
		at = at->b_prev)
		;
	at = at == NULL ? q->q_first : at->b_next;
	if (insq(q, at, hp) == 0) {
		s->count.full++;
		freemsg(hp);
		return;
	}
	s->count.held++;
	s->nafter += after != 0;
}

static void
im_send(queue_t *q, mblk_t *mp)
{
	im_side(q)->count.sent++;
	putnext(q, mp);
}

/* Count the held messages again, after a flush or a death. */
static void
im_recount(queue_t *q)
{
	struct im_side *s = im_side(q);
	mblk_t *mp;

	s->count.held = s->nafter = 0;
	for (mp = q->q_first; mp != NULL; mp = mp->b_next) {
		s->count.held++;
		s->nafter += im_held(mp)->after != 0;
	}
}

/* Release a held message. */
static void
im_release(queue_t *q, mblk_t *hp)
{
	struct im_side *s = im_side(q);
	mblk_t *mp;

	if (im_held(hp) == &im_bare) {
		im_recount(q);
		im_send(q, hp);
		return;
	}
	s->nafter -= im_held(hp)->after != 0;
	mp = unlinkb(hp);
	s->count.held--;
	freeb(hp);
	im_send(q, mp);
}

/* Release the messages that waited for so many others to pass. */
static void
im_passed(queue_t *q)
{
	struct im_side *s = im_side(q);
	mblk_t *mp, *next;

	for (mp = q->q_first; s->nafter != 0 && mp != NULL; mp = next) {
		next = mp->b_next;
		if (im_held(mp)->after == 0 ||
			im_held(mp)->after > s->count.sent)
			continue;
		if (!bcanputnext(q, im_message(mp)->b_band))
			break;
		rmvq(q, mp);
		im_release(q, mp);
		next = q->q_first; /* sent one more */
	}
}

static int
im_srv(queue_t *q)
{
	unsigned long now = im_ticks();
	mblk_t *mp;

	while (q->q_first != NULL && im_held(q->q_first)->due <= now) {
		mp = getq(q);
		if (!bcanputnext(q, im_message(mp)->b_band)) {
			if (putbq(q, mp) == 0)
				freemsg(mp);
			return 0; /* back-enabling calls again */
		}
		im_release(q, mp);
		im_passed(q);
	}
	im_arm(q);
	return 0;
}

/* --------------------------------------------------------------- datagrams */

/* Pass @mp on, after @ticks. */
static void
im_pass(queue_t *q, mblk_t *mp, unsigned long ticks)
{
	struct im_side *s = im_side(q);
	unsigned long now;

	/* held ones that are overtaken do not delay others */
	if (ticks == 0 && s->count.held == s->nafter &&
		bcanputnext(q, mp->b_band)) {
		im_send(q, mp);
		im_passed(q);
		return;
	}
	now = im_ticks();
	im_hold(q, mp, now + ticks, 0);
	im_arm(q);
}

static unsigned long
im_delay(struct im_side *s)
{
	unsigned long long more = im_draw(s);
	unsigned long ms = s->conf.delay;

	if (s->conf.jitter != 0)
		ms += (unsigned long)(more % (s->conf.jitter + 1ull));
	return ms == 0 ? 0 : drv_msectohz(ms);
}

static void
im_datagram(queue_t *q, mblk_t *mp)
{
	struct im_side *s = im_side(q);
	int lost = im_chance(s, s->conf.loss);
	int twice = im_chance(s, s->conf.twice);
	int late = im_chance(s, s->conf.late);
	unsigned long ticks = im_delay(s);
	mblk_t *copy;

	s->count.seen++;
	if (s->burst != 0) {
		s->burst--;
		lost = 1;
	} else if (lost && s->conf.burst > 1) {
		s->burst = s->conf.burst - 1;
	}
	if (lost) {
		s->count.lost++;
		freemsg(mp);
		return;
	}
	copy = twice ? copymsg(mp) : NULL; /* receivers may write to it */
	if (late) {
		s->count.late++;
		im_hold(q, mp, im_ticks() + IM_PATIENCE,
			s->count.sent + (s->conf.behind > 1 ?
			s->conf.behind : 1u));
		im_arm(q);
	} else {
		im_pass(q, mp, ticks);
	}
	if (copy != NULL) {
		s->count.twice++;
		im_pass(q, copy, ticks);
	}
}

static int
im_is_datagram(mblk_t *mp)
{
	t_scalar_t prim;

	if (DB_TYPE(mp) == M_DATA)
		return 1;
	if (DB_TYPE(mp) != M_PROTO || MBLKL(mp) < (long)sizeof(prim))
		return 0;
	bcopy(mp->b_rptr, &prim, sizeof(prim));
	return prim == T_UNITDATA_REQ || prim == T_UNITDATA_IND;
}

/* ------------------------------------------------------------------ ioctls */

/* Without a delay flow control stops a sender when there is no room. */
static void
im_marks(queue_t *q)
{
	struct im_side *s = im_side(q);
	int slow = (s->conf.delay | s->conf.jitter | s->conf.late) != 0;

	(void)strqset(q, QLOWAT, 0, 0);
	(void)strqset(q, QHIWAT, 0, slow ? (long)IM_NEVER_FULL : IM_HIWAT);
	(void)strqset(q, QLOWAT, 0, slow ? (long)(IM_NEVER_FULL / 2) :
		IM_LOWAT);
}

static int
im_is_good(const struct impair_side *c)
{
	return c->loss <= IMPAIR_ALWAYS && c->twice <= IMPAIR_ALWAYS &&
		c->late <= IMPAIR_ALWAYS && c->delay <= IM_MAXMS &&
		c->jitter <= IM_MAXMS;
}

static void
im_set(queue_t *q, mblk_t *mp)
{
	struct im *im = q->q_ptr;
	struct impair_conf c;

	bcopy(mp->b_cont->b_rptr, &c, sizeof(c));
	if (c.zero != 0 || !im_is_good(&c.up) || !im_is_good(&c.down)) {
		canon_nak(q, mp, EINVAL);
		return;
	}
	if (c.up.limit == 0)
		c.up.limit = IM_LIMIT;
	if (c.down.limit == 0)
		c.down.limit = IM_LIMIT;
	im->seed = c.seed;
	im->up.conf = c.up;
	im->down.conf = c.down;
	im_seed(im);
	im_marks(q);
	im_marks(RD(q));
	canon_ack(q, mp, 0);
}

static void
im_get(queue_t *q, mblk_t *mp)
{
	struct im *im = q->q_ptr;
	struct impair_conf c;

	bzero(&c, sizeof(c));
	c.seed = im->seed;
	c.up = im->up.conf;
	c.down = im->down.conf;
	canon_ack_data(q, mp, canon_block(&c, sizeof(c)), 0);
}

static void
im_stat(queue_t *q, mblk_t *mp)
{
	struct im *im = q->q_ptr;
	struct impair_stat st;

	bzero(&st, sizeof(st));
	st.up = im->up.count;
	st.down = im->down.count;
	canon_ack_data(q, mp, canon_block(&st, sizeof(st)), 0);
}

static void
im_ioctl(queue_t *q, mblk_t *mp)
{
	switch (canon_cmd(mp)) {
	case IMPAIR_SET:
		if (canon_args(q, mp, sizeof(struct impair_conf)))
			im_set(q, mp);
		break;
	case IMPAIR_GET:
		im_get(q, mp);
		break;
	case IMPAIR_STAT:
		im_stat(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
}

static void
im_iocdata(queue_t *q, mblk_t *mp)
{
	int cmd = canon_cmd(mp);

	if (cmd < IMPAIR_SET || cmd > IMPAIR_STAT)
		putnext(q, mp);
	else if (canon_iocdata(q, mp))
		im_set(q, mp);
}

/* -------------------------------------------------------------- procedures */

static int
im_put(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
	case M_PROTO:
		if (im_is_datagram(mp))
			im_datagram(q, mp);
		else
			putnext(q, mp);
		break;
	case M_FLUSH:
		canon_flush_pass(q, mp);
		im_recount(RD(q));
		im_recount(WR(q));
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static int
im_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_IOCTL:
		im_ioctl(q, mp);
		break;
	case M_IOCDATA:
		im_iocdata(q, mp);
		break;
	default:
		(void)im_put(q, mp);
		break;
	}
	return 0;
}

static int
im_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct im *im;

	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	im = kmem_zalloc(sizeof(*im), KM_SLEEP);
	if (im == NULL)
		return ENOSR;
	im->up.conf.limit = im->down.conf.limit = IM_LIMIT;
	im_seed(im);
	q->q_ptr = WR(q)->q_ptr = im;
	noenable(q);
	noenable(WR(q));
	qprocson(q);
	return 0;
}

static int
im_close(queue_t *q, int flag, cred_t *crp)
{
	struct im *im = q->q_ptr;

	qprocsoff(q); /* this cancels the timers */
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(im, sizeof(*im));
	return 0;
}

static const struct module_info im_info = {
	.mi_idnum = 0x696d,
	.mi_idname = "impair",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = IM_HIWAT,
	.mi_lowat = IM_LOWAT,
};

static const struct qinit im_rinit = {
	.qi_putp = im_put,
	.qi_srvp = im_srv,
	.qi_qopen = im_open,
	.qi_qclose = im_close,
	.qi_minfo = (struct module_info *)&im_info,
};

static const struct qinit im_winit = {
	.qi_putp = im_wput,
	.qi_srvp = im_srv,
	.qi_minfo = (struct module_info *)&im_info,
};

static void (*const im_calls[])(void) = {
	(void (*)(void))im_timer,
	NULL,
};

STR_MODULE_CALLS(impair, im_rinit, im_winit, D_MTQPAIR, im_calls);

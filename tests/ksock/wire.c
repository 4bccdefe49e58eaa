/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * wire - a driver for tests: a stream is one end of a connection of the
 * system's, or of datagrams.
 *
 * What is written goes when there is room; what comes is read as long as the
 * queue above has room.  The end of the connection is an M_HANGUP.  With
 * WIRE_GATHER small amounts are kept for a while, as the inet driver keeps
 * them.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/socket.h>
#undef FNDELAY
#undef FNONBLOCK
#include <sys/stream.h>
#include <sys/ddi.h>
#include <sys/strconf.h>
#include <sys/strsun.h>
#include <str/builtin.h>
#include <str/ksock.h>
#include "wire.h"

#define WIRE_MAJOR 250
#define WIRE_READ 16384
#define WIRE_MINORS 1024

struct wire {
	ksock_t *ks;
	int listening, up, end, dgram;
	int gather; /* bytes */
	struct wire_count n;
};

struct wire_state {
	volatile int used[WIRE_MINORS];
};

static int
wire_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct wire_state *st;
	struct wire *w;
	unsigned m;

	if (q->q_ptr != NULL)
		return 0;
	st = str_drv_state("wire", sizeof(*st));
	w = st == NULL ? NULL : kmem_zalloc(sizeof(*w), KM_SLEEP);
	if (w == NULL)
		return ENOSR;
	for (m = 1; m < WIRE_MINORS; m++)
		if (!__atomic_exchange_n(&st->used[m], 1, __ATOMIC_ACQ_REL))
			break;
	if (m == WIRE_MINORS) {
		kmem_free(w, sizeof(*w));
		return ENODEV;
	}
	*devp = makedevice(getmajor(*devp), m);
	w->n.reads = m; /* until it is counted */
	q->q_ptr = WR(q)->q_ptr = w;
	w->n.reads = 0;
	qprocson(q);
	return 0;
}

static int
wire_close(queue_t *q, int flag, cred_t *crp)
{
	struct wire *w = q->q_ptr;
	struct wire_state *st = str_drv_state("wire", sizeof(*st));

	qprocsoff(q);
	ksock_close(w->ks, 0);
	q->q_ptr = WR(q)->q_ptr = NULL;
	kmem_free(w, sizeof(*w));
	(void)st;
	return 0;
}

/* ---------------------------------------------------------------- writing */

static size_t
wire_size(queue_t *q)
{
	size_t n = 0;
	mblk_t *mp;

	for (mp = q->q_first; mp != NULL; mp = mp->b_next)
		n += msgdsize(mp);
	return n;
}

/* One message, or what goes of it.  False: no more room. */
static int
wire_send(struct wire *w, mblk_t *mp)
{
	struct iovec iov[16];
	uint32_t n = 0;
	mblk_t *bp;
	long r;

	for (bp = mp; bp != NULL && n < 16; bp = bp->b_cont)
		if (bp->b_wptr > bp->b_rptr)
			iov[n++] = (struct iovec){bp->b_rptr,
				(size_t)(bp->b_wptr - bp->b_rptr)};
	if (n == 0)
		return 1;
	w->n.writes++;
	r = ksock_send(w->ks, iov, n, 0);
	if (r == -EAGAIN || r == -ENOTCONN) {
		w->n.refused++;
		return 0;
	}
	if (r < 0) {
		/* nobody will have it */
		adjmsg(mp, (int)msgdsize(mp));
		return 1;
	}
	adjmsg(mp, (int)r);
	return msgdsize(mp) == 0;
}

static int
wire_wsrv(queue_t *q)
{
	struct wire *w = q->q_ptr;
	mblk_t *mp;

	if (w->ks == NULL || w->listening)
		return 0;
	w->up = 1;
	(void)ksock_events(w->ks);
	while ((mp = getq(q)) != NULL) {
		if (!wire_send(w, mp)) {
			putbq(q, mp);
			ksock_want(w->ks, KS_OUT);
			return 0;
		}
		freemsg(mp);
	}
	ksock_want(w->ks, 0);
	return 0;
}

static void
wire_data(queue_t *q, mblk_t *mp)
{
	struct wire *w = q->q_ptr;

	if (!putq(q, mp)) {
		freemsg(mp);
		return;
	}
	if (w->ks == NULL || !w->up)
		return;
	if (w->gather > 0 && wire_size(q) < (size_t)w->gather) {
		noenable(q);
		ksock_want(w->ks, KS_SOON);
		return;
	}
	qenable(q);
}

/* ---------------------------------------------------------------- reading */

static void
wire_hangup(queue_t *q, struct wire *w)
{
	if (!w->end)
		(void)putnextctl(q, M_HANGUP);
	w->end = 1;
}

static void
wire_accept(queue_t *q, struct wire *w)
{
	ksock_t *ks;

	if (ksock_accept(w->ks, &ks, NULL, NULL) != 0)
		return;
	ksock_close(w->ks, 0);
	w->ks = ks;
	w->listening = 0;
	w->up = 1;
	ksock_attach(ks, q);
	enableok(WR(q));
	qenable(WR(q));
}

static int
wire_rsrv(queue_t *q)
{
	struct wire *w = q->q_ptr;
	struct iovec iov;
	mblk_t *mp;
	long r;

	if (w->ks == NULL)
		return 0;
	if (w->listening)
		wire_accept(q, w);
	if (w->listening || w->ks == NULL)
		return 0;
	(void)ksock_events(w->ks);
	while (!w->end && canputnext(q)) {
		mp = allocb(WIRE_READ, BPRI_MED);
		if (mp == NULL)
			return 0;
		iov = (struct iovec){mp->b_wptr, WIRE_READ};
		w->n.reads++;
		r = ksock_recv(w->ks, &iov, 1, NULL);
		if (r <= 0) {
			freemsg(mp);
			w->n.dry += r == -EAGAIN;
			if (r == 0 || (r != -EAGAIN && r != -ENOTCONN))
				wire_hangup(q, w);
			return 0;
		}
		mp->b_wptr += r;
		putnext(q, mp);
		if (r < WIRE_READ && !w->dgram)
			return 0;
	}
	return 0;
}

/* ---------------------------------------------------------------- commands */

static void
wire_answer(queue_t *q, const void *p, size_t n)
{
	mblk_t *mp = allocb(n, BPRI_HI);

	if (mp == NULL)
		return;
	DB_TYPE(mp) = M_PROTO;
	memcpy(mp->b_wptr, p, n);
	mp->b_wptr += n;
	qreply(q, mp);
}

static int
wire_socket(queue_t *q, struct wire *w, int type, int port, int listen)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	uint32_t len = sizeof(sin);
	int on = 1, err;

	ksock_close(w->ks, 0);
	w->ks = NULL;
	err = ksock_create(RD(q), AF_INET, type, 0, &w->ks);
	if (err != 0)
		return err;
	w->dgram = type == SOCK_DGRAM;
	if (!listen) {
		err = ksock_connect(w->ks, &sin, sizeof(sin));
		w->up = err == 0;
		ksock_want(w->ks, err == 0 ? 0 : KS_OUT);
		return err == -EINPROGRESS ? 0 : err;
	}
	(void)ksock_setopt(w->ks, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	err = ksock_bind(w->ks, &sin, sizeof(sin));
	if (err == 0)
		err = ksock_listen(w->ks, 5);
	if (err == 0)
		err = ksock_name(w->ks, 0, &sin, &len);
	if (err != 0)
		return err;
	w->listening = 1;
	err = ntohs(sin.sin_port);
	wire_answer(q, &err, sizeof(err));
	return 0;
}

static void
wire_command(queue_t *q, mblk_t *mp)
{
	struct wire *w = q->q_ptr;
	struct wire_msg m = {0, 0};
	int err = 0;

	if (mp->b_wptr - mp->b_rptr >= (long)sizeof(m))
		memcpy(&m, mp->b_rptr, sizeof(m));
	freemsg(mp);
	if (m.cmd == WIRE_CONNECT)
		err = wire_socket(q, w, SOCK_STREAM, m.arg, 0);
	else if (m.cmd == WIRE_LISTEN)
		err = wire_socket(q, w, SOCK_STREAM, m.arg, 1);
	else if (m.cmd == WIRE_UDP)
		err = wire_socket(q, w, SOCK_DGRAM, m.arg, 0);
	else if (m.cmd == WIRE_GATHER)
		w->gather = m.arg;
	else if (m.cmd == WIRE_COUNT)
		wire_answer(q, &w->n, sizeof(w->n));
	if (err != 0)
		(void)putnextctl1(RD(q), M_ERROR, -err);
}

static int
wire_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		wire_data(q, mp);
		break;
	case M_PROTO:
		wire_command(q, mp);
		break;
	default:
		freemsg(mp);
		break;
	}
	return 0;
}

static const struct module_info wire_info = {
	.mi_idnum = 0x7769,
	.mi_idname = "wire",
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = 65536,
	.mi_lowat = 16384,
};
static const struct qinit wire_rinit = {
	.qi_srvp = wire_rsrv,
	.qi_qopen = wire_open,
	.qi_qclose = wire_close,
	.qi_minfo = (struct module_info *)&wire_info,
};
static const struct qinit wire_winit = {
	.qi_putp = wire_wput,
	.qi_srvp = wire_wsrv,
	.qi_minfo = (struct module_info *)&wire_info,
};
STR_DRIVER(wire, wire_rinit, wire_winit, STR_NOMUX, STR_NOMUX, D_MTQPAIR,
	WIRE_MAJOR, NULL);

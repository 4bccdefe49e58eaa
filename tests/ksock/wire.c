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
 *
 * Crash.  What is written stands on the queue until the kernel has it.  `left'
 * counts the bytes that it has, `front' those before the queue's first
 * message; a message that is being taken off is named by `going' first.  Who
 * dies sending leaves `busy': then the kernel is asked how much it has been
 * given (`base' is what it counts besides).
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
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
#define WIRE_SYN_SENT 2 /* tcpi_state */
#define WIRE_SYN_RECV 3

struct wire {
	ksock_t *ks;
	int listening, up, end, dgram;
	int gather; /* bytes */
	struct wire_count n;
	volatile uint64_t left, front, next, base;
	volatile int based, busy;
	mblk_t *volatile going;
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

/* A connection begins. */
static void
wire_start(struct wire *w, ksock_t *ks)
{
	w->busy = w->based = 0;
	w->left = w->front;
	w->ks = ks;
}

/* The bytes that the kernel has been given. */
static int
wire_given(struct wire *w, uint64_t *ret)
{
	struct tcp_info a, b;
	uint32_t len;
	int outq, i;

	for (i = 0; i < 1000; i++) {
		len = sizeof(a);
		if (ksock_getopt(w->ks, IPPROTO_TCP, TCP_INFO, &a, &len) != 0 ||
		    ksock_ioctl(w->ks, SIOCOUTQ, &outq) != 0)
			return 0;
		len = sizeof(b);
		if (ksock_getopt(w->ks, IPPROTO_TCP, TCP_INFO, &b, &len) != 0)
			return 0;
		if (a.tcpi_bytes_acked == b.tcpi_bytes_acked)
			break;
	}
	*ret = a.tcpi_bytes_acked + (uint64_t)outq;
	/* before it is connected it may count that too */
	return i < 1000 && a.tcpi_state != WIRE_SYN_SENT &&
		a.tcpi_state != WIRE_SYN_RECV;
}

/* Take off what the kernel has. */
static void
wire_consume(queue_t *q, struct wire *w)
{
	mblk_t *mp;

	while ((mp = q->q_first) != NULL &&
		w->left - w->front >= msgdsize(mp)) {
		w->next = w->front + msgdsize(mp);
		w->going = mp;
		(void)getq(q);
		w->front = w->next;
		w->going = NULL;
		freemsg(mp);
	}
}

/* Who was here last may have died in the middle.  False: not known now. */
static int
wire_mend(queue_t *q, struct wire *w)
{
	uint64_t given;
	mblk_t *mp;

	if (w->going != NULL) {
		for (mp = q->q_first; mp != NULL && mp != w->going;
			mp = mp->b_next)
			;
		if (mp == NULL)
			w->front = w->next;
		w->going = NULL;
	}
	if (w->busy && w->based) {
		if (!wire_given(w, &given))
			return 0;
		w->left = given - w->base;
	}
	w->busy = 0;
	wire_consume(q, w);
	if (!w->based && !w->dgram && wire_given(w, &given)) {
		w->base = given - w->left;
		w->based = 1;
	}
	return 1;
}

/* One message, or what goes of it.  False: no more room. */
static int
wire_send(queue_t *q, struct wire *w)
{
	size_t skip = (size_t)(w->left - w->front), len;
	mblk_t *bp, *mp = q->q_first;
	size_t size = msgdsize(mp);
	struct iovec iov[16];
	uint32_t n = 0;
	long r;

	for (bp = mp; bp != NULL && n < 16; bp = bp->b_cont) {
		len = (size_t)(bp->b_wptr - bp->b_rptr);
		if (len > skip)
			iov[n++] = (struct iovec){bp->b_rptr + skip,
				len - skip};
		skip -= len < skip ? len : skip;
	}
	w->n.writes++;
	w->busy = 1;
	r = ksock_send(w->ks, iov, n, 0);
	if (r == -EAGAIN || r == -ENOTCONN) {
		w->busy = 0;
		w->n.refused++;
		return 0;
	}
	/* after an error none will have it */
	w->left = r < 0 ? w->front + size : w->left + (uint64_t)r;
	w->busy = 0;
	wire_consume(q, w);
	return w->left == w->front;
}

static int
wire_wsrv(queue_t *q)
{
	struct wire *w = q->q_ptr;

	if (w->ks == NULL || w->listening)
		return 0;
	w->up = 1;
	(void)ksock_events(w->ks);
	if (!wire_mend(q, w)) {
		ksock_want(w->ks, KS_OUT);
		return 0;
	}
	while (q->q_first != NULL)
		if (!wire_send(q, w)) {
			ksock_want(w->ks, KS_OUT);
			return 0;
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
	wire_start(w, ks);
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
	wire_start(w, NULL);
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
	else if (m.cmd == WIRE_NEAR && w->ks != NULL)
		ksock_near(w->ks, m.arg);
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

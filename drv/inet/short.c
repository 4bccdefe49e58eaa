/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The direct path of datagrams: between the caller's memory and the socket.
 *
 * Sending.  A datagram is sent from the caller's memory (<str/direct.h>) if the
 * endpoint is idle, or if it is so long that copying it costs more than a call
 * of its own.  If other datagrams wait, or with options or an error, nothing is
 * done here and the datagram takes the usual path.  A sender without credit is
 * asked to try again soon, because the receiver is at work.
 *
 * Receiving.  While datagrams come one by one, a thread that waits at a stream
 * with an empty head receives one into its own memory.  A second buffer, the
 * endpoint's (`behind'), takes the rest of a longer datagram and the further
 * datagrams of a train; they become messages and are sent up.  When many
 * datagrams come, dgram_recv.c receives them, many at a time.  As long as there are
 * no trains, a datagram for a small buffer is received into the endpoint's
 * buffer and copied, which needs only one iovec.
 *
 * Locks.  The perimeter of the queue pair, which is entered here.
 *
 * Crash.  A thread killed in a send may have sent the datagram; one killed in a
 * receive loses a datagram, which any network may do.
 */
#include <netinet/udp.h>
#include "inet_impl.h"

#define SHORT_LONG 8192u     /* bytes: longer ones do not wait for others */
#define SHORT_IDLE INET_US(50)
#define SHORT_BEHIND 65536u  /* the most that one receive can give */
#define SHORT_COPY 2048u     /* up to this is copied from there */
#define SHORT_ROW 8u	     /* so many in a row are a flow */

static int
is_udp_here(const struct inet *in)
{
	return in->kind == INET_UDP4 || in->kind == INET_UDP6;
}

/* ---------------------------------------------------------------- sending */

/*
 * The destination address and its length *@len, if it can be used without a
 * copy.
 */
static const void *
dest_of(const struct inet *in, const struct tpi_buf *to, uint32_t *len)
{
	const struct sockaddr_in *sa = (const void *)to->buf;

	*len = sizeof(*sa);
	if (((uintptr_t)sa & (_Alignof(struct sockaddr_in6) - 1)) != 0 ||
		to->len < sizeof(*sa) || sa->sin_family != in->family ||
		sa->sin_port == 0)
		return NULL;
	if (sa->sin_family != AF_INET)
		*len = sizeof(struct sockaddr_in6);
	return to->len < *len ? NULL : sa;
}

/* Inside the perimeter. */
static int
send_now(struct inet *in, const struct tpi_buf *to, const struct str_direct *d)
{
	struct iovec iov = {(void *)(uintptr_t)d->udata, (size_t)d->dlen};
	uint32_t len = (uint32_t)d->dlen;
	struct ksock_msg m = {.km_iov = &iov, .km_iovlen = 1};
	uint64_t now = inet_ticks();
	struct inet_port *port;
	int tries = 3;
	long n;

	if (in->tp.state != TS_IDLE || in->phase != INET_OPEN ||
		in->ks == NULL || in->wq->q_first != NULL ||
		!inet_dg_empty(in))
		return STR_DIRECT_NOT;
	if (len <= SHORT_LONG && !in->out.got &&
		now - inet_dg_last(in) <= SHORT_IDLE)
		return STR_DIRECT_NOT;
	m.km_addr = (void *)(uintptr_t)dest_of(in, to, &m.km_addrlen);
	if (m.km_addr == NULL)
		return STR_DIRECT_NOT;
	port = inet_credit_to(in, m.km_addr);
	if (port != NULL && !inet_credit_ask(port, len))
		return STR_DIRECT_SOON;
	in->spoke = 1;
	/* an earlier error is sent up elsewhere */
	do
		n = ksock_sendmm(in->ks, &m, 1, MSG_NOSIGNAL);
	while ((n == -ECONNREFUSED || n == -EHOSTUNREACH ||
		n == -ENETUNREACH) && --tries != 0);
	if (n != 1) {
		if (port != NULL)
			inet_credit_back(port, len);
		return STR_DIRECT_NOT;
	}
	if (port != NULL)
		inet_credit_done(port, len);
	in->out.got = 0;
	inet_dg_sent(in, now);
	return STR_DIRECT_DONE;
}

/* inet_short_send - op direct */
STR_HOT int
inet_short_send(struct tpi *tp, const struct tpi_buf *to,
	const struct str_direct *d)
{
	struct inet *in = inet_of(tp);
	int ret;

	if (!is_udp_here(in) || !str_direct_enter(in->wq))
		return STR_DIRECT_NOT;
	ret = send_now(in, to, d);
	str_direct_leave(in->wq);
	return ret;
}

/* -------------------------------------------------------------- receiving */

/* inet_short_takes - may the waiting thread receive itself? */
STR_HOT int
inet_short_takes(const struct inet *in)
{
	return is_udp_here(in) && in->phase == INET_OPEN && in->ks != NULL &&
		in->single && in->tp.state == TS_IDLE && !in->tp.dead &&
		in->timing == 0 && in->wants == 0;
}

/* Result of one receive: the address lies in the caller's buffer. */
struct short_got {
	struct ksock_msg m;
	struct str_take *take;
};

/* Send @len bytes of it, from @off on, up as a message. */
static void
send_up(struct inet *in, const struct short_got *g, uint32_t off, uint32_t len)
{
	uint32_t room = g->take->room, n = 0;
	mblk_t *mp = allocb(len, BPRI_MED);

	if (mp != NULL && off < room) {
		n = len < room - off ? len : room - off;
		if (copyin((char *)g->take->udata + off, mp->b_wptr, n) != 0) {
			freemsg(mp);
			mp = NULL;
		}
	}
	if (mp == NULL) {
		(void)tpi_dropped(&in->tp);
		return;
	}
	if (len > n)
		bcopy(in->behind + (off + n - room), mp->b_wptr + n, len - n);
	mp->b_wptr += len;
	inet_dg_up(in, g->m.km_addr, g->m.km_addrlen, mp);
}

/* Give the first @len bytes to the caller. */
static void
give(const struct short_got *g, uint32_t len)
{
	struct str_take *t = g->take;
	struct T_unitdata_ind *ui = t->ctl;

	ui->PRIM_type = T_UNITDATA_IND;
	ui->SRC_length = (t_scalar_t)g->m.km_addrlen;
	ui->SRC_offset = (t_scalar_t)sizeof(*ui);
	ui->OPT_length = ui->OPT_offset = 0;
	t->clen = (uint32_t)sizeof(*ui) + g->m.km_addrlen;
	t->dlen = len;
}

/* A datagram came: count those that come without an answer. */
static void
count_row(struct inet *in)
{
	in->row = in->out.got ? in->row + 1 : 0;
	in->out.got = 1;
	if (str_unlikely(in->row >= SHORT_ROW))
		inet_dg_trains(in);
}

/* Nothing was received: decide what the caller does next. */
static int
took_none(struct inet *in, long n, uint64_t before)
{
	if (n == -EAGAIN)
		inet_credit_took(in, 0, 0, 1, before);
	if (n == -EAGAIN || n == -EINTR)
		return STR_TAKE_NONE;
	if (n == -EFAULT)
		return STR_TAKE_FAULT;
	str_store(&in->lend->in, 0u);
	(void)inet_dg_errors(in);
	return STR_TAKE_LOOK;
}

/*
 * Receive one that is not a train, into our buffer or, if all of it fits there,
 * into the user's.
 */
static int
take_alone(struct inet *in, struct str_take *t)
{
	int ours = t->room < SHORT_BEHIND;
	struct iovec iov = {ours ? in->behind : t->udata, SHORT_BEHIND};
	struct short_got g = {
		.m = {.km_iov = &iov, .km_iovlen = 1,
			.km_addr = (struct T_unitdata_ind *)t->ctl + 1,
			.km_addrlen = sizeof(struct sockaddr_in6)},
		.take = t,
	};
	uint64_t before = inet_credit_sent(in);
	long n = ksock_recvmm(in->ks, &g.m, 1, MSG_TRUNC);
	uint32_t len = g.m.km_len;
	mblk_t *mp;

	if (str_unlikely(n != 1))
		return took_none(in, n, before);
	inet_credit_took(in, len, 1, 0, before);
	count_row(in);
	if (str_likely(len <= t->room)) {
		give(&g, len);
		return ours && copyout(in->behind, t->udata, len) != 0 ?
			STR_TAKE_FAULT : STR_TAKE_DONE;
	}
	mp = allocb(len, BPRI_MED);
	if (mp == NULL) {
		(void)tpi_dropped(&in->tp);
		return STR_TAKE_LOOK;
	}
	bcopy(in->behind, mp->b_wptr, len);
	mp->b_wptr += len;
	inet_dg_up(in, g.m.km_addr, g.m.km_addrlen, mp);
	return STR_TAKE_LOOK;
}

static int
take_one(struct inet *in, struct str_take *t)
{
	struct iovec iov[2] = {{t->udata, t->room},
		{in->behind, SHORT_BEHIND}};
	struct short_got g = {
		.m = {.km_iov = iov, .km_iovlen = 2,
			.km_addr = (struct T_unitdata_ind *)t->ctl + 1,
			.km_addrlen = sizeof(struct sockaddr_in6)},
		.take = t,
	};
	uint64_t before = inet_credit_sent(in);
	uint32_t len, seg, off = 0;
	long n = ksock_recvmm(in->ks, &g.m, 1, 0);

	if (n != 1)
		return took_none(in, n, before);
	count_row(in);
	len = g.m.km_len;
	seg = g.m.km_gso == 0 || g.m.km_gso >= len ? len : g.m.km_gso;
	inet_credit_took(in, len, 1, 0, before);
	if (g.m.km_flags & MSG_TRUNC)
		(void)tpi_dropped(&in->tp);
	if (seg < len) {
		in->single = 0; /* many come */
		str_store(&in->lend->in, 0u);
	}
	if (seg <= t->room) {
		give(&g, seg);
		off = seg;
	}
	for (; off < len; off += seg)
		send_up(in, &g, off, seg < len - off ? seg : len - off);
	return seg <= t->room ? STR_TAKE_DONE : STR_TAKE_LOOK;
}

/*
 * inet_short_take - receive one datagram into the caller's memory; inside the
 * perimeter
 */
STR_HOT int
inet_short_take(queue_t *q, struct str_take *t)
{
	struct inet *in = q->q_ptr;

	if (in == NULL || !inet_short_takes(in) || in->tp.up != 0 ||
		t->croom < sizeof(struct T_unitdata_ind) +
			sizeof(struct sockaddr_in6))
		return STR_TAKE_LOOK;
	if (in->behind == NULL)
		in->behind = kmem_alloc(SHORT_BEHIND, KM_NOSLEEP);
	if (in->behind == NULL) {
		str_store(&in->lend->in, 0u);
		return STR_TAKE_LOOK;
	}
	return in->trains || (t->room > SHORT_COPY && t->room < SHORT_BEHIND) ?
		take_one(in, t) : take_alone(in, t);
}

/* inet_short_end - the endpoint is being closed */
void
inet_short_end(struct inet *in)
{
	if (in->behind != NULL)
		kmem_free(in->behind, SHORT_BEHIND);
	in->behind = NULL;
}

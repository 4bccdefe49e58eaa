/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * tcp - connections over the kernel's stream sockets.
 *
 * Phases.  An endpoint is NONE, LISTEN, CALLING or OPEN. drv/tpi keeps the
 * states of TPI; the phase describes the socket.
 *
 *	T_CONN_REQ	connect(), CALLING; when the socket can be written, or
 *			has an error, T_CONN_CON or T_DISCON_IND
 *	listening	accept() while fewer than qlen indications wait; the
 *			new socket is the indication's cookie
 *	T_CONN_RES	the new socket is given to the accepting endpoint.  If
 *			that is the listener, its own socket is kept aside, so
 *			that it keeps the port, and is used again after the
 *			connection
 *	EOF		T_ORDREL_IND, after all data; both sides released: the
 *			socket is closed, the kernel sends what it still has
 *	an error	T_DISCON_IND with the errno
 *
 * Reading.  Each receive fills a block; its size depends on the last receives.
 * Expedited data is TCP's urgent byte, kept in its place in the stream
 * (SO_OOBINLINE): a read ends before it, and SIOCATMARK is true there.  We do
 * not call SIOCATMARK after an event of plain data only, because the event
 * would have included urgent data.
 *
 * Writing is in out.c.
 *
 * Crash.  Data on the write queue remains for the next thread; the endpoint
 * points to a socket before events can come from it.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include "inet_impl.h"

#define TCP_IS_CLOSED 7 /* tcp_info.tcpi_state: TCP_CLOSE */

static const uint32_t tcp_size[] = {2112, 16576, 65472};
#define TCP_LEVELS 3u
#define TCP_GLANCE 64u /* indications checked at each tick */
#define TCP_LOOK 10 /* ticks between two checks of waiting calls */

/* inet_tcp_sends - may data be sent now?  By the states of drv/tpi. */
int
inet_tcp_sends(const struct inet *in)
{
	return in->phase == INET_OPEN && !in->tp.dead &&
		(in->tp.state == TS_DATA_XFER ||
			in->tp.state == TS_WREQ_ORDREL);
}

/* inet_tcp_takes - may data be received and sent up unchanged? */
int
inet_tcp_takes(const struct inet *in)
{
	return in->phase == INET_OPEN && !in->tp.dead && !in->eof &&
		in->ks != NULL && in->rq->q_first == NULL &&
		str_load(&in->tp.up) == 0 &&
		(in->tp.state == TS_DATA_XFER ||
			in->tp.state == TS_WIND_ORDREL);
}

/* ------------------------------------------------- beginnings and the end */

/*
 * inet_tcp_begin - a connection begins on in->ks, whose events come to this
 * stream
 */
void
inet_tcp_begin(struct inet *in)
{
	inet_out_start(in);
	in->err = 0;
	in->eof = 0;
	in->level = 0;
	in->phase = INET_OPEN;
	if (!in->reads)
		qenable(in->rq); /* data may have come before */
}

/*
 * Urgent data stays in its place in the stream.  Called before a connection can
 * exist: accepted sockets inherit the option from the listening one.
 */
static void
tcp_inline(struct inet *in)
{
	int one = 1;

	(void)ksock_setopt(in->ks, SOL_SOCKET, SO_OOBINLINE, &one,
		sizeof(one));
}

/*
 * The connection has ended, or was never made.
 * @how: KS_ABORT: reset it, or it is gone already; KS_OVER: both sides have
 * released it, and the kernel sends the data that it still has.
 */
static void
tcp_end(struct inet *in, int how)
{
	inet_out_drop(in);
	in->phase = INET_NONE;
	if (in->ks != NULL && in->any)
		ksock_unname(in->ks);
	inet_drop_sock(in, how);
	if (in->lks != NULL) {
		in->ks = in->lks;
		in->lks = NULL;
		in->drained = 0;
		ksock_attach(in->ks, in->rq);
		in->phase = INET_LISTEN;
		qenable(in->rq);
	}
}

/* The connection failed: inform the user. */
static void
tcp_failed(struct inet *in, int error)
{
	tcp_end(in, KS_ABORT);
	(void)tpi_discon_ind(&in->tp, error, NULL);
}

/* ------------------------------------------------------------- operations */

/*
 * Do not pace data to a loopback address @to: if the system's congestion
 * control delays segments by timers (bbr), use the plain one (RFC 5681)
 * instead.  Called before there is a connection: accepted sockets inherit from
 * the listening one.
 */
static void
tcp_unpaced(struct inet *in, const struct sockaddr_storage *to)
{
	char name[16] = "";
	uint32_t len = sizeof(name) - 1;

	if (inet_addr_loopback(to) &&
	    ksock_getopt(in->ks, IPPROTO_TCP, TCP_CONGESTION, name, &len) == 0 &&
	    bcmp(name, "bbr", 3) == 0)
		(void)ksock_setopt(in->ks, IPPROTO_TCP, TCP_CONGESTION, "reno",
			4);
}

/*
 * @qlen limits the indications, not the system's queue: if that one is full, the
 * system drops the SYN, and the caller waits for a second until it sends another.
 */
static int
tcp_listen(struct inet *in, const struct tpi_addr *at)
{
	struct sockaddr_storage ss;

	bzero(&ss, sizeof(ss));
	bcopy(at->buf, &ss, at->len < sizeof(ss) ? at->len : sizeof(ss));
	tcp_unpaced(in, &ss);
	tcp_inline(in);
	in->drained = 0;
	return ksock_listen(in->ks, (int)INET_QLEN);
}

static int
tcp_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	struct inet *in = inet_of(tp);
	int err;

	in->phase = INET_NONE; /* whatever a dead thread had begun */
	err = inet_bind_to(in, want, any, got);
	if (err != 0)
		return err;
	if (*qlen > INET_QLEN)
		*qlen = INET_QLEN;
	if (*qlen == 0)
		return 0;
	err = tcp_listen(in, got);
	if (err == -EADDRINUSE && any) {
		struct sockaddr_storage ss;
		uint32_t len = sizeof(ss);

		/* bind() can share the port with another socket, but listen()
		 * refuses if that one listens: take another port */
		inet_drop_sock(in, 0);
		bcopy(got->buf, &ss, got->len);
		((struct sockaddr_in *)(void *)&ss)->sin_port = 0;
		len = got->len;
		err = inet_bind_to(in,
			&(struct tpi_buf){(unsigned char *)&ss, len}, 0, got);
		if (err != 0)
			return err;
		err = tcp_listen(in, got);
	}
	if (err != 0) {
		inet_drop_sock(in, 0);
		return inet_tli(err);
	}
	in->phase = INET_LISTEN;
	return 0;
}

static int
tcp_unbind(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	in->phase = INET_NONE;
	return inet_unbind(tp);
}

/* Errors of connect() that come from the peer or from the network. */
static int
is_refusal(int err)
{
	return err == -ECONNREFUSED || err == -ENETUNREACH ||
		err == -EHOSTUNREACH || err == -ETIMEDOUT ||
		err == -ECONNRESET || err == -EHOSTDOWN || err == -ENETDOWN ||
		err == -EADDRNOTAVAIL; /* no local address for the call */
}

static int
tcp_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data)
{
	struct inet *in = inet_of(tp);
	struct sockaddr_storage ss;
	uint32_t len;
	int err;

	if (data != NULL && msgdsize(data) != 0)
		return -TBADDATA;
	err = inet_addr_check(to, &ss, &len);
	if (err != 0)
		return err;
	if (((struct sockaddr_in *)(void *)&ss)->sin_port == 0)
		return -TBADADDR;
	if (in->phase == INET_CALLING || in->phase == INET_OPEN)
		tcp_end(in, KS_ABORT); /* a call of a dead thread */
	if (in->phase == INET_LISTEN) {
		/* a listener that calls: keep its socket aside until the
		 * connection has ended */
		ksock_attach(in->ks, NULL);
		in->lks = in->ks;
		in->ks = NULL;
		in->phase = INET_NONE;
		err = inet_sock(in, ss.ss_family);
	} else if (in->ks == NULL || in->family != ss.ss_family) {
		err = inet_rebind(in, ss.ss_family);
	}
	if (err == 0) {
		in->phase = INET_CALLING;
		tcp_unpaced(in, &ss);
		tcp_inline(in);
		err = ksock_connect(in->ks, &ss, len);
	}
	if (err != 0 && err != -EINPROGRESS && !is_refusal(err)) {
		tcp_end(in, KS_ABORT);
		return inet_tli(err);
	}
	if (data != NULL)
		freemsg(data);
	in->err = is_refusal(err) ? -err : 0;
	qenable(in->rq); /* it may be over already */
	return 0;
}

static int
tcp_accept(struct tpi *tp, struct tpi *to, struct tpi_ind *ind, mblk_t *data)
{
	struct inet *in = inet_of(tp), *at = inet_of(to);
	ksock_t *ks = ind->cookie;

	if (data != NULL && msgdsize(data) != 0)
		return -TBADDATA;
	if (ind->gone != 0 || ks == NULL)
		return -TBADSEQ;
	if (data != NULL)
		freemsg(data);
	if (at != in) {
		/* attach it there now: this endpoint may be closed before the
		 * other one takes `given' */
		ksock_attach(ks, at->rq);
		if (in->tuned)
			str_store(&at->tuned, 1u);
		str_store_rel(&at->given, ks);
		qenable(at->rq);
	} else {
		ksock_attach(in->ks, NULL);
		in->lks = in->ks;
		in->ks = ks;
		ksock_attach(ks, in->rq);
		inet_apply(in);
		inet_tcp_begin(in);
	}
	ind->cookie = NULL;
	qenable(in->rq); /* there may be more indications */
	return 0;
}

static int
tcp_disconnect(struct tpi *tp, struct tpi_ind *ind, mblk_t *data)
{
	struct inet *in = inet_of(tp);

	if (data != NULL && msgdsize(data) != 0)
		return -TBADDATA;
	if (data != NULL)
		freemsg(data);
	if (ind != NULL) {
		ksock_close(ind->cookie, KS_ABORT);
		ind->cookie = NULL;
		qenable(in->rq);
		return 0;
	}
	tcp_end(in, KS_ABORT);
	return 0;
}

/*
 * Data that drv/tpi had to queue.  While drv/tpi serves one request between the
 * data (in->marking), EAGAIN makes it put the data behind that request back on
 * the queue: inet_out_flush() sends it from there.
 */
static int
tcp_data(struct tpi *tp, mblk_t *mp, int flags)
{
	struct inet *in = inet_of(tp);

	if (in->marking || in->phase != INET_OPEN || in->out.dead)
		return EAGAIN;
	inet_out_data(in, mp);
	return 0;
}

static int
tcp_exdata(struct tpi *tp, mblk_t *mp, int flags)
{
	struct inet *in = inet_of(tp);
	struct iovec iov;
	mblk_t *bp;
	long n;

	if (in->phase != INET_OPEN || in->out.dead)
		return EAGAIN;
	if (!in->marking && !inet_out_flush(in))
		return EAGAIN;
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		if (DB_TYPE(bp) != M_DATA || MBLKL(bp) == 0)
			continue;
		iov.iov_base = bp->b_rptr;
		iov.iov_len = (size_t)MBLKL(bp);
		str_store(&in->out.direct, 1u);
		n = ksock_send(in->ks, &iov, 1, MSG_OOB | MSG_NOSIGNAL);
		if (n > 0)
			str_store(&in->out.base, in->out.base + (uint64_t)n);
		str_store(&in->out.direct, 0u);
		if (n == -EAGAIN || n == -EIO) {
			in->out.want = KS_OUT;
			ksock_want(in->ks, KS_OUT);
			return EAGAIN;
		}
		if (n < 0) {
			if (n != -EINTR)
				inet_out_failed(in, (int)n);
			break;
		}
		bp->b_rptr += n;
	}
	freemsg(mp);
	return 0;
}

static int
tcp_ordrel(struct tpi *tp, mblk_t *data)
{
	struct inet *in = inet_of(tp);
	int one = 1;

	if (in->phase != INET_OPEN || in->out.dead)
		return EAGAIN;
	if (!in->marking && !inet_out_flush(in))
		return EAGAIN;
	if (data != NULL)
		freemsg(data);
	/* the port can be used again while this connection ends */
	(void)ksock_setopt(in->ks, SOL_SOCKET, SO_REUSEADDR, &one,
		sizeof(one));
	(void)ksock_shutdown(in->ks, SHUT_WR);
	if (in->eof)
		tcp_end(in, KS_OVER);
	return 0;
}

static void
tcp_close(struct tpi *tp)
{
	struct inet *in = inet_of(tp);
	struct tpi_ind *ind;
	struct iovec iov = {NULL, 1u << 30};
	int flags = MSG_TRUNC, abort;

	inet_enter(in);
	for (ind = tp->ind; ind != NULL; ind = ind->next)
		if (ind->cookie != NULL)
			ksock_close(ind->cookie, KS_ABORT);
	/* after an M_ERROR the head has flushed the waiting data */
	abort = in->phase != INET_OPEN || inet_linger_abort(in) ||
		in->tp.dead || in->out.dead;
	if (!abort) {
		/* accepted data that cannot be sent any more is lost: reset, so
		 * that the peer does not take this for the end of the data */
		(void)inet_out_flush(in);
		abort = inet_out_left(in);
	}
	if (!abort) {
		/* with unread data the kernel would reset the connection and
		 * discard unsent data */
		(void)ksock_recv(in->ks, &iov, 1, &flags);
		if (in->any)
			ksock_unname(in->ks);
	}
	if (in->lks != NULL)
		ksock_close(in->lks, KS_ABORT);
	in->lks = NULL;
	in->phase = INET_NONE;
	inet_drop_sock(in, abort ? KS_ABORT : 0);
}

/* ------------------------------------------------------------------ events */

/* Check whether a call has been answered. */
static void
tcp_called(struct inet *in)
{
	struct sockaddr_storage ss;
	uint32_t len = sizeof(ss);
	int err = in->err;

	if (err == 0 && ksock_name(in->ks, 1, &ss, &len) != 0) {
		err = ksock_error(in->ks);
		if (err == 0 || err == EIO)
			return; /* not yet, or no descriptor yet */
	}
	if (err != 0) {
		tcp_failed(in, err);
		return;
	}
	inet_tcp_begin(in);
	err = tpi_conn_con(&in->tp,
		&(struct tpi_buf){(unsigned char *)&ss, len}, NULL);
	if (err == ENOSR) {
		in->phase = INET_CALLING; /* a tick later */
		tpi_retry(&in->tp);
	} else if (err != 0) {
		tcp_end(in, KS_ABORT);
	}
}

/* Has the connection of a waiting indication been reset? 0, or the errno. */
static int
tcp_is_gone(ksock_t *ks)
{
	struct tcp_info ti;
	uint32_t len = sizeof(ti);
	int err;

	if (ks == NULL || ksock_getopt(ks, IPPROTO_TCP, TCP_INFO, &ti,
		&len) != 0 || ti.tcpi_state != TCP_IS_CLOSED)
		return 0;
	err = ksock_error(ks);
	return err != 0 ? err : ECONNRESET;
}

/*
 * A caller may give up before it is answered.  A stream gets the events of one
 * socket only, so there is no event for that: while indications wait, a timer
 * makes us check some of them at each tick, in turn.
 */
static void
tcp_pending(struct inet *in)
{
	struct tpi_ind *ind, *next;
	ksock_t *ks;
	uint32_t n;
	int err;

	/* they are sorted by their numbers, which have 31 bits */
	for (ind = in->tp.ind; ind != NULL &&
		(t_scalar_t)((ind->seq - in->looked) << 1) <= 0;)
		ind = ind->next;
	if (ind == NULL)
		ind = in->tp.ind;
	for (n = 0; ind != NULL && n < TCP_GLANCE; ind = next, n++) {
		next = ind->next;
		in->looked = ind->seq;
		ks = ind->cookie;
		err = tcp_is_gone(ks);
		if (err == 0)
			continue;
		(void)tpi_conn_gone(&in->tp, ks, err, NULL);
		ksock_close(ks, KS_ABORT);
	}
}

/* Errors of accept() about a call that has ended, or about the network. */
static int
is_of_call(int err)
{
	return err == -ECONNABORTED || err == -ECONNRESET || err == -EINTR ||
		err == -EHOSTDOWN || err == -EHOSTUNREACH ||
		err == -ENETDOWN || err == -ENETUNREACH || err == -ENONET ||
		err == -ENOPROTOOPT || err == -EOPNOTSUPP || err == -EPERM ||
		err == -EPROTO || err == -ETIMEDOUT;
}

/* There is no event when there are descriptors or memory again. */
static int
is_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM ||
		err == -ENOBUFS || err == -ENOSR;
}

static void
tcp_listening(struct inet *in)
{
	struct tpi *tp = &in->tp;
	struct sockaddr_storage ss;
	uint32_t len;
	uint32_t bad = 0;
	ksock_t *ks;
	int err = 0;

	if (in->ticked) {
		in->ticked = 0;
		tcp_pending(in);
	}
	while (!in->drained && tpi_can_call(tp)) {
		len = sizeof(ss);
		err = ksock_accept(in->ks, &ks, &ss, &len);
		in->drained = err == -EAGAIN;
		if (is_of_call(err) && bad++ < INET_QLEN)
			continue;
		if (err != 0)
			break;
		if (tpi_conn_ind(tp, &(struct tpi_buf){(unsigned char *)&ss,
			len}, NULL, ks) != 0)
			ksock_close(ks, KS_ABORT);
	}
	if (__atomic_load_n(&tp->ind, __ATOMIC_RELAXED) != NULL ||
		is_shortage(err) || is_of_call(err))
		inet_later(in, TCP_LOOK);
}

/* --------------------------------------------------------------- reading */

/* The peer has sent its last data. */
static void
tcp_eof(struct inet *in)
{
	int last = in->tp.state == TS_WIND_ORDREL;

	if (in->err != 0) {
		tcp_failed(in, in->err);
		return;
	}
	in->eof = 1;
	if (last)
		tcp_end(in, KS_OVER);
	(void)tpi_ordrel_ind(&in->tp, NULL);
}

/*
 * A send found that the connection has ended.  Take all received data out of
 * the socket and send it up, without flow control, because the T_DISCON_IND
 * follows that data.  Until then the user's output stays on the write queue,
 * where flow control stops the user.
 */
static void
tcp_rest(struct inet *in)
{
	uint32_t size = tcp_size[TCP_LEVELS - 1], len = sizeof(int);
	struct iovec iov;
	int most = 0, mark, err;
	mblk_t *mp;
	long n;

	if (ksock_getopt(in->ks, SOL_SOCKET, SO_RCVBUF, &most, &len) != 0)
		most = 0;
	while (most > 0 && !in->eof) {
		mp = allocb(size, BPRI_MED);
		if (mp == NULL) {
			inet_again(in, size);
			return;
		}
		mark = 0;
		(void)ksock_ioctl(in->ks, SIOCATMARK, &mark);
		iov.iov_base = mp->b_rptr;
		iov.iov_len = mark ? 1 : size;
		n = ksock_recv(in->ks, &iov, 1, NULL);
		if (n > 0) {
			mp->b_wptr += n;
			most -= (int)n;
			err = tpi_data_force(&in->tp, mp, 0, mark);
			if (err == 0)
				continue;
		}
		freemsg(mp);
		if (n != -EINTR)
			break;
	}
	tcp_failed(in, in->err);
}

/* Send received data up; it cannot be put back. 0: there is no connection. */
static int
tcp_up(struct inet *in, mblk_t *mp, int urgent)
{
	int err = urgent ? tpi_exdata_ind(&in->tp, mp, 0) :
			   tpi_data_ind(&in->tp, mp, 0);

	if (err == EAGAIN)
		err = tpi_data_force(&in->tp, mp, 0, urgent);
	if (err != 0)
		freemsg(mp);
	return err == 0;
}

/* A receive returned no data; @n: the end, or an errno. 1: try again. */
static int
tcp_none(struct inet *in, long n)
{
	if (n == 0)
		tcp_eof(in);
	else if (n != -EAGAIN && n != -EINTR && n != -EIO)
		tcp_failed(in, in->err != 0 ? in->err : (int)-n);
	return n == -EINTR;
}

/*
 * One receive into @mp. 1: go on.  A short receive has emptied the socket, and
 * later data gives a new event.  But without an event of plain data (@plain),
 * the end may have been reported already.
 */
static int
tcp_read(struct inet *in, mblk_t *mp, uint32_t size, int urgent, int plain)
{
	struct iovec iov = {mp->b_rptr, size};
	long n = ksock_recv(in->ks, &iov, 1, NULL);

	if (n <= 0) {
		freemsg(mp);
		return tcp_none(in, n);
	}
	mp->b_wptr += n;
	in->out.got = 1;
	if (urgent)
		return tcp_up(in, mp, 1);
	if ((uint32_t)n == size && in->level < TCP_LEVELS - 1)
		in->level++;
	else if (in->level > 0 && (uint32_t)n <= tcp_size[in->level - 1] / 2)
		in->level--;
	return tcp_up(in, mp, 0) && (!plain || (uint32_t)n == size);
}

/*
 * Find out how much data is in the socket.  That data cannot become urgent any
 * more, whereas an urgent byte that came between SIOCATMARK and the receive
 * would be taken for plain data.  Return: as ksock_recv().
 */
static long
tcp_there(struct inet *in)
{
	char c;
	struct iovec iov = {&c, 1};
	int flags = MSG_PEEK;

	return ksock_recv(in->ks, &iov, 1, &flags);
}

static void
tcp_input(struct inet *in)
{
	int plain = !in->odd;

	if (in->phase == INET_OPEN && in->out.dead && in->err != 0) {
		tcp_rest(in);
		return;
	}
	while (in->phase == INET_OPEN && !in->eof) {
		uint32_t size = tcp_size[in->level];
		int mark = 0;
		mblk_t *mp;

		if (in->tp.state != TS_DATA_XFER &&
			in->tp.state != TS_WIND_ORDREL)
			return;
		if (!tpi_canput(&in->tp))
			return;
		if (in->odd) {
			long n = tcp_there(in);

			if (n <= 0 && tcp_none(in, n))
				continue;
			if (n <= 0)
				return;
			(void)ksock_ioctl(in->ks, SIOCATMARK, &mark);
		}
		in->odd = 1; /* the event was for this receive only: before the
			      * next one, ask for urgent data */
		if (mark)
			size = 1;
		mp = allocb(size, BPRI_MED);
		if (mp == NULL) {
			in->level = 0;
			inet_again(in, size);
			return;
		}
		if (!tcp_read(in, mp, size, mark, plain))
			return;
	}
}

/* ------------------------------------------------------ service procedures */

/* Process the socket's events; for both service procedures. */
static void
tcp_look(struct inet *in)
{
	switch (in->phase) {
	case INET_LISTEN:
		tcp_listening(in);
		break;
	case INET_CALLING:
		tcp_called(in);
		break;
	default:
		break;
	}
}

static void
tcp_rsrv(struct tpi *tp)
{
	struct inet *in = inet_of(tp);

	tcp_look(in);
	tcp_input(in);
}

/*
 * inet_tcp_push - send the waiting data, and let drv/tpi serve each request
 * between the data in its turn
 */
void
inet_tcp_push(struct inet *in)
{
	mblk_t *mp;

	while (in->phase == INET_OPEN && !in->out.dead &&
		inet_out_flush(in) && in->wq->q_first != NULL) {
		mp = in->wq->q_first;
		in->marking = 1;
		(void)tpi_wsrv(in->wq, inet_ops(in));
		in->marking = 0;
		if (in->wq->q_first == mp)
			return;
	}
}

/* The write service procedure's body. */
void
inet_tcp_wsrv(struct inet *in)
{
	tcp_look(in);
	if (in->phase == INET_OPEN && in->out.dead)
		qenable(in->rq); /* the read side reports the end and empties
				  * this queue */
	else if (in->phase == INET_OPEN)
		inet_tcp_push(in);
	else
		(void)tpi_wsrv(in->wq, inet_ops(in));
}

/* ------------------------------------------------------------------- tables */

#define TCP_OPS(name_, addr_) \
	const struct tpi_ops name_ = { \
		.name = "inet", \
		.size = sizeof(struct inet), \
		.info = { \
			.PRIM_type = T_INFO_ACK, \
			.TSDU_size = 0, \
			.ETSDU_size = 1, \
			.CDATA_size = T_INVALID, \
			.DDATA_size = T_INVALID, \
			.ADDR_size = (addr_), \
			.OPT_size = TPI_OPTMAX, \
			.TIDU_size = 65535, \
			.SERV_type = T_COTS_ORD, \
			.PROVIDER_flag = XPG4_1, \
		}, \
		.opt = inet_opt_tcp, \
		.nopt = INET_NOPT_TCP, \
		.prov = inet_prov_tcp, \
		.open = inet_open, \
		.close = tcp_close, \
		.bind = tcp_bind, \
		.unbind = tcp_unbind, \
		.clash = tpi_port_clash, \
		.connect = tcp_connect, \
		.accept = tcp_accept, \
		.disconnect = tcp_disconnect, \
		.data = tcp_data, \
		.exdata = tcp_exdata, \
		.ordrel = tcp_ordrel, \
		.getopt = inet_getopt, \
		.setopt = inet_setopt, \
		.addrs = inet_addrs, \
		.rsrv = tcp_rsrv, \
	}

TCP_OPS(inet_tcp_ops, 16);
TCP_OPS(inet_tcp6_ops, 28);

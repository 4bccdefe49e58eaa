/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Output of a connection, from the writer to the kernel's socket.
 *
 * When.  A message is sent at once when the connection is idle: nothing waits,
 * and the last send was some time ago or data has been received since.  Under
 * load messages wait on the write queue, without enabling it, until there is a
 * batch, or half a millisecond has passed, or this thread is about to sleep
 * (KS_SOON); then one call sends all of them.  A batch is two blocks: with
 * socket buffers of the usual sizes the kernel has that much in transit at a
 * time; with one block it would stop after one segment.  With T_TCP_NODELAY no
 * message waits for a batch: each is sent at once.  Data for which the
 * kernel has no room stays on the queue until there is room (KS_OUT); the queue
 * fills up, and flow control stops the writer.
 *
 * The gathering block.  Small messages are copied one behind the other into a
 * block, the last on the queue, which begins with its number of bytes.  The
 * queue counts it as full from the beginning, so only that number changes: a
 * small message costs a copy and no lock.
 *
 * Lending.  The Stream head copies into the open block itself, and sends long
 * data itself while nothing waits (struct ksock_lend).  The block is lent for a
 * number of messages only; the next one passes through here, where the clock is
 * read.
 *
 * Positions. `tail' counts the bytes that were accepted, `left' those that the
 * kernel has taken, `front' those before the queue's first message. `left -
 * front' bytes of the first message have been sent.
 *
 * Crash.  Accepted data stays on the queue until the kernel has it, so it is
 * not lost if the accepting thread dies.  A kill between the send and the
 * update of `left' leaves `busy' set.  Then inet_out_mend() asks the kernel how
 * much it has got (`base' is its count when `left' was 0), so that nothing is
 * sent twice.  If that is unknown, the connection is reset.  A kill during a
 * send of a message that did not wait leaves `direct' set: the message was not
 * accepted, but `base' is no longer valid. `adding' is the address of a message
 * that is being put on the queue, `going' of one that is being removed.  A
 * message of another writer, from the perimeter's backlog, is put back if it
 * was neither queued nor gathered (str_msg_goes()); so it is never sent without
 * waiting.  The perimeter of the queue pair protects all of this.
 */
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include "inet_impl.h"

#define OUT_IOV 128u	   /* blocks of one call */
#define OUT_MOST 262144u   /* bytes of one call */
#define OUT_BLOCK 65472u   /* a gathering block; with its header 64 KiB */
#define OUT_HEAD 16u	   /* its own header */
#define OUT_GATHERS 0x8000 /* b_flag: it is one */
#define OUT_SMALL 8192u	   /* messages that are copied into one */
#define OUT_BLOCKS 2u	   /* so many are a batch */
#define OUT_ROOM (OUT_BLOCK - OUT_HEAD)
/* enough to send: the next message may need one more block */
#define OUT_BATCH (OUT_BLOCKS * OUT_ROOM - 4096u)
#define OUT_FULL ((OUT_BLOCKS - 1) * OUT_ROOM)
#define OUT_DIRECT (OUT_SMALL + 1) /* messages that are sent at once if none
				    * waits */
#define OUT_LENT 32u	   /* messages of one size before the clock is read */
#define OUT_IDLE INET_US(50)
#define OUT_LATE INET_US(500)

/* Not data: drv/tpi has put it there, and serves it in its turn. */
static int
is_request(mblk_t *mp)
{
	return DB_TYPE(mp) != M_DATA;
}

/* A gathering block begins with the number of bytes in it. */
static uint64_t *
out_counts(mblk_t *mp)
{
	return (uint64_t *)(void *)mp->b_rptr;
}

static uint32_t *
out_filled(mblk_t *mp)
{
	return (uint32_t *)(void *)mp->b_rptr;
}

static int
is_gather(const mblk_t *mp)
{
	return (mp->b_flag & OUT_GATHERS) != 0;
}

/* Free bytes in it. */
static uint32_t
out_room(mblk_t *mp)
{
	return (uint32_t)MBLKL(mp) - OUT_HEAD - *out_filled(mp);
}

static uint32_t
out_len(mblk_t *mp)
{
	return is_gather(mp) ? *out_filled(mp) : (uint32_t)msgdsize(mp);
}

static void
out_want(struct inet *in, uint32_t events)
{
	if (in->out.want != events) {
		in->out.want = events;
		ksock_want(in->ks, events);
	}
}

/* Number of bytes that the kernel has been given on this connection. */
static int
out_taken(struct inet *in, uint64_t *ret)
{
	struct tcp_info a, b;
	uint32_t len;
	int outq, i, err;

	for (i = 0; i < 1000; i++) {
		len = sizeof(a);
		err = ksock_getopt(in->ks, IPPROTO_TCP, TCP_INFO, &a, &len);
		if (err != 0)
			return err;
		err = ksock_ioctl(in->ks, SIOCOUTQ, &outq);
		if (err != 0)
			return err;
		len = sizeof(b);
		err = ksock_getopt(in->ks, IPPROTO_TCP, TCP_INFO, &b, &len);
		if (err != 0)
			return err;
		if (a.tcpi_bytes_acked == b.tcpi_bytes_acked) {
			*ret = a.tcpi_bytes_acked + (uint64_t)outq;
			return 0;
		}
	}
	return -EAGAIN;
}

/*
 * inet_out_start - a connection begins: reset the positions
 * An accepted socket has inherited its TCP_NODELAY from the listening one: if
 * options were ever set here or there, the kernel is asked.
 */
void
inet_out_start(struct inet *in)
{
	struct inet_out *o = &in->out;
	int nodelay = 0;
	uint32_t len = sizeof(nodelay);

	if (str_unlikely(str_load(&in->tuned) != 0))
		(void)ksock_getopt(in->ks, IPPROTO_TCP, TCP_NODELAY, &nodelay,
			&len);
	o->prompt = nodelay != 0;
	o->front = o->left = o->tail = 0;
	o->busy = 0;
	o->direct = 0;
	o->want = 0;
	o->dead = 0;
	o->going = 0;
	o->adding = 0;
	o->based = 0;
	o->got = 1;
}

/*
 * inet_out_failed - a send failed: the connection was reset, or timed out.  The read side informs
 * the user; until then the waiting data stays, and stops the writer.
 */
void
inet_out_failed(struct inet *in, int err)
{
	in->out.dead = 1;
	in->out.busy = 0;
	out_want(in, 0);
	if (in->err == 0)
		in->err = err == -EPIPE ? ECONNRESET : -err;
	qenable(in->rq);
}

/*
 * inet_out_unlend - end the loan to the head
 * The block says how much the head has copied into it.
 */
void
inet_out_unlend(struct inet *in)
{
	struct ksock_lend *l = in->lend;
	struct inet_out *o = &in->out;

	str_store(&l->in, 0u);
	str_store(&l->out, 0u);
	str_store(&l->safe, 0u);
	str_store(&l->round, l->round + 1);
	if (l->at != NULL) {
		/*
		 * set, not added to: after a kill before the next line it is
		 * repeated
		 */
		o->tail = o->accepted + (*l->filled - o->lent);
		str_store(&l->at, (unsigned char *)NULL);
	}
	if (str_likely(l->used == 0))
		return;
	if (l->busy) {
		o->based = 0; /* the kernel may have counted what we have not */
		l->busy = 0;
	}
	if (l->sent != 0) {
		str_store(&o->direct, 1u);
		o->left = o->front = o->tail += l->sent;
		l->sent = 0;
		str_store(&o->direct, 0u);
		o->got = 0;
		o->last = inet_ticks();
	}
	if (l->got) {
		o->got = 1;
		str_store(&l->got, 0u);
	}
	if (l->err != 0) {
		if (in->phase == INET_OPEN && !o->dead)
			inet_out_failed(in, l->err);
		l->err = 0;
	}
	l->used = 0;
}

/* inet_out_lend - lend the head the open block and the idle socket */
void
inet_out_lend(struct inet *in)
{
	struct ksock_lend *l = in->lend;
	struct inet_out *o = &in->out;
	mblk_t *g = in->wq->q_last;

	if (inet_short_takes(in))
		str_store(&l->in, STR_LEND_UNITS);
	if (str_unlikely(in->phase != INET_OPEN || o->dead || in->err != 0 ||
		o->busy))
		return;
	if (g != NULL && o->want != 0 && is_gather(g) && o->fresh != 0) {
		uint32_t n = *out_filled(g), most = n + out_room(g);

		l->filled = out_filled(g);
		l->limit = n + OUT_LENT * o->fresh;
		if (l->limit > most)
			l->limit = most;
		str_store(&l->soon, (uint32_t)(o->want == KS_SOON));
		o->lent = n;
		o->accepted = o->tail;
		str_store_rel(&l->at, g->b_rptr + OUT_HEAD);
	} else if (g == NULL && o->want == 0 && inet_tcp_sends(in)) {
		str_store(&l->out, o->prompt ? 1u : OUT_DIRECT);
	}
	str_store(&l->in, (uint32_t)inet_tcp_takes(in));
}

/* The first message has been sent: remove it from the queue. */
static void
out_remove(struct inet *in, mblk_t *mp, uint32_t len)
{
	struct inet_out *o = &in->out;

	o->next = o->front + len;
	str_store(&o->going, ~(uintptr_t)mp);
	(void)str_getq_done(in->wq);
	str_store(&o->front, o->next);
	str_store(&o->going, (uintptr_t)0);
	freemsg(mp);
}

/* Remove all data before `left' from the queue. */
static void
out_consume(struct inet *in)
{
	struct inet_out *o = &in->out;

	while (o->front < o->left) {
		mblk_t *mp = in->wq->q_first;
		uint32_t len;

		if (mp == NULL)
			break;
		len = out_len(mp);
		if (o->left - o->front < len)
			break;
		out_remove(in, mp, len);
	}
}

/* Try again later: there is no room, or this process has no descriptor. */
static int
is_later(long n)
{
	return n == -EAGAIN || n == -EIO;
}

/* inet_out_mend - complete the work of a thread that died in this file */
void
inet_out_mend(struct inet *in)
{
	struct inet_out *o = &in->out;
	uint64_t taken = 0, tail;
	mblk_t *mp;
	int err;

	if (o->adding != 0) {
		if (o->counts != NULL)
			str_msg_went((mblk_t *)~o->adding, o->counts);
		o->adding = 0;
	}
	if (o->going != 0) {
		for (mp = in->wq->q_first; mp != NULL && ~(uintptr_t)mp != o->going;
			mp = mp->b_next)
			;
		if (mp == NULL)
			o->front = o->next;
		o->going = 0;
	}
	for (tail = o->front, mp = in->wq->q_first; mp != NULL;
		mp = mp->b_next)
		if (!is_request(mp))
			tail += out_len(mp);
	o->tail = tail;
	if (o->left > tail)
		o->left = tail;
	if (o->direct) {
		/* the kernel may have counted what we have not */
		o->based = 0;
		o->direct = 0;
	}
	if (o->busy && in->ks != NULL && !o->dead && tail != o->front) {
		err = o->based ? out_taken(in, &taken) : -EINVAL;
		if (is_later(err))
			return; /* no descriptor here: nothing is sent */
		taken -= o->base;
		if (err != 0 || taken < o->left || taken > tail) {
			/* unknown: a reset is better than data sent twice */
			inet_out_failed(in, -ECONNABORTED);
			return;
		}
		o->left = taken;
	}
	out_consume(in);
	o->busy = 0;
}

/* Data, and requests about data: useless without a connection. */
static int
of_connection(mblk_t *mp)
{
	t_scalar_t prim;

	if (DB_TYPE(mp) == M_DATA)
		return 1;
	if (DB_TYPE(mp) != M_PROTO || MBLKL(mp) < (long)sizeof(prim))
		return 0;
	bcopy(mp->b_rptr, &prim, sizeof(prim));
	return prim == T_DATA_REQ || prim == T_EXDATA_REQ ||
		prim == T_ORDREL_REQ || prim == T_OPTDATA_REQ;
}

/* inet_out_left - does anything wait that must be sent to the peer? */
int
inet_out_left(const struct inet *in)
{
	t_scalar_t prim;
	mblk_t *mp;

	for (mp = in->wq->q_first; mp != NULL; mp = mp->b_next) {
		if (!of_connection(mp))
			continue;
		if (DB_TYPE(mp) == M_DATA)
			return 1;
		bcopy(mp->b_rptr, &prim, sizeof(prim));
		if (prim != T_ORDREL_REQ) /* which the end of the connection
					   * replaces */
			return 1;
	}
	return 0;
}

/* inet_out_drop - the connection is gone: drop what waits */
void
inet_out_drop(struct inet *in)
{
	struct inet_out *o = &in->out;
	mblk_t *mp, *next;

	o->dead = 1;
	o->going = 0;
	for (mp = in->wq->q_first; mp != NULL; mp = next) {
		next = mp->b_next;
		if (!of_connection(mp))
			continue;
		rmvq(in->wq, mp);
		freemsg(mp);
	}
	o->front = o->left = o->tail;
	if (in->ks != NULL)
		out_want(in, 0);
	o->busy = 0;
	o->direct = 0;
}

/* inet_out_flushq - M_FLUSH: data that waits is about to be dropped */
void
inet_out_flushq(struct inet *in)
{
	struct inet_out *o = &in->out;
	mblk_t *mp;

	if (in->phase != INET_OPEN || o->dead)
		return;
	if (o->busy) {
		inet_out_failed(in, -ECONNABORTED); /* it may be sent in part */
		return;
	}
	while ((mp = in->wq->q_first) != NULL && !is_request(mp)) {
		rmvq(in->wq, mp);
		freemsg(mp);
	}
	o->base -= o->tail - o->left; /* these bytes are never sent */
	o->front = o->left = o->tail;
	out_want(in, 0);
}

/* The blocks that wait, in order, up to a mark. */
static uint32_t
out_iov(struct inet *in, struct iovec *iov, size_t *ret)
{
	struct inet_out *o = &in->out;
	uint32_t n = 0, skip = (uint32_t)(o->left - o->front);
	mblk_t *mp, *bp;
	size_t total = 0;

	for (mp = in->wq->q_first; mp != NULL && !is_request(mp);
		mp = mp->b_next)
		for (bp = mp; bp != NULL; bp = bp->b_cont) {
			size_t len = is_gather(bp) ? *out_filled(bp) :
						     (size_t)MBLKL(bp);
			unsigned char *p = bp->b_rptr +
				(is_gather(bp) ? OUT_HEAD : 0);

			if (skip >= len) {
				skip -= (uint32_t)len;
				continue;
			}
			if (n == OUT_IOV || total >= OUT_MOST)
				goto out;
			iov[n].iov_base = p + skip;
			iov[n].iov_len = len - skip;
			total += iov[n++].iov_len;
			skip = 0;
		}
out:
	*ret = total;
	return n;
}

/*
 * inet_out_flush - send the waiting data to the kernel
 * Return: 1: no data waits any more before the next request that is not data;
 * 0: there was no room, or the send failed.
 */
int
inet_out_flush(struct inet *in)
{
	struct inet_out *o = &in->out;
	struct iovec iov[OUT_IOV];
	uint32_t cnt;
	size_t total;
	long n;

	if (o->dead)
		return 0;
	if (str_unlikely(o->busy)) {
		out_want(in, KS_OUT); /* inet_out_mend() could not find out */
		return 0;
	}
	while (in->wq->q_first != NULL) {
		cnt = out_iov(in, iov, &total);
		if (cnt == 0) {
			if (is_request(in->wq->q_first))
				break;
			out_remove(in, in->wq->q_first, 0); /* no bytes */
			continue;
		}
		str_store(&o->busy, 1u);
		n = ksock_send(in->ks, iov, cnt, MSG_NOSIGNAL);
		if (n < 0) {
			str_store(&o->busy, 0u);
			if (is_later(n))
				out_want(in, KS_OUT);
			else if (n != -EINTR)
				inet_out_failed(in, (int)n);
			if (n != -EINTR)
				return 0;
			continue;
		}
		str_store(&o->left, o->left + (uint64_t)n);
		out_consume(in);
		str_store(&o->busy, 0u);
		if ((size_t)n < total) {
			out_want(in, KS_OUT);
			return 0;
		}
	}
	o->last = inet_ticks();
	out_want(in, 0);
	return 1;
}

/* Copy a small message into the gathering block. 0: it has to be queued. */
static int
out_gather(struct inet *in, mblk_t *mp, uint32_t len)
{
	mblk_t *g = in->wq->q_last, *bp;
	unsigned char *to;
	uint32_t filled;

	if (g == NULL || !is_gather(g) || out_room(g) < len) {
		g = allocb(OUT_BLOCK, BPRI_MED);
		if (g == NULL)
			return 0;
		g->b_flag |= OUT_GATHERS;
		g->b_wptr += OUT_BLOCK;
		*out_counts(g) = 0;
		(void)putq(in->wq, g);
	}
	filled = *out_filled(g);
	to = g->b_rptr + OUT_HEAD + filled;
	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		bcopy(bp->b_rptr, to, (size_t)MBLKL(bp));
		to += MBLKL(bp);
	}
	if (str_unlikely(str_msg_taken(mp))) {
		str_store(&in->out.counts, out_counts(g));
		str_msg_goes(mp, out_counts(g));
	}
	str_store_rel(out_filled(g), filled + len);
	STR_POINT("inet:gathered");
	freemsg(mp);
	return 1;
}

static void
out_queue(struct inet *in, mblk_t *mp, uint32_t len)
{
	struct inet_out *o = &in->out;

	str_store(&o->counts, (uint64_t *)NULL);
	str_store(&o->adding, ~(uintptr_t)mp);
	o->tail += len;
	if (len > OUT_SMALL || !out_gather(in, mp, len))
		(void)putq(in->wq, mp);
	str_store(&o->adding, (uintptr_t)0);
}

/* Is the gathering block too full for another message of @len bytes? */
static int
is_full(struct inet *in, uint32_t len)
{
	mblk_t *g = in->wq->q_last;

	return g == NULL || !is_gather(g) || out_room(g) < len;
}

/* Nothing waits: send @mp at once. 0: @mp, or its rest, is left. */
static int
out_direct(struct inet *in, mblk_t *mp, uint32_t len)
{
	struct iovec iov[OUT_IOV];
	struct inet_out *o = &in->out;
	uint32_t cnt = 0;
	mblk_t *bp;
	long n;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		if (cnt == OUT_IOV)
			return 0;
		iov[cnt].iov_base = bp->b_rptr;
		iov[cnt++].iov_len = (size_t)MBLKL(bp);
	}
	str_store(&o->direct, 1u);
	n = ksock_send(in->ks, iov, cnt, MSG_NOSIGNAL);
	STR_POINT("inet:sent");
	if (n > 0)
		o->left = o->front = o->tail += (uint64_t)n;
	str_store(&o->direct, 0u);
	o->got = 0;
	if (n == (long)len) {
		freemsg(mp);
		return 1;
	}
	if (n > 0)
		(void)adjmsg(mp, n);
	else if (!is_later(n) && n != -EINTR)
		inet_out_failed(in, (int)n);
	return 0;
}

/* Get the kernel's count when data may wait for the first time. */
static void
out_base(struct inet *in)
{
	struct inet_out *o = &in->out;
	uint64_t taken;

	if (out_taken(in, &taken) != 0)
		return;
	o->base = taken - o->left;
	str_store(&o->based, 1u);
}

/**
 * inet_out_data - data that the user sends on a connection
 * @mp: the data blocks; consumed
 *
 * Context: put procedure of the write side.
 */
void
inet_out_data(struct inet *in, mblk_t *mp)
{
	struct inet_out *o = &in->out;
	uint32_t len = mp->b_cont == NULL ? (uint32_t)MBLKL(mp) :
					    (uint32_t)msgdsize(mp);
	uint64_t now;

	if (str_unlikely(len == 0 || in->phase != INET_OPEN)) {
		freemsg(mp);
		return;
	}
	if (str_unlikely(o->dead)) {
		out_queue(in, mp, len); /* kept until it is dropped */
		return;
	}
	now = inet_ticks();
	if (in->wq->q_first == NULL) {
		if ((o->prompt || o->got || now - o->last > OUT_IDLE ||
			len >= OUT_DIRECT) &&
		    !str_msg_taken(mp)) {
			o->last = now;
			if (out_direct(in, mp, len))
				return;
			len = (uint32_t)msgdsize(mp);
			if (o->dead) {
				out_queue(in, mp, len);
				return;
			}
			if (!o->based)
				out_base(in);
			out_queue(in, mp, len);
			out_want(in, KS_OUT);
			return;
		}
		if (str_unlikely(!o->based))
			out_base(in);
		o->since = now;
	}
	out_queue(in, mp, len);
	o->fresh = len;
	if (o->want & KS_OUT)
		return; /* blocked; the write-space event restarts us */
	if (o->prompt || o->tail - o->left >= OUT_BATCH ||
		(o->tail - o->left >= OUT_FULL && is_full(in, len)) ||
		now - o->since > OUT_LATE)
		(void)inet_out_flush(in);
	else
		out_want(in, KS_SOON);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * read(2) on a Stream head.
 *
 * A read takes the available data.  Byte-stream mode (RNORM) continues across
 * message boundaries until the request is satisfied or no data is left; message
 * modes (RMSGD, RMSGN) end at a boundary and discard the rest or keep it; RFILL
 * waits until the request is satisfied.  Readers are serialised by the consumer
 * lock, so reads are atomic with respect to each other.
 *
 * Bytes are copied from the log directly to the caller's buffer under the lock;
 * a bad buffer gives EFAULT, and no data is consumed.
 */
#include "core.h"
#include "fast.h"
#include "sig.h"
#include "sleep.h"
#include "sock/sock.h"

#define RD_MSGD 1u
#define RD_MSGN 2u
#define RD_PROTDAT 4u
#define RD_PROTDIS 8u
#define RD_FILL 0x20u

struct reader {
	struct str_head *sd;
	struct host_call *hc;
	const struct str_iov *iov;
	int cur;
	size_t off;	/* within iov[cur] */
	size_t left;	/* bytes still wanted */
	size_t done;
	size_t base;	/* delivered before, by the fast path */
};

/* Copy @n bytes to the reader's current position; n <= r->left. */
static int
deliver(struct reader *r, const unsigned char *p, size_t n)
{
	size_t off = r->off, left = n;
	int cur = r->cur, err;

	while (left > 0) {
		size_t room = r->iov[cur].len - off;

		if (room == 0) {
			cur++;
			off = 0;
			continue;
		}
		room = STR_MIN(room, left);
		err = host_copyout(p, (char *)r->iov[cur].base + off, room);
		if (err != 0)
			return err;
		p += room;
		off += room;
		left -= room;
	}
	r->cur = cur;
	r->off = off;
	r->left -= n;
	r->done += n;
	return 0;
}

/* Deliver @n bytes of a message of blocks, from its first unread byte. */
static int
deliver_blocks(struct reader *r, mblk_t *mp, size_t n)
{
	struct reader save = *r;
	int err;

	for (; mp != NULL && n > 0; mp = mp->b_cont) {
		size_t len = STR_MIN(str_blen(mp), n);

		err = deliver(r, mp->b_rptr, len);
		if (err != 0) {
			*r = save;
			return err;
		}
		n -= len;
	}
	return 0;
}

static mblk_t *
data_part(mblk_t *mp)
{
	while (mp != NULL && mp->b_datap->db_type == M_PROTO)
		mp = mp->b_cont;
	return mp;
}

/*
 * Take one record.  Locks: clock.
 * Return: 0 go on, 1 stop here, or minus an errno with nothing taken.
 */
static int
take_record(struct reader *r, struct str_rec *rec)
{
	struct str_headq *hq = &r->sd->hq;
	uint32_t opt = r->sd->rdopt, ctl = 0, data;
	size_t want;
	bool whole;
	int err = 0;

	if (str_unlikely(rec->mp != NULL &&
		rec->mp->b_datap->db_type == M_PASSFP)) /* for I_RECVFD */
		return r->done + r->base != 0 ? 1 : -EBADMSG;
	if (rec->ctl != ~0u) {
		if ((opt & (RD_PROTDAT | RD_PROTDIS)) == 0)
			return r->done + r->base != 0 ? 1 : -EBADMSG;
		if (opt & RD_PROTDAT)
			ctl = rec->ctl;
	}
	data = rec->data != ~0u ? rec->data : 0;
	if (ctl + data == 0) {
		/* a message of 0 bytes: end of file, but not in the middle of a
		 * read; one whose control part is discarded is skipped */
		if (rec->ctl != ~0u && (opt & RD_PROTDIS) &&
		    rec->data == ~0u) {
			str_headq_advance(hq, rec, 0, 0, STR_TOOK_ALL);
			return 0;
		}
		if (r->done + r->base == 0)
			str_headq_advance(hq, rec, 0, 0, STR_TOOK_ALL);
		return 1;
	}
	want = STR_MIN((size_t)ctl + data, r->left);
	if (rec->mp == NULL) {
		uint32_t c = (uint32_t)STR_MIN((size_t)ctl, want);
		struct reader save = *r;

		if (c != 0)
			err = deliver(r, rec->cptr, c);
		if (err == 0 && want > c)
			err = deliver(r, rec->dptr, want - c);
		if (err != 0)
			*r = save;
	} else {
		err = deliver_blocks(r,
			ctl != 0 ? rec->mp : data_part(rec->mp), want);
	}
	if (err != 0)
		return r->done + r->base != 0 ? 1 : -err;
	whole = want == (size_t)ctl + data || (opt & RD_MSGD) != 0;
	if (whole) {
		str_headq_advance(hq, rec, 0, (uint32_t)want, STR_TOOK_ALL);
	} else {
		uint32_t c = (uint32_t)STR_MIN((size_t)ctl, want);
		uint32_t gone = ctl != 0 || rec->ctl == ~0u ? c : rec->ctl;

		/* the rest is data, except a control part that is read as data;
		 * a discarded control part is removed, too */
		str_headq_advance(hq, rec, gone, (uint32_t)want - c,
			c == ctl ? STR_TOOK_CTL : 0);
	}
	return (opt & (RD_MSGD | RD_MSGN)) || (rec->hdr & STR_REC_MARK);
}

/*
 * For modes in which read(2) refuses control parts: sets @arg if there is one.
 */
static bool
is_data(const mblk_t *mp, const void *arg)
{
	bool *proto = *(bool *const *)arg;

	*proto = mp->b_datap->db_type != M_DATA;
	return !*proto;
}

/*
 * Take the first message of the read queue proper: data of a band is read like
 * other data; a message with a control part, of high priority, too, is refused,
 * unless the read options say how to read it.  Locks: clock.
 * Return: as take_record(); -EAGAIN if there is none.
 */
static int
take_queued(struct reader *r)
{
	uint32_t opt = r->sd->rdopt;
	bool proto = false, *told = &proto;
	mblk_t *mp, *dp;
	size_t n, want;
	int err;

	mp = str_queue_take(&r->sd->qp->rq,
		(opt & (RD_PROTDAT | RD_PROTDIS)) == 0 ? is_data : NULL, &told);
	if (mp == NULL && proto)
		return r->done + r->base != 0 ? 1 : -EBADMSG;
	if (mp == NULL)
		return -EAGAIN;
	proto = mp->b_datap->db_type != M_DATA;
	dp = mp;
	if (proto && (opt & RD_PROTDIS))
		while (dp != NULL && dp->b_datap->db_type != M_DATA)
			dp = dp->b_cont;
	n = msgsize(dp);
	if (n == 0) {
		bool gone = dp == NULL;

		if (r->done + r->base != 0 && !gone) {
			str_head_putback(r->sd, mp);
			return 1;
		}
		freemsg(mp);
		return gone ? 0 : 1;
	}
	want = STR_MIN(n, r->left);
	err = deliver_blocks(r, dp, want);
	if (err != 0) {
		str_head_putback(r->sd, mp);
		return r->done + r->base != 0 ? 1 : -err;
	}
	if (want < n && (opt & RD_MSGD) == 0) {
		mblk_t *bp;

		for (bp = dp; want > 0; bp = bp->b_cont) {
			size_t len = STR_MIN(want, str_blen(bp));

			bp->b_rptr += len;
			want -= len;
		}
		str_head_putback(r->sd, mp);
		return 1;
	}
	err = (opt & (RD_MSGD | RD_MSGN)) || (mp->b_flag & MSGMARK);
	freemsg(mp);
	return err;
}

/*
 * Read from the kernel's pipe of a PLAIN pipe, whose bytes come before those in
 * the head queue.  Locks: clock, so that no other thread moves bytes from the
 * queue to that pipe after it has been found empty.
 * Return: 0: it is empty, or there are modules; 1 stop; -EAGAIN: it must be
 * adopted first; -EFAULT.
 */
static STR_COLD int
take_kernel(struct reader *r, bool *ret_ended)
{
	struct str_head *sd = r->sd;
	long n = 1;

	if (str_plain_moved(sd, r->hc))
		return -EAGAIN;
	if (!str_plain_reads(sd, r->hc) || str_load(&sd->peer->direct) == NULL)
		return 0; /* with modules str_plain_take() has taken them */
	while (r->left != 0 && n > 0) {
		const struct str_iov *v = &r->iov[r->cur];
		size_t want = STR_MIN(v->len - r->off, r->left);

		if (want == 0) {
			r->cur++;
			r->off = 0;
			continue;
		}
		n = host_plain_get(r->hc->fd, (char *)v->base + r->off, want);
		if (n > 0) {
			r->off += (size_t)n;
			r->left -= (size_t)n;
			r->done += (size_t)n;
		}
	}
	STR_CRASH_POINT("plain:looked");
	*ret_ended = n == 0;
	return r->done != 0 ? 1 : n == -EFAULT ? -EFAULT : 0;
}

/*
 * Take all available data, according to the read options.
 * Return: 0 with r->done; 1 stop (boundary or zero-length message); -errno;
 * -EAGAIN: the pipe has become PLAIN, and nothing has been taken.
 */
static int
take_all(struct reader *r)
{
	struct str_headq *hq = &r->sd->hq;
	struct str_rec rec;
	uint32_t cpu = host_cpu();
	bool passed = false; /* there was no such message */
	bool ended = false;
	int ret = 0;

	if (str_load(&hq->ccpu) != cpu)
		str_store(&hq->ccpu, cpu);
	if (str_unlikely(str_hlock(&hq->clock, STR_HOLD_C)))
		str_headq_repair_c(hq);
	if (str_unlikely(str_head_plain(r->sd)))
		ret = take_kernel(r, &ended);
	while (r->left > 0 && ret == 0) {
		if (str_unlikely(str_load(&hq->npri) != 0)) {
			ret = take_queued(r);
			if (ret != -EAGAIN)
				continue;
			ret = 0;
			passed = true;
		}
		if (!str_headq_first(hq, &rec))
			break;
		/* it was put earlier, but is visible only now */
		if (str_unlikely(str_load(&hq->npri) != 0 && !passed))
			continue;
		ret = take_record(r, &rec);
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
	if (str_unlikely(host_tls.ntouch != 0))
		str_sched_touched(); /* writers of a band were enabled */
	if (str_unlikely(ended))
		str_plain_ended(r->sd);
	return ret;
}

/* Result of a read without data: 1 end of file, -errno, 0 wait. */
static STR_WAKE_TEXT int
dry(struct str_head *sd, struct host_call *hc)
{
	uint32_t f = str_load(&sd->flags);

	if (f & STR_H_PLEX)
		return -EINVAL;
	if (f & STR_H_RDERR) {
		int e = str_head_rderr(sd);

		return e != 0 ? -e : 1;
	}
	/* a FIFO's end of file ends when it is opened for writing */
	if (f & (STR_H_HUP | STR_H_PEER | STR_H_NOWR | STR_H_EOF)) {
		if ((f & STR_H_PEER) && hc->fd >= 0)
			(void)str_head_look(sd, hc); /* take the last bytes from
						      * outside */
		return 1;
	}
	if ((hc->fflags & STR_O_NONBLOCK) && (sd->rdopt & RD_FILL) == 0) {
		/*
		 * a thread that never sleeps would not notice the writer's
		 * death
		 */
		int err = str_head_look(sd, hc);

		if (err != 0)
			return -err;
		(void)str_sock_try(sd, hc, KS_IN);
		/* SO_NDELON: the old behaviour of terminals, without EAGAIN */
		return str_load(&sd->flags) & (STR_H_HUP | STR_H_PEER |
			STR_H_NOWR | STR_H_EOF | STR_H_NDEL) ? 1 : -EAGAIN;
	}
	return 0;
}

/*
 * The reader is about to wait: send M_READ with the number of bytes requested.
 */
static void
send_mread(struct str_head *sd, struct host_call *hc, size_t want)
{
	struct host_call *old = host_tls.call;
	mblk_t *mp = allocb(want > sizeof(long) ? want : sizeof(long),
		BPRI_MED);

	if (mp == NULL)
		return;
	mp->b_datap->db_type = M_READ;
	*(unsigned long *)(void *)mp->b_wptr = want;
	mp->b_wptr += sizeof(long);
	if (str_claim(sd->plumb) != 0) {
		freeb(mp);
		return;
	}
	host_tls.call = hc;
	(void)str_head_down(sd, mp);
	host_tls.call = old;
	str_unclaim(sd->plumb);
}

/*
 * The queue may be below low water: wake writers; @hc: the call whose
 * descriptor sends the token.
 */
void
str_wake_writers_from(struct str_head *sd, struct host_call *hc)
{
	struct host_call *old = host_tls.call;
	bool claim = (str_load(&sd->flags) & STR_H_MODS) != 0;

	host_tls.call = hc;
	if (claim)
		(void)str_claim(sd->plumb);
	str_wake_writers(sd);
	if (claim) {
		str_sched_leave(sd);
		str_unclaim(sd->plumb);
	}
	host_tls.call = old;
}

/* Run the enabled queues of @sd's stream: the caller is about to wait. */
STR_WAKE_TEXT bool
str_sched_run_head(struct str_head *sd, struct host_call *hc)
{
	struct host_call *old = host_tls.call;
	bool ran;

	if (str_load(&sd->plumb->committed) != 0) {
		/*
		 * the thread that committed this one enabled its queue before:
		 * see str_sched_leave()
		 */
		str_store(&sd->plumb->committed, 0u);
		str_fence_full();
	}
	if (str_load(&sd->plumb->nrun) == 0)
		return false;
	(void)str_claim(sd->plumb);
	host_tls.call = hc;
	ran = str_sched_run(sd->plumb);
	host_tls.call = old;
	str_unclaim(sd->plumb);
	return ran;
}

/* Is there any message to read? */
STR_HOT bool
str_head_pending(struct str_head *sd)
{
	return str_load_acq(&sd->hq.pos) != str_load(&sd->hq.cpos) ||
		str_load(&sd->hq.npri) != 0;
}

/*
 * Are there messages other than plain data?  Called after headq_peek(), so that
 * messages put before the record that it found are visible.
 */
STR_INLINE bool
is_unusual(struct str_head *sd)
{
	return (str_load(&sd->flags) & STR_READ_SLOW) != 0 ||
		str_load(&sd->hq.npri) != 0;
}
/* ... or is the read mode not the default one? */
STR_INLINE bool
is_special(struct str_head *sd)
{
	return is_unusual(sd) || sd->rdopt != 0;
}

/*
 * After a long sleep the thread's data is no longer in the caches.  So the
 * awaited message, usually a record of plain data, is taken by a short code
 * path, and take_all() takes the rest.
 */
STR_INLINE void
take_plain(struct reader *r)
{
	struct str_head *sd = r->sd;
	struct str_headq *hq = &sd->hq;
	const unsigned char *p;
	uint32_t have, span, cpu;

	if (r->off + r->left != r->iov[r->cur].len)
		return;
	cpu = host_cpu();
	if (str_load(&hq->ccpu) != cpu)
		str_store(&hq->ccpu, cpu);
	if (str_unlikely(str_hlock(&hq->clock, STR_HOLD_C)))
		str_headq_repair_c(hq);
	p = headq_peek(hq, &have, &span);
	if (p != NULL && have != 0 && have <= r->left && !is_special(sd) &&
	    host_copyout(p, (char *)r->iov[r->cur].base + r->off, have) == 0) {
		headq_next(hq, have, span);
		r->off += have;
		r->left -= have;
		r->done += have;
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
}

/* Is there nothing to take, not even in the kernel's pipe of a PLAIN pipe? */
static bool
is_empty(struct reader *r)
{
	return !str_head_pending(r->sd) &&
		str_load(&r->sd->hq.overflow) == 0 && !str_head_plain(r->sd);
}

static STR_NOINLINE STR_WAKE_TEXT long
read_slow(struct reader *r)
{
	struct str_head *sd = r->sd;
	struct host_call *hc = r->hc;
	struct str_transit transit = {0};
	bool asked = false;
	int ret;

	if (str_unlikely((str_load(&sd->peer->flags) & STR_H_AWAY) != 0))
		str_outside_home(sd, hc);
	for (;;) {
		if (str_load(&sd->flags) & STR_H_LOOK) {
			ret = str_head_look(sd, hc);
			if (ret != 0)
				return r->done != 0 ? (long)r->done : -ret;
		}
		if (str_load(&sd->flags) & (STR_H_RDERR | STR_H_PLEX)) {
			ret = dry(sd, hc);
			if (r->done != 0)
				return (long)r->done;
			return ret == 1 ? 0 : ret;
		}
		if (str_unlikely((str_load(&sd->flags) & STR_H_PLAIN) != 0)) {
			ret = str_plain_adopt(sd, hc);
			if (ret != 0)
				return r->done != 0 ? (long)r->done : -ret;
			str_plain_take(sd, hc->fd);
		}
took:
		/* empty, as the caller has seen: the thread sleeps soon */
		ret = r->left != 0 && !is_empty(r) ? take_all(r) : 0;
		if (str_unlikely(str_load(&sd->flags) & STR_H_MSIG))
			str_sig_front(sd);
		host_fence_light();
		if (str_load(&sd->hq.wwant) != 0)
			str_wake_writers_from(sd, hc);
		if (str_unlikely(ret == -EAGAIN) && r->done == 0)
			continue; /* the pipe is PLAIN now */
		if (ret < 0)
			return r->done != 0 ? (long)r->done : ret;
		if (ret == 1 || r->left == 0)
			return (long)r->done;
		if (r->done != 0 && (sd->rdopt & RD_FILL) == 0)
			return (long)r->done;
		ret = dry(sd, hc);
		if (str_unlikely(ret == 1 && str_load(&sd->hq.overflow) != 0 &&
			    !str_head_pending(sd)))
			ret = -ENOSR; /* not the end: it waits for memory */
		/* the last records may have arrived before the hang-up, or may
		 * still be in transit */
		if (ret == 1) {
			int err = str_head_transit(sd, hc, &transit);

			if (err == EAGAIN)
				continue;
			if (err != 0)
				return r->done != 0 ? (long)r->done : -err;
		}
		if (ret != 0 && (str_head_pending(sd) || str_plain_moved(sd, hc)))
			continue;
		if (ret != 0 && str_sched_run_head(sd, hc))
			continue;
		if (ret != 0) {
			if (r->done != 0)
				return (long)r->done;
			return ret == 1 ? 0 : ret;
		}
		if (!asked && (str_load(&sd->flags) & STR_H_MREAD)) {
			asked = true;
			send_mread(sd, hc, r->left);
			continue;
		}
		if (r->done != 0)
			hc->flags |= HOST_CALL_ONCE;
		ret = str_sleep(sd, hc, STR_SLEEP_READ, UINT64_MAX);
		if (ret != 0)
			return r->done != 0 ? (long)r->done : -ret;
		take_plain(r);
		/*
		 * if data has been read, errors are reported by the next call
		 */
		if (r->done != 0)
			goto took;
	}
}

STR_WAKE_TEXT long
str_head_readv(struct str_head *sd, struct host_call *hc,
	const struct str_iov *iov, int n)
{
	struct reader r = {.sd = sd, .hc = hc, .iov = iov};
	int i;

	hc->head = sd;
	if (str_unlikely(NOT_FOR_READING(str_load(&sd->flags),
		    (uint32_t)hc->fflags)))
		return -EBADF;
	i = str_tty_access(sd, hc, STR_SIGTTIN);
	if (str_unlikely(i != 0))
		return -i;
	for (i = 0; i < n; i++)
		r.left += iov[i].len;
	if (r.left == 0) {
		/* zero bytes: errors are reported, no data is taken */
		uint32_t f = str_load(&sd->flags);

		if (f & (STR_H_RDERR | STR_H_PLEX)) {
			int e = dry(sd, hc);

			return e == 1 ? 0 : e;
		}
		return 0;
	}
	return read_slow(&r);
}

/* A read that has @done bytes takes more available data, without waiting. */
static STR_NOINLINE size_t
read_more(struct str_head *sd, struct host_call *hc, void *ubuf, size_t len,
	size_t done)
{
	struct str_iov iov = {(char *)ubuf + done, len - done};
	struct reader r = {.sd = sd, .hc = hc, .iov = &iov,
		.left = len - done, .base = done};

	(void)take_all(&r);
	return done + r.done;
}

/* str_head_read_after - after a fast read: writers may wait for room. */
void
str_head_read_after(struct str_head *sd, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};

	str_wake_writers_from(sd, &hc);
}

/* More for a fast read that has @done bytes.  Return: bytes of all of it. */
STR_INLINE size_t
read_rest(struct str_head *sd, int fd, void *ubuf, size_t len, size_t done)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};
	struct str_headq *hq = &sd->hq;
	const unsigned char *p;
	uint32_t have, span;

	if (str_unlikely(str_hlock(&hq->clock, STR_HOLD_C)))
		str_headq_repair_c(hq);
	while (done < len && (p = headq_peek(hq, &have, &span)) != NULL &&
		str_load(&hq->npri) == 0 && have != 0 && have <= len - done &&
		host_copyout(p, (char *)ubuf + done, have) == 0) {
		headq_next(hq, have, span);
		done += have;
	}
	if (done < len && str_load(&hq->npri) == 0)
		done += str_headq_part(hq, (char *)ubuf + done, len - done);
	str_hunlock(&hq->clock, STR_HOLD_C);
	if (done < len && str_head_pending(sd))
		done = read_more(sd, &hc, ubuf, len, done);
	return done;
}

/*
 * Has this thread sent a request, or is the stream slow, and is there nothing to
 * read?  Then the thread sleeps soon, and a look would only execute more code.
 * A thread that only reads a fast stream does not ask: each load of pos delays
 * its writer.  Locks: clock.
 */
STR_INLINE bool
is_early(struct str_head *sd)
{
	if ((host_tls.wrote == 0 && str_load(&sd->hq.rest[0]) == 0) ||
	    str_head_pending(sd))
		return false;
	sd->hq.streak = 0; /* as after a look */
	return true;
}

/*
 * Read the first record, or, without @unit (as str_head_unit_fast()), as much
 * of it as fits.  The clock is held, and released here.  Return: bytes.
 */
STR_INLINE size_t
read_held(struct str_head *sd, void *ubuf, size_t len, struct str_thread *t,
	bool unit)
{
	struct str_headq *hq = &sd->hq;
	const unsigned char *p;
	uint32_t have = 0, span = 0;
	size_t done;

	if (is_early(sd)) {
		fast_unlock(&hq->clock, STR_HOLD_C, t);
		return 0;
	}
	p = headq_peek(hq, &have, &span);
	if (str_unlikely(unit ? is_unusual(sd) : is_special(sd))) {
		done = 0;
	} else if (str_likely(p != NULL && have - 1 < len &&
		host_copyout(p, ubuf, have) == 0)) {
		headq_next(hq, have, span);
		done = have;
	} else {
		done = !unit && str_head_pending(sd) ?
			str_headq_part(hq, ubuf, len) : 0;
	}
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	return done;
}

/*
 * Is there no data, and did the writer last run on this CPU?  Then the reader
 * yields to the writer first: in an exchange of requests and answers the data
 * is then available.  str_sleep() does the same; this is faster, for the simple
 * case only.
 */
STR_INLINE bool
is_near(struct str_head *sd, uint32_t fflags)
{
	struct str_headq *hq = &sd->hq;
	uint32_t cpu;

	if ((fflags & STR_O_NONBLOCK) != 0 || str_head_pending(sd) ||
	    str_load(&sd->direct) == NULL || host_tls.nsoon != 0 ||
	    (str_load(&sd->flags) & (STR_H_HUP | STR_H_PEER | STR_H_NOWR |
		STR_H_EOF | STR_H_LOOK)) != 0)
		return false;
	cpu = host_cpu();
	if (str_load(&hq->pcpu) != cpu || str_load(&hq->rest[0]) != 0)
		return false;
	if (str_load(&hq->ccpu) != cpu)
		str_store(&hq->ccpu, cpu);
	return true;
}

/*
 * fast_back() for a thread that makes another call at once: signals that were
 * deferred meanwhile interrupt that call.
 */
STR_INLINE long
back_soon(struct str_thread *t)
{
	fast_leave_quietly(t);
	return STR_NOT_FAST;
}

/*
 * str_head_read_tail - complete a str_head_read_fast()
 * @done: bytes it has read; with STR_FAST_HELD, which has read none, the open
 * file's flags.
 * Return: bytes, more than 0, or STR_NOT_FAST with nothing done; if it has
 * yielded the CPU, which it does not with O_NONBLOCK, signals may be deferred.
 */
STR_HOT STR_WAKE_TEXT long
str_head_read_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq = &sd->hq;

	/*
	 * no switch: its table would be one more cold page after a long sleep
	 */
	if (how == STR_FAST_HELD) {
		uint32_t fflags = (uint32_t)done;

		done = read_held(sd, ubuf, len, t, false);
		if (done == 0 && len != 0 && is_near(sd, fflags) &&
		    host_give_way()) {
			if (headq_much(hq))
				host_way_used();
			if (str_head_pending(sd) &&
				fast_lock(&hq->clock, STR_HOLD_C, t))
				done = read_held(sd, ubuf, len, t, false);
			if (done == 0)
				return back_soon(t);
		}
		if (done == 0)
			return fast_back(t);
	} else if (how == STR_FAST_PASS) {
		str_hunlock_slow(&hq->clock);
	} else if (how == STR_FAST_SIGNAL) {
		host_leave_slow();
		return (long)done;
	} else if (how != STR_FAST_AFTER) {
		return fast_back(t);
	}
	if (str_likely(done < len))
		done = read_rest(sd, fd, ubuf, len, done);
	if (str_unlikely(str_load(&hq->wwant) != 0) && !headq_stays_full(hq))
		str_head_read_after(sd, fd);
	fast_leave(t);
	return (long)done;
}

/*
 * str_head_unit_tail - complete a str_head_unit_fast()
 * Return: bytes, more than 0, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_head_unit_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how)
{
	struct str_thread *t = host_tls.slot;

	if (how == STR_FAST_HELD) {
		done = read_held(sd, ubuf, len, t, true);
		if (done == 0)
			return fast_back(t);
		how = STR_FAST_AFTER;
	}
	/* the request is satisfied: no later record is read */
	return str_head_read_tail(sd, fd, ubuf, done, done, how);
}

/* The fast path: plain data at hand, byte-stream mode, one buffer. */
STR_HOT STR_WAKE_TEXT long
str_head_read(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len)
{
	struct str_headq *hq = &sd->hq;
	struct str_iov iov = {ubuf, len};
	size_t done = 0;
	uint32_t have, span;

	hc->head = sd;
	if (str_unlikely((str_load(&sd->flags) &
			STR_READ_SLOW) != 0 ||
		NOT_FOR_READING(str_load(&sd->flags), (uint32_t)hc->fflags) ||
		sd->rdopt != 0 || len == 0))
		return str_head_readv(sd, hc, &iov, 1);
	if (str_load(&hq->rest[0]) != 0) {
		long n = str_head_await(sd, hc, ubuf, len);

		if (str_unlikely(n < 0))
			return n;
		done = (size_t)n;
		if (done != 0)
			goto some;
	}
	if (str_unlikely(str_hlock(&hq->clock, STR_HOLD_C)))
		str_headq_repair_c(hq);
	if (str_unlikely(str_load(&hq->npri) != 0) || is_early(sd))
		goto slow;
	do {
		const unsigned char *p = headq_peek(hq, &have, &span);

		if (str_unlikely(p == NULL || have == 0 || have > len - done ||
			is_special(sd)))
			break; /* empty, or not the simple case */
		if (str_unlikely(host_copyout(p, (char *)ubuf + done,
			    have) != 0)) {
			if (done != 0)
				break;
			str_hunlock(&hq->clock, STR_HOLD_C);
			return -EFAULT;
		}
		headq_next(hq, have, span);
		done += have;
	} while (done < len);
	str_hunlock(&hq->clock, STR_HOLD_C); /* its light fence orders cpos and wwant */
some:
	if (str_unlikely(done < len)) {
		/* the rest may be part of a longer record */
		if (done == 0)
			return str_head_readv(sd, hc, &iov, 1);
		if (str_head_pending(sd))
			done = read_more(sd, hc, ubuf, len, done);
	}
	if (str_unlikely(str_load(&hq->wwant) != 0))
		str_wake_writers_from(sd, hc);
	return (long)done;
slow:
	str_hunlock(&hq->clock, STR_HOLD_C);
	return str_head_readv(sd, hc, &iov, 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Operations that a driver with a socket lends the Stream head: struct
 * ksock_lend.
 *
 * Purpose.  Small data sent on a connection needs no message if the driver
 * would only copy it to the end of a gathering block; and long data need not be
 * copied if the system can read it from, or store it in, the caller's memory.
 * So the head performs operations of the driver's procedures.  It appends data
 * to the driver's open gathering block (str_lend_put).  It sends while the
 * driver is idle (str_lend_write).  While no message is at the head, it
 * receives bytes (str_lend_read), or a message by the driver's direct procedure
 * (str_lend_get).
 *
 * Order.  Each is done under a claim and inside the driver's perimeter, while
 * the perimeter's backlog is empty, and only if the modules in between pass
 * data on unchanged (STR_D_PLAIN).  So the order of the data is the same as
 * with the put procedure.  Received data follows all messages at the head,
 * because there are none.
 *
 * Events.  Data that is left in the socket is reported again to a thread that
 * sleeps on the socket, but not to one that watches edges.  So the head does
 * not receive if a process has ever watched the socket, or if streamsd does.
 *
 * Failure.  Data that is not plain is left to the driver, which finds it in the
 * socket; an error that the system reports only once is passed to the driver.
 * A thread killed in a send leaves `busy' set; one killed in a receive loses
 * the received data.
 */
#include "table.h"

#include <str/builtin.h>
#include <str/direct.h>

#include "head/fast.h"
#include "head/head.h"

#define ALONE 12288u /* reads of so much, or more, get only what they request */
#define BEHIND 2u   /* most blocks for data beyond a shorter request */
/* After SINGLE receives that found no data beyond the request, the next PROBE
 * receives use no block; one more uses a block and finds out again. */
#define SINGLE 4u
#define PROBE 16u
#define DRY 32u /* start of ksock_lend.dry: see supposed_dry() */

/* Do all modules between @sd and the driver pass data on unchanged? */
STR_INLINE bool
way_is_clear(const struct str_head *sd, const struct str_plumb *pl)
{
	queue_t *q, *d;

	if (str_unlikely(pl->driver == NULL))
		return false;
	d = &pl->driver->wq;
	if (str_likely(sd->straight == d))
		return true;
	for (q = sd->qp->wq.q_next; q != d; q = q->q_next)
		if (str_unlikely(q == NULL || q->q_pair->fmod == NULL ||
			(q->q_pair->fmod->flag & STR_D_PLAIN) == 0))
			return false;
	return true;
}

/*
 * str_lend_put - append small data to the open block
 * @id, @gen: as for str_head_enter(); fast_ready() was true.
 * Return: bytes, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_lend_put(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl = sd->plumb;
	struct ksock_lend *l = &pl->lend;
	unsigned char *at;
	bool done = false;
	uint32_t n;

	/* if the block is sent before its writer sleeps (soon), the socket must
	 * be in this thread's list of those to be sent: host_tls.soon */
	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		(str_load(&sd->flags) & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(str_load(&sd->flags), str_load(id)) ||
		(pl->lend.soon != 0 && (host_tls.nsoon == 0 ||
			host_tls.soon[0] != str_sock_of(pl))) ||
		!str_claim_first(pl)))
		return fast_back(t);
	if (str_likely(way_is_clear(sd, pl) &&
		str_perim_in_quick(pl->driver))) {
		at = l->at;
		if (str_likely(at != NULL && (n = str_load(l->filled)) + len <=
				l->limit &&
			host_copyin(ubuf, at + n, len) == 0)) {
			str_store_rel(l->filled, n + (uint32_t)len);
			STR_CRASH_POINT("lend:put");
			done = true;
		}
		str_perim_out_quick(pl->driver);
	}
	if (str_unlikely(str_load(&pl->nrun) != 0))
		str_sched_leave(sd);
	str_unclaim_first(pl);
	if (str_unlikely(!done))
		return fast_back(t);
	host_tls.wrote = 1;
	fast_leave(t);
	return (long)len;
}

/* Enter: the claim, and the driver's perimeter. */
static bool
lend_enter(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;

	if (str_claim(pl) != 0)
		return false;
	if (way_is_clear(sd, pl) && str_perim_try_idle(pl->driver))
		return true;
	str_unclaim(pl);
	return false;
}

static void
lend_leave(struct str_head *sd, struct host_call *hc)
{
	struct str_plumb *pl = sd->plumb;
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_perim_out(pl->driver);
	str_sched_leave(sd);
	host_tls.call = old;
	str_unclaim(pl);
}

/* End the loan, and enable the driver's service procedure.  It handles data
 * that is not plain, and @n, minus the errno of a call; 0: none. */
static void
give_back(struct str_plumb *pl, struct ksock_lend *l, long n)
{
	str_store(&l->in, 0u);
	str_store(&l->out, 0u);
	str_store(&l->safe, 0u);
	if (n < 0 && n != -EAGAIN && n != -EINTR && n != -EFAULT && n != -EIO)
		l->err = (int)n;
	l->used = 1;
	str_sched_enable(&pl->driver->rq);
}

/*
 * Send, inside the perimeter.  Return: bytes; -EAGAIN: nothing was sent, wait
 * for room; -EFAULT; 0: let the driver do it.
 */
STR_INLINE long
send_inside(struct str_plumb *pl, const void *ubuf, size_t len)
{
	struct ksock_lend *l = &pl->lend;
	struct str_ksock *ks = str_sock_lent(pl, false);
	long n;

	if (str_unlikely(ks == NULL || l->out == 0))
		return 0;
	l->used = 1;
	str_store(&l->busy, 1u);
	str_store(&l->got, 0u);
	n = host_sock_put(str_sock_of(pl), ubuf, len);
	STR_CRASH_POINT("ksock:sent");
	wrote(ks, n, len);
	if (str_likely(n > 0))
		str_store(&l->sent, l->sent + (uint64_t)n);
	STR_CRASH_POINT("lend:sent");
	str_store(&l->busy, 0u);
	if (str_unlikely(n < 0) && n != -EAGAIN && n != -EFAULT) {
		give_back(pl, l, n);
		n = 0;
	}
	return n;
}

/* One send: enter, send_inside(), leave. */
static long
send_some(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t len)
{
	long n = 0;

	if (!lend_enter(sd))
		return 0;
	if ((str_load(&sd->flags) & STR_WRITE_SLOW) == 0)
		n = send_inside(sd->plumb, ubuf, len);
	lend_leave(sd, hc);
	return n;
}

/*
 * Enter the perimeter, for a thread that has entered by fast_enter(); never
 * waits.
 */
STR_INLINE bool
fast_in(struct str_plumb *pl, const struct str_head *sd)
{
	if (str_unlikely(!str_claim_first(pl)))
		return false;
	if (str_likely(way_is_clear(sd, pl) &&
		str_perim_in_quick(pl->driver)))
		return true;
	str_unclaim_first(pl);
	return false;
}

STR_INLINE void
fast_done(struct str_plumb *pl, struct str_head *sd, struct str_thread *t)
{
	str_perim_out_quick(pl->driver);
	if (str_unlikely(str_load(&pl->nrun) != 0))
		str_sched_leave(sd);
	str_unclaim_first(pl);
	fast_leave(t);
}

/*
 * str_lend_send - send long data, or an answer, from the caller's memory, by a
 * thread that is not in a call
 * @id, @gen: as for str_head_enter(); fast_ready() was true.
 * Return: bytes: the rest must be written; or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_lend_send(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl = sd->plumb;
	uint32_t f;
	long n;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id)) || sd->wroff != 0 ||
		!fast_in(pl, sd)))
		return fast_back(t);
	host_tls.wrote = 1;
	n = send_inside(pl, ubuf, len);
	fast_done(pl, sd, t);
	return str_likely(n > 0) ? n : STR_NOT_FAST;
}

/*
 * str_lend_write - send long data from the caller's memory
 * Return: bytes, or 0: the rest must be written in the usual way; or minus an
 * errno.
 */
long
str_lend_write(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t len)
{
	const char *p = ubuf;
	uint32_t lent = HOST_C_OUT;
	size_t done = 0;
	int err;
	long n;

	hc->head = sd;
	host_tls.wrote = 1;
	if (NOT_FOR_WRITING(str_load(&sd->flags), (uint32_t)hc->fflags) ||
	    sd->wroff != 0)
		return 0;
	/* a part was sent, and the system accepts no more: wait first */
	if ((hc->flags & HOST_CALL_ONCE) != 0 &&
	    (hc->fflags & STR_O_NONBLOCK) == 0) {
		err = str_sleep_lent(sd, hc, &lent, NULL, NULL);
		if (err != 0)
			return -err;
	}
	while (done < len) {
		n = send_some(sd, hc, p + done, len - done);
		if (n == 0)
			break;
		if (n == -EFAULT)
			return done != 0 ? (long)done : n;
		if (n > 0) {
			done += (size_t)n;
			hc->flags |= HOST_CALL_ONCE;
			if (done == len)
				break;
		}
		lent = HOST_C_OUT;
		if (hc->fflags & STR_O_NONBLOCK)
			break;
		err = str_sleep_lent(sd, hc, &lent, NULL, NULL);
		if (err != 0)
			return done != 0 ? (long)done : -err;
	}
	return (long)done;
}

/*
 * May the head receive: is it empty, and does no other thread watch the socket?
 * Return: the socket; NULL: no.
 */
STR_INLINE struct str_ksock *
may_take(struct str_head *sd, uint32_t what)
{
	struct str_plumb *pl = sd->plumb;

	return pl->lend.in == what &&
		str_load_acq(&sd->hq.pos) == str_load(&sd->hq.cpos) &&
		(str_load(&sd->hq.npri) | str_load(&sd->hq.overflow) |
			str_load(&pl->nrun)) == 0 &&
		(str_load(&sd->flags) & (STR_READ_SLOW | STR_H_HUP |
			STR_H_PEER | STR_H_EOF | STR_H_CLOSED)) == 0 ?
		str_sock_lent(pl, true) : NULL;
}

/*
 * Blocks @mp for data beyond the request.  One system call for much data is
 * cheaper than many, and a copy of short data costs less than the difference.
 * Return: number of blocks.
 */
static unsigned
room_behind(struct ksock_lend *l, size_t len, mblk_t *mp[BEHIND])
{
	static const uint32_t sizes[] = {1984, 16576, 65472, 65472};
	uint32_t before = l->asked, level = l->room % 4;
	unsigned n, want = level == 3 ? 2 : 1;

	/* a short request after a long one is for the rest of the same data */
	l->asked = (uint32_t)len;
	if (len >= ALONE || before >= ALONE)
		return 0;
	if (level == 0 && l->single >= SINGLE && l->single < SINGLE + PROBE) {
		l->single++;
		return 0;
	}
	for (n = 0; n < want; n++) {
		mp[n] = allocb(sizes[level], BPRI_MED);
		if (mp[n] == NULL)
			break;
	}
	return n;
}

/* Learn from a receive of @n bytes, with room for @all, of which the caller
 * requested @len, how many blocks the next receive needs. */
static void
note_room(struct ksock_lend *l, size_t n, size_t all, size_t len)
{
	str_store(&l->more, (uint32_t)(n == all));
	if (len >= ALONE)
		return;
	if (all == len && l->single > SINGLE) {
		/* assume that the socket is empty now, as it usually is; if
		 * not, the next sleep on it ends at once */
		str_store(&l->more, 0u);
		return;
	}
	if (n > len)
		l->single = 0;
	else if (l->single > SINGLE)
		l->single = SINGLE;
	else if (all > len && l->single < SINGLE)
		l->single++;
	if (n == all && l->room < 3)
		l->room++;
	else if (n < all / 16 && l->room > 0)
		l->room--;
}

/* A read got @n bytes beyond the request, in the @k blocks of @mp: send them
 * up.  Free the blocks without data. */
static void
send_up(struct str_plumb *pl, struct host_call *hc, mblk_t *mp[], unsigned k,
	size_t n)
{
	struct host_call *old = host_tls.call;
	unsigned i;

	host_tls.call = hc;
	for (i = 0; i < k; i++) {
		size_t part = (size_t)(mp[i]->b_datap->db_lim - mp[i]->b_wptr);

		part = STR_MIN(part, n);
		if (part == 0) {
			freeb(mp[i]);
			continue;
		}
		mp[i]->b_wptr += part;
		n -= part;
		putnext(&pl->driver->rq, mp[i]);
	}
	host_tls.call = old;
}

/*
 * Is the next data plain?  A read stops before urgent data.  A byte in the
 * socket that is not urgent does not become urgent later.  So ask for the
 * number of bytes first, and for urgent data afterwards: if there is none, none
 * of these bytes is urgent.
 * Return: 1: yes; 0: no data; -1: the driver must look.
 */
static int
plain_is_next(struct str_plumb *pl, struct str_ksock *ks)
{
	struct ksock_lend *l = &pl->lend;
	int n = 0, mark = 0;

	if (str_load(&l->safe) != 0)
		return 1;
	if (ksock_ioctl(ks, KS_INQ, &n) != 0)
		return -1;
	if (n <= 0)
		return 0;
	if (host_sock_look(str_sock_of(pl), HOST_C_IN) == HOST_C_IN) {
		str_store(&l->safe, (uint32_t)n);
		return 1;
	}
	return ksock_ioctl(ks, KS_ATMARK, &mark) != 0 || mark ? -1 : 1;
}

/*
 * Assume without a system call that the socket is empty, because the last check
 * found it so, at most DRY receives ago?  If it is not, the next wait ends at
 * once.  Do not assume it if the wait would begin with a spin
 * (str_sleep_lent(): data comes from another CPU, and `rest' is 0): a check
 * costs less.
 */
STR_INLINE bool
supposed_dry(const struct ksock_lend *l)
{
	return str_load(&l->dry) != 0 && str_load(&l->safe) == 0 &&
		(str_load(&l->far) == 0 || str_load(&l->rest[0]) != 0);
}

STR_INLINE void
now_dry(struct ksock_lend *l)
{
	str_store(&l->more, 0u);
	str_store(&l->dry, (uint8_t)DRY);
}

/*
 * Receive once.  Return: bytes; 0: look again; -EFAULT.
 * @plain: the caller has waited, and the event said that plain data is there.
 *         That still holds if no thread has received since, that is, if
 *         l->round is still @round.
 */
static long
take_some(struct str_head *sd, struct host_call *hc, void *ubuf, size_t len,
	bool plain, uint32_t round)
{
	struct str_plumb *pl = sd->plumb;
	struct ksock_lend *l = &pl->lend;
	struct iovec iov[1 + BEHIND] = {{ubuf, len}};
	mblk_t *mp[BEHIND];
	struct str_ksock *ks;
	size_t all = len;
	uint32_t safe;
	unsigned i, k;
	int next = 1;
	long n;

	if (!lend_enter(sd))
		return 0;
	ks = may_take(sd, STR_LEND_BYTES);
	if (ks == NULL) {
		lend_leave(sd, hc);
		return 0;
	}
	if (!plain || l->round != round)
		next = plain_is_next(pl, ks);
	if (next <= 0) {
		now_dry(l);
		if (next < 0)
			give_back(pl, l, 0);
		lend_leave(sd, hc);
		return 0;
	}
	k = room_behind(l, len, mp);
	for (i = 0; i < k; i++) {
		iov[i + 1].iov_base = mp[i]->b_wptr;
		iov[i + 1].iov_len = (size_t)(mp[i]->b_datap->db_lim -
			mp[i]->b_wptr);
		all += iov[i + 1].iov_len;
	}
	/* `safe' is 0 during the receive: if this thread is killed in it, the
	 * next one asks the system again */
	safe = str_load(&l->safe);
	str_store(&l->safe, 0u);
	str_store(&l->round, l->round + 1);
	n = ksock_recv(ks, iov, k + 1, NULL);
	STR_CRASH_POINT("lend:received");
	if (n > 0) {
		l->used = 1;
		str_store(&l->got, 1u);
		str_store(&l->safe, safe - STR_MIN(safe, (uint32_t)n));
		note_room(l, (size_t)n, all, len);
	} else {
		str_store(&l->more, 0u);
		if (n != -EAGAIN && n != -EFAULT && n != -EINTR)
			give_back(pl, l, n);
		if (n != -EFAULT)
			n = 0;
	}
	send_up(pl, hc, mp, k, n > (long)len ? (size_t)n - len : 0);
	n = STR_MIN(n, (long)len);
	lend_leave(sd, hc);
	return n;
}

/* Will room_behind() take no block? */
STR_INLINE bool
none_behind(const struct ksock_lend *l, size_t len)
{
	return len >= ALONE || l->asked >= ALONE || (l->room % 4 == 0 &&
		l->single >= SINGLE && l->single < SINGLE + PROBE);
}

/* The receive itself, of data known to be plain; inside the perimeter. */
STR_INLINE long
recv_inside(struct str_plumb *pl, struct str_ksock *ks, void *ubuf, size_t len)
{
	struct ksock_lend *l = &pl->lend;
	uint32_t safe = str_load(&l->safe);
	long n;

	if (len >= ALONE && l->asked >= ALONE)
		l->asked = (uint32_t)len;
	else
		(void)room_behind(l, len, NULL);
	str_store(&l->safe, 0u);
	str_store(&l->round, l->round + 1);
	n = host_sock_get(str_sock_of(pl), ubuf, len);
	was_read(ks, n, len);
	STR_CRASH_POINT("lend:received");
	if (str_likely(n > 0)) {
		l->used = 1;
		str_store(&l->got, 1u);
		str_store(&l->safe, safe - STR_MIN(safe, (uint32_t)n));
		if (len >= ALONE)
			str_store(&l->more, (uint32_t)((size_t)n == len));
		else
			note_room(l, (size_t)n, len, len);
		return n;
	}
	str_store(&l->more, 0u);
	if (n != -EAGAIN && n != -EFAULT && n != -EINTR)
		give_back(pl, l, n);
	return n == -EFAULT ? n : 0;
}

/*
 * `safe' is 0: is there plain data in the socket?  A thread that wrote last
 * looks for the answer.  Another one asks only if the last receive filled its
 * buffer (l->more).
 */
static STR_NOINLINE bool
more_inside(struct str_plumb *pl, struct str_ksock *ks)
{
	struct ksock_lend *l = &pl->lend;
	int next;

	if (host_tls.wrote != 0)
		return host_sock_look(str_sock_of(pl), HOST_C_IN) == HOST_C_IN;
	if (l->more == 0 || supposed_dry(l))
		return false;
	next = plain_is_next(pl, ks);
	if (next == 0)
		now_dry(l);
	return next > 0;
}

/*
 * str_lend_recv - receive plain data, by a thread that is not in a call,
 * without waiting
 * The library calls this if data is known to be in the socket (l->safe).  It
 * also does so in two other cases.  This thread has sent a request, and the
 * library has yielded the CPU once.  Or this thread has sent no request, and
 * the last receive filled its buffer (l->more).
 * @id, @gen: as for str_head_enter(); fast_ready() was true.
 * Return: bytes; 0: none; -EFAULT.
 */
STR_HOT long
str_lend_recv(struct str_head *sd, const str_a32 *id, uint32_t gen,
	void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl = sd->plumb;
	struct ksock_lend *l = &pl->lend;
	struct str_ksock *ks;
	uint32_t fflags;
	long n = 0;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((fflags = str_load(id)) & STR_O_NONBLOCK) != 0 || len == 0 ||
		NOT_FOR_READING(str_load(&sd->flags), fflags) ||
		!fast_in(pl, sd))) {
		fast_leave(t);
		return 0;
	}
	ks = may_take(sd, STR_LEND_BYTES);
	if (str_likely(ks != NULL && none_behind(l, len) &&
		(str_load(&l->safe) != 0 || more_inside(pl, ks))))
		n = recv_inside(pl, ks, ubuf, len);
	fast_done(pl, sd, t);
	if (str_likely(n > 0))
		host_tls.wrote = 0;
	return n;
}

/*
 * str_lend_read - wait for data of the socket, and store it for the caller
 * Return: bytes; 0: nothing was received, the caller looks at the head; or
 * minus an errno.
 */
long
str_lend_read(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len)
{
	struct ksock_lend *l = &sd->plumb->lend;
	bool plain = false;
	uint32_t round = 0;
	long n;

	hc->head = sd;
	if ((hc->fflags & STR_O_NONBLOCK) != 0 || len == 0 ||
	    NOT_FOR_READING(str_load(&sd->flags), (uint32_t)hc->fflags))
		return 0;
	for (;;) {
		uint32_t lent = HOST_C_IN;
		int err;

		if (may_take(sd, STR_LEND_BYTES) == NULL)
			return 0;
		if (!plain && l->more != 0 && supposed_dry(l)) {
			str_store(&l->dry, (uint8_t)(str_load(&l->dry) - 1));
		} else if (plain || l->more != 0) {
			n = take_some(sd, hc, ubuf, len, plain, round);
			if (n != 0)
				return n;
			if (plain || may_take(sd, STR_LEND_BYTES) == NULL)
				return 0;
		}
		round = l->round;
		err = str_sleep_lent(sd, hc, &lent, NULL, NULL);
		if (err != 0)
			return -err;
		plain = lent == HOST_C_IN;
		if (!plain)
			return 0;
	}
}

/* ------------------------------------- units: messages of STR_LEND_UNITS */

/* Argument and result of take_unit(). */
struct unit {
	struct str_take take;
	int ret; /* STR_TAKE_* */
};

/* Ask the driver for a message.  Return: HOST_C_IN: the result is in @arg; 0:
 * there is none. */
static uint32_t
take_unit(struct str_head *sd, struct host_call *hc, void *arg)
{
	struct unit *u = arg;
	struct str_direct d = {.take = &u->take};
	struct host_call *old = host_tls.call;
	queue_t *q;

	u->ret = STR_TAKE_LOOK;
	if (!lend_enter(sd))
		return HOST_C_IN;
	q = sd->straight;
	if (q != NULL && may_take(sd, STR_LEND_UNITS) != NULL) {
		host_tls.call = hc;
		u->ret = q->q_pair->fmod->direct(q, &d);
		host_tls.call = old;
		STR_CRASH_POINT("lend:unit");
	}
	lend_leave(sd, hc);
	return u->ret == STR_TAKE_NONE ? 0 : HOST_C_IN;
}

/*
 * str_lend_unit - receive a message by the lent operation, for a thread that is
 * not in a call, without waiting
 * @id, @gen: as for str_head_enter(); fast_ready() was true.
 * Return: 1: the message is stored; 0: it is not; -EFAULT.
 */
STR_HOT long
str_lend_unit(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_getprim *gp)
{
	struct str_take take = {.udata = gp->data.buf,
		.room = (uint32_t)gp->data.maxlen, .ctl = gp->ctl.buf,
		.croom = (uint32_t)gp->ctl.maxlen};
	struct str_direct d = {.take = &take};
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl = sd->plumb;
	int ret = STR_TAKE_LOOK;
	queue_t *q;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		(str_load(id) & STR_O_NONBLOCK) != 0 || gp->data.maxlen <= 0 ||
		NOT_FOR_READING(str_load(&sd->flags), str_load(id)) ||
		!str_claim_first(pl))) {
		fast_leave(t);
		return 0;
	}
	q = sd->straight;
	if (str_likely(q != NULL && str_perim_in_quick(q->q_pair))) {
		if (str_likely(may_take(sd, STR_LEND_UNITS) != NULL))
			ret = q->q_pair->fmod->direct(q, &d);
		STR_CRASH_POINT("lend:unit");
		str_perim_out_quick(q->q_pair);
	}
	if (str_unlikely(str_load(&pl->nrun) != 0))
		str_sched_leave(sd);
	str_unclaim_first(pl);
	fast_leave(t);
	if (str_unlikely(ret != STR_TAKE_DONE))
		return ret == STR_TAKE_FAULT ? -EFAULT : 0;
	gp->ctl.len = (int)take.clen;
	gp->data.len = (int)take.dlen;
	gp->prim = *(const int32_t *)gp->ctl.buf;
	return 1;
}

/*
 * str_lend_get - wait for a message by the lent operation, and store it for the
 * caller
 * A thread that has sent a request sleeps first, because the answer cannot have
 * arrived yet.  A thread that only receives asks the driver first, because the
 * next message has usually arrived.
 * Return: as str_lend_unit(), or minus another errno.
 */
long
str_lend_get(struct str_head *sd, struct host_call *hc, struct str_getprim *gp)
{
	struct unit u = {.take = {.udata = gp->data.buf,
		.room = (uint32_t)gp->data.maxlen, .ctl = gp->ctl.buf,
		.croom = (uint32_t)gp->ctl.maxlen}, .ret = STR_TAKE_NONE};
	bool first = host_tls.wrote == 0;

	hc->head = sd;
	if ((hc->fflags & STR_O_NONBLOCK) != 0 || gp->data.maxlen <= 0 ||
	    NOT_FOR_READING(str_load(&sd->flags), (uint32_t)hc->fflags))
		return 0;
	for (;; first = true) {
		uint32_t lent = HOST_C_IN;
		int err;

		if (may_take(sd, STR_LEND_UNITS) == NULL)
			return 0;
		if (!first || take_unit(sd, hc, &u) == 0) {
			err = str_sleep_lent(sd, hc, &lent, take_unit, &u);
			if (err != 0)
				return -err;
			if (lent != HOST_C_IN)
				return 0;
		}
		if (u.ret != STR_TAKE_NONE)
			break;
	}
	if (u.ret == STR_TAKE_FAULT)
		return -EFAULT;
	if (u.ret != STR_TAKE_DONE)
		return 0;
	gp->ctl.len = (int)u.take.clen;
	gp->data.len = (int)u.take.dlen;
	gp->prim = *(const int32_t *)gp->ctl.buf;
	return 1;
}

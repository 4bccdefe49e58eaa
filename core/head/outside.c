/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Processes outside the domain that hold an end of a pipe.
 *
 * Purpose.  A program that is not linked with the library inherits a pipe's
 * descriptor, as its standard output for example.  For this program the
 * descriptor is one end of a connected pair of sockets.  Data that it writes
 * must arrive at the other end, and data that a member writes at the other end
 * must reach it.
 *
 * In.  Bytes in the carrier that are not a token were written outside, or by a
 * member at a head that is AWAY or MIXED (see below).  A reader with an empty
 * queue takes them (str_head_look, str_head_drain) and sends them down its
 * peer's write side, as the peer's own write(2) would: through the peer's
 * modules into the reader's head queue.  When that is full the bytes stay in
 * the socket, which then makes the writer wait.  A head at which such bytes may
 * arrive is FED: its readers sleep on the carrier at once, and its sleepers are
 * woken by the bell, because a token would be queued after the bytes.
 *
 * Out.  While a head is AWAY its other end is read outside, as far as known.
 * Written data is then sent into the socket, after the data in the other end's
 * head queue.  This is safe with any reader: a member at the other end takes
 * the bytes from its carrier as above, and clears AWAY, because it reads.  It
 * takes the bytes before it clears AWAY, and looks once more afterwards.  A
 * writer that finds AWAY cleared after its write sets it again, so that its
 * next write does not overtake the last one.
 *
 * Order.  A head is MIXED once a process outside could write at it.  While
 * there is unread data in the socket, a member's write at the same head is also
 * sent through the socket, so that it comes after that data.
 *
 * Locks.  `inlock' of the receiving head, outside of claims: from the take to
 * the put.  A thread that sends what waits in the other end's head queue holds
 * the clock of this queue, as a reader does.
 *
 * Failure.  A member that dies between the take and the put loses at most
 * TAKE bytes.  A message with a control part, a band or a priority cannot be
 * sent outside: it waits for a member.
 */
#include "core.h"
#include "head.h"
#include "headq.h"

#define FEW 512u     /* size of the first attempt */
#define TAKE 65536u  /* bytes taken at once */

static bool
is_full(struct str_head *sd)
{
	struct str_head *peer = sd->peer;
	bool full;
	queue_t *q;

	if (str_load(&peer->direct) != NULL)
		return str_headq_is_full(&sd->hq);
	if (str_claim(sd->plumb) != 0)
		return true;
	q = peer->qp->wq.q_next;
	full = q != NULL && !canput(q);
	str_unclaim(sd->plumb);
	return full;
}

/* Does data that is written at @sd stay in the domain?  At end 0 of a PLAIN
 * pipe it does. */
static bool
stays_inside(struct str_head *sd)
{
	return str_head_plain(sd) && !str_plain_writes(sd);
}

bool
str_head_stuffed(struct str_head *sd)
{
	return (str_load(&sd->flags) & (STR_H_FED | STR_H_PLAIN)) ==
		STR_H_FED && is_full(sd);
}

/*
 * str_outside_put_from_peer - put @mp down @sd's peer's write side, as a write
 * there would; consumes @mp
 */
void
str_outside_put_from_peer(struct str_head *sd, mblk_t *mp)
{
	struct str_head *peer = sd->peer;
	struct host_call *old = host_tls.call;
	queue_t *q;

	(void)str_claim(sd->plumb);
	q = peer->qp->wq.q_next;
	host_tls.call = NULL; /* the call holds this end, not the peer's */
	if (q != NULL) {
		str_put(q, mp);
		str_sched_leave(peer);
	} else {
		freemsg(mp);
	}
	host_tls.call = old;
	str_unclaim(sd->plumb);
}

/*
 * str_outside_take - take tokens, and bytes from outside, out of @sd's carrier
 * @fd: a descriptor of @sd's end; no lock and no claim is held
 * Return: true when bytes have come.
 */
bool
str_outside_take(struct str_head *sd, int fd)
{
	size_t n, size = FEW;
	bool fed = false;
	mblk_t *mp;

	if (str_head_stuffed(sd))
		return false;
	(void)str_lock(&sd->inlock);
	if (str_unlikely(str_head_plain(sd))) {
		str_unlock(&sd->inlock);
		str_plain_take(sd, fd);
		return false;
	}
	while ((mp = allocb(size, BPRI_MED)) != NULL) {
		n = host_token_take(fd, mp->b_wptr, size);
		if (n == 0) {
			freeb(mp);
			break;
		}
		mp->b_wptr += n;
		fed = true;
		(void)str_or(&sd->flags, STR_H_FED);
		str_outside_put_from_peer(sd, mp);
		n = host_outside_waiting(fd);
		if (n == 0 || is_full(sd))
			break;
		size = STR_MAX(STR_MIN(n + 128, TAKE), FEW);
	}
	str_unlock(&sd->inlock);
	return fed;
}

/*
 * str_outside_home - @sd is read by a member: its peer is no longer AWAY
 */
void
str_outside_home(struct str_head *sd, struct host_call *hc)
{
	if (hc->fd < 0 || sd->plumb->kind != STR_PL_PIPE || str_head_plain(sd))
		return;
	(void)str_outside_take(sd, hc->fd);
	if (host_outside_waiting(hc->fd) != 0)
		return; /* there is no room for all of it yet */
	(void)str_and(&sd->peer->flags, ~(STR_H_AWAY | STR_H_NOROOM));
	host_fence_heavy(); /* pairs with the full one in put_bytes() */
	(void)str_outside_take(sd, hc->fd);
}

/* ------------------------------------------------------------------- out */

bool
str_head_noroom(struct str_head *sd)
{
	return (str_load(&sd->flags) & (STR_H_AWAY | STR_H_NOROOM)) ==
		(STR_H_AWAY | STR_H_NOROOM) && !stays_inside(sd);
}

/* Record whether there is room for the next write, for pollers. */
static void
note_room(struct str_head *sd, int fd)
{
	if (host_outside_room(fd))
		(void)str_and(&sd->flags, ~STR_H_NOROOM);
	else
		(void)str_or(&sd->flags, STR_H_NOROOM);
}

/*
 * Send bytes into @sd's socket.  Return: as host_outside_put().
 * A member that sleeps at the other end looks into its socket from now on.
 */
static long
put_bytes(struct str_head *sd, struct host_call *hc, const void *p, size_t n)
{
	struct str_head *peer = sd->peer;
	uint32_t was = str_load(&sd->flags);
	long r = host_outside_put(hc->fd, p, n);

	if (r <= 0)
		return r;
	if ((str_load(&peer->flags) & STR_H_FED) == 0)
		(void)str_or(&peer->flags, STR_H_FED);
	str_fence_full();
	if ((was & STR_H_AWAY) && (str_load(&sd->flags) & STR_H_AWAY) == 0)
		(void)str_or(&sd->flags, STR_H_AWAY);
	if (str_load(&peer->hq.rwant) != 0)
		str_wake_readers_from(sd, hc);
	return r;
}

/* One record of the other end's log.  Locks: its clock.  Return: 0, errno. */
static int
put_record(struct str_head *sd, struct host_call *hc, struct str_rec *rec)
{
	struct str_headq *hq = &sd->peer->hq;
	uint32_t n = rec->data != ~0u ? rec->data : 0;
	const unsigned char *p = rec->dptr;
	size_t len = n;
	long r;

	if (rec->ctl != ~0u ||
	    (rec->mp != NULL && rec->mp->b_datap->db_type != M_DATA))
		return EPROTO;
	if (rec->mp != NULL) {
		const mblk_t *mp = rec->mp;

		while (mp->b_cont != NULL && str_blen(mp) == 0)
			mp = mp->b_cont;
		p = mp->b_rptr;
		len = str_blen(mp);
	}
	r = len != 0 ? host_outside_put(hc->fd, p, len) : 0;
	if (r < 0)
		return (int)-r;
	str_headq_advance(hq, rec, 0, (uint32_t)r,
		(uint32_t)r == n ? STR_TOOK_ALL : STR_TOOK_CTL);
	return 0;
}

/*
 * str_outside_pump - send the data that the other end has not read
 * Return: 0, or an errno.
 */
int
str_outside_pump(struct str_head *sd, struct host_call *hc)
{
	struct str_head *peer = sd->peer;
	struct str_rec rec;
	int err = 0;

	if (!str_head_pending(peer))
		return 0;
	if (str_head_plain(sd) &&
	    (sd->end != 1 || (hc->flags & HOST_CALL_PLAIN) == 0))
		return EAGAIN; /* hc->fd does not write into the kernel's pipe */
	if (str_unlikely(str_hlock(&peer->hq.clock, STR_HOLD_C)))
		str_headq_repair_c(&peer->hq);
	while (err == 0) {
		if (str_load(&peer->hq.npri) != 0)
			err = EPROTO;
		else if (!str_headq_first(&peer->hq, &rec))
			break;
		else
			err = put_record(sd, hc, &rec);
	}
	str_hunlock(&peer->hq.clock, STR_HOLD_C);
	host_fence_light();
	if (str_load(&peer->hq.wwant) != 0)
		str_wake_writers_from(peer, hc);
	return err;
}

/*
 * Wait for room in the socket.  Return: 0 look again; EINTR, EBADF, or an errno
 * of str_plain_adopt().
 */
static int
wait_for_room(struct str_head *sd, struct host_call *hc)
{
	uint64_t sid = sd->plumb->sid;
	uint32_t ev = 0, seq = host_tls.sig_seq;
	int err;

	host_wait_prepare();
	hc->flags |= HOST_CALL_ROOM;
	err = host_wait_carrier(hc, UINT64_MAX, &ev);
	hc->flags &= ~HOST_CALL_ROOM;
	if (str_head_gone(sd, sid, seq)) {
		hc->head = NULL; /* a write of more ends: write_all() */
		return EBADF;
	}
	if (err == EINTR)
		return str_signalled(hc);
	if (err != 0)
		return err;
	if (ev & HOST_C_NVAL)
		return (hc->flags & HOST_CALL_PLAIN) == 0 &&
			str_plain_is(sd, hc->fd) ? str_plain_adopt(sd, hc) :
			EBADF;
	return ev & HOST_C_HUP ? str_head_look(sd, hc) : 0;
}

/* Error of a write that the socket refuses permanently. */
static int
refused(struct str_head *sd, struct host_call *hc, int err)
{
	if (err == EPIPE && str_head_look(sd, hc) != 0)
		return EBADF;
	return err;
}

/*
 * str_outside_flush - send the data that @sd's other end has not read
 * @block: wait until all of it is sent
 * Return: 0: all is sent, or it stays in the domain, or, with @block, a member
 * has begun to read there; EAGAIN; EPROTO: the first of it cannot be sent; else
 * an errno.
 */
int
str_outside_flush(struct str_head *sd, struct host_call *hc, bool block)
{
	int err;

	for (;;) {
		if (stays_inside(sd))
			return 0;
		if (hc->fd < 0)
			return EAGAIN;
		err = str_outside_pump(sd, hc);
		if (err == EAGAIN)
			(void)str_or(&sd->flags, STR_H_NOROOM);
		if (err != EAGAIN || !block)
			return err;
		err = wait_for_room(sd, hc);
		if (err != 0 || (str_load(&sd->flags) & STR_H_AWAY) == 0)
			return err;
	}
}

/*
 * str_outside_write - write at a head that is AWAY or MIXED
 * Return: bytes, or minus an errno; STR_INSIDE: the caller writes as usual.
 */
long
str_outside_write(struct str_head *sd, struct host_call *hc, const void *ubuf,
	size_t n, bool block)
{
	size_t done = 0;
	long r;
	int err;

	if (hc->fd < 0 || sd->plumb->kind != STR_PL_PIPE ||
	    (str_load(&sd->flags) & (STR_H_AWAY | STR_H_MIXED)) == 0)
		return STR_INSIDE;
	err = str_plain_adopt(sd, hc);
	if (err != 0)
		return -err;
	if ((str_load(&sd->flags) & STR_H_AWAY) != 0) {
		err = str_outside_flush(sd, hc, block);
		if (err == EPROTO || err == ENOTSOCK)
			return STR_INSIDE;
		if (err != 0)
			return -refused(sd, hc, err);
	} else if (!host_outside_unread(hc->fd)) {
		return STR_INSIDE;
	}
	if (str_load(&sd->direct) == NULL)
		return STR_INSIDE;
	while (done < n) {
		/* the pipe has become PLAIN while this call waited */
		if (stays_inside(sd))
			return done != 0 ? (long)done : STR_INSIDE;
		r = put_bytes(sd, hc, (const char *)ubuf + done, n - done);
		if (r > 0)
			done += (size_t)r;
		note_room(sd, hc->fd);
		if (r > 0)
			continue;
		if (r == -ENOTSOCK && done == 0)
			return STR_INSIDE;
		if (r != -EAGAIN || !block)
			return done != 0 ? (long)done :
				-refused(sd, hc, (int)-r);
		err = wait_for_room(sd, hc);
		if (err == 0 && (str_load(&sd->flags) & STR_H_PEER) != 0)
			err = EPIPE;
		if (err != 0)
			return done != 0 ? (long)done : -err;
	}
	return (long)done;
}

void
str_head_room(struct str_head *sd, struct host_call *hc)
{
	(void)str_and(&sd->flags, ~STR_H_NOROOM);
	if ((str_load(&sd->flags) & STR_H_AWAY) != 0)
		(void)str_outside_flush(sd, hc, false);
}

/*
 * Are all holders of @sd's other end outside the domain?  @in_flight: also true
 * if no process holds it: then it may be in a message that was not received
 * yet.  False before ask_at, because it was false at a check shortly before.
 */
static bool
is_outside(struct str_head *sd, bool in_flight)
{
	const struct str_file *f = &sd->peer->file;
	uint64_t start = host_now();

	if (start < str_load(&sd->ask_at) || sd->plumb->kind != STR_PL_PIPE ||
	    f->carrier.kind != HOST_CARRIER_PAIR || str_load(&f->open) != 1)
		return false;
	if (host_outside_only(&f->carrier, in_flight))
		return true;
	str_store(&sd->ask_at, host_now() + (host_now() - start) * 64);
	return false;
}

/*
 * str_outside_only - is @sd's other end held by processes outside alone?
 * The check takes some ms; while the result is false, at most 1/64 of the time
 * is spent on checks.
 */
bool
str_outside_only(struct str_head *sd)
{
	if (str_head_plain(sd))
		return !host_carrier_alive(&sd->peer->file.carrier);
	return is_outside(sd, false);
}

/*
 * str_outside_ask - @sd's other end was passed on, and has unread data
 * If all its holders are outside, @sd is AWAY from now on.
 */
void
str_outside_ask(struct str_head *sd, struct host_call *hc)
{
	if (str_head_plain(sd) || !str_head_pending(sd->peer) ||
	    (str_load(&sd->flags) & STR_H_AWAY) != 0 ||
	    !is_outside(sd, str_load(&sd->plumb->plain) == STR_PLAIN_NOT))
		return;
	(void)str_or(&sd->peer->flags, STR_H_FED);
	(void)str_or(&sd->flags, STR_H_AWAY);
	(void)str_outside_flush(sd, hc, false);
}

void
str_head_closing(struct str_head *sd, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};

	if (str_unlikely(str_head_plain(sd))) {
		if (sd->end == 1)
			str_plain_flush(sd->plumb);
		return;
	}
	if (str_unlikely((str_load(&sd->flags) & (STR_H_AWAY | STR_H_LEFT)) ==
		    STR_H_LEFT)) {
		str_store(&sd->ask_at, (uint64_t)0);
		str_outside_ask(sd, &hc);
	}
	if (str_unlikely((str_load(&sd->flags) & STR_H_AWAY) != 0))
		(void)str_outside_flush(sd, &hc, false);
}

/* ----------------------------------------------------------------- leave */

/* Wake every process that sleeps, so that it calls host_serve(). */
static void
ring_all(void)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];

		if (str_load(&t->tag) != 0 && t != host_self() &&
		    str_load(&t->asleep_on) != 0)
			host_bell_ring(t);
	}
}

/*
 * str_outside_left - data that was written at @sd waits at the other end, and
 * this process cannot send it: it has no descriptor of @sd, or there is no room
 * A process that holds @sd sends it, even if all its threads sleep.
 */
void
str_outside_left(struct str_head *sd)
{
	(void)str_or(&sd->flags, STR_H_LOOK);
	(void)str_add(str_root(STR_ROOT_LEFT), (uint64_t)1);
	str_fence_full();
	str_wake_all(sd);
	ring_all();
}

void
str_head_leave(struct str_head *sd, int fd, int peer_fd, bool used)
{
	struct str_head *peer = sd->peer;
	struct host_call hc = {.fd = peer_fd, .head = peer,
		.sig_seq = host_tls.sig_seq};

	/* the carriers of a PLAIN pipe keep the kernel's pipe open */
	if (sd->plumb->kind != STR_PL_PIPE || str_head_plain(sd) ||
	    sd->file.carrier.kind != HOST_CARRIER_PAIR)
		return;
	/* from now on only the carrier tells its sleepers of the end */
	(void)str_or(&peer->flags, STR_H_LEFT);
	if (!used) {
		/* the next write finds out which processes hold the end */
		(void)str_or(&peer->flags, STR_H_LOOK);
		str_fence_full();
		str_wake_all(peer);
		return;
	}
	(void)str_or(&sd->flags, STR_H_MIXED);
	(void)str_or(&peer->flags, STR_H_AWAY | STR_H_FED);
	host_fence_heavy();
	str_wake_all(peer);
	/* a token would be read as data */
	(void)host_token_take(fd, NULL, 0);
	if (!str_head_pending(sd))
		return;
	if (peer_fd >= 0)
		(void)str_outside_pump(peer, &hc);
	else
		str_outside_left(peer);
}

STR_WAKE_TEXT uint64_t
str_head_left(void)
{
	return str_load(str_root(STR_ROOT_LEFT));
}

bool
str_head_send_left(struct str_head *sd, int fd)
{
	struct host_call hc = {.fd = fd, .head = sd,
		.sig_seq = host_tls.sig_seq};

	if (str_head_plain(sd)) {
		str_plain_flush(sd->plumb);
		return !str_head_pending(&sd->plumb->head[0]);
	}
	return (str_load(&sd->flags) & STR_H_AWAY) != 0 &&
		str_outside_flush(sd, &hc, false) == 0;
}

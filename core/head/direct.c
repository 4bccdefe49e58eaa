/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The direct path of messages from one Stream to another: <str/direct.h>.
 *
 * It works like fast.h, for putmsg(2) on a device, and also claims the stream.
 * The thread is outside a call and holds no claim, so it uses the first entry
 * of its claims.  As in fast.h a light fence needs no instruction.  If a
 * condition does not hold, these functions change nothing and the full call is
 * made.
 *
 * str_sleep_room() is the wait for room at the receiver.
 */
#include "fast.h"
#include "fastmsg.h"
#include "patience.h"
#include "sleep.h"

#include <str/direct.h>
#include <str/hold.h>

#define CTL_MAX 128u /* longest control part of the direct path */
#define SPIN_US 20u
#define SOON_US 50u

/*
 * str_direct_again - the direct procedure returned STR_DIRECT_SOON: yield once
 * @since: 0 for the first call, which stores its time here
 * Return: true: try again; false: SOON_US have passed, or a yield is no use.
 */
STR_NOINLINE bool
str_direct_again(uint64_t *since)
{
	uint64_t now = host_ticks();

	if (*since == 0)
		*since = now;
	else if (now - *since > SOON_US * host_ticks_per_ms / 1000)
		return false;
	return host_give_way();
}

/*
 * str_direct_has_room - has @hq room, by the rule of str_headq_is_full()?
 * The caller is not inside the stream, which may have been freed and its memory
 * given to another one.  So the function changes nothing there.
 */
bool
str_direct_has_room(struct str_headq *hq)
{
	uint32_t full = str_load(&hq->full);
	uint64_t n, log;

	if (full != STR_FULL_MARK)
		return full == 0;
	n = str_headq_count(hq);
	log = str_load(&hq->pos) - str_load(&hq->cpos);
	return (n == 0 || n < hq->lowat) &&
		(log == 0 || log < hq->loglimit / 2);
}

/*
 * Yield to the reader of @hq, unless that was in vain lately: a reader of lower
 * priority does not run before this thread sleeps.
 */
static bool
yield_soon(struct str_headq *hq)
{
	unsigned i;

	if (patience_rests(&hq->rest[1]))
		return false;
	for (i = 0; i < YIELDS; i++) {
		if (!host_give_way())
			return false;
		if (str_direct_has_room(hq)) {
			host_way_used();
			patience_paid(&hq->skip[1], &hq->rest[1]);
			return true;
		}
	}
	patience_vain(&hq->skip[1], &hq->rest[1], SKIP_TRY);
	return false;
}

/*
 * There was no room at @hq.  Yield if the reader last ran on this CPU, else
 * spin for at most SPIN_US.  Either costs less than a sleep and a wake.
 * Return: true if there is room now.
 */
static bool
soon(struct str_headq *hq)
{
	uint32_t other = str_load(&hq->ccpu);
	uint64_t start;
	unsigned i;

	if (other == ~0u)
		return false;
	if (other == host_cpu())
		return yield_soon(hq);
	start = host_ticks();
	do {
		for (i = 0; i < SPIN_PAUSES; i++)
			str_cpu_relax();
		if (str_direct_has_room(hq))
			return true;
	} while (host_ticks() - start < SPIN_US * host_ticks_per_ms / 1000);
	return false;
}

/*
 * str_direct_soon - a message written at @sd, on the direct path or by a
 * shortcut, found no room at @hq: yield or spin, as soon()
 * Return: true: there is room now; false: the caller makes the full call, in
 * which str_sleep_room() sleeps until there is.
 */
STR_NOINLINE bool
str_direct_soon(struct str_head *sd, struct str_headq *hq)
{
	if (soon(hq))
		return true;
	host_tls.full = hq;
	host_tls.full_at = sd;
	return false;
}

/* See <str/hold.h>. */
int
str_read_soon(queue_t *rq, uint64_t ns)
{
	struct str_headq *hq = &rq->q_pair->plumb->head[0].hq;
	uint32_t w;

	str_wake_now();
	if (soon(hq))
		return 1;
	if (ns == 0)
		return 0;
	w = str_load(&hq->wword);
	str_sleep_ask(&hq->wwant, STR_WANT_ROOM);
	if (!str_direct_has_room(hq)) {
		STR_CRASH_POINT("read:soon");
		(void)host_wait(NULL, &hq->wword, w, ns);
	}
	return str_direct_has_room(hq);
}

/*
 * str_head_putmsg_direct - the direct path of the fast putmsg(2), with the
 * parts in the caller's memory
 */
STR_NOINLINE long
str_head_putmsg_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const struct str_strbuf *ctl, const struct str_strbuf *data)
{
	uint32_t copy[CTL_MAX / 4];
	void *full = NULL;
	struct str_direct d = {
		.ctl = copy, .clen = (size_t)ctl->len,
		.udata = data->buf, .dlen = data->len < 0 ? -1 : data->len,
		.full = &full,
	};

	if (sd->straight == NULL || d.clen > sizeof(copy) ||
	    host_copyin(ctl->buf, copy, d.clen) != 0)
		return STR_NOT_FAST;
	return str_head_put_direct(sd, id, gen, &d);
}

/* See <str/direct.h>. */
STR_HOT int
str_direct_enter(queue_t *wq)
{
	return str_perim_in_quick(wq->q_pair);
}

STR_HOT void
str_direct_leave(queue_t *wq)
{
	struct str_plumb *pl = wq->q_pair->plumb;

	str_perim_out_quick(wq->q_pair);
	if (str_unlikely(str_load(&pl->nrun) != 0))
		str_sched_leave(&pl->head[0]);
}

/* See <str/direct.h>. */
STR_HOT int
str_direct_up(queue_t *rq, const void *ctl, size_t clen,
	const struct str_direct *d)
{
	struct str_plumb *pl = rq->q_pair->plumb;
	struct str_head *sd = &pl->head[0];
	struct str_headq *hq = &sd->hq;
	int err;

	STR_ASSERT(pl == host_tls.at);
	if (str_unlikely(sd->straight != rq + 1 ||
		(str_load(&sd->flags) & STR_H_PLEX) != 0 ||
		(str_load(&pl->late) & STR_LATE_MSG) != 0 ||
		clen + (size_t)(d->dlen > 0 ? d->dlen : 0) > INLINE_MAX))
		return STR_DIRECT_NOT;
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	str_headq_settle(hq);
	if (str_unlikely(str_load(&hq->full) != 0 && str_headq_is_full(hq)))
		err = EAGAIN;
	else
		err = headq_put_msg(hq, ctl, (uint32_t)clen, d->udata, d->dlen,
			0, true);
	str_headq_note_cpu(hq);
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_unlikely(err != 0)) {
		*d->full = hq;
		return err == EAGAIN ? STR_DIRECT_FULL : STR_DIRECT_NOT;
	}
	if (str_unlikely(str_load(&hq->rwant) != 0))
		(void)str_wake_readers(sd);
	else
		str_store(&host_tls.slot->elided,
			str_load(&host_tls.slot->elided) + 1);
	return STR_DIRECT_DONE;
}

/*
 * str_sleep_room - the direct path, or a shortcut, found no room at the
 * receiver (str_direct_soon()): wait for room before the message is put
 *
 * A message that is put while the receiver is full becomes blocks, which wait
 * on the sender's queue until the receiver's thread serves that queue, and all
 * later messages wait behind it.  Here no block has been made yet: the receiver
 * wakes this thread, by one futex, when its queue has fallen below the low
 * water mark, and the later messages can use the direct path again.
 *
 * The memory of the queue may have been given to another stream meanwhile.  It
 * is still a head queue, so the want bit that is set there costs one useless
 * wake.  The sleep is as short as stage 1.  After it the message is put, and
 * the driver handles a receiver that was closed or killed, or reads slowly.
 * Return: 0: put the message; EINTR, EBADF.
 */
int
str_sleep_room(struct str_head *sd, struct host_call *hc)
{
	struct str_headq *hq = host_tls.full;
	uint64_t sid = sd->plumb->sid;
	uint32_t w, seq = host_tls.sig_seq;
	int err;

	if (str_likely(host_tls.full_at == NULL))
		return 0;
	err = host_tls.full_at == sd;
	host_tls.full_at = NULL;
	if (!err || (hc->fflags & STR_O_NONBLOCK) != 0 ||
	    (str_load(&sd->flags) & (UNWRITABLE | STR_H_CLOSED)) != 0)
		return 0;
	err = sleep_prepare(sd, hc);
	if (err != SLEEP_NOW)
		return err;
	w = str_load(&hq->wword);
	str_sleep_ask(&hq->wwant, STR_WANT_ROOM);
	if (str_direct_has_room(hq))
		return 0;
	str_count(&host_self()->sleeps);
	str_store(&host_self()->why, (uint32_t)STR_SLEEP_WRITE);
	STR_CRASH_POINT("sleep:room");
	err = host_wait(hc, &hq->wword, w, NEAR_NS);
	if (str_head_gone(sd, sid, seq))
		return EBADF;
	return err == EINTR ? str_signalled(hc) : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The short way of messages from one Stream to another: <str/direct.h>.
 *
 * It is fast.h once more, for putmsg(2) on a device: out of a call no claim
 * is held, so that the first place is free, and light fences are mere
 * barriers.  What is not as it should be is left to the full call, with
 * nothing done.
 */
#include "fast.h"
#include "fastmsg.h"

#include <str/direct.h>
#include <str/hold.h>

/* A full queue: how long to wait before waiting in earnest. */
#define YIELDS 2u
#define CTL_MAX 128u /* bytes of a control part that goes the short way */
#define SPIN_US 20u
#define SOON_US 50u
#define FAR 24u /* pauses between two looks: about a microsecond */

/*
 * str_direct_again - who takes what @d is will soon have taken something
 * @since: when that was first said, 0 at first.
 * Return: try again?
 */
STR_NOINLINE bool
str_direct_again(uint64_t *since)
{
	uint64_t now = host_ticks();

	if (*since == 0)
		*since = now;
	else if (now - *since > SOON_US * host_ticks_per_ms / 1000)
		return false;
	host_yield();
	return true;
}

/* Would is_full() say no?  Of a queue whose stream may be another by now. */
static bool
has_room(struct str_headq *hq)
{
	uint64_t n = str_headq_count(hq), log;

	log = str_load(&hq->pos) - str_load(&hq->cpos);
	return n < hq->lowat && log < hq->loglimit / 2 &&
		str_load(&hq->full) != STR_FULL_HELD;
}

/*
 * str_direct_soon - there was no room at @hq
 * The reader there is given the CPU, if this is its own, or a moment: to wait as
 * for a message costs more than that, and has this one made blocks.
 * Return: is there now?
 */
STR_NOINLINE bool
str_direct_soon(struct str_headq *hq)
{
	uint32_t other = str_load(&hq->ccpu);
	uint64_t start;
	unsigned i;

	if (other == ~0u)
		return false;
	if (other == host_cpu()) {
		for (i = 0; i < YIELDS; i++) {
			host_yield();
			if (has_room(hq))
				return true;
		}
		return false;
	}
	start = host_ticks();
	do {
		for (i = 0; i < FAR; i++)
			str_cpu_relax();
		if (has_room(hq))
			return true;
	} while (host_ticks() - start < SPIN_US * host_ticks_per_ms / 1000);
	return false;
}

/* See <str/hold.h>. */
int
str_read_soon(queue_t *rq)
{
	return str_direct_soon(&rq->q_pair->plumb->head[0].hq);
}

/*
 * str_head_putmsg_direct - the short way for the fast putmsg(2), of parts as
 * the caller has them
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

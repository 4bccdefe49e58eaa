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

/* A full queue: how long to wait before waiting in earnest. */
#define TRIES 4u
#define YIELDS 2u
#define SPIN_US 20u
#define FAR 24u /* pauses between two looks: about a microsecond */

/* Would the message overtake something at the driver's perimeter? */
STR_INLINE bool
is_busy(const struct str_qpair *qp)
{
	const struct str_perim *pm = qp->pm;

	return pm != NULL && (*(mblk_t *const volatile *)&pm->bl_first != NULL ||
		str_load_acq(&pm->inside) != 0);
}

/* One try.  Return: STR_DIRECT_*. */
STR_INLINE int
try_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_direct *d)
{
	struct str_thread *t = host_tls.slot;
	int ret = STR_DIRECT_NOT;
	struct str_plumb *pl;
	queue_t *q, *top;
	uint32_t f;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id))))
		goto out;
	pl = sd->plumb;
	if (str_unlikely(!str_claim_first(pl)))
		goto out;
	q = sd->straight;
	if (str_likely(q != NULL && str_load(&pl->nrun) == 0 &&
		!is_busy(q->q_pair))) {
		top = sd->qp->wq.q_next;
		if (str_likely(top->q_minpsz <= d->dlen &&
			(top->q_maxpsz <= 0 || d->dlen <= top->q_maxpsz)))
			ret = q->q_pair->fmod->direct(q, d);
	}
	str_unclaim_first(pl);
out:
	fast_leave(t);
	return ret;
}

/* Would is_full() say no?  Of a queue whose stream may be another by now. */
static bool
has_room(struct str_headq *hq)
{
	uint64_t n = str_load(&hq->pbytes) - str_load_acq(&hq->cbytes);
	uint64_t log = str_load(&hq->pos) - str_load(&hq->cpos);

	return n < hq->lowat && log < hq->loglimit / 2;
}

/*
 * There was no room at @hq.  Whoever reads there is given the CPU, if this is
 * his, or a moment: to wait as for a message costs more than that, and has
 * this one made blocks.  Return: is there now?
 */
static STR_NOINLINE bool
soon(struct str_headq *hq)
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

/*
 * str_head_put_direct - a message of @d on @sd, by the short way
 * @id, @gen: as for str_head_enter()
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_head_put_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_direct *d)
{
	unsigned tries = 0;
	int ret;

	for (;;) {
		ret = try_direct(sd, id, gen, d);
		if (str_likely(ret == STR_DIRECT_DONE)) {
			host_tls.wrote = 1;
			return 0;
		}
		if (ret != STR_DIRECT_FULL || tries++ == TRIES ||
		    (str_load(id) & STR_O_NONBLOCK) != 0 || !soon(d->full))
			return STR_NOT_FAST;
	}
}

/* See <str/direct.h>. */
STR_HOT int
str_direct_up(queue_t *rq, const void *ctl, size_t clen,
	struct str_direct *d)
{
	struct str_plumb *pl = rq->q_pair->plumb;
	struct str_head *sd = &pl->head[0];
	struct str_headq *hq = &sd->hq;
	uint32_t cpu;
	int err;

	STR_ASSERT(pl == host_tls.at);
	if (str_unlikely(sd->straight != rq + 1 ||
		(str_load(&sd->flags) & STR_H_PLEX) != 0 ||
		(str_load(&pl->late) & STR_LATE_MSG) != 0 ||
		str_load(&hq->overflow) != 0 ||
		clen + (size_t)(d->dlen > 0 ? d->dlen : 0) > INLINE_MAX))
		return STR_DIRECT_NOT;
	if (str_unlikely(str_hlock(&hq->plock, STR_HOLD_P)))
		str_headq_repair_p(hq);
	if (str_unlikely(str_load(&hq->full) != 0 && str_headq_is_full(hq)))
		err = EAGAIN;
	else
		err = headq_put_msg(hq, ctl, (uint32_t)clen, d->udata, d->dlen,
			0, true);
	if (str_unlikely((hq->unseen++ & 63) == 0)) {
		/* where messages come from: see head/sleep.c:spin */
		cpu = host_cpu();
		if (str_load(&hq->pcpu) != cpu)
			str_store(&hq->pcpu, cpu);
	}
	str_hunlock(&hq->plock, STR_HOLD_P);
	if (str_unlikely(err != 0)) {
		d->full = hq;
		return err == EAGAIN ? STR_DIRECT_FULL : STR_DIRECT_NOT;
	}
	(void)str_wake_readers(sd);
	return STR_DIRECT_DONE;
}

/*
 * str_head_get_direct - take the first message, when it is a record of two
 * parts that is wanted and fits; as str_head_getprim(), but that gp->ctl.buf is
 * the library's own and good
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_head_get_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, struct str_getprim *gp)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq = &sd->hq;
	struct fast_msg m;
	int32_t prim;
	uint32_t f;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_GET_SLOW) != 0 ||
		NOT_FOR_READING(f, str_load(id)) ||
		str_load(&hq->npri) != 0 ||
		!fast_lock(&hq->clock, STR_HOLD_C, t)))
		return fast_back(t);
	if (str_unlikely(!headq_peek_msg(hq, &m) ||
		m.clen < sizeof(prim) ||
		(int)m.clen > gp->ctl.maxlen || (int)m.dlen > gp->data.maxlen))
		goto not;
	prim = (int32_t)load32(m.ctl);
	if (str_unlikely((uint32_t)prim > 30 ||
		(gp->want & (1u << prim)) == 0))
		goto not;
	if (m.dlen != 0 && str_unlikely(host_copyout(m.data, gp->data.buf,
		m.dlen) != 0))
		goto not;
	__builtin_memcpy(gp->ctl.buf, m.ctl, m.clen);
	gp->prim = prim;
	gp->ctl.len = (int)m.clen;
	gp->data.len = (m.hdr & STR_REC_NODATA) ? -1 : (int)m.dlen;
	headq_next(hq, m.clen + m.dlen, m.span);
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	if (str_unlikely(str_load(&hq->wwant) != 0))
		str_head_read_after(sd, fd);
	fast_leave(t);
	return 0;
not:
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	return fast_back(t);
}

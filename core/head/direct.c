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

/* Would the message overtake something at the driver's perimeter? */
STR_INLINE bool
is_busy(const struct str_qpair *qp)
{
	const struct str_perim *pm = qp->pm;

	return pm != NULL && (*(mblk_t *const volatile *)&pm->bl_first != NULL ||
		str_load_acq(&pm->inside) != 0);
}

/*
 * str_head_put_direct - a message of @d on @sd, by the short way
 * @id, @gen: as for str_head_enter()
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_HOT long
str_head_put_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const struct str_direct *d)
{
	struct str_thread *t = host_tls.slot;
	struct str_plumb *pl;
	queue_t *q, *top;
	struct str_direct dd;
	uint32_t f;
	int ret = STR_DIRECT_NOT;

	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id))))
		return fast_back(t);
	pl = sd->plumb;
	if (str_unlikely(!str_claim_first(pl)))
		return fast_back(t);
	q = sd->straight;
	if (str_likely(q != NULL && str_load(&pl->nrun) == 0 &&
		!is_busy(q->q_pair))) {
		top = sd->qp->wq.q_next;
		dd = *d;
		if (str_likely(top->q_minpsz <= dd.dlen &&
			(top->q_maxpsz <= 0 || dd.dlen <= top->q_maxpsz)))
			ret = q->q_pair->fmod->direct(q, &dd);
	}
	str_unclaim_first(pl);
	if (str_unlikely(ret != STR_DIRECT_DONE))
		return fast_back(t);
	host_tls.wrote = 1;
	fast_leave(t);
	return 0;
}

/* See <str/direct.h>. */
STR_HOT int
str_direct_up(queue_t *rq, const void *ctl, size_t clen,
	const struct str_direct *d)
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
	if (str_unlikely(err != 0))
		return STR_DIRECT_NOT;
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

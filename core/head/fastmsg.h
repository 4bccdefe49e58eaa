/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages of a control and a data part for whom nothing is in the way: what
 * fast.h is to read(2) and write(2).
 */
#ifndef STR_FASTMSG_H
#define STR_FASTMSG_H

#include "fast.h"

#include <str/direct.h>

/* What makes getmsg(2) take the full call. */
#define STR_GET_SLOW (STR_H_RDERR | STR_H_PLEX | STR_H_LOOK | STR_H_MSIG)

/* A record of two parts, whole. */
struct fast_msg {
	const unsigned char *ctl, *data;
	uint32_t hdr, clen, dlen, span;
};

/* The first record, when it is one.  Locks: clock. */
STR_INLINE bool
headq_peek_msg(struct str_headq *hq, struct fast_msg *m)
{
	uint64_t cpos = str_load(&hq->cpos);
	const unsigned char *p;
	uint32_t off;

	p = (const unsigned char *)(uintptr_t)(hq->cbase + cpos);
	if (str_unlikely(cpos >= hq->climit)) {
		p = str_headq_look_any(hq);
		if (p == NULL)
			return false;
	}
	m->hdr = load32(p);
	if (str_unlikely((m->hdr & STR_REC_KIND) != STR_REC_MSG))
		return false;
	m->clen = load32(p + 4);
	m->dlen = (m->hdr & STR_REC_LEN) - m->clen;
	off = msg_off(m->clen, m->dlen, p);
	m->ctl = p + 8;
	m->data = p + off;
	m->span = ALIGN4(off + m->dlen);
	return true;
}

#define STR_DIRECT_TRIES 4u /* waits for room that are too short to be one */
bool str_direct_soon(struct str_headq *hq);

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
	const struct str_direct *d)
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

/*
 * str_head_put_direct - a message of @d on @sd, by the short way
 * @id, @gen: as for str_head_enter()
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_put_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const struct str_direct *d)
{
	unsigned tries = 0;
	int ret;

	for (;;) {
		ret = try_direct(sd, id, gen, d);
		if (str_likely(ret == STR_DIRECT_DONE)) {
			host_tls.wrote = 1;
			return 0;
		}
		if (ret != STR_DIRECT_FULL || tries++ == STR_DIRECT_TRIES ||
		    (str_load(id) & STR_O_NONBLOCK) != 0 || !str_direct_soon(*d->full))
			return STR_NOT_FAST;
	}
}

/*
 * str_head_get_direct - take the first message, when it is a record of two
 * parts that is wanted and fits; as str_head_getprim(), but that gp->ctl.buf is
 * the library's own and good
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
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
	copy_ctl(gp->ctl.buf, m.ctl, m.clen);
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

#endif

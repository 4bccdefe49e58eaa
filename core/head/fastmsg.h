/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The fast path of putmsg(2) and getmsg(2), as fast.h is that of read(2) and
 * write(2): messages of a control and a data part, or of data alone, on a
 * stream without modules.
 */
#ifndef STR_FASTMSG_H
#define STR_FASTMSG_H

#include "fast.h"

#include <str/direct.h>

/* Flags with which getmsg(2) makes the full call. */
#define STR_GET_SLOW \
	(STR_H_RDERR | STR_H_PLEX | STR_H_LOOK | STR_H_MSIG | STR_H_TTY | \
		STR_H_PLAIN)

/* A record with the control part and, perhaps, the data part of one message. */
struct fast_msg {
	const unsigned char *ctl, *data;
	uint32_t hdr, clen, dlen, span;
};

/* Is the first record such a one?  Then describe it in @m.  Locks: clock. */
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

#define STR_DIRECT_TRIES 4u /* short waits for room before the full call */
bool str_direct_soon(struct str_head *sd, struct str_headq *hq);
bool str_direct_has_room(struct str_headq *hq);
bool str_direct_again(uint64_t *since);
long str_head_putmsg_direct(struct str_head *sd, const str_a32 *id,
	uint32_t gen, const struct str_strbuf *ctl,
	const struct str_strbuf *data);

/* Record the CPU of the sender from time to time: see head/sleep.c:try_first. */
STR_INLINE void
str_headq_note_cpu(struct str_headq *hq)
{
	uint32_t cpu;

	if (str_likely((hq->unseen++ & 63) != 0))
		return;
	cpu = host_cpu();
	if (str_load(&hq->pcpu) != cpu)
		str_store(&hq->pcpu, cpu);
}

/*
 * Does a message wait at the driver's perimeter, or is a thread inside?  Then
 * a message on the direct path would overtake another one.
 */
STR_INLINE bool
is_busy(const struct str_qpair *qp)
{
	const struct str_perim *pm = qp->pm;

	return pm != NULL && (str_load(&pm->bl_first) != NULL ||
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
 * str_head_put_direct - send message @d on @sd, a device stream, by the direct
 * path (<str/direct.h>)
 * @id, @gen: as for str_head_enter()
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_put_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const struct str_direct *d)
{
	uint64_t since = 0;
	unsigned tries = 0;
	int ret;

	for (;;) {
		ret = try_direct(sd, id, gen, d);
		if (str_likely(ret == STR_DIRECT_DONE)) {
			host_tls.wrote = 1;
			return 0;
		}
		if (str_unlikely(ret == STR_DIRECT_SOON)) {
			if ((str_load(id) & STR_O_NONBLOCK) != 0 ||
			    !str_direct_again(&since))
				return STR_NOT_FAST;
			continue;
		}
		if (ret != STR_DIRECT_FULL || tries++ == STR_DIRECT_TRIES ||
		    (str_load(id) & STR_O_NONBLOCK) != 0 || !str_direct_soon(sd, *d->full))
			return STR_NOT_FAST;
	}
}

/*
 * str_head_get_direct - take the first message, if it is a record with a
 * control part that is wanted and fits; as str_head_getprim(), but gp->ctl.buf
 * is the library's own memory and valid
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
	if (str_unlikely(str_load(&hq->wwant) != 0) &&
	    !headq_stays_full(hq))
		str_head_read_after(sd, fd);
	fast_leave(t);
	return 0;
not:
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	return fast_back(t);
}

/*
 * str_head_putmsg_fast - putmsg(2) of a control and perhaps a data part, no
 * flags: on a pipe without modules (sd->direct is not NULL), or on a device
 * stream by the direct path (sd->straight is not NULL)
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_putmsg_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const struct str_strbuf *uctl, const struct str_strbuf *udata)
{
	struct str_thread *t = host_tls.slot;
	struct str_strbuf ctl, data;
	struct str_headq *hq;
	uint32_t f;
	int err;

	data.len = -1;
	data.buf = NULL;
	if (str_unlikely(uctl == NULL ||
		host_copyin(uctl, &ctl, sizeof(ctl)) != 0 ||
		(udata != NULL && host_copyin(udata, &data, sizeof(data)) != 0) ||
		(uint32_t)ctl.len > STR_CTLSZ ||
		(data.len > 0 && (uint32_t)ctl.len + (uint32_t)data.len >
			INLINE_MAX)))
		return STR_NOT_FAST;
	/* not inside the stream yet: a hint, as in str_head_write_fast() */
	if (str_load(&sd->direct) == NULL)
		return str_head_putmsg_direct(sd, id, gen, &ctl, &data);
	if (str_unlikely(!fast_enter(sd, id, gen, t)))
		return fast_back(t);
	f = str_load(&sd->flags);
	hq = &sd->peer->hq;
	if (str_unlikely((f & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id)) ||
		!fast_lock(&hq->plock, STR_HOLD_P, t)))
		return fast_back(t);
	/* direct changes under plock */
	err = EAGAIN;
	if (str_likely(str_load(&sd->direct) != NULL &&
		(str_load(&hq->full) == 0 || !str_headq_is_full(hq))))
		err = headq_put_msg(hq, ctl.buf, (uint32_t)ctl.len, data.buf,
			data.len < 0 ? -1 : data.len, 0, false);
	str_headq_note_cpu(hq);
	fast_unlock(&hq->plock, STR_HOLD_P, t);
	if (str_unlikely(err != 0))
		return fast_back(t);
	host_tls.wrote = 1;
	if (str_unlikely(str_load(&hq->rwant) != 0))
		str_head_write_after(sd, fd);
	else
		str_store(&t->elided, str_load(&t->elided) + 1);
	fast_leave(t);
	return 0;
}

/*
 * str_head_putdata_fast - putmsg(2) of a data part alone, no flags, on a pipe
 * without modules: like write(2), but always one message
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_putdata_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const struct str_strbuf *udata)
{
	struct str_thread *t = host_tls.slot;
	struct str_strbuf data;
	struct str_headq *hq;
	bool done;
	uint32_t f;

	/* not inside the stream yet: a hint, as in str_head_write_fast() */
	if (str_unlikely(str_load(&sd->direct) == NULL ||
		host_copyin(udata, &data, sizeof(data)) != 0 ||
		(uint32_t)data.len - 1 >= INLINE_MAX))
		return STR_NOT_FAST;
	if (str_unlikely(!fast_enter(sd, id, gen, t)))
		return fast_back(t);
	f = str_load(&sd->flags);
	hq = &sd->peer->hq;
	if (str_unlikely((f & STR_WRITE_SLOW) != 0 ||
		NOT_FOR_WRITING(f, str_load(id)) ||
		!fast_lock(&hq->plock, STR_HOLD_P, t)))
		return fast_back(t);
	/* direct changes under plock */
	done = str_likely(str_load(&sd->direct) != NULL) &&
		headq_put_quick(hq, data.buf, (size_t)data.len);
	str_headq_note_cpu(hq);
	fast_unlock(&hq->plock, STR_HOLD_P, t);
	if (str_unlikely(!done))
		return fast_back(t);
	host_tls.wrote = 1;
	if (str_unlikely(str_load(&hq->rwant) != 0))
		str_head_write_after(sd, fd);
	else
		str_store(&t->elided, str_load(&t->elided) + 1);
	fast_leave(t);
	return 0;
}

/*
 * str_head_getdata_fast - getmsg(2) of a whole message of data alone, if the
 * caller requests no control part
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_getdata_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, struct str_strbuf *udata, int *uflags)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq = &sd->hq;
	const unsigned char *p;
	struct str_strbuf data;
	uint32_t f, have, span;
	int flags;

	if (str_unlikely(host_copyin(udata, &data, sizeof(data)) != 0 ||
		host_copyin(uflags, &flags, sizeof(flags)) != 0 || flags != 0))
		return STR_NOT_FAST;
	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_GET_SLOW) != 0 ||
		NOT_FOR_READING(f, str_load(id)) ||
		str_load(&hq->npri) != 0 ||
		!fast_lock(&hq->clock, STR_HOLD_C, t)))
		return fast_back(t);
	p = headq_peek(hq, &have, &span);
	if (str_unlikely(p == NULL || (int)have > data.maxlen ||
		host_copyout(p, data.buf, have) != 0 ||
		host_copyout(&have, &udata->len, sizeof(int)) != 0 ||
		host_copyout(&flags, uflags, sizeof(flags)) != 0)) {
		fast_unlock(&hq->clock, STR_HOLD_C, t);
		return fast_back(t);
	}
	headq_next(hq, have, span);
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	if (str_unlikely(str_load(&hq->wwant) != 0) &&
	    !headq_stays_full(hq))
		str_head_read_after(sd, fd);
	fast_leave(t);
	return 0;
}

/*
 * str_head_getmsg_fast - getmsg(2) of a whole message with a control part, if
 * the caller requests both parts
 * Return: 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_getmsg_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, struct str_strbuf *uctl, struct str_strbuf *udata, int *uflags)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq = &sd->hq;
	struct str_strbuf ctl, data;
	struct fast_msg m;
	int flags, dlen;
	uint32_t f;

	if (str_unlikely(uctl == NULL || udata == NULL ||
		host_copyin(uctl, &ctl, sizeof(ctl)) != 0 ||
		host_copyin(udata, &data, sizeof(data)) != 0 ||
		host_copyin(uflags, &flags, sizeof(flags)) != 0 ||
		flags != 0))
		return STR_NOT_FAST;
	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		((f = str_load(&sd->flags)) & STR_GET_SLOW) != 0 ||
		NOT_FOR_READING(f, str_load(id)) ||
		str_load(&hq->npri) != 0 ||
		!fast_lock(&hq->clock, STR_HOLD_C, t)))
		return fast_back(t);
	if (str_unlikely(!headq_peek_msg(hq, &m) || (int)m.clen > ctl.maxlen ||
		(int)m.dlen > data.maxlen))
		goto not;
	dlen = (m.hdr & STR_REC_NODATA) ? -1 : (int)m.dlen;
	ctl.len = (int)m.clen;
	if (str_unlikely(host_copyout(m.ctl, ctl.buf, m.clen) != 0 ||
		host_copyout(m.data, data.buf, m.dlen) != 0 ||
		host_copyout(&ctl.len, &uctl->len, sizeof(ctl.len)) != 0 ||
		host_copyout(&dlen, &udata->len, sizeof(dlen)) != 0 ||
		host_copyout(&flags, uflags, sizeof(flags)) != 0))
		goto not;
	headq_next(hq, m.clen + m.dlen, m.span);
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	if (str_unlikely(str_load(&hq->wwant) != 0) &&
	    !headq_stays_full(hq))
		str_head_read_after(sd, fd);
	fast_leave(t);
	return 0;
not:
	fast_unlock(&hq->clock, STR_HOLD_C, t);
	return fast_back(t);
}

#endif

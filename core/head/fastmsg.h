/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages of a control and a data part for whom nothing is in the way: what
 * fast.h is to read(2) and write(2).
 */
#ifndef STR_FASTMSG_H
#define STR_FASTMSG_H

#include "fast.h"

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

struct str_direct;
long str_head_put_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_direct *d);
long str_head_get_direct(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, struct str_getprim *gp);

#endif

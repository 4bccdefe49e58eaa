/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * frame, second half: frames, and what to do when there is no memory.
 */
#include <sys/types.h>
#include <sys/errno.h>
#include <sys/stream.h>
#include <sys/ddi.h>

#include "frame.h"

static int
frsum(mblk_t *mp)
{
	unsigned char *p;
	int sum = 0;

	for (; mp != NULL; mp = mp->b_cont)
		for (p = mp->b_rptr; p < mp->b_wptr; p++)
			sum += *p;
	return sum & 0xff;
}

/*
 * A message as a frame: a block before it and one behind.  NULL: no memory,
 * and the message is as it was.
 */
mblk_t *
frwrap(struct fr *fr, mblk_t *mp)
{
	size_t len = msgdsize(mp);
	mblk_t *hp, *tp;

	if ((hp = allocb(FRHEAD, BPRI_MED)) == NULL)
		return NULL;
	if ((tp = allocb(1, BPRI_MED)) == NULL) {
		freeb(hp);
		return NULL;
	}
	*hp->b_wptr++ = FRFLAG;
	*hp->b_wptr++ = (len >> 8) & 0xff;
	*hp->b_wptr++ = len & 0xff;
	*tp->b_wptr++ = frsum(mp);
	hp->b_band = mp->b_band;
	hp->b_cont = mp;
	linkb(hp, tp);
	fr->fr_stat.sent++;
	return hp;
}

/* Byte number n of what came. */
static int
frbyte(mblk_t *mp, int n)
{
	for (; mp->b_wptr - mp->b_rptr <= n; mp = mp->b_cont)
		n -= mp->b_wptr - mp->b_rptr;
	return mp->b_rptr[n];
}

/* Forget the first n bytes, and blocks that are empty then. */
static void
frskip(struct fr *fr, int n)
{
	mblk_t *mp;
	int k;

	fr->fr_size -= n;
	while ((mp = fr->fr_part) != NULL) {
		k = mp->b_wptr - mp->b_rptr;
		if (k > n)
			break;
		n -= k;
		fr->fr_part = mp->b_cont;
		freeb(mp);
	}
	if (mp != NULL)
		mp->b_rptr += n;
}

/* The n bytes of a frame's data, as a message.  NULL: no memory. */
static mblk_t *
frcut(struct fr *fr, int n)
{
	mblk_t *mp, *from = fr->fr_part;
	int skip = FRHEAD, k;

	if ((mp = allocb(n, BPRI_MED)) == NULL)
		return NULL;
	mp->b_band = from->b_band;
	for (; n > 0; from = from->b_cont) {
		k = from->b_wptr - from->b_rptr - skip;
		if (k <= 0) {
			skip = -k;
			continue;
		}
		if (k > n)
			k = n;
		bcopy(from->b_rptr + skip, mp->b_wptr, k);
		mp->b_wptr += k;
		n -= k;
		skip = 0;
	}
	return mp;
}

/*
 * The next frame.  1: there it is; 0: there is none yet; -1: no memory.
 */
int
frnext(struct fr *fr, mblk_t **mpp)
{
	mblk_t *mp;
	int len, sum;

	for (;;) {
		while (fr->fr_size > 0 && frbyte(fr->fr_part, 0) != FRFLAG) {
			frskip(fr, 1);
			fr->fr_stat.bad++;
		}
		if (fr->fr_size < FRHEAD + 1) {
			if (fr->fr_size == 0)
				frdrop(fr); /* blocks of no bytes */
			return 0;
		}
		len = frbyte(fr->fr_part, 1) << 8 | frbyte(fr->fr_part, 2);
		if (len > FRMAX) {
			frskip(fr, 1);
			fr->fr_stat.bad++;
			continue;
		}
		if (fr->fr_size < FRHEAD + len + 1)
			return 0;
		sum = frbyte(fr->fr_part, FRHEAD + len);
		if ((mp = frcut(fr, len)) == NULL) {
			fr->fr_stat.starved++;
			return -1;
		}
		frskip(fr, FRHEAD + len + 1);
		if (frsum(mp) == sum)
			break;
		fr->fr_stat.bad++;
		freemsg(mp);
	}
	fr->fr_stat.received++;
	*mpp = mp;
	return 1;
}

void
frdrop(struct fr *fr)
{
	if (fr->fr_part != NULL)
		freemsg(fr->fr_part);
	fr->fr_part = NULL;
	fr->fr_size = 0;
}

/* --------------------------------------------------------------- recovery */

static void
frbuf(long arg)
{
	qenable((queue_t *)arg);
}

static void
frtry(void *arg)
{
	qenable((queue_t *)arg);
}

/*
 * The queue's service procedure is to be called when there is memory: by
 * bufcall(), or, as that may fail too, a little later.
 */
void
frrecover(struct fr *fr, queue_t *q, size_t size)
{
	int w = q != fr->fr_q;

	if (w)
		fr->fr_stat.starved++;
	fr->fr_buf[w] = bufcall(size, BPRI_MED, frbuf, (long)q);
	if (fr->fr_buf[w] == 0)
		fr->fr_try[w] = timeout(frtry, q, HZ / 10 + 1);
}

/* It has been called, for that reason or another; or will not be any more. */
void
frrecovered(struct fr *fr, queue_t *q)
{
	int w = q != fr->fr_q;

	if (fr->fr_buf[w] != 0)
		unbufcall(fr->fr_buf[w]);
	if (fr->fr_try[w] != 0)
		(void)untimeout(fr->fr_try[w]);
	fr->fr_buf[w] = 0;
	fr->fr_try[w] = 0;
}

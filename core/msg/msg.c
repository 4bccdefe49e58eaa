/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Message utilities: sizes, joining, trimming, pulling together.
 * SVR4 DDI/DKI section D3; none of them changes a shared data block.
 */
#include "origin.h"

#include <str/builtin.h>

static size_t
blen(const mblk_t *bp)
{
	return bp->b_wptr > bp->b_rptr ? (size_t)(bp->b_wptr - bp->b_rptr) : 0;
}

int
datamsg(unsigned char type)
{
	return type == M_DATA || type == M_PROTO || type == M_PCPROTO ||
		type == M_DELAY;
}

int
ctlmsg(unsigned char type)
{
	return type >= QPCTL;
}

int
pcmsg(unsigned char type)
{
	return type >= QPCTL;
}

int
isdatablk(dblk_t *dp)
{
	return dp->db_type == M_DATA || dp->db_type == M_HPDATA;
}

int
isdatamsg(mblk_t *mp)
{
	for (; mp != NULL; mp = mp->b_cont)
		if (isdatablk(mp->b_datap))
			return 1;
	return 0;
}

/* SVR4 msgdsize(D3): bytes in blocks of type M_DATA. */
size_t
msgdsize(mblk_t *mp)
{
	size_t n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		if (mp->b_datap->db_type == M_DATA)
			n += blen(mp);
	return n;
}

/* Bytes in all blocks. */
size_t
msgsize(mblk_t *mp)
{
	size_t n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		n += blen(mp);
	return n;
}

/* Bytes in the leading blocks that have the first block's type. */
size_t
xmsgsize(mblk_t *mp)
{
	unsigned char type;
	size_t n = 0;

	if (mp == NULL)
		return 0;
	type = mp->b_datap->db_type;
	for (; mp != NULL && mp->b_datap->db_type == type; mp = mp->b_cont)
		n += blen(mp);
	return n;
}

/* SVR4 linkb(D3) */
void
linkb(mblk_t *mp1, mblk_t *mp2)
{
	while (mp1->b_cont != NULL)
		mp1 = mp1->b_cont;
	mp1->b_cont = mp2;
}

/* As linkb, but either may be NULL; returns the joined message. */
mblk_t *
linkmsg(mblk_t *mp1, mblk_t *mp2)
{
	if (mp1 == NULL)
		return mp2;
	linkb(mp1, mp2);
	return mp1;
}

/* SVR4 unlinkb(D3): remove the first block; the rest is returned. */
mblk_t *
unlinkb(mblk_t *mp)
{
	mblk_t *rest = mp->b_cont;

	/* in this order: at each moment at least one of the two blocks has the
	 * message's origin (origin.h) */
	if (rest != NULL && str_origin_known(mp)) {
		str_origin_set(str_mdb_of_m(rest), str_origin(str_mdb_of_m(mp)));
		str_barrier();
		str_origin_set(str_mdb_of_m(mp), 0);
		str_barrier();
	}
	mp->b_cont = NULL;
	return rest;
}

/*
 * SVR4 rmvb(D3): remove block @bp from message @mp.
 * Return: what remains, NULL when nothing does, (mblk_t *)-1 when @bp is not
 * part of @mp.
 */
mblk_t *
rmvb(mblk_t *mp, mblk_t *bp)
{
	mblk_t **link;

	for (link = &mp; *link != NULL; link = &(*link)->b_cont) {
		if (*link == bp) {
			*link = bp->b_cont;
			bp->b_cont = NULL;
			return mp;
		}
	}
	return (mblk_t *)-1;
}

mblk_t *
unlinkmsg(mblk_t *mp, mblk_t *bp)
{
	return rmvb(mp, bp);
}

/*
 * Remove @n bytes from the head; the caller has checked that the leading blocks
 * of @mp's type hold so many.  Return: 1.
 */
static int
trim_head(mblk_t *mp, size_t n)
{
	unsigned char type = mp->b_datap->db_type;
	mblk_t *first = mp;

	while (n > 0) {
		size_t len = blen(mp);

		if (len > n) {
			mp->b_rptr += n;
			return 1;
		}
		n -= len;
		mp->b_rptr = mp->b_wptr;
		if (mp != first && mp->b_datap->db_type == type) {
			/* empty blocks other than the first are freed */
			mblk_t *prev = first;

			while (prev->b_cont != mp)
				prev = prev->b_cont;
			prev->b_cont = mp->b_cont;
			mp->b_cont = NULL;
			freeb(mp);
			mp = prev;
		}
		mp = mp->b_cont;
		if (mp == NULL)
			break;
	}
	return 1;
}

static int
trim_tail(mblk_t *mp, size_t n)
{
	unsigned char type;
	mblk_t *bp, *first;
	size_t total = 0;

	for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont)
		;
	type = bp->b_datap->db_type;
	/* the trailing run of blocks of that type */
	first = mp;
	for (bp = mp; bp != NULL; bp = bp->b_cont)
		if (bp->b_datap->db_type != type)
			first = bp->b_cont;
	for (bp = first; bp != NULL; bp = bp->b_cont)
		total += blen(bp);
	if (total < n)
		return 0;
	total -= n; /* to keep */
	for (bp = first; bp != NULL; bp = bp->b_cont) {
		size_t len = blen(bp);

		if (len <= total) {
			total -= len;
			continue;
		}
		bp->b_wptr = bp->b_rptr + total;
		total = 0;
	}
	/*
	 * empty trailing blocks are freed, but never the first of the message
	 */
	for (;;) {
		mblk_t *prev = NULL;

		for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont)
			prev = bp;
		if (prev == NULL || blen(bp) != 0 || n == 0 ||
		    bp->b_datap->db_type != type)
			return 1;
		prev->b_cont = NULL;
		freeb(bp);
	}
}

/*
 * SVR4 adjmsg(D3): remove @len bytes from the head, or -@len from the tail.
 * Only blocks of one type are changed.  Return: 1, or 0 if there are fewer
 * bytes; then the message is unchanged.
 */
int
adjmsg(mblk_t *mp, ssize_t len)
{
	if (mp == NULL)
		return 0;
	if (len == 0)
		return 1;
	if (len < 0)
		return trim_tail(mp, (size_t)0 - (size_t)len);
	if (xmsgsize(mp) < (size_t)len)
		return 0;
	return trim_head(mp, (size_t)len);
}

/*
 * SVR4 msgpullup(D3): a new message whose first block holds the first @len
 * bytes (-1: all those of the leading type); the rest is duplicated.
 */
mblk_t *
msgpullup(mblk_t *mp, ssize_t len)
{
	size_t have = xmsgsize(mp), want, got;
	mblk_t *nb, *bp, *rest = NULL;

	if (mp == NULL)
		return NULL;
	want = len < 0 ? have : (size_t)len;
	if (want > have)
		return NULL;
	nb = allocb(want, BPRI_MED);
	if (nb == NULL)
		return NULL;
	nb->b_datap->db_type = mp->b_datap->db_type;
	nb->b_band = mp->b_band;
	nb->b_flag = mp->b_flag;
	for (bp = mp, got = 0; got < want; bp = bp->b_cont) {
		size_t n = STR_MIN(blen(bp), want - got);

		if (n != 0)
			__builtin_memcpy(nb->b_wptr, bp->b_rptr, n);
		nb->b_wptr += n;
		got += n;
		if (got == want && n < blen(bp)) {
			rest = dupb(bp);
			if (rest == NULL) {
				freeb(nb);
				return NULL;
			}
			rest->b_rptr += n;
		}
	}
	/* @bp is the first block of which nothing has been copied */
	if (bp != NULL) {
		mblk_t *more = dupmsg(bp);

		if (more == NULL) {
			freemsg(rest);
			freeb(nb);
			return NULL;
		}
		rest = linkmsg(rest, more);
	}
	nb->b_cont = rest;
	return nb;
}

/*
 * SVR4 pullupmsg(D3): the same in place; @mp stays the message's address.
 * Return: 1, or 0 with nothing changed.
 */
int
pullupmsg(mblk_t *mp, ssize_t len)
{
	size_t have = xmsgsize(mp), want;
	mblk_t *nb, *old;
	dblk_t *d;
	size_t got;

	if (mp == NULL)
		return 0;
	want = len < 0 ? have : (size_t)len;
	if (want > have)
		return 0;
	if (want <= blen(mp) && (len >= 0 || mp->b_cont == NULL ||
		mp->b_cont->b_datap->db_type != mp->b_datap->db_type))
		return 1;
	nb = allocb(want, BPRI_MED);
	if (nb == NULL)
		return 0;
	nb->b_datap->db_type = mp->b_datap->db_type;
	/*
	 * Exchange the data blocks: nb then has the data of the old first
	 * block.  After a crash in between no data is freed twice; at most one
	 * data block is left to which no b_datap points (str_mdb_reap()).
	 */
	d = mp->b_datap;
	nb->b_rptr = mp->b_rptr;
	nb->b_wptr = mp->b_wptr;
	mp->b_wptr = mp->b_rptr;
	STR_CRASH_POINT("pullup:empty");
	str_barrier();
	nb->b_datap = NULL;
	STR_CRASH_POINT("pullup:apart");
	str_barrier();
	mp->b_datap = &str_mdb_of_m(nb)->d;
	STR_CRASH_POINT("pullup:given");
	str_barrier();
	mp->b_rptr = mp->b_wptr = mp->b_datap->db_base;
	str_barrier();
	nb->b_datap = d;
	STR_CRASH_POINT("pullup:whole");
	nb->b_cont = mp->b_cont;
	mp->b_cont = NULL;
	for (old = nb, got = 0; got < want || (old != NULL && blen(old) == 0);) {
		size_t n = STR_MIN(blen(old), want - got);
		mblk_t *next = old->b_cont;

		if (got == want &&
		    old->b_datap->db_type != mp->b_datap->db_type)
			break;
		if (n != 0)
			__builtin_memcpy(mp->b_wptr, old->b_rptr, n);
		mp->b_wptr += n;
		old->b_rptr += n;
		got += n;
		if (blen(old) != 0)
			break;
		old->b_cont = NULL;
		freeb(old);
		old = next;
	}
	mp->b_cont = old;
	return 1;
}

/*
 * The message becomes reachable from a shared structure, and loses its record
 * (origin.h).  Called while no other thread can take it yet.
 */
void
str_msg_disown(mblk_t *mp)
{
	if (mp != NULL)
		str_origin_set(str_mdb_of_m(mp), 0);
	for (; mp != NULL; mp = mp->b_cont)
		str_mem_disown(str_mdb_of_m(mp));
}

/* @mp is this thread's again, without a record: it is not put back. */
void
str_msg_own(mblk_t *mp)
{
	if (mp != NULL)
		str_msg_take(mp, 0);
}

/*
 * This thread is about to link @mp, or to take it from a driver's list: stamp
 * its blocks with this thread, until str_msg_disown().  The record of @mp is
 * kept.
 */
void
str_msg_hold(mblk_t *mp)
{
	for (; mp != NULL; mp = mp->b_cont)
		str_mem_own(str_mdb_of_m(mp));
}

/* str_msg_taken - has @mp a record of its origin? */
int
str_msg_taken(mblk_t *mp)
{
	return str_origin_known(mp);
}

/* str_msg_goes - the next change of *@word hands @mp on */
void
str_msg_goes(mblk_t *mp, const void *word)
{
	if (str_origin_known(mp))
		str_origin_goes(mp, word);
}

/*
 * str_msg_went - a dead thread had called str_msg_goes() for @mp and @word:
 * clear @mp's record if *@word has changed since, otherwise restore it
 */
void
str_msg_went(mblk_t *mp, const void *word)
{
	str_origin_went(str_mdb_of_m(mp), word);
}

/* str_msg_unpin_or_free - str_msg_unpin(), but without memory @mp is freed */
mblk_t *
str_msg_unpin_or_free(mblk_t *mp)
{
	mblk_t *whole = str_msg_unpin(mp);

	if (str_unlikely(whole == NULL))
		freemsg(mp);
	return whole;
}

/* str_msg_settle - clear @mp's record: the driver has a record of its own */
void
str_msg_settle(mblk_t *mp)
{
	str_origin_set(str_mdb_of_m(mp), 0);
}

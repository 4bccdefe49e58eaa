/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Copies: copyb, copymsg, messages with bytes of a user, and copies of pinned
 * buffers (alloc.c).
 */
#include "alloc.h"

/* SVR4 copyb(D3): only the bytes between b_rptr and b_wptr. */
mblk_t *
copyb(mblk_t *bp)
{
	size_t n = 0;
	mblk_t *nb;

	if (bp->b_wptr > bp->b_rptr)
		n = (size_t)(bp->b_wptr - bp->b_rptr);
	nb = allocb(n, BPRI_MED);
	if (nb == NULL)
		return NULL;
	if (n != 0)
		__builtin_memcpy(nb->b_wptr, bp->b_rptr, n);
	nb->b_wptr += n;
	nb->b_datap->db_type = bp->b_datap->db_type;
	nb->b_band = bp->b_band;
	nb->b_flag = bp->b_flag;
	return nb;
}

/* SVR4 copymsg(D3) */
mblk_t *
copymsg(mblk_t *mp)
{
	mblk_t *head = NULL, **link = &head;

	for (; mp != NULL; mp = mp->b_cont) {
		*link = copyb(mp);
		if (*link == NULL) {
			freemsg(head);
			return NULL;
		}
		link = &(*link)->b_cont;
	}
	return head;
}

/*
 * str_msg_from_user - a message of one block with a copy of user bytes
 * Return: NULL with *ret_err EFAULT or ENOSR.
 */
mblk_t *
str_msg_from_user(const void *ubase, size_t len, unsigned type, int *ret_err)
{
	mblk_t *mp = allocb(len, BPRI_MED);

	if (mp == NULL) {
		*ret_err = ENOSR;
		return NULL;
	}
	mp->b_datap->db_type = (unsigned char)type;
	if (len != 0 && host_copyin(ubase, mp->b_wptr, len) != 0) {
		freeb(mp);
		*ret_err = EFAULT;
		return NULL;
	}
	mp->b_wptr += len;
	return mp;
}

/*
 * Data outside the arena can be read only in one process.  A free routine can
 * be called only in one, wherever the data is, unless the address of the
 * routine is valid in all processes.
 */
STR_INLINE bool
pinned(const mblk_t *bp)
{
	const dblk_t *d = bp->b_datap;

	return d->db_class == BUF_GIVEN && (!str_mem_valid(d->db_base) ||
		(d->db_frtnp != NULL && d->db_frtnp->free_func != NULL &&
			!host_code_shared(
				(const void *)d->db_frtnp->free_func)));
}

/*
 * str_msg_unpin - make a message readable, and freeable, in every process
 * @mp: a message
 *
 * Return: the message, with copies for its pinned blocks; NULL when there was
 * no memory; then @mp is unchanged.
 */
mblk_t *
str_msg_unpin(mblk_t *mp)
{
	mblk_t *copies = NULL, **end = &copies, **link, *bp, *nb;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		if (str_likely(!pinned(bp)))
			continue;
		nb = *end = copyb(bp);
		if (nb == NULL) {
			freemsg(copies);
			return NULL;
		}
		end = &nb->b_cont;
	}
	if (str_likely(copies == NULL))
		return mp;
	/* there is memory for all: from here on no step fails */
	for (link = &mp; (bp = *link) != NULL; link = &(*link)->b_cont) {
		if (!pinned(bp))
			continue;
		nb = copies;
		copies = nb->b_cont;
		nb->b_cont = bp->b_cont;
		nb->b_next = bp->b_next;
		nb->b_prev = bp->b_prev;
		*link = nb;
		freeb(bp);
	}
	return mp;
}

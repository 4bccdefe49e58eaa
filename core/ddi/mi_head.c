/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * mi_*: options of the Stream head, and parts of messages.
 */
#include "ddi_impl.h"
#include <sys/mi.h>

/* Send @so up from @q.  Return: 1; 0: no memory. */
static int
set_options(queue_t *q, const struct stroptions *so)
{
	mblk_t *mp = allocb(sizeof(*so), BPRI_HI);

	if (mp == NULL)
		return 0;
	mp->b_datap->db_type = M_SETOPTS;
	__builtin_memcpy(mp->b_wptr, so, sizeof(*so));
	mp->b_wptr += sizeof(*so);
	putnext(RD(q), mp);
	return 1;
}

int
mi_set_sth_hiwat(queue_t *q, size_t size)
{
	struct stroptions so = {.so_flags = SO_HIWAT, .so_hiwat = size};

	return set_options(q, &so);
}

int
mi_set_sth_lowat(queue_t *q, size_t size)
{
	struct stroptions so = {.so_flags = SO_LOWAT, .so_lowat = size};

	return set_options(q, &so);
}

int
mi_set_sth_maxblk(queue_t *q, ssize_t size)
{
	struct stroptions so = {.so_flags = SO_MAXBLK, .so_maxblk = size};

	return set_options(q, &so);
}

int
mi_set_sth_wroff(queue_t *q, size_t size)
{
	struct stroptions so = {
		.so_flags = SO_WROFF,
		.so_wroff = (unsigned short)STR_MIN(size, (size_t)0xffff),
	};

	return set_options(q, &so);
}

int
mi_set_sth_copyopt(queue_t *q, int copyopt)
{
	struct stroptions so = {
		.so_flags = SO_COPYOPT,
		.so_copyopt = (unsigned short)copyopt,
	};

	return set_options(q, &so);
}

static unsigned char *
part(mblk_t *mp, size_t offset, size_t len)
{
	size_t have = str_blen(mp);

	return offset > have || len > have - offset ? NULL :
						      mp->b_rptr + offset;
}

unsigned char *
mi_offset_param(mblk_t *mp, size_t offset, size_t len)
{
	return mp == NULL || len == 0 ? NULL : part(mp, offset, len);
}

unsigned char *
mi_offset_paramc(mblk_t *mp, size_t offset, size_t len)
{
	for (; mp != NULL && len != 0; mp = mp->b_cont) {
		size_t have = str_blen(mp);

		if (offset < have)
			return part(mp, offset, len);
		offset -= have;
	}
	return NULL;
}

mblk_t *
mi_reallocb(mblk_t *mp, size_t size)
{
	dblk_t *dp = mp->b_datap;
	mblk_t *fresh;

	if (dp->db_ref == 1 && (size_t)(dp->db_lim - dp->db_base) >= size) {
		freemsg(unlinkb(mp));
		mp->b_rptr = mp->b_wptr = dp->db_base;
		return mp;
	}
	fresh = allocb(size, BPRI_HI);
	if (fresh != NULL) {
		fresh->b_datap->db_type = dp->db_type;
		freemsg(mp);
	}
	return fresh;
}

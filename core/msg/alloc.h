/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Making and freeing the commonest message block, inlined where a message
 * passes from the head's write to the other head.  alloc.c has the theory.
 */
#ifndef STR_ALLOC_H
#define STR_ALLOC_H

#include "core.h"
#include "mem/mem.h"

/* db_class: where the buffer is from */
enum { CLS_FAST, CLS_BUF, CLS_ESB };

/*
 * db_ref, db_type, db_class and db_flags of a fresh block, written by one store
 * and compared by one load: a load is not served by several stores at once.
 */
struct mdb_kind {
	unsigned char ref, type, class_, flags;
};
static const struct mdb_kind mdb_plain = {1, M_DATA, CLS_FAST, 0};
#define MDB_KIND(d) ((void *)(uintptr_t)&(d)->db_ref)
_Static_assert(offsetof(dblk_t, db_flags) == offsetof(dblk_t, db_ref) + 3 &&
	offsetof(dblk_t, db_type) == offsetof(dblk_t, db_ref) + 1 &&
	offsetof(dblk_t, db_class) == offsetof(dblk_t, db_ref) + 2,
	"struct mdb_kind");

/* Is it in one piece, not shared, and M_DATA? */
STR_INLINE bool
mdb_is_plain(mblk_t *bp)
{
	const dblk_t *d = bp->b_datap;
	uint32_t has, plain;

	__builtin_memcpy(&has, MDB_KIND(d), sizeof(has));
	__builtin_memcpy(&plain, &mdb_plain, sizeof(plain));
	return d == &str_mdb_of_m(bp)->d && has == plain;
}

STR_INLINE struct str_mdb *
mdb_alloc(unsigned cls)
{
	struct str_mdb *x = str_mdb_get(cls);

	if (str_unlikely(x == NULL))
		return NULL;
	x->m.b_band = 0;
	x->m.b_pad1 = 0; /* for one store instead of two */
	x->m.b_flag = 0;
	x->m.b_datap = &x->d;
	x->d.db_frtnp = NULL;
	__builtin_memcpy(MDB_KIND(&x->d), &mdb_plain, sizeof(mdb_plain));
	str_barrier(); /* the reaper believes what parts says there is */
	str_store(&x->parts, STR_MDB_M | STR_MDB_D);
	return x;
}

/* allocb() of a size known to be small enough for the block itself. */
STR_INLINE mblk_t *
mdb_small(size_t size)
{
	struct str_mdb *x = mdb_alloc(CLASS_MDB);

	if (str_unlikely(x == NULL))
		return NULL;
	x->d.db_base = x->buf;
	x->d.db_lim = x->buf + STR_FASTBUF;
	x->d.db_size = (unsigned int)size;
	x->m.b_rptr = x->m.b_wptr = x->buf;
	return &x->m;
}

/* The greatest buffer that is in one piece with its message. */
#define MDB_MOST (STR_MDB_MAX - STR_MDB_HDR)

/* allocb() of a size above that, up to MDB_MOST. */
STR_INLINE mblk_t *
mdb_large(size_t size)
{
	unsigned cls = CLASS_MDB + 1;
	struct str_mdb *x;

	while (size + STR_MDB_HDR > str_mem_class_size[cls])
		cls++;
	x = mdb_alloc(cls);
	if (str_unlikely(x == NULL))
		return NULL;
	x->d.db_base = (unsigned char *)x + STR_MDB_HDR;
	x->d.db_lim = (unsigned char *)x + str_mem_class_size[cls];
	x->d.db_size = (unsigned int)size;
	x->m.b_rptr = x->m.b_wptr = x->d.db_base;
	return &x->m;
}

/* freeb() of one that mdb_is_plain(). */
STR_INLINE void
mdb_plain_done(mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);

	x->d.db_ref = 0; /* in the order of freeb() */
	str_barrier();
	bp->b_datap = NULL;
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

/* freeb() of any block; most are not shared and all in one piece. */
STR_INLINE void
mdb_done(mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);
	dblk_t *d = bp->b_datap;

	if (str_unlikely(d != &x->d || d->db_class != CLS_FAST ||
		str_load_acq(&d->db_ref) != 1)) {
		freeb(bp);
		return;
	}
	d->db_ref = 0; /* in the order of freeb() */
	str_barrier();
	bp->b_datap = NULL;
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

#endif

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

/* db_class: where the buffer is */
enum {
	BUF_JOINED, /* in one allocation with the message and data blocks; also
		     * when db_free() has begun to free another one */
	BUF_APART,  /* in an allocation of its own */
	BUF_PASS,   /* a struct str_pass */
	BUF_GIVEN,  /* where the caller of esballoc() has it */
};

/*
 * db_ref, db_type, db_class and db_flags of a fresh block, written by one store
 * and compared by one load: the CPU cannot forward several stores to one load.
 */
struct mdb_kind {
	unsigned char ref, type, class_, flags;
};
static const struct mdb_kind mdb_plain = {1, M_DATA, BUF_JOINED, 0};
#define MDB_KIND(d) ((void *)(uintptr_t)&(d)->db_ref)
_Static_assert(offsetof(dblk_t, db_flags) == offsetof(dblk_t, db_ref) + 3 &&
	offsetof(dblk_t, db_type) == offsetof(dblk_t, db_ref) + 1 &&
	offsetof(dblk_t, db_class) == offsetof(dblk_t, db_ref) + 2,
	"struct mdb_kind");

/* Is it one piece, not shared, and M_DATA? */
STR_INLINE bool
mdb_is_plain(mblk_t *bp)
{
	const dblk_t *d = bp->b_datap;
	uint32_t has, plain;

	__builtin_memcpy(&has, MDB_KIND(d), sizeof(has));
	__builtin_memcpy(&plain, &mdb_plain, sizeof(plain));
	return d == &str_mdb_of_m(bp)->d && has == plain;
}

/* A fresh block of memory class @size_class, CLASS_MDB or greater. */
STR_INLINE struct str_mdb *
mdb_alloc(unsigned size_class)
{
	struct str_mdb *x = str_mdb_get(size_class);

	if (str_unlikely(x == NULL))
		return NULL;
	x->m.b_band = 0;
	x->m.b_pad1 = 0; /* the compiler joins this with b_band and b_flag */
	x->m.b_flag = 0;
	x->m.b_datap = &x->d;
	x->d.db_frtnp = NULL;
	__builtin_memcpy(MDB_KIND(&x->d), &mdb_plain, sizeof(mdb_plain));
	str_barrier(); /* str_mdb_reap() uses the fields if `parts' is set */
	str_store(&x->parts, STR_MDB_M | STR_MDB_D);
	return x;
}

/*
 * With the sanitizer's shadow a buffer in the block @b ends where the caller
 * asked for, so that a write behind it is found.
 */
STR_INLINE void
mdb_end(struct str_mdb *x, struct str_blk *b)
{
	if (!str_mem_shadow)
		return;
	x->d.db_lim = x->d.db_base + x->d.db_size;
	str_mem_end(b, x->d.db_lim);
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
	mdb_end(x, &x->blk);
	return &x->m;
}

/* The largest buffer that is in one piece with its message. */
#define MDB_MOST (STR_MDB_MAX - STR_MDB_HDR)

/* allocb() of a size from STR_FASTBUF + 1 to MDB_MOST. */
STR_INLINE mblk_t *
mdb_large(size_t size)
{
	unsigned size_class = CLASS_MDB + 1;
	struct str_mdb *x;

	while (size + STR_MDB_HDR > str_mem_class_size[size_class])
		size_class++;
	x = mdb_alloc(size_class);
	if (str_unlikely(x == NULL))
		return NULL;
	x->d.db_base = (unsigned char *)x + STR_MDB_HDR;
	x->d.db_lim = (unsigned char *)x + str_mem_class_size[size_class];
	x->d.db_size = (unsigned int)size;
	x->m.b_rptr = x->m.b_wptr = x->d.db_base;
	mdb_end(x, &x->blk);
	return &x->m;
}

/* freeb() of a block for which mdb_is_plain() is true. */
STR_INLINE void
mdb_plain_done(mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);

	x->d.db_ref = 0; /* stores in this order: see freeb() */
	str_barrier();
	bp->b_datap = NULL;
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

/* freeb() of any block; fast if it is in one piece and not shared. */
STR_INLINE void
mdb_done(mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);
	dblk_t *d = bp->b_datap;

	if (str_unlikely(d != &x->d || d->db_class != BUF_JOINED ||
		str_load_acq(&d->db_ref) != 1)) {
		freeb(bp);
		return;
	}
	d->db_ref = 0; /* stores in this order: see freeb() */
	str_barrier();
	bp->b_datap = NULL;
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The allocator's fast path for message blocks: their class is known, and
 * stands in them, so that the granule need not be looked at.  mem.c has the
 * theory.
 */
#ifndef STR_MEM_H
#define STR_MEM_H

#define CLASS_MDB 3u
#define STR_MDB_SIZE 320u
#define CLASS_MDB_LAST 10u
#define STR_MDB_MAX 32768u /* of the last class */

/* Of each class: bytes of a block, header included; blocks per magazine. */
extern const uint32_t str_mem_class_size[STR_NCLASS];
extern const uint8_t str_mem_class_batch[STR_NCLASS];

#ifdef STR_DEBUG
void str_mem_poison(struct str_blk *b, unsigned cls);
void str_mem_check(const struct str_blk *b, unsigned cls);
#else
#define str_mem_poison(b, cls) ((void)(b), (void)(cls))
#define str_mem_check(b, cls) ((void)(b), (void)(cls))
#endif

bool str_mem_refill(struct str_thread *t, unsigned cls);
void str_mem_spill(struct str_thread *t, unsigned cls);

_Static_assert(sizeof(struct str_mdb) <= STR_MDB_SIZE, "class of mdb");
_Static_assert(offsetof(struct str_mdb, buf) <= STR_MDB_HDR, "mdb header");

/*
 * @b is what @state says, and this thread's.  No thread sees the one without the
 * other: its last owner may be dead, and about to be reaped.
 */
STR_INLINE void
str_mem_stamp(struct str_blk *b, uint32_t state)
{
	str_store(&b->stamp, (uint64_t)host_self_tag() << 32 | state);
}
_Static_assert(offsetof(struct str_blk, owner) ==
	offsetof(struct str_blk, state) + 4 &&
	__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "str_mem_stamp");

/*
 * A block of class @cls, CLASS_MDB to CLASS_MDB_LAST, for a message that has no
 * neighbours.
 * Crash: what the reaper goes by is there before it leaves the magazine.
 */
STR_INLINE struct str_mdb *
str_mdb_get(unsigned cls)
{
	struct str_thread *t = host_self();
	struct str_mag *m = &t->mag[0][cls];
	struct str_mdb *x;

	if (str_unlikely(m->head == NULL) && !str_mem_refill(t, cls))
		return NULL;
	x = m->head;
	str_mem_check(&x->blk, cls);
	str_store(&x->parts, 0u);
	x->m.b_next = NULL;
	x->m.b_prev = NULL;
	x->m.b_cont = NULL;
	x->cls = cls;
	str_barrier();
	str_mem_stamp(&x->blk, STR_BLK_MDB);
	str_barrier();
	m->head = x->blk.next;
	m->count--;
	STR_CRASH_POINT("mem:message");
	return x;
}

STR_INLINE void
str_mdb_put(struct str_mdb *x)
{
	struct str_thread *t = host_self();
	unsigned cls = x->cls;
	struct str_mag *m = &t->mag[0][cls];
	struct str_blk *b = &x->blk;

	STR_ASSERT(b->state == STR_BLK_MDB);
	STR_ASSERT(cls >= CLASS_MDB && cls <= CLASS_MDB_LAST);
	if (str_unlikely(m->count >= str_mem_class_batch[cls]))
		str_mem_spill(t, cls);
	str_mem_poison(b, cls);
	b->next = m->head;
	str_barrier();
	m->head = b;
	m->count++;
	str_barrier();
	str_store(&b->state, (uint32_t)STR_BLK_FREE);
}

/* Is half of the memory there still?  Then nothing need be kept for later. */
STR_INLINE bool
str_mem_plenty(void)
{
	const struct str_domain *d = host_domain;

	return str_load(&d->brk) < d->room >> STR_SLAB_SHIFT >> 1;
}

#endif

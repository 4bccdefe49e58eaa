/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The allocator's fast path for message blocks.  A message block stores its own
 * size class; that of another block is looked up in the table of granules, the
 * 64 KiB pieces of the arena.  mem.c has the theory.
 */
#ifndef STR_MEM_H
#define STR_MEM_H

#define CLASS_MDB 3u
#define STR_MDB_SIZE 320u
#define CLASS_MDB_LAST 10u
#define STR_MDB_MAX 32768u /* of the last class */

/* Number of size classes of blocks.  Numbers from this one on are those of the
 * lists of free runs of granules. */
#define STR_MEM_CLASSES 12u

STR_INLINE void *
str_slab_base(uint64_t idx)
{
	return (void *)(uintptr_t)(host_domain->base +
		(idx << STR_SLAB_SHIFT));
}

/* For each class: bytes of a block, header included; blocks per magazine. */
extern const uint32_t str_mem_class_size[STR_NCLASS];
extern const uint8_t str_mem_class_batch[STR_NCLASS];

#ifdef STR_DEBUG
void str_mem_poison(struct str_blk *b, unsigned cls);
void str_mem_check(const struct str_blk *b, unsigned cls);
#else
#define str_mem_poison(b, cls) ((void)(b), (void)(cls))
#define str_mem_check(b, cls) ((void)(b), (void)(cls))
#endif

/*
 * The address sanitizer learns which bytes of the arena are free, if one
 * process has the domain (host/sim, the fuzzers); the processes of host/user
 * have a shadow each.
 * str_mem_hide - @b of class @cls is free: only its first words may be used
 * str_mem_show - the @n bytes at @p may be used
 * str_mem_end - of the block @b, nothing may be used from @end on
 */
#if defined(__SANITIZE_ADDRESS__)
extern bool str_mem_shadow;
void str_mem_hide(struct str_blk *b, unsigned cls);
void str_mem_show(void *p, size_t n);
void str_mem_end(struct str_blk *b, const void *end);
#else
#define str_mem_hide(b, cls) ((void)(b), (void)(cls))
#define str_mem_show(p, n) ((void)(p), (void)(n))
#define str_mem_end(b, end) ((void)(b), (void)(end))
#define str_mem_shadow 0
#endif

bool str_mem_refill(struct str_thread *t, unsigned cls);
void str_mem_spill(struct str_thread *t, unsigned cls);

_Static_assert(sizeof(struct str_mdb) <= STR_MDB_SIZE, "class of mdb");
_Static_assert(offsetof(struct str_mdb, buf) <= STR_MDB_HDR, "mdb header");

/*
 * Set kind and owner (this thread) of @b by one store, because its last owner
 * may be dead and about to be reaped.
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
 * Take a block of class @cls, CLASS_MDB to CLASS_MDB_LAST, for a message.  Its
 * b_next, b_prev and b_cont are NULL.  Return: NULL if there is no memory.
 * Crash: the words that the reaper reads are set before the block leaves the
 * magazine.
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
	str_mem_show(x, str_mem_class_size[cls]);
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
	str_mem_show(b, str_mem_class_size[cls]);
	str_mem_poison(b, cls);
	b->next = m->head;
	str_barrier();
	m->head = b;
	m->count++;
	str_barrier();
	str_store(&b->state, (uint32_t)STR_BLK_FREE);
	str_mem_hide(b, cls);
}

/* Is less than half of the memory handed out?  Then callers need not save
 * memory. */
STR_INLINE bool
str_mem_plenty(void)
{
	const struct str_domain *d = host_domain;

	return str_load(&d->next_granule) < d->room >> STR_SLAB_SHIFT >> 1;
}

#endif

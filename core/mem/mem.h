/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The allocator's fast path for message blocks: their class is known, so
 * neither the size nor the granule need be looked at.  mem.c has the theory.
 */
#ifndef STR_MEM_H
#define STR_MEM_H

#define CLASS_MDB 3u
#define STR_MDB_SIZE 320u
#define STR_MDB_BATCH 64u

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

STR_INLINE struct str_mdb *
str_mdb_get(void)
{
	struct str_thread *t = host_self();
	struct str_mag *m = &t->mag[0][CLASS_MDB];
	struct str_blk *b;

	if (str_unlikely(m->head == NULL) && !str_mem_refill(t, CLASS_MDB))
		return NULL;
	b = m->head;
	str_mem_check(b, CLASS_MDB);
	str_store(&b->state, (uint32_t)STR_BLK_MDB);
	str_store(&b->owner, host_self_tag());
	str_barrier();
	m->head = b->next;
	m->count--;
	return (struct str_mdb *)(void *)b;
}

STR_INLINE void
str_mdb_put(struct str_mdb *x)
{
	struct str_thread *t = host_self();
	struct str_mag *m = &t->mag[0][CLASS_MDB];
	struct str_blk *b = &x->blk;

	STR_ASSERT(b->state == STR_BLK_MDB);
	if (str_unlikely(m->count >= STR_MDB_BATCH))
		str_mem_spill(t, CLASS_MDB);
	str_mem_poison(b, CLASS_MDB);
	b->next = m->head;
	str_barrier();
	m->head = b;
	m->count++;
	str_barrier();
	str_store(&b->state, (uint32_t)STR_BLK_FREE);
}

#endif

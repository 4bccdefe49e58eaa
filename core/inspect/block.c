/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Describes one block of memory, for tests that search for leaked blocks.
 */
#include "core.h"
#include "plumb/kind.h"

#include <str/inspect.h>
#include "inspect.h"

/* Words that other threads change are read once, by one load. */
#define PEEK(lvalue) __atomic_load_n(&(lvalue), __ATOMIC_RELAXED)
#define AT(pointer) ((uint64_t)(uintptr_t)PEEK(pointer))

STR_RACY static void
copy_bytes(unsigned char *to, const void *from, size_t n)
{
	const unsigned char *p = from;
	size_t i;

	if (!str_mem_valid(p) || !str_mem_valid(p + n))
		return;
	for (i = 0; i < n; i++)
		to[i] = PEEK(p[i]);
}

static void
message(struct str_i_block *r, const struct str_mdb *x)
{
	const dblk_t *d = PEEK(x->m.b_datap);

	r->parts = str_load(&x->parts);
	r->next = AT(x->m.b_next);
	r->prev = AT(x->m.b_prev);
	r->cont = AT(x->m.b_cont);
	r->data = (uint64_t)(uintptr_t)d;
	r->length = AT(x->m.b_wptr) - AT(x->m.b_rptr);
	if (((uintptr_t)d & 7u) != 0 || !str_mem_valid(d))
		d = &x->d;
	r->type = PEEK(d->db_type);
	r->refs = PEEK(d->db_ref);
	copy_bytes(r->first, PEEK(d->db_base), sizeof r->first);
}

/* str_inspect_block - describe block @b in @r */
void
str_inspect_block(struct str_i_block *r, const struct str_blk *b)
{
	r->addr = (uint64_t)(uintptr_t)b;
	r->size = str_mem_size(b);
	r->state = str_load(&b->state);
	r->owner = str_load(&b->owner);
	r->word = AT(b->next);
	if (r->state == STR_BLK_MDB)
		message(r, (const struct str_mdb *)(const void *)b);
	else
		copy_bytes(r->first, b + 1, sizeof r->first);
	if (r->state < STR_BLK_NKIND && str_kind[r->state].refers != NULL) {
		struct str_head *at;

		r->data = (uint64_t)(uintptr_t)str_kind[r->state].refers(b, &at);
		r->next = (uint64_t)(uintptr_t)at;
	}
}

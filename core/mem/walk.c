/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Walks through the arena: for reapers and for statistics.
 *
 * A walk takes no lock.  A granule's `kind' is stored after its blocks have the
 * state STR_BLK_FREE.  So a walk that reads the kind never takes old contents
 * of the granule for a block in use.
 */
#include "core.h"
#include "mem.h"

/* Call @fn for the blocks of granule @idx that are in use. */
static void
walk_granule(uint64_t idx, void (*fn)(struct str_blk *b, void *arg), void *arg)
{
	uint32_t kind = str_load_acq(&host_domain->slab[idx].kind);
	unsigned char *p = str_slab_base(idx);
	uint32_t size, off;

	if (kind == STR_SLAB_RUN) {
		struct str_blk *b = (struct str_blk *)(void *)p;

		if (str_load(&b->state) != STR_BLK_FREE)
			fn(b, arg);
		return;
	}
	if (kind == 0 || kind > STR_MEM_CLASSES)
		return;
	size = str_mem_class_size[kind - 1];
	for (off = 0; off + size <= STR_SLAB_SIZE; off += size) {
		struct str_blk *b = (struct str_blk *)(void *)(p + off);

		if (str_load(&b->state) != STR_BLK_FREE)
			fn(b, arg);
	}
}

/*
 * str_mem_walk_some - call @fn for every block that is in use, one granule
 * after the other, until the time @until
 * @at: the next granule: the function updates it; 0 for the first call.
 * @until: host_now() time.  After each granule the function reads the clock.
 * UINT64_MAX: no limit.
 * Return: true if @until has passed: call the function again, even though that
 * call may find no granule left.
 */
bool
str_mem_walk_some(void (*fn)(struct str_blk *b, void *arg), void *arg,
	uint64_t *at, uint64_t until)
{
	uint64_t end = str_load(&host_domain->next_granule);

	if (*at == 0)
		*at = STR_HDR_SIZE >> STR_SLAB_SHIFT;
	while (*at < end) {
		walk_granule((*at)++, fn, arg);
		if (until != UINT64_MAX && host_now() >= until)
			return true;
	}
	return false;
}

/* str_mem_walk - the same for all granules in one call */
void
str_mem_walk(void (*fn)(struct str_blk *b, void *arg), void *arg)
{
	uint64_t at = 0;

	(void)str_mem_walk_some(fn, arg, &at, UINT64_MAX);
}

static void
count_block(struct str_blk *b, void *arg)
{
	struct str_mem_stats *st = arg;

	uint32_t state = str_load(&b->state);

	if (state < STR_ARRAY_LEN(st->blocks))
		st->blocks[state]++;
	st->bytes += str_mem_size(b);
}

void
str_mem_stats(struct str_mem_stats *ret)
{
	struct str_mem_stats st = {0};

	str_mem_walk(count_block, &st);
	st.committed = str_load(&host_domain->committed);
	*ret = st;
}

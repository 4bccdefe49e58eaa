/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Memory for modules. A block begins 64 bytes before what they see.  It is zero
 * whatever they asked for: what it was before would keep messages of the dead
 * (core/plumb/parked.c).
 */
#include "ddi_impl.h"

#define HEAD 64u

void *
kmem_alloc(size_t size, int flag)
{
	struct str_blk *b;

	(void)flag; /* a domain that is full stays so: sleeping gains nothing */
	if (size == 0 || size > STR_MEM_MAX - HEAD)
		return NULL;
	b = str_mem_zalloc(size + HEAD, STR_BLK_KMEM);
	if (b == NULL)
		return NULL;
	str_mem_disown(b); /* it belongs to the module from now on */
	return (char *)b + HEAD;
}

void *
kmem_zalloc(size_t size, int flag)
{
	return kmem_alloc(size, flag);
}

/* Memory has no nodes here: every one is as good. */
void *
kmem_alloc_node(size_t size, int flag, processorid_t cpu)
{
	(void)cpu;
	return kmem_alloc(size, flag);
}

void *
kmem_zalloc_node(size_t size, int flag, processorid_t cpu)
{
	(void)cpu;
	return kmem_zalloc(size, flag);
}

void
kmem_free(void *buf, size_t size)
{
	struct str_blk *b;

	(void)size;
	if (buf == NULL)
		return;
	b = (struct str_blk *)(void *)((char *)buf - HEAD);
	STR_VERIFY(b->state == STR_BLK_KMEM);
	str_mem_own(b);
	str_mem_free(b);
}

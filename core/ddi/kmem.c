/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Memory for modules.  The block begins 64 bytes before the address that the
 * module gets.  It is always zeroed: if a process is killed, the reaper does
 * not free messages to which a word in a module's memory points, and stale
 * pointers would keep them until the domain ends (core/plumb/parked.c).
 */
#include "ddi_impl.h"
#include "mem/mem.h"

#define HEAD 64u

void *
kmem_alloc(size_t size, int flag)
{
	struct str_blk *b;

	(void)flag; /* sleeping does not help: a full domain may stay full */
	if (size == 0 || size > STR_MEM_MAX - HEAD)
		return NULL;
	b = str_mem_zalloc(size + HEAD, STR_BLK_KMEM);
	if (b == NULL)
		return NULL;
	str_mem_end(b, (char *)b + HEAD + size);
	str_mem_disown(b); /* it belongs to the module from now on */
	return (char *)b + HEAD;
}

void *
kmem_zalloc(size_t size, int flag)
{
	return kmem_alloc(size, flag);
}

/* There are no memory nodes: all memory is equivalent. */
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

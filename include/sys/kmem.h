/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/kmem.h> - memory for a module's private data
 *
 * The memory lies in the domain: it has the same address in all processes that
 * run the module.  Objects that q_ptr points to are allocated here.
 */
#ifndef _SYS_KMEM_H
#define _SYS_KMEM_H

#include <sys/stream.h>
#include <sys/dditypes.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KM_SLEEP 0
#define KM_NOSLEEP 1

/**
 * kmem_alloc - allocate memory
 * @size: bytes
 * @flag: KM_SLEEP or KM_NOSLEEP
 *
 * The memory is aligned for any object, and its content is undefined.  A wait
 * would not free memory in a full domain, so KM_SLEEP does not sleep here;
 * check its result too.
 *
 * Context: any; on other systems KM_SLEEP is for open and close procedures
 *          only.
 * Crash:   if a process dies when no pointer to the memory exists, the memory
 *          is freed when the dead thread is reaped.
 * Return:  the memory; NULL if there is none or @size is 0.
 */
void *kmem_alloc(size_t size, int flag) STR_DDI(kmem_alloc);

/* kmem_zalloc - the same, filled with zeros. */
void *kmem_zalloc(size_t size, int flag) STR_DDI(kmem_zalloc);

/*
 * kmem_alloc_node, kmem_zalloc_node - the same, near processor
 * @cpu: a hint without effect here.
 */
void *kmem_alloc_node(size_t size, int flag, processorid_t cpu)
	STR_DDI(kmem_alloc_node);
void *kmem_zalloc_node(size_t size, int flag, processorid_t cpu)
	STR_DDI(kmem_zalloc_node);

/**
 * kmem_free - free memory
 * @buf:  from kmem_alloc() or kmem_zalloc(); NULL with @size 0 does nothing
 * @size: the size it was allocated with
 *
 * Context: any.
 */
void kmem_free(void *buf, size_t size) STR_DDI(kmem_free);

#ifdef __cplusplus
}
#endif

#endif /* _SYS_KMEM_H */

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/kmem.h> - memory for a module's private data
 *
 * The memory lies in the domain: all processes that run the module see it at
 * the same address.  What q_ptr points to comes from here.
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
 * Aligned for any object; the content is whatever it was.  A domain that is
 * full does not empty while a thread waits, so KM_SLEEP does not sleep
 * here: its result must be looked at as well.
 *
 * Context: any; with KM_SLEEP, elsewhere, only open and close procedures.
 * Crash:   memory of a process that died while nothing pointed to it is
 *          found by the domain's audit.
 * Return:  the memory; NULL when there is none or @size is 0.
 */
void *kmem_alloc(size_t size, int flag) STR_DDI(kmem_alloc);

/* kmem_zalloc - the same, filled with zeros. */
void *kmem_zalloc(size_t size, int flag) STR_DDI(kmem_zalloc);

/*
 * kmem_alloc_node, kmem_zalloc_node - the same, near processor @cpu: a hint,
 * and here without effect.
 */
void *kmem_alloc_node(size_t size, int flag, processorid_t cpu)
	STR_DDI(kmem_alloc_node);
void *kmem_zalloc_node(size_t size, int flag, processorid_t cpu)
	STR_DDI(kmem_zalloc_node);

/**
 * kmem_free - give memory back
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

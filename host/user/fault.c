/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Faults that are not the program's.
 *
 * First, somebody touched an image of a foreign module that is not mapped
 * here yet: see modload_image.c.
 *
 * Then, the fix-up table, of one row: a fault between host_copy_begin and
 * host_copy_end goes on at host_copy_fault, which returns EFAULT.  The
 * routines in between use no stack, so that is a return to their caller.
 */
#include <ucontext.h>

#include "user_impl.h"

bool
host_fault_fixup(const void *addr, void *ucontext)
{
	ucontext_t *uc = ucontext;
#if defined(__x86_64__)
	uintptr_t ip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
#else
	uintptr_t ip = (uintptr_t)uc->uc_mcontext.pc;
#endif

	if (host_images_fault(addr, ip))
		return true;
#if defined(__x86_64__)
	if (ip < (uintptr_t)host_copy_begin || ip >= (uintptr_t)host_copy_end)
		return false;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)host_copy_fault;
	return true;
#else
	return false; /* copy.c lets the kernel look at addresses */
#endif
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Faults that the library handles itself.
 *
 * First, accesses to an image of a foreign module that is not mapped here yet:
 * see modload_image.c.
 *
 * Then, the copy routines: after a fault between host_copy_begin and
 * host_copy_end the thread continues at host_copy_fault, which returns EFAULT.
 * These routines use no stack, so that returns to their caller.
 *
 * Last, the table of host_fault_rows(): for each instruction, the address at
 * which to continue after a fault.
 */
#include <ucontext.h>

#include "user_impl.h"

#if defined(__x86_64__)
static const struct host_fault_row *rows;
static size_t nrow;

void
host_fault_rows(const struct host_fault_row *row, size_t n)
{
	nrow = 0;
	rows = row;
	__atomic_store_n(&nrow, n, __ATOMIC_RELEASE);
}

/* The address at which to continue; 0: another fault. */
static uintptr_t
landing(uintptr_t ip)
{
	size_t n = __atomic_load_n(&nrow, __ATOMIC_ACQUIRE);

	for (size_t i = 0; i < n; i++)
		if (ip == (uintptr_t)&rows[i].at + (uintptr_t)(intptr_t)rows[i].at)
			return (uintptr_t)&rows[i].to +
				(uintptr_t)(intptr_t)rows[i].to;
	return 0;
}
#endif

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
	if (ip >= (uintptr_t)host_copy_begin && ip < (uintptr_t)host_copy_end)
		ip = (uintptr_t)host_copy_fault;
	else
		ip = landing(ip);
	if (ip != 0)
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)ip;
	return ip != 0;
#else
	return false; /* copy.c lets the kernel check addresses */
#endif
}

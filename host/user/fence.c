/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The asymmetric fence, and which CPU this is.
 *
 * Every member registers for GLOBAL_EXPEDITED membarriers: one of them then
 * interrupts exactly the CPUs that run members.  As soon as one member could
 * not register, `asym' is 0 for as long as the domain exists, and light
 * fences are full ones; the heavy fence stays what it is for those who have
 * not seen that yet.
 */
#include <linux/membarrier.h>
#include <sched.h>
#ifdef HOST_HAVE_RSEQ
#include <sys/rseq.h>
#endif

#include "user_impl.h"

/* Where the C library's rseq area is, from the thread pointer; 0: nowhere. */
STR_HOT_DATA static str_a64 rseq_at;

/* Register this process; false: it cannot be. */
bool
host_fence_init(void)
{
#ifdef HOST_HAVE_RSEQ
	if (__rseq_size != 0)
		str_store(&rseq_at, (uint64_t)__rseq_offset);
#endif
	return sys_call3(SYS_membarrier,
		MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void
host_fence_heavy(void)
{
	str_fence_full();
	/* on a kernel without it no member has registered either */
	if (sys_call3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) !=
	    0)
		str_store(&host_domain->asym, 0u);
	str_fence_full();
}

uint32_t
host_cpu(void)
{
	int cpu;

#ifdef HOST_HAVE_RSEQ
	intptr_t at = (intptr_t)str_load(&rseq_at);

	if (at != 0) {
		const volatile struct rseq *r = (const void *)(
			(char *)__builtin_thread_pointer() + at);

		cpu = (int)r->cpu_id;
		if (cpu >= 0)
			return (uint32_t)cpu;
	}
#endif
	cpu = sched_getcpu();
	return cpu < 0 ? ~0u : (uint32_t)cpu;
}

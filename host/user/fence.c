/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The asymmetric fence, and the number of this CPU.
 *
 * Every member registers for GLOBAL_EXPEDITED membarriers: one of them then
 * interrupts exactly the CPUs that run members.  As soon as one member cannot
 * register, `asym' is 0 for as long as the domain exists, and light fences are
 * full ones; the heavy fence is still executed, for members that have not seen
 * the change yet.
 *
 * The barrier is not needed if no other thread runs that may have executed
 * light fences: each thread executes a full one when it takes a slot
 * (slot.c:thread_take) and when it leaves the state `parked'.
 */
#include <linux/membarrier.h>
#include <sched.h>
#ifdef HOST_HAVE_RSEQ
#include <sys/rseq.h>
#endif

#include "user_impl.h"

/* Offset of the C library's rseq area from the thread pointer; 0: none. */
STR_HOT_DATA static str_a64 rseq_at;

/* Register this process; false: impossible. */
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

#define FEW 64u /* slots are examined in less time than the barrier takes */

static bool
is_only_one(void)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	if (n > FEW)
		return false;
	for (i = 0; i < n; i++) {
		struct str_thread *t = &d->thread[i];

		if (t != host_self() && str_load_acq(&t->tag) != 0 &&
		    str_load_acq(&t->parked) == 0)
			return false;
	}
	return true;
}

/*
 * host_park - this thread is outside of calls for some time
 * It begins none before host_unpark().
 */
void
host_park(void)
{
	struct str_thread *t = host_tls.slot;

	if (t != NULL)
		str_store_rel(&t->parked, 1u);
}

void
host_unpark(void)
{
	struct str_thread *t = host_tls.slot;

	if (t != NULL)
		(void)str_xchg(&t->parked, 0u);
	str_fence_full();
}

void
host_fence_heavy(void)
{
	str_fence_full();
	if (is_only_one())
		return;
	/* on a kernel without membarrier no member has registered */
	if (sys_call3(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) !=
	    0)
		str_store(&host_domain->asym, 0u);
	str_fence_full();
}

STR_WAKE_TEXT uint32_t
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

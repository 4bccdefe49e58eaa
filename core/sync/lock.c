/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The slow sides of owner-named locks; lock.h has the theory.
 */
#include "core.h"

#define SPINS 200
#define WAIT_NS 1000000u	/* then look whether the owner lives */

bool
str_lock_slow(struct str_lock *l)
{
	uint32_t me = host_self_tag();
	unsigned round;

	for (round = 0; round < SPINS; round++) {
		if (str_load(&l->owner) == 0 && str_cas(&l->owner, 0u, me))
			return false;
		str_cpu_relax();
	}
	for (round = 0;; round++) {
		uint32_t v = str_load(&l->owner);

		if (v == 0) {
			if (str_cas(&l->owner, 0u, me))
				return false;
			continue;
		}
		str_store(&l->waiters, 1u);
		host_fence_heavy();
		if (str_load(&l->owner) != v)
			continue;
		(void)host_wait(NULL, (str_a32 *)&l->owner, v,
			round < 8 ? WAIT_NS : 10 * WAIT_NS);
		if (str_load(&l->owner) == v && host_owner_dead(v) &&
		    str_cas(&l->owner, v, me))
			return true;
	}
}

void
str_unlock_slow(struct str_lock *l)
{
	str_store(&l->waiters, 0u);
	host_wake((str_a32 *)&l->owner, INT_MAX);
}

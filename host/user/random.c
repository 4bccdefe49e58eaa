/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Random numbers of the kernel.  Shortly after boot the kernel may have none
 * yet; then the processor's counter and the process number are used, which
 * another user can guess.
 */
#include "user_impl.h"

#define GRND_NONBLOCK 1

uint64_t
host_random(void)
{
	uint64_t rnd;

	if (sys_call3(SYS_getrandom, &rnd, sizeof rnd, GRND_NONBLOCK) !=
		(long)sizeof rnd)
		rnd = host_ticks() << 20 ^ (uint64_t)sys_getpid();
	return rnd;
}

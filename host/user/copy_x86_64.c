/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What copy_x86_64.S chooses by.
 */
#include <cpuid.h>

#include "user_impl.h"

extern uint64_t host_copy_rep;
extern uint8_t host_copy_avx;

uint64_t host_copy_rep = UINT64_MAX; /* bytes from which to use rep movsb */
uint8_t host_copy_avx;

void
host_copy_init(void)
{
	__builtin_cpu_init();
	host_copy_avx = __builtin_cpu_supports("avx2") != 0;
}

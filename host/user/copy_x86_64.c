/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What copy_x86_64.S chooses by.
 *
 * The AVX loop wins from 256 bytes up where the data lies in the second
 * level cache, as it does between two processes; `rep movsb' only from 3 KiB
 * in the first level.  Ice Lake server, ns for 512, 4096 and 65536 bytes:
 *
 *	touched		SSE		AVX		rep movsb
 *	12 KiB		8 50		7 29		15 23
 *	384 KiB		14 93 1444	13 80 1259	17 88 1409
 *
 * So the string move is for processors that have it fast but no AVX2.
 *
 * Registers of 64 bytes save a store, or a load, per line in the second level.
 * There, in and out, ns for 512, 4096 and 16384 bytes: 19 129 513 by AVX, 16
 * 113 437 by AVX-512; but 4096 bytes in, 32 bytes off, 78 and 94.  So these are
 * for copies from and to one place in a line.  Not where they slow the clock
 * down: VBMI2 came with the first that do not.
 *
 * What is sent to another processor is copied to where that one has read: each
 * line is asked for, to be written, some way ahead.  From one processor to the
 * other, ns for 8192 and 16384 bytes: 576 1098, ahead 485 940.  Shorter copies
 * gain less than the asking costs.
 */
#include <cpuid.h>

#include "user_impl.h"

#ifndef bit_ERMS
#define bit_ERMS (1u << 9) /* leaf 7, ebx */
#endif

extern uint64_t host_copy_rep;
extern uint8_t host_copy_avx;

uint64_t host_copy_rep = UINT64_MAX; /* bytes from which to use rep movsb */
STR_HOT_DATA uint8_t host_copy_avx; /* 0: SSE, 1: AVX2, 2: AVX-512 */

void
host_copy_init(void)
{
	unsigned a, b, c, d;

	__builtin_cpu_init();
	host_copy_avx = __builtin_cpu_supports("avx2") != 0;
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512vbmi2"))
		host_copy_avx = 2;
	if (!host_copy_avx && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
	    (b & bit_ERMS))
		host_copy_rep = 2048;
}

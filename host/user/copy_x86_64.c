/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Parameters by which copy_x86_64.S selects a method.
 *
 * The AVX loop is faster from 256 bytes on if the data is in the second level
 * cache, as it is between two processes; `rep movsb' only from 3 KiB on in the
 * first level cache.  Ice Lake server, ns for 512, 4096 and 65536 bytes:
 *
 *	touched		SSE		AVX		rep movsb
 *	12 KiB		8 50		7 29		15 23
 *	384 KiB		14 93 1444	13 80 1259	17 88 1409
 *
 * So the string move is used on processors with a fast one and without AVX2.
 *
 * Registers of 64 bytes save a store, or a load, per line in the second level.
 * There, in and out, ns for 512, 4096 and 16384 bytes: 19 129 513 by AVX, 16
 * 113 437 by AVX-512; but 4096 bytes in, 32 bytes off, 78 and 94.  So they are
 * used if source and destination have the same offset in a line.  And only on
 * processors where they do not reduce the clock rate: all those have VBMI2.
 *
 * Data for another processor is copied to memory that the other one has read:
 * so each line is prefetched for writing.  From one processor to the other, ns
 * for 8192 and 16384 bytes: 576 1098, with prefetch 485 940.  For shorter
 * copies the prefetch costs more than it gains.
 *
 * In a virtual machine each cpuid takes some microseconds: so the process that
 * makes the domain looks, for all members.
 */
#include <cpuid.h>

#include "user_impl.h"

#ifndef bit_ERMS
#define bit_ERMS (1u << 9) /* leaf 7, ebx */
#endif

#define KNOWN 1u /* what processors can: bits of a word in the domain */
#define AVX2 2u
#define AVX512 4u
#define ERMS 8u

#define XMM_YMM 0x06u /* in XCR0 */
#define XMM_ZMM 0xe6u

extern uint64_t host_copy_rep;
extern uint8_t host_copy_avx;

uint64_t host_copy_rep = UINT64_MAX; /* bytes from which to use rep movsb */
STR_HOT_DATA uint8_t host_copy_avx; /* 0: SSE, 1: AVX2, 2: AVX-512 */

/* The parts of a thread's registers that the system saves: XCR0. */
static unsigned
saved(void)
{
	unsigned low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

/* Not by __builtin_cpu_supports(), whose constructor runs in every program. */
static uint32_t
look(void)
{
	unsigned a, b, c, d, regs = 0;
	uint32_t what = KNOWN;

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return what;
	if (c & bit_OSXSAVE)
		regs = saved();
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return what;
	if ((regs & XMM_YMM) == XMM_YMM && (b & bit_AVX2) != 0)
		what |= AVX2;
	if ((regs & XMM_ZMM) == XMM_ZMM && (b & bit_AVX512F) != 0 &&
	    (c & bit_AVX512VBMI2) != 0)
		what |= AVX512;
	return b & bit_ERMS ? what | ERMS : what;
}

void
host_copy_init(str_a32 *known)
{
	uint32_t what = str_load(known);

	if (what == 0) {
		what = look();
		str_store(known, what);
	}
	host_copy_avx = what & AVX512 ? 2 : what & AVX2 ? 1 : 0;
	if (host_copy_avx == 0 && (what & ERMS) != 0)
		host_copy_rep = 2048;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * CRC32c: crc32c.h.
 *
 * Tables.  Eight bytes at a time ("slicing by 8"): the remainder of each byte
 * is taken from the row of its distance to the end of the eight, and the eight
 * remainders are added.  Words are read in little-endian order.
 *
 * Instruction.  It takes eight bytes, and has a latency of three cycles but a
 * throughput of one in a cycle.  So long input is divided into three parts of
 * equal length, whose CRCs are computed side by side.  To append the third
 * part, the CRC of the first is multiplied by x^(16 n) and that of the second
 * by x^(8 n), for parts of n bytes, with the carry-less multiplication: by
 * x^(16 n - 33) and x^(8 n - 33) modulo the polynomial, because the products
 * are added to the last eight bytes, whose CRC supplies the rest.
 */
#include "crc32c.h"
#include "crc32c_table.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <emmintrin.h>
#endif

#define SSE42 (1u << 20) /* in ECX of leaf 1 */
#define PCLMUL (1u << 1)

#define BY_INSTRUCTION 1
#define BY_THREE 2

int
crc32c_has_instruction(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & SSE42) == 0)
		return 0;
	return (c & PCLMUL) != 0 ? BY_INSTRUCTION | BY_THREE : BY_INSTRUCTION;
#else
	return 0;
#endif
}

static uint64_t
get_le64(const unsigned char *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static uint32_t
by_table(uint32_t crc, const unsigned char *p, size_t n)
{
	const uint32_t(*t)[256] = crc32c_table;
	uint64_t v;

	for (; n >= 8; n -= 8, p += 8) {
		v = get_le64(p) ^ crc;
		crc = t[7][v & 255] ^ t[6][v >> 8 & 255] ^
			t[5][v >> 16 & 255] ^ t[4][v >> 24 & 255] ^
			t[3][v >> 32 & 255] ^ t[2][v >> 40 & 255] ^
			t[1][v >> 48 & 255] ^ t[0][v >> 56];
	}
	for (; n != 0; n--, p++)
		crc = crc >> 8 ^ t[0][(crc ^ *p) & 255];
	return crc;
}

#if defined(__x86_64__)
/* Parts of n bytes, and the two multipliers, bits reversed. */
struct thirds {
	uint32_t n;
	uint32_t first, second; /* x^(16 n - 33), x^(8 n - 33) */
};
static const struct thirds thirds[2] = {
	{480, 0x3771e98f, 0xb3e32c28},
	{64, 0x0d3b6092, 0x9e4addf8},
};

/* The compiler has these for its -msse4.2 only, which this file is not. */
static inline uint64_t
crc64(uint64_t crc, uint64_t v)
{
	__asm__("crc32q %1, %0" : "+r"(crc) : "rm"(v));
	return crc;
}

/* The low half of the product. */
static inline uint64_t
multiply(uint64_t a, uint32_t b)
{
	__m128i p = _mm_cvtsi64_si128((long long)a);
	__m128i q = _mm_cvtsi64_si128((long long)b);

	__asm__("pclmulqdq $0, %1, %0" : "+x"(p) : "x"(q));
	return (uint64_t)_mm_cvtsi128_si64(p);
}

/* Three parts side by side. */
static uint32_t
by_three(uint32_t crc, const unsigned char *p, const struct thirds *t)
{
	uint64_t a = crc, b = 0, c = 0;
	uint32_t i, n = t->n;

	for (i = 0; i < n - 8; i += 8) {
		a = crc64(a, get_le64(p + i));
		b = crc64(b, get_le64(p + n + i));
		c = crc64(c, get_le64(p + 2 * n + i));
	}
	a = crc64(a, get_le64(p + i));
	b = crc64(b, get_le64(p + n + i));
	c = crc64(c, get_le64(p + 2 * n + i) ^ multiply(a, t->first) ^
		multiply(b, t->second));
	return (uint32_t)c;
}

static uint32_t
by_instruction(uint32_t crc, const unsigned char *p, size_t n)
{
	uint64_t c = crc;

	for (; n >= 8; n -= 8, p += 8)
		c = crc64(c, get_le64(p));
	crc = (uint32_t)c;
	for (; n != 0; n--, p++)
		__asm__("crc32b %1, %0" : "+r"(crc) : "rm"(*p));
	return crc;
}

static uint32_t
add(uint32_t crc, const unsigned char *p, size_t n, int instruction)
{
	const struct thirds *t;

	if (instruction == 0)
		return by_table(crc, p, n);
	if ((instruction & BY_THREE) != 0)
		for (t = thirds; t < thirds + 2; t++)
			for (; n >= 3 * t->n; n -= 3 * t->n, p += 3 * t->n)
				crc = by_three(crc, p, t);
	return by_instruction(crc, p, n);
}
#else
static uint32_t
add(uint32_t crc, const unsigned char *p, size_t n, int instruction)
{
	(void)instruction;
	return by_table(crc, p, n);
}
#endif

uint32_t
crc32c_add(uint32_t crc, const unsigned char *p, size_t n, int instruction)
{
	return ~add(~crc, p, n, instruction);
}

uint32_t
crc32c_packet(const unsigned char *p, size_t n, int instruction)
{
	static const unsigned char zeros[4];
	uint32_t crc = crc32c_add(0, p, 8, instruction);

	crc = crc32c_add(crc, zeros, 4, instruction);
	return crc32c_add(crc, p + 12, n - 12, instruction);
}

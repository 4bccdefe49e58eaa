/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * CRC32c: test vectors of RFC 3720 s B.4, the table, and that all
 * implementations agree.
 */
#include <string.h>
#include "t.h"
#include "crc32c.h"
#include "crc32c_table.h"

static unsigned char buf[4096];

/* As it is defined: bit by bit. */
static uint32_t
slow(const unsigned char *p, size_t n)
{
	uint32_t crc = ~0u;
	int i;

	for (; n != 0; n--, p++) {
		crc ^= *p;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

T_CASE(vectors_of_rfc_3720)
{
	int i, way;

	for (way = 0; way <= crc32c_has_instruction(); way++) {
		memset(buf, 0, 32);
		T_EQ(crc32c_add(0, buf, 32, way), 0x8a9136aau);
		memset(buf, 0xff, 32);
		T_EQ(crc32c_add(0, buf, 32, way), 0x62a8ab43u);
		for (i = 0; i < 32; i++)
			buf[i] = (unsigned char)i;
		T_EQ(crc32c_add(0, buf, 32, way), 0x46dd794eu);
		for (i = 0; i < 32; i++)
			buf[i] = (unsigned char)(31 - i);
		T_EQ(crc32c_add(0, buf, 32, way), 0x113fdb5cu);
		T_EQ(crc32c_add(0, (const void *)"123456789", 9, way),
			0xe3069283u);
		T_EQ(crc32c_add(0, buf, 0, way), 0);
	}
}

T_CASE(the_table_follows_from_the_polynomial)
{
	uint32_t crc;
	unsigned row, i, bit;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (row = 0; row < 8; row++) {
			for (bit = 0; bit < 8; bit++)
				crc = crc >> 1 ^
					((crc & 1) != 0 ? 0x82f63b78u : 0);
			T_EQ(crc32c_table[row][i], crc);
		}
	}
}

T_CASE(every_length_and_place_by_all_ways)
{
	size_t n, at;
	int way;

	for (n = 0; n < sizeof(buf); n++)
		buf[n] = (unsigned char)(n * 7 + n / 11);
	for (n = 0; n < 100; n++)
		for (at = 0; at < 9; at++)
			for (way = 0; way <= crc32c_has_instruction(); way++)
				T_EQ(crc32c_add(0, buf + at, n, way),
					slow(buf + at, n));
	/* what is divided into parts */
	for (n = 100; n < 4000; n += n < 1500 ? 1 : 37)
		T_EQ(crc32c_add(0, buf, n, crc32c_has_instruction()),
			slow(buf, n));
}

T_CASE(pieces_are_continued)
{
	int way = crc32c_has_instruction();
	size_t cut;

	memset(buf, 0xa5, 100);
	for (cut = 0; cut <= 100; cut++)
		T_EQ(crc32c_add(crc32c_add(0, buf, cut, way), buf + cut,
			100 - cut, 0), slow(buf, 100));
}

T_CASE(the_checksum_field_counts_as_zero)
{
	static const unsigned char zeros[4];
	uint32_t want;

	memset(buf, 0x5a, 64);
	memcpy(buf + 8, zeros, 4);
	want = slow(buf, 64);
	memset(buf + 8, 0xee, 4);
	T_EQ(crc32c_packet(buf, 64, 0), want);
	T_EQ(crc32c_packet(buf, 64, crc32c_has_instruction()), want);
	T_EQ(crc32c_packet(buf, 12, 0), crc32c_packet(buf, 12,
		crc32c_has_instruction()));
}

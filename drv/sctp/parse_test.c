/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reading chunks and parameters: nothing is read beyond what is there.
 */
#include <stdlib.h>
#include <string.h>
#include "t.h"
#include "association.h"

/* The result of reading @n bytes, in memory of exactly that size. */
static int
read_one(const char *bytes, size_t n, struct sctp_tlv *ret, size_t *at)
{
	unsigned char *p = malloc(n != 0 ? n : 1);
	int r;

	memcpy(p, bytes, n);
	*at = 0;
	r = sctp_chunk_next(p, n, at, ret);
	free(p);
	return r;
}

T_CASE(chunks_end_where_they_say)
{
	static const struct {
		const char *bytes;
		size_t n;
		int ret;
		size_t at;
	} row[] = {
		{"", 0, 0, 0},
		{"\3", 1, -1, 0},
		{"\3\0\0", 3, -1, 0},
		{"\3\0\0\4", 4, 1, 4},
		{"\3\0\0\3", 4, -1, 0},	       /* shorter than its header */
		{"\3\0\0\0", 4, -1, 0},
		{"\3\0\0\5x", 5, 1, 5},	       /* the last one's padding */
		{"\3\0\0\5x\0\0\0", 8, 1, 8},
		{"\3\0\0\5x\0\0\0\4", 9, 1, 8},
		{"\3\0\0\6x", 5, -1, 0},       /* longer than the packet */
		{"\3\0\377\377xxxx", 8, -1, 0},
	};
	struct sctp_tlv c;
	unsigned i;
	size_t at;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		T_EQ(read_one(row[i].bytes, row[i].n, &c, &at), row[i].ret);
		T_EQ(at, row[i].at);
	}
}

T_CASE(types_of_chunks_have_8_bits_and_of_parameters_16)
{
	static const unsigned char p[] = {0xc0, 0x05, 0, 8, 1, 2, 3, 4};
	struct sctp_tlv c;
	size_t at = 0;

	T_EQ(sctp_chunk_next(p, 8, &at, &c), 1);
	T_EQ(c.type, 0xc0);
	T_EQ(c.flags, 5);
	T_EQ(c.len, 8);
	at = 0;
	T_EQ(sctp_param_next(p, 8, &at, &c), 1);
	T_EQ(c.type, 0xc005);
}

T_CASE(serial_numbers_wrap)
{
	T_TRUE(sctp_before(1, 2));
	T_FALSE(sctp_before(2, 2));
	T_FALSE(sctp_before(2, 1));
	T_TRUE(sctp_before(0xffffffff, 0));
	T_TRUE(sctp_before(0xfffffff0, 0x10));
	T_FALSE(sctp_before(0x10, 0xfffffff0));
	T_TRUE(sctp_ssn_before(0xffff, 0));
	T_FALSE(sctp_ssn_before(0, 0xffff));
	T_TRUE(sctp_ssn_before(7, 8));
}

/* An INIT with these parameters. */
static void
parse(const void *params, size_t n, struct sctp_init *ret)
{
	unsigned char *p = calloc(1, SCTP_INIT_HDR + n);
	struct sctp_tlv c = {p, (uint32_t)(SCTP_INIT_HDR + n), 1, 0};

	sctp_put32(p + SCTP_INIT_TAG, 0x01020304);
	sctp_put32(p + SCTP_INIT_RWND, 5000);
	sctp_put16(p + SCTP_INIT_OS, 6);
	sctp_put16(p + SCTP_INIT_MIS, 7);
	sctp_put32(p + SCTP_INIT_TSN, 8);
	memcpy(p + SCTP_INIT_HDR, params, n);
	sctp_init_parse(&c, ret);
	free(p);
}

T_CASE(init_has_its_fields)
{
	struct sctp_init i;

	parse("", 0, &i);
	T_EQ(i.tag, 0x01020304);
	T_EQ(i.rwnd, 5000);
	T_EQ(i.os, 6);
	T_EQ(i.mis, 7);
	T_EQ(i.tsn, 8);
	T_EQ(i.naddr, 0);
	T_EQ(i.bad, 0);
	T_EQ(i.ext, 0);
}

T_CASE(addresses_are_those_a_host_can_have)
{
	static const unsigned char p[] = {
		0, 5, 0, 8, 192, 0, 2, 1,
		0, 5, 0, 8, 192, 0, 2, 1,   /* again */
		0, 5, 0, 8, 224, 0, 0, 1,   /* multicast */
		0, 5, 0, 8, 255, 255, 255, 255,
		0, 5, 0, 8, 0, 0, 0, 0,
		0, 6, 0, 20, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 1,
		0, 6, 0, 20, 0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	};
	struct sctp_init i;

	parse(p, sizeof(p), &i);
	T_EQ(i.bad, 0);
	T_EQ(i.naddr, 2);
	T_EQ(i.addr[0].len, 4);
	T_MEM(i.addr[0].b, "\300\0\2\1", 4);
	T_EQ(i.addr[1].len, 16);
	parse("\0\5\0\7\1\2\3\0", 8, &i);
	T_EQ(i.bad, 1);
}

T_CASE(more_addresses_than_there_is_room_for_are_ignored)
{
	unsigned char p[8 * 100];
	struct sctp_init i;
	unsigned k;

	for (k = 0; k < 100; k++) {
		memcpy(p + 8 * k, "\0\5\0\10\12\0\0\1", 8);
		p[8 * k + 7] = (unsigned char)k;
	}
	parse(p, sizeof(p), &i);
	T_EQ(i.naddr, SCTP_PATHS);
	T_EQ(i.bad, 0);
}

T_CASE(unknown_parameters_stop_skip_and_report)
{
	static const struct {
		const char *bytes;
		unsigned nreport, pr;
	} row[] = {
		/* a parameter, then FORWARD TSN */
		{"\300\1\0\4\300\0\0\4", 4, 1},
		{"\200\1\0\4\300\0\0\4", 0, 1},
		{"\100\1\0\4\300\0\0\4", 4, 0},
		{"\0\101\0\4\300\0\0\4", 0, 0},
	};
	struct sctp_init i;
	unsigned k;

	for (k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
		parse(row[k].bytes, 8, &i);
		T_EQ(i.nreport, row[k].nreport);
		T_EQ(i.ext, row[k].pr ? SCTP_X_PR : 0);
		T_EQ(i.bad, 0);
	}
	parse("\300\1\0\11\1\2\3\4\5\0\0\0", 12, &i);
	T_EQ(i.nreport, 12); /* padded */
	parse("\300\1\0\20\1\2\3\4", 8, &i);
	T_EQ(i.bad, 1);
}

T_CASE(the_report_has_a_limit)
{
	unsigned char p[200 * 8] = {0};
	struct sctp_init i;
	unsigned k;

	for (k = 0; k < 200; k++)
		memcpy(p + 8 * k, "\300\1\0\10", 4);
	parse(p, sizeof(p), &i);
	T_EQ(i.nreport, SCTP_ERROR_MOST);
}

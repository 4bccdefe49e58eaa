/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The chunks that scripts know, and their fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

#define NODATA {{NULL, 0, 0}}
static const struct kind kinds[] = {
	{"DATA", 0, 16, {{"tsn", 4, 4}, {"sid", 8, 2}, {"ssn", 10, 2},
		{"ppid", 12, 4}}},
	{"INIT", 1, 20, {{"tag", 4, 4}, {"rwnd", 8, 4}, {"os", 12, 2},
		{"mis", 14, 2}, {"tsn", 16, 4}}},
	{"INIT-ACK", 2, 20, {{"tag", 4, 4}, {"rwnd", 8, 4}, {"os", 12, 2},
		{"mis", 14, 2}, {"tsn", 16, 4}}},
	{"SACK", 3, 16, {{"cum", 4, 4}, {"rwnd", 8, 4}, {"ngaps", 12, 2},
		{"ndups", 14, 2}}},
	{"HEARTBEAT", 4, 4, NODATA},
	{"HEARTBEAT-ACK", 5, 4, NODATA},
	{"ABORT", 6, 4, NODATA},
	{"SHUTDOWN", 7, 8, {{"cum", 4, 4}}},
	{"SHUTDOWN-ACK", 8, 4, NODATA},
	{"ERROR", 9, 4, NODATA},
	{"COOKIE-ECHO", 10, 4, NODATA},
	{"COOKIE-ACK", 11, 4, NODATA},
	{"ECNE", 12, 4, NODATA},
	{"CWR", 13, 4, NODATA},
	{"SHUTDOWN-COMPLETE", 14, 4, NODATA},
	{"AUTH", 15, 8, {{"key", 4, 2}, {"hmac", 6, 2}}},
	{"ASCONF", 0xc1, 8, {{"serial", 4, 4}}},
	{"ASCONF-ACK", 0x80, 8, {{"serial", 4, 4}}},
	{"I-DATA", 0x40, 20, {{"tsn", 4, 4}, {"sid", 8, 2}, {"mid", 12, 4},
		{"ppid", 16, 4}, {"fsn", 16, 4}}},
	{"I-FORWARD-TSN", 0xc2, 8, {{"cum", 4, 4}}},
	{"RE-CONFIG", 0x82, 4, NODATA},
	{"FORWARD-TSN", 0xc0, 8, {{"cum", 4, 4}}},
	{"CHUNK", 0xff, 4, NODATA},
};
#define NKINDS (sizeof(kinds) / sizeof(kinds[0]))

const struct kind *
kind_named(const char *name)
{
	size_t i;

	for (i = 0; i < NKINDS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

const char *
kind_name(unsigned type)
{
	static char other[16];
	size_t i;

	for (i = 0; i + 1 < NKINDS; i++)
		if (kinds[i].type == type)
			return kinds[i].name;
	snprintf(other, sizeof(other), "chunk 0x%02x", type);
	return other;
}

const struct field *
field_named(const struct kind *k, const char *name)
{
	const struct field *f;

	for (f = k->field; f < k->field + 6 && f->name != NULL; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

uint64_t
field_get(const unsigned char *p, const struct field *f)
{
	return f->size == 4 ? sctp_get32(p + f->at) : sctp_get16(p + f->at);
}

/* Letters of the flags; DATA has others than ABORT. */
unsigned
flags_of(const char *s)
{
	unsigned v = 0;

	if (*s >= '0' && *s <= '9')
		return (unsigned)number(s);
	for (; *s != '\0'; s++)
		v |= *s == 'E' || *s == 'T' ? 1 : *s == 'B' ? 2 :
			*s == 'U' ? 4 : *s == 'I' ? 8 : 0x80;
	return v;
}

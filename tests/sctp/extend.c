/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Parameters of the extensions, in packets that arrive and in those that were
 * sent.  Each has numbers, separated by colons, and perhaps a list at the end:
 * reset-out=NUMBER:ANSWERED:TSN[:SID,SID].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

static const struct {
	const char *name;
	unsigned type;
	unsigned char size[4]; /* bytes of the numbers; 0: no more */
	unsigned char list;    /* ... of those of the list */
	unsigned char pad;     /* bytes behind, zero */
} params[] = {
	{"reset-out", SCTP_P_RESET_OUT, {4, 4, 4, 0}, 2, 0},
	{"reset-in", SCTP_P_RESET_IN, {4, 0, 0, 0}, 2, 0},
	{"reset-tsn", SCTP_P_RESET_TSN, {4, 0, 0, 0}, 0, 0},
	{"answer", SCTP_P_RECONF_ANSWER, {4, 4, 0, 0}, 4, 0},
	{"add-out", SCTP_P_ADD_OUT, {4, 2, 0, 0}, 0, 2},
	{"add-in", SCTP_P_ADD_IN, {4, 2, 0, 0}, 0, 2},
	{"chunks", SCTP_P_CHUNKS, {0, 0, 0, 0}, 1, 0},
	{"hmacs", SCTP_P_HMACS, {0, 0, 0, 0}, 2, 0},
	{"adaptation", SCTP_P_ADAPTATION, {4, 0, 0, 0}, 0, 0},
	{"unknown-chunk", SCTP_E_CHUNK, {1, 1, 2, 0}, 0, 0},
	{"success", SCTP_P_ASCONF_SUCCESS, {4, 0, 0, 0}, 0, 0},
	{"extensions", SCTP_P_EXTENSIONS, {0, 0, 0, 0}, 1, 0},
};
#define NPARAMS (sizeof(params) / sizeof(params[0]))

/* NUMBER:ADDRESS; of errors NUMBER:CAUSE */
static const struct {
	const char *name;
	unsigned type;
} changes[] = {{"add-addr", SCTP_P_ADD_ADDR},
	{"delete-addr", SCTP_P_DELETE_ADDR}, {"set-primary", SCTP_P_PRIMARY},
	{"failure", SCTP_P_ASCONF_ERROR}};

static unsigned
change_type(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (strcmp(changes[i].name, name) == 0)
			return changes[i].type;
	return 0;
}

/* The text of the number, which ends there; what follows it. */
static char *
split(const char *name, char *val)
{
	char *rest = strchr(val, ':');

	if (rest == NULL)
		fail("%s has NUMBER:VALUE", name);
	*rest = '\0';
	return rest + 1;
}

static size_t
change_make(const char *name, char *val, unsigned char *p)
{
	unsigned type = change_type(name);
	char *rest = split(name, val);
	struct ip_addr a;
	size_t n = 12;

	sctp_put32(p + 4, (uint32_t)number(val));
	if (type == SCTP_P_ASCONF_ERROR) {
		sctp_put16(p + 8, (uint32_t)number(rest));
		sctp_put16(p + 10, 4);
	} else {
		address(rest, &a);
		sctp_put16(p + 8, a.len == 4 ? 5 : 6);
		sctp_put16(p + 10, 4 + a.len);
		memcpy(p + 12, a.b, a.len);
		n += a.len;
	}
	sctp_put16(p, type);
	sctp_put16(p + 2, (uint32_t)n);
	return n;
}

static void
change_match(const char *name, char *val, const unsigned char *p)
{
	char *rest = split(name, val);
	struct ip_addr a;

	if (sctp_get32(p + 4) != (uint32_t)number(val))
		fail("%s has the number %u", name, sctp_get32(p + 4));
	if (change_type(name) == SCTP_P_ASCONF_ERROR) {
		if (sctp_get16(p + 8) != number(rest))
			fail("%s is %u", name, sctp_get16(p + 8));
		return;
	}
	address(rest, &a);
	if (sctp_get16(p + 10) != 4 + a.len || memcmp(p + 12, a.b, a.len) != 0)
		fail("%s has another address", name);
}

static int
find(const char *name)
{
	size_t i;

	for (i = 0; i < NPARAMS; i++)
		if (strcmp(params[i].name, name) == 0)
			return (int)i;
	return -1;
}

static size_t
put(unsigned char *p, const char *val, unsigned size)
{
	uint64_t v = number(val);
	unsigned i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)(v >> 8 * (size - 1 - i));
	return size;
}

/*
 * The parameter @name with the values @val at @p; its length without padding.
 * 0: there is none with this name.
 */
size_t
extend_make(const char *name, char *val, unsigned char *p)
{
	char *item, *save = NULL, *more = NULL;
	int k = find(name), i;
	size_t n = 4;

	if (change_type(name) != 0)
		return change_make(name, val, p);
	if (k < 0)
		return 0;
	for (i = 0; i < 4 && params[k].size[i] != 0; i++) {
		item = strtok_r(i == 0 ? val : NULL, ":", &save);
		if (item == NULL)
			fail("%s has more values", name);
		n += put(p + n, item, params[k].size[i]);
	}
	item = strtok_r(i == 0 ? val : NULL, ":", &save);
	if (item != NULL && params[k].list == 0)
		fail("%s has fewer values", name);
	for (item = item != NULL ? strtok_r(item, ",", &more) : NULL;
		item != NULL; item = strtok_r(NULL, ",", &more))
		n += put(p + n, item, params[k].list);
	memset(p + n, 0, params[k].pad);
	n += params[k].pad;
	sctp_put16(p, params[k].type);
	sctp_put16(p + 2, (uint32_t)n);
	return n;
}

static uint64_t
get(const unsigned char *p, unsigned size)
{
	uint64_t v = 0;

	while (size-- != 0)
		v = v << 8 | *p++;
	return v;
}

/* The type of the parameter @name; 0: there is none. */
unsigned
extend_type(const char *name)
{
	int k = find(name);

	return k < 0 ? change_type(name) : params[k].type;
}

static void
compare(const char *name, const char *val, uint64_t have)
{
	if (*val == '?')
		*variable(val + 1, 1) = have;
	else if (have != number(val))
		fail("%s has %llu (0x%llx), not %s", name,
			(unsigned long long)have, (unsigned long long)have,
			val);
}

/* Compare the parameter at @p, which has the name's type, with @val. */
void
extend_match(const char *name, char *val, const unsigned char *p)
{
	char *item, *save = NULL, *more = NULL;
	size_t len = sctp_get16(p + 2), n = 4;
	int k = find(name), i;

	if (k < 0) {
		change_match(name, val, p);
		return;
	}
	for (i = 0; i < 4 && params[k].size[i] != 0; i++) {
		item = strtok_r(i == 0 ? val : NULL, ":", &save);
		if (item == NULL || n + params[k].size[i] > len)
			fail("%s: number of values", name);
		compare(name, item, get(p + n, params[k].size[i]));
		n += params[k].size[i];
	}
	item = strtok_r(i == 0 ? val : NULL, ":", &save);
	for (item = item != NULL ? strtok_r(item, ",", &more) : NULL;
		item != NULL; item = strtok_r(NULL, ",", &more)) {
		if (n + params[k].list > len)
			fail("%s: the list is shorter", name);
		compare(name, item, get(p + n, params[k].list));
		n += params[k].list;
	}
	if (n + params[k].pad != len)
		fail("%s: it has %zu bytes, not %zu", name, len,
			n + params[k].pad);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Packets that were sent, compared with the text of a script.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "script.h"

static void
describe(const struct sent *s)
{
	size_t at = SCTP_HDR, len;

	printf("# at %.6f to %d.%d.%d.%d tag 0x%x:", (double)s->at / 1e6,
		s->dst.b[0], s->dst.b[1], s->dst.b[2], s->dst.b[3],
		sctp_get32(s->p + SCTP_AT_VTAG));
	while (at + 4 <= s->n) {
		const unsigned char *c = s->p + at;
		const struct kind *k = kind_named(kind_name(c[0]));

		len = sctp_get16(c + 2);
		printf(" %s flags=0x%x length=%zu", kind_name(c[0]), c[1],
			len);
		for (int i = 0; k != NULL && i < 6 && k->field[i].name; i++)
			printf(" %s=%llu", k->field[i].name,
				(unsigned long long)field_get(c, &k->field[i]));
		printf(";");
		at += sctp_padded(len < 4 ? 4 : len);
	}
	printf("\n");
}

void
unexpected(void)
{
	int i;

	for (i = sc.taken; i < sc.nsent; i++)
		describe(&sc.sent[i]);
	fail("these packets were not expected");
}

/* Remember what later lines need. */
static void
learn_sent(const struct sent *s)
{
	const unsigned char *c = s->p + SCTP_HDR;
	size_t at = SCTP_HDR, len, k;

	if (c[0] == SCTP_C_INIT || c[0] == SCTP_C_INIT_ACK) {
		sign_learn(c, 1);
		*variable("ltag", 1) = sctp_get32(c + SCTP_INIT_TAG);
		*variable("ltsn", 1) = sctp_get32(c + SCTP_INIT_TSN);
	}
	for (; at + 4 <= s->n; at += sctp_padded(len)) {
		c = s->p + at;
		len = sctp_get16(c + 2);
		if (len < 4)
			return;
		if (c[0] == SCTP_C_HEARTBEAT) {
			sc.nhb = len - 4;
			memcpy(sc.hb, c + 4, sc.nhb);
		}
		if (c[0] != SCTP_C_INIT_ACK)
			continue;
		for (k = 20; k + 4 <= len;
			k += sctp_padded(sctp_get16(c + k + 2)))
			if (sctp_get16(c + k) == SCTP_P_COOKIE) {
				sc.ncookie = sctp_get16(c + k + 2) - 4u;
				memcpy(sc.cookie, c + k + 4, sc.ncookie);
			}
	}
}

static const unsigned char *
find_param(const unsigned char *c, const struct kind *k, unsigned type)
{
	size_t at = k->hdr, len = sctp_get16(c + 2), n;

	for (; at + 4 <= len; at += sctp_padded(n)) {
		n = sctp_get16(c + at + 2);
		if (n < 4)
			return NULL;
		if (sctp_get16(c + at) == type)
			return c + at;
	}
	return NULL;
}

static int
has_addr(const unsigned char *c, const struct kind *k, const struct ip_addr *a)
{
	size_t at = k->hdr, len = sctp_get16(c + 2), n;

	for (; at + 4 <= len; at += sctp_padded(n)) {
		n = sctp_get16(c + at + 2);
		if (n == 4 + a->len && memcmp(c + at + 4, a->b, a->len) == 0)
			return 1;
		if (n < 4)
			return 0;
	}
	return 0;
}

static void
differs(const struct sent *s, const char *what, uint64_t have)
{
	describe(s);
	fail("%s is %llu (0x%llx)", what, (unsigned long long)have,
		(unsigned long long)have);
}

static void
compare(const struct sent *s, const char *name, const char *val, uint64_t have)
{
	if (*val == '?')
		*variable(val + 1, 1) = have;
	else if (have != (uint32_t)number(val))
		differs(s, name, have);
}

static void
compare_gaps(const struct sent *s, const unsigned char *c, const char *val)
{
	char text[1024] = "";
	size_t at = SCTP_SACK_HDR, n = 0;
	unsigned i, ngaps = sctp_get16(c + SCTP_SACK_NGAPS);

	for (i = 0; i < ngaps; i++, at += 4)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u-%u",
			i != 0 ? "," : "", sctp_get16(c + at),
			sctp_get16(c + at + 2));
	if (strcmp(text, *val == '-' ? "" : val) != 0) {
		describe(s);
		fail("gaps are %s", text);
	}
}

static void
compare_streams(const struct sent *s, const unsigned char *c, const char *val)
{
	char text[1024] = "";
	size_t at, n = 0, len = sctp_get16(c + 2);

	for (at = SCTP_FORWARD_HDR; c[0] == SCTP_C_I_FORWARD_TSN &&
		at + 8 <= len; at += 8)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u:%u%s",
			at != SCTP_FORWARD_HDR ? "," : "", sctp_get16(c + at),
			sctp_get32(c + at + 4),
			sctp_get16(c + at + 2) != 0 ? "U" : "");
	for (; at + 4 <= len; at += 4)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u:%u",
			at != SCTP_FORWARD_HDR ? "," : "", sctp_get16(c + at),
			sctp_get16(c + at + 2));
	if (strcmp(text, *val == '-' ? "" : val) != 0) {
		describe(s);
		fail("streams are %s", text);
	}
}

static void
compare_value(const struct sent *s, const unsigned char *c,
	const struct kind *k, const char *name, char *val)
{
	const struct field *f = field_named(k, name);
	uint64_t len = sctp_get16(c + 2);
	const unsigned char *p;
	struct ip_addr a;
	unsigned i;

	if (f != NULL) {
		compare(s, name, val, field_get(c, f));
	} else if (extend_type(name) != 0) {
		p = find_param(c, k, extend_type(name));
		if (p == NULL)
			differs(s, name, 0);
		extend_match(name, val, p);
	} else if (strcmp(name, "flags") == 0) {
		if (c[1] != (strcmp(val, "-") == 0 ? 0 : flags_of(val)))
			differs(s, name, c[1]);
	} else if (strcmp(name, "len") == 0) {
		compare(s, name, val, len - k->hdr);
	} else if (strcmp(name, "length") == 0) {
		compare(s, name, val, len);
	} else if (strcmp(name, "byte") == 0) {
		for (i = k->hdr; i < len; i++)
			if (c[i] != (unsigned char)*val)
				differs(s, name, c[i]);
	} else if (strcmp(name, "cause") == 0) {
		if (strcmp(val, "-") == 0 ? len != 4 : len < 8)
			differs(s, "length", len);
		if (*val != '-')
			compare(s, name, val, sctp_get16(c + 4));
	} else if (strcmp(name, "info32") == 0) {
		compare(s, name, val, sctp_get32(c + 8));
	} else if (strcmp(name, "info16") == 0) {
		compare(s, name, val, sctp_get16(c + 8));
	} else if (strcmp(name, "gaps") == 0) {
		compare_gaps(s, c, val);
	} else if (strcmp(name, "streams") == 0) {
		compare_streams(s, c, val);
	} else if (strcmp(name, "dup") == 0) {
		compare(s, name, val, sctp_get32(c + SCTP_SACK_HDR + 4u *
			sctp_get16(c + SCTP_SACK_NGAPS)));
	} else if (strcmp(name, "code") == 0) {
		if (sign_is_good(s->p, s->n, (size_t)(c - s->p)) !=
			(strcmp(val, "good") == 0))
			differs(s, name, 0);
	} else if (strcmp(name, "addr") == 0) {
		address(val, &a);
		if (!has_addr(c, k, &a))
			differs(s, name, 0);
	} else if (strcmp(name, "has") == 0) {
		if (find_param(c, k, (unsigned)number(val)) == NULL)
			differs(s, name, 0);
	} else if (strcmp(name, "no") == 0) {
		if (find_param(c, k, (unsigned)number(val)) != NULL)
			differs(s, name, 1);
	} else if (strcmp(name, "unrecognized") == 0) {
		p = find_param(c, k, SCTP_P_UNRECOGNIZED);
		compare(s, name, val, p != NULL ? sctp_get16(p + 4) : 0);
	} else {
		fail("%s has no %s", k->name, name);
	}
}

static void
check_packet(const struct sent *s)
{
	const unsigned char *p = s->p + SCTP_AT_SUM;
	uint32_t sum = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		(uint32_t)p[3] << 24;

	if (crc32c_packet(s->p, s->n, 0) != sum || s->n % 4 != 0)
		differs(s, "checksum", sum);
	if (sctp_get16(s->p) != LPORT || sctp_get16(s->p + 2) < PORT)
		differs(s, "port", sctp_get16(s->p + 2));
}

static void
check_tag(const struct sent *s)
{
	const unsigned char *c = s->p + SCTP_HDR;
	uint64_t *rtag = variable("rtag", 0);
	uint32_t have = sctp_get32(s->p + SCTP_AT_VTAG);

	if (c[0] == SCTP_C_INIT) {
		if (have != 0)
			differs(s, "vtag", have);
	} else if (rtag != NULL && have != *rtag && ((c[0] != SCTP_C_ABORT &&
		c[0] != SCTP_C_SHUTDOWN_COMPLETE) || (c[1] & 1) == 0)) {
		differs(s, "vtag", have);
	}
}

/* > [vtag=] [to=] [at=] [size=] CHUNK field=value ... ; CHUNK ... */
void
match(char **w, int n)
{
	const struct kind *k = NULL;
	const unsigned char *c = NULL;
	struct ip_addr a;
	struct sent *s;
	size_t at = SCTP_HDR;
	int i, tagged = 0;
	char *val;

	if (sc.taken == sc.nsent)
		fail("nothing was sent");
	s = &sc.sent[sc.taken++];
	check_packet(s);
	learn_sent(s);
	for (i = 0; i < n; i++) {
		const struct kind *next = kind_named(w[i]);

		if (strcmp(w[i], ";") == 0)
			continue;
		if (next != NULL) {
			if (at + 4 > s->n)
				differs(s, "number of chunks", at);
			k = next;
			c = s->p + at;
			if (c[0] != k->type) {
				describe(s);
				fail("it is no %s", k->name);
			}
			at += sctp_padded(sctp_get16(c + 2));
			continue;
		}
		val = strchr(w[i], '=');
		if (val == NULL)
			fail("what is %s", w[i]);
		*val++ = '\0';
		if (k != NULL) {
			compare_value(s, c, k, w[i], val);
		} else if (strcmp(w[i], "vtag") == 0) {
			tagged = 1;
			compare(s, "vtag", val, sctp_get32(s->p +
				SCTP_AT_VTAG));
		} else if (strcmp(w[i], "to") == 0) {
			address(val, &a);
			if (memcmp(&a, &s->dst, sizeof(a)) != 0)
				differs(s, "destination", s->dst.b[3]);
		} else if (strcmp(w[i], "at") == 0) {
			if ((uint64_t)(strtod(val, NULL) * 1e6 + 0.5) != s->at)
				differs(s, "time (us)", s->at);
		} else if (strcmp(w[i], "size") == 0) {
			compare(s, "size", val, s->n);
		} else {
			fail("what is %s", w[i]);
		}
	}
	if (!tagged)
		check_tag(s);
	if (at != s->n)
		differs(s, "size", s->n);
	if (sc.taken == sc.nsent)
		sc.taken = sc.nsent = 0;
}

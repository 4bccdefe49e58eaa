/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Path MTUs: RFC 1191, 8201.
 */
#include <errno.h>
#include <string.h>
#include "t.h"
#include "pkt.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND 1000000000ull

#define MINUTE 60000000000ull

static struct ip_pmtu paths;

static struct ip_addr
four(unsigned a, unsigned b)
{
	struct ip_addr x = {4, {10, 1, (unsigned char)a, (unsigned char)b}};

	return x;
}

static struct ip_addr
six(unsigned a)
{
	struct ip_addr x = {16, {0xfd, 0x77}};

	x.b[15] = (unsigned char)a;
	return x;
}

/* RFC 1191 s3: only ever less; s6.3: for 10 minutes */
T_CASE(a_narrower_path_is_remembered_for_a_while)
{
	struct ip_addr a = four(0, 1), b = four(0, 2);

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 1), 1500);
	T_EQ(ip_pmtu_learn(&paths, &a, 1400, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1400);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1500);
	T_EQ(ip_pmtu_of(&paths, &a, 1300, 2), 1300); /* the link's is less */
	T_EQ(ip_pmtu_learn(&paths, &a, 1450, 1500, 1500, 2), 0);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1400);
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1400, 1500, 5 * MINUTE), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 15 * MINUTE - 1), 1000);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 15 * MINUTE), 1500);
	/* and may be learned once more */
	T_EQ(ip_pmtu_learn(&paths, &a, 1200, 1500, 1500, 16 * MINUTE), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 16 * MINUTE), 1200);
}

/* 552: no attacker makes our packets small; RFC 8201 s4: less than 1280 is discarded */
T_CASE(a_path_is_not_narrower_than_can_be)
{
	struct ip_addr a = four(0, 1), b = six(1);

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_learn(&paths, &a, 20, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 552);
	T_EQ(ip_pmtu_learn(&paths, &b, 1279, 1500, 1500, 1), 0);
	T_EQ(ip_pmtu_learn(&paths, &b, 0, 1500, 1500, 1), 0);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1500);
	T_EQ(ip_pmtu_learn(&paths, &b, 1280, 1500, 1500, 1), 1);
	T_EQ(ip_pmtu_of(&paths, &b, 1500, 2), 1280);
	/* about what would have been passed on: no router has said that */
	a = four(0, 2);
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1000, 1500, 1), 0);
	T_EQ(ip_pmtu_learn(&paths, &a, 1400, 100, 1500, 1), 0);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1500);
}

/* RFC 1191 s5: routers that do not say */
T_CASE(a_router_that_does_not_say_is_guessed_at)
{
	static const struct { uint32_t len, mtu; } is[] = {
		{65535, 32000}, {32000, 17914}, {1500, 1492}, {1492, 1006},
		{1006, 552}, {508, 552}, {296, 552}, {69, 552},
	};
	struct ip_addr a;
	unsigned i;

	memset(&paths, 0, sizeof(paths));
	for (i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		a = four(1, i);
		T_EQ(ip_pmtu_learn(&paths, &a, 0, is[i].len, 65535, 1), 1);
		T_EQ(ip_pmtu_of(&paths, &a, 65535, 2), is[i].mtu);
	}
	a = four(1, 100);
	T_EQ(ip_pmtu_learn(&paths, &a, 0, 68, 65535, 1), 0);
}

T_CASE(paths_are_bounded_and_the_oldest_go)
{
	struct ip_addr a;
	unsigned i, n = 0;

	memset(&paths, 0, sizeof(paths));
	for (i = 0; i < 4000; i++) {
		a = four(i >> 8, i & 0xff);
		T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1500, 1500, i + 1), 1);
		T_EQ(ip_pmtu_of(&paths, &a, 1500, i + 1), 1000);
	}
	for (i = 0; i < 4000; i++) {
		a = four(i >> 8, i & 0xff);
		n += ip_pmtu_of(&paths, &a, 1500, 4000) == 1000;
	}
	T_LE(n, IP_PMTUS);
	T_GT(n, IP_PMTUS / 2);
}

T_CASE(who_died_writing_a_path_is_not_believed)
{
	struct ip_addr a = four(0, 1), b;
	struct ip_pmtu_entry *e;
	unsigned i;

	memset(&paths, 0, sizeof(paths));
	T_EQ(ip_pmtu_learn(&paths, &a, 1000, 1500, 1500, 1), 1);
	for (e = paths.entry; e->gen == 0; e++)
		;
	e->gen |= 1; /* as after ip:pmtu */
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 1500);
	T_EQ(ip_pmtu_learn(&paths, &a, 900, 1500, 1500, 2), 1);
	T_EQ(ip_pmtu_of(&paths, &a, 1500, 2), 900);
	/* the place is used, by whom it may concern */
	for (i = 0; i < 4000; i++) {
		b = four(i >> 8, i & 0xff);
		T_EQ(ip_pmtu_learn(&paths, &b, 800, 1500, 1500, 3 + i), 1);
		T_EQ(ip_pmtu_of(&paths, &b, 1500, 3 + i), 800);
	}
	T_EQ(e->gen & 1, 0);
}

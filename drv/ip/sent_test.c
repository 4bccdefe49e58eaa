/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What was sent lately, and identifications: RFC 5927, 7739.
 */
#include <string.h>
#include "t.h"
#include "sent.h"

#define S 1000000000ull

static struct ip_sent sent;
static struct ip_secret key;
static struct ip_hdr h;
static unsigned char ports[4];

static void
begin(void)
{
	unsigned i;

	memset(&sent, 0, sizeof(sent));
	for (i = 0; i < 16; i++)
		((unsigned char *)key.k)[i] = (unsigned char)i;
	memset(&h, 0, sizeof(h));
	h.src = (struct ip_addr){4, {10, 0, 0, 1}};
	h.dst = (struct ip_addr){4, {10, 0, 0, 2}};
	h.proto = 17;
	h.hlen = 20;
	h.len = 980;
	memset(ports, 7, sizeof(ports));
}

/* The vectors of the algorithm's paper. */
T_CASE(the_hash_is_siphash)
{
	unsigned char in[15];
	unsigned i;

	begin();
	for (i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)i;
	T_TRUE(ip_sip(&key, in, 15) == 0xa129ca6149be45e5ull);
	T_TRUE(ip_sip(&key, in, 0) == 0x726fdb47dd0e0e31ull);
	T_TRUE(ip_sip(&key, in, 8) == 0x93f5f5799a932462ull);
}

static uint32_t
most(uint64_t now)
{
	return ip_sent_most(&sent, &key, &h, ports, sizeof(ports), now);
}

T_CASE(only_what_was_sent_is_known)
{
	uint64_t now = 5 * S;

	begin();
	T_EQ(most(now), 0);
	ip_sent_note(&sent, &key, &h, ports, sizeof(ports), now);
	T_EQ(most(now), 1000);
	h.len = 100;
	ip_sent_note(&sent, &key, &h, ports, sizeof(ports), now + S);
	T_EQ(most(now + S), 1000);
	ports[3]++;
	T_EQ(most(now), 0);
	ports[3]--;
	ports[0]++;
	T_EQ(most(now), 0);
	ports[0]--;
	h.dst.b[3]++;
	T_EQ(most(now), 0);
	h.dst.b[3]--;
	h.src.b[0]++;
	T_EQ(most(now), 0);
	h.src.b[0]--;
	h.proto = 132;
	T_EQ(most(now), 0);
	h.proto = 17;
	T_EQ(most(now + 11 * S), 1000);
	T_EQ(most(now + 12 * S), 0);
	/* and begins anew */
	ip_sent_note(&sent, &key, &h, ports, sizeof(ports), now + 20 * S);
	T_EQ(most(now + 20 * S), 120);
}

T_CASE(many_flows_are_known)
{
	unsigned i, n = 0;

	begin();
	for (i = 0; i < 1000; i++) {
		memcpy(ports, &i, 4);
		ip_sent_note(&sent, &key, &h, ports, sizeof(ports), 9 * S);
	}
	for (i = 0; i < 1000; i++) {
		memcpy(ports, &i, 4);
		n += most(9 * S) == 1000;
	}
	T_GE(n, 950u);
	for (i = 5000; i < 10000; i++) {
		memcpy(ports, &i, 4);
		T_EQ(most(9 * S), 0);
	}
}

/* RFC 7739 s5.3 */
T_CASE(identifications_are_unique_and_not_predictable)
{
	static uint32_t count[IP_IDS];
	static unsigned char seen[65536];
	struct ip_addr six = {16, {0xfd}};
	uint32_t i, id, last = 0, near = 0;

	begin();
	for (i = 0; i < 65535; i++) {
		id = ip_new_id(count, &key, &h.src, &h.dst, 17);
		T_TRUE(id != 0 && id < 65536 && !seen[id]);
		seen[id] = 1;
	}
	/* neither the next host's number nor another key's follows from ours */
	for (i = 0; i < 1000; i++) {
		h.dst.b[3] = (unsigned char)i;
		h.dst.b[2] = (unsigned char)(i >> 8);
		id = ip_new_id(count, &key, &h.src, &h.dst, 17);
		near += id - last < 256;
		last = id;
	}
	T_LT(near, 20u);
	id = ip_new_id(count, &key, &six, &six, 17);
	key.k[0]++;
	T_TRUE(id != ip_new_id(count, &key, &six, &six, 17) - 1);
	T_TRUE(id > 65535);
}

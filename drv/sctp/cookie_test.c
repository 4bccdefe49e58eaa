/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * State cookies: RFC 9260 s5.1.3.
 */
#include <string.h>
#include "t.h"
#include "cookie.h"

static struct sctp_env env;
static struct sctp_ep ep;
static struct sctp_cookie got;
static struct {
	struct sctp_cookie ck;
	struct ip_addr more[2];
} room;
#define ck room.ck
static unsigned char chunk[2048];

static void
noise(void *arg, void *p, size_t n)
{
	static unsigned char v;

	(void)arg;
	memset(p, ++v, n);
}

static void
begin(void)
{
	env.now = SCTP_S;
	env.random = noise;
	sctp_ep_init(&env, &ep, 5000);
	memset(&ck, 0, sizeof(ck));
	ck.my_tag = 7;
	ck.naddr = 2;
	ck.addr[1].len = 4;
	sctp_cookie_sign(&env, &ep, &ck);
}

/* Read it from a chunk of its size and @more bytes. */
static int
reads(int more)
{
	size_t n = sctp_cookie_size(&ck);
	struct sctp_tlv c = {chunk, (uint32_t)(4 + (long)n + more), 10, 0};

	memcpy(chunk + 4, &ck, n);
	return sctp_cookie_read(&ep, &c, &got);
}

T_CASE(a_cookie_is_read_as_it_was_made)
{
	begin();
	T_EQ(reads(0), 1);
	T_MEM(&got, &ck, sizeof(ck));
	T_EQ(got.made, env.now);
}

T_CASE(every_changed_bit_is_found)
{
	size_t n, i;

	begin();
	n = sctp_cookie_size(&ck) * 8;
	for (i = 0; i < n; i++) {
		((unsigned char *)&ck)[i / 8] ^= (unsigned char)(1 << i % 8);
		/* these numbers say how long it is */
		if (ck.naddr == 2 && ck.nmine + ck.npeer == 0)
			T_EQ(reads(0), 0);
		((unsigned char *)&ck)[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	T_EQ(reads(0), 1);
}

T_CASE(it_has_its_length)
{
	int more;

	begin();
	for (more = -(int)sctp_cookie_size(&ck); more < 300; more++)
		T_EQ(reads(more), more == 0);
	/* one that says it has more addresses than there can be */
	ck.naddr = SCTP_PATHS + 1;
	sctp_cookie_sign(&env, &ep, &ck);
	T_EQ(reads(0), 0);
}

T_CASE(a_secret_lasts_for_two_periods)
{
	struct sctp_cookie other;

	begin();
	env.now += 600ull * SCTP_S;
	memset(&other, 0, sizeof(other));
	sctp_cookie_sign(&env, &ep, &other);
	T_NE(other.key, ck.key);
	T_EQ(reads(0), 1);
	env.now += 600ull * SCTP_S;
	sctp_cookie_sign(&env, &ep, &other);
	T_EQ(reads(0), 0);
}

T_CASE(another_endpoint_does_not_read_it)
{
	begin();
	sctp_ep_init(&env, &ep, 5000);
	T_EQ(reads(0), 0);
}

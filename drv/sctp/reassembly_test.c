/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Reassembly and delivery, with fragments in any order.
 */
#include <stdlib.h>
#include <string.h>
#include "t.h"
#include "association.h"

static struct sctp_env env;
static struct sctp_ep ep;
static struct sctp_assoc *as;
static int blocks;

static void *
take(void *arg, size_t n)
{
	(void)arg;
	blocks++;
	return calloc(1, n);
}

static void
give(void *arg, void *p, size_t n)
{
	(void)arg;
	(void)n;
	blocks--;
	free(p);
}

static void
noise(void *arg, void *p, size_t n)
{
	(void)arg;
	memset(p, 1, n);
}

static void
begin(void)
{
	static const struct ip_addr a = {4, {10, 0, 0, 1}};

	env.now = 1;
	env.alloc = take;
	env.release = give;
	env.random = noise;
	sctp_ep_init(&env, &ep, 1);
	as = sctp_assoc_new(&env, &ep, 2);
	T_EQ(sctp_path_add(as, &a, 1), 1);
	T_EQ(sctp_assoc_streams(&env, as, 4, 4), 1);
	as->state = SCTP_ESTABLISHED;
	sctp_assoc_peer_tsn(as, 0);
}

static void
finish(void)
{
	T_STR(sctp_audit(as) != NULL ? sctp_audit(as) : "", "");
	sctp_assoc_free(&env, as);
	T_EQ(blocks, 0);
}

/* A chunk of one byte, the low byte of its TSN. */
static const char *
add(uint32_t tsn, unsigned sid, unsigned ssn, unsigned flags)
{
	struct sctp_rx *rx = sctp_rx_make(&env, as, 1);

	rx->tsn = rx->last = tsn;
	rx->sid = (uint16_t)sid;
	rx->ssn = (uint16_t)ssn;
	rx->flags = (uint8_t)flags;
	rx->data[0] = (unsigned char)tsn;
	return sctp_rx_add(&env, as, rx);
}

#define B SCTP_DATA_B
#define E SCTP_DATA_E
#define U SCTP_DATA_U

/* Three messages of 3, 1 and 2 fragments; in each order they come out whole. */
T_CASE(every_order_of_fragments)
{
	static const struct {
		unsigned ssn, flags;
	} frag[6] = {{0, B}, {0, 0}, {0, E}, {1, B | E}, {2, B}, {2, E}};
	static const char *const want[3] = {"\0\1\2", "\3", "\4\5"};
	static const size_t len[3] = {3, 1, 2};
	unsigned order, k, i, used, n, pick;
	struct sctp_info info;
	char buf[8];

	for (order = 0; order < 720; order++) {
		begin();
		used = 0;
		for (n = order, k = 6; k > 0; n /= k--) {
			pick = n % k;
			for (i = 0; (used >> i & 1) != 0 || pick-- != 0; i++)
				;
			used |= 1u << i;
			T_NULL(add(i, 1, frag[i].ssn, frag[i].flags));
			T_NULL(sctp_audit(as));
		}
		for (i = 0; i < 3; i++) {
			T_EQ(sctp_recv(&env, as, &info, buf, 8), len[i]);
			T_EQ(memcmp(buf, want[i], len[i]), 0);
			T_EQ(info.ssn, i);
			T_EQ(info.flags, 0);
		}
		T_EQ(sctp_readable(as), 0);
		finish();
	}
}

T_CASE(a_message_is_read_in_parts)
{
	struct sctp_info info;
	char buf[8];

	begin();
	T_NULL(add(0, 1, 0, B));
	T_NULL(add(1, 1, 0, 0));
	T_NULL(add(2, 1, 0, E));
	T_EQ(sctp_readable(as), 3);
	T_EQ(sctp_recv(&env, as, &info, buf, 2), 2);
	T_EQ(info.flags, SCTP_RECV_MORE);
	T_EQ(info.tsn, 0);
	T_EQ(sctp_readable(as), 1);
	T_EQ(sctp_recv(&env, as, &info, buf, 2), 1);
	T_EQ(info.flags, 0);
	T_EQ(buf[0], 2);
	T_EQ(sctp_recv(&env, as, &info, buf, 2), 0);
	finish();
}

T_CASE(contradictions_are_found)
{
	static const struct {
		unsigned tsn[2], ssn[2], sid[2], flags[2];
	} row[] = {
		{{0, 1}, {0, 0}, {1, 1}, {B, B | E}},	/* no end */
		{{1, 0}, {0, 0}, {1, 1}, {B | E, B}},
		{{0, 1}, {0, 0}, {1, 1}, {E, E}},	/* no begin */
		{{0, 1}, {0, 1}, {1, 1}, {B, E}},	/* another message */
		{{0, 1}, {0, 0}, {1, 2}, {B, E}},	/* another stream */
		{{0, 1}, {0, 0}, {1, 1}, {B, E | U}},
		{{0, 5}, {0, 0}, {1, 1}, {B | E, B | E}}, /* the SSN again */
		{{0, 5}, {3, 3}, {1, 1}, {B | E, B | E}},
	};
	unsigned i;

	/* the first two, the sixth: a whole message beside a fragment */
	for (i = 2; i < sizeof(row) / sizeof(row[0]); i++) {
		begin();
		T_NULL(add(row[i].tsn[0], row[i].sid[0], row[i].ssn[0],
			row[i].flags[0]));
		T_NOTNULL(add(row[i].tsn[1], row[i].sid[1], row[i].ssn[1],
			row[i].flags[1]));
		finish();
	}
	for (i = 0; i < 2; i++) {
		begin();
		T_NULL(add(row[i].tsn[0], 1, 0, row[i].flags[0] & ~E));
		T_NOTNULL(add(row[i].tsn[1], 1, 0, row[i].flags[1] & ~E));
		finish();
		/* a peer may have abandoned the rest: RFC 3758 */
		begin();
		as->ext = SCTP_X_PR;
		T_NULL(add(row[i].tsn[0], 1, 0, row[i].flags[0] & ~E));
		T_NULL(add(row[i].tsn[1], 1, 0, row[i].flags[1] & ~E));
		finish();
	}
}

T_CASE(sequence_numbers_of_streams_wrap)
{
	struct sctp_info info;
	char buf[8];
	uint32_t i;

	begin();
	as->in[2].next = 0xfffe;
	T_NULL(add(2, 2, 0, B | E));
	T_NULL(add(3, 2, 1, B | E));
	T_NULL(add(1, 2, 0xffff, B | E));
	T_EQ(sctp_readable(as), 0);
	T_NULL(add(0, 2, 0xfffe, B | E));
	for (i = 0; i < 4; i++) {
		T_EQ(sctp_recv(&env, as, &info, buf, 8), 1);
		T_EQ(info.ssn, (uint16_t)(0xfffe + i));
	}
	finish();
}

T_CASE(a_skipped_stream_goes_on)
{
	struct sctp_info info;
	char buf[8];

	begin();
	T_NULL(add(1, 1, 1, B | E));
	T_NULL(add(3, 1, 3, B | E));
	T_NULL(add(4, 1, 4, B | E));
	sctp_rx_skip_stream(&env, as, 1, 2);
	T_EQ(sctp_recv(&env, as, &info, buf, 8), 1);
	T_EQ(info.ssn, 1);
	T_EQ(sctp_recv(&env, as, &info, buf, 8), 1);
	T_EQ(info.ssn, 3);
	T_EQ(sctp_recv(&env, as, &info, buf, 8), 1);
	T_EQ(info.ssn, 4);
	sctp_rx_skip_stream(&env, as, 1, 2); /* an old one */
	T_EQ(as->in[1].next, 5);
	finish();
}

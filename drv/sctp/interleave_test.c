/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <stdlib.h>
#include <string.h>

#include "association.h"
#include "t.h"

static struct sctp_env env;
static struct sctp_ep ep;
static struct sctp_assoc *as;
static int blocks;

static void *
take(void *arg, size_t n)
{
	(void)arg;
	blocks++;
	return malloc(n);
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
	memset(p, 0x5a, n);
}

static void
begin(uint32_t rcvbuf)
{
	static const struct ip_addr a = {4, {10, 0, 0, 1}};

	env.now = 1;
	env.alloc = take;
	env.release = give;
	env.random = noise;
	sctp_ep_init(&env, &ep, 1);
	ep.conf.rcvbuf = rcvbuf;
	as = sctp_assoc_new(&env, &ep, 2);
	T_EQ(sctp_path_add(as, &a, 1), 1);
	T_EQ(sctp_assoc_streams(&env, as, 4, 4), 1);
	as->state = SCTP_ESTABLISHED;
	as->ext = SCTP_X_IDATA;
	sctp_assoc_peer_tsn(as, 0);
}

static void
finish(void)
{
	T_STR(sctp_audit(as) != NULL ? sctp_audit(as) : "", "");
	sctp_assoc_free(&env, as);
	T_EQ(blocks, 0);
}

/* A fragment of one byte, the low byte of its TSN. */
static const char *
add(uint32_t tsn, unsigned mid, unsigned fsn, unsigned flags)
{
	struct sctp_rx *rx = sctp_rx_make(&env, as, 1);

	rx->tsn = tsn;
	rx->sid = 1;
	rx->ssn = mid;
	rx->fsn = rx->last = fsn;
	rx->flags = (uint8_t)flags;
	rx->data[0] = (unsigned char)tsn;
	return sctp_ix_add(&env, as, rx);
}

#define B SCTP_DATA_B
#define E SCTP_DATA_E
#define U SCTP_DATA_U

/* The greatest depth of the tree. */
static unsigned
depth(const struct sctp_rx *rx)
{
	unsigned a, b;

	if (rx == NULL)
		return 0;
	a = depth(rx->before);
	b = depth(rx->after);
	return 1 + (a > b ? a : b);
}

/* Two messages, of 4 and 2 fragments, and one of 1; in each order. */
T_CASE(every_order_of_fragments)
{
	static const struct {
		unsigned mid, fsn, flags;
	} frag[7] = {{0, 0, B}, {0, 1, 0}, {0, 2, 0}, {0, 3, E}, {1, 0, B},
		{1, 1, E}, {2, 0, B | E}};
	static const char *const want[3] = {"\0\1\2\3", "\4\5", "\6"};
	static const size_t len[3] = {4, 2, 1};
	unsigned order, k, i, used, n, pick;
	struct sctp_info info;
	char buf[8];

	for (order = 0; order < 5040; order++) {
		begin(8000);
		used = 0;
		for (n = order, k = 7; k > 0; n /= k--) {
			pick = n % k;
			for (i = 0; (used >> i & 1) != 0 || pick-- != 0; i++)
				;
			used |= 1u << i;
			T_NULL(add(i, frag[i].mid, frag[i].fsn,
				frag[i].flags));
			T_NULL(sctp_audit(as));
		}
		for (i = 0; i < 3; i++) {
			T_EQ(sctp_recv(&env, as, &info, buf, 8), len[i]);
			T_EQ(memcmp(buf, want[i], len[i]), 0);
			T_EQ(info.ssn, i);
			T_EQ(info.flags, 0);
		}
		T_EQ(sctp_readable(as), 0);
		T_NULL(as->tree);
		finish();
	}
}

/* The peer chooses the numbers; the search stays short in every order. */
T_CASE(the_tree_is_balanced_whatever_the_peer_sends)
{
	static const char *const order[] = {"ascending", "descending",
		"from both ends"};
	const unsigned n = 20000;
	unsigned o, i, k, fsn;

	for (o = 0; o < 3; o++) {
		for (k = 0; k < 2; k++) { /* messages; fragments of one */
			begin(1 << 20);
			for (i = 0; i < n; i++) {
				fsn = o == 0 ? i : o == 1 ? n - 1 - i :
					i % 2 != 0 ? i / 2 : n - 1 - i / 2;
				T_NULL(k == 0 ? add(i, fsn, 1, U) :
					add(i, 0, 2 * fsn + 1, U));
			}
			if (depth(as->tree) > 64)
				T_FAIL("%s: the depth is %u", order[o],
					depth(as->tree));
			T_EQ(as->nparts, n);
			finish();
		}
	}
}

T_CASE(skipping_leaves_later_messages)
{
	begin(8000);
	T_NULL(add(0, 0xfffffffeu, 1, U));
	T_NULL(add(1, 0xffffffffu, 1, U));
	T_NULL(add(2, 0, 1, U));
	T_NULL(add(3, 1, 1, U));
	T_NULL(add(4, 5, 1, 0));
	sctp_ix_skip(&env, as, 1, 1, 0);
	T_EQ(as->nparts, 2);
	T_EQ(as->tree->ssn == 1 || as->tree->ssn == 5, 1);
	sctp_ix_skip(&env, as, 1, 0, 4);
	T_EQ(as->nparts, 2);
	sctp_ix_skip(&env, as, 1, 0, 5);
	T_EQ(as->nparts, 1);
	T_EQ(as->in[1].next, 6);
	finish();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fuzz target: the message utilities, against a model.
 *
 * The input is a program: an operation and its operands, bytes each.  A few
 * messages are kept in slots; of each the model knows its bytes with the type
 * of the block each is in, which is all that the utilities promise about a
 * message; how it is cut into blocks is looked up in the message itself.
 * At the end everything is freed, and the domain holds what it held.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NSLOT 6
#define MOST 4096 /* bytes in a model */

static struct slot {
	mblk_t *mp; /* NULL: empty */
	size_t n;
	uint8_t byte[MOST], type[MOST];
} slot[NSLOT];

static const uint8_t *in, *in_end;
static unsigned outside_made, outside_freed;

static uint8_t
next(void)
{
	return in < in_end ? *in++ : 0;
}

static void
must_(bool ok, const char *what, int line)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_msg.c:%d: %s\n", line, what);
	abort();
}
#define must(e) must_(e, #e, __LINE__)

static size_t
blen(const mblk_t *bp)
{
	return (size_t)(bp->b_wptr - bp->b_rptr);
}

static size_t
blocks(const mblk_t *mp)
{
	size_t n = 0;

	for (; mp != NULL; mp = mp->b_cont)
		n++;
	return n;
}

/* Bytes in the blocks at the front that have the first one's type. */
static size_t
front(const mblk_t *mp)
{
	unsigned type = mp->b_datap->db_type;
	size_t n = 0;

	for (; mp != NULL && mp->b_datap->db_type == type; mp = mp->b_cont)
		n += blen(mp);
	return n;
}

/* Of those at the back that have the last one's type. */
static size_t
back(const mblk_t *mp)
{
	const mblk_t *bp;
	unsigned type;
	size_t n = 0;

	for (bp = mp; bp->b_cont != NULL; bp = bp->b_cont)
		;
	type = bp->b_datap->db_type;
	for (bp = mp; bp != NULL; bp = bp->b_cont)
		n = bp->b_datap->db_type == type ? n + blen(bp) : 0;
	return n;
}

/* Is the message in @s what the model says? */
static void
check(const struct slot *s)
{
	const mblk_t *bp;
	size_t i = 0, data = 0;

	for (bp = s->mp; bp != NULL; bp = bp->b_cont) {
		must(bp->b_rptr <= bp->b_wptr);
		must(bp->b_rptr >= bp->b_datap->db_base);
		must(bp->b_wptr <= bp->b_datap->db_lim);
		must(bp->b_datap->db_ref >= 1);
		must(i + blen(bp) <= s->n);
		must(memcmp(s->byte + i, bp->b_rptr, blen(bp)) == 0);
		for (size_t k = 0; k < blen(bp); k++)
			must(s->type[i + k] == bp->b_datap->db_type);
		if (bp->b_datap->db_type == M_DATA)
			data += blen(bp);
		i += blen(bp);
	}
	must(i == s->n);
	if (s->mp == NULL)
		return;
	must(msgsize(s->mp) == s->n);
	must(msgdsize(s->mp) == data);
	must(xmsgsize(s->mp) == front(s->mp));
}

/* The model as the message stands. */
static void
learn(struct slot *s)
{
	s->n = 0;
	for (mblk_t *bp = s->mp; bp != NULL; bp = bp->b_cont) {
		must(s->n + blen(bp) <= MOST);
		memcpy(s->byte + s->n, bp->b_rptr, blen(bp));
		memset(s->type + s->n, bp->b_datap->db_type, blen(bp));
		s->n += blen(bp);
	}
}

static void
drop(struct slot *s)
{
	if (s->mp != NULL)
		freemsg(s->mp);
	s->mp = NULL;
	s->n = 0;
}

static struct slot *
pick(void)
{
	return &slot[next() % NSLOT];
}

/* An empty slot, or one that is made empty. */
static struct slot *
room(void)
{
	struct slot *s = NULL;

	for (int i = 0; i < NSLOT; i++)
		if (slot[i].mp == NULL)
			return &slot[i];
	s = pick();
	drop(s);
	return s;
}

static void
cut(struct slot *s, size_t at, size_t n)
{
	must(at + n <= s->n);
	memmove(s->byte + at, s->byte + at + n, s->n - at - n);
	memmove(s->type + at, s->type + at + n, s->n - at - n);
	s->n -= n;
}

/* ------------------------------------------------------------- operations */

static void
outside_free(char *arg)
{
	outside_freed++;
	free(arg);
}

static void
make(bool outside)
{
	static const uint8_t type[] = { M_DATA, M_DATA, M_PROTO, M_PCPROTO,
		M_IOCTL, M_CTL };
	static frtn_t fr[64];
	unsigned size = next() * (1 + next() % 5), used = next();
	unsigned skip = next() % 16;
	mblk_t *mp;

	if (outside && outside_made == 64)
		return;
	if (outside) {
		unsigned char *buf = malloc(size + 1);
		frtn_t *f = &fr[outside_made];

		must(buf != NULL);
		f->free_func = outside_free;
		f->free_arg = (char *)buf;
		mp = esballoc(buf, size, BPRI_MED, f);
		if (mp == NULL) {
			free(buf);
			return;
		}
		outside_made++;
	} else {
		mp = allocb(size, BPRI_MED);
		must(mp != NULL);
	}
	must((size_t)(mp->b_datap->db_lim - mp->b_datap->db_base) >= size);
	must(blen(mp) == 0 && mp->b_cont == NULL && mp->b_next == NULL);
	mp->b_datap->db_type = type[next() % sizeof(type)];
	mp->b_band = next();
	if (skip > size)
		skip = size;
	if (used > size - skip)
		used = size - skip;
	mp->b_rptr += skip;
	mp->b_wptr = mp->b_rptr;
	for (unsigned i = 0; i < used; i++)
		*mp->b_wptr++ = (unsigned char)(i * 7 + outside_made + used);
	{
		struct slot *s = room();

		s->mp = mp;
		learn(s);
	}
}

static void
copy(mblk_t *(*fn)(mblk_t *), bool whole)
{
	struct slot *from = pick(), *to;
	mblk_t *mp;
	size_t n;

	if (from->mp == NULL)
		return;
	mp = fn(from->mp);
	if (mp == NULL) {
		/* a block cannot be shared by more than 255 */
		must(whole || from->mp->b_datap->db_ref == 255);
		return;
	}
	must(mp->b_band == from->mp->b_band);
	n = whole ? from->n : blen(from->mp);
	must(whole ? blocks(mp) == blocks(from->mp) : mp->b_cont == NULL);
	must(msgsize(mp) == n);
	to = room();
	if (to == from) { /* it had to make room */
		to->mp = mp;
		learn(to);
		return;
	}
	to->mp = mp;
	to->n = n;
	memcpy(to->byte, from->byte, n);
	memcpy(to->type, from->type, n);
}

/* Write into blocks that are not shared: no other must see it. */
static void
scribble(void)
{
	struct slot *s = pick();
	uint8_t v = next();

	for (mblk_t *bp = s->mp; bp != NULL; bp = bp->b_cont)
		if (bp->b_datap->db_ref == 1)
			memset(bp->b_rptr, v, blen(bp));
	if (s->mp != NULL)
		learn(s);
}

static void
join(void)
{
	struct slot *a = pick(), *b = pick();

	if (a == b || a->mp == NULL || b->mp == NULL || a->n + b->n > MOST)
		return;
	if (next() & 1)
		linkb(a->mp, b->mp);
	else
		must(linkmsg(a->mp, b->mp) == a->mp);
	memcpy(a->byte + a->n, b->byte, b->n);
	memcpy(a->type + a->n, b->type, b->n);
	a->n += b->n;
	b->mp = NULL;
	b->n = 0;
}

static void
take_first(void)
{
	struct slot *s = pick();
	mblk_t *rest;
	size_t n;

	if (s->mp == NULL)
		return;
	n = blen(s->mp);
	rest = unlinkb(s->mp);
	must(s->mp->b_cont == NULL);
	freeb(s->mp);
	s->mp = rest;
	cut(s, 0, n);
}

static void
take_one(void)
{
	struct slot *s = pick();
	mblk_t *bp = s->mp, *left;
	unsigned k = next() % 8;
	size_t at = 0;

	for (; bp != NULL && k > 0; bp = bp->b_cont, k--)
		at += blen(bp);
	if (s->mp == NULL)
		return;
	if (bp == NULL) { /* one that is not there */
		mblk_t other;

		must(rmvb(s->mp, &other) == (mblk_t *)-1);
		return;
	}
	left = rmvb(s->mp, bp);
	must(left != (mblk_t *)-1 && bp->b_cont == NULL);
	must((left == NULL) == (bp == s->mp && at == 0 &&
		blen(bp) == s->n && left == NULL));
	cut(s, at, blen(bp));
	freeb(bp);
	s->mp = left;
}

static ssize_t
a_length(const struct slot *s)
{
	static const ssize_t odd[] = { 0, 1, -1, 65536, -65536, 1l << 62,
		-(1l << 62), (ssize_t)(~0ul >> 1), -(ssize_t)(~0ul >> 1) - 1 };
	uint8_t v = next();

	if (v < sizeof(odd) / sizeof(odd[0]))
		return odd[v];
	if (s->n != 0 && v < 200)
		return (ssize_t)((unsigned)v * 37 % (s->n + 2)) *
			(v & 1 ? -1 : 1);
	return v - 228;
}

static void
trim(void)
{
	struct slot *s = pick();
	ssize_t len = a_length(s);
	bool can;

	if (s->mp == NULL) {
		must(adjmsg(NULL, len) == 0);
		return;
	}
	can = len >= 0 ? (size_t)len <= front(s->mp) :
			 (size_t)0 - (size_t)len <= back(s->mp);
	must(adjmsg(s->mp, len) == (can ? 1 : 0));
	if (can && len >= 0)
		cut(s, 0, (size_t)len);
	else if (can)
		cut(s, s->n + (size_t)len, (size_t)0 - (size_t)len);
}

static void
pull(void)
{
	struct slot *s = pick();
	ssize_t len = a_length(s);
	size_t want, had;
	mblk_t *mp = s->mp;
	uint8_t band;

	if (mp == NULL) {
		must(pullupmsg(NULL, len) == 0);
		return;
	}
	had = front(mp);
	band = mp->b_band;
	want = len < 0 ? had : (size_t)len;
	if (pullupmsg(mp, len) == 0) {
		must(want > had);
		return;
	}
	must(want <= had && s->mp == mp && mp->b_band == band);
	must(blen(mp) >= want);
	if (len < 0)
		must(blen(mp) == had);
}

static void
pull_copy(void)
{
	struct slot *s = pick(), *to;
	ssize_t len = a_length(s);
	size_t want, had;
	mblk_t *mp;

	if (s->mp == NULL) {
		must(msgpullup(NULL, len) == NULL);
		return;
	}
	had = front(s->mp);
	want = len < 0 ? had : (size_t)len;
	mp = msgpullup(s->mp, len);
	check(s); /* it is left alone */
	if (mp == NULL) {
		must(want > had || s->mp->b_datap->db_ref >= 2 ||
			blocks(s->mp) > 1);
		return;
	}
	must(want <= had && blen(mp) == want && mp->b_band == s->mp->b_band);
	to = room();
	if (to != s) {
		to->n = s->n;
		memcpy(to->byte, s->byte, s->n);
		memcpy(to->type, s->type, s->n);
		to->mp = mp;
	} else {
		to->mp = mp;
		learn(to);
	}
}

static void
step(uint8_t op)
{
	switch (op % 16) {
	case 0:
	case 1:
		make(false);
		break;
	case 2:
		make(true);
		break;
	case 3:
		copy(dupb, false);
		break;
	case 4:
		copy(dupmsg, true);
		break;
	case 5:
		copy(copyb, false);
		break;
	case 6:
		copy(copymsg, true);
		break;
	case 7:
		drop(pick());
		break;
	case 8:
	case 9:
		join();
		break;
	case 10:
		take_first();
		break;
	case 11:
		take_one();
		break;
	case 12:
		trim();
		break;
	case 13:
		pull();
		break;
	case 14:
		pull_copy();
		break;
	default:
		scribble();
		break;
	}
}

/* ---------------------------------------------------------------- the run */

static void
count(struct str_blk *b, void *arg)
{
	uint64_t *n = arg;

	if (b->state < 16)
		n[b->state]++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t before[16] = { 0 }, after[16] = { 0 };
	struct host_call hc = { .fd = -1 };
	int i;

	if (host_domain == NULL) {
		sim_init(1);
		sim_grain(0);
	}
	must(host_enter(&hc) == 0);
	str_mem_walk(count, before);
	in = data;
	in_end = data + (size < 2000 ? size : 2000);
	outside_made = outside_freed = 0;
	while (in < in_end) {
		step(next());
		for (i = 0; i < NSLOT; i++)
			check(&slot[i]);
	}
	for (i = 0; i < NSLOT; i++)
		drop(&slot[i]);
	must(outside_freed == outside_made);
	str_mem_walk(count, after);
	must(memcmp(before, after, sizeof(before)) == 0);
	host_leave();
	return 0;
}

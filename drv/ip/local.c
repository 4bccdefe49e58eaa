/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which addresses belong to this host or to its wires, so that packets to them
 * stay in the domain.
 *
 * The kernel is asked for the source address of a packet to an address: if and
 * only if the address is one of this host, the source is the same address.
 * Answers are kept for a second in a table that all processes share; an
 * address may be removed from the host meanwhile, and then packets to it stay
 * in the domain for at most that time.
 *
 * Crash.  A thread killed while it writes an entry leaves `gen' odd: the entry
 * is not used again, and its addresses cost a system call each time.
 */
#include <sys/socket.h>
#include <netinet/in.h>
#include "ip_impl.h"

#define LIFE 1000000000u /* ns */

static uint32_t
to_sa(const struct ip_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *s6 = (struct sockaddr_in6 *)(void *)ss;
	struct sockaddr_in *s4 = (struct sockaddr_in *)(void *)ss;

	bzero(ss, sizeof(*ss));
	s4->sin_port = htons(9);
	if (a->len == 4) {
		s4->sin_family = AF_INET;
		bcopy(a->b, &s4->sin_addr, 4);
		return sizeof(*s4);
	}
	s6->sin6_family = AF_INET6;
	bcopy(a->b, &s6->sin6_addr, 16);
	return sizeof(*s6);
}

/* The address in @ss; 0: it is of another family. */
static int
of_sa(const struct sockaddr_storage *ss, struct ip_addr *ret)
{
	bzero(ret, sizeof(*ret));
	if (ss->ss_family == AF_INET) {
		ret->len = 4;
		bcopy(&((const struct sockaddr_in *)(const void *)ss)->sin_addr,
			ret->b, 4);
	} else if (ss->ss_family == AF_INET6) {
		ret->len = 16;
		bcopy(&((const struct sockaddr_in6 *)(const void *)
			ss)->sin6_addr, ret->b, 16);
	}
	return ret->len != 0;
}

static int
same(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->len == b->len && bcmp(a->b, b->b, a->len) == 0;
}

int
wire_source(const struct ip_addr *dst, struct ip_addr *ret_src)
{
	struct sockaddr_storage to, src;
	uint32_t len = to_sa(dst, &to), srclen = sizeof(src);

	return ksock_source(&to, len, &src, &srclen) == 0 &&
		of_sa(&src, ret_src);
}

/* Is @a an address of a wire's own? */
static int
is_wires(struct ip_shared *sh, const struct ip_addr *a)
{
	struct wire *lo = &sh->wire[0].pub;
	struct wire_path path;

	return wire_route(lo, a, NULL, &path) == lo;
}

static void
ask(struct ip_shared *sh, const struct ip_addr *dst, struct ip_local *ret)
{
	ret->dst = *dst;
	ret->ours = is_wires(sh, dst) ||
		(wire_source(dst, &ret->src) && same(&ret->src, dst));
	ret->src = *dst;
	ret->until = str_now() + LIFE;
}

static uint32_t
place(const struct ip_addr *a)
{
	uint32_t h = 0, i;

	for (i = 0; i < a->len; i++)
		h = h * 31 + a->b[i];
	return h % IP_LOCALS;
}

/* Use a stored answer, if it is complete, for @dst, and not too old. */
static int
recall(struct ip_local *l, const struct ip_addr *dst, struct ip_local *ret)
{
	uint32_t gen = str_load_acq(&l->gen);

	if ((gen & 1) != 0)
		return 0;
	ret->ours = l->ours;
	ret->dst = l->dst;
	ret->src = l->src;
	ret->until = l->until;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_load(&l->gen) == gen && same(&ret->dst, dst) &&
		(int64_t)(ret->until - str_now()) > 0;
}

static void
remember(struct ip_local *l, const struct ip_local *what)
{
	uint32_t gen = str_load(&l->gen);

	if ((gen & 1) != 0 || !__atomic_compare_exchange_n(&l->gen, &gen,
		gen + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	l->ours = what->ours;
	l->dst = what->dst;
	l->src = what->src;
	l->until = what->until;
	__atomic_store_n(&l->gen, gen + 2, __ATOMIC_RELEASE);
}

/* Addresses whose answer never changes: 1, 0; -1: the kernel is asked. */
static int
known(const struct ip_addr *a, struct ip_addr *ret_src)
{
	static const unsigned char none[16];

	if (bcmp(a->b, none, a->len) == 0)
		return 0;
	if (a->len == 4 && a->b[0] == 127) {
		ret_src->b[0] = 127;
		ret_src->b[3] = 1;
		/* its last address is the loopback network's broadcast */
		return !(a->b[1] == 255 && a->b[2] == 255 && a->b[3] == 255);
	}
	if (a->len == 4)
		return a->b[0] >= 224 ? 0 : -1;
	if (bcmp(a->b, none, 15) == 0 && a->b[15] == 1) {
		ret_src->b[15] = 1;
		return 1;
	}
	return a->b[0] == 0xff ||
		(a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80) ? 0 : -1;
}

int
wire_local(const struct ip_addr *dst, struct ip_addr *ret_src,
	uint64_t *ret_life)
{
	struct ip_shared *sh = ip_shared();
	struct ip_local *l, now;
	uint64_t t;
	int is;

	*ret_life = 0;
	bzero(ret_src, sizeof(*ret_src));
	ret_src->len = dst->len;
	is = known(dst, ret_src);
	if (is >= 0 || sh == NULL)
		return is > 0;
	l = &sh->local[place(dst)];
	if (!recall(l, dst, &now)) {
		ask(sh, dst, &now);
		remember(l, &now);
	}
	*ret_src = now.src;
	t = str_now();
	*ret_life = now.until > t ? now.until - t : 1;
	return (int)now.ours;
}

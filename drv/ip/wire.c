/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: <str/wire.h>.
 *
 * Life of a packet that comes.  wire_input() counts it, shows it to who looks,
 * reads its header, cuts off what is behind its end, and hands it to each
 * receiver of its protocol.  What nobody took is counted.
 *
 * Counters are added to without lock, each thread in the piece that its
 * stack's address chooses; who wants to know them adds the pieces up.
 *
 * Crash.  Nothing here is half done: counters are one addition each.
 */
#include "ip_impl.h"

/* Headers are read in one piece; longer ones are pulled up by themselves. */
#define HEADERS 128u

/* Nobody's, where the drivers with the real ones are not linked. */
STR_WEAK const struct wire_proto udp_wire = {NULL, NULL, -1};
STR_WEAK const struct wire_proto raw_wire = {NULL, NULL, -1};

static const struct wire_proto *const receivers[] = {&udp_wire, &raw_wire};
#define NRECEIVERS (sizeof(receivers) / sizeof(receivers[0]))

struct ip_shared *
ip_shared(void)
{
	return str_drv_state("ip", sizeof(struct ip_shared));
}

struct wire *
wire_lo(void)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *lo;

	if (sh == NULL)
		return NULL;
	lo = &sh->wire[0];
	if (lo->gen == 0) { /* whoever comes first; all write the same */
		lo->name[0] = 'l';
		lo->name[1] = 'o';
		__atomic_store_n(&lo->gen, 1u, __ATOMIC_RELEASE);
	}
	return &lo->pub;
}

void
wire_count(struct wire *w, enum wire_count what, uint64_t n)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	struct ip_wire *iw = ip_wire_of(w);

	/* stacks begin at distances of pages at least, mostly of megabytes */
	sp = (sp >> 14) ^ (sp >> 20) ^ (sp >> 24);
	if (w != NULL)
		(void)__atomic_fetch_add(&iw->count[sp % IP_PIECES].n[what],
			n, __ATOMIC_RELAXED);
}

uint64_t
ip_counted(const struct ip_wire *w, unsigned int what)
{
	uint64_t sum = w->kind == 0 ? udp_lo_counted(what) : 0;
	unsigned int i;

	for (i = 0; i < IP_PIECES; i++)
		sum += __atomic_load_n(&w->count[i].n[what], __ATOMIC_RELAXED);
	return sum;
}

/* Locks: the table's; without, it may be another one soon. */
struct ip_wire *
ip_wire_named(struct ip_shared *sh, const char *name)
{
	unsigned int i, k;

	for (i = 0; i < IP_WIRES; i++) {
		if (!ip_in_use(&sh->wire[i].gen))
			continue;
		for (k = 0; k < WIRE_NAMELEN; k++)
			if (sh->wire[i].name[k] != name[k] || name[k] == '\0')
				break;
		if (k < WIRE_NAMELEN && sh->wire[i].name[k] == name[k])
			return &sh->wire[i];
	}
	return NULL;
}

struct wire *
wire_route(struct wire *lo, const struct ip_addr *dst, struct ip_addr *ret_src,
	uint32_t *ret_mtu)
{
	return NULL;
}

int
wire_send(struct wire *w, mblk_t *pkt, const struct ip_hdr *h)
{
	return ENETDOWN;
}

/* ------------------------------------------------------------------- input */

/* RFC 1122 s3.2.1.3 (g), RFC 4291 s2.5.3: these stay inside a host. */
static int
is_martian(const struct ip_addr *a)
{
	static const unsigned char none[12];

	if (a->len == 4)
		return a->b[0] == 127;
	if (bcmp(a->b, none, 10) != 0)
		return 0;
	return (a->b[10] == 0xff && a->b[11] == 0xff) ||
		(bcmp(a->b + 10, none, 5) == 0 && a->b[15] == 1);
}

/* The first @n bytes of *@pkt in one block; 0: no memory, it is gone. */
static int
pull(mblk_t **pkt, size_t n)
{
	mblk_t *mp;

	if ((size_t)MBLKL(*pkt) >= n)
		return 1;
	mp = msgpullup(*pkt, (ssize_t)n);
	freemsg(*pkt);
	*pkt = mp;
	return mp != NULL;
}

/*
 * Read the header of *@pkt into @h and have the packet as long as that says.
 * Return: 0; or minus an ip_bad; 1: no memory, it is gone.
 */
static int
look(mblk_t **pkt, unsigned int flags, struct ip_hdr *h)
{
	size_t total = msgdsize(*pkt);
	int err;

	if (!pull(pkt, total < HEADERS ? total : HEADERS))
		return 1;
	err = ip_parse((*pkt)->b_rptr, (size_t)MBLKL(*pkt), total, flags, h);
	if (err == -IP_SHORT && (size_t)MBLKL(*pkt) < total) {
		if (!pull(pkt, total))
			return 1;
		err = ip_parse((*pkt)->b_rptr, total, total, flags, h);
	}
	if (err == 0 && total > h->hlen + h->len)
		(void)adjmsg(*pkt, -(ssize_t)(total - h->hlen - h->len));
	return err;
}

static void
receive(struct wire *w, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	unsigned int i;
	int taken = 0;

	for (i = 0; i < NRECEIVERS; i++) {
		const struct wire_proto *r = receivers[i];

		if (r->input != NULL && (r->proto == -1 ||
			r->proto == h->proto))
			taken |= r->input(w, pkt, h, flags);
	}
	if (!taken)
		wire_count(w, h->proto == 17 ? WIRE_NOPORT : WIRE_NOPROTO, 1);
	freemsg(pkt);
}

void
wire_input(struct wire *w, mblk_t *pkt, unsigned int flags)
{
	struct ip_hdr h;
	int err;

	wire_count(w, WIRE_IN, 1);
	wire_count(w, WIRE_INBYTES, msgdsize(pkt));
	if (wire_tapped(w))
		wire_tap(w, pkt, 0);
	err = look(&pkt, flags, &h);
	if (err > 0) {
		wire_count(w, WIRE_NOMEM, 1);
		return;
	}
	if (err == 0 && ip_wire_of(w)->kind != 0 && is_martian(&h.src))
		err = -IP_ADDR;
	if (err != 0) {
		wire_count(w, WIRE_BAD + (unsigned int)-err, 1);
		freemsg(pkt);
		return;
	}
	receive(w, pkt, &h, flags);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Trains: several packets by one system call, on raw wires and wires of frames.
 * They are packets that follow each other, or the fragments of one packet.
 *
 * A train consists of consecutive packets to one destination, so its neighbour
 * is looked up once.  A packet that must be fragmented, that has too many
 * blocks, or whose neighbour is not known, goes alone.
 *
 * Locks.  The wire's stream is held.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <linux/if_packet.h>
#include "ip_impl.h"

#define TRAIN 16u  /* packets */
#define PIECES 64u /* of all together */

struct train {
	uint32_t n, used;
	uint32_t addrlen;
	union {
		struct sockaddr_ll ll;
		struct sockaddr_in6 six;
	} to;
	struct ksock_msg m[TRAIN];
	struct iovec iov[PIECES];
};

/* The socket for packets to @dst. */
static ksock_t *
socket_of(const struct ip_wire *w, const struct ip_addr *dst)
{
	return w->ks[w->kind == IPW_RAW && dst->len == 16];
}

/* A train without packets. */
static void
clear(struct train *t)
{
	t->n = t->used = 0;
}

/* Make what was added to t->iov since the last packet the next one. */
static void
couple(struct train *t, uint32_t used)
{
	struct ksock_msg *m = &t->m[t->n++];

	bzero(m, sizeof(*m));
	m->km_iov = t->iov + t->used;
	m->km_iovlen = used - t->used;
	m->km_addr = &t->to;
	m->km_addrlen = t->addrlen;
	t->used = used;
}

/* Add the packet's blocks; 0: there is no room, or it goes alone. */
static int
add(const struct ip_wire *w, struct train *t, const struct wire_pkt *v)
{
	const struct ip_hdr *h = v->h;
	uint32_t used = t->used;
	const mblk_t *bp;

	if (h->hlen + h->len > (h->df ? w->mtu : ip_path_mtu(w, &h->dst)))
		return 0;
	for (bp = v->mp; bp != NULL; bp = bp->b_cont) {
		if (MBLKL(bp) == 0)
			continue;
		if (used == PIECES)
			return 0;
		t->iov[used].iov_base = bp->b_rptr;
		t->iov[used++].iov_len = (size_t)MBLKL(bp);
	}
	couple(t, used);
	return 1;
}

static int
is_alike(const struct ip_hdr *a, const struct ip_hdr *b)
{
	return a->dst.len == b->dst.len &&
		bcmp(a->dst.b, b->dst.b, a->dst.len) == 0;
}

/* The address to which the train goes.  1; 0: the packet waits for its
 * neighbour, a copy is kept; or minus an errno. */
static int
destination(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	struct train *t)
{
	if (w->kind == IPW_PACKET) {
		t->addrlen = sizeof(t->to.ll);
		return ip_packet_to(w, pkt, h, &t->to.ll);
	}
	t->addrlen = ip_raw_to(h, &t->to.six);
	return 1;
}

/* Send the train of packets from @v on.  How many were sent; *@ret_err. */
static uint32_t
depart(struct ip_wire *w, struct train *t, const struct wire_pkt *v,
	int *ret_err)
{
	ksock_t *ks = socket_of(w, &v->h->dst);
	uint32_t i, k, at = 0;
	long r;

	*ret_err = ks == NULL ? ENETUNREACH : 0;
	for (i = 0; i < t->n && *ret_err == 0; i++)
		if (v[i].h->frag == 0)
			ip_note(v[i].mp, v[i].h);
	while (at < t->n && *ret_err == 0) {
		r = ksock_sendmm(ks, t->m + at, t->n - at, 0);
		*ret_err = r < 0 ? (int)-r : 0;
		for (k = 0; r > 0 && k < (uint32_t)r; k++)
			ip_sent_one(w, v[at + k].mp);
		at += r > 0 ? (uint32_t)r : 0;
	}
	return at;
}

/*
 * ip_train_send - send packets; @w's stream is held
 * Return: how many were sent; *@ret_err: the error of the next.
 */
uint32_t
ip_train_send(struct ip_wire *w, const struct wire_pkt *v, uint32_t n,
	int *ret_err)
{
	struct train t;
	uint32_t sent = 0, k;
	int r;

	*ret_err = 0;
	while (sent < n && *ret_err == 0) {
		clear(&t);
		t.addrlen = 0;
		k = sent;
		if (add(w, &t, &v[k])) {
			r = destination(w, v[k].mp, v[k].h, &t);
			k++;
			if (r <= 0) {
				*ret_err = -r;
				if (r == 0)
					ip_note(v[sent].mp, v[sent].h);
				if (r == 0)
					ip_sent_one(w, v[sent++].mp);
				continue;
			}
			t.m[0].km_addrlen = t.addrlen;
			while (k < n && t.n < TRAIN &&
				is_alike(v[sent].h, v[k].h) &&
				add(w, &t, &v[k]))
				k++;
			sent += depart(w, &t, v + sent, ret_err);
			continue;
		}
		*ret_err = ip_send_held(w, v[sent].mp, v[sent].h);
		sent += *ret_err == 0;
	}
	return sent;
}

/* ---------------------------------------------------------------- fragments */

#define HEADER 60u /* bytes of the longest header of a fragment */

/*
 * Add @n bytes of @pkt from @skip on to t->iov, which has @used entries.
 * Return: entries then; 0: there is no room.
 */
static uint32_t
add_part(struct train *t, uint32_t used, const mblk_t *bp, uint32_t skip,
	uint32_t n)
{
	uint32_t k;

	for (; n != 0 && bp != NULL; bp = bp->b_cont) {
		k = (uint32_t)MBLKL(bp);
		if (k <= skip) {
			skip -= k;
			continue;
		}
		if (used == PIECES)
			return 0;
		k = k - skip < n ? k - skip : n;
		t->iov[used].iov_base = bp->b_rptr + skip;
		t->iov[used++].iov_len = k;
		n -= k;
		skip = 0;
	}
	return used;
}

/*
 * Add the fragment @f of the packet @pkt with @h; its header is written in front
 * of @end.  0: there is no room.
 */
static int
add_cut(struct train *t, const mblk_t *pkt, const struct ip_hdr *h,
	const struct ip_hdr *f, const unsigned char *opt, unsigned char *end)
{
	uint32_t used = t->used;

	if (t->n == TRAIN || used == PIECES)
		return 0;
	t->iov[used].iov_len = ip_build(end, f, opt, 0);
	t->iov[used].iov_base = end - t->iov[used].iov_len;
	used = add_part(t, used + 1, pkt, h->hlen + (f->frag - h->frag),
		f->len);
	if (used == 0)
		return 0;
	couple(t, used);
	return 1;
}

/* Send the fragments in the train.  How many were sent; *@ret_err. */
static uint32_t
depart_cut(struct ip_wire *w, struct train *t, const struct ip_hdr *h,
	int *ret_err)
{
	ksock_t *ks = socket_of(w, &h->dst);
	uint32_t at = 0, i, k;
	uint64_t bytes;
	long r;

	*ret_err = ks == NULL ? ENETUNREACH : 0;
	while (at < t->n && *ret_err == 0) {
		r = ksock_sendmm(ks, t->m + at, t->n - at, 0);
		*ret_err = r < 0 ? (int)-r : 0;
		for (i = 0, bytes = 0; r > 0 && i < (uint32_t)r; i++)
			for (k = 0; k < t->m[at + i].km_iovlen; k++)
				bytes += t->m[at + i].km_iov[k].iov_len;
		wire_count(&w->pub, WIRE_OUT, i);
		wire_count(&w->pub, WIRE_OUTBYTES, bytes);
		at += i;
		STR_POINT("ip:piece");
	}
	clear(t);
	return at;
}

/*
 * ip_train_cut - send the fragments of the packet @pkt with @h, which has an
 * identification; @w's stream is held
 * Their data is sent from where it is.
 * Return: how many were sent; *@ret_err: the error of the next, and EBUSY: none,
 * because they must be sent one by one.
 */
uint32_t
ip_train_cut(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h,
	uint32_t mtu, int *ret_err)
{
	const unsigned char *opt = h->optlen != 0 ? pkt->b_rptr + 20 : NULL;
	unsigned char ret_opt[IP4_OPTMAX], hdr[TRAIN + 1][HEADER];
	uint32_t off = 0, sent = 0;
	struct ip_hdr f;
	struct train t;
	int r = 0;

	*ret_err = EBUSY;
	if ((w->kind != IPW_PACKET && w->kind != IPW_RAW) ||
		!wire_is_plain(&w->pub) || destination(w, NULL, h, &t) <= 0)
		return 0;
	*ret_err = 0;
	clear(&t);
	while (*ret_err == 0 &&
		(r = ip_frag(h, opt, mtu, &off, &f, ret_opt)) == 1) {
		if (add_cut(&t, pkt, h, &f, ret_opt, hdr[t.n + 1]))
			continue;
		sent += depart_cut(w, &t, h, ret_err);
		/* a fragment of too many blocks */
		if (*ret_err == 0 &&
			!add_cut(&t, pkt, h, &f, ret_opt, hdr[t.n + 1]))
			*ret_err = sent == 0 ? EBUSY : EMSGSIZE;
	}
	if (r < 0)
		*ret_err = -r;
	if (*ret_err == 0)
		sent += depart_cut(w, &t, h, ret_err);
	return sent;
}

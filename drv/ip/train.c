/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Trains: several packets by one system call, on raw wires and wires of frames.
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

/* Add the packet's blocks; 0: there is no room, or it goes alone. */
static int
add(const struct ip_wire *w, struct train *t, const struct wire_pkt *v)
{
	const struct ip_hdr *h = v->h;
	struct ksock_msg *m = &t->m[t->n];
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
	bzero(m, sizeof(*m));
	m->km_iov = t->iov + t->used;
	m->km_iovlen = used - t->used;
	m->km_addr = &t->to;
	m->km_addrlen = t->addrlen;
	t->used = used;
	t->n++;
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
destination(struct ip_wire *w, const struct wire_pkt *v, struct train *t)
{
	if (w->kind == IPW_PACKET) {
		t->addrlen = sizeof(t->to.ll);
		return ip_packet_to(w, v->mp, v->h, &t->to.ll);
	}
	t->addrlen = ip_raw_to(v->h, &t->to.six);
	return 1;
}

/* Send the train of packets from @v on.  How many were sent; *@ret_err. */
static uint32_t
depart(struct ip_wire *w, struct train *t, const struct wire_pkt *v,
	int *ret_err)
{
	ksock_t *ks = w->ks[w->kind == IPW_RAW && v->h->dst.len == 16];
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
		t.n = t.used = t.addrlen = 0;
		k = sent;
		if (add(w, &t, &v[k])) {
			r = destination(w, &v[k++], &t);
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

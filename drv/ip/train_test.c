/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Fragments that one system call sends, and packets without a message block:
 * what the interface gets.
 */
#include "packetfix.h"

#define FRAMES 64u

/* The frames, in their order. */
static struct {
	unsigned char b[1500 + WIRE_ROOM];
	size_t n;
} out[FRAMES];
static struct virtio_net_hdr net; /* of the last one, if it had any */
static unsigned char link_of[ETH_HLEN];
static unsigned nout, room; /* so many fit */
static uint64_t was[WIRE_NCOUNTS]; /* counters before */
static unsigned char data[IP_MOST];

static long
takes(const struct ksock_msg *m)
{
	const struct sockaddr_ll *ll = m->km_addr;
	size_t n = 0;
	uint32_t i;

	if (ll != NULL && ll->sll_protocol != htons(ETH_P_IP))
		return sent(m);
	if (nout == room)
		return -EAGAIN;
	for (i = 0; i < m->km_iovlen; i++) {
		T_LE(n + m->km_iov[i].iov_len, sizeof(out[0].b));
		memcpy(out[nout].b + n, m->km_iov[i].iov_base,
			m->km_iov[i].iov_len);
		n += m->km_iov[i].iov_len;
	}
	if (ll == NULL) {
		T_GT(n, WIRE_ROOM);
		memcpy(&net, out[nout].b, sizeof(net));
		memcpy(link_of, out[nout].b + sizeof(net), ETH_HLEN);
		n -= WIRE_ROOM;
		memmove(out[nout].b, out[nout].b + WIRE_ROOM, n);
	}
	out[nout++].n = n;
	return 0;
}

static void
begin_train(struct t *t)
{
	unsigned i;

	begin(t);
	sim_sock(takes, received);
	nout = 0;
	room = FRAMES;
	memset(was, 0, sizeof(was));
	for (i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 256);
}

static uint64_t
since(unsigned what)
{
	return counted(what) - was[what];
}

/* Station 2 becomes known. */
static void
meet(void)
{
	unsigned i;

	send_to(2, 1);
	answers(2);
	dv_run(&a_stream);
	T_EQ(nout, 1);
	nout = 0;
	for (i = 0; i < WIRE_NCOUNTS; i++)
		was[i] = counted(i);
}

/* Send @n bytes in blocks of @each to station 2; the result. */
static int
send_long(uint32_t n, uint32_t each)
{
	struct ip_hdr h = {.src = host(1), .dst = host(2), .proto = 253,
		.ttl = 64, .len = n, .id = 77};
	mblk_t *mp = allocb(64, BPRI_MED), *bp;
	uint32_t at, k;
	int err;

	mp->b_rptr = mp->b_wptr = mp->b_datap->db_base + 40;
	h.hlen = (uint16_t)ip_build(mp->b_rptr, &h, NULL, 0);
	mp->b_rptr -= h.hlen;
	for (at = 0; at < n; at += k) {
		k = n - at < each ? n - at : each;
		bp = allocb(k, BPRI_MED);
		memcpy(bp->b_wptr, data + at, k);
		bp->b_wptr += k;
		linkb(mp, bp);
	}
	err = wire_send(&w->pub, mp, &h);
	if (err != 0)
		freemsg(mp);
	return err;
}

/* The frames are the fragments of @n bytes of data. */
static void
are_fragments_of(uint32_t n)
{
	static unsigned char whole[IP_MOST];
	uint32_t i, bytes = 0;
	struct ip_hdr h;

	memset(whole, 0, sizeof(whole));
	for (i = 0; i < nout; i++) {
		T_EQ(ip_parse(out[i].b, out[i].n, out[i].n, 0, &h), 0);
		T_EQ(h.id, 77);
		T_EQ(h.hlen + h.len, out[i].n);
		T_EQ(h.more, i + 1 < nout);
		T_EQ(h.frag, bytes);
		memcpy(whole + h.frag, out[i].b + h.hlen, h.len);
		bytes += h.len;
	}
	T_EQ(bytes, n);
	T_EQ(memcmp(whole, data, n), 0);
	T_EQ(nout, (n + 1479) / 1480);
	T_EQ(since(WIRE_FRAGS), nout);
	T_EQ(since(WIRE_OUT), nout);
	T_EQ(since(WIRE_OUTBYTES), n + 20 * nout);
}

static void
goes_in_fragments(struct t *t, uint32_t n, uint32_t each)
{
	begin_train(t);
	meet();
	T_EQ(send_long(n, each), 0);
	are_fragments_of(n);
}

T_CASE(a_long_packet_goes_in_fragments)
{
	goes_in_fragments(t, 9000, 9000);
}

T_CASE(the_longest_packet_goes_in_more_fragments_than_a_train_has)
{
	goes_in_fragments(t, IP_MOST - 20, 4096);
}

T_CASE(a_fragment_may_be_in_many_blocks)
{
	goes_in_fragments(t, 5000, 50);
}

T_CASE(a_fragment_may_be_in_more_blocks_than_a_train_has)
{
	goes_in_fragments(t, 5000, 10);
}

T_CASE(fragments_wait_for_their_station)
{
	begin_train(t);
	T_EQ(send_long(9000, 9000), 0);
	T_EQ(nout, 0);
	T_EQ(nasked, 1);
	answers(2);
	dv_run(&a_stream);
	are_fragments_of(9000);
}

T_CASE(fragments_that_a_full_interface_refuses_are_lost)
{
	begin_train(t);
	meet();
	room = 3;
	T_EQ(send_long(9000, 9000), 0);
	T_EQ(nout, 3);
	T_EQ(since(WIRE_OUT), 3);
	T_EQ(send_long(9000, 9000), EAGAIN); /* nothing has been sent */
	T_EQ(since(WIRE_OUT), 3);
}

/* wire_send_bytes() of @n bytes of data to station @to, without their sum. */
static int
send_bytes_but(struct wire *on, unsigned to, uint32_t n, uint32_t sum_at)
{
	static unsigned char buf[WIRE_ROOM + 2048], *pkt = buf + WIRE_ROOM;
	struct ip_hdr h = {.src = host(1), .dst = host(to), .proto = 253,
		.ttl = 64, .len = n, .id = 78};

	h.hlen = (uint16_t)ip_build(pkt + 20, &h, NULL, 0);
	memcpy(pkt + 20, data, n);
	return wire_send_bytes(on, pkt, 20 + n, sum_at, &h);
}

static int
send_bytes(struct wire *on, unsigned to, uint32_t n)
{
	return send_bytes_but(on, to, n, 0);
}

T_CASE(a_packet_needs_no_message_block)
{
	uint64_t before;
	struct ip_hdr h;

	begin_train(t);
	meet();
	before = fx_messages();
	T_EQ(send_bytes(&w->pub, 2, 1000), 0);
	T_EQ(fx_messages(), before);
	T_EQ(nout, 1);
	T_EQ(ip_parse(out[0].b, out[0].n, out[0].n, 0, &h), 0);
	T_EQ(h.id, 78);
	T_EQ(h.len, 1000);
	T_EQ(memcmp(out[0].b + h.hlen, data, 1000), 0);
	T_EQ(since(WIRE_OUT), 1);
	T_EQ(since(WIRE_OUTBYTES), 1020);
	T_EQ(net.flags, 0);
	T_MEM(link_of, "\2\0\0\0\0\2", 6);
	T_MEM(link_of + 6, w->mac, 6);
	T_MEM(link_of + 12, "\10\0", 2);
}

T_CASE(the_device_completes_a_checksum)
{
	begin_train(t);
	meet();
	T_EQ(send_bytes_but(&w->pub, 2, 1000, 6), 0);
	T_EQ(nout, 1);
	T_EQ(net.flags, VIRTIO_NET_HDR_F_NEEDS_CSUM);
	T_EQ(net.gso_type, VIRTIO_NET_HDR_GSO_NONE);
	T_EQ(net.csum_start, ETH_HLEN + 20);
	T_EQ(net.csum_offset, 6);
	T_EQ(memcmp(out[0].b + 20, data, 1000), 0); /* as it was */
	T_EQ(send_bytes(&w->pub, 2, 1000), 0);
	T_EQ(net.flags, 0);
}

T_CASE(a_packet_without_a_block_is_refused_in_rare_cases)
{
	begin_train(t);
	T_EQ(send_bytes(&w->pub, 2, 100), EBUSY); /* the station is unknown */
	T_EQ(nasked, 1);
	answers(2);
	dv_run(&a_stream);
	T_EQ(nout, 0); /* nothing has waited */
	T_EQ(send_bytes(&w->pub, 2, 1481), EOPNOTSUPP); /* too long */
	T_EQ(send_bytes(wire_lo(), 1, 100), EOPNOTSUPP);
	w->pub.taps = 1;
	T_EQ(send_bytes(&w->pub, 2, 100), EOPNOTSUPP);
	w->pub.taps = 0;
	room = 0;
	T_EQ(send_bytes(&w->pub, 2, 100), EAGAIN);
	T_EQ(nout, 0);
	T_EQ(since(WIRE_OUT), 0);
	room = 1;
	T_EQ(send_bytes(&w->pub, 2, 1480), 0);
	T_EQ(nout, 1);
}

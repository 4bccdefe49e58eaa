/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires as a transport of any IP protocol uses them: registration, lo, batches,
 * paths by the source address.  Protocols 253 and 254 are for tests (RFC 3692).
 */
#include "packetfix.h"

static unsigned got, bytes, got_flags, errors;
static struct ip_hdr seen;

static int
test_input(struct wire *from, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	(void)from;
	got++;
	bytes += (unsigned)msgdsize(pkt);
	got_flags = flags;
	seen = *h;
	return h->len != 1; /* a packet of one byte has no receiver */
}

static int
test_error(struct wire *from, const struct ip_hdr *h,
	const unsigned char *begin, size_t n, int error, uint32_t mtu)
{
	(void)from, (void)h, (void)begin, (void)n, (void)mtu;
	errors += error != 0;
	return 1;
}

static uint64_t
test_counted(enum wire_count what)
{
	return what == WIRE_OUT ? 7 : 0;
}

static const struct wire_proto test_wire = {
	.proto = 254,
	.has_ports = 1,
	.input = test_input,
	.error = test_error,
	.counted = test_counted,
};
STR_WIRE_PROTO(test_wire);

/* A packet of @proto with @len bytes of data; its header is stored at @h. */
static mblk_t *
packet(const struct ip_addr *src, const struct ip_addr *dst, int proto,
	uint32_t len, struct ip_hdr *h)
{
	mblk_t *mp = allocb(IP_ROOM + len, BPRI_MED);

	T_NOTNULL(mp);
	memset(h, 0, sizeof(*h));
	h->src = *src;
	h->dst = *dst;
	h->proto = (uint8_t)proto;
	h->ttl = 64;
	h->len = len;
	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + len;
	memset(mp->b_rptr, 'x', len);
	h->hlen = (uint16_t)ip_build(mp->b_rptr, h, NULL, 0);
	mp->b_rptr -= h->hlen;
	return mp;
}

static const struct ip_addr local1 = {4, {127, 0, 0, 1}};

static void
start(struct t *t)
{
	begin(t);
	got = bytes = errors = 0;
}

T_CASE(a_registered_protocol_gets_its_packets)
{
	struct ip_addr from = host(9), own = host(1);
	struct ip_hdr h;

	start(t);
	wire_input(&w->pub, packet(&from, &own, 254, 30, &h), 0);
	T_EQ(got, 1);
	T_EQ(bytes, 50);
	T_EQ(seen.src.b[3], 9);
	wire_input(&w->pub, packet(&from, &own, 253, 30, &h), 0);
	T_EQ(got, 1);
	T_EQ(counted(WIRE_NOPROTO), 1);
}

T_CASE(a_protocol_with_ports_may_have_no_receiver)
{
	struct ip_addr from = host(9), own = host(1);
	struct ip_hdr h;

	start(t);
	wire_input(&w->pub, packet(&from, &own, 254, 1, &h), 0);
	T_EQ(got, 1);
	T_EQ(counted(WIRE_NOPORT), 1);
	T_EQ(counted(WIRE_NOPROTO), 0);
}

T_CASE(lo_carries_any_protocol)
{
	struct ip_hdr h;
	struct wire *lo;
	uint64_t came, out;
	mblk_t *mp;

	start(t);
	lo = wire_lo();
	came = ip_counted(ip_wire_of(lo), WIRE_IN);
	out = ip_counted(ip_wire_of(lo), WIRE_OUT);
	mp = packet(&local1, &local1, 254, 5, &h);
	T_EQ(wire_send(lo, mp, &h), 0);
	T_EQ(got, 1);
	T_EQ(got_flags, IP_TRUST);
	T_EQ(ip_counted(ip_wire_of(lo), WIRE_IN) - came, 1);
	T_EQ(ip_counted(ip_wire_of(lo), WIRE_OUT) - out, 1);
	T_TRUE(out >= 7); /* what the protocol has counted itself */
}

T_CASE(a_batch_is_sent_in_order)
{
	struct ip_hdr h[12];
	struct wire_pkt v[12];
	struct ip_addr to = host(9), own = host(1);
	unsigned i, calls;
	int err = -1;

	start(t);
	ticks(20);
	send_to(9, 77);
	answers(9);
	nids = 0;
	for (i = 0; i < 12; i++) {
		v[i].mp = packet(&own, &to, 253, 20 + i, &h[i]);
		v[i].mp->b_rptr[5] = (unsigned char)i;
		v[i].h = &h[i];
	}
	calls = sim_sock_sends;
	T_EQ(wire_send_batch(&w->pub, v, 12, &err), 12);
	T_EQ(sim_sock_sends - calls, 1);
	T_EQ(err, 0);
	T_EQ(nids, 12);
	for (i = 0; i < 12; i++)
		T_EQ(ids[i], i);
	T_EQ(counted(WIRE_OUT), 13);
}

/* Some packets of a batch are for others, too long, or for a station that is not
 * known: all are sent, or wait, in order for each destination. */
T_CASE(a_batch_for_several_is_sent_to_each)
{
	static const unsigned char to[] = {9, 9, 8, 9, 7, 9, 8, 8};
	struct ip_addr own = host(1), dst;
	struct ip_hdr h[8];
	struct wire_pkt v[8];
	unsigned i;
	int err = -1;

	start(t);
	ticks(20);
	send_to(9, 77);
	answers(9);
	send_to(8, 78);
	answers(8);
	nids = nasked = 0;
	for (i = 0; i < 8; i++) {
		dst = host(to[i]);
		v[i].mp = packet(&own, &dst, 253, i == 3 ? 2000 : 20, &h[i]);
		v[i].mp->b_rptr[5] = (unsigned char)i;
		v[i].h = &h[i];
	}
	T_EQ(wire_send_batch(&w->pub, v, 8, &err), 8);
	T_EQ(err, 0);
	T_EQ(nasked, 1); /* station 7 */
	T_EQ(nids, 8);	 /* number 3 in two pieces; number 4 waits */
	answers(7);
	dv_run(&a_stream);
	T_EQ(nids, 9);
	T_EQ(ids[8], 4);
	T_EQ(ids[0], 0);
	T_EQ(ids[1], 1);
	T_EQ(ids[2], 2);
	T_EQ(ids[5], 5);
	T_EQ(ids[6], 6);
	T_EQ(ids[7], 7);
}

T_CASE(what_a_batch_could_not_send_is_the_callers_still)
{
	struct ip_hdr h[3];
	struct wire_pkt v[3];
	struct ip_addr to = host(9), own = host(1);
	unsigned i;
	int err = 0;

	start(t);
	ticks(20);
	send_to(9, 77);
	answers(9);
	nids = 0;
	for (i = 0; i < 3; i++) {
		v[i].mp = packet(&own, &to, 253, i == 1 ? 2000 : 20, &h[i]);
		v[i].h = &h[i];
	}
	h[1].df = 1; /* too long for the wire */
	T_EQ(wire_send_batch(&w->pub, v, 3, &err), 1);
	T_EQ(err, EMSGSIZE);
	T_EQ(nids, 1);
	full = 1;
	T_EQ(wire_send_batch(&w->pub, v + 2, 1, &err), 0);
	T_TRUE(err != 0);
	full = 0;
	T_EQ(wire_send_batch(&w->pub, v + 2, 1, &err), 1);
	T_EQ(nids, 2);
	freemsg(v[1].mp);
}

/* Two wires lead to 10.1.0.0/16. */
T_CASE(the_source_address_chooses_the_wire)
{
	struct ip_wire *two;
	struct ip_addr dst = host(9), own = host(1);
	struct ip_addr second = {4, {10, 2, 0, 1}};
	struct ip_addr foreign = {4, {192, 0, 2, 1}};
	struct ip_addr six = {16, {0xfd, [15] = 1}};
	struct wire_path path;
	struct wire *lo;

	start(t);
	lo = wire_lo();
	two = &ip_shared()->wire[2];
	*two = *w;
	two->name[0] = 'q';
	two->mtu = 1400;
	two->conf.own[0] = (struct ipw_addr){4, 16, {0, 0}, {10, 2, 0, 1}};
	two->conf.route[0] = (struct ipw_addr){4, 8, {0, 0}, {10}};
	T_TRUE(wire_route(lo, &dst, NULL, &path) == &w->pub);
	T_EQ(path.mtu, 1500);
	T_EQ(path.src.b[1], 1);
	T_TRUE(wire_route(lo, &dst, &second, &path) == &two->pub);
	T_EQ(path.mtu, 1400);
	T_EQ(path.src.b[1], 2);
	T_TRUE(wire_route(lo, &dst, &own, &path) == &w->pub);
	/* an address of neither */
	T_TRUE(wire_route(lo, &dst, &foreign, &path) == &w->pub);
	T_EQ(path.src.b[1], 1);
	T_TRUE(wire_route(lo, &dst, &six, &path) == &w->pub);
	T_EQ(path.src.len, 4);
	/* a wire with the address that does not lead there is of no use */
	bzero(&two->conf.route[0], sizeof(two->conf.route[0]));
	T_TRUE(wire_route(lo, &dst, &second, &path) == &w->pub);
	two->gen = 0;
}

T_CASE(addresses_of_wires_and_of_loopback_are_local)
{
	static const struct ip_addr bcast = {4, {127, 255, 255, 255}};
	static const struct ip_addr any = {4, {0}}, group = {4, {224, 0, 0, 9}};
	static const struct ip_addr any6 = {16, {0}}, one = {16, {[15] = 1}};
	static const struct ip_addr near = {16, {0xfe, 0x80, [15] = 1}};
	struct ip_addr own = host(1), other = host(2), src;
	uint64_t life = 1;

	start(t);
	T_TRUE(wire_local(&local1, &src, &life));
	T_EQ(life, 0);
	T_EQ(src.b[0], 127);
	T_TRUE(wire_local(&one, &src, &life));
	T_EQ(src.b[15], 1);
	T_FALSE(wire_local(&bcast, &src, &life));
	T_FALSE(wire_local(&any, &src, &life));
	T_FALSE(wire_local(&any6, &src, &life));
	T_FALSE(wire_local(&group, &src, &life));
	T_FALSE(wire_local(&near, &src, &life));
	T_TRUE(wire_local(&own, &src, &life));
	T_EQ(src.b[3], 1);
	T_TRUE(life > 0 && life <= 1000000000u);
	T_FALSE(wire_local(&other, &src, &life));
	/* an answer is kept, for a second */
	w->conf.own[0].b[3] = 2;
	T_FALSE(wire_local(&other, &src, &life));
	sim_advance(1000000001u);
	T_TRUE(wire_local(&other, &src, &life));
	w->conf.own[0].b[3] = 1;
}

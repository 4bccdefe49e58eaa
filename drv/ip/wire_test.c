/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: what comes is checked, counted, and given to who wants it.
 */
#include "../drvfix.h"
#include "ip_impl.h"

extern const struct str_builtin str_drv_ip;

static struct wire *lo;

/* An IPv4 packet of @proto with @len bytes of data. */
static mblk_t *
packet(uint8_t proto, size_t len)
{
	struct ip_hdr h = {
		.src = {4, {127, 0, 0, 1}}, .dst = {4, {127, 0, 0, 2}},
		.proto = proto, .ttl = 64, .len = (uint32_t)len,
	};
	struct udp_hdr u = {1024, 53, (uint16_t)len, 0};
	mblk_t *mp = allocb(IP_ROOM + len, BPRI_MED);

	T_NOTNULL(mp);
	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + len;
	memset(mp->b_rptr, 'x', len);
	if (proto == 17 && len >= UDP_HDRLEN)
		udp_build(mp->b_rptr, &u);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	return mp;
}

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_ip);
	lo = wire_lo();
	T_NOTNULL(lo);
	/* receivers may make what all their streams share */
	wire_input(lo, packet(17, 8), 0);
	wire_input(lo, packet(253, 8), 0);
	memset((void *)(uintptr_t)((struct ip_wire *)(void *)lo)->count, 0,
		sizeof(((struct ip_wire *)(void *)lo)->count));
	fx_keep();
}

static uint64_t
counted(unsigned what)
{
	return ip_counted((struct ip_wire *)(void *)lo, what);
}

T_CASE(there_is_one_lo)
{
	begin(t);
	T_TRUE(wire_lo() == lo);
	T_EQ(wire_tapped(lo), 0);
	T_EQ(lo->others, 0);
}

T_CASE(counts_add_up)
{
	unsigned i;

	begin(t);
	for (i = 0; i < 100; i++)
		wire_count(lo, WIRE_FULL, i);
	T_EQ(counted(WIRE_FULL), 4950);
	wire_count(NULL, WIRE_FULL, 1); /* no wire's */
	T_EQ(counted(WIRE_FULL), 4950);
}

T_CASE(what_nobody_wants_is_counted)
{
	begin(t);
	wire_input(lo, packet(17, 100), 0);
	wire_input(lo, packet(253, 50), 0);
	T_EQ(counted(WIRE_IN), 2);
	T_EQ(counted(WIRE_INBYTES), 190);
	T_EQ(counted(WIRE_NOPORT), 1);
	T_EQ(counted(WIRE_NOPROTO), 1);
}

T_CASE(what_is_broken_is_counted_by_its_reason)
{
	mblk_t *mp;

	begin(t);
	mp = packet(17, 100);
	mp->b_rptr[8]--;
	wire_input(lo, mp, 0);
	T_EQ(counted(WIRE_BAD + IP_CKSUM), 1);
	mp = packet(17, 100);
	mp->b_rptr[8]--;
	wire_input(lo, mp, IP_TRUST);
	T_EQ(counted(WIRE_NOPORT), 1);
	mp = packet(17, 100);
	mp->b_wptr--;
	wire_input(lo, mp, 0);
	T_EQ(counted(WIRE_BAD + IP_SHORT), 1);
	wire_input(lo, fx_msg("", 0), 0);
	T_EQ(counted(WIRE_BAD + IP_SHORT), 2);
	wire_input(lo, fx_msg("xxx", 0), 0); /* version 7 */
	T_EQ(counted(WIRE_BAD + IP_VERSION), 1);
}

T_CASE(a_header_in_pieces_is_read)
{
	static const char *const none[] = {"", "", NULL};
	mblk_t *mp, *whole, *all;
	ssize_t i;

	begin(t);
	whole = packet(17, 10);
	all = fx_chain(M_DATA, none);
	for (i = 0; i < 30; i++) {
		mp = allocb(1, BPRI_MED);
		*mp->b_wptr++ = whole->b_rptr[i];
		linkb(all, mp);
	}
	freemsg(whole);
	wire_input(lo, all, 0);
	T_EQ(counted(WIRE_NOPORT), 1);
	T_EQ(counted(WIRE_INBYTES), 30);
}

/* ------------------------------------------------------------------------ taps */

static struct dv a, b, third;

static int
tap(struct dv *d, const char *name, unsigned snap)
{
	struct ipw_tap want = {.snap = snap};

	snprintf(want.name, sizeof(want.name), "%s", name);
	T_EQ(dv_open(d, "ip", 0, CLONEOPEN), 0);
	return dv_str(d, IPW_TAP, &want, sizeof(want));
}

/* The next packet that came up at @d; its bytes are left in *@ret. */
static struct ipw_pkt
seen(struct dv *d, mblk_t **ret)
{
	struct ipw_pkt rec;

	dv_run(d);
	*ret = dv_up_type(d, M_DATA);
	T_NOTNULL(*ret);
	T_GE((*ret)->b_wptr - (*ret)->b_rptr, sizeof(rec));
	memcpy(&rec, (*ret)->b_rptr, sizeof(rec));
	(*ret)->b_rptr += sizeof(rec);
	T_EQ(msgdsize(*ret), rec.caplen);
	return rec;
}

static void
no_more_setopts(struct dv *d)
{
	freemsg(dv_up_type(d, M_SETOPTS));
}

T_CASE(a_tap_sees_what_comes_and_goes)
{
	struct ipw_pkt rec;
	mblk_t *mp, *pkt;
	uint64_t before;

	begin(t);
	T_EQ(tap(&a, "lo", 0), 0);
	no_more_setopts(&a);
	T_EQ(wire_tapped(lo), 1);
	before = host_now();
	wire_input(lo, packet(17, 12), 0);
	pkt = packet(17, 10);
	wire_tap(lo, pkt, 1);
	rec = seen(&a, &mp);
	T_EQ(rec.len, 32);
	T_EQ(rec.caplen, 32);
	T_EQ(rec.out, 0);
	T_EQ(rec.wire, 0);
	T_EQ(rec.drops, 0);
	T_GE(rec.time, before);
	T_LE(rec.time, host_now());
	T_EQ(mp->b_rptr[0], 0x45);
	freemsg(mp);
	rec = seen(&a, &mp);
	T_EQ(rec.len, 30);
	T_EQ(rec.out, 1);
	T_MEM(mp->b_rptr, pkt->b_rptr, 30);
	freemsg(mp);
	freemsg(pkt);
	dv_run(&a);
	T_NULL(dv_up(&a));
}

T_CASE(a_tap_cuts_to_its_length)
{
	struct ipw_pkt rec;
	mblk_t *mp, *pkt;

	begin(t);
	T_EQ(tap(&a, "", 28), 0);
	no_more_setopts(&a);
	pkt = packet(17, 0);
	linkb(pkt, fx_bytes(100, 0));
	wire_tap(lo, pkt, 1);
	freemsg(pkt);
	rec = seen(&a, &mp);
	T_EQ(rec.len, 120);
	T_EQ(rec.caplen, 28);
	freemsg(mp);
}

T_CASE(each_tap_sees_everything)
{
	mblk_t *mp, *pkt;

	begin(t);
	T_EQ(tap(&a, "lo", 0), 0);
	T_EQ(tap(&b, "", 0), 0);
	no_more_setopts(&a);
	no_more_setopts(&b);
	T_EQ(wire_tapped(lo), 1);
	T_EQ(lo->taps, 2);
	pkt = packet(17, 5);
	wire_tap(lo, pkt, 1);
	T_EQ(seen(&a, &mp).len, 25);
	freemsg(mp);
	T_EQ(seen(&b, &mp).len, 25);
	freemsg(mp);
	dv_close(&a);
	T_EQ(lo->taps, 1);
	wire_tap(lo, pkt, 1);
	T_EQ(seen(&b, &mp).len, 25);
	freemsg(mp);
	T_EQ(dv_str(&b, IPW_STOP, NULL, 0), 0);
	T_EQ(wire_tapped(lo), 0);
	wire_tap(lo, pkt, 1);
	dv_run(&b);
	T_NULL(dv_up(&b));
	freemsg(pkt);
}

T_CASE(a_tap_that_does_not_read_loses_and_says_so)
{
	struct ipw_pkt rec;
	mblk_t *mp, *pkt;
	unsigned i, n = 0;

	begin(t);
	T_EQ(tap(&a, "lo", 0), 0);
	no_more_setopts(&a);
	pkt = packet(17, 20);
	/* the module above is full at 100 bytes */
	for (i = 0; i < 20; i++)
		wire_tap(lo, pkt, 1);
	dv_run(&a);
	while ((mp = dv_up(&a)) != NULL) {
		freemsg(mp);
		n++;
		dv_run(&a);
	}
	T_GT(n, 0u);
	T_LT(n, 20u);
	wire_tap(lo, pkt, 1);
	rec = seen(&a, &mp);
	T_EQ(rec.drops, 20 - n);
	freemsg(mp);
	freemsg(pkt);
}

T_CASE(taps_that_cannot_be_are_refused)
{
	struct ipw_tap want = {.flags = 1};

	begin(t);
	T_EQ(tap(&a, "no-such-wire", 0), ENXIO);
	T_EQ(dv_str(&a, IPW_TAP, &want, sizeof(want)), EINVAL);
	T_EQ(dv_str(&a, IPW_TAP, &want, sizeof(want) - 1), EINVAL);
	want.flags = 0;
	memset(want.name, 'x', sizeof(want.name));
	T_EQ(dv_str(&a, IPW_TAP, &want, sizeof(want)), EINVAL);
	want.name[0] = '\0';
	want.name[15] = '\0';
	T_EQ(dv_str(&a, IPW_TAP, &want, sizeof(want)), 0);
	T_EQ(dv_str(&a, IPW_TAP, &want, sizeof(want)), EBUSY);
}

T_CASE(data_that_nobody_asked_for_is_refused)
{
	begin(t);
	T_EQ(dv_open(&a, "ip", 0, CLONEOPEN), 0);
	dv_strays(&a);
}

T_CASE(the_table_of_taps_is_full_of_the_living_only)
{
	struct ip_tap *tp;
	unsigned i;

	begin(t);
	T_EQ(tap(&a, "lo", 0), 0);
	tp = ip_shared()->tap;
	for (i = 1; i < IP_TAPS; i++) {
		tp[i] = tp[0];
		tp[i].rq = NULL;
	}
	T_EQ(tap(&b, "lo", 0), ENOSPC);
	tp[7].ref.sid++; /* a stream that is no more */
	T_EQ(tap(&third, "lo", 0), 0);
	T_TRUE(tp[7].rq == third.rq);
	for (i = 1; i < IP_TAPS; i++)
		if (i != 7)
			tp[i].gen++;
	dv_close(&third);
	T_EQ(lo->taps, 1);
}

T_CASE(wires_are_listed_with_their_counters)
{
	struct ipw_info in = {.index = 0};

	begin(t);
	wire_input(lo, packet(253, 50), 0);
	T_EQ(dv_open(&a, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str_get(&a, IPW_INFO, &in, sizeof(in), &in, sizeof(in)), 0);
	T_EQ(in.index, 0);
	T_STR(in.conf.name, "lo");
	T_EQ(in.conf.kind, IPW_LO);
	T_EQ(in.state, IPW_UP);
	T_EQ(in.count[WIRE_IN], 1);
	T_EQ(in.count[WIRE_NOPROTO], 1);
	in.index = 1;
	T_EQ(dv_str(&a, IPW_INFO, &in, sizeof(in)), ENXIO);
	in.index = 1u << 31;
	T_EQ(dv_str(&a, IPW_INFO, &in, sizeof(in)), ENXIO);
	T_EQ(dv_str(&a, IPW | 99, NULL, 0), EINVAL);
}

/* --------------------------------------------------------- routes, fragments */

static struct ipw_addr
net(const char *text, unsigned bits)
{
	struct ipw_addr ret = {.bits = (unsigned char)bits};
	unsigned v[4];

	if (strchr(text, ':') != NULL) { /* "fd77:N": the first word, the last */
		T_EQ(sscanf(text, "%x:%x", &v[0], &v[1]), 2);
		ret.len = 16;
		ret.b[0] = (unsigned char)(v[0] >> 8);
		ret.b[1] = (unsigned char)v[0];
		ret.b[15] = (unsigned char)v[1];
		return ret;
	}
	T_EQ(sscanf(text, "%u.%u.%u.%u", &v[0], &v[1], &v[2], &v[3]), 4);
	ret.len = 4;
	for (unsigned i = 0; i < 4; i++)
		ret.b[i] = (unsigned char)v[i];
	return ret;
}

static struct ip_addr
host(const char *text)
{
	struct ipw_addr from = net(text, 0);
	struct ip_addr ret = {.len = from.len};

	memcpy(ret.b, from.b, 16);
	return ret;
}

/* Wires as strwire(8) makes them, but for what is below them. */
static struct ip_wire *
fake(unsigned i, unsigned kind, struct ipw_addr own, struct ipw_addr route)
{
	struct ip_wire *w = &ip_shared()->wire[i];

	w->kind = kind;
	w->mtu = 1000 + i;
	w->state = IPW_UP;
	snprintf(w->name, sizeof(w->name), "w%u", i);
	w->conf.own[0] = own;
	w->conf.route[0] = route;
	w->gen = 1;
	lo->others++;
	return w;
}

static int
way(const char *dst, struct ip_addr *src)
{
	struct ip_addr to = host(dst);
	struct wire_path path = {.mtu = 0};
	struct wire *w;

	w = wire_route(lo, &to, NULL, &path);
	*src = path.src;
	if (w == NULL)
		return -1;
	T_EQ(path.mtu, w == lo ? 65535u :
		1000u + (unsigned)(ip_wire_of(w) - ip_shared()->wire));
	return (int)(ip_wire_of(w) - ip_shared()->wire);
}

T_CASE(the_longest_prefix_is_the_way)
{
	struct ip_addr src, own;

	begin(t);
	T_EQ(way("10.1.2.3", &src), -1); /* there is none */
	fake(1, IPW_TUN, net("10.1.0.2", 16), net("0.0.0.0", 0));
	fake(2, IPW_TUN, net("10.2.0.2", 16), net("10.1.2.0", 24));
	fake(3, IPW_RAW, net("192.0.2.1", 24), net("10.1.2.128", 25));
	fake(5, IPW_TUN, net("fd77:2", 64), net("fd78:0", 16));
	T_EQ(way("10.1.9.3", &src), 1);
	own = host("10.1.0.2");
	T_MEM(src.b, own.b, 4);
	T_EQ(way("10.1.2.3", &src), 2);
	own = host("10.2.0.2"); /* the only one that it has */
	T_MEM(src.b, own.b, 4);
	T_EQ(way("10.1.2.200", &src), 3);
	T_EQ(way("10.1.2.127", &src), 2);
	T_EQ(way("203.0.113.1", &src), 1);
	/* addresses of the wires' own stay here, but not the host's */
	T_EQ(way("10.2.0.2", &src), 0);
	own = host("10.2.0.2");
	T_MEM(src.b, own.b, 4);
	T_EQ(way("192.0.2.1", &src), 1);
	/* the other version has ways of its own */
	T_EQ(way("fd77:9", &src), 5);
	T_EQ(way("fd78:9", &src), 5);
	T_EQ(src.len, 16);
	T_EQ(way("fd79:9", &src), -1);
	/* one that is gone is none */
	ip_shared()->wire[2].gen = 2;
	T_EQ(way("10.1.2.3", &src), 1);
}

T_CASE(nothing_is_sent_on_a_wire_without_a_stream)
{
	struct ip_hdr h = {.src = {4, {10, 1, 0, 2}}, .dst = {4, {10, 1, 0, 3}},
		.proto = 253, .hlen = 20, .len = 4};
	struct ip_wire *w;
	mblk_t *mp;

	begin(t);
	w = fake(1, IPW_TUN, net("10.1.0.2", 16), net("0.0.0.0", 0));
	mp = packet(253, 4);
	T_EQ(wire_send(&w->pub, mp, &h), ENETDOWN);
	w->gen = 2;
	T_EQ(wire_send(&w->pub, mp, &h), ENETDOWN);
	freemsg(mp); /* it is the caller's still */
}

/* What comes on wire 1, which has 10.1.0.2/16: how it is counted. */
static uint64_t
comes(const char *src, const char *dst, unsigned what)
{
	struct ip_wire *w = &ip_shared()->wire[1];
	struct ip_hdr h = {.src = host(src), .dst = host(dst), .proto = 253,
		.ttl = 64, .len = 4};
	uint64_t was = ip_counted(w, what);
	mblk_t *mp = allocb(64, BPRI_MED);

	mp->b_rptr += 40;
	mp->b_wptr = mp->b_rptr + 4;
	memset(mp->b_rptr, 0, 4);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	wire_input(&w->pub, mp, 0);
	return ip_counted(w, what) - was;
}

/* RFC 1191 s8: a member that has not sent it is told nothing */
T_CASE(a_narrower_path_is_not_believed_of_what_nobody_has_sent)
{
	struct ip_hdr q = {.src = {4, {10, 1, 0, 2}}, .dst = {4, {10, 1, 9, 9}},
		.proto = 17, .ttl = 9, .df = 1, .len = 1400, .id = 7};
	struct ip_hdr h = {.src = {4, {10, 1, 0, 1}}, .dst = {4, {10, 1, 0, 2}},
		.proto = P_ICMP, .ttl = 64, .len = 8 + 28};
	struct ip_addr dst = q.dst;
	struct wire_path path;
	struct ip_wire *w;
	unsigned char *p;
	uint16_t sum;
	mblk_t *mp;

	begin(t);
	w = fake(1, IPW_TUN, net("10.1.0.2", 16), net("0.0.0.0", 0));
	w->mtu = 1500;
	mp = allocb(IP_ROOM + h.len, BPRI_MED);
	p = mp->b_rptr = mp->b_wptr = mp->b_rptr + IP_ROOM;
	mp->b_wptr += h.len;
	memset(p, 0, h.len);
	p[0] = 3; /* fragmentation needed, 600 bytes */
	p[1] = 4;
	p[6] = 600 >> 8;
	p[7] = 600 & 0xff;
	(void)ip_build(p + 28, &q, NULL, 0);
	p[29] = p[31] = 77; /* of a port that is free */
	sum = ip_fold(ip_sum(p, h.len, 0, 0));
	p[2] = (unsigned char)(sum >> 8);
	p[3] = (unsigned char)sum;
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	wire_input(&w->pub, mp, 0);
	T_EQ(ip_counted(w, WIRE_IN), 1);
	T_EQ(ip_counted(w, WIRE_BAD + IP_CKSUM), 0);
	T_EQ(ip_counted(w, WIRE_PMTU), 0);
	T_TRUE(wire_route(lo, &dst, NULL, &path) == &w->pub);
	T_EQ(path.mtu, 1500);
	/* what has been learned is what who sends is told */
	T_EQ(ip_pmtu_learn(&ip_shared()->pmtu, &dst, 600, 1420, 1500,
		host_now()), 1);
	T_TRUE(wire_route(lo, &dst, NULL, &path) == &w->pub);
	T_EQ(path.mtu, 600);
}

T_CASE(what_is_not_for_a_wire_is_not_taken)
{
	begin(t);
	fake(1, IPW_TUN, net("10.1.0.2", 16), net("0.0.0.0", 0));
	T_EQ(comes("10.1.0.3", "10.1.0.2", WIRE_NOPROTO), 1);
	T_EQ(comes("10.1.0.3", "10.1.0.4", WIRE_BAD + IP_ADDR), 1);
	T_EQ(comes("127.0.0.1", "10.1.0.2", WIRE_BAD + IP_ADDR), 1);
	T_EQ(comes("10.1.0.2", "10.1.0.2", WIRE_BAD + IP_ADDR), 1);
	T_EQ(comes("10.1.0.3", "10.1.255.255", WIRE_NOPROTO), 1);
	T_EQ(comes("10.1.0.3", "255.255.255.255", WIRE_NOPROTO), 1);
	T_EQ(comes("10.1.0.3", "224.0.0.9", WIRE_NOPROTO), 1);
	T_EQ(comes("fd77:1", "fd77:2", WIRE_BAD + IP_ADDR), 1);
}

/* Bytes @off to @off + @len of a packet of 100, on lo. */
static void
fragment(uint16_t id, uint32_t off, uint32_t len)
{
	struct ip_hdr h = {
		.src = {4, {127, 0, 0, 1}}, .dst = {4, {127, 0, 0, 2}},
		.proto = 253, .ttl = 64, .id = id, .frag = off, .len = len,
		.more = off + len < 100,
	};
	mblk_t *mp = allocb(IP_ROOM + len, BPRI_MED);

	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + len;
	memset(mp->b_rptr, 'x', len);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	wire_input(lo, mp, 0);
}

T_CASE(fragments_become_a_packet)
{
	begin(t);
	fragment(9, 0, 64); /* memory for one comes, and stays */
	fragment(9, 64, 36);
	fx_keep();
	T_EQ(counted(WIRE_REASM), 2);
	T_EQ(counted(WIRE_REASMOK), 1);
	T_EQ(counted(WIRE_NOPROTO), 1);
	fragment(10, 64, 36);
	T_EQ(counted(WIRE_NOPROTO), 1);
	fragment(10, 0, 64);
	T_EQ(counted(WIRE_NOPROTO), 2);
	T_EQ(counted(WIRE_REASMFAIL), 0);
	fragment(11, 0, 64);
	fragment(11, 56, 44); /* it overlaps, with other bytes or not */
	T_EQ(counted(WIRE_REASMFAIL), 1);
	T_EQ(counted(WIRE_NOPROTO), 2);
	fragment(11, 64, 36);
	T_EQ(counted(WIRE_NOPROTO), 2);
}

T_CASE(fragments_go_when_their_time_is_over)
{
	unsigned i;

	begin(t);
	fragment(1, 0, 64);
	fragment(1, 64, 36);
	fx_keep(); /* slots stay */
	T_EQ(counted(WIRE_REASMOK), 1);
	for (i = 0; i < 50; i++)
		fragment((uint16_t)i, 0, 64);
	T_EQ(counted(WIRE_REASMFAIL), 0);
	fragment(49, 64, 36);
	T_EQ(counted(WIRE_REASMOK), 2);
	T_EQ(ip_shared()->reasm.bytes, 49 * (sizeof(struct ip_slot) +
		sizeof(struct ip_part) + 20 + 64));
	sim_advance(31000000000ull);
	ip_expire(ip_shared());
	T_EQ(counted(WIRE_REASMFAIL), 49);
	T_EQ(ip_shared()->reasm.bytes, 0);
}

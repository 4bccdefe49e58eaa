/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires of frames: what is sent where, and in which order.  The interface, and
 * the stations behind it, are the test.
 */
#include "packetfix.h"

T_CASE(what_waits_for_a_station_goes_first)
{
	begin(t);
	send_to(2, 1);
	send_to(2, 2);
	T_EQ(nids, 0);
	T_EQ(nasked, 1);
	T_EQ(asked[0], 2);
	answers(2);
	send_to(2, 3); /* before anybody has come to send the others */
	dv_run(&a_stream);
	T_EQ(nids, 3);
	T_EQ(ids[0], 1);
	T_EQ(ids[1], 2);
	T_EQ(ids[2], 3);
	send_to(2, 4); /* and nothing waits any more */
	T_EQ(nids, 4);
	T_EQ(WR(w->rq)->q_count, 0);
}

T_CASE(who_is_not_there_holds_nobody_up)
{
	begin(t);
	send_to(2, 1);
	send_to(3, 2);
	send_to(2, 3);
	send_to(3, 4);
	dv_run(&a_stream);
	T_EQ(nids, 0);
	answers(3);
	send_to(3, 5);
	dv_run(&a_stream);
	T_EQ(nids, 3);
	T_EQ(ids[0], 2);
	T_EQ(ids[1], 4);
	T_EQ(ids[2], 5);
	send_to(3, 6);
	T_EQ(nids, 4); /* though others wait for station 2 */
	send_to(2, 7);
	answers(2);
	dv_run(&a_stream);
	T_EQ(nids, 7);
	T_EQ(ids[4], 1);
	T_EQ(ids[5], 3);
	T_EQ(ids[6], 7);
}

/* Each is asked for once, and what waits for it goes when it answers. */
static void
peers(unsigned n, unsigned each)
{
	unsigned i, k;

	for (k = 0; k < each; k++)
		for (i = 0; i < n; i++)
			send_to(2 + i, 2 + i);
	T_EQ(nids, 0);
	T_EQ(nasked, n);
	for (i = 0; i < n; i++)
		T_EQ(asked[i], 2 + i);
	for (i = 0; i < n; i++) {
		answers(2 + i);
		T_EQ(nids, (i + 1) * each);
		T_EQ(ids[nids - 1], 2 + i);
	}
	for (i = 0; i < n; i++)
		send_to(2 + i, 2 + i);
	T_EQ(nids, n * (each + 1));
	T_EQ(nasked, n);
	T_EQ(counted(WIRE_FULL), 0);
}

T_CASE(each_of_many_stations_is_asked_for_once)
{
	begin(t);
	peers(150, 20);
}

T_CASE(four_thousand_stations_are_behind_a_wire)
{
	begin(t);
	peers(4096, 2);
}

/* RFC 1122 s2.3.2.1, RFC 4861 s7.2.2: at most once a second, and three times */
T_CASE(a_station_that_does_not_answer_is_given_up)
{
	uint64_t before;
	unsigned i;

	begin(t);
	ticks(20);
	before = fx_messages();
	for (i = 0; i < 5; i++)
		send_to(9, i);
	T_EQ(nasked, 1);
	ticks(1);
	send_to(9, 5);
	T_EQ(nasked, 1);
	ticks(1);
	T_EQ(nasked, 2);
	ticks(1);
	T_EQ(nasked, 2);
	ticks(1);
	T_EQ(nasked, 3);
	T_EQ(counted(WIRE_FULL), 0);
	ticks(3);
	T_EQ(nasked, 3);
	T_EQ(nids, 0);
	T_EQ(counted(WIRE_FULL), 6);
	T_EQ(fx_messages(), before);
	/* and the next packet begins again */
	send_to(9, 7);
	T_EQ(nasked, 4);
	answers(9);
	T_EQ(nids, 1);
	T_EQ(ids[0], 7);
}

/* RFC 4861 s7.3: stations that are used are asked again, one by one. */
T_CASE(a_station_that_went_away_is_noticed)
{
	unsigned i;

	begin(t);
	ticks(20);
	send_to(9, 1);
	answers(9);
	T_EQ(nids, 1);
	T_EQ(nasked, 1);
	/* after 45 s at most it may have changed; used, it is asked 5 s later */
	for (i = 0; i < 200 && nasked < 4; i++) {
		send_to(9, 2);
		ticks(1);
	}
	T_EQ(nasked, 4);
	T_GE(i, 40u);
	T_LE(i, 106u);
	T_EQ(nids, 1 + i);
	ticks(2);
	send_to(9, 3); /* to all again; it waits */
	T_EQ(nasked, 5);
	T_EQ(nids, 1 + i);
	answers(9);
	T_EQ(nids, 2 + i);
}

T_CASE(packets_wait_for_a_full_interface)
{
	begin(t);
	ticks(20);
	send_to(9, 1);
	send_to(9, 2);
	full = 1;
	answers(9);
	T_EQ(nids, 0);
	full = 0;
	send_to(9, 3);
	T_EQ(nids, 3);
	T_EQ(ids[0], 1);
	T_EQ(ids[2], 3);
}

/* RFC 1122 s2.3.2.2: the last packets are kept */
T_CASE(few_bytes_wait_for_one_station)
{
	enum { N = 4000 };
	unsigned i;

	begin(t);
	for (i = 0; i < N; i++)
		send_to(9, i);
	T_GT(counted(WIRE_FULL), 0u);
	answers(9);
	T_EQ(nids, N - counted(WIRE_FULL));
	T_EQ(nids, 65536 / 24);
	T_EQ(ids[nids - 1], N - 1);
}

/* Two seconds pass, in which reports of groups are sent. */
static void
reports_are_sent(void)
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		sim_advance(500000000u);
		ip_listen_tick(w);
	}
}

/* A query of IGMP comes, of @n bytes at @p. */
static void
queried(const char *p, size_t n)
{
	struct ip_hdr h = {.src = host(9), .dst = {4, {224, 0, 0, 1}},
		.proto = 2, .ttl = 1, .len = (uint32_t)n};

	memset(in[nin].b, 0, 32);
	memcpy(in[nin].b + 20, p, n);
	(void)ip_build(in[nin].b + 20, &h, NULL, 0);
	in[nin].n = 20 + n;
	in[nin].type = PACKET_MULTICAST;
	in[nin++].proto = ETH_P_IP;
	(void)ip_lower_input(w);
}

/* RFC 3376 s5: routers are told of groups, twice, and when they ask */
T_CASE(groups_are_reported)
{
	struct wire_group how = {.group = {4, {239, 1, 2, 3}},
		.own = {4, {10, 1, 0, 1}}};
	struct str_ref ref;

	begin(t);
	str_ref(a_stream.rq, &ref);
	T_EQ(wire_group(wire_lo(), &ref, &how, 1), 0);
	dv_run(&a_stream);
	reports_are_sent();
	T_EQ(nreports, 2);
	T_EQ(nreports6, 2); /* the group of its IPv6 address */
	T_EQ(last[32], 4);
	T_MEM(last + 36, how.group.b, 4);
	T_MEM(to_mac, "\1\0\136\0\0\26", 6);
	/* a query, for an answer within 2 s */
	queried("\21\24\356\353\0\0\0\0\0\0\0", 12);
	reports_are_sent();
	T_EQ(nreports, 3);
	T_EQ(last[32], 2);
	T_EQ(wire_group(wire_lo(), &ref, &how, 0), 0);
	dv_run(&a_stream);
	reports_are_sent();
	T_EQ(nreports, 5);
	T_EQ(last[32], 3);
}

/* RFC 3376 s7.2.1 */
T_CASE(reports_have_the_form_that_the_oldest_router_reads)
{
	struct wire_group how = {.group = {4, {239, 1, 2, 3}},
		.own = {4, {10, 1, 0, 1}}};
	struct str_ref ref;
	unsigned i;

	begin(t);
	str_ref(a_stream.rq, &ref);
	queried("\21\0\356\377\0\0\0\0", 8);	 /* IGMPv1 */
	queried("\21\24\356\353\0\0\0\0", 8); /* IGMPv2 */
	T_EQ(wire_group(wire_lo(), &ref, &how, 1), 0);
	dv_run(&a_stream);
	reports_are_sent();
	T_EQ(nreports, 2);
	T_EQ(last[24], 0x12);
	T_MEM(to_mac, "\1\0\136\1\2\3", 6);
	T_EQ(wire_group(wire_lo(), &ref, &how, 0), 0);
	dv_run(&a_stream);
	reports_are_sent();
	T_EQ(nreports, 2); /* IGMPv1 has no message for it */
	/* the router of IGMPv1 has gone, and the other one still asks */
	for (i = 0; i < 2 * 250; i++)
		sim_advance(500000000u);
	queried("\21\24\356\353\0\0\0\0", 8);
	for (i = 0; i < 2 * 11; i++)
		sim_advance(500000000u);
	T_EQ(wire_group(wire_lo(), &ref, &how, 1), 0);
	dv_run(&a_stream);
	reports_are_sent();
	T_EQ(nreports, 4);
	T_EQ(last[24], 0x16);
}

/* ------------------------------------------------------------ own addresses */

/* A message of ARP about the wire's address, from another station. */
static void
other(int ask, const char *sender, const char *target)
{
	unsigned char mac[6] = {2, 0, 0, 0, 0, 7};
	struct ip_addr from = {4, {0}}, to = {4, {0}};

	memcpy(from.b, sender, 4);
	memcpy(to.b, target, 4);
	in[nin].n = arp_build(in[nin].b, ask, &from, mac, &to, mac);
	in[nin++].proto = ETH_P_ARP;
	(void)ip_lower_input(w);
}

/* RFC 5227 s2.1.1, s2.3 */
T_CASE(an_address_is_probed_and_announced)
{
	struct ip_addr a = host(1);

	begin(t);
	ticks(20);
	T_EQ(nprobes, 3);
	T_EQ(nannounced, 2);
	T_TRUE(ip_is_own(w, &a));
}

static void
given_up(struct t *t, int ask, const char *sender)
{
	struct ip_addr a = host(1);

	begin(t);
	ticks(3);
	T_GT(nprobes, 0u);
	other(ask, sender, OURS);
	T_FALSE(ip_is_own(w, &a));
	T_EQ(w->error, EADDRINUSE);
	T_FALSE(ip_own_for(w, &a, &a));
	ticks(20);
	T_EQ(nannounced, 0);
}

T_CASE(an_address_of_another_station_is_given_up)
{
	given_up(t, 0, OURS);
}

T_CASE(an_address_that_another_station_probes_is_given_up)
{
	given_up(t, 1, "\0\0\0\0");
}

/* RFC 5227 s2.4 */
T_CASE(an_address_is_defended)
{
	struct ip_addr a = host(1);

	begin(t);
	ticks(20);
	other(1, "\0\0\0\0", OURS); /* an answer, not an announcement */
	T_EQ(nannounced, 2);
	T_EQ(asked[nasked - 1], 0);
	other(0, OURS, OURS);
	T_EQ(nannounced, 3);
	other(0, OURS, OURS);
	T_EQ(nannounced, 3);
	ticks(21);
	other(0, OURS, OURS);
	T_EQ(nannounced, 4);
	T_TRUE(ip_is_own(w, &a));
}

/* A message about the wire's IPv6 address, from another station. */
static void
other6(int ask, const struct ip_addr *src, const struct ip_addr *dst)
{
	unsigned char mac[6] = {2, 0, 0, 0, 0, 7};
	struct ip_addr us = {16, {0xfd, [15] = 1}};

	in[nin].n = ndp_build(in[nin].b, ask, src, mac, dst, &us);
	memcpy(in[nin].from, mac, 6);
	in[nin++].proto = ETH_P_IPV6;
	(void)ip_lower_input(w);
}

/* RFC 4862 s5.4.3, s5.4.4; RFC 4861 s7.2.4 */
T_CASE(an_ipv6_address_is_defended_and_given_up)
{
	struct ip_addr us = {16, {0xfd, [15] = 1}}, none = {16, {0}}, group;
	struct ip_addr all = {16, {0xff, 2, [15] = 1}};

	begin(t);
	ndp_group(&us, &group);
	ticks(20);
	T_TRUE(ip_is_own(w, &us));
	T_EQ(nprobes6, 1);
	T_EQ(nannounced6, 2);
	/* it is held: another station that asks gets an answer, for all */
	other6(1, &none, &group);
	T_EQ(last6[40], 136);
	T_EQ(last6[44], 0x20);
	T_MEM(last6 + 24, all.b, 16);
	other6(0, &us, &all);
	T_TRUE(ip_is_own(w, &us));
	/* while it is probed, each of these shows that it is another's */
	memset(w->claim, 0, sizeof(w->claim));
	ticks(3);
	other6(1, &none, &group);
	T_FALSE(ip_is_own(w, &us));
	T_EQ(w->error, EADDRINUSE);
	memset(w->claim, 0, sizeof(w->claim));
	w->lost = 0;
	ticks(3);
	other6(0, &us, &all);
	T_FALSE(ip_is_own(w, &us));
}

/* ------------------------------------------------------------------------ taps */

static struct dv tap;

/* The next packet that the tap shows: its kind, direction and @at-th byte. */
static void
shows(int what, int out, int at, int is)
{
	struct ipw_pkt rec;
	mblk_t *mp;

	dv_run(&tap);
	while ((mp = dv_up_type(&tap, M_DATA)) != NULL) {
		memcpy(&rec, mp->b_rptr, sizeof(rec));
		T_EQ(rec.wire, 1);
		T_EQ(rec.what, what);
		T_EQ(rec.out, out);
		T_EQ(rec.caplen, rec.len);
		T_EQ(msgdsize(mp), (int)(sizeof(rec) + rec.len));
		T_EQ(mp->b_rptr[(int)sizeof(rec) + at], is);
		freemsg(mp);
		return;
	}
	T_FAIL("nothing is shown");
}

T_CASE(a_tap_shows_requests_and_answers_in_order)
{
	struct ip_addr us = {16, {0xfd, [15] = 1}}, group;
	struct ip_addr them = {16, {0xfd, [15] = 7}};
	struct ipw_tap want = {.name = "p0"};
	int i;

	begin(t);
	ticks(20);
	for (i = 0; i < 10; i++) { /* all reports of groups have been sent */
		sim_advance(500000000u);
		ip_listen_tick(w);
	}
	T_EQ(dv_open(&tap, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&tap, IPW_TAP, &want, sizeof(want)), 0);
	freemsg(dv_up_type(&tap, M_SETOPTS));
	send_to(2, 1);
	shows(IPW_IS_ARP, 1, 7, 1);
	shows(IPW_IS_IP, 1, 9, 253);
	answers(2);
	shows(IPW_IS_ARP, 0, 7, 2);
	other(1, "\12\1\0\7", OURS);
	shows(IPW_IS_ARP, 0, 7, 1);
	shows(IPW_IS_ARP, 1, 7, 2);
	ndp_group(&us, &group);
	other6(1, &them, &group);
	shows(IPW_IS_IP, 0, 40, 135);
	shows(IPW_IS_IP, 1, 40, 136);
	full = 1; /* what the interface does not take is not shown */
	other(1, "\12\1\0\7", OURS);
	shows(IPW_IS_ARP, 0, 7, 1);
	dv_run(&tap);
	T_NULL(dv_up(&tap));
}

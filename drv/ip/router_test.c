/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Which router gets a packet: RFC 1122 s3.3.1, s3.2.2.2.
 */
#include "packetfix.h"

static const struct ip_addr far = {4, {10, 9, 1, 1}};
static const struct ip_addr farther = {4, {10, 9, 9, 1}};
static const struct ip_addr other_net = {4, {10, 77, 0, 1}};

static void
routers(struct ipw_conf *c)
{
	static const struct ipw_addr net = {4, 16, {0, 0}, {10, 9}};
	static const struct ipw_addr part = {4, 24, {0, 0}, {10, 9, 9}};
	unsigned i;

	c->route[0] = c->route[1] = net;
	c->route[2] = part;
	for (i = 0; i < 3; i++) {
		c->via[i] = (struct ipw_addr){4, 32, {0, 0}, {10, 1, 0,
			(unsigned char)(50 + i)}};
		c->metric[i] = 20 - i; /* the second is better */
	}
	c->gateway[0] = (struct ipw_addr){4, 32, {0, 0}, {10, 1, 0, 53}};
}

static void
begin_with_routers(struct t *t)
{
	configure = routers;
	begin(t);
	ticks(20);
}

static void
send_far(const struct ip_addr *dst, unsigned id)
{
	struct ip_hdr h = {.src = host(1), .dst = *dst, .proto = 253,
		.ttl = 64, .len = 8, .id = id};
	mblk_t *mp = allocb(64, BPRI_MED);

	mp->b_rptr += 40;
	mp->b_wptr = mp->b_rptr + 8;
	memset(mp->b_rptr, 0, 8);
	h.hlen = (uint16_t)ip_build(mp->b_rptr, &h, NULL, 0);
	mp->b_rptr -= h.hlen;
	T_EQ(wire_send(&w->pub, mp, &h), 0);
}

T_CASE(the_longest_prefix_and_the_least_metric_choose)
{
	begin_with_routers(t);
	send_far(&far, 1);
	T_EQ(asked[nasked - 1], 51);
	send_far(&farther, 2);
	T_EQ(asked[nasked - 1], 52);
	send_far(&other_net, 3);
	T_EQ(asked[nasked - 1], 53);
	T_EQ(nasked, 3);
	answers(51);
	answers(52);
	answers(53);
	T_EQ(nids, 3);
	send_to(9, 4); /* no router */
	T_EQ(asked[nasked - 1], 9);
}

/* RFC 1122 s3.3.1.4, s3.3.1.5 */
T_CASE(a_router_that_is_dead_is_left_out)
{
	unsigned i;

	begin_with_routers(t);
	send_far(&far, 1);
	T_EQ(asked[nasked - 1], 51);
	for (i = 0; i < 10 && asked[nasked - 1] == 51; i++)
		ticks(1);
	/* the packet that waited takes the other way */
	T_EQ(asked[nasked - 1], 50);
	answers(50);
	T_EQ(nids, 1);
	T_EQ(ids[0], 1);
	send_far(&far, 2);
	T_EQ(nids, 2);
	T_EQ(counted(WIRE_FULL), 0);
	/* and after half a minute it may be there again */
	ticks(61);
	send_far(&far, 3);
	T_EQ(asked[nasked - 1], 51);
	/* if there is no other one the packet is lost */
	send_far(&other_net, 4);
	T_EQ(asked[nasked - 1], 53);
	ticks(8);
	T_EQ(counted(WIRE_FULL), 1);
}

/* Host @from redirects packets to @dst to host @to. */
static void
redirects(unsigned from, const struct ip_addr *dst, unsigned to, int off_link)
{
	struct ip_hdr h = {.src = host(from), .dst = host(1), .ttl = 64,
		.proto = P_ICMP, .len = 8 + 28};
	struct ip_hdr q = {.src = host(1), .dst = *dst, .proto = 253,
		.ttl = 63, .len = 8};
	unsigned char *p = in[nin].b + 20;
	struct ip_addr router = host(to);
	uint32_t sum;

	if (off_link)
		router.b[1] = 2;
	memset(p, 0, 8 + 28);
	p[0] = 5;
	p[1] = 1;
	memcpy(p + 4, router.b, 4);
	(void)ip_build(p + 8 + 20, &q, NULL, 0);
	sum = ip_fold(ip_sum(p, 8 + 28, 0, 0));
	p[2] = (unsigned char)(sum >> 8);
	p[3] = (unsigned char)sum;
	(void)ip_build(p, &h, NULL, 0);
	in[nin].n = 20 + 8 + 28;
	in[nin++].proto = ETH_P_IP;
	(void)ip_lower_input(w);
}

T_CASE(only_the_present_router_redirects)
{
	begin_with_routers(t);
	send_far(&far, 1);
	answers(51);
	T_EQ(nids, 1);
	redirects(50, &far, 60, 0);	  /* another host */
	redirects(51, &farther, 60, 0);	  /* which was not sent */
	redirects(51, &far, 60, 1);	  /* to another network */
	redirects(51, &far, 1, 0);	  /* to us */
	send_far(&far, 2);
	T_EQ(nids, 2);
	T_EQ(nasked, 1);
	redirects(51, &far, 60, 0);
	send_far(&far, 3);
	T_EQ(asked[nasked - 1], 60);
	answers(60);
	T_EQ(nids, 3);
	/* others go as before */
	send_far(&farther, 4);
	T_EQ(asked[nasked - 1], 52);
}

T_CASE(a_packet_does_not_go_round_between_dead_routers)
{
	begin_with_routers(t);
	send_far(&far, 1);
	T_EQ(asked[nasked - 1], 51);
	ticks(30); /* neither answers, and the gateway does not */
	T_EQ(counted(WIRE_FULL), 1);
	T_EQ(nids, 0);
	T_EQ(nasked, 9);
	ticks(30);
	T_EQ(nasked, 9);
	send_far(&far, 2); /* another attempt */
	T_EQ(nasked, 10);
}

/* RFC 4861 s7.3.3: a router that is used and does not answer any more */
T_CASE(a_router_that_went_away_is_left_out)
{
	unsigned i;

	begin_with_routers(t);
	send_far(&far, 1);
	answers(51);
	for (i = 0; i < 200 && asked[nasked - 1] == 51; i++) {
		send_far(&far, 2);
		ticks(1);
	}
	T_EQ(asked[nasked - 1], 50);
	answers(50);
	T_EQ(nids, i + 1); /* none was lost here */
	T_EQ(counted(WIRE_FULL), 0);
}

T_CASE(a_dead_router_redirects_no_more)
{
	unsigned i;

	begin_with_routers(t);
	send_far(&far, 1);
	answers(51);
	redirects(51, &far, 60, 0);
	send_far(&far, 2);
	T_EQ(asked[nasked - 1], 60);
	for (i = 0; i < 10 && nids == 1; i++)
		ticks(1);
	T_EQ(nids, 2); /* by the first router again */
	T_EQ(ids[1], 2);
}

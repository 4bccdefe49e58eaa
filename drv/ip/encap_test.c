/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires inside of UDP, as RFC 6951 has it: trains, headers, ports.  The kernel's
 * socket is the test.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include "../drvfix.h"
#include "ip_impl.h"

extern const struct str_builtin str_drv_ip;

#define PROTO 254
#define MOST 100u

static struct dv a, once;
static struct ip_wire *w;

/* What the socket was given. */
static struct {
	uint32_t bytes, seg, pieces, ctllen;
	uint16_t port;
	unsigned char to[16];
} sent_[MOST];
static unsigned nsent;
static int no_trains; /* the interface cannot send them */

/* What it gives: one datagram or train. */
static struct {
	const char *data;
	uint32_t n, seg;
	uint16_t port;
} in;

static long
sent(const struct ksock_msg *m)
{
	const struct sockaddr_in6 *to = m->km_addr;
	uint32_t i, n = 0;

	if (no_trains && m->km_gso != 0)
		return -1;
	for (i = 0; i < m->km_iovlen; i++)
		n += (uint32_t)m->km_iov[i].iov_len;
	T_TRUE(nsent < MOST);
	sent_[nsent].bytes = n;
	sent_[nsent].seg = m->km_gso;
	sent_[nsent].pieces = m->km_iovlen;
	sent_[nsent].ctllen = m->km_ctllen;
	sent_[nsent].port = ntohs(to->sin6_port);
	memcpy(sent_[nsent++].to, &to->sin6_addr, 16);
	return 0;
}

static void
put_mapped(struct in6_addr *to, unsigned last)
{
	memset(to, 0, sizeof(*to));
	to->s6_addr[10] = to->s6_addr[11] = 0xff;
	to->s6_addr[12] = 10;
	to->s6_addr[15] = (unsigned char)last;
}

static long
received(struct ksock_msg *m)
{
	struct in6_pktinfo info = {.ipi6_ifindex = 3};
	struct sockaddr_in6 *from = m->km_addr;
	struct cmsghdr *c = m->km_ctl;

	if (in.data == NULL)
		return -1;
	memset(from, 0, sizeof(*from));
	from->sin6_family = AF_INET6;
	from->sin6_port = htons(in.port);
	put_mapped(&from->sin6_addr, 9);
	put_mapped(&info.ipi6_addr, 1);
	c->cmsg_len = CMSG_LEN(sizeof(info));
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	m->km_ctllen = CMSG_SPACE(sizeof(info));
	T_TRUE(m->km_iov[0].iov_len >= in.n);
	memcpy(m->km_iov[0].iov_base, in.data, in.n);
	m->km_len = in.n;
	m->km_gso = (uint16_t)in.seg;
	in.data = NULL;
	return 0;
}

/* The transport above. */
static unsigned got;
static struct ip_hdr seen;
static char text[64];

static int
test_input(struct wire *from, mblk_t *pkt, const struct ip_hdr *h,
	unsigned int flags)
{
	(void)from, (void)flags;
	got++;
	seen = *h;
	memset(text, 0, sizeof(text));
	memcpy(text, pkt->b_rptr + h->hlen,
		h->len < sizeof(text) ? h->len : sizeof(text) - 1);
	return 1;
}

static const struct wire_proto test_wire = {
	.proto = PROTO,
	.input = test_input,
};
STR_WIRE_PROTO(test_wire);

static const struct ip_addr own = {4, {10, 0, 0, 1}};
static const struct ip_addr there = {4, {10, 0, 0, 9}};
static const struct ip_addr six = {16, {0xfd, [15] = 9}};

static const struct ipw_conf conf = {.name = "u0", .kind = IPW_ENCAP,
	.proto = {PROTO}, .route = {{4, 0, {0, 0}, {0}}, {16, 0, {0, 0}, {0}}}};

/* Receivers may make what all their streams share. */
static void
receivers_begin(void)
{
	struct ip_hdr h = {.src = {4, {127, 0, 0, 1}},
		.dst = {4, {127, 0, 0, 1}}, .proto = PROTO, .ttl = 64,
		.len = 4};
	mblk_t *mp = allocb(64, BPRI_MED);

	mp->b_rptr += 40;
	mp->b_wptr = mp->b_rptr + 4;
	memset(mp->b_rptr, 0, 4);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	wire_input(wire_lo(), mp, 0);
	got = 0;
}

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_ip);
	nsent = got = 0;
	no_trains = 0;
	in.data = NULL;
	sim_sock(sent, received);
	T_NOTNULL(wire_lo());
	receivers_begin();
	T_EQ(dv_open(&once, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&once, IPW_ADD, &conf, sizeof(conf)), 0);
	dv_close(&once);
	fx_close(&once.pipe, 0);
	fx_close(&once.pipe, 1);
	(void)str_region_sweep();
	fx_keep();
	T_EQ(dv_open(&a, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&a, IPW_ADD, &conf, sizeof(conf)), 0);
	w = &ip_shared()->wire[1];
	T_STR(w->name, "u0");
}

static mblk_t *
packet(const struct ip_addr *to, uint32_t len, struct ip_hdr *h)
{
	mblk_t *mp = allocb(IP_ROOM + len, BPRI_MED);

	memset(h, 0, sizeof(*h));
	h->dst = *to;
	h->src = *to;
	if (to->len == 4)
		h->src = own;
	h->proto = PROTO;
	h->ttl = 64;
	h->df = 1;
	h->len = len;
	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + len;
	memset(mp->b_rptr, 'x', len);
	h->hlen = (uint16_t)ip_build(mp->b_rptr, h, NULL, 0);
	mp->b_rptr -= h->hlen;
	return mp;
}

static uint64_t
counted(unsigned what)
{
	return ip_counted(w, what);
}

T_CASE(it_carries_its_protocol_only)
{
	struct wire_path path;
	struct wire *lo;

	begin(t);
	lo = wire_lo();
	T_TRUE(wire_route_for(lo, &there, NULL, PROTO, &path) == &w->pub);
	T_EQ(path.src.len, 0); /* the host's */
	T_EQ(path.mtu, 1492);
	T_TRUE(wire_route_for(lo, &six, NULL, PROTO, &path) == &w->pub);
	T_NULL(wire_route_for(lo, &there, NULL, 17, &path));
	T_NULL(wire_route(lo, &there, NULL, &path));
}

T_CASE(a_packet_is_sent_without_its_ip_header)
{
	struct ip_hdr h;
	mblk_t *mp;

	begin(t);
	mp = packet(&there, 100, &h);
	T_EQ(wire_send(&w->pub, mp, &h), 0);
	T_EQ(nsent, 1);
	T_EQ(sent_[0].bytes, 100);
	T_EQ(sent_[0].seg, 0);
	T_EQ(sent_[0].port, IPW_ENCAP_PORT);
	T_EQ(sent_[0].to[11], 0xff);
	T_EQ(sent_[0].to[15], 9);
	T_TRUE(sent_[0].ctllen > 0);
	mp = packet(&six, 50, &h);
	h.encap = 4711;
	T_EQ(wire_send(&w->pub, mp, &h), 0);
	T_EQ(sent_[1].bytes, 50);
	T_EQ(sent_[1].port, 4711);
	T_EQ(sent_[1].to[0], 0xfd);
	T_EQ(counted(WIRE_OUT), 2);
	T_EQ(counted(WIRE_OUTBYTES), 100 + 20 + 50 + 40);
}

/* Send packets to @to of these lengths, 0 at the end. */
static uint32_t
send_all(const struct ip_addr *to, const uint32_t *len, int *ret_err)
{
	struct ip_hdr h[MOST];
	struct wire_pkt v[MOST];
	uint32_t n, sent;

	for (n = 0; len[n] != 0; n++) {
		v[n].mp = packet(to, len[n], &h[n]);
		v[n].h = &h[n];
	}
	sent = wire_send_batch(&w->pub, v, n, ret_err);
	while (n > sent)
		freemsg(v[--n].mp);
	return sent;
}

/* Another socket than the wire's would have any port. */
T_CASE(nothing_is_sent_before_the_socket_is_bound)
{
	struct ip_hdr h;
	mblk_t *mp;

	begin(t);
	w->state = IPW_DOWN;
	mp = packet(&there, 100, &h);
	T_EQ(wire_send(&w->pub, mp, &h), ENETDOWN);
	freemsg(mp);
	T_EQ(nsent, 0);
	ip_wire_tick(a.rq);
	T_EQ(wire_send(&w->pub, packet(&there, 100, &h), &h), 0);
	T_EQ(nsent, 1);
}

T_CASE(a_packet_may_have_any_number_of_blocks)
{
	struct ip_hdr h;
	mblk_t *mp;
	unsigned i;

	begin(t);
	mp = packet(&there, 100, &h);
	for (i = 0; i < 300; i++) {
		mblk_t *bp = allocb(1, BPRI_MED);

		*bp->b_wptr++ = 'y';
		linkb(mp, bp);
	}
	h.len += 300;
	T_EQ(wire_send(&w->pub, mp, &h), 0);
	T_EQ(nsent, 1);
	T_EQ(sent_[0].bytes, 400);
}

T_CASE(an_empty_packet_is_sent_and_received)
{
	struct ip_hdr h;

	begin(t);
	T_EQ(wire_send(&w->pub, packet(&there, 0, &h), &h), 0);
	T_EQ(nsent, 1);
	T_EQ(sent_[0].bytes, 0);
	in.data = "";
	in.n = in.seg = 0;
	in.port = 5555;
	while (ip_lower_input(w))
		;
	T_EQ(got, 1);
	T_EQ(seen.len, 0);
}

T_CASE(packets_of_equal_length_are_sent_as_a_train)
{
	static const uint32_t len[] = {500, 500, 500, 200, 200, 300, 0};
	int err = -1;

	begin(t);
	T_EQ(send_all(&there, len, &err), 6);
	T_EQ(err, 0);
	T_EQ(nsent, 3);
	T_EQ(sent_[0].bytes, 1700); /* the shorter one ends it */
	T_EQ(sent_[0].seg, 500);
	T_EQ(sent_[0].pieces, 4);
	T_EQ(sent_[1].bytes, 200);
	T_EQ(sent_[1].seg, 0);
	T_EQ(sent_[2].bytes, 300);
	T_EQ(counted(WIRE_OUT), 6);
}

T_CASE(a_train_has_a_greatest_length)
{
	uint32_t len[MOST] = {0};
	unsigned i;
	int err = -1;

	begin(t);
	for (i = 0; i < 99; i++)
		len[i] = 100;
	T_EQ(send_all(&there, len, &err), 99);
	T_EQ(nsent, 2);
	T_EQ(sent_[0].bytes, 6400);
	T_EQ(sent_[1].bytes, 3500);
	for (i = 0; i < 50; i++)
		len[i] = 1472;
	len[50] = 0;
	nsent = 0;
	T_EQ(send_all(&there, len, &err), 50);
	T_EQ(nsent, 2);
	T_EQ(sent_[0].bytes, 44 * 1472);
}

T_CASE(without_trains_packets_are_sent_one_by_one)
{
	static const uint32_t len[] = {500, 500, 500, 0};
	int err = -1;

	begin(t);
	no_trains = 1;
	/* the simulated socket has only one error, which means a full one */
	T_EQ(send_all(&there, len, &err), 0);
	T_EQ(err, EAGAIN);
}

T_CASE(a_received_datagram_gets_an_ip_header)
{
	begin(t);
	in.data = "hello";
	in.n = 5;
	in.seg = 0;
	in.port = 5555;
	while (ip_lower_input(w))
		;
	T_EQ(got, 1);
	T_STR(text, "hello");
	T_EQ(seen.len, 5);
	T_EQ(seen.proto, PROTO);
	T_EQ(seen.encap, 5555);
	T_EQ(seen.src.len, 4);
	T_EQ(seen.src.b[3], 9);
	T_EQ(seen.dst.b[3], 1);
	T_EQ(counted(WIRE_IN), 1);
	T_EQ(counted(WIRE_INBYTES), 25);
}

T_CASE(a_received_train_is_divided)
{
	begin(t);
	in.data = "onetwotreefour";
	in.n = 14;
	in.seg = 3;
	in.port = 5555;
	while (ip_lower_input(w))
		;
	T_EQ(got, 5);
	T_STR(text, "ur");
	T_EQ(counted(WIRE_IN), 5);
}

T_CASE(a_datagram_without_a_port_is_bad)
{
	begin(t);
	in.data = "x";
	in.n = 1;
	in.seg = in.port = 0;
	while (ip_lower_input(w))
		;
	T_EQ(got, 0);
	T_EQ(counted(WIRE_BAD + IP_ADDR), 1);
}

T_CASE(its_configuration_is_checked)
{
	struct ipw_conf c = conf;

	begin(t);
	T_EQ(dv_open(&once, "ip", 0, CLONEOPEN), 0);
	memcpy(c.name, "u1", 3);
	c.proto[0] = 0;
	T_EQ(dv_str(&once, IPW_ADD, &c, sizeof(c)), EINVAL);
	c.proto[0] = PROTO;
	c.proto[1] = 17;
	T_EQ(dv_str(&once, IPW_ADD, &c, sizeof(c)), EINVAL);
	c.proto[1] = 0;
	c.own[0] = c.own[1] = (struct ipw_addr){4, 32, {0, 0}, {10, 0, 0, 1}};
	T_EQ(dv_str(&once, IPW_ADD, &c, sizeof(c)), EINVAL);
	memset(&c.own[1], 0, sizeof(c.own[1]));
	T_EQ(dv_str(&once, IPW_ADD, &c, sizeof(c)), 0);
}

/*
 * A thread that makes the sockets again can be killed before the end, while
 * another process has descriptors of those that work.
 */
T_CASE(a_tick_completes_a_wire_that_is_half_made)
{
	begin(t);
	ip_wire_tick(a.rq);
	T_EQ(w->state, IPW_UP);
	T_EQ(w->remade, 0);
	w->state = IPW_DOWN;
	ip_wire_tick(a.rq);
	T_EQ(w->state, IPW_UP);
	T_EQ(w->error, 0);
	T_EQ(w->remade, 1);
	ip_wire_tick(a.rq);
	T_EQ(w->remade, 1);
}

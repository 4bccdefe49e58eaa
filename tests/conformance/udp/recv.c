/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options that come up with a datagram on request, and T_IP_PKTINFO with one
 * that is sent: RFC 1122 s4.1.3.5, s4.1.4; RFC 3542 s6.
 */
#include "ud.h"

#define LO_INDEX 1 /* of the loopback interface, in every namespace */

/* What came up with the datagram in `in'. */
struct told {
	int n; /* options */
	int ttl, tos;
	int ifindex;
	struct sockaddr_storage dst;
	int has_dst;
};

static void
read_info(struct told *t, const unsigned char *p, unsigned len)
{
	struct sockaddr_in6 *s6 = (void *)&t->dst;
	struct sockaddr_in *s4 = (void *)&t->dst;
	struct in6_pktinfo i6;
	struct in_pktinfo i4;

	t->has_dst = 1;
	if (ud_six()) {
		T_EQ(len, sizeof(i6));
		memcpy(&i6, p, sizeof(i6));
		t->ifindex = (int)i6.ipi6_ifindex;
		s6->sin6_family = AF_INET6;
		s6->sin6_addr = i6.ipi6_addr;
	} else {
		T_EQ(len, sizeof(i4));
		memcpy(&i4, p, sizeof(i4));
		t->ifindex = i4.ipi_ifindex;
		s4->sin_family = AF_INET;
		s4->sin_addr = i4.ipi_addr;
		T_EQ(i4.ipi_addr.s_addr, i4.ipi_spec_dst.s_addr);
	}
}

/* Take the next datagram at @u, "x" from @from, and what came up with it. */
static struct told
taken(const struct ud *u, const struct ud *from)
{
	struct told t = {.ttl = -1, .tos = -1};
	struct t_opthdr h;
	unsigned at = 0, len;

	in_want(u->fd, T_UNITDATA_IND);
	T_EQ(in.datalen, 1);
	T_EQ(in.data[0], 'x');
	T_EQ(in_port(in.ctl + in.p.unitdata_ind.SRC_offset),
		in_port(&from->at));
	len = (unsigned)in.p.unitdata_ind.OPT_length;
	T_LE(in.p.unitdata_ind.OPT_offset + (int)len, in.ctllen);
	for (; at < len; at += (unsigned)T_ALIGN(h.len)) {
		const unsigned char *p = in.ctl +
			in.p.unitdata_ind.OPT_offset + at;

		memcpy(&h, p, sizeof(h));
		T_TRUE(h.level == T_INET_IP);
		T_TRUE(h.status == T_SUCCESS);
		T_LE(at + h.len, len);
		t.n++;
		p += sizeof(h);
		if (h.name == T_IP_TTL)
			t.ttl = *p;
		else if (h.name == T_IP_TOS)
			t.tos = *p;
		else if (h.name == T_IP_PKTINFO)
			read_info(&t, p, h.len - (unsigned)sizeof(h));
		else
			T_FAIL("option %u", (unsigned)h.name);
	}
	return t;
}

static void
ask(const struct ud *u, int on)
{
	ud_set_int(u->fd, T_INET_IP, T_IP_RECVPKTINFO, on);
	ud_set_int(u->fd, T_INET_IP, T_IP_RECVTTL, on);
	ud_set_int(u->fd, T_INET_IP, T_IP_RECVTOS, on);
}

/* @t is complete: it was sent to @to, with these values. */
static void
complete(const struct told *t, const struct ud *to, int ttl, int tos)
{
	T_EQ(t->n, 3);
	T_EQ(t->ttl, ttl);
	T_EQ(t->tos, tos);
	T_TRUE(t->has_dst);
	T_EQ(t->ifindex, LO_INDEX);
	if (ud_six())
		T_MEM(&((const struct sockaddr_in6 *)&t->dst)->sin6_addr,
			&((const struct sockaddr_in6 *)&to->at)->sin6_addr, 16);
	else
		T_MEM(&((const struct sockaddr_in *)&t->dst)->sin_addr,
			&((const struct sockaddr_in *)&to->at)->sin_addr, 4);
}

T_CASE(what_was_asked_for_comes_up)
{
	struct told it;
	struct ud a, b;
	int i;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_set_int(a.fd, T_INET_IP, T_IP_TTL, 9);
	ud_set_int(a.fd, T_INET_IP, T_IP_TOS, 0x20);
	/* first without, so that both have their fast paths */
	for (i = 0; i < 5; i++) {
		ud_send(&a, &b, "x", 1);
		it = taken(&b, &a);
		T_EQ(it.n, 0);
	}
	ask(&b, T_YES);
	for (i = 0; i < 5; i++) {
		ud_send(&a, &b, "x", 1);
		it = taken(&b, &a);
		complete(&it, &b, 9, 0x20);
	}
	ud_set_int(b.fd, T_INET_IP, T_IP_RECVTTL, T_NO);
	ud_send(&a, &b, "x", 1);
	it = taken(&b, &a);
	T_EQ(it.n, 2);
	T_EQ(it.ttl, -1);
	ask(&b, T_NO);
	for (i = 0; i < 5; i++) {
		ud_send(&a, &b, "x", 1);
		it = taken(&b, &a);
		T_EQ(it.n, 0);
	}
	ud_close(&a);
	ud_close(&b);
}

T_CASE(it_comes_up_from_plain_sockets_too)
{
	int hops = 7, tos = 0x40, i, six = ud_six();
	struct told it;
	struct ud b, p;

	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	T_OK(setsockopt(p.fd, six ? IPPROTO_IPV6 : IPPROTO_IP,
		six ? IPV6_UNICAST_HOPS : IP_TTL, &hops, sizeof(hops)));
	T_OK(setsockopt(p.fd, six ? IPPROTO_IPV6 : IPPROTO_IP,
		six ? IPV6_TCLASS : IP_TOS, &tos, sizeof(tos)));
	ud_plain_send(&p, &b, "x", 1);
	it = taken(&b, &p);
	T_EQ(it.n, 0);
	ask(&b, T_YES);
	/* many at once, too: one call receives several */
	for (i = 0; i < 40; i++)
		ud_plain_send(&p, &b, "x", 1);
	for (i = 0; i < 40; i++) {
		it = taken(&b, &p);
		complete(&it, &b, hops, tos);
	}
	ud_close(&b);
	ud_close(&p);
}

T_CASE(the_wish_is_kept_over_a_bind)
{
	struct told it;
	struct ud a, b;
	int on = 0;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ask(&b, T_YES);
	in_prim(b.fd, T_UNBIND_REQ);
	in_ok(b.fd, T_UNBIND_REQ);
	in_bind_req(b.fd, T_BIND_REQ, &b.at, (int)b.len, 0);
	in_want(b.fd, T_BIND_ACK);
	T_EQ(ud_get_opt(b.fd, T_INET_IP, T_IP_RECVTTL, &on, sizeof(on)),
		(int)sizeof(on));
	T_EQ(on, T_YES);
	ud_send(&a, &b, "x", 1);
	it = taken(&b, &a);
	complete(&it, &b, 64, 0);
	ud_close(&a);
	ud_close(&b);
}

/* The addresses of IPv4 in the form that the endpoint knows. */
T_CASE(an_endpoint_of_both_versions_gets_mapped_addresses)
{
	static const unsigned char mapped[16] = {[10] = 0xff, 0xff, 127, 0, 0,
		1};
	struct ud b, p = {.fd = -1};
	struct sockaddr_in to;
	struct told it;
	socklen_t len = sizeof(p.at);

	if (!ud_six())
		T_SKIP("of IPv6");
	ud_bound(&b, "::", 0);
	ask(&b, T_YES);
	p.fd = T_OK(socket(AF_INET, SOCK_DGRAM, 0));
	memset(&to, 0, sizeof(to));
	to.sin_family = AF_INET;
	to.sin_port = ((struct sockaddr_in *)&b.at)->sin_port;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	T_EQ(sendto(p.fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)), 1);
	T_OK(getsockname(p.fd, (struct sockaddr *)&p.at, &len));
	it = taken(&b, &p);
	T_EQ(it.n, 3);
	T_EQ(it.ttl, 64);
	T_MEM(&((struct sockaddr_in6 *)&it.dst)->sin6_addr, mapped, 16);
	ud_close(&b);
	T_OK(close(p.fd));
}

/* Send "x" from @from to @to with T_IP_PKTINFO of @len bytes. */
static void
send_info(const struct ud *from, const struct ud *to, const void *info,
	unsigned len)
{
	struct {
		struct T_unitdata_req r;
		struct sockaddr_storage to;
		struct t_opthdr h;
		unsigned char info[32];
	} m = {.r = {T_UNITDATA_REQ, (t_scalar_t)to->len, 0, 0, 0},
		.h = {sizeof(m.h) + len, T_INET_IP, T_IP_PKTINFO, 0}};

	m.r.DEST_offset = (t_scalar_t)((char *)&m.to - (char *)&m);
	m.r.OPT_offset = (t_scalar_t)((char *)&m.h - (char *)&m);
	m.r.OPT_length = (t_scalar_t)m.h.len;
	memcpy(&m.to, &to->at, to->len);
	memcpy(m.info, info, len);
	in_put(from->fd, &m, sizeof(m), "x", 1, 0);
}

/* RFC 1122 s4.1.3.5: a server answers from the address that was asked. */
T_CASE(the_source_address_can_be_chosen)
{
	struct in_pktinfo info = {.ipi_ifindex = 0};
	struct ud server, to, a, p;
	struct told it;
	int i;

	if (ud_six())
		T_SKIP("there is only one loopback address");
	ud_bound(&server, ud_any(), 0);
	ask(&server, T_YES);
	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	for (i = 2; i < 5; i++) {
		char text[20];

		snprintf(text, sizeof(text), "127.0.0.%d", i);
		ud_addr(&to, text, in_port(&server.at));
		ud_send(&a, &to, "x", 1);
		it = taken(&server, &a);
		complete(&it, &to, 64, 0);
		info.ipi_spec_dst = ((struct sockaddr_in *)&it.dst)->sin_addr;
		send_info(&server, &a, &info, sizeof(info));
		ud_get(&a, "x", 1, &to);
		send_info(&server, &p, &info, sizeof(info));
		ud_plain_get(&p, "x", 1, &to);
	}
	/* the next one is as usual */
	ud_addr(&to, ud_home(), in_port(&server.at));
	ud_send(&server, &a, "x", 1);
	ud_get(&a, "x", 1, &to);
	/* an address of another host */
	info.ipi_spec_dst.s_addr = htonl(0xc0000201);
	send_info(&server, &a, &info, sizeof(info));
	in_want(server.fd, T_UDERROR_IND);
	ud_quiet(&a);
	ud_close(&server);
	ud_close(&a);
	ud_close(&p);
}

/* An endpoint that receives from one address only does not get another's. */
T_CASE(a_chosen_source_is_subject_to_the_default_destination)
{
	struct in_pktinfo info = {.ipi_ifindex = 0};
	struct ud a, b, from;

	if (ud_six() || !ud_native())
		T_SKIP("of native IPv4");
	ud_bound(&a, ud_any(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_addr(&from, "127.0.0.5", in_port(&a.at));
	T_EQ(ud_set(b.fd, T_INET_UDP, T_UDP_PEER, &from.at, from.len),
		T_SUCCESS);
	info.ipi_spec_dst.s_addr = htonl(0x7f000005);
	send_info(&a, &b, &info, sizeof(info));
	ud_get(&b, "x", 1, &from);
	ud_close(&a);
	ud_close(&b);
}

T_CASE(an_option_of_the_wrong_length_is_an_error)
{
	unsigned char none[32] = {0};
	struct ud a, b;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	send_info(&a, &b, none, 5);
	ud_error(&a, &b, EINVAL);
	send_info(&a, &b, none, ud_six() ? 12 : 20);
	ud_error(&a, &b, EINVAL);
	/* all zeros choose nothing */
	send_info(&a, &b, none, ud_six() ? 20 : 12);
	ud_get(&b, "x", 1, &a);
	ud_close(&a);
	ud_close(&b);
}

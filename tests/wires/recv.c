/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What comes up from a wire: datagrams that one call has sent, options, and the
 * choice of the source address of the answer.
 */
#include <net/if.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"

static void
wants(int fd)
{
	int yes = T_YES;

	T_EQ(ns_option(fd, T_INET_IP, T_IP_RECVPKTINFO, &yes, sizeof(yes)),
		T_SUCCESS);
	T_EQ(ns_option(fd, T_INET_IP, T_IP_RECVTTL, &yes, sizeof(yes)),
		T_SUCCESS);
}

/* The value of the option @name that came with the datagram in `in'. */
static const unsigned char *
came(unsigned name, unsigned len)
{
	struct T_unitdata_ind *ui = &in.p.unitdata_ind;
	struct t_opthdr h;
	int at = 0;

	for (; at < ui->OPT_length; at += (int)T_ALIGN(h.len)) {
		memcpy(&h, in.ctl + ui->OPT_offset + at, sizeof(h));
		if (h.name != name)
			continue;
		T_EQ(h.len, sizeof(h) + len);
		return in.ctl + ui->OPT_offset + at + sizeof(h);
	}
	T_FAIL("option %u has not come", name);
	return NULL;
}

/* "x" to the other side's echo, from that source. */
static void
send_from(int fd, const void *info, unsigned len, const char *to)
{
	struct {
		struct T_unitdata_req r;
		struct sockaddr_storage to;
		struct t_opthdr h;
		unsigned char info[32];
	} m = {.h = {sizeof(m.h) + len, T_INET_IP, T_IP_PKTINFO, 0}};

	m.r.PRIM_type = T_UNITDATA_REQ;
	m.r.DEST_length = (t_scalar_t)in_addr(&m.to, family_of(to), to, ECHO);
	m.r.DEST_offset = (t_scalar_t)((char *)&m.to - (char *)&m);
	m.r.OPT_offset = (t_scalar_t)((char *)&m.h - (char *)&m);
	m.r.OPT_length = (t_scalar_t)m.h.len;
	memcpy(m.info, info, len);
	in_put(fd, &m, sizeof(m), "x", 1, 0);
}

T_CASE_TIMEOUT(what_was_asked_for_comes_up_from_wires, 60)
{
	struct in6_pktinfo i6 = {.ipi6_ifindex = 0};
	struct in_pktinfo i4 = {.ipi_ifindex = 0};
	struct in6_addr own6;
	struct in_addr own4;
	int port, fd;

	two_namespaces();
	add_tun();
	T_EQ(inet_pton(AF_INET, "10.79.0.2", &own4), 1);
	T_EQ(inet_pton(AF_INET6, "fd79::2", &own6), 1);
	fd = endpoint("10.78.0.2", &port);
	wants(fd);
	dialogue(fd, "10.78.0.2", 100);
	memcpy(&i4, came(T_IP_PKTINFO, sizeof(i4)), sizeof(i4));
	T_EQ(i4.ipi_addr.s_addr, own4.s_addr);
	T_EQ(i4.ipi_ifindex, (int)if_nametoindex("t0"));
	T_EQ(*came(T_IP_TTL, 1), 63); /* one router */
	/* the same address as a source, and one that the wire has not */
	i4.ipi_ifindex = 0;
	send_from(fd, &i4, sizeof(i4), "10.78.0.2");
	in_want(fd, T_UNITDATA_IND);
	memcpy(&i4, came(T_IP_PKTINFO, sizeof(i4)), sizeof(i4));
	T_EQ(i4.ipi_addr.s_addr, own4.s_addr);
	i4.ipi_spec_dst.s_addr = htonl(0x0a4f0009);
	send_from(fd, &i4, sizeof(i4), "10.78.0.2");
	in_want(fd, T_UDERROR_IND);
	/* by its interface */
	memset(&i4, 0, sizeof(i4));
	i4.ipi_ifindex = (int)if_nametoindex("t0");
	send_from(fd, &i4, sizeof(i4), "10.78.0.2");
	in_want(fd, T_UNITDATA_IND);
	T_OK(close(fd));

	fd = endpoint("fd78::2", &port);
	wants(fd);
	dialogue(fd, "fd78::2", 100);
	memcpy(&i6, came(T_IP_PKTINFO, sizeof(i6)), sizeof(i6));
	T_MEM(&i6.ipi6_addr, &own6, 16);
	T_EQ(*came(T_IP_TTL, 1), 63);
	i6.ipi6_ifindex = 0;
	send_from(fd, &i6, sizeof(i6), "fd78::2");
	in_want(fd, T_UNITDATA_IND);
	T_OK(close(fd));
}

/* The kernel leaves it to the device to cut a train, and to make checksums. */
static void
trains_come_to(const char *own, const char *peer)
{
	char text[TRAIN];
	int port, fd, i;

	fd = endpoint(peer, &port);
	dialogue(fd, peer, 100);
	order('t', own, port, 300);
	good(answer());
	for (i = 0; i < 4; i++) {
		in_want(fd, T_UNITDATA_IND);
		T_EQ(in.datalen, i < 3 ? 300 : 100);
		memset(text, 'a' + i, sizeof(text));
		T_MEM(in.data, text, (size_t)in.datalen);
	}
	T_OK(close(fd));
}

T_CASE_TIMEOUT(datagrams_of_one_call_come_alone, 60)
{
	offload = 1;
	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0", "-a",
		"10.78.0.9/24", "-a", "fd78::9/64"), 0);
	trains_come_to("10.78.0.9", "10.78.0.2");
	trains_come_to("fd78::9", "fd78::2");
	stat_says("p0", "c['bad-checksum'] == 0 and c['bad-length'] == 0");
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

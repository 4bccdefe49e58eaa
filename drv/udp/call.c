/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of one datagram that is sent as a packet on lo or on another wire.
 * They have been checked (inet_call_check()).
 */
#include "udp_impl.h"

static void
set_tos(unsigned char *hdr, int four, int v)
{
	if (four) {
		hdr[1] = (unsigned char)v;
		return;
	}
	hdr[0] = (unsigned char)(0x60 | v >> 4);
	hdr[1] = (unsigned char)((v & 15) << 4 | (hdr[1] & 15));
}

/*
 * udp_apply - change a packet's header as the options demand, except for
 * T_IP_PKTINFO.  0: wires do not support one.
 */
int
udp_apply(const struct tpi_buf *opts, unsigned char *hdr)
{
	int four = (hdr[0] & 0xf0) == 0x40, v;
	uint32_t at = 0;
	struct t_opthdr h;

	for (; at + sizeof(h) <= opts->len; at += T_ALIGN(h.len)) {
		bcopy(opts->buf + at, &h, sizeof(h));
		if (h.level != T_INET_IP || h.len == sizeof(h))
			continue;
		if (h.name == T_IP_OPTIONS)
			return 0;
		if (h.name != T_IP_TTL && h.name != T_IP_TOS)
			continue;
		v = inet_call_byte(opts->buf + at + sizeof(h),
			(uint32_t)(h.len - sizeof(h)));
		if (v < 0)
			continue;
		if (h.name == T_IP_TTL)
			hdr[four ? 8 : 7] = (unsigned char)v;
		else
			set_tos(hdr, four, v);
	}
	return 1;
}

/* The value of T_IP_PKTINFO at @p; the address has len 0 if it is any. */
static void
read_info(const struct udp *u, const unsigned char *p, struct ip_addr *src,
	int *ifindex)
{
	static const unsigned char none[16];
	struct in6_pktinfo i6;
	struct in_pktinfo i4;

	bzero(src, sizeof(*src));
	if (u->in.family == AF_INET6) {
		bcopy(p, &i6, sizeof(i6));
		*ifindex = (int)i6.ipi6_ifindex;
		src->len = 16;
		bcopy(&i6.ipi6_addr, src->b, 16);
		if (IN6_IS_ADDR_V4MAPPED(&i6.ipi6_addr)) {
			src->len = 4;
			bcopy(i6.ipi6_addr.s6_addr + 12, src->b, 4);
		}
	} else {
		bcopy(p, &i4, sizeof(i4));
		*ifindex = i4.ipi_ifindex;
		src->len = 4;
		bcopy(&i4.ipi_spec_dst, src->b, 4);
	}
	if (bcmp(src->b, none, src->len) == 0)
		src->len = 0;
}

/*
 * udp_call_info - the source address and interface that the options choose
 * Return: 0: they choose none.
 */
int
udp_call_info(const struct udp *u, const struct tpi_buf *opts, struct ip_addr *src,
	int *ifindex)
{
	struct t_opthdr h;
	uint32_t at = 0;

	src->len = 0;
	*ifindex = 0;
	for (; at + sizeof(h) <= opts->len; at += T_ALIGN(h.len)) {
		bcopy(opts->buf + at, &h, sizeof(h));
		if (h.level == T_INET_IP && h.name == T_IP_PKTINFO &&
			h.len > sizeof(h))
			read_info(u, opts->buf + at + sizeof(h), src, ifindex);
	}
	return src->len != 0 || *ifindex != 0;
}

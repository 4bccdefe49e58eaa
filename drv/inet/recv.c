/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options that come up with a datagram on request: its destination address and
 * interface, its time to live, its type of service (RFC 3542 for IPv6).
 *
 * For a datagram from a socket they come from control messages; on wires
 * (drv/udp) from the packet's header.  The caller makes room for them in the
 * T_UNITDATA_IND's block.  While an endpoint wants any, its datagrams are not
 * received by the waiting thread itself, nor sent to it on the direct path:
 * these have no room for options.
 */
#include "inet_opts.h"

/* inet_recv_set - the option @o was set: what comes up from now on? */
void
inet_recv_set(struct inet *in, const struct tpi_opt *o, int on)
{
	uint32_t bit;

	if (o->level != T_INET_IP)
		return;
	bit = o->name == T_IP_RECVPKTINFO ? INET_WANT_INFO :
		o->name == T_IP_RECVTTL ? INET_WANT_TTL :
		o->name == T_IP_RECVTOS ? INET_WANT_TOS : 0;
	str_store(&in->wants, on ? in->wants | bit : in->wants & ~bit);
}

static void
read_info(const struct cmsghdr *c, struct inet_told *ret)
{
	struct in6_pktinfo i6;
	struct in_pktinfo i4;

	if (c->cmsg_level == IPPROTO_IP) {
		bcopy(CMSG_DATA(c), &i4, sizeof(i4));
		ret->ifindex = i4.ipi_ifindex;
		ret->dst.len = 4;
		bcopy(&i4.ipi_addr, ret->dst.b, 4);
	} else {
		bcopy(CMSG_DATA(c), &i6, sizeof(i6));
		ret->ifindex = (int)i6.ipi6_ifindex;
		ret->dst.len = 16;
		bcopy(&i6.ipi6_addr, ret->dst.b, 16);
	}
}

/* An int or, IP_TOS, a byte. */
static int
read_int(const struct cmsghdr *c)
{
	int v = 0;

	if (c->cmsg_len < CMSG_LEN(sizeof(v)))
		return *CMSG_DATA(c);
	bcopy(CMSG_DATA(c), &v, sizeof(v));
	return v & 255;
}

/* inet_recv_read - the facts in the control messages of @m */
void
inet_recv_read(const struct ksock_msg *m, struct inet_told *ret)
{
	struct cmsghdr *c;
	struct msghdr mh;

	bzero(ret, sizeof(*ret));
	ret->ttl = ret->tos = -1;
	bzero(&mh, sizeof(mh));
	mh.msg_control = m->km_ctl;
	mh.msg_controllen = m->km_ctllen;
	for (c = CMSG_FIRSTHDR(&mh); c != NULL; c = CMSG_NXTHDR(&mh, c)) {
		int six = c->cmsg_level == IPPROTO_IPV6;

		if (!six && c->cmsg_level != IPPROTO_IP)
			continue;
		if (c->cmsg_type == (six ? IPV6_PKTINFO : IP_PKTINFO))
			read_info(c, ret);
		else if (c->cmsg_type == (six ? IPV6_HOPLIMIT : IP_TTL))
			ret->ttl = read_int(c);
		else if (c->cmsg_type == (six ? IPV6_TCLASS : IP_TOS))
			ret->tos = read_int(c);
	}
}

static uint32_t
put_option(unsigned char *to, t_uscalar_t name, const void *val, uint32_t len)
{
	struct t_opthdr h = {sizeof(h) + len, T_INET_IP, name, T_SUCCESS};

	bzero(to, T_ALIGN(h.len));
	bcopy(&h, to, sizeof(h));
	bcopy(val, to + sizeof(h), len);
	return (uint32_t)T_ALIGN(h.len);
}

static uint32_t
put_info(unsigned char *to, const struct inet *in, const struct inet_told *told)
{
	struct in6_pktinfo i6;
	struct in_pktinfo i4;

	if (in->family != AF_INET6) {
		bzero(&i4, sizeof(i4));
		i4.ipi_ifindex = told->ifindex;
		bcopy(told->dst.b, &i4.ipi_addr, 4);
		i4.ipi_spec_dst = i4.ipi_addr;
		return put_option(to, T_IP_PKTINFO, &i4, sizeof(i4));
	}
	bzero(&i6, sizeof(i6));
	i6.ipi6_ifindex = (unsigned int)told->ifindex;
	if (told->dst.len == 16) {
		bcopy(told->dst.b, &i6.ipi6_addr, 16);
	} else { /* mapped: RFC 4291 s2.5.5.2 */
		i6.ipi6_addr.s6_addr[10] = i6.ipi6_addr.s6_addr[11] = 0xff;
		bcopy(told->dst.b, i6.ipi6_addr.s6_addr + 12, 4);
	}
	return put_option(to, T_IP_PKTINFO, &i6, sizeof(i6));
}

/*
 * inet_recv_put - write the options that @in wants to @to, INET_TOLD_MOST bytes
 * Return: their number of bytes.
 */
uint32_t
inet_recv_put(const struct inet *in, const struct inet_told *told,
	unsigned char *to)
{
	uint32_t wants = str_load(&in->wants), n = 0;
	unsigned char byte;

	if ((wants & INET_WANT_INFO) != 0 && told->dst.len != 0)
		n += put_info(to + n, in, told);
	if ((wants & INET_WANT_TTL) != 0 && told->ttl >= 0) {
		byte = (unsigned char)told->ttl;
		n += put_option(to + n, T_IP_TTL, &byte, 1);
	}
	if ((wants & INET_WANT_TOS) != 0 && told->tos >= 0) {
		byte = (unsigned char)told->tos;
		n += put_option(to + n, T_IP_TOS, &byte, 1);
	}
	return n;
}

/*
 * inet_recv_add - append the options to @mp, a T_UNITDATA_IND with room for
 * INET_TOLD_MOST + 8 bytes
 */
void
inet_recv_add(const struct inet *in, const struct inet_told *told, mblk_t *mp)
{
	struct T_unitdata_ind *ui = (struct T_unitdata_ind *)(void *)
		mp->b_rptr;
	uint32_t n, pad = (uint32_t)(-(uintptr_t)MBLKL(mp) & 7);

	bzero(mp->b_wptr, pad);
	n = inet_recv_put(in, told, mp->b_wptr + pad);
	if (n == 0)
		return;
	ui->OPT_length = (t_scalar_t)n;
	ui->OPT_offset = (t_scalar_t)(MBLKL(mp) + (long)pad);
	mp->b_wptr += pad + n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires: what comes is checked, counted, and given to who wants it.
 */
#include "../drvfix.h"
#include "ip_impl.h"

extern const struct str_builtin str_drv_ip;

static struct wire *lo;

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_ip);
	lo = wire_lo();
	T_NOTNULL(lo);
}

/* An IPv4 packet of @proto with @len bytes of data. */
static mblk_t *
packet(uint8_t proto, size_t len)
{
	struct ip_hdr h = {
		.src = {4, {127, 0, 0, 1}}, .dst = {4, {127, 0, 0, 2}},
		.proto = proto, .ttl = 64, .len = (uint32_t)len,
	};
	mblk_t *mp = allocb(IP_ROOM + len, BPRI_MED);

	T_NOTNULL(mp);
	mp->b_rptr += IP_ROOM;
	mp->b_wptr = mp->b_rptr + len;
	memset(mp->b_rptr, 'x', len);
	mp->b_rptr -= ip_build(mp->b_rptr, &h, NULL, 0);
	return mp;
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
	wire_count(NULL, WIRE_FULL, 1); /* nobody's */
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

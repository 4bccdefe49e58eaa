/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Packets that no honest host sends.  They come by a tap (ip(4)), as if they
 * had been received.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/ipwire.h>

#include <str/ip.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"

static int tap_fd;

static void
tap_on(const char *name)
{
	struct ipw_tap want = {.snap = 1};
	struct strioctl si = {.ic_cmd = IPW_TAP, .ic_timout = 15,
		.ic_len = sizeof(want), .ic_dp = (void *)&want};

	strcpy(want.name, name);
	tap_fd = in_open("/dev/streams/clone/ip");
	T_OK(ioctl(tap_fd, I_STR, &si));
}

static void
put16_at(unsigned char *p, unsigned v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

/* A router reports @mtu about a datagram of @len bytes, from our @port. */
static void
too_big(int port, int to, unsigned len, unsigned mtu)
{
	static const unsigned char us[] = {10, 79, 0, 2}, them[] = {10, 78, 0, 2};
	unsigned char p[56] = {0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0, 0,
		10, 66, 0, 1, 10, 79, 0, 2, 3, 4};
	unsigned char *q = p + 28;
	struct strbuf data = {.len = sizeof(p), .buf = (char *)p};

	put16_at(p + 26, mtu);
	q[0] = 0x45;
	put16_at(q + 2, len + 28);
	q[6] = 0x40; /* DF */
	q[8] = 63;
	q[9] = 17;
	memcpy(q + 12, us, 4);
	memcpy(q + 16, them, 4);
	put16_at(q + 20, (unsigned)port);
	put16_at(q + 22, (unsigned)to);
	put16_at(q + 24, len + 8);
	put16_at(p + 22, ip_fold(ip_sum(p + 20, 36, 0, 0)));
	put16_at(p + 10, ip_fold(ip_sum(p, 20, 0, 0)));
	T_OK(putmsg(tap_fd, NULL, &data, 0));
}

/* RFC 5927: an error is believed only about what was sent. */
T_CASE_TIMEOUT(a_path_is_not_made_narrower_by_strangers, 60)
{
	static const char *const there = "10.78.0.2";
	struct report r;
	int fd, port;

	two_namespaces();
	add_tun();
	tap_on("t0");
	fd = endpoint(there, &port);
	too_big(port, ECHO, 1000, 600); /* nothing was sent */
	stat_says("t0", "c.get('narrower-paths', 0) == 0");
	dialogue(fd, there, 1000);
	too_big(port, ECHO + 1, 1000, 600);
	too_big(port, ECHO, 1001, 600); /* none was so long */
	stat_says("t0", "c.get('narrower-paths', 0) == 0 and "
		"c.get('fragments-out', 0) == 0");
	/* about what was sent it is believed; as small as 552, not smaller */
	too_big(port, ECHO, 1000, 68);
	stat_says("t0", "c['narrower-paths'] == 1");
	in_want(fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EMSGSIZE);
	dialogue(fd, there, 1000);
	stat_says("t0", "c['fragments-out'] == 2");
	order('k', "", 0, 0);
	r = answer();
	good(r);
	T_OK(close(fd));
}

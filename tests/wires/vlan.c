/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Frames of VLANs on the interface of a packet wire. */
#include <net/if.h>
#include <netinet/if_ether.h>
#include <netpacket/packet.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"

/* A broadcast with that VLAN tag out of v1; -1: without one. */
static void
broadcast(int tag)
{
	static const unsigned char ip[28] = { 0x45, 0, 0, 28, 0, 1, 0, 0, 64,
		IPPROTO_UDP, 0x65, 0x35, 10, 78, 0, 1, 10, 78, 0, 255, 0, 9, 0,
		9, 0, 8, 0, 0 };
	unsigned char frame[64] = { 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0,
		1, 0x81, 0, (unsigned char)(tag >> 8), (unsigned char)tag };
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
		.sll_ifindex = (int)if_nametoindex("v1") };
	int fd = T_OK(socket(AF_PACKET, SOCK_RAW, 0)), at = tag < 0 ? 12 : 16;

	frame[at] = 8;
	frame[at + 1] = 0;
	memcpy(frame + at + 2, ip, sizeof(ip));
	T_EQ(sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to,
		sizeof(to)), (ssize_t)sizeof(frame));
	T_OK(close(fd));
}

/* A packet socket gets the frames of all VLANs, without their tags. */
T_CASE_TIMEOUT(packet_gets_nothing_of_a_vlan, 60)
{
	own_namespace();
	put_file("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	if (system("ip link add v0 type veth peer name v1 2>/dev/null") != 0)
		T_SKIP("no veth devices");
	sh("ip link set v0 up");
	sh("ip link set v1 up");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "v0", "-a",
		"10.78.0.9/24"), 0);
	broadcast(5);
	broadcast(-1);
	broadcast(0x6000); /* of no VLAN, only with a priority */
	T_SOON(RUN(-1, "strwire", "stat", "--json", "p0") == 0 &&
		json_says("v[0]['counts']['in'] >= 2"), 10000);
	stat_says("p0", "c['in'] == 2 and c['bad-checksum'] == 0");
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

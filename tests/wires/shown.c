/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strtap(8) on a wire of frames: it shows the messages by which stations,
 * routers and hosts find each other, in both directions.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"
#include "pcap.h"

/* A packet of protocol @proto whose byte @at[i] is @is[i]. */
static const struct message {
	const char *name;
	unsigned proto;
	int out, at[2], is[2];
	const char *text; /* a part of its line */
} messages[] = {
	{ "ARP request out", 0x806, 1, { 7, 27 }, { 1, 2 },
		" p0 > 10.78.0.9 > 10.78.0.2: ARP request from " },
	{ "ARP reply in", 0x806, 0, { 7, 17 }, { 2, 2 },
		" p0 < 10.78.0.2 > 10.78.0.9: ARP reply from " },
	{ "ARP request in", 0x806, 0, { 7, 27 }, { 1, 8 },
		" p0 < 10.78.0.2 > 10.78.0.8: ARP request from " },
	{ "ARP reply out", 0x806, 1, { 7, 17 }, { 2, 8 },
		" p0 > 10.78.0.8 > 10.78.0.2: ARP reply from " },
	{ "ARP probe out", 0x806, 1, { 14, 27 }, { 0, 9 },
		" p0 > 0.0.0.0 > 10.78.0.9: ARP request from " },
	{ "solicitation out", 0x86dd, 1, { 40, 63 }, { 135, 2 },
		" p0 > fd78::9 > ff02::1:ff00:2: ICMPv6 neighbor "
		"solicitation for fd78::2, " },
	{ "advertisement in", 0x86dd, 0, { 40, 63 }, { 136, 2 },
		" p0 < fd78::2 > fd78::9: ICMPv6 neighbor advertisement for "
		"fd78::2, " },
	{ "solicitation in", 0x86dd, 0, { 40, 63 }, { 135, 8 },
		"ff02::1:ff00:8: ICMPv6 neighbor solicitation for fd78::8, " },
	{ "advertisement out", 0x86dd, 1, { 40, 63 }, { 136, 8 },
		": ICMPv6 neighbor advertisement for fd78::8, " },
	{ "listener report out", 0x86dd, 1, { 40, 48 }, { 58, 143 },
		" > ff02::16: ICMPv6 listener report, version 2, " },
	{ "IGMP report out", 0x800, 1, { 9, 24 }, { 2, 0x22 },
		" p0 > 10.78.0.9 > 224.0.0.22: IGMP report, version 3, " },
	{ "echo request in", 0x800, 0, { 9, 20 }, { 1, 8 },
		" p0 < 10.78.0.2 > 10.78.0.9: ICMP echo request, " },
	{ "echo reply out", 0x800, 1, { 9, 20 }, { 1, 0 },
		" p0 > 10.78.0.9 > 10.78.0.2: ICMP echo reply, " },
};
#define NMESSAGES (sizeof(messages) / sizeof(messages[0]))

static int
is_this(const struct pcap_pkt *k, const struct message *m)
{
	return k->proto == m->proto && k->out == m->out &&
		(int)k->caplen > m->at[0] && (int)k->caplen > m->at[1] &&
		k->p[m->at[0]] == m->is[0] && k->p[m->at[1]] == m->is[1];
}

static void
file_has_all(const char *path)
{
	unsigned i, found[NMESSAGES] = { 0 };
	struct pcap_pkt pkt;
	struct pcap pc;

	pcap_open(&pc, path);
	T_EQ(pc.linktype, 276u);
	while (pcap_next(&pc, &pkt)) {
		for (i = 0; i < NMESSAGES; i++)
			found[i] += is_this(&pkt, &messages[i]) ? 1u : 0u;
		if (pkt.proto != 0x806)
			T_NULL(packet_wrong(pkt.p, pkt.caplen, 1));
		T_EQ(pkt.wire, 2); /* lo is 1 */
	}
	pcap_close(&pc);
	for (i = 0; i < NMESSAGES; i++)
		if (found[i] == 0)
			T_FAIL("no %s", messages[i].name);
}

/* Programs that are not ours read the file, where there are any. */
static void
others_read(const char *path)
{
	char line[512];
	struct stat st;

	if (system("command -v tcpdump >/dev/null") == 0) {
		sh("tcpdump -nr %s >%s 2>/dev/null", path, temp("tcpdump"));
		T_TRUE(file_has(temp("tcpdump"), "who-has 10.78.0.2 "));
		T_TRUE(file_has(temp("tcpdump"), "ARP, Reply 10.78.0.8 is-at"));
		T_TRUE(file_has(temp("tcpdump"), "who has fd78::2"));
		T_TRUE(file_has(temp("tcpdump"), "tgt is fd78::8"));
		T_TRUE(file_has(temp("tcpdump"), "igmp v3 report"));
	}
	if (system("command -v tshark >/dev/null") == 0) {
		sh("tshark -r %s >%s 2>/dev/null", path, temp("tshark"));
		T_TRUE(file_has(temp("tshark"), "Who has 10.78.0.2?"));
		T_TRUE(file_has(temp("tshark"),
			"Neighbor Solicitation for fd78::2"));
		snprintf(line, sizeof(line),
			"tshark -r %s -Y _ws.malformed >%s 2>/dev/null", path,
			temp("bad"));
		T_EQ(system(line), 0);
		T_OK(stat(temp("bad"), &st));
		T_EQ(st.st_size, 0);
	}
}

static void
join(int fd, const char *group)
{
	struct ip_mreq m;

	T_EQ(inet_pton(AF_INET, group, &m.imr_multiaddr), 1);
	T_EQ(inet_pton(AF_INET, "10.78.0.9", &m.imr_interface), 1);
	T_EQ(ns_option(fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &m, sizeof(m)),
		T_SUCCESS);
}

/* The other side calls that address of the wire. */
static void
called_at(const char *mine)
{
	struct sockaddr_storage ss;
	int family = family_of(mine), port, fd;
	socklen_t len = in_addr(&ss, family, mine, 0);

	fd = in_open(family == AF_INET ? "/dev/udp2" : "/dev/udp2_6");
	port = in_bind(fd, &ss, (int)len, 0);
	order('c', mine, port, 100);
	T_EQ(turn_round(fd), 100);
	good(answer());
	T_OK(close(fd));
}

/* Each side asks for the other, and both want to be heard by routers. */
static void
meet(void)
{
	static const char *const theirs[] = { "10.78.0.2", "fd78::2" };
	static const char *const mine[] = { "10.78.0.8", "fd78::8" };
	int fd, port, i;

	for (i = 0; i < 2; i++) {
		fd = endpoint(theirs[i], &port);
		dialogue(fd, theirs[i], 100);
		if (i == 0)
			join(fd, "239.77.1.1");
		called_at(mine[i]);
		order('p', "10.78.0.9", 0, 0);
		good(answer());
		if (i == 0) /* reports and probes take their time */
			T_SOON(file_has(temp("text"), ": IGMP report"), 10000);
		T_OK(close(fd));
	}
	for (i = 0; i < (int)NMESSAGES; i++)
		T_SOON(file_has(temp("text"), messages[i].text), 10000);
}

T_CASE_TIMEOUT(a_tap_shows_how_stations_are_found, 60)
{
	pid_t text, file;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	text = start_argv(-1, temp("text"), (const char *const[]){ "strtap",
		NULL });
	file = start_argv(-1, "/dev/null", (const char *const[]){ "strtap",
		"-w", temp("shown.pcap"), NULL });
	T_SOON(RUN(-1, "strwire", "stat", "--json", "lo") == 0 &&
		json_says("v[0]['taps'] == 2"), 10000);
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64", "-a", "10.78.0.8/24",
		"-a", "fd78::8/64"), 0);
	meet();
	T_EQ(stop(text, SIGTERM), 0);
	T_EQ(stop(file, SIGTERM), 0);
	file_has_all(temp("shown.pcap"));
	others_read(temp("shown.pcap"));
}

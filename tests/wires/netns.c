/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires that need privilege, between two network namespaces: each of them
 * talks to programs of the kernel's UDP, and what passes is good.
 */
#include <errno.h>
#include <net/if.h>
#include <netinet/if_ether.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"
#include "pcap.h"

static const int sizes[] = { 1, 1000, 1472, 1473, 4000, 20000, MOST };
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Both ways, all sizes, with the wire's address @mine if the others can call
 * it, and theirs. */
static void
talk(const char *mine, const char *theirs)
{
	int port, fd = endpoint(theirs, &port);
	unsigned i;

	for (i = 0; i < NSIZES; i++)
		dialogue(fd, theirs, sizes[i]);
	for (i = 0; i < NSIZES; i++) {
		order('c', mine, port, sizes[i]);
		T_EQ(turn_round(fd), sizes[i]);
		good(answer());
	}
	T_OK(close(fd));
}

/* All that the tap has written is good. */
static unsigned
captured(const char *path)
{
	struct pcap_pkt pkt;
	struct pcap pc;
	const char *wrong;
	unsigned n = 0;

	pcap_open(&pc, path);
	for (; pcap_next(&pc, &pkt); n++) {
		T_EQ(pkt.caplen, pkt.len);
		if (pkt.proto == ETH_P_ARP)
			continue;
		wrong = packet_wrong(pkt.p, pkt.len, 0);
		if (wrong != NULL)
			T_FAIL("packet %u: %s", n, wrong);
	}
	pcap_close(&pc);
	return n;
}

/* What is in the way of good packets: how tshark is asked for it. */
#define BAD "_ws.malformed || ip.checksum.status == 0 || " \
	"udp.checksum.status == 0 || icmp.checksum.status == 0 || " \
	"icmpv6.checksum.status == 0"

static int
has_tshark(void)
{
	return system("command -v tshark >/dev/null") == 0;
}

/* Does tshark find anything wrong in that file? */
static int
tshark_finds(const char *path)
{
	char line[512];
	struct stat st;

	snprintf(line, sizeof(line), "tshark -o ip.check_checksum:TRUE "
		"-o udp.check_checksum:TRUE -r %s -Y '" BAD "' >%s 2>/dev/null",
		path, temp("found"));
	T_EQ(system(line), 0);
	T_OK(stat(temp("found"), &st));
	return st.st_size != 0;
}

static void
tshark_finds_nothing(const char *path)
{
	if (has_tshark())
		T_EQ(tshark_finds(path), 0);
}

/* A file of one datagram over IPv4, in which byte @at is wrong. */
static void
capture_with(const char *path, int at)
{
	static const unsigned char head[24] = { 0x4d, 0x3c, 0xb2, 0xa1, 2, 0,
		4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 101 };
	unsigned char rec[16] = { [8] = 32, [12] = 32 };
	unsigned char p[32] = { 0x45, 0, 0, 32, 0, 1, 0, 0, 64, IPPROTO_UDP, 0,
		0, 10, 0, 0, 1, 10, 0, 0, 2, 4, 0, 4, 1, 0, 12, 0, 0, 'd', 'a',
		't', 'a' };
	unsigned sum = 0, i;
	int fd;

	for (i = 0; i < 20; i += 2)
		sum += (unsigned)p[i] << 8 | p[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	p[10] = (unsigned char)(sum >> 8);
	p[11] = (unsigned char)sum;
	for (sum = IPPROTO_UDP + 12, i = 12; i < sizeof(p); i += 2)
		sum += (unsigned)p[i] << 8 | p[i + 1];
	sum = ~((sum & 0xffff) + (sum >> 16));
	p[26] = (unsigned char)(sum >> 8);
	p[27] = (unsigned char)sum;
	if (at >= 0)
		p[at] ^= 1;
	fd = T_OK(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
	T_EQ(write(fd, head, sizeof(head)), (ssize_t)sizeof(head));
	T_EQ(write(fd, rec, sizeof(rec)), (ssize_t)sizeof(rec));
	T_EQ(write(fd, p, sizeof(p)), (ssize_t)sizeof(p));
	T_OK(close(fd));
}

/* Who finds nothing would find it if there were something. */
T_CASE_TIMEOUT(one_wrong_packet_is_found, 60)
{
	static const int at[] = { -1, 27, 30, 10, 8 };
	struct pcap_pkt pkt;
	struct pcap pc;
	unsigned i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		capture_with(temp("one.pcap"), at[i]);
		pcap_open(&pc, temp("one.pcap"));
		T_TRUE(pcap_next(&pc, &pkt));
		T_EQ(packet_wrong(pkt.p, pkt.len, 0) != NULL, at[i] >= 0);
		pcap_close(&pc);
		if (has_tshark())
			T_EQ(tshark_finds(temp("one.pcap")), at[i] >= 0);
	}
	if (!has_tshark())
		T_SKIP("no tshark; without it, they are found");
}

T_CASE_TIMEOUT(tun_talks_to_another_namespace, 60)
{
	struct report r;
	pid_t tap;

	two_namespaces();
	add_tun();
	tap = start_argv(-1, "/dev/null", (const char *const[]){ "strtap",
		"-i", "t0", "-w", temp("t0.pcap"), NULL });
	T_SOON(RUN(-1, "strwire", "stat", "--json", "t0") == 0 &&
		json_says("v[0]['taps'] == 1"), 10000);
	talk("10.79.0.2", "10.78.0.2");
	talk("fd79::2", "fd78::2");
	order('p', "10.79.0.2", 0, 0);
	good(answer());
	T_EQ(stop(tap, SIGTERM), 0);
	T_GT(captured(temp("t0.pcap")), 200u);
	tshark_finds_nothing(temp("t0.pcap"));
	order('k', "", 0, 0);
	r = answer();
	good(r);
	T_GT(r.packets, 200u);
	stat_says("t0", "c['fragments-in'] > 50 and c['fragments-out'] > 50 "
		"and c['reassembled'] > 10 and c['reassembly-failed'] == 0 "
		"and c['bad-checksum'] == 0 and c['no-port'] == 0");
	T_EQ(RUN(-1, "strwire", "del", "t0"), 0);
	T_EQ((int)if_nametoindex("strtun0"), 0);
}

T_CASE_TIMEOUT(a_port_that_nobody_has_is_told_both_ways, 60)
{
	static const char *const mine[] = { "10.79.0.2", "fd79::2" };
	static const char *const theirs[] = { "10.78.0.2", "fd78::2" };
	struct sockaddr_storage ss;
	struct report r;
	unsigned i;
	int fd, port;

	two_namespaces();
	add_tun();
	for (i = 0; i < 2; i++) {
		order('c', mine[i], 9, 100);
		r = answer();
		T_EQ(r.ok, 0);
		T_STR(r.text, strerror(ECONNREFUSED));
		/* and we of theirs */
		fd = endpoint(theirs[i], &port);
		in_unitdata(fd, &ss, (int)in_addr(&ss, family_of(theirs[i]),
			theirs[i], 9), "x", 1);
		in_want(fd, T_UDERROR_IND);
		T_EQ(in.p.uderror_ind.ERROR_type, ECONNREFUSED);
		T_OK(close(fd));
	}
	stat_says("t0", "c['no-port'] == 2");
}

/* T_IP_MTU_DISCOVER, as the kernel's IP_MTU_DISCOVER has it. */
static void
discover(int fd, int how)
{
	T_EQ(ns_option(fd, T_INET_IP, T_IP_MTU_DISCOVER, &how, sizeof(how)),
		T_SUCCESS);
}

/* @size bytes to there are refused, by the one that knows. */
static void
too_long(int fd, const char *addr, int size)
{
	static char buf[MOST];
	struct sockaddr_storage ss;

	in_unitdata(fd, &ss, (int)in_addr(&ss, family_of(addr), addr, ECHO),
		buf, size);
	T_FALSE(in_quiet(fd, 5000));
	in_want(fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EMSGSIZE);
}

/* RFC 1191, RFC 8201: tun carries 1500 bytes, what is behind it 1300. */
T_CASE_TIMEOUT(a_path_that_is_narrower_is_learned, 60)
{
	static const char *const theirs[] = { "10.78.0.2", "fd78::2" };
	struct report r;
	unsigned i;
	int fd, port;

	between = 1300;
	two_namespaces();
	add_tun();
	/* who lets them be cut on the way need know nothing */
	fd = endpoint(theirs[0], &port);
	discover(fd, IP_PMTUDISC_DONT);
	dialogue(fd, theirs[0], 1400);
	T_OK(close(fd));
	stat_says("t0", "c['fragments-out'] == 0 and "
		"c['narrower-paths'] == 0");
	for (i = 0; i < 2; i++) {
		fd = endpoint(theirs[i], &port);
		dialogue(fd, theirs[i], 1200);
		too_long(fd, theirs[i], 1400);
		/* it is known: cut here, for all who want that */
		dialogue(fd, theirs[i], 1400);
		dialogue(fd, theirs[i], 20000);
		T_OK(close(fd));
		fd = endpoint(theirs[i], &port);
		dialogue(fd, theirs[i], 1400);
		discover(fd, IP_PMTUDISC_DO);
		too_long(fd, theirs[i], 1400);
		dialogue(fd, theirs[i], 1200);
		discover(fd, IP_PMTUDISC_PROBE);
		too_long(fd, theirs[i], 1400);
		too_long(fd, theirs[i], 1473);
		T_OK(close(fd));
	}
	stat_says("t0", "c['narrower-paths'] == 2 and c['fragments-out'] > 30 "
		"and c['reassembly-failed'] == 0");
	order('k', "", 0, 0);
	r = answer();
	good(r);
}

T_CASE_TIMEOUT(raw_sends_what_the_transport_makes, 60)
{
	static const char *const theirs[] = { "10.78.0.2", "fd78::2" };
	struct report r;
	unsigned i, k;
	int fd, port;

	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "10.78.0.1/32",
		"-a", "fd78::1/128", "-r", "10.78.0.0/24", "-r", "fd78::/64"),
		0);
	for (i = 0; i < 2; i++) {
		fd = endpoint(theirs[i], &port);
		for (k = 0; k < NSIZES; k++)
			dialogue(fd, theirs[i], sizes[k]);
		T_OK(close(fd));
	}
	order('k', "", 0, 0);
	r = answer();
	good(r);
	T_GT(r.packets, 100u);
	stat_says("r0", "c['out'] > 50 and c['fragments-out'] > 50");
	T_EQ(RUN(-1, "strwire", "del", "r0"), 0);
	T_EQ(RUN(-1, "strwire", "stat", "r0"), 1);
}

T_CASE_TIMEOUT(packet_answers_for_its_own_addresses, 60)
{
	struct report r;
	pid_t tap;

	two_namespaces();
	/* the kernel here shall not feel responsible for what is not its own */
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	tap = start_argv(-1, "/dev/null", (const char *const[]){ "strtap",
		"-i", "p0", "-w", temp("p0.pcap"), NULL });
	T_SOON(RUN(-1, "strwire", "stat", "--json", "p0") == 0 &&
		json_says("v[0]['taps'] == 1"), 10000);
	talk("10.78.0.9", "10.78.0.2");
	talk("fd78::9", "fd78::2");
	order('p', "10.78.0.9", 0, 0);
	good(answer());
	order('c', "10.78.0.9", 9, 100);
	r = answer();
	T_STR(r.text, strerror(ECONNREFUSED));
	T_EQ(stop(tap, SIGTERM), 0);
	T_GT(captured(temp("p0.pcap")), 200u);
	tshark_finds_nothing(temp("p0.pcap"));
	order('k', "", 0, 0);
	r = answer();
	good(r);
	T_GT(r.packets, 200u);
	stat_says("p0", "c['reassembled'] > 10 and c['bad-checksum'] == 0 "
		"and c['reassembly-failed'] == 0");
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

/* The filter of the socket: the host's own traffic is not received. */
T_CASE_TIMEOUT(packet_gets_nothing_that_is_for_the_host, 60)
{
	static const char *const six[] = { "fd78::7", "fd78::9" };
	struct report r;
	unsigned i;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.7/24", "-a", "10.78.0.9/24", "-a", "fd78::7/64",
		"-a", "fd78::9/64"), 0);
	order('f', "10.78.0.1", 9, 400);
	good(answer());
	order('f', "fd78::1", 9, 400);
	good(answer());
	/* but for each of its own addresses */
	order('p', "10.78.0.7", 0, 0);
	good(answer());
	order('p', "10.78.0.9", 0, 0);
	good(answer());
	for (i = 0; i < 2; i++) {
		order('c', six[i], 9, 100);
		r = answer();
		T_STR(r.text, strerror(ECONNREFUSED));
	}
	/* and for frames to all stations, of which those that the other side
	 * sends without an address, while it checks its own, are discarded */
	stat_says("p0", "4 <= c['in'] < 100");
}

T_CASE_TIMEOUT(packet_finds_its_neighbour_first_and_again, 60)
{
	static const char *const theirs[] = { "10.78.0.2", "fd78::2" };
	struct sockaddr_storage ss;
	unsigned i;
	int fd, port;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	/* a station that there is not: given up, and no harm to the others */
	for (i = 0; i < 2; i++) {
		fd = endpoint(theirs[i], &port);
		in_unitdata(fd, &ss, (int)in_addr(&ss, family_of(theirs[i]),
			i == 0 ? "10.78.0.77" : "fd78::77", 9), "x", 1);
		dialogue(fd, theirs[i], 1000);
		dialogue(fd, theirs[i], 5000);
		T_OK(close(fd));
	}
	T_SOON(RUN(-1, "strwire", "stat", "--json", "p0") == 0 &&
		json_says("v[0]['counts']['full'] == 2"), 10000);
}

/* Stations that do not answer are reported to the sender. */
T_CASE_TIMEOUT(a_station_that_is_not_there_is_reported, 60)
{
	static const char *const none[] = { "10.78.0.77", "fd78::77" };
	struct sockaddr_storage ss;
	unsigned i;
	int fd, port;

	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	for (i = 0; i < 2; i++) {
		fd = endpoint(none[i], &port);
		in_unitdata(fd, &ss, (int)in_addr(&ss, family_of(none[i]),
			none[i], 9), "x", 1);
		T_FALSE(in_quiet(fd, 10000));
		in_want(fd, T_UDERROR_IND);
		T_EQ(in.p.uderror_ind.ERROR_type, EHOSTUNREACH);
		T_OK(close(fd));
	}
	stat_says("p0", "c['full'] == 2");
}

/* RFC 1122 s2.3.2: all datagrams arrive, and each station is asked for once. */
T_CASE_TIMEOUT(many_stations_are_reached, 60)
{
	enum { HOSTS = 4096, EACH = 2 };
	struct sockaddr_storage ss;
	int i, k, fd, port;
	char addr[32];
	struct report r;
	unsigned n = 0;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.80.255.9/16"), 0);
	fd = endpoint("10.80.0.1", &port);
	for (k = 0; k < EACH; k++)
		for (i = 0; i < HOSTS; i++) {
			snprintf(addr, sizeof(addr), "10.80.%d.%d", i / 256,
				i % 256);
			in_unitdata(fd, &ss, (int)in_addr(&ss, AF_INET, addr,
				SINK), "x", 1);
		}
	for (i = 0; i < 100 && n < HOSTS * EACH; i++) {
		order('n', "", 0, 0);
		r = answer();
		n += r.packets;
		T_TRUE(in_quiet(fd, 100));
	}
	T_EQ(n, HOSTS * EACH);
	order('k', "", 0, 0);
	r = answer();
	good(r);
	T_EQ(r.requests, HOSTS);
	stat_says("p0", "c.get('full', 0) == 0");
	T_OK(close(fd));
}

static int
wire_is(const char *state)
{
	char text[64];

	snprintf(text, sizeof(text), "v[0]['state'] == '%s'", state);
	return RUN(-1, "strwire", "stat", "--json", "p0") == 0 &&
		json_says(text);
}

static int
called(int fd, int port)
{
	struct report r;

	order('c', "10.78.0.9", port, 100);
	if (!in_quiet(fd, 2000))
		(void)turn_round(fd);
	r = answer();
	return r.ok;
}

/* Changes of the interface are noticed. */
T_CASE_TIMEOUT(an_interface_changes_below_a_wire, 60)
{
	static char big[1400];
	struct sockaddr_storage ss;
	int fd, port;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	fd = endpoint("10.78.0.2", &port);
	dialogue(fd, "10.78.0.2", 1400);
	stat_says("p0", "c.get('fragments-out', 0) == 0");
	/* its MTU */
	sh("ip link set a0 mtu 1300");
	T_SOON(RUN(-1, "strwire", "stat", "--json", "p0") == 0 &&
		json_says("v[0]['mtu'] == 1300"), 5000);
	in_unitdata(fd, &ss, (int)in_addr(&ss, AF_INET, "10.78.0.2", SINK), big,
		sizeof(big));
	stat_says("p0", "c['fragments-out'] == 2");
	order('n', "", 0, 0);
	T_EQ(answer().packets, 1);
	/* down and up */
	sh("ip link set a0 down");
	T_SOON(wire_is("down"), 5000);
	in_unitdata(fd, &ss, (int)in_addr(&ss, AF_INET, "10.78.0.2", ECHO), "x",
		1);
	T_FALSE(in_quiet(fd, 5000));
	in_want(fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, ENETDOWN);
	sh("ip link set a0 up");
	T_SOON(wire_is("up"), 5000);
	dialogue(fd, "10.78.0.2", 1000);
	T_TRUE(called(fd, port));
	/* its address: the other side hears of that */
	sh("ip link set a0 address 02:00:00:00:00:77");
	T_SOON(called(fd, port), 15000); /* the first call may be lost */
	dialogue(fd, "10.78.0.2", 1000);
	/* it is removed, and made again */
	sh("ip link del a0");
	T_SOON(wire_is("down"), 5000);
	sh("ip link add a0 type veth peer name a1");
	T_TRUE(wire_is("down"));
	sh("ip link set a0 up");
	sh("ip link set a1 up");
	T_SOON(wire_is("up"), 5000);
	T_OK(close(fd));
}

T_CASE_TIMEOUT(wires_are_added_at_the_same_time, 60)
{
	enum { N = 6, ROUNDS = 5 };
	char name[16], addr[32];
	pid_t pid[N];
	int i, k;

	own_namespace();
	for (k = 0; k < ROUNDS; k++) {
		for (i = 0; i < N; i++) {
			snprintf(name, sizeof(name), "r%d", i);
			snprintf(addr, sizeof(addr), "192.0.2.%d/32", i + 1);
			pid[i] = start_argv(-1, "/dev/null",
				(const char *const[]){ "strwire", "add", "raw",
				name, "-a", addr, NULL });
		}
		for (i = 0; i < N; i++)
			T_EQ(stop(pid[i], 0), 0);
		T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
		T_TRUE(json_says("sorted(w['name'] for w in v) == "
			"['lo', 'r0', 'r1', 'r2', 'r3', 'r4', 'r5']"));
		/* one goes while another comes in its place */
		for (i = 0; i < N; i++) {
			snprintf(name, sizeof(name), "r%d", i);
			pid[i] = start_argv(-1, "/dev/null",
				(const char *const[]){ "strwire", "del", name,
				NULL });
		}
		T_EQ(RUN(-1, "strwire", "add", "raw", "new",
			"-a", "192.0.2.77/32"), 0);
		for (i = 0; i < N; i++)
			T_EQ(stop(pid[i], 0), 0);
		T_EQ(RUN(-1, "strwire", "del", "new"), 0);
	}
}

T_CASE(wires_that_cannot_be_are_refused)
{
	own_namespace();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 0);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "192.0.2.1/32"), 1);
	T_EQ(RUN(-1, "strwire", "add", "raw", "lo", "-a", "192.0.2.1/32"), 1);
	T_EQ(RUN(-1, "strwire", "add", "wet", "r1", "-a", "192.0.2.1/32"), 2);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r1"), 2);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r1", "-a", "192.0.2.1/33"), 2);
	T_EQ(RUN(-1, "strwire", "add", "raw", "r1", "-a", "nobody"), 2);
	T_EQ(RUN(-1, "strwire", "add", "raw", "a-name-that-is-too-long",
		"-a", "192.0.2.1/32"), 2);
	T_EQ(RUN(-1, "strwire", "del", "lo"), 1);
	T_EQ(RUN(-1, "strwire", "del", "nobody"), 1);
	T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
	T_TRUE(json_says("[w['name'] for w in v] == ['lo', 'r0']"));
	T_EQ(RUN(-1, "strwire", "del", "r0"), 0);
	T_EQ(RUN(-1, "strwire", "list"), 0);
	T_NULL(strstr(out_text, "r0"));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires that need privilege, between two network namespaces.
 *
 * This process is in the first one, with native endpoints; the second has
 * plain programs of the kernel's UDP (there()).  A veth pair connects them.
 *
 *	wire t0 (own addresses)		this namespace	   that namespace
 *	10.79.0.2, fd79::2  -- TUN --  10.79.0.1, fd79::1
 *					10.78.0.1, fd78::1 -- 10.78.0.2, fd78::2
 *
 * Both namespaces and all that is in them end with their last process, that
 * is, with the case; nothing is sent anywhere else.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/ip_icmp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/ipwire.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pcap.h"

#define MOST 65507
#define ECHO 7000

/* What the other side is asked to do, and says. */
struct order {
	/* 'c': call addr, 'p': ping it, 'f': flood it with `size' datagrams of
	 * a byte, 'm': the same, addr is a group, 'k': look at what passed */
	char what;
	int size, port;
	char addr[48];
};
struct report {
	int ok;
	unsigned packets;
	char text[80];
};

static int other = -1; /* a socket to it */
static int between = 1500; /* bytes that the link between both carries */

/* ------------------------------------------------------------ the other side */

static int
family_of(const char *addr)
{
	return strchr(addr, ':') != NULL ? AF_INET6 : AF_INET;
}

static int
echo_socket(const char *addr)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(addr), addr, ECHO);
	int s = T_OK(socket(family_of(addr), SOCK_DGRAM, 0)), big = 1 << 20;

	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &big, sizeof(big));
	T_OK(bind(s, (struct sockaddr *)&ss, len));
	return s;
}

static void
echo(int s)
{
	static char buf[70000];
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	ssize_t n = recvfrom(s, buf, sizeof(buf), 0, (struct sockaddr *)&ss,
		&len);

	if (n >= 0)
		(void)sendto(s, buf, (size_t)n, 0, (struct sockaddr *)&ss, len);
}

static void
pattern(char *p, int n)
{
	int i;

	for (i = 0; i < n; i++)
		p[i] = (char)in_byte((uint64_t)i + (uint64_t)n);
}

/* A datagram there, which has to come back. */
static void
call(const struct order *o, struct report *r)
{
	static char buf[MOST], back[MOST + 1];
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(o->addr), o->addr, o->port);
	int s = T_OK(socket(family_of(o->addr), SOCK_DGRAM, 0));
	struct pollfd p = { s, POLLIN, 0 };
	ssize_t n;

	pattern(buf, o->size);
	T_OK(connect(s, (struct sockaddr *)&ss, len));
	if (send(s, buf, (size_t)o->size, 0) != o->size)
		snprintf(r->text, sizeof(r->text), "send: %s", strerror(errno));
	else if (poll(&p, 1, 5000) != 1)
		snprintf(r->text, sizeof(r->text), "no answer");
	else if ((n = recv(s, back, sizeof(back), 0)) < 0)
		snprintf(r->text, sizeof(r->text), "%s", strerror(errno));
	else if (n != o->size || memcmp(buf, back, (size_t)n) != 0)
		snprintf(r->text, sizeof(r->text), "another answer");
	else
		r->ok = 1;
	T_OK(close(s));
}

/* An echo request of ICMP. */
static void
ping(const struct order *o, struct report *r)
{
	struct icmphdr h = { .type = ICMP_ECHO, .un.echo.id = 77 };
	char buf[64 + sizeof(h)], back[256];
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET, o->addr, 0);
	int s = T_OK(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	struct pollfd p = { s, POLLIN, 0 };
	unsigned sum = 0, i;
	ssize_t n;

	pattern(buf, sizeof(buf));
	memcpy(buf, &h, sizeof(h));
	for (i = 0; i < sizeof(buf); i += 2)
		sum += (unsigned)(unsigned char)buf[i] << 8 |
			(unsigned char)buf[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	h.checksum = htons((uint16_t)~((sum & 0xffff) + (sum >> 16)));
	memcpy(buf, &h, sizeof(h));
	T_EQ(sendto(s, buf, sizeof(buf), 0, (struct sockaddr *)&ss, len),
		(ssize_t)sizeof(buf));
	while (poll(&p, 1, 5000) == 1) {
		n = recv(s, back, sizeof(back), 0);
		if (n == 20 + (ssize_t)sizeof(buf) && back[20] == 0 &&
			memcmp(back + 28, buf + 8, sizeof(buf) - 8) == 0) {
			r->ok = 1;
			break;
		}
	}
	T_OK(close(s));
}

/* Many small ones, not faster than they are taken. */
static void
flood(const struct order *o, struct report *r)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(o->addr), o->addr, o->port);
	int s = T_OK(socket(family_of(o->addr), SOCK_DGRAM, 0)), i;
	int by = (int)if_nametoindex("b0");
	struct ip_mreqn m = { .imr_ifindex = by };

	if (o->what == 'm' && len == sizeof(struct sockaddr_in))
		T_OK(setsockopt(s, IPPROTO_IP, IP_MULTICAST_IF, &m, sizeof(m)));
	else if (o->what == 'm')
		T_OK(setsockopt(s, IPPROTO_IPV6, IPV6_MULTICAST_IF, &by,
			sizeof(by)));
	for (i = 0; i < o->size; i++) {
		T_EQ(sendto(s, "x", 1, 0, (struct sockaddr *)&ss, len), 1);
		if (i % 8 == 7)
			t_pause();
	}
	r->ok = 1;
	T_OK(close(s));
}

/* Whatever passed on the device must be good. */
static void
look(int capture, struct report *r)
{
	static unsigned char buf[70000];
	struct sockaddr_ll ll;
	socklen_t len = sizeof(ll);
	const char *wrong;
	ssize_t n;

	r->ok = 1;
	while ((n = recvfrom(capture, buf, sizeof(buf), MSG_DONTWAIT,
		(struct sockaddr *)&ll, &len)) >= 0) {
		len = sizeof(ll);
		if (ntohs(ll.sll_protocol) != ETH_P_IP &&
			ntohs(ll.sll_protocol) != ETH_P_IPV6)
			continue;
		r->packets++;
		wrong = packet_wrong(buf, (size_t)n, 0);
		if (wrong == NULL || !r->ok)
			continue;
		r->ok = 0;
		snprintf(r->text, sizeof(r->text), "%s, %zd bytes", wrong, n);
	}
}

/* The system is to make checksums itself, before anybody looks. */
static void
no_offload(const char *dev)
{
	static const uint32_t cmd[] = {
		ETHTOOL_STXCSUM, ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_SGRO};
	int s = T_OK(socket(AF_INET, SOCK_DGRAM, 0));
	struct ethtool_value v;
	struct ifreq r;
	unsigned i;

	memset(&r, 0, sizeof(r));
	strcpy(r.ifr_name, dev);
	r.ifr_data = (char *)&v;
	for (i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++) {
		v.cmd = cmd[i];
		v.data = 0;
		(void)ioctl(s, SIOCETHTOOL, &r);
	}
	T_OK(close(s));
}

static int
capture_of(const char *dev)
{
	int s = T_OK(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)));
	struct sockaddr_ll ll = { .sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(dev) };
	int big = 8 << 20;

	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof(big));
	T_OK(bind(s, (struct sockaddr *)&ll, sizeof(ll)));
	return s;
}

static void T_NORETURN
there(int s)
{
	struct pollfd p[3];
	struct order o;
	struct report r;
	int capture;
	char c = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	T_OK(unshare(CLONE_NEWNET));
	T_EQ(write(s, &c, 1), 1);
	T_EQ(read(s, &c, 1), 1); /* the device has come */
	sh("ip link set lo up");
	no_offload("b0");
	sh("ip addr add 10.78.0.2/24 dev b0");
	sh("ip addr add fd78::2/64 dev b0 nodad");
	sh("ip link set b0 up");
	sh("ip route add 10.79.0.0/24 via 10.78.0.1");
	sh("ip -6 route add fd79::/64 via fd78::1");
	capture = capture_of("b0");
	p[0] = (struct pollfd){ s, POLLIN, 0 };
	p[1] = (struct pollfd){ echo_socket("10.78.0.2"), POLLIN, 0 };
	p[2] = (struct pollfd){ echo_socket("fd78::2"), POLLIN, 0 };
	T_EQ(write(s, &c, 1), 1);
	for (;;) {
		T_GT(poll(p, 3, -1), 0);
		if (p[1].revents)
			echo(p[1].fd);
		if (p[2].revents)
			echo(p[2].fd);
		if (!p[0].revents)
			continue;
		if (read(s, &o, sizeof(o)) != sizeof(o))
			_exit(0);
		memset(&r, 0, sizeof(r));
		if (o.what == 'c')
			call(&o, &r);
		else if (o.what == 'p')
			ping(&o, &r);
		else if (o.what == 'f' || o.what == 'm')
			flood(&o, &r);
		else
			look(capture, &r);
		T_EQ(write(s, &r, sizeof(r)), (ssize_t)sizeof(r));
	}
}

static void
order(char what, const char *addr, int port, int size)
{
	struct order o = { what, size, port, "" };

	snprintf(o.addr, sizeof(o.addr), "%s", addr);
	T_EQ(write(other, &o, sizeof(o)), (ssize_t)sizeof(o));
}

static struct report
answer(void)
{
	struct report r;
	struct pollfd p = { other, POLLIN, 0 };

	T_EQ(poll(&p, 1, 10000), 1);
	T_EQ(read(other, &r, sizeof(r)), (ssize_t)sizeof(r));
	return r;
}

static void
good(struct report r)
{
	if (!r.ok)
		T_FAIL("the other side: %s", r.text);
}

/* ------------------------------------------------------------------ this side */

static void
two_namespaces(void)
{
	int sv[2], fd;
	pid_t pid;
	char c;

	if (system("ip -V >/dev/null 2>&1") != 0)
		T_SKIP("no program ip");
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		T_SKIP("no /dev/net/tun");
	T_OK(close(fd));
	own_namespace();
	may_make("IPv6", AF_INET6, SOCK_DGRAM, 0);
	may_write("/proc/sys/net/ipv4/ip_forward");
	may_write("/proc/sys/net/ipv6/conf/all/forwarding");
	T_OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv));
	pid = T_OK(fork());
	if (pid == 0) {
		close(sv[0]);
		there(sv[1]);
	}
	T_OK(close(sv[1]));
	other = sv[0];
	T_EQ(read(other, &c, 1), 1);
	sh("ip link set lo up");
	if (system("ip link add a0 type veth peer name b0 2>/dev/null") != 0)
		T_SKIP("no veth devices");
	sh("ip link set a0 mtu %d", between);
	sh("ip link set b0 mtu %d", between);
	no_offload("a0");
	no_offload("b0");
	sh("ip link set b0 netns %d", (int)pid);
	sh("ip addr add 10.78.0.1/24 dev a0");
	sh("ip addr add fd78::1/64 dev a0 nodad");
	sh("ip link set a0 up");
	put_file("/proc/sys/net/ipv4/ip_forward", "1");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "1");
	T_EQ(write(other, &c, 1), 1);
	T_EQ(read(other, &c, 1), 1);
}

static void
add_tun(void)
{
	T_EQ(RUN(-1, "strwire", "add", "tun", "t0", "-f", "strtun0",
		"-a", "10.79.0.2/24", "-g", "10.79.0.1/24",
		"-a", "fd79::2/64", "-g", "fd79::1/64",
		"-r", "10.78.0.0/24", "-r", "fd78::/64"), 0);
}

static int
endpoint(const char *addr, int *ret_port)
{
	struct sockaddr_storage ss;
	int family = family_of(addr), fd;
	socklen_t len = in_addr(&ss, family,
		family == AF_INET ? "0.0.0.0" : "::", 0);

	fd = in_open(family == AF_INET ? "/dev/udp2" : "/dev/udp2_6");
	*ret_port = in_bind(fd, &ss, len, 0);
	return fd;
}

/* What came at @fd goes back where it came from; how much it was. */
static int
turn_round(int fd)
{
	struct T_unitdata_ind *ui = &in.p.unitdata_ind;

	in_want(fd, T_UNITDATA_IND);
	in_unitdata(fd, in.ctl + ui->SRC_offset, ui->SRC_length, in.data,
		in.datalen);
	return in.datalen;
}

/* @size bytes there and back, begun here. */
static void
dialogue(int fd, const char *addr, int size)
{
	static char buf[MOST];
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(addr), addr, ECHO);

	pattern(buf, size);
	in_unitdata(fd, &ss, (int)len, buf, size);
	in_want(fd, T_UNITDATA_IND);
	T_EQ(in.datalen, size);
	T_MEM(in.data, buf, (size_t)size);
}

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

/* The number that `strwire stat --json' gives for @what of wire @name. */
static void
stat_says(const char *name, const char *expr)
{
	char text[256];

	T_EQ(RUN(-1, "strwire", "stat", "--json", name), 0);
	snprintf(text, sizeof(text), "(lambda w, c: %s)(v[0], v[0]['counts'])",
		expr);
	T_TRUE(json_says(text));
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

/* @size bytes to there are refused, by whoever knows. */
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

/* What the domain's memory holds. */
static double
used(void)
{
	const char *p;

	T_EQ(RUN(-1, "strinfo", "--json"), 0);
	p = strstr(out_text, "\"used\":");
	T_NOTNULL(p);
	return atof(p + 7);
}

/* Who does not read holds what it is charged for, and not the wire's blocks. */
static void
small_ones_to(const char *wire, const char *addr)
{
	enum { N = 3000 };
	int port, fd = endpoint("10.78.0.2", &port);
	double before;

	dialogue(fd, "10.78.0.2", 1000); /* whatever there is once */
	before = used();
	order('f', addr, port, N);
	good(answer());
	T_SOON(RUN(-1, "strwire", "stat", "--json", wire) == 0 &&
		json_says("v[0]['counts']['in'] > 1500"), 10000);
	T_LT(used() - before, 2048.0 * N);
	in_want(fd, T_UNITDATA_IND);
	T_EQ(in.datalen, 1);
	T_OK(close(fd));
}

T_CASE_TIMEOUT(small_packets_take_little_memory, 60)
{
	two_namespaces();
	add_tun();
	small_ones_to("t0", "10.79.0.2");
	T_EQ(RUN(-1, "strwire", "del", "t0"), 0);
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	small_ones_to("p0", "10.78.0.9");
}

/* An endpoint of that port, which others may have, bound there. */
static int
sharing_at(const char *addr, int *port)
{
	struct sockaddr_storage ss;
	int family = family_of(addr), fd, yes = T_YES;
	socklen_t len = in_addr(&ss, family, addr, *port);

	fd = in_open(family == AF_INET ? "/dev/udp2" : "/dev/udp2_6");
	T_EQ(ns_option(fd, XTI_GENERIC, XTI_REUSEADDR, &yes, sizeof(yes)),
		T_SUCCESS);
	*port = in_bind(fd, &ss, len, 0);
	return fd;
}

/* ... at any address of the family of @addr */
static int
sharing(const char *addr, int *port)
{
	return sharing_at(family_of(addr) == AF_INET ? "0.0.0.0" : "::", port);
}

static int
membership(int fd, const char *group, int joins)
{
	int name = joins ? T_IP_ADD_MEMBERSHIP : T_IP_DROP_MEMBERSHIP;
	struct ipv6_mreq m6 = { .ipv6mr_interface = if_nametoindex("a0") };
	struct ip_mreq m4;

	if (family_of(group) == AF_INET) {
		T_EQ(inet_pton(AF_INET, group, &m4.imr_multiaddr), 1);
		T_EQ(inet_pton(AF_INET, "10.78.0.9", &m4.imr_interface), 1);
		return ns_option(fd, T_INET_IP, name, &m4, sizeof(m4));
	}
	T_EQ(inet_pton(AF_INET6, group, &m6.ipv6mr_multiaddr), 1);
	return ns_option(fd, T_INET_IP, name, &m6, sizeof(m6));
}

/*
 * One datagram to the group: so many of @fd, @n of them, get it, once.  What
 * comes by the wire behind it has come: it was given to who was in the group.
 */
static void
reach(const char *group, int port, const int *fd, const int *get, int n)
{
	const char *there = family_of(group) == AF_INET ? "10.78.0.2" :
		"fd78::2";
	int i, other_port, behind = endpoint(there, &other_port);

	order('m', group, port, 1);
	good(answer());
	dialogue(behind, there, 1);
	T_OK(close(behind));
	for (i = 0; i < n; i++) {
		if (!get[i])
			continue;
		T_FALSE(in_quiet(fd[i], 5000));
		in_want(fd[i], T_UNITDATA_IND);
		T_EQ(in.datalen, 1);
	}
	for (i = 0; i < n; i++)
		T_TRUE(in_quiet(fd[i], 20));
}

/* RFC 1112 s7, RFC 4291 s2.7 */
T_CASE_TIMEOUT(groups_are_joined_on_wires_and_only_members_hear_them, 60)
{
	static const char *const groups[] = { "239.1.2.3", "ff15::12:3456" };
	static const char *const macs[] = { "01005e010203", "333300123456" };
	int fd[3], port, i, st;
	pid_t pid;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	for (i = 0; i < 2; i++) {
		port = 0;
		fd[0] = sharing(groups[i], &port);
		fd[1] = sharing(groups[i], &port);
		fd[2] = sharing(groups[i], &port);
		T_EQ(ns_listens("a0", macs[i]), 0);
		reach(groups[i], port, fd, (const int[]){ 0, 0, 0 }, 3);
		T_EQ(membership(fd[0], groups[i], 1), T_SUCCESS);
		T_EQ(membership(fd[1], groups[i], 1), T_SUCCESS);
		T_NE(membership(fd[1], groups[i], 1), T_SUCCESS);
		T_NE(membership(fd[2], groups[i], 0), T_SUCCESS);
		T_SOON(ns_listens("a0", macs[i]), 5000);
		reach(groups[i], port, fd, (const int[]){ 1, 1, 0 }, 3);
		T_EQ(membership(fd[0], groups[i], 0), T_SUCCESS);
		reach(groups[i], port, fd, (const int[]){ 0, 1, 0 }, 3);
		/* the wire is in it as long as anybody is */
		T_TRUE(ns_listens("a0", macs[i]));
		T_OK(close(fd[1]));
		T_SOON(!ns_listens("a0", macs[i]), 5000);
		/* whoever is killed leaves, too */
		pid = T_OK(fork());
		if (pid == 0) {
			fd[1] = sharing(groups[i], &port);
			T_EQ(membership(fd[1], groups[i], 1), T_SUCCESS);
			T_SOON(ns_listens("a0", macs[i]), 5000);
			_exit(kill(getpid(), SIGKILL));
		}
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_TRUE(WIFSIGNALED(st));
		T_SOON(!ns_listens("a0", macs[i]), 10000);
		T_OK(close(fd[0]));
		T_OK(close(fd[2]));
	}
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

/* RFC 1122 s3.2.1.3, RFC 4291 s2.7 */
T_CASE_TIMEOUT(who_is_bound_to_a_group_does_not_send_from_it, 60)
{
	static const char *const groups[] = { "239.1.2.3", "ff15::12:3456" };
	static const char *const peers[] = { "10.78.0.2", "fd78::2" };
	struct sockaddr_storage ss;
	int fd, group, port, i;
	socklen_t len;

	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	for (i = 0; i < 2; i++) {
		port = 0;
		fd = sharing(groups[i], &port);
		group = sharing_at(groups[i], &port);
		len = in_addr(&ss, family_of(peers[i]), peers[i], ECHO);
		in_unitdata(group, &ss, (int)len, "hello", 5);
		T_FALSE(in_quiet(fd, 5000));
		in_want(fd, T_UNITDATA_IND);
		T_EQ(in.datalen, 5);
		T_OK(close(group));
		T_OK(close(fd));
	}
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

T_CASE_TIMEOUT(a_wire_comes_back_when_streamsd_was_killed, 60)
{
	int port, fd, i;
	pid_t was;

	two_namespaces();
	add_tun();
	fd = endpoint("10.78.0.2", &port);
	dialogue(fd, "10.78.0.2", 1000);
	T_OK(close(fd));
	for (i = 0; i < 3; i++) {
		T_SOON((was = ns_streamsd()) != 0, 5000);
		T_OK(kill(was, SIGKILL));
		T_SOON(ns_ended(was), 5000);
		/* another process: it has nothing that the dead one had */
		T_SOON(RUN(-1, "strwire", "stat", "--json", "t0") == 0 &&
			json_says("v[0]['state'] == 'up'") &&
			if_nametoindex("strtun0") != 0, 10000);
	}
	fd = endpoint("10.78.0.2", &port);
	dialogue(fd, "10.78.0.2", 4000);
	order('c', "10.79.0.2", port, 4000);
	T_EQ(turn_round(fd), 4000);
	good(answer());
	T_OK(close(fd));
}

/* An answer comes, if not to the first question. */
static void
answers(int fd, const char *addr)
{
	uint64_t end = t_now_ns() + 15000000000u * t_scale();
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(addr), addr, ECHO);

	do {
		if (t_now_ns() > end)
			T_FAIL("no answer from %s", addr);
		in_unitdata(fd, &ss, (int)len, "still there?", 12);
	} while (in_quiet(fd, 100));
	while (!in_quiet(fd, 0)) {
		in_want(fd, T_UNITDATA_IND);
		T_EQ(in.datalen, 12);
	}
}

/* streamsd is killed every second (WIRES_KILLS times), while both families
 * ask and are answered: nobody but these looks after wire @name. */
static void
killed_under_load(const char *name)
{
	const char *s = getenv("WIRES_KILLS");
	int n = s != NULL ? atoi(s) : 3, every = s != NULL ? 1000 : 50;
	int i, four, six, port;
	uint64_t next;
	pid_t was;

	four = endpoint("10.78.0.2", &port);
	six = endpoint("fd78::2", &port);
	for (i = 0; i < n; i++) {
		answers(four, "10.78.0.2");
		answers(six, "fd78::2");
		/* who sends sees to it that there is another, soon */
		T_SOON((was = ns_streamsd()) != 0 ||
			(answers(four, "10.78.0.2"), answers(six, "fd78::2"),
			0), 10000);
		T_OK(kill(was, SIGKILL));
		next = t_now_ns() + (uint64_t)every * 1000000u;
		do {
			answers(four, "10.78.0.2");
			answers(six, "fd78::2");
		} while (t_now_ns() < next);
	}
	T_EQ(RUN(-1, "strwire", "stat", "--json", name), 0);
	T_TRUE(json_says("v[0]['state'] == 'up'"));
	T_OK(close(four));
	T_OK(close(six));
	T_EQ(RUN(-1, "strwire", "del", name), 0);
}

/* What waits at @fd is read.  Return: how many there were. */
static int
drain(int fd)
{
	int n;

	for (n = 0; !in_quiet(fd, 20); n++) {
		in_want(fd, T_UNITDATA_IND);
		T_LE(in.datalen, 12);
	}
	return n;
}

/*
 * One reads some of what comes by @wire, for @addr, and no more until all has
 * been sent.  That is lost, and nothing else: who else is there is served, by
 * whole packets and by fragments, and so is he when he reads again.
 */
static void
one_stops_reading(const char *wire, const char *addr)
{
	enum { N = 1500, ROUNDS = 6, ROOM = 4096 };
	int port, other_port, i, k, room = ROOM;
	int slow = endpoint("10.78.0.2", &port);
	int fd = endpoint("10.78.0.2", &other_port);

	T_EQ(ns_option(slow, XTI_GENERIC, XTI_RCVBUF, &room, sizeof(room)),
		T_SUCCESS);
	for (i = 0; i < ROUNDS; i++) {
		order('f', addr, port, N);
		for (k = 0; k < i * 20; k++) {
			T_FALSE(in_quiet(slow, 10000));
			in_want(slow, T_UNITDATA_IND);
			T_EQ(in.datalen, 1);
		}
		good(answer());
		dialogue(fd, "10.78.0.2", 1000);
		dialogue(fd, "10.78.0.2", 20000);
		T_GT(drain(slow), 0);
		answers(slow, "10.78.0.2");
		(void)drain(slow);
	}
	stat_says(wire, "c['full'] > 0");
	T_OK(close(slow));
	T_OK(close(fd));
}

T_CASE_TIMEOUT(tun_goes_on_when_one_stops_reading, 60)
{
	two_namespaces();
	add_tun();
	one_stops_reading("t0", "10.79.0.2");
}

T_CASE_TIMEOUT(packet_goes_on_when_one_stops_reading, 60)
{
	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	one_stops_reading("p0", "10.78.0.9");
}

T_CASE_TIMEOUT(tun_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	add_tun();
	killed_under_load("t0");
}

T_CASE_TIMEOUT(raw_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", "10.78.0.1/32",
		"-a", "fd78::1/128", "-r", "10.78.0.0/24", "-r", "fd78::/64"),
		0);
	killed_under_load("r0");
}

T_CASE_TIMEOUT(packet_goes_on_while_streamsd_is_killed, 60)
{
	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	killed_under_load("p0");
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Both sides of two network namespaces. */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"
#include "pcap.h"

/* order() */
struct order {
	char what;
	int size, port;
	char addr[48];
};

static int other = -1; /* a socket to it */
int between = 1500; /* bytes that the link between both carries */
int offload;	    /* the link's devices make checksums and cut trains */

/* ------------------------------------------------------------ the other side */

int
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

/* Datagrams of @size bytes by one call, as many as fit into 1000 bytes. */
static void
train(const struct order *o, struct report *r)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, family_of(o->addr), o->addr, o->port);
	int s = T_OK(socket(family_of(o->addr), SOCK_DGRAM, 0)), i;
	char b[TRAIN];

	for (i = 0; i < TRAIN; i++)
		b[i] = (char)('a' + i / o->size);
	T_OK(setsockopt(s, SOL_UDP, UDP_SEGMENT, &o->size, sizeof(o->size)));
	T_EQ(sendto(s, b, sizeof(b), 0, (struct sockaddr *)&ss, len), TRAIN);
	r->ok = 1;
	T_OK(close(s));
}

/* Whatever passed on the device must be good. */
static int
is_request(const unsigned char *p, ssize_t n)
{
	return n >= 28 && p[7] == 1 && memcmp(p + 14, p + 24, 4) != 0 &&
		memcmp(p + 14, "\0\0\0\0", 4) != 0;
}

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
		if (ntohs(ll.sll_protocol) == ETH_P_ARP &&
			ll.sll_pkttype == PACKET_BROADCAST)
			r->requests += (unsigned)is_request(buf, n);
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

	if (offload) {
		T_OK(close(s));
		return;
	}
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

/* All that came for SINK, at any address. */
static void
count_sunk(int s, struct report *r)
{
	char buf[64];

	while (recv(s, buf, sizeof(buf), MSG_DONTWAIT) >= 0)
		r->packets++;
	r->ok = 1;
}

static int
sink_socket(void)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET, "0.0.0.0", SINK);
	int s = T_OK(socket(AF_INET, SOCK_DGRAM, 0)), big = 16 << 20;

	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof(big));
	T_OK(bind(s, (struct sockaddr *)&ss, len));
	return s;
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
	int capture, sink;
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
	/* it is all hosts of that network */
	sh("ip route add local 10.80.0.0/16 dev lo");
	sh("ip route add 10.80.255.0/24 dev b0");
	capture = capture_of("b0");
	sink = sink_socket();
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
		else if (o.what == 't')
			train(&o, &r);
		else if (o.what == 'n')
			count_sunk(sink, &r);
		else
			look(capture, &r);
		T_EQ(write(s, &r, sizeof(r)), (ssize_t)sizeof(r));
	}
}

void
order(char what, const char *addr, int port, int size)
{
	struct order o = { what, size, port, "" };

	snprintf(o.addr, sizeof(o.addr), "%s", addr);
	T_EQ(write(other, &o, sizeof(o)), (ssize_t)sizeof(o));
}

struct report
answer(void)
{
	struct report r;
	struct pollfd p = { other, POLLIN, 0 };

	T_EQ(poll(&p, 1, 10000), 1);
	T_EQ(read(other, &r, sizeof(r)), (ssize_t)sizeof(r));
	return r;
}

void
good(struct report r)
{
	if (!r.ok)
		T_FAIL("the other side: %s", r.text);
}

/* ------------------------------------------------------------------ this side */

void
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

void
add_tun(void)
{
	T_EQ(RUN(-1, "strwire", "add", "tun", "t0", "-f", "strtun0",
		"-a", "10.79.0.2/24", "-g", "10.79.0.1/24",
		"-a", "fd79::2/64", "-g", "fd79::1/64",
		"-r", "10.78.0.0/24", "-r", "fd78::/64"), 0);
}

int
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

int
turn_round(int fd)
{
	struct T_unitdata_ind *ui = &in.p.unitdata_ind;

	in_want(fd, T_UNITDATA_IND);
	in_unitdata(fd, in.ctl + ui->SRC_offset, ui->SRC_length, in.data,
		in.datalen);
	return in.datalen;
}

void
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

void
stat_says(const char *name, const char *expr)
{
	char text[256];

	T_EQ(RUN(-1, "strwire", "stat", "--json", name), 0);
	snprintf(text, sizeof(text), "(lambda w, c: %s)(v[0], v[0]['counts'])",
		expr);
	if (!json_says(text))
		T_FAIL("not %s: %s", expr, out_text);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What RFC 768 and RFC 1122 s4.1 say of datagrams that come.
 *
 * They are made here, byte by byte.  The kernel's UDP gets them from a raw
 * socket; the native one from a tap on the wire lo, whose packets it reads as if
 * they had come from far.
 */
#include <sys/ipwire.h>
#include <sys/stream.h>

#include <str/wire.h>

#include "ud.h"

enum { ROOM = 256 };

/* A datagram that is being made. */
struct made {
	unsigned char p[ROOM];
	int ihl, len;	/* of the IP header, of all */
	int sport, dport;
	int ulen;	/* what its length field says */
	int sum;	/* its checksum: -1 the right one */
	const char *src;
};

static int way = -1; /* the raw socket, or the tap */

static int
sum_of(const unsigned char *p, int n, unsigned sum)
{
	int i;

	for (i = 0; i < n; i++)
		sum += i % 2 == 0 ? (unsigned)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (int)sum;
}

static void
put16(unsigned char *p, int v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static void
begin(void)
{
	struct ipw_tap want = {.name = "lo"};
	struct strioctl si = {.ic_cmd = IPW_TAP, .ic_timout = 15,
		.ic_len = sizeof(want), .ic_dp = (char *)&want};

	if (ud_native()) {
		way = in_open("/dev/streams/clone/ip");
		T_OK(ioctl(way, I_STR, &si));
		return;
	}
	way = socket(ud_family(), SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (way < 0)
		T_SKIP("no raw sockets: %s", strerror(errno));
}

/* One from @from to @to, of @n bytes, which is right as it is. */
static struct made
make(const struct ud *from, const struct ud *to, int n)
{
	struct made m;

	memset(&m, 0, sizeof(m));
	m.ihl = ud_six() ? 40 : 20;
	m.len = m.ihl + 8 + n;
	m.sport = in_port(&from->at);
	m.dport = in_port(&to->at);
	m.ulen = 8 + n;
	m.sum = -1;
	m.src = ud_home();
	memset(m.p + m.ihl + 8, 'd', (size_t)n);
	return m;
}

/* The headers, as they are to be; and away with it. */
static void
come(struct made *m)
{
	unsigned char *u = m->p + m->ihl, *ip = m->p;
	int alen = ud_six() ? 16 : 4, at = ud_six() ? 8 : 12, sum;
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, ud_family(), ud_home(), 0);

	T_EQ(inet_pton(ud_family(), m->src, ip + at), 1);
	T_EQ(inet_pton(ud_family(), ud_home(), ip + at + alen), 1);
	if (ud_six()) {
		ip[0] = 0x60;
		put16(ip + 4, m->len - 40);
		ip[6] = IPPROTO_UDP;
		ip[7] = 64;
	} else {
		ip[0] = (unsigned char)(0x40 | m->ihl / 4);
		put16(ip + 2, m->len);
		ip[8] = 64;
		ip[9] = IPPROTO_UDP;
		put16(ip + 10, 0);
		put16(ip + 10, ~sum_of(ip, m->ihl, 0));
	}
	put16(u, m->sport);
	put16(u + 2, m->dport);
	put16(u + 4, m->ulen);
	put16(u + 6, 0);
	sum = ~sum_of(u, m->ulen < m->len - m->ihl ? m->ulen :
		m->len - m->ihl, (unsigned)(sum_of(ip + at, 2 * alen, 0) +
		IPPROTO_UDP + m->ulen)) & 0xffff;
	put16(u + 6, m->sum >= 0 ? m->sum : sum != 0 ? sum : 0xffff);
	if (ud_native())
		in_put(way, NULL, 0, m->p, m->len, 0);
	else
		T_EQ(sendto(way, m->p, (size_t)m->len, 0,
			(struct sockaddr *)&ss, len), m->len);
}

static void
two(struct ud *from, struct ud *to)
{
	begin();
	ud_bound(from, ud_home(), 0);
	ud_bound(to, ud_home(), 0);
}

/* The next thing that comes at @to is one that is right: nothing came before. */
static void
dropped(const struct ud *from, const struct ud *to)
{
	struct made m = make(from, to, 3);

	come(&m);
	ud_get(to, "ddd", 3, from);
	ud_quiet(to);
}

/* How many have been dropped for their checksum. */
static unsigned long long
wrong_sums(void)
{
	struct ipw_info i = {.index = 0};
	struct strioctl si = {.ic_cmd = IPW_INFO, .ic_timout = 15,
		.ic_len = sizeof(i), .ic_dp = (char *)&i};
	char line[512], names[512] = "", *p, *q, *ps, *qs;
	FILE *f;

	if (ud_native()) {
		T_OK(ioctl(way, I_STR, &si));
		return i.count[WIRE_BAD + IP_CKSUM];
	}
	f = fopen(ud_six() ? "/proc/self/net/snmp6" : "/proc/self/net/snmp",
		"re");
	if (f == NULL)
		T_SKIP("the system does not say what it drops");
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "Udp6InCsumErrors", 16) == 0) {
			T_EQ(fclose(f), 0);
			return strtoull(line + 16, NULL, 10);
		}
		if (strncmp(line, "Udp:", 4) != 0)
			continue;
		if (names[0] == '\0') {
			strcpy(names, line);
			continue;
		}
		for (p = strtok_r(names, " \n", &ps),
			q = strtok_r(line, " \n", &qs); p != NULL && q != NULL;
			p = strtok_r(NULL, " \n", &ps),
			q = strtok_r(NULL, " \n", &qs))
			if (strcmp(p, "InCsumErrors") == 0) {
				T_EQ(fclose(f), 0);
				return strtoull(q, NULL, 10);
			}
	}
	T_EQ(fclose(f), 0);
	T_SKIP("the system does not count wrong checksums");
}

T_CASE(one_that_is_right_is_received)
{
	struct ud from, to;
	struct made m;

	two(&from, &to);
	m = make(&from, &to, 100);
	come(&m);
	ud_get(&to, m.p + m.ihl + 8, 100, &from);
}

/* RFC 768 Checksum: zero is none.  RFC 8200 s8.1: of IPv6 there has to be one */
T_CASE(a_checksum_of_zero_is_none)
{
	struct ud from, to;
	struct made m;

	two(&from, &to);
	m = make(&from, &to, 5);
	m.sum = 0;
	come(&m);
	if (!ud_six())
		ud_get(&to, "ddddd", 5, &from);
	dropped(&from, &to);
}

/* RFC 1122 s4.1.3.4: MUST be discarded */
T_CASE(a_wrong_checksum_is_dropped_and_counted)
{
	unsigned long long was;
	struct ud from, to;
	struct made m;

	two(&from, &to);
	was = wrong_sums();
	m = make(&from, &to, 5);
	m.sum = 0x1234;
	come(&m);
	dropped(&from, &to);
	T_GE(wrong_sums(), was + 1);
}

/* RFC 768 Length: what is behind it is none of the datagram's */
T_CASE(what_is_behind_its_length_is_not_received)
{
	struct ud from, to;
	struct made m;

	two(&from, &to);
	m = make(&from, &to, 50);
	m.ulen = 8 + 7;
	come(&m);
	ud_get(&to, "ddddddd", 7, &from);
	m.ulen = 8;
	come(&m);
	ud_get(&to, "", 0, &from);
}

/* RFC 768 Length: the header's at least; and not more than there is */
T_CASE(a_length_that_cannot_be_is_dropped)
{
	static const int is[] = {7, 1, 8 + 51, 0xffff};
	struct ud from, to;
	struct made m;
	unsigned i;

	two(&from, &to);
	for (i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		m = make(&from, &to, 50);
		m.ulen = is[i];
		come(&m);
	}
	dropped(&from, &to);
}

/* RFC 768 Source Port: zero when it is not used */
T_CASE(a_source_port_may_be_zero)
{
	struct ud from, to;
	struct made m;

	two(&from, &to);
	m = make(&from, &to, 4);
	m.sport = 0;
	come(&m);
	in_want(to.fd, T_UNITDATA_IND);
	T_EQ(in.datalen, 4);
	T_EQ(in_port(in.ctl + in.p.unitdata_ind.SRC_offset), 0);
}

/* RFC 1122 s4.1.3.6: MUST be discarded */
T_CASE(many_cannot_have_sent_it)
{
	struct ud from, to;
	struct made m;

	if (!ud_native() && !ud_six())
		T_SKIP("the system trusts what it sends to itself");
	two(&from, &to);
	m = make(&from, &to, 5);
	m.src = ud_six() ? "ff02::1" : "224.0.0.1";
	come(&m);
	m.src = ud_six() ? "ff05::2" : "255.255.255.255";
	come(&m);
	dropped(&from, &to);
}

/* RFC 1122 s4.1.3.2: options of IP do not keep it from being received */
T_CASE(one_with_options_is_received)
{
	struct ud from, to;
	struct made m;

	if (ud_six())
		T_SKIP("of IPv4");
	two(&from, &to);
	m = make(&from, &to, 6);
	memmove(m.p + 28, m.p + 20, (size_t)(m.len - 20));
	memset(m.p + 20, 1, 8); /* no operation */
	m.ihl += 8;
	m.len += 8;
	come(&m);
	ud_get(&to, "dddddd", 6, &from);
}

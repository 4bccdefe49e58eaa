/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Packets of a tap as text.  Only bytes that were captured are read. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include <str/ip.h>

#include "packet.h"

/* ------------------------------------------------------------ control messages */

struct type {
	unsigned int type;
	const char *name;
	unsigned int target; /* offset of an IPv6 address; 0: none */
};

/* RFC 792 */
static const struct type icmp[] = {
	{ 0, "echo reply", 0 },
	{ 3, "destination unreachable", 0 },
	{ 5, "redirect", 0 },
	{ 8, "echo request", 0 },
	{ 11, "time exceeded", 0 },
	{ 12, "parameter problem", 0 },
	{ 0, NULL, 0 },
};

/* RFC 1112, RFC 2236, RFC 3376 */
static const struct type igmp[] = {
	{ 0x11, "query", 0 },
	{ 0x12, "report, version 1", 0 },
	{ 0x16, "report, version 2", 0 },
	{ 0x17, "leave", 0 },
	{ 0x22, "report, version 3", 0 },
	{ 0, NULL, 0 },
};

/* RFC 4443, RFC 4861, RFC 2710, RFC 3810 */
static const struct type icmp6[] = {
	{ 1, "destination unreachable", 0 },
	{ 2, "packet too big", 0 },
	{ 3, "time exceeded", 0 },
	{ 4, "parameter problem", 0 },
	{ 128, "echo request", 0 },
	{ 129, "echo reply", 0 },
	{ 130, "listener query", 8 },
	{ 131, "listener report, version 1", 8 },
	{ 132, "listener done", 8 },
	{ 133, "router solicitation", 0 },
	{ 134, "router advertisement", 0 },
	{ 135, "neighbor solicitation", 8 },
	{ 136, "neighbor advertisement", 8 },
	{ 137, "redirect", 8 },
	{ 143, "listener report, version 2", 0 },
	{ 0, NULL, 0 },
};

/* The message @p, @n bytes of which are known, of a protocol called @name. */
static void
control(FILE *out, const char *name, const struct type *types,
	const unsigned char *p, size_t n)
{
	char text[INET6_ADDRSTRLEN];
	const struct type *t = types;

	while (t->name != NULL && t->type != p[0])
		t++;
	if (t->name == NULL) {
		fprintf(out, ": %s type %u", name, p[0]);
		return;
	}
	fprintf(out, ": %s %s", name, t->name);
	if (t->target != 0 && n >= t->target + 16 &&
		inet_ntop(AF_INET6, p + t->target, text, sizeof(text)) != NULL)
		fprintf(out, " for %s", text);
}

/* ------------------------------------------------------------------------ ARP */

/* RFC 826, for Ethernet and IPv4 */
static void
arp(FILE *out, const struct ipw_pkt *rec, const unsigned char *p)
{
	static const unsigned char ether[6] = { 0, 1, 8, 0, 6, 4 };
	char from[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN];

	if (rec->caplen < 28 || memcmp(p, ether, sizeof(ether)) != 0) {
		fprintf(out, "ARP, %u bytes\n", rec->len);
		return;
	}
	(void)inet_ntop(AF_INET, p + 14, from, sizeof(from));
	(void)inet_ntop(AF_INET, p + 24, to, sizeof(to));
	fprintf(out, "%s > %s: ARP %s", from, to,
		p[7] == 1 ? "request" : p[7] == 2 ? "reply" : "message");
	fprintf(out, " from %02x:%02x:%02x:%02x:%02x:%02x\n", p[8], p[9],
		p[10], p[11], p[12], p[13]);
}

/* ------------------------------------------------------------------------- IP */

static void
print_end(FILE *out, const struct ip_addr *a, bool ports, unsigned int port)
{
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->b, text,
		sizeof(text));
	fputs(text, out);
	if (ports)
		fprintf(out, ".%u", port);
}

static void
contents(FILE *out, const struct ip_hdr *h, const unsigned char *p, size_t n)
{
	if (h->frag == 0 && n > 0 && h->proto == IPPROTO_ICMP)
		control(out, "ICMP", icmp, p, n);
	else if (h->frag == 0 && n > 0 && h->proto == IPPROTO_IGMP)
		control(out, "IGMP", igmp, p, n);
	else if (h->frag == 0 && n > 0 && h->proto == IPPROTO_ICMPV6)
		control(out, "ICMPv6", icmp6, p, n);
	else
		fprintf(out, ": protocol %u", h->proto);
	fprintf(out, ", %u", h->len);
}

void
packet_print(FILE *out, const struct ipw_pkt *rec, const unsigned char *p)
{
	struct udp_hdr u = { 0, 0, 0, 0 };
	bool ports = false;
	struct ip_hdr h;

	if (rec->what == IPW_IS_ARP) {
		arp(out, rec, p);
		return;
	}
	if (ip_parse(p, rec->caplen, rec->len, IP_TRUST, &h) != 0) {
		fprintf(out, "%u bytes\n", rec->len);
		return;
	}
	if (h.proto == IPPROTO_UDP && h.frag == 0)
		ports = udp_parse(p + h.hlen, rec->caplen - h.hlen,
			rec->len - h.hlen, &u) == 0 || h.more;
	print_end(out, &h.src, ports, u.sport);
	fputs(" > ", out);
	print_end(out, &h.dst, ports, u.dport);
	if (ports)
		fprintf(out, ": UDP %u", u.len - 8u);
	else
		contents(out, &h, p + h.hlen, rec->caplen - h.hlen);
	if (h.more || h.frag != 0)
		fprintf(out, " (fragment %x, %u bytes from %u%s)", h.id, h.len,
			h.frag, h.more ? "" : ", last");
	fputc('\n', out);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcap.h"
#include "t.h"

static uint32_t
word(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

void
pcap_open(struct pcap *pc, const char *path)
{
	struct stat st;
	size_t n = 0;
	ssize_t r;
	int fd;

	memset(pc, 0, sizeof(*pc));
	fd = T_OK(open(path, O_RDONLY | O_CLOEXEC));
	T_OK(fstat(fd, &st));
	pc->size = (size_t)st.st_size;
	pc->text = malloc(pc->size + 1);
	T_NOTNULL(pc->text);
	while (n < pc->size &&
		(r = read(fd, pc->text + n, pc->size - n)) > 0)
		n += (size_t)r;
	T_EQ(n, pc->size);
	T_OK(close(fd));
	T_GE(pc->size, 24u);
	T_EQ(word(pc->text), 0xa1b23c4du);
	T_EQ(word(pc->text + 4), 2u | 4u << 16); /* 2.4 */
	T_EQ(word(pc->text + 8), 0u);
	T_EQ(word(pc->text + 12), 0u);
	pc->snaplen = word(pc->text + 16);
	pc->linktype = word(pc->text + 20);
	T_TRUE(pc->linktype == 101u || pc->linktype == 276u);
	pc->at = 24;
}

static uint32_t
be16(const unsigned char *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* LINKTYPE_LINUX_SLL2: take the header off. */
static void
unwrap(struct pcap_pkt *k)
{
	T_GE(k->caplen, 20u);
	k->proto = be16(k->p);
	T_EQ(be16(k->p + 2), 0u);
	k->wire = (int)(be16(k->p + 4) << 16 | be16(k->p + 6));
	T_TRUE(k->p[10] == 0 || k->p[10] == 4);
	k->out = k->p[10] == 4;
	T_LE(k->p[11], 8);
	k->p += 20;
	k->caplen -= 20;
	k->len -= 20;
}

int
pcap_next(struct pcap *pc, struct pcap_pkt *ret)
{
	const unsigned char *p = pc->text + pc->at;

	if (pc->at == pc->size)
		return 0;
	T_GE(pc->size - pc->at, 16u);
	T_LT(word(p + 4), 1000000000u);
	ret->time = word(p) * 1000000000ull + word(p + 4);
	ret->caplen = word(p + 8);
	ret->len = word(p + 12);
	ret->p = p + 16;
	T_LE(ret->caplen, pc->snaplen);
	T_LE(ret->caplen, ret->len);
	T_LE(ret->caplen, pc->size - pc->at - 16);
	pc->at += 16 + ret->caplen;
	pc->last = ret->time;
	ret->proto = 0;
	ret->out = ret->wire = -1;
	if (pc->linktype == 276u)
		unwrap(ret);
	return 1;
}

void
pcap_close(struct pcap *pc)
{
	free(pc->text);
	pc->text = NULL;
}

/* ----------------------------------------------------------------- packets */

static uint32_t
add(const unsigned char *p, size_t n, uint32_t sum)
{
	size_t i;

	for (i = 0; i + 1 < n; i += 2)
		sum += be16(p + i);
	if (n % 2 != 0)
		sum += (uint32_t)p[n - 1] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static const char *
upper(unsigned proto, const unsigned char *p, size_t n, uint32_t pseudo,
	int v6, int trust)
{
	pseudo += proto + (uint32_t)n;
	switch (proto) {
	case 1:
		return n < 8 ? "a short ICMP" :
			add(p, n, 0) != 0xffff ? "a wrong ICMP checksum" : NULL;
	case 58:
		return n < 4 ? "a short ICMPv6" :
			add(p, n, pseudo) != 0xffff ?
			"a wrong ICMPv6 checksum" : NULL;
	case 17:
		if (n < 8 || be16(p + 4) < 8 || be16(p + 4) != n)
			return "a wrong UDP length";
		if (be16(p + 6) == 0)
			return v6 && !trust ? "no UDP checksum" : NULL;
		return add(p, n, pseudo) != 0xffff ? "a wrong UDP checksum" :
						     NULL;
	default:
		return NULL;
	}
}

static const char *
wrong4(const unsigned char *p, size_t n, int trust)
{
	size_t hlen = (p[0] & 15u) * 4u;

	if (n < 20 || hlen < 20 || hlen > n || be16(p + 2) != n)
		return "a wrong IPv4 length";
	if (add(p, hlen, 0) != 0xffff && !(trust && be16(p + 10) == 0))
		return "a wrong IPv4 checksum";
	if ((be16(p + 6) & 0x3fff) != 0)
		return (be16(p + 6) & 0x2000) != 0 && (n - hlen) % 8 != 0 ?
			"a wrong fragment" : NULL;
	return upper(p[9], p + hlen, n - hlen, add(p + 12, 8, 0), 0, trust);
}

static const char *
wrong6(const unsigned char *p, size_t n, int trust)
{
	if (n < 40 || be16(p + 4) + 40 != n)
		return "a wrong IPv6 length";
	if (p[6] == 44)
		return n < 48 || ((p[43] & 1) != 0 && (n - 48) % 8 != 0) ?
			"a wrong fragment" : NULL;
	return upper(p[6], p + 40, n - 40, add(p + 8, 32, 0), 1, trust);
}

const char *
packet_wrong(const unsigned char *p, size_t n, int trust)
{
	if (n == 0)
		return "nothing";
	switch (p[0] >> 4) {
	case 4:
		return wrong4(p, n, trust);
	case 6:
		return wrong6(p, n, trust);
	default:
		return "no IP version";
	}
}

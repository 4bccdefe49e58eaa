/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The filters of a wire of frames: which frames its sockets get.
 *
 * Purpose.  A packet socket gets every frame of its interface.  Most are the
 * host's own, and each costs a copy and a wake-up of streamsd.  A program in
 * the kernel (socket filter, "classic BPF") accepts only
 *
 *	frames to all or many stations,
 *	ARP,
 *	IPv4 and IPv6 to an address of the wire, or to a group,
 *
 * and none of a VLAN, whose stations are not the interface's; a tag of VLAN 0
 * has only a priority.  Of these frames IP_UDP_IN gets those with UDP behind
 * the first header, and IP_FRAMES_IN the others.  Frames that the host sends
 * are not even given to the filters (PACKET_IGNORE_OUTGOING).
 *
 * Form.  Offset 0 is the IP header on a socket of the type SOCK_DGRAM, and the
 * Ethernet header on one of the type SOCK_RAW.
 */
#include <sys/socket.h>
#include <netinet/in.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "ip_impl.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define MOST 96u
#define ALL 0xffffffffu /* bytes of the frame that are received */
#define V4_PROTO 9u	/* where the header has them */
#define V4_DST 16u
#define V6_PROTO 6u
#define V6_DST 24u

struct program {
	uint32_t n;
	uint32_t begin; /* offset of the IP header */
	int udp;	/* accept UDP only; 0: only what is not UDP */
	struct sock_filter at[MOST];
};

static void
emit(struct program *p, uint32_t code, uint32_t k, uint32_t yes, uint32_t no)
{
	p->at[p->n++] = (struct sock_filter){(uint16_t)code, (uint8_t)yes,
		(uint8_t)no, k};
}

static void
load(struct program *p, uint32_t at)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, at, 0, 0);
}

static void
refuse(struct program *p)
{
	emit(p, BPF_RET | BPF_K, 0, 0, 0);
}

/* Refuse frames of the other socket, by the protocol at @at in the header. */
static void
divide(struct program *p, uint32_t at)
{
	emit(p, BPF_LD | BPF_B | BPF_ABS, p->begin + at, 0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, p->udp ? 1 : 0,
		p->udp ? 0 : 1);
	refuse(p);
}

/* If the loaded value is @k accept the frame, else go on. */
static void
accept_if(struct program *p, uint32_t k)
{
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1);
	emit(p, BPF_RET | BPF_K, ALL, 0, 0);
}

static uint32_t
word(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		(uint32_t)b[2] << 8 | b[3];
}

/* Accept frames to all or many stations. */
static void
accept_many(struct program *p)
{
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE));
	accept_if(p, PACKET_BROADCAST);
	accept_if(p, PACKET_MULTICAST);
}

static void
put_v4(struct program *p, const struct ip_wire *w)
{
	uint32_t i;

	divide(p, V4_PROTO);
	accept_many(p);
	load(p, p->begin + V4_DST);
	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == 4)
			accept_if(p, word(w->conf.own[i].b));
	emit(p, BPF_ALU | BPF_AND | BPF_K, 0xf0000000u, 0, 0);
	accept_if(p, 0xe0000000u);
	refuse(p);
}

static void
put_v6(struct program *p, const struct ip_wire *w)
{
	uint32_t i, k;

	divide(p, V6_PROTO);
	accept_many(p);
	for (i = 0; i < IPW_NOWN; i++) {
		if (w->conf.own[i].len != 16)
			continue;
		/* four words, each a load and a jump behind the return */
		for (k = 0; k < 4; k++) {
			load(p, p->begin + V6_DST + 4 * k);
			emit(p, BPF_JMP | BPF_JEQ | BPF_K,
				word(w->conf.own[i].b + 4 * k), 0,
				2 * (3 - k) + 1);
		}
		emit(p, BPF_RET | BPF_K, ALL, 0, 0);
	}
	emit(p, BPF_LD | BPF_B | BPF_ABS, p->begin + V6_DST, 0, 0);
	accept_if(p, 0xff);
	refuse(p);
}

/* Refuse frames of a VLAN. */
static void
put_vlan(struct program *p)
{
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, 0);
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG));
	emit(p, BPF_ALU | BPF_AND | BPF_K, 0xfff, 0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	refuse(p);
}

static void
compose(struct program *p, const struct ip_wire *w)
{
	struct program v4 = {.begin = p->begin, .udp = p->udp};
	uint32_t i;

	put_vlan(p);
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE));
	/* PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST, then others */
	emit(p, BPF_JMP | BPF_JGT | BPF_K, PACKET_MULTICAST, 0, 1);
	refuse(p);
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL));
	if (!p->udp)
		accept_if(p, ETH_P_ARP);
	put_v4(&v4, w);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, v4.n);
	for (i = 0; i < v4.n; i++)
		p->at[p->n++] = v4.at[i];
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 1, 0);
	refuse(p);
	put_v6(p, w);
}

static int
attach(ksock_t *ks, struct program *p, const struct ip_wire *w)
{
	struct sock_fprog f;
	int on = 1;

	compose(p, w);
	f.len = (uint16_t)p->n;
	f.filter = p->at;
	/* a kernel before 4.20 gives it our frames, too: the filter refuses
	 * them */
	(void)ksock_setopt(ks, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
		sizeof(on));
	return -ksock_setopt(ks, SOL_SOCKET, SO_ATTACH_FILTER, &f, sizeof(f));
}

/*
 * ip_filter_set - have the new sockets receive only what is for @w, each its
 * part.  0, or an errno.
 */
int
ip_filter_set(struct ip_wire *w)
{
	struct program others = {.begin = 0};
	struct program udp = {.begin = ETH_HLEN, .udp = 1};
	int err = attach(w->ks[IP_FRAMES_IN], &others, w);

	return err != 0 ? err : attach(w->ks[IP_UDP_IN], &udp, w);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The filter of a wire of frames: which frames its socket gets.
 *
 * Purpose.  A packet socket gets every frame of its interface.  Most are the
 * host's own, and each costs a copy and a wake-up of streamsd.  A program in
 * the kernel (socket filter, "classic BPF") accepts only
 *
 *	frames to all or many stations,
 *	ARP,
 *	IPv4 and IPv6 to an address of the wire, or to a group.
 *
 * The checks of wire_input() remain: the filter only saves time.  Frames that
 * the host sends are not even given to it (PACKET_IGNORE_OUTGOING).
 *
 * Form.  On a socket of the type SOCK_DGRAM offset 0 is the IP header.
 */
#include <sys/socket.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "ip_impl.h"

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define MOST 96u
#define ALL 0xffffffffu /* bytes of the frame that are received */
#define V4_DST 16u	/* where the header has the destination */
#define V6_DST 24u

struct program {
	uint32_t n;
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

static void
put_v4(struct program *p, const struct ip_wire *w)
{
	uint32_t i;

	load(p, V4_DST);
	for (i = 0; i < IPW_NOWN; i++)
		if (w->conf.own[i].len == 4)
			accept_if(p, word(w->conf.own[i].b));
	emit(p, BPF_ALU | BPF_AND | BPF_K, 0xf0000000u, 0, 0);
	accept_if(p, 0xe0000000u);
	emit(p, BPF_RET | BPF_K, 0, 0, 0);
}

static void
put_v6(struct program *p, const struct ip_wire *w)
{
	uint32_t i, k;

	for (i = 0; i < IPW_NOWN; i++) {
		if (w->conf.own[i].len != 16)
			continue;
		/* four words, each a load and a jump behind the return */
		for (k = 0; k < 4; k++) {
			load(p, V6_DST + 4 * k);
			emit(p, BPF_JMP | BPF_JEQ | BPF_K,
				word(w->conf.own[i].b + 4 * k), 0,
				2 * (3 - k) + 1);
		}
		emit(p, BPF_RET | BPF_K, ALL, 0, 0);
	}
	emit(p, BPF_LD | BPF_B | BPF_ABS, V6_DST, 0, 0);
	accept_if(p, 0xff);
	emit(p, BPF_RET | BPF_K, 0, 0, 0);
}

static void
compose(struct program *p, const struct ip_wire *w)
{
	struct program v4 = {.n = 0};
	uint32_t i;

	p->n = 0;
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE));
	/* PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST, then others */
	emit(p, BPF_JMP | BPF_JGT | BPF_K, PACKET_MULTICAST, 0, 1);
	emit(p, BPF_RET | BPF_K, 0, 0, 0);
	accept_if(p, PACKET_BROADCAST);
	accept_if(p, PACKET_MULTICAST);
	load(p, (uint32_t)(SKF_AD_OFF + SKF_AD_PROTOCOL));
	accept_if(p, ETH_P_ARP);
	put_v4(&v4, w);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, v4.n);
	for (i = 0; i < v4.n; i++)
		p->at[p->n++] = v4.at[i];
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 1, 0);
	emit(p, BPF_RET | BPF_K, 0, 0, 0);
	put_v6(p, w);
}

/*
 * ip_filter_set - have the new socket receive only what is for @w
 * Without the filter the wire works, too: failures are ignored.
 */
void
ip_filter_set(struct ip_wire *w)
{
	struct program p;
	struct sock_fprog f;
	int on = 1;

	compose(&p, w);
	f.len = (uint16_t)p.n;
	f.filter = p.at;
	(void)ksock_setopt(w->ks[0], SOL_SOCKET, SO_ATTACH_FILTER, &f,
		sizeof(f));
	(void)ksock_setopt(w->ks[0], SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
		sizeof(on));
}

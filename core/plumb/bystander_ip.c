/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The arrangement in which a process is killed while it sends the packets of a
 * wire. bystander_test.c has the test.
 *
 * A packet that the kernel has taken, and that is still on its queue when the
 * process is killed, is sent once more: so `ip' may send one packet twice.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include "bystander.h"
#include "../../drv/ip/ip_impl.h"

extern const struct str_builtin str_drv_ip;

static struct dv a, b;
static struct ip_wire *wire_;
static unsigned sent_[2 * N], nsent_, nread_;
static bool answered_;

static long
takes(const struct ksock_msg *m)
{
	const struct sockaddr_ll *ll = m->km_addr;
	const unsigned char *p = m->km_iov->iov_base;

	if (ll->sll_protocol != htons(ETH_P_ARP) && nsent_ < 2 * N)
		sent_[nsent_++] = (unsigned)p[4] << 8 | p[5];
	return 0;
}

static struct ip_addr
station(unsigned n)
{
	return (struct ip_addr){4, {10, 1, 0, (unsigned char)n}};
}

/* Station 2 announces its address once. */
static long
tells(struct ksock_msg *m)
{
	unsigned char mac[6] = {2, 0, 0, 0, 0, 2}, ours[6] = {2, 0, 0, 0, 0, 1};
	struct ip_addr from = station(2), to = station(1);
	struct sockaddr_ll *ll = m->km_addr;

	if (answered_ || ll == NULL) /* NULL: the socket of trains */
		return -1;
	answered_ = true;
	memset(ll, 0, sizeof(*ll));
	ll->sll_protocol = htons(ETH_P_ARP);
	ll->sll_pkttype = PACKET_HOST;
	m->km_len = (uint32_t)arp_build(m->km_iov[0].iov_base, 0, &from, mac,
		&to, ours);
	m->km_flags = 0;
	m->km_ctllen = 0;
	return 0;
}

static long
sent(void)
{
	return nread_ < nsent_ ? (long)sent_[nread_++] : -1;
}

/* All packets wait for the station, which then answers. */
static void
answers(void)
{
	unsigned i;

	for (i = 0; i < N; i++) {
		struct ip_hdr h = {.src = station(1), .dst = station(2),
			.proto = 253, .ttl = 64, .len = 4, .id = i};
		mblk_t *mp = allocb(64, BPRI_MED);

		T_NOTNULL(mp);
		mp->b_rptr += 40;
		mp->b_wptr = mp->b_rptr + 4;
		memcpy(mp->b_rptr, "data", 4);
		h.hlen = (uint16_t)ip_build(mp->b_rptr, &h, NULL, 0);
		mp->b_rptr -= h.hlen;
		T_EQ(wire_send(&wire_->pub, mp, &h), 0);
	}
	answered_ = false;
	(void)ip_lower_input(wire_);
}

static void
with_ip(void)
{
	struct ipw_conf conf = {.name = "p0", .ifname = "x", .mtu = 1500,
		.kind = IPW_PACKET, .own = {{4, 16, {0, 0}, {10, 1, 0, 1}}}};

	answered_ = true;
	nsent_ = nread_ = 0;
	sim_sock(takes, tells);
	dv_driver(&str_drv_ip);
	T_NOTNULL(wire_lo());
	/* makes the table of sockets, which stays */
	T_EQ(dv_open(&b, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&b, IPW_ADD, &conf, sizeof(conf)), 0);
	dv_close(&b);
	fx_close(&b.pipe, 0);
	fx_close(&b.pipe, 1);
	(void)str_region_sweep();
	fx_keep();
	T_EQ(dv_open(&a, "ip", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&a, IPW_ADD, &conf, sizeof(conf)), 0);
	wire_ = &ip_shared()->wire[1];
	arr.run[0] = &a.pipe;
	arr.ready = answers;
	arr.next = sent;
	arr.twice = 1;
}

ARRANGEMENT(with_ip)

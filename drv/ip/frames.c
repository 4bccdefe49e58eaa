/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The datagrams that a packet wire receives, and the short ones that it sends.
 *
 * Purpose.  The frames of UDP have a socket of their own, IP_UDP_IN.  Only a
 * socket that receives whole frames (SOCK_RAW) can describe each of them by a
 * virtio header (PACKET_VNET_HDR).  This header says
 *
 *	which frames are trains: datagrams of one size that a program has sent
 *	by one call (UDP_SEGMENT), or that the interface has joined (GRO), and
 *	that the kernel leaves to the device to cut;
 *	of which packets the device would have made the checksum.
 *
 * The kernel drops a frame whose kind the header cannot describe, such as a
 * train of SCTP.  So all other frames have the socket of packet.c, which has no
 * such header.  filter.c divides the frames.
 *
 * Sending.  By the same header the kernel is asked to have the device make the
 * checksum.  A virtual device such as veth makes none, and then the receiver
 * verifies none either.
 *
 * Form.  Virtio header, Ethernet header and packet are received into one piece,
 * and sent from one piece; the first two are in the head room.
 *
 * Context: receiving: the procedures of the wire's stream; sending: that stream
 * is held.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include "bytes.h"
#include "ip_impl.h"

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define HEADERS 128u /* bytes; longer ones have no train */

/* In front of each received packet. */
struct frame_head {
	struct virtio_net_hdr net;
	unsigned char eth[ETH_HLEN];
};

_Static_assert(sizeof(struct frame_head) == 24, "what the kernel writes");
_Static_assert(sizeof(struct frame_head) == WIRE_ROOM, "wire_send_bytes()");
_Static_assert(sizeof(struct frame_head) <= IP_ROOM, "it is in the head room");

/* Fill in the checksum of the UDP packet at @p, whose header is @h. */
static void
put_sum(unsigned char *p, const struct ip_hdr *h)
{
	unsigned char *udp = p + h->hlen;
	uint32_t sum = ip_pseudo(&h->src, &h->dst, IPPROTO_UDP, h->len);
	uint16_t folded;

	put16(udp + 6, 0);
	folded = ip_fold(ip_sum(udp, h->len, sum, 0));
	put16(udp + 6, folded == 0 ? 0xffffu : folded);
}

/*
 * Receive the packet in @mp, whose checksum the device would have made.  Nothing
 * on the way can have changed it, so only taps need the checksum.
 */
static void
input(struct ip_wire *w, mblk_t *mp, const struct ip_hdr *h,
	unsigned int flags)
{
	if (wire_tapped(&w->pub))
		put_sum(mp->b_rptr, h);
	wire_input(&w->pub, mp, flags | IP_TRUST);
}

/*
 * Receive each datagram of the train in @mp, whose header is @h, alone; @size:
 * bytes of data of each but the last.  The headers are copied in front of the
 * data of each, where the datagram before lies, which has been received.
 */
static void
cut(struct ip_wire *w, mblk_t *mp, struct ip_hdr *h, uint32_t size,
	unsigned int flags)
{
	uint32_t left = h->len - UDP_HDRLEN, hlen = h->hlen + UDP_HDRLEN, k;
	unsigned char headers[HEADERS], *at = mp->b_rptr + hlen;
	uint32_t id = (uint32_t)mp->b_rptr[4] << 8 | mp->b_rptr[5];

	bcopy(mp->b_rptr, headers, hlen);
	for (; left != 0; left -= k, at += k) {
		k = left < size ? left : size;
		h->len = UDP_HDRLEN + k;
		if (h->src.len == 4) {
			put16(headers + 2, hlen + k);
			put16(headers + 4, id++ & 0xffff);
			put16(headers + 10, 0);
			put16(headers + 10,
				ip_fold(ip_sum(headers, h->hlen, 0, 0)));
		} else {
			put16(headers + 4, hlen + k - 40);
		}
		put16(headers + h->hlen + 4, h->len);
		mp->b_rptr = at - hlen;
		mp->b_wptr = at + k;
		bcopy(headers, mp->b_rptr, hlen);
		input(w, mp, h, flags);
	}
}

/* A frame of @n bytes has been received into @mp, which is kept. */
static void
one(struct ip_wire *w, mblk_t *mp, uint32_t n)
{
	const struct frame_head *f = (void *)(mp->b_rptr - sizeof(*f));
	struct virtio_net_hdr net;
	unsigned int flags = IP_LENT;
	struct ip_hdr h;

	if (n <= sizeof(*f))
		return;
	net = f->net;
	n -= (uint32_t)sizeof(*f);
	mp->b_wptr = mp->b_rptr + n;
	if ((f->eth[0] & 1) != 0)
		flags |= IP_MANY;
	if (net.gso_type != VIRTIO_NET_HDR_GSO_UDP_L4 &&
		(net.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0) {
		wire_input(&w->pub, mp, flags);
		return;
	}
	if (ip_parse(mp->b_rptr, n, n, flags | IP_TRUST, &h) != 0 ||
		h.proto != IPPROTO_UDP || h.more || h.frag != 0 ||
		h.len < UDP_HDRLEN) {
		wire_input(&w->pub, mp, flags); /* it counts the error */
		return;
	}
	if (net.gso_type == VIRTIO_NET_HDR_GSO_UDP_L4 && net.gso_size != 0 &&
		h.len > UDP_HDRLEN + net.gso_size &&
		h.hlen + UDP_HDRLEN <= HEADERS)
		cut(w, mp, &h, net.gso_size, flags);
	else
		input(w, mp, &h, flags);
}

/* ip_frames_some - receive at most @most frames of UDP by one system call; how
 * many there were */
uint32_t
ip_frames_some(struct ip_wire *w, uint32_t most)
{
	struct ksock_msg m[IP_FRAMES];
	struct iovec iov[IP_FRAMES];
	mblk_t *mp[IP_FRAMES];
	uint32_t n, i;
	long r;

	for (n = 0; n < most; n++) {
		mp[n] = ip_block(w, IP_MOST);
		if (mp[n] == NULL)
			break;
		iov[n].iov_base = mp[n]->b_rptr - sizeof(struct frame_head);
		iov[n].iov_len = sizeof(struct frame_head) + IP_MOST;
		bzero(&m[n], sizeof(m[n]));
		m[n].km_iov = &iov[n];
		m[n].km_iovlen = 1;
	}
	r = n == 0 ? 0 : ksock_recvmm(w->ks[IP_UDP_IN], m, n, 0);
	str_wake_begin();
	for (i = 0; i < n; i++) {
		unsigned char *begin = mp[i]->b_rptr;

		if ((long)i < r)
			one(w, mp[i], m[i].km_len);
		mp[i]->b_rptr = begin;
		ip_block_keep(w, mp[i]);
	}
	str_wake_end();
	/* the kernel could not describe a frame: there may be more */
	return r >= 0 ? (uint32_t)r : r == -EINVAL ? n : 0;
}

/*
 * ip_frames_send - send the packet of @n bytes at @p, as wire_send_bytes()
 * Return: 0, or an errno; EBUSY: the station is not known.
 */
int
ip_frames_send(struct ip_wire *w, unsigned char *p, uint32_t n,
	uint32_t sum_at, const struct ip_hdr *h)
{
	struct frame_head f = {.net.gso_type = VIRTIO_NET_HDR_GSO_NONE};
	ksock_t *ks = w->ks[IP_UDP_IN];
	struct sockaddr_ll to;
	struct ksock_msg m;
	struct iovec iov;
	long r = ip_packet_to(w, NULL, h, &to);

	if (r <= 0)
		return r == 0 ? EBUSY : (int)-r;
	if (ks == NULL)
		return ENETDOWN;
	if (sum_at != 0) {
		f.net.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
		f.net.csum_start = (uint16_t)(ETH_HLEN + h->hlen);
		f.net.csum_offset = (uint16_t)sum_at;
	}
	bcopy(to.sll_addr, f.eth, ETH_ALEN);
	bcopy(w->mac, f.eth + ETH_ALEN, ETH_ALEN);
	put16(f.eth + 2 * ETH_ALEN, ntohs(to.sll_protocol));
	bcopy(&f, p - sizeof(f), sizeof(f));
	iov.iov_base = p - sizeof(f);
	iov.iov_len = sizeof(f) + n;
	bzero(&m, sizeof(m));
	m.km_iov = &iov;
	m.km_iovlen = 1;
	r = ksock_sendmm(ks, &m, 1, 0);
	return r < 0 ? (int)-r : 0;
}

/* ip_frames_set - have the new socket describe the frames.  0, or an errno. */
int
ip_frames_set(struct ip_wire *w)
{
	int on = 1;

	return -ksock_setopt(w->ks[IP_UDP_IN], SOL_PACKET, PACKET_VNET_HDR, &on,
		sizeof(on));
}

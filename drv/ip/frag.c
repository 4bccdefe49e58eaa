/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Cutting packets that are too long for their wire (RFC 791 s3.2, RFC 8200
 * s4.5).
 */
#include <errno.h>
#include "pkt.h"

/* RFC 791 s3.1: later fragments contain the options with the copied bit. */
static uint8_t
copied(const unsigned char *opt, uint32_t n, unsigned char *to)
{
	uint32_t i = 0, k = 0, len;

	while (i < n && opt[i] != 0) {
		len = opt[i] == 1 ? 1u : i + 1 < n ? opt[i + 1] : 0;
		if (len == 0 || len > n - i)
			break; /* cannot happen: it was checked when it was
			        * parsed */
		if ((opt[i] & 0x80) != 0) {
			__builtin_memcpy(to + k, opt + i, len);
			k += len;
		}
		i += len;
	}
	while (k % 4 != 0)
		to[k++] = 0;
	return (uint8_t)k;
}

static int
may_be_cut(const struct ip_hdr *h)
{
	if (h->df)
		return 0;
	if (h->src.len == 4)
		return 1;
	/* a packet with extension headers was made by a program */
	return h->hlen <= 40 && !h->more && h->frag == 0;
}

int
ip_frag(const struct ip_hdr *h, const unsigned char *opt, uint32_t mtu,
	uint32_t *off, struct ip_hdr *ret, unsigned char *ret_opt)
{
	uint32_t left, room, hlen, i;

	if (*off == IP_FRAG_END)
		return 0;
	left = h->len - *off;
	*ret = *h;
	for (i = 0; opt != NULL && i < h->optlen; i++)
		ret_opt[i] = opt[i];
	if (*off == 0 && ip_size(h) + h->len <= mtu) {
		*off = IP_FRAG_END;
		return 1;
	}
	if (!may_be_cut(h))
		return -EMSGSIZE;
	if (*off != 0 && opt != NULL)
		ret->optlen = copied(opt, h->optlen, ret_opt);
	ret->more = 1; /* for ip_size() */
	hlen = (uint32_t)ip_size(ret);
	if (mtu < hlen + 8)
		return -EMSGSIZE;
	/* the length of each fragment except the last is a multiple of 8 */
	room = left <= mtu - hlen ? left : (mtu - hlen) & ~7u;
	ret->frag = h->frag + *off;
	ret->len = room;
	ret->more = room < left || h->more;
	*off = room < left ? *off + room : IP_FRAG_END;
	return 1;
}

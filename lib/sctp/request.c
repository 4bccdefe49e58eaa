/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Requests to the provider, and waiting.
 */
#include <poll.h>
#include <stropts.h>
#include <time.h>

#include <sys/timod.h>

#include "next.h"
#include "sock.h"

/*
 * sk_ioctl - an ioctl of the provider
 * @buf: @len bytes go, at most @room bytes come back.
 * Return: how many came, or minus an errno.
 */
int
sk_ioctl(struct sock *s, int cmd, void *buf, size_t len, size_t room)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_timout = 0,
		.ic_len = (int)len, .ic_dp = buf};
	int ret;

	(void)room;
	ret = strm_str(s->fd, &si);
	return ret < 0 ? ret : si.ic_len;
}

/*
 * sk_get - an ioctl whose answer has @size bytes; the first word of @buf is the
 * association
 */
int
sk_get(struct sock *s, int cmd, void *buf, size_t size)
{
	struct sctpio_word w = {.assoc = *(uint32_t *)buf};
	int n;

	memcpy(buf, &w, sizeof(w));
	n = sk_ioctl(s, cmd, buf, sizeof(w), size);
	if (n < 0)
		return n;
	return n == (int)size ? 0 : -EPROTO;
}

/* The errno for a TLI error. */
static int
errno_of(int v)
{
	switch (v & 0xff) {
	case TSYSERR:
		return v >> 8 & 0xff;
	case TBADADDR:
		return EINVAL;
	case TNOADDR:
		return EADDRNOTAVAIL;
	case TADDRBUSY:
		return EADDRINUSE;
	case TACCES:
		return EACCES;
	case TOUTSTATE:
		return EINVAL;
	case TBADSEQ:
	case TLOOK:
		return ECONNABORTED;
	case TBADF:
		return EBADF;
	default:
		return EPROTO;
	}
}

/* sk_ti - a request of TPI through timod; as sk_ioctl() */
int
sk_ti(struct sock *s, int cmd, void *buf, size_t len, size_t room)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_timout = 0,
		.ic_len = (int)len, .ic_dp = buf};
	int ret;

	(void)room;
	ret = strm_str(s->fd, &si);
	if (ret < 0)
		return ret;
	return ret > 0 ? -errno_of(ret) : si.ic_len;
}

int
sk_keep_get(struct sock *s, struct sctpio_keep *k)
{
	k->assoc = 0;
	return sk_get(s, SCTPIO_GKEEP, k, sizeof(*k));
}

int
sk_keep_set(struct sock *s, const struct sctpio_keep *k)
{
	struct sctpio_keep copy = *k;
	int n = sk_ioctl(s, SCTPIO_SKEEP, &copy, sizeof(copy), 0);

	return n < 0 ? n : 0;
}

/*
 * sk_wait - wait until the Stream has one of @events
 * @ms: at most; -1: for ever.  Return: 0, -EAGAIN: the time is over, -EINTR.
 */
int
sk_wait(struct sock *s, short events, int ms)
{
	struct pollfd pfd = {.fd = s->fd, .events = events};
	int n = NEXT(poll)(&pfd, 1, ms); /* not that of poll.c */

	return n < 0 ? -errno : n == 0 ? -EAGAIN : 0;
}

/* sk_wait_time - the same with the socket's own limit of time */
int
sk_wait_time(struct sock *s, short events, enum sk_keep which)
{
	struct sctpio_keep k;

	if ((SK(s) & SK_TIMES) == 0 || sk_keep_get(s, &k) != 0 ||
	    k.w[which] == 0)
		return 0;
	return sk_wait(s, events, (int)k.w[which]);
}

/* sk_names - the endpoint's addresses, and the peer's; len 0: none */
int
sk_names(struct sock *s, struct sk_addrs *local, struct sk_addrs *peer)
{
	struct T_addr_req ar = {.PRIM_type = T_ADDR_REQ};
	struct {
		struct T_addr_ack aa;
		unsigned char room[2 * sizeof(local->buf) + 16];
	} b;
	const unsigned char *p = (const unsigned char *)&b;
	int n;

	memcpy(&b, &ar, sizeof(ar));
	n = sk_ti(s, TI_GETADDRS, &b, sizeof(ar), sizeof(b));
	if (n < 0)
		return n;
	local->len = peer->len = 0;
	if (n < (int)sizeof(b.aa) ||
	    b.aa.LOCADDR_length > (int)sizeof(local->buf) ||
	    b.aa.REMADDR_length > (int)sizeof(peer->buf) ||
	    b.aa.LOCADDR_offset + b.aa.LOCADDR_length > n ||
	    b.aa.REMADDR_offset + b.aa.REMADDR_length > n)
		return -EPROTO;
	local->len = (uint32_t)b.aa.LOCADDR_length;
	memcpy(local->buf, p + b.aa.LOCADDR_offset, local->len);
	peer->len = (uint32_t)b.aa.REMADDR_length;
	memcpy(peer->buf, p + b.aa.REMADDR_offset, peer->len);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages to and from the provider.
 */
#include <stdlib.h>
#include <stropts.h>

#include <sys/timod.h>

#include <xti.h>

#include "xti_impl.h"

/* ---------------------------------------------------------------- blocks */

/* Room for a primitive: on the stack, unless it is a big one. */
void
xti_block(struct block *b)
{
	b->buf = b->small;
	b->size = sizeof(b->small);
	b->fault = 0;
}

/* At least @size bytes, keeping what is there.  0, or -1 with t_errno. */
int
xti_block_size(struct block *b, unsigned size)
{
	unsigned char *p;

	if (size <= b->size)
		return 0;
	p = malloc(size);
	if (p == NULL)
		return xti_sys(ENOMEM);
	memcpy(p, b->buf, b->size);
	xti_block_free(b);
	b->buf = p;
	b->size = size;
	return 0;
}

void
xti_block_free(struct block *b)
{
	if (b->buf != b->small)
		free(b->buf);
	xti_block(b);
}

int
xti_field(struct block *b, unsigned *at, const struct netbuf *nb)
{
	unsigned off = (*at + 3u) & ~3u;

	if (nb->len == 0)
		return 0;
	if (strm_copy(b->buf + off, nb->buf, nb->len) != 0)
		b->fault = 1;
	*at = off + nb->len;
	return (int)off;
}

int
xti_over(int over)
{
	return over & XTI_FAULT ? xti_sys(EFAULT) :
		over != 0 ? xti_fail(TBUFOVFLW) : 0;
}

int
xti_give(struct use *u, struct netbuf *nb, const struct block *b, long off,
	long len, long have)
{
	return xti_give_from(u, nb, b->buf, off, len, have);
}

/* User data is taken into the caller's buffer at once. */
void
xti_want_data(struct strm_prim *gp, const struct netbuf *nb)
{
	gp->data.buf = nb != NULL ? nb->buf : NULL;
	gp->data.maxlen = nb == NULL || nb->buf == NULL ? 0 :
		nb->maxlen > INT32_MAX ? INT32_MAX : (int)nb->maxlen;
}

/* ... and has come; what was too much goes.  1: it was wanted. */
int
xti_give_data(struct use *u, struct netbuf *nb, const struct strm_prim *gp,
	int more)
{
	if (more & MOREDATA)
		xti_rest(u, more);
	if (nb == NULL)
		return 0;
	nb->len = gp->data.len > 0 ? (unsigned)gp->data.len : 0;
	return (more & MOREDATA) != 0 &&
		(nb->maxlen != 0 || (W(u) & W_TLI) != 0);
}

/* ---------------------------------------------------------------- ioctls */

/*
 * What timod has answered.  The low byte of a value above zero is a TLI
 * error, the next one an errno.
 */
static int
refused(int v)
{
	int terr = v & 0xff;

	if (terr == TSYSERR)
		return xti_sys((v >> 8) & 0xff);
	return xti_fail(terr != 0 ? terr : TPROTO);
}

int
xti_str(struct use *u, int cmd, struct block *b, unsigned len, unsigned room)
{
	return xti_str_in(u, cmd, b, len, room, 0);
}

/* @secs: what the provider has for it; 0: as usual */
int
xti_str_in(struct use *u, int cmd, struct block *b, unsigned len,
	unsigned room, int secs)
{
	struct strioctl si = {.ic_cmd = cmd, .ic_timout = secs,
		.ic_len = (int)len};
	int ret;

	if (b->fault)
		return xti_sys(EFAULT);
	if (xti_block_size(b, room) < 0)
		return -1;
	si.ic_dp = (char *)b->buf;
	ret = strm_str(u->fd, &si);
	if (ret < 0)
		return ret == -EINVAL ? xti_fail(TBADF) : xti_neg(ret, TSYSERR);
	if (ret > 0)
		return refused(ret);
	return si.ic_len;
}

/* The primitive of @len bytes in @b, and @udata behind it. */
int
xti_request(struct use *u, struct block *b, unsigned len,
	const struct netbuf *udata)
{
	struct ti_req tr = {.len = (int)len};
	unsigned n = udata != NULL ? udata->len : 0;

	if (b->fault)
		return xti_sys(EFAULT);
	if (xti_block_size(b, (unsigned)sizeof(tr) + len + n) < 0)
		return -1;
	memmove(b->buf + sizeof(tr), b->buf, len);
	memcpy(b->buf, &tr, sizeof(tr));
	if (n != 0 && strm_copy(b->buf + sizeof(tr) + len, udata->buf, n) != 0)
		return xti_sys(EFAULT);
	return xti_str(u, TI_REQUEST, b, (unsigned)sizeof(tr) + len + n, 0);
}

/* -------------------------------------------------------------- messages */

/*
 * Messages that arrive too late, as a mask: data and confirmations of a
 * connection that this end has given up already; the answer to the request of a
 * killed thread, if timod had the next request already.
 */
static unsigned
stale(struct use *u)
{
	unsigned w = W(u), state = w & W_STATE;

	if ((w & W_COMING) != 0)
		return P_ACKS;
	if (u->ep->info.servtype == T_CLTS)
		return P_ACKS | (state == T_UNBND ? STRM_DATA |
			P(T_UNITDATA_IND) | P(T_UDERROR_IND) : 0);
	if (state == T_UNBND)
		return STRM_ANY;
	if (state == T_IDLE || state == T_INCON)
		return P_ACKS | P_DATA | P(T_CONN_CON) | P(T_ORDREL_IND);
	return P_ACKS;
}

/* Drop messages for as long as the first one is of @want. */
void
xti_purge(struct use *u, unsigned want)
{
	char sink[4096];
	struct block b;
	struct strm_prim gp;
	int ret;

	xti_block(&b);
	while (want != 0) {
		gp.data.buf = sink;
		gp.data.maxlen = sizeof(sink);
		ret = xti_get(u, &gp, &b, want, 1);
		if (ret < 0)
			break;
		if ((ret & MOREDATA) != 0)
			xti_rest(u, ret);
	}
	xti_block_free(&b);
}

/* Discard the rest of the message that was taken. */
void
xti_rest(struct use *u, int more)
{
	char sink[4096];
	struct block b;
	struct strm_prim gp;

	xti_block(&b);
	while (more > 0 && (more & MOREDATA) != 0) {
		gp.data.buf = sink;
		gp.data.maxlen = sizeof(sink);
		more = xti_get(u, &gp, &b, STRM_DATA, 1);
	}
	xti_block_free(&b);
}

int
xti_get(struct use *u, struct strm_prim *gp, struct block *b, unsigned want,
	int nowait)
{
	unsigned drop;
	int ret;

	gp->nowait = (unsigned)nowait;
	gp->want = want;
	for (;;) {
		gp->ctl.buf = b->buf;
		gp->ctl.maxlen = (int)b->size;
		gp->ctl.len = -1;
		ret = strm_getprim(u->fd, gp);
		if (str_likely(ret >= 0))
			return ret;
		if (ret == -EMSGSIZE) {
			if (xti_block_size(b, (unsigned)gp->ctl.len) < 0)
				return -ENOMEM;
			continue;
		}
		if (ret != -ENOMSG)
			return ret;
		drop = stale(u) & ~want;
		if (gp->prim == STRM_PRIM_NONE ? (drop & STRM_DATA) != 0 :
			gp->prim >= 0 && (drop & P(gp->prim)) != 0) {
			xti_purge(u, drop);
			continue;
		}
		return ret;
	}
}

/* Is the first message, a T_OPTDATA_IND, expedited?  Then it has band 1. */
static int
is_urgent(struct use *u)
{
	int band = 0, was = errno, ret;

	ret = ioctl(u->fd, I_GETBAND, &band);
	errno = was;
	return ret == 0 && band == 1;
}

/* The first message as an event. */
static int
event_of(struct use *u, int32_t prim)
{
	switch (prim) {
	case T_CONN_IND:
		return T_LISTEN;
	case T_CONN_CON:
		return T_CONNECT;
	case T_DISCON_IND:
		return T_DISCONNECT;
	case T_UDERROR_IND:
		return T_UDERR;
	case T_ORDREL_IND:
		return T_ORDREL;
	case T_EXDATA_IND:
		return T_EXDATA;
	case STRM_PRIM_NONE:
		return (W(u) & W_XPART) != 0 ? T_EXDATA : T_DATA;
	case T_OPTDATA_IND:
		return is_urgent(u) ? T_EXDATA : T_DATA;
	case T_DATA_IND:
	case T_UNITDATA_IND:
		return T_DATA;
	default:
		return 0;
	}
}

STR_NOINLINE int
xti_event_slow(struct use *u)
{
	struct strm_prim gp = {.data = {.maxlen = 0}};
	struct block b;
	int ret;

	xti_block(&b);
	/* no message is of no kind: nothing is taken */
	ret = xti_get(u, &gp, &b, 0, 1);
	xti_block_free(&b);
	return ret == -ENOMSG ? event_of(u, gp.prim) : 0;
}

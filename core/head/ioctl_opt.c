/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl commands for options and sizes of a Stream head: streamio(7).  ioctl.c has the table.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

/* F_SETPIPE_SZ: the bounds of Linux, for a user without privilege. */
#define PIPE_MIN 4096u
#define PIPE_MAX (1u << 20)
#define CLTIME_MAX 299999
#define CLTIME_VALUE 0x60000u /* greater than any close time, less than any
			       * address in a program */
#define RD_MODES 0x23u	 /* RMSGD RMSGN RFILL */
#define RD_PROTO 0x1cu	 /* RPROTDAT RPROTDIS RPROTNORM */

long
str_ioctl_srdopt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg, proto = v & RD_PROTO;

	if ((v & ~(RD_MODES | RD_PROTO)) != 0 || (v & 3u) == 3u)
		return -EINVAL;
	if ((proto & (proto - 1)) != 0)
		return -EINVAL; /* more than one way to treat M_PROTO */
	c->sd->rdopt = v & ~0x10u;
	return 0;
}

long
str_ioctl_grdopt(struct ioc *c)
{
	uint32_t v = c->sd->rdopt;

	if ((v & RD_PROTO) == 0)
		v |= 0x10u;
	return str_ioctl_int(c, (int)v);
}

long
str_ioctl_swropt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;
	struct str_head *sd = c->sd;

	if ((v & ~0x1fu) != 0)
		return -EINVAL;
	sd->wropt = v & 7u;
	if (v & 4u)
		(void)str_or(&sd->flags, STR_H_HOLD);
	else
		(void)str_and(&sd->flags, ~STR_H_HOLD);
	/* only M_SETOPTS clears these two flags */
	if (v & 8u)
		(void)str_or(&sd->flags, STR_H_DELIM);
	if (v & 0x10u)
		(void)str_or(&sd->flags, STR_H_MREAD);
	return 0;
}

long
str_ioctl_gwropt(struct ioc *c)
{
	uint32_t f = str_load(&c->sd->flags);

	return str_ioctl_int(c, (int)(c->sd->wropt | ((f & STR_H_DELIM) ? 8u : 0) |
		((f & STR_H_MREAD) ? 0x10u : 0)));
}

static void
limits(struct str_head *sd, struct host_call *hc, uint32_t high, uint32_t low)
{
	struct str_headq *hq = &sd->hq;

	str_headq_limits(hq, high, low);
	sd->qp->rq.q_hiwat = high;
	sd->qp->rq.q_lowat = low;
	/* writers may have room now */
	if (str_load(&hq->wwant) != 0)
		str_wake_writers_from(sd, hc);
}

static long
set_marks(struct ioc *c, bool high)
{
	struct str_headq *hq = &c->sd->hq;
	int v = (int)c->arg; /* the argument is a number, not an address */

	if (v < 0 || (high && (uint32_t)v < hq->lowat) ||
	    (!high && (uint32_t)v > hq->hiwat))
		return -EINVAL;
	limits(c->sd, c->hc, high ? (uint32_t)v : hq->hiwat,
		high ? hq->lowat : (uint32_t)v);
	return 0;
}

long
str_head_pipe_size(struct str_head *sd)
{
	uint64_t dev;

	if (str_head_kind(sd, &dev) == STR_KIND_DEV)
		return -EBADF;
	return (long)sd->peer->hq.hiwat;
}

long
str_head_pipe_resize(struct str_head *sd, struct host_call *hc, uint64_t size)
{
	struct str_plumb *pl = sd->plumb;
	uint32_t mark = PIPE_MIN;
	uint64_t dev;

	if (str_head_kind(sd, &dev) == STR_KIND_DEV)
		return -EBADF;
	if (size > PIPE_MAX)
		return size > 1u << 31 ? -EINVAL : -EPERM;
	while (mark < size)
		mark *= 2;
	for (unsigned e = 0; e < pl->nheads; e++)
		if (str_head_nbytes(&pl->head[e]) > mark)
			return -EBUSY;
	for (unsigned e = 0; e < pl->nheads; e++)
		limits(&pl->head[e], hc, mark, mark / 4);
	return mark;
}

long
str_ioctl_set_hiwat(struct ioc *c)
{
	return set_marks(c, true);
}

long
str_ioctl_set_lowat(struct ioc *c)
{
	return set_marks(c, false);
}

long
str_ioctl_get_hiwat(struct ioc *c)
{
	return str_ioctl_int(c, (int)c->sd->hq.hiwat);
}

long
str_ioctl_get_lowat(struct ioc *c)
{
	return str_ioctl_int(c, (int)c->sd->hq.lowat);
}

long
str_ioctl_get_strmsgsz(struct ioc *c)
{
	return str_ioctl_int(c, (int)STR_MSGSZ);
}

long
str_ioctl_get_strctlsz(struct ioc *c)
{
	return str_ioctl_int(c, (int)STR_CTLSZ);
}

long
str_ioctl_setcltime(struct ioc *c)
{
	int v;

	/* the manual requires a pointer, but many callers pass a value: a
	 * number below all program addresses is a value */
	if (c->arg == 0)
		return -EFAULT;
	if (c->arg <= CLTIME_VALUE)
		v = (int)c->arg;
	else if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0) {
		/* a negative int, extended by zeros or by its sign? */
		if ((int)c->arg >= 0 || (c->arg >> 32 != 0 &&
			    c->arg >> 32 != UINT32_MAX))
			return -EFAULT;
		v = -1;
	}
	if (v < 0 || v > CLTIME_MAX)
		return -EINVAL;
	c->sd->cltime = (uint32_t)v;
	return 0;
}

long
str_ioctl_getcltime(struct ioc *c)
{
	return str_ioctl_int(c, (int)c->sd->cltime);
}

long
str_ioctl_get_sth_wroff(struct ioc *c)
{
	return str_ioctl_int(c, (int)c->sd->wroff);
}

long
str_ioctl_serropt(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;

	if ((v & ~3u) != 0)
		return -EINVAL;
	c->sd->errpersist = v;
	return 0;
}

long
str_ioctl_gerropt(struct ioc *c)
{
	return str_ioctl_int(c, (int)c->sd->errpersist);
}

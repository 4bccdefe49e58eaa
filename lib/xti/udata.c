/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams.
 *
 * One that does not fit into the caller's buffer stays at the head without its
 * control part: data by itself is the rest of a datagram.
 */
#include <limits.h>
#include <stdlib.h>
#include <stropts.h>

#include <xti.h>

#include "xti_impl.h"

STR_INLINE int
begin(struct use *u, int fd)
{
	if (str_likely(xti_use(u, fd, S(T_IDLE)) == 0) &&
	    str_likely(u->ep->info.servtype == T_CLTS))
		return 0;
	if (xti_use(u, fd, S_ANY) < 0)
		return -1;
	return xti_fail(u->ep->info.servtype == T_CLTS ? TOUTSTATE :
							 TNOTSUPPORT);
}

/* -------------------------------------------------------------------- sending */

static inline int
check(const struct use *u, const struct t_unitdata *ud, unsigned long n)
{
	const struct t_info *ti = &u->ep->info;

	if (xti_bad_netbuf(&ud->addr) || ud->addr.len == 0 ||
	    (ti->addr > 0 && ud->addr.len > (unsigned)ti->addr))
		return xti_fail(TBADADDR);
	if (xti_bad_netbuf(&ud->opt))
		return xti_fail(TBADOPT);
	if ((n == 0 && (ti->flags & T_SENDZERO) == 0) ||
	    (ti->tsdu >= 0 && n > (unsigned)ti->tsdu) || n > INT_MAX)
		return xti_fail(TBADDATA);
	return 0;
}

/*
 * Send a plain request on the direct path; @calm: only if nothing waits to be
 * read.
 * Return: 0: sent; 1: that is not possible; 2: @calm, and something waits.
 */
static inline int
send_now(struct use *u, const struct t_unitdata *ud, const void *buf,
	unsigned n, int calm)
{
	struct {
		struct T_unitdata_req ur;
		unsigned char to[128];
	} c;

	if (str_unlikely(ud->opt.len != 0 || ud->addr.len > sizeof(c.to)))
		return 1;
	c.ur.PRIM_type = T_UNITDATA_REQ;
	c.ur.DEST_length = (t_scalar_t)ud->addr.len;
	c.ur.DEST_offset = sizeof(c.ur);
	c.ur.OPT_length = c.ur.OPT_offset = 0;
	if (str_unlikely(strm_copy(c.to, ud->addr.buf, ud->addr.len) != 0))
		return 1;
	return strm_send(u->fd, &u->id, &c, sizeof(c.ur) + ud->addr.len, buf,
		n, calm);
}

static STR_NOINLINE int
send_message(struct use *u, const struct t_unitdata *ud, const void *buf,
	unsigned n)
{
	struct T_unitdata_req ur = {.PRIM_type = T_UNITDATA_REQ};
	unsigned at = sizeof(ur);
	struct strm_buf ctl, data;
	struct block b;
	int ret;

	xti_block(&b);
	if (str_unlikely(at + ud->addr.len + ud->opt.len + 16 > b.size) &&
	    xti_block_size(&b, at + ud->addr.len + ud->opt.len + 16) < 0)
		return -1;
	ur.DEST_offset = xti_field(&b, &at, &ud->addr);
	ur.DEST_length = (t_scalar_t)ud->addr.len;
	ur.OPT_offset = xti_field(&b, &at, &ud->opt);
	ur.OPT_length = (t_scalar_t)ud->opt.len;
	if (str_unlikely(b.fault)) {
		xti_block_free(&b);
		return xti_sys(EFAULT);
	}
	memcpy(b.buf, &ur, sizeof(ur));
	ctl.buf = b.buf;
	ctl.len = (int)at;
	data.buf = (void *)(uintptr_t)buf;
	data.len = (int)n;
	ret = strm_putprim(u->fd, &ctl, &data, 0);
	xti_block_free(&b);
	if (str_likely(ret >= 0)) {
		if (str_unlikely((W(u) & W_FLOW) != 0))
			xti_word(u, W_FLOW, 0);
		return 0;
	}
	if (ret == -EAGAIN)
		xti_word(u, 0, W_FLOW);
	return xti_neg(ret, TFLOW);
}

/* No error of an earlier one may wait to be told. */
static inline int
send_to(struct use *u, const struct t_unitdata *ud, const void *buf,
	unsigned n)
{
	int ret = 1;

	if (str_likely((W(u) & W_FLOW) == 0))
		ret = send_now(u, ud, buf, n, 1);
	if (str_likely(ret == 0))
		return 0;
	if (xti_look(u) == T_UDERR)
		return xti_fail(TLOOK);
	if (ret == 2 && send_now(u, ud, buf, n, 0) == 0)
		return 0;
	return send_message(u, ud, buf, n);
}

STR_EXPORT STR_HOT int
t_sndudata(int fd, const struct t_unitdata *unitdata)
{
	struct use u;

	if (str_unlikely(begin(&u, fd) < 0))
		return -1;
	XTI_READABLE(unitdata, bad);
	XTI_READABLE((const char *)(unitdata + 1) - 1, bad);
	if (check(&u, unitdata, unitdata->udata.len) < 0)
		return -1;
	return send_to(&u, unitdata, unitdata->udata.buf,
		unitdata->udata.len);
bad:
	return xti_sys(EFAULT);
}

STR_EXPORT int
t_sndvudata(int fd, struct t_unitdata *unitdata, struct t_iovec *user,
	unsigned int iovcount)
{
	unsigned long sum = 0, at = 0;
	struct t_iovec iov[T_IOV_MAX];
	struct t_unitdata ud;
	struct use u;
	char *all;
	int ret;

	if (begin(&u, fd) < 0)
		return -1;
	if (iovcount == 0 || iovcount > T_IOV_MAX)
		return xti_fail(TBADDATA);
	if (xti_in(&ud, unitdata, sizeof(ud)) < 0 ||
	    xti_in(iov, user, iovcount * sizeof(*iov)) < 0)
		return -1;
	for (unsigned i = 0; i < iovcount; i++) {
		if (iov[i].iov_len > INT_MAX)
			return xti_fail(TBADDATA);
		sum += iov[i].iov_len;
	}
	if (check(&u, &ud, sum) < 0)
		return -1;
	if (iovcount == 1)
		return send_to(&u, &ud, iov[0].iov_base, (unsigned)sum);
	all = malloc(sum != 0 ? sum : 1);
	if (all == NULL)
		return xti_sys(ENOMEM);
	for (unsigned i = 0; i < iovcount; i++) {
		if (strm_copy(all + at, iov[i].iov_base, iov[i].iov_len) != 0) {
			free(all);
			return xti_sys(EFAULT);
		}
		at += iov[i].iov_len;
	}
	ret = send_to(&u, &ud, all, (unsigned)sum);
	free(all);
	return ret;
}

/* ------------------------------------------------------------------- receiving */

/* Return: bytes, with *flags and the address; -1 with t_errno. */
static STR_NOINLINE int
receive(struct use *u, struct t_unitdata *ud, void *buf, unsigned n,
	int *flags)
{
	struct T_unitdata_ind ui;
	struct strm_prim gp;
	struct block b;
	int more, over = 0;

	xti_block(&b);
	gp.data.buf = buf;
	gp.data.maxlen = n > INT_MAX ? INT_MAX : (int)n;
	more = xti_get(u, &gp, &b, P(T_UNITDATA_IND) | STRM_DATA, 0);
	if (str_unlikely(more < 0)) {
		xti_block_free(&b);
		return xti_neg(more, TNODATA);
	}
	if (gp.prim == STRM_PRIM_NONE) {
		ud->addr.len = ud->opt.len = 0;
	} else if (gp.ctl.len >= (int)sizeof(ui)) {
		memcpy(&ui, b.buf, sizeof(ui));
		over = xti_give(u, &ud->addr, &b, ui.SRC_offset,
			ui.SRC_length, gp.ctl.len);
		over |= xti_give(u, &ud->opt, &b, ui.OPT_offset,
			ui.OPT_length, gp.ctl.len);
	}
	xti_block_free(&b);
	if (over) {
		/* XNS 5.2: the whole datagram is gone */
		xti_rest(u, more);
		ud->udata.len = 0;
		return xti_over(over);
	}
	if (flags != NULL)
		*flags = (more & MOREDATA) ? T_MORE : 0;
	return gp.data.len > 0 ? gp.data.len : 0;
}

/*
 * One that is there, and fits.  Return: 0; 1: nothing has been done; -1 with
 * t_errno.
 */
static inline int
receive_now(struct use *u, struct t_unitdata *ud)
{
	struct {
		struct T_unitdata_ind ui;
		unsigned char more[512];
	} c;
	struct strm_prim gp;
	long have;
	int over, err;

	gp.data.buf = ud->udata.buf;
	gp.data.maxlen = ud->udata.buf == NULL ? 0 :
		ud->udata.maxlen > INT_MAX ? INT_MAX : (int)ud->udata.maxlen;
	gp.ctl.buf = &c;
	gp.ctl.maxlen = sizeof(c);
	gp.want = P(T_UNITDATA_IND);
	err = strm_take(u->fd, &u->id, &gp);
	if (err > 0)
		err = strm_take_lent(u->fd, &u->id, &gp);
	if (err != 0)
		return err > 0 ? 1 : xti_neg(err, TNODATA);
	have = gp.ctl.len;
	over = 0;
	if (str_likely(have >= (long)sizeof(c.ui))) {
		over = xti_give_from(u, &ud->addr, &c, c.ui.SRC_offset,
			c.ui.SRC_length, have);
		over |= xti_give_from(u, &ud->opt, &c, c.ui.OPT_offset,
			c.ui.OPT_length, have);
	}
	if (str_unlikely(over)) {
		ud->udata.len = 0;
		return xti_over(over);
	}
	ud->udata.len = gp.data.len > 0 ? (unsigned)gp.data.len : 0;
	return 0;
}

STR_EXPORT STR_HOT int
t_rcvudata(int fd, struct t_unitdata *unitdata, int *flags)
{
	struct use u;
	int n;

	if (str_unlikely(begin(&u, fd) < 0))
		return -1;
	/* what is written, and what is read, of a page or of two */
	XTI_WRITABLE(&unitdata->addr.len, bad);
	XTI_WRITABLE(&unitdata->udata.len, bad);
	XTI_READABLE((const char *)(unitdata + 1) - 1, bad);
	if (str_likely(flags != NULL))
		XTI_ZERO(flags, bad);
	n = receive_now(&u, unitdata);
	if (str_likely(n <= 0))
		return n;
	n = receive(&u, unitdata, unitdata->udata.buf,
		unitdata->udata.buf != NULL ? unitdata->udata.maxlen : 0,
		flags);
	if (str_unlikely(n < 0))
		return -1;
	unitdata->udata.len = (unsigned)n;
	return 0;
bad:
	return xti_sys(EFAULT);
}

STR_EXPORT int
t_rcvvudata(int fd, struct t_unitdata *unitdata, struct t_iovec *user,
	unsigned int iovcount, int *flags)
{
	struct t_iovec iov[T_IOV_MAX];
	struct t_unitdata ud;
	struct strm_prim gp;
	struct block b;
	struct use u;
	int n, fl = 0, sum, more;

	if (begin(&u, fd) < 0)
		return -1;
	if (iovcount == 0 || iovcount > T_IOV_MAX)
		return xti_fail(TBADDATA);
	if (xti_inout(&ud, unitdata, sizeof(ud)) < 0 ||
	    xti_in(iov, user, iovcount * sizeof(*iov)) < 0 ||
	    (flags != NULL && xti_inout(&fl, flags, sizeof(fl)) < 0))
		return -1;
	for (unsigned i = 0; i < iovcount; i++)
		if (iov[i].iov_len > INT_MAX)
			return xti_fail(TBADDATA);
	sum = n = receive(&u, &ud, iov[0].iov_base,
		(unsigned)iov[0].iov_len, &fl);
	if (n < 0) {
		(void)xti_put(unitdata, &ud, sizeof(ud));
		return -1;
	}
	/* the other pieces: the rest of the same datagram */
	xti_block(&b);
	for (unsigned i = 1; i < iovcount && (fl & T_MORE) != 0; i++) {
		gp.data.buf = iov[i].iov_base;
		gp.data.maxlen = (int)iov[i].iov_len;
		more = xti_get(&u, &gp, &b, STRM_DATA, 1);
		if (more < 0)
			break;
		sum += gp.data.len > 0 ? gp.data.len : 0;
		fl = (more & MOREDATA) ? T_MORE : 0;
	}
	xti_block_free(&b);
	ud.udata.len = 0;
	if (xti_out(unitdata, &ud, sizeof(ud)) < 0 ||
	    (flags != NULL && xti_out(flags, &fl, sizeof(fl)) < 0))
		return -1;
	return sum;
}

STR_EXPORT int
t_rcvuderr(int fd, struct t_uderr *uderr)
{
	struct T_uderror_ind ue;
	struct strm_prim gp = {.data = {.maxlen = 0}};
	struct t_uderr err;
	struct block b;
	struct use u;
	int more, over = 0;

	if (begin(&u, fd) < 0 ||
	    (uderr != NULL && xti_inout(&err, uderr, sizeof(err)) < 0))
		return -1;
	xti_block(&b);
	more = xti_get(&u, &gp, &b, P(T_UDERROR_IND), 1);
	if (more < 0) {
		xti_block_free(&b);
		return more == -ENOMSG ? xti_fail(TNOUDERR) :
					 xti_neg(more, TNOUDERR);
	}
	xti_rest(&u, more);
	if (uderr != NULL && gp.ctl.len >= (int)sizeof(ue)) {
		memcpy(&ue, b.buf, sizeof(ue));
		over = xti_give(&u, &err.addr, &b, ue.DEST_offset,
			ue.DEST_length, gp.ctl.len);
		over |= xti_give(&u, &err.opt, &b, ue.OPT_offset,
			ue.OPT_length, gp.ctl.len);
		err.error = ue.ERROR_type;
		over |= xti_put(uderr, &err, sizeof(err));
	}
	xti_block_free(&b);
	return xti_over(over);
}

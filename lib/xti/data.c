/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data of connections: t_snd(), t_rcv() and their relatives.
 *
 * Fast path.  Normal data of a stream of bytes, or one whole unit, is sent as
 * by write(2).  Bytes that have arrived are received as by read(2), a unit that
 * has arrived and fits as one message.  All other cases take the slow path:
 * expedited data, units in pieces or of zero bytes, a part of a message, a
 * control part.
 */
#include <limits.h>
#include <stdlib.h>
#include <stropts.h>

#include <xti.h>

#include "xti_impl.h"

#define SND_STATES (S(T_DATAXFER) | S(T_INREL))
#define RCV_STATES (S(T_DATAXFER) | S(T_OUTREL))

STR_INLINE int
begin(struct use *u, int fd, unsigned states)
{
	if (str_likely(xti_use(u, fd, states) == 0) &&
	    str_likely(u->ep->info.servtype != T_CLTS))
		return 0;
	if (xti_use(u, fd, S_ANY) < 0)
		return -1;
	return xti_fail(u->ep->info.servtype == T_CLTS ? TNOTSUPPORT :
							 TOUTSTATE);
}

/* -------------------------------------------------------------------- sending */

/* Check @n bytes with @flags for this provider. */
static int
check_snd(const struct use *u, unsigned n, int flags)
{
	const struct t_info *ti = &u->ep->info;
	t_scalar_t unit = (flags & T_EXPEDITED) ? ti->etsdu : ti->tsdu;

	if (unit == T_INVALID)
		return xti_fail(TNOTSUPPORT);
	if (n == 0 && (ti->flags & T_SENDZERO) == 0)
		return xti_fail(TBADDATA);
	if (unit > 0 && n > (unsigned)unit)
		return xti_fail(TBADDATA);
	return 0;
}

/*
 * Find the reason of a failed send.  An event has precedence over the Stream's
 * error.
 */
static int
snd_failed(struct use *u, long err, int flags)
{
	int event;

	if (err == -EAGAIN)
		xti_word(u, 0, (flags & T_EXPEDITED) ? W_XFLOW : W_FLOW);
	else if (err != -EINTR && err != -EFAULT) {
		event = xti_look(u);
		if (event == T_DISCONNECT || event == T_ORDREL ||
		    (event != 0 && strm_ended(&u->id)))
			return xti_fail(TLOOK);
	}
	return xti_neg(err, TFLOW);
}

/*
 * @n bytes have been accepted on a stream of bytes.  If the provider has found
 * since begin_snd() that the connection is gone, as the send itself may find,
 * they are lost: an event, and not a success.
 */
STR_INLINE int
snd_done(struct use *u, int n)
{
	if (str_likely(u->ep->info.tsdu != 0 || !strm_ended(&u->id)) ||
	    xti_look(u) == 0)
		return n;
	return xti_fail(TLOOK);
}

/* Pieces as T_DATA_REQ, T_EXDATA_REQ or T_OPTDATA_REQ: boundaries count. */
static int
snd_prim(struct use *u, const char *buf, unsigned n, int flags,
	const struct netbuf *opt)
{
	unsigned tidu = (unsigned)u->ep->info.tidu, done = 0, part;
	int more, ret, band = (flags & T_EXPEDITED) ? 1 : 0;
	struct strm_buf ctl, data;
	struct T_optdata_req od = {.PRIM_type = T_OPTDATA_REQ};
	struct T_data_req dr;
	unsigned at = sizeof(od);
	struct block b;

	xti_block(&b);
	if (opt != NULL) {
		if (xti_block_size(&b, at + opt->len + 8) < 0)
			return -1;
		od.OPT_offset = xti_field(&b, &at, opt);
		od.OPT_length = (t_scalar_t)opt->len;
		if (b.fault) {
			xti_block_free(&b);
			return xti_sys(EFAULT);
		}
	}
	do {
		part = n - done > tidu ? tidu : n - done;
		more = done + part < n || (flags & T_MORE) != 0;
		dr.PRIM_type = band ? T_EXDATA_REQ : T_DATA_REQ;
		dr.MORE_flag = more;
		ctl.buf = &dr;
		ctl.len = sizeof(dr);
		if (opt != NULL) {
			od.DATA_flag = (band ? T_ODF_EX : 0) |
				(more ? T_ODF_MORE : 0);
			memcpy(b.buf, &od, sizeof(od));
			ctl.buf = b.buf;
			ctl.len = (int)at;
		}
		data.buf = (char *)(uintptr_t)buf + done;
		data.len = (int)part;
		ret = strm_putprim(u->fd, &ctl, &data, band);
		if (ret < 0)
			break;
		done += part;
	} while (done < n);
	xti_block_free(&b);
	if (ret < 0 && done == 0)
		return snd_failed(u, ret, flags);
	if (!band)
		xti_word(u, W_FLOW | W_SMORE,
			(flags & T_MORE) || done < n ? W_SMORE : 0);
	else
		xti_word(u, W_XFLOW, 0);
	return snd_done(u, (int)done);
}

/* Send bytes, in pieces that the provider accepts. */
STR_INLINE int
snd_bytes(struct use *u, const char *buf, unsigned n)
{
	unsigned tidu = (unsigned)u->ep->info.tidu, done = 0, part;
	long ret;

	do {
		part = n - done > tidu ? tidu : n - done;
		ret = strm_write(u->fd, buf + done, part);
		if (str_unlikely(ret < 0))
			break;
		done += (unsigned)ret;
	} while (str_unlikely(done < n) && ret == (long)part);
	if (str_unlikely(ret < 0) && done == 0)
		return snd_failed(u, ret, 0);
	if (str_unlikely((W(u) & W_FLOW) != 0) && done == n)
		xti_word(u, W_FLOW, 0);
	return snd_done(u, (int)done);
}

/* May data be sent as M_DATA alone? */
STR_INLINE int
plain(const struct use *u, unsigned n, int flags)
{
	if (str_unlikely((flags & T_EXPEDITED) != 0 || n == 0))
		return 0;
	if (str_likely(u->ep->info.tsdu == 0))
		return 1;
	return (flags & T_MORE) == 0 && (W(u) & W_SMORE) == 0 &&
		n <= (unsigned)u->ep->info.tidu;
}

/* Does the TSDU size allow any number of bytes above 0? */
STR_INLINE int
is_any_size(t_scalar_t tsdu)
{
	return tsdu == 0 || tsdu == T_INFINITE;
}

STR_INLINE int
begin_snd(struct use *u, int fd, unsigned n, int flags)
{
	int event;

	if (str_unlikely(begin(u, fd, SND_STATES) < 0))
		return -1;
	if (str_unlikely((flags & ~(T_MORE | T_EXPEDITED | T_PUSH)) != 0))
		return xti_fail(TBADFLAG);
	if (str_unlikely((n == 0 || !is_any_size(u->ep->info.tsdu) ||
			(flags & T_EXPEDITED) != 0) &&
		check_snd(u, n, flags) < 0))
		return -1;
	event = xti_look(u);
	/* a disconnection is reported even behind unread data */
	if (str_unlikely(event == T_DISCONNECT || event == T_ORDREL ||
		(event != 0 && strm_ended(&u->id))))
		return xti_fail(TLOOK);
	return 0;
}

/* XNS t_snd: T_PUSH, nothing of it is kept back.  @n: what the send returned. */
static STR_NOINLINE int
pushed(int fd, int n)
{
	if (n >= 0)
		strm_push(fd);
	return n;
}

STR_EXPORT STR_HOT int
t_snd(int fd, void *buf, unsigned int nbytes, int flags)
{
	struct use u;
	long n;

	if (str_unlikely((flags & T_PUSH) != 0))
		return pushed(fd, t_snd(fd, buf, nbytes, flags & ~T_PUSH));
	if (str_unlikely(nbytes > INT_MAX))
		nbytes = INT_MAX;
	if (str_unlikely(begin_snd(&u, fd, nbytes, flags) < 0))
		return -1;
	if (str_unlikely(!plain(&u, nbytes, flags)))
		return snd_prim(&u, buf, nbytes, flags, NULL);
	/* through the driver's loan; 0: there is none, or it cannot be used */
	n = u.ep->info.tsdu == 0 && (W(&u) & W_FLOW) == 0 &&
			nbytes <= (unsigned)u.ep->info.tidu ?
		strm_snd(&u.id, buf, nbytes) : 0;
	if (str_likely(n <= 0))
		return snd_bytes(&u, buf, nbytes);
	return str_likely(n == (long)nbytes) ? (int)n :
		(int)strm_snd_rest(fd, buf, nbytes, (size_t)n);
}

/* --------------------------------------------------------------------- vectors */

/* The sum of a vector, which is copied, or -1 with t_errno. */
static long
total(struct t_iovec iov[T_IOV_MAX], const struct t_iovec *user, unsigned n)
{
	unsigned long sum = 0;

	if (n == 0 || n > T_IOV_MAX)
		return xti_fail(TBADDATA);
	if (xti_in(iov, user, n * sizeof(*iov)) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (iov[i].iov_len > INT_MAX ||
		    sum + iov[i].iov_len > INT_MAX)
			return xti_fail(TBADDATA);
		sum += iov[i].iov_len;
	}
	return (long)sum;
}

/* All pieces in one, malloc'ed; NULL with t_errno. */
static char *
gather(const struct t_iovec *iov, unsigned n, size_t sum)
{
	char *all = malloc(sum != 0 ? sum : 1);
	size_t at = 0;

	if (all == NULL) {
		(void)xti_sys(ENOMEM);
		return NULL;
	}
	for (unsigned i = 0; i < n; i++) {
		if (strm_copy(all + at, iov[i].iov_base, iov[i].iov_len) != 0) {
			free(all);
			(void)xti_sys(EFAULT);
			return NULL;
		}
		at += iov[i].iov_len;
	}
	return all;
}

STR_EXPORT int
t_sndv(int fd, const struct t_iovec *user, unsigned int iovcount, int flags)
{
	struct t_iovec iov[T_IOV_MAX];
	struct strm_iov v[T_IOV_MAX];
	struct use u;
	long sum, ret;
	char *all;

	if ((flags & T_PUSH) != 0)
		return pushed(fd,
			t_sndv(fd, user, iovcount, flags & ~T_PUSH));
	if (begin(&u, fd, SND_STATES) < 0)
		return -1;
	sum = total(iov, user, iovcount);
	if (sum < 0 || begin_snd(&u, fd, (unsigned)sum, flags) < 0)
		return -1;
	if (plain(&u, (unsigned)sum, flags) && sum <= u.ep->info.tidu) {
		for (unsigned i = 0; i < iovcount; i++) {
			v[i].base = iov[i].iov_base;
			v[i].len = iov[i].iov_len;
		}
		ret = strm_writev(u.fd, v, (int)iovcount);
		if (ret < 0)
			return snd_failed(&u, ret, flags);
		if ((W(&u) & W_FLOW) != 0)
			xti_word(&u, W_FLOW, 0);
		return snd_done(&u, (int)ret);
	}
	all = gather(iov, iovcount, (size_t)sum);
	if (all == NULL)
		return -1;
	ret = plain(&u, (unsigned)sum, flags) ?
		snd_bytes(&u, all, (unsigned)sum) :
		snd_prim(&u, all, (unsigned)sum, flags, NULL);
	free(all);
	return (int)ret;
}

STR_EXPORT int
t_sndopt(int fd, const struct t_optmgmt *opt, void *buf, unsigned int nbytes,
	int flags)
{
	struct t_optmgmt om = {.flags = 0};
	struct use u;

	if ((flags & T_PUSH) != 0)
		return pushed(fd,
			t_sndopt(fd, opt, buf, nbytes, flags & ~T_PUSH));
	if (nbytes > INT_MAX)
		nbytes = INT_MAX;
	if (begin_snd(&u, fd, nbytes, flags) < 0 ||
	    (opt != NULL && xti_in(&om, opt, sizeof(om)) < 0))
		return -1;
	if (om.opt.len == 0)
		return t_snd(fd, buf, nbytes, flags);
	if (xti_bad_netbuf(&om.opt))
		return xti_fail(TBADOPT);
	return snd_prim(&u, buf, nbytes, flags, &om.opt);
}

STR_EXPORT int
t_sndvopt(int fd, const struct t_optmgmt *opt, const struct t_iovec *user,
	unsigned int iovcount, int flags)
{
	struct t_iovec iov[T_IOV_MAX];
	struct use u;
	char *all;
	long sum;
	int ret;

	if (begin(&u, fd, SND_STATES) < 0)
		return -1;
	sum = total(iov, user, iovcount);
	if (sum < 0)
		return -1;
	all = gather(iov, iovcount, (size_t)sum);
	if (all == NULL)
		return -1;
	ret = t_sndopt(fd, opt, all, (unsigned)sum, flags);
	free(all);
	return ret;
}

/* ------------------------------------------------------------------- receiving */

/* Note that the first message at the head is the rest of the one taken. */
static void
note_rest(struct use *u, int ex, int part, int more)
{
	uint32_t clear = ex ? W_XPART | W_XMORE : W_RPART | W_RMORE;
	uint32_t set = 0;

	if (part)
		set = ex ? W_XPART | (more ? W_XMORE : 0) :
			   W_RPART | (more ? W_RMORE : 0);
	if ((W(u) & clear) != set)
		xti_word(u, clear, set);
}

/* The kind of the data in @gp: *ex, *more. */
static void
kind_of(struct use *u, const struct strm_prim *gp, const struct block *b,
	int *ex, int *more)
{
	struct T_optdata_ind od;
	struct T_data_ind di = {.MORE_flag = 0};
	uint32_t w = W(u);

	*ex = gp->prim == T_EXDATA_IND;
	*more = 0;
	if (gp->prim == STRM_PRIM_NONE) {
		*ex = (w & W_XPART) != 0;
		*more = (w & (*ex ? W_XMORE : W_RMORE)) != 0;
	} else if (gp->prim == T_OPTDATA_IND) {
		if (gp->ctl.len < (int)sizeof(od))
			return;
		memcpy(&od, b->buf, sizeof(od));
		*ex = (od.DATA_flag & T_ODF_EX) != 0;
		*more = (od.DATA_flag & T_ODF_MORE) != 0;
	} else if (gp->ctl.len >= (int)sizeof(di)) {
		memcpy(&di, b->buf, sizeof(di));
		*more = di.MORE_flag != 0;
	}
}

static int
give_options(struct use *u, struct t_optmgmt *opt, const struct strm_prim *gp,
	const struct block *b)
{
	struct T_optdata_ind od;

	opt->opt.len = 0;
	if (gp->prim != T_OPTDATA_IND || gp->ctl.len < (int)sizeof(od))
		return 0;
	memcpy(&od, b->buf, sizeof(od));
	return xti_give(u, &opt->opt, b, od.OPT_offset, od.OPT_length,
		gp->ctl.len);
}

/* The slow path. @nowait: do not wait for more. */
static STR_NOINLINE int
rcv(struct use *u, void *buf, unsigned n, int *flags, struct t_optmgmt *opt,
	int nowait)
{
	struct strm_prim gp;
	struct block b;
	int got, ex, more, over = 0;

	xti_block(&b);
	for (;;) {
		gp.data.buf = buf;
		gp.data.maxlen = (int)n;
		got = xti_get(u, &gp, &b, P_DATA, nowait);
		if (str_unlikely(got < 0)) {
			xti_block_free(&b);
			return xti_neg(got, TNODATA);
		}
		kind_of(u, &gp, &b, &ex, &more);
		note_rest(u, ex, (got & MOREDATA) != 0, more);
		/* an empty unit counts only with T_SNDZERO */
		if (gp.data.len > 0 || n == 0 || more ||
		    (u->ep->info.flags & T_SENDZERO) != 0)
			break;
	}
	if (opt != NULL)
		over = give_options(u, opt, &gp, &b);
	xti_block_free(&b);
	if (flags != NULL)
		*flags = (ex ? T_EXPEDITED : 0) |
			((got & MOREDATA) != 0 || more ? T_MORE : 0);
	if (over)
		return xti_over(over);
	return gp.data.len > 0 ? gp.data.len : 0;
}

STR_EXPORT STR_HOT int
t_rcv(int fd, void *buf, unsigned int nbytes, int *flags)
{
	struct use u;
	long n;

	if (str_unlikely(begin(&u, fd, RCV_STATES) < 0))
		return -1;
	if (str_likely(flags != NULL))
		XTI_ZERO(flags, bad);
	if (str_unlikely(nbytes > INT_MAX))
		nbytes = INT_MAX;
	if (str_likely((W(&u) & (W_RPART | W_XPART)) == 0)) {
		if (u.ep->info.tsdu != 0)
			n = strm_unit(fd, &u.id, buf, nbytes);
		else if ((n = strm_rcv(&u.id, buf, nbytes)) == 0)
			n = strm_read(fd, buf, nbytes);
		if (str_likely(n > 0))
			return (int)n;
		if (str_unlikely(n < 0))
			return xti_neg(n, TNODATA);
	}
	return rcv(&u, buf, nbytes, flags, NULL, 0);
bad:
	return xti_sys(EFAULT);
}

/*
 * One buffer after the other: the first waits for data, the others take the
 * rest of the same message.
 */
static int
rcvv(struct use *u, const struct t_iovec *user, unsigned n, int *flags,
	struct t_optmgmt *opt)
{
	struct t_iovec iov[T_IOV_MAX];
	int got, sum = 0, fl = 0, ex = 0;

	if (total(iov, user, n) < 0)
		return -1;
	for (unsigned i = 0; i < n; i++) {
		if (iov[i].iov_len == 0 && i + 1 < n)
			continue;
		got = rcv(u, iov[i].iov_base, (unsigned)iov[i].iov_len, &fl,
			sum == 0 ? opt : NULL, sum != 0);
		if (got < 0)
			return sum != 0 ? sum : -1;
		sum += got;
		ex |= fl & T_EXPEDITED;
		*flags = fl;
		/* is there a rest of this message? */
		if ((W(u) & (ex ? W_XPART : W_RPART)) == 0)
			break;
	}
	return sum;
}

/* The same, with the caller's structures. */
static int
rcv_for(struct use *u, struct t_optmgmt *opt, const struct t_iovec *iov,
	unsigned n, int *flags)
{
	struct t_optmgmt om, *omp = opt != NULL ? &om : NULL;
	int fl = 0, ret;

	if ((opt != NULL && xti_inout(&om, opt, sizeof(om)) < 0) ||
	    (flags != NULL && xti_inout(&fl, flags, sizeof(fl)) < 0))
		return -1;
	ret = rcvv(u, iov, n, &fl, omp);
	if ((opt != NULL && xti_out(opt, &om, sizeof(om)) < 0) ||
	    (flags != NULL && ret >= 0 && xti_out(flags, &fl, sizeof(fl)) < 0))
		return -1;
	return ret;
}

STR_EXPORT int
t_rcvv(int fd, struct t_iovec *iov, unsigned int iovcount, int *flags)
{
	struct use u;

	if (begin(&u, fd, RCV_STATES) < 0)
		return -1;
	return rcv_for(&u, NULL, iov, iovcount, flags);
}

STR_EXPORT int
t_rcvopt(int fd, struct t_optmgmt *opt, void *buf, unsigned int nbytes,
	int *flags)
{
	struct t_iovec iov = {buf, nbytes > INT_MAX ? INT_MAX : nbytes};
	struct use u;

	if (begin(&u, fd, RCV_STATES) < 0)
		return -1;
	return rcv_for(&u, opt, &iov, 1, flags);
}

STR_EXPORT int
t_rcvvopt(int fd, struct t_optmgmt *opt, struct t_iovec *iov,
	unsigned int iovcount, int *flags)
{
	struct use u;

	if (begin(&u, fd, RCV_STATES) < 0)
		return -1;
	return rcv_for(&u, opt, iov, iovcount, flags);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: T_OPTMGMT_REQ, and the options in other requests.
 *
 * A list is walked once to check it (tpi_opt_check()), and once to carry it
 * out.  XNS, "The use of options": an unknown option gives T_NOTSUPPORT, one
 * that cannot be changed T_READONLY.  A value out of range is reduced to the
 * limit (T_PARTSUCCESS), unless the option is an absolute requirement
 * (T_FAILURE).  The flags of the answer are the worst of all.  If nothing was
 * set the answer contains the requested value.  An unknown level, or an invalid
 * length, makes the whole request TBADOPT.
 */
#include "tpi_impl.h"
#include "optval.h"

#define HDR sizeof(struct t_opthdr)
#define ALIGNED(n) (((n) + 3u) & ~3u)

/* An answer that is being built. */
struct answer {
	mblk_t *mp;
	unsigned int worst;
};

static unsigned int
rank(unsigned int status)
{
	switch (status) {
	case T_NOTSUPPORT:
		return 5;
	case T_READONLY:
		return 4;
	case T_FAILURE:
		return 3;
	case T_PARTSUCCESS:
		return 2;
	default:
		return 1;
	}
}

static void
header(const unsigned char *at, struct t_opthdr *h)
{
	bcopy(at, h, sizeof(*h));
}

int
tpi_opt_check(const struct tpi_buf *opts)
{
	unsigned int off = 0;
	struct t_opthdr h;

	while (off < opts->len) {
		if (opts->len - off < HDR)
			return -TBADOPT;
		header(opts->buf + off, &h);
		if (h.len < HDR || h.len > opts->len - off)
			return -TBADOPT;
		if (ALIGNED(h.len) > opts->len - off)
			break; /* the last one need not be padded */
		off += ALIGNED(h.len);
	}
	return 0;
}

static const struct tpi_opt *
find(const struct tpi_ops *ops, t_uscalar_t level, t_uscalar_t name)
{
	unsigned int i;

	for (i = 0; i < ops->nopt; i++)
		if (ops->opt[i].level == level && ops->opt[i].name == name)
			return &ops->opt[i];
	return NULL;
}

static int
knows_level(const struct tpi_ops *ops, t_uscalar_t level)
{
	unsigned int i;

	for (i = 0; i < ops->nopt; i++)
		if (ops->opt[i].level == level)
			return 1;
	return 0;
}

/* --------------------------------------------------------------------- answers */

/* One option of the answer; @v NULL: no value. */
static void
add(struct answer *a, t_uscalar_t level, t_uscalar_t name,
	const struct tpi_opt *o, const struct tpi_val *v, unsigned int status)
{
	struct t_opthdr h = { HDR, level, name, status };
	unsigned char *at = a->mp->b_wptr;
	size_t room = (size_t)(a->mp->b_datap->db_lim - at), n = 0;
	unsigned char narrow;
	long wide;

	if (rank(status) > rank(a->worst))
		a->worst = status;
	if (room < HDR + TPI_VALMAX)
		return; /* allocated for all that the request can ask for */
	if (v != NULL && tpi_val_words(o) == 1 && o->type != TPI_OPT_BYTES &&
		v->wide != 4) {
		n = v->wide;
		wide = v->w[0];
		narrow = (unsigned char)v->w[0];
		if (n == 1)
			bcopy(&narrow, at + HDR, 1);
		else
			bcopy(&wide, at + HDR, 8);
	} else if (v != NULL) {
		n = v->len;
		bcopy(v->w, at + HDR, n);
	}
	h.len = (t_uscalar_t)(HDR + n);
	bcopy(&h, at, HDR);
	bzero(at + h.len, ALIGNED(h.len) - h.len);
	a->mp->b_wptr += ALIGNED(h.len);
}

/* Copy an unknown option of the request to the answer. */
static void
add_unknown(struct answer *a, const struct t_opthdr *asked,
	const unsigned char *val, t_scalar_t flags)
{
	struct t_opthdr h = *asked;
	unsigned char *at = a->mp->b_wptr;

	if (flags != T_NEGOTIATE && flags != T_CHECK)
		h.len = HDR; /* a request for the provider's value */
	h.status = T_NOTSUPPORT;
	a->worst = T_NOTSUPPORT;
	if ((size_t)(a->mp->b_datap->db_lim - at) < ALIGNED(h.len))
		return;
	bcopy(&h, at, HDR);
	bcopy(val, at + HDR, h.len - HDR);
	bzero(at + h.len, ALIGNED(h.len) - h.len);
	a->mp->b_wptr += ALIGNED(h.len);
}

/* Carry out the request for option @o; @at, @len: the user's value, or none. */
static int
one(struct tpi_req *r, struct answer *a, const struct tpi_opt *o,
	const unsigned char *at, unsigned int len)
{
	t_scalar_t flags = r->p->optmgmt_req.MGMT_flags;
	int ro = (o->flags & TPI_OPT_RDONLY) != 0;
	unsigned int status = T_SUCCESS, wide;
	struct tpi_val v;

	tpi_val_default(o, &v);
	if (len != 0 && tpi_val_wanted(o, at, len, &v) != 0)
		return -TBADOPT;
	wide = v.wide;
	if (flags == T_CHECK && len == 0) {
		add(a, o->level, o->name, o, NULL,
			ro ? T_READONLY : T_SUCCESS);
		return 0;
	}
	if (flags == T_CURRENT)
		tpi_val_current(r->tp, r->ops, o, &v);
	else if (flags == T_DEFAULT)
		tpi_val_initial(r->tp, r->ops, o, &v);
	else
		status = tpi_val_negotiate(r->tp, r->ops, o, &v, flags == T_CHECK);
	if (ro)
		status = T_READONLY;
	if (tpi_val_words(o) == 1)
		v.wide = wide;
	add(a, o->level, o->name, o, &v, status);
	return 0;
}

/* T_ALLOPT of @level; 0: of all of them. */
static int
all(struct tpi_req *r, struct answer *a, t_uscalar_t level, int any)
{
	unsigned int i;

	if (r->p->optmgmt_req.MGMT_flags == T_CHECK)
		return -TBADOPT;
	for (i = 0; i < r->ops->nopt; i++) {
		if (!any && r->ops->opt[i].level != level)
			continue;
		(void)one(r, a, &r->ops->opt[i], NULL, 0);
	}
	return 0;
}

/* All options of a request; they are of one level. */
static int
list(struct tpi_req *r, struct answer *a, const struct tpi_buf *opts)
{
	t_uscalar_t level = 0;
	const struct tpi_opt *o;
	unsigned int off;
	struct t_opthdr h;
	int err = 0;

	for (off = 0; off < opts->len && err == 0; off += ALIGNED(h.len)) {
		header(opts->buf + off, &h);
		if (off == 0)
			level = h.level;
		if (h.level != level)
			return -TBADOPT;
		if (h.name == T_ALLOPT) {
			err = all(r, a, level, 0);
			continue;
		}
		o = find(r->ops, h.level, h.name);
		if (o == NULL)
			add_unknown(a, &h, opts->buf + off + HDR,
				r->p->optmgmt_req.MGMT_flags);
		else
			err = one(r, a, o, opts->buf + off + HDR,
				(unsigned int)(h.len - HDR));
	}
	return err;
}

/* Would the request succeed?  If not, nothing may be set. */
static int
dry_run(struct tpi_req *r, const struct tpi_buf *opts)
{
	t_uscalar_t level = 0;
	const struct tpi_opt *o;
	struct t_opthdr h;
	unsigned int off;
	struct tpi_val v;

	for (off = 0; off < opts->len; off += ALIGNED(h.len)) {
		header(opts->buf + off, &h);
		if (off == 0)
			level = h.level;
		if (h.level != level || !knows_level(r->ops, level))
			return -TBADOPT;
		o = find(r->ops, h.level, h.name);
		if (o != NULL && h.len > HDR && tpi_val_wanted(o,
			opts->buf + off + HDR, (unsigned int)(h.len - HDR),
			&v) != 0)
			return -TBADOPT;
	}
	return 0;
}

/*
 * Room for the answer: a requested option is one with a value, or all options.
 */
static size_t
room_for(const struct tpi_req *r, const struct tpi_buf *opts)
{
	size_t n = (size_t)r->ops->nopt + 1;

	return (opts->len / HDR * (opts->len > HDR ? n : 1) + n) *
		(HDR + TPI_VALMAX) + ALIGNED(opts->len);
}

int
tpi_optmgmt_req(struct tpi_req *r)
{
	t_scalar_t flags = r->p->optmgmt_req.MGMT_flags;
	struct answer a = { NULL, T_SUCCESS };
	struct T_optmgmt_ack *oa;
	struct tpi_buf opts;
	int err = 0;

	if (!tpi_range(r, r->p->optmgmt_req.OPT_length,
		r->p->optmgmt_req.OPT_offset, &opts) || opts.len > TPI_OPTMAX)
		err = -TBADOPT;
	else if (flags != T_NEGOTIATE && flags != T_CHECK &&
		flags != T_DEFAULT && flags != T_CURRENT)
		err = -TBADFLAG;
	else if (opts.len == 0 && (flags == T_NEGOTIATE || flags == T_CHECK))
		err = -TBADOPT;
	else
		err = tpi_opt_check(&opts);
	if (err == 0)
		err = dry_run(r, &opts);
	if (err == 0) {
		a.mp = tpi_block(M_PCPROTO, T_OPTMGMT_ACK, sizeof(*oa),
			room_for(r, &opts));
		err = a.mp == NULL ? ENOSR : opts.len == 0 ?
			all(r, &a, 0, 1) : list(r, &a, &opts);
	}
	if (err != 0) {
		if (a.mp != NULL)
			freeb(a.mp);
		tpi_error(r->tp, r->prim, err, TPI_SAME);
		return 0;
	}
	oa = (struct T_optmgmt_ack *)(void *)a.mp->b_rptr;
	oa->OPT_length = (t_scalar_t)(MBLKL(a.mp) - (ssize_t)sizeof(*oa));
	oa->OPT_offset = oa->OPT_length != 0 ? (t_scalar_t)sizeof(*oa) : 0;
	oa->MGMT_flags = (t_scalar_t)a.worst;
	tpi_up(r->tp, a.mp);
	return 0;
}

void
tpi_opt_defaults(struct tpi *tp, const struct tpi_ops *ops)
{
	unsigned int i, k;
	struct tpi_val v;

	for (i = 0; i < ops->nopt; i++) {
		const struct tpi_opt *o = &ops->opt[i];

		if ((o->flags & TPI_OPT_OPS) != 0)
			continue;
		tpi_val_default(o, &v);
		for (k = 0; k < tpi_val_words(o); k++)
			tp->val[o->at + k] = v.w[k];
	}
}

/* As add(), but omits an option that does not fit; @a may be empty. */
static void
note(struct answer *a, t_uscalar_t level, t_uscalar_t name,
	const struct tpi_opt *o, const struct tpi_val *v, unsigned int status)
{
	unsigned char *was;

	if (a->mp == NULL)
		return;
	was = a->mp->b_wptr;
	add(a, level, name, o, v, status);
	if (MBLKL(a->mp) > (ssize_t)TPI_CONOPT)
		a->mp->b_wptr = was;
}

/*
 * Options in T_CONN_REQ and T_CONN_RES: unknown options are ignored; an
 * absolute requirement that cannot be met makes the call fail.
 */
static int
call(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_buf *opts,
	struct answer *a)
{
	const struct tpi_opt *o;
	unsigned int off, status;
	struct t_opthdr h;
	struct tpi_val v;
	int err = tpi_opt_check(opts);

	for (off = 0; off < opts->len && err == 0; off += ALIGNED(h.len)) {
		header(opts->buf + off, &h);
		o = find(ops, h.level, h.name);
		if (o == NULL || h.len == HDR) {
			if (o == NULL)
				note(a, h.level, h.name, NULL, NULL,
					T_NOTSUPPORT);
			continue;
		}
		err = tpi_val_wanted(o, opts->buf + off + HDR,
			(unsigned int)(h.len - HDR), &v);
		if (err != 0)
			break;
		status = tpi_val_negotiate(tp, ops, o, &v, 0);
		if (status == T_FAILURE)
			err = -TBADOPT;
		note(a, h.level, h.name, o, &v, status);
	}
	return err;
}

/* For T_CONN_RES. */
int
tpi_opt_call(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts)
{
	struct answer none = { NULL, T_SUCCESS };

	return call(tp, ops, opts, &none);
}

/*
 * For T_CONN_REQ: the results are kept for T_CONN_CON, if there is memory and
 * room.
 */
int
tpi_opt_conn(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts)
{
	struct answer a = { NULL, T_SUCCESS };
	int err;

	tp->nconopt = 0;
	if (opts->len != 0)
		a.mp = allocb(TPI_CONOPT + HDR + TPI_VALMAX, BPRI_MED);
	err = call(tp, ops, opts, &a);
	if (a.mp == NULL)
		return err;
	if (err == 0) {
		tp->nconopt = (unsigned int)MBLKL(a.mp);
		bcopy(a.mp->b_rptr, tp->conopt, tp->nconopt);
	}
	freeb(a.mp);
	return err;
}

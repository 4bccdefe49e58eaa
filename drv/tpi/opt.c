/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: T_OPTMGMT_REQ, and those that come with a call.
 *
 * A list is walked once to see that it is one (tpi_opt_check()), and once to
 * do what it asks for.  XNS, "The use of options": what is not known is
 * answered T_NOTSUPPORT; what cannot be changed T_READONLY; a value that is
 * beyond what can be is cut to it (T_PARTSUCCESS), unless the option is an
 * absolute requirement (T_FAILURE); the answer's flags are the worst of all.
 * Where nothing was set the answer has the value that was asked for.  A level
 * that the transport does not know, or a length that the option cannot have,
 * makes the whole request TBADOPT.
 */
#include "tpi_impl.h"

#define HDR sizeof(struct t_opthdr)
#define ALIGNED(n) (((n) + 3u) & ~3u)
#define VALMAX 64u /* bytes of one value, TPI_OPT_BYTES */

/* Where an answer grows. */
struct answer {
	mblk_t *mp;
	unsigned int worst;
};

/* A value on its way, as the words it is kept as. */
struct value {
	t_scalar_t w[VALMAX / 4];
	unsigned int len; /* bytes of w that count */
	unsigned int wide; /* bytes of an integer as the user has it */
	int given; /* the user's, not the default */
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
			break; /* the last one need not be filled up */
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

/* ---------------------------------------------------------------------- values */

static unsigned int
words(const struct tpi_opt *o)
{
	return o->type == TPI_OPT_LINGER || o->type == TPI_OPT_PAIR ? 2 : 1;
}

static void
set_default(const struct tpi_opt *o, struct value *v)
{
	bzero(v, sizeof(*v));
	v->len = 4 * words(o);
	v->wide = o->type == TPI_OPT_CHAR ? 1 : 4;
	if (o->type == TPI_OPT_LINGER) {
		v->w[0] = T_NO;
		v->w[1] = T_UNSPEC;
	} else if (o->type == TPI_OPT_PAIR) {
		v->w[0] = T_NO;
		v->w[1] = o->dflt;
	} else {
		v->w[0] = o->dflt;
	}
	if (o->type == TPI_OPT_BYTES)
		v->len = 0;
}

/* The default of such an option is the system's: tp->dflt, when not its value. */
static int
is_systems(const struct tpi_opt *o)
{
	return o->type == TPI_OPT_INT && o->dflt < o->min;
}

static t_scalar_t *
saved_default(struct tpi *tp, const struct tpi_opt *o)
{
	if (o->level != XTI_GENERIC ||
		(o->name != XTI_SNDBUF && o->name != XTI_RCVBUF))
		return NULL;
	return &tp->dflt[o->name == XTI_RCVBUF];
}

static void
get_current(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_opt *o,
	struct value *v)
{
	unsigned int n = VALMAX, i;

	set_default(o, v);
	if ((o->flags & TPI_OPT_OPS) == 0) {
		for (i = 0; i < words(o); i++)
			v->w[i] = tp->val[o->at + i];
		return;
	}
	if (ops->getopt(tp, o, v->w, &n) == 0 && o->type == TPI_OPT_BYTES)
		v->len = n;
}

static void
get_default(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_opt *o,
	struct value *v)
{
	t_scalar_t *saved;

	set_default(o, v);
	if (!is_systems(o) || (saved = saved_default(tp, o)) == NULL)
		return;
	if (*saved == 0)
		get_current(tp, ops, o, v); /* has never been changed */
	else
		v->w[0] = *saved;
}

/* The user's value: 0, or -TBADOPT when it has no possible length. */
static int
get_wanted(const struct tpi_opt *o, const unsigned char *at, unsigned int len,
	struct value *v)
{
	long wide;

	set_default(o, v);
	v->given = 1;
	switch (o->type) {
	case TPI_OPT_LINGER:
	case TPI_OPT_PAIR:
		if (len != 8)
			return -TBADOPT;
		bcopy(at, v->w, 8);
		return 0;
	case TPI_OPT_BYTES:
		if (len > VALMAX)
			return -TBADOPT;
		bcopy(at, v->w, len);
		v->len = len;
		return 0;
	default:
		break;
	}
	if (len == 4 || (len > 8 && len % 4 == 0 && len <= VALMAX &&
		o->level == XTI_GENERIC && o->name == XTI_DEBUG)) {
		bcopy(at, v->w, 4); /* of XTI_DEBUG's array, the first */
		len = 4;
	} else if (len == 8) { /* real programs pass a long */
		bcopy(at, &wide, 8);
		v->w[0] = wide > 0x7fffffffL ? 0x7fffffff :
			wide < -0x7fffffffL  ? -0x7fffffff :
					       (t_scalar_t)wide;
	} else if (len == 1 && o->type == TPI_OPT_CHAR) {
		v->w[0] = *at;
	} else {
		return -TBADOPT;
	}
	v->wide = len;
	return 0;
}

/* Fit @v into what @o can be: T_SUCCESS, T_PARTSUCCESS, T_FAILURE. */
static unsigned int
fit(const struct tpi_opt *o, struct value *v)
{
	unsigned int i = words(o) - 1;
	t_scalar_t was = v->w[i];
	unsigned int part = T_SUCCESS;

	if (o->type == TPI_OPT_BYTES)
		return T_SUCCESS;
	if (o->type == TPI_OPT_PAIR && (v->w[0] & T_YES) != 0 &&
		v->w[0] != T_YES) {
		v->w[0] = T_YES; /* T_GARBAGE: nobody's probes have data */
		part = T_PARTSUCCESS;
	}
	if (words(o) == 2 && v->w[0] != T_YES && v->w[0] != T_NO)
		return T_FAILURE;
	if (o->type == TPI_OPT_YESNO)
		return was == T_YES || was == T_NO ? T_SUCCESS : T_FAILURE;
	if (was == T_UNSPEC) {
		if (o->type != TPI_OPT_LINGER)
			v->w[i] = o->dflt;
		return part;
	}
	if (o->type == TPI_OPT_LINGER)
		return was >= 0 || was == T_INFINITE ? T_SUCCESS : T_FAILURE;
	if (was < o->min)
		v->w[i] = o->min;
	if (was > o->max)
		v->w[i] = o->max;
	if (v->w[i] == was)
		return part;
	if ((o->flags & TPI_OPT_ABS) != 0) {
		v->w[i] = was;
		return T_FAILURE;
	}
	return T_PARTSUCCESS;
}

static unsigned int
store(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_opt *o,
	const struct value *v)
{
	unsigned int i;
	int err = 0;

	if (ops->setopt != NULL)
		err = ops->setopt(tp, o, v->w, v->len);
	if (err == EACCES || err == EPERM || err == -TACCES)
		return T_READONLY;
	if (err != 0)
		return T_FAILURE;
	if ((o->flags & TPI_OPT_OPS) == 0)
		for (i = 0; i < words(o); i++)
			tp->val[o->at + i] = v->w[i];
	return T_SUCCESS;
}

/* Negotiate, or with @check only see what would become of it. */
static unsigned int
negotiate(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_opt *o,
	struct value *v, int check)
{
	unsigned int status, wide = v->wide;
	struct value now;
	t_scalar_t *saved;
	int stored;

	if ((o->flags & TPI_OPT_RDONLY) != 0) {
		if (!v->given) {
			get_current(tp, ops, o, v);
			v->wide = wide;
		}
		return T_READONLY;
	}
	if (is_systems(o) && (v->w[0] == T_UNSPEC || v->w[0] == o->dflt)) {
		saved = saved_default(tp, o);
		if (saved == NULL || *saved == 0) {
			/* what it is by default: it stays */
			get_current(tp, ops, o, v);
			v->wide = wide;
			return T_SUCCESS;
		}
		v->w[0] = *saved;
	}
	status = fit(o, v);
	if (check || status == T_FAILURE)
		return status;
	saved = is_systems(o) ? saved_default(tp, o) : NULL;
	if (saved != NULL && *saved == 0) {
		get_current(tp, ops, o, &now);
		*saved = now.w[0];
	}
	stored = store(tp, ops, o, v) == T_SUCCESS;
	if (stored && saved == NULL)
		return status;
	get_current(tp, ops, o, &now);
	now.wide = wide;
	if (stored && now.w[0] != v->w[0])
		status = T_PARTSUCCESS; /* what the system makes of it */
	if (stored || !v->given)
		*v = now;
	if (stored)
		return status;
	return (o->flags & TPI_OPT_PRIV) != 0 ? T_READONLY : T_FAILURE;
}

/* --------------------------------------------------------------------- answers */

/* One option of the answer; @v NULL: no value. */
static void
add(struct answer *a, t_uscalar_t level, t_uscalar_t name,
	const struct tpi_opt *o, const struct value *v, unsigned int status)
{
	struct t_opthdr h = { HDR, level, name, status };
	unsigned char *at = a->mp->b_wptr;
	size_t room = (size_t)(a->mp->b_datap->db_lim - at), n = 0;
	unsigned char narrow;
	long wide;

	if (rank(status) > rank(a->worst))
		a->worst = status;
	if (room < HDR + VALMAX)
		return; /* allocated for what the request can ask for */
	if (v != NULL && words(o) == 1 && o->type != TPI_OPT_BYTES &&
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

/* An option of the request as it stands, which nobody knows. */
static void
add_unknown(struct answer *a, const struct t_opthdr *asked,
	const unsigned char *val, t_scalar_t flags)
{
	struct t_opthdr h = *asked;
	unsigned char *at = a->mp->b_wptr;

	if (flags != T_NEGOTIATE && flags != T_CHECK)
		h.len = HDR; /* the value asked for is the provider's */
	h.status = T_NOTSUPPORT;
	a->worst = T_NOTSUPPORT;
	if ((size_t)(a->mp->b_datap->db_lim - at) < ALIGNED(h.len))
		return;
	bcopy(&h, at, HDR);
	bcopy(val, at + HDR, h.len - HDR);
	bzero(at + h.len, ALIGNED(h.len) - h.len);
	a->mp->b_wptr += ALIGNED(h.len);
}

/* What is asked of option @o; @at, @len: the user's value, or none. */
static int
one(struct tpi_req *r, struct answer *a, const struct tpi_opt *o,
	const unsigned char *at, unsigned int len)
{
	t_scalar_t flags = r->p->optmgmt_req.MGMT_flags;
	int ro = (o->flags & TPI_OPT_RDONLY) != 0;
	unsigned int status = T_SUCCESS, wide;
	struct value v;

	set_default(o, &v);
	if (len != 0 && get_wanted(o, at, len, &v) != 0)
		return -TBADOPT;
	wide = v.wide;
	if (flags == T_CHECK && len == 0) {
		add(a, o->level, o->name, o, NULL,
			ro ? T_READONLY : T_SUCCESS);
		return 0;
	}
	if (flags == T_CURRENT)
		get_current(r->tp, r->ops, o, &v);
	else if (flags == T_DEFAULT)
		get_default(r->tp, r->ops, o, &v);
	else
		status = negotiate(r->tp, r->ops, o, &v, flags == T_CHECK);
	if (ro)
		status = T_READONLY;
	if (words(o) == 1)
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

/* Would it be answered without error?  Nothing may be set when not. */
static int
dry_run(struct tpi_req *r, const struct tpi_buf *opts)
{
	t_uscalar_t level = 0;
	const struct tpi_opt *o;
	struct t_opthdr h;
	unsigned int off;
	struct value v;

	for (off = 0; off < opts->len; off += ALIGNED(h.len)) {
		header(opts->buf + off, &h);
		if (off == 0)
			level = h.level;
		if (h.level != level || !knows_level(r->ops, level))
			return -TBADOPT;
		o = find(r->ops, h.level, h.name);
		if (o != NULL && h.len > HDR && get_wanted(o,
			opts->buf + off + HDR, (unsigned int)(h.len - HDR),
			&v) != 0)
			return -TBADOPT;
	}
	return 0;
}

/* Room for the answer: each option asked for has a value, or is all of them. */
static size_t
room_for(const struct tpi_req *r, const struct tpi_buf *opts)
{
	size_t n = (size_t)r->ops->nopt + 1;

	return (opts->len / HDR * (opts->len > HDR ? n : 1) + n) *
		(HDR + VALMAX) + ALIGNED(opts->len);
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
	struct value v;

	for (i = 0; i < ops->nopt; i++) {
		const struct tpi_opt *o = &ops->opt[i];

		if ((o->flags & TPI_OPT_OPS) != 0)
			continue;
		set_default(o, &v);
		for (k = 0; k < words(o); k++)
			tp->val[o->at + k] = v.w[k];
	}
}

/* The same where an option that does not fit is left out; @a may be none. */
static void
note(struct answer *a, t_uscalar_t level, t_uscalar_t name,
	const struct tpi_opt *o, const struct value *v, unsigned int status)
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
 * Options with T_CONN_REQ and T_CONN_RES: those that the transport does not
 * know are passed over; one that must be and cannot makes the call fail.
 */
static int
call(struct tpi *tp, const struct tpi_ops *ops, const struct tpi_buf *opts,
	struct answer *a)
{
	const struct tpi_opt *o;
	unsigned int off, status;
	struct t_opthdr h;
	struct value v;
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
		err = get_wanted(o, opts->buf + off + HDR,
			(unsigned int)(h.len - HDR), &v);
		if (err != 0)
			break;
		status = negotiate(tp, ops, o, &v, 0);
		if (status == T_FAILURE)
			err = -TBADOPT;
		note(a, h.level, h.name, o, &v, status);
	}
	return err;
}

/* Of T_CONN_RES. */
int
tpi_opt_call(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts)
{
	struct answer none = { NULL, T_SUCCESS };

	return call(tp, ops, opts, &none);
}

/*
 * Of T_CONN_REQ: what became of them is kept for T_CONN_CON, if there is memory
 * and room.
 */
int
tpi_opt_conn(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_buf *opts)
{
	struct answer a = { NULL, T_SUCCESS };
	int err;

	tp->nconopt = 0;
	if (opts->len != 0)
		a.mp = allocb(TPI_CONOPT + HDR + VALMAX, BPRI_MED);
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

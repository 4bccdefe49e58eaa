/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The value of one option: read from a request, adapted to the option's range,
 * stored.  The rules are in XNS, "The use of options", see opt.c.
 */
#include "tpi_impl.h"
#include "optval.h"

unsigned int
tpi_val_words(const struct tpi_opt *o)
{
	return o->type == TPI_OPT_LINGER || o->type == TPI_OPT_PAIR ? 2 : 1;
}

void
tpi_val_default(const struct tpi_opt *o, struct tpi_val *v)
{
	bzero(v, sizeof(*v));
	v->len = 4 * tpi_val_words(o);
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

/*
 * Options with a default of the system: tp->dflt if set, else the current
 * value.
 */
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

void
tpi_val_current(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v)
{
	unsigned int n = TPI_VALMAX, i;

	tpi_val_default(o, v);
	if ((o->flags & TPI_OPT_OPS) == 0) {
		for (i = 0; i < tpi_val_words(o); i++)
			v->w[i] = tp->val[o->at + i];
		return;
	}
	if (ops->getopt(tp, o, v->w, &n) == 0 && o->type == TPI_OPT_BYTES)
		v->len = n;
}

void
tpi_val_initial(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v)
{
	t_scalar_t *saved;

	tpi_val_default(o, v);
	if (!is_systems(o) || (saved = saved_default(tp, o)) == NULL)
		return;
	if (*saved == 0)
		tpi_val_current(tp, ops, o, v); /* was never changed */
	else
		v->w[0] = *saved;
}

/* The user's value: 0, or -TBADOPT if its length is invalid. */
int
tpi_val_wanted(const struct tpi_opt *o, const unsigned char *at,
	unsigned int len, struct tpi_val *v)
{
	long wide;

	tpi_val_default(o, v);
	v->given = 1;
	switch (o->type) {
	case TPI_OPT_LINGER:
	case TPI_OPT_PAIR:
		if (len != 8)
			return -TBADOPT;
		bcopy(at, v->w, 8);
		return 0;
	case TPI_OPT_BYTES:
		if (len > TPI_VALMAX)
			return -TBADOPT;
		bcopy(at, v->w, len);
		v->len = len;
		return 0;
	default:
		break;
	}
	if (len == 4 || (len > 8 && len % 4 == 0 && len <= TPI_VALMAX &&
		o->level == XTI_GENERIC && o->name == XTI_DEBUG)) {
		bcopy(at, v->w, 4); /* only the first word of XTI_DEBUG's
				     * array */
		len = 4;
	} else if (len == 8) { /* some programs pass a long */
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

/* Adapt @v to the range of @o: T_SUCCESS, T_PARTSUCCESS, T_FAILURE. */
static unsigned int
fit(const struct tpi_opt *o, struct tpi_val *v)
{
	unsigned int i = tpi_val_words(o) - 1;
	t_scalar_t was = v->w[i];
	unsigned int part = T_SUCCESS;

	if (o->type == TPI_OPT_BYTES)
		return T_SUCCESS;
	if (o->type == TPI_OPT_PAIR && (v->w[0] & T_YES) != 0 &&
		v->w[0] != T_YES) {
		v->w[0] = T_YES; /* T_GARBAGE: probes have no data */
		part = T_PARTSUCCESS;
	}
	if (tpi_val_words(o) == 2 && v->w[0] != T_YES && v->w[0] != T_NO)
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
	const struct tpi_val *v)
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
		for (i = 0; i < tpi_val_words(o); i++)
			tp->val[o->at + i] = v->w[i];
	return T_SUCCESS;
}

/* Negotiate, or with @check only find out the result. */
unsigned int
tpi_val_negotiate(struct tpi *tp, const struct tpi_ops *ops,
	const struct tpi_opt *o, struct tpi_val *v, int check)
{
	unsigned int status, wide = v->wide;
	struct tpi_val now;
	t_scalar_t *saved;
	int stored;

	if ((o->flags & TPI_OPT_RDONLY) != 0) {
		if (!v->given) {
			tpi_val_current(tp, ops, o, v);
			v->wide = wide;
		}
		return T_READONLY;
	}
	if (is_systems(o) && (v->w[0] == T_UNSPEC || v->w[0] == o->dflt)) {
		saved = saved_default(tp, o);
		if (saved == NULL || *saved == 0) {
			/* it has its default already: unchanged */
			tpi_val_current(tp, ops, o, v);
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
		tpi_val_current(tp, ops, o, &now);
		*saved = now.w[0];
	}
	stored = store(tp, ops, o, v) == T_SUCCESS;
	if (stored && saved == NULL)
		return status;
	tpi_val_current(tp, ops, o, &now);
	now.wide = wide;
	if (stored && now.w[0] != v->w[0])
		status = T_PARTSUCCESS; /* the system chose another value */
	if (stored || !v->given)
		*v = now;
	if (stored)
		return status;
	return (o->flags & TPI_OPT_PRIV) != 0 ? T_READONLY : T_FAILURE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of streams and of extensions: changes of streams (RFC 6525 s6.3),
 * schedulers (RFC 8260 s4.3), partial reliability (RFC 7496 s4), and the end of
 * idle associations.  Errors are those of Linux.
 */
#include <stdlib.h>

#include "sock.h"

/* ------------------------------------------------------------ changes of streams */

/* The result of a request to the provider, as Linux returns it. */
static int
error_of(int n)
{
	switch (n) {
	case -EBUSY:
		return -EINPROGRESS;
	case -EOPNOTSUPP: /* the peer does not support it */
		return -ENOPROTOOPT;
	case -EPIPE: /* it is not established, or ends */
		return -ENOTCONN;
	default:
		return n < 0 ? n : 0;
	}
}

/* The association of a request; *ret 0 for a socket of connections. */
static int
one_assoc(struct sock *s, sctp_assoc_t id, uint32_t *ret)
{
	*ret = 0;
	if ((SK(s) & SK_MANY) == 0)
		return 0;
	if (id <= SCTP_ALL_ASSOC)
		return -EINVAL;
	*ret = (uint32_t)id;
	return 0;
}

static int
reset_streams(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_reset_streams o;
	struct sctpio_reset *r;
	size_t size, list;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	list = o.srs_number_streams * sizeof(uint16_t);
	if (len - sizeof(o) < list || (o.srs_flags &
		~(SCTP_STREAM_RESET_INCOMING | SCTP_STREAM_RESET_OUTGOING)) !=
		0 || o.srs_flags == 0)
		return -EINVAL;
	size = sizeof(*r) + list;
	r = malloc(size);
	if (r == NULL)
		return -ENOMEM;
	r->what = ((o.srs_flags & SCTP_STREAM_RESET_OUTGOING) != 0 ?
		SCTPIO_RESET_OUT : 0) |
		((o.srs_flags & SCTP_STREAM_RESET_INCOMING) != 0 ?
		SCTPIO_RESET_IN : 0);
	r->n = o.srs_number_streams;
	err = one_assoc(s, o.srs_assoc_id, &r->assoc);
	if (err == 0 && list != 0 && strm_copy(r->sid,
		(const char *)val + offsetof(struct sctp_reset_streams,
		srs_stream_list), list) != 0)
		err = -EFAULT;
	if (err == 0)
		err = error_of(sk_ioctl(s, SCTPIO_RESET, r, size, size));
	free(r);
	return err;
}

static int
reset_assoc(struct sock *s, const void *val, socklen_t len)
{
	struct sctpio_reset r = {.what = SCTPIO_RESET_TSN};
	sctp_assoc_t id;
	int err = sk_opt_in(&id, sizeof(id), val, len);

	if (err == 0)
		err = one_assoc(s, id, &r.assoc);
	return err != 0 ? err :
		error_of(sk_ioctl(s, SCTPIO_RESET, &r, sizeof(r), sizeof(r)));
}

static int
add_streams(struct sock *s, const void *val, socklen_t len)
{
	struct sctp_add_streams o;
	struct sctpio_add a;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = one_assoc(s, o.sas_assoc_id, &a.assoc);
	if (err != 0)
		return err;
	a.out = o.sas_outstrms;
	a.in = o.sas_instrms;
	return error_of(sk_ioctl(s, SCTPIO_ADD, &a, sizeof(a), sizeof(a)));
}

/* Which of the peer's requests are performed. */
static int
enable(struct sctpio_conf *c, uint32_t v)
{
	if ((v & ~(uint32_t)SCTP_ENABLE_STRRESET_MASK) != 0)
		return -EINVAL;
	c->reconf &= SCTPIO_RESET_OFFER;
	if ((v & SCTP_ENABLE_RESET_STREAM_REQ) != 0)
		c->reconf |= SCTPIO_RESET_OUT | SCTPIO_RESET_IN;
	if ((v & SCTP_ENABLE_RESET_ASSOC_REQ) != 0)
		c->reconf |= SCTPIO_RESET_TSN;
	if ((v & SCTP_ENABLE_CHANGE_ASSOC_REQ) != 0)
		c->reconf |= SCTPIO_RESET_ADD_OUT | SCTPIO_RESET_ADD_IN;
	return 0;
}

static uint32_t
enabled(const struct sctpio_conf *c)
{
	return ((c->reconf & SCTPIO_RESET_OUT) != 0 ?
		SCTP_ENABLE_RESET_STREAM_REQ : 0) |
		((c->reconf & SCTPIO_RESET_TSN) != 0 ?
		SCTP_ENABLE_RESET_ASSOC_REQ : 0) |
		((c->reconf & SCTPIO_RESET_ADD_OUT) != 0 ?
		SCTP_ENABLE_CHANGE_ASSOC_REQ : 0);
}

/* ----------------------------------------------------------------- schedulers */

/* Linux's number of a scheduler, by that of the provider, and back. */
static const unsigned char linux_of[] = {SCTP_SS_FCFS, SCTP_SS_RR, SCTP_SS_RR,
	SCTP_SS_PRIO, SCTP_SS_FC, SCTP_SS_WFQ};
static const unsigned char ours_of[] = {[SCTP_SS_FCFS] = 0, [SCTP_SS_PRIO] = 3,
	[SCTP_SS_RR] = 1, [SCTP_SS_FC] = 4, [SCTP_SS_WFQ] = 5};

static int
set_stream_value(struct sock *s, const void *val, socklen_t len)
{
	struct sctpio_value v = {.set = 1};
	struct sctp_stream_value o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = one_assoc(s, o.assoc_id, &v.assoc);
	if (err != 0)
		return err;
	v.sid = o.stream_id;
	v.value = o.stream_value;
	err = sk_ioctl(s, SCTPIO_VALUE, &v, sizeof(v), sizeof(v));
	return err == -ENOTCONN ? -EINVAL : err < 0 ? err : 0;
}

/* The caller's value, as much as it has room for, which is enough for @size. */
static int
value_in(void *o, size_t size, const void *val, const socklen_t *len)
{
	socklen_t room;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	return (int)room < 0 ? -EINVAL : sk_opt_in(o, size, val, room);
}

static int
get_stream_value(struct sock *s, void *val, socklen_t *len)
{
	struct sctpio_value v = {.set = 0};
	struct sctp_stream_value o;
	int err = value_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = one_assoc(s, o.assoc_id, &v.assoc);
	if (err != 0)
		return err;
	v.sid = o.stream_id;
	err = sk_ioctl(s, SCTPIO_VALUE, &v, sizeof(v), sizeof(v));
	if (err < 0)
		return err == -ENOTCONN ? -EINVAL : err;
	o.stream_value = v.value;
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* --------------------------------------------------------- partial reliability */

/* SCTP_PR_STREAM_STATUS, SCTP_PR_ASSOC_STATUS */
static int
get_abandoned(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctpio_abandoned a = {.sid = SCTPIO_ALL_STREAMS};
	struct sctp_prstatus o;
	uint32_t all, policy;
	int err = value_in(&o, sizeof(o), val, len);

	if (err == 0)
		err = one_assoc(s, o.sprstat_assoc_id, &a.assoc);
	if (err != 0)
		return err;
	all = o.sprstat_policy & SCTP_PR_SCTP_ALL;
	policy = SCTP_PR_POLICY(o.sprstat_policy);
	if ((o.sprstat_policy & ~(SCTP_PR_SCTP_ALL | SCTP_PR_SCTP_MASK)) != 0 ||
	    (all != 0) == (policy != SCTP_PR_SCTP_NONE))
		return -EINVAL;
	if (name == SCTP_PR_STREAM_STATUS)
		a.sid = o.sprstat_sid;
	a.pr = policy == SCTP_PR_SCTP_TTL ? SCTPIO_PR_TTL :
		policy == SCTP_PR_SCTP_RTX ? SCTPIO_PR_RTX : SCTPIO_PR_NONE;
	err = sk_ioctl(s, SCTPIO_ABANDONED, &a, sizeof(a), sizeof(a));
	if (err < 0)
		return err == -ENOTCONN ? -EINVAL : err;
	/* no message can have a priority, so none was abandoned for it */
	o.sprstat_abandoned_unsent = policy == SCTP_PR_SCTP_PRIO ? 0 :
								   a.unsent;
	o.sprstat_abandoned_sent = policy == SCTP_PR_SCTP_PRIO ? 0 : a.sent;
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* --------------------------------------------------------------------- values */

/* Store the value @v of the option @name.  0, 1: no such option, or -errno. */
static int
store(const struct sock *s, struct sctpio_conf *c, int name, uint32_t v)
{
	switch (name) {
	case SCTP_AUTOCLOSE: /* RFC 6458 s8.1.8: one-to-many only */
		if ((SK(s) & SK_MANY) == 0)
			return -EOPNOTSUPP;
		c->autoclose = v;
		return 0;
	case SCTP_MAXSEG:
		c->maxseg = v;
		return 0;
	case SCTP_PR_SUPPORTED:
		c->pr = v;
		return v > 1 ? -EINVAL : 0;
	case SCTP_INTERLEAVING_SUPPORTED:
		c->interleave = v;
		return v > 1 ? -EINVAL : 0;
	case SCTP_AUTH_SUPPORTED: /* RFC 5061 s4.2.7: without it no ASCONF */
		c->auth = v;
		c->asconf = v != 0 && c->asconf;
		return v > 1 ? -EINVAL : 0;
	case SCTP_ASCONF_SUPPORTED: /* ... and ASCONF not without it */
		c->asconf = v;
		c->auth = v != 0 || c->auth;
		return v > 1 ? -EINVAL : 0;
	case SCTP_RECONFIG_SUPPORTED:
		c->reconf = v != 0 ? c->reconf | SCTPIO_RESET_OFFER :
				     c->reconf & ~SCTPIO_RESET_OFFER;
		return v > 1 ? -EINVAL : 0;
	case SCTP_ENABLE_STREAM_RESET:
		return enable(c, v);
	case SCTP_STREAM_SCHEDULER:
		if (v > SCTP_SS_MAX)
			return -EINVAL;
		c->scheduler = ours_of[v];
		return 0;
	default:
		return 1;
	}
}

/*
 * A receiver that joins the parts of a message until MSG_EOR would mix messages:
 * they are interleaved only if it has said that it does not, as on Linux.
 */
static int
may_interleave(struct sock *s)
{
	struct sctpio_keep k;
	int err = sk_keep_get(s, &k);

	return err != 0 ? err : k.w[KEEP_INTERLEAVE] != 0 ? 0 : -EPERM;
}

/* An int, or struct sctp_assoc_value. */
static int
set_value(struct sock *s, int name, const void *val, socklen_t len)
{
	struct sctp_assoc_value av = {.assoc_id = 0};
	struct sctpio_conf c;
	uint32_t id = 0;
	int err;

	err = store(s, &(struct sctpio_conf){.assoc = 0}, name, 0);
	if (err != 0)
		return err;
	err = len >= sizeof(av) ? sk_opt_in(&av, sizeof(av), val, len) :
		sk_opt_in(&av.assoc_value, sizeof(av.assoc_value), val, len);
	if ((SK(s) & SK_MANY) != 0 && av.assoc_id > SCTP_ALL_ASSOC)
		id = (uint32_t)av.assoc_id;
	if (err == 0 && name == SCTP_INTERLEAVING_SUPPORTED &&
		av.assoc_value == 1)
		err = may_interleave(s);
	if (err == 0)
		err = sk_conf_get(s, id, &c);
	if (err == 0)
		err = store(s, &c, name, av.assoc_value);
	return err != 0 ? err : sk_conf_set(s, &c);
}

int
sk_setopt_stream(struct sock *s, int name, const void *val, socklen_t len)
{
	int err;

	switch (name) {
	case SCTP_RESET_STREAMS:
		return reset_streams(s, val, len);
	case SCTP_RESET_ASSOC:
		return reset_assoc(s, val, len);
	case SCTP_ADD_STREAMS:
		return add_streams(s, val, len);
	case SCTP_STREAM_SCHEDULER_VALUE:
		return set_stream_value(s, val, len);
	default:
		err = set_value(s, name, val, len);
		return err > 0 ? sk_setopt_auth(s, name, val, len) : err;
	}
}

/* What the option is now: of the association, if there is one. */
static int
load(struct sock *s, uint32_t id, int name, uint32_t *ret)
{
	struct sctpio_status st = {.assoc = id};
	struct sctpio_conf c;
	int err = store(s, &(struct sctpio_conf){.assoc = 0}, name, 0), up;

	if (err == 0)
		err = sk_conf_get(s, id, &c);
	if (err != 0)
		return err;
	up = sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) == 0 &&
		st.state >= T_SCTP_S_ESTABLISHED;
	switch (name) {
	case SCTP_AUTOCLOSE:
		*ret = c.autoclose;
		return 0;
	case SCTP_MAXSEG:
		*ret = up ? st.fragment : c.maxseg;
		return 0;
	case SCTP_PR_SUPPORTED:
		*ret = up ? st.pr : c.pr;
		return 0;
	case SCTP_INTERLEAVING_SUPPORTED:
		*ret = up ? st.interleave : c.interleave;
		return 0;
	case SCTP_AUTH_SUPPORTED:
		*ret = up ? st.auth != 0 : c.auth;
		return 0;
	case SCTP_ASCONF_SUPPORTED:
		*ret = up ? st.asconf : c.asconf;
		return 0;
	case SCTP_RECONFIG_SUPPORTED:
		*ret = up ? st.reconf : c.reconf & SCTPIO_RESET_OFFER;
		return 0;
	case SCTP_ENABLE_STREAM_RESET:
		*ret = enabled(&c);
		return 0;
	case SCTP_STREAM_SCHEDULER:
		*ret = linux_of[c.scheduler];
		return 0;
	default:
		return 1;
	}
}

int
sk_getopt_stream(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctp_assoc_value av = {.assoc_id = 0};
	socklen_t room;
	int err;

	switch (name) {
	case SCTP_STREAM_SCHEDULER_VALUE:
		return get_stream_value(s, val, len);
	case SCTP_PR_STREAM_STATUS:
	case SCTP_PR_ASSOC_STATUS:
		return get_abandoned(s, name, val, len);
	default:
		break;
	}
	err = load(s, 0, name, &av.assoc_value);
	if (err != 0)
		return err < 0 ? err : sk_getopt_auth(s, name, val, len);
	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	if ((int)room < 0)
		return -EINVAL;
	if (room < sizeof(av))
		return sk_opt_out(val, len, &av.assoc_value,
			sizeof(av.assoc_value));
	err = sk_opt_in(&av.assoc_id, sizeof(av.assoc_id), val, room);
	if (err == 0 && (SK(s) & SK_MANY) != 0 && av.assoc_id > SCTP_ALL_ASSOC)
		err = load(s, (uint32_t)av.assoc_id, name, &av.assoc_value);
	return err != 0 ? err : sk_opt_out(val, len, &av, sizeof(av));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options that are requests about the association: changes of its streams
 * (RFC 6525) and of its addresses (RFC 5061), for users of TPI and XTI.
 *
 * To set such an option begins the request; it fails without an association, and
 * while another request about streams has not ended.  T_SCTP_CHANGE says how the
 * last request about streams has ended.
 *
 * Locks.  The gate; the turn of the association.
 */
#include "sctp_t.h"
#include "../sctp/wire_format.h"

/* The result of a request about streams, from the engine's event. */
void
sctpt_change_done(struct sctpt_conn *c, const struct sctp_change *ch)
{
	if (!ch->ours)
		return;
	c->change = ch->result <= SCTP_R_DONE ? T_SCTP_CHANGE_DONE :
		ch->result == SCTP_R_DENIED ? T_SCTP_CHANGE_DENIED :
					      T_SCTP_CHANGE_FAILED;
}

/* T_SCTP_CHANGE; without an association there was no request. */
t_scalar_t
sctpt_change_state(struct sctpt *u)
{
	struct sctpt_conn *c;
	uint32_t v = T_SCTP_CHANGE_NONE;

	if (sctpt_enter_wait(u, 0, &c) == 0) {
		v = c->change;
		sctpt_serve_owned(c->slot, 1);
	}
	return (t_scalar_t)v;
}

/* T_SCTP_RESET: a struct t_sctp_reset, and at most T_SCTP_RESET_MOST streams. */
static int
reset(struct sctpt_conn *c, const struct sctp_env *env, const void *val,
	unsigned int len)
{
	uint16_t sid[T_SCTP_RESET_MOST];
	struct t_sctp_reset r;
	uint32_t n, what;

	if (len < sizeof(r) || (len - sizeof(r)) % sizeof(sid[0]) != 0 ||
		len - sizeof(r) > sizeof(sid))
		return EINVAL;
	bcopy(val, &r, sizeof(r));
	n = (uint32_t)((len - sizeof(r)) / sizeof(sid[0]));
	bcopy((const char *)val + sizeof(r), sid, n * sizeof(sid[0]));
	if (r.what == T_SCTP_RESET_TSN)
		return n != 0 ? EINVAL : sctp_reset_tsn(env, c->as);
	if (r.what == 0 || (r.what & ~(t_uscalar_t)(T_SCTP_RESET_OUT |
		T_SCTP_RESET_IN)) != 0)
		return EINVAL;
	what = ((r.what & T_SCTP_RESET_OUT) != 0 ? SCTP_RECONF_OUT : 0) |
		((r.what & T_SCTP_RESET_IN) != 0 ? SCTP_RECONF_IN : 0);
	return sctp_reset_streams(env, c->as, what, sid, n);
}

/* T_SCTP_ADD_STREAMS: a struct t_sctp_add */
static int
add(struct sctpt_conn *c, const struct sctp_env *env, const void *val,
	unsigned int len)
{
	struct t_sctp_add a;

	if (len != sizeof(a))
		return EINVAL;
	bcopy(val, &a, sizeof(a));
	return a.out > 0xffff || a.in > 0xffff ? EINVAL :
		sctp_add_streams(env, c->as, a.out, a.in);
}

/* One address, as a list of one. */
static int
one_address(struct sctpio_addrs *o, const void *val, unsigned int len)
{
	bzero(o, sizeof(*o));
	if (len < sizeof(o->addr[0].v4) || len > sizeof(o->addr[0]))
		return EINVAL;
	bcopy(val, &o->addr[0], len);
	o->n = 1;
	return o->addr[0].v4.sin_family == AF_INET6 &&
			len != sizeof(o->addr[0].v6) ? EINVAL : 0;
}

/* T_SCTP_ADD_IP, T_SCTP_DEL_IP, T_SCTP_SET_IP */
static int
address(struct sctpt *u, unsigned int name, const void *val, unsigned int len)
{
	struct sctpio_addrs o;
	int err = one_address(&o, val, len);

	if (err != 0)
		return err;
	o.remove = name == T_SCTP_DEL_IP;
	return name == T_SCTP_SET_IP ? sctpt_peer_primary(u, &o) :
				       sctpt_bindx(u, &o);
}

/*
 * sctpt_request - set the option @name, which is a request
 * @len: 0: nothing was given, and nothing is asked for.  Return: 0, or an errno.
 */
int
sctpt_request(struct sctpt *u, unsigned int name, const void *val,
	unsigned int len)
{
	struct sctpt_conn *c;
	struct sctp_env env;
	int err;

	if (len == 0)
		return 0;
	if (name != T_SCTP_RESET && name != T_SCTP_ADD_STREAMS)
		return address(u, name, val, len);
	err = sctpt_enter_wait(u, 0, &c);
	if (err != 0)
		return err;
	sctpt_env(&env, c);
	err = name == T_SCTP_RESET ? reset(c, &env, val, len) :
				     add(c, &env, val, len);
	if (err == 0)
		c->change = T_SCTP_CHANGE_WAITS;
	sctpt_serve_owned(c->slot, 1);
	return err;
}

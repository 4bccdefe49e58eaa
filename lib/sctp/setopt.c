/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of SCTP that are set: RFC 6458 s8.  In most a value of 0 leaves a
 * parameter as it is.
 */
#include "sock.h"

/* -------------------------------------------------------------- parameters */

static void
change(uint32_t *p, uint32_t v)
{
	if (v != 0)
		*p = v;
}

static int
set_rto(struct sctpio_conf *c, const void *val, socklen_t len)
{
	struct sctp_rtoinfo o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	change(&c->rto_initial, o.srto_initial);
	change(&c->rto_min, o.srto_min);
	change(&c->rto_max, o.srto_max);
	return 0;
}

static int
set_assoc(struct sctpio_conf *c, const void *val, socklen_t len)
{
	struct sctp_assocparams o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	change(&c->assoc_max_retrans, o.sasoc_asocmaxrxt);
	change(&c->cookie_life, o.sasoc_cookie_life);
	return 0;
}

static uint32_t
at_most(uint32_t v, uint32_t most)
{
	return v < most ? v : most;
}

static int
set_init(struct sctpio_conf *c, const void *val, socklen_t len)
{
	struct sctp_initmsg o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	change(&c->ostreams, at_most(o.sinit_num_ostreams, SK_STREAMS));
	change(&c->istreams, at_most(o.sinit_max_instreams, SK_STREAMS));
	change(&c->init_max_retrans, o.sinit_max_attempts);
	return 0;
}

/* SCTP_DELAYED_SACK, in both of its forms. */
static int
set_sack(struct sctpio_conf *c, const void *val, socklen_t len)
{
	struct sctp_assoc_value av;
	struct sctp_sack_info o;
	int err;

	if (len >= sizeof(o)) {
		err = sk_opt_in(&o, sizeof(o), val, len);
	} else {
		err = sk_opt_in(&av, sizeof(av), val, len);
		/* the old form: a delay of 0 means none */
		o.sack_delay = err == 0 ? av.assoc_value : 0;
		o.sack_freq = err == 0 && av.assoc_value == 0 ? 1 : 2;
	}
	if (err != 0)
		return err;
	if (o.sack_delay > 500)
		return -EINVAL;
	change(&c->sack_delay, o.sack_delay);
	change(&c->sack_freq, o.sack_freq);
	return 0;
}

/* An int, or struct sctp_assoc_value. */
static int
set_value(uint32_t *p, const void *val, socklen_t len)
{
	struct sctp_assoc_value av;
	int v, err;

	if (len >= sizeof(av)) {
		err = sk_opt_in(&av, sizeof(av), val, len);
		v = err == 0 ? (int)av.assoc_value : 0;
	} else {
		err = sk_opt_in(&v, sizeof(v), val, len);
	}
	if (err == 0)
		*p = (uint32_t)v;
	return err;
}

static int
set_flag(uint32_t *p, const void *val, socklen_t len)
{
	int v, err = sk_opt_in(&v, sizeof(v), val, len);

	if (err == 0)
		*p = v != 0;
	return err;
}

static int
is_wild(const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *s4 = (const void *)ss;
	const struct sockaddr_in6 *s6 = (const void *)ss;

	return ss->ss_family == AF_INET ? s4->sin_addr.s_addr == INADDR_ANY :
		ss->ss_family == AF_INET6 ?
		IN6_IS_ADDR_UNSPECIFIED(&s6->sin6_addr) :
		ss->ss_family == 0;
}

/* Does @ss stand for all addresses of the peer?  1, 0, or minus an errno. */
static int
is_all(struct sock *s, uint32_t id, const struct sockaddr_storage *ss)
{
	struct sctpio_paths ps = {.assoc = id};
	int err;

	if (is_wild(ss))
		return 1;
	err = sk_get(s, SCTPIO_PATHS, &ps, sizeof(ps));
	if (err != 0)
		return -EINVAL;
	return sk_path_of(&ps, ss) < 0 ? -EINVAL : ps.n == 1;
}

static int
with_addr(struct sock *s, int cmd, uint32_t id, const struct sockaddr_storage *ss)
{
	struct sctpio_addrs o = {.n = 1, .assoc = id};
	int n;

	if (sk_addr_size(ss->ss_family) == 0)
		return -EINVAL;
	memcpy(&o.addr[0], ss, sk_addr_size(ss->ss_family));
	n = sk_ioctl(s, cmd, &o, sizeof(o), sizeof(o));
	return n < 0 ? n : 0;
}

/*
 * The parameters are those of the association: they cannot differ between the
 * peer's addresses.
 */
static int
set_paddr(struct sock *s, struct sctpio_conf *c, const void *val, socklen_t len)
{
	struct sctp_paddrparams o = {.spp_flags = 0};
	/* programs of before Linux 4.18 have a shorter one */
	size_t size = offsetof(struct sctp_paddrparams, spp_ipv6_flowlabel);
	struct sockaddr_storage ss;
	int all, err = sk_opt_in(&o, len < sizeof(o) ? size : sizeof(o), val,
		len);

	if (err != 0)
		return err;
	memcpy(&ss, &o.spp_address, sizeof(ss));
	if ((o.spp_flags & SPP_HB) == SPP_HB ||
	    (o.spp_flags & SPP_PMTUD) == SPP_PMTUD ||
	    (o.spp_flags & SPP_SACKDELAY) == SPP_SACKDELAY ||
	    o.spp_sackdelay > 500)
		return -EINVAL;
	if ((o.spp_flags & SPP_HB_DEMAND) != 0) {
		err = is_wild(&ss) ? -EINVAL : with_addr(s, SCTPIO_BEAT,
			sk_assoc_of(s, val, len), &ss);
		if (err != 0)
			return err;
	}
	if ((o.spp_flags & ~(uint32_t)SPP_HB_DEMAND) == 0 &&
	    o.spp_hbinterval == 0 && o.spp_pathmaxrxt == 0)
		return 0;
	all = is_all(s, sk_assoc_of(s, val, len), &ss);
	if (all <= 0)
		return all < 0 ? all : -EOPNOTSUPP;
	if ((o.spp_flags & SPP_HB_DISABLE) != 0)
		c->hb_interval = 0;
	else
		change(&c->hb_interval, o.spp_hbinterval);
	change(&c->path_max_retrans, o.spp_pathmaxrxt);
	if ((o.spp_flags & SPP_SACKDELAY_DISABLE) != 0)
		c->sack_freq = 1;
	else if ((o.spp_flags & SPP_SACKDELAY_ENABLE) != 0)
		change(&c->sack_delay, o.spp_sackdelay);
	return 0;
}

static int
set_thresholds(struct sock *s, struct sctpio_conf *c, const void *val,
	socklen_t len)
{
	struct sctp_paddrthlds o;
	struct sockaddr_storage ss;
	int all, err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	memcpy(&ss, &o.spt_address, sizeof(ss));
	all = is_all(s, sk_assoc_of(s, val, len), &ss);
	if (all <= 0)
		return all < 0 ? all : -EOPNOTSUPP;
	change(&c->path_max_retrans, o.spt_pathmaxrxt);
	c->pf_threshold = o.spt_pathpfthld;
	return 0;
}

/* Options that are parameters of the provider.  1: it is no such option. */
static int
set_conf(struct sock *s, struct sctpio_conf *c, int name, const void *val,
	socklen_t len)
{
	switch (name) {
	case SCTP_RTOINFO:
		return set_rto(c, val, len);
	case SCTP_ASSOCINFO:
		return set_assoc(c, val, len);
	case SCTP_INITMSG:
		return set_init(c, val, len);
	case SCTP_NODELAY:
		return set_flag(&c->nodelay, val, len);
	case SCTP_DELAYED_SACK:
		return set_sack(c, val, len);
	case SCTP_MAX_BURST:
		return set_value(&c->max_burst, val, len);
	case SCTP_PARTIAL_DELIVERY_POINT:
		return set_value(&c->partial, val, len);
	case SCTP_PEER_ADDR_PARAMS:
		return set_paddr(s, c, val, len);
	case SCTP_PEER_ADDR_THLDS:
	case SCTP_PEER_ADDR_THLDS_V2: /* there is no third threshold */
		return set_thresholds(s, c, val, len);
	default:
		return 1;
	}
}

/* ------------------------------------------------------------------ messages */

static int
is_stream(struct sock *s, uint32_t sid)
{
	return (SK(s) & SK_CONNECTED) == 0 || sk_has_stream(s, sid);
}

static int
set_send_param(struct sock *s, struct sctpio_keep *k, const void *val,
	socklen_t len)
{
	struct sctp_sndrcvinfo o;
	int err = sk_opt_in(&o, sizeof(o), val, len);
	uint32_t policy;

	if (err != 0)
		return err;
	policy = SCTP_PR_POLICY(o.sinfo_flags);
	if ((o.sinfo_flags & ~(SCTP_UNORDERED | SCTP_ADDR_OVER |
		SCTP_SACK_IMMEDIATELY | SCTP_PR_SCTP_MASK)) != 0 ||
	    policy == SCTP_PR_SCTP_PRIO || !is_stream(s, o.sinfo_stream))
		return -EINVAL;
	k->w[KEEP_SID] = o.sinfo_stream;
	k->w[KEEP_FLAGS] = o.sinfo_flags & (uint16_t)~SCTP_PR_SCTP_MASK;
	k->w[KEEP_PPID] = o.sinfo_ppid;
	k->w[KEEP_CONTEXT] = o.sinfo_context;
	k->w[KEEP_VALUE] = k->w[KEEP_TTL] = o.sinfo_timetolive;
	k->w[KEEP_POLICY] = policy == SCTP_PR_SCTP_NONE &&
		o.sinfo_timetolive != 0 ? SCTP_PR_SCTP_TTL : policy;
	return 0;
}

static int
set_sndinfo(struct sock *s, struct sctpio_keep *k, const void *val,
	socklen_t len)
{
	struct sctp_sndinfo o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	if ((o.snd_flags & ~(SCTP_UNORDERED | SCTP_ADDR_OVER |
		SCTP_SACK_IMMEDIATELY)) != 0 || !is_stream(s, o.snd_sid))
		return -EINVAL;
	k->w[KEEP_SID] = o.snd_sid;
	k->w[KEEP_FLAGS] = o.snd_flags;
	k->w[KEEP_PPID] = o.snd_ppid;
	k->w[KEEP_CONTEXT] = o.snd_context;
	return 0;
}

static int
set_prinfo(struct sctpio_keep *k, const void *val, socklen_t len)
{
	struct sctp_default_prinfo o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	if ((o.pr_policy & ~SCTP_PR_SCTP_MASK) != 0 ||
	    o.pr_policy == SCTP_PR_SCTP_PRIO)
		return -EINVAL;
	k->w[KEEP_POLICY] = o.pr_policy;
	k->w[KEEP_VALUE] = o.pr_policy == SCTP_PR_SCTP_NONE ? 0 : o.pr_value;
	return 0;
}

/* RFC 6458 s8.1.20: level 0 to 2.  With 0 messages are not interleaved. */
static int
set_level(struct sock *s, struct sctpio_keep *k, const void *val, socklen_t len)
{
	struct sctpio_conf c;
	int v, err = sk_opt_in(&v, sizeof(v), val, len);

	if (err == 0 && (v < 0 || v > 2))
		err = -EINVAL;
	if (err == 0)
		err = sk_conf_get(s, 0, &c);
	if (err != 0)
		return err;
	k->w[KEEP_INTERLEAVE] = (uint32_t)v;
	if (v != 0 || c.interleave == 0)
		return 0;
	c.interleave = 0;
	return sk_conf_set(s, &c);
}

/* Options that the provider keeps.  1: it is no such option. */
static int
set_keep(struct sock *s, struct sctpio_keep *k, int name, const void *val,
	socklen_t len)
{
	switch (name) {
	case SCTP_DEFAULT_SEND_PARAM:
		return set_send_param(s, k, val, len);
	case SCTP_DEFAULT_SNDINFO:
		return set_sndinfo(s, k, val, len);
	case SCTP_DEFAULT_PRINFO:
		return set_prinfo(k, val, len);
	case SCTP_CONTEXT:
		return set_value(&k->w[KEEP_RCV_CONTEXT], val, len);
	case SCTP_FRAGMENT_INTERLEAVE:
		return set_level(s, k, val, len);
	default:
		return 1;
	}
}

/* -------------------------------------------------------------------- events */

/* What the provider is to tell, by the types that are wanted. */
static uint32_t
events_of(uint32_t types)
{
	static const struct {
		int type;
		uint32_t event;
	} rows[] = {
		{SCTP_ASSOC_CHANGE, SCTPIO_EV_ASSOC},
		{SCTP_PEER_ADDR_CHANGE, SCTPIO_EV_PATH},
		{SCTP_REMOTE_ERROR, SCTPIO_EV_ERROR},
		{SCTP_SHUTDOWN_EVENT, SCTPIO_EV_SHUTDOWN},
		{SCTP_PARTIAL_DELIVERY_EVENT, SCTPIO_EV_CUT},
		{SCTP_SENDER_DRY_EVENT, SCTPIO_EV_DRY},
		{SCTP_STREAM_RESET_EVENT, SCTPIO_EV_RESET},
		{SCTP_ASSOC_RESET_EVENT, SCTPIO_EV_TSN},
		{SCTP_STREAM_CHANGE_EVENT, SCTPIO_EV_STREAMS},
		{SCTP_ADAPTATION_INDICATION, SCTPIO_EV_ADAPT},
		{SCTP_AUTHENTICATION_EVENT, SCTPIO_EV_AUTH},
		{SCTP_SEND_FAILED, SCTPIO_EV_FAILED},
		{SCTP_SEND_FAILED_EVENT, SCTPIO_EV_FAILED},
	};
	uint32_t ev = 0;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((types & 1u << (rows[i].type - SCTP_SN_TYPE_BASE)) != 0)
			ev |= rows[i].event;
	return ev;
}

/* Let messages come with information, or not. */
static int
set_info(struct sock *s, uint32_t bit, int on)
{
	struct sctpio_conf c;
	uint32_t w = SK(s);
	int err;

	w = on ? w | bit : w & ~bit;
	err = sk_conf_get(s, 0, &c);
	if (err != 0)
		return err;
	c.options = (w & (SK_SNDRCV | SK_RCVINFO | SK_NXTINFO)) != 0;
	err = sk_conf_set(s, &c);
	if (err == 0)
		sk_word(s, on ? 0 : bit, on ? bit : 0);
	return err;
}

/* sk_set_events - @types: a bit for each type, from SCTP_SN_TYPE_BASE on */
int
sk_set_events(struct sock *s, uint32_t types)
{
	struct sctpio_word w = {.value = events_of(types)};
	struct sctpio_keep k;
	int err = sk_keep_get(s, &k);

	if (err != 0)
		return err;
	k.w[KEEP_EVENTS] = types;
	err = sk_keep_set(s, &k);
	if (err == 0)
		err = set_info(s, SK_SNDRCV, (int)(types & 1u));
	if (err == 0)
		err = sk_ioctl(s, SCTPIO_EVENTS, &w, sizeof(w), sizeof(w));
	return err < 0 ? err : 0;
}

/* SCTP_EVENTS: a byte for each type, as many as the caller knows. */
static int
set_events(struct sock *s, const void *val, socklen_t len)
{
	unsigned char on[sizeof(struct sctp_event_subscribe)] = {0};
	uint32_t types = 0;
	unsigned i;
	int err;

	if (len == 0 || len > sizeof(on))
		return -EINVAL;
	err = sk_opt_in(on, len, val, len);
	if (err != 0)
		return err;
	for (i = 0; i < sizeof(on); i++)
		if (on[i] != 0)
			types |= 1u << i;
	return sk_set_events(s, types);
}

static int
set_event(struct sock *s, const void *val, socklen_t len)
{
	struct sctpio_keep k;
	struct sctp_event o;
	uint32_t bit;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	if (o.se_type < SCTP_SN_TYPE_BASE || o.se_type > SCTP_SN_TYPE_MAX)
		return -EINVAL;
	err = sk_keep_get(s, &k);
	if (err != 0)
		return err;
	bit = 1u << (o.se_type - SCTP_SN_TYPE_BASE);
	return sk_set_events(s, o.se_on ? k.w[KEEP_EVENTS] | bit :
					  k.w[KEEP_EVENTS] & ~bit);
}

/* ---------------------------------------------------------------- all others */

static int
set_primary(struct sock *s, const void *val, socklen_t len)
{
	struct sockaddr_storage ss;
	struct sctp_prim o;
	int err = sk_opt_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	memcpy(&ss, &o.ssp_addr, sizeof(ss));
	return with_addr(s, SCTPIO_PRIMARY, sk_assoc_of(s, val, len), &ss);
}

/* An option that is a bit of the socket's word. */
static int
set_bit(struct sock *s, uint32_t bit, int on_if, const void *val, socklen_t len)
{
	int v, err = sk_opt_in(&v, sizeof(v), val, len);

	if (err != 0)
		return err;
	if ((v != 0) == on_if)
		sk_word(s, 0, bit);
	else
		sk_word(s, bit, 0);
	return 0;
}

static int
set_msginfo(struct sock *s, uint32_t bit, const void *val, socklen_t len)
{
	int v, err = sk_opt_in(&v, sizeof(v), val, len);

	return err != 0 ? err : set_info(s, bit, v != 0);
}

int
sk_setopt_sctp(struct sock *s, int name, const void *val, socklen_t len)
{
	struct sctpio_conf c;
	struct sctpio_keep k;
	int err;

	switch (name) {
	case SCTP_EVENTS:
		return set_events(s, val, len);
	case SCTP_EVENT:
		return set_event(s, val, len);
	case SCTP_RECVRCVINFO:
		return set_msginfo(s, SK_RCVINFO, val, len);
	case SCTP_RECVNXTINFO:
		return set_msginfo(s, SK_NXTINFO, val, len);
	case SCTP_PRIMARY_ADDR:
		return set_primary(s, val, len);
	case SCTP_DISABLE_FRAGMENTS:
		return set_bit(s, SK_WHOLE, 1, val, len);
	case SCTP_I_WANT_MAPPED_V4_ADDR:
		return set_bit(s, SK_PLAIN6, 0, val, len);
	default:
		err = sk_setopt_stream(s, name, val, len);
		if (err <= 0)
			return err;
	}
	err = sk_conf_get(s, sk_conf_id(s, name, val, len), &c);
	if (err != 0)
		return err;
	err = set_conf(s, &c, name, val, len);
	if (err <= 0)
		return err != 0 ? err : sk_conf_set(s, &c);
	err = sk_keep_get(s, &k);
	if (err != 0)
		return err;
	err = set_keep(s, &k, name, val, len);
	if (err == 0)
		err = sk_keep_set(s, &k);
	if (err == 0)
		sk_word(s, 0, SK_DEFAULTS);
	return err > 0 ? -ENOPROTOOPT : err;
}

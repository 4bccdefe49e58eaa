/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of SCTP that are read: RFC 6458 s8.
 */
#include "sock.h"

/* The association that the caller has put into the first word of its value. */
static int
assoc_in(void *o, size_t size, const void *val, const socklen_t *len)
{
	socklen_t room;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	return (int)room < 0 ? -EINVAL : sk_opt_in(o, size, val, room);
}

/* The same for a socket with many associations; 0: none. */
static uint32_t
many_in(const struct sock *s, const void *val, const socklen_t *len)
{
	socklen_t room = 0;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0 ||
		(int)room < 0)
		return 0;
	return sk_assoc_of(s, val, room);
}

/* --------------------------------------------------------------- parameters */

static int
get_rto(const struct sctpio_conf *c, void *val, socklen_t *len)
{
	struct sctp_rtoinfo o = {.srto_initial = c->rto_initial,
		.srto_max = c->rto_max, .srto_min = c->rto_min};

	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_assoc(struct sock *s, const struct sctpio_conf *c, void *val,
	socklen_t *len)
{
	struct sctp_assocparams o = {
		.sasoc_asocmaxrxt = (uint16_t)c->assoc_max_retrans,
		.sasoc_local_rwnd = c->rcvbuf,
		.sasoc_cookie_life = c->cookie_life};
	uint32_t id = many_in(s, val, len);
	struct sctpio_status st = {.assoc = id};

	if (sk_get(s, SCTPIO_STATUS, &st, sizeof(st)) == 0) {
		o.sasoc_assoc_id = id != 0 ? (sctp_assoc_t)id : SK_ASSOC;
		o.sasoc_number_peer_destinations = (uint16_t)st.npaths;
		o.sasoc_peer_rwnd = st.peer_window;
		o.sasoc_local_rwnd = st.window;
	}
	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_init(struct sock *s, const struct sctpio_conf *c, void *val, socklen_t *len)
{
	struct sctp_initmsg o = {
		.sinit_num_ostreams = (uint16_t)c->ostreams,
		.sinit_max_instreams = (uint16_t)c->istreams,
		.sinit_max_attempts = (uint16_t)c->init_max_retrans};

	(void)s;
	o.sinit_max_init_timeo = c->rto_max > 65535 ? 65535 :
		(uint16_t)c->rto_max;
	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_sack(const struct sctpio_conf *c, void *val, socklen_t *len)
{
	struct sctp_sack_info o = {.sack_delay = c->sack_delay,
		.sack_freq = c->sack_freq};
	struct sctp_assoc_value av = {.assoc_value = c->sack_freq == 1 ? 0 :
		c->sack_delay};
	socklen_t room;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	return room >= sizeof(o) ? sk_opt_out(val, len, &o, sizeof(o)) :
				   sk_opt_out(val, len, &av, sizeof(av));
}

static int
get_int(uint32_t v, void *val, socklen_t *len)
{
	return sk_opt_out(val, len, &v, sizeof(v));
}

/* An int, or struct sctp_assoc_value, by the room that the caller has. */
static int
get_value(uint32_t v, void *val, socklen_t *len)
{
	struct sctp_assoc_value av = {.assoc_value = v};
	socklen_t room;

	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	return room >= sizeof(av) ? sk_opt_out(val, len, &av, sizeof(av)) :
				    get_int(v, val, len);
}

static int
get_paddr(struct sock *s, const struct sctpio_conf *c, void *val,
	socklen_t *len)
{
	size_t size = offsetof(struct sctp_paddrparams, spp_ipv6_flowlabel);
	struct sctpio_paths ps = {.assoc = many_in(s, val, len)};
	struct sctp_paddrparams o;
	struct sockaddr_storage ss;
	int err = assoc_in(&o, size, val, len), i;

	if (err != 0)
		return err;
	memcpy(&ss, &o.spp_address, sizeof(ss));
	o.spp_pathmtu = 0;
	if (ss.ss_family != 0 && sk_get(s, SCTPIO_PATHS, &ps,
		sizeof(ps)) == 0) {
		i = sk_path_of(&ps, &ss);
		if (i < 0)
			return -EINVAL;
		o.spp_pathmtu = ps.path[i].mtu;
	}
	o.spp_hbinterval = c->hb_interval;
	o.spp_pathmaxrxt = (uint16_t)c->path_max_retrans;
	o.spp_sackdelay = c->sack_delay;
	o.spp_flags = (uint32_t)SPP_PMTUD_DISABLE |
		(c->hb_interval != 0 ? SPP_HB_ENABLE : SPP_HB_DISABLE) |
		(c->sack_freq == 1 ? SPP_SACKDELAY_DISABLE :
				     SPP_SACKDELAY_ENABLE);
	return sk_opt_out(val, len, &o, size);
}

static int
get_thresholds(const struct sctpio_conf *c, void *val, socklen_t *len)
{
	struct sctp_paddrthlds o;
	int err = assoc_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	o.spt_pathmaxrxt = (uint16_t)c->path_max_retrans;
	o.spt_pathpfthld = (uint16_t)c->pf_threshold;
	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_thresholds_v2(const struct sctpio_conf *c, void *val, socklen_t *len)
{
	struct sctp_paddrthlds_v2 o;
	int err = assoc_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	o.spt_pathmaxrxt = (uint16_t)c->path_max_retrans;
	o.spt_pathpfthld = (uint16_t)c->pf_threshold;
	o.spt_pathcpthld = 0xffff; /* the primary path is never changed */
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* 1: it is no parameter of the provider. */
static int
get_conf(struct sock *s, const struct sctpio_conf *c, int name, void *val,
	socklen_t *len)
{
	switch (name) {
	case SCTP_RTOINFO:
		return get_rto(c, val, len);
	case SCTP_ASSOCINFO:
		return get_assoc(s, c, val, len);
	case SCTP_INITMSG:
		return get_init(s, c, val, len);
	case SCTP_NODELAY:
		return get_int(c->nodelay, val, len);
	case SCTP_DELAYED_SACK:
		return get_sack(c, val, len);
	case SCTP_MAX_BURST:
		return get_value(c->max_burst, val, len);
	case SCTP_PARTIAL_DELIVERY_POINT:
		return get_int(c->partial, val, len);
	case SCTP_PEER_ADDR_PARAMS:
		return get_paddr(s, c, val, len);
	case SCTP_PEER_ADDR_THLDS:
		return get_thresholds(c, val, len);
	case SCTP_PEER_ADDR_THLDS_V2:
		return get_thresholds_v2(c, val, len);
	default:
		return 1;
	}
}

/* --------------------------------------------------------------------- messages */

static int
get_send_param(const struct sctpio_keep *k, void *val, socklen_t *len)
{
	struct sctp_sndrcvinfo o = {
		.sinfo_stream = (uint16_t)k->w[KEEP_SID],
		.sinfo_flags = (uint16_t)(k->w[KEEP_FLAGS] |
			(k->w[KEEP_TTL] != 0 ? 0 : k->w[KEEP_POLICY])),
		.sinfo_ppid = k->w[KEEP_PPID],
		.sinfo_context = k->w[KEEP_CONTEXT],
		.sinfo_timetolive = k->w[KEEP_VALUE]};

	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_sndinfo(const struct sctpio_keep *k, void *val, socklen_t *len)
{
	struct sctp_sndinfo o = {.snd_sid = (uint16_t)k->w[KEEP_SID],
		.snd_flags = (uint16_t)k->w[KEEP_FLAGS],
		.snd_ppid = k->w[KEEP_PPID],
		.snd_context = k->w[KEEP_CONTEXT]};

	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_prinfo(const struct sctpio_keep *k, void *val, socklen_t *len)
{
	struct sctp_default_prinfo o = {.pr_value = k->w[KEEP_VALUE],
		.pr_policy = (uint16_t)k->w[KEEP_POLICY]};

	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_events(const struct sctpio_keep *k, void *val, socklen_t *len)
{
	unsigned char on[sizeof(struct sctp_event_subscribe)];
	socklen_t room;
	unsigned i;

	for (i = 0; i < sizeof(on); i++)
		on[i] = k->w[KEEP_EVENTS] >> i & 1u;
	if (len == NULL || strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	if (room == 0 || (int)room < 0)
		return -EINVAL;
	return sk_opt_out(val, len, on, room < sizeof(on) ? room : sizeof(on));
}

static int
get_event(const struct sctpio_keep *k, void *val, socklen_t *len)
{
	struct sctp_event o;
	int err = assoc_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	if (o.se_type < SCTP_SN_TYPE_BASE || o.se_type > SCTP_SN_TYPE_MAX)
		return -EINVAL;
	o.se_on = k->w[KEEP_EVENTS] >> (o.se_type - SCTP_SN_TYPE_BASE) & 1u;
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* 1: it is no option that the provider keeps. */
static int
get_keep(const struct sctpio_keep *k, int name, void *val, socklen_t *len)
{
	switch (name) {
	case SCTP_DEFAULT_SEND_PARAM:
		return get_send_param(k, val, len);
	case SCTP_DEFAULT_SNDINFO:
		return get_sndinfo(k, val, len);
	case SCTP_DEFAULT_PRINFO:
		return get_prinfo(k, val, len);
	case SCTP_CONTEXT:
		return get_value(k->w[KEEP_RCV_CONTEXT], val, len);
	case SCTP_FRAGMENT_INTERLEAVE:
		return get_int(k->w[KEEP_INTERLEAVE], val, len);
	case SCTP_EVENTS:
		return get_events(k, val, len);
	case SCTP_EVENT:
		return get_event(k, val, len);
	default:
		return 1;
	}
}

/* ------------------------------------------------------------- the association */

static void
fill_path(const struct sock *s, const struct sctpio_path *p,
	struct sctp_paddrinfo *o)
{
	struct sockaddr_storage ss;

	(void)sk_addr_conv(s, &p->addr, &ss);
	memcpy(&o->spinfo_address, &ss, sizeof(ss));
	o->spinfo_assoc_id = SK_ASSOC;
	o->spinfo_state = !p->confirmed ? SCTP_UNCONFIRMED :
		p->state == SCTPIO_PATH_ACTIVE ? SCTP_ACTIVE :
		p->state == SCTPIO_PATH_PF ? SCTP_PF : SCTP_INACTIVE;
	o->spinfo_cwnd = p->cwnd;
	o->spinfo_srtt = p->srtt;
	o->spinfo_rto = p->rto;
	o->spinfo_mtu = p->mtu;
}

static int
paths_of(struct sock *s, uint32_t id, struct sctpio_paths *ps)
{
	ps->assoc = id;
	/* RFC 6458 s8.2: without an association it is EINVAL */
	return sk_get(s, SCTPIO_PATHS, ps, sizeof(*ps)) != 0 || ps->n == 0 ?
		-EINVAL : 0;
}

static int
get_status(struct sock *s, void *val, socklen_t *len)
{
	uint32_t id = many_in(s, val, len);
	struct sctpio_status st = {.assoc = id};
	struct sctpio_paths ps;
	struct sctp_status o;
	int err = paths_of(s, id, &ps);

	if (err == 0)
		err = sk_get(s, SCTPIO_STATUS, &st, sizeof(st));
	if (err != 0)
		return -EINVAL;
	memset(&o, 0, sizeof(o));
	o.sstat_assoc_id = id != 0 ? (sctp_assoc_t)id : SK_ASSOC;
	o.sstat_state = (int32_t)st.state;
	o.sstat_rwnd = st.peer_window;
	o.sstat_unackdata = (uint16_t)st.unacked_chunks;
	o.sstat_instrms = (uint16_t)st.istreams;
	o.sstat_outstrms = (uint16_t)st.ostreams;
	o.sstat_fragmentation_point = st.fragment;
	fill_path(s, &ps.path[ps.primary], &o.sstat_primary);
	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_path(struct sock *s, void *val, socklen_t *len)
{
	struct sctpio_paths ps;
	struct sctp_paddrinfo o;
	struct sockaddr_storage ss;
	struct sk_addrs a;
	uint32_t id;
	int i, err = assoc_in(&o, sizeof(o), val, len);

	if (err != 0)
		return err;
	memcpy(&ss, &o.spinfo_address, sizeof(ss));
	id = many_in(s, val, len);
	if (id == 0 && (SK(s) & SK_MANY) != 0 && (sk_addr_in(s,
		(struct sockaddr *)&ss, sizeof(ss), &a) != 0 ||
		sk_many_find(s, &a, &id) != 0))
		return -EINVAL;
	err = paths_of(s, id, &ps);
	if (err != 0)
		return err;
	i = sk_path_of(&ps, &ss);
	if (i < 0)
		return -EINVAL;
	fill_path(s, &ps.path[i], &o);
	if (id != 0)
		o.spinfo_assoc_id = (sctp_assoc_t)id;
	return sk_opt_out(val, len, &o, sizeof(o));
}

static int
get_primary(struct sock *s, void *val, socklen_t *len)
{
	struct sctp_prim o = {.ssp_assoc_id = SK_ASSOC};
	uint32_t id = many_in(s, val, len);
	struct sctpio_paths ps;
	struct sockaddr_storage ss;
	int err = paths_of(s, id, &ps);

	if (err != 0)
		return err;
	if (id != 0)
		o.ssp_assoc_id = (sctp_assoc_t)id;
	(void)sk_addr_conv(s, &ps.path[ps.primary].addr, &ss);
	memcpy(&o.ssp_addr, &ss, sizeof(ss));
	return sk_opt_out(val, len, &o, sizeof(o));
}

/* SCTP_GET_ASSOC_NUMBER, SCTP_GET_ASSOC_ID_LIST: one-to-many only */
static int
get_assocs(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctpio_assocs o = {.assoc = 0};
	uint32_t list[1 + SCTPIO_ASSOCS_MOST];
	int err;

	if ((SK(s) & SK_MANY) == 0)
		return -EINVAL;
	err = sk_get(s, SCTPIO_ASSOCS, &o, sizeof(o));
	if (err != 0)
		return err;
	if (name == SCTP_GET_ASSOC_NUMBER)
		return get_int(o.n, val, len);
	list[0] = o.n < SCTPIO_ASSOCS_MOST ? o.n : SCTPIO_ASSOCS_MOST;
	memcpy(&list[1], o.id, list[0] * sizeof(o.id[0]));
	return sk_opt_out(val, len, list, (1 + list[0]) * sizeof(list[0]));
}

int
sk_getopt_sctp(struct sock *s, int name, void *val, socklen_t *len)
{
	struct sctpio_conf c;
	struct sctpio_keep k;
	socklen_t room = 0;
	int err;

	switch (name) {
	case SCTP_STATUS:
		return get_status(s, val, len);
	case SCTP_GET_PEER_ADDR_INFO:
		return get_path(s, val, len);
	case SCTP_PRIMARY_ADDR:
		return get_primary(s, val, len);
	case SCTP_GET_ASSOC_NUMBER:
	case SCTP_GET_ASSOC_ID_LIST:
		return get_assocs(s, name, val, len);
	case SCTP_RECVRCVINFO:
		return get_int((SK(s) & SK_RCVINFO) != 0, val, len);
	case SCTP_RECVNXTINFO:
		return get_int((SK(s) & SK_NXTINFO) != 0, val, len);
	case SCTP_DISABLE_FRAGMENTS:
		return get_int((SK(s) & SK_WHOLE) != 0, val, len);
	case SCTP_I_WANT_MAPPED_V4_ADDR:
		return get_int((SK(s) & SK_PLAIN6) == 0, val, len);
	default:
		err = sk_getopt_stream(s, name, val, len);
		if (err <= 0)
			return err;
	}
	if (len != NULL && strm_copy(&room, len, sizeof(room)) != 0)
		return -EFAULT;
	err = sk_conf_get(s, (int)room > 0 ?
		sk_conf_id(s, name, val, room) : 0, &c);
	if (err != 0)
		return err;
	err = get_conf(s, &c, name, val, len);
	if (err <= 0)
		return err;
	err = sk_keep_get(s, &k);
	if (err != 0)
		return err;
	err = get_keep(&k, name, val, len);
	return err > 0 ? -ENOPROTOOPT : err;
}

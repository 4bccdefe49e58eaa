/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * INIT and INIT ACK: RFC 9260 s5.1, s5.2.1 to s5.2.3.
 *
 * The receiver of an INIT answers and keeps nothing: what it must know later is
 * in the cookie.  That holds with an association too, whose peer may have begun
 * again, or may have called at the same time; tie-tags in the cookie name the
 * association as it was.
 */
#include "cookie.h"

/* Bytes of the parameters that an INIT and an INIT ACK have in common. */
#define PARAMS_MOST (20 * SCTP_LOCALS + 80 + SCTP_VECTOR_MOST + 8)

/* The extensions that an endpoint with @conf offers: SCTP_X_*. */
uint32_t
sctp_offered(const struct sctp_conf *conf)
{
	return (conf->pr ? SCTP_X_PR : 0) | (conf->auth ? SCTP_X_AUTH : 0) |
		(conf->asconf ? SCTP_X_ASCONF : 0) |
		((conf->reconf & SCTP_RECONF_ON) != 0 ? SCTP_X_RECONF : 0) |
		(conf->interleave ? SCTP_X_IDATA : 0) |
		(conf->interleave && conf->pr ? SCTP_X_IFORWARD : 0);
}

/* What both sides know. */
uint32_t
sctp_agreed(const struct sctp_conf *conf, uint32_t peers)
{
	uint32_t ext = (sctp_offered(conf) | SCTP_X_ADAPTS) & peers;

	if ((ext & SCTP_X_AUTH) == 0)
		ext &= ~SCTP_X_ASCONF;

	/* RFC 8260 s2.3.1: with I-DATA, FORWARD TSN is not used, nor needed */
	if ((ext & SCTP_X_IDATA) == 0)
		return ext & ~SCTP_X_IFORWARD;
	return (ext & SCTP_X_IFORWARD) != 0 ? ext | SCTP_X_PR :
					      ext & ~SCTP_X_PR;
}

/*
 * Parameters that an INIT and an INIT ACK have in common.
 * @families: what the peer understands, as in struct sctp_init
 * @auth:     the parameters of AUTH, if that is offered
 */
static size_t
put_params(const struct sctp_ep *ep, const struct sctp_conf *conf,
	unsigned int families, const struct sctp_vector *auth,
	unsigned char *p)
{
	unsigned char chunks[8], code[4];
	uint32_t ext = sctp_offered(conf), i, k = 0;
	size_t n = 0;

	if (ep->nlocal > 1)
		for (i = 0; i < ep->nlocal; i++)
			if (families == 0 || (families &
				(ep->local[i].len == 4 ? 1 : 2)) != 0)
				n += sctp_put_addr(p + n, &ep->local[i]);
	if ((ext & SCTP_X_PR) != 0)
		chunks[k++] = SCTP_C_FORWARD_TSN;
	if ((ext & SCTP_X_RECONF) != 0)
		chunks[k++] = SCTP_C_RECONF;
	if ((ext & SCTP_X_AUTH) != 0)
		chunks[k++] = SCTP_C_AUTH;
	if ((ext & SCTP_X_ASCONF) != 0) {
		chunks[k++] = SCTP_C_ASCONF;
		chunks[k++] = SCTP_C_ASCONF_ACK;
	}
	if ((ext & SCTP_X_IDATA) != 0)
		chunks[k++] = SCTP_C_I_DATA;
	if ((ext & SCTP_X_IFORWARD) != 0)
		chunks[k++] = SCTP_C_I_FORWARD_TSN;
	if (k != 0)
		n += sctp_put_tlv(p + n, SCTP_P_EXTENSIONS, chunks, k);
	if ((ext & SCTP_X_PR) != 0)
		n += sctp_put_tlv(p + n, SCTP_P_FORWARD_TSN, NULL, 0);
	if (conf->adapts) {
		sctp_put32(code, conf->adaptation);
		n += sctp_put_tlv(p + n, SCTP_P_ADAPTATION, code, 4);
	}
	if ((ext & SCTP_X_AUTH) != 0)
		n += sctp_auth_put(auth, p + n);
	return n;
}

static void
put_fixed(unsigned char *p, uint32_t tag, uint32_t rwnd, uint32_t os,
	uint32_t mis, uint32_t tsn)
{
	sctp_put32(p + SCTP_INIT_TAG, tag);
	sctp_put32(p + SCTP_INIT_RWND, rwnd);
	sctp_put16(p + SCTP_INIT_OS, os);
	sctp_put16(p + SCTP_INIT_MIS, mis);
	sctp_put32(p + SCTP_INIT_TSN, tsn);
}

/* Append a chunk with @n bytes of parameters from @params; 0: no room. */
static int
put_init(struct sctp_out *o, unsigned int type, const unsigned char *params,
	size_t n, uint32_t tag, uint32_t rwnd, uint32_t os, uint32_t mis,
	uint32_t tsn)
{
	unsigned char *p = sctp_out_chunk(o, type, 0, SCTP_INIT_HDR + n);

	if (p == NULL)
		return 0;
	put_fixed(p, tag, rwnd, os, mis, tsn);
	__builtin_memcpy(p + SCTP_INIT_HDR, params, n);
	return 1;
}

void
sctp_init_send(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o)
{
	/* RFC 9260 s3.3.2: IPv4 and IPv6 addresses are understood */
	static const unsigned char families[4] = {0, SCTP_P_IPV4,
		0, SCTP_P_IPV6};
	unsigned char params[PARAMS_MOST], ms[4];
	size_t n = put_params(as->ep, &as->conf, 0,
		as->auth != NULL ? &as->auth->mine : NULL, params);

	n += sctp_put_tlv(params + n, SCTP_P_FAMILIES, families, 4);
	if (as->preservative != 0) {
		sctp_put32(ms, as->preservative / SCTP_MS);
		n += sctp_put_tlv(params + n, SCTP_P_PRESERVATIVE, ms, 4);
	}
	(void)put_init(o, SCTP_C_INIT, params, n, as->my_tag,
		sctp_rcv_window(as), as->conf.ostreams, as->conf.istreams,
		as->my_first);
	as->echoed_at = env->now;
	if (as->t1_at == 0)
		as->t1_at = env->now + as->t1_rto;
}

int
sctp_connect(const struct sctp_env *env, struct sctp_ep *ep,
	const struct ip_addr *to, uint32_t n, uint16_t port,
	struct sctp_assoc **ret)
{
	struct sctp_assoc *as;
	uint32_t i;

	if (n == 0 || n > SCTP_PATHS || port == 0 ||
		sctp_conf_check(&ep->conf) != 0)
		return EINVAL;
	for (i = 0; i < n; i++)
		if (sctp_assoc_find(ep, &to[i], port) != NULL)
			return EISCONN;
	as = sctp_assoc_new(env, ep, port);
	if (as == NULL)
		return ENOMEM;
	/* s5.4: addresses that the user gave are confirmed */
	for (i = 0; i < n; i++)
		if (sctp_path_find(as, &to[i]) == SCTP_NONE)
			(void)sctp_path_add(as, &to[i], 1);
	sctp_path_sizes(as);
	/* those for input follow from INIT ACK */
	if (!sctp_auth_begin(env, as) ||
		!sctp_assoc_streams(env, as, as->conf.ostreams, 1)) {
		sctp_assoc_free(env, as);
		return ENOMEM;
	}
	as->state = SCTP_COOKIE_WAIT;
	as->t1_rto = as->conf.rto_initial;
	as->owes = SCTP_OWES_INIT;
	*ret = as;
	return 0;
}

/* -------------------------------------------------------- an INIT arrived */

/*
 * sctp_init_wrong - do the parameters of the extensions contradict each other?
 * What we do not offer is not looked at.
 */
int
sctp_init_wrong(const struct sctp_conf *conf, const struct sctp_init *i)
{
	struct sctp_vector v;

	/* RFC 5061 s4.2.7: ASCONF needs AUTH */
	if (conf->asconf && (i->ext & SCTP_X_ASCONF) != 0 &&
		(i->ext & SCTP_X_AUTH) == 0)
		return 1;
	return conf->auth && sctp_auth_take(i, &v) < 0;
}

/* s3.3.2: is the INIT usable?  If not, it has been answered if it may be. */
static int
init_is_good(struct sctp_in *in, const struct sctp_tlv *c,
	const struct sctp_init *i)
{
	if (i->tag == 0)
		return 0; /* no tag to answer with */
	if (i->host_name) {
		/* s5.1.2: answered by an ABORT in every case */
		sctp_reply_abort(in, i->tag, 0, SCTP_E_ADDRESS, i->host.p,
			i->host.len);
		return 0;
	}
	if (i->os == 0 || i->mis == 0 || i->rwnd < SCTP_RWND_LEAST) {
		sctp_reply_abort(in, i->tag, 0, SCTP_E_PARAM, NULL, 0);
		return 0;
	}
	if (i->bad || sctp_init_wrong(&in->ep->conf, i)) {
		sctp_reply_abort(in, i->tag, 0, SCTP_E_PROTOCOL, c->p,
			c->len < 64 ? c->len : 64);
		return 0;
	}
	return 1;
}

/*
 * s5.2.2: addresses that the association does not have, in an INIT of a peer
 * that may have restarted, would let it take over an address.  1: an ABORT
 * tells the peer.
 */
static int
has_new_addresses(struct sctp_in *in, const struct sctp_init *i)
{
	unsigned char list[20 * (SCTP_PATHS + 1)];
	size_t n = 0;
	uint32_t k;

	for (k = 0; k < i->naddr; k++)
		if (sctp_path_find(in->as, &i->addr[k]) == SCTP_NONE)
			n += sctp_put_addr(list + n, &i->addr[k]);
	if (n == 0)
		return 0;
	sctp_reply_abort(in, i->tag, 0, SCTP_E_RESTART, list, n);
	return 1;
}

/*
 * Our parameters of AUTH in an INIT ACK; the random number of a call that is
 * under way stays, as its tag does: RFC 4895 s6.1.
 */
static void
auth_params(struct sctp_in *in, const struct sctp_init *i,
	struct sctp_cookie *ck, struct sctp_vector *mine)
{
	const struct sctp_assoc *as = in->as;
	struct sctp_vector peer;

	mine->n = 0;
	if (!in->ep->conf.auth)
		return;
	if (as != NULL && as->auth != NULL && (as->state == SCTP_COOKIE_WAIT ||
		as->state == SCTP_COOKIE_ECHOED))
		*mine = as->auth->mine;
	else
		sctp_auth_offer(in->env, &in->ep->conf, mine);
	if ((ck->ext & SCTP_X_AUTH) != 0 && sctp_auth_take(i, &peer) == 1)
		sctp_cookie_keep(ck, mine, &peer);
	else
		ck->ext &= ~(SCTP_X_AUTH | SCTP_X_ASCONF);
}

static void
fill_cookie(struct sctp_in *in, const struct sctp_init *i,
	struct sctp_cookie *ck, struct sctp_vector *mine)
{
	const struct sctp_assoc *as = in->as;
	const struct sctp_conf *conf = &in->ep->conf;
	uint64_t more = (uint64_t)i->preservative * SCTP_MS;

	__builtin_memset(ck, 0, sizeof(*ck));
	ck->lport = in->dport;
	ck->pport = in->sport;
	ck->peer_tag = i->tag;
	ck->peer_tsn = i->tsn;
	ck->peer_rwnd = i->rwnd;
	ck->nout = i->mis < conf->ostreams ? i->mis : conf->ostreams;
	ck->nin = i->os < conf->istreams ? i->os : conf->istreams;
	ck->life = conf->cookie_life +
		(more < conf->cookie_inc ? (uint32_t)more : conf->cookie_inc);
	ck->ext = sctp_agreed(conf, i->ext);
	ck->adaptation = i->adaptation;
	ck->src = in->pkt->src;
	ck->naddr = i->naddr;
	__builtin_memcpy(ck->addr, i->addr, i->naddr * sizeof(i->addr[0]));
	auth_params(in, i, ck, mine);
	in->env->random(in->env->arg, &ck->my_tag, sizeof(ck->my_tag));
	in->env->random(in->env->arg, &ck->my_tsn, sizeof(ck->my_tsn));
	ck->my_tag += ck->my_tag == 0;
	if (as == NULL)
		return;
	if (as->state == SCTP_COOKIE_WAIT || as->state == SCTP_COOKIE_ECHOED) {
		/* s5.2.1: as in our own INIT */
		ck->my_tag = as->my_tag;
		ck->my_tsn = as->my_first;
	}
	if (as->state != SCTP_COOKIE_WAIT) {
		ck->tie_mine = as->my_tag;
		ck->tie_peer = as->peer_tag;
	}
}

static void
init_ack(struct sctp_in *in, const struct sctp_init *i)
{
	unsigned char params[PARAMS_MOST + sizeof(struct sctp_cookie) +
		SCTP_TLV + SCTP_ERROR_MOST + SCTP_TLV];
	const struct sctp_conf *conf = &in->ep->conf;
	struct sctp_vector mine;
	struct sctp_cookie ck;
	struct sctp_out o;
	size_t n;

	fill_cookie(in, i, &ck, &mine);
	sctp_cookie_sign(in->env, in->ep, &ck);
	n = put_params(in->ep, conf, i->families, &mine, params);
	n += sctp_put_tlv(params + n, SCTP_P_COOKIE, &ck,
		sctp_cookie_size(&ck));
	if (i->nreport != 0)
		n += sctp_put_tlv(params + n, SCTP_P_UNRECOGNIZED, i->report,
			i->nreport);
	sctp_out_begin(&o, in->reply->p, in->reply->size, in->dport, in->sport,
		i->tag);
	if (put_init(&o, SCTP_C_INIT_ACK, params, n, ck.my_tag, conf->rcvbuf,
		ck.nout, conf->istreams, ck.my_tsn))
		in->reply->n = sctp_out_end(&o, in->ep->instruction);
}

void
sctp_init_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct sctp_init i;

	if (c->len < SCTP_INIT_HDR)
		return;
	sctp_init_parse(c, &i);
	if (!init_is_good(in, c, &i))
		return;
	if (as == NULL) {
		if (!in->ep->listening)
			sctp_reply_abort(in, i.tag, 0, SCTP_E_NONE, NULL, 0);
		else if (in->ep->most != 0 && in->ep->nassoc >= in->ep->most)
			sctp_reply_abort(in, i.tag, 0, SCTP_E_RESOURCE, NULL,
				0);
		else
			init_ack(in, &i);
		return;
	}
	if (as->state == SCTP_SHUTDOWN_ACK_SENT) {
		/* s9.2: the peer has lost our SHUTDOWN ACK's answer */
		as->owes |= SCTP_OWES_SHUTDOWN_ACK;
		return;
	}
	/* s5.2.1: in COOKIE-WAIT the peer's addresses are not known yet */
	if (as->state != SCTP_COOKIE_WAIT && has_new_addresses(in, &i))
		return;
	init_ack(in, &i);
}

/* ---------------------------------------------------- an INIT ACK arrived */

/*
 * s5.1.2: the peer's addresses are those it lists, and the one it answered
 * from.
 */
static void
take_addresses(struct sctp_in *in, const struct sctp_init *i)
{
	struct sctp_assoc *as = in->as;
	struct sctp_path old[SCTP_PATHS];
	uint32_t nold = as->npaths, k, was;

	__builtin_memcpy(old, as->path, sizeof(old));
	as->npaths = 0;
	as->primary = 0;
	/* the one that has answered comes first: it is the primary */
	(void)sctp_path_add(as, &in->pkt->src, 1);
	for (k = 0; k < i->naddr; k++) {
		if (sctp_path_find(as, &i->addr[k]) != SCTP_NONE)
			continue;
		for (was = 0; was < nold; was++)
			if (sctp_addr_eq(&old[was].addr, &i->addr[k]))
				break;
		(void)sctp_path_add(as, &i->addr[k], was < nold);
	}
	as->from_path = 0;
	sctp_path_sizes(as);
}

static int
keep_cookie(struct sctp_in *in, const struct sctp_init *i)
{
	struct sctp_assoc *as = in->as;
	uint32_t n = i->cookie.len - SCTP_TLV;
	unsigned char *p = in->env->alloc(in->env->arg, n != 0 ? n : 1);

	if (p == NULL)
		return 0;
	__builtin_memcpy(p, i->cookie.p + SCTP_TLV, n);
	if (as->cookie != NULL)
		in->env->release(in->env->arg, as->cookie, as->cookie_len);
	as->cookie = p;
	as->cookie_len = n != 0 ? n : 1;
	return 1;
}

/* s3.3.3: is it usable?  If not, the association is over. */
static int
init_ack_is_good(struct sctp_in *in, const struct sctp_init *i)
{
	/* one parameter is missing: the cookie */
	static const unsigned char missing[6] = {0, 0, 0, 1, 0, SCTP_P_COOKIE};

	in->as->peer_tag = i->tag; /* of the ABORT */
	if (i->tag == 0)
		sctp_assoc_down(in->as, SCTP_DOWN_PROTOCOL);
	else if (i->host_name)
		sctp_abort_with(in->env, in->as, SCTP_DOWN_PROTOCOL,
			SCTP_E_ADDRESS, i->host.p, i->host.len);
	else if (i->os == 0 || i->mis == 0 || i->rwnd < SCTP_RWND_LEAST)
		sctp_abort_with(in->env, in->as, SCTP_DOWN_PROTOCOL,
			SCTP_E_PARAM, NULL, 0);
	else if (i->bad)
		sctp_violation(in->env, in->as, "INIT ACK is cut off");
	else if (sctp_init_wrong(&in->as->conf, i))
		sctp_violation(in->env, in->as, "parameters of INIT ACK");
	else if (i->cookie.p == NULL || i->cookie.len == SCTP_TLV)
		sctp_abort_with(in->env, in->as, SCTP_DOWN_PROTOCOL,
			SCTP_E_MISSING, missing, sizeof(missing));
	else
		return 1;
	return 0;
}

/* The block for the parameters of AUTH exists since our INIT. */
static void
auth_agreed(struct sctp_in *in, const struct sctp_init *i)
{
	struct sctp_vector peer;

	(void)sctp_auth_take(i, &peer);
	sctp_auth_agree(in->as, &in->as->auth->mine, &peer);
}

void
sctp_init_ack_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	struct sctp_init i;
	uint32_t nout, nin;

	/* s5.2.3: in other states it is an old or duplicate one */
	if (as->state != SCTP_COOKIE_WAIT || c->len < SCTP_INIT_HDR)
		return;
	sctp_init_parse(c, &i);
	if (!init_ack_is_good(in, &i))
		return;
	as->ext = (uint16_t)sctp_agreed(&as->conf, i.ext);
	as->adaptation = i.adaptation;
	as->local = in->pkt->dst;
	if (as->auth != NULL)
		auth_agreed(in, &i);
	nout = i.mis < as->conf.ostreams ? i.mis : as->conf.ostreams;
	nin = i.os < as->conf.istreams ? i.os : as->conf.istreams;
	if (!keep_cookie(in, &i) ||
		!sctp_assoc_streams(in->env, as, nout, nin))
		return; /* no memory: as if it had been lost */
	sctp_assoc_peer_tsn(as, i.tsn);
	sctp_tx_lose_all(as); /* what went with a stale cookie */
	as->peer_rwnd = i.rwnd;
	take_addresses(in, &i);
	if (as->t1_count == 0) /* Karn: of an INIT that was sent once */
		sctp_rto_measured(&as->conf, &as->path[0],
			in->env->now - as->echoed_at);
	as->state = SCTP_COOKIE_ECHOED;
	as->owes = SCTP_OWES_COOKIE_ECHO;
	as->t1_count = 0;
	as->t1_rto = as->path[0].rto;
	as->t1_at = 0;
	if (i.nreport != 0)
		sctp_error_send(in->env, as, SCTP_E_UNRECOGNIZED, i.report,
			i.nreport);
}

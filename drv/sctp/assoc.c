/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints and associations: made, found, forgotten.
 *
 * An endpoint finds an association by the peer's port and one of its addresses
 * (RFC 9260 s1.3).  An association that is over leaves the table at once, and
 * exists until its user calls sctp_assoc_free(): with what the user has not
 * read yet, and perhaps a last packet to be sent.
 */
#include "association.h"
#include "crc32c.h"

void
sctp_conf_default(struct sctp_conf *c)
{
	static const struct sctp_conf std = {
		.rto_initial = 1 * SCTP_S,
		.rto_min = 1 * SCTP_S,
		.rto_max = 60 * SCTP_S,
		.cookie_life = 60 * SCTP_S,
		.cookie_inc = 60 * SCTP_S,
		.hb_interval = 30 * SCTP_S,
		.sack_delay = 200 * SCTP_MS,
		.sack_freq = 2,
		.assoc_max_retrans = 10,
		.path_max_retrans = 5,
		.init_max_retrans = 8,
		.max_burst = 4,
		.rcvbuf = 262144,
		.sndbuf = 262144,
		.partial = 65536,
		.mtu = 1500,
		.ostreams = 10,
		.istreams = 2048,
		.ostreams_most = 256,
		.pr = 1,
		.reconf = SCTP_RECONF_ALL,
		.hmac = {SCTP_HMAC_SHA256, SCTP_HMAC_SHA1},
	};

	*c = std;
}

int
sctp_conf_check(const struct sctp_conf *c)
{
	if (c->rto_min == 0 || c->rto_min > c->rto_initial ||
		c->rto_initial > c->rto_max || c->rto_max > 3600 * SCTP_S)
		return EINVAL;
	if (c->cookie_life == 0 || c->sack_freq == 0 ||
		c->sack_delay > 500 * SCTP_MS) /* s6.2 */
		return EINVAL;
	if (c->mtu < 552 || c->mtu > 65535 || c->rcvbuf < SCTP_RWND_LEAST ||
		c->rcvbuf > 1u << 30 || c->sndbuf == 0 ||
		c->sndbuf > 1u << 30)
		return EINVAL;
	if (c->maxseg != 0 && c->maxseg < SCTP_SEG_LEAST)
		return EINVAL;
	if (c->ostreams == 0 || c->istreams == 0 ||
		c->scheduler > SCTP_SCHED_WEIGHTED)
		return EINVAL;
	return sctp_auth_check_conf(c);
}

void
sctp_ep_init(const struct sctp_env *env, struct sctp_ep *ep, uint16_t port)
{
	__builtin_memset(ep, 0, sizeof(*ep));
	ep->port = port;
	ep->instruction = (uint8_t)crc32c_has_instruction();
	sctp_conf_default(&ep->conf);
	sctp_keys_make(env, ep);
}

void
sctp_ep_fini(const struct sctp_env *env, struct sctp_ep *ep)
{
	uint32_t i;

	for (i = 0; i < SCTP_CHAINS; i++)
		while (ep->chain[i] != NULL)
			sctp_assoc_free(env, ep->chain[i]);
	sctp_keyring_free(env, &ep->keys);
}

static struct sctp_assoc **
chain_of(struct sctp_ep *ep, uint16_t pport)
{
	return &ep->chain[(pport ^ pport >> 8) % SCTP_CHAINS];
}

struct sctp_assoc *
sctp_assoc_find(struct sctp_ep *ep, const struct ip_addr *peer, uint16_t pport)
{
	struct sctp_assoc *as = *chain_of(ep, pport);

	for (; as != NULL; as = as->next)
		if (as->pport == pport && sctp_path_find(as, peer) != SCTP_NONE)
			return as;
	return NULL;
}

/*
 * The association that waits for an INIT ACK with @tag: a host with several
 * addresses may answer from one that it was not called by (RFC 9260 s5.1.2 B).
 */
struct sctp_assoc *
sctp_assoc_calling(struct sctp_ep *ep, uint32_t tag, uint16_t pport)
{
	struct sctp_assoc *as = *chain_of(ep, pport);

	for (; as != NULL; as = as->next)
		if (as->pport == pport && as->my_tag == tag &&
			as->state == SCTP_COOKIE_WAIT)
			return as;
	return NULL;
}

/* A tag is random and not zero (RFC 9260 s5.3.1). */
static uint32_t
new_tag(const struct sctp_env *env)
{
	uint32_t tag;

	do
		env->random(env->arg, &tag, sizeof(tag));
	while (tag == 0);
	return tag;
}

/* An association in the table, in state CLOSED, without addresses. */
struct sctp_assoc *
sctp_assoc_new(const struct sctp_env *env, struct sctp_ep *ep, uint16_t pport)
{
	struct sctp_assoc *as = env->alloc(env->arg, sizeof(*as));
	uint32_t first[2];

	if (as == NULL)
		return NULL;
	__builtin_memset(as, 0, sizeof(*as));
	if (sctp_keyring_copy(env, &as->keys, &ep->keys) != 0) {
		env->release(env->arg, as, sizeof(*as));
		return NULL;
	}
	as->ep = ep;
	as->conf = ep->conf;
	as->lport = ep->port;
	as->pport = pport;
	as->instruction = ep->instruction;
	as->my_tag = new_tag(env);
	env->random(env->arg, first, sizeof(first));
	sctp_assoc_my_tsn(as, first[0]);
	as->tree_salt = first[1];
	as->peer_rwnd = SCTP_RWND_LEAST;
	as->scheduler = as->conf.scheduler;
	as->active = SCTP_NONE;
	as->next = *chain_of(ep, pport);
	*chain_of(ep, pport) = as;
	ep->nassoc++;
	return as;
}

/* Our first TSN; there are no chunks. */
void
sctp_assoc_my_tsn(struct sctp_assoc *as, uint32_t first)
{
	as->my_first = as->next_tsn = as->lost_from = as->reconf_seq = first;
	as->asconf_serial = first;
	as->acked = as->advanced = as->told = first - 1;
	as->jumped = 0;
}

/* The peer's first TSN. */
void
sctp_assoc_peer_tsn(struct sctp_assoc *as, uint32_t first)
{
	as->peer_first = as->peer_reconf = as->peer_asconf = first;
	as->answer[0] = as->answer[1] = SCTP_R_BAD_SEQ;
	as->cum = as->high = first - 1;
	__builtin_memset(as->map, 0, sizeof(as->map));
}

void
sctp_assoc_unlink(struct sctp_assoc *as)
{
	struct sctp_assoc **p;

	if (as->ep == NULL)
		return;
	for (p = chain_of(as->ep, as->pport); *p != as; p = &(*p)->next)
		;
	*p = as->next;
	as->ep->nassoc--;
	as->ep = NULL;
}

/* It is over.  What is owed other than an ABORT or the like is not sent. */
void
sctp_assoc_down(struct sctp_assoc *as, enum sctp_down why)
{
	uint32_t i;

	if (as->down != SCTP_DOWN_NOT)
		return;
	as->state = SCTP_CLOSED;
	as->down = (uint8_t)why;
	as->events |= SCTP_EV_DOWN;
	as->owes &= SCTP_OWES_ABORT | SCTP_OWES_SHUTDOWN_COMPLETE;
	as->t1_at = as->t2_at = as->t5_at = as->sack_at = as->hold_until = 0;
	if (as->reconf != NULL)
		as->reconf->at = 0;
	if (as->asconf != NULL)
		as->asconf->at = 0;
	for (i = 0; i < as->npaths; i++) {
		as->path[i].t3_at = as->path[i].hb_at = 0;
		as->path[i].hb_owed = 0;
	}
	sctp_assoc_unlink(as);
}

/*
 * The arrays of streams; SSNs for sending are kept if there were some.  0: no
 * memory.
 */
int
sctp_assoc_streams(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t nout, uint32_t nin)
{
	struct sctp_out_stream *out;
	struct sctp_in_stream *in;

	out = env->alloc(env->arg, nout * sizeof(*out));
	in = env->alloc(env->arg, nin * sizeof(*in));
	if (out == NULL || in == NULL) {
		if (out != NULL)
			env->release(env->arg, out, nout * sizeof(*out));
		if (in != NULL)
			env->release(env->arg, in, nin * sizeof(*in));
		return 0;
	}
	__builtin_memset(out, 0, nout * sizeof(*out));
	__builtin_memset(in, 0, nin * sizeof(*in));
	if (as->out != NULL) {
		sctp_send_fewer(env, as, nout);
		__builtin_memcpy(out, as->out,
			(nout < as->nout ? nout : as->nout) * sizeof(*out));
		env->release(env->arg, as->out, as->nout * sizeof(*out));
	}
	if (as->in != NULL)
		env->release(env->arg, as->in, as->nin * sizeof(*in));
	as->out = out;
	as->in = in;
	as->nout = (uint16_t)nout;
	as->nin = (uint16_t)nin;
	return 1;
}

/*
 * A longer array of streams
 * @old: the one with *@n entries of @size bytes, which is released
 * @more: entries that it gets.  *n is set.  Return: NULL: no memory.
 */
void *
sctp_assoc_more(const struct sctp_env *env, void *old, uint16_t *n,
	uint32_t more, size_t size)
{
	unsigned char *new = env->alloc(env->arg, more * size);

	if (new == NULL)
		return NULL;
	__builtin_memcpy(new, old, *n * size);
	__builtin_memset(new + *n * size, 0, (more - *n) * size);
	env->release(env->arg, old, *n * size);
	*n = (uint16_t)more;
	return new;
}

/* The pieces from @s on will not be delivered. */
static void
fail(struct sctp_seg *s)
{
	for (; s != NULL; s = s->next)
		sctp_seg_fail(s);
}

/* Everything that was accepted, and is not acknowledged. */
void
sctp_assoc_forget_sent(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_seg *s;
	struct sctp_tx *tx;
	uint32_t tsn, i;

	fail(as->queue);
	fail(as->aside);
	for (i = 0; i < as->nout; i++)
		fail(as->out[i].first);
	as->open = 0; /* what is released is not looked at as its piece */
	for (tsn = as->acked + 1; tsn != as->next_tsn; tsn++) {
		tx = sctp_tx_of(as, tsn);
		if (tx->seg != NULL)
			tx->seg->failed = SCTP_FAILED_SENT;
		sctp_tx_done(env, as, tx);
	}
	as->acked = as->advanced = as->next_tsn - 1;
	while ((s = as->queue) != NULL) {
		as->queue = s->next;
		s->next = NULL;
		sctp_seg_done(env, as, s, s->len - s->sent);
	}
	as->queue_tail = NULL;
	sctp_sched_forget(env, as, 0);
	while ((s = as->aside) != NULL) {
		as->aside = s->next;
		sctp_seg_done(env, as, s, s->len);
	}
	as->aside_tail = NULL;
	as->aside_open = 0;
	as->open = 0;
}

/* Everything that was accepted or received. */
void
sctp_assoc_forget_data(const struct sctp_env *env, struct sctp_assoc *as)
{
	sctp_assoc_forget_sent(env, as);
	sctp_rx_release_all(env, as);
}

void
sctp_assoc_free(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as == NULL)
		return;
	sctp_assoc_unlink(as);
	sctp_reconf_forget(env, as);
	sctp_assoc_forget_data(env, as);
	sctp_report_forget(env, as);
	while (as->control != NULL)
		sctp_control_drop(env, as);
	if (as->tx != NULL)
		env->release(env->arg, as->tx, as->tx_size * sizeof(*as->tx));
	if (as->out != NULL)
		env->release(env->arg, as->out, as->nout * sizeof(*as->out));
	if (as->in != NULL)
		env->release(env->arg, as->in, as->nin * sizeof(*as->in));
	if (as->cookie != NULL)
		env->release(env->arg, as->cookie, as->cookie_len);
	if (as->cause_data != NULL)
		env->release(env->arg, as->cause_data, as->ncause);
	sctp_asconf_forget(env, as);
	sctp_auth_forget(env, as);
	sctp_keyring_free(env, &as->keys);
	env->release(env->arg, as, sizeof(*as));
}

/* ------------------------------------------------- what it tells about itself */

enum sctp_state
sctp_assoc_state(const struct sctp_assoc *as)
{
	return as->state;
}

uint32_t
sctp_events(struct sctp_assoc *as)
{
	uint32_t events = as->events;

	as->events = 0;
	return events;
}

enum sctp_down
sctp_down_reason(const struct sctp_assoc *as)
{
	return as->down;
}

enum sctp_cause
sctp_peer_cause(const struct sctp_assoc *as, const unsigned char **ret_data,
	size_t *ret_n)
{
	*ret_data = as->cause_data;
	*ret_n = as->ncause;
	return as->cause;
}

void
sctp_streams(const struct sctp_assoc *as, uint16_t *ret_out, uint16_t *ret_in)
{
	*ret_out = as->nout;
	*ret_in = as->nin;
}

void
sctp_tags(const struct sctp_assoc *as, uint32_t *ret_mine, uint32_t *ret_peer)
{
	*ret_mine = as->my_tag;
	*ret_peer = as->peer_tag;
}

void
sctp_status(const struct sctp_assoc *as, struct sctp_status *ret)
{
	const struct sctp_path *pa = &as->path[as->primary];

	ret->next_tsn = as->next_tsn;
	ret->acked_tsn = as->acked;
	ret->rcvd_tsn = as->cum;
	ret->unacked = as->snd_bytes;
	ret->flight = as->flight;
	ret->unread = as->rcv_bytes;
	ret->peer_window = as->peer_rwnd;
	ret->window = sctp_rcv_window(as);
	ret->cwnd = pa->cwnd;
	ret->srtt = pa->measured ? pa->srtt : 0;
	ret->rto = pa->rto;
	ret->chunks = as->next_tsn - as->acked - 1;
	ret->fragment = as->frag;
	ret->pr = sctp_has(as, SCTP_X_PR) != 0;
	ret->reconf = sctp_has(as, SCTP_X_RECONF) != 0;
	ret->interleave = sctp_has(as, SCTP_X_IDATA) != 0;
	ret->asconf = sctp_has(as, SCTP_X_ASCONF) != 0;
}

size_t
sctp_unsent(const struct sctp_assoc *as)
{
	return as->snd_bytes;
}

int
sctp_is_idle(const struct sctp_assoc *as)
{
	return (as->state == SCTP_ESTABLISHED ||
		(as->state == SCTP_SHUTDOWN_RECEIVED && as->half_closed)) &&
		as->snd_bytes == 0 && !as->open &&
		as->acked + 1 == as->next_tsn;
}

void **
sctp_user(struct sctp_assoc *as)
{
	return &as->user;
}

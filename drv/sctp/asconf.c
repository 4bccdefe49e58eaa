/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of our addresses, as we ask the peer for them: RFC 5061 s5.1; and the
 * list of the peer's changes for the user.
 *
 * One request is under way at a time.  It has a serial number, and is repeated
 * until an ASCONF ACK with the number arrives; each time without an answer
 * counts as an error of its path.  All of it is authenticated: auth.c.
 */
#include "association.h"

/* Which of our addresses names the association?  One that is not deleted. */
static const struct ip_addr *
name_of(const struct sctp_assoc *as, const struct sctp_asconf *r)
{
	uint32_t i, k;

	for (i = 0; as->ep != NULL && i <= as->ep->nlocal; i++) {
		const struct ip_addr *a = i == 0 ? &as->local :
						   &as->ep->local[i - 1];

		for (k = 0; k < r->n; k++)
			if (r->what == SCTP_ADDR_REMOVED &&
				sctp_addr_eq(a, &r->addr[k]))
				break;
		if (a->len != 0 && k == r->n)
			return a;
	}
	return NULL;
}

static int
request(const struct sctp_env *env, struct sctp_assoc *as, uint32_t what,
	const struct ip_addr *a, uint32_t n)
{
	struct sctp_asconf *r;
	uint32_t i;

	if (as->state != SCTP_ESTABLISHED)
		return EPIPE;
	if (!sctp_has(as, SCTP_X_ASCONF))
		return EOPNOTSUPP;
	if (as->asconf != NULL)
		return EBUSY;
	if (n == 0 || n > SCTP_LOCALS)
		return EINVAL;
	for (i = 0; i < n; i++)
		if (a[i].len != 4 && a[i].len != 16)
			return EINVAL;
	r = env->alloc(env->arg, sizeof(*r));
	if (r == NULL)
		return ENOMEM;
	__builtin_memset(r, 0, sizeof(*r));
	r->what = what;
	r->n = n;
	__builtin_memcpy(r->addr, a, n * sizeof(*a));
	if (name_of(as, r) == NULL) { /* the last one is not deleted */
		env->release(env->arg, r, sizeof(*r));
		return EINVAL;
	}
	r->serial = as->asconf_serial;
	as->asconf = r;
	as->owes |= SCTP_OWES_ASCONF;
	return 0;
}

int
sctp_addr_add(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a, uint32_t n)
{
	return request(env, as, SCTP_ADDR_ADDED, a, n);
}

int
sctp_addr_delete(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a, uint32_t n)
{
	return request(env, as, SCTP_ADDR_REMOVED, a, n);
}

int
sctp_addr_primary(const struct sctp_env *env, struct sctp_assoc *as,
	const struct ip_addr *a)
{
	return request(env, as, SCTP_ADDR_PRIMARY, a, 1);
}

/* If our address that names the association was deleted, another one does. */
static void
rename_local(struct sctp_assoc *as)
{
	const struct ip_addr *a = name_of(as, as->asconf);

	if (a != NULL && a != &as->local)
		as->local = *a;
}

/* The request is over. */
static void
done(const struct sctp_env *env, struct sctp_assoc *as, uint32_t cause)
{
	as->addr_result = (uint16_t)cause;
	as->addr_what = (uint8_t)as->asconf->what;
	if (cause == SCTP_E_NONE && as->asconf->what == SCTP_ADDR_REMOVED)
		rename_local(as);
	as->events |= SCTP_EV_ADDR;
	env->release(env->arg, as->asconf, sizeof(*as->asconf));
	as->asconf = NULL;
	as->asconf_serial++;
	as->owes &= ~SCTP_OWES_ASCONF;
}

void
sctp_asconf_forget(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->asconf != NULL)
		env->release(env->arg, as->asconf, sizeof(*as->asconf));
	as->asconf = NULL;
	if (as->asconf_ack != NULL)
		env->release(env->arg, as->asconf_ack,
			sizeof(*as->asconf_ack));
	as->asconf_ack = NULL;
	if (as->changed != NULL)
		env->release(env->arg, as->changed, sizeof(*as->changed));
	as->changed = NULL;
	as->owes &= ~SCTP_OWES_ASCONF;
}

/* sctp_asconf_put - the request, as a chunk to @path: s4.1.1 */
void
sctp_asconf_put(const struct sctp_env *env, struct sctp_assoc *as,
	struct sctp_out *o, uint32_t path)
{
	static const uint16_t types[] = {0, SCTP_P_ADD_ADDR, SCTP_P_DELETE_ADDR,
		SCTP_P_PRIMARY};
	unsigned char list[20 + SCTP_LOCALS * 28], *p;
	struct sctp_asconf *r = as->asconf;
	const struct ip_addr *name = name_of(as, r);
	uint32_t i, len;
	size_t n = 0;

	/* the addresses of the endpoint may have changed since the request */
	n += sctp_put_addr(list, name != NULL ? name : &as->local);
	for (i = 0; i < r->n; i++) {
		len = SCTP_ASCONF_HDR + SCTP_TLV + r->addr[i].len;
		sctp_put16(list + n, types[r->what]);
		sctp_put16(list + n + 2, len);
		sctp_put32(list + n + 4, i + 1);
		(void)sctp_put_addr(list + n + SCTP_ASCONF_HDR, &r->addr[i]);
		n += len;
	}
	sctp_out_widen(o, SCTP_C_ASCONF, SCTP_ASCONF_HDR + n);
	p = sctp_out_chunk(o, SCTP_C_ASCONF, 0, SCTP_ASCONF_HDR + n);
	if (p == NULL && o->n > SCTP_HDR)
		return; /* the next packet has room */
	if (p != NULL) {
		sctp_put32(p + SCTP_ASCONF_SERIAL, r->serial);
		__builtin_memcpy(p + SCTP_ASCONF_HDR, list, n);
	}
	as->owes &= ~SCTP_OWES_ASCONF;
	r->path = path;
	r->at = env->now + as->path[path].rto;
}

/* s5.1 (B3): T4 has expired; the next one goes another way, if there is one. */
void
sctp_asconf_expired(const struct sctp_env *env, struct sctp_assoc *as)
{
	struct sctp_asconf *r = as->asconf;
	uint32_t path = r->path < as->npaths ? r->path : as->primary;

	r->at = 0;
	sctp_rto_backoff(&as->conf, &as->path[path]);
	sctp_path_error(env, as, path);
	if (as->down != SCTP_DOWN_NOT)
		return;
	r->repeated = 1;
	as->owes |= SCTP_OWES_ASCONF;
}

/* Where the request goes. */
uint32_t
sctp_asconf_path(const struct sctp_assoc *as)
{
	const struct sctp_asconf *r = as->asconf;

	return r->repeated && r->path < as->npaths ?
		sctp_path_other(as, r->path) : sctp_path_for_data(as);
}

/* The first cause of an error indication; SCTP_E_PROTOCOL: it has none. */
static uint32_t
cause_of(const struct sctp_tlv *t)
{
	return t->len >= SCTP_ASCONF_HDR + SCTP_TLV ?
		sctp_get16(t->p + SCTP_ASCONF_HDR) : SCTP_E_PROTOCOL;
}

/* s5.1 (D), (E): the answer. */
void
sctp_asconf_ack_received(struct sctp_in *in, const struct sctp_tlv *c)
{
	struct sctp_assoc *as = in->as;
	uint32_t serial, cause = SCTP_E_NONE;
	size_t at = SCTP_ASCONF_HDR;
	struct sctp_tlv t;

	if (in->auth <= 0 || c->len < SCTP_ASCONF_HDR)
		return;
	serial = sctp_get32(c->p + SCTP_ASCONF_SERIAL);
	if (as->asconf == NULL || serial != as->asconf->serial) {
		/* s5.1 (E6): one that we have not sent yet */
		if (!sctp_before(serial, as->asconf_serial +
			(as->asconf != NULL)))
			sctp_abort_with(in->env, as, SCTP_DOWN_PROTOCOL,
				SCTP_E_ASCONF_ACK, NULL, 0);
		return;
	}
	while (sctp_param_next(c->p, c->len, &at, &t) == 1)
		if (t.type == SCTP_P_ASCONF_ERROR && cause == SCTP_E_NONE)
			cause = cause_of(&t);
	as->errors = 0;
	done(in->env, as, cause);
}

/* The peer does not know the chunk: ERROR, "unrecognized chunk". */
void
sctp_asconf_unknown(const struct sctp_env *env, struct sctp_assoc *as)
{
	if (as->asconf != NULL)
		done(env, as, SCTP_E_CHUNK);
}

/* ------------------------------------------------------ the peer's changes */

/* sctp_addr_changed - the peer has changed @a; the user will be told */
void
sctp_addr_changed(const struct sctp_env *env, struct sctp_assoc *as,
	uint32_t what, const struct ip_addr *a)
{
	struct sctp_addr_list *l = as->changed;

	as->events |= SCTP_EV_ADDR_PEER;
	if (l == NULL) {
		l = as->changed = env->alloc(env->arg, sizeof(*l));
		if (l == NULL)
			return; /* the user has the event */
		l->first = l->n = 0;
	}
	if (l->n == SCTP_ADDR_CHANGES) { /* the oldest one is lost */
		l->first = (l->first + 1) % SCTP_ADDR_CHANGES;
		l->n--;
	}
	l->e[(l->first + l->n) % SCTP_ADDR_CHANGES].what = what;
	l->e[(l->first + l->n++) % SCTP_ADDR_CHANGES].addr = *a;
}

uint32_t
sctp_addr_change(struct sctp_assoc *as, struct ip_addr *ret)
{
	struct sctp_addr_list *l = as->changed;
	uint32_t what;

	if (l == NULL || l->n == 0)
		return 0;
	what = l->e[l->first].what;
	*ret = l->e[l->first].addr;
	l->first = (l->first + 1) % SCTP_ADDR_CHANGES;
	l->n--;
	return what;
}

uint32_t
sctp_addr_result(const struct sctp_assoc *as, uint32_t *ret_what)
{
	*ret_what = as->addr_what;
	return as->addr_result;
}

int
sctp_peer_adaptation(const struct sctp_assoc *as, uint32_t *ret)
{
	*ret = as->adaptation;
	return sctp_has(as, SCTP_X_ADAPTS);
}

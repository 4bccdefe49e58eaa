/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints with many associations: sockets of the one-to-many style.
 *
 * To TPI such an endpoint has datagrams: it is idle as long as it is bound.  An
 * association has a number, by which the user names it in the options of a
 * message; it begins by SCTPIO_CONNECT, or when a caller's cookie arrives.  All
 * that happens to it is told by notes.  Messages of all associations lie on one
 * read queue.
 *
 * Objects.  struct sctpt_member names the slot of an association, by number, in
 * a chain of the endpoint.  A member whose slot has another generation is dead,
 * and is used again; members are freed when the stream is closed.
 *
 * Locks.  The provider's, to put a member into its chain.  A reader takes no
 * lock: in the turn of the slot it finds out whether the association has the
 * number.
 *
 * Crash.  A member is in its chain before the association can be found by
 * packets, so a close finds all associations.
 */
#include "sctp_t.h"

#define CHAINS 256u
#define FIRST 16u /* smaller numbers have a meaning in RFC 6458 */

struct sctpt_member {
	struct sctpt_member *next; /* [I] */
	struct sctpt_slot *slot;   /* provider's lock */
	volatile uint32_t gen;	   /* [A] of the slot */
	volatile uint32_t id;	   /* [A] */
};

struct sctpt_many {
	volatile uint32_t last; /* [A] number */
	struct sctpt_member *volatile chain[CHAINS];
};

int
sctpt_many_begin(struct sctpt *u)
{
	struct sctpt_many *m = kmem_zalloc(sizeof(*m), KM_NOSLEEP);

	if (m == NULL)
		return ENOSR;
	m->last = FIRST;
	str_store_rel(&u->many, m);
	return 0;
}

static int
is_dead(const struct sctpt_member *m)
{
	return str_load_acq(&m->slot->gen) != str_load(&m->gen);
}

/*
 * sctpt_many_add - @c, with its slot, becomes an association of @u, as soon as
 * the slot is in use.  Context: the slot's turn.  Return: 0, or ENOSR.
 */
int
sctpt_many_add(struct sctpt *u, struct sctpt_conn *c)
{
	struct sctpt_member *m, *new = kmem_zalloc(sizeof(*new), KM_NOSLEEP);
	struct sctpt_member *volatile *chain;
	uint32_t id;

	if (new == NULL)
		return ENOSR;
	id = __atomic_add_fetch(&u->many->last, 1u, __ATOMIC_RELAXED) &
		0x7fffffff;
	chain = &u->many->chain[id % CHAINS];
	mutex_enter(&u->st->prov.lock);
	for (m = *chain; m != NULL && !is_dead(m);)
		m = m->next;
	if (m == NULL) {
		m = new;
		new = NULL;
		m->next = *chain;
		m->slot = c->slot;
		m->gen = c->slot->gen; /* dead so far */
		m->gen--;
		__atomic_store_n(chain, m, __ATOMIC_RELEASE);
	}
	m->slot = c->slot;
	str_store(&m->id, id);
	str_store_rel(&m->gen, c->slot->gen + 1);
	mutex_exit(&u->st->prov.lock);
	if (new != NULL)
		kmem_free(new, sizeof(*new));
	c->id = id;
	return 0;
}

/* sctpt_many_slot - the slot of association @id; NULL: none */
struct sctpt_slot *
sctpt_many_slot(const struct sctpt *u, uint32_t id)
{
	const struct sctpt_member *m = str_load_acq(
		&u->many->chain[id % CHAINS]);

	for (; m != NULL; m = m->next)
		if (str_load(&m->id) == id && !is_dead(m))
			return m->slot;
	return NULL;
}

/* sctpt_many_forget - association @id is another endpoint's now */
void
sctpt_many_forget(struct sctpt *u, uint32_t id)
{
	struct sctpt_member *m = u->many->chain[id % CHAINS];

	for (; m != NULL; m = m->next)
		if (str_load(&m->id) == id)
			str_store(&m->gen, m->gen - 1); /* dead */
}

/*
 * sctpt_many_next - the slots of all associations, one after the other
 * @at: 0 at first.  Return: NULL: that was all.
 */
struct sctpt_slot *
sctpt_many_next(const struct sctpt *u, uint32_t *at, const void **pos)
{
	const struct sctpt_member *m;

	for (; *at < CHAINS; ++*at, *pos = NULL) {
		m = *pos != NULL ? ((const struct sctpt_member *)*pos)->next :
				   str_load_acq(&u->many->chain[*at]);
		for (; m != NULL; m = m->next)
			if (!is_dead(m)) {
				*pos = m;
				return m->slot;
			}
	}
	return NULL;
}

/* sctpt_many_id - the number of the association at @pos of sctpt_many_next() */
uint32_t
sctpt_many_id(const void *pos)
{
	return str_load(&((const struct sctpt_member *)pos)->id);
}

/* sctpt_many_end - the stream has been closed */
void
sctpt_many_end(struct sctpt *u)
{
	struct sctpt_many *many = u->many;
	struct sctpt_member *m;
	uint32_t i;

	u->many = NULL; /* a killed closer leaks what is left */
	for (i = 0; i < CHAINS; i++)
		while ((m = many->chain[i]) != NULL) {
			many->chain[i] = m->next;
			kmem_free(m, sizeof(*m));
		}
	kmem_free(many, sizeof(*many));
}

/* sctpt_many_serve - data of some associations waits for room that there is */
void
sctpt_many_serve(struct sctpt *u)
{
	const void *pos = NULL;
	struct sctpt_slot *sl;
	uint32_t at = 0;

	if (str_load(&u->stuck) == 0)
		return;
	str_store(&u->stuck, 0u);
	str_fence_full();
	while ((sl = sctpt_many_next(u, &at, &pos)) != NULL)
		if (str_load(&sl->full) != 0)
			sctpt_serve(sl, 0);
}

/*
 * sctpt_unit - a T_UNITDATA_IND from the peer of @c with one option
 * Return: NULL: no memory.
 */
mblk_t *
sctpt_unit(const struct sctpt_conn *c, uint32_t name, const void *val,
	size_t len)
{
	struct t_opthdr h = {.len = (t_uscalar_t)(sizeof(h) + len),
		.level = T_INET_SCTP, .name = name, .status = T_SUCCESS};
	struct T_unitdata_ind ui = {.PRIM_type = T_UNITDATA_IND,
		.OPT_offset = sizeof(ui), .OPT_length = (t_scalar_t)h.len};
	mblk_t *mp = allocb(sizeof(ui) + h.len + sizeof(struct sockaddr_in6),
		BPRI_HI);

	if (mp == NULL)
		return NULL;
	DB_TYPE(mp) = M_PROTO;
	ui.SRC_offset = (t_scalar_t)(sizeof(ui) + h.len);
	ui.SRC_length = (t_scalar_t)sctpt_addr_put(mp->b_wptr + ui.SRC_offset,
		&c->peer, c->slot->pport, c->user->family);
	bcopy(&ui, mp->b_wptr, sizeof(ui));
	bcopy(&h, mp->b_wptr + sizeof(ui), sizeof(h));
	bcopy(val, mp->b_wptr + sizeof(ui) + sizeof(h), len);
	mp->b_wptr += ui.SRC_offset + ui.SRC_length;
	return mp;
}

/*
 * sctpt_many_idle - end the association if no data has passed for the user's
 * time; in the turn
 * Return: when it is to be looked at again, us; 0: never.
 */
uint64_t
sctpt_many_idle(struct sctpt_conn *c, const struct sctp_env *env)
{
	uint64_t at;

	if (c->user == NULL || c->user->many == NULL || c->ours ||
		str_load(&c->user->autoclose) == 0 ||
		sctp_assoc_state(c->as) != SCTP_ESTABLISHED)
		return 0;
	if (c->active_at == 0)
		c->active_at = env->now;
	at = c->active_at + (uint64_t)str_load(&c->user->autoclose) * SCTP_S;
	if (env->now < at)
		return at;
	c->ours = 1;
	(void)sctp_shutdown(env, c->as);
	return 0;
}

/* sctpt_many_report - messages of any association that fail are reported, or not */
void
sctpt_many_report(struct sctpt *u, int on)
{
	const void *pos = NULL;
	struct sctpt_conn *c;
	struct sctp_conf conf;
	struct sctp_env env;
	uint32_t at = 0;

	while (sctpt_many_next(u, &at, &pos) != NULL) {
		if (sctpt_enter_wait(u, sctpt_many_id(pos), &c) != 0)
			continue;
		sctpt_env(&env, c);
		sctp_get_conf(c->as, &conf);
		conf.report = on != 0;
		(void)sctp_set_conf(&env, c->as, &conf);
		sctpt_serve_owned(c->slot, 1);
	}
}

/* ------------------------------------------------------------------ requests */

/* SCTPIO_FIND: the association with the peer's address. */
static int
find(const struct sctpt *u, const struct ip_addr *a, uint16_t port,
	uint32_t *ret)
{
	uint32_t i, k, at = 0;
	const void *pos = NULL;
	struct sctpt_conn *c;
	struct sctpt_slot *sl;
	struct ip_addr peer;
	int ok, found = 0;

	while (!found && (sl = sctpt_many_next(u, &at, &pos)) != NULL) {
		if (sl->pport != port)
			continue;
		k = sctpt_many_id(pos);
		if (sctpt_enter_wait((struct sctpt *)(uintptr_t)u, k, &c) != 0)
			continue;
		for (i = 0; i < sctp_path_count(c->as); i++) {
			(void)sctp_path_state(c->as, i, &peer, &ok);
			found |= sctpt_addr_eq(&peer, a);
		}
		sctpt_serve_owned(c->slot, 1);
		*ret = k;
	}
	return found ? 0 : ENOTCONN;
}

int
sctpt_many_find(struct sctpt *u, const struct ip_addr *a, uint16_t port,
	mblk_t **ret)
{
	struct sctpio_word w = {.assoc = 0};
	int err = find(u, a, port, &w.assoc);

	if (err != 0)
		return err;
	*ret = canon_block(&w, sizeof(w));
	return *ret != NULL ? 0 : ENOSR;
}

/* SCTPIO_ASSOCS: as many numbers as there is room for. */
int
sctpt_many_list(struct sctpt *u, mblk_t **ret)
{
	struct sctpio_assocs o = {.n = 0};
	const void *pos = NULL;
	uint32_t at = 0;

	while (sctpt_many_next(u, &at, &pos) != NULL) {
		if (o.n < SCTPIO_ASSOCS_MOST)
			o.id[o.n] = sctpt_many_id(pos);
		o.n++;
	}
	*ret = canon_block(&o, sizeof(o));
	return *ret != NULL ? 0 : ENOSR;
}

/* The option T_SCTP_SNDINFO.  0, or EINVAL. */
static int
read_sndinfo(const struct tpi_buf *opts, struct sctpio_sndinfo *ret)
{
	struct t_opthdr h;

	if (opts->len < sizeof(h) + sizeof(*ret))
		return EINVAL;
	bcopy(opts->buf, &h, sizeof(h));
	if (h.level != T_INET_SCTP || h.name != T_SCTP_SNDINFO ||
		h.len != sizeof(h) + sizeof(*ret))
		return EINVAL;
	bcopy(opts->buf + sizeof(h), ret, sizeof(*ret));
	return 0;
}

/*
 * Op unitdata: a message for the association that its option names.  An empty
 * one ends the association.
 */
int
sctpt_many_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp)
{
	struct sctpt *u = sctpt_of(tp);
	struct sctpio_sndinfo s;
	struct sctp_info info;
	struct sctpt_conn *c;
	struct sctp_env env;
	int err = read_sndinfo(opts, &s);

	(void)to;
	if (err == 0)
		err = sctpt_sndinfo(&s, &info);
	if (err == 0)
		err = sctpt_enter_member(u, s.assoc, 0, &c);
	if (err != 0)
		return err == ESRCH ? ENOTCONN : err;
	sctpt_env(&env, c);
	if (mp->b_cont != NULL && msgdsize(mp->b_cont) != 0)
		err = sctpt_give(c, &env, mp->b_cont, &info);
	else if (s.eof)
		err = sctp_shutdown(&env, c->as);
	if (err == 0 && s.eof) {
		c->ours = 1;
		(void)sctp_shutdown(&env, c->as);
	}
	if (err == 0)
		c->wet = 1;
	if (err == ENOMEM)
		tpi_retry(tp);
	if (err == 0) {
		tpi_went(tp);
		str_msg_settle(mp);
		freemsg(mp);
	}
	sctpt_serve_owned(c->slot, 1);
	return err == ENOMEM ? EAGAIN : err;
}

/* The write queue of a stream that is closed: its associations get the rest. */
void
sctpt_many_rest(struct sctpt *u)
{
	const struct T_unitdata_req *ur;
	struct sctpio_sndinfo s;
	struct sctp_info info;
	struct sctpt_conn *c;
	struct sctp_env env;
	struct tpi_buf opts;
	mblk_t *mp;

	while ((mp = getq(WR(u->tpi.rq))) != NULL) {
		ur = (const struct T_unitdata_req *)(const void *)mp->b_rptr;
		str_msg_settle(mp);
		if (DB_TYPE(mp) == M_PROTO &&
			MBLKL(mp) >= (ssize_t)sizeof(*ur) &&
			ur->PRIM_type == T_UNITDATA_REQ &&
			ur->OPT_offset >= (t_scalar_t)sizeof(*ur) &&
			ur->OPT_length >= 0 && (ssize_t)(ur->OPT_offset +
				ur->OPT_length) <= MBLKL(mp)) {
			opts.buf = mp->b_rptr + ur->OPT_offset;
			opts.len = (unsigned int)ur->OPT_length;
			if (mp->b_cont != NULL &&
				read_sndinfo(&opts, &s) == 0 &&
				sctpt_sndinfo(&s, &info) == 0 &&
				sctpt_enter_wait(u, s.assoc, &c) == 0) {
				info.flags |= SCTP_SEND_FORCE;
				sctpt_env(&env, c);
				(void)sctpt_give(c, &env, mp->b_cont, &info);
				sctpt_serve_owned(c->slot, 1);
			}
		}
		freemsg(mp);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Conns: the engine's memory, made and freed; what is done when a thread was
 * killed in the engine.
 *
 * Memory.  Each block that the engine allocates is on a list of its conn.  One
 * store links a block to the list, or unlinks it; so the list can be walked
 * after a crash, while the engine's own lists may be half changed.  A thread
 * that is killed between the store and kmem_free() leaks one block.
 */
#include "sctp_t.h"

/* ------------------------------------------------------- the engine's caller */

static void *
lend(void *arg, size_t n)
{
	struct sctpt_conn *c = arg;
	struct sctpt_blk *b = kmem_alloc(n + sizeof(*b), KM_NOSLEEP);

	if (b == NULL)
		return NULL;
	b->n = n + sizeof(*b);
	b->next = c->blocks;
	b->prev = NULL;
	if (b->next != NULL)
		b->next->prev = b;
	str_store_rel(&c->blocks, b);
	return b + 1;
}

static void
give_back(void *arg, void *p, size_t n)
{
	struct sctpt_conn *c = arg;
	struct sctpt_blk *b = (struct sctpt_blk *)p - 1;

	(void)n;
	if (b->prev == NULL)
		str_store_rel(&c->blocks, b->next);
	else
		str_store_rel(&b->prev->next, b->next);
	if (b->next != NULL)
		b->next->prev = b->prev;
	kmem_free(b, b->n);
}

static void
noise(void *arg, void *p, size_t n)
{
	unsigned char *to = p;
	uint64_t r;
	size_t k;

	(void)arg;
	for (; n != 0; n -= k, to += k) {
		r = str_random();
		k = n < sizeof(r) ? n : sizeof(r);
		bcopy(&r, to, k);
	}
}

void
sctpt_env(struct sctp_env *env, struct sctpt_conn *c)
{
	env->now = sctpt_now();
	env->arg = c;
	env->alloc = lend;
	env->release = give_back;
	env->random = noise;
}

/* ------------------------------------------------------------ made and freed */

/* sctpt_conn_make - a conn for an endpoint of @port, without a slot; NULL */
struct sctpt_conn *
sctpt_conn_make(const struct sctp_conf *conf, uint16_t port)
{
	struct sctpt_conn *c = kmem_zalloc(sizeof(*c), KM_NOSLEEP);
	struct sctp_env env;

	if (c == NULL)
		return NULL;
	sctpt_env(&env, c);
	sctp_ep_init(&env, &c->ep, port);
	c->ep.conf = *conf;
	c->id = SCTPT_ONE;
	return c;
}

/*
 * sctpt_conn_name - packets for @c's association go to @sl from now on
 * An address that the peer has listed may be another host's until it is
 * confirmed: an INIT from there is one for the listener.
 */
void
sctpt_conn_name(struct sctpt_conn *c, struct sctpt_slot *sl)
{
	uint32_t i, n = sctp_path_count(c->as), named = 0, mine;
	struct ip_addr a;
	int ok;

	sctp_tags(c->as, &mine, &c->peer_tag);
	for (i = 0; i < n; i++) {
		(void)sctp_path_state(c->as, i, &a, &ok);
		if (i == 0)
			c->peer = a;
		if (ok)
			str_store(&sl->peer[named++], sctpt_addr_hash(&a));
	}
	str_store(&sl->npeer, named);
	str_store(&sl->tag, mine);
}

/*
 * sctpt_conn_unname - the association is over: packets of its ports are for
 * others from now on
 */
void
sctpt_conn_unname(struct sctpt_slot *sl)
{
	str_store(&sl->tag, 0u);
	str_store(&sl->npeer, 0u);
}

/* A block with a shared key of AUTH is not larger. */
#define SECRET_MOST (sizeof(struct sctpt_blk) + 64 + SCTP_AUTH_KEYLEN)

/* The memory may become another user's: what may be a key is wiped. */
static void
free_blocks(struct sctpt_conn *c)
{
	struct sctpt_blk *b;
	size_t n;

	while ((b = c->blocks) != NULL) {
		str_store_rel(&c->blocks, b->next);
		n = b->n;
		if (n <= SECRET_MOST)
			bzero(b, n);
		kmem_free(b, n);
	}
	c->as = NULL;
	bzero(&c->ep.keys, sizeof(c->ep.keys));
}

/* sctpt_conn_free - forget @c without a packet; NULL is permitted */
void
sctpt_conn_free(struct sctpt_state *st, struct sctpt_conn *c)
{
	uint32_t i;

	if (c == NULL)
		return;
	for (i = 0; i < SCTP_NCOUNTS; i++)
		if (c->ep.count[i] != 0)
			(void)__atomic_fetch_add(&st->count[i],
				c->ep.count[i], __ATOMIC_RELAXED);
	free_blocks(c);
	kmem_free(c, sizeof(*c));
}

/*
 * sctpt_slot_close - the slot is not in use any more, and its conn is freed
 * Context: the turn.
 */
void
sctpt_slot_close(struct sctpt_state *st, struct sctpt_slot *sl)
{
	struct sctpt_conn *c = sl->conn;
	mblk_t *mp, *next;

	(void)str_timer_stop(sl->timer);
	str_store(&sl->armed, (uint64_t)0);
	if ((sl->gen & 1) != 0)
		__atomic_store_n(&sl->gen, sl->gen + 1, __ATOMIC_RELEASE);
	STR_POINT("sctp:closed");
	str_store_rel(&sl->user, (struct sctpt *)NULL);
	str_store_rel(&sl->idle, 0u);
	sl->conn = NULL;
	sctpt_conn_free(st, c);
	while ((mp = sctpt_late_take(sl)) != NULL)
		freemsg(mp);
	for (mp = sctpt_take_inbox(sl); mp != NULL; mp = next) {
		next = mp->b_next;
		mp->b_next = NULL;
		freemsg(mp);
	}
}

/* ------------------------------------------------------------- the user's side */

/*
 * sctpt_hold - keep the stream of the conn's user where it is, in the turn
 * Return: 1; 0: its closer has died, so no message may be put there now.
 */
int
sctpt_hold(struct sctpt_conn *c, struct str_hold *h)
{
	int err;

	h->pl = NULL;
	if (c->user == NULL && c->listener == NULL)
		return 0;
	err = str_hold(h, &c->ref);
	if (err == EBUSY)
		str_hold_note(h, &c->ref); /* a closer waits for the turn */
	else if (err != 0)
		h->pl = NULL;
	return err != ESRCH;
}

void
sctpt_unhold(struct str_hold *h)
{
	if (h->pl != NULL)
		str_unhold(h);
}

/*
 * sctpt_tell_end - the association is over: inform its user, and part from it
 * Data that waits on the write queue is dropped by its service procedure, which
 * wakes the writer.
 */
void
sctpt_tell_end(struct sctpt_conn *c, int error, mblk_t *data)
{
	queue_t *rq;

	if (c->user != NULL) {
		rq = c->user->tpi.rq;
		sctpt_near_in_end(c);
		sctpt_near_out_end(c);
		if (!c->calling || c->user->many != NULL)
			sctpt_note_down(c, error, c->calling ?
				SCTPIO_COMM_FAILED : SCTPIO_COMM_LOST);
		if (c->user->many == NULL && tpi_discon_ind(&c->user->tpi, error, data) == 0)
			data = NULL;
		c->user = NULL;
		qenable(WR(rq));
	} else if (c->listener != NULL) {
		(void)tpi_conn_gone(&c->listener->tpi, c->slot, error, data);
		if (c->listener->home != NULL &&
			str_load_acq(&c->listener->home->late) != NULL)
			sctpt_soon(c->listener->home);
		c->listener = NULL;
		data = NULL;
	}
	if (data != NULL)
		freemsg(data);
}

/* ----------------------------------------------------------------- after a crash */

/* sctpt_conn_abort - an ABORT as the engine would make it */
void
sctpt_conn_abort(const struct sctpt_conn *c, struct sctpt_list *out)
{
	unsigned char buf[64];
	struct sctp_packet pkt = {.p = buf, .size = sizeof(buf),
		.src = c->from, .dst = c->peer};

	if (c->peer_tag == 0 || c->peer.len == 0)
		return;
	out->encap = c->encap;
	pkt.n = sctp_abort_packet(buf, c->slot->lport, c->slot->pport,
		c->peer_tag);
	sctpt_append(out, &pkt);
}

/*
 * sctpt_conn_mend - the last owner of the turn was killed during it
 * An association is aborted.  A home has none, and its endpoint of the engine
 * begins again.  Context: the turn.
 */
void
sctpt_conn_mend(struct sctpt_state *st, struct sctpt_slot *sl,
	struct sctpt_list *out)
{
	struct sctpt_conn *c = sl->conn;
	struct str_hold h;

	if (sl->home && sctpt_in_use(sl) && c != NULL) {
		free_blocks(c);
		bzero(c->ep.chain, sizeof(c->ep.chain));
		c->ep.nassoc = 0;
	} else if (sctpt_in_use(sl) && c != NULL) {
		sctpt_conn_abort(c, out);
		if (sctpt_hold(c, &h))
			sctpt_tell_end(c, ECONNABORTED, NULL);
		sctpt_unhold(&h);
		if (c->user != NULL || c->listener != NULL)
			return; /* busy: the closer's successor tries again */
		free_blocks(c);
		c->last = 1;
	} else {
		sctpt_slot_close(st, sl);
	}
	STR_POINT("sctp:mended");
	str_store_rel(&sl->busy, 0u);
}

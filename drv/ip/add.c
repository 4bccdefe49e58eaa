/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires that are streams: made, looked after, and taken away.
 *
 * Life.  A stream becomes a wire by IPW_ADD, and is one until it is closed.
 * strwire(8) links it below another stream of this driver, to stay, so that it
 * outlives the tool, and streamsd watches its descriptors; by I_PUNLINK it is
 * closed.  An entry is in the table from the store of an odd `gen' to that of
 * an even one.
 *
 * A clock of the stream's looks twice a second whether the descriptors are
 * there still.  They are gone when streamsd, which held the last ones, was
 * killed; then the process the clock ticks for, the next streamsd as a rule, makes
 * others.  What is sent or comes meanwhile is lost, as on any network.
 *
 * The clock is wound before anything else is done at its tick.  That of one that
 * was killed on its way there stands still; a process that sends, or has the wires
 * listed, and the clocks of other wires, see that, and enable the stream, whose
 * service procedure winds it again.
 *
 * Crash.  An entry whose stream is gone has no owner: a process killed while it adds a
 * wire leaves one that is in no table, and whose close dies one that the next
 * takes out that wants to send there, has the wires listed, or looks for a place.
 * Not before another has gone on with the close: until then the stream's clock
 * may tick, and its procedures run, and they know the entry.  Descriptors go with
 * the stream.
 */
#include "ip_impl.h"

#define TICKS (HZ / 2)
#define SLOW 3000000000ull /* ns without a tick: the clock stands still */
#define MTU 1500u

static int
is_text(const char *s)
{
	unsigned int i;

	for (i = 0; i < IPW_NAMELEN; i++)
		if (s[i] == '\0')
			return 1;
	return 0;
}

static int
is_addr(const struct ipw_addr *a)
{
	return a->len == 0 || (a->len == 4 && a->bits <= 32) ||
		(a->len == 16 && a->bits <= 128);
}

static int
check(const struct ipw_conf *c)
{
	unsigned int i, own = 0;

	if (!is_text(c->name) || c->name[0] == '\0' || !is_text(c->ifname))
		return EINVAL;
	for (i = 0; i < IPW_NOWN; i++) {
		if (!is_addr(&c->own[i]))
			return EINVAL;
		own += c->own[i].len != 0;
	}
	for (i = 0; i < IPW_NROUTE; i++)
		if (!is_addr(&c->route[i]))
			return EINVAL;
	if (!is_addr(&c->gateway[0]) || c->gateway[0].len == 16 ||
		!is_addr(&c->gateway[1]) || c->gateway[1].len == 4)
		return EINVAL;
	if (own == 0 || c->kind < IPW_RAW || c->kind > IPW_PACKET)
		return EINVAL;
	if (c->mtu != 0 && (c->mtu < IP4_MTU || c->mtu > IP_MOST))
		return EINVAL;
	return 0;
}

/* Is this entry's stream gone, whose close did not get as far as here? */
static int
is_stale(const struct ip_wire *w)
{
	return w->rq == NULL || str_ref_gone(&w->ref);
}

/* Locks: the table's. */
static void
recount(struct ip_shared *sh)
{
	unsigned int i, n = 0;

	for (i = 1; i < IP_WIRES; i++)
		n += ip_in_use(&sh->wire[i].gen) ? 1u : 0u;
	sh->wire[0].pub.others = n;
}

/* Whose close died: gone from the table, if it is so. */
void
ip_wire_lost(struct ip_wire *w, uint32_t gen)
{
	struct ip_shared *sh = ip_shared();

	if (sh == NULL)
		return;
	mutex_enter(&sh->lock);
	if (w->gen == gen && ip_in_use(&w->gen) && is_stale(w)) {
		str_store_rel(&w->gen, gen + 1);
		STR_POINT("ip:lost");
		recount(sh);
		ip_tap_count(sh);
	}
	mutex_exit(&sh->lock);
}

/* A place, or NULL.  Locks: the table's. */
static struct ip_wire *
place(struct ip_shared *sh)
{
	struct ip_wire *w, *found = NULL;

	for (w = sh->wire + 1; w < sh->wire + IP_WIRES; w++) {
		if (ip_in_use(&w->gen) && is_stale(w))
			str_store_rel(&w->gen, w->gen + 1);
		/* that of a stream which is half made, or half closed, is its
		 * own until it is gone */
		if (found == NULL && !ip_in_use(&w->gen) && is_stale(w))
			found = w;
	}
	return found;
}

static void
fill(struct ip_wire *w, struct ip_ep *ep, const struct ipw_conf *conf)
{
	unsigned int i;

	bcopy(conf->name, w->name, sizeof(w->name));
	w->conf = *conf;
	w->kind = conf->kind;
	w->mtu = conf->mtu != 0 ? conf->mtu : MTU;
	w->state = IPW_DOWN;
	w->error = 0;
	w->remade = 0;
	w->muxid = 0;
	w->limit.last = 0;
	w->rq = ep->rq;
	str_ref(ep->rq, &w->ref);
	for (i = 0; i < IP_KSOCKS; i++)
		w->ks[i] = NULL;
	str_store(&w->ticked, str_now());
	w->clock = 0;
	w->waited = 0;
	w->ifindex = 0;
	bzero(w->neigh, sizeof(w->neigh));
	bzero(w->told, sizeof(w->told));
	for (i = 0; i < IP_MEMBERS; i++)
		if (ip_in_use(&w->member[i].gen))
			str_store_rel(&w->member[i].gen, w->member[i].gen + 1);
	str_store(&w->regroup, 0u);
	bzero((void *)(uintptr_t)w->count, sizeof(w->count));
}

/* The next tick; there is one, however often this is done. */
static void
wind(struct ip_wire *w)
{
	quntimeout(w->rq, w->clock);
	str_store(&w->ticked, str_now());
	w->clock = qtimeout(w->rq, ip_wire_tick, w->rq, TICKS);
}

int
ip_wire_is_slow(const struct ip_wire *w)
{
	return str_now() - str_load(&w->ticked) > SLOW;
}

/*
 * ip_wire_look - what a death has left is made good
 * The stream is gone: so is the entry.  Its clock stands still: it is wound.
 */
void
ip_wire_look(struct ip_wire *w)
{
	uint32_t gen = __atomic_load_n(&w->gen, __ATOMIC_ACQUIRE);
	struct str_ref ref = w->ref;
	queue_t *rq = w->rq;
	struct str_hold h;
	int err;

	if ((gen & 1) == 0 || w->kind == IPW_LO)
		return;
	err = str_hold(&h, &ref);
	if (err == ESRCH)
		ip_wire_lost(w, gen);
	if (err != 0)
		return;
	if (__atomic_load_n(&w->gen, __ATOMIC_ACQUIRE) == gen &&
		ip_wire_is_slow(w))
		qenable(rq);
	str_unhold(&h);
}

int
ip_wire_add(struct ip_ep *ep, const struct ipw_conf *conf)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w;
	int err = check(conf);

	if (err != 0 || sh == NULL)
		return err != 0 ? err : ENOSR;
	if (ep->wire != NULL || ep->tap != NULL)
		return EBUSY;
	mutex_enter(&sh->lock);
	w = place(sh);
	if (ip_wire_named(sh, conf->name) != NULL)
		err = EEXIST;
	else if (w == NULL)
		err = ENOSPC;
	if (err == 0) {
		fill(w, ep, conf);
		ep->wire = w; /* so it is closed, whatever becomes of us */
		STR_POINT("ip:filled");
		err = ip_lower_make(w);
		if (err != 0) {
			ip_lower_close(w);
			ep->wire = NULL;
		}
	}
	if (err == 0) {
		w->state = IPW_UP;
		STR_POINT("ip:made");
		str_store_rel(&w->gen, w->gen + 1);
		STR_POINT("ip:added");
		recount(sh);
		ip_tap_count(sh);
	}
	mutex_exit(&sh->lock);
	if (err == 0)
		wind(w);
	return err;
}

void
ip_wire_del(struct ip_ep *ep)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w = ep->wire;

	if (sh == NULL || w == NULL)
		return;
	mutex_enter(&sh->lock);
	STR_POINT("ip:deleting");
	if (w->rq == ep->rq) {
		if (ip_in_use(&w->gen))
			str_store_rel(&w->gen, w->gen + 1);
		STR_POINT("ip:deleted");
		ip_lower_close(w);
		/* from here on it is free, and can be another's */
		ep->wire = NULL;
		__atomic_store_n(&w->rq, NULL, __ATOMIC_RELEASE);
	}
	STR_POINT("ip:closed");
	recount(sh);
	ip_tap_count(sh);
	mutex_exit(&sh->lock);
	ep->wire = NULL;
}

/* The stream whose head's place @low has taken is linked to stay. */
void
ip_wire_linked(queue_t *low, int muxid)
{
	struct ip_shared *sh = ip_shared();
	unsigned int i;

	if (sh == NULL)
		return;
	mutex_enter(&sh->lock);
	for (i = 1; i < IP_WIRES; i++)
		if (ip_in_use(&sh->wire[i].gen) &&
			WR(sh->wire[i].rq) == low->q_next)
			sh->wire[i].muxid = muxid;
	mutex_exit(&sh->lock);
}

void
ip_wire_input(struct ip_ep *ep)
{
	if (ep->wire == NULL || !ip_in_use(&ep->wire->gen))
		return;
	if (ip_wire_is_slow(ep->wire))
		ip_wire_tick(ep->rq);
	if (str_load(&ep->wire->regroup) != 0) {
		__atomic_store_n(&ep->wire->regroup, 0u, __ATOMIC_SEQ_CST);
		ip_groups_tell(ep->wire);
	}
	if (ip_lower_input(ep->wire))
		qenable(ep->rq);
}

/* Packets that wait to be told where they go to. */
void
ip_wire_output(struct ip_ep *ep)
{
	if (ep->wire != NULL && ip_in_use(&ep->wire->gen) &&
		ep->wire->kind == IPW_PACKET)
		ip_packet_again(ep->wire);
}

void
ip_wire_tick(void *arg)
{
	queue_t *q = arg;
	struct ip_ep *ep = q->q_ptr;
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w = ep->wire;
	unsigned int i;

	if (w == NULL || sh == NULL || !ip_in_use(&w->gen))
		return; /* who closed it has died */
	wind(w);
	STR_POINT("ip:tick");
	if (!ip_lower_is_alive(w)) {
		w->state = IPW_DOWN;
		w->error = ip_lower_make(w);
		if (w->error == 0) {
			w->remade++;
			ip_groups_again(w);
			w->state = IPW_UP;
		}
	}
	ip_expire(sh);
	ip_groups_look(w);
	ip_groups_tell(w);
	w->waited = WR(q)->q_first == NULL ? 0 :
		w->waited + TICKS * (1000000000ull / HZ);
	if (WR(q)->q_first != NULL)
		qenable(WR(q));
	qenable(q);
	for (i = 1; i < IP_WIRES; i++)
		if (&sh->wire[i] != w && ip_in_use(&sh->wire[i].gen) &&
			ip_wire_is_slow(&sh->wire[i]))
			ip_wire_look(&sh->wire[i]);
}

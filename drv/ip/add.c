/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires that are streams: creation, supervision, removal.
 *
 * Life.  A stream becomes a wire by IPW_ADD, and is one until it is closed.
 * strwire(8) links it persistently below another stream of this driver, so that
 * it remains when the tool ends and streamsd watches its descriptors; I_PUNLINK
 * closes it.  An entry is in the table from the store of an odd `gen' to that
 * of an even one.
 *
 * A timer of the stream checks twice a second whether the descriptors still
 * exist.  They are gone if streamsd, which held the last ones, was killed; then
 * the process in which the timer runs, usually the next streamsd, makes new
 * ones.  Packets sent or received meanwhile are lost, as on any network.  From
 * the first step of that to the last the wire is IPW_DOWN; so if an attempt
 * fails, or its thread is killed, the next tick makes another one.
 *
 * Each tick starts the timer again before it does anything else.  If a thread
 * is killed in a tick, the tick is repeated.  If there was no memory for the
 * timer, a process that sends or lists the wires, and the timers of other wires,
 * notice that and enable the stream; its service procedure makes the timer.
 *
 * Crash.  A process killed while it adds a wire leaves an entry that is not in
 * use.  A thread killed in a close leaves an entry without an owner; the next
 * thread that sends there, lists the wires or searches for a free entry removes
 * it.  But not before another thread has finished the close: until then the
 * stream's timer and procedures may run and use the entry.  The descriptors are
 * closed with the stream.
 */
#include "ip_impl.h"

#define TICK 500000000ull /* ns */
#define SLOW 3000000000ull /* ns without a tick: the timer has stopped */
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
		if (!is_addr(&c->route[i]) || !is_addr(&c->via[i]) ||
			(c->via[i].len != 0 &&
			c->via[i].len != c->route[i].len))
			return EINVAL;
	if (!is_addr(&c->gateway[0]) || c->gateway[0].len == 16 ||
		!is_addr(&c->gateway[1]) || c->gateway[1].len == 4)
		return EINVAL;
	if (c->kind < IPW_RAW || c->kind > IPW_ENCAP)
		return EINVAL;
	/* encap: an address is the one to which its socket is bound */
	if (c->kind == IPW_ENCAP ? own > 1 || c->proto[0] == 0 ||
		c->proto[1] != 0 : own == 0)
		return EINVAL;
	if (c->mtu != 0 && (c->mtu < IP4_MTU || c->mtu > IP_MOST))
		return EINVAL;
	return (c->flags & ~IPW_LATER) != 0 ? EINVAL : 0;
}

/* Is this entry's stream gone, although its close did not get here? */
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

/* Remove the entry of a stream whose closer died, if that is so. */
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

/* A free entry, or NULL.  Locks: the table's. */
static struct ip_wire *
place(struct ip_shared *sh)
{
	struct ip_wire *w, *found = NULL;

	for (w = sh->wire + 1; w < sh->wire + IP_WIRES; w++) {
		if (ip_in_use(&w->gen) && is_stale(w))
			str_store_rel(&w->gen, w->gen + 1);
		/* the entry of a stream that is partly made or partly closed
		 * belongs to it until the stream is gone */
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
	w->conf.flags = 0;
	w->conf.given = (unsigned short)conf->mtu;
	w->kind = conf->kind;
	w->mtu = conf->mtu != 0 ? conf->mtu : MTU;
	if (conf->kind == IPW_ENCAP && conf->mtu == 0)
		w->mtu -= UDP_HDRLEN;
	for (i = 0; i < 2; i++)
		if (w->conf.port[i] == 0)
			w->conf.port[i] = IPW_ENCAP_PORT;
	w->state = IPW_DOWN;
	w->error = 0;
	w->remade = 0;
	w->muxid = 0;
	w->limit.last = 0;
	w->burst[0] = w->burst[1] = 0;
	w->more = 0;
	w->rq = ep->rq;
	str_ref(ep->rq, &w->ref);
	for (i = 0; i < IP_KSOCKS; i++)
		w->ks[i] = NULL;
	str_store(&w->ticked, str_now());
	w->clock = NULL;
	w->ifindex = 0;
	str_store(&w->dead, 0u);
	ip_resolve_clear(w); /* its last user may have been killed */
	ip_impair_end(w);
	bzero(w->claim, sizeof(w->claim));
	bzero(w->listen, sizeof(w->listen));
	bzero(w->redirect, sizeof(w->redirect));
	bzero(w->deaduntil, sizeof(w->deaduntil));
	bzero(w->oldquery, sizeof(w->oldquery));
	str_store(&w->lost, 0u);
	bzero(w->told, sizeof(w->told));
	for (i = 0; i < IP_MEMBERS; i++)
		if (ip_in_use(&w->member[i].gen))
			str_store_rel(&w->member[i].gen, w->member[i].gen + 1);
	str_store(&w->regroup, 0u);
	bzero((void *)(uintptr_t)w->count, sizeof(w->count));
}

/* Start the timer for the next tick; repeated calls make only one. */
static void
wind(struct ip_wire *w)
{
	if (w->clock == NULL)
		w->clock = str_timer_make(w->rq, ip_wire_tick, w->rq);
	str_store(&w->ticked, str_now());
	if (w->clock != NULL)
		str_timer_set(w->clock, str_now() + TICK);
}

int
ip_wire_is_slow(const struct ip_wire *w)
{
	return str_now() - str_load(&w->ticked) > SLOW;
}

/*
 * ip_wire_look - repair a wire after a kill
 * If its stream has ended, remove the entry.  If its timer has stopped, start
 * it.
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
		ep->wire = w; /* so it is closed, even if we are killed */
		STR_POINT("ip:filled");
		w->error = ip_lower_make(w);
		if (w->error != 0 && (conf->flags & IPW_LATER) == 0) {
			err = w->error;
			ip_lower_close(w);
			ep->wire = NULL;
		}
	}
	if (err == 0) {
		/* the next tick completes a wire that is down */
		w->state = w->error == 0 ? IPW_UP : IPW_DOWN;
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
		ip_resolve_clear(w);
		ip_impair_end(w);
		/* from here on it is free, and may be reused */
		ep->wire = NULL;
		__atomic_store_n(&w->rq, NULL, __ATOMIC_RELEASE);
	}
	STR_POINT("ip:closed");
	recount(sh);
	ip_tap_count(sh);
	mutex_exit(&sh->lock);
	ep->wire = NULL;
}

/* The stream whose head was replaced by @low is linked persistently. */
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

/*
 * Did the last attempt to make its sockets fail, or was its thread killed?  Then
 * some of the sockets may work, but perhaps not all.
 */
static int
is_half_made(const struct ip_wire *w)
{
	return w->state == IPW_DOWN && str_load(&w->dead) == 0;
}

static void
make_again(struct ip_wire *w)
{
	w->state = IPW_DOWN;
	w->error = ip_lower_make(w);
	if (w->error != 0)
		return;
	w->remade++;
	ip_groups_again(w);
	w->state = IPW_UP;
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
		return; /* its closer has died */
	wind(w);
	STR_POINT("ip:tick");
	if (is_half_made(w) || !ip_lower_is_alive(w))
		make_again(w);
	ip_link_look(w);
	ip_expire(sh);
	ip_groups_look(w);
	ip_groups_tell(w);
	ip_listen_tick(w);
	if (w->kind == IPW_PACKET)
		ip_resolve_tick(w);
	qenable(q);
	for (i = 1; i < IP_WIRES; i++)
		if (&sh->wire[i] != w && ip_in_use(&sh->wire[i].gen) &&
			ip_wire_is_slow(&sh->wire[i]))
			ip_wire_look(&sh->wire[i]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires that are impaired: commands, sending, and the timer.
 *
 * Sending.  A packet is taken into the wire's struct ip_impair.  What is due
 * then is sent by the same thread; the rest by the timer.  On lo the timer sends
 * all, because a receiver may send in its turn.
 *
 * Crash.  The timer belongs to the domain, and its function is called again if
 * its thread was killed there.
 */
#include "ip_impl.h"

#define SLICE 64u /* packets that one call of the timer sends */
#define AGAIN 1000000ull /* ns */

/* Send a packet that was held; consumed.  @w's stream is held, unless it is lo. */
static void
send_held(struct ip_wire *w, mblk_t *mp, const struct ip_hdr *h)
{
	struct wire_pkt v = {mp, h};
	int err = 0;

	if (w->kind == IPW_LO) {
		wire_input(&w->pub, mp, 0);
		return;
	}
	if (w->kind == IPW_ENCAP)
		(void)ip_encap_send(w, &v, 1, &err);
	else
		err = ip_lower_send(w, mp, h);
	if (err != 0)
		wire_count(&w->pub, WIRE_FULL, 1);
	else if (w->kind != IPW_ENCAP)
		ip_sent_one(w, mp);
	freemsg(mp);
}

/* Send what is due.  Return: when the next is, UINT64_MAX: none is held. */
static uint64_t
send_due(struct ip_wire *w)
{
	uint64_t next = 0;
	struct ip_hdr h;
	unsigned int n;
	mblk_t *mp;

	for (n = 0; n < SLICE; n++) {
		mp = ip_impair_due(&w->impair, str_now(), &h, &next);
		if (mp == NULL)
			break;
		STR_POINT("ip:impair");
		send_held(w, mp, &h);
	}
	return next;
}

static void
set_timer(struct ip_wire *w, uint64_t next)
{
	if (next != UINT64_MAX)
		str_timer_set(w->release, next);
}

/* ip_impair_release - the timer of the held packets */
void
ip_impair_release(void *arg)
{
	struct ip_wire *w = arg;
	uint32_t gen = str_load_acq(&w->gen);
	struct str_ref ref = w->ref;
	struct str_hold hold;
	int err;

	if (w->kind == IPW_LO) {
		set_timer(w, send_due(w));
		return;
	}
	if ((gen & 1) == 0)
		return;
	err = str_hold(&hold, &ref);
	if (err == ESRCH)
		ip_wire_lost(w, gen);
	if (err == EBUSY)
		set_timer(w, str_now() + AGAIN);
	if (err != 0)
		return;
	if (str_load_acq(&w->gen) == gen)
		set_timer(w, send_due(w));
	str_unhold(&hold);
}

/*
 * ip_impair_send - send a packet on an impaired wire; not consumed
 * @w's stream is held, unless it is lo.
 */
int
ip_impair_send(struct ip_wire *w, const mblk_t *pkt, const struct ip_hdr *h)
{
	uint64_t now = str_now();
	uint64_t next = ip_impair_take(&w->impair, pkt, h, now);

	if (next <= now && w->kind != IPW_LO)
		next = send_due(w);
	set_timer(w, next);
	return 0;
}

/* ip_impair_end - the wire is free: nothing is held */
void
ip_impair_end(struct ip_wire *w)
{
	const struct ipw_impair none = {.name = ""};

	str_store(&w->pub.impaired, 0u);
	ip_impair_clear(&w->impair);
	ip_impair_set(&w->impair, &none);
}

/* The command IPW_IMPAIR. */
int
ip_wire_impair(const struct ipw_impair *conf)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w;
	int err = 0;

	if (sh == NULL)
		return ENOSR;
	if (!ip_impair_is_good(conf))
		return EINVAL;
	mutex_enter(&sh->lock);
	w = ip_wire_named(sh, conf->name);
	if (w != NULL && w->release == NULL)
		w->release = str_timer_make(NULL, ip_impair_release, w);
	if (w == NULL) {
		err = ENXIO;
	} else if (w->release == NULL) {
		err = ENOSR;
	} else {
		ip_impair_set(&w->impair, conf);
		__atomic_store_n(&w->pub.impaired,
			(uint32_t)ip_impair_is_any(conf), __ATOMIC_SEQ_CST);
	}
	mutex_exit(&sh->lock);
	if (err == 0)
		wire_watched(-1);
	return err;
}

/* The command IPW_IMPAIRED: @conf has the wire's name. */
int
ip_wire_impaired(struct ipw_impair *conf)
{
	struct ip_shared *sh = ip_shared();
	struct ip_wire *w;

	if (sh == NULL)
		return ENOSR;
	mutex_enter(&sh->lock);
	w = ip_wire_named(sh, conf->name);
	if (w != NULL) {
		ip_impair_get(&w->impair, conf);
		bcopy(w->name, conf->name, sizeof(conf->name));
	}
	mutex_exit(&sh->lock);
	return w == NULL ? ENXIO : 0;
}

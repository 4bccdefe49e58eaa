/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sleeping at a stream with a socket.  The waiting thread receives, or sends, by
 * itself (core/sock/lend.c).
 */
#include "core.h"
#include "patience.h"
#include "sleep.h"
#include "sock/sock.h"
#include "want.h"

/*
 * A thread waits for event @lent (HOST_C_*) of the socket only.  Has something
 * else occurred at the head that ends this wait?
 */
static bool
lent_ready(struct str_head *sd, uint32_t lent)
{
	return lent == HOST_C_IN ? str_head_readable(sd) :
		(str_load(&sd->flags) & (STR_H_WRERR | STR_H_HUP |
			STR_H_PEER | STR_H_PLEX | STR_H_LOOK)) != 0;
}

/* Does the data of socket @id come from another CPU, as far as known? */
static bool
from_afar(uint64_t id)
{
	int cpu = -1;
	uint32_t len = sizeof(cpu);

	return host_sock_getopt(id, KS_LEVEL, KS_CPU, &cpu, &len) == 0 &&
		cpu >= 0 && (uint32_t)cpu != host_cpu();
}

/*
 * Before a thread sleeps for the socket it yields the CPU; after a send it
 * waits a moment for the answer, because a wake-up would cost more.  A receiver
 * of a flow of bytes from another CPU does so, too, because otherwise the
 * sender would have to wake it each time.  After an unsuccessful attempt this
 * is not tried for a while.
 * @try: looks for the event, in place of host_sock_look(); or NULL.
 * Return: true: event @what of the socket has occurred, and no other.
 */
static bool
lent_soon(struct str_head *sd, struct host_call *hc, uint32_t what,
	uint32_t (*try)(struct str_head *sd, struct host_call *hc, void *arg),
	void *arg)
{
	struct ksock_lend *l = &sd->plumb->lend;
	unsigned way = what == HOST_C_OUT, us = SPIN_READ_US, i;
	uint64_t id = str_sock_of(sd->plumb), start = host_ticks(), most;
	bool flow = try == NULL && host_tls.wrote == 0;
	uint32_t ev;
	uint8_t n;

	/*
	 * a sender that waits for room: if it is woken less often, it finds
	 * more room each time
	 */
	if (try == NULL && way)
		return false;
	if (patience_rests(&l->rest[way]))
		return false;
	/*
	 * a flow of bytes: if it comes from this CPU, sleep at once, so that
	 * each wake-up finds more data
	 */
	if (flow) {
		/*
		 * data from another CPU may have been delivered by a timer on
		 * this one: so try a few times more
		 */
		n = from_afar(id) ? FAR_WAITS + 1 : str_load(&l->far);
		if (n == 0)
			return false;
		str_store(&l->far, (uint8_t)(n - 1));
		us = SPIN_FLOW_US;
	}
	most = us * host_ticks_per_ms / 1000;
	host_tls.wrote = 0;
	do {
		for (i = flow ? SPIN_PAUSES : 0; i != 0; i--)
			str_cpu_relax();
		if (!host_give_way())
			return false;
		if (lent_ready(sd, what) || host_interrupted(hc) !=
				HOST_SIG_NONE)
			return false;
		ev = try != NULL ? try(sd, hc, arg) :
				   host_sock_look(id, what);
		if (ev != 0) {
			patience_paid(&l->skip[way], &l->rest[way]);
			return ev == what;
		}
	} while (host_ticks() - start < most);
	patience_vain(&l->skip[way], &l->rest[way], SKIP_TRY);
	return false;
}

/* One wait of str_sock_sleep(); @most ns. */
static int
sock_wait(const struct str_sleep *s, uint64_t most, uint32_t lent,
	uint32_t *ret_ev)
{
	struct str_head *sd = s->sd;
	struct host_call *hc = s->hc;
	struct str_thread *t = host_self();
	uint64_t id = str_sock_of(sd->plumb);
	uint32_t n;
	bool alone;
	int err = 0;

	*ret_ev = 0;
	/*
	 * first wait only for the socket, which is cheaper; other wakers reach
	 * this thread when it waits for its carrier, too
	 */
	if (lent != 0 && most <= STAGE_NS) {
		if (lent_ready(sd, lent) ||
		    (str_load(&sd->flags) & STR_H_CLOSED) != 0)
			return 0;
		return host_wait_sock(hc, id, lent | HOST_C_ALONE, most,
			ret_ev);
	}
	host_wait_prepare();
	str_store(&t->asleep_on, (uint64_t)(uintptr_t)sd);
	alone = want_arm(s->want, &n);
	if (most <= STAGE_NS)
		str_fence_full();
	else
		host_fence_heavy();
	if (!(lent != 0 ? lent_ready(sd, lent) : str_sleep_ready(sd, s->why)) &&
	    (str_load(&sd->flags) & STR_H_CLOSED) == 0) {
		STR_CRASH_POINT("sleep:sock");
		err = host_wait_sock(hc, id, lent != 0 ? lent :
			str_sock_interest(id), most, ret_ev);
	}
	str_store(&t->asleep_on, (uint64_t)0);
	/* before the event is handled: this thread needs no token any more */
	if (alone)
		want_disarm(s->want, n);
	return err;
}

/*
 * The stream has a socket.  The waiting thread receives itself, and there is no
 * stage 1: it waits for the socket and the carrier, first for 50 ms.  For this
 * wait a full fence is used instead of the heavy fence: a missed wake costs at
 * most these 50 ms and is rare, but a heavy fence would cost time at each
 * sleep.
 */
int
str_sock_sleep(const struct str_sleep *s, uint32_t *lent)
{
	struct str_head *sd = s->sd;
	struct host_call *hc = s->hc;
	uint32_t what = lent != NULL ? *lent : 0;
	uint64_t most = STAGE_NS, sid = sd->plumb->sid;
	uint32_t ev, seq = host_tls.sig_seq;
	int err;

	str_store(&host_self()->why, s->why & STR_SLEEP_WAY);
	for (;; most = UINT64_MAX) {
		err = sock_wait(s, sleep_left(s->deadline, most), what, &ev);
		if (str_head_gone(sd, sid, seq))
			return EBADF;
		if (what != 0 && err == 0 && ev == what)
			return 0; /* its own */
		if (lent != NULL)
			*lent = 0;
		if (err == ETIMEDOUT && sleep_left(s->deadline, 1) == 0)
			return ETIMEDOUT;
		if (err == ETIMEDOUT && most == STAGE_NS) {
			str_stage_dead(sd->plumb);
			err = str_carrier_look(sd, hc, &ev);
			if (err != 0)
				return err;
			if (lent != NULL)
				*lent = what;
			continue;
		}
		if (err == EINTR) {
			err = str_signalled(hc);
			if (err != 0)
				return err;
		}
		if (ev & HOST_C_NVAL)
			return str_head_look(sd, hc);
		if (ev & (HOST_C_IN | HOST_C_OUT | HOST_C_MORE))
			str_sock_fired(str_sock_of(sd->plumb), ev, hc);
		/* remove a token whose event was handled before */
		if ((ev & HOST_C_TOKEN) && !str_sleep_ready(sd, s->why))
			str_head_drain(sd, hc->fd, true);
		/*
		 * a socket that cannot be watched is tried again, for a limited
		 * time
		 */
		if (err == 0 && ev == 0 && sleep_left(s->deadline, 1) == 0 &&
		    !str_sleep_ready(sd, s->why))
			return ETIMEDOUT;
		return 0;
	}
}

/*
 * str_sleep_lent - wait for an event of the socket only
 * @lent: HOST_C_IN or HOST_C_OUT; set to 0 if another event has occurred
 *
 * Return: 0: look again; EINTR, EBADF.
 */
int
str_sleep_lent(struct str_head *sd, struct host_call *hc, uint32_t *lent,
	uint32_t (*try)(struct str_head *sd, struct host_call *hc, void *arg),
	void *arg)
{
	bool in = *lent == HOST_C_IN;
	struct str_headq *hq = in ? &sd->hq : &sd->peer->hq;
	const struct str_sleep s = {.sd = sd, .hc = hc,
		.why = in ? STR_SLEEP_READ : STR_SLEEP_WRITE,
		.want = in ? &hq->rwant : &hq->wwant,
		.word = in ? &hq->rword : &hq->wword,
		.deadline = UINT64_MAX};
	uint32_t what = *lent, seq = host_tls.sig_seq;
	uint64_t sid = sd->plumb->sid;
	int err;

	*lent = 0;
	if (str_load(&sd->flags) & STR_H_LOOK)
		return str_head_look(sd, hc);
	err = sleep_prepare(sd, hc);
	if (err != SLEEP_NOW)
		return err;
	if (str_sock_of(sd->plumb) == 0)
		return 0;
	*lent = what;
	if (lent_soon(sd, hc, what, try, arg))
		return 0;
	err = str_sock_sleep(&s, lent);
	if (err != 0)
		*lent = 0;
	if (err == EBADF && str_head_gone(sd, sid, seq))
		return err;
	(void)str_sched_run_head(sd, hc);
	return err;
}

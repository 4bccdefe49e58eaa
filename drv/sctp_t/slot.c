/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Slots: how packets find the conn that they are for; turns; timers.
 *
 * Finding takes no lock.  The result may be another conn's slot by the time its
 * turn is taken: the engine checks ports, addresses and tags once more.
 *
 * Timer.  A slot has one for ever (<str/timer.h>).  `armed' is a deadline that it
 * has or had, and that is not later than the engine's.  If the engine's becomes
 * later, the timer's function finds nothing due and sets the timer again.  Crash:
 * the timer is set before `armed' is; if a thread is killed in the function, the
 * function is called again.
 */
#include "sctp_t.h"

#define TICK 10000u	  /* us */
#define SOON 50000u	  /* us until an inbox is looked at in any case */
#define DOUBT 10000u	  /* us until a missed turn's owner is looked at */

static struct sctpt_slot *volatile *
chain_of(struct sctpt_state *st, int home, uint16_t lport, uint16_t pport)
{
	uint32_t h = lport * 40503u ^ pport * 30011u;

	return home ? &st->home[(h >> 4) % SCTPT_HOMES] :
		      &st->chain[(h >> 4) % SCTPT_HASH];
}

/* sctpt_home_find - the endpoint bound to @port, for packets to @dst; NULL */
struct sctpt_slot *
sctpt_home_find(struct sctpt_state *st, uint16_t port,
	const struct ip_addr *dst)
{
	struct sctpt_slot *sl = str_load_acq(chain_of(st, 1, port, 0));
	struct sctpt_slot *any = NULL;

	for (; sl != NULL; sl = sl->next) {
		if (!sctpt_in_use(sl) || sl->lport != port)
			continue;
		if (sl->local.len == 0)
			any = sl;
		else if (sctpt_addr_eq(&sl->local, dst))
			return sl;
	}
	return any;
}

static int
has_peer(const struct sctpt_slot *sl, uint32_t hash)
{
	uint32_t i, n = str_load(&sl->npeer);

	for (i = 0; i < n && i < SCTP_PATHS; i++)
		if (str_load(&sl->peer[i]) == hash)
			return 1;
	return 0;
}

/*
 * sctpt_slot_find - the association of these ports that has the tag; without
 * one, or if @tag is 0, the last one that may have packets from @src, an address
 * of the peer, to @dst; NULL: none
 */
struct sctpt_slot *
sctpt_slot_find(struct sctpt_state *st, uint16_t lport, uint16_t pport,
	uint32_t tag, const struct ip_addr *src, const struct ip_addr *dst)
{
	struct sctpt_slot *sl = str_load_acq(chain_of(st, 0, lport, pport));
	struct sctpt_slot *found = NULL;
	uint32_t hash = sctpt_addr_hash(src);

	for (; sl != NULL; sl = sl->next) {
		if (!sctpt_in_use(sl) || sl->lport != lport ||
			sl->pport != pport)
			continue;
		if (tag != 0 && str_load(&sl->tag) == tag)
			return sl;
		if (sl->local.len != 0 && !sctpt_addr_eq(&sl->local, dst))
			continue; /* of another endpoint with this port */
		if (has_peer(sl, hash) && (found == NULL ||
			(int32_t)(sl->seq - found->seq) > 0))
			found = sl;
	}
	return found;
}

/* A slot with a timer; NULL: no memory. */
static struct sctpt_slot *
slot_new(void)
{
	struct sctpt_slot *sl = kmem_zalloc(sizeof(*sl), KM_NOSLEEP);

	if (sl == NULL)
		return NULL;
	sl->timer = str_timer_make(NULL, sctpt_timer, sl);
	if (sl->timer != NULL)
		return sl;
	kmem_free(sl, sizeof(*sl));
	return NULL;
}

/*
 * sctpt_slot_make - a slot that is not in use yet, whose turn the caller has
 * Locks: the provider's.  NULL: no memory.
 */
struct sctpt_slot *
sctpt_slot_make(struct sctpt_state *st, int home, uint16_t lport,
	uint16_t pport)
{
	struct sctpt_slot *volatile *chain = chain_of(st, home, lport, pport);
	struct sctpt_slot *sl;

	for (sl = *chain; sl != NULL; sl = sl->next)
		if ((sl->gen & 1) == 0 && sctpt_turn(sl, 1)) {
			if ((sl->gen & 1) == 0)
				break;
			sctpt_turn_leave(sl);
		}
	if (sl == NULL) {
		sl = slot_new();
		if (sl == NULL)
			return NULL;
		(void)mutex_tryenter(&sl->turn);
		sl->next = *chain;
		sl->home = (uint32_t)home;
		sl->st = st;
		__atomic_store_n(chain, sl, __ATOMIC_RELEASE);
	}
	sctpt_conn_free(st, sl->conn); /* one whose owner died freeing it */
	sl->conn = NULL;
	sl->lport = lport;
	sl->pport = pport;
	sl->tag = 0;
	sl->npeer = 0;
	sl->full = sl->blocked = 0;
	sl->user = NULL;
	sl->idle = sl->bare = sl->fgen = 0;
	sl->seq = __atomic_add_fetch(&st->seq, 1u, __ATOMIC_RELAXED);
	sl->local.len = 0;
	return sl;
}

/* Is @port not bound at @a, len 0: any address? Locks: the provider's. */
int
sctpt_port_free(struct sctpt_state *st, uint16_t port,
	const struct ip_addr *a)
{
	struct sctpt_slot *sl = *chain_of(st, 1, port, 0);

	for (; sl != NULL; sl = sl->next)
		if (sctpt_in_use(sl) && sl->lport == port &&
			(a->len == 0 || sl->local.len == 0 ||
				sctpt_addr_eq(a, &sl->local)))
			return 0;
	return 1;
}

/* -------------------------------------------------------------------- turns */

static int
is_taken(struct sctpt_slot *sl)
{
	return str_load_acq(&sl->turn.m_lock.owner) != 0;
}

static int
got(struct sctpt_slot *sl)
{
	str_store(&sl->missed_at, (uint64_t)0);
	return 1;
}

/*
 * sctpt_is_doubtful - has the turn been missed for so long that its owner may be
 * dead?  The time begins with the first call, and again with each answer "yes",
 * because to find out is expensive.
 */
int
sctpt_is_doubtful(struct sctpt_slot *sl)
{
	uint64_t at = str_load(&sl->missed_at), now = sctpt_now();
	int yes = at != 0 && now - at > DOUBT;

	if (at == 0 || yes)
		str_store(&sl->missed_at, now);
	return yes;
}

/*
 * sctpt_turn - try to take the turn; if that fails, its owner looks for work
 * once more
 * @sure: find out whether the owner lives, which is expensive
 */
int
sctpt_turn(struct sctpt_slot *sl, int sure)
{
	if (!is_taken(sl) && mutex_tryenter(&sl->turn))
		return got(sl);
	str_store(&sl->missed, 1u);
	str_fence_full(); /* pairs with sctpt_turn_end() */
	if ((!is_taken(sl) || sure ||
		sctpt_is_doubtful(sl)) &&
		mutex_tryenter(&sl->turn))
		return got(sl);
	return 0;
}

/* sctpt_turn_wait - take the turn; for close and unbind */
void
sctpt_turn_wait(struct sctpt_slot *sl)
{
	mutex_enter(&sl->turn);
	(void)got(sl);
}

/* sctpt_turn_end - leave it.  1: work was left that no turn has done. */
int
sctpt_turn_end(struct sctpt_slot *sl)
{
	mutex_exit(&sl->turn);
	str_fence_full(); /* pairs with sctpt_turn() */
	return str_load(&sl->missed) != 0;
}

/*
 * sctpt_turn_leave - leave a turn in which nothing was served: work that was
 * left meanwhile, or before, is done a tick later
 */
void
sctpt_turn_leave(struct sctpt_slot *sl)
{
	if (sctpt_turn_end(sl))
		sctpt_soon(sl);
}

/* -------------------------------------------------------------------- timer */

/* Set the timer to @at, us. */
static void
set(struct sctpt_slot *sl, uint64_t at)
{
	str_timer_set(sl->timer, at * 1000);
	str_store(&sl->armed, at);
}

/*
 * sctpt_arm - the engine's deadline is @at, us; 0: none
 * @now: the time when the turn began.  Context: the turn.
 */
void
sctpt_arm(struct sctpt_slot *sl, uint64_t at, uint64_t now)
{
	uint64_t armed = str_load(&sl->armed);

	if (at == 0)
		return;
	if (at < now + TICK) /* a thread that is still at it comes before */
		at = now + TICK;
	if (armed <= now || armed > at)
		set(sl, at);
}

/*
 * sctpt_soon - serve the slot a tick later
 * Context: any.  A thread with the turn that sets the timer to a later time
 * finds `missed' set when it leaves the turn.
 */
void
sctpt_soon(struct sctpt_slot *sl)
{
	str_store(&sl->missed, 1u);
	str_fence_full(); /* pairs with sctpt_turn_end() */
	set(sl, sctpt_now() + TICK);
}

/*
 * sctpt_expect - there is a packet in the inbox: its thread serves the slot, and
 * the timer does if that thread is killed before
 */
void
sctpt_expect(struct sctpt_slot *sl)
{
	uint64_t armed = str_load(&sl->armed), now = sctpt_now();

	if (armed <= now || armed > now + SOON)
		set(sl, now + SOON);
}

/* sctpt_timer - the function of the timer of the slot @arg */
void
sctpt_timer(void *arg)
{
	struct sctpt_slot *sl = arg;

	if (!sctpt_in_use(sl) && str_load(&sl->busy) == 0 &&
		str_load(&sl->inbox) == NULL)
		return;
	str_store(&sl->armed, (uint64_t)0);
	sctpt_serve(sl, 1);
}

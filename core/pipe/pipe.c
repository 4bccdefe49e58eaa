/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipes: two Stream heads twisted together.
 *
 * Life.  str_pipe_create() makes the whole object, then enters both carriers
 * into the directory: from there on any member that holds a descriptor finds
 * its end.  An end is closed when its carrier has no holder left.  Nobody is
 * told that; the holders of the other end find out by their carrier's
 * hang-up (str_head_look), or are told to look by a member that closed a
 * descriptor (str_head_released).  Who finds out closes the end: pops its
 * modules and hangs up the other.  When both are closed the pipe is freed by
 * who closed last, or, when that was a kill, by str_region_sweep().
 *
 * Crash.  Until both ends are in the directory the pipe is stamped with its
 * creator's tag and falls to str_thread_reap().
 */
#include "core.h"

#define TIDY 1024u /* pipes, before an attach looks for dead ones */

/* -------------------------------------------------------------- directory */

static uint32_t
hash(uint64_t cookie)
{
	cookie *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(cookie >> 40) & (STR_NCOOKIE - 1);
}

static int
dir_enter(const struct host_carrier *c, struct str_head *sd)
{
	uint32_t h = hash(c->cookie), n;

	for (n = 0; n < STR_NCOOKIE; n++, h = (h + 1) & (STR_NCOOKIE - 1)) {
		struct str_cookie *e = &host_domain->cookie[h];
		uint64_t v = str_load(&e->cookie);

		if (v > 1 || !str_cas(&e->cookie, v, c->cookie))
			continue;
		str_store_rel(&e->head, (uint64_t)(uintptr_t)sd);
		return 0;
	}
	return ENOSR;
}

static struct str_cookie *
dir_find(const struct host_carrier *c)
{
	uint32_t h = hash(c->cookie), n;

	for (n = 0; n < STR_NCOOKIE; n++, h = (h + 1) & (STR_NCOOKIE - 1)) {
		struct str_cookie *e = &host_domain->cookie[h];
		uint64_t v = str_load_acq(&e->cookie);

		if (v == 0)
			return NULL;
		if (v == c->cookie)
			return e;
	}
	return NULL;
}

/* Take @c out; true for the one caller that found it there. */
static bool
dir_remove(const struct host_carrier *c)
{
	struct str_cookie *e = dir_find(c);

	return e != NULL && str_cas(&e->cookie, c->cookie, (uint64_t)1);
}

struct str_head *
str_head_lookup(const struct host_carrier *c)
{
	struct str_cookie *e = dir_find(c);
	struct str_head *sd;

	if (e == NULL)
		return NULL;
	sd = (struct str_head *)(uintptr_t)str_load_acq(&e->head);
	if (sd == NULL || sd->carrier.ino != c->ino ||
	    (str_load(&sd->flags) & STR_H_CLOSED) != 0)
		return NULL;
	return sd;
}

/* ------------------------------------------------------------------- life */

static int
head_init(struct str_plumb *pl, int end, const struct host_carrier *c)
{
	struct str_head *sd = &pl->head[end];

	str_headq_init(&sd->hq, STR_PIPE_HIWAT, STR_PIPE_LOWAT);
	sd->plumb = pl;
	sd->peer = &pl->head[!end];
	sd->end = (uint32_t)end;
	sd->wropt = 2; /* SNDPIPE */
	sd->carrier = *c;
	sd->cltime = 15000;
	sd->minpsz = 0;
	sd->maxpsz = INFPSZ;
	sd->qp = str_qpair_alloc(pl, NULL);
	if (sd->qp == NULL)
		return ENOSR;
	str_mem_disown(sd->qp);
	sd->qp->rq.q_head = sd->qp->wq.q_head = sd;
	sd->qp->rq.q_hiwat = STR_PIPE_HIWAT;
	sd->qp->rq.q_lowat = STR_PIPE_LOWAT;
	sd->qp->rq.q_maxpsz = INFPSZ;
	str_store(&sd->ctime, host_now());
	return 0;
}

/* Is a call on either end still going on, in a thread that lives? */
static bool
is_inside(struct str_plumb *pl)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;

	host_fence_heavy(); /* pairs with str_head_enter() */
	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		struct str_thread *t = &d->thread[i];
		uint64_t in = str_load_acq(&t->inside);

		if ((in == (uint64_t)(uintptr_t)&pl->head[0] ||
			    in == (uint64_t)(uintptr_t)&pl->head[1]) &&
		    t != host_self() && str_load(&t->tag) != 0 &&
		    !host_owner_dead(str_load(&t->tag)))
			return true;
	}
	return false;
}

/* What the queues hold, and they themselves. */
static void
dismantle(struct str_plumb *pl)
{
	int e;

	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		if (str_hlock(&sd->hq.plock, STR_HOLD_P))
			str_headq_repair_p(&sd->hq);
		sd->direct = NULL;
		str_headq_fini(&sd->hq);
		str_hunlock(&sd->hq.plock, STR_HOLD_P);
		if (sd->ioc.reply != NULL) {
			freemsg(sd->ioc.reply);
			sd->ioc.reply = NULL;
		}
	}
	for (e = 0; e < 2; e++) {
		str_qpair_free(pl->head[e].qp);
		pl->head[e].qp = NULL;
	}
	str_mem_free(pl);
}

/*
 * The pipe is dead to all and ours.  A thread may still be inside, its
 * descriptor closed by another: it then waits for that one's end.
 */
static void
dismantle_or_wait(struct str_plumb *pl)
{
	if (!is_inside(pl)) {
		dismantle(pl);
		return;
	}
	str_wake_all(&pl->head[0]);
	str_wake_all(&pl->head[1]);
	str_mem_disown(pl);
	str_store_rel(&pl->freed, 1u);
	(void)str_add(str_root(STR_ROOT_UNBURIED), (uint64_t)1);
}

/*
 * Nobody holds either end: take the pipe apart.  Several may find out; @c,
 * the carriers as they were then, proves that it is the same pipe still.
 */
static void
pipe_free(struct str_plumb *pl, const struct host_carrier c[2])
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	int e;

	/* end 0's entry is the pipe's: who removes it frees */
	if (!dir_remove(&c[0]))
		return;
	str_mem_own(pl);
	/* where the reaper finds what we had in hand */
	str_store(&t->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	STR_CRASH_POINT("pipe:removed");
	(void)dir_remove(&c[1]);
	for (e = 0; e < 2; e++) {
		(void)str_or(&pl->head[e].flags,
			STR_H_CLOSED | STR_H_HUP | STR_H_PEER);
		(void)str_add(&pl->head[e].gen, 1u);
	}
	for (e = 0; e < 2; e++)
		str_plumb_clear(&pl->head[e]);
	(void)str_sub(str_root(STR_ROOT_NPIPES), (uint64_t)1);
	dismantle_or_wait(pl);
	str_store(&t->inside, was);
}

static void
bury(struct str_blk *b, void *arg)
{
	struct str_plumb *pl = (struct str_plumb *)(void *)b;
	unsigned *n = arg;

	if (b->state != STR_BLK_PIPE || str_load(&pl->freed) == 0 ||
	    is_inside(pl) || !str_cas(&pl->freed, 1u, 0u))
		return;
	str_mem_own(pl);
	dismantle(pl);
	(void)str_sub(str_root(STR_ROOT_UNBURIED), (uint64_t)1);
	(*n)++;
}

static int
create(const struct host_carrier c[2], struct str_plumb **ret_pipe)
{
	struct str_plumb *pl;
	unsigned buried = 0;
	uint32_t gen;
	int e, err = 0;

	if (str_unlikely(str_load(str_root(STR_ROOT_UNBURIED)) != 0))
		str_mem_walk(bury, &buried);
	pl = str_mem_alloc(sizeof(*pl), STR_BLK_KMEM);
	if (pl == NULL)
		return ENOSR;
	gen = str_load(&pl->head[0].gen);
	__builtin_memset((char *)pl + sizeof(pl->blk), 0,
		sizeof(*pl) - sizeof(pl->blk));
	/* only now: the reaper takes it for one */
	str_store_rel(&pl->blk.state, STR_BLK_PIPE);
	for (e = 0; e < 2 && err == 0; e++)
		err = head_init(pl, e, &c[e]);
	if (err != 0) {
		if (pl->head[0].qp != NULL)
			str_qpair_free(pl->head[0].qp);
		str_mem_free(pl);
		return err;
	}
	for (e = 0; e < 2; e++) {
		struct str_head *sd = &pl->head[e];

		str_store(&sd->gen, gen + 1);
		sd->qp->wq.q_next = &sd->peer->qp->rq;
		sd->direct = &sd->peer->hq;
	}
	for (e = 1; e >= 0 && err == 0; e--) {
		err = dir_enter(&c[e], &pl->head[e]);
		STR_CRASH_POINT("pipe:entered");
	}
	if (err != 0) {
		(void)dir_remove(&c[1]);
		for (e = 0; e < 2; e++)
			str_qpair_free(pl->head[e].qp);
		str_mem_free(pl);
		return err;
	}
	str_mem_disown(pl);
	(void)str_add(str_root(STR_ROOT_NPIPES), (uint64_t)1);
	*ret_pipe = pl;
	return 0;
}

/*
 * str_pipe_create - a new pipe over the carriers @c
 * Return: 0; ENOSR when there is no memory, or no room in the directory, and
 * no pipe that only the dead held gave any.
 */
int
str_pipe_create(const struct host_carrier c[2], struct str_plumb **ret_pipe)
{
	int err = create(c, ret_pipe);

	if (str_unlikely(err == ENOSR) && str_region_sweep() > 0)
		err = create(c, ret_pipe);
	return err;
}

/*
 * str_pipe_close_end - the last holder of @sd is gone
 * Pops its modules, hangs up the other end, frees the pipe when that is
 * closed as well.  Any member may find out, several at once: every step may
 * be done twice, and the bit is set after all of them, so that who dies here
 * leaves it to the next to find out.
 */
void
str_pipe_close_end(struct str_head *sd)
{
	struct str_plumb *pl = sd->plumb;

	uint32_t bit = 1u << sd->end;
	struct host_carrier c[2];

	if (str_load(&pl->closed) & bit)
		return;
	/* what its modules still had on the way goes out first */
	if (str_load(&pl->nrun) != 0) {
		(void)str_claim(pl);
		(void)str_sched_run(pl);
		str_unclaim(pl);
	}
	(void)str_or(&sd->flags, STR_H_CLOSED);
	STR_CRASH_POINT("pipe:closing");
	if (str_load(&sd->npush) > 0)
		str_plumb_clear(sd);
	/* unread messages toward the closed end will never be read */
	str_head_set(sd->peer, STR_H_HUP | STR_H_PEER);
	STR_CRASH_POINT("pipe:hungup");
	c[0] = pl->head[0].carrier;
	c[1] = pl->head[1].carrier;
	if ((str_or(&pl->closed, bit) | bit) == 3u)
		pipe_free(pl, c);
}

void
str_head_released(struct str_head *sd, int peer_fd)
{
	struct str_head *peer = sd->peer;
	struct str_plumb *pl = sd->plumb;

	if (peer_fd >= 0) {
		/* this process can see for itself */
		if (host_carrier_look(peer_fd) & HOST_C_HUP)
			str_pipe_close_end(sd);
		return;
	}
	if (str_load(&pl->closed) & (1u << peer->end)) {
		/* the other end is closed: is anybody left here? */
		if (!host_carrier_alive(&sd->carrier))
			str_pipe_close_end(sd);
		return;
	}
	(void)str_or(&peer->flags, STR_H_LOOK);
	str_fence_full();
	str_wake_all(peer);
}

/*
 * The directory is also the list of pipes.  What an entry leads to may be
 * freed at any moment; an entry that still stands after the fields have been
 * read proves that they were a living pipe's.
 */
static struct str_plumb *
entry_pipe(struct str_domain *d, struct str_cookie *e,
	struct host_carrier ret_c[2])
{
	uint64_t cookie = str_load_acq(&e->cookie);
	const struct str_head *sd;
	struct str_plumb *pl;

	(void)d;
	if (cookie <= 1)
		return NULL;
	sd = (const struct str_head *)(uintptr_t)str_load_acq(&e->head);
	if (sd == NULL)
		return NULL;
	pl = *(struct str_plumb *const volatile *)&sd->plumb;
	if (pl == NULL || !str_mem_valid(pl))
		return NULL;
	ret_c[0] = pl->head[0].carrier;
	ret_c[1] = pl->head[1].carrier;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (str_load(&e->cookie) != cookie || ret_c[0].cookie != cookie)
		return NULL; /* gone, or the entry of end 1 */
	return pl;
}

/*
 * str_pipe_lives - is @pl, an address a dead thread left, a pipe still?
 * The caller counts as being inside it, so that it stays one.
 */
bool
str_pipe_lives(struct str_plumb *pl)
{
	struct str_cookie *e;

	if (!str_mem_valid(pl))
		return false;
	e = dir_find(&pl->head[0].carrier);
	return e != NULL && str_load_acq(&e->head) ==
		(uint64_t)(uintptr_t)&pl->head[0];
}

/* str_pipe_bury - a pipe that is in no directory: its memory. */
void
str_pipe_bury(struct str_plumb *pl)
{
	int e;

	for (e = 0; e < 2; e++)
		if (pl->head[e].qp == NULL || !str_mem_valid(pl->head[e].qp) ||
		    pl->head[e].qp->blk.state != STR_BLK_QPAIR)
			break;
	if (e == 2 && pl->head[0].plumb == pl && pl->head[1].plumb == pl) {
		for (e = 0; e < 2; e++) {
			(void)dir_remove(&pl->head[e].carrier);
			(void)str_or(&pl->head[e].flags,
				STR_H_CLOSED | STR_H_HUP | STR_H_PEER);
			(void)str_add(&pl->head[e].gen, 1u);
		}
		for (e = 0; e < 2; e++)
			str_plumb_clear(&pl->head[e]);
		dismantle_or_wait(pl);
		return;
	}
	/* its creator died, or who took it apart did, when one was left */
	for (e = 0; e < 2; e++) {
		struct str_qpair *qp = pl->head[e].qp;

		if (qp != NULL && str_mem_valid(qp) &&
		    qp->blk.state == STR_BLK_QPAIR && qp->plumb == pl)
			str_qpair_free(qp);
		pl->head[e].qp = NULL;
	}
	str_mem_free(pl);
}

/*
 * str_region_sweep - free pipes that only the dead held
 * Return: pipes freed.
 */
unsigned
str_region_sweep(void)
{
	struct str_domain *d = host_domain;
	struct host_carrier c[2];
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < STR_NCOOKIE; i++) {
		struct str_plumb *pl = entry_pipe(d, &d->cookie[i], c);

		if (pl == NULL || host_carrier_alive(&c[0]) ||
		    host_carrier_alive(&c[1]))
			continue;
		if (str_load(&d->cookie[i].cookie) != c[0].cookie)
			continue;
		pipe_free(pl, c);
		n++;
	}
	str_mem_walk(bury, &n);
	return n;
}

/* str_region_tidy - a process has attached: sweep if it could be worth it. */
void
str_region_tidy(void)
{
	if (str_load(str_root(STR_ROOT_NPIPES)) >= TIDY)
		(void)str_region_sweep();
}

bool
str_region_carriers(struct str_domain *d,
	bool (*fn)(const struct host_carrier *c, void *arg), void *arg)
{
	struct host_carrier c[2];
	uint32_t i;

	for (i = 0; i < STR_NCOOKIE; i++)
		if (entry_pipe(d, &d->cookie[i], c) != NULL &&
		    (fn(&c[0], arg) || fn(&c[1], arg)))
			return true;
	return false;
}

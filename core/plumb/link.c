/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Multiplexors: linking a stream below a driver.
 *
 * Life.  I_LINK puts a queue pair with the multiplexor's lower procedures at
 * the top of the lower stream, instead of its head, and sends the driver an
 * M_IOCTL on the upper stream; if the driver refuses, everything is undone.
 * I_UNLINK is the reverse.  The lower stream is held by a reference, so that
 * its descriptors may be closed.  A link made with I_PLINK belongs to the
 * driver and not to the upper stream.
 *
 * Locks.  The upper stream's busy lock, then the lower's; the second is only
 * tried, with the first released in between, because two threads may make links
 * in opposite directions.  Only these two locks are held, so several threads
 * together may make a cycle.  Therefore each checks for a cycle once more when
 * its link is made; a caller that finds one removes its link and tries again,
 * so that not all of them fail.
 *
 * Crash.  A link is entered in its list before it is stored anywhere else, and
 * is removed from the list last.  Its state is LIVE from the moment when the
 * driver has accepted it until I_UNLINK is sent to the driver.  If a link is
 * neither LIVE nor GONE (removed, but not acknowledged), and no living thread
 * holds its upper stream's busy lock, a dead thread left it: it is removed by
 * the thread that takes `busy' over, by the next sweep, or by the next open of
 * the lower stream (str_link_mend()).
 */
#include "core.h"
#include "sock/sock.h"
#include <sys/stropts.h>

#define DEPTH 64u	/* of cascaded multiplexors */
#define TRIES 8u	/* attempts to make a link while others make cycles */
#define CIRCLE (-2)	/* a cycle of links that several threads have made */
#define UNLINK_MS 15000u
#define MEND_MS 500u /* limit when the work is done for a dead caller */

/* Return: 0, EINTR. */
static int
nap(struct host_call *hc)
{
	str_a32 word = 0;

	(void)host_wait(hc, &word, 0, 1000000u);
	if (hc == NULL)
		return 0;
	if (host_interrupted(hc) == HOST_SIG_INTR)
		return EINTR;
	host_resample(hc); /* otherwise the next wait returns at once */
	return 0;
}

/* Both busy locks.  Return: 0, EINTR. */
static int
lock_both(struct str_plumb *up, struct str_plumb *low, struct host_call *hc)
{
	for (;;) {
		int err = str_busy_lock(up, hc);
		bool died;

		if (err != 0)
			return err;
		if (str_busy_grab(low, &died)) {
			if (died)
				(void)str_busy_mend(low);
			return 0;
		}
		str_busy_unlock(up);
		err = nap(hc);
		if (err != 0)
			return err;
	}
}

/* The driver of @pl, whose closer may be freeing it; or NULL. */
static struct str_fmod *
multiplexor(struct str_plumb *pl)
{
	struct str_qpair *qp = str_load(&pl->driver);
	struct str_fmod *fm = qp == NULL ? NULL : str_load(&qp->fmod);
	uintptr_t first = str_load(str_root(STR_ROOT_FMOD));
	uintptr_t at = (uintptr_t)fm - first;

	return at / sizeof(*fm) < STR_NMODULE && at % sizeof(*fm) == 0 ? fm :
		NULL;
}

/* A driver whose persistent links are being searched, and those above it. */
struct seen {
	const struct str_fmod *fmod;
	const struct seen *up;
};

static bool
is_seen(const struct seen *s, const struct str_fmod *fm)
{
	while (s != NULL && s->fmod != fm)
		s = s->up;
	return s != NULL;
}

static bool
reaches(struct str_plumb *from, struct str_plumb *to, unsigned depth,
	const struct seen *seen);

static bool
list_reaches(struct str_link *l, struct str_plumb *to, unsigned depth,
	const struct seen *seen)
{
	/*
	 * deeper links may be freed meanwhile: stop at a block that is not a
	 * link
	 */
	for (; l != NULL && str_mem_valid(l) && l->blk.state == STR_BLK_LINK;
		l = l->next)
		/* also a link that is GONE: it keeps its lower stream, and two
		 * streams that keep each other would never be closed */
		if (reaches(l->lower->plumb, to, depth, seen))
			return true;
	return false;
}

/*
 * Is @to below @from?  Deeper than DEPTH counts as yes.  Streams of a driver
 * may be linked persistently below that driver itself: they lead to no driver
 * that has not been visited.
 */
static bool
reaches(struct str_plumb *from, struct str_plumb *to, unsigned depth,
	const struct seen *seen)
{
	struct seen here = {multiplexor(from), seen};

	if (from == to || depth >= DEPTH)
		return true;
	if (list_reaches(from->links, to, depth + 1, seen))
		return true;
	return here.fmod != NULL && !is_seen(seen, here.fmod) &&
		list_reaches(here.fmod->plinks, to, depth + 1, &here);
}

static void
list_add(struct str_link *volatile *list, struct str_link *l)
{
	l->next = *list;
	*list = l;
}

static void
list_remove(struct str_link *volatile *list, struct str_link *l)
{
	for (; *list != NULL; list = &(*list)->next)
		if (*list == l) {
			*list = l->next;
			return;
		}
}

/*
 * Enter the link in its list, in state NEW.  Calls str_ref_end(): the link has
 * the caller's reference from here on.  Locks: busy of both.
 */
static void
enter(struct str_plumb *up, struct str_link *l)
{
	str_store_rel(&l->carries, 1u);
	str_ref_end();
	STR_CRASH_POINT("link:carries");
	if (l->persist) {
		(void)str_lock(&l->fmod->plock);
		list_add(&l->fmod->plinks, l);
		str_unlock(&l->fmod->plock);
	} else {
		list_add(&up->links, l);
	}
	STR_CRASH_POINT("link:listed");
	str_mem_disown(l);
	str_mem_disown(l->qp);
}

/*
 * Remove the link from its list and free it.  Calls str_ref_begin(), and the
 * caller releases the link's reference to the lower head by str_head_unref().
 * The link is stamped first: the reaper frees a stamped link only if no list
 * has it.  `carries' is cleared only when no lookup can find the link: a thread
 * that repeats this after a death releases the same reference.
 */
static void
take_out(struct str_plumb *up, struct str_link *l)
{
	str_mem_own(l->qp);
	str_mem_own(l);
	STR_CRASH_POINT("link:owned");
	str_ref_begin();
	if (l->persist) {
		(void)str_lock(&l->fmod->plock);
		list_remove(&l->fmod->plinks, l);
		str_unlock(&l->fmod->plock);
	} else {
		list_remove(&up->links, l);
	}
	STR_CRASH_POINT("link:unlisted");
	str_store_rel(&l->carries, 0u);
	str_qpair_free(l->qp);
	str_mem_free(l);
}

/*
 * Dismantle the link; a dead thread may have done any part of this.
 * @sure: the driver has answered, so it does not use the link any more: the
 * link is freed by take_out(), and the caller releases the reference to the
 * lower head.  Otherwise the link stays, GONE.
 * Locks: busy of both.
 */
static void
undo(struct str_plumb *up, struct str_link *l, bool sure)
{
	struct str_head *sd = l->lower;
	mblk_t *mp;

	str_store(&l->state, STR_LINK_GOING);
	qprocsoff(&l->qp->rq);
	STR_CRASH_POINT("link:off");
	/*
	 * messages that the driver has not taken can be read at the head again
	 */
	while ((mp = getq(&l->qp->rq)) != NULL)
		str_head_rput(sd, &sd->qp->rq, mp);
	sd->plumb->leaving = l->qp;
	sd->plumb->under = NULL;
	STR_CRASH_POINT("link:under");
	(void)str_and(&sd->flags, ~STR_H_PLEX);
	str_wake_all(sd);
	if (!sure) {
		/* the driver may still put messages on it: they are freed */
		l->qp->wq.q_next = NULL;
		str_store_rel(&l->state, STR_LINK_GONE);
		return;
	}
	STR_CRASH_POINT("link:free");
	take_out(up, l);
}

static int
tell_for(struct str_head *upper, struct host_call *hc, struct str_link *l,
	int cmd, uint64_t ms, bool *ret_sure)
{
	bool nointr = ms == MEND_MS;

	struct linkblk lb;
	long ret;

	__builtin_memset(&lb, 0, sizeof(lb));
	lb.l_qtop = l->persist ? NULL : &upper->plumb->driver->wq;
	lb.l_qbot = &l->qp->wq;
	lb.l_index = l->id;
	ret = str_ioctl_internal(upper, hc, cmd, &lb, sizeof(lb), ms, nointr,
		ret_sure);
	return ret < 0 ? (int)-ret : 0;
}

static int
tell(struct str_head *upper, struct host_call *hc, struct str_link *l, int cmd,
	bool *ret_sure)
{
	return tell_for(upper, hc, l, cmd, UNLINK_MS, ret_sure);
}

/*
 * The error that forbids linking @lower below @upper, or 0.  Locks: busy of
 * both.
 */
static int
refused(struct str_head *upper, struct str_head *lower)
{
	struct str_plumb *up = upper->plumb, *low = lower->plumb;
	uint32_t f = str_load(&lower->flags);

	if (up->driver == NULL || up->driver->fmod->tab.st_muxrinit == NULL ||
	    up->driver->fmod->tab.st_muxwinit == NULL)
		return EINVAL;
	/* linked itself since the call began: the driver's answer would go to
	 * the stream above it now */
	if ((str_load(&upper->flags) & STR_H_PLEX) != 0)
		return EINVAL;
	if (low->kind != STR_PL_DEV || low->driver == NULL ||
	    (f & (STR_H_PLEX | STR_H_HUP | STR_H_RDERR | STR_H_WRERR |
		STR_H_CLOSED)) != 0)
		return EINVAL;
	if (reaches(low, up, 0, NULL))
		return EINVAL; /* a cycle, possibly of one stream */
	return 0;
}

/* Return: as str_plumb_link(), or CIRCLE.  Locks: busy of both. */
static int
link_locked(struct str_head *upper, struct str_head *lower,
	struct host_call *hc, bool persist, int *ret_id)
{
	struct str_plumb *up = upper->plumb, *low = lower->plumb;
	struct str_qpair *qp;
	struct str_link *l;
	int err = refused(upper, lower);
	bool sure = true;

	if (err != 0)
		return err;
	l = str_mem_alloc(sizeof(*l), STR_BLK_LINK);
	qp = l == NULL ? NULL : str_qpair_alloc_lower(low, up->driver->fmod);
	if (qp == NULL) {
		if (l != NULL)
			str_mem_free(l);
		return EAGAIN;
	}
	l->next = NULL;
	l->persist = persist;
	l->upper = persist ? NULL : up;
	l->fmod = up->driver->fmod;
	l->lower = lower;
	l->qp = qp;
	l->via = up;
	str_store(&l->state, STR_LINK_NEW);
	str_store(&l->carries, 0u);
	l->id = (int)(uint32_t)(str_add(str_root(STR_ROOT_MUXID),
			(uint64_t)1) + 1);
	qp->rq.q_next = NULL;
	qp->wq.q_next = lower->qp->wq.q_next;
	enter(up, l);
	low->under = l;
	STR_CRASH_POINT("link:entered");
	(void)str_or(&lower->flags, STR_H_PLEX);
	str_wake_all(lower);
	STR_CRASH_POINT("link:plex");
	str_procs_on(qp);
	str_sock_changed(low);
	STR_CRASH_POINT("link:on");
	if (list_reaches(low->links, low, 0, NULL))
		err = CIRCLE;
	else
		err = tell(upper, hc, l, persist ? I_PLINK : I_LINK, &sure);
	/* did the driver accept it, but the answer was lost? */
	if (err != 0 && !sure)
		(void)tell_for(upper, hc, l, persist ? I_PUNLINK : I_UNLINK,
			MEND_MS, &sure);
	STR_CRASH_POINT("link:told");
	if (err != 0) {
		undo(up, l, sure);
		if (!sure)
			*ret_id = -1; /* the link keeps the reference, too */
		return err;
	}
	*ret_id = l->id;
	str_store_rel(&l->state, STR_LINK_LIVE);
	STR_CRASH_POINT("link:made");
	return 0;
}

/*
 * str_plumb_link - I_LINK, I_PLINK
 * The caller has counted a reference to @lower (str_head_ref()), and the link
 * takes it over.  After an error the caller keeps it, unless *@ret_id is -1.
 * Return: 0; EINVAL (not a multiplexor, cannot be linked, a cycle), EAGAIN no
 * memory, EINTR, ETIME, or the driver's error.
 */
int
str_plumb_link(struct str_head *upper, struct str_head *lower,
	struct host_call *hc, bool persist, int *ret_id)
{
	unsigned tries = 0;
	bool held;
	int err;

	if (upper->plumb == lower->plumb ||
	    lower->plumb->kind != STR_PL_DEV || upper->plumb->driver == NULL)
		return EINVAL;
	for (;;) {
		/* other threads may hold the two streams for a long time */
		held = str_ref_hold(lower);
		err = lock_both(upper->plumb, lower->plumb, hc);
		str_ref_release(held);
		if (err != 0)
			return err;
		err = link_locked(upper, lower, hc, persist, ret_id);
		str_busy_unlock(lower->plumb);
		str_busy_unlock(upper->plumb);
		if (err != CIRCLE)
			return err;
		/* the first link now stays, and the other threads find it */
		if (++tries == TRIES)
			return EINVAL;
		err = nap(hc);
		if (err != 0)
			return err;
	}
}

static struct str_link *
find(struct str_plumb *up, int id, bool persist)
{
	struct str_link *l = persist ? up->driver->fmod->plinks : up->links;

	while (l != NULL && (str_load(&l->state) == STR_LINK_GONE ||
		(id != MUXID_ALL && l->id != id)))
		l = l->next;
	return l;
}

/* str_link_none - has @up no links, and its driver no persistent ones?  Links
 * being made count. */
bool
str_link_none(struct str_plumb *up)
{
	struct str_fmod *fm = multiplexor(up);

	return up->links == NULL && (fm == NULL || fm->plinks == NULL);
}

/*
 * str_link_each - call @fn for every link of @up
 * Locks: busy; for persistent links, which other threads may remove, @fn is
 * called with the lock of the driver's list.
 */
void
str_link_each(struct str_plumb *up, void (*fn)(struct str_link *l, void *arg),
	void *arg)
{
	struct str_fmod *fm = multiplexor(up);
	struct str_link *l;

	for (l = up->links; l != NULL; l = l->next)
		fn(l, arg);
	if (fm == NULL || fm->plinks == NULL)
		return;
	(void)str_lock(&fm->plock);
	for (l = fm->plinks; l != NULL; l = l->next)
		if (l->via == up)
			fn(l, arg);
	str_unlock(&fm->plock);
}

/* Find a link and take busy of its lower stream; NULL: there is none, or
 * (*ret_lower) another thread has the lower stream busy.  Locks: busy of
 * @up. */
static struct str_link *
find_and_grab(struct str_plumb *up, int id, bool persist,
	struct str_head **ret_lower)
{
	struct str_fmod *fm = up->driver->fmod;
	struct str_link *l;
	bool died = false, got;

	*ret_lower = NULL;
	/*
	 * a persistent link is removed with its lower stream busy, under this
	 * lock
	 */
	if (persist)
		(void)str_lock(&fm->plock);
	l = find(up, id, persist);
	got = l != NULL && str_busy_grab((*ret_lower = l->lower)->plumb, &died);
	if (persist)
		str_unlock(&fm->plock);
	if (!got)
		return NULL;
	if (died)
		(void)str_busy_mend((*ret_lower)->plumb);
	return l;
}

#define NOLINK (-1)

/*
 * Remove one link; @force: even if the driver refuses, and in spite of signals.
 * NOLINK: there is none.
 */
static int
unlink_one(struct str_head *upper, struct host_call *hc, int id, bool persist,
	bool force)
{
	struct str_plumb *up = upper->plumb;
	struct host_call *sig = force ? NULL : hc;
	struct str_head *lower;
	struct str_link *l;
	bool mine, sure;
	int err;

	for (;;) {
		err = str_busy_lock(up, sig);
		if (err == EINTR)
			return err;
		mine = err == 0;
		l = find_and_grab(up, id, persist, &lower);
		if (l != NULL)
			break;
		if (mine)
			str_busy_unlock(up);
		if (lower == NULL)
			return NOLINK;
		err = nap(sig);
		if (err != 0)
			return err;
	}
	l->via = up;
	str_store(&l->state, STR_LINK_GOING);
	STR_CRASH_POINT("unlink:going");
	err = tell_for(upper, hc, l, persist ? I_PUNLINK : I_UNLINK,
		hc->fd >= 0 ? UNLINK_MS : MEND_MS, &sure);
	STR_CRASH_POINT("unlink:told");
	if (err == 0 || force)
		undo(up, l, sure);
	else
		str_store(&l->state, STR_LINK_LIVE);
	str_busy_unlock(lower->plumb);
	if (mine)
		str_busy_unlock(up);
	if ((err == 0 || force) && sure)
		/* streamsd does not wait for data to be sent */
		str_head_unref(lower, hc->fd >= 0 ? hc : NULL);
	return force ? 0 : err;
}

/*
 * str_plumb_unlink - I_UNLINK, I_PUNLINK
 * Return: 0; EINVAL (no such link, or it is of the other kind), EINTR, ETIME,
 * or the driver's error.
 */
int
str_plumb_unlink(struct str_head *upper, int id, struct host_call *hc,
	bool persist)
{
	int err;

	if (upper->plumb->driver == NULL || (id <= 0 && id != MUXID_ALL))
		return EINVAL;
	do {
		err = unlink_one(upper, hc, id, persist, false);
	} while (err == 0 && id == MUXID_ALL);
	return err != NOLINK ? err : id == MUXID_ALL ? 0 : EINVAL;
}

/* str_unlink_all - the upper stream is closing. */
void
str_unlink_all(struct str_plumb *pl, struct host_call *hc)
{
	struct host_call own = {.fd = -1, .sig_seq = host_tls.sig_seq};

	if (pl->driver == NULL)
		return;
	while (unlink_one(&pl->head[0], hc != NULL ? hc : &own, MUXID_ALL,
		       false, true) == 0)
		;
	(void)str_link_sweep(pl);
}

/* ---------------------------------------- changes of dead threads */

/* The first link after number @after that a dead thread was changing. */
static struct str_link *
broken(struct str_link *l, struct str_plumb *up, int after)
{
	struct str_link *found = NULL;

	for (; l != NULL; l = l->next) {
		uint32_t state = str_load(&l->state);

		if (state != STR_LINK_LIVE && state != STR_LINK_GONE &&
		    l->via == up && l->id > after &&
		    (found == NULL || l->id < found->id))
			found = l;
	}
	return found;
}

/*
 * The next such link, with its lower stream's busy lock taken.  Other threads
 * may remove a persistent link, but only with the list's lock and its lower
 * stream busy.
 */
static struct str_link *
grab_broken(struct str_plumb *up, bool persist, int *after, bool *ret_died)
{
	struct str_fmod *fm = multiplexor(up);
	struct str_link *l;
	bool got = false;

	if (fm == NULL)
		return NULL;
	if (persist)
		(void)str_lock(&fm->plock);
	/* if another thread has it busy, a later sweep handles it */
	while (!got && (l = broken(persist ? fm->plinks : up->links, up,
				*after)) != NULL) {
		*after = l->id;
		got = str_busy_grab(l->lower->plumb, ret_died);
	}
	if (persist)
		str_unlock(&fm->plock);
	return got ? l : NULL;
}

/*
 * Remove a link that a dead thread was changing.  Locks: busy of both streams.
 */
static void
mend_one(struct str_plumb *up, struct str_link *l, bool died)
{
	struct str_head *lower = l->lower;
	struct host_call hc = {.fd = -1, .sig_seq = host_tls.sig_seq};
	bool sure;

	if (died) {
		str_plumb_lock(lower->plumb);
		str_plumb_repair(lower->plumb);
		str_plumb_recount(lower->plumb);
		str_plumb_unlock(lower->plumb);
	}
	/* the driver may have it or not: send I_UNLINK in any case */
	str_store(&l->state, STR_LINK_GOING);
	(void)tell_for(&up->head[0], &hc, l,
		l->persist ? I_PUNLINK : I_UNLINK, MEND_MS, &sure);
	STR_CRASH_POINT("link:mend");
	undo(up, l, sure);
	if (sure)
		str_head_unref_later(lower);
	str_busy_unlock(lower->plumb);
}

/*
 * str_link_mend - remove the links of @pl that are neither LIVE nor GONE
 * Locks: busy of @pl, so no living thread changes them.  Return: their number;
 * a sweep closes the streams that they held.
 */
unsigned
str_link_mend(struct str_plumb *pl)
{
	unsigned n = 0, persist;
	struct str_link *l;
	bool died;

	for (persist = 0; persist < 2 && !str_link_none(pl); persist++) {
		int after = 0;

		while ((l = grab_broken(pl, persist, &after, &died)) != NULL) {
			mend_one(pl, l, died);
			n++;
		}
	}
	return n;
}

/* str_link_sweep - the same without the lock: takes busy, and returns 0 if
 * another thread has it. */
unsigned
str_link_sweep(struct str_plumb *pl)
{
	unsigned n;
	bool died;

	if (str_link_none(pl) || !str_busy_grab(pl, &died))
		return 0;
	n = died ? str_busy_mend(pl) : str_link_mend(pl);
	str_busy_unlock(pl);
	return n;
}

/*
 * str_link_look - @low has a link: if a dead thread left it half made or half
 * removed, complete or undo that
 * The caller is inside @low, which is not closed meanwhile.
 */
void
str_link_look(struct str_plumb *low)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	struct str_link *l = low->under;
	struct str_plumb *up;

	if (l == NULL || !str_mem_valid(l) ||
	    str_load(&l->state) == STR_LINK_LIVE)
		return;
	up = l->via;
	if (up != NULL && str_stream_inside(up))
		(void)str_link_sweep(up);
	str_store_rel(&t->inside, was);
}

long
str_ioctl_link(struct str_head *sd, struct host_call *hc, unsigned cmd,
	unsigned long arg)
{
	bool persist = cmd == I_PLINK || cmd == I_PUNLINK;
	struct str_head *lower;
	int err, id = 0;

	if (cmd == I_UNLINK || cmd == I_PUNLINK)
		return -str_plumb_unlink(sd, (int)arg, hc, persist);
	lower = str_head_of_fd(hc, (int)arg);
	if (lower == NULL)
		return str_fd_is_open((int)arg) ? -EINVAL : -EBADF;
	str_head_ref(lower);
	err = str_plumb_link(sd, lower, hc, persist, &id);
	if (err != 0 && id != -1)
		str_head_unref(lower, hc);
	return err != 0 ? -err : id;
}

/*
 * str_link_bury - the driver of the upper stream @up has closed: free the links
 * that it had not acknowledged to be removed
 * Persistent links stay: the driver's other streams may use them.
 */
void
str_link_bury(struct str_plumb *up, struct host_call *hc)
{
	struct str_head *lower;
	struct str_link *l;

	for (;;) {
		for (l = up->links; l != NULL; l = l->next)
			if (str_load(&l->state) == STR_LINK_GONE)
				break;
		if (l == NULL)
			return;
		lower = l->lower;
		take_out(up, l);
		str_head_unref(lower, hc);
	}
}

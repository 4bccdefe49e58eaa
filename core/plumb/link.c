/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Multiplexors: linking a stream below a driver.
 *
 * Life.  I_LINK puts a queue pair with the multiplexor's lower procedures on
 * top of the lower stream, in the place of its head, and tells the driver
 * with an M_IOCTL on the upper stream; when that is refused all is undone.
 * I_UNLINK is the reverse.  The lower stream is held by a reference, so that
 * its descriptors may be closed.  A link made with I_PLINK belongs to the
 * driver and not to the upper stream.
 *
 * Locks.  The upper stream's busy lock, then the lower's; the second is only
 * tried, with the first given up in between, because two links may meet from
 * opposite sides.  No lock is held over more than these two, so a cycle made
 * by several at once is looked for once more when the link stands.
 *
 * Crash.  A link is entered in its list before the lower pair is mounted and
 * leaves it after that is gone: whatever the dead left is what a sweep of the
 * upper stream unlinks.
 */
#include "core.h"
#include <sys/stropts.h>

#define DEPTH 64u	/* of cascaded multiplexors */
#define UNLINK_MS 15000u

static void
nap(struct host_call *hc)
{
	str_a32 word = 0;

	(void)host_wait(hc, &word, 0, 1000000u);
}

/* Both busy locks.  Return: 0, EINTR. */
static int
lock_both(struct str_plumb *up, struct str_plumb *low, struct host_call *hc)
{
	for (;;) {
		int err = str_busy_lock(up, hc);
		uint32_t v;

		if (err != 0)
			return err;
		v = str_load(&low->busy.owner);
		if (v == 0 || host_owner_dead(v)) {
			err = str_busy_lock(low, hc);
			if (err != 0)
				str_busy_unlock(up);
			return err;
		}
		str_busy_unlock(up);
		nap(hc);
		if (hc != NULL && host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
	}
}

static bool
reaches(struct str_plumb *from, struct str_plumb *to, unsigned depth);

static bool
list_reaches(struct str_link *l, struct str_plumb *to, unsigned depth)
{
	for (; l != NULL; l = l->next)
		if (reaches(l->lower->plumb, to, depth))
			return true;
	return false;
}

/* Is @to below @from?  Deeper than DEPTH counts as yes. */
static bool
reaches(struct str_plumb *from, struct str_plumb *to, unsigned depth)
{
	if (from == to || depth >= DEPTH)
		return true;
	if (list_reaches(from->links, to, depth + 1))
		return true;
	return from->driver != NULL &&
		list_reaches(from->driver->fmod->plinks, to, depth + 1);
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

static void
enter(struct str_plumb *up, struct str_link *l)
{
	str_mem_disown(l);
	if (l->persist) {
		(void)str_lock(&l->fmod->plock);
		list_add(&l->fmod->plinks, l);
		str_unlock(&l->fmod->plock);
	} else {
		list_add(&up->links, l);
	}
}

/* Take the link apart.  Locks: busy of both. */
static void
undo(struct str_plumb *up, struct str_link *l)
{
	struct str_head *sd = l->lower;
	mblk_t *mp;

	str_mem_own(l->qp);
	qprocsoff(&l->qp->rq);
	STR_CRASH_POINT("link:off");
	/* what the driver has not taken is for who opens the head again */
	while ((mp = getq(&l->qp->rq)) != NULL)
		str_head_rput(sd, &sd->qp->rq, mp);
	sd->plumb->under = NULL;
	str_qpair_free(l->qp);
	(void)str_and(&sd->flags, ~STR_H_PLEX);
	if (l->persist) {
		(void)str_lock(&l->fmod->plock);
		list_remove(&l->fmod->plinks, l);
		str_unlock(&l->fmod->plock);
	} else {
		list_remove(&up->links, l);
	}
	str_mem_own(l);
	str_mem_free(l);
	str_wake_all(sd);
}

static int
tell(struct str_head *upper, struct host_call *hc, struct str_link *l, int cmd)
{
	struct linkblk lb;
	long ret;

	__builtin_memset(&lb, 0, sizeof(lb));
	lb.l_qtop = l->persist ? NULL : &upper->plumb->driver->wq;
	lb.l_qbot = &l->qp->wq;
	lb.l_index = l->id;
	ret = str_ioctl_internal(upper, hc, cmd, &lb, sizeof(lb), UNLINK_MS);
	return ret < 0 ? (int)-ret : 0;
}

/* What forbids to link @lower below @upper, 0 nothing.  Locks: busy of both. */
static int
refused(struct str_head *upper, struct str_head *lower)
{
	struct str_plumb *up = upper->plumb, *low = lower->plumb;
	uint32_t f = str_load(&lower->flags);

	if (up->driver == NULL || up->driver->fmod->tab.st_muxrinit == NULL ||
	    up->driver->fmod->tab.st_muxwinit == NULL)
		return EINVAL;
	if (low->kind != STR_PL_DEV || low->driver == NULL ||
	    (f & (STR_H_PLEX | STR_H_HUP | STR_H_RDERR | STR_H_WRERR |
		STR_H_CLOSED)) != 0)
		return EINVAL;
	if (reaches(low, up, 0))
		return EINVAL; /* a circle, of one stream at the least */
	return 0;
}

static int
link_locked(struct str_head *upper, struct str_head *lower,
	struct host_call *hc, bool persist, int *ret_id)
{
	struct str_plumb *up = upper->plumb, *low = lower->plumb;
	struct str_qpair *qp;
	struct str_link *l;
	int err = refused(upper, lower);

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
	l->id = (int)(uint32_t)(str_add(str_root(STR_ROOT_MUXID),
			(uint64_t)1) + 1);
	qp->rq.q_next = NULL;
	qp->wq.q_next = lower->qp->wq.q_next;
	low->under = l;
	str_mem_disown(qp);
	enter(up, l);
	STR_CRASH_POINT("link:entered");
	(void)str_or(&lower->flags, STR_H_PLEX);
	str_wake_all(lower);
	str_procs_on(qp);
	if (list_reaches(low->links, low, 0))
		err = EINVAL; /* made by several at once */
	else
		err = tell(upper, hc, l, persist ? I_PLINK : I_LINK);
	if (err != 0) {
		undo(up, l);
		return err;
	}
	*ret_id = l->id;
	return 0;
}

/*
 * str_plumb_link - I_LINK, I_PLINK
 * The caller holds a reference to @lower, which the link takes over.
 * Return: 0; EINVAL (no multiplexor, not to be linked, a circle), EAGAIN no
 * memory, EINTR, ETIME, or what the driver answered.
 */
int
str_plumb_link(struct str_head *upper, struct str_head *lower,
	struct host_call *hc, bool persist, int *ret_id)
{
	int err;

	if (upper->plumb == lower->plumb ||
	    lower->plumb->kind != STR_PL_DEV || upper->plumb->driver == NULL)
		return EINVAL;
	err = lock_both(upper->plumb, lower->plumb, hc);
	if (err != 0)
		return err;
	err = link_locked(upper, lower, hc, persist, ret_id);
	str_busy_unlock(lower->plumb);
	str_busy_unlock(upper->plumb);
	return err;
}

static struct str_link *
find(struct str_head *upper, int id, bool persist)
{
	struct str_link *l = persist ? upper->plumb->driver->fmod->plinks :
				       upper->plumb->links;

	while (l != NULL && id != MUXID_ALL && l->id != id)
		l = l->next;
	return l;
}

/* One link; @force: whatever the driver says. */
static int
unlink_one(struct str_head *upper, struct host_call *hc, int id, bool persist,
	bool force)
{
	struct str_plumb *up = upper->plumb;
	struct str_head *lower;
	struct str_link *l;
	bool mine;
	int err;

	for (;;) {
		mine = str_busy_lock(up, hc) == 0;
		l = find(upper, id, persist);
		if (l == NULL) {
			if (mine)
				str_busy_unlock(up);
			return EINVAL;
		}
		lower = l->lower;
		if (str_load(&lower->plumb->busy.owner) == 0 ||
		    host_owner_dead(str_load(&lower->plumb->busy.owner))) {
			err = str_busy_lock(lower->plumb, hc);
			if (err == 0)
				break;
		}
		if (mine)
			str_busy_unlock(up);
		nap(hc);
		if (hc != NULL && host_interrupted(hc) == HOST_SIG_INTR)
			return EINTR;
	}
	err = tell(upper, hc, l, persist ? I_PUNLINK : I_UNLINK);
	if (err == 0 || force)
		undo(up, l);
	str_busy_unlock(lower->plumb);
	if (mine)
		str_busy_unlock(up);
	if (err == 0 || force)
		str_head_unref(lower, hc);
	return force ? 0 : err;
}

/*
 * str_plumb_unlink - I_UNLINK, I_PUNLINK
 * Return: 0; EINVAL (no such link, or it is of the other sort), EINTR, ETIME,
 * or what the driver answered.
 */
int
str_plumb_unlink(struct str_head *upper, int id, struct host_call *hc,
	bool persist)
{
	int err;

	if (upper->plumb->driver == NULL || (id <= 0 && id != MUXID_ALL))
		return EINVAL;
	if (id != MUXID_ALL)
		return unlink_one(upper, hc, id, persist, false);
	while (find(upper, MUXID_ALL, persist) != NULL) {
		err = unlink_one(upper, hc, MUXID_ALL, persist, false);
		if (err != 0)
			return err;
	}
	return 0;
}

/* str_unlink_all - the upper stream is closing. */
void
str_unlink_all(struct str_plumb *pl, struct host_call *hc)
{
	struct host_call own = {.fd = -1, .sig_seq = host_tls.sig_seq};

	while (pl->links != NULL &&
	       unlink_one(&pl->head[0], hc != NULL ? hc : &own, MUXID_ALL,
		       false, true) == 0)
		;
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
	if (err != 0)
		str_head_unref(lower, hc);
	return err != 0 ? -err : id;
}

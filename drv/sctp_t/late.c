/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Callers for which a listener has no place.
 *
 * A COOKIE ECHO with a valid cookie that comes while as many callers wait to be
 * accepted as the listener permits is kept in the slot of its home.  When a
 * caller has been answered or has gone, the home is served, and the packets that
 * are kept are read as if they had just arrived.  So the caller waits for the
 * listener's user, not for its own retransmission.
 *
 * Bounds.  A home keeps SCTPT_LATE packets of at most SCTPT_LATE_SIZE bytes, one
 * of each caller.  A caller whose packet is dropped repeats it.  A packet without
 * a valid cookie is not kept.
 *
 * A place that becomes free is not overlooked: the thread that keeps a packet
 * counts the callers once more, under the same lock as the thread that answers
 * one, and that thread looks for packets afterwards.
 *
 * Crash: the list is reachable from the slot, so its packets survive the thread
 * that has put them there.
 */
#include "sctp_t.h"

/* Are both from the same caller: addresses, ports, and verification tag? */
static int
is_same(mblk_t *a, mblk_t *b)
{
	struct sctp_packet p, q;

	sctpt_packet_of(a, &p);
	sctpt_packet_of(b, &q);
	return sctpt_addr_eq(&p.src, &q.src) && bcmp(p.p, q.p, 8) == 0;
}

/* Take the packet at @pp from the list. */
static mblk_t *
unlink_at(mblk_t *volatile *pp)
{
	mblk_t *mp = *pp;

	str_msg_hold(mp);
	str_store_rel(pp, mp->b_next);
	mp->b_next = NULL;
	return mp;
}

/*
 * sctpt_late_put - keep the COOKIE ECHO @mp
 * Context: the turn.  Return: 1; 0: there is no room, @mp is the caller's.
 */
int
sctpt_late_put(struct sctpt_slot *home, mblk_t *mp)
{
	mblk_t *volatile *pp;
	uint32_t n = 0;

	if (MBLKL(mp) > (ssize_t)SCTPT_LATE_SIZE)
		return 0;
	for (pp = &home->late; *pp != NULL;
		pp = (mblk_t *volatile *)&(*pp)->b_next)
		if (++n == SCTPT_LATE || is_same(*pp, mp))
			return 0; /* full, or repeated */
	mp->b_next = NULL;
	str_store_rel(pp, mp);
	return 1;
}

/* sctpt_late_take - the first one; NULL: none is kept.  Context: the turn. */
mblk_t *
sctpt_late_take(struct sctpt_slot *home)
{
	return home->late != NULL ? unlink_at(&home->late) : NULL;
}

/* sctpt_late_abort - @mp is an ABORT: its caller waits no more */
void
sctpt_late_abort(struct sctpt_slot *home, mblk_t *mp)
{
	mblk_t *volatile *pp = &home->late;

	while (*pp != NULL)
		if (is_same(*pp, mp))
			freemsg(unlink_at(pp));
		else
			pp = (mblk_t *volatile *)&(*pp)->b_next;
}

/*
 * sctpt_late_place - the listener @u may have a place again
 * Context: no turn.
 */
void
sctpt_late_place(struct sctpt *u)
{
	struct sctpt_slot *home = u->home;

	if (home != NULL && str_load_acq(&home->late) != NULL)
		sctpt_serve(home, 0);
}

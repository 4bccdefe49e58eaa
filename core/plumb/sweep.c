/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sweeping closes the streams that only dead processes held.
 *
 * Stages.  A walk over all streams closes files without a holder.  It also
 * finds out whether a second walk may find more, and whether there are heads
 * that only references keep.  In the latter case the collector runs
 * (collect.c), and a last walk closes the heads that it has released.  All of
 * this is divided into slices.
 *
 * Wanted.  A thread that is about to sleep while no streamsd runs asks whether
 * one is needed.  For *common* pipes it is not, and most domains contain only
 * these.  A pipe is common if its only open files are those that pipe(2) made,
 * no end has had a reference or has a box, and no process is registered for its
 * signals (watched()); it may have modules, and be a PLAIN pipe.  After a walk
 * that has found only common pipes, no thread walks again until a pipe ceases
 * to be common or another stream is made.  Each function that does this counts
 * it (str_stream_odd).
 *
 * Crash.  Between two slices a sweep holds only the right to collect
 * (STR_ROOT_COLLECT), which is taken over from a dead thread.  The next sweep
 * finds what this one has not closed.  A thread may die after it has made a
 * stream other than a common pipe, and before it has counted this.  Therefore a
 * reaper counts once for each dead thread.
 */
#include "core.h"
#include "sock/sock.h"

#define MANY 1024u /* streams, before streamsd looks for dead pipes */
#define LISTED 64u /* heads: for so many or more, one listing is cheaper */

/* Values of str_sweep.stage. */
enum { IDLE, WALK, AGAIN, COLLECT };

/* Must a sweep examine pipe @pl because of references?  That is so if
 * references keep an end.  It is also so if an end has neither a file nor a
 * reference, and is not closed: when a reference is released after the last
 * file was closed, no thread may notice it. */
static bool
by_refs(struct str_plumb *pl)
{
	bool yes = false;
	uint32_t e;

	for (e = 0; e < 2; e++)
		yes = yes || str_head_refs(&pl->head[e]) != 0 ||
			((str_load(&pl->closed) & (1u << e)) == 0 &&
				str_load(&pl->head[e].refs) != 0 &&
				!str_head_has_file(&pl->head[e]));
	return yes;
}

/*
 * Are its ends held only by the files that pipe(2) made?  These files may have
 * been reused, for an open of a name.
 */
static bool
is_pair(struct str_plumb *pl)
{
	bool yes = true;
	uint32_t e;

	for (e = 0; e < 2; e++)
		yes = yes && pl->head[e].file.next == NULL &&
			pl->head[e].file.carrier.kind == HOST_CARRIER_PAIR;
	return yes;
}

/* Does a process wait for a signal?  It does not look at the carrier itself. */
static bool
by_signals(struct str_plumb *pl)
{
	return pl->head[0].sigs != NULL || pl->head[1].sigs != NULL;
}

/* Has an end of @pl a box?  Passed descriptors may wait in it, which are to be
 * closed when the end is. */
static bool
by_boxes(struct str_plumb *pl)
{
	return str_load(&pl->head[0].box) != 0 ||
		str_load(&pl->head[1].box) != 0;
}

/* Check one stream for files without a holder. */
static bool
sweep(struct str_plumb *pl, void *arg)
{
	struct str_sweep *s = arg;
	uint64_t sid = pl->sid;
	unsigned e;

	s->mended |= str_link_sweep(pl) != 0;
	if (!s->pairs && pl->kind == STR_PL_PIPE && is_pair(pl) &&
	    !by_refs(pl) && !by_signals(pl) && !by_boxes(pl))
		return false; /* the other end, or lack of memory, leads to its
			       * close */
	if (str_unlikely((str_load(&pl->head[0].flags) & STR_H_PLAIN) != 0) &&
	    !str_pipe_abandoned(pl))
		return false; /* its holders look at the kernel's pipe */
	for (e = 0; e < pl->nheads; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->file.carrier.kind == HOST_CARRIER_PAIR &&
		    str_load(&sd->file.open) == 1 &&
		    !host_listing_has(s->listing, &sd->file.carrier) &&
		    !host_carrier_alive(&sd->file.carrier))
			str_pipe_pair_gone(sd);
		if (!str_stream_lives(pl) || pl->sid != sid)
			break;
		str_box_tidy(sd);
		if (++s->heads == LISTED && s->listing == NULL)
			s->listing = host_listing_make();
		s->files += str_head_sweep_listed(sd, NULL, s->listing);
	}
	if (str_dir_find(sid) == NULL)
		s->n++;
	else
		for (e = 0; e < pl->nheads; e++)
			s->orphans |= str_head_orphan(&pl->head[e]);
	return false;
}

/* Begin a walk over @n entries. */
static void
walk(struct str_sweep *s, uint32_t n)
{
	s->walk.left = n;
	s->heads = 0;
	if (s->pairs && n != 0)
		s->listing = host_listing_make();
}

/*
 * The next stage of @s; false: it is finished.  If there are orphans, pipes are
 * examined, too, because a pipe whose holders were killed together may hold
 * other streams by its messages.  If processes have died meanwhile, the
 * collector's run is interrupted by a walk, and continues afterwards, for at
 * least one slice.
 */
static bool
next_stage(struct str_sweep *s)
{
	host_listing_free(s->listing);
	s->listing = NULL;
	switch (s->stage) {
	case WALK:
		if (s->mended || (s->orphans && !s->pairs)) {
			s->pairs = s->pairs || s->orphans;
			s->stage = AGAIN;
			break;
		}
		/* fall through */
	case AGAIN:
		if (s->orphans && s->collect == NULL) {
			s->collect = str_collect_begin();
			s->unsure |= s->collect == NULL;
		}
		if (s->collect != NULL) {
			s->stage = COLLECT;
			return true;
		}
		/* fall through */
	default:
		if (s->stage != IDLE)
			s->pairs = s->pairs && s->collect != NULL;
		if (!s->asked) {
			s->stage = IDLE;
			return false;
		}
		if (!s->pairs || s->collect != NULL)
			str_sig_sweep();
		s->pairs = s->pairs || s->pairs_asked;
		s->asked = s->pairs_asked = false;
		s->mended = s->orphans = s->turn = s->unsure = false;
		s->stage = WALK;
		break;
	}
	walk(s, STR_NCOOKIE);
	return true;
}

void
str_sweep_ask(struct str_sweep *s, bool pairs)
{
	s->asked = true;
	s->pairs_asked = s->pairs_asked || pairs;
}

bool
str_sweep_some(struct str_sweep *s, uint64_t ns)
{
	uint64_t until = ns == UINT64_MAX ? ns : host_now() + ns;

	do {
		if (s->stage == COLLECT && s->collect != NULL &&
		    (!s->asked || !s->turn)) {
			s->turn = true;
			if (str_collect_some(s->collect, until))
				continue;
			/* the heads that it released are swept */
			walk(s, str_collect_end(s->collect, &s->unsure) *
				STR_NCOOKIE);
			s->collect = NULL;
		}
		if (s->walk.left == 0 && !next_stage(s)) {
			if (str_stream_unburied())
				s->n += str_stream_bury_all();
			s->unsure |= str_stream_unburied();
			return false;
		}
		str_stream_walk_some(sweep, s, &s->walk, until);
	} while (until == UINT64_MAX || host_now() < until);
	return true;
}

/*
 * str_region_sweep - close and free streams that only dead processes held
 * Return: streams freed.
 */
unsigned
str_region_sweep(void)
{
	struct str_sweep s = {.asked = true, .pairs = true};

	(void)str_sweep_some(&s, UINT64_MAX);
	return s.n + str_stream_bury_all();
}

/*
 * str_region_room - the same for a caller that found no room
 * Context: a call; no lock, no claim.
 * Return: true if there may be room now.
 */
bool
str_region_room(void)
{
	struct str_sweep s = {.asked = true, .pairs = true};

	(void)str_sweep_some(&s, UINT64_MAX);
	return str_stream_bury_all() + s.n + s.files != 0;
}

unsigned
str_region_members_died(void)
{
	struct str_sweep s = {.asked = true};

	(void)str_sweep_some(&s, UINT64_MAX);
	return s.n;
}

struct found {
	bool wanted; /* one for which streamsd is needed now */
	bool odd;    /* a stream that had references: streamsd may become
		      * needed although no thread calls str_stream_odd() */
};

/* Has it a carrier whose last close no member would notice? */
static bool
watched(struct str_plumb *pl, void *arg)
{
	struct found *is = arg;
	struct str_file *f;
	unsigned e;

	is->wanted = pl->kind != STR_PL_PIPE || by_refs(pl) ||
		by_signals(pl) || by_boxes(pl);
	for (e = 0; e < pl->nheads && !is->wanted; e++) {
		is->odd = is->odd || str_load(&pl->head[e].refs) != 0;
		for (f = &pl->head[e].file; f != NULL && !is->wanted;
			f = f->next)
			is->wanted = f->carrier.kind == HOST_CARRIER_OPEN &&
				str_load(&f->open) != 0;
	}
	return is->wanted;
}

bool
str_region_wanted(void)
{
	uint64_t odd = str_load_acq(str_root(STR_ROOT_ODD));
	struct found is = {false, false};

	if (str_timer_pending() || str_foreign_wanted() ||
	    str_region_undone() || str_stream_unburied())
		return true;
	if (str_load(str_root(STR_ROOT_PLAIN)) == odd + 1)
		return false;
	str_stream_walk(watched, &is);
	/* a change during the walk has another count */
	if (!is.wanted && !is.odd)
		str_store(str_root(STR_ROOT_PLAIN), odd + 1);
	return is.wanted;
}

bool
str_region_many(void)
{
	return str_load(str_root(STR_ROOT_NPIPES)) >= MANY;
}

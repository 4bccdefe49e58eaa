/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sweeping: the streams that only the dead held are closed.
 *
 * Stages.  A walk over all streams closes files without a holder, and says whether
 * a second one may find more, and whether there are heads that nothing but
 * references keeps: then the collector runs (collect.c), and what it has let go of
 * is swept up by a last walk.  All of it is cut into slices.
 *
 * Crash.  A sweep holds nothing but the collector's run: the next one finds the
 * same.
 */
#include "core.h"
#include "sock/sock.h"

#define TIDY 1024u /* pipes, before an attach looks for dead ones */

/* What str_sweep.stage says. */
enum { IDLE, WALK, AGAIN, COLLECT };

/* Has a pipe's end references, or had it, so that its close goes unseen? */
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
 * Are its ends held by what pipe(2) made alone?  The place of that may have been
 * used again, for an open of a name.
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

/* Does a process wait for a signal, which will not look by itself? */
static bool
by_signals(struct str_plumb *pl)
{
	return pl->head[0].sigs != NULL || pl->head[1].sigs != NULL;
}

/* Do descriptors wait there, which are to be closed when the end is? */
static bool
by_boxes(struct str_plumb *pl)
{
	return str_load(&pl->head[0].box) != 0 ||
		str_load(&pl->head[1].box) != 0;
}

/* One stream: is it held by the living? */
static bool
sweep(struct str_plumb *pl, void *arg)
{
	struct str_sweep *s = arg;
	uint64_t sid = pl->sid;
	unsigned e;

	s->mended |= str_link_sweep(pl) != 0;
	if (!s->pairs && pl->kind == STR_PL_PIPE && is_pair(pl) &&
	    !by_refs(pl) && !by_signals(pl) && !by_boxes(pl))
		return false; /* its other end, or memory pressure, sees to it */
	for (e = 0; e < pl->nheads; e++) {
		struct str_head *sd = &pl->head[e];

		if (sd->file.carrier.kind == HOST_CARRIER_PAIR &&
		    str_load(&sd->file.open) == 1 &&
		    !host_carrier_alive(&sd->file.carrier))
			str_pipe_pair_gone(sd);
		if (!str_stream_lives(pl) || pl->sid != sid)
			break;
		str_box_tidy(sd);
		s->files += str_head_sweep(sd, NULL);
	}
	if (str_dir_find(sid) == NULL)
		s->n++;
	else
		for (e = 0; e < pl->nheads; e++)
			s->orphans |= str_head_orphan(&pl->head[e]);
	return false;
}

/*
 * What @s does next; false: it is done.  A pipe whose ends died at once may hold
 * others by what it has.  The collector's run is left for a walk when processes
 * have died meanwhile, and goes on after that, by a slice at least.
 */
static bool
next_stage(struct str_sweep *s)
{
	switch (s->stage) {
	case WALK:
		if (s->mended || (s->orphans && !s->pairs)) {
			s->pairs = s->pairs || s->orphans;
			s->stage = AGAIN;
			break;
		}
		/* fall through */
	case AGAIN:
		if (s->orphans && s->collect == NULL)
			s->collect = str_collect_begin();
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
		s->asked = s->mended = s->orphans = s->turn = false;
		s->stage = WALK;
		break;
	}
	s->walk.left = STR_NCOOKIE;
	return true;
}

void
str_sweep_ask(struct str_sweep *s)
{
	s->asked = true;
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
			/* what it let go of is swept up */
			s->walk.left = str_collect_end(s->collect) *
				STR_NCOOKIE;
			s->collect = NULL;
		}
		if (s->walk.left == 0 && !next_stage(s)) {
			if (str_stream_unburied())
				s->n += str_stream_bury_all();
			return false;
		}
		str_stream_walk_some(sweep, s, &s->walk, until);
	} while (until == UINT64_MAX || host_now() < until);
	return true;
}

/*
 * str_region_sweep - close and free what only the dead held
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
 * str_region_room - the same for who has found no room
 * Context: a call; no lock, no claim.  Return: is there more now, perhaps?
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

/* Is a carrier under it whose last close no member would be told of? */
static bool
watched(struct str_plumb *pl, void *arg)
{
	bool *yes = arg;
	struct str_file *f;
	unsigned e;

	*yes = pl->kind != STR_PL_PIPE || by_refs(pl) || by_signals(pl) ||
		by_boxes(pl);
	for (e = 0; e < pl->nheads && !*yes; e++)
		for (f = &pl->head[e].file; f != NULL && !*yes; f = f->next)
			*yes = f->carrier.kind == HOST_CARRIER_OPEN &&
				str_load(&f->open) != 0;
	return *yes;
}

bool
str_region_wanted(void)
{
	bool yes = str_timer_pending() || str_foreign_wanted() ||
		str_region_undone() || str_stream_unburied();

	if (!yes)
		str_stream_walk(watched, &yes);
	return yes;
}

/* str_region_tidy - a process has attached: sweep if it could be worth it. */
void
str_region_tidy(void)
{
	if (str_load(str_root(STR_ROOT_NPIPES)) >= TIDY)
		(void)str_region_sweep();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The collector: Stream heads that nothing but references keeps, when these
 * are none.
 *
 * Purpose.  A head without an open file lives by its references: names,
 * links, descriptors on their way (M_PASSFP).  Two things may go wrong.  A
 * thread is killed between counting a reference and laying it where it
 * belongs, or between taking it from there and counting it no more: then too
 * many are counted, for ever.  And pipes and FIFOs may hold each other: a
 * descriptor of a pipe waits in a pipe that is itself nothing but a descriptor
 * that waits, as files in AF_UNIX messages may.
 *
 * Counting.  Whatever carries a reference can be found: passes and links by
 * walking the memory, names by their list, the half of a pipe by its word.
 * Only a thread in the midst of it has one that cannot be found, and its slot
 * says so (`moving', `held').  The collector reads a head's count, looks at
 * the slots, counts what is there, looks at the slots again, and sets the
 * count right by a compare-and-swap that fails when there was any change
 * since: the count's upper half numbers them.  So what it finds out about a
 * head was true at one moment, whatever others did meanwhile.
 *
 * Circles.  A set of heads of pipes and FIFOs is garbage when none of them has
 * a file and all references to each of them wait at heads of the set: no process
 * can get at them, and none ever will.  (A closed end belongs to it: what
 * waits there is never received.  An open of a FIFO by its name finds it as
 * after its last close.)  The set is what is left after those have been thrown
 * out of which this does not hold.  Its heads get a reference of the
 * collector's, which again fails when anything has changed; then what waits
 * at them is flushed, so that each pass gives its reference back as always;
 * then they are given up and closed as always.
 *
 * Slices.  A run is cut into steps, and a step goes on from where it was: between
 * two slices its thread does other things, to heads too.  That is as if another
 * thread did them.
 *
 * Locks.  One collector at a time; the root word names it, and the next one
 * takes it from a dead one.  Nothing else is held.  A stopped thread whose
 * slot says `moving' keeps it from doing anything.
 *
 * Crash.  Its tables are memory of its own, which the reaper frees.  The
 * references it took are too many, which the next run finds.
 */
#include "collect.h"

#define ROUNDS 1000u /* of what is freed by what is freed: more next time */

/* ------------------------------------------------------------- what is to do */

/* Be inside the stream of @c, if it is the one that was noted. */
static bool
enter(struct cand *c)
{
	return str_stream_inside(c->pl) && c->pl->sid == c->sid;
}

/* Counts that are too great. */
static enum went
correct(struct str_collect *r, uint64_t until)
{
	while (r->i < r->cand.n) {
		struct cand *c = cand(r, r->i++);
		uint32_t has = (uint32_t)c->refs;

		if (has <= c->found || !enter(c) ||
		    !str_cas(&c->sd->refs, c->refs, ((c->refs >> 32) + 1) << 32 |
			c->found))
			continue;
		STR_CRASH_POINT("collect:right");
		r->done = true;
		if (c->found == 0)
			str_head_sweep(c->sd, NULL);
		if (is_over(until))
			return MORE;
	}
	return r->done ? LAST : NEXT;
}

/*
 * The greatest set of heads to which all references are from within.  Again and
 * again: phase 0 counts nothing yet, 1 counts the edges, 2 throws out.
 */
static bool
circle_ends(struct str_collect *r, uint32_t i)
{
	struct edge *e;
	struct cand *c;

	switch (r->phase) {
	case 0:
		if (i == r->cand.n)
			break;
		cand(r, i)->inner = 0;
		return false;
	case 1:
		if (i == r->edge.n)
			break;
		e = str_collect_entry(&r->edge, i);
		if (str_collect_lookup(r, e->at)->in)
			str_collect_lookup(r, e->to)->inner++;
		return false;
	default:
		if (i == r->cand.n)
			break;
		c = cand(r, i);
		if (c->in && c->inner != (uint32_t)c->refs) {
			c->in = 0;
			r->again = true;
		}
		r->any = r->any || (c->in && (uint32_t)c->refs != 0);
		return false;
	}
	r->i = 0;
	return true;
}

static enum went
circles(struct str_collect *r, uint64_t until)
{
	uint32_t k;

	for (k = 1;; k++) {
		if (!circle_ends(r, r->i)) {
			r->i++;
		} else if (r->phase < 2) {
			r->again = r->any = false;
			r->phase++;
		} else if (r->again) {
			r->phase = 0;
		} else {
			return r->any ? NEXT : LAST;
		}
		if (k % BETWEEN == 0 && is_over(until))
			return MORE;
	}
}

/* Hold the heads of the set, unless there was a change. */
static enum went
seize(struct str_collect *r, uint64_t until)
{
	uint32_t k;

	for (k = 1; r->i < r->cand.n; k++) {
		struct cand *c = cand(r, r->i++);

		if (!c->in)
			continue;
		if (!enter(c) || str_head_has_file(c->sd) ||
		    !str_cas(&c->sd->refs, c->refs,
			c->refs + STR_REF_CHANGE + 1)) {
			r->late = true;
			return LAST;
		}
		c->mine = 1;
		if (k % BETWEEN == 0 && is_over(until))
			return MORE;
	}
	STR_CRASH_POINT("collect:seized");
	r->done = true;
	return NEXT;
}

static enum went
flush(struct str_collect *r, uint64_t until)
{
	while (r->i < r->cand.n) {
		struct cand *c = cand(r, r->i++);

		if (!c->in || !enter(c))
			continue;
		(void)str_claim(c->pl);
		str_head_flush_read(c->sd, -1);
		str_unclaim(c->pl);
		STR_CRASH_POINT("collect:flushed");
		if (is_over(until))
			return MORE;
	}
	return NEXT;
}

static enum went
let_go(struct str_collect *r, uint64_t until)
{
	while (r->i < r->cand.n) {
		struct cand *c = cand(r, r->i++);

		if (!c->mine || !enter(c))
			continue;
		c->mine = 0;
		str_ref_begin();
		str_head_unref(c->sd, NULL);
		if (is_over(until))
			return MORE;
	}
	return LAST;
}

static enum went (*const steps[])(struct str_collect *r, uint64_t until) = {
	str_collect_note, str_collect_sort, str_collect_hands,
	str_collect_blocks, str_collect_names, str_collect_halves,
	str_collect_hands_again, correct, circles, seize, flush, let_go,
};
#define CORRECT 7u /* from here on the counts are what they were */
#define LET_GO 11u
_Static_assert(STR_ARRAY_LEN(steps) == LET_GO + 1, "let_go is the last");

static void
prepare(struct table *t, size_t size)
{
	__builtin_memset(t, 0, sizeof(*t));
	t->size = (uint32_t)size;
	t->per = (CHUNK - (uint32_t)sizeof(struct str_blk)) / t->size;
}

static void
discard(struct table *t)
{
	uint32_t k;

	for (k = 0; k < NCHUNK && t->chunk[k] != NULL; k++)
		str_mem_free(t->chunk[k]);
}

static void
begin_round(struct str_collect *r)
{
	__builtin_memset((char *)r + sizeof(r->blk), 0,
		offsetof(struct str_collect, round) - sizeof(r->blk));
	prepare(&r->cand, sizeof(struct cand));
	prepare(&r->edge, sizeof(struct edge));
}

/* Return: true when there is another round to be made. */
static bool
end_round(struct str_collect *r)
{
	bool done = r->done;

	if (!done && !r->full && !r->late && r->step >= CORRECT &&
	    str_load(str_root(STR_ROOT_REFSEQ)) == r->seq)
		str_store(str_root(STR_ROOT_COLLECTED), looked_at(r));
	discard(&r->cand);
	discard(&r->edge);
	begin_round(r);
	r->round += done;
	return done && r->round < ROUNDS;
}

/*
 * str_collect_begin - free what only references keep that are none, or that
 * no process can get at
 * Return: what str_collect_some() is called with until it returns false; NULL:
 * another thread is at it, or there is no memory.
 */
struct str_collect *
str_collect_begin(void)
{
	str_a64 *root = str_root(STR_ROOT_COLLECT);
	uint64_t who = str_load(root);
	struct str_collect *r;

	if ((who != 0 && !host_owner_dead((uint32_t)who)) ||
	    !str_cas(root, who, (uint64_t)host_self_tag()))
		return NULL;
	r = str_mem_alloc(sizeof(*r), STR_BLK_KMEM);
	if (r == NULL) {
		str_store_rel(root, (uint64_t)0);
		return NULL;
	}
	begin_round(r);
	r->round = 0;
	return r;
}

/*
 * str_collect_some - go on until the time @until, or a little longer
 * Context: a call of the thread that has begun it; no lock, no claim.
 * Return: true when it is to be called again.
 */
bool
str_collect_some(struct str_collect *r, uint64_t until)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	bool more = true;

	do {
		enum went went = steps[r->step](r, until);

		if (went == MORE)
			continue;
		r->i = r->phase = 0;
		if (went == NEXT)
			r->step++;
		else if (r->step < LET_GO && r->step > CORRECT + 1)
			r->step = LET_GO;
		else
			more = end_round(r);
	} while (more && !is_over(until));
	str_store_rel(&t->inside, was);
	return more;
}

/*
 * str_collect_end - it has returned false
 * Return: true when there is something to sweep up.
 */
bool
str_collect_end(struct str_collect *r)
{
	bool any = r->round != 0;

	str_mem_free(&r->blk);
	str_store_rel(str_root(STR_ROOT_COLLECT), (uint64_t)0);
	return any;
}

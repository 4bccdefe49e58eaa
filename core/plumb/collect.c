/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The collector frees Stream heads that are kept only by references that do not
 * exist or cannot be reached.
 *
 * Purpose.  A head without an open file lives by its references: names, links,
 * descriptors in M_PASSFP messages (*passes*).  There are two problems. If a
 * thread is killed between counting a reference and storing it, or between
 * removing it and decrementing the count, the count stays too high.  And pipes
 * and FIFOs may hold each other: a descriptor of a pipe waits in a pipe whose
 * own descriptors are only in waiting messages, as with files in AF_UNIX
 * messages.
 *
 * Counting.  Every stored reference can be found: passes and links by walking
 * the memory, names by their list, the half of a pipe by its word.  Only a
 * thread that is moving a reference has one that cannot be found, and its slot
 * records this (`moving', `held').  The collector reads a head's count,
 * examines the slots, counts the references, examines the slots again, and
 * corrects the count by a compare-and-swap that fails if there was any change
 * since: the upper half of the count numbers the changes.  So its result for a
 * head was true at one moment, whatever other threads did meanwhile.
 *
 * Circles.  A set of heads of pipes and FIFOs is garbage if none of them has a
 * file and all references to each of them wait at heads of the set: no process
 * can reach them.  (A closed end belongs to the set, because messages waiting
 * there are never received.  An open of a FIFO by its name finds it as after
 * its last close.)  The set is found by repeatedly removing the heads for which
 * this is not true.  Each head of the set gets a reference of the collector, by
 * an operation that fails if there was a change; then the messages that wait at
 * them are flushed, so that each pass releases its reference; then the
 * collector releases its own references, and the heads are closed in the usual
 * way.
 *
 * Slices.  A run is divided into steps, which can be interrupted and continued:
 * between two slices its thread does other work, also on heads.  This has the
 * same effect as work of another thread.
 *
 * Locks.  One collector at a time; the root word names it, and the next one
 * takes it from a dead one.  Nothing else is held.  While a stopped thread's
 * slot says `moving', the collector does nothing.
 *
 * Crash.  Its tables are its private memory, which the reaper frees.  The
 * references it took make counts too high, which the next run corrects.
 */
#include "collect.h"

#define ROUNDS 1000u /* rounds in which freed messages free others; the rest
		      * next time */

/* ------------------------------------------------------------- what is to do */

/* Be inside the stream of @c, if it is the one that was noted. */
static bool
enter(struct cand *c)
{
	return str_stream_inside(c->pl) && c->pl->sid == c->sid;
}

/* Correct counts that are too high. */
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
 * Find the largest set of heads to which all references are within the set, by
 * repetition: phase 0 clears the counts, 1 counts the edges, 2 removes heads.
 * This does one entry, @i.  Return: true: the phase has no more.
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

/* Take a reference to each head of the set, unless there was a change. */
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
#define CORRECT 7u /* the number of correct(): all references are counted */
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

/* Return: true if another round is needed. */
static bool
end_round(struct str_collect *r)
{
	bool done = r->done;

	if (!done && !r->full && !r->late && r->step >= CORRECT &&
	    str_load(str_root(STR_ROOT_REFSEQ)) == r->seq) {
		str_store(str_root(STR_ROOT_COLLECTED), looked_at(r));
		r->sure = true;
	}
	r->unsure = !r->sure;
	discard(&r->cand);
	discard(&r->edge);
	begin_round(r);
	r->round += done;
	return done && r->round < ROUNDS;
}

/*
 * str_collect_begin - begin to free heads that only wrong or unreachable
 * references keep
 * Return: the argument for str_collect_some(), which is called until it returns
 * false; NULL: another thread is collecting, or there is no memory.
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
 * str_collect_some - continue until the time @until, or a little longer
 * Context: a call of the thread that has begun it; no lock, no claim.
 * Return: true if it must be called again.
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
 * str_collect_end - called when str_collect_some() has returned false
 * @ret_unsure: set if references moved meanwhile, or there was no memory:
 * another run is needed
 * Return: true if streams must be swept.
 */
bool
str_collect_end(struct str_collect *r, bool *ret_unsure)
{
	bool any = r->round != 0;

	*ret_unsure = *ret_unsure || r->unsure;
	str_mem_free(&r->blk);
	str_store_rel(str_root(STR_ROOT_COLLECT), (uint64_t)0);
	return any;
}

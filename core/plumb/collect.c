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
 * a file and all references to each of them wait at heads of the set: nobody
 * can get at them, and nobody ever will.  (A closed end belongs to it: what
 * waits there is never received.  Who opens a FIFO by its name finds it as
 * after its last close.)  The set is what is left after those have been thrown
 * out of which this does not hold.  Its heads get a reference of the
 * collector's, which again fails when anything has changed; then what waits
 * at them is flushed, so that each pass gives its reference back as always;
 * then they are given up and closed as always.
 *
 * Locks.  One collector at a time; the root word names it, and the next one
 * takes it from a dead one.  Nothing else is held.  A stopped thread whose
 * slot says `moving' keeps it from doing anything.
 *
 * Crash.  Its tables are memory of its own, which the reaper frees.  The
 * references it took are too many, which the next run finds.
 */
#include "kind.h"

#define CHUNK 32768u /* bytes */
#define NCHUNK 256u
#define ROUNDS 1000u /* of what is freed by what is freed: more next time */

struct cand {
	struct str_head *sd;
	struct str_plumb *pl;
	uint64_t sid;
	uint64_t refs;	/* the word when it was read */
	uint32_t found;	/* carriers of a reference to it */
	uint32_t inner;	/* of these, passes at heads of the set */
	uint32_t in;	/* is of the set; at first all but devices' are */
	uint32_t mine;	/* has the collector's reference */
};

struct edge {
	struct str_head *at, *to;
};

struct table {
	struct str_blk *chunk[NCHUNK];
	uint32_t n, per, size; /* entries, in a chunk, bytes of one */
};

struct run {
	struct table cand, edge;
	bool full;
	uint64_t key;
};

static void *
entry(struct table *t, uint32_t i)
{
	return (char *)(t->chunk[i / t->per] + 1) +
		(size_t)(i % t->per) * t->size;
}

static struct cand *
cand(struct run *r, uint32_t i)
{
	return entry(&r->cand, i);
}

/* Room for one more; NULL: no memory, then nothing is done this time. */
static void *
more(struct run *r, struct table *t)
{
	uint32_t k = t->n / t->per;

	if (k < NCHUNK && t->chunk[k] == NULL)
		t->chunk[k] = str_mem_alloc(CHUNK, STR_BLK_KMEM);
	if (k >= NCHUNK || t->chunk[k] == NULL) {
		r->full = true;
		return NULL;
	}
	return entry(t, t->n++);
}

/* ----------------------------------------------------------- what there is */

static bool
note_stream(struct str_plumb *pl, void *arg)
{
	struct run *r = arg;
	uint32_t e;

	if (str_load(&pl->blk.owner) != 0)
		return false; /* being made, or taken apart */
	for (e = 0; e < pl->nheads; e++) {
		struct str_head *sd = &pl->head[e];
		uint64_t refs = str_load(&sd->refs);
		struct cand *c;

		if (str_head_has_file(sd) ||
		    ((uint32_t)refs == 0 && pl->kind != STR_PL_PIPE))
			continue;
		c = more(r, &r->cand);
		if (c == NULL)
			return true;
		*c = (struct cand){.sd = sd, .pl = pl, .sid = pl->sid,
			.refs = refs, .in = pl->kind != STR_PL_DEV};
		/* one without references counts: what waits at it was not
		 * garbage for as long as it had a file */
		r->key += (pl->sid * 2 + e + 1) * 0x9e3779b97f4a7c15ull;
	}
	STR_CRASH_POINT("collect:noted");
	return false;
}

/* By address, so that they can be found. */
static void
sift(struct run *r, uint32_t root, uint32_t n)
{
	uint32_t kid;

	while ((kid = 2 * root + 1) < n) {
		struct cand tmp;

		if (kid + 1 < n && cand(r, kid)->sd < cand(r, kid + 1)->sd)
			kid++;
		if (cand(r, root)->sd >= cand(r, kid)->sd)
			return;
		tmp = *cand(r, root);
		*cand(r, root) = *cand(r, kid);
		*cand(r, kid) = tmp;
		root = kid;
	}
}

static void
sort(struct run *r)
{
	uint32_t n = r->cand.n, i;

	for (i = n / 2; i-- > 0;)
		sift(r, i, n);
	for (i = n; i-- > 1;) {
		struct cand tmp = *cand(r, 0);

		*cand(r, 0) = *cand(r, i);
		*cand(r, i) = tmp;
		sift(r, 0, i);
	}
}

/*
 * One entry for each head.  A stream that was freed while the directory was read,
 * and whose memory became another one, is there twice; the references to the
 * later one would be counted at either entry.
 */
static void
unite(struct run *r)
{
	uint32_t n = 0, i;

	for (i = 0; i < r->cand.n; i++) {
		struct cand *c = cand(r, i);
		struct cand *last = n != 0 ? cand(r, n - 1) : NULL;

		if (last == NULL || last->sd != c->sd)
			*cand(r, n++) = *c;
		else if (last->sid != last->pl->sid)
			*last = *c;
	}
	r->cand.n = n;
}

static struct cand *
lookup(struct run *r, const struct str_head *sd)
{
	uint32_t lo = 0, hi = r->cand.n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		struct cand *c = cand(r, mid);

		if (c->sd == sd)
			return c;
		if (c->sd < sd)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static void
found(struct run *r, const struct str_head *sd)
{
	struct cand *c = lookup(r, sd);

	if (c != NULL)
		c->found++;
}

static void
count_name(struct str_head *sd, uint64_t sid, uint64_t dev, uint64_t ino,
	const char *path, void *arg)
{
	struct cand *c = lookup(arg, sd);

	(void)dev, (void)ino, (void)path;
	if (c != NULL && c->sid == sid)
		c->found++;
}

struct str_head *
str_link_refers(const struct str_blk *b, struct str_head **ret_at)
{
	const struct str_link *l = (const void *)b;

	*ret_at = NULL;
	return str_load_acq(&l->carries) == 1 ? l->lower : NULL;
}

struct str_head *
str_pass_refers(const struct str_blk *b, struct str_head **ret_at)
{
	const struct str_pass *p = (const void *)b;

	*ret_at = p->at;
	return str_load_acq(&p->taken) == 1 ? NULL : p->head;
}

static void
count_block(struct str_blk *b, void *arg)
{
	uint32_t state = str_load(&b->state);
	struct str_head *to = NULL, *at = NULL;
	struct run *r = arg;
	struct edge *e;

	if (state < STR_BLK_NKIND && str_kind[state].refers != NULL)
		to = str_kind[state].refers(b, &at);
	if (to == NULL)
		return;
	found(r, to);
	if (at == NULL || lookup(r, to) == NULL || lookup(r, at) == NULL ||
		r->full)
		return;
	e = more(r, &r->edge);
	if (e != NULL)
		*e = (struct edge){at, to};
}

static bool
count_half(struct str_plumb *pl, void *arg)
{
	if (pl->kind == STR_PL_PIPE && str_load(&pl->half) == 1)
		found(arg, &pl->head[1]);
	return false;
}

/* What threads have in their hands; true: one might have anything. */
static bool
in_hands(struct run *r)
{
	struct str_domain *d = host_domain;
	uint32_t n = str_load(&d->thread_high), i;
	bool any = false;

	str_fence_full(); /* pairs with those of str_ref_begin(), _end() */
	for (i = 0; i < n && i < STR_NTHREAD && !any; i++) {
		struct str_thread *t = &d->thread[i];
		uint32_t tag = str_load(&t->tag);
		uint64_t held = str_load_acq(&t->held);
		bool moving = str_load_acq(&t->moving) != 0;

		if (tag == 0 || (held == 0 && !moving) || host_owner_dead(tag))
			continue;
		any = moving;
		if (held != 0)
			found(r, (struct str_head *)(uintptr_t)held);
	}
	str_fence_full();
	return any;
}

/* ------------------------------------------------------------- what is to do */

/* Be inside the stream of @c, if it is the one that was noted. */
static bool
enter(struct cand *c)
{
	return str_stream_inside(c->pl) && c->pl->sid == c->sid;
}

/* Counts that are too great.  Return: how many heads. */
static unsigned
correct(struct run *r)
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < r->cand.n; i++) {
		struct cand *c = cand(r, i);
		uint32_t has = (uint32_t)c->refs;

		if (has <= c->found || !enter(c))
			continue;
		if (!str_cas(&c->sd->refs, c->refs, ((c->refs >> 32) + 1) << 32 |
			c->found))
			continue;
		STR_CRASH_POINT("collect:right");
		n++;
		if (c->found == 0)
			str_head_sweep(c->sd, NULL);
	}
	return n;
}

/* The greatest set of heads to which all references are from within. */
static bool
circles(struct run *r)
{
	bool again = true, any = false;
	uint32_t i;

	while (again) {
		again = any = false;
		for (i = 0; i < r->cand.n; i++)
			cand(r, i)->inner = 0;
		for (i = 0; i < r->edge.n; i++) {
			struct edge *e = entry(&r->edge, i);

			if (lookup(r, e->at)->in)
				lookup(r, e->to)->inner++;
		}
		for (i = 0; i < r->cand.n; i++) {
			struct cand *c = cand(r, i);

			if (c->in && c->inner != (uint32_t)c->refs) {
				c->in = 0;
				again = true;
			}
			any = any || (c->in && (uint32_t)c->refs != 0);
		}
	}
	return any;
}

/* Hold the heads of the set.  False: there was a change. */
static bool
seize(struct run *r)
{
	uint32_t i;

	for (i = 0; i < r->cand.n; i++) {
		struct cand *c = cand(r, i);

		if (!c->in)
			continue;
		if (!enter(c) || str_head_has_file(c->sd) ||
		    !str_cas(&c->sd->refs, c->refs,
			c->refs + STR_REF_CHANGE + 1))
			return false;
		c->mine = 1;
	}
	return true;
}

static void
flush(struct run *r)
{
	uint32_t i;

	for (i = 0; i < r->cand.n; i++) {
		struct cand *c = cand(r, i);

		if (!c->in || !enter(c))
			continue;
		(void)str_claim(c->pl);
		str_head_flush_read(c->sd, -1);
		str_unclaim(c->pl);
		STR_CRASH_POINT("collect:flushed");
	}
}

static void
let_go(struct run *r)
{
	uint32_t i;

	for (i = 0; i < r->cand.n; i++) {
		struct cand *c = cand(r, i);

		if (!c->mine || !enter(c))
			continue;
		c->mine = 0;
		str_ref_begin();
		str_head_unref(c->sd, NULL);
	}
}

/* What is said of @r's heads once nothing is to be done: never 0, and after one
 * change of references it is another. */
static uint64_t
looked_at(const struct run *r)
{
	return r->key << 1 | 1;
}

/* Return: true when something was done, so that there may be more. */
static bool
collect(struct run *r)
{
	uint64_t seq = str_load(str_root(STR_ROOT_REFSEQ));
	bool done;

	r->key = seq;
	str_stream_walk(note_stream, r);
	if (r->full || r->cand.n == 0 ||
	    str_load(str_root(STR_ROOT_COLLECTED)) == looked_at(r))
		return false;
	sort(r);
	unite(r);
	if (in_hands(r))
		return false;
	str_mem_walk(count_block, r);
	str_name_each(count_name, r);
	str_stream_walk(count_half, r);
	if (r->full || in_hands(r))
		return false;
	STR_CRASH_POINT("collect:counted");
	done = correct(r) != 0;
	if (!done && circles(r)) {
		done = seize(r);
		STR_CRASH_POINT("collect:seized");
		if (done)
			flush(r);
		let_go(r);
	}
	if (!done && str_load(str_root(STR_ROOT_REFSEQ)) == seq)
		str_store(str_root(STR_ROOT_COLLECTED), looked_at(r));
	return done;
}

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

/*
 * str_region_collect - free what only references keep that are none, or that
 * nobody can get at
 * Context: a call; no lock, no claim.
 * Return: true when there is something to sweep up.
 */
bool
str_region_collect(void)
{
	str_a64 *root = str_root(STR_ROOT_COLLECT);
	uint64_t who = str_load(root);
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	unsigned n;
	bool done = true;

	if ((who != 0 && !host_owner_dead((uint32_t)who)) ||
	    !str_cas(root, who, (uint64_t)host_self_tag()))
		return false;
	for (n = 0; n < ROUNDS && done; n++) {
		struct run r = {.key = 0};

		prepare(&r.cand, sizeof(struct cand));
		prepare(&r.edge, sizeof(struct edge));
		done = collect(&r);
		str_store_rel(&t->inside, was);
		discard(&r.cand);
		discard(&r.edge);
	}
	str_store_rel(root, (uint64_t)0);
	return n > 1;
}

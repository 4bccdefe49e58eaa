/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Counting of references: the first half of the collector.
 *
 * It records the heads that only references keep, with their counts, and counts
 * the references to them: passes and links by a walk over the memory, names by
 * their list, halves of pipes, references that threads hold. collect.c explains
 * why this is correct while other threads make changes.
 *
 * Tables.  They are the collector's private memory, in pieces, which the reaper
 * frees.  If there is no memory for a table, the run ends.
 */
#include "collect.h"
#include "kind.h"

/* Room for one more entry; NULL: no memory: then this round ends. */
static void *
more(struct str_collect *r, struct table *t)
{
	uint32_t k = t->n / t->per;

	if (k < NCHUNK && t->chunk[k] == NULL)
		t->chunk[k] = str_mem_alloc(CHUNK, STR_BLK_KMEM);
	if (k >= NCHUNK || t->chunk[k] == NULL) {
		r->full = true;
		return NULL;
	}
	return str_collect_entry(t, t->n++);
}

/* ----------------------------------------------------------- what there is */

static bool
note_stream(struct str_plumb *pl, void *arg)
{
	struct str_collect *r = arg;
	uint32_t e;

	if (str_load(&pl->blk.owner) != 0)
		return false; /* being made, or dismantled */
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
		/* the key changes, too, when a head without references loses
		 * its last file: messages at it may be garbage from then on */
		r->key += (pl->sid * 2 + e + 1) * 0x9e3779b97f4a7c15ull;
	}
	STR_CRASH_POINT("collect:noted");
	return false;
}

/* Sort by address, for lookups. */
static void
sift(struct str_collect *r, uint32_t root, uint32_t n)
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

/* Heap sort: first make a heap, then move the largest to the end. */
enum went
str_collect_sort(struct str_collect *r, uint64_t until)
{
	uint32_t n = r->cand.n, k;

	if (r->phase == 0) {
		r->i = n / 2;
		r->phase = 1;
	}
	for (k = 1; r->phase == 1; k++) {
		if (r->i == 0) {
			r->i = n;
			r->phase = 2;
		} else {
			sift(r, --r->i, n);
			if (k % BETWEEN == 0 && is_over(until))
				return MORE;
		}
	}
	for (k = 1; r->i > 1; k++) {
		struct cand tmp = *cand(r, 0);

		r->i--;
		*cand(r, 0) = *cand(r, r->i);
		*cand(r, r->i) = tmp;
		sift(r, 0, r->i);
		if (k % BETWEEN == 0 && is_over(until))
			return MORE;
	}
	return NEXT;
}

/*
 * Keep one entry for each head.  If a stream was freed while the directory was
 * read, and its memory became another stream, there are two entries; references
 * to the later stream could be counted at either entry.
 */
static void
unite(struct str_collect *r)
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

struct cand *
str_collect_lookup(struct str_collect *r, const struct str_head *sd)
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
found(struct str_collect *r, const struct str_head *sd)
{
	struct cand *c = str_collect_lookup(r, sd);

	if (c != NULL)
		c->found++;
}

static void
count_name(struct str_head *sd, uint64_t sid, uint64_t dev, uint64_t ino,
	const char *path, void *arg)
{
	struct cand *c = str_collect_lookup(arg, sd);

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
	struct str_collect *r = arg;
	struct edge *e;

	if (state < STR_BLK_NKIND && str_kind[state].refers != NULL)
		to = str_kind[state].refers(b, &at);
	if (to == NULL)
		return;
	found(r, to);
	if (at == NULL || str_collect_lookup(r, to) == NULL ||
	    str_collect_lookup(r, at) == NULL || r->full)
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

/* References that threads hold; true: a thread may hold any reference. */
static bool
in_hands(struct str_collect *r)
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

/* ----------------------------------------------------------------- the steps */

enum went
str_collect_note(struct str_collect *r, uint64_t until)
{
	if (r->phase == 0) {
		r->seq = r->key = str_load(str_root(STR_ROOT_REFSEQ));
		r->walk.left = STR_NCOOKIE;
		r->phase = 1;
	}
	str_stream_walk_some(note_stream, r, &r->walk, until);
	if (r->full)
		return LAST;
	if (r->walk.left != 0)
		return MORE;
	r->sure = r->cand.n == 0 ||
		str_load(str_root(STR_ROOT_COLLECTED)) == looked_at(r);
	return r->sure ? LAST : NEXT;
}

enum went
str_collect_hands(struct str_collect *r, uint64_t until)
{
	(void)until;
	unite(r);
	return in_hands(r) ? LAST : NEXT;
}

enum went
str_collect_blocks(struct str_collect *r, uint64_t until)
{
	return str_mem_walk_some(count_block, r, &r->slab, until) ? MORE : NEXT;
}

enum went
str_collect_names(struct str_collect *r, uint64_t until)
{
	(void)until;
	str_name_each(count_name, r);
	r->walk.left = STR_NCOOKIE;
	return NEXT;
}

enum went
str_collect_halves(struct str_collect *r, uint64_t until)
{
	str_stream_walk_some(count_half, r, &r->walk, until);
	return r->walk.left != 0 ? MORE : NEXT;
}

enum went
str_collect_hands_again(struct str_collect *r, uint64_t until)
{
	(void)until;
	if (r->full || in_hands(r))
		return LAST;
	STR_CRASH_POINT("collect:counted");
	return NEXT;
}


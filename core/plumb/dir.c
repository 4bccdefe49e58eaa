/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The directory: from what the kernel says about a descriptor to the open
 * file, and the list of all streams.
 *
 * An entry's key is a carrier's cookie, or a stream's number: its sid, which
 * has the top bit set where no carrier of the stream's lasts as long as it.
 * An open-addressed table; deleted entries are used again.  The keys of one
 * moment are neighbours, and their entries lie in one cache line.
 *
 * Reach.  Nearly every entry has been used once when a domain has seen some
 * ten thousand streams, and an entry that was never used no longer ends the
 * search for a key that is not there.  What ends it is the reach: no entry
 * was ever made further than that from where its search begins.  It is raised
 * before the entry is made, and never lowered.
 *
 * Locks.  None.  What an entry leads to may be freed at any moment; an entry
 * that still stands after the fields have been read proves that they were
 * the living object's.
 */
#include "core.h"

#define LINE 4u /* entries in a cache line */

static uint32_t
hash(uint64_t cookie)
{
	uint64_t h = cookie / LINE * 0x9e3779b97f4a7c15ull;

	return ((uint32_t)(h >> 40) * LINE + (uint32_t)(cookie % LINE)) &
		(STR_NCOOKIE - 1);
}

static void
reach_raise(uint64_t n)
{
	str_a64 *reach = str_root(STR_ROOT_REACH);
	uint64_t was = str_load(reach);

	while (n > was && !str_cas(reach, was, n))
		was = str_load(reach);
}

int
str_dir_enter(uint64_t cookie, struct str_file *f)
{
	uint32_t h = hash(cookie), n;

	for (n = 0; n < STR_NCOOKIE; n++, h = (h + 1) & (STR_NCOOKIE - 1)) {
		struct str_cookie *e = &host_domain->cookie[h];
		uint64_t v = str_load(&e->cookie);

		if (v > 1)
			continue;
		reach_raise(n);
		if (!str_cas(&e->cookie, v, cookie))
			continue;
		str_store_rel(&e->file, (uint64_t)(uintptr_t)f);
		return 0;
	}
	return ENOSR;
}

static struct str_cookie *
find(uint64_t cookie)
{
	uint64_t n, reach = str_load_acq(str_root(STR_ROOT_REACH));
	uint32_t h = hash(cookie);

	for (n = 0; n <= reach; n++, h = (h + 1) & (STR_NCOOKIE - 1)) {
		struct str_cookie *e = &host_domain->cookie[h];
		uint64_t v = str_load_acq(&e->cookie);

		if (v == 0)
			return NULL;
		if (v == cookie)
			return e;
	}
	return NULL;
}

struct str_file *
str_dir_find(uint64_t cookie)
{
	struct str_cookie *e = find(cookie);

	return e == NULL ? NULL :
		(struct str_file *)(uintptr_t)str_load_acq(&e->file);
}

/* Take @cookie out; true for the one caller that found it there. */
bool
str_dir_remove(uint64_t cookie)
{
	struct str_cookie *e = find(cookie);

	return e != NULL && str_cas(&e->cookie, cookie, (uint64_t)1);
}

/* str_dir_sid - a number for a stream that is no pair's. */
uint64_t
str_dir_sid(void)
{
	return (str_add(str_root(STR_ROOT_SID), (uint64_t)1) + 1) | 1ull << 63;
}

/* The stream whose own entry @e is, or NULL. */
STR_RACY static struct str_plumb *
entry_stream(struct str_cookie *e)
{
	uint64_t cookie = str_load_acq(&e->cookie);
	const struct str_file *f;
	struct str_head *sd;
	struct str_plumb *pl;
	uint64_t sid;

	if (cookie <= 1)
		return NULL;
	f = (const struct str_file *)(uintptr_t)str_load_acq(&e->file);
	if (f == NULL)
		return NULL;
	sd = *(struct str_head *const volatile *)&f->head;
	if (sd == NULL || !str_mem_valid(sd))
		return NULL;
	pl = *(struct str_plumb *const volatile *)&sd->plumb;
	if (pl == NULL || !str_mem_valid(pl))
		return NULL;
	sid = *(const volatile uint64_t *)&pl->sid;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (str_load(&e->cookie) != cookie || sid != cookie)
		return NULL; /* gone, or the entry of a mere file */
	return pl;
}

/* str_stream_lives - is @pl, an address that was left, a stream still? */
STR_RACY bool
str_stream_lives(struct str_plumb *pl)
{
	struct str_file *f;

	if (!str_mem_valid(pl))
		return false;
	f = str_dir_find(pl->sid);
	return f != NULL && f == &pl->head[0].file;
}

/*
 * str_stream_inside - count as inside @pl, so that it is not freed
 * Return: false when it is no stream any more; the caller puts back what it
 * was inside before.
 */
bool
str_stream_inside(struct str_plumb *pl)
{
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	str_fence_full(); /* pairs with the heavy fence of is_inside() */
	return str_stream_lives(pl);
}

/*
 * str_stream_walk_some - call @fn for the streams in @w->left entries from @w->at
 * on, inside each, until it returns true, or the time @until has come
 */
void
str_stream_walk_some(bool (*fn)(struct str_plumb *pl, void *arg), void *arg,
	struct str_walk *w, uint64_t until)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	bool end = false;

	while (w->left != 0 && !end) {
		struct str_plumb *pl = entry_stream(&host_domain->cookie[w->at]);

		w->at = (w->at + 1) % STR_NCOOKIE;
		w->left--;
		if (pl == NULL)
			continue;
		if (str_stream_inside(pl))
			end = fn(pl, arg);
		str_store_rel(&t->inside, was);
		end = end || (until != UINT64_MAX && host_now() >= until);
	}
}

/* str_stream_walk - the same for all there are */
void
str_stream_walk(bool (*fn)(struct str_plumb *pl, void *arg), void *arg)
{
	struct str_walk w = {0, STR_NCOOKIE};

	str_stream_walk_some(fn, arg, &w, UINT64_MAX);
}

/* Ask @fn about the carrier of the file that entry @e leads to. */
static bool
ask_carrier(const struct host_file *df, struct str_cookie *e,
	bool (*fn)(const struct host_carrier *c))
{
	uint64_t cookie = str_load(&e->cookie), at = str_load(&e->file);
	struct host_carrier c;

	if (cookie <= 1 || (cookie >> 63) != 0 || at < df->base)
		return false;
	at += offsetof(struct str_file, carrier) - df->base;
	return df->read(df, at, &c, sizeof c) && c.cookie == cookie && fn(&c);
}

bool
str_region_carriers(const struct host_file *df,
	bool (*fn)(const struct host_carrier *c))
{
	struct str_cookie some[128];
	uint64_t at = offsetof(struct str_domain, cookie);
	uint32_t n, i;

	for (n = 0; n < STR_NCOOKIE; n += STR_ARRAY_LEN(some)) {
		if (!df->read(df, at, some, sizeof some))
			return false;
		for (i = 0; i < STR_ARRAY_LEN(some); i++)
			if (ask_carrier(df, &some[i], fn))
				return true;
		at += sizeof some;
	}
	return false;
}

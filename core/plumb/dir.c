/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The directory maps the kernel's cookie of a carrier to the open file; it is
 * also the list of all streams.
 *
 * An entry's key is a carrier's cookie, or a stream's number: its sid, which
 * has the top bit set if no carrier of the stream exists as long as the stream.
 * An open-addressed table; deleted entries are reused.  Keys made at the same
 * time are neighbours, and their entries are in one cache line.
 *
 * Reach.  When a domain has had some ten thousand streams, nearly every entry
 * has been used once, and a search for an absent key does not end at an entry
 * that was never used.  The reach ends it: no entry was ever made further than
 * this from the beginning of its search.  It is increased before the entry is
 * made, and never decreased.
 *
 * Memory.  The table is backed as far as it has been used, STR_COOKIES entries at
 * a time.  Entries that are not backed are empty.
 *
 * Locks.  None.  The object of an entry may be freed at any moment; if the
 * entry is unchanged after the fields of the object have been read, the fields
 * were valid.
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

/* Return: false: there is no memory. */
static bool
back(uint32_t h)
{
	uint32_t group = h / STR_COOKIES;

	if (host_commit(offsetof(struct str_domain, cookie) +
			(uint64_t)group * STR_COOKIES * sizeof(struct str_cookie),
		    STR_COOKIES * sizeof(struct str_cookie)) != 0)
		return false;
	(void)str_or(&host_domain->backed[group / 64], 1ull << group % 64);
	return true;
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
		uint64_t v;

		if (str_unlikely(!str_dir_backed(h)) && !back(h))
			return ENOSR;
		v = str_load(&e->cookie);
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
		uint64_t v;

		if (!str_dir_backed(h))
			return NULL;
		v = str_load_acq(&e->cookie);
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

/* Remove @cookie; true for the only caller that found it. */
bool
str_dir_remove(uint64_t cookie)
{
	struct str_cookie *e = find(cookie);

	return e != NULL && str_cas(&e->cookie, cookie, (uint64_t)1);
}

/* str_dir_sid - a number for a stream whose carriers are not a pair. */
uint64_t
str_dir_sid(void)
{
	return (str_add(str_root(STR_ROOT_SID), (uint64_t)1) + 1) | 1ull << 63;
}

/* The stream if @e is its own entry, or NULL. */
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
		return NULL; /* removed, or the entry of a file */
	return pl;
}

/* str_stream_lives - is @pl, a remembered address, still a stream? */
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
 * str_stream_inside - mark this thread as inside @pl, so that it is not freed
 * Return: false if it is no longer a stream; the caller restores its previous
 * `inside'.
 */
bool
str_stream_inside(struct str_plumb *pl)
{
	str_store_rel(&host_self()->inside, (uint64_t)(uintptr_t)&pl->head[0]);
	str_fence_full(); /* pairs with the heavy fence of is_inside() */
	return str_stream_lives(pl);
}

/*
 * str_stream_walk_some - call @fn for the streams in @w->left entries from
 * @w->at on, inside each, until it returns true, or until the time @until
 * @w is left where the next call continues.
 */
void
str_stream_walk_some(bool (*fn)(struct str_plumb *pl, void *arg), void *arg,
	struct str_walk *w, uint64_t until)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->inside);
	bool end = false;

	while (w->left != 0 && !end) {
		struct str_plumb *pl;

		if (!str_dir_backed(w->at)) {
			uint32_t n = STR_MIN(w->left,
				STR_COOKIES - w->at % STR_COOKIES);

			w->at = (w->at + n) % STR_NCOOKIE;
			w->left -= n;
			continue;
		}
		pl = entry_stream(&host_domain->cookie[w->at]);
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

/* str_stream_walk - the same for all streams */
void
str_stream_walk(bool (*fn)(struct str_plumb *pl, void *arg), void *arg)
{
	struct str_walk w = {0, STR_NCOOKIE};

	str_stream_walk_some(fn, arg, &w, UINT64_MAX);
}

/*
 * A cookie is given once, and an entry is made before a program sees the
 * descriptor, so an entry alone says that @c is a carrier.
 */
bool
str_file_recorded(const struct host_file *df, const struct host_carrier *c)
{
	uint64_t at = offsetof(struct str_domain, cookie);
	uint64_t n, reach = str_recorded_root(df, STR_ROOT_REACH);
	uint32_t h = hash(c->cookie);
	struct str_cookie e;

	reach = STR_MIN(reach, (uint64_t)STR_NCOOKIE - 1);
	for (n = 0; n <= reach; n++, h = (h + 1) & (STR_NCOOKIE - 1)) {
		if (!df->read(df, at + h * sizeof(e), &e, sizeof(e)) ||
		    str_load(&e.cookie) == 0)
			return false;
		if (str_load(&e.cookie) == c->cookie)
			return true;
	}
	return false;
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
	struct str_cookie some[STR_COOKIES];
	str_a64 backed[STR_ARRAY_LEN(host_domain->backed)];
	uint32_t g, i;

	if (!df->read(df, offsetof(struct str_domain, backed), backed,
		    sizeof backed))
		return false;
	for (g = 0; g < STR_NCOOKIE / STR_COOKIES; g++) {
		if ((str_load(&backed[g / 64]) >> g % 64 & 1) == 0)
			continue;
		if (!df->read(df, offsetof(struct str_domain, cookie) +
				g * sizeof some, some, sizeof some))
			return false;
		for (i = 0; i < STR_COOKIES; i++)
			if (ask_carrier(df, &some[i], fn))
				return true;
	}
	return false;
}

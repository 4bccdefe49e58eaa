/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The domain's table of timers.
 *
 * Objects.  A *record* is a callback that was requested.  Its *deadline* is in
 * an array beside the records of its *chunk*, so that a search for passed
 * deadlines reads seven cache lines for 56 records.  The *entry* of a chunk has
 * the earliest deadline in it, and the table has the earliest of all, `next'.
 * Chunks are added to the table and never freed.
 *
 * Bounds.  An entry's time and `next' are *lower bounds*: never later than a
 * deadline below them, unless a thread is just setting it, but perhaps earlier.
 * So a record is removed by one store, and to set it to a later deadline changes
 * no bound.  The thread that looks at the passed bound raises it.  A deadline
 * that is the earliest takes two more compare-and-swaps, which lower the bounds.
 * A thread that replaces a deadline by a later one looks at the bounds, too:
 * the thread that set the earlier one may have been stopped before it lowered
 * them.
 *
 * Raising.  A thread that is about to raise a bound sets NODE_BUSY, reads what
 * is below, and swaps the new bound in if the word has not changed.  A thread
 * that sets a deadline stores it, executes a full fence, and reads the bounds;
 * it clears NODE_BUSY, so that the attempt to raise fails.  So either this
 * thread sees NODE_BUSY, or the other one sees the deadline.  Threads that
 * raise the same bound at the same time share one attempt.  The first of them
 * that is ready ends it, and no thread has to begin again because of another.
 *
 * Handling.  `taken' names the thread that handles a record: makes it, calls its
 * function, or frees it.  No thread waits for another to get it.  A thread that
 * makes a taken record OVER leaves it to the thread that has taken it: that
 * thread looks at the state again after it has given the record up.  Raising
 * leaves out taken records; the thread that gives one up lowers the bounds.
 *
 * Numbers.  A record's number contains its place and counts the uses of the
 * place.  The low 31 bits contain the place and 13 bits of the count, for
 * modules that store a number in an int.  The number and the state are one
 * word: one compare-and-swap decides between a callback and untimeout().
 *
 * Crash.  All steps are single stores to words that are valid before and after.
 * A thread that is stopped between any two of them delays only the record that
 * it has taken.  A thread that is stopped or killed after it has stored a
 * deadline, and before it has lowered the entry's bound, has lowered `next'
 * before that.  The thread that looks then, and finds no entry whose bound has
 * passed, reads all deadlines.  str_timer_reap() handles the records that a
 * dead thread had taken, frees those that are OVER and not taken, and lowers
 * the bounds for all deadlines.
 */
#include "sched/timer.h"
#include "plumb/kind.h"

#define SLOTS 56u /* records of a chunk */
#define SLOT_BITS 6
#define SEG_ENTRIES 64u
#define SEGS 64u
#define PLACE_BITS 18
#define COUNT_BITS 13 /* of the count, in the low 31 bits */

#define NODE_BUSY 1ull
#define NODE_COUNT 2ull /* counts the attempts to raise it */
#define NODE_TIME STR_TIMER_NEVER

#define MANY 64u /* handled in the order of their deadlines */
#define TRIES 16u /* to raise the bounds, with one time of day */

_Static_assert(SLOTS <= 1u << SLOT_BITS &&
	SEGS * SEG_ENTRIES << SLOT_BITS == 1u << PLACE_BITS, "places");

struct chunk {
	struct str_blk blk;
	uint8_t pad[48];
	str_a64 at[SLOTS]; /* [A] deadlines, multiples of 256 ns */
	struct str_timer tm[SLOTS];
};
_Static_assert(offsetof(struct chunk, tm) == 512, "cache lines");

struct entry {
	str_a64 min;   /* [A] bound of the chunk's deadlines */
	str_a64 used;  /* [A] a bit for each record that is perhaps in use */
	str_a64 chunk; /* [A] struct chunk * */
	uint64_t pad;
};

struct seg {
	struct str_blk blk;
	uint8_t pad[48];
	struct entry entry[SEG_ENTRIES];
};

struct table {
	struct str_blk blk;
	str_a64 next; /* [A] bound of all deadlines */
	str_a32 n;    /* [A] entries with a chunk */
	str_a32 hint; /* [A] an entry that had room */
	uint8_t pad[32];
	str_a64 seg[SEGS]; /* [A] struct seg * */
};

static struct table *
table(void)
{
	return (struct table *)(uintptr_t)
		str_load_acq(str_root(STR_ROOT_TIMERS));
}

static struct entry *
entry_of(struct table *tb, uint32_t i)
{
	struct seg *s = (struct seg *)(uintptr_t)
		str_load_acq(&tb->seg[i / SEG_ENTRIES]);

	return s == NULL ? NULL : &s->entry[i % SEG_ENTRIES];
}

static struct chunk *
chunk_of(struct entry *e)
{
	return e == NULL ? NULL :
		(struct chunk *)(uintptr_t)str_load_acq(&e->chunk);
}

static uint32_t
entries(struct table *tb)
{
	return STR_MIN(str_load_acq(&tb->n), SEGS * SEG_ENTRIES);
}

/* The place of a record: entry and slot. */
static uint32_t
place_of(const struct str_timer *tm)
{
	return (uint32_t)(str_load(&tm->word) >> STR_TM_SHIFT) &
		((1u << PLACE_BITS) - 1);
}

static str_a64 *
deadline_of(const struct str_timer *tm)
{
	uint32_t slot = place_of(tm) & ((1u << SLOT_BITS) - 1);
	const struct chunk *c = str_container(tm - slot, struct chunk, tm);

	return (str_a64 *)(uintptr_t)&c->at[slot];
}

/* ----------------------------------------------------------------- bounds */

/*
 * Make @node no later than @when, and interrupt a thread that raises it.
 * Return: has it changed?
 */
static bool
lower(str_a64 *node, uint64_t when)
{
	uint64_t v = str_load(node);

	while ((v & NODE_BUSY) != 0 || (v & NODE_TIME) > when)
		if (str_cas_see(node, &v, STR_MIN(v & NODE_TIME, when) |
				(v & ~(NODE_TIME | NODE_BUSY))))
			return true;
	return false;
}

/* The caller has stored the deadline @when, and executed a full fence, which
 * pairs with that of raise_begin(). */
static void
lower_all(struct table *tb, uint32_t place, uint64_t when)
{
	if (lower(&entry_of(tb, place >> SLOT_BITS)->min, when))
		str_fence_full(); /* the same, for the other bound */
	(void)lower(&tb->next, when);
}

/* Begin to raise @node, or join a thread that has begun.  Return: its word. */
static uint64_t
raise_begin(str_a64 *node)
{
	uint64_t v = str_load(node), busy;

	do
		busy = (v & NODE_BUSY) != 0 ? v : ((v & NODE_TIME) | NODE_BUSY |
			((v + NODE_COUNT) & ~NODE_TIME & ~NODE_BUSY));
	while (busy != v && !str_cas_see(node, &v, busy));
	str_fence_full(); /* pairs with lower_all() */
	return busy;
}

static void
raise_end(str_a64 *node, uint64_t busy, uint64_t min)
{
	(void)str_cas(node, busy, min | (busy & ~(NODE_TIME | NODE_BUSY)));
}

/* Try to raise the bound of an entry to the earliest deadline of its chunk. */
static void
raise_entry(struct entry *e)
{
	uint64_t busy = raise_begin(&e->min), min = STR_TIMER_NEVER;
	struct chunk *c = chunk_of(e);
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		uint64_t at = str_load(&c->at[i]);

		if (at < min && str_load(&c->tm[i].taken) == 0)
			min = at;
	}
	raise_end(&e->min, busy, min);
}

/*
 * Raise the bounds of the entries whose bound has passed at @now; @all: of all.
 * Return: the earliest bound afterwards.  *@ret_any: there were such entries,
 * or the table has no entry.
 */
static uint64_t
raise_entries(struct table *tb, uint64_t now, bool all, bool *ret_any)
{
	uint64_t min = STR_TIMER_NEVER, t;
	uint32_t n = entries(tb), i;

	*ret_any = n == 0;
	for (i = 0; i < n; i++) {
		struct entry *e = entry_of(tb, i);

		t = str_load(&e->min) & NODE_TIME;
		if (all || t <= now) {
			*ret_any = true;
			raise_entry(e);
			t = str_load(&e->min) & NODE_TIME;
		}
		min = STR_MIN(min, t);
	}
	return min;
}

/*
 * Try to raise the bounds that have passed at @now.  If `next' has passed and no
 * entry's has, a thread that sets a deadline has lowered `next' only: read all
 * deadlines.
 */
static void
raise_passed(struct table *tb, uint64_t now)
{
	uint64_t busy = raise_begin(&tb->next), min;
	bool any;

	min = raise_entries(tb, now, false, &any);
	if (!any && (busy & NODE_TIME) <= now)
		min = raise_entries(tb, now, true, &any);
	raise_end(&tb->next, busy, min);
}

/* -------------------------------------------------------------- deadlines */

/* Deadlines are multiples of 256 ns: not before @when, unless that has passed. */
static uint64_t
in_grains(uint64_t now, uint64_t when)
{
	if (when >= STR_TIMER_NEVER)
		return STR_TIMER_NEVER;
	return when > now ? (when + 255u) & NODE_TIME : when & NODE_TIME;
}

uint64_t
str_timer_arm(struct str_timer *tm, uint64_t now, uint64_t when)
{
	struct table *tb = table();
	uint64_t at = in_grains(now, when), was;

	if (at < str_load(&tb->next))
		(void)lower(&tb->next, at);
	STR_CRASH_POINT("timer:next");
	was = str_xchg(deadline_of(tm), at);
	STR_CRASH_POINT("timer:set");
	if (at != STR_TIMER_NEVER) {
		str_fence_full();
		lower_all(tb, place_of(tm), at);
		host_defer(now, at);
	}
	return was;
}

uint64_t
str_timer_disarm(struct str_timer *tm)
{
	return str_xchg(deadline_of(tm), STR_TIMER_NEVER);
}

uint64_t
str_timer_deadline(const struct str_timer *tm)
{
	return str_load(deadline_of(tm));
}

bool
str_timer_expire(struct str_timer *tm, uint64_t now)
{
	str_a64 *at = deadline_of(tm);
	uint64_t was = str_load(at);

	return was <= now && str_cas(at, was, STR_TIMER_NEVER);
}

/* The caller has taken the record, and lowers the bounds when it gives it
 * up. */
void
str_timer_again(struct str_timer *tm, uint64_t when)
{
	(void)str_cas(deadline_of(tm), STR_TIMER_NEVER, when & NODE_TIME);
}

/* ---------------------------------------------------------------- records */

static uint32_t
state_of(const struct str_timer *tm)
{
	return (uint32_t)str_load_acq(&tm->word) & STR_TM_STATE;
}

/* Free a record that the caller has taken; `taken' is clear afterwards. */
static void
record_free(struct str_timer *tm)
{
	uint32_t place = place_of(tm), i = place >> SLOT_BITS;
	struct table *tb = table();

	str_store(deadline_of(tm), STR_TIMER_NEVER);
	tm->func = NULL; /* a message that it names can be reaped */
	tm->arg = NULL;
	tm->pl = NULL;
	tm->qp = NULL;
	str_store_rel(&tm->word, (str_load(&tm->word) &
		~(uint64_t)STR_TM_STATE) | STR_TM_FREE);
	STR_CRASH_POINT("timer:freed");
	(void)str_and(&entry_of(tb, i)->used,
		~(1ull << (place & ((1u << SLOT_BITS) - 1))));
	if (i < str_load(&tb->hint))
		str_store(&tb->hint, i);
	str_store_rel(&tm->taken, 0u);
}

bool
str_timer_take(struct str_timer *tm)
{
	return str_load(&tm->taken) == 0 &&
		str_cas(&tm->taken, 0u, host_self_tag());
}

/* Stop being the thread that handles @tm, as str_timer_give() does.  @now:
 * host_now(), or 0 if it is not known. */
static void
give(struct str_timer *tm, uint64_t now)
{
	uint64_t at;

	for (;;) {
		if (state_of(tm) == STR_TM_OVER) {
			record_free(tm);
			return;
		}
		str_store_rel(&tm->taken, 0u);
		str_fence_full(); /* pairs with cancel(), and raise_begin() */
		if (state_of(tm) != STR_TM_OVER)
			break;
		if (!str_timer_take(tm))
			return;
	}
	at = str_timer_deadline(tm);
	if (at != STR_TIMER_NEVER) {
		lower_all(table(), place_of(tm), at);
		host_defer(now, at);
	}
}

void
str_timer_give(struct str_timer *tm)
{
	give(tm, 0);
}

/* Take a free record of entry @i. */
static struct str_timer *
record_take(struct table *tb, uint32_t i)
{
	struct entry *e = entry_of(tb, i);
	struct chunk *c = chunk_of(e);
	uint64_t room = ~str_load(&e->used) & ((1ull << SLOTS) - 1);

	for (; room != 0; room &= room - 1) {
		uint32_t slot = (uint32_t)__builtin_ctzll(room);
		struct str_timer *tm = &c->tm[slot];

		if (!str_timer_take(tm))
			continue;
		if (state_of(tm) == STR_TM_FREE) {
			(void)str_or(&e->used, 1ull << slot);
			return tm;
		}
		str_timer_give(tm);
	}
	return NULL;
}

static void *
block_make(size_t size)
{
	return str_mem_zalloc(size, STR_BLK_EVENT);
}

/* Publish @b in the word @at, unless another thread was faster. */
static void
block_enter(str_a64 *at, void *b)
{
	STR_CRASH_POINT("timer:block");
	if (str_cas(at, (uint64_t)0, (uint64_t)(uintptr_t)b))
		str_mem_disown(b);
	else
		str_mem_free(b);
}

/* Add a chunk.  False: no memory, or there are too many. */
static bool
chunk_add(struct table *tb)
{
	uint32_t n = entries(tb), i;
	str_a64 *seg;
	struct chunk *c;
	struct seg *s;

	if (n == SEGS * SEG_ENTRIES)
		return false;
	seg = &tb->seg[n / SEG_ENTRIES];
	if (str_load_acq(seg) == 0) {
		s = block_make(sizeof(*s));
		if (s == NULL)
			return false;
		block_enter(seg, s);
	}
	if (chunk_of(entry_of(tb, n)) == NULL) {
		c = block_make(sizeof(*c));
		if (c == NULL)
			return false;
		for (i = 0; i < SLOTS; i++) {
			str_store(&c->at[i], STR_TIMER_NEVER);
			str_store(&c->tm[i].word, (uint64_t)
				(n << SLOT_BITS | i) << STR_TM_SHIFT |
				STR_TM_FREE);
		}
		block_enter(&entry_of(tb, n)->chunk, c);
	}
	/* its bound is 0, until it is raised */
	(void)str_cas(&tb->n, n, n + 1);
	return true;
}

/* Make the table, with its first chunk.  The creator of the domain calls
 * this. */
int
str_timer_init(struct str_domain *d)
{
	struct table *tb = block_make(sizeof(*tb));

	if (tb == NULL)
		return ENOSR;
	str_store(&tb->next, STR_TIMER_NEVER);
	block_enter(&d->core[STR_ROOT_TIMERS], tb);
	return chunk_add(tb) ? 0 : ENOSR;
}

struct str_timer *
str_timer_new(void)
{
	struct table *tb = table();
	struct str_timer *tm = NULL;
	uint32_t first = str_load(&tb->hint), i = first;

	do {
		for (; i < entries(tb); i++) {
			tm = record_take(tb, i);
			if (tm == NULL)
				continue;
			if (i != first)
				str_store(&tb->hint, i);
			return tm;
		}
		i = 0;
		if (first == 0 && !chunk_add(tb))
			return NULL;
		first = 0;
	} while (true);
}

/* The number of the next use of its place. */
static uint64_t
next_number(const struct str_timer *tm)
{
	uint64_t n = str_load(&tm->word) >> STR_TM_SHIFT;
	uint64_t place = place_of(tm);
	uint64_t count = (n >> PLACE_BITS & ((1u << COUNT_BITS) - 1)) |
		n >> 32 << COUNT_BITS;

	count++;
	if (place == 0 && (count & ((1u << COUNT_BITS) - 1)) == 0)
		count++; /* the low 31 bits of a number are not 0 */
	return place | (count & ((1u << COUNT_BITS) - 1)) << PLACE_BITS |
		(count >> COUNT_BITS & ((1u << 29) - 1)) << 32;
}

uint64_t
str_timer_start(struct str_timer *tm, uint64_t now, uint64_t when)
{
	uint64_t id = next_number(tm), at = in_grains(now, when);
	struct table *tb = table();

	str_store_rel(&tm->word, id << STR_TM_SHIFT | STR_TM_PENDING);
	if (at < str_load(&tb->next))
		(void)lower(&tb->next, at);
	str_store(deadline_of(tm), at);
	STR_CRASH_POINT("timer:linked");
	give(tm, now);
	return id;
}

struct str_timer *
str_timer_named(uint64_t id, uint64_t *ret_word)
{
	uint32_t place = (uint32_t)id & ((1u << PLACE_BITS) - 1);
	uint32_t slot = place & ((1u << SLOT_BITS) - 1);
	struct table *tb = table();
	struct str_timer *tm;
	uint64_t w;

	if (id == 0 || slot >= SLOTS || place >> SLOT_BITS >= entries(tb))
		return NULL;
	tm = &chunk_of(entry_of(tb, place >> SLOT_BITS))->tm[slot];
	w = str_load_acq(&tm->word);
	if ((w & STR_TM_STATE) == STR_TM_FREE ||
	    ((id >> 31) == 0 ? (w >> STR_TM_SHIFT & 0x7fffffffu) != id :
			       w >> STR_TM_SHIFT != id))
		return NULL;
	*ret_word = w;
	return tm;
}

void
str_timer_each(void (*fn)(struct str_timer *tm, void *arg), void *arg)
{
	struct table *tb = table();
	uint32_t n = entries(tb), i;

	for (i = 0; i < n; i++) {
		struct entry *e = entry_of(tb, i);
		struct chunk *c = chunk_of(e);
		uint64_t used = str_load_acq(&e->used);

		for (; used != 0; used &= used - 1)
			fn(&c->tm[__builtin_ctzll(used)], arg);
	}
}

/* --------------------------------------------------------------- running */

struct due {
	uint64_t at;
	struct str_timer *tm;
};

/* Keep the earliest MANY, in their order; of equal ones the first. */
static unsigned
due_add(struct due *due, unsigned n, uint64_t at, struct str_timer *tm)
{
	unsigned i;

	if (n == MANY && due[n - 1].at <= at)
		return n;
	i = n < MANY ? n : n - 1;
	for (; i > 0 && due[i - 1].at > at; i--)
		due[i] = due[i - 1];
	due[i].at = at;
	due[i].tm = tm;
	return n < MANY ? n + 1 : n;
}

static unsigned
due_find(struct table *tb, uint64_t now, struct due *due)
{
	uint32_t n = entries(tb), i, k;
	unsigned found = 0;

	for (i = 0; i < n; i++) {
		struct entry *e = entry_of(tb, i);
		struct chunk *c = chunk_of(e);

		if ((str_load_acq(&e->min) & NODE_TIME) > now)
			continue;
		for (k = 0; k < SLOTS; k++) {
			uint64_t at = str_load_acq(&c->at[k]);

			if (at <= now && str_load(&c->tm[k].taken) == 0)
				found = due_add(due, found, at, &c->tm[k]);
		}
	}
	return found;
}

static bool
handle(struct str_timer *tm, uint64_t now)
{
	bool ran = false;

	if (!str_timer_take(tm))
		return false;
	STR_CRASH_POINT("timer:taken");
	if (str_timer_expire(tm, now) && state_of(tm) == STR_TM_PENDING) {
		STR_CRASH_POINT("timer:expired");
		ran = str_timer_handle(tm);
	}
	str_timer_give(tm);
	return ran;
}

/*
 * str_timer_run - call the due callbacks
 * Return: time of the next one, UINT64_MAX if there is none.  If other threads
 * set deadlines all the time, the bounds cannot be raised; then the returned
 * time is not later than @now.
 */
uint64_t
str_timer_run(uint64_t now)
{
	struct table *tb = table();
	struct due due[MANY];
	uint64_t next;
	unsigned n, i, tries = 0;
	bool ran;

	for (;;) {
		next = str_load(&tb->next) & NODE_TIME;
		if (next > now || tries == TRIES)
			break;
		n = due_find(tb, now, due);
		for (i = 0, ran = false; i < n; i++)
			ran |= handle(due[i].tm, now);
		if (ran)
			str_sched_touched();
		if (n == MANY)
			continue;
		raise_passed(tb, now);
		tries++;
	}
	return next == STR_TIMER_NEVER ? UINT64_MAX : next;
}

uint64_t
str_timer_next(void)
{
	uint64_t next = str_load(&table()->next) & NODE_TIME;

	return next == STR_TIMER_NEVER ? UINT64_MAX : next;
}

/*
 * str_timer_pending - is there a pending callback?
 * The bound may be that of a deadline that was removed.
 */
bool
str_timer_pending(void)
{
	struct table *tb = table();
	uint32_t n, i, k;

	if ((str_load_acq(&tb->next) & NODE_TIME) == STR_TIMER_NEVER)
		return false;
	n = entries(tb);
	for (i = 0; i < n; i++) {
		struct entry *e = entry_of(tb, i);

		if ((str_load(&e->min) & NODE_TIME) == STR_TIMER_NEVER)
			continue;
		for (k = 0; k < SLOTS; k++)
			if (str_load(&chunk_of(e)->at[k]) != STR_TIMER_NEVER)
				return true;
	}
	return false;
}

/* ------------------------------------------------------------ after deaths */

/*
 * A dead thread had taken @tm, which this thread has now.  A callback that is
 * requested once is not repeated.
 */
static void
mend(struct str_timer *tm)
{
	uint64_t w = str_load_acq(&tm->word), base = w & ~(uint64_t)STR_TM_STATE;

	switch (w & STR_TM_STATE) {
	case STR_TM_RUNNING:
		(void)str_cas(&tm->word, w,
			base | (tm->keeps ? STR_TM_PENDING : STR_TM_OVER));
		str_timer_again(tm, host_now());
		break;
	case STR_TM_PENDING:
		str_timer_again(tm, host_now());
		break;
	default:
		str_store_rel(&tm->word, base | STR_TM_OVER);
		break;
	}
	str_timer_give(tm);
}

/* str_timer_reap - handle what the dead thread @tag was doing here. */
void
str_timer_reap(uint32_t tag)
{
	struct table *tb = table();
	uint32_t n = entries(tb), i, k;

	for (i = 0; i < n; i++) {
		struct chunk *c = chunk_of(entry_of(tb, i));

		for (k = 0; k < SLOTS; k++) {
			struct str_timer *tm = &c->tm[k];
			uint64_t at = str_load(&c->at[k]);

			if (str_load(&tm->taken) == tag &&
			    str_cas(&tm->taken, tag, host_self_tag()))
				mend(tm);
			else if (state_of(tm) == STR_TM_OVER &&
				str_timer_take(tm))
				str_timer_give(tm);
			else if (at != STR_TIMER_NEVER)
				lower_all(tb, i << SLOT_BITS | k, at);
		}
	}
	host_defer(0, str_timer_next());
}

/* str_timer_kept - is the block @b part of the table? */
bool
str_timer_kept(const struct str_blk *b)
{
	struct table *tb = table();
	uint32_t i;

	if (tb == NULL || (const void *)b == tb)
		return tb != NULL;
	for (i = 0; i < SEGS; i++)
		if (str_load(&tb->seg[i]) == (uint64_t)(uintptr_t)b)
			return true;
	/* a thread may have added a chunk, and not counted it yet */
	for (i = 0; i <= entries(tb) && i < SEGS * SEG_ENTRIES; i++)
		if ((const void *)chunk_of(entry_of(tb, i)) == b)
			return true;
	return false;
}

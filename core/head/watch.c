/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Watchers: lists of ready streams, which wakers fill.
 *
 * Purpose.  A thread that waits for a thousand streams must not look at a
 * thousand.  A wait costs what is active, not what is watched.
 *
 * Objects.  A *watcher* belongs to a process: two bits for each *item*, for
 * something to read and for room, a word that says which cache lines of bits
 * have some, and a word to sleep on.  A
 * head has STR_NWATCHED *slots*; one contains the number and generation of a
 * watcher, the item, and for what it is armed.  A process that finds no free
 * slot waits by tokens (poll.c).
 *
 * Arming.  The waiter stores the slot, sets STR_WANT_WATCH in the want word,
 * executes a fence, and looks at the stream.  One heavy fence is enough for all
 * that are armed together; none is needed where the wakers execute the fence
 * (STR_WANT_FENCED, sleep.c).
 *
 * Waking.  A waker that finds STR_WANT_WATCH goes through the slots.  For one
 * that is armed for its event it sets the item's bit, then the line's, wakes a
 * thread that sleeps at the watcher, disarms the slot, and at the end takes
 * STR_WANT_WATCH back.  So a waker costs one load of the want word while
 * nothing is armed, and an item is reported once for each arming.
 *
 * Order.  A waker that is killed leaves the slot armed and the want bit set,
 * and the next one does all of it again (models/ready.pml).  An arming changes
 * the slot, by its count, and the want word: a waker disarms only what is as it
 * was before it set the bit.  Otherwise it would disarm a waiter that has taken
 * the bit, armed again, and found nothing.
 *
 * Exclusive.  Slots may be armed with EPOLLEXCLUSIVE.  When a waker has woken a
 * thread by one of these slots, it leaves the other exclusive slots armed, as
 * Linux does.  str_watch_again(), which reports no event, handles all slots.
 *
 * Sleeping.  A thread counts itself in `sleepers', executes a fence, and looks
 * at `some'.  The waker wakes one of them, and only wakers take counts
 * back.  So the count is too great after a signal or a time-out has woken
 * threads. A wake that finds no thread sets the count to 0, by a
 * compare-and-swap.  Each thread that counts itself also changes the high bits
 * of the word; then the compare-and-swap fails and the count stays.  Threads
 * that also wait for descriptors of the kernel count themselves in `bell'.
 *
 * Life.  Memory of watchers is used for nothing else, and never returned: a
 * waker with an old slot sets a bit in vain at worst.  The next process that
 * wants one takes a watcher that was freed or whose process has died.  A slot
 * whose watcher was freed, has another generation, or a dead process, is free.
 *
 * Locks.  None.
 */
#include "core.h"
#include "sig.h"
#include "want.h"
#include "watch.h"

#define NUMBERS 1024u /* watchers in a domain */

/* A slot, from the lowest bit: ways, exclusive, count, item, number, gen. */
#define EXCLUSIVE 4ull
#define COUNT_ONE (1ull << 4)
#define COUNT_MASK (0xfffffull << 4)
#define ITEM_SHIFT 24
#define NUMBER_SHIFT 39
#define GEN_SHIFT 49
#define GEN_MASK 0x7fffu
/* the bits that identify the registration */
#define NAME_MASK (~0ull << ITEM_SHIFT)

_Static_assert(STR_WATCH_ITEMS <= 1u << (NUMBER_SHIFT - ITEM_SHIFT), "items");
_Static_assert(NUMBERS == 1u << (GEN_SHIFT - NUMBER_SHIFT), "numbers");
_Static_assert(sizeof(struct str_watch) <= 4352, "a block of that class");

/* ------------------------------------------------------------- the table */

/* The table of watchers; NULL: there is none, or no memory. */
static str_a64 *
table(bool make)
{
	str_a64 *root = str_root(STR_ROOT_WATCH);
	uint64_t p = str_load_acq(root);
	str_a64 *t;

	if (p != 0 || !make)
		return (str_a64 *)(uintptr_t)p;
	t = str_mem_zalloc(16 + NUMBERS * sizeof(*t), STR_BLK_KMEM);
	if (t == NULL)
		return NULL;
	if (str_cas(root, (uint64_t)0, (uint64_t)(uintptr_t)t + 16)) {
		STR_CRASH_POINT("watch:table");
		str_mem_disown(t);
	} else {
		str_mem_free(t);
	}
	return (str_a64 *)(uintptr_t)str_load_acq(root);
}

static struct str_watch *
at(uint32_t number)
{
	str_a64 *t = table(false);

	return t == NULL ? NULL :
		(struct str_watch *)(uintptr_t)str_load_acq(&t[number]);
}

/* The name of this process in `owner'. */
static uint64_t
me(void)
{
	uint32_t proc = str_load(&host_self()->proc) % STR_NPROC;

	return (uint64_t)str_load(&host_domain->proc[proc].gen) << 32 | proc;
}

static bool
is_owner_dead(uint64_t owner)
{
	uint32_t proc = (uint32_t)owner % STR_NPROC;

	return str_load_acq(&host_domain->proc[proc].gen) !=
		(uint32_t)(owner >> 32);
}

bool
str_watch_mine(const struct str_watch *w)
{
	return str_load(&w->owner) == me();
}

/*
 * Give @w another generation, which makes all slots invalid that name it, and
 * clear its bits.  A waker that found the watcher before may still set a bit,
 * in vain: the next owner finds nothing at the item.
 */
static void
clear(struct str_watch *w)
{
	uint32_t g = str_load(&w->gen) + 1, i;

	str_store(&w->gen, (g & GEN_MASK) != 0 ? g : g + 1);
	str_fence_full();
	str_store(&w->bell, 0u);
	str_store(&w->sleepers, 0u);
	str_store(&w->some, (uint64_t)0);
	for (i = 0; i < STR_WATCH_LINES * STR_WATCH_WORDS; i++)
		if (str_load(&w->bits[i]) != 0)
			str_store(&w->bits[i], (uint64_t)0);
}

static struct str_watch *
enter(str_a64 *t, uint32_t number)
{
	struct str_watch *w = str_mem_zalloc(sizeof(*w), STR_BLK_KMEM);

	if (w == NULL)
		return NULL;
	w->number = number;
	str_store(&w->gen, 1u);
	str_store(&w->owner, me());
	if (!str_cas(&t[number], (uint64_t)0, (uint64_t)(uintptr_t)w)) {
		str_mem_free(w);
		return NULL;
	}
	STR_CRASH_POINT("watch:entered");
	str_mem_disown(w);
	return w;
}

/* str_watch_make - a watcher for this process; NULL: there is none. */
struct str_watch *
str_watch_make(void)
{
	str_a64 *t = table(true);
	uint32_t i;

	for (i = 0; t != NULL && i < NUMBERS; i++) {
		struct str_watch *w = at(i);
		uint64_t owner;

		if (w == NULL) {
			w = enter(t, i);
			if (w != NULL)
				return w;
			w = at(i);
			if (w == NULL)
				return NULL;
		}
		owner = str_load(&w->owner);
		if ((owner == 0 || is_owner_dead(owner)) &&
		    str_cas(&w->owner, owner, me())) {
			clear(w);
			return w;
		}
	}
	return NULL;
}

void
str_watch_free(struct str_watch *w)
{
	uint64_t owner = me();

	if (str_load(&w->owner) != owner)
		return;
	clear(w);
	str_store_rel(&w->owner, (uint64_t)0);
}

/* ----------------------------------------------------------------- slots */

static uint64_t
name_of(const struct str_watch *w, uint32_t item)
{
	return (uint64_t)(str_load(&w->gen) & GEN_MASK) << GEN_SHIFT |
		(uint64_t)w->number << NUMBER_SHIFT |
		(uint64_t)item << ITEM_SHIFT;
}

static uint32_t
item_of(uint64_t v)
{
	return (uint32_t)(v >> ITEM_SHIFT) % STR_WATCH_ITEMS;
}

/* The watcher that @v names; NULL: it has got another generation since. */
static struct str_watch *
watcher_of(uint64_t v)
{
	struct str_watch *w = at((uint32_t)(v >> NUMBER_SHIFT) & (NUMBERS - 1));

	return w != NULL && (str_load(&w->gen) & GEN_MASK) == v >> GEN_SHIFT ?
		w : NULL;
}

static bool
is_free(uint64_t v)
{
	struct str_watch *w;
	uint64_t owner;

	if (v == 0)
		return true;
	w = watcher_of(v);
	if (w == NULL)
		return true;
	owner = str_load(&w->owner);
	return owner == 0 || is_owner_dead(owner);
}

/* str_watch_join - a slot of @sd for @item of @w.  False: all are taken. */
bool
str_watch_join(struct str_watch *w, struct str_head *sd, uint32_t item,
	bool exclusive, uint32_t *ret_slot)
{
	uint64_t v = name_of(w, item) | (exclusive ? EXCLUSIVE : 0);
	uint32_t i;

	for (i = 0; i < STR_NWATCHED; i++) {
		uint64_t old = str_load(&sd->watched[i]);

		if (is_free(old) && str_cas(&sd->watched[i], old, v)) {
			*ret_slot = i;
			return true;
		}
	}
	return false;
}

/* str_watch_leave - free the slot, if it is still @item's: the memory of @sd
 * may have been given to another stream */
void
str_watch_leave(struct str_watch *w, struct str_head *sd, uint32_t slot,
	uint32_t item)
{
	uint64_t name = name_of(w, item), v;

	do {
		v = str_load(&sd->watched[slot]);
		if ((v & NAME_MASK) != name)
			return;
	} while (!str_cas(&sd->watched[slot], v, (uint64_t)0));
}

/* For which events is @item armed? */
uint32_t
str_watch_armed(const struct str_watch *w, struct str_head *sd, uint32_t slot,
	uint32_t item)
{
	uint64_t v = str_load(&sd->watched[slot]);

	return (v & NAME_MASK) == name_of(w, item) ?
		(uint32_t)v & STR_WATCH_WAYS : 0;
}

/* A value that changes with what can be read at @sd, and with its state. */
uint32_t
str_watch_mark(struct str_head *sd)
{
	return (uint32_t)str_load_acq(&sd->hq.pos) +
		str_load(&sd->hq.npri) * 0x9e3779b1u +
		str_load(&sd->flags) * 0x85ebca6bu;
}

/* May events come by the carrier, from a process outside the domain? */
bool
str_watch_unfit(struct str_head *sd)
{
	return (str_load(&sd->flags) & (STR_H_AWAY | STR_H_FED | STR_H_MIXED |
		STR_H_LEFT)) != 0;
}

/* The CPU on which the last writer to @sd's head queue ran. */
uint32_t
str_watch_cpu(struct str_head *sd)
{
	return str_load(&sd->hq.pcpu);
}

/*
 * Set STR_WANT_WATCH.  @brisk: wakers are to execute the fence.
 * Return: do they already?
 */
static bool
want(str_a32 *word, bool brisk, uint32_t *ret_n)
{
	return (want_request(word, STR_WANT_WATCH |
			(brisk ? STR_WANT_FENCE : 0), ret_n) &
		STR_WANT_FENCED) != 0;
}

/*
 * str_watch_arm - arm @item for @ways, besides those it is armed for
 *
 * An item that has been armed before is active: its wakers are asked to execute
 * the fence, so that the next arming needs no heavy one.
 * Return: false: the slot is not @item's any more.
 */
bool
str_watch_arm(struct str_watch *w, struct str_head *sd, uint32_t slot,
	uint32_t item, uint32_t ways, struct str_armed *ret)
{
	uint64_t name = name_of(w, item), v, n;
	bool brisk;

	do {
		v = str_load(&sd->watched[slot]);
		if ((v & NAME_MASK) != name)
			return false;
		n = (v & ~COUNT_MASK) | ((v + COUNT_ONE) & COUNT_MASK) | ways;
	} while (!str_cas(&sd->watched[slot], v, n));
	brisk = (v & COUNT_MASK) != 0;
	STR_CRASH_POINT("watch:slot");
	ret->want[0] = ret->want[1] = 0;
	ret->fenced = true;
	if (ways & STR_WATCH_READ)
		ret->fenced &= want(&sd->hq.rwant, brisk, &ret->want[0]);
	if (ways & STR_WATCH_WRITE) {
		ret->fenced &= want(&sd->peer->hq.wwant, brisk, &ret->want[1]);
		if (sd->sigs != NULL && !str_head_writable(sd))
			str_sig_refused(sd, 0);
	}
	str_fence_full();
	ret->mark = str_watch_mark(sd);
	return true;
}

/* str_watch_fenced - a heavy fence was executed after the arming @a */
void
str_watch_fenced(struct str_head *sd, const struct str_armed *a)
{
	want_fenced(&sd->hq.rwant, a->want[0]);
	want_fenced(&sd->peer->hq.wwant, a->want[1]);
}

/* ---------------------------------------------------------------- waking */

/* Ring the bell of @w's process.  Return: does a thread of it sleep? */
static bool
ring(struct str_watch *w)
{
	uint32_t v = str_load(&w->bell);

	if ((v & STR_WATCH_COUNT) == 0)
		return false;
	if ((v & STR_WATCH_RUNG) != 0)
		return true;
	if (!host_bell_ring_pollers((uint32_t)str_load(&w->owner)))
		return false;
	STR_CRASH_POINT("watch:rung");
	/* only if no thread has counted itself since */
	(void)str_cas(&w->bell, v, v | STR_WATCH_RUNG);
	return true;
}

/*
 * str_watch_wake - wake a thread that sleeps at @w
 * The caller has set a bit before.  This function executes the full fence
 * between the bit and the look for sleepers.
 * Return: did a thread sleep?
 */
bool
str_watch_wake(struct str_watch *w)
{
	uint32_t n;
	bool woke = false;

	str_fence_full();
	n = str_load(&w->sleepers);
	if ((n & STR_WATCH_COUNT) != 0) {
		(void)str_add(&w->word, 1u);
		str_count(&host_self()->wakes);
		woke = host_wake(&w->word, 1) != 0;
		STR_CRASH_POINT("watch:woke");
		/* one less, or, if none slept, the count was too great; but
		 * only if no thread has counted itself since */
		(void)str_cas(&w->sleepers, n,
			woke ? n - 1 : n & ~STR_WATCH_COUNT);
	}
	if (!woke)
		woke = ring(w);
	return woke;
}

/*
 * str_watch_post - @item of @w has an event of @way
 * Return: as str_watch_wake().
 */
bool
str_watch_post(struct str_watch *w, uint32_t item, uint32_t way)
{
	uint32_t bit = str_watch_bit(item, way);
	uint64_t line = 1ull << (bit / 64 / STR_WATCH_WORDS);

	(void)str_or(&w->bits[bit / 64], 1ull << (bit % 64));
	STR_CRASH_POINT("watch:bit");
	(void)str_or(&w->some, line);
	STR_CRASH_POINT("watch:line");
	return str_watch_wake(w);
}

/* str_watch_nudge - let a thread that sleeps at @w, or is about to, look */
void
str_watch_nudge(struct str_watch *w)
{
	(void)str_or(&w->some, 1ull);
	(void)str_watch_wake(w);
}

/* Does any slot of @sd have @way? */
static bool
any_armed(struct str_head *sd, uint64_t way)
{
	uint32_t i;

	for (i = 0; i < STR_NWATCHED; i++)
		if ((str_load(&sd->watched[i]) & way) != 0)
			return true;
	return false;
}

/*
 * Report an event to the armed slots of @sd.  @one: of those with
 * EPOLLEXCLUSIVE to none after the first that has woken a thread.
 */
static void
fire(struct str_head *sd, str_a32 *want, bool one)
{
	uint32_t way = want == &sd->hq.rwant ? STR_WATCH_READ : STR_WATCH_WRITE;
	uint32_t was = str_load(want), w, i;
	bool handed = false; /* a thread was woken by an exclusive slot */

	str_fence_full(); /* @want is loaded, then the slots */
	for (i = 0; i < STR_NWATCHED; i++) {
		uint64_t v = str_load(&sd->watched[i]);
		struct str_watch *wa;

		if ((v & way) == 0 || ((v & EXCLUSIVE) != 0 && handed))
			continue;
		if (is_free(v)) {
			(void)str_cas(&sd->watched[i], v, (uint64_t)0);
			continue;
		}
		wa = watcher_of(v);
		if (wa == NULL)
			continue;
		if (str_watch_post(wa, item_of(v), way) && (v & EXCLUSIVE) != 0)
			handed = one;
		(void)str_cas(&sd->watched[i], v, v & ~(uint64_t)way);
		STR_CRASH_POINT("watch:disarmed");
	}
	if (any_armed(sd, way))
		return;
	do {
		w = str_load(want);
		if (((w ^ was) & ~STR_WANT_BITS) != 0)
			return; /* armed again since */
	} while (!str_cas(want, w, want_without(w, STR_WANT_WATCH)));
}

/*
 * str_watch_fire - a waker has found STR_WANT_WATCH in @want of the threads
 * that wait at @sd, and has executed a full fence after it published the event
 */
void
str_watch_fire(struct str_head *sd, str_a32 *want)
{
	fire(sd, want, true);
}

/*
 * str_watch_again - as str_watch_fire(), for all armed slots: no event has
 * come, but each waiter has to check again how it is to wait
 */
void
str_watch_again(struct str_head *sd, str_a32 *want)
{
	fire(sd, want, false);
}

/* -------------------------------------------------------------- sleeping */

/*
 * str_watch_sleep - this thread is about to sleep on @w->word
 * Return: false: there are bits, and it must not.
 */
bool
str_watch_sleep(struct str_watch *w)
{
	uint32_t n = str_load(&w->sleepers), more;

	do
		more = STR_MIN((n & STR_WATCH_COUNT) + 1, STR_WATCH_COUNT);
	while (!str_cas_see(&w->sleepers, &n,
		((n + STR_WATCH_COUNT + 1) & ~STR_WATCH_COUNT) | more));
	str_fence_full(); /* pairs with str_watch_wake() */
	return str_load(&w->some) == 0;
}

/*
 * str_watch_bell_on - this thread is about to sleep until the bell rings
 * It looks at `some' afterwards.
 */
void
str_watch_bell_on(struct str_watch *w)
{
	uint32_t v = str_load(&w->bell), more;

	do
		more = STR_MIN((v & STR_WATCH_COUNT) + 1, STR_WATCH_COUNT);
	while (!str_cas_see(&w->bell, &v, ((v + 2 * STR_WATCH_RUNG) &
		~(STR_WATCH_RUNG | STR_WATCH_COUNT)) | more));
	str_fence_full(); /* pairs with str_watch_wake() */
}

void
str_watch_bell_off(struct str_watch *w)
{
	uint32_t v = str_load(&w->bell);

	while ((v & STR_WATCH_COUNT) != 0 &&
		!str_cas_see(&w->bell, &v, v - 1))
		;
}

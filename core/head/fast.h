/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * read(2) and write(2) for the case that matters most: plain data at hand, or
 * room for it, byte-stream mode, no module, no waiting, nothing unusual.
 *
 * Purpose.  A small write costs a dozen ns, of which calls between functions,
 * saved registers and questions asked twice were half.  So these are inlined
 * into the library's entry points, whose last instruction, when anything is
 * not as it should be, is a jump: to the full call, nothing having been done,
 * or to what is left to do (enum str_fast).
 *
 * Life.  host_enter(), str_head_enter() and a biased lock in one, for a thread
 * that has been here before, is in no call, and lives in a domain whose
 * members all have the heavy fence: so light ones are no instruction.  Not in
 * a call means no lock held either; the word in `hold' is free, and the lock
 * is tried by storing there and looking at the bias once, afterwards.  Where
 * the bias is another's this withdraws: a revoker waits at most for this
 * short window.
 */
#ifndef STR_FAST_H
#define STR_FAST_H

#include "core.h"
#include "headq.h"

#define STR_NOT_FAST (-1000L)

/* What makes a read, or a write, take the full call. */
#define STR_READ_SLOW \
	(STR_H_RDERR | STR_H_PLEX | STR_H_LOOK | STR_H_MREAD | STR_H_MSIG | \
		STR_H_TTY)
#define STR_WRITE_SLOW \
	(STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_LOOK | STR_H_CLOSED | \
		STR_H_PLEX | STR_H_HOLD | STR_H_DELIM | STR_H_NORD | STR_H_TTY | \
		STR_H_AWAY | STR_H_MIXED)
#define STR_H_MODAL (STR_H_FIFO | STR_H_DEV)
/* A descriptor opened for writing, or reading, only: a FIFO's, a device's. */
#define NOT_FOR_READING(f, fflags) \
	(((f) & STR_H_MODAL) != 0 && ((fflags) & 3u) == 1)
#define NOT_FOR_WRITING(f, fflags) \
	(((f) & STR_H_MODAL) != 0 && ((fflags) & 3u) == 0)
#define STR_FAST_MAX 32768u /* bytes a write puts into one record */

long str_head_write_mods(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len);
long str_head_write_short(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len);
void str_head_read_after(struct str_head *sd, int fd) STR_COLD;
void str_head_write_after(struct str_head *sd, int fd) STR_COLD;

/* May this thread try at all?  Asked before each of the calls below. */
STR_INLINE bool
fast_ready(void)
{
	return str_likely(host_tls.slot != NULL && host_known() &&
		host_tls.depth == 0 && str_load(&host_domain->asym) != 0);
}

STR_INLINE bool
fast_enter(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_thread *t)
{
	host_tls.depth = 1;
	str_barrier();
	str_store_rel(&t->inside, (uint64_t)(uintptr_t)sd);
	str_barrier(); /* light fence: asym is set */
	return str_likely(str_load_acq(&id[1]) == gen);
}

/* What signals were put off meanwhile stays so. */
STR_INLINE void
fast_leave_quietly(struct str_thread *t)
{
	str_barrier();
	str_store_rel(&t->inside, (uint64_t)0);
	host_tls.depth = 0;
	str_barrier();
}

STR_INLINE void
fast_leave(struct str_thread *t)
{
	fast_leave_quietly(t);
	if (str_unlikely(host_tls.sig_saved != 0))
		host_leave_slow();
}

STR_INLINE bool
fast_lock(struct str_hlock *l, unsigned kind, struct str_thread *t)
{
	str_store(&t->hold[kind], (uint64_t)(uintptr_t)l);
	str_barrier(); /* pairs with the revoker's heavy one */
	if (str_likely(str_load_acq(&l->bias) == host_tls.tag))
		return true;
	str_store_rel(&t->hold[kind], (uint64_t)0);
	return false;
}

STR_INLINE void
fast_unlock(struct str_hlock *l, unsigned kind, struct str_thread *t)
{
	str_store_rel(&t->hold[kind], (uint64_t)0);
	str_barrier();
	if (str_unlikely(str_load(&l->lk.waiters) != 0))
		str_hunlock_slow(l);
}

/* Nothing has been done: out of the call again. */
STR_INLINE long
fast_back(struct str_thread *t)
{
	fast_leave(t);
	return STR_NOT_FAST;
}

/*
 * How far str_head_read_fast() and str_head_write_fast() got.  What is left
 * then is a function of its own, the last thing the caller calls: so these need
 * save no registers.
 */
enum str_fast {
	STR_FAST_DONE,
	STR_FAST_BACK,	 /* inside, nothing done */
	STR_FAST_HELD,	 /* nothing done, and the lock held */
	STR_FAST_LOOK,	 /* written, the lock held, and the credit used up */
	STR_FAST_PASS,	 /* done, and a thread waits for the lock */
	STR_FAST_AFTER,	 /* done; to be seen to: room for more, or sleepers */
	STR_FAST_SIGNAL, /* done, out of the call; signals were put off */
	STR_FAST_MODS,	 /* str_head_write_fast: not begun, for ..._mods() */
};
long str_head_read_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how);
long str_head_unit_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how);
long str_head_write_tail(struct str_head *sd, int fd, size_t len,
	enum str_fast how);

/* This thread, from where it is kept: no register need keep it. */
STR_INLINE struct str_thread *
fast_self(void)
{
	return *(struct str_thread *volatile *)&host_tls.slot;
}

/* fast_leave(), and what is left when that is not all. */
STR_INLINE enum str_fast
fast_out(struct str_thread *t)
{
	str_barrier();
	str_store_rel(&t->inside, (uint64_t)0);
	host_tls.depth = 0;
	str_barrier();
	return str_likely(host_tls.sig_saved == 0) ? STR_FAST_DONE :
						     STR_FAST_SIGNAL;
}

/* fast_unlock(), but false when a thread waits. */
STR_INLINE bool
fast_drop(struct str_hlock *l, unsigned kind, struct str_thread *t)
{
	str_store_rel(&t->hold[kind], (uint64_t)0);
	str_barrier();
	return str_likely(str_load(&l->lk.waiters) == 0);
}

/*
 * str_head_read_fast, str_head_write_fast
 * @id, @gen: as for str_head_enter().
 * Return: STR_FAST_DONE: *ret is the bytes read, more than 0, or @len is what
 * was written; else str_head_read_tail(), str_head_write_tail() are to be called
 * with that.
 */
STR_INLINE enum str_fast
head_take_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	void *ubuf, size_t len, size_t *ret, bool unit)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq = &sd->hq;
	uint32_t have, span, f;

	*ret = 0;
	if (str_unlikely(!fast_enter(sd, id, gen, t)))
		return STR_FAST_BACK;
	f = str_load(&sd->flags);
	if (str_unlikely((f & (STR_READ_SLOW | STR_H_MODAL)) != 0 &&
		((f & STR_READ_SLOW) != 0 ||
			NOT_FOR_READING(f, str_load(id)))))
		return STR_FAST_BACK;
	if (str_unlikely(((unit ? 0 : sd->rdopt) | str_load(&hq->npri)) != 0 ||
		!fast_lock(&hq->clock, STR_HOLD_C, t)))
		return STR_FAST_BACK;
	have = headq_take_quick(hq, ubuf, len, &span);
	if (str_unlikely(have == 0))
		return STR_FAST_HELD;
	headq_next(hq, have, span);
	*ret = have;
	t = fast_self();
	if (str_unlikely(!fast_drop(&hq->clock, STR_HOLD_C, t)))
		return STR_FAST_PASS;
	if (str_unlikely((!unit && have < len) || str_load(&hq->wwant) != 0))
		return STR_FAST_AFTER;
	return fast_out(t);
}

STR_INLINE enum str_fast
str_head_read_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	void *ubuf, size_t len, size_t *ret)
{
	return head_take_fast(sd, id, gen, ubuf, len, ret, false);
}

/*
 * str_head_unit_fast - the first record, when it is plain data and fits, and
 * nothing behind it, whatever the read options are
 * As str_head_read_fast(), but that str_head_unit_tail() is to be called.
 */
STR_INLINE enum str_fast
str_head_unit_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	void *ubuf, size_t len, size_t *ret)
{
	return head_take_fast(sd, id, gen, ubuf, len, ret, true);
}

STR_INLINE enum str_fast
str_head_write_fast(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const void *ubuf, size_t len)
{
	struct str_thread *t = host_tls.slot;
	struct str_headq *hq;
	uint32_t left, f;

	/* a look at memory that stays readable */
	if (str_load(&sd->direct) == NULL)
		return STR_FAST_MODS;
	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		len - 1 >= STR_FAST_MAX)) /* nothing, or not one record */
		return STR_FAST_BACK;
	hq = &sd->peer->hq;
	f = str_load(&sd->flags);
	if (str_unlikely((f & (STR_WRITE_SLOW | STR_H_MODAL)) != 0 &&
		((f & STR_WRITE_SLOW) != 0 ||
			NOT_FOR_WRITING(f, str_load(id)))))
		return STR_FAST_BACK;
	if (str_unlikely(!fast_lock(&hq->plock, STR_HOLD_P, t)))
		return STR_FAST_BACK;
	/* direct changes under plock */
	if (str_unlikely(str_load(&sd->direct) == NULL ||
		!headq_put_quick(hq, ubuf, len)))
		return STR_FAST_HELD;
	host_tls.wrote = 1;
	left = hq->credit - 1;
	if (str_unlikely(left == 0))
		return STR_FAST_LOOK;
	hq->credit = left;
	t = fast_self();
	if (str_unlikely(!fast_drop(&hq->plock, STR_HOLD_P, t)))
		return STR_FAST_PASS;
	if (str_unlikely(str_load(&hq->rwant) != 0))
		return STR_FAST_AFTER;
	return fast_out(t);
}

/*
 * str_head_write_indirect - the fast write where a module, or a device, stands
 * in the way
 * Return: bytes, more than 0, or STR_NOT_FAST with nothing done.
 */
STR_INLINE long
str_head_write_indirect(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len)
{
	if (str_unlikely(len - 1 >= STR_FAST_MAX))
		return STR_NOT_FAST;
	return str_load(&sd->ticket) != 0 ?
		str_head_write_short(sd, id, gen, fd, ubuf, len) :
		str_head_write_mods(sd, id, gen, fd, ubuf, len);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * read(2) and write(2) for the most important case: plain data is available, or
 * there is room for it; byte-stream mode, no module, no waiting.
 *
 * Purpose.  A small write costs a dozen ns; calls between functions, saved
 * registers and repeated tests were half of that.  So these functions are
 * inlined into the library's entry points.  If a condition does not hold, the
 * last instruction of an entry point is a jump: to the full call, if nothing
 * has been done, or to a function that does the rest (enum str_fast).
 *
 * Life.  These functions combine host_enter(), str_head_enter() and a biased
 * lock.  They are for a thread that has a slot, is not in a call, and is in a
 * domain whose members all support the heavy fence, so that a light fence needs
 * no instruction.  A thread that is not in a call holds no lock, so the word
 * `hold' is free.  The lock is tried by a store to this word and one load of
 * the bias afterwards.  If another thread has the bias, this thread withdraws:
 * a revoker waits at most for this short window.
 */
#ifndef STR_FAST_H
#define STR_FAST_H

#include "core.h"
#include "headq.h"

#define STR_NOT_FAST (-1000L)

/* Flags with which a read, or a write, makes the full call. */
#define STR_READ_SLOW \
	(STR_H_RDERR | STR_H_PLEX | STR_H_LOOK | STR_H_MREAD | STR_H_MSIG | \
		STR_H_TTY | STR_H_PLAIN)
#define STR_WRITE_SLOW \
	(STR_H_WRERR | STR_H_HUP | STR_H_PEER | STR_H_LOOK | STR_H_CLOSED | \
		STR_H_PLEX | STR_H_HOLD | STR_H_DELIM | STR_H_NORD | STR_H_TTY | \
		STR_H_AWAY | STR_H_MIXED)
/* Kinds of streams whose descriptors have an access mode, O_ACCMODE. */
#define STR_H_ACCMODE (STR_H_FIFO | STR_H_DEV)
/* A descriptor opened for writing, or reading, only: a FIFO's, a device's. */
#define NOT_FOR_READING(f, fflags) \
	(((f) & STR_H_ACCMODE) != 0 && ((fflags) & 3u) == 1)
#define NOT_FOR_WRITING(f, fflags) \
	(((f) & STR_H_ACCMODE) != 0 && ((fflags) & 3u) == 0)
#define STR_FAST_MAX 32768u /* bytes a write puts into one record */

long str_head_write_mods(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len);
long str_head_write_short(struct str_head *sd, const str_a32 *id, uint32_t gen,
	int fd, const void *ubuf, size_t len);
void str_head_read_after(struct str_head *sd, int fd) STR_COLD;
void str_head_write_after(struct str_head *sd, int fd) STR_NOINLINE;

/* May this thread use the fast path?  Tested before each of the calls below. */
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

/* Leave; signals that were deferred meanwhile stay deferred. */
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

/* Leave the call, in which nothing has been done. */
STR_INLINE long
fast_back(struct str_thread *t)
{
	fast_leave(t);
	return STR_NOT_FAST;
}

/*
 * How far str_head_read_fast() and str_head_write_fast() got.  The caller's
 * last action is to call another function, which does the rest, so that no
 * registers need be saved.
 */
enum str_fast {
	STR_FAST_DONE,
	STR_FAST_BACK,	 /* inside, nothing done */
	STR_FAST_HELD,	 /* nothing done, and the lock held */
	STR_FAST_LOOK,	 /* written, the lock held; hq->credit is used up, so
			  * the writer checks whether the reader reads */
	STR_FAST_PASS,	 /* done, and a thread waits for the lock */
	STR_FAST_AFTER,	 /* done; sleepers must be woken, or the reader's
			  * buffer has room for more data */
	STR_FAST_SIGNAL, /* done, call left; signals were deferred */
	STR_FAST_MODS,	 /* call not begun, because `direct' is NULL: the caller
			  * calls str_head_write_indirect() */
};
long str_head_read_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how);
long str_head_unit_tail(struct str_head *sd, int fd, void *ubuf, size_t len,
	size_t done, enum str_fast how);
long str_head_write_tail(struct str_head *sd, int fd, size_t len,
	enum str_fast how);

/* This thread, loaded again each time, so that it needs no register. */
STR_INLINE struct str_thread *
fast_self(void)
{
	return *(struct str_thread *volatile *)&host_tls.slot;
}

/*
 * fast_leave(), but the caller calls host_leave_slow().
 * Return: STR_FAST_SIGNAL if that is necessary.
 */
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

/*
 * fast_unlock(), but the caller calls str_hunlock_slow().
 * Return: false if that is necessary, because a thread waits.
 */
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
 * Return: STR_FAST_DONE: *ret is the number of bytes read, more than 0, or @len
 * bytes were written.  STR_FAST_MODS: the caller calls
 * str_head_write_indirect().  Otherwise the caller passes the result to
 * str_head_read_tail() or str_head_write_tail().
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
	if (str_unlikely((f & (STR_READ_SLOW | STR_H_ACCMODE)) != 0 &&
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
 * str_head_unit_fast - read the first record only, if it is plain data and
 * fits, whatever the read options are
 * As str_head_read_fast(), but the caller then calls str_head_unit_tail().
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

	/*
	 * This thread is not inside the stream yet, so the stream may have been
	 * freed.  Its memory can still be read, and `direct' is only a hint: it
	 * is loaded again below.
	 */
	if (str_load(&sd->direct) == NULL)
		return STR_FAST_MODS;
	if (str_unlikely(!fast_enter(sd, id, gen, t) ||
		len - 1 >= STR_FAST_MAX)) /* 0, or too long for one record */
		return STR_FAST_BACK;
	hq = &sd->peer->hq;
	f = str_load(&sd->flags);
	if (str_unlikely((f & (STR_WRITE_SLOW | STR_H_ACCMODE)) != 0 &&
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
 * str_head_write_indirect - the fast write on a stream with modules, or a
 * device stream
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

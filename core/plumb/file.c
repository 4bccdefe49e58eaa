/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Open files, by which programs hold a Stream head.
 *
 * Life.  A file is entered into the directory under its carrier's cookie when
 * it is complete, and closed by the thread that first finds that the carrier
 * has no holder.  A compare-and-swap of `use' (generation and `open' together)
 * selects this thread, and fails if the memory has become another file
 * meanwhile.  The memory stays with the head, for the next open, until the
 * stream is freed.  The thread that closed the descriptor may be the second
 * one, because streamsd checks, too.  It then also does the remaining steps,
 * and waits at the node's lock for the other thread; so its close returns when
 * the stream is closed, and does not depend on the other thread's life.
 *
 * `open' is the state of a file: 0 unused, 1 open, 3 being closed.  While the
 * file is being made it is the tag of its maker; if the maker was killed, every
 * thread can see that the file has no holder, and a sweep makes it unused
 * again.
 *
 * Files are not counted: whether a head is held, and by readers or writers, is
 * found by walking its files, so that a death in between cannot make a count
 * wrong.  Names, links and passes in flight are references, which are counted
 * (`refs'); the collector corrects that count.
 */
#include "core.h"

#define ACCMODE 3u
#define O_RD 0u
#define O_WR 1u

static uint32_t
new_gen(void)
{
	/* reused memory must not have a valid generation by chance */
	return (uint32_t)((str_add(str_root(STR_ROOT_EVID), (uint64_t)1) + 1) *
		2654435761u);
}

/* The word `use' of generation @gen, at a stage of `open'. */
static uint64_t
use_of(uint32_t gen, uint32_t open)
{
	union {
		struct {
			uint32_t gen, open;
		};
		uint64_t use;
	} u = {.gen = gen, .open = open};

	return u.use;
}

/* An unused file of @sd, marked as being made by this thread. */
static struct str_file *
unused(struct str_head *sd)
{
	uint32_t me = host_self_tag();
	struct str_file *f;
	struct str_fileblk *b;

	for (f = &sd->file; f != NULL; f = f->next)
		if (str_load(&f->open) == 0 && str_cas(&f->open, 0u, me))
			return f;
	b = str_mem_alloc(sizeof(*b), STR_BLK_FILE);
	if (b == NULL)
		return NULL;
	f = &b->f;
	__builtin_memset(f, 0, sizeof(*f));
	str_store(&f->open, me);
	f->head = sd;
	do {
		f->next = sd->file.next;
	} while (!__sync_bool_compare_and_swap(&sd->file.next, f->next, f));
	STR_CRASH_POINT("file:linked");
	str_mem_disown(b);
	return f;
}

/* The flags of @sd according to its open files, if it is a FIFO. */
static uint32_t
sides(struct str_head *sd)
{
	uint32_t rd = 0, wr = 0;
	struct str_file *f;

	str_fence_full(); /* the caller has changed `open' of a file before; so
			   * of two callers one sees the other's change */
	for (f = &sd->file; f != NULL; f = f->next) {
		uint32_t m = str_load(&f->fflags) & ACCMODE;

		if (str_load(&f->open) != 1)
			continue;
		rd += m != O_WR;
		wr += m != O_RD;
	}
	str_store(&sd->nread, rd);
	str_store(&sd->nwrite, wr);
	return (rd == 0 ? STR_H_NORD : 0) | (wr == 0 ? STR_H_NOWR : 0);
}

/*
 * str_head_tally - set the flags for a FIFO's readers and writers
 * Several threads may count at the same time, and a result may be out of date
 * when it is stored: a thread that has changed the flags counts again.
 */
void
str_head_tally(struct str_head *sd)
{
	uint32_t was, now;
	bool told = true;

	if ((str_load(&sd->flags) & STR_H_FIFO) == 0)
		return;
	for (;;) {
		now = sides(sd);
		was = str_load(&sd->flags) & (STR_H_NORD | STR_H_NOWR);
		if (now == was)
			break;
		STR_CRASH_POINT("fifo:counted");
		(void)str_or(&sd->flags, now);
		(void)str_and(&sd->flags, ~(was & ~now));
		told = false;
	}
	if (!told)
		str_wake_all(sd);
}

/*
 * str_file_add - one more open file of @sd, over the carrier @c
 * The caller prevents the head from being closed: by the lock of its node or
 * name, or by a reference.
 * Return: 0, ENOSR.
 */
int
str_file_add(struct str_head *sd, const struct host_carrier *c, int oflags,
	struct str_file **ret)
{
	struct str_file *f = unused(sd);
	int err;

	if (f == NULL)
		return ENOSR;
	STR_CRASH_POINT("file:making");
	f->carrier = *c;
	f->head = sd;
	str_store(&f->fflags, (uint32_t)oflags & (ACCMODE | STR_O_NONBLOCK));
	str_store(&f->gen, new_gen());
	str_store_rel(&f->open, 1u);
	str_stream_odd();
	STR_CRASH_POINT("file:open");
	err = str_dir_enter(c->cookie, f);
	if (err != 0) {
		str_store_rel(&f->open, 0u);
		return err;
	}
	str_head_tally(sd);
	*ret = f;
	return 0;
}

bool
str_head_has_file(struct str_head *sd)
{
	struct str_file *f;

	for (f = &sd->file; f != NULL; f = f->next)
		if (str_load(&f->open) != 0)
			return true;
	return false;
}

/* str_head_held - does anything keep @sd from being closed? */
bool
str_head_held(struct str_head *sd)
{
	return str_head_refs(sd) != 0 || str_head_has_file(sd);
}

/* str_head_maybe_close - perhaps @sd has lost its last holder. */
void
str_head_maybe_close(struct str_head *sd, struct host_call *hc)
{
	struct str_plumb *pl = sd->plumb;

	if (str_head_orphan(sd))
		host_daemon_soon(); /* its references may be unreachable */
	if (str_head_held(sd))
		return;
	if (pl->kind == STR_PL_PIPE)
		str_pipe_let_go(sd);
	else
		str_stream_close(pl, hc);
}

/*
 * Do the remaining steps for @f, of generation @gen, whose carrier @c has no
 * holder, or is @kept for another stream.  The address is removed before the
 * directory entry: a thread that finds the entry does both again.  The file
 * becomes unused last: a closer that finds it unused returns to its program,
 * which expects that the FIFO's readers and writers no longer include this
 * file.
 */
static void
finish(struct str_file *f, uint32_t gen, const struct host_carrier *c,
	bool kept)
{
	struct str_head *sd = f->head; /* read before @f can be reused */

	/* cookie 0: another file has the carrier: str_file_move() */
	if (c->cookie != 0 && !kept)
		host_carrier_gone(c);
	(void)str_dir_remove(c->cookie);
	str_head_tally(sd);
	STR_CRASH_POINT("file:tallied");
	(void)str_cas(&f->use, use_of(gen, 3), use_of(gen, 0));
}

/*
 * Close @f, of generation @gen, with carrier @c, unless it is closed or another
 * file by now; true if this call closed it.
 */
static bool
close_use(struct str_file *f, uint32_t gen, const struct host_carrier *c,
	bool kept, struct host_call *hc)
{
	struct str_head *sd = f->head;

	if (!str_cas(&f->use, use_of(gen, 1), use_of(gen + 1, 3)))
		return false;
	STR_CRASH_POINT("file:closed");
	str_sig_file_closed(sd);
	finish(f, gen + 1, c, kept);
	STR_CRASH_POINT("file:finished");
	str_head_maybe_close(sd, hc);
	return true;
}

/*
 * str_file_close - close the caller's own open file, which no other process
 * holds.
 */
bool
str_file_close(struct str_file *f, struct host_call *hc)
{
	struct host_carrier c = f->carrier;

	return close_use(f, str_load(&f->gen), &c, false, hc);
}

/*
 * str_file_forget - the carrier of @f, made by pipe(2), has no holder any more
 * @f becomes unused, and its entry is removed, unless that is the stream's own.
 * The words read from the carrier belong to @f if @f is unchanged afterwards.
 */
void
str_file_forget(struct str_file *f)
{
	uint64_t use = str_load_acq(&f->use), cookie = f->carrier.cookie;
	uint32_t gen, kind = f->carrier.kind;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	gen = str_load(&f->gen);
	if (kind != HOST_CARRIER_PAIR || use != use_of(gen, 1) ||
	    str_load(&f->use) != use)
		return;
	if (cookie != f->head->plumb->sid)
		(void)str_dir_remove(cookie);
	STR_CRASH_POINT("pipe:forgotten");
	(void)str_cas(&f->use, use, use_of(gen, 0));
}

/*
 * str_file_move - @f's carrier becomes an open file of @to
 * The caller holds @to by a reference.
 * Return: false: it is closed already, or there is no memory.
 */
bool
str_file_move(struct str_file *f, struct str_head *to)
{
	struct host_carrier c = f->carrier;
	int oflags = (int)str_load(&f->fflags);
	struct str_file *n = unused(to);

	if (n == NULL)
		return false;
	if (!str_cas(&f->open, 1u, 3u)) {
		str_store_rel(&n->open, 0u);
		return false;
	}
	(void)str_add(&f->gen, 1u);
	(void)str_dir_remove(c.cookie);
	f->carrier.cookie = 0; /* @f does not own the carrier any more */
	(void)str_cas(&f->open, 3u, 0u); /* a sweep may have been first */
	str_store_rel(&n->open, 0u);
	/* its entry is free: this cannot fail for lack of room */
	return str_file_add(to, &c, oflags, &n) == 0;
}

void
str_file_released(struct str_file *f, uint32_t gen, struct host_call *hc)
{
	struct host_carrier c = f->carrier;
	uint64_t use;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	use = str_load(&f->use);
	str_sig_file_closed(f->head);
	if (use == use_of(gen, 1)) {
		if (c.kind != HOST_CARRIER_OPEN || host_carrier_alive(&c) ||
		    close_use(f, gen, &c, false, hc))
			return;
		use = str_load(&f->use);
	}
	/* another thread was first, and may be closing it, or dead; a file that
	 * is being moved has the same state, but has a holder */
	if (use == use_of(gen + 1, 3) && !host_carrier_alive(&c))
		finish(f, gen + 1, &c, false);
	str_head_maybe_close(f->head, hc);
}

bool
str_file_ended(struct str_file *f, uint32_t gen, bool kept,
	struct host_call *hc)
{
	struct host_carrier c = f->carrier;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_load(&f->use) == use_of(gen, 1) &&
		c.kind == HOST_CARRIER_OPEN && close_use(f, gen, &c, kept, hc);
}

/*
 * References.  The count is incremented before a reference is stored in a
 * message, a link or a name, and decremented after it is removed; all this is
 * done between str_ref_begin() and str_ref_end().  So after a death in between
 * the count is at most one too high, which the collector corrects.
 */
void
str_ref_begin(void)
{
	str_a32 *m = &host_self()->moving;

	str_store(m, str_load(m) + 1);
	str_fence_full();
	(void)str_add(str_root(STR_ROOT_REFSEQ), (uint64_t)1);
}

void
str_ref_end(void)
{
	str_a32 *m = &host_self()->moving;

	str_fence_full();
	str_store(m, str_load(m) - 1);
}

/*
 * str_head_ref - call str_ref_begin() and count a reference.  The caller stores
 * the reference, then calls str_ref_end().
 * str_head_unref - the caller has called str_ref_begin() and removed a
 * reference: stop counting it, and call str_ref_end().
 */
void
str_head_ref(struct str_head *sd)
{
	str_ref_begin();
	(void)str_add(&sd->refs, STR_REF_CHANGE + 1);
	str_stream_odd();
	STR_CRASH_POINT("ref:counted");
}

/*
 * Stop counting a reference.  *ret_bare: the head has no open file.  Then it
 * may be unreachable now, although other references are left.  The files are
 * examined before the count is decremented, as long as the reference keeps the
 * head.  A thread that closes the last file later finds the other references.
 */
static bool
unref(struct str_head *sd, bool *ret_bare)
{
	STR_CRASH_POINT("ref:taken");
	*ret_bare = !str_head_has_file(sd);
	return (uint32_t)str_add(&sd->refs, STR_REF_CHANGE - 1) == 1u;
}

void
str_head_unref(struct str_head *sd, struct host_call *hc)
{
	bool bare, last = unref(sd, &bare);

	str_ref_end();
	if (last)
		str_head_maybe_close(sd, hc);
	else if (bare)
		host_daemon_soon();
}

/*
 * str_head_unref_later - as str_head_unref(), but if this was the last
 * reference a sweep closes the head
 */
void
str_head_unref_later(struct str_head *sd)
{
	bool bare;

	(void)unref(sd, &bare);
	str_ref_end();
	if (bare)
		host_daemon_soon();
}

/*
 * str_ref_hold - the caller keeps the reference of str_head_ref() for a long
 * operation: record @sd in the slot, and call str_ref_end()
 * While `moving' is set the collector does nothing; `held' names the one head
 * to which this thread has a reference.
 * Return: the argument for str_ref_release(), which calls str_ref_begin().
 */
bool
str_ref_hold(struct str_head *sd)
{
	struct str_thread *t = host_self();

	if (str_load(&t->held) != 0)
		return false; /* a call inside another one */
	str_store(&t->held, (uint64_t)(uintptr_t)sd);
	str_ref_end();
	return true;
}

void
str_ref_release(bool held)
{
	if (!held)
		return;
	str_ref_begin();
	str_store(&host_self()->held, (uint64_t)0);
}

/* str_head_orphan - is @sd kept by references alone? */
bool
str_head_orphan(struct str_head *sd)
{
	return str_head_refs(sd) != 0 && !str_head_has_file(sd);
}

/* Was it being made by a thread that was killed?  Then make it unused. */
static bool
forsaken(struct str_file *f)
{
	uint32_t v = str_load(&f->open);

	return v > 3 && host_owner_dead(v) && str_cas(&f->open, v, 0u);
}

/*
 * str_head_sweep_listed - close the files of @sd that no process holds
 * @l: carriers that existed a moment ago, about which the kernel is not asked; or
 * NULL.
 * A file whose closer died half way (open == 3) is closed completely; one whose
 * maker died becomes unused.  With the last file the stream is closed, with all
 * its files.
 * Return: number of files closed.
 */
unsigned
str_head_sweep_listed(struct str_head *sd, struct host_call *hc,
	struct host_listing *l)
{
	struct str_plumb *pl = sd->plumb;
	uint64_t sid = pl->sid;
	struct str_file *f;
	unsigned n = 0;

	for (f = &sd->file; f != NULL; f = f->next) {
		uint64_t use = str_load_acq(&f->use);
		struct host_carrier c = f->carrier;
		uint32_t gen;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (forsaken(f)) {
			n++;
			continue;
		}
		gen = str_load(&f->gen);
		if ((use != use_of(gen, 1) && use != use_of(gen, 3)) ||
		    c.kind != HOST_CARRIER_OPEN || host_listing_has(l, &c) ||
		    host_carrier_alive(&c))
			continue;
		if (use == use_of(gen, 3)) {
			finish(f, gen, &c, false);
			n++;
		} else {
			n += close_use(f, gen, &c, false, hc);
			if (!str_stream_lives(pl) || pl->sid != sid)
				return n;
		}
	}
	if (n != 0 || !str_head_held(sd))
		str_head_maybe_close(sd, hc);
	return n;
}

unsigned
str_head_sweep(struct str_head *sd, struct host_call *hc)
{
	return str_head_sweep_listed(sd, hc, NULL);
}

struct str_file *
str_file_lookup(const struct host_carrier *c)
{
	struct str_file *f = str_dir_find(c->cookie);

	if (f == NULL || f->carrier.cookie != c->cookie ||
	    f->carrier.ino != c->ino || str_load(&f->open) != 1 ||
	    f->head == NULL ||
	    (str_load(&f->head->flags) & STR_H_CLOSED) != 0)
		return NULL;
	return f;
}

str_a32 *
str_file_flags(struct str_file *f)
{
	return &f->fflags;
}

uint32_t
str_file_gen(struct str_file *f)
{
	return str_load(&f->gen);
}

struct str_head *
str_file_head(struct str_file *f)
{
	return f->head;
}

void
str_file_carrier(struct str_file *f, struct host_carrier *ret)
{
	*ret = f->carrier;
}

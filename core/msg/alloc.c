/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Message blocks: allocb, dupb, freeb and esballoc.
 *
 * Objects.  An allocation carries a message block, a data block and a buffer
 * (struct str_mdb).  There are blocks for it in several sizes; a message of
 * more than MDB_MOST bytes has its buffer in a block of its own.  After dupb()
 * the two halves may end their lives at different times: `parts' says which
 * half is still in use, and who clears the last bit frees the piece.
 *
 * Pinned buffers.  A buffer given to esballoc() that is not arena memory can
 * only be read by the process that gave it.  Such a data block names that
 * process; putq() and the Stream head replace it by a copy
 * (str_msg_unpin()), which runs the free routine at home.
 *
 * Failure.  A block is stamped with its thread while it is private and with
 * 0 once it is reachable from a queue; what a dead thread held is freed by
 * str_thread_reap().
 *
 * Doubt.  Who is killed as he makes or drops a reference to shared data may
 * have counted it or not.  So whoever is at that says so in his slot
 * (`sharing'), and if he dies the reaper marks the data DB_DOUBT: then there
 * are no new references, none is counted any more, and who has dropped one
 * looks through the memory whether another is left (str_mdb_settle()).  A
 * reference is seen from before it is counted until it is dropped, so whoever
 * looks after the mark was set sees all there are; who finds none and sets
 * DB_GONE first frees the data.  Until then the count may be too high, and is
 * never too low.
 */
#include "alloc.h"

/* A buffer block: header, then the bytes. */
#define BUF_HDR 64u

/* SVR4 allocb(D3).  The buffer may be larger than asked for: db_lim. */
mblk_t *
allocb(size_t size, unsigned int pri)
{
	struct str_mdb *x;
	struct str_blk *b;

	(void)pri;
	if (str_unlikely(size > STR_MEM_MAX - BUF_HDR))
		return NULL;
	if (size <= STR_FASTBUF)
		return mdb_small(size);
	if (str_likely(size <= MDB_MOST))
		return mdb_large(size);
	x = mdb_alloc(CLASS_MDB);
	if (str_unlikely(x == NULL))
		return NULL;
	b = str_mem_alloc(size + BUF_HDR, STR_BLK_BUF);
	if (str_unlikely(b == NULL)) {
		str_store(&x->parts, 0u);
		str_mdb_put(x);
		return NULL;
	}
	x->d.db_base = (unsigned char *)b + BUF_HDR;
	x->d.db_lim = (unsigned char *)b + str_mem_size(b);
	/* who dies before this leaves two blocks, after it one with another */
	str_barrier();
	x->d.db_class = CLS_BUF;
	str_barrier();
	str_mem_disown(b); /* lives and dies with the data block */
	x->d.db_size = (unsigned int)size;
	x->m.b_rptr = x->m.b_wptr = x->d.db_base;
	return &x->m;
}

/* A name of the calling process: slot and generation. */
static uint32_t
this_process(void)
{
	uint32_t i = str_load(&host_self()->proc) % STR_NPROC;

	return str_load(&host_domain->proc[i].gen) * STR_NPROC + i;
}

/* SVR4 esballoc(D3) */
mblk_t *
esballoc(unsigned char *base, size_t size, unsigned int pri, frtn_t *frtn)
{
	struct str_mdb *x;

	(void)pri;
	if (base == NULL || frtn == NULL)
		return NULL;
	x = mdb_alloc(CLASS_MDB);
	if (x == NULL)
		return NULL;
	x->d.db_class = CLS_ESB;
	x->d.db_base = base;
	x->d.db_lim = base + size;
	x->d.db_size = (unsigned int)size;
	x->d.db_frtn = *frtn;
	x->d.db_frtnp = &x->d.db_frtn;
	x->d.db_owner = this_process();
	x->m.b_rptr = x->m.b_wptr = base;
	return &x->m;
}

/* SVR4 testb(D3): would allocb() succeed now? */
int
testb(size_t size, unsigned int pri)
{
	mblk_t *mp = allocb(size, pri);

	if (mp == NULL)
		return 0;
	freeb(mp);
	return 1;
}

/* db_flags: what is shared is not counted; somebody frees it */
#define DB_DOUBT 1u
#define DB_GONE 2u

static uint64_t
share_begin(dblk_t *d)
{
	struct str_thread *t = host_self();
	uint64_t was = str_load(&t->sharing);

	str_store(&t->sharing, (uint64_t)(uintptr_t)d);
	str_barrier();
	return was;
}

static void
share_end(uint64_t was)
{
	str_barrier();
	str_store(&host_self()->sharing, was);
}

/* It may be another's data by now: then it is not, or he looks for nothing. */
STR_RACY static bool
is_doubtful(const dblk_t *d)
{
	return (str_load_acq(&d->db_flags) & DB_DOUBT) != 0;
}

static void
mdb_release(struct str_mdb *x, uint32_t part)
{
	if (str_and(&x->parts, ~part) == part)
		str_mdb_put(x);
}

/*
 * Is this the process that made the outside block @d?  In another one, the
 * reaper of its maker for instance, the routine's address means nothing.
 */
static bool
at_home(const dblk_t *d)
{
	return d->db_owner == this_process() ||
		host_code_shared((const void *)d->db_frtnp->free_func);
}

/* The last reference to @d is gone. */
static void
db_free(dblk_t *d)
{
	if (d->db_class == CLS_BUF) {
		/* stamped, then taken off, then freed: dying in between
		 * leaves it to the reaper, exactly once */
		str_mem_own(d->db_base - BUF_HDR);
		str_barrier();
		d->db_class = CLS_FAST;
		str_barrier();
		str_mem_free(d->db_base - BUF_HDR);
	} else if (d->db_class == CLS_ESB && d->db_frtnp != NULL &&
		d->db_frtnp->free_func != NULL && at_home(d)) {
		d->db_frtnp->free_func(d->db_frtnp->free_arg);
	}
}

/* The last reference to shared data @d is gone: to one of those who see it. */
static void
free_shared(dblk_t *d)
{
	if ((str_or(&d->db_flags, (unsigned char)DB_GONE) & DB_GONE) != 0)
		return;
	db_free(d);
	mdb_release(str_mdb_of_d(d), STR_MDB_D);
}

struct search {
	const dblk_t *d;
	bool found;
};

STR_RACY static void
refers(struct str_blk *b, void *arg)
{
	struct str_mdb *x = (struct str_mdb *)(void *)b;
	struct search *s = arg;

	if (str_load(&b->state) == STR_BLK_MDB &&
	    (str_load(&x->parts) & STR_MDB_M) != 0 &&
	    *(dblk_t *const volatile *)&x->m.b_datap == s->d)
		s->found = true;
}

/* Is @d data, which nobody has with the message it was made with? */
static bool
is_left_over(dblk_t *d)
{
	struct str_mdb *x = str_mdb_of_d(d);

	return str_load(&x->blk.state) == STR_BLK_MDB &&
		str_load(&x->parts) == STR_MDB_D && is_doubtful(d);
}

/*
 * str_mdb_settle - free @d if it is doubtful and nothing refers to it
 * @dead: a thread that died at it and is being reaped, or NULL
 */
void
str_mdb_settle(dblk_t *d, const struct str_thread *dead)
{
	struct str_domain *dom = host_domain;
	struct search s = {.d = d};
	uint32_t i, n;

	if (!is_left_over(d))
		return;
	str_mem_walk(refers, &s);
	if (s.found || !is_left_over(d))
		return;
	if (dead != NULL && (str_load(&d->db_flags) & DB_GONE) != 0) {
		/* who was at it was the dead one, if nobody else is */
		n = str_load(&dom->thread_high);
		for (i = 0; i < n && i < STR_NTHREAD; i++)
			if (&dom->thread[i] != dead &&
			    str_load(&dom->thread[i].sharing) ==
				    (uint64_t)(uintptr_t)d)
				return;
		str_and(&d->db_flags, (unsigned char)~DB_GONE);
	}
	free_shared(d);
}

/* str_mdb_doubt - the references to @d may not be as many as are counted */
void
str_mdb_doubt(dblk_t *d)
{
	struct str_mdb *x = str_mdb_of_d(d);

	if (str_mem_valid(d) && ((uintptr_t)d & 7u) == 0 &&
	    str_load(&x->blk.state) == STR_BLK_MDB &&
	    (str_load(&x->parts) & STR_MDB_D) != 0)
		(void)str_or(&d->db_flags, (unsigned char)DB_DOUBT);
}

/* freeb() of a reference to data that others may have, too. */
static STR_NOINLINE void
free_reference(struct str_mdb *x, dblk_t *d)
{
	uint64_t was = share_begin(d);
	bool last;

	*(dblk_t *volatile *)&x->m.b_datap = NULL;
	STR_CRASH_POINT("msg:dropping");
	last = !is_doubtful(d) &&
		str_sub(&d->db_ref, (unsigned char)1) == 1;
	STR_CRASH_POINT("msg:dropped");
	if (last && d == &x->d) {
		db_free(d);
		str_store(&x->parts, 0u);
		str_mdb_put(x);
		share_end(was);
		return;
	}
	if (last)
		free_shared(d);
	/* others keep the data: it is not ours to stamp any more */
	if (d == &x->d)
		str_mem_disown(x);
	mdb_release(x, STR_MDB_M);
	if (str_unlikely(is_doubtful(d)))
		str_mdb_settle(d, NULL);
	share_end(was);
}

/* SVR4 freeb(D3) */
void
freeb(mblk_t *bp)
{
	struct str_mdb *x = str_mdb_of_m(bp);
	dblk_t *d = bp->b_datap;

	STR_ASSERT(x->blk.state == STR_BLK_MDB);
	STR_ASSERT(str_load(&d->db_ref) > 0);
	if (d != &x->d || str_load_acq(&d->db_ref) != 1) {
		free_reference(x, d);
		return;
	}
	/* ours alone, the others' work done: nobody can dup it */
	bp->b_datap = NULL;
	d->db_ref = 0;
	if (d->db_class != CLS_FAST)
		db_free(d);
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

/* SVR4 freemsg(D3) */
void
freemsg(mblk_t *mp)
{
	while (mp != NULL) {
		mblk_t *next = mp->b_cont;

		freeb(mp);
		mp = next;
	}
}

/* SVR4 dupb(D3): NULL too when the data has 255 references already. */
mblk_t *
dupb(mblk_t *bp)
{
	dblk_t *d = bp->b_datap;
	struct str_mdb *x;
	unsigned char ref = str_load(&d->db_ref);
	uint64_t was;

	x = mdb_alloc(CLASS_MDB);
	if (x == NULL)
		return NULL;
	was = share_begin(d);
	/* seen first, then counted, then good if there is no doubt */
	str_store(&x->parts, STR_MDB_M);
	*(dblk_t *volatile *)&x->m.b_datap = d;
	STR_CRASH_POINT("msg:shown");
	do {
		if (ref == 255) {
			*(dblk_t *volatile *)&x->m.b_datap = NULL;
			mdb_release(x, STR_MDB_M);
			share_end(was);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&d->db_ref, &ref,
		(unsigned char)(ref + 1), 0, __ATOMIC_ACQ_REL,
		__ATOMIC_RELAXED));
	STR_CRASH_POINT("msg:counted");
	share_end(was);
	if (str_unlikely(is_doubtful(d))) {
		free_reference(x, d);
		return NULL;
	}
	x->m.b_rptr = bp->b_rptr;
	x->m.b_wptr = bp->b_wptr;
	x->m.b_band = bp->b_band;
	x->m.b_flag = bp->b_flag;
	return &x->m;
}

/* SVR4 dupmsg(D3) */
mblk_t *
dupmsg(mblk_t *mp)
{
	mblk_t *head = NULL, **link = &head;

	for (; mp != NULL; mp = mp->b_cont) {
		*link = dupb(mp);
		if (*link == NULL) {
			freemsg(head);
			return NULL;
		}
		link = &(*link)->b_cont;
	}
	return head;
}

/* SVR4 copyb(D3): only the bytes between b_rptr and b_wptr. */
mblk_t *
copyb(mblk_t *bp)
{
	size_t n = 0;
	mblk_t *nb;

	if (bp->b_wptr > bp->b_rptr)
		n = (size_t)(bp->b_wptr - bp->b_rptr);
	nb = allocb(n, BPRI_MED);
	if (nb == NULL)
		return NULL;
	if (n != 0)
		__builtin_memcpy(nb->b_wptr, bp->b_rptr, n);
	nb->b_wptr += n;
	nb->b_datap->db_type = bp->b_datap->db_type;
	nb->b_band = bp->b_band;
	nb->b_flag = bp->b_flag;
	return nb;
}

/* SVR4 copymsg(D3) */
mblk_t *
copymsg(mblk_t *mp)
{
	mblk_t *head = NULL, **link = &head;

	for (; mp != NULL; mp = mp->b_cont) {
		*link = copyb(mp);
		if (*link == NULL) {
			freemsg(head);
			return NULL;
		}
		link = &(*link)->b_cont;
	}
	return head;
}

/*
 * str_msg_from_user - a message of one block with a copy of user bytes
 * Return: NULL with *ret_err EFAULT or ENOSR.
 */
mblk_t *
str_msg_from_user(const void *ubase, size_t len, unsigned type, int *ret_err)
{
	mblk_t *mp = allocb(len, BPRI_MED);

	if (mp == NULL) {
		*ret_err = ENOSR;
		return NULL;
	}
	mp->b_datap->db_type = (unsigned char)type;
	if (len != 0 && host_copyin(ubase, mp->b_wptr, len) != 0) {
		freeb(mp);
		*ret_err = EFAULT;
		return NULL;
	}
	mp->b_wptr += len;
	return mp;
}

/* The message becomes reachable from a shared structure, or private again. */
void
str_msg_disown(mblk_t *mp)
{
	for (; mp != NULL; mp = mp->b_cont)
		str_mem_disown(str_mdb_of_m(mp));
}

void
str_msg_own(mblk_t *mp)
{
	for (; mp != NULL; mp = mp->b_cont)
		str_mem_own(str_mdb_of_m(mp));
}

/*
 * Data outside the arena can be read in one process alone; a free routine
 * can be called in one alone wherever the data is.
 */
STR_INLINE bool
pinned(const mblk_t *bp)
{
	const dblk_t *d = bp->b_datap;

	return d->db_class == CLS_ESB && (!str_mem_valid(d->db_base) ||
		(d->db_frtnp != NULL && d->db_frtnp->free_func != NULL &&
			!host_code_shared(
				(const void *)d->db_frtnp->free_func)));
}

/*
 * str_msg_unpin - make a message readable, and freeable, in every process
 * @mp: a message
 *
 * Return: the message, with copies for its pinned blocks; NULL when there
 * was no memory, @mp then being as before.
 */
mblk_t *
str_msg_unpin(mblk_t *mp)
{
	mblk_t *copies = NULL, **end = &copies, **link, *bp, *nb;

	for (bp = mp; bp != NULL; bp = bp->b_cont) {
		if (str_likely(!pinned(bp)))
			continue;
		nb = *end = copyb(bp);
		if (nb == NULL) {
			freemsg(copies);
			return NULL;
		}
		end = &nb->b_cont;
	}
	if (str_likely(copies == NULL))
		return mp;
	/* there is memory for all: from here on nothing fails */
	for (link = &mp; (bp = *link) != NULL; link = &(*link)->b_cont) {
		if (!pinned(bp))
			continue;
		nb = copies;
		copies = nb->b_cont;
		nb->b_cont = bp->b_cont;
		nb->b_next = bp->b_next;
		nb->b_prev = bp->b_prev;
		*link = nb;
		freeb(bp);
	}
	return mp;
}

/*
 * str_mdb_reap - free a piece whose private owner died
 * It may have died inside freeb(): then b_datap is clear.  Whether a reference
 * to data that others share had been given up is not known: then that is in
 * doubt, and the reaper settles it when all pieces are freed.
 */
void
str_mdb_reap(struct str_mdb *x)
{
	uint32_t parts = str_load(&x->parts);

	if ((parts & STR_MDB_M) != 0 && x->m.b_datap != NULL) {
		freeb(&x->m);
		return;
	}
	if ((parts & STR_MDB_D) != 0) {
		if (str_load(&x->d.db_ref) > 1 || is_doubtful(&x->d)) {
			str_mem_disown(x);
			mdb_release(x, STR_MDB_M);
			return;
		}
		if (x->d.db_class != CLS_ESB)
			db_free(&x->d);
	}
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

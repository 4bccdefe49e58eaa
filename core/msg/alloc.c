/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Message blocks: allocb, dupb, freeb and esballoc.
 *
 * Objects.  One allocation contains a message block, a data block and a buffer
 * (struct str_mdb), which has one of several sizes, according to the buffer; a
 * buffer of more than MDB_MOST bytes is an allocation of its own.  After dupb()
 * message block and data block may be freed at different times: `parts' records
 * which of them is still in use, and the thread that clears the last bit frees
 * the allocation.
 *
 * Pinned buffers.  A buffer given to esballoc() that is not arena memory can
 * only be read by the process that gave it.  Such a data block names that
 * process; putq(), the Stream head, and whatever keeps a message for another
 * thread's put procedure replace it by a copy (copy.c), which runs the free
 * routine in that process.
 *
 * Failure.  A block is stamped with its thread while it is private and with
 * 0 once it is reachable from a queue; what a dead thread held is freed by
 * str_thread_reap().
 *
 * References to shared data, or to data that is about to be shared, are counted
 * under one of several locks (`share' of the domain), and the thread's slot
 * records the step in progress.  If the thread dies then, the next owner of the
 * lock, or the reaper, completes or reverses the step (share_mend()).  Data
 * with one reference needs no lock: no other thread has a reference, and the
 * thread that decremented the count to one does not access the data any more.
 */
#include "alloc.h"

/* A buffer block: header, then the bytes. */
#define BUF_HDR 64u

/* SVR4 allocb(D3).  The buffer may be larger than requested: db_lim. */
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
	/* a crash before this leaves separate blocks, after it linked ones */
	str_barrier();
	x->d.db_class = BUF_APART;
	str_barrier();
	str_mem_disown(b); /* it is freed with the data block */
	x->d.db_size = (unsigned int)size;
	x->m.b_rptr = x->m.b_wptr = x->d.db_base;
	mdb_end(x, b);
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
	x->d.db_class = BUF_GIVEN;
	x->d.db_base = base;
	x->d.db_lim = base + size;
	x->d.db_size = (unsigned int)size;
	x->d.db_frtn = *frtn;
	x->d.db_owner = this_process();
	str_barrier(); /* db_free() in a reaper uses both if db_frtnp is set */
	x->d.db_frtnp = &x->d.db_frtn;
	x->m.b_rptr = x->m.b_wptr = base;
	return &x->m;
}

/*
 * str_msg_of_pass - a message whose buffer is @p
 * The last freeb() stamps @p with the calling thread, then calls @frtn, which
 * frees @p, with a routine that is valid in every process.
 */
mblk_t *
str_msg_of_pass(struct str_pass *p, const frtn_t *frtn)
{
	struct str_mdb *x = mdb_alloc(CLASS_MDB);

	if (x == NULL)
		return NULL;
	x->d.db_base = (unsigned char *)p;
	x->d.db_lim = (unsigned char *)(p + 1);
	x->d.db_size = sizeof(*p);
	x->d.db_frtn = *frtn;
	str_barrier(); /* as in allocb() */
	x->d.db_class = BUF_PASS;
	str_barrier();
	str_mem_disown(&p->blk); /* it is freed with the data block */
	x->d.db_type = M_PASSFP;
	x->m.b_rptr = x->d.db_base;
	x->m.b_wptr = x->d.db_lim;
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

static void
mdb_release(struct str_mdb *x, uint32_t part)
{
	if (str_and(&x->parts, ~part) == part)
		str_mdb_put(x);
}

/*
 * Can this process call the free routine of @d, a data block of esballoc()?
 * Only the caller of esballoc() can, unless the address of the routine is valid
 * in all processes.  The reaper of a killed process runs in another one.
 */
static bool
at_home(const dblk_t *d)
{
	return d->db_owner == this_process() ||
		host_code_shared((const void *)d->db_frtnp->free_func);
}

/* The block of a buffer that has one of its own, or NULL. */
static struct str_blk *
buffer_block(const dblk_t *d)
{
	return d->db_class == BUF_APART ?
		(struct str_blk *)(void *)(d->db_base - BUF_HDR) :
		d->db_class == BUF_PASS ?
		(struct str_blk *)(void *)d->db_base : NULL;
}

/*
 * Take the free routine from @d, a data block of esballoc(): it is called once
 * at most, and not again if a thread dies that has begun.
 * Return: free_func NULL: there is none, or not for this process.
 */
static frtn_t
given_take(dblk_t *d)
{
	frtn_t f = {NULL, NULL};

	if (d->db_frtnp != NULL && d->db_frtnp->free_func != NULL && at_home(d))
		f = *d->db_frtnp;
	str_barrier();
	d->db_class = BUF_JOINED;
	str_barrier();
	STR_CRASH_POINT("msg:taken");
	return f;
}

static void
given_back(frtn_t f)
{
	if (f.free_func != NULL)
		f.free_func(f.free_arg);
}

/*
 * The last reference to @d has been dropped: free its buffer, or call the free
 * routine.  A block of its own is stamped, then unlinked, then freed: after a
 * death in between the reaper frees it, exactly once.
 */
static void
db_free(dblk_t *d)
{
	struct str_blk *b = buffer_block(d);
	unsigned char was = d->db_class;

	STR_CRASH_POINT("msg:unused");
	if (was == BUF_GIVEN)
		given_back(given_take(d));
	if (b == NULL)
		return;
	str_mem_own(b);
	str_barrier();
	STR_CRASH_POINT("msg:stamped");
	d->db_class = BUF_JOINED;
	str_barrier();
	STR_CRASH_POINT("msg:begun");
	if (was == BUF_PASS)
		given_back(d->db_frtn);
	else
		str_mem_free(b);
}

/* Has a dead thread not begun to free the buffer of @d?  A block that is
 * stamped is freed by its reaper. */
static bool
is_unfreed(const dblk_t *d)
{
	struct str_blk *b = buffer_block(d);

	return b == NULL ? d->db_class == BUF_GIVEN :
		str_load(&b->owner) == 0 && str_load(&b->state) ==
		(d->db_class == BUF_PASS ? STR_BLK_PASS : STR_BLK_BUF);
}

/*
 * The last reference to @d, in @of, is gone.  Release @d if @of also contains a
 * message block in use, which has other data now (pullupmsg()).  Called under
 * the lock: the remaining step is recorded in the slot of @t, not by a stamp.
 * The record is cleared before the block can be reused, because the step must
 * not be applied to another object.  *@ret_frtn is called after the lock is
 * released, as it may take one; if the thread died, it is not called.  Return:
 * false: nothing was done, as only @d is in use in @of.
 */
static bool
data_done(struct str_thread *t, struct str_mdb *of, dblk_t *d,
	frtn_t *ret_frtn)
{
	if (str_load(&of->parts) == STR_MDB_D)
		return false;
	if (d->db_class == BUF_GIVEN)
		*ret_frtn = given_take(d);
	else
		db_free(d);
	STR_CRASH_POINT("msg:datafreed");
	str_barrier();
	str_store(&t->sharing, (uint64_t)0);
	str_barrier();
	mdb_release(of, STR_MDB_D);
	STR_CRASH_POINT("msg:released");
	return true;
}

/*
 * Change the reference count of @d from @from to @to.  The block may have been
 * reused, if it had only one reference.  Return: true if it is a data block.
 */
static bool
recount(dblk_t *d, unsigned char from, unsigned char to)
{
	struct str_mdb *of = str_mdb_of_d(d);
	bool is = str_load(&d->db_ref) == from;

	if (str_load(&of->blk.state) != STR_BLK_MDB ||
	    (str_load(&of->parts) & STR_MDB_D) == 0)
		return false;
	if (is)
		(void)__atomic_compare_exchange_n(&d->db_ref, &from, to, 0,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return true;
}

/*
 * The dead thread of slot @t held the lock of the data it was sharing: reverse
 * or complete its step.  What is still to be freed then has the dead thread's
 * stamp, and the reaper frees it: x, the block of the message, unless it also
 * contains the data and other messages use them; and the block of the data, if
 * nothing in it is in use any more.
 */
static void
share_mend(struct str_thread *t)
{
	dblk_t *d = (dblk_t *)(uintptr_t)str_load(&t->sharing);
	struct str_mdb *x = (struct str_mdb *)(uintptr_t)
		str_load(&t->share_mdb);
	struct str_mdb *of = str_mdb_of_d(d);
	unsigned char was = (unsigned char)str_load(&t->share_step);
	bool drop = (str_load(&t->share_step) & STR_SHARE_DROP) != 0, alive;
	frtn_t frtn;

	if (!drop) {
		/* counted, but the duplicate was not made */
		if (x->m.b_datap != d)
			(void)recount(d, (unsigned char)(was + 1), was);
	} else {
		x->m.b_datap = NULL;
		alive = recount(d, was, (unsigned char)(was - 1));
		if (d == &x->d && was > 1) {
			str_mem_disown(x);
			mdb_release(x, STR_MDB_M);
		} else if (d != &x->d && was == 1 && alive) {
			if (data_done(t, of, d, &frtn))
				return; /* the slot may belong to another thread
					 * now */
			str_store(&of->blk.owner, str_load(&t->tag));
		}
	}
	str_barrier();
	str_store(&t->sharing, (uint64_t)0);
}

static struct str_lock *
share_of(const dblk_t *d)
{
	return (struct str_lock *)(void *)&host_domain
		->share[(uintptr_t)d / STR_FASTBUF % STR_NSHARE].lock;
}

/* The last owner of the lock of @d died: find its step and mend it. */
static STR_NOINLINE void
share_look(const dblk_t *d)
{
	struct str_domain *dom = host_domain;
	uint32_t n = str_load(&dom->thread_high), i;

	for (i = 0; i < n && i < STR_NTHREAD; i++) {
		uint64_t at = str_load(&dom->thread[i].sharing);

		if (at != 0 && share_of((dblk_t *)(uintptr_t)at) == share_of(d))
			share_mend(&dom->thread[i]);
	}
}

static void
share_lock(const dblk_t *d)
{
	if (str_unlikely(str_lock(share_of(d))))
		share_look(d);
}

/* Record the step in progress. @x: the block whose message has the reference;
 * @step: the count of @d before it, with STR_SHARE_DROP if the count falls. */
static void
share_say(dblk_t *d, struct str_mdb *x, uint32_t step)
{
	struct str_thread *t = host_self();

	str_store(&t->share_mdb, (uint64_t)(uintptr_t)x);
	str_store(&t->share_step, step);
	str_barrier();
	str_store(&t->sharing, (uint64_t)(uintptr_t)d);
	str_barrier();
}

static void
share_unlock(const dblk_t *d)
{
	str_barrier();
	str_store(&host_self()->sharing, (uint64_t)0);
	str_unlock(share_of(d));
}

/* str_mdb_share - the lock of the data that @t is sharing */
struct str_lock *
str_mdb_share(const struct str_thread *t)
{
	return share_of((const dblk_t *)(uintptr_t)str_load(&t->sharing));
}

/* str_mdb_wants - the lock that str_mdb_reap() of @x takes; NULL: none */
struct str_lock *
str_mdb_wants(const struct str_mdb *x)
{
	const dblk_t *d = x->m.b_datap;

	if ((str_load(&x->parts) & STR_MDB_M) == 0 || d == NULL ||
	    (d == &x->d && str_load(&d->db_ref) <= 1))
		return NULL;
	return share_of(d);
}

/* str_mdb_revive - repair the data that dead thread @t was sharing */
void
str_mdb_revive(struct str_thread *t)
{
	dblk_t *d = (dblk_t *)(uintptr_t)str_load(&t->sharing);

	if (d == NULL)
		return;
	/* repairs the data if it takes the lock over from a dead owner */
	share_lock(d);
	share_unlock(d);
}

/* freeb() of a reference to data that may be shared. */
static STR_NOINLINE void
free_reference(struct str_mdb *x, dblk_t *d)
{
	struct str_mdb *of = str_mdb_of_d(d);
	frtn_t frtn = {NULL, NULL};
	bool done = false;
	unsigned char was;

	share_lock(d);
	was = str_load(&d->db_ref);
	share_say(d, x, was | STR_SHARE_DROP);
	x->m.b_datap = NULL;
	str_barrier();
	STR_CRASH_POINT("msg:dropping");
	str_store_rel(&d->db_ref, (unsigned char)(was - 1));
	STR_CRASH_POINT("msg:dropped");
	if (d == &x->d) {
		/* other messages use the data in this block, so the block must
		 * not keep the stamp of this thread */
		if (was > 1) {
			str_mem_disown(x);
			mdb_release(x, STR_MDB_M);
		}
	} else if (was == 1) {
		done = data_done(host_self(), of, d, &frtn);
		if (!done)
			str_mem_own(of);
	}
	share_unlock(d);
	given_back(frtn);
	if (was == 1 && !done)
		db_free(d);
	if (d != &x->d) {
		if (was == 1 && !done)
			mdb_release(of, STR_MDB_D);
		/* pullupmsg() has given its data to another message */
		if ((str_load(&x->parts) & STR_MDB_D) != 0)
			str_mem_disown(x);
		mdb_release(x, STR_MDB_M);
	} else if (was == 1) {
		str_store(&x->parts, 0u);
		str_mdb_put(x);
	}
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
	/*
	 * this thread has the only reference, so no other thread can duplicate
	 * it. The count is cleared before b_datap: with a count and no b_datap
	 * the reaper would leave the data to another message, str_mdb_reap()
	 */
	d->db_ref = 0;
	str_barrier();
	STR_CRASH_POINT("msg:unreferenced");
	bp->b_datap = NULL;
	if (d->db_class != BUF_JOINED)
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
	unsigned char was;

	x = mdb_alloc(CLASS_MDB);
	if (x == NULL)
		return NULL;
	x->m.b_rptr = bp->b_rptr;
	x->m.b_wptr = bp->b_wptr;
	x->m.b_band = bp->b_band;
	x->m.b_flag = bp->b_flag;
	share_lock(d);
	was = str_load(&d->db_ref);
	if (was == 255) {
		share_unlock(d);
		freeb(&x->m);
		return NULL;
	}
	share_say(d, x, was);
	str_store_rel(&d->db_ref, (unsigned char)(was + 1));
	STR_CRASH_POINT("msg:counted");
	str_store(&x->parts, STR_MDB_M);
	str_barrier();
	x->m.b_datap = d;
	STR_CRASH_POINT("msg:shown");
	share_unlock(d);
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

/*
 * str_mdb_reap - free an allocation whose private owner died
 * The owner may have died inside freeb(): then b_datap is NULL, or points to
 * the data block of this allocation, which has no reference.  If b_datap is
 * NULL and the data block of this allocation has a reference, another message
 * uses that data, so only the message block is freed.  The counts are right
 * (str_mdb_revive()), and a buffer that the owner had begun to free is stamped,
 * so the reaper frees it next.
 */
void
str_mdb_reap(struct str_mdb *x)
{
	uint32_t parts = str_load(&x->parts);

	if ((parts & STR_MDB_M) != 0 && x->m.b_datap != NULL &&
	    (x->m.b_datap != &x->d || str_load(&x->d.db_ref) != 0)) {
		freeb(&x->m);
		return;
	}
	if ((parts & STR_MDB_D) != 0) {
		if (str_load(&x->d.db_ref) != 0) {
			(void)str_and(&x->parts, ~STR_MDB_M);
			str_mem_disown(x);
			return;
		}
		if (is_unfreed(&x->d))
			db_free(&x->d);
	}
	str_store(&x->parts, 0u);
	str_mdb_put(x);
}

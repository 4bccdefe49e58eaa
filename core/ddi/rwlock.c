/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Locks for many readers or one writer: SVR4's RW_RDLOCK(D3) and its like, and
 * Solaris's rw_enter() and its like.
 *
 * Life.  A reader stores its tag in a free slot and then checks for a writer;
 * if there is one it removes its tag and waits.  A writer stores its tag and
 * then waits until no live thread's tag stands in a slot.  Each side's store
 * comes before its load, with a full fence between, so one of the two sees the
 * other.  A writer that waits keeps new readers out.
 *
 * Waiting.  All sleep on rw_seq, which every release changes if rw_waiters
 * says that a thread may be asleep.
 *
 * Failure.  Slots and rw_writer name threads: a waiting thread removes the tag
 * of a dead one, which frees the lock.
 */
#include "ddi_impl.h"

#define LOOK_NS 10000000ull /* sleep before the owners are checked */
#define SPINS 100u

static str_a32 *
word(volatile unsigned int *p)
{
	return (str_a32 *)(void *)(uintptr_t)p;
}

/* The lock has been released: wake waiting threads, if any. */
static void
released(struct str_rw *rw)
{
	str_fence_full(); /* pairs with the one in waits() */
	if (str_likely(str_load(&rw->rw_waiters) == 0))
		return;
	str_store(&rw->rw_waiters, 0u);
	(void)str_add(word(&rw->rw_seq), 1u);
	(void)host_wake(word(&rw->rw_seq), INT_MAX);
}

/* Is there a tag at @p?  With @look a dead thread's tag is removed. */
static bool
occupied(volatile unsigned int *p, bool look)
{
	uint32_t v = str_load_acq(p);

	if (v == 0)
		return false;
	return !(look && v != host_self_tag() && host_owner_dead(v) &&
		str_cas(p, v, 0u));
}

static volatile unsigned int *
mine(struct str_rw *rw)
{
	unsigned i;

	for (i = 0; i < STR_RW_SLOTS; i++)
		if (str_load(&rw->rw_reader[i]) == host_self_tag())
			return &rw->rw_reader[i];
	return NULL;
}

/* A reader's attempt; @look: dead owners are removed. */
static bool
read_try(struct str_rw *rw, bool look)
{
	unsigned i;

	if (occupied(&rw->rw_writer, look))
		return false;
	for (i = 0; i < STR_RW_SLOTS; i++)
		if (!occupied(&rw->rw_reader[i], look) &&
		    str_cas(&rw->rw_reader[i], 0u, host_self_tag()))
			break;
	if (i == STR_RW_SLOTS)
		return false;
	str_fence_full(); /* pairs with the one in claim_write() */
	if (!occupied(&rw->rw_writer, false))
		return true;
	str_store_rel(&rw->rw_reader[i], 0u);
	released(rw);
	return false;
}

static bool
readers(struct str_rw *rw, const volatile unsigned int *but)
{
	unsigned i;

	for (i = 0; i < STR_RW_SLOTS; i++)
		if (&rw->rw_reader[i] != but &&
		    occupied(&rw->rw_reader[i], true))
			return true;
	return false;
}

/* Become the writer, which may still have to wait for readers. */
static bool
claim_write(struct str_rw *rw)
{
	if (occupied(&rw->rw_writer, true) ||
	    !str_cas(&rw->rw_writer, 0u, host_self_tag()))
		return false;
	str_fence_full(); /* pairs with the one in read_try() */
	return true;
}

static void
leave_write(struct str_rw *rw)
{
	str_store_rel(&rw->rw_writer, 0u);
	released(rw);
}

/* Sleep until a release changes rw_seq from @seq, or it is time to look for
 * dead owners; the caller's next attempt removes them. */
static void
wait_release(struct str_rw *rw, uint32_t seq)
{
	(void)host_wait(NULL, word(&rw->rw_seq), seq, LOOK_NS);
}

/* Announce that this thread will wait. */
static uint32_t
waits(struct str_rw *rw)
{
	uint32_t seq = str_load_acq(&rw->rw_seq);

	str_store(&rw->rw_waiters, 1u);
	str_fence_full(); /* pairs with the one in released() */
	return seq;
}

static void
read_lock(struct str_rw *rw)
{
	unsigned n;

	for (n = 0; n < SPINS; n++) {
		if (read_try(rw, false))
			return;
		str_cpu_relax();
	}
	for (;;) {
		uint32_t seq = waits(rw);

		if (read_try(rw, true))
			return;
		wait_release(rw, seq);
	}
}

static void
write_lock(struct str_rw *rw, const char *what)
{
	if (str_load(&rw->rw_writer) == host_self_tag() || mine(rw) != NULL)
		host_panic(what, __FILE__, __LINE__);
	while (!claim_write(rw)) {
		uint32_t seq = waits(rw);

		if (claim_write(rw))
			break;
		wait_release(rw, seq);
	}
	while (readers(rw, NULL)) {
		uint32_t seq = waits(rw);

		if (!readers(rw, NULL))
			break;
		wait_release(rw, seq);
	}
}

static bool
write_try(struct str_rw *rw)
{
	if (!claim_write(rw))
		return false;
	if (!readers(rw, NULL))
		return true;
	leave_write(rw);
	return false;
}

static void
unlock(struct str_rw *rw, const char *what)
{
	volatile unsigned int *slot;

	if (str_load(&rw->rw_writer) == host_self_tag()) {
		leave_write(rw);
		return;
	}
	slot = mine(rw);
	if (slot == NULL)
		host_panic(what, __FILE__, __LINE__);
	str_store_rel(slot, 0u);
	released(rw);
}

static bool
busy(struct str_rw *rw)
{
	return occupied(&rw->rw_writer, true) || readers(rw, NULL);
}

/* ------------------------------------------------------------------- SVR4 */

rwlock_t *
RW_ALLOC(uchar_t hierarchy, pl_t min_pl, lkinfo_t *lkinfop, int km_flag)
{
	rwlock_t *l = kmem_zalloc(sizeof(*l), km_flag);

	if (l == NULL)
		return NULL;
	l->l_hier = hierarchy;
	l->l_minpl = min_pl;
	l->l_info = lkinfop;
	return l;
}

void
RW_DEALLOC(rwlock_t *lockp)
{
	if (busy(&lockp->l_rw))
		host_panic("RW_DEALLOC of a lock that is taken", __FILE__,
			__LINE__);
	kmem_free(lockp, sizeof(*lockp));
}

/* A lock has been taken: raise the thread's level to @pl.  Return: the previous
 * level. */
static pl_t
taken(pl_t pl)
{
	struct str_thread *t = str_ddi_self();
	pl_t old = (pl_t)t->ipl;

	t->ddi_held++;
	str_ddi_ipl(pl, false);
	return old;
}

/* SVR4 RW_RDLOCK(D3) */
pl_t
RW_RDLOCK(rwlock_t *lockp, pl_t pl)
{
	read_lock(&lockp->l_rw);
	return taken(pl);
}

pl_t
RW_WRLOCK(rwlock_t *lockp, pl_t pl)
{
	write_lock(&lockp->l_rw, "RW_WRLOCK of a lock that the caller has");
	return taken(pl);
}

pl_t
RW_TRYRDLOCK(rwlock_t *lockp, pl_t pl)
{
	return read_try(&lockp->l_rw, true) ? taken(pl) : invpl;
}

pl_t
RW_TRYWRLOCK(rwlock_t *lockp, pl_t pl)
{
	return write_try(&lockp->l_rw) ? taken(pl) : invpl;
}

void
RW_UNLOCK(rwlock_t *lockp, pl_t pl)
{
	unlock(&lockp->l_rw, "RW_UNLOCK of a lock that is not held");
	str_ddi_self()->ddi_held--;
	str_ddi_ipl(pl, true);
}

/* ---------------------------------------------------------------- Solaris */

void
rw_init(krwlock_t *rwlp, char *name, krw_type_t type, void *arg)
{
	(void)name, (void)type, (void)arg;
	__builtin_memset(rwlp, 0, sizeof(*rwlp));
}

void
rw_destroy(krwlock_t *rwlp)
{
	if (busy(&rwlp->rw))
		host_panic("rw_destroy of a lock that is taken", __FILE__,
			__LINE__);
	__builtin_memset(rwlp, 0, sizeof(*rwlp));
}

void
rw_enter(krwlock_t *rwlp, krw_t how)
{
	if (how == RW_READER)
		read_lock(&rwlp->rw);
	else
		write_lock(&rwlp->rw, "rw_enter of a lock that the caller has");
	str_ddi_self()->ddi_held++;
}

int
rw_tryenter(krwlock_t *rwlp, krw_t how)
{
	if (!(how == RW_READER ? read_try(&rwlp->rw, true) :
		write_try(&rwlp->rw)))
		return 0;
	str_ddi_self()->ddi_held++;
	return 1;
}

void
rw_exit(krwlock_t *rwlp)
{
	unlock(&rwlp->rw, "rw_exit of a lock that is not held");
	str_ddi_self()->ddi_held--;
}

/* The thread becomes a reader before it stops being the writer. */
void
rw_downgrade(krwlock_t *rwlp)
{
	struct str_rw *rw = &rwlp->rw;

	if (str_load(&rw->rw_writer) != host_self_tag())
		host_panic("rw_downgrade by a thread that is no writer",
			__FILE__, __LINE__);
	/* a reader that has seen the writer removes its tag at once */
	while (occupied(&rw->rw_reader[0], true) ||
	    !str_cas(&rw->rw_reader[0], 0u, host_self_tag()))
		str_cpu_relax();
	leave_write(rw);
}

int
rw_tryupgrade(krwlock_t *rwlp)
{
	struct str_rw *rw = &rwlp->rw;
	volatile unsigned int *slot = mine(rw);

	if (slot == NULL)
		host_panic("rw_tryupgrade by a thread that is no reader",
			__FILE__, __LINE__);
	if (!claim_write(rw))
		return 0;
	if (readers(rw, slot)) {
		leave_write(rw);
		return 0;
	}
	str_store_rel(slot, 0u);
	return 1;
}

int
rw_read_locked(krwlock_t *rwlp)
{
	return str_load(&rwlp->rw.rw_writer) == 0 && readers(&rwlp->rw, NULL);
}

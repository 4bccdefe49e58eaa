/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Waiting for an event: synchronisation variables, condition variables,
 * semaphores, atomic integers.
 *
 * Life.  A thread that waits for a variable records this in its slot: the
 * variable's address (cv) and its position in the order (cvseq).  A signaller
 * searches the slots for this address and clears it in the slot with the first
 * position, or in all.  So a variable is a few words that need no
 * initialisation beyond zeros, and has no pointers to threads, which may die.
 * A change of the word slept on (cvword) only ends the sleep and means nothing,
 * because signal handlers change it too (host.h): `cv' says what has happened.
 *
 * Locks. cv_lock covers joining, leaving and waking, and is a leaf.  A waiter
 * joins before it releases the module's lock: no signal is missed.
 *
 * Failure.  A dead waiter is skipped: its slot's tag has changed or its owner
 * is dead.  If a signaller dies before it has woken the chosen waiter, that
 * waiter runs at the end of its slice, SLICE_MAX_NS later at most.  If a chosen
 * waiter is killed before it runs, the signal is lost.
 */
#include "ddi_impl.h"

/* A sleep ends after a slice; each is twice as long as the one before. */
#define SLICE_NS 50000000ull	  /* the first */
#define SLICE_MAX_NS 1600000000ull /* the longest */

struct host_call *
str_ddi_call(void)
{
	return host_tls.call;
}

void
str_ddi_presleep(struct str_nap *nap)
{
	struct host_call *hc = host_tls.call;
	struct str_qpair *qp = host_tls.opening;
	struct str_plumb *pl;

	nap->qp = NULL;
	/*
	 * a thread with a claim is in a put or service procedure and must not
	 * sleep
	 */
	if (str_ddi_self()->ddi_held != 0 || host_tls.nclaim != 0)
		return;
	str_sched_touched();
	if (qp != NULL && host_tls.event == 0 &&
	    str_perim_suspend(qp, &nap->nest))
		nap->qp = qp;
	if (hc == NULL || hc->head == NULL)
		return;
	pl = hc->head->plumb;
	if (str_load(&pl->nrun) == 0)
		return;
	(void)str_claim(pl);
	(void)str_sched_run(pl);
	str_unclaim(pl);
}

void
str_ddi_postsleep(const struct str_nap *nap)
{
	if (nap->qp != NULL)
		str_perim_resume(nap->qp, nap->nest);
}

/* ---------------------------------------------------- the common mechanism */

void
str_cv_join(struct str_cv *cv)
{
	struct str_thread *t = str_ddi_self();

	(void)str_lock(&cv->cv_lock);
	t->cvseq = ++cv->cv_seq;
	str_store_rel(&t->cv, (uint64_t)(uintptr_t)cv);
	str_store(&cv->cv_waiters, 1u);
	str_unlock(&cv->cv_lock);
}

/*
 * Leave the variable without having been woken. Return: false: this thread was
 * woken meanwhile.
 */
static bool
leave(struct str_cv *cv, struct str_thread *t)
{
	bool waiting;

	(void)str_lock(&cv->cv_lock);
	waiting = str_load(&t->cv) != 0;
	str_store(&t->cv, (uint64_t)0);
	str_unlock(&cv->cv_lock);
	return waiting;
}

static int
sleep_on(struct str_cv *cv, struct host_call *hc, uint64_t deadline)
{
	struct str_thread *t = host_self();
	uint64_t slice = SLICE_NS;

	for (;;) {
		uint32_t word = str_load_acq(&t->cvword);
		uint64_t now = deadline != STR_DDI_NEVER ? host_now() : 0;

		if (str_load_acq(&t->cv) == 0)
			break;
		if (now >= deadline) {
			if (leave(cv, t))
				return ETIMEDOUT;
			break;
		}
		if (host_wait(hc, &t->cvword, word,
			STR_MIN(slice, deadline - now)) == EINTR) {
			if (leave(cv, t))
				return EINTR;
			break;
		}
		if (slice < SLICE_MAX_NS)
			slice *= 2;
	}
	return 0;
}

int
str_cv_sleep(struct str_cv *cv, struct host_call *hc, uint64_t deadline)
{
	struct str_nap nap;
	int err;

	str_ddi_presleep(&nap);
	err = sleep_on(cv, hc, deadline);
	str_ddi_postsleep(&nap);
	return err;
}

/* Does the thread of slot @t wait for @cv? */
static bool
waits(struct str_thread *t, struct str_cv *cv)
{
	return str_load_acq(&t->cv) == (uint64_t)(uintptr_t)cv &&
		str_load(&t->tag) != 0 &&
		str_load(&t->ddi_tag) == str_load(&t->tag);
}

/* The thread that has waited longest.  Locks: cv_lock. */
static struct str_thread *
oldest(struct str_cv *cv)
{
	struct str_domain *d = host_domain;
	uint32_t n = STR_MIN(str_load(&d->thread_high), STR_NTHREAD), i;
	struct str_thread *best = NULL;

	for (i = 0; i < n; i++) {
		struct str_thread *t = &d->thread[i];

		if (waits(t, cv) && (best == NULL ||
			(int32_t)(t->cvseq - best->cvseq) < 0))
			best = t;
	}
	return best;
}

void
str_cv_wake(struct str_cv *cv, bool all)
{
	struct str_thread *t;

	if (str_load_acq(&cv->cv_waiters) == 0)
		return;
	(void)str_lock(&cv->cv_lock);
	for (;;) {
		uint32_t tag;
		bool dead;

		t = oldest(cv);
		if (t == NULL) {
			str_store(&cv->cv_waiters, 0u);
			break;
		}
		tag = str_load(&t->tag);
		dead = host_owner_dead(tag);
		str_store_rel(&t->cv, (uint64_t)0);
		(void)str_add(&t->cvword, 1u);
		STR_CRASH_POINT("ddi:chosen");
		(void)host_wake(&t->cvword, 1);
		if (!all && !dead)
			break;
	}
	str_unlock(&cv->cv_lock);
}

/* --------------------------------------------------------------- SVR4's SV */

sv_t *
SV_ALLOC(int km_flag)
{
	return kmem_zalloc(sizeof(sv_t), km_flag);
}

void
SV_DEALLOC(sv_t *svp)
{
	kmem_free(svp, sizeof(*svp));
}

/* SVR4 SV_WAIT(D3): the lock is released and stays so. */
void
SV_WAIT(sv_t *svp, int priority, lock_t *lkp)
{
	(void)priority;
	str_cv_join(&svp->sv_cv);
	UNLOCK(lkp, plbase);
	(void)str_cv_sleep(&svp->sv_cv, NULL, STR_DDI_NEVER);
}

int
SV_WAIT_SIG(sv_t *svp, int priority, lock_t *lkp)
{
	(void)priority;
	str_cv_join(&svp->sv_cv);
	UNLOCK(lkp, plbase);
	return str_cv_sleep(&svp->sv_cv, str_ddi_call(), STR_DDI_NEVER) == 0 ?
		TRUE : FALSE;
}

void
SV_SIGNAL(sv_t *svp, int flags)
{
	(void)flags;
	str_cv_wake(&svp->sv_cv, false);
}

void
SV_BROADCAST(sv_t *svp, int flags)
{
	(void)flags;
	str_cv_wake(&svp->sv_cv, true);
}

/* ------------------------------------------------------------ Solaris's cv */

void
cv_init(kcondvar_t *cvp, char *name, kcv_type_t type, void *arg)
{
	(void)name, (void)type, (void)arg;
	*cvp = (kcondvar_t){{{0, 0}, 0, 0}};
}

void
cv_destroy(kcondvar_t *cvp)
{
	(void)cvp;
}

static int
wait_mutex(kcondvar_t *cvp, kmutex_t *mp, struct host_call *hc,
	uint64_t deadline)
{
	int err;

	str_cv_join(&cvp->cv);
	mutex_exit(mp);
	err = str_cv_sleep(&cvp->cv, hc, deadline);
	mutex_enter(mp);
	return err;
}

void
cv_wait(kcondvar_t *cvp, kmutex_t *mp)
{
	(void)wait_mutex(cvp, mp, NULL, STR_DDI_NEVER);
}

int
cv_wait_sig(kcondvar_t *cvp, kmutex_t *mp)
{
	return wait_mutex(cvp, mp, str_ddi_call(), STR_DDI_NEVER) == 0 ? 1 : 0;
}

/*
 * Result of the timed waits: ticks left, at least 1; 0: signal; -1: time over.
 */
static clock_t
answer(int err, uint64_t deadline)
{
	uint64_t now;

	if (err == ETIMEDOUT)
		return -1;
	if (err == EINTR)
		return 0;
	now = host_now();
	return now + STR_TICK_NS >= deadline ? 1 :
		(clock_t)((deadline - now) / STR_TICK_NS);
}

static clock_t
timed(kcondvar_t *cvp, kmutex_t *mp, struct host_call *hc, uint64_t deadline)
{
	return answer(wait_mutex(cvp, mp, hc, deadline), deadline);
}

/* The moment when LBOLT is @when. */
static uint64_t
at(clock_t when)
{
	if (when <= 0)
		return 0;
	return (uint64_t)when > UINT64_MAX / STR_TICK_NS - 1 ?
		STR_DDI_NEVER - 1 : (uint64_t)when * STR_TICK_NS;
}

static uint64_t
after(clock_t delta)
{
	uint64_t now = host_now();

	return delta <= 0 ? now : now + STR_MIN(at(delta), UINT64_MAX / 4);
}

clock_t
cv_timedwait(kcondvar_t *cvp, kmutex_t *mp, clock_t when)
{
	return timed(cvp, mp, NULL, at(when));
}

clock_t
cv_timedwait_sig(kcondvar_t *cvp, kmutex_t *mp, clock_t when)
{
	return timed(cvp, mp, str_ddi_call(), at(when));
}

clock_t
cv_reltimedwait(kcondvar_t *cvp, kmutex_t *mp, clock_t delta, time_res_t res)
{
	(void)res;
	return timed(cvp, mp, NULL, after(delta));
}

clock_t
cv_reltimedwait_sig(kcondvar_t *cvp, kmutex_t *mp, clock_t delta,
	time_res_t res)
{
	(void)res;
	return timed(cvp, mp, str_ddi_call(), after(delta));
}

void
cv_signal(kcondvar_t *cvp)
{
	str_cv_wake(&cvp->cv, false);
}

void
cv_broadcast(kcondvar_t *cvp)
{
	str_cv_wake(&cvp->cv, true);
}

/* -------------------------------------------------------------- semaphores */

void
sema_init(ksema_t *sp, uint_t val, char *name, ksema_type_t type, void *arg)
{
	(void)name, (void)type, (void)arg;
	*sp = (ksema_t){val, 0, 0};
}

void
sema_destroy(ksema_t *sp)
{
	(void)sp;
}

int
sema_tryp(ksema_t *sp)
{
	uint32_t v;

	do {
		v = str_load(&sp->s_count);
		if (v == 0)
			return 0;
	} while (!str_cas(&sp->s_count, v, v - 1));
	return 1;
}

/* Sleep until the count is not 0.  Return: false: a signal of @hc ended it. */
static bool
sleep_down(ksema_t *sp, struct host_call *hc)
{
	uint64_t slice = SLICE_NS;

	for (;;) {
		uint32_t seq = str_load_acq(&sp->s_seq);

		str_store(&sp->s_waiters, 1u);
		str_fence_full(); /* pairs with the one in sema_v() */
		if (str_load(&sp->s_count) != 0)
			return true;
		if (host_wait(hc, (str_a32 *)(void *)(uintptr_t)&sp->s_seq,
			seq, slice) == EINTR)
			return false;
		if (slice < SLICE_MAX_NS)
			slice *= 2;
	}
}

/*
 * Decrement the semaphore.  The thread sleeps outside its perimeter, and the
 * count is decremented inside: otherwise a thread that owns the semaphore would
 * wait for the perimeter while the thread inside waits for the semaphore.
 */
static bool
down(ksema_t *sp, struct host_call *hc)
{
	struct str_nap nap;
	bool goes_on = true;

	while (goes_on && !sema_tryp(sp)) {
		str_ddi_presleep(&nap);
		goes_on = sleep_down(sp, hc);
		str_ddi_postsleep(&nap);
	}
	return goes_on;
}

void
sema_p(ksema_t *sp)
{
	(void)down(sp, NULL);
}

int
sema_p_sig(ksema_t *sp)
{
	return down(sp, str_ddi_call()) ? 0 : 1;
}

void
sema_v(ksema_t *sp)
{
	(void)str_add(&sp->s_count, 1u);
	str_fence_full(); /* pairs with the one in sleep_down() */
	if (str_load(&sp->s_waiters) == 0)
		return;
	str_store(&sp->s_waiters, 0u);
	(void)str_add(&sp->s_seq, 1u);
	(void)host_wake((str_a32 *)(void *)(uintptr_t)&sp->s_seq, INT_MAX);
}

/* --------------------------------------------------------- atomic integers */

atomic_int_t *
ATOMIC_INT_ALLOC(int km_flag)
{
	return kmem_zalloc(sizeof(atomic_int_t), km_flag);
}

void
ATOMIC_INT_DEALLOC(atomic_int_t *a)
{
	kmem_free(a, sizeof(*a));
}

void
ATOMIC_INT_INIT(atomic_int_t *a, int value)
{
	str_store_rel(&a->a_value, value);
}

int
ATOMIC_INT_READ(atomic_int_t *a)
{
	return str_load_acq(&a->a_value);
}

void
ATOMIC_INT_WRITE(atomic_int_t *a, int value)
{
	str_store_rel(&a->a_value, value);
}

void
ATOMIC_INT_ADD(atomic_int_t *a, int value)
{
	(void)str_add(&a->a_value, value);
}

void
ATOMIC_INT_SUB(atomic_int_t *a, int value)
{
	(void)str_sub(&a->a_value, value);
}

void
ATOMIC_INT_INCR(atomic_int_t *a)
{
	(void)str_add(&a->a_value, 1);
}

int
ATOMIC_INT_DECR(atomic_int_t *a)
{
	return str_sub(&a->a_value, 1) == 1 ? TRUE : FALSE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ksynch.h> - locks and waiting, for modules and drivers
 *
 * Two families: SVR4.2 MP's (LOCK, RW_, SLEEP_, SV_, ATOMIC_INT_), whose
 * locks are allocated, and Solaris's (mutex_, rw_, cv_, sema_), whose locks
 * are members of the module's own structures.  Locks may lie in memory from
 * kmem_alloc() or in the static data of a loaded module, and are then shared by
 * all processes that run the module.  A lock of all zeros is initialised and
 * free.
 *
 * Every lock but a semaphore contains the tag of its owner.  If a process is
 * killed while it holds a lock, the next thread that tries the lock gets it; the
 * protected data is as the dead process left it.  A lock, unless it is a sleep
 * lock, must not be held while the module sleeps elsewhere, nor across
 * putnext(), put() or a return from the procedure that took it.  Taking a lock
 * that the caller has already, or releasing one that it does not have, ends the
 * process as cmn_err(CE_PANIC) does; but any thread may release a sleep lock.
 *
 * The members of the structures are private to the executive.
 */
#if !defined(TRUE) && !defined(_STR_IN_STREAM_H)
#define TRUE 1
#define FALSE 0
#endif

/* Outside of the guard: <sys/stream.h> ends with this header. */
#include <sys/stream.h>

#ifndef _SYS_KSYNCH_H
#define _SYS_KSYNCH_H

#include <sys/dditypes.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Interrupt priority levels.  There are no interrupts here that a level could
 * block.  A level is a number for each thread, so that spl() and the lock
 * functions return the levels that SVR4 defines.
 */
#define plbase 0    /* nothing is blocked */
#define pltimeout 1 /* callbacks of timeout() */
#define pldisk 4
#define plstr 5 /* STREAMS */
#define plhi 7	/* everything */
#define invpl (-1) /* no level: a trylock failed */

/*
 * Raise the level and return the level before. splbase() and splx() lower it.
 */
pl_t splbase(void) STR_DDI(splbase);
pl_t spltimeout(void) STR_DDI(spltimeout);
pl_t spldisk(void) STR_DDI(spldisk);
pl_t splstr(void) STR_DDI(splstr);
pl_t splhi(void) STR_DDI(splhi);
pl_t splx(pl_t pl) STR_DDI(splx);
#define spl0() splbase()
#define spl1() spltimeout()
#define spl2() spltimeout()
#define spl3() spldisk()
#define spl4() spldisk()
#define spl5() splstr()
#define spl6() splstr()
#define spl7() splhi()

/* Name of a lock, for humans. */
typedef struct lkinfo {
	const char *lk_name;
	int lk_flags; /* NOSTATS, or 0 */
	long lk_pad[2];
} lkinfo_t;
#define NOSTATS 0x01
#define LKINFO_DECL(v, name, flags) \
	lkinfo_t v = { (name), (flags), { 0, 0 } }

/* ------------------------------------------------------- SVR4: basic locks */

typedef struct ddi_lock {
	struct str_lock l_lock;
	lkinfo_t *l_info;
	int l_minpl;
	int l_hier;
} lock_t;

/**
 * LOCK_ALLOC - allocate a basic lock
 * @hierarchy: its place in the order of locks, 1 to 32; not checked
 * @min_pl:    least level it will be taken at; not checked
 * @lkinfop:   its name, or NULL; must remain valid
 * @km_flag:   KM_SLEEP or KM_NOSLEEP
 *
 * Return: the lock; NULL: no memory.
 */
lock_t *LOCK_ALLOC(uchar_t hierarchy, pl_t min_pl, lkinfo_t *lkinfop,
	int km_flag) STR_DDI(LOCK_ALLOC);
void LOCK_DEALLOC(lock_t *lockp) STR_DDI(LOCK_DEALLOC);

/**
 * LOCK - take a basic lock
 * @lockp: the lock; the caller does not have it
 * @pl:    level to raise the caller to
 *
 * TRYLOCK does not wait: invpl if another thread has the lock.  UNLOCK releases
 * it and sets the level to @pl.
 *
 * Context: any procedure; hold the lock for a short time only.
 * Crash:   the lock of a dead owner passes to the next thread that tries it.
 * Return:  the level before.
 */
pl_t LOCK(lock_t *lockp, pl_t pl) STR_DDI(LOCK);
pl_t TRYLOCK(lock_t *lockp, pl_t pl) STR_DDI(TRYLOCK);
void UNLOCK(lock_t *lockp, pl_t pl) STR_DDI(UNLOCK);

/* ---------------------------------------------- readers' and writers' locks */

/*
 * One of the slots contains the reader's tag.  A reader waits while all slots
 * are in use, and while a writer waits for the lock.
 */
#define STR_RW_SLOTS 12
struct str_rw {
	volatile unsigned int rw_writer;  /* tag */
	volatile unsigned int rw_seq;	  /* changes at every release */
	volatile unsigned int rw_waiters; /* a thread sleeps on rw_seq */
	volatile unsigned int rw_reader[STR_RW_SLOTS]; /* tags */
};

typedef struct ddi_rwlock {
	struct str_rw l_rw;
	lkinfo_t *l_info;
	int l_minpl;
	int l_hier;
} rwlock_t;

rwlock_t *RW_ALLOC(uchar_t hierarchy, pl_t min_pl, lkinfo_t *lkinfop,
	int km_flag) STR_DDI(RW_ALLOC);
void RW_DEALLOC(rwlock_t *lockp) STR_DDI(RW_DEALLOC);
/*
 * As LOCK(): RW_RDLOCK shared with other readers, RW_WRLOCK exclusive; RW_TRY*
 * do not wait.
 */
pl_t RW_RDLOCK(rwlock_t *lockp, pl_t pl) STR_DDI(RW_RDLOCK);
pl_t RW_WRLOCK(rwlock_t *lockp, pl_t pl) STR_DDI(RW_WRLOCK);
pl_t RW_TRYRDLOCK(rwlock_t *lockp, pl_t pl) STR_DDI(RW_TRYRDLOCK);
pl_t RW_TRYWRLOCK(rwlock_t *lockp, pl_t pl) STR_DDI(RW_TRYWRLOCK);
void RW_UNLOCK(rwlock_t *lockp, pl_t pl) STR_DDI(RW_UNLOCK);

/* ------------------------------------------------------- SVR4: sleep locks */

typedef struct ddi_sleep {
	volatile unsigned int l_owner;	 /* tag */
	volatile unsigned int l_waiters; /* a thread sleeps on l_seq */
	volatile unsigned int l_seq;	 /* changes when it is released */
	unsigned int l_pad;
	lkinfo_t *l_info;
} sleep_t;

/* Priorities of sleepers: accepted, and without effect. */
#define prilo 0
#define primed 1
#define prihi 2
#define pridisk prilo
#define prinet prilo
#define pritty prilo
#define pritape prilo
#define primem prilo

/**
 * SLEEP_ALLOC - allocate a sleep lock
 * @arg:     0
 * @lkinfop: its name, or NULL; must remain valid
 * @km_flag: KM_SLEEP or KM_NOSLEEP
 *
 * For long operations: its owner may sleep.  Any thread may release it, not
 * only the thread that took it.
 */
sleep_t *SLEEP_ALLOC(int arg, lkinfo_t *lkinfop, int km_flag)
	STR_DDI(SLEEP_ALLOC);
void SLEEP_DEALLOC(sleep_t *lockp) STR_DDI(SLEEP_DEALLOC);

/**
 * SLEEP_LOCK - take a sleep lock, sleeping until it is free
 * @lockp:    the lock; the caller does not have it
 * @priority: accepted, and without effect
 *
 * SLEEP_LOCK_SIG returns FALSE when a signal has been handled.  SLEEP_TRYLOCK
 * does not sleep: it returns FALSE if another thread has the lock.
 * SLEEP_LOCKAVAIL says whether the lock is free, SLEEP_LOCKOWNED whether the
 * caller has it.
 *
 * Context: open and close procedures, which may sleep; SLEEP_TRYLOCK,
 *          SLEEP_LOCKAVAIL, SLEEP_LOCKOWNED and SLEEP_UNLOCK any.
 */
void SLEEP_LOCK(sleep_t *lockp, int priority) STR_DDI(SLEEP_LOCK);
int SLEEP_LOCK_SIG(sleep_t *lockp, int priority) STR_DDI(SLEEP_LOCK_SIG);
int SLEEP_TRYLOCK(sleep_t *lockp) STR_DDI(SLEEP_TRYLOCK);
int SLEEP_LOCKAVAIL(sleep_t *lockp) STR_DDI(SLEEP_LOCKAVAIL);
int SLEEP_LOCKOWNED(sleep_t *lockp) STR_DDI(SLEEP_LOCKOWNED);
void SLEEP_UNLOCK(sleep_t *lockp) STR_DDI(SLEEP_UNLOCK);

/* -------------------------------------- synchronisation, condition variables */

struct str_cv {
	struct str_lock cv_lock;
	unsigned int cv_seq;		  /* last place given in the order */
	volatile unsigned int cv_waiters; /* 0: no thread waits */
};

typedef struct ddi_sv {
	struct str_cv sv_cv;
} sv_t;

sv_t *SV_ALLOC(int km_flag) STR_DDI(SV_ALLOC);
void SV_DEALLOC(sv_t *svp) STR_DDI(SV_DEALLOC);

/**
 * SV_WAIT - sleep until a synchronisation variable is signalled
 * @svp:      the variable
 * @priority: accepted, and without effect
 * @lkp:      a basic lock that the caller has; released, and not taken again
 *
 * No SV_SIGNAL after the release of @lkp is missed.  SV_WAIT_SIG returns FALSE
 * when the process has handled a signal.  Both return at level plbase.
 *
 * SV_SIGNAL wakes the thread that has waited longest, SV_BROADCAST wakes all;
 * if no thread waits, they have no effect.
 *
 * Context: SV_WAIT: open and close procedures; the others any.
 */
void SV_WAIT(sv_t *svp, int priority, lock_t *lkp) STR_DDI(SV_WAIT);
int SV_WAIT_SIG(sv_t *svp, int priority, lock_t *lkp) STR_DDI(SV_WAIT_SIG);
void SV_SIGNAL(sv_t *svp, int flags) STR_DDI(SV_SIGNAL);
void SV_BROADCAST(sv_t *svp, int flags) STR_DDI(SV_BROADCAST);

/* --------------------------------------------------------- atomic integers */

typedef struct ddi_atomic {
	volatile int a_value;
} atomic_int_t;

/* ATOMIC_INT_DECR says whether the value has become 0. */
atomic_int_t *ATOMIC_INT_ALLOC(int km_flag) STR_DDI(ATOMIC_INT_ALLOC);
void ATOMIC_INT_DEALLOC(atomic_int_t *a) STR_DDI(ATOMIC_INT_DEALLOC);
void ATOMIC_INT_INIT(atomic_int_t *a, int value) STR_DDI(ATOMIC_INT_INIT);
int ATOMIC_INT_READ(atomic_int_t *a) STR_DDI(ATOMIC_INT_READ);
void ATOMIC_INT_WRITE(atomic_int_t *a, int value) STR_DDI(ATOMIC_INT_WRITE);
void ATOMIC_INT_ADD(atomic_int_t *a, int value) STR_DDI(ATOMIC_INT_ADD);
void ATOMIC_INT_SUB(atomic_int_t *a, int value) STR_DDI(ATOMIC_INT_SUB);
void ATOMIC_INT_INCR(atomic_int_t *a) STR_DDI(ATOMIC_INT_INCR);
int ATOMIC_INT_DECR(atomic_int_t *a) STR_DDI(ATOMIC_INT_DECR);

/* ------------------------------------------------------------------ Solaris */

typedef struct kmutex {
	struct str_lock m_lock;
} kmutex_t;

typedef enum {
	MUTEX_ADAPTIVE = 0,
	MUTEX_SPIN = 1,
	MUTEX_DRIVER = 4,
	MUTEX_DEFAULT = 6
} kmutex_type_t;

/**
 * mutex_init - make a mutex
 * @mp:   where
 * @name: NULL, or anything; not kept
 * @type: MUTEX_DRIVER
 * @arg:  an interrupt cookie elsewhere; NULL
 *
 * mutex_enter takes it; mutex_tryenter takes it only if it is free (result 1,
 * else 0); mutex_exit releases it; mutex_owned says whether the caller has it.
 */
void mutex_init(kmutex_t *mp, char *name, kmutex_type_t type, void *arg)
	STR_DDI(mutex_init);
void mutex_destroy(kmutex_t *mp) STR_DDI(mutex_destroy);
void mutex_enter(kmutex_t *mp) STR_DDI(mutex_enter);
int mutex_tryenter(kmutex_t *mp) STR_DDI(mutex_tryenter);
void mutex_exit(kmutex_t *mp) STR_DDI(mutex_exit);
int mutex_owned(kmutex_t *mp) STR_DDI(mutex_owned);
#define MUTEX_HELD(mp) mutex_owned(mp)
#define MUTEX_NOT_HELD(mp) (!mutex_owned(mp))

typedef struct krwlock {
	struct str_rw rw;
} krwlock_t;

typedef enum { RW_DRIVER = 2, RW_DEFAULT = 4 } krw_type_t;
typedef enum { RW_WRITER = 0, RW_READER = 1 } krw_t;

/*
 * rw_tryupgrade makes the only reader the writer: 1, or 0 if there are others.
 * rw_downgrade makes the writer a reader. rw_read_locked is for a holder of the
 * lock: 1 if it is held for reading, 0 for writing.
 */
void rw_init(krwlock_t *rwlp, char *name, krw_type_t type, void *arg)
	STR_DDI(rw_init);
void rw_destroy(krwlock_t *rwlp) STR_DDI(rw_destroy);
void rw_enter(krwlock_t *rwlp, krw_t how) STR_DDI(rw_enter);
int rw_tryenter(krwlock_t *rwlp, krw_t how) STR_DDI(rw_tryenter);
void rw_exit(krwlock_t *rwlp) STR_DDI(rw_exit);
void rw_downgrade(krwlock_t *rwlp) STR_DDI(rw_downgrade);
int rw_tryupgrade(krwlock_t *rwlp) STR_DDI(rw_tryupgrade);
int rw_read_locked(krwlock_t *rwlp) STR_DDI(rw_read_locked);

typedef struct kcondvar {
	struct str_cv cv;
} kcondvar_t;

typedef enum { CV_DEFAULT = 0, CV_DRIVER = 1 } kcv_type_t;

/**
 * cv_wait - sleep until a condition variable is signalled
 * @cvp: the variable
 * @mp:  a mutex that the caller has; released while it sleeps
 *
 * A wake may come without a signal: wait in a loop. cv_wait_sig returns 0 if a
 * signal was handled, else a positive number. cv_timedwait waits until LBOLT is
 * @when, and then returns -1, else a positive number; cv_timedwait_sig combines
 * both. cv_reltimedwait counts from now; its @res, the precision, has no
 * effect. cv_signal wakes the thread that has waited longest, cv_broadcast
 * wakes all.
 *
 * Context: waiting: open and close procedures; cv_signal and cv_broadcast any.
 */
typedef enum {
	TR_NANOSEC = 0,
	TR_MICROSEC = 1,
	TR_MILLISEC = 2,
	TR_SEC = 3,
	TR_CLOCK_TICK = 4
} time_res_t;
void cv_init(kcondvar_t *cvp, char *name, kcv_type_t type, void *arg)
	STR_DDI(cv_init);
void cv_destroy(kcondvar_t *cvp) STR_DDI(cv_destroy);
void cv_wait(kcondvar_t *cvp, kmutex_t *mp) STR_DDI(cv_wait);
int cv_wait_sig(kcondvar_t *cvp, kmutex_t *mp) STR_DDI(cv_wait_sig);
clock_t cv_timedwait(kcondvar_t *cvp, kmutex_t *mp, clock_t when)
	STR_DDI(cv_timedwait);
clock_t cv_timedwait_sig(kcondvar_t *cvp, kmutex_t *mp, clock_t when)
	STR_DDI(cv_timedwait_sig);
clock_t cv_reltimedwait(kcondvar_t *cvp, kmutex_t *mp, clock_t delta,
	time_res_t res) STR_DDI(cv_reltimedwait);
clock_t cv_reltimedwait_sig(kcondvar_t *cvp, kmutex_t *mp, clock_t delta,
	time_res_t res) STR_DDI(cv_reltimedwait_sig);
void cv_signal(kcondvar_t *cvp) STR_DDI(cv_signal);
void cv_broadcast(kcondvar_t *cvp) STR_DDI(cv_broadcast);

typedef struct ksema {
	volatile unsigned int s_count;
	volatile unsigned int s_waiters; /* a thread sleeps on s_seq */
	volatile unsigned int s_seq;	 /* changes when it is raised */
} ksema_t;

typedef enum { SEMA_DEFAULT = 0, SEMA_DRIVER = 1 } ksema_type_t;

/* sema_p_sig returns 1 if a signal was handled, else 0. sema_tryp: 1 or 0. */
void sema_init(ksema_t *sp, uint_t val, char *name, ksema_type_t type,
	void *arg) STR_DDI(sema_init);
void sema_destroy(ksema_t *sp) STR_DDI(sema_destroy);
void sema_p(ksema_t *sp) STR_DDI(sema_p);
int sema_p_sig(ksema_t *sp) STR_DDI(sema_p_sig);
int sema_tryp(ksema_t *sp) STR_DDI(sema_tryp);
void sema_v(ksema_t *sp) STR_DDI(sema_v);

#ifdef __cplusplus
}
#endif

#endif /* _SYS_KSYNCH_H */

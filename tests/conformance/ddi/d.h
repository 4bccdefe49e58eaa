/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the cases of the DDI suite share.
 *
 * The suite is written once and runs on two hosts: `sim', where a task is a
 * simulated process, and `user', in a private domain, where it is a process.
 * So tasks share nothing but the arena: what they tell each other stands in
 * memory from kmem_alloc().
 *
 * Every case has a number, for lists of what has been checked, and begins
 * with the statement that it proves: "page(section): statement", in which D3
 * is SVR4.2's DDI/DKI, 9F is Solaris's manual, and man9 ours.
 */
#ifndef TESTS_CONFORMANCE_DDI_D_H
#define TESTS_CONFORMANCE_DDI_D_H

#include <limits.h>
#include "fixture.h"
#include <sys/cmn_err.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>
#include <sys/strlog.h>
#include <sys/strsun.h>
#include <sys/ddi.h>

#define D_CASE(number, name) T_CASE(d##number##_##name)

/* Is this the real host?  What differs is written where it does. */
bool d_is_user(void);

/* Zeroed memory that tasks share; d_gone() gives it back. */
void *d_shared(size_t size);
void d_gone(void *p);

/*
 * A task that is inside a call whose signals are looked at, as a process is
 * in the open procedure of a driver.  sim_spawn() with that around it.
 */
struct sim_task *d_spawn(const char *name, void (*fn)(void *arg), void *arg);

/*
 * What tasks that wait for each other share: the variables they wait for, and
 * what they tell.
 */
#define D_ORDER 8
struct d_vars {
	kmutex_t mutex;
	kcondvar_t cv;
	ksema_t sema;
	sv_t *sv;
	lock_t *lock;
	atomic_int_t *atomic;
	str_a32 ready;	   /* waiters that are about to wait */
	str_a32 woken;	   /* waiters that have come back */
	str_a32 go;	   /* predicate */
	str_a32 result;
	str_a32 level;	   /* the interrupt level, or whether the lock was free */
	uint32_t order[D_ORDER]; /* the waiters' numbers, as they came back */
	uint32_t who;	   /* under mutex: next waiter's number */
};

/* The same, with a synchronisation variable and its lock; d_vars_gone() gives
 * it back. */
struct d_vars *d_vars(void);
void d_vars_gone(struct d_vars *s);
/* Wait until no thread is between LOCK and SV_WAIT any more. */
void d_vars_asleep(struct d_vars *s);

/*
 * A procedure to be called back: its address in the code window, as a module's
 * procedures have.
 */
#define D_CALLED(fn) ((__typeof__(&(fn)))d_called((void (*)(void))(fn)))
void (*d_called(void (*fn)(void)))(void);

/* Does @fn(@arg) end its process?  Only where there are processes. */
bool d_dies(void (*fn)(void *arg), void *arg);

/* Wait until @e holds, others run. */
#define D_UNTIL(e) do {							\
	unsigned n_ = 0;						\
									\
	while (!(e)) {							\
		if (++n_ > 5000)					\
			T_FAIL("%s is false", #e);			\
		sim_sleep(1000000u);					\
	}								\
} while (0)

/* What a function wrote to the standard error. */
const char *d_said(void (*say)(void));

#endif

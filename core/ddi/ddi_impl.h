/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the files of core/ddi share.
 */
#ifndef DDI_IMPL_H
#define DDI_IMPL_H

#include "core.h"
#include <stdarg.h>
#include <sys/ddi.h>
#include <sys/kmem.h>
#include <sys/ksynch.h>

#define STR_TICK_NS (1000000000ull / HZ)

/* ------------------------------------------------------------------- text */

/*
 * A buffer that is filled from the left; text that does not fit is truncated.
 */
struct str_text {
	char *buf;
	size_t size; /* room for a NUL is reserved */
	size_t n;
	size_t all; /* bytes of the complete text */
};

void str_text_char(struct str_text *o, char c);
void str_text_string(struct str_text *o, const char *s);
/* The printf conversions of cmn_err(9). */
void str_text_format(struct str_text *o, const char *fmt, va_list ap);
/* Append the NUL.  Return: the bytes before it. */
size_t str_text_end(struct str_text *o);

/* ---------------------------------------------------------------- threads */

/*
 * str_ddi_self - this thread's slot.  If another thread had the slot before,
 * the fields that core/ddi uses are cleared first.
 */
struct str_thread *str_ddi_self(void);

/* ------------------------------------------------------------------ locks */

/*
 * str_ddi_lock - take a lock on behalf of a module
 * str_ddi_unlock - release a lock on behalf of a module
 * If this thread takes a lock that it holds already, or releases a lock that it
 * does not hold, the process ends with the message @what.
 */
void str_ddi_lock(struct str_lock *l, const char *what);
bool str_ddi_trylock(struct str_lock *l);
void str_ddi_unlock(struct str_lock *l, const char *what);
bool str_ddi_owned(const struct str_lock *l);
/* Is the lock free, or its owner dead? */
bool str_ddi_idle(const struct str_lock *l);

/* Set the thread's interrupt priority level, which spl(9) returns, to @pl.
 * Without @lower the level is only raised. */
void str_ddi_ipl(pl_t pl, bool lower);

/* ---------------------------------------------------------------- sleeping */

/* The state that a procedure saves when it leaves its perimeter to sleep. */
struct str_nap {
	struct str_qpair *qp; /* whose perimeter; NULL: none */
	uint32_t nest;	      /* str_perim.nest before it left */
};

/*
 * str_ddi_presleep - a procedure of a module is about to sleep.  An open or
 * close procedure leaves its module's perimeter: the put procedure, service
 * procedure, callback or other open that will wake it needs the perimeter.
 * Queues that the procedure has enabled run first.
 * str_ddi_postsleep - enter the perimeter again; waits for it.
 *
 * A thread that holds a lock of the module does neither: a thread inside the
 * perimeter could wait for that lock, while the holder waits for the
 * perimeter.
 */
void str_ddi_presleep(struct str_nap *nap);
void str_ddi_postsleep(const struct str_nap *nap);

/* The call whose signals end a sleep; NULL: none do. */
struct host_call *str_ddi_call(void);

#define STR_DDI_NEVER UINT64_MAX

/*
 * Condition variables. str_cv_join - wait for @cv from now on.
 * str_cv_sleep - sleep until woken: 0; EINTR: a signal of @hc ended it (@hc
 * NULL: none does); ETIMEDOUT: at @deadline (host_now()).
 * str_cv_wake - wake all, or the one that has waited longest
 */
void str_cv_join(struct str_cv *cv);
int str_cv_sleep(struct str_cv *cv, struct host_call *hc, uint64_t deadline);
void str_cv_wake(struct str_cv *cv, bool all);

#endif

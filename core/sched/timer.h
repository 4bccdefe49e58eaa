/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The domain's table of timers: timer.c has the theory.
 */
#ifndef STR_SCHED_TIMER_H
#define STR_SCHED_TIMER_H

#include "core.h"
#include <str/timer.h>

#define STR_TIMER_NEVER (~0xffull) /* no deadline */

/* States, in the low bits of `word'. */
#define STR_TM_FREE 0u	  /* not in use, or its maker still fills it in */
#define STR_TM_PENDING 2u /* it has a deadline; or, with `keeps', is stopped */
#define STR_TM_RUNNING 3u /* a thread is in its function */
#define STR_TM_OVER 4u	  /* is freed by the thread that has `taken' */
#define STR_TM_STATE 7u
#define STR_TM_SHIFT 3

enum str_timer_kind {
	STR_TM_CALL,
	STR_TM_BUFCALL,
	STR_TM_RUN, /* str_sched_defer() */
};

struct str_timer {
	str_a64 word;		/* [A] number << STR_TM_SHIFT | state */
	void (*func)(void *);	/* [I] a code slot, or in an image */
	void *arg;		/* [I] */
	struct str_plumb *pl;	/* [I] of qp; STR_TM_RUN: to be run */
	union {
		struct str_qpair *qp; /* [I] pl not NULL: whose callback it is */
		struct str_fmod *fm;  /* [I] module whose perimeter it needs, or
				       * NULL */
	};
	uint64_t serial;	/* [I] of qp */
	uint64_t size;		/* [I] bufcall: bytes wanted */
	str_a32 taken;		/* [A] tag of the thread that handles it */
	uint16_t kind;		/* [I] enum str_timer_kind */
	uint16_t keeps;		/* [I] it may be set again after its callback */
};
_Static_assert(sizeof(struct str_timer) == 64, "a cache line");

/*
 * str_timer_new - a record that the caller has taken, and only it uses; NULL:
 * no memory.  The caller fills it in, and calls str_timer_start().
 * str_timer_start - publish it with the deadline @when, and clear `taken'
 * @now: host_now(), or 0 if it is not known.  Return: its number, not 0.
 */
struct str_timer *str_timer_new(void);
uint64_t str_timer_start(struct str_timer *tm, uint64_t now, uint64_t when);

/* str_timer_take - try to become the thread that handles @tm
 * str_timer_give - stop being this thread; if the state is OVER, free @tm */
bool str_timer_take(struct str_timer *tm);
void str_timer_give(struct str_timer *tm);

/* str_timer_arm - set the deadline; str_timer_disarm - remove it.  Return: the
 * one before.  str_timer_deadline - it, or STR_TIMER_NEVER. */
uint64_t str_timer_arm(struct str_timer *tm, uint64_t now, uint64_t when);
uint64_t str_timer_disarm(struct str_timer *tm);
uint64_t str_timer_deadline(const struct str_timer *tm);
/* str_timer_expire - remove a deadline that has passed, and no other one; false:
 * there is none.  str_timer_again - set @when if there is no deadline. */
bool str_timer_expire(struct str_timer *tm, uint64_t now);
void str_timer_again(struct str_timer *tm, uint64_t when);

/* str_timer_named - the record in use with the number @id; if @id is less than
 * 2^31, with these low 31 bits.  NULL: there is none.  *ret_word: its word. */
struct str_timer *str_timer_named(uint64_t id, uint64_t *ret_word);

/* str_timer_each - call @fn for each record in use */
void str_timer_each(void (*fn)(struct str_timer *tm, void *arg), void *arg);

/* str_timer_handle - what timeout.c does with a record that is due and taken;
 * false: it is to be tried again, and has a new deadline.  The caller still has
 * `taken'. */
bool str_timer_handle(struct str_timer *tm);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * weldq: messages pass from the end of one stream into another stream.
 *
 * A driver's write queue has no next queue. Welding gives it one, a read
 * queue of a driver, by one store.  Messages then go from one stream to the
 * other with claims on both (core/plumb/claim.c), as if the driver called put()
 * for a queue of the other stream.
 *
 * A thread that read the link before it was removed may still use the other
 * queue.  unweldq() waits for such threads (str_plumb_barrier()) if its caller
 * has no claim.  A put or service procedure has one and must not wait: there
 * the module's perimeter must exclude such threads.
 */
#include "ddi_impl.h"

static bool
is_pair(const queue_t *from, const queue_t *to)
{
	return from != NULL && to != NULL && from->q_head == NULL &&
		to->q_head == NULL && (str_load(&from->q_flag) & QREADR) == 0 &&
		(str_load(&to->q_flag) & QREADR) != 0;
}

static bool
has_other(const queue_t *q3, const queue_t *q4)
{
	return q3 != NULL || q4 != NULL;
}

/* Request a call of @func.  Return: 0 if this fails. */
static toid_t
tell(weld_fcn_t func, weld_arg_t arg, queue_t *protq)
{
	return protq != NULL ? qtimeout(protq, func, arg, 0) :
			       timeout(func, arg, 0);
}

static void
set_next(queue_t *q, queue_t *next)
{
	__atomic_store_n(&q->q_next, next, __ATOMIC_RELEASE);
}

/* SVR4.2 MP weldq */
int
weldq(queue_t *q1, queue_t *q2, queue_t *q3, queue_t *q4, weld_fcn_t func,
	weld_arg_t arg, queue_t *protq)
{
	if (!is_pair(q1, q2) || (has_other(q3, q4) && !is_pair(q3, q4)))
		return EINVAL;
	if (q1->q_next != NULL || (q3 != NULL && q3->q_next != NULL))
		return EBUSY;
	set_next(q1, q2);
	if (q3 != NULL)
		set_next(q3, q4);
	if (func == NULL || tell(func, arg, protq) != 0)
		return 0;
	set_next(q1, NULL);
	if (q3 != NULL)
		set_next(q3, NULL);
	return ENOMEM;
}

int
unweldq(queue_t *q1, queue_t *q2, queue_t *q3, queue_t *q4, weld_fcn_t func,
	weld_arg_t arg, queue_t *protq)
{
	if (!is_pair(q1, q2) || q1->q_next != q2 ||
	    (has_other(q3, q4) && (!is_pair(q3, q4) || q3->q_next != q4)))
		return EINVAL;
	set_next(q1, NULL);
	if (q3 != NULL)
		set_next(q3, NULL);
	if (host_tls.nclaim == 0) {
		str_plumb_barrier(q1->q_pair->plumb);
		if (q3 != NULL)
			str_plumb_barrier(q3->q_pair->plumb);
	}
	return func == NULL || tell(func, arg, protq) != 0 ? 0 : ENOMEM;
}

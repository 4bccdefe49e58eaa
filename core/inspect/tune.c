/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * str_tune() sets the water marks and packet sizes of the queues of any stream,
 * and those that a module declares, for strtune(8).
 *
 * Locks.  A stream's queues are visited with a claim on it, so that they are
 * not freed; the marks are set under the queue's lock, as by strqset(9).  The
 * values that a module declares (fm->rinfo and similar ones) are read when a
 * queue is made, one word at a time: the old or the new value may be read.
 *
 * Crash.  Each value is one store.
 */
#include "core.h"

#include <str/inspect.h>

#define MAX_QUEUES 256u

struct tune {
	const struct strm_tune *t;
	long n;
	int err;
};

static bool
values_are_good(const struct strm_tune *t)
{
	const int64_t *v = t->value;
	uint32_t set = t->set;

	if (set == 0 || set > 15)
		return false;
	if (((set & 1) && v[STR_TUNE_HIWAT] < 0) ||
	    ((set & 2) && v[STR_TUNE_LOWAT] < 0) ||
	    ((set & 4) && v[STR_TUNE_MINPSZ] < 0) ||
	    ((set & 8) && v[STR_TUNE_MAXPSZ] < INFPSZ))
		return false;
	if ((set & 3) == 3 && v[STR_TUNE_LOWAT] > v[STR_TUNE_HIWAT])
		return false;
	return (set & 12) != 12 || v[STR_TUNE_MAXPSZ] == INFPSZ ||
		v[STR_TUNE_MINPSZ] <= v[STR_TUNE_MAXPSZ];
}

static void
tune_queue(queue_t *q, struct tune *a)
{
	static const qfields_t what[4] = {QHIWAT, QLOWAT, QMINPSZ, QMAXPSZ};
	unsigned i;
	int err = 0;

	for (i = 0; i < 4 && err == 0; i++)
		if (a->t->set & (1u << i))
			err = strqset(q, what[i], 0, (long)a->t->value[i]);
	if (err == 0)
		a->n++;
	else
		a->err = err;
}

/* Is this side of @qp selected? */
static bool
is_meant(const struct strm_tune *t, struct str_qpair *qp, unsigned side)
{
	queue_t *q = side == 0 ? &qp->rq : &qp->wq;
	uint32_t bit = qp->role == STR_QP_LOWER ? STR_TUNE_LREAD :
						  STR_TUNE_READ;

	if (qp->role == STR_QP_HEAD)
		return false; /* heads are set by I_SET_HIWAT */
	if (t->addr != 0)
		return t->addr == (uint64_t)(uintptr_t)q;
	return qp->fmod != NULL && str_name_eq(qp->fmod->name, t->name) &&
		(t->sides & (bit << side)) != 0;
}

static bool
tune_stream(struct str_plumb *pl, void *arg)
{
	struct tune *a = arg;
	uint32_t e, n;

	if (str_claim(pl) != 0) {
		a->err = EBUSY;
		return false;
	}
	for (e = 0; e < pl->nheads && e < 2; e++) {
		struct str_qpair *qp = pl->head[e].qp;

		for (n = 0; n < MAX_QUEUES && qp != NULL; n++) {
			queue_t *next = qp->wq.q_next;

			if (is_meant(a->t, qp, 0))
				tune_queue(&qp->rq, a);
			if (is_meant(a->t, qp, 1))
				tune_queue(&qp->wq, a);
			if (next == NULL || next != &next->q_pair->wq)
				break;
			qp = next->q_pair;
		}
	}
	str_unclaim(pl);
	return false;
}

static void
tune_info(struct module_info *mi, const struct strm_tune *t)
{
	if (t->set & (1u << STR_TUNE_HIWAT))
		mi->mi_hiwat = (size_t)t->value[STR_TUNE_HIWAT];
	if (t->set & (1u << STR_TUNE_LOWAT))
		mi->mi_lowat = (size_t)t->value[STR_TUNE_LOWAT];
	if (t->set & (1u << STR_TUNE_MINPSZ))
		mi->mi_minpsz = t->value[STR_TUNE_MINPSZ];
	if (t->set & (1u << STR_TUNE_MAXPSZ))
		mi->mi_maxpsz = t->value[STR_TUNE_MAXPSZ];
}

/*
 * str_tune - implements strm_tune().
 * Return: as strm_tune(), but minus an errno in place of -1.
 */
long
str_tune(const struct strm_tune *t)
{
	struct tune a = {.t = t};
	struct str_fmod *fm = NULL;
	struct module_info *mi[4];
	unsigned i;

	if (!values_are_good(t))
		return -EINVAL;
	if (t->addr == 0) {
		fm = str_fmod_find(t->name);
		if (fm == NULL)
			return -ENOENT;
	}
	if (fm != NULL && (t->sides & STR_TUNE_NEW)) {
		mi[0] = &fm->rinfo;
		mi[1] = &fm->winfo;
		mi[2] = &fm->mrinfo;
		mi[3] = &fm->mwinfo;
		for (i = 0; i < 4; i++)
			if (t->sides & (1u << i))
				tune_info(mi[i], t);
		a.n++;
	}
	str_stream_walk(tune_stream, &a);
	if (a.n != 0)
		return a.n;
	return a.err != 0 ? -a.err : -ENOENT;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What was not read when a stream is closed: <str/hold.h>.
 */
#include "core.h"
#include <str/hold.h>

typedef int counts_fn(const unsigned char *ctl, size_t n);

/* Is @mp a message with data, one that @counts accepts? */
static bool
is_data(mblk_t *mp, counts_fn *counts)
{
	mblk_t *bp = mp;

	if (mp->b_datap->db_type > M_PROTO)
		return false;
	while (bp != NULL && bp->b_datap->db_type != M_DATA)
		bp = bp->b_cont;
	return bp != NULL && msgsize(bp) != 0 &&
		(bp == mp || counts(mp->b_rptr, str_blen(mp)));
}

/* The same for the first record of the head. */
static bool
is_data_record(const struct str_rec *rec, counts_fn *counts)
{
	if (rec->mp != NULL)
		return is_data(rec->mp, counts);
	return rec->data != ~0u && rec->data != 0 &&
		(rec->ctl == ~0u || counts(rec->cptr, rec->ctl));
}

static bool
is_on_queue(queue_t *q, counts_fn *counts)
{
	bool yes = false;
	mblk_t *mp;

	if (str_lock(&q->q_klock))
		(void)str_queue_repair(q);
	for (mp = q->q_first; mp != NULL && !yes; mp = mp->b_next)
		yes = is_data(mp, counts);
	str_unlock(&q->q_klock);
	return yes;
}

int
str_unread(queue_t *rq, int (*counts)(const unsigned char *ctl, size_t n))
{
	struct str_head *sd = &rq->q_pair->plumb->head[0];
	struct str_headq *hq = &sd->hq;
	struct str_rec rec;
	bool yes = is_on_queue(rq, counts) || is_on_queue(&sd->qp->rq, counts);

	if (yes)
		return 1;
	if (str_hlock(&hq->clock, STR_HOLD_C))
		str_headq_repair_c(hq);
	while (!yes && str_headq_first(hq, &rec)) {
		yes = is_data_record(&rec, counts);
		str_headq_advance(hq, &rec, 0, 0, STR_TOOK_ALL);
	}
	str_hunlock(&hq->clock, STR_HOLD_C);
	return yes;
}

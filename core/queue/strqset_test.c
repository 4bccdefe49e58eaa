/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strqget and strqset: SVR4 DDI/DKI section D3.
 */
#include "fixture.h"

static struct fx_pipe pipe_;

static queue_t *
a_queue(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	return fx_push(&pipe_, 0, "store");
}

static long
get(queue_t *q, qfields_t what, unsigned char band)
{
	long v = -77;

	T_EQ(strqget(q, what, band, &v), 0);
	return v;
}

T_CASE(a_queue_begins_with_its_module_info)
{
	queue_t *q = a_queue(t);

	T_EQ(get(q, QHIWAT, 0), 100);
	T_EQ(get(q, QLOWAT, 0), 20);
	T_EQ(get(q, QMINPSZ, 0), 0);
	T_EQ(get(q, QMAXPSZ, 0), INFPSZ);
	T_EQ(get(q, QCOUNT, 0), 0);
	T_EQ(get(q, QFIRST, 0), 0);
	T_EQ(get(q, QLAST, 0), 0);
}

T_CASE(what_is_set_is_read_back)
{
	static const qfields_t what[] = {QHIWAT, QLOWAT, QMAXPSZ, QMINPSZ};
	queue_t *q = a_queue(t);
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(what); i++) {
		T_EQ(strqset(q, what[i], 0, 10 + i), 0);
		T_EQ(get(q, what[i], 0), 10 + i);
	}
	T_EQ(q->q_hiwat, 10);
	T_EQ(q->q_lowat, 11);
	T_EQ(q->q_maxpsz, 12);
	T_EQ(q->q_minpsz, 13);
}

T_CASE(the_other_queue_of_the_pair_is_not_touched)
{
	queue_t *q = a_queue(t);

	T_EQ(strqset(q, QHIWAT, 0, 7), 0);
	T_EQ(get(WR(q), QHIWAT, 0), 100);
}

T_CASE(bands_have_marks_of_their_own)
{
	queue_t *q = a_queue(t);

	T_EQ(strqset(q, QHIWAT, 5, 50), 0);
	T_EQ(strqset(q, QLOWAT, 5, 5), 0);
	T_EQ(get(q, QHIWAT, 5), 50);
	T_EQ(get(q, QLOWAT, 5), 5);
	T_EQ(get(q, QHIWAT, 0), 100);
	T_EQ(get(q, QHIWAT, 4), 100);
}

T_CASE(new_marks_count_from_the_next_message_on)
{
	queue_t *q = a_queue(t);

	T_EQ(strqset(q, QHIWAT, 0, 10), 0);
	T_EQ(putq(q, fx_bytes(11, 0)), 1);
	T_TRUE(q->q_flag & QFULL);
	T_EQ(strqset(q, QHIWAT, 5, 10), 0);
	T_EQ(putq(q, fx_bytes(11, 5)), 1);
	T_EQ(bcanput(q, 5), 0);
	T_EQ(bcanput(q, 6), 1);
}

T_CASE(counts_and_ends_can_be_read)
{
	queue_t *q = a_queue(t);

	T_EQ(putq(q, fx_bytes(11, 0)), 1);
	T_EQ(putq(q, fx_bytes(7, 3)), 1);
	T_EQ(putq(q, fx_bytes(8, 3)), 1);
	T_EQ(get(q, QCOUNT, 0), 11);
	T_EQ(get(q, QCOUNT, 3), 15);
	T_TRUE((mblk_t *)get(q, QFIRST, 0) == q->q_first);
	T_TRUE((mblk_t *)get(q, QLAST, 0) == q->q_last);
	T_TRUE((mblk_t *)get(q, QFIRST, 3) == q->q_first);
	T_TRUE((mblk_t *)get(q, QLAST, 3) == q->q_first->b_next);
	T_EQ(get(q, QFLAG, 3) & QB_FULL, 0);
}

T_CASE(the_ends_of_a_band_follow_getq_and_rmvq)
{
	queue_t *q = a_queue(t);
	mblk_t *mp;

	T_EQ(putq(q, fx_msg("a", 3)), 1);
	T_EQ(putq(q, fx_msg("b", 3)), 1);
	T_EQ(putq(q, fx_msg("c", 3)), 1);
	FX_MSG(getq(q), "a");
	T_STR(fx_text((mblk_t *)get(q, QFIRST, 3)), "b");
	mp = q->q_first->b_next;
	rmvq(q, mp);
	freemsg(mp);
	T_STR(fx_text((mblk_t *)get(q, QLAST, 3)), "b");
	FX_MSG(getq(q), "b");
	T_EQ(get(q, QFIRST, 3), 0);
	T_EQ(get(q, QLAST, 3), 0);
	T_EQ(putbq(q, fx_msg("d", 3)), 1);
	T_STR(fx_text((mblk_t *)get(q, QFIRST, 3)), "d");
	T_STR(fx_text((mblk_t *)get(q, QLAST, 3)), "d");
}

T_CASE(what_is_counted_cannot_be_set)
{
	static const qfields_t what[] = {QCOUNT, QFIRST, QLAST, QFLAG};
	queue_t *q = a_queue(t);
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(what); i++)
		T_EQ(strqset(q, what[i], 0, 1), EPERM);
}

T_CASE(bad_fields_are_refused)
{
	queue_t *q = a_queue(t);
	long v;

	T_EQ(strqget(q, QBAD, 0, &v), EINVAL);
	T_EQ(strqset(q, QBAD, 0, 1), EINVAL);
	T_EQ(strqget(q, (qfields_t)99, 0, &v), EINVAL);
	T_EQ(strqset(q, (qfields_t)-1, 0, 1), EINVAL);
}

T_CASE(packet_sizes_have_no_band)
{
	queue_t *q = a_queue(t);
	long v;

	T_EQ(strqget(q, QMAXPSZ, 1, &v), EINVAL);
	T_EQ(strqget(q, QMINPSZ, 1, &v), EINVAL);
	T_EQ(strqset(q, QMAXPSZ, 1, 5), EINVAL);
	T_EQ(strqset(q, QMINPSZ, 1, 5), EINVAL);
}

T_CASE(a_band_that_cannot_be_made_is_eagain)
{
	queue_t *q = a_queue(t);
	long v;

	fx_use_up();
	T_EQ(strqget(q, QHIWAT, 9, &v), EAGAIN);
	T_EQ(strqset(q, QHIWAT, 9, 1), EAGAIN);
	T_EQ(strqget(q, QHIWAT, 0, &v), 0);
}

T_CASE(putq_that_cannot_make_its_band_leaves_the_message)
{
	static int (*const put[])(queue_t *, mblk_t *) = {putq, putbq};
	queue_t *q = a_queue(t);
	unsigned i;

	for (i = 0; i < 2; i++) {
		mblk_t *mp = fx_msg("mine", 9);

		fx_use_up();
		T_EQ(put[i](q, mp), 0);
		T_EQ(qsize(q), 0);
		fx_give_back();
		FX_MSG(mp, "mine");
	}
}

/* A head keeps its marks in fewer bits: more than they hold is no limit */
T_CASE(a_mark_beyond_what_a_head_keeps_is_no_limit)
{
	queue_t *q = a_queue(t), *rq = &pipe_.sd[0]->qp->rq;

	(void)q;
	T_EQ(strqset(rq, QLOWAT, 0, 10), 0);
	T_EQ(strqset(rq, QHIWAT, 0, 1L << 32), 0);
	T_EQ(pipe_.sd[0]->hq.hiwat, UINT32_MAX);
	T_EQ(strqset(rq, QHIWAT, 0, 1000), 0);
	T_EQ(pipe_.sd[0]->hq.hiwat, 1000u);
}

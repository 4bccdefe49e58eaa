/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Queues: order, flow control, enabling, control messages.
 */
#include "d.h"

/* A module's queue that keeps what it is given; its read side. */
static queue_t *
store(struct fx_pipe *p)
{
	fx_pipe(p);
	return fx_push(p, 0, "store");
}

static void
empty(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL)
		freemsg(mp);
	(void)fx_enabled(q);
}

/* putq(D3): messages of one band are in the order they came. */
D_CASE(201, putq_keeps_the_order_within_a_band)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_EQ(putq(q, fx_msg("1", 0)), 1);
	T_EQ(putq(q, fx_msg("2", 0)), 1);
	T_EQ(putq(q, fx_msg("3", 0)), 1);
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "2");
	FX_MSG(getq(q), "3");
	T_NULL(getq(q));
}

/* putq(D3): higher bands come before lower ones. */
D_CASE(202, putq_orders_by_band)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("0", 0));
	(void)putq(q, fx_msg("5", 5));
	(void)putq(q, fx_msg("255", 255));
	(void)putq(q, fx_msg("1", 1));
	FX_MSG(getq(q), "255");
	FX_MSG(getq(q), "5");
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "0");
}

/* putq(D3): high-priority messages come before all bands. */
D_CASE(203, putq_puts_high_priority_first)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("band", 255));
	(void)putq(q, fx_type(M_PCPROTO, "first", 0));
	(void)putq(q, fx_type(M_PCPROTO, "second", 0));
	FX_MSG(getq(q), "first");
	FX_MSG(getq(q), "second");
	FX_MSG(getq(q), "band");
	(void)fx_enabled(q);
}

/* putq(D3): the service procedure is scheduled for the first message. */
D_CASE(204, putq_enables_once)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_NULL(getq(q)); /* a reader waits */
	(void)fx_enabled(q);
	(void)putq(q, fx_msg("1", 0));
	T_TRUE(fx_enabled(q));
	(void)putq(q, fx_msg("2", 0));
	T_FALSE(fx_enabled(q));
	empty(q);
}

/* noenable(D3): ordinary messages do not schedule the queue. */
D_CASE(205, noenable_keeps_ordinary_messages_quiet)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	empty(q);
	noenable(q);
	T_EQ(canenable(q), 0);
	(void)putq(q, fx_msg("1", 0));
	T_FALSE(fx_enabled(q));
	enableok(q);
	T_NE(canenable(q), 0);
	empty(q);
}

/* noenable(D3): high-priority messages schedule it all the same. */
D_CASE(206, high_priority_enables_a_queue_that_is_not_to_be)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	empty(q);
	noenable(q);
	(void)putq(q, fx_type(M_PCPROTO, "now", 0));
	T_TRUE(fx_enabled(q));
	enableok(q);
	empty(q);
}

/* putbq(D3): the message becomes the first of its band. */
D_CASE(207, putbq_puts_in_front_of_the_band)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("b", 0));
	(void)putq(q, fx_msg("band", 3));
	T_EQ(putbq(q, fx_msg("a", 0)), 1);
	FX_MSG(getq(q), "band");
	FX_MSG(getq(q), "a");
	FX_MSG(getq(q), "b");
}

/* insq(D3): a message is inserted in front of another. */
D_CASE(208, insq_inserts_before)
{
	static struct fx_pipe p;
	mblk_t *mp;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	mp = fx_msg("2", 0);
	(void)putq(q, mp);
	T_EQ(insq(q, mp, fx_msg("1", 0)), 1);
	T_EQ(insq(q, NULL, fx_msg("3", 0)), 1);
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "2");
	FX_MSG(getq(q), "3");
}

/* insq(D3): a place that breaks the order of bands is refused with 0. */
D_CASE(209, insq_refuses_what_breaks_the_order)
{
	static struct fx_pipe p;
	mblk_t *mp, *low;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	mp = fx_msg("band", 3);
	(void)putq(q, mp);
	low = fx_msg("low", 0);
	T_EQ(insq(q, mp, low), 0);
	freemsg(low);
	FX_MSG(getq(q), "band");
}

/* appq(9): a message is put behind another, or at the front. */
D_CASE(210, appq_puts_behind)
{
	static struct fx_pipe p;
	mblk_t *mp;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	mp = fx_msg("2", 0);
	(void)putq(q, mp);
	T_EQ(appq(q, mp, fx_msg("3", 0)), 1);
	T_EQ(appq(q, NULL, fx_msg("1", 0)), 1);
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "2");
	FX_MSG(getq(q), "3");
}

/* rmvq(D3): the message is removed from wherever it stands. */
D_CASE(211, rmvq_removes_from_the_middle)
{
	static struct fx_pipe p;
	mblk_t *mp;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("1", 0));
	mp = fx_msg("2", 0);
	(void)putq(q, mp);
	(void)putq(q, fx_msg("3", 0));
	rmvq(q, mp);
	FX_MSG(mp, "2");
	T_EQ(q->q_count, 2);
	FX_MSG(getq(q), "1");
	FX_MSG(getq(q), "3");
}

/* flushq(D3): FLUSHALL frees every message. */
D_CASE(212, flushq_all_frees_everything)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("1", 0));
	(void)putq(q, fx_type(M_CTL, "2", 0));
	(void)putq(q, fx_msg("3", 4));
	flushq(q, FLUSHALL);
	T_NULL(getq(q));
	T_EQ(q->q_count, 0);
	(void)fx_enabled(q);
}

/* flushq(D3): FLUSHDATA leaves what is not data. */
D_CASE(213, flushq_data_leaves_control)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("1", 0));
	(void)putq(q, fx_type(M_CTL, "2", 0));
	(void)putq(q, fx_type(M_PROTO, "3", 0));
	flushq(q, FLUSHDATA);
	FX_MSG(getq(q), "2");
	T_NULL(getq(q));
}

/* flushband(D3): messages of other bands stay. */
D_CASE(214, flushband_leaves_the_other_bands)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("0", 0));
	(void)putq(q, fx_msg("3", 3));
	(void)putq(q, fx_msg("4", 4));
	flushband(q, 3, FLUSHALL);
	FX_MSG(getq(q), "4");
	FX_MSG(getq(q), "0");
	T_NULL(getq(q));
}

/* flushband(D3): band 0 is the ordinary messages of band 0. */
D_CASE(215, flushband_0_leaves_high_priority)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("0", 0));
	(void)putq(q, fx_type(M_PCPROTO, "high", 0));
	flushband(q, 0, FLUSHALL);
	FX_MSG(getq(q), "high");
	T_NULL(getq(q));
	(void)fx_enabled(q);
}

/* qsize(D3): the number of messages, of all bands. */
D_CASE(216, qsize_counts_messages)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_EQ(qsize(q), 0);
	(void)putq(q, fx_msg("abc", 0));
	(void)putq(q, fx_msg("abc", 9));
	T_EQ(qsize(q), 2);
	empty(q);
}

/* strqget(D3): QCOUNT is the number of bytes, per band. */
D_CASE(217, strqget_tells_the_count_of_a_band)
{
	static struct fx_pipe p;
	queue_t *q;
	long v;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_msg("abc", 0));
	(void)putq(q, fx_msg("abcde", 2));
	T_EQ(strqget(q, QCOUNT, 0, &v), 0);
	T_EQ(v, 3);
	T_EQ(strqget(q, QCOUNT, 2, &v), 0);
	T_EQ(v, 5);
	empty(q);
}

/* strqget(D3): marks and packet sizes are those of module_info at first. */
D_CASE(218, strqget_tells_the_modules_parameters)
{
	static struct fx_pipe p;
	queue_t *q;
	long v;

	fx_begin(t);
	q = store(&p);
	T_EQ(strqget(q, QHIWAT, 0, &v), 0);
	T_EQ(v, 100);
	T_EQ(strqget(q, QLOWAT, 0, &v), 0);
	T_EQ(v, 20);
	T_EQ(strqget(q, QMINPSZ, 0, &v), 0);
	T_EQ(v, 0);
	T_EQ(strqget(q, QMAXPSZ, 0, &v), 0);
	T_EQ(v, INFPSZ);
}

/* strqset(D3): the marks of a band are set without the others'. */
D_CASE(219, strqset_sets_the_marks_of_a_band)
{
	static struct fx_pipe p;
	queue_t *q;
	long v;

	fx_begin(t);
	q = store(&p);
	T_EQ(strqset(q, QHIWAT, 4, 7), 0);
	T_EQ(strqget(q, QHIWAT, 4, &v), 0);
	T_EQ(v, 7);
	T_EQ(strqget(q, QHIWAT, 0, &v), 0);
	T_EQ(v, 100);
}

/* strqset(D3): EPERM for what may be read only; strqget: EINVAL for QBAD. */
D_CASE(220, strqset_refuses_what_is_read_only)
{
	static struct fx_pipe p;
	queue_t *q;
	long v;

	fx_begin(t);
	q = store(&p);
	T_EQ(strqset(q, QCOUNT, 0, 7), EPERM);
	T_EQ(strqset(q, QFIRST, 0, 0), EPERM);
	T_EQ(strqget(q, QBAD, 0, &v), EINVAL);
}

/* canput(D3): a queue above its high water mark takes no more. */
D_CASE(221, canput_is_false_above_the_high_water_mark)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_NE(canput(q), 0);
	(void)putq(q, fx_bytes(100, 0));
	T_NE(canput(q), 0);
	(void)putq(q, fx_bytes(1, 0));
	T_EQ(canput(q), 0);
	empty(q);
}

/* bcanput(D3): each band is controlled for itself. */
D_CASE(222, bcanput_controls_bands_apart)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_bytes(101, 3));
	T_EQ(bcanput(q, 3), 0);
	T_NE(bcanput(q, 0), 0);
	T_NE(bcanput(q, 4), 0);
	empty(q);
}

/* bcanput(D3): a band not used yet takes messages. */
D_CASE(223, bcanput_of_an_unused_band_is_true)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_NE(bcanput(q, 200), 0);
}

/* canput(D3): full until the count falls below the low water mark. */
D_CASE(224, full_stays_full_down_to_the_low_water_mark)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	(void)putq(q, fx_bytes(60, 0));
	(void)putq(q, fx_bytes(30, 0));
	(void)putq(q, fx_bytes(15, 0));
	T_EQ(canput(q), 0);
	freemsg(getq(q));
	T_EQ(canput(q), 0); /* 45 */
	freemsg(getq(q));
	T_NE(canput(q), 0); /* 15 */
	empty(q);
}

/* canputnext(9F): asks the next queue that has a service procedure. */
D_CASE(225, canputnext_looks_past_queues_without_service)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	(void)fx_push(&p, 0, "pass");
	top = fx_push(&p, 0, "pass");
	(void)putq(WR(q), fx_bytes(101, 0));
	T_EQ(canputnext(WR(top)), 0);
	T_EQ(bcanputnext(WR(top), 0), 0);
	T_NE(bcanputnext(WR(top), 1), 0);
	empty(WR(q));
}

/* getq(D3): a refused queue is back-enabled when there is room. */
D_CASE(226, the_refused_is_back_enabled)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "store");
	(void)putq(WR(q), fx_bytes(101, 0));
	T_EQ(canputnext(WR(top)), 0);
	(void)fx_enabled(WR(top));
	freemsg(getq(WR(q)));
	T_TRUE(fx_enabled(WR(top)));
	(void)fx_enabled(WR(q));
}

/* Reference 3.6: getq on an empty queue back-enables none. */
D_CASE(227, getq_of_nothing_back_enables_nobody)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "store");
	(void)fx_enabled(WR(top));
	T_NULL(getq(WR(q)));
	T_FALSE(fx_enabled(WR(top)));
}

/* qenable(D3): the service procedure runs, whatever noenable said. */
D_CASE(228, qenable_runs_the_service_procedure)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	noenable(q);
	qenable(q);
	T_TRUE(fx_run(&p));
	T_EQ(fx_of(q)->services, 1);
}

/* enableq(9): not when noenable has been called. */
D_CASE(229, enableq_obeys_noenable)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	noenable(q);
	T_EQ(enableq(q), 0);
	T_FALSE(fx_enabled(q));
	enableok(q);
	T_EQ(enableq(q), 1);
	T_TRUE(fx_enabled(q));
}

/* RD(D3), WR(D3), OTHERQ(D3): the two queues of a pair. */
D_CASE(230, the_two_queues_of_a_pair)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_TRUE(RD(q) == q);
	T_TRUE(RD(WR(q)) == q);
	T_TRUE(WR(WR(q)) == WR(q));
	T_TRUE(OTHERQ(q) == WR(q));
	T_TRUE(OTHERQ(WR(q)) == q);
	T_TRUE((q->q_flag & QREADR) != 0);
	T_TRUE((WR(q)->q_flag & QREADR) == 0);
}

/* backq(D3): the queue behind. */
D_CASE(231, backq_is_the_queue_behind)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "pass");
	T_TRUE(backq(WR(q)) == WR(top));
	T_TRUE(backq(top) == q);
}

/* SAMESTR(D3): false where the stream turns, in the middle of a pipe. */
D_CASE(232, samestr_is_false_where_a_pipe_turns)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_NE(SAMESTR(q), 0);
	T_EQ(SAMESTR(WR(q)), 0);
}

static unsigned char ctl_type, ctl_byte[2];
static size_t ctl_len;
static unsigned ctl_seen;

static void
see_ctl(queue_t *q, mblk_t *mp)
{
	(void)q;
	ctl_seen++;
	ctl_type = mp->b_datap->db_type;
	ctl_len = (size_t)(mp->b_wptr - mp->b_rptr);
	if (ctl_len > 0)
		memcpy(ctl_byte, mp->b_rptr, STR_MIN(ctl_len, 2));
}

/* putctl(D3): a control message without content. */
D_CASE(233, putctl_sends_an_empty_message)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	fx_on_put = see_ctl;
	ctl_seen = 0;
	T_EQ(putctl(q, M_HANGUP), 1);
	T_EQ(ctl_seen, 1);
	T_EQ(ctl_type, M_HANGUP);
	T_EQ(ctl_len, 0);
	empty(q);
}

/* putctl1(D3), putctl2(9): with one byte, with two. */
D_CASE(234, putctl1_and_putctl2_send_bytes)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	fx_on_put = see_ctl;
	T_EQ(putctl1(q, M_FLUSH, FLUSHR), 1);
	T_EQ(ctl_type, M_FLUSH);
	T_EQ(ctl_len, 1);
	T_EQ(ctl_byte[0], FLUSHR);
	T_EQ(putctl2(q, M_ERROR, 5, 6), 1);
	T_EQ(ctl_type, M_ERROR);
	T_EQ(ctl_len, 2);
	T_EQ(ctl_byte[0], 5);
	T_EQ(ctl_byte[1], 6);
	empty(q);
}

/* putctl(D3): 0 for data types other than M_DELAY. */
D_CASE(235, putctl_refuses_data_types)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	T_EQ(putctl(q, M_DATA), 0);
	T_EQ(putctl(q, M_PROTO), 0);
	T_EQ(putctl1(q, M_PCPROTO, 1), 0);
	T_EQ(putctl1(q, M_DELAY, 1), 1);
	empty(q);
}

/* putnextctl(9F): the same, to the next queue. */
D_CASE(236, putnextctl_sends_to_the_next_queue)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "pass");
	fx_on_put = see_ctl;
	ctl_seen = 0;
	T_EQ(putnextctl(WR(top), M_STOP), 1);
	T_EQ(ctl_type, M_STOP);
	T_EQ(putnextctl1(WR(top), M_CTL, 9), 1);
	T_EQ(ctl_byte[0], 9);
	T_EQ(putnextctl2(WR(top), M_CTL, 7, 8), 1);
	T_EQ(ctl_byte[1], 8);
	T_EQ(ctl_seen, 3);
	T_EQ(fx_of(q)->puts, 3);
	T_EQ(fx_of(top)->puts, 0);
	empty(WR(q));
}

/* putctl(D3): 0 when no block can be had. */
D_CASE(237, putctl_without_memory_is_0)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	q = store(&p);
	fx_use_up();
	while (allocb(1, BPRI_HI) != NULL)
		T_FAIL("there is memory left");
	T_EQ(putctl(q, M_HANGUP), 0);
	T_EQ(putnextctl1(q, M_FLUSH, 1), 0);
}

/* qreply(D3): the message goes back the way it came. */
D_CASE(238, qreply_turns_round)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "store");
	qreply(WR(q), fx_msg("back", 0));
	FX_MSG(getq(top), "back");
	(void)fx_enabled(top);
}

/* putnext(D3): the next queue's put procedure is called, with the message. */
D_CASE(239, putnext_calls_the_next_put_procedure)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "pass");
	putnext(WR(top), fx_msg("down", 0));
	FX_MSG(getq(WR(q)), "down");
	put(WR(top), fx_msg("in", 0)); /* put(D3): this queue's own */
	T_EQ(fx_of(top)->puts, 1);
	FX_MSG(getq(WR(q)), "in");
	(void)fx_enabled(WR(q));
}

/* qcountstrm(9): bytes queued from a queue on, to the end of its side. */
D_CASE(240, qcountstrm_adds_up)
{
	static struct fx_pipe p;
	queue_t *q, *top;

	fx_begin(t);
	q = store(&p);
	top = fx_push(&p, 0, "store");
	(void)putq(WR(q), fx_bytes(5, 0));
	(void)putq(WR(top), fx_bytes(7, 0));
	T_EQ(qcountstrm(WR(top)), 12);
	T_EQ(qcountstrm(WR(q)), 5);
	empty(WR(q));
	empty(WR(top));
}

/* ---------------------------------------------------------------- welding */

/*
 * Two streams, each with a module that stands for a driver: nothing is below
 * it. The pipe's other end is put back before it is closed.
 */
static struct end {
	struct fx_pipe p;
	queue_t *q;
	queue_t *below;
} end[2];

static str_a32 welded;

static void
done(weld_arg_t arg)
{
	(void)str_add(&welded, (uint32_t)(uintptr_t)arg);
}

static void
two_ends(struct t *t)
{
	unsigned i;

	fx_begin(t);
	str_store(&welded, 0u);
	for (i = 0; i < 2; i++) {
		fx_pipe(&end[i].p);
		(void)fx_push(&end[i].p, 0, "store");
		/* the one pushed first is at the bottom */
		end[i].q = RD(end[i].p.sd[0]->qp->wq.q_next);
		end[i].below = WR(end[i].q)->q_next;
		WR(end[i].q)->q_next = NULL;
	}
}

static void
two_ends_back(void)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		WR(end[i].q)->q_next = end[i].below;
}

/* weldq(9): what goes down in one stream comes up in the other. */
D_CASE(241, weldq_connects_both_ways)
{
	queue_t *a, *b;

	two_ends(t);
	a = end[0].q;
	b = end[1].q;
	T_EQ(weldq(WR(a), b, WR(b), a, NULL, NULL, NULL), 0);
	putnext(WR(a), fx_msg("to b", 0));
	FX_MSG(getq(b), "to b");
	putnext(WR(b), fx_msg("to a", 0));
	FX_MSG(getq(a), "to a");
	(void)fx_enabled(a);
	(void)fx_enabled(b);
	T_EQ(unweldq(WR(a), b, WR(b), a, NULL, NULL, NULL), 0);
	T_NULL(WR(a)->q_next);
	T_NULL(WR(b)->q_next);
	two_ends_back();
}

/* weldq(9): flow control is that of the queue welded to. */
D_CASE(242, weldq_takes_flow_control_along)
{
	queue_t *a, *b;

	two_ends(t);
	a = end[0].q;
	b = end[1].q;
	T_EQ(weldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), 0);
	T_NE(canputnext(WR(a)), 0);
	(void)putq(b, fx_bytes(101, 0));
	T_EQ(canputnext(WR(a)), 0);
	T_NE(bcanputnext(WR(a), 1), 0);
	freemsg(getq(b));
	T_NE(canputnext(WR(a)), 0);
	(void)fx_enabled(b);
	T_EQ(unweldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), 0);
	two_ends_back();
}

/* weldq(9): the function is called when it is done. */
D_CASE(243, weldq_calls_when_it_is_done)
{
	queue_t *a, *b;

	two_ends(t);
	a = end[0].q;
	b = end[1].q;
	T_EQ(weldq(WR(a), b, WR(b), a, D_CALLED(done),
		(void *)1, NULL), 0);
	D_UNTIL(str_load(&welded) == 1);
	T_EQ(unweldq(WR(a), b, WR(b), a, D_CALLED(done),
		(void *)16, a), 0);
	D_UNTIL(str_load(&welded) == 17);
	two_ends_back();
}

/* weldq(9): EINVAL, EBUSY; unweldq(9): EINVAL for what is not welded. */
D_CASE(244, weldq_refuses_what_cannot_be)
{
	queue_t *a, *b;

	two_ends(t);
	a = end[0].q;
	b = end[1].q;
	T_EQ(weldq(NULL, b, NULL, NULL, NULL, NULL, NULL), EINVAL);
	T_EQ(weldq(a, b, NULL, NULL, NULL, NULL, NULL), EINVAL);
	T_EQ(weldq(WR(a), WR(b), NULL, NULL, NULL, NULL, NULL), EINVAL);
	T_EQ(weldq(WR(a), b, WR(b), NULL, NULL, NULL, NULL), EINVAL);
	T_NULL(WR(a)->q_next);
	T_EQ(unweldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), EINVAL);
	T_EQ(weldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), 0);
	T_EQ(weldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), EBUSY);
	T_EQ(unweldq(WR(a), a, NULL, NULL, NULL, NULL, NULL), EINVAL);
	T_EQ(unweldq(WR(a), b, NULL, NULL, NULL, NULL, NULL), 0);
	two_ends_back();
}

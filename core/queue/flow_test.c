/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Flow control: when a queue is full, which queue is back-enabled when it is
 * not full any more, and which queue is scheduled.  SVR4 DDI/DKI canput(D3),
 * putq(D3), getq(D3) and chapter "Flow Control" of the STREAMS programmer's
 * guide.
 *
 * The stream: two `store' modules on end 0 of a pipe, `up' above `down'.
 * Downstream, on the write side, `up' is behind `down' and is what gets
 * back-enabled.  Water marks are 100 and 20, see the fixture.
 */
#include "fixture.h"

static struct fx_pipe pipe_;
static queue_t *up, *down; /* write queues */

static void
two_queues(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	down = WR(fx_push(&pipe_, 0, "store"));
	up = WR(fx_push(&pipe_, 0, "store"));
	(void)fx_enabled(up);
	(void)fx_enabled(down);
}

static void
drop(queue_t *q, unsigned n)
{
	while (n-- > 0) {
		mblk_t *mp = getq(q);

		T_NOTNULL(mp);
		freemsg(mp);
	}
}

/* The queue behind was told exactly once since the last look. */
static bool
told(void)
{
	return fx_enabled(up);
}

/* QFULL */

T_CASE(a_new_queue_is_not_full)
{
	two_queues(t);
	T_FALSE(down->q_flag & QFULL);
	T_EQ(canput(down), 1);
	T_EQ(canputnext(up), 1);
	T_EQ(down->q_hiwat, 100);
	T_EQ(down->q_lowat, 20);
}

T_CASE(a_queue_at_its_high_water_mark_is_not_full)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(100, 0)), 1);
	T_FALSE(down->q_flag & QFULL);
	T_EQ(canput(down), 1);
}

T_CASE(one_byte_above_the_high_water_mark_is_full)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_TRUE(down->q_flag & QFULL);
	T_EQ(canput(down), 0);
}

T_CASE(putbq_and_insq_can_fill_a_queue_too)
{
	two_queues(t);
	T_EQ(putbq(down, fx_bytes(101, 0)), 1);
	T_TRUE(down->q_flag & QFULL);
	drop(down, 1);
	T_FALSE(down->q_flag & QFULL);
	T_EQ(insq(down, NULL, fx_bytes(101, 0)), 1);
	T_TRUE(down->q_flag & QFULL);
}

T_CASE(putq_to_a_full_queue_still_works)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(putq(down, fx_bytes(500, 0)), 1);
	T_EQ(qsize(down), 2);
}

T_CASE(a_full_queue_stays_full_down_to_the_low_water_mark)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(putq(down, fx_bytes(40, 0)), 1);
	T_EQ(putq(down, fx_bytes(20, 0)), 1);
	T_TRUE(down->q_flag & QFULL);
	drop(down, 1);			/* 60 left: below the high mark */
	T_TRUE(down->q_flag & QFULL);
	T_EQ(canput(down), 0);
	drop(down, 1);			/* 20 left: at the low mark */
	T_TRUE(down->q_flag & QFULL);
	T_EQ(canput(down), 0);
	drop(down, 1);
	T_FALSE(down->q_flag & QFULL);
	T_EQ(canput(down), 1);
}

T_CASE(below_the_low_water_mark_it_is_not_full_any_more)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(82, 0)), 1);
	T_EQ(putq(down, fx_bytes(19, 0)), 1);
	T_TRUE(down->q_flag & QFULL);
	drop(down, 1);
	T_EQ(down->q_count, 19);
	T_FALSE(down->q_flag & QFULL);
}

T_CASE(an_empty_queue_is_not_full_even_with_low_water_zero)
{
	two_queues(t);
	T_EQ(strqset(down, QLOWAT, 0, 0), 0);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(putq(down, fx_bytes(1, 0)), 1);
	drop(down, 1);
	T_TRUE(down->q_flag & QFULL);
	drop(down, 1);
	T_FALSE(down->q_flag & QFULL);
}

T_CASE(high_priority_messages_count_but_are_not_held_up)
{
	two_queues(t);
	T_EQ(putq(down, fx_type(M_PCPROTO, "pri", 0)), 1);
	T_EQ(down->q_count, 3);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(putq(down, fx_type(M_PCPROTO, "pri", 0)), 1);
	T_EQ(qsize(down), 3);
}

/* which queue canput() examines */

T_CASE(canput_looks_past_queues_without_a_service_procedure)
{
	queue_t *pass;

	two_queues(t);
	pass = WR(fx_push(&pipe_, 0, "pass"));
	T_EQ(putq(up, fx_bytes(101, 0)), 1);
	T_EQ(canput(pass), 0);
	T_EQ(canputnext(&pipe_.sd[0]->qp->wq), 0);
	T_TRUE(up->q_flag & QWANTW);
	T_FALSE(pass->q_flag & QWANTW);
}

T_CASE(canput_asks_the_first_queue_with_a_service_procedure)
{
	two_queues(t);
	/* `down' is full, `up' is not: what comes to `up' stays there */
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(canput(up), 1);
	T_EQ(canputnext(up), 0);
}

T_CASE(back_enabling_looks_past_queues_without_a_service_procedure)
{
	queue_t *src;

	fx_begin(t);
	fx_pipe(&pipe_);
	down = WR(fx_push(&pipe_, 0, "store"));
	(void)fx_push(&pipe_, 0, "pass");
	(void)fx_push(&pipe_, 0, "pass");
	src = WR(fx_push(&pipe_, 0, "store"));
	(void)fx_enabled(src);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(canputnext(src), 0);
	drop(down, 1);
	T_TRUE(fx_enabled(src));
}

/* QWANTW and back-enabling */

T_CASE(a_refused_canput_leaves_its_mark)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_FALSE(down->q_flag & QWANTW);
	T_EQ(canputnext(up), 0);
	T_TRUE(down->q_flag & QWANTW);
}

T_CASE(canput_of_a_queue_with_room_leaves_no_mark)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(100, 0)), 1);
	T_EQ(canputnext(up), 1);
	T_FALSE(down->q_flag & QWANTW);
}

T_CASE(who_was_refused_is_back_enabled_once)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(90, 0)), 1);
	T_EQ(putq(down, fx_bytes(15, 0)), 1);
	T_EQ(putq(down, fx_bytes(1, 0)), 1);
	T_EQ(canputnext(up), 0);
	drop(down, 1);
	T_TRUE(told());
	T_FALSE(down->q_flag & QWANTW);
	drop(down, 1);
	T_FALSE(told());
	drop(down, 1);
	T_FALSE(told());
	T_NULL(getq(down));
	T_FALSE(told());
}

T_CASE(who_was_not_refused_is_not_back_enabled)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	drop(down, 1);
	T_FALSE(told());
}

T_CASE(no_back_enable_between_the_marks)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(canputnext(up), 0);
	drop(down, 1);
	T_FALSE(told());
	drop(down, 1);
	T_TRUE(told());
}

T_CASE(a_queue_that_was_never_full_back_enables_nobody)
{
	unsigned i;

	two_queues(t);
	for (i = 0; i < 10; i++) {
		T_EQ(putq(down, fx_bytes(50, 0)), 1);
		T_EQ(canputnext(up), 1);
		drop(down, 1);
		T_FALSE(told());
	}
}

T_CASE(getq_on_an_empty_queue_does_not_back_enable)
{
	two_queues(t);
	T_NULL(getq(down));
	T_FALSE(told());
	/* nor when a queue had been refused and told already */
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(canputnext(up), 0);
	drop(down, 1);
	T_TRUE(told());
	T_NULL(getq(down));
	T_NULL(getq(down));
	T_FALSE(told());
}

T_CASE(the_next_refusal_is_answered_again)
{
	unsigned i;

	two_queues(t);
	for (i = 0; i < 5; i++) {
		T_EQ(putq(down, fx_bytes(101, 0)), 1);
		T_EQ(canputnext(up), 0);
		drop(down, 1);
		T_TRUE(told());
	}
}

T_CASE(rmvq_back_enables_as_getq_does)
{
	mblk_t *mp;

	two_queues(t);
	mp = fx_bytes(101, 0);
	T_EQ(putq(down, mp), 1);
	T_EQ(canputnext(up), 0);
	rmvq(down, mp);
	freemsg(mp);
	T_TRUE(told());
	T_FALSE(down->q_flag & QFULL);
}

T_CASE(flushq_back_enables_once)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(canputnext(up), 0);
	flushq(down, FLUSHALL);
	T_TRUE(told());
	flushq(down, FLUSHALL);
	T_FALSE(told());
}

T_CASE(flushq_of_a_queue_that_was_not_full_back_enables_nobody)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	flushq(down, FLUSHALL);
	T_FALSE(told());
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	flushq(down, FLUSHALL); /* full, but none had asked */
	T_FALSE(told());
}

T_CASE(flushq_that_leaves_the_queue_full_back_enables_nobody)
{
	mblk_t *mp;

	two_queues(t);
	mp = fx_bytes(101, 0);
	mp->b_datap->db_type = M_CTL;
	T_EQ(putq(down, mp), 1);
	T_EQ(putq(down, fx_bytes(60, 0)), 1);
	T_EQ(canputnext(up), 0);
	flushq(down, FLUSHDATA);
	T_EQ(qsize(down), 1);
	T_TRUE(down->q_flag & QFULL);
	T_FALSE(told());
	drop(down, 1);
	T_TRUE(told());
}

T_CASE(back_enabling_marks_the_queue_that_is_told)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(canputnext(up), 0);
	drop(down, 1);
	T_TRUE(up->q_flag & QBACK);
	(void)told();
}

T_CASE(back_enabling_works_through_noenable)
{
	/* SVR4 noenable(D3): back-enabling and qenable() are not prevented */
	two_queues(t);
	noenable(up);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(canputnext(up), 0);
	drop(down, 1);
	T_TRUE(told());
}

/* bands */

T_CASE(a_full_band_does_not_hold_up_others)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 3)), 1);
	T_EQ(bcanputnext(up, 3), 0);
	T_EQ(bcanputnext(up, 0), 1);
	T_EQ(bcanputnext(up, 2), 1);
	T_EQ(bcanputnext(up, 4), 1);
	T_EQ(canputnext(up), 1);
}

T_CASE(a_full_band_zero_does_not_hold_up_bands)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(bcanputnext(up, 0), 0);
	T_EQ(bcanputnext(up, 1), 1);
}

T_CASE(a_band_that_was_never_used_has_room)
{
	two_queues(t);
	T_EQ(bcanputnext(up, 255), 1);
}

T_CASE(a_band_has_the_marks_of_its_queue)
{
	long v;

	two_queues(t);
	T_EQ(putq(down, fx_bytes(100, 1)), 1);
	T_EQ(bcanput(down, 1), 1);
	T_EQ(putq(down, fx_bytes(1, 1)), 1);
	T_EQ(bcanput(down, 1), 0);
	T_EQ(strqget(down, QHIWAT, 1, &v), 0);
	T_EQ(v, 100);
	T_EQ(strqget(down, QLOWAT, 1, &v), 0);
	T_EQ(v, 20);
}

T_CASE(a_band_has_hysteresis_of_its_own)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(60, 1)), 1);
	T_EQ(putq(down, fx_bytes(40, 1)), 1);
	T_EQ(putq(down, fx_bytes(10, 1)), 1);
	T_EQ(bcanput(down, 1), 0);
	drop(down, 1);
	T_EQ(bcanput(down, 1), 0);
	drop(down, 1);
	T_EQ(bcanput(down, 1), 1);
}

T_CASE(a_band_back_enables_once)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(putq(down, fx_bytes(1, 2)), 1);
	T_EQ(bcanputnext(up, 2), 0);
	drop(down, 1);
	T_TRUE(told());
	drop(down, 1);
	T_FALSE(told());
}

T_CASE(a_band_that_nobody_asked_for_back_enables_nobody)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(bcanputnext(up, 1), 1);
	drop(down, 1);
	T_FALSE(told());
}

T_CASE(bands_are_told_apart)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(putq(down, fx_bytes(101, 0)), 1);
	T_EQ(bcanputnext(up, 0), 0);
	drop(down, 1); /* band 2, which none wanted */
	T_FALSE(told());
	drop(down, 1);
	T_TRUE(told());
}

T_CASE(flushband_back_enables_for_its_band)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(putq(down, fx_bytes(101, 3)), 1);
	T_EQ(bcanputnext(up, 2), 0);
	flushband(down, 3, FLUSHALL);
	T_FALSE(told());
	flushband(down, 2, FLUSHALL);
	T_TRUE(told());
}

T_CASE(any_band_is_writable_while_one_is_not_full)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(bcanputnextany(up), 0);
	T_EQ(putq(down, fx_bytes(1, 3)), 1);
	T_EQ(bcanputnextany(up), 1);
	T_EQ(bcanputany(down), 1);
	T_EQ(bcanput(down, ANYBAND), 1);
}

T_CASE(the_number_of_full_bands_is_kept)
{
	two_queues(t);
	T_EQ(putq(down, fx_bytes(101, 2)), 1);
	T_EQ(putq(down, fx_bytes(101, 3)), 1);
	T_EQ(down->q_blocked, 2);
	drop(down, 1);
	T_EQ(down->q_blocked, 1);
	flushq(down, FLUSHALL);
	T_EQ(down->q_blocked, 0);
}

/* QWANTR, noenable: what is scheduled */

T_CASE(the_first_message_schedules_a_queue_that_was_found_empty)
{
	two_queues(t);
	T_NULL(getq(down));
	T_TRUE(down->q_flag & QWANTR);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(a_new_queue_is_scheduled_by_its_first_message)
{
	two_queues(t);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(the_second_message_does_not_schedule)
{
	two_queues(t);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	(void)fx_enabled(down);
	T_EQ(putq(down, fx_msg("b", 0)), 1);
	T_FALSE(fx_enabled(down));
}

T_CASE(a_queue_that_is_being_read_is_not_scheduled)
{
	two_queues(t);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	(void)fx_enabled(down);
	drop(down, 1); /* it has not yet seen that it is empty */
	T_FALSE(down->q_flag & QWANTR);
	T_EQ(putq(down, fx_msg("b", 0)), 1);
	T_FALSE(fx_enabled(down));
	drop(down, 1);
	T_NULL(getq(down));
	T_EQ(putq(down, fx_msg("c", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(a_band_that_becomes_first_schedules)
{
	two_queues(t);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	(void)fx_enabled(down);
	T_EQ(putq(down, fx_msg("b", 1)), 1);
	T_TRUE(fx_enabled(down));
	T_EQ(putq(down, fx_msg("c", 1)), 1);
	T_FALSE(fx_enabled(down));
}

T_CASE(high_priority_always_schedules)
{
	two_queues(t);
	T_EQ(putq(down, fx_type(M_PCPROTO, "a", 0)), 1);
	T_TRUE(fx_enabled(down));
	T_EQ(putq(down, fx_type(M_PCPROTO, "b", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(noenable_keeps_ordinary_messages_from_scheduling)
{
	two_queues(t);
	noenable(down);
	T_EQ(canenable(down), 0);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	T_EQ(putq(down, fx_msg("b", 4)), 1);
	T_FALSE(fx_enabled(down));
}

T_CASE(noenable_does_not_stop_high_priority)
{
	two_queues(t);
	noenable(down);
	T_EQ(putq(down, fx_type(M_PCPROTO, "a", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(noenable_does_not_stop_qenable)
{
	two_queues(t);
	noenable(down);
	qenable(down);
	T_TRUE(fx_enabled(down));
}

T_CASE(enableok_undoes_noenable)
{
	two_queues(t);
	noenable(down);
	enableok(down);
	T_NE(canenable(down), 0);
	T_EQ(putq(down, fx_msg("a", 0)), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(enableq_respects_noenable)
{
	two_queues(t);
	noenable(down);
	(void)enableq(down);
	T_FALSE(fx_enabled(down));
	enableok(down);
	T_EQ(enableq(down), 1);
	T_TRUE(fx_enabled(down));
}

T_CASE(putbq_of_an_ordinary_message_does_not_schedule)
{
	two_queues(t);
	T_NULL(getq(down));
	T_EQ(putbq(down, fx_msg("a", 0)), 1);
	T_EQ(putbq(down, fx_msg("b", 3)), 1);
	T_FALSE(fx_enabled(down));
}

T_CASE(a_queue_without_a_service_procedure_is_never_scheduled)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pass");
	T_EQ(putq(q, fx_type(M_PCPROTO, "a", 0)), 1);
	qenable(q);
	T_FALSE(fx_enabled(q));
	FX_MSG(getq(q), "a");
}

/* canget */

T_CASE(canget_tells_whether_the_queue_behind_has_something)
{
	two_queues(t);
	T_EQ(canget(down), 0);
	T_EQ(putq(up, fx_msg("a", 0)), 1);
	T_NE(canget(down), 0);
	T_EQ(bcanget(down, 2), 0);
	T_EQ(putq(up, fx_msg("b", 2)), 1);
	T_NE(bcanget(down, 2), 0);
	T_NE(bcangetany(down), 0);
}

/* walking */

T_CASE(the_two_queues_of_a_pair_know_each_other)
{
	two_queues(t);
	T_TRUE(RD(down) == RD(RD(down)));
	T_TRUE(WR(RD(down)) == down);
	T_TRUE(OTHERQ(down) == RD(down));
	T_TRUE(OTHERQ(OTHERQ(down)) == down);
	T_TRUE(RD(down)->q_flag & QREADR);
	T_FALSE(down->q_flag & QREADR);
}

T_CASE(backq_is_the_queue_behind)
{
	two_queues(t);
	T_TRUE(up->q_next == down);
	T_TRUE(backq(down) == up);
	T_TRUE(RD(down)->q_next == RD(up));
	T_TRUE(backq(RD(up)) == RD(down));
}

T_CASE(samestr_sees_the_turn_in_the_middle_of_a_pipe)
{
	two_queues(t);
	T_TRUE(SAMESTR(up));
	T_FALSE(SAMESTR(down)); /* the next one is a read queue */
	T_TRUE(SAMESTR(RD(down)));
}

T_CASE(qcountstrm_adds_up_the_queues_of_a_side)
{
	two_queues(t);
	T_EQ(putq(up, fx_bytes(10, 0)), 1);
	T_EQ(putq(down, fx_bytes(30, 0)), 1);
	T_EQ(qcountstrm(up), 40);
	T_EQ(qcountstrm(down), 30);
}

/*
 * Random traffic against the rules, restated: full above hiwat, not full at
 * zero or below lowat, told iff full, wanted, and emptied.
 */
T_CASE(random_traffic_obeys_the_rules)
{
	size_t len[64];
	unsigned head = 0, tail = 0, round;
	size_t count = 0;
	bool full = false, want = false;

	two_queues(t);
	for (round = 0; round < 20000; round++) {
		bool expect = false;

		switch (t_rand_below(3)) {
		case 0:
			if (tail - head == 64)
				break;
			len[tail % 64] = t_rand_below(40);
			T_EQ(putq(down, fx_bytes(len[tail % 64], 0)), 1);
			count += len[tail++ % 64];
			if (count > 100)
				full = true;
			break;
		case 1:
			T_EQ(canputnext(up), !full);
			if (full)
				want = true;
			break;
		case 2:
			if (head == tail) {
				T_NULL(getq(down));
				break;
			}
			drop(down, 1);
			count -= len[head++ % 64];
			if (full && (count == 0 || count < 20)) {
				full = false;
				expect = want;
				want = false;
			}
			break;
		}
		T_EQ(told(), expect);
		T_EQ(down->q_count, count);
		T_EQ((down->q_flag & QFULL) != 0, full);
		(void)fx_enabled(down);
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * put, putnext, qreply, the putctl family, and perimeters.
 */
#include "fixture.h"

static struct fx_pipe pipe_;

T_CASE(putnext_goes_to_the_next_queue)
{
	queue_t *below, *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	putnext(WR(above), fx_msg("down", 0));
	putnext(below, fx_msg("up", 0));
	FX_MSG(getq(WR(below)), "down");
	FX_MSG(getq(above), "up");
}

T_CASE(put_calls_the_procedure_of_the_queue_named)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	put(q, fx_msg("a", 0));
	T_EQ(fx_of(q)->puts, 1);
	FX_MSG(getq(q), "a");
}

T_CASE(qreply_goes_back_where_the_message_came_from)
{
	queue_t *below, *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	qreply(WR(below), fx_msg("reply", 0));
	FX_MSG(getq(above), "reply");
	qreply(above, fx_msg("down", 0));
	FX_MSG(getq(WR(below)), "down");
}

T_CASE(what_leaves_the_last_module_arrives_at_the_other_head)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pass");
	putnext(WR(q), fx_msg("across", 0));
	T_EQ(str_headq_records(&pipe_.sd[1]->hq, 0), 1);
	T_EQ(str_headq_records(&pipe_.sd[0]->hq, 0), 0);
}

T_CASE(across_a_pipe_it_goes_up_the_other_side)
{
	queue_t *a, *b;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 1, "store");
	putnext(&pipe_.sd[0]->qp->wq, fx_msg("across", 0));
	T_EQ(fx_of(a)->puts, 1);
	FX_MSG(getq(b), "across");
	T_NULL(getq(WR(b)));
}

/* putctl */

static const struct {
	const char *label;
	int (*call)(queue_t *q, int type);
} ctl_row[] = {
	{"putctl", putctl}, {"putnextctl", putnextctl},
};

T_CASE(putctl_makes_an_empty_message_of_the_type)
{
	queue_t *below, *above;
	unsigned i;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	for (i = 0; i < STR_ARRAY_LEN(ctl_row); i++) {
		queue_t *from = ctl_row[i].call == putctl ? WR(below) :
			WR(above);
		mblk_t *mp;

		T_EQ(ctl_row[i].call(from, M_HANGUP), 1);
		mp = getq(WR(below));
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, M_HANGUP);
		T_EQ(mp->b_wptr - mp->b_rptr, 0);
		freemsg(mp);
	}
}

T_CASE(putctl1_and_putctl2_carry_their_bytes)
{
	queue_t *below, *above;
	mblk_t *mp;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	T_EQ(putctl1(WR(below), M_PCSIG, 15), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_datap->db_type, M_PCSIG);
	T_EQ(mp->b_wptr - mp->b_rptr, 1);
	T_EQ(mp->b_rptr[0], 15);
	freemsg(mp);
	T_EQ(putctl2(WR(below), M_ERROR, 5, NOERROR), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_wptr - mp->b_rptr, 2);
	T_EQ(mp->b_rptr[0], 5);
	T_EQ(mp->b_rptr[1], NOERROR);
	freemsg(mp);
	T_EQ(putnextctl1(WR(above), M_FLUSH, FLUSHW), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_rptr[0], FLUSHW);
	freemsg(mp);
	T_EQ(putnextctl2(WR(above), M_ERROR, 1, 2), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_rptr[1], 2);
	freemsg(mp);
}

T_CASE(putctl_refuses_data_types_but_m_delay)
{
	static const struct {
		int type, ok;
	} row[] = {
		{M_DATA, 0}, {M_PROTO, 0}, {M_PCPROTO, 0}, {M_DELAY, 1},
		{M_CTL, 1}, {M_SIG, 1},
	};
	queue_t *q;
	unsigned i;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		T_EQ(putctl(q, row[i].type), row[i].ok);
		T_EQ(putctl1(q, row[i].type, 1), row[i].ok);
	}
	T_EQ(qsize(q), 6);
}

/* perimeters */

static queue_t *pair_q;
static unsigned bounced;

/* The put procedure of a module that is entered again by its own message. */
static void
bounce(queue_t *q, mblk_t *mp)
{
	if (bounced++ < 3) {
		putctl1(pair_q, M_CTL, (int)bounced);
		T_EQ(fx_of(q)->inside, 1);
	}
	(void)mp;
}

T_CASE(a_module_with_a_perimeter_is_not_entered_twice_by_one_thread)
{
	queue_t *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	pair_q = fx_push(&pipe_, 0, "pair");
	above = fx_push(&pipe_, 0, "store");
	fx_on_put = bounce;
	put(pair_q, fx_type(M_CTL, "first", 0));
	T_EQ(fx_of(pair_q)->overlap, 1);
	T_EQ(qsize(above), 4);
	FX_MSG(getq(above), "first");
	FX_MSG(getq(above), "\001");
	FX_MSG(getq(above), "\002");
	FX_MSG(getq(above), "\003");
}

#define SENDERS 4
#define EACH 40

static void
sender(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;
	struct host_call hc = {.fd = -1};

	for (i = 0; i < EACH; i++) {
		mblk_t *mp;

		T_EQ(host_enter(&hc), 0);
		T_EQ(str_claim(pipe_.pl), 0);
		mp = allocb(2, BPRI_MED);
		*mp->b_wptr++ = (unsigned char)id;
		*mp->b_wptr++ = (unsigned char)i;
		putnext(&pipe_.sd[0]->qp->wq, mp);
		(void)str_sched_run(pipe_.pl);
		str_unclaim(pipe_.pl);
		host_leave();
	}
}

static void
drive(const char *module, unsigned *overlap)
{
	unsigned next[SENDERS] = {0}, i, got = 0;
	queue_t *q, *sink;
	mblk_t *mp;

	fx_pipe(&pipe_);
	sink = fx_push(&pipe_, 1, "store");
	q = fx_push(&pipe_, 0, module);
	strqset(WR(q), QHIWAT, 0, 1 << 20);
	strqset(sink, QHIWAT, 0, 1 << 20);
	for (i = 0; i < SENDERS; i++)
		(void)sim_spawn("sender", sender, (void *)(uintptr_t)i);
	T_EQ(sim_run(), 0);
	while (fx_run(&pipe_))
		;
	while ((mp = getq(sink)) != NULL) {
		unsigned id = mp->b_rptr[0];

		T_LT(id, SENDERS);
		T_EQ(mp->b_rptr[1], next[id]);
		next[id]++;
		got++;
		freemsg(mp);
	}
	T_EQ(got, SENDERS * EACH);
	*overlap = fx_of(q)->overlap;
}

T_CASE_TIMEOUT(a_perimeter_lets_one_thread_in_and_keeps_order, 60)
{
	unsigned seed, overlap;

	for (seed = 1; seed <= 100; seed++) {
		fx_begin_seed(t->seed + seed);
		drive(seed % 2 ? "pair" : "pairsrv", &overlap);
		if (overlap != 1)
			T_FAIL("seed %llu: %u threads inside",
				(unsigned long long)(t->seed + seed),
				overlap);
		fx_end();
	}
}

T_CASE_TIMEOUT(a_module_without_one_is_entered_by_many, 60)
{
	unsigned seed, overlap, most = 0;

	for (seed = 1; seed <= 40; seed++) {
		fx_begin_seed(t->seed + seed);
		drive("pass", &overlap);
		most = STR_MAX(most, overlap);
		fx_end();
	}
	T_GT(most, 1);
}

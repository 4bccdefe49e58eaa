/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pipemod, nullmod and srvmod, each between two modules that keep what they
 * get: what comes in, and what goes out.
 */
#include "fixture.h"

static struct fx_pipe pipe_;
static queue_t *above, *below; /* read queues; the module lies between */

static void
between(struct t *t, const char *module)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	(void)fx_push(&pipe_, 0, module);
	above = fx_push(&pipe_, 0, "store");
}

static mblk_t *
flush_msg(unsigned flags, int band)
{
	mblk_t *mp = allocb(2, BPRI_HI);

	mp->b_datap->db_type = M_FLUSH;
	*mp->b_wptr++ = (unsigned char)flags;
	if (band >= 0)
		*mp->b_wptr++ = (unsigned char)band;
	return mp;
}

static const struct {
	unsigned in, out;
} flush_row[] = {
	{FLUSHR, FLUSHW}, {FLUSHW, FLUSHR}, {FLUSHRW, FLUSHRW}, {0, 0},
	{FLUSHR | FLUSHBAND, FLUSHW | FLUSHBAND},
	{FLUSHW | FLUSHBAND, FLUSHR | FLUSHBAND},
	{FLUSHRW | FLUSHBAND, FLUSHRW | FLUSHBAND},
};

T_CASE(pipemod_reverses_m_flush_in_both_directions)
{
	unsigned i;

	between(t, "pipemod");
	for (i = 0; i < STR_ARRAY_LEN(flush_row); i++) {
		mblk_t *mp;

		putnext(WR(above), flush_msg(flush_row[i].in, 7));
		mp = getq(WR(below));
		T_NOTNULL(mp);
		T_EQ(mp->b_rptr[0], flush_row[i].out);
		T_EQ(mp->b_rptr[1], 7);
		freemsg(mp);
		putnext(below, flush_msg(flush_row[i].in, 7));
		mp = getq(above);
		T_NOTNULL(mp);
		T_EQ(mp->b_rptr[0], flush_row[i].out);
		T_EQ(mp->b_rptr[1], 7);
		freemsg(mp);
	}
}

T_CASE(pipemod_keeps_msgnoloop_and_reverses_all_the_same)
{
	mblk_t *mp;

	between(t, "pipemod");
	mp = flush_msg(FLUSHW, -1);
	mp->b_flag |= MSGNOLOOP;
	putnext(below, mp);
	mp = getq(above);
	T_EQ(mp->b_rptr[0], FLUSHR);
	T_TRUE(mp->b_flag & MSGNOLOOP);
	freemsg(mp);
}

T_CASE(pipemod_takes_an_empty_m_flush)
{
	mblk_t *mp = NULL;

	between(t, "pipemod");
	mp = allocb(1, BPRI_HI);
	mp->b_datap->db_type = M_FLUSH;
	putnext(WR(above), mp);
	mp = getq(WR(below));
	T_EQ(mp->b_wptr - mp->b_rptr, 0);
	freemsg(mp);
}

static const char *const transparent[] = {"nullmod", "pipemod", "testmod"};

T_CASE(the_others_pass_every_type_and_band_at_once)
{
	static const unsigned char type[] = {
		M_DATA, M_PROTO, M_BREAK, M_SIG, M_DELAY, M_CTL, M_SETOPTS,
		M_IOCACK, M_PCPROTO, M_PCSIG, M_READ, M_HANGUP, M_ERROR,
	};
	unsigned i, k;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	for (k = 0; k < STR_ARRAY_LEN(transparent); k++)
		(void)fx_push(&pipe_, 0, transparent[k]);
	above = fx_push(&pipe_, 0, "store");
	for (i = 0; i < STR_ARRAY_LEN(type); i++) {
		mblk_t *mp;

		putnext(WR(above), fx_type(type[i], "x", i % 4));
		mp = getq(WR(below));
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, type[i]);
		FX_MSG(mp, "x");
		putnext(below, fx_type(type[i], "y", i % 4));
		mp = getq(above);
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, type[i]);
		FX_MSG(mp, "y");
	}
}

T_CASE(nullmod_leaves_m_flush_as_it_is)
{
	mblk_t *mp;

	between(t, "nullmod");
	putnext(WR(above), flush_msg(FLUSHR, -1));
	mp = getq(WR(below));
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
}

/* srvmod */

static queue_t *
srv_queue(void)
{
	return WR(above)->q_next;
}

T_CASE(srvmod_queues_ordinary_messages)
{
	between(t, "srvmod");
	putnext(WR(above), fx_msg("a", 0));
	T_NULL(getq(WR(below)));
	T_EQ(qsize(srv_queue()), 1);
	T_TRUE(fx_run(&pipe_));
	FX_MSG(getq(WR(below)), "a");
	putnext(below, fx_msg("b", 0));
	T_NULL(getq(above));
	T_TRUE(fx_run(&pipe_));
	FX_MSG(getq(above), "b");
}

T_CASE(srvmod_passes_priority_messages_at_once)
{
	between(t, "srvmod");
	putnext(WR(above), fx_msg("a", 0));
	putnext(WR(above), fx_type(M_PCPROTO, "p", 0));
	FX_MSG(getq(WR(below)), "p");
	T_NULL(getq(WR(below)));
}

T_CASE(srvmod_sends_no_more_than_the_next_queue_takes)
{
	unsigned i;

	between(t, "srvmod");
	for (i = 0; i < 10; i++)
		putnext(WR(above), fx_bytes(30, 0));
	(void)fx_run(&pipe_);
	T_EQ(qsize(WR(below)), 4);
	T_EQ(qsize(srv_queue()), 6);
	flushq(WR(below), FLUSHALL);
	(void)fx_run(&pipe_);
	T_EQ(qsize(WR(below)), 4);
	T_EQ(qsize(srv_queue()), 2);
}

T_CASE(srvmod_keeps_order_when_it_must_wait)
{
	static const char *const text[] = {"0", "1", "2", "3", "4", "5"};
	unsigned i, got = 0;
	mblk_t *mp;

	between(t, "srvmod");
	strqset(WR(below), QHIWAT, 0, 1);
	strqset(WR(below), QLOWAT, 0, 1);
	for (i = 0; i < 6; i++)
		putnext(WR(above), fx_msg(text[i], 0));
	for (;;) {
		(void)fx_run(&pipe_);
		if ((mp = getq(WR(below))) == NULL)
			break;
		FX_MSG(mp, text[got++]);
	}
	T_EQ(got, 6);
}

T_CASE(srvmod_flushes_the_sides_an_m_flush_names)
{
	static const struct {
		unsigned flags;
		int wleft, rleft;
	} row[] = {
		{FLUSHW, 0, 1}, {FLUSHR, 1, 0}, {FLUSHRW, 0, 0},
	};
	unsigned i;

	between(t, "srvmod");
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		queue_t *w = srv_queue();

		putnext(WR(above), fx_msg("w", 0));
		putnext(below, fx_msg("r", 0));
		putnext(WR(above), flush_msg(row[i].flags, -1));
		T_EQ(qsize(w), row[i].wleft);
		T_EQ(qsize(RD(w)), row[i].rleft);
		flushq(w, FLUSHALL);
		flushq(RD(w), FLUSHALL);
		freemsg(getq(WR(below))); /* the M_FLUSH went on */
		T_EQ(qsize(WR(below)), 0);
		/* the same when it comes from below */
		putnext(WR(above), fx_msg("w", 0));
		putnext(below, fx_msg("r", 0));
		putnext(below, flush_msg(row[i].flags, -1));
		T_EQ(qsize(w), row[i].wleft);
		T_EQ(qsize(RD(w)), row[i].rleft);
		flushq(w, FLUSHALL);
		flushq(RD(w), FLUSHALL);
		freemsg(getq(above));
		T_EQ(qsize(above), 0);
	}
}

T_CASE(srvmod_flushes_one_band_with_flushband)
{
	queue_t *w;

	between(t, "srvmod");
	w = srv_queue();
	putnext(WR(above), fx_msg("a", 0));
	putnext(WR(above), fx_msg("b", 3));
	putnext(WR(above), flush_msg(FLUSHW | FLUSHBAND, 3));
	T_EQ(qsize(w), 1);
	FX_MSG(getq(w), "a");
}

T_CASE(srvmod_holds_bands_back_each_for_itself)
{
	between(t, "srvmod");
	T_EQ(putq(WR(below), fx_bytes(101, 0)), 1);
	putnext(WR(above), fx_msg("high", 5));
	putnext(WR(above), fx_msg("low", 0));
	(void)fx_run(&pipe_);
	FX_MSG(getq(WR(below)), "high");
	T_EQ(qsize(srv_queue()), 1);
}

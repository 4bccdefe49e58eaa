/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * spx: spx(4).
 */
#include "drvfix.h"

extern const struct str_builtin str_drv_spx;

static struct dv a, b, third;

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_spx);
	T_EQ(dv_open(&a, "spx", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&b, "spx", 0, CLONEOPEN), 0);
}

/* What I_FDINSERT of @of makes, in @type. */
static mblk_t *
token(struct dv *of, unsigned type)
{
	uint32_t tok = (uint32_t)(uintptr_t)of->rq;
	mblk_t *mp = allocb(sizeof(tok), BPRI_MED);

	memcpy(mp->b_wptr, &tok, sizeof(tok));
	mp->b_wptr += sizeof(tok);
	mp->b_datap->db_type = (unsigned char)type;
	return mp;
}

static void
paired(struct t *t)
{
	begin(t);
	dv_down(&a, token(&b, M_PROTO));
	T_NULL(dv_up(&a));
	T_NULL(dv_up(&b));
}

T_CASE(a_stream_alone_sends_back)
{
	begin(t);
	T_EQ(a.minor, 1);
	T_EQ(b.minor, 2);
	dv_down(&a, fx_msg("text", 0));
	FX_MSG(dv_up(&a), "text");
	T_NULL(dv_up(&b));
	dv_down(&a, fx_type(M_PROTO, "no token", 0));
	FX_MSG(dv_up_type(&a, M_PROTO), "no token");
}

T_CASE(a_token_pairs_both_ways)
{
	paired(t);
	dv_down(&a, fx_msg("there", 0));
	FX_MSG(dv_up(&b), "there");
	T_NULL(dv_up(&a));
	dv_down(&b, fx_type(M_PROTO, "back", 0));
	FX_MSG(dv_up_type(&a, M_PROTO), "back");
	dv_down(&b, fx_type(M_PCPROTO, "high", 0));
	FX_MSG(dv_up_type(&a, M_PCPROTO), "high");
}

T_CASE(a_token_of_high_priority_pairs_too)
{
	begin(t);
	dv_down(&a, token(&b, M_PCPROTO));
	dv_down(&b, fx_msg("there", 0));
	FX_MSG(dv_up(&a), "there");
}

T_CASE(a_stream_is_not_paired_twice_nor_with_itself)
{
	begin(t);
	dv_down(&a, token(&a, M_PROTO));
	freemsg(dv_up_type(&a, M_PROTO));
	dv_down(&a, token(&b, M_PROTO));
	T_EQ(dv_open(&third, "spx", 9, DRVOPEN), 0);
	dv_down(&third, token(&a, M_PROTO));
	freemsg(dv_up_type(&third, M_PROTO));
	dv_down(&a, token(&third, M_PROTO));
	freemsg(dv_up_type(&b, M_PROTO));
	dv_down(&a, fx_msg("there", 0));
	FX_MSG(dv_up(&b), "there");
}

T_CASE(waits_for_room_and_goes_on)
{
	char text[8];
	unsigned i;

	paired(t);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		dv_down(&a, fx_msg(text, 0));
	}
	T_GT(qsize(WR(a.rq)), 20);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		FX_MSG(dv_up(&b), text);
		dv_run(&a);
	}
	T_NULL(dv_up(&b));
}

T_CASE(close_hangs_the_other_up)
{
	paired(t);
	dv_close(&a);
	freemsg(dv_up_type(&b, M_HANGUP));
	/* alone again */
	dv_down(&b, fx_msg("text", 0));
	FX_MSG(dv_up(&b), "text");
}

T_CASE(flushing_what_is_written_flushes_what_the_other_reads)
{
	mblk_t *mp;

	paired(t);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("void", 0));
	T_EQ(qsize(WR(a.rq)), 1);
	dv_down(&a, fx_type(M_FLUSH, "\002", 0));
	T_EQ(qsize(WR(a.rq)), 0);
	mp = dv_up_type(&b, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
	T_NULL(dv_up(&a));
	freemsg(dv_up(&b));
	/* and what is read flushes what the other has written */
	dv_down(&b, fx_bytes(120, 0));
	dv_down(&b, fx_msg("void", 0));
	dv_down(&a, fx_type(M_FLUSH, "\001", 0));
	T_EQ(qsize(WR(b.rq)), 0);
	freemsg(dv_up_type(&a, M_FLUSH));
	T_NULL(dv_up(&b));
}

T_CASE(ioctls_are_refused)
{
	paired(t);
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
}

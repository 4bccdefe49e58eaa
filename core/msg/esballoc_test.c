/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * esballoc: SVR4 DDI/DKI section D3.
 */
#include "fixture.h"

static unsigned freed;
static char freed_arg[16];

static void
note_free(char *arg)
{
	freed++;
	snprintf(freed_arg, sizeof(freed_arg), "%s", arg);
}

T_CASE(esballoc_uses_the_buffer_given)
{
	static unsigned char buf[32];
	frtn_t frtn = {note_free, (char *)"arg"};
	mblk_t *mp;

	fx_begin(t);
	mp = esballoc(buf, sizeof(buf), BPRI_LO, &frtn);
	T_NOTNULL(mp);
	T_TRUE(mp->b_datap->db_base == buf);
	T_TRUE(mp->b_datap->db_lim == buf + sizeof(buf));
	T_TRUE(mp->b_rptr == buf && mp->b_wptr == buf);
	T_EQ(mp->b_datap->db_type, M_DATA);
	freeb(mp);
}

T_CASE(esballoc_buffer_is_freed_once_with_its_argument)
{
	static unsigned char buf[32];
	frtn_t frtn = {note_free, (char *)"arg"};
	mblk_t *mp, *dup;

	fx_begin(t);
	mp = esballoc(buf, sizeof(buf), BPRI_LO, &frtn);
	dup = dupb(mp);
	freeb(mp);
	T_EQ(freed, 0);
	freeb(dup);
	T_EQ(freed, 1);
	T_STR(freed_arg, "arg");
	T_EQ(fx_messages(), 0);
}

T_CASE(esballoc_copies_the_free_routine)
{
	static unsigned char buf[8];
	frtn_t *frtn = malloc(sizeof(*frtn));
	mblk_t *mp;

	fx_begin(t);
	frtn->free_func = note_free;
	frtn->free_arg = (char *)"kept";
	mp = esballoc(buf, sizeof(buf), BPRI_LO, frtn);
	memset(frtn, 0, sizeof(*frtn));
	free(frtn);
	freeb(mp);
	T_EQ(freed, 1);
	T_STR(freed_arg, "kept");
}

T_CASE(esballoc_without_a_buffer_or_routine_is_refused)
{
	static unsigned char buf[8];
	frtn_t frtn = {note_free, NULL};

	fx_begin(t);
	T_NULL(esballoc(NULL, 8, BPRI_LO, &frtn));
	T_NULL(esballoc(buf, 8, BPRI_LO, NULL));
	T_EQ(fx_messages(), 0);
}

T_CASE(a_queued_outside_buffer_is_replaced_by_a_copy)
{
	static unsigned char buf[] = "outside";
	static struct fx_pipe p;
	frtn_t frtn = {note_free, (char *)"arg"};
	mblk_t *mp;
	queue_t *q;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "store");
	mp = esballoc(buf, 7, BPRI_LO, &frtn);
	mp->b_wptr += 7;
	T_EQ(putq(q, mp), 1);
	T_EQ(freed, 1);
	memset(buf, 'x', 7);
	mp = getq(q);
	T_FALSE(mp->b_datap->db_base == buf);
	FX_MSG(mp, "outside");
	T_EQ(freed, 1);
}

T_CASE(a_refused_outside_message_is_as_it_was)
{
	static unsigned char buf[] = "outside";
	static struct fx_pipe p;
	frtn_t frtn = {note_free, (char *)"arg"};
	mblk_t *mp;
	queue_t *q;
	void *keep;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "store");
	mp = esballoc(buf, 7, BPRI_LO, &frtn);
	mp->b_wptr += 7;
	mp->b_cont = esballoc(buf, 7, BPRI_LO, &frtn);
	mp->b_cont->b_wptr += 7;
	/* memory for one of the two copies */
	keep = allocb(7, BPRI_LO);
	fx_use_up();
	freeb(keep);
	T_EQ(putq(q, mp), 0);
	T_EQ(freed, 0);
	T_TRUE(mp->b_datap->db_base == buf);
	T_TRUE(mp->b_cont->b_datap->db_base == buf);
	fx_give_back();
	FX_MSG(mp, "outsideoutside");
	T_EQ(freed, 2);
}

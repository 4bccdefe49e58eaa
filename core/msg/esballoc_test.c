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

static unsigned char inside_buf[] = "inside";
static unsigned came;

/* What comes after it had to wait has no buffer of this process any more. */
static void
look(mblk_t *mp)
{
	came++;
	T_EQ(freed, 1);
	T_FALSE(mp->b_datap->db_base == inside_buf);
}

static mblk_t *
outside_msg(void)
{
	static frtn_t frtn = {note_free, (char *)"arg"};
	mblk_t *mp = esballoc(inside_buf, 6, BPRI_LO, &frtn);

	T_NOTNULL(mp);
	mp->b_wptr += 6;
	return mp;
}

static void
put_again(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type != M_CTL)
		look(mp);
	else
		put(q, outside_msg()); /* this thread is inside */
}

T_CASE(an_outside_buffer_that_waits_for_a_perimeter_is_copied)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "pair");
	fx_on_put = put_again;
	put(q, fx_type(M_CTL, "first", 0));
	T_EQ(came, 1);
}

static void
be_inside(void *arg)
{
	put(arg, fx_type(M_CTL, "stay", 0));
}

static void
stay(queue_t *q, mblk_t *mp)
{
	(void)q;
	(void)mp;
	sim_sleep(10000000);
}

static void
writer(queue_t *q, mblk_t *mp)
{
	(void)q;
	look(mp);
	freemsg(mp);
}

T_CASE(an_outside_buffer_that_waits_for_qwriter_is_copied)
{
	static struct fx_pipe p;
	queue_t *q;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "pair");
	fx_on_put = stay;
	(void)sim_spawn("inside", be_inside, q);
	sim_sleep(1000000);
	qwriter(q, outside_msg(), writer, PERIM_INNER);
	T_EQ(came, 0);
	T_EQ(sim_run(), 0);
	T_EQ(came, 1);
}

static struct str_plumb *at_work;

static void
plumber(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	str_plumb_lock(at_work);
	sim_sleep(10000000);
	str_plumb_unlock(at_work);
	host_leave();
}

T_CASE(an_outside_buffer_on_the_late_list_is_copied)
{
	static struct fx_pipe p;

	fx_begin(t);
	fx_pipe(&p);
	at_work = p.pl;
	(void)sim_spawn("plumber", plumber, NULL);
	sim_sleep(1000000);
	put(&p.sd[1]->qp->rq, outside_msg());
	T_NE(str_load(&p.pl->late), 0);
	T_EQ(freed, 1);
	T_EQ(sim_run(), 0);
	T_EQ(freed, 1);
}

/* ------------------------------------------------------- death in between */

static unsigned given_back_;
static const char *dying_at_;

static void
gives_back(char *arg)
{
	T_STR(arg, "buffer");
	given_back_++;
}

static mblk_t *
given(void)
{
	static unsigned char buf[8];
	static frtn_t frtn = {gives_back, (char *)"buffer"};
	mblk_t *mp = esballoc(buf, sizeof(buf), BPRI_LO, &frtn);

	T_NOTNULL(mp);
	return mp;
}

/* The last message with the buffer is a duplicate if @dup. */
static void
frees_given(void *dup)
{
	mblk_t *mp = given(), *d;

	if (dup != NULL) {
		d = dupb(mp);
		freeb(mp);
		mp = d;
	}
	sim_crash_at(dying_at_, sim_crash_count(dying_at_) + 1);
	freeb(mp);
}

static void
dies_freeing_given(struct t *t, const char *label, char *dup, unsigned calls)
{
	unsigned n;

	fx_begin(t);
	given_back_ = 0;
	dying_at_ = label;
	n = sim_crash_count(label);
	(void)sim_spawn("doomed", frees_given, dup);
	T_EQ(sim_run(), 0);
	T_GT(sim_crash_count(label), n);
	sim_sleep(1000000000);
	T_EQ(given_back_, calls);
	T_EQ(fx_messages(), 0);
}

T_CASE(a_thread_dies_freeing_a_given_buffer_and_its_reaper_gives_it_back)
{
	dies_freeing_given(t, "msg:unreferenced", NULL, 1);
	fx_end();
	dies_freeing_given(t, "msg:unused", NULL, 1);
}

T_CASE(a_thread_dies_dropping_the_last_duplicate_and_its_reaper_gives_it_back)
{
	static const char *const at[] = {"msg:dropping", "msg:dropped",
		"msg:unused"};

	for (unsigned i = 0; i < STR_ARRAY_LEN(at); i++) {
		dies_freeing_given(t, at[i], (char *)"", 1);
		fx_end();
	}
}

/* The argument may be gone by then. */
T_CASE(a_thread_dies_giving_a_buffer_back_and_no_other_does_it_again)
{
	dies_freeing_given(t, "msg:taken", NULL, 0);
	fx_end();
	dies_freeing_given(t, "msg:taken", (char *)"", 0);
}

/* The buffer's block is a living message's, which has got other data. */
static void
frees_what_was_pulled_up(void *arg)
{
	mblk_t *mp = given(), *dup = dupb(mp);

	mp->b_wptr += 2;
	mp->b_cont = fx_msg("more", 0);
	T_EQ(pullupmsg(mp, -1), 1);
	str_msg_disown(mp);
	*(mblk_t **)arg = mp;
	sim_crash_at(dying_at_, sim_crash_count(dying_at_) + 1);
	freeb(dup);
}

T_CASE(a_thread_dies_freeing_a_given_buffer_and_its_block_goes_with_the_message)
{
	static const char *const at[] = {"msg:dropping", "msg:dropped",
		"msg:taken", "msg:released"};
	mblk_t *mp;

	for (unsigned i = 0; i < STR_ARRAY_LEN(at); i++) {
		fx_begin(t);
		dying_at_ = at[i];
		(void)sim_spawn("doomed", frees_what_was_pulled_up, &mp);
		T_EQ(sim_run(), 0);
		sim_sleep(1000000000);
		freemsg(mp);
		T_EQ(fx_messages(), 0);
		fx_end();
	}
}

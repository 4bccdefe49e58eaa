/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * strlog, seen from the log driver's side.
 */
#include "d.h"
#include <str/log.h>

static struct fx_pipe p;

static queue_t *
reader(int what, const struct trace_ids *ids, unsigned n)
{
	queue_t *q = fx_push(&p, 0, "store");

	T_EQ(str_log_open(q, what, ids, n), 0);
	return q;
}

static void
setup(void)
{
	fx_pipe(&p);
}

#define CTL(mp) ((struct log_ctl *)(void *)(mp)->b_rptr)

/* The next message has this text. Frees it. */
static void
next_is(queue_t *q, const char *text)
{
	mblk_t *mp = str_log_get(q);

	T_NOTNULL(mp);
	T_STR((char *)mp->b_cont->b_rptr, text);
	freemsg(mp);
}

/* strlog(D3): control part log_ctl, data part the text. */
D_CASE(701, strlog_makes_a_control_and_a_data_part)
{
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	T_EQ(strlog(44, 5, 3, SL_ERROR | SL_NOTIFY, "text %d", 7), 1);
	mp = str_log_get(q);
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_PROTO);
	T_EQ(mp->b_wptr - mp->b_rptr, sizeof(struct log_ctl));
	T_EQ(CTL(mp)->mid, 44);
	T_EQ(CTL(mp)->sid, 5);
	T_EQ(CTL(mp)->level, 3);
	T_EQ(CTL(mp)->flags, SL_ERROR | SL_NOTIFY);
	T_EQ(CTL(mp)->seq_no, 1);
	T_NE(CTL(mp)->ttime, 0);
	T_EQ(mp->b_cont->b_datap->db_type, M_DATA);
	T_STR((char *)mp->b_cont->b_rptr, "text 7");
	freemsg(mp);
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}

/* log(4): the reader's service procedure is scheduled. */
D_CASE(702, strlog_enables_the_reader)
{
	queue_t *q;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	T_FALSE(fx_enabled(q));
	(void)strlog(1, 1, 0, SL_ERROR, "x");
	T_TRUE(fx_enabled(q));
	str_log_close(q);
}

/* log(4): an error logger gets no trace messages. */
D_CASE(703, readers_get_what_they_asked_for)
{
	struct trace_ids all = {-1, -1, -1, 0};
	queue_t *e, *tr;

	fx_begin(t);
	setup();
	e = reader(SL_ERROR, NULL, 0);
	tr = reader(SL_TRACE, &all, 1);
	(void)strlog(1, 1, 0, SL_ERROR, "error");
	(void)strlog(1, 1, 0, SL_TRACE, "trace");
	(void)strlog(1, 1, 0, SL_TRACE | SL_ERROR, "both");
	next_is(e, "error");
	next_is(e, "both");
	T_NULL(str_log_get(e));
	next_is(tr, "trace");
	next_is(tr, "both");
	T_NULL(str_log_get(tr));
	(void)fx_enabled(e);
	(void)fx_enabled(tr);
	str_log_close(e);
	str_log_close(tr);
}

/* log(4): trace_ids choose module, part and level; -1 is any. */
D_CASE(704, tracers_choose)
{
	struct trace_ids ids[] = {{7, -1, 2, 0}, {8, 3, -1, 0}};
	queue_t *q;

	fx_begin(t);
	setup();
	q = reader(SL_TRACE, ids, 2);
	(void)strlog(7, 1, 2, SL_TRACE, "a");
	(void)strlog(7, 9, 3, SL_TRACE, "too detailed");
	(void)strlog(8, 3, 9, SL_TRACE, "b");
	(void)strlog(8, 4, 0, SL_TRACE, "other part");
	(void)strlog(9, 3, 0, SL_TRACE, "other module");
	next_is(q, "a");
	next_is(q, "b");
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}

/* log(4): a reader gets what is logged after it has asked. */
D_CASE(705, readers_get_what_comes_after_them)
{
	queue_t *q;

	fx_begin(t);
	setup();
	(void)strlog(1, 1, 0, SL_ERROR, "before");
	q = reader(SL_ERROR, NULL, 0);
	(void)strlog(1, 1, 0, SL_ERROR, "after");
	next_is(q, "after");
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}

/* log(4): nothing comes after str_log_close. */
D_CASE(706, a_closed_reader_gets_nothing)
{
	queue_t *q;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	T_EQ(str_log_wanted(q), SL_ERROR);
	str_log_close(q);
	(void)strlog(1, 1, 0, SL_ERROR, "x");
	T_FALSE(fx_enabled(q));
	T_NULL(str_log_get(q));
	T_EQ(str_log_wanted(q), 0);
	T_EQ(str_log_wanted(NULL), 0);
}

/* log(4): a gap in seq_no shows what a slow reader has lost. */
D_CASE(707, what_was_lost_shows_in_the_numbers)
{
	queue_t *q;
	unsigned i;
	mblk_t *mp;
	int seen = 1;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	for (i = 1; i <= STR_LOG_MSGS + 10; i++)
		seen &= strlog(1, 1, 0, SL_ERROR, "%u", i);
	T_EQ(seen, 0);
	mp = str_log_get(q);
	T_STR((char *)mp->b_cont->b_rptr, "11");
	T_EQ(CTL(mp)->seq_no, 11);
	freemsg(mp);
	for (i = 12; i <= STR_LOG_MSGS + 10; i++)
		freemsg(str_log_get(q));
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}

/* log(4): each reader's numbers count what it was to get. */
D_CASE(708, numbers_have_no_gap_without_a_loss)
{
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	(void)strlog(1, 1, 0, SL_ERROR, "a");
	(void)strlog(1, 1, 0, SL_TRACE, "not for it");
	(void)strlog(1, 1, 0, SL_ERROR, "b");
	freemsg(str_log_get(q));
	mp = str_log_get(q);
	T_EQ(CTL(mp)->seq_no, 2);
	freemsg(mp);
	(void)fx_enabled(q);
	str_log_close(q);
}

/* strlog(9F): the priority follows from the flags, as syslog(3) has them. */
D_CASE(709, the_flags_give_the_priority)
{
	static const struct {
		int flags, pri;
	} row[] = {
		{SL_ERROR, 3}, {SL_ERROR | SL_FATAL, 2},
		{SL_ERROR | SL_WARN, 3},
	};
	queue_t *q;
	unsigned i;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		mblk_t *mp;

		(void)strlog(1, 1, 0, (unsigned short)row[i].flags, "x");
		mp = str_log_get(q);
		T_EQ(CTL(mp)->pri, row[i].pri);
		freemsg(mp);
	}
	(void)fx_enabled(q);
	str_log_close(q);
}

static void
log_console(void)
{
	(void)strlog(1, 1, 0, SL_CONSOLE, "on the console %d", 3);
}

/* strlog(9): SL_CONSOLE without a reader goes to the standard error. */
D_CASE(710, console_messages_are_said_when_nobody_reads_them)
{
	fx_begin(t);
	T_NOTNULL(strstr(d_said(log_console), "on the console 3"));
}

/* strlog(9): and to the console's reader when there is one. */
D_CASE(711, console_messages_go_to_their_reader)
{
	queue_t *q;

	fx_begin(t);
	setup();
	q = reader(SL_CONSOLE, NULL, 0);
	T_NULL(strstr(d_said(log_console), "on the console 3"));
	next_is(q, "on the console 3");
	(void)fx_enabled(q);
	str_log_close(q);
}

/* strlog(9): long text is cut off. */
D_CASE(712, long_text_is_cut)
{
	char much[2000];
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	memset(much, 'm', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	(void)strlog(1, 1, 0, SL_ERROR, "%s", much);
	mp = str_log_get(q);
	T_EQ(strlen((char *)mp->b_cont->b_rptr), STR_LOG_TEXT - 1);
	freemsg(mp);
	(void)fx_enabled(q);
	str_log_close(q);
}

/* <str/log.h>: what a program logs has its own ids, and times of ours. */
D_CASE(713, programs_log_too)
{
	struct log_ctl lc = {.mid = 9, .sid = 8, .flags = SL_ERROR, .pri = 42};
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	T_EQ(str_log_put(&lc, "from a program", 14), 1);
	mp = str_log_get(q);
	T_EQ(CTL(mp)->mid, 9);
	T_EQ(CTL(mp)->pri, 42);
	T_NE(CTL(mp)->ttime, 0);
	T_STR((char *)mp->b_cont->b_rptr, "from a program");
	freemsg(mp);
	(void)fx_enabled(q);
	str_log_close(q);
}

/* <str/log.h>: EINVAL for a registration that makes no sense. */
D_CASE(714, wrong_registrations_are_refused)
{
	struct trace_ids all = {-1, -1, -1, 0};
	queue_t *q;

	fx_begin(t);
	setup();
	q = fx_push(&p, 0, "store");
	T_EQ(str_log_open(q, 0, NULL, 0), EINVAL);
	T_EQ(str_log_open(q, SL_TRACE, NULL, 0), EINVAL);
	T_EQ(str_log_open(q, SL_ERROR, &all, 1), EINVAL);
	T_EQ(str_log_open(q, 0x1000, NULL, 0), EINVAL);
	T_EQ(str_log_wanted(q), 0);
}

/* <str/log.h>: a stream may be several readers in one. */
D_CASE(715, one_reader_of_several_kinds)
{
	struct trace_ids seven = {7, -1, -1, 0}, eight = {8, -1, -1, 0};
	queue_t *q;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	T_EQ(str_log_open(q, SL_TRACE, &seven, 1), 0);
	T_EQ(str_log_wanted(q), SL_ERROR | SL_TRACE);
	(void)strlog(7, 1, 0, SL_TRACE, "seven");
	(void)strlog(7, 1, 0, SL_ERROR, "error");
	T_EQ(str_log_open(q, SL_TRACE, &eight, 1), 0);
	next_is(q, "error"); /* what is wanted is asked for now */
	(void)strlog(8, 1, 0, SL_TRACE, "eight");
	next_is(q, "eight");
	T_NULL(str_log_get(q));
	(void)fx_enabled(q);
	str_log_close(q);
}

static void
log_many(void *arg)
{
	unsigned i;

	for (i = 0; i < 50; i++)
		(void)strlog(1, (short)(intptr_t)arg, 0, SL_ERROR, "%u", i);
}

/* ksynch(9): tasks that log at once lose nothing of each other. */
D_CASE(716, messages_of_several_tasks_are_all_there)
{
	unsigned n[4] = {0}, i;
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	setup();
	q = reader(SL_ERROR, NULL, 0);
	for (i = 0; i < 4; i++)
		(void)d_spawn("logger", log_many, (void *)(uintptr_t)i);
	T_EQ(sim_run(), 0);
	while ((mp = str_log_get(q)) != NULL) {
		unsigned who = (unsigned)CTL(mp)->sid;

		T_LT(who, 4);
		T_EQ(atoi((char *)mp->b_cont->b_rptr), n[who]);
		n[who]++;
		freemsg(mp);
	}
	for (i = 0; i < 4; i++)
		T_EQ(n[i], 50);
	(void)fx_enabled(q);
	str_log_close(q);
}

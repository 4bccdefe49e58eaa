/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * log: loggers and programs that log.  log(4).
 */
#include "drvfix.h"
#include <sys/log.h>
#include <sys/strlog.h>
#include <str/log.h>

extern const struct str_builtin str_drv_log;

_Static_assert(sizeof(struct log_ctl) == 24, "reference: ABI");
_Static_assert(sizeof(struct trace_ids) == 8, "");

static struct dv a, b, say;

/* Two streams that may be loggers, and one to say something on. */
static void
begin(struct t *t)
{
	struct log_ctl lc = {.flags = SL_TRACE};

	fx_begin(t);
	dv_driver(&str_drv_log);
	(void)str_log_put(&lc, "", 0); /* the ring is there from now on */
	fx_keep();
	T_EQ(dv_open(&a, "log", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&b, "log", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&say, "log", 0, CLONEOPEN), 0);
}

static mblk_t *
with_ctl(int mid, int sid, int level, int flags, int pri, const char *text)
{
	struct log_ctl lc = {
		.mid = (short)mid,
		.sid = (short)sid,
		.level = (char)level,
		.flags = (short)flags,
		.pri = pri,
	};
	mblk_t *mp = allocb(sizeof(lc), BPRI_MED);

	memcpy(mp->b_wptr, &lc, sizeof(lc));
	mp->b_wptr += sizeof(lc);
	mp->b_datap->db_type = M_PROTO;
	if (text != NULL)
		linkb(mp, fx_msg(text, 0));
	return mp;
}

/* The next message of a logger, which must have @text. */
static struct log_ctl
logged(struct dv *d, const char *text)
{
	struct log_ctl lc;
	mblk_t *mp = dv_up_type(d, M_PROTO);

	T_EQ(mp->b_wptr - mp->b_rptr, sizeof(lc));
	memcpy(&lc, mp->b_rptr, sizeof(lc));
	T_NOTNULL(mp->b_cont);
	T_EQ(mp->b_cont->b_datap->db_type, M_DATA);
	T_STR((const char *)mp->b_cont->b_rptr, text);
	T_EQ(msgdsize(mp), strlen(text) + 1);
	freemsg(mp);
	return lc;
}

T_CASE(loggers_get_what_they_asked_for)
{
	struct log_ctl lc;

	begin(t);
	T_EQ(dv_str(&a, I_ERRLOG, NULL, 0), 0);
	T_EQ(dv_str(&b, I_CONSLOG, NULL, 0), 0);
	dv_down(&say, with_ctl(7, 3, 1, SL_ERROR, 0, "bad"));
	lc = logged(&a, "bad");
	T_EQ(lc.mid, 7);
	T_EQ(lc.sid, 3);
	T_EQ(lc.level, 1);
	T_EQ(lc.flags, SL_ERROR);
	T_NULL(dv_up(&b));
	dv_down(&say, with_ctl(7, 3, 1, SL_CONSOLE | SL_ERROR, 0, "both"));
	(void)logged(&a, "both");
	(void)logged(&b, "both");
	dv_down(&say, with_ctl(7, 3, 1, SL_TRACE, 0, "nobody"));
	T_NULL(dv_up(&a));
	T_NULL(dv_up(&b));
}

T_CASE(tracers_choose_by_module_part_and_level)
{
	struct trace_ids ids[2] = {
		{.ti_mid = 7, .ti_sid = -1, .ti_level = 2},
		{.ti_mid = 8, .ti_sid = 4, .ti_level = -1},
	};

	begin(t);
	T_EQ(dv_str(&a, I_TRCLOG, ids, sizeof(ids)), 0);
	dv_down(&say, with_ctl(7, 9, 2, SL_TRACE, 0, "level 2"));
	(void)logged(&a, "level 2");
	dv_down(&say, with_ctl(7, 9, 3, SL_TRACE, 0, "level 3"));
	T_NULL(dv_up(&a));
	dv_down(&say, with_ctl(8, 4, 100, SL_TRACE, 0, "part 4"));
	(void)logged(&a, "part 4");
	dv_down(&say, with_ctl(8, 5, 0, SL_TRACE, 0, "part 5"));
	dv_down(&say, with_ctl(9, 4, 0, SL_TRACE, 0, "module 9"));
	dv_down(&say, with_ctl(7, 9, 0, SL_ERROR, 0, "no trace"));
	T_NULL(dv_up(&a));
}

T_CASE(messages_are_numbered_and_dated)
{
	struct log_ctl one, two;

	begin(t);
	T_EQ(dv_str(&a, I_ERRLOG, NULL, 0), 0);
	sim_advance(3000000000ull);
	dv_down(&say, with_ctl(1, 1, 0, SL_ERROR, 0, "one"));
	sim_advance(1000000000ull);
	dv_down(&say, with_ctl(1, 1, 0, SL_ERROR, 0, "two"));
	one = logged(&a, "one");
	two = logged(&a, "two");
	T_EQ(two.seq_no, one.seq_no + 1);
	T_EQ(two.ltime - one.ltime, 100);
}

T_CASE(a_program_is_a_user_with_the_priority_of_its_flags)
{
	static const struct {
		int flags, pri, want;
	} row[] = {
		{SL_CONSOLE, 0, 8 | 6},
		{SL_CONSOLE | SL_ERROR, 0, 8 | 3},
		{SL_CONSOLE | SL_WARN, 0, 8 | 4},
		{SL_CONSOLE | SL_FATAL, 0, 8 | 2},
		{SL_CONSOLE | SL_NOTE, 0, 8 | 5},
		{SL_CONSOLE | SL_TRACE, 0, 8 | 7},
		{SL_CONSOLE, (3 << 3) | 1, (3 << 3) | 1},
	};
	struct log_ctl lc;
	unsigned i;

	begin(t);
	T_EQ(dv_str(&a, I_CONSLOG, NULL, 0), 0);
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		dv_down(&say, with_ctl(1, 1, 0, row[i].flags, row[i].pri,
			"text"));
		lc = logged(&a, "text");
		T_EQ(lc.pri, row[i].want);
	}
}

T_CASE(a_text_alone_is_for_the_console)
{
	static const char *const chain[] = {"some ", "text", NULL};
	struct log_ctl lc;

	begin(t);
	T_EQ(dv_str(&a, I_CONSLOG, NULL, 0), 0);
	dv_down(&say, fx_chain(M_DATA, chain));
	lc = logged(&a, "some text");
	T_EQ(lc.flags, SL_CONSOLE);
}

T_CASE(a_message_without_text_or_with_half_a_log_ctl_does_no_harm)
{
	begin(t);
	T_EQ(dv_str(&a, I_ERRLOG, NULL, 0), 0);
	dv_down(&say, with_ctl(1, 1, 0, SL_ERROR, 0, NULL));
	(void)logged(&a, "");
	dv_down(&say, fx_type(M_PROTO, "short", 0));
	T_NULL(dv_up(&a));
}

T_CASE(a_slow_logger_holds_nobody_back)
{
	char text[16];
	unsigned i, n = 0;
	mblk_t *mp;

	begin(t);
	T_EQ(dv_str(&a, I_ERRLOG, NULL, 0), 0);
	for (i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "message %u", i);
		T_EQ(bcanputnext(WR(say.above), 0), 1);
		dv_down(&say, with_ctl(1, 1, 0, SL_ERROR, 0, text));
		dv_run(&a);
	}
	/* it had room for a few, the others wait in the ring */
	T_TRUE(qsize(a.above) < 100);
	while ((mp = dv_up(&a)) != NULL) {
		freemsg(mp);
		n++;
	}
	T_EQ(n, 100);
}

T_CASE(bad_commands_are_einval)
{
	struct trace_ids id = {0};

	begin(t);
	T_EQ(dv_str(&a, I_TRCLOG, NULL, 0), EINVAL);
	T_EQ(dv_str(&a, I_TRCLOG, &id, sizeof(id) - 1), EINVAL);
	T_EQ(dv_plain(&a, I_TRCLOG, &id), -EINVAL);
	T_EQ(dv_str(&a, LOGCTL | 4, NULL, 0), EINVAL);
}

T_CASE(a_closed_logger_gets_nothing)
{
	begin(t);
	T_EQ(dv_str(&a, I_ERRLOG, NULL, 0), 0);
	T_EQ(dv_str(&b, I_ERRLOG, NULL, 0), 0);
	dv_close(&a);
	dv_down(&say, with_ctl(1, 1, 0, SL_ERROR, 0, "text"));
	(void)logged(&b, "text");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * echo, nuls and printk: the drivers without connections.  echo(4), nuls(4),
 * printk(4).
 */
#include "drvfix.h"

extern const struct str_builtin str_drv_echo, str_drv_nuls, str_drv_printk;

static struct dv a, b;

static void
begin(struct t *t, const struct str_builtin *drv)
{
	fx_begin(t);
	dv_driver(drv);
}

T_CASE(echo_turns_ordinary_messages_round)
{
	static const unsigned type[] = {M_DATA, M_PROTO, M_CTL};
	mblk_t *mp;
	unsigned i;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	for (i = 0; i < STR_ARRAY_LEN(type); i++) {
		dv_down(&a, fx_type(type[i], "text", i));
		mp = dv_up_type(&a, type[i]);
		T_EQ(mp->b_band, i);
		FX_MSG(mp, "text");
	}
	dv_down(&a, fx_type(M_PCPROTO, "high", 0));
	FX_MSG(dv_up_type(&a, M_PCPROTO), "high");
}

T_CASE(data_that_nobody_asked_for_is_refused)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	dv_strays(&a);
}

T_CASE(echo_waits_for_room_and_keeps_the_order)
{
	char text[8];
	unsigned i;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	/* the module above is full at 100 bytes */
	for (i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		dv_down(&a, fx_msg(text, 0));
	}
	T_GT(qsize(WR(a.rq)), 30);
	T_GT(a.above->q_count, 99);
	for (i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		FX_MSG(dv_up(&a), text);
	}
	T_NULL(dv_up(&a));
}

/*
 * Taken and put back, it would look like room to a queue that waits here:
 * that may have none itself, and the two would call each other for
 * ever.
 */
T_CASE(echo_takes_only_what_has_room)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_bytes(8000, 0));
	T_EQ(canput(WR(a.rq)), 0);
	qenable(WR(a.rq));
	dv_run(&a);
	T_EQ(qsize(WR(a.rq)), 1);
	T_NE(WR(a.rq)->q_flag & QWANTW, 0);
	freemsg(dv_up(&a));
	T_EQ(WR(a.rq)->q_flag & QWANTW, 0);
	freemsg(dv_up(&a));
}

T_CASE(echo_lets_priority_messages_pass_those_that_wait)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("late", 0));
	dv_down(&a, fx_type(M_PCPROTO, "high", 0));
	FX_MSG(dv_up_type(&a, M_PCPROTO), "high");
	freemsg(dv_up(&a));
	FX_MSG(dv_up(&a), "late");
}

T_CASE(echo_answers_m_read_with_the_end_of_a_record)
{
	mblk_t *mp;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	dv_down(&a, fx_type(M_READ, "12345678", 0));
	mp = dv_up_type(&a, M_DATA);
	T_EQ(mp->b_wptr - mp->b_rptr, 0);
	T_EQ(mp->b_flag & MSGDELIM, MSGDELIM);
	freemsg(mp);
}

T_CASE(echo_refuses_every_ioctl)
{
	int arg = 0;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
	T_EQ(dv_str(&a, 0x1234, &arg, sizeof(arg)), EINVAL);
	T_EQ(dv_plain(&a, 0x5301, &arg), -EINVAL);
}

T_CASE(echo_flushes_as_drivers_do)
{
	mblk_t *mp;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 3, DRVOPEN), 0);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("void", 0));
	T_EQ(qsize(WR(a.rq)), 1);
	dv_down(&a, fx_type(M_FLUSH, "\002", 0));
	T_EQ(qsize(WR(a.rq)), 0);
	freemsg(dv_up(&a));
	T_NULL(dv_up(&a)); /* FLUSHW alone has no answer */
	/* with FLUSHR it comes back, without FLUSHW */
	dv_down(&a, fx_type(M_FLUSH, "\003", 0));
	mp = dv_up_type(&a, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
	/* one band */
	dv_down(&a, fx_bytes(120, 2));
	dv_down(&a, fx_msg("stays", 0));
	dv_down(&a, fx_msg("void", 2));
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_type(M_FLUSH, "\006\002", 0));
	freemsg(dv_up(&a));
	FX_MSG(dv_up(&a), "stays");
	freemsg(dv_up(&a));
	T_NULL(dv_up(&a));
}

T_CASE(clone_opens_get_the_lowest_minors_that_are_free)
{
	static struct dv third, d;

	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 2, DRVOPEN), 0);
	T_EQ(a.minor, 2);
	T_EQ(dv_open(&b, "echo", 0, CLONEOPEN), 0);
	T_EQ(b.minor, 1);
	T_EQ(dv_open(&third, "echo", 0, CLONEOPEN), 0);
	T_EQ(third.minor, 3);
	dv_close(&b);
	T_EQ(dv_open(&d, "echo", 0, CLONEOPEN), 0);
	T_EQ(d.minor, 1);
}

T_CASE(further_opens_of_a_minor_share_the_stream)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 2, DRVOPEN), 0);
	T_EQ(dv_reopen(&a, FREAD), 0);
	dv_down(&a, fx_msg("text", 0));
	FX_MSG(dv_up(&a), "text");
}

T_CASE(a_driver_cannot_be_pushed)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 0, MODOPEN), EINVAL);
}

T_CASE(a_minor_beyond_the_last_is_enxio)
{
	begin(t, &str_drv_echo);
	T_EQ(dv_open(&a, "echo", 65536, DRVOPEN), ENXIO);
	T_EQ(dv_open(&b, "echo", 65535, DRVOPEN), 0);
}

T_CASE(nuls_swallows_everything)
{
	unsigned i;

	begin(t, &str_drv_nuls);
	T_EQ(dv_open(&a, "nuls", 0, CLONEOPEN), 0);
	for (i = 0; i < 100; i++) {
		T_EQ(bcanputnext(WR(a.above), 0), 1);
		dv_down(&a, fx_bytes(1000, 0));
	}
	dv_down(&a, fx_type(M_PROTO, "p", 0));
	dv_down(&a, fx_type(M_PCPROTO, "p", 0));
	dv_down(&a, fx_type(M_CTL, "p", 0));
	T_NULL(dv_up(&a));
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
	dv_down(&a, fx_type(M_FLUSH, "\003", 0));
	freemsg(dv_up_type(&a, M_FLUSH));
}

T_CASE(printk_swallows_data_and_all_else)
{
	static const char *const chain[] = {"one\ntw", "o\x01\n\n", NULL};

	begin(t, &str_drv_printk);
	T_EQ(dv_open(&a, "printk", 0, CLONEOPEN), 0);
	dv_down(&a, fx_chain(M_DATA, chain));
	dv_down(&a, fx_bytes(300, 0));
	dv_down(&a, fx_type(M_PROTO, "p", 0));
	T_NULL(dv_up(&a));
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
}

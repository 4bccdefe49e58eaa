/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * loop, command by command: loop(4).
 */
#include "drvfix.h"
#include <sys/loop.h>
#undef LOOP_SET
#include <sys/LiS/loop.h>

extern const struct str_builtin str_drv_loop;

#define LFS_SET (('1' << 8) | 1)

static struct dv a, b, third;

/* Two open minors, 1 and 2, not connected. */
static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_loop);
	T_EQ(dv_open(&a, "loop", 1, DRVOPEN), 0);
	T_EQ(dv_open(&b, "loop", 2, DRVOPEN), 0);
}

static int
with_int(struct dv *d, int cmd, int val)
{
	return dv_str(d, cmd, &val, sizeof(val));
}

static void
connected(struct t *t)
{
	begin(t);
	T_EQ(with_int(&a, LOOP_SET, 2), 0);
}

/* Write on @from and let it go across. */
static void
across(struct dv *from, struct dv *to, mblk_t *mp)
{
	dv_down(from, mp);
	dv_run(to);
}

T_CASE(connects_both_ways)
{
	connected(t);
	across(&a, &b, fx_msg("there", 0));
	FX_MSG(dv_up_type(&b, M_DATA), "there");
	T_NULL(dv_up(&a));
	across(&b, &a, fx_type(M_PROTO, "back", 3));
	FX_MSG(dv_up_type(&a, M_PROTO), "back");
	across(&b, &a, fx_type(M_PCPROTO, "high", 0));
	FX_MSG(dv_up_type(&a, M_PCPROTO), "high");
}

T_CASE(a_device_number_connects_too)
{
	dev_t dev = makedevice(STR_MAJOR_LOOP, 2);

	begin(t);
	T_EQ(dv_str(&a, LFS_SET, &dev, sizeof(dev)), 0);
	across(&a, &b, fx_msg("there", 0));
	FX_MSG(dv_up(&b), "there");
}

T_CASE(a_device_number_connects_by_a_plain_ioctl)
{
	dev_t dev = makedevice(STR_MAJOR_LOOP, 2);
	int minor = 2;

	begin(t);
	T_EQ(dv_plain(&a, LFS_SET, &dev), 0);
	T_EQ(dv_plain(&a, LFS_SET, &dev), -EBUSY);
	T_EQ(dv_plain(&a, LOOP_SET, &minor), -EBUSY);
}

T_CASE(set_refuses_what_cannot_be_connected)
{
	dev_t other = makedevice(7, 2), closed = makedevice(STR_MAJOR_LOOP, 9);
	char wrong[3] = "ab";

	begin(t);
	T_EQ(with_int(&a, LOOP_SET, 9), ENXIO);
	T_EQ(with_int(&a, LOOP_SET, -1), ENXIO);
	T_EQ(with_int(&a, LOOP_SET, 255), ENXIO);
	T_EQ(dv_str(&a, LOOP_SET, wrong, sizeof(wrong)), EINVAL);
	T_EQ(dv_str(&a, LOOP_SET, NULL, 0), EINVAL);
	T_EQ(dv_str(&a, LFS_SET, &other, sizeof(other)), ENXIO);
	T_EQ(dv_str(&a, LFS_SET, &closed, sizeof(closed)), ENXIO);
	T_EQ(dv_str(&a, LFS_SET, wrong, sizeof(wrong)), EINVAL);
	T_EQ(with_int(&a, LOOP_SET, 2), 0);
	T_EQ(dv_open(&third, "loop", 3, DRVOPEN), 0);
	T_EQ(with_int(&third, LOOP_SET, 2), EBUSY);
	T_EQ(with_int(&a, LOOP_SET, 3), EBUSY);
}

T_CASE(data_to_nobody_is_m_error_enxio)
{
	mblk_t *mp;

	begin(t);
	dv_down(&a, fx_msg("lost", 0));
	mp = dv_up_type(&a, M_ERROR);
	T_EQ(mp->b_wptr - mp->b_rptr, 1);
	T_EQ(mp->b_rptr[0], ENXIO);
	freemsg(mp);
}

T_CASE(close_hangs_the_other_up_and_frees_the_minor)
{
	static struct dv d;

	connected(t);
	dv_close(&b);
	freemsg(dv_up_type(&a, M_HANGUP));
	dv_down(&a, fx_msg("lost", 0));
	freemsg(dv_up_type(&a, M_ERROR));
	T_EQ(dv_open(&d, "loop", 2, DRVOPEN), 0);
	T_EQ(with_int(&d, LOOP_SET, 1), 0);
}

T_CASE(water_marks_are_10240_and_4096)
{
	connected(t);
	T_EQ(WR(a.rq)->q_hiwat, 10240);
	T_EQ(WR(a.rq)->q_lowat, 4096);
}

T_CASE(waits_for_room_and_goes_on)
{
	char text[8];
	unsigned i;

	connected(t);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		across(&a, &b, fx_msg(text, 0));
	}
	T_GT(qsize(WR(a.rq)), 20);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		FX_MSG(dv_up(&b), text);
		dv_run(&a); /* back-enabled across the two */
		dv_run(&b);
	}
	T_NULL(dv_up(&b));
}

T_CASE(clones_begin_at_1)
{
	static struct dv d;

	fx_begin(t);
	dv_driver(&str_drv_loop);
	T_EQ(dv_open(&a, "loop", 2, DRVOPEN), 0);
	T_EQ(dv_open(&b, "loop", 0, CLONEOPEN), 0);
	T_EQ(b.minor, 1);
	T_EQ(dv_open(&third, "loop", 0, CLONEOPEN), 0);
	T_EQ(third.minor, 3);
	T_EQ(dv_open(&d, "loop", 255, DRVOPEN), ENODEV);
}

T_CASE(get_dev_is_the_own_minor)
{
	int minor = -1;

	begin(t);
	T_EQ(dv_str_get(&b, LOOP_GET_DEV, &minor, sizeof(minor), &minor,
		sizeof(minor)), 0);
	T_EQ(minor, 2);
	minor = -1;
	T_EQ(dv_plain(&b, LOOP_GET_DEV, &minor), 0);
	T_EQ(minor, 2);
	T_EQ(dv_str(&b, LOOP_GET_DEV, "abc", 3), EINVAL);
}

T_CASE(putnxt_sends_at_once)
{
	connected(t);
	T_EQ(dv_str(&a, LOOP_PUTNXT, NULL, 0), 0);
	putnext(WR(a.above), fx_msg("now", 0));
	/* no service procedure has run */
	FX_MSG(getq(b.above), "now");
}

T_CASE(without_putnxt_a_service_procedure_sends)
{
	connected(t);
	putnext(WR(a.above), fx_msg("later", 0));
	T_NULL(getq(b.above));
	dv_run(&a);
	FX_MSG(getq(b.above), "later");
}

T_CASE(msglvl_holds_until_more_are_queued)
{
	connected(t);
	T_EQ(with_int(&a, LOOP_MSGLVL, 2), 0);
	across(&a, &b, fx_msg("one", 0));
	across(&a, &b, fx_msg("two", 0));
	T_NULL(dv_up(&b));
	across(&a, &b, fx_msg("three", 0));
	FX_MSG(dv_up(&b), "one");
	FX_MSG(dv_up(&b), "two");
	FX_MSG(dv_up(&b), "three");
	across(&a, &b, fx_msg("four", 0));
	T_NULL(dv_up(&b));
	T_EQ(with_int(&a, LOOP_MSGLVL, 0), 0);
	FX_MSG(dv_up(&b), "four");
}

T_CASE(timr_holds_for_so_many_ticks)
{
	connected(t);
	T_EQ(with_int(&a, LOOP_TIMR, 10), 0);
	across(&a, &b, fx_msg("one", 0));
	across(&a, &b, fx_msg("two", 0));
	T_NULL(dv_up(&b));
	sim_advance(50 * 1000000ull);
	(void)str_timer_run(host_now());
	dv_run(&a);
	T_NULL(dv_up(&b));
	sim_advance(60 * 1000000ull);
	(void)str_timer_run(host_now());
	dv_run(&a);
	FX_MSG(dv_up(&b), "one");
	FX_MSG(dv_up(&b), "two");
	/* and the next, too */
	across(&a, &b, fx_msg("three", 0));
	T_NULL(dv_up(&b));
	sim_advance(110 * 1000000ull);
	(void)str_timer_run(host_now());
	dv_run(&a);
	FX_MSG(dv_up(&b), "three");
}

/* putq(D3): a message of high priority enables the queue whatever it says. */
T_CASE(nothing_holds_a_message_of_high_priority)
{
	static const struct {
		int cmd, val;
	} hold[] = {{LOOP_TIMR, 10}, {LOOP_MSGLVL, 3}, {LOOP_CONCAT, 3}};
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(hold); i++) {
		connected(t);
		T_EQ(with_int(&a, hold[i].cmd, hold[i].val), 0);
		across(&a, &b, fx_msg("plain", 0));
		across(&a, &b, fx_type(M_PCPROTO, "high", 0));
		FX_MSG(dv_up_type(&b, M_PCPROTO), "high");
		T_NULL(dv_up(&b));
		/* nor does it start the timer */
		if (hold[i].cmd == LOOP_TIMR) {
			sim_advance(110 * 1000000ull);
			(void)str_timer_run(host_now());
			dv_run(&a);
			FX_MSG(dv_up(&b), "plain");
			across(&a, &b, fx_type(M_PCPROTO, "high", 0));
			FX_MSG(dv_up_type(&b, M_PCPROTO), "high");
			T_FALSE(str_timer_pending());
		}
		fx_end();
	}
}

T_CASE(the_timer_frees_what_msglvl_holds)
{
	connected(t);
	T_EQ(with_int(&a, LOOP_MSGLVL, 2), 0);
	T_EQ(with_int(&a, LOOP_TIMR, 10), 0);
	across(&a, &b, fx_msg("one", 0));
	T_NULL(dv_up(&b));
	sim_advance(110 * 1000000ull);
	(void)str_timer_run(host_now());
	dv_run(&a);
	FX_MSG(dv_up(&b), "one");
}

T_CASE(a_timer_that_runs_goes_with_the_stream)
{
	connected(t);
	T_EQ(with_int(&a, LOOP_TIMR, 10), 0);
	across(&a, &b, fx_msg("one", 0));
	dv_close(&a);
	sim_advance(110 * 1000000ull);
	(void)str_timer_run(host_now());
	freemsg(dv_up_type(&b, M_HANGUP));
}

T_CASE(bufcall_sends_from_its_callback)
{
	connected(t);
	T_EQ(dv_str(&a, LOOP_BUFCALL, NULL, 0), 0);
	across(&a, &b, fx_msg("one", 0));
	sim_advance(1000000);
	(void)str_timer_run(host_now());
	dv_run(&a);
	FX_MSG(dv_up(&b), "one");
}

T_CASE(mark_marks_one_message_for_each_call)
{
	mblk_t *mp;
	unsigned i;

	connected(t);
	T_EQ(dv_str(&a, LOOP_MARK, NULL, 0), 0);
	T_EQ(dv_str(&a, LOOP_MARK, NULL, 0), 0);
	for (i = 0; i < 3; i++) {
		across(&a, &b, fx_msg("text", 0));
		mp = dv_up_type(&b, M_DATA);
		T_EQ(mp->b_flag & MSGMARK, i < 2 ? MSGMARK : 0);
		freemsg(mp);
	}
}

T_CASE(concat_joins_the_next_messages)
{
	mblk_t *mp;

	connected(t);
	T_EQ(dv_str(&a, LOOP_PUTNXT, NULL, 0), 0);
	T_EQ(with_int(&a, LOOP_CONCAT, 3), 0);
	across(&a, &b, fx_type(M_PROTO, "ctl", 0));
	across(&a, &b, fx_msg("one", 0));
	T_NULL(dv_up(&b));
	across(&a, &b, fx_msg("two", 0));
	mp = dv_up_type(&b, M_PROTO);
	T_EQ(fx_blocks(mp), 3);
	FX_MSG(mp, "ctlonetwo");
	across(&a, &b, fx_msg("alone", 0));
	FX_MSG(dv_up(&b), "alone");
}

T_CASE(copy_sends_another_buffer)
{
	mblk_t *mp = NULL, *got;
	unsigned char *buf;

	connected(t);
	mp = fx_msg("text", 0);
	buf = mp->b_datap->db_base;
	across(&a, &b, mp);
	got = dv_up(&b);
	T_TRUE(got->b_datap->db_base == buf);
	T_EQ(dv_str(&a, LOOP_COPY, NULL, 0), 0);
	mp = dupmsg(got); /* so that the buffer is not used again */
	across(&a, &b, got);
	got = dv_up(&b);
	T_TRUE(got->b_datap->db_base != buf);
	freemsg(mp);
	FX_MSG(got, "text");
}

T_CASE(deny_open_refuses_opens_until_it_is_given_again)
{
	connected(t);
	T_EQ(dv_str(&a, LOOP_DENY_OPEN, NULL, 0), 0);
	T_EQ(dv_reopen(&a, FREAD), EBUSY);
	T_EQ(dv_str(&a, LOOP_DENY_OPEN, NULL, 0), 0);
	T_EQ(dv_reopen(&a, FREAD), 0);
}

T_CASE(burst_sends_the_next_message_so_many_times)
{
	unsigned i;

	connected(t);
	T_EQ(with_int(&a, LOOP_BURST, 5), 0);
	across(&a, &b, fx_msg("text", 0));
	for (i = 0; i < 5; i++)
		FX_MSG(dv_up(&b), "text");
	T_NULL(dv_up(&b));
	across(&a, &b, fx_msg("once", 0));
	FX_MSG(dv_up(&b), "once");
	T_NULL(dv_up(&b));
}

T_CASE(flush_sends_m_flush_and_the_data_behind_it)
{
	mblk_t *mp;

	connected(t);
	T_EQ(dv_str(&a, LOOP_FLUSH, "after", 5), 0);
	mp = dv_up_type(&b, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
	FX_MSG(dv_up_type(&b, M_DATA), "after");
	T_EQ(dv_str(&a, LOOP_FLUSH, NULL, 0), 0);
	freemsg(dv_up_type(&b, M_FLUSH));
	T_NULL(dv_up(&b));
}

T_CASE(m_flush_is_of_the_own_queues)
{
	mblk_t *mp;

	connected(t);
	T_EQ(with_int(&a, LOOP_MSGLVL, 5), 0);
	across(&a, &b, fx_msg("void", 0));
	dv_down(&a, fx_type(M_FLUSH, "\003", 0));
	T_EQ(qsize(WR(a.rq)), 0);
	mp = dv_up_type(&a, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
	T_NULL(dv_up(&b));
}

T_CASE(transparent_copies_go_in_and_out)
{
	char in[20] = "data for the driver", out[40];
	loop_xparent_t xp = {LOOP_XPARENT_COPYOUT, sizeof(out), out};

	begin(t);
	memset(out, 'x', sizeof(out));
	T_EQ(dv_plain(&a, LOOP_XPARENT_COPYOUT, &xp), -EINVAL);
	xp.i_arg = sizeof(in);
	xp.p_arg = in;
	T_EQ(dv_plain(&a, LOOP_XPARENT_COPYIN, &xp), 0);
	xp.i_arg = sizeof(out);
	xp.p_arg = out;
	T_EQ(dv_plain(&a, LOOP_XPARENT_COPYOUT, &xp), 0);
	T_MEM(out, in, sizeof(in));
	T_EQ(out[sizeof(in)], 'x');
	xp.i_arg = 4;
	memset(out, 'x', sizeof(out));
	T_EQ(dv_plain(&a, LOOP_XPARENT_COPYOUT, &xp), 0);
	T_MEM(out, "datax", 5);
	xp.i_arg = -1;
	T_EQ(dv_plain(&a, LOOP_XPARENT_COPYIN, &xp), -EINVAL);
	T_EQ(dv_str(&a, LOOP_XPARENT_COPYIN, &xp, sizeof(xp)), EINVAL);
}

T_CASE(commands_that_there_are_not_are_einval)
{
	begin(t);
	T_EQ(dv_str(&a, LOOP_IOCTL(13), NULL, 0), EINVAL);
	T_EQ(dv_str(&a, LOOP_IOCTL(0), NULL, 0), EINVAL);
	T_EQ(dv_plain(&a, LOOP_IOCTL(99), NULL), -EINVAL);
	T_EQ(dv_str(&a, LOOP_MSGLVL, "ab", 2), EINVAL);
	T_EQ(dv_str(&a, LOOP_TIMR, NULL, 0), EINVAL);
}

T_CASE(options_end_with_the_stream)
{
	static struct dv d;

	connected(t);
	T_EQ(with_int(&a, LOOP_MSGLVL, 5), 0);
	dv_close(&a);
	freemsg(dv_up_type(&b, M_HANGUP));
	T_EQ(dv_open(&d, "loop", 1, DRVOPEN), 0);
	T_EQ(with_int(&d, LOOP_SET, 2), 0);
	across(&d, &b, fx_msg("at once", 0));
	FX_MSG(dv_up(&b), "at once");
}

T_CASE(data_that_nobody_asked_for_is_refused)
{
	begin(t);
	dv_strays(&a);
}

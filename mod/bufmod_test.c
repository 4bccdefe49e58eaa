/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * bufmod: chunks, timeouts, headers and flow control.  bufmod(7).
 */
#include "../drv/drvfix.h"
#include <sys/bufmod.h>

static struct fx_pipe pipe_;
static struct dv top; /* ioctls and what comes up, by the drivers' fixture */
static queue_t *below, *buf;

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	buf = fx_push(&pipe_, 0, "bufmod");
	top.pipe = pipe_;
	top.rq = buf;
	top.above = fx_push(&pipe_, 0, "store");
}

static void
run(void)
{
	while (fx_run(&pipe_))
		;
}

/* The driver's side sends up. */
static void
up(mblk_t *mp)
{
	putnext(below, mp);
	run();
}

static mblk_t *
got(void)
{
	return dv_up(&top);
}

static void
set(int cmd, unsigned val)
{
	T_EQ(dv_str(&top, cmd, &val, sizeof(val)), 0);
	for (;;) {
		mblk_t *mp = got();

		if (mp == NULL)
			break;
		T_EQ(mp->b_datap->db_type, M_SETOPTS);
		freemsg(mp);
	}
}

static void
set_time(long sec, long usec)
{
	long tv[2] = {sec, usec};

	T_EQ(dv_str(&top, SBIOCSTIME, tv, sizeof(tv)), 0);
}

static void
tick(unsigned ms)
{
	sim_advance(ms * 1000000ull);
	(void)str_timer_run(host_now());
	run();
}

T_CASE(full_chunks_go_up_and_the_rest_waits)
{
	unsigned i;

	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set(SBIOCSCHUNK, 30);
	for (i = 0; i < 7; i++)
		up(fx_msg("0123456789", 0));
	FX_MSG(got(), "012345678901234567890123456789");
	FX_MSG(got(), "012345678901234567890123456789");
	T_NULL(got());
	up(fx_msg("abcdefghijklmnopqrstuvwxyz", 0));
	FX_MSG(got(), "0123456789");
	T_NULL(got());
}

T_CASE(a_message_greater_than_a_chunk_goes_alone)
{
	mblk_t *mp;

	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set(SBIOCSCHUNK, 30);
	up(fx_msg("one", 0));
	up(fx_bytes(40, 0));
	FX_MSG(got(), "one");
	mp = got();
	T_EQ(msgdsize(mp), 40);
	freemsg(mp);
}

T_CASE(the_timeout_sends_what_there_is)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set_time(0, 100000);
	up(fx_msg("one", 0));
	tick(60);
	up(fx_msg("two", 0));
	T_NULL(got());
	tick(60);
	FX_MSG(got(), "onetwo");
	/* a new interval begins with the next message */
	tick(500);
	up(fx_msg("three", 0));
	tick(60);
	T_NULL(got());
	tick(60);
	FX_MSG(got(), "three");
}

T_CASE(without_a_timeout_a_chunk_waits_to_be_full)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set_time(0, 100000);
	T_EQ(dv_str(&top, SBIOCCTIME, NULL, 0), 0);
	up(fx_msg("one", 0));
	tick(1000);
	T_NULL(got());
}

T_CASE(chunk_or_timeout_of_zero_pass_at_once)
{
	unsigned chunk = 1;

	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set(SBIOCSCHUNK, 0);
	up(fx_msg("one", 0));
	FX_MSG(got(), "one");
	up(fx_msg("two", 0));
	up(fx_msg("three", 0));
	FX_MSG(got(), "two");
	FX_MSG(got(), "three");
	set(SBIOCSCHUNK, 100);
	set_time(0, 0);
	T_EQ(dv_str_get(&top, SBIOCGCHUNK, &chunk, sizeof(chunk), &chunk,
		sizeof(chunk)), 0);
	T_EQ(chunk, 0);
	up(fx_msg("four", 0));
	FX_MSG(got(), "four");
}

T_CASE(every_message_has_its_header)
{
	struct sb_hdr h;
	mblk_t *mp;

	begin(t);
	T_EQ(sizeof(h), 24);
	set(SBIOCSCHUNK, 96);
	set(SBIOCSSNAP, 6);
	up(fx_msg("0123456789", 0));
	up(fx_type(M_PROTO, "ab", 0));
	up(fx_bytes(100, 0));
	up(fx_msg("next", 0));
	mp = got();
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_DATA);
	T_EQ(pullupmsg(mp, -1), 1);
	T_EQ(mp->b_wptr - mp->b_rptr, 96);
	memcpy(&h, mp->b_rptr, sizeof(h));
	T_EQ(h.sbh_origlen, 10);
	T_EQ(h.sbh_msglen, 6);
	T_EQ(h.sbh_totlen, 32);
	T_EQ(h.sbh_drops, 0);
	T_MEM(mp->b_rptr + 24, "012345\0\0", 8);
	memcpy(&h, mp->b_rptr + 32, sizeof(h));
	T_EQ(h.sbh_origlen, 2);
	T_EQ(h.sbh_msglen, 2);
	T_EQ(h.sbh_totlen, 32);
	T_MEM(mp->b_rptr + 56, "ab\0\0\0\0\0\0", 8);
	memcpy(&h, mp->b_rptr + 64, sizeof(h));
	T_EQ(h.sbh_origlen, 100);
	freemsg(mp);
}

T_CASE(no_proto_cvt_keeps_m_proto_and_the_order)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER | SB_NO_PROTO_CVT);
	up(fx_msg("one", 0));
	up(fx_type(M_PROTO, "ctl", 0));
	up(fx_msg("two", 0));
	FX_MSG(dv_up_type(&top, M_DATA), "one");
	FX_MSG(dv_up_type(&top, M_PROTO), "ctl");
	T_NULL(got());
}

T_CASE(converting_a_shared_block_leaves_the_others_alone)
{
	mblk_t *mp, *dup;

	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set(SBIOCSCHUNK, 0);
	mp = fx_type(M_PROTO, "ctl", 0);
	dup = dupmsg(mp);
	up(mp);
	FX_MSG(dv_up_type(&top, M_DATA), "ctl");
	T_EQ(dup->b_datap->db_type, M_PROTO);
	freemsg(dup);
}

T_CASE(high_priority_messages_pass)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	up(fx_msg("one", 0));
	up(fx_type(M_PCPROTO, "high", 0));
	FX_MSG(dv_up_type(&top, M_PCPROTO), "high");
	T_NULL(got());
}

T_CASE(a_hang_up_comes_behind_what_waited)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	up(fx_msg("last", 0));
	up(fx_type(M_HANGUP, "", 0));
	/* the module above queues: the hang-up overtakes there, not here */
	freemsg(dv_up_type(&top, M_HANGUP));
	FX_MSG(dv_up_type(&top, M_DATA), "last");
}

T_CASE(send_on_write_ends_the_chunk)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER | SB_SEND_ON_WRITE);
	up(fx_msg("one", 0));
	T_NULL(got());
	putnext(WR(top.above), fx_msg("question", 0));
	run();
	FX_MSG(getq(WR(below)), "question");
	FX_MSG(got(), "one");
	set(SBIOCSFLAGS, SB_NO_HEADER);
	up(fx_msg("two", 0));
	putnext(WR(top.above), fx_msg("question", 0));
	run();
	FX_MSG(getq(WR(below)), "question");
	T_NULL(got());
}

T_CASE(defer_chunk_sends_the_first_of_an_interval)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER | SB_DEFER_CHUNK);
	set_time(0, 100000);
	up(fx_msg("one", 0));
	FX_MSG(got(), "one");
	up(fx_msg("two", 0));
	up(fx_msg("three", 0));
	T_NULL(got());
	tick(110);
	FX_MSG(got(), "twothree");
	up(fx_msg("four", 0));
	FX_MSG(got(), "four");
}

T_CASE(what_finds_no_room_is_dropped_and_counted)
{
	struct sb_hdr h;
	mblk_t *mp;
	unsigned i;

	begin(t);
	set(SBIOCSCHUNK, 0);
	/* the module above is full at 100 bytes: 32 each, the fourth fills */
	for (i = 0; i < 10; i++) {
		T_EQ(bcanputnext(below, 0), 1); /* never held back */
		up(fx_msg("0123", 0));
	}
	for (i = 0; i < 4; i++)
		freemsg(got());
	T_NULL(got());
	up(fx_msg("0123", 0));
	mp = got();
	T_EQ(pullupmsg(mp, -1), 1);
	memcpy(&h, mp->b_rptr, sizeof(h));
	T_EQ(h.sbh_drops, 6);
	freemsg(mp);
}

T_CASE(no_drops_holds_the_sender_back)
{
	unsigned sent = 0, n = 0;
	mblk_t *mp;

	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER | SB_NO_DROPS);
	set(SBIOCSCHUNK, 0);
	while (bcanputnext(below, 0)) {
		up(fx_msg("0123456789", 0));
		T_TRUE(++sent < 1000);
	}
	T_GT(sent, 20u);
	while ((mp = got()) != NULL) {
		FX_MSG(mp, "0123456789");
		n++;
	}
	T_EQ(n, sent);
	T_EQ(bcanputnext(below, 0), 1);
}

T_CASE(m_flush_throws_the_chunk_away)
{
	begin(t);
	set(SBIOCSFLAGS, SB_NO_HEADER);
	set_time(0, 100000);
	up(fx_msg("void", 0));
	up(fx_type(M_FLUSH, "\001", 0));
	freemsg(dv_up_type(&top, M_FLUSH));
	up(fx_msg("one", 0));
	tick(110);
	FX_MSG(got(), "one");
}

T_CASE(parameters_are_as_they_were_set)
{
	long tv[2] = {3, 250000}, back[2] = {0, 0};
	unsigned u = 0;
	unsigned long ul = 0;

	begin(t);
	T_EQ(dv_str_get(&top, SBIOCGCHUNK, &u, sizeof(u), &u, sizeof(u)), 0);
	T_EQ(u, SB_DFLT_CHUNK);
	T_EQ(dv_str(&top, SBIOCGTIME, back, sizeof(back)), ERANGE);
	T_EQ(dv_str(&top, SBIOCSTIME, tv, sizeof(tv)), 0);
	T_EQ(dv_str_get(&top, SBIOCGTIME, back, sizeof(back), back,
		sizeof(back)), 0);
	T_EQ(back[0], 3);
	T_EQ(back[1], 250000);
	T_EQ(dv_str(&top, SBIOCCTIME, NULL, 0), 0);
	T_EQ(dv_plain(&top, SBIOCGTIME, back), -ERANGE);
	set(SBIOCSSNAP, 77);
	T_EQ(dv_plain(&top, SBIOCGSNAP, &u), 0);
	T_EQ(u, 77);
	u = SB_NO_HEADER | SB_NO_DROPS;
	T_EQ(dv_plain(&top, SBIOCSFLAGS, &u), 0);
	T_EQ(dv_str_get(&top, SBIOCGFLAGS, &ul, sizeof(ul), &ul, sizeof(ul)),
		0);
	T_EQ(ul, SB_NO_HEADER | SB_NO_DROPS);
}

T_CASE(bad_parameters_are_einval)
{
	long tv[2] = {-1, 0};
	unsigned u = 0x20;

	begin(t);
	T_EQ(dv_str(&top, SBIOCSTIME, tv, sizeof(tv)), EINVAL);
	tv[0] = 0;
	tv[1] = 1000000;
	T_EQ(dv_str(&top, SBIOCSTIME, tv, sizeof(tv)), EINVAL);
	T_EQ(dv_str(&top, SBIOCSTIME, tv, 3), EINVAL);
	T_EQ(dv_str(&top, SBIOCSFLAGS, &u, sizeof(u)), EINVAL);
	T_EQ(dv_str(&top, SBIOCSCHUNK, "ab", 2), EINVAL);
	u = 1u << 30;
	T_EQ(dv_str(&top, SBIOCSCHUNK, &u, sizeof(u)), EINVAL);
}

T_CASE(other_ioctls_go_on_down)
{
	begin(t);
	putnext(WR(top.above), dv_ioctl_msg(0x1234, 0, NULL, 0));
	freemsg(getq(WR(below)));
	putnext(WR(top.above), dv_ioctl_msg(SBIOC | 10, 0, NULL, 0));
	freemsg(getq(WR(below)));
}

T_CASE(a_great_chunk_makes_room_at_the_head)
{
	struct stroptions *so;
	unsigned u = 60000;
	mblk_t *mp;

	begin(t);
	T_EQ(dv_str(&top, SBIOCSCHUNK, &u, sizeof(u)), 0);
	mp = dv_up_type(&top, M_SETOPTS);
	so = (struct stroptions *)(void *)mp->b_rptr;
	T_EQ(so->so_flags, SO_HIWAT | SO_LOWAT);
	T_GT(so->so_hiwat, 60000ul);
	T_GT(so->so_hiwat, so->so_lowat);
	freemsg(mp);
}

T_CASE(closing_with_a_chunk_and_a_timer_leaves_nothing)
{
	begin(t);
	set_time(0, 100000);
	up(fx_msg("one", 0));
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(fx_pop(&pipe_, 0), 0);
	tick(200);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * impair: loss, delay, duplication, reordering.  impair(7).
 */
#include <sys/types.h>
#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../drv/drvfix.h"
#include <sys/impair.h>

static struct fx_pipe pipe_;
static struct dv top;
static queue_t *below, *im;
static struct impair_conf conf;

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	im = fx_push(&pipe_, 0, "impair");
	top.pipe = pipe_;
	top.rq = im;
	top.above = fx_push(&pipe_, 0, "store");
	/* as a Stream head that is read has it */
	(void)strqset(top.above, QHIWAT, 0, 1 << 20);
	(void)strqset(WR(below), QHIWAT, 0, 1 << 20);
	memset(&conf, 0, sizeof(conf));
	conf.seed = 1;
}

static void
run(void)
{
	while (fx_run(&pipe_))
		;
}

static void
set(void)
{
	T_EQ(dv_str(&top, IMPAIR_SET, &conf, sizeof(conf)), 0);
}

static struct impair_stat
stat_(void)
{
	struct impair_stat st;

	memset(&st, 0, sizeof(st));
	T_EQ(dv_str_get(&top, IMPAIR_STAT, &st, sizeof(st), &st, sizeof(st)),
		0);
	return st;
}

/* Number @i goes up. */
static void
up(unsigned i)
{
	mblk_t *mp;

	mp = allocb(sizeof(i), BPRI_MED);
	memcpy(mp->b_wptr, &i, sizeof(i));
	mp->b_wptr += sizeof(i);
	putnext(below, mp);
	run();
}

#define NONE 0xffffffffu

static unsigned
number(mblk_t *mp)
{
	unsigned i;

	if (mp == NULL)
		return NONE;
	T_EQ(mp->b_datap->db_type, M_DATA);
	T_EQ(msgdsize(mp), sizeof(i));
	memcpy(&i, mp->b_rptr, sizeof(i));
	freemsg(mp);
	return i;
}

static unsigned
got(void)
{
	return number(dv_up(&top));
}

static void
pass(unsigned ms)
{
	sim_advance(ms * 1000000ull);
	(void)str_timer_run(host_now());
	run();
}

T_CASE(does_nothing_before_it_is_told)
{
	unsigned i;

	begin(t);
	for (i = 0; i < 200; i++)
		up(i);
	for (i = 0; i < 200; i++)
		T_EQ(got(), i);
	T_EQ(got(), NONE);
	putnext(WR(top.above), fx_msg("down", 0));
	run();
	FX_MSG(getq(WR(below)), "down");
	T_EQ(stat_().up.seen, 200);
	T_EQ(stat_().up.sent, 200);
	T_EQ(stat_().down.sent, 1);
}

T_CASE(loses_as_many_as_it_shall)
{
	unsigned i, n = 0, last = 0, v;

	begin(t);
	conf.up.loss = 100000;
	set();
	for (i = 1; i <= 10000; i++) {
		up(i);
		v = got();
		if (v == NONE)
			continue;
		T_GT(v, last);
		last = v;
		n++;
	}
	T_GT(n, 8800u);
	T_LT(n, 9200u);
	T_EQ(stat_().up.lost, 10000 - n);
	T_EQ(stat_().up.sent, n);
}

T_CASE(loses_all_or_none)
{
	unsigned i;

	begin(t);
	conf.up.loss = IMPAIR_ALWAYS;
	set();
	for (i = 0; i < 100; i++)
		up(i);
	T_EQ(got(), NONE);
	/* the other direction is another matter */
	putnext(WR(top.above), fx_msg("down", 0));
	run();
	FX_MSG(getq(WR(below)), "down");
	conf.up.loss = 0;
	set();
	up(7);
	T_EQ(got(), 7);
}

T_CASE(loses_in_bursts)
{
	unsigned i, run_ = 0, runs = 0;

	begin(t);
	conf.up.loss = 20000;
	conf.up.burst = 5;
	set();
	for (i = 0; i < 3000; i++) {
		up(i);
		if (got() == NONE) {
			run_++;
			continue;
		}
		T_TRUE(run_ == 0 || run_ >= 5);
		runs += run_ != 0;
		run_ = 0;
	}
	T_GT(runs, 20u);
	T_GE(stat_().up.lost, runs * 5ull);
}

/* What happens to 500 messages, as a string. */
static void
history(char *to, unsigned seed)
{
	unsigned i, v;

	conf.seed = seed;
	set();
	for (i = 0; i < 500; i++) {
		up(i);
		for (*to = '.'; (v = got()) != NONE; (*to)++)
			;
		to++;
	}
	*to = '\0';
}

T_CASE(the_same_seed_does_the_same)
{
	char a[512], b[512], c[512];

	begin(t);
	conf.up.loss = conf.up.twice = 200000;
	history(a, 1);
	history(b, 1);
	history(c, 2);
	T_STR(a, b);
	T_NE(strcmp(a, c), 0);
	/* one chance more does not change what the others decide */
	conf.up.twice = 0;
	history(b, 1);
	for (unsigned i = 0; i < 500; i++)
		T_EQ(a[i] == '.', b[i] == '.');
}

T_CASE(passes_some_twice)
{
	unsigned i;

	begin(t);
	conf.up.twice = IMPAIR_ALWAYS;
	set();
	for (i = 0; i < 10; i++)
		up(i);
	for (i = 0; i < 10; i++) {
		T_EQ(got(), i);
		T_EQ(got(), i);
	}
	T_EQ(got(), NONE);
	T_EQ(stat_().up.twice, 10);
	T_EQ(stat_().up.sent, 20);
}

T_CASE(a_copy_is_one_of_its_own)
{
	mblk_t *one, *two;

	begin(t);
	conf.up.twice = IMPAIR_ALWAYS;
	set();
	up(1);
	one = dv_up(&top);
	two = dv_up(&top);
	T_TRUE(one->b_datap != two->b_datap);
	T_EQ(one->b_datap->db_ref, 1);
	freemsg(one);
	freemsg(two);
}

T_CASE(delays_and_keeps_the_order)
{
	unsigned i;

	begin(t);
	conf.up.delay = 100;
	set();
	for (i = 0; i < 10; i++) {
		up(i);
		pass(5);
	}
	T_EQ(got(), NONE);
	T_EQ(stat_().up.held, 10);
	pass(40); /* 90 ms after the first */
	T_EQ(got(), NONE);
	pass(70);
	for (i = 0; i < 10; i++)
		T_EQ(got(), i);
	T_EQ(got(), NONE);
	T_EQ(stat_().up.held, 0);
}

T_CASE(jitter_changes_the_order)
{
	unsigned i, v, n = 0, turned = 0, last = 0;
	unsigned char seen[200] = {0};

	begin(t);
	conf.up.delay = 20;
	conf.up.jitter = 200;
	set();
	for (i = 0; i < 200; i++) {
		up(i);
		pass(3);
	}
	pass(500);
	while ((v = got()) != NONE) {
		T_LT(v, 200);
		T_EQ(seen[v]++, 0);
		turned += v < last;
		last = v;
		n++;
	}
	T_EQ(n, 200);
	T_GT(turned, 20u);
}

T_CASE(some_are_overtaken)
{
	unsigned i, v, turned = 0;
	unsigned at[300];

	begin(t);
	conf.up.late = 100000;
	conf.up.behind = 3;
	set();
	for (i = 0; i < 300; i++)
		up(i);
	pass(2000);
	for (i = 0; i < 300; i++) {
		v = got();
		T_LT(v, 300);
		at[v] = i;
	}
	T_EQ(got(), NONE);
	for (i = 0; i < 296; i++) {
		/* who is late is late by three, or by more that are late */
		turned += at[i] > i + 1;
		T_TRUE(at[i] + 12 > i && at[i] < i + 12);
	}
	T_GT(turned, 10u);
	T_EQ(stat_().up.late > 15, 1);
	T_EQ(stat_().up.sent, 300);
}

T_CASE(one_that_nobody_overtakes_comes_nevertheless)
{
	begin(t);
	conf.up.late = IMPAIR_ALWAYS;
	set();
	up(1);
	pass(900);
	T_EQ(got(), NONE);
	pass(200);
	T_EQ(got(), 1);
}

T_CASE(holds_no_more_than_its_limit)
{
	unsigned i;

	begin(t);
	conf.up.delay = 50;
	conf.up.limit = 10;
	set();
	for (i = 0; i < 25; i++) {
		T_EQ(bcanputnext(below, 0), 1);
		up(i);
	}
	T_EQ(stat_().up.held, 10);
	T_EQ(stat_().up.full, 15);
	pass(100);
	for (i = 0; i < 10; i++)
		T_EQ(got(), i);
	T_EQ(got(), NONE);
}

T_CASE(without_a_delay_the_sender_is_held_back)
{
	unsigned i = 0, k;

	begin(t);
	(void)strqset(top.above, QHIWAT, 0, 100);
	while (bcanputnext(below, 0)) {
		mblk_t *mp = fx_bytes(1000, 0);

		putnext(below, mp);
		run();
		T_LT(++i, 2000u);
	}
	T_GT(i, 60u);
	T_EQ(stat_().up.full, 0);
	for (k = 0; k < i; k++) {
		mblk_t *mp = dv_up(&top);

		T_NOTNULL(mp);
		freemsg(mp);
		run();
	}
	T_EQ(bcanputnext(below, 0), 1);
}

T_CASE(what_is_no_datagram_passes)
{
	struct T_unitdata_ind ud = {.PRIM_type = T_UNITDATA_IND};
	t_scalar_t prim = T_DISCON_IND;
	mblk_t *mp;

	begin(t);
	conf.up.loss = conf.down.loss = IMPAIR_ALWAYS;
	set();
	mp = allocb(sizeof(prim), BPRI_MED);
	memcpy(mp->b_wptr, &prim, sizeof(prim));
	mp->b_wptr += sizeof(prim);
	mp->b_datap->db_type = M_PROTO;
	putnext(below, mp);
	putnext(below, fx_type(M_PROTO, "ab", 0));
	putnext(below, fx_type(M_PCPROTO, "high", 0));
	putnext(below, fx_type(M_CTL, "ctl", 0));
	run();
	freemsg(dv_up_type(&top, M_PCPROTO));
	freemsg(dv_up_type(&top, M_PROTO));
	FX_MSG(dv_up_type(&top, M_PROTO), "ab");
	FX_MSG(dv_up_type(&top, M_CTL), "ctl");
	T_EQ(stat_().up.seen, 0);
	mp = allocb(sizeof(ud), BPRI_MED);
	memcpy(mp->b_wptr, &ud, sizeof(ud));
	mp->b_wptr += sizeof(ud);
	mp->b_datap->db_type = M_PROTO;
	putnext(below, mp);
	run();
	T_NULL(dv_up(&top));
	T_EQ(stat_().up.lost, 1);
}

T_CASE(m_flush_throws_away_what_is_held)
{
	begin(t);
	conf.up.delay = 100;
	set();
	up(1);
	putnext(below, fx_type(M_FLUSH, "\001", 0));
	run();
	freemsg(dv_up_type(&top, M_FLUSH));
	T_EQ(stat_().up.held, 0);
	up(2);
	pass(150);
	T_EQ(got(), 2);
	T_EQ(got(), NONE);
}

T_CASE(bad_parameters_are_einval)
{
	begin(t);
	conf.up.loss = IMPAIR_ALWAYS + 1;
	T_EQ(dv_str(&top, IMPAIR_SET, &conf, sizeof(conf)), EINVAL);
	conf.up.loss = 0;
	conf.down.delay = 3600001;
	T_EQ(dv_str(&top, IMPAIR_SET, &conf, sizeof(conf)), EINVAL);
	conf.down.delay = 0;
	conf.zero = 1;
	T_EQ(dv_str(&top, IMPAIR_SET, &conf, sizeof(conf)), EINVAL);
	conf.zero = 0;
	T_EQ(dv_str(&top, IMPAIR_SET, &conf, sizeof(conf) - 4), EINVAL);
}

T_CASE(parameters_are_as_they_were_set)
{
	struct impair_conf back;

	begin(t);
	conf.up.loss = 5;
	conf.down.jitter = 70;
	conf.seed = 99;
	T_EQ(dv_plain(&top, IMPAIR_SET, &conf), 0);
	T_EQ(dv_plain(&top, IMPAIR_GET, &back), 0);
	conf.up.limit = conf.down.limit = 1000;
	T_MEM(&back, &conf, sizeof(conf));
	putnext(WR(top.above), dv_ioctl_msg(0x1234, 0, NULL, 0));
	freemsg(getq(WR(below)));
}

T_CASE(popping_it_leaves_nothing)
{
	begin(t);
	conf.up.delay = conf.down.delay = 100;
	set();
	up(1);
	putnext(WR(top.above), fx_msg("down", 0));
	run();
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(fx_pop(&pipe_, 0), 0);
	pass(300);
}

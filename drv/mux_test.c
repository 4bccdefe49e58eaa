/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * mux and minimux: mux(4), minimux(4).  The executive's part of a link is
 * done here by hand: a lower side stands on a stream of its own, and the
 * M_IOCTL of I_LINK tells the driver.
 */
#include "drvfix.h"
#include <sys/LiS/minimux.h>
#include <sys/mux.h>
#include <sys/stropts.h>

extern const struct str_builtin str_drv_mux, str_drv_minimux;

/* A lower stream: the multiplexor's lower side, and "store" for a driver. */
struct lower {
	struct fx_pipe pipe;
	queue_t *top; /* read queue of the lower side */
	queue_t *drv; /* read queue of what is below */
	int id;
};

static struct dv a, b;
static struct lower x, y;

static int
with_link(struct dv *d, int cmd, struct lower *l)
{
	struct linkblk lb = {
		.l_qtop = cmd == I_PLINK || cmd == I_PUNLINK ? NULL :
			WR(d->rq),
		.l_qbot = WR(l->top),
		.l_index = l->id,
	};

	return dv_str(d, cmd, &lb, sizeof(lb));
}

static void
make(struct lower *l, const char *name, int id)
{
	char low[16];

	snprintf(low, sizeof(low), "%.4s.low", name);
	memset(l, 0, sizeof(*l));
	fx_pipe(&l->pipe);
	l->drv = fx_push(&l->pipe, 0, "store");
	l->top = fx_push(&l->pipe, 0, low);
	l->id = id;
}

static void
run(struct lower *l)
{
	while (fx_run(&l->pipe))
		;
}

/* What reached the lower stream's driver. */
static mblk_t *
below(struct lower *l)
{
	mblk_t *mp;

	run(l);
	mp = getq(WR(l->drv));
	run(l);
	return mp;
}

/* What the lower stream's driver sends up. */
static void
from_below(struct lower *l, mblk_t *mp)
{
	putnext(l->drv, mp);
	run(l);
}

static int
direct(struct dv *d, int cmd, int id)
{
	return dv_str(d, cmd, &id, sizeof(id));
}

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_mux);
	T_EQ(dv_open(&a, "mux", 1, DRVOPEN), 0);
	T_EQ(dv_open(&b, "mux", 2, DRVOPEN), 0);
	make(&x, "mux", 11);
	make(&y, "mux", 12);
}

T_CASE(alone_it_turns_round)
{
	begin(t);
	dv_down(&a, fx_msg("text", 0));
	FX_MSG(dv_up(&a), "text");
	T_EQ(dv_str(&a, 0x1234, NULL, 0), EINVAL);
}

T_CASE(a_link_pairs_upper_and_lower)
{
	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	dv_down(&a, fx_msg("down", 0));
	FX_MSG(below(&x), "down");
	from_below(&x, fx_type(M_PROTO, "up", 0));
	FX_MSG(dv_up_type(&a, M_PROTO), "up");
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
	dv_down(&a, fx_msg("round", 0));
	FX_MSG(dv_up(&a), "round");
}

/* mux(4): a message is turned round once */
T_CASE(what_comes_back_to_be_turned_round_again_is_gone)
{
	mblk_t *mp;

	begin(t);
	T_EQ(with_link(&a, I_PLINK, &x), 0);
	dv_close(&a);
	from_below(&x, fx_msg("round", 0));
	mp = below(&x);
	T_NOTNULL(mp);
	from_below(&x, mp);
	T_NULL(below(&x));
	T_EQ(with_link(&b, I_PUNLINK, &x), 0);
}

T_CASE(a_second_lower_sends_up_but_gets_nothing)
{
	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	T_EQ(with_link(&a, I_LINK, &y), 0);
	from_below(&x, fx_msg("from x", 0));
	FX_MSG(dv_up(&a), "from x");
	from_below(&y, fx_msg("from y", 0));
	FX_MSG(dv_up(&a), "from y");
	dv_down(&a, fx_msg("down", 0));
	FX_MSG(below(&x), "down");
	T_NULL(below(&y));
	T_EQ(direct(&a, MUX_DOWN, y.id), 0);
	dv_down(&a, fx_msg("down", 0));
	FX_MSG(below(&y), "down");
	T_NULL(below(&x));
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
	T_EQ(with_link(&a, I_UNLINK, &y), 0);
}

T_CASE(up_and_down_change_one_direction_each)
{
	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	T_EQ(direct(&b, MUX_UP, x.id), 0);
	from_below(&x, fx_msg("to b", 0));
	FX_MSG(dv_up(&b), "to b");
	T_NULL(dv_up(&a));
	dv_down(&a, fx_msg("a", 0));
	FX_MSG(below(&x), "a");
	dv_down(&b, fx_msg("b", 0));
	FX_MSG(dv_up(&b), "b"); /* not connected downwards: round */
	T_EQ(direct(&b, MUX_DOWN, x.id), 0);
	dv_down(&b, fx_msg("b", 0));
	FX_MSG(below(&x), "b");
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(commands_of_an_unknown_link_are_einval)
{
	int id = 99;

	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	T_EQ(direct(&a, MUX_UP, 99), EINVAL);
	T_EQ(direct(&a, MUX_DOWN, -1), EINVAL);
	T_EQ(dv_str(&a, MUX_DOWN, "ab", 2), EINVAL);
	T_EQ(dv_plain(&a, MUX_DOWN, &id), -EINVAL);
	id = x.id;
	T_EQ(dv_plain(&a, MUX_DOWN, &id), 0);
	T_EQ(with_link(&a, I_UNLINK, &y), EINVAL);
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(what_has_no_room_below_waits_above)
{
	char text[8];
	unsigned i;

	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		dv_down(&a, fx_msg(text, 0));
	}
	T_GT(qsize(WR(a.rq)), 20);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		FX_MSG(below(&x), text);
		dv_run(&a); /* back-enabled through the lower side */
	}
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(what_has_no_room_above_waits_below)
{
	char text[8];
	unsigned i;

	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		from_below(&x, fx_msg(text, 0));
	}
	T_GT(qsize(x.top), 20);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "m%06u", i);
		FX_MSG(dv_up(&a), text);
		run(&x);
	}
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

/* who waits for room here may be the one who has none, as an echo is */
T_CASE(what_has_no_room_is_not_taken)
{
	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_bytes(8000, 0));
	T_EQ(canput(WR(a.rq)), 0);
	qenable(WR(a.rq));
	dv_run(&a);
	T_EQ(qsize(WR(a.rq)), 1);
	T_NE(WR(a.rq)->q_flag & QWANTW, 0);
	freemsg(below(&x));
	dv_run(&a);
	T_EQ(WR(a.rq)->q_flag & QWANTW, 0);
	freemsg(below(&x));
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(what_waited_to_be_turned_round_goes_to_the_first_link)
{
	mblk_t *mp;

	begin(t);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("waits", 0));
	T_EQ(qsize(WR(a.rq)), 1);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	dv_run(&a);
	mp = below(&x);
	T_NOTNULL(mp);
	FX_MSG(mp, "waits");
	freemsg(dv_up(&a));
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

/* the answer would not find its way */
T_CASE(an_ioctl_that_waited_is_refused_when_its_lower_goes)
{
	mblk_t *mp;

	begin(t);
	T_EQ(with_link(&a, I_PLINK, &x), 0);
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("waits", 0));
	dv_down(&a, dv_ioctl_msg(0x1234, 0, NULL, 0));
	T_EQ(qsize(WR(a.rq)), 2);
	T_EQ(with_link(&b, I_PUNLINK, &x), 0);
	dv_run(&a);
	mp = dv_up_type(&a, M_IOCNAK);
	T_EQ(((struct iocblk *)(void *)mp->b_rptr)->ioc_error, EINVAL);
	freemsg(mp);
	FX_MSG(dv_up(&a), "waits");
	freemsg(below(&x));
}

/* ... at once, also behind what waits itself */
static void
waits_and_is_refused(struct t *t, int (*loses_it)(void))
{
	mblk_t *mp;

	begin(t);
	T_EQ(with_link(&a, I_PLINK, &x), 0);
	from_below(&x, fx_bytes(120, 0)); /* its head is full */
	dv_down(&a, fx_bytes(120, 0));
	dv_down(&a, fx_msg("waits", 0));
	dv_down(&a, dv_ioctl_msg(0x1234, 0, NULL, 0));
	T_EQ(qsize(WR(a.rq)), 2);
	T_EQ(loses_it(), 0);
	T_EQ(qsize(WR(a.rq)), 1);
	mp = dv_up_type(&a, M_IOCNAK);
	T_EQ(((struct iocblk *)(void *)mp->b_rptr)->ioc_error, EINVAL);
	freemsg(mp);
	freemsg(dv_up(&a)); /* what made the head full */
	freemsg(below(&x));
}

static int
unlinked(void)
{
	return with_link(&b, I_PUNLINK, &x);
}

T_CASE(an_ioctl_that_waits_behind_others_is_refused_when_its_lower_goes)
{
	waits_and_is_refused(t, unlinked);
}

static int
is_anothers(void)
{
	return direct(&b, MUX_UP, x.id);
}

T_CASE(an_ioctl_that_waits_is_refused_when_its_lower_answers_to_another)
{
	waits_and_is_refused(t, is_anothers);
	dv_run(&a);
	FX_MSG(below(&x), "waits");
	T_EQ(with_link(&b, I_PUNLINK, &x), 0);
}

T_CASE(closing_the_upper_leaves_its_lowers_without_one)
{
	begin(t);
	/* persistent: it stays when the stream is closed */
	T_EQ(with_link(&a, I_PLINK, &x), 0);
	dv_close(&a);
	from_below(&x, fx_msg("round", 0));
	FX_MSG(below(&x), "round");
	T_EQ(direct(&b, MUX_UP, x.id), 0);
	from_below(&x, fx_msg("up", 0));
	FX_MSG(dv_up(&b), "up");
	T_EQ(with_link(&b, I_PUNLINK, &x), 0);
}

T_CASE(ioctls_go_to_the_lower_that_answers_here)
{
	mblk_t *mp;

	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	dv_down(&a, dv_ioctl_msg(0x1234, 0, NULL, 0));
	mp = below(&x);
	T_EQ(mp->b_datap->db_type, M_IOCTL);
	mp->b_datap->db_type = M_IOCACK;
	from_below(&x, mp);
	freemsg(dv_up_type(&a, M_IOCACK));
	/* b's answer would go to a */
	T_EQ(direct(&b, MUX_DOWN, x.id), 0);
	T_EQ(dv_str(&b, 0x1234, NULL, 0), EINVAL);
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(flushing_stays_on_its_side)
{
	mblk_t *mp;

	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	dv_down(&a, fx_type(M_FLUSH, "\003", 0));
	mp = dv_up_type(&a, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHR);
	freemsg(mp);
	T_NULL(below(&x));
	/* from below: as a head does */
	from_below(&x, fx_type(M_FLUSH, "\003", 0));
	T_NULL(dv_up(&a));
	mp = below(&x);
	T_EQ(mp->b_datap->db_type, M_FLUSH);
	T_EQ(mp->b_rptr[0], FLUSHW);
	freemsg(mp);
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

T_CASE(a_hang_up_below_is_seen_by_the_upper_only)
{
	begin(t);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	from_below(&x, fx_type(M_HANGUP, "", 0));
	freemsg(dv_up_type(&a, M_HANGUP));
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
	T_EQ(with_link(&a, I_PLINK, &y), 0);
	dv_close(&a);
	from_below(&y, fx_type(M_HANGUP, "", 0));
	T_NULL(below(&y)); /* not turned round */
	T_EQ(with_link(&b, I_PUNLINK, &y), 0);
}

T_CASE(minimux_has_minors_1_to_99)
{
	static struct dv d[4];

	fx_begin(t);
	dv_driver(&str_drv_minimux);
	T_EQ(dv_open(&d[0], "minimux", 0, DRVOPEN), ENXIO);
	T_EQ(dv_open(&d[1], "minimux", 100, DRVOPEN), ENXIO);
	T_EQ(dv_open(&d[2], "minimux", 99, DRVOPEN), 0);
	T_EQ(dv_open(&d[3], "minimux", 0, CLONEOPEN), 0);
	T_EQ(d[3].minor, 1);
}

T_CASE(minimux_commands_change_one_direction_each)
{
	fx_begin(t);
	dv_driver(&str_drv_minimux);
	T_EQ(dv_open(&a, "minimux", 1, DRVOPEN), 0);
	T_EQ(dv_open(&b, "minimux", 2, DRVOPEN), 0);
	make(&x, "minimux", 7);
	T_EQ(with_link(&a, I_LINK, &x), 0);
	T_EQ(direct(&b, MINIMUX_UP, 7), 0);
	from_below(&x, fx_msg("to b", 0));
	FX_MSG(dv_up(&b), "to b");
	T_EQ(direct(&b, MINIMUX_DOWN, 7), 0);
	dv_down(&b, fx_msg("b", 0));
	FX_MSG(below(&x), "b");
	T_EQ(direct(&b, MINIMUX_DOWN, 8), EINVAL);
	T_EQ(direct(&a, MUX_UP, 7), EINVAL);
	T_EQ(with_link(&a, I_UNLINK, &x), 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/* Cases of qprocson, freezestr and the canput functions. */
#include "ddi_st.h"

static struct fx_pipe p;

/* A module's queue that keeps what it is given; its read side. */
static queue_t *
store(void)
{
	fx_pipe(&p);
	return fx_push(&p, 0, "store");
}

static void
empty(queue_t *q)
{
	mblk_t *mp;

	while ((mp = getq(q)) != NULL)
		freemsg(mp);
	(void)fx_enabled(q);
}

/* -------------------------------------------------- qprocson and qprocsoff */

/*
 * A module whose open and close procedures let its neighbour below send a
 * message up at each point.
 */
static queue_t *below;
static unsigned nputs, before_on, after_on, before_off, after_off;
static unsigned services, services_off;

static unsigned
sent(void)
{
	unsigned had = nputs;

	putnext(below, fx_msg("up", 0));
	return nputs - had;
}

static int
odd_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	before_on = sent();
	qprocson(q);
	after_on = sent();
	return 0;
}

static int
odd_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	before_off = sent();
	if (putq(q, fx_msg("left", 0)) == 0)
		T_FAIL("putq");
	qprocsoff(q);
	after_off = sent();
	services_off = services;
	return 0;
}

static int
odd_put(queue_t *q, mblk_t *mp)
{
	nputs++;
	putnext(q, mp);
	return 0;
}

static int
odd_srv(queue_t *q)
{
	(void)q;
	services++;
	return 0;
}

static struct module_info odd_info = {
	.mi_idnum = 0x6f64,
	.mi_idname = (char *)"odd",
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = 1000,
	.mi_lowat = 20,
};
static struct qinit odd_r = {
	.qi_putp = odd_put, .qi_srvp = odd_srv, .qi_qopen = odd_open,
	.qi_qclose = odd_close, .qi_minfo = &odd_info,
};
static struct qinit odd_w = {
	.qi_putp = odd_put, .qi_minfo = &odd_info,
};
static struct streamtab odd = {
	.st_rdinit = &odd_r, .st_wrinit = &odd_w,
};

/* The module was pushed and popped. */
static void
come_and_go(void)
{
	fx_module("odd", &odd, D_MP);
	fx_pipe(&p);
	below = fx_push(&p, 0, "store");
	(void)fx_push(&p, 0, "odd");
	T_EQ(fx_pop(&p, 0), 0);
}

CASE(qprocson_before)
{
	come_and_go();
	D_HOLDS(before_on == 0);
}

CASE(qprocson_after)
{
	come_and_go();
	D_HOLDS(after_on == 1);
}

CASE(qprocsoff_before)
{
	come_and_go();
	D_HOLDS(before_off == 1);
}

CASE(qprocsoff_after)
{
	come_and_go();
	D_HOLDS(after_off == 0);
}

CASE(qprocsoff_service)
{
	come_and_go();
	(void)fx_run(&p);
	D_HOLDS(services == services_off);
}

/* -------------------------------------------------------------- freezestr */

struct shared {
	queue_t *q;
	str_a32 step, result;
};

static void
put_one(void *arg)
{
	struct shared *s = arg;
	mblk_t *mp = fx_msg("late", 0);

	str_store(&s->step, 1u);
	if (putq(s->q, mp) == 0)
		T_FAIL("putq");
	str_store(&s->result, 1u);
}

CASE(freeze_returns)
{
	queue_t *q = store();
	pl_t pl;

	(void)spltimeout();
	pl = freezestr(q);
	D_HOLDS(pl == pltimeout);
	unfreezestr(q, pl);
}

CASE(freeze_holds)
{
	struct shared *s = d_shared(sizeof(*s));
	pl_t pl;

	s->q = store();
	pl = freezestr(s->q);
	(void)d_spawn("putter", put_one, s);
	D_UNTIL(str_load(&s->step) == 1);
	sim_sleep(20000000u);
	D_HOLDS(str_load(&s->result) == 0);
	D_HOLDS(s->q->q_first == NULL);
	unfreezestr(s->q, pl);
	T_EQ(sim_run(), 0);
	empty(s->q);
	d_gone(s);
}

CASE(freeze_owner)
{
	queue_t *q = store();
	mblk_t *mp;
	long v = 0;
	pl_t pl = freezestr(q);

	D_HOLDS(insq(q, NULL, fx_msg("a", 0)) == 1);
	D_HOLDS(strqset(q, QHIWAT, 0, 77) == 0);
	D_HOLDS(strqget(q, QHIWAT, 0, &v) == 0 && v == 77);
	mp = q->q_first;
	rmvq(q, mp);
	unfreezestr(q, pl);
	FX_MSG(mp, "a");
	empty(q);
}

CASE(unfreeze_level)
{
	queue_t *q = store();

	(void)freezestr(q);
	unfreezestr(q, pltimeout);
	D_HOLDS(splbase() == pltimeout);
}

CASE(unfreeze_frees)
{
	struct shared *s = d_shared(sizeof(*s));
	pl_t pl;

	s->q = store();
	pl = freezestr(s->q);
	(void)d_spawn("putter", put_one, s);
	D_UNTIL(str_load(&s->step) == 1);
	unfreezestr(s->q, pl);
	T_EQ(sim_run(), 0);
	D_HOLDS(str_load(&s->result) == 1);
	FX_MSG(getq(s->q), "late");
	empty(s->q);
	d_gone(s);
}

/* ----------------------------------------------------------------- canput */

CASE(canput_room)
{
	queue_t *q = store();

	D_HOLDS(canput(q) == 1);
	(void)putq(q, fx_bytes(50, 0));
	D_HOLDS(canput(q) == 1);
	empty(q);
}

CASE(canput_full)
{
	queue_t *q = store();

	(void)putq(q, fx_bytes(101, 0));
	D_HOLDS(canput(q) == 0);
	empty(q);
}

CASE(canput_searches)
{
	queue_t *q = store();
	queue_t *top = fx_push(&p, 0, "pass");

	(void)putq(WR(q), fx_bytes(101, 0));
	D_HOLDS(canput(WR(top)) == 0);
	empty(WR(q));
	D_HOLDS(canput(WR(top)) == 1);
}

/* The head at the end has a service procedure, but room. */
CASE(canput_end)
{
	queue_t *q;

	fx_pipe(&p);
	q = fx_push(&p, 0, "pass");
	D_HOLDS(canput(q) == 1);
	D_HOLDS(canput(WR(q)) == 1);
}

CASE(canput_backenable)
{
	queue_t *q = store();
	queue_t *top = fx_push(&p, 0, "store");

	(void)putq(WR(q), fx_bytes(101, 0));
	(void)fx_enabled(WR(top));
	T_EQ(canput(WR(q)), 0);
	empty(WR(q));
	D_HOLDS(fx_enabled(WR(top)));
}

CASE(canput_low)
{
	queue_t *q = store();

	(void)putq(q, fx_bytes(60, 0));
	(void)putq(q, fx_bytes(30, 0));
	(void)putq(q, fx_bytes(15, 0));
	T_EQ(canput(q), 0);
	freemsg(getq(q));
	D_HOLDS(canput(q) == 0);
	freemsg(getq(q));
	D_HOLDS(canput(q) == 1);
	empty(q);
}

CASE(canputnext_next)
{
	queue_t *q = store();
	queue_t *top = fx_push(&p, 0, "store");

	(void)putq(WR(top), fx_bytes(101, 0));
	D_HOLDS(canputnext(WR(top)) == 1);
	(void)putq(WR(q), fx_bytes(101, 0));
	D_HOLDS(canputnext(WR(top)) == 0);
	empty(WR(q));
	empty(WR(top));
}

CASE(bcanput_band)
{
	queue_t *q = store();

	(void)putq(q, fx_bytes(101, 4));
	D_HOLDS(bcanput(q, 4) == 0);
	empty(q);
}

CASE(bcanput_others)
{
	queue_t *q = store();

	(void)putq(q, fx_bytes(101, 4));
	D_HOLDS(bcanput(q, 0) == 1);
	D_HOLDS(bcanput(q, 3) == 1);
	D_HOLDS(bcanput(q, 5) == 1);
	empty(q);
}

CASE(bcanput_absent)
{
	queue_t *q = store();

	(void)putq(q, fx_bytes(101, 0));
	D_HOLDS(bcanput(q, 9) == 1);
	empty(q);
}

CASE(bcanput_zero)
{
	queue_t *q = store();

	D_HOLDS(bcanput(q, 0) == canput(q));
	(void)putq(q, fx_bytes(101, 0));
	D_HOLDS(bcanput(q, 0) == 0 && canput(q) == 0);
	empty(q);
}

CASE(bcanputnext_next)
{
	queue_t *q = store();
	queue_t *top = fx_push(&p, 0, "store");

	(void)putq(WR(top), fx_bytes(101, 2));
	D_HOLDS(bcanputnext(WR(top), 2) == 1);
	(void)putq(WR(q), fx_bytes(101, 2));
	D_HOLDS(bcanputnext(WR(top), 2) == 0);
	D_HOLDS(bcanputnext(WR(top), 1) == 1);
	empty(WR(q));
	empty(WR(top));
}

CASE(bcanput_backenable)
{
	queue_t *q = store();
	queue_t *top = fx_push(&p, 0, "store");

	(void)putq(WR(q), fx_bytes(101, 2));
	(void)fx_enabled(WR(top));
	T_EQ(bcanputnext(WR(top), 2), 0);
	empty(WR(q));
	D_HOLDS(fx_enabled(WR(top)));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Callbacks that a module's init procedure asks for: the module's perimeter is
 * theirs, too, although there was no instance when they were asked for.
 */
#include "fixture.h"
#include <sys/ddi.h>

static struct fx_pipe pipe_;
static bool inside_;	  /* a put procedure is in the module */
static unsigned ticks_, overlaps_;
static str_a32 held_;

static void
tick(void *arg)
{
	(void)arg;
	ticks_++;
	overlaps_ += inside_;
	if (ticks_ < 100)
		T_NE(timeout(tick, NULL, 1), 0);
}

static void
room(long arg)
{
	(void)arg;
	ticks_++;
	overlaps_ += inside_;
}

static void
tick_init(void)
{
	T_NE(timeout(tick, NULL, 1), 0);
	T_NE(bufcall(64, BPRI_MED, room, 0), 0);
}

static int
tick_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
tick_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	return 0;
}

static int
tick_put(queue_t *q, mblk_t *mp)
{
	inside_ = true;
	sim_pause(&held_, 1);
	inside_ = false;
	putnext(q, mp);
	return 0;
}

static struct module_info tick_minfo = {
	.mi_idnum = 79, .mi_idname = "tick", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 4096, .mi_lowat = 1024,
};
static struct qinit tick_r = {
	.qi_putp = tick_put, .qi_qopen = tick_open, .qi_qclose = tick_close,
	.qi_minfo = &tick_minfo,
};
static struct qinit tick_w = {.qi_putp = tick_put, .qi_minfo = &tick_minfo};
static struct streamtab tick_tab = {
	.st_rdinit = &tick_r, .st_wrinit = &tick_w,
};
static int tick_flag;

static const struct sim_symbol tick_symbols[] = {
	{"tickinfo", &tick_tab}, {"tickdevflag", &tick_flag},
	{"tickinit", (void *)(uintptr_t)tick_init},
	{"tick", (void *)(uintptr_t)tick}, {"room", (void *)(uintptr_t)room},
	{NULL, NULL}
};
static const struct sim_module modules[] = {
	{"tick", tick_symbols}, {NULL, NULL}
};

static void
writes(void *arg)
{
	(void)arg;
	T_EQ(fx_putmsg(&pipe_, 0, NULL, -1, (unsigned char *)(uintptr_t)"m", 1,
		0, 4), 0);
}

/* A put procedure stays inside for 200 ms. */
static void
run(struct t *t, int flag)
{
	fx_begin(t);
	tick_flag = flag;
	sim_modules(modules);
	ticks_ = overlaps_ = 0;
	str_store(&held_, 1u);
	fx_pipe(&pipe_);
	(void)fx_push(&pipe_, 0, "tick");
	(void)sim_spawn("writer", writes, NULL);
	sim_sleep(200000000u);
	str_store(&held_, 0u);
	(void)host_wake(&held_, 1);
	T_EQ(sim_run(), 0);
	sim_sleep(2000000000u);
	T_GE(ticks_, 100u);
}

T_CASE(a_callback_of_init_waits_for_who_is_inside)
{
	run(t, 0);
	T_EQ(overlaps_, 0u);
}

T_CASE(a_callback_of_init_waits_for_who_is_inside_with_D_MTPERMOD)
{
	run(t, D_MTPERMOD);
	T_EQ(overlaps_, 0u);
}

T_CASE(a_callback_runs_beside_the_procedures_of_a_pair)
{
	run(t, D_MTQPAIR);
	T_GT(overlaps_, 0u);
}

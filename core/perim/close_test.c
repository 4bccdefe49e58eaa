/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages that wait for a perimeter when an instance of the module is closed.
 */
#include "fixture.h"
#include <sys/ddi.h>

static struct fx_pipe pipe_, other_;
static str_a32 held;	  /* the put procedure stays inside while it is 1 */
static bool dies;	  /* ... or the thread is killed there */
static unsigned puts_, puts_at_close;

static int
slow_put(queue_t *q, mblk_t *mp)
{
	if (*mp->b_rptr == 'h') {
		if (dies)
			sim_kill(sim_current());
		sim_pause(&held, 1);
	} else if ((q->q_flag & QREADR) == 0) {
		puts_++;
	}
	putnext(q, mp);
	return 0;
}

static int
slow_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
slow_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	puts_at_close = puts_;
	qprocsoff(q);
	return 0;
}

static struct module_info slow_info = {
	.mi_idnum = 77, .mi_idname = "slow", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 4096, .mi_lowat = 1024,
};
static struct qinit slow_r = {
	.qi_putp = slow_put, .qi_qopen = slow_open, .qi_qclose = slow_close,
	.qi_minfo = &slow_info,
};
static struct qinit slow_w = {.qi_putp = slow_put, .qi_minfo = &slow_info};
static struct streamtab slow_tab = {
	.st_rdinit = &slow_r, .st_wrinit = &slow_w,
};

static void
holder(void *arg)
{
	(void)fx_putmsg(arg, 0, NULL, -1, (unsigned char *)(uintptr_t)"h", 1,
		0, 4);
}

/* Writes three messages, which wait, and takes the module away. */
static void
closer(void *arg)
{
	unsigned i;

	(void)arg;
	sim_sleep(1000000);
	for (i = 0; i < 3; i++)
		T_EQ(fx_putmsg(&pipe_, 0, NULL, -1,
			(unsigned char *)(uintptr_t)"m", 1, 0, 4), 0);
	T_EQ(fx_pop(&pipe_, 0), 0);
}

static void
close_while_held(uint64_t seed, struct fx_pipe *where, unsigned flag)
{
	fx_begin_seed(seed);
	fx_module("slow", &slow_tab, flag);
	puts_ = puts_at_close = 0;
	str_store(&held, 1u);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	(void)fx_push(&pipe_, 0, "slow");
	(void)fx_push(&other_, 0, "slow");
	(void)sim_spawn("holder", holder, where);
	(void)sim_spawn("closer", closer, NULL);
	sim_sleep(50000000);
	str_store(&held, 0u);
	(void)host_wake(&held, 64);
	T_EQ(sim_run(), 0);
	T_EQ(puts_at_close, 3u);
	while (fx_run(&pipe_))
		;
	T_GE(str_headq_records(&pipe_.sd[1]->hq, 0), 3u);
	fx_end();
}

T_CASE(what_waits_for_a_wide_perimeter_is_put_before_the_close)
{
	unsigned i;

	dies = false;
	for (i = 0; i < 200; i++) {
		close_while_held(t->seed + i, &other_, D_MTPERMOD);
		close_while_held(t->seed + i, &pipe_, D_MTQPAIR);
	}
}

T_CASE(what_waits_for_a_dead_thread_is_put_before_the_close)
{
	unsigned i;

	dies = true;
	for (i = 0; i < 200; i++) {
		close_while_held(t->seed + i, &pipe_, D_MTQPAIR);
		close_while_held(t->seed + i, &other_, D_MTPERMOD);
	}
}

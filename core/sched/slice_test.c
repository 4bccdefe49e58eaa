/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Slices: what a thread does for others on one stream ends after a
 * millisecond, and the rest waits for a turn of its own.  Time is virtual:
 * module "slow" spends it.
 */
#include "fixture.h"

#define US 1000u
#define MS (1000u * US)

static struct fx_pipe p_[2];
static unsigned puts_, services_, most_;

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
	qprocsoff(q);
	return 0;
}

static int
slow_put(queue_t *q, mblk_t *mp)
{
	(void)q;
	puts_++;
	sim_advance(5 * US);
	freemsg(mp);
	return 0;
}

/* It has always something left. */
static int
slow_srv(queue_t *q)
{
	sim_advance(20 * US);
	if (++services_ < most_)
		qenable(q);
	return 0;
}

static struct module_info info = {
	.mi_idname = (char *)"slow", .mi_maxpsz = INFPSZ,
	.mi_hiwat = STR_HIGH, .mi_lowat = STR_LOW,
};
static struct qinit rinit = {
	.qi_putp = slow_put, .qi_srvp = slow_srv, .qi_qopen = slow_open,
	.qi_qclose = slow_close, .qi_minfo = &info,
};
static struct qinit winit = {.qi_putp = slow_put, .qi_minfo = &info};
static struct streamtab tab = {.st_rdinit = &rinit, .st_wrinit = &winit};

static queue_t *
begin(struct t *t)
{
	fx_begin(t);
	fx_module("slow", &tab, D_MP);
	puts_ = services_ = most_ = 0;
	fx_pipe(&p_[0]);
	fx_pipe(&p_[1]);
	return fx_push(&p_[1], 0, "slow");
}

static uint64_t fired_;

static void
note_time(void *arg)
{
	(void)arg;
	fired_ = host_now();
}

static volatile bool stop_;
static uint64_t unlocked_in;

static void
plumbs(void *arg)
{
	struct host_call hc = {.fd = -1};
	uint64_t began;

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	str_plumb_lock(p_[1].pl);
	while (!stop_)
		sim_sleep(MS);
	began = host_now();
	str_plumb_unlock(p_[1].pl);
	unlocked_in = host_now() - began;
	host_leave();
}

#define LATE 20000u

T_CASE(late_messages_are_handed_on_in_slices)
{
	queue_t *q = begin(t);
	uint64_t due;
	unsigned i;

	stop_ = false;
	(void)sim_spawn("plumber", plumbs, NULL);
	sim_sleep(MS);
	T_EQ(str_claim(p_[0].pl), 0);
	for (i = 0; i < LATE; i++)
		put(WR(q), fx_msg("late", 0));
	str_unclaim(p_[0].pl);
	T_EQ(puts_, 0);
	fired_ = 0;
	due = host_now() + 20 * MS;
	T_NE(timeout(note_time, NULL, 2), 0);
	stop_ = true;
	T_EQ(sim_run(), 0);
	T_LT(unlocked_in, 2 * MS);
	sim_sleep(1000 * MS);
	T_EQ(puts_, LATE);
	T_EQ(str_load(&p_[1].pl->nrun), 0);
	T_GE(fired_, due - 10 * MS);
	T_LT(fired_, due + 15 * MS);
}

T_CASE(an_endless_service_procedure_gets_a_slice_at_a_time)
{
	queue_t *q = begin(t);
	uint64_t began, due;

	most_ = 20000;
	began = host_now();
	fired_ = 0;
	due = began + 20 * MS;
	T_NE(timeout(note_time, NULL, 2), 0);
	qenable(q);
	T_EQ(str_claim(p_[1].pl), 0);
	began = host_now();
	(void)str_sched_run(p_[1].pl);
	T_LT(host_now() - began, 2 * MS);
	str_unclaim(p_[1].pl);
	sim_sleep(1000 * MS);
	T_EQ(services_, most_);
	T_GE(fired_, due - 10 * MS);
	T_LT(fired_, due + 15 * MS);
}

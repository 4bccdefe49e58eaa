/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * put, putnext, qreply, the putctl family, and perimeters.
 */
#include "fixture.h"
#include <sys/ddi.h>

static struct fx_pipe pipe_;

T_CASE(putnext_goes_to_the_next_queue)
{
	queue_t *below, *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	putnext(WR(above), fx_msg("down", 0));
	putnext(below, fx_msg("up", 0));
	FX_MSG(getq(WR(below)), "down");
	FX_MSG(getq(above), "up");
}

T_CASE(put_calls_the_procedure_of_the_queue_named)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	put(q, fx_msg("a", 0));
	T_EQ(fx_of(q)->puts, 1);
	FX_MSG(getq(q), "a");
}

T_CASE(qreply_goes_back_where_the_message_came_from)
{
	queue_t *below, *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	qreply(WR(below), fx_msg("reply", 0));
	FX_MSG(getq(above), "reply");
	qreply(above, fx_msg("down", 0));
	FX_MSG(getq(WR(below)), "down");
}

T_CASE(what_leaves_the_last_module_arrives_at_the_other_head)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pass");
	putnext(WR(q), fx_msg("across", 0));
	T_EQ(str_headq_records(&pipe_.sd[1]->hq, 0), 1);
	T_EQ(str_headq_records(&pipe_.sd[0]->hq, 0), 0);
}

T_CASE(across_a_pipe_it_goes_up_the_other_side)
{
	queue_t *a, *b;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 1, "store");
	putnext(&pipe_.sd[0]->qp->wq, fx_msg("across", 0));
	T_EQ(fx_of(a)->puts, 1);
	FX_MSG(getq(b), "across");
	T_NULL(getq(WR(b)));
}

/* putctl */

static const struct {
	const char *label;
	int (*call)(queue_t *q, int type);
} ctl_row[] = {
	{"putctl", putctl}, {"putnextctl", putnextctl},
};

T_CASE(putctl_makes_an_empty_message_of_the_type)
{
	queue_t *below, *above;
	unsigned i;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	for (i = 0; i < STR_ARRAY_LEN(ctl_row); i++) {
		queue_t *from = ctl_row[i].call == putctl ? WR(below) :
			WR(above);
		mblk_t *mp;

		T_EQ(ctl_row[i].call(from, M_HANGUP), 1);
		mp = getq(WR(below));
		T_NOTNULL(mp);
		T_EQ(mp->b_datap->db_type, M_HANGUP);
		T_EQ(mp->b_wptr - mp->b_rptr, 0);
		freemsg(mp);
	}
}

T_CASE(putctl1_and_putctl2_carry_their_bytes)
{
	queue_t *below, *above;
	mblk_t *mp;

	fx_begin(t);
	fx_pipe(&pipe_);
	below = fx_push(&pipe_, 0, "store");
	above = fx_push(&pipe_, 0, "store");
	T_EQ(putctl1(WR(below), M_PCSIG, 15), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_datap->db_type, M_PCSIG);
	T_EQ(mp->b_wptr - mp->b_rptr, 1);
	T_EQ(mp->b_rptr[0], 15);
	freemsg(mp);
	T_EQ(putctl2(WR(below), M_ERROR, 5, NOERROR), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_wptr - mp->b_rptr, 2);
	T_EQ(mp->b_rptr[0], 5);
	T_EQ(mp->b_rptr[1], NOERROR);
	freemsg(mp);
	T_EQ(putnextctl1(WR(above), M_FLUSH, FLUSHW), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_rptr[0], FLUSHW);
	freemsg(mp);
	T_EQ(putnextctl2(WR(above), M_ERROR, 1, 2), 1);
	mp = getq(WR(below));
	T_EQ(mp->b_rptr[1], 2);
	freemsg(mp);
}

T_CASE(putctl_refuses_data_types_but_m_delay)
{
	static const struct {
		int type, ok;
	} row[] = {
		{M_DATA, 0}, {M_PROTO, 0}, {M_PCPROTO, 0}, {M_DELAY, 1},
		{M_CTL, 1}, {M_SIG, 1},
	};
	queue_t *q;
	unsigned i;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	for (i = 0; i < STR_ARRAY_LEN(row); i++) {
		T_EQ(putctl(q, row[i].type), row[i].ok);
		T_EQ(putctl1(q, row[i].type, 1), row[i].ok);
	}
	T_EQ(qsize(q), 6);
}

/* perimeters */

static queue_t *pair_q;
static unsigned bounced;

/* The put procedure of a module that is entered again by its own message. */
static void
bounce(queue_t *q, mblk_t *mp)
{
	if (bounced++ < 3) {
		putctl1(pair_q, M_CTL, (int)bounced);
		T_EQ(fx_of(q)->inside, 1);
	}
	(void)mp;
}

T_CASE(a_module_with_a_perimeter_is_not_entered_twice_by_one_thread)
{
	queue_t *above;

	fx_begin(t);
	fx_pipe(&pipe_);
	pair_q = fx_push(&pipe_, 0, "pair");
	above = fx_push(&pipe_, 0, "store");
	fx_on_put = bounce;
	put(pair_q, fx_type(M_CTL, "first", 0));
	T_EQ(fx_of(pair_q)->overlap, 1);
	T_EQ(qsize(above), 4);
	FX_MSG(getq(above), "first");
	FX_MSG(getq(above), "\001");
	FX_MSG(getq(above), "\002");
	FX_MSG(getq(above), "\003");
}

static queue_t *flow_above;
static unsigned flow_sent;

/* Inside: put on the same queue until canput() says no. */
static void
flood(queue_t *q, mblk_t *mp)
{
	(void)q, (void)mp;
	if (flow_sent != 0)
		return;
	while (flow_sent < 1000 && canputnext(WR(flow_above))) {
		putnext(WR(flow_above), fx_bytes(1000, 0));
		flow_sent++;
	}
	T_EQ(bcanputnext(WR(flow_above), 3), 0);
	T_EQ(fx_of(flow_above)->services, 0);
}

T_CASE(what_waits_at_a_perimeter_is_bounded_by_flow_control)
{
	queue_t *sink, *pair;

	fx_begin(t);
	fx_pipe(&pipe_);
	sink = fx_push(&pipe_, 1, "store");
	strqset(sink, QHIWAT, 0, 1 << 20);
	pair = fx_push(&pipe_, 0, "pair");
	strqset(WR(pair), QHIWAT, 0, 8000);
	strqset(WR(pair), QLOWAT, 0, 2000);
	flow_above = fx_push(&pipe_, 0, "late");
	flow_sent = 0;
	fx_on_put = flood;
	put(WR(pair), fx_bytes(10, 0));
	fx_on_put = NULL;
	T_EQ(flow_sent, 8); /* strictly more than the mark */
	/* the refused sender can continue, and no message was lost */
	T_EQ(canputnext(WR(flow_above)), 1);
	T_TRUE(fx_run(&pipe_));
	T_GT(fx_of(flow_above)->services, 0);
	T_EQ(str_load(&pair->q_pair->blbytes[1]), 0);
	T_EQ(qsize(sink), 9);
}

#define SENDERS 4
#define EACH 40

static void
sender(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;
	struct host_call hc = {.fd = -1};

	for (i = 0; i < EACH; i++) {
		mblk_t *mp;

		T_EQ(host_enter(&hc), 0);
		T_EQ(str_claim(pipe_.pl), 0);
		mp = allocb(2, BPRI_MED);
		*mp->b_wptr++ = (unsigned char)id;
		*mp->b_wptr++ = (unsigned char)i;
		putnext(&pipe_.sd[0]->qp->wq, mp);
		(void)str_sched_run(pipe_.pl);
		str_unclaim(pipe_.pl);
		host_leave();
	}
}

static void
drive(const char *module, unsigned *overlap)
{
	unsigned next[SENDERS] = {0}, i, got = 0;
	queue_t *q, *sink;
	mblk_t *mp;

	fx_pipe(&pipe_);
	sink = fx_push(&pipe_, 1, "store");
	q = fx_push(&pipe_, 0, module);
	strqset(WR(q), QHIWAT, 0, 1 << 20);
	strqset(sink, QHIWAT, 0, 1 << 20);
	for (i = 0; i < SENDERS; i++)
		(void)sim_spawn("sender", sender, (void *)(uintptr_t)i);
	T_EQ(sim_run(), 0);
	while (fx_run(&pipe_))
		;
	while ((mp = getq(sink)) != NULL) {
		unsigned id = mp->b_rptr[0];

		T_LT(id, SENDERS);
		T_EQ(mp->b_rptr[1], next[id]);
		next[id]++;
		got++;
		freemsg(mp);
	}
	T_EQ(got, SENDERS * EACH);
	*overlap = fx_of(q)->overlap;
}

T_CASE_TIMEOUT(a_perimeter_lets_one_thread_in_and_keeps_order, 60)
{
	unsigned seed, overlap;

	for (seed = 1; seed <= 100; seed++) {
		fx_begin_seed(t->seed + seed);
		drive(seed % 2 ? "pair" : "pairsrv", &overlap);
		if (overlap != 1)
			T_FAIL("seed %llu: %u threads inside",
				(unsigned long long)(t->seed + seed),
				overlap);
		fx_end();
	}
}

T_CASE_TIMEOUT(a_module_without_one_is_entered_by_many, 60)
{
	unsigned seed, overlap, most = 0;

	for (seed = 1; seed <= 40; seed++) {
		fx_begin_seed(t->seed + seed);
		drive("pass", &overlap);
		most = STR_MAX(most, overlap);
		fx_end();
	}
	T_GT(most, 1);
}

/* ------------------------------------------------ perimeters of a module */

static struct fx_pipe other_;
static unsigned in_module, most;

/* Counts the threads that are inside any instance at the same time. */
static void
count_inside(queue_t *q)
{
	(void)q;
	in_module++;
	most = STR_MAX(most, in_module);
	sim_point();
	sim_point();
	in_module--;
}

static int
count_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	count_inside(q);
	return 0;
}

static int
count_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	count_inside(q);
	qprocsoff(q);
	return 0;
}

static int
count_put(queue_t *q, mblk_t *mp)
{
	count_inside(q);
	if (q->q_qinfo->qi_srvp == NULL)
		putnext(q, mp);
	else if (!putq(q, mp))
		freemsg(mp);
	return 0;
}

static int
count_srv(queue_t *q)
{
	mblk_t *mp;

	count_inside(q);
	while ((mp = getq(q)) != NULL)
		putnext(q, mp);
	return 0;
}

static struct module_info count_info = {
	.mi_idname = (char *)"count", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 1 << 20, .mi_lowat = 1 << 10,
};
static struct qinit count_r = {
	.qi_putp = count_put, .qi_qopen = count_open,
	.qi_qclose = count_close, .qi_minfo = &count_info,
};
static struct qinit count_w = {.qi_putp = count_put, .qi_minfo = &count_info};
static struct streamtab count_tab = {
	.st_rdinit = &count_r, .st_wrinit = &count_w
};
static struct qinit count_sr = {
	.qi_putp = count_put, .qi_srvp = count_srv, .qi_qopen = count_open,
	.qi_qclose = count_close, .qi_minfo = &count_info,
};
static struct qinit count_sw = {
	.qi_putp = count_put, .qi_srvp = count_srv, .qi_minfo = &count_info
};
static struct streamtab count_stab = {
	.st_rdinit = &count_sr, .st_wrinit = &count_sw
};

static void
send_both(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;
	struct fx_pipe *p = id % 2 ? &other_ : &pipe_;

	for (i = 0; i < EACH; i++) {
		unsigned char b[2] = {(unsigned char)id, (unsigned char)i};

		T_EQ(fx_putmsg(p, 0, NULL, -1, b, 2, 0, 4), 0);
	}
}

static void
push_and_pop(void *arg)
{
	const char *module = arg;
	unsigned i;

	for (i = 0; i < 4; i++) {
		T_EQ(fx_push_err(&other_, 1, module), 0);
		sim_sleep(sim_rand(20000));
		T_EQ(fx_pop(&other_, 1), 0);
	}
}

static void
arrived_in_order(struct fx_pipe *p, unsigned first)
{
	unsigned next[SENDERS] = {0}, got = 0;

	while (str_headq_records(&p->sd[1]->hq, 0) != 0) {
		unsigned char b[2];
		struct str_strbuf d = {2, 0, b};
		int band = 0, flags = 2;

		T_EQ(fx_getmsg(p, 1, NULL, &d, &band, &flags), 0);
		T_EQ(b[0] % 2, first);
		T_EQ(b[1], next[b[0]]);
		next[b[0]]++;
		got++;
	}
	T_EQ(got, SENDERS / 2 * EACH);
}

/* Senders on two streams, and a thread that pushes a third instance. */
static unsigned
drive_module(uint64_t seed, struct streamtab *tab, unsigned flag)
{
	unsigned i;

	fx_begin_seed(seed);
	fx_module("count", tab, flag);
	in_module = most = 0;
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	(void)fx_push(&pipe_, 0, "count");
	(void)fx_push(&other_, 0, "count");
	for (i = 0; i < SENDERS; i++)
		(void)sim_spawn("sender", send_both, (void *)(uintptr_t)i);
	/* what waits in the queues of a module that is popped goes with it */
	if (tab == &count_tab)
		(void)sim_spawn("pusher", push_and_pop,
			(void *)(uintptr_t)"count");
	if (sim_run() != 0)
		T_FAIL("seed %llu: deadlock", (unsigned long long)seed);
	while (fx_run(&pipe_) || fx_run(&other_))
		;
	arrived_in_order(&pipe_, 0);
	arrived_in_order(&other_, 1);
	i = most;
	fx_end();
	return i;
}

T_CASE_TIMEOUT(a_module_perimeter_lets_one_thread_into_all_instances, 60)
{
	/* no flag at all: written for one processor */
	static const unsigned flag[] = {0, D_MTPERMOD, D_MP | D_MTPERMOD};
	unsigned i;

	for (i = 0; i < 60; i++) {
		unsigned m = drive_module(t->seed + i,
			i % 2 ? &count_tab : &count_stab, flag[i % 3]);

		if (m != 1)
			T_FAIL("seed %llu: %u threads inside",
				(unsigned long long)(t->seed + i), m);
	}
}

T_CASE_TIMEOUT(pairs_of_a_module_run_side_by_side, 60)
{
	unsigned i, m = 0;

	for (i = 0; i < 30; i++)
		m = STR_MAX(m, drive_module(t->seed + i,
			i % 2 ? &count_tab : &count_stab, D_MTQPAIR));
	T_GT(m, 1);
}

/* --------------------------------------------------------------- qwriter */

static unsigned order[64], n_order, alone_with;

static void
writer_proc(queue_t *q, mblk_t *mp)
{
	(void)q;
	/* no other thread is in any instance, and none comes */
	alone_with = STR_MAX(alone_with, in_module);
	in_module++;
	sim_point();
	sim_point();
	alone_with = STR_MAX(alone_with, in_module - 1);
	in_module--;
	if (n_order < 64)
		order[n_order++] = mp->b_rptr[0];
	freemsg(mp);
}

static int writer_level;

/* Digits ask to be alone, the rest passes. */
static int
writer_put(queue_t *q, mblk_t *mp)
{
	count_inside(q);
	if (mp->b_rptr[0] >= '0' && mp->b_rptr[0] <= '9')
		qwriter(q, mp, writer_proc, writer_level);
	else
		putnext(q, mp);
	count_inside(q);
	return 0;
}

static struct qinit writer_r = {
	.qi_putp = writer_put, .qi_qopen = count_open,
	.qi_qclose = count_close, .qi_minfo = &count_info,
};
static struct qinit writer_w = {.qi_putp = writer_put, .qi_minfo = &count_info};
static struct streamtab writer_tab = {
	.st_rdinit = &writer_r, .st_wrinit = &writer_w
};

static void
send_digits(void *arg)
{
	unsigned i;

	for (i = 0; i < 40; i++) {
		char c = (char)(i % 5 == 0 ? '0' + i / 5 : 'a');
		struct fx_pipe *p = arg != NULL ? &other_ : &pipe_;

		if (arg != NULL)
			c = 'a';
		T_EQ(fx_write(p, 0, &c, 1), 1);
	}
}

static void
drive_writer(uint64_t seed, unsigned flag, int level)
{
	unsigned i;

	fx_begin_seed(seed);
	fx_module("writer", &writer_tab, flag);
	in_module = alone_with = n_order = 0;
	writer_level = level;
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	(void)fx_push(&pipe_, 0, "writer");
	(void)fx_push(&other_, 0, "writer");
	(void)sim_spawn("digits", send_digits, NULL);
	(void)sim_spawn("others", send_digits, (void *)1);
	if (level == PERIM_OUTER)
		(void)sim_spawn("pusher", push_and_pop,
			(void *)(uintptr_t)"writer");
	if (sim_run() != 0)
		T_FAIL("seed %llu: deadlock", (unsigned long long)seed);
	while (fx_run(&pipe_) || fx_run(&other_))
		;
	T_EQ(n_order, 8);
	for (i = 0; i < 8; i++)
		T_EQ(order[i], '0' + i);
	if (level == PERIM_OUTER && alone_with != 0)
		T_FAIL("seed %llu: %u others inside",
			(unsigned long long)seed, alone_with);
	T_EQ(str_headq_count(&pipe_.sd[1]->hq), 32);
	T_EQ(str_headq_count(&other_.sd[1]->hq), 40);
	fx_end();
}

T_CASE_TIMEOUT(qwriter_outer_is_alone_in_all_instances_and_in_order, 60)
{
	unsigned i;

	for (i = 0; i < 60; i++)
		drive_writer(t->seed + i, D_MTQPAIR | D_MTOUTPERIM |
			(i % 2 ? D_MTOCEXCL : 0), PERIM_OUTER);
}

T_CASE_TIMEOUT(qwriter_inner_is_called_in_order, 60)
{
	unsigned i;

	for (i = 0; i < 20; i++)
		drive_writer(t->seed + i, i % 2 ? D_MTQPAIR : D_MTPERMOD,
			PERIM_INNER);
}

static unsigned put_calls;
static void *put_arg;

static void
put_call(void *arg, mblk_t *mp)
{
	put_calls++;
	put_arg = arg;
	freemsg(mp);
}

static void
put_while_inside(queue_t *q, mblk_t *mp)
{
	(void)mp;
	/* a thread is inside: this one */
	fx_on_put = NULL;
	streams_put(put_call, q, fx_msg("x", 0), q);
	T_EQ(put_calls, 1);
}

T_CASE(streams_put_runs_inside_the_perimeter)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pair");
	put_calls = 0;
	streams_put(put_call, q, fx_msg("x", 0), NULL);
	T_EQ(put_calls, 1);
	T_NULL(put_arg);
	put_calls = 0;
	fx_on_put = put_while_inside;
	put(q, fx_msg("m", 0));
	T_EQ(put_calls, 1);
	T_TRUE(put_arg == q);
	mps_become_writer(q, fx_msg("1", 0), writer_proc);
	T_EQ(in_module, 0);
}

/* ----------------------------------------------------------------- qwait */

static queue_t *waiting_q;
static unsigned wait_result;
static bool wait_sig;

static int
wait_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	waiting_q = q;
	wait_result = 0;
	while (q->q_ptr == NULL) {
		if (wait_sig) {
			if (qwait_sig(q) == 0) {
				wait_result = 2;
				qprocsoff(q);
				return EINTR;
			}
		} else {
			qwait(q);
		}
	}
	wait_result = 1;
	return 0;
}

/* An answer from below ends the wait. */
static int
wait_put(queue_t *q, mblk_t *mp)
{
	T_EQ(wait_result, 0);
	q->q_ptr = q;
	freemsg(mp);
	return 0;
}

static struct qinit wait_r = {
	.qi_putp = wait_put, .qi_qopen = wait_open,
	.qi_qclose = count_close, .qi_minfo = &count_info,
};
static struct streamtab wait_tab = {
	.st_rdinit = &wait_r, .st_wrinit = &count_w
};

static void
push_waiter(void *arg)
{
	(void)fx_push_err(&pipe_, 0, arg);
}

T_CASE(qwait_lets_messages_in_until_one_has_come)
{
	static const unsigned flag[] = {D_MTQPAIR, D_MTPERMOD, 0, D_MP,
		D_MTQPAIR | D_MTOUTPERIM | D_MTOCEXCL};
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(flag); i++) {
		fx_begin_seed(t->seed + i);
		fx_module("wait", &wait_tab, flag[i]);
		wait_sig = i % 2;
		waiting_q = NULL;
		fx_pipe(&pipe_);
		(void)sim_spawn("pusher", push_waiter,
			(void *)(uintptr_t)"wait");
		sim_sleep(50000000);
		T_NOTNULL(waiting_q);
		T_EQ(wait_result, 0);
		T_EQ(fx_write(&pipe_, 1, "go", 2), 2);
		T_EQ(sim_run(), 0);
		T_EQ(wait_result, 1);
		fx_end();
	}
}

T_CASE(qwait_sig_ends_with_a_signal)
{
	struct sim_task *w;

	fx_begin(t);
	fx_module("wait", &wait_tab, D_MTQPAIR);
	wait_sig = true;
	waiting_q = NULL;
	fx_pipe(&pipe_);
	w = sim_spawn("pusher", push_waiter, (void *)(uintptr_t)"wait");
	sim_sleep(50000000);
	T_NOTNULL(waiting_q);
	sim_signal(w, false);
	T_EQ(sim_run(), 0);
	T_EQ(wait_result, 2);
}

/* -------------------------------------------------------------- freezestr */

static void
put_frozen(void *arg)
{
	queue_t *q = arg;
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	T_EQ(putq(q, fx_msg("theirs", 0)), 1);
	host_leave();
}

T_CASE(nobody_else_changes_the_queues_of_a_frozen_stream)
{
	queue_t *q;
	mblk_t *mp;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	(void)freezestr(q);
	(void)sim_spawn("putter", put_frozen, q);
	sim_sleep(20000000);
	T_EQ(q->q_first == NULL, 1);
	T_EQ(insq(q, NULL, fx_msg("ours", 0)), 1);
	unfreezestr(q, 0);
	T_EQ(host_tls.nclaim, 0);
	T_EQ(sim_run(), 0);
	T_EQ(qsize(q), 2);
	FX_MSG(getq(q), "ours");
	mp = getq(q);
	FX_MSG(mp, "theirs");
}

static void
freeze_and_die(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)freezestr(arg);
	sim_kill(sim_current());
}

T_CASE(a_dead_thread_s_frozen_stream_is_thawed)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "store");
	(void)sim_spawn("freezer", freeze_and_die, q);
	T_EQ(sim_run(), 0);
	T_EQ(putq(q, fx_msg("a", 0)), 1);
	T_EQ(str_load(&pipe_.pl->frozen), 0);
	FX_MSG(getq(q), "a");
	T_FALSE(q->q_flag & QFROZEN);
	T_EQ(fx_pop(&pipe_, 0), 0);
}

/* The close of what was frozen, and is thawed as it is taken apart. */
T_CASE(a_dead_thread_s_frozen_stream_is_closed)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	fx_up(&pipe_, 0, fx_msg("a", 2));
	(void)sim_spawn("freezer", freeze_and_die, &pipe_.sd[0]->qp->rq);
	T_EQ(sim_run(), 0);
	fx_close_both(&pipe_);
}

/* -------------------------------------------------------------- callbacks */

static queue_t *timer_q;
static unsigned timer_fired, timer_inside;

static void
timer_fire(void *arg)
{
	(void)arg;
	timer_inside = STR_MAX(timer_inside, in_module);
	count_inside(NULL);
	timer_fired++;
}

/* Each message asks for a callback, and takes its time inside. */
static int
timer_put(queue_t *q, mblk_t *mp)
{
	in_module++;
	most = STR_MAX(most, in_module);
	if (q == timer_q)
		T_NE(qtimeout(q, timer_fire, NULL, 1), 0);
	else
		T_NE(timeout(timer_fire, NULL, 1), 0);
	sim_sleep(sim_rand(20000000));
	in_module--;
	putnext(q, mp);
	return 0;
}

static struct qinit timer_w = {.qi_putp = timer_put, .qi_minfo = &count_info};
static struct streamtab timer_tab = {
	.st_rdinit = &count_r, .st_wrinit = &timer_w
};

static void
send_timed(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < 10; i++)
		T_EQ(fx_write(&pipe_, 0, "x", 1), 1);
}

/*
 * With seeds 19 and 107 streamsd looks for callbacks of the sender that ended
 * while another task reaps it.
 */
T_CASE_TIMEOUT(callbacks_run_alone_in_the_perimeter, 60)
{
	unsigned i;

	for (i = 0; i < 260; i++) {
		queue_t *q;

		fx_begin_seed(i < 240 ? i / 2 : t->seed + i);
		/* qtimeout in a pair's, timeout in a module's perimeter */
		fx_module("timer", &timer_tab, i % 2 ? D_MTQPAIR : 0);
		in_module = most = timer_fired = timer_inside = 0;
		fx_pipe(&pipe_);
		q = fx_push(&pipe_, 0, "timer");
		timer_q = i % 2 ? WR(q) : NULL;
		(void)sim_spawn("sender", send_timed, NULL);
		T_EQ(sim_run(), 0);
		sim_sleep(1000000000);
		T_EQ(timer_fired, 10);
		T_EQ(timer_inside, 0);
		T_EQ(most, 1);
		fx_end();
	}
}

/* ----------------------------------------------------------------- deaths */

static void
send_and_die(void *arg)
{
	unsigned i;
	char c = 'a';

	(void)arg;
	for (i = 0; i < 20; i++) {
		c = i % 3 ? 'a' : '1';
		if (fx_write(i % 2 ? &pipe_ : &other_, 0, &c, 1) != 1)
			break;
	}
}

T_CASE_TIMEOUT(who_dies_inside_a_perimeter_is_replaced, 60)
{
	static const char *const label[] = {
		"perim:backlog", "perim:leave", "perim:job", "timer:running",
	};
	static const unsigned flag[] = {D_MTQPAIR, 0,
		D_MTQPAIR | D_MTOUTPERIM};
	unsigned i;

	for (i = 0; i < 96; i++) {
		unsigned k;

		fx_begin_seed(t->seed + i);
		fx_module("writer", &writer_tab, flag[i % 3]);
		in_module = n_order = 0;
		writer_level = PERIM_OUTER;
		fx_pipe(&pipe_);
		fx_pipe(&other_);
		(void)fx_push(&pipe_, 0, "writer");
		(void)fx_push(&other_, 0, "writer");
		sim_crash_at(label[i % 4], 1 + i / 24);
		for (k = 0; k < 3; k++)
			(void)sim_spawn("sender", send_and_die, NULL);
		if (sim_run() != 0)
			T_FAIL("seed %llu: deadlock",
				(unsigned long long)(t->seed + i));
		sim_sleep(1000000000);
		sim_crash_at("none", 1); /* from here on no task dies */
		/* the living get in, and what waited has been done */
		T_NULL(RD(pipe_.sd[0]->qp->wq.q_next)->q_pair->pair.bl_first);
		n_order = 0;
		T_EQ(fx_write(&pipe_, 0, "5", 1), 1);
		T_EQ(fx_write(&other_, 0, "6", 1), 1);
		sim_sleep(1000000000);
		while (fx_run(&pipe_) || fx_run(&other_))
			;
		for (k = 0; k < n_order && order[k] != '5'; k++)
			;
		T_LT(k, n_order);
		for (k = 0; k < n_order && order[k] != '6'; k++)
			;
		T_LT(k, n_order);
		fx_end();
	}
}

/* Service of @arg is put off, by a thread that is inside, and leaves then. */
static void
puts_off(void *arg)
{
	struct host_call hc = {.fd = -1};
	queue_t *q = arg;

	T_EQ(host_enter(&hc), 0);
	T_EQ(str_claim(pipe_.pl), 0);
	T_TRUE(str_perim_try(q->q_pair));
	str_perim_service(q);
	str_perim_out(q->q_pair);
	str_unclaim(pipe_.pl);
	host_leave();
}

T_CASE(service_that_was_put_off_runs_whoever_dies_meanwhile)
{
	static const char *const label[] = {
		"perim:wanted", "perim:enabled", "perim:unlisted",
	};
	unsigned i, n;
	queue_t *q;

	for (i = 0; i < STR_ARRAY_LEN(label); i++) {
		fx_begin_seed(t->seed + i);
		fx_pipe(&pipe_);
		q = fx_push(&pipe_, 0, "pairsrv");
		sim_crash_at(label[i], 1);
		(void)sim_spawn("doomed", puts_off, q);
		T_EQ(sim_run(), 0);
		T_GE(sim_crash_count(label[i]), 1u);
		sim_sleep(1000000000);
		sim_crash_at("none", 1);
		(void)fx_run(&pipe_);
		n = fx_of(q)->services;
		(void)sim_spawn("next", puts_off, q);
		T_EQ(sim_run(), 0);
		(void)fx_run(&pipe_);
		T_GT(fx_of(q)->services, n);
		T_NULL(q->q_pair->pm->sv_first);
		fx_end();
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages from one stream to another: claims within claims, late messages,
 * service procedures of other streams.
 *
 * Module "cross" hands what comes down to the write queue of its partner in
 * another pipe, which passes it on to that pipe's other end.
 */
#include "fixture.h"

#define NPIPE 8

static struct fx_pipe p_[NPIPE];
static queue_t *partner[NPIPE]; /* of the instance in that pipe */
static unsigned refused, asked;

static unsigned
pipe_of(queue_t *q)
{
	unsigned i;

	for (i = 0; i < NPIPE; i++)
		if (p_[i].pl == q->q_pair->plumb)
			return i;
	T_FAIL("a queue of no pipe");
	return 0;
}

static int
cross_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
cross_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	return 0;
}

/* Down: to the partner.  M_CTL has come from there: on to the other end. */
static int
cross_wput(queue_t *q, mblk_t *mp)
{
	queue_t *to = partner[pipe_of(q)];

	if (mp->b_datap->db_type == M_CTL || to == NULL) {
		mp->b_datap->db_type = M_DATA;
		putnext(q, mp);
		return 0;
	}
	mp->b_datap->db_type = M_CTL;
	asked++;
	if (!canput(to))
		refused++;
	put(to, mp);
	return 0;
}

static int
cross_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static struct module_info info = {
	.mi_idname = (char *)"cross", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 1 << 20, .mi_lowat = 1 << 10,
};
static struct qinit rinit = {
	.qi_putp = cross_rput, .qi_qopen = cross_open,
	.qi_qclose = cross_close, .qi_minfo = &info,
};
static struct qinit winit = {.qi_putp = cross_wput, .qi_minfo = &info};
static struct streamtab tab = {.st_rdinit = &rinit, .st_wrinit = &winit};

/* The whole chain: each hands on to the next, until the last. */
static int
chain_wput(queue_t *q, mblk_t *mp)
{
	queue_t *to = partner[pipe_of(q)];

	if (to != NULL)
		put(to, mp);
	else
		putnext(q, mp);
	return 0;
}
static struct qinit chain_w = {.qi_putp = chain_wput, .qi_minfo = &info};
static struct streamtab chain_tab = {
	.st_rdinit = &rinit, .st_wrinit = &chain_w
};

static void
begin(unsigned n, const char *module)
{
	unsigned i;

	memset(partner, 0, sizeof(partner));
	refused = asked = 0;
	fx_module("cross", &tab, D_MP);
	fx_module("crossq", &tab, D_MTQPAIR);
	fx_module("crossm", &tab, D_MTPERMOD);
	fx_module("chain", &chain_tab, D_MP);
	fx_module("chainm", &chain_tab, 0);
	for (i = 0; i < NPIPE; i++)
		p_[i].pl = NULL;
	for (i = 0; i < n; i++) {
		queue_t *q;

		fx_pipe(&p_[i]);
		q = fx_push(&p_[i], 0, module);
		if (i > 0)
			partner[i - 1] = WR(q);
	}
}

static unsigned
arrived(unsigned i)
{
	return str_headq_records(&p_[i].sd[1]->hq, 0);
}

T_CASE(a_message_goes_to_another_stream)
{
	fx_begin(t);
	begin(2, "cross");
	T_EQ(fx_write(&p_[0], 0, "hello", 5), 5);
	T_EQ(arrived(0), 0);
	T_EQ(arrived(1), 1);
	T_EQ(host_tls.nclaim, 0);
	T_NULL(host_tls.at);
}

T_CASE(claims_are_a_stack_and_a_stream_is_claimed_once_by_each_put)
{
	fx_begin(t);
	begin(2, "cross");
	T_EQ(str_claim(p_[0].pl), 0);
	T_TRUE(str_claim_try(p_[1].pl));
	T_TRUE(host_tls.at == p_[1].pl);
	/* out of order: the place is given back with the one above */
	str_unclaim(p_[0].pl);
	T_EQ(host_tls.nclaim, 2);
	str_unclaim(p_[1].pl);
	T_EQ(host_tls.nclaim, 0);
}

static struct str_plumb *at_work;
static volatile bool stop_work;

static void
works(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	str_plumb_lock(at_work);
	while (!stop_work)
		sim_sleep(100000);
	str_plumb_unlock(at_work);
	host_leave();
}

T_CASE(what_comes_while_a_plumber_is_at_work_comes_late)
{
	unsigned i;

	fx_begin(t);
	begin(2, "cross");
	at_work = p_[1].pl;
	stop_work = false;
	(void)sim_spawn("plumber", works, NULL);
	sim_sleep(1000000);
	for (i = 0; i < 5; i++)
		T_EQ(fx_write(&p_[0], 0, &"abcde"[i], 1), 1);
	T_EQ(asked, 5);
	T_EQ(refused, 0);
	T_EQ(arrived(1), 0);
	T_NE(str_load(&p_[1].pl->late), 0);
	stop_work = true;
	T_EQ(sim_run(), 0);
	T_EQ(arrived(1), 5);
	T_EQ(str_load(&p_[1].pl->late), 0);
	T_EQ(str_load(&p_[1].pl->nrun), 0);
	{
		char buf[8];

		T_EQ(fx_read(&p_[1], 1, buf, sizeof(buf)), 5);
		T_MEM(buf, "abcde", 5);
	}
}

/*
 * Module "feed" hands on what its partner has room for, and its service
 * procedure, which back-enabling of the partner's stream runs, enables the
 * queue that waits for room there.
 */
static int
feed_wput(queue_t *q, mblk_t *mp)
{
	if (mp->b_datap->db_type != M_CTL)
		return putq(q, mp);
	mp->b_datap->db_type = M_DATA;
	putnext(q, mp);
	return 0;
}

static int
feed_wsrv(queue_t *q)
{
	unsigned i = pipe_of(q);
	queue_t *to = partner[i];
	mblk_t *mp;

	if (i > 0 && partner[i - 1] == q)
		qenable(WR(p_[i - 1].sd[0]->qp->wq.q_next));
	while (to != NULL && (mp = getq(q)) != NULL) {
		asked++;
		if (!canput(to)) {
			refused++;
			(void)putbq(q, mp);
			break;
		}
		mp->b_datap->db_type = M_CTL;
		put(to, mp);
	}
	return 0;
}
static struct module_info feed_info = {
	.mi_idname = (char *)"feed", .mi_maxpsz = INFPSZ,
	.mi_hiwat = STR_HIGH, .mi_lowat = STR_LOW,
};
static struct qinit feed_r = {
	.qi_putp = cross_rput, .qi_qopen = cross_open,
	.qi_qclose = cross_close, .qi_minfo = &feed_info,
};
static struct qinit feed_w = {
	.qi_putp = feed_wput, .qi_srvp = feed_wsrv, .qi_minfo = &feed_info,
};
static struct streamtab feed_tab = {
	.st_rdinit = &feed_r, .st_wrinit = &feed_w
};

static unsigned late_;

static void
count_late(mblk_t *mp, uintptr_t arg)
{
	late_ += (mp != NULL) + (unsigned)arg;
}

/* They count against the high water mark of the queue that they are for. */
T_CASE(late_messages_count_for_canput_and_are_back_enabled_for)
{
	queue_t *q;
	unsigned i;

	fx_begin(t);
	fx_module("feed", &feed_tab, D_MP);
	begin(2, "feed");
	at_work = p_[1].pl;
	stop_work = false;
	(void)sim_spawn("plumber", works, NULL);
	sim_sleep(1000000);
	q = WR(p_[0].sd[0]->qp->wq.q_next);
	for (i = 0; i < 1000; i++)
		T_EQ(putq(q, fx_bytes(256, 0)), 1);
	(void)fx_run(&p_[0]);
	late_ = 0;
	str_sched_late_walk(p_[1].pl, count_late, 0);
	T_EQ(late_, STR_HIGH / 257 + 1); /* one byte for each message */
	T_EQ(refused, 1);
	T_EQ(arrived(1), 0);
	/* another queue of that stream has room */
	T_EQ(str_claim(p_[0].pl), 0);
	T_NE(canput(RD(partner[0])), 0);
	T_EQ(canput(partner[0]), 0);
	T_EQ(bcanput(partner[0], 3), 0);
	str_unclaim(p_[0].pl);
	stop_work = true;
	T_EQ(sim_run(), 0);
	T_EQ(arrived(1), 1000);
	T_EQ(str_load(&p_[1].pl->late) | str_load(&p_[1].pl->nrun), 0);
}

/* A queue of its own stream that is full is full for others meanwhile, too. */
T_CASE(a_full_queue_is_full_while_a_plumber_is_at_work)
{
	unsigned i;

	fx_begin(t);
	fx_module("feed", &feed_tab, D_MP);
	begin(2, "feed");
	for (i = 0; i < STR_HIGH / 256 + 1; i++)
		T_EQ(putq(partner[0], fx_bytes(256, 0)), 1);
	at_work = p_[1].pl;
	stop_work = false;
	(void)sim_spawn("plumber", works, NULL);
	sim_sleep(1000000);
	T_EQ(str_claim(p_[0].pl), 0);
	T_EQ(canput(partner[0]), 0);
	str_unclaim(p_[0].pl);
	stop_work = true;
	T_EQ(sim_run(), 0);
	flushq(partner[0], FLUSHALL);
}

T_CASE(a_dead_plumber_s_late_messages_are_handed_on)
{
	struct sim_task *w;

	fx_begin(t);
	begin(2, "cross");
	at_work = p_[1].pl;
	stop_work = false;
	w = sim_spawn("plumber", works, NULL);
	sim_sleep(1000000);
	T_EQ(fx_write(&p_[0], 0, "a", 1), 1);
	T_EQ(arrived(1), 0);
	sim_kill(w);
	/* the next thread repairs and hands on, in order */
	T_EQ(fx_write(&p_[1], 0, "b", 1), 1);
	T_EQ(fx_write(&p_[0], 0, "c", 1), 1);
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	T_EQ(arrived(1), 3);
}

T_CASE(late_messages_of_a_queue_that_goes_are_freed)
{
	fx_begin(t);
	begin(2, "cross");
	at_work = p_[1].pl;
	stop_work = false;
	(void)sim_spawn("plumber", works, NULL);
	sim_sleep(1000000);
	T_EQ(fx_write(&p_[0], 0, "a", 1), 1);
	str_sched_late_purge(partner[0]);
	T_NULL(p_[1].pl->late_first);
	stop_work = true;
	T_EQ(sim_run(), 0);
	T_EQ(arrived(1), 0);
}

/* More streams than there are places for claims. */
T_CASE(depth_is_bounded_and_nothing_is_lost_by_it)
{
	static const char *const kind[] = {"chain", "chainm"};
	unsigned i, k, n;

	for (k = 0; k < 2; k++) {
		struct host_call hc = {.fd = -1};

		fx_begin(t);
		begin(NPIPE, kind[k]);
		T_EQ(host_enter(&hc), 0);
		for (n = 0; n < STR_NCLAIM - 3; n++)
			T_EQ(str_claim(p_[0].pl), 0);
		for (i = 0; i < 3; i++) {
			mblk_t *mp = fx_msg("x", 0);

			put(WR(p_[0].sd[0]->qp->wq.q_next), mp);
		}
		T_EQ(host_tls.nclaim, STR_NCLAIM - 3);
		/* one perimeter for all: nothing is nested */
		T_EQ(arrived(NPIPE - 1), k == 0 ? 0 : 3);
		while (n-- > 0)
			str_unclaim(p_[0].pl);
		host_leave();
		T_EQ(arrived(NPIPE - 1), 3);
		fx_end();
	}
}

/* Two queues of two streams that enable each other for ever. */
static queue_t *pong[2];
static unsigned turns;

static int
pong_srv(queue_t *q)
{
	turns++;
	if (turns < 100000)
		qenable(pong[q == pong[0]]);
	return 0;
}
static struct qinit pong_r = {
	.qi_putp = cross_rput, .qi_srvp = pong_srv, .qi_qopen = cross_open,
	.qi_qclose = cross_close, .qi_minfo = &info,
};
static struct qinit pong_w = {.qi_putp = cross_wput, .qi_minfo = &info};
static struct streamtab pong_tab = {
	.st_rdinit = &pong_r, .st_wrinit = &pong_w
};

T_CASE(a_call_is_not_held_by_streams_that_enable_each_other)
{
	fx_begin(t);
	begin(2, "cross");
	fx_module("pong", &pong_tab, D_MP);
	pong[0] = fx_push(&p_[0], 0, "pong");
	pong[1] = fx_push(&p_[1], 0, "pong");
	turns = 0;
	T_EQ(str_claim(p_[0].pl), 0);
	qenable(pong[0]);
	(void)str_sched_run(p_[0].pl);
	str_unclaim(p_[0].pl);
	T_GT(turns, 0);
	T_LT(turns, 5000);
	/* the rest is the interrupt context's */
	sim_sleep(10000000000ull);
	T_EQ(turns, 100000);
}

T_CASE(a_queue_enabled_on_many_streams_runs_on_all)
{
	queue_t *q[NPIPE];
	unsigned i;

	fx_begin(t);
	begin(NPIPE, "store");
	for (i = 0; i < NPIPE; i++)
		q[i] = RD(p_[i].sd[0]->qp->wq.q_next);
	for (i = 0; i < NPIPE; i++)
		(void)fx_run(&p_[i]);
	T_EQ(str_claim(p_[0].pl), 0);
	for (i = 0; i < NPIPE; i++) {
		fx_of(q[i])->services = 0;
		qenable(q[i]);
	}
	(void)str_sched_run(p_[0].pl);
	str_unclaim(p_[0].pl);
	for (i = 0; i < NPIPE; i++)
		T_EQ(fx_of(q[i])->services, 1);
	T_EQ(host_tls.ntouch, 0);
	/* more than the table has place for */
	T_EQ(str_claim(p_[0].pl), 0);
	host_tls.ntouch = HOST_NTOUCH;
	for (i = 0; i < HOST_NTOUCH; i++)
		host_tls.touch[i] = p_[0].pl;
	for (i = 1; i < NPIPE; i++)
		qenable(q[i]);
	str_unclaim(p_[0].pl);
	for (i = 1; i < NPIPE; i++)
		T_EQ(fx_of(q[i])->services, 2);
}

/* ------------------------------------------------ cycles, plumbers, deaths */

#define EACH 30

static unsigned sent[2];
static bool died;

static void
close_all(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		fx_close(&p_[i], 0);
		fx_close(&p_[i], 1);
	}
}

static void
sender(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;

	for (i = 0; i < EACH; i++) {
		unsigned char b[2] = {(unsigned char)id, (unsigned char)i};
		long r = fx_putmsg(&p_[id], 0, NULL, -1, b, 2, 0, 4);

		if (r != 0) {
			T_TRUE(died);
			break;
		}
		sent[id]++;
		if (sim_rand(4) == 0)
			sim_sleep(sim_rand(100000));
	}
	close_all();
}

static void
plumber(void *arg)
{
	unsigned id = (unsigned)(uintptr_t)arg, i;

	for (i = 0; i < 8; i++) {
		int end = sim_rand(2) ? 1 : 0;

		if (fx_push_err(&p_[id], end, "pass") == 0) {
			sim_sleep(sim_rand(100000));
			(void)fx_pop(&p_[id], end);
		}
		sim_sleep(sim_rand(50000));
	}
	close_all();
}

/* Pop nothing but what was pushed: the modules that cross stay below. */
static void
run(uint64_t seed, const char *module, const char *label)
{
	struct sim_task *victim[4];
	unsigned i, k;

	fx_begin_seed(seed);
	begin(2, module);
	partner[1] = WR(p_[0].sd[0]->qp->wq.q_next);
	memset(sent, 0, sizeof(sent));
	died = label != NULL;
	if (label != NULL && label[0] != '\0')
		sim_crash_at(label, 1 + sim_rand(3));
	for (i = 0; i < 2; i++) {
		victim[i] = sim_spawn("sender", sender, (void *)(uintptr_t)i);
		victim[2 + i] = sim_spawn("plumber", plumber,
			(void *)(uintptr_t)i);
	}
	if (label != NULL && label[0] == '\0') {
		sim_sleep(sim_rand(1000000));
		sim_kill(victim[sim_rand(4)]);
	}
	if (sim_run() != 0)
		T_FAIL("seed %llu: deadlock", (unsigned long long)seed);
	if (died) {
		sim_sleep(1000000000);
		fx_end();
		return;
	}
	for (k = 0; k < 2; k++) {
		unsigned next = 0;

		/* those of sender k have arrived in the other pipe, in order */
		for (;;) {
			unsigned char b[2];
			struct str_strbuf d = {2, 0, b};
			int band = 0, flags = 2;

			if (arrived(!k) == 0)
				break;
			T_EQ(fx_getmsg(&p_[!k], 1, NULL, &d, &band, &flags),
				0);
			T_EQ(d.len, 2);
			T_EQ(b[0], k);
			if (b[1] != next)
				T_FAIL("seed %llu: %u after %u",
					(unsigned long long)seed, b[1], next);
			next++;
		}
		if (next != EACH)
			T_FAIL("seed %llu: sender %u: %u of %u arrived",
				(unsigned long long)seed, k, next, sent[k]);
	}
	fx_end();
}

T_CASE_TIMEOUT(cycles_of_streams_and_plumbers_lose_nothing, 60)
{
	static const char *const kind[] = {"cross", "crossq", "crossm"};
	unsigned i;

	for (i = 0; i < 150; i++)
		run(t->seed + i, kind[i % 3], NULL);
}

T_CASE_TIMEOUT(cycles_of_streams_survive_deaths, 60)
{
	static const char *const kind[] = {"cross", "crossq", "crossm"};
	unsigned i;

	for (i = 0; i < 150; i++)
		run(t->seed + i, kind[i % 3], "");
}

T_CASE_TIMEOUT(death_in_each_state_is_survived, 60)
{
	static const char *const kind[] = {"cross", "crossq", "crossm"};
	static const char *const label[] = {
		"sched:late", "sched:latetaken", "plumb:late",
		"perim:backlog", "perim:leave", "plumb:half", "plumb:halfout",
	};
	unsigned i, k;

	for (k = 0; k < STR_ARRAY_LEN(label); k++)
		for (i = 0; i < 15; i++)
			run(t->seed + i, kind[i % 3], label[k]);
}

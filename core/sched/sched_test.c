/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Service procedures: which ones run, how often, in which order; timeouts and
 * bufcalls.  SVR4 DDI/DKI qenable(D3), timeout(D3), bufcall(D3).
 */
#include "fixture.h"
#include "sched/timer.h"

static struct fx_pipe pipe_;

static queue_t *
a_queue(struct t *t, const char *module)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	return fx_push(&pipe_, 0, module);
}

T_CASE(an_enabled_queue_runs_once)
{
	queue_t *q = a_queue(t, "store");
	unsigned before;

	(void)fx_run(&pipe_);
	before = fx_of(q)->services;
	qenable(q);
	qenable(q);
	T_TRUE(q->q_flag & QENAB);
	T_TRUE(fx_run(&pipe_));
	T_FALSE(q->q_flag & QENAB);
	T_EQ(fx_of(q)->services, before + 1);
	T_FALSE(fx_run(&pipe_));
	T_EQ(fx_of(q)->services, before + 1);
}

T_CASE(nothing_runs_before_it_is_asked_to)
{
	queue_t *q = a_queue(t, "store");
	unsigned before;

	(void)fx_run(&pipe_);
	before = fx_of(q)->services;
	put(q, fx_msg("a", 0));
	T_EQ(fx_of(q)->services, before);
	T_TRUE(fx_run(&pipe_));
	T_EQ(fx_of(q)->services, before + 1);
}

T_CASE(many_messages_one_service)
{
	queue_t *q = a_queue(t, "late");
	unsigned before, i;

	(void)fx_run(&pipe_);
	before = fx_of(q)->services;
	for (i = 0; i < 10; i++)
		put(WR(q), fx_msg("a", 0));
	T_TRUE(fx_run(&pipe_));
	T_EQ(fx_of(q)->services, before + 1);
	T_EQ(qsize(WR(q)), 0);
	T_EQ(str_headq_records(&pipe_.sd[1]->hq, 0), 10);
}

static queue_t *order[8];
static unsigned n_order;

static void
note_order(queue_t *q)
{
	if (n_order < 8)
		order[n_order++] = q;
}

T_CASE(queues_run_in_the_order_they_were_enabled)
{
	queue_t *a = a_queue(t, "store");
	queue_t *b = fx_push(&pipe_, 0, "store");
	queue_t *c = fx_push(&pipe_, 1, "store");

	(void)fx_run(&pipe_);
	fx_on_service = note_order;
	qenable(b);
	qenable(WR(c));
	qenable(a);
	T_TRUE(fx_run(&pipe_));
	T_EQ(n_order, 3);
	T_TRUE(order[0] == b);
	T_TRUE(order[1] == WR(c));
	T_TRUE(order[2] == a);
}

static void
enable_again(queue_t *q)
{
	if (n_order++ < 3)
		qenable(q);
}

T_CASE(a_service_procedure_may_enable_its_own_queue)
{
	queue_t *q = a_queue(t, "store");
	unsigned before;

	(void)fx_run(&pipe_);
	before = fx_of(q)->services;
	fx_on_service = enable_again;
	qenable(q);
	while (fx_run(&pipe_))
		;
	T_EQ(fx_of(q)->services, before + 4);
}

static void
busy_is_set(queue_t *q)
{
	T_TRUE(q->q_flag & QSVCBUSY);
	T_FALSE(q->q_flag & QENAB);
}

T_CASE(qsvcbusy_while_the_service_procedure_runs)
{
	queue_t *q = a_queue(t, "store");

	(void)fx_run(&pipe_);
	fx_on_service = busy_is_set;
	qenable(q);
	T_TRUE(fx_run(&pipe_));
	T_FALSE(q->q_flag & QSVCBUSY);
}

T_CASE(qready_tells_whether_something_is_enabled)
{
	queue_t *q = a_queue(t, "store");

	T_EQ(str_claim(pipe_.pl), 0);
	(void)str_sched_run(pipe_.pl);
	T_EQ(qready(), 0);
	qenable(q);
	T_NE(qready(), 0);
	(void)str_sched_run(pipe_.pl);
	T_EQ(qready(), 0);
	str_unclaim(pipe_.pl);
}

T_CASE(a_queue_with_its_procedures_off_does_not_run)
{
	queue_t *q = a_queue(t, "store");
	struct fx_count *c = fx_of(q);
	unsigned before;

	(void)fx_run(&pipe_);
	before = c->services;
	qenable(q);
	T_EQ(fx_pop(&pipe_, 0), 0);
	(void)fx_run(&pipe_);
	T_EQ(c->services, before);
}

T_CASE(a_put_off_message_goes_on_after_back_enabling)
{
	queue_t *late = a_queue(t, "store"), *q;
	unsigned i;

	q = fx_push(&pipe_, 0, "late");
	for (i = 0; i < 8; i++)
		put(WR(q), fx_bytes(30, 0));
	(void)fx_run(&pipe_);
	/* 30 60 90 120: then the store below is full */
	T_EQ(qsize(WR(late)), 4);
	T_EQ(qsize(WR(q)), 4);
	while (qsize(WR(late)) > 0)
		freemsg(getq(WR(late)));
	T_TRUE(WR(q)->q_flag & QENAB);
	(void)fx_run(&pipe_);
	T_EQ(qsize(WR(late)), 4);
	T_EQ(qsize(WR(q)), 0);
}

/* timeout */

static void
count_record(struct str_timer *tm, void *arg)
{
	unsigned *n = arg;

	(void)tm;
	++*n;
}

/* Records in the table of timers. */
static unsigned
records(void)
{
	unsigned n = 0;

	str_timer_each(count_record, &n);
	return n;
}

static unsigned fired;
static void *fired_arg;

static void
fire(void *arg)
{
	fired++;
	fired_arg = arg;
}

T_CASE(a_timeout_fires_once_with_its_argument)
{
	int x;

	fx_begin(t);
	T_NE(timeout(fire, &x, 10), 0);
	T_EQ(fired, 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == &x);
	sim_sleep(10000000000u);
	T_EQ(fired, 1);
}

T_CASE(a_timeout_does_not_fire_early)
{
	fx_begin(t);
	(void)timeout(fire, NULL, 10); /* a tenth of a second */
	sim_sleep(90000000u);
	T_EQ(fired, 0);
	sim_sleep(30000000u);
	T_EQ(fired, 1);
}

static unsigned sequence[8], n_sequence;

static void
note_sequence(void *arg)
{
	if (n_sequence < 8)
		sequence[n_sequence++] = (unsigned)(uintptr_t)arg;
}

T_CASE(timeouts_fire_in_the_order_of_their_time)
{
	fx_begin(t);
	(void)timeout(note_sequence, (void *)3, 30);
	(void)timeout(note_sequence, (void *)1, 10);
	(void)timeout(note_sequence, (void *)2, 20);
	sim_sleep(1000000000u);
	T_EQ(n_sequence, 3);
	T_EQ(sequence[0], 1);
	T_EQ(sequence[1], 2);
	T_EQ(sequence[2], 3);
}

/* the most that can be asked for is not nothing */
T_CASE(a_timeout_at_the_end_of_all_times_does_not_fire)
{
	toid_t id;

	fx_begin(t);
	id = timeout(fire, NULL, LONG_MAX);
	T_NE(id, 0);
	sim_sleep(10000000000u);
	T_EQ(fired, 0);
	T_GE(untimeout(id), 0);
}

T_CASE(untimeout_prevents_it)
{
	toid_t id;

	fx_begin(t);
	id = timeout(fire, NULL, 10);
	T_GE(untimeout(id), 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 0);
}

T_CASE(untimeout_of_one_that_fired_says_so)
{
	toid_t id;

	fx_begin(t);
	id = timeout(fire, NULL, 1);
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
	T_EQ(untimeout(id), -1);
}

T_CASE(untimeout_takes_its_own_only)
{
	toid_t id;

	fx_begin(t);
	id = timeout(note_sequence, (void *)1, 10);
	(void)timeout(note_sequence, (void *)2, 10);
	T_GE(untimeout(id), 0);
	sim_sleep(1000000000u);
	T_EQ(n_sequence, 1);
	T_EQ(sequence[0], 2);
}

static void
again(void *arg)
{
	if (++fired < 5)
		(void)timeout(again, arg, 10);
}

T_CASE(a_timeout_may_set_the_next)
{
	fx_begin(t);
	(void)timeout(again, NULL, 10);
	sim_sleep(10000000000u);
	T_EQ(fired, 5);
}

T_CASE(a_timeout_of_a_queue_ends_with_the_queue)
{
	queue_t *q = a_queue(t, "store");

	T_NE(qtimeout(q, fire, q, 10), 0);
	T_EQ(fx_pop(&pipe_, 0), 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 0);
}

/* What it would be about may have been freed by the close procedure. */
T_CASE(a_timeout_of_a_queue_ends_with_qprocsoff_in_close)
{
	queue_t *q = a_queue(t, "store");

	T_NE(qtimeout(q, fire, q, 10), 0);
	str_store(&q->q_pair->closing, 1u);
	str_qset(q, QPROCS);
	sim_sleep(1000000000u);
	T_EQ(fired, 0);
	T_FALSE(str_timer_pending());
	str_qclr(q, QPROCS);
	str_store(&q->q_pair->closing, 0u);
}

T_CASE(qtimeout_fires_while_the_queue_is_there)
{
	queue_t *q = a_queue(t, "store");
	toid_t id;

	(void)qtimeout(q, fire, q, 10);
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == q);
	id = qtimeout(q, fire, q, 10);
	T_GE(quntimeout(q, id), 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
}

/* bufcall */

static void
called(long arg)
{
	fired++;
	fired_arg = (void *)arg;
}

T_CASE(bufcall_calls_when_there_is_memory_again)
{
	void *keep[4];
	unsigned i;

	fx_begin(t);
	/* small blocks stay, for bufcall()'s own record */
	for (i = 0; i < 4; i++)
		keep[i] = str_mem_alloc(32u << i, STR_BLK_KMEM);
	fx_use_up();
	for (i = 0; i < 4; i++)
		str_mem_free(keep[i]);
	T_NULL(allocb(4000, BPRI_MED));
	T_NE(bufcall(4000, BPRI_MED, called, 7), 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 0);
	fx_give_back();
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == (void *)7);
}

T_CASE(bufcall_with_memory_at_hand_calls_soon)
{
	fx_begin(t);
	T_NE(bufcall(100, BPRI_MED, called, 7), 0);
	sim_sleep(2000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == (void *)7);
}

T_CASE(unbufcall_prevents_it)
{
	bcid_t id;

	fx_begin(t);
	id = bufcall(100, BPRI_MED, called, 7);
	unbufcall(id);
	sim_sleep(2000000000u);
	T_EQ(fired, 0);
}

T_CASE(esbbcall_calls_soon)
{
	fx_begin(t);
	T_NE(esbbcall(BPRI_MED, called, 3), 0);
	sim_sleep(2000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == (void *)3);
}

/* ---------------------------------- which thread runs a callback, and when */

static struct host_call any_call = {.fd = -1};
static toid_t last_id;

static void
asks_and_ends(void *arg)
{
	T_EQ(host_enter(&any_call), 0);
	last_id = timeout(fire, arg, 50);
	T_NE(last_id, 0);
	host_leave();
}

T_CASE(a_callback_of_a_process_that_ended_is_run_by_another)
{
	static int x;

	fx_begin(t);
	(void)sim_spawn("asker", asks_and_ends, &x);
	T_EQ(sim_run(), 0);
	T_EQ(fired, 0);
	sim_sleep(2000000000u);
	T_EQ(fired, 1);
	T_TRUE(fired_arg == &x);
	T_FALSE(str_timer_pending());
}

T_CASE(a_callback_of_a_process_that_ended_can_be_cancelled)
{
	fx_begin(t);
	(void)sim_spawn("asker", asks_and_ends, NULL);
	T_EQ(sim_run(), 0);
	T_GT(untimeout(last_id), 0);
	sim_sleep(2000000000u);
	T_EQ(fired, 0);
	T_FALSE(str_timer_pending());
}

T_CASE_TIMEOUT(death_among_the_callbacks_loses_no_others, 60)
{
	static const char *const label[] = {
		"timer:linked", "timer:out", "timer:running",
	};
	unsigned i, k;

	for (i = 0; i < 30; i++) {
		fx_begin_seed(t->seed + i);
		fired = 0;
		T_NE(timeout(fire, NULL, 20), 0);
		sim_crash_at(label[i % 3], 1 + i / 15);
		for (k = 0; k < 4; k++)
			(void)sim_spawn("asker", asks_and_ends, NULL);
		T_EQ(sim_run(), 0);
		sim_sleep(3000000000u);
		/* one, at the most, went with the task that died */
		T_GE(fired, 4);
		T_LE(fired, 5);
		T_FALSE(str_timer_pending());
		T_EQ(records(), 0);
		fx_end();
	}
}

T_CASE(a_number_that_was_kept_in_an_int_still_names_the_callback)
{
	toid_t id;
	unsigned i;

	fx_begin(t);
	for (i = 0; i < 100; i++) {
		id = timeout(fire, NULL, 10);
		T_GT((int)id, 0);
		T_GT(untimeout((toid_t)(int)id), 0);
		T_EQ(untimeout((toid_t)(int)id), -1);
		T_EQ(untimeout(id), -1);
	}
	sim_sleep(1000000000u);
	T_EQ(fired, 0);
	T_EQ(records(), 0);
}

static int self_result;

static void
cancels_itself(void *arg)
{
	(void)arg;
	self_result = untimeout(last_id);
	fired++;
}

T_CASE(untimeout_from_the_callback_itself_does_not_wait)
{
	fx_begin(t);
	self_result = 0;
	last_id = timeout(cancels_itself, NULL, 1);
	sim_sleep(1000000000u);
	T_EQ(fired, 1);
	T_EQ(self_result, -1);
}

static void
slow(void *arg)
{
	(void)arg;
	sim_sleep(300000000u);
	fired++;
}

T_CASE(untimeout_waits_for_a_callback_that_runs)
{
	fx_begin(t);
	last_id = timeout(slow, NULL, 1);
	sim_sleep(100000000u);
	T_EQ(fired, 0);
	T_EQ(untimeout(last_id), -1);
	T_EQ(fired, 1);
}

static volatile bool go_on;

static void
asks_and_stops(void *arg)
{
	T_EQ(host_enter(&any_call), 0);
	T_NE(timeout(fire, arg, 1), 0);
	host_leave();
	while (!go_on)
		sim_sleep(10000000u);
}

T_CASE(a_stopped_process_delays_no_callback_not_even_its_own)
{
	struct sim_task *w;

	fx_begin(t);
	go_on = false;
	w = sim_spawn("stopped", asks_and_stops, NULL);
	sim_sleep(1000000u);
	sim_stop(w);
	T_NE(timeout(fire, NULL, 10), 0);
	sim_sleep(1000000000u);
	T_EQ(fired, 2);
	sim_cont(w);
	go_on = true;
	T_EQ(sim_run(), 0);
}

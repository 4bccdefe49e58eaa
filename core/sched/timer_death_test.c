/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of timers, while the simulator stops or kills tasks at their points
 * (sim_point()).  In the instrumented build (seeds-timer, mod/meson.build) each
 * access to memory is a point.
 */
#include "fixture.h"
#include "sched/timer.h"
#include "timerfix.h"

static struct host_call any_call = {.fd = -1};

#define TASKS 6u
#define EACH 20u

static struct sim_task *task[TASKS];
static unsigned task_fired[TASKS][EACH], task_asked[TASKS];

static void
task_fire(void *arg)
{
	uintptr_t n = (uintptr_t)arg;

	task_fired[n / EACH][n % EACH]++;
}

/* Requests callbacks, and calls the due ones itself, as a member does while
 * there is no streamsd. */
static void
task_main(void *arg)
{
	uintptr_t n = (uintptr_t)arg, k;

	T_EQ(host_enter(&any_call), 0);
	for (k = 0; k < EACH; k++) {
		if (timeout(task_fire, (void *)(n * EACH + k),
				1 + (long)(k % 3)) == 0)
			T_FAIL("no timer");
		task_asked[n]++;
		(void)str_timer_run(host_now());
		sim_sleep(3 * MS);
		(void)str_timer_run(host_now());
	}
	host_leave();
}

static const char *const label[] = {
	"timer:linked", "timer:freed", "timer:taken", "timer:expired",
	"timer:running", "timer:ran", "timer:next", "timer:set",
};

/*
 * No callback is called twice.  Each killed task loses at most one: the
 * callback that it had begun to call, or the one that it was requesting.
 */
static void
task_check(unsigned killed)
{
	unsigned n, k, lost = 0;

	for (n = 0; n < TASKS; n++)
		for (k = 0; k < EACH; k++) {
			T_LE(task_fired[n][k], 1);
			if (k < task_asked[n])
				lost += task_fired[n][k] == 0;
		}
	T_LE(lost, killed);
	T_FALSE(str_timer_pending());
	T_EQ(records(), 0);
}

T_CASE_TIMEOUT(a_kill_at_any_step_loses_at_most_the_callback_it_was_in, 120)
{
	unsigned i, nth;

	for (nth = 1; nth <= 30; nth += 3) {
		for (i = 0; i < STR_ARRAY_LEN(label); i++) {
			uintptr_t n;

			fx_begin_seed(t->seed + nth * 100 + i);
			memset(task_fired, 0, sizeof(task_fired));
			memset(task_asked, 0, sizeof(task_asked));
			sim_crash_at(label[i], nth);
			for (n = 0; n < TASKS; n++)
				task[n] = sim_spawn("asker", task_main,
					(void *)n);
			T_EQ(sim_run(), 0);
			sim_sleep(3000 * MS);
			task_check(1);
			fx_end();
		}
	}
}

static void
kill_later(unsigned n, uint64_t ns)
{
	sim_sleep(ns);
	if (!sim_ended(task[n]))
		sim_kill(task[n]);
}

T_CASE_TIMEOUT(a_kill_anywhere_stops_no_timer, 120)
{
	unsigned i;

	for (i = 0; i < 200; i++) {
		uintptr_t n;

		fx_begin_seed(t->seed + i);
		memset(task_fired, 0, sizeof(task_fired));
		memset(task_asked, 0, sizeof(task_asked));
		for (n = 0; n < TASKS; n++)
			task[n] = sim_spawn("asker", task_main, (void *)n);
		kill_later(0, 1000 + rnd(t, 20 * MS));
		kill_later(1, 1000 + rnd(t, 20 * MS));
		T_EQ(sim_run(), 0);
		sim_sleep(3000 * MS);
		task_check(2);
		fx_end();
	}
}

T_CASE_TIMEOUT(a_task_that_stops_anywhere_delays_one_callback_at_most, 120)
{
	unsigned i;

	for (i = 0; i < 200; i++) {
		unsigned k, late = 0;
		uintptr_t n;

		fx_begin_seed(t->seed + i);
		memset(task_fired, 0, sizeof(task_fired));
		memset(task_asked, 0, sizeof(task_asked));
		for (n = 0; n < TASKS; n++)
			task[n] = sim_spawn("asker", task_main, (void *)n);
		sim_sleep(1000 + rnd(t, 30 * MS));
		sim_stop(task[0]);
		sim_sleep(3000 * MS);
		for (n = 0; n < TASKS; n++)
			for (k = 0; k < task_asked[n]; k++)
				late += task_fired[n][k] == 0;
		T_LE(late, 1);
		sim_cont(task[0]);
		T_EQ(sim_run(), 0);
		sim_sleep(1000 * MS);
		task_check(0);
		fx_end();
	}
}

/* Sets `own', which the test sets, too. */
static void
set_main(void *arg)
{
	(void)arg;
	T_EQ(host_enter(&any_call), 0);
	str_timer_set(own, host_now() + 1 * MS);
	sim_sleep(SIM_NEVER);
}

/* A thread that is stopped while it sets a timer does not delay the deadline
 * that another thread then sets for the same timer. */
T_CASE_TIMEOUT(a_task_that_stops_while_it_sets_a_timer_delays_no_other_set, 120)
{
	unsigned i;

	for (i = 0; i < 400; i++) {
		fx_begin_seed(t->seed + i);
		own = str_timer_make(NULL, fire, NULL);
		task[0] = sim_spawn("setter", set_main, NULL);
		sim_sleep(rnd(t, 2000));
		sim_stop(task[0]);
		fired = 0;
		str_timer_set(own, host_now() + 5 * MS);
		sim_sleep(5 * MS + LATE);
		T_GE(fired, 1);
		sim_cont(task[0]);
		sim_kill(task[0]);
		sim_sleep(100 * MS);
		str_timer_free(own);
		T_EQ(records(), 0);
		fx_end();
	}
}

static unsigned over;

static void
count_over(struct str_timer *tm, void *arg)
{
	(void)arg;
	over += (str_load(&tm->word) & STR_TM_STATE) == STR_TM_OVER;
}

static bool finished;

static void
cancel_main(void *arg)
{
	struct str_timer *tm;
	toid_t id;

	T_EQ(host_enter(&any_call), 0);
	id = timeout(fire, NULL, 1);
	tm = str_timer_make(NULL, fire, NULL);
	str_timer_set(tm, host_now() + 10 * MS);
	sim_fuse(*(unsigned *)arg);
	str_timer_free(tm);
	(void)untimeout(id);
	finished = true;
	host_leave();
}

/* The canceller is killed at each of its points.  No record stays OVER: a
 * thread that lives, or the reaper, frees it. */
T_CASE_TIMEOUT(a_kill_in_a_cancellation_leaves_no_record, 120)
{
	unsigned i;

	finished = false;
	for (i = 1; !finished; i++) {
		fx_begin(t);
		task[0] = sim_spawn("canceller", cancel_main, &i);
		sim_sleep(3000 * MS);
		over = 0;
		str_timer_each(count_over, NULL);
		T_EQ(over, 0);
		fx_end();
	}
	T_GT(i, 4);
}

/* The function of a driver's timer: the thread is killed in the first call. */
static void
die_once(void *arg)
{
	(void)arg;
	if (++fired == 1)
		sim_kill(sim_current());
}

static void
serve_main(void *arg)
{
	(void)arg;
	T_EQ(host_enter(&any_call), 0);
	str_timer_set(own, 1);
	(void)str_timer_run(host_now());
	host_leave();
}

T_CASE(a_timer_whose_function_was_killed_is_called_again)
{
	fx_begin(t);
	fired = 0;
	own = str_timer_make(NULL, die_once, NULL);
	(void)sim_spawn("server", serve_main, NULL);
	T_EQ(sim_run(), 0);
	sim_sleep(2000 * MS);
	T_GE(fired, 2);
	str_timer_free(own);
	T_EQ(records(), 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The collector: counted references that do not exist, circles of pipes, and
 * references that are moved while it counts.
 */
#include "../../host/sim/fixture.h"

static struct fx_pipe pipe_;

/* End @e of @what waits at end @e of @at, as after I_SENDFD. */
static void
pass(struct fx_pipe *at, struct fx_pipe *what, int e)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	str_head_ref(what->sd[e]);
	T_EQ(str_pass_head(at->sd[e], &hc, what->sd[e], 2), 0);
	host_leave();
}

static struct fx_pipe other_;

static void
circle(void)
{
	int e;

	fx_pipe(&pipe_);
	fx_pipe(&other_);
	for (e = 0; e < 2; e++) {
		pass(&pipe_, &other_, e);
		pass(&other_, &pipe_, e);
	}
}

T_CASE(pipes_that_wait_in_each_other_are_freed)
{
	fx_begin(t);
	circle();
	fx_close_both(&pipe_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 2);
	fx_close_both(&other_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_PASS), 0);
}

/* The last file is of an end that has no references. */
T_CASE(a_circle_is_found_when_its_last_file_goes)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	pass(&pipe_, &other_, 0);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[1]);
	T_EQ(str_pass_head(other_.sd[0], &hc, pipe_.sd[1], 2), 0);
	host_leave();
	fx_close(&pipe_, 1);
	fx_close_both(&other_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 2);
	fx_close(&pipe_, 0);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_PASS), 0);
}

/* While a reference to one end exists, a close of the other end does not free
 * the pipe.  When the reference has gone, a sweep does. */
T_CASE(a_pipe_goes_with_what_held_its_end)
{
	struct host_call hc = {.fd = -1};
	int e;

	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[0]);
	str_ref_end();
	for (e = 0; e < 2; e++) {
		sim_close(pipe_.fd[e]);
		str_head_released(pipe_.sd[e], e == 0 ? pipe_.fd[1] : -1);
	}
	T_EQ(fx_in_use(STR_BLK_PIPE), 1);
	str_ref_begin();
	str_head_unref(pipe_.sd[0], NULL);
	host_leave();
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

T_CASE(a_pipe_that_waits_in_one_that_is_held_stays)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	pass(&pipe_, &other_, 0);
	pass(&pipe_, &other_, 1);
	fx_close_both(&other_);
	fx_sweep();
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 2);
	T_EQ(fx_in_use(STR_BLK_PASS), 2);
	fx_close_both(&pipe_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

T_CASE(a_reference_that_is_nowhere_is_not_one)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	(void)str_add(&pipe_.sd[0]->refs, STR_REF_CHANGE + 1);
	fx_close_both(&pipe_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

T_CASE(a_reference_in_somebodys_hands_stays)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[0]);
	T_TRUE(str_ref_hold(pipe_.sd[0]));
	host_leave();
	fx_close_both(&pipe_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 1);
	T_EQ(host_enter(&hc), 0);
	str_ref_release(true);
	str_head_unref(pipe_.sd[0], NULL);
	host_leave();
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

/* One descriptor after another is passed and dropped: pipes in one memory. */
static struct sim_task *passer;

static void
passes_one_by_one(void *arg)
{
	struct host_call hc = {.fd = -1};
	struct fx_pipe one;
	uint64_t sid;
	int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		fx_pipe(&one);
		sid = one.pl->sid;
		pass(&pipe_, &one, 0);
		fx_close_both(&one);
		sim_sleep(1);
		T_TRUE(str_stream_lives(one.pl) && one.pl->sid == sid);
		T_EQ((uint32_t)str_load(&one.sd[0]->refs), 1u);
		T_EQ(str_load(&one.sd[0]->flags) & STR_H_CLOSED, 0u);
		T_EQ(host_enter(&hc), 0);
		str_head_flush_read(pipe_.sd[0], -1);
		host_leave();
		while (str_stream_lives(one.pl) && one.pl->sid == sid)
			sim_sleep(1);
	}
}

T_CASE(a_pipe_made_where_one_was_noted_keeps_its_reference)
{
	uint64_t seed;
	int i;

	for (seed = 0; seed < 60; seed++) {
		fx_begin_seed(seed);
		fx_pipe(&pipe_);
		/* what makes its look long */
		for (i = 0; i < 8; i++) {
			fx_pipe(&other_);
			pass(&pipe_, &other_, 1);
			fx_close_both(&other_);
		}
		sim_grain(20 + (unsigned)seed % 80);
		passer = sim_spawn("passer", passes_one_by_one, NULL);
		while (!sim_ended(passer))
			fx_sweep();
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

/* ----------------------------------------------------- requests for a sweep */

/*
 * Whatever makes a circle unreachable asks for a sweep: the last file that goes,
 * and a reference that goes when there is no file.
 */
T_CASE(the_last_file_of_a_circle_asks_for_a_sweep)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	pass(&pipe_, &other_, 0);
	pass(&other_, &pipe_, 0);
	pass(&other_, &pipe_, 1);
	fx_close_both(&other_);
	fx_close(&pipe_, 1);
	(void)sim_soon();
	T_EQ(host_enter(&hc), 0);
	sim_close(pipe_.fd[0]);
	str_head_released(pipe_.sd[0], -1);
	host_leave();
	T_GT(sim_soon(), 0u);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

/* No process has a descriptor that would show the carrier's hang-up. */
T_CASE(an_end_whose_peer_is_on_its_way_asks_for_a_sweep)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	pass(&other_, &pipe_, 0);
	T_EQ(host_enter(&hc), 0);
	sim_close(pipe_.fd[0]);
	str_head_released(pipe_.sd[0], pipe_.fd[1]);
	(void)sim_soon();
	sim_close(pipe_.fd[1]);
	str_head_released(pipe_.sd[1], -1);
	host_leave();
	T_GT(sim_soon(), 0u);
	fx_close_both(&other_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

/* Each descriptor that was received has a carrier that hangs up. */
T_CASE(an_end_that_had_a_reference_once_asks_for_nothing)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[0]);
	str_ref_end();
	str_ref_begin();
	str_head_unref(pipe_.sd[0], NULL);
	(void)sim_soon();
	sim_close(pipe_.fd[0]);
	str_head_released(pipe_.sd[0], -1);
	host_leave();
	T_EQ(sim_soon(), 0u);
	fx_close(&pipe_, 1);
}

T_CASE(a_reference_that_goes_asks_for_a_sweep_where_no_file_is)
{
	struct host_call hc = {.fd = -1};
	bool held;

	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[0]);
	held = str_ref_hold(pipe_.sd[0]);
	host_leave();
	pass(&other_, &pipe_, 0);
	pass(&pipe_, &other_, 0);
	fx_close_both(&other_);
	fx_close_both(&pipe_);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 2);
	(void)sim_soon();
	T_EQ(host_enter(&hc), 0);
	str_ref_release(held);
	str_head_unref(pipe_.sd[0], NULL);
	host_leave();
	T_GT(sim_soon(), 0u);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

/* The last reference, when the thread cannot close the head itself. */
T_CASE(a_last_reference_that_goes_within_a_claim_asks_for_a_sweep)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	fx_pipe(&other_);
	pass(&other_, &pipe_, 0);
	fx_close_both(&pipe_);
	(void)sim_soon();
	T_EQ(host_enter(&hc), 0);
	(void)str_claim(other_.pl);
	str_head_flush_read(other_.sd[0], -1);
	str_unclaim(other_.pl);
	host_leave();
	T_GT(sim_soon(), 0u);
	fx_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 1);
}

/* While a thread moves a reference the collector does nothing. */
T_CASE(a_sweep_that_could_not_count_says_so)
{
	struct str_sweep s = {.asked = true};
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	circle();
	fx_close_both(&pipe_);
	fx_close_both(&other_);
	T_EQ(host_enter(&hc), 0);
	str_ref_begin();
	while (str_sweep_some(&s, UINT64_MAX))
		;
	T_TRUE(s.unsure);
	T_EQ(fx_in_use(STR_BLK_PIPE), 2);
	str_ref_end();
	str_sweep_ask(&s, false);
	while (str_sweep_some(&s, UINT64_MAX))
		;
	host_leave();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_TRUE(!s.unsure);
}

/* -------------------------------------------------------------------- slices */

/*
 * A sweep, cut into slices as short as can be; @between, or NULL, is called before
 * slice @at.  Return: how many slices there were.
 */
static unsigned
sliced(unsigned at, void (*between)(void))
{
	struct str_sweep s = {.asked = true};
	struct host_call hc = {.fd = -1};
	unsigned n = 0;
	bool more;

	do {
		if (n++ == at && between != NULL)
			between();
		T_EQ(host_enter(&hc), 0);
		more = str_sweep_some(&s, 0);
		host_leave();
	} while (more);
	return n;
}

T_CASE(a_circle_is_freed_in_slices)
{
	fx_begin(t);
	circle();
	fx_close_both(&pipe_);
	fx_close_both(&other_);
	T_GT(sliced(0, NULL), 10u);
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_PASS), 0);
}

static void
closes_the_last(void)
{
	fx_close_both(&pipe_);
}

T_CASE(a_circle_whose_last_file_goes_between_two_slices_is_freed)
{
	unsigned at, n = 1;

	for (at = 0; at < n; at++) {
		fx_begin_seed(at);
		circle();
		fx_close_both(&other_);
		n = sliced(at, closes_the_last);
		fx_sweep();
		T_EQ(fx_in_use(STR_BLK_PIPE), 0);
		T_EQ(fx_in_use(STR_BLK_PASS), 0);
		fx_end();
	}
	(void)t;
}

static void
passes_one_more(void)
{
	pass(&pipe_, &other_, 0);
}

T_CASE(what_is_passed_between_two_slices_stays)
{
	unsigned at, n = 1;

	for (at = 0; at < n; at++) {
		fx_begin_seed(at);
		fx_pipe(&pipe_);
		fx_pipe(&other_);
		pass(&pipe_, &other_, 0);
		pass(&pipe_, &other_, 1);
		fx_close_both(&other_);
		n = sliced(at, passes_one_more);
		T_EQ(fx_in_use(STR_BLK_PIPE), 2);
		T_EQ(fx_in_use(STR_BLK_PASS), 3);
		fx_close_both(&pipe_);
		fx_sweep();
		T_EQ(fx_in_use(STR_BLK_PIPE), 0);
		fx_end();
	}
	(void)t;
}

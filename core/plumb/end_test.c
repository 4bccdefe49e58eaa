/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Opens, closes and sweeps of streams beside processes that die: names, what
 * must be buried or closed later, and which calls wait for it.
 */
#include "fixture.h"
#include <str/builtin.h>

static struct fx_pipe pipe_, other_;

/* ------------------------------------------------------------------ names */

static int opened_;

static void
opens_a_name(void *arg)
{
	struct host_call hc = {.fd = -1, .fflags = 2};
	struct host_carrier c;
	struct str_file *f = NULL;
	int fd;

	(void)arg;
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	opened_ = str_name_open(&hc, 1, 10, 0, 2, &c, &f);
	if (opened_ == 0)
		T_TRUE(str_file_head(f)->plumb == pipe_.pl);
	host_leave();
	sim_close(fd);
	if (f != NULL) {
		T_EQ(host_enter(&hc), 0);
		str_file_released(f, str_file_gen(f), &hc);
		host_leave();
	}
}

static void
removes_a_name(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	(void)str_name_detach(&hc, 1, 10, 0);
	host_leave();
}

/* Those too at which only memory pressure would look. */
static void
sweep_pipes(void)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)str_region_sweep();
	host_leave();
}

/* An entry is used again for another file as it has just been found */
T_CASE(a_name_that_is_found_is_not_another_by_then)
{
	struct host_call hc = {.fd = -1};
	static struct fx_pipe first;
	uint64_t seed;

	for (seed = 0; seed < 60; seed++) {
		fx_begin_seed(seed);
		/* one entry there is */
		fx_pipe(&first);
		T_EQ(host_enter(&hc), 0);
		T_EQ(str_name_attach(first.sd[0], &hc, 1, 10, 0, "/a"), 0);
		T_EQ(str_name_detach(&hc, 1, 10, 0), 0);
		host_leave();
		fx_close_both(&first);
		sweep_pipes();
		fx_keep();
		fx_pipe(&pipe_);
		fx_pipe(&other_);
		T_EQ(host_enter(&hc), 0);
		T_EQ(str_name_attach(pipe_.sd[0], &hc, 1, 10, 0, "/a"), 0);
		host_leave();
		sim_grain(3);
		(void)sim_spawn("user", seed % 2 != 0 ? opens_a_name :
			removes_a_name, NULL);
		T_EQ(host_enter(&hc), 0);
		(void)str_name_detach(&hc, 1, 10, 0);
		T_EQ(str_name_attach(other_.sd[0], &hc, 1, 11, 0, "/b"), 0);
		host_leave();
		T_EQ(sim_run(), 0);
		T_EQ(host_enter(&hc), 0);
		T_EQ(str_name_detach(&hc, 1, 11, 0), 0);
		host_leave();
		fx_end();
	}
}

/* --------------------------------------------------------------- burying */

static str_a32 out_;

static void
is_inside_pipe(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	sim_close(pipe_.fd[0]);
	sim_close(pipe_.fd[1]);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_stream_inside(pipe_.pl));
	while (str_load(&out_) == 0)
		sim_pause(&out_, 0);
	host_leave();
}

static void
closes_pipe(void *arg)
{
	(void)arg;
	fx_close_both(&pipe_);
	sweep_pipes();
}

static void
buries(void *arg)
{
	(void)arg;
	sweep_pipes();
}

/* A stream that waits for a call to end, and the thread that says so dies */
T_CASE(a_stream_that_was_to_be_buried_is_whoever_dies)
{
	static const char *const at[] = {"pipe:unburied", "pipe:stamped"};
	unsigned i;

	for (i = 0; i < 2; i++) {
		fx_begin_seed(i);
		fx_pipe(&pipe_);
		str_store(&out_, 0u);
		(void)sim_spawn("inside", is_inside_pipe, NULL);
		sim_sleep(1000000);
		if (i == 0)
			sim_crash_at(at[i], 1);
		(void)sim_spawn("closer", closes_pipe, NULL);
		sim_close(pipe_.fd[0]);
		sim_close(pipe_.fd[1]);
		sim_sleep(1000000000);
		str_store(&out_, 1u);
		host_wake(&out_, INT_MAX);
		sim_sleep(1000000);
		if (i == 1) {
			sim_crash_at(at[i], 1);
			(void)sim_spawn("buries", buries, NULL);
		}
		T_EQ(sim_run(), 0);
		T_TRUE(sim_crash_count(at[i]) != 0);
		sim_sleep(1000000000);
		fx_sweep(); /* as streamsd does */
		T_EQ(fx_in_use(STR_BLK_PIPE), 0);
		T_EQ((uint32_t)str_load(str_root(STR_ROOT_UNBURIED)), 0u);
		fx_end();
	}
}

/* What was to be closed when it is empty, and is held again, is not waited for */
T_CASE(a_stream_that_is_held_again_drains_no_more)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	str_store(&pipe_.pl->drain_end, host_now() + 1000000000ull);
	T_EQ(host_enter(&hc), 0);
	T_FALSE(str_region_drain());
	host_leave();
	T_EQ(str_load(&pipe_.pl->drain_end), 0u);
	fx_close_both(&pipe_);
}

/* ------------------------------------------------------------------ opening */

#define O_RDWR_ 2

/* As libstreams does: inside before the kernel knows. */
static void
close_as_lib(struct str_file *f, int fd)
{
	struct host_call hc = {.fd = fd};
	uint32_t gen = str_file_gen(f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(f), str_file_flags(f), gen));
	sim_close(fd);
	str_file_released(f, gen, &hc);
	host_leave();
}

static void
opens_a_fifo(void *arg)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_};
	struct host_carrier c;
	struct str_file *f;
	int fd, *ret = arg;

	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	*ret = str_fifo_open(&hc, STR_FIFO_DEV, 3, O_RDWR_, &c, &f);
	host_leave();
	if (*ret != 0)
		return;
	T_EQ(str_stream_lives(str_file_head(f)->plumb), true);
	close_as_lib(f, fd);
}

/* It is in the directory, and no process holds it yet. */
T_CASE(a_sweep_leaves_alone_what_is_being_opened)
{
	uint64_t seed;
	int ret;

	for (seed = 0; seed < 40; seed++) {
		struct sim_task *w;

		fx_begin_seed(seed);
		sim_grain(1);
		w = sim_spawn("opener", opens_a_fifo, &ret);
		ret = -1;
		while (!sim_ended(w))
			fx_sweep();
		T_EQ(ret, 0);
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

static str_a32 open_, swept_;

static void
opens_and_waits(void *arg)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_};
	struct host_carrier c;
	struct str_file *f;
	int fd;

	(void)arg;
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_fifo_open(&hc, STR_FIFO_DEV, 3, O_RDWR_, &c, &f), 0);
	host_leave();
	str_store(&open_, 1u);
	while (str_load(&swept_) == 0)
		sim_sleep(10000);
	T_TRUE(str_stream_lives(str_file_head(f)->plumb));
	T_EQ(str_load(&str_file_head(f)->flags) & STR_H_CLOSED, 0u);
	close_as_lib(f, fd);
}

static void
sweeps_and_tells(void *arg)
{
	(void)arg;
	do
		fx_sweep();
	while (str_load(&open_) == 0);
	str_store(&swept_, 1u);
}

/* A thread that saw no holder comes to close it when it has been opened. */
T_CASE(a_slow_sweep_leaves_alone_what_was_being_opened)
{
	uint64_t seed;

	for (seed = 0; seed < 150; seed++) {
		struct sim_task *s;
		uint32_t n;

		fx_begin_seed(seed);
		sim_grain(1);
		str_store(&open_, 0u);
		str_store(&swept_, 0u);
		(void)sim_spawn("opener", opens_and_waits, NULL);
		s = sim_spawn("sweeper", sweeps_and_tells, NULL);
		for (n = sim_rand(150); n > 0; n--)
			sim_point();
		sim_stop(s);
		while (str_load(&open_) == 0)
			sim_sleep(10000);
		sim_cont(s);
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

/* -------------------------------------------------------------------- closing */

static struct sim_task *closer_;
static unsigned lived_;

static void
closes_a_fifo(void *arg)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_};
	struct host_carrier c;
	struct str_plumb *pl;
	struct str_file *f;
	uint64_t sid;
	int fd;

	(void)arg;
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_fifo_open(&hc, STR_FIFO_DEV, 3, O_RDWR_, &c, &f), 0);
	host_leave();
	pl = str_file_head(f)->plumb;
	sid = pl->sid;
	close_as_lib(f, fd);
	T_FALSE(str_stream_lives(pl) && pl->sid == sid);
}

static void
sweeps(void *arg)
{
	(void)arg;
	while (!sim_ended(closer_))
		fx_sweep();
	lived_++;
}

/* Another has seen that it has no holder, and is about to close it. */
T_CASE(who_closes_comes_back_when_it_is_closed)
{
	uint64_t seed;

	for (seed = 0; seed < 200; seed++) {
		fx_begin_seed(seed);
		sim_grain(1 + (unsigned)seed % 3);
		closer_ = sim_spawn("closer", closes_a_fifo, NULL);
		sweeps(NULL);
		T_EQ(sim_run(), 0);
		fx_end();
	}
}

/* ... and dies of it. */
T_CASE(who_closes_is_not_kept_by_one_who_dies_closing)
{
	uint64_t seed;

	lived_ = 0;
	for (seed = 0; seed < 200; seed++) {
		fx_begin_seed(seed);
		sim_grain(1 + (unsigned)seed % 3);
		closer_ = sim_spawn("closer", closes_a_fifo, NULL);
		(void)sim_spawn("doomed", sweeps, NULL);
		sim_crash_at("file:closed", 1);
		T_EQ(sim_run(), 0);
		fx_end();
	}
	T_LT(lived_, 200); /* it did die at times */
}

/* A FIFO whose holder was killed; streamsd does nothing. */
static struct str_plumb *
left_fifo(void)
{
	struct host_call hc = {.fd = -1, .fflags = O_RDWR_};
	struct host_carrier c;
	struct str_file *f;
	int fd;

	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_fifo_open(&hc, STR_FIFO_DEV, 3, O_RDWR_, &c, &f), 0);
	host_leave();
	sim_sleep(1000000);
	sim_stop(sim_streamsd());
	sim_close(fd);
	return str_file_head(f)->plumb;
}

static void
has_the_node(void *arg)
{
	struct host_call hc = {.fd = -1};
	struct str_node *n = arg;

	T_EQ(host_enter(&hc), 0);
	T_EQ(str_node_lock(n, &hc), 0);
	sim_sleep(1000000000);
	str_node_unlock(n);
	host_leave();
}

/* Not as often as another one finds the node locked: that may be for long. */
T_CASE(who_has_the_node_asks_for_a_sweep_once)
{
	struct str_plumb *pl;
	unsigned i;

	fx_begin(t);
	pl = left_fifo();
	(void)sim_spawn("owner", has_the_node, pl->node);
	sim_sleep(1000000);
	(void)sim_soon();
	for (i = 0; i < 4; i++)
		fx_sweep();
	T_TRUE(str_stream_lives(pl));
	T_EQ(sim_soon(), 0u);
	sim_sleep(2000000000);
	T_EQ(sim_soon(), 1u);
	fx_sweep();
	T_FALSE(str_stream_lives(pl));
	T_EQ(sim_soon(), 0u);
	sim_cont(sim_streamsd());
}

static void
dies_freeing(void *arg)
{
	struct str_plumb *pl = arg;
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_cas(&pl->blk.owner, 0u, host_self_tag()));
	sim_kill(sim_current());
}

T_CASE(what_the_dead_were_freeing_is_swept_when_they_are_reaped)
{
	struct str_plumb *pl;
	struct sim_task *w;
	unsigned i;

	fx_begin(t);
	pl = left_fifo();
	w = sim_spawn("doomed", dies_freeing, pl);
	while (!sim_ended(w))
		sim_sleep(1);
	(void)sim_soon();
	for (i = 0; i < 4; i++)
		fx_sweep();
	T_TRUE(str_stream_lives(pl));
	T_EQ(sim_soon(), 0u);
	sim_sleep(1000000000);
	T_EQ(sim_soon(), 1u);
	fx_sweep();
	T_FALSE(str_stream_lives(pl));
	sim_cont(sim_streamsd());
}

static void
dies_serving(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)str_claim(arg);
	sim_kill(sim_current());
}

/* Then its driver can find out what became of the messages. */
T_CASE(a_stream_in_which_a_server_died_is_closed_when_that_is_reaped)
{
	struct host_call hc = {.fd = -1};
	struct str_plumb *pl;
	struct sim_task *w;
	uint64_t now;

	fx_begin(t);
	pl = left_fifo();
	w = sim_spawn("doomed", dies_serving, pl);
	while (!sim_ended(w))
		sim_sleep(1);
	now = host_now();
	fx_sweep();
	T_LT(host_now() - now, 1000000u); /* streamsd waits for nothing */
	T_TRUE(str_stream_lives(pl));
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_region_drain());
	host_leave();
	sim_sleep(100000000);
	T_EQ(host_enter(&hc), 0);
	T_FALSE(str_region_drain());
	host_leave();
	T_FALSE(str_stream_lives(pl));
	sim_cont(sim_streamsd());
}

/* ------------------------------------------------------------------ u-area */

#define _KERNEL
#include <sys/user.h>
#undef _KERNEL

static int super;

static int
old_open(queue_t *q, dev_t dev, int flag, int sflag)
{
	(void)q, (void)dev, (void)flag, (void)sflag;
	super = suser();
	return 0;
}

T_CASE(procedures_other_than_open_see_the_ids_of_no_process)
{
	union {
		int (*svr3)(queue_t *q, dev_t dev, int flag, int sflag);
		qi_qopen_t svr4;
	} fn = {.svr3 = old_open};
	struct qinit qi = {.qi_qopen = fn.svr4};
	struct str_qpair qp = {.rq.q_qinfo = &qi};
	cred_t cr = {.cr_uid = 0};
	dev_t dev = 0;

	T_FALSE(suser());
	T_EQ(str_foreign_open(&qp, &dev, 0, 0, &cr), 0);
	T_TRUE(super);
	T_FALSE(suser());
	T_EQ(u.u_rgid, -1);
}

/* -------------------------------------------------------------------- reaping */

static uint32_t tag_;

static void
stays_inside(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	(void)str_claim(pipe_.pl);
	sim_sleep(1000000);
	str_unclaim(pipe_.pl);
	host_leave();
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
}

static void
dies_plumbing(void *arg)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	tag_ = host_self_tag();
	if (arg != NULL) {
		str_store(&host_self()->inside,
			(uint64_t)(uintptr_t)pipe_.sd[0]);
		T_EQ(str_busy_lock(pipe_.pl, NULL), 0);
	}
	sim_kill(sim_current());
}

static bool
is_reaped(uint32_t tag)
{
	return str_load(&host_domain->thread[STR_TAG_IDX(tag)].tag) != tag;
}

/* A reaper waits only a moment for the stopped thread. */
T_CASE(a_stopped_process_does_not_keep_others_from_being_reaped)
{
	struct sim_task *w;
	uint32_t plumbing;

	fx_begin(t);
	fx_pipe(&pipe_);
	w = sim_spawn("stopped", stays_inside, NULL);
	sim_sleep(100000);
	sim_stop(w);
	(void)sim_spawn("plumbing", dies_plumbing, "");
	sim_sleep(2000000000);
	plumbing = tag_;
	T_EQ(is_reaped(plumbing), false);
	(void)sim_spawn("other", dies_plumbing, NULL);
	sim_sleep(2000000000);
	T_NE(tag_, plumbing);
	T_EQ(is_reaped(tag_), true);
	sim_cont(w);
	sim_sleep(10000000000);
	T_EQ(is_reaped(plumbing), true);
	T_EQ(str_load(&pipe_.pl->busy.owner), 0);
	T_EQ(sim_run(), 0);
	fx_close_both(&pipe_);
}

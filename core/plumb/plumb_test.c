/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pushing and popping: qprocson(D3), qprocsoff(D3), and what the Stream head
 * does for I_PUSH and I_POP.
 */
#include "fixture.h"
#include <str/builtin.h>

static struct fx_pipe pipe_;

T_CASE(a_new_pipe_is_two_heads_that_face_each_other)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == &pipe_.sd[1]->qp->rq);
	T_TRUE(pipe_.sd[1]->qp->wq.q_next == &pipe_.sd[0]->qp->rq);
	T_NULL(pipe_.sd[0]->qp->rq.q_next);
	T_NULL(pipe_.sd[1]->qp->rq.q_next);
}

T_CASE(push_opens_the_module_and_links_it)
{
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pass");
	T_EQ(fx_of(q)->opens, 1);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == WR(q));
	T_TRUE(WR(q)->q_next == &pipe_.sd[1]->qp->rq);
	T_TRUE(pipe_.sd[1]->qp->wq.q_next == q);
	T_TRUE(q->q_next == &pipe_.sd[0]->qp->rq);
	T_FALSE(q->q_flag & QPROCS);
	T_FALSE(WR(q)->q_flag & QPROCS);
}

T_CASE(the_last_pushed_is_the_topmost)
{
	queue_t *a, *b;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 0, "store");
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == WR(b));
	T_TRUE(WR(b)->q_next == WR(a));
	T_TRUE(a->q_next == b);
}

T_CASE(both_ends_have_stacks_of_their_own)
{
	queue_t *a, *b;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 1, "store");
	T_TRUE(WR(a)->q_next == b);
	T_TRUE(WR(b)->q_next == a);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == b);
	T_TRUE(WR(b)->q_next == &pipe_.sd[0]->qp->rq);
	T_EQ(fx_pop(&pipe_, 0), EINVAL);
	T_EQ(fx_pop(&pipe_, 1), 0);
	T_EQ(fx_pop(&pipe_, 1), EINVAL);
}

T_CASE(pop_closes_and_unlinks_the_topmost)
{
	queue_t *a, *b;
	struct fx_count *ca, *cb;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 0, "pass");
	ca = fx_of(a);
	cb = fx_of(b);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(cb->closes, 1);
	T_EQ(ca->closes, 0);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == WR(a));
	T_TRUE(a->q_next == &pipe_.sd[0]->qp->rq);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(ca->closes, 1);
}

T_CASE(an_unknown_module_is_refused)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(fx_push_err(&pipe_, 0, "nosuch"), EINVAL);
	T_EQ(fx_pop(&pipe_, 0), EINVAL);
}

T_CASE(a_module_whose_open_fails_is_not_there)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(fx_push_err(&pipe_, 0, "refuse"), EBUSY);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == &pipe_.sd[1]->qp->rq);
	T_EQ(fx_in_use(STR_BLK_QPAIR), 2);
	T_EQ(fx_pop(&pipe_, 0), EINVAL);
}

T_CASE(push_without_memory_is_enosr_and_changes_nothing)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	fx_use_up();
	T_EQ(fx_push_err(&pipe_, 0, "pass"), ENOSR);
	T_TRUE(pipe_.sd[0]->qp->wq.q_next == &pipe_.sd[1]->qp->rq);
	T_EQ(fx_pop(&pipe_, 0), EINVAL);
	fx_give_back();
	T_EQ(fx_push_err(&pipe_, 0, "pass"), 0);
}

T_CASE(sixty_four_modules_and_no_more)
{
	unsigned i;

	fx_begin(t);
	fx_pipe(&pipe_);
	for (i = 0; i < 64; i++)
		T_EQ(fx_push_err(&pipe_, 0, "nullmod"), 0);
	T_EQ(fx_push_err(&pipe_, 0, "nullmod"), EINVAL);
	T_EQ(fx_push_err(&pipe_, 1, "nullmod"), 0);
	for (i = 0; i < 64; i++)
		T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(fx_pop(&pipe_, 0), EINVAL);
}

T_CASE(data_goes_through_what_is_pushed)
{
	char buf[8];
	queue_t *q;

	fx_begin(t);
	fx_pipe(&pipe_);
	q = fx_push(&pipe_, 0, "pass");
	T_EQ(fx_write(&pipe_, 0, "down", 4), 4);
	T_EQ(fx_of(q)->puts, 1);
	T_EQ(fx_read(&pipe_, 1, buf, sizeof(buf)), 4);
	T_MEM(buf, "down", 4);
	T_EQ(fx_write(&pipe_, 1, "up", 2), 2);
	T_EQ(fx_of(q)->puts, 2);
	T_EQ(fx_read(&pipe_, 0, buf, sizeof(buf)), 2);
	T_MEM(buf, "up", 2);
}

T_CASE(data_waiting_at_a_head_survives_push_and_pop)
{
	char buf[16];

	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(fx_write(&pipe_, 0, "one", 3), 3);
	(void)fx_push(&pipe_, 0, "pass");
	T_EQ(fx_write(&pipe_, 0, "two", 3), 3);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(fx_write(&pipe_, 0, "three", 5), 5);
	T_EQ(fx_read(&pipe_, 1, buf, 16), 11);
	T_MEM(buf, "onetwothree", 11);
}

T_CASE(closing_an_end_pops_its_modules)
{
	queue_t *a, *b;
	struct fx_count *ca, *cb;

	fx_begin(t);
	fx_pipe(&pipe_);
	a = fx_push(&pipe_, 0, "pass");
	b = fx_push(&pipe_, 1, "store");
	ca = fx_of(a);
	cb = fx_of(b);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
	(void)str_region_sweep();
	T_EQ(ca->closes, 1);
	T_EQ(cb->closes, 1);
}

T_CASE(every_built_in_module_can_be_pushed)
{
	static const char *const name[] = {
		"nullmod", "pipemod", "srvmod", "testmod",
	};
	unsigned i;
	char buf[4];

	fx_begin(t);
	fx_pipe(&pipe_);
	for (i = 0; i < STR_ARRAY_LEN(name); i++)
		T_EQ(fx_push_err(&pipe_, 0, name[i]), 0);
	T_EQ(fx_write(&pipe_, 0, "abcd", 4), 4);
	T_EQ(fx_read(&pipe_, 1, buf, 4), 4);
	T_MEM(buf, "abcd", 4);
	for (i = 0; i < STR_ARRAY_LEN(name); i++)
		T_EQ(fx_pop(&pipe_, 0), 0);
}

/* ------------------------------------------------------------------ ioctls */

static long lost_ret;

/* An ioctl that a module keeps on its queue; it will not be answered. */
static void
asks(void *arg)
{
	(void)arg;
	lost_ret = fx_ioctl(&pipe_, 0, 0x7801, 0);
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
}

static void
keeps(unsigned type)
{
	queue_t *q = fx_push(&pipe_, 0, "store");
	mblk_t *mp;

	lost_ret = 1;
	(void)sim_spawn("asker", asks, NULL);
	sim_sleep(1000000000);
	T_EQ(lost_ret, 1);
	mp = WR(q)->q_first;
	T_NOTNULL(mp);
	T_EQ(mp->b_datap->db_type, M_IOCTL);
	if (type != M_IOCTL) {
		/* the module's answer, or request, gets no further */
		T_NOTNULL(mp = getq(WR(q)));
		mp->b_datap->db_type = (unsigned char)type;
		if (type == M_IOCACK)
			((struct iocblk *)(void *)mp->b_rptr)->ioc_rval = 7;
		T_EQ(putq(q, mp), 1);
	}
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(sim_run(), 0);
}

static struct str_fmod *
driver(const char *name, uint32_t major)
{
	return str_fmod_new(name, STR_F_DRIVER, 0, major,
		&str_fmod_known("pipemod", STR_F_MODULE)->tab, "");
}

/* register_strdev(9): a major of a driver's own choice, or an unused one. */
T_CASE(an_automatic_major_is_no_other_drivers)
{
	struct str_fmod *one, *two;
	uint32_t m;

	fx_begin(t);
	one = driver("one", 0);
	T_NOTNULL(one);
	m = one->major;
	T_NULL(driver("same", m));
	/* these are the majors that the next drivers would get */
	T_NOTNULL(driver("fixed", m + 1));
	T_NOTNULL(driver("other", m + 2));
	T_NULL(driver("again", m + 1));
	two = driver("two", 0);
	T_NOTNULL(two);
	T_TRUE(str_fmod_by_major(m) == one);
	T_TRUE(str_fmod_by_major(two->major) == two);
}

T_CASE(an_ioctl_that_is_popped_with_its_module_ends)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	keeps(M_IOCTL);
	T_EQ(lost_ret, -EINVAL);
}

T_CASE(a_copy_that_is_asked_for_and_popped_ends_as_well)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	keeps(M_COPYIN);
	T_EQ(lost_ret, -EINVAL);
}

T_CASE(an_answer_that_is_popped_with_its_module_is_one)
{
	fx_begin(t);
	fx_pipe(&pipe_);
	keeps(M_IOCACK);
	T_EQ(lost_ret, 7);
}

/* --------------------------------------------------- the carrier of a pipe */

static unsigned
entries(void)
{
	unsigned n = 0, i;

	for (i = 0; i < STR_NCOOKIE; i++)
		n += str_load(&host_domain->cookie[i].cookie) > 1;
	return n;
}

/* No process has a descriptor of end @end any more, and one finds out. */
static void
pair_goes(int end)
{
	struct host_call hc = {.fd = -1};

	sim_close(pipe_.fd[end]);
	T_EQ(host_enter(&hc), 0);
	str_pipe_pair_gone(pipe_.sd[end]);
	host_leave();
}

/* An end that a name keeps is opened by it, again and again. */
T_CASE(the_entry_of_a_carrier_goes_with_it)
{
	struct host_call hc = {.fd = -1};
	struct host_carrier c;
	struct str_file *f;
	unsigned was;
	int fd;

	fx_begin(t);
	was = entries();
	fx_pipe(&pipe_);
	T_EQ(entries(), was + 2);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[1]);
	str_ref_end();
	host_leave();
	pair_goes(1);
	T_EQ(host_carrier_open(0, &fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_file_add(pipe_.sd[1], &c, 2, &f), 0);
	T_TRUE(str_file_lookup(&c) == f);
	str_ref_begin();
	str_head_unref(pipe_.sd[1], NULL);
	host_leave();
	T_EQ(entries(), was + 2);
	/* the other end's carrier is hung up since; this is to be found out */
	sim_close(fd);
	fx_sweep();
	T_TRUE(str_load(&pipe_.sd[0]->flags) & STR_H_PEER);
	T_EQ(host_enter(&hc), 0);
	sim_close(pipe_.fd[0]);
	str_head_released(pipe_.sd[0], -1);
	host_leave();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(entries(), was);
}

static void
finds_it_gone(void *arg)
{
	(void)arg;
	fx_close(&pipe_, 0);
	pair_goes(1);
}

/* A thread killed as it closes it has closed it, or the next one finds it. */
T_CASE(who_dies_closing_what_a_reference_keeps_leaves_nothing_open)
{
	struct host_call hc = {.fd = -1};

	fx_begin(t);
	fx_pipe(&pipe_);
	T_EQ(host_enter(&hc), 0);
	str_head_ref(pipe_.sd[1]);
	str_ref_end();
	host_leave();
	sim_crash_at("pipe:forgotten", 1);
	(void)sim_spawn("closer", finds_it_gone, NULL);
	fx_close_both(&pipe_);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count("pipe:forgotten"), 1);
	T_EQ(host_enter(&hc), 0);
	str_ref_begin();
	str_head_unref(pipe_.sd[1], NULL);
	(void)str_region_sweep();
	host_leave();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
}

/* ---------------------------------------------------------------- signals */

/* Waits for the plumbing of pipe_, as a push would. */
static void
waiter(void *arg)
{
	struct host_call hc = {.fd = -1};
	int *ret = arg;

	T_EQ(host_enter(&hc), 0);
	hc.sig_seq = host_tls.sig_seq;
	*ret = str_busy_lock(pipe_.sd[0]->plumb, &hc);
	if (*ret == 0)
		str_busy_unlock(pipe_.sd[0]->plumb);
	host_leave();
	fx_close(&pipe_, 0);
	fx_close(&pipe_, 1);
}

T_CASE(a_signal_leaves_the_name_of_who_has_a_lock_alone)
{
	struct host_call hc = {.fd = -1};
	struct str_plumb *pl;
	struct sim_task *w;
	int ret = -1;

	fx_begin(t);
	fx_pipe(&pipe_);
	pl = pipe_.sd[0]->plumb;
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_busy_lock(pl, NULL), 0);
	w = sim_spawn("waiter", waiter, &ret);
	sim_sleep(1000000);
	sim_signal(w, false);
	sim_sleep(30000000);
	T_EQ(str_load(&pl->busy.owner), host_self_tag());
	T_EQ(ret, EINTR);
	str_busy_unlock(pl);
	host_leave();
	T_EQ(sim_run(), 0);
	fx_close_both(&pipe_);
}

static struct fx_pipe other_;

static void
locks_a_node(void *arg)
{
	struct host_call hc = {.fd = -1};
	struct str_node *n = arg;

	T_EQ(host_enter(&hc), 0);
	T_EQ(str_node_lock(n, &hc), 0);
	str_node_unlock(n);
	host_leave();
}

static void
locks_a_stream(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_busy_lock(other_.pl, &hc), 0);
	str_busy_unlock(other_.pl);
	host_leave();
}

/* A handler that restarts ends one sleep, and not every one from then on */
static void
restarts(void (*fn)(void *arg), void *arg)
{
	struct sim_task *w = sim_spawn("waiter", fn, arg);
	struct sim_stats a, b;

	sim_sleep(1000000);
	sim_signal(w, true);
	sim_stats(&a);
	sim_sleep(1000000000);
	sim_stats(&b);
	T_LT(b.switches - a.switches, 1000u);
	T_FALSE(sim_ended(w));
}

T_CASE(who_waits_for_a_lock_sleeps_on_after_a_restart)
{
	struct host_call hc = {.fd = -1};
	struct str_node *n;

	fx_begin(t);
	T_EQ(host_enter(&hc), 0);
	n = str_node_get(STR_FIFO_DEV, 9);
	fx_keep();
	fx_pipe(&other_);
	T_EQ(str_node_lock(n, NULL), 0);
	restarts(locks_a_node, n);
	str_node_unlock(n);
	T_EQ(str_busy_lock(other_.pl, NULL), 0);
	restarts(locks_a_stream, NULL);
	str_busy_unlock(other_.pl);
	host_leave();
	T_EQ(sim_run(), 0);
}

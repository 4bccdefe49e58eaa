/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Streams go on: no task sleeps through what another did, or was doing when
 * it died.
 */
#include "fixture.h"

#define MS 1000000ull

static struct fx_pipe p_;
static char buf[4096], big[32768];
static long got;

/* Hold end @end only. */
static void
only(int end)
{
	fx_close(&p_, !end);
}

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
	got = 0;
}

/* The tasks have the pipe now: let them run to their end. */
static int
go(void)
{
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	return sim_run();
}

static void
reads_all(void *arg)
{
	long n;

	only(1);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	while ((n = fx_read(&p_, 1, buf, sizeof(buf))) > 0)
		got += n;
}

static void
writes_much(void *arg)
{
	int i;

	(void)arg;
	only(0);
	for (i = 0; i < 40; i++)
		T_EQ(fx_write(&p_, 0, big, sizeof(big)), (long)sizeof(big));
}

static void
pushes(void *arg)
{
	only(0);
	sim_sleep(1000 * MS);
	T_EQ(fx_push_err(&p_, 0, arg), 0);
	sim_sleep(2000 * MS);
}

T_CASE(a_writer_asleep_at_a_full_pipe_survives_a_push)
{
	begin(t);
	(void)sim_spawn("writer", writes_much, NULL);
	(void)sim_spawn("pusher", pushes, (void *)(uintptr_t)"late");
	(void)sim_spawn("reader", reads_all, (void *)2000);
	T_EQ(go(), 0);
	T_EQ(got, 40 * (long)sizeof(big));
}

/* service procedures */

static bool doom;

static void
dies_in_service(queue_t *q)
{
	(void)q;
	if (doom) {
		doom = false;
		sim_kill(sim_current());
	}
}

static void
writes_one(void *arg)
{
	only(0);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	(void)fx_write(&p_, 0, "one ", 4);
	sim_sleep(1000 * MS);
}

T_CASE(a_runner_that_dies_in_service_is_replaced)
{
	begin(t);
	(void)fx_push(&p_, 0, "late");
	fx_on_service = dies_in_service;
	doom = true;
	(void)sim_spawn("doomed", writes_one, NULL);
	(void)sim_spawn("writer", writes_one, (void *)1000);
	(void)sim_spawn("reader", reads_all, (void *)500);
	T_EQ(go(), 0);
	T_GE(got, 4);
}

T_CASE(queues_are_not_left_to_the_mark_of_a_dead_sleeper)
{
	begin(t);
	(void)fx_push(&p_, 0, "late");
	(void)fx_run(&p_);
	(void)str_or(&p_.sd[1]->hq.rwant, STR_WANT_FUTEX);
	T_EQ(fx_write(&p_, 0, "abcd", 4), 4);
	T_EQ(str_load(&p_.pl->nrun), 0);
	T_NE(str_head_events(p_.sd[1]) & STR_POLLIN, 0);
}

static unsigned services;

static void
enables_again(queue_t *q)
{
	if (++services < 100)
		qenable(q);
}

T_CASE(no_queue_is_left_enabled_however_many_ran)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "store");
	(void)fx_run(&p_);
	services = 0;
	fx_on_service = enables_again;
	qenable(q);
	T_EQ(fx_ioctl(&p_, 0, 0x5305, 0), -EINVAL); /* a call that does nothing */
	T_EQ(str_claim(p_.pl), 0);
	str_sched_leave(p_.sd[0]);
	str_unclaim(p_.pl);
	T_EQ(str_load(&p_.pl->nrun), 0);
	T_EQ(services, 100);
}

/* tokens: the reader sleeps on its carrier, others hold the writer's end */

static void
writes_last(void *arg)
{
	only(0);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	(void)fx_write(&p_, 0, "last", 4);
	sim_sleep(2000 * MS);
}

static void
dies_waking(struct t *t, const char *label)
{
	begin(t);
	sim_notices(0);
	sim_crash_at(label, 1);
	(void)sim_spawn("doomed", writes_last, (void *)1000);
	(void)sim_spawn("writer", writes_last, (void *)1500);
	(void)sim_spawn("reader", reads_all, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 8);
}

T_CASE(a_waker_that_dies_before_the_token_is_sent)
{
	dies_waking(t, "wake:token");
}

T_CASE(a_waker_that_dies_after_the_token_was_sent)
{
	dies_waking(t, "wake:sent");
}

static void
reads_one(void *arg)
{
	long n;

	only(1);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	n = fx_read(&p_, 1, buf, 4);
	if (n > 0)
		got += n;
	sim_sleep(4000 * MS);
}

T_CASE(a_reader_that_dies_with_the_token_leaves_it_to_another)
{
	begin(t);
	sim_notices(0);
	sim_crash_at("sleep:drained", 1);
	(void)sim_spawn("first", reads_one, NULL);
	(void)sim_spawn("second", reads_one, NULL);
	(void)sim_spawn("writer", writes_last, (void *)1000);
	(void)sim_spawn("writer", writes_last, (void *)2000);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

/* a reader that dies between counting a record and taking it */

static void
reads_hundred(void *arg)
{
	only(1);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	(void)fx_read(&p_, 1, buf, 100);
}

static void
reads_all_at_once(void *arg)
{
	static char much[32 * sizeof(big)];
	long n;

	only(1);
	sim_sleep((uint64_t)(uintptr_t)arg * MS);
	while ((n = fx_read(&p_, 1, much, sizeof(much))) > 0)
		got += n;
}

static void
writes_records(void *arg)
{
	int i;

	(void)arg;
	only(0);
	for (i = 0; i < 4; i++)
		T_EQ(fx_write(&p_, 0, big, 100), 100);
	sim_sleep(3000 * MS);
	writes_much(NULL);
}

T_CASE(what_a_reader_who_died_had_counted_is_not_counted_twice)
{
	begin(t);
	sim_crash_at("headq:consumed", 1);
	(void)sim_spawn("doomed", reads_hundred, (void *)500);
	(void)sim_spawn("writer", writes_records, NULL);
	(void)sim_spawn("reader", reads_all_at_once, (void *)1000);
	T_EQ(go(), 0);
	T_EQ(got, 400 + 40 * (long)sizeof(big));
}

/* a reader that dies as it takes a part of a message of blocks */

static int most_; /* bytes of the control part that the doomed reader takes */

static void
gets_a_part(void *arg)
{
	struct str_strbuf c = {most_, 0, buf}, d = {most_ == 4 ? 10 : 2, 0,
		buf + 100};
	int flags = 0;

	(void)arg;
	only(1);
	sim_sleep(500 * MS);
	(void)fx_getmsg(&p_, 1, &c, &d, NULL, &flags);
}

/* Gets the part that the killed reader had not taken, undamaged. */
static void
gets_the_rest(void *arg)
{
	struct str_strbuf c = {10, 0, buf + 200}, d = {10, 0, buf + 300};
	int flags = 0;

	(void)arg;
	only(1);
	sim_sleep(1000 * MS);
	T_EQ(fx_getmsg(&p_, 1, &c, &d, NULL, &flags), 0);
	if (most_ == 4) {
		T_EQ(c.len, 3);
		T_MEM(buf + 200, "rol", 3);
		T_EQ(d.len, -1);
	} else {
		T_EQ(c.len, -1);
		T_EQ(d.len, 2);
		T_MEM(buf + 300, "ta", 2);
	}
	T_EQ(fx_getmsg(&p_, 1, &c, &d, NULL, &flags), 0);
	T_EQ(c.len, 4);
	T_EQ(d.len, 0);
	got++;
}

static void
sends_blocks(void *arg)
{
	(void)arg;
	only(0);
	T_EQ(fx_push_err(&p_, 0, "pass"), 0);
	T_EQ(fx_putmsg(&p_, 0, "control", 7, "data", 4, -1, 0), 0);
	T_EQ(fx_putmsg(&p_, 0, "next", 4, "", 0, -1, 0), 0);
	sim_sleep(3000 * MS);
}

static void
dies_taking(struct t *t, int most)
{
	begin(t);
	most_ = most;
	sim_crash_at("headq:trimmed", 1);
	(void)sim_spawn("doomed", gets_a_part, NULL);
	(void)sim_spawn("writer", sends_blocks, NULL);
	(void)sim_spawn("reader", gets_the_rest, NULL);
	T_EQ(go(), 0);
	T_EQ(sim_crash_count("headq:trimmed"), 1);
	T_EQ(got, 1);
}

T_CASE(who_dies_taking_the_control_part_leaves_the_data)
{
	dies_taking(t, 10);
}

T_CASE(who_dies_taking_the_data_part_leaves_the_control_part)
{
	dies_taking(t, 4);
}

/* a reader that dies over a message that is not for it */

static int asks_for_; /* what the doomed one wants: MSG_HIPRI; 0: it reads */

static void
wants_another(void *arg)
{
	struct host_call hc = {.fd = p_.fd[1], .fflags = 2 | STR_O_NONBLOCK};
	struct str_strbuf c = {10, 0, buf}, d = {10, 0, buf + 100};
	struct str_head *sd = p_.sd[1];
	int flags = asks_for_, band = 0;
	long r;

	(void)arg;
	only(1);
	sim_sleep(500 * MS);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	r = asks_for_ == 0 ? str_head_read(sd, &hc, buf, 10) :
		str_head_getmsg(sd, &hc, &c, &d, &band, &flags);
	host_leave();
	T_EQ(r, asks_for_ == 0 ? -EBADMSG : -EAGAIN);
}

static void
wants_it(void *arg)
{
	struct str_strbuf c = {10, 0, buf + 200}, d = {10, 0, buf + 300};
	int flags = 2, band = 0; /* MSG_ANY */

	(void)arg;
	only(1);
	sim_sleep(1000 * MS);
	T_EQ(fx_getmsg(&p_, 1, &c, &d, &band, &flags), 0);
	got = d.len;
	T_MEM(buf + 300, "data", 4);
}

static void
sends_one(void *arg)
{
	(void)arg;
	only(0);
	T_EQ(fx_putmsg(&p_, 0, asks_for_ == 0 ? "ctl" : NULL,
		asks_for_ == 0 ? 3 : -1, "data", 4, asks_for_ == 0 ? 0 : 1,
		asks_for_ == 0 ? 1 : 4), 0);
	sim_sleep(3000 * MS);
}

static void
dies_over_anothers(struct t *t, int wants)
{
	begin(t);
	asks_for_ = wants;
	sim_crash_at("head:putback", 1);
	(void)sim_spawn("doomed", wants_another, NULL);
	(void)sim_spawn("writer", sends_one, NULL);
	(void)sim_spawn("reader", wants_it, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

T_CASE(a_message_that_a_dead_reader_did_not_want_is_there)
{
	dies_over_anothers(t, 1); /* MSG_HIPRI, and it has a band */
	fx_end();
	dies_over_anothers(t, 0); /* read(2), and it has high priority */
}

/* a reader that never sleeps, or does, and a death */

static void
lives_a_second(void *arg)
{
	only((int)(uintptr_t)arg);
	sim_sleep(1000 * MS);
	sim_kill(sim_current());
}

static long
no_delay(int end, bool write)
{
	struct host_call hc = {.fd = p_.fd[end], .fflags = STR_O_NONBLOCK};
	long n = 0;
	int i;

	only(end);
	for (i = 0; i < 200; i++) {
		T_EQ(host_enter(&hc), 0);
		n = write ? str_head_write(p_.sd[end], &hc, big, sizeof(big)) :
			    str_head_read(p_.sd[end], &hc, buf, 10);
		host_leave();
		if (n != -EAGAIN && n <= 0)
			break;
		sim_sleep(20 * MS);
	}
	return n;
}

static void
reads_no_delay(void *arg)
{
	(void)arg;
	T_EQ(no_delay(1, false), 0);
}

static void
writes_no_delay(void *arg)
{
	(void)arg;
	T_EQ(no_delay(0, true), -EPIPE);
}

T_CASE(a_reader_without_delay_sees_a_kill)
{
	begin(t);
	(void)sim_spawn("writer", lives_a_second, (void *)0);
	(void)sim_spawn("reader", reads_no_delay, NULL);
	T_EQ(go(), 0);
}

T_CASE(a_writer_without_delay_sees_a_kill)
{
	begin(t);
	(void)sim_spawn("reader", lives_a_second, (void *)1);
	(void)sim_spawn("writer", writes_no_delay, NULL);
	T_EQ(go(), 0);
}

/* how long after a death the other end knows of it */

static uint64_t died;
static long pieces; /* in a millisecond */

static void
moves_and_dies(void *arg)
{
	uint64_t until = host_now() + 60 * MS;
	int end = (int)(uintptr_t)arg;

	only(end);
	while (host_now() < until)
		if (end == 0)
			sim_sleep(fx_write(&p_, 0, big, 100) * MS / 100);
		else
			T_GT(fx_read(&p_, 1, buf, sizeof(buf)), 0l);
	died = host_now();
	sim_kill(sim_current());
}

static void
writes_pieces(void *arg)
{
	long n = 1, i;

	(void)arg;
	only(0);
	while (n > 0) {
		for (i = 0; i < pieces && n > 0; i++)
			n = fx_write(&p_, 0, big, sizeof(big) / 4);
		sim_sleep(1 * MS);
	}
	T_EQ(n, -EPIPE);
	T_GT(died, 0u);
	/* it takes up to 64 calls for slow ones, 20 ms without movement to
	 * ask, 20 ms asleep to look */
	T_LE(host_now() - died, 60 * MS);
}

static void
reads_until_told(void *arg)
{
	reads_all(arg);
	T_GT(died, 0u);
	T_LE(host_now() - died, 25 * MS);
}

T_CASE(a_writer_knows_of_a_kill_however_soon_the_pipe_is_full)
{
	for (pieces = 1; pieces < 12; pieces++) {
		begin(t);
		died = 0;
		(void)sim_spawn("reader", moves_and_dies, (void *)1);
		(void)sim_spawn("writer", writes_pieces, NULL);
		T_EQ(go(), 0);
		fx_end();
	}
}

T_CASE(a_sleeping_reader_knows_of_a_kill)
{
	begin(t);
	died = 0;
	(void)sim_spawn("writer", moves_and_dies, (void *)0);
	(void)sim_spawn("reader", reads_until_told, NULL);
	T_EQ(go(), 0);
}

static void
reads_to_the_end(void *arg)
{
	(void)arg;
	only(1);
	T_EQ(fx_read(&p_, 1, buf, 10), 0);
	got++;
}

/* Two find out that the writer is gone, one of them dies over it. */
static void
dies_closing(struct t *t, const char *label)
{
	begin(t);
	sim_crash_at(label, 1);
	(void)sim_spawn("reader", reads_to_the_end, NULL);
	(void)sim_spawn("reader", reads_to_the_end, NULL);
	(void)sim_spawn("writer", lives_a_second, (void *)0);
	T_EQ(go(), 0);
	T_EQ(got, 1);
}

T_CASE(who_dies_closing_the_other_end_leaves_it_to_the_next)
{
	dies_closing(t, "pipe:closing");
	fx_end();
	dies_closing(t, "pipe:hungup");
}

/* pipes half made */

static struct fx_pipe made_;

static void
makes(void *arg)
{
	(void)arg;
	fx_pipe(&made_);
}

static void
dies_making(struct t *t, unsigned nth)
{
	fx_begin(t);
	sim_crash_at("pipe:entered", nth);
	(void)sim_spawn("maker", makes, NULL);
	T_EQ(sim_run(), 0);
	(void)str_region_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_QPAIR), 0);
}

T_CASE(a_pipe_half_made_by_the_dead_is_freed)
{
	dies_making(t, 1);
	fx_end();
	dies_making(t, 2);
}

/* streams half taken apart */

static void
fills_and_closes(void *arg)
{
	struct host_call hc = {.fd = p_.fd[1]};
	int i;

	(void)arg;
	for (i = 0; i < 200; i++)
		T_EQ(fx_write(&p_, i % 2, big, 1000), 1000);
	fx_close(&p_, 0);
	/* as close(2) of an end that has no other any more */
	T_EQ(host_enter(&hc), 0);
	sim_close(p_.fd[1]);
	str_head_released(p_.sd[1], -1);
	host_leave();
}

static void
dies_dropping(struct t *t, const char *label, unsigned nth)
{
	begin(t);
	sim_crash_at(label, nth);
	(void)sim_spawn("closer", fills_and_closes, NULL);
	T_EQ(go(), 0);
	T_TRUE(sim_crash_count(label) >= nth);
	(void)str_region_sweep();
	T_EQ(fx_in_use(STR_BLK_PIPE), 0);
	T_EQ(fx_in_use(STR_BLK_QPAIR), 0);
	T_EQ(fx_in_use(STR_BLK_SEG), 0);
}

T_CASE(a_stream_half_taken_apart_by_the_dead_is_freed)
{
	unsigned nth;

	for (nth = 1; nth <= 2; nth++) {
		dies_dropping(t, "headq:dropped", nth);
		fx_end();
	}
	dies_dropping(t, "stream:dropped", 1);
	fx_end();
	dies_dropping(t, "stream:dropped", 2);
}

/* a claim within a claim, when a thread waits to change the plumbing */

static void
claims_twice(void *arg)
{
	struct host_call hc = {.fd = p_.fd[0]};

	(void)arg;
	only(0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_claim(p_.pl), 0);
	sim_sleep(1000 * MS);
	T_EQ(str_claim(p_.pl), 0);
	str_unclaim(p_.pl);
	str_unclaim(p_.pl);
	host_leave();
	got++;
}

static void
pushes_soon(void *arg)
{
	only(0);
	sim_sleep(500 * MS);
	T_EQ(fx_push_err(&p_, 0, arg), 0);
	got++;
}

T_CASE(a_claim_within_a_claim_does_not_wait_for_who_waits_for_it)
{
	begin(t);
	(void)sim_spawn("claimant", claims_twice, NULL);
	(void)sim_spawn("plumber", pushes_soon, (void *)(uintptr_t)"pass");
	T_EQ(go(), 0);
	T_EQ(got, 2);
}

/* messages that wait for memory */

static mblk_t *late_;

static void
sends_up(void *arg)
{
	struct host_call hc = {.fd = p_.fd[1]};
	struct str_head *sd = p_.sd[1];

	(void)arg;
	only(0);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	T_EQ(str_claim(sd->plumb), 0);
	str_msg_own(late_);
	str_put(&sd->qp->rq, late_);
	str_unclaim(sd->plumb);
	host_leave();
	(void)fx_write(&p_, 0, "d", 1);
}

static void
writes_behind(void *arg)
{
	(void)arg;
	only(0);
	sim_sleep(500 * MS);
	fx_give_back();
	T_EQ(fx_write(&p_, 0, "x", 1), 1);
}

static void
reads_both(void *arg)
{
	long n;

	(void)arg;
	only(1);
	sim_sleep(1000 * MS);
	while ((n = fx_read(&p_, 1, buf + got, sizeof(buf))) > 0)
		got += n;
}

static void
dies_holding(struct t *t, const char *label, const char *want)
{
	begin(t);
	late_ = fx_msg("late", 0);
	str_msg_disown(late_);
	fx_use_up();
	sim_crash_at(label, 1);
	(void)sim_spawn("sender", sends_up, NULL);
	(void)sim_spawn("writer", writes_behind, NULL);
	(void)sim_spawn("reader", reads_both, NULL);
	T_EQ(go(), 0);
	T_EQ(got, (long)strlen(want));
	T_MEM(buf, want, strlen(want));
	T_TRUE(sim_crash_count(label) != 0);
}

T_CASE(who_dies_saying_that_a_message_waits_for_memory_holds_up_nobody)
{
	dies_holding(t, "headq:holds", "x");
	fx_end();
	dies_holding(t, "headq:held", "x");
}

T_CASE(who_dies_letting_in_what_waited_leaves_it_in)
{
	/* the second writer finds memory; the first one waits to write */
	dies_holding(t, "headq:unheld", "lated");
}

/* The sender is killed in putq() on the head's write queue.  The repair of this
 * queue does not change npri, which counts messages of the read queue. */
T_CASE(who_dies_as_he_queues_what_waits_for_memory_has_queued_it)
{
	dies_holding(t, "queue:linked", "latex");
	T_EQ(str_load(&p_.sd[1]->hq.npri), 0u);
}

/* A module keeps a message whose sender is killed. */

static int
keep_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)devp, (void)flag, (void)sflag, (void)crp;
	qprocson(q);
	return 0;
}

static int
keep_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	qprocsoff(q);
	freemsg(WR(q)->q_ptr);
	return 0;
}

/* The last one is kept until the next one comes. */
static int
keep_put(queue_t *q, mblk_t *mp)
{
	mblk_t *was = q->q_ptr;

	q->q_ptr = mp;
	if (was != NULL)
		putnext(q, was);
	return 0;
}

static int
keep_rput(queue_t *q, mblk_t *mp)
{
	putnext(q, mp);
	return 0;
}

static struct module_info keep_info = {
	.mi_idnum = 0x6b70, .mi_idname = (char *)"keep", .mi_minpsz = 0,
	.mi_maxpsz = INFPSZ, .mi_hiwat = 100, .mi_lowat = 20,
};
static struct qinit keep_r = {
	.qi_putp = keep_rput, .qi_qopen = keep_open, .qi_qclose = keep_close,
	.qi_minfo = &keep_info,
};
static struct qinit keep_w = {.qi_putp = keep_put, .qi_minfo = &keep_info};
static struct streamtab keep_tab = {.st_rdinit = &keep_r,
	.st_wrinit = &keep_w};

static void
writes_and_dies(void *arg)
{
	(void)arg;
	T_EQ(fx_write(&p_, 0, "kept", 4), 4);
	sim_kill(sim_current());
}

T_CASE(what_a_module_keeps_by_q_ptr_outlives_who_gave_it)
{
	begin(t);
	fx_module("keep", &keep_tab, D_MP);
	(void)fx_push(&p_, 0, "keep");
	(void)sim_spawn("doomed", writes_and_dies, NULL);
	sim_sleep(1000 * MS);
	T_EQ(fx_write(&p_, 0, "next", 4), 4);
	T_EQ(fx_read(&p_, 1, buf, 10), 4);
	T_MEM(buf, "kept", 4);
}

/* ------------------- messages that a thread holds when the writers are gone */

static queue_t *below_;

/* As a server: it has taken a message from a queue, and passes it on later. */
static void
serves_late(void *arg)
{
	mblk_t *mp;

	(void)arg;
	only(1);
	T_EQ(host_enter(&p_.hc[1]), 0);
	T_EQ(str_claim(p_.pl), 0);
	mp = fx_msg("held", 0);
	sim_sleep(100 * MS);
	str_put(below_, mp);
	str_unclaim(p_.pl);
	host_leave();
	fx_close(&p_, 1);
}

static void
gets_all(void *arg)
{
	struct str_strbuf d = {sizeof(buf), 0, buf};
	int band = 0, flags = 1 << 1; /* MSG_ANY */

	(void)arg;
	only(1);
	sim_sleep(10 * MS);
	for (;;) {
		T_EQ(fx_getmsg(&p_, 1, NULL, &d, &band, &flags), 0);
		if (d.len <= 0)
			break;
		got += d.len;
		flags = 1 << 1;
	}
}

static void
end_of_file_after(struct t *t, void (*reader)(void *), void *arg)
{
	begin(t);
	below_ = fx_push(&p_, 1, "pass");
	(void)sim_spawn("server", serves_late, NULL);
	(void)sim_spawn("reader", reader, arg);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

T_CASE(a_read_ends_after_what_a_server_holds)
{
	end_of_file_after(t, reads_all, (void *)10);
}

T_CASE(so_does_a_getmsg)
{
	end_of_file_after(t, gets_all, NULL);
}

/* ---------- what the reader does while a thread holds one and does not go on */

static bool met;
static struct sim_task *held_;

/* Inside the stream with a message until `met' or a long time has passed. */
static void
serves_when_met(void *arg)
{
	unsigned i;
	mblk_t *mp;

	(void)arg;
	only(1);
	T_EQ(host_enter(&p_.hc[1]), 0);
	T_EQ(str_claim(p_.pl), 0);
	mp = fx_msg("held", 0);
	for (i = 0; i < 1000 && !met; i++)
		sim_sleep(MS);
	T_TRUE(met);
	str_put(below_, mp);
	str_unclaim(p_.pl);
	host_leave();
	fx_close(&p_, 1);
}

static void
is_interrupted(void *arg)
{
	(void)arg;
	only(1);
	sim_sleep(10 * MS);
	T_EQ(fx_read(&p_, 1, buf, sizeof(buf)), -4 /* EINTR */);
	met = true;
	reads_all(NULL);
}

static void
interrupts(void *arg)
{
	fx_close(&p_, 0);
	fx_close(&p_, 1);
	sim_sleep(100 * MS);
	sim_signal(held_, (bool)(uintptr_t)arg);
}

static void
at_the_end(struct t *t, void (*server)(void *), void (*reader)(void *))
{
	begin(t);
	met = false;
	below_ = fx_push(&p_, 1, "pass");
	(void)sim_spawn("server", server, NULL);
	held_ = sim_spawn("reader", reader, NULL);
}

T_CASE(a_signal_ends_a_read_that_waits_for_a_server)
{
	at_the_end(t, serves_when_met, is_interrupted);
	(void)sim_spawn("signals", interrupts, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

static void
enters_meanwhile(void *arg)
{
	(void)arg;
	only(1);
	sim_sleep(100 * MS);
	T_EQ(host_enter(&p_.hc[1]), 0);
	T_EQ(str_claim(p_.pl), 0);
	met = true;
	str_unclaim(p_.pl);
	host_leave();
}

T_CASE(a_reader_that_waits_for_a_server_delays_no_other_user)
{
	at_the_end(t, serves_when_met, reads_all);
	(void)sim_spawn("other", enters_meanwhile, NULL);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

/* It has taken a message from a queue, and is killed before it passes it on. */
static void
takes_and_dies(void *arg)
{
	only(1);
	T_EQ(host_enter(&p_.hc[1]), 0);
	T_EQ(str_claim(p_.pl), 0);
	T_NOTNULL(getq(arg));
	sim_sleep(100 * MS);
	sim_kill(sim_current());
}

T_CASE(what_a_server_held_that_died_while_a_reader_waited_is_read)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 1, "late");
	T_EQ(str_claim(p_.pl), 0);
	noenable(q);
	T_EQ(putq(q, fx_msg("held", 0)), 1);
	str_unclaim(p_.pl);
	(void)sim_spawn("server", takes_and_dies, q);
	(void)sim_spawn("reader", reads_all, (void *)10);
	T_EQ(go(), 0);
	T_EQ(got, 4);
}

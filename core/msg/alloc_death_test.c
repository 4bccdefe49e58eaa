/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Blocks of messages and of the allocator whose holders are killed: each is
 * freed once, and none that is still in use.
 */
#include <sys/kmem.h>
#include "fixture.h"
#include "mem/mem.h"

/* ------------------------------------------------------------ death in between */

#define MANY 600

static void *block_[4 * MANY];

static void
moves_magazines(void *arg)
{
	unsigned i, k;

	(void)arg;
	for (k = 0; k < 4; k++) {
		for (i = 0; i < MANY; i++)
			block_[i] = str_mem_alloc(64, STR_BLK_KMEM);
		for (i = 0; i < MANY; i++)
			str_mem_free(block_[i]);
	}
}

static int
by_address(const void *a, const void *b)
{
	uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;

	return x < y ? -1 : x > y;
}

/* Its magazines come back, and no block of them twice. */
static void
dies_moving(struct t *t, const char *label)
{
	unsigned i;

	fx_begin(t);
	sim_crash_at(label, 2);
	(void)sim_spawn("doomed", moves_magazines, NULL);
	T_EQ(sim_run(), 0);
	T_GE(sim_crash_count(label), 2);
	sim_sleep(1000000000);
	for (i = 0; i < 4 * MANY; i++)
		T_NOTNULL(block_[i] = str_mem_alloc(64, STR_BLK_KMEM));
	qsort(block_, 4 * MANY, sizeof(*block_), by_address);
	for (i = 1; i < 4 * MANY; i++)
		T_TRUE(block_[i] != block_[i - 1]);
	for (i = 0; i < 4 * MANY; i++)
		str_mem_free(block_[i]);
	fx_keep(); /* what it had in its hands as a test has no owner */
}

T_CASE(who_dies_giving_a_magazine_away_has_it_once)
{
	dies_moving(t, "mem:spill");
}

T_CASE(who_dies_changing_magazines_has_them_once)
{
	dies_moving(t, "mem:swap");
}

/* Takes a block for a message.  Its last use has left 0xff in it. */
static void
takes_what_was_used(void *arg)
{
	size_t size = *(size_t *)arg;
	struct str_blk *b = str_mem_alloc(size, STR_BLK_KMEM);

	memset(b + 1, 0xff, size - sizeof(*b));
	str_mem_free(b);
	freeb(allocb(size - 192, BPRI_LO));
}

static void
dies_taking(struct t *t, size_t size)
{
	fx_begin(t);
	sim_crash_at("mem:message", 1);
	(void)sim_spawn("doomed", takes_what_was_used, &size);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count("mem:message"), 1);
	sim_sleep(1000000000);
	T_EQ(fx_messages(), 0);
}

T_CASE(who_dies_taking_a_small_block_leaves_it_free)
{
	dies_taking(t, 320);
}

T_CASE(who_dies_taking_a_larger_block_leaves_it_free)
{
	dies_taking(t, 2240);
}

/* A stale word in a block without owner does not keep a dead thread's block
 * from being freed. */
static struct sim_task *holder_;
static mblk_t *held_;
static void *kmem_;

static void
holds_it(void *arg)
{
	(void)arg;
	held_ = fx_msg("held", 0);
	sim_sleep(1000000000);
}

static void
dies_taking_what_led_to_it(void *arg)
{
	mblk_t *mp = fx_msg("a neighbour", 0);

	mp->b_next = mp->b_prev = mp->b_cont = held_;
	freeb(mp);
	sim_kill(holder_);
	sim_crash_at("mem:message", 1);
	freeb(fx_msg("alone", 0));
	*(bool *)arg = true;
}

T_CASE(a_block_that_is_taken_has_no_neighbours)
{
	bool taken = false;
	int i;

	/* the seed decides which of the two tasks is reaped first */
	for (i = 0; i < 16; i++) {
		fx_begin_seed(t->seed + (unsigned)i);
		sim_grain(0);
		held_ = NULL;
		holder_ = sim_spawn("holder", holds_it, NULL);
		while (held_ == NULL)
			sim_sleep(1000);
		(void)sim_spawn("taker", dies_taking_what_led_to_it, &taken);
		T_EQ(sim_run(), 0);
		T_FALSE(taken);
		sim_sleep(1000000000);
		T_EQ(fx_messages(), 0);
		fx_end();
	}
}

/* Nor does what another dead one has in its hands. */
static void
dies_with_a_neighbour(void *arg)
{
	mblk_t *mp = fx_msg("a neighbour", 0);

	(void)arg;
	while (held_ == NULL)
		sim_sleep(1000);
	mp->b_cont = held_;
	sim_kill(holder_);
	sim_kill(sim_current());
}

T_CASE(what_two_dead_had_is_both_freed)
{
	int i;

	for (i = 0; i < 32; i++) {
		fx_begin_seed(t->seed + (unsigned)i);
		sim_grain(0);
		held_ = NULL;
		if (i % 2 == 0)
			(void)sim_spawn("other", dies_with_a_neighbour, NULL);
		holder_ = sim_spawn("holder", holds_it, NULL);
		while (held_ == NULL)
			sim_sleep(1000);
		if (i % 2 == 1)
			(void)sim_spawn("other", dies_with_a_neighbour, NULL);
		T_EQ(sim_run(), 0);
		sim_sleep(1000000000);
		T_EQ(fx_messages(), 0);
		fx_end();
	}
}

static struct fx_pipe linked_in_;

static void
dies_linking_it(void *arg)
{
	T_EQ(str_claim(linked_in_.pl), 0);
	sim_crash_at("queue:linked", sim_crash_count("queue:linked") + 1);
	(void)putq(arg, held_);
}

/* What one had made another was putting on a queue: it is on the queue. */
T_CASE(what_two_dead_had_is_not_freed_where_it_is_linked)
{
	queue_t *q;
	unsigned n;
	int i;

	fx_begin(t);
	held_ = NULL;
	fx_pipe(&linked_in_);
	q = fx_push(&linked_in_, 0, "store");
	noenable(q);
	holder_ = sim_spawn("holder", holds_it, NULL);
	while (held_ == NULL)
		sim_sleep(1000);
	n = sim_crash_count("queue:linked");
	(void)sim_spawn("doomed", dies_linking_it, q);
	while (sim_crash_count("queue:linked") == n)
		sim_sleep(1);
	sim_kill(holder_);
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	for (i = 0; i < 8; i++)
		freemsg(fx_msg("something else", 0));
	FX_MSG(getq(q), "held");
	T_EQ(fx_messages(), 0);
}

static void
dies_linking_without_a_claim(void *arg)
{
	held_ = fx_msg("held", 0);
	sim_crash_at("queue:linked", sim_crash_count("queue:linked") + 1);
	(void)putq(arg, held_);
}

/* A driver puts what it has on the queue of another of its streams. */
T_CASE(what_is_linked_in_another_stream_stays_there)
{
	queue_t *q;
	int i;

	fx_begin(t);
	fx_pipe(&linked_in_);
	q = fx_push(&linked_in_, 0, "store");
	noenable(q);
	(void)sim_spawn("doomed", dies_linking_without_a_claim, q);
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	for (i = 0; i < 8; i++)
		freemsg(fx_msg("something else", 0));
	FX_MSG(getq(q), "held");
	T_EQ(fx_messages(), 0);
}

static void
pulls_up(void *arg)
{
	static const char *const text[] = {"in ", "one ", "piece", NULL};
	mblk_t *mp = fx_chain(M_DATA, text);

	T_EQ(pullupmsg(mp, -1), 1);
	T_EQ(putq(arg, mp), 1);
	sim_kill(sim_current());
}

/* ... in the middle of it; a module has the message. */
static const char *dying_at_;

static void
dies_pulling_up(void *arg)
{
	static const char *const text[] = {"in ", "one ", "piece", NULL};
	mblk_t *mp = fx_chain(M_DATA, text);
	queue_t *q = arg;

	*(mblk_t **)q->q_ptr = mp;
	sim_crash_at(dying_at_, 1);
	(void)pullupmsg(mp, -1);
}

/* ... at @label.  Return: the message that the module has afterwards; it is
 * valid. */
static mblk_t *
died_pulling_up(struct t *t, struct fx_pipe *p, const char *label)
{
	mblk_t **mine, *mp;
	queue_t *q;
	void *was;
	int i;

	fx_begin(t);
	fx_pipe(p);
	q = fx_push(p, 0, "store");
	mine = kmem_zalloc(sizeof(*mine), KM_SLEEP);
	was = q->q_ptr;
	q->q_ptr = mine;
	dying_at_ = label;
	(void)sim_spawn("doomed", dies_pulling_up, q);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count(label), 1);
	sim_sleep(1000000000);
	for (i = 0; i < 8; i++)
		freemsg(fx_msg("something else", 0));
	mp = *mine;
	q->q_ptr = was;
	kmem_free(mine, sizeof(*mine));
	T_NOTNULL(mp->b_datap);
	T_EQ(mp->b_datap->db_ref, 1);
	return mp;
}

T_CASE(who_dies_pulling_up_what_a_module_has_leaves_it_its_data)
{
	static struct fx_pipe p;
	mblk_t *mp = died_pulling_up(t, &p, "msg:dropped");

	T_MEM(mp->b_datap->db_base, "in ", 3);
	freemsg(mp);
}

/* The data is another block's: that lives as long as the message. */
T_CASE(a_message_that_was_pulled_up_outlives_who_did_it)
{
	static struct fx_pipe p;
	queue_t *q;
	int i;

	fx_begin(t);
	fx_pipe(&p);
	q = fx_push(&p, 0, "store");
	(void)sim_spawn("doomed", pulls_up, q);
	T_EQ(sim_run(), 0);
	sim_sleep(1000000000);
	for (i = 0; i < 8; i++)
		freemsg(fx_msg("something else", 0));
	FX_MSG(getq(q), "in one piece");
	T_EQ(fx_messages(), 0);
}

static void
dies_with_used_memory(void *arg)
{
	size_t size = *(size_t *)arg;
	struct str_blk *b = str_mem_alloc(size, STR_BLK_KMEM);
	size_t i;

	held_ = fx_msg("held", 0);
	for (i = sizeof(*b); i < size; i += sizeof(held_))
		memcpy((char *)b + i, &held_, sizeof(held_));
	str_mem_free(b);
	kmem_ = kmem_alloc(size - 64, KM_SLEEP);
	T_TRUE((char *)kmem_ == (char *)b + 64);
	sim_kill(sim_current());
}

T_CASE(what_was_in_memory_that_a_module_gets_keeps_no_message)
{
	static const size_t sizes[] = {128, 320, 4352, 65536};
	size_t i, size;

	for (i = 0; i < STR_ARRAY_LEN(sizes); i++) {
		fx_begin(t);
		size = sizes[i];
		(void)sim_spawn("doomed", dies_with_used_memory, &size);
		T_EQ(sim_run(), 0);
		sim_sleep(1000000000);
		T_EQ(fx_messages(), 0);
		kmem_free(kmem_, size - 64);
		fx_end();
	}
}

/* Shared data exists as long as a message refers to it, whichever task dies. */
static mblk_t *one_, *other_;

static void
drops_one(void *arg)
{
	(void)arg;
	str_msg_own(one_);
	freeb(one_);
}

static void
makes_another(void *arg)
{
	(void)arg;
	freeb(dupb(one_));
}

enum whose { ORIGINAL, DUP };

static void
dies_sharing(struct t *t, const char *label, void (*fn)(void *), enum whose is)
{
	unsigned before;
	mblk_t *mp;
	int i;

	fx_begin(t);
	mp = fx_msg("shared", 0);
	one_ = is == ORIGINAL ? mp : dupb(mp);
	other_ = is == ORIGINAL ? dupb(mp) : mp;
	before = sim_crash_count(label);
	sim_crash_at(label, before + 1);
	(void)sim_spawn("doomed", fn, NULL);
	T_EQ(sim_run(), 0);
	T_EQ(sim_crash_count(label), before + 1);
	sim_sleep(1000000000);
	/* if the data was freed, a new message overwrites it */
	for (i = 0; i < 8; i++)
		freemsg(fx_msg("something else", 0));
	T_MEM(other_->b_rptr, "shared", 6);
	freeb(other_);
	if (fn == makes_another) {
		T_MEM(one_->b_rptr, "shared", 6);
		freeb(one_);
	}
	T_EQ(fx_messages(), 0);
}

T_CASE(who_dies_dropping_a_dup_before_it_is_counted_leaves_the_data)
{
	dies_sharing(t, "msg:dropping", drops_one, DUP);
}

T_CASE(who_dies_dropping_a_dup_that_was_counted_leaves_the_data)
{
	dies_sharing(t, "msg:dropped", drops_one, DUP);
}

T_CASE(who_dies_dropping_the_original_before_it_is_counted_leaves_the_data)
{
	dies_sharing(t, "msg:dropping", drops_one, ORIGINAL);
}

T_CASE(who_dies_dropping_the_original_that_was_counted_leaves_the_data)
{
	dies_sharing(t, "msg:dropped", drops_one, ORIGINAL);
}

T_CASE(who_dies_duplicating_what_was_counted_leaves_no_more)
{
	dies_sharing(t, "msg:counted", makes_another, ORIGINAL);
	fx_end();
	dies_sharing(t, "msg:counted", makes_another, DUP);
}

T_CASE(who_dies_with_a_dup_that_was_made_leaves_no_more)
{
	dies_sharing(t, "msg:shown", makes_another, ORIGINAL);
	fx_end();
	dies_sharing(t, "msg:shown", makes_another, DUP);
}

/*
 * The old data of mp lies in the block of mp, which refers to other data since
 * pullupmsg().  A task releases the old data and is killed.  Before it is
 * reaped, mp is freed, and its block is used for a new message, which must stay
 * whole.
 */
T_CASE(who_dies_when_shared_data_is_given_back_is_done_with_it)
{
	static const char *const text[] = {"in ", "two", NULL};
	mblk_t *mp, *again;

	fx_begin(t);
	mp = fx_chain(M_DATA, text);
	one_ = dupb(mp);
	T_EQ(pullupmsg(mp, -1), 1);
	sim_crash_at("msg:released", sim_crash_count("msg:released") + 1);
	(void)sim_spawn("doomed", drops_one, NULL);
	while (sim_crash_count("msg:released") == 0)
		sim_sleep(1);
	freemsg(mp);
	again = fx_msg("living", 0);
	T_TRUE(again == mp);
	sim_sleep(1000000000);
	/* this thread takes the lock of the old data, whose owner was killed */
	freeb(dupb(again));
	T_EQ(again->b_datap->db_ref, 1);
	FX_MSG(again, "living");
	T_EQ(fx_messages(), 0);
}

/* A task dies as the data blocks are exchanged: what is free has no owner. */
static void
dies_exchanging(struct t *t, const char *label)
{
	static struct fx_pipe p;
	mblk_t *mp = died_pulling_up(t, &p, label);

	T_TRUE(mp->b_rptr == mp->b_wptr ||
		(mp->b_rptr >= mp->b_datap->db_base &&
			mp->b_wptr <= mp->b_datap->db_lim));
	freemsg(mp);
	/* a piece may be left, without owner */
	fx_close(&p, 0);
	fx_close(&p, 1);
	(void)str_region_sweep();
	T_LE(fx_messages(), 1);
	fx_keep();
}

T_CASE(who_dies_exchanging_data_leaves_what_a_module_has_its_own)
{
	dies_exchanging(t, "pullup:empty");
}

T_CASE(who_dies_exchanging_data_that_nobody_has_leaves_the_old)
{
	dies_exchanging(t, "pullup:apart");
}

T_CASE(who_dies_exchanging_data_that_was_given_leaves_the_new)
{
	dies_exchanging(t, "pullup:given");
}

T_CASE(who_dies_after_exchanging_data_leaves_the_new)
{
	dies_exchanging(t, "pullup:whole");
}

static void
has_it_and_dies(void *arg)
{
	str_msg_own(*(mblk_t **)arg);
	sim_kill(sim_current());
}

static void
is_stopped_sharing(void *arg)
{
	struct str_lock *l = str_mdb_wants(str_mdb_of_m(arg));

	T_FALSE(str_lock(l));
	sim_sleep(20000000000);
	str_unlock(l);
}

/* The collector waits for no thread that is stopped in the middle of a count. */
T_CASE(who_is_stopped_counting_holds_up_no_reaper)
{
	mblk_t *mp;

	fx_begin(t);
	mp = fx_msg("shared", 0);
	one_ = dupb(mp);
	(void)sim_spawn("stopped", is_stopped_sharing, one_);
	sim_sleep(1000);
	(void)sim_spawn("doomed", has_it_and_dies, &one_);
	sim_sleep(3000000000);
	other_ = fx_msg("others'", 0);
	(void)sim_spawn("another", has_it_and_dies, &other_);
	sim_sleep(3000000000);
	/* the dup and the data are there, the other one is not */
	T_EQ(fx_messages(), 2);
	sim_sleep(30000000000);
	T_EQ(fx_messages(), 1);
	FX_MSG(mp, "shared");
	T_EQ(fx_messages(), 0);
}

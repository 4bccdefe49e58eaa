/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A thread is killed that had a message, and the memory of a module has a word
 * that leads there, or only looks as if it did.
 */
#include "../../host/sim/fixture.h"
#include <sys/kmem.h>

#define MS 1000000ull
#define WORDS 8

static uint64_t *memory_;
static uint64_t (*word_)(mblk_t *mp);

static uint64_t
message(mblk_t *mp)
{
	return (uintptr_t)mp;
}

static uint64_t
data(mblk_t *mp)
{
	return (uintptr_t)(mp->b_rptr + 8);
}

/* Memory of a module that is a message's block by now, and a pointer to it. */
static uint64_t
former_memory(mblk_t *mp)
{
	return (uintptr_t)str_mdb_of_m(mp) + 64;
}

static void
takes_and_dies(void *arg)
{
	struct host_call hc = {.fd = -1};
	mblk_t *mp;

	T_EQ(host_enter(&hc), 0);
	mp = allocb((size_t)(uintptr_t)arg, BPRI_MED);
	T_NOTNULL(mp);
	mp->b_wptr += 16;
	memory_[3] = word_(mp);
	sim_kill(sim_current());
}

/* Return: messages that are there when the thread has been reaped. */
static uint64_t
left(size_t size, uint64_t (*word)(mblk_t *mp))
{
	struct host_call hc = {.fd = -1};
	struct sim_stats st;
	uint64_t n;

	fx_begin_seed(1);
	word_ = word;
	T_EQ(host_daemon(), 0);
	T_EQ(host_enter(&hc), 0);
	memory_ = kmem_zalloc(WORDS * sizeof(*memory_), KM_SLEEP);
	host_leave();
	T_NOTNULL(memory_);
	(void)sim_spawn("doomed", takes_and_dies, (void *)(uintptr_t)size);
	sim_sleep(50 * MS);
	sim_stats(&st);
	T_EQ(st.kills, 1u);
	T_GT(st.reaps, 0u);
	n = fx_messages();
	T_EQ(host_enter(&hc), 0);
	if (n != 0 && word == message)
		freemsg((mblk_t *)(uintptr_t)memory_[3]);
	kmem_free(memory_, WORDS * sizeof(*memory_));
	host_leave();
	if (word == data)
		fx_keep();
	fx_end();
	return n;
}

T_CASE(a_message_that_a_module_has_outlives_its_thread)
{
	(void)t;
	T_EQ(left(16, message), 1u);
	T_EQ(left(901, message), 1u);
}

T_CASE(a_message_whose_data_a_module_points_to_outlives_its_thread)
{
	(void)t;
	T_EQ(left(16, data), 1u);
	T_EQ(left(901, data), 1u);
}

/* A name of a loopback transport points to the last endpoint that had it. */
T_CASE(a_message_in_memory_that_was_a_modules_goes_with_its_thread)
{
	(void)t;
	T_EQ(left(16, former_memory), 0u);
	T_EQ(left(901, former_memory), 0u);
}

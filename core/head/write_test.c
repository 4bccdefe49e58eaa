/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Writes of every size and number of parts are alike: in what the reader can
 * tell from them, and in what both sides go by when they wait.
 */
#include "fixture.h"
#include "fast.h"
#include "fastmsg.h"
#include "headq.h"
#include "source.h"

#define MOST 200000u

static struct fx_pipe p_;
static unsigned char out[MOST], in[MOST];

static void
begin(struct t *t)
{
	size_t i;

	fx_begin(t);
	fx_pipe(&p_);
	for (i = 0; i < MOST; i++)
		out[i] = (unsigned char)(i * 7 + i / 251);
}

/* Below and above a record, a block and a message of the longest kind. */
static const size_t sizes[] = {1, 255, 256, 4096, 32768, 32769, 65536, 65537,
	131072, 200000};

/*
 * The reader that waits looks whether the writer runs on its own CPU: a writer
 * that does not say where it is makes the reader sleep for each message.
 */
T_CASE(a_write_of_any_size_says_on_which_cpu_it_was)
{
	struct str_headq *hq;
	unsigned i;

	begin(t);
	hq = &p_.sd[1]->hq;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		str_store(&hq->pcpu, ~0u);
		hq->credit = 1; /* as after a pause: not within a burst */
		T_EQ(fx_write(&p_, 0, out, sizes[i]), (long)sizes[i]);
		T_EQ(str_load(&hq->pcpu), host_cpu());
		T_EQ(fx_read(&p_, 1, in, MOST), (long)sizes[i]);
		T_EQ(memcmp(in, out, sizes[i]), 0);
	}
}

/* @n parts of @size bytes, with an empty one before each third. */
static unsigned
parts(struct str_iov *iov, unsigned n, size_t size)
{
	unsigned k = 0, i;

	for (i = 0; i < n; i++) {
		if (i % 3 == 0)
			iov[k++] = (struct str_iov){NULL, 0};
		iov[k++] = (struct str_iov){out + i * size, size};
	}
	return k;
}

/* One message for each 64 KiB, wherever the parts end. */
T_CASE(parts_make_no_messages_of_their_own)
{
	static struct str_iov iov[1400];
	static const struct {
		unsigned n;
		size_t size;
		unsigned messages;
	} row[] = {{2, 1, 1}, {9, 1024, 1}, {1000, 7, 1}, {32, 1024, 1},
		{33, 1024, 1}, {64, 1024, 1}, {1000, 100, 2}, {3, 60000, 3},
		{1000, 200, 4}};
	unsigned i, k, got;
	long n, ret;

	begin(t);
	T_EQ(fx_ioctl(&p_, 1, 0x5306 /* I_SRDOPT */, 2 /* RMSGN */), 0);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		n = (long)(row[i].n * row[i].size);
		k = parts(iov, row[i].n, row[i].size);
		T_EQ(str_head_writev(p_.sd[0], &p_.hc[0], iov, (int)k), n);
		for (got = 0, ret = 0; ret < n; got++)
			ret += fx_read(&p_, 1, in + ret, MOST);
		T_EQ(got, row[i].messages);
		T_EQ(memcmp(in, out, (size_t)n), 0);
	}
}

/* No block is needed for the parts: a reader finds them where it looks. */
T_CASE(parts_are_copied_where_the_reader_finds_them)
{
	static struct str_iov iov[100];
	unsigned k;
	uint64_t was;

	begin(t);
	T_EQ(fx_write(&p_, 0, out, 30000), 30000);
	T_EQ(fx_read(&p_, 1, in, MOST), 30000);
	was = fx_in_use(STR_BLK_BUF) + fx_in_use(STR_BLK_SEG);
	k = parts(iov, 50, 20);
	T_EQ(str_head_writev(p_.sd[0], &p_.hc[0], iov, (int)k), 1000);
	T_EQ(fx_in_use(STR_BLK_BUF) + fx_in_use(STR_BLK_SEG), was);
	T_EQ(fx_read(&p_, 1, in, MOST), 1000);
	T_EQ(memcmp(in, out, 1000), 0);
}

static unsigned went_on;

/* ------------------------- a writer of higher priority than the reader's */

#define FILLS 40u /* how often it fills the queue */

static uint32_t asked; /* bits of the want word, at the first read of all */

/* Read all that the writer writes; runs only while the writer sleeps. */
static void
reads_below(void *arg)
{
	struct str_headq *hq = &p_.sd[1]->hq;
	uint64_t left = *(uint64_t *)arg;
	long n;

	asked = str_load(&hq->wwant);
	str_store(&hq->ccpu, host_cpu());
	for (; left != 0; left -= (uint64_t)n) {
		n = fx_read(&p_, 1, in, 4096);
		T_GT(n, 0);
		T_LE((uint64_t)n, left);
	}
}

/*
 * Write FILLS times what the queue has room for, by putmsg() or by write().
 * @refused: before each sleep a write that does not wait is refused.
 * Return: the number of wakes.
 */
static uint64_t
wakes_of(struct t *t, bool msg, bool refused)
{
	struct sim_stats before, after;
	struct str_headq *hq;
	static uint64_t left;
	uint64_t i, n;

	begin(t);
	hq = &p_.sd[1]->hq;
	n = (uint64_t)FILLS * (hq->hiwat - hq->lowat) / 4096;
	left = n * 4096;
	(void)sim_spawn("below", reads_below, &left);
	sim_above(sim_current());
	sim_stats(&before);
	for (i = 0; i < n; i++) {
		if (refused && str_headq_is_full(hq)) {
			p_.hc[0].fflags |= STR_O_NONBLOCK;
			T_EQ(fx_putmsg(&p_, 0, NULL, -1, out, 4096, -1, 0), -11);
			p_.hc[0].fflags &= ~STR_O_NONBLOCK;
		}
		if (msg)
			T_EQ(fx_putmsg(&p_, 0, NULL, -1, out, 4096, -1, 0), 0);
		else
			T_EQ(fx_write(&p_, 0, out, 4096), 4096);
	}
	sim_above(NULL);
	T_EQ(sim_run(), 0);
	sim_stats(&after);
	return after.wakes - before.wakes;
}

T_CASE(a_writer_is_woken_once_for_each_queue_that_it_fills)
{
	T_LE(wakes_of(t, false, false), FILLS + 1);
}

T_CASE(so_is_a_writer_of_messages)
{
	T_LE(wakes_of(t, true, false), FILLS + 1);
}

/*
 * The reader wakes the writer for the module that it might be, and runs again
 * when the writer has filled the queue and sleeps once more.
 */
T_CASE(a_reader_wakes_no_writer_that_has_slept_again_since)
{
	T_LE(wakes_of(t, true, true), FILLS + 1);
}

/* A back-enable would be one wake more, and its request is a heavy fence. */
T_CASE(a_putmsg_that_waits_requests_no_back_enable)
{
	(void)wakes_of(t, true, false);
	T_NE(asked & STR_WANT_FUTEX, 0u);
	T_EQ(asked & STR_WANT_BACK, 0u);
}

T_CASE(a_writer_that_yields_in_vain_sleeps_at_once_the_next_times)
{
	(void)wakes_of(t, false, false);
	/* of FILLS waits number 1, 3, 7, 15 and 31 yield */
	T_EQ(str_load(&p_.sd[1]->hq.skip[1]), 31u);
}

/* When it has the same priority again, a yield brings room. */
static void
reads_beside(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < 100000 && went_on == 0; i++) {
		while (str_head_pending(p_.sd[1]))
			T_GT(fx_read(&p_, 1, in, MOST), 0);
		host_yield();
	}
}

T_CASE(a_yield_that_brings_room_ends_that)
{
	struct str_headq *hq;
	unsigned i;

	(void)wakes_of(t, false, false);
	hq = &p_.sd[1]->hq;
	str_store(&hq->rest[1], (uint8_t)0);
	str_store(&hq->ccpu, host_cpu());
	went_on = 0;
	(void)sim_spawn("beside", reads_beside, NULL);
	for (i = 0; i < 100000 && str_load(&hq->skip[1]) != 0; i++) {
		str_store(&hq->ccpu, host_cpu());
		T_EQ(fx_write(&p_, 0, out, 4096), 4096);
	}
	T_EQ(str_load(&hq->skip[1]), 0u);
	went_on = 1;
	T_EQ(sim_run(), 0);
}

/* ------------------- room at another stream's head: str_sleep_room() */

static void
makes_room(void *arg)
{
	(void)arg;
	asked = str_load(&p_.sd[1]->hq.wwant);
	while (str_head_pending(p_.sd[1]))
		T_GT(fx_read(&p_, 1, in, MOST), 0);
}

static void
wait_for_room(void)
{
	struct str_head *sd = p_.sd[0];
	struct str_headq *hq = &p_.sd[1]->hq;

	p_.hc[0].fflags |= STR_O_NONBLOCK;
	while (fx_write(&p_, 0, out, 4096) > 0)
		;
	p_.hc[0].fflags &= ~STR_O_NONBLOCK;
	T_FALSE(str_direct_soon(sd, hq));
	(void)sim_spawn("makes room", makes_room, NULL);
	T_EQ(host_enter(&p_.hc[0]), 0);
	T_EQ(str_sleep_room(sd, &p_.hc[0]), 0);
	host_leave();
	T_TRUE(str_direct_has_room(hq));
	T_EQ(sim_run(), 0);
}

/* As each sleeper at the queue: models/fence.pml. */
T_CASE(the_second_sleep_for_room_needs_no_heavy_fence)
{
	begin(t);
	sim_above(sim_current());
	wait_for_room();
	T_EQ(asked & (STR_WANT_ROOM | STR_WANT_QUIET),
		STR_WANT_ROOM | STR_WANT_QUIET);
	T_EQ(str_load(&p_.sd[1]->hq.wwant) & STR_WANT_QUIET, STR_WANT_QUIET);
	wait_for_room();
	T_EQ(asked & (STR_WANT_ROOM | STR_WANT_QUIET),
		STR_WANT_ROOM | STR_WANT_QUIET);
}

T_CASE(a_sender_that_yields_in_vain_sleeps_at_once_the_next_times)
{
	struct str_headq *hq;
	uint64_t ns[2];
	unsigned i;

	begin(t);
	sim_above(sim_current());
	hq = &p_.sd[1]->hq;
	while (!str_headq_is_full(hq))
		T_EQ(fx_write(&p_, 0, out, 4096), 4096);
	for (i = 0; i < 2; i++) {
		str_store(&hq->ccpu, host_cpu());
		ns[i] = host_now();
		T_FALSE(str_direct_soon(p_.sd[0], hq));
		ns[i] = host_now() - ns[i];
		host_tls.full_at = NULL;
	}
	T_GT(ns[0], 2000u); /* two yields */
	T_LT(ns[1], 1000u);
}

/* A source that was read from in part goes on where it stood. */
T_CASE(a_source_skips_what_was_taken)
{
	struct str_iov iov[] = {{out, 3}, {NULL, 0}, {out + 3, 5}, {out + 8, 1}};
	struct str_src src = {iov, 0};

	begin(t);
	str_src_skip(&src, 2);
	T_EQ(str_src_gather(&src, in, 7), 0);
	T_EQ(memcmp(in, out + 2, 7), 0);
	str_src_skip(&src, 4);
	T_EQ(str_src_gather(&src, in, 3), 0);
	T_EQ(memcmp(in, out + 6, 3), 0);
	str_src_skip(&src, 2);
	T_TRUE(src.iov == iov + 3);
	T_EQ(src.off, 0u);
}

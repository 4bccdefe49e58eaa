/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What waits at a Stream head: a module changes what is there, there is no memory
 * for more, or little may wait.
 */
#include "fixture.h"
#include <str/builtin.h>

#define I_FLUSH 0x5305u

static struct fx_pipe p_;
static char buf[4096];

static void
begin(struct t *t)
{
	fx_begin(t);
	fx_pipe(&p_);
}

/* @mp arrives at the head of @end. */
static void
up(int end, mblk_t *mp)
{
	fx_up(&p_, end, mp);
}

static unsigned changed_;

static mblk_t *
change(queue_t *q, mblk_t *mp)
{
	(void)q;
	changed_++;
	*mp->b_rptr += 'A' - 'a';
	return mp;
}

static void
read_all(const char *text)
{
	char got[64] = "";
	size_t n = 0;
	long r;

	p_.hc[0].fflags |= STR_O_NONBLOCK;
	while ((r = fx_read(&p_, 0, got + n, 1)) > 0)
		n += (size_t)r;
	T_EQ(r, -11);
	T_STR(got, text);
}

/* In order, the first and the last */
T_CASE(what_waits_is_changed_in_order)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	changed_ = 0;
	T_EQ(str_head_again(q, change), 0);
	T_EQ(changed_, 2u);
	read_all("AbcDef");
}

/* All or nothing: no memory to take them, nothing is changed */
T_CASE(without_memory_what_waits_stays_as_it_is)
{
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	fx_use_up();
	changed_ = 0;
	T_EQ(str_head_again(q, change), ENOSR);
	fx_give_back();
	T_EQ(changed_, 0u);
	T_EQ(fx_write(&p_, 1, "ghi", 3), 3);
	read_all("abcdefghi");
}

/* The same when there is memory for the first alone */
T_CASE(memory_for_some_of_what_waits_keeps_the_order)
{
	queue_t *q;
	mblk_t *one;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	T_EQ(fx_write(&p_, 1, "def", 3), 3);
	one = allocb(3, BPRI_MED);
	fx_use_up();
	freemsg(one);
	T_EQ(str_head_again(q, change), ENOSR);
	fx_give_back();
	T_EQ(fx_write(&p_, 1, "ghi", 3), 3);
	read_all("abcdefghi");
}

/* What found no memory to come in is behind the rest, and is changed, too */
T_CASE(what_waits_for_memory_is_changed_behind_the_others)
{
	struct str_headq *hq;
	mblk_t *mp;
	queue_t *q;

	begin(t);
	q = fx_push(&p_, 0, "pass");
	hq = &p_.sd[0]->hq;
	T_EQ(fx_write(&p_, 1, "abc", 3), 3);
	mp = fx_msg("def", 0);
	/* as str_headq_deliver() does */
	(void)putq(&p_.sd[0]->qp->wq, mp);
	str_store(&hq->overflow, 1u);
	str_store(&hq->full, STR_FULL_HELD);
	T_EQ(str_head_again(q, change), 0);
	read_all("AbcDef");
}

/* A message of @n bytes is at a head for which there is no memory. */
static void
up_without_memory(int end, int n)
{
	mblk_t *mp = allocb((size_t)n, BPRI_HI);

	T_NOTNULL(mp);
	memset(mp->b_wptr, 'L', (size_t)n);
	mp->b_wptr += n;
	fx_use_up();
	up(end, mp);
	fx_give_back();
	T_EQ(str_load(&p_.sd[end]->hq.overflow), 1u);
}

static void
read_long_then(const char *what)
{
	int n = (int)strlen(what), got = 0;

	while (got < 5000) {
		T_EQ(fx_read(&p_, 0, buf, 1000), 1000);
		T_EQ(buf[0], 'L');
		got += 1000;
	}
	T_EQ(fx_read(&p_, 0, buf, 100), n);
	T_MEM(buf, what, (size_t)n);
}

static int read_; /* bytes */

static void
reads_long(void *arg)
{
	(void)arg;
	while (read_ < 5000) {
		T_EQ(fx_read(&p_, 0, buf, 1000), 1000);
		read_ += 1000;
	}
}

/* The producer's end is biased to this thread, which is done with it. */
static void
bias(void *arg)
{
	struct str_hlock *l = &p_.sd[0]->hq.plock;
	struct host_call hc = {.fd = -1};
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	for (i = 0; i < 100 && str_load(&l->bias) != host_self_tag(); i++) {
		(void)str_hlock(l, STR_HOLD_P);
		str_hunlock(l, STR_HOLD_P);
	}
	T_EQ(str_load(&l->bias), host_self_tag());
	if (arg != NULL) {
		(void)str_hlock(l, STR_HOLD_P);
		sim_kill(sim_current());
	}
	host_leave();
	sim_sleep(1000000000);
}

/* The reader lets it in, whosever the producer's end was */
T_CASE(what_waits_for_memory_is_read_whoever_was_the_last_to_send)
{
	unsigned dies;

	for (dies = 0; dies < 2; dies++) {
		begin(t);
		read_ = 0;
		up_without_memory(0, 5000);
		(void)sim_spawn("sender", bias, dies ? "" : NULL);
		sim_sleep(100000000);
		(void)sim_spawn("reader", reads_long, NULL);
		sim_sleep(100000000);
		T_EQ(read_, 5000);
		fx_close(&p_, 0);
		fx_close(&p_, 1);
		T_EQ(sim_run(), 0);
		(void)str_region_sweep();
		fx_end();
	}
}

/* docs/architecture.md: what finds no memory waits in order */
T_CASE(a_write_does_not_overtake_what_waits_for_memory)
{
	begin(t);
	up_without_memory(0, 5000);
	T_EQ(fx_write(&p_, 1, "short", 5), 5);
	read_long_then("short");
}

static uint64_t
segment_left(const struct str_headq *hq)
{
	return hq->tail->base + hq->tail->size - str_load(&hq->pos);
}

/* The same by the fast path, where there is room for it and not for the other */
T_CASE(a_write_does_not_overtake_by_the_fast_path)
{
	const struct str_headq *hq;
	int n = 1;

	begin(t);
	hq = &p_.sd[0]->hq;
	T_EQ(fx_write(&p_, 1, "0", 1), 1);
	while (segment_left(hq) >= 24)
		n += (int)fx_write(&p_, 1, "0", 1);
	n += (int)fx_write(&p_, 1, "00000", segment_left(hq) == 20 ? 5 : 1);
	T_EQ(segment_left(hq), 8u);
	up_without_memory(0, 5000);
	T_EQ(fx_write(&p_, 1, "s", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, (size_t)n), n);
	read_long_then("s");
}

static uint32_t
events(int end)
{
	struct host_call hc = p_.hc[end];
	struct str_head *sd = p_.sd[end];
	uint32_t ev;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(&sd->file),
		str_file_gen(&sd->file)));
	ev = str_head_events(sd);
	host_leave();
	return ev;
}

static void
add_segment(struct str_blk *b, void *arg)
{
	if (b->state == STR_BLK_SEG)
		*(size_t *)arg += str_mem_size(b);
}

/* docs/memory.md: a thousand receivers that are slow need no more than waits */
T_CASE(a_queue_of_low_limits_has_no_long_segments)
{
	size_t most = 0, now;
	unsigned i, n;

	begin(t);
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	str_headq_limits(&p_.sd[0]->hq, 16384, 4096);
	for (i = 0; i < 30; i++) {
		for (n = 0; fx_putmsg(&p_, 1, NULL, -1, buf, 100, -1, 0) == 0;)
			n++;
		T_GE(n, 100u);
		now = 0;
		str_mem_walk(add_segment, &now);
		most = now > most ? now : most;
		while (n-- > 0)
			T_EQ(fx_read(&p_, 0, buf, 100), 100);
	}
	T_LE(most, 3u * 16640);
}

/* ... while there is none: as a full queue */
T_CASE(what_waits_for_memory_holds_writers_back)
{
	mblk_t *mp;

	begin(t);
	p_.hc[1].fflags |= STR_O_NONBLOCK;
	mp = fx_msg("def", 0);
	fx_use_up();
	up(0, mp);
	T_EQ(fx_write(&p_, 1, "s", 1), -11);
	T_EQ(events(1) & STR_POLLOUT, 0u);
	/* ... which there is something in */
	T_NE(events(0) & STR_POLLIN, 0u);
	fx_give_back();
	T_EQ(fx_write(&p_, 1, "s", 1), 1);
	T_NE(events(1) & STR_POLLOUT, 0u);
	read_all("defs");
}

/* ... and is dropped by a flush like the rest */
T_CASE(what_waits_for_memory_is_flushed)
{
	begin(t);
	up_without_memory(0, 5000);
	T_EQ(fx_ioctl(&p_, 0, I_FLUSH, 1), 0);
	p_.hc[0].fflags |= STR_O_NONBLOCK;
	T_EQ(fx_read(&p_, 0, buf, 10), -11);
	T_EQ(events(0) & STR_POLLIN, 0u);
	T_EQ(fx_write(&p_, 1, "x", 1), 1);
	T_EQ(fx_read(&p_, 0, buf, 10), 1);
}

/* ... and is not behind the end of the file */
T_CASE(what_waits_for_memory_comes_before_the_end)
{
	mblk_t *mp;

	begin(t);
	mp = fx_msg("def", 0);
	fx_use_up();
	up(0, mp);
	fx_close(&p_, 1);
	T_EQ(fx_read(&p_, 0, buf, 10), -ENOSR);
	fx_give_back();
	T_EQ(fx_read(&p_, 0, buf, 10), 3);
	T_EQ(fx_read(&p_, 0, buf, 10), 0);
}

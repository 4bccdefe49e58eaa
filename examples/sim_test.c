/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The examples on the simulated host: their sources, unmodified, linked
 * into this program; loaded by name, as elsewhere.
 */
#include "fixture.h"
#include <sys/stropts.h>
#include <sys/kmem.h>

#include "module-pass/tally.h"
#include "port/frame.h"
#include "port/hub.h"

extern struct streamtab tallyinfo, paceinfo, faninfo, frameinfo, hubinfo;
extern int tallydevflag, hubdevflag;

static const struct sim_symbol tally_symbols[] = {
	{"tallyinfo", &tallyinfo}, {"tallydevflag", &tallydevflag}, {NULL, NULL}
};
static const struct sim_symbol pace_symbols[] = {
	{"paceinfo", &paceinfo}, {NULL, NULL}
};
static const struct sim_symbol fan_symbols[] = {
	{"faninfo", &faninfo}, {NULL, NULL}
};
static const struct sim_symbol frame_symbols[] = {
	{"frameinfo", &frameinfo}, {NULL, NULL}
};
static const struct sim_symbol hub_symbols[] = {
	{"hubinfo", &hubinfo}, {"hubdevflag", &hubdevflag}, {NULL, NULL}
};
static const struct sim_module modules[] = {
	{"tally", tally_symbols}, {"pace", pace_symbols}, {"fan", fan_symbols},
	{"frame", frame_symbols}, {"hub", hub_symbols},
	{NULL, NULL}
};

static struct fx_pipe pipe_;

static void
begin(struct t *t)
{
	fx_begin(t);
	sim_modules(modules);
	fx_pipe(&pipe_);
}

T_CASE(tally_counts_what_passes)
{
	struct tally got = {0};
	struct strioctl ic = {TALLY_GET, 5, 0, (char *)&got};
	char buf[16];

	begin(t);
	(void)fx_push(&pipe_, 0, "tally");
	T_EQ(fx_write(&pipe_, 0, "hello", 5), 5);
	T_EQ(fx_write(&pipe_, 0, "world!", 6), 6);
	T_EQ(fx_write(&pipe_, 1, "hi", 2), 2);
	T_EQ(fx_read(&pipe_, 0, buf, sizeof(buf)), 2);
	T_EQ(fx_ioctl(&pipe_, 0, I_STR, (unsigned long)(uintptr_t)&ic), 0);
	T_EQ(got.msgs[0], 2);
	T_EQ(got.bytes[0], 11);
	T_EQ(got.msgs[1], 1);
	T_EQ(got.bytes[1], 2);
	T_EQ(fx_pop(&pipe_, 0), 0);
}

T_CASE(tally_passes_other_ioctls_on)
{
	struct strioctl ic = {TALLY_GET + 1, 5, 0, NULL};

	begin(t);
	(void)fx_push(&pipe_, 0, "tally");
	/* the other end's head does not know it */
	T_EQ(fx_ioctl(&pipe_, 0, I_STR, (unsigned long)(uintptr_t)&ic),
		-EINVAL);
}

/* Bytes read without waiting. */
static long
ready(void)
{
	char buf[4096];
	long n;

	pipe_.hc[1].fflags |= 04000; /* O_NONBLOCK */
	n = fx_read(&pipe_, 1, buf, sizeof(buf));
	return n < 0 ? 0 : n;
}

T_CASE(pace_lets_eight_through_in_a_tick)
{
	begin(t);
	(void)fx_push(&pipe_, 0, "pace");
	for (int i = 0; i < 20; i++)
		T_EQ(fx_putmsg(&pipe_, 0, NULL, -1, "x", 1, -1, 0), 0);
	(void)fx_run(&pipe_);
	T_EQ(ready(), 8);
	T_EQ(ready(), 0);
	sim_sleep(10000000); /* a tick */
	(void)str_timer_run(host_now());
	(void)fx_run(&pipe_);
	T_EQ(ready(), 8);
	sim_sleep(10000000);
	(void)str_timer_run(host_now());
	(void)fx_run(&pipe_);
	T_EQ(ready(), 4);
}

T_CASE(pace_is_full_at_its_mark)
{
	int n = 0;

	begin(t);
	(void)fx_push(&pipe_, 0, "pace");
	pipe_.hc[0].fflags |= 04000;
	while (fx_putmsg(&pipe_, 0, NULL, -1, "0123456789abcdef", 16, -1,
		       0) == 0)
		T_LT(++n, 1000);
	T_GE(n, 2048 / 16);
}

/* What is pending is called back by close. */
T_CASE(pace_closes_with_its_timer_pending)
{
	begin(t);
	(void)fx_push(&pipe_, 0, "pace");
	for (int i = 0; i < 20; i++)
		T_EQ(fx_putmsg(&pipe_, 0, NULL, -1, "x", 1, -1, 0), 0);
	(void)fx_run(&pipe_);
	T_EQ(fx_pop(&pipe_, 0), 0);
	T_EQ(str_timer_run(host_now() + 100000000u), UINT64_MAX);
}

/* A stream of a driver. */
struct dev {
	struct str_file *f;
	struct host_call hc;
};

static void
open_dev(struct dev *u, const char *name)
{
	struct host_carrier c;

	memset(u, 0, sizeof(*u));
	T_EQ(host_carrier_open(0, &u->hc.fd, &c), 0);
	u->hc.fflags = 2; /* O_RDWR */
	T_EQ(host_enter(&u->hc), 0);
	T_EQ(str_dev_open(&u->hc, name, 0, true, 2, &c, &u->f), 0);
	host_leave();
}

static void
close_dev(struct dev *u)
{
	uint32_t gen = str_file_gen(u->f);

	T_EQ(host_enter(&u->hc), 0);
	sim_close(u->hc.fd);
	u->hc.fd = -1;
	str_file_released(u->f, gen, &u->hc);
	host_leave();
}

static long
write_dev(struct dev *u, const char *text)
{
	long n;

	T_EQ(host_enter(&u->hc), 0);
	n = str_head_write(u->f->head, &u->hc, text, strlen(text));
	host_leave();
	return n;
}

static long
read_dev(struct dev *u, char *buf, size_t len)
{
	long n;

	T_EQ(host_enter(&u->hc), 0);
	n = str_head_read(u->f->head, &u->hc, buf, len);
	host_leave();
	return n;
}

T_CASE(fan_connects_many_with_one)
{
	struct dev a, b, low;
	char buf[16];
	int id = 0;

	fx_begin(t);
	sim_modules(modules);
	open_dev(&low, "echo");
	close_dev(&low);
	fx_keep(); /* what a driver's streams share is made with the first */
	open_dev(&a, "fan");
	open_dev(&b, "fan");
	open_dev(&low, "echo");
	T_EQ(host_enter(&a.hc), 0);
	str_head_ref(low.f->head);
	T_EQ(str_plumb_link(a.f->head, low.f->head, &a.hc, false, &id), 0);
	host_leave();
	T_EQ(write_dev(&a, "one"), 3);
	T_EQ(read_dev(&a, buf, sizeof(buf)), 3);
	T_EQ(read_dev(&b, buf, sizeof(buf)), 3);
	T_EQ(write_dev(&b, "two"), 3);
	T_EQ(read_dev(&a, buf, sizeof(buf)), 3);
	T_MEM(buf, "two", 3);
	T_EQ(read_dev(&b, buf, sizeof(buf)), 3);
	T_EQ(host_enter(&a.hc), 0);
	T_EQ(str_plumb_unlink(a.f->head, id, &a.hc, false), 0);
	host_leave();
	close_dev(&low);
	close_dev(&a);
	close_dev(&b);
}

static const char hello[] = "\176\0\5hello\24"; /* a frame */

static void
counts(struct frstat *st)
{
	struct strioctl ic = {FR_STAT, 5, 0, (char *)st};

	memset(st, 0, sizeof(*st));
	T_EQ(fx_ioctl(&pipe_, 0, I_STR, (unsigned long)(uintptr_t)&ic), 0);
}

T_CASE(frame_makes_frames_and_finds_them)
{
	struct frstat st;
	char buf[32];

	begin(t);
	(void)fx_push(&pipe_, 0, "frame");
	T_EQ(fx_write(&pipe_, 0, "hello", 5), 5);
	(void)fx_run(&pipe_);
	T_EQ(fx_read(&pipe_, 1, buf, sizeof(buf)), 9);
	T_MEM(buf, hello, 9);
	for (int i = 0; i < 9; i++) {
		T_EQ(fx_write(&pipe_, 1, hello + i, 1), 1);
		(void)fx_run(&pipe_);
	}
	T_EQ(fx_read(&pipe_, 0, buf, sizeof(buf)), 5);
	T_MEM(buf, "hello", 5);
	counts(&st);
	T_EQ(st.sent, 1);
	T_EQ(st.received, 1);
	T_EQ(st.bad, 0);
}

T_CASE(frame_gives_half_a_frame_up_after_a_second)
{
	struct frstat st;
	char buf[32];

	begin(t);
	(void)fx_push(&pipe_, 0, "frame");
	T_EQ(fx_write(&pipe_, 1, hello, 4), 4);
	(void)fx_run(&pipe_);
	sim_sleep(990000000);
	(void)str_timer_run(host_now());
	(void)fx_run(&pipe_);
	counts(&st);
	T_EQ(st.late, 0);
	sim_sleep(20000000);
	(void)str_timer_run(host_now());
	(void)fx_run(&pipe_);
	counts(&st);
	T_EQ(st.late, 1);
	T_EQ(fx_write(&pipe_, 1, hello, 9), 9);
	(void)fx_run(&pipe_);
	T_EQ(fx_read(&pipe_, 0, buf, sizeof(buf)), 5);
}

T_CASE(frame_goes_on_when_there_is_memory_again)
{
	struct frstat st;
	queue_t *q;
	mblk_t *mp;
	void *keep[3];
	unsigned i;
	char buf[32];

	begin(t);
	q = fx_push(&pipe_, 0, "frame");
	mp = fx_msg("hello", 0);
	/* room for a callback's record stays, and none for a message */
	for (i = 0; i < 3; i++)
		keep[i] = kmem_alloc(32u << i, KM_NOSLEEP);
	fx_use_up();
	for (i = 0; i < 3; i++)
		kmem_free(keep[i], 32u << i);
	put(WR(q), mp);
	(void)fx_run(&pipe_);
	T_EQ(str_headq_records(&pipe_.sd[1]->hq, 0), 0);
	fx_give_back();
	for (i = 0; i < 20; i++) {
		sim_sleep(10000000);
		(void)str_timer_run(host_now());
		(void)fx_run(&pipe_);
	}
	T_EQ(fx_read(&pipe_, 1, buf, sizeof(buf)), 9);
	counts(&st);
	T_EQ(st.sent, 1);
	T_GE(st.starved, 1);
}

/* Channel 5 of a line that brings everything back. */
T_CASE(hub_finds_the_channel)
{
	struct dev a, b, low;
	struct hubbind hb = {0, 5};
	struct strioctl ic = {HUB_BIND, 5, sizeof(hb), (char *)&hb};
	char buf[16];

	fx_begin(t);
	sim_modules(modules);
	open_dev(&low, "echo");
	close_dev(&low);
	fx_keep();
	open_dev(&a, "hub");
	open_dev(&b, "hub");
	open_dev(&low, "echo");
	T_EQ(host_enter(&a.hc), 0);
	str_head_ref(low.f->head);
	T_EQ(str_plumb_link(a.f->head, low.f->head, &a.hc, false,
		&hb.hb_line), 0);
	T_EQ(str_head_ioctl(b.f->head, &b.hc, I_STR,
		(unsigned long)(uintptr_t)&ic), 0);
	hb.hb_chan = 256;
	T_EQ(str_head_ioctl(b.f->head, &b.hc, I_STR,
		(unsigned long)(uintptr_t)&ic), -EINVAL);
	host_leave();
	T_EQ(write_dev(&b, "five"), 4);
	T_EQ(read_dev(&b, buf, sizeof(buf)), 4);
	T_MEM(buf, "five", 4);
	T_EQ(host_enter(&a.hc), 0);
	T_EQ(str_plumb_unlink(a.f->head, hb.hb_line, &a.hc, false), 0);
	host_leave();
	T_EQ(read_dev(&b, buf, sizeof(buf)), 0); /* it was hung up */
	close_dev(&low);
	close_dev(&a);
	close_dev(&b);
}

T_CASE(a_module_that_is_not_there_cannot_be_pushed)
{
	begin(t);
	T_EQ(fx_push_err(&pipe_, 0, "nosuch"), EINVAL);
	T_EQ(fx_push_err(&pipe_, 0, "tally"), 0);
}

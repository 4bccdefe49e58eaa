/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process is killed while it runs the service procedures of others.
 *
 * In each arrangement numbered messages wait on a queue.  A task that neither
 * wrote nor reads them, the bystander, runs what is enabled, as any call on the
 * stream may, and is killed at one point after the other.  What must hold: each
 * message arrives once, whole, in its order; at the end the domain is empty.
 *
 * In the instrumented build (seeds-bystander) each access to memory is a point,
 * else each call of the host.  At most RUNS points of an arrangement are tried,
 * evenly spread; SIM_ALL=1 tries all, SIM_POINT=N only that one.
 */
#include "bystander.h"
#include <sys/bufmod.h>
#include <sys/strsun.h>

#define MS 1000000ull
#define PATIENT 300u  /* ms of virtual time */

struct arrangement arr;
struct dv by_a;

static struct fx_pipe pipe_;
static const char *name_;
static uint64_t point_;

/* ----------------------------------------------------------- arrangements */

static void
modules(const char *lower, const char *upper, bool head)
{
	fx_pipe(&pipe_);
	arr.from = fx_push(&pipe_, 0, lower);
	if (upper != NULL)
		(void)fx_push(&pipe_, 0, upper);
	arr.sink = head ? NULL : fx_push(&pipe_, 0, "store");
	arr.head = &pipe_;
	arr.run[0] = &pipe_;
}

static void
with_srvmod(void)
{
	modules("srvmod", NULL, false);
}

static void
with_a_lock_kept(void)
{
	modules("srvmod", NULL, false);
	sim_two_steps(true);
	arr.kept = true;
}

static void
with_band(void)
{
	modules("srvmod", NULL, false);
	arr.band = 2;
}

static void
with_perimeter(void)
{
	modules("pairsrv", "pair", false);
}

static void
with_two(void)
{
	modules("srvmod", "pairsrv", false);
}

static void
with_bufmod(void)
{
	unsigned none = 0, flags = SB_NO_HEADER | SB_NO_DROPS;

	modules("bufmod", NULL, false);
	by_a.pipe = pipe_;
	by_a.rq = arr.from;
	by_a.above = arr.sink;
	T_EQ(dv_str(&by_a, SBIOCSFLAGS, &flags, sizeof(flags)), 0);
	T_EQ(dv_str(&by_a, SBIOCSCHUNK, &none, sizeof(none)), 0);
}

static void
with_impair(void)
{
	modules("impair", NULL, false);
}

static void
with_head(void)
{
	modules("srvmod", NULL, true);
}

static void
with_head_behind_a_perimeter(void)
{
	modules("pairsrv", "pair", true);
}

/* ------------------------------------------------------------------- a run */

/* Every fifth is of two blocks. */
static mblk_t *
numbered(unsigned i)
{
	char text[16];
	mblk_t *mp;

	snprintf(text, sizeof(text), "%08u", i);
	mp = fx_msg(i % 5 == 0 ? text + 4 : text, arr.band);
	if (i % 5 == 0) {
		mblk_t *first;

		text[4] = '\0';
		first = fx_msg(text, arr.band);
		linkb(first, mp);
		mp = first;
	}
	return arr.wrap != NULL ? arr.wrap(i, mp) : mp;
}

static long
next(void)
{
	char text[16];
	mblk_t *mp;
	long n;

	if (arr.next != NULL)
		return arr.next();
	if (arr.sink != NULL) {
		mp = getq(arr.sink);
		if (mp != NULL && arr.unwrap != NULL)
			mp = arr.unwrap(mp);
		while (mp != NULL && DB_TYPE(mp) >= QPCTL) {
			freemsg(mp);
			mp = getq(arr.sink);
		}
		if (mp == NULL)
			return -1;
		n = (long)msgsize(mp);
		snprintf(text, sizeof(text), "%s", fx_text(mp));
		freemsg(mp);
	} else {
		arr.head->hc[0].fflags = STR_O_NONBLOCK | 2;
		/* what the reader enables is left to the bystander */
		host_tls.busy = 1;
		n = fx_read(arr.head, 0, text, 8);
		host_tls.busy = 0;
		if (n == -EAGAIN)
			return -1;
		text[8] = '\0';
	}
	if (n != 8)
		T_FAIL("%s, point %llu: %ld bytes", name_,
			(unsigned long long)point_, n);
	return strtol(text, NULL, 10);
}

static unsigned got_;

static void
take(void)
{
	long n;

	while ((n = next()) >= 0) {
		if (arr.twice != 0 && n + 1 == (long)got_) {
			arr.twice--;
			continue;
		}
		if (arr.lost != 0 && n == (long)got_ + 1) {
			arr.lost--;
			got_++;
		}
		if (n != (long)got_)
			T_FAIL("%s, point %llu: number %ld, not %u", name_,
				(unsigned long long)point_, n, got_);
		got_++;
	}
}

static uint64_t left_;

/* A thread that has the lock of the queue, and no CPU for a while. */
static void
keeps(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	if (str_lock(&arr.from->q_klock))
		(void)str_queue_repair(arr.from);
	sim_sleep(8 * MS);
	str_unlock(&arr.from->q_klock);
	host_leave();
}

static void
stands_by(void *arg)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	sim_fuse((uint64_t)(uintptr_t)arg);
	if (arr.ticks)
		(void)str_timer_run(host_now() + 20 * MS);
	for (i = 0; i < 2 && arr.run[i] != NULL; i++)
		(void)fx_run(arr.run[i]);
	left_ = sim_fuse_left();
	sim_fuse(0);
	host_leave();
}

/* Return: the points that were passed when @point is beyond the last. */
static uint64_t
run(void (*arrange)(void), uint64_t point)
{
	struct sim_stats st;
	unsigned i, ms;

	fx_begin_seed(point);
	sim_grain(0);
	sim_two_steps(false);
	memset(&arr, 0, sizeof(arr));
	/* streams of drivers, which enable each other's queues */
	str_store(str_root(STR_ROOT_NDEVS), (uint64_t)1);
	point_ = point;
	arrange();
	(void)fx_run(arr.run[0]);
	for (i = 0; i < N && arr.from != NULL; i++)
		put(arr.from, numbered(i));
	got_ = 0;
	if (arr.ready != NULL)
		arr.ready();
	if (arr.fill)
		take();
	left_ = 0;
	(void)sim_spawn("bystander", stands_by, (void *)(uintptr_t)point);
	sim_sleep(MS / 1000);
	if (arr.kept)
		(void)sim_spawn("keeper", keeps, NULL);
	sim_stats(&st);
	/* the reaper comes first, or the survivor does */
	if (st.kills != 0 && point % 2 == 0)
		sim_sleep(30 * MS);
	for (ms = 0; ms < PATIENT && got_ < N; ms++) {
		take();
		for (i = 0; i < 2 && arr.run[i] != NULL; i++)
			(void)fx_run(arr.run[i]);
		take();
		sim_sleep(MS);
	}
	if (got_ + (st.kills != 0 ? arr.lost : 0) < N)
		T_FAIL("%s, point %llu: %u of %u arrived", name_,
			(unsigned long long)point, got_, N);
	sim_sleep(30 * MS);
	take();
	if (arr.done != NULL)
		arr.done();
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

void
by_everywhere(const char *name, void (*arrange)(void))
{
	uint64_t most, p, tried = 0;
	const char *only = getenv("SIM_POINT");
	uint64_t step;

	name_ = name;
	if (only != NULL) {
		(void)run(arrange, strtoull(only, NULL, 10));
		return;
	}
	most = run(arrange, 1u << 30);
	T_GT(most, 5u);
	if (arr.first != 0 && arr.first < most)
		most = arr.first;
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step, tried++)
		(void)run(arrange, p);
	fprintf(stderr, "# %s: %llu of %llu points\n", name,
		(unsigned long long)tried, (unsigned long long)most);
}

ARRANGEMENT(with_srvmod)
ARRANGEMENT(with_a_lock_kept)
ARRANGEMENT(with_band)
ARRANGEMENT(with_perimeter)
ARRANGEMENT(with_two)
ARRANGEMENT(with_bufmod)
ARRANGEMENT(with_impair)
ARRANGEMENT(with_head)
ARRANGEMENT(with_head_behind_a_perimeter)

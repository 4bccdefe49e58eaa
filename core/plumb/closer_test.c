/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process is killed while it closes one of two connected streams.
 *
 * A task closes its stream and is killed at one point after the other, some of
 * them inside the driver's close procedure.  What must hold: the stream at the
 * other end is told within PATIENT ms, and at the end the domain is empty.  The
 * driver's own memory stays after a death between q_ptr and kmem_free().
 *
 * In the instrumented build (seeds-closer) each access to memory is a point.
 * At most RUNS points of an arrangement are tried, evenly spread; SIM_ALL=1
 * tries all, SIM_POINT=N only that one.
 */
#include <sys/loop.h>
#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../../host/sim/fixture.h"

#define RUNS 300u
#define MS 1000000ull
#define PATIENT 100u /* ms of virtual time */
#define RDWR 2
#define I_STR 0x5308u

struct end {
	struct str_file *f;
	int fd;
};
static struct end a, b;
static uint64_t left_;
static unsigned forgotten_; /* deaths after which the driver's memory stayed */

static struct host_call
call(const struct end *e)
{
	return (struct host_call){.fd = e->fd, .fflags = RDWR | STR_O_NONBLOCK};
}

static void
opens(struct end *e, const char *drv)
{
	struct host_call hc = {.fd = -1, .fflags = RDWR | STR_O_NONBLOCK};
	struct host_carrier c;

	T_EQ(host_carrier_open(0, &e->fd, &c), 0);
	T_EQ(host_enter(&hc), 0);
	T_EQ(str_dev_open(&hc, drv, 0, true, hc.fflags, &c, &e->f), 0);
	host_leave();
}

static void
closes(struct end *e)
{
	struct host_call hc = call(e);
	uint32_t gen = str_file_gen(e->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(e->f), str_file_flags(e->f), gen));
	sim_close(e->fd);
	str_file_released(e->f, gen, &hc);
	host_leave();
}

/* ------------------------------------------------------------ connections */

static void
puts_(struct end *e, const void *req, size_t len)
{
	struct str_strbuf ctl = {(int)len, (int)len, (void *)(uintptr_t)req};
	struct host_call hc = call(e);
	struct str_head *sd = str_file_head(e->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	T_EQ(str_head_putmsg(sd, &hc, &ctl, NULL, -1, 0), 0);
	host_leave();
}

/* The next primitive; -1: there is none, -2: the end. */
static long
gets_(struct end *e, void *buf, size_t room)
{
	struct str_strbuf ctl = {(int)room, 0, buf}, data = {0, 0, buf};
	struct host_call hc = call(e);
	struct str_head *sd = str_file_head(e->f);
	int flags = 0;
	long ret;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	ret = str_head_getmsg(sd, &hc, &ctl, &data, NULL, &flags);
	host_leave();
	if (ret == -EAGAIN)
		return -1;
	T_GE(ret, 0);
	if (ctl.len == 0 || data.len == 0)
		return -2;
	return *(t_scalar_t *)buf;
}

static t_scalar_t buf_[64];

static void
answer(struct end *e, t_scalar_t prim)
{
	long p;

	while ((p = gets_(e, buf_, sizeof(buf_))) == -1)
		sim_sleep(MS);
	T_EQ(p, prim);
}

#define ANSWER(type) ((const struct type *)(const void *)buf_)

static void
spx(const char *drv)
{
	uint32_t token;

	opens(&a, drv);
	opens(&b, drv);
	token = (uint32_t)(uintptr_t)&str_file_head(b.f)->plumb->driver->rq;
	puts_(&a, &token, sizeof(token));
}

static void
loop(const char *drv)
{
	dev_t dev;
	struct {
		int cmd, timout, len;
		void *dp;
	} ic = {LOOP_SET, 15, sizeof(dev), &dev};
	struct host_call hc;
	struct str_head *sd;

	opens(&a, drv);
	opens(&b, drv);
	dev = str_file_head(b.f)->plumb->dev;
	sd = str_file_head(a.f);
	hc = call(&a);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(a.f), str_file_gen(a.f)));
	T_EQ(str_head_ioctl(sd, &hc, I_STR, (unsigned long)(uintptr_t)&ic), 0);
	host_leave();
}

static void
binds(struct end *e, const char *drv, char name, t_uscalar_t qlen)
{
	struct {
		struct T_bind_req r;
		char name[4];
	} m = {{T_BIND_REQ, 1, sizeof(m.r), qlen}, {name}};

	opens(e, drv);
	puts_(e, &m, sizeof(m.r) + 1);
	answer(e, T_BIND_ACK);
}

static void
connects(const char *drv)
{
	struct {
		struct T_conn_req r;
		char name[4];
	} m = {{T_CONN_REQ, 1, sizeof(m.r), 0, 0}, {'b'}};
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	struct T_conn_res res = {T_CONN_RES, 0, 0, 0, 0};

	binds(&b, drv, 'b', 1);
	binds(&a, drv, 'a', 0);
	puts_(&a, &m, sizeof(m.r) + 1);
	answer(&a, T_OK_ACK);
	answer(&b, T_CONN_IND);
	res.SEQ_number = ANSWER(T_conn_ind)->SEQ_number;
	puts_(&b, &cap, sizeof(cap));
	answer(&b, T_CAPABILITY_ACK);
	res.ACCEPTOR_id = ANSWER(T_capability_ack)->ACCEPTOR_id;
	puts_(&b, &res, sizeof(res));
	answer(&b, T_OK_ACK);
	answer(&a, T_CONN_CON);
}

/* --------------------------------------------------------------- the deaths */

static void
is_killed(void *arg)
{
	struct host_call hc = call(&a);
	uint32_t gen = str_file_gen(a.f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(a.f), str_file_flags(a.f), gen));
	sim_close(b.fd);
	sim_close(a.fd);
	sim_fuse((uint64_t)(uintptr_t)arg);
	str_file_released(a.f, gen, &hc);
	left_ = sim_fuse_left();
	sim_fuse(0);
	host_leave();
}

static bool
told(bool tpi)
{
	long p;

	if (!tpi)
		return (str_load(&str_file_head(b.f)->flags) & STR_H_HUP) != 0;
	p = gets_(&b, buf_, sizeof(buf_));
	return p == T_DISCON_IND || p == -2;
}

/* Return: the points that were passed when @point is beyond the last. */
static uint64_t
run(void (*arrange)(const char *drv), const char *drv, uint64_t point)
{
	bool tpi = arrange == connects;
	struct sim_stats st;
	uint64_t kmem;
	unsigned ms;

	fx_begin_seed(point);
	sim_grain(0);
	arrange(drv);
	closes(&a);
	closes(&b);
	fx_keep(); /* what a driver keeps for ever */
	kmem = fx_in_use(STR_BLK_KMEM);
	arrange(drv);
	left_ = 0;
	(void)sim_spawn("closer", is_killed, (void *)(uintptr_t)point);
	sim_close(a.fd);
	sim_sleep(MS / 1000);
	for (ms = 0; ms < PATIENT && !told(tpi); ms++)
		sim_sleep(MS);
	if (ms == PATIENT)
		T_FAIL("%s, point %llu: the other end is not told", drv,
			(unsigned long long)point);
	sim_stats(&st);
	closes(&b);
	sim_sleep(200 * MS);
	if (fx_in_use(STR_BLK_KMEM) > kmem) {
		forgotten_++;
		T_EQ(fx_in_use(STR_BLK_KMEM), kmem + 1);
		T_EQ(fx_messages(), 0u);
		fx_keep();
	}
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

static void
everywhere(void (*arrange)(const char *drv), const char *drv)
{
	const char *only = getenv("SIM_POINT");
	uint64_t most, p, tried = 0, step;

	if (only != NULL) {
		(void)run(arrange, drv, strtoull(only, NULL, 10));
		return;
	}
	forgotten_ = 0;
	most = run(arrange, drv, 1u << 30);
	T_GT(most, 5u);
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step, tried++)
		(void)run(arrange, drv, p);
	fprintf(stderr, "# %s: %llu of %llu points; memory forgotten after %u\n",
		drv, (unsigned long long)tried, (unsigned long long)most,
		forgotten_);
	T_LE(forgotten_, 2 + tried / 50);
}

T_CASE_TIMEOUT(a_peer_on_spx_is_told_whenever_the_closer_dies, 300)
{
	(void)t;
	everywhere(spx, "spx");
}

T_CASE_TIMEOUT(a_peer_on_loop_is_told_whenever_the_closer_dies, 300)
{
	(void)t;
	everywhere(loop, "loop");
}

T_CASE_TIMEOUT(a_peer_on_ticots_is_told_whenever_the_closer_dies, 300)
{
	(void)t;
	everywhere(connects, "ticots");
}

T_CASE_TIMEOUT(a_peer_on_ticotsord_is_told_whenever_the_closer_dies, 300)
{
	(void)t;
	everywhere(connects, "ticotsor");
}

/* ------------------------------------------------- what another had in hand */

static struct end third;

/* A thread inside the driver, for whose perimeter messages wait. */
static void
is_inside(void *arg)
{
	struct host_call hc = call(&a);
	struct str_plumb *pl = str_file_head(a.f)->plumb;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(&pl->head[0], str_file_flags(a.f),
		str_file_gen(a.f)));
	T_EQ(str_claim(pl), 0);
	T_TRUE(str_perim_try(pl->driver));
	sim_sleep(2 * MS);
	sim_fuse((uint64_t)(uintptr_t)arg);
	str_perim_out(pl->driver);
	left_ = sim_fuse_left();
	sim_fuse(0);
	str_unclaim(pl);
	host_leave();
}

static void
writes(unsigned i)
{
	char text[8];
	struct str_strbuf data = {8, 8, text};
	struct host_call hc = call(&a);
	struct str_head *sd = str_file_head(a.f);

	snprintf(text, sizeof(text), "%07u", i);
	T_EQ(host_enter(&hc), 0);
	host_tls.busy = 1; /* it reaps no other thread */
	T_TRUE(str_head_enter(sd, str_file_flags(a.f), str_file_gen(a.f)));
	T_EQ(str_head_putmsg(sd, &hc, NULL, &data, -1, 0), 0);
	host_tls.busy = 0;
	host_leave();
}

static long
reads(void)
{
	char text[8];
	struct str_strbuf ctl = {0, 0, text}, data = {8, 0, text};
	struct host_call hc = call(&b);
	struct str_head *sd = str_file_head(b.f);
	int flags = 0;
	long ret;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(b.f), str_file_gen(b.f)));
	ret = str_head_getmsg(sd, &hc, &ctl, &data, NULL, &flags);
	host_leave();
	return ret != 0 ? -1 : strtol(text, NULL, 10);
}

#define WAIT 6u

static uint64_t
overtakes(uint64_t point)
{
	struct sim_stats st;
	unsigned i, ms;
	long n;

	fx_begin_seed(point);
	sim_grain(0);
	spx("spx");
	opens(&third, "spx");
	left_ = 0;
	(void)sim_spawn("inside", is_inside, (void *)(uintptr_t)point);
	sim_sleep(MS);
	for (i = 0; i < WAIT; i++)
		writes(i);
	sim_stop(sim_streamsd());
	sim_sleep(2 * MS);
	closes(&third);
	sim_cont(sim_streamsd());
	for (i = 0, ms = 0; i < WAIT && ms < PATIENT; ms++) {
		while ((n = reads()) >= 0) {
			if (n != (long)i)
				T_FAIL("point %llu: number %ld, not %u",
					(unsigned long long)point, n, i);
			i++;
		}
		sim_sleep(MS);
	}
	T_EQ(i, WAIT);
	sim_stats(&st);
	closes(&a);
	closes(&b);
	sim_sleep(200 * MS);
	fx_keep();
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

T_CASE_TIMEOUT(a_close_overtakes_nothing_that_a_killed_thread_had, 300)
{
	uint64_t most = overtakes(1u << 30), p, step;

	(void)t;
	step = STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step)
		(void)overtakes(p);
	fprintf(stderr, "# %llu points\n", (unsigned long long)most);
}

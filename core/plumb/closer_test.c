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
#include <sys/mux.h>
#include "ends.h"

#define RUNS 300u
#define PATIENT 100u /* ms of virtual time */
#define UNLINKED 2000u /* ... when streamsd waits for a multiplexor's answer */
#define I_STR 0x5308u
#define I_LINK 0x530cu
#define I_UNLINK 0x530du

static struct end a, b;
static struct end ctl_; /* links what is below a multiplexor; not open: -1 */
static int link_; /* what the closer unlinks first, by its number; 0: nothing */
static uint64_t left_;
static unsigned forgotten_; /* deaths after which the driver's memory stayed */

/* ------------------------------------------------------------ connections */

static void
spx(const char *drv)
{
	uint32_t token;

	end_open(&a, drv);
	end_open(&b, drv);
	token = (uint32_t)(uintptr_t)&str_file_head(b.f)->plumb->driver->rq;
	end_put(&a, &token, sizeof(token));
}

static long
ioctls(struct end *e, unsigned cmd, unsigned long arg)
{
	struct str_head *sd = str_file_head(e->f);
	struct host_call hc = end_call(e);
	long ret;

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(e->f), str_file_gen(e->f)));
	ret = str_head_ioctl(sd, &hc, cmd, arg);
	host_leave();
	T_GE(ret, 0);
	return ret;
}

static void
commands(struct end *e, int cmd, void *arg, int len)
{
	struct {
		int cmd, timout, len;
		void *dp;
	} ic = {cmd, 15, len, arg};

	(void)ioctls(e, I_STR, (unsigned long)(uintptr_t)&ic);
}

static void
loop_pair(struct end *e, struct end *f)
{
	dev_t dev;

	end_open(e, "loop");
	end_open(f, "loop");
	dev = str_file_head(f->f)->plumb->dev;
	commands(e, LOOP_SET, &dev, sizeof(dev));
}

static void
loop(const char *drv)
{
	(void)drv;
	loop_pair(&a, &b);
}

/* Write at @e, which goes to one that does not read, until there is no room. */
static void
fills(struct end *e)
{
	struct str_head *sd = str_file_head(e->f);
	struct str_strbuf data;
	struct host_call hc;
	char text[512] = "";
	int ret = 0;

	while (ret == 0) {
		data = (struct str_strbuf){sizeof(text), sizeof(text), text};
		hc = end_call(e);
		T_EQ(host_enter(&hc), 0);
		T_TRUE(str_head_enter(sd, str_file_flags(e->f),
			str_file_gen(e->f)));
		ret = (int)str_head_putmsg(sd, &hc, NULL, &data, -1, 0);
		host_leave();
		sim_sleep(MS);
	}
	T_EQ(ret, -EAGAIN);
	T_FALSE(str_head_pending(sd));
}

/*
 * An upper stream that does not read, above a lower one on which messages wait.
 * When it is closed, they are turned round, and the writer gets them.
 */
static void
upper(const char *drv)
{
	struct end low;
	int id;

	loop_pair(&low, &b);
	end_open(&ctl_, drv);
	end_open(&a, drv);
	id = (int)ioctls(&ctl_, I_LINK, (unsigned long)low.fd);
	end_close(&low);
	commands(&a, MUX_UP, &id, sizeof(id));
	fills(&b);
}

/*
 * An upper stream whose messages wait for a lower one, which another stream has
 * linked.  When it is unlinked, they are turned round.
 */
static void
lower(const char *drv)
{
	struct end low;

	loop_pair(&low, &ctl_);
	end_open(&a, drv);
	end_open(&b, drv);
	link_ = (int)ioctls(&a, I_LINK, (unsigned long)low.fd);
	end_close(&low);
	commands(&b, MUX_DOWN, &link_, sizeof(link_));
	fills(&b);
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

	end_bind(&b, drv, 'b', 1);
	end_bind(&a, drv, 'a', 0);
	end_put(&a, &m, sizeof(m.r) + 1);
	end_answer(&a, T_OK_ACK);
	end_answer(&b, T_CONN_IND);
	res.SEQ_number = ANSWER(T_conn_ind)->SEQ_number;
	end_put(&b, &cap, sizeof(cap));
	end_answer(&b, T_CAPABILITY_ACK);
	res.ACCEPTOR_id = ANSWER(T_capability_ack)->ACCEPTOR_id;
	end_put(&b, &res, sizeof(res));
	end_answer(&b, T_OK_ACK);
	end_answer(&a, T_CONN_CON);
}

/* --------------------------------------------------------------- the deaths */

static void
is_killed(void *arg)
{
	struct host_call hc = end_call(&a);
	uint32_t gen = str_file_gen(a.f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(a.f), str_file_flags(a.f), gen));
	sim_close(b.fd);
	if (ctl_.fd >= 0)
		sim_close(ctl_.fd);
	sim_fuse((uint64_t)(uintptr_t)arg);
	if (link_ != 0)
		T_EQ(str_head_ioctl(str_file_head(a.f), &hc, I_UNLINK,
			(unsigned long)link_), 0);
	sim_close(a.fd);
	str_file_released(a.f, gen, &hc);
	left_ = sim_fuse_left();
	sim_fuse(0);
	host_leave();
}

static bool
told(void (*arrange)(const char *drv))
{
	long p;

	if (arrange == upper || arrange == lower)
		return str_head_pending(str_file_head(b.f));
	if (arrange != connects)
		return (str_load(&str_file_head(b.f)->flags) & STR_H_HUP) != 0;
	p = end_get(&b, end_buf, sizeof(end_buf));
	return p == T_DISCON_IND || p == -2;
}

/* The streams but the first. */
static void
closes_others(void)
{
	end_close(&b);
	if (ctl_.fd >= 0)
		end_close(&ctl_);
	ctl_.fd = -1;
}

/* Return: the points that were passed when @point is beyond the last. */
static uint64_t
run(void (*arrange)(const char *drv), const char *drv, uint64_t point)
{
	unsigned ms, most = arrange == lower ? UNLINKED : PATIENT;
	struct sim_stats st;
	uint64_t kmem;

	fx_begin_seed(point);
	sim_grain(0);
	ctl_.fd = -1;
	link_ = 0;
	arrange(drv);
	end_close(&a);
	closes_others();
	fx_keep(); /* what a driver keeps for ever */
	kmem = fx_in_use(STR_BLK_KMEM);
	arrange(drv);
	left_ = 0;
	(void)sim_spawn("closer", is_killed, (void *)(uintptr_t)point);
	sim_close(a.fd);
	sim_sleep(MS / 1000);
	for (ms = 0; ms < most && !told(arrange); ms++)
		sim_sleep(MS);
	if (ms == most)
		T_FAIL("%s, point %llu: the other end is not told", drv,
			(unsigned long long)point);
	sim_stats(&st);
	closes_others();
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

T_CASE_TIMEOUT(what_waits_below_mux_is_turned_round_after_a_death, 300)
{
	(void)t;
	everywhere(upper, "mux");
}

T_CASE_TIMEOUT(what_waits_above_mux_is_turned_round_after_an_unlink, 300)
{
	(void)t;
	everywhere(lower, "mux");
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

/* ----------------------------------------------------- the next connection */

static struct end third;

static void
calls(struct end *from, char name)
{
	struct {
		struct T_conn_req r;
		char name[4];
	} m = {{T_CONN_REQ, 1, sizeof(m.r), 0, 0}, {name}};

	end_put(from, &m, sizeof(m.r) + 1);
	end_answer(from, T_OK_ACK);
}

/* It looks by what it sends, and takes what tells it. */
static bool
is_rid(struct end *e)
{
	struct T_data_req dr = {T_DATA_REQ, 0};
	long p;

	if (str_head_writable(str_file_head(e->f)))
		end_put(e, &dr, sizeof(dr));
	p = end_get(e, end_buf, sizeof(end_buf));
	return p == T_DISCON_IND;
}

/*
 * streamsd closes the stream of a killed closer once more.  By then the peer of
 * that stream has another connection, which the second close must not disturb.
 */
static uint64_t
reconnects(const char *drv, uint64_t point)
{
	struct T_conn_res res = {T_CONN_RES, 0, 0, 0, 0};
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	struct sim_stats st;
	unsigned ms;

	fx_begin_seed(point);
	sim_grain(0);
	connects(drv);
	end_bind(&third, drv, 'c', 1);
	left_ = 0;
	sim_stop(sim_streamsd());
	(void)sim_spawn("closer", is_killed, (void *)(uintptr_t)point);
	sim_close(a.fd);
	sim_sleep(MS / 1000);
	for (ms = 0; ms < PATIENT && !is_rid(&b); ms++)
		sim_sleep(MS);
	if (ms < PATIENT) {
		calls(&b, 'c');
		end_answer(&third, T_CONN_IND);
		res.SEQ_number = ANSWER(T_conn_ind)->SEQ_number;
		end_put(&third, &cap, sizeof(cap));
		end_answer(&third, T_CAPABILITY_ACK);
		res.ACCEPTOR_id = ANSWER(T_capability_ack)->ACCEPTOR_id;
		end_put(&third, &res, sizeof(res));
		end_answer(&third, T_OK_ACK);
		end_answer(&b, T_CONN_CON);
	}
	sim_cont(sim_streamsd());
	sim_sleep(200 * MS);
	if (ms < PATIENT && (end_get(&b, end_buf, sizeof(end_buf)) != -1 ||
		end_get(&third, end_buf, sizeof(end_buf)) != -1))
		T_FAIL("%s, point %llu: primitive %ld comes to the next connection",
			drv, (unsigned long long)point, (long)end_buf[0]);
	sim_stats(&st);
	end_close(&b);
	end_close(&third);
	sim_sleep(200 * MS);
	fx_keep();
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

static void
next_everywhere(const char *drv)
{
	const char *only = getenv("SIM_POINT");
	uint64_t most, p, step;

	if (only != NULL) {
		(void)reconnects(drv, strtoull(only, NULL, 10));
		return;
	}
	most = reconnects(drv, 1u << 30);
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step)
		(void)reconnects(drv, p);
	fprintf(stderr, "# %s: %llu points\n", drv, (unsigned long long)most);
}

T_CASE_TIMEOUT(a_dead_closer_leaves_its_peer_s_next_connection_alone, 300)
{
	(void)t;
	next_everywhere("ticots");
	next_everywhere("ticotsor");
}

/* ------------------------------------------------- what another had in hand */

/* A thread inside the driver, for whose perimeter messages wait. */
static void
is_inside(void *arg)
{
	struct host_call hc = end_call(&a);
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
	struct host_call hc = end_call(&a);
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
	struct host_call hc = end_call(&b);
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
	end_open(&third, "spx");
	left_ = 0;
	(void)sim_spawn("inside", is_inside, (void *)(uintptr_t)point);
	sim_sleep(MS);
	for (i = 0; i < WAIT; i++)
		writes(i);
	sim_stop(sim_streamsd());
	sim_sleep(2 * MS);
	end_close(&third);
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
	end_close(&a);
	end_close(&b);
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

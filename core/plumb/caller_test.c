/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process is killed over a call or a connection of a loopback transport, and
 * another process uses the other endpoint for its next call before that is
 * repaired.  What must hold: the next call and its connection are not disturbed.
 *
 * In the instrumented build (seeds-caller) each access to memory is a point.  At
 * most RUNS points of a close are tried, evenly spread; SIM_ALL=1 tries all,
 * SIM_POINT=N only that one.
 */
#include "ends.h"

#define RUNS 300u
#define PATIENT 100u /* ms of virtual time */
#define DRV "ticotsor"

static struct end a, b, third, fourth;
static uint64_t left_, point_;

static void
fails(const char *why, long n)
{
	T_FAIL("point %llu: %s %ld", (unsigned long long)point_, why, n);
}

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

/* The call that has come at @at, to be accepted on @on. */
static struct T_conn_res
accepting(struct end *at, struct end *on)
{
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	struct T_conn_res res = {T_CONN_RES, 0, 0, 0, 0};

	end_answer(at, T_CONN_IND);
	res.SEQ_number = ANSWER(T_conn_ind)->SEQ_number;
	end_put(on, &cap, sizeof(cap));
	end_answer(on, T_CAPABILITY_ACK);
	res.ACCEPTOR_id = ANSWER(T_capability_ack)->ACCEPTOR_id;
	return res;
}

static t_scalar_t
state_of(struct end *e)
{
	const t_scalar_t ask = T_INFO_REQ;

	end_put(e, &ask, sizeof(ask));
	end_answer(e, T_INFO_ACK);
	return ANSWER(T_info_ack)->CURRENT_state;
}

static void
hears_nothing(struct end *e)
{
	long p = end_get(e, end_buf, sizeof(end_buf));

	if (p != -1)
		fails("a primitive of another call comes, it is", p);
}

static void
ends(void)
{
	sim_sleep(200 * MS);
	/* a closed stream that the killed thread was inside may not be free yet */
	(void)str_region_sweep();
	fx_keep();
	fx_end();
}

/* ------------------------------------------------------- a listener's close */

static void
is_closed(void *arg)
{
	struct host_call hc = end_call(&a);
	uint32_t gen = str_file_gen(a.f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(str_file_head(a.f), str_file_flags(a.f), gen));
	sim_close(b.fd);
	sim_close(third.fd);
	sim_close(a.fd);
	sim_fuse((uint64_t)(uintptr_t)arg);
	str_file_released(a.f, gen, &hc);
	left_ = sim_fuse_left();
	sim_fuse(0);
	host_leave();
}

/* Return to TS_IDLE; the connect request may have been refused already. */
static void
gives_up(struct end *e)
{
	const struct T_discon_req dis = {T_DISCON_REQ, -1};
	long p;

	if (end_get(e, end_buf, sizeof(end_buf)) == T_DISCON_IND)
		return;
	end_put(e, &dis, sizeof(dis));
	while ((p = end_get(e, end_buf, sizeof(end_buf))) != T_OK_ACK &&
		p != T_ERROR_ACK)
		sim_sleep(MS);
	(void)end_get(e, end_buf, sizeof(end_buf)); /* T_DISCON_IND, if at all */
	T_EQ(state_of(e), TS_IDLE);
}

/*
 * A listener is killed in its close, while a call waits.  Before streamsd closes
 * the stream, the caller withdraws its call, by a close (@leaves) or not, and an
 * endpoint, in the same memory, calls another listener.
 */
static uint64_t
calls_again(bool leaves, uint64_t point)
{
	struct sim_stats st;

	fx_begin_seed(point);
	sim_grain(0);
	point_ = point;
	end_bind(&a, DRV, 'a', 1);
	end_bind(&b, DRV, 'b', 0);
	end_bind(&third, DRV, 'c', 1);
	calls(&b, 'a');
	end_answer(&a, T_CONN_IND);
	left_ = 0;
	sim_stop(sim_streamsd());
	(void)sim_spawn("closer", is_closed, (void *)(uintptr_t)point);
	sim_close(a.fd);
	sim_sleep(MS / 1000);
	if (leaves) {
		end_close(&b);
		end_bind(&b, DRV, 'd', 0);
	} else {
		gives_up(&b);
	}
	calls(&b, 'c');
	end_answer(&third, T_CONN_IND);
	sim_cont(sim_streamsd());
	sim_sleep(200 * MS);
	hears_nothing(&b);
	hears_nothing(&third);
	sim_stats(&st);
	end_close(&b);
	end_answer(&third, T_DISCON_IND);
	end_close(&third);
	ends();
	return st.kills != 0 ? 0 : point - left_;
}

static void
everywhere(bool leaves)
{
	const char *only = getenv("SIM_POINT");
	uint64_t most, p, step;

	if (only != NULL) {
		(void)calls_again(leaves, strtoull(only, NULL, 10));
		return;
	}
	most = calls_again(leaves, 1u << 30);
	T_GT(most, 5u);
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step)
		(void)calls_again(leaves, p);
	fprintf(stderr, "# %llu points\n", (unsigned long long)most);
}

T_CASE_TIMEOUT(a_dead_listener_leaves_its_caller_s_next_call_alone, 300)
{
	(void)t;
	everywhere(false);
}

T_CASE_TIMEOUT(a_dead_listener_knows_no_caller_that_has_gone, 300)
{
	(void)t;
	everywhere(true);
}

/* ---------------------------------------------------------------- requests */

static struct {
	struct end *at;
	union {
		struct T_conn_res res;
		struct T_ordrel_req rel;
	} req;
	size_t len;
} asked_;

static void
asks(void *arg)
{
	(void)arg;
	end_put(asked_.at, &asked_.req, asked_.len);
}

/*
 * A server is killed when the caller has its peer and no T_CONN_CON.  The call is
 * given up; the caller calls another listener, which does not answer.  The first
 * one accepts its indication, if that has stayed.
 */
T_CASE(a_call_that_was_given_up_is_not_accepted)
{
	struct T_conn_res res;
	unsigned ms;
	long p;

	fx_begin(t);
	sim_grain(0);
	end_bind(&a, DRV, 'a', 0);
	end_bind(&b, DRV, 'b', 1);
	end_open(&third, DRV);
	end_bind(&fourth, DRV, 'd', 1);
	calls(&a, 'b');
	asked_.at = &b;
	asked_.req.res = res = accepting(&b, &third);
	asked_.len = sizeof(res);
	sim_crash_at("ti:joined", 1);
	(void)sim_spawn("server", asks, NULL);
	for (ms = 0; (p = end_get(&a, end_buf, sizeof(end_buf))) == -1; ms++) {
		T_LT(ms, PATIENT);
		(void)state_of(&third); /* finds the death */
		sim_sleep(MS);
	}
	T_EQ(p, T_DISCON_IND);
	calls(&a, 'd');
	end_answer(&fourth, T_CONN_IND);
	sim_sleep(50 * MS);
	end_put(&b, &res, sizeof(res));
	for (ms = 0; ms < PATIENT; ms++) {
		(void)end_get(&b, end_buf, sizeof(end_buf));
		sim_sleep(MS);
	}
	hears_nothing(&a);
	T_EQ(state_of(&a), TS_WCON_CREQ);
	T_EQ(state_of(&third), TS_UNBND);
	T_EQ(state_of(&b), TS_IDLE);
	end_close(&a);
	end_close(&b);
	end_close(&third);
	end_answer(&fourth, T_DISCON_IND);
	end_close(&fourth);
	ends();
}

/*
 * The server of the second release is killed when the peer has been told.  The
 * peer connects again before the release is served once more.
 */
T_CASE(a_release_served_again_leaves_the_peer_s_next_connection_alone)
{
	const struct T_ordrel_req rel = {T_ORDREL_REQ};
	struct T_conn_res res;

	fx_begin(t);
	sim_grain(0);
	end_bind(&a, DRV, 'a', 0);
	end_bind(&b, DRV, 'b', 1);
	end_open(&third, DRV);
	calls(&a, 'b');
	res = accepting(&b, &third);
	end_put(&b, &res, sizeof(res));
	end_answer(&b, T_OK_ACK);
	end_answer(&a, T_CONN_CON);
	end_put(&third, &rel, sizeof(rel));
	end_answer(&a, T_ORDREL_IND);
	asked_.at = &a;
	asked_.req.rel = rel;
	asked_.len = sizeof(rel);
	sim_stop(sim_streamsd());
	sim_crash_at("ti:released", 1);
	(void)sim_spawn("server", asks, NULL);
	end_answer(&third, T_ORDREL_IND);
	calls(&third, 'b');
	res = accepting(&b, &b);
	end_put(&b, &res, sizeof(res));
	end_answer(&b, T_OK_ACK);
	end_answer(&third, T_CONN_CON);
	sim_cont(sim_streamsd());
	sim_sleep(200 * MS);
	T_EQ(state_of(&a), TS_IDLE);
	sim_sleep(50 * MS);
	hears_nothing(&third);
	hears_nothing(&b);
	T_EQ(state_of(&third), TS_DATA_XFER);
	T_EQ(state_of(&b), TS_DATA_XFER);
	end_close(&a);
	end_close(&third);
	end_answer(&b, T_DISCON_IND);
	end_close(&b);
	ends();
}

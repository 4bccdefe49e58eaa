/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A process is killed over its request to a transport endpoint that another
 * process has as well.
 *
 * In each arrangement a task makes one request and is killed at one point after
 * the other.  What must hold: the endpoints can be brought to TS_IDLE by what
 * their states allow; their addresses can be bound again; a connection between
 * them is made, used and ended; after the last close no caller reaches an
 * endpoint by an address that the killed task had bound; at the end the domain
 * is empty.
 *
 * In the instrumented build (seeds-request) each access to memory is a point.
 * At most RUNS points of an arrangement are tried, evenly spread; SIM_ALL=1
 * tries all, SIM_POINT=N only that one.
 */
#include "ends.h"

#define RUNS 200u
#define PATIENT 500u /* ms of virtual time */
#define TRIES 12u
#define DRV "ticotsor"

static struct end a, b, third;
static struct end *asked_; /* the request's endpoint */
static union {
	struct T_bind_req bind;
	struct T_conn_req conn;
	struct T_conn_res res;
	struct T_discon_req discon;
	t_scalar_t prim;
	char bytes[64];
} req_;
static size_t reqlen_;
static t_scalar_t seq_;
static uint64_t left_, point_;
static const char *name_;

static void
fails(const char *why, long n)
{
	T_FAIL("%s, point %llu: %s %ld", name_, (unsigned long long)point_, why,
		n);
}

/* The next primitive that comes at @e. */
static long
next(struct end *e, const char *what)
{
	unsigned ms;
	long p;

	for (ms = 0; (p = end_get(e, end_buf, sizeof(end_buf))) == -1; ms++) {
		if (ms == PATIENT)
			fails(what, -1);
		sim_sleep(MS);
	}
	if (p == T_CONN_IND)
		seq_ = ANSWER(T_conn_ind)->SEQ_number;
	return p;
}

static size_t
binding(char name, t_uscalar_t qlen)
{
	req_.bind = (struct T_bind_req){T_BIND_REQ, 1, sizeof(req_.bind), qlen};
	req_.bytes[sizeof(req_.bind)] = name;
	return sizeof(req_.bind) + 1;
}

static size_t
calling(char name)
{
	req_.conn = (struct T_conn_req){T_CONN_REQ, 1, sizeof(req_.conn), 0, 0};
	req_.bytes[sizeof(req_.conn)] = name;
	return sizeof(req_.conn) + 1;
}

static size_t
accepting(struct end *on)
{
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};

	end_put(on, &cap, sizeof(cap));
	if (next(on, "no id comes") != T_CAPABILITY_ACK)
		fails("instead of an id comes", end_buf[0]);
	req_.res = (struct T_conn_res){T_CONN_RES,
		ANSWER(T_capability_ack)->ACCEPTOR_id, 0, 0, seq_};
	return sizeof(req_.res);
}

static size_t
leaving(t_scalar_t seq)
{
	req_.discon = (struct T_discon_req){T_DISCON_REQ, seq};
	return sizeof(req_.discon);
}

/* Ask, and look through what comes for @prim. */
static void
asks(struct end *e, size_t len, t_scalar_t prim)
{
	t_scalar_t what = req_.prim;
	long p;

	end_put(e, &req_, len);
	while ((p = next(e, "no answer comes to")) != prim)
		/* what the dead had asked may be refused just now */
		if (p == -2 || (p == T_ERROR_ACK && prim != T_INFO_ACK))
			fails("refused is", what);
}

/* ------------------------------------------------------------ arrangements */

static void
two(void)
{
	end_open(&a, DRV);
	asks(&a, binding('a', 0), T_BIND_ACK);
	end_open(&b, DRV);
	asks(&b, binding('b', 1), T_BIND_ACK);
	end_open(&third, DRV);
}

static void
called(void)
{
	two();
	asks(&a, calling('b'), T_OK_ACK);
	if (next(&b, "no call comes") != T_CONN_IND)
		fails("instead of a call comes", end_buf[0]);
}

static void
joined(void)
{
	called();
	asks(&b, accepting(&third), T_OK_ACK);
	if (next(&a, "no T_CONN_CON comes") != T_CONN_CON)
		fails("instead of T_CONN_CON comes", end_buf[0]);
}

static void
binds(void)
{
	two();
	asked_ = &third;
	reqlen_ = binding('c', 0);
}

static void
unbinds(void)
{
	two();
	asked_ = &a;
	req_.prim = T_UNBIND_REQ;
	reqlen_ = sizeof(t_scalar_t);
}

static void
calls(void)
{
	two();
	asked_ = &a;
	reqlen_ = calling('b');
}

static void
accepts(void)
{
	called();
	asked_ = &b;
	reqlen_ = accepting(&third);
}

static void
accepts_itself(void)
{
	called();
	asked_ = &b;
	reqlen_ = accepting(&b);
}

static void
refuses(void)
{
	called();
	asked_ = &b;
	reqlen_ = leaving(seq_);
}

static void
withdraws(void)
{
	called();
	asked_ = &a;
	reqlen_ = leaving(-1);
}

static void
disconnects(void)
{
	joined();
	asked_ = &a;
	reqlen_ = leaving(-1);
}

static void
releases(void)
{
	joined();
	asked_ = &a;
	req_.prim = T_ORDREL_REQ;
	reqlen_ = sizeof(t_scalar_t);
}

static void
releases_last(void)
{
	joined();
	req_.prim = T_ORDREL_REQ;
	end_put(&third, &req_, sizeof(t_scalar_t));
	if (next(&a, "no release comes") != T_ORDREL_IND)
		fails("instead of a release comes", end_buf[0]);
	asked_ = &a;
	req_.prim = T_ORDREL_REQ;
	reqlen_ = sizeof(t_scalar_t);
}

/* ------------------------------------------------------------------- a run */

static void
is_killed(void *arg)
{
	struct str_strbuf ctl = {(int)reqlen_, (int)reqlen_, req_.bytes};
	struct host_call hc = end_call(asked_);
	struct str_head *sd = str_file_head(asked_->f);

	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(asked_->f),
		str_file_gen(asked_->f)));
	sim_fuse((uint64_t)(uintptr_t)arg);
	T_EQ(str_head_putmsg(sd, &hc, &ctl, NULL, -1, 0), 0);
	left_ = sim_fuse_left();
	sim_fuse(0);
	host_leave();
}

/*
 * The state of @e.  A Stream head drops an answer when an earlier one has not
 * been read, for example that to the killed task's request.  So this function
 * reads all primitives, and requests the state again.
 */
static t_scalar_t
state_of(struct end *e)
{
	const t_scalar_t ask = T_INFO_REQ;
	unsigned ms;
	long p;

	for (ms = 0; ms < PATIENT; ms++) {
		if (ms % 50 == 2)
			end_put(e, &ask, sizeof(ask));
		while ((p = end_get(e, end_buf, sizeof(end_buf))) != -1)
			if (p == T_CONN_IND)
				seq_ = ANSWER(T_conn_ind)->SEQ_number;
			else if (p == T_INFO_ACK)
				return ANSWER(T_info_ack)->CURRENT_state;
			else if (p == -2)
				fails("it has ended", p);
		sim_sleep(MS);
	}
	fails("its state is not told", -1);
	return -1;
}

/* Bring it to where it can be bound. */
static void
rests(struct end *e)
{
	t_scalar_t s = -1;
	unsigned i;
	long p;

	for (i = 0; i < TRIES; i++) {
		s = state_of(e);
		if (s == TS_UNBND)
			return;
		if (s == TS_IDLE)
			req_.prim = T_UNBIND_REQ;
		else
			(void)leaving(s == TS_WRES_CIND ? seq_ : -1);
		end_put(e, &req_, s == TS_IDLE ? sizeof(t_scalar_t) :
			sizeof(req_.discon));
		do
			p = next(e, "there is no way out of state");
		while (p != T_OK_ACK && p != T_ERROR_ACK);
		sim_sleep(MS);
	}
	fails("it stays in state", s);
}

static void
says(struct end *from, struct end *to)
{
	char text[8];
	struct str_strbuf ctl = {sizeof(end_buf), 0, (char *)end_buf};
	struct str_strbuf data = {4, 4, text}, out = {4, 4, text};
	struct host_call hc = end_call(from);
	struct str_head *sd = str_file_head(from->f);
	unsigned ms;
	int flags;
	long r;

	memcpy(text, "data", 4);
	T_EQ(host_enter(&hc), 0);
	T_TRUE(str_head_enter(sd, str_file_flags(from->f),
		str_file_gen(from->f)));
	T_EQ(str_head_putmsg(sd, &hc, NULL, &out, -1, 0), 0);
	host_leave();
	memset(text, 0, sizeof(text));
	sd = str_file_head(to->f);
	for (ms = 0;; ms++) {
		hc = end_call(to);
		flags = 0;
		T_EQ(host_enter(&hc), 0);
		T_TRUE(str_head_enter(sd, str_file_flags(to->f),
			str_file_gen(to->f)));
		r = str_head_getmsg(sd, &hc, &ctl, &data, NULL, &flags);
		host_leave();
		if (r != -EAGAIN)
			break;
		if (ms == PATIENT)
			fails("no data comes", 0);
		sim_sleep(MS);
	}
	if (r != 0 || ctl.len != -1 || data.len != 4)
		fails("instead of data comes", ctl.len > 0 ? end_buf[0] : r);
}

/* All that can be done with them. */
static void
are_of_use(void)
{
	rests(&a);
	rests(&b);
	rests(&third);
	asks(&b, binding('b', 1), T_BIND_ACK);
	asks(&a, binding('a', 0), T_BIND_ACK);
	asks(&third, binding('c', 0), T_BIND_ACK);
	asks(&a, calling('b'), T_OK_ACK);
	if (next(&b, "no call comes") != T_CONN_IND)
		fails("instead of a call comes", end_buf[0]);
	asks(&b, accepting(&third), T_OK_ACK);
	if (next(&a, "no T_CONN_CON comes") != T_CONN_CON)
		fails("instead of T_CONN_CON comes", end_buf[0]);
	says(&a, &third);
	says(&third, &a);
	asks(&a, leaving(-1), T_OK_ACK);
	if (next(&third, "the end is not told") != T_DISCON_IND)
		fails("instead of the end comes", end_buf[0]);
}

/* No call to the address of a closed endpoint reaches another endpoint, which
 * may use the same memory. */
static void
names_end(void)
{
	static const char name[] = "abc";
	struct end caller, other;
	unsigned i;

	end_open(&other, DRV);
	asks(&other, binding('d', 1), T_BIND_ACK);
	end_open(&caller, DRV);
	asks(&caller, binding('e', 0), T_BIND_ACK);
	for (i = 0; i < sizeof(name) - 1; i++) {
		asks(&caller, calling(name[i]), T_OK_ACK);
		if (next(&caller, "nothing comes of a call") != T_DISCON_IND)
			fails("a call ends with", end_buf[0]);
		if (end_get(&other, end_buf, sizeof(end_buf)) != -1)
			fails("a call for another comes, it is", end_buf[0]);
	}
	end_close(&caller);
	end_close(&other);
}

static void
all_close(void)
{
	end_close(&a);
	end_close(&b);
	end_close(&third);
}

/* Return: the points that were passed when @point is beyond the last. */
static uint64_t
run(void (*arrange)(void), uint64_t point)
{
	struct sim_stats st;
	uint64_t kmem;

	fx_begin_seed(point);
	sim_grain(0);
	point_ = point;
	joined();
	are_of_use();
	all_close();
	names_end();
	fx_keep(); /* what the driver keeps for ever */
	kmem = fx_in_use(STR_BLK_KMEM);
	arrange();
	left_ = 0;
	(void)sim_spawn("asker", is_killed, (void *)(uintptr_t)point);
	sim_sleep(MS / 1000);
	sim_stats(&st);
	/* the reaper comes first, or the other one does */
	if (st.kills != 0 && point % 2 == 0)
		sim_sleep(50 * MS);
	if (point % 3 != 0)
		are_of_use();
	all_close();
	sim_sleep(50 * MS);
	names_end();
	sim_sleep(200 * MS);
	if (fx_in_use(STR_BLK_KMEM) > kmem + 1)
		fails("more blocks of the driver's are left than",
			(long)kmem + 1);
	if (fx_messages() != 0)
		fails("messages are left:", (long)fx_messages());
	fx_keep();
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

static void
everywhere(const char *name, void (*arrange)(void))
{
	const char *only = getenv("SIM_POINT");
	uint64_t most, p, tried = 0, step;

	name_ = name;
	if (only != NULL) {
		(void)run(arrange, strtoull(only, NULL, 10));
		return;
	}
	most = run(arrange, 1u << 30);
	T_GT(most, 5u);
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step, tried++)
		(void)run(arrange, p);
	fprintf(stderr, "# %s: %llu of %llu points\n", name,
		(unsigned long long)tried, (unsigned long long)most);
}

#define ARRANGEMENT(name)						\
	T_CASE_TIMEOUT(killed_as_it_##name, 300)			\
	{								\
		(void)t;						\
		everywhere(#name, name);				\
	}

ARRANGEMENT(binds)
ARRANGEMENT(unbinds)
ARRANGEMENT(calls)
ARRANGEMENT(accepts)
ARRANGEMENT(accepts_itself)
ARRANGEMENT(refuses)
ARRANGEMENT(withdraws)
ARRANGEMENT(disconnects)
ARRANGEMENT(releases)
ARRANGEMENT(releases_last)

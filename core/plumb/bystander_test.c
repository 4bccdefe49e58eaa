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
#include <sys/tihdr.h>
#undef T_NULL
#undef T_UNUSED
#include "../../drv/drvfix.h"
#include <sys/bufmod.h>
#include <sys/loop.h>
#undef LOOP_SET
#include <sys/LiS/loop.h>
#include <sys/mux.h>
#include <sys/strsun.h>
#include <sys/stropts.h>

extern const struct str_builtin str_drv_spx, str_drv_loop, str_drv_echo,
	str_drv_mux, str_drv_minimux, str_drv_ticotsor;

#define RUNS 250u
#define N 40u	      /* messages; what comes first fills the sink */
#define MS 1000000ull
#define PATIENT 300u  /* ms of virtual time */

static struct fx_pipe pipe_;
static struct dv a, b;
static struct {
	struct fx_pipe pipe;
	queue_t *top, *drv;
} low;

static struct fx_pipe *run_[2]; /* where services run */
static queue_t *from_;		/* messages are put here */
static queue_t *sink_;		/* "store", or NULL: ... */
static struct fx_pipe *head_;	/* ... the head of its end 0 */
static bool fill_;		/* they wait only when the sink is full */
static bool kept_;		/* the reaper finds a lock taken for a while */
static void (*done_)(void);
static unsigned band_;
static const char *name_;
static uint64_t point_;

/* ----------------------------------------------------------- arrangements */

static void
modules(const char *lower, const char *upper, bool head)
{
	fx_pipe(&pipe_);
	from_ = fx_push(&pipe_, 0, lower);
	if (upper != NULL)
		(void)fx_push(&pipe_, 0, upper);
	sink_ = head ? NULL : fx_push(&pipe_, 0, "store");
	head_ = &pipe_;
	run_[0] = &pipe_;
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
	kept_ = true;
}

static void
with_band(void)
{
	modules("srvmod", NULL, false);
	band_ = 2;
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
	a.pipe = pipe_;
	a.rq = from_;
	a.above = sink_;
	T_EQ(dv_str(&a, SBIOCSFLAGS, &flags, sizeof(flags)), 0);
	T_EQ(dv_str(&a, SBIOCSCHUNK, &none, sizeof(none)), 0);
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

static void
two_streams(void)
{
	from_ = WR(a.rq);
	sink_ = b.above;
	run_[0] = &a.pipe;
	run_[1] = &b.pipe;
	fill_ = true;
}

static void
with_spx(void)
{
	uint32_t tok;
	mblk_t *mp;

	dv_driver(&str_drv_spx);
	T_EQ(dv_open(&a, "spx", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&b, "spx", 0, CLONEOPEN), 0);
	tok = (uint32_t)(uintptr_t)b.rq;
	mp = fx_type(M_PROTO, "four", 0);
	memcpy(mp->b_rptr, &tok, sizeof(tok));
	dv_down(&a, mp);
	two_streams();
}

static void
with_loop(void)
{
	int minor = 2;

	dv_driver(&str_drv_loop);
	T_EQ(dv_open(&a, "loop", 1, DRVOPEN), 0);
	T_EQ(dv_open(&b, "loop", 2, DRVOPEN), 0);
	T_EQ(dv_str(&a, LOOP_SET, &minor, sizeof(minor)), 0);
	two_streams();
}

static void
with_echo(void)
{
	dv_driver(&str_drv_echo);
	T_EQ(dv_open(&a, "echo", 1, DRVOPEN), 0);
	from_ = WR(a.rq);
	sink_ = a.above;
	run_[0] = &a.pipe;
	fill_ = true;
}

static struct linkblk lb_;

static void
unlinks(void)
{
	T_EQ(dv_str(&a, I_UNLINK, &lb_, sizeof(lb_)), 0);
}

static void
multiplexor(const struct str_builtin *drv)
{
	char lower[16];

	dv_driver(drv);
	T_EQ(dv_open(&a, drv->name, 1, DRVOPEN), 0);
	snprintf(lower, sizeof(lower), "%.4s.low", drv->name);
	memset(&low, 0, sizeof(low));
	fx_pipe(&low.pipe);
	low.drv = fx_push(&low.pipe, 0, "store");
	low.top = fx_push(&low.pipe, 0, lower);
	lb_ = (struct linkblk){.l_qtop = WR(a.rq), .l_qbot = WR(low.top),
		.l_index = 11};
	T_EQ(dv_str(&a, I_LINK, &lb_, sizeof(lb_)), 0);
	run_[0] = &a.pipe;
	run_[1] = &low.pipe;
	fill_ = true;
	done_ = unlinks;
}

static void
with_mux_down(void)
{
	multiplexor(&str_drv_mux);
	from_ = WR(a.rq);
	sink_ = WR(low.drv);
}

static void
with_mux_up(void)
{
	multiplexor(&str_drv_mux);
	from_ = low.top;
	sink_ = a.above;
}

static void
with_minimux(void)
{
	multiplexor(&str_drv_minimux);
	from_ = WR(a.rq);
	sink_ = WR(low.drv);
}

#define PRIM(mp_, type_) ((struct type_ *)(void *)(mp_)->b_rptr)

static void
asks(struct dv *d, const void *req, size_t len)
{
	mblk_t *mp = allocb(len, BPRI_MED);

	T_NOTNULL(mp);
	memcpy(mp->b_wptr, req, len);
	mp->b_wptr += len;
	DB_TYPE(mp) = M_PROTO;
	dv_down(d, mp);
}

static mblk_t *
answer(struct dv *d, int prim)
{
	mblk_t *mp;

	do
		mp = dv_up(d);
	while (mp != NULL && DB_TYPE(mp) == M_FLUSH);
	T_NOTNULL(mp);
	T_EQ(PRIM(mp, T_ok_ack)->PRIM_type, prim);
	return mp;
}

static mblk_t *
binds(struct dv *d, char name, unsigned qlen)
{
	struct {
		struct T_bind_req r;
		char name;
	} m = {{T_BIND_REQ, 1, sizeof(m.r), qlen}, name};

	T_EQ(dv_open(d, "ticotsor", 0, CLONEOPEN), 0);
	asks(d, &m, sizeof(m.r) + 1);
	return answer(d, T_BIND_ACK);
}

/* What is bound once stays in the table of names. */
static void
with_ticotsord(void)
{
	struct {
		struct T_conn_req r;
		unsigned char addr[64];
	} call = {.r = {T_CONN_REQ, 0, sizeof(call.r), 0, 0}};
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	struct T_conn_res res = {T_CONN_RES, 0, 0, 0, 0};
	mblk_t *mp;

	dv_driver(&str_drv_ticotsor);
	freemsg(binds(&a, 'a', 0));
	dv_close(&a);
	freemsg(binds(&a, 'b', 1));
	dv_close(&a);
	fx_keep();
	freemsg(binds(&a, 'a', 0));
	mp = binds(&b, 'b', 1);
	call.r.DEST_length = PRIM(mp, T_bind_ack)->ADDR_length;
	memcpy(call.addr, mp->b_rptr + PRIM(mp, T_bind_ack)->ADDR_offset,
		(size_t)call.r.DEST_length);
	freemsg(mp);
	asks(&a, &call, sizeof(call.r) + (size_t)call.r.DEST_length);
	freemsg(answer(&a, T_OK_ACK));
	mp = answer(&b, T_CONN_IND);
	res.SEQ_number = PRIM(mp, T_conn_ind)->SEQ_number;
	freemsg(mp);
	asks(&b, &cap, sizeof(cap));
	mp = answer(&b, T_CAPABILITY_ACK);
	res.ACCEPTOR_id = PRIM(mp, T_capability_ack)->ACCEPTOR_id;
	freemsg(mp);
	asks(&b, &res, sizeof(res));
	freemsg(answer(&b, T_OK_ACK));
	freemsg(answer(&a, T_CONN_CON));
	two_streams();
	/* the transport looks at the head above it */
	T_EQ(fx_pop(&b.pipe, 0), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QHIWAT, 0, 100), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QLOWAT, 0, 20), 0);
	head_ = &b.pipe;
	sink_ = NULL;
}

/* ------------------------------------------------------------------- a run */

/* Every fifth is of two blocks. */
static mblk_t *
numbered(unsigned i)
{
	char text[16];
	mblk_t *mp;

	snprintf(text, sizeof(text), "%08u", i);
	mp = fx_msg(i % 5 == 0 ? text + 4 : text, band_);
	if (i % 5 == 0) {
		mblk_t *first;

		text[4] = '\0';
		first = fx_msg(text, band_);
		linkb(first, mp);
		mp = first;
	}
	return mp;
}

static long
next(void)
{
	char text[16];
	mblk_t *mp;
	long n;

	if (sink_ != NULL) {
		mp = getq(sink_);
		while (mp != NULL && DB_TYPE(mp) >= QPCTL) {
			freemsg(mp);
			mp = getq(sink_);
		}
		if (mp == NULL)
			return -1;
		n = (long)msgsize(mp);
		snprintf(text, sizeof(text), "%s", fx_text(mp));
		freemsg(mp);
	} else {
		head_->hc[0].fflags = STR_O_NONBLOCK | 2;
		/* what the reader enables is left to the bystander */
		host_tls.busy = 1;
		n = fx_read(head_, 0, text, 8);
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
	if (str_lock(&from_->q_klock))
		(void)str_queue_repair(from_);
	sim_sleep(8 * MS);
	str_unlock(&from_->q_klock);
	host_leave();
}

static void
stands_by(void *arg)
{
	struct host_call hc = {.fd = -1};
	unsigned i;

	T_EQ(host_enter(&hc), 0);
	sim_fuse((uint64_t)(uintptr_t)arg);
	for (i = 0; i < 2 && run_[i] != NULL; i++)
		(void)fx_run(run_[i]);
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
	run_[0] = run_[1] = NULL;
	band_ = 0;
	fill_ = kept_ = false;
	done_ = NULL;
	/* streams of drivers, which enable each other's queues */
	str_store(str_root(STR_ROOT_NDEVS), (uint64_t)1);
	point_ = point;
	arrange();
	(void)fx_run(run_[0]);
	for (i = 0; i < N; i++)
		put(from_, numbered(i));
	got_ = 0;
	if (fill_)
		take();
	left_ = 0;
	(void)sim_spawn("bystander", stands_by, (void *)(uintptr_t)point);
	sim_sleep(MS / 1000);
	if (kept_)
		(void)sim_spawn("keeper", keeps, NULL);
	sim_stats(&st);
	/* the reaper comes first, or the survivor does */
	if (st.kills != 0 && point % 2 == 0)
		sim_sleep(30 * MS);
	for (ms = 0; ms < PATIENT && got_ < N; ms++) {
		take();
		for (i = 0; i < 2 && run_[i] != NULL; i++)
			(void)fx_run(run_[i]);
		take();
		sim_sleep(MS);
	}
	if (got_ != N)
		T_FAIL("%s, point %llu: %u of %u arrived", name_,
			(unsigned long long)point, got_, N);
	sim_sleep(30 * MS);
	take();
	if (done_ != NULL)
		done_();
	fx_end();
	return st.kills != 0 ? 0 : point - left_;
}

static void
everywhere(const char *name, void (*arrange)(void))
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
	step = getenv("SIM_ALL") != NULL ? 1 : STR_MAX(most / RUNS, 1u) | 1;
	for (p = 1; p <= most; p += step, tried++)
		(void)run(arrange, p);
	fprintf(stderr, "# %s: %llu of %llu points\n", name,
		(unsigned long long)tried, (unsigned long long)most);
}

#define ARRANGEMENT(name)						\
	T_CASE_TIMEOUT(killed_##name, 300)				\
	{								\
		(void)t;						\
		everywhere(#name, name);				\
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
ARRANGEMENT(with_spx)
ARRANGEMENT(with_loop)
ARRANGEMENT(with_echo)
ARRANGEMENT(with_mux_down)
ARRANGEMENT(with_mux_up)
ARRANGEMENT(with_minimux)
ARRANGEMENT(with_ticotsord)

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Transport endpoints where only a test can arrange things: when there is no
 * memory who sleeps is woken; what goes up is in the order in which it was.
 */
#include <sys/tihdr.h>
#include <sys/strsun.h>
#include <str/tpi.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "drvfix.h"

extern const struct str_builtin str_drv_ticotsor;

static struct dv a, b;
static mblk_t *hoard;

#define PRIM(mp_, type_) ((struct type_ *)(void *)(mp_)->b_rptr)

static mblk_t *
request(const void *req, size_t len)
{
	mblk_t *mp = allocb(len, BPRI_MED);

	T_NOTNULL(mp);
	memcpy(mp->b_wptr, req, len);
	mp->b_wptr += len;
	DB_TYPE(mp) = M_PROTO;
	return mp;
}

static mblk_t *
want(struct dv *d, int prim)
{
	mblk_t *mp;

	do
		mp = dv_up(d);
	while (mp != NULL && DB_TYPE(mp) == M_FLUSH);
	T_NOTNULL(mp);
	T_EQ(PRIM(mp, T_ok_ack)->PRIM_type, prim);
	return mp;
}

#define OLD 0x5ca1ab1e0ddba115ull

/* Leave old words on the stack, where the next calls have their variables. */
static STR_NOINLINE void
scribble(void)
{
	volatile uint64_t old[4000];
	unsigned i;

	for (i = 0; i < STR_ARRAY_LEN(old); i++)
		old[i] = OLD;
}

/* Old words in the endpoint of @d. */
static unsigned
old_words(struct dv *d)
{
	const uint64_t *w = d->rq->q_ptr;
	unsigned i, n = 0;

	for (i = 0; i < sizeof(struct tpi) / sizeof(*w); i++)
		n += w[i] == OLD;
	return n;
}

static void
bind_(struct dv *d, char name, unsigned qlen)
{
	struct {
		struct T_bind_req r;
		char name;
	} m = {{T_BIND_REQ, 1, sizeof(m.r), qlen}, name};

	mblk_t *mp = request(&m, sizeof(m.r) + 1);

	scribble();
	dv_down(d, mp);
}

/* What is bound once stays in the table of names. */
static void
named(void)
{
	T_EQ(dv_open(&a, "ticotsor", 0, CLONEOPEN), 0);
	bind_(&a, 'a', 0);
	freemsg(want(&a, T_BIND_ACK));
	dv_close(&a);
	T_EQ(dv_open(&a, "ticotsor", 0, CLONEOPEN), 0);
	bind_(&a, 'b', 0);
	freemsg(want(&a, T_BIND_ACK));
	dv_close(&a);
	fx_keep();
}

/* @a calls @b: the number of the indication, and the id of @b. */
static struct T_conn_res
called(struct t *t)
{
	struct {
		struct T_conn_req r;
		unsigned char addr[64];
	} call = {.r = {T_CONN_REQ, 0, sizeof(call.r), 0, 0}};
	struct T_capability_req cap = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	struct T_conn_res res = {T_CONN_RES, 0, 0, 0, 0};
	mblk_t *mp;

	fx_begin(t);
	dv_driver(&str_drv_ticotsor);
	named();
	T_EQ(dv_open(&a, "ticotsor", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&b, "ticotsor", 0, CLONEOPEN), 0);
	bind_(&a, 'a', 0);
	freemsg(want(&a, T_BIND_ACK));
	bind_(&b, 'b', 1);
	mp = want(&b, T_BIND_ACK);
	call.r.DEST_length = PRIM(mp, T_bind_ack)->ADDR_length;
	T_LE(call.r.DEST_length, (int)sizeof(call.addr));
	memcpy(call.addr, mp->b_rptr + PRIM(mp, T_bind_ack)->ADDR_offset,
		(size_t)call.r.DEST_length);
	freemsg(mp);
	dv_down(&a, request(&call,
		sizeof(call.r) + (size_t)call.r.DEST_length));
	freemsg(want(&a, T_OK_ACK));
	mp = want(&b, T_CONN_IND);
	res.SEQ_number = PRIM(mp, T_conn_ind)->SEQ_number;
	freemsg(mp);
	dv_down(&b, request(&cap, sizeof(cap)));
	mp = want(&b, T_CAPABILITY_ACK);
	res.ACCEPTOR_id = PRIM(mp, T_capability_ack)->ACCEPTOR_id;
	freemsg(mp);
	return res;
}

/* @a and @b, connected; @b was the listener. */
static void
connected(struct t *t)
{
	struct T_conn_res res = called(t);
	mblk_t *mp = request(&res, sizeof(res));

	scribble();
	dv_down(&b, mp);
	freemsg(want(&b, T_OK_ACK));
	freemsg(want(&a, T_CONN_CON));
}

/*
 * The reaper takes an old word in the memory of a driver for a pointer, and keeps
 * the message to which it would point.
 */
T_CASE(an_endpoint_has_no_old_words_of_the_stack)
{
	connected(t);
	T_EQ(old_words(&a), 0u);
	T_EQ(old_words(&b), 0u);
	dv_close(&a);
	dv_close(&b);
}

/* All memory there is. */
static void
take_all(void)
{
	static const size_t size[] = {65000, 4000, 1000, 300, 60, 1};
	unsigned i;
	mblk_t *mp;

	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++)
		while ((mp = allocb(size[i], BPRI_HI)) != NULL) {
			mp->b_cont = hoard;
			hoard = mp;
		}
}

static void
give_back(void)
{
	mblk_t *mp;

	while ((mp = hoard) != NULL) {
		hoard = mp->b_cont;
		mp->b_cont = NULL;
		freeb(mp);
	}
}

T_CASE(what_there_was_no_memory_to_say_is_said_when_there_is)
{
	struct T_ordrel_req rel = {T_ORDREL_REQ};
	struct T_discon_req dis = {T_DISCON_REQ, -1};
	mblk_t *first, *second;

	connected(t);
	first = request(&rel, sizeof(rel));
	second = request(&dis, sizeof(dis));
	take_all();
	dv_down(&a, first);
	dv_run(&b);
	take_all(); /* the request's own block */
	dv_down(&a, second);
	take_all();
	dv_run(&b);
	give_back();
	qenable(b.rq); /* as the timer does */
	qenable(a.rq);
	freemsg(want(&b, T_ORDREL_IND));
	freemsg(want(&b, T_DISCON_IND));
	freemsg(want(&a, T_OK_ACK));
	dv_close(&a);
	dv_close(&b);
}

/* A unit's part, of one digit, that is not the last. */
static mblk_t *
part(unsigned i)
{
	struct T_data_req dr = {T_DATA_REQ, 1};
	mblk_t *mp = request(&dr, sizeof(dr));
	char text[2] = {(char)('0' + i % 10), '\0'};

	linkb(mp, fx_msg(text, 0));
	return mp;
}

/*
 * What waits to be sent at a close comes before the release.  Without memory for
 * a part of it the connection is aborted.  A close needs memory only for a block
 * that is shared, as with a server that was killed.
 */
T_CASE(a_close_without_memory_drops_no_unit_before_the_release)
{
	struct T_ordrel_req rel = {T_ORDREL_REQ};
	unsigned n, i, most;
	mblk_t *mp, *dup;

	connected(t);
	for (n = 0; WR(a.rq)->q_first == NULL; n++)
		dv_down(&a, part(n));
	most = n; /* and the one that waits */
	dv_down(&a, part(n++));
	dup = dupb(WR(a.rq)->q_first->b_next);
	T_NOTNULL(dup);
	dv_down(&a, part(n++));
	dv_down(&a, request(&rel, sizeof(rel)));
	take_all();
	dv_close(&a);
	give_back();
	freeb(dup);
	qenable(b.rq);
	for (i = 0; i < most; i++) {
		mp = want(&b, T_DATA_IND);
		T_EQ(PRIM(mp, T_data_ind)->MORE_flag, 1);
		T_NOTNULL(mp->b_cont);
		T_EQ(*mp->b_cont->b_rptr, (unsigned char)('0' + i % 10));
		freemsg(mp);
	}
	freemsg(want(&b, T_DISCON_IND));
	dv_close(&b);
}

/*
 * A listener that is refused because who called has gone looks for the event
 * that tells it so: it must be there by then.
 */
T_CASE(an_event_goes_up_before_the_answer_that_it_explains)
{
	struct T_discon_req dis = {T_DISCON_REQ, -1};
	struct T_conn_res res = called(t);
	mblk_t *mp;

	put(WR(a.rq), request(&dis, sizeof(dis)));
	put(WR(b.rq), request(&res, sizeof(res)));
	/* in the order in which it goes; above high priority comes first */
	mp = b.rq->q_first;
	T_NOTNULL(mp);
	T_EQ(PRIM(mp, T_ok_ack)->PRIM_type, T_DISCON_IND);
	T_NOTNULL(mp->b_next);
	T_EQ(PRIM(mp->b_next, T_ok_ack)->PRIM_type, T_ERROR_ACK);
	dv_run(&a);
	dv_run(&b);
	mp = want(&b, T_ERROR_ACK);
	T_EQ(DB_TYPE(mp), M_PCPROTO);
	T_EQ(PRIM(mp, T_error_ack)->ERROR_prim, T_CONN_RES);
	T_EQ(PRIM(mp, T_error_ack)->TLI_error, TOUTSTATE);
	freemsg(mp);
	freemsg(want(&b, T_DISCON_IND));
	freemsg(want(&a, T_OK_ACK));
	dv_close(&a);
	dv_close(&b);
}

static void
gives_up(void *arg)
{
	struct T_discon_req dis = {T_DISCON_REQ, -1};

	(void)arg;
	sim_sleep(1000000);
	dv_down(&a, request(&dis, sizeof(dis)));
}

/* Longer than who looks after the dead waits for anybody. */
static void
plumbs(void *arg)
{
	str_plumb_lock(arg);
	sim_sleep(1000000000);
	str_plumb_unlock(arg);
}

/*
 * A caller that disconnects tells a peer whose stream it cannot hold, because it is
 * being plumbed, and dies of it: what it has said is not given back as its own
 * while it stands on that stream's queue.
 */
T_CASE(what_the_dead_said_to_one_who_is_plumbed_stays_said)
{
	connected(t);
	(void)sim_spawn("plumber", plumbs, b.pipe.pl);
	(void)sim_spawn("caller", gives_up, NULL);
	sim_crash_at("queue:linked", 1);
	T_EQ(sim_run(), 0);
	T_NOTNULL(b.rq->q_first);
	T_NE(str_load(&str_mdb_of_m(b.rq->q_first)->blk.state), STR_BLK_FREE);
	qenable(b.rq);
	freemsg(want(&b, T_DISCON_IND));
	dv_close(&a);
	dv_close(&b);
}

/*
 * A caller is answered, though another thread unbinds, or disconnects, before
 * that has gone up: or it would sleep for ever.
 */
T_CASE(an_answer_outlives_the_data_that_is_flushed)
{
	struct T_info_req info = {T_INFO_REQ};
	struct T_unbind_req unbind = {T_UNBIND_REQ};
	mblk_t *mp;

	fx_begin(t);
	dv_driver(&str_drv_ticotsor);
	named();
	T_EQ(dv_open(&a, "ticotsor", 0, CLONEOPEN), 0);
	bind_(&a, 'a', 0);
	freemsg(want(&a, T_BIND_ACK));
	/* the second comes before the service procedure has run */
	put(WR(a.rq), request(&info, sizeof(info)));
	put(WR(a.rq), request(&unbind, sizeof(unbind)));
	dv_run(&a);
	mp = dv_up(&a);
	T_NOTNULL(mp);
	T_EQ(DB_TYPE(mp), M_FLUSH);
	freemsg(mp);
	freemsg(want(&a, T_INFO_ACK));
	freemsg(want(&a, T_OK_ACK));
	dv_close(&a);
}

/* ---------------------------------------------------------------- a tick */

/* What waits on the write queue of @a is served by a tick only. */
static void
waits(void)
{
	struct T_info_req info = {T_INFO_REQ};

	noenable(WR(a.rq));
	T_EQ(putq(WR(a.rq), request(&info, sizeof(info))), 1);
}

static void
timers_run(void)
{
	struct host_call hc = {.fd = -1};

	T_EQ(host_enter(&hc), 0);
	(void)str_timer_run(host_now());
	host_leave();
}

/* Requests come more often than the thread of the timers. */
T_CASE(a_tick_that_is_late_is_not_put_off)
{
	fx_begin(t);
	dv_driver(&str_drv_ticotsor);
	named();
	T_EQ(dv_open(&a, "ticotsor", 0, CLONEOPEN), 0);
	waits();
	tpi_retry(a.rq->q_ptr);
	sim_advance(1000000000 / HZ);
	tpi_retry(a.rq->q_ptr);
	timers_run();
	freemsg(want(&a, T_INFO_ACK));
	/* the next one is to come at the end of its tick */
	waits();
	tpi_retry(a.rq->q_ptr);
	timers_run();
	T_TRUE(dv_up(&a) == NULL);
	sim_advance(1000000000 / HZ);
	timers_run();
	freemsg(want(&a, T_INFO_ACK));
	dv_close(&a);
}

/* ---------------------------------------------------------------- a close */

static void
serves(void *arg)
{
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	(void)fx_run(&a.pipe);
	host_leave();
}

static void
plumbs_briefly(void *arg)
{
	str_plumb_lock(arg);
	sim_sleep(200000000);
	str_plumb_unlock(arg);
}

/* What the head above @b has next: a digit; -1: nothing, -2: a primitive. */
static int
reads_one(void)
{
	char c;
	long n;

	b.pipe.hc[0].fflags = STR_O_NONBLOCK | 2;
	host_tls.busy = 1; /* the writer's queue is not run */
	n = fx_read(&b.pipe, 0, &c, 1);
	host_tls.busy = 0;
	if (n == -EAGAIN || n == -EBADMSG)
		return n == -EAGAIN ? -1 : -2;
	T_EQ(n, 1);
	return c - '0';
}

/*
 * A server of the write queue is killed at @point.  @ns later the stream is
 * closed, while the other one's plumbing is being changed.  Return: how long
 * the close takes.
 */
static uint64_t
closes_after(struct t *t, const char *point, uint64_t ns)
{
	unsigned n, i;
	char text[2] = "0";
	uint64_t took;

	connected(t);
	T_EQ(fx_pop(&b.pipe, 0), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QHIWAT, 0, 4), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QLOWAT, 0, 2), 0);
	for (n = 0; WR(a.rq)->q_first == NULL; n++) {
		T_LT(n, 9u);
		text[0] = (char)('0' + n);
		dv_down(&a, fx_msg(text, 0));
	}
	for (i = 0; i + 1 < n; i++)
		T_EQ(reads_one(), (int)i);
	T_EQ(reads_one(), -1);
	qenable(WR(a.rq));
	sim_crash_at(point, 1);
	(void)sim_spawn("server", serves, NULL);
	sim_sleep(ns);
	(void)sim_spawn("plumber", plumbs_briefly, b.pipe.pl);
	sim_sleep(1000);
	took = host_now();
	dv_close(&a);
	took = host_now() - took;
	T_EQ(sim_run(), 0);
	qenable(b.rq);
	dv_run(&b);
	T_EQ(reads_one(), (int)n - 1);
	T_EQ(reads_one(), -2); /* T_DISCON_IND */
	T_EQ(fx_pop(&b.pipe, 0), 0);
	return took;
}

/* The message has arrived, and the server is reaped, as before most closes. */
T_CASE(a_close_hands_nothing_over_that_has_arrived)
{
	(void)closes_after(t, "tpi:served", 100000000);
}

/*
 * The server is not reaped yet.  The close waits for a millisecond between two
 * looks; it also waits for the plumber, if that thread runs before it.
 */
T_CASE(a_close_waits_until_it_is_known_what_has_arrived)
{
	uint64_t took = closes_after(t, "headq:counted", 1000);

	T_GE(took, 1000000u);
	T_LT(took, 900000000u);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The arrangements in which a process is killed while it runs the service
 * procedures of drivers that other processes use. bystander_test.c has the
 * test.
 *
 * An ioctl whose answer is held by a process when it is killed fails with EIO:
 * so one answer of `sad' may be missing.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include "bystander.h"
#include <sys/log.h>
#include <sys/loop.h>
#undef LOOP_SET
#include <sys/LiS/loop.h>
#include <sys/mux.h>
#include <sys/sad.h>
#include <sys/strlog.h>
#include <sys/strsun.h>
#include <str/apush.h>
#include <str/log.h>

extern const struct str_builtin str_drv_spx, str_drv_loop, str_drv_echo,
	str_drv_mux, str_drv_minimux, str_drv_ticotsor, str_drv_ticlts,
	str_drv_log, str_drv_sad, str_drv_ip, str_drv_udp2;

static struct dv a, b;
static struct {
	struct fx_pipe pipe;
	queue_t *top, *drv;
} low;

static void
two_streams(void)
{
	arr.from = WR(a.rq);
	arr.sink = b.above;
	arr.run[0] = &a.pipe;
	arr.run[1] = &b.pipe;
	arr.fill = true;
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
	arr.from = WR(a.rq);
	arr.sink = a.above;
	arr.run[0] = &a.pipe;
	arr.fill = true;
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
	arr.run[0] = &a.pipe;
	arr.run[1] = &low.pipe;
	arr.fill = true;
	arr.done = unlinks;
}

static void
with_mux_down(void)
{
	multiplexor(&str_drv_mux);
	arr.from = WR(a.rq);
	arr.sink = WR(low.drv);
}

static void
with_mux_up(void)
{
	multiplexor(&str_drv_mux);
	arr.from = low.top;
	arr.sink = a.above;
}

static void
with_minimux(void)
{
	multiplexor(&str_drv_minimux);
	arr.from = WR(a.rq);
	arr.sink = WR(low.drv);
}

/* ------------------------------------------------------------ connections */

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
binds(struct dv *d, const char *drv, char name, unsigned qlen)
{
	struct {
		struct T_bind_req r;
		char name;
	} m = {{T_BIND_REQ, 1, sizeof(m.r), qlen}, name};

	T_EQ(dv_open(d, drv, 0, CLONEOPEN), 0);
	asks(d, &m, sizeof(m.r) + 1);
	return answer(d, T_BIND_ACK);
}

/*
 * The messages end at the Stream head of b, whose water marks are low, and not
 * in a module: canputnext() of the transport examines the head's queue.
 */
static void
at_head(void)
{
	two_streams();
	T_EQ(fx_pop(&b.pipe, 0), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QHIWAT, 0, 100), 0);
	T_EQ(strqset(&b.pipe.sd[0]->qp->rq, QLOWAT, 0, 20), 0);
	arr.head = &b.pipe;
	arr.sink = NULL;
}

/* Bound addresses stay in the table of names. */
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
	freemsg(binds(&a, "ticotsor", 'a', 0));
	dv_close(&a);
	freemsg(binds(&a, "ticotsor", 'b', 1));
	dv_close(&a);
	fx_keep();
	freemsg(binds(&a, "ticotsor", 'a', 0));
	mp = binds(&b, "ticotsor", 'b', 1);
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
	at_head();
}

static void
with_ticotsord_in_two_steps(void)
{
	with_ticotsord();
	sim_two_steps(true);
}

/* ------------------------------------------------------------- datagrams */

static unsigned char peer_[64];
static size_t peerlen_;

static mblk_t *
datagram(unsigned i, mblk_t *mp)
{
	struct T_unitdata_req r = {T_UNITDATA_REQ, (t_scalar_t)peerlen_,
		sizeof(r), 0, 0};
	mblk_t *bp = allocb(128, BPRI_MED);

	(void)i;
	T_NOTNULL(bp);
	DB_TYPE(bp) = M_PROTO;
	memcpy(bp->b_wptr, &r, sizeof(r));
	memcpy(bp->b_wptr + sizeof(r), peer_, peerlen_);
	bp->b_wptr += sizeof(r) + peerlen_;
	linkb(bp, mp);
	return bp;
}

static mblk_t *
data_of(mblk_t *mp)
{
	mblk_t *bp;

	if (DB_TYPE(mp) != M_PROTO)
		return mp;
	bp = unlinkb(mp);
	freeb(mp);
	return bp;
}

static long
received(void)
{
	char ctl[128], text[16];
	struct str_strbuf c = {sizeof(ctl), 0, ctl}, d = {8, 0, text};
	int band = 0, flags = MSG_ANY;
	long r;

	b.pipe.hc[0].fflags = STR_O_NONBLOCK | 2;
	/* queues that the reader enables are left to the bystander */
	host_tls.busy = 1;
	r = fx_getmsg(&b.pipe, 0, &c, &d, &band, &flags);
	host_tls.busy = 0;
	if (r == -EAGAIN)
		return -1;
	T_EQ(r, 0);
	T_EQ(d.len, 8);
	text[8] = '\0';
	return strtol(text, NULL, 10);
}

static void
datagrams(void)
{
	at_head();
	arr.wrap = datagram;
	arr.next = received;
}

static void
is_peer(mblk_t *bound)
{
	struct T_bind_ack *ba = PRIM(bound, T_bind_ack);

	peerlen_ = (size_t)ba->ADDR_length;
	T_LE(peerlen_, sizeof(peer_));
	memcpy(peer_, bound->b_rptr + ba->ADDR_offset, peerlen_);
	freemsg(bound);
}

static void
with_ticlts(void)
{
	dv_driver(&str_drv_ticlts);
	freemsg(binds(&a, "ticlts", 'a', 0));
	dv_close(&a);
	freemsg(binds(&a, "ticlts", 'b', 0));
	dv_close(&a);
	fx_keep();
	freemsg(binds(&a, "ticlts", 'a', 0));
	is_peer(binds(&b, "ticlts", 'b', 0));
	datagrams();
}

/* This test stands in for the kernel: it accepts no data and has none. */
static long
takes_nothing(const struct ksock_msg *m)
{
	(void)m;
	T_FAIL("%s", "a datagram of the domain goes by the kernel");
	return -1;
}

static long
has_nothing(struct ksock_msg *m)
{
	(void)m;
	return -1;
}

static mblk_t *
binds_port(struct dv *d, uint16_t port)
{
	struct {
		struct T_bind_req r;
		struct sockaddr_in sin;
	} m = {{T_BIND_REQ, sizeof(m.sin), sizeof(m.r), 0},
		{.sin_family = AF_INET, .sin_port = htons(port),
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};

	T_EQ(dv_open(d, "udp2", 0, CLONEOPEN), 0);
	asks(d, &m, sizeof(m));
	return answer(d, T_BIND_ACK);
}

static void
with_udp2(void)
{
	sim_sock(takes_nothing, has_nothing);
	dv_driver(&str_drv_ip);
	dv_driver(&str_drv_udp2);
	freemsg(binds_port(&a, 1001));
	dv_close(&a);
	freemsg(binds_port(&a, 1002));
	dv_close(&a);
	fx_keep();
	freemsg(binds_port(&a, 1001));
	is_peer(binds_port(&b, 1002));
	datagrams();
}

/* The messages come from a module above the transport, not from its queue. */
static void
below_a_module(void)
{
	T_EQ(fx_pop(&a.pipe, 0), 0);
	arr.from = WR(fx_push(&a.pipe, 0, "srvmod"));
}

static void
with_ticlts_below_a_module(void)
{
	with_ticlts();
	below_a_module();
}

static void
with_udp2_below_a_module(void)
{
	with_udp2();
	below_a_module();
}

/* They wait in a module above the receiver, too, before they come to its head. */
static void
with_ticlts_below_two_modules(void)
{
	with_ticlts_below_a_module();
	(void)fx_push(&b.pipe, 0, "srvmod");
}

static void
with_udp2_below_two_modules(void)
{
	with_udp2_below_a_module();
	(void)fx_push(&b.pipe, 0, "srvmod");
}

/*
 * Another thread changes the receiver's plumbing: the sender's queue waits for a
 * tick, and after that for another one.
 */
static void
plumbs(void *arg)
{
	struct str_plumb *pl = b.pipe.sd[0]->plumb;
	struct host_call hc = {.fd = -1};

	(void)arg;
	T_EQ(host_enter(&hc), 0);
	str_plumb_lock(pl);
	sim_sleep(45000000);
	str_plumb_unlock(pl);
	host_leave();
}

static void
behind_a_plumber(void)
{
	(void)sim_spawn("plumber", plumbs, NULL);
	sim_sleep(10000);
	arr.ticks = true;
	arr.first = 2 * RUNS; /* what follows is as without a plumber */
}

static void
with_ticlts_behind_a_plumber(void)
{
	with_ticlts();
	behind_a_plumber();
}

static void
with_udp2_behind_a_plumber(void)
{
	with_udp2();
	behind_a_plumber();
}

static void
with_ticlts_in_two_steps(void)
{
	with_ticlts();
	sim_two_steps(true);
}

static void
with_udp2_in_two_steps(void)
{
	with_udp2();
	sim_two_steps(true);
}

/* ------------------------------------------------------------------- log */

static mblk_t *
logged(mblk_t *mp)
{
	mp = data_of(mp);
	/* strlog() stores the text with its NUL, which is dropped here */
	if (mp != NULL && DB_TYPE(mp) == M_DATA)
		mp->b_wptr--;
	return mp;
}

static void
with_log(void)
{
	struct log_ctl lc = {.flags = SL_TRACE};

	dv_driver(&str_drv_log);
	(void)str_log_put(&lc, "", 0); /* makes the ring */
	fx_keep();
	T_EQ(dv_open(&a, "log", 0, CLONEOPEN), 0);
	T_EQ(dv_open(&b, "log", 0, CLONEOPEN), 0);
	T_EQ(dv_str(&b, I_CONSLOG, NULL, 0), 0);
	two_streams();
	arr.unwrap = logged;
}

/* ------------------------------------------------------------------- sad */

/* A command, and its number. */
static mblk_t *
command(unsigned i, mblk_t *mp)
{
	struct strapush ap = {.sap_major = STR_MAJOR_SAD, .sap_minor = 5};

	freemsg(mp);
	mp = dv_ioctl_msg(SAD_GAP, sizeof(ap), &ap, sizeof(ap));
	((struct iocblk *)(void *)mp->b_rptr)->ioc_id = i;
	return mp;
}

static mblk_t *
acknowledged(mblk_t *mp)
{
	char text[16];

	if (DB_TYPE(mp) != M_IOCACK)
		T_FAIL("type %u", (unsigned)DB_TYPE(mp));
	snprintf(text, sizeof(text), "%08u",
		(unsigned)((struct iocblk *)(void *)mp->b_rptr)->ioc_id);
	freemsg(mp);
	return fx_msg(text, 0);
}

/* It has no service procedure: the module above it has. */
static void
with_sad(void)
{
	struct strapush ap = {.sap_cmd = SAP_ONE, .sap_major = STR_MAJOR_SAD,
		.sap_minor = 5, .sap_npush = 1, .sap_list = {"nullmod"}};

	dv_driver(&str_drv_sad);
	(void)str_apush_next(0, &(struct strapush){0});
	fx_keep();
	T_EQ(dv_open(&a, "sad", 0, DRVOPEN), 0);
	T_EQ(dv_str(&a, SAD_SAP, &ap, sizeof(ap)), 0);
	T_EQ(fx_pop(&a.pipe, 0), 0);
	arr.from = WR(fx_push(&a.pipe, 0, "srvmod"));
	arr.sink = fx_push(&a.pipe, 0, "store");
	arr.run[0] = &a.pipe;
	arr.wrap = command;
	arr.unwrap = acknowledged;
	arr.lost = 1;
}

ARRANGEMENT(with_spx)
ARRANGEMENT(with_loop)
ARRANGEMENT(with_echo)
ARRANGEMENT(with_mux_down)
ARRANGEMENT(with_mux_up)
ARRANGEMENT(with_minimux)
ARRANGEMENT(with_ticotsord)
ARRANGEMENT(with_ticotsord_in_two_steps)
ARRANGEMENT(with_ticlts)
ARRANGEMENT(with_ticlts_behind_a_plumber)
ARRANGEMENT(with_ticlts_below_a_module)
ARRANGEMENT(with_ticlts_below_two_modules)
ARRANGEMENT(with_ticlts_in_two_steps)
ARRANGEMENT(with_udp2)
ARRANGEMENT(with_udp2_behind_a_plumber)
ARRANGEMENT(with_udp2_below_a_module)
ARRANGEMENT(with_udp2_below_two_modules)
ARRANGEMENT(with_udp2_in_two_steps)
ARRANGEMENT(with_log)
ARRANGEMENT(with_sad)

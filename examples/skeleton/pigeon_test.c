/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pigeon, as a user of TPI sees it: addresses, datagrams, errors.  pigeon(4).
 */
#include <sys/tihdr.h>
#include <sys/strsun.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "drvfix.h"

extern const struct str_builtin str_drv_pigeon;

static struct dv a, b;

#define PRIM(mp_, type_) ((struct type_ *)(void *)(mp_)->b_rptr)

/* A primitive of @len bytes, and an address of one letter behind it. */
static mblk_t *
request(const void *prim, size_t len, char name)
{
	mblk_t *mp = allocb(len + 1, BPRI_MED);

	T_NOTNULL(mp);
	memcpy(mp->b_wptr, prim, len);
	mp->b_wptr[len] = (unsigned char)name;
	mp->b_wptr += len + (name != '\0');
	DB_TYPE(mp) = M_PROTO;
	return mp;
}

static mblk_t *
want(struct dv *d, int prim)
{
	mblk_t *mp = dv_up(d);

	T_NOTNULL(mp);
	T_EQ(PRIM(mp, T_ok_ack)->PRIM_type, prim);
	return mp;
}

static void
bind_(struct dv *d, char name)
{
	struct T_bind_req r = {T_BIND_REQ, name != '\0', sizeof(r), 0};

	T_EQ(dv_open(d, "pigeon", 0, CLONEOPEN), 0);
	dv_down(d, request(&r, sizeof(r), name));
}

static void
send(struct dv *d, char name, const char *text)
{
	struct T_unitdata_req r = {T_UNITDATA_REQ, 1, sizeof(r), 0, 0};
	mblk_t *mp = request(&r, sizeof(r), name);

	linkb(mp, fx_msg(text, 0));
	dv_down(d, mp);
}

static void
begin(struct t *t)
{
	fx_begin(t);
	dv_driver(&str_drv_pigeon);
	bind_(&a, 'a');
	freemsg(want(&a, T_BIND_ACK));
}

T_CASE(a_datagram_comes_with_its_senders_address)
{
	struct T_unitdata_ind *ui;
	mblk_t *mp;

	begin(t);
	bind_(&b, 'b');
	freemsg(want(&b, T_BIND_ACK));
	send(&a, 'b', "hello");
	mp = want(&b, T_UNITDATA_IND);
	ui = PRIM(mp, T_unitdata_ind);
	T_EQ(ui->SRC_length, 1);
	T_EQ(mp->b_rptr[ui->SRC_offset], 'a');
	FX_MSG(unlinkb(mp), "hello");
	freeb(mp);
}

T_CASE(an_address_is_bound_once)
{
	mblk_t *mp;

	begin(t);
	bind_(&b, 'a');
	mp = want(&b, T_ERROR_ACK);
	T_EQ(PRIM(mp, T_error_ack)->TLI_error, TADDRBUSY);
	freemsg(mp);
}

T_CASE(an_address_is_chosen_on_request)
{
	mblk_t *mp;

	begin(t);
	bind_(&b, '\0');
	mp = want(&b, T_BIND_ACK);
	T_EQ(PRIM(mp, T_bind_ack)->ADDR_length, 4);
	freemsg(mp);
}

T_CASE(an_address_that_is_not_bound_is_an_error)
{
	mblk_t *mp;

	begin(t);
	send(&a, 'x', "lost");
	mp = want(&a, T_UDERROR_IND);
	T_EQ(PRIM(mp, T_uderror_ind)->ERROR_type, ECONNREFUSED);
	freemsg(mp);
}

T_CASE(a_datagram_waits_for_a_receiver_that_is_full)
{
	unsigned i, got = 0;
	mblk_t *mp;

	begin(t);
	bind_(&b, 'b');
	freemsg(want(&b, T_BIND_ACK));
	for (i = 0; i < 30; i++)
		send(&a, 'b', "0123456789");
	T_GT(qsize(WR(a.rq)), 0);
	while ((mp = dv_up(&b)) != NULL) {
		got++;
		freemsg(mp);
		qenable(WR(a.rq)); /* what the tick does */
		dv_run(&a);
	}
	T_EQ(got, 30);
}

T_CASE(a_receiver_that_does_not_read_loses_datagrams)
{
	unsigned i;

	begin(t);
	bind_(&b, 'b');
	freemsg(want(&b, T_BIND_ACK));
	for (i = 0; i < 30; i++)
		send(&a, 'b', "0123456789");
	T_GT(qsize(WR(a.rq)), 0);
	for (i = 0; i < 600; i++) { /* six seconds, by ticks */
		sim_advance(10000000ull);
		(void)str_timer_run(host_now());
		qenable(WR(a.rq));
		dv_run(&a);
	}
	T_EQ(qsize(WR(a.rq)), 0);
}

T_CASE(a_closed_endpoint_is_not_found)
{
	begin(t);
	bind_(&b, 'b');
	freemsg(want(&b, T_BIND_ACK));
	dv_close(&b);
	send(&a, 'b', "late");
	freemsg(want(&a, T_UDERROR_IND));
}

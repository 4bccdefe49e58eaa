/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options of data, to a provider and from it.  The provider of this test is
 * connected with itself: what it is sent comes back.
 */
#include <sys/tihdr.h>
#include <sys/strsun.h>
#include <str/tpi.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "../drvfix.h"

#define PRIM(mp_, type_) ((struct type_ *)(void *)(mp_)->b_rptr)

static struct tpi_prov mirror_shared;
static int full, refuses;
static unsigned plain_calls, opt_calls;

static struct tpi_prov *
mirror_prov(void)
{
	return &mirror_shared;
}

static int
mirror_create(struct tpi *tp, cred_t *crp)
{
	(void)tp, (void)crp;
	return 0;
}

static void
mirror_gone(struct tpi *tp)
{
	(void)tp;
}

static int
mirror_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got)
{
	(void)tp, (void)want, (void)any, (void)qlen;
	got->len = 1;
	got->buf[0] = 'm';
	return 0;
}

static int
mirror_unbind(struct tpi *tp)
{
	(void)tp;
	return 0;
}

static int
mirror_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data)
{
	(void)data;
	tpi_conn_ok(tp);
	return tpi_conn_con(tp, to, NULL);
}

static int
mirror_disconnect(struct tpi *tp, struct tpi_ind *in, mblk_t *data)
{
	(void)tp, (void)in, (void)data;
	return 0;
}

static int
mirror_data(struct tpi *tp, mblk_t *mp, int flags)
{
	plain_calls++;
	return (flags & TPI_MORE) != 0 ? EAGAIN : tpi_data_ind(tp, mp, 0);
}

static int
mirror_exdata(struct tpi *tp, mblk_t *mp, int flags)
{
	mblk_t *bp = mp->b_cont;
	int err;

	plain_calls++;
	err = tpi_exdata_ind(tp, bp, (flags & TPI_MORE) != 0);
	if (err == 0) {
		mp->b_cont = NULL;
		freeb(mp);
	}
	return err;
}

static int
mirror_optdata(struct tpi *tp, const struct tpi_buf *opts, mblk_t *mp,
	int flags)
{
	int err;

	opt_calls++;
	if (full)
		return EAGAIN;
	if (refuses)
		return -TBADOPT;
	err = tpi_optdata_ind(tp, opts, mp->b_cont,
		flags & (TPI_MORE | TPI_EXPEDITED));
	if (err == 0) {
		mp->b_cont = NULL;
		freeb(mp);
	}
	return err;
}

static int
mirror_ordrel(struct tpi *tp, mblk_t *data)
{
	(void)tp, (void)data;
	return 0;
}

static const struct tpi_ops mirror_ops = {
	.name = "mirror",
	.size = sizeof(struct tpi),
	.info = {
		.PRIM_type = T_INFO_ACK, .TSDU_size = T_INFINITE,
		.ETSDU_size = 100, .CDATA_size = T_INVALID,
		.DDATA_size = T_INVALID, .ADDR_size = 16, .OPT_size = 256,
		.TIDU_size = 4096, .SERV_type = T_COTS_ORD,
	},
	.prov = mirror_prov,
	.open = mirror_create,
	.close = mirror_gone,
	.bind = mirror_bind,
	.unbind = mirror_unbind,
	.connect = mirror_connect,
	.disconnect = mirror_disconnect,
	.data = mirror_data,
	.exdata = mirror_exdata,
	.optdata = mirror_optdata,
	.ordrel = mirror_ordrel,
};

static int
mirror_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	(void)flag;
	return tpi_open(q, devp, sflag, crp, 1, &mirror_ops);
}

static int
mirror_close(queue_t *q, int flag, cred_t *crp)
{
	(void)flag, (void)crp;
	return tpi_close(q, &mirror_ops);
}

static int
mirror_wput(queue_t *q, mblk_t *mp)
{
	return tpi_wput(q, mp, &mirror_ops);
}

static int
mirror_wsrv(queue_t *q)
{
	return tpi_wsrv(q, &mirror_ops);
}

static int
mirror_rsrv(queue_t *q)
{
	return tpi_rsrv(q, &mirror_ops);
}

static const struct module_info mirror_info = {
	.mi_idnum = 0x6d69, .mi_idname = "mirror", .mi_maxpsz = INFPSZ,
	.mi_hiwat = 4096, .mi_lowat = 1024,
};
static const struct qinit mirror_rinit = {
	.qi_srvp = mirror_rsrv, .qi_qopen = mirror_open,
	.qi_qclose = mirror_close,
	.qi_minfo = (struct module_info *)&mirror_info,
};
static const struct qinit mirror_winit = {
	.qi_putp = mirror_wput, .qi_srvp = mirror_wsrv,
	.qi_minfo = (struct module_info *)&mirror_info,
};
static void (*const mirror_calls[])(void) = {(void (*)(void))tpi_tick, NULL};
STR_DRIVER(mirror, mirror_rinit, mirror_winit, STR_NOMUX, STR_NOMUX, D_MP,
	200, mirror_calls);

/* ------------------------------------------------------------------- cases */

static struct dv a;

/* An option as T_OPTDATA_REQ carries it. */
struct opt {
	struct t_opthdr h;
	t_uscalar_t value;
};
static const struct opt an_option = {{sizeof(struct opt), 77, 5, 0}, 4711};

static mblk_t *
request(const void *prim, size_t len)
{
	mblk_t *mp = allocb(len + sizeof(struct opt), BPRI_MED);

	T_NOTNULL(mp);
	memcpy(mp->b_wptr, prim, len);
	mp->b_wptr += len;
	DB_TYPE(mp) = M_PROTO;
	return mp;
}

static mblk_t *
want(int prim)
{
	mblk_t *mp = dv_up(&a);

	T_NOTNULL(mp);
	T_EQ(PRIM(mp, T_ok_ack)->PRIM_type, prim);
	return mp;
}

static void
begin(struct t *t)
{
	struct T_bind_req br = {T_BIND_REQ, 0, 0, 0};
	struct {
		struct T_conn_req r;
		char to;
	} cr = {{T_CONN_REQ, 1, sizeof(cr.r), 0, 0}, 'm'};

	fx_begin(t);
	memset(&mirror_shared, 0, sizeof(mirror_shared));
	full = refuses = 0;
	plain_calls = opt_calls = 0;
	dv_driver(&str_drv_mirror);
	T_EQ(dv_open(&a, "mirror", 1, DRVOPEN), 0);
	dv_down(&a, request(&br, sizeof(br)));
	freemsg(want(T_BIND_ACK));
	dv_down(&a, request(&cr, sizeof(cr.r) + 1));
	freemsg(want(T_OK_ACK));
	freemsg(want(T_CONN_CON));
}

/* A T_OPTDATA_REQ of @text, with the option if @len is not 0. */
static void
send(int flag, size_t len, const char *text)
{
	struct T_optdata_req od = {T_OPTDATA_REQ, flag, (t_scalar_t)len,
		len != 0 ? sizeof(od) : 0};
	mblk_t *mp = request(&od, sizeof(od));

	memcpy(mp->b_wptr, &an_option, len);
	mp->b_wptr += len;
	if (text != NULL)
		linkb(mp, fx_msg(text, 0));
	dv_down(&a, mp);
}

/* The next indication has the option, these flags, this band and text. */
static void
comes(int flag, int band, const char *text)
{
	mblk_t *mp = want(T_OPTDATA_IND);
	struct T_optdata_ind *oi = PRIM(mp, T_optdata_ind);

	T_EQ(oi->DATA_flag, flag);
	T_EQ(mp->b_band, band);
	T_EQ(oi->OPT_length, sizeof(struct opt));
	T_EQ(memcmp(mp->b_rptr + oi->OPT_offset, &an_option,
		sizeof(struct opt)), 0);
	FX_MSG(unlinkb(mp), text);
	freeb(mp);
}

T_CASE(options_of_data_reach_the_provider_and_come_back)
{
	begin(t);
	send(0, sizeof(struct opt), "one");
	comes(0, 0, "one");
	send(T_ODF_MORE, sizeof(struct opt), "two");
	comes(T_ODF_MORE, 0, "two");
	T_EQ(opt_calls, 2);
	T_EQ(plain_calls, 0);
}

T_CASE(expedited_data_with_options_has_band_1)
{
	begin(t);
	send(T_ODF_EX, sizeof(struct opt), "fast");
	comes(T_ODF_EX, 1, "fast");
	send(T_ODF_EX | T_ODF_MORE, sizeof(struct opt), "part");
	comes(T_ODF_EX | T_ODF_MORE, 1, "part");
}

T_CASE(expedited_data_overtakes_what_waits)
{
	begin(t);
	full = 1;
	send(0, sizeof(struct opt), "slow");
	send(T_ODF_EX, sizeof(struct opt), "fast");
	full = 0;
	qenable(WR(a.rq));
	dv_run(&a);
	comes(T_ODF_EX, 1, "fast");
	comes(0, 0, "slow"); /* tried twice, with its options */
}

T_CASE(without_options_it_is_plain_data)
{
	mblk_t *mp;

	begin(t);
	send(0, 0, "plain");
	FX_MSG(dv_up(&a), "plain");
	T_EQ(opt_calls, 0);
	T_EQ(plain_calls, 1);
	send(T_ODF_EX, 0, "urgent");
	mp = want(T_EXDATA_IND);
	T_EQ(mp->b_band, 1);
	FX_MSG(unlinkb(mp), "urgent");
	freeb(mp);
}

T_CASE(options_of_bad_form_are_fatal)
{
	begin(t);
	send(0, sizeof(struct opt) - 1, "bad");
	freemsg(dv_up_type(&a, M_ERROR));
	T_EQ(opt_calls, 0);
}

T_CASE(options_that_the_provider_refuses_are_fatal)
{
	begin(t);
	refuses = 1;
	send(0, sizeof(struct opt), "bad");
	freemsg(dv_up_type(&a, M_ERROR));
}

T_CASE(expedited_data_with_options_has_a_greatest_size)
{
	char text[102];

	begin(t);
	memset(text, 'x', 101);
	text[101] = '\0';
	send(T_ODF_EX, sizeof(struct opt), text);
	freemsg(dv_up_type(&a, M_ERROR));
}

/* SVR4: a unit of zero bytes is sent only with T_SNDZERO */
T_CASE(a_unit_without_data_is_not_sent)
{
	begin(t);
	send(0, sizeof(struct opt), NULL);
	send(T_ODF_EX, sizeof(struct opt), NULL);
	T_EQ(opt_calls, 0);
	T_NULL(dv_up(&a));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Connections: how they begin and end.
 */
#include <stropts.h>

#include <xti.h>

#include "xti_impl.h"

#define CONNECTED(u) ((u)->ep->info.servtype != T_CLTS)

/* A call of connections: the service is asked before the state. */
static int
begin(struct use *u, int fd, unsigned states)
{
	if (xti_use(u, fd, S_ANY) < 0)
		return -1;
	if (!CONNECTED(u))
		return xti_fail(TNOTSUPPORT);
	if ((S(W(u) & W_STATE) & states) == 0)
		return xti_fail(TOUTSTATE);
	return 0;
}

/*
 * The provider refused the request because its state is another one (TOUTSTATE)
 * or no connection with that number waits for an answer (TBADSEQ).  If an event
 * explains this, the error is TLOOK.
 */
static int
settle(struct use *u)
{
	int terr = t_errno, event;

	if (terr != TOUTSTATE && terr != TBADSEQ)
		return -1;
	event = xti_look(u);
	if (event == 0 || (terr == TBADSEQ && event != T_DISCONNECT &&
		!strm_ended(&u->id)))
		return xti_fail(terr);
	return xti_fail(TLOOK);
}

static int
check_call(const struct t_call *call, t_scalar_t size)
{
	if (xti_bad_netbuf(&call->addr))
		return xti_fail(TBADADDR);
	if (xti_bad_netbuf(&call->opt))
		return xti_fail(TBADOPT);
	if (xti_bad_netbuf(&call->udata) ||
	    xti_too_big(size, call->udata.len))
		return xti_fail(TBADDATA);
	return 0;
}

/* ---------------------------------------------------------------- connecting */

/* Take the confirmation, which must be the first message. */
static int
confirm_into(struct use *u, struct t_call *call)
{
	struct strm_prim gp;
	struct T_conn_con cc;
	struct block b;
	int more, over = 0;

	xti_block(&b);
	xti_want_data(&gp, call != NULL ? &call->udata : NULL);
	more = xti_get(u, &gp, &b, P(T_CONN_CON), 0);
	if (more < 0) {
		xti_block_free(&b);
		return xti_neg(more, TNODATA);
	}
	xti_happened(u, XTI_CONNECTED);
	over = xti_give_data(u, call != NULL ? &call->udata : NULL, &gp, more);
	if (gp.ctl.len < (int)sizeof(cc)) {
		xti_block_free(&b);
		return xti_fail(TPROTO);
	}
	memcpy(&cc, b.buf, sizeof(cc));
	if (call != NULL) {
		over |= xti_give(u, &call->addr, &b, cc.RES_offset,
			cc.RES_length, gp.ctl.len);
		over |= xti_give(u, &call->opt, &b, cc.OPT_offset,
			cc.OPT_length, gp.ctl.len);
		call->sequence = 0;
	}
	xti_block_free(&b);
	return call != NULL ? xti_over(over) : 0;
}

/* The same for the caller, whose structure at @user has been copied. */
static int
confirm(struct use *u, struct t_call *user, struct t_call *call)
{
	int ret = confirm_into(u, user != NULL ? call : NULL);

	if (user != NULL && xti_put(user, call, sizeof(*call)) != 0)
		return xti_sys(EFAULT);
	return ret;
}

static int
request_connection(struct use *u, const struct t_call *call)
{
	struct T_conn_req cr = {.PRIM_type = T_CONN_REQ};
	unsigned at = sizeof(cr);
	struct block b;
	int ret;

	xti_block(&b);
	if (xti_block_size(&b, at + call->addr.len + call->opt.len + 16) < 0)
		return -1;
	cr.DEST_offset = xti_field(&b, &at, &call->addr);
	cr.DEST_length = (t_scalar_t)call->addr.len;
	cr.OPT_offset = xti_field(&b, &at, &call->opt);
	cr.OPT_length = (t_scalar_t)call->opt.len;
	memcpy(b.buf, &cr, sizeof(cr));
	ret = xti_request(u, &b, at, &call->udata);
	xti_block_free(&b);
	return ret;
}

STR_EXPORT int
t_connect(int fd, const struct t_call *sndcall, struct t_call *rcvcall)
{
	struct t_call snd, rcv;
	struct use u;

	if (begin(&u, fd, S(T_IDLE)) < 0 ||
	    xti_in(&snd, sndcall, sizeof(snd)) < 0 ||
	    (rcvcall != NULL && xti_inout(&rcv, rcvcall, sizeof(rcv)) < 0))
		return -1;
	if (check_call(&snd, u.ep->info.connect) < 0)
		return -1;
	if (snd.addr.len == 0)
		return xti_fail(TBADADDR);
	/* what the socket alone knows of counts, too */
	if (xti_event_slow(&u) != 0)
		return xti_fail(TLOOK);
	/* before it says so in the state another thread may look for events */
	xti_word(&u, 0, W_COMING);
	if (request_connection(&u, &snd) < 0) {
		xti_word(&u, W_COMING, 0);
		return settle(&u);
	}
	xti_happened(&u, XTI_CALLED);
	xti_word(&u, W_COMING, 0);
	if (u.id.fflags & O_NONBLOCK)
		return xti_fail(TNODATA);
	return confirm(&u, rcvcall, &rcv);
}

STR_EXPORT int
t_rcvconnect(int fd, struct t_call *call)
{
	struct t_call rcv;
	struct use u;

	if (begin(&u, fd, S(T_OUTCON)) < 0 ||
	    (call != NULL && xti_inout(&rcv, call, sizeof(rcv)) < 0))
		return -1;
	return confirm(&u, call, &rcv);
}

/* ---------------------------------------------------------------- listening */

STR_EXPORT int
t_listen(int fd, struct t_call *call)
{
	struct strm_prim gp;
	struct T_conn_ind ci;
	struct t_call rcv;
	unsigned qlen;
	struct block b;
	struct use u;
	int more, over;

	if (begin(&u, fd, S(T_IDLE) | S(T_INCON)) < 0 ||
	    xti_inout(&rcv, call, sizeof(rcv)) < 0)
		return -1;
	qlen = xti_qlen(&u);
	if (qlen == 0)
		return xti_fail(TBADQLEN);
	if (OCNT(W(&u)) >= qlen)
		return xti_fail(xti_look(&u) == T_DISCONNECT ? TLOOK : TQFULL);
	xti_block(&b);
	xti_want_data(&gp, &rcv.udata);
	more = xti_get(&u, &gp, &b, P(T_CONN_IND), 0);
	if (more < 0) {
		xti_block_free(&b);
		return xti_neg(more, TNODATA);
	}
	xti_ocnt(&u, 1);
	over = xti_give_data(&u, &rcv.udata, &gp, more);
	if (gp.ctl.len < (int)sizeof(ci)) {
		xti_block_free(&b);
		return xti_fail(TPROTO);
	}
	memcpy(&ci, b.buf, sizeof(ci));
	rcv.sequence = ci.SEQ_number;
	over |= xti_give(&u, &rcv.addr, &b, ci.SRC_offset, ci.SRC_length,
		gp.ctl.len);
	over |= xti_give(&u, &rcv.opt, &b, ci.OPT_offset, ci.OPT_length,
		gp.ctl.len);
	over |= xti_put(call, &rcv, sizeof(rcv));
	xti_block_free(&b);
	return xti_over(over);
}

/* What is wrong with @res as the end of a connection that came to @u? */
static int
check_acceptor(struct use *u, struct use *res)
{
	int event;

	event = xti_look(u);
	if (event == T_LISTEN || event == T_DISCONNECT)
		return xti_fail(TLOOK);
	if (res->id.head == u->id.head)
		return OCNT(W(u)) > 1 ? xti_fail(TINDOUT) : 0;
	if (res->ep->major != u->ep->major ||
	    res->ep->info.servtype != u->ep->info.servtype)
		return xti_fail(TPROVMISMATCH);
	if ((W(res) & W_STATE) == T_IDLE && xti_qlen(res) != 0 &&
	    xti_qlen(res) != XTI_QLEN_UNKNOWN)
		return xti_fail(TRESQLEN);
	return 0;
}

static int
respond(struct use *u, const struct use *res, const struct t_call *call)
{
	struct T_conn_res cr = {.PRIM_type = T_CONN_RES,
		.ACCEPTOR_id = res->ep->acceptor,
		.SEQ_number = call->sequence};
	unsigned at = sizeof(cr);
	struct block b;
	int ret;

	xti_block(&b);
	if (xti_block_size(&b, at + call->opt.len + 16) < 0)
		return -1;
	cr.OPT_offset = xti_field(&b, &at, &call->opt);
	cr.OPT_length = (t_scalar_t)call->opt.len;
	memcpy(b.buf, &cr, sizeof(cr));
	ret = xti_request(u, &b, at, &call->udata);
	xti_block_free(&b);
	return ret;
}

STR_EXPORT int
t_accept(int fd, int resfd, const struct t_call *call)
{
	struct use u, res;
	struct t_call snd;

	if (begin(&u, fd, S(T_INCON)) < 0 || xti_in(&snd, call, sizeof(snd)) < 0)
		return -1;
	if (resfd == fd)
		res = u;
	else if (xti_use(&res, resfd, S_ANY) < 0)
		return -1;
	if (res.id.head != u.id.head &&
	    (S(W(&res) & W_STATE) & (S(T_UNBND) | S(T_IDLE))) == 0)
		return xti_fail(TOUTSTATE);
	if (check_call(&snd, u.ep->info.connect) < 0 ||
	    check_acceptor(&u, &res) < 0)
		return -1;
	xti_word(&res, 0, W_COMING); /* as in t_connect() */
	if (respond(&u, &res, &snd) < 0) {
		xti_word(&res, W_COMING, 0);
		/* @resfd is an endpoint, but none that the provider knows */
		if (t_errno == TBADF && resfd != fd &&
		    ioctl(fd, I_FIND, "timod") == 1)
			return xti_fail(TPROVMISMATCH);
		return settle(&u);
	}
	if (res.id.head == u.id.head) {
		xti_word(&u, W_STATE | W_DATA | ~0xffffu, T_DATAXFER);
		return 0;
	}
	xti_word(&res, W_STATE | W_DATA | ~0xffffu, T_DATAXFER);
	xti_ocnt(&u, -1);
	return 0;
}

/* --------------------------------------------------------------- disconnecting */

STR_EXPORT int
t_snddis(int fd, const struct t_call *call)
{
	struct T_discon_req dr = {.PRIM_type = T_DISCON_REQ,
		.SEQ_number = -1};
	struct t_call snd = {.sequence = -1};
	struct block b;
	struct use u;
	int ret, in;

	if (begin(&u, fd, S_CONN) < 0)
		return -1;
	in = (W(&u) & W_STATE) == T_INCON;
	if (in && call == NULL)
		return xti_fail(TBADSEQ);
	if (call != NULL && xti_in(&snd, call, sizeof(snd)) < 0)
		return -1;
	if (xti_bad_netbuf(&snd.udata) ||
	    xti_too_big(u.ep->info.discon, snd.udata.len))
		return xti_fail(TBADDATA);
	if (xti_look(&u) == T_DISCONNECT)
		return xti_fail(TLOOK);
	if (in)
		dr.SEQ_number = snd.sequence;
	xti_block(&b);
	memcpy(b.buf, &dr, sizeof(dr));
	ret = xti_request(&u, &b, sizeof(dr), &snd.udata);
	xti_block_free(&b);
	if (ret < 0)
		return settle(&u);
	if (in) {
		xti_ocnt(&u, -1);
		return 0;
	}
	xti_state(&u, T_IDLE);
	/* what was on its way is of no interest any more */
	if (strm_pending(&u.id))
		xti_purge(&u, P_DATA | P(T_CONN_CON) | P(T_ORDREL_IND));
	return 0;
}

STR_EXPORT int
t_rcvdis(int fd, struct t_discon *discon)
{
	struct t_discon dis = {.reason = 0};
	struct strm_prim gp;
	struct T_discon_ind di;
	struct block b;
	struct use u;
	int more, over;

	if (begin(&u, fd, S_CONN) < 0 ||
	    (discon != NULL && xti_inout(&dis, discon, sizeof(dis)) < 0))
		return -1;
	xti_block(&b);
	xti_want_data(&gp, &dis.udata);
	more = xti_get(&u, &gp, &b, P(T_DISCON_IND), 1);
	if (more < 0) {
		xti_block_free(&b);
		return more == -ENOMSG ? xti_fail(TNODIS) :
					 xti_neg(more, TNODIS);
	}
	xti_happened(&u, XTI_GOT_DIS);
	over = xti_give_data(&u, &dis.udata, &gp, more);
	if (gp.ctl.len < (int)sizeof(di)) {
		xti_block_free(&b);
		return xti_fail(TPROTO);
	}
	memcpy(&di, b.buf, sizeof(di));
	xti_block_free(&b);
	if (discon == NULL)
		return 0;
	dis.reason = di.DISCON_reason;
	dis.sequence = di.SEQ_number;
	return xti_over(over | xti_put(discon, &dis, sizeof(dis)));
}

/* ------------------------------------------------------------------ releasing */

/* A call of orderly release. */
static int
begin_release(struct use *u, int fd, unsigned states)
{
	if (xti_use(u, fd, S_ANY) < 0)
		return -1;
	if (u->ep->info.servtype != T_COTS_ORD)
		return xti_fail(TNOTSUPPORT);
	if ((S(W(u) & W_STATE) & states) == 0)
		return xti_fail(TOUTSTATE);
	return 0;
}

static int
release(struct use *u, const struct netbuf *udata)
{
	struct T_ordrel_req or = {.PRIM_type = T_ORDREL_REQ};
	struct strm_buf ctl = {.len = sizeof(or), .buf = &or};
	struct strm_buf data = {.len = -1};
	int ret;

	if (xti_look(u) == T_DISCONNECT || strm_ended(&u->id))
		return xti_fail(TLOOK);
	if (udata != NULL && udata->len != 0) {
		data.len = (int)udata->len;
		data.buf = udata->buf;
	}
	ret = strm_putprim(u->fd, &ctl, &data, 0);
	if (ret == -EAGAIN)
		xti_word(u, 0, W_FLOW);
	if (ret < 0)
		return ret != -EAGAIN && xti_look(u) == T_DISCONNECT ?
			xti_fail(TLOOK) : xti_neg(ret, TFLOW);
	xti_happened(u, XTI_SENT_REL);
	return 0;
}

STR_EXPORT int
t_sndrel(int fd)
{
	struct use u;

	if (begin_release(&u, fd, S(T_DATAXFER) | S(T_INREL)) < 0)
		return -1;
	return release(&u, NULL);
}

/* XNS 5.2, TBADDATA: also of any data for a provider without T_ORDRELDATA. */
STR_EXPORT int
t_sndreldata(int fd, struct t_discon *discon)
{
	struct t_discon dis = {.reason = 0};
	struct use u;

	if (begin_release(&u, fd, S(T_DATAXFER) | S(T_INREL)) < 0 ||
	    (discon != NULL && xti_in(&dis, discon, sizeof(dis)) < 0))
		return -1;
	if ((u.ep->info.flags & T_ORDRELDATA) == 0)
		return dis.udata.len != 0 ? xti_fail(TBADDATA) : release(&u, NULL);
	if (xti_bad_netbuf(&dis.udata) ||
	    xti_too_big(u.ep->info.discon, dis.udata.len))
		return xti_fail(TBADDATA);
	return release(&u, &dis.udata);
}

static int
released(struct use *u, struct t_discon *discon)
{
	struct t_discon dis = {.reason = 0};
	struct strm_prim gp;
	struct block b;
	int more, over;

	if (discon != NULL && xti_inout(&dis, discon, sizeof(dis)) < 0)
		return -1;
	xti_block(&b);
	xti_want_data(&gp, &dis.udata);
	more = xti_get(u, &gp, &b, P(T_ORDREL_IND), 1);
	xti_block_free(&b);
	if (more == -ENOMSG)
		return xti_fail(gp.prim == T_DISCON_IND ? TLOOK : TNOREL);
	if (more < 0)
		return xti_neg(more, TNOREL);
	xti_happened(u, XTI_GOT_REL);
	over = xti_give_data(u, &dis.udata, &gp, more);
	if (discon == NULL)
		return 0;
	dis.reason = dis.sequence = 0;
	return xti_over(over | xti_put(discon, &dis, sizeof(dis)));
}

STR_EXPORT int
t_rcvrel(int fd)
{
	struct use u;

	if (begin_release(&u, fd, S(T_DATAXFER) | S(T_OUTREL)) < 0)
		return -1;
	return released(&u, NULL);
}

/* XNS 5.2: as t_rcvrel() where no data comes with a release. */
STR_EXPORT int
t_rcvreldata(int fd, struct t_discon *discon)
{
	struct use u;

	if (begin_release(&u, fd, S(T_DATAXFER) | S(T_OUTREL)) < 0)
		return -1;
	return released(&u, discon);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * npi: what comes from the transport provider, for a user of NPI.
 */
#include "npi_impl.h"

static const struct {
	np_ulong npi;
	t_scalar_t tpi;
} errors[] = {
	{NBADADDR, TBADADDR}, {NBADOPT, TBADOPT}, {NACCESS, TACCES},
	{NBADTOKEN, TBADF}, {NNOADDR, TNOADDR}, {NOUTSTATE, TOUTSTATE},
	{NBADSEQ, TBADSEQ}, {NBADDATA, TBADDATA}, {NBADFLAG, TBADFLAG},
	{NNOTSUPPORT, TNOTSUPPORT}, {NBOUND, TADDRBUSY},
	{NBADTOKEN, TRESQLEN}, {NBADTOKEN, TRESADDR},
	{NBADTOKEN, TPROVMISMATCH},
};

static void
error_ack(queue_t *q, mblk_t *mp, const struct T_error_ack *e)
{
	np_ulong prim = npi_prim_of(e->ERROR_prim), unix_err = 0, err = NSYSERR;
	struct npi *n = npi_of(q);
	mblk_t *bind = n->bind;
	size_t i;

	if (e->ERROR_prim == T_CAPABILITY_REQ) {
		n->bind = NULL; /* it has no tokens */
		freemsg(mp);
		if (bind != NULL)
			putnext(q, bind);
		return;
	}
	for (i = 0; i < STR_ARRAY_LEN(errors); i++)
		if (errors[i].tpi == e->TLI_error)
			err = errors[i].npi;
	if (err == NSYSERR)
		unix_err = e->TLI_error == TSYSERR ?
			(np_ulong)e->UNIX_error : EPROTO;
	npi_refuse(WR(q), mp, prim, err, unix_err);
}

static void
ok_ack(queue_t *q, mblk_t *mp, t_scalar_t prim)
{
	N_ok_ack_t ok = {N_OK_ACK, npi_prim_of(prim)};

	freemsg(mp);
	if (prim == T_UNBIND_REQ)
		npi_of(q)->len = 0;
	if (prim != T_CONN_REQ && prim != T_ORDREL_REQ)
		npi_pass(q, npi_control(M_PCPROTO, &ok, sizeof(ok), 0), NULL);
}

static void
bind_ack(queue_t *q, mblk_t *mp, const struct T_bind_ack *b)
{
	struct T_capability_req cr = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};
	N_bind_ack_t ba = {.PRIM_type = N_BIND_ACK,
		.CONIND_number = b->CONIND_number};
	np_ulong len = (np_ulong)b->ADDR_length;
	const unsigned char *addr;
	struct npi *n = npi_of(q);
	mblk_t *up, *ask;

	if (!npi_range(mp, len, (np_ulong)b->ADDR_offset, &addr) || len > NPI_ADDR)
		len = 0;
	bcopy(addr, n->addr, len);
	n->len = len;
	ba.ADDR_length = len;
	ba.ADDR_offset = len != 0 ? sizeof(ba) : 0;
	up = npi_control(M_PCPROTO, &ba, sizeof(ba), len);
	ask = npi_control(M_PCPROTO, &cr, sizeof(cr), 0);
	if (up != NULL)
		npi_append(up, addr, len);
	freemsg(mp);
	if (up == NULL || ask == NULL) {
		if (ask != NULL)
			freemsg(ask);
		npi_pass(q, up, NULL);
		return;
	}
	if (n->bind != NULL)
		freemsg(n->bind);
	n->bind = up;
	putnext(WR(q), ask);
}

static void
capability_ack(queue_t *q, mblk_t *mp, const struct T_capability_ack *c)
{
	struct npi *n = npi_of(q);
	mblk_t *up = n->bind;

	if ((c->CAP_bits1 & TC1_ACCEPTOR_ID) != 0)
		n->id = c->ACCEPTOR_id;
	freemsg(mp);
	n->bind = NULL;
	if (up == NULL)
		return;
	if (n->token != 0)
		((N_bind_ack_t *)(void *)up->b_rptr)->TOKEN_value = n->id;
	putnext(q, up);
}

static np_ulong
state_of(t_scalar_t tpi)
{
	switch (tpi) {
	case TS_UNBND:
		return NS_UNBND;
	case TS_WACK_BREQ:
		return NS_WACK_BREQ;
	case TS_WACK_UREQ:
		return NS_WACK_UREQ;
	case TS_IDLE:
		return NS_IDLE;
	case TS_WACK_OPTREQ:
		return NS_WACK_OPTREQ;
	case TS_WACK_CREQ:
	case TS_WCON_CREQ:
		return NS_WCON_CREQ;
	case TS_WRES_CIND:
		return NS_WRES_CIND;
	case TS_WACK_CRES:
		return NS_WACK_CRES;
	default:
		return NS_DATA_XFER;
	}
}

static void
info_ack(queue_t *q, mblk_t *mp, const struct T_info_ack *i)
{
	const struct npi *n = npi_of(q);
	N_info_ack_t a = {.PRIM_type = N_INFO_ACK,
		.NSDU_size = (np_ulong)i->TSDU_size,
		.ENSDU_size = (np_ulong)i->ETSDU_size,
		.CDATA_size = (np_ulong)i->CDATA_size,
		.DDATA_size = (np_ulong)i->DDATA_size,
		.ADDR_size = (np_ulong)i->ADDR_size,
		.ADDR_length = n->len,
		.ADDR_offset = n->len != 0 ? sizeof(a) : 0,
		.OPTIONS_flags = i->ETSDU_size != T_INVALID ? EX_DATA_OPT : 0,
		.NIDU_size = (np_ulong)i->TIDU_size,
		.SERV_type = N_CONS,
		.CURRENT_state = state_of(i->CURRENT_state),
		.PROVIDER_type = N_SUBNET,
		.NODU_size = (np_ulong)i->TIDU_size,
		.NPI_version = N_CURRENT_VERSION};
	mblk_t *up = npi_control(M_PCPROTO, &a, sizeof(a), n->len);

	if (up != NULL)
		npi_append(up, n->addr, n->len);
	freemsg(mp);
	npi_pass(q, up, NULL);
}

static void
conn_ind(queue_t *q, mblk_t *mp, const struct T_conn_ind *c)
{
	const struct npi *n = npi_of(q);
	N_conn_ind_t a = {.PRIM_type = N_CONN_IND, .DEST_length = n->len,
		.SRC_length = (np_ulong)c->SRC_length,
		.SEQ_number = (np_ulong)c->SEQ_number,
		.CONN_flags = EX_DATA_OPT};
	const unsigned char *src;
	mblk_t *up;

	if (!npi_range(mp, a.SRC_length, (np_ulong)c->SRC_offset, &src))
		a.SRC_length = 0;
	a.DEST_offset = n->len != 0 ? sizeof(a) : 0;
	a.SRC_offset = a.SRC_length != 0 ? sizeof(a) + n->len : 0;
	up = npi_control(M_PROTO, &a, sizeof(a), n->len + a.SRC_length);
	if (up != NULL) {
		npi_append(up, n->addr, n->len);
		npi_append(up, src, a.SRC_length);
	}
	npi_instead(q, up, mp);
}

static void
conn_con(queue_t *q, mblk_t *mp, const struct T_conn_con *c)
{
	N_conn_con_t a = {.PRIM_type = N_CONN_CON,
		.RES_length = (np_ulong)c->RES_length,
		.CONN_flags = EX_DATA_OPT};
	const unsigned char *res;
	mblk_t *up;

	if (!npi_range(mp, a.RES_length, (np_ulong)c->RES_offset, &res))
		a.RES_length = 0;
	a.RES_offset = a.RES_length != 0 ? sizeof(a) : 0;
	up = npi_control(M_PROTO, &a, sizeof(a), a.RES_length);
	if (up != NULL)
		npi_append(up, res, a.RES_length);
	npi_instead(q, up, mp);
}

/* Translate the errno of a T_DISCON_IND: the peer or the provider ended the
 * connection, and the reason. */
static void
reason_of(t_scalar_t err, N_discon_ind_t *d)
{
	switch (err) {
	case ECONNREFUSED:
		d->DISCON_orig = N_USER;
		d->DISCON_reason = N_REJ_P;
		break;
	case ECONNRESET:
		d->DISCON_orig = N_USER;
		d->DISCON_reason = N_DISC_ABNORMAL;
		break;
	case ETIMEDOUT:
		d->DISCON_orig = N_PROVIDER;
		d->DISCON_reason = N_REJ_NSAP_UNREACH_T;
		break;
	case ENETUNREACH:
	case EHOSTUNREACH:
		d->DISCON_orig = N_PROVIDER;
		d->DISCON_reason = N_REJ_NSAP_UNREACH_P;
		break;
	case EPROTO:
	case ECONNABORTED:
		d->DISCON_orig = N_PROVIDER;
		d->DISCON_reason = N_DISC_P;
		break;
	default:
		d->DISCON_orig = N_UNDEFINED;
		d->DISCON_reason = N_REASON_UNDEFINED;
		break;
	}
}

static void
discon_ind(queue_t *q, mblk_t *mp, const struct T_discon_ind *t)
{
	N_discon_ind_t d = {.PRIM_type = N_DISCON_IND,
		.SEQ_number = (np_ulong)t->SEQ_number};

	reason_of(t->DISCON_reason, &d);
	npi_instead(q, npi_control(M_PROTO, &d, sizeof(d), 0), mp);
}

/* The peer's orderly release, behind all data: this side releases, too. */
static void
ordrel_ind(queue_t *q, mblk_t *mp)
{
	N_discon_ind_t d = {.PRIM_type = N_DISCON_IND, .DISCON_orig = N_USER,
		.DISCON_reason = N_DISC_NORMAL, .SEQ_number = (np_ulong)-1};
	struct T_ordrel_req r = {T_ORDREL_REQ};

	freemsg(mp);
	npi_pass(WR(q), npi_control(M_PROTO, &r, sizeof(r), 0), NULL);
	npi_pass(q, npi_control(M_PROTO, &d, sizeof(d), 0), NULL);
}

static void
data_ind(queue_t *q, mblk_t *mp, np_ulong more)
{
	N_data_ind_t d = {N_DATA_IND, more != 0 ? N_MORE_DATA_FLAG : 0};

	npi_instead(q, npi_control(M_PROTO, &d, sizeof(d), 0), mp);
}

static void
exdata_ind(queue_t *q, mblk_t *mp)
{
	N_exdata_ind_t d = {N_EXDATA_IND};
	mblk_t *up = npi_control(M_PROTO, &d, sizeof(d), 0);

	if (up != NULL)
		up->b_band = mp->b_band;
	npi_instead(q, up, mp);
}

void
npi_provider(queue_t *q, mblk_t *mp)
{
	const union T_primitives *p = (const void *)mp->b_rptr;

	if (MBLKL(mp) < (ssize_t)sizeof(p->type)) {
		freemsg(mp);
		return;
	}
	switch (p->type) {
	case T_CONN_IND:
		conn_ind(q, mp, &p->conn_ind);
		break;
	case T_CONN_CON:
		conn_con(q, mp, &p->conn_con);
		break;
	case T_DISCON_IND:
		discon_ind(q, mp, &p->discon_ind);
		break;
	case T_ORDREL_IND:
		ordrel_ind(q, mp);
		break;
	case T_DATA_IND:
		data_ind(q, mp, (np_ulong)p->data_ind.MORE_flag);
		break;
	case T_EXDATA_IND:
		exdata_ind(q, mp);
		break;
	case T_INFO_ACK:
		info_ack(q, mp, &p->info_ack);
		break;
	case T_BIND_ACK:
		bind_ack(q, mp, &p->bind_ack);
		break;
	case T_CAPABILITY_ACK:
		capability_ack(q, mp, &p->capability_ack);
		break;
	case T_OK_ACK:
		ok_ack(q, mp, p->ok_ack.CORRECT_prim);
		break;
	case T_ERROR_ACK:
		error_ack(q, mp, &p->error_ack);
		break;
	default:
		freemsg(mp); /* an answer that no user of NPI has asked for */
		break;
	}
}

/* A complete unit gets its control part; without memory it has none. */
void
npi_unit(queue_t *q, mblk_t *mp)
{
	N_data_ind_t d = {N_DATA_IND, 0};
	mblk_t *up = npi_control(M_PROTO, &d, sizeof(d), 0);

	if (up != NULL) {
		up->b_cont = mp;
		mp = up;
	}
	putnext(q, mp);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * npi - makes a transport provider with connections a network provider: NPI
 * revision 2.0.0 above, TPI below.  /dev/sctp_n is the driver sctp with it.
 *
 * Translation.  A request becomes the request of TPI that does the same, and an
 * answer or indication the one of NPI.  The provider knows the state; the module
 * keeps none, so it needs no repair after a killed thread, and an endpoint that
 * another stream's N_CONN_RES has connected needs no notice.
 *
 * Differences.  TPI acknowledges T_CONN_REQ, which NPI does not: that answer is
 * dropped.  NPI has no orderly release: the peer's one becomes N_DISCON_IND,
 * behind all data, and the module releases, too.  A complete unit of data comes
 * from a provider without a control part; it gets one.
 *
 * Binding.  The token of a stream is its ACCEPTOR_id.  When the provider has
 * bound an address, the module asks for the id; N_BIND_ACK waits for it.
 *
 * What a network provider need not have is refused by NNOTSUPPORT: receipt
 * confirmation, resets, qualities of service.
 *
 * Locks.  The perimeter of the pair of queues.
 *
 * Crash.  `bind' is the only message that the module keeps: if a thread is killed
 * between two stores, the message is lost, and its user waits.
 */
#include "npi_impl.h"

#define NPI_PRIMS 29u	 /* numbers of primitives */
#define NPI_MAXLEN 4096u /* bytes of a control part */
#define NO_TRANSPORT 0xffffu

/* ------------------------------------------------------------------- messages */

/* A control message with the @n bytes at @p and room for @more. */
mblk_t *
npi_control(int type, const void *p, size_t n, size_t more)
{
	mblk_t *mp = allocb(n + more, BPRI_HI);

	if (mp == NULL)
		return NULL;
	DB_TYPE(mp) = (unsigned char)type;
	bcopy(p, mp->b_wptr, n);
	mp->b_wptr += n;
	return mp;
}

/* Without memory the stream cannot go on. */
void
npi_pass(queue_t *q, mblk_t *mp, mblk_t *data)
{
	if (mp == NULL) {
		if (data != NULL)
			freemsg(data);
		(void)putnextctl1(RD(q), M_ERROR, ENOSR);
		return;
	}
	if (data != NULL)
		linkb(mp, data);
	putnext(q, mp);
}

static void
fatal(queue_t *q, mblk_t *mp)
{
	freemsg(mp);
	(void)putnextctl1(RD(q), M_ERROR, EPROTO);
}

void
npi_refuse(queue_t *q, mblk_t *mp, np_ulong prim, np_ulong error, np_ulong unix_err)
{
	N_error_ack_t ea = {N_ERROR_ACK, prim, error, unix_err};

	if (mp != NULL)
		freemsg(mp);
	npi_pass(RD(q), npi_control(M_PCPROTO, &ea, sizeof(ea), 0), NULL);
}

/* The part of the control block that @off and @len say; 0: it is not there. */
int
npi_range(const mblk_t *mp, np_ulong len, np_ulong off, const unsigned char **ret)
{
	np_ulong all = (np_ulong)MBLKL(mp);

	*ret = mp->b_rptr + off;
	return len == 0 || (off <= all && len <= all - off);
}

/* npi_append - append the @len bytes at @p, for which there is room */
void
npi_append(mblk_t *mp, const void *p, np_ulong len)
{
	if (len == 0)
		return;
	bcopy(p, mp->b_wptr, len);
	mp->b_wptr += len;
}

/* ------------------------------------------------------------------ downstream */

/* Each request's size, and the primitive of TPI. */
static const struct {
	np_ulong size;
	np_ulong tpi;
} prims[NPI_PRIMS] = {
	[N_CONN_REQ] = {sizeof(N_conn_req_t), T_CONN_REQ},
	[N_CONN_RES] = {sizeof(N_conn_res_t), T_CONN_RES},
	[N_DISCON_REQ] = {sizeof(N_discon_req_t), T_DISCON_REQ},
	[N_DATA_REQ] = {sizeof(N_data_req_t), T_DATA_REQ},
	[N_EXDATA_REQ] = {sizeof(N_exdata_req_t), T_EXDATA_REQ},
	[N_INFO_REQ] = {sizeof(N_info_req_t), T_INFO_REQ},
	[N_BIND_REQ] = {sizeof(N_bind_req_t), T_BIND_REQ},
	[N_UNBIND_REQ] = {sizeof(N_unbind_req_t), T_UNBIND_REQ},
	[N_UNITDATA_REQ] = {sizeof(N_unitdata_req_t), NO_TRANSPORT},
	[N_OPTMGMT_REQ] = {sizeof(N_optmgmt_req_t), NO_TRANSPORT},
	[N_DATACK_REQ] = {sizeof(N_datack_req_t), NO_TRANSPORT},
	[N_RESET_REQ] = {sizeof(N_reset_req_t), NO_TRANSPORT},
	[N_RESET_RES] = {sizeof(N_reset_res_t), NO_TRANSPORT},
};

/* The primitive of NPI whose request @tpi was. */
np_ulong
npi_prim_of(t_scalar_t tpi)
{
	np_ulong i;

	for (i = 0; i < NPI_PRIMS; i++)
		if (prims[i].size != 0 && prims[i].tpi == (np_ulong)tpi)
			return i;
	return N_INFO_REQ;
}

/* Send @mp down in place of @old, whose data goes along. */
void
npi_instead(queue_t *q, mblk_t *mp, mblk_t *old)
{
	mblk_t *data = unlinkb(old);

	freeb(old);
	npi_pass(q, mp, data);
}

static void
bind_req(queue_t *q, mblk_t *mp, const N_bind_req_t *r)
{
	struct T_bind_req b = {.PRIM_type = T_BIND_REQ};
	const unsigned char *addr;
	mblk_t *to;

	if (!npi_range(mp, r->ADDR_length, r->ADDR_offset, &addr) ||
		r->ADDR_length > NPI_ADDR) {
		npi_refuse(q, mp, N_BIND_REQ, NBADADDR, 0);
		return;
	}
	if ((r->BIND_flags & ~(np_ulong)TOKEN_REQUEST) != 0) {
		npi_refuse(q, mp, N_BIND_REQ, NBADFLAG, 0);
		return;
	}
	if (r->PROTOID_length != 0) {
		npi_refuse(q, mp, N_BIND_REQ, NNOPROTOID, 0);
		return;
	}
	b.ADDR_length = (t_scalar_t)r->ADDR_length;
	b.ADDR_offset = r->ADDR_length != 0 ? (t_scalar_t)sizeof(b) : 0;
	b.CONIND_number = r->CONIND_number;
	npi_of(q)->token = r->BIND_flags & TOKEN_REQUEST;
	to = npi_control(M_PROTO, &b, sizeof(b), r->ADDR_length);
	if (to != NULL)
		npi_append(to, addr, r->ADDR_length);
	npi_instead(q, to, mp);
}

/* The flags and the quality that a connection may have.  0, or the error. */
static np_ulong
wanted(np_ulong flags, np_ulong qos)
{
	if ((flags & ~(np_ulong)(REC_CONF_OPT | EX_DATA_OPT)) != 0)
		return NBADFLAG;
	return qos != 0 ? NBADQOSTYPE : 0;
}

static void
conn_req(queue_t *q, mblk_t *mp, const N_conn_req_t *r)
{
	struct T_conn_req c = {.PRIM_type = T_CONN_REQ,
		.DEST_offset = sizeof(c)};
	np_ulong err = wanted(r->CONN_flags, r->QOS_length);
	const unsigned char *addr;
	mblk_t *to;

	if (!npi_range(mp, r->DEST_length, r->DEST_offset, &addr))
		err = NBADADDR;
	if (err != 0) {
		npi_refuse(q, mp, N_CONN_REQ, err, 0);
		return;
	}
	c.DEST_length = (t_scalar_t)r->DEST_length;
	to = npi_control(M_PROTO, &c, sizeof(c), r->DEST_length);
	if (to != NULL)
		npi_append(to, addr, r->DEST_length);
	npi_instead(q, to, mp);
}

static void
conn_res(queue_t *q, mblk_t *mp, const N_conn_res_t *r)
{
	struct T_conn_res c = {.PRIM_type = T_CONN_RES,
		.ACCEPTOR_id = r->TOKEN_value != 0 ? r->TOKEN_value : npi_of(q)->id,
		.SEQ_number = (t_scalar_t)r->SEQ_number};
	np_ulong err = wanted(r->CONN_flags, r->QOS_length);

	if (err != 0)
		npi_refuse(q, mp, N_CONN_RES, err, 0);
	else
		npi_instead(q, npi_control(M_PROTO, &c, sizeof(c), 0), mp);
}

static void
discon_req(queue_t *q, mblk_t *mp, const N_discon_req_t *r)
{
	struct T_discon_req d = {.PRIM_type = T_DISCON_REQ,
		.SEQ_number = (t_scalar_t)r->SEQ_number};

	npi_instead(q, npi_control(M_PROTO, &d, sizeof(d), 0), mp);
}

/* Without N_MORE_DATA_FLAG the data alone says the same. */
static void
data_req(queue_t *q, mblk_t *mp, np_ulong flags)
{
	struct T_data_req d = {.PRIM_type = T_DATA_REQ,
		.MORE_flag = (flags & N_MORE_DATA_FLAG) != 0};
	mblk_t *data;

	if ((flags & ~(np_ulong)N_MORE_DATA_FLAG) != 0) {
		fatal(q, mp); /* receipt confirmation was not agreed upon */
		return;
	}
	if (d.MORE_flag || mp->b_cont == NULL) {
		npi_instead(q, npi_control(M_PROTO, &d, sizeof(d), 0), mp);
		return;
	}
	data = unlinkb(mp);
	freeb(mp);
	putnext(q, data);
}

static void
exdata_req(queue_t *q, mblk_t *mp)
{
	struct T_exdata_req d = {.PRIM_type = T_EXDATA_REQ};

	npi_instead(q, npi_control(M_PROTO, &d, sizeof(d), 0), mp);
}

/* A request of TPI that has nothing but its number. */
static void
bare(queue_t *q, mblk_t *mp, t_scalar_t prim)
{
	npi_instead(q, npi_control(prim == T_INFO_REQ ? M_PCPROTO : M_PROTO, &prim,
		sizeof(prim), 0), mp);
}

/* There is nothing to be managed: only a request for nothing succeeds. */
static void
optmgmt_req(queue_t *q, mblk_t *mp, const N_optmgmt_req_t *r)
{
	N_ok_ack_t ok = {N_OK_ACK, N_OPTMGMT_REQ};
	np_ulong err = r->QOS_length != 0 ? NBADQOSTYPE :
		r->OPTMGMT_flags != 0 ? NBADFLAG : 0;

	if (err != 0) {
		npi_refuse(q, mp, N_OPTMGMT_REQ, err, 0);
		return;
	}
	freemsg(mp);
	npi_pass(RD(q), npi_control(M_PCPROTO, &ok, sizeof(ok), 0), NULL);
}

static void
user_request(queue_t *q, mblk_t *mp)
{
	const union N_primitives *p = (const void *)mp->b_rptr;
	size_t n = (size_t)MBLKL(mp);

	if (n < sizeof(p->type) || n > NPI_MAXLEN || p->type >= NPI_PRIMS ||
		prims[p->type].size == 0 || n < prims[p->type].size) {
		fatal(q, mp);
		return;
	}
	switch (p->type) {
	case N_CONN_REQ:
		conn_req(q, mp, &p->conn_req);
		break;
	case N_CONN_RES:
		conn_res(q, mp, &p->conn_res);
		break;
	case N_DISCON_REQ:
		discon_req(q, mp, &p->discon_req);
		break;
	case N_DATA_REQ:
		data_req(q, mp, p->data_req.DATA_xfer_flags);
		break;
	case N_EXDATA_REQ:
		exdata_req(q, mp);
		break;
	case N_INFO_REQ:
	case N_UNBIND_REQ:
		bare(q, mp, (t_scalar_t)prims[p->type].tpi);
		break;
	case N_BIND_REQ:
		bind_req(q, mp, &p->bind_req);
		break;
	case N_OPTMGMT_REQ:
		optmgmt_req(q, mp, &p->optmgmt_req);
		break;
	default:
		npi_refuse(q, mp, p->type, NNOTSUPPORT, 0);
		break;
	}
}

static int
npi_wput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_PROTO:
	case M_PCPROTO:
		user_request(q, mp);
		break;
	case M_FLUSH:
		canon_flush_pass(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

static int
npi_rput(queue_t *q, mblk_t *mp)
{
	switch (DB_TYPE(mp)) {
	case M_DATA:
		npi_unit(q, mp);
		break;
	case M_PROTO:
	case M_PCPROTO:
		npi_provider(q, mp);
		break;
	case M_FLUSH:
		canon_flush_pass(q, mp);
		break;
	default:
		putnext(q, mp);
		break;
	}
	return 0;
}

/* --------------------------------------------------------------------- streams */

static int
npi_open(queue_t *q, dev_t *devp, int flag, int sflag, cred_t *crp)
{
	struct npi *n;

	(void)devp, (void)flag, (void)crp;
	if (q->q_ptr != NULL)
		return 0;
	if (sflag != MODOPEN)
		return EINVAL;
	n = kmem_zalloc(sizeof(*n), KM_SLEEP);
	if (n == NULL)
		return ENOSR;
	q->q_ptr = WR(q)->q_ptr = n;
	qprocson(q);
	return 0;
}

static int
npi_close(queue_t *q, int flag, cred_t *crp)
{
	struct npi *n = npi_of(q);

	(void)flag, (void)crp;
	qprocsoff(q);
	q->q_ptr = WR(q)->q_ptr = NULL;
	if (n->bind != NULL)
		freemsg(n->bind);
	kmem_free(n, sizeof(*n));
	return 0;
}

static const struct module_info npi_info = {
	.mi_idnum = 0x6e70,
	.mi_idname = "npi",
	.mi_minpsz = 0,
	.mi_maxpsz = INFPSZ,
	.mi_hiwat = STRHIGH,
	.mi_lowat = STRLOW,
};

static const struct qinit npi_rinit = {
	.qi_putp = npi_rput,
	.qi_qopen = npi_open,
	.qi_qclose = npi_close,
	.qi_minfo = (struct module_info *)&npi_info,
};

static const struct qinit npi_winit = {
	.qi_putp = npi_wput,
	.qi_minfo = (struct module_info *)&npi_info,
};

STR_MODULE(npi, npi_rinit, npi_winit, D_MTQPAIR);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/tihdr.h> - the Transport Provider Interface
 *
 * The messages between a transport provider and its user, a program or module:
 * TPI revision 2.0.  A primitive is the control part of a message and begins
 * with its number.  Addresses and options lie in the same block; the length and
 * offset fields say where, offsets count from its first byte.  User data is the
 * data part.  Acknowledgements have high priority (M_PCPROTO), all others are
 * M_PROTO; T_DATA_REQ may be omitted before data.
 */
#ifndef _SYS_TIHDR_H
#define _SYS_TIHDR_H

#define _STR_TPI
#include <sys/xti.h>
#undef _STR_TPI

#ifdef __cplusplus
extern "C" {
#endif

/* Requests. */
#define T_CONN_REQ 0
#define T_CONN_RES 1
#define T_DISCON_REQ 2
#define T_DATA_REQ 3
#define T_EXDATA_REQ 4
#define T_INFO_REQ 5
#define T_BIND_REQ 6
#define T_UNBIND_REQ 7
#define T_UNITDATA_REQ 8
#define T_OPTMGMT_REQ 9
#define T_ORDREL_REQ 10
/* Indications, confirmations, acknowledgements. */
#define T_CONN_IND 11
#define T_CONN_CON 12
#define T_DISCON_IND 13
#define T_DATA_IND 14
#define T_EXDATA_IND 15
#define T_INFO_ACK 16
#define T_BIND_ACK 17
#define T_ERROR_ACK 18
#define T_OK_ACK 19
#define T_UNITDATA_IND 20
#define T_UDERROR_IND 21
#define T_OPTMGMT_ACK 22
#define T_ORDREL_IND 23
/* The following have other numbers on other systems. */
#define T_OPTDATA_REQ 24
#define T_ADDR_REQ 25
#define T_OPTDATA_IND 26
#define T_ADDR_ACK 27
#define T_CAPABILITY_REQ 28
#define T_CAPABILITY_ACK 29

/*
 * Extension: T_BIND_REQ with the semantics of TLI: if the address is in use,
 * the provider binds another one and returns it in the T_BIND_ACK.
 */
#define O_T_BIND_REQ 0x1006

/* States of an interface, values of CURRENT_state. */
#define TS_UNBND 0	  /* no address */
#define TS_WACK_BREQ 1	  /* T_BIND_REQ is to be acknowledged */
#define TS_WACK_UREQ 2	  /* T_UNBIND_REQ is */
#define TS_IDLE 3	  /* bound */
#define TS_WACK_OPTREQ 4  /* T_OPTMGMT_REQ is to be acknowledged */
#define TS_WACK_CREQ 5	  /* T_CONN_REQ is */
#define TS_WCON_CREQ 6	  /* T_CONN_REQ is to be confirmed */
#define TS_WRES_CIND 7	  /* T_CONN_IND is to be answered */
#define TS_WACK_CRES 8	  /* T_CONN_RES is to be acknowledged */
#define TS_DATA_XFER 9	  /* connected */
#define TS_WIND_ORDREL 10 /* released by us */
#define TS_WREQ_ORDREL 11 /* released by the peer */
#define TS_WACK_DREQ6 12  /* T_DISCON_REQ, from TS_WCON_CREQ */
#define TS_WACK_DREQ7 13  /* ... from TS_WRES_CIND */
#define TS_WACK_DREQ9 14  /* ... from TS_DATA_XFER */
#define TS_WACK_DREQ10 15 /* ... from TS_WIND_ORDREL */
#define TS_WACK_DREQ11 16 /* ... from TS_WREQ_ORDREL */
#define TS_NOSTATES 17

/* PROVIDER_flag, in addition to T_SENDZERO and T_ORDRELDATA. */
#define XPG4_1 0x0100 /* T_OPTMGMT_REQ in all states, T_ADDR_REQ */

/* T_CAPABILITY_REQ: requested parts. */
#define TC1_INFO 0x0001	       /* INFO_ack */
#define TC1_ACCEPTOR_ID 0x0002 /* ACCEPTOR_id */

/* DATA_flag of T_OPTDATA_REQ and T_OPTDATA_IND. */
#define T_ODF_EX 0x0001	  /* expedited */
#define T_ODF_MORE 0x0002 /* more of it follows */

struct T_conn_req {
	t_scalar_t PRIM_type;
	t_scalar_t DEST_length; /* address of the peer */
	t_scalar_t DEST_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_conn_res {
	t_scalar_t PRIM_type;
	t_uscalar_t ACCEPTOR_id; /* of the stream the connection goes to */
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
	t_scalar_t SEQ_number;	 /* of the T_CONN_IND */
};
#define QUEUE_ptr ACCEPTOR_id /* its name in System V: I_FDINSERT stores it */

struct T_discon_req {
	t_scalar_t PRIM_type;
	t_scalar_t SEQ_number; /* of the T_CONN_IND that is refused, or -1 */
};

struct T_data_req {
	t_scalar_t PRIM_type;
	t_scalar_t MORE_flag; /* the unit goes on in the next one */
};

struct T_exdata_req {
	t_scalar_t PRIM_type;
	t_scalar_t MORE_flag;
};

struct T_info_req {
	t_scalar_t PRIM_type;
};

struct T_bind_req {
	t_scalar_t PRIM_type;
	t_scalar_t ADDR_length;	   /* 0: any address */
	t_scalar_t ADDR_offset;
	t_uscalar_t CONIND_number; /* indications that may wait; 0: none */
};

struct T_unbind_req {
	t_scalar_t PRIM_type;
};

struct T_unitdata_req {
	t_scalar_t PRIM_type;
	t_scalar_t DEST_length;
	t_scalar_t DEST_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_optmgmt_req {
	t_scalar_t PRIM_type;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
	t_scalar_t MGMT_flags; /* T_NEGOTIATE ... T_CURRENT */
};

struct T_ordrel_req {
	t_scalar_t PRIM_type;
};

struct T_optdata_req {
	t_scalar_t PRIM_type;
	t_scalar_t DATA_flag; /* T_ODF_* */
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_addr_req {
	t_scalar_t PRIM_type;
};

struct T_capability_req {
	t_scalar_t PRIM_type;
	t_uscalar_t CAP_bits1; /* TC1_* */
};

struct T_conn_ind {
	t_scalar_t PRIM_type;
	t_scalar_t SRC_length; /* address of the caller */
	t_scalar_t SRC_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
	t_scalar_t SEQ_number; /* identifies it in the answer */
};

struct T_conn_con {
	t_scalar_t PRIM_type;
	t_scalar_t RES_length; /* address of the acceptor */
	t_scalar_t RES_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_discon_ind {
	t_scalar_t PRIM_type;
	t_scalar_t DISCON_reason; /* an errno */
	t_scalar_t SEQ_number;	  /* of the T_CONN_IND that is withdrawn, or
				   * -1 */
};

struct T_data_ind {
	t_scalar_t PRIM_type;
	t_scalar_t MORE_flag;
};

struct T_exdata_ind {
	t_scalar_t PRIM_type;
	t_scalar_t MORE_flag;
};

struct T_info_ack {
	t_scalar_t PRIM_type;
	t_scalar_t TSDU_size;  /* a unit of data; 0: a stream of bytes */
	t_scalar_t ETSDU_size; /* a unit of expedited data */
	t_scalar_t CDATA_size; /* data with a connection */
	t_scalar_t DDATA_size; /* data with a disconnection */
	t_scalar_t ADDR_size;
	t_scalar_t OPT_size;
	t_scalar_t TIDU_size;  /* data in one message */
	t_scalar_t SERV_type;  /* T_COTS, T_COTS_ORD, T_CLTS */
	t_scalar_t CURRENT_state;
	t_scalar_t PROVIDER_flag;
};

struct T_bind_ack {
	t_scalar_t PRIM_type;
	t_scalar_t ADDR_length;
	t_scalar_t ADDR_offset;
	t_uscalar_t CONIND_number;
};

struct T_error_ack {
	t_scalar_t PRIM_type;
	t_scalar_t ERROR_prim; /* which request */
	t_scalar_t TLI_error;  /* T* above */
	t_scalar_t UNIX_error; /* an errno, of TSYSERR */
};

struct T_ok_ack {
	t_scalar_t PRIM_type;
	t_scalar_t CORRECT_prim; /* which request */
};

struct T_unitdata_ind {
	t_scalar_t PRIM_type;
	t_scalar_t SRC_length;
	t_scalar_t SRC_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_uderror_ind {
	t_scalar_t PRIM_type;
	t_scalar_t DEST_length;
	t_scalar_t DEST_offset;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
	t_scalar_t ERROR_type; /* an errno, or the transport's */
};

struct T_optmgmt_ack {
	t_scalar_t PRIM_type;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
	t_scalar_t MGMT_flags; /* the worst of T_SUCCESS ... T_NOTSUPPORT */
};

struct T_ordrel_ind {
	t_scalar_t PRIM_type;
};

struct T_optdata_ind {
	t_scalar_t PRIM_type;
	t_scalar_t DATA_flag;
	t_scalar_t OPT_length;
	t_scalar_t OPT_offset;
};

struct T_addr_ack {
	t_scalar_t PRIM_type;
	t_scalar_t LOCADDR_length;
	t_scalar_t LOCADDR_offset;
	t_scalar_t REMADDR_length;
	t_scalar_t REMADDR_offset;
};

struct T_capability_ack {
	t_scalar_t PRIM_type;
	t_uscalar_t CAP_bits1; /* which of the following are present */
	struct T_info_ack INFO_ack;
	t_uscalar_t ACCEPTOR_id;
};

union T_primitives {
	t_scalar_t type;
	struct T_conn_req conn_req;
	struct T_conn_res conn_res;
	struct T_discon_req discon_req;
	struct T_data_req data_req;
	struct T_exdata_req exdata_req;
	struct T_info_req info_req;
	struct T_bind_req bind_req;
	struct T_unbind_req unbind_req;
	struct T_unitdata_req unitdata_req;
	struct T_optmgmt_req optmgmt_req;
	struct T_ordrel_req ordrel_req;
	struct T_optdata_req optdata_req;
	struct T_addr_req addr_req;
	struct T_capability_req capability_req;
	struct T_conn_ind conn_ind;
	struct T_conn_con conn_con;
	struct T_discon_ind discon_ind;
	struct T_data_ind data_ind;
	struct T_exdata_ind exdata_ind;
	struct T_info_ack info_ack;
	struct T_bind_ack bind_ack;
	struct T_error_ack error_ack;
	struct T_ok_ack ok_ack;
	struct T_unitdata_ind unitdata_ind;
	struct T_uderror_ind uderror_ind;
	struct T_optmgmt_ack optmgmt_ack;
	struct T_ordrel_ind ordrel_ind;
	struct T_optdata_ind optdata_ind;
	struct T_addr_ack addr_ack;
	struct T_capability_ack capability_ack;
};

#ifdef __cplusplus
}
#endif

#endif /* _SYS_TIHDR_H */

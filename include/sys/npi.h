/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/npi.h> - the Network Provider Interface, revision 2.0.0
 *
 * Messages between a user and a network provider in connection mode.  npi(7)
 * describes which of them the module npi supports.
 */
#ifndef _SYS_NPI_H
#define _SYS_NPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define N_CURRENT_VERSION 2
#define N_VERSION_2 2

/* Primitives of the user. */
#define N_CONN_REQ 0
#define N_CONN_RES 1
#define N_DISCON_REQ 2
#define N_DATA_REQ 3
#define N_EXDATA_REQ 4
#define N_INFO_REQ 5
#define N_BIND_REQ 6
#define N_UNBIND_REQ 7
#define N_UNITDATA_REQ 8
#define N_OPTMGMT_REQ 9
/* Primitives of the provider. */
#define N_CONN_IND 11
#define N_CONN_CON 12
#define N_DISCON_IND 13
#define N_DATA_IND 14
#define N_EXDATA_IND 15
#define N_INFO_ACK 16
#define N_BIND_ACK 17
#define N_ERROR_ACK 18
#define N_OK_ACK 19
#define N_UNITDATA_IND 20
#define N_UDERROR_IND 21
/* Of either. */
#define N_DATACK_REQ 23
#define N_DATACK_IND 24
#define N_RESET_REQ 25
#define N_RESET_IND 26
#define N_RESET_RES 27
#define N_RESET_CON 28

/* States. */
#define NS_UNBND 0
#define NS_WACK_BREQ 1
#define NS_WACK_UREQ 2
#define NS_IDLE 3
#define NS_WACK_OPTREQ 4
#define NS_WACK_RRES 5
#define NS_WCON_CREQ 6
#define NS_WRES_CIND 7
#define NS_WACK_CRES 8
#define NS_DATA_XFER 9
#define NS_WCON_RREQ 10
#define NS_WRES_RIND 11
#define NS_WACK_DREQ6 12
#define NS_WACK_DREQ7 13
#define NS_WACK_DREQ9 14
#define NS_WACK_DREQ10 15
#define NS_WACK_DREQ11 16
#define NS_NOSTATES 18

/* NPI_error of N_ERROR_ACK. */
#define NBADADDR 1
#define NBADOPT 2
#define NACCESS 3
#define NNOADDR 5
#define NOUTSTATE 6
#define NBADSEQ 7
#define NSYSERR 8 /* UNIX_error says which */
#define NBADDATA 10
#define NBADFLAG 16
#define NNOTSUPPORT 18
#define NBOUND 19
#define NBADQOSPARAM 20
#define NBADQOSTYPE 21
#define NBADTOKEN 22
#define NNOPROTOID 23

/* DISCON_orig, RESET_orig. */
#define N_PROVIDER 0x0100
#define N_USER 0x0101
#define N_UNDEFINED 0x0102
/* DISCON_reason; of an originator that is not known: */
#define N_REASON_UNDEFINED 0x0200
/* ... of the provider: */
#define N_DISC_P 0x0300
#define N_DISC_T 0x0301
#define N_REJ_NSAP_UNKNOWN 0x0302
#define N_REJ_NSAP_UNREACH_P 0x0303
#define N_REJ_NSAP_UNREACH_T 0x0304
/* ... of either: */
#define N_REJ_QOS_UNAVAIL_P 0x0305
#define N_REJ_QOS_UNAVAIL_T 0x0306
#define N_REJ_UNSPECIFIED 0x0307
/* ... of the user: */
#define N_DISC_NORMAL 0x0400
#define N_DISC_ABNORMAL 0x0401
#define N_REJ_P 0x0402
#define N_REJ_T 0x0403
#define N_REJ_INCOMPAT_INFO 0x0406
/* RESET_reason. */
#define N_CONGESTION 0x0500
#define N_RESET_UNSPECIFIED 0x0501
#define N_USER_RESYNC 0x0600

/* CONN_flags, OPTIONS_flags, OPTMGMT_flags. */
#define REC_CONF_OPT 0x1
#define EX_DATA_OPT 0x2
#define DEFAULT_RC_SEL 0x4
/* BIND_flags. */
#define DEFAULT_LISTENER 0x1
#define TOKEN_REQUEST 0x2
#define DEFAULT_DEST 0x4
/* DATA_xfer_flags. */
#define N_MORE_DATA_FLAG 0x1
#define N_RC_FLAG 0x2

/* SERV_type, PROVIDER_type. */
#define N_CONS 1
#define N_CLNS 2
#define N_SNICFP 1
#define N_SUBNET 2

#define QOS_UNKNOWN (-1)

typedef int32_t np_long;
typedef uint32_t np_ulong;
typedef uint16_t np_ushort;

/* Each begins with the number of the primitive; offsets are from there. */
typedef struct {
	np_ulong PRIM_type;
} N_info_req_t, N_unbind_req_t, N_datack_req_t, N_datack_ind_t,
	N_exdata_req_t, N_exdata_ind_t, N_reset_res_t, N_reset_con_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong NSDU_size, ENSDU_size, CDATA_size, DDATA_size, ADDR_size;
	np_ulong ADDR_length, ADDR_offset; /* to which the stream is bound */
	np_ulong QOS_length, QOS_offset;
	np_ulong QOS_range_length, QOS_range_offset;
	np_ulong OPTIONS_flags;
	np_ulong NIDU_size;
	np_long SERV_type;
	np_ulong CURRENT_state;
	np_ulong PROVIDER_type;
	np_ulong NODU_size;
	np_ulong PROTOID_length, PROTOID_offset;
	np_ulong NPI_version;
} N_info_ack_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong ADDR_length, ADDR_offset;
	np_ulong CONIND_number;
	np_ulong BIND_flags;
	np_ulong PROTOID_length, PROTOID_offset;
} N_bind_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong ADDR_length, ADDR_offset;
	np_ulong CONIND_number;
	np_ulong TOKEN_value;
	np_ulong PROTOID_length, PROTOID_offset;
} N_bind_ack_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong QOS_length, QOS_offset;
	np_ulong OPTMGMT_flags;
} N_optmgmt_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong ERROR_prim;
	np_ulong NPI_error, UNIX_error;
} N_error_ack_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong CORRECT_prim;
} N_ok_ack_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DEST_length, DEST_offset;
	np_ulong CONN_flags;
	np_ulong QOS_length, QOS_offset;
} N_conn_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DEST_length, DEST_offset;
	np_ulong SRC_length, SRC_offset;
	np_ulong SEQ_number;
	np_ulong CONN_flags;
	np_ulong QOS_length, QOS_offset;
} N_conn_ind_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong TOKEN_value; /* of the accepting stream; 0: the same stream */
	np_ulong RES_length, RES_offset;
	np_ulong SEQ_number;
	np_ulong CONN_flags;
	np_ulong QOS_length, QOS_offset;
} N_conn_res_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong RES_length, RES_offset;
	np_ulong CONN_flags;
	np_ulong QOS_length, QOS_offset;
} N_conn_con_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DATA_xfer_flags;
} N_data_req_t, N_data_ind_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong RESET_reason;
} N_reset_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong RESET_orig, RESET_reason;
} N_reset_ind_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DISCON_reason;
	np_ulong RES_length, RES_offset;
	np_ulong SEQ_number; /* of the N_CONN_IND that is refused; -1: none */
} N_discon_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DISCON_orig, DISCON_reason;
	np_ulong RES_length, RES_offset;
	np_ulong SEQ_number; /* of the N_CONN_IND that is withdrawn; -1: none */
} N_discon_ind_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DEST_length, DEST_offset;
	np_ulong RESERVED_field[2];
} N_unitdata_req_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong SRC_length, SRC_offset;
	np_ulong DEST_length, DEST_offset;
	np_ulong ERROR_type;
} N_unitdata_ind_t;

typedef struct {
	np_ulong PRIM_type;
	np_ulong DEST_length, DEST_offset;
	np_ulong RESERVED_field;
	np_ulong ERROR_type;
} N_uderror_ind_t;

union N_primitives {
	np_ulong type;
	N_info_req_t info_req;
	N_info_ack_t info_ack;
	N_bind_req_t bind_req;
	N_bind_ack_t bind_ack;
	N_unbind_req_t unbind_req;
	N_optmgmt_req_t optmgmt_req;
	N_error_ack_t error_ack;
	N_uderror_ind_t uderror_ind;
	N_ok_ack_t ok_ack;
	N_conn_req_t conn_req;
	N_conn_ind_t conn_ind;
	N_conn_res_t conn_res;
	N_conn_con_t conn_con;
	N_data_req_t data_req;
	N_data_ind_t data_ind;
	N_datack_req_t datack_req;
	N_datack_ind_t datack_ind;
	N_exdata_req_t exdata_req;
	N_exdata_ind_t exdata_ind;
	N_reset_req_t reset_req;
	N_reset_ind_t reset_ind;
	N_reset_res_t reset_res;
	N_reset_con_t reset_con;
	N_discon_req_t discon_req;
	N_discon_ind_t discon_ind;
	N_unitdata_req_t unitdata_req;
	N_unitdata_ind_t unitdata_ind;
};

#ifdef __cplusplus
}
#endif

#endif /* _SYS_NPI_H */

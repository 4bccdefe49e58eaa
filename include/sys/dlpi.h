/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/dlpi.h> - the Data Link Provider Interface, version 2
 *
 * Numbers and structures for drivers, modules and programs that use DLPI.  No
 * driver here has a network interface below it.
 *
 * Every field is 32 bits wide, as in TPI, except two of dl_bind_req_t.  Offsets
 * count from the beginning of the M_PROTO or M_PCPROTO block.  This header
 * lacks the structures of the qualities of service and of acknowledged
 * datagrams.
 */
#ifndef _SYS_DLPI_H
#define _SYS_DLPI_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _STR_T_SCALAR_T
#define _STR_T_SCALAR_T
typedef int t_scalar_t;
typedef unsigned int t_uscalar_t;
#endif

#define DL_VERSION_2 0x02
#define DL_CURRENT_VERSION DL_VERSION_2

/* dl_primitive: local management */
#define DL_INFO_REQ 0x00
#define DL_BIND_REQ 0x01
#define DL_UNBIND_REQ 0x02
#define DL_INFO_ACK 0x03
#define DL_BIND_ACK 0x04
#define DL_ERROR_ACK 0x05
#define DL_OK_ACK 0x06
#define DL_ATTACH_REQ 0x0b
#define DL_DETACH_REQ 0x0c
#define DL_UDQOS_REQ 0x0a
#define DL_SUBS_UNBIND_REQ 0x15
#define DL_SUBS_BIND_REQ 0x1b
#define DL_SUBS_BIND_ACK 0x1c
#define DL_ENABMULTI_REQ 0x1d
#define DL_DISABMULTI_REQ 0x1e
#define DL_PROMISCON_REQ 0x1f
#define DL_PROMISCOFF_REQ 0x20
#define DL_PHYS_ADDR_REQ 0x31
#define DL_PHYS_ADDR_ACK 0x32
#define DL_SET_PHYS_ADDR_REQ 0x33
#define DL_GET_STATISTICS_REQ 0x34
#define DL_GET_STATISTICS_ACK 0x35

/* ... datagrams */
#define DL_UNITDATA_REQ 0x07
#define DL_UNITDATA_IND 0x08
#define DL_UDERROR_IND 0x09

/* ... connections */
#define DL_CONNECT_REQ 0x0d
#define DL_CONNECT_IND 0x0e
#define DL_CONNECT_RES 0x0f
#define DL_CONNECT_CON 0x10
#define DL_TOKEN_REQ 0x11
#define DL_TOKEN_ACK 0x12
#define DL_DISCONNECT_REQ 0x13
#define DL_DISCONNECT_IND 0x14
#define DL_RESET_REQ 0x17
#define DL_RESET_IND 0x18
#define DL_RESET_RES 0x19
#define DL_RESET_CON 0x1a

/* ... acknowledged datagrams */
#define DL_DATA_ACK_REQ 0x21
#define DL_DATA_ACK_IND 0x22
#define DL_DATA_ACK_STATUS_IND 0x23
#define DL_REPLY_REQ 0x24
#define DL_REPLY_IND 0x25
#define DL_REPLY_STATUS_IND 0x26
#define DL_REPLY_UPDATE_REQ 0x27
#define DL_REPLY_UPDATE_STATUS_IND 0x28

/* ... XID and TEST frames */
#define DL_XID_REQ 0x29
#define DL_XID_IND 0x2a
#define DL_XID_RES 0x2b
#define DL_XID_CON 0x2c
#define DL_TEST_REQ 0x2d
#define DL_TEST_IND 0x2e
#define DL_TEST_RES 0x2f
#define DL_TEST_CON 0x30

/* dl_current_state */
#define DL_UNBOUND 0x00
#define DL_BIND_PENDING 0x01
#define DL_UNBIND_PENDING 0x02
#define DL_IDLE 0x03
#define DL_UNATTACHED 0x04
#define DL_ATTACH_PENDING 0x05
#define DL_DETACH_PENDING 0x06
#define DL_UDQOS_PENDING 0x07
#define DL_OUTCON_PENDING 0x08
#define DL_INCON_PENDING 0x09
#define DL_CONN_RES_PENDING 0x0a
#define DL_DATAXFER 0x0b
#define DL_USER_RESET_PENDING 0x0c
#define DL_PROV_RESET_PENDING 0x0d
#define DL_RESET_RES_PENDING 0x0e
#define DL_DISCON8_PENDING 0x0f
#define DL_DISCON9_PENDING 0x10
#define DL_DISCON11_PENDING 0x11
#define DL_DISCON12_PENDING 0x12
#define DL_DISCON13_PENDING 0x13
#define DL_SUBS_BIND_PND 0x14
#define DL_SUBS_UNBIND_PND 0x15

/* dl_errno; with DL_SYSERR, dl_unix_errno says more */
#define DL_BADSAP 0x00
#define DL_BADADDR 0x01
#define DL_ACCESS 0x02
#define DL_OUTSTATE 0x03
#define DL_SYSERR 0x04
#define DL_BADCORR 0x05
#define DL_BADDATA 0x06
#define DL_UNSUPPORTED 0x07
#define DL_BADPPA 0x08
#define DL_BADPRIM 0x09
#define DL_BADQOSPARAM 0x0a
#define DL_BADQOSTYPE 0x0b
#define DL_BADTOKEN 0x0c
#define DL_BOUND 0x0d
#define DL_INITFAILED 0x0e
#define DL_NOADDR 0x0f
#define DL_NOTINIT 0x10
#define DL_UNDELIVERABLE 0x11
#define DL_NOTSUPPORTED 0x12
#define DL_TOOMANY 0x13
#define DL_NOTENAB 0x14
#define DL_BUSY 0x15
#define DL_NOAUTO 0x16
#define DL_NOXIDAUTO 0x17
#define DL_NOTESTAUTO 0x18
#define DL_XIDAUTO 0x19
#define DL_TESTAUTO 0x1a
#define DL_PENDING 0x1b

/* dl_mac_type */
#define DL_CSMACD 0x00
#define DL_TPB 0x01
#define DL_TPR 0x02
#define DL_METRO 0x03
#define DL_ETHER 0x04
#define DL_HDLC 0x05
#define DL_CHAR 0x06
#define DL_CTCA 0x07
#define DL_FDDI 0x08
#define DL_OTHER 0x09

/* dl_service_mode: connections, datagrams, acknowledged datagrams; a bit each */
#define DL_CODLS 0x01
#define DL_CLDLS 0x02
#define DL_ACLDLS 0x04

/* dl_provider_style: does open choose the interface, or DL_ATTACH_REQ? */
#define DL_STYLE1 0x0500
#define DL_STYLE2 0x0501

/* dl_originator */
#define DL_PROVIDER 0x0700
#define DL_USER 0x0701

/* dl_reason of a disconnection */
#define DL_CONREJ_DEST_UNKNOWN 0x0800
#define DL_CONREJ_DEST_UNREACH_PERMANENT 0x0801
#define DL_CONREJ_DEST_UNREACH_TRANSIENT 0x0802
#define DL_CONREJ_QOS_UNAVAIL_PERMANENT 0x0803
#define DL_CONREJ_QOS_UNAVAIL_TRANSIENT 0x0804
#define DL_CONREJ_PERMANENT_COND 0x0805
#define DL_CONREJ_TRANSIENT_COND 0x0806
#define DL_DISC_ABNORMAL_CONDITION 0x0807
#define DL_DISC_NORMAL_CONDITION 0x0808
#define DL_DISC_PERMANENT_CONDITION 0x0809
#define DL_DISC_TRANSIENT_CONDITION 0x080a
#define DL_DISC_UNSPECIFIED 0x080b

/* dl_reason of a reset */
#define DL_RESET_FLOW_CONTROL 0x0900
#define DL_RESET_LINK_ERROR 0x0901
#define DL_RESET_RESYNCH 0x0902

/* dl_level of DL_PROMISCON_REQ */
#define DL_PROMISC_PHYS 0x01
#define DL_PROMISC_SAP 0x02
#define DL_PROMISC_MULTI 0x03

/* dl_addr_type of DL_PHYS_ADDR_REQ */
#define DL_FACT_PHYS_ADDR 0x01
#define DL_CURR_PHYS_ADDR 0x02

/* dl_xidtest_flg: the provider answers by itself */
#define DL_AUTO_XID 0x01
#define DL_AUTO_TEST 0x02

/* dl_subs_bind_class */
#define DL_PEER_BIND 0x01
#define DL_HIERARCHICAL_BIND 0x02

/* dl_flag of XID and TEST */
#define DL_POLL_FINAL 0x01

/* Qualities of service: which structure it is */
#define DL_QOS_CO_RANGE1 0x0101
#define DL_QOS_CO_SEL1 0x0102
#define DL_QOS_CL_RANGE1 0x0103
#define DL_QOS_CL_SEL1 0x0104
#define DL_UNKNOWN (-1)
#define DL_QOS_DONT_CARE (-2)

/* dl_protection, dl_priority */
#define DL_NONE 0x0b01
#define DL_MONITOR 0x0b02
#define DL_MAXIMUM 0x0b03

/* ------------------------------------------------------ local management */

typedef struct {
	t_uscalar_t dl_primitive;
} dl_info_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_max_sdu;
	t_uscalar_t dl_min_sdu;
	t_uscalar_t dl_addr_length;
	t_uscalar_t dl_mac_type;
	t_uscalar_t dl_reserved;
	t_uscalar_t dl_current_state;
	t_scalar_t dl_sap_length;
	t_uscalar_t dl_service_mode;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
	t_uscalar_t dl_qos_range_length;
	t_uscalar_t dl_qos_range_offset;
	t_uscalar_t dl_provider_style;
	t_uscalar_t dl_addr_offset;
	t_uscalar_t dl_version;
	t_uscalar_t dl_brdcst_addr_length;
	t_uscalar_t dl_brdcst_addr_offset;
	t_uscalar_t dl_growth;
} dl_info_ack_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_ppa;
} dl_attach_req_t;

typedef dl_info_req_t dl_detach_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_sap;
	t_uscalar_t dl_max_conind;
	unsigned short dl_service_mode;
	unsigned short dl_conn_mgmt;
	t_uscalar_t dl_xidtest_flg;
} dl_bind_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_sap;
	t_uscalar_t dl_addr_length;
	t_uscalar_t dl_addr_offset;
	t_uscalar_t dl_max_conind;
	t_uscalar_t dl_xidtest_flg;
} dl_bind_ack_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_subs_sap_offset;
	t_uscalar_t dl_subs_sap_length;
	t_uscalar_t dl_subs_bind_class;
} dl_subs_bind_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_subs_sap_offset;
	t_uscalar_t dl_subs_sap_length;
} dl_subs_bind_ack_t;

typedef dl_subs_bind_ack_t dl_subs_unbind_req_t;
typedef dl_info_req_t dl_unbind_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_correct_primitive;
} dl_ok_ack_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_error_primitive;
	t_uscalar_t dl_errno;
	t_uscalar_t dl_unix_errno;
} dl_error_ack_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_addr_length;
	t_uscalar_t dl_addr_offset;
} dl_enabmulti_req_t;

typedef dl_enabmulti_req_t dl_disabmulti_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_level;
} dl_promiscon_req_t;

typedef dl_promiscon_req_t dl_promiscoff_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_addr_type;
} dl_phys_addr_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_addr_length;
	t_uscalar_t dl_addr_offset;
} dl_phys_addr_ack_t;

typedef dl_phys_addr_ack_t dl_set_phys_addr_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
} dl_get_statistics_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_stat_length;
	t_uscalar_t dl_stat_offset;
} dl_get_statistics_ack_t;

/* -------------------------------------------------------------- datagrams */

typedef struct {
	t_scalar_t dl_min;
	t_scalar_t dl_max;
} dl_priority_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
	dl_priority_t dl_priority;
} dl_unitdata_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
	t_uscalar_t dl_src_addr_length;
	t_uscalar_t dl_src_addr_offset;
	t_uscalar_t dl_group_address;
} dl_unitdata_ind_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
	t_uscalar_t dl_unix_errno;
	t_uscalar_t dl_errno;
} dl_uderror_ind_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
} dl_udqos_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_flag;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
} dl_xid_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_flag;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
	t_uscalar_t dl_src_addr_length;
	t_uscalar_t dl_src_addr_offset;
} dl_xid_ind_t;

typedef dl_xid_req_t dl_xid_res_t;
typedef dl_xid_ind_t dl_xid_con_t;
typedef dl_xid_req_t dl_test_req_t;
typedef dl_xid_ind_t dl_test_ind_t;
typedef dl_xid_res_t dl_test_res_t;
typedef dl_xid_con_t dl_test_con_t;

/* ------------------------------------------------------------ connections */

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_dest_addr_length;
	t_uscalar_t dl_dest_addr_offset;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
	t_uscalar_t dl_growth;
} dl_connect_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_correlation;
	t_uscalar_t dl_called_addr_length;
	t_uscalar_t dl_called_addr_offset;
	t_uscalar_t dl_calling_addr_length;
	t_uscalar_t dl_calling_addr_offset;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
	t_uscalar_t dl_growth;
} dl_connect_ind_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_correlation;
	t_uscalar_t dl_resp_token;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
	t_uscalar_t dl_growth;
} dl_connect_res_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_resp_addr_length;
	t_uscalar_t dl_resp_addr_offset;
	t_uscalar_t dl_qos_length;
	t_uscalar_t dl_qos_offset;
	t_uscalar_t dl_growth;
} dl_connect_con_t;

typedef struct {
	t_uscalar_t dl_primitive;
} dl_token_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_token;
} dl_token_ack_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_reason;
	t_uscalar_t dl_correlation;
} dl_disconnect_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_originator;
	t_uscalar_t dl_reason;
	t_uscalar_t dl_correlation;
} dl_disconnect_ind_t;

typedef struct {
	t_uscalar_t dl_primitive;
} dl_reset_req_t;

typedef struct {
	t_uscalar_t dl_primitive;
	t_uscalar_t dl_originator;
	t_uscalar_t dl_reason;
} dl_reset_ind_t;

typedef dl_reset_req_t dl_reset_res_t;
typedef dl_reset_req_t dl_reset_con_t;

/* Any primitive at the beginning of a message. */
union DL_primitives {
	t_uscalar_t dl_primitive;
	dl_info_req_t info_req;
	dl_info_ack_t info_ack;
	dl_attach_req_t attach_req;
	dl_detach_req_t detach_req;
	dl_bind_req_t bind_req;
	dl_bind_ack_t bind_ack;
	dl_subs_bind_req_t subs_bind_req;
	dl_subs_bind_ack_t subs_bind_ack;
	dl_subs_unbind_req_t subs_unbind_req;
	dl_unbind_req_t unbind_req;
	dl_ok_ack_t ok_ack;
	dl_error_ack_t error_ack;
	dl_enabmulti_req_t enabmulti_req;
	dl_disabmulti_req_t disabmulti_req;
	dl_promiscon_req_t promiscon_req;
	dl_promiscoff_req_t promiscoff_req;
	dl_phys_addr_req_t phys_addr_req;
	dl_phys_addr_ack_t phys_addr_ack;
	dl_set_phys_addr_req_t set_phys_addr_req;
	dl_get_statistics_req_t get_statistics_req;
	dl_get_statistics_ack_t get_statistics_ack;
	dl_unitdata_req_t unitdata_req;
	dl_unitdata_ind_t unitdata_ind;
	dl_uderror_ind_t uderror_ind;
	dl_udqos_req_t udqos_req;
	dl_xid_req_t xid_req;
	dl_xid_ind_t xid_ind;
	dl_xid_res_t xid_res;
	dl_xid_con_t xid_con;
	dl_test_req_t test_req;
	dl_test_ind_t test_ind;
	dl_test_res_t test_res;
	dl_test_con_t test_con;
	dl_connect_req_t connect_req;
	dl_connect_ind_t connect_ind;
	dl_connect_res_t connect_res;
	dl_connect_con_t connect_con;
	dl_token_req_t token_req;
	dl_token_ack_t token_ack;
	dl_disconnect_req_t disconnect_req;
	dl_disconnect_ind_t disconnect_ind;
	dl_reset_req_t reset_req;
	dl_reset_ind_t reset_ind;
	dl_reset_res_t reset_res;
	dl_reset_con_t reset_con;
};

#define DL_INFO_REQ_SIZE sizeof(dl_info_req_t)
#define DL_INFO_ACK_SIZE sizeof(dl_info_ack_t)
#define DL_ATTACH_REQ_SIZE sizeof(dl_attach_req_t)
#define DL_DETACH_REQ_SIZE sizeof(dl_detach_req_t)
#define DL_BIND_REQ_SIZE sizeof(dl_bind_req_t)
#define DL_BIND_ACK_SIZE sizeof(dl_bind_ack_t)
#define DL_SUBS_BIND_REQ_SIZE sizeof(dl_subs_bind_req_t)
#define DL_SUBS_BIND_ACK_SIZE sizeof(dl_subs_bind_ack_t)
#define DL_SUBS_UNBIND_REQ_SIZE sizeof(dl_subs_unbind_req_t)
#define DL_UNBIND_REQ_SIZE sizeof(dl_unbind_req_t)
#define DL_OK_ACK_SIZE sizeof(dl_ok_ack_t)
#define DL_ERROR_ACK_SIZE sizeof(dl_error_ack_t)
#define DL_ENABMULTI_REQ_SIZE sizeof(dl_enabmulti_req_t)
#define DL_DISABMULTI_REQ_SIZE sizeof(dl_disabmulti_req_t)
#define DL_PROMISCON_REQ_SIZE sizeof(dl_promiscon_req_t)
#define DL_PROMISCOFF_REQ_SIZE sizeof(dl_promiscoff_req_t)
#define DL_PHYS_ADDR_REQ_SIZE sizeof(dl_phys_addr_req_t)
#define DL_PHYS_ADDR_ACK_SIZE sizeof(dl_phys_addr_ack_t)
#define DL_SET_PHYS_ADDR_REQ_SIZE sizeof(dl_set_phys_addr_req_t)
#define DL_GET_STATISTICS_REQ_SIZE sizeof(dl_get_statistics_req_t)
#define DL_GET_STATISTICS_ACK_SIZE sizeof(dl_get_statistics_ack_t)
#define DL_UNITDATA_REQ_SIZE sizeof(dl_unitdata_req_t)
#define DL_UNITDATA_IND_SIZE sizeof(dl_unitdata_ind_t)
#define DL_UDERROR_IND_SIZE sizeof(dl_uderror_ind_t)
#define DL_UDQOS_REQ_SIZE sizeof(dl_udqos_req_t)
#define DL_XID_REQ_SIZE sizeof(dl_xid_req_t)
#define DL_XID_IND_SIZE sizeof(dl_xid_ind_t)
#define DL_XID_RES_SIZE sizeof(dl_xid_res_t)
#define DL_XID_CON_SIZE sizeof(dl_xid_con_t)
#define DL_TEST_REQ_SIZE sizeof(dl_test_req_t)
#define DL_TEST_IND_SIZE sizeof(dl_test_ind_t)
#define DL_TEST_RES_SIZE sizeof(dl_test_res_t)
#define DL_TEST_CON_SIZE sizeof(dl_test_con_t)
#define DL_CONNECT_REQ_SIZE sizeof(dl_connect_req_t)
#define DL_CONNECT_IND_SIZE sizeof(dl_connect_ind_t)
#define DL_CONNECT_RES_SIZE sizeof(dl_connect_res_t)
#define DL_CONNECT_CON_SIZE sizeof(dl_connect_con_t)
#define DL_TOKEN_REQ_SIZE sizeof(dl_token_req_t)
#define DL_TOKEN_ACK_SIZE sizeof(dl_token_ack_t)
#define DL_DISCONNECT_REQ_SIZE sizeof(dl_disconnect_req_t)
#define DL_DISCONNECT_IND_SIZE sizeof(dl_disconnect_ind_t)
#define DL_RESET_REQ_SIZE sizeof(dl_reset_req_t)
#define DL_RESET_IND_SIZE sizeof(dl_reset_ind_t)
#define DL_RESET_RES_SIZE sizeof(dl_reset_res_t)
#define DL_RESET_CON_SIZE sizeof(dl_reset_con_t)

#ifdef __cplusplus
}
#endif

#endif /* _SYS_DLPI_H */

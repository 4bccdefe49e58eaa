/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <netinet/sctp.h> - SCTP by sockets, RFC 6458
 *
 * For libstreams-sctp.  Names and numbers are those of Linux and of its
 * libsctp, so a program that was written for them builds unchanged.  The pages
 * sctp(7) and sctp_bindx(3) describe what of it has an effect.
 */
#ifndef _NETINET_SCTP_H
#define _NETINET_SCTP_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#ifndef _LINUX_IN_H /* <linux/in.h> has the same types */
#include <netinet/in.h>
#endif
#include <sys/sctpopt.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef IPPROTO_SCTP
#define IPPROTO_SCTP 132
#endif
#ifndef SOL_SCTP
#define SOL_SCTP 132
#endif

/* ------------------------------------------------------------------ messages */

#define MSG_NOTIFICATION 0x8000

/* sinfo_flags, snd_flags, rcv_flags */
enum sctp_sinfo_flags {
	SCTP_UNORDERED = 0x1,
	SCTP_ADDR_OVER = 0x2,
	SCTP_ABORT = 0x4,
	SCTP_SACK_IMMEDIATELY = 0x8,
	SCTP_SENDALL = 0x40,
	SCTP_PR_SCTP_ALL = 0x80,
	SCTP_NOTIFICATION = MSG_NOTIFICATION,
	SCTP_EOF = MSG_FIN
};
#define SCTP_UNORDERED SCTP_UNORDERED
#define SCTP_ADDR_OVER SCTP_ADDR_OVER
#define SCTP_ABORT SCTP_ABORT
#define SCTP_EOF SCTP_EOF
#define SCTP_SENDALL SCTP_SENDALL

/* ... and what becomes of a message that is late */
#define SCTP_PR_SCTP_NONE 0x0000
#define SCTP_PR_SCTP_TTL 0x0010
#define SCTP_PR_SCTP_RTX 0x0020
#define SCTP_PR_SCTP_PRIO 0x0030
#define SCTP_PR_SCTP_MAX SCTP_PR_SCTP_PRIO
#define SCTP_PR_SCTP_MASK 0x0030
#define SCTP_PR_POLICY(x) ((x) & SCTP_PR_SCTP_MASK)
#define SCTP_PR_SET_POLICY(flags, x) \
	do { \
		flags &= ~SCTP_PR_SCTP_MASK; \
		flags |= x; \
	} while (0)
#define SCTP_PR_TTL_ENABLED(x) (SCTP_PR_POLICY(x) == SCTP_PR_SCTP_TTL)
#define SCTP_PR_RTX_ENABLED(x) (SCTP_PR_POLICY(x) == SCTP_PR_SCTP_RTX)
#define SCTP_PR_PRIO_ENABLED(x) (SCTP_PR_POLICY(x) == SCTP_PR_SCTP_PRIO)

struct sctp_sndrcvinfo {
	uint16_t sinfo_stream, sinfo_ssn, sinfo_flags;
	uint32_t sinfo_ppid; /* as the users agree: it is not converted */
	uint32_t sinfo_context;
	uint32_t sinfo_timetolive; /* ms */
	uint32_t sinfo_tsn, sinfo_cumtsn;
	sctp_assoc_t sinfo_assoc_id;
};

struct sctp_sndinfo {
	uint16_t snd_sid, snd_flags;
	uint32_t snd_ppid, snd_context;
	sctp_assoc_t snd_assoc_id;
};

struct sctp_rcvinfo {
	uint16_t rcv_sid, rcv_ssn, rcv_flags;
	uint32_t rcv_ppid, rcv_tsn, rcv_cumtsn, rcv_context;
	sctp_assoc_t rcv_assoc_id;
};

struct sctp_nxtinfo {
	uint16_t nxt_sid, nxt_flags;
	uint32_t nxt_ppid, nxt_length;
	sctp_assoc_t nxt_assoc_id;
};

struct sctp_prinfo {
	uint16_t pr_policy;
	uint32_t pr_value;
};

struct sctp_authinfo {
	uint16_t auth_keynumber;
};

/* cmsg_type, with the level IPPROTO_SCTP */
typedef enum sctp_cmsg_type {
	SCTP_INIT,
	SCTP_SNDRCV,
	SCTP_SNDINFO,
	SCTP_RCVINFO,
	SCTP_NXTINFO,
	SCTP_PRINFO,
	SCTP_AUTHINFO,
	SCTP_DSTADDRV4,
	SCTP_DSTADDRV6
} sctp_cmsg_t;
#define SCTP_INIT SCTP_INIT
#define SCTP_SNDRCV SCTP_SNDRCV
#define SCTP_SNDINFO SCTP_SNDINFO
#define SCTP_RCVINFO SCTP_RCVINFO
#define SCTP_NXTINFO SCTP_NXTINFO
#define SCTP_PRINFO SCTP_PRINFO
#define SCTP_AUTHINFO SCTP_AUTHINFO
#define SCTP_DSTADDRV4 SCTP_DSTADDRV4
#define SCTP_DSTADDRV6 SCTP_DSTADDRV6

typedef union {
	uint8_t raw;
	struct sctp_initmsg init;
	struct sctp_sndrcvinfo sndrcv;
} sctp_cmsg_data_t;

/* infotype of sctp_sendv() and sctp_recvv() */
struct sctp_sendv_spa {
	uint32_t sendv_flags; /* which of these are there */
	struct sctp_sndinfo sendv_sndinfo;
	struct sctp_prinfo sendv_prinfo;
	struct sctp_authinfo sendv_authinfo;
};
#define SCTP_SEND_SNDINFO_VALID 0x1
#define SCTP_SEND_PRINFO_VALID 0x2
#define SCTP_SEND_AUTHINFO_VALID 0x4

#define SCTP_SENDV_NOINFO 0
#define SCTP_SENDV_SNDINFO 1
#define SCTP_SENDV_PRINFO 2
#define SCTP_SENDV_AUTHINFO 3
#define SCTP_SENDV_SPA 4

struct sctp_recvv_rn {
	struct sctp_rcvinfo recvv_rcvinfo;
	struct sctp_nxtinfo recvv_nxtinfo;
};
#define SCTP_RECVV_NOINFO 0
#define SCTP_RECVV_RCVINFO 1
#define SCTP_RECVV_NXTINFO 2
#define SCTP_RECVV_RN 3

/* ------------------------------------------------------------- notifications */

enum sctp_sn_type {
	SCTP_SN_TYPE_BASE = 0x8000,
	SCTP_DATA_IO_EVENT = SCTP_SN_TYPE_BASE,
	SCTP_ASSOC_CHANGE,
	SCTP_PEER_ADDR_CHANGE,
	SCTP_SEND_FAILED,
	SCTP_REMOTE_ERROR,
	SCTP_SHUTDOWN_EVENT,
	SCTP_PARTIAL_DELIVERY_EVENT,
	SCTP_ADAPTATION_INDICATION,
	SCTP_AUTHENTICATION_EVENT,
	SCTP_SENDER_DRY_EVENT,
	SCTP_STREAM_RESET_EVENT,
	SCTP_ASSOC_RESET_EVENT,
	SCTP_STREAM_CHANGE_EVENT,
	SCTP_SEND_FAILED_EVENT,
	SCTP_SN_TYPE_MAX = SCTP_SEND_FAILED_EVENT
};
#define SCTP_ASSOC_CHANGE SCTP_ASSOC_CHANGE
#define SCTP_PEER_ADDR_CHANGE SCTP_PEER_ADDR_CHANGE
#define SCTP_SEND_FAILED SCTP_SEND_FAILED
#define SCTP_REMOTE_ERROR SCTP_REMOTE_ERROR
#define SCTP_SHUTDOWN_EVENT SCTP_SHUTDOWN_EVENT
#define SCTP_PARTIAL_DELIVERY_EVENT SCTP_PARTIAL_DELIVERY_EVENT
#define SCTP_ADAPTATION_INDICATION SCTP_ADAPTATION_INDICATION
#define SCTP_AUTHENTICATION_EVENT SCTP_AUTHENTICATION_EVENT
#define SCTP_AUTHENTICATION_INDICATION SCTP_AUTHENTICATION_EVENT
#define SCTP_SENDER_DRY_EVENT SCTP_SENDER_DRY_EVENT
#define SCTP_STREAM_RESET_EVENT SCTP_STREAM_RESET_EVENT
#define SCTP_ASSOC_RESET_EVENT SCTP_ASSOC_RESET_EVENT
#define SCTP_STREAM_CHANGE_EVENT SCTP_STREAM_CHANGE_EVENT
#define SCTP_SEND_FAILED_EVENT SCTP_SEND_FAILED_EVENT

enum sctp_sac_state {
	SCTP_COMM_UP,
	SCTP_COMM_LOST,
	SCTP_RESTART,
	SCTP_SHUTDOWN_COMP,
	SCTP_CANT_STR_ASSOC
};

struct sctp_assoc_change {
	uint16_t sac_type, sac_flags;
	uint32_t sac_length;
	uint16_t sac_state, sac_error;
	uint16_t sac_outbound_streams, sac_inbound_streams;
	sctp_assoc_t sac_assoc_id;
	__extension__ uint8_t sac_info[0];
};

enum sctp_spc_state {
	SCTP_ADDR_AVAILABLE,
	SCTP_ADDR_UNREACHABLE,
	SCTP_ADDR_REMOVED,
	SCTP_ADDR_ADDED,
	SCTP_ADDR_MADE_PRIM,
	SCTP_ADDR_CONFIRMED,
	SCTP_ADDR_POTENTIALLY_FAILED
#define SCTP_ADDR_PF SCTP_ADDR_POTENTIALLY_FAILED
};

struct sctp_paddr_change {
	uint16_t spc_type, spc_flags;
	uint32_t spc_length;
	struct sockaddr_storage spc_aaddr;
	int spc_state, spc_error;
	sctp_assoc_t spc_assoc_id;
} __attribute__((packed, aligned(4)));

struct sctp_remote_error {
	uint16_t sre_type, sre_flags;
	uint32_t sre_length;
	uint16_t sre_error; /* network order */
	sctp_assoc_t sre_assoc_id;
	__extension__ uint8_t sre_data[0];
};

enum sctp_ssf_flags { SCTP_DATA_UNSENT, SCTP_DATA_SENT };

struct sctp_send_failed {
	uint16_t ssf_type, ssf_flags;
	uint32_t ssf_length, ssf_error;
	struct sctp_sndrcvinfo ssf_info;
	sctp_assoc_t ssf_assoc_id;
	__extension__ uint8_t ssf_data[0];
};

struct sctp_send_failed_event {
	uint16_t ssf_type, ssf_flags;
	uint32_t ssf_length, ssf_error;
	struct sctp_sndinfo ssfe_info;
	sctp_assoc_t ssf_assoc_id;
	__extension__ uint8_t ssf_data[0];
};

struct sctp_shutdown_event {
	uint16_t sse_type, sse_flags;
	uint32_t sse_length;
	sctp_assoc_t sse_assoc_id;
};

struct sctp_adaptation_event {
	uint16_t sai_type, sai_flags;
	uint32_t sai_length, sai_adaptation_ind;
	sctp_assoc_t sai_assoc_id;
};

struct sctp_pdapi_event {
	uint16_t pdapi_type, pdapi_flags;
	uint32_t pdapi_length, pdapi_indication;
	sctp_assoc_t pdapi_assoc_id;
	uint32_t pdapi_stream, pdapi_seq;
};
enum { SCTP_PARTIAL_DELIVERY_ABORTED };

struct sctp_authkey_event {
	uint16_t auth_type, auth_flags;
	uint32_t auth_length;
	uint16_t auth_keynumber, auth_altkeynumber;
	uint32_t auth_indication;
	sctp_assoc_t auth_assoc_id;
};
enum { SCTP_AUTH_NEW_KEY, SCTP_AUTH_FREE_KEY, SCTP_AUTH_NO_AUTH };
#define SCTP_AUTH_NEWKEY SCTP_AUTH_NEW_KEY

struct sctp_sender_dry_event {
	uint16_t sender_dry_type, sender_dry_flags;
	uint32_t sender_dry_length;
	sctp_assoc_t sender_dry_assoc_id;
};

struct sctp_stream_reset_event {
	uint16_t strreset_type, strreset_flags;
	uint32_t strreset_length;
	sctp_assoc_t strreset_assoc_id;
	__extension__ uint16_t strreset_stream_list[0];
};

#define SCTP_STREAM_RESET_INCOMING_SSN 0x0001
#define SCTP_STREAM_RESET_OUTGOING_SSN 0x0002
#define SCTP_STREAM_RESET_DENIED 0x0004
#define SCTP_STREAM_RESET_FAILED 0x0008

#define SCTP_ASSOC_RESET_DENIED 0x0004
#define SCTP_ASSOC_RESET_FAILED 0x0008
struct sctp_assoc_reset_event {
	uint16_t assocreset_type, assocreset_flags;
	uint32_t assocreset_length;
	sctp_assoc_t assocreset_assoc_id;
	uint32_t assocreset_local_tsn, assocreset_remote_tsn;
};

#define SCTP_ASSOC_CHANGE_DENIED 0x0004
#define SCTP_ASSOC_CHANGE_FAILED 0x0008
#define SCTP_STREAM_CHANGE_DENIED SCTP_ASSOC_CHANGE_DENIED
#define SCTP_STREAM_CHANGE_FAILED SCTP_ASSOC_CHANGE_FAILED
struct sctp_stream_change_event {
	uint16_t strchange_type, strchange_flags;
	uint32_t strchange_length;
	sctp_assoc_t strchange_assoc_id;
	uint16_t strchange_instrms, strchange_outstrms;
};

union sctp_notification {
	struct {
		uint16_t sn_type, sn_flags;
		uint32_t sn_length;
	} sn_header;
	struct sctp_assoc_change sn_assoc_change;
	struct sctp_paddr_change sn_paddr_change;
	struct sctp_remote_error sn_remote_error;
	struct sctp_send_failed sn_send_failed;
	struct sctp_shutdown_event sn_shutdown_event;
	struct sctp_adaptation_event sn_adaptation_event;
	struct sctp_pdapi_event sn_pdapi_event;
	struct sctp_authkey_event sn_authkey_event;
	struct sctp_sender_dry_event sn_sender_dry_event;
	struct sctp_stream_reset_event sn_strreset_event;
	struct sctp_assoc_reset_event sn_assocreset_event;
	struct sctp_stream_change_event sn_strchange_event;
	struct sctp_send_failed_event sn_send_failed_event;
};

typedef enum sctp_sn_error {
	SCTP_FAILED_THRESHOLD,
	SCTP_RECEIVED_SACK,
	SCTP_HEARTBEAT_SUCCESS,
	SCTP_RESPONSE_TO_USER_REQ,
	SCTP_INTERNAL_ERROR,
	SCTP_SHUTDOWN_GUARD_EXPIRES,
	SCTP_PEER_FAULTY
} sctp_sn_error_t;

/* --------------------------------------------------------------------- calls */

#define SCTP_BINDX_ADD_ADDR 0x01
#define SCTP_BINDX_REM_ADDR 0x02

int sctp_bindx(int sd, struct sockaddr *addrs, int addrcnt, int flags);
int sctp_connectx(int sd, struct sockaddr *addrs, int addrcnt,
	sctp_assoc_t *id);
int sctp_peeloff(int sd, sctp_assoc_t id);
int sctp_peeloff_flags(int sd, sctp_assoc_t id, unsigned flags);
int sctp_opt_info(int sd, sctp_assoc_t id, int opt, void *arg,
	socklen_t *size);
int sctp_getpaddrs(int sd, sctp_assoc_t id, struct sockaddr **addrs);
int sctp_freepaddrs(struct sockaddr *addrs);
int sctp_getladdrs(int sd, sctp_assoc_t id, struct sockaddr **addrs);
int sctp_freeladdrs(struct sockaddr *addrs);
int sctp_getaddrlen(sa_family_t family);
sctp_assoc_t sctp_getassocid(int sd, struct sockaddr *addr);
int sctp_sendmsg(int sd, const void *msg, size_t len, struct sockaddr *to,
	socklen_t tolen, uint32_t ppid, uint32_t flags, uint16_t stream,
	uint32_t timetolive, uint32_t context);
int sctp_send(int sd, const void *msg, size_t len,
	const struct sctp_sndrcvinfo *sinfo, int flags);
int sctp_recvmsg(int sd, void *msg, size_t len, struct sockaddr *from,
	socklen_t *fromlen, struct sctp_sndrcvinfo *sinfo, int *msg_flags);
int sctp_sendv(int sd, const struct iovec *iov, int iovcnt,
	struct sockaddr *addrs, int addrcnt, void *info, socklen_t infolen,
	unsigned int infotype, int flags);
int sctp_recvv(int sd, const struct iovec *iov, int iovlen,
	struct sockaddr *from, socklen_t *fromlen, void *info,
	socklen_t *infolen, unsigned int *infotype, int *flags);

#ifdef __cplusplus
}
#endif

#endif

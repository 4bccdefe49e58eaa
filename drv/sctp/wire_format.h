/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The format of SCTP packets: RFC 9260 s3, RFC 3758 s3, RFC 4895 s3, s4,
 * RFC 5061 s4, RFC 6525 s3, s4, RFC 8260 s2, RFC 9653 s4.
 *
 * A packet is a common header and chunks.  A chunk is a header of 4 bytes, a
 * value, and up to 3 bytes of padding that its length does not count.
 * Parameters of a chunk, and causes of an error, have the same form.  Offsets
 * are from the beginning of the chunk, parameter or cause.
 */
#ifndef DRV_SCTP_WIRE_FORMAT_H
#define DRV_SCTP_WIRE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* The common header: ports, verification tag, checksum. */
#define SCTP_HDR 12u
#define SCTP_AT_SPORT 0u
#define SCTP_AT_DPORT 2u
#define SCTP_AT_VTAG 4u
#define SCTP_AT_SUM 8u

/* A chunk, parameter or cause: type, (flags,) length. */
#define SCTP_TLV 4u

enum sctp_chunk_type {
	SCTP_C_DATA = 0,
	SCTP_C_INIT = 1,
	SCTP_C_INIT_ACK = 2,
	SCTP_C_SACK = 3,
	SCTP_C_HEARTBEAT = 4,
	SCTP_C_HEARTBEAT_ACK = 5,
	SCTP_C_ABORT = 6,
	SCTP_C_SHUTDOWN = 7,
	SCTP_C_SHUTDOWN_ACK = 8,
	SCTP_C_ERROR = 9,
	SCTP_C_COOKIE_ECHO = 10,
	SCTP_C_COOKIE_ACK = 11,
	SCTP_C_ECNE = 12,
	SCTP_C_CWR = 13,
	SCTP_C_SHUTDOWN_COMPLETE = 14,
	SCTP_C_AUTH = 15,
	SCTP_C_I_DATA = 0x40,
	SCTP_C_ASCONF_ACK = 0x80,
	SCTP_C_RECONF = 0x82,
	SCTP_C_FORWARD_TSN = 0xc0,
	SCTP_C_ASCONF = 0xc1,
	SCTP_C_I_FORWARD_TSN = 0xc2,
};

/* s3.2: what the two highest bits of an unknown chunk's type say. */
#define SCTP_C_SKIP 0x80u   /* go on behind it, else stop */
#define SCTP_C_REPORT 0x40u /* send an ERROR */

/* Flags of DATA: RFC 9260 s3.3.1. */
#define SCTP_DATA_E 1u /* end of the message */
#define SCTP_DATA_B 2u /* begin of the message */
#define SCTP_DATA_U 4u /* unordered */
#define SCTP_DATA_I 8u /* acknowledge at once: RFC 7053 */
#define SCTP_DATA_HDR 16u
#define SCTP_DATA_TSN 4u
#define SCTP_DATA_SID 8u
#define SCTP_DATA_SSN 10u
#define SCTP_DATA_PPID 12u

/* I-DATA: the message's number, then PPID (first fragment) or FSN */
#define SCTP_I_DATA_HDR 20u
#define SCTP_I_DATA_MID 12u
#define SCTP_I_DATA_PPID 16u

/* Flag of ABORT and SHUTDOWN COMPLETE: the tag is the sender's own. */
#define SCTP_T_BIT 1u

/* INIT and INIT ACK */
#define SCTP_INIT_HDR 20u
#define SCTP_INIT_TAG 4u
#define SCTP_INIT_RWND 8u
#define SCTP_INIT_OS 12u
#define SCTP_INIT_MIS 14u
#define SCTP_INIT_TSN 16u
#define SCTP_RWND_LEAST 1500u

/* SACK */
#define SCTP_SACK_HDR 16u
#define SCTP_SACK_CUM 4u
#define SCTP_SACK_RWND 8u
#define SCTP_SACK_NGAPS 12u
#define SCTP_SACK_NDUPS 14u

/* SHUTDOWN */
#define SCTP_SHUTDOWN_LEN 8u
#define SCTP_SHUTDOWN_CUM 4u

/* FORWARD TSN: cumulative TSN, then stream and SSN of each skipped message */
#define SCTP_FORWARD_HDR 8u
#define SCTP_FORWARD_CUM 4u

/* AUTH: key, HMAC identifier, code */
#define SCTP_AUTH_HDR 8u
#define SCTP_AUTH_KEY 4u
#define SCTP_AUTH_HMAC 6u

/* ASCONF, ASCONF ACK: a serial number; their parameters: the sender's number */
#define SCTP_ASCONF_HDR 8u
#define SCTP_ASCONF_SERIAL 4u

/* RANDOM has 32 bytes: RFC 4895 s6.1. */
#define SCTP_RANDOM_LEN 32u

/* Parameters of RE-CONFIG: a number, then what depends on the type. */
#define SCTP_RECONF_SEQ 4u
#define SCTP_RECONF_OUT_HDR 16u	 /* number, answered number, last TSN */
#define SCTP_RECONF_IN_HDR 8u	 /* number */
#define SCTP_RECONF_ADD_LEN 12u	 /* number, streams */
#define SCTP_RECONF_ANSWER 12u	 /* number, result */
#define SCTP_RECONF_ANSWER_TSNS 20u /* ... sender's next TSN, receiver's */

/* RFC 6525 s4.4: results */
enum sctp_reconf_result {
	SCTP_R_NOTHING = 0,	/* nothing to do */
	SCTP_R_DONE = 1,
	SCTP_R_DENIED = 2,
	SCTP_R_WRONG_SSN = 3,	/* there is no such stream */
	SCTP_R_BUSY = 4,	/* another request is in progress */
	SCTP_R_BAD_SEQ = 5,
	SCTP_R_IN_PROGRESS = 6, /* ask again */
};

/* I-FORWARD-TSN: stream, flags, MID of each skipped message */
#define SCTP_I_FORWARD_U 1u /* unordered */

enum sctp_param_type {
	SCTP_P_HEARTBEAT_INFO = 1,
	SCTP_P_IPV4 = 5,
	SCTP_P_IPV6 = 6,
	SCTP_P_COOKIE = 7,
	SCTP_P_UNRECOGNIZED = 8,
	SCTP_P_PRESERVATIVE = 9,
	SCTP_P_HOST_NAME = 11,
	SCTP_P_FAMILIES = 12,
	SCTP_P_RESET_OUT = 13,
	SCTP_P_RESET_IN = 14,
	SCTP_P_RESET_TSN = 15,
	SCTP_P_RECONF_ANSWER = 16,
	SCTP_P_ADD_OUT = 17,
	SCTP_P_ADD_IN = 18,
	SCTP_P_ECN = 0x8000,
	SCTP_P_RANDOM = 0x8002,
	SCTP_P_CHUNKS = 0x8003,
	SCTP_P_HMACS = 0x8004,
	SCTP_P_EXTENSIONS = 0x8008,
	SCTP_P_FORWARD_TSN = 0xc000,
	SCTP_P_ADD_ADDR = 0xc001,
	SCTP_P_DELETE_ADDR = 0xc002,
	SCTP_P_ASCONF_ERROR = 0xc003,
	SCTP_P_PRIMARY = 0xc004,
	SCTP_P_ASCONF_SUCCESS = 0xc005,
	SCTP_P_ADAPTATION = 0xc006,
};

#define SCTP_P_SKIP 0x8000u
#define SCTP_P_REPORT 0x4000u

/* RFC 9260 s3.3.10 */
enum sctp_cause {
	SCTP_E_NONE = 0,
	SCTP_E_STREAM = 1,	   /* invalid stream identifier */
	SCTP_E_MISSING = 2,	   /* missing mandatory parameter */
	SCTP_E_STALE = 3,	   /* stale cookie */
	SCTP_E_RESOURCE = 4,	   /* out of resource */
	SCTP_E_ADDRESS = 5,	   /* unresolvable address */
	SCTP_E_CHUNK = 6,	   /* unrecognized chunk type */
	SCTP_E_PARAM = 7,	   /* invalid mandatory parameter */
	SCTP_E_UNRECOGNIZED = 8,   /* unrecognized parameters */
	SCTP_E_NO_DATA = 9,	   /* no user data */
	SCTP_E_SHUTTING_DOWN = 10, /* cookie received while shutting down */
	SCTP_E_RESTART = 11,	   /* restart with new addresses */
	SCTP_E_USER = 12,	   /* user-initiated abort */
	SCTP_E_PROTOCOL = 13,	   /* protocol violation */
	SCTP_E_LAST_ADDR = 0xa0,   /* RFC 5061: deletes the last address */
	SCTP_E_ASCONF_RESOURCE = 0xa1, /* ... out of resource */
	SCTP_E_SOURCE_ADDR = 0xa2, /* ... deletes the packet's source */
	SCTP_E_ASCONF_ACK = 0xa3,  /* ... ASCONF ACK of no request */
	SCTP_E_NOT_AUTHORIZED = 0xa4,
	SCTP_E_HMAC = 0x105,	   /* unsupported HMAC identifier */
};

static inline uint16_t
sctp_get16(const unsigned char *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
sctp_get32(const unsigned char *p)
{
	return (uint32_t)sctp_get16(p) << 16 | sctp_get16(p + 2);
}

static inline void
sctp_put16(unsigned char *p, uint32_t v)
{
	p[0] = (unsigned char)(v >> 8);
	p[1] = (unsigned char)v;
}

static inline void
sctp_put32(unsigned char *p, uint32_t v)
{
	sctp_put16(p, v >> 16);
	sctp_put16(p + 2, v);
}

/* Length with padding. */
static inline size_t
sctp_padded(size_t n)
{
	return (n + 3u) & ~(size_t)3;
}

/* Serial numbers (RFC 1982): is @a before @b? */
static inline int
sctp_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline int
sctp_ssn_before(uint32_t a, uint32_t b)
{
	return (int16_t)(uint16_t)(a - b) < 0;
}

#endif

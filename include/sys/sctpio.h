/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sctpio.h> - sockets on the driver sctp
 *
 * Commands of sctp(4), by I_STR, and the options that a message of a socket
 * has.  libstreams-sctp uses them; sctp(4) describes them.  All numbers are in
 * the byte order of the host.  Times are in milliseconds.
 *
 * The first word of each argument is the association: 0 for an endpoint of
 * connections, which has at most one.
 */
#ifndef _SYS_SCTPIO_H
#define _SYS_SCTPIO_H

#include <sys/types.h>
#include <netinet/in.h>

#define SCTPIO ('C' << 8)
#define SCTPIO_MODE (SCTPIO | 1)    /* struct sctpio_word: the endpoint is a
				     * socket's, of this address family */
#define SCTPIO_LISTEN (SCTPIO | 2)  /* struct sctpio_word: the most callers;
				     * 0: a T_ORDREL_IND comes, which wakes
				     * threads that wait for a caller */
#define SCTPIO_GCONF (SCTPIO | 3)   /* struct sctpio_conf: get ...,
				     * of one of many associations, too */
#define SCTPIO_SCONF (SCTPIO | 4)   /* ... and set */
#define SCTPIO_GKEEP (SCTPIO | 5)   /* struct sctpio_keep: get ... */
#define SCTPIO_SKEEP (SCTPIO | 6)   /* ... and set */
#define SCTPIO_EVENTS (SCTPIO | 7)  /* struct sctpio_word: SCTPIO_EV_* wanted */
#define SCTPIO_STATUS (SCTPIO | 8)  /* struct sctpio_status */
#define SCTPIO_PATHS (SCTPIO | 9)   /* struct sctpio_paths: the peer's */
#define SCTPIO_BINDX (SCTPIO | 10)  /* struct sctpio_addrs: add or remove own */
#define SCTPIO_PRIMARY (SCTPIO | 11) /* struct sctpio_addrs: one of the peer's */
#define SCTPIO_BEAT (SCTPIO | 12)   /* ... send a heartbeat there now */
/* Of an endpoint with many associations: */
#define SCTPIO_CONNECT (SCTPIO | 13) /* struct sctpio_addrs: call; the answer is
				      * a struct sctpio_word: the association */
#define SCTPIO_FIND (SCTPIO | 14)   /* ... the association with an address */
#define SCTPIO_ASSOCS (SCTPIO | 15) /* struct sctpio_assocs: all of them */
#define SCTPIO_ABORT (SCTPIO | 16)  /* struct sctpio_word: end it now */
#define SCTPIO_PEEL (SCTPIO | 17)   /* struct sctpio_word: it becomes the
				     * connection of the unbound endpoint with
				     * the ACCEPTOR_id `value' */
/* Changes of streams (RFC 6525), of any endpoint: */
#define SCTPIO_RESET (SCTPIO | 18)  /* struct sctpio_reset: ask the peer */
#define SCTPIO_ADD (SCTPIO | 19)    /* struct sctpio_add: likewise */
#define SCTPIO_VALUE (SCTPIO | 20)  /* struct sctpio_value: get or set a stream's
				     * priority or weight */
#define SCTPIO_ABANDONED (SCTPIO | 21) /* struct sctpio_abandoned: get */
/* Authentication (RFC 4895) and changes of addresses (RFC 5061): */
#define SCTPIO_KEY (SCTPIO | 22)    /* struct sctpio_key */
#define SCTPIO_CHUNKS (SCTPIO | 23) /* struct sctpio_word: value 0: what the
				     * peer has to authenticate, 1: what we
				     * do; the answer: struct sctpio_chunks */
#define SCTPIO_PEER_PRIMARY (SCTPIO | 24) /* struct sctpio_addrs: the peer is
				     * asked to send to this one of ours */

#define SCTPIO_RELEASE (SCTPIO | 25) /* struct sctpio_word: an orderly release
				     * follows the data that was accepted */

/* SCTPIO_MODE: with the address family: it has many associations */
#define SCTPIO_MANY 0x10000u

#define SCTPIO_ADDRS 8u

/* An address with its port, of either family. */
union sctpio_addr {
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct sctpio_word {
	uint32_t assoc;
	uint32_t value;
};

struct sctpio_addrs {
	uint32_t assoc;
	uint32_t n;	 /* of addr */
	uint32_t remove; /* SCTPIO_BINDX: 0: add */
	union sctpio_addr addr[SCTPIO_ADDRS];
};

/* Parameters: of associations to come, and of the one that there is. */
struct sctpio_conf {
	uint32_t assoc;
	uint32_t rto_initial, rto_min, rto_max;
	uint32_t cookie_life;
	uint32_t hb_interval; /* 0: none */
	uint32_t sack_delay, sack_freq;
	uint32_t assoc_max_retrans, path_max_retrans, init_max_retrans;
	uint32_t pf_threshold;
	uint32_t max_burst;
	uint32_t sndbuf, rcvbuf; /* bytes */
	uint32_t partial;	 /* bytes */
	uint32_t nodelay;
	uint32_t ostreams, istreams;
	uint32_t linger, linger_time; /* seconds */
	uint32_t options; /* data comes with SCTPIO_RCVINFO */
	uint32_t pr, interleave; /* offered: RFC 3758, RFC 8260 */
	uint32_t reconf;    /* SCTPIO_RESET_*: what the peer may ask for */
	uint32_t scheduler; /* 0 to 5: FCFS, RR, RR for each packet, PRIO, FAIR,
			     * WEIGHTED, see sctp(4) */
	uint32_t maxseg;    /* most bytes of data in a chunk; 0: what fits */
	uint32_t autoclose; /* seconds without data until the end; 0: never */
	uint32_t auth;	    /* offer AUTH: RFC 4895 */
	uint32_t hmac[2];   /* ... identifiers of HMACs, the first is preferred;
			     * 0: end; 1 (SHA-1) must be one of them */
	uint32_t auth_chunks[8]; /* ... 256 bits: what the peer has to
			     * authenticate */
	uint32_t asconf;    /* offer changes of addresses: with auth */
	uint32_t adapts, adaptation; /* the peer is told `adaptation' */
};

/* Bits of `reconf', and of struct sctpio_reset. */
#define SCTPIO_RESET_OFFER 1u	/* RE-CONFIG is offered at all */
#define SCTPIO_RESET_OUT 2u	/* SSNs begin with 0: of what the asking side
				 * sends, ... */
#define SCTPIO_RESET_IN 4u	/* ... or receives */
#define SCTPIO_RESET_TSN 8u	/* new TSNs, and all SSNs begin with 0 */
#define SCTPIO_RESET_ADD_OUT 0x10u /* more streams: for the asking side to
				 * send, ... */
#define SCTPIO_RESET_ADD_IN 0x20u /* ... or to receive */

/* @n stream numbers follow; with 0 all streams. */
struct sctpio_reset {
	uint32_t assoc;
	uint32_t what; /* SCTPIO_RESET_OUT, _IN, or both; or _TSN */
	uint32_t n;
	__extension__ uint16_t sid[0];
};

struct sctpio_add {
	uint32_t assoc;
	uint32_t out, in;
};

struct sctpio_value {
	uint32_t assoc;
	uint32_t set; /* 0: get */
	uint16_t sid, value;
};

/*
 * Shared keys of AUTH.  An association has a copy of the endpoint's keys from
 * when it begins.  `n' bytes follow; the driver wipes them in the message.
 */
#define SCTPIO_KEY_SET 1u    /* add or replace: `n' bytes, at most 256 */
#define SCTPIO_KEY_USE 2u    /* for sending */
#define SCTPIO_KEY_RETIRE 3u /* for what arrives only */
#define SCTPIO_KEY_DELETE 4u
#define SCTPIO_KEY_ACTIVE 5u /* the answer has the key that is used, `id' */
/* `assoc' of an endpoint with many associations: */
#define SCTPIO_CURRENT 1u /* all that it has */
#define SCTPIO_ALL 2u	  /* these, and those to come */
struct sctpio_key {
	uint32_t assoc;
	uint32_t what;
	uint32_t id; /* at most 65535 */
	uint32_t n;
	__extension__ unsigned char key[0];
};

struct sctpio_chunks {
	uint32_t assoc;
	uint32_t n;
	unsigned char type[256];
};

/* Messages that were abandoned: RFC 7496. */
#define SCTPIO_ALL_STREAMS 0xffffffffu
struct sctpio_abandoned {
	uint32_t assoc;
	uint32_t sid; /* SCTPIO_ALL_STREAMS: of the association */
	uint32_t pr;  /* SCTPIO_PR_*; SCTPIO_PR_NONE: all */
	uint32_t pad;
	uint64_t unsent, sent;
};

/*
 * Words that the endpoint keeps for its user.  An endpoint that accepts a
 * connection gets those of the listener.
 */
#define SCTPIO_KEEPS 32u
struct sctpio_keep {
	uint32_t assoc;
	uint32_t w[SCTPIO_KEEPS];
};

#define SCTPIO_ASSOCS_MOST 250u
struct sctpio_assocs {
	uint32_t assoc;
	uint32_t n; /* how many there are; at most so many follow */
	uint32_t id[SCTPIO_ASSOCS_MOST];
};

struct sctpio_status {
	uint32_t assoc;
	uint32_t state; /* T_SCTP_S_* */
	uint32_t may_send;
	uint32_t ostreams, istreams;
	uint32_t peer_window, window;
	uint32_t unacked_chunks, unacked; /* bytes */
	uint32_t unread;
	uint32_t fragment; /* bytes of a message in one packet */
	uint32_t primary;  /* index of SCTPIO_PATHS */
	uint32_t npaths;
	uint32_t my_tag, peer_tag;
	uint32_t pr, reconf, interleave; /* agreed with the peer */
	uint32_t auth, asconf; /* likewise; auth: the HMAC for sending */
};

#define SCTPIO_PATH_ACTIVE 0u
#define SCTPIO_PATH_PF 1u
#define SCTPIO_PATH_INACTIVE 2u
/* in SCTPIO_EV_PATH only: the peer has changed its addresses */
#define SCTPIO_PATH_ADDED 3u
#define SCTPIO_PATH_REMOVED 4u
#define SCTPIO_PATH_PRIMARY 5u
struct sctpio_path {
	union sctpio_addr addr;
	uint32_t state, confirmed;
	uint32_t cwnd, mtu, flight; /* bytes */
	uint32_t srtt, rto;
	uint32_t errors;
};
struct sctpio_paths {
	uint32_t assoc;
	uint32_t n, primary;
	struct sctpio_path path[SCTPIO_ADDRS];
};

/* ----------------------------------------------------- options of messages */

/* Level T_INET_SCTP. */
#define T_SCTP_RCVINFO 65u /* struct sctpio_rcvinfo, with T_OPTDATA_IND */
#define T_SCTP_SNDINFO 66u /* struct sctpio_sndinfo, with T_OPTDATA_REQ */
#define T_SCTP_NOTE 67u	   /* struct sctpio_note: the message is an event */

struct sctpio_rcvinfo {
	uint32_t assoc;
	uint16_t sid, ssn;
	uint32_t ppid; /* as the sender gave it */
	uint32_t tsn, cumtsn;
	uint16_t unordered;
	uint16_t more; /* with T_UNITDATA_IND: not the end of the message */
};

/* What becomes of a message that is late: `life' is ... */
#define SCTPIO_PR_NONE 0u
#define SCTPIO_PR_TTL 1u /* ... in milliseconds */
#define SCTPIO_PR_RTX 2u /* ... in retransmissions */
struct sctpio_sndinfo {
	uint32_t assoc;
	uint16_t sid;
	uint8_t now; /* the peer is asked for a SACK without delay */
	uint8_t eof; /* the association ends behind it: T_UNITDATA_REQ */
	uint32_t ppid;
	uint32_t pr, life;
	uint32_t unordered; /* with T_UNITDATA_REQ */
	uint32_t context;   /* comes back with SCTPIO_EV_FAILED */
};

/* Events: bits of SCTPIO_EVENTS. */
#define SCTPIO_EV_ASSOC 1u    /* `state' is SCTPIO_COMM_*, `error' an errno */
#define SCTPIO_EV_PATH 2u     /* `addr' is in `state' SCTPIO_PATH_* */
#define SCTPIO_EV_ERROR 4u    /* `error' is the cause; the data follows */
#define SCTPIO_EV_SHUTDOWN 8u /* the peer sends no more */
#define SCTPIO_EV_CUT 0x10u   /* the rest of a message will not come */
#define SCTPIO_EV_DRY 0x20u   /* all that was sent is acknowledged */
#define SCTPIO_EV_RESET 0x40u /* SCTPIO_CHANGE_*; stream numbers follow, 16 bits
			       * each; none: all streams */
#define SCTPIO_EV_TSN 0x80u   /* likewise, of TSNs: the next ones are `tsn' */
#define SCTPIO_EV_STREAMS 0x100u /* likewise, of the number of streams */
#define SCTPIO_EV_FAILED 0x200u /* a message was not delivered; it follows */
#define SCTPIO_EV_AUTH 0x400u /* SCTPIO_AUTH_*; `value' is a key */
#define SCTPIO_EV_ADAPT 0x800u /* the peer has told the adaptation `value' */

/* `state' of these: */
#define SCTPIO_CHANGE_IN 1u
#define SCTPIO_CHANGE_OUT 2u
#define SCTPIO_CHANGE_DENIED 4u
#define SCTPIO_CHANGE_FAILED 8u

#define SCTPIO_AUTH_NEW_KEY 0u  /* the peer uses it now */
#define SCTPIO_AUTH_FREE_KEY 1u /* it is not used for sending any more */
#define SCTPIO_AUTH_NONE 2u	/* the peer has no AUTH */

#define SCTPIO_COMM_UP 0u
#define SCTPIO_COMM_LOST 1u
#define SCTPIO_COMM_DONE 3u
#define SCTPIO_COMM_FAILED 4u

struct sctpio_note {
	uint32_t assoc;
	uint32_t event; /* SCTPIO_EV_*, one of them */
	uint32_t state, error;
	uint32_t ostreams, istreams;
	uint32_t confirmed; /* SCTPIO_EV_PATH: only that is new */
	uint16_t sid, ssn;
	uint32_t tsn[2]; /* of ours, of the peer's */
	/* SCTPIO_EV_FAILED: `error' is a cause or 0, `state' 1: a part was sent */
	uint32_t ppid, context;
	uint32_t unordered;
	uint32_t ends; /* 0: the message goes on in the next note */
	uint32_t len;  /* bytes behind the note */
	uint32_t value;
	union sctpio_addr addr;
};

#endif

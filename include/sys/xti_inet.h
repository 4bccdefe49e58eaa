/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/xti_inet.h> - options of the Internet providers
 *
 * Names begin with T_, so that <netinet/in.h> and <netinet/tcp.h> may be
 * included too.  See tcp(4), udp(4), sctp(4), xti(7).
 */
#ifndef _SYS_XTI_INET_H
#define _SYS_XTI_INET_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _STR_T_SCALAR_T
#define _STR_T_SCALAR_T
typedef int t_scalar_t;
typedef unsigned int t_uscalar_t;
#endif

/* Level T_INET_TCP */
#define T_INET_TCP		6
#define T_TCP_NODELAY		1
#define T_TCP_MAXSEG		2	/* cannot be changed */
#define T_TCP_KEEPALIVE		3	/* struct t_kpalive */
#define T_TCP_CORK		4
#define T_TCP_KEEPIDLE		5
#define T_TCP_KEEPINTVL		6
#define T_TCP_KEEPCNT		7
#define T_TCP_SYNCNT		8
#define T_TCP_LINGER2		9
#define T_TCP_DEFER_ACCEPT	10
#define T_TCP_WINDOW_CLAMP	11
#define T_TCP_INFO		12
#define T_TCP_QUICKACK		13

struct t_kpalive {
	t_scalar_t kp_onoff;	/* T_YES, T_NO, T_GARBAGE */
	t_scalar_t kp_timeout;	/* minutes */
};
#define T_GARBAGE		0x02

/* Level T_INET_UDP */
#define T_INET_UDP		17
#define T_UDP_CHECKSUM		1
/* Of udp2(4): */
#define T_UDP_PEER		2	/* the default destination; none: 0 bytes */
#define T_UDP_LOCHECK		3	/* checksums within a domain too */

/*
 * I_STR at any endpoint of udp2(4): an int; if not 0, datagrams between the
 * endpoints of the domain get checksums that are verified.
 */
#define UDP2_LOCHECK		(('U' << 8) | 2)

/* Level T_INET_IP */
#define T_INET_IP		0
#define T_IP_OPTIONS		1
#define T_IP_TOS		2
#define T_IP_TTL		3
#define T_IP_REUSEADDR		4
#define T_IP_DONTROUTE		5
#define T_IP_BROADCAST		6
#define T_IP_ADDR		7
#define T_IP_HDRINCL		8	/* of rawip2(4) */
#define T_IP_MTU_DISCOVER	10	/* of udp2(4), rawip2(4): an int */
/*
 * What comes up with each datagram, if its option is T_YES: the destination
 * address and the interface as T_IP_PKTINFO, a struct in_pktinfo or
 * in6_pktinfo; the time to live as T_IP_TTL; the type of service, or the
 * traffic class, as T_IP_TOS.  T_IP_PKTINFO with a datagram that is sent
 * chooses the source address and the interface.
 */
#define T_IP_RECVPKTINFO	11
#define T_IP_RECVTTL		12
#define T_IP_RECVTOS		13
#define T_IP_PKTINFO		14
/*
 * Multicast groups: values as for the kernel's socket options of these names.
 */
#define T_IP_MULTICAST_IF	32
#define T_IP_MULTICAST_TTL	33
#define T_IP_MULTICAST_LOOP	34
#define T_IP_ADD_MEMBERSHIP	35
#define T_IP_DROP_MEMBERSHIP	36

/* Precedence and type of service. */
#define T_ROUTINE		0
#define T_PRIORITY		1
#define T_IMMEDIATE		2
#define T_FLASH			3
#define T_OVERRIDEFLASH		4
#define T_CRITIC_ECP		5
#define T_INETCONTROL		6
#define T_NETCONTROL		7

#define T_NOTOS			0
#define T_LDELAY		(1 << 4)
#define T_HITHRPT		(1 << 3)
#define T_HIREL			(1 << 2)
#define T_LOCOST		(1 << 1)

#define SET_TOS(prec, tos)	((0x7 & (prec)) << 5 | (0x1c & (tos)))

/* Level T_INET_SCTP */
#define T_INET_SCTP			132
#define T_SCTP_NODELAY			1
#define T_SCTP_CORK			2
#define T_SCTP_PPI			3
#define T_SCTP_SID			4
#define T_SCTP_SSN			5
#define T_SCTP_TSN			6
#define T_SCTP_RECVOPT			7
#define T_SCTP_COOKIE_LIFE		8
#define T_SCTP_SACK_DELAY		9
#define T_SCTP_PATH_MAX_RETRANS		10
#define T_SCTP_ASSOC_MAX_RETRANS	11
#define T_SCTP_MAX_INIT_RETRIES		12
#define T_SCTP_HEARTBEAT_ITVL		13
#define T_SCTP_RTO_INITIAL		14
#define T_SCTP_RTO_MIN			15
#define T_SCTP_RTO_MAX			16
#define T_SCTP_OSTREAMS			17
#define T_SCTP_ISTREAMS			18
#define T_SCTP_COOKIE_INC		19
#define T_SCTP_THROTTLE_ITVL		20
#define T_SCTP_MAC_TYPE			21
#define T_SCTP_CKSUM_TYPE		22
#define T_SCTP_ECN			23
#define T_SCTP_ALI			24
#define T_SCTP_ADD			25
#define T_SCTP_SET			26
#define T_SCTP_ADD_IP			27
#define T_SCTP_DEL_IP			28
#define T_SCTP_SET_IP			29
#define T_SCTP_PR			30
#define T_SCTP_LIFETIME			31
#define T_SCTP_DISPOSITION		32
#define T_SCTP_MAX_BURST		33
#define T_SCTP_HB			34
#define T_SCTP_RTO			35
#define T_SCTP_MAXSEG			36
#define T_SCTP_STATUS			37
#define T_SCTP_DEBUG			38
#define T_SCTP_SACK_FREQUENCY		39
/* Of sctp(4): */
#define T_SCTP_LOCHECK			64	/* packets within a domain too */
#define T_SCTP_INTERLEAVE		65	/* offer I-DATA: RFC 8260 */
#define T_SCTP_SCHEDULER		66	/* which stream sends next */
#define T_SCTP_AUTH			68	/* offer authentication: RFC 4895 */
#define T_SCTP_ASCONF			69	/* offer changes of addresses: RFC 5061 */
#define T_SCTP_RECONF			70	/* T_SCTP_MAY_*: RFC 6525 */
#define T_SCTP_RESET			71	/* struct t_sctp_reset: a request */
#define T_SCTP_ADD_STREAMS		72	/* struct t_sctp_add: a request */
#define T_SCTP_CHANGE			73	/* T_SCTP_CHANGE_*: the last request */

/* The changes of streams that the peer may make; 0: none. */
#define T_SCTP_MAY_RESET		1
#define T_SCTP_MAY_RESET_TSN		2
#define T_SCTP_MAY_ADD			4

/* The value of T_SCTP_RESET; 16-bit stream numbers follow, or none: all. */
struct t_sctp_reset {
	t_uscalar_t what;	/* T_SCTP_RESET_*; OUT and IN can be added */
};
#define T_SCTP_RESET_OUT		1
#define T_SCTP_RESET_IN			2
#define T_SCTP_RESET_TSN		4	/* all streams, and new TSNs */
#define T_SCTP_RESET_MOST		30	/* stream numbers */

/* The value of T_SCTP_ADD_STREAMS: more streams for sending, receiving. */
struct t_sctp_add {
	t_uscalar_t out, in;
};

#define T_SCTP_CHANGE_NONE		0
#define T_SCTP_CHANGE_WAITS		1	/* it has not ended */
#define T_SCTP_CHANGE_DONE		2
#define T_SCTP_CHANGE_DENIED		3
#define T_SCTP_CHANGE_FAILED		4

/* The value of T_SCTP_STATUS: sctp(4). */
struct t_sctp_status {
	t_uscalar_t state;	/* T_SCTP_S_*, the numbers of RFC 3873 */
	t_uscalar_t direct;	/* 1: data goes without packets now */
	t_uscalar_t ostreams;	/* of the association, for sending */
	t_uscalar_t istreams;	/* ... and receiving */
	t_uscalar_t next_tsn;	/* of the next DATA chunk to be sent */
	t_uscalar_t acked_tsn;	/* cumulative TSN of the peer */
	t_uscalar_t rcvd_tsn;	/* cumulative TSN received */
	t_uscalar_t unacked;	/* bytes accepted, not acknowledged */
	t_uscalar_t flight;	/* bytes of these in packets on their way */
	t_uscalar_t unread;	/* bytes received, not yet passed up */
	t_uscalar_t peer_window;/* bytes, as in the peer's last SACK */
	t_uscalar_t window;	/* bytes, as our next SACK will say */
	t_uscalar_t addresses;	/* of the peer */
	t_uscalar_t cwnd;	/* bytes, of the primary address */
	t_uscalar_t srtt;	/* microseconds, of it; 0: not measured */
	t_uscalar_t rto;	/* microseconds, of it */
};
#define T_SCTP_S_CLOSED			1
#define T_SCTP_S_COOKIE_WAIT		2
#define T_SCTP_S_COOKIE_ECHOED		3
#define T_SCTP_S_ESTABLISHED		4
#define T_SCTP_S_SHUTDOWN_PENDING	5
#define T_SCTP_S_SHUTDOWN_SENT		6
#define T_SCTP_S_SHUTDOWN_RECEIVED	7
#define T_SCTP_S_SHUTDOWN_ACK_SENT	8

/* XPG4's names of the levels. */
#define INET_IP			T_INET_IP
#define INET_TCP		T_INET_TCP
#define INET_UDP		T_INET_UDP

/*
 * XPG4's names of the options, for a program that selects XPG4 (<sys/xti.h>).
 * IP_OPTIONS, IP_TOS and IP_TTL are missing, because <netinet/in.h> defines
 * them with other values.
 */
#ifdef _STR_XPG4
#ifndef TCP_NODELAY
#define TCP_NODELAY		1
#define TCP_MAXSEG		2
#endif
#define TCP_KEEPALIVE		T_TCP_KEEPALIVE
#define UDP_CHECKSUM		T_UDP_CHECKSUM
#define IP_REUSEADDR		T_IP_REUSEADDR
#define IP_DONTROUTE		T_IP_DONTROUTE
#define IP_BROADCAST		T_IP_BROADCAST
#endif

#ifdef __cplusplus
}
#endif

#endif

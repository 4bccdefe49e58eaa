/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/xti.h> - constants and structures of the X/Open Transport Interface
 *
 * The common part of <xti.h> (XTI) and <tiuser.h> (TLI, its predecessor):
 * structures, error numbers, events, states and flags.  The specification is
 * XNS 5.2; the numbers are those of every System V.  See xti(7).
 *
 * t_scalar_t is 32 bits wide everywhere, so that TPI messages are the same for
 * programs of any word size.
 *
 * A program that selects an X/Open issue before 5 gets XTI as in XPG4: netbufs,
 * t_alloc() and t_strerror() use pointers to char, and Internet options have
 * names without T_. (<xti.h> includes a header of the C library first, which
 * evaluates the selection.)  A program that defines STREAMS_XPG4 gets XPG4 in
 * any case: C++ and _GNU_SOURCE select the newest X/Open.
 */
#ifndef _SYS_XTI_H
#define _SYS_XTI_H

#if defined(STREAMS_XPG4)
#define _STR_XPG4
#elif defined(_XOPEN_SOURCE)
#if _XOPEN_SOURCE - 0 < 500
#define _STR_XPG4
#endif
#elif defined(_XOPEN_SOURCE_EXTENDED)
#define _STR_XPG4
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _STR_T_SCALAR_T
#define _STR_T_SCALAR_T
typedef int t_scalar_t;
typedef unsigned int t_uscalar_t;
#endif

/* Errors: t_errno.  See t_error(3). */
#define TBADADDR	1	/* incorrect address format */
#define TBADOPT		2	/* incorrect option format */
#define TACCES		3	/* incorrect permissions */
#define TBADF		4	/* not a transport endpoint */
#define TNOADDR		5	/* no address could be allocated */
#define TOUTSTATE	6	/* out of state */
#define TBADSEQ		7	/* bad connection sequence number */
#define TSYSERR		8	/* a system error: errno says which */
#define TLOOK		9	/* an event requires attention */
#define TBADDATA	10	/* illegal amount of data */
#define TBUFOVFLW	11	/* a buffer is not large enough */
#define TFLOW		12	/* flow control */
#define TNODATA		13	/* no data */
#define TNODIS		14	/* no disconnection waits */
#define TNOUDERR	15	/* no unit data error waits */
#define TBADFLAG	16	/* bad flags */
#define TNOREL		17	/* no orderly release waits */
#define TNOTSUPPORT	18	/* not supported by the provider */
#define TSTATECHNG	19	/* the state is changing */
#define TNOSTRUCTYPE	20	/* unsupported structure type */
#define TBADNAME	21	/* invalid transport provider name */
#define TBADQLEN	22	/* qlen is zero */
#define TADDRBUSY	23	/* address in use */
#define TINDOUT		24	/* outstanding connection indications */
#define TPROVMISMATCH	25	/* endpoints of different providers */
#define TRESQLEN	26	/* the accepting endpoint's qlen is not zero */
#define TRESADDR	27	/* the accepting endpoint has another address */
#define TQFULL		28	/* the queue of indications is full */
#define TPROTO		29	/* protocol error between XTI and provider */

/* Events: t_look(). */
#define T_LISTEN	0x0001	/* connection indication */
#define T_CONNECT	0x0002	/* connection confirmation */
#define T_DATA		0x0004	/* normal data */
#define T_EXDATA	0x0008	/* expedited data */
#define T_DISCONNECT	0x0010	/* disconnection */
#define T_UDERR		0x0040	/* a datagram could not be sent */
#define T_ORDREL	0x0080	/* orderly release */
#define T_GODATA	0x0100	/* normal data may be sent again */
#define T_GOEXDATA	0x0200	/* expedited data may be sent again */
#define T_EVENTS	0x0400

/* States: t_getstate(). */
#define T_UNINIT	0
#define T_UNBND		1
#define T_IDLE		2
#define T_OUTCON	3
#define T_INCON		4
#define T_DATAXFER	5
#define T_OUTREL	6
#define T_INREL		7

/* Flags of sending and receiving. */
#define T_MORE		0x0001	/* more of this unit follows */
#define T_EXPEDITED	0x0002	/* expedited data */
#define T_PUSH		0x0004	/* send at once */

/* Requests of t_optmgmt(), and their results. */
#define T_NEGOTIATE	0x0004
#define T_CHECK		0x0008
#define T_DEFAULT	0x0010
#define T_SUCCESS	0x0020
#define T_FAILURE	0x0040
#define T_CURRENT	0x0080
#define T_PARTSUCCESS	0x0100
#define T_READONLY	0x0200
#define T_NOTSUPPORT	0x0400

/* Service types: t_info.servtype. */
#define T_COTS		1	/* connections */
#define T_COTS_ORD	2	/* connections with orderly release */
#define T_CLTS		3	/* datagrams */

/* t_info.flags */
#define T_SENDZERO	0x0001	/* units of no bytes may be sent */
#define T_SNDZERO	T_SENDZERO
#define T_ORDRELDATA	0x0002	/* orderly release may carry data */

/* Special values of sizes. */
#define T_INFINITE	(-1)
#define T_INVALID	(-2)

/* Structures t_alloc() makes, and their parts. */
#define T_BIND		1
#define T_OPTMGMT	2
#define T_CALL		3
#define T_DIS		4
#define T_UNITDATA	5
#define T_UDERROR	6
#define T_INFO		7

#define T_ADDR		0x01
#define T_OPT		0x02
#define T_UDATA		0x04
#define T_ALL		0xffff

#define T_YES		1
#define T_NO		0
#define T_NULL		0
#define T_UNUSED	(-1)
#define T_UNSPEC	(~0 - 2)
#define T_ABSREQ	0x8000
#define T_ALLOPT	0

/**
 * struct t_info - properties of a provider @addr, @options: most bytes of an
 * address, of options
 * @tsdu, @etsdu:     most bytes of a (an expedited) service data unit; 0: no
 *                    boundaries
 * @connect, @discon: most bytes of data with a connect, with a disconnect
 * @servtype:         T_COTS, T_COTS_ORD or T_CLTS
 * @flags:            T_SENDZERO, T_ORDRELDATA
 * @tidu:             most bytes in one message to the provider; not in XNS
 *                    Sizes may be
 * T_INFINITE or T_INVALID (not supported).
 */
struct t_info {
	t_scalar_t addr;
	t_scalar_t options;
	t_scalar_t tsdu;
	t_scalar_t etsdu;
	t_scalar_t connect;
	t_scalar_t discon;
	t_scalar_t servtype;
	t_scalar_t flags;
	t_scalar_t tidu;
};

/* Status of a leaf for t_rcvleafchange(). */
struct t_leaf_status {
	int leafid;
	int status;	/* T_LEAF_NOCHANGE ... */
	int reason;
};
#define T_LEAF_NOCHANGE		0
#define T_LEAF_CONNECTED	1
#define T_LEAF_DISCONNECTED	2

/* One buffer of t_sndv(), t_rcvv() and similar functions. */
#define T_IOV_MAX	16
struct t_iovec {
	void *iov_base;
	unsigned long iov_len;
};

/**
 * struct t_opthdr - header of each option of a list
 * @len: bytes of the option with this header
 * @status: T_SUCCESS ... T_NOTSUPPORT
 * The value follows; each header begins at a multiple of four bytes.
 */
struct t_opthdr {
	t_uscalar_t len;
	t_uscalar_t level;
	t_uscalar_t name;
	t_uscalar_t status;
};

#define T_ALIGN(p) \
	(((unsigned long)(p) + sizeof(t_uscalar_t) - 1) & \
		~(unsigned long)(sizeof(t_uscalar_t) - 1))

/* The first header in a netbuf, the header after @hp, the value of @hp. */
#define T_OPT_FIRSTHDR(nbp) \
	((nbp)->len >= sizeof(struct t_opthdr) ? \
		(struct t_opthdr *)(nbp)->buf : (struct t_opthdr *)0)
#define T_OPT_DATA(hp)	((unsigned char *)((hp) + 1))
#define _T_OPT_AFTER(hp) \
	((struct t_opthdr *)(void *)((char *)(hp) + T_ALIGN((hp)->len)))
#define T_OPT_NEXTHDR(nbp, hp) \
	((hp)->len >= sizeof(struct t_opthdr) && \
	 (char *)(_T_OPT_AFTER(hp) + 1) <= \
		(char *)(nbp)->buf + (nbp)->len ? \
		_T_OPT_AFTER(hp) : (struct t_opthdr *)0)
/* The same for XPG4: @buf and @len instead of the netbuf. */
#define OPT_NEXTHDR(pbuf, buflen, popt) \
	((popt)->len >= sizeof(struct t_opthdr) && \
	 (char *)(_T_OPT_AFTER(popt) + 1) <= (char *)(pbuf) + (buflen) ? \
		_T_OPT_AFTER(popt) : (struct t_opthdr *)0)

/* Options of every provider. */
#define XTI_GENERIC	0xffff
#define XTI_DEBUG	0x0001
#define XTI_LINGER	0x0080
#define XTI_SNDBUF	0x1001
#define XTI_RCVBUF	0x1002
#define XTI_SNDLOWAT	0x1003
#define XTI_RCVLOWAT	0x1004
#define XTI_REUSEADDR	0x2001
#define XTI_DONTROUTE	0x2002
#define XTI_BROADCAST	0x2003
#define XTI_KEEPALIVE	0x2004
#define XTI_PRIORITY	0x2005

struct t_linger {
	t_scalar_t l_onoff;	/* T_YES, T_NO */
	t_scalar_t l_linger;	/* seconds, T_UNSPEC, T_INFINITE */
};

#ifdef __cplusplus
}
#endif

#endif

/*
 * Structures with pointers to bytes. <sys/tihdr.h> does not define them, so
 * that a source for TLI may include it first.
 */
#if !defined(_STR_NETBUF) && !defined(_STR_TPI)
#define _STR_NETBUF

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct netbuf - an address, options or user data
 * @maxlen: size of @buf, for receiving; 0: not wanted
 * @len:    bytes at @buf
 * @buf:    the caller's memory; char * in TLI and XPG4, void * since XNS 5
 */
struct netbuf {
	unsigned int maxlen;
	unsigned int len;
#if defined(_SYS_TIUSER_H) || defined(_STR_XPG4)
	char *buf;
#else
	void *buf;
#endif
};

struct t_bind {
	struct netbuf addr;
	unsigned int qlen;	/* connection indications that may wait */
};

struct t_optmgmt {
	struct netbuf opt;
	t_scalar_t flags;
};

struct t_discon {
	struct netbuf udata;
	int reason;
	int sequence;
};

struct t_call {
	struct netbuf addr;
	struct netbuf opt;
	struct netbuf udata;
	int sequence;
};

struct t_unitdata {
	struct netbuf addr;
	struct netbuf opt;
	struct netbuf udata;
};

struct t_uderr {
	struct netbuf addr;
	struct netbuf opt;
	t_scalar_t error;
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the operating system, for drivers.
 *
 * Purpose.  A driver such as `inet' uses a kernel socket as its lower side, by
 * the calls below.  The thread that runs the driver's procedure makes the
 * calls.  They never wait, and return 0 or a count, or minus an errno (EAGAIN
 * and EINPROGRESS among them).
 *
 * Object.  A ksock_t lies in the domain and is valid in every member.  The
 * descriptor behind it is not shared: each member gets its own when it first
 * needs one. streamsd has one of every socket, so that sent data is delivered
 * and a bound address stays bound, whichever process is killed.  A member gives
 * its descriptor back when the socket is closed, or when it closes its last
 * descriptor of the stream.
 *
 * Events.  A socket is watched on behalf of its queue.  When it can be read, or
 * has a connection, an error or its end, KS_IN is noted and the read side of
 * the queue is enabled.  When it can be written again, or is connected, KS_OUT
 * is noted and the write side is enabled.  Events are edges: the service
 * procedure reads until EAGAIN, or until the queue above is full (the
 * back-enable schedules it again), and writes until EAGAIN.  A thread that
 * sleeps or polls at the stream, or that finds no data there, watches the
 * socket. streamsd watches for the events that ksock_want() names, and watches
 * sockets of streams whose readers want signals or that are linked below a
 * multiplexor.
 *
 * Locks.  None here: the driver's perimeter (D_MTQPAIR is enough) prevents two
 * calls on one socket at a time.
 */
#ifndef STR_KSOCK_H
#define STR_KSOCK_H

#include <sys/stream.h>
#include <sys/uio.h>
#include <str/types.h>

typedef struct str_ksock ksock_t;

#define KS_IN 1u   /* data, a connection, an error, the end */
#define KS_OUT 2u  /* room, or connected */
#define KS_SOON 4u /* ksock_want(): the write side, within about 1 ms */
#define KS_ODD 8u  /* ksock_events(): an error, the end or urgent data may be
		    * among what came; KS_IN without it: there is plain data */

#define KS_MAXMM 64u /* messages of one ksock_sendmm(), ksock_recvmm() */

/*
 * A driver lends the Stream head its open gathering block and its idle socket,
 * so that the head can move plain data of a connection without messages.  The
 * structure is part of the stream.  Its lock is the driver's perimeter, which
 * the head enters itself.  The driver ends the loan at entry to its procedures
 * and renews it at exit.  The fields from `used' on say what the head did
 * meanwhile.  Threads outside the perimeter read the atomic fields as hints.
 */
#define STR_LEND_BYTES 1u
#define STR_LEND_UNITS 2u /* by the direct procedure: <str/direct.h> */
struct ksock_lend {
	unsigned char *_Atomic at;    /* data of the open block; NULL: none */
	volatile uint32_t *filled;    /* ... number of bytes in it */
	uint32_t limit;		      /* ... most bytes that it may have */
	str_a32 soon;		      /* ... not 0: the thread that fills it has
				       * to send it before it sleeps */
	str_a32 out;		      /* the head may send data of this many
				       * bytes, or more; 0: none */
	str_a32 in;		      /* the head may receive: STR_LEND_* */
	volatile uint32_t used;	      /* the head has set some of the fields
				       * below */
	volatile uint32_t busy;	      /* a send is in progress, or was when its
				       * sender died */
	str_a32 got;		      /* something was received */
	volatile uint64_t sent;	      /* bytes that were sent */
	volatile int err;	      /* error of a call, or 0 */
	str_a32 round;		      /* changed by each receive of the head, and
				       * by each end of the loan */
	str_a32 more;		      /* the head's: the last receive filled its
				       * buffer */
	uint32_t room;		      /* the head's: level of the next receive's
				       * size */
	uint32_t asked;		      /* the head's: size of the last receive */
	str_a32 safe;		      /* the head's: bytes in the socket, none
				       * of them urgent; 0: not known */
	str_a8 skip[2];		      /* the head's: number of waits that were
				       * to do without a try after the last
				       * try in vain, for reads and writes:
				       * core/head/patience.h */
	str_a8 rest[2];		      /* ... how many of them are left */
	uint8_t single;		      /* the head's: receives since one found
				       * data beyond the request: room_behind()
				       * of core/sock/lend.c */
	str_a8 far;		      /* the head's: not 0: bytes arrive, or
				       * arrived lately, from another CPU */
	str_a8 dry;		      /* the head's: number of receives that
				       * assume, unchecked, an empty socket */
};

/*
 * ksock_lend - the structure of @rq's stream; a driver calls this once, at open
 */
struct ksock_lend *ksock_lend(queue_t *rq);

/* One datagram. */
struct ksock_msg {
	struct iovec *km_iov;
	uint32_t km_iovlen;
	uint32_t km_len;     /* recv: bytes received */
	void *km_addr;	     /* NULL: none */
	uint32_t km_addrlen; /* recv: room, then length */
	void *km_ctl;	     /* cmsghdr data, NULL: none */
	uint32_t km_ctllen;  /* recv: room, then length */
	int km_flags;	     /* recv: MSG_TRUNC, ... */
	uint16_t km_gso;     /* send: segment size for UDP_SEGMENT, 0: none;
			      * recv: segment size of a UDP_GRO train, 0 */
};

/*
 * ksock_create - socket(2), non-blocking, for the driver's queue @rq
 * Return: 0, -EAFNOSUPPORT, -EPERM (raw sockets), -EMFILE, -ENOSR ...
 */
int ksock_create(queue_t *rq, int family, int type, int proto, ksock_t **ret);

/*
 * ksock_tun - a TUN device.  Each ksock_send() and ksock_recv() moves one
 * packet; of the other calls, only ksock_ioctl() and the calls for events work
 * @name: in/out, 16 bytes; empty: any
 */
int ksock_tun(queue_t *rq, char *name, ksock_t **ret);

/*
 * ksock_again - make the socket anew, usually because no process has a
 * descriptor of it any more; those of the old one that still exist are closed
 * Arguments as for ksock_create(), or a name as for ksock_tun().  The caller
 * must set the options and bind the address again.
 */
int ksock_again(ksock_t *ks, int family, int type, int proto, char *name);

/* ksock_attach - send events to @rq from now on (for a connection that another
 * endpoint accepted); NULL: to no queue. */
void ksock_attach(ksock_t *ks, queue_t *rq);

/*
 * ksock_close - close the socket in every member
 * @ks:  invalid afterwards; NULL is allowed
 * @how: 0; KS_ABORT: a connection is reset, and unsent data is lost; KS_OVER:
 *       both sides have released the connection already
 */
#define KS_ABORT 1
#define KS_OVER 2
void ksock_close(ksock_t *ks, int how);

/*
 * ksock_unname - the address of @ks need not be free after ksock_close(),
 * because the system has chosen it: no program binds it again.  So
 * ksock_close() does not wait until streamsd has closed its descriptor.
 */
void ksock_unname(ksock_t *ks);

int ksock_bind(ksock_t *ks, const void *addr, uint32_t len);
int ksock_listen(ksock_t *ks, int backlog);
int ksock_connect(ksock_t *ks, const void *addr, uint32_t len);
/* ksock_accept - the next connection, attached to no queue; @len in/out */
int ksock_accept(ksock_t *ks, ksock_t **ret, void *addr, uint32_t *len);
int ksock_shutdown(ksock_t *ks, int how);
/* ksock_name - getsockname(2), or getpeername(2) when @peer */
int ksock_name(ksock_t *ks, int peer, void *addr, uint32_t *len);
int ksock_setopt(ksock_t *ks, int level, int name, const void *val,
	uint32_t len);
int ksock_getopt(ksock_t *ks, int level, int name, void *val, uint32_t *len);
/* ksock_error - the pending error (SO_ERROR), taken: 0 or an errno, positive */
int ksock_error(ksock_t *ks);
/* ksock_ioctl - FIONREAD, SIOCOUTQ, SIOCATMARK: an int read; minus an errno */
#define KS_ATMARK 0x8905ul /* SIOCATMARK, of Linux */
#define KS_INQ 0x541bul	   /* FIONREAD */
/* of ksock_getopt(), of Linux too: SOL_SOCKET, SO_INCOMING_CPU */
#define KS_LEVEL 1
#define KS_CPU 49
int ksock_ioctl(ksock_t *ks, unsigned long cmd, int *ret);

/*
 * ksock_source - the source address of a datagram to @dst; @srclen in/out. 0,
 * or minus an errno: ENETUNREACH, EACCES (a broadcast), ...
 */
int ksock_source(const void *dst, uint32_t dstlen, void *src,
	uint32_t *srclen);

/*
 * ksock_near - most input of the stream comes from within the domain
 * @yes: a thread waits at the stream without watching the socket, which is
 * cheaper, and streamsd watches the socket meanwhile; 0: the thread watches
 * it.
 * ksock_may_be_near - until the next ksock_near(): the first thread that waits
 * for many streams, this one among them, does the same as ksock_near(@ks, 1)
 */
void ksock_near(ksock_t *ks, int yes);
void ksock_may_be_near(ksock_t *ks);

/*
 * ksock_nap - input comes as many small messages, one after the other
 * @how: how the next waiter at the stream waits.  KS_NAP: no message that
 *       arrives wakes it; it sleeps and checks again after a microsecond, or
 *       after as long as it has worked before; the system's clock adds about
 *       50 us.  KS_SPIN: it checks again after 10 us, without giving up the
 *       CPU.  0: as usual.
 * Return: the earlier request, if it was not carried out yet.
 */
#define KS_NAP 1u
#define KS_SPIN 2u
uint32_t ksock_nap(ksock_t *ks, uint32_t how);

/* Bytes, or minus an errno.  @flags: MSG_OOB, MSG_PEEK, MSG_MORE, ... */
long ksock_send(ksock_t *ks, const struct iovec *iov, uint32_t n, int flags);
long ksock_recv(ksock_t *ks, const struct iovec *iov, uint32_t n, int *flags);
/*
 * Send or receive datagrams.  Return: their number; minus an errno if there was
 * none.  With MSG_TRUNC in @flags one datagram is received as recv(2) does,
 * which costs less: in one piece, without control data, on a socket without
 * UDP_GRO.
 */
long ksock_sendmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags);
long ksock_recvmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags);

/* ksock_events - the events since the last call: KS_IN, KS_OUT, KS_ODD; clears
 * them. */
uint32_t ksock_events(ksock_t *ks);

/*
 * ksock_want - events to serve even while no member waits at the stream
 * @events: KS_OUT: unsent data waits for room; KS_SOON: gathered data must be
 * sent within a millisecond, or before this thread sleeps anywhere; KS_IN; 0:
 * none any more.  Cheap if nothing changes.
 */
void ksock_want(ksock_t *ks, uint32_t events);

#endif

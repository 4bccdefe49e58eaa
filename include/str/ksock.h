/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the operating system below, for drivers.
 *
 * Purpose.  A driver that has a kernel's socket for its lower side, as `inet'
 * has, asks for it here.  All calls are made by the thread that runs
 * the driver's procedure, never wait, and return at once: 0 or a count, or
 * minus an errno (EAGAIN, EINPROGRESS among them).
 *
 * Object.  A ksock_t lies in the domain and means the same in every member.
 * The descriptor behind it does not: each member has its own, got when it
 * first needs one, and streamsd has one of every socket, so that what was
 * sent is delivered, and what was bound stays bound, whichever process is killed.  A
 * member gives its descriptor back when the socket is closed, or when it
 * closes its last descriptor of the stream.
 *
 * Events.  A socket is watched for its queue: when it can be read, has a
 * connection, an error or its end, KS_IN is noted and the read side of the
 * queue is enabled; when it can be written again, or is connected, KS_OUT and
 * the write side.  Events are edges: the service procedure reads until EAGAIN,
 * or until the queue above is full (the back-enable brings it again), and
 * writes until EAGAIN.  Who watches: a thread that sleeps, polls or looks in
 * vain at the stream; streamsd, for what ksock_want() names and for streams
 * whose readers asked for signals or that are linked below a multiplexor.
 *
 * Locks.  None here: the driver's perimeter keeps two calls on one socket
 * apart (D_MTQPAIR does).
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
#define KS_ODD 8u  /* ksock_events(): urgent data, an error or the end may be
		    * among what came; without, there is plain data */

#define KS_MAXMM 64u /* messages of one ksock_sendmm(), ksock_recvmm() */

/*
 * What a driver lends the Stream head, so that plain data of a connection need
 * not become a message: its open gathering block, its idle socket.  It lies
 * with the stream.  The driver's perimeter is its lock: the head enters that
 * itself.  The driver takes back what it lent as it comes in, and lends anew
 * as it goes out; what the head did meanwhile is in the lower half.  What is
 * atomic is looked at from outside, too, as a hint.
 */
#define STR_LEND_BYTES 1u
#define STR_LEND_UNITS 2u /* by the direct procedure: <str/direct.h> */
struct ksock_lend {
	unsigned char *_Atomic at;    /* data of the open block; NULL: none */
	volatile uint32_t *filled;    /* ... how much of it there is */
	uint32_t limit;		      /* ... and may be */
	str_a32 soon;		      /* ... by a thread before it sleeps */
	str_a32 out;		      /* so much, or more, may be sent at once;
				       * 0: nothing */
	str_a32 in;		      /* what comes may be taken: STR_LEND_* */
	volatile uint32_t used;	      /* the lower half is of interest */
	volatile uint32_t busy;	      /* a send is in progress, or was when its
				       * sender died */
	str_a32 got;		      /* something was received */
	volatile uint64_t sent;	      /* bytes that were sent */
	volatile int err;	      /* what a call failed with, or 0 */
	str_a32 round;		      /* another since either has had what was
				       * in the socket, or may have */
	str_a32 more;		      /* the head's: the last receive took all it
				       * could */
	uint32_t room;		      /* the head's: what the next one is for */
	uint32_t asked;		      /* the head's: what the last one was for */
	str_a32 safe;		      /* the head's: bytes that are there, none
				       * of which is urgent; 0: not known */
	str_a8 vain[2];		      /* the head's: after waiting for a moment in
				       * vain, to read or write, so often not */
	str_a8 rest[2];		      /* ... of which so often still */
	uint8_t single;		      /* the head's: receives behind which
				       * nothing came, of those that looked */
	str_a8 far;		      /* the head's: a flow of bytes comes from
				       * another CPU, or did lately */
	str_a8 dry;		      /* the head's: what was known to be there
				       * was all; so often that is supposed */
};

/* ksock_lend - that of @rq's stream, which a driver finds once, at its open */
struct ksock_lend *ksock_lend(queue_t *rq);

/* One datagram; ks_len is in/out as the call says. */
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
 * ksock_tun - a TUN device: packets, one for each ksock_send(), ksock_recv();
 * of the other calls only ksock_ioctl() and those that are about events work
 * @name: in/out, 16 bytes; empty: any
 */
int ksock_tun(queue_t *rq, char *name, ksock_t **ret);

/*
 * ksock_again - another descriptor for a socket whose own no process has any more
 * Arguments as ksock_create() had, or a name as ksock_tun(); what was set and
 * bound has to be set and bound again.
 */
int ksock_again(ksock_t *ks, int family, int type, int proto, char *name);

/* ksock_attach - events are for @rq from now on (accepted on another
 * endpoint); NULL: for none. */
void ksock_attach(ksock_t *ks, queue_t *rq);

/* ksock_close - gone, in every member; @abort: a connection is reset, what was
 * not sent is lost.  Dead afterwards.  NULL is allowed. */
void ksock_close(ksock_t *ks, int abort);

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
 * ksock_source - which address a datagram to @dst leaves from; @srclen in/out.
 * 0, or minus an errno: ENETUNREACH, EACCES (a broadcast), ...
 */
int ksock_source(const void *dst, uint32_t dstlen, void *src,
	uint32_t *srclen);

/*
 * ksock_near - what comes for the stream comes from within the domain, mostly
 * @yes: a thread waits at the stream as at any other, which is cheaper, and
 * streamsd watches the socket meanwhile; 0: the thread watches it.
 */
void ksock_near(ksock_t *ks, int yes);

/*
 * ksock_nap - what comes is many small things, one after the other
 * @how: KS_NAP: the next waiter at the stream looks again after a moment (what
 * the system's clock makes of a microsecond, mostly 50 more, or of the time
 * that it has been at work), instead of being woken by the first of them;
 * KS_SPIN: after 10 us, without giving up the CPU; 0: as ever.
 *
 * Return: what had been asked for and not been done.
 */
#define KS_NAP 1u
#define KS_SPIN 2u
uint32_t ksock_nap(ksock_t *ks, uint32_t how);

/* Bytes, or minus an errno.  @flags: MSG_OOB, MSG_PEEK, MSG_MORE, ... */
long ksock_send(ksock_t *ks, const struct iovec *iov, uint32_t n, int flags);
long ksock_recv(ksock_t *ks, const struct iovec *iov, uint32_t n, int *flags);
/*
 * Datagrams; how many went, or came; minus an errno when none did.  With
 * MSG_TRUNC in @flags one is received as recv(2) does, which costs less: in one
 * piece, without control data, by a socket that is given no trains.
 */
long ksock_sendmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags);
long ksock_recvmm(ksock_t *ks, struct ksock_msg *v, uint32_t n, int flags);

/* ksock_events - what has come since the last call: KS_IN, KS_OUT; taken. */
uint32_t ksock_events(ksock_t *ks);

/*
 * ksock_want - what shall be seen to even while no member waits at the stream
 * @events: KS_OUT: unsent data waits for room; KS_SOON: data is being gathered
 * and goes within a millisecond, or before this thread sleeps anywhere; KS_IN;
 * 0: nothing any more.
 * Cheap when nothing changes.
 */
void ksock_want(ksock_t *ks, uint32_t events);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common definitions of drv/ti. ti.c describes the design.
 */
#ifndef DRV_TI_IMPL_H
#define DRV_TI_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/kmem.h>
#include <sys/stream.h>
#include <sys/strconf.h>
#include <sys/strlog.h>
#include <sys/strsun.h>
#include <sys/ticlts.h>
#include <str/driver.h>
#include <str/tpi.h>
#include <sys/ddi.h>

#include "../canon.h"

#define TI_HASH 1024u
#define TI_FIRST 1u	   /* minor that a clone open may choose */
#define TI_BACKLOG 128u	   /* calls that wait for a place among the indications */
#define TI_HOLD (5 * HZ)   /* how long a datagram waits for a full receiver */
#define TI_SNDBUF 1024	   /* small: waiting messages take the slow path */
#define TI_RCVBUF 524288
#define TI_DGRAMS 1024	   /* TI_SNDBUF of datagrams: see dgram.c */
#define TI_BUFMIN 1024
#define TI_BUFMAX (64 << 20)
#define TI_ADDRSZ 4u	   /* of an address chosen here */
#define TI_LONGER 255u	   /* messages before the next try of a shortcut */
#define TI_ID 0x7469

struct ti;

struct ti_name {
	struct ti_name *next;	   /* [I] in its chain */
	volatile unsigned int gen; /* odd: bound */
	struct ti *ep;
	struct str_ref ref;
	unsigned int len;
	unsigned char addr[TPI_ADDRMAX];
};

struct ti {
	struct tpi tpi;
	struct ti *peer;	  /* connected with */
	struct str_ref pref;	  /* its stream */
	unsigned int longer;	  /* [G] messages without a shortcut */
	struct ti *callee;	  /* listener with our T_CONN_IND */
	struct ti *old;		  /* the peer before: it may still be sending */
	struct ti_name *name;	  /* bound to */
	struct ti_name *wait;	  /* its receiver is full */
	struct ti_name *last;	  /* receiver of the last datagram: a hint */
	unsigned long since;	  /* ... when last looked, ticks; 0: it is not */
	unsigned long waited;	  /* ... for so long, ticks: tpi_waited() */
	volatile unsigned int waiters; /* a sender waits for us */
	volatile unsigned int stuck; /* ... or has given up waiting */
	uint64_t mark;		  /* read mark of `wait' at `since' */
	volatile uint64_t stop;	  /* ... we had when we became stuck */
};

struct ti_shared {
	struct tpi_prov prov;
	unsigned int auto_addr;	  /* the last one given */
	struct canon_minors minors; /* [A] of endpoints */
	struct ti_name *chain[TI_HASH];
};

static inline struct ti *
ti_of(struct tpi *tp)
{
	return (struct ti *)(void *)tp;
}

static inline struct ti_shared *
shared_of(struct tpi *tp)
{
	return (struct ti_shared *)(void *)tp->prov;
}

static inline struct ti *
peer_of(struct ti *me)
{
	return __atomic_load_n(&me->peer, __ATOMIC_ACQUIRE);
}

static inline void
set_peer(struct ti *me, struct ti *to)
{
	__atomic_store_n(&me->peer, to, __ATOMIC_RELEASE);
}

static inline unsigned long
ticks(void)
{
	unsigned long now = 0;

	(void)drv_getparm(LBOLT, &now);
	return now;
}

static inline unsigned int
gen_of(const struct ti_name *nm)
{
	return __atomic_load_n(&nm->gen, __ATOMIC_ACQUIRE);
}

static inline int
is_up(struct ti *to)
{
	return __atomic_load_n(&to->tpi.up, __ATOMIC_ACQUIRE) != 0;
}

/* A block that we may write, not shared; NULL: no memory. */
static inline mblk_t *
ti_own(mblk_t *mp)
{
	mblk_t *bp;

	if (__builtin_expect(mp->b_datap->db_ref == 1, 1))
		return mp;
	bp = copyb(mp);
	if (bp == NULL)
		return NULL;
	bp->b_cont = mp->b_cont;
	freeb(mp);
	return bp;
}

/* The endpoint bound to an address, see name.c. */
struct ti_name *ti_lookup(struct ti_shared *st, const unsigned char *buf,
	unsigned int len, unsigned int *ret_gen);

/* name.c: the calls of struct tpi_ops (<str/tpi.h>) that bind and unbind. */
int ti_bind(struct tpi *tp, const struct tpi_buf *want, int any,
	unsigned int *qlen, struct tpi_addr *got);
int ti_unbind(struct tpi *tp);
/* Wake the senders that wait for room above @me, or for its end. */
void ti_wake(struct ti *me);
/* Free the name that @me is bound to, if any.  Locks: the provider's. */
void ti_name_free(struct ti *me);

/* conn.c: the calls of struct tpi_ops of a connection. */
int ti_connect(struct tpi *tp, const struct tpi_buf *to, mblk_t *data);
int ti_accept(struct tpi *tp, struct tpi *to, struct tpi_ind *in, mblk_t *data);
int ti_connected(struct tpi *tp);
int ti_waits(struct tpi *tp, struct tpi_ind *in);
int ti_disconnect(struct tpi *tp, struct tpi_ind *in, mblk_t *data);
int ti_ordrel(struct tpi *tp, mblk_t *data);
void ti_close(struct tpi *tp);
/*
 * May a message be sent to @ep, which was found under the provider's lock?
 * Holds its stream in @h if possible; ti_leave() ends that.
 */
int ti_reach(struct ti *ep, struct str_hold *h);
void ti_leave(struct str_hold *h);
/* Disconnect @me, whose peer has gone without informing it. */
void ti_lost(struct ti *me);

/* data.c: the calls of struct tpi_ops for data of a connection. */
int ti_data(struct tpi *tp, mblk_t *mp, int flags);
int ti_exdata(struct tpi *tp, mblk_t *mp, int flags);
void ti_rsrv(struct tpi *tp);

/* dgram.c */
int ti_unitdata(struct tpi *tp, const struct tpi_buf *to,
	const struct tpi_buf *opts, mblk_t *mp);
int ti_direct(struct tpi *tp, const struct tpi_buf *to,
	const struct str_direct *d);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The generic transport provider (drv/tpi) as transports see it.
 *
 * Purpose.  drv/tpi speaks TPI with the user above: it checks what comes
 * down, knows the states, negotiates options, makes all acknowledgements and
 * indications.  A transport (drv/ti, drv/inet) is a table of operations,
 * struct tpi_ops, and calls tpi_*() when something comes from its side.
 *
 * A driver's procedures are wrappers that say which table it is; a table and
 * what it points to is constant and private to the process, so no address
 * of it is ever kept in shared memory:
 *
 *	static int x_wput(queue_t *q, mblk_t *mp)
 *	{ return tpi_wput(q, mp, &x_ops); }
 *
 * Objects.  struct tpi, one for each stream, the first member of what the
 * transport keeps for it (tpi_ops.size bytes, zeroed); q_ptr of both queues.
 * struct tpi_prov, one for each transport, in memory common to all processes.
 *
 * Life.  tpi_open() makes the endpoint and calls op open; tpi_close() takes
 * it out of the provider's list, calls op close, lets the queues go, and
 * frees it.
 *
 * Requests.  One thread at a time is on an endpoint's write side: it has the
 * gate, which is only ever tried; a thread that finds it taken leaves the message on
 * the write queue.  All operations but rsrv and close are called so, and with
 * no lock.  During an operation the state is the one that TPI has for it
 * (TS_WACK_*), and is changed after it to what follows from the result.
 *
 *	result	0: done
 *		< 0: minus a TLI error: -TADDRBUSY
 *		> 0: an errno, which becomes TSYSERR
 *		EAGAIN: not now (only where said).  The request goes back to
 *		the write queue, and is tried again when the queue's service
 *		procedure runs: when the transport enables it, or a tick
 *		later when it has called tpi_retry()
 *
 * A message an operation is given is its own only when it returns 0.
 * Operations that cannot be left out: those of the service type, prov, open
 * and close.  bind and unbind, connect and so on of the others are NULL.
 *
 * Upcalls.  The tpi_*() below take the endpoint's lock, and call neither
 * operations nor other modules: what goes up is laid on the read queue and
 * sent by its service procedure; so they may be called with a transport's own
 * locks held, by any thread that has the endpoint's stream claimed or by
 * other means knows that it is not closing.  tpi_data_ind() and its like
 * send at once when nothing waits there that came before; they are called
 * without locks, by one thread at a time for each endpoint.
 *
 * Locks.  Provider, then endpoint; two endpoints' never.  A transport's
 * own come before.
 *
 * Crash.  The gate and the locks name their owners and go over to the next
 * thread that wants them.  Lists are changed by one store.  Which request the gate's
 * owner is at stands in `busy': its next owner finishes it, or goes
 * back to the state before, and answers if that was not done (drv/tpi/mend.c).  For
 * that unbind and disconnect may be called when there is nothing, or half of
 * it, to be undone.
 */
#ifndef STR_TPI_H
#define STR_TPI_H

#include <sys/types.h>
#include <sys/stream.h>
#include <sys/cred.h>
#include <sys/ksynch.h>
#include <sys/tihdr.h>
#include <str/direct.h>
#include <str/hold.h>

struct tpi;
struct tpi_ops;

#define TPI_ADDRMAX 256u /* bytes of an address, of any transport */
#define TPI_OPTMAX 1024u /* bytes of options in one primitive */
#define TPI_NOSEQ ((t_uscalar_t)-1)
#define TPI_NVAL 24	 /* words of option values in struct tpi */
#define TPI_CONOPT 160u /* the others asked for with a call are not told of */

/* Bytes of another owner's. */
struct tpi_buf {
	const unsigned char *buf;
	unsigned int len;
};

/* An address, kept. */
struct tpi_addr {
	unsigned int len;
	unsigned char buf[TPI_ADDRMAX];
};

/* A connection indication that the user has not answered. */
struct tpi_ind {
	struct tpi_ind *next;
	t_uscalar_t seq;
	int taken;	       /* it is just being answered */
	int gone;	       /* ... and who called has gone: an errno */
	int accepted;	       /* ... and has been accepted */
	void *cookie;	       /* the transport's: who calls */
	struct tpi_addr from;
};

/* Common to all endpoints of a transport; all zeros to begin with. */
struct tpi_prov {
	kmutex_t lock;
	struct tpi *first;     /* all endpoints, by tpi.next */
	volatile unsigned int seq; /* the last sequence number given */
};

/* An endpoint.  [G] the gate's, [L] the lock's, [I] constant */
struct tpi {
	queue_t *rq;		   /* [I] */
	struct str_ref ref;	   /* [G] its stream, from the first request on */
	struct tpi_prov *prov;	   /* [I] */
	struct tpi *next;	   /* provider's lock */
	t_uscalar_t id;		   /* [I] ACCEPTOR_id */
	unsigned int minor;	   /* [I] */
	kmutex_t gate;		   /* who is on the write side; tried only */
	kmutex_t lock;
	volatile unsigned int busy; /* [G] the request that is served, + 1 */
	volatile unsigned int acked; /* [L] ... and has been answered */
	volatile unsigned int state; /* [L] TS_*; data looks without */
	volatile unsigned int up;  /* [L] something waits on the read queue
				    * that no data may overtake */
	volatile unsigned int dead; /* M_ERROR has been sent: nothing goes */
	volatile unsigned int missed; /* a thread found the gate taken */
	volatile unsigned int doubt; /* ... for a tick: does its owner live? */
	volatile unsigned int closing; /* provider's lock: not to be found */
	mblk_t *again;		   /* [G] a request that was put back, or
				    * was once: not to be followed */
	unsigned int back;	   /* [G] state to go back to on error */
	unsigned int qlen;	   /* [L] indications that may wait */
	unsigned int nind;	   /* [L] that wait */
	struct tpi_ind *ind;	   /* [L] these */
	struct tpi_addr local;	   /* [L] bound to; len 0: not bound */
	volatile unsigned int binds; /* [L] changes of it */
	struct tpi_addr remote;	   /* [L] connected with */
	t_scalar_t val[TPI_NVAL];  /* [G] values of options, tpi_opt.at */
	t_scalar_t dflt[2];	   /* [G] what the system has XTI_SNDBUF and
				    * XTI_RCVBUF at by default, once they have
				    * been changed */
	unsigned int nconopt;	   /* [G] options for T_CONN_CON, bytes of: */
	unsigned char conopt[TPI_CONOPT];
	volatile unsigned int owes; /* [L] what could not be said: TPI_OWES_* */
	t_scalar_t owes_prim;	   /* ... T_OK_ACK of this */
	int owes_reason;	   /* ... T_DISCON_IND's */
	int owes_error;		   /* ... M_ERROR's */
	volatile unsigned long timer; /* tpi_retry(): armed when, or 0 */
	unsigned long drops;	   /* [A] datagrams that were dropped */
	/* messages that stay on their queue until they are where they go */
	volatile unsigned int keeping; /* [G] on the write queue: TPI_KEEP_* */
	volatile unsigned int handing; /* rsrv's: on the read queue */
	struct str_ref kept_at;	   /* [G] whose head it goes to ... */
	queue_t *kept_rq;
	mblk_t *kept;		   /* [L] the one on the write queue, if it is
				    * there still ... */
	mblk_t *hand;		   /* [L] ... on the read queue */
	volatile uint64_t kept_mark; /* ... and str_put_mark() there, before */
	uintptr_t kept_dup;	   /* [G] ... what goes, its address inverted:
				    * the reaper takes an address for its keeper */
	unsigned int kept_by;	   /* [G] ... and str_msg_watch() of it */
	volatile uint64_t hand_mark; /* the same of our own */
};

/*
 * tpi_waited - ticks that a datagram has waited for a receiver that reads nothing
 * @at: tick of its sender's last look; 0: this is the first.  @sum: so far
 * A look counts for as long as the last one is ago, but for TPI_LOOK at most:
 * the sender comes each tick, unless it is stopped.
 */
#define TPI_LOOK 10ul
static inline unsigned long
tpi_waited(unsigned long *at, unsigned long *sum, unsigned long now)
{
	unsigned long n = now - *at;

	*sum = *at == 0 ? 0 : *sum + (n < TPI_LOOK ? n : TPI_LOOK);
	*at = now;
	return *sum;
}

/* One more was dropped.  Return: how many before. */
static inline unsigned long
tpi_dropped(struct tpi *tp)
{
	return __atomic_fetch_add(&tp->drops, 1ul, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ options */

enum tpi_opt_type {
	TPI_OPT_INT,	/* t_uscalar_t; 8 bytes are taken too */
	TPI_OPT_YESNO,	/* the same, T_YES or T_NO */
	TPI_OPT_CHAR,	/* unsigned char; 4 and 8 bytes are taken too */
	TPI_OPT_LINGER, /* struct t_linger; two words at tpi_opt.at */
	TPI_OPT_PAIR,	/* two words of which the first is T_YES or T_NO */
	TPI_OPT_BYTES	/* any, by get and set */
};

/* tpi_opt.flags */
#define TPI_OPT_RDONLY 0x01 /* can be read only: T_READONLY */
#define TPI_OPT_ABS 0x02    /* an absolute requirement: not cut to fit */
#define TPI_OPT_PRIV 0x04   /* the super-user's: else T_READONLY */
#define TPI_OPT_OPS 0x08    /* op getopt, setopt; else the word at `at' */
#define TPI_OPT_CALL 0x10   /* goes with T_CONN_*, T_UNITDATA_* too */

/* One option that the transport knows. */
struct tpi_opt {
	t_uscalar_t level;
	t_uscalar_t name;
	enum tpi_opt_type type;
	unsigned int flags;
	t_scalar_t dflt, min, max; /* of INT and CHAR; PAIR: of the second */
	unsigned int at;	   /* index in tpi.val, unless TPI_OPT_OPS */
};

/* ---------------------------------------------------------------- operations */

/* flags of op data */
#define TPI_MORE 0x1	/* T_MORE, or no data part: the block comes in front */
#define TPI_WAITING 0x2 /* more data waits on the write queue */

struct tpi_ops {
	const char *name;
	size_t size;		 /* of an endpoint, struct tpi included */
	/*
	 * What op data and unitdata are given for another stream's head is put
	 * there by them, and they call tpi_goes() before that: then nothing of
	 * what waits is lost with who serves the queue, and nothing comes twice.
	 */
	int keeps;
	struct T_info_ack info;	 /* what T_INFO_ACK says but for the state */
	const struct tpi_opt *opt; /* the options, grouped by level */
	unsigned int nopt;

	/* Where the transport's common memory is; NULL: no memory. */
	struct tpi_prov *(*prov)(void);

	/* A new stream, whose procedures are off: 0 or an errno. */
	int (*open)(struct tpi *tp, cred_t *crp);

	/*
	 * The stream goes.  The endpoint is in the provider's list no more;
	 * what it had is to be given back, peers are to be told, and no lookup
	 * may find it afterwards.  Procedures are still on; indications that
	 * wait are at tp->ind.  Messages on the write queue were accepted:
	 * a transport may still take them (getq).
	 */
	void (*close)(struct tpi *tp);

	/*
	 * T_BIND_REQ.  @want: len 0: any.  @any: when it is busy another one
	 * will do.  @qlen: how many indications, in and out.  @got: the
	 * address, also to be filled in when it is the one wanted.
	 */
	int (*bind)(struct tpi *tp, const struct tpi_buf *want, int any,
		unsigned int *qlen, struct tpi_addr *got);
	int (*unbind)(struct tpi *tp);

	/*
	 * T_CONN_REQ; its options have been set.  0: under way; later
	 * tpi_conn_con() or tpi_discon_ind().  When these may come before it
	 * returns, or it calls them itself, it calls tpi_conn_ok() first.
	 * EAGAIN, before that: it is called again.
	 */
	int (*connect)(struct tpi *tp, const struct tpi_buf *to, mblk_t *data);

	/*
	 * T_CONN_RES: @tp's indication @in goes to @to, which may be @tp.
	 * When this is called @to is TS_DATA_XFER already, and its gate taken;
	 * when it fails @to goes back, and the indication stays.  When
	 * in->gone is set, who called has gone: -TBADSEQ.  EAGAIN: as below.
	 */
	int (*accept)(struct tpi *tp, struct tpi *to, struct tpi_ind *in,
		mblk_t *data);

	/*
	 * T_DISCON_REQ: of the connection, or the refusal of indication @in.
	 * Data that waited has been dropped, what was not read will be.  May
	 * return EAGAIN, and is called again.  No data of the old connection
	 * may come after the begin of a new one.
	 */
	int (*disconnect)(struct tpi *tp, struct tpi_ind *in, mblk_t *data);

	/*
	 * Of an endpoint whose gate a dead thread had in accept: is @tp
	 * connected?  Of the listener: does @in's caller still wait?  NULL:
	 * no, and by tpi_ind.cookie, which is NULL when it does not.
	 */
	int (*connected)(struct tpi *tp);
	int (*waits)(struct tpi *tp, struct tpi_ind *in);

	/*
	 * Data, M_DATA only, in order; 0 bytes where T_SNDZERO.  With TPI_MORE
	 * the T_DATA_REQ block comes in front: its MORE_flag says that the unit
	 * goes on (only where TSDU_size is not 0), or the request has no data
	 * part (only where T_SNDZERO).  EAGAIN: flow control.  Other results are of no
	 * effect: whatever ends a connection is told by tpi_discon_ind() and
	 * tpi_fatal().
	 */
	int (*data)(struct tpi *tp, mblk_t *mp, int flags);
	/* T_EXDATA_REQ, with its block, then M_DATA; as data. */
	int (*exdata)(struct tpi *tp, mblk_t *mp, int flags);
	/* T_ORDREL_REQ, after all data has been taken; as data. */
	int (*ordrel)(struct tpi *tp, mblk_t *data);

	/*
	 * T_UNITDATA_REQ with its block, which may be changed in place, then
	 * M_DATA.  Options have been checked.  EAGAIN as of data; other
	 * results become a T_UDERROR_IND, with the errno or, of -TBADADDR and
	 * -TBADOPT, what udbad says.
	 */
	int (*unitdata)(struct tpi *tp, const struct tpi_buf *to,
		const struct tpi_buf *opts, mblk_t *mp);
	t_scalar_t udbad[3]; /* by TLI error: 0, TBADADDR, TBADOPT */

	/*
	 * The same by the short way (<str/direct.h>), when the state is TS_IDLE,
	 * there are no options, and nothing waits that came before: without
	 * the gate, by any number of threads.  Finds the receiver, holds its
	 * stream and calls tpi_unitdata_direct(); what is not easy is for op
	 * unitdata.  STR_DIRECT_*; or NULL.
	 */
	int (*direct)(struct tpi *tp, const struct tpi_buf *to,
		const struct str_direct *d);

	/* Values that are the transport's: TPI_OPT_OPS.  @len is in/out. */
	int (*getopt)(struct tpi *tp, const struct tpi_opt *o, void *val,
		unsigned int *len);
	/* @val has been checked; told of every change, TPI_OPT_OPS or not */
	int (*setopt)(struct tpi *tp, const struct tpi_opt *o, const void *val,
		unsigned int len);

	/* T_ADDR_REQ, when others than tp->local and tp->remote; or NULL. */
	void (*addrs)(struct tpi *tp, struct tpi_addr *local,
		struct tpi_addr *remote);

	/*
	 * The service procedures: room above, or an event; called after what
	 * waited on the read queue has been sent, without the gate.  Write:
	 * before what waits on the write queue is tried again, with the gate;
	 * and after that, when it has been taken, @after is 1.  Or NULL.
	 */
	void (*rsrv)(struct tpi *tp);
	void (*wsrv)(struct tpi *tp, int after);
};

/* --------------------------------------------------------- procedures' bodies */

/* @minor: chosen by the driver, with a clone open too. */
int tpi_open(queue_t *q, dev_t *devp, int sflag, cred_t *crp,
	unsigned int minor, const struct tpi_ops *ops);
int tpi_close(queue_t *q, const struct tpi_ops *ops);
int tpi_wput(queue_t *q, mblk_t *mp, const struct tpi_ops *ops);
int tpi_wsrv(queue_t *q, const struct tpi_ops *ops);
int tpi_rsrv(queue_t *q, const struct tpi_ops *ops);
/* The direct procedure of a transport that has op direct. */
int tpi_direct(queue_t *q, const struct str_direct *d,
	const struct tpi_ops *ops);
/* The one procedure whose address is handed out: in STR_DRIVER's calls. */
void tpi_tick(void *arg);

static inline struct tpi *
tpi_of(queue_t *q)
{
	return (struct tpi *)q->q_ptr;
}

/* @mp of @tp goes to the head above @rq, whose stream is held, next. */
void tpi_goes_kept(struct tpi *tp, queue_t *rq, const struct str_ref *ref,
	mblk_t *mp);
static inline void
tpi_goes(struct tpi *tp, queue_t *rq, const struct str_ref *ref, mblk_t *mp)
{
	if (__builtin_expect(tp->keeping != 0, 0))
		tpi_goes_kept(tp, rq, ref, mp);
}

/* The service procedures run again in a tick. */
void tpi_retry(struct tpi *tp);

/* ------------------------------------------------------------------- upcalls */

/*
 * A caller wants to connect.  @cookie: who, kept in the tpi_ind.  @data may be
 * NULL; consumed when 0 is returned.
 * Return: 0, ECONNREFUSED: not listening, or too many wait; ENOSR.
 */
int tpi_conn_ind(struct tpi *tp, const struct tpi_buf *from, mblk_t *data,
	void *cookie);
/*
 * The caller has gone: T_DISCON_IND with the indication's sequence number.
 * @data may be NULL; consumed in any case.
 * Return: 0, ENOENT: there is no such indication.
 */
int tpi_conn_gone(struct tpi *tp, void *cookie, int reason, mblk_t *data);
/* Op connect: nothing is wrong with the request: T_OK_ACK, TS_WCON_CREQ. */
void tpi_conn_ok(struct tpi *tp);
/*
 * Connected.  0; EINVAL: no longer wanted (not TS_WCON_CREQ); ENOSR: the
 * state is as it was.
 */
int tpi_conn_con(struct tpi *tp, const struct tpi_buf *res, mblk_t *data);
/*
 * The connection is gone, or was refused.  @data may be NULL.
 * Return: 0, @data consumed; EINVAL: there is none, @data not consumed.
 */
int tpi_discon_ind(struct tpi *tp, int reason, mblk_t *data);
/* The peer has sent all; 0, or EINVAL. */
int tpi_ordrel_ind(struct tpi *tp, mblk_t *data);

/*
 * Data for the user.  0: taken.  EAGAIN: no room, or something must go first:
 * op rsrv is called when it has; not taken.  EINVAL: not connected; not taken.
 */
int tpi_data_ind(struct tpi *tp, mblk_t *data, int more);
int tpi_exdata_ind(struct tpi *tp, mblk_t *data, int more);
int tpi_unitdata_ind(struct tpi *tp, const struct tpi_buf *src,
	const struct tpi_buf *opts, mblk_t *data);
/*
 * A datagram of @from's user, by the short way; @src: from where, NULL: from
 * its own address.  @tp's stream is held.  STR_DIRECT_*.
 */
int tpi_unitdata_direct(struct tpi *tp, struct tpi *from,
	const struct tpi_buf *src, const struct str_direct *d);
/* A datagram could not be sent. */
void tpi_uderror_ind(struct tpi *tp, const struct tpi_buf *dest,
	const struct tpi_buf *opts, t_scalar_t error);
/*
 * The same of a connection that ends, whose sender cannot wait: taken in any
 * case, in order, flow control or not.  @data: NULL: a unit without a data
 * part.  EINVAL, not taken: not connected.
 */
int tpi_data_force(struct tpi *tp, mblk_t *data, int more, int expedited);
/* Would tpi_data_ind() take data?  If not, op rsrv is called when it would. */
int tpi_canput(struct tpi *tp);
/* What the user has not read, and what is on its way up, is void. */
void tpi_flush_up(struct tpi *tp);
/* The endpoint is of no use any more: M_ERROR. */
void tpi_fatal(struct tpi *tp, int error);

/* The states as text, "TS_IDLE"; NULL: no such state. */
const char *tpi_state_name(unsigned int state);

#endif

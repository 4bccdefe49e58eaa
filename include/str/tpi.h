/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The generic transport provider (drv/tpi) as transports see it.
 *
 * Purpose. drv/tpi implements TPI towards the user above: it checks the
 * requests, keeps the state, negotiates options, and makes all acknowledgements
 * and indications.  A transport (drv/ti, drv/inet) is a table of operations,
 * struct tpi_ops, and calls tpi_*() when something arrives from the network.
 *
 * A driver's procedures are wrappers that pass the address of the table.  A
 * table and the objects that it points to are constant and private to the
 * process, so their addresses are never stored in shared memory:
 *
 *	static int x_wput(queue_t *q, mblk_t *mp)
 *	{ return tpi_wput(q, mp, &x_ops); }
 *
 * Objects. struct tpi, one for each stream, is the first member of the
 * transport's structure for the stream (tpi_ops.size bytes, zeroed); q_ptr of
 * both queues points to it. struct tpi_prov, one for each transport, lies in
 * memory that all processes share.
 *
 * Life. tpi_open() makes the endpoint, calls op open, and enters the endpoint
 * in the provider's list; tpi_close() marks it as closing, so that lookups skip
 * it, calls op close, takes it out of the list, detaches the queues, and frees
 * it.
 *
 * Requests.  One thread at a time works on an endpoint's write side: the owner
 * of the gate, a lock that only tpi_close() waits for, all others only try.  A
 * thread that finds the gate taken leaves the message on the write queue.  All
 * operations except prov, open, direct and rsrv are called with the gate, and
 * all without a lock.  During an operation the state is the one that TPI
 * defines for it (TS_WACK_*); afterwards it is set according to the result.
 *
 *	result	0: done
 *		< 0: minus a TLI error: -TADDRBUSY
 *		> 0: an errno, which becomes TSYSERR
 *		EAGAIN: not now (only where noted).  The request is put back on
 *		the write queue, and tried again when the queue's service
 *		procedure runs: when the transport enables the queue, or a tick
 *		after the transport called tpi_retry()
 *
 * An operation owns the message that it is passed only if it returns 0.
 * Required operations: prov, open, close and those of the service type.  The
 * operations of other service types, such as connect, are NULL.
 *
 * Upcalls.  The tpi_*() functions below take the endpoint's lock, and call
 * neither operations nor other modules: they put their messages on the read
 * queue, whose service procedure sends them.  So they may be called with a
 * transport's own locks held, by any thread that has claimed the endpoint's
 * stream or makes sure by other means that it is not closing. tpi_data_ind(),
 * tpi_data_force(), tpi_optdata_ind() and tpi_unitdata_ind() send at once if no
 * earlier message waits there; they are called without locks, by one thread at a
 * time for each endpoint.
 *
 * Locks.  A transport's own locks first, then the provider's, then the
 * endpoint's; never the locks of two endpoints.
 *
 * Crash.  The gate and the locks contain the tag of their owner; if it is dead,
 * the next thread that tries the lock takes it over.  Lists are changed by one
 * store. `busy' says which request the gate's owner serves: the next owner
 * finishes the request or restores the state before it, and answers if that was
 * not done (drv/tpi/mend.c).  So unbind and disconnect may be called when
 * nothing, or only a part, has to be undone.
 */
#ifndef STR_TPI_H
#define STR_TPI_H

#include <str/builtin.h>
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
#define TPI_CONOPT 160u /* further options of a call are not reported */

/* Bytes in memory of another owner. */
struct tpi_buf {
	const unsigned char *buf;
	unsigned int len;
};

/* A stored address. */
struct tpi_addr {
	unsigned int len;
	unsigned char buf[TPI_ADDRMAX];
};

/* A connection indication that the user has not answered. */
struct tpi_ind {
	struct tpi_ind *next;
	t_uscalar_t seq;
	int held;	       /* the user's queue is full: not sent up yet */
	mblk_t *data;	       /* ... nor is this user data of the caller */
	int taken;	       /* it is being answered */
	int gone;	       /* ... and its caller has gone: an errno */
	int accepted;	       /* ... and has been accepted */
	void *cookie;	       /* the transport's: identifies the caller */
	struct tpi_addr from;
};

/* Shared by all endpoints of a transport; all zeros at first. */
struct tpi_prov {
	kmutex_t lock;
	struct tpi *first;     /* all endpoints, by tpi.next */
	volatile unsigned int seq; /* the last sequence number given */
};

/* An endpoint.  Tags on fields: docs/locking.md */
struct tpi {
	queue_t *rq;		   /* [I] */
	struct str_ref ref;	   /* [G] its stream, from the first request on */
	struct tpi_prov *prov;	   /* [I] */
	struct tpi *next;	   /* provider's lock */
	t_uscalar_t id;		   /* [I] ACCEPTOR_id */
	unsigned int minor;	   /* [I] */
	kmutex_t gate;		   /* owner of the write side: see above */
	kmutex_t lock;
	volatile unsigned int busy; /* [G] the request that is served, + 1 */
	volatile unsigned int acked; /* [L] ... and has been answered */
	volatile unsigned int state; /* [L] TS_*, see tpi_state(); data paths
				      * read it without */
	volatile unsigned int up;  /* [L] a message on the read queue that data
				    * must not overtake */
	volatile unsigned int dead; /* M_ERROR has been sent: no more service */
	volatile unsigned int missed; /* a thread found the gate taken */
	volatile unsigned int doubt; /* ... for a tick: check its owner */
	volatile unsigned int closing; /* provider's lock: lookups skip it */
	volatile unsigned int calm; /* data in a wrong state is dropped, and is
				     * no protocol error: set by the transport */
	mblk_t *again;		   /* [G] a request that was put back; may be
				    * stale, never dereferenced */
	unsigned int back;	   /* [G] state to go back to on error */
	unsigned int qlen;	   /* [L] most indications that may wait */
	unsigned int backlog;	   /* [G] most calls that wait for a place among
				    * them; set by op open, 0 at first: such a
				    * call is refused */
	struct tpi_ind *ind;	   /* [L] those that wait, in order */
	struct tpi_addr local;	   /* [L] bound to; len 0: not bound */
	volatile unsigned int binds; /* [L] changes of it */
	struct tpi_addr remote;	   /* [L] connected with */
	t_scalar_t val[TPI_NVAL];  /* [G] values of options, tpi_opt.at */
	t_scalar_t dflt[2];	   /* [G] the system's default XTI_SNDBUF and
				    * XTI_RCVBUF, once they have been changed */
	unsigned int nconopt;	   /* [G] bytes of options for T_CONN_CON: */
	unsigned char conopt[TPI_CONOPT];
	volatile unsigned int owes; /* [L] what is to be sent: TPI_OWES_* */
	t_scalar_t owes_prim;	   /* ... primitive of the T_OK_ACK */
	int owes_reason;	   /* ... reason of the T_DISCON_IND */
	int owes_error;		   /* ... error of the M_ERROR */
	struct str_timer *volatile timer; /* tpi_retry(); NULL at first */
	uint64_t due;		   /* [A] the tick that was requested, or 0 */
	volatile unsigned int writer; /* str_self() of the thread that put the
				       * last message that had to wait */
	unsigned long drops;	   /* [A] datagrams that were dropped */
	/* Messages that stay on their queue until they have arrived. */
	struct tpi_kept {
		volatile unsigned int state; /* TPI_KEEP_* */
		mblk_t *mp;	/* [L] it, if it is still there */
		uint64_t sent;	/* the duplicate: str_msg_watch() */
	} down, hand; /* [G] on the write queue; used by rsrv: on the read
		       * queue */
};

/*
 * tpi_waited - how many ticks a datagram has waited for a receiver that reads
 * nothing
 * @at: tick of the last look; 0: this is the first attempt.
 * @sum: ticks so far
 * An attempt that is TPI_LOOK ticks after the last look adds these, unless the
 * thread that put the message is stopped.
 */
#define TPI_LOOK 10ul
static inline unsigned long
tpi_waited(const struct tpi *tp, unsigned long *at, unsigned long *sum,
	unsigned long now)
{
	if (*at == 0) {
		*sum = 0;
		*at = now;
	} else if (now - *at >= TPI_LOOK) {
		if (!str_stopped(tp->writer))
			*sum += TPI_LOOK;
		*at = now;
	}
	return *sum;
}

/* Count a dropped datagram.  Return: how many were dropped before. */
static inline unsigned long
tpi_dropped(struct tpi *tp)
{
	return __atomic_fetch_add(&tp->drops, 1ul, __ATOMIC_RELAXED);
}

/*
 * tpi_port_clash - op clash of transports whose addresses begin as a struct
 * sockaddr_in: they have the same port, at bytes 2 and 3
 */
int tpi_port_clash(const struct tpi_buf *want, const struct tpi_addr *has);

/* ------------------------------------------------------------------ options */

enum tpi_opt_type {
	TPI_OPT_INT,	/* t_uscalar_t; 8 bytes are accepted too */
	TPI_OPT_YESNO,	/* the same, T_YES or T_NO */
	TPI_OPT_CHAR,	/* unsigned char; 4 and 8 bytes are accepted too */
	TPI_OPT_LINGER, /* struct t_linger; two words at tpi_opt.at */
	TPI_OPT_PAIR,	/* two words of which the first is T_YES or T_NO */
	TPI_OPT_BYTES	/* any, by get and set */
};

/* tpi_opt.flags */
#define TPI_OPT_RDONLY 0x01 /* can be read only: T_READONLY */
#define TPI_OPT_ABS 0x02    /* an absolute requirement: not reduced */
#define TPI_OPT_PRIV 0x04   /* for the super-user; else T_READONLY */
#define TPI_OPT_OPS 0x08    /* op getopt, setopt; else the word at `at' */
#define TPI_OPT_CALL 0x10   /* allowed in T_CONN_*, T_UNITDATA_* too */

/* One option of the transport. */
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
#define TPI_MORE 0x1	  /* T_MORE, or no data part: with the request's block */
#define TPI_WAITING 0x2	  /* more data waits on the write queue */
#define TPI_EXPEDITED 0x4 /* of op optdata and tpi_optdata_ind() */

struct tpi_ops {
	const char *name;
	size_t size;		 /* of an endpoint, struct tpi included */
	/*
	 * Op data and unitdata put their message on a queue of another stream,
	 * and call tpi_goes() before; or they call tpi_went() afterwards.  Then
	 * no waiting message is lost if the thread that serves the queue is
	 * killed, and none arrives twice.
	 */
	int keeps;
	struct T_info_ack info;	 /* T_INFO_ACK except for the state */
	const struct tpi_opt *opt; /* the options, grouped by level */
	unsigned int nopt;

	/* The transport's shared memory; NULL: no memory. */
	struct tpi_prov *(*prov)(void);

	/* A new stream, whose procedures are off.  Return: 0 or an errno. */
	int (*open)(struct tpi *tp, cred_t *crp);

	/*
	 * The stream is being closed.  Lookups in the provider's list skip the
	 * endpoint (tpi.closing).  The transport frees its resources, informs
	 * the peers, and makes sure that no lookup finds the endpoint
	 * afterwards.  Procedures are still on; indications that wait are at
	 * tp->ind.  Messages on the write queue were accepted: a transport may
	 * still take them (getq).
	 */
	void (*close)(struct tpi *tp);

	/*
	 * T_BIND_REQ. @want: len 0: any. @any: if @want is busy, bind another
	 * address. @qlen: number of indications, in and out. @got: the address;
	 * filled in even if it is the same as @want.  -TADDRBUSY: if the holder
	 * of the address was killed, bind is called again when that endpoint is
	 * closed; first it is called with @any 0.
	 */
	int (*bind)(struct tpi *tp, const struct tpi_buf *want, int any,
		unsigned int *qlen, struct tpi_addr *got);
	/*
	 * May an endpoint that is bound to @has be the reason why @want is in
	 * use?  NULL: if they are the same bytes.  Locks: the provider's.
	 */
	int (*clash)(const struct tpi_buf *want, const struct tpi_addr *has);
	int (*unbind)(struct tpi *tp);

	/*
	 * T_CONN_REQ; its options have been set. 0: started; the transport
	 * later calls tpi_conn_con() or tpi_discon_ind().  If these may be
	 * called before connect returns, it calls tpi_conn_ok() first.  EAGAIN,
	 * before that: connect is called again.
	 */
	int (*connect)(struct tpi *tp, const struct tpi_buf *to, mblk_t *data);

	/*
	 * T_CONN_RES: accept @tp's indication @in on @to, which may be @tp. @to
	 * is in TS_DATA_XFER already, and its gate is taken; if accept fails,
	 * the state of @to is restored, and the indication remains.  If
	 * in->gone is set, the caller has gone: -TBADSEQ.  EAGAIN: as below.
	 */
	int (*accept)(struct tpi *tp, struct tpi *to, struct tpi_ind *in,
		mblk_t *data);

	/*
	 * T_DISCON_REQ: end the connection, or refuse indication @in.  Data
	 * that waited to be sent has been dropped; unread data will be.  May
	 * return EAGAIN, and is called again then.  After the start of a new
	 * connection no data of the old one may arrive.
	 */
	int (*disconnect)(struct tpi *tp, struct tpi_ind *in, mblk_t *data);

	/*
	 * A thread died in accept with the gate.  On the accepting endpoint: is
	 * @tp connected?  On the listener: does @in's caller still wait?  NULL:
	 * not connected, and the caller waits if tpi_ind.cookie is not NULL.
	 */
	int (*connected)(struct tpi *tp);
	int (*waits)(struct tpi *tp, struct tpi_ind *in);

	/*
	 * Data, M_DATA only, in order; 0 bytes only with T_SNDZERO.  With
	 * TPI_MORE the T_DATA_REQ block precedes the data: its MORE_flag is set
	 * (only if TSDU_size is not 0), or the request has no data part (only
	 * with T_SNDZERO).  EAGAIN: flow control.  Other results are ignored:
	 * the transport reports the end of a connection by tpi_discon_ind() or
	 * tpi_fatal().
	 */
	int (*data)(struct tpi *tp, mblk_t *mp, int flags);
	/* T_EXDATA_REQ, with its block, then M_DATA; as data. */
	int (*exdata)(struct tpi *tp, mblk_t *mp, int flags);
	/*
	 * T_OPTDATA_REQ with options, with its block, which must not be
	 * changed unless 0 is returned, then M_DATA.  The form of the options
	 * has been checked; @opts points into the block. @flags: TPI_MORE:
	 * T_ODF_MORE; TPI_EXPEDITED: T_ODF_EX, the request comes before data
	 * that waits.  EAGAIN as for data; other results are fatal for the
	 * stream (M_ERROR, EPROTO).  A request without options comes to data or
	 * exdata.  NULL: options are checked and dropped.
	 */
	int (*optdata)(struct tpi *tp, const struct tpi_buf *opts, mblk_t *mp,
		int flags);
	/* T_ORDREL_REQ, after all data has been accepted; as data. */
	int (*ordrel)(struct tpi *tp, mblk_t *data);

	/*
	 * T_UNITDATA_REQ with its block, which may be changed in place, then
	 * M_DATA.  Options have been checked.  EAGAIN as for data; other
	 * results become a T_UDERROR_IND with the errno or, for -TBADADDR and
	 * -TBADOPT, the value in udbad.
	 */
	int (*unitdata)(struct tpi *tp, const struct tpi_buf *to,
		const struct tpi_buf *opts, mblk_t *mp);
	t_scalar_t udbad[3]; /* by TLI error: 0, TBADADDR, TBADOPT */

	/*
	 * The same on the direct path (<str/direct.h>), when the state is
	 * TS_IDLE, there are no options, and no earlier request waits.  Called
	 * without the gate, by any number of threads.  Finds the receiver,
	 * holds its stream and calls tpi_unitdata_direct(); leaves all other
	 * cases to op unitdata.  Return: STR_DIRECT_*.  May be NULL.
	 */
	int (*direct)(struct tpi *tp, const struct tpi_buf *to,
		const struct str_direct *d);

	/* Values that the transport keeps: TPI_OPT_OPS. @len is in/out. */
	int (*getopt)(struct tpi *tp, const struct tpi_opt *o, void *val,
		unsigned int *len);
	/* @val has been checked; called for every change, TPI_OPT_OPS or not */
	int (*setopt)(struct tpi *tp, const struct tpi_opt *o, const void *val,
		unsigned int len);

	/*
	 * An ioctl by I_STR with the command @cmd, and @arg, its data, in the
	 * memory of the request.  *@ret: a message with the answer's data, or
	 * unchanged.  Return: 0 or an errno, EINVAL for an unknown command.
	 * NULL: there are none.
	 */
	int (*ctl)(struct tpi *tp, int cmd, const struct tpi_buf *arg,
		mblk_t **ret);

	/*
	 * T_ADDR_REQ, if the addresses are not tp->local and tp->remote; or
	 * NULL.
	 */
	void (*addrs)(struct tpi *tp, struct tpi_addr *local,
		struct tpi_addr *remote);

	/*
	 * The service procedures. rsrv: there is room above, or an event;
	 * called without the gate, after the messages on the read queue have
	 * been sent. wsrv: called with the gate, before the messages on the
	 * write queue are tried again; and with @after 1 after they have been
	 * accepted.  Both may be NULL.
	 */
	void (*rsrv)(struct tpi *tp);
	void (*wsrv)(struct tpi *tp, int after);
};

/* --------------------------------------------------------- procedures' bodies */

/* @minor: chosen by the driver, for a clone open too. */
int tpi_open(queue_t *q, dev_t *devp, int sflag, cred_t *crp,
	unsigned int minor, const struct tpi_ops *ops);
int tpi_close(queue_t *q, const struct tpi_ops *ops);
int tpi_wput(queue_t *q, mblk_t *mp, const struct tpi_ops *ops);
int tpi_wsrv(queue_t *q, const struct tpi_ops *ops);
int tpi_rsrv(queue_t *q, const struct tpi_ops *ops);
/* The direct procedure of a transport with op direct. */
int tpi_direct(queue_t *q, const struct str_direct *d,
	const struct tpi_ops *ops);
/*
 * The only procedure whose address the driver hands out: list it in the calls
 * of STR_DRIVER.
 */
void tpi_tick(void *arg);

static inline struct tpi *
tpi_of(queue_t *q)
{
	return (struct tpi *)q->q_ptr;
}

/* Note that @mp of @tp is put next on a queue of another stream. */
void tpi_goes_kept(struct tpi *tp, mblk_t *mp);
static inline void
tpi_goes(struct tpi *tp, mblk_t *mp)
{
	if (__builtin_expect(tp->down.state != 0, 0))
		tpi_goes_kept(tp, mp);
}

/*
 * tpi_went - the message that op data has is accepted: it must not be sent
 * again if the thread is killed before op data returns
 */
void tpi_went(struct tpi *tp);

/*
 * tpi_optdata_read - read a T_OPTDATA_REQ that op close takes from the write
 * queue: its form has not been checked
 * @opts: its options, which stay in @mp; len 0: none
 * Return: 0; EINVAL: malformed.
 */
int tpi_optdata_read(const mblk_t *mp, struct T_optdata_req *od,
	struct tpi_buf *opts);

/* Make the service procedures run again in a tick. */
void tpi_retry(struct tpi *tp);

/* ------------------------------------------------------------------- upcalls */

/*
 * A caller requests a connection. @cookie identifies it and is stored in the
 * tpi_ind. @data may be NULL; consumed if 0 is returned.  If the endpoint has a
 * backlog, the call waits there for a place among the indications.
 * Return: 0, ECONNREFUSED: not listening, or too many wait; ENOSR.
 */
int tpi_conn_ind(struct tpi *tp, const struct tpi_buf *from, mblk_t *data,
	void *cookie);
/*
 * The caller has gone: T_DISCON_IND with the indication's sequence number.
 * @data may be NULL; consumed in any case.
 * Return: 0; ENOENT: there is no such indication.
 */
int tpi_conn_gone(struct tpi *tp, void *cookie, int reason, mblk_t *data);
/* The same if @tp is being closed: nothing is sent, and @cookie is not used. */
void tpi_conn_forget(struct tpi *tp, void *cookie);
/* For op connect: the request is correct.  Sends T_OK_ACK; TS_WCON_CREQ. */
void tpi_conn_ok(struct tpi *tp);
/*
 * The connection is established.  Return: 0; EINVAL: the state is not
 * TS_WCON_CREQ any more; ENOSR: the state is unchanged.
 */
int tpi_conn_con(struct tpi *tp, const struct tpi_buf *res, mblk_t *data);
/*
 * The connection is gone, or was refused.  @data may be NULL.
 * Return: 0, @data consumed; EINVAL: there is no connection, @data not
 * consumed.
 */
int tpi_discon_ind(struct tpi *tp, int reason, mblk_t *data);
/* The peer has sent all its data.  Return: 0, or EINVAL. */
int tpi_ordrel_ind(struct tpi *tp, mblk_t *data);

/*
 * Data for the user.  Return: 0: consumed.  EAGAIN: no room, or another message
 * must be sent first; op rsrv is called later.  EINVAL: not connected. @data is
 * not consumed with an error.
 */
int tpi_data_ind(struct tpi *tp, mblk_t *data, int more);
/* In band 1, with flow control of its own. */
int tpi_exdata_ind(struct tpi *tp, mblk_t *data, int more);
/* T_OPTDATA_IND with the options @opts; @flags: TPI_MORE, TPI_EXPEDITED, which
 * is as tpi_exdata_ind(). @data may be NULL. */
int tpi_optdata_ind(struct tpi *tp, const struct tpi_buf *opts, mblk_t *data,
	int flags);
int tpi_unitdata_ind(struct tpi *tp, const struct tpi_buf *src,
	const struct tpi_buf *opts, mblk_t *data);
/*
 * A datagram of @from's user, on the direct path; @src: its source, NULL:
 * @from's own address. @tp's stream is held.  Return: STR_DIRECT_*.
 */
int tpi_unitdata_direct(struct tpi *tp, struct tpi *from,
	const struct tpi_buf *src, const struct str_direct *d);
/* A datagram could not be sent. */
void tpi_uderror_ind(struct tpi *tp, const struct tpi_buf *dest,
	const struct tpi_buf *opts, t_scalar_t error);
/*
 * tpi_data_ind() for a connection that ends, whose sender cannot wait: accepts
 * the data in order, without flow control. @data: NULL: a unit without a data
 * part; it may begin with its T_DATA_IND or T_EXDATA_IND, if @more and
 * @expedited are 0, and needs no memory then.  Not consumed: EINVAL: not
 * connected; ENOSR.
 */
int tpi_data_force(struct tpi *tp, mblk_t *data, int more, int expedited);
/*
 * tpi_unitdata_force - lay @mp, a T_UNITDATA_IND, on the read queue, in order and
 * without flow control.  Return: 0; EINVAL: not bound, @mp is not consumed.
 */
int tpi_unitdata_force(struct tpi *tp, mblk_t *mp);
/*
 * tpi_hand_over - for op ctl: the unbound endpoint with the ACCEPTOR_id @id gets
 * a connection of @tp's transport with @from
 * @give: makes it, with the endpoint's gate; 0, an errno, or EAGAIN
 * Return: 0; or an errno, minus a TLI error.
 */
int tpi_hand_over(struct tpi *tp, t_uscalar_t id, const struct tpi_addr *from,
	int (*give)(struct tpi *to, void *arg), void *arg);
/* May one more caller wait, for the user or in the backlog? */
int tpi_can_call(struct tpi *tp);
/*
 * Would tpi_data_ind() accept data?  If not, op rsrv is called when it would.
 */
int tpi_canput(struct tpi *tp);
/* Discard the data that the user has not read and the data on its way up. */
void tpi_flush_up(struct tpi *tp);
/* The endpoint is unusable from now on: sends M_ERROR. */
void tpi_fatal(struct tpi *tp, int error);

/*
 * tpi_set_qlen - for op ctl: @qlen callers may wait from now on
 * tpi_set_local - for op ctl: the address that the endpoint is bound to
 * Return: 0; EINVAL: the endpoint is not bound, or has a connection.
 */
int tpi_set_qlen(struct tpi *tp, unsigned int qlen);
void tpi_set_local(struct tpi *tp, const struct tpi_addr *a);

/* The states as text, "TS_IDLE"; NULL: no such state. */
const char *tpi_state_name(unsigned int state);

#endif

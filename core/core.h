/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's own structures.
 *
 * Objects.  A *stream* (struct str_plumb) is a pipe, which has two heads, a
 * FIFO, whose one head is its own peer, or a device stream: one head, and a
 * driver's queue pair at the bottom.  A *Stream head* (struct str_head) is an
 * end that programs hold, through *open files* (struct str_file).  A *queue
 * pair* (struct str_qpair) is a head's, a pushed module's, a driver's, or
 * that of the lower side of a multiplexor.  docs/devices.md has more.  A head
 * keeps ordinary band-0 messages in its *head queue* (struct str_headq): a
 * log of records with separate producer and consumer ends, in segments; all
 * other messages (high priority, bands above 0) are on the head's read queue,
 * as on any queue.
 *
 * The main locks, outermost first; docs/locking.md has all of them.  The
 * producer locks of a pipe's two ends are taken in the order end 0, end 1.
 *
 *	ioctl	struct str_head: one I_STR at a time; kept across claims, so
 *		that its answer can be waited for
 *	plumber	struct str_plumb: push, pop, close; excludes claims
 *	runner	struct str_plumb: the thread that runs service procedures (also
 *		a claim: no thread waits for it)
 *	plock	struct str_headq: the producer's end
 *	clock	struct str_headq: the consumer's end
 *	q_klock	queue_t: its list of messages, its bands, q_count
 *	rlock	struct str_plumb: run list; leaf
 *
 * Tags on fields: the legend in docs/locking.md holds for all files.  Here
 * [P] and [C] are the locks of the same struct str_headq, [R] and [S] those
 * of the stream.
 *
 * "Locks:" in the comment of a function names the locks that the caller holds.
 * The comment says "takes" of a lock that the function itself takes.
 */
#ifndef STR_CORE_H
#define STR_CORE_H

#include <str/host.h>
#include <str/errno.h>
#include <sys/stream.h>
#include <str/ksock.h>
#include <str/kinds.h>
#include "sync/lock.h"

/* SVR4's defaults.  Pipes have larger marks: docs/memory.md. */
#define STR_HIGH 5120u
#define STR_LOW 1024u
#define STR_MSGSZ 262144u /* most bytes of a data part */
#define STR_CTLSZ 4096u	  /* most bytes of a control part */
#define STR_NPUSH 64u	  /* most modules in one stream, per side */
#define STR_PIPE_HIWAT 524288u
#define STR_PIPE_LOWAT 131072u
#define STR_PIPE_BUF 4096u
#define STR_IOCTIME 15000u /* ms: the usual limit of an I_STR */
#define STR_NMODULE 128u
#define STR_CLTIME 15000u /* ms: how long a close waits for its queues */

/* ---------------------------------------------------------------- memory */

struct str_mdb;
/* The header of every block of memory.  STR_BLK_*: <str/kinds.h>. */
struct str_blk {
	void *next; /* [O] next block of a free list */
	union {
		struct {
			uint32_t state; /* [A] STR_BLK_* */
			str_a32 owner;	/* [A] thread holding it privately,
					 * 0 = linked */
		};
		str_a64 stamp; /* [A] both words, for one access */
	};
};

#define STR_MEM_MAX 524288u /* largest block, header included */
void *str_mem_alloc(size_t size, uint32_t state);
void *str_mem_alloc_plumb(uint32_t state);
void *str_mem_zalloc(size_t size, uint32_t state);
void str_mem_reap(struct str_thread *t);
void str_mdb_reap(struct str_mdb *x);
struct str_lock *str_mdb_share(const struct str_thread *t);
struct str_lock *str_mdb_wants(const struct str_mdb *x);
void str_mdb_revive(struct str_thread *dead);
void str_mem_free(void *p);
void str_mem_free_from(void *p, uint32_t cpu);
size_t str_mem_size(const void *p);
bool str_mem_valid(const void *p);
void str_mem_disown(void *p);
void str_mem_own(void *p);

struct str_mem_stats {
	uint64_t blocks[16]; /* per STR_BLK_* */
	uint64_t bytes;	     /* their bytes */
	uint64_t committed;
};
void str_mem_walk(void (*fn)(struct str_blk *b, void *arg), void *arg);
bool str_mem_walk_some(void (*fn)(struct str_blk *b, void *arg), void *arg,
	uint64_t *at, uint64_t until);
void str_mem_stats(struct str_mem_stats *ret);

/*
 * A message block, its data block and a buffer in one piece.  In the smallest
 * class of blocks the buffer is buf; in larger classes a larger buffer begins
 * STR_MDB_HDR bytes from the beginning.
 */
#define STR_FASTBUF 128u
struct str_mdb {
	struct str_blk blk; /* 16 */
	mblk_t m;	    /* 64 */
	dblk_t d;	    /* 64 */
	str_a32 parts;	    /* [A] STR_MDB_M | STR_MDB_D while in use */
	uint32_t cls;	    /* [O] size class of the block */
	unsigned char buf[STR_FASTBUF]; /* buffer of a small message */
};
#define STR_MDB_HDR 192u
#define STR_MDB_M 1u
#define STR_MDB_D 2u

/* ------------------------------------------------------------- head queue */

/*
 * A segment of the log.  Records begin at multiples of 4: a header word
 * (length, kind, flags), then the content, depending on the kind; the next
 * record begins at the next multiple of 4.
 */
struct str_seg {
	struct str_blk blk;
	uint64_t base;	/* [I] log position of data[0] */
	uint32_t size;	/* [I] bytes of data[] */
	uint32_t pad;
	struct str_seg *volatile next; /* [P] published by pos */
	struct str_headq *hq; /* [I] the log that it is part of */
	uint8_t pad1[8];
	unsigned char data[];
};

#define STR_REC_LEN 0x000fffffu /* bytes of content */
#define STR_REC_KIND 0x00700000u
#define STR_REC_DATA 0x00000000u /* len bytes of M_DATA */
#define STR_REC_SKIP 0x00100000u /* unused bytes up to the segment's end */
#define STR_REC_REF 0x00200000u	 /* mblk_t *; if len is 0, its blocks have the
				  * length */
#define STR_REC_MSG 0x00300000u	 /* M_PROTO: a word with the number of control
				  * bytes, the control part, the data */
#define STR_REC_NODATA 0x01000000u /* MSG: the message has no data part */
#define STR_REC_MARK 0x02000000u
#define STR_REC_DELIM 0x04000000u
#define STR_REC_DEAD 0x08000000u /* not used */

/* want bits: how a sleeper is to be woken */
#define STR_WANT_FUTEX 1u
#define STR_WANT_TOKEN 2u
#define STR_WANT_FENCE 4u /* wakers execute a full fence before they look */
#define STR_WANT_BACK 8u  /* canput() has refused a module: back-enable it */
#define STR_WANT_FENCED 64u /* ... and all wakers have seen STR_WANT_FENCE */
#define STR_WANT_ROOM 128u /* a writer of another stream waits for room */
#define STR_WANT_WATCH 256u /* a slot of the head is armed: head/watch.c */
#define STR_WANT_QUIET (STR_WANT_FENCE | STR_WANT_FENCED) /* no sleeper's
							   * bits */
#define STR_WANT_BITS 0x1ffu /* the bits above these are a number:
			      * head/want.h */
#define STR_WANT_SHIFT 9

#define STR_FULL_MARK 1u /* the count has exceeded the high water mark */
#define STR_FULL_HELD 2u /* messages wait for memory: see `overflow' */

struct str_headq {
	/* the producer's first cache line */
	struct str_hlock plock;
	str_a64 pos;	      /* [P] published end of the log */
	str_a64 pbytes;	      /* [P] data bytes that were ever published */
	uint64_t plimit;      /* [P] up to this position a record needs no
			       * check: it has room at pbase, and does not fill
			       * the queue; 0: unknown, see headq.h:publish */
	uint64_t pblimit;     /* [P] the same limit for pbytes */
	uint64_t pbase;	      /* [P] address of log position 0, in tail */
	/* its second one */
	struct str_seg *tail; /* [P] segment pos is in */
	uint64_t ccpos;	      /* [P] cpos when it was last read */
	uint64_t ccbytes;     /* [P] cbytes likewise */
	str_a32 full;	      /* [A] STR_FULL_*: set under plock; any thread may
			       * clear STR_FULL_MARK, str_headq_is_full() */
	str_a32 pcpu;	      /* [A] CPU of the last producer */
	uint32_t credit;      /* [P] writes before the next check */
	uint32_t brisk;	      /* [P] 1: calls follow each other quickly */
	uint32_t unseen;      /* [P] counts messages; at every 64th the producer
			       * stores its CPU in pcpu */
	uint32_t going;	      /* [P] lower half of the address of the message
			       * that is being appended: headq_goes() */
	str_a64 ended;	      /* [P] pos after the last STR_PRIM_END */
	str_a64 ticket;	      /* [P] ticket of the writer that may write here
			       * from another stream: head/short.c; 0: none.
			       * Set to 0 without plock when the stream is
			       * freed */
	/* the consumer's first cache line */
	struct str_hlock clock STR_LINE;
	str_a64 cpos;	      /* [C] first unread record */
	str_a64 cbytes;	      /* [C] data bytes that were ever consumed */
	uint64_t climit;      /* [C] before this position there are only
			       * complete records, at cbase; 0: unknown, see
			       * headq.c:str_headq_look */
	uint64_t cbase;	      /* [C] address of log position 0, in head */
	/* its second one */
	struct str_seg *head; /* [C] segment cpos is in */
	uint64_t cpos_seen;   /* [C] pos when it was last read */
	str_a64 part;	      /* [C] what was taken of the first record: control
			       * bytes << 32 | data bytes */
	str_a32 ccpu;	      /* [A] CPU of the last consumer */
	uint32_t looked;      /* [C] host_ticks() of the last look at pos */
	uint32_t streak;      /* [C] consecutive looks that found records */
	/* rarely written */
	str_a32 rwant STR_LINE; /* [W] a reader sleeps: STR_WANT_* */
	str_a32 wwant;	      /* [W] a writer sleeps: STR_WANT_* */
	str_a32 rword;	      /* [W] word on which readers sleep */
	str_a32 wword;	      /* [W] word on which writers sleep */
	str_a32 wsleep;	      /* [W] number of writers asleep on wword; too
			       * large while killed ones are counted */
	uint32_t pad;	      /* the writer's checks, seen_cpos and the
			       * following, are in the next cache line */
	str_a32 npri;	      /* [A] messages on the read queue proper */
	uint32_t hiwat;	      /* [A] */
	uint32_t lowat;	      /* [A] */
	str_a32 overflow;     /* [P] messages wait on the head's write queue
			       * for memory to enter the log; stored here so
			       * that readers need not load the producer's
			       * cache lines */
	str_a32 doubt;	      /* [A] 1: a reader was killed, and cbytes may be
			       * ahead of cpos: str_headq_settle() */
	struct str_seg *volatile spare; /* [A] one empty segment */
	uint64_t loglimit;    /* [A] most bytes of the log: above them the queue
			       * is full, too */
	/* the check whether the reader lives: head/write.c:ask() */
	uint64_t seen_cpos;   /* [P] cpos at the last check */
	uint64_t seen_at;     /* [P] host_ticks() then */
	uint64_t seen_try;    /* [P] host_ticks() of the last attempt */
	uint64_t last;	      /* [P] position of the last record, which SNDHOLD
			       * may extend */
	/* segments become longer with use */
	uint32_t segsize;     /* [P] of the next segment */
	/*
	 * whether threads spin or yield before they sleep here: readers,
	 * writers
	 */
	str_a8 skip[2];	      /* [A] number of waits that omit this, after it
			       * was in vain the last time: patience.h */
	str_a8 rest[2];	      /* [A] how many of these waits are left */
	/* writers by turns: turn.c:str_headq_share */
	uint32_t over;	      /* [P] 1: the writer's turn is over */
	uint64_t turn;	      /* [P] pbytes at which the turn ends */
	str_a32 crowd;	      /* [A] twice the number of writers that have
			       * waited at once, with HEADQ_CROWD_SHIFT fraction
			       * bits: headq.h */
	str_a32 turn_of;      /* [A] tag of the writer of a crowd whose turn it
			       * is; 0: none; TURN_NEXT */
	str_a32 turns;	      /* [A] counts turns; writers sleep on it */
	str_a64 turn_rest;    /* [A] host_ticks() until which no writer
			       * yields */
} STR_LINE;
_Static_assert(__builtin_offsetof(struct str_headq, seen_cpos) % 64 == 0,
	"the writer stores to the fields from here on, the reader loads those "
	"before for each message");

/* ------------------------------------------------------------- the stream */

#define STR_PERIM_NONE 0u   /* D_MP: any number of threads */
#define STR_PERIM_PAIR 1u   /* one in a queue pair */
#define STR_PERIM_MODULE 2u /* one in all instances of the module */

/* One thread at a time: core/perim. */
struct str_perim {
	str_a32 inside;		 /* [A] tag of the thread inside */
	str_a32 waiters;	 /* [A] a thread sleeps on `inside' */
	uint32_t nest;		 /* [inside] nested entries of this thread */
	str_a32 refused;	 /* [A] counts refusals: each eighth checks
				  * whether the thread inside lives */
	struct str_lock block;	 /* the backlog */
	mblk_t *bl_first;	 /* [block] messages that could not enter, each
				  * with its queue in b_prev; stored
				  * atomically, as sv_first, for threads that
				  * read it without the lock */
	mblk_t *bl_last;	 /* [block] */
	struct str_qpair *sv_first; /* [block] deferred service, linked by
				     * sv_next */
};

/* The outer perimeter of a module's instances (D_MTOUTPERIM). */
struct str_outer {
	str_a32 owner;		 /* [A] tag of the thread with exclusive
				  * access */
	str_a32 waiters;	 /* [A] a thread waits for exclusive access */
	struct str_lock lock;	 /* of the following members */
	struct str_qpair *pairs; /* [lock] the instances, linked by sib */
	mblk_t *job_first;	 /* [lock] deferred qwriter(PERIM_OUTER) */
	mblk_t *job_last;	 /* [lock] */
};

struct str_qpair {
	struct str_blk blk;
	queue_t rq;
	queue_t wq;
	struct str_plumb *plumb; /* [I] the stream it is part of */
	struct str_fmod *fmod;	 /* [I] module of this instance; NULL: a
				  * head */
	uint32_t role;		 /* [I] STR_QP_* */
	uint32_t perim;		 /* [I] STR_PERIM_* */
	struct str_perim *pm;	 /* [I] its perimeter: pair, or fmod's, or NULL */
	struct str_perim pair;
	struct str_outer *outer; /* [I] NULL: none */
	struct str_qpair *sib;	 /* [outer lock] next instance */
	struct str_qpair *sv_next; /* [block] of pm */
	str_a32 srvwant;	 /* [A] queues whose service is deferred: 1 the
				  * read queue, 2 the write queue */
	str_a32 blwant;		 /* [A] queues whose senders canput() has
				  * refused because of messages at the
				  * perimeter: 1 read, 2 write */
	str_a64 blbytes[2];	 /* [block of pm] bytes of the messages that
				  * wait at the perimeter for the read and for
				  * the write queue */
	str_a64 late[2];	 /* [R] the same for messages on the late
				  * list */
	str_a32 qwaits;		 /* [A] threads in qwait() */
	str_a32 qword;		 /* [A] word on which they sleep */
	str_a32 evused;		 /* [A] 1: its procedures have requested
				  * callbacks */
	uint32_t excl;		 /* [inside] its open has exclusive access */
	str_a64 serial;		 /* [A] unique; 0: it is being freed */
	str_a32 opened;		 /* [A] 1: its open procedure has called
				  * qprocson */
	str_a32 closing;	 /* [A] tag of the thread in its close
				  * procedure; 1: that procedure must not be
				  * called */
	const unsigned long *volatile drops; /* [A] str_queue_drops(): its
				  * count of dropped messages, or NULL */
};

#define STR_QP_HEAD 0u
#define STR_QP_MODULE 1u
#define STR_QP_DRIVER 2u
#define STR_QP_LOWER 3u /* lower side of a multiplexor, in the lower stream */

/*
 * An open file: the result of one open(2), or one end of a pipe(2); dup, fork
 * and SCM_RIGHTS share it.  The first open file of a head is part of the head;
 * others are separate blocks.
 */
struct str_file {
	uint32_t pad;
	str_a32 fflags;		 /* [A] O_ACCMODE, O_NONBLOCK, O_ASYNC */
	union {
		struct {
			str_a32 gen;  /* [A] counts uses of this memory; follows
				       * fflags, see str_head_enter() */
			str_a32 open; /* [A] 1 while a process may hold it; 3:
				       * in change; 0: free */
		};
		str_a64 use;	 /* [A] both words, for the thread that closes
				  * the file: file.c */
	};
	struct str_head *head;	 /* [I] */
	struct host_carrier carrier; /* [I] its carrier */
	struct str_file *volatile next; /* [A] of the same head */
};
struct str_fileblk {
	struct str_blk blk;
	struct str_file f;
};

#define STR_H_RDERR 0x0001u /* M_ERROR for the read side */
#define STR_H_WRERR 0x0002u
#define STR_H_HUP 0x0004u   /* M_HANGUP, or the other end closed */
#define STR_H_PEER 0x0008u  /* ... the other end is closed for good */
#define STR_H_LOOK 0x0010u  /* look at the carrier */
#define STR_H_CLOSED 0x0020u /* no process holds this end */
#define STR_H_PLEX 0x0040u  /* linked below a multiplexor */
#define STR_H_MREAD 0x0080u /* SNDMREAD */
#define STR_H_HOLD 0x0100u  /* SNDHOLD */
#define STR_H_DELIM 0x0200u /* SNDDELIM */
#define STR_H_NDEL 0x0400u  /* SO_NDELON */
#define STR_H_MODS 0x0800u  /* modules are pushed between the heads */
#define STR_H_SOCK 0x1000u   /* the head has the events of a socket */
#define STR_H_WSHUT 0x2000u  /* SOCK: nothing more can be sent */
#define STR_H_DEV 0x4000u    /* the head of a device stream; its peer is a
			      * dummy */
#define STR_H_FIFO 0x8000u   /* the head of a FIFO, which is its own peer */
#define STR_H_NOWR 0x10000u  /* FIFO: no file is open for writing */
#define STR_H_NORD 0x20000u  /* FIFO: no file is open for reading */
#define STR_H_LOST 0x40000u  /* the peer's first carrier is closed, but the
			      * peer has other holders: ignore the hang-up of
			      * this end's carrier */
#define STR_H_TTY 0x100000u  /* SO_ISTTY: it is a terminal */
#define STR_H_TOSTOP 0x200000u
#define STR_H_MSIG 0x400000u	/* M_SIG messages wait in the head queue */
#define STR_H_EOF 0x800000u	/* a module has signalled the end of data */
#define STR_H_AWAY 0x1000000u /* the other end is read outside the domain: data
			      * written here is sent into the socket */
#define STR_H_NOROOM 0x2000000u /* ... and the socket is full */
#define STR_H_FED 0x4000000u /* bytes from outside arrive through the socket */
#define STR_H_MIXED 0x8000000u /* a process outside may write here as well */
#define STR_H_LEFT 0x10000000u /* the other end was passed to a process that
			      * may be outside */
#define STR_H_PLAIN 0x20000000u /* the pipe is PLAIN: head/plain.c */
#define STR_H_STUB 0x80000u  /* the dummy peer of a DEV or FIFO */

#define STR_NWATCHED 4u /* watchers of a head; others wait by tokens */

struct str_ioc {
	str_a32 state; /* 0 idle, 1 waiting, 2 answered; else the tag of
			* the thread that is answering */
	uint32_t id;
	mblk_t *volatile reply;
};

struct str_head {
	struct str_headq hq;	 /* the messages to be read */
	/* read-mostly */
	str_a32 flags STR_LINE;	 /* [A] STR_H_* */
	struct str_headq *volatile direct; /* [S] peer's head queue if no
				  * module is in between, else NULL */
	queue_t *volatile straight; /* [S] DEV: the driver's write queue, if
				  * messages of band 0 need not pass a module,
				  * else NULL */
	struct str_head *peer;	 /* [I] */
	struct str_plumb *plumb; /* [I] */
	struct str_qpair *qp;	 /* [I] its own queues */
	struct str_headq *volatile cut; /* [A] the target of a shortcut:
					 * short.c */
	str_a64 ticket;		 /* [A] ... valid if the tickets are equal */
	uint32_t rdopt;		 /* [A] I_SRDOPT */
	uint32_t wropt;		 /* [A] I_SWROPT */
	str_a32 rerror, werror;	 /* [A] errno of RDERR, WRERR */
	str_a32 npush;		 /* [busy] modules pushed at this end */
	uint32_t end;		 /* [I] 0 or 1 */
	str_a32 user[2];	 /* [A] str_head_user() */
	struct str_file file;	 /* its first open file */
	str_a32 nfile;		 /* [A] number of open files, the first
				  * included */
	str_a64 refs;		 /* [A] number of references (attached names,
				  * links, descriptors in flight), which keep
				  * the head without a file: str_head_refs() */
	str_a32 nread, nwrite;	 /* [A] FIFO: files open for reading, for
				  * writing */
	struct str_lock boxlock; /* the order of its box: core/sock/box.c */
	struct str_lock inlock;	 /* the order of bytes that come by the socket:
				  * core/head/outside.c */
	str_a64 ask_at;		 /* [A] earliest time of the next holder
				  * check */
	str_a32 looked;		 /* [A] 1 + STR_ROOT_DEATHS at the last look at
				  * the carrier: notice.c */
	str_a64 box;		 /* [A] its box for descriptors, or 0 */
	str_a32 npass;		 /* [boxlock] number of descriptors in the
				  * box */
	str_a32 anchor;		 /* [A] modules below I_ANCHOR's mark */
	uint32_t errpersist;	 /* [A] I_SERROPT: RERRNONPERSIST ... */
	struct str_sig *volatile sigs; /* [A] I_SETSIG, see head/sig.c */
	struct str_lock siglock;
	/* ioctl in progress */
	str_a32 iocbusy;	 /* [A] tag of the thread whose ioctl is sent
				  * down: strioctl.c */
	struct str_ioc ioc;
	str_a32 iocword;	 /* [A] threads sleep here for the reply, for
				  * their turn, or until the open of a name
				  * with connld is answered: plumb/name.c */
	str_a32 sockerr;	 /* [A] SOCK: errno that the program has not been
				  * told, or 0 */
	str_a32 wrband_back;	 /* [A] the band that was refused last, for
				  * S_WRBAND */
	uint32_t cltime;	 /* ms */
	uint32_t wroff, wrpad;
	str_a32 sid;		 /* [A] session whose terminal it is, or 0 */
	ssize_t minpsz, maxpsz;	 /* not used: SO_MINPSZ, SO_MAXPSZ set those of
				  * the read queue */
	str_a64 ctime;		 /* when it was made, host_now() */
	str_a64 watched[STR_NWATCHED]; /* [A] watchers that wait here: watch.c */
};

#define STR_PL_PIPE 0u
#define STR_PL_FIFO 1u /* head[1] is a dummy */
#define STR_PL_DEV 2u  /* head[1] is a dummy, whose writers' words serve */

struct str_plumb {
	struct str_blk blk;
	struct str_head head[2];
	uint32_t kind;		  /* [I] STR_PL_* */
	uint32_t nheads;	  /* [I] 2 for a pipe, else 1 */
	uint64_t sid;		  /* [I] its entry in the directory */
	dev_t dev;		  /* [I] major and minor, when it is a device */
	struct str_node *node;	  /* [S] entry by which opens find it, or
				   * NULL */
	struct str_qpair *driver; /* [I] DEV: the driver's, or NULL */
	struct str_link *volatile links; /* [S] streams linked below */
	struct str_link *volatile under; /* [S] the link by which it is linked
					  * below */
	struct str_lock busy;	  /* push, pop, link, close: one at a time,
				   * held while open procedures run */
	struct str_lock plumber;  /* q_next is being changed: no claims */
	str_a32 pword;		  /* claimants wake the plumber here */
	str_a32 runner;		  /* [A] tag of the thread running queues */
	struct str_lock rlock;
	queue_t *run_first;	  /* [R] */
	queue_t *run_last;	  /* [R] */
	str_a32 nrun;		  /* [A] number of queues on the run list, and 1
				   * while there is late work */
	str_a32 committed;	  /* [A] tag of the thread that has woken a
				   * runner for the list; 0: there is none */
	str_a64 committed_at;	  /* [A] host_ticks() at that time */
	str_a32 closed;		  /* [A] bit per end: it is closed */
	str_a32 freed;		  /* [A] 1: the stream is freed when the last
				   * call on it has ended */
	str_a64 runner_at;	  /* [A] host_ticks() when it began, or
				   * was last known to live */
	str_a32 late;		  /* [A] STR_LATE_*; set under rlock */
	str_a32 frozen;		  /* [A] tag of the thread in freezestr() */
	str_a32 chilled;	  /* [A] 1: a thread may wait until the stream
				   * is thawed (unfreezestr) */
	mblk_t *late_first;	  /* [R] messages that other streams sent while
				   * there was a plumber; each has its queue in
				   * b_prev */
	mblk_t *late_last;	  /* [R] */
	struct ksock_lend lend;	  /* core/sock/lend.c */
	str_a64 ksock;		  /* [A] socket whose events it receives, or 0:
				   * core/sock */
	str_a32 ksocked;	  /* [A] 1: it has or had a socket */
	str_a32 half;		  /* [A] 1: its end 1 waits for I_PIPE */
	str_a32 pushed;		  /* [A] 1: it has or had modules */
	str_a32 sole;		  /* [A] bit per end: it was closed by the only
				   * process that ever had it */
	str_a32 closer;		  /* [A] tag of the thread in the last close */
	str_a64 drain_end;	  /* [A] the stream has no holder, and is closed
				   * when its queues are empty, or at this time;
				   * 0: it has a holder */
	str_a64 reap_end;	  /* [A] until then its close waits for the
				   * reapers of killed threads; 0: there is
				   * none */
	str_a64 plain;		  /* [A] number of the kernel's pipe of a PLAIN
				   * pipe: head/plain.c; 0: it is none;
				   * STR_PLAIN_NOT: it never will be */
	str_a32 plain_kept;	  /* [A] bit per end: the queue of its carrier
				   * has a descriptor of its side of the
				   * kernel's pipe, which keeps that side
				   * open */
	struct str_qpair *volatile leaving; /* [A] a pair that is being removed
				   * from the stream; the reaper finds its
				   * queues here */
};

#define STR_LATE_MSG 1u	 /* messages wait, or are being delivered */
#define STR_LATE_BACK 2u /* a back-enable could not be done */
#define STR_LATE_DRAIN 4u /* perimeters have a backlog and no thread inside */
#define STR_LATE_FULL 8u  /* canput() refused, see str_sched_late_full() */

/*
 * A lower stream linked below a multiplexing driver.  Its queue pair is at the
 * top of the lower stream, instead of the head; q_next of its read queue is
 * NULL.
 */
struct str_link {
	struct str_blk blk;
	struct str_link *volatile next;	 /* [busy of upper] of pl->links, or
					  * of the driver's persistent ones */
	int id;				 /* [I] l_index, > 0 */
	uint32_t persist;		 /* [I] I_PLINK */
	struct str_plumb *volatile upper; /* [I] NULL when persistent */
	struct str_fmod *fmod;		 /* [I] the multiplexor */
	struct str_head *lower;		 /* [I] */
	struct str_qpair *qp;		 /* [I] */
	str_a32 state;			 /* [busy of both] STR_LINK_* */
	str_a32 carries;		 /* [A] 1: it has a reference to lower */
	struct str_plumb *volatile via;	 /* [busy of both] the upper stream of
					  * the call that changes it; then
					  * [I] */
};
#define STR_LINK_NEW 0u	 /* the driver has not accepted it yet */
#define STR_LINK_LIVE 1u
#define STR_LINK_GOING 2u /* I_UNLINK has been sent to the driver */
#define STR_LINK_GONE 3u  /* removed, but not acknowledged by the driver: the
			   * queue pair stays until its stream is closed */
void str_link_bury(struct str_plumb *up, struct host_call *hc);

/*
 * A *pass*: a descriptor that I_SENDFD has sent and I_RECVFD has not received
 * yet, the buffer of an M_PASSFP message (core/head/pass.c).  Such a message
 * never leaves the Stream head it was put at.
 */
struct str_pass {
	struct str_blk blk;
	struct str_head *head;	 /* [I] a Stream's, with a reference; or NULL */
	struct str_head *at;	 /* [I] the head that receives it */
	uint64_t box, id;	 /* [I] other: the box, and its number there */
	uint32_t fflags;	 /* [I] */
	uint32_t uid, gid;	 /* [I] */
	str_a32 taken;		 /* [A] 0: it waits; 1: taken, no reference to
				  * release; else the tag of the thread taking
				  * it */
};

/*
 * The entry by which opens of a device, or of a FIFO's path, find the stream.
 */
struct str_node {
	struct str_blk blk;
	struct str_node *volatile next;
	uint64_t key[2];	 /* [I] driver and minor, or of a FIFO's file */
	str_a32 used;		 /* [A] opens that wait for the lock or hold
				  * it */
	struct str_lock lock;	 /* one open or last close at a time */
	str_a32 left;		 /* [A] 1: a close was left to the owner of the
				  * lock */
	struct str_plumb *volatile pl; /* [lock] NULL: not open */
	str_a32 word;		 /* FIFO: opens wait here for the other side */
	uint32_t opens[2];	 /* [lock] FIFO: opens for reading, writing, ever */
};

/* ------------------------------------------------------------- registry */

struct str_builtin;
struct str_direct;
#define STR_F_MODULE 1u /* can be pushed */
#define STR_F_DRIVER 2u /* can be opened */
struct str_fmod {
	char name[FMNAMESZ + 4];
	uint32_t flag;		 /* D_* */
	str_a32 used;
	uint32_t slot;		 /* first code slot; of a foreign module: 1 +
				  * index of the entry whose perimeter it uses,
				  * 0: its own perimeter */
	uint32_t kind;		 /* STR_F_* */
	uint32_t major;		 /* of a driver */
	uint32_t foreign;	 /* loaded: number of its image */
	str_a32 count;		 /* [A] queue pairs that are instances */
	struct streamtab tab;	 /* addresses that hold in every member */
	struct qinit rinit, winit, mrinit, mwinit;
	struct module_info rinfo, winfo, mrinfo, mwinfo;
	struct module_stat rstat, wstat;
	char idname[4][16];
	/* [I] see <str/direct.h>; or NULL */
	int (*direct)(queue_t *q, const struct str_direct *d);
	str_a64 state;		 /* [A] str_drv_state() */
	struct str_link *volatile plinks; /* [plock] persistent links */
	struct str_lock plock;
	struct str_perim perim;	 /* STR_PERIM_MODULE */
	struct str_outer outer;
};

#define STR_NKSOCK 16u

/* The roots, host_domain->core[]. */
enum {
	STR_ROOT_FMOD,	  /* struct str_fmod[STR_NMODULE] */
	STR_ROOT_NFMOD,
	STR_ROOT_TIMERS,  /* table of timers: sched/timer.c */
	STR_ROOT_EVID,
	STR_ROOT_HEADINIT, /* struct qinit of heads */
	STR_ROOT_IOCID,
	STR_ROOT_NPIPES,
	STR_ROOT_UNBURIED, /* freed pipes that wait for a call to end */
	STR_ROOT_EPOCH,	  /* of the reaper's marks */
	STR_ROOT_TOKENS,  /* a counter, for the tools */
	STR_ROOT_MUXID,	  /* the last l_index that was given out */
	STR_ROOT_APUSH,	  /* autopush table */
	STR_ROOT_NAMES,	  /* struct str_name list: fattach */
	STR_ROOT_NAMELOCK,
	STR_ROOT_NNAMES,
	STR_ROOT_SID,	  /* last stream number */
	STR_ROOT_NDEVS,	  /* device and FIFO streams, which need streamsd */
	STR_ROOT_LOG,	  /* strlog(9) ring */
	STR_ROOT_APCONF,  /* 1: the autopush file has been applied */
	STR_ROOT_REFSEQ,  /* counts references that were made or given up */
	STR_ROOT_COLLECT, /* tag of the collector at work */
	STR_ROOT_COLLECTED, /* state of the heads in which a collector found
			     * nothing to do: tally.c */
	STR_ROOT_NKSOCK,  /* slots of sockets that were ever used */
	STR_ROOT_TICKET,  /* the last number given to a shortcut */
	STR_ROOT_REACH,   /* longest search in the directory: plumb/dir.c */
	STR_ROOT_LEFT,	  /* counts requests to other processes to send unread
			   * data outside: outside.c */
	STR_ROOT_ODD,	  /* counts streams that become other than common
			   * pipes: plumb/sweep.c */
	STR_ROOT_PLAIN,	  /* 1 + that count at a time when all streams were
			   * common pipes */
	STR_ROOT_DEATHS,  /* notices of deaths: head/notice.c */
	STR_ROOT_WATCH,	  /* watchers: head/watch.c */
	STR_ROOT_KSOCK = 48, /* STR_NKSOCK pieces of their table */
};

/* -------------------------------------------------------------- functions */

/* mem, msg */
int str_mem_init(struct str_domain *d);
mblk_t *str_msg_of_pass(struct str_pass *p, const frtn_t *frtn);
mblk_t *str_msg_from_user(const void *ubase, size_t len, unsigned type,
	int *ret_err);
void str_msg_own(mblk_t *mp);
void str_msg_disown(mblk_t *mp);
mblk_t *str_msg_unpin(mblk_t *mp);
mblk_t *str_msg_unpin_or_free(mblk_t *mp);

/* queue */
void str_queue_init(queue_t *q, struct qinit *qi, struct str_qpair *qp,
	unsigned long flag);
void str_queue_flush_all(queue_t *q);
mblk_t *str_queue_take(queue_t *q,
	bool (*wanted)(const mblk_t *mp, const void *arg), const void *arg);
int str_queue_repair(queue_t *q);
void str_queue_return(queue_t *q, mblk_t *mp);
queue_t *str_queue_nfsrv(queue_t *q);
qband_t *str_queue_band(queue_t *q, unsigned band, bool create);

/* perim */
void str_put(queue_t *q, mblk_t *mp);
void str_head_flush_read(struct str_head *sd, int band);
void str_head_rput(struct str_head *sd, queue_t *q, mblk_t *mp);
void str_perim_service(queue_t *q);
void str_perim_drain(struct str_qpair *qp);
void str_perim_return(queue_t *q, mblk_t *mp);
/*
 * str_perim_init - set the perimeter of @qp, an instance of qp->fmod, before
 * any other thread can reach @qp.
 * str_perim_fini - @qp is about to be freed: free what waits at its perimeter.
 */
void str_perim_init(struct str_qpair *qp);
void str_perim_fini(struct str_qpair *qp);
void str_perim_pass(struct str_qpair *qp);
/*
 * str_perim_enter_open - wait until this thread is alone in @qp's perimeter,
 * to call its open or close procedure.  No lock but busy and node is held, no
 * claim.  @hc: whose signals end the wait; NULL: none.  Return: 0, EINTR.
 */
int str_perim_enter_open(struct str_qpair *qp, struct host_call *hc);
void str_perim_leave(struct str_qpair *qp);
void str_perim_catch_up(struct str_qpair *qp);
bool str_perim_try(struct str_qpair *qp);
bool str_perim_try_idle(struct str_qpair *qp);
void str_perim_out(struct str_qpair *qp);
/*
 * str_perim_in_quick,
 * str_perim_out_quick - str_perim_try_idle() and str_perim_out() for a pair
 * with a perimeter of its own, inlined for fast paths
 */
void str_perim_left(struct str_qpair *qp) STR_COLD;
STR_INLINE bool
str_perim_in_quick(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (str_unlikely(pm != &qp->pair || qp->outer != NULL ||
		str_load(&pm->bl_first) != NULL || str_load(&pm->inside) != 0))
		return str_perim_try_idle(qp);
	if (str_unlikely(!str_cas(&pm->inside, 0u, host_tls.tag)))
		return false;
	if (str_likely(str_load(&pm->bl_first) == NULL))
		return true;
	str_perim_out(qp);
	return false;
}
STR_INLINE void
str_perim_out_quick(struct str_qpair *qp)
{
	struct str_perim *pm = qp->pm;

	if (str_unlikely(pm != &qp->pair || qp->outer != NULL ||
		str_load(&pm->bl_first) != NULL)) {
		str_perim_out(qp);
		return;
	}
	STR_CRASH_POINT("perim:leave");
	str_store_rel(&pm->inside, 0u);
	str_fence_full(); /* pairs with the fences of threads that append */
	if (str_unlikely(str_load(&pm->bl_first) != NULL ||
		str_load(&pm->sv_first) != NULL ||
		str_load(&pm->waiters) != 0))
		str_perim_left(qp);
}
bool str_perim_run(struct str_fmod *fm, void (*fn)(void *arg), void *arg);
void str_job_late(mblk_t *mp, bool outer);
bool str_perim_full(queue_t *q);
/* str_queue_most - the number of bytes that may wait in front of @q */
STR_INLINE size_t
str_queue_most(const queue_t *q)
{
	return q->q_hiwat != 0 ? q->q_hiwat : STR_HIGH;
}
/* str_perim_waits - do messages wait at @q's perimeter? */
STR_INLINE bool
str_perim_waits(queue_t *q)
{
	return q->q_pair->pm != NULL &&
		str_load(&q->q_pair->pm->bl_first) != NULL;
}
bool str_perim_holds(struct str_qpair *qp);
bool str_perim_idle(struct str_qpair *qp, unsigned ms,
	bool (*wait)(struct str_lock *l, unsigned ms));
void str_perim_backlog(struct str_qpair *qp,
	void (*fn)(mblk_t *mp, uintptr_t arg), uintptr_t arg);

/* sched */
void str_sched_enable(queue_t *q);
bool str_sched_run(struct str_plumb *pl);
void str_sched_leave(struct str_head *sd);
void str_sched_remove(queue_t *q);
void str_sched_repair(struct str_plumb *pl);
void str_sched_revive(struct str_plumb *pl, uint32_t dead);
/* A message that waits has its queue in b_prev, with these bits. */
#define STR_MP_NEXT 1u	/* for the queue after that one */
#define STR_MP_JOB 2u	/* for qwriter(D3): see core/perim/outer.c */
#define STR_MP_OUTER 4u /* with exclusive access to the outer perimeter */
#define STR_MP_BITS 7u
void str_sched_late(struct str_plumb *pl, queue_t *q, mblk_t *mp,
	unsigned bits);
void str_sched_late_return(struct str_plumb *pl, queue_t *q, mblk_t *mp,
	unsigned bits);
bool str_sched_reaped(uint32_t tag, struct str_plumb *pl);
void str_sched_late_flag(struct str_plumb *pl, uint32_t flag);
bool str_sched_late_full(queue_t *q, unsigned long own);
void str_sched_late_purge(queue_t *q);
void str_sched_touch(struct str_plumb *pl);
void str_sched_late_walk(struct str_plumb *pl, void (*fn)(mblk_t *mp,
	uintptr_t arg), uintptr_t arg);
void str_sched_touched(void);
void str_sched_lost(void);
bool str_sched_defer(struct str_plumb *pl);
bool str_timer_pending(void);
int str_timer_init(struct str_domain *d);
void str_timer_reap(uint32_t tag);
bool str_timer_kept(const struct str_blk *b);
void str_freeze(queue_t *q);
void str_thaw(queue_t *q);
void str_queue_frozen(queue_t *q);
bool str_queue_thawed(queue_t *q);
uint64_t str_timer_run(uint64_t now);
uint64_t str_timer_next(void);
void str_timer_cancel_pair(struct str_qpair *qp);

/* plumb */
void str_plumb_lock(struct str_plumb *pl);
bool str_plumb_lock_soon(struct str_plumb *pl, unsigned ms);
void str_plumb_unlock(struct str_plumb *pl);
int str_claim(struct str_plumb *pl);
void str_unclaim(struct str_plumb *pl);
/*
 * str_claim_try - claim @pl, inside another claim; never waits.
 * Return: false: a plumber is at work, or the thread has no free entry.
 * str_claim_stream - the same for an address that may no longer be a stream.
 */
bool str_claim_try(struct str_plumb *pl);
bool str_claim_stream(struct str_plumb *pl);
/*
 * str_claim_first,
 * str_unclaim_first - the same for a fast path, which has checked that this
 * thread has no claim, and that light fences are only compiler barriers
 * (asym).
 */
void str_unclaimed(struct str_plumb *pl) STR_COLD;
void str_plumber_wake(struct str_plumb *pl);
STR_INLINE bool
str_claim_first(struct str_plumb *pl)
{
	str_a64 *place = &host_tls.slot->claim[0];

	str_store(place, (uint64_t)(uintptr_t)pl);
	str_barrier();
	if (str_unlikely(str_load_acq(&pl->plumber.owner) != 0)) {
		str_store_rel(place, (uint64_t)0);
		return false; /* the full call wakes the reader, and waits */
	}
	host_tls.nclaim = 1;
	host_tls.at = pl;
	return true;
}
STR_INLINE void
str_unclaim_first(struct str_plumb *pl)
{
	str_store_rel(&host_tls.slot->claim[0], (uint64_t)0);
	host_tls.nclaim = 0;
	host_tls.at = NULL;
	str_barrier();
	if (str_unlikely((str_load(&pl->plumber.owner) |
		host_tls.ntouch) != 0))
		str_unclaimed(pl);
}
/* Queues of a stream other than the current one: see str_far_enter(). */
#define STR_FAR_NO 0
#define STR_FAR_HELD 1
#define STR_FAR_CLAIMED 2
int str_far_enter(struct str_plumb *pl, struct str_plumb **ret_was);
void str_far_leave(struct str_plumb *pl, int how, struct str_plumb *was);
void str_plumb_barrier(struct str_plumb *pl);
#define STR_CLAIM_LIVING 1u
#define STR_CLAIM_DEAD 2u /* of a thread that was killed, and is not reaped */
bool str_plumb_claimed(struct str_plumb *pl, uint32_t whose);
bool str_plumb_claimed_since(struct str_plumb *pl, uint32_t whose);
bool str_plumb_claimed_dead(struct str_plumb *pl);
bool str_plumb_holds(struct str_plumb *pl, queue_t *q, uint32_t whose);
/* ns, the longest wait for reapers, which may themselves wait for a stopped
 * process */
#define STR_REAPED_NS 1000000000ull
struct str_fmod *str_fmod_find(const char *name);
bool str_name_eq(const char *a, const char *b);
struct str_qpair *str_qpair_alloc(struct str_plumb *pl, struct str_fmod *fm);
void str_qpair_free(struct str_qpair *qp);
int str_plumb_push(struct str_head *sd, struct host_call *hc,
	const char *name);
int str_plumb_pop(struct str_head *sd, struct host_call *hc);
void str_plumb_update(struct str_plumb *pl);
void str_short_off(struct str_plumb *pl);
void str_plumb_repair(struct str_plumb *pl);
void str_plumb_recount(struct str_plumb *pl);
void str_plumb_clear(struct str_head *sd);
void str_plumb_clear_all(struct str_plumb *pl);

/* open files and streams: plumb/file.c, open.c, node.c, link.c */
int str_dir_enter(uint64_t cookie, struct str_file *f);
struct str_file *str_dir_find(uint64_t cookie);
/* May entry @h of the directory be accessed? */
STR_INLINE bool
str_dir_backed(uint32_t h)
{
	uint32_t group = h / STR_COOKIES;

	return (str_load_acq(&host_domain->backed[group / 64]) >> group % 64 &
		1) != 0;
}
bool str_dir_remove(uint64_t cookie);
uint64_t str_dir_sid(void);
bool str_stream_inside(struct str_plumb *pl);
void str_stream_uncount(struct str_plumb *pl, struct str_thread *t);
int str_file_add(struct str_head *sd, const struct host_carrier *c, int oflags,
	struct str_file **ret);
bool str_file_close(struct str_file *f, struct host_call *hc);
void str_file_forget(struct str_file *f);
void str_head_tally(struct str_head *sd);
bool str_head_held(struct str_head *sd);
unsigned str_head_sweep(struct str_head *sd, struct host_call *hc);
unsigned str_head_sweep_listed(struct str_head *sd, struct host_call *hc,
	struct host_listing *l);
struct str_plumb *str_stream_alloc(uint32_t kind, uint32_t hiwat,
	uint32_t lowat);
void str_stream_discard(struct str_plumb *pl);
bool str_stream_bury(struct str_plumb *pl);
unsigned str_stream_bury_all(void);
/* LATER: when the calls end that threads are still inside. */
enum str_freed { STR_FREED_NOT, STR_FREED, STR_FREED_LATER };
enum str_freed str_stream_free(struct str_plumb *pl, uint64_t sid,
	void (*clear)(struct str_plumb *pl));
bool str_stream_kept(struct str_plumb *pl);
void str_stream_reap(struct str_plumb *pl);
void str_sig_file_closed(struct str_head *sd);
void str_sig_free(struct str_head *sd);
void str_sig_sweep(void);
void str_sig_each(struct str_head *sd,
	void (*fn)(struct str_blk *b, uintptr_t arg), uintptr_t arg);
void str_ref_begin(void);
void str_ref_end(void);
void str_head_ref(struct str_head *sd);
void str_head_unref(struct str_head *sd, struct host_call *hc);
void str_head_unref_later(struct str_head *sd);
void str_head_maybe_close(struct str_head *sd, struct host_call *hc);
bool str_ref_hold(struct str_head *sd);
void str_ref_release(bool held);
bool str_head_has_file(struct str_head *sd);
bool str_head_orphan(struct str_head *sd);
void str_name_each(void (*fn)(struct str_head *sd, uint64_t sid, uint64_t dev,
	uint64_t ino, const char *path, void *arg), void *arg);
struct str_collect *str_collect_begin(void);
bool str_collect_some(struct str_collect *r, uint64_t until);
bool str_collect_end(struct str_collect *r, bool *ret_unsure);
bool str_region_room(void);
int str_open_error(struct str_head *sd, int oflags);
void str_stream_close(struct str_plumb *pl, struct host_call *hc);
struct str_qpair *str_qpair_alloc_lower(struct str_plumb *pl,
	struct str_fmod *fm);
int str_qopen(struct str_qpair *qp, struct host_call *hc, dev_t *dev,
	int sflag);
int str_qclose(struct str_qpair *qp, struct host_call *hc);
void str_procs_on(struct str_qpair *qp);
void str_cred(cred_t *ret);
struct str_fmod *str_fmod_get(struct host_call *hc, const char *name,
	uint32_t kind);
int str_foreign_load(struct host_call *hc, const char *name, uint32_t kind);
int str_foreign_open(struct str_qpair *qp, dev_t *dev, int flag, int sflag,
	const cred_t *cr);
void str_foreign_revive(uint32_t dead);
struct str_fmod *str_foreign_exclusive(const void *code);
bool str_foreign_wanted(void);
uint32_t str_perim_kind(uint32_t flag);
bool str_perim_suspend(struct str_qpair *qp, uint32_t *ret_nest);
void str_perim_resume(struct str_qpair *qp, uint32_t nest);
struct str_node *str_node_get(uint64_t k0, uint64_t k1);
struct str_node *str_node_find(uint64_t k0, uint64_t k1);
int str_node_lock(struct str_node *n, struct host_call *hc);
void str_node_unlock(struct str_node *n);
bool str_node_leave(struct str_node *n);
long str_ioctl_link(struct str_head *sd, struct host_call *hc, unsigned cmd,
	unsigned long arg);
long str_ioctl_pass(struct str_head *sd, struct host_call *hc, unsigned cmd,
	unsigned long arg);
void str_unlink_all(struct str_plumb *pl, struct host_call *hc);
int str_mux_cycle(struct str_plumb *upper, struct str_plumb *lower);
/* the Stream that a descriptor of this process names, or NULL */
struct str_head *str_head_of_fd(struct host_call *hc, int fd);
bool str_fd_is_open(int fd);
int str_fd_flags(int fd);
int str_pass_head(struct str_head *to, struct host_call *hc,
	struct str_head *sd, int fflags);
void str_pass_free(char *arg);
void str_mi_expire(void *arg);
void str_mi_enable(void *arg);
long str_ioctl_internal(struct str_head *sd, struct host_call *hc, int cmd,
	const void *data, size_t len, uint64_t ms, bool nointr,
	bool *ret_answered);
void *str_code_of(void (*fn)(void));
int str_busy_lock(struct str_plumb *pl, struct host_call *hc);
bool str_busy_grab(struct str_plumb *pl, bool *ret_died);
unsigned str_busy_mend(struct str_plumb *pl);
unsigned str_link_mend(struct str_plumb *pl);
unsigned str_link_sweep(struct str_plumb *pl);
void str_link_look(struct str_plumb *low);
bool str_link_none(struct str_plumb *up);
bool str_region_undone(void);
/* str_parked - clear the stamps of dead thread @tag on messages that modules
 * keep */
void str_parked(uint32_t tag);
bool str_node_listed(const struct str_node *n);
void str_ioctl_revive(struct str_head *sd, uint32_t dead);
void str_ioctl_tell(struct str_head *sd);
void str_ioctl_stale(struct str_head *sd, mblk_t *mp);
bool str_ioctl_is_part(const mblk_t *mp);
void str_ioctl_lost(mblk_t *mp, struct str_plumb *pl);
void str_link_each(struct str_plumb *up, void (*fn)(struct str_link *l,
	void *arg), void *arg);
void str_busy_unlock(struct str_plumb *pl);
int str_plumb_link(struct str_head *upper, struct str_head *lower,
	struct host_call *hc, bool persist, int *ret_id);
int str_plumb_unlink(struct str_head *upper, int id, struct host_call *hc,
	bool persist);
struct str_fmod *str_fmod_new(const char *name, uint32_t kind, uint32_t flag,
	uint32_t major, const struct streamtab *tab, const char *group);
struct str_perim *str_fmod_perim(struct str_fmod *fm);
struct str_fmod *str_fmod_known(const char *name, uint32_t kind);
struct str_fmod *str_fmod_by_major(uint32_t major);
int str_apush_apply(struct str_head *sd, struct host_call *hc);
bool str_stream_lives(struct str_plumb *pl);
bool str_stream_unburied(void);
void str_stream_walk(bool (*fn)(struct str_plumb *pl, void *arg), void *arg);
void str_stream_walk_some(bool (*fn)(struct str_plumb *pl, void *arg), void *arg,
	struct str_walk *w, uint64_t until);

/* pipe */
int str_pipe_create(const struct host_carrier c[2],
	struct str_plumb **ret_pipe);
/* str_pipe_bare - make a pipe without open files */
int str_pipe_bare(struct str_plumb **ret_pipe);
void str_pipe_let_go(struct str_head *sd);
int str_pipe_join(struct str_head *sd, struct host_call *hc, int fd);
struct str_file *str_file_of_fd(int fd);
bool str_file_move(struct str_file *f, struct str_head *to);

/* head queue */
void str_headq_init(struct str_headq *hq, uint32_t hiwat, uint32_t lowat);
void str_headq_fini(struct str_headq *hq);
struct str_src; /* head/source.h */
int str_headq_append(struct str_headq *hq, const struct str_src *src,
	size_t len, uint32_t flags);
int str_headq_coalesce(struct str_headq *hq, const struct str_src *src,
	size_t len, uint32_t flags);
int str_headq_append_msg(struct str_headq *hq, const void *uctl, size_t clen,
	const void *udata, ssize_t dlen, uint32_t flags);
int str_headq_append_mblk(struct str_headq *hq, mblk_t *mp);
void str_headq_deliver(struct str_headq *hq, mblk_t *mp);
void str_headq_hold(struct str_headq *hq, bool yes);
mblk_t *str_headq_take(struct str_headq *hq);
bool str_headq_is_full(struct str_headq *hq);
void str_headq_limits(struct str_headq *hq, uint32_t hiwat, uint32_t lowat);
uint64_t str_headq_count(struct str_headq *hq);
void str_headq_flush(struct str_headq *hq, bool data_only);
void str_headq_refs(struct str_headq *hq,
	void (*fn)(mblk_t *mp, uintptr_t arg), uintptr_t arg);
void str_headq_repair_p(struct str_headq *hq);
void str_headq_recount(struct str_headq *hq) STR_COLD;

/*
 * Called before a message is appended: recounts if the count is in doubt, and
 * appends the messages that wait for memory.  Locks: plock, not clock.
 */
STR_INLINE void
str_headq_settle(struct str_headq *hq)
{
	if (str_unlikely((str_load(&hq->doubt) | str_load(&hq->overflow)) != 0))
		str_headq_recount(hq);
}

void str_headq_repair_c(struct str_headq *hq);
unsigned str_headq_records(struct str_headq *hq, uint32_t bits);

/* The number of bytes in a block; 0 if b_rptr is beyond b_wptr. */
STR_INLINE size_t
str_blen(const mblk_t *bp)
{
	return str_likely(bp->b_wptr > bp->b_rptr) ?
		(size_t)(bp->b_wptr - bp->b_rptr) : 0;
}

/* A record as the reader sees it. */
struct str_rec {
	uint32_t hdr;
	uint32_t ctl;		/* control bytes left; ~0 no control part */
	uint32_t data;		/* data bytes left; ~0 no data part */
	const unsigned char *cptr, *dptr; /* inline; NULL when a mblk */
	mblk_t *mp;		/* REF */
	uint32_t span;		/* log bytes of the record */
};
bool str_headq_first(struct str_headq *hq, struct str_rec *rec);
void str_headq_advance(struct str_headq *hq, const struct str_rec *rec,
	uint32_t ctl_taken, uint32_t data_taken, unsigned done);
#define STR_TOOK_CTL 1u	 /* the control part has been consumed */
#define STR_TOOK_DATA 2u /* the data part has been consumed */
#define STR_TOOK_ALL 3u

/* wake and sleep: head/wake.c, head/sleep.c */
/* Add 1 to a count that only this thread writes. */
STR_INLINE void
str_count(str_a64 *n)
{
	str_store(n, str_load(n) + 1);
}

int str_wake_readers(struct str_head *sd);
void str_wake_now(void);
void str_wake_readers_from(struct str_head *sd, struct host_call *hc);
void str_ring_sleepers(struct str_head *sd, bool pollers);
void str_want_token(str_a32 *want);
void str_watch_fire(struct str_head *sd, str_a32 *want);
void str_wake_writers(struct str_head *sd);
int str_wake_writers_behind(struct str_head *sd);
void str_wake_all(struct str_head *sd);
bool str_head_gone(struct str_head *sd, uint64_t sid, uint32_t seq);
int str_signalled(struct host_call *hc);

/* processes outside the domain: head/outside.c */
#define STR_PLAIN_NOT (~0ull)
int str_plain_adopt(struct str_head *sd, struct host_call *hc);
bool str_plain_reads(struct str_head *sd, struct host_call *hc);
bool str_plain_moved(struct str_head *sd, struct host_call *hc);
void str_plain_take(struct str_head *sd, int fd);
void str_plain_ended(struct str_head *sd);
void str_plain_flush(struct str_plumb *pl);
/* str_pipe_abandoned - does no member hold either end of the PLAIN pipe @pl? */
STR_INLINE bool
str_pipe_abandoned(struct str_plumb *pl)
{
	return !host_carrier_alive(&pl->head[0].file.carrier) &&
		!host_carrier_alive(&pl->head[1].file.carrier);
}
int str_outside_pump(struct str_head *sd, struct host_call *hc);
void str_outside_left(struct str_head *sd);
void str_outside_put_from_peer(struct str_head *sd, mblk_t *mp);
#define STR_INSIDE (-1001L) /* result of str_outside_write(): write in the
			     * domain */
bool str_outside_take(struct str_head *sd, int fd);
void str_outside_home(struct str_head *sd, struct host_call *hc);
bool str_outside_only(struct str_head *sd);
void str_outside_ask(struct str_head *sd, struct host_call *hc);
int str_outside_flush(struct str_head *sd, struct host_call *hc, bool block);
/*
 * str_outside_sent - this call has put messages to the queue below @sd, and
 * holds no claim any more
 * Modules may have passed data to the other end, where a process outside reads:
 * send it.  @block: wait until all of it is sent.
 */
STR_INLINE void
str_outside_sent(struct str_head *sd, struct host_call *hc, bool block)
{
	if (str_unlikely((str_load(&sd->flags) & STR_H_AWAY) != 0))
		(void)str_outside_flush(sd, hc, block);
}
long str_outside_write(struct str_head *sd, struct host_call *hc,
	const void *ubuf, size_t n, bool block);
int str_sleep_room(struct str_head *sd, struct host_call *hc);
int str_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline);
#define STR_SLEEP_READ 1u
#define STR_SLEEP_WRITE 2u
#define STR_SLEEP_WAY 3u
/* events other than a message, or room, of band 0: */
#define STR_SLEEP_RARE 4u
#define STR_SLEEP_HIPRI 8u   /* READ: a high-priority message */
#define STR_SLEEP_NORMAL 16u /* READ: any message without high priority */
#define STR_SLEEP_BAND(b) (STR_SLEEP_RARE | (unsigned)(b) << 8)
#define STR_SLEEP_BAND_OF(why) ((why) >> 8)
int str_head_look(struct str_head *sd, struct host_call *hc);
void str_head_set(struct str_head *sd, uint32_t flags);
void str_head_putback(struct str_head *sd, mblk_t *mp);
bool str_head_down(struct str_head *sd, mblk_t *mp);
void str_wake_writers_from(struct str_head *sd, struct host_call *hc);
bool str_head_readable(struct str_head *sd);
bool str_head_writable(struct str_head *sd);
bool str_head_band_writable(struct str_head *sd, int band);

/* Does the call that is running hold a descriptor of @sd's other end? */
STR_INLINE struct host_call *
str_call_toward(struct str_head *sd)
{
	struct host_call *hc = host_tls.call;

	return hc != NULL && hc->head == sd->peer && hc->fd >= 0 ? hc : NULL;
}

/* The Stream head's calls, as libstreams makes them: see head/head.h. */
#include "head/head.h"

enum str_closed str_pipe_close_end(struct str_head *sd);

_Static_assert(offsetof(struct str_file, gen) ==
	offsetof(struct str_file, fflags) + 4, "str_head_enter() looks there");

STR_INLINE str_a64 *
str_root(unsigned r)
{
	return &host_domain->core[r];
}

/* str_stream_odd - count that a stream is now other than a common pipe, as
 * plumb/sweep.c defines it */
STR_INLINE void
str_stream_odd(void)
{
	(void)str_add(str_root(STR_ROOT_ODD), (uint64_t)1);
}

/* The value of root @r in the file @df of a domain; 0 if it cannot be read. */
STR_INLINE uint64_t
str_recorded_root(const struct host_file *df, unsigned r)
{
	uint64_t v;

	return df->read(df, offsetof(struct str_domain, core) + r * sizeof(v),
		&v, sizeof(v)) ? v : 0;
}

/* References: the number in the low half, changes counted in the high one. */
#define STR_REF_CHANGE (1ull << 32)
STR_INLINE uint32_t
str_head_refs(struct str_head *sd)
{
	return (uint32_t)str_load(&sd->refs);
}

STR_INLINE struct str_mdb *
str_mdb_of_m(mblk_t *m)
{
	return str_container(m, struct str_mdb, m);
}

STR_INLINE struct str_mdb *
str_mdb_of_d(dblk_t *d)
{
	return str_container(d, struct str_mdb, d);
}

/* q_flag is written under several locks: always atomically. */
STR_INLINE void
str_qset(queue_t *q, unsigned long f)
{
	if ((str_load(&q->q_flag) & f) != f)
		(void)__atomic_fetch_or(&q->q_flag, f, __ATOMIC_ACQ_REL);
}

STR_INLINE void
str_qclr(queue_t *q, unsigned long f)
{
	if ((str_load(&q->q_flag) & f) != 0)
		(void)__atomic_fetch_and(&q->q_flag, ~f, __ATOMIC_ACQ_REL);
}

STR_INLINE queue_t *
str_otherq(queue_t *q)
{
	return (str_load(&q->q_flag) & QREADR) ? q + 1 : q - 1;
}

#endif

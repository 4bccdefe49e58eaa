/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The executive's own structures.
 *
 * Objects.  A *pipe* (struct str_plumb with two heads) is what pipe(2) makes.
 * A *Stream head* (struct str_head) is one end of it.  A *queue pair*
 * (struct str_qpair) is a head's or a pushed module's two queues.  A head
 * keeps ordinary band-0 messages in its *head queue* (struct str_headq): a
 * log of records with separate producer and consumer ends, in segments; all
 * other messages (high priority, bands above 0) stand on the head's read
 * queue as on any queue.
 *
 * Locks, outermost first; two of one rank are never held together except
 * the producer locks of a pipe's two ends, in the order end 0, end 1.
 *
 *	ioctl	struct str_head: one I_STR at a time; kept across claims, so
 *		that its answer can be waited for
 *	plumber	struct str_plumb: push, pop, close; excludes claims
 *	runner	struct str_plumb: who runs service procedures (a claim:
 *		others never wait for it)
 *	plock	struct str_headq: the producer's end
 *	clock	struct str_headq: the consumer's end
 *	q_klock	queue_t: its list of messages, its bands, q_count
 *	rlock	struct str_plumb: run list; leaf
 *
 * Tags on fields: [I] constant after creation; [A] atomic; [P] plock;
 * [C] clock; [Q] q_klock; [S] changed by the plumber only, read under plock,
 * clock or a claim; [R] rlock; [W] written by whoever sleeps or wakes.
 */
#ifndef STR_CORE_H
#define STR_CORE_H

#include <str/host.h>
#include <str/errno.h>
#include <sys/stream.h>
#include "sync/lock.h"

/* Defaults (reference 3.1); pipes are given more room, see docs/memory.md. */
#define STR_HIGH 5120u
#define STR_LOW 1024u
#define STR_MSGSZ 262144u /* greatest data part */
#define STR_CTLSZ 4096u	  /* greatest control part */
#define STR_NPUSH 64u	  /* modules in one stream, per side */
#define STR_PIPE_HIWAT 524288u
#define STR_PIPE_LOWAT 131072u
#define STR_PIPE_BUF 4096u
#define STR_IOCTIME 15000u /* ms */
#define STR_NMODULE 64u

/* ---------------------------------------------------------------- memory */

/* What stands at the top of every block that is not a message block. */
#define STR_BLK_FREE 0u
#define STR_BLK_KMEM 1u
#define STR_BLK_SEG 2u
#define STR_BLK_QPAIR 3u
#define STR_BLK_PIPE 4u
#define STR_BLK_BUF 5u
#define STR_BLK_MDB 6u
#define STR_BLK_EVENT 7u
#define STR_BLK_STRAPP 8u
#define STR_BLK_LOG 13u

struct str_mdb;
struct str_blk {
	void *next;	/* [O] free list */
	uint32_t state; /* STR_BLK_* */
	str_a32 owner;	/* [A] thread holding it privately, 0 = linked */
};

#define STR_MEM_MAX 524288u /* greatest block, header included */
void *str_mem_alloc(size_t size, uint32_t state);
void str_mem_reap(struct str_thread *t);
void str_mdb_reap(struct str_mdb *x);
void str_mem_free(void *p);
size_t str_mem_size(const void *p);
bool str_mem_valid(const void *p);
void str_mem_disown(void *p);
void str_mem_own(void *p);

struct str_mem_stats {
	uint64_t blocks[16]; /* by STR_BLK_* */
	uint64_t bytes;	     /* in these */
	uint64_t committed;
};
void str_mem_walk(void (*fn)(struct str_blk *b, void *arg), void *arg);
void str_mem_stats(struct str_mem_stats *ret);

/* A message block, its data block and a small buffer in one piece. */
#define STR_FASTBUF 128u
struct str_mdb {
	struct str_blk blk; /* 16 */
	mblk_t m;	    /* 64 */
	dblk_t d;	    /* 64 */
	str_a32 parts;	    /* [A] STR_MDB_M | STR_MDB_D while in use */
	uint32_t pad;
	unsigned char buf[STR_FASTBUF]; /* where a small message lives */
};
#define STR_MDB_M 1u
#define STR_MDB_D 2u

/* ------------------------------------------------------------- head queue */

/*
 * A segment of the log.  Records stand at multiples of 4: a header word
 * (length, kind, flags), then what the kind says; the next record begins at
 * the next multiple of 4.
 */
struct str_seg {
	struct str_blk blk;
	uint64_t base;	/* [I] log position of data[0] */
	uint32_t size;	/* [I] bytes of data[] */
	uint32_t pad;
	struct str_seg *volatile next; /* [P] published by pos */
	struct str_headq *hq; /* [I] whose log it is part of */
	uint8_t pad1[8];
	unsigned char data[];
};

#define STR_REC_LEN 0x000fffffu /* bytes of content */
#define STR_REC_KIND 0x00700000u
#define STR_REC_DATA 0x00000000u /* len bytes of M_DATA */
#define STR_REC_SKIP 0x00100000u /* nothing up to the segment's end */
#define STR_REC_REF 0x00200000u	 /* 4 bytes fill, mblk_t * ; len = bytes */
#define STR_REC_MSG 0x00300000u	 /* u32 ctl bytes, ctl, data; M_PROTO */
#define STR_REC_NODATA 0x01000000u /* MSG: no data part at all */
#define STR_REC_MARK 0x02000000u
#define STR_REC_DELIM 0x04000000u
#define STR_REC_DEAD 0x08000000u /* flushed: takes no part */

/* want bits: how a sleeper is to be woken */
#define STR_WANT_FUTEX 1u
#define STR_WANT_TOKEN 2u
#define STR_WANT_BACK 8u  /* a module was refused: back-enable it */
#define STR_WANT_BITS 0xffu /* above: which arming, see head/sleep.c */

struct str_headq {
	/* the producer's line */
	struct str_hlock plock;
	str_a64 pos;	      /* [P] published end of the log */
	str_a64 pbytes;	      /* [P] data bytes ever published */
	uint64_t plimit;      /* [P] a record that ends here or before has room
			       * at pbase, and does not fill the queue; 0: not
			       * known, see headq.h:publish */
	uint64_t pblimit;     /* [P] the same for pbytes */
	uint64_t pbase;	      /* [P] address of log position 0, in tail */
	/* his second one */
	struct str_seg *tail; /* [P] segment pos is in */
	uint64_t ccpos;	      /* [P] cpos when last looked at */
	uint64_t ccbytes;     /* [P] cbytes likewise */
	str_a32 full;	      /* [P] QFULL: set above hiwat, see flow */
	str_a32 pcpu;	      /* [A] CPU of the last producer */
	uint32_t credit;      /* [P] writes before the next question */
	uint32_t brisk;	      /* [P] calls come quickly */
	uint32_t unseen;      /* [P] messages from modules */
	/* the consumer's line */
	struct str_hlock clock STR_LINE;
	str_a64 cpos;	      /* [C] first unread record */
	str_a64 cbytes;	      /* [C] data bytes ever consumed */
	uint64_t climit;      /* [C] whole records stand before here, at cbase;
			       * 0: not known, see headq.c:str_headq_look */
	uint64_t cbase;	      /* [C] address of log position 0, in head */
	/* his second one */
	struct str_seg *head; /* [C] segment cpos is in */
	uint64_t cpos_seen;   /* [C] pos when last looked at */
	str_a64 part;	      /* [C] taken of the first record: control
			       * bytes << 32 | data bytes */
	str_a32 ccpu;	      /* [A] CPU of the last consumer */
	uint32_t pad0;
	/* rarely written */
	str_a32 rwant STR_LINE; /* [W] a reader sleeps: STR_WANT_* */
	str_a32 wwant;	      /* [W] a writer sleeps: STR_WANT_* */
	str_a32 rword;	      /* [W] what readers sleep on */
	str_a32 wword;	      /* [W] what writers sleep on */
	str_a32 rsleep;	      /* [W] readers in stage 1; more, if some died */
	str_a32 wsleep;	      /* [W] writers likewise */
	str_a32 npri;	      /* [A] messages on the read queue proper */
	uint32_t hiwat;	      /* [A] */
	uint32_t lowat;	      /* [A] */
	str_a32 overflow;     /* [A] messages wait on the head's write queue
			       * for memory to enter the log */
	struct str_seg *volatile spare; /* [A] one empty segment */
	uint64_t loglimit;    /* [A] bytes of log that are full too */
	/* is anybody there? see str_head_write() */
	uint64_t seen_cpos;   /* [P] cpos when last asked */
	uint64_t seen_at;     /* [P] host_ticks() then */
	uint64_t seen_try;    /* [P] host_ticks() of the last question */
	uint64_t last;	      /* [P] position of the last record, for SNDHOLD */
	/* segments grow with use */
	uint32_t segsize;     /* [P] of the next segment */
	uint32_t pad2;
} STR_LINE;

/* ------------------------------------------------------------- the stream */

#define STR_PERIM_PAIR 1u
#define STR_PERIM_NONE 0u

struct str_qpair {
	struct str_blk blk;
	queue_t rq;
	queue_t wq;
	struct str_plumb *plumb; /* [I] */
	struct str_fmod *fmod;	 /* [I] what it is an instance of; NULL head */
	uint32_t perim;		 /* [I] STR_PERIM_* */
	str_a32 inside;		 /* [A] tag of the thread inside, perimeter */
	struct str_lock block;	 /* backlog of the perimeter */
	mblk_t *bl_first;	 /* [block] */
	mblk_t *bl_last;
	str_a32 srvwant;	 /* [A] 1 read, 2 write: service put off */
	str_a32 opened;		 /* [A] qprocson was called */
};

#define STR_H_RDERR 0x0001u /* M_ERROR for the read side */
#define STR_H_WRERR 0x0002u
#define STR_H_HUP 0x0004u   /* M_HANGUP, or the other end closed */
#define STR_H_PEER 0x0008u  /* ... the other end is closed for good */
#define STR_H_LOOK 0x0010u  /* look at the carrier */
#define STR_H_CLOSED 0x0020u /* nobody holds this end */
#define STR_H_PLEX 0x0040u  /* linked below a multiplexor */
#define STR_H_MREAD 0x0080u /* SNDMREAD */
#define STR_H_HOLD 0x0100u  /* SNDHOLD */
#define STR_H_DELIM 0x0200u /* SNDDELIM */
#define STR_H_NDEL 0x0400u  /* SO_NDELON */
#define STR_H_MODS 0x0800u  /* modules stand between the heads */

struct str_ioc {
	str_a32 state; /* 0 idle, 1 waiting, 2 answered; else the tag of
			* the thread that is answering */
	uint32_t id;
	mblk_t *volatile reply;
};

struct str_head {
	struct str_headq hq;	 /* what is to be read here */
	/* read-mostly */
	str_a32 flags STR_LINE;	 /* [A] STR_H_* */
	struct str_headq *volatile direct; /* [S] peer's head queue when no
				  * module stands in the way, else NULL */
	struct str_head *peer;	 /* [I] */
	struct str_plumb *plumb; /* [I] */
	struct str_qpair *qp;	 /* [I] its own queues */
	str_a32 rerror, werror;	 /* [A] errno of RDERR, WRERR */
	uint32_t rdopt;		 /* [A] I_SRDOPT */
	uint32_t wropt;		 /* [A] I_SWROPT */
	str_a32 npush;		 /* [S] modules pushed at this end */
	uint32_t end;		 /* [I] 0 or 1 */
	struct host_carrier carrier; /* [I] */
	/* ioctl in progress */
	str_a32 iocbusy;	 /* [A] tag of the thread in I_STR */
	struct str_ioc ioc;
	str_a32 iocword;	 /* sleep for the reply */
	uint32_t iocid;
	str_a32 wrband_back;	 /* bands freed, for S_WRBAND */
	uint32_t cltime;	 /* ms */
	uint32_t wroff;
	ssize_t minpsz, maxpsz;	 /* set by SO_MINPSZ, SO_MAXPSZ */
	str_a32 fflags;		 /* [A] O_NONBLOCK, shared by all holders */
	str_a32 gen;		 /* [A] counts uses of this memory; follows
				  * fflags, see str_head_enter() */
	str_a64 ctime;		 /* created, host_now() */
};

struct str_plumb {
	struct str_blk blk;
	struct str_head head[2];
	struct str_lock plumber;  /* push, pop, close in progress */
	str_a32 pword;		  /* claimants wake the plumber here */
	str_a32 runner;		  /* [A] tag of the thread running queues */
	struct str_lock rlock;
	queue_t *run_first;	  /* [R] */
	queue_t *run_last;	  /* [R] */
	str_a32 nrun;		  /* [A] queues on the run list */
	str_a32 committed;	  /* [A] tag of a woken runner on its way */
	str_a64 committed_at;	  /* [A] host_ticks() */
	str_a32 closed;		  /* [A] bit per end */
	str_a32 freed;		  /* [A] 1: waits for the last call to end */
	str_a64 runner_at;	  /* [A] host_ticks() when it began */
};

/* ------------------------------------------------------------- registry */

struct str_builtin;
struct str_fmod {
	char name[FMNAMESZ + 4];
	uint32_t flag;		 /* D_* */
	str_a32 used;
	uint32_t slot;		 /* first code slot */
	struct streamtab tab;
	struct qinit rinit, winit;
	struct module_info rinfo, winfo;
	char idname[2][16];
};

/* The roots, host_domain->core[]. */
enum {
	STR_ROOT_FMOD,	  /* struct str_fmod[STR_NMODULE] */
	STR_ROOT_NFMOD,
	STR_ROOT_EVENTS,  /* struct str_event list: timeouts */
	STR_ROOT_BUFCALLS,
	STR_ROOT_EVLOCK,  /* struct str_lock, in the word itself */
	STR_ROOT_EVID,
	STR_ROOT_HEADINIT, /* struct qinit of heads */
	STR_ROOT_IOCID,
	STR_ROOT_NPIPES,
	STR_ROOT_UNBURIED, /* freed pipes that wait for a call to end */
	STR_ROOT_EPOCH,	  /* of the reaper's marks */
	STR_ROOT_WAKES,	  /* counters, for the tools */
	STR_ROOT_TOKENS,
	STR_ROOT_SLEEPS,
	STR_ROOT_LOG,	  /* strlog(9) ring */
};

/* -------------------------------------------------------------- functions */

/* mem, msg */
int str_mem_init(struct str_domain *d);
mblk_t *str_msg_from_user(const void *ubase, size_t len, unsigned type,
	int *ret_err);
void str_msg_own(mblk_t *mp);
void str_msg_disown(mblk_t *mp);
mblk_t *str_msg_unpin(mblk_t *mp);

/* queue */
void str_queue_init(queue_t *q, struct qinit *qi, struct str_qpair *qp,
	unsigned long flag);
void str_queue_flush_all(queue_t *q);
mblk_t *str_queue_peek(queue_t *q);
int str_queue_repair(queue_t *q);
queue_t *str_queue_nfsrv(queue_t *q);
qband_t *str_queue_band(queue_t *q, unsigned band, bool create);

/* perim */
void str_put(queue_t *q, mblk_t *mp);
void str_head_flush_read(struct str_head *sd, int band);
void str_head_rput(struct str_head *sd, queue_t *q, mblk_t *mp);
void str_perim_service(queue_t *q);
void str_perim_drain(struct str_qpair *qp);
void str_perim_backlog(struct str_qpair *qp,
	void (*fn)(mblk_t *mp, uintptr_t arg), uintptr_t arg);

/* sched */
void str_sched_enable(queue_t *q);
bool str_sched_run(struct str_plumb *pl);
void str_sched_leave(struct str_head *sd);
void str_sched_remove(queue_t *q);
void str_sched_repair(struct str_plumb *pl);
void str_sched_revive(struct str_plumb *pl, uint32_t dead);
uint64_t str_timer_run(uint64_t now);
void str_timer_cancel_pair(struct str_qpair *qp);

/* plumb */
int str_plumb_lock(struct str_plumb *pl, struct host_call *hc);
void str_plumb_unlock(struct str_plumb *pl);
int str_claim(struct str_plumb *pl);
void str_unclaim(struct str_plumb *pl);
struct str_fmod *str_fmod_find(const char *name);
bool str_name_eq(const char *a, const char *b);
struct str_qpair *str_qpair_alloc(struct str_plumb *pl, struct str_fmod *fm);
void str_qpair_free(struct str_qpair *qp);
int str_plumb_push(struct str_head *sd, struct host_call *hc,
	const char *name);
int str_plumb_pop(struct str_head *sd, struct host_call *hc);
void str_plumb_update(struct str_plumb *pl);
void str_plumb_repair(struct str_plumb *pl);
void str_plumb_clear(struct str_head *sd);

/* pipe */
int str_pipe_create(const struct host_carrier c[2],
	struct str_plumb **ret_pipe);
void str_pipe_close_end(struct str_head *sd);
void str_pipe_bury(struct str_plumb *pl);
bool str_pipe_lives(struct str_plumb *pl);
struct str_head *str_head_lookup(const struct host_carrier *c);

/* head queue */
void str_headq_init(struct str_headq *hq, uint32_t hiwat, uint32_t lowat);
void str_headq_fini(struct str_headq *hq);
int str_headq_append(struct str_headq *hq, const void *ubase, size_t len,
	uint32_t flags);
int str_headq_coalesce(struct str_headq *hq, const void *ubase, size_t len,
	uint32_t flags);
int str_headq_append_msg(struct str_headq *hq, const void *uctl, size_t clen,
	const void *udata, ssize_t dlen, uint32_t flags);
int str_headq_append_mblk(struct str_headq *hq, mblk_t *mp);
void str_headq_deliver(struct str_headq *hq, mblk_t *mp);
bool str_headq_is_full(struct str_headq *hq);
void str_headq_limits(struct str_headq *hq, uint32_t hiwat, uint32_t lowat);
uint64_t str_headq_count(struct str_headq *hq);
void str_headq_flush(struct str_headq *hq, bool data_only);
void str_headq_refs(struct str_headq *hq,
	void (*fn)(mblk_t *mp, uintptr_t arg), uintptr_t arg);
void str_headq_repair_p(struct str_headq *hq);
void str_headq_repair_c(struct str_headq *hq);
unsigned str_headq_records(struct str_headq *hq, uint32_t bits);

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
#define STR_TOOK_CTL 1u	 /* the control part is done with */
#define STR_TOOK_DATA 2u /* the data part is */
#define STR_TOOK_ALL 3u

/* wake and sleep: head/sleep.c */
int str_wake_readers(struct str_head *sd);
void str_wake_readers_from(struct str_head *sd, struct host_call *hc);
void str_ring_sleepers(struct str_head *sd, bool pollers);
void str_want_token(str_a32 *want);
void str_wake_writers(struct str_head *sd);
void str_wake_writers_behind(struct str_head *sd);
void str_wake_all(struct str_head *sd);
int str_sleep(struct str_head *sd, struct host_call *hc, unsigned why,
	uint64_t deadline);
#define STR_SLEEP_READ 1u
#define STR_SLEEP_WRITE 2u
int str_head_look(struct str_head *sd, struct host_call *hc);
void str_head_set(struct str_head *sd, uint32_t flags);
void str_head_putback(struct str_head *sd, mblk_t *mp);
void str_wake_writers_from(struct str_head *sd, struct host_call *hc);
int str_sleep_band(struct str_head *sd, struct host_call *hc, int band);
bool str_head_pending(struct str_head *sd);
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

/* registry */
int str_registry_init(struct str_domain *d);
int str_registry_attach(struct str_domain *d);

_Static_assert(offsetof(struct str_head, gen) ==
	offsetof(struct str_head, fflags) + 4, "str_head_enter() looks there");

STR_INLINE str_a64 *
str_root(unsigned r)
{
	return &host_domain->core[r];
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
	if ((q->q_flag & f) != f)
		(void)__atomic_fetch_or(&q->q_flag, f, __ATOMIC_ACQ_REL);
}

STR_INLINE void
str_qclr(queue_t *q, unsigned long f)
{
	if ((q->q_flag & f) != 0)
		(void)__atomic_fetch_and(&q->q_flag, ~f, __ATOMIC_ACQ_REL);
}

STR_INLINE queue_t *
str_otherq(queue_t *q)
{
	return (q->q_flag & QREADR) ? q + 1 : q - 1;
}

#endif

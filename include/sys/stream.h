/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * <sys/stream.h> - messages, queues and the functions modules and drivers
 * call: SVR4.2 DDI/DKI sections D2 to D4.
 *
 * Members named below are the public ones of datab(D4), msgb(D4), queue(D4)
 * and qband(D4).  A module reads and writes them as those pages allow; the
 * members marked "executive" are private to the executive.
 *
 * Every function's ELF symbol is ddi_NAME, so that names such as put or RD
 * cannot conflict with symbols of the application that is linked with the
 * library.
 */
#ifndef _SYS_STREAM_H
#define _SYS_STREAM_H

#include <stddef.h>
#include <stdint.h>
#ifndef __STR_CORE__
#include <sys/types.h>
#else
typedef long ssize_t;
typedef unsigned long dev_t;
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STR_DDI
#define STR_DDI(name) __asm__("ddi_" #name)
#endif

typedef unsigned char str_uchar;

/* module_stat(D4): counters of the calls of a module's procedures. */
struct module_stat {
	long ms_pcnt;	/* put procedure */
	long ms_scnt;	/* service procedure */
	long ms_ocnt;	/* open procedure */
	long ms_ccnt;	/* close procedure */
	long ms_acnt;	/* admin procedure */
	char *ms_xptr;	/* private statistics */
	short ms_xsize;	/* their length */
};
#include <sys/cred.h>

/* One lock word of the executive: owner's tag and a waiter flag. */
struct str_lock {
	volatile unsigned int owner;
	volatile unsigned int waiters;
};

/* free_rtn(D4): how to free a buffer given to esballoc(D3). */
typedef struct free_rtn {
	void (*free_func)(char *arg); /* called once, by the last freeb() */
	char *free_arg;		      /* its argument */
} frtn_t;

/* datab(D4): a data block, shared by all messages that refer to it. */
typedef struct datab {
	struct free_rtn *db_frtnp;  /* esballoc'ed: how to free the buffer */
	unsigned char *db_base;	    /* first byte of the buffer */
	unsigned char *db_lim;	    /* one past its last byte */
	volatile unsigned char db_ref; /* messages that refer to it */
	unsigned char db_type;	    /* message type, M_* */
	unsigned char db_class;	    /* executive: where the buffer is from */
	unsigned char db_flags;	    /* executive */
	unsigned int db_size;	    /* bytes asked for */
	unsigned int db_owner;	    /* executive: process to which an outside
				     * buffer is pinned */
	unsigned int db_pad;
	void *db_priv;		    /* executive */
	struct free_rtn db_frtn;    /* executive: copy of *db_frtnp */
} dblk_t;

/* msgb(D4): a message block. */
typedef struct msgb {
	struct msgb *b_next;	/* next message on a queue */
	struct msgb *b_prev;	/* previous message on a queue */
	struct msgb *b_cont;	/* next block of this message */
	unsigned char *b_rptr;	/* first unread byte */
	unsigned char *b_wptr;	/* one past the last byte written */
	struct datab *b_datap;	/* the data block */
	unsigned char b_band;	/* priority band, 0 to 255 */
	unsigned char b_pad1;
	unsigned short b_flag;	/* MSG* */
	volatile unsigned int b_owner; /* executive: see core/mem */
	unsigned int b_state;	/* executive */
	unsigned int b_pad2;
} mblk_t;

/* Values of db_type.  Below QPCTL: ordinary, queued by band. */
#define M_DATA 0x00
#define M_PROTO 0x01
#define M_BREAK 0x08
#define M_PASSFP 0x09
#define M_EVENT 0x0a
#define M_SIG 0x0b
#define M_DELAY 0x0c
#define M_CTL 0x0d
#define M_IOCTL 0x0e
#define M_SETOPTS 0x10
#define M_RSE 0x11
#define M_TRAIL 0x12
#define M_BACKWASH 0x13
/* High priority. */
#define QPCTL 0x80
#define M_IOCACK 0x81
#define M_IOCNAK 0x82
#define M_PCPROTO 0x83
#define M_PCSIG 0x84
#define M_READ 0x85
#define M_FLUSH 0x86
#define M_STOP 0x87
#define M_START 0x88
#define M_HANGUP 0x89
#define M_ERROR 0x8a
#define M_COPYIN 0x8b
#define M_COPYOUT 0x8c
#define M_IOCDATA 0x8d
#define M_PCRSE 0x8e
#define M_STOPI 0x8f
#define M_STARTI 0x90
#define M_PCCTL 0x91
#define M_PCSETOPTS 0x92
#define M_PCEVENT 0x93
#define M_UNHANGUP 0x94
#define M_NOTIFY 0x95
#define M_HPDATA 0x96
#define M_LETSPLAY 0x97
#define M_DONTPLAY 0x98
#define M_BACKDONE 0x99
#define M_PCTTY 0x9a
#define M_CLOSE 0x9b
#define M_CLOSE_REPL 0x9c
#define M_MI 0x9d
#define M_MI_READ_RESET 1 /* M_MI: value of its first byte */
#define M_MI_READ_SEEK 2
#define M_MI_READ_END 4

/* b_flag */
#define MSGMARK 0x01
#define MSGNOLOOP 0x02
#define MSGDELIM 0x04
#define MSGNOGET 0x08
#define MSGATTEN 0x10
#define MSGMARKNEXT 0x10
#define MSGLOG 0x10
#define MSGNOTMARKNEXT 0x20
#define MSGCOMPRESS 0x100
#define MSGNOTIFY 0x200
#define MSGCSUM 0x400
#define MSGCRC32C 0x800

/* M_FLUSH first byte, also I_FLUSH argument; FLUSHBAND: second byte = band */
#ifndef FLUSHR
#define FLUSHR 0x01
#define FLUSHW 0x02
#define FLUSHRW 0x03
#endif
#define FLUSHBAND 0x04
#define FLUSHALL 1  /* flushq(D3): every message */
#define FLUSHDATA 0 /* flushq(D3): M_DATA M_PROTO M_PCPROTO M_DELAY */

#define NOERROR ((unsigned char)-1) /* M_ERROR: leave that side as it is */

struct queue;
struct streamtab;

/* module_info(D4) */
struct module_info {
	unsigned short mi_idnum; /* module identifier */
	char *mi_idname;	 /* its name, at most FMNAMESZ characters */
	ssize_t mi_minpsz;	 /* least packet size, bytes */
	ssize_t mi_maxpsz;	 /* greatest, or INFPSZ */
	size_t mi_hiwat;	 /* high water mark, bytes */
	size_t mi_lowat;	 /* low water mark, bytes */
};

typedef int (*qi_putp_t)(struct queue *, mblk_t *);
typedef int (*qi_srvp_t)(struct queue *);
typedef int (*qi_qopen_t)(struct queue *, dev_t *, int, int, cred_t *);
typedef int (*qi_qclose_t)(struct queue *, int, cred_t *);
typedef int (*qi_qadmin_t)(void);

/* qinit(D4) */
struct qinit {
	qi_putp_t qi_putp;	 /* put procedure */
	qi_srvp_t qi_srvp;	 /* service procedure or NULL */
	qi_qopen_t qi_qopen;	 /* open, on the read side */
	qi_qclose_t qi_qclose;	 /* close, on the read side */
	qi_qadmin_t qi_qadmin;	 /* for getadmin(D3) */
	struct module_info *qi_minfo; /* parameters */
	struct module_stat *qi_mstat; /* counters or NULL */
};

/* qband(D4) */
typedef struct qband {
	struct qband *qb_next; /* next higher band */
	size_t qb_count;       /* bytes queued in it */
	mblk_t *qb_first;      /* its first message */
	mblk_t *qb_last;       /* its last message */
	size_t qb_hiwat;
	size_t qb_lowat;
	unsigned long qb_flag; /* QB_* */
	unsigned char qb_band; /* executive */
	unsigned char qb_pad[7];
} qband_t;

#define QB_FULL 0x01
#define QB_WANTW 0x02
#define QB_BACK 0x04

/* queue(D4) */
typedef struct queue {
	struct qinit *q_qinfo;	/* procedures */
	mblk_t *q_first;	/* first message */
	mblk_t *q_last;		/* last message */
	struct queue *q_next;	/* next queue in this direction */
	struct queue *q_link;	/* executive: run queue */
	void *q_ptr;		/* the module's private data */
	size_t q_count;		/* bytes queued, bands excluded */
	volatile unsigned long q_flag; /* Q* */
	ssize_t q_minpsz;
	ssize_t q_maxpsz;
	size_t q_hiwat;
	size_t q_lowat;
	struct qband *q_bandp;	/* bands 1 and up, ascending */
	unsigned char q_nband;	/* the highest of these */
	unsigned char q_blocked; /* executive: bands that are full */
	unsigned short q_pad;
	struct str_lock q_klock; /* executive: its message list */
	struct str_qpair *q_pair; /* executive: the pair it belongs to */
	struct str_head *q_head; /* executive: its Stream head, or NULL */
	mblk_t *q_high;		/* executive: last high-priority message */
} queue_t;

/* q_flag */
#define QENAB 0x0001UL	  /* on a run queue */
#define QWANTR 0x0002UL	  /* getq has found it empty */
#define QWANTW 0x0004UL	  /* canput has found it full */
#define QFULL 0x0008UL	  /* flow controlled */
#define QREADR 0x0010UL	  /* the read side */
#define QUSE 0x0020UL	  /* in use */
#define QNOENB 0x0040UL	  /* putq does not schedule it */
#define QBACK 0x0080UL	  /* back-enabled */
#define QOLD 0x0100UL
#define QHLIST 0x0200UL	  /* executive */
#define QPROCS 0x0400UL	  /* procedures are off */
#define QSVCBUSY 0x0800UL /* service procedure is running */
#define QMOUNTED 0x1000UL /* executive: linked into a stream */
#define QFROZEN 0x2000UL  /* executive: freezestr() */

/* streamtab(D4) */
struct streamtab {
	struct qinit *st_rdinit;
	struct qinit *st_wrinit;
	struct qinit *st_muxrinit;
	struct qinit *st_muxwinit;
};

/* linkblk(D4) */
struct linkblk {
	queue_t *l_qtop;
	queue_t *l_qbot;
	int l_index;
};

/* iocblk(D4) */
struct iocblk {
	int ioc_cmd;	   /* the command */
	cred_t *ioc_cr;	   /* NULL: use ioc_uid, ioc_gid */
	unsigned int ioc_id; /* identifies the ioctl */
	size_t ioc_count;  /* bytes of data in b_cont */
	int ioc_error;	   /* M_IOCNAK, M_IOCACK: errno */
	int ioc_rval;	   /* M_IOCACK: result of ioctl(2) */
	int ioc_flag;
	unsigned int ioc_uid_; /* executive: effective uid */
	unsigned int ioc_gid_; /* executive: effective gid */
};
#define ioc_uid ioc_uid_
#define ioc_gid ioc_gid_
#define TRANSPARENT ((unsigned int)-1)

/* copyreq(D4) */
struct copyreq {
	int cq_cmd;
	cred_t *cq_cr;
	unsigned int cq_id;
	char *cq_addr;	  /* user address */
	size_t cq_size;	  /* bytes */
	int cq_flag;
	mblk_t *cq_private; /* the module's own */
	long cq_filler[4];
};
#define STRCANON 0x01
#define RECOPY 0x02

/* copyresp(D4) */
struct copyresp {
	int cp_cmd;
	cred_t *cp_cr;
	unsigned int cp_id;
	char *cp_rval;	  /* 0: copied; else it failed */
	size_t cp_pad1;
	int cp_pad2;
	mblk_t *cp_private;
	long cp_filler[4];
};

union ioctypes {
	struct iocblk iocblk;
	struct copyreq copyreq;
	struct copyresp copyresp;
};

/* stroptions(D4): content of M_SETOPTS */
struct stroptions {
	unsigned long so_flags; /* SO_*: which of the following are used */
	short so_readopt;
	unsigned short so_wroff;
	ssize_t so_minpsz;
	ssize_t so_maxpsz;
	size_t so_hiwat;
	size_t so_lowat;
	unsigned char so_band;
	unsigned short so_erropt;
	ssize_t so_maxblk;
	unsigned short so_copyopt;
	unsigned short so_wrpad;
};
#define SO_ALL 0x7fffffff
#define SO_READOPT 0x0001
#define SO_WROFF 0x0002
#define SO_MINPSZ 0x0004
#define SO_MAXPSZ 0x0008
#define SO_HIWAT 0x0010
#define SO_LOWAT 0x0020
#define SO_MREADON 0x0040
#define SO_MREADOFF 0x0080
#define SO_NDELON 0x0100
#define SO_NDELOFF 0x0200
#define SO_ISTTY 0x0400
#define SO_ISNTTY 0x0800
#define SO_TOSTOP 0x1000
#define SO_TONSTOP 0x2000
#define SO_BAND 0x4000
#define SO_DELIM 0x8000
#define SO_NODELIM 0x10000
#define SO_STRHOLD 0x20000
#define SO_ERROPT 0x40000
#define SO_LOOP 0x40000
#define SO_COPYOPT 0x80000
#define SO_MAXBLK 0x100000
#define SO_WRPAD 0x800000
/* Accepted, and without effect. */
#define SO_COWENABLE 0x200000
#define SO_COWDISABLE 0x400000
#define SO_NOCSUM 0x1000000
#define SO_CSUM 0x2000000
#define SO_CRC32C 0x4000000
#define SO_SKBUFF 0x8000000
#define SO_NOSKBUFF 0x10000000

/* allocb(D3) priorities: hints only. */
#define BPRI_LO 1
#define BPRI_MED 2
#define BPRI_HI 3

#define INFPSZ (-1)  /* no limit on the packet size */
#define NBAND 256
#define ANYBAND (-1) /* canput family: any band above 0 */
#ifndef FMNAMESZ
#define FMNAMESZ 8
#endif
#ifndef INFTIM
#define INFTIM (-1)
#endif

/* sflag of a module's or driver's open procedure */
#define DRVOPEN 0
#define MODOPEN 1
#define CLONEOPEN 2
#define OPENFAIL (-1)

/* strqget/strqset(D3) */
typedef enum qfields {
	QHIWAT = 0,
	QLOWAT = 1,
	QMAXPSZ = 2,
	QMINPSZ = 3,
	QCOUNT = 4,
	QFIRST = 5,
	QLAST = 6,
	QFLAG = 7,
	QBAD = 8
} qfields_t;

/* D_* flags of a module: how many threads may run in it. */
#define D_NEW 0x000
#define D_MP 0x001	    /* its procedures use their own locks */
#define D_MTSAFE D_MP
#define D_MTPERMOD 0x002    /* one thread in the module */
#define D_MTQPAIR 0x004	    /* one thread in a queue pair */
#define D_MTPERQ 0x008	    /* one thread in a queue */
#define D_MTOUTPERIM 0x010  /* has an outer perimeter */
#define D_MTOCEXCL 0x020    /* open and close enter it exclusively */
#define D_MTPUTSHARED 0x040 /* put procedures enter shared */
#define D_OLD 0x080	    /* a loaded one: open as in SVR3, <sys/user.h> */

#ifdef __cplusplus
}
#endif

#endif

/*
 * Declarations for modules only.  A program that includes this header for its
 * numbers may have own functions called put() or timeout(), and uses <fcntl.h>.
 */
#if !defined(_STR_DDI_FUNCS) && \
	(!defined(_STREAMS_PROGRAM) || defined(_KERNEL) || defined(_STR_DDI))
#define _STR_DDI_FUNCS

#ifdef __cplusplus
extern "C" {
#endif

/* flag of open and close procedures; <fcntl.h> has two of these names */
#undef FNDELAY
#undef FNONBLOCK
#define FREAD 0x01
#define FWRITE 0x02
#define FNDELAY 0x04
#define FNONBLOCK 0x2000
#define FEXCL 0x0400

/*
 * Message functions (SVR4 DDI/DKI D3).  Sources (allocb esballoc dupb dupmsg
 * copyb copymsg unlinkb msgpullup): the caller owns the result; NULL means no
 * memory.  Sinks (freeb freemsg): they consume the argument.
 *
 * Context: put, service, open, close and callback procedures; none sleeps.
 */
mblk_t *allocb(size_t size, unsigned int pri) STR_DDI(allocb);
mblk_t *esballoc(unsigned char *base, size_t size, unsigned int pri,
	frtn_t *frtn) STR_DDI(esballoc);
int testb(size_t size, unsigned int pri) STR_DDI(testb);
void freeb(mblk_t *bp) STR_DDI(freeb);
void freemsg(mblk_t *mp) STR_DDI(freemsg);
mblk_t *dupb(mblk_t *bp) STR_DDI(dupb);
mblk_t *dupmsg(mblk_t *mp) STR_DDI(dupmsg);
mblk_t *copyb(mblk_t *bp) STR_DDI(copyb);
mblk_t *copymsg(mblk_t *mp) STR_DDI(copymsg);
int adjmsg(mblk_t *mp, ssize_t len) STR_DDI(adjmsg);
void linkb(mblk_t *mp1, mblk_t *mp2) STR_DDI(linkb);
mblk_t *linkmsg(mblk_t *mp1, mblk_t *mp2) STR_DDI(linkmsg);
mblk_t *unlinkb(mblk_t *mp) STR_DDI(unlinkb);
mblk_t *unlinkmsg(mblk_t *mp, mblk_t *bp) STR_DDI(unlinkmsg);
mblk_t *rmvb(mblk_t *mp, mblk_t *bp) STR_DDI(rmvb);
size_t msgdsize(mblk_t *mp) STR_DDI(msgdsize);
size_t msgsize(mblk_t *mp) STR_DDI(msgsize);
size_t xmsgsize(mblk_t *mp) STR_DDI(xmsgsize);
mblk_t *msgpullup(mblk_t *mp, ssize_t len) STR_DDI(msgpullup);
int pullupmsg(mblk_t *mp, ssize_t len) STR_DDI(pullupmsg);
int datamsg(unsigned char type) STR_DDI(datamsg);
int ctlmsg(unsigned char type) STR_DDI(ctlmsg);
int pcmsg(unsigned char type) STR_DDI(pcmsg);
int isdatablk(dblk_t *dp) STR_DDI(isdatablk);
int isdatamsg(mblk_t *mp) STR_DDI(isdatamsg);

/*
 * bufcall(D3) family; the callbacks run in no particular context, usually in
 * streamsd.  untimeout(D3) returns the number of ticks that were left, or -1 if
 * it is too late; it waits for a callback that is running in another thread.
 */
typedef long bufcall_id_t;
typedef long timeout_id_t;
typedef unsigned long toid_t;
typedef unsigned long bcid_t;
bcid_t bufcall(size_t size, unsigned int pri, void (*func)(long), long arg)
	STR_DDI(bufcall);
bcid_t esbbcall(unsigned int pri, void (*func)(long), long arg)
	STR_DDI(esbbcall);
void unbufcall(bcid_t id) STR_DDI(unbufcall);
toid_t timeout(void (*func)(void *), void *arg, long ticks) STR_DDI(timeout);
int untimeout(toid_t id) STR_DDI(untimeout);

/*
 * Queue functions (D3).  put, putnext and qreply are sinks.  putq, putbq, insq
 * and appq consume the message only when they return 1.
 */
void put(queue_t *q, mblk_t *mp) STR_DDI(put);
void putnext(queue_t *q, mblk_t *mp) STR_DDI(putnext);
int putq(queue_t *q, mblk_t *mp) STR_DDI(putq);
int putbq(queue_t *q, mblk_t *mp) STR_DDI(putbq);
int insq(queue_t *q, mblk_t *emp, mblk_t *mp) STR_DDI(insq);
int appq(queue_t *q, mblk_t *emp, mblk_t *mp) STR_DDI(appq);
mblk_t *getq(queue_t *q) STR_DDI(getq);
void rmvq(queue_t *q, mblk_t *mp) STR_DDI(rmvq);
void flushq(queue_t *q, int flag) STR_DDI(flushq);
void flushband(queue_t *q, unsigned char band, int flag) STR_DDI(flushband);
int qsize(queue_t *q) STR_DDI(qsize);
int qcountstrm(queue_t *q) STR_DDI(qcountstrm);
void qreply(queue_t *q, mblk_t *mp) STR_DDI(qreply);
queue_t *OTHERQ(queue_t *q) STR_DDI(OTHERQ);
queue_t *RD(queue_t *q) STR_DDI(RD);
queue_t *WR(queue_t *q) STR_DDI(WR);
queue_t *backq(queue_t *q) STR_DDI(backq);
int SAMESTR(queue_t *q) STR_DDI(SAMESTR);
#define samestr(q) SAMESTR(q)
int putctl(queue_t *q, int type) STR_DDI(putctl);
int putctl1(queue_t *q, int type, int param) STR_DDI(putctl1);
int putctl2(queue_t *q, int type, int p1, int p2) STR_DDI(putctl2);
int putnextctl(queue_t *q, int type) STR_DDI(putnextctl);
int putnextctl1(queue_t *q, int type, int param) STR_DDI(putnextctl1);
int putnextctl2(queue_t *q, int type, int p1, int p2) STR_DDI(putnextctl2);
int strqget(queue_t *q, qfields_t what, unsigned char band, long *val)
	STR_DDI(strqget);
int strqset(queue_t *q, qfields_t what, unsigned char band, long val)
	STR_DDI(strqset);
void enableok(queue_t *q) STR_DDI(enableok);
void noenable(queue_t *q) STR_DDI(noenable);
int canenable(queue_t *q) STR_DDI(canenable);
void qenable(queue_t *q) STR_DDI(qenable);
int enableq(queue_t *q) STR_DDI(enableq);
int qready(void) STR_DDI(qready);
/* Run the scheduled queues of the streams that this thread is inside soon. */
void setqsched(void) STR_DDI(setqsched);

/* Flow control (D3).  Band ANYBAND: any above 0. */
int canput(queue_t *q) STR_DDI(canput);
int canputnext(queue_t *q) STR_DDI(canputnext);
int bcanput(queue_t *q, int band) STR_DDI(bcanput);
int bcanputnext(queue_t *q, int band) STR_DDI(bcanputnext);
int bcanputany(queue_t *q) STR_DDI(bcanputany);
int bcanputnextany(queue_t *q) STR_DDI(bcanputnextany);
int canget(queue_t *q) STR_DDI(canget);
int bcanget(queue_t *q, int band) STR_DDI(bcanget);
int bcangetany(queue_t *q) STR_DDI(bcangetany);
void qbackenable(queue_t *q, unsigned char band) STR_DDI(qbackenable);

/* Plumbing and perimeters. */
void qprocson(queue_t *q) STR_DDI(qprocson);
void qprocsoff(queue_t *q) STR_DDI(qprocsoff);
/* In an open procedure, before qprocson(): set other procedures for this
 * stream, with their packet sizes and water marks.  The tables belong to a
 * loaded module. */
void setq(queue_t *q, struct qinit *rinit, struct qinit *winit)
	STR_DDI(setq);
bcid_t qbufcall(queue_t *q, size_t size, unsigned int pri,
	void (*func)(void *), void *arg) STR_DDI(qbufcall);
void qunbufcall(queue_t *q, bcid_t id) STR_DDI(qunbufcall);
toid_t qtimeout(queue_t *q, void (*func)(void *), void *arg, long ticks)
	STR_DDI(qtimeout);
long quntimeout(queue_t *q, toid_t id) STR_DDI(quntimeout);

/* Perimeters: waits in open and close procedures, and exclusive access. */
#define PERIM_INNER 1
#define PERIM_OUTER 2
void qwait(queue_t *q) STR_DDI(qwait);
int qwait_sig(queue_t *q) STR_DDI(qwait_sig);
void qwriter(queue_t *q, mblk_t *mp, void (*func)(queue_t *, mblk_t *),
	int perimeter) STR_DDI(qwriter);

/*
 * HP-UX: exclusive access to all instances of the module, or to q's perimeter.
 */
typedef void (*streams_put_t)(void *, mblk_t *);
void mps_become_writer(queue_t *q, mblk_t *mp,
	void (*func)(queue_t *, mblk_t *)) STR_DDI(mps_become_writer);
void streams_put(streams_put_t func, queue_t *q, mblk_t *mp, void *arg)
	STR_DDI(streams_put);

#ifdef __cplusplus
}
#endif

#ifdef _KERNEL
#include <sys/strreg.h> /* included here as on HP-UX and OSF/1 */
#include <sys/sleep.h>	/* System V needs no header for it */
#define _STR_IN_STREAM_H
#include <sys/ksynch.h> /* included here as on Solaris */
#undef _STR_IN_STREAM_H
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A list of the objects of a domain, for tools such as scls, strinfo and
 * strtop.
 *
 * strm_inspect() writes a list of records into the caller's memory: first one
 * of kind STR_I_DOMAIN, last one of kind STR_I_END; between these come
 * processes, each before its threads; modules; streams, each before its links,
 * heads, files, queues and bands; names; and, on request, blocks.  A record
 * begins with its kind and its length, a multiple of 8; a reader skips unknown
 * kinds.
 *
 * The domain continues to run meanwhile, and no thread in it is stopped or
 * waits.  So each record describes one moment, two records describe different
 * moments, and a linked list that is changed meanwhile may appear cut short.
 */
#ifndef STR_INSPECT_H
#define STR_INSPECT_H

#include <stddef.h>
#include <stdint.h>

#define STR_INSPECT_VERSION 1u

enum str_i_kind {
	STR_I_DOMAIN = 1,
	STR_I_PROC,
	STR_I_THREAD,
	STR_I_MODULE,
	STR_I_STREAM,
	STR_I_HEAD,
	STR_I_FILE,
	STR_I_QUEUE,
	STR_I_BAND,
	STR_I_LINK,
	STR_I_NAME,
	STR_I_END,
	STR_I_BLOCK,
};

struct str_i {
	uint16_t kind;
	uint16_t pad;
	uint32_t size; /* of the whole record */
};

#define STR_I_NBLK 16
struct str_i_domain {
	struct str_i i;
	uint32_t version, abi;
	uint32_t uid, flags;	   /* STR_I_DOM_* */
	uint64_t base, cap, committed, used; /* bytes */
	uint64_t now;		   /* ns, CLOCK_MONOTONIC */
	uint64_t wakes, tokens, sleeps, elided;
	uint64_t nstream, ndev, unburied;
	uint64_t blocks[STR_I_NBLK]; /* in use, by kind */
	uint64_t bytes;		     /* in these */
};
#define STR_I_DOM_ASYM 1u  /* expedited membarriers */
#define STR_I_DOM_EAGER 2u /* queues run on every call */

struct str_i_proc {
	struct str_i i;
	uint32_t slot, pid;
	uint64_t start;	  /* field 22 of /proc/PID/stat */
	uint32_t nthread; /* that have made a call */
	uint32_t exec;	  /* being replaced by exec */
};

struct str_i_thread {
	struct str_i i;
	uint32_t tag, tid, pid, state; /* STR_I_THR_* */
	uint64_t sid;	  /* stream it is inside, or sleeps at; 0 none */
	uint32_t end;	  /* ... which end of it */
	uint32_t why;	  /* what it waits for, STR_I_WHY_* */
	uint32_t nclaim;  /* streams whose plumbing it keeps as it is */
	uint32_t dead;
	uint64_t claim[4]; /* numbers of the first of these */
};
#define STR_I_THR_RUN 0u
#define STR_I_THR_FUTEX 1u   /* asleep on words in memory */
#define STR_I_THR_CARRIER 2u /* asleep on its descriptor */
#define STR_I_THR_POLL 3u    /* asleep on several: poll, select, epoll */
#define STR_I_WHY_NONE 0u
#define STR_I_WHY_READ 1u
#define STR_I_WHY_WRITE 2u
#define STR_I_WHY_IOCTL 3u
#define STR_I_WHY_OTHER 4u   /* a lock, or the other side of an open */

/* A registered module or driver. */
struct str_i_module {
	struct str_i i;
	char name[12];
	uint32_t kind;	/* 1 module, 2 driver, 3 both */
	uint32_t flag;	/* D_* */
	uint32_t major, count, foreign;
	struct str_i_minfo {
		uint32_t there, idnum;
		char idname[16];
		int64_t minpsz, maxpsz;
		uint64_t hiwat, lowat;
	} minfo[4]; /* read, write, lower read, lower write */
	struct str_i_mstat {
		uint64_t there;
		int64_t pcnt, scnt, ocnt, ccnt, acnt;
	} mstat[4];
};

/* The thread that has a lock or runs queues. */
struct str_i_owner {
	uint32_t tag; /* 0: none */
	uint32_t pid; /* 0: it is gone */
	uint32_t tid;
	uint32_t dead;
};

struct str_i_stream {
	struct str_i i;
	uint64_t sid;
	uint32_t kind; /* STR_I_PIPE ... */
	uint32_t nheads;
	uint32_t major, minor; /* a device's */
	char driver[12];
	uint32_t nrun;	 /* queues enabled and not served yet */
	uint32_t closed; /* ends, one bit each */
	uint32_t runner_ms; /* ms for which the runner has run */
	uint32_t nlink;	 /* streams linked below */
	uint64_t under;	 /* sid of what it is linked below, 0 none, 1 a
			  * driver keeps it (I_PLINK) */
	int32_t under_id;
	uint32_t late;	 /* messages from other streams wait */
	struct str_i_owner plumber, busy, runner, committed;
	struct str_i_owner closer, frozen;
};
#define STR_I_PIPE 0u
#define STR_I_FIFO 1u
#define STR_I_DEV 2u

struct str_i_head {
	struct str_i i;
	uint64_t sid, addr;
	uint32_t end, flags; /* STR_I_H_* */
	int32_t rerror, werror;
	uint32_t rdopt, wropt;
	uint32_t npush, anchor;
	uint32_t nfile, refs;
	uint32_t polled; /* events that are waited for on the carrier */
	uint32_t npri;	 /* messages of high priority or a band above 0 */
	uint64_t count;	 /* bytes of band 0 to be read */
	uint64_t passed; /* bytes of band 0 that ever arrived */
	uint64_t hiwat, lowat;
	uint32_t full, overflow;
	uint32_t rwant, wwant; /* not 0: readers, writers asked to be woken */
	uint32_t npass, nsig;
	uint32_t cltime, sleeping; /* threads asleep here */
	uint64_t ctime;
	struct str_i_owner producer, consumer, ioctl;
	uint32_t ioctl_state; /* 0 none, 1 sent down, 2 answered */
	uint32_t ioctl_id;
};
#define STR_I_H_RDERR 0x0001u
#define STR_I_H_WRERR 0x0002u
#define STR_I_H_HUP 0x0004u
#define STR_I_H_PEER 0x0008u
#define STR_I_H_CLOSED 0x0020u
#define STR_I_H_PLEX 0x0040u
#define STR_I_H_MREAD 0x0080u
#define STR_I_H_HOLD 0x0100u
#define STR_I_H_DELIM 0x0200u
#define STR_I_H_MODS 0x0800u
#define STR_I_H_NOWR 0x10000u
#define STR_I_H_NORD 0x20000u

/* An open file of the head before it. */
struct str_i_file {
	struct str_i i;
	uint64_t cookie, ino; /* of the socket under it: ss -e, /proc/PID/fd */
	uint32_t fflags, kind;
	uint32_t open, pad;
};

struct str_i_queue {
	struct str_i i;
	uint64_t sid, addr, next;
	uint32_t end;	/* head it was reached from, going down */
	uint32_t depth; /* 0 the head, 1 the topmost module, ... */
	uint32_t role;	/* STR_I_Q_* */
	uint32_t side;	/* 0 read, 1 write */
	char name[12];
	uint32_t flag;	/* q_flag */
	uint64_t count, hiwat, lowat;
	int64_t minpsz, maxpsz;
	uint32_t nmsg, nmsg_more; /* messages on it; 1: more than counted */
	uint32_t first_type, first_band;
	uint32_t service; /* it has a service procedure */
	uint32_t backlog; /* messages wait to enter the perimeter */
	struct str_i_owner inside;
	uint64_t drops; /* messages dropped by the pair; read side: 0 */
};
#define STR_I_Q_HEAD 0u
#define STR_I_Q_MODULE 1u
#define STR_I_Q_DRIVER 2u
#define STR_I_Q_LOWER 3u

/* A band of the queue before it. */
struct str_i_band {
	struct str_i i;
	uint64_t count, hiwat, lowat;
	uint32_t band, flag; /* QB_* */
};

/* A stream linked below the one before it. */
struct str_i_link {
	struct str_i i;
	uint64_t sid, lower;
	int32_t id;
	uint32_t persist;
};

/* A path to which a stream is attached. */
struct str_i_name {
	struct str_i i;
	uint64_t sid, dev, ino;
	uint32_t end, pad;
	char path[256];
};

/* A block of memory in use.  parts to length apply to message blocks. */
struct str_i_block {
	struct str_i i;
	uint64_t addr, size;
	uint32_t state, owner; /* STR_BLK_*; the tag of a thread, or 0 */
	uint64_t word;	/* its free-list link: the origin, or the reaper's mark */
	uint32_t parts, refs, type, pad;
	/*
	 * Also of a link or a pass: data is the head that it refers to, next
	 * the head at which it waits.
	 */
	uint64_t next, prev, cont, data, length;
	unsigned char first[64]; /* bytes: of a message the buffer's */
};

/*
 * strm_inspect - write the records of the domain at @buf
 * @size: bytes there
 * @what: STR_I_WANT_*
 *
 * Return: the length of the whole list in bytes.  If that is more than @size,
 * the list was cut short: call again with a larger buffer. -1: there is no
 * domain, errno says why.
 */
long strm_inspect(void *buf, size_t size, unsigned what);
/* strm_why - a text that says why there is no domain and what to do; or "" */
const char *strm_why(void);
/*
 * strm_why_stdio - a text that says why FILEs of this C library cannot be
 * Streams; or ""
 */
const char *strm_why_stdio(void);
/*
 * strm_where - the path of the domain's file; "fd:N": the domain has no name;
 * NULL: there is no domain, errno says why
 * STR_WIRES_SUFFIX - that of the file of its wires, which lies beside it: see
 * tools/lib/wirefile.h
 * STR_WIRES_NEW - what follows that name while the file is written anew
 */
const char *strm_where(void);
#define STR_WIRES_SUFFIX ".wires"
#define STR_WIRES_NEW ".new"
/* strm_why_daemon - a text that says why the domain has no streamsd; or "" */
const char *strm_why_daemon(void);
/*
 * strm_config - read a configuration file, unless another user may have chosen
 * it
 * @chosen: the path comes from the environment, it is not built in
 *
 * Return: its length in bytes, at most @size, or -1 and errno: EACCES: another
 * user may have chosen it; EINVAL: the path is not absolute; EFBIG.
 */
long strm_config(const char *path, int chosen, char *buf, size_t size);
#define STR_I_WANT_PROCS 1u
#define STR_I_WANT_MODULES 2u
#define STR_I_WANT_STREAMS 4u
#define STR_I_WANT_MEMORY 8u /* counts of blocks: a walk of the whole arena */
#define STR_I_WANT_NAMES 16u
#define STR_I_WANT_ALL 31u
#define STR_I_WANT_BLOCKS 32u /* one by one; not of ALL */

/* The executive's part of strm_inspect(); inside a call. */
uint64_t str_inspect(void *buf, uint64_t size, uint32_t what);

/* Which queues to tune, and the new values. */
struct strm_tune {
	uint64_t addr;	/* one queue (str_i_queue.addr), or 0 */
	char name[12];	/* else those of this module or driver */
	uint32_t sides; /* STR_TUNE_* */
	uint32_t set;	/* which of these are to be set */
	int64_t value[4];
};
#define STR_TUNE_READ 1u
#define STR_TUNE_WRITE 2u
#define STR_TUNE_LREAD 4u  /* of streams linked below it */
#define STR_TUNE_LWRITE 8u
#define STR_TUNE_NEW 16u   /* of queues that are made later */
#define STR_TUNE_HIWAT 0   /* value[], and bits of set */
#define STR_TUNE_LOWAT 1
#define STR_TUNE_MINPSZ 2
#define STR_TUNE_MAXPSZ 3

/*
 * strm_tune - set water marks and packet sizes of queues
 * Return: the number of queues that were set, plus the number of modules whose
 * later queues will be set; -1: nothing was set: EINVAL: bad value; ENOENT:
 * there is no such queue; EBUSY: a stream is being changed.
 */
long strm_tune(const struct strm_tune *tune);
long str_tune(const struct strm_tune *tune); /* minus an errno */

#endif

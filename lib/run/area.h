/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The area: the memory that all processes under one strrun(1) share.
 *
 * strrun makes it as a file without a name, and keeps it open.  A process finds
 * it by the variable STRRUN, which says the pid of strrun, the descriptor and a
 * key, through /proc.  It ends with its last user.  docs/strrun.md describes the
 * protocol.
 */
#ifndef RUN_AREA_H
#define RUN_AREA_H

#include <stdint.h>

#include <str/annot.h>

#define RUN_VAR     "STRRUN"
#define RUN_MAGIC   0x53525234u
#define RUN_PIPES   256u
#define RUN_HOLDERS 20u
#define RUN_MEMBERS 64u	/* a power of two */
#define RUN_RING    131072u	 /* bytes of a ring; a power of two */
#define RUN_PLENTY  (RUN_RING / 2)
#define RUN_RINGS   (1u << 17)	 /* offset of the first ring in the file */
#define RUN_SIZE    (RUN_RINGS + RUN_PIPES * RUN_RING)

/* What is counted.  The names are in run_count_name(). */
enum run_count {
	RUN_MADE,    /* pipes made by members */
	RUN_CARRIED, /* changes of a pipe from KERNEL to STREAM */
	RUN_BYTES,   /* bytes through the rings of forgotten pipes */
	/* reasons why a pipe can never be carried */
	RUN_OUTSIDE, /* a program outside got it */
	RUN_SENT,    /* it was sent through a socket */
	RUN_MANY,    /* more processes hold it than fit in its record */
	RUN_APART,   /* a holder changed its user, root or namespace */
	RUN_INSERTED, /* a stream was inserted before its reader */
	/* reasons why a pipe left STREAM */
	RUN_FORK,
	RUN_EXEC,
	RUN_CLOSE,
	RUN_POLL,
	RUN_CALL,    /* another call that the ring does not know */
	RUN_THREADS,
	RUN_EXIT,
	RUN_LOOKED,  /* no reason: descriptors that scans have examined */
	RUN_COUNTS
};

/* The state of a pipe, with its epoch in the upper 56 bits. */
enum run_state {
	RUN_KERNEL,  /* the kernel's pipe carries the data */
	RUN_BUSY,    /* the record or the ring is being prepared */
	RUN_ARMED,   /* the reader is ready for the ring */
	RUN_STREAM,  /* the ring carries the data */
	RUN_TO_R,    /* the reader moves the ring into the kernel's pipe */
	RUN_TO_W     /* the writer does */
};

/* Flags in the upper half of `tail' and `head', below 24 bits of the epoch. */
#define RUN_ASLEEP 1u /* tail: the reader reads the kernel's pipe */
#define RUN_WAKING 2u /* tail: the writer writes to it, to wake the reader */
#define RUN_CLOSED 4u /* both: the position does not change any more */
#define RUN_DRY    8u /* tail: the kernel's pipe was empty when ASLEEP was set */

struct run_pipe {
	uint64_t state; /* epoch << 8 | enum run_state */
	uint32_t unfit; /* an enum run_count; 0: none */
	uint32_t pending; /* forks whose child has no entry yet */
	uint32_t forks; /* of processes that may hold it, ever */
	uint32_t rpid;	/* of the reader, in ARMED and later */
	uint32_t wpid;	/* of the writer, in STREAM and later */
	uint32_t before; /* TO_W: bytes in the kernel's pipe before the move;
			  * UINT32_MAX: not yet counted */
	uint32_t in_read; /* the reader is in a read of the kernel's pipe */
	uint32_t size;	/* which a writer has given the kernel's pipe; 0 */
	uint32_t taker; /* the process that may make it BUSY; 0: none */
	uint32_t holder[RUN_HOLDERS]; /* pids that may hold an end */
	STR_LINE uint64_t tail; /* flags, position of the writer */
	uint64_t bytes; /* through the ring; the writer's */
	int32_t wcpu;	/* CPU on which the writer was last */
	STR_LINE uint64_t head; /* flags, position of the reader */
	int32_t rcpu;	/* CPU on which the reader was last */
	STR_LINE uint32_t room; /* the writer waits for room */
	uint32_t turn;	/* futex on which it waits */
	uint32_t fill;	/* the reader waits for RUN_PLENTY bytes; its futex */
};

/*
 * strinsert(1) asks the reader of a pipe to read another pipe from then on, at
 * its next read.  One request at a time.
 */
enum run_ask_state {
	RUN_ASK_FREE,
	RUN_ASK_FILLED,	 /* strinsert writes the request, or looks for readers */
	RUN_ASK_ASKED,
	RUN_ASK_TAKEN,	 /* the reader waits in a read */
	RUN_ASK_ALLOWED, /* by strinsert: the reader changes its descriptors */
	RUN_ASK_REFUSED	 /* by the reader */
};

/* Why the reader has refused. */
enum run_why {
	RUN_WHY_NONE,
	RUN_WHY_LATE,	 /* strinsert did not answer in time: it asks again */
	RUN_WHY_THREADS, /* the reader has several threads */
	RUN_WHY_WRITES,	 /* the reader has the writing end, too */
	RUN_WHY_WATCHED, /* an epoll instance or a signal tells of data */
	RUN_WHY_MANY,	 /* too many descriptors */
	RUN_WHY_OPEN	 /* the other pipe cannot be opened */
};

struct run_ask {
	uint64_t state;	 /* number << 16 | enum run_why << 8 | enum run_ask_state */
	uint32_t reader; /* pid */
	uint32_t tool;	 /* pid of strinsert */
	int32_t fd;	 /* of strinsert: the other pipe */
	uint64_t id;	 /* inode of the pipe */
	uint64_t other;	 /* inode of the other pipe */
};

/* The request with the state @w, in the state @s. */
#define RUN_ASK_IS(w, s) (((w) & ~(uint64_t)0xffff) | (uint64_t)(s))

struct run_area {
	uint32_t magic, key;
	struct run_ask ask;
	uint32_t next; /* the record that is used next */
	uint64_t dev; /* of the kernel's pipes; 0: not yet known */
	uint32_t cpu; /* what processors can, as host_copy_init() says */
	uint64_t count[RUN_COUNTS];
	/* hashes of files that become members (image.c); 0: none */
	uint64_t member[RUN_MEMBERS];
	/* Of each pipe the number of its inode, 0: unused.  They lie together,
	 * because every process looks for a number in all of them. */
	uint64_t id[RUN_PIPES];
	struct run_pipe pipe[RUN_PIPES];
};

_Static_assert(sizeof(struct run_area) <= RUN_RINGS, "rings follow");

#endif

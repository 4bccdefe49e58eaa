/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/impair.h> - commands of the module that makes a Stream unreliable
 *
 * By I_STR, or as plain ioctl() with the address of the argument.  See
 * impair(7).
 */
#ifndef _SYS_IMPAIR_H
#define _SYS_IMPAIR_H

#define IMPAIR ('i' << 8 | 'm' << 16)
#define IMPAIR_SET (IMPAIR | 1)  /* struct impair_conf */
#define IMPAIR_GET (IMPAIR | 2)  /* the same, as it is */
#define IMPAIR_STAT (IMPAIR | 3) /* struct impair_stat */

#define IMPAIR_ALWAYS 1000000u /* a chance, in millionths */

/* How the messages of one direction are treated. */
struct impair_side {
	unsigned int loss;    /* chance that one is lost, in millionths */
	unsigned int burst;   /* ... how many in a row, 0 as 1 */
	unsigned int twice;   /* chance that one comes twice */
	unsigned int late;    /* chance that others overtake it */
	unsigned int behind;  /* ... how many of them, 0 as 1 */
	unsigned int delay;   /* milliseconds */
	unsigned int jitter;  /* most additional random delay, ms */
	unsigned int limit;   /* messages held, 0 as 1000 */
};

struct impair_conf {
	unsigned int seed; /* the same seed gives the same results */
	unsigned int zero;
	struct impair_side up, down;
};

struct impair_count {
	unsigned long long seen; /* messages that came */
	unsigned long long sent; /* messages passed on, copies too */
	unsigned long long lost;
	unsigned long long twice;
	unsigned long long late;
	unsigned long long full; /* lost because `limit' were held */
	unsigned int held;	 /* now */
	unsigned int zero;
};

struct impair_stat {
	struct impair_count up, down;
};

#endif /* _SYS_IMPAIR_H */

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * frame - messages on a line that keeps no boundaries.
 *
 * What a program and the module's two source files agree on.  A frame is
 *
 *	0x7e, length (2 bytes, high first), data, sum of the data (1 byte)
 */
#ifndef FRAME_H
#define FRAME_H

#define FRIOC ('f' << 8)
#define FR_STAT (FRIOC | 1) /* struct frstat *: counts; plain, or I_STR */
#define FR_TIMO (FRIOC | 2) /* int: ticks for the rest of a frame; I_STR */

struct frstat {
	int sent;     /* frames */
	int received; /* frames that were right */
	int bad;      /* bytes that were in no frame, and frames with a bad sum */
	int late;     /* frames of which the rest did not come in time */
	int starved;  /* times there was no memory */
};

#ifdef _KERNEL

#define NFR 32	     /* streams it can be in */
#define FRMAX 8192   /* bytes in a frame */
#define FRHEAD 3     /* bytes before the data */
#define FRFLAG 0x7e  /* the first of them */
#define FRTICKS HZ   /* FR_TIMO of a stream that was not told */
#define FRID 0x6672  /* mi_idnum */

struct fr {
	queue_t *fr_q;	  /* read queue; NULL: entry not in use */
	mblk_t *fr_part;  /* what came of frames that are not complete */
	int fr_size;	  /* bytes of it */
	int fr_ticks;	  /* FR_TIMO */
	int fr_armed;	  /* fr_timer is one of ours */
	int fr_late;	  /* it has been called */
	toid_t fr_timer;  /* for the rest of a frame */
	bcid_t fr_buf[2]; /* memory awaited: 0 read side, 1 write side */
	toid_t fr_try[2]; /* or, when bufcall() failed, just time */
	struct frstat fr_stat;
};

/* frsub.c */
mblk_t *frwrap(struct fr *, mblk_t *);
int frnext(struct fr *, mblk_t **);
void frdrop(struct fr *);
void frrecover(struct fr *, queue_t *, size_t);
void frrecovered(struct fr *, queue_t *);

#endif /* _KERNEL */
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What tally and the programs that push it agree on. */
#ifndef TALLY_H
#define TALLY_H

#define TALLY_GET (('t' << 8) | 1) /* I_STR: returns a struct tally */

struct tally {
	long msgs[2];  /* written, read */
	long bytes[2]; /* in these */
};

#endif

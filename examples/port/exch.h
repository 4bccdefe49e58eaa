/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * exch - what the exchange and its clients say to each other.
 *
 * A request is a message whose control part is a struct exch; so is its
 * answer, which may have text in its data part.  The answer to EX_LINE is
 * followed by the line, a descriptor.
 */
#ifndef EXCH_H
#define EXCH_H

#define EX_LINE 1 /* one side of channel x_arg */
#define EX_LIST 2 /* the channels in use, as text */
#define EX_STOP 3 /* urgent (RS_HIPRI): end */

struct exch {
	int x_op;
	int x_arg;
	int x_error; /* answer: an errno, or 0 */
};

#endif

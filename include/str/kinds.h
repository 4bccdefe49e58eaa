/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Kinds of blocks of a domain's memory: the name in the executive, the number
 * in the domain, and the plural that tools and tests print. core/plumb/kind.h
 * lists the references that a block of each kind contains.
 */
#ifndef STR_KINDS_H
#define STR_KINDS_H

#define STR_BLK_KINDS(X) \
	X(FREE, 0, "free") \
	X(KMEM, 1, "kmem") \
	X(SEG, 2, "segments") \
	X(QPAIR, 3, "queue pairs") \
	X(PIPE, 4, "streams") \
	X(BUF, 5, "buffers") \
	X(MDB, 6, "messages") \
	X(EVENT, 7, "timeouts") \
	X(STRAPP, 8, "autopush") \
	X(FILE, 9, "open files") \
	X(LINK, 10, "links") \
	X(NODE, 11, "nodes") \
	X(SIG, 12, "signals") \
	X(LOG, 13, "logs") \
	X(PASS, 14, "passes")

#define STR_BLK_NUMBER(name, n, text) STR_BLK_##name = (n),
enum { STR_BLK_KINDS(STR_BLK_NUMBER) STR_BLK_NKIND };
#undef STR_BLK_NUMBER

#define STR_BLK_TEXT(name, n, text) [n] = (text),
#define STR_BLK_TEXTS { STR_BLK_KINDS(STR_BLK_TEXT) }

#endif

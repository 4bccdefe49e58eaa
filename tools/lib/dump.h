/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Parts of a snapshot as JSON, and the processes that hold each descriptor.
 */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include "snap.h"

/* A stream's number for output: "p12" for a pipe, "s3" for others. */
const char *dump_sid(uint64_t sid);

/*
 * The processes that have a descriptor of each socket: read from /proc, for the
 * members of the domain that we may read.
 */
struct holders {
	struct holder {
		uint64_t ino;
		uint32_t pid;
		int fd;
	} *v;
	size_t n, room;
};
int holders_take(struct holders *h, const struct snap *s);
void holders_free(struct holders *h);
/* "4711:3 4712:0" (process:descriptor), at most @size - 1 characters. */
void holders_text(const struct holders *h, uint64_t ino, char *buf,
	size_t size);

void dump_domain(struct json *j, const struct snap *s);
void dump_procs(struct json *j, const struct snap *s);
void dump_modules(struct json *j, const struct snap *s);
void dump_streams(struct json *j, const struct snap *s,
	const struct holders *h);
/* One module or driver; also used by scls. */
void dump_module(struct json *j, const struct str_i_module *m);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A snapshot of a domain: the records of strm_inspect(), and explanations that
 * combine them.
 */
#ifndef TOOLS_SNAP_H
#define TOOLS_SNAP_H

#include <str/inspect.h>

#include "tool.h"

struct snap {
	unsigned char *buf;
	size_t size;	/* of buf */
	size_t used;
};

/* Take a snapshot; *s may hold an earlier one, whose memory is reused.
 * Return: 0 or -1 with errno. */
/* Print why there was no domain. */
void snap_failed(const struct tool *t);
STR_NORETURN void snap_die(const struct tool *t);
int snap_take(struct snap *s, unsigned what);
void snap_free(struct snap *s);

/* The next record: for NULL the first; NULL at the end. */
const struct str_i *snap_next(const struct snap *s, const struct str_i *i);
#define SNAP_EACH(s, i) \
	for ((i) = snap_next((s), NULL); (i) != NULL; (i) = snap_next((s), (i)))

const struct str_i_domain *snap_domain(const struct snap *s);
const struct str_i_stream *snap_stream(const struct snap *s, uint64_t sid);

/* "pipe", "fifo", "echo/3" */
const char *snap_stream_name(const struct str_i_stream *st);
/* Flags as words with commas between them; "-" for none. */
const char *snap_queue_flags(uint32_t flag);
const char *snap_head_flags(uint32_t flag);
const char *snap_band_flags(uint32_t flag);
const char *snap_msg_type(uint32_t type);
const char *snap_block_kind(unsigned k); /* NULL: there is none */
const char *snap_thread_state(uint32_t state);
const char *snap_why(uint32_t why);

/*
 * snap_explain - explain what a stream waits for: calls @say with a sentence
 * for each reason; not at all if nothing waits.
 */
void snap_explain(const struct snap *s, const struct str_i_stream *st,
	void (*say)(void *arg, const char *text), void *arg);

#endif

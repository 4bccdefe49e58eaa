/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Two ends that talk to each other, for programs that drive them through a
 * library: of a STREAMS pipe, or of a connection of ticotsord.
 */
#ifndef TESTS_LINKING_ENDS_H
#define TESTS_LINKING_ENDS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Each of them is a case's target: T_TARGETS(ENDS_ALL). */
#define ENDS_ALL "pipe", "ticotsord"

/* ends_open - the two ends of @what; a connection's read and write plain bytes.
 * Both are STREAMS.  The caller closes them. */
void ends_open(const char *what, int fd[2]);

#ifdef __cplusplus
}
#endif
#endif

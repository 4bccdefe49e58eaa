/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What close.c does for stdio.
 */
#ifndef STREAMS_CLOSE_H
#define STREAMS_CLOSE_H

#include <stdbool.h>

#include "fd.h"

/*
 * close_stream - close(2) of @fd, without a cancellation point, if it is a
 * Stream or an epoll instance with Streams
 * ret: what close(2) returns, with errno.
 * Return: false when @fd is something else.  The kernel is to close it, and
 * fd_forget_not() to be called after.
 */
bool close_stream(int fd, int *ret);

/* dup_onto - make @to a duplicate of @from by dup3(2), with its @flags, or by
 * dup2(2) when these are -1 */
int dup_onto(int from, int to, int flags);

/*
 * status_set - those of the status flags @want that are in @which, as by
 * F_SETFL; inside @hc, a call on @r
 * Return: 0 or an errno.
 */
int status_set(struct fd_rec *r, struct host_call *hc, uint32_t which,
	uint32_t want);

#endif

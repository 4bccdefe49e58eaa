/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Functions of close.c for stdio.
 */
#ifndef STREAMS_CLOSE_H
#define STREAMS_CLOSE_H

#include <stdbool.h>

#include "fd.h"

/*
 * close_stream - close(2) of @fd, without a cancellation point, if it is a
 * Stream or an epoll instance with Streams
 * ret: result of close(2), with errno.
 * Return: false: @fd is something else.  The caller must let the kernel close
 * it, and then call fd_forget_not().
 */
bool close_stream(int fd, int *ret);

/* dup_onto - make @to a duplicate of @from by dup3(2), with its @flags, or by
 * dup2(2) when these are -1 */
int dup_onto(int from, int to, int flags);

/*
 * status_set - set the status flags in @which to their values in @want, as
 * F_SETFL does; inside @hc, a call on @r
 * Return: 0 or an errno.
 */
int status_set(struct fd_rec *r, struct host_call *hc, uint32_t which,
	uint32_t want);

#endif

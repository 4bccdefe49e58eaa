/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * PLAIN pipes and the programs that get their descriptors; see plain.c.
 *
 * plain_is - is @r's pipe PLAIN?
 * plain_fits - does @r's end write, or read, the kernel's pipe as @writes says?
 * plain_refuse - @r's pipe will not become PLAIN; without effect if it is.
 * plain_end - make @r's pipe PLAIN if necessary, and open its side of the
 * kernel's pipe for another program; @fd: a descriptor of @r.  Return: the
 * descriptor, which the caller closes; or minus an errno.
 * plain_carrier - a descriptor of @r's carrier, which the caller closes, for a
 * member; or a negative number: @r's descriptors are carriers.
 * plain_wanted - shall a program get the kernel's pipe at numbers above 2?  Yes
 * if the pipe is PLAIN, or one of them was made by dup() since the last fork.
 * plain_give - as plain_end, but let @fd refer to it, for the exec that follows.
 * Return: false: @fd is unchanged.
 * plain_expose - a member is about to be started: its descriptors of PLAIN pipes
 * are carriers.
 * plain_recover - the exec has failed: undo plain_give() and plain_expose().
 * Context: between fork and exec too; no malloc().
 */
#ifndef STREAMS_PLAIN_H
#define STREAMS_PLAIN_H

#include "fd.h"

bool plain_is(struct fd_rec *r);
bool plain_fits(struct fd_rec *r, bool writes);
void plain_refuse(struct fd_rec *r);
int plain_end(struct fd_rec *r, int fd);
int plain_carrier(struct fd_rec *r);
bool plain_wanted(struct fd_rec *r);
bool plain_give(struct fd_rec *r, int fd);
void plain_expose(void);
void plain_recover(void);

#endif

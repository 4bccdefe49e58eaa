/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * open(2) around the C library's own, for stdio too.
 */
#ifndef STREAMS_OPEN_H
#define STREAMS_OPEN_H

#define NOT_OURS (-2)

/*
 * open_stream - open @path if it means a Stream though the kernel may have a
 * file of that name
 * open_failed - the same after the kernel's open has failed, with its errno
 * dir, path, flags: as for openat(2); @path may be a bad pointer.
 * Context: may sleep.
 * Return: a descriptor; -1 with errno; or NOT_OURS: then the kernel is to be
 * asked, or errno is as the kernel left it.
 */
int open_stream(int dir, const char *path, int flags);
int open_failed(int dir, const char *path, int flags);

/*
 * open_duplicate - open /dev/fd/@fd, when @fd is a Stream
 * As in SVR4 that is a duplicate: of @flags O_CLOEXEC has effect, and more
 * access than @fd has is EACCES.
 * Return: a descriptor; -1 with errno; NOT_OURS.
 */
int open_duplicate(int fd, int flags);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * open(2) for Streams, around the C library's open; also for stdio.
 */
#ifndef STREAMS_OPEN_H
#define STREAMS_OPEN_H

#include <fcntl.h>

#include "fd.h"

#define NOT_OURS (-2)

/*
 * A process that is not a member searches for names in the domain that it could
 * join only when this clock has advanced, every few milliseconds.  It needs no
 * system call, after which each return from a function costs 5 ns.
 */
STR_INLINE uint64_t
open_clock(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc() >> 23;
#else
	return host_ticks() >> 17;
#endif
}

/* [A] open_clock() of a search that found no names; racing threads search
 * twice. */
extern str_a64 open_nothing;

/* Is it known that no existing file is a Stream at the moment? */
STR_INLINE bool
open_plain(void)
{
	return host_domain == NULL && open_clock() == str_load(&open_nothing);
}

/*
 * open_stream - open @path if it refers to a Stream, even if the kernel has a
 * file of that name open_failed - the same after the kernel's open has failed,
 * with its errno dir, path, flags: as for openat(2); @path may be a bad
 * pointer.
 * Context: may sleep.
 * Return: a descriptor; -1 with errno; or NOT_OURS: let the kernel open it; in
 * open_failed errno is unchanged.
 */
int open_stream_slow(int dir, const char *path, int flags);
int open_failed(int dir, const char *path, int flags);

STR_INLINE int
open_stream(int dir, const char *path, int flags)
{
	if (str_likely((flags & O_CREAT) == 0) && open_plain())
		return NOT_OURS;
	return open_stream_slow(dir, path, flags);
}

/*
 * open_duplicate - open /dev/fd/@fd, when @fd is a Stream
 * As in SVR4 that is a duplicate: of @flags only O_CLOEXEC has an effect, and
 * more access than that of @fd is EACCES.
 * Return: a descriptor; -1 with errno; NOT_OURS.
 */
int open_duplicate(int fd, int flags);

#endif

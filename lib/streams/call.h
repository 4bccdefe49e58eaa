/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common parts of all wrappers: entering and leaving the executive, and errno.
 */
#ifndef STREAMS_CALL_H
#define STREAMS_CALL_H

#include <errno.h>
#include <pthread.h>

#include "fd.h"
#include "real.h"

/* Return: 0, or a positive errno, and then no call has begun. */
STR_INLINE int
call_begin(struct host_call *hc, struct fd_rec *r, int fd, uint32_t flags)
{
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen;
	int err;

	hc->head = NULL;
	hc->fd = fd;
	hc->flags = flags;
	hc->mask = NULL;
	err = host_enter(hc);
	if (str_unlikely(err != 0))
		return err;
	/* inside the call, so that the domain stays mapped */
	if (str_unlikely(!fd_read(fd, r, &sd, &fflags, &gen) ||
		    !str_head_enter(sd, fflags, gen))) {
		host_leave();
		return EBADF; /* another thread has just closed it */
	}
	hc->fflags = (int)str_load(fflags);
	hc->head = sd; /* @r may refer to another Stream from here on */
	if (str_unlikely(str_head_plain(sd))) {
		err = plain_adopt(r);
		if (err != 0) {
			host_leave();
			return err;
		}
		hc->flags |= HOST_CALL_PLAIN;
	}
	return 0;
}

/*
 * The errno of a call that makes or opens a Stream, if host_enter() has failed
 * with @err.  STREAMS_VERBOSE and strinfo(1) give the reason as text.
 */
STR_INLINE int
call_no_domain(int err)
{
	return err == EMFILE || err == ENFILE ? err : ENOSR;
}

/*
 * Is this process ending?  Then its Streams are closed one after the other.  A
 * thread that sleeps in one must not notice that, because a kernel would have
 * ended the thread before.  exit_wait() is its last sleep.
 */
extern str_a32 exit_pid;
void exit_wait(void);

STR_INLINE void
exit_look(void)
{
	if (str_unlikely(str_load(&exit_pid) != 0))
		exit_wait();
}

STR_INLINE int
fail(int err)
{
	exit_look();
	errno = err;
	return -1;
}

/* The result of a call: a count, or minus an errno. */
STR_INLINE long
call_value(long ret)
{
	if (str_likely(ret >= 0))
		return ret;
	return fail((int)-ret);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the tests share that are no members themselves: a runtime directory of
 * the case's own, and the program `use', which is the member.
 */
#ifndef TRUST_FIXTURE_H
#define TRUST_FIXTURE_H

#include <sys/types.h>

/* The runtime directory; "": none yet. */
extern char trust_dir[64];

/*
 * trust_begin - make /tmp/@name-PID the runtime directory until the case ends,
 * and a domain of the usual name the one of the programs that are started.
 */
void trust_begin(const char *name);

/*
 * trust_start - run `use @what @arg' with @in and @out; NULL: no argument.
 * SIGALRM ends it after @seconds.
 * trust_ended - wait for it.  Return: its exit status, or minus the signal.
 */
pid_t trust_start(const char *what, const char *arg, int in, int out,
	unsigned seconds);
int trust_ended(pid_t pid);

/*
 * trust_stay - a member that has used a pipe and stays until trust_finish().
 * @ret_via: a socket, on which it waits for one byte; the caller closes it
 * trust_at_work - wait until the member at the other end of @via has its pipe.
 * trust_finish - let it go; it must end with status 0.  Closes @via.
 */
pid_t trust_stay(int *ret_via, unsigned seconds);
void trust_at_work(int via);
void trust_finish(pid_t pid, int via);

#endif

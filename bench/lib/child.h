/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef BENCH_LIB_CHILD_H
#define BENCH_LIB_CHILD_H

#include <sys/types.h>

/*
 * To be the first thing a forked child calls, with the pid of the process
 * that forked it: from here on the child does not outlive that process,
 * however it goes.  Ends the child at once if that has already happened.
 */
void bench_child_bind(pid_t parent);

/* waitpid() past EINTR.  Returns the wait status, or -1 for no such child. */
int bench_child_wait(pid_t pid);

/* Kills and reaps one child; pid <= 0 means there is none. */
void bench_child_kill(pid_t pid);

#endif

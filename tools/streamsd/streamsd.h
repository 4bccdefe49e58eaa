/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef STREAMSD_H
#define STREAMSD_H

#include <poll.h>

#include "user_impl.h"

/* All that is ever watched: members, and processes that are none any more. */
#define WATCH_MAX (2 * STR_NPROC)

/*
 * watch_refresh - watch the processes that are members now, and those that
 * were.  Return: true when one of them is found dead.
 */
bool watch_refresh(void);
/* watch_pid - watch a process that is no member yet, or no more. */
void watch_pid(uint32_t pid);
/* watch_fill - what to poll, behind the first @n entries; the new count. */
unsigned watch_fill(struct pollfd *pfd, unsigned n);
/* watch_ended - after the poll: did one of them end?  Forgets it. */
bool watch_ended(const struct pollfd *pfd, unsigned n);
/* Is there a member but us? */
bool watch_members(void);
/* Or a process that was one, or whose parent was? */
bool watch_anybody(void);
/* Is there a member without a pidfd, whose end the kernel does not tell? */
bool watch_unseen(void);
/* Is one about to exec?  No pidfd tells when it has. */
bool watch_unsure(void);

/*
 * The memory of killed threads, for which the whole arena is searched, is given
 * back by a second thread of streamsd: streams do not wait for it.
 * memory_ask - there may be more of it.  memory_go - now is the time.
 * memory_busy - is the second thread at work?  memory_done - true once when it
 * has come to an end; it has rung the bell then.
 */
void memory_ask(void);
void memory_go(void);
bool memory_busy(void);
bool memory_done(void);

/* names_look - take away the names whose files are gone.  names_forget - all
 * names of a private domain. */
void names_look(void);
void names_forget(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef STREAMSD_H
#define STREAMSD_H

#include <poll.h>

#include "user_impl.h"

/* Most watched processes: members, and former members. */
#define WATCH_MAX (2 * STR_NPROC)

/*
 * watch_refresh - watch the present and the former members, and the children of
 * which members have told.
 * Return: true: one of them is dead.
 */
bool watch_refresh(void);
/*
 * watch_fill - append the pidfds to the first @n entries; returns the new
 * count.
 */
unsigned watch_fill(struct pollfd *pfd, unsigned n);
/* watch_ended - after the poll: did one of them end?  Stops watching it. */
bool watch_ended(const struct pollfd *pfd, unsigned n);
/*
 * watch_reap - in a call: reap the members that have ended, without checking
 * others.
 */
void watch_reap(void);
/* Is there a member other than us? */
bool watch_members(void);
/* Or a process that was one, or whose parent was? */
bool watch_anybody(void);
/* Is there a member without a pidfd, whose end is not reported? */
bool watch_unseen(void);
/* Is one about to exec?  Its pidfd does not report the exec. */
bool watch_unsure(void);

/*
 * A second thread of streamsd frees the memory of killed threads, for which the
 * whole arena is searched: so streams do not wait for that. memory_ask - there
 * may be more memory to free. memory_go - start the thread. memory_busy - is
 * the second thread at work? memory_done - true once when it has ended and
 * has freed something: that may have kept streams open.  It has rung the bell
 * then.
 */
void memory_ask(void);
void memory_go(void);
bool memory_busy(void);
bool memory_done(void);

/* names_look - remove the names whose files are gone. names_forget - remove all
 * names of a private domain. */
void names_look(void);
void names_forget(void);

/* wires_look - make the wires of a former domain of this name, once. */
void wires_look(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef STREAMSD_H
#define STREAMSD_H

#include "user_impl.h"

/* watch_init - make the set of watched descriptors.  0, or an errno. */
int watch_init(void);
/*
 * watch_refresh - watch the present and the former members, and the children of
 * which members have told.
 * Return: true: one of them is dead.
 */
bool watch_refresh(void);
/*
 * watch_wait - sleep until a watched process ends, the bell @bell rings, there
 * is news of sockets, or @ns have passed, rounded up to a millisecond
 * @bell, @news: their descriptors; -1: there is none
 * @ns: UINT64_MAX: without a limit
 * A process that has ended is not watched any more.
 * Return: true: one has ended; *@ret_rang: the bell has rung.
 */
bool watch_wait(int bell, int news, uint64_t ns, bool *ret_rang);
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

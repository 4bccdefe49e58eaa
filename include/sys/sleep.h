/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sleep.h> - sleep and wakeup, as System V had them
 *
 * An event is an address that the module chooses; it is not dereferenced. sleep
 * may return without a wakeup, so the sleeper checks its condition afterwards,
 * and sleeps again if necessary.
 *
 * sleep leaves the module's perimeter meanwhile, so that the module's
 * procedures can call wakeup.  If wakeup is called from outside the perimeter,
 * the event may come between the check and sleep; then sleep returns a little
 * later.
 *
 * Comes with <sys/stream.h> in modules.
 */
#ifndef _SYS_SLEEP_H
#define _SYS_SLEEP_H

#include <sys/stream.h>
#include <sys/dditypes.h>
#include <sys/ksynch.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PZERO
#define PZERO 25
#endif
#ifndef PCATCH
#define PCATCH 0x100
#endif

/**
 * sleep - wait for an event
 * @event: its address
 * @pri:   a priority: signals end the sleep if PCATCH is set and the rest of
 *         @pri is above PZERO; otherwise it has no effect
 *
 * wakeup - wake all threads that wait for @event
 *
 * Context: sleep: open and close procedures; wakeup: any.
 * Return:  0, or 1 after a signal.
 */
int str_ddi_sleep(void *event, int pri) STR_DDI(sleep);
void str_ddi_wakeup(void *event) STR_DDI(wakeup);

/**
 * streams_get_sleep_lock - HP-UX: prevent wakeups of @event until the caller
 * sleeps
 * @event: argument of the later streams_mpsleep(); a caller that does not
 *         sleep releases the returned lock by UNLOCK(9)
 *
 * streams_mpsleep - sleep for at most @tmo ticks
 * @pri:   signals end the sleep if it is above PZERO
 * @tmo:   ticks; 0: for ever
 * @lockp: a lock_t that the caller has, released; or NULL
 *
 * Context: open and close procedures.
 * Return:  streams_mpsleep: 0, 1 after a signal, ETIME.
 */
lock_t *streams_get_sleep_lock(void *event) STR_DDI(streams_get_sleep_lock);
int streams_mpsleep(void *event, int pri, caddr_t mesg, int tmo, void *lockp,
	int flags) STR_DDI(streams_mpsleep);

#if defined(_KERNEL) && !defined(__cplusplus)
/*
 * With one argument it is the function of <unistd.h>, which may be included
 * later.
 */
#define sleep(...) \
	_STR_SLEEP(__VA_ARGS__, _STR_SLEEP2, _STR_SLEEP1, )(__VA_ARGS__)
#define _STR_SLEEP(a, b, which, ...) which
#define _STR_SLEEP2(event, pri) str_ddi_sleep((void *)(event), (pri))
#define _STR_SLEEP1(seconds) sleep(seconds)
#define wakeup(event) str_ddi_wakeup((void *)(event))
#endif

#ifdef __cplusplus
}
#endif

#endif /* _SYS_SLEEP_H */

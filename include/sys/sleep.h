/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/sleep.h> - sleep and wakeup, as System V had them
 *
 * An event is an address that means something to the module; it is not
 * dereferenced.  The sleeper looks, when it returns, whether what it waits for
 * has come, and sleeps again if not: it may return without a wakeup.
 *
 * The module's perimeter is left meanwhile, so that its procedures can call
 * wakeup.  Where it is called from outside, the event may come between
 * look and sleep; then sleep returns a little later.
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
 * @pri:   a priority: signals end the sleep when PCATCH is set and the rest
 *         of it is above PZERO, as to which it is without effect
 *
 * wakeup - let all those go on who wait for @event
 *
 * Context: sleep: open and close procedures; wakeup: any.
 * Return:  0, or 1 when a signal came.
 */
int str_ddi_sleep(void *event, int pri) STR_DDI(sleep);
void str_ddi_wakeup(void *event) STR_DDI(wakeup);

/**
 * streams_get_sleep_lock - HP-UX: no wakeup of @event until one sleeps
 * @event: what streams_mpsleep() is then given; a caller that does not sleep calls
 *         UNLOCK(9) for what is returned
 *
 * streams_mpsleep - sleep, for so many ticks at the most
 * @pri:   signals end the sleep when it is above PZERO
 * @tmo:   ticks; 0: for ever
 * @lockp: a lock_t that the caller has, released; or NULL
 *
 * Context: open and close procedures.
 * Return:  streams_mpsleep: 0, 1 when a signal came, ETIME.
 */
lock_t *streams_get_sleep_lock(void *event) STR_DDI(streams_get_sleep_lock);
int streams_mpsleep(void *event, int pri, caddr_t mesg, int tmo, void *lockp,
	int flags) STR_DDI(streams_mpsleep);

#if defined(_KERNEL) && !defined(__cplusplus)
/* With one argument it is that of <unistd.h>, which may come later. */
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

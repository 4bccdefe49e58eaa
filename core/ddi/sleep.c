/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * System V's sleep and wakeup, HP-UX's get_sleep_lock.
 *
 * Objects.  The domain has one table of condition variables.  An event is an
 * address, and its hash selects a variable.  All sleepers of one variable are
 * woken together, and each tests its own condition again, which sleep()
 * requires in any case.  Each variable has a sleep lock: a thread that holds
 * it until it sleeps misses no wakeup.  The registry of modules
 * (plumb/registry.c) has an entry for the module `nullmod', which needs no
 * state of its own; this entry points to the table.
 *
 * Life.  A sleeper joins the variable before it releases the lock and leaves
 * the perimeter: a wakeup from inside the perimeter finds it there.  A wakeup
 * from outside may come before a sleeper without a lock has joined; for this
 * reason the time of such a sleep is limited to SLICE_NS.
 *
 * Failure.  As in sv.c; a sleep lock of a killed thread is taken over.
 */
#include "ddi_impl.h"
#include <sys/sleep.h>
#include <str/builtin.h>

#define NEVENT 64u
#define ENTRY "nullmod" /* the registry's entry that points to the table */
#define SLICE_NS 100000000ull

struct event {
	struct str_cv cv;
	lock_t lock;
};

static struct event *
event_of(void *event)
{
	struct event *e = str_drv_state(ENTRY, NEVENT * sizeof(*e));
	uintptr_t v = (uintptr_t)event;

	return e == NULL ? NULL : &e[(v >> 3 ^ v >> 9) % NEVENT];
}

/* Return: 0, EINTR, ETIMEDOUT. */
static int
event_sleep(struct event *e, bool sig, uint64_t deadline)
{
	if (!str_ddi_owned(&e->lock.l_lock))
		(void)LOCK(&e->lock, plstr);
	str_cv_join(&e->cv);
	UNLOCK(&e->lock, plbase);
	return str_cv_sleep(&e->cv, sig ? str_ddi_call() : NULL, deadline);
}

/* The deadline of a sleep without a lock, which may have missed its wakeup. */
static uint64_t
soon(void)
{
	return host_now() + SLICE_NS;
}

int
str_ddi_sleep(void *event, int pri)
{
	struct event *e = event_of(event);
	bool sig = (pri & PCATCH) != 0 && (pri & ~PCATCH) > PZERO;

	if (e == NULL || host_tls.nclaim != 0)
		return 0; /* the caller tests its condition again */
	return event_sleep(e, sig, soon()) == EINTR ? 1 : 0;
}

void
str_ddi_wakeup(void *event)
{
	struct event *e = event_of(event);

	if (e == NULL)
		return;
	(void)LOCK(&e->lock, plstr);
	str_cv_wake(&e->cv, true);
	UNLOCK(&e->lock, plbase);
}

lock_t *
streams_get_sleep_lock(void *event)
{
	struct event *e = event_of(event);

	if (e == NULL)
		return NULL;
	(void)LOCK(&e->lock, plstr);
	return &e->lock;
}

int
streams_mpsleep(void *event, int pri, caddr_t mesg, int tmo, void *lockp,
	int flags)
{
	struct event *e = event_of(event);
	uint64_t deadline = tmo <= 0 ? STR_DDI_NEVER :
		host_now() + (uint64_t)tmo * STR_TICK_NS;
	uint64_t until;
	int err;

	(void)mesg, (void)flags;
	if (e == NULL || host_tls.nclaim != 0) {
		if (lockp != NULL)
			UNLOCK(lockp, plstr);
		return 0;
	}
	if (lockp != NULL && lockp != (void *)&e->lock) {
		if (!str_ddi_owned(&e->lock.l_lock))
			(void)LOCK(&e->lock, plstr);
		UNLOCK(lockp, plstr);
	}
	/* with @lockp no wakeup is missed, so the sleep needs no other deadline
	 * than the caller's: this thread takes the sleep lock before it
	 * releases @lockp, and holds it until it has joined */
	until = lockp != NULL ? deadline : STR_MIN(soon(), deadline);
	err = event_sleep(e, pri > PZERO, until);
	return err == EINTR ? 1 :
		err == ETIMEDOUT && until == deadline ? ETIME : 0;
}

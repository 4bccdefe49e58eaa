/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Clocks and parameters, delays, priority levels, and the caller's memory.
 */
#include "ddi_impl.h"
#include <str/builtin.h>

uint64_t
str_now(void)
{
	return host_now();
}

unsigned int
str_self(void)
{
	return host_self_tag();
}

int
str_stopped(unsigned int thread)
{
	return thread != 0 && host_owner_stopped(thread);
}

uint64_t
str_random(void)
{
	return host_random();
}

int
drv_getparm(unsigned int parm, void *valuep)
{
	unsigned long v;
	struct host_cred cr;

	switch (parm) {
	case LBOLT:
		v = (unsigned long)(host_now() / (1000000000ull / HZ));
		break;
	case TIME:
		v = host_wall();
		break;
	case PPID:
		host_cred(&cr);
		v = cr.pid;
		break;
	default:
		return -1;
	}
	*(unsigned long *)valuep = v;
	return 0;
}

int
drv_priv(cred_t *crp)
{
	struct host_cred cr;

	(void)crp;
	host_cred(&cr);
	return cr.uid == 0 ? 0 : EPERM;
}

long
drv_hztousec(long ticks)
{
	if (ticks <= 0)
		return 0;
	return ticks > LONG_MAX / (1000000 / HZ) ? LONG_MAX :
						  ticks * (1000000 / HZ);
}

long
drv_usectohz(long usec)
{
	if (usec <= 0)
		return 0;
	return usec / (1000000 / HZ) + (usec % (1000000 / HZ) != 0);
}

unsigned long
drv_hztomsec(unsigned long ticks)
{
	return ticks > ULONG_MAX / (1000 / HZ) ? ULONG_MAX :
						 ticks * (1000 / HZ);
}

unsigned long
drv_msectohz(unsigned long msec)
{
	return msec / (1000 / HZ) + (msec % (1000 / HZ) != 0);
}

/* ----------------------------------------------------------------- delays */

/* SVR4 drv_usecwait(D3): without sleeping, as far as the module can tell. */
void
drv_usecwait(clock_t usec)
{
	uint64_t end;

	if (usec <= 0)
		return;
	end = host_now() + STR_MIN((uint64_t)usec, UINT64_MAX / 4000) * 1000;
	while (host_now() < end)
		host_yield();
}

/* SVR4 delay(D3): no signal ends it. */
void
delay(clock_t ticks)
{
	str_a32 word = 0;
	uint64_t now = host_now(), end;
	struct str_nap nap;

	if (ticks <= 0)
		return;
	str_ddi_presleep(&nap);
	end = now + STR_MIN((uint64_t)ticks, UINT64_MAX / 4 / STR_TICK_NS) *
		STR_TICK_NS;
	while ((now = host_now()) < end)
		(void)host_wait(NULL, &word, 0u, end - now);
	str_ddi_postsleep(&nap);
}

/*
 * SVR4 itimeout(D3), dtimeout(D3): the level and the processor of a callback
 * are hints; the callback runs as for timeout().
 */
toid_t
itimeout(void (*func)(void *), void *arg, long ticks, pl_t pl)
{
	(void)pl;
	return timeout(func, arg, ticks);
}

toid_t
dtimeout(void (*func)(void *), void *arg, long ticks, pl_t pl,
	processorid_t cpu)
{
	(void)pl, (void)cpu;
	return timeout(func, arg, ticks);
}

/* ----------------------------------------------------------------- levels */

/* Set the thread's level; without @lower it only rises. */
void
str_ddi_ipl(pl_t pl, bool lower)
{
	struct str_thread *t = str_ddi_self();

	if (pl >= 0 && (lower || (uint32_t)pl > t->ipl))
		t->ipl = (uint32_t)pl;
}

static pl_t
spl(pl_t pl, bool lower)
{
	pl_t old = (pl_t)str_ddi_self()->ipl;

	str_ddi_ipl(pl, lower);
	return old;
}

pl_t
splbase(void)
{
	return spl(plbase, true);
}

pl_t
spltimeout(void)
{
	return spl(pltimeout, false);
}

pl_t
spldisk(void)
{
	return spl(pldisk, false);
}

pl_t
splstr(void)
{
	return spl(plstr, false);
}

pl_t
splhi(void)
{
	return spl(plhi, false);
}

pl_t
splx(pl_t pl)
{
	return spl(pl, true);
}

/* SVR4 freezestr(D3): the level is raised until unfreezestr sets another. */
pl_t
freezestr(queue_t *q)
{
	pl_t old = splstr();

	str_freeze(q);
	return old;
}

/* SVR4 unfreezestr(D3) */
void
unfreezestr(queue_t *q, pl_t level)
{
	str_thaw(q);
	(void)splx(level);
}

/* -------------------------------------------------------- the caller's memory */

/* SVR4 copyin(D3) */
int
copyin(const void *uaddr, void *kaddr, size_t len)
{
	return host_copyin(uaddr, kaddr, len) == 0 ? 0 : -1;
}

/* SVR4 copyout(D3) */
int
copyout(const void *kaddr, void *uaddr, size_t len)
{
	return host_copyout(kaddr, uaddr, len) == 0 ? 0 : -1;
}

/* ---------------------------------------------------------------- modules */

/* The identifier in module_info(D4) of the module or driver @name. */
unsigned short
getmid(const char *name)
{
	struct str_fmod *fm = str_fmod_find(name);

	return fm != NULL ? fm->rinfo.mi_idnum : (unsigned short)-1;
}

/* The admin procedure of the module or driver with that identifier. */
qi_qadmin_t
getadmin(unsigned short mid)
{
	struct str_fmod *fm = (struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;

	for (i = 0; i < n; i++)
		if (str_load_acq(&fm[i].used) != 0 &&
		    fm[i].rinfo.mi_idnum == mid)
			return fm[i].rinit.qi_qadmin;
	return NULL;
}

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

/* The read side of @fm, which can be looked at; NULL: it cannot be mapped. */
static const struct qinit *
read_side(const struct str_fmod *fm)
{
	if (fm->foreign != 0 && host_module_map(fm->foreign) != 0)
		return NULL;
	return fm->tab.st_rdinit;
}

/*
 * SVR4 getmid(D3str): the drivers are searched first, then the modules; 0 if
 * none has this name.
 */
unsigned short
getmid(const char *name)
{
	const struct str_fmod *fm = str_fmod_known(name, STR_F_DRIVER);
	const struct qinit *qi;

	if (fm == NULL)
		fm = str_fmod_known(name, STR_F_MODULE);
	qi = fm != NULL ? read_side(fm) : NULL;
	return qi != NULL ? qi->qi_minfo->mi_idnum : 0;
}

/* The read side of a module or driver (@kind) with the number @mid, or NULL. */
static const struct qinit *
side_with(uint32_t kind, unsigned short mid)
{
	const struct str_fmod *fm = (const struct str_fmod *)(uintptr_t)
		str_load(str_root(STR_ROOT_FMOD));
	uint64_t n = str_load(str_root(STR_ROOT_NFMOD)), i;
	const struct qinit *qi;

	for (i = 0; i < n && i < STR_NMODULE; i++) {
		if (str_load_acq(&fm[i].used) != 1 || (fm[i].kind & kind) == 0)
			continue;
		qi = read_side(&fm[i]);
		if (qi != NULL && qi->qi_minfo->mi_idnum == mid)
			return qi;
	}
	return NULL;
}

/* SVR4 getadmin(D3str): in the same order; NULL if none has this number. */
qi_qadmin_t
getadmin(unsigned short mid)
{
	const struct qinit *qi = NULL;

	if (mid != 0)
		qi = side_with(STR_F_DRIVER, mid);
	if (mid != 0 && qi == NULL)
		qi = side_with(STR_F_MODULE, mid);
	return qi != NULL ? qi->qi_qadmin : NULL;
}

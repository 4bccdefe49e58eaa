/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl commands that push, pop, list and flush: streamio(7).  ioctl.c has the table.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

/* Equal in layout to the structures of <stropts.h>. */
struct u_bandinfo {
	unsigned char pri;
	int flag;
};
struct u_list {
	int nmods;
	char *mods; /* entries of FMNAMESZ + 1 */
};

/* Module names: EFAULT; EINVAL when empty or longer than FMNAMESZ. */
static int
get_name(struct ioc *c, char name[FMNAMESZ + 2])
{
	int err = host_copyinstr((const void *)c->arg, name, FMNAMESZ + 1);

	if (err == ENAMETOOLONG)
		return EINVAL;
	if (err == 0 && name[0] == '\0')
		return EINVAL;
	return err;
}

long
str_ioctl_push(struct ioc *c)
{
	char name[FMNAMESZ + 2];
	int err = get_name(c, name);

	return err != 0 ? -err : -str_plumb_push(c->sd, c->hc, name);
}

static bool
privileged(void)
{
	struct host_cred cr;

	host_cred(&cr);
	return cr.uid == 0;
}

/*
 * Only the superuser may pop anchored modules; the modules that remain are
 * still anchored.
 */
long
str_ioctl_pop(struct ioc *c)
{
	struct str_head *sd = c->sd;
	uint32_t anchor = str_load(&sd->anchor);
	int err;

	if (anchor != 0 && str_load(&sd->npush) <= anchor && !privileged())
		return -EPERM;
	err = str_plumb_pop(sd, c->hc);
	if (err == 0 && str_load(&sd->npush) < anchor)
		str_store(&sd->anchor, str_load(&sd->npush));
	if (err == 0) /* what the module had kept back */
		str_outside_sent(sd, c->hc, false);
	return -err;
}

long
str_ioctl_anchor(struct ioc *c)
{
	str_store(&c->sd->anchor, str_load(&c->sd->npush));
	return 0;
}

/*
 * Names below the head at this end, topmost first, at most @max of them: its
 * modules, then, on a device stream, its driver.
 */
static unsigned
names(struct str_head *sd, char (*name)[FMNAMESZ + 1], unsigned max)
{
	unsigned n, have;
	queue_t *q;

	(void)str_claim(sd->plumb);
	have = str_load(&sd->npush);
	q = sd->qp->wq.q_next;
	/*
	 * npush changes after the chain, under busy: a claim does not prevent
	 * that
	 */
	for (n = 0; n < have && n < max && q != NULL &&
		q->q_pair->role == STR_QP_MODULE &&
		(str_load(&q->q_flag) & QREADR) == 0; n++, q = q->q_next)
		__builtin_memcpy(name[n], q->q_pair->fmod->name,
			FMNAMESZ + 1);
	if (n <= have && n < max && q != NULL && q->q_head == NULL &&
	    q->q_pair->role == STR_QP_DRIVER)
		__builtin_memcpy(name[n++], q->q_pair->fmod->name,
			FMNAMESZ + 1);
	str_unclaim(sd->plumb);
	return n;
}

long
str_ioctl_look(struct ioc *c)
{
	char name[1][FMNAMESZ + 1];

	/* a driver is not a module */
	if (str_load(&c->sd->npush) == 0 || names(c->sd, name, 1) == 0)
		return -EINVAL;
	return host_copyout(name[0], (void *)c->arg, FMNAMESZ + 1) != 0 ?
		-EFAULT : 0;
}

long
str_ioctl_find(struct ioc *c)
{
	char want[FMNAMESZ + 2], name[STR_NPUSH + 1][FMNAMESZ + 1];
	int err = get_name(c, want);
	unsigned n, i;

	if (err != 0)
		return -err;
	n = names(c->sd, name, STR_NPUSH + 1);
	for (i = 0; i < n; i++)
		if (str_name_eq(name[i], want))
			return 1;
	/* SVR4 I_FIND: a name that I_PUSH would take is no error */
	return str_fmod_get(c->hc, want, STR_F_MODULE) == NULL ? -EINVAL : 0;
}

/* A pipe has no driver: the list has only modules. */
long
str_ioctl_list(struct ioc *c)
{
	char name[STR_NPUSH + 1][FMNAMESZ + 1];
	struct u_list l;
	unsigned n;

	n = names(c->sd, name, STR_NPUSH + 1);
	if (c->arg == 0)
		return (long)n;
	if (host_copyin((const void *)c->arg, &l, sizeof(l)) != 0)
		return -EFAULT;
	if (l.nmods < 1)
		return -EINVAL;
	n = STR_MIN(n, (unsigned)l.nmods);
	if (n != 0 && host_copyout(name, l.mods, n * (FMNAMESZ + 1)) != 0)
		return -EFAULT;
	l.nmods = (int)n;
	return host_copyout(&l.nmods, (void *)c->arg, sizeof(l.nmods)) != 0 ?
		-EFAULT : 0;
}

long
str_ioctl_get_pushcnt(struct ioc *c)
{
	return (long)str_load(&c->sd->npush);
}

/*
 * Joins two halves of a pipe, each made by an open of the pipe driver
 * (pipe/pipe.c); an end made by pipe(2) is joined already.
 */
long
str_ioctl_pipe(struct ioc *c)
{
	return -str_pipe_join(c->sd, c->hc, (int)c->arg);
}

/* --------------------------------------------------------------- flushing */

static void
flush_here(struct str_head *sd, struct host_call *hc, int band)
{
	struct host_call *old = host_tls.call;

	host_tls.call = hc;
	str_head_flush_read(sd, band);
	host_tls.call = old;
}

static long
flush(struct ioc *c, int how, int band)
{
	struct str_head *sd = c->sd;
	struct host_call *old = host_tls.call;
	mblk_t *mp;
	bool down;

	if (how < FLUSHR || how > FLUSHRW)
		return -EINVAL;
	if ((str_load(&sd->flags) & (STR_H_MODS | STR_H_DEV)) == 0) {
		/* POSIX: a pipe without modules; FLUSHW is the read queue of
		 * the other end */
		if (how & FLUSHR)
			flush_here(sd, c->hc, band);
		if (how & FLUSHW)
			flush_here(sd->peer, c->hc, band);
		return 0;
	}
	mp = allocb(2, BPRI_HI);
	if (mp == NULL)
		return -ENOSR;
	mp->b_datap->db_type = M_FLUSH;
	*mp->b_wptr++ = (unsigned char)(how | (band >= 0 ? FLUSHBAND : 0));
	if (band >= 0)
		*mp->b_wptr++ = (unsigned char)band;
	STR_CRASH_POINT("flush:begun");
	(void)str_claim(sd->plumb);
	host_tls.call = c->hc;
	if (how & FLUSHR)
		str_head_flush_read(sd, band);
	/* FLUSHW does not concern the head's own write queue: messages wait
	 * there only to be read (str_headq_deliver()) */
	down = str_head_down(sd, mp);
	str_sched_leave(sd);
	host_tls.call = old;
	str_unclaim(sd->plumb);
	return down ? 0 : -ENXIO;
}

long
str_ioctl_flush(struct ioc *c)
{
	return flush(c, (int)c->arg, -1);
}

long
str_ioctl_flushband(struct ioc *c)
{
	struct u_bandinfo bi;

	if (host_copyin((const void *)c->arg, &bi, sizeof(bi)) != 0)
		return -EFAULT;
	return flush(c, bi.flag, bi.pri);
}

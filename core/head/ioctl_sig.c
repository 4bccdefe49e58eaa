/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * ioctl commands for signals, owners and process groups: streamio(7).  ioctl.c has the table.
 */
#include "core.h"
#include "ioctl.h"
#include "sig.h"
#include "sock/sock.h"

/* Equal in layout to the structure of <stropts.h>. */
struct u_strsigset {
	int pid;
	long events;
};

static int32_t
self(void)
{
	struct host_cred cr;

	host_cred(&cr);
	return (int32_t)cr.pid;
}

/*
 * A process that is registered for S_HANGUP perhaps makes no further call on
 * the stream.  So streamsd is started: it finds that the process at the other
 * end was killed, and the signal is sent then, too.
 */
static long
set_sig(struct ioc *c, int32_t id, uint32_t events)
{
	int err = str_sig_set(c->sd, id, events);

	if (err == 0 && (events & STR_S_HANGUP) != 0)
		(void)host_daemon();
	return -err;
}

long
str_ioctl_setsig(struct ioc *c)
{
	unsigned v = (unsigned)c->arg;

	if ((v & ~STR_S_ALL) != 0)
		return -EINVAL;
	return set_sig(c, self(), v);
}

long
str_ioctl_getsig(struct ioc *c)
{
	uint32_t ev = str_sig_get(c->sd, self());

	if (ev == 0)
		return -EINVAL;
	return str_ioctl_int(c, (int)ev);
}

/* 0 stands for the caller; below 0 are process groups. */
long
str_ioctl_esetsig(struct ioc *c)
{
	struct u_strsigset ss;

	if (host_copyin((const void *)c->arg, &ss, sizeof(ss)) != 0)
		return -EFAULT;
	if (((unsigned long)ss.events & ~(unsigned long)STR_S_ALL) != 0)
		return -EINVAL;
	return set_sig(c, ss.pid != 0 ? ss.pid : self(), (uint32_t)ss.events);
}

long
str_ioctl_egetsig(struct ioc *c)
{
	struct u_strsigset ss;

	if (host_copyin((const void *)c->arg, &ss, sizeof(ss)) != 0)
		return -EFAULT;
	ss.events = (long)str_sig_get(c->sd, ss.pid != 0 ? ss.pid : self());
	if (ss.events == 0)
		return -EINVAL;
	return host_copyout(&ss, (void *)c->arg, sizeof(ss)) != 0 ?
		-EFAULT : 0;
}

/* The receiver of signal messages: a process, or minus a group; 0: none. */
long
str_ioctl_set_owner(struct ioc *c)
{
	int v;

	if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0)
		return -EFAULT;
	if (v == -INT_MAX - 1)
		return -EINVAL;
	return -str_sig_set_owner(c->sd, v);
}

long
str_ioctl_get_owner(struct ioc *c)
{
	return str_ioctl_int(c, str_sig_owner(c->sd));
}

/*
 * The foreground group of a terminal, a stream that a driver or a module has
 * declared to be one (SO_ISTTY).  The terminal belongs to the session that sets
 * a group first, until that session's leader has ended or the terminal is hung
 * up.
 */
long
str_ioctl_tiocspgrp(struct ioc *c)
{
	struct str_head *sd = c->sd;
	uint32_t sid = str_load(&sd->sid), v;
	struct host_job job;
	int err;

	if ((str_load(&sd->flags) & STR_H_TTY) == 0)
		return -ENOTTY;
	if (host_copyin((const void *)c->arg, &v, sizeof(v)) != 0)
		return -EFAULT;
	if ((int)v <= 0)
		return -EINVAL;
	host_job(v, &job);
	if (sid != 0 && sid != job.sid && host_signal_post(sid, 0, NULL) == 0)
		return -ENOTTY;
	if (job.other != 0 && job.other != job.sid)
		return -EPERM; /* a group of another session */
	err = str_tty_access(sd, c->hc, STR_TTY_SET);
	if (err == 0)
		err = str_sig_set_owner(sd, -(int)v);
	if (err == 0)
		str_store(&sd->sid, job.sid);
	return -err;
}

long
str_ioctl_tiocgpgrp(struct ioc *c)
{
	int v;

	if ((str_load(&c->sd->flags) & STR_H_TTY) == 0)
		return -ENOTTY;
	v = str_sig_owner(c->sd);
	return str_ioctl_int(c, v < 0 ? -v : v);
}

long
str_ioctl_tiocgsid(struct ioc *c)
{
	uint32_t sid = str_load(&c->sd->sid);

	if ((str_load(&c->sd->flags) & STR_H_TTY) == 0 || sid == 0)
		return -ENOTTY;
	return str_ioctl_int(c, (int)sid);
}

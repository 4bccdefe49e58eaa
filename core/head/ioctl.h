/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One ioctl(2) on a Stream head.  ioctl.c has the table of commands; the files
 * ioctl_*.c have those of the head itself, strioctl.c those that are sent down.
 */
#ifndef STR_IOCTL_H
#define STR_IOCTL_H

struct ioc {
	struct str_head *sd;
	struct host_call *hc;
	unsigned cmd;
	unsigned long arg;
	bool nointr; /* signals do not end it: a command of the executive */
	bool locked; /* the caller holds locks: it must not reap */
	bool gone; /* out: the stream was freed meanwhile: str_head_gone() */
	bool answered; /* out: by M_IOCACK or M_IOCNAK */
};

/*
 * I_STR, and commands that are not the head's.  Return: a count or minus an
 * errno.
 */
long str_ioctl_str(struct ioc *c);
long str_ioctl_other(struct ioc *c);

/* Copy @v to the int that the argument of @c addresses.  Return: 0 or -EFAULT. */
static inline long
str_ioctl_int(struct ioc *c, int v)
{
	return host_copyout(&v, (void *)c->arg, sizeof(v)) != 0 ? -EFAULT : 0;
}

/*
 * The commands of the table in ioctl.c, see streamio(7).  Return: the value of
 * the call, or minus an errno.
 */
/* ioctl_plumb.c */
long str_ioctl_push(struct ioc *c);
long str_ioctl_pop(struct ioc *c);
long str_ioctl_look(struct ioc *c);
long str_ioctl_flush(struct ioc *c);
long str_ioctl_find(struct ioc *c);
long str_ioctl_list(struct ioc *c);
long str_ioctl_anchor(struct ioc *c);
long str_ioctl_flushband(struct ioc *c);
long str_ioctl_pipe(struct ioc *c);
long str_ioctl_get_pushcnt(struct ioc *c);
/* ioctl_opt.c */
long str_ioctl_srdopt(struct ioc *c);
long str_ioctl_grdopt(struct ioc *c);
long str_ioctl_swropt(struct ioc *c);
long str_ioctl_gwropt(struct ioc *c);
long str_ioctl_setcltime(struct ioc *c);
long str_ioctl_getcltime(struct ioc *c);
long str_ioctl_serropt(struct ioc *c);
long str_ioctl_gerropt(struct ioc *c);
long str_ioctl_get_sth_wroff(struct ioc *c);
long str_ioctl_get_strmsgsz(struct ioc *c);
long str_ioctl_get_strctlsz(struct ioc *c);
long str_ioctl_set_hiwat(struct ioc *c);
long str_ioctl_set_lowat(struct ioc *c);
long str_ioctl_get_hiwat(struct ioc *c);
long str_ioctl_get_lowat(struct ioc *c);
/* ioctl_sig.c */
long str_ioctl_setsig(struct ioc *c);
long str_ioctl_getsig(struct ioc *c);
long str_ioctl_esetsig(struct ioc *c);
long str_ioctl_egetsig(struct ioc *c);
long str_ioctl_tiocgpgrp(struct ioc *c);
long str_ioctl_tiocspgrp(struct ioc *c);
long str_ioctl_tiocgsid(struct ioc *c);
long str_ioctl_set_owner(struct ioc *c);
long str_ioctl_get_owner(struct ioc *c);
/* ioctl_queue.c */
long str_ioctl_nread(struct ioc *c);
long str_ioctl_peek(struct ioc *c);
long str_ioctl_ckband(struct ioc *c);
long str_ioctl_getband(struct ioc *c);
long str_ioctl_atmark(struct ioc *c);
long str_ioctl_canput(struct ioc *c);
long str_ioctl_fionread(struct ioc *c);
long str_ioctl_siocatmark(struct ioc *c);

#endif

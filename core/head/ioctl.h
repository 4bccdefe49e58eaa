/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One ioctl(2) on a Stream head, used by two files: ioctl.c has the commands of
 * the head itself, strioctl.c those that are sent down.
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

#endif

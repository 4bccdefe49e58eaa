/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One ioctl(2) on a Stream head, as its two files pass it about: ioctl.c
 * knows the commands of the head itself, strioctl.c those that go down.
 */
#ifndef STR_IOCTL_H
#define STR_IOCTL_H

struct ioc {
	struct str_head *sd;
	struct host_call *hc;
	unsigned cmd;
	unsigned long arg;
	bool nointr; /* no signal ends it: the executive's own */
	bool locked; /* the caller has locks: it must not reap */
	bool gone; /* str_head_gone() */
	bool answered; /* out: by M_IOCACK or M_IOCNAK */
};

/* I_STR, and any command the head does not know: a count or minus an errno. */
long str_ioctl_str(struct ioc *c);
long str_ioctl_other(struct ioc *c);

#endif

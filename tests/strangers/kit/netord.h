/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* netord - commands, as a module and its programs share them. */
#include <sys/ioccom.h>

struct netord_stat {
	unsigned int	ns_words;	/* turned round so far */
	unsigned int	ns_queued;	/* messages that wait, up and down */
};

#define	NO_HOLD		_IOW('N', 1, int)	/* hold what comes up, or not */
#define	NO_STAT		_IOR('N', 2, struct netord_stat)

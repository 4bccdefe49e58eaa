/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the cases of SCTP without packets share.
 */
#ifndef TESTS_XTI_SCTP_NEAR_H
#define TESTS_XTI_SCTP_NEAR_H

#include "xt.h"

struct numbered {
	unsigned nr;
	char fill[300];
};

/* Skip the case unless the run is about SCTP without packets. */
void xt_near_need(void);
/* Send @what in one message; receive that. */
void xt_say(int fd, const char *what);
void xt_hear(int fd, const char *what);

#endif

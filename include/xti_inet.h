/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <xti_inet.h> - options of the Internet providers, for applications
 */
#ifndef _XTI_INET_H
#define _XTI_INET_H

#include <xti.h>
#include <sys/xti_inet.h>

#endif

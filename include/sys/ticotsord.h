/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ticotsord.h> - a loopback transport with connections
 *
 * Why a connection ended: t_discon.reason.  See ticotsord(4).
 */
#ifndef _SYS_TICOTSORD_H
#define _SYS_TICOTSORD_H

#include <errno.h>

#define TCOO_NOPEER		ECONNREFUSED	/* no endpoint is bound there */
#define TCOO_PEERNOROOMONQ	ECONNREFUSED	/* too many wait already */
#define TCOO_PEERBADSTATE	ECONNREFUSED	/* cannot be connected to */
#define TCOO_PEERINITIATED	ECONNRESET	/* by the peer */
#define TCOO_PROVIDERINITIATED	ECONNABORTED	/* by the provider */

#define TCOO_DEFAULTADDRSZ	4	/* bytes of an address it chooses */

#endif

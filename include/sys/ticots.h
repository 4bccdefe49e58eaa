/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ticots.h> - a loopback transport with connections
 *
 * Why a connection ended: t_discon.reason.  See ticots(4).
 */
#ifndef _SYS_TICOTS_H
#define _SYS_TICOTS_H

#include <errno.h>

#define TCO_NOPEER		ECONNREFUSED	/* no endpoint is bound there */
#define TCO_PEERNOROOMONQ	ECONNREFUSED	/* too many wait already */
#define TCO_PEERBADSTATE	ECONNREFUSED	/* cannot be connected to */
#define TCO_PEERINITIATED	ECONNRESET	/* by the peer */
#define TCO_PROVIDERINITIATED	ECONNABORTED	/* by the provider */

#define TCO_DEFAULTADDRSZ	4	/* bytes of an address it chooses */

#endif

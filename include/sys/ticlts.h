/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/ticlts.h> - the loopback transport for datagrams
 *
 * Why a datagram could not be sent: t_uderr.error.  See ticlts(4).
 */
#ifndef _SYS_TICLTS_H
#define _SYS_TICLTS_H

#include <sys/types.h>

#define TCL_BADADDR		1	/* bad address */
#define TCL_BADOPT		2	/* bad options */
#define TCL_NOPEER		3	/* no endpoint is bound to that address */
#define TCL_PEERBADSTATE	4	/* the endpoint bound there cannot
					 * receive */

#define TCL_DEFAULTADDRSZ	4	/* bytes of an address it chooses */

#endif

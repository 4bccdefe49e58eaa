/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/timod.h> - the commands of the module timod
 *
 * Sent with I_STR.  The data is a TPI request; the answer, a TPI
 * acknowledgement, takes its place.  The value returned is 0, or a TLI error
 * in its low byte with, for TSYSERR, an errno in the next one.  See timod(7).
 */
#ifndef _SYS_TIMOD_H
#define _SYS_TIMOD_H

#define TIMOD		('T' << 8)

#define TI_GETINFO	(TIMOD | 140)	/* T_info_req */
#define TI_OPTMGMT	(TIMOD | 141)	/* T_optmgmt_req */
#define TI_BIND		(TIMOD | 142)	/* T_bind_req */
#define TI_UNBIND	(TIMOD | 143)	/* T_unbind_req */
#define TI_GETMYNAME	(TIMOD | 144)	/* transparent: struct netbuf */
#define TI_GETPEERNAME	(TIMOD | 145)	/* transparent: struct netbuf */
#define TI_SETMYNAME	(TIMOD | 146)	/* no provider has it */
#define TI_SETPEERNAME	(TIMOD | 147)	/* no provider has it */
#define TI_SYNC		(TIMOD | 148)	/* T_info_req */
#define TI_GETADDRS	(TIMOD | 149)	/* T_addr_req */
#define TI_CAPABILITY	(TIMOD | 150)	/* T_capability_req */
/* Any request that is acknowledged; user data may follow: struct ti_req. */
#define TI_REQUEST	(TIMOD | 151)

/*
 * Answered by the provider (drv/tpi): an unsigned int, the number of datagrams
 * from or for this endpoint that were dropped.  See timod(7).
 */
#define TI_GETDROPS	(TIMOD | 160)

/* The original numbers of these commands. */
#define O_TI_GETINFO	(TIMOD | 100)
#define O_TI_OPTMGMT	(TIMOD | 101)
#define O_TI_BIND	(TIMOD | 102)
#define O_TI_UNBIND	(TIMOD | 103)

/**
 * struct ti_req - beginning of the data of TI_REQUEST @len: bytes of the TPI
 * primitive that follows; the rest is user data
 */
struct ti_req {
	int len;
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/**
 * DOC: <sys/bufmod.h> - commands and headers of the buffering module
 *
 * Arguments: struct timeval for SBIOC?TIME; unsigned int or unsigned long for
 * the others, according to the length in I_STR; a plain ioctl() passes the
 * address of an unsigned int.  See bufmod(7).
 */
#ifndef _SYS_BUFMOD_H
#define _SYS_BUFMOD_H

#define SBIOC ('B' << 8)
#define SBIOCSTIME (SBIOC | 1)	/* set the read timeout */
#define SBIOCGTIME (SBIOC | 2)	/* get it; ERANGE: there is none */
#define SBIOCCTIME (SBIOC | 3)	/* remove it */
#define SBIOCSCHUNK (SBIOC | 4) /* set the chunk size */
#define SBIOCGCHUNK (SBIOC | 5)
#define SBIOCSSNAP (SBIOC | 6)	/* set the snapshot length */
#define SBIOCGSNAP (SBIOC | 7)
#define SBIOCSFLAGS (SBIOC | 8) /* set SB_* */
#define SBIOCGFLAGS (SBIOC | 9)

#define SB_DFLT_CHUNK 8192

#define SB_SEND_ON_WRITE 0x01 /* a write sends the chunk up */
#define SB_NO_HEADER 0x02     /* no struct sb_hdr before each message */
#define SB_NO_PROTO_CVT 0x04  /* M_PROTO stays M_PROTO */
#define SB_DEFER_CHUNK 0x08   /* send the first in an interval at once */
#define SB_NO_DROPS 0x10      /* flow control instead of dropping */

/*
 * Before each message of a chunk.  The next header is sbh_totlen bytes
 * further on.
 */
struct sb_hdr {
	unsigned int sbh_origlen; /* original length */
	unsigned int sbh_msglen;  /* length here, at most the snapshot length */
	unsigned int sbh_totlen;  /* this with header and padding */
	unsigned int sbh_drops;	  /* dropped so far */
	struct {
		int tv_sec;
		int tv_usec;
	} sbh_timestamp; /* time of arrival */
};

#endif /* _SYS_BUFMOD_H */

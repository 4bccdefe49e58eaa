/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a packet begins with, for a caller of the engine that has to decide which
 * endpoint or association the packet is for.  Nothing changes.
 */
#ifndef DRV_SCTP_PEEK_H
#define DRV_SCTP_PEEK_H

#include "engine.h"

/*
 * sctp_is_cookie_echo - may the packet make an association?
 * It has COOKIE ECHO as its first chunk, or as its second, behind AUTH.
 */
int sctp_is_cookie_echo(const struct sctp_packet *pkt);

/*
 * sctp_has_cookie - has a COOKIE ECHO a cookie of @ep, for its ports and tag?
 * Its age and its association are not looked at, nor is the checksum.
 */
int sctp_has_cookie(struct sctp_ep *ep, const struct sctp_packet *pkt);

/* sctp_is_abort - is ABORT the first chunk? */
int sctp_is_abort(const struct sctp_packet *pkt);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A reference to libstreams in the program itself.  Without one a linker with
 * the option --as-needed leaves libstreams out, if the program calls nothing but
 * sockets; then libstreams is behind the C library in the order of searches, and
 * does not see the program's calls.
 */
#include <stropts.h>

extern int (*const streams_sctp_needs)(int);
int (*const streams_sctp_needs)(int) = isastream;

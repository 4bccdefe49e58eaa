/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_errno and what it means in words.
 */
#include <stdio.h>
#include <unistd.h>
#include <sys/uio.h>

#include <xti.h>

#include "xti_impl.h"

static __thread int terrno;

STR_EXPORT int *
_t_errno(void)
{
	return &terrno;
}

/* XNS 5.2, t_error(): the texts are ours. */
STR_EXPORT const char *const t_errlist[] = {
	"No error",
	"Incorrect address format",
	"Incorrect option format",
	"Incorrect permissions",
	"Not a transport endpoint",
	"No address could be allocated",
	"Out of state",
	"Bad connection sequence number",
	"System error",
	"An event requires attention",
	"Illegal amount of data",
	"Buffer not large enough",
	"Flow control",
	"No data",
	"No disconnection waits",
	"No unit data error waits",
	"Bad flags",
	"No orderly release waits",
	"Not supported by the transport provider",
	"State is changing",
	"Unsupported structure type",
	"Invalid transport provider name",
	"Queue length is zero",
	"Address in use",
	"Outstanding connection indications",
	"Endpoints of different providers",
	"Accepting endpoint has a queue length",
	"Accepting endpoint has another address",
	"Queue of connection indications is full",
	"Protocol error",
};
STR_EXPORT const int t_nerr = sizeof(t_errlist) / sizeof(t_errlist[0]);

STR_EXPORT const char *
t_strerror(int errnum)
{
	static __thread char unknown[40];

	if (errnum >= 0 && errnum < t_nerr)
		return t_errlist[errnum];
	snprintf(unknown, sizeof(unknown), "%d: error unknown", errnum);
	return unknown;
}

STR_EXPORT int
t_error(const char *errmsg)
{
	int terr = terrno, err = errno;
	const char *part[6];
	struct iovec iov[6];
	char sys[128];
	int n = 0;

	if (errmsg != NULL && *errmsg != '\0') {
		part[n++] = errmsg;
		part[n++] = ": ";
	}
	part[n++] = t_strerror(terr);
	if (terr == TSYSERR) {
		part[n++] = ": ";
		part[n++] = strerror_r(err, sys, sizeof(sys));
	}
	part[n++] = "\n";
	for (int i = 0; i < n; i++) {
		iov[i].iov_base = (char *)(uintptr_t)part[i];
		iov[i].iov_len = strlen(part[i]);
	}
	if (writev(STDERR_FILENO, iov, n) < 0) {
		/* there is nobody to be told */
	}
	errno = err;
	terrno = terr;
	return 0;
}

STR_COLD int
xti_fail(int terr)
{
	terrno = terr;
	return -1;
}

STR_COLD int
xti_sys(int err)
{
	errno = err;
	terrno = TSYSERR;
	return -1;
}

STR_COLD int
xti_neg(long neg, int again)
{
	switch (neg) {
	case -EAGAIN:
		return xti_fail(again);
	case -EBADF:
	case -ENOSTR:
		return xti_fail(TBADF);
	case -ENOMSG:
		return xti_fail(TLOOK);
	default:
		return xti_sys((int)-neg);
	}
}

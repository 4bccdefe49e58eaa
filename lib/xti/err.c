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

/*
 * For an object that was compiled when t_errno was a variable, or that declares
 * it itself: the error of the last failed call of any thread.
 */
#undef t_errno
extern int t_errno;
STR_EXPORT int t_errno;

#define TEXT(s) ((char *)(uintptr_t)(s))

STR_EXPORT int *
_t_errno(void)
{
	return &terrno;
}

/*
 * XNS 5.2, t_error(): the texts are ours.  They are not changed; what they are
 * declared is what programs that declare them themselves have always written.
 */
STR_EXPORT char *t_errlist[] = {
	TEXT("No error"),
	TEXT("Incorrect address format"),
	TEXT("Incorrect option format"),
	TEXT("Incorrect permissions"),
	TEXT("Not a transport endpoint"),
	TEXT("No address could be allocated"),
	TEXT("Out of state"),
	TEXT("Bad connection sequence number"),
	TEXT("System error"),
	TEXT("An event requires attention"),
	TEXT("Illegal amount of data"),
	TEXT("Buffer not large enough"),
	TEXT("Flow control"),
	TEXT("No data"),
	TEXT("No disconnection waits"),
	TEXT("No unit data error waits"),
	TEXT("Bad flags"),
	TEXT("No orderly release waits"),
	TEXT("Not supported by the transport provider"),
	TEXT("State is changing"),
	TEXT("Unsupported structure type"),
	TEXT("Invalid transport provider name"),
	TEXT("Queue length is zero"),
	TEXT("Address in use"),
	TEXT("Outstanding connection indications"),
	TEXT("Endpoints of different providers"),
	TEXT("Accepting endpoint has a queue length"),
	TEXT("Accepting endpoint has another address"),
	TEXT("Queue of connection indications is full"),
	TEXT("Protocol error"),
};
STR_EXPORT int t_nerr = sizeof(t_errlist) / sizeof(t_errlist[0]);

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
		/* there is no one to be told */
	}
	errno = err;
	terrno = terr;
	return 0;
}

static void
set(int terr)
{
	terrno = terr;
	__atomic_store_n(&t_errno, terr, __ATOMIC_RELAXED);
}

STR_COLD int
xti_fail(int terr)
{
	set(terr);
	return -1;
}

STR_COLD int
xti_sys(int err)
{
	errno = err;
	set(TSYSERR);
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

/* ------------------------------------------------------- the caller's memory */

int
xti_in(void *to, const void *user, size_t len)
{
	return strm_copy(to, user, len) != 0 ? xti_sys(EFAULT) : 0;
}

int
xti_out(void *user, const void *from, size_t len)
{
	return strm_copy(user, from, len) != 0 ? xti_sys(EFAULT) : 0;
}

int
xti_inout(void *to, void *user, size_t len)
{
	return xti_in(to, user, len) < 0 ? -1 : xti_out(user, to, len);
}

#if defined(__x86_64__)
#pragma GCC visibility push(hidden)
extern const struct strm_guard __start_xti_guard[], __stop_xti_guard[];
#pragma GCC visibility pop

STR_CONSTRUCTOR static void
guard(void)
{
	strm_guard(__start_xti_guard,
		(size_t)(__stop_xti_guard - __start_xti_guard));
}
#endif

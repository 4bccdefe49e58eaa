/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * To be preloaded: a signal that comes when a program has decided to wait and
 * does not do so yet.  TAP_LATE names the call before which it comes, once.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>

static void
come(const char *call)
{
	const char *which = getenv("TAP_LATE");
	static volatile int come_already;

	/* not the daemon that it may start */
	if (which != NULL && strcmp(which, call) == 0 &&
		strcmp(program_invocation_short_name, "strtap") == 0 &&
		!come_already++)
		(void)raise(SIGTERM);
}

int
getmsg(int fd, struct strbuf *ctl, struct strbuf *data, int *flags)
{
	int (*real)(int, struct strbuf *, struct strbuf *, int *);

	*(void **)&real = dlsym(RTLD_NEXT, "getmsg");
	come("getmsg");
	return real(fd, ctl, data, flags);
}

int
ppoll(struct pollfd *p, nfds_t n, const struct timespec *ts,
	const sigset_t *mask)
{
	int (*real)(struct pollfd *, nfds_t, const struct timespec *,
		const sigset_t *);

	*(void **)&real = dlsym(RTLD_NEXT, "ppoll");
	come("ppoll");
	return real(p, n, ts, mask);
}

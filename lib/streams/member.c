/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * When a process becomes a member of a domain because of its descriptors.
 *
 * A process that is no member has its descriptors from the program before an
 * exec, or from recvmsg(2).  It joins when one of these is a Stream, and not
 * before: a program that only polls and reads files, terminals and sockets
 * costs the domain no slot, and no member waits for it.
 *
 * Looking.  The first call that may concern a Stream looks at all descriptors of
 * the process, recvmsg(2) at those that it has received, and no other call at
 * any.  A Stream's carrier is a socket of AF_UNIX whose cookie stands in the
 * directory of the domain.  The directory is read in the domain's file; see
 * host_peek().
 */
#include <sys/socket.h>

#include "call.h"
#include "user_impl.h"

#define HIGH 1023 /* where /proc does not tell which descriptors are open */

/* 0: not looked yet; 1: no Stream, or no way into its domain. */
static str_a32 looked;

bool
fd_carrier_like(int fd)
{
	int v = 0;
	socklen_t len = sizeof v;

	if (sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, &v, &len) !=
			0 ||
		v != AF_UNIX)
		return false;
	len = sizeof v;
	return sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &v, &len) ==
		       0 &&
	       (v == SOCK_STREAM || v == SOCK_DGRAM);
}

/* Is *@arg, a descriptor, a Stream of the domain whose file is @df? */
static bool
is_recorded(const struct host_file *df, void *arg)
{
	const int *fd = arg;
	struct host_carrier c;

	return fd_carrier_like(*fd) && host_carrier_id(*fd, &c) == 0 &&
		str_file_recorded(df, &c);
}

struct search {
	const struct host_file *df;
	bool told; /* by /proc */
};

/* A name in /proc/self/fd. */
static bool
is_stream_named(const char *name, void *arg)
{
	struct search *s = arg;
	int fd = 0;

	if (name[0] < '0' || name[0] > '9')
		return false;
	s->told = true;
	for (; *name >= '0' && *name <= '9'; name++)
		fd = fd * 10 + (*name - '0');
	return is_recorded(s->df, &fd);
}

/* Is any descriptor of this process a Stream of the domain @df? */
static bool
any_recorded(const struct host_file *df, void *arg)
{
	struct search s = {df, false};
	bool found = host_dir_find("/proc/self/fd", is_stream_named, &s);

	(void)arg;
	for (int fd = 0; fd <= HIGH && !s.told && !found; fd++)
		found = is_recorded(df, &fd);
	return found;
}

bool
fd_possible(void)
{
	struct host_call hc = {.fd = -1};
	int err = errno;
	bool yes;

	if (str_likely(host_domain != NULL))
		return true;
	if (str_load(&looked) != 0)
		return false;
	yes = host_peek(any_recorded, NULL) && host_enter(&hc) == 0;
	if (yes)
		host_leave();
	else
		str_store(&looked, 1u);
	errno = err;
	return yes;
}

void
fd_possible_again(void)
{
	str_store(&looked, 0u);
}

void
fd_received(int fd)
{
	fd_forget(fd);
	if (host_domain == NULL && str_load(&looked) != 0 &&
	    host_peek(is_recorded, &fd))
		fd_possible_again();
}

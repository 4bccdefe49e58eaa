/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ports that stay free.
 *
 * What the kernel chose and was closed a moment ago may be anybody's by now,
 * and a socket that connects there can be given the very port it connects to.
 * A number outside the range from which the kernel chooses is taken only by
 * who asks for it: programs of the machine, which are asked about, and tests
 * like this one, each of which begins somewhere else.
 */
#include "t.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAST = 5000, MOST = 65535, TRIES = 2000 };

/* Numbers [*lo, *hi] that the kernel gives to no program. */
static void
range(unsigned int *lo, unsigned int *hi)
{
	unsigned int first = 32768, last = 60999;
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (f != NULL) {
		if (fscanf(f, "%u %u", &first, &last) != 2)
			first = 32768, last = 60999;
		(void)fclose(f);
	}
	*lo = LEAST;
	*hi = MOST;
	if (first > LEAST && first - LEAST >= MOST - last)
		*hi = first - 1;
	else if (last < MOST)
		*lo = last + 1;
	/* else all are the kernel's: there is nothing better */
}

/* Can it be had, on every address of this machine? */
static int
is_free(int family, int type, unsigned int port)
{
	struct sockaddr_in6 s6 = { .sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port) };
	struct sockaddr_in s4 = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	int fd = (int)syscall(SYS_socket, family, type | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		t_fail(__FILE__, __LINE__, "no socket to look for a port with");
	r = (int)syscall(SYS_bind, fd,
		family == AF_INET6 ? (void *)&s6 : (void *)&s4,
		family == AF_INET6 ? sizeof(s6) : sizeof(s4));
	(void)syscall(SYS_close, fd);
	return r == 0;
}

int
t_port(int family, int type)
{
	static _Atomic uint64_t turns; /* threads look, too */
	unsigned int lo, hi, i, port;
	uint64_t state = t_now_ns() ^ (uint64_t)getpid() << 40 ^ turns++ << 32;

	range(&lo, &hi);
	for (i = 0; i < TRIES; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		port = lo + (unsigned int)(state >> 33) % (hi - lo + 1);
		if (is_free(family, type, port))
			return (int)port;
	}
	t_fail(__FILE__, __LINE__, "no port is free in [%u, %u]", lo, hi);
}

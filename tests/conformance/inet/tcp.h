/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the files of inet-tcp share: the device and the address of each target,
 * listeners and plain sockets.
 */
#ifndef TCP_H
#define TCP_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

#include "in.h"

static inline int
family(void)
{
	return strcmp(t_target(), "ipv6") == 0 ? AF_INET6 : AF_INET;
}

static inline const char *
dev(void)
{
	return family() == AF_INET6 ? "/dev/tcp6" : "/dev/tcp";
}

static inline const char *
home(void)
{
	return family() == AF_INET6 ? "::1" : "127.0.0.1";
}

/* How much is sent where it matters: INET_MB, for the stress test. */
static inline uint64_t
megabytes(unsigned every_day)
{
	const char *mb = getenv("INET_MB");

	return (mb != NULL ? strtoull(mb, NULL, 10) : every_day) << 20;
}

/* An endpoint that listens, and where. */
static inline int
listener(unsigned qlen, struct sockaddr_storage *ss, socklen_t *len)
{
	int fd = in_open(dev());

	*len = in_addr(ss, family(), home(), 0);
	((struct sockaddr_in *)ss)->sin_port =
		htons((uint16_t)in_bind(fd, ss, *len, qlen));
	return fd;
}

/* A plain socket on its way to @ss. */
static inline int
call(const struct sockaddr_storage *ss, socklen_t len)
{
	int s = in_sock(family(), SOCK_STREAM);

	T_OK(connect(s, (const struct sockaddr *)ss, len));
	return s;
}

/* Read until the end; what the last read gave, 0 or minus an errno. */
static inline int
drain(int s)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(s, buf, sizeof(buf))) > 0)
		;
	return n < 0 ? -errno : 0;
}

/* @n bytes from @from on, as messages of all sizes. */
static inline void
send_bytes(int fd, uint64_t from, uint64_t n, size_t most)
{
	static unsigned char buf[65536];
	uint64_t at = from;

	while (at < from + n) {
		size_t k = 1 + t_rand_below(most), i;

		if (k > from + n - at)
			k = (size_t)(from + n - at);
		for (i = 0; i < k; i++)
			buf[i] = in_byte(at + i);
		in_put(fd, NULL, 0, buf, (int)k, 0);
		at += k;
	}
}

/* What @s gets from @at on, up to the end; how many. */
static inline uint64_t
check_bytes(int s, uint64_t at)
{
	static unsigned char buf[100000];
	ssize_t n, i;

	while ((n = T_OK(read(s, buf, 1 + t_rand_below(sizeof(buf))))) > 0)
		for (i = 0; i < n; i++, at++)
			if (buf[i] != in_byte(at))
				T_FAIL("byte %llu is wrong",
					(unsigned long long)at);
	return at;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * wordtry - talk network order through a module of Solaris, and ask it what
 * it has done by ioctl commands that say how long their argument is.
 */
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>
#include <sys/byteorder.h>
#include <sys/mkdev.h>

#include "kit/netord.h"

#define	CHECK(x) \
	do { \
		if (!(x)) { \
			printf("line %d: %s\n", __LINE__, #x); \
			return (1); \
		} \
	} while (0)

int
main(void)
{
	struct netord_stat	ns;
	unsigned int		w[3];
	int			fd[2], on = 1, off = 0;

	CHECK(BSWAP_16(0x0102) == 0x0201);
	CHECK(BSWAP_32(0x01020304) == 0x04030201);
	CHECK(BSWAP_64(0x0102030405060708UL) == 0x0807060504030201UL);
	CHECK(BSWAP_32(0xf1f2f3f4u) == 0xf4f3f2f1u);
	CHECK(BSWAP_64(0xf1f2f3f4f5f6f7f8UL) == 0xf8f7f6f5f4f3f2f1UL);
	CHECK(BE_16(0x1234) == htons(0x1234));
	CHECK(BE_32(0x92345678u) == htonl(0x92345678u));
	CHECK(LE_32(BE_32(7u)) == BSWAP_32(7u));
	CHECK(LE_64(BE_64(7UL)) == BSWAP_64(7UL));
	CHECK(LE_16(BE_16(7)) == BSWAP_16(7) && BE_8(7) == LE_8(7));
	CHECK(major(makedev(7, 9)) == 7 && minor(makedev(7, 9)) == 9);

	CHECK(pipe(fd) == 0);
	CHECK(ioctl(fd[0], I_PUSH, "netord") == 0);
	w[0] = 1, w[1] = 0x80000000u;
	CHECK(write(fd[0], w, 8) == 8);
	CHECK(read(fd[1], w, sizeof (w)) == 8);
	CHECK(w[0] == htonl(1) && w[1] == htonl(0x80000000u));
	CHECK(write(fd[1], w, 8) == 8);
	CHECK(read(fd[0], w, sizeof (w)) == 8);
	CHECK(w[0] == 1 && w[1] == 0x80000000u);
	memset(&ns, 0xff, sizeof (ns));
	CHECK(ioctl(fd[0], NO_STAT, &ns) == 0);
	CHECK(ns.ns_words == 4 && ns.ns_queued == 0);

	CHECK(ioctl(fd[0], NO_HOLD, &on) == 0);
	CHECK(write(fd[1], w, 8) == 8);
	CHECK(write(fd[1], w, 8) == 8);
	CHECK(ioctl(fd[0], NO_STAT, &ns) == 0);
	CHECK(ns.ns_words == 4 && ns.ns_queued == 2);
	CHECK(ioctl(fd[0], NO_HOLD, &off) == 0);
	CHECK(read(fd[0], w, 4) == 4 && w[0] == htonl(1));
	CHECK(read(fd[0], w, 12) == 12);
	CHECK(w[0] == htonl(0x80000000u) && w[1] == htonl(1) && w[2] == w[0]);
	CHECK(ioctl(fd[0], NO_STAT, &ns) == 0);
	CHECK(ns.ns_words == 8 && ns.ns_queued == 0);
	CHECK(ioctl(fd[0], I_POP, 0) == 0);
	return (0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * daytime - asks daytimed, or any daytime server, for the time.
 *
 *	daytime NETID UADDR
 *
 *	cc daytime.c $(pkg-config --cflags --libs fast-streams-xti)
 */
#include <netconfig.h>
#include <netdir.h>
#include <stdio.h>
#include <string.h>
#include <xti.h>

int
main(int argc, char **argv)
{
	struct netconfig *nc = argc == 3 ? getnetconfigent(argv[1]) : NULL;
	struct t_call call = {.sequence = 0};
	struct netbuf *addr;
	int fd, flags, n;
	char buf[128];

	addr = nc != NULL ? uaddr2taddr(nc, argv[2]) : NULL;
	if (addr == NULL) {
		fprintf(stderr, "usage: daytime NETID UADDR\n");
		return 2;
	}
	call.addr = *addr;
	fd = t_open(nc->nc_device, O_RDWR, NULL);
	if (fd < 0 || t_bind(fd, NULL, NULL) < 0) {
		t_error(nc->nc_device);
		return 1;
	}
	if (t_connect(fd, &call, NULL) < 0) {
		t_error("t_connect");
		return 1;
	}
	do {
		n = t_rcv(fd, buf, sizeof(buf), &flags);
		if (n > 0)
			fwrite(buf, 1, (size_t)n, stdout);
	} while (n > 0 && memchr(buf, '\n', (size_t)n) == NULL);
	if (n < 0 && t_errno != TLOOK)
		t_error("t_rcv");
	if (n < 0 && t_look(fd) == T_ORDREL)
		t_rcvrel(fd);
	/* the line is all there is: no more is expected */
	if (t_sndrel(fd) < 0)
		t_snddis(fd, NULL);
	t_close(fd);
	return n < 0;
}

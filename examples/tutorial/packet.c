/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * packet - an endpoint of udp2 that sends a datagram to itself.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>
#include <xti.h>

int
main(void)
{
	struct sockaddr_in me = {.sin_family = AF_INET};
	struct t_bind req = {.qlen = 0}, got = {.qlen = 0};
	struct t_unitdata ud = {.udata = {.len = 5, .buf = "hello"}};
	int fd = t_open("/dev/udp2", O_RDWR, NULL), flags;
	char text[16];

	me.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	req.addr.len = sizeof(me);
	req.addr.buf = &me;
	got.addr.maxlen = sizeof(me);
	got.addr.buf = &me;
	if (fd < 0 || t_bind(fd, &req, &got) < 0) {
		t_error("udp2");
		return 1;
	}
	ud.addr = got.addr;
	if (t_sndudata(fd, &ud) < 0) {
		t_error("t_sndudata");
		return 1;
	}
	ud.addr.maxlen = sizeof(me);
	ud.udata.maxlen = sizeof(text);
	ud.udata.buf = text;
	if (t_rcvudata(fd, &ud, &flags) < 0) {
		t_error("t_rcvudata");
		return 1;
	}
	printf("received: %.*s\n", (int)ud.udata.len, text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* See ends.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <unistd.h>
#include <xti.h>

#include "ends.h"

#define DEVICE "/dev/ticotsord"

static int
must(int ret, const char *what)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s fails: errno %m, t_errno %d\n", what, t_errno);
	exit(1);
}

/* Needs no harness: it serves C++ as well. */
#define MUST(call) must(call, #call)

static int
endpoint(int flags)
{
	return MUST(t_open(DEVICE, O_RDWR | flags, NULL));
}

static void
connection(int fd[2])
{
	char name[] = "linking";
	struct t_bind bind = {
		.addr = {.len = sizeof name, .maxlen = sizeof name, .buf = name},
		.qlen = 1,
	};
	struct t_call call = {
		.addr = {.len = sizeof name, .maxlen = sizeof name, .buf = name},
	};
	struct t_call got;
	char buf[64];
	int server = endpoint(0);

	MUST(t_bind(server, &bind, NULL));
	fd[0] = endpoint(O_NONBLOCK);
	MUST(t_bind(fd[0], NULL, NULL));
	if (t_connect(fd[0], &call, NULL) != -1 || t_errno != TNODATA)
		MUST(-1);
	memset(&got, 0, sizeof got);
	got.addr.buf = buf;
	got.addr.maxlen = sizeof buf;
	MUST(t_listen(server, &got));
	fd[1] = endpoint(0);
	MUST(t_accept(server, fd[1], &got));
	MUST(fcntl(fd[0], F_SETFL, 0));
	MUST(t_rcvconnect(fd[0], NULL));
	MUST(t_close(server));
	for (int i = 0; i < 2; i++)
		MUST(ioctl(fd[i], I_PUSH, "tirdwr"));
}

void
ends_open(const char *what, int fd[2])
{
	if (strcmp(what, "pipe") == 0)
		MUST(pipe(fd));
	else
		connection(fd);
	for (int i = 0; i < 2; i++)
		if (isastream(fd[i]) != 1)
			MUST(-1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data that a driver gathers before it sends it: its order, and T_PUSH.
 */
#include "xt.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <xti_inet.h>

/* A provider that has no use for the options sends the data in its turn. */
XT_CASE(CO, data_with_options_follows_data)
{
	struct option o = {.h = {.len = sizeof(o.h) + sizeof(o.v[0]),
		.level = INET_TCP, .name = T_TCP_NODELAY}};
	struct t_optmgmt om = {.opt = {.len = o.h.len, .buf = &o}};
	char buf[8];
	int fd[2];

	if (xt->whole)
		T_SKIP("it has use for options");
	xt_pair(fd);
	for (int i = 0; i < 100; i++) {
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ab", 2, 0)), 2);
		T_EQ(T_TOK(t_snd(fd[0], (char *)"c", 1, 0)), 1);
		T_EQ(T_TOK(t_sndopt(fd[0], &om, (char *)"d", 1, 0)), 1);
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ef", 2, 0)), 2);
		xt_rcv_all(fd[1], buf, 6);
		T_MEM(buf, "abcdef", 6);
	}
}

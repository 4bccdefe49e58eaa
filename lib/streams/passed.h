/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Ends of pipes that sendmsg() passes to any process; see passed.c.
 *
 * pass_begin - before @umsg is sent.  Return: the message to send instead.
 * pass_end - after it has been sent, or not.
 * pass_as_it_is - before @umsg is sent; the descriptors of PLAIN pipes are not
 * replaced
 * Context: errno is preserved.
 */
#ifndef STREAMS_PASSED_H
#define STREAMS_PASSED_H

#include <stdbool.h>
#include <sys/socket.h>

#define PASS_MOST 253 /* descriptors in a message, as the kernel limits them */

struct passed {
	struct msghdr m;
	int end[PASS_MOST]; /* of kernel's pipes */
	unsigned n;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(PASS_MOST * sizeof(int)) + 128];
	} control;
};

const struct msghdr *pass_begin(struct passed *p, const struct msghdr *umsg);
void pass_end(struct passed *p);
void pass_as_it_is(const struct msghdr *umsg);

#endif

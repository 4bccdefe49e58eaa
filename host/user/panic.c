/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Panic: a message, and the end of the process.  A thread that panics may hold
 * locks: others find their owner dead and repair.
 */
#include <stdio.h>
#include <string.h>

#include "user_impl.h"

void
host_log(int level, const char *text)
{
	size_t len = strlen(text);

	(void)sys_write(2, text, len);
	/* SVR4: CE_CONT, 0, is a part of a line */
	if (level != 0 && (len == 0 || text[len - 1] != '\n'))
		(void)sys_write(2, "\n", 1);
}

void
host_panic(const char *what, const char *file, int line)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	uint64_t abrt = 1ull << (SIGABRT - 1);
	char buf[256];
	int n;

	n = snprintf(buf, sizeof buf, "streams: panic: %s (%s:%d, pid %d)\n",
		what, file, line, sys_getpid());
	n = STR_MIN(n, (int)sizeof buf - 1);
	(void)sys_write(2, buf, (size_t)n);
	/* not abort(): no handler of the program must run */
	host_tls.depth = 0;
	(void)host_sigaction(SIGABRT, &dfl, NULL);
	sys_sigmask(SIG_UNBLOCK, &abrt, NULL);
	(void)sys_call3(SYS_tgkill, sys_getpid(), sys_gettid(), SIGABRT);
	for (;;)
		(void)sys_call2(SYS_kill, sys_getpid(), SIGKILL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Crash points: STREAMS_CRASH=label or label:N kills the process at its Nth
 * passage of the place so labelled (the first without N), as SIGKILL would
 * at any moment.
 */
#include <stdlib.h>
#include <string.h>

#include "user_impl.h"

void
host_crash_point(const char *label)
{
	static str_a32 left;
	const char *env = getenv("STREAMS_CRASH");
	size_t len = strlen(label);
	uint32_t n;

	if (env == NULL || strncmp(env, label, len) != 0 ||
	    (env[len] != '\0' && env[len] != ':'))
		return;
	n = env[len] == ':' ? (uint32_t)atoi(env + len + 1) : 1;
	if (str_add(&left, 1u) + 1 < n)
		return;
	(void)sys_call2(SYS_kill, sys_getpid(), SIGKILL);
	for (;;)
		host_yield();
}

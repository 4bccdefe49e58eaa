/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Crash points: STREAMS_CRASH=label or label:N kills the process at its Nth
 * passage of the place so labelled (the first without N), as SIGKILL would
 * at any moment.
 *
 * STREAMS_DELAY=label:MS stops each thread there for so long, as a busy
 * machine would: what others do meanwhile is what they do in between.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user_impl.h"

/* The number behind @label in @env, @none without one; -1: another label. */
static int
number_of(const char *env, const char *label, int none)
{
	size_t len = strlen(label);

	if (env == NULL || strncmp(env, label, len) != 0 ||
	    (env[len] != '\0' && env[len] != ':'))
		return -1;
	return env[len] == ':' ? atoi(env + len + 1) : none;
}

static void
delay(int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000l};

	while (sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, &ts) ==
		-EINTR)
		;
}

void
host_crash_point(const char *label)
{
	static str_a32 passed;
	int n = number_of(getenv("STREAMS_DELAY"), label, 1);

	if (n > 0)
		delay(n);
	n = number_of(getenv("STREAMS_CRASH"), label, 1);
	if (n < 0 || str_add(&passed, 1u) + 1 < (uint32_t)n)
		return;
	(void)sys_call2(SYS_kill, sys_getpid(), SIGKILL);
	for (;;)
		host_yield();
}

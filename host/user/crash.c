/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Crash points: STREAMS_CRASH=label or label:N kills the process at its Nth
 * passage of the place so labelled (the first without N), as SIGKILL would
 * at any moment.
 *
 * STREAMS_DELAY=label:MS stops each thread there for so long, as a busy
 * machine would: what others do meanwhile is what they do in between.
 *
 * Environment.  A test sets these while threads of ours run.  They are there
 * from the start, so that setting one is the store of a pointer; and a test
 * that has such threads says that there is none by an empty one, for taking
 * one out would have the next put in anew, and the list be moved.
 */
#include <stdlib.h>
#include <time.h>

#include "user_impl.h"

/*
 * The number behind @label in @env, @none without one; -1: another label.
 * A test may have set it while a thread of ours runs.
 */
STR_RACY static int
number_of(const char *env, const char *label, int none)
{
	int n = 0;

	if (env == NULL)
		return -1;
	for (; *label != '\0'; env++, label++)
		if (*env != *label)
			return -1;
	if (*env == '\0')
		return none;
	if (*env != ':')
		return -1;
	for (env++; *env >= '0' && *env <= '9'; env++)
		n = n * 10 + (*env - '0');
	return n;
}

#ifdef STR_CRASH_POINTS
STR_CONSTRUCTOR static void
be_there(void)
{
	static const char *const names[] = { "STREAMS_CRASH", "STREAMS_DELAY",
		"STREAMS_DAEMON_CRASH" };

	for (size_t i = 0; i < STR_ARRAY_LEN(names); i++)
		(void)setenv(names[i], "", 0);
}

/* What @name says, into @buf.  False: nothing, or too much. */
STR_RACY bool
host_crash_env(const char *name, char *buf, size_t size)
{
	const char *env = getenv(name);
	size_t n = 0;

	if (env == NULL || env[0] == '\0')
		return false;
	while (n < size && (buf[n] = env[n]) != '\0')
		n++;
	return n < size;
}
#endif

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

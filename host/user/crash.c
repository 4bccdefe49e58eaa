/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Crash points: STREAMS_CRASH=label or label:N kills the process when it passes
 * the place with that label for the Nth time (without N the first time), as
 * SIGKILL may at any moment.
 *
 * STREAMS_DELAY=label:MS delays each thread there for MS milliseconds, as a
 * busy machine may, so that other threads run in between.
 *
 * Environment.  A test sets these variables while threads of ours run.  They
 * exist from the start, so that setting one only stores a pointer.  To end one,
 * such a test sets it to the empty string: if it were removed, the next setting
 * would move the list.
 */
#include <stdlib.h>
#include <time.h>

#include "user_impl.h"

/*
 * The number behind @label in @env; @none if there is none; -1: another label.
 * A test may set it while a thread of ours runs.
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

/* Copy the value of @name to @buf.  False: unset, or too long. */
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#include "perftest.h"

#include <sys/time.h>

#define REMIND_US 20000

volatile sig_atomic_t perftest_timed_out;
volatile sig_atomic_t perftest_hung_up;

static void
note_signal(int signo)
{
	if (signo == SIGALRM)
		perftest_timed_out = 1;
	else if (signo == SIGPIPE || signo == SIGHUP)
		perftest_hung_up = 1;
}

int
perftest_signals(void)
{
	static const int signals[] = {
		SIGALRM,
		SIGPOLL,
		SIGURG,
		SIGPIPE,
		SIGHUP,
	};
	/* No SA_RESTART: every blocked call has to come back with EINTR. */
	struct sigaction action = {.sa_handler = note_signal};

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (sigaction(signals[i], &action, NULL) != 0)
			return -1;
	}
	return 0;
}

int
perftest_timer_arm(double seconds)
{
	struct itimerval timer = {
		.it_interval.tv_usec = REMIND_US,
		.it_value.tv_sec = (time_t)seconds,
	};

	timer.it_value.tv_usec =
		(suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
	perftest_timed_out = 0;
	return setitimer(ITIMER_REAL, &timer, NULL);
}

void
perftest_timer_disarm(void)
{
	static const struct itimerval none;

	(void)setitimer(ITIMER_REAL, &none, NULL);
}

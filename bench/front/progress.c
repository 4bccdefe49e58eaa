/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * One line that is written over and over on a terminal; elsewhere (a log) a
 * line whenever another suite or mode begins.
 */
#include "strbench.h"

#include <stdio.h>
#include <unistd.h>

static double total_seconds;
static int on_terminal;
static int line_open;
static int last_suite;
static const char *last_what;

void
progress_begin(double seconds)
{
	total_seconds = seconds;
	on_terminal = isatty(STDERR_FILENO);
	last_suite = -1;
	last_what = NULL;
	(void)fprintf(stderr, "strbench: this takes about %.0f s\n", seconds);
}

static const char *
what(const struct task *task)
{
	if (task->question != NULL)
		return "each mode in turn";
	return task->after_pause ? "after a pause" : mode_names[task->mode];
}

void
progress_show(const struct task *task, double seconds_left)
{
	int left = seconds_left < 0 ? 0 : (int)(seconds_left + 0.5);
	int percent = total_seconds <= 0
			      ? 100
			      : (int)(100 * (1 - (double)left / total_seconds));

	if (percent < 0)
		percent = 0;
	if (on_terminal) {
		(void)fprintf(stderr, "\r\033[K%3d %%  %d:%02d left  %s, %s",
			percent, left / 60, left % 60, suite_names[task->suite],
			what(task));
		if (task->question != NULL)
			(void)fprintf(stderr, ", %s, %s", task->question->name,
				task->implementation->name);
		else if (!task->after_pause)
			(void)fprintf(stderr, ", %ld bytes, %s", task->size,
				task->implementation->name);
		(void)fflush(stderr);
		line_open = 1;
	} else if ((int)task->suite != last_suite || what(task) != last_what) {
		(void)fprintf(stderr, "strbench: %3d %%, %s, %s\n", percent,
			suite_names[task->suite], what(task));
		last_suite = (int)task->suite;
		last_what = what(task);
	}
}

void
progress_end(void)
{
	if (line_open)
		(void)fputs("\r\033[K", stderr);
	line_open = 0;
}

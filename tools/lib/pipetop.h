/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#ifndef TOOLS_PIPETOP_H
#define TOOLS_PIPETOP_H

#include "carried.h"
#include "tool.h"

/* What is known of the pipes under all strruns. */
struct pipetop {
	struct ends ends;
	struct carried *v; /* the areas */
	size_t n;
	struct pipetop_rate *before; /* what the pipes had carried */
	size_t nbefore;
	double at, before_at;	     /* s */
};

/**
 * pipetop_take - look at the pipes of programs under strrun
 * @t:   {0} at first; may hold an earlier look; pipetop_free() releases it
 * @pid: only of strruns with these process IDs, or above these processes, NULL at
 *       the end; or NULL
 * Return: 0, or -1 and errno.
 */
int pipetop_take(struct pipetop *t, char *const *pid);
/* Show them: calls @line for each line; false from it ends that. */
void pipetop_show(struct pipetop *t, bool (*line)(void *arg, const char *text),
	void *arg);
/* An array of the strruns, as the member "strruns". */
void pipetop_dump(struct json *j, const struct pipetop *t);
void pipetop_free(struct pipetop *t);

#endif

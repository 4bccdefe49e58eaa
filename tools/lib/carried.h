/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The pipes of the programs under a strrun(1), as another process sees them: the
 * area of strrun (lib/run/area.h), and the ends of pipes in /proc.
 *
 * The kernel lets a process look at these only if it has the same user, or is
 * root.  What the programs have written into the area may be wrong: nothing in
 * it is used without a check.
 */
#ifndef TOOLS_CARRIED_H
#define TOOLS_CARRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

/* The area of one strrun, without the rings. */
struct carried {
	struct run_area *area;
	int fd;		 /* of the area's file */
	unsigned strrun; /* pid */
	unsigned key;
};

enum carried_found {
	CARRIED_FOUND,
	CARRIED_NONE,	/* the process is not under a strrun that still runs */
	CARRIED_ERROR	/* errno: it cannot be looked at */
};

/**
 * carried_open - map the area of the strrun above a process
 * @c:      the area; carried_close() releases it
 * @pid:    the process
 * @writes: also for requests
 */
enum carried_found carried_open(struct carried *c, long pid, bool writes);
void carried_close(struct carried *c);
/* The record of the pipe with inode @id; NULL: there is none. */
struct run_pipe *carried_pipe(const struct carried *c, uint64_t id);

/* One descriptor of a pipe. */
struct end {
	uint64_t id; /* inode of the pipe */
	long pid;
	int fd;
	bool reads, writes;
};

struct ends {
	struct end *v;
	size_t n, size;
};

/**
 * ends_take - find the descriptors of pipes of all processes
 * @e:  the descriptors; may hold earlier ones; ends_free() releases them
 * @id: of this pipe only; 0: of all
 * Return: 0, or -1 and errno.
 */
int ends_take(struct ends *e, uint64_t id);
void ends_free(struct ends *e);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipes that a program outside the domain gets from posix_spawn() and functions
 * that start one by it; see spawned.c.
 *
 * spawn_begin - before the program @path starts, looked for in PATH if @search
 * is true, with the file actions @fa, or NULL, and the environment @envp.
 * s->fa: the file actions to use instead.
 * spawn_end - after it has been started, or not.
 * spawn_closes_domain - does @fa close the descriptor of a private domain?  Then
 * the program is outside of it, even if it is linked with the library.
 * Context: no malloc().  errno is preserved.
 */
#ifndef STREAMS_SPAWNED_H
#define STREAMS_SPAWNED_H

#include <spawn.h>
#include <stdbool.h>

#define SPAWN_ENDS 32
#define SPAWN_ACTIONS 128

/* Layout of the C library, whose header declares only the array. */
struct spawn_action {
	int tag; /* SPAWN_* */
	union {
		int fd; /* close, dup2, open */
		struct {
			int fd, newfd;
		} dup2;
		struct {
			int fd;
			char *path;
			int oflag;
			mode_t mode;
		} open;
	} u;
};

struct spawn_ends {
	const posix_spawn_file_actions_t *fa;
	posix_spawn_file_actions_t copy;
	struct {
		int from; /* the caller's descriptor */
		int end;  /* of the kernel's pipe, instead */
	} e[SPAWN_ENDS];
	int n;
	struct spawn_action action[SPAWN_ACTIONS];
};

void spawn_begin(struct spawn_ends *s, const char *path, bool search,
	const posix_spawn_file_actions_t *fa, char *const *envp);
void spawn_end(struct spawn_ends *s);
bool spawn_closes_domain(const posix_spawn_file_actions_t *fa);

#endif

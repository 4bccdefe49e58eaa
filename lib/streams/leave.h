/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipes that a program outside the domain gets as its standard input, output or
 * error.  Called before the program is started; see leave.c.
 *
 * @path: the program, looked for in PATH when @search is true.
 * @envp: its environment.  For unreadable memory the kernel returns the error.
 * @fa: the file actions of posix_spawn(), or NULL.
 * Context: between fork and exec too; no malloc(). errno is preserved.
 */
#ifndef STREAMS_LEAVE_H
#define STREAMS_LEAVE_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/socket.h>

void leave_exec(const char *path, bool search, char *const *envp);
void leave_fexec(int fd, char *const *envp);
void leave_spawn(const char *path, bool search,
	const posix_spawn_file_actions_t *fa, char *const *envp);
/* Does @fa close the descriptor of a private domain?  Then the program is
 * outside of it, even if it is linked with the library. */
bool leave_closes_domain(const posix_spawn_file_actions_t *fa);
/*
 * ... the same for those that sendmsg() is about to pass in @umsg, to any
 * process.
 */
void leave_pass(const struct msghdr *umsg);

#endif

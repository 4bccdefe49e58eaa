/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pipes that a program outside the domain gets as its standard input, output or
 * error.  Called before the program is started; see leave.c.
 *
 * @path: the program, looked for in PATH when @search is true.
 * @envp: its environment.  For unreadable memory the kernel returns the error.
 * Context: between fork and exec too; no malloc(). errno is preserved.
 */
#ifndef STREAMS_LEAVE_H
#define STREAMS_LEAVE_H

#include <spawn.h>
#include <stdbool.h>

void leave_exec(const char *path, bool search, char *const *envp);
void leave_fexec(int fd, char *const *envp);

/*
 * Parts for those that start a program in another way.
 * leave_is_member - will the program @path be a member of a domain?
 * leave_inherits - does a program that is started now get @fd?
 * leave_pipe_at - the record of @fd, if it is an end of a pipe; or NULL.
 * leave_any - does it get an end under a number of @from or above?
 * leave_directions - a pipe of the kernel has one direction.  If one of the
 * program's standard files, @rec, is an end in the other, the end's pipe will
 * not become PLAIN, and the program gets a socket, which has both.
 * leave_end - data passes through the carrier under @fd from now on; @used: it
 * is a standard file.  Return: must the other end's holder still send data?
 */
struct fd_rec;
bool leave_is_member(const char *path, bool search, char *const *envp);
bool leave_inherits(int fd);
struct fd_rec *leave_pipe_at(int fd);
bool leave_any(int from);
void leave_directions(struct fd_rec *const rec[3]);
bool leave_end(int fd, bool used);

#endif

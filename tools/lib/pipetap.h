/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#ifndef TOOLS_PIPETAP_H
#define TOOLS_PIPETAP_H

#include <stdio.h>

#include "insert.h"

/**
 * pipe_tap - copy what flows in a pipe between programs under strrun
 * @in:    as insert_pipe() needs it
 * @pid:   a process that holds the pipe
 * @fd:    its descriptor
 * @out:   gets the copy
 * @count: bytes to be copied; 0: all, until *@in->asked_to_end
 * Return: the number of bytes copied.  Does not return if the pipe cannot be
 * tapped.
 */
uint64_t pipe_tap(struct insert *in, long pid, long fd, FILE *out,
	uint64_t count);

#endif

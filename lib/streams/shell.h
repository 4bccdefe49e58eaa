/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * shell_close - pclose(@f), if our popen() has started its command.
 * Return: true, with the result of pclose(); false: it is the C library's.
 */
#ifndef STREAMS_SHELL_H
#define STREAMS_SHELL_H

#include <stdbool.h>
#include <stdio.h>

bool shell_close(FILE *f, int *ret_status);

#endif

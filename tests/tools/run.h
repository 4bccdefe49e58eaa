/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Running a tool in the domain of the case, and what it said.
 */
#ifndef TESTS_TOOLS_RUN_H
#define TESTS_TOOLS_RUN_H

#include <stdbool.h>
#include <sys/types.h>

/* Standard output and standard error of the last tool. */
extern char out_text[1 << 18], err_text[8192];

/*
 * run - run a tool with @in as its standard input (-1: /dev/null)
 * @argv: NULL-terminated, the tool's name first.  Return: its exit status.
 */
int run_argv(int in, const char *const *argv);
#define RUN(in, ...) \
	run_argv(in, (const char *const[]){ __VA_ARGS__, NULL })

/* The same without waiting: output to the file @path. */
pid_t start_argv(int in, const char *path, const char *const *argv);
/* Send a signal and wait; the exit status. */
int stop(pid_t pid, int sig);

/* Is out_text good JSON, for which the Python expression @expr of the value
 * `v' is true? */
bool json_says(const char *expr);
/* The same of a file. */
bool file_has(const char *path, const char *text);
/* A file of this case's own; removed when it ends. */
const char *temp(const char *name);
void write_file(const char *path, const char *text);

#endif

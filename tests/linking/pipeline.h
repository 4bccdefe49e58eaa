/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Rows that run twice, with the kernel's pipes and with ours, and must observe
 * the same.
 */
#ifndef TESTS_LINKING_PIPELINE_H
#define TESTS_LINKING_PIPELINE_H

#include <stdlib.h>
#include <sys/types.h>

#include "t.h"

/* A case whose body makes its pipes by mk(), and notes what it observes. */
#define ROW(name)			\
	static void row_##name(void);	\
	T_CASE_TIMEOUT(name, 60)	\
	{				\
		same(row_##name);	\
	}				\
	static void			\
	row_##name(void)

#define ARGS(...) (const char *const[]){__VA_ARGS__, NULL}
#define SH(text) ARGS("/bin/sh", "-c", text)
#define PROG(...) ARGS(getenv("PLAINPROG"), __VA_ARGS__)
#define SHUT(...) (const int[]){__VA_ARGS__, -1}

void same(void (*row)(void));
void note(const char *fmt, ...) T_PRINTF(1, 2);
void mk(int p[2]);
void nap(unsigned ms);

/*
 * run - start @argv by fork, dup2 and exec, with @in and @out (-1: its own); the
 * child closes the descriptors of @shut, which ends with -1, first.
 * member - a child of this program that runs @fn.
 * status - wait for @pid, and note its status as that of @who.
 */
pid_t run(const char *const *argv, int in, int out, const int *shut);
pid_t member(void (*fn)(int), int arg, const int *shut);
void status(const char *who, pid_t pid);

/* The contents: write @n bytes; read to the end, and note count and sum. */
unsigned char byte_at(size_t i);
void put(int fd, size_t n);
void get(int fd);

#endif

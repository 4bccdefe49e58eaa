/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef TESTS_STRESS_LEFT_H
#define TESTS_STRESS_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * nothing_left - does the domain hold no stream, queue, message, file, link or
 * registration any more?  What it holds is said in @why.
 */
bool nothing_left(char *why, size_t size);

/* Writes the streams that the domain holds to stderr. */
void left_dump(void);

/* Runs the command that the variable @var holds, if any, with @pid behind. */
void left_call(const char *var, pid_t pid);

/* How long the caller has waited for a CPU, of schedstat's @fd; ns. */
uint64_t cpu_wait(int fd);

/* The same of process @pid; 0: it is gone. */
uint64_t cpu_waited(pid_t pid);

/* The number in the variable @name, else @value; from 1 to @most. */
unsigned env_number(const char *name, unsigned value, unsigned most);

/* The parent of @pid, 0 when it is gone; its name in @comm. */
pid_t parent_of(pid_t pid, char comm[32]);

/* How many streamsd there are whose parent is @parent; the last one's pid. */
int streamsd_of(pid_t parent, pid_t *ret_pid);

#endif

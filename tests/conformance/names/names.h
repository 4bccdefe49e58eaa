/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the cases about names, FIFOs and passed descriptors share: a directory
 * of their own, and children that do a thing and tell.
 */
#ifndef TESTS_NAMES_H
#define TESTS_NAMES_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

/* A path in a directory that goes with the case.  Static memory, 8 in turn. */
const char *n_path(const char *name);
/* The same, with an empty file there. */
const char *n_file(const char *name);

/* Run @fn(@arg) in a child; its pid. */
pid_t n_child(void (*fn)(void *arg), void *arg);
/* Wait for it; its exit status, 1000 + signal when one ended it. */
int n_wait(pid_t pid);

/* Is there something to read at @fd within @ms? */
bool n_readable(int fd, int ms);
/* Events that poll(2) reports at once. */
int n_events(int fd);

#endif

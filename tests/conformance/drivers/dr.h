/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the drivers' conformance tests share.
 */
#ifndef TESTS_CONFORMANCE_DRIVERS_DR_H
#define TESTS_CONFORMANCE_DRIVERS_DR_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

/* Open @path for reading and writing, without blocking. */
int dr_open(const char *path);

/* I_STR of @len bytes at @dp, which are both ways; the result of ioctl(2). */
int dr_str(int fd, int cmd, void *dp, int len);
int dr_str_int(int fd, int cmd, int val);

/* Send data, or a control part with data; NULL: no such part. */
int dr_put(int fd, const char *ctl, const char *data, int flags);

/* The next message on @fd, within two seconds, is exactly this. */
void dr_gets(int fd, const char *ctl, const char *data);

/* Nothing is to be read, and nothing will be within @ms. */
void dr_nothing(int fd, int ms);

/* The minor of the device. */
unsigned dr_minor(int fd);

#endif

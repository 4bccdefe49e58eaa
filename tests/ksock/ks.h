/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Kernel sockets below a driver: the driver is `wire', and at the other end of
 * each connection is a plain socket of the test.
 */
#ifndef KSOCK_KS_H
#define KSOCK_KS_H

#include <stdint.h>
#include <sys/types.h>

#include <t.h>
#include "wire.h"

#define WIRE "/dev/streams/clone/wire"
#define MUCH (16 << 20)

/* What the driver is told, and what it answers. */
int cmd(int fd, int c, int arg);
void answer(int fd, void *p, int n);

/* A plain socket that listens; *ret_port, which is free afterwards. */
int listener(int *ret_port);
/* A stream and the plain socket at its other end. */
void wired(int *ret_stream, int *ret_peer);

uint64_t now_ms(void);

void text(int fd, const char *s);
/* Exactly the bytes of @s. */
void expect(int fd, const char *s);

/* A process that runs @fn, and its good end. */
pid_t child(void (*fn)(int arg, int arg2), int arg, int arg2);
void reap(pid_t pid);

/* For children: "late" is written after so many milliseconds. */
void later(int fd, int ms);
/* @total bytes of a pattern are read, at first slowly, and written. */
void drain_slowly(int fd, int total);
void fill(int fd, int total);
/* What comes first goes back, here or from an image that is executed. */
void echo_once(int s, int arg);
void become(int s, int arg);

#endif

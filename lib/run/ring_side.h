/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * One side of a pipe for ring_test.c.  Each side is a library with variables of its
 * own, as two processes have them.  So two threads of one process can be the reader
 * and the writer, and the sanitizers see what both do to the record and the ring.
 */
#ifndef RUN_RING_SIDE_H
#define RUN_RING_SIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "area.h"

struct ring_side {
	/* @fd is an end of a pipe; record 0 of @a and @ring are the pipe's. */
	void (*begin)(struct run_area *a, unsigned char *ring, int fd,
		bool writes);
	/* As read(2) and write(2) of libstrrun. */
	ssize_t (*read)(int fd, void *buf, size_t len);
	ssize_t (*write)(int fd, const void *buf, size_t len);
	/* As before another call: the kernel's pipe gets the data back. */
	void (*give_up)(void);
};

extern const struct ring_side ring_reader, ring_writer;

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include <stddef.h>
#include <sys/types.h>

/*
 * A byte ring in shared memory for one producing and one consuming process;
 * ring.c explains it.  Created before fork(), inherited by both.
 */
struct ring;

#define RING_BYTES (1u << 20)

/* NULL and errno when there is no memory. */
struct ring *ring_create(void);
void ring_destroy(struct ring *ring);

enum ring_role { RING_PRODUCER, RING_CONSUMER };

/*
 * Once in each process that will produce or consume, before it does and
 * where it will run.  Returns 0 or a positive errno.
 */
int ring_attach(struct ring *ring, enum ring_role role);

/* Blocks until all n bytes (at most half of the ring) fit; returns n. */
size_t ring_write(struct ring *ring, const void *buf, size_t n);

/*
 * Blocks until there is a byte and returns up to n of them, 0 at the end:
 * empty and closed by the producer.
 */
size_t ring_read(struct ring *ring, void *buf, size_t n);

/* The producer is done.  Wakes the consumer. */
void ring_close(struct ring *ring);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef WORKER_FAMILY_H
#define WORKER_FAMILY_H

#include <stdint.h>

/*
 * The CPU time of all processes of a measurement: the worker, the processes
 * that it has forked, and the streamsd of its domain.
 */

/*
 * To be called before the first stream is made: from here on a streamsd that
 * is started by the worker or by a child of it becomes a child of the worker.
 */
void family_adopt(void);

/* Between two calls of one pair the looking itself is not counted. */
uint64_t family_cpu_begin(void);
uint64_t family_cpu_end(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Exit statuses of worker.c, from good to bad.
 */
#ifndef TESTS_SANDBOX_WORKER_H
#define TESTS_SANDBOX_WORKER_H

enum { WORKS = 0, FAILED = 3, LOST = 4, WRONG = 5 };

#endif

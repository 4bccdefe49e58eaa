/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
#ifndef TESTS_STRESS_LEFT_H
#define TESTS_STRESS_LEFT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * nothing_left - does the domain hold no stream, queue, message, file, link or
 * registration any more?  What it holds is said in @why.
 */
bool nothing_left(char *why, size_t size);

#endif

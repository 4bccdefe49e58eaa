/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The suite on the simulated host, which is what it is written for.
 */
#include "d.h"

bool
d_is_user(void)
{
	return false;
}

bool
d_dies(void (*fn)(void *arg), void *arg)
{
	(void)fn, (void)arg;
	return false;
}

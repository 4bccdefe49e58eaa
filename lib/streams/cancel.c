/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * pthread_cancel(3): as in the C library, and read(2) and write(2) check for
 * cancellation from now on.
 */
#include <pthread.h>

#include "cancel.h"
#include "real.h"

STR_HOT_DATA STR_LINE str_a32 cancel_used;

STR_EXPORT int
pthread_cancel(pthread_t thread)
{
	str_store_rel(&cancel_used, 1u);
	return REAL(pthread_cancel)(thread);
}

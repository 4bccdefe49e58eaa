/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Has any thread of this process been cancelled?
 */
#ifndef STREAMS_CANCEL_H
#define STREAMS_CANCEL_H

#include <str/types.h>

extern str_a32 cancel_used STR_HIDDEN; /* [A] 0 until pthread_cancel() */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What others show of structures that are theirs alone.
 */
#ifndef STR_CORE_INSPECT_H
#define STR_CORE_INSPECT_H

/* plumb/name.c; what @fn gets may change while it looks. */

#endif

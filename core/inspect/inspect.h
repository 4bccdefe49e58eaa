/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What others show of structures that are theirs alone.
 */
#ifndef STR_CORE_INSPECT_H
#define STR_CORE_INSPECT_H

/* plumb/name.c; what @fn gets may change while it looks. */
void str_name_each(void (*fn)(struct str_head *sd, uint64_t sid, uint64_t dev,
	uint64_t ino, const char *path, void *arg), void *arg);

#endif

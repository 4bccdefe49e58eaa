/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What others show of structures that are theirs alone.
 */
#ifndef STR_CORE_INSPECT_H
#define STR_CORE_INSPECT_H

struct str_blk;
struct str_i_block;

/* block.c; @r is clear but for its beginning. */
void str_inspect_block(struct str_i_block *r, const struct str_blk *b);

#endif

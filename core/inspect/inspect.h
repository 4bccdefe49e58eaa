/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The parts of inspect.c, which describes a domain to other programs, that are
 * in files of their own.
 */
#ifndef STR_CORE_INSPECT_H
#define STR_CORE_INSPECT_H

struct str_blk;
struct str_i_block;

/*
 * block.c: describe @b in @r.  The caller has set r->i and has set all other
 * fields to zero.
 */
void str_inspect_block(struct str_i_block *r, const struct str_blk *b);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What modload_test_mod.c offers to modload_test.c. */
#ifndef MODLOAD_TEST_MOD_H
#define MODLOAD_TEST_MOD_H

struct upmod {
	int (*bump)(int by);		/* adds to a static, in all processes */
	int (*add)(int a, int b);	/* by the DDI */
	int (*copy)(char *to, const char *from);
	int *entry;			/* into a static table */
	int *(*find)(int i);		/* the same, asked there */
	const char *const *words;	/* constants with addresses in them */
	char *big;			/* of UPMOD_BIG bytes */
	const char *readonly;
};
#define UPMOD_BIG 700000

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A module for modload_test.c: statics of all sorts, calls of all sorts, and
 * more data than fits into one piece of the arena.
 */
#include <string.h>

#include "modload_test_mod.h"

int up_add(int a, int b);
int nowhere(void) __attribute__((weak)); /* lint-ok: a foreign source */

static int table[8];
static int count = 40;
static char big[UPMOD_BIG];
static const char *const words[] = {"alpha", "beta", "gamma"};

static int
bump(int by)
{
	table[3] += by;
	return count += by;
}

static int
add(int a, int b)
{
	return up_add(a, b) + (nowhere != NULL ? 1000 : 0);
}

static int
copy(char *to, const char *from)
{
	(void)strcpy(to, from);
	return (int)strlen(to);
}

static int *
find(int i)
{
	return &table[i];
}

struct upmod upmodinfo = {
	.bump = bump,
	.add = add,
	.copy = copy,
	.entry = &table[3],
	.find = find,
	.words = words,
	.big = big,
	.readonly = "constant",
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The directory: what is in it is found, what is not is soon known not to be.
 */
#include "fixture.h"

#define FIRST 1000u	     /* cookies that no carrier of the host has */
#define LIVE 10000u	     /* streams of a busy domain */
#define MANY (STR_NCOOKIE * 4) /* as many as leave no entry unused */
#define FAR 128u	     /* entries looked at, when a third is taken */

static struct str_file files[LIVE];

/* The first entry that was never used; STR_NCOOKIE when there is none. */
static uint32_t
first_unused(void)
{
	uint32_t i = 0;

	while (i < STR_NCOOKIE && str_load(&host_domain->cookie[i].cookie) != 0)
		i++;
	return i;
}

/* Streams come and go, @n at a time. */
static void
churn(uint64_t first, uint64_t end, unsigned n)
{
	uint64_t c;

	for (c = first; c < end; c++) {
		T_EQ(str_dir_enter(c, &files[c % LIVE]), 0);
		if (c >= first + n)
			T_TRUE(str_dir_remove(c - n));
	}
	for (c = end - n; c < end; c++)
		T_TRUE(str_dir_remove(c));
}

T_CASE(what_is_not_there_is_not_looked_for_everywhere)
{
	uint64_t i;

	fx_begin(t);
	churn(FIRST, FIRST + MANY * 4, 2);
	T_EQ(first_unused(), STR_NCOOKIE);
	T_TRUE(str_load(str_root(STR_ROOT_REACH)) < FAR);
	for (i = 0; i < STR_NCOOKIE; i++)
		T_NULL(str_dir_find(FIRST + i));
}

T_CASE(a_third_of_it_taken_is_not_far_to_look)
{
	fx_begin(t);
	churn(FIRST, FIRST + MANY, LIVE * 2);
	T_TRUE(str_load(str_root(STR_ROOT_REACH)) < FAR);
}

T_CASE(carriers_and_streams_numbers_do_not_crowd)
{
	uint64_t i;

	fx_begin(t);
	for (i = 0; i < LIVE; i++) {
		T_EQ(str_dir_enter(FIRST + i, &files[i]), 0);
		T_EQ(str_dir_enter((FIRST + i) | 1ull << 63, &files[i]), 0);
	}
	T_TRUE(str_load(str_root(STR_ROOT_REACH)) < FAR);
	for (i = 0; i < LIVE; i++) {
		T_TRUE(str_dir_find(FIRST + i) == &files[i]);
		T_TRUE(str_dir_remove((FIRST + i) | 1ull << 63));
		T_TRUE(str_dir_remove(FIRST + i));
	}
}

T_CASE(what_is_there_is_found_when_the_way_to_it_has_gone)
{
	uint64_t i;

	fx_begin(t);
	/* so many that they lie far from where they are looked for */
	for (i = 0; i < STR_NCOOKIE - 1000; i++)
		T_EQ(str_dir_enter(FIRST + i, &files[i % LIVE]), 0);
	T_TRUE(str_load(str_root(STR_ROOT_REACH)) > 8);
	for (i = 0; i < STR_NCOOKIE - 1000; i += 2)
		T_TRUE(str_dir_remove(FIRST + i));
	for (i = 0; i < STR_NCOOKIE - 1000; i++) {
		struct str_file *f = str_dir_find(FIRST + i);

		T_TRUE(f == (i % 2 == 0 ? NULL : &files[i % LIVE]));
	}
	for (i = 1; i < STR_NCOOKIE - 1000; i += 2)
		T_TRUE(str_dir_remove(FIRST + i));
}

static unsigned
groups(void)
{
	unsigned n = 0, i;

	for (i = 0; i < STR_NCOOKIE / STR_COOKIES; i++)
		n += str_dir_backed(i * STR_COOKIES);
	return n;
}

/* Memory is there for the entries that are used, and the rest is not read. */
T_CASE(only_what_was_used_has_memory)
{
	unsigned was;
	uint64_t i;

	fx_begin(t);
	was = groups();
	T_TRUE(was < 16);
	for (i = 0; i < 10000; i++)
		T_NULL(str_dir_find(FIRST + i));
	T_EQ(groups(), was);
	T_EQ(str_dir_enter(FIRST, &files[0]), 0);
	T_TRUE(groups() <= was + 1);
	T_TRUE(str_dir_find(FIRST) == &files[0]);
	T_TRUE(str_dir_remove(FIRST));
	T_NULL(str_dir_find(FIRST));
	churn(FIRST, FIRST + MANY, 2);
	T_EQ(groups(), STR_NCOOKIE / STR_COOKIES);
}

T_CASE(a_full_one_says_so)
{
	uint64_t i;

	fx_begin(t);
	for (i = 0; str_dir_enter(FIRST + i, &files[i % LIVE]) == 0; i++)
		T_TRUE(i < STR_NCOOKIE);
	T_EQ(i, STR_NCOOKIE);
	T_EQ(str_dir_enter(FIRST + i, &files[0]), ENOSR);
	while (i-- > 0)
		T_TRUE(str_dir_remove(FIRST + i));
	T_EQ(str_dir_enter(FIRST, &files[0]), 0);
	T_TRUE(str_dir_find(FIRST) == &files[0]);
	T_TRUE(str_dir_remove(FIRST));
}

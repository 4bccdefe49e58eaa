/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Finding the next definitions.  See real.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "real.h"

struct real real_table;

/* What an older C library does not have. */
static long
real_missing(void)
{
	errno = ENOSYS;
	return -1;
}

static const struct {
	const char *name;
	size_t off;
} calls[] = {
#define REAL_ROW(type, name, args) {#name, offsetof(struct real, name)},
	REAL_CALLS(REAL_ROW)
#undef REAL_ROW
};

void
real_init(void)
{
	int err = errno;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		void *p = dlsym(RTLD_NEXT, calls[i].name);
		long (*missing)(void) = real_missing;

		if (p == NULL)
			memcpy(&p, &missing, sizeof p);
		/* every thread that comes here stores the same */
		__atomic_store_n(
			(void **)(void *)((char *)&real_table + calls[i].off),
			p, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&real_table.ready, 1, __ATOMIC_RELEASE);
	errno = err;
}

STR_CONSTRUCTOR static void
real_construct(void)
{
	real_init();
}

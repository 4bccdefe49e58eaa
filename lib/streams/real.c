/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Finding the next definitions, and whether ours are found at all.  See
 * real.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "real.h"
#include "sys.h"

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

/*
 * Where the C library stands before us there is no next definition: then the
 * first one, unless that is ours.
 */
static void *
definition(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	Dl_info there, here;

	if (p != NULL)
		return p;
	p = dlsym(RTLD_DEFAULT, name);
	return p != NULL && dladdr(p, &there) != 0 &&
			       dladdr(&real_table, &here) != 0 &&
			       there.dli_fbase != here.dli_fbase ?
		       p :
		       NULL;
}

void
real_init(void)
{
	int err = errno;

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		void *p = definition(calls[i].name);
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

/*
 * Do the program's calls come here?  Not when the C library was found first:
 * it stands before us, or we were loaded by dlopen().  A definition of the
 * program's own, or of a library in between, is as it was meant.
 */
static void
order_check(void)
{
	static const char *const name[] = {"read", "poll", "fcntl"};
	static const char text[] =
		"libstreams: read, poll or fcntl do not come here: the C "
		"library was loaded first.\n"
		"libstreams: Link the program with -lstreams, and with no -lc "
		"before it, or set LD_PRELOAD=libstreams.so.1.\n";
	bool wrong = false;

	for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
		void *next = dlsym(RTLD_NEXT, name[i]);

		wrong = wrong || next == NULL ||
			dlsym(RTLD_DEFAULT, name[i]) == next;
	}
	if (wrong)
		(void)sys_call3(SYS_write, 2, text, sizeof text - 1);
}

STR_CONSTRUCTOR static void
real_construct(void)
{
	real_init();
	order_check();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Finding the next definitions, and whether ours are found at all.  See
 * real.h.
 */
#include <dlfcn.h>
#include <errno.h>
#include <gnu/lib-names.h>
#include <link.h>
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

/* In the order of struct real.  Not pointers, which would be relocated. */
static const char calls[][16] = {
#define REAL_ROW(type, name, args) #name,
	REAL_CALLS(REAL_ROW)
#undef REAL_ROW
};
_Static_assert(sizeof(struct real) == STR_ARRAY_LEN(calls) * sizeof(uintptr_t),
	"a row for each");

/*
 * If the C library precedes us there is no next definition: use the first one,
 * unless that is ours.
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

uintptr_t
real_find(size_t at)
{
	long (*missing)(void) = real_missing;
	int err = errno;
	void *p = definition(calls[at / sizeof(uintptr_t)]);
	uintptr_t v = p != NULL ? (uintptr_t)p : (uintptr_t)missing;

	/* every thread that comes here stores the same */
	__atomic_store_n((uintptr_t *)(void *)((char *)&real_table + at), v,
		__ATOMIC_RELAXED);
	errno = err;
	return v;
}

/*
 * Is the C library before this one in the order of search, or may it be?  The
 * dynamic linker's list costs nothing to read, nine dlsym() cost each program
 * some ten microseconds.  Another namespace has another list, which is not
 * found here.
 */
static bool
libc_precedes(void)
{
	for (const struct link_map *m = _r_debug.r_map; m != NULL;
		m = m->l_next) {
		const char *slash = strrchr(m->l_name, '/');

		if (m->l_ld == _DYNAMIC)
			return false;
		if (strcmp(slash != NULL ? slash + 1 : m->l_name, LIBC_SO) == 0)
			break;
	}
	return true;
}

/*
 * Do the program's calls come here?  Not if the C library precedes us, or if we
 * were loaded by dlopen().  A definition in the program, or in a library in
 * between, is accepted as intended.
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
	if (libc_precedes())
		order_check();
}

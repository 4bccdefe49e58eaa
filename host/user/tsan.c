/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Accesses of other processes, for the thread sanitizer: <str/tsan.h>.
 */
#include "user_impl.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

static char ours; /* represents everything that this process has published */

/*
 * The record of the last writer of @p, or NULL: it is not in a domain.  Also
 * called for the lock under which another thread attaches, so its own accesses
 * must not be instrumented.
 */
STR_RACY static uint16_t *
last(const volatile void *p)
{
	struct str_domain *d = str_load(&host_domain);
	uint64_t at = (uint64_t)(uintptr_t)p - (uint64_t)(uintptr_t)d;

	if (d == NULL || str_load(str_load(&host_identity)) == 0 ||
	    at >= d->cap)
		return NULL;
	return &d->last[at / 4 % STR_NLAST];
}

STR_RACY static uint16_t
me(void)
{
	return (uint16_t)(str_load(&host_priv_page->proc) + 1);
}

static void
order(unsigned who)
{
	if (who != 0 && who != me())
		__tsan_acquire(&ours);
}

void
host_tsan_loaded(const volatile void *p)
{
	uint16_t *w = last(p);

	if (w != NULL)
		order(str_load(w));
}

unsigned
host_tsan_begin(const volatile void *p)
{
	uint16_t *w = last(p);
	unsigned was;

	if (w == NULL)
		return 0;
	was = str_load(w);
	__tsan_release(&ours);
	str_store(w, me());
	return was;
}

void
host_tsan_end(const volatile void *p, unsigned was)
{
	uint16_t *w = last(p);

	if (w != NULL) {
		order(was);
		order(str_load(w));
	}
}

/* The write did not happen. */
void
host_tsan_undo(const volatile void *p, unsigned was)
{
	uint16_t *w = last(p);

	if (w != NULL)
		str_store(w, (uint16_t)was);
}
#endif

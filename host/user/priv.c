/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The page of this process that its children do not inherit, and the locks in
 * it.
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>

#include "user_impl.h"

STR_HOT_DATA struct host_priv *_Atomic host_priv_page;

struct host_priv *
host_priv(void)
{
	struct host_priv *p = __atomic_load_n(STR_PLAIN(&host_priv_page),
		__ATOMIC_ACQUIRE);
	struct host_priv *none = NULL;
	int err;
	long r;

	if (str_likely(p != NULL))
		return p;
	r = sys_call6(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r < 0 && r > -4096) {
		(void)host_fail(ENOSR, "no page that fork would wipe: mmap: %s",
			strerror((int)-r));
		return NULL;
	}
	err = (int)-sys_call3(SYS_madvise, r, 4096, MADV_WIPEONFORK);
	if (err != 0) {
		(void)sys_call2(SYS_munmap, r, 4096);
		(void)host_fail(ENOSR, "no page that fork would wipe: "
			"madvise: %s", strerror(err));
		return NULL;
	}
	p = (struct host_priv *)r;
	if (!str_cas_see(&host_priv_page, &none, p)) {
		(void)sys_call2(SYS_munmap, r, 4096);
		p = none;
	}
	return p;
}

bool
host_plock_try(struct host_plock *l)
{
	return str_cas(&l->word, 0u, 1u);
}

void
host_plock_lock(struct host_plock *l)
{
	if (host_plock_try(l))
		return;
	while (str_xchg(&l->word, 2u) != 0)
		(void)sys_call4(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2,
			NULL);
}

void
host_plock_unlock(struct host_plock *l)
{
	if (str_xchg(&l->word, 0u) == 2)
		(void)sys_call3(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1);
}


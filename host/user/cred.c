/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The ids of this process, which every open and ioctl tells the modules.
 *
 * The kernel is asked once, unless the program changes them: lib/streams/user.c
 * calls host_cred_vary() before a change, and from then on the kernel is asked
 * each time.
 */
#include "user_impl.h"

static struct host_cred ids;
static str_a32 ids_known; /* [A] 0, KNOWN or VARY */
#define KNOWN 1u
#define VARY 2u

void
host_cred_vary(void)
{
	str_store(&ids_known, VARY);
	str_fence_full();
}

void
host_cred(struct host_cred *ret_cred)
{
	uint32_t saved;

	if (str_load_acq(&ids_known) == KNOWN) {
		*ret_cred = ids;
	} else {
		/* these never fail */
		(void)sys_call3(SYS_getresuid, &ret_cred->ruid, &ret_cred->uid,
			&saved);
		(void)sys_call3(SYS_getresgid, &ret_cred->rgid, &ret_cred->gid,
			&saved);
	}
	/* the pid of a member is known */
	ret_cred->pid = host_known() ?
		str_load(&host_domain->proc[host_priv_page->proc].pid) :
		(uint32_t)sys_getpid();
}

/* At the first stream, before other threads have one.  Locks: [attach] */
void
host_cred_learn(void)
{
	struct host_cred c = { 0 };

	host_cred(&c);
	if (str_load(&ids_known) != 0)
		return;
	ids = c;
	(void)str_cas(&ids_known, 0u, KNOWN);
}

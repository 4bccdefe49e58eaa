/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* Requests of a sweep: core, and the library, ask streamsd to look. */
#include "user_impl.h"

void
host_daemon_look(void)
{
	host_daemon_tell(HOST_ASK_LOOK);
}

/*
 * The first change since a sweep began rings.  streamsd clears the word before
 * its sweep looks at the streams.  A thread of streamsd itself rings too: the
 * first one may be asleep.
 */
void
host_daemon_soon(void)
{
	str_a32 *soon = &host_shared(host_domain)->daemon_soon;

	str_fence_full(); /* pairs with the one in sweeps() of streamsd */
	if (str_load(soon) != 0 || !str_cas(soon, 0u, 1u))
		return;
	if (host_is_daemon) {
		(void)str_or(&host_shared(host_domain)->daemon_asks,
			HOST_ASK_SOON);
		host_bell_ring_proc(&host_domain->proc[host_priv_page->proc]);
	} else {
		host_daemon_tell(HOST_ASK_SOON);
	}
}

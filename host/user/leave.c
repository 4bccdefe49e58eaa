/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Leaving the domain before the process ends.
 *
 * A domain belongs to one user.  A process that changes its user would keep the
 * domain mapped, could read and change all messages of the former user's
 * processes, and could make them run its code.  So it leaves first: its Streams
 * are closed as at exit, its slots are freed, and no mapping or descriptor of
 * the domain remains.
 *
 * Threads. host_user_lock() prevents that other threads attach, or change the
 * user, from before the user is checked until it has been changed; they would
 * attach to the former user's domain.  The domain cannot be unmapped while
 * another thread is in a call.  We wait a short time for such a thread; if it
 * sleeps in a call, nothing is done.
 *
 * Fork.  A child that has made no call yet first becomes a member in order to
 * leave.  If it cannot, it unmaps the domain and closes the inherited
 * descriptors; the locks on the domain's file belong to its parent and stay.
 *
 * Failure.  A process that is killed here is reaped as after an exit.
 */
#include <stdlib.h>
#include <string.h>

#include "sock_impl.h"

uint32_t host_left;

int
host_leave_begin(void)
{
	uint64_t old;
	int err;

	if (host_domain == NULL)
		return 0;
	host_timer_hold();
	host_sig_block(&old);
	err = host_slot_alone();
	host_sig_restore(&old);
	if (err != 0)
		host_timer_release();
	return err;
}

static void
descriptors_drop(void)
{
	uint32_t n = str_load(&host_sock_high);

	for (uint32_t i = 0; i < n && i < HOST_NSOCK; i++)
		host_sock_drop_word(&host_sock_table[i],
			str_load(&host_sock_table[i].word));
	host_sock_forked();
	for (int i = 0; i < HOST_NFD; i++)
		host_fd_drop((enum host_fd)i);
}

void
host_leave_end(void)
{
	struct host_priv *pv = host_priv_page;
	const char *env = getenv("STREAMS_DOMAIN");
	bool private = env != NULL && strncmp(env, "fd:", 3) == 0 &&
		strcmp(env, host_domain_path()) == 0;
	uint64_t old;

	if (host_domain == NULL)
		return;
	host_sig_block(&old);
	if (host_known()) {
		/* while there is a bell to send from */
		host_daemon_look();
		host_domain_resign();
	}
	host_tls.nsoon = 0;
	descriptors_drop();
	host_named_forget();
	host_domain_unmap();
	host_left++;
	if (pv != NULL) {
		str_store(&pv->bell_up, 0u);
		str_store(&pv->bell_waiters, 0u);
		str_store(&pv->sockdir_up, 0u);
		str_store(&pv->daemon_word, 0ull);
		host_timer_release();
	}
	host_sig_restore(&old);
	/*
	 * the number does not refer to a domain any more, and the domain had no
	 * name
	 */
	if (private)
		(void)setenv("STREAMS_DOMAIN", "private", 1);
}

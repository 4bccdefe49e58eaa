/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Leaving the domain before the process ends.
 *
 * A domain is one user's.  A process that takes another user would keep it
 * mapped, could read and change what all of the former user's processes say to
 * each other, and would be obeyed by them.  So it leaves first: its Streams
 * are closed as at its end, its slots are free, no mapping and no descriptor
 * of the domain are left.
 *
 * Threads.  From before the user is looked at until it is another one no thread
 * attaches, which would be to the former user's domain, and no other thread
 * changes the user: host_user_lock().  A mapping cannot go while another thread is in a call.  Such a
 * thread is waited for shortly; when it sleeps in a call, nothing is done.
 *
 * Fork.  A child that has made no call yet becomes a member to leave.  When it
 * cannot, it gets rid of the mapping and the descriptors that it has inherited;
 * the locks on the domain's file are its parent's and stay.
 *
 * Failure.  A process that is killed in here is found dead, as at its exit.
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
		/* while it has a bell to send from */
		host_daemon_look();
		host_domain_resign();
		host_plock_lock(&pv->timer);
		str_store(&pv->timer_at, 0ull);
		host_plock_unlock(&pv->timer);
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
	/* that number is no domain any more, and what it was had no name */
	if (private)
		(void)setenv("STREAMS_DOMAIN", "private", 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What this host does not have yet, in the order in which it is written: a
 * function that is written moves out of this list.  The list has names only,
 * so this file does not include <str/host.h>.
 */
#include "first.h"

#define LATER(name) \
	void name(void); \
	void \
	name(void) \
	{ \
		first_later(#name); \
	}

/* step 3: copies */
LATER(host_copyin)
LATER(host_copyout)
LATER(host_copyinstr)

/* step 3: carriers, tokens, waiting for them; the kernel's pipes */
LATER(host_bell_ring)
LATER(host_bell_ring_pollers)
LATER(host_carrier_alive)
LATER(host_carrier_gone)
LATER(host_carrier_id)
LATER(host_carrier_look)
LATER(host_carrier_open)
LATER(host_carrier_send)
LATER(host_fd_close)
LATER(host_listing_free)
LATER(host_listing_has)
LATER(host_listing_make)
LATER(host_outside_only)
LATER(host_outside_put)
LATER(host_outside_room)
LATER(host_outside_unread)
LATER(host_outside_waiting)
LATER(host_plain_find)
LATER(host_plain_get)
LATER(host_plain_is)
LATER(host_plain_keep)
LATER(host_plain_known)
LATER(host_plain_look)
LATER(host_plain_open)
LATER(host_token_drain)
LATER(host_token_send)
LATER(host_token_take)
LATER(host_wait_carrier)
LATER(host_wait_prepare)
LATER(host_carrier_pair)

/* step 5: signals, users, job control */
LATER(host_signal_post)
LATER(host_signal_self)
LATER(host_cred)
LATER(host_job)
LATER(host_job_stop)

/* step 5: passed descriptors */
LATER(host_box_drop)
LATER(host_box_dup)
LATER(host_box_empty)
LATER(host_box_here)
LATER(host_box_look)
LATER(host_box_new)
LATER(host_box_put)
LATER(host_box_ready)

/* step 5: the daemon */
LATER(host_daemon_look)
LATER(host_daemon_soon)
LATER(host_wait_notice)

/* step 5: modules that are loaded */
LATER(host_module_calls)
LATER(host_module_done)
LATER(host_module_load)
LATER(host_module_log)
LATER(host_module_map)
LATER(host_module_of)
LATER(host_module_symbol)
LATER(host_module_word)

/* step 5: sockets, for the drivers that use them */
LATER(host_sock_accept)
LATER(host_sock_adopt)
LATER(host_sock_ask)
LATER(host_sock_bind)
LATER(host_sock_connect)
LATER(host_sock_error)
LATER(host_sock_events)
LATER(host_sock_get)
LATER(host_sock_getopt)
LATER(host_sock_gone)
LATER(host_sock_ioctl)
LATER(host_sock_listen)
LATER(host_sock_look)
LATER(host_sock_name)
LATER(host_sock_new)
LATER(host_sock_put)
LATER(host_sock_read)
LATER(host_sock_recv)
LATER(host_sock_recvmm)
LATER(host_sock_send)
LATER(host_sock_sendmm)
LATER(host_sock_setopt)
LATER(host_sock_shut)
LATER(host_sock_shutdown)
LATER(host_sock_source)
LATER(host_sock_tun)
LATER(host_sock_watch)
LATER(host_sock_write)
LATER(host_wait_sock)

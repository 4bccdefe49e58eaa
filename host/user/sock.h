/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Interface of sock.c for the rest of host/user, and for streamsd.
 */
#ifndef HOST_USER_SOCK_H
#define HOST_USER_SOCK_H

#include <str/host.h>

/* This process's descriptor of @id, fetched if necessary; or minus an errno. */
int host_sock_fd(uint64_t id);
/* The descriptor to poll for events of watched sockets, or -1. */
int host_sock_news_fd(void);

/* There is a new streamsd: send it duplicates of all our descriptors. */
void host_sock_pass_all(void);
void host_sock_tidy(void);
/*
 * Send the descriptors that a new streamsd has not got yet; before any sleep.
 */
void host_sock_pass_owed(void);
/* The same before a sleep, without waiting; @pid is streamsd.  Return: time of
 * the next try, or UINT64_MAX */
extern str_a32 host_sock_high; /* greatest number of places used */
uint64_t host_sock_owed_at(uint32_t pid);
/* Called in a forked child when it has a slot. */
void host_sock_forked(void);

/*
 * Numbers: is @fd one of ours; the lowest of ours from @fd on; move @fd away.
 */
bool host_sock_is_ours(int fd);
int host_sock_hidden_from(int fd);
void host_sock_move(int fd);

/* In streamsd: keep duplicates and give them out, from now on.  Before the
 * claim and, to publish the address, after it. */
int host_sock_keeper_open(void);
void host_sock_keeper_gone(void);
void host_sock_keeper_start(void);
/*
 * While str_sock_serve() is called every millisecond, no process has to request
 * it.
 */
void host_sock_awake(bool yes);

#endif

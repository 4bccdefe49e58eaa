/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What sock.c offers to the rest of host/user, and to streamsd.
 */
#ifndef HOST_USER_SOCK_H
#define HOST_USER_SOCK_H

#include <str/host.h>

/* This process's descriptor of @id, fetched if need be; or minus an errno. */
int host_sock_fd(uint64_t id);
/* What to poll for news of watched sockets, or -1. */
int host_sock_news_fd(void);

/* streamsd is another one: it gets duplicates of all that we have. */
void host_sock_pass_all(void);
void host_sock_tidy(void);
/* What a new streamsd has not got yet, at once; before any sleep. */
void host_sock_pass_owed(void);
/* The same before a sleep, without waiting; @pid is streamsd.  Return: when to
 * try again, or UINT64_MAX */
uint64_t host_sock_owed_at(uint32_t pid);
/* In a forked child, when it has a slot. */
void host_sock_forked(void);

/* Numbers: is @fd one of ours, the lowest of ours from @fd on, away from it. */
bool host_sock_is_ours(int fd);
int host_sock_hidden_from(int fd);
void host_sock_move(int fd);

/* As streamsd: take duplicates and give them, from now on.  Before the claim
 * and, to say where, after it. */
int host_sock_keeper_open(void);
void host_sock_keeper_gone(void);
void host_sock_keeper_start(void);
/* As long as str_sock_serve() is called in a millisecond, no process has to ask. */
void host_sock_awake(bool yes);

#endif

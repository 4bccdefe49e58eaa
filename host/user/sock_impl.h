/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Common definitions of sock.c, the descriptors of this process, and keep.c,
 * the descriptors of streamsd and their exchange.
 */
#ifndef HOST_USER_SOCK_IMPL_H
#define HOST_USER_SOCK_IMPL_H

#include "sock.h"
#include "user_impl.h"

struct place {
	str_a64 word;	 /* generation << 32 | descriptor + 1; 0 = none */
	str_a64 cookie;	 /* cookie of the socket: host_sock_cookie() */
	str_a32 sent;	 /* round in which streamsd got it */
	str_a32 watched; /* watch_gen << 8 | HOST_C_* */
	str_a64 missed;	 /* a fetch failed; not before that time again, */
	str_a32 missed_gen; /* for this generation */
};
extern struct place host_sock_table[HOST_NSOCK];

STR_INLINE uint32_t
index_of(uint64_t id)
{
	return (uint32_t)id % HOST_NSOCK;
}

STR_INLINE struct place *
place_of(uint64_t id)
{
	return &host_sock_table[index_of(id)];
}

STR_INLINE uint64_t
word_of(uint64_t id, int fd)
{
	return (id >> 32) << 32 | ((uint32_t)fd + 1);
}

/* The descriptor in word @w if it belongs to @id, else -1. */
STR_INLINE int
fd_in(uint64_t w, uint64_t id)
{
	return w != 0 && w >> 32 == id >> 32 ? (int)(uint32_t)w - 1 : -1;
}

/* sock.c */
/* The cookie of the kernel's object under @fd, which reveals a replacement; 0:
 * there is none. */
uint64_t host_sock_cookie(int fd);
/* Enter @fd in the place of @id.  Return: the descriptor to use. */
int host_sock_install(uint64_t id, int fd, uint64_t cookie);
/* Close our descriptor in @p if its word is @w. */
void host_sock_drop_word(struct place *p, uint64_t w);
/* The same without the close, for a number that is not ours any more. */
void host_sock_forget(struct place *p, uint64_t w);

/* Close our descriptors of ended sockets, if there are new ones. */
void host_sock_sweep(void);

/* keep.c */
extern str_a32 host_sock_told;
/* Is there a streamsd that lacks some of our descriptors? */
STR_INLINE bool
host_sock_owes(void)
{
	return str_load(&host_sock_told) !=
		str_load_acq(&host_shared(host_domain)->sock_round);
}
/* A new socket, or a new descriptor of one. */
void host_sock_pass_new(uint64_t id, int fd);
/* Send the owed descriptors, without waiting. */
void host_sock_pass_now(void);
/* Fetch a descriptor of @id, which we do not have; minus an errno. */
int host_sock_fetch(uint64_t id);
/* Inform streamsd that @id has ended.  @wait: the caller waits until streamsd has
 * closed its descriptor.  Return: 0, and the epoch; or an errno. */
int host_sock_tell_gone(uint64_t id, bool wait, uint64_t *ret_epoch);
/* It will close its descriptors of ended sockets soon, without a letter. */
bool host_sock_keeper_sweeps(void);
/* In streamsd: note that its descriptor is closed, if it had one. */
void host_sock_shut_word(uint64_t id);
void host_sock_keeps(uint64_t id, bool yes);
bool host_sock_kept(uint64_t id); /* has it one? */

#endif

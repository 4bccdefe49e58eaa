/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What sock.c, the descriptors of this process, and keep.c, those of streamsd
 * and the way between them, share.
 */
#ifndef HOST_USER_SOCK_IMPL_H
#define HOST_USER_SOCK_IMPL_H

#include "sock.h"
#include "user_impl.h"

struct place {
	str_a64 word;	 /* generation << 32 | descriptor + 1; 0 = none */
	str_a64 cookie;	 /* whose it is: host_sock_cookie() */
	str_a32 sent;	 /* round in which streamsd got it */
	str_a32 watched; /* watch_gen << 8 | HOST_C_* */
	str_a64 missed;	 /* it was not to be had, until then, */
	str_a32 missed_gen; /* that of this generation */
};
extern struct place host_sock_table[HOST_NSOCK];
extern str_a32 host_sock_high; /* places ever used */

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

/* The descriptor in word @w when that is @id's, else -1. */
STR_INLINE int
fd_in(uint64_t w, uint64_t id)
{
	return w != 0 && w >> 32 == id >> 32 ? (int)(uint32_t)w - 1 : -1;
}

/* sock.c */
/* What the kernel's object under @fd is, by which another one there is known;
 * 0: there is none. */
uint64_t host_sock_cookie(int fd);
/* Put @fd in the place of @id.  Return: the descriptor to be used. */
int host_sock_install(uint64_t id, int fd);
/* Close what we have at @p if that is the word @w. */
void host_sock_drop_word(struct place *p, uint64_t w);
/* The same when it is not ours any more, and not to be closed. */
void host_sock_forget(struct place *p, uint64_t w);

/* Close what we have of sockets that are gone, if there are any new ones. */
void host_sock_sweep(void);

/* keep.c */
extern str_a32 host_sock_told;
/* Is there a streamsd that has not all that we have? */
STR_INLINE bool
host_sock_owes(void)
{
	return str_load(&host_sock_told) !=
		str_load_acq(&host_shared(host_domain)->sock_round);
}
/* A new socket, or a new descriptor of one. */
void host_sock_pass_new(uint64_t id, int fd);
/* What is owed, without waiting. */
void host_sock_pass_now(void);
/* A descriptor of @id that we do not have; minus an errno. */
int host_sock_fetch(uint64_t id);
/* streamsd is told that @id is gone.  Return: 0, and in which epoch. */
int host_sock_tell_gone(uint64_t id, uint64_t *ret_epoch);
/* As streamsd: say that its own is closed; we have one, or not. */
void host_sock_shut_word(uint64_t id);
void host_sock_keeps(uint64_t id, bool yes);
bool host_sock_kept(uint64_t id); /* has it one? */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of a driver: the interface for the Stream head and the plumbing.
 * ksock.c has the theory.  A stream receives the events of at most one socket.
 */
#ifndef STR_SOCK_H
#define STR_SOCK_H

#include "core.h"
#include <str/ksock.h>

/* The id of @pl's socket; 0: it has none. */
STR_INLINE uint64_t
str_sock_of(const struct str_plumb *pl)
{
	return str_load(&pl->ksock);
}

/*
 * str_sock_interest - HOST_C_*: the events of socket @id for which a sleeper
 * waits; 0: it waits for an edge
 * str_sock_fired - @events, HOST_C_*, have occurred: pass them to the driver
 */
uint32_t str_sock_interest(uint64_t id);
void str_sock_fired(uint64_t id, uint32_t events, struct host_call *hc);
/*
 * Let the driver look at the socket of @sd's stream once, before a call returns
 * without data or room.  Return: true if the driver's queue was run: the caller
 * looks again.
 */
bool str_sock_try_slow(struct str_head *sd, struct host_call *hc,
	uint32_t what);

STR_INLINE bool
str_sock_try(struct str_head *sd, struct host_call *hc, uint32_t what)
{
	return str_unlikely(str_sock_of(sd->plumb) != 0) &&
		str_sock_try_slow(sd, hc, what);
}

/*
 * lend.c: use the operation that the driver has lent.  Return: bytes.  If
 * nothing was done: str_lend_put, str_lend_send: STR_NOT_FAST; str_lend_recv: 0
 * or -EFAULT; str_lend_write, str_lend_read: 0 or minus an errno.
 */
long str_lend_put(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const void *ubuf, size_t len);
long str_lend_send(struct str_head *sd, const str_a32 *id, uint32_t gen,
	const void *ubuf, size_t len);
long str_lend_recv(struct str_head *sd, const str_a32 *id, uint32_t gen,
	void *ubuf, size_t len);
long str_lend_write(struct str_head *sd, struct host_call *hc,
	const void *ubuf, size_t len);
long str_lend_read(struct str_head *sd, struct host_call *hc, void *ubuf,
	size_t len);
/*
 * @gp: ctl.buf is valid memory; data.buf may be any address.
 * Return: 1: the message is stored in @gp; 0: it is not, the caller makes the
 * full call; or minus an errno: -EFAULT for a bad data.buf; others only
 * str_lend_get().
 */
long str_lend_unit(struct str_head *sd, const str_a32 *id, uint32_t gen,
	struct str_getprim *gp);
long str_lend_get(struct str_head *sd, struct host_call *hc,
	struct str_getprim *gp);
/*
 * Read the lent operations outside a call: the Stream may have been freed, and
 * its memory reused.  A head is inside its struct str_plumb, so a pointer to
 * another place is not valid.
 */
STR_INLINE const struct ksock_lend *
str_lend_hint(const struct str_head *sd)
{
	const struct str_plumb *pl = *(struct str_plumb *const volatile *)
		&sd->plumb;

	return str_likely((uintptr_t)sd - (uintptr_t)pl < sizeof(*pl)) ?
		&pl->lend : NULL;
}
/*
 * @try: called between the yields before the sleep, in place of
 * host_sock_look(); returns the event that it found, HOST_C_*, or 0; or NULL
 */
int str_sleep_lent(struct str_head *sd, struct host_call *hc,
	uint32_t *lent, uint32_t (*try)(struct str_head *sd,
		struct host_call *hc, void *arg), void *arg);

/* May a thread wait without watching socket @id?  See ksock_near(). */
bool str_sock_near(uint64_t id);
/* The same for a thread that waits for many streams, and has armed this one;
 * leaves the watching of the socket to streamsd if the driver permits it,
 * ksock_may_be_near(). */
bool str_sock_leave(uint64_t id);
/*
 * The stream now has, or no longer has, readers for which streamsd must watch
 * the socket.
 */
void str_sock_changed(struct str_plumb *pl);
/* Does data wait to be sent by @pl's socket? *ret_progress: some was sent since
 * the last call, or streamsd waits for room. */
bool str_sock_unsent(struct str_plumb *pl, bool *ret_progress);
/* box.c.  str_box_of() makes the box if the head has none; str_box_tidy() and
 * str_box_end() then do nothing. */
int str_box_of(struct str_head *to, uint64_t *ret_box);
bool str_box_held(uint64_t id); /* has a process a descriptor of it? */
uint64_t str_box_first(struct str_head *sd, uint64_t box);
void str_box_tidy(struct str_head *sd);
void str_box_end(struct str_head *sd);
/* @pl is being freed; the thread with tag @dead is reaped. */
void str_sock_stream_gone(struct str_plumb *pl);
void str_sock_reap(uint32_t dead);

#endif

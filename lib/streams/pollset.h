/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

#ifndef STREAMS_POLLSET_H
#define STREAMS_POLLSET_H

#include "sleep.h"

struct poll_set {
	struct pollfd *u; /* the caller's, copied in; revents out */
	struct pollfd *k; /* the kernel's: n and SLEEP_ROOM */
	uintptr_t *word;  /* what each is */
	unsigned n;
	unsigned nstream;  /* Streams, and epoll instances with Streams */
	uint64_t deadline; /* host_now() time; 0: do not wait */
	const sigset_t *mask;
	void *block; /* where the arrays are when they are long */
	size_t size;
	struct pollfd few_u[POLL_FEW], few_k[POLL_FEW + SLEEP_ROOM];
	uintptr_t few_word[POLL_FEW];
};

int poll_set_alloc(struct poll_set *s, size_t n);
void poll_set_free(struct poll_set *s);
/* Fill s->word; returns how many are to be polled here. */
unsigned poll_set_words(struct poll_set *s);
/* In a call.  Return: how many have revents, or minus an errno. */
int poll_set_wait(struct poll_set *s, struct host_call *hc);

/* The kernel's part: what it is to poll, and then its events and the Streams'
 * together; how many have revents. */
void poll_set_kernel(struct poll_set *s);
int poll_set_heard(struct poll_set *s, struct host_call *hc);
/* The events of Stream @i that are to be reported. */
uint32_t poll_set_events(const struct poll_set *s, unsigned i);

/*
 * pollkeep.c: sets that are kept between calls.
 * poll_kept - poll @ufds as a kept set; false: there is none like it.
 * poll_keep - keep @s for the next call, if it is polled again and again.
 * A poll of fewer Streams than POLL_KEEP arms each of them in every call.
 */
#define POLL_KEEP 8u
bool poll_kept(struct pollfd *ufds, size_t n, uint64_t deadline, int *ret);
void poll_keep(const struct poll_set *s);

/* A timeout as a deadline; EINVAL, EFAULT. */
int poll_deadline(const struct timespec *uts, uint64_t *ret_deadline);

#endif

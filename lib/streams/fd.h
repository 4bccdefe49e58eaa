/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What this process knows about its descriptors.
 *
 * A word per descriptor: UNKNOWN, NOT a Stream, or the address of a record.
 * A record stands for one open file of a Stream head that this process holds,
 * however many descriptors name it; an epoll instance that watches Streams has one too,
 * told apart by the lowest bit of the word.
 *
 * The table is a cache.  What stands under a number that is UNKNOWN is asked
 * from the kernel once.  Every call that frees a number makes it UNKNOWN
 * again, because the next open takes it.
 *
 * Locks.  Readers take none.  [F] is changed under fd_lock(), with handlers
 * put off, so that they may use descriptors themselves; fork waits for it.
 * Records are type-stable: a thread that uses a descriptor while another one
 * closes it reads a record, perhaps the wrong one, but never something else.
 */
#ifndef STREAMS_FD_H
#define STREAMS_FD_H

#include <str/host.h>

#include "head/head.h"
#include "user.h"

#define FD_LOW    65536u /* numbers in the table that is always there */
#define FD_CHUNKS 1024u  /* of FD_LOW numbers each, made when needed */
#define FD_MAX    ((int)(FD_LOW * FD_CHUNKS))

#define FD_UNKNOWN ((uintptr_t)0)
#define FD_NOT     ((uintptr_t)1)

typedef _Atomic uintptr_t fd_word;

/* What a word points to begins with this. */
struct fd_obj {
	uint32_t count; /* [F] descriptors naming it */
	uint32_t epoll; /* [I] 1: struct ep */
};

struct fd_rec {
	struct fd_obj obj;
	struct str_file *file;	     /* [F] */
	struct str_head *sd;         /* [A] whose open file it is */
	str_a32 *fflags;             /* [A] status flags, in the domain */
	uint32_t gen;                /* [A] of the head's memory */
	uint32_t kind;               /* [A] of the carrier, HOST_CARRIER_* */
	uint64_t cookie;             /* [A] of the carrier */
	struct fd_rec *next;         /* [F] of the hash chain or free list */
	struct ep_item *items;       /* [F] what epoll wants of it */
	uint32_t born;		     /* [F] fd_forks() when pipe(2) made it;
				      * while that is so no other holds it */
	bool made;		     /* [F] by pipe(2), in this process */
	str_a32 nitem;               /* [F] edge-triggered ones; read without */
	str_a32 token;               /* a token may lie in the carrier */
	int hint;                    /* [F] a descriptor of it, perhaps */
} STR_LINE;

struct fd_guard {
	struct host_call hc;
	uint64_t mask;
	bool entered;
};

extern fd_word fd_low[FD_LOW];

uintptr_t fd_ask(int fd) STR_COLD;

/* The word of @fd, after asking what it is. */
STR_INLINE uintptr_t
fd_word_of(int fd)
{
	uintptr_t v;

	if (str_likely((unsigned)fd < FD_LOW)) {
		v = str_load_acq(&fd_low[fd]);
		if (str_likely(v != FD_UNKNOWN))
			return v;
	}
	return fd_ask(fd);
}

/* Was @fd, found to be no Stream, found to be something? */
STR_INLINE bool
fd_known(int fd)
{
	/* a Stream by now: then it was closed when it was looked at */
	return (unsigned)fd >= FD_LOW || (str_load(&fd_low[fd]) & 1) != 0;
}

/* The Stream @fd names, or NULL. */
STR_INLINE struct fd_rec *
fd_stream(int fd)
{
	uintptr_t v = fd_word_of(fd);

	return str_likely((v & 1) != 0) ? NULL : (struct fd_rec *)v;
}

/* The same without asking: NULL when that would be needed, too. */
STR_INLINE struct fd_rec *
fd_likely_stream(int fd)
{
	uintptr_t v;

	if (str_unlikely((unsigned)fd >= FD_LOW))
		return NULL;
	v = str_load_acq(&fd_low[fd]);
	return str_likely((v & 1) == 0) ? (struct fd_rec *)v : NULL;
}

/* The epoll instance with Streams in it that @fd names, or NULL. */
STR_INLINE struct ep *
fd_epoll(int fd)
{
	uintptr_t v = fd_word_of(fd);

	return (v & 1) != 0 && v != FD_NOT ? (struct ep *)(v - 1) : NULL;
}

/* Could any descriptor of this process be a Stream? */
bool fd_possible(void);
void fd_possible_again(void);

void fd_lock(struct fd_guard *g);
void fd_unlock(struct fd_guard *g);

/* With the lock held. */
struct fd_rec *fd_rec_of(struct str_file *f, const struct host_carrier *c);
void fd_rec_free_unused(struct fd_rec *r);
void fd_put(int fd, uintptr_t v);
uintptr_t fd_get(int fd);
int fd_high(void);
/* Counts the times that descriptors may have come into other hands: forks,
 * spawns, SCM_RIGHTS.  fd_shared: now is such a time. */
uint32_t fd_forks(void);
void fd_shared(void);
void fd_made(struct fd_rec *r);
bool fd_any_made(void);
int fd_peer(struct fd_rec *r);
struct fd_rec *fd_install(
	int fd, struct str_file *f, const struct host_carrier *c);

/* Without the lock. */
void fd_forget(int fd);         /* the number is free, or about to be */
void fd_not(int fd);            /* it is something new that is no Stream */
void fd_copy(int from, int to); /* @to is a duplicate of @from */
bool fd_forget_not(int fd);     /* the same, where it was none */
bool fd_stale(int fd, struct fd_rec *r, const struct host_call *hc);

/*
 * Taking a Stream's descriptor away: fd_release_begin() before the kernel
 * closes it, fd_release_end() after, when @rel->sd is not NULL.
 * fd_release_hold() between the two, where closing takes no time: the call
 * begins before, so that it is still the same Stream afterwards, though
 * another may have noticed first that it has no holder.
 */
struct fd_release {
	struct str_head *sd;
	struct str_file *file;
	int peer;
	uint32_t kind; /* HOST_CARRIER_* */
	uint32_t forks;
	bool sole; /* only we held it, unless forks is past */
	bool last; /* it was our only one */
	bool entered; /* held: inside a call */
	uint32_t gen;
	const str_a32 *fflags;
	struct host_call hc;
};
void fd_release_begin(int fd, struct fd_release *rel);
void fd_release_hold(struct fd_release *rel);
int fd_close(int fd, struct fd_release *rel); /* both, but for the end */
void fd_release_end(struct fd_release *rel);

/* Hidden descriptors from @from on: the lowest, or -1. */
int fd_hidden_from(int from);
/* Make the hidden descriptor @fd give up its number. */
void fd_hidden_move(int fd);

/* What @r stands for; so it is when fd_unchanged() says so afterwards. */
STR_INLINE uint32_t
fd_load(struct fd_rec *r, struct str_head **ret_sd, str_a32 **ret_fflags)
{
	uint32_t gen;

	STR_CRASH_POINT("fd:found");
	gen = str_load_acq(&r->gen);
	*ret_sd = str_load(&r->sd);
	*ret_fflags = str_load(&r->fflags);
	return gen;
}

STR_INLINE bool
fd_unchanged(struct fd_rec *r, uint32_t gen)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return str_likely(str_load(&r->gen) == gen);
}

/*
 * What @r stands for, all of one time: a record may become another's while it
 * is looked at, or since it was found at @fd; see fd_rec_of().  Return: false
 * when just that happened.
 */
STR_INLINE bool
fd_read(int fd, struct fd_rec *r, struct str_head **ret_sd,
	str_a32 **ret_fflags, uint32_t *ret_gen)
{
	uintptr_t v;

	*ret_gen = fd_load(r, ret_sd, ret_fflags);
	v = str_likely((unsigned)fd < FD_LOW) ? str_load(&fd_low[fd]) :
						fd_ask(fd);
	return str_likely(v == (uintptr_t)r) && fd_unchanged(r, *ret_gen);
}

/*
 * Streams that a call looks at besides the one it is on.  fd_inside() is
 * str_head_enter(), and the head; NULL when the Stream is gone.  Then, or when
 * its look is over, the caller calls fd_outside() with what fd_inside() found.
 */
STR_INLINE struct str_head *
fd_inside(struct fd_rec *r, uint64_t *ret_was)
{
	struct str_head *sd;
	str_a32 *fflags;
	uint32_t gen = fd_load(r, &sd, &fflags);

	*ret_was = str_load(&host_self()->inside);
	return fd_unchanged(r, gen) && str_head_enter(sd, fflags, gen) ? sd :
									 NULL;
}

STR_INLINE void
fd_outside(uint64_t was)
{
	str_store_rel(&host_self()->inside, was);
}

/* Its status flags: a word that is there, whatever became of @r meanwhile. */
STR_INLINE uint32_t
fd_fflags(const struct fd_rec *r)
{
	return str_load(str_load(&r->fflags));
}

/* Events that hold on @r's Stream; @gone when there is none any more. */
uint32_t fd_events(struct fd_rec *r, uint32_t gone);
/* What comes at the socket of its driver is news from now on. */
void fd_watch(struct fd_rec *r);
/* Arm it for @events, after running what is enabled on it: see head.h. */
void fd_arm(struct fd_rec *r, struct host_call *hc, int fd, uint32_t events);
/* See str_head_lost(), str_head_look(), str_head_drain(). */
bool fd_lost(struct fd_rec *r);
void fd_look(struct fd_rec *r, struct host_call *hc, int fd);
void fd_drain(struct fd_rec *r, int fd, uint32_t others);
/* Has a process outside the domain no room for what is written at @r?  And
 * the kernel says of @fd that there is some. */
bool fd_outside_full(struct fd_rec *r);
void fd_outside_room(struct fd_rec *r, struct host_call *hc, int fd);

/* epoll.c, called with the lock held */
void ep_rec_gone(struct fd_rec *r);
void ep_free(struct ep *ep);
/* ... and when a call on @r found nothing: EAGAIN */
void ep_rearm(struct fd_rec *r, uint32_t events);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Table of this process's descriptors.
 *
 * A word per descriptor: UNKNOWN, NOT a Stream, or the address of a record.
 * A record describes one open file of a Stream head that this process holds,
 * for any number of descriptors.  An epoll instance that watches Streams has
 * one too; the lowest bit of the word distinguishes it.
 *
 * The table is a cache.  A number that is UNKNOWN is looked up in the kernel
 * once.  Every call that frees a number makes it UNKNOWN again, because the
 * next open reuses it.
 *
 * Locks.  Readers take none. [F] is changed under fd_lock(), with handlers
 * deferred, so that handlers may use descriptors themselves; fork waits for the
 * lock.  Records are type-stable: a thread that uses a descriptor while another
 * one closes it reads a record, perhaps of another Stream, but never other
 * data.
 */
#ifndef STREAMS_FD_H
#define STREAMS_FD_H

#include <errno.h>

#include <str/host.h>

#include "head/head.h"
#include "user.h"

#define FD_LOW    65536u /* numbers in the table that is always there */
#define FD_CHUNKS 1024u  /* of FD_LOW numbers each, made when needed */
#define FD_MAX    ((int)(FD_LOW * FD_CHUNKS))

#define FD_UNKNOWN ((uintptr_t)0)
#define FD_NOT     ((uintptr_t)1)

typedef _Atomic uintptr_t fd_word;

/* The beginning of every object that a word points to. */
struct fd_obj {
	uint32_t count; /* [F] descriptors that refer to it */
	uint32_t epoll; /* [I] 1: struct ep */
};

struct fd_rec {
	struct fd_obj obj;
	struct str_file *file;	     /* [F] */
	struct str_head *sd;         /* [A] head of the open file */
	str_a32 *fflags;             /* [A] status flags, in the domain */
	uint32_t gen;                /* [A] of the head's memory */
	uint32_t kind;               /* [A] of the carrier, HOST_CARRIER_* */
	uint64_t cookie;             /* [A] of the carrier */
	struct fd_rec *next;         /* [F] of the hash chain or free list */
	struct ep_item *items;       /* [F] its epoll registrations */
	uint32_t born;		     /* [F] fd_forks() when it was made;
				      * while that is so no other holds it */
	bool made;		     /* [F] by this process, and its carrier is
				      * as it was made, but for O_NONBLOCK */
	str_a32 nitem;               /* [F] of these, edge-triggered and without
				      * a slot; read without the lock */
	str_a32 nroom;               /* [F] likewise, edge-triggered with a
				      * slot, and for room to write */
	str_a32 token;               /* a token may lie in the carrier */
	int hint;                    /* [F] a descriptor of it, perhaps */
	str_a32 plain;               /* [A] 1: its descriptors refer to the
				      * kernel's pipe of a PLAIN pipe */
	int under;                   /* [F] ... and this hidden one to the
				      * carrier */
	struct fd_rec *plain_next;   /* [F] next such record */
	uint64_t spare;              /* [F] number of a kernel's pipe for the
				      * case that it becomes PLAIN, or 0; the
				      * other end's record has the same */
	bool no_spare;               /* [F] there was none at a fork: it cannot
				      * become PLAIN here */
	uint32_t serial;             /* [F] records made before it */
	uint32_t dup_at;             /* [F] fd_forks() + 1 at the last dup() */
} STR_LINE;

struct fd_guard {
	struct host_call hc;
	uint64_t mask;
	bool entered;
};

extern fd_word fd_low[FD_LOW];

uintptr_t fd_ask(int fd) STR_COLD;

/* The word of @fd, looked up if necessary. */
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

/* Has @fd, which is not a Stream, been looked up? */
STR_INLINE bool
fd_known(int fd)
{
	/* it is a Stream by now: it was closed at the lookup */
	return (unsigned)fd >= FD_LOW || (str_load(&fd_low[fd]) & 1) != 0;
}

/* The Stream of @fd, or NULL. */
STR_INLINE struct fd_rec *
fd_stream(int fd)
{
	uintptr_t v = fd_word_of(fd);

	return str_likely((v & 1) != 0) ? NULL : (struct fd_rec *)v;
}

/* The same without a lookup: NULL also if one is needed. */
STR_INLINE struct fd_rec *
fd_likely_stream(int fd)
{
	uintptr_t v;

	if (str_unlikely((unsigned)fd >= FD_LOW))
		return NULL;
	v = str_load_acq(&fd_low[fd]);
	return str_likely((v & 1) == 0) ? (struct fd_rec *)v : NULL;
}

/* The epoll instance with Streams of @fd, or NULL. */
STR_INLINE struct ep *
fd_epoll(int fd)
{
	uintptr_t v = fd_word_of(fd);

	return (v & 1) != 0 && v != FD_NOT ? (struct ep *)(v - 1) : NULL;
}

/*
 * member.c.  fd_possible - could any descriptor of this process be a Stream?
 * Then the process is a member of its domain.  fd_possible_again - look once more:
 * the process has another user.  fd_received - so, for what recvmsg(2) has put
 * under @fd.  fd_carrier_like - is it a socket as Streams have?
 */
bool fd_possible(void);
void fd_possible_again(void);
void fd_received(int fd);
bool fd_carrier_like(int fd);

void fd_lock(struct fd_guard *g);
bool fd_lock_mine(void); /* does this thread have the lock? */
void fd_unlock(struct fd_guard *g);

/* With the lock held. */
struct fd_rec *fd_rec_of(struct str_file *f, const struct host_carrier *c);
void fd_rec_free_unused(struct fd_rec *r);
void fd_put(int fd, uintptr_t v);
uintptr_t fd_get(int fd);
int fd_high(void);
/* Number of events by which other processes may have got descriptors: forks,
 * spawns, SCM_RIGHTS. fd_shared: count such an event. */
uint32_t fd_forks(void);
void fd_shared(void);
/*
 * made_process - the caller's process has made @pid, which has descriptors of
 * its own; 0, in the child itself, and -1 do nothing: syscall.c
 */
void made_process(long pid);
void fd_made(struct fd_rec *r);
void fd_changed(struct fd_rec *r); /* its carrier, by the kernel */
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
 * Releasing a Stream's descriptor: fd_release_begin() before the kernel closes
 * it, fd_release_end() after, if @rel->sd is not NULL. fd_release_hold()
 * between the two, if the close cannot sleep: it begins the call before the
 * close, so that the Stream is still the same afterwards, even if another
 * thread notices first that it has no holder.
 */
struct fd_release {
	struct str_head *sd;
	struct str_file *file;
	int peer;
	uint32_t kind; /* HOST_CARRIER_* */
	uint32_t forks;
	bool sole; /* only we held it, unless forks is past */
	bool last; /* it was our only one */
	bool plain; /* no epoll instance of the kernel has the carrier */
	bool kept; /* the carrier is spare now */
	uint64_t cookie; /* of the carrier */
	bool entered; /* held: inside a call */
	uint32_t gen;
	const str_a32 *fflags;
	struct host_call hc;
};
void fd_release_begin(int fd, struct fd_release *rel);
void fd_release_hold(struct fd_release *rel);
int fd_close(int fd, struct fd_release *rel); /* all, except fd_release_end() */
void fd_release_end(struct fd_release *rel);

/* Hidden descriptors from @from on: the lowest, or -1. */
int fd_hidden_from(int from);
/* Move the hidden descriptor @fd to another number. */
void fd_hidden_move(int fd);

/* The Stream of @r; valid if fd_unchanged() is true afterwards. */
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
 * A consistent copy of @r: a record may be reused while it is read, or after it
 * was found at @fd; see fd_rec_of().  Return: false: that happened.
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
 * Other Streams that a call checks besides its own. fd_inside() calls
 * str_head_enter() and returns the head; NULL: the Stream is gone.  In both
 * cases the caller calls fd_outside() at the end, with the result of
 * fd_inside().
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

/* Its status flags: the word exists even if @r has been reused. */
STR_INLINE uint32_t
fd_fflags(const struct fd_rec *r)
{
	return str_load(str_load(&r->fflags));
}

/*
 * Events that are present on @r's Stream; @gone if it does not exist any more.
 */
uint32_t fd_events(struct fd_rec *r, uint32_t gone);
/* Only those of @want are needed, and errors and hang-up. */
uint32_t fd_events_for(struct fd_rec *r, uint32_t gone, uint32_t want);
/* Watch the socket of its driver from now on. */
void fd_watch(struct fd_rec *r);
/* Arm it for @events, after running its enabled queues: see head.h. */
void fd_arm(struct fd_rec *r, struct host_call *hc, int fd, uint32_t events);
/* See str_head_lost(), str_head_look(), str_head_drain(). */
bool fd_lost(struct fd_rec *r);
void fd_look(struct fd_rec *r, struct host_call *hc, int fd);
void fd_drain(struct fd_rec *r, int fd, uint32_t others);
/* Has a process outside the domain no room for data written at @r?
 * fd_outside_room: the kernel reports room at @fd. */
bool fd_outside_full(struct fd_rec *r);
void fd_outside_room(struct fd_rec *r, struct host_call *hc, int fd);

/*
 * plain.c.  plain_adopt - @r's pipe is PLAIN: let its descriptors in this
 * process refer to the kernel's pipe.  With or without the lock.  Return: 0, or
 * an errno.
 * plain_drop - @r ends.  Locks: the table's.
 * plain_events - @ev, the events of @r's head @sd, with those of the kernel's
 * pipe.
 */
int plain_adopt(struct fd_rec *r);
void plain_drop(struct fd_rec *r);
/* ... and before a fork: the children shall know the same kernel's pipe. */
void plain_spare(struct fd_rec *r);
/* ... and @fd has become a number of @r: it refers to what the others do. */
void plain_copied(struct fd_rec *r, int fd);
struct fd_rec *fd_peer_rec(struct fd_rec *r); /* of the other end, or NULL */
uint32_t plain_events(struct fd_rec *r, struct str_head *sd, uint32_t ev);
bool plain_is_hidden(int fd);
int plain_hidden_from(int from);
void plain_hidden_move(int fd);
int fd_number(struct fd_rec *r); /* some descriptor of @r, or -1 */

/* epoll.c, called with the lock held */
void ep_rec_moving(struct fd_rec *r); /* its numbers get another file */
void ep_rec_moved(struct fd_rec *r);
void ep_rec_gone(struct fd_rec *r);
void ep_free(struct ep *ep);
/* ... and when a call on @r found nothing: EAGAIN */
void ep_rearm(struct fd_rec *r, uint32_t events);

/* A call on @r that waits for @events has failed with -@ret. */
STR_INLINE void
fd_again(struct fd_rec *r, long ret, uint32_t events)
{
	if (ret == -EAGAIN && str_unlikely((str_load(&r->nitem) != 0 ||
			((events & STR_POLL_WRITE) != 0 &&
				str_load(&r->nroom) != 0))))
		ep_rearm(r, events);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Epoll instances with Streams in them, and their registrations: what epoll.c,
 * epitem.c, epready.c and epspin.c share.  epoll.c has the theory.
 *
 * Locks.  Everything here is [F], under fd_lock(), if nothing else is said.
 */
#ifndef STREAMS_EPITEM_H
#define STREAMS_EPITEM_H

#include <signal.h>
#include <sys/epoll.h>

#include "head/watch.h"
#include "pollset.h"

#define EP_ALWAYS (STR_POLLERR | STR_POLLHUP | STR_POLLNVAL)
#define EP_FLAGS \
	((uint32_t)EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)
#define EP_NO_SLOT ~0u
#define EP_NEAR_NS 20000000u /* stage 1: a death is not noticed in it */

/* A list through items; an item that is in none points to itself. */
struct ep_link {
	struct ep_link *next, *prev;
};

struct ep_item {
	struct ep *ep; /* NULL: free */
	struct fd_rec *rec;
	struct ep_item *rec_next; /* of the same Stream */
	struct ep_item *free_next;
	struct ep_link link; /* of ep->pend or ep->unsure */
	epoll_data_t data;   /* the caller's */
	uint32_t events;     /* the caller's, with flags */
	uint32_t index;      /* [I] its number among all */
	uint32_t gen;        /* uses of this memory */
	uint32_t number;     /* in ep->item[], and in the watcher */
	uint32_t place;      /* in ep->slow[], if it has no slot */
	uint32_t slot;       /* of the head; EP_NO_SLOT: it waits by tokens */
	uint32_t round;      /* of the call that reported it last */
	uint32_t forks;      /* forks before it was added */
	int fd;              /* as registered */
	struct str_armed armed;
	uint8_t ways;  /* it has been armed for these: STR_WATCH_* */
	uint8_t why;   /* edges that are to be reported */
	uint8_t idle;  /* calls that found it not ready, one after the other */
	bool queued;   /* in ep->pend */
	bool doubtful; /* in ep->unsure */
	bool fresh;    /* without a slot: check it without a token */
	bool poked;    /* the kernel reports it as ready */
	bool spent;    /* one-shot, reported already */
	bool lost;     /* the hang-up is not real; ignore it after the first
			* time */
};

struct ep {
	struct fd_obj obj;
	struct ep *free_next;
	struct ep_item **item; /* by number, or NULL */
	struct ep_item **slow; /* those without a slot */
	unsigned cap;
	str_a32 n;             /* [A] items */
	str_a32 nslow;         /* [A] */
	unsigned low;          /* no number below is free */
	unsigned turn;         /* where the next check of slow[] begins */
	struct str_watch *volatile watch; /* [A] NULL: none */
	struct ep_link pend;     /* items to be checked, npend of them */
	struct ep_link unsure;   /* armed without a heavy fence */
	str_a32 npend;         /* [A] */
	str_a32 waiters;       /* [A] threads in calls */
	str_a32 round;         /* [A] counts calls */
	str_a64 looked;        /* [A] host_ticks() of the last look at the
				* kernel */
	str_a32 vain, rest;    /* [A] spins in vain; calls without one */
	bool mixed;            /* [A] other descriptors may be in it */
	bool nested;           /* it is in another instance */
	bool tokens;           /* [A] no item gets a slot */
	int fd;                /* a descriptor of it; -1: a set of poll(2) */
};

/* One epoll_wait(). */
struct ep_wait {
	struct ep *ep;
	int epfd;
	struct host_call *hc;
	struct epoll_event *out; /* the caller's */
	int max, n;
	uint32_t round;
	bool fault;
};

STR_INLINE bool
ep_is_fast(const struct ep_item *it)
{
	return it->slot != EP_NO_SLOT;
}

/* Is it registered edge-triggered in the kernel, if it waits by tokens? */
STR_INLINE bool
ep_is_edge(const struct ep_item *it)
{
	return (it->events & ((uint32_t)EPOLLET | EPOLLONESHOT)) != 0;
}

STR_INLINE uint32_t
ep_wants(const struct ep_item *it)
{
	return (it->events & ~EP_FLAGS) | EP_ALWAYS;
}

/* epitem.c */
#define EP_TAG_MAGIC 0x53a7u
/* ours, no item's */
#define EP_TAG_NONE ((uint64_t)EP_TAG_MAGIC << 48 | 0xffffff)
extern struct ep *ep_unused; /* for ep_make() */
struct ep *ep_make(int fd);
struct ep *ep_of(int epfd);
struct ep_item *ep_item_of(const struct ep *ep, uint64_t data, bool *ret_ours);
struct ep_item *ep_item_find(const struct ep *ep, const struct fd_rec *r,
	int fd);
struct ep_item *ep_item_new(struct ep *ep, struct fd_rec *r, int fd,
	const struct epoll_event *ev);
void ep_item_remove(struct ep_item *it);
void ep_item_set(struct ep_item *it, const struct epoll_event *ev);
void ep_item_slow(struct ep_item *it);
bool ep_item_here(const struct ep_item *it);
int ep_item_poke(struct ep_item *it, bool on);
uint32_t ep_item_events(const struct ep_item *it);
void ep_item_arm(struct ep_item *it, uint32_t hold, struct host_call *hc);
void ep_queue(struct ep_item *it);
void ep_unqueue(struct ep_item *it);
void ep_post(struct ep_item *it, uint32_t why);
void ep_tokens(struct ep *ep, bool on);
void ep_own(struct ep *ep);
/* For eplife.c: how the kernel reports @it; a descriptor of @ep; has @ep a
 * watcher of this process; its arrays end. */
struct epoll_event ep_kernel_event(const struct ep_item *it);
int ep_number(struct ep *ep);
bool ep_has_watch(const struct ep *ep);
void ep_arrays_free(struct ep *ep);

/* epready.c */
enum ep_how {
	EP_GLANCE, /* the thread spins: arm only what wants room and has none */
	EP_TAKE,   /* it may find other events: arm what was idle for some calls */
	EP_REST,   /* it is about to sleep: arm all */
};
void ep_report(struct ep_wait *w, struct ep_item *it, uint32_t ev);
void ep_put(struct ep_wait *w, uint32_t events, epoll_data_t data);
void ep_pass(struct ep_wait *w, enum ep_how how);
void ep_sure(struct ep *ep, struct host_call *hc);
void ep_item_room(struct ep_item *it);
void ep_take(struct ep_wait *w, enum ep_how how);
void ep_arm_all(struct ep_wait *w);

/* epspin.c */
void ep_spin(struct ep_wait *w);
int ep_sleep_near(struct ep_wait *w, uint64_t deadline, const sigset_t *mask);

#endif

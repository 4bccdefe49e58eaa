/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of sockets, for ksock.c, which has the theory, and for lend.c,
 * whose code paths are so short that function calls matter.
 */
#ifndef STR_SOCK_TABLE_H
#define STR_SOCK_TABLE_H

#include "sock.h"

struct str_ksock {
	str_a32 gen;	 /* [A] generation; odd: there is a socket */
	str_a32 owner;	 /* [A] tag of its maker or closer; 0: none */
	queue_t *volatile rq; /* [A] queue that gets its events; NULL: none */
	struct str_plumb *volatile home; /* [A] home stream: ksock.c */
	str_a32 events;	 /* [A] KS_*: recorded, the driver has not taken them */
	str_a32 want;	 /* [A] KS_*: ksock_want() */
	str_a32 flags;	 /* [A] KF_* */
	str_a32 closed;	 /* [A] the greatest generation of this slot whose
			  * descriptor streamsd has closed */
	uint32_t index;	 /* [I] */
	str_a32 sent;	 /* [A] counts sends */
	str_a32 daemon_events; /* [A] KS_*: for which streamsd watches it */
	union {
		struct {
			str_a32 seen; /* `sent' at streamsd's last look */
			str_a32 age;  /* streamsd's looks with no send between */
			str_a32 drained; /* `sent' at the last call of
					  * str_sock_unsent() */
		};
		struct {
			uint32_t ino;	   /* [I] KF_BOX: the kernel's name */
			uint32_t cookie[2]; /* [I] its cookie, in two halves */
		} box;
	};
} STR_LINE;

_Static_assert(sizeof(struct str_ksock) == 64, "one line each");

#define KF_BLOCKED 1u	/* the last write was refused, or was incomplete */
/* Since the last event of the socket was passed to the driver: */
#define KF_EMPTY 2u	/* a read found nothing */
#define KF_SHORT 4u	/* a read got less than it had room for: was_read() */
#define KF_FULL 8u	/* a write was refused, or was incomplete */
/* The socket is stuck: a waiter waits for an edge (ksock.c): */
#define KF_STUCKIN 16u	/* after an event of data it was not found empty */
#define KF_STUCKOUT 32u	/* after an event of room it was not found full */
#define KF_NAMED 64u	/* bound, or listening: others may want its address */
#define KF_STREAM 128u	/* of type SOCK_STREAM */
#define KF_CONNECTING 256u
#define KF_ABORT 512u	/* is being closed by a reset */
#define KF_NEAR 1024u	/* ksock_near() */
#define KF_MAYNEAR 65536u /* ksock_may_be_near() */
#define KF_NAP 8192u	/* KS_NAP; the next waiter clears it: ksock_nap() */
#define KF_SPIN 16384u	/* KS_SPIN, likewise */
#define KF_FILE 2048u	/* no socket: used by read(2) and write(2) only */
#define KF_BOX 32768u	/* a box (box.c) */
#define KF_WATCHED 4096u /* a process has watched it, edge-triggered */

/* A byte stream: only there a read of fewer bytes than there was room for means
 * that the socket is empty, and such a write that it is full. */
#define SOCK_STREAM 1
#define TYPE_MASK 15

/* The table: pieces of a granule each, made when they are needed. */
#define PIECE 1023u
#define PIECES (HOST_NSOCK / 1024u)

_Static_assert(PIECES <= STR_NKSOCK, "roots for the pieces");

STR_INLINE struct str_ksock *
piece(unsigned c)
{
	uint64_t p = str_load_acq(str_root(STR_ROOT_KSOCK + c));

	return p == 0 ? NULL : (struct str_ksock *)(uintptr_t)(p + 64);
}

STR_INLINE struct str_ksock *
slot(uint32_t index)
{
	struct str_ksock *p = index < HOST_NSOCK ? piece(index / 1024) : NULL;

	if (str_unlikely(p == NULL || index % 1024 >= PIECE))
		return NULL;
	return &p[index % 1024];
}

STR_INLINE uint64_t
id_of(const struct str_ksock *ks)
{
	return (uint64_t)str_load_acq(&ks->gen) << 32 | ks->index;
}

/*
 * str_ksock_take - take a free slot and stamp it with the caller's tag; NULL:
 * no memory
 * str_ksock_settle - make @fd the socket of @ks, a slot that was taken, and
 * @home its home.  From then on the slot is alive.
 */
struct str_ksock *str_ksock_take(void);
void str_ksock_settle(struct str_ksock *ks, int fd, struct str_plumb *home,
	uint32_t flags);

/* The socket @id, or NULL if it does not exist any more. */
STR_INLINE struct str_ksock *
str_ksock_at(uint64_t id)
{
	struct str_ksock *ks = slot((uint32_t)id);

	return str_likely(ks != NULL && (id >> 32 & 1) != 0 &&
		str_load_acq(&ks->gen) == (uint32_t)(id >> 32)) ? ks : NULL;
}

/* Set and clear flags; stores only if they change. */
STR_INLINE void
flag(ksock_t *ks, uint32_t set, uint32_t clear)
{
	uint32_t f = str_load(&ks->flags);

	if (str_unlikely((f & set) != set))
		(void)str_or(&ks->flags, set);
	if (str_unlikely((f & clear) != 0))
		(void)str_and(&ks->flags, ~clear);
}

/*
 * The events, KS_IN or 0, for which streamsd must watch @ks because of its home
 * @pl, in addition to ks->want.
 */
STR_INLINE uint32_t
for_home(const struct str_ksock *ks, const struct str_plumb *pl)
{
	return str_load(&ks->rq) != NULL && (pl->under != NULL ||
		pl->head[0].sigs != NULL ||
		(str_load(&ks->flags) & KF_NEAR) != 0) ? KS_IN : 0;
}

/*
 * The socket of @pl, for a head that does the driver's work itself; NULL: there
 * is none.  @in: to receive; then also NULL if streamsd watches it, or a
 * process has ever watched it for edges: they would not learn of data that is
 * left.
 */
STR_INLINE struct str_ksock *
str_sock_lent(struct str_plumb *pl, bool in)
{
	struct str_ksock *ks = str_ksock_at(str_sock_of(pl));

	if (str_unlikely(ks == NULL || str_load(&ks->home) != pl || (in &&
		(for_home(ks, pl) != 0 ||
			(str_load(&ks->flags) & KF_WATCHED) != 0))))
		return NULL;
	return ks;
}

/*
 * Record the result of a write. @r: the number of bytes, or of datagrams, that
 * the kernel took; or minus an errno. @want: the number that it was given, or 0
 * if a smaller @r does not mean that the socket is full.
 */
STR_INLINE void
wrote(ksock_t *ks, long r, size_t want)
{
	if (r > 0)
		str_store(&ks->sent, str_load(&ks->sent) + 1);
	if (str_unlikely(r == -EAGAIN || (r >= 0 && (size_t)r < want)))
		flag(ks, KF_BLOCKED | KF_FULL, KF_STUCKOUT);
	else
		flag(ks, 0, KF_BLOCKED | KF_STUCKOUT);
}

/*
 * Record the result of a read. @r: the number of bytes, or of datagrams, that
 * were received; or minus an errno. @want: the number that there was room for,
 * or 0 if a smaller @r does not mean that the socket is empty.
 */
STR_INLINE void
was_read(ksock_t *ks, long r, size_t want)
{
	if (str_unlikely(r == -EAGAIN))
		flag(ks, KF_EMPTY, KF_STUCKIN);
	else if (str_unlikely(r > 0 && (size_t)r < want))
		flag(ks, KF_SHORT, KF_STUCKIN);
}

#endif

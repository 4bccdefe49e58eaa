/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * The table of sockets, for ksock.c, which has the theory, and for lend.c,
 * whose ways are short enough for a call between functions to count.
 */
#ifndef STR_SOCK_TABLE_H
#define STR_SOCK_TABLE_H

#include "sock.h"

struct str_ksock {
	str_a32 gen;	 /* [A] odd: it lives */
	str_a32 owner;	 /* [A] tag of its maker or closer; 0: none */
	queue_t *volatile rq; /* [A] whose events; NULL: none */
	struct str_plumb *volatile home; /* [A] */
	str_a32 events;	 /* [A] KS_*: noted, not taken */
	str_a32 want;	 /* [A] KS_*: ksock_want() */
	str_a32 flags;	 /* [A] KF_* */
	str_a32 closed;	 /* [A] the host's: str_sock_word() */
	uint32_t index;	 /* [I] */
	str_a32 sent;	 /* [A] counts what was sent */
	str_a32 told;	 /* [A] streamsd watches: KS_* */
	union {
		struct {
			str_a32 seen; /* streamsd: `sent', at its last look */
			str_a32 age;  /* streamsd: looks since that changed */
			str_a32 drained; /* `sent' when str_sock_unsent() was
					  * asked */
		};
		struct {
			uint32_t ino;	   /* [I] KF_BOX: the kernel's name */
			uint32_t cookie[2]; /* [I] */
		} box;
	};
} STR_LINE;

_Static_assert(sizeof(struct str_ksock) == 64, "one line each");

#define KF_BLOCKED 1u	/* the last write was refused */
#define KF_EMPTY 2u	/* the last read found nothing */
#define KF_SHORT 4u	/* ... or took less than it could have */
#define KF_FULL 8u	/* the last write was refused */
#define KF_STUCKIN 16u
#define KF_STUCKOUT 32u
#define KF_NAMED 64u	/* bound, or listening */
#define KF_STREAM 128u
#define KF_CONNECTING 256u
#define KF_ABORT 512u	/* is being closed by a reset */
#define KF_NEAR 1024u	/* ksock_near() */
#define KF_NAP 8192u	/* ksock_nap(), until a thread has done so */
#define KF_SPIN 16384u
#define KF_FILE 2048u	/* no socket: read and written */
#define KF_BOX 32768u	/* keeps descriptors: str_sock_box() */
#define KF_WATCHED 4096u /* a process has been told of its events, by edges */

#define SOCK_STREAM 1 /* the only type whose reads can be short */
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

/* A slot, not alive yet, stamped with our tag; NULL: no memory.  Then @fd
 * becomes that socket, at home in @home. */
struct str_ksock *str_ksock_take(void);
void str_ksock_settle(struct str_ksock *ks, int fd, struct str_plumb *home,
	uint32_t flags);

/* The socket @id, or NULL when it lives no more. */
STR_INLINE struct str_ksock *
str_ksock_at(uint64_t id)
{
	struct str_ksock *ks = slot((uint32_t)id);

	return str_likely(ks != NULL && (id >> 32 & 1) != 0 &&
		str_load_acq(&ks->gen) == (uint32_t)(id >> 32)) ? ks : NULL;
}

/* Set and clear; a store only where something changes. */
STR_INLINE void
flag(ksock_t *ks, uint32_t set, uint32_t clear)
{
	uint32_t f = str_load(&ks->flags);

	if (str_unlikely((f & set) != set))
		(void)str_or(&ks->flags, set);
	if (str_unlikely((f & clear) != 0))
		(void)str_and(&ks->flags, ~clear);
}

/* What streamsd has to look at for @pl, where @ks is at home, besides. */
STR_INLINE uint32_t
for_home(const struct str_ksock *ks, const struct str_plumb *pl)
{
	return str_load(&ks->rq) != NULL && (pl->under != NULL ||
		pl->head[0].sigs != NULL ||
		(str_load(&ks->flags) & KF_NEAR) != 0) ? KS_IN : 0;
}

/* The socket of @pl, if the head may use it, to receive as well. */
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

/* A write took all, or not (@r, minus an errno or a count, of @want). */
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

STR_INLINE void
was_read(ksock_t *ks, long r, size_t want)
{
	if (str_unlikely(r == -EAGAIN))
		flag(ks, KF_EMPTY, KF_STUCKIN);
	else if (str_unlikely(r > 0 && (size_t)r < want))
		flag(ks, KF_SHORT, KF_STUCKIN);
}

#endif

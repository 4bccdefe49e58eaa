/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * libxti: the X/Open Transport Interface on TPI.
 *
 * Place of the state.  All users of an endpoint must agree on its state and its
 * number of connection indications.  These are in two words of the Stream head,
 * in the memory of the domain: so a child after fork, a program after exec, a
 * duplicate, and a process that received the descriptor all see the current
 * state, and t_sync() has little to do.  Data, and events that were not
 * consumed, stay at the head; the rest of a message that did not fit is its
 * first message.  The process keeps only data that it can get again: the
 * provider's sizes, by descriptor, valid as long as the descriptor refers to
 * the same open file (struct strm_id).
 *
 * Requests.  Requests with an acknowledgement are sent as ioctls through timod,
 * one at a time for each Stream and all its callers; no signal interrupts them.
 * Data and releases are messages.  Normal data of a provider without
 * boundaries, or that is one unit and fits, is an M_DATA message by itself, as
 * write(2) makes it.
 *
 * Events.  An event is the first message at the head.  A call takes the first
 * message, in one step, if it is one that the call expects (strm_getprim());
 * else the message stays for t_look().
 *
 * Locks.  None.  The words are changed by compare-and-swap; entries of the
 * tables are only filled in, with the same answers of the provider by every
 * caller.
 *
 * Crash.  A word is one store.  A process that dies between the provider's
 * acknowledgement and that store leaves a state that t_sync() corrects.
 */
#ifndef XTI_IMPL_H
#define XTI_IMPL_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <str/annot.h>
#include <str/tli.h>
#include <sys/xti.h>	/* first: netbuf as XTI has it */
#include <sys/tihdr.h>
#include <sys/tiuser.h>

/* The first word at the head. */
#define W_STATE 0x000fu	 /* T_UNBND ... T_INREL */
#define W_INIT 0x0010u	 /* the state is known */
#define W_TLI 0x0020u	 /* opened through <tiuser.h> */
#define W_RPART 0x0040u	 /* first at the head: the rest of normal data, */
#define W_RMORE 0x0080u	 /* ... after which the unit goes on */
#define W_XPART 0x0100u	 /* the same of expedited data */
#define W_XMORE 0x0200u
#define W_FLOW 0x0400u	 /* TFLOW was returned: T_GODATA is of interest */
#define W_XFLOW 0x0800u	 /* T_GOEXDATA is */
#define W_SMORE 0x1000u	 /* a unit has been begun, and not ended */
#define W_COMING 0x2000u /* a connection is asked for, or accepted: what comes
			  * may be of it, whatever the state says yet */
#define W_DATA \
	(W_COMING | W_RPART | W_RMORE | W_XPART | W_XMORE | W_FLOW | \
		W_XFLOW | W_SMORE)
#define W_OCNT 0x10000u	 /* one connection indication */
#define OCNT(w) ((w) >> 16)

/* Masks of states. */
#define S(s) (1u << (s))
#define S_ANY \
	(S(T_UNBND) | S(T_IDLE) | S(T_OUTCON) | S(T_INCON) | S(T_DATAXFER) | \
		S(T_OUTREL) | S(T_INREL))
#define S_CONN \
	(S(T_OUTCON) | S(T_INCON) | S(T_DATAXFER) | S(T_OUTREL) | S(T_INREL))

/* Bits of primitives, for strm_getprim(). */
#define P(prim) (1u << (prim))
#define P_DATA \
	(STRM_DATA | P(T_DATA_IND) | P(T_EXDATA_IND) | P(T_OPTDATA_IND))

/* Answers go to timod; what is at the head is no answer. */
#define P_ACKS \
	(P(T_INFO_ACK) | P(T_BIND_ACK) | P(T_ERROR_ACK) | P(T_OK_ACK) | \
		P(T_OPTMGMT_ACK) | P(T_ADDR_ACK) | P(T_CAPABILITY_ACK))

/* What this process knows of a descriptor. */
struct ep {
	void *head; /* of this open file ... */
	uint32_t gen;
	uint32_t acceptor; /* T_CONN_RES: this endpoint */
	uint32_t major;	   /* of the device */
	struct t_info info;
	int32_t state;	   /* CURRENT_state when it was asked */
};

/* A call on an endpoint. */
struct use {
	int fd;
	const struct ep *ep;
	uint32_t *w; /* the two words */
	struct strm_id id;
};

#define W(u) __atomic_load_n((u)->w, __ATOMIC_ACQUIRE)

/* The second word: how many indications may wait. */
#define XTI_QLEN_UNKNOWN (~0u) /* another process has bound it */
#define xti_qlen(u) __atomic_load_n(&(u)->w[1], __ATOMIC_ACQUIRE)

/* err.c: all set t_errno and return -1. */
int xti_fail(int terr);
int xti_sys(int err); /* TSYSERR and errno */
/* What strm_*() returned; @again: for EAGAIN. */
int xti_neg(long neg, int again);

/*
 * The caller's structures.  Fast calls use them in place, after a check:
 * XTI_READABLE() and XTI_WRITABLE(), one instruction each, jump to @bad if the
 * byte, or the word, cannot be read or written; XTI_ZERO() writes the usual
 * final value.  Other calls copy them, so that bad memory is an error:
 * xti_in(), xti_out(), and xti_inout() at the beginning of a call for one that
 * will be written. 0, or -1 with t_errno.
 */
int xti_in(void *to, const void *user, size_t len);
int xti_inout(void *to, void *user, size_t len);
int xti_out(void *user, const void *from, size_t len);
/* xti_out() among others that xti_over() is asked about: 0, or XTI_FAULT. */
#define xti_put(user, from, len) \
	(strm_copy((user), (from), (len)) != 0 ? XTI_FAULT : 0)
#if defined(__x86_64__)
#define XTI_GUARDED(insn, p, bad, ...) \
	__asm__ goto("1:	" insn "\n" \
		"	.pushsection xti_guard, \"a\"\n" \
		"	.balign 4\n" \
		"	.long 1b - ., %l[" #bad "] - .\n" \
		"	.popsection" \
		: : "m"(*(p)) : "cc", ##__VA_ARGS__ : bad)
#define XTI_READABLE(p, bad) \
	XTI_GUARDED("testb $0, %0", (const char *)(p), bad)
#define XTI_WRITABLE(p, bad) XTI_GUARDED("orl $0, %0", p, bad)
#define XTI_ZERO(p, bad) XTI_GUARDED("movl $0, %0", p, bad, "memory")
#else
#define XTI_READABLE(p, bad) \
	do { \
		char c_; \
		if (strm_copy(&c_, (p), 1) != 0) \
			goto bad; \
	} while (0)
#define XTI_WRITABLE(p, bad) \
	do { \
		unsigned w_; \
		if (strm_copy(&w_, (p), sizeof(w_)) != 0 || \
		    strm_copy((p), &w_, sizeof(w_)) != 0) \
			goto bad; \
	} while (0)
#define XTI_ZERO(p, bad) \
	do { \
		int w_ = 0; \
		if (strm_copy((p), &w_, sizeof(w_)) != 0) \
			goto bad; \
	} while (0)
#endif

/* ep.c */
int xti_use(struct use *u, int fd, unsigned states);
int xti_use_slow(struct use *u, int fd, unsigned states);
int xti_refresh(struct use *u);
void xti_word(struct use *u, uint32_t clear, uint32_t set);
void xti_state(struct use *u, unsigned state);
void xti_ocnt(struct use *u, int d);
enum xti_what { XTI_CALLED, XTI_CONNECTED, XTI_SENT_REL, XTI_GOT_REL,
	XTI_GOT_DIS };
void xti_happened(struct use *u, enum xti_what what);
int xti_event_slow(struct use *u);
int xti_open(const char *name, int oflag, struct t_info *info, uint32_t how);
int xti_bind(int fd, const struct t_bind *req, struct t_bind *ret, int tli);
/*
 * t_alloc(); @lenient, as in TLI: a field that is T_INVALID has no buffer, one
 * that is T_INFINITE has one of a usual size.
 */
void *xti_alloc(int fd, int struct_type, int fields, int lenient);
int xti_opt(struct use *u, const struct netbuf *in, int flags, void *out,
	unsigned room, const unsigned char **opt, unsigned *len, int *res);
#define XTI_OPTROOM 66000u
#define XTI_NETBUF 65536u /* bytes of an address, of options */

/* msg.c */
struct block {
	unsigned char *buf;
	unsigned size;
	int fault; /* what was to be put into it could not be read */
	unsigned char small[1024];
};
void xti_block(struct block *b);
int xti_block_size(struct block *b, unsigned size);
void xti_block_free(struct block *b);
/* An ioctl that timod makes a request; its answer is in @b.  0, or -1. */
int xti_str(struct use *u, int cmd, struct block *b, unsigned len,
	unsigned room);
int xti_str_in(struct use *u, int cmd, struct block *b, unsigned len,
	unsigned room, int secs);
int xti_request(struct use *u, struct block *b, unsigned len,
	const struct netbuf *udata);
/* As strm_getprim(), the control part going into @b. */
int xti_get(struct use *u, struct strm_prim *gp, struct block *b,
	unsigned want, int nowait);
void xti_rest(struct use *u, int more);
void xti_purge(struct use *u, unsigned want);
/*
 * Append a field to @b, which has *@at bytes so far.  Return: its offset.  A
 * bad buffer is recorded in the block; xti_request(), or another function that
 * sends the block, reports it.
 */
int xti_field(struct block *b, unsigned *at, const struct netbuf *nb);
#define XTI_FAULT 2
/* Give @len bytes at @off of @b, which has @have bytes, to @nb.  Return: 0; 1:
 * @nb was too small; XTI_FAULT. */
int xti_give(struct use *u, struct netbuf *nb, const struct block *b,
	long off, long len, long have);
/* The same from the @have bytes at @base; inlined for t_rcvudata(). */
STR_INLINE int
xti_give_from(struct use *u, struct netbuf *nb, const void *base, long off,
	long len, long have)
{
	if (len <= 0 || off < 0 || off + len > have) {
		nb->len = 0;
		return 0;
	}
	/* XTI: no room at all means that it is not wanted */
	if (nb->maxlen == 0 && (W(u) & W_TLI) == 0) {
		nb->len = 0;
		return 0;
	}
	if (len > (long)nb->maxlen || nb->buf == NULL) {
		nb->len = 0;
		return 1;
	}
	if (str_unlikely(strm_copy(nb->buf, (const char *)base + off,
		(size_t)len) != 0)) {
		nb->len = 0;
		return XTI_FAULT;
	}
	nb->len = (unsigned)len;
	return 0;
}
/* The result of a call in which these functions returned the bits @over. */
int xti_over(int over);
int xti_give_data(struct use *u, struct netbuf *nb, const struct strm_prim *gp,
	int more);
void xti_want_data(struct strm_prim *gp, const struct netbuf *nb);
/* A length without a buffer, or one that no address or list of options has. */
STR_INLINE int
xti_bad_netbuf(const struct netbuf *nb)
{
	return nb->len != 0 && (nb->buf == NULL || nb->len > XTI_NETBUF);
}

/* Is @len too much for a size of t_info? */
STR_INLINE int
xti_too_big(t_scalar_t size, unsigned len)
{
	if (size == T_INFINITE)
		return 0;
	return size < 0 ? len != 0 : len > (unsigned)size;
}

/* The event that holds the call up; 0: none.  A look at two words, mostly. */
STR_INLINE int
xti_look(struct use *u)
{
	return str_likely(!strm_pending(&u->id)) ? 0 : xti_event_slow(u);
}

#endif

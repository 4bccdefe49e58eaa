/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * libstreams-sctp: sockets of RFC 6458 on the device sctp.
 *
 * Objects.  A socket is a Stream of /dev/sctp with timod on it; its descriptor
 * is that of the Stream.  So poll(2), select(2), epoll(7), dup(2), fork(2) and
 * close(2) are those of libstreams.  The library defines the calls of sockets,
 * read(2) and write(2), and the waits for a connection that is being made; for
 * all other descriptors it calls the next definition.
 *
 * Place of the state.  The two words of the Stream head (strm_id()) are in the
 * memory of the domain.  The first says that the Stream is a socket, and its
 * state; the second has the number of streams for sending.  The error for
 * SO_ERROR, and what poll(2) says of the end, is the Stream head's
 * (strm_shut()).  Options that the provider has no use for are words that it keeps
 * (SCTPIO_SKEEP).  So a child after fork, a program after exec, and a receiver
 * of the descriptor have the same socket.  The process keeps only the
 * information about a message that has been received in part (last.c).
 *
 * Requests are ioctls through timod.  Data and releases are messages.
 *
 * The end.  T_ORDREL_IND and T_DISCON_IND are never taken from the Stream head:
 * the Stream stays readable, and each read looks at them again.
 *
 * Errors.  All functions here return 0, or a count, or minus an errno; wrap.c
 * makes it -1 and errno.
 *
 * Locks.  None.  The words are changed by compare-and-swap.
 */
#ifndef LIB_SCTP_SOCK_H
#define LIB_SCTP_SOCK_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <netinet/sctp.h>
#include <str/annot.h>
#include <str/tli.h>
#include <sys/sctpio.h>
#include <sys/tihdr.h>
#include <sys/xti.h>
#include <sys/xti_inet.h>

/* The first word. */
#define SK_TAG 0x5c000000u
#define SK_TAG_MASK 0xff000000u
#define SK_V6 0x1u	   /* AF_INET6 */
#define SK_BOUND 0x2u
#define SK_LISTEN 0x4u
#define SK_CALLING 0x8u	   /* a connection is asked for */
#define SK_CONNECTED 0x10u /* there is one, or was */
#define SK_WSHUT 0x40u	   /* shutdown(SHUT_WR) */
#define SK_RSHUT 0x80u	   /* shutdown(SHUT_RD) */
#define SK_REST 0x200u	   /* first at the head: the rest of a message, ... */
#define SK_MORE 0x400u	   /* ... after which it goes on, ... */
#define SK_UNORDERED 0x800u /* ... which is unordered */
#define SK_SNDRCV 0x1000u  /* messages come with SCTP_SNDRCV */
#define SK_RCVINFO 0x2000u /* ... with SCTP_RCVINFO */
#define SK_DEFAULTS 0x4000u /* there are defaults for messages */
#define SK_TIMES 0x8000u   /* SO_RCVTIMEO or SO_SNDTIMEO is set */
#define SK_WHOLE 0x10000u  /* SCTP_DISABLE_FRAGMENTS */
#define SK_SNDBUF 0x20000u /* SO_SNDBUF was set */
#define SK_PLAIN6 0x40000u /* no mapped addresses */
#define SK_MANY 0x80000u   /* one-to-many: many.c */
#define SK_NXTINFO 0x100000u /* ... and SCTP_NXTINFO of the next one */
#define SK_LINGER 0x200000u /* SO_LINGER with a time */
/* What a socket from accept() has of its listener. */
#define SK_INHERITED \
	(SK_V6 | SK_SNDRCV | SK_RCVINFO | SK_NXTINFO | SK_DEFAULTS | SK_TIMES | SK_WHOLE | \
		SK_SNDBUF | SK_PLAIN6 | SK_LINGER)

/* Words that the provider keeps. */
enum sk_keep {
	KEEP_SID,
	KEEP_FLAGS,
	KEEP_PPID,
	KEEP_CONTEXT,	 /* of messages sent */
	KEEP_TTL,
	KEEP_POLICY,
	KEEP_VALUE,
	KEEP_RCV_CONTEXT,
	KEEP_RCVTIME,	 /* ms; 0: for ever */
	KEEP_SNDTIME,
	KEEP_EVENTS,	 /* a bit for each type of notification */
	KEEP_FLAGGED,	 /* options without effect: SK_OPT_* */
	KEEP_INTERLEAVE,
	KEEP_INIT_TIMEO,
	KEEP_ADAPTATION
};
#define SK_OPT_REUSE 1u
#define SK_OPT_KEEPALIVE 2u
#define SK_OPT_REUSEPORT 4u

/* The only association of a socket of connections: as the provider says. */
#define SK_ASSOC 3

#define SK_STREAMS 10000u /* for which the provider has memory */
#define SK_MSG_MOST 262144u /* bytes of a message */
#define SK_PIECES 1024u /* most pieces of a vector */
#define SK_CONTROL 4096u /* bytes of ancillary data that are sent */

struct sock {
	int fd;
	struct strm_id id;
	uint32_t *w; /* the two words */
};

#define SK(s) __atomic_load_n((s)->w, __ATOMIC_ACQUIRE)
#define P(prim) (1u << (prim))
#define P_DATA \
	(STRM_DATA | P(T_DATA_IND) | P(T_EXDATA_IND) | P(T_OPTDATA_IND) | \
		P(T_UNITDATA_IND))
#define P_ACKS \
	(P(T_INFO_ACK) | P(T_BIND_ACK) | P(T_ERROR_ACK) | P(T_OK_ACK) | \
		P(T_OPTMGMT_ACK) | P(T_ADDR_ACK))

/* A list of addresses, one behind the other, as TPI has them. */
#define SK_ADDRS 8u
struct sk_addrs {
	uint32_t len;
	unsigned char buf[SK_ADDRS * sizeof(struct sockaddr_in6)];
};

/* Is @fd a socket?  Then @s describes it. */
static inline int
sk_find(struct sock *s, int fd)
{
	s->fd = fd;
	return strm_id(fd, &s->id, &s->w) == 0 &&
		(SK(s) & SK_TAG_MASK) == SK_TAG;
}

static inline int
sk_nonblock(const struct sock *s, int flags)
{
	return (flags & MSG_DONTWAIT) != 0 ||
		(s->id.fflags & 04000) != 0; /* O_NONBLOCK */
}

/* word.c */
void sk_word(struct sock *s, uint32_t clear, uint32_t set);
void sk_nout(struct sock *s, uint32_t nout);
uint32_t sk_streams(const struct sock *s);
int sk_has_stream(struct sock *s, uint32_t sid);

/* request.c */
int sk_ioctl(struct sock *s, int cmd, void *buf, size_t len, size_t room);
int sk_get(struct sock *s, int cmd, void *buf, size_t size);
int sk_ti(struct sock *s, int cmd, void *buf, size_t len, size_t room);
int sk_keep_get(struct sock *s, struct sctpio_keep *k);
int sk_keep_set(struct sock *s, const struct sctpio_keep *k);
int sk_wait(struct sock *s, short events, int ms);
int sk_wait_time(struct sock *s, short events, enum sk_keep which);
int sk_names(struct sock *s, struct sk_addrs *local, struct sk_addrs *peer);

/* addr.c */
socklen_t sk_addr_size(int family);
int sk_addrs_in(const struct sock *s, const void *list, int n,
	struct sk_addrs *ret);
int sk_addr_in(const struct sock *s, const struct sockaddr *sa, socklen_t len,
	struct sk_addrs *ret);
socklen_t sk_addr_conv(const struct sock *s, const void *from,
	struct sockaddr_storage *ret);
int sk_addr_out(const struct sock *s, const void *from, struct sockaddr *sa,
	socklen_t *len);

/* socket.c, connect.c */
int sk_socket(int domain, int type, int protocol);
int sk_open(int flags);
int sk_accepted(struct sock *to, int fd, uint32_t *ret_id);
void sk_connected(struct sock *to, struct sock *from);
int sk_bind(struct sock *s, const struct sk_addrs *a);
int sk_bind_any(struct sock *s);
int sk_listen(struct sock *s, int backlog);
int sk_accept(struct sock *s, struct sockaddr *sa, socklen_t *len, int flags);
int sk_shutdown(struct sock *s, int how);
void sk_discard_end(struct sock *s);
int sk_getname(struct sock *s, struct sockaddr *sa, socklen_t *len, int peer);
int sk_connect(struct sock *s, const struct sk_addrs *to);
int sk_progress(struct sock *s, int nowait);
int sk_abort(struct sock *s, const void *data, size_t len);

/* send.c, recv.c, last.c, event.c */
struct sk_snd {
	uint16_t sid, flags; /* SCTP_UNORDERED and the like */
	uint32_t ppid, context;
	uint32_t policy, value; /* SCTP_PR_SCTP_* */
	sctp_assoc_t assoc;
};
/* many.c */
int sk_many_find(struct sock *s, const struct sk_addrs *a, uint32_t *ret);
int sk_many_connect(struct sock *s, const struct sk_addrs *a, uint32_t *ret);
ssize_t sk_many_send(struct sock *s, const void *buf, size_t len,
	const struct sk_snd *snd, const struct sk_addrs *to, int flags);
int sk_many_peel(struct sock *s, uint32_t id, int flags);

void sk_sndinfo(const struct sk_snd *snd, struct sctpio_sndinfo *ret);
int sk_send_defaults(struct sock *s, struct sk_snd *snd);
ssize_t sk_send(struct sock *s, const struct iovec *iov, size_t n,
	const struct sk_snd *snd, const struct sk_addrs *to, int flags);
ssize_t sk_sendmsg(struct sock *s, const struct msghdr *msg, int flags);

struct sk_got {
	int flags; /* MSG_EOR, MSG_NOTIFICATION, MSG_TRUNC */
	int has_info;
	int peeked; /* it is still the first message */
	struct sctp_rcvinfo info;
	struct sockaddr_storage from;
	socklen_t fromlen;
};
ssize_t sk_recv(struct sock *s, const struct iovec *iov, size_t n, int flags,
	int want_from, struct sk_got *got);
int sk_next(struct sock *s, const struct sk_got *got,
	struct sctp_nxtinfo *ret);
ssize_t sk_recvmsg(struct sock *s, struct msghdr *msg, int flags);
/* user.c */
int sk_vec_in(const struct iovec *from, size_t n, struct iovec *to, int err);
int sk_from_out(const struct sk_got *got, struct sockaddr *sa, socklen_t *len);

void sk_last_put(const struct sock *s, const struct sctp_rcvinfo *ri);
int sk_last_get(const struct sock *s, struct sctp_rcvinfo *ri);
void sk_last_from(struct sock *s, struct sockaddr_storage *from, socklen_t *len);
size_t sk_event(struct sock *s, const struct sctpio_note *n,
	union sctp_notification *e);

/* option.c, setopt.c, getopt.c */
int sk_opt_in(void *to, size_t size, const void *val, socklen_t len);
int sk_opt_out(void *val, socklen_t *len, const void *from, size_t size);
uint32_t sk_assoc_of(const struct sock *s, const void *val, socklen_t len);
uint32_t sk_conf_id(const struct sock *s, int name, const void *val,
	socklen_t len);
int sk_conf_get(struct sock *s, uint32_t id, struct sctpio_conf *c);
int sk_conf_set(struct sock *s, const struct sctpio_conf *c);
int sk_path_of(const struct sctpio_paths *ps, const void *addr);
int sk_setopt_generic(struct sock *s, int name, const void *val, socklen_t len);
int sk_getopt_generic(struct sock *s, int name, void *val, socklen_t *len);
int sk_setopt_sctp(struct sock *s, int name, const void *val, socklen_t len);
int sk_getopt_sctp(struct sock *s, int name, void *val, socklen_t *len);
int sk_getsockopt(struct sock *s, int level, int name, void *val,
	socklen_t *len);
int sk_setsockopt(struct sock *s, int level, int name, const void *val,
	socklen_t len);
int sk_linger(struct sock *s, const struct sctpio_conf *c);
int sk_set_events(struct sock *s, uint32_t types);
/* stream.c; 1: it is no option of this file */
int sk_setopt_stream(struct sock *s, int name, const void *val, socklen_t len);
int sk_getopt_stream(struct sock *s, int name, void *val, socklen_t *len);
/* auth.c; likewise */
int sk_setopt_auth(struct sock *s, int name, const void *val, socklen_t len);
int sk_getopt_auth(struct sock *s, int name, void *val, socklen_t *len);
int sk_bindx(struct sock *s, const struct sk_addrs *a, int remove);

/* poll.c: events of a socket whose call is not answered; wrap.c */
int sk_is_calling(int fd, struct sock *s);

#endif

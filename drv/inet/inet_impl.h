/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Internal interface of the Internet transports: endpoints.
 *
 * Locks.  The perimeter of the queue pair (D_MTQPAIR) covers all of a struct
 * inet, with one exception: `given'.  A listener's thread stores a connection
 * there for another endpoint, whose procedures take it when they run next
 * (inet_enter).
 */
#ifndef DRV_INET_IMPL_H
#define DRV_INET_IMPL_H

#include <sys/types.h>
#include <sys/errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <sys/stream.h>
#include <sys/strsun.h>
#include <sys/kmem.h>
#include <sys/ddi.h>
#include <sys/tihdr.h>
#include <sys/xti_inet.h>
#include <str/driver.h>
#include <str/ip.h>
#include <str/tpi.h>

/*
 * Water marks: of the data that waits to be sent, and of the head.  The
 * kernel's buffer is below the head, so little needs to wait there, and data is
 * still in the cache when it is read; but the largest block that is received
 * must not fill the head.
 */
#define INET_HIWAT 262144u
#define INET_LOWAT 65536u
#define INET_HEAD_HIWAT 262144u
#define INET_HEAD_LOWAT 131072u

/* Kinds of endpoints, in the order of inet_kind[]. */
enum inet_kinds {
	INET_TCP4,
	INET_UDP4,
	INET_RAWIP,
	INET_ICMP,
	INET_TCP6,
	INET_UDP6,
	INET_RAW,	/* a protocol by number */
	INET_UDP2 = INET_RAW + 6, /* drv/udp: these kinds on the same sockets */
	INET_UDP2_6,
	INET_RAW2,
	INET_RAW2_6,
	INET_NKINDS
};
#define INET_NOMINOR (~0u)

struct inet;
struct inet_port;

struct inet_kind {
	const char *name;
	unsigned int minor;  /* of the device that is opened */
	int family;	     /* default */
	int type, proto;     /* of the socket */
	const struct tpi_ops *ops;
};
extern const struct inet_kind inet_kind[INET_NKINDS];

/* Phases of the connection-oriented endpoints. */
#define INET_NONE 0u	/* nothing, or the other kind */
#define INET_LISTEN 1u
#define INET_CALLING 2u
#define INET_OPEN 3u	/* connected */

/* Options that have been set, for the next sockets of the endpoint. */
#define INET_NSET 40u
#define INET_SETLEN 40u
struct inet_set {
	uint32_t kopt;	    /* which: index in opt.c */
	uint32_t len;
	unsigned char val[INET_SETLEN];
};

/* out.c: data that waits to be sent on a connection */
struct inet_out {
	uintptr_t going;    /* message being removed from the queue: as
			     * `adding' */
	uint64_t next;	    /* `front' after that */
	uint64_t front;
	uint64_t left;
	uint64_t tail;
	uint64_t base;	    /* the kernel's count when `left' was 0 */
	uint32_t busy;	    /* a send is in progress, or its sender died */
	uint32_t direct;    /* the same, of data that was not on the queue */
	uint32_t based;	    /* `base' is known */
	uint32_t want;	    /* KS_* that ksock_want() was told */
	uint32_t dead;	    /* the connection is gone */
	uint32_t got;	    /* received since the last send */
	uint32_t prompt;    /* T_TCP_NODELAY: each message is sent at once */
	uint64_t last;	    /* when something was sent, inet_ticks() */
	uint64_t since;	    /* when what waits began to */
	uint32_t fresh;	    /* length of the last message that was gathered */
	uint32_t lent;	    /* bytes in the gathering block when it was lent */
	uint64_t accepted;  /* `tail' then */
	uintptr_t adding;   /* ~(address of a message on its way to the queue), or
			     * 0: by its address the driver would keep it */
	uint64_t *counts;   /* counter of the block if it is gathered, or
			     * NULL */
};

struct inet_dg; /* dgram.h: datagrams that wait to be sent */

struct inet {
	struct tpi tp;
	queue_t *rq, *wq;
	uint32_t kind;
	uint32_t phase;	    /* INET_NONE ... */
	ksock_t *ks;	    /* NULL: none is needed yet */
	ksock_t *lks;	    /* the listening socket, while a connection that it
			     * accepted is on this same endpoint */
	ksock_t *volatile given; /* accepted for this endpoint */
	int family;	    /* of ks */
	uint32_t named;	    /* ks has been bound, or was about to be */
	int err;	    /* error of a failed send */
	volatile uint32_t timing; /* the timer of inet_later() runs */
	volatile uint32_t ticked; /* ... and its time has come */
	t_uscalar_t looked; /* the last indication that was checked */
	uint32_t odd;	    /* urgent data may be next */
	uint32_t eof;	    /* the peer has sent all */
	uint32_t marking;   /* tpi_wsrv() is to take one request only */
	uint32_t level;	    /* size of the blocks to read into */
	uint32_t any;	    /* the provider chose the port */
	uint32_t reads;	    /* the read service procedure runs, and reads */
	uint32_t drained;   /* no call waits: the last accept found none, and
			     * there was no event since */
	uint32_t tuned;	    /* options of a socket were set, here or at the
			     * listener of its connection */
	uint32_t single;    /* the last datagram came alone */
	uint32_t trains;    /* the socket may receive trains */
	uint32_t row;	    /* datagrams received without sending */
	unsigned char *behind; /* short.c: buffer behind the caller's */
	uint32_t flow;	    /* datagrams in the current flow */
	uint64_t flowed;    /* ... and when the last did */
	uint64_t before;    /* inet_credit_sent() before the last were taken */
	uint32_t spun;	    /* ksock_nap(KS_SPIN) was called */
	uint32_t naps;	    /* so many naps before spinning again */
	uint32_t spoke;	    /* datagrams have been sent: errors may be about
			     * them */
	uint32_t proto;	    /* of the socket, when not its kind's; 0 */
	volatile uint32_t wants; /* options that come up: INET_WANT_* */
	uint32_t inherited; /* bound by an accepted connection */
	uint32_t nset;
	struct ksock_lend *lend; /* of this stream */
	struct inet_out out;
	struct inet_dg *dg;
	struct inet_port *port; /* port entry in which senders count */
	struct inet_port *ports; /* the table of these, once known */
	struct inet_set set[INET_NSET];
};

static inline const struct tpi_ops *
inet_ops(const struct inet *in)
{
	return inet_kind[in->kind].ops;
}

static inline struct inet *
inet_of(struct tpi *tp)
{
	return (struct inet *)(void *)tp;
}

/*
 * A very cheap clock.  It only decides whether a writer sends fast, so the
 * rates, 2 GHz and 64 MHz, need not be exact.
 */
static inline uint64_t
inet_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	uint64_t v = 0;

	(void)drv_getparm(LBOLT, &v);
	return v * 20000000u;
#endif
}
#if defined(__aarch64__)
#define INET_US(n) ((uint64_t)(n) * 64u)
#else
#define INET_US(n) ((uint64_t)(n) * 2048u)
#endif

/* inet.c */
void inet_enter(struct inet *in);
#define INET_QLEN 1024u
void inet_later(struct inet *in, long ticks);
void inet_again(struct inet *in, size_t size);
int inet_open(struct tpi *tp, cred_t *crp);
int inet_unbind(struct tpi *tp);
void inet_addrs(struct tpi *tp, struct tpi_addr *local,
	struct tpi_addr *remote);
struct inet_port *volatile *inet_ports(void);
struct tpi_prov *inet_prov_tcp(void);
struct tpi_prov *inet_prov_udp(void);
struct tpi_prov *inet_prov_raw(void);

/* The bytes of an address; returns their number. */
static inline uint32_t
inet_addr_bytes(const void *sa, const unsigned char **ret)
{
	const struct sockaddr_in6 *s6 = sa;
	const struct sockaddr_in *s4 = sa;

	if (s4->sin_family == AF_INET6) {
		*ret = (const unsigned char *)&s6->sin6_addr;
		return 16;
	}
	*ret = (const unsigned char *)&s4->sin_addr;
	return 4;
}

static inline int
inet_addr_zero(const unsigned char *p, uint32_t n)
{
	while (n-- > 0)
		if (p[n] != 0)
			return 0;
	return 1;
}

/* Is it one of 127.0.0.0/8, or ::1? */
static inline int
inet_addr_loopback(const void *sa)
{
	const unsigned char *p;

	return inet_addr_bytes(sa, &p) == 4 ? p[0] == 127 :
		inet_addr_zero(p, 15) && p[15] == 1;
}

/* addr.c */
int inet_addr_check(const struct tpi_buf *b, struct sockaddr_storage *ret,
	uint32_t *retlen);
void inet_addr_any(int family, uint16_t port, struct sockaddr_storage *ret,
	uint32_t *retlen);
int inet_tli(int err);
int inet_sock(struct inet *in, int family);
int inet_bind_to(struct inet *in, const struct tpi_buf *want, int any,
	struct tpi_addr *got);
int inet_rebind(struct inet *in, int family);
void inet_drop_sock(struct inet *in, int how);

/* opt.c */
#define T_IP_FREEBIND 15 /* for drv/udp only; users cannot set it */
#define INET_NOPT_TCP 33u
#define INET_NOPT_UDP 29u
#define INET_NOPT_RAW 28u
extern const struct tpi_opt inet_opt_tcp[INET_NOPT_TCP];
extern const struct tpi_opt inet_opt_udp[INET_NOPT_UDP];
extern const struct tpi_opt inet_opt_raw[INET_NOPT_RAW];
int inet_getopt(struct tpi *tp, const struct tpi_opt *o, void *val,
	unsigned int *len);
int inet_setopt(struct tpi *tp, const struct tpi_opt *o, const void *val,
	unsigned int len);
void inet_apply(struct inet *in);
int inet_is_set(const struct inet *in, t_uscalar_t level, t_uscalar_t name);
int inet_is_on(const struct inet *in, t_uscalar_t level, t_uscalar_t name);
int inet_linger_abort(struct inet *in);
#define INET_IPOPTS 40u /* bytes of T_IP_OPTIONS */
#define INET_DEFAULT (-1)
#define INET_BAD (-2)
int inet_call_byte(const unsigned char *at, uint32_t len);
int inet_call_check(const struct inet *in, const struct tpi_buf *opts);

/* out.c */
void inet_out_start(struct inet *in);
void inet_out_mend(struct inet *in);
void inet_out_drop(struct inet *in);
void inet_out_data(struct inet *in, mblk_t *mp);
int inet_out_flush(struct inet *in);
int inet_out_left(const struct inet *in);
void inet_out_flushq(struct inet *in);
void inet_out_failed(struct inet *in, int err);
void inet_out_unlend(struct inet *in);
void inet_out_lend(struct inet *in);

/* credit.c */
struct inet_port;
void inet_credit_bound(struct inet *in, const struct tpi_addr *at);
void inet_credit_room(struct inet *in);
void inet_credit_gone(struct inet *in);
struct inet_port *inet_credit_to(struct inet *in, const void *sa);
void inet_credit_trains(struct inet *in);
int inet_credit_takes_trains(const struct inet_port *p);
int inet_credit_ask(struct inet_port *p, uint32_t bytes);
void inet_credit_back(struct inet_port *p, uint32_t bytes);
void inet_credit_done(struct inet_port *p, uint32_t bytes);
void inet_credit_wait(struct inet_port *p, struct inet *in);
void inet_credit_wake(struct inet_port *p);
uint64_t inet_credit_sent(const struct inet *in);
uint32_t inet_credit_cost(uint32_t bytes);
void inet_credit_took_all(struct inet *in, uint64_t cost, int empty,
	uint64_t before);
void inet_credit_took(struct inet *in, uint64_t bytes, uint32_t n, int empty,
	uint64_t before);

/* tcp.c */
extern const struct tpi_ops inet_tcp_ops, inet_tcp6_ops;
void inet_tcp_begin(struct inet *in);
int inet_tcp_sends(const struct inet *in);
void inet_tcp_push(struct inet *in);
void inet_tcp_wsrv(struct inet *in);
int inet_tcp_takes(const struct inet *in);

/* T_INFO_ACK of datagrams, of the kernel's sockets and our own */
#define INET_DGRAM_INFO(addr_, tsdu_) { \
	.PRIM_type = T_INFO_ACK, \
	.TSDU_size = (tsdu_), \
	.ETSDU_size = T_INVALID, \
	.CDATA_size = T_INVALID, \
	.DDATA_size = T_INVALID, \
	.ADDR_size = (addr_), \
	.OPT_size = TPI_OPTMAX, \
	.TIDU_size = (tsdu_), \
	.SERV_type = T_CLTS, \
	.PROVIDER_flag = XPG4_1 | T_SNDZERO, \
}

/* dgram.c, dgram_send.c, dgram_recv.c */
extern const struct tpi_ops inet_udp_ops, inet_udp6_ops, inet_rawip_ops;

int inet_dg_from(struct inet *in, const struct sockaddr_storage *to,
	uint32_t tolen, const void *udata, uint32_t len);

/* For short.c: waiting datagrams, addresses, messages to send up. */
int inet_dg_empty(const struct inet *in);
uint64_t inet_dg_last(const struct inet *in);
void inet_dg_sent(struct inet *in, uint64_t now);
int inet_dg_errors(struct inet *in);
void inet_dg_trains(struct inet *in);
void inet_dg_up(struct inet *in, const void *from, uint32_t len,
	mblk_t *data);

/* recv.c: options that come up with a datagram */
#define INET_WANT_INFO 1u
#define INET_WANT_TTL 2u
#define INET_WANT_TOS 4u
#define INET_TOLD_MOST 96u /* bytes of options */
#define INET_TOLD_CTL 160u /* ... of the control messages they come from */
/* Facts about a datagram that was received. */
struct inet_told {
	struct ip_addr dst; /* len 0: not known */
	int ifindex;	    /* 0: not known */
	int ttl, tos;	    /* -1: not known */
};
void inet_recv_set(struct inet *in, const struct tpi_opt *o, int on);
void inet_recv_read(const struct ksock_msg *m, struct inet_told *ret);
uint32_t inet_recv_put(const struct inet *in, const struct inet_told *told,
	unsigned char *to);
void inet_recv_add(const struct inet *in, const struct inet_told *told,
	mblk_t *mp);

/* short.c */
int inet_short_send(struct tpi *tp, const struct tpi_buf *to,
	const struct str_direct *d);
int inet_short_takes(const struct inet *in);
int inet_short_take(queue_t *q, struct str_take *t);
void inet_short_end(struct inet *in);

/* drv/udp */
extern const struct tpi_ops udp2_ops, udp2_6_ops, rawip2_ops, rawip2_6_ops;

#endif

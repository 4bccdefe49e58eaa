/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Credit between datagram endpoints of one domain.
 *
 * Purpose.  The kernel drops datagrams for a receiver with a full buffer, and
 * does not inform the sender.  When both ends belong to this domain, the sender
 * can find out: it counts the datagrams that it sends to a port, the receiver
 * counts those that it has taken, and the difference is kept below the size of
 * the receiver's buffer.
 *
 * The kernel counts memory, not bytes (cost()), and up to a quarter of the
 * buffer remains counted after it has been read.  An eighth is left to other
 * senders to the port.
 *
 * Objects.  A struct inet_port for each bound endpoint, in a table by port, or by
 * protocol for raw IP, that all processes share.  It is used for addresses that
 * are certainly this host's: loopback addresses, and the address to which the
 * receiver is bound.
 *
 * Waiting.  A sender without credit notes its stream; the receiver, when it has
 * taken something, enables the write sides of these streams.  A lost wake costs
 * a millisecond (KS_SOON).  Wrong counts cost a second: others may send to the
 * port too, and datagrams may be dropped.  So a sender that has been refused
 * for a second, while nothing was taken, sends anyway, and sooner if the
 * receiver no longer exists.  A receiver that finds its socket empty discards
 * the counts of datagrams that were sent some time ago.
 * It keeps the counts of recent ones: on a busy machine the kernel may deliver
 * a datagram by a thread that has to wait for a CPU.
 *
 * Locks. `lock' of a port protects its waiters and the change of its owner;
 * lookups read `owner' without the lock.  The counts are atomic. `aged' and the
 * fields after it are written by the receiver's threads; if two write at once
 * the values are wrong, which costs time only.
 *
 * Crash.  A thread killed with the lock leaves at worst a waiter that is woken
 * by the clock, or a slot of its own, which the next bind takes.
 */
#include "inet_impl.h"

#define KEY_PORT 0x10000u
#define KEY_RAW 0x20000u
#define KEY_RAW6 0x30000u
#define IP_HEADER 20u
#define NPORT 512u
#define PROBE 8u
#define NWAIT 4u
#define HELD INET_US(1000000)
#define DOUBT INET_US(20000) /* usually longer than a change of plumbing */
#define AGED INET_US(200000)

struct inet_port {
	volatile uint32_t key;	/* KEY_* | port or protocol, 0: free */
	struct inet *volatile owner; /* the endpoint bound here, on `stream' */
	struct str_ref stream;
	volatile uint32_t limit;
	volatile uint32_t trains; /* the socket receives trains whole */
	volatile uint32_t front; /* bytes that are received before the data */
	volatile uint64_t sent, rcvd; /* `sent' is raised before the attempt */
	volatile uint64_t done; /* ... and afterwards */
	volatile uint64_t mark; /* `rcvd' when a sender was refused ... */
	volatile uint64_t since; /* ... for the first time with that, when */
	volatile uint64_t aged; /* `done', AGED ago or more */
	volatile uint64_t next; /* ... what that will be */
	volatile uint64_t when; /* ... AGED after this */
	kmutex_t lock;
	uint32_t nwait;
	uint32_t addrlen;	/* 0: any */
	unsigned char addr[16];
	struct str_ref ref[NWAIT];
	queue_t *wq[NWAIT];
};

/*
 * Not for ICMP, whose filters hide datagrams from their receiver, and which the
 * kernel sends, too.
 */
static uint32_t
key_of(const struct inet *in, const void *sa)
{
	const struct inet_kind *k = &inet_kind[in->kind];
	uint32_t proto = in->proto != 0 ? in->proto : (uint32_t)k->proto;

	if (k->type != SOCK_RAW)
		return ((const struct sockaddr_in *)sa)->sin_port | KEY_PORT;
	if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		return 0;
	return proto | (in->family == AF_INET ? KEY_RAW : KEY_RAW6);
}

static struct inet_port *
slot_of(struct inet_port *tab, uint32_t key, uint32_t i)
{
	return &tab[((key * 2654435761u >> 16) + i) % NPORT];
}

/* inet_credit_table - the table, made at first use */
static struct inet_port *
table(int make)
{
	struct inet_port *volatile *at = inet_ports();
	struct inet_port *tab, *none = NULL;

	if (at == NULL)
		return NULL;
	tab = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	if (tab != NULL || !make)
		return tab;
	tab = kmem_zalloc(NPORT * sizeof(*tab), KM_NOSLEEP);
	if (tab != NULL && !__atomic_compare_exchange_n(at, &none, tab, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		kmem_free(tab, NPORT * sizeof(*tab));
		tab = none;
	}
	return tab;
}

/* Is the address of @p the @n bytes @bytes? */
static int
is_at(const struct inet_port *p, const unsigned char *bytes, uint32_t n)
{
	if (p->addrlen != n)
		return 0;
	if (n == 4)
		return bcmp(p->addr, bytes, 4) == 0; /* no call */
	return bcmp(p->addr, bytes, n) == 0;
}

/*
 * Is there a receiver that will read?  A thread that dies in a close leaves the
 * slot.
 */
static int
is_there(const struct inet_port *p)
{
	struct str_ref ref = p->stream;
	struct str_hold h;

	if (str_hold(&h, &ref) != 0)
		return 0;
	str_unhold(&h);
	return 1;
}

/*
 * Does a live endpoint other than @in own the slot?  An endpoint that is being
 * closed, or whose plumbing is being changed, counts as live.  Locks: the
 * port's.
 */
static int
is_taken(const struct inet_port *p, const struct inet *in)
{
	struct str_ref ref = p->stream;
	struct str_hold h;
	int err;

	if (p->owner == NULL || p->owner == in)
		return 0;
	err = str_hold(&h, &ref);
	if (err == 0)
		str_unhold(&h);
	return err != ESRCH;
}

/* How much may wait in @in's socket. */
static uint32_t
room_of(struct inet *in)
{
	uint32_t buf = 0, len = sizeof(buf);

	(void)ksock_getopt(in->ks, SOL_SOCKET, SO_RCVBUF, &buf, &len);
	return buf / 8 * 5;
}

/*
 * Make @in, with @room in its socket, the owner of the slot.  Locks: the
 * port's.
 */
static void
settle(struct inet_port *p, struct inet *in, const unsigned char *bytes,
	uint32_t n, uint32_t room)
{
	str_store(&p->limit, 0u);
	str_ref(in->rq, &p->stream);
	STR_POINT("credit:slot");
	p->owner = in;
	p->addrlen = n;
	bcopy(bytes, p->addr, n);
	str_store(&p->trains, in->trains);
	str_store(&p->front, (p->key & ~0xffffu) == KEY_RAW ? IP_HEADER : 0);
	str_store(&p->sent, (uint64_t)0);
	str_store(&p->rcvd, (uint64_t)0);
	str_store(&p->done, (uint64_t)0);
	str_store(&p->mark, ~(uint64_t)0);
	str_store(&p->aged, (uint64_t)0);
	str_store(&p->next, (uint64_t)0);
	str_store(&p->when, inet_ticks());
	/* set before others count: a closer for a dead thread uses it */
	in->port = p;
	str_store_rel(&p->limit, room);
}

/*
 * inet_credit_bound - @in is bound: others may count the datagrams that they
 * send to it
 */
void
inet_credit_bound(struct inet *in, const struct tpi_addr *at)
{
	struct inet_port *tab = table(1), *p;
	const unsigned char *bytes;
	uint32_t key = key_of(in, at->buf), i, n, has, room;
	int shared = 0;

	if (tab == NULL || key == 0)
		return;
	n = inet_addr_bytes(at->buf, &bytes);
	if (inet_addr_zero(bytes, n))
		n = 0;
	inet_credit_gone(in); /* an earlier binder may have died */
	room = room_of(in); /* no system calls with the lock */
	for (i = 0; i < PROBE && in->port == NULL && !shared; i++) {
		p = slot_of(tab, key, i);
		has = str_load(&p->key);
		if (has != 0 && has != key)
			continue;
		mutex_enter(&p->lock);
		has = str_load(&p->key);
		if (has == 0 || (has == key && !is_taken(p, in))) {
			str_store(&p->key, key);
			settle(p, in, bytes, n, room);
		} else if (has == key && is_at(p, bytes, n)) {
			/* it is unknown which of them receives */
			str_store(&p->limit, 0u);
			shared = 1;
		}
		mutex_exit(&p->lock);
		if (shared)
			inet_credit_wake(p);
	}
	if (in->port != NULL)
		STR_POINT("credit:bound");
}

/* inet_credit_room - its socket has a buffer of another size now */
void
inet_credit_room(struct inet *in)
{
	struct inet_port *p = in->port;
	uint32_t was;

	if (p == NULL || p->owner != in)
		return;
	was = str_load(&p->limit);
	/* unless others share the port, which they may note now */
	if (was != 0 && __atomic_compare_exchange_n(&p->limit, &was,
		room_of(in), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		inet_credit_wake(p);
}

/* inet_credit_trains - @in's socket receives trains whole from now on */
void
inet_credit_trains(struct inet *in)
{
	struct inet_port *p = in->port;

	if (p != NULL && p->owner == in)
		str_store(&p->trains, 1u);
}

/*
 * inet_credit_takes_trains - does @p's socket receive trains whole?  Otherwise
 * the kernel would cut them there, at the cost of single datagrams.
 */
int
inet_credit_takes_trains(const struct inet_port *p)
{
	return str_load(&p->trains) != 0;
}

/* inet_credit_gone - @in is not bound any more */
void
inet_credit_gone(struct inet *in)
{
	struct inet_port *p = in->port;

	if (p == NULL)
		return;
	if (p->owner == in) {
		STR_POINT("credit:gone");
		str_store(&p->limit, 0u);
		inet_credit_wake(p);
		mutex_enter(&p->lock);
		if (p->owner == in) {
			str_store(&p->limit, 0u); /* by inet_credit_room() */
			p->owner = NULL;
			str_store_rel(&p->key, 0u);
		}
		mutex_exit(&p->lock);
	}
	in->port = NULL; /* last: if we are killed before, it is done again */
}

/* inet_credit_to - the domain's port at @sa, or NULL; @in: the sender */
STR_HOT struct inet_port *
inet_credit_to(struct inet *in, const void *sa)
{
	struct inet_port *tab = in->ports, *p, *any = NULL;
	const unsigned char *bytes;
	uint32_t key = key_of(in, sa), i, n;

	/* it is never freed; finding it takes a search by name */
	if (tab == NULL)
		tab = in->ports = table(0);
	if (tab == NULL || key == 0)
		return NULL;
	n = inet_addr_bytes(sa, &bytes);
	for (i = 0; i < PROBE; i++) {
		p = slot_of(tab, key, i);
		if (str_load(&p->key) != key)
			continue;
		/* its address is valid if it has a limit */
		if (str_load_acq(&p->limit) == 0)
			continue;
		if (is_at(p, bytes, n))
			return p; /* preferred to one bound to any address */
		if (p->addrlen == 0 && inet_addr_loopback(sa))
			any = p;
	}
	return any;
}

/*
 * The most that the kernel counts for a datagram or a train of @bytes: two
 * structures and a header; in one block, whose sizes are small ones and powers
 * of two, or, for large ones, with additional pages.
 */
#define HEAD 448u
#define FRONT 256u
#define SMALL 576u
#define SMALL_MOST 704u
#define LINEAR 16384u

STR_HOT uint32_t
inet_credit_cost(uint32_t bytes)
{
	uint32_t n = 1024;

	if (bytes + HEAD <= SMALL)
		return SMALL_MOST + FRONT;
	if (bytes + HEAD > LINEAR)
		return bytes + 1024 + FRONT;
	while (n < bytes + HEAD)
		n *= 2;
	return n + FRONT;
}

/* What @p's socket will count for @bytes that are sent to it. */
STR_INLINE uint32_t
cost_to(const struct inet_port *p, uint32_t bytes)
{
	return inet_credit_cost(bytes + str_load(&p->front));
}

/*
 * Must a sender to @p still wait for credit? @rcvd: what has been taken so far.
 * The time may be later than ours, because it was read on another CPU.
 */
static int
is_held(struct inet_port *p, uint64_t rcvd)
{
	uint64_t now;

	if (str_load(&p->mark) != rcvd) {
		str_store(&p->since, inet_ticks());
		str_store_rel(&p->mark, rcvd);
		return 0;
	}
	now = inet_ticks() - str_load(&p->since);
	return (int64_t)now >= (int64_t)HELD ||
		((int64_t)now >= (int64_t)DOUBT && !is_there(p));
}

/* inet_credit_ask - may @bytes more be sent to @p?  If so, they are counted. */
STR_HOT int
inet_credit_ask(struct inet_port *p, uint32_t bytes)
{
	uint32_t limit = str_load_acq(&p->limit), n = cost_to(p, bytes);
	uint64_t sent, rcvd;

	if (limit == 0)
		return 1;
	do {
		/*
		 * in this order: datagrams sent meanwhile must not give credit
		 */
		sent = str_load_acq(&p->sent);
		rcvd = str_load_acq(&p->rcvd);
		/* < 0: some were returned; one is always allowed */
		if ((int64_t)(sent - rcvd) > 0 && sent - rcvd + n > limit) {
			if (!is_held(p, rcvd))
				return 0;
			/* no reader, or datagrams that we count are lost */
			(void)__atomic_compare_exchange_n(&p->rcvd, &rcvd,
				sent, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		}
	} while (!__atomic_compare_exchange_n(&p->sent, &sent, sent + n, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return 1;
}

/* inet_credit_back - the datagram was not sent after all */
void
inet_credit_back(struct inet_port *p, uint32_t bytes)
{
	(void)str_sub(&p->sent, (uint64_t)cost_to(p, bytes));
}

/* inet_credit_done - the datagram has been sent */
STR_HOT void
inet_credit_done(struct inet_port *p, uint32_t bytes)
{
	(void)str_add(&p->done, (uint64_t)cost_to(p, bytes));
}

/* inet_credit_wait - enable @in's write side when there is credit */
void
inet_credit_wait(struct inet_port *p, struct inet *in)
{
	uint32_t i;

	mutex_enter(&p->lock);
	for (i = 0; i < p->nwait && i < NWAIT && p->wq[i] != in->wq; i++)
		;
	if (i < NWAIT) {
		str_ref(in->rq, &p->ref[i]);
		p->wq[i] = in->wq;
		if (i == p->nwait)
			str_store(&p->nwait, i + 1);
	}
	mutex_exit(&p->lock);
}

/* inet_credit_wake - there is credit: enable the streams that wait */
void
inet_credit_wake(struct inet_port *p)
{
	struct str_ref ref[NWAIT];
	queue_t *wq[NWAIT];
	struct str_hold h;
	uint32_t n, i;

	mutex_enter(&p->lock);
	n = p->nwait < NWAIT ? p->nwait : NWAIT;
	bcopy(p->ref, ref, sizeof(ref));
	bcopy(p->wq, wq, sizeof(wq));
	str_store(&p->nwait, 0u);
	mutex_exit(&p->lock);
	for (i = 0; i < n; i++) {
		if (str_hold(&h, &ref[i]) != 0)
			continue; /* its clock runs */
		qenable(wq[i]);
		str_unhold(&h);
	}
}

/*
 * inet_credit_sent - count of the datagrams that have reached @in's socket; for
 * inet_credit_took()
 */
STR_HOT uint64_t
inet_credit_sent(const struct inet *in)
{
	return in->port != NULL ? str_load_acq(&in->port->done) : 0;
}

/* The part of `done' that was sent AGED ago or more; @before: `done' now. */
static uint64_t
aged(struct inet_port *p, uint64_t before)
{
	uint64_t now = inet_ticks();

	if ((int64_t)(now - str_load(&p->when)) >= (int64_t)AGED) {
		str_store(&p->aged, str_load(&p->next));
		str_store(&p->next, before);
		str_store(&p->when, now);
	}
	return str_load(&p->aged);
}

/*
 * inet_credit_took_all - datagrams of @cost were received; @empty: the socket
 * is empty
 * @before: inet_credit_sent() before the receive.
 */
STR_HOT void
inet_credit_took_all(struct inet *in, uint64_t cost, int empty,
	uint64_t before)
{
	struct inet_port *p = in->port;
	uint64_t sent, was, rcvd, old;

	if (p == NULL || p->owner != in)
		return;
	old = aged(p, before);
	was = str_load_acq(&p->rcvd);
	do {
		sent = str_load_acq(&p->sent);
		rcvd = was + cost;
		if (empty && (int64_t)(old - rcvd) > 0)
			rcvd = old;
		if ((int64_t)(sent - rcvd) < 0)
			rcvd = sent; /* from other senders too */
	} while (rcvd != was && !__atomic_compare_exchange_n(&p->rcvd, &was,
		rcvd, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	str_fence_full(); /* pairs with the lock of inet_credit_wait() */
	if (str_load(&p->nwait) != 0 && (int64_t)(sent - rcvd) <
		(int64_t)(str_load(&p->limit) / 2))
		inet_credit_wake(p);
}

/* inet_credit_took - the same for @n datagrams, 0 or 1, of @bytes */
STR_HOT void
inet_credit_took(struct inet *in, uint64_t bytes, uint32_t n, int empty,
	uint64_t before)
{
	inet_credit_took_all(in,
		n != 0 ? inet_credit_cost((uint32_t)bytes) : 0, empty, before);
}

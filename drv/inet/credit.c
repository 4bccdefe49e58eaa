/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Credit between datagram endpoints of one domain.
 *
 * Purpose.  The kernel drops datagrams for a receiver whose buffer is full,
 * and the sender does not hear of it.  When both ends are ours the sender can
 * know: it counts what it sends to a port, the receiver what it has taken, and
 * the difference is kept below what the receiver's buffer takes.
 *
 * What the kernel counts is memory, not bytes (cost()), and of what has been
 * read it keeps up to a quarter of the buffer counted as if it were there.  An
 * eighth is left to others who send to the port.
 *
 * Objects.  A struct inet_port for each bound endpoint, in a table by port
 * that all processes share.  It is used for addresses that are this host's
 * beyond doubt: loopback ones, and the one the receiver is bound to.
 *
 * Waiting.  A sender without credit notes its stream; the receiver, when it
 * has taken something, enables the write sides of those.  A wake that is lost
 * costs a millisecond (KS_SOON), and counts that are wrong cost a second:
 * others may send to the port too, and datagrams may be dropped.  So a sender
 * that has been refused for a second, while nothing was taken, sends, sooner
 * if the receiver is no more; and a receiver that finds its socket empty
 * forgets what was sent some time ago.
 * Not what has just been sent: on a busy machine the kernel may have a thread
 * deliver it, which has to wait for a CPU.
 *
 * Locks.  `lock' of a port, for its waiters, and for who is bound there, who is
 * looked for without it: `owner' tells whose it is.  The counts are atomic;
 * `aged' and what belongs to it are written by one of the receiver's threads,
 * and wrong when two do, which costs time.
 *
 * Crash.  A thread killed with the lock leaves at worst a waiter that waits for the
 * clock, or a slot of its own, which the next bind takes.
 */
#include <str/builtin.h>
#include "inet_impl.h"

#define NPORT 512u
#define PROBE 8u
#define NWAIT 4u
#define HELD INET_US(1000000)
#define DOUBT INET_US(20000) /* longer than plumbing takes, mostly */
#define AGED INET_US(200000)

struct inet_port {
	volatile uint32_t key;	/* port | 0x10000, 0: free */
	struct inet *volatile owner; /* who is bound, on `stream' */
	struct str_ref stream;
	volatile uint32_t limit;
	volatile uint32_t trains; /* the socket takes what comes in one */
	volatile uint64_t sent, rcvd; /* `sent' before it is tried */
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

static uint32_t
key_of(const void *sa)
{
	return ((const struct sockaddr_in *)sa)->sin_port | 0x10000u;
}

static struct inet_port *
slot_of(struct inet_port *tab, uint32_t key, uint32_t i)
{
	return &tab[((key * 2654435761u >> 16) + i) % NPORT];
}

/* inet_credit_table - the table, made when it is first needed */
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

/* The address of @sa is the one of @p. */
static int
is_at(const struct inet_port *p, const unsigned char *bytes, uint32_t n)
{
	if (p->addrlen != n)
		return 0;
	if (n == 4)
		return bcmp(p->addr, bytes, 4) == 0; /* no call */
	return bcmp(p->addr, bytes, n) == 0;
}

/* Is there anybody who will read?  Who dies in a close leaves the slot. */
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
 * Does a living one other than @in have it?  One that is being closed, or
 * plumbed, does.  Locks: the port's.
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

/* How much of what is sent to @in's socket may wait there. */
static uint32_t
room_of(struct inet *in)
{
	uint32_t buf = 0, len = sizeof(buf);

	(void)ksock_getopt(in->ks, SOL_SOCKET, SO_RCVBUF, &buf, &len);
	return buf / 8 * 5;
}

/* @in, whose socket has @room, is who is bound here.  Locks: the port's. */
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
	str_store(&p->sent, (uint64_t)0);
	str_store(&p->rcvd, (uint64_t)0);
	str_store(&p->done, (uint64_t)0);
	str_store(&p->mark, ~(uint64_t)0);
	str_store(&p->aged, (uint64_t)0);
	str_store(&p->next, (uint64_t)0);
	str_store(&p->when, inet_ticks());
	/* known before others count: who closes for the dead ends that */
	in->port = p;
	str_store_rel(&p->limit, room);
}

/* inet_credit_bound - @in is bound: others may count what they send it */
void
inet_credit_bound(struct inet *in, const struct tpi_addr *at)
{
	struct inet_port *tab = table(1), *p;
	const unsigned char *bytes;
	uint32_t key = key_of(at->buf), i, n, has, room;
	int shared = 0;

	if (tab == NULL)
		return;
	n = inet_addr_bytes(at->buf, &bytes);
	if (inet_addr_zero(bytes, n))
		n = 0;
	inet_credit_gone(in); /* who bound it before may have died of it */
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
			/* which of them gets what, none can tell */
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

/* inet_credit_room - its socket has another buffer by now */
void
inet_credit_room(struct inet *in)
{
	struct inet_port *p = in->port;
	uint32_t was;

	if (p == NULL || p->owner != in)
		return;
	was = str_load(&p->limit);
	/* unless others share it, who may just be saying so */
	if (was != 0 && __atomic_compare_exchange_n(&p->limit, &was,
		room_of(in), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		inet_credit_wake(p);
}

/* inet_credit_trains - @in's socket takes trains whole from now on */
void
inet_credit_trains(struct inet *in)
{
	struct inet_port *p = in->port;

	if (p != NULL && p->owner == in)
		str_store(&p->trains, 1u);
}

/*
 * inet_credit_takes_trains - do those for @p stay whole in its socket?
 * Else the kernel would cut them there, and that costs what they do one by one.
 */
int
inet_credit_takes_trains(const struct inet_port *p)
{
	return str_load(&p->trains) != 0;
}

/* inet_credit_gone - it is not bound any more */
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
	in->port = NULL; /* last: for a thread killed before it is done later */
}

/* inet_credit_to - the port of ours that is at @sa, or NULL; @in: the sender */
STR_HOT struct inet_port *
inet_credit_to(struct inet *in, const void *sa)
{
	struct inet_port *tab = in->ports, *p, *any = NULL;
	const unsigned char *bytes;
	uint32_t key = key_of(sa), i, n;

	/* once there, it is there for ever; to find it takes a search by name */
	if (tab == NULL)
		tab = in->ports = table(0);
	if (tab == NULL)
		return NULL;
	n = inet_addr_bytes(sa, &bytes);
	for (i = 0; i < PROBE; i++) {
		p = slot_of(tab, key, i);
		if (str_load(&p->key) != key)
			continue;
		/* what it is bound to stands there when it has a limit */
		if (str_load_acq(&p->limit) == 0)
			continue;
		if (is_at(p, bytes, n))
			return p; /* closer than who is bound to any */
		if (p->addrlen == 0 && inet_addr_loopback(sa))
			any = p;
	}
	return any;
}

/*
 * What the kernel counts for a datagram, or a train, of @bytes at most: two
 * structures and a header; in one block, of which there are small ones and
 * powers of two, or, when that is too large, pages besides.
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

/*
 * Is it time to send to @p, of which no more than @rcvd has been taken, though
 * there is no credit?  A clock of another CPU may have been read later.
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

/* inet_credit_ask - may @bytes more be sent to @p?  They count from now on. */
STR_HOT int
inet_credit_ask(struct inet_port *p, uint32_t bytes)
{
	uint32_t limit = str_load_acq(&p->limit), n = inet_credit_cost(bytes);
	uint64_t sent, rcvd;

	if (limit == 0)
		return 1;
	do {
		/* in this order: what is sent meanwhile is no credit */
		sent = str_load_acq(&p->sent);
		rcvd = str_load_acq(&p->rcvd);
		/* < 0: some came back; one is always let through */
		if ((int64_t)(sent - rcvd) > 0 && sent - rcvd + n > limit) {
			if (!is_held(p, rcvd))
				return 0;
			/* no reader, or what we count is lost */
			(void)__atomic_compare_exchange_n(&p->rcvd, &rcvd,
				sent, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		}
	} while (!__atomic_compare_exchange_n(&p->sent, &sent, sent + n, 0,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return 1;
}

/* inet_credit_back - it was not sent after all */
void
inet_credit_back(struct inet_port *p, uint32_t bytes)
{
	(void)str_sub(&p->sent, (uint64_t)inet_credit_cost(bytes));
}

/* inet_credit_done - it has been sent */
STR_HOT void
inet_credit_done(struct inet_port *p, uint32_t bytes)
{
	(void)str_add(&p->done, (uint64_t)inet_credit_cost(bytes));
}

/* inet_credit_wait - have @in's write side enabled when there is credit */
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

/* inet_credit_wake - there is credit: those who wait go on */
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

/* inet_credit_sent - what is in @in's socket by now, or was; for the next one */
STR_HOT uint64_t
inet_credit_sent(const struct inet *in)
{
	return in->port != NULL ? str_load_acq(&in->port->done) : 0;
}

/* What of `done' was sent AGED ago or more; @before: what it is now. */
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
 * inet_credit_took_all - datagrams of @cost came; @empty: no more are there
 * @before: inet_credit_sent() before the socket was asked.
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
			rcvd = sent; /* others have sent some */
	} while (rcvd != was && !__atomic_compare_exchange_n(&p->rcvd, &was,
		rcvd, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	str_fence_full(); /* pairs with the lock of inet_credit_wait() */
	if (str_load(&p->nwait) != 0 && (int64_t)(sent - rcvd) <
		(int64_t)(str_load(&p->limit) / 2))
		inet_credit_wake(p);
}

/* inet_credit_took - the same of @n, 0 or 1, of @bytes */
STR_HOT void
inet_credit_took(struct inet *in, uint64_t bytes, uint32_t n, int empty,
	uint64_t before)
{
	inet_credit_took_all(in,
		n != 0 ? inet_credit_cost((uint32_t)bytes) : 0, empty, before);
}

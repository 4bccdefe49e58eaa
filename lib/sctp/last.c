/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What this process knows of the sockets that it has received from: the
 * information about a message of which a part has been received, and the peer's
 * address.  A process that gets the descriptor in the middle of a message does
 * not have the former; the latter can be asked for again.
 */
#include <pthread.h>

#include "sock.h"

#define ENTRIES 256u

static struct last {
	void *head; /* of this open file ... */
	uint32_t gen;
	struct sctp_rcvinfo info;
	socklen_t fromlen;
	struct sockaddr_storage from;
} table[ENTRIES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct last *
place(const struct sock *s, int make)
{
	struct last *l = &table[(unsigned)s->fd % ENTRIES];

	if (l->head == s->id.head && l->gen == s->id.gen)
		return l;
	if (!make)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->head = s->id.head;
	l->gen = s->id.gen;
	return l;
}

void
sk_last_put(const struct sock *s, const struct sctp_rcvinfo *ri)
{
	(void)pthread_mutex_lock(&lock);
	place(s, 1)->info = *ri;
	(void)pthread_mutex_unlock(&lock);
}

/* sk_last_get - 1, or 0: it is not known */
int
sk_last_get(const struct sock *s, struct sctp_rcvinfo *ri)
{
	struct last *l;

	(void)pthread_mutex_lock(&lock);
	l = place(s, 0);
	if (l != NULL)
		*ri = l->info;
	(void)pthread_mutex_unlock(&lock);
	return l != NULL;
}

/* sk_last_from - the peer's address */
void
sk_last_from(struct sock *s, struct sockaddr_storage *from, socklen_t *len)
{
	struct sk_addrs local, peer;
	struct last *l;

	*len = 0;
	(void)pthread_mutex_lock(&lock);
	l = place(s, 0);
	if (l != NULL && l->fromlen != 0) {
		*from = l->from;
		*len = l->fromlen;
	}
	(void)pthread_mutex_unlock(&lock);
	if (*len != 0 || sk_names(s, &local, &peer) != 0 || peer.len == 0)
		return;
	*len = sk_addr_conv(s, peer.buf, from);
	(void)pthread_mutex_lock(&lock);
	l = place(s, 1);
	l->from = *from;
	l->fromlen = *len;
	(void)pthread_mutex_unlock(&lock);
}

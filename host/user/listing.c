/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A list of the AF_UNIX sockets that there are, for a sweep over many pipes.
 *
 * To ask for one socket the kernel goes through all of them: 15 us with few, more
 * than a millisecond with 16,000, for each end of each pipe.  A dump costs one such
 * walk for all.  The list says that a carrier was there a moment ago, never that
 * one is gone: for that the sweep asks host_carrier_alive().
 *
 * Form.  An open-addressed table of cookies, at most half full, in memory of its
 * own.
 */
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "user_impl.h"

#define ROOM 4096u /* of a new table */
#define BUFFER 16384u

struct host_listing {
	uint64_t size;	/* bytes, of all this */
	uint32_t n, cap; /* cap is a power of two */
	uint64_t cookie[];
};

static struct host_listing *
table(uint32_t cap)
{
	size_t size = sizeof(struct host_listing) + cap * sizeof(uint64_t);
	struct host_listing *l;
	long r = sys_call6(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (r < 0 && r > -4096)
		return NULL;
	l = (struct host_listing *)r;
	l->size = size;
	l->cap = cap;
	return l;
}

/* The place of @cookie, which is not 0, or of the end of its run. */
static uint64_t *
place(struct host_listing *l, uint64_t cookie)
{
	uint32_t i = (uint32_t)((cookie * 0x9e3779b97f4a7c15ull) >> 32);

	for (;; i++) {
		uint64_t *at = &l->cookie[i & (l->cap - 1)];

		if (*at == 0 || *at == cookie)
			return at;
	}
}

/* Return: *l with @cookie, in a larger table if need be; false: no memory. */
static bool
put(struct host_listing **l, uint64_t cookie)
{
	struct host_listing *old = *l, *new;
	uint64_t *at;

	if (2 * old->n >= old->cap) {
		new = table(2 * old->cap);
		if (new == NULL)
			return false;
		for (uint32_t i = 0; i < old->cap; i++)
			if (old->cookie[i] != 0)
				*place(new, old->cookie[i]) = old->cookie[i];
		new->n = old->n;
		host_listing_free(old);
		*l = new;
	}
	at = place(*l, cookie);
	if (*at == 0) {
		*at = cookie;
		(*l)->n++;
	}
	return true;
}

/* One datagram of the dump.  Return: 1 more will come, 0 the last, -1 no. */
static int
take(struct host_listing **l, const char *buf, size_t n)
{
	const struct nlmsghdr *h;
	const struct unix_diag_msg *m;
	uint64_t cookie;

	for (size_t at = 0; at + sizeof *h <= n;
		at += NLMSG_ALIGN(h->nlmsg_len)) {
		h = (const void *)(buf + at);
		if (h->nlmsg_len < sizeof *h || h->nlmsg_len > n - at)
			return -1;
		m = (const void *)(buf + at + NLMSG_HDRLEN);
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		    h->nlmsg_len < NLMSG_LENGTH(sizeof *m))
			return -1;
		cookie = (uint64_t)m->udiag_cookie[1] << 32 |
			m->udiag_cookie[0];
		if (cookie != 0 && !put(l, cookie))
			return -1;
	}
	return 1;
}

static bool
dump(int fd, struct host_listing **l)
{
	struct {
		struct nlmsghdr nlh;
		struct unix_diag_req req;
	} q = {
		.nlh = {
			.nlmsg_len = sizeof q,
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.req = { .sdiag_family = AF_UNIX, .udiag_states = ~0u },
	};
	_Alignas(struct nlmsghdr) char buf[BUFFER];
	int more;
	long n;

	n = sys_call6(SYS_sendto, fd, &q, sizeof q, MSG_DONTWAIT, NULL, 0);
	if (n != (long)sizeof q)
		return false;
	do {
		n = sys_call6(SYS_recvfrom, fd, buf, sizeof buf, MSG_DONTWAIT,
			NULL, NULL);
		more = n > 0 ? take(l, buf, (size_t)n) : -1;
	} while (more > 0);
	return more == 0;
}

struct host_listing *
host_listing_make(void)
{
	struct host_listing *l = NULL;
	bool ok = false;
	uint64_t old;
	int fd;

	host_sig_block(&old);
	fd = (int)sys_call3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
		NETLINK_SOCK_DIAG);
	if (fd >= 0) {
		l = table(ROOM);
		ok = l != NULL && dump(fd, &l);
		(void)sys_close(fd);
	}
	if (!ok && l != NULL) {
		host_listing_free(l);
		l = NULL;
	}
	host_sig_restore(&old);
	return l;
}

bool
host_listing_has(struct host_listing *l, const struct host_carrier *c)
{
	return l != NULL && c->cookie != 0 && *place(l, c->cookie) != 0;
}

void
host_listing_free(struct host_listing *l)
{
	if (l != NULL)
		(void)sys_call2(SYS_munmap, l, l->size);
}

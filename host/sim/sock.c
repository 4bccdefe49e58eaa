/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the simulated host: there are none.  A socket's behaviour depends
 * on the timing of a peer or of another machine, which a seed does not
 * determine; the drivers above are tested on the real host.  A caller that
 * makes a socket gets an error, as from a kernel without networking.
 *
 * A test can be the other side of the sockets (sim_sock()): all sockets are
 * alike then, and every option can be set.
 */
#include <errno.h>
#include <string.h>
#include <str/ksock.h>
#include "sim_impl.h"

static long (*sends)(const struct ksock_msg *m);
static long (*receives)(struct ksock_msg *m);
unsigned sim_sock_sends;

/* The addresses to which sockets are bound, by their numbers. */
#define NBOUND 16u
static struct {
	uint64_t id;
	uint32_t len;
	unsigned char addr[128];
} bound[NBOUND];
static unsigned nbound;

void
sim_sock(long (*send)(const struct ksock_msg *m),
	long (*recv)(struct ksock_msg *m))
{
	sends = send;
	receives = recv;
	nbound = 0;
}

/* @err, unless there are sockets. */
static int
unless(int err)
{
	return sends != NULL ? 0 : err;
}

int
host_sock_new(int family, int type, int proto)
{
	return unless(-EAFNOSUPPORT);
}

int
host_sock_source(const void *dst, uint32_t dstlen, void *src,
	uint32_t *srclen)
{
	return -ENOTSOCK;
}

int
host_sock_tun(char *name)
{
	return -ENODEV;
}

long
host_sock_write(uint64_t id, const struct iovec *iov, uint32_t n)
{
	return -ENODEV;
}

long
host_sock_read(uint64_t id, const struct iovec *iov, uint32_t n)
{
	return -ENODEV;
}

int
host_sock_accept(uint64_t id, void *addr, uint32_t *len)
{
	return -ENOTSOCK;
}

int
host_sock_adopt(uint64_t id, int fd)
{
	return sim_box_adopt(id, fd) ? 0 : unless(-ENOTSOCK);
}

void
host_sock_discard(int fd)
{
}

void
host_sock_shut(uint64_t id, bool abort)
{
}

void
host_sock_gone(uint64_t id, bool wait)
{
	sim_box_gone(id);
}

void
host_sock_drop(uint64_t id)
{
}

int
host_sock_bind(uint64_t id, const void *addr, uint32_t len)
{
	if (sends != NULL && len <= sizeof(bound->addr)) {
		bound[nbound % NBOUND].id = id;
		bound[nbound % NBOUND].len = len;
		memcpy(bound[nbound++ % NBOUND].addr, addr, len);
	}
	return unless(-ENOTSOCK);
}

int
host_sock_listen(uint64_t id, int backlog)
{
	return -ENOTSOCK;
}

int
host_sock_connect(uint64_t id, const void *addr, uint32_t len)
{
	return -ENOTSOCK;
}

int
host_sock_shutdown(uint64_t id, int how)
{
	return -ENOTSOCK;
}

int
host_sock_name(uint64_t id, bool peer, void *addr, uint32_t *len)
{
	for (unsigned i = 0; i < NBOUND && i < nbound; i++)
		if (bound[i].id == id && !peer && bound[i].len <= *len) {
			memcpy(addr, bound[i].addr, bound[i].len);
			*len = bound[i].len;
			return 0;
		}
	return -ENOTSOCK;
}

int
host_sock_setopt(uint64_t id, int level, int name, const void *val,
	uint32_t len)
{
	return unless(-ENOTSOCK);
}

int
host_sock_getopt(uint64_t id, int level, int name, void *val, uint32_t *len)
{
	return -ENOTSOCK;
}

int
host_sock_error(uint64_t id)
{
	return ENOTSOCK;
}

int
host_sock_ioctl(uint64_t id, unsigned long cmd, int *ret)
{
	return unless(-ENOTSOCK);
}

long
host_sock_send(uint64_t id, const struct iovec *iov, uint32_t n, int flags)
{
	return -ENOTSOCK;
}

long
host_sock_recv(uint64_t id, const struct iovec *iov, uint32_t n, int *flags)
{
	return -ENOTSOCK;
}

long
host_sock_put(uint64_t id, const void *buf, size_t len)
{
	return -ENOTSOCK;
}

long
host_sock_get(uint64_t id, void *buf, size_t len)
{
	return -ENOTSOCK;
}

long
host_sock_sendmm(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	uint32_t i;

	sim_sock_sends++;
	if (sends == NULL)
		return -ENOTSOCK;
	for (i = 0; i < n; i++)
		if (sends(&v[i]) < 0)
			break;
	return i != 0 ? (long)i : -EAGAIN;
}

long
host_sock_recvmm(uint64_t id, struct ksock_msg *v, uint32_t n, int flags)
{
	uint32_t i;

	if (receives == NULL)
		return -ENOTSOCK;
	for (i = 0; i < n; i++)
		if (receives(&v[i]) < 0)
			break;
	return i != 0 ? (long)i : -EAGAIN;
}

int
host_wait_sock(struct host_call *hc, uint64_t id, uint32_t want, uint64_t ns,
	uint32_t *ret_events)
{
	return host_wait_carrier(hc, ns, ret_events);
}

uint32_t
host_sock_look(uint64_t id, uint32_t want)
{
	return 0;
}

bool
host_sock_cut_off(uint64_t id)
{
	return false;
}

int
host_sock_watch(uint64_t id, uint32_t want)
{
	return want == 0 ? 0 : ENOTSOCK;
}

unsigned
host_sock_events(struct host_sock_event *v, unsigned n)
{
	return 0;
}

bool
host_sock_watching(void)
{
	return false;
}

void
host_sock_ask(void)
{
}

static unsigned soon;

/* There is no streamsd: a test sweeps. */
void
host_daemon_soon(void)
{
	soon++;
}

unsigned
sim_soon(void)
{
	unsigned n = soon;

	soon = 0;
	return n;
}

/* Only sockets give streamsd work. */
void
host_daemon_look(void)
{
}

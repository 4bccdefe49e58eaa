/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What a forked child knows of itself through its parent.
 *
 * Purpose.  A member has to know its start time, as /proc shows it, and whether
 * it is in the namespaces of its domain. /proc makes its files when they are
 * opened first, which costs a new process more than all its other calls at its
 * first attach.
 *
 * Start time.  The kernel takes it from CLOCK_BOOTTIME while it forks, and shows
 * it in ticks.  The clock is read before and after; if both are in one tick, so
 * is the start time.  The image is the parent's.
 *
 * Namespaces.  A child in a new pid namespace has no parent there: getppid() is
 * 0.  A socket tells the network namespace of the thread that made it by a
 * cookie (Linux 5.14).
 *
 * Failure.  What is not certain is unknown, and then /proc is asked.  All that a
 * child knows is in the page that fork wipes, so a process that was made
 * without the handlers of fork() knows nothing.
 */
#include <sys/auxv.h>
#include <sys/socket.h>
#include <time.h>

#include "user_impl.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

/* Two readings of the clock may differ by this, ns, in their wrong order. */
#define MARGIN 1000

/* [attach] of the process that forks */
static struct {
	uint64_t at; /* CLOCK_BOOTTIME, ns; 0: it knows nothing */
	uint64_t image;
	uint32_t pid;
	bool pidns_is_known;
} parent;

static uint64_t domain_net; /* [attach] cookie of the domain's; 0: unknown */
static bool net_asked;	    /* [attach] at the first fork */

static uint64_t
boottime(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_BOOTTIME, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The tick in which both times are; 0: they are in two. */
static uint64_t
common_tick(uint64_t from, uint64_t to)
{
	unsigned long hz = getauxval(AT_CLKTCK);
	uint64_t ns;

	if (hz == 0 || from <= MARGIN || to < from)
		return 0;
	ns = 1000000000u / hz;
	from = (from - MARGIN) / ns;
	return from == (to + MARGIN) / ns ? from : 0;
}

static uint64_t
net_of(int fd)
{
	socklen_t len = sizeof(uint64_t);
	uint64_t cookie = 0;

	return sys_call5(SYS_getsockopt, fd, SOL_SOCKET, SO_NETNS_COOKIE,
		&cookie, &len) == 0 ? cookie : 0;
}

/*
 * The first fork of a member: the cookie, if this thread is certainly in the
 * domain's network namespace.
 */
static void
net_learn(void)
{
	uint64_t now = host_ns_now("net");
	int fd;

	if (now == 0 || now != host_domain->netns)
		return;
	fd = (int)sys_call3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	domain_net = net_of(fd);
	(void)sys_close(fd);
}

void
host_kin_fork(void)
{
	struct host_priv *pv = host_priv_page;

	parent.at = 0;
	if (pv == NULL || pv->proc_image == 0)
		return;
	if (!net_asked && pv->pidns_is_known && host_domain != NULL) {
		net_asked = true;
		net_learn();
	}
	parent.image = pv->proc_image;
	parent.pidns_is_known = pv->pidns_is_known;
	parent.pid = (uint32_t)sys_getpid();
	parent.at = boottime();
}

void
host_kin_child(void)
{
	struct host_priv *pv = host_priv_page;

	if (parent.at == 0)
		return;
	pv->proc_start = common_tick(parent.at, boottime());
	pv->proc_image = parent.image;
	pv->pidns_is_known = parent.pidns_is_known &&
		(uint32_t)sys_call1(SYS_getppid, 0) == parent.pid;
}

bool
host_kin_start(uint64_t *ret_start, uint64_t *ret_image)
{
	const struct host_priv *pv = host_priv_page;

	*ret_start = pv->proc_start;
	*ret_image = pv->proc_image;
	return pv->proc_start != 0;
}

void
host_kin_told(uint64_t start, uint64_t image)
{
	struct host_priv *pv = host_priv_page;

	pv->proc_start = start;
	pv->proc_image = image;
}

bool
host_kin_here(int fd)
{
	return host_priv_page->pidns_is_known && domain_net != 0 &&
		net_of(fd) == domain_net;
}

void
host_kin_is_here(int fd)
{
	domain_net = net_of(fd);
	host_priv_page->pidns_is_known = true;
}

void
host_kin_forget(void)
{
	domain_net = 0;
	net_asked = false;
}

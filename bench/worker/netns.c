/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Two hosts for one measurement: network namespaces with a veth pair.
 *
 *	here: 10.78.0.1 strb0 ---------- strb1 10.78.0.2 :there
 *	      10.79.0.0/24 is behind 10.78.0.1, as seen from there
 *
 * Life.  Neither has a name.  This process goes into "here", and so does what
 * it starts: both sides and the daemon of their domain.  No process is "there";
 * there are the sockets that were made while this process had entered it,
 * since a socket stays where it was made.  Whatever becomes of these
 * processes, the namespaces and all that is in them go with the last one.
 */
#include "netns.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/timing.h"
#include "worker.h"

#define PEER_DEVICE   "strb1"
#define FORWARD       "/proc/sys/net/ipv4/ip_forward"
#define UP_TIMEOUT_NS (5 * BENCH_NS_PER_S)
#define UP_TICK_NS    100000
#define UP_PORT       7000

static int spaces[2] = {-1, -1}; /* here, there */

static int
failed(const char *what)
{
	worker_detail("network namespaces", what);
	return -1;
}

/* ------------------------------------------------------------------ netlink */

struct request {
	struct nlmsghdr head;
	char rest[512];
};

static void *
append(struct request *request, size_t n)
{
	char *at = (char *)request + NLMSG_ALIGN(request->head.nlmsg_len);

	request->head.nlmsg_len = (uint32_t)(at - (char *)request + n);
	return at;
}

/* An attribute; what is appended until nest_end() is inside of it. */
static struct rtattr *
attribute(struct request *request, int type, const void *data, size_t n)
{
	struct rtattr *attr = append(request, RTA_LENGTH(n));

	attr->rta_type = (unsigned short)type;
	attr->rta_len = (unsigned short)RTA_LENGTH(n);
	if (n != 0)
		memcpy(RTA_DATA(attr), data, n);
	return attr;
}

static void
nest_end(struct request *request, struct rtattr *attr)
{
	attr->rta_len = (unsigned short)((char *)request +
					 request->head.nlmsg_len -
					 (char *)attr);
}

/* Sends it and waits for what the kernel says. */
static int
ask(struct request *request)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[1024];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t n = -1;

	if (fd == -1)
		return -1;
	if (send(fd, request, request->head.nlmsg_len, 0) != -1)
		n = recv(fd, &answer, sizeof(answer), 0);
	(void)close(fd);
	if (n == -1)
		return -1;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) ||
		answer.head.nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	errno = -answer.error.error;
	return errno == 0 ? 0 : -1;
}

/* strb0 where we are, strb1 in the namespace of @there. */
static int
make_devices(int there)
{
	struct request request = {
		.head = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			.nlmsg_type = RTM_NEWLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE |
				       NLM_F_EXCL | NLM_F_ACK,
		},
	};
	struct rtattr *info, *data, *peer;

	(void)attribute(&request, IFLA_IFNAME, NETNS_DEVICE,
		sizeof(NETNS_DEVICE));
	info = attribute(&request, IFLA_LINKINFO, NULL, 0);
	(void)attribute(&request, IFLA_INFO_KIND, "veth", sizeof("veth"));
	data = attribute(&request, IFLA_INFO_DATA, NULL, 0);
	peer = attribute(&request, VETH_INFO_PEER, NULL, 0);
	memset(append(&request, sizeof(struct ifinfomsg)), 0,
		sizeof(struct ifinfomsg));
	(void)attribute(&request, IFLA_IFNAME, PEER_DEVICE,
		sizeof(PEER_DEVICE));
	(void)attribute(&request, IFLA_NET_NS_FD, &there, sizeof(there));
	nest_end(&request, peer);
	nest_end(&request, data);
	nest_end(&request, info);
	return ask(&request);
}

/* ---------------------------------------------------------------- addresses */

static void
set_address(struct sockaddr *to, uint32_t address)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(address),
	};

	memcpy(to, &sin, sizeof(*to));
}

static struct ifreq
request_for(const char *device)
{
	struct ifreq request;

	memset(&request, 0, sizeof(request));
	(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s",
		device);
	return request;
}

static int
start_device(int fd, const char *device, uint32_t address)
{
	struct ifreq request = request_for(device);

	if (address != 0) {
		set_address(&request.ifr_addr, address);
		if (ioctl(fd, SIOCSIFADDR, &request) != 0)
			return -1;
		set_address(&request.ifr_netmask,
			~UINT32_C(0) << (32 - NETNS_BITS));
		if (ioctl(fd, SIOCSIFNETMASK, &request) != 0)
			return -1;
	}
	request = request_for(device);
	if (ioctl(fd, SIOCGIFFLAGS, &request) != 0)
		return -1;
	request.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &request);
}

static int
add_route(int fd)
{
	struct rtentry route = {.rt_flags = RTF_UP | RTF_GATEWAY};

	set_address(&route.rt_dst, NETNS_ROUTED);
	set_address(&route.rt_genmask, ~UINT32_C(0) << (32 - NETNS_BITS));
	set_address(&route.rt_gateway, NETNS_HERE);
	return ioctl(fd, SIOCADDRT, &route);
}

static void
set_broadcast(struct sockaddr *to, uint16_t port)
{
	struct sockaddr_in sin;

	set_address(to, NETNS_HERE | (~UINT32_C(0) >> NETNS_BITS));
	memcpy(&sin, to, sizeof(sin));
	sin.sin_port = htons(port);
	memcpy(to, &sin, sizeof(*to));
}

/* Let @fd send broadcasts, and receive those to @port. */
static int
prepare(int fd, uint16_t port)
{
	struct sockaddr at;
	int on = 1;

	set_broadcast(&at, port);
	return setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) != 0
		       ? -1
		       : bind(fd, &at, sizeof(at));
}

/*
 * Wait until datagrams pass from @from to @to, which receives at @port.  For some time after a device is
 * up it drops what it is given, although its flags say that it runs.  An ARP
 * request that is lost in this time would be repeated a second later.
 * Broadcasts need no ARP.
 */
static int
wait_until_passing(int from, int to, uint16_t port)
{
	uint64_t deadline = bench_now_ns() + UP_TIMEOUT_NS, now;
	struct sockaddr at;
	char byte = 0;

	set_broadcast(&at, port);
	for (now = bench_now_ns(); now < deadline; now = bench_now_ns()) {
		if (sendto(from, &byte, 1, 0, &at, sizeof(at)) != 1)
			return -1;
		bench_sleep_until_ns(now + UP_TICK_NS);
		if (recv(to, &byte, 1, MSG_DONTWAIT) == 1)
			return 0;
	}
	errno = ETIMEDOUT;
	return -1;
}

/* A socket of each namespace knows its devices. */
static int
configure(const int *fds)
{
	if (start_device(fds[1], "lo", 0) != 0 ||
		start_device(fds[1], PEER_DEVICE, NETNS_THERE) != 0 ||
		start_device(fds[0], "lo", 0) != 0 ||
		start_device(fds[0], NETNS_DEVICE, NETNS_HERE) != 0)
		return failed("setting addresses");
	if (add_route(fds[1]) != 0)
		return failed("adding a route");
	/* a sender gets its own broadcasts, too: so the ports differ */
	if (prepare(fds[0], UP_PORT) != 0 || prepare(fds[1], UP_PORT + 1) != 0 ||
		wait_until_passing(fds[0], fds[1], UP_PORT + 1) != 0 ||
		wait_until_passing(fds[1], fds[0], UP_PORT) != 0)
		return failed("waiting for the devices");
	return 0;
}

/* --------------------------------------------------------------- namespaces */

/* A new one, and a socket in it. */
static int
make_space(int which, int *ret_fd)
{
	if (unshare(CLONE_NEWNET) != 0) {
		/* as it says when the kernel has none */
		errno = errno == EINVAL ? ENOSYS : errno;
		return failed("making a namespace");
	}
	spaces[which] = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	*ret_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return spaces[which] == -1 || *ret_fd == -1
		       ? failed("entering a namespace")
		       : 0;
}

int
netns_make(void)
{
	int fds[2] = {-1, -1};
	int ret = -1, error;

	/* A wire keeps a domain with a name after its last member. */
	(void)setenv("STREAMS_DOMAIN", "private", 1);
	if (make_space(1, &fds[1]) != 0 || make_space(0, &fds[0]) != 0)
		goto out;
	if (make_devices(spaces[1]) != 0)
		(void)failed("making veth devices");
	else
		ret = configure(fds);
out:
	error = errno;
	for (int i = 0; i < 2; i++) {
		if (fds[i] != -1)
			(void)close(fds[i]);
	}
	errno = error;
	return ret;
}

int
netns_enter(int there)
{
	return setns(spaces[there], CLONE_NEWNET) == 0
		       ? 0
		       : failed("entering a namespace");
}

int
netns_route(int forwards)
{
	char wanted = forwards ? '1' : '0';
	char is = 0;
	int fd = open(FORWARD, O_RDONLY | O_CLOEXEC);
	int ret = -1, error;

	if (fd != -1 && read(fd, &is, 1) == 1 && is == wanted) {
		ret = 0;
	} else {
		if (fd != -1)
			(void)close(fd);
		fd = open(FORWARD, O_WRONLY | O_CLOEXEC);
		if (fd != -1 && write(fd, &wanted, 1) == 1)
			ret = 0;
	}
	error = errno;
	if (fd != -1)
		(void)close(fd);
	errno = error;
	return ret == 0 ? 0 : failed(FORWARD);
}

/* --------------------------------------------------------------- processors */

/* Is this process, or thread, in the namespace of @mine? */
static int
is_here(const char *pid, const struct stat *mine)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%.16s/ns/net", pid);
	return stat(path, &st) == 0 && st.st_dev == mine->st_dev &&
	       st.st_ino == mine->st_ino;
}

static int
pin_threads(const char *pid, const cpu_set_t *set)
{
	char path[64];
	struct dirent *entry;
	DIR *threads;
	int ret = 0;

	(void)snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	threads = opendir(path);
	if (threads == NULL)
		return 0; /* it has ended */
	while (ret == 0 && (entry = readdir(threads)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (sched_setaffinity(atoi(entry->d_name), sizeof(*set), set) !=
				0 &&
			errno != ESRCH)
			ret = failed("binding to a CPU");
	}
	(void)closedir(threads);
	return ret;
}

int
netns_pin(int cpu)
{
	struct dirent *entry;
	struct stat mine;
	cpu_set_t set;
	DIR *all;
	int ret = 0;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (fstat(spaces[0], &mine) != 0)
		return failed("looking at a namespace");
	all = opendir("/proc");
	if (all == NULL)
		return failed("/proc");
	while (ret == 0 && (entry = readdir(all)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			is_here(entry->d_name, &mine))
			ret = pin_threads(entry->d_name, &set);
	}
	(void)closedir(all);
	return ret;
}

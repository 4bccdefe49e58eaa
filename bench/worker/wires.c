/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Wires by which endpoints "here" reach the other network namespace, as
 * strwire(8) makes them.  They are the domain's and end with it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <sys/ipwire.h>
#include <unistd.h>

#include "netns.h"
#include "transports_xti.h"
#include "worker.h"

#define DRIVER "/dev/streams/clone/ip"

static struct ipw_addr
address_of(uint32_t host, unsigned char bits)
{
	struct ipw_addr address = {.len = 4, .bits = bits};
	uint32_t bytes = htonl(host);

	memcpy(address.b, &bytes, sizeof(bytes));
	return address;
}

static int
command(int fd, int cmd, void *data, size_t n)
{
	struct strioctl ioc = {
		.ic_cmd = cmd,
		.ic_len = (int)n,
		.ic_dp = data,
	};

	return ioctl(fd, I_STR, &ioc);
}

/* The first wire but lo is up, or why it is not. */
static int
check_up(int fd)
{
	struct ipw_info info = {.index = 1};

	if (command(fd, IPW_INFO, &info, sizeof(info)) != 0)
		return -1;
	if (info.state == IPW_UP)
		return 0;
	errno = info.error != 0 ? info.error : ENETDOWN;
	return -1;
}

static int
add_wire(const struct ipw_conf *conf)
{
	struct ipw_conf copy = *conf;
	int wire = open(DRIVER, O_RDWR);
	int above = wire == -1 ? -1 : open(DRIVER, O_RDWR);
	int ret = -1, error;

	if (above != -1 && command(wire, IPW_ADD, &copy, sizeof(copy)) == 0 &&
		ioctl(above, I_PLINK, wire) != -1)
		ret = check_up(above);
	error = errno;
	if (above != -1)
		(void)close(above);
	if (wire != -1)
		(void)close(wire);
	if (ret != 0)
		worker_detail("making the wire", conf->name);
	errno = error;
	return ret;
}

int
wire_raw(void)
{
	const struct ipw_conf conf = {
		.name = "raw",
		.kind = IPW_RAW,
		.own = {address_of(NETNS_HERE, 32)},
		.route = {address_of(NETNS_NET, NETNS_BITS)},
	};

	return add_wire(&conf);
}

/* A router would have to say something to packets for another station. */
int
wire_packet(void)
{
	const struct ipw_conf conf = {
		.name = "packet",
		.ifname = NETNS_DEVICE,
		.kind = IPW_PACKET,
		.own = {address_of(NETNS_STATION, NETNS_BITS)},
	};

	return netns_route(0) == 0 ? add_wire(&conf) : -1;
}

int
wire_tun(void)
{
	const struct ipw_conf conf = {
		.name = "tun",
		.kind = IPW_TUN,
		.own = {address_of(NETNS_ROUTED_END, NETNS_BITS)},
		.route = {address_of(NETNS_NET, NETNS_BITS)},
		.gateway = {address_of(NETNS_ROUTED_HERE, NETNS_BITS)},
	};

	return netns_route(1) == 0 ? add_wire(&conf) : -1;
}

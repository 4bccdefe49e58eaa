/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Groups on wires: who joins and leaves, who hears, who sends.
 */
#include <net/if.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"
#include "pair.h"

/* An endpoint of that port, which others may have, bound there. */
static int
sharing_at(const char *addr, int *port)
{
	struct sockaddr_storage ss;
	int family = family_of(addr), fd, yes = T_YES;
	socklen_t len = in_addr(&ss, family, addr, *port);

	fd = in_open(family == AF_INET ? "/dev/udp2" : "/dev/udp2_6");
	T_EQ(ns_option(fd, XTI_GENERIC, XTI_REUSEADDR, &yes, sizeof(yes)),
		T_SUCCESS);
	*port = in_bind(fd, &ss, len, 0);
	return fd;
}

/* ... at any address of the family of @addr */
static int
sharing(const char *addr, int *port)
{
	return sharing_at(family_of(addr) == AF_INET ? "0.0.0.0" : "::", port);
}

static int
membership(int fd, const char *group, int joins)
{
	int name = joins ? T_IP_ADD_MEMBERSHIP : T_IP_DROP_MEMBERSHIP;
	struct ipv6_mreq m6 = { .ipv6mr_interface = if_nametoindex("a0") };
	struct ip_mreq m4;

	if (family_of(group) == AF_INET) {
		T_EQ(inet_pton(AF_INET, group, &m4.imr_multiaddr), 1);
		T_EQ(inet_pton(AF_INET, "10.78.0.9", &m4.imr_interface), 1);
		return ns_option(fd, T_INET_IP, name, &m4, sizeof(m4));
	}
	T_EQ(inet_pton(AF_INET6, group, &m6.ipv6mr_multiaddr), 1);
	return ns_option(fd, T_INET_IP, name, &m6, sizeof(m6));
}

/*
 * One datagram to the group: so many of @fd, @n of them, get it, once.  What
 * comes by the wire behind it has come: it was given to who was in the group.
 */
static void
reach(const char *group, int port, const int *fd, const int *get, int n)
{
	const char *there = family_of(group) == AF_INET ? "10.78.0.2" :
		"fd78::2";
	int i, other_port, behind = endpoint(there, &other_port);

	order('m', group, port, 1);
	good(answer());
	dialogue(behind, there, 1);
	T_OK(close(behind));
	for (i = 0; i < n; i++) {
		if (!get[i])
			continue;
		T_FALSE(in_quiet(fd[i], 5000));
		in_want(fd[i], T_UNITDATA_IND);
		T_EQ(in.datalen, 1);
	}
	for (i = 0; i < n; i++)
		T_TRUE(in_quiet(fd[i], 20));
}

/* RFC 1112 s7, RFC 4291 s2.7 */
T_CASE_TIMEOUT(groups_are_joined_on_wires_and_only_members_hear_them, 60)
{
	static const char *const groups[] = { "239.1.2.3", "ff15::12:3456" };
	static const char *const macs[] = { "01005e010203", "333300123456" };
	int fd[3], port, i, st;
	pid_t pid;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	put_file("/proc/sys/net/ipv6/conf/all/forwarding", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	for (i = 0; i < 2; i++) {
		port = 0;
		fd[0] = sharing(groups[i], &port);
		fd[1] = sharing(groups[i], &port);
		fd[2] = sharing(groups[i], &port);
		T_EQ(ns_listens("a0", macs[i]), 0);
		reach(groups[i], port, fd, (const int[]){ 0, 0, 0 }, 3);
		T_EQ(membership(fd[0], groups[i], 1), T_SUCCESS);
		T_EQ(membership(fd[1], groups[i], 1), T_SUCCESS);
		T_NE(membership(fd[1], groups[i], 1), T_SUCCESS);
		T_NE(membership(fd[2], groups[i], 0), T_SUCCESS);
		T_SOON(ns_listens("a0", macs[i]), 5000);
		reach(groups[i], port, fd, (const int[]){ 1, 1, 0 }, 3);
		T_EQ(membership(fd[0], groups[i], 0), T_SUCCESS);
		reach(groups[i], port, fd, (const int[]){ 0, 1, 0 }, 3);
		/* the wire is in it as long as anybody is */
		T_TRUE(ns_listens("a0", macs[i]));
		T_OK(close(fd[1]));
		T_SOON(!ns_listens("a0", macs[i]), 5000);
		/* a killed one leaves, too */
		pid = T_OK(fork());
		if (pid == 0) {
			fd[1] = sharing(groups[i], &port);
			T_EQ(membership(fd[1], groups[i], 1), T_SUCCESS);
			T_SOON(ns_listens("a0", macs[i]), 5000);
			_exit(kill(getpid(), SIGKILL));
		}
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_TRUE(WIFSIGNALED(st));
		T_SOON(!ns_listens("a0", macs[i]), 10000);
		T_OK(close(fd[0]));
		T_OK(close(fd[2]));
	}
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

/* RFC 1122 s3.2.1.3, RFC 4291 s2.7 */
T_CASE_TIMEOUT(who_is_bound_to_a_group_does_not_send_from_it, 60)
{
	static const char *const groups[] = { "239.1.2.3", "ff15::12:3456" };
	static const char *const peers[] = { "10.78.0.2", "fd78::2" };
	struct sockaddr_storage ss;
	int fd, group, port, i;
	socklen_t len;

	two_namespaces();
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64"), 0);
	for (i = 0; i < 2; i++) {
		port = 0;
		fd = sharing(groups[i], &port);
		group = sharing_at(groups[i], &port);
		len = in_addr(&ss, family_of(peers[i]), peers[i], ECHO);
		in_unitdata(group, &ss, (int)len, "hello", 5);
		T_FALSE(in_quiet(fd, 5000));
		in_want(fd, T_UNITDATA_IND);
		T_EQ(in.datalen, 5);
		T_OK(close(group));
		T_OK(close(fd));
	}
	T_EQ(RUN(-1, "strwire", "del", "p0"), 0);
}

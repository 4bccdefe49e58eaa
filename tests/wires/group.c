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

/* udp2(4): broadcasts need the option. */
T_CASE_TIMEOUT(broadcasts_are_sent_with_the_option, 60)
{
	static const char *const to[] = { "10.78.0.255", "255.255.255.255" };
	struct sockaddr_storage ss;
	t_scalar_t yes = T_YES;
	unsigned i;
	int fd;

	two_namespaces();
	put_file("/proc/sys/net/ipv4/ip_forward", "0");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24"), 0);
	fd = in_open("/dev/udp2");
	(void)in_bind(fd, &ss, in_addr(&ss, AF_INET, "10.78.0.9", 0), 0);
	for (i = 0; i < 2; i++) {
		in_unitdata(fd, &ss, (int)in_addr(&ss, AF_INET, to[i], SINK),
			"x", 1);
		T_FALSE(in_quiet(fd, 5000));
		in_want(fd, T_UDERROR_IND);
		T_EQ(in.p.uderror_ind.ERROR_type, EACCES);
	}
	T_EQ(ns_option(fd, T_INET_IP, T_IP_BROADCAST, &yes, sizeof(yes)),
		T_SUCCESS);
	for (i = 0; i < 2; i++)
		in_unitdata(fd, &ss, (int)in_addr(&ss, AF_INET, to[i], SINK),
			"x", 1);
	stat_says("p0", "c['out'] == 2");
	order('n', "", 0, 0);
	T_EQ(answer().packets, 2);
	T_OK(close(fd));
}

/* RFC 1112 s6.1, s6.2: which interface, and copies for members here. */
T_CASE_TIMEOUT(groups_are_sent_by_the_chosen_wire_and_come_back, 60)
{
	static const char *const groups[] = { "239.1.2.3", "ff15::12:3456" };
	static char big[1400];
	struct sockaddr_storage ss;
	int fd[2], port, i, k, no = T_NO;
	struct in_addr by;
	unsigned index;
	socklen_t len;

	two_namespaces();
	sh("ip link add c0 type veth peer name c1");
	sh("ip link set c0 up");
	sh("ip link set c1 up");
	T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", "a0",
		"-a", "10.78.0.9/24", "-a", "fd78::9/64",
		"-r", "239.0.0.0/8", "-r", "ff15::/16"), 0);
	T_EQ(RUN(-1, "strwire", "add", "packet", "p1", "-f", "c0",
		"-a", "10.81.0.9/24", "-a", "fd81::9/64"), 0);
	T_EQ(inet_pton(AF_INET, "10.81.0.9", &by), 1);
	index = if_nametoindex("c0");
	for (i = 0; i < 2; i++) {
		port = 0;
		fd[0] = sharing(groups[i], &port);
		fd[1] = sharing(groups[i], &port);
		T_EQ(i == 0 ? ns_option(fd[0], T_INET_IP, T_IP_MULTICAST_IF,
			&by, sizeof(by)) : ns_option(fd[0], T_INET_IP,
			T_IP_MULTICAST_IF, &index, sizeof(index)), T_SUCCESS);
		{
			struct ip_mreq m4 = { .imr_interface = by };
			struct ipv6_mreq m6 = { .ipv6mr_interface = index };

			T_EQ(inet_pton(AF_INET, "239.1.2.3", &m4.imr_multiaddr),
				1);
			T_EQ(inet_pton(AF_INET6, groups[1],
				&m6.ipv6mr_multiaddr), 1);
			for (k = 0; k < 2; k++)
				T_EQ(i == 0 ? ns_option(fd[k], T_INET_IP,
					T_IP_ADD_MEMBERSHIP, &m4, sizeof(m4)) :
					ns_option(fd[k], T_INET_IP,
					T_IP_ADD_MEMBERSHIP, &m6, sizeof(m6)),
					T_SUCCESS);
		}
		len = in_addr(&ss, family_of(groups[i]), groups[i], port);
		in_unitdata(fd[0], &ss, (int)len, big, sizeof(big));
		for (k = 0; k < 2; k++) {
			T_FALSE(in_quiet(fd[k], 5000));
			in_want(fd[k], T_UNITDATA_IND);
			T_EQ(in.datalen, (int)sizeof(big));
		}
		T_EQ(ns_option(fd[0], T_INET_IP, T_IP_MULTICAST_LOOP, &no,
			sizeof(no)), T_SUCCESS);
		in_unitdata(fd[0], &ss, (int)len, big, sizeof(big));
		T_TRUE(in_quiet(fd[0], 50));
		T_TRUE(in_quiet(fd[1], 0));
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
	}
	/* reports of groups are much shorter */
	stat_says("p1", "c['out-bytes'] > 5600");
	stat_says("p0", "c.get('out-bytes', 0) < 1400");
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Wires inside of UDP, between two domains of this host: UDP's own datagrams go
 * inside of it here (protocol 17), because that needs no privilege.  The second
 * domain is that of a child, which sends back what comes.
 */
#include <signal.h>
#include <stdio.h>

#include "../conformance/inet/in.h"
#include "../tools/run.h"
#include "ns.h"

struct side {
	int tunnel; /* UDP port of the domain's wire */
	int port;   /* of its endpoint */
};

static const char *
home(int six)
{
	return six ? "::1" : "127.0.0.1";
}

static int
add_wire(int tunnel, int far)
{
	char ports[32];

	snprintf(ports, sizeof(ports), "%d,%d", tunnel, far);
	return RUN(-1, "strwire", "add", "encap", "u0", "-p", "17", "-P", ports,
		"-r", "127.0.0.0/8", "-r", "::1/128");
}

static int
endpoint(int six, int port)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, six ? AF_INET6 : AF_INET, home(six), port);
	int fd = in_open(six ? "/dev/udp2_6" : "/dev/udp2");

	T_EQ(in_bind(fd, &ss, len, 0), port);
	return fd;
}

/* The child: echoes @n datagrams. */
static void
echo(int six, struct side here, struct side there, int ready, int n)
{
	struct T_unitdata_ind *ui = &in.p.unitdata_ind;
	int fd;

	if (add_wire(here.tunnel, there.tunnel) != 0)
		_exit(1);
	fd = endpoint(six, here.port);
	if (write(ready, "", 1) != 1)
		_exit(1);
	while (n-- > 0) {
		in_want(fd, T_UNITDATA_IND);
		T_EQ(in_port(in.ctl + ui->SRC_offset), there.port);
		in_unitdata(fd, in.ctl + ui->SRC_offset, ui->SRC_length,
			in.data, in.datalen);
	}
	/* the parent says when it has got the last one */
	in_want(fd, T_UNITDATA_IND);
	_exit(0);
}

/* Start the other side; its process. */
static pid_t
other_side(int six, struct side here, struct side there, int n)
{
	int pfd[2];
	pid_t pid;
	char c;

	/* no pipe: that would attach the child to this process's domain */
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pfd));
	pid = T_OK(fork());
	if (pid == 0) {
		close(pfd[0]);
		echo(six, there, here, pfd[1], n);
	}
	T_OK(close(pfd[1]));
	T_EQ(read(pfd[0], &c, 1), 1);
	T_OK(close(pfd[0]));
	return pid;
}

static const int sizes[] = {1, 8, 100, 500, 1000, 1400, 1464, 4000, 20000};
#define NSIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static unsigned char buf[70000];

static void
fill(int size, int seed)
{
	int i;

	for (i = 0; i < size; i++)
		buf[i] = in_byte((uint64_t)seed * 1000003 + (uint64_t)i);
}

static void
dialogue(int fd, int six, struct side to, int size, int seed)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, six ? AF_INET6 : AF_INET, home(six),
		to.port);

	fill(size, seed);
	in_unitdata(fd, &ss, (int)len, buf, size);
	in_want(fd, T_UNITDATA_IND);
	T_EQ(in_port(in.ctl + in.p.unitdata_ind.SRC_offset), to.port);
	T_EQ(in.datalen, size);
	T_MEM(in.data, buf, (size_t)size);
}

static struct side
new_side(int six)
{
	struct side s;

	/* the wire's socket has the port of both versions */
	s.tunnel = t_port(AF_INET6, SOCK_DGRAM);
	s.port = t_port(six ? AF_INET6 : AF_INET, SOCK_DGRAM);
	return s;
}

/* The child has got all and ends. */
static void
finish(int fd, int six, struct side to, pid_t pid)
{
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, six ? AF_INET6 : AF_INET, home(six),
		to.port);
	int status;

	in_unitdata(fd, &ss, (int)len, "end", 3);
	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
	T_OK(close(fd));
}

static void
talk(int six)
{
	struct side here = new_side(six), there = new_side(six);
	pid_t pid = other_side(six, here, there, 2 * NSIZES);
	int fd, i;

	T_EQ(add_wire(here.tunnel, there.tunnel), 0);
	fd = endpoint(six, here.port);
	for (i = 0; i < 2 * NSIZES; i++)
		dialogue(fd, six, there, sizes[i % NSIZES], i);
	T_EQ(RUN(-1, "strwire", "stat", "--json", "u0"), 0);
	T_TRUE(json_says("v[0]['kind'] == 'encap'"));
	T_TRUE(json_says("v[0]['counts']['in'] == 18"));
	T_TRUE(json_says("v[0]['counts']['out'] == 18"));
	finish(fd, six, there, pid);
}

T_CASE_TIMEOUT(two_domains_talk_inside_of_udp, 60)
{
	talk(0);
}

T_CASE_TIMEOUT(two_domains_talk_inside_of_udp_over_ipv6, 60)
{
	talk(1);
}

T_CASE(the_port_of_another_domain_is_not_taken)
{
	struct side here = new_side(0), there = new_side(0);
	pid_t pid = other_side(0, here, there, 0);

	T_NE(add_wire(there.tunnel, here.tunnel), 0);
	T_EQ(add_wire(here.tunnel, there.tunnel), 0);
	finish(endpoint(0, here.port), 0, there, pid);
}

/* Another user's program could have the packets otherwise. */
T_CASE(no_other_socket_shares_the_port)
{
	struct side here = new_side(0);
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET6, "::", here.tunnel);
	int fd, on = 1;

	T_EQ(add_wire(here.tunnel, 9899), 0);
	fd = T_OK(socket(AF_INET6, SOCK_DGRAM, 0));
	T_OK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	T_OK(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)));
	T_ERR(bind(fd, (struct sockaddr *)&ss, len), EADDRINUSE);
	T_OK(close(fd));
}

T_CASE(the_wire_is_listed_and_removed)
{
	struct side here = new_side(0);

	T_EQ(RUN(-1, "strwire", "add", "encap", "u0", "-P", "nonsense"), 2);
	T_EQ(RUN(-1, "strwire", "add", "encap", "u0", "-P", "70000"), 2);
	T_EQ(add_wire(here.tunnel, 9899), 0);
	T_EQ(RUN(-1, "strwire", "list", "--json"), 0);
	T_TRUE(json_says("v[1]['protocol'] == 17 and "
		"v[1]['remote-port'] == 9899"));
	T_EQ(RUN(-1, "strwire", "del", "u0"), 0);
	/* the port is free again */
	T_EQ(add_wire(here.tunnel, 9899), 0);
}

/* As long as the sockets of the domain are held, by whichever process, the port
 * of the wire is bound; after that the socket is made again. */
T_CASE_TIMEOUT(the_wire_outlives_streamsd, 60)
{
	struct side here = new_side(0), there = new_side(0);
	pid_t pid = other_side(0, here, there, 1000), daemon;
	struct sockaddr_storage ss;
	socklen_t len = in_addr(&ss, AF_INET, home(0), there.port);
	int fd, tries;

	T_EQ(add_wire(here.tunnel, there.tunnel), 0);
	fd = endpoint(0, here.port);
	dialogue(fd, 0, there, 100, 1);
	daemon = ns_streamsd();
	if (daemon == 0)
		T_SKIP("no streamsd");
	T_OK(kill(daemon, SIGKILL));
	for (tries = 0; tries < 100; tries++) {
		in_unitdata(fd, &ss, (int)len, "again", 5);
		if (!in_quiet(fd, 300))
			break;
	}
	in_want(fd, T_UNITDATA_IND);
	T_EQ(in.datalen, 5);
	T_OK(kill(pid, SIGKILL));
	T_OK(close(fd));
}

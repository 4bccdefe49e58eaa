/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SCTP between two domains, each in a network namespace of its own, over wires:
 * messages of many sizes go there and back, and the association is released.
 *
 *	this namespace			that namespace
 *	10.78.0.1 on v0  --- veth ---	10.78.0.2 on v1
 *	10.78.0.101, a packet wire	10.78.0.102, a packet wire
 *
 * Inside of UDP each end has another port; the caller knows that of the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <xti.h>

/* XTI's, which tests have other words for */
#undef T_NULL
#undef T_UNUSED
#include "../tools/run.h"
#include "ns.h"

#define PORT 7777
#define MESSAGES 40

static char out[80000], in[sizeof(out)];

static void
address(struct sockaddr_in *sin, const char *text)
{
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_port = htons(PORT);
	T_EQ(inet_pton(AF_INET, text, &sin->sin_addr), 1);
}

/* One message, however many pieces; -1: the end of the association. */
static int
receive(int fd)
{
	int n, all = 0, flags;

	do {
		n = t_rcv(fd, in + all, (unsigned)sizeof(in) - (unsigned)all,
			&flags);
		if (n < 0)
			return -1;
		all += n;
	} while ((flags & T_MORE) != 0);
	return all;
}

/* Send back what comes, until the peer releases. */
static void
serve(const char *own, int ready)
{
	struct sockaddr_in sin;
	char from[256];
	struct t_bind bind = {.addr = {.len = sizeof(sin),
		.buf = (char *)&sin}, .qlen = 1};
	struct t_call call = {.addr = {.maxlen = sizeof(from), .buf = from}};
	int lfd, fd, n;

	address(&sin, own);
	lfd = t_open("/dev/sctp", O_RDWR, NULL);
	T_GE(lfd, 0);
	T_EQ(t_bind(lfd, &bind, NULL), 0);
	T_EQ(write(ready, "r", 1), 1);
	T_EQ(t_listen(lfd, &call), 0);
	fd = t_open("/dev/sctp", O_RDWR, NULL);
	T_EQ(t_accept(lfd, fd, &call), 0);
	while ((n = receive(fd)) > 0)
		T_EQ(t_snd(fd, in, (unsigned)n, 0), n);
	T_EQ(t_look(fd), T_ORDREL);
	T_EQ(t_rcvrel(fd), 0);
	T_EQ(t_sndrel(fd), 0);
	T_EQ(t_close(fd), 0);
	T_EQ(t_close(lfd), 0);
	/* the association ends after the close: its SHUTDOWN COMPLETE */
	T_EQ(read(ready, out, 1), 1);
}

static void
call_it(const char *theirs)
{
	struct sockaddr_in sin;
	struct t_call call = {.addr = {.len = sizeof(sin),
		.buf = (char *)&sin}};
	int fd = t_open("/dev/sctp", O_RDWR, NULL), i, k, n;

	address(&sin, theirs);
	T_GE(fd, 0);
	T_EQ(t_bind(fd, NULL, NULL), 0);
	T_EQ(t_connect(fd, &call, NULL), 0);
	for (i = 1; i <= MESSAGES; i++) {
		n = i * i * 48; /* up to 76,800 bytes */
		for (k = 0; k < n; k++)
			out[k] = (char)(i + k * 7);
		T_EQ(t_snd(fd, out, (unsigned)n, 0), n);
		T_EQ(receive(fd), n);
		T_MEM(in, out, n);
	}
	T_EQ(t_sndrel(fd), 0);
	T_SOON(t_look(fd) == T_ORDREL, 10000);
	T_EQ(t_rcvrel(fd), 0);
	T_EQ(t_close(fd), 0);
}

enum kind { RAW, PACKET, ENCAP };

/* A domain and its wire in this process's namespace. */
static void
domain(const char *name, enum kind kind, int nr)
{
	char own[32], host[32], dev[16];
	char text[64];

	snprintf(text, sizeof(text), "%s-%d", name, (int)getpid());
	T_OK(setenv("STREAMS_DOMAIN", text, 1));
	snprintf(host, sizeof(host), "10.78.0.%d/32", nr);
	snprintf(own, sizeof(own), "10.78.0.%d/24", 100 + nr);
	snprintf(dev, sizeof(dev), "v%d", nr - 1);
	/* the domain lives as long as a member does */
	T_GE(t_open("/dev/sctp", O_RDWR, NULL), 0);
	/* the listener learns the caller's port */
	if (kind == ENCAP)
		T_EQ(RUN(-1, "strwire", "add", "encap", "e0", "-p", "132", "-P",
			nr == 1 ? "9899,9900" : "9900,9", "-r",
			"10.78.0.0/24"), 0);
	else if (kind == RAW)
		T_EQ(RUN(-1, "strwire", "add", "raw", "r0", "-a", host, "-r",
			"10.78.0.0/24", "-p", "132"), 0);
	else
		T_EQ(RUN(-1, "strwire", "add", "packet", "p0", "-f", dev,
			"-a", own, "-r", "10.78.0.0/24"), 0);
}

static void
between_two(enum kind kind)
{
	const char *theirs = kind != PACKET ? "10.78.0.2" : "10.78.0.102";
	int p[2], st;
	char c;
	pid_t pid;

	own_namespace();
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(unshare(CLONE_NEWNET));
		T_EQ(write(p[1], "u", 1), 1);
		T_EQ(read(p[1], &c, 1), 1);
		sh("ip addr add 10.78.0.2/24 dev v1 && ip link set v1 up && "
			"ip link set lo up");
		domain("wires-sctp-b", kind, 2);
		serve(theirs, p[1]);
		_exit(0);
	}
	T_EQ(read(p[0], &c, 1), 1);
	sh("ip link add v0 type veth peer name v1 netns %d", (int)pid);
	sh("ip addr add 10.78.0.1/24 dev v0 && ip link set v0 up && "
		"ip link set lo up");
	T_EQ(write(p[0], "v", 1), 1);
	domain("wires-sctp-a", kind, 1);
	T_EQ(read(p[0], &c, 1), 1);
	call_it(theirs);
	T_EQ(write(p[0], "e", 1), 1);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
}

T_CASE_TIMEOUT(messages_over_raw_sockets, 60)
{
	(void)t;
	between_two(RAW);
}

T_CASE_TIMEOUT(messages_in_frames, 60)
{
	(void)t;
	between_two(PACKET);
}

T_CASE_TIMEOUT(messages_inside_of_udp, 60)
{
	(void)t;
	between_two(ENCAP);
}

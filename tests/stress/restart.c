/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * A server is killed and started again: it gets its address at the first try,
 * however little time has passed, and a living server keeps its address.
 *
 * The server is this program, executed again with SERVER in its environment.  It
 * writes the result of its t_bind to descriptor 1.
 */
#include <xti.h>

#undef T_NULL
#undef T_UNUSED

#include "left.h"
#include "t.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stropts.h>

#define SERVER "RESTART_SERVER"
#define ROUNDS 1
#define MOST 120 /* s, a case */
#define A_WHILE 50 /* ms */

T_TARGETS("ticlts", "ticots", "ticotsord", "tcp", "udp", "udp2", "sctp");

struct server {
	pid_t pid;
	int out;
};

/* ------------------------------------------------------------- the server */

static unsigned
address(char *buf, const char *device, int port)
{
	struct sockaddr_in s4 = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};

	if (strncmp(device, "ti", 2) == 0)
		return (unsigned)sprintf(buf, "restart-%d", port);
	memcpy(buf, &s4, sizeof(s4));
	return sizeof(s4);
}

T_CONSTRUCTOR static void
serve(void)
{
	const char *what = getenv(SERVER);
	char device[32], path[48], addr[64], byte;
	struct t_bind req = {.qlen = 5};
	int port, fd;

	if (what == NULL || sscanf(what, "%31s %d", device, &port) != 2)
		return;
	snprintf(path, sizeof(path), "/dev/%s", device);
	fd = t_open(path, O_RDWR, NULL);
	req.addr.buf = addr;
	req.addr.len = address(addr, device, port);
	byte = 100;
	if (fd >= 0)
		byte = t_bind(fd, &req, NULL) == 0 ? 0 : (char)t_errno;
	(void)write(1, &byte, 1);
	for (;;)
		pause();
}

/* --------------------------------------------------------------- its starter */

static struct server
start(struct t *t, int port)
{
	struct server s;
	char what[64];
	int out[2];

	T_EQ(pipe(out), 0);
	snprintf(what, sizeof(what), "%s %d", t->target, port);
	s.pid = fork();
	T_GE(s.pid, 0);
	if (s.pid == 0) {
		(void)dup2(out[1], 1);
		(void)setenv(SERVER, what, 1);
		(void)execl("/proc/self/exe", "restart", NULL);
		_exit(1);
	}
	(void)close(out[1]);
	s.out = out[0];
	return s;
}

/* The server's t_errno, 0: it has bound its address. */
static int
result(struct server *s)
{
	char byte = 99;

	T_EQ(read(s->out, &byte, 1), 1);
	(void)close(s->out);
	return byte;
}

static void
ends(struct server *s, int sig, int options)
{
	siginfo_t si;

	T_EQ(kill(s->pid, sig), 0);
	T_EQ(waitid(P_PID, (id_t)s->pid, &si, WEXITED | options), 0);
}

static int
port_of(struct t *t)
{
	return t_port(AF_INET, strcmp(t->target, "tcp") == 0 ? SOCK_STREAM :
		SOCK_DGRAM);
}

/* A process that keeps the domain while no server runs. */
static void
keep_domain(void)
{
	int fd[2];

	T_EQ(pipe(fd), 0);
	T_EQ(isastream(fd[0]), 1);
}

/*
 * Start a server again and again: @sig ends it, with @options of waitid();
 * @also: streamsd is killed with it.
 */
static void
again(struct t *t, int sig, int options, int also)
{
	int port = port_of(t), i;
	struct server s;
	pid_t pid;

	keep_domain();
	s = start(t, port);
	T_EQ(result(&s), 0);
	for (i = 0; i < ROUNDS; i++) {
		if (also && streamsd_of(getppid(), &pid) != 0)
			(void)kill(pid, SIGKILL);
		ends(&s, sig, options);
		s = start(t, port);
		T_EQ(result(&s), 0);
	}
}

/*
 * streamsd is stopped until the second server has called t_bind, or has had a
 * while to do so: then only t_bind itself can wait for the first one's endpoint.
 */
T_CASE_TIMEOUT(a_server_that_was_killed_binds_its_address_again, MOST)
{
	int port = port_of(t), i;
	struct pollfd pfd;
	struct server s;
	pid_t pid;

	keep_domain();
	s = start(t, port);
	T_EQ(result(&s), 0);
	T_SOON(streamsd_of(getppid(), &pid) == 1, 30000);
	for (i = 0; i < ROUNDS; i++) {
		T_EQ(kill(pid, SIGSTOP), 0);
		ends(&s, SIGKILL, 0);
		s = start(t, port);
		pfd = (struct pollfd){.fd = s.out, .events = POLLIN};
		(void)poll(&pfd, 1, A_WHILE);
		T_EQ(kill(pid, SIGCONT), 0);
		T_EQ(result(&s), 0);
	}
}

T_CASE_TIMEOUT(a_server_binds_its_address_while_the_one_before_is_a_zombie, MOST)
{
	again(t, SIGTERM, WNOWAIT, 0);
}

T_CASE_TIMEOUT(a_server_binds_its_address_when_streamsd_was_killed_too, MOST)
{
	again(t, SIGKILL, 0, 1);
}

T_CASE_TIMEOUT(a_server_binds_its_address_without_streamsd, MOST)
{
	T_EQ(setenv("STREAMS_DAEMON", "/nonexistent", 1), 0);
	again(t, SIGKILL, 0, 0);
}

static void
keeps(struct t *t)
{
	int port = port_of(t);
	struct server a, b;

	keep_domain();
	a = start(t, port);
	T_EQ(result(&a), 0);
	b = start(t, port);
	T_EQ(result(&b), TADDRBUSY);
	ends(&b, SIGKILL, 0);
	b = start(t, port);
	T_EQ(result(&b), TADDRBUSY);
	ends(&a, SIGKILL, 0);
}

T_CASE_TIMEOUT(a_living_server_keeps_its_address, MOST)
{
	keeps(t);
}

T_CASE_TIMEOUT(a_living_server_keeps_its_address_without_streamsd, MOST)
{
	T_EQ(setenv("STREAMS_DAEMON", "/nonexistent", 1), 0);
	keeps(t);
}

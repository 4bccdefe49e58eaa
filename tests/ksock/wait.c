/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * All ways in which a program waits for what comes at a kernel socket below a
 * driver; and connections that are taken or refused.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stropts.h>

#include "ks.h"

T_CASE(bytes_go_both_ways)
{
	int s, p;

	wired(&s, &p);
	text(s, "down");
	expect(p, "down");
	text(p, "up");
	expect(s, "up");
	T_OK(close(s));
	T_OK(close(p));
}

T_CASE(blocked_read_wakes_when_data_comes)
{
	int s, p;
	pid_t pid;

	wired(&s, &p);
	for (int i = 0; i < 3; i++) {
		pid = child(later, p, i == 0 ? 120 : 5);
		expect(s, "late");
		reap(pid);
	}
	T_OK(close(p));
}

T_CASE(nonblocking_read_finds_what_has_come)
{
	int s, p;
	char c;

	wired(&s, &p);
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	T_ERR(read(s, &c, 1), EAGAIN);
	text(p, "x");
	T_SOON(read(s, &c, 1) == 1, 1000);
	T_ERR(read(s, &c, 1), EAGAIN);
}

T_CASE(nonblocking_getmsg_finds_what_has_come)
{
	int s, p, flags;
	char buf[8];
	struct strbuf data = {sizeof buf, 0, buf};

	wired(&s, &p);
	T_OK(fcntl(s, F_SETFL, O_NONBLOCK));
	text(p, "x");
	T_SOON((flags = 0, getmsg(s, NULL, &data, &flags) == 0), 1000);
	T_EQ(data.len, 1);
}

T_CASE(i_nread_and_i_peek_look_at_the_socket)
{
	int s, p, n;
	char buf[8];
	struct strpeek pk = {.databuf = {sizeof buf, 0, buf}};

	wired(&s, &p);
	text(p, "four");
	T_SOON(ioctl(s, I_NREAD, &n) == 1, 1000);
	T_EQ(n, 4);
	T_EQ(ioctl(s, I_PEEK, &pk), 1);
	T_EQ(pk.databuf.len, 4);
}

T_CASE(poll_of_one_stream)
{
	int s, p;
	struct pollfd pfd;
	pid_t pid;

	wired(&s, &p);
	pfd = (struct pollfd){s, POLLIN, 0};
	T_EQ(poll(&pfd, 1, 0), 0);
	T_EQ(poll(&pfd, 1, 20), 0);
	pid = child(later, p, 100);
	T_EQ(poll(&pfd, 1, 5000), 1);
	T_EQ(pfd.revents, POLLIN);
	expect(s, "late");
	reap(pid);
	text(p, "x");
	T_SOON(poll(&pfd, 1, 0) == 1, 1000);
}

T_CASE(poll_of_many_streams_and_a_pipe)
{
	int s[40], p[40], pp[2];
	struct pollfd pfd[41];
	pid_t pid;

	for (int i = 0; i < 40; i++) {
		wired(&s[i], &p[i]);
		pfd[i] = (struct pollfd){s[i], POLLIN, 0};
	}
	T_OK(pipe(pp));
	pfd[40] = (struct pollfd){pp[0], POLLIN, 0};
	for (int i = 0; i < 3; i++) {
		pid = child(later, p[i * 13], 60);
		T_EQ(poll(pfd, 41, 5000), 1);
		T_EQ(pfd[i * 13].revents, POLLIN);
		expect(s[i * 13], "late");
		reap(pid);
	}
	text(pp[1], "x");
	T_EQ(poll(pfd, 41, 5000), 1);
	T_EQ(pfd[40].revents, POLLIN);
	text(p[7], "x");
	T_SOON(poll(pfd, 41, 0) == 2, 1000);
}

T_CASE(select_of_two_streams)
{
	int s[2], p[2];
	fd_set in;
	pid_t pid;

	wired(&s[0], &p[0]);
	wired(&s[1], &p[1]);
	for (int i = 0; i < 2; i++) {
		struct timeval tv = {5, 0};

		FD_ZERO(&in);
		FD_SET(s[0], &in);
		FD_SET(s[1], &in);
		pid = child(later, p[i], 60);
		T_EQ(select(s[1] + 1, &in, NULL, NULL, &tv), 1);
		T_TRUE(FD_ISSET(s[i], &in));
		expect(s[i], "late");
		reap(pid);
	}
}

static void
epoll_case(uint32_t flags)
{
	int s[3], p[3], ep = T_OK(epoll_create1(0));
	struct epoll_event ev;
	pid_t pid;

	for (uint32_t i = 0; i < 3; i++) {
		wired(&s[i], &p[i]);
		ev = (struct epoll_event){.events = EPOLLIN | flags,
			.data = {.u32 = i}};
		T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s[i], &ev));
	}
	T_EQ(epoll_wait(ep, &ev, 1, 0), 0);
	for (uint32_t i = 0; i < 6; i++) {
		char c;

		pid = child(later, p[i % 3], 40);
		T_EQ(epoll_wait(ep, &ev, 1, 5000), 1);
		T_EQ(ev.data.u32, i % 3);
		expect(s[i % 3], "late");
		reap(pid);
		T_OK(fcntl(s[i % 3], F_SETFL, O_NONBLOCK));
		T_ERR(read(s[i % 3], &c, 1), EAGAIN);
	}
	text(p[1], "x");
	T_SOON(epoll_wait(ep, &ev, 1, 0) == 1, 1000);
	T_EQ(ev.data.u32, 1);
}

T_CASE(epoll_level_triggered)
{
	epoll_case(0);
}

T_CASE(epoll_edge_triggered)
{
	epoll_case(EPOLLET);
}

/* A stream of datagrams and the plain socket at its other end. */
static void
wired_udp(int *ret_stream, int *ret_peer)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof sin;
	char buf[8];

	*ret_peer = T_OK(socket(AF_INET, SOCK_DGRAM, 0));
	T_OK(bind(*ret_peer, (void *)&sin, len));
	T_OK(getsockname(*ret_peer, (void *)&sin, &len));
	*ret_stream = T_OK(open(WIRE, O_RDWR));
	T_OK(cmd(*ret_stream, WIRE_UDP, ntohs(sin.sin_port)));
	text(*ret_stream, "here");
	T_EQ(recvfrom(*ret_peer, buf, sizeof buf, 0, (void *)&sin, &len), 4);
	T_OK(connect(*ret_peer, (void *)&sin, len));
}

/* streamsd watches the socket when the thread begins to wait. */
T_CASE(epoll_watches_a_socket_that_streamsd_watches_no_more)
{
	int s, p, other, peer, ep = T_OK(epoll_create1(0));
	struct epoll_event ev = {.events = EPOLLIN | (uint32_t)EPOLLET};
	pid_t pid;

	wired_udp(&s, &p);
	wired_udp(&other, &peer);
	T_OK(cmd(s, WIRE_NEAR, 1));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s, &ev));
	T_EQ(epoll_wait(ep, &ev, 1, 100), 0);
	T_OK(cmd(s, WIRE_NEAR, 0));
	/* so that streamsd looks at all sockets */
	T_OK(cmd(other, WIRE_NEAR, 1));
	pid = child(later, p, 100);
	T_EQ(epoll_wait(ep, &ev, 1, 5000), 1);
	expect(s, "late");
	reap(pid);
}

/* Two plain sockets of datagrams that are connected to each other. */
static void
plain_udp(int *ret, int *ret_peer)
{
	int *fd[2] = {ret, ret_peer};
	struct sockaddr_in sin[2];
	socklen_t len = sizeof sin[0];

	for (int i = 0; i < 2; i++) {
		sin[i] = (struct sockaddr_in){.sin_family = AF_INET,
			.sin_addr = {htonl(INADDR_LOOPBACK)}};
		*fd[i] = T_OK(socket(AF_INET, SOCK_DGRAM, 0));
		T_OK(bind(*fd[i], (void *)&sin[i], len));
		T_OK(getsockname(*fd[i], (void *)&sin[i], &len));
	}
	for (int i = 0; i < 2; i++)
		T_OK(connect(*fd[i], (void *)&sin[!i], len));
}

#define SHARERS 3

/*
 * A child waits for @s, which it shares with others, and for @own, which is
 * another event of its own.  It writes a byte to @said when it begins to wait,
 * and 'o' or 's' when it has something; then it is busy and waits no more.
 */
static pid_t
sharer(int s, int own, int said)
{
	pid_t pid = T_OK(fork());
	struct epoll_event ev = {.events = EPOLLIN | EPOLLEXCLUSIVE,
		.data = {.u32 = 's'}};
	int ep;

	if (pid != 0)
		return pid;
	ep = epoll_create1(0);
	if (epoll_ctl(ep, EPOLL_CTL_ADD, s, &ev) != 0)
		_exit(1);
	ev = (struct epoll_event){.events = EPOLLIN, .data = {.u32 = 'o'}};
	if (epoll_ctl(ep, EPOLL_CTL_ADD, own, &ev) != 0)
		_exit(2);
	if (write(said, "w", 1) != 1 || epoll_wait(ep, &ev, 1, 20000) != 1)
		_exit(3);
	if (write(said, &(char){(char)ev.data.u32}, 1) != 1)
		_exit(4);
	for (;;)
		pause();
}

static void
byte_from(int fd, char want)
{
	struct pollfd pfd = {fd, POLLIN, 0};
	char c = '?';

	T_EQ(poll(&pfd, 1, 5000), 1);
	T_EQ(read(fd, &c, 1), 1);
	T_EQ(c, want);
}

/*
 * One sharer after another finds an event of its own, and waits no more.  What
 * comes then at the shared descriptor wakes the last one.
 */
static void
exclusive_case(bool streams)
{
	int s, p, other, peer, own[SHARERS][2], said[SHARERS][2];
	struct pollfd none = {-1, 0, 0};
	pid_t pid[SHARERS];

	if (streams) {
		wired_udp(&s, &p);
		wired_udp(&other, &peer);
		T_OK(cmd(s, WIRE_NEAR, 1));
	} else {
		plain_udp(&s, &p);
	}
	for (int i = 0; i < SHARERS; i++) {
		T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, own[i]));
		T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, said[i]));
		pid[i] = sharer(s, own[i][0], said[i][1]);
		byte_from(said[i][0], 'w');
		/* it shall be asleep, which cannot be seen from here */
		poll(&none, 1, 100);
	}
	if (streams) {
		T_OK(cmd(s, WIRE_NEAR, 0));
		/* so that streamsd looks at all sockets */
		T_OK(cmd(other, WIRE_NEAR, 1));
		poll(&none, 1, 100);
	}
	for (int i = 0; i < SHARERS - 1; i++) {
		T_EQ(write(own[i][1], "x", 1), 1);
		byte_from(said[i][0], 'o');
	}
	text(p, "x");
	byte_from(said[SHARERS - 1][0], 's');
	for (int i = 0; i < SHARERS; i++) {
		T_OK(kill(pid[i], SIGKILL));
		T_EQ(waitpid(pid[i], NULL, 0), pid[i]);
	}
}

/* epoll_ctl(2), EPOLLEXCLUSIVE: one or more of those that wait get the event */
T_CASE(exclusive_waiters_of_a_kernel_socket_miss_nothing)
{
	exclusive_case(false);
}

T_CASE(exclusive_waiters_miss_nothing_when_streamsd_watches_no_more)
{
	exclusive_case(true);
}

T_CASE(end_of_the_connection_is_a_hangup_and_does_not_spin)
{
	int s, p;
	char c;
	struct pollfd pfd[2];
	struct rusage a, b;

	wired(&s, &p);
	text(p, "last");
	T_OK(close(p));
	expect(s, "last");
	T_EQ(read(s, &c, 1), 0);
	pfd[0] = (struct pollfd){s, POLLIN, 0};
	T_EQ(poll(pfd, 1, 1000), 1);
	T_TRUE(pfd[0].revents & POLLHUP);
	/* another one, whose socket stands at its end, is waited for */
	wired(&pfd[1].fd, &p);
	pfd[1].events = POLLIN;
	T_OK(getrusage(RUSAGE_SELF, &a));
	T_EQ(poll(&pfd[1], 1, 200), 0);
	T_OK(getrusage(RUSAGE_SELF, &b));
	T_LT(b.ru_nvcsw - a.ru_nvcsw, 12);
}

T_CASE(a_connection_that_is_taken)
{
	int s = T_OK(open(WIRE, O_RDWR)), port, p;
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr = {htonl(INADDR_LOOPBACK)}};

	T_OK(cmd(s, WIRE_LISTEN, 0));
	answer(s, &port, sizeof port);
	sin.sin_port = htons((uint16_t)port);
	p = T_OK(socket(AF_INET, SOCK_STREAM, 0));
	T_OK(connect(p, (void *)&sin, sizeof sin));
	text(p, "in");
	expect(s, "in");
	text(s, "out");
	expect(p, "out");
}

T_CASE(a_bound_name_is_free_when_it_was_closed)
{
	int s = T_OK(open(WIRE, O_RDWR)), port, again;

	T_OK(cmd(s, WIRE_LISTEN, t_port(AF_INET, SOCK_STREAM)));
	answer(s, &port, sizeof port);
	for (int i = 0; i < 20; i++) {
		T_OK(cmd(s, WIRE_LISTEN, port));
		answer(s, &again, sizeof again);
		T_EQ(again, port);
	}
}

T_CASE(a_refused_connection_is_told)
{
	int port, l = listener(&port), s = T_OK(open(WIRE, O_RDWR));
	char c;

	T_OK(close(l));
	T_OK(cmd(s, WIRE_CONNECT, port));
	/* hung up, or already when it was told to connect */
	T_LE(read(s, &c, 1), 0);
}

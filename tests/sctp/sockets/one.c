/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the one-to-one style: RFC 6458 s4.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "sk.h"

T_CASE(a_socket_has_the_type_and_protocol_that_were_asked_for)
{
	int fd = (int)T_OK(socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK |
		SOCK_CLOEXEC, IPPROTO_SCTP));

	T_EQ(get_int(fd, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	T_EQ(get_int(fd, SOL_SOCKET, SO_PROTOCOL), IPPROTO_SCTP);
	T_EQ(get_int(fd, SOL_SOCKET, SO_DOMAIN), AF_INET6);
	T_EQ(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 0);
	T_TRUE((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	T_TRUE((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

T_CASE(other_sockets_are_the_kernels)
{
	int fd[2];
	char c;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	T_EQ((int)T_OK(send(fd[0], "a", 1, 0)), 1);
	T_EQ((int)T_OK(recv(fd[1], &c, 1, 0)), 1);
	T_EQ(get_int(fd[0], SOL_SOCKET, SO_DOMAIN), AF_UNIX);
	T_ERR(sctp_sendmsg(fd[0], "a", 1, NULL, 0, 0, 0, 0, 0, 0), ENOPROTOOPT);
	T_OK(pipe(fd));
	T_ERR(sctp_sendmsg(fd[0], "a", 1, NULL, 0, 0, 0, 0, 0, 0), ENOTSOCK);
	T_ERR(sctp_bindx(-1, NULL, 0, SCTP_BINDX_ADD_ADDR), EBADF);
}

T_CASE(a_family_or_type_without_sctp_is_refused)
{
	T_ERR(socket(AF_UNIX, SOCK_STREAM, IPPROTO_SCTP), EPROTONOSUPPORT);
}

T_CASE(names_are_those_of_both_ends)
{
	struct sockaddr_in a, b, from;
	socklen_t la = sizeof(a), lb = sizeof(b), lf = sizeof(from);
	int l = listener(5), c = new_socket(), s;

	T_OK(call(c, port_of(l)));
	s = (int)T_OK(accept(l, (struct sockaddr *)&from, &lf));
	T_OK(getsockname(c, (struct sockaddr *)&a, &la));
	T_OK(getpeername(s, (struct sockaddr *)&b, &lb));
	T_EQ(a.sin_port, b.sin_port);
	T_EQ(a.sin_port, from.sin_port);
	T_EQ(from.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	T_OK(getpeername(c, (struct sockaddr *)&a, &la));
	T_EQ(ntohs(a.sin_port), port_of(l));
	T_ERR(getpeername(l, (struct sockaddr *)&a, &la), ENOTCONN);
	T_ERR(getpeername(s, NULL, &la), EFAULT);
	/* as much as there is room for, and the whole length */
	la = 4;
	memset(&a, 0x55, sizeof(a));
	T_OK(getsockname(c, (struct sockaddr *)&a, &la));
	T_EQ((int)la, (int)sizeof(a));
	T_EQ(a.sin_addr.s_addr, 0x55555555u);
}

T_CASE(messages_of_all_sizes_arrive)
{
	static const size_t size[] = {1, 2, 1000, 1452, 1500, 32500, 65535,
		65536, 100000, 262144};
	char *out = malloc(262145), *in = malloc(262145);
	size_t i, k;
	int fd[2];

	pair(fd);
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		for (k = 0; k < size[i]; k++)
			out[k] = (char)(k * 7 + i);
		T_EQ((size_t)T_OK(send(fd[0], out, size[i], 0)), size[i]);
		for (k = 0; k < size[i];)
			k += (size_t)T_OK(recv(fd[1], in + k, 262145 - k, 0));
		T_EQ(k, size[i]);
		T_EQ(memcmp(in, out, k), 0);
	}
	T_ERR(send(fd[0], out, 262145, 0), EMSGSIZE);
	T_ERR(send(fd[0], out, 0, 0), EINVAL);
	T_OK(send(fd[0], out, 1, 0));
	T_EQ((int)T_OK(recv(fd[1], in, 10, 0)), 1);
}

T_CASE(after_shutdown_the_peer_reads_all_and_then_the_end)
{
	char buf[10];
	int fd[2];

	pair(fd);
	T_OK(send(fd[0], "last", 4, 0));
	T_OK(shutdown(fd[0], SHUT_WR));
	T_OK(shutdown(fd[0], SHUT_WR));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 4);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
	T_ERR(send(fd[0], "a", 1, MSG_NOSIGNAL), EPIPE);
	T_ERR(send(fd[1], "a", 1, MSG_NOSIGNAL), EPIPE);
	T_EQ((int)T_OK(recv(fd[0], buf, sizeof(buf), 0)), 0);
	T_ERR(shutdown(fd[0], 7), EINVAL);
}

T_CASE(nothing_is_sent_after_the_peers_shutdown_even_behind_unread_data)
{
	char buf[10];
	int fd[2];

	pair(fd);
	T_OK(send(fd[0], "data", 4, 0));
	T_OK(shutdown(fd[0], SHUT_WR));
	T_ERR(send(fd[1], "a", 1, MSG_NOSIGNAL), EPIPE);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 4);
}

static void
count(int sig)
{
	(void)sig;
	_exit(7);
}

T_CASE(epipe_comes_with_sigpipe)
{
	int fd[2], st;
	pid_t pid;

	pair(fd);
	T_OK(shutdown(fd[0], SHUT_WR));
	pid = fork();
	if (pid == 0) {
		(void)signal(SIGPIPE, count);
		(void)!write(fd[0], "a", 1);
		_exit(1);
	}
	T_OK(waitpid(pid, &st, 0));
	T_EQ(WEXITSTATUS(st), 7);
}

T_CASE(an_abort_is_told_once)
{
	struct linger l = {.l_onoff = 1, .l_linger = 0};
	char buf[10];
	int fd[2];

	pair(fd);
	T_OK(setsockopt(fd[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)));
	T_OK(send(fd[0], "abc", 3, 0));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 3);
	T_OK(close(fd[0]));
	T_ERR(recv(fd[1], buf, sizeof(buf), 0), ECONNRESET);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
	T_ERR(send(fd[1], "a", 1, MSG_NOSIGNAL), EPIPE);
}

T_CASE(flags_end_the_association)
{
	char buf[10];
	int fd[2];

	pair(fd);
	T_OK(sctp_sendmsg(fd[0], NULL, 0, NULL, 0, 0, SCTP_EOF, 0, 0, 0));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
	pair(fd);
	T_OK(sctp_sendmsg(fd[0], "why", 3, NULL, 0, 0, SCTP_ABORT, 0, 0, 0));
	T_ERR(recv(fd[1], buf, sizeof(buf), 0), ECONNRESET);
}

T_CASE(a_call_that_nobody_answers_is_refused)
{
	int l = listener(1), c = new_socket();
	unsigned port = port_of(l);

	T_OK(close(l));
	T_ERR(call(c, port), ECONNREFUSED);
	T_EQ(get_int(c, SOL_SOCKET, SO_ERROR), 0);
	T_ERR(send(c, "a", 1, MSG_NOSIGNAL), ENOTCONN);
	/* the socket can call again */
	l = listener(1);
	T_OK(call(c, port_of(l)));
	T_ERR(call(c, port_of(l)), EISCONN);
}

T_CASE(calls_in_a_wrong_state_are_refused)
{
	struct sockaddr_in sa = loop(0);
	int fd = new_socket(), two[2];
	char c;

	T_ERR(recv(fd, &c, 1, 0), ENOTCONN);
	T_ERR(send(fd, "a", 1, MSG_NOSIGNAL), ENOTCONN);
	T_ERR(accept(fd, NULL, NULL), EINVAL);
	T_ERR(shutdown(fd, SHUT_WR), ENOTCONN);
	T_ERR(bind(fd, NULL, 0), EINVAL);
	T_ERR(bind(fd, (struct sockaddr *)&sa, 3), EINVAL);
	T_ERR(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), EINVAL);
	sa.sin_family = AF_UNIX;
	T_ERR(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), EINVAL);
	T_ERR(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), EINVAL);
	sa = loop(0);
	T_OK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)));
	T_ERR(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), EINVAL);
	T_OK(listen(fd, 3));
	T_EQ(get_int(fd, SOL_SOCKET, SO_ACCEPTCONN), 1);
	T_ERR(recv(fd, &c, 1, 0), ENOTCONN);
	T_ERR(send(fd, "a", 1, MSG_NOSIGNAL), EPIPE);
	pair(two);
	T_ERR(listen(two[0], 1), EINVAL);
	T_ERR(send(two[0], "a", 1, MSG_OOB), EOPNOTSUPP);
	T_ERR(recv(two[0], &c, 1, MSG_OOB), EOPNOTSUPP);
}

T_CASE(an_address_in_use_is_refused)
{
	int l = listener(1), fd = new_socket();
	struct sockaddr_in sa = loop(port_of(l));

	T_ERR(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), EADDRINUSE);
	T_OK(close(l));
	T_OK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)));
	sa = loop(0);
	sa.sin_addr.s_addr = htonl(0x08080808);
	fd = new_socket();
	T_ERR(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), EADDRNOTAVAIL);
}

T_CASE(bad_memory_is_an_error)
{
	char *bad = (char *)(uintptr_t)16;
	int fd[2];
	char c;

	pair(fd);
	T_ERR(send(fd[0], bad, 5, 0), EFAULT);
	T_ERR(sctp_sendmsg(fd[0], bad, 5, NULL, 0, 0, 0, 3, 0, 0), EFAULT);
	T_OK(send(fd[0], "a", 1, 0));
	T_ERR(recv(fd[1], bad, 5, 0), EFAULT);
	T_EQ((int)T_OK(recv(fd[1], &c, 1, 0)), 1);
	T_ERR(connect(fd[0], (struct sockaddr *)(void *)bad, 16), EFAULT);
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_NODELAY, bad, 4), EFAULT);
}

T_CASE(ipv6_and_mapped_addresses)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6}, peer;
	socklen_t len = sizeof(sa);
	int l = (int)T_OK(socket(AF_INET6, SOCK_STREAM, IPPROTO_SCTP));
	int c = new_socket(), s;
	struct sockaddr_in s4;

	T_OK(bind(l, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(l, 2));
	T_OK(getsockname(l, (struct sockaddr *)&sa, &len));
	T_EQ(sa.sin6_family, AF_INET6);
	/* a caller of IPv4 */
	s4 = loop(ntohs(sa.sin6_port));
	T_OK(connect(c, (struct sockaddr *)&s4, sizeof(s4)));
	len = sizeof(peer);
	s = (int)T_OK(accept(l, (struct sockaddr *)&peer, &len));
	T_EQ((int)len, (int)sizeof(peer));
	T_TRUE(IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr));
	T_OK(close(s));
	T_OK(close(c));
	/* ... and one of IPv6 */
	c = (int)T_OK(socket(AF_INET6, SOCK_STREAM, IPPROTO_SCTP));
	sa.sin6_addr = in6addr_loopback;
	T_OK(connect(c, (struct sockaddr *)&sa, sizeof(sa)));
	s = (int)T_OK(accept(l, (struct sockaddr *)&peer, &len));
	T_TRUE(IN6_IS_ADDR_LOOPBACK(&peer.sin6_addr));
	T_OK(send(c, "x", 1, 0));
	/* an address of the other family */
	T_ERR(connect(new_socket(), (struct sockaddr *)&sa, sizeof(sa)),
		EAFNOSUPPORT);
}

T_CASE(a_listener_may_have_several_addresses)
{
	struct sockaddr_in a[3] = {loop(0), loop(0), loop(0)};
	struct sockaddr *list;
	int l = new_socket(), c = new_socket(), s, n;

	a[1].sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	a[2].sin_addr.s_addr = htonl(INADDR_LOOPBACK + 2);
	T_OK(sctp_bindx(l, (struct sockaddr *)a, 2, SCTP_BINDX_ADD_ADDR));
	T_OK(sctp_bindx(l, (struct sockaddr *)&a[2], 1, SCTP_BINDX_ADD_ADDR));
	T_EQ((int)T_OK(sctp_getladdrs(l, 0, &list)), 3);
	T_OK(sctp_freeladdrs(list));
	T_OK(sctp_bindx(l, (struct sockaddr *)&a[0], 1, SCTP_BINDX_REM_ADDR));
	T_ERR(sctp_bindx(l, (struct sockaddr *)&a[0], 1, SCTP_BINDX_REM_ADDR),
		EINVAL);
	T_ERR(sctp_bindx(l, (struct sockaddr *)&a[0], 0, SCTP_BINDX_ADD_ADDR),
		EINVAL);
	T_ERR(sctp_bindx(l, (struct sockaddr *)&a[0], 1, 9), EINVAL);
	T_EQ((int)T_OK(sctp_getladdrs(l, 0, &list)), 2);
	T_OK(sctp_freeladdrs(list));
	T_OK(listen(l, 3));
	a[1].sin_port = a[2].sin_port = htons((uint16_t)port_of(l));
	T_OK(sctp_connectx(c, (struct sockaddr *)&a[1], 2, NULL));
	s = (int)T_OK(accept(l, NULL, NULL));
	n = (int)T_OK(sctp_getpaddrs(c, 0, &list));
	T_EQ(n, 2);
	T_EQ(((struct sockaddr_in *)(void *)list)->sin_port, a[1].sin_port);
	T_OK(sctp_freepaddrs(list));
	T_OK(send(c, "x", 1, 0));
	T_EQ((int)T_OK(recv(s, &n, sizeof(n), 0)), 1);
	T_ERR(sctp_getpaddrs(new_socket(), 0, &list), ENOTCONN);
	T_EQ(sctp_getaddrlen(AF_INET), (int)sizeof(a[0]));
	T_ERR(sctp_getaddrlen(AF_UNIX), EINVAL);
}

T_CASE(a_child_and_a_duplicate_have_the_same_socket)
{
	char buf[10];
	int fd[2], d, st;
	pid_t pid;

	pair(fd);
	d = (int)T_OK(dup(fd[1]));
	pid = fork();
	if (pid == 0) {
		T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 3);
		T_OK(sctp_sendmsg(d, "back", 4, NULL, 0, 0, 0, 3, 0, 0));
		_exit(0);
	}
	T_OK(send(fd[0], "abc", 3, 0));
	T_EQ((int)T_OK(recv(fd[0], buf, sizeof(buf), 0)), 4);
	T_OK(waitpid(pid, &st, 0));
	T_EQ(st, 0);
	T_OK(close(fd[1]));
	T_OK(send(fd[0], "d", 1, 0));
	T_EQ((int)T_OK(recv(d, buf, sizeof(buf), 0)), 1);
}

#define MANY 20000
static void *
pump(void *arg)
{
	unsigned i;

	for (i = 0; i < MANY; i++)
		T_OK(sctp_sendmsg(*(int *)arg, &i, sizeof(i), NULL, 0, i, 0,
			(uint16_t)(i % 10), 0, 0));
	T_OK(shutdown(*(int *)arg, SHUT_WR));
	return NULL;
}

T_CASE(many_messages_on_ten_streams_keep_their_order)
{
	unsigned next[10] = {0}, v, n = 0;
	struct sctp_sndrcvinfo si;
	int fd[2], fl, r;
	pthread_t th;

	pair(fd);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	T_EQ(pthread_create(&th, NULL, pump, &fd[0]), 0);
	for (;;) {
		fl = 0;
		r = (int)T_OK(sctp_recvmsg(fd[1], &v, sizeof(v), NULL, NULL, &si,
			&fl));
		if (r == 0)
			break;
		T_EQ(r, (int)sizeof(v));
		T_EQ(v % 10, (unsigned)si.sinfo_stream);
		T_EQ(v / 10, next[si.sinfo_stream]++);
		T_EQ(si.sinfo_ppid, v);
		n++;
	}
	T_EQ(n, (unsigned)MANY);
	(void)pthread_join(th, NULL);
}

T_CASE(a_caller_that_has_sent_and_gone_is_accepted)
{
	int l = listener(5), s = new_socket(), a;
	char c = 0;

	T_OK(call(s, port_of(l)));
	T_EQ((int)T_OK(send(s, "z", 1, 0)), 1);
	T_OK(close(s));
	a = (int)T_OK(accept(l, NULL, NULL));
	T_EQ((int)T_OK(recv(a, &c, 1, 0)), 1);
	T_EQ(c, 'z');
	T_EQ((int)T_OK(recv(a, &c, 1, 0)), 0);
	T_ERR(send(a, "a", 1, MSG_NOSIGNAL), EPIPE);
}

T_CASE(more_streams_than_there_can_be_are_wished_for)
{
	struct sctp_initmsg im = {.sinit_num_ostreams = 65535,
		.sinit_max_instreams = 65535};
	int l = listener(1), s = new_socket();

	T_OK(setsockopt(l, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	T_OK(setsockopt(s, IPPROTO_SCTP, SCTP_INITMSG, &im, sizeof(im)));
	T_OK(call(s, port_of(l)));
	T_EQ((int)T_OK(sctp_sendmsg(s, "a", 1, NULL, 0, 0, 0, 9999, 0, 0)), 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Memory that a program does not have: each call fails with EFAULT, as in the
 * kernel, and the next one works.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/uio.h>

#include "sk.h"

/* A page that can be neither read nor written. */
static void *
bad(void)
{
	static void *p;

	if (p == NULL)
		p = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	T_TRUE(p != MAP_FAILED);
	return p;
}

/* A message passes from one to the other. */
static void
works(int fd[2])
{
	char c;

	T_EQ((int)T_OK(send(fd[0], "a", 1, 0)), 1);
	T_EQ((int)T_OK(recv(fd[1], &c, 1, 0)), 1);
	T_EQ(c, 'a');
}

T_CASE(data_in_bad_memory_is_not_sent)
{
	struct iovec iov[2] = {{"a", 1}, {bad(), 1}};
	int fd[2];

	pair(fd);
	T_ERR(write(fd[0], bad(), 1), EFAULT);
	T_ERR(send(fd[0], bad(), 70000, 0), EFAULT);
	T_ERR(writev(fd[0], iov, 2), EFAULT);
	T_ERR(sctp_sendmsg(fd[0], bad(), 9, NULL, 0, 1, 0, 1, 0, 0), EFAULT);
	works(fd);
}

T_CASE(bad_vectors_are_not_read)
{
	int fd[2];

	pair(fd);
	T_ERR(writev(fd[0], bad(), 2), EFAULT);
	T_OK(send(fd[0], "a", 1, 0));
	T_ERR(readv(fd[1], bad(), 2), EFAULT);
	T_ERR(writev(fd[0], bad(), 2000), EINVAL);
	T_ERR(readv(fd[1], bad(), 2000), EINVAL);
	works((int[2]){fd[0], fd[1]});
}

T_CASE(bad_message_headers_are_not_read)
{
	struct msghdr mh = {.msg_iov = bad(), .msg_iovlen = 1};
	struct iovec iov = {"a", 1};
	int fd[2];

	pair(fd);
	T_ERR(sendmsg(fd[0], bad(), 0), EFAULT);
	T_ERR(sendmsg(fd[0], &mh, 0), EFAULT);
	T_ERR(sendmmsg(fd[0], bad(), 1, 0), EFAULT);
	mh.msg_iov = &iov;
	mh.msg_control = bad();
	mh.msg_controllen = 64;
	T_ERR(sendmsg(fd[0], &mh, 0), EFAULT);
	mh.msg_iovlen = 2000;
	T_ERR(sendmsg(fd[0], &mh, 0), EMSGSIZE);
	T_ERR(recvmsg(fd[1], bad(), 0), EFAULT);
	T_ERR(recvmmsg(fd[1], bad(), 1, 0, NULL), EFAULT);
	works(fd);
}

T_CASE(addresses_in_bad_memory_are_refused)
{
	int fd[2], l = listener(5), s = new_socket();
	struct sockaddr_storage ss;

	pair(fd);
	T_ERR(bind(s, bad(), sizeof(struct sockaddr_in)), EFAULT);
	T_ERR(connect(s, bad(), sizeof(struct sockaddr_in)), EFAULT);
	T_ERR(getsockname(l, bad(), &(socklen_t){16}), EFAULT);
	T_ERR(getsockname(l, (struct sockaddr *)&ss, bad()), EFAULT);
	T_ERR(sctp_bindx(s, bad(), 1, SCTP_BINDX_ADD_ADDR), EFAULT);
	T_ERR(sctp_connectx(s, bad(), 1, NULL), EFAULT);
	works(fd);
}

T_CASE(the_senders_address_cannot_be_stored_in_bad_memory)
{
	struct sockaddr_storage ss;
	int fd[2], flags = 0;
	char c;

	pair(fd);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(recvfrom(fd[1], &c, 1, 0, bad(), &(socklen_t){16}), EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(recvfrom(fd[1], &c, 1, 0, (struct sockaddr *)&ss, bad()),
		EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(sctp_recvmsg(fd[1], &c, 1, bad(), &(socklen_t){16}, NULL,
		&flags), EFAULT);
	works(fd);
}

T_CASE(ancillary_data_cannot_be_stored_in_bad_memory)
{
	char c;
	struct iovec iov = {&c, 1};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = bad(), .msg_controllen = 256};
	int fd[2];

	pair(fd);
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(recvmsg(fd[1], &mh, 0), EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	mh.msg_control = NULL;
	mh.msg_controllen = 0;
	mh.msg_name = bad();
	mh.msg_namelen = 16;
	T_ERR(recvmsg(fd[1], &mh, 0), EFAULT);
	works(fd);
}

T_CASE(options_in_bad_memory_are_refused)
{
	socklen_t len = 256;
	int fd[2], name, e;
	char buf[256];

	pair(fd);
	for (name = 0; name < 140; name++) {
		e = setsockopt(fd[0], IPPROTO_SCTP, name, bad(), 256);
		T_EQ(e, -1);
		T_TRUE(errno == EFAULT || errno == ENOPROTOOPT ||
			errno == EOPNOTSUPP || errno == EINVAL);
		e = getsockopt(fd[0], IPPROTO_SCTP, name, bad(), &len);
		T_EQ(e, -1);
		e = getsockopt(fd[0], IPPROTO_SCTP, name, buf, bad());
		T_EQ(e, -1);
		e = getsockopt(fd[0], SOL_SOCKET, name, bad(), &len);
		T_EQ(e, -1);
		e = setsockopt(fd[0], SOL_SOCKET, name, bad(), 256);
		T_EQ(e, -1);
	}
	T_ERR(sctp_opt_info(fd[0], 0, SCTP_STATUS, bad(), &len), EFAULT);
	T_ERR(sctp_opt_info(fd[0], 0, SCTP_STATUS, buf, bad()), EFAULT);
	works(fd);
}

T_CASE(short_options_are_refused)
{
	unsigned char buf[256];
	int fd[2], name, n;
	socklen_t len;

	pair(fd);
	for (name = 0; name < 140; name++)
		for (n = -1; n < 200; n += n < 40 ? 1 : 7) {
			memset(buf, 0, sizeof(buf));
			len = (socklen_t)n;
			(void)getsockopt(fd[0], IPPROTO_SCTP, name, buf, &len);
			if (n >= 0)
				T_TRUE(len <= (socklen_t)n);
			for (len = n < 0 ? 0 : (socklen_t)n; len < 256; len++)
				T_EQ(buf[len], 0);
			if (n <= 0)
				T_EQ(setsockopt(fd[0], IPPROTO_SCTP, name, buf,
					(socklen_t)n), -1);
		}
	works(fd);
}

/* ---------------------------------------------------------------------- waits */

/* The process has no Stream: it is not even a member of a domain. */
T_CASE(waits_with_bad_memory_fail_in_a_process_without_streams)
{
	struct timeval tv = {0, 0};
	struct pollfd p[2] = {{.fd = -1}, {.fd = -1}};

	T_ERR(poll(bad(), 1, 0), EFAULT);
	T_ERR(poll(bad(), 100, 0), EFAULT);
	T_ERR(ppoll(bad(), 1, &(struct timespec){0, 0}, NULL), EFAULT);
	T_ERR(select(1, bad(), NULL, NULL, &tv), EFAULT);
	T_ERR(select(1, NULL, bad(), NULL, &tv), EFAULT);
	T_ERR(select(1, NULL, NULL, bad(), &tv), EFAULT);
	T_EQ((int)T_OK(poll(p, 2, 0)), 0);
}

/* An array that begins at @p and ends in bad memory. */
static struct pollfd *
at_the_edge(unsigned n)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T_TRUE(p != MAP_FAILED);
	T_OK(mprotect(p + 4096, 4096, PROT_NONE));
	return (struct pollfd *)(void *)(p + 4096 - n * sizeof(struct pollfd));
}

T_CASE(waits_with_bad_memory_fail_beside_sockets)
{
	struct timeval tv = {0, 0};
	struct pollfd *p;
	int fd[2], i;
	fd_set in;

	pair(fd);
	p = at_the_edge(70);
	for (i = 0; i < 70; i++)
		p[i] = (struct pollfd){.fd = fd[0], .events = POLLOUT};
	T_EQ((int)T_OK(poll(p, 70, 0)), 70);
	T_ERR(poll(p, 71, 0), EFAULT);
	T_ERR(poll(bad(), 1, 0), EFAULT);
	T_ERR(ppoll(bad(), 1, &(struct timespec){0, 0}, NULL), EFAULT);
	FD_ZERO(&in);
	FD_SET(fd[0], &in);
	T_ERR(select(fd[0] + 1, bad(), NULL, NULL, &tv), EFAULT);
	T_ERR(select(fd[0] + 1, &in, bad(), NULL, &tv), EFAULT);
	T_ERR(select(fd[0] + 1, &in, NULL, NULL, bad()), EFAULT);
	works(fd);
}

/* A socket whose call is not answered: the only caller that waits is another. */
static int
unanswered(void)
{
	int l = listener(1), s;

	T_OK(call(new_socket(), port_of(l)));
	s = (int)T_OK(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK,
		IPPROTO_SCTP));
	T_ERR(call(s, port_of(l)), EINPROGRESS);
	return s;
}

T_CASE(waits_with_bad_memory_fail_while_a_call_is_unanswered)
{
	int s = unanswered(), ep = (int)T_OK(epoll_create1(0));
	struct epoll_event ev = {.events = EPOLLOUT};
	struct pollfd *p = at_the_edge(1);
	struct timeval tv = {0, 0};
	fd_set out;

	*p = (struct pollfd){.fd = s, .events = POLLOUT};
	T_EQ((int)T_OK(poll(p, 1, 0)), 0);
	T_ERR(poll(p, 2, 0), EFAULT);
	T_ERR(ppoll(p, 1, bad(), NULL), EFAULT);
	T_ERR(ppoll(p, 1, &(struct timespec){0, 1000000000}, NULL), EINVAL);
	T_OK(mprotect((void *)((uintptr_t)p & ~(uintptr_t)4095), 4096,
		PROT_READ));
	T_ERR(poll(p, 1, 0), EFAULT);
	FD_ZERO(&out);
	FD_SET(s, &out);
	T_ERR(select(s + 1, NULL, &out, bad(), &tv), EFAULT);
	T_ERR(select(s + 1, NULL, &out, NULL, bad()), EFAULT);
	T_ERR(pselect(s + 1, NULL, &out, NULL, bad(), NULL), EFAULT);
	T_EQ((int)T_OK(select(s + 1, NULL, &out, NULL, &tv)), 0);
	T_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, s, bad()), EFAULT);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, s, &ev));
	T_EQ((int)T_OK(epoll_wait(ep, &ev, 1, 0)), 0);
}

/* ---------------------------------------------------------- calls of RFC 6458 */

T_CASE(information_in_bad_memory_is_not_sent)
{
	struct iovec iov = {"a", 1};
	int fd[2];

	pair(fd);
	T_ERR(sctp_send(fd[0], "a", 1, bad(), 0), EFAULT);
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, bad(),
		sizeof(struct sctp_sndinfo), SCTP_SENDV_SNDINFO, 0), EFAULT);
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, bad(),
		sizeof(struct sctp_prinfo), SCTP_SENDV_PRINFO, 0), EFAULT);
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, bad(),
		sizeof(struct sctp_sendv_spa), SCTP_SENDV_SPA, 0), EFAULT);
	T_ERR(sctp_sendv(fd[0], bad(), 1, NULL, 0, NULL, 0,
		SCTP_SENDV_NOINFO, 0), EFAULT);
	T_ERR(sctp_sendv(fd[0], &iov, 1, bad(), 1, NULL, 0,
		SCTP_SENDV_NOINFO, 0), EFAULT);
	works(fd);
}

T_CASE(information_cannot_be_stored_in_bad_memory)
{
	struct sctp_rcvinfo ri;
	unsigned type;
	int fd[2], flags = 0;
	char c;
	struct iovec iov = {&c, 1};
	socklen_t len = sizeof(ri);

	pair(fd);
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	T_ERR(sctp_recvmsg(fd[1], &c, 1, NULL, NULL, NULL, bad()), EFAULT);
	T_ERR(sctp_recvv(fd[1], &iov, 1, NULL, NULL, NULL, NULL, NULL, bad()),
		EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(sctp_recvmsg(fd[1], &c, 1, NULL, NULL, bad(), &flags), EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(sctp_recvv(fd[1], &iov, 1, NULL, NULL, bad(), &len, &type,
		&flags), EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(sctp_recvv(fd[1], &iov, 1, NULL, NULL, &ri, bad(), &type,
		&flags), EFAULT);
	T_OK(send(fd[0], "b", 1, 0));
	T_ERR(sctp_recvv(fd[1], &iov, 1, NULL, NULL, &ri, &len, bad(),
		&flags), EFAULT);
	works(fd);
}

T_CASE(lists_and_numbers_cannot_be_stored_in_bad_memory)
{
	int fd[2], l = listener(5), s = new_socket();
	struct sockaddr_in sa = loop(port_of(l));

	pair(fd);
	T_ERR(sctp_getpaddrs(fd[0], 0, bad()), EFAULT);
	T_ERR(sctp_getladdrs(fd[0], 0, bad()), EFAULT);
	T_EQ(sctp_getassocid(fd[0], bad()), 0);
	T_ERR(sctp_connectx(s, (struct sockaddr *)&sa, 1, bad()), EFAULT);
	works(fd);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What only this library has to get right about numbers and registrations:
 * its caches agree with the kernel whatever changed what stands under a
 * number, and tags of ours never reach the program.
 */
#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stropts.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

T_CASE(a_number_the_kernel_gave_away_behind_our_back_is_found_out)
{
	int fd[2], sock[2];
	char c;

	T_OK(pipe(fd));
	T_EQ(isastream(fd[0]), 1);
	/* as a library does that makes its system calls itself */
	T_OK((int)syscall(SYS_close, fd[1]));
	T_OK((int)syscall(SYS_close, fd[0]));
	T_OK((int)syscall(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, sock));
	T_EQ(sock[0], fd[0]);
	T_EQ(fcntl(sock[0], F_GETFL) & O_ACCMODE, O_RDWR);
	T_EQ(isastream(sock[0]), 0);
	T_EQ(fcntl(sock[1], F_GETFL) & O_ACCMODE, O_RDWR);
	T_EQ(write(sock[1], "k", 1), 1);
	T_EQ(read(sock[0], &c, 1), 1);
	T_EQ(c, 'k');
}

static void *
come_and_go(void *arg)
{
	int from = *(int *)arg;

	for (int i = 0; i < 200; i++) {
		int fd = fcntl(0, F_DUPFD, from + i);

		(void)isastream(fd);
		close(fd);
	}
	return NULL;
}

/* What two threads enter at once leaves the greater number known. */
T_CASE(numbers_of_two_threads_are_entered_without_a_race)
{
	struct epoll_event ev = {.events = EPOLLIN}, out;
	int from[2] = {300, 100}, fd[2], ep;
	pthread_t th[2];

	for (int i = 0; i < 2; i++)
		T_EQ(pthread_create(&th[i], NULL, come_and_go, &from[i]), 0);
	for (int i = 0; i < 2; i++)
		T_EQ(pthread_join(th[i], NULL), 0);
	/* who looks for a descriptor looks up to that number */
	T_OK(pipe(fd));
	T_OK(ep = epoll_create1(0));
	T_EQ(fcntl(ep, F_DUPFD, 700), 700);
	T_OK(epoll_ctl(700, EPOLL_CTL_ADD, fd[0], &ev));
	T_OK(close(ep));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(700, &out, 1, 5000), 1);
}

T_CASE(numbers_beyond_the_table_work_too)
{
	struct rlimit rl;
	int fd[2], big;
	char c;

	T_OK(getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = rl.rlim_max;
	T_OK(setrlimit(RLIMIT_NOFILE, &rl));
	if (rl.rlim_max < 70001)
		T_SKIP("no more than %lu descriptors",
			(unsigned long)rl.rlim_max);
	T_OK(pipe(fd));
	big = fcntl(fd[0], F_DUPFD, 70000);
	T_EQ(big, 70000);
	T_EQ(isastream(big), 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(big, &c, 1), 1);
	T_OK(close(fd[1]));
	T_EQ(read(big, &c, 1), 0);
	T_OK(close(big));
	T_ERR(isastream(big), EBADF);
}

T_CASE(plain_sockets_stay_sockets)
{
	struct stat st;
	int sock[2];
	char c;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	T_EQ(isastream(sock[0]), 0);
	T_EQ(send(sock[0], "s", 1, 0), 1);
	T_EQ(recv(sock[1], &c, 1, 0), 1);
	T_OK(fstat(sock[0], &st));
	T_TRUE(S_ISSOCK(st.st_mode));
	T_ERR(getmsg(sock[0], NULL, NULL, (int[1]){0}), ENOSTR);
}

T_CASE(a_stream_is_no_socket)
{
	int fd[2], v;
	socklen_t len = sizeof v;
	char c;

	T_OK(pipe(fd));
	T_ERR(send(fd[1], "s", 1, 0), ENOTSOCK);
	T_ERR(recv(fd[0], &c, 1, MSG_DONTWAIT), ENOTSOCK);
	T_ERR(getsockopt(fd[0], SOL_SOCKET, SO_TYPE, &v, &len), ENOTSOCK);
	T_ERR(shutdown(fd[0], SHUT_RDWR), ENOTSOCK);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(fd[0], &c, 1), 1);
}

T_CASE(a_received_descriptor_is_known_for_what_it_is)
{
	int fd[2], sock[2], got = -1;
	char byte = 'b', c;
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u = {.buf = {0}};
	struct iovec iov = {&byte, 1};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = u.buf,
		.msg_controllen = sizeof u.buf,
	};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&msg);

	T_OK(pipe(fd));
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd[0], sizeof(int));
	T_EQ(sendmsg(sock[0], &msg, 0), 1);
	T_OK(close(fd[0]));
	T_EQ(recvmsg(sock[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	T_EQ(isastream(got), 1);
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(read(got, &c, 1), 1);
}

/* Is the process @pid asleep? */
static int
is_asleep(pid_t pid)
{
	char path[32], buf[512];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return t_file(path, buf, sizeof buf) != 0 && strstr(buf, ") S ") != NULL;
}

/*
 * The kernel counts an urgent byte as unread for ever.  Two processes have the
 * writing end, so only the carrier says that it is gone.
 */
T_CASE(urgent_bytes_from_outside_do_not_hide_a_hang_up)
{
	static const char *const sent[] = {"!", "!!", "a!", "!a", "a!b"};
	char buf[8];

	for (int i = 0; i < 5; i++) {
		int fd[2], status, n = 0;
		pid_t pid;

		T_OK(pipe(fd));
		pid = T_OK(fork());
		if (pid == 0) {
			T_OK(close(fd[1]));
			while (read(fd[0], buf, sizeof buf) > 0)
				;
			_exit(0);
		}
		T_OK(close(fd[0]));
		/* until it sleeps for good */
		T_SOON((n = is_asleep(pid) ? n + 1 : 0) > 200, 5000);
		for (const char *p = sent[i]; *p != '\0'; p++)
			T_EQ(syscall(SYS_sendto, fd[1], p, 1,
				*p == '!' ? MSG_OOB : 0, NULL, 0), 1);
		T_OK(close(fd[1]));
		T_SOON(waitpid(pid, &status, WNOHANG) == pid, 5000);
		T_EQ(status, 0);
	}
}

static void *
wait_one(void *arg)
{
	struct epoll_event ev = {0};
	int *ep = arg;

	if (epoll_wait(*ep, &ev, 1, 5000) != 1)
		return NULL;
	return (void *)(uintptr_t)ev.data.u64;
}

/* asleep in the kernel, before the instance had a Stream in it */
T_CASE(tags_do_not_reach_a_thread_that_slept_in_the_kernel)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 4711};
	int ep = epoll_create1(0), fd[2];
	pthread_t th;
	void *ret;

	T_OK(ep);
	T_OK(pipe(fd));
	T_EQ(pthread_create(&th, NULL, wait_one, &ep), 0);
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(pthread_join(th, &ret), 0);
	T_EQ((uintptr_t)ret, 4711u);
}

T_CASE(a_duplicate_of_an_epoll_descriptor_has_its_registrations)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 1}, out;
	int ep = epoll_create1(0), fd[2], d;

	T_OK(pipe(fd));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	d = T_OK(dup(ep));
	T_OK(close(ep));
	T_EQ(write(fd[1], "x", 1), 1);
	T_EQ(epoll_wait(d, &out, 1, 0), 1);
	T_EQ(out.data.u64, 1u);
	ev.data.u64 = 2;
	T_OK(epoll_ctl(d, EPOLL_CTL_MOD, fd[0], &ev));
	T_EQ(epoll_wait(d, &out, 1, 0), 1);
	T_EQ(out.data.u64, 2u);
	T_OK(epoll_ctl(d, EPOLL_CTL_DEL, fd[0], NULL));
	T_EQ(epoll_wait(d, &out, 1, 0), 0);
	T_OK(close(d));
}

T_CASE(an_edge_in_one_direction_is_not_hidden_by_the_other)
{
	struct epoll_event ev =
				   {
					   .events = EPOLLIN | EPOLLOUT |
						     (uint32_t)EPOLLET,
				   },
			   out;
	int ep = epoll_create1(0), fd[2];
	char c;

	T_OK(pipe(fd));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	T_EQ(epoll_wait(ep, &out, 1, 0), 1);
	T_EQ(out.events, (uint32_t)EPOLLOUT);
	for (int i = 0; i < 50; i++) {
		T_EQ(epoll_wait(ep, &out, 1, 0), 0);
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(epoll_wait(ep, &out, 1, 5000), 1);
		T_NE(out.events & EPOLLIN, 0u);
		T_EQ(read(fd[0], &c, 1), 1);
	}
}

/* tokens must not pile up until the carrier takes no more */
T_CASE(a_thousand_unread_arrivals_are_a_thousand_edges)
{
	struct epoll_event ev = {.events = EPOLLIN | (uint32_t)EPOLLET}, out;
	int ep = epoll_create1(0), fd[2];

	T_OK(pipe(fd));
	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
	for (int i = 0; i < 1000; i++) {
		T_EQ(write(fd[1], "x", 1), 1);
		T_EQ(epoll_wait(ep, &out, 1, 5000), 1);
		T_EQ(epoll_wait(ep, &out, 1, 0), 0);
	}
}

/* ------------------------------------------------------- spare carriers */

#define ECHO_DEVICE "/dev/streams/clone/echo"

/* What the kernel calls the carrier under @fd. */
static uint64_t
carrier(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;

	T_OK((int)syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_COOKIE, &cookie,
		&len));
	return cookie;
}

static int
device(int flags)
{
	int fd = T_OK(open(ECHO_DEVICE, O_RDWR | flags));

	T_EQ(isastream(fd), 1);
	return fd;
}

T_CASE(a_closed_stream_leaves_its_carrier_to_the_next)
{
	int fd = device(0);
	uint64_t was = carrier(fd);
	char buf[8];

	T_EQ(write(fd, "old", 3), 3);
	T_OK(close(fd));
	T_OK(fd = device(O_NONBLOCK));
	T_EQ(carrier(fd), was);
	T_ERR(read(fd, buf, sizeof buf), EAGAIN);
	T_EQ(write(fd, "new", 3), 3);
	T_EQ(read(fd, buf, sizeof buf), 3);
	T_EQ(memcmp(buf, "new", 3), 0);
	T_OK(close(fd));
	T_OK(fd = device(0));
	T_EQ(carrier(fd), was);
	T_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	T_EQ((int)syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK, 0);
}

T_CASE(a_carrier_with_an_owner_goes_with_its_stream)
{
	int fd = device(0);
	uint64_t was = carrier(fd);

	T_OK(fcntl(fd, F_SETOWN, getpid()));
	T_OK(close(fd));
	T_OK(fd = device(0));
	T_NE(carrier(fd), was);
	T_EQ(fcntl(fd, F_GETOWN), 0);
}

T_CASE(a_polled_carrier_goes_with_its_stream)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT}, out;
	int ep = T_OK(epoll_create1(0)), fd = device(0);
	uint64_t was = carrier(fd);

	T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
	T_EQ(epoll_wait(ep, &out, 1, 0), 1);
	T_OK(close(fd));
	T_OK(fd = device(0));
	T_NE(carrier(fd), was);
	T_EQ(epoll_wait(ep, &out, 1, 0), 0);
}

T_CASE(a_carrier_that_a_child_has_goes_with_its_stream)
{
	int fd = device(0), go[2], status;
	uint64_t was = carrier(fd);
	pid_t pid;
	char c;

	T_OK(pipe(go));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(close(go[1]));
		T_EQ(read(go[0], &c, 1), 1);
		T_EQ(write(fd, "still", 5), 5);
		_exit(read(fd, &c, 1) != 1 || c != 's');
	}
	T_OK(close(fd));
	T_OK(fd = device(0));
	T_NE(carrier(fd), was);
	T_EQ(write(go[1], "x", 1), 1);
	T_OK(waitpid(pid, &status, 0));
	T_EQ(status, 0);
}

/* One message, with the descriptor @fd, by a bare system call. */
static void
send_bare(long how, int via, int fd)
{
	struct iovec iov = {(char[]){0}, 1};
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} u = {.h = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS}};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &u, .msg_controllen = sizeof u}};

	memcpy(CMSG_DATA(&u.h), &fd, sizeof fd);
	T_EQ(how == SYS_sendmsg ? syscall(how, via, &m.msg_hdr, 0) :
		syscall(how, via, &m, 1, 0), 1);
}

T_CASE(a_carrier_that_was_sent_goes_with_its_stream)
{
	static const long how[] = {SYS_sendmsg, SYS_sendmmsg};
	int fd[2], sock[2], dev;
	uint64_t was;

	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, sock));
	for (int i = 0; i < 2; i++) {
		dev = device(0);
		was = carrier(dev);
		send_bare(how[i], sock[0], dev);
		T_OK(close(dev));
		dev = device(0);
		T_NE(carrier(dev), was);
		T_OK(close(dev));

		T_OK(pipe(fd));
		was = carrier(fd[0]);
		send_bare(how[i], sock[0], fd[0]);
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
		T_OK(pipe(fd));
		T_NE(carrier(fd[0]), was);
		T_NE(carrier(fd[1]), was);
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
	}
}

T_CASE(a_duplicate_keeps_the_carrier)
{
	int fd = device(0), copy, other;
	uint64_t was = carrier(fd);
	char c;

	T_OK(copy = dup(fd));
	T_OK(close(fd));
	T_OK(other = device(0));
	T_NE(carrier(other), was);
	T_EQ(write(copy, "d", 1), 1);
	T_EQ(read(copy, &c, 1), 1);
	T_OK(close(copy));
	T_OK(close(other));
}

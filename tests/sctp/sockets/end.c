/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Events of poll and epoll at the end of a connection, and errors that are told
 * once.  Each case runs over TCP of the kernel, which says what is right, and
 * over SCTP.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>

#include "sk.h"

#define ALL (POLLIN | POLLOUT | POLLRDHUP)
#define WAIT_MS 15000 /* an event that does not come is a failure */

static const int protos[] = {IPPROTO_TCP, IPPROTO_SCTP};

static int
new_of(int proto)
{
	return (int)T_OK(socket(AF_INET, SOCK_STREAM, proto));
}

static void
pair_of(int proto, int fd[2])
{
	struct sockaddr_in sa = loop(0);
	int l = new_of(proto);

	T_OK(bind(l, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(l, 5));
	fd[0] = new_of(proto);
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

static int
events(int fd, int want, int ms)
{
	struct pollfd p = {.fd = fd, .events = (short)want};

	return T_OK(poll(&p, 1, ms)) != 0 ? p.revents : 0;
}

/* The events when one of @until is there. */
static int
events_at(int fd, int until)
{
	(void)events(fd, until, WAIT_MS);
	return events(fd, ALL, 0);
}

/* Both sides of each protocol. */
#define EACH(proto) \
	for (unsigned i_ = 0; i_ < 2 && ((proto) = protos[i_]) != 0; i_++)

/* Close so that the peer is told of an abort. */
static void
abort_it(int fd)
{
	struct linger li = {.l_onoff = 1};

	T_OK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &li, sizeof(li)));
	T_OK(close(fd));
}

static void
close_both(int fd[2])
{
	T_OK(close(fd[0]));
	T_OK(close(fd[1]));
}

T_CASE(a_connection_can_be_written_to)
{
	int proto, fd[2];

	EACH(proto) {
		pair_of(proto, fd);
		T_EQ(events(fd[0], ALL, 0), POLLOUT);
		T_EQ(events(fd[1], ALL, 0), POLLOUT);
		T_EQ(events(fd[0], POLLRDHUP, 0), 0);
		close_both(fd);
	}
}

T_CASE(the_end_of_the_peer_is_a_half_hang_up)
{
	int proto, fd[2];
	char c[4];

	EACH(proto) {
		pair_of(proto, fd);
		T_EQ((int)T_OK(send(fd[1], "abc", 3, 0)), 3);
		T_OK(close(fd[1]));
		T_EQ(events_at(fd[0], POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
		T_EQ((int)T_OK(recv(fd[0], c, sizeof(c), 0)), 3);
		T_EQ((int)T_OK(recv(fd[0], c, sizeof(c), 0)), 0);
		T_EQ(events(fd[0], ALL, 0), POLLIN | POLLOUT | POLLRDHUP);
		T_EQ(get_int(fd[0], SOL_SOCKET, SO_ERROR), 0);
		T_OK(close(fd[0]));
	}
}

T_CASE(the_end_of_both_is_a_hang_up)
{
	int proto, fd[2];

	EACH(proto) {
		pair_of(proto, fd);
		T_OK(shutdown(fd[0], SHUT_WR));
		T_EQ(events(fd[0], POLLOUT, 0) & POLLOUT, POLLOUT);
		T_EQ(events_at(fd[1], POLLRDHUP), POLLIN | POLLOUT | POLLRDHUP);
		T_OK(shutdown(fd[1], SHUT_WR));
		T_EQ(events_at(fd[1], 0), ALL | POLLHUP);
		T_EQ(events_at(fd[0], 0), ALL | POLLHUP);
		close_both(fd);
	}
}

T_CASE(shutdown_of_receiving_ends_reads)
{
	int proto, fd[2];
	char c;

	EACH(proto) {
		pair_of(proto, fd);
		T_OK(shutdown(fd[0], SHUT_RD));
		T_EQ(events(fd[0], ALL, 0), POLLIN | POLLOUT | POLLRDHUP);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 0);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, MSG_PEEK)), 0);
		T_OK(shutdown(fd[0], SHUT_WR));
		T_EQ(events(fd[0], ALL, 0), ALL | POLLHUP);
		close_both(fd);
	}
}

T_CASE(an_abort_is_an_error_that_recv_tells_once)
{
	int proto, fd[2];
	char c[4];

	EACH(proto) {
		pair_of(proto, fd);
		abort_it(fd[1]);
		T_EQ(events_at(fd[0], 0), ALL | POLLERR | POLLHUP);
		T_ERR(recv(fd[0], c, 1, 0), ECONNRESET);
		T_EQ(events(fd[0], ALL, 0), ALL | POLLHUP);
		T_EQ((int)T_OK(recv(fd[0], c, 1, 0)), 0);
		T_EQ(get_int(fd[0], SOL_SOCKET, SO_ERROR), 0);
		T_ERR(send(fd[0], c, 1, MSG_NOSIGNAL), EPIPE);
		T_OK(close(fd[0]));
	}
}

T_CASE(an_abort_is_an_error_that_so_error_tells_once)
{
	int proto, fd[2];
	char c;

	EACH(proto) {
		pair_of(proto, fd);
		abort_it(fd[1]);
		T_EQ(events_at(fd[0], 0), ALL | POLLERR | POLLHUP);
		T_EQ(get_int(fd[0], SOL_SOCKET, SO_ERROR), ECONNRESET);
		T_EQ(get_int(fd[0], SOL_SOCKET, SO_ERROR), 0);
		T_EQ(events(fd[0], ALL, 0), ALL | POLLHUP);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 0);
		T_OK(close(fd[0]));
	}
}

T_CASE(an_abort_is_an_error_that_send_tells_once)
{
	int proto, fd[2];
	char c = 0;

	EACH(proto) {
		pair_of(proto, fd);
		abort_it(fd[1]);
		(void)events_at(fd[0], 0);
		T_ERR(send(fd[0], &c, 1, MSG_NOSIGNAL), ECONNRESET);
		T_ERR(send(fd[0], &c, 1, MSG_NOSIGNAL), EPIPE);
		T_EQ(events(fd[0], ALL, 0), ALL | POLLHUP);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 0);
		T_OK(close(fd[0]));
	}
}

T_CASE(a_refused_call_is_an_error_and_can_be_made_again)
{
	struct sockaddr_in sa = loop(0);
	int proto, l, fd, s;
	unsigned port;

	EACH(proto) {
		l = new_of(proto);
		T_OK(bind(l, (struct sockaddr *)&sa, sizeof(sa)));
		port = port_of(l);
		fd = new_of(proto);
		T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
		/* the kernel may know of the refusal at once */
		if (call(fd, port) < 0 && errno == EINPROGRESS)
			T_EQ(events_at(fd, POLLOUT), ALL | POLLERR | POLLHUP);
		T_EQ(get_int(fd, SOL_SOCKET, SO_ERROR), ECONNREFUSED);
		T_EQ(events(fd, ALL, 0), ALL | POLLHUP);
		T_OK(fcntl(fd, F_SETFL, O_RDWR));
		T_OK(listen(l, 1));
		/* the kernel's TCP says once more that the last call failed */
		if (call(fd, port) < 0) {
			T_EQ(errno, ECONNABORTED);
			T_OK(call(fd, port));
		}
		T_EQ(events(fd, ALL, 0), POLLOUT);
		s = (int)T_OK(accept(l, NULL, NULL));
		T_EQ(events(s, ALL, 0), POLLOUT);
		T_OK(close(fd));
		T_OK(close(s));
		T_OK(close(l));
	}
}

/* -------------------------------------------------------------------- waiting */

struct later {
	int fd, how;
};
enum { CLOSE, ABORT, READS };

static void *
do_later(void *arg)
{
	const struct later *l = arg;

	if (l->how == CLOSE)
		T_OK(close(l->fd));
	else if (l->how == ABORT)
		abort_it(l->fd);
	else
		T_OK(shutdown(l->fd, SHUT_RD));
	return NULL;
}

static pthread_t
begin_later(struct later *l, int fd, int how)
{
	pthread_t th;

	*l = (struct later){fd, how};
	T_EQ(pthread_create(&th, NULL, do_later, l), 0);
	return th;
}

static void
end_later(pthread_t th)
{
	T_EQ(pthread_join(th, NULL), 0);
}

T_CASE(a_wait_for_one_event_ends)
{
	static const struct {
		int want, how, got;
	} row[] = {
		{POLLRDHUP, CLOSE, POLLRDHUP},
		{0, ABORT, POLLERR | POLLHUP},
		{POLLRDHUP, ABORT, POLLRDHUP | POLLERR | POLLHUP},
	};
	struct later l;
	int proto, fd[2], ev;
	pthread_t th;
	unsigned i;

	EACH(proto)
		for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
			pair_of(proto, fd);
			th = begin_later(&l, fd[1], row[i].how);
			T_TRUE(events(fd[0], row[i].want, WAIT_MS) != 0);
			end_later(th);
			/* the first look may have seen a part of them */
			while ((ev = events(fd[0], row[i].want, 0)) !=
				row[i].got)
				T_TRUE((ev & ~row[i].got) == 0);
			T_OK(close(fd[0]));
		}
}

T_CASE(a_wait_for_room_ends_with_an_abort)
{
	static char buf[60000];
	struct later l;
	int proto, fd[2];
	pthread_t th;

	EACH(proto) {
		pair_of(proto, fd);
		while (send(fd[0], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
		th = begin_later(&l, fd[1], ABORT);
		T_TRUE((events(fd[0], POLLOUT, WAIT_MS) & (POLLOUT | POLLHUP)) != 0);
		end_later(th);
		T_OK(close(fd[0]));
	}
}

T_CASE(a_receive_ends_with_shutdown)
{
	struct later l;
	int proto, fd[2];
	pthread_t th;
	char c;

	EACH(proto) {
		pair_of(proto, fd);
		th = begin_later(&l, fd[0], READS);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, 0)), 0);
		end_later(th);
		close_both(fd);
		pair_of(proto, fd);
		th = begin_later(&l, fd[0], READS);
		T_EQ((int)T_OK(recv(fd[0], &c, 1, MSG_PEEK)), 0);
		end_later(th);
		close_both(fd);
	}
}

T_CASE(epoll_reports_the_end)
{
	static const struct {
		uint32_t want;
		int how;
		uint32_t got;
	} row[] = {
		{EPOLLRDHUP, CLOSE, EPOLLRDHUP},
		{EPOLLRDHUP | EPOLLET, CLOSE, EPOLLRDHUP},
		{EPOLLIN | EPOLLRDHUP, CLOSE, EPOLLIN | EPOLLRDHUP},
		{0, ABORT, EPOLLERR | EPOLLHUP},
		{EPOLLIN | EPOLLRDHUP | EPOLLET, ABORT,
			EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP},
	};
	struct epoll_event ev, got;
	int proto, fd[2], ep;
	uint32_t all;
	unsigned i;

	EACH(proto)
		for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
			pair_of(proto, fd);
			ep = (int)T_OK(epoll_create1(0));
			ev = (struct epoll_event){.events = row[i].want};
			T_OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd[0], &ev));
			T_EQ((int)T_OK(epoll_wait(ep, &got, 1, 0)), 0);
			if (row[i].how == CLOSE)
				T_OK(close(fd[1]));
			else
				abort_it(fd[1]);
			for (all = 0; all != row[i].got;) {
				T_EQ((int)T_OK(epoll_wait(ep, &got, 1,
					WAIT_MS)), 1);
				all |= got.events;
				T_EQ(all & ~row[i].got, 0u);
			}
			T_OK(close(ep));
			T_OK(close(fd[0]));
		}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Streams for the storm: how those of each kind are made, written and read.
 */
#include "storm.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/timod.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xti.h>

/* Names that XTI and the harness both have. */
#undef T_NULL
#undef T_UNUSED

#include "t.h"

static const struct {
	const char *name, *device;
} kind[STORM_NKIND] = {
	{"pipe", NULL}, {"fifo", NULL}, {"spx", "/dev/spx"},
	{"ticots", "/dev/ticots"}, {"ticotsord", "/dev/ticotsord"},
	{"ticlts", "/dev/ticlts"}, {"udp2", "/dev/udp2"},
};

const char *
storm_kind_name(enum storm_kind k)
{
	return kind[k].name;
}

bool
storm_datagrams(enum storm_kind k)
{
	return k == STORM_TICLTS || k == STORM_UDP2;
}

static bool
by_xti(const struct storm_stream *s)
{
	return s->kind >= STORM_TICOTS;
}

#define XTI_OK(e) xti_ok(__LINE__, #e, (e))
static int
xti_ok(int line, const char *what, int ret)
{
	if (ret < 0)
		t_fail(__FILE__, line, "%s failed: %s, %s", what,
			t_strerror(t_errno), t_errno_name(errno));
	return ret;
}

/* An endpoint that is bound; its address is left in @at. */
static int
bound(struct storm_stream *s, unsigned qlen, unsigned char *at, unsigned *len)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct t_bind req = {.qlen = qlen}, ret = {.qlen = 0};
	int fd = XTI_OK(t_open(kind[s->kind].device, O_RDWR, NULL)), r;

	ret.addr.maxlen = sizeof(s->to);
	ret.addr.buf = (char *)at;
	do {
		if (s->kind == STORM_UDP2) {
			sin.sin_port = htons((uint16_t)t_port(AF_INET,
				SOCK_DGRAM));
			req.addr.buf = (char *)&sin;
			req.addr.len = req.addr.maxlen = sizeof(sin);
		}
		r = t_bind(fd, &req, &ret);
	} while (r < 0 && t_errno == TADDRBUSY && s->kind == STORM_UDP2);
	XTI_OK(r);
	*len = ret.addr.len;
	return fd;
}

static void
connection(struct storm_stream *s)
{
	unsigned char at[sizeof(s->to)], from[sizeof(s->to)];
	struct t_call to = {.sequence = 0}, in = {.sequence = 0};
	unsigned len, any;
	int lfd = bound(s, 1, at, &len);

	s->fd[0] = bound(s, 0, from, &any);
	T_OK(fcntl(s->fd[0], F_SETFL, O_RDWR | O_NONBLOCK));
	to.addr.buf = (char *)at;
	to.addr.len = to.addr.maxlen = len;
	if (t_connect(s->fd[0], &to, NULL) != -1 || t_errno != TNODATA)
		T_FAIL("t_connect: %s", t_strerror(t_errno));
	in.addr.buf = (char *)from;
	in.addr.maxlen = sizeof(from);
	XTI_OK(t_listen(lfd, &in));
	s->fd[1] = XTI_OK(t_open(kind[s->kind].device, O_RDWR, NULL));
	XTI_OK(t_accept(lfd, s->fd[1], &in));
	T_OK(fcntl(s->fd[0], F_SETFL, O_RDWR));
	XTI_OK(t_rcvconnect(s->fd[0], NULL));
	XTI_OK(t_close(lfd));
}

static void
cross(struct storm_stream *s)
{
	struct strfdinsert ins = {.databuf.len = -1};
	long pointer = 0;

	s->fd[0] = T_OK(open(kind[s->kind].device, O_RDWR));
	s->fd[1] = T_OK(open(kind[s->kind].device, O_RDWR));
	ins.ctlbuf.buf = (char *)&pointer;
	ins.ctlbuf.maxlen = ins.ctlbuf.len = sizeof(pointer);
	ins.fildes = s->fd[1];
	T_OK(ioctl(s->fd[0], I_FDINSERT, &ins));
}

static void
named(struct storm_stream *s)
{
	const char *dir = getenv("STORM_DIR");

	snprintf(s->path, sizeof(s->path), "%s/%d.%u",
		dir != NULL ? dir : "/tmp", (int)getpid(), s->nr);
	T_OK(mkfifo(s->path, 0600));
	s->fd[1] = T_OK(open(s->path, O_RDONLY | O_NONBLOCK));
	T_EQ(isastream(s->fd[1]), 1);
	s->fd[0] = T_OK(open(s->path, O_WRONLY));
	T_OK(fcntl(s->fd[1], F_SETFL, O_RDONLY));
	T_OK(unlink(s->path));
}

void
storm_open(struct storm_stream *s, enum storm_kind k, unsigned nr)
{
	unsigned char from[sizeof(s->to)];
	unsigned any;

	s->kind = k;
	s->nr = nr;
	s->part = 0;
	switch (k) {
	case STORM_PIPE:
		T_OK(pipe(s->fd));
		break;
	case STORM_FIFO:
		named(s);
		break;
	case STORM_SPX:
		cross(s);
		break;
	case STORM_TICOTS:
	case STORM_TICOTSORD:
		connection(s);
		break;
	default:
		s->fd[1] = bound(s, 0, s->to, &s->tolen);
		s->fd[0] = bound(s, 0, from, &any);
		break;
	}
}

void
storm_close(struct storm_stream *s, int keep)
{
	for (int e = 0; e < 2; e++)
		if (e != keep && s->fd[e] >= 0) {
			T_OK(close(s->fd[e]));
			s->fd[e] = -1;
		}
}

static bool
gone(int err)
{
	return err == EPIPE || err == ENXIO || err == EIO;
}

static bool
put_xti(struct storm_stream *s, const char *buf, size_t n)
{
	struct t_unitdata u = {.udata = {(unsigned)n, (unsigned)n,
		(char *)(uintptr_t)buf}};
	int ret;

	u.addr.buf = (char *)s->to;
	u.addr.len = u.addr.maxlen = s->tolen;
	while (n > 0) {
		ret = storm_datagrams(s->kind) ?
			t_sndudata(s->fd[0], &u) == 0 ? (int)n : -1 :
			t_snd(s->fd[0], (char *)(uintptr_t)buf, (unsigned)n, 0);
		if (ret < 0 && t_errno == TSYSERR && errno == EINTR)
			continue;
		if (ret < 0 && t_errno == TLOOK &&
			t_look(s->fd[0]) == T_DISCONNECT)
			return false;
		/* the other end may go between the call and t_look() */
		if (ret < 0 && t_errno == TSYSERR && gone(errno))
			return false;
		XTI_OK(ret);
		buf += ret;
		n -= (size_t)ret;
	}
	return true;
}

bool
storm_put(struct storm_stream *s, const void *buf, size_t n)
{
	struct strbuf d = {0, (int)n, (char *)(uintptr_t)buf};
	struct iovec iov[2] = {{(void *)(uintptr_t)buf, n / 2},
		{(char *)(uintptr_t)buf + n / 2, n - n / 2}};
	ssize_t ret;

	if (by_xti(s))
		return put_xti(s, buf, n);
	do {
		if (storm_chance(3))
			ret = putmsg(s->fd[0], NULL, &d, 0) == 0 ?
				(ssize_t)n : -1;
		else if (storm_chance(3))
			ret = writev(s->fd[0], iov, 2);
		else
			ret = write(s->fd[0], buf, n);
	} while (ret == -1 && errno == EINTR);
	if (ret == -1 && gone(errno))
		return false;
	T_EQ(T_OK(ret), (ssize_t)n);
	return true;
}

static ssize_t
get_xti(struct storm_stream *s, void *buf, size_t room)
{
	struct t_unitdata u = {.udata = {(unsigned)room, 0, buf}};
	char from[64];
	int ret, flags = 0, look;

	u.addr.buf = from;
	u.addr.maxlen = sizeof(from);
	do {
		ret = storm_datagrams(s->kind) ?
			t_rcvudata(s->fd[1], &u, &flags) == 0 ?
			(int)u.udata.len : -1 :
			t_rcv(s->fd[1], buf, (unsigned)room, &flags);
	} while (ret < 0 && t_errno == TSYSERR && errno == EINTR);
	if (ret < 0 && t_errno == TLOOK) {
		look = t_look(s->fd[1]);
		if (look == T_DISCONNECT || look == T_ORDREL)
			return 0;
		T_FAIL("%s: event %#x", storm_kind_name(s->kind), look);
	}
	return XTI_OK(ret);
}

ssize_t
storm_get(struct storm_stream *s, void *buf, size_t room)
{
	struct pollfd p = {s->fd[1], POLLIN, 0};
	struct strbuf d = {(int)room, 0, buf};
	int flags = 0, n;
	ssize_t ret;

	/* a datagram that never comes must not keep its receiver for ever */
	if (storm_datagrams(s->kind) || storm_chance(2)) {
		do
			n = poll(&p, 1, 100);
		while (n == -1 && errno == EINTR);
		if (T_OK(n) == 0)
			return -1;
	}
	if (by_xti(s))
		return get_xti(s, buf, room);
	do {
		if (storm_chance(3)) {
			ret = getmsg(s->fd[1], NULL, &d, &flags);
			if (ret != -1)
				ret = d.len < 0 ? 0 : d.len;
		} else {
			ret = read(s->fd[1], buf, room);
		}
	} while (ret == -1 && errno == EINTR);
	return T_OK(ret);
}

uint64_t
storm_drops(struct storm_stream *s)
{
	unsigned n = 0;
	struct strioctl si = {.ic_cmd = TI_GETDROPS, .ic_dp = (char *)&n};
	int ret;

	do
		ret = ioctl(s->fd[0], I_STR, &si);
	while (ret == -1 && errno == EINTR);
	T_OK(ret);
	return n;
}

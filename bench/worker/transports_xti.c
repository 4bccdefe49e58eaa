/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */
/*
 * Transports through XTI: TCP and UDP of the kernel below the inet driver
 * (XTI over Sockets), and the loopback transports.  A message is one t_snd()
 * and one t_rcv() of its size, or one t_sndudata() and one t_rcvudata().
 *
 * Joining.  Both ends are in one process, so t_connect() must not wait for
 * t_accept(): the calling endpoint is nonblocking until the call is there.
 *
 * The end of a connection is an orderly release, which both sides answer; the
 * end of datagrams is transport_net.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xti.h>

#include "transports_xti.h"
#include "worker.h"

#define OPTIONS_MAX 256

struct number_options {
	struct {
		struct t_opthdr header;
		t_uscalar_t value;
	} option[2];
};

/* -1 with errno, and with what XTI says in the detail. */
static int
failed(const char *call)
{
	worker_detail(call, t_strerror(t_errno));
	if (t_errno != TSYSERR)
		errno = t_errno == TBADNAME  ? ENODEV
			: t_errno == TACCES ? EACCES
					    : EPROTO;
	return -1;
}

static int
give_up(struct end *end)
{
	int error = errno;

	end_close_fds(end);
	errno = error;
	return -1;
}

static int
set_options(int fd, t_uscalar_t level, const t_uscalar_t *names, int n,
	t_uscalar_t value)
{
	struct number_options options;
	char answer[OPTIONS_MAX];
	struct t_optmgmt ask = {
		.opt = {.len = (unsigned int)n * sizeof(options.option[0]),
			.buf = &options},
		.flags = T_NEGOTIATE,
	};
	struct t_optmgmt got = {
		.opt = {.maxlen = sizeof(answer), .buf = answer},
	};

	memset(&options, 0, sizeof(options));
	for (int i = 0; i < n; i++) {
		options.option[i].header.len = sizeof(options.option[i]);
		options.option[i].header.level = level;
		options.option[i].header.name = names[i];
		options.option[i].value = value;
	}
	if (t_optmgmt(fd, &ask, &got) != 0)
		return failed("t_optmgmt");
	/* Less than asked for is an answer; that there is no such thing not. */
	if ((got.flags & (T_SUCCESS | T_PARTSUCCESS)) != 0)
		return 0;
	worker_detail("t_optmgmt", "no such option");
	errno = EPROTO;
	return -1;
}

static int
set_buffers(int fd, size_t bytes)
{
	static const t_uscalar_t names[] = {XTI_SNDBUF, XTI_RCVBUF};

	return bytes == 0 ? 0
			  : set_options(fd, XTI_GENERIC, names, 2,
				    (t_uscalar_t)bytes);
}

static int
make(const struct net *net, struct end *end, int flags, size_t bufsize)
{
	int fd = t_open(net->device, O_RDWR | flags, NULL);

	*end = (struct end){.rfd = fd, .wfd = fd};
	if (fd == -1)
		return failed(net->device);
	return set_buffers(fd, bufsize) == 0 ? 0 : give_up(end);
}

/* at in and out; its length 0 asks for any address. */
static int
bind_end(struct end *end, struct address *at, unsigned int qlen)
{
	struct t_bind wanted = {
		.addr = {.len = at->len, .buf = at->bytes},
		.qlen = qlen,
	};
	struct address bound = {0};
	struct t_bind got = {
		.addr = {.maxlen = sizeof(bound.bytes), .buf = bound.bytes},
	};

	if (t_bind(end->rfd, &wanted, &got) != 0)
		return failed("t_bind");
	bound.len = got.addr.len;
	*at = bound;
	return 0;
}

int
xti_offer(const struct net *net, struct end *end, struct address *at,
	size_t bufsize)
{
	if (make(net, end, 0, bufsize) != 0)
		return -1;
	return bind_end(end, at, net->stream ? 1 : 0) == 0 ? 0 : give_up(end);
}

int
xti_reach(const struct net *net, struct end *end, const struct address *to,
	struct address *mine, size_t bufsize)
{
	struct t_call call = {.addr = {.len = to->len}};

	if (make(net, end, net->stream ? O_NONBLOCK : 0, bufsize) != 0)
		return -1;
	if (bind_end(end, mine, 0) != 0)
		return give_up(end);
	end->peer = *to;
	call.addr.buf = end->peer.bytes;
	if (!net->stream || t_connect(end->wfd, &call, NULL) == 0 ||
		t_errno == TNODATA)
		return 0;
	(void)failed("t_connect");
	return give_up(end);
}

static int
xti_accept(const struct net *net, struct end *listener, struct end *end,
	size_t bufsize)
{
	struct address caller = {0};
	struct t_call call = {
		.addr = {.maxlen = sizeof(caller.bytes), .buf = caller.bytes},
	};

	if (t_listen(listener->rfd, &call) != 0)
		return failed("t_listen");
	if (make(net, end, 0, bufsize) != 0)
		return -1;
	if (t_accept(listener->rfd, end->rfd, &call) != 0) {
		(void)failed("t_accept");
		return give_up(end);
	}
	return 0;
}

static int
xti_create(const struct net *net, struct end *end)
{
	return make(net, end, 0, 0);
}

int
xti_take(const struct net *net, struct end *end, const struct address *from,
	size_t bufsize)
{
	struct end taken;

	if (!net->stream) {
		if (from != NULL)
			end->peer = *from;
		return 0;
	}
	if (xti_accept(net, end, &taken, bufsize) != 0)
		return -1;
	end_close_fds(end);
	*end = taken;
	return 0;
}

int
xti_reached(const struct net *net, struct end *end)
{
	int flags;

	if (!net->stream)
		return 0;
	flags = fcntl(end->wfd, F_GETFL);
	if (flags == -1 || fcntl(end->wfd, F_SETFL, flags & ~O_NONBLOCK) != 0)
		return -1;
	if (t_getstate(end->wfd) == T_OUTCON &&
		t_rcvconnect(end->wfd, NULL) != 0)
		return failed("t_rcvconnect");
	return 0;
}

static ssize_t
xti_send(struct end *end, const void *buf, size_t n)
{
	int ret = t_snd(end->wfd, (void *)(uintptr_t)buf, (unsigned int)n, 0);

	if (__builtin_expect(ret == (int)n, 1))
		return ret;
	if (ret == -1)
		return failed("t_snd");
	errno = EIO;
	return -1;
}

/* What has stopped t_rcv(): 0 for the end, or -1 and errno. */
static int
event(struct end *end)
{
	/* Of an endpoint that does not block: often, so without a text. */
	if (t_errno == TNODATA) {
		errno = EAGAIN;
		return -1;
	}
	if (t_errno != TLOOK)
		return failed("t_rcv");
	switch (t_look(end->rfd)) {
	case T_ORDREL:
		if (t_rcvrel(end->rfd) != 0)
			return failed("t_rcvrel");
		end->over = 1;
		return 0;
	case T_DISCONNECT:
		(void)t_rcvdis(end->rfd, NULL);
		errno = ECONNRESET;
		return -1;
	default:
		return failed("t_rcv");
	}
}

static ssize_t
xti_recv(struct end *end, void *buf, size_t n)
{
	size_t got = 0;
	int flags;

	for (;;) {
		int ret = t_rcv(end->rfd, (char *)buf + got,
			(unsigned int)(n - got), &flags);

		end->read_calls++;
		if (__builtin_expect(ret == (int)(n - got), 1))
			return (ssize_t)n;
		if (ret <= 0) {
			ret = ret == 0 ? 0 : event(end);
			if (ret == 0 && got != 0) {
				errno = EIO;
				ret = -1;
			}
			return ret;
		}
		got += (size_t)ret;
	}
}

/* Both directions end in order, so that nothing on its way is lost. */
static void
xti_hang_up(struct end *end)
{
	char rest[4096];

	if (t_sndrel(end->wfd) == 0) {
		while (!end->over && xti_recv(end, rest, sizeof(rest)) > 0)
			;
	}
	end_close_fds(end);
}

ssize_t
xti_send_datagram(struct end *end, const void *buf, size_t n)
{
	struct t_unitdata data = {
		.addr = {.len = end->peer.len, .buf = end->peer.bytes},
		.udata = {.len = (unsigned int)n,
			.buf = (void *)(uintptr_t)buf},
	};

	if (__builtin_expect(t_sndudata(end->wfd, &data) == 0, 1))
		return (ssize_t)n;
	return failed("t_sndudata");
}

ssize_t
xti_recv_datagram(struct end *end, void *buf, size_t n)
{
	struct t_unitdata data = {
		.udata = {.maxlen = (unsigned int)n, .buf = buf},
	};
	int flags = 0;

	end->read_calls++;
	if (t_rcvudata(end->rfd, &data, &flags) != 0) {
		if (t_errno != TNODATA)
			return failed("t_rcvudata");
		errno = EAGAIN;
		return -1;
	}
	if ((flags & T_MORE) != 0) {
		errno = EMSGSIZE;
		return -1;
	}
	return end_datagram_in(end, (ssize_t)data.udata.len);
}

int
xti_mark(struct end *end)
{
	return xti_send_datagram(end, "", 0) == 0 ? 0 : -1;
}

static const struct transport udp_xtios;

static void
xti_hang_up_datagrams(struct end *end)
{
	end_say_over(&udp_xtios, end);
	end_close_fds(end);
}

#define XTI_NET \
	.offer = xti_offer, .reach = xti_reach, .take = xti_take, \
	.reached = xti_reached, .accept = xti_accept, \
	.create = xti_create, .mark = xti_mark

static const struct net tcp_net = {
	.device = "/dev/tcp",
	.stream = 1,
	XTI_NET,
};

static const struct net udp_net = {
	.device = "/dev/udp",
	XTI_NET,
};

/* native: within the domain it stays in memory */
static const struct net udp2_net = {
	.device = "/dev/udp2",
	XTI_NET,
};

static const struct net raw_net = {
	.device = "/dev/rawip2",
	.raw = 1,
	XTI_NET,
};

static const struct net sctp_net = {
	.device = "/dev/sctp",
	.stream = 1,
	XTI_NET,
};

static const struct net ticotsord_net = {
	.device = "/dev/ticotsord",
	.loopback = 1,
	.stream = 1,
	XTI_NET,
};

static const struct net ticlts_net = {
	.device = "/dev/ticlts",
	.loopback = 1,
	XTI_NET,
};

#define XTI_STREAM \
	.open = net_open, .keep = channel_keep_fds, .send = xti_send, \
	.recv = xti_recv, .hang_up = xti_hang_up

#define XTI_DATAGRAMS \
	.records = 1, .datagrams = 1, .open = net_open, \
	.keep = channel_keep_fds, .send = xti_send_datagram, \
	.recv = xti_recv_datagram, .hang_up = xti_hang_up_datagrams

static const struct transport tcp_xtios = {
	.name = "tcp-xtios",
	XTI_STREAM,
	.net = &tcp_net,
};

/* net_open(), and an option of both ends. */
static int
open_with(struct channel *channel, int two_way, t_uscalar_t level,
	t_uscalar_t name)
{
	if (net_open(channel, two_way) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (set_options(channel->ends[i].wfd, level, &name, 1,
			    T_YES) != 0)
			return -1;
	}
	return 0;
}

static int
nodelay_open(struct channel *channel, int two_way)
{
	return open_with(channel, two_way, T_INET_TCP, T_TCP_NODELAY);
}

static const struct transport tcp_xtios_nodelay = {
	.name = "tcp-xtios-nodelay",
	.open = nodelay_open,
	.keep = channel_keep_fds,
	.send = xti_send,
	.recv = xti_recv,
	.hang_up = xti_hang_up,
	.net = &tcp_net,
};

static const struct transport sctp_xti = {
	.name = "sctp-xti",
	XTI_STREAM,
	.net = &sctp_net,
};

static int
packets_open(struct channel *channel, int two_way)
{
	return open_with(channel, two_way, T_INET_SCTP, T_SCTP_LOCHECK);
}

static const struct transport sctp_xti_full = {
	.name = "sctp-xti-full",
	.open = packets_open,
	.keep = channel_keep_fds,
	.send = xti_send,
	.recv = xti_recv,
	.hang_up = xti_hang_up,
	.net = &sctp_net,
};

static const struct transport udp_xtios = {
	.name = "udp-xtios",
	XTI_DATAGRAMS,
	.net = &udp_net,
};

static const struct transport udp_xti = {
	.name = "udp-xti",
	XTI_DATAGRAMS,
	.net = &udp2_net,
};

static const struct transport raw_xti = {
	.name = "raw-xti",
	XTI_DATAGRAMS,
	.net = &raw_net,
};

static const struct transport ticotsord = {
	.name = "ticotsord",
	XTI_STREAM,
	.net = &ticotsord_net,
};

static const struct transport ticlts = {
	.name = "ticlts",
	XTI_DATAGRAMS,
	.net = &ticlts_net,
};

const struct transport *const transports[] = {
	&tcp_xtios,
	&tcp_xtios_nodelay,
	&sctp_xti,
	&sctp_xti_full,
	&udp_xtios,
	&udp_xti,
	&raw_xti,
	&ticotsord,
	&ticlts,
	&udp_xti_out,
	&udp_xti_in,
#define BOTH_WAYS(kind) &wire_##kind##_out, &wire_##kind##_in,
	WIRE_KINDS(BOTH_WAYS)
	NULL,
};

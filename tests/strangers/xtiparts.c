/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams of several pieces: t_sndvudata(), t_rcvvudata(), T_MORE, buffers
 * that are too small or not there, and what comes back from a free port.
 */
#include <xti.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *dev;

static void
failed(int line, int ret)
{
	fprintf(stderr, "%s, line %d: %d, %s\n", dev, line, ret,
	    t_strerror(t_errno));
	exit(1);
}

/* A call that must work, one that must fail, anything that must be so. */
#define IS(call, value) \
	do { int r_ = (call); if (r_ != (value)) failed(__LINE__, r_); } while (0)
#define FAILS(call, err) \
	do { int r_; t_errno = 0; r_ = (call); \
	    if (r_ != -1 || t_errno != (err)) failed(__LINE__, r_); } while (0)
#define SO(e) IS((e) ? 1 : 0, 1)

static void
await(int fd)
{
	struct pollfd pfd;

	pfd.fd = fd;
	pfd.events = POLLIN | POLLPRI | POLLRDBAND;
	IS(poll(&pfd, 1, 5000), 1);
}

/* An endpoint, and its address at @at, of which the length is returned. */
static int
endpoint(int *fd, char *at, int size)
{
	struct t_bind req, ret;
	struct sockaddr_in sin;

	memset(&req, 0, sizeof req);
	memset(&ret, 0, sizeof ret);
	memset(&sin, 0, sizeof sin);
	sin.sin_family = AF_INET;
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (strstr(dev, "udp") != NULL) {
		req.addr.buf = &sin;
		req.addr.len = sizeof sin;
	}
	req.qlen = 3;		/* means nothing here */
	ret.addr.buf = at;
	ret.addr.maxlen = size;
	SO((*fd = t_open(dev, O_RDWR | O_NONBLOCK, NULL)) >= 0);
	IS(t_bind(*fd, &req, &ret), 0);
	SO(ret.qlen == 0 && ret.addr.len > 0);
	return ret.addr.len;
}

static void
pieces(void)
{
	struct t_unitdata to, from;
	struct t_uderr err;
	struct t_iovec out[17], in[17];
	char here[256], there[256], who[256], b1[4], b2[4], buf[64];
	int a, b, c, flags, len, gone;

	len = endpoint(&a, here, sizeof here);
	len = endpoint(&b, there, sizeof there);
	memset(&to, 0, sizeof to);
	memset(&from, 0, sizeof from);
	memset(out, 0, sizeof out);
	memset(in, 0, sizeof in);
	to.addr.buf = there;
	to.addr.len = len;
	from.addr.buf = who;
	from.addr.maxlen = sizeof who;

	FAILS(t_rcvudata(b, &from, &flags), TNODATA);
	out[0].iov_base = "one";
	out[0].iov_len = 3;
	out[2].iov_base = "two-three";	/* out[1] is empty */
	out[2].iov_len = 9;
	FAILS(t_sndvudata(a, &to, out, 0), TBADDATA);
	FAILS(t_sndvudata(a, &to, out, 17), TBADDATA);
	IS(t_sndvudata(a, &to, out, 3), 0);
	await(b);
	IS(t_look(b), T_DATA);
	in[0].iov_base = b1;
	in[0].iov_len = 2;
	in[2].iov_base = b2;
	in[2].iov_len = 4;
	FAILS(t_rcvvudata(b, &from, in, 0, &flags), TBADDATA);
	FAILS(t_rcvvudata(b, &from, in, 17, &flags), TBADDATA);
	flags = 0;
	IS(t_rcvvudata(b, &from, in, 3, &flags), 6);
	SO(flags == T_MORE && memcmp(b1, "on", 2) == 0 &&
	    memcmp(b2, "etwo", 4) == 0);
	SO((int)from.addr.len == len && memcmp(who, here, len) == 0);
	from.udata.buf = buf;
	from.udata.maxlen = 3;
	IS(t_rcvudata(b, &from, &flags), 0);
	SO(flags == T_MORE && from.udata.len == 3 && from.addr.len == 0 &&
	    from.opt.len == 0 && memcmp(buf, "-th", 3) == 0);
	from.udata.maxlen = sizeof buf;
	IS(t_rcvudata(b, &from, &flags), 0);
	SO(flags == 0 && from.udata.len == 3 && memcmp(buf, "ree", 3) == 0);

	/* no room for the address: the datagram is lost; none wanted: not */
	to.udata.buf = "again";
	to.udata.len = 5;
	IS(t_sndudata(a, &to), 0);
	IS(t_sndudata(a, &to), 0);
	await(b);
	from.addr.maxlen = 1;
	FAILS(t_rcvudata(b, &from, &flags), TBUFOVFLW);
	await(b);
	from.addr.maxlen = 0;
	IS(t_rcvudata(b, &from, &flags), 0);
	SO(from.udata.len == 5 && from.addr.len == 0 && flags == 0);
	FAILS(t_rcvudata(b, &from, &flags), TNODATA);

	/* nothing is something */
	to.udata.len = 0;
	IS(t_sndudata(a, &to), 0);
	await(b);
	from.addr.maxlen = sizeof who;
	IS(t_rcvudata(b, &from, &flags), 0);
	SO(from.udata.len == 0 && (int)from.addr.len == len && flags == 0);

	/* addresses that are none */
	to.udata.len = 5;
	to.addr.len = 0;
	FAILS(t_sndudata(a, &to), TBADADDR);
	to.addr.len = sizeof there + 1;
	FAILS(t_sndudata(a, &to), TBADADDR);

	/* no receiver is there any more */
	gone = endpoint(&c, there, sizeof there);
	IS(t_close(c), 0);
	to.addr.len = gone;
	IS(t_sndudata(a, &to), 0);
	await(a);
	IS(t_look(a), T_UDERR);
	FAILS(t_rcvudata(a, &from, &flags), TLOOK);
	FAILS(t_sndudata(a, &to), TLOOK);
	memset(&err, 0, sizeof err);
	err.addr.buf = who;
	err.addr.maxlen = sizeof who;
	IS(t_rcvuderr(a, &err), 0);
	SO((int)err.addr.len == gone && memcmp(who, there, gone) == 0 &&
	    err.error != 0);
	FAILS(t_rcvuderr(a, NULL), TNOUDERR);

	/* and what is for connections */
	FAILS(t_listen(a, NULL), TNOTSUPPORT);
	FAILS(t_snd(a, buf, 1, 0), TNOTSUPPORT);
	FAILS(t_rcvdis(a, NULL), TNOTSUPPORT);
	IS(t_unbind(a), 0);
	FAILS(t_sndudata(a, &to), TOUTSTATE);
	IS(t_close(a), 0);
	IS(t_close(b), 0);
	FAILS(t_close(b), TBADF);
}

int
main(void)
{
	static char *all[] = { "/dev/ticlts", "/dev/udp", "/dev/udp2" };
	int i;

	for (i = 0; i < 3; i++) {
		dev = all[i];
		pieces();
	}
	return 0;
}

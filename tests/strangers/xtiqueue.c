/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Several calls wait at one endpoint: they are answered in any order, refused
 * and given up; with every error that t_accept() has on the way.
 */
#include <xti.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *dev;

static void
failed(int line, int ret)
{
	fprintf(stderr, "%s, line %d: %d, %s\n", dev, line, ret,
	    t_strerror(t_errno));
	exit(1);
}
#define IS(call, value) \
	do { int r_ = (call); if (r_ != (value)) failed(__LINE__, r_); } while (0)
#define FAILS(call, err) \
	do { int r_; t_errno = 0; r_ = (call); \
	    if (r_ != -1 || t_errno != (err)) failed(__LINE__, r_); } while (0)

static void
await(int fd, int event)
{
	struct pollfd pfd;

	pfd.fd = fd;
	pfd.events = POLLIN | POLLPRI;
	IS(poll(&pfd, 1, 5000), 1);
	IS(t_look(fd), event);
}

static void
calls(char *other)
{
	struct t_bind req, ret;
	struct t_call to, from[3], bye;
	struct t_discon dis;
	struct t_info info;
	char addr[3][256], here[256], buf[64];
	int lfd, fd, odd, cfd[3], i, flags;

	memset(&req, 0, sizeof req);
	memset(&ret, 0, sizeof ret);
	memset(&to, 0, sizeof to);
	memset(&bye, 0, sizeof bye);
	memset(&dis, 0, sizeof dis);
	memset(from, 0, sizeof from);
	IS((lfd = t_open(dev, O_RDWR | O_NONBLOCK, &info)) >= 0, 1);
	req.qlen = 3;
	ret.addr.buf = here;
	ret.addr.maxlen = sizeof here;
	IS(t_bind(lfd, &req, &ret), 0);
	IS(ret.qlen, 3);
	FAILS(t_listen(lfd, &from[0]), TNODATA);
	to.addr = ret.addr;
	for (i = 0; i < 3; i++) {
		IS((cfd[i] = t_open(dev, O_RDWR | O_NONBLOCK, NULL)) >= 0, 1);
		IS(t_bind(cfd[i], NULL, NULL), 0);
		FAILS(t_connect(cfd[i], &to, NULL), TNODATA);
		IS(t_getstate(cfd[i]), T_OUTCON);
		FAILS(t_rcvconnect(cfd[i], NULL), TNODATA);
		await(lfd, T_LISTEN);
		from[i].addr.buf = addr[i];
		from[i].addr.maxlen = sizeof addr[i];
		IS(t_listen(lfd, &from[i]), 0);
		IS(t_getstate(lfd), T_INCON);
	}
	FAILS(t_listen(lfd, &bye), TQFULL);
	FAILS(t_unbind(lfd), TOUTSTATE);

	/* who cannot take a call */
	FAILS(t_accept(lfd, lfd, &from[0]), TINDOUT);
	FAILS(t_accept(lfd, 2, &from[0]), TBADF);
	IS((odd = t_open(other, O_RDWR, NULL)) >= 0, 1);
	FAILS(t_accept(lfd, odd, &from[0]), TPROVMISMATCH);
	IS(t_close(odd), 0);
	IS((odd = t_open(dev, O_RDWR, NULL)) >= 0, 1);
	req.qlen = 1;
	IS(t_bind(odd, &req, NULL), 0);
	FAILS(t_accept(lfd, odd, &from[0]), TRESQLEN);
	IS(t_close(odd), 0);
	FAILS(t_accept(lfd, cfd[1], &from[0]), TOUTSTATE);
	IS((fd = t_open(dev, O_RDWR, NULL)) >= 0, 1);
	bye.sequence = from[0].sequence + from[1].sequence +
	    from[2].sequence + 1;
	FAILS(t_accept(lfd, fd, &bye), TBADSEQ);
	FAILS(t_snddis(lfd, &bye), TBADSEQ);
	FAILS(t_snddis(lfd, NULL), TBADSEQ);
	IS(t_getstate(fd), T_UNBND);

	/* the second is accepted, the third refused, the first gives up */
	IS(t_accept(lfd, fd, &from[1]), 0);
	IS(t_getstate(fd), T_DATAXFER);
	IS(t_getstate(lfd), T_INCON);
	await(cfd[1], T_CONNECT);
	IS(t_rcvconnect(cfd[1], NULL), 0);
	FAILS(t_accept(lfd, fd, &from[1]), TOUTSTATE);
	IS(t_snddis(lfd, &from[2]), 0);
	await(cfd[2], T_DISCONNECT);
	FAILS(t_rcvconnect(cfd[2], NULL), TLOOK);
	IS(t_rcvdis(cfd[2], &dis), 0);
	IS(t_getstate(cfd[2]), T_IDLE);
	FAILS(t_rcvdis(cfd[2], &dis), TOUTSTATE);
	IS(t_snddis(cfd[0], NULL), 0);
	await(lfd, T_DISCONNECT);
	IS((odd = t_open(dev, O_RDWR, NULL)) >= 0, 1);
	FAILS(t_accept(lfd, odd, &from[0]), TLOOK);
	IS(t_rcvdis(lfd, &dis), 0);
	IS(dis.sequence, from[0].sequence);
	IS(t_getstate(lfd), T_IDLE);
	FAILS(t_accept(lfd, odd, &from[0]), TOUTSTATE);
	IS(t_close(odd), 0);

	/* what is sent arrives, in units if there are units */
	IS(t_snd(cfd[1], "first ", 6, T_MORE), 6);
	IS(t_snd(cfd[1], "half", 4, 0), 4);
	for (i = 0; i < 10;) {
		flags = 0;
		IS((odd = t_rcv(fd, buf + i, 7, &flags)) > 0, 1);
		i += odd;
		if (info.tsdu != 0)
			IS((flags & T_MORE) != 0, i < 10);
	}
	IS(memcmp(buf, "first half", 10), 0);
	FAILS(t_rcv(cfd[1], buf, sizeof buf, &flags), TNODATA);
	FAILS(t_snd(cfd[1], buf, 1, 0x80), TBADFLAG);
	IS((info.flags & T_SENDZERO) != 0, 1);
	IS(t_snd(cfd[1], buf, 0, 0), 0);
	await(fd, T_DATA);
	IS(t_rcv(fd, buf, sizeof buf, &flags), 0);
	IS(flags, 0);
	IS(t_snd(fd, "!", 1, T_EXPEDITED), 1);
	await(cfd[1], T_EXDATA);
	IS(t_rcv(cfd[1], buf, sizeof buf, &flags), 1);
	IS(flags, T_EXPEDITED);

	/* data goes with a disconnection */
	bye.udata.buf = "bye";
	bye.udata.len = 3;
	if (info.servtype != T_COTS_ORD)
		FAILS(t_sndrel(fd), TNOTSUPPORT);
	IS(t_snddis(fd, &bye), 0);
	IS(t_getstate(fd), T_IDLE);
	await(cfd[1], T_DISCONNECT);
	FAILS(t_rcv(cfd[1], buf, sizeof buf, &flags), TLOOK);
	FAILS(t_snd(cfd[1], "x", 1, 0), TLOOK);
	dis.udata.buf = buf;
	dis.udata.maxlen = sizeof buf;
	IS(t_rcvdis(cfd[1], &dis), 0);
	IS(dis.udata.len, 3);
	IS(memcmp(buf, "bye", 3), 0);
	FAILS(t_snd(cfd[1], "x", 1, 0), TOUTSTATE);
	for (i = 0; i < 3; i++)
		IS(t_close(cfd[i]), 0);
	IS(t_close(fd), 0);
	IS(t_close(lfd), 0);
	IS((fd = t_open(dev, O_RDWR, NULL)) >= 0, 1);
	IS(t_bind(fd, NULL, NULL), 0);
	FAILS(t_listen(fd, &from[0]), TBADQLEN);
	FAILS(t_connect(fd, &to, NULL), TLOOK);
	IS(t_look(fd), T_DISCONNECT);
	IS(t_rcvdis(fd, &dis), 0);
	IS(dis.reason != 0, 1);
	IS(t_close(fd), 0);
}

int
main(void)
{
	alarm(20);
	dev = "/dev/ticotsord";
	calls("/dev/tcp");
	dev = "/dev/ticots";
	calls("/dev/ticotsord");
	return 0;
}

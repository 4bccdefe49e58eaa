/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * XTI as X/Open had it in issue 4, which a program asks for: addresses are
 * bytes that it looks at one by one, messages may be written to, options have
 * names without T_, and structures come uninitialized from the stack.
 */
#define _XOPEN_SOURCE_EXTENDED 1

#include <sys/socket.h>
#include <netinet/in.h>
#include <xti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
die(char *what)
{
	t_error(what);
	exit(1);
}

/* What a stack may hold. */
static void
litter(void *p, size_t n)
{
	memset(p, 0x5a, n);
}

static int
ask(unsigned char *addr, unsigned int len)
{
	struct t_discon dis;
	struct t_call call;
	char here[64], reply[8];
	unsigned int k;
	int fd, n, flags, tries = 0;

again:
	litter(&call, sizeof call);
	litter(&dis, sizeof dis);
	if ((fd = t_open("/dev/tcp", O_RDWR, NULL)) < 0 ||
	    t_bind(fd, NULL, NULL) < 0)
		die("client");
	call.addr.buf = here;
	for (k = 0; k < len; k++)
		call.addr.buf[k] = addr[k];
	call.addr.len = len;
	call.opt.len = call.udata.len = 0;
	if (tries++ == 0) {
		/* no listener is there, and why is told into litter */
		call.addr.buf[2] = 0;
		call.addr.buf[3] = 1;
		if (t_connect(fd, &call, NULL) != -1 || t_errno != TLOOK ||
		    t_look(fd) != T_DISCONNECT || t_rcvdis(fd, &dis) < 0) {
			fprintf(stderr, "nobody: %s\n", t_strerror(t_errno));
			return 1;
		}
		t_close(fd);
		goto again;
	}
	if (t_connect(fd, &call, NULL) < 0)
		die("t_connect");
	if (t_snd(fd, "ping", 4, 0) != 4)
		die("t_snd");
	for (n = 0; n < 4; n += k)
		if ((int)(k = t_rcv(fd, reply + n, 4 - n, &flags)) < 1)
			die("t_rcv");
	t_sndrel(fd);
	if (t_rcv(fd, reply, 1, &flags) != -1 || t_errno != TLOOK ||
	    t_rcvrel(fd) < 0)
		die("release");
	t_close(fd);
	return memcmp(reply, "ping", 4) != 0;
}

/* Options as XPG4 spells them, each in turn. */
static int
options(int fd)
{
	static struct {
		t_uscalar_t level, name;
	} all[] = {
		{ INET_TCP, TCP_NODELAY }, { INET_TCP, TCP_MAXSEG },
		{ INET_TCP, TCP_KEEPALIVE }, { INET_IP, IP_REUSEADDR },
		{ INET_IP, IP_DONTROUTE }, { INET_IP, IP_BROADCAST },
	};
	struct t_optmgmt req, ret;
	struct t_opthdr hdr, *got;
	char room[128];
	unsigned int i;
	int bad = 0;

	for (i = 0; i < sizeof all / sizeof all[0]; i++) {
		litter(&req, sizeof req);
		litter(&ret, sizeof ret);
		hdr.len = sizeof hdr;
		hdr.level = all[i].level;
		hdr.name = all[i].name;
		hdr.status = 0;
		req.flags = T_CURRENT;
		req.opt.len = sizeof hdr;
		req.opt.buf = (char *)&hdr;
		ret.opt.maxlen = sizeof room;
		ret.opt.buf = room;
		if (t_optmgmt(fd, &req, &ret) < 0)
			die("t_optmgmt");
		got = (struct t_opthdr *)ret.opt.buf;
		if (ret.flags == T_NOTSUPPORT || got->name != all[i].name ||
		    OPT_NEXTHDR(ret.opt.buf, ret.opt.len, got) != NULL) {
			fprintf(stderr, "option %u of level %u: 0x%x\n",
			    (unsigned)all[i].name, (unsigned)all[i].level,
			    (unsigned)ret.flags);
			bad = 1;
		}
	}
	return bad;
}

int
main(void)
{
	struct sockaddr_in *sin;
	struct t_bind *req, *ret;
	struct t_call *call;
	char *p, *msg, line[8];
	int fd, cfd, n, flags, status;

	if ((fd = t_open("/dev/tcp", O_RDWR, NULL)) < 0)
		die("t_open");
	if (options(fd))
		return 1;
	p = t_alloc(fd, T_BIND, T_ALL);	/* it was characters then */
	req = (struct t_bind *)p;
	ret = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL);
	if (req == NULL || ret == NULL || call == NULL)
		die("t_alloc");
	sin = (struct sockaddr_in *)req->addr.buf;
	sin->sin_family = AF_INET;
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	req->addr.len = sizeof *sin;
	req->qlen = 1;
	if (t_bind(fd, req, ret) < 0)
		die("t_bind");
	if (ret->addr.buf[2] == 0 && ret->addr.buf[3] == 0) {
		fprintf(stderr, "no port\n");
		return 1;
	}
	switch (fork()) {
	case 0:
		exit(ask((unsigned char *)ret->addr.buf, ret->addr.len));
	case -1:
		perror("fork");
		return 1;
	}
	if (t_listen(fd, call) < 0)
		die("t_listen");
	if ((cfd = t_open("/dev/tcp", O_RDWR, NULL)) < 0 ||
	    t_bind(cfd, NULL, NULL) < 0 || t_accept(fd, cfd, call) < 0)
		die("t_accept");
	while ((n = t_rcv(cfd, line, sizeof line, &flags)) > 0)
		if (t_snd(cfd, line, n, 0) != n)
			die("t_snd");
	msg = t_strerror(t_errno);
	if (n != -1 || t_errno != TLOOK || t_rcvrel(cfd) < 0 ||
	    t_sndrel(cfd) < 0) {
		fprintf(stderr, "release: %s\n", msg);
		return 1;
	}
	if (wait(&status) == -1 || status != 0)
		return 1;
	t_close(cfd);
	t_free((char *)call, T_CALL);
	t_free((char *)req, T_BIND);
	t_free((char *)ret, T_BIND);
	return t_close(fd) < 0;
}

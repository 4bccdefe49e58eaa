/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Network selection: a service by its name on whatever transports NETPATH
 * has, as RPC programs of System V look for one; and a dialogue over each.
 */
#include <netconfig.h>
#include <netdir.h>
#include <xti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
die(const char *what)
{
	t_error(what);
	exit(1);
}

/* Its own address, one that others can use. */
static int
server(struct netconfig *nc, struct nd_addrlist *al, struct t_bind **ret)
{
	struct t_bind *req;
	int fd;

	if ((fd = t_open(nc->nc_device, O_RDWR, NULL)) < 0)
		die(nc->nc_device);
	req = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	*ret = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	if (req == NULL || *ret == NULL)
		die("t_alloc");
	if (al->n_addrs->len > req->addr.maxlen) {
		fprintf(stderr, "%s: an address of %u\n", nc->nc_netid,
		    al->n_addrs->len);
		exit(1);
	}
	memcpy(req->addr.buf, al->n_addrs->buf, al->n_addrs->len);
	req->addr.len = al->n_addrs->len;
	req->qlen = nc->nc_semantics != NC_TPI_CLTS;
	if (t_bind(fd, req, *ret) < 0)
		die("t_bind");
	t_free(req, T_BIND);
	return fd;
}

static int
client(struct netconfig *nc, char *uaddr)
{
	struct netbuf *addr;
	struct t_call call;
	struct t_unitdata ud;
	char buf[16];
	int fd, n, flags;

	if ((addr = uaddr2taddr(nc, uaddr)) == NULL) {
		netdir_perror(uaddr);
		return 1;
	}
	if ((fd = t_open(nc->nc_device, O_RDWR, NULL)) < 0 ||
	    t_bind(fd, NULL, NULL) < 0)
		die("client");
	memset(&ud, 0, sizeof ud);
	memset(&call, 0, sizeof call);
	if (nc->nc_semantics == NC_TPI_CLTS) {
		ud.addr = *addr;
		ud.udata.buf = "ping";
		ud.udata.len = 4;
		if (t_sndudata(fd, &ud) < 0)
			die("t_sndudata");
		memset(&ud, 0, sizeof ud);
		ud.udata.buf = buf;
		ud.udata.maxlen = sizeof buf;
		if (t_rcvudata(fd, &ud, &flags) < 0)
			die("t_rcvudata");
		n = ud.udata.len;
	} else {
		call.addr = *addr;
		if (t_connect(fd, &call, NULL) < 0)
			die("t_connect");
		if (t_snd(fd, "ping", 4, 0) != 4)
			die("t_snd");
		if ((n = t_rcv(fd, buf, sizeof buf, &flags)) < 0)
			die("t_rcv");
	}
	netdir_free(addr, ND_ADDR);
	return n != 4 || memcmp(buf, "pong", 4) != 0;
}

static void
serve(struct netconfig *nc, int fd)
{
	struct t_unitdata *ud;
	struct t_call *call;
	char buf[16];
	int flags;

	if (nc->nc_semantics == NC_TPI_CLTS) {
		ud = (struct t_unitdata *)t_alloc(fd, T_UNITDATA, T_ALL);
		if (ud == NULL || t_rcvudata(fd, ud, &flags) < 0 ||
		    ud->udata.len != 4)
			die("t_rcvudata");
		memcpy(ud->udata.buf, "pong", 4);
		if (t_sndudata(fd, ud) < 0)
			die("t_sndudata");
		t_free(ud, T_UNITDATA);
		return;
	}
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL);
	if (call == NULL || t_listen(fd, call) < 0)
		die("t_listen");
	if (t_accept(fd, fd, call) < 0)
		die("t_accept");
	if (t_rcv(fd, buf, sizeof buf, &flags) != 4)
		die("t_rcv");
	if (t_snd(fd, "pong", 4, 0) != 4)
		die("t_snd");
	t_free(call, T_CALL);
}

int
main(void)
{
	struct nd_hostserv hs;
	struct nd_addrlist *al;
	struct nd_hostservlist *hl;
	struct netconfig *nc;
	struct t_bind *ret;
	char *uaddr;
	void *h;
	pid_t pid;
	int fd, st, n = 0;

	alarm(25);
	setenv("NETPATH", "ticlts:nosuchthing:udp:ticotsord:tcp:ticots", 1);
	if ((h = setnetpath()) == NULL) {
		nc_perror("setnetpath");
		return 1;
	}
	while ((nc = getnetpath(h)) != NULL) {
		n++;
		hs.h_host = strcmp(nc->nc_protofmly, NC_INET) == 0 ?
		    "127.0.0.1" : HOST_SELF;
		hs.h_serv = strcmp(nc->nc_protofmly, NC_INET) == 0 ?
		    "0" : "stranger";
		if (netdir_getbyname(nc, &hs, &al) != ND_OK || al->n_cnt < 1) {
			netdir_perror(nc->nc_netid);
			return 1;
		}
		fd = server(nc, al, &ret);
		netdir_free(al, ND_ADDRLIST);
		if ((uaddr = taddr2uaddr(nc, &ret->addr)) == NULL) {
			netdir_perror("taddr2uaddr");
			return 1;
		}
		if ((pid = fork()) == 0)
			_exit(client(nc, uaddr));
		serve(nc, fd);
		if (waitpid(pid, &st, 0) != pid || st != 0) {
			fprintf(stderr, "%s: client %#x\n", nc->nc_netid, st);
			return 1;
		}
		if (netdir_getbyaddr(nc, &hl, &ret->addr) == ND_OK)
			netdir_free(hl, ND_HOSTSERVLIST);
		free(uaddr);
		t_free(ret, T_BIND);
		if (t_close(fd) < 0)
			die("t_close");
	}
	if (endnetpath(h) != 0 || n != 5) {
		fprintf(stderr, "%d transports\n", n);
		return 1;
	}
	if (getnetconfigent("nosuchthing") != NULL || nc_sperror() == NULL)
		return 1;
	/* a name that no host has */
	nc = getnetconfigent("tcp");
	hs.h_host = "no.such.host.invalid.";
	hs.h_serv = "nosuchservice";
	if (nc == NULL || netdir_getbyname(nc, &hs, &al) == ND_OK ||
	    netdir_sperror() == NULL)
		return 1;
	freenetconfigent(nc);
	return 0;
}

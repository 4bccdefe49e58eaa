/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A program that does not trust the header and declares what it calls of TLI
 * by itself, with the arguments that System V's manual gives; and a display
 * server's way with a connection: bound by a structure of its own, timod taken
 * away when it stands, tirdwr for read and write, and all back to break it.
 */
struct t_bind;
struct t_call;
struct t_info;

extern int t_bind(int fildes, struct t_bind *req, struct t_bind *ret);
extern int t_connect(int fildes, struct t_call *snd, struct t_call *rcv);
extern int t_snddis(int fildes, struct t_call *call);

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/wait.h>
#include <tiuser.h>
#include <unistd.h>

extern int t_accept(int fildes, int resfd, struct t_call *call);
extern char *t_strerror(int errnum);

#define DEV "/dev/ticots"

static void
fail(char *what)
{
	extern int t_errno, t_nerr;
	extern char *t_errlist[];

	fprintf(stderr, "%s: %s\n", what,
	    t_errno > 0 && t_errno < t_nerr ? t_errlist[t_errno] :
	    t_strerror(t_errno));
	exit(1);
}

static struct sockaddr_un *
path(char *name, pid_t pid)
{
	struct sockaddr_un *un = calloc(1, sizeof *un);

	un->sun_family = AF_UNIX;
	sprintf(un->sun_path, "%s%ld", name, (long)pid);
	return un;
}

/* An address of 110 bytes in a structure without buffers. */
static int
open_at(struct sockaddr_un *un, int qlen)
{
	struct t_bind *req, *ret;
	int fd;

	if ((fd = t_open(DEV, O_RDWR, NULL)) < 0)
		fail(DEV);
	req = (struct t_bind *)t_alloc(fd, T_BIND, 0);
	ret = (struct t_bind *)t_alloc(fd, T_BIND, T_ALL);
	if (req == NULL || ret == NULL)
		fail("t_alloc");
	req->addr.buf = (char *)un;
	req->addr.len = req->addr.maxlen = sizeof *un;
	req->qlen = qlen;
	if (t_bind(fd, req, ret) < 0)
		fail("t_bind");
	if (ret->addr.len != sizeof *un ||
	    memcmp(ret->addr.buf, un, sizeof *un) != 0) {
		fprintf(stderr, "bound elsewhere\n");
		exit(1);
	}
	req->addr.buf = NULL;
	if (t_free((char *)req, T_BIND) < 0 || t_free((char *)ret, T_BIND) < 0)
		fail("t_free");
	return fd;
}

static void
names(int fd, struct sockaddr_un *here, struct sockaddr_un *there)
{
	struct sockaddr_un un;
	struct netbuf nb;
	int i;

	for (i = 0; i < 2; i++) {
		nb.buf = (char *)&un;
		nb.maxlen = nb.len = sizeof un;
		if (t_getname(fd, &nb, i == 0 ? LOCALNAME : REMOTENAME) < 0)
			fail("t_getname");
		if (nb.len != sizeof un ||
		    memcmp(&un, i == 0 ? here : there, nb.len) != 0) {
			fprintf(stderr, "name %d is another\n", i);
			exit(1);
		}
	}
}

static void
plain(int fd)
{
	if (ioctl(fd, I_POP, "timod") < 0 || ioctl(fd, I_PUSH, "tirdwr") < 0) {
		perror("tirdwr");
		exit(1);
	}
}

static int
client(struct sockaddr_un *server)
{
	struct sockaddr_un *un = path("client", getpid());
	struct t_call *call;
	struct pollfd pfd;
	struct iovec iov[2];
	char got[16];
	int fd, have = -1;

	fd = open_at(un, 0);
	call = (struct t_call *)t_alloc(fd, T_CALL, T_OPT);
	if (call == NULL)
		fail("t_alloc");
	call->addr.buf = (char *)server;
	call->addr.len = call->addr.maxlen = sizeof *server;
	if (t_connect(fd, call, NULL) < 0)
		fail("t_connect");
	call->addr.buf = NULL;
	t_free((char *)call, T_CALL);
	/* who answered, which is not where was called */
	names(fd, un, path("accepted", getppid()));
	plain(fd);
	iov[0].iov_base = "he";
	iov[0].iov_len = 2;
	iov[1].iov_base = "llo";
	iov[1].iov_len = 3;
	if (writev(fd, iov, 2) != 5) {
		perror("writev");
		return 1;
	}
	pfd.fd = fd;
	pfd.events = POLLIN;
	if (poll(&pfd, 1, 10000) != 1 || ioctl(fd, I_NREAD, &have) < 1 ||
	    have != 5 || read(fd, got, sizeof got) != 5 ||
	    memcmp(got, "HELLO", 5) != 0) {
		fprintf(stderr, "poll 0x%x, %d bytes\n", pfd.revents, have);
		return 1;
	}
	/* Broken off by the server: no data, and a hang-up. */
	if (poll(&pfd, 1, 10000) != 1 || (have = read(fd, got, 1)) > 0) {
		fprintf(stderr, "end: poll 0x%x, %d\n", pfd.revents, have);
		return 1;
	}
	t_unbind(fd);
	return t_close(fd) < 0;
}

int
main(void)
{
	struct sockaddr_un *un = path("server", getpid()), *peer;
	struct t_call *call;
	struct pollfd pfd;
	char buf[16];
	int fd, cfd, n, i, status;

	fd = open_at(un, 1);
	switch (fork()) {
	case 0:
		exit(client(un));
	case -1:
		perror("fork");
		return 1;
	}
	pfd.fd = fd;
	pfd.events = POLLIN;
	if (poll(&pfd, 1, 10000) != 1) {
		fprintf(stderr, "nobody called\n");
		return 1;
	}
	call = (struct t_call *)t_alloc(fd, T_CALL, T_ALL);
	if (call == NULL || t_listen(fd, call) < 0)
		fail("t_listen");
	peer = malloc(sizeof *peer);
	memcpy(peer, call->addr.buf, sizeof *peer);
	cfd = open_at(path("accepted", getpid()), 0);
	if (t_accept(fd, cfd, call) < 0)
		fail("t_accept");
	names(cfd, path("accepted", getpid()), peer);
	plain(cfd);
	for (n = 0; n < 5; n += i)
		if ((i = read(cfd, buf + n, sizeof buf - n)) <= 0) {
			perror("read");
			return 1;
		}
	for (i = 0; i < n; i++)
		buf[i] -= 'a' - 'A';
	if (write(cfd, buf, n) != n) {
		perror("write");
		return 1;
	}
	/* Back to TLI; whichever of these comes too late, it has an end. */
	ioctl(cfd, I_POP, "tirdwr");
	ioctl(cfd, I_PUSH, "timod");
	t_snddis(cfd, NULL);
	t_unbind(cfd);
	if (t_close(cfd) < 0)
		fail("t_close");
	if (wait(&status) == -1 || status != 0)
		return 1;
	return t_close(fd) < 0;
}

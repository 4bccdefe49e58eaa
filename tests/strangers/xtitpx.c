/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * A stranger's own transport provider (kit/tpx.c), by TLI: datagrams, errors of
 * them, addresses that are taken, and owners of these who are killed.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <tiuser.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { \
	fprintf(stderr, "line %d: %s, t_errno %d, errno %d\n", __LINE__, \
	    #x, t_errno, errno); \
	exit(1); } } while (0)

#define TPX	"/dev/streams/clone/tpx"

static char data[600], from[4];
static int len;

static int
bound(const char *want, char *got)
{
	struct t_info info;
	struct t_bind req, ret;
	int fd;

	CHECK((fd = t_open(TPX, O_RDWR, &info)) >= 0);
	CHECK(info.servtype == T_CLTS && info.addr == 4);
	CHECK(info.tsdu == 512 && info.options == -2);
	req.addr.buf = (char *)want;
	req.addr.len = want != NULL ? 4 : 0;
	req.qlen = 0;
	ret.addr.buf = got;
	ret.addr.maxlen = 4;
	CHECK(t_bind(fd, &req, &ret) == 0);
	CHECK(ret.addr.len == 4 && ret.qlen == 0);
	return (fd);
}

static int
say(int fd, const char *to, const char *s)
{
	struct t_unitdata u;

	memset(&u, 0, sizeof u);
	u.addr.buf = (char *)to;
	u.addr.len = 4;
	u.udata.buf = (char *)s;
	u.udata.len = strlen(s);
	return (t_sndudata(fd, &u));
}

/* The flags, or -1. */
static int
hear(int fd, int max)
{
	struct t_unitdata u;
	int flags = 0;

	memset(&u, 0, sizeof u);
	u.addr.buf = from;
	u.addr.maxlen = 4;
	u.udata.buf = data;
	u.udata.maxlen = max;
	if (t_rcvudata(fd, &u, &flags) < 0)
		return (-1);
	len = u.udata.len;
	return (flags);
}

int
main(void)
{
	char mine[4], yours[4], theirs[4], text[600];
	struct t_uderr ue;
	struct t_bind req;
	int a, b, fd, i, st;
	pid_t pid;

	a = bound("aaaa", mine);
	b = bound(NULL, yours);
	CHECK(memcmp(mine, "aaaa", 4) == 0);
	CHECK(t_getstate(a) == T_IDLE && t_look(a) == 0);

	CHECK(say(a, yours, "hello") == 0);
	CHECK(hear(b, 600) == 0 && len == 5 && memcmp(from, "aaaa", 4) == 0);
	CHECK(say(a, yours, "abcde") == 0);
	CHECK(hear(b, 3) == T_MORE && len == 3);
	CHECK(hear(b, 3) == 0 && len == 2);

	/* no endpoint is there */
	CHECK(say(b, "none", "x") == 0);
	CHECK(hear(b, 600) == -1 && t_errno == TLOOK);
	CHECK(t_look(b) == T_UDERR);
	memset(&ue, 0, sizeof ue);
	ue.addr.buf = theirs;
	ue.addr.maxlen = 4;
	CHECK(t_rcvuderr(b, &ue) == 0 && ue.error == 42);
	CHECK(memcmp(theirs, "none", 4) == 0);

	/* as long as it may be, and longer */
	memset(text, 'b', 600);
	text[513] = '\0';
	CHECK(say(a, yours, text) == -1 && t_errno == TBADDATA);
	text[512] = '\0';
	CHECK(say(a, yours, text) == 0);
	CHECK(hear(b, 600) == 0 && len == 512);

	/* what the provider refuses */
	CHECK((fd = t_open(TPX, O_RDWR, NULL)) >= 0);
	req.addr.buf = "abc";
	req.addr.len = 3;
	req.qlen = 0;
	CHECK(t_bind(fd, &req, NULL) == -1 && t_errno == TBADADDR);
	CHECK(t_getstate(fd) == T_UNBND);
	CHECK(t_unbind(fd) == -1 && t_errno == TOUTSTATE);
	CHECK(t_close(fd) == 0);

	/* more than there is room for */
	if ((pid = fork()) == 0) {
		for (i = 0; i < 500; i++) {
			(void)sprintf(text, "%d", i);
			CHECK(say(a, yours, text) == 0);
		}
		_exit(0);
	}
	for (i = 0; i < 500; i++) {
		CHECK(hear(b, 600) == 0);
		data[len] = '\0';
		CHECK(atoi(data) == i);
	}
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);

	/* an address whose owner is killed, and an endpoint that is inherited */
	if ((pid = fork()) == 0) {
		(void)bound("gone", theirs);
		kill(getpid(), SIGKILL);
	}
	CHECK(waitpid(pid, &st, 0) == pid);
	for (i = 0;; i++) {
		fd = bound("gone", theirs);	/* TLI: or another one */
		if (memcmp(theirs, "gone", 4) == 0)
			break;
		CHECK(t_close(fd) == 0 && i < 1000);
		poll(NULL, 0, 5);
	}
	if ((pid = fork()) == 0) {
		CHECK(t_sync(fd) == T_IDLE);
		CHECK(say(fd, yours, "child") == 0);
		_exit(0);
	}
	CHECK(hear(b, 600) == 0 && len == 5 && memcmp(from, "gone", 4) == 0);
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);
	CHECK(t_unbind(fd) == 0 && t_getstate(fd) == T_UNBND);
	CHECK(t_close(fd) == 0);
	return (0);
}

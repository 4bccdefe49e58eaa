/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints: how they are opened and closed, their state, and what becomes of
 * those that others have made.
 */
#include "xt.h"

#include <poll.h>
#include <stropts.h>
#include <sys/stat.h>
#include <sys/tihdr.h>
#include <sys/wait.h>
#include <unistd.h>

/* -------------------------------------------------------------------- t_open */

XT_CASE(ANY, open_gives_what_the_provider_is)
{
	struct t_info a, b;
	int fd = xt_open_info(0, &a);

	T_EQ(a.servtype, xt->service);
	T_GT(a.addr, 0);
	T_GT(a.tidu, 0);
	if (xt->service == T_CLTS) {
		T_GT(a.tsdu, 0);
		T_EQ(a.etsdu, T_INVALID);
		T_EQ(a.connect, T_INVALID);
		T_EQ(a.discon, T_INVALID);
		T_EQ(a.flags & T_SENDZERO, T_SENDZERO);
	}
	T_TOK(t_getinfo(fd, &b));
	T_MEM(&a, &b, sizeof(a));
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, open_without_a_place_for_the_information)
{
	T_TOK(t_close(xt_open(0)));
}

XT_CASE(ANY, open_for_reading_only_is_TBADFLAG)
{
	T_TOK(t_close(xt_open(0)));
	T_TERR(t_open(xt->device, O_RDONLY, NULL), TBADFLAG);
	T_TERR(t_open(xt->device, O_WRONLY, NULL), TBADFLAG);
}

XT_CASE(ANY, open_with_flags_of_files_is_TBADFLAG)
{
	T_TERR(t_open(xt->device, O_RDWR | O_CREAT, NULL), TBADFLAG);
	T_TERR(t_open(xt->device, O_RDWR | O_TRUNC, NULL), TBADFLAG);
	T_TERR(t_open(xt->device, O_RDWR | O_APPEND, NULL), TBADFLAG);
}

XT_CASE(ANY, open_of_nothing_is_TBADNAME)
{
	T_TERR(t_open("/dev/no/such/provider", O_RDWR, NULL), TBADNAME);
	T_TERR(t_open("", O_RDWR, NULL), TBADNAME);
	T_TERR(t_open(NULL, O_RDWR, NULL), TBADNAME);
}

XT_CASE(ANY, open_of_what_is_no_provider_is_TBADNAME)
{
	T_TERR(t_open("/dev/null", O_RDWR, NULL), TBADNAME);
	T_TERR(t_open("/tmp", O_RDWR, NULL), TBADNAME);
}

/* Devices that gave no T_INFO_ACK yet; spx sends back while it is alone. */
static const char *const no_provider[] = {"/dev/streams/echo",
	"/dev/streams/ip", "/dev/streams/log", "/dev/streams/minimux",
	"/dev/streams/mux", "/dev/streams/nuls", "/dev/streams/printk",
	"/dev/streams/sad", "/dev/streams/spx"};
#define NO_PROVIDERS (sizeof(no_provider) / sizeof(no_provider[0]))

XT_CASE(ANY, open_of_a_device_that_is_no_provider_is_TBADNAME_at_once)
{
	uint64_t begun;

	T_TOK(t_close(xt_bound(0, 0)));
	T_CHECK_FDS();
	for (size_t i = 0; i < NO_PROVIDERS; i++) {
		T_OK(close(T_OK(open(no_provider[i], O_RDWR))));
		begun = t_now_ns();
		T_TERR(t_open(no_provider[i], O_RDWR, NULL), TBADNAME);
		T_LT(t_now_ns() - begun, 2000000000u);
	}
}

XT_CASE(ANY, sync_of_a_device_that_is_no_provider_is_TBADF_at_once)
{
	uint64_t begun;
	int fd;

	T_TOK(t_close(xt_bound(0, 0)));
	for (size_t i = 0; i < NO_PROVIDERS; i++) {
		fd = T_OK(open(no_provider[i], O_RDWR | O_NONBLOCK));
		begun = t_now_ns();
		T_TERR(t_sync(fd), TBADF);
		T_LT(t_now_ns() - begun, 2000000000u);
		T_EQ(T_OK(ioctl(fd, I_FIND, "timod")), 0);
		T_OK(close(fd));
	}
}

XT_CASE(ANY, open_of_a_pipes_name_is_TBADNAME)
{
	char name[] = "/tmp/xti-name-XXXXXX";
	int p[2];

	T_TOK(t_close(xt_bound(0, 0)));
	T_OK(close(T_OK(mkstemp(name))));
	T_TERR(t_open(name, O_RDWR, NULL), TBADNAME);
	T_OK(pipe(p));
	if (fattach(p[0], name) == 0) {
		T_CHECK_FDS();
		T_TERR(t_open(name, O_RDWR, NULL), TBADNAME);
		T_OK(fdetach(name));
	}
	T_OK(unlink(name));
	T_OK(mkfifo(name, 0600));
	T_TERR(t_open(name, O_RDWR, NULL), TBADNAME);
	T_OK(unlink(name));
}

/* A program at the other end of a pair of streams may be one. */
XT_CASE(ANY, a_program_may_be_a_provider)
{
	struct strfdinsert ins = {.databuf = {.len = -1}};
	struct {
		struct T_capability_req r;
		char more[256];
	} req;
	struct T_capability_ack ack = {.PRIM_type = T_CAPABILITY_ACK,
		.CAP_bits1 = TC1_INFO | TC1_ACCEPTOR_ID};
	struct strbuf ctl = {.maxlen = sizeof(req), .buf = (char *)&req};
	int fd[2], flags = 0, status;
	char token[sizeof(int)];
	pid_t pid;

	T_TOK(t_close(xt_bound(0, 0)));
	fd[0] = T_OK(open("/dev/streams/spx", O_RDWR));
	fd[1] = T_OK(open("/dev/streams/spx", O_RDWR));
	ins.ctlbuf.len = sizeof(token);
	ins.ctlbuf.buf = token;
	ins.fildes = fd[1];
	T_OK(ioctl(fd[0], I_FDINSERT, &ins));
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(getmsg(fd[1], &ctl, NULL, &flags));
		T_EQ(req.r.PRIM_type, T_CAPABILITY_REQ);
		ack.INFO_ack.PRIM_type = T_INFO_ACK;
		ack.INFO_ack.SERV_type = T_CLTS;
		ack.INFO_ack.TSDU_size = 17;
		ack.INFO_ack.CURRENT_state = TS_UNBND;
		ctl.len = sizeof(ack);
		ctl.buf = (char *)&ack;
		T_OK(putmsg(fd[1], &ctl, NULL, RS_HIPRI));
		_exit(0);
	}
	T_OK(ioctl(fd[0], I_PUSH, "timod"));
	T_STATE(fd[0], T_UNBND);
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
}

XT_CASE(ANY, a_failed_open_leaves_no_descriptor)
{
	T_TOK(t_close(xt_bound(0, 0)));
	T_CHECK_FDS();
	T_TERR(t_open("/dev/null", O_RDWR, NULL), TBADNAME);
}

XT_CASE(ANY, open_pushes_timod)
{
	char name[FMNAMESZ + 1];
	int fd = xt_open(0);

	T_OK(ioctl(fd, I_LOOK, name));
	T_STR(name, "timod");
}

XT_CASE(ANY, open_takes_O_NONBLOCK)
{
	int fd = xt_open(1);

	T_EQ(T_OK(fcntl(fd, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
	T_TOK(t_close(fd));
	fd = xt_open(0);
	T_EQ(T_OK(fcntl(fd, F_GETFL)) & O_NONBLOCK, 0);
}

XT_CASE(ANY, endpoints_opened_twice_are_two)
{
	int a = xt_bound(0, 0), b = xt_open(0);

	T_NE(a, b);
	T_STATE(a, T_IDLE);
	T_STATE(b, T_UNBND);
}

XT_CASE(ANY, close_releases_the_endpoint)
{
	T_TOK(t_close(xt_bound(0, 0)));
	T_CHECK_FDS();
	for (int i = 0; i < 50; i++)
		T_TOK(t_close(xt_bound(0, 0)));
}

XT_CASE(ANY, a_number_used_again_is_a_new_endpoint)
{
	int fd = xt_bound(0, 0), again;

	T_STATE(fd, T_IDLE);
	T_OK(close(fd));
	again = xt_open(0);
	T_EQ(again, fd);
	T_STATE(fd, T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
}

XT_CASE(ANY, a_number_used_again_by_a_pipe_is_no_endpoint)
{
	int fd = xt_bound(0, 0), p[2];

	T_OK(close(fd));
	T_OK(pipe(p));
	T_EQ(p[0], fd);
	T_TERR(t_getstate(fd), TBADF);
	T_TERR(t_sync(p[1]), TBADF);
}

XT_CASE(ANY, opening_does_not_set_an_error)
{
	int fd = xt_open(0);

	t_errno = TBADQLEN;
	errno = ERANGE;
	T_TOK(t_getstate(fd));
	T_TOK(t_look(fd));
	T_EQ(t_errno, TBADQLEN);
}

/* -------------------------------------------------------------------- t_sync */

XT_CASE(ANY, what_open_opened_is_an_endpoint_after_sync)
{
	int fd;

	T_TOK(t_close(xt_open(0)));
	fd = T_OK(open(xt->device, O_RDWR));
	T_TERR(t_getstate(fd), TBADF);
	T_EQ(T_TOK(t_sync(fd)), T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
	T_EQ(T_TOK(t_sync(fd)), T_IDLE);
}

XT_CASE(ANY, sync_says_the_state)
{
	struct xt_end e;

	xt_make(&e, T_IDLE);
	T_EQ(T_TOK(t_sync(e.fd)), T_IDLE);
	T_STATE(e.fd, T_IDLE);
}

/* The question overtakes data, and the release behind it. */
XT_CASE(ORD, sync_does_not_take_back_a_release_that_waits)
{
	static char buf[16384];
	int fd[2], flags, sent = 0, again = 20;

	xt_pair(fd);
	xt_block(fd[0], 0);
	xt_block(fd[1], 0);
	while (t_snd(fd[0], buf, sizeof(buf), 0) > 0)
		;
	T_EQ(t_errno, TFLOW);
	while (!sent) {
		if (t_rcv(fd[1], buf, sizeof(buf), &flags) < 0)
			T_EQ(t_errno, TNODATA);
		/* what is full once has room where sockets buffer */
		if (xt->inet && again-- > 0)
			while (t_snd(fd[0], buf, sizeof(buf), 0) > 0)
				;
		sent = t_sndrel(fd[0]) == 0;
		if (!sent)
			T_EQ(t_errno, TFLOW);
	}
	T_STATE(fd[0], T_OUTREL);
	T_EQ(T_TOK(t_sync(fd[0])), T_OUTREL);
	T_STATE(fd[0], T_OUTREL);
}

/* --------------------------------------------- what others have made of it */

/* A request by hand, and its acknowledgement. */
static void
by_hand(int fd, const void *req, int len, int want)
{
	union T_primitives p;
	struct strbuf ctl = {.len = len, .buf = (char *)(uintptr_t)req};
	int flags = 0;

	T_OK(putmsg(fd, &ctl, NULL, 0));
	ctl.buf = (char *)&p;
	ctl.maxlen = sizeof(p);
	T_EQ(T_OK(getmsg(fd, &ctl, NULL, &flags)) & MORECTL, 0);
	T_EQ(p.type, want);
}

static int
bound_by_hand(const char *dev, unsigned qlen, struct xt_addr *at)
{
	struct T_bind_req br = {.PRIM_type = T_BIND_REQ, .CONIND_number = qlen};
	struct t_bind is = {.qlen = 0};
	int fd = T_OK(open(dev, O_RDWR));

	by_hand(fd, &br, sizeof(br), T_BIND_ACK);
	T_OK(ioctl(fd, I_PUSH, "timod"));
	xt_netbuf(&is.addr, at);
	T_TOK(t_getprotaddr(fd, &is, NULL));
	at->len = is.addr.len;
	return fd;
}

XT_CASE(CO, who_was_bound_by_hand_listens)
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd, fd;

	if (xt->inet)
		T_SKIP("its address is not one to call");
	lfd = bound_by_hand(xt->device, 1, &at);
	T_STATE(lfd, T_IDLE);
	fd = xt_bound(1, 0);
	xt_call(fd, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TOK(t_listen(lfd, &call));
	T_STATE(lfd, T_INCON);
	T_TOK(t_accept(lfd, xt_open(0), &call));
}

XT_CASE(CO, a_disconnection_of_what_was_connected_by_hand_can_be_taken)
{
	struct {
		struct T_conn_req r;
		char addr[256];
	} m = {{.PRIM_type = T_CONN_REQ}, {0}};
	struct xt_addr at, me;
	struct t_discon dis;
	struct pollfd pfd = {.events = POLLIN};
	int fd;

	xt_nobody(&at);
	fd = bound_by_hand(xt->device, 0, &me);
	T_TOK(t_close(fd));
	fd = T_OK(open(xt->device, O_RDWR));
	struct T_bind_req br = {.PRIM_type = T_BIND_REQ};
	by_hand(fd, &br, sizeof(br), T_BIND_ACK);
	m.r.DEST_offset = sizeof(m.r);
	m.r.DEST_length = (t_scalar_t)at.len;
	memcpy(m.addr, at.buf, at.len);
	by_hand(fd, &m, (int)(sizeof(m.r) + at.len), T_OK_ACK);
	pfd.fd = fd;
	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_OK(ioctl(fd, I_PUSH, "timod"));
	T_EVENT(fd, T_DISCONNECT);
	memset(&dis, 0, sizeof(dis));
	T_TOK(t_rcvdis(fd, &dis));
	T_STATE(fd, T_IDLE);
	T_EQ(t_look(fd), 0);
}

XT_CASE(ANY, a_stream_without_timod_is_no_endpoint)
{
	int fd = xt_open(0);

	T_OK(ioctl(fd, I_POP, 0));
	T_TERR(t_bind(fd, NULL, NULL), TBADF);
	T_OK(ioctl(fd, I_PUSH, "timod"));
	T_TOK(t_bind(fd, NULL, NULL));
}

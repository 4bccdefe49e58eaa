/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Endpoints: opening, binding, what they are, options, memory, errors.
 */
#include "xt.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/mman.h>
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

/* Devices that nobody gave a T_INFO_ACK yet; spx sends back while it is alone. */
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

/* Somebody at the other end of a pair of streams may be one. */
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

/* -------------------------------------------------------------------- t_bind */

XT_CASE(ANY, bind_to_any_address_gives_one)
{
	struct t_bind ret = {.qlen = 99};
	struct xt_addr at;
	int fd = xt_open(0);

	xt_netbuf(&ret.addr, &at);
	ret.addr.len = 0;
	T_TOK(t_bind(fd, NULL, &ret));
	T_GT(ret.addr.len, 0);
	T_EQ(ret.qlen, 0);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, addresses_of_the_providers_choice_differ)
{
	struct xt_addr a[2];

	if (xt->raw)
		T_SKIP("no ports");
	for (int i = 0; i < 2; i++) {
		struct t_bind req = {.qlen = 0}, ret;

		xt_local(&a[i], 0);
		xt_netbuf(&req.addr, &a[i]);
		xt_netbuf(&ret.addr, &a[i]);
		T_TOK(t_bind(xt_open(0), &req, &ret));
		a[i].len = ret.addr.len;
		T_GT(a[i].len, 0);
	}
	T_TRUE(a[0].len != a[1].len ||
		memcmp(a[0].buf, a[1].buf, a[0].len) != 0);
}

XT_CASE(ANY, bind_to_a_chosen_address_gives_it)
{
	struct t_bind req = {.qlen = 0}, ret;
	struct xt_addr want, got;
	int fd = xt_open(0);

	xt_nobody(&want);
	xt_netbuf(&req.addr, &want);
	xt_netbuf(&ret.addr, &got);
	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.addr.len, want.len);
	T_MEM(got.buf, want.buf, want.len);
}

XT_CASE(ANY, bind_to_an_address_in_use_is_TADDRBUSY)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int fd = xt_open(0);

	if (xt->raw)
		T_SKIP("addresses are shared");
	xt_bound_at(0, xt->service == T_CLTS ? 0 : 1, &at);
	xt_netbuf(&req.addr, &at);
	req.qlen = xt->service == T_CLTS ? 0 : 1;
	T_TERR(t_bind(fd, &req, NULL), TADDRBUSY);
	T_STATE(fd, T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
}

XT_CASE(ANY, an_address_is_free_again_after_unbind)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int a = xt_bound_at(0, 0, &at), b = xt_open(0);

	T_TOK(t_unbind(a));
	T_STATE(a, T_UNBND);
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(b, &req, NULL));
}

XT_CASE(ANY, an_address_is_free_again_after_close)
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;
	int a = xt_bound_at(0, 0, &at), b = xt_open(0);

	T_OK(close(a));
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(b, &req, NULL));
}

XT_CASE(ANY, bind_unbind_bind)
{
	int fd = xt_open(0);

	for (int i = 0; i < 10; i++) {
		T_TOK(t_bind(fd, NULL, NULL));
		T_TOK(t_unbind(fd));
	}
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, bind_with_too_small_a_buffer_is_TBUFOVFLW_and_bound)
{
	struct t_bind ret = {.qlen = 0};
	char c;
	int fd = xt_open(0);

	ret.addr.buf = &c;
	ret.addr.maxlen = 1;
	T_TERR(t_bind(fd, NULL, &ret), TBUFOVFLW);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, bind_with_no_buffer_wants_no_address)
{
	struct t_bind ret = {.qlen = 9};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, NULL, &ret));
	T_EQ(ret.addr.len, 0);
}

XT_CASE(ANY, bind_to_a_length_without_a_buffer_is_TBADADDR)
{
	struct t_bind req = {.addr = {.len = 16}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	T_STATE(fd, T_UNBND);
}

XT_CASE(ANY, bind_to_an_address_that_is_too_long_is_TBADADDR)
{
	static char big[4096];
	struct t_bind req = {.addr = {.len = sizeof(big), .buf = big}};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &req, NULL), TBADADDR);
	T_STATE(fd, T_UNBND);
}

XT_CASE(CO, bind_negotiates_qlen)
{
	struct t_bind req = {.qlen = 5}, ret = {.qlen = 0};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.qlen, 5);
}

XT_CASE(CL, bind_of_datagrams_has_no_qlen)
{
	struct t_bind req = {.qlen = 1}, ret = {.qlen = 7};
	int fd = xt_open(0);

	T_TOK(t_bind(fd, &req, &ret));
	T_EQ(ret.qlen, 0);
	T_STATE(fd, T_IDLE);
}

/* ------------------------------------------------------------- t_getprotaddr */

XT_CASE(ANY, there_is_no_address_before_bind)
{
	struct t_bind bound, peer;
	struct xt_addr a, b;
	int fd = xt_open(0);

	xt_netbuf(&bound.addr, &a);
	xt_netbuf(&peer.addr, &b);
	T_TOK(t_getprotaddr(fd, &bound, &peer));
	T_EQ(bound.addr.len, 0);
	T_EQ(peer.addr.len, 0);
}

XT_CASE(ANY, the_address_is_what_bind_said)
{
	struct t_bind bound, peer;
	struct xt_addr at, a, b;
	int fd = xt_bound_at(0, 0, &at);

	xt_netbuf(&bound.addr, &a);
	xt_netbuf(&peer.addr, &b);
	T_TOK(t_getprotaddr(fd, &bound, &peer));
	T_EQ(bound.addr.len, at.len);
	T_MEM(a.buf, at.buf, at.len);
	T_EQ(peer.addr.len, 0);
}

XT_CASE(CO, a_connection_has_two_addresses)
{
	struct t_bind bound[2], peer[2];
	struct xt_addr a[2], b[2];
	int fd[2];

	xt_pair(fd);
	for (int i = 0; i < 2; i++) {
		xt_netbuf(&bound[i].addr, &a[i]);
		xt_netbuf(&peer[i].addr, &b[i]);
		T_TOK(t_getprotaddr(fd[i], &bound[i], &peer[i]));
		T_GT(bound[i].addr.len, 0);
		T_GT(peer[i].addr.len, 0);
	}
	T_EQ(bound[0].addr.len, peer[1].addr.len);
	T_MEM(a[0].buf, b[1].buf, bound[0].addr.len);
}

XT_CASE(ANY, addresses_in_too_small_a_buffer_are_TBUFOVFLW)
{
	struct t_bind bound = {.qlen = 0};
	char c;
	int fd = xt_bound(0, 0);

	bound.addr.buf = &c;
	bound.addr.maxlen = 1;
	T_TERR(t_getprotaddr(fd, &bound, NULL), TBUFOVFLW);
	T_TOK(t_getprotaddr(fd, NULL, NULL));
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

/* ------------------------------------------------------------ t_alloc, t_free */

static const struct {
	int type;
	const char *name;
} types[] = {
	{T_BIND, "t_bind"}, {T_OPTMGMT, "t_optmgmt"}, {T_CALL, "t_call"},
	{T_DIS, "t_discon"}, {T_UNITDATA, "t_unitdata"},
	{T_UDERROR, "t_uderr"}, {T_INFO, "t_info"},
};
#define NTYPES 7
#define NMASKS 8
static char alloc_names[NTYPES * NMASKS][48];
static const int alloc_fields[NMASKS] = {0, T_ADDR, T_OPT, T_UDATA,
	T_ADDR | T_OPT, T_ADDR | T_UDATA, T_OPT | T_UDATA, T_ALL};
static const char *const alloc_words[NMASKS] = {"nothing", "T_ADDR", "T_OPT",
	"T_UDATA", "T_ADDR_and_T_OPT", "T_ADDR_and_T_UDATA",
	"T_OPT_and_T_UDATA", "T_ALL"};

static int
has(int type, int field)
{
	switch (type) {
	case T_BIND:
		return field == T_ADDR;
	case T_OPTMGMT:
		return field == T_OPT;
	case T_CALL:
	case T_UNITDATA:
		return 1;
	case T_DIS:
		return field == T_UDATA;
	case T_UDERROR:
		return field != T_UDATA;
	default:
		return 0;
	}
}

static t_scalar_t
size_of(const struct t_info *ti, int type, int field)
{
	if (field == T_ADDR)
		return ti->addr;
	if (field == T_OPT)
		return ti->options;
	if (type == T_UNITDATA)
		return ti->tsdu;
	if (type == T_DIS)
		return ti->discon;
	return ti->connect > ti->discon ? ti->connect : ti->discon;
}

static struct netbuf *
part(void *p, int type, int field)
{
	struct t_call *c = p;
	struct t_bind *b = p;
	struct t_discon *d = p;
	struct t_optmgmt *o = p;
	struct t_unitdata *u = p;
	struct t_uderr *e = p;

	switch (type) {
	case T_BIND:
		return &b->addr;
	case T_OPTMGMT:
		return &o->opt;
	case T_DIS:
		return &d->udata;
	case T_CALL:
		return field == T_ADDR ? &c->addr : field == T_OPT ? &c->opt :
								     &c->udata;
	case T_UNITDATA:
		return field == T_ADDR ? &u->addr : field == T_OPT ? &u->opt :
								     &u->udata;
	default:
		return field == T_ADDR ? &e->addr : &e->opt;
	}
}

/* XNS 5.2, t_alloc(): a size of none, asked for by name, is TSYSERR. */
static int
fails(const struct t_info *ti, int type, int fields)
{
	if (fields == T_ALL)
		return 0;
	for (int f = T_ADDR; f <= T_UDATA; f <<= 1)
		if ((fields & f) && has(type, f) && size_of(ti, type, f) < 0)
			return 1;
	return 0;
}

static void
check_part(const struct t_info *ti, void *p, int type, int f, int fields)
{
	struct netbuf *nb;
	t_scalar_t size;

	if (!has(type, f))
		return;
	nb = part(p, type, f);
	size = size_of(ti, type, f);
	T_EQ(nb->len, 0);
	if ((fields & f) == 0 || size == T_INVALID || size == 0) {
		T_NULL(nb->buf);
		T_EQ(nb->maxlen, 0);
		return;
	}
	T_NOTNULL(nb->buf);
	if (size > 0)
		T_EQ(nb->maxlen, size);
	else
		T_GE(nb->maxlen, 24);
	memset(nb->buf, 0xa5, nb->maxlen);
}

static void
run_alloc(struct t *t)
{
	struct t_info ti;
	int fd = xt_open_info(0, &ti), i;
	char want[48];
	void *p;

	for (i = 0; i < NTYPES * NMASKS; i++) {
		snprintf(want, sizeof(want), "%s", alloc_names[i]);
		for (char *s = want; *s != '\0'; s++)
			if (*s == '_')
				*s = ' ';
		if (strcmp(want, t->name) == 0 ||
		    strcmp(alloc_names[i], t->name) == 0)
			break;
	}
	T_LT(i, NTYPES * NMASKS);
	t_errno = 0;
	p = t_alloc(fd, types[i / NMASKS].type, alloc_fields[i % NMASKS]);
	if (fails(&ti, types[i / NMASKS].type, alloc_fields[i % NMASKS])) {
		T_NULL(p);
		T_EQ(t_errno, TSYSERR);
		T_EQ(errno, EINVAL);
		return;
	}
	T_NOTNULL(p);
	for (int f = T_ADDR; f <= T_UDATA; f <<= 1)
		check_part(&ti, p, types[i / NMASKS].type, f, alloc_fields[i % NMASKS]);
	T_TOK(t_free(p, types[i / NMASKS].type));
}

T_CONSTRUCTOR static void
add_alloc(void)
{
	static struct t_case c[NTYPES * NMASKS];

	for (int i = 0; i < NTYPES * NMASKS; i++) {
		snprintf(alloc_names[i], sizeof(alloc_names[i]),
			"alloc_%s_with_%s", types[i / NMASKS].name,
			alloc_words[i % NMASKS]);
		c[i].name = alloc_names[i];
		c[i].run = run_alloc;
		xt_case_add(ANY, &c[i]);
	}
}

XT_CASE(ANY, alloc_of_no_structure_is_TNOSTRUCTYPE)
{
	int fd = xt_open(0);

	for (int i = 0; i < 3; i++) {
		const int bad[] = {0, 8, -1};

		t_errno = 0;
		T_NULL(t_alloc(fd, bad[i], T_ALL));
		T_EQ(t_errno, TNOSTRUCTYPE);
	}
}

XT_CASE(ANY, free_of_no_structure_is_TNOSTRUCTYPE)
{
	T_TERR(t_free(NULL, 0), TNOSTRUCTYPE);
	T_TERR(t_free(NULL, 99), TNOSTRUCTYPE);
	T_TOK(t_free(NULL, T_CALL));
}

XT_CASE(ANY, free_leaves_what_the_caller_took_away)
{
	int fd = xt_open(0);
	struct t_bind *b = t_alloc(fd, T_BIND, T_ALL);
	void *buf;

	T_NOTNULL(b);
	buf = b->addr.buf;
	b->addr.buf = NULL;
	T_TOK(t_free(b, T_BIND));
	memset(buf, 1, 4);
	free(buf);
}

/* ------------------------------------------------------------------ t_optmgmt */

struct option {
	struct t_opthdr h;
	t_uscalar_t v[2];
};

static int
optmgmt(int fd, int flags, struct option *o, unsigned len,
	struct t_optmgmt *ret)
{
	static char buf[2048];
	struct t_optmgmt req = {.flags = flags};

	memset(buf, 0, sizeof(buf));
	o->h.len = len;
	req.opt.buf = o;
	req.opt.len = len;
	ret->opt.buf = buf;
	ret->opt.maxlen = sizeof(buf);
	return t_optmgmt(fd, &req, ret);
}

XT_CASE(ANY, optmgmt_tells_current_options)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = T_ALLOPT}};
	struct t_opthdr *oh;
	struct t_optmgmt ret;
	int fd = xt_open(0), n = 0;

	T_TOK(optmgmt(fd, T_CURRENT, &o, sizeof(o.h), &ret));
	for (oh = T_OPT_FIRSTHDR(&ret.opt); oh != NULL;
		oh = T_OPT_NEXTHDR(&ret.opt, oh), n++) {
		T_EQ(oh->level, XTI_GENERIC);
		T_GE(oh->len, sizeof(*oh));
	}
	T_GT(n, 0);
}

XT_CASE(ANY, optmgmt_negotiates_a_buffer)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_SNDBUF},
		.v = {16384}};
	struct t_opthdr *oh;
	struct t_optmgmt ret;
	int fd = xt_bound(0, 0);

	T_TOK(optmgmt(fd, T_NEGOTIATE, &o, sizeof(o.h) + 4, &ret));
	T_TRUE(ret.flags == T_SUCCESS || ret.flags == T_PARTSUCCESS);
	oh = T_OPT_FIRSTHDR(&ret.opt);
	T_NOTNULL(oh);
	T_EQ(oh->name, XTI_SNDBUF);
	T_STATE(fd, T_IDLE);
}

XT_CASE(ANY, optmgmt_checks_an_option_nobody_knows)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = 0x7777}};
	struct t_opthdr *oh;
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TOK(optmgmt(fd, T_CHECK, &o, sizeof(o.h) + 4, &ret));
	T_EQ(ret.flags, T_NOTSUPPORT);
	oh = T_OPT_FIRSTHDR(&ret.opt);
	T_NOTNULL(oh);
	T_EQ(oh->status, T_NOTSUPPORT);
}

XT_CASE(ANY, optmgmt_tells_defaults)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_DEBUG}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TOK(optmgmt(fd, T_DEFAULT, &o, sizeof(o.h), &ret));
	T_NOTNULL(T_OPT_FIRSTHDR(&ret.opt));
}

/* What is told is what is there afterwards, cut or not; and the default is */
XT_CASE(ANY, optmgmt_tells_what_a_buffer_has_become)
{
	static const t_uscalar_t want[] = {30000, 1, 0x7ffffff0};
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_SNDBUF}};
	t_uscalar_t dflt, neg;
	struct t_opthdr *oh;
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TOK(optmgmt(fd, T_DEFAULT, &o, sizeof(o.h), &ret));
	dflt = *(t_uscalar_t *)(void *)T_OPT_DATA(T_OPT_FIRSTHDR(&ret.opt));
	T_GT(dflt, 0);
	for (int i = 0; i < 3; i++) {
		o.v[0] = want[i];
		T_TOK(optmgmt(fd, T_NEGOTIATE, &o, sizeof(o.h) + 4, &ret));
		oh = T_OPT_FIRSTHDR(&ret.opt);
		neg = *(t_uscalar_t *)(void *)T_OPT_DATA(oh);
		T_EQ(oh->status, neg == want[i] ? T_SUCCESS : T_PARTSUCCESS);
		T_EQ(ret.flags, (t_scalar_t)oh->status);
		T_TOK(optmgmt(fd, T_CURRENT, &o, sizeof(o.h), &ret));
		T_EQ(*(t_uscalar_t *)(void *)T_OPT_DATA(
			T_OPT_FIRSTHDR(&ret.opt)), neg);
		T_TOK(optmgmt(fd, T_DEFAULT, &o, sizeof(o.h), &ret));
		T_EQ(*(t_uscalar_t *)(void *)T_OPT_DATA(
			T_OPT_FIRSTHDR(&ret.opt)), dflt);
	}
	/* without a value: the default again */
	T_TOK(optmgmt(fd, T_NEGOTIATE, &o, sizeof(o.h), &ret));
	T_EQ(ret.flags, T_SUCCESS);
	T_TOK(optmgmt(fd, T_CURRENT, &o, sizeof(o.h), &ret));
	T_EQ(*(t_uscalar_t *)(void *)T_OPT_DATA(T_OPT_FIRSTHDR(&ret.opt)),
		dflt);
}

XT_CASE(ANY, optmgmt_with_flags_nobody_knows_is_TBADFLAG)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_DEBUG}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TERR(optmgmt(fd, 0, &o, sizeof(o.h), &ret), TBADFLAG);
	T_TERR(optmgmt(fd, T_NEGOTIATE | T_CHECK, &o, sizeof(o.h), &ret),
		TBADFLAG);
	T_TERR(optmgmt(fd, 0x4000, &o, sizeof(o.h), &ret), TBADFLAG);
}

XT_CASE(ANY, optmgmt_with_broken_lengths_is_TBADOPT)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_DEBUG}};
	const unsigned bad[] = {1, 4, 15};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	for (int i = 0; i < 3; i++)
		T_TERR(optmgmt(fd, T_CHECK, &o, bad[i], &ret), TBADOPT);
}

XT_CASE(ANY, optmgmt_with_a_length_beyond_the_list_is_TBADOPT)
{
	struct option o = {.h = {.len = 400, .level = XTI_GENERIC,
				   .name = XTI_DEBUG}};
	struct t_optmgmt req = {.opt = {.len = sizeof(o.h), .buf = &o},
		.flags = T_CHECK};
	struct t_optmgmt ret = {.opt = {.maxlen = 0}};
	int fd = xt_open(0);

	T_TERR(t_optmgmt(fd, &req, &ret), TBADOPT);
	o.h.len = 0;
	T_TERR(t_optmgmt(fd, &req, &ret), TBADOPT);
}

XT_CASE(ANY, optmgmt_with_too_small_a_buffer_is_TBUFOVFLW)
{
	struct option o = {.h = {.len = sizeof(o.h), .level = XTI_GENERIC,
				   .name = T_ALLOPT}};
	char c[8];
	struct t_optmgmt req = {.opt = {.len = sizeof(o.h), .buf = &o},
		.flags = T_CURRENT};
	struct t_optmgmt ret = {.opt = {.maxlen = sizeof(c), .buf = c}};
	int fd = xt_open(0);

	T_TERR(t_optmgmt(fd, &req, &ret), TBUFOVFLW);
}

XT_CASE(ANY, optmgmt_without_a_list_or_an_answer)
{
	struct t_optmgmt req = {.opt = {.len = 16}, .flags = T_CHECK}, ret;
	int fd = xt_open(0);

	T_TERR(t_optmgmt(fd, &req, &ret), TBADOPT);
	T_TERR(t_optmgmt(fd, NULL, &ret), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_optmgmt(fd, &req, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(ANY, optmgmt_takes_a_long_for_a_number)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_RCVBUF},
		.v = {32768, 0}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TOK(optmgmt(fd, T_NEGOTIATE, &o, sizeof(o.h) + 8, &ret));
	T_TRUE(ret.flags == T_SUCCESS || ret.flags == T_PARTSUCCESS);
}

/* --------------------------------------------------------------- words, numbers */

XT_CASE(ANY, every_error_has_its_words)
{
	for (int i = 0; i <= TPROTO; i++) {
		T_NOTNULL(t_strerror(i));
		T_GT(strlen(t_strerror(i)), 2);
		for (int j = 0; j < i; j++)
			T_NE(strcmp(t_strerror(i), t_strerror(j)), 0);
	}
	T_EQ(t_nerr, TPROTO + 1);
	T_STR(t_errlist[TLOOK], t_strerror(TLOOK));
}

XT_CASE(ANY, an_error_that_is_none_has_words_too)
{
	T_STR(t_strerror(4711), "4711: error unknown");
	T_STR(t_strerror(-1), "-1: error unknown");
}

/* XNS 5.2, t_error(): "message: words\n", with TSYSERR errno's as well. */
XT_CASE(ANY, t_error_writes_to_standard_error)
{
	char buf[256], want[256];
	int p[2], saved;
	ssize_t n;

	T_OK(pipe(p));
	saved = T_OK(dup(2));
	T_OK(dup2(p[1], 2));
	t_errno = TBADQLEN;
	T_EQ(t_error("here"), 0);
	T_OK(dup2(saved, 2));
	n = T_OK(read(p[0], buf, sizeof(buf) - 1));
	buf[n] = '\0';
	snprintf(want, sizeof(want), "here: %s\n", t_strerror(TBADQLEN));
	T_STR(buf, want);
	T_EQ(t_errno, TBADQLEN);

	T_OK(dup2(p[1], 2));
	t_errno = TSYSERR;
	errno = EINTR;
	t_error("");
	T_OK(dup2(saved, 2));
	n = T_OK(read(p[0], buf, sizeof(buf) - 1));
	buf[n] = '\0';
	snprintf(want, sizeof(want), "%s: %s\n", t_strerror(TSYSERR),
		strerror(EINTR));
	T_STR(buf, want);
}

XT_CASE(ANY, sysconf_knows_the_longest_vector)
{
	T_GE(T_TOK(t_sysconf(_SC_T_IOV_MAX)), 16);
	T_TERR(t_sysconf(-1), TBADFLAG);
	T_TERR(t_sysconf(_SC_OPEN_MAX), TBADFLAG);
}

XT_CASE(ANY, no_provider_has_calls_with_several_ends)
{
	struct t_leaf_status ls;
	int fd = xt_open(0);

	T_TERR(t_addleaf(fd, 1, NULL), TNOTSUPPORT);
	T_TERR(t_removeleaf(fd, 1, 0), TNOTSUPPORT);
	T_TERR(t_rcvleafchange(fd, &ls), TNOTSUPPORT);
}

/* ----------------------------------------------------------------- null pointers */

XT_CASE(CO, calls_without_a_call_are_EFAULT)
{
	struct xt_end e;

	xt_make(&e, T_IDLE);
	T_TERR(t_connect(e.fd, NULL, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_listen(e.extra, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(e.fd, T_IDLE);
}

XT_CASE(CO, accept_without_a_call_is_EFAULT)
{
	struct xt_end e;

	xt_make(&e, T_INCON);
	T_TERR(t_accept(e.fd, e.fd, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_snddis(e.fd, NULL), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XT_CASE(CL, datagrams_without_a_structure_are_EFAULT)
{
	struct t_iovec iov = {NULL, 0};
	struct t_unitdata ud;
	int fd = xt_bound(1, 0), flags;

	memset(&ud, 0, sizeof(ud));
	T_TERR(t_sndudata(fd, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvudata(fd, NULL, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(fd, NULL, &iov, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(fd, &ud, NULL, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvvudata(fd, NULL, &iov, 1, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvvudata(fd, &ud, NULL, 1, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
}

/* What no buffer can have is no length, whatever stands behind it. */
XT_CASE(ANY, lengths_that_cannot_be_are_errors)
{
	static const unsigned len[] = {~0u, ~0u - 15, ~0u - 40, 1u << 31,
		1u << 20};
	char small[16] = {0};

	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct netbuf nb = {.len = len[i], .buf = small};
		struct t_bind bind = {.addr = nb};
		struct t_optmgmt om = {.opt = nb, .flags = T_NEGOTIATE};
		struct t_unitdata ud = {.addr = nb};
		struct t_call call = {.addr = nb};
		int fd = xt_open(1);
		struct xt_addr at;

		T_TERR(t_bind(fd, &bind, NULL), TBADADDR);
		T_TERR(t_optmgmt(fd, &om, &om), TBADOPT);
		T_TOK(t_close(fd));
		fd = xt_bound_at(1, 0, &at);
		if (xt->service == T_CLTS) {
			T_TERR(t_sndudata(fd, &ud), TBADADDR);
			xt_netbuf(&ud.addr, &at);
			ud.addr.len = at.len;
			ud.opt = nb;
			T_TERR(t_sndudata(fd, &ud), TBADOPT);
		} else {
			T_TERR(t_connect(fd, &call, NULL), TBADADDR);
			xt_netbuf(&call.addr, &at);
			call.addr.len = at.len;
			call.opt = nb;
			T_TERR(t_connect(fd, &call, NULL), TBADOPT);
		}
		T_TOK(t_close(fd));
	}
}

/* ------------------------------------------------------------------- bad buffers */

static void *
nobodys(void)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	T_NE(bad, MAP_FAILED);
	return bad;
}

XT_CASE(ANY, an_address_nobody_can_read_or_write_is_EFAULT)
{
	struct t_bind bind = {.addr = {.len = 16, .maxlen = 256,
				      .buf = nobodys()}};
	struct t_bind any = {.qlen = 0};
	int fd = xt_open(0);

	T_TERR(t_bind(fd, &bind, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_UNBND);
	/* bound it is, but nobody can be told where */
	T_TERR(t_bind(fd, &any, &bind), TSYSERR);
	T_EQ(errno, EFAULT);
	T_EQ(bind.addr.len, 0);
	T_STATE(fd, T_IDLE);
	T_TERR(t_getprotaddr(fd, &bind, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(ANY, options_nobody_can_read_or_write_are_EFAULT)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_DEBUG}};
	struct t_optmgmt bad = {.opt = {.len = 24, .maxlen = 256,
					.buf = nobodys()},
		.flags = T_NEGOTIATE}, req, ret;
	int fd = xt_open(0);

	T_TERR(t_optmgmt(fd, &bad, &ret), TSYSERR);
	T_EQ(errno, EFAULT);
	o.h.len = sizeof(o.h);
	req = (struct t_optmgmt){.opt = {.len = sizeof(o.h), .buf = &o},
		.flags = T_DEFAULT};
	T_TERR(t_optmgmt(fd, &req, &bad), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(CO, a_call_to_an_address_nobody_can_read_is_EFAULT)
{
	struct t_call call = {.addr = {.len = 16, .buf = nobodys()}};
	int fd = xt_bound(0, 0);

	T_TERR(t_connect(fd, &call, NULL), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CO, pieces_nobody_can_read_are_EFAULT)
{
	struct t_iovec iov[2] = {{(char *)"", 0}, {nobodys(), 1}};
	int fd[2];

	xt_pair(fd);
	T_TERR(t_sndv(fd[0], iov + 1, 1, 0), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndv(fd[0], iov, 2, T_EXPEDITED), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CL, a_datagram_with_what_nobody_can_read_or_write_is_EFAULT)
{
	struct t_unitdata ud = {.addr = {.len = 16, .maxlen = 256,
					.buf = nobodys()},
		.udata = {.len = 1, .buf = (char *)"x"}};
	struct t_iovec iov[2] = {{(char *)"good", 4}, {ud.addr.buf, 4}};
	struct xt_addr at[2];
	char buf[128];
	int from, to, flags;

	if (xt->raw && geteuid() != 0)
		T_SKIP("raw sockets are the superuser's");
	from = xt_bound_at(0, 0, &at[0]);
	to = xt_bound_at(0, 0, &at[1]);
	T_TERR(t_sndudata(from, &ud), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_sndvudata(from, &ud, iov, 1), TSYSERR);
	T_EQ(errno, EFAULT);
	xt_netbuf(&ud.addr, &at[1]);
	T_TERR(t_sndvudata(from, &ud, iov, 2), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TOK(t_sndudata(from, &ud));
	if (xt->raw)
		return; /* to everybody: the other tests' come, too */
	/* it has come, but not whom it is from */
	ud = (struct t_unitdata){
		.addr = {.maxlen = 256, .buf = iov[1].iov_base},
		.udata = {.maxlen = sizeof(buf), .buf = buf}};
	T_TERR(t_rcvudata(to, &ud, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(to, T_IDLE);
}

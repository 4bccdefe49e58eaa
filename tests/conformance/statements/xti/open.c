/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_open, t_close, t_getinfo, t_getstate, t_sync.
 */
#include "statement.h"

#include <stropts.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

XS(ANY, t_open, DESCRIPTION, endpoint,
	"It makes an endpoint of the named provider, which is unbound.")
{
	T_STATE(xt_open(0), T_UNBND);
}

XS(ANY, t_open, DESCRIPTION, flags,
	"oflag may have O_NONBLOCK beside O_RDWR.")
{
	int fd = xt_open(1);

	T_EQ(T_OK(fcntl(fd, F_GETFL)) & O_NONBLOCK, O_NONBLOCK);
	T_EQ(T_OK(fcntl(xt_open(0), F_GETFL)) & O_NONBLOCK, 0);
}

XS(ANY, t_open, DESCRIPTION, info,
	"It tells the provider's service and the sizes of its values.")
{
	struct t_info ti;

	memset(&ti, 0x55, sizeof(ti));
	xt_open_info(0, &ti);
	T_EQ(ti.servtype, xt->service);
	T_TRUE(ti.addr > 0 || ti.addr == T_INVALID);
	T_TRUE(ti.options > 0 || ti.options == T_INVALID);
	T_TRUE(ti.tsdu >= T_INVALID && ti.etsdu >= T_INVALID);
	T_TRUE(ti.connect >= T_INVALID && ti.discon >= T_INVALID);
}

XS(ANY, t_open, DESCRIPTION, no_info,
	"info may be null.")
{
	T_STATE(T_TOK(t_open(xt->device, O_RDWR, NULL)), T_UNBND);
}

XS(CL, t_open, DESCRIPTION, info_of_datagrams,
	"Of a provider of datagrams etsdu, connect and discon are T_INVALID.")
{
	struct t_info ti;

	xt_open_info(0, &ti);
	T_EQ(ti.etsdu, T_INVALID);
	T_EQ(ti.connect, T_INVALID);
	T_EQ(ti.discon, T_INVALID);
}

XS(ANY, t_open, DESCRIPTION, independent,
	"Each call makes an endpoint of its own.")
{
	int a = xt_bound(0, 0), b = xt_open(0);

	T_NE(a, b);
	T_STATE(a, T_IDLE);
	T_STATE(b, T_UNBND);
}

XS(ANY, t_open, STATES, valid,
	"It begins in T_UNINIT and ends in T_UNBND.")
{
	int fd = xt_open(0);

	T_TOK(t_close(fd));
	T_TERR(t_getstate(fd), TBADF);
	T_EQ(xt_open(0), fd);
	T_STATE(fd, T_UNBND);
}

XS(ANY, t_open, ERRORS, tbadflag,
	"Flags that it does not know fail with TBADFLAG.")
{
	T_TERR(t_open(xt->device, O_RDONLY, NULL), TBADFLAG);
	T_TERR(t_open(xt->device, O_WRONLY, NULL), TBADFLAG);
	T_TERR(t_open(xt->device, O_RDWR | O_APPEND, NULL), TBADFLAG);
}

XS(ANY, t_open, ERRORS, tbadname,
	"A name of no provider fails with TBADNAME.")
{
	T_TERR(t_open("/dev/no-such-provider", O_RDWR, NULL), TBADNAME);
	T_TERR(t_open("/dev/null", O_RDWR, NULL), TBADNAME);
}

XS(ANY, t_open, ERRORS, tsyserr,
	"A system error fails with TSYSERR, and errno says which.")
{
	struct rlimit few;

	T_TOK(t_close(xt_open(0)));
	T_OK(getrlimit(RLIMIT_NOFILE, &few));
	few.rlim_cur = 64;
	T_OK(setrlimit(RLIMIT_NOFILE, &few));
	while (dup(0) >= 0)
		;
	T_TERR(t_open(xt->device, O_RDWR, NULL), TSYSERR);
	T_EQ(errno, EMFILE);
}

XS(ANY, t_open, RETURN, descriptor,
	"It returns a descriptor, and -1 with t_errno on failure.")
{
	int fd = t_open(xt->device, O_RDWR, NULL);

	T_GE(fd, 0);
	T_OK(fcntl(fd, F_GETFD));
	T_EQ(t_open(xt->device, O_RDONLY, NULL), -1);
}

/* ------------------------------------------------------------------ t_close */

XS(ANY, t_close, DESCRIPTION, closes,
	"It closes the file of the endpoint.")
{
	int fd = xt_bound(0, 0);

	T_TOK(t_close(fd));
	T_ERR(fcntl(fd, F_GETFD), EBADF);
}

XS(ANY, t_close, DESCRIPTION, frees_the_address,
	"The address of a closed endpoint is free again.")
{
	struct t_bind req = {.qlen = 0};
	struct xt_addr at;

	T_TOK(t_close(xt_bound_at(0, 0, &at)));
	xt_netbuf(&req.addr, &at);
	T_TOK(t_bind(xt_open(0), &req, NULL));
}

XS(CO, t_close, DESCRIPTION, breaks_the_connection,
	"The last close of an endpoint breaks its connection.")
{
	int fd[2], look;

	xt_pair(fd);
	T_TOK(t_close(fd[0]));
	T_SOON(t_look(fd[1]) != 0, 5000);
	look = t_look(fd[1]);
	T_TRUE(look == T_DISCONNECT || look == T_ORDREL);
}

XS(CO, t_close, DESCRIPTION, other_descriptors,
	"The connection lasts while another descriptor refers to the endpoint.")
{
	int fd[2], other;
	char c;

	xt_pair(fd);
	other = T_OK(dup(fd[0]));
	T_TOK(t_close(fd[0]));
	T_EQ(T_TOK(t_sync(other)), T_DATAXFER);
	T_EQ(T_TOK(t_snd(other, (char *)"x", 1, 0)), 1);
	T_EQ(xt_rcv_all(fd[1], &c, 1), 1);
}

XS(ANY, t_close, STATES, valid,
	"It works in every state but T_UNINIT, whatever waits.")
{
	xs_valid("t_close", XS_ALL);
}

XS(ANY, t_close, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_close");
}

XS(ANY, t_close, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	int fd = xt_open(0);

	T_EQ(t_close(fd), 0);
	T_EQ(t_close(fd), -1);
}

/* ---------------------------------------------------------------- t_getinfo */

XS(ANY, t_getinfo, DESCRIPTION, as_open,
	"Before there is a connection it tells what t_open told.")
{
	struct t_info a, b;
	int fd = xt_open_info(0, &a);

	memset(&b, 0x55, sizeof(b));
	T_TOK(t_getinfo(fd, &b));
	T_EQ(a.addr, b.addr);
	T_EQ(a.options, b.options);
	T_EQ(a.tsdu, b.tsdu);
	T_EQ(a.etsdu, b.etsdu);
	T_EQ(a.connect, b.connect);
	T_EQ(a.discon, b.discon);
	T_EQ(a.servtype, b.servtype);
	T_EQ(a.flags, b.flags);
}

XS(CO, t_getinfo, DESCRIPTION, servtype_stays,
	"A connection does not change the service type.")
{
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	T_EQ(ti.servtype, xt->service);
}

XS(ANY, t_getinfo, DESCRIPTION, address_fits,
	"No address is longer than addr says.")
{
	struct xt_addr at;
	struct t_info ti;

	T_TOK(t_getinfo(xt_bound_at(0, 0, &at), &ti));
	T_LE(at.len, (unsigned)ti.addr);
}

XS(ANY, t_getinfo, DESCRIPTION, sendzero,
	"flags has T_SENDZERO if and only if units of no bytes can be sent.")
{
	struct t_info ti;
	struct xs_two w;
	int fd[2], ret;

	if (xt->service == T_CLTS) {
		xs_two(&w, 1);
		T_TOK(t_getinfo(w.fd[0], &ti));
		ret = xs_send(&w, 0, "", 0);
	} else {
		xt_pair(fd);
		T_TOK(t_getinfo(fd[0], &ti));
		ret = t_snd(fd[0], (char *)"", 0, 0);
	}
	T_EQ(ret == 0, (ti.flags & T_SENDZERO) != 0);
}

XS(ANY, t_getinfo, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_getinfo", XS_ALL);
}

XS(ANY, t_getinfo, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_getinfo");
}

XS(ANY, t_getinfo, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_info ti;

	T_EQ(t_getinfo(xt_open(0), &ti), 0);
	T_EQ(t_getinfo(-1, &ti), -1);
}

/* --------------------------------------------------------------- t_getstate */

XS(ANY, t_getstate, DESCRIPTION, unbound_and_idle,
	"It tells T_UNBND before a t_bind and T_IDLE after it.")
{
	int fd = xt_open(0);

	T_EQ(t_getstate(fd), T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
	T_EQ(t_getstate(fd), T_IDLE);
}

XS(CO, t_getstate, DESCRIPTION, connections,
	"It tells T_OUTCON, T_INCON and T_DATAXFER of connections.")
{
	struct xt_end e;

	xt_make(&e, T_OUTCON);
	T_EQ(t_getstate(e.fd), T_OUTCON);
	xt_make(&e, T_INCON);
	T_EQ(t_getstate(e.fd), T_INCON);
	xt_make(&e, T_DATAXFER);
	T_EQ(t_getstate(e.fd), T_DATAXFER);
}

XS(ORD, t_getstate, DESCRIPTION, releases,
	"It tells T_OUTREL and T_INREL of connections that are being released.")
{
	struct xt_end e;

	xt_make(&e, T_OUTREL);
	T_EQ(t_getstate(e.fd), T_OUTREL);
	xt_make(&e, T_INREL);
	T_EQ(t_getstate(e.fd), T_INREL);
}

XS(ANY, t_getstate, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_getstate", XS_ALL);
}

XS(ANY, t_getstate, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_getstate");
}

XS_NONE(t_getstate, ERRORS, tstatechng,
	"While the state is changing it fails with TSTATECHNG.",
	"a change of state is not seen from outside here");

XS(ANY, t_getstate, RETURN, state,
	"It returns the state, and -1 with t_errno on failure.")
{
	T_GT(t_getstate(xt_open(0)), 0);
	T_EQ(t_getstate(-1), -1);
}

/* ------------------------------------------------------------------- t_sync */

XS(ANY, t_sync, DESCRIPTION, after_open,
	"A descriptor of open(), with timod, becomes an endpoint.")
{
	int fd;

	T_TOK(t_close(xt_open(0)));
	fd = T_OK(open(xt->device, O_RDWR));
	T_OK(ioctl(fd, I_PUSH, "timod"));
	T_EQ(T_TOK(t_sync(fd)), T_UNBND);
	T_TOK(t_bind(fd, NULL, NULL));
}

XS(ANY, t_sync, DESCRIPTION, after_dup,
	"A descriptor of dup() becomes an endpoint in the same state.")
{
	int fd = T_OK(dup(xt_bound(0, 0)));

	T_EQ(T_TOK(t_sync(fd)), T_IDLE);
	T_TOK(t_unbind(fd));
}

XS(ANY, t_sync, DESCRIPTION, after_fork,
	"In a child it tells the endpoint's state, and the child can use it.")
{
	int fd = xt_bound(0, 0), status;
	pid_t pid = T_OK(fork());

	if (pid == 0) {
		T_EQ(T_TOK(t_sync(fd)), T_IDLE);
		T_TOK(t_unbind(fd));
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &status, 0)), pid);
	T_EQ(status, 0);
	T_EQ(T_TOK(t_sync(fd)), T_UNBND);
}

XS(ANY, t_sync, DESCRIPTION, one_user,
	"The provider takes all users of an endpoint for one.")
{
	int a = xt_open(0), b = T_OK(dup(a));

	T_TOK(t_sync(b));
	T_TOK(t_bind(a, NULL, NULL));
	T_TERR(t_bind(b, NULL, NULL), TOUTSTATE);
	T_EQ(T_TOK(t_sync(b)), T_IDLE);
}

XS(ANY, t_sync, STATES, valid,
	"It works in every state.")
{
	xs_valid("t_sync", XS_ALL);
}

XS(ANY, t_sync, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_sync");
}

XS_NONE(t_sync, ERRORS, tstatechng,
	"While the state is changing it fails with TSTATECHNG.",
	"a change of state is not seen from outside here");

XS(ANY, t_sync, RETURN, state,
	"It returns the state, and -1 with t_errno on failure.")
{
	struct xt_end e;
	int last = xt->service == T_CLTS ? T_IDLE :
		xt->service == T_COTS ? T_DATAXFER : T_INREL;

	for (int s = T_UNBND; s <= last; s++) {
		xt_make(&e, s);
		T_EQ(t_sync(e.fd), s);
	}
	T_EQ(t_sync(-1), -1);
}

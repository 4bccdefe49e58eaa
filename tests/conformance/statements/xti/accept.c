/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_accept.
 */
#include "statement.h"

#define T_ACCEPT_INCON(e, call) \
	struct xt_end e; \
	xt_make(&e, T_INCON); \
	struct t_call call = {.sequence = e.seq}

XS(CO, t_accept, DESCRIPTION, connection_is_on_resfd,
	"The connection is established on resfd, and fd is idle again.")
{
	T_ACCEPT_INCON(e, call);
	int fd = xt_open(0);

	T_TOK(t_accept(e.fd, fd, &call));
	T_STATE(fd, T_DATAXFER);
	T_STATE(e.fd, T_IDLE);
	T_EVENT(e.peer, T_CONNECT);
}

XS(CO, t_accept, DESCRIPTION, same_endpoint,
	"A connection may be accepted on the endpoint on which its indication came.")
{
	T_ACCEPT_INCON(e, call);

	T_TOK(t_accept(e.fd, e.fd, &call));
	T_STATE(e.fd, T_DATAXFER);
}

XS(CO, t_accept, DESCRIPTION, same_endpoint_after_the_others,
	"On the same endpoint it is accepted once all other indications are answered.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TERR(t_accept(c.lfd, c.lfd, &call), TINDOUT);
	call.sequence = c.seq[1];
	T_TOK(t_snddis(c.lfd, &call));
	call.sequence = c.seq[0];
	T_TOK(t_accept(c.lfd, c.lfd, &call));
	T_STATE(c.lfd, T_DATAXFER);
}

XS(CO, t_accept, DESCRIPTION, bound_resfd,
	"resfd may be bound before, with a qlen of zero.")
{
	T_ACCEPT_INCON(e, call);
	int fd = xt_bound(0, 0);

	T_TOK(t_accept(e.fd, fd, &call));
	T_STATE(fd, T_DATAXFER);
}

XS(CO, t_accept, DESCRIPTION, unbound_resfd,
	"The provider binds a resfd that is not bound to an address that fits.")
{
	T_ACCEPT_INCON(e, call);
	struct t_bind bound = {.qlen = 0};
	struct xt_addr at;
	int fd = xt_open(0);

	T_TOK(t_accept(e.fd, fd, &call));
	xt_netbuf(&bound.addr, &at);
	bound.addr.len = 0;
	T_TOK(t_getprotaddr(fd, &bound, NULL));
	T_GT(bound.addr.len, 0);
}

XS(CO, t_accept, DESCRIPTION, sequence_selects,
	"The sequence number says which of several indications is accepted.")
{
	struct xs_callers c;
	char in;
	int fd;

	xs_callers(&c);
	fd = xt_open(0);
	struct t_call call = {.sequence = c.seq[1]};
	T_TOK(t_accept(c.lfd, fd, &call));
	T_EVENT(c.fd[1], T_CONNECT);
	T_TOK(t_rcvconnect(c.fd[1], NULL));
	T_EQ(T_TOK(t_snd(c.fd[1], (char *)"2", 1, 0)), 1);
	T_EQ(xt_rcv_all(fd, &in, 1), 1);
	T_EQ(in, '2');
}

XS(CO, t_accept, DESCRIPTION, others_stay,
	"While other indications wait, the endpoint stays in T_INCON.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TOK(t_accept(c.lfd, xt_open(0), &call));
	T_STATE(c.lfd, T_INCON);
	call.sequence = c.seq[1];
	T_TOK(t_accept(c.lfd, xt_open(0), &call));
	T_STATE(c.lfd, T_IDLE);
}

XS(CO, t_accept, DESCRIPTION, null_address,
	"The caller's address in the call may be empty.")
{
	T_ACCEPT_INCON(e, call);

	call.addr.buf = NULL;
	call.addr.len = 0;
	T_TOK(t_accept(e.fd, xt_open(0), &call));
}

XS(CO, t_accept, DESCRIPTION, maxlens_mean_nothing,
	"The maxlen fields of the call have no meaning.")
{
	T_ACCEPT_INCON(e, call);

	call.addr.maxlen = call.opt.maxlen = call.udata.maxlen = ~0u;
	T_TOK(t_accept(e.fd, xt_open(0), &call));
}

XS(CO, t_accept, DESCRIPTION, no_user_data,
	"Without user data in the call none is sent to the caller.")
{
	T_ACCEPT_INCON(e, call);
	char buf[16];
	struct t_call got = {.udata = {.maxlen = sizeof(buf), .len = 9,
				     .buf = buf}};

	T_TOK(t_accept(e.fd, xt_open(0), &call));
	T_EVENT(e.peer, T_CONNECT);
	T_TOK(t_rcvconnect(e.peer, &got));
	T_EQ(got.udata.len, 0);
}

XS(CO, t_accept, DESCRIPTION, user_data,
	"User data in the call is sent to the caller.")
{
	T_ACCEPT_INCON(e, call);
	char buf[16];
	struct t_call got = {.udata = {.maxlen = sizeof(buf), .buf = buf}};

	xs_takes_data(xs_info(e.fd).connect);
	call.udata.buf = (char *)"data";
	call.udata.len = 4;
	T_TOK(t_accept(e.fd, xt_open(0), &call));
	T_EVENT(e.peer, T_CONNECT);
	T_TOK(t_rcvconnect(e.peer, &got));
	T_EQ(got.udata.len, 4);
	T_MEM(buf, "data", 4);
}

static t_uscalar_t
rcvbuf(int fd, int action, t_uscalar_t value)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = XTI_RCVBUF},
		.v = {value}}, r;
	struct t_optmgmt req = {.flags = action}, ret;

	memset(&r, 0, sizeof(r));
	o.h.len = sizeof(o.h) + (action == T_NEGOTIATE ? 4 : 0);
	req.opt.buf = &o;
	req.opt.len = o.h.len;
	ret.opt.buf = &r;
	ret.opt.maxlen = sizeof(r);
	T_TOK(t_optmgmt(fd, &req, &ret));
	return r.v[0];
}

XS(CO, t_accept, DESCRIPTION, no_options,
	"Without options in the call those that resfd has stay in effect.")
{
	T_ACCEPT_INCON(e, call);
	int fd = xt_open(0);
	t_uscalar_t v = rcvbuf(fd, T_NEGOTIATE, 30000);

	T_TOK(t_accept(e.fd, fd, &call));
	T_EQ(rcvbuf(fd, T_CURRENT, 0), v);
}

XS(CO, t_accept, STATES, valid,
	"fd may be in T_INCON.")
{
	xs_valid("t_accept", S(T_INCON));
}

XS(CO, t_accept, STATES, resfd,
	"A resfd that is not fd may be in T_UNBND and T_IDLE.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TOK(t_accept(c.lfd, xt_open(0), &call));
	call.sequence = c.seq[1];
	T_TOK(t_accept(c.lfd, xt_bound(0, 0), &call));
}

XS_NONE(t_accept, ERRORS, tacces,
	"Without the right to accept, or to use an option, it fails with TACCES.",
	"no provider here distinguishes rights to accept");

XS(CO, t_accept, ERRORS, tbadaddr,
	"An address that is no caller's may be checked; then it fails with TBADADDR.")
{
	T_ACCEPT_INCON(e, call);
	char odd[3] = "odd";

	call.addr.buf = odd;
	call.addr.len = sizeof(odd);
	t_errno = 0;
	if (t_accept(e.fd, xt_open(0), &call) < 0) {
		T_EQ(t_errno, TBADADDR);
		T_STATE(e.fd, T_INCON);
	}
}

XS(CO, t_accept, ERRORS, tbaddata,
	"More user data than the provider permits fails with TBADDATA.")
{
	static char data[4096];
	T_ACCEPT_INCON(e, call);

	xs_bounded(xs_info(e.fd).connect);
	call.udata.buf = data;
	call.udata.len = sizeof(data);
	T_TERR(t_accept(e.fd, xt_open(0), &call), TBADDATA);
	T_STATE(e.fd, T_INCON);
}

XS(ANY, t_accept, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_accept");
}

XS(CO, t_accept, ERRORS, tbadf_resfd,
	"A resfd that names no endpoint fails with TBADF, and the indication stays.")
{
	T_ACCEPT_INCON(e, call);

	T_TERR(t_accept(e.fd, -1, &call), TBADF);
	T_TERR(t_accept(e.fd, 777, &call), TBADF);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_accept, ERRORS, tbadopt,
	"Options of a wrong format fail with TBADOPT.")
{
	T_ACCEPT_INCON(e, call);
	struct t_opthdr oh = {.len = 999, .level = XTI_GENERIC};

	call.opt.buf = &oh;
	call.opt.len = sizeof(oh);
	T_TERR(t_accept(e.fd, xt_open(0), &call), TBADOPT);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_accept, ERRORS, tbadseq,
	"A sequence number of no waiting indication fails with TBADSEQ.")
{
	T_ACCEPT_INCON(e, call);

	call.sequence += 1000;
	T_TERR(t_accept(e.fd, xt_open(0), &call), TBADSEQ);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_accept, ERRORS, tindout,
	"fd as resfd with another indication waiting fails with TINDOUT.")
{
	struct xs_callers c;

	xs_callers(&c);
	struct t_call call = {.sequence = c.seq[0]};
	T_TERR(t_accept(c.lfd, c.lfd, &call), TINDOUT);
	T_STATE(c.lfd, T_INCON);
}

XS(CO, t_accept, ERRORS, tlook_listen,
	"An indication that has come and was not taken fails it with TLOOK.")
{
	struct t_call call = {.sequence = 0};
	struct xt_addr at;
	int lfd = xt_bound_at(1, 2, &at), a = xt_bound(1, 0);
	int b = xt_bound(1, 0);

	xt_call(a, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TOK(t_listen(lfd, &call));
	xt_call(b, &at);
	T_EVENT(lfd, T_LISTEN);
	T_TERR(t_accept(lfd, xt_open(0), &call), TLOOK);
	T_EQ(t_look(lfd), T_LISTEN);
}

XS(CO, t_accept, ERRORS, tlook_disconnect,
	"A caller's withdrawal that has come and was not taken fails it with TLOOK.")
{
	T_ACCEPT_INCON(e, call);

	if (xt->at_once)
		T_SKIP("this provider's connection exists before it is accepted");
	T_TOK(t_snddis(e.peer, NULL));
	T_EVENT(e.fd, T_DISCONNECT);
	T_TERR(t_accept(e.fd, xt_open(0), &call), TLOOK);
	T_EQ(t_look(e.fd), T_DISCONNECT);
}

XS(CL, t_accept, ERRORS, tnotsupport,
	"A provider without connections fails it with TNOTSUPPORT.")
{
	xs_notsupport("t_accept");
}

XS(CO, t_accept, ERRORS, toutstate,
	"fd in another state fails with TOUTSTATE.")
{
	xs_invalid("t_accept", S(T_INCON));
}

XS(CO, t_accept, ERRORS, toutstate_resfd,
	"A resfd that is neither unbound nor idle fails with TOUTSTATE.")
{
	T_ACCEPT_INCON(e, call);
	int fd[2];

	xt_pair(fd);
	T_TERR(t_accept(e.fd, fd[0], &call), TOUTSTATE);
	T_STATE(fd[0], T_DATAXFER);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_accept, ERRORS, tprovmismatch,
	"A resfd of another provider than fd's fails with TPROVMISMATCH.")
{
	T_ACCEPT_INCON(e, call);
	int fd = T_TOK(t_open(xt->service == T_COTS ? "/dev/ticotsord" :
		"/dev/ticots", O_RDWR, NULL));

	T_TERR(t_accept(e.fd, fd, &call), TPROVMISMATCH);
	T_STATE(e.fd, T_INCON);
	T_STATE(fd, T_UNBND);
}

XS_NONE(t_accept, ERRORS, tresaddr,
	"A provider that wants fd and resfd at one address fails with TRESADDR.",
	"no provider here wants both endpoints at one address");

XS(CO, t_accept, ERRORS, tresqlen,
	"A resfd that was bound with a qlen above zero fails with TRESQLEN.")
{
	T_ACCEPT_INCON(e, call);
	int fd = xt_bound(0, 1);

	T_TERR(t_accept(e.fd, fd, &call), TRESQLEN);
	T_STATE(e.fd, T_INCON);
	T_STATE(fd, T_IDLE);
}

XS(CO, t_accept, ERRORS, tsyserr,
	"A system error fails with TSYSERR, and errno says which.")
{
	T_ACCEPT_INCON(e, call);

	(void)call;
	T_TERR(t_accept(e.fd, xt_open(0), xs_bad()), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(e.fd, T_INCON);
}

XS(CO, t_accept, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	T_ACCEPT_INCON(e, call);
	int fd = xt_open(0);

	call.sequence++;
	T_TERR(t_accept(e.fd, fd, &call), TBADSEQ);
	call.sequence--;
	T_EQ(t_accept(e.fd, fd, &call), 0);
}

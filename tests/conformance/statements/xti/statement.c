/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * What the rows have in common: endpoints in a state, a legal call of each function.
 */
#include "statement.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

void
xs_begin(unsigned services)
{
	if (services & 1u << xt->service)
		return;
	if (xt->service == T_CLTS)
		T_SKIP("about connections; this provider sends datagrams");
	if (services == CL)
		T_SKIP("about datagrams; this provider makes connections");
	if (services == ORD)
		T_SKIP("about orderly release, which this provider has not");
	T_SKIP("about providers without orderly release");
}

/* ------------------------------------------------------------------- calls */

/* Arguments that are legal for each call. */
struct args {
	char buf[64], from[256];
	int flags;
	struct t_iovec iov[2];
	struct t_call call, got;
	struct t_bind bound, peer;
	struct t_unitdata out, in;
	struct t_info info;
	struct t_optmgmt req, ret;
	struct t_opthdr opt;
	char answer[1024];
};

static void
legal(struct args *a, struct xt_end *e)
{
	memset(a, 0, sizeof(*a));
	a->iov[0].iov_base = a->buf;
	a->iov[0].iov_len = 3;
	a->iov[1].iov_base = a->buf + 3;
	a->iov[1].iov_len = 4;
	xt_netbuf(&a->call.addr, &e->addr);
	a->call.sequence = e->seq;
	a->out.addr = a->call.addr;
	a->out.udata.buf = a->buf;
	a->out.udata.len = sizeof(a->buf);
	a->in.udata.buf = a->buf;
	a->in.udata.maxlen = sizeof(a->buf);
	a->in.addr.buf = a->from;
	a->in.addr.maxlen = sizeof(a->from);
	a->opt.len = sizeof(a->opt);
	a->opt.level = XTI_GENERIC;
	a->opt.name = T_ALLOPT;
	a->req.opt.buf = &a->opt;
	a->req.opt.len = sizeof(a->opt);
	a->req.flags = T_CURRENT;
	a->ret.opt.buf = a->answer;
	a->ret.opt.maxlen = sizeof(a->answer);
}

#define CALL(name, expr) \
	static int \
	call_##name(struct xt_end *e, struct args *a T_UNUSED) \
	{ \
		return (expr); \
	}

static int
alloc_and_free(int fd)
{
	void *p = t_alloc(fd, T_BIND, T_ALL);

	return p == NULL ? -1 : t_free(p, T_BIND);
}

/* An endpoint to accept on, where there may be one. */
static int
acceptor(struct xt_end *e)
{
	return e->extra < 0 ? e->fd : xt_open(1);
}

CALL(t_accept, t_accept(e->fd, acceptor(e), &a->call))
CALL(t_alloc, alloc_and_free(e->fd))
CALL(t_bind, t_bind(e->fd, NULL, NULL))
CALL(t_close, t_close(e->fd))
CALL(t_connect, t_connect(e->fd, &a->call, NULL))
CALL(t_getinfo, t_getinfo(e->fd, &a->info))
CALL(t_getprotaddr, t_getprotaddr(e->fd, &a->bound, &a->peer))
CALL(t_getstate, t_getstate(e->fd))
CALL(t_listen, t_listen(e->fd, &a->got))
CALL(t_look, t_look(e->fd))
CALL(t_optmgmt, t_optmgmt(e->fd, &a->req, &a->ret))
CALL(t_rcv, t_rcv(e->fd, a->buf, sizeof(a->buf), &a->flags))
CALL(t_rcvconnect, t_rcvconnect(e->fd, &a->got))
CALL(t_rcvdis, t_rcvdis(e->fd, NULL))
CALL(t_rcvrel, t_rcvrel(e->fd))
CALL(t_rcvreldata, t_rcvreldata(e->fd, NULL))
CALL(t_rcvudata, t_rcvudata(e->fd, &a->in, &a->flags))
CALL(t_rcvuderr, t_rcvuderr(e->fd, NULL))
CALL(t_rcvv, t_rcvv(e->fd, a->iov, 2, &a->flags))
CALL(t_rcvvudata, t_rcvvudata(e->fd, &a->in, a->iov, 2, &a->flags))
CALL(t_snd, t_snd(e->fd, a->buf, sizeof(a->buf), 0))
CALL(t_snddis, t_snddis(e->fd, &a->call))
CALL(t_sndrel, t_sndrel(e->fd))
CALL(t_sndreldata, t_sndreldata(e->fd, NULL))
CALL(t_sndudata, t_sndudata(e->fd, &a->out))
CALL(t_sndv, t_sndv(e->fd, a->iov, 2, 0))
CALL(t_sndvudata, t_sndvudata(e->fd, &a->out, a->iov, 2))
CALL(t_sync, t_sync(e->fd))
CALL(t_unbind, t_unbind(e->fd))

static const struct {
	const char *name;
	int (*call)(struct xt_end *e, struct args *a);
} calls[] = {
#define ROW(name) {#name, call_##name}
	ROW(t_accept), ROW(t_alloc), ROW(t_bind), ROW(t_close), ROW(t_connect),
	ROW(t_getinfo), ROW(t_getprotaddr), ROW(t_getstate), ROW(t_listen),
	ROW(t_look), ROW(t_optmgmt), ROW(t_rcv), ROW(t_rcvconnect),
	ROW(t_rcvdis), ROW(t_rcvrel), ROW(t_rcvreldata), ROW(t_rcvudata),
	ROW(t_rcvuderr), ROW(t_rcvv), ROW(t_rcvvudata), ROW(t_snd),
	ROW(t_snddis), ROW(t_sndrel), ROW(t_sndreldata), ROW(t_sndudata),
	ROW(t_sndv), ROW(t_sndvudata), ROW(t_sync), ROW(t_unbind),
#undef ROW
};

int
xs_call(const char *name, struct xt_end *e)
{
	struct args a;

	legal(&a, e);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].call(e, &a);
	T_FAIL("no call %s", name);
}

/* ------------------------------------------------------------------ states */

void
xs_close(struct xt_end *e)
{
	if (e->fd >= 0)
		(void)t_close(e->fd);
	if (e->peer >= 0)
		(void)t_close(e->peer);
	if (e->extra >= 0)
		(void)t_close(e->extra);
}

/* The states that an endpoint of this provider can be in. */
static unsigned
possible(void)
{
	switch (xt->service) {
	case T_CLTS:
		return S(T_UNBND) | S(T_IDLE);
	case T_COTS:
		return XS_ALL & ~(S(T_OUTREL) | S(T_INREL));
	default:
		return XS_ALL;
	}
}

/* The call in each state of @states: whether it is out of state. */
static void
in_each(const char *name, unsigned states, int want)
{
	struct xt_end e;
	int ret;

	for (int s = T_UNBND; s <= T_INREL; s++) {
		if ((states & possible() & S(s)) == 0)
			continue;
		xt_make(&e, s);
		t_errno = 0;
		ret = xs_call(name, &e);
		if ((ret == -1 && t_errno == TOUTSTATE) != want)
			T_FAIL("%s in %s: %d, %s", name, xt_state_name(s), ret,
				t_strerror(t_errno));
		if (want)
			T_STATE(e.fd, s);
		if (strcmp(name, "t_close") == 0)
			e.fd = -1;
		xs_close(&e);
	}
}

void
xs_valid(const char *name, unsigned states)
{
	in_each(name, states, 0);
}

void
xs_invalid(const char *name, unsigned states)
{
	in_each(name, XS_ALL & ~states, 1);
}

void
xs_badf(const char *name)
{
	struct xt_end e = {.fd = -1, .peer = -1, .extra = -1};
	int p[2], closed = xt_open(0);

	T_OK(pipe(p));
	T_TOK(t_close(closed));
	const int fds[] = {-1, 777, p[0], closed};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		e.fd = fds[i];
		T_TERR(xs_call(name, &e), TBADF);
	}
}

void
xs_notsupport(const char *name)
{
	struct xt_end e;

	for (int s = T_UNBND; s <= T_INREL; s++) {
		if ((possible() & S(s)) == 0)
			continue;
		xt_make(&e, s);
		T_TERR(xs_call(name, &e), TNOTSUPPORT);
		T_STATE(e.fd, s);
		xs_close(&e);
	}
}

/* ------------------------------------------------------------------- others */

struct t_info
xs_info(int fd)
{
	struct t_info ti;

	T_TOK(t_getinfo(fd, &ti));
	return ti;
}

void
xs_takes_data(t_scalar_t size)
{
	if (size != T_INFINITE && size < 4)
		T_SKIP("this provider takes no such data");
}

void
xs_bounded(t_scalar_t size)
{
	if (size == T_INFINITE)
		T_SKIP("this provider takes such data of any size");
}

void *
xs_bad(void)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);

	T_NE(bad, MAP_FAILED);
	return bad;
}

static void
nothing(int sig T_UNUSED)
{
}

void
xs_alarms(void)
{
	struct itimerval it = {{0, 20000}, {0, 20000}};
	struct sigaction sa = {.sa_handler = nothing};

	T_OK(sigaction(SIGALRM, &sa, NULL));
	T_OK(setitimer(ITIMER_REAL, &it, NULL));
}

void
xs_two(struct xs_two *w, int nonblock)
{
	for (int i = 0; i < 2; i++)
		w->fd[i] = xt_bound_at(nonblock, 0, &w->at[i]);
}

int
xs_send(struct xs_two *w, int from, const void *p, unsigned n)
{
	struct t_unitdata ud = {
		.udata = {.len = n, .buf = (void *)(uintptr_t)p}};

	xt_netbuf(&ud.addr, &w->at[!from]);
	return t_sndudata(w->fd[from], &ud);
}

int
xs_receive(struct xs_two *w, int to, void *p, unsigned n, int *flags)
{
	struct t_unitdata ud = {.udata = {.maxlen = n, .buf = p}};
	int fl;

	if (t_rcvudata(w->fd[to], &ud, flags != NULL ? flags : &fl) < 0)
		return -1;
	return (int)ud.udata.len;
}

void
xs_uderr(struct xs_two *w)
{
	if (xt->inet)
		T_SKIP("an unbound port's ICMP is not told to XTI");
	xs_two(w, 0);
	xt_nobody(&w->at[1]);
	T_TOK(xs_send(w, 0, "lost", 4));
	T_EVENT(w->fd[0], T_UDERR);
}

void
xs_callers(struct xs_callers *c)
{
	struct t_call call = {.sequence = 0};

	c->lfd = xt_bound_at(1, 2, &c->at);
	for (int i = 0; i < 2; i++) {
		c->fd[i] = xt_bound(1, 0);
		xt_call(c->fd[i], &c->at);
		T_EVENT(c->lfd, T_LISTEN);
		T_TOK(t_listen(c->lfd, &call));
		c->seq[i] = call.sequence;
	}
}

size_t
xs_full(int fd[2])
{
	static char out[16384];
	size_t n = 0;
	int got;

	xt_pair(fd);
	xt_block(fd[0], 0);
	t_errno = 0;
	while ((got = t_snd(fd[0], out, sizeof(out), 0)) > 0)
		n += (size_t)got;
	T_EQ(t_errno, TFLOW);
	return n;
}

void
xs_drain(int fd, size_t n)
{
	static char in[65536];

	while (n > 0)
		n -= xt_rcv_all(fd, in, n < sizeof(in) ? n : sizeof(in));
}

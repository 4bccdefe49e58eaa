/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Every call in every state (states.tab), every call on what is no endpoint,
 * every call that is given a null pointer.
 */
#include "xt.h"

#include <stdio.h>
#include <unistd.h>

enum call {
	C_t_accept, C_t_accept_self, C_t_alloc, C_t_bind, C_t_close,
	C_t_connect, C_t_getinfo, C_t_getprotaddr, C_t_getstate, C_t_listen,
	C_t_look, C_t_optmgmt, C_t_rcv, C_t_rcvconnect, C_t_rcvdis,
	C_t_rcvrel, C_t_rcvreldata, C_t_rcvudata, C_t_rcvuderr, C_t_rcvv,
	C_t_rcvvudata, C_t_snd, C_t_snddis, C_t_sndrel, C_t_sndreldata,
	C_t_sndudata, C_t_sndv, C_t_sndvudata, C_t_sync, C_t_unbind,
	C_t_sndopt, C_t_sndvopt, C_t_rcvopt, C_t_rcvvopt, C_t_addleaf,
	C_t_removeleaf, C_t_rcvleafchange, NCALLS
};

static const char *const call_name[NCALLS] = {
	"t_accept", "t_accept_self", "t_alloc", "t_bind", "t_close",
	"t_connect", "t_getinfo", "t_getprotaddr", "t_getstate", "t_listen",
	"t_look", "t_optmgmt", "t_rcv", "t_rcvconnect", "t_rcvdis",
	"t_rcvrel", "t_rcvreldata", "t_rcvudata", "t_rcvuderr", "t_rcvv",
	"t_rcvvudata", "t_snd", "t_snddis", "t_sndrel", "t_sndreldata",
	"t_sndudata", "t_sndv", "t_sndvudata", "t_sync", "t_unbind",
	"t_sndopt", "t_sndvopt", "t_rcvopt", "t_rcvvopt", "t_addleaf",
	"t_removeleaf", "t_rcvleafchange",
};

/* Everything a call may need, legal in itself. */
struct args {
	char buf[64], addr[256], from[256];
	int flags;
	struct t_iovec iov[2];
	struct t_call call, rcall;
	struct t_bind bind, rbind;
	struct t_discon dis;
	struct t_unitdata ud, rud;
	struct t_uderr uderr;
	struct t_info info;
	struct t_optmgmt opt, ropt;
	struct {
		struct t_opthdr h;
		t_uscalar_t v;
	} o;
	char ro[256];
	struct t_leaf_status leaf;
};

static void
legal(struct args *a, const struct xt_end *e)
{
	memset(a, 0, sizeof(*a));
	memcpy(a->addr, e->addr.buf, e->addr.len);
	a->iov[0].iov_base = a->buf;
	a->iov[0].iov_len = 3;
	a->iov[1].iov_base = a->buf + 3;
	a->iov[1].iov_len = 4;
	a->call.addr.buf = a->ud.addr.buf = a->addr;
	a->call.addr.len = a->ud.addr.len = e->addr.len;
	a->call.sequence = e->seq;
	a->ud.udata.buf = a->buf;
	a->ud.udata.len = sizeof(a->buf);
	a->rud.udata.buf = a->buf;
	a->rud.udata.maxlen = sizeof(a->buf);
	a->rud.addr.buf = a->from;
	a->rud.addr.maxlen = sizeof(a->from);
	a->o.h.len = sizeof(a->o.h);
	a->o.h.level = XTI_GENERIC;
	a->o.h.name = T_ALLOPT;
	a->opt.opt.buf = &a->o;
	a->opt.opt.len = sizeof(a->o.h);
	a->opt.flags = T_CURRENT;
	a->ropt.opt.buf = a->ro;
	a->ropt.opt.maxlen = sizeof(a->ro);
}

/* An acceptor, for t_accept on what may listen. */
static int
acceptor(const struct xt_end *e)
{
	return e->peer >= 0 || e->extra >= 0 ? xt_open(1) : e->fd;
}

static int
do_call(enum call c, struct xt_end *e, struct args *a)
{
	void *p;
	int fd = e->fd;

	switch (c) {
	case C_t_accept:
		return t_accept(fd, acceptor(e), &a->call);
	case C_t_accept_self:
		return t_accept(fd, fd, &a->call);
	case C_t_alloc:
		p = t_alloc(fd, T_CALL, T_ALL);
		if (p == NULL)
			return -1;
		return t_free(p, T_CALL);
	case C_t_bind:
		return t_bind(fd, NULL, NULL);
	case C_t_close:
		return t_close(fd);
	case C_t_connect:
		return t_connect(fd, &a->call, &a->rcall);
	case C_t_getinfo:
		return t_getinfo(fd, &a->info);
	case C_t_getprotaddr:
		return t_getprotaddr(fd, &a->bind, &a->rbind);
	case C_t_getstate:
		return t_getstate(fd);
	case C_t_listen:
		return t_listen(fd, &a->rcall);
	case C_t_look:
		return t_look(fd);
	case C_t_optmgmt:
		return t_optmgmt(fd, &a->opt, &a->ropt);
	case C_t_rcv:
		return t_rcv(fd, a->buf, sizeof(a->buf), &a->flags);
	case C_t_rcvconnect:
		return t_rcvconnect(fd, &a->rcall);
	case C_t_rcvdis:
		return t_rcvdis(fd, &a->dis);
	case C_t_rcvrel:
		return t_rcvrel(fd);
	case C_t_rcvreldata:
		return t_rcvreldata(fd, &a->dis);
	case C_t_rcvudata:
		return t_rcvudata(fd, &a->rud, &a->flags);
	case C_t_rcvuderr:
		return t_rcvuderr(fd, &a->uderr);
	case C_t_rcvv:
		return t_rcvv(fd, a->iov, 2, &a->flags);
	case C_t_rcvvudata:
		return t_rcvvudata(fd, &a->rud, a->iov, 2, &a->flags);
	case C_t_snd:
		return t_snd(fd, a->buf, sizeof(a->buf), 0);
	case C_t_snddis:
		return t_snddis(fd, &a->call);
	case C_t_sndrel:
		return t_sndrel(fd);
	case C_t_sndreldata:
		return t_sndreldata(fd, &a->dis);
	case C_t_sndudata:
		return t_sndudata(fd, &a->ud);
	case C_t_sndv:
		return t_sndv(fd, a->iov, 2, 0);
	case C_t_sndvudata:
		return t_sndvudata(fd, &a->ud, a->iov, 2);
	case C_t_sync:
		return t_sync(fd);
	case C_t_unbind:
		return t_unbind(fd);
	case C_t_sndopt:
		return t_sndopt(fd, &a->opt, a->buf, 1, 0);
	case C_t_sndvopt:
		return t_sndvopt(fd, &a->opt, a->iov, 2, 0);
	case C_t_rcvopt:
		return t_rcvopt(fd, &a->ropt, a->buf, 1, &a->flags);
	case C_t_rcvvopt:
		return t_rcvvopt(fd, &a->ropt, a->iov, 2, &a->flags);
	case C_t_addleaf:
		return t_addleaf(fd, 1, &a->call.addr);
	case C_t_removeleaf:
		return t_removeleaf(fd, 1, 0);
	case C_t_rcvleafchange:
		return t_rcvleafchange(fd, &a->leaf);
	default:
		T_FAIL("no such call");
	}
}

/* ---------------------------------------------------------------- the table */

static const struct row {
	int service;
	enum call call;
	int state;
	int err, after;		/* one outcome */
	int err2, after2;	/* or another */
	const char *name;
} rows[] = {
#define ROW(service, call, state, err, after, err2, after2, name) \
	{service, C_##call, state, err, after, err2, after2, name},
#include "xti-states.h"
#undef ROW
};
#define NROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *
row_of(const char *name)
{
	for (size_t i = 0; i < NROWS; i++) {
		const char *p = rows[i].name, *q = name;

		if (rows[i].service != xt->service)
			continue;
		/* the harness shows names with spaces */
		while (*p != '\0' && (*p == *q || (*p == '_' && *q == ' ')))
			p++, q++;
		if (*p == '\0' && *q == '\0')
			return &rows[i];
	}
	T_FAIL("no row %s", name);
}

static void
run_row(struct t *t)
{
	const struct row *r = row_of(t->name);
	int ret, state, terr;
	struct xt_end e;
	struct args a;

	xt_make(&e, r->state);
	legal(&a, &e);
	t_errno = 0;
	ret = do_call(r->call, &e, &a);
	terr = ret == -1 ? t_errno : 0;
	state = t_getstate(e.fd);
	if (state < 0) {
		T_EQ(t_errno, TBADF);
		state = T_UNINIT;
	}
	if ((terr == r->err && state == r->after) ||
	    (terr == r->err2 && state == r->after2))
		return;
	T_FAIL("%s when %s: %d \"%s\" (%s), then %s; not \"%s\", %s",
		call_name[r->call], xt_state_name(r->state), ret,
		t_strerror(terr), t_errno_name(errno), xt_state_name(state),
		t_strerror(r->err), xt_state_name(r->after));
}

T_CONSTRUCTOR static void
add_rows(void)
{
	static struct t_case c[NROWS];

	for (size_t i = 0; i < NROWS; i++) {
		c[i].name = rows[i].name;
		c[i].run = run_row;
		xt_case_add(1u << rows[i].service, &c[i]);
	}
}

/* --------------------------------------------------------- no endpoint at all */

/* XNS 5.2, each function: TBADF, whatever else is wrong. */
static void
bad_everywhere(int fd)
{
	struct xt_end e = {.fd = fd, .peer = -1, .extra = -1};
	struct args a;

	for (int c = 0; c < NCALLS; c++) {
		legal(&a, &e);
		t_errno = 0;
		if (do_call((enum call)c, &e, &a) != -1 || t_errno != TBADF)
			T_FAIL("%s: \"%s\"", call_name[c],
				t_strerror(t_errno));
	}
}

/* One case for each call: names are made here. */
static char bad_names[NCALLS][48];
static void
run_bad(struct t *t)
{
	struct xt_end e = {.fd = 777, .peer = -1, .extra = -1};
	int p[2], file = open("/dev/null", O_RDWR), closed;
	struct args a;
	char want[64];
	int c;

	for (c = 0; c < NCALLS; c++) {
		snprintf(want, sizeof(want), "%s", bad_names[c]);
		for (char *s = want; *s != '\0'; s++)
			if (*s == '_')
				*s = ' ';
		if (strcmp(want, t->name) == 0 ||
		    strcmp(bad_names[c], t->name) == 0)
			break;
	}
	T_LT(c, NCALLS);
	T_OK(pipe(p));
	closed = xt_open(0);
	T_TOK(t_close(closed));
	const int fds[] = {-1, 777, 100000000, file, p[0], closed};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		e.fd = fds[i];
		legal(&a, &e);
		T_TERR(do_call((enum call)c, &e, &a), TBADF);
	}
}

T_CONSTRUCTOR static void
add_bad(void)
{
	static struct t_case c[NCALLS];

	for (int i = 0; i < NCALLS; i++) {
		snprintf(bad_names[i], sizeof(bad_names[i]),
			"%s_of_no_endpoint_is_TBADF", call_name[i]);
		c[i].name = bad_names[i];
		c[i].run = run_bad;
		xt_case_add(ANY, &c[i]);
	}
}

XT_CASE(ANY, nothing_is_an_endpoint_after_a_plain_close)
{
	int fd = xt_bound(0, 0);

	T_OK(close(fd));
	bad_everywhere(fd);
}

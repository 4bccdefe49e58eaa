/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Pointers to structures that are none: each call, with each argument that is
 * a pointer to a structure, a vector or a number, is given memory that is not
 * there, memory of which the end is not there, memory that cannot be written,
 * and, where XTI wants a structure, NULL.  It is TSYSERR with EFAULT, nothing
 * is lost, and the endpoint is in the state in which it was.
 *
 * What is in the structures - netbufs to bad memory - is error.c's.
 */
#include "xt.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN 0	/* is read */
#define OUT 1	/* is written, too */
#define OPTIONAL 2 /* may be NULL */
#define TLI 4	/* as <tiuser.h> has it */
#define PAGE 4096

struct at {
	struct xt_end e;
	struct t_bind bind;
	struct t_call call;
	struct t_unitdata ud;
	struct t_optmgmt om;
	struct t_iovec iov;
	struct t_opthdr opt;
	struct xt_addr addr;
	char buf[64];
	int flags;
};

extern int _tli_bind(int fd, const struct t_bind *req, struct t_bind *ret);
extern int _tli_optmgmt(int fd, const struct t_optmgmt *req,
	struct t_optmgmt *ret);
extern int _tli_open(const char *path, int oflag, struct t_info *info);
extern int t_getname(int fd, struct netbuf *name, int type);

/* name, services, state, how, size, the call with @p for the argument */
#define CALLS(X) \
X(open_info, ANY, T_UNBND, OUT | OPTIONAL, sizeof(struct t_info), \
	t_open(xt->device, O_RDWR, p)) \
X(tli_open_info, ANY, T_UNBND, OUT | OPTIONAL, sizeof(struct t_info), \
	_tli_open(xt->device, O_RDWR, p)) \
X(getinfo, ANY, T_IDLE, OUT | OPTIONAL, sizeof(struct t_info), \
	t_getinfo(a->e.fd, p)) \
X(bind_req, ANY, T_UNBND, IN | OPTIONAL, sizeof(struct t_bind), \
	t_bind(a->e.fd, p, NULL)) \
X(bind_ret, ANY, T_UNBND, OUT | OPTIONAL, sizeof(struct t_bind), \
	t_bind(a->e.fd, NULL, p)) \
X(tli_bind_req, ANY, T_UNBND, IN | OPTIONAL, sizeof(struct t_bind), \
	_tli_bind(a->e.fd, p, NULL)) \
X(tli_bind_ret, ANY, T_UNBND, OUT | OPTIONAL, sizeof(struct t_bind), \
	_tli_bind(a->e.fd, NULL, p)) \
X(getprotaddr_bound, ANY, T_IDLE, OUT | OPTIONAL, sizeof(struct t_bind), \
	t_getprotaddr(a->e.fd, p, NULL)) \
X(getprotaddr_peer, ANY, T_IDLE, OUT | OPTIONAL, sizeof(struct t_bind), \
	t_getprotaddr(a->e.fd, NULL, p)) \
X(getname, ANY, T_IDLE, OUT, sizeof(struct netbuf), \
	t_getname(a->e.fd, p, 0)) \
X(optmgmt_req, ANY, T_IDLE, IN, sizeof(struct t_optmgmt), \
	t_optmgmt(a->e.fd, p, &a->om)) \
X(optmgmt_ret, ANY, T_IDLE, OUT, sizeof(struct t_optmgmt), \
	t_optmgmt(a->e.fd, &a->om, p)) \
X(tli_optmgmt_req, ANY, T_IDLE, IN, sizeof(struct t_optmgmt), \
	_tli_optmgmt(a->e.fd, p, &a->om)) \
X(tli_optmgmt_ret, ANY, T_IDLE, OUT, sizeof(struct t_optmgmt), \
	_tli_optmgmt(a->e.fd, &a->om, p)) \
X(connect_sndcall, CO, T_IDLE, IN, sizeof(struct t_call), \
	t_connect(a->e.fd, p, NULL)) \
X(connect_rcvcall, CO, T_IDLE, OUT | OPTIONAL, sizeof(struct t_call), \
	t_connect(a->e.fd, &a->call, p)) \
X(rcvconnect, CO, T_OUTCON, OUT | OPTIONAL, sizeof(struct t_call), \
	t_rcvconnect(a->e.fd, p)) \
X(listen, CO, T_INCON, OUT, sizeof(struct t_call), \
	t_listen(a->e.fd, p)) \
X(accept, CO, T_INCON, IN, sizeof(struct t_call), \
	t_accept(a->e.fd, a->e.fd, p)) \
X(snddis, CO, T_DATAXFER, IN | OPTIONAL, sizeof(struct t_call), \
	t_snddis(a->e.fd, p)) \
X(snddis_incon, CO, T_INCON, IN | OPTIONAL, sizeof(struct t_call), \
	t_snddis(a->e.fd, p)) \
X(rcvdis, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(struct t_discon), \
	t_rcvdis(a->e.fd, p)) \
X(rcv_flags, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(int), \
	t_rcv(a->e.fd, a->buf, sizeof(a->buf), p)) \
X(sndv, CO, T_DATAXFER, IN, sizeof(struct t_iovec), \
	t_sndv(a->e.fd, p, 1, 0)) \
X(rcvv_iov, CO, T_DATAXFER, IN, sizeof(struct t_iovec), \
	t_rcvv(a->e.fd, p, 1, &a->flags)) \
X(rcvv_flags, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(int), \
	t_rcvv(a->e.fd, &a->iov, 1, p)) \
X(sndopt, CO, T_DATAXFER, IN | OPTIONAL, sizeof(struct t_optmgmt), \
	t_sndopt(a->e.fd, p, a->buf, 1, 0)) \
X(sndvopt_opt, CO, T_DATAXFER, IN | OPTIONAL, sizeof(struct t_optmgmt), \
	t_sndvopt(a->e.fd, p, &a->iov, 1, 0)) \
X(sndvopt_iov, CO, T_DATAXFER, IN, sizeof(struct t_iovec), \
	t_sndvopt(a->e.fd, NULL, p, 1, 0)) \
X(rcvopt_opt, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(struct t_optmgmt), \
	t_rcvopt(a->e.fd, p, a->buf, 1, &a->flags)) \
X(rcvopt_flags, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(int), \
	t_rcvopt(a->e.fd, &a->om, a->buf, 1, p)) \
X(rcvvopt_opt, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(struct t_optmgmt), \
	t_rcvvopt(a->e.fd, p, &a->iov, 1, &a->flags)) \
X(rcvvopt_iov, CO, T_DATAXFER, IN, sizeof(struct t_iovec), \
	t_rcvvopt(a->e.fd, &a->om, p, 1, &a->flags)) \
X(rcvvopt_flags, CO, T_DATAXFER, OUT | OPTIONAL, sizeof(int), \
	t_rcvvopt(a->e.fd, &a->om, &a->iov, 1, p)) \
X(sndudata, CL, T_IDLE, IN, sizeof(struct t_unitdata), \
	t_sndudata(a->e.fd, p)) \
X(sndvudata_unitdata, CL, T_IDLE, IN, sizeof(struct t_unitdata), \
	t_sndvudata(a->e.fd, p, &a->iov, 1)) \
X(sndvudata_iov, CL, T_IDLE, IN, sizeof(struct t_iovec), \
	t_sndvudata(a->e.fd, &a->ud, p, 1)) \
X(rcvudata_unitdata, CL, T_IDLE, OUT, sizeof(struct t_unitdata), \
	t_rcvudata(a->e.fd, p, &a->flags)) \
X(rcvudata_flags, CL, T_IDLE, OUT | OPTIONAL, sizeof(int), \
	t_rcvudata(a->e.fd, &a->ud, p)) \
X(rcvvudata_unitdata, CL, T_IDLE, OUT, sizeof(struct t_unitdata), \
	t_rcvvudata(a->e.fd, p, &a->iov, 1, &a->flags)) \
X(rcvvudata_iov, CL, T_IDLE, IN, sizeof(struct t_iovec), \
	t_rcvvudata(a->e.fd, &a->ud, p, 1, &a->flags)) \
X(rcvvudata_flags, CL, T_IDLE, OUT | OPTIONAL, sizeof(int), \
	t_rcvvudata(a->e.fd, &a->ud, &a->iov, 1, p)) \
X(rcvuderr, CL, T_IDLE, OUT | OPTIONAL, sizeof(struct t_uderr), \
	t_rcvuderr(a->e.fd, p))

#define FUNCTION(name, services, state, how, size, call) \
	static int \
	call_##name(struct at *a, void *p) \
	{ \
		(void)a; \
		return call; \
	}
CALLS(FUNCTION)

static const struct fault {
	const char *name;
	unsigned services;
	int state, how;
	size_t size;
	int (*call)(struct at *a, void *p);
} faults[] = {
#define ROW(name, services, state, how, size, call) \
	{#name, services, state, how, size, call_##name},
CALLS(ROW)
};
#define NFAULTS (sizeof(faults) / sizeof(faults[0]))

/* Three pages: to be written and read, to be read, and unmapped. */
static char *
pages(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	T_NE(p, MAP_FAILED);
	T_OK(mprotect(p + PAGE, PAGE, PROT_READ));
	T_OK(mprotect(p + 2 * PAGE, PAGE, PROT_NONE));
	return p;
}

static void
prepare(struct at *a, const struct fault *f)
{
	memset(a, 0, sizeof(*a));
	xt_make(&a->e, f->state);
	xt_netbuf(&a->call.addr, &a->e.addr);
	a->call.sequence = a->e.seq;
	a->opt = (struct t_opthdr){.len = sizeof(a->opt),
		.level = XTI_GENERIC, .name = XTI_DEBUG};
	a->om.opt = (struct netbuf){.len = sizeof(a->opt),
		.maxlen = sizeof(a->opt), .buf = &a->opt};
	a->om.flags = T_DEFAULT;
	xt_netbuf(&a->ud.addr, &a->addr);
	a->ud.udata = (struct netbuf){.len = 1, .maxlen = sizeof(a->buf),
		.buf = a->buf};
	if (xt->service == T_CLTS) {
		xt_netbuf(&a->ud.addr, &a->e.addr);
		a->ud.addr.len = a->e.addr.len;
	}
	a->iov = (struct t_iovec){a->buf, sizeof(a->buf)};
}

static void
check(struct at *a, const struct fault *f, void *p)
{
	T_TERR(f->call(a, p), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(a->e.fd, f->state);
}

/* Open descriptors, the library's among them. */
static int
files(void)
{
	int n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += syscall(SYS_fcntl, fd, F_GETFD) != -1;
	return n;
}

/* A socket that streamsd has closed for us goes with the next use. */
static int
are_back(struct t *t, int before)
{
	uint64_t end = t_now_ns() + 1000000000u * t_scale();

	do {
		T_TOK(t_close(xt_open(0)));
		if (files() <= before)
			return 1;
		t_pause();
	} while (t_now_ns() < end);
	return 0;
}

static void
check_all(struct t *t, struct at *a, const struct fault *f, char *p)
{
	check(a, f, p + 2 * PAGE);
	check(a, f, (void *)(uintptr_t)8);
	/* its beginning is there, or all but its end */
	for (size_t off = 8; off < f->size; off += 8) {
		char *q = p + 2 * PAGE - off;

		if (f->how & OUT)
			T_OK(mprotect(p + PAGE, PAGE, PROT_READ | PROT_WRITE));
		check(a, f, q);
		T_OK(mprotect(p + PAGE, PAGE, PROT_READ));
	}
	if (f->how & OUT) {
		check(a, f, p + PAGE);
		/* a number begins where it can be written, or does not at all;
		 * the last thing of a structure may only be read */
		if (f->size > 16)
			check(a, f, p + PAGE - 8 - (f->size > 24 ? 8 : 0));
	}
	if ((f->how & OPTIONAL) == 0)
		check(a, f, NULL);
}

static void
run_fault(struct t *t)
{
	const struct fault *f = NULL;
	char want[64], *s, *p = pages();
	struct at a;
	int before, rounds = 0;

	for (size_t i = 0; i < NFAULTS; i++) {
		snprintf(want, sizeof(want), "bad pointer %s", faults[i].name);
		for (s = want; *s != '\0'; s++)
			if (*s == '_')
				*s = ' ';
		if (strcmp(want, t->name) == 0)
			f = &faults[i];
	}
	T_NOTNULL(f);
	prepare(&a, f);
	T_TOK(t_close(xt_open(0))); /* what the library opens once */
	/* ... or when streamsd has come: what is lost is lost each time */
	do {
		T_LT(rounds++, 3);
		before = files();
		check_all(t, &a, f, p);
	} while (!are_back(t, before));
}

T_CONSTRUCTOR static void
add_faults(void)
{
	static char names[NFAULTS][48];
	static struct t_case c[NFAULTS];

	for (size_t i = 0; i < NFAULTS; i++) {
		snprintf(names[i], sizeof(names[i]), "bad_pointer_%s",
			faults[i].name);
		c[i].name = names[i];
		c[i].run = run_fault;
		xt_case_add(faults[i].services, &c[i]);
	}
}

/* ------------------------------------------------------- nothing is lost by it */

XT_CASE(CO, a_bad_place_for_flags_loses_no_data)
{
	int fd[2], flags = 99, more;
	char buf[8], *p = pages();

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"data", 4, 0)), 4);
	T_EVENT(fd[1], T_DATA);
	T_TERR(t_rcv(fd[1], buf, sizeof(buf), (int *)(void *)(p + PAGE)),
		TSYSERR);
	T_EQ(errno, EFAULT);
	struct t_iovec iov = {buf, sizeof(buf)};
	T_TERR(t_rcvv(fd[1], &iov, 1, (int *)(void *)(p + PAGE)), TSYSERR);
	T_EQ(errno, EFAULT);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 2, &flags)), 2);
	T_EQ(flags & T_EXPEDITED, 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf + 2, 6, &more)), 2);
	T_MEM(buf, "data", 4);
}

XT_CASE(CL, a_bad_place_for_a_datagram_loses_none)
{
	char buf[128], *p = pages();
	struct t_unitdata ud = {.udata = {.len = 4, .buf = (char *)"data"}};
	struct t_unitdata *bad = (struct t_unitdata *)(void *)(p + PAGE);
	struct xt_addr at[2];
	int from, to, flags = 0;

	if (xt->raw)
		T_SKIP("everybody's datagrams come");
	from = xt_bound_at(0, 0, &at[0]);
	to = xt_bound_at(0, 0, &at[1]);
	xt_netbuf(&ud.addr, &at[1]);
	T_TOK(t_sndudata(from, &ud));
	T_EVENT(to, T_DATA);
	ud = (struct t_unitdata){.udata = {.maxlen = sizeof(buf), .buf = buf}};
	T_TERR(t_rcvudata(to, bad, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TERR(t_rcvudata(to, &ud, (int *)(void *)(p + PAGE)), TSYSERR);
	T_EQ(errno, EFAULT);
	T_TOK(t_rcvudata(to, &ud, &flags));
	T_EQ(ud.udata.len, 4);
	T_MEM(buf, "data", 4);
}

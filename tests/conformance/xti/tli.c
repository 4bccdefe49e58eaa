/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * TLI: <tiuser.h> where it is not XTI.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tiuser.h>

/* Programs of its time declare these themselves. */
extern char *t_errlist[];
extern int t_nerr;

/* Names that XTI and the harness both have. */
#undef T_NULL
#undef T_UNUSED

#include "t.h"

/* xt.h is XTI's: what is needed of it. */
struct xt_target {
	const char *name;
	const char *device;
	int service;
};
extern const struct xt_target *xt;
void xt_case_add(unsigned services, struct t_case *c);

#define CL (1u << T_CLTS)
#define ANY (1u << T_COTS | 1u << T_COTS_ORD | CL)
#define TLI_CASE(services_, name_) \
	static void xt_run_##name_(struct t *t); \
	T_CONSTRUCTOR static void \
	xt_add_##name_(void) \
	{ \
		static struct t_case c = {#name_, xt_run_##name_, 0, NULL}; \
\
		xt_case_add(services_, &c); \
	} \
	static void \
	xt_run_##name_(struct t *t T_UNUSED)

static int
open_it(int flags)
{
	int fd;

	if (strstr(xt->name, "rawip") != NULL)
		t_need_raw();
	fd = t_open(xt->device, flags, NULL);
	if (fd < 0 && t_errno == TSYSERR)
		T_SKIP("%s does not open", xt->device);
	T_GE(fd, 0);
	return fd;
}

TLI_CASE(ANY, tli_opens_for_one_direction)
{
	T_EQ(t_close(open_it(O_RDONLY)), 0);
	T_EQ(t_close(open_it(O_WRONLY)), 0);
	T_EQ(t_close(open_it(O_RDWR)), 0);
}

TLI_CASE(ANY, tli_tells_errno_of_a_name_that_is_none)
{
	T_EQ(t_open("/dev/no/such/provider", O_RDWR, NULL), -1);
	T_EQ(t_errno, TSYSERR);
	T_EQ(errno, ENOENT);
}

TLI_CASE(ANY, tli_binds_to_another_address_when_one_is_busy)
{
	char a[256], b[256];
	struct t_bind req = {.qlen = 0}, ret = {.qlen = 0};
	int fd = open_it(O_RDWR), other = open_it(O_RDWR);

	if (strstr(xt->name, "rawip") != NULL)
		T_SKIP("addresses are shared");
	ret.addr.buf = a;
	ret.addr.maxlen = sizeof(a);
	T_EQ(t_bind(fd, NULL, &ret), 0);
	req.addr = ret.addr;
	ret.addr.buf = b;
	ret.addr.maxlen = sizeof(b);
	T_EQ(t_bind(other, &req, &ret), 0);
	T_GT(ret.addr.len, 0);
	T_TRUE(ret.addr.len != req.addr.len ||
		memcmp(a, b, ret.addr.len) != 0);
}

TLI_CASE(ANY, tli_wants_room_for_an_address)
{
	struct t_bind ret = {.qlen = 0};
	int fd = open_it(O_RDWR);

	T_EQ(t_bind(fd, NULL, &ret), -1);
	T_EQ(t_errno, TBUFOVFLW);
	T_EQ(t_getstate(fd), T_IDLE);
}

TLI_CASE(ANY, tli_tells_names)
{
	char a[256], b[256];
	struct t_bind ret = {.addr = {.maxlen = sizeof(a), .buf = a}};
	struct netbuf nb = {.maxlen = sizeof(b), .buf = b};
	int fd = open_it(O_RDWR);

	T_EQ(t_bind(fd, NULL, &ret), 0);
	T_EQ(t_getname(fd, &nb, LOCALNAME), 0);
	T_EQ(nb.len, ret.addr.len);
	T_MEM(b, a, nb.len);
	T_EQ(t_getname(fd, &nb, 77), -1);
	T_EQ(t_errno, TSYSERR);
	T_EQ(t_getname(-1, &nb, LOCALNAME), -1);
	T_EQ(t_errno, TBADF);
}

/* In any state: a server says that its port may be used again, then binds. */
TLI_CASE(ANY, tli_negotiates_in_any_state)
{
	struct {
		struct opthdr h;
		long v;
	} o = {{XTI_GENERIC, XTI_SNDBUF, 4}, 16384};
	char buf[512];
	struct t_optmgmt req = {{sizeof(o), sizeof(o), (char *)&o},
		T_NEGOTIATE};
	struct t_optmgmt ret = {{sizeof(buf), 0, buf}, 0};
	struct t_bind any = {.addr = {.maxlen = sizeof(buf), .buf = buf}};
	struct opthdr *oh = (struct opthdr *)(void *)buf;
	int fd = open_it(O_RDWR);

	T_EQ(t_optmgmt(fd, &req, &ret), 0);
	T_EQ(ret.flags, T_NEGOTIATE);
	T_EQ(t_getstate(fd), T_UNBND);
	T_EQ(t_bind(fd, NULL, &any), 0);
	T_EQ(t_optmgmt(fd, &req, &ret), 0);
	T_EQ(ret.flags, T_NEGOTIATE);
	T_GE(ret.opt.len, sizeof(*oh));
	T_EQ(oh->level, XTI_GENERIC);
	T_EQ(oh->name, XTI_SNDBUF);
	req.flags = T_CURRENT;
	T_EQ(t_optmgmt(fd, &req, &ret), -1);
	T_EQ(t_errno, TBADFLAG);
	req.flags = T_NEGOTIATE;
	o.h.len = 4000;
	T_EQ(t_optmgmt(fd, &req, &ret), -1);
	T_EQ(t_errno, TBADOPT);
}

TLI_CASE(ANY, tli_allocates_by_its_older_names)
{
	int fd = open_it(O_RDWR);
	char *p = t_alloc(fd, T_BIND_STR, T_ALL);

	T_NOTNULL(p);
	T_EQ(t_free(p, T_BIND_STR), 0);
}

TLI_CASE(ANY, tli_leaves_out_a_buffer_that_the_provider_has_no_use_for)
{
	struct t_info ti;
	struct t_call *c;
	int fd = open_it(O_RDWR);

	T_EQ(t_getinfo(fd, &ti), 0);
	c = (void *)t_alloc(fd, T_CALL_STR, T_ADDR | T_OPT | T_UDATA);
	T_TRUE(c != NULL);
	T_TRUE(c->addr.buf != NULL);
	if (ti.connect == T_INVALID && ti.discon == T_INVALID) {
		T_TRUE(c->udata.buf == NULL);
		T_EQ(c->udata.maxlen, 0);
	}
	T_EQ(t_free((void *)c, T_CALL_STR), 0);
}

/* Old objects refer to a variable; some sources declare it themselves. */
#pragma push_macro("t_errno")
#undef t_errno
extern int t_errno;
static int
old_errno(void)
{
	return t_errno;
}
#pragma pop_macro("t_errno")

TLI_CASE(ANY, tli_errno_is_a_variable_too)
{
	T_EQ(t_getstate(-1), -1);
	T_EQ(old_errno(), TBADF);
	T_EQ(t_open("/dev/no/such/provider", O_RDWR, NULL), -1);
	T_EQ(old_errno(), TSYSERR);
	T_EQ(t_errno, TSYSERR);
}

TLI_CASE(ANY, tli_errors_are_xtis)
{
	T_EQ(t_getstate(-1), -1);
	T_EQ(t_errno, TBADF);
	T_STR(t_errlist[t_errno], t_strerror(TBADF));
	T_GT(t_nerr, TPROTO);
	T_EQ(t_look(-1), -1);
	T_EQ(t_errno, TBADF);
}

TLI_CASE(ANY, tli_looks_and_sees_nothing)
{
	int fd = open_it(O_RDWR);

	T_EQ(t_look(fd), 0);
}

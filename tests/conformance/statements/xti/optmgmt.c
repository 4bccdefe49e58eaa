/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * t_optmgmt.
 */
#include "statement.h"

#define NO_OPTION 0x7777

static _Alignas(16) char answer[4096];

/* Ask for the options of @len bytes at @p. */
static int
ask(int fd, int action, void *p, unsigned len, struct t_optmgmt *ret)
{
	struct t_optmgmt req = {.opt = {.len = len, .buf = p},
		.flags = action};

	memset(answer, 0x55, sizeof(answer));
	ret->flags = 0x5555;
	ret->opt.buf = answer;
	ret->opt.maxlen = sizeof(answer);
	ret->opt.len = 0x5555;
	return t_optmgmt(fd, &req, ret);
}

/* Ask for one option, with a value of four bytes or none. */
static struct t_opthdr *
one(int fd, int action, t_uscalar_t name, const t_uscalar_t *value,
	struct t_optmgmt *ret)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = name}};

	o.h.len = sizeof(o.h) + (value != NULL ? 4 : 0);
	if (value != NULL)
		o.v[0] = *value;
	T_TOK(ask(fd, action, &o, o.h.len, ret));
	T_NOTNULL(T_OPT_FIRSTHDR(&ret->opt));
	return T_OPT_FIRSTHDR(&ret->opt);
}

static t_uscalar_t
value_of(const struct t_opthdr *h)
{
	t_uscalar_t v;

	T_GE(h->len, sizeof(*h) + sizeof(v));
	memcpy(&v, h + 1, sizeof(v));
	return v;
}

static const t_uscalar_t buffer = 30000, impossible = 0x7ffffff0;

XS(ANY, t_optmgmt, DESCRIPTION, negotiate,
	"T_NEGOTIATE returns each option with its negotiated value and a status.")
{
	struct t_optmgmt ret;
	int fd = xt_open(0);
	struct t_opthdr *h = one(fd, T_NEGOTIATE, XTI_SNDBUF, &buffer, &ret);

	T_EQ(h->level, XTI_GENERIC);
	T_EQ(h->name, XTI_SNDBUF);
	T_TRUE(h->status == T_SUCCESS || h->status == T_PARTSUCCESS);
	if (h->status == T_SUCCESS)
		T_EQ(value_of(h), buffer);
}

XS(ANY, t_optmgmt, DESCRIPTION, negotiate_takes_effect,
	"The value that T_NEGOTIATE returned is the current one afterwards.")
{
	struct t_optmgmt ret;
	int fd = xt_open(0);
	t_uscalar_t v;

	v = value_of(one(fd, T_NEGOTIATE, XTI_SNDBUF, &buffer, &ret));
	T_EQ(value_of(one(fd, T_CURRENT, XTI_SNDBUF, NULL, &ret)), v);
}

XS(ANY, t_optmgmt, DESCRIPTION, negotiate_partly,
	"A value that had to be changed is returned changed, with T_PARTSUCCESS.")
{
	struct t_optmgmt ret;
	struct t_opthdr *h;
	int fd = xt_open(0);

	h = one(fd, T_NEGOTIATE, XTI_SNDBUF, &impossible, &ret);
	T_EQ(h->status, T_PARTSUCCESS);
	T_NE(value_of(h), impossible);
	T_EQ(ret.flags, T_PARTSUCCESS);
}

XS(ANY, t_optmgmt, DESCRIPTION, negotiate_unknown,
	"An option that the provider has not is T_NOTSUPPORT, with the value asked.")
{
	struct t_optmgmt ret;
	struct t_opthdr *h;

	h = one(xt_open(0), T_NEGOTIATE, NO_OPTION, &buffer, &ret);
	T_EQ(h->status, T_NOTSUPPORT);
	T_EQ(value_of(h), buffer);
	T_EQ(ret.flags, T_NOTSUPPORT);
}

XS(ANY, t_optmgmt, DESCRIPTION, negotiate_all,
	"T_NEGOTIATE of T_ALLOPT sets all options of the level to their defaults.")
{
	struct t_optmgmt ret;
	int fd = xt_open(0);
	t_uscalar_t dflt;

	dflt = value_of(one(fd, T_DEFAULT, XTI_SNDBUF, NULL, &ret));
	one(fd, T_NEGOTIATE, XTI_SNDBUF, &buffer, &ret);
	one(fd, T_NEGOTIATE, T_ALLOPT, NULL, &ret);
	T_EQ(value_of(one(fd, T_CURRENT, XTI_SNDBUF, NULL, &ret)), dflt);
}

XS(ANY, t_optmgmt, DESCRIPTION, negotiate_all_result,
	"Its result is returned option by option.")
{
	struct t_optmgmt ret;
	struct t_opthdr *h;
	int n = 0;

	one(xt_open(0), T_NEGOTIATE, T_ALLOPT, NULL, &ret);
	for (h = T_OPT_FIRSTHDR(&ret.opt); h != NULL;
		h = T_OPT_NEXTHDR(&ret.opt, h), n++) {
		T_EQ(h->level, XTI_GENERIC);
		T_NE(h->name, T_ALLOPT);
	}
	T_GT(n, 1);
}

/* Several options of four bytes in one request. */
static void
several(int fd, int action, const t_uscalar_t *name, int n,
	struct t_optmgmt *ret)
{
	struct {
		struct t_opthdr h;
		t_uscalar_t v;
	} o[4];

	for (int i = 0; i < n; i++) {
		o[i].h = (struct t_opthdr){.len = sizeof(o[i]),
			.level = XTI_GENERIC, .name = name[i]};
		o[i].v = buffer;
	}
	T_TOK(ask(fd, action, o, (unsigned)n * sizeof(o[0]), ret));
}

XS(ANY, t_optmgmt, DESCRIPTION, several,
	"Several options of one level may be given, and come back in their order.")
{
	static const t_uscalar_t name[] = {XTI_SNDBUF, XTI_RCVBUF};
	struct t_optmgmt ret;
	struct t_opthdr *h;

	several(xt_open(0), T_NEGOTIATE, name, 2, &ret);
	h = T_OPT_FIRSTHDR(&ret.opt);
	T_NOTNULL(h);
	T_EQ(h->name, XTI_SNDBUF);
	h = T_OPT_NEXTHDR(&ret.opt, h);
	T_NOTNULL(h);
	T_EQ(h->name, XTI_RCVBUF);
	T_NULL(T_OPT_NEXTHDR(&ret.opt, h));
}

XS(ANY, t_optmgmt, DESCRIPTION, worst_result,
	"ret->flags has the worst of the results.")
{
	static const t_uscalar_t name[] = {XTI_SNDBUF, NO_OPTION, XTI_RCVBUF};
	struct t_optmgmt ret;

	several(xt_open(0), T_NEGOTIATE, name, 3, &ret);
	T_EQ(ret.flags, T_NOTSUPPORT);
}

XS(ANY, t_optmgmt, DESCRIPTION, independent,
	"A bad result of one option does not keep the others from being negotiated.")
{
	static const t_uscalar_t name[] = {NO_OPTION, XTI_SNDBUF};
	struct t_optmgmt ret;
	struct t_opthdr *h;
	int fd = xt_open(0);
	t_uscalar_t v;

	several(fd, T_NEGOTIATE, name, 2, &ret);
	h = T_OPT_NEXTHDR(&ret.opt, T_OPT_FIRSTHDR(&ret.opt));
	T_NOTNULL(h);
	T_EQ(h->name, XTI_SNDBUF);
	v = value_of(h);
	T_EQ(value_of(one(fd, T_CURRENT, XTI_SNDBUF, NULL, &ret)), v);
}

XS(ANY, t_optmgmt, DESCRIPTION, check_without_value,
	"T_CHECK of an option without a value returns a status and no value.")
{
	struct t_optmgmt ret;
	struct t_opthdr *h;
	int fd = xt_open(0);

	h = one(fd, T_CHECK, XTI_SNDBUF, NULL, &ret);
	T_EQ(h->status, T_SUCCESS);
	T_EQ(h->len, sizeof(*h));
	h = one(fd, T_CHECK, NO_OPTION, NULL, &ret);
	T_EQ(h->status, T_NOTSUPPORT);
	T_EQ(h->len, sizeof(*h));
	T_EQ(ret.flags, T_NOTSUPPORT);
}

XS(ANY, t_optmgmt, DESCRIPTION, check_with_value,
	"T_CHECK of a value has the status that T_NEGOTIATE would have.")
{
	struct t_optmgmt ret;
	t_uscalar_t checked, negotiated;

	checked = one(xt_open(0), T_CHECK, XTI_SNDBUF, &buffer, &ret)->status;
	T_EQ(checked, one(xt_open(0), T_NEGOTIATE, XTI_SNDBUF, &buffer,
		&ret)->status);
	checked = one(xt_open(0), T_CHECK, XTI_SNDBUF, &impossible,
		&ret)->status;
	negotiated = one(xt_open(0), T_NEGOTIATE, XTI_SNDBUF, &impossible,
		&ret)->status;
	if (xt->inet && !xt->whole)
		XS_KNOWN(checked == negotiated, "the kernel tells the limit "
			"of a socket's buffers only when a program sets "
			"their size");
	T_EQ(checked, negotiated);
}

XS(ANY, t_optmgmt, DESCRIPTION, check_changes_nothing,
	"T_CHECK leaves the values in effect as they are.")
{
	struct t_optmgmt ret;
	int fd = xt_open(0);
	t_uscalar_t v;

	v = value_of(one(fd, T_CURRENT, XTI_SNDBUF, NULL, &ret));
	one(fd, T_CHECK, XTI_SNDBUF, &buffer, &ret);
	T_EQ(value_of(one(fd, T_CURRENT, XTI_SNDBUF, NULL, &ret)), v);
}

XS(ANY, t_optmgmt, DESCRIPTION, default_value,
	"T_DEFAULT returns the default value, whatever is in effect.")
{
	struct t_optmgmt ret;
	struct t_opthdr *h;
	int fd = xt_open(0);
	t_uscalar_t v;

	h = one(fd, T_DEFAULT, XTI_SNDBUF, NULL, &ret);
	T_EQ(h->status, T_SUCCESS);
	v = value_of(h);
	one(fd, T_NEGOTIATE, XTI_SNDBUF, &buffer, &ret);
	T_EQ(value_of(one(fd, T_DEFAULT, XTI_SNDBUF, NULL, &ret)), v);
}

XS(ANY, t_optmgmt, DESCRIPTION, default_ignores_values,
	"T_DEFAULT ignores values in the request.")
{
	struct t_optmgmt ret;
	int fd = xt_open(0);
	t_uscalar_t v;

	v = value_of(one(fd, T_DEFAULT, XTI_SNDBUF, NULL, &ret));
	T_EQ(value_of(one(fd, T_DEFAULT, XTI_SNDBUF, &buffer, &ret)), v);
}

XS(ANY, t_optmgmt, DESCRIPTION, default_unknown,
	"T_DEFAULT of an option that the provider has not is T_NOTSUPPORT.")
{
	struct t_optmgmt ret;

	T_EQ(one(xt_open(0), T_DEFAULT, NO_OPTION, NULL, &ret)->status,
		T_NOTSUPPORT);
	T_EQ(ret.flags, T_NOTSUPPORT);
}

XS(ANY, t_optmgmt, DESCRIPTION, current_unknown,
	"T_CURRENT of an option that the provider has not is T_NOTSUPPORT.")
{
	struct t_optmgmt ret;

	T_EQ(one(xt_open(0), T_CURRENT, NO_OPTION, NULL, &ret)->status,
		T_NOTSUPPORT);
	T_EQ(ret.flags, T_NOTSUPPORT);
}

/* T_ALLOPT has each option that can be asked for alone. */
static void
all_of(int action)
{
	struct t_optmgmt ret;
	struct t_opthdr *h;
	struct t_info ti;
	int fd = xt_open_info(0, &ti), n = 0, seen = 0;

	one(fd, action, T_ALLOPT, NULL, &ret);
	for (h = T_OPT_FIRSTHDR(&ret.opt); h != NULL;
		h = T_OPT_NEXTHDR(&ret.opt, h), n++) {
		T_EQ(h->level, XTI_GENERIC);
		T_EQ((uintptr_t)h % sizeof(t_uscalar_t), 0);
		seen += h->name == XTI_SNDBUF;
	}
	T_GT(n, 1);
	T_EQ(seen, 1);
	if (ti.options > 0)
		T_LE(ret.opt.len, (unsigned)ti.options);
}

XS(ANY, t_optmgmt, DESCRIPTION, default_all,
	"T_DEFAULT of T_ALLOPT returns all options, in no more than info's options.")
{
	all_of(T_DEFAULT);
}

XS(ANY, t_optmgmt, DESCRIPTION, current_all,
	"T_CURRENT of T_ALLOPT returns all options, in no more than info's options.")
{
	all_of(T_CURRENT);
}

XS(ORD, t_optmgmt, DESCRIPTION, read_only,
	"A read-only option is T_READONLY, and keeps its value.")
{
	struct option o = {.h = {.len = sizeof(o.h) + 4,
		.level = xt->whole ? T_INET_SCTP : T_INET_TCP,
		.name = xt->whole ? T_SCTP_MAXSEG : T_TCP_MAXSEG}, .v = {77}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	if (!xt->inet)
		T_SKIP("this provider has no read-only option");
	T_TOK(ask(fd, T_NEGOTIATE, &o, o.h.len, &ret));
	T_EQ(ret.flags, T_READONLY);
	T_EQ(T_OPT_FIRSTHDR(&ret.opt)->status, T_READONLY);
	T_EQ(value_of(T_OPT_FIRSTHDR(&ret.opt)), 77);
	T_TOK(ask(fd, T_CURRENT, &o, o.h.len, &ret));
	T_NE(value_of(T_OPT_FIRSTHDR(&ret.opt)), 77);
}

XS(ANY, t_optmgmt, DESCRIPTION, linger,
	"XTI_LINGER has a switch and a time, and both come back.")
{
	struct {
		struct t_opthdr h;
		struct t_linger l;
	} o = {{sizeof(o), XTI_GENERIC, XTI_LINGER, 0}, {T_YES, 3}};
	struct t_optmgmt ret;
	struct t_opthdr *h;
	struct t_linger got;
	int fd = xt_open(0);

	T_TOK(ask(fd, T_NEGOTIATE, &o, sizeof(o), &ret));
	h = T_OPT_FIRSTHDR(&ret.opt);
	T_NOTNULL(h);
	if (h->status == T_NOTSUPPORT)
		T_SKIP("this provider does not linger");
	T_EQ(h->status, T_SUCCESS);
	T_TOK(ask(fd, T_CURRENT, &o, sizeof(o), &ret));
	memcpy(&got, T_OPT_FIRSTHDR(&ret.opt) + 1, sizeof(got));
	T_EQ(got.l_onoff, T_YES);
	T_EQ(got.l_linger, 3);
}

XS(ANY, t_optmgmt, DESCRIPTION, maxlen_zero,
	"With a maxlen of zero in ret no options are returned, but the result is.")
{
	struct t_opthdr h = {sizeof(h), XTI_GENERIC, NO_OPTION, 0};
	struct t_optmgmt req = {.opt = {.len = sizeof(h), .buf = &h},
		.flags = T_CHECK}, ret = {.flags = 0};
	char c = 'c';

	ret.opt.buf = &c;
	T_TOK(t_optmgmt(xt_open(0), &req, &ret));
	T_EQ(c, 'c');
	T_EQ(ret.flags, T_NOTSUPPORT);
}

XS(ANY, t_optmgmt, DESCRIPTION, maxlen_of_req,
	"maxlen has no meaning in req.")
{
	struct t_opthdr h = {sizeof(h), XTI_GENERIC, XTI_SNDBUF, 0};
	struct t_optmgmt req = {.opt = {.maxlen = 1, .len = sizeof(h),
					.buf = &h}, .flags = T_CURRENT},
		ret = {.opt = {.maxlen = sizeof(answer), .buf = answer}};

	T_TOK(t_optmgmt(xt_open(0), &req, &ret));
	T_EQ(T_OPT_FIRSTHDR(&ret.opt)->name, XTI_SNDBUF);
}

XS(ANY, t_optmgmt, DESCRIPTION, state_stays,
	"It does not change the state.")
{
	struct t_optmgmt ret;
	int fd = xt_bound(0, 0);

	one(fd, T_NEGOTIATE, XTI_SNDBUF, &buffer, &ret);
	T_STATE(fd, T_IDLE);
}

XS(ANY, t_optmgmt, STATES, valid,
	"It works in every state but T_UNINIT.")
{
	xs_valid("t_optmgmt", XS_ALL);
}

XS_NONE(t_optmgmt, ERRORS, tacces,
	"An option that the user may not negotiate fails with TACCES.",
	"an option here that needs a right is T_NOTSUPPORT without it");

XS(ANY, t_optmgmt, ERRORS, tbadf,
	"An fd that names no endpoint fails with TBADF.")
{
	xs_badf("t_optmgmt");
}

XS(ANY, t_optmgmt, ERRORS, tbadflag,
	"An action that there is not fails with TBADFLAG.")
{
	struct option o = {.h = {.len = sizeof(o.h), .level = XTI_GENERIC,
				   .name = XTI_SNDBUF}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TERR(ask(fd, 0, &o, o.h.len, &ret), TBADFLAG);
	T_TERR(ask(fd, T_CHECK | T_CURRENT, &o, o.h.len, &ret), TBADFLAG);
}

XS(ANY, t_optmgmt, ERRORS, tbadopt,
	"Options of a wrong format fail with TBADOPT.")
{
	struct option o = {.h = {.len = 3, .level = XTI_GENERIC,
				   .name = XTI_SNDBUF}};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_TERR(ask(fd, T_CHECK, &o, sizeof(o.h), &ret), TBADOPT);
	o.h.len = 999;
	T_TERR(ask(fd, T_CHECK, &o, sizeof(o.h), &ret), TBADOPT);
	T_TERR(ask(fd, T_CHECK, &o, 7, &ret), TBADOPT);
}

XS(ANY, t_optmgmt, ERRORS, tbadopt_levels,
	"Options of different levels in one request fail with TBADOPT.")
{
	struct t_opthdr h[2] = {{sizeof(h[0]), XTI_GENERIC, XTI_SNDBUF, 0},
		{sizeof(h[0]), T_INET_IP, T_IP_TTL, 0}};
	struct t_optmgmt ret;

	T_TERR(ask(xt_open(0), T_CHECK, h, sizeof(h), &ret), TBADOPT);
}

XS(ANY, t_optmgmt, ERRORS, tbufovflw,
	"An answer longer than ret's maxlen fails with TBUFOVFLW.")
{
	struct t_opthdr h = {sizeof(h), XTI_GENERIC, T_ALLOPT, 0};
	struct t_optmgmt req = {.opt = {.len = sizeof(h), .buf = &h},
		.flags = T_CURRENT}, ret = {.opt = {.maxlen = 8,
						.buf = answer}};

	T_TERR(t_optmgmt(xt_open(0), &req, &ret), TBUFOVFLW);
}

XS_NONE(t_optmgmt, ERRORS, tnotsupport,
	"An action that the provider has not fails with TNOTSUPPORT.",
	"every provider here has all four actions");

XS(ANY, t_optmgmt, ERRORS, tsyserr,
	"A system error fails with TSYSERR, and errno says which.")
{
	struct t_optmgmt ret;

	T_TERR(ask(xt_open(0), T_CHECK, xs_bad(), 16, &ret), TSYSERR);
	T_EQ(errno, EFAULT);
}

XS(ANY, t_optmgmt, RETURN, zero,
	"It returns 0 on success, and -1 with t_errno on failure.")
{
	struct t_opthdr h = {sizeof(h), XTI_GENERIC, XTI_SNDBUF, 0};
	struct t_optmgmt ret;
	int fd = xt_open(0);

	T_EQ(ask(fd, T_CURRENT, &h, sizeof(h), &ret), 0);
	T_EQ(ask(fd, 0, &h, sizeof(h), &ret), -1);
}

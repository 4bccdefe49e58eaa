/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: t_optmgmt.
 */
#include "xt.h"

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

/* XNS 5.2, t_optmgmt(), of the one that TCP has read-only. */
XT_CASE(ANY, optmgmt_of_a_read_only_option)
{
	struct option o = {.h = {.level = T_INET_TCP, .name = T_TCP_MAXSEG}};
	struct t_opthdr *oh;
	struct t_optmgmt ret;
	int fd = xt_open(0);

	if (optmgmt(fd, T_CHECK, &o, sizeof(o.h), &ret) < 0) {
		T_EQ(t_errno, TBADOPT);
		T_SKIP("not over TCP");
	}
	T_EQ(ret.flags, T_READONLY);
	oh = T_OPT_FIRSTHDR(&ret.opt);
	T_EQ(oh->status, T_READONLY);
	T_EQ(oh->len, sizeof(*oh));
	for (int i = 0; i < 2; i++) {
		o.v[0] = 77;
		T_TOK(optmgmt(fd, i ? T_CHECK : T_NEGOTIATE, &o,
			sizeof(o.h) + 4, &ret));
		T_EQ(ret.flags, T_READONLY);
		oh = T_OPT_FIRSTHDR(&ret.opt);
		T_EQ(oh->len, sizeof(*oh) + 4);
		T_EQ(*(t_uscalar_t *)(void *)T_OPT_DATA(oh), 77u);
	}
	T_TOK(optmgmt(fd, T_CURRENT, &o, sizeof(o.h), &ret));
	T_EQ(ret.flags, T_READONLY);
	oh = T_OPT_FIRSTHDR(&ret.opt);
	T_NE(*(t_uscalar_t *)(void *)T_OPT_DATA(oh), 77u);
}

/* ... which tells how much there is room for, and that is enough for all. */
XT_CASE(ANY, info_tells_how_long_options_are)
{
	struct option o = {.h = {.level = XTI_GENERIC, .name = T_ALLOPT}};
	struct t_optmgmt ret;
	struct t_info ti;
	int fd = xt_open_info(0, &ti);

	T_GT(ti.options, 0);
	T_TOK(optmgmt(fd, T_CURRENT, &o, sizeof(o.h), &ret));
	T_LE(ret.opt.len, (unsigned)ti.options);
}

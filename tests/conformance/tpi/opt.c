/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Options: XTI_GENERIC, which all have, and the rules of negotiation.
 */
#include "tp.h"

struct opt {
	struct t_opthdr h;
	union {
		unsigned u;
		unsigned long l;
		struct t_linger linger;
	};
};

static struct {
	struct T_optmgmt_req r;
	unsigned char opts[2048];
} m;

static void
begin(int flags)
{
	m.r = (struct T_optmgmt_req){ T_OPTMGMT_REQ, 0, sizeof(m.r), flags };
}

static void
add(unsigned level, unsigned name, const void *val, unsigned len)
{
	struct t_opthdr h = { sizeof(h) + len, level, name, 0 };

	memcpy(m.opts + m.r.OPT_length, &h, sizeof(h));
	memcpy(m.opts + m.r.OPT_length + sizeof(h), val, len);
	m.r.OPT_length += (int)((sizeof(h) + len + 3) & ~3u);
}

static void
ask(int fd)
{
	tp_put(fd, &m, (int)sizeof(m.r) + m.r.OPT_length, NULL, -1);
}

/* The answer's @n'th option, from 0; NULL: there are not so many. */
static struct opt *
nth(int n)
{
	int off = tp.p.optmgmt_ack.OPT_offset;
	int end = off + tp.p.optmgmt_ack.OPT_length;
	struct opt *o;

	T_LE(end, tp.ctllen);
	for (;; off += (int)((o->h.len + 3) & ~3u)) {
		o = (struct opt *)(void *)(tp.ctl + off);
		if (off + (int)sizeof(o->h) > end)
			return NULL;
		T_GE(o->h.len, (unsigned)sizeof(o->h));
		T_LE(off + (int)o->h.len, end);
		if (n-- == 0)
			return o;
	}
}

static struct opt *
answer(int fd, unsigned flags)
{
	tp_want(fd, T_OPTMGMT_ACK);
	T_TRUE(tp.hipri);
	T_EQ((unsigned)tp.p.optmgmt_ack.MGMT_flags, flags);
	return nth(0);
}

static const struct {
	unsigned name, other, beyond, most;
} words[] = {
	{ XTI_SNDBUF, 32768, 0x7fffffff, 64u << 20 },
	{ XTI_RCVBUF, 32768, 0x7fffffff, 64u << 20 },
	{ XTI_SNDLOWAT, 16, 0x7fffffff, 64u << 20 },
	{ XTI_RCVLOWAT, 16, 0x7fffffff, 64u << 20 },
};
#define EACH(i_) \
	for (unsigned i_ = 0; i_ < sizeof(words) / sizeof(words[0]); i_++)

static int
generic(void)
{
	int fd = tp_open();

	if (!tp_is()->generic)
		T_SKIP("values are the system's");
	return fd;
}

T_CASE(a_value_that_is_set_is_current)
{
	int fd = generic();

	EACH(i) {
		begin(T_NEGOTIATE);
		add(XTI_GENERIC, words[i].name, &words[i].other, 4);
		ask(fd);
		T_EQ(answer(fd, T_SUCCESS)->u, words[i].other);
		T_EQ(nth(0)->h.status, (unsigned)T_SUCCESS);
		T_EQ(nth(0)->h.len, (unsigned)(sizeof(struct t_opthdr) + 4));
		begin(T_CURRENT);
		add(XTI_GENERIC, words[i].name, "", 0);
		ask(fd);
		T_EQ(answer(fd, T_SUCCESS)->u, words[i].other);
	}
}

T_CASE(eight_bytes_are_a_value_too)
{
	unsigned long val = 20000;
	int fd = generic();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_RCVBUF, &val, 8);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->l, val);
	T_EQ(nth(0)->h.len, (unsigned)(sizeof(struct t_opthdr) + 8));
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_RCVBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, 20000u);
}

T_CASE(a_value_beyond_is_cut)
{
	int fd = generic();

	EACH(i) {
		begin(T_NEGOTIATE);
		add(XTI_GENERIC, words[i].name, &words[i].beyond, 4);
		ask(fd);
		T_EQ(answer(fd, T_PARTSUCCESS)->u, words[i].most);
		T_EQ(nth(0)->h.status, (unsigned)T_PARTSUCCESS);
	}
}

T_CASE(checking_changes_nothing)
{
	unsigned was, val = 30000;
	int fd = generic();

	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	was = answer(fd, T_SUCCESS)->u;
	begin(T_CHECK);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->h.status, (unsigned)T_SUCCESS);
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, was);
}

T_CASE(checking_without_value_says_whether_it_is_known)
{
	int fd = tp_open();

	begin(T_CHECK);
	add(XTI_GENERIC, XTI_LINGER, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->h.len, (unsigned)sizeof(struct t_opthdr));
	begin(T_CHECK);
	add(XTI_GENERIC, 0x7777, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_NOTSUPPORT)->h.status, (unsigned)T_NOTSUPPORT);
}

T_CASE(defaults_are_told_whatever_is_current)
{
	unsigned dflt, val = 12345;
	int fd = generic();

	begin(T_DEFAULT);
	add(XTI_GENERIC, XTI_RCVBUF, "", 0);
	ask(fd);
	dflt = answer(fd, T_SUCCESS)->u;
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_RCVBUF, &val, 4);
	ask(fd);
	(void)answer(fd, T_SUCCESS);
	begin(T_DEFAULT);
	add(XTI_GENERIC, XTI_RCVBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, dflt);
	T_NE(dflt, val);
}

T_CASE(a_value_left_out_is_the_default)
{
	unsigned dflt, val = 12345;
	int fd = generic();

	begin(T_DEFAULT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	dflt = answer(fd, T_SUCCESS)->u;
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	ask(fd);
	(void)answer(fd, T_SUCCESS);
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, dflt);
}

T_CASE(the_provider_may_be_left_to_choose)
{
	unsigned val = (unsigned)T_UNSPEC;
	int fd = generic();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	ask(fd);
	T_NE(answer(fd, T_SUCCESS)->u, val);
}

T_CASE(all_options_of_a_level_are_told)
{
	int fd = generic(), i;

	begin(T_CURRENT);
	add(XTI_GENERIC, T_ALLOPT, "", 0);
	ask(fd);
	(void)answer(fd, T_SUCCESS);
	for (i = 0; nth(i) != NULL; i++)
		T_EQ(nth(i)->h.level, (unsigned)XTI_GENERIC);
	T_EQ(i, 6);
}

T_CASE(all_options_are_told_to_who_asks_for_none)
{
	int fd = tp_open(), i;

	begin(T_DEFAULT);
	ask(fd);
	tp_want(fd, T_OPTMGMT_ACK);
	for (i = 0; nth(i) != NULL; i++)
		;
	T_GE(i, 6);
}

T_CASE(all_options_go_back_to_their_defaults)
{
	unsigned val = 12345;
	int fd = generic();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_RCVBUF, &val, 4);
	ask(fd);
	(void)answer(fd, T_SUCCESS);
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, T_ALLOPT, "", 0);
	ask(fd);
	(void)answer(fd, T_SUCCESS);
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_RCVBUF, "", 0);
	ask(fd);
	T_NE(answer(fd, T_SUCCESS)->u, val);
}

T_CASE(linger_has_two_parts)
{
	struct t_linger l = { T_YES, 5 };
	int fd = tp_open();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_LINGER, &l, sizeof(l));
	ask(fd);
	T_MEM(&answer(fd, T_SUCCESS)->linger, &l, sizeof(l));
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_LINGER, "", 0);
	ask(fd);
	T_MEM(&answer(fd, T_SUCCESS)->linger, &l, sizeof(l));
}

T_CASE(linger_is_neither_yes_nor_no)
{
	struct t_linger l = { 7, 5 };
	int fd = generic();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_LINGER, &l, sizeof(l));
	ask(fd);
	T_EQ(answer(fd, T_FAILURE)->h.status, (unsigned)T_FAILURE);
}

T_CASE(the_worst_status_is_told)
{
	unsigned val = 20000;
	int fd = tp_open();

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	add(XTI_GENERIC, 0x7777, &val, 4);
	ask(fd);
	T_NE(answer(fd, T_NOTSUPPORT)->h.status, (unsigned)T_NOTSUPPORT);
	T_EQ(nth(1)->h.status, (unsigned)T_NOTSUPPORT);
	T_EQ(nth(1)->h.name, 0x7777u);
}

/* XNS, "The use of options": a level that is not known is TBADOPT. */
T_CASE(a_level_that_is_not_known_is_refused)
{
	static const int flags[] = { T_CURRENT, T_DEFAULT, T_CHECK,
		T_NEGOTIATE };
	int fd = tp_open();

	for (unsigned i = 0; i < 4; i++) {
		begin(flags[i]);
		add(0x4242, 1, "", 0);
		ask(fd);
		tp_error(fd, T_OPTMGMT_REQ, TBADOPT, 0);
		if (flags[i] == T_CHECK)
			continue;
		begin(flags[i]);
		add(0x4242, T_ALLOPT, "", 0);
		ask(fd);
		tp_error(fd, T_OPTMGMT_REQ, TBADOPT, 0);
	}
}

/* XNS t_optmgmt(): with T_NOTSUPPORT the value is the one asked for. */
T_CASE(an_option_that_is_not_known_keeps_its_value)
{
	char val[90];
	struct opt *o;
	int fd = tp_open();

	memset(val, 0x5a, sizeof(val));
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, 0x7777, val, sizeof(val));
	ask(fd);
	o = answer(fd, T_NOTSUPPORT);
	T_NOTNULL(o);
	T_EQ(o->h.len, sizeof(o->h) + sizeof(val));
	T_MEM(&o->u, val, sizeof(val));
	begin(T_CURRENT);
	add(XTI_GENERIC, 0x7777, val, sizeof(val));
	ask(fd);
	T_EQ(answer(fd, T_NOTSUPPORT)->h.len, sizeof(o->h));
}

T_CASE(options_may_be_negotiated_in_every_state)
{
	int fd[2];

	tp_need_cots();
	tp_pair(fd);
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_LINGER, "", 0);
	ask(fd[0]);
	(void)answer(fd[0], T_SUCCESS);
	T_EQ(tp_state(fd[0]), TS_DATA_XFER);
}

/* -------------------------------------------------------------------- malformed */

static void
refused(int tli)
{
	int fd = tp_open();

	ask(fd);
	tp_error(fd, T_OPTMGMT_REQ, tli, 0);
	T_EQ(tp_state(fd), TS_UNBND);
}

T_CASE(options_of_two_levels_are_refused)
{
	unsigned val = 20000;

	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	add(6, 1, &val, 4);
	refused(TBADOPT);
}

T_CASE(what_is_refused_has_changed_nothing)
{
	unsigned val = 20000, was;
	int fd = generic();

	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	was = answer(fd, T_SUCCESS)->u;
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, XTI_SNDBUF, &val, 4);
	add(XTI_GENERIC, XTI_RCVBUF, "abc", 3);
	ask(fd);
	tp_error(fd, T_OPTMGMT_REQ, TBADOPT, 0);
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, was);
}

static const int odd_flags[] = { 0, 1, 2, 3, 0x0c, 0x20, 0x40, 0x84, 0x100,
	-1 };

T_CASE(flags_that_are_none_are_refused)
{
	unsigned i;

	for (i = 0; i < sizeof(odd_flags) / sizeof(odd_flags[0]); i++) {
		begin(odd_flags[i]);
		add(XTI_GENERIC, XTI_LINGER, "", 0);
		refused(TBADFLAG);
	}
}

static void
header_case(unsigned len, int total)
{
	struct t_opthdr h = { len, XTI_GENERIC, XTI_LINGER, 0 };

	begin(T_CURRENT);
	memcpy(m.opts, &h, sizeof(h));
	m.r.OPT_length = total;
	refused(TBADOPT);
}

#define HEADER(name_, len_, total_) T_CASE(name_) { header_case(len_, total_); }
HEADER(a_header_of_length_zero_is_refused, 0, 16)
HEADER(a_header_shorter_than_a_header_is_refused, 15, 16)
HEADER(a_header_longer_than_the_list_is_refused, 17, 16)
HEADER(a_header_of_the_greatest_length_is_refused, 0xffffffffu, 16)
HEADER(a_header_that_would_wrap_around_is_refused, 0xfffffff0u, 16)
HEADER(a_list_of_one_byte_is_refused, 16, 1)
HEADER(a_list_of_half_a_header_is_refused, 16, 8)
HEADER(a_list_with_a_rest_is_refused, 16, 24)
HEADER(a_list_that_is_too_long_is_refused, 16, 2000)

static void
length_case(unsigned name, unsigned len)
{
	begin(T_NEGOTIATE);
	add(XTI_GENERIC, name, "0123456789abcdef", len);
	refused(TBADOPT);
}

#define LENGTH(name_, opt_, len_) T_CASE(name_) { length_case(opt_, len_); }
LENGTH(a_word_of_one_byte_is_refused, XTI_SNDBUF, 1)
LENGTH(a_word_of_three_bytes_is_refused, XTI_SNDBUF, 3)
LENGTH(a_word_of_five_bytes_is_refused, XTI_RCVBUF, 5)
LENGTH(a_word_of_sixteen_bytes_is_refused, XTI_RCVLOWAT, 16)
LENGTH(half_a_linger_is_refused, XTI_LINGER, 4)
LENGTH(more_than_a_linger_is_refused, XTI_LINGER, 12)

T_CASE(nothing_to_negotiate_is_refused)
{
	begin(T_NEGOTIATE);
	refused(TBADOPT);
}

T_CASE(nothing_to_check_is_refused)
{
	begin(T_CHECK);
	refused(TBADOPT);
}

T_CASE(all_options_cannot_be_checked)
{
	begin(T_CHECK);
	add(XTI_GENERIC, T_ALLOPT, "", 0);
	refused(TBADOPT);
}

/* --------------------------------------------------------------- with connections */

/* T_CONN_REQ to no listener with one option. */
static int
call_with(unsigned level, unsigned name, unsigned hlen, unsigned val)
{
	struct {
		struct T_conn_req r;
		struct opt o;
		unsigned char addr[256];
	} c;
	struct tp_addr a;
	int fd;

	tp_need_cots();
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	tp_nobody(&a);
	memset(&c, 0, sizeof(c));
	c.r = (struct T_conn_req){ T_CONN_REQ, a.len,
		offsetof(__typeof__(c), addr), 20,
		offsetof(__typeof__(c), o) };
	c.o.h = (struct t_opthdr){ hlen, level, name, 0 };
	memcpy((char *)&c.o + sizeof(c.o.h), &val, 4);
	memcpy(c.addr, a.buf, (size_t)a.len);
	tp_put(fd, &c, (int)offsetof(__typeof__(c), addr) + a.len, NULL, -1);
	return fd;
}

T_CASE(options_come_with_a_call)
{
	int fd = call_with(XTI_GENERIC, XTI_SNDBUF, 20, 20000);

	tp_ok(fd, T_CONN_REQ);
	(void)tp_discon_ind(fd);
	if (!tp_is()->generic)
		return;
	begin(T_CURRENT);
	add(XTI_GENERIC, XTI_SNDBUF, "", 0);
	ask(fd);
	T_EQ(answer(fd, T_SUCCESS)->u, 20000u);
}

T_CASE(a_call_with_unknown_options_is_a_call)
{
	int fd = call_with(0x4242, 1, 20, 0);

	tp_ok(fd, T_CONN_REQ);
}

T_CASE(a_call_with_broken_options_is_none)
{
	int fd = call_with(XTI_GENERIC, XTI_SNDBUF, 99, 0);

	tp_error(fd, T_CONN_REQ, TBADOPT, 0);
	T_EQ(tp_state(fd), TS_IDLE);
}

T_CASE(a_call_with_half_an_option_is_none)
{
	int fd = call_with(XTI_GENERIC, XTI_LINGER, 20, 0);

	tp_error(fd, T_CONN_REQ, TBADOPT, 0);
	T_EQ(tp_state(fd), TS_IDLE);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Data on connections: bytes, vectors, expedited data, flow control.
 */
#include "xt.h"

#include <poll.h>
#include <stropts.h>
#include <sys/mman.h>
#include <unistd.h>

static void
pattern(char *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (char)((i * 31 + seed) >> 3);
}

XT_CASE(CO, bytes_arrive_both_ways)
{
	char buf[8];
	int fd[2];

	xt_pair(fd);
	for (int i = 0; i < 2; i++) {
		T_EQ(T_TOK(t_snd(fd[i], (char *)"a word", 6, 0)), 6);
		T_EQ(xt_rcv_all(fd[!i], buf, 6), 6);
		T_MEM(buf, "a word", 6);
	}
}

XT_CASE(CO, a_short_buffer_leaves_the_rest)
{
	char buf[16];
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "0123456789", 10, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, &flags)), 4);
	T_MEM(buf, "0123", 4);
	T_EQ(t_look(fd[1]), T_DATA);
	T_EQ(xt_rcv_all(fd[1], buf, 6), 6);
	T_MEM(buf, "456789", 6);
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, sends_are_received_in_order)
{
	static char out[3000], in[3000];
	size_t at = 0;
	int fd[2];

	xt_pair(fd);
	pattern(out, sizeof(out), 1);
	for (size_t n = 1; at + n <= sizeof(out); at += n, n += 3)
		xt_snd_all(fd[0], out + at, n, 0);
	xt_rcv_all(fd[1], in, at);
	T_MEM(in, out, at);
}

XT_CASE(CO, a_large_send_arrives_whole)
{
	static char out[300000], in[300000];
	int fd[2];

	xt_pair(fd);
	pattern(out, sizeof(out), 7);
	if (T_OK(fork()) == 0) {
		xt_snd_all(fd[0], out, sizeof(out), 0);
		pause();
	}
	xt_rcv_all(fd[1], in, sizeof(in));
	T_MEM(in, out, sizeof(out));
}

XT_CASE(CO, a_send_of_nothing_is_TBADDATA)
{
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.flags & T_SENDZERO)
		T_SKIP("it may be");
	T_TERR(t_snd(fd[0], (char *)"", 0, 0), TBADDATA);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, send_with_flags_nobody_knows_is_TBADFLAG)
{
	int fd[2];

	xt_pair(fd);
	T_TERR(t_snd(fd[0], (char *)"x", 1, 0x80), TBADFLAG);
	T_TERR(t_snd(fd[0], (char *)"x", 1, -1), TBADFLAG);
}

XT_CASE(CO, send_with_push_and_more)
{
	char buf[2];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, T_MORE)), 1);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"y", 1, T_PUSH)), 1);
	xt_rcv_all(fd[1], buf, 2);
	T_MEM(buf, "xy", 2);
}

XT_CASE(CO, send_from_a_bad_address_is_EFAULT)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	int fd[2];

	xt_pair(fd);
	T_TERR(t_snd(fd[0], bad, 64, 0), TSYSERR);
	T_EQ(errno, EFAULT);
	T_STATE(fd[0], T_DATAXFER);
}

XT_CASE(CO, receive_into_a_bad_address_is_EFAULT_and_loses_nothing)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	int fd[2], flags;
	char buf[4];

	xt_pair(fd);
	xt_snd_all(fd[0], "four", 4, 0);
	T_EVENT(fd[1], T_DATA);
	T_TERR(t_rcv(fd[1], bad, 64, &flags), TSYSERR);
	T_EQ(errno, EFAULT);
	xt_rcv_all(fd[1], buf, 4);
	T_MEM(buf, "four", 4);
}

XT_CASE(CO, receive_without_flags)
{
	char buf[4];
	int fd[2];

	xt_pair(fd);
	xt_snd_all(fd[0], "four", 4, 0);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 4, NULL)), 4);
}

XT_CASE(CO, a_nonblocking_receive_of_nothing_is_TNODATA)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	xt_block(fd[1], 0);
	T_TERR(t_rcv(fd[1], &c, 1, &flags), TNODATA);
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, O_NONBLOCK_takes_effect_whenever_it_is_set)
{
	int fd[2], flags;
	char c;

	xt_pair(fd);
	for (int i = 0; i < 3; i++) {
		xt_block(fd[1], 0);
		T_TERR(t_rcv(fd[1], &c, 1, &flags), TNODATA);
		xt_block(fd[1], 1);
		xt_snd_all(fd[0], "x", 1, 0);
		T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	}
}

/* --------------------------------------------------------------------- vectors */

XT_CASE(CO, a_vector_arrives_as_its_sum)
{
	struct t_iovec iov[3] = {{(char *)"one", 3}, {(char *)"", 0},
		{(char *)"three", 5}};
	char buf[8];
	int fd[2];

	xt_pair(fd);
	T_EQ(T_TOK(t_sndv(fd[0], iov, 3, 0)), 8);
	xt_rcv_all(fd[1], buf, 8);
	T_MEM(buf, "onethree", 8);
}

XT_CASE(CO, a_vector_is_filled_piece_by_piece)
{
	char a[3], b[2], c[16];
	struct t_iovec iov[3] = {{a, 3}, {b, 2}, {c, 16}};
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abcdefghij", 10, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 3, &flags)), 10);
	T_MEM(a, "abc", 3);
	T_MEM(b, "de", 2);
	T_MEM(c, "fghij", 5);
}

XT_CASE(CO, a_vector_that_is_short_leaves_the_rest)
{
	char a[3], b[2], rest[5];
	struct t_iovec iov[2] = {{a, 3}, {b, 2}};
	int fd[2], flags;

	xt_pair(fd);
	xt_snd_all(fd[0], "abcdefghij", 10, 0);
	T_EVENT(fd[1], T_DATA);
	T_EQ(T_TOK(t_rcvv(fd[1], iov, 2, &flags)), 5);
	xt_rcv_all(fd[1], rest, 5);
	T_MEM(rest, "fghij", 5);
}

XT_CASE(CO, a_vector_of_none_or_too_many_is_TBADDATA)
{
	static struct t_iovec iov[T_IOV_MAX + 1];
	int fd[2], flags;
	char c;

	xt_pair(fd);
	for (int i = 0; i <= T_IOV_MAX; i++) {
		iov[i].iov_base = &c;
		iov[i].iov_len = 1;
	}
	T_TERR(t_sndv(fd[0], iov, 0, 0), TBADDATA);
	T_TERR(t_sndv(fd[0], iov, T_IOV_MAX + 1, 0), TBADDATA);
	T_TERR(t_rcvv(fd[0], iov, 0, &flags), TBADDATA);
	T_TERR(t_rcvv(fd[0], iov, T_IOV_MAX + 1, &flags), TBADDATA);
	T_EQ(T_TOK(t_sndv(fd[0], iov, T_IOV_MAX, 0)), T_IOV_MAX);
}

XT_CASE(CO, a_vector_of_nothing_is_TBADDATA)
{
	struct t_iovec iov[2] = {{NULL, 0}, {NULL, 0}};
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.flags & T_SENDZERO)
		T_SKIP("it may be");
	T_TERR(t_sndv(fd[0], iov, 2, 0), TBADDATA);
	T_TERR(t_sndv(fd[0], NULL, 2, 0), TSYSERR);
	T_EQ(errno, EFAULT);
}

XT_CASE(CO, a_large_vector_arrives_whole)
{
	static char out[16][10000], in[160000];
	struct t_iovec iov[16];
	int fd[2], n;

	xt_pair(fd);
	for (unsigned i = 0; i < 16; i++) {
		pattern(out[i], sizeof(out[i]), i);
		iov[i].iov_base = out[i];
		iov[i].iov_len = sizeof(out[i]);
	}
	if (T_OK(fork()) == 0) {
		n = T_TOK(t_sndv(fd[0], iov, 16, 0));
		if (n < (int)sizeof(in))
			xt_snd_all(fd[0], &out[0][0] + n,
				sizeof(in) - (size_t)n, 0);
		pause();
	}
	xt_rcv_all(fd[1], in, sizeof(in));
	T_MEM(in, &out[0][0], sizeof(in));
}

/* ------------------------------------------------------------------ expedited data */

static void
need_expedited(void)
{
	if (!xt->expedited)
		T_SKIP("no expedited data");
}

XT_CASE(CO, expedited_data_is_marked)
{
	int fd[2], flags;
	char c;

	need_expedited();
	xt_pair(fd);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], &c, 1, &flags)), 1);
	T_EQ(flags, T_EXPEDITED);
	T_EQ(c, '!');
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, expedited_data_overtakes_or_keeps_its_place)
{
	int fd[2], flags, got, ex = 0;
	char buf[32], normal[32];
	size_t n = 0;

	need_expedited();
	xt_pair(fd);
	xt_snd_all(fd[0], "before", 6, 0);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	xt_snd_all(fd[0], "after", 5, 0);
	while (n < 11 || !ex) {
		got = T_TOK(t_rcv(fd[1], buf, sizeof(buf), &flags));
		if (flags & T_EXPEDITED) {
			T_EQ(got, 1);
			T_EQ(buf[0], '!');
			ex = 1;
		} else {
			memcpy(normal + n, buf, (size_t)got);
			n += (size_t)got;
		}
	}
	T_EQ(n, 11);
	T_MEM(normal, "beforeafter", 11);
}

XT_CASE(CO, expedited_data_comes_while_a_message_is_half_read)
{
	int fd[2], flags, got, ex = 0;
	char buf[32], normal[32];
	size_t n = 0;

	need_expedited();
	xt_pair(fd);
	xt_snd_all(fd[0], "0123456789", 10, 0);
	T_EVENT(fd[1], T_DATA);
	n = (size_t)T_TOK(t_rcv(fd[1], normal, 4, &flags));
	T_EQ(T_TOK(t_snd(fd[0], (char *)"!", 1, T_EXPEDITED)), 1);
	while (n < 10 || !ex) {
		got = T_TOK(t_rcv(fd[1], buf, 3, &flags));
		if (flags & T_EXPEDITED) {
			T_EQ(got, 1);
			ex = 1;
		} else {
			memcpy(normal + n, buf, (size_t)got);
			n += (size_t)got;
		}
	}
	T_MEM(normal, "0123456789", 10);
}

XT_CASE(CO, expedited_data_in_pieces)
{
	int fd[2], flags;
	struct t_info ti;
	char buf[8];

	need_expedited();
	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.etsdu > 0 && ti.etsdu < 6)
		T_SKIP("a unit has %d bytes", ti.etsdu);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"urgent", 6, T_EXPEDITED)), 6);
	T_EVENT(fd[1], T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf, 2, &flags)), 2);
	T_EQ(flags, T_EXPEDITED | T_MORE);
	T_EQ(t_look(fd[1]), T_EXDATA);
	T_EQ(T_TOK(t_rcv(fd[1], buf + 2, 6, &flags)), 4);
	T_EQ(flags, T_EXPEDITED);
	T_MEM(buf, "urgent", 6);
}

XT_CASE(CO, expedited_data_too_long_is_TBADDATA)
{
	static char big[70000];
	struct t_info ti;
	int fd[2];

	xt_pair(fd);
	T_TOK(t_getinfo(fd[0], &ti));
	if (ti.etsdu == T_INVALID) {
		T_TERR(t_snd(fd[0], big, 1, T_EXPEDITED), TNOTSUPPORT);
		return;
	}
	if (ti.etsdu < 0 || ti.etsdu >= (int)sizeof(big))
		T_SKIP("no limit");
	T_TERR(t_snd(fd[0], big, (unsigned)ti.etsdu + 1, T_EXPEDITED),
		TBADDATA);
}

/* --------------------------------------------------------------------- flow control */

/* Fill a connection; what went. */
static size_t
fill(int fd)
{
	static char out[4096];
	size_t n = 0;
	int got;

	for (;;) {
		t_errno = 0;
		got = t_snd(fd, out, sizeof(out), 0);
		if (got < 0)
			break;
		n += (size_t)got;
		T_LT(n, 1u << 28);
	}
	T_EQ(t_errno, TFLOW);
	return n;
}

static void
drain(int fd, size_t n)
{
	static char in[65536];

	while (n > 0)
		n -= xt_rcv_all(fd, in, n < sizeof(in) ? n : sizeof(in));
}

XT_CASE(CO, a_full_connection_is_TFLOW_and_loses_nothing)
{
	size_t n;
	int fd[2];

	xt_pair(fd);
	xt_block(fd[0], 0);
	n = fill(fd[0]);
	T_GT(n, 4096);
	T_STATE(fd[0], T_DATAXFER);
	drain(fd[1], n);
	T_EQ(t_look(fd[1]), 0);
}

XT_CASE(CO, room_to_send_again_is_T_GODATA_once)
{
	size_t n;
	int fd[2];

	xt_pair(fd);
	T_EQ(t_look(fd[0]), 0);
	xt_block(fd[0], 0);
	n = fill(fd[0]);
	T_EQ(t_look(fd[0]), 0);
	drain(fd[1], n);
	T_EVENT(fd[0], T_GODATA);
	T_EQ(t_look(fd[0]), 0);
	T_EQ(T_TOK(t_snd(fd[0], (char *)"x", 1, 0)), 1);
}

XT_CASE(CO, a_blocked_sender_goes_on_when_there_is_room)
{
	size_t n;
	int fd[2];

	xt_pair(fd);
	xt_block(fd[0], 0);
	n = fill(fd[0]);
	xt_block(fd[0], 1);
	if (T_OK(fork()) == 0) {
		xt_snd_all(fd[0], "end", 3, 0);
		pause();
	}
	t_pause();
	drain(fd[1], n + 3);
}

XT_CASE(CO, an_abort_of_a_full_connection)
{
	int fd[2];

	xt_pair(fd);
	xt_block(fd[0], 0);
	fill(fd[0]);
	T_TOK(t_snddis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_SOON(t_look(fd[1]) != 0, 5000);
}

XT_CASE(CO, poll_tells_of_data_and_of_room)
{
	struct pollfd p[2];
	size_t n;
	int fd[2];

	xt_pair(fd);
	p[0].fd = fd[1];
	p[0].events = POLLIN;
	p[1].fd = fd[0];
	p[1].events = POLLOUT;
	T_EQ(T_OK(poll(p, 1, 0)), 0);
	T_EQ(T_OK(poll(p + 1, 1, 0)), 1);
	xt_block(fd[0], 0);
	n = fill(fd[0]);
	T_EQ(T_OK(poll(p, 1, 5000)), 1);
	T_EQ(T_OK(poll(p + 1, 1, 0)), 0);
	drain(fd[1], n);
	T_EQ(T_OK(poll(p + 1, 1, 5000)), 1);
	T_EQ(p[1].revents & POLLOUT, POLLOUT);
}

XT_CASE(CO, poll_tells_of_events)
{
	struct pollfd p;
	struct xt_addr at;
	int fd[2], lfd = xt_bound_at(1, 1, &at), who = xt_bound(1, 0);

	p.fd = lfd;
	p.events = POLLIN | POLLRDNORM;
	T_EQ(T_OK(poll(&p, 1, 0)), 0);
	xt_call(who, &at);
	T_EQ(T_OK(poll(&p, 1, 5000)), 1);
	T_EQ(t_look(lfd), T_LISTEN);
	xt_pair(fd);
	p.fd = fd[1];
	T_TOK(t_snddis(fd[0], NULL));
	T_EQ(T_OK(poll(&p, 1, 5000)), 1);
	T_EQ(t_look(fd[1]), T_DISCONNECT);
}

/* --------------------------------------------------------------------- random */

XT_CASE_TIMEOUT(CO, random_sizes_both_ways, 60)
{
	static char out[20000], in[20000];
	size_t at[2] = {0}, got[2] = {0}, n;
	int fd[2], flags, r;

	xt_pair(fd);
	pattern(out, sizeof(out), 3);
	for (int i = 0; i < 2; i++)
		xt_block(fd[i], 0);
	for (int k = 0; k < 4000; k++) {
		int i = (int)t_rand_below(2);

		n = 1 + t_rand_below(t_rand_below(2) ? 40 : 9000);
		if (t_rand_below(2)) {
			n = n > sizeof(out) - at[i] % sizeof(out) ?
				sizeof(out) - at[i] % sizeof(out) : n;
			r = t_snd(fd[i], out + at[i] % sizeof(out),
				(unsigned)n, 0);
			if (r < 0)
				T_EQ(t_errno, TFLOW);
			else
				at[i] += (size_t)r;
			continue;
		}
		r = t_rcv(fd[!i], in, (unsigned)n, &flags);
		if (r < 0) {
			T_EQ(t_errno, TNODATA);
			continue;
		}
		for (int j = 0; j < r; j++)
			T_EQ(in[j], out[(got[i] + (size_t)j) % sizeof(out)]);
		got[i] += (size_t)r;
		T_LE(got[i], at[i]);
	}
	for (int i = 0; i < 2; i++) {
		xt_block(fd[!i], 1);
		drain(fd[!i], at[i] - got[i]);
	}
}

XT_CASE(CO, data_with_options_or_without_is_data)
{
	struct t_optmgmt opt = {.opt = {.len = 0}};
	char c, o[64];
	int fd[2], flags;

	xt_pair(fd);
	T_EQ(T_TOK(t_sndopt(fd[0], &opt, (char *)"q", 1, 0)), 1);
	opt.opt.buf = o;
	opt.opt.maxlen = sizeof(o);
	T_EQ(T_TOK(t_rcvopt(fd[1], &opt, &c, 1, &flags)), 1);
	T_EQ(c, 'q');
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams.
 */
#include "xt.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stropts.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Two endpoints that know each other. */
struct two {
	int fd[2];
	struct xt_addr at[2];
};

static void
make(struct two *w, int nonblock)
{
	if (xt->raw && geteuid() != 0)
		T_SKIP("raw sockets are the superuser's");
	for (int i = 0; i < 2; i++)
		w->fd[i] = xt_bound_at(nonblock, 0, &w->at[i]);
}

/* Raw datagrams come with their IP header, and to everybody. */
static void
not_raw(void)
{
	if (xt->raw)
		T_SKIP("raw");
}

static int
snd(struct two *w, int from, const void *p, unsigned n)
{
	struct t_unitdata ud = {.udata = {.len = n,
				       .buf = (void *)(uintptr_t)p}};

	xt_netbuf(&ud.addr, &w->at[!from]);
	return t_sndudata(w->fd[from], &ud);
}

/* Bytes, and whom they came from. */
static int
rcv(struct two *w, int to, void *p, unsigned n, int *flags,
	struct xt_addr *from)
{
	struct t_unitdata ud = {.udata = {.maxlen = n, .buf = p}};
	int fl, ret;

	if (from != NULL)
		xt_netbuf(&ud.addr, from);
	ret = t_rcvudata(w->fd[to], &ud, flags != NULL ? flags : &fl);
	if (from != NULL)
		from->len = ud.addr.len;
	return ret < 0 ? ret : (int)ud.udata.len;
}

XT_CASE(CL, a_datagram_arrives_with_its_sender)
{
	struct xt_addr from;
	struct two w;
	int flags = 99;
	char buf[16];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "hello", 5));
	T_EQ(T_TOK(rcv(&w, 1, buf, sizeof(buf), &flags, &from)), 5);
	T_MEM(buf, "hello", 5);
	T_EQ(flags, 0);
	T_EQ(from.len, w.at[0].len);
	T_MEM(from.buf, w.at[0].buf, from.len);
}

XT_CASE(CL, datagrams_keep_their_boundaries)
{
	struct two w;
	char buf[64];

	not_raw();
	make(&w, 0);
	for (unsigned n = 1; n < 20; n++)
		T_TOK(snd(&w, 0, "abcdefghijklmnopqrstuvwxyz", n));
	for (int n = 1; n < 20; n++)
		T_EQ(T_TOK(rcv(&w, 1, buf, sizeof(buf), NULL, NULL)), n);
	T_EQ(t_look(w.fd[1]), 0);
}

XT_CASE(CL, a_datagram_of_nothing)
{
	struct two w;
	char buf[4];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "", 0));
	T_EVENT(w.fd[1], T_DATA);
	T_EQ(T_TOK(rcv(&w, 1, buf, sizeof(buf), NULL, NULL)), 0);
	T_EQ(t_look(w.fd[1]), 0);
}

XT_CASE(CL, the_longest_datagram)
{
	static char out[65507], in[65507];
	struct t_info ti;
	struct two w;

	not_raw();
	make(&w, 0);
	T_TOK(t_getinfo(w.fd[0], &ti));
	T_LE(ti.tsdu, (int)sizeof(out));
	for (int i = 0; i < ti.tsdu; i++)
		out[i] = (char)(i >> 4);
	T_TOK(snd(&w, 0, out, (unsigned)ti.tsdu));
	T_EQ(T_TOK(rcv(&w, 1, in, sizeof(in), NULL, NULL)), ti.tsdu);
	T_MEM(in, out, (size_t)ti.tsdu);
}

XT_CASE(CL, a_datagram_too_long_is_TBADDATA)
{
	static char out[70000];
	struct t_info ti;
	struct two w;

	make(&w, 0);
	T_TOK(t_getinfo(w.fd[0], &ti));
	T_TERR(snd(&w, 0, out, (unsigned)ti.tsdu + 1), TBADDATA);
	T_TERR(snd(&w, 0, out, ~0u), TBADDATA);
	T_STATE(w.fd[0], T_IDLE);
}

XT_CASE(CL, a_short_buffer_leaves_the_rest_of_a_datagram)
{
	struct xt_addr from;
	struct two w;
	int flags;
	char buf[16];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "0123456789", 10));
	T_EVENT(w.fd[1], T_DATA);
	T_EQ(T_TOK(rcv(&w, 1, buf, 4, &flags, &from)), 4);
	T_EQ(flags, T_MORE);
	T_EQ(from.len, w.at[0].len);
	T_EQ(T_TOK(rcv(&w, 1, buf, 4, &flags, &from)), 4);
	T_MEM(buf, "4567", 4);
	T_EQ(flags, T_MORE);
	T_EQ(from.len, 0);
	T_EQ(T_TOK(rcv(&w, 1, buf, 4, &flags, &from)), 2);
	T_MEM(buf, "89", 2);
	T_EQ(flags, 0);
	T_EQ(t_look(w.fd[1]), 0);
}

XT_CASE(CL, a_rest_does_not_run_into_the_next_datagram)
{
	struct two w;
	int flags;
	char buf[16];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "01234", 5));
	T_TOK(snd(&w, 0, "next", 4));
	T_EQ(T_TOK(rcv(&w, 1, buf, 3, &flags, NULL)), 3);
	T_EQ(T_TOK(rcv(&w, 1, buf, 16, &flags, NULL)), 2);
	T_EQ(flags, 0);
	T_EQ(T_TOK(rcv(&w, 1, buf, 16, &flags, NULL)), 4);
	T_MEM(buf, "next", 4);
}

XT_CASE(CL, an_address_in_too_small_a_buffer_is_TBUFOVFLW_and_gone)
{
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct two w;
	int flags;
	char c, buf[8];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "lost", 4));
	T_TOK(snd(&w, 0, "kept", 4));
	T_EVENT(w.fd[1], T_DATA);
	ud.addr.buf = &c;
	ud.addr.maxlen = 1;
	ud.udata.buf = buf;
	ud.udata.maxlen = 2;
	T_TERR(t_rcvudata(w.fd[1], &ud, &flags), TBUFOVFLW);
	T_EQ(T_TOK(rcv(&w, 1, buf, 8, NULL, NULL)), 4);
	T_MEM(buf, "kept", 4);
}

XT_CASE(CL, an_address_nobody_wants)
{
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct two w;
	int flags;
	char buf[8];

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "four", 4));
	ud.udata.buf = buf;
	ud.udata.maxlen = sizeof(buf);
	T_TOK(t_rcvudata(w.fd[1], &ud, &flags));
	T_EQ(ud.addr.len, 0);
	T_EQ(ud.udata.len, 4);
}

XT_CASE(CL, receive_of_nothing_is_TNODATA)
{
	struct two w;
	char c;

	not_raw();
	make(&w, 1);
	T_TERR(rcv(&w, 1, &c, 1, NULL, NULL), TNODATA);
}

XT_CASE(CL, send_to_no_address_is_TBADADDR)
{
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"}};
	static char big[4096];
	int fd = xt_bound(0, 0);

	T_TERR(t_sndudata(fd, &ud), TBADADDR);
	ud.addr.len = 8;
	T_TERR(t_sndudata(fd, &ud), TBADADDR);
	ud.addr.len = sizeof(big);
	ud.addr.buf = big;
	T_TERR(t_sndudata(fd, &ud), TBADADDR);
	T_STATE(fd, T_IDLE);
}

XT_CASE(CL, send_with_a_length_of_options_without_a_buffer_is_TBADOPT)
{
	struct t_unitdata ud = {.udata = {.len = 1, .buf = (char *)"x"},
		.opt = {.len = 16}};
	struct two w;

	make(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	T_TERR(t_sndudata(w.fd[0], &ud), TBADOPT);
}

XT_CASE(CL, send_from_a_bad_address_is_EFAULT)
{
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	struct two w;

	make(&w, 0);
	T_TERR(snd(&w, 0, bad, 10), TSYSERR);
	T_EQ(errno, EFAULT);
}

/* ---------------------------------------------------------------------- errors */

/* An error of the last datagram to a free port; skipped where there is none. */
static void
to_nobody(struct two *w)
{
	if (xt->inet)
		T_SKIP("nobody answers");
	make(w, 0);
	xt_nobody(&w->at[1]);
	T_TOK(snd(w, 0, "to nobody", 9));
	T_EVENT(w->fd[0], T_UDERR);
}

XT_CASE(CL, a_datagram_to_nobody_is_an_error_indication)
{
	struct t_uderr ue = {.error = 0};
	struct xt_addr whom;
	struct two w;

	to_nobody(&w);
	xt_netbuf(&ue.addr, &whom);
	T_TOK(t_rcvuderr(w.fd[0], &ue));
	T_NE(ue.error, 0);
	T_EQ(ue.addr.len, w.at[1].len);
	T_MEM(whom.buf, w.at[1].buf, ue.addr.len);
	T_EQ(t_look(w.fd[0]), 0);
}

XT_CASE(CL, calls_that_meet_an_error_indication_are_TLOOK)
{
	struct two w;
	int flags;
	char c;

	to_nobody(&w);
	T_TERR(snd(&w, 0, "x", 1), TLOOK);
	T_TERR(rcv(&w, 0, &c, 1, &flags, NULL), TLOOK);
	T_TOK(t_rcvuderr(w.fd[0], NULL));
	T_EQ(t_look(w.fd[0]), 0);
}

XT_CASE(CL, an_error_in_too_small_a_buffer_is_TBUFOVFLW_and_gone)
{
	struct t_uderr ue = {.error = 0};
	struct two w;
	char c;

	to_nobody(&w);
	ue.addr.buf = &c;
	ue.addr.maxlen = 1;
	T_TERR(t_rcvuderr(w.fd[0], &ue), TBUFOVFLW);
	T_EQ(t_look(w.fd[0]), 0);
}

XT_CASE(CL, rcvuderr_without_an_error_is_TNOUDERR)
{
	struct t_uderr ue;
	struct two w;

	not_raw();
	make(&w, 0);
	memset(&ue, 0, sizeof(ue));
	T_TERR(t_rcvuderr(w.fd[0], &ue), TNOUDERR);
	T_TOK(snd(&w, 1, "x", 1));
	T_EVENT(w.fd[0], T_DATA);
	T_TERR(t_rcvuderr(w.fd[0], &ue), TNOUDERR);
}

XT_CASE(CL, unbind_with_data_waiting_is_TLOOK)
{
	struct two w;
	char c;

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "x", 1));
	T_EVENT(w.fd[1], T_DATA);
	T_TERR(t_unbind(w.fd[1]), TLOOK);
	T_EQ(T_TOK(rcv(&w, 1, &c, 1, NULL, NULL)), 1);
	T_TOK(t_unbind(w.fd[1]));
}

/* --------------------------------------------------------------------- vectors */

XT_CASE(CL, a_vector_is_one_datagram)
{
	struct t_iovec iov[3] = {{(char *)"one", 3}, {NULL, 0},
		{(char *)"three", 5}};
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct two w;
	char buf[16];

	not_raw();
	make(&w, 0);
	xt_netbuf(&ud.addr, &w.at[1]);
	T_TOK(t_sndvudata(w.fd[0], &ud, iov, 3));
	T_EQ(T_TOK(rcv(&w, 1, buf, 16, NULL, NULL)), 8);
	T_MEM(buf, "onethree", 8);
}

XT_CASE(CL, a_datagram_into_a_vector)
{
	char a[2], b[3], c[8];
	struct t_iovec iov[3] = {{a, 2}, {b, 3}, {c, 8}};
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct xt_addr from;
	struct two w;
	int flags;

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "abcdefgh", 8));
	xt_netbuf(&ud.addr, &from);
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &ud, iov, 3, &flags)), 8);
	T_EQ(flags, 0);
	T_EQ(ud.addr.len, w.at[0].len);
	T_MEM(a, "ab", 2);
	T_MEM(b, "cde", 3);
	T_MEM(c, "fgh", 3);
}

XT_CASE(CL, a_short_vector_leaves_the_rest_of_a_datagram)
{
	char a[2], b[3], rest[4];
	struct t_iovec iov[2] = {{a, 2}, {b, 3}};
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct two w;
	int flags;

	not_raw();
	make(&w, 0);
	T_TOK(snd(&w, 0, "abcdefgh", 8));
	T_EQ(T_TOK(t_rcvvudata(w.fd[1], &ud, iov, 2, &flags)), 5);
	T_EQ(flags, T_MORE);
	T_EQ(T_TOK(rcv(&w, 1, rest, 4, &flags, NULL)), 3);
	T_EQ(flags, 0);
	T_MEM(rest, "fgh", 3);
}

XT_CASE(CL, vectors_of_none_or_too_many_are_TBADDATA)
{
	static struct t_iovec iov[T_IOV_MAX + 1];
	struct t_unitdata ud = {.udata = {.len = 0}};
	struct two w;
	int flags;

	make(&w, 1);
	xt_netbuf(&ud.addr, &w.at[1]);
	T_TERR(t_sndvudata(w.fd[0], &ud, iov, 0), TBADDATA);
	T_TERR(t_sndvudata(w.fd[0], &ud, iov, T_IOV_MAX + 1), TBADDATA);
	T_TERR(t_rcvvudata(w.fd[0], &ud, iov, 0, &flags), TBADDATA);
	T_TERR(t_rcvvudata(w.fd[0], &ud, iov, T_IOV_MAX + 1, &flags),
		TBADDATA);
}

/* ---------------------------------------------------------------- flow, readiness */

XT_CASE(CL, a_blocked_receiver_gets_the_datagram)
{
	struct two w;
	char buf[8];

	not_raw();
	make(&w, 0);
	if (T_OK(fork()) == 0) {
		t_pause();
		T_TOK(snd(&w, 0, "late", 4));
		_exit(0);
	}
	T_EQ(T_TOK(rcv(&w, 1, buf, 8, NULL, NULL)), 4);
}

XT_CASE(CL, poll_tells_of_a_datagram)
{
	struct pollfd p = {.events = POLLIN};
	struct two w;

	not_raw();
	make(&w, 0);
	p.fd = w.fd[1];
	T_EQ(T_OK(poll(&p, 1, 0)), 0);
	T_TOK(snd(&w, 0, "x", 1));
	T_EQ(T_OK(poll(&p, 1, 5000)), 1);
	T_EQ(p.revents & POLLIN, POLLIN);
}

XT_CASE(CL, a_sender_that_does_not_block_is_told_TFLOW)
{
	static char out[4096];
	struct two w;
	int n = 0;

	if (xt->inet && (!xt->native || xt->raw))
		T_SKIP("what is too much is dropped");
	make(&w, 1);
	t_errno = 0;
	while (n < 100000 && snd(&w, 0, out, sizeof(out)) == 0)
		n++;
	T_EQ(t_errno, TFLOW);
	T_GT(n, 1);
	for (int i = 0; i < n; i++)
		T_EQ(T_TOK(rcv(&w, 1, out, sizeof(out), NULL, NULL)),
			(int)sizeof(out));
	T_EVENT(w.fd[0], T_GODATA);
	T_TOK(snd(&w, 0, out, 1));
}

/* Of any length, with its number. */
static unsigned
numbered(char *buf, unsigned i, unsigned most)
{
	static const unsigned sizes[] = {4, 64, 255, 256, 300, 4096, 20000,
		32700, 40000, 65507};
	unsigned n = sizes[(i * 7) % 10];

	if (n > most)
		n = 64;
	memset(buf, (char)i, n);
	memcpy(buf, &i, sizeof(i));
	return n;
}

/* The short ones of them need no blocks, when there is room. */
XT_CASE(CL, datagrams_of_all_lengths_keep_their_order)
{
	static char out[65507], in[65507];
	unsigned most, n;
	struct t_info ti;
	struct two w;
	pid_t pid;

	if (xt->inet && (!xt->native || xt->raw))
		T_SKIP("what is too much is dropped");
	make(&w, 0);
	T_TOK(t_getinfo(w.fd[0], &ti));
	most = (unsigned)ti.tsdu;
	pid = T_OK(fork());
	if (pid == 0) {
		for (unsigned i = 0; i < 600; i++) {
			n = numbered(out, i, most);
			T_TOK(snd(&w, 0, out, n));
		}
		_exit(0);
	}
	for (unsigned i = 0; i < 600; i++) {
		n = numbered(out, i, most);
		T_EQ(T_TOK(rcv(&w, 1, in, sizeof(in), NULL, NULL)), (int)n);
		T_MEM(in, out, n);
		/* now the receiver is behind, now we are */
		if (i % 100 == 50)
			t_pause();
	}
	T_OK(waitpid(pid, NULL, 0));
}

XT_CASE(CL, modules_that_come_and_go_let_datagrams_pass_in_order)
{
	struct xt_addr from;
	struct two w;
	char c, in;

	not_raw();
	make(&w, 0);
	for (c = 0; c < 40; c++) {
		int end = c >> 1 & 1;

		T_TOK(snd(&w, 0, &c, 1));
		if ((c & 1) == 0)
			T_OK(ioctl(w.fd[end], I_PUSH, "nullmod"));
		T_TOK(snd(&w, 0, &c, 1));
		if ((c & 1) != 0)
			T_OK(ioctl(w.fd[end], I_POP, 0));
	}
	for (c = 0; c < 80; c++) {
		T_EQ(T_TOK(rcv(&w, 1, &in, 1, NULL, &from)), 1);
		T_EQ(in, c >> 1);
		T_MEM(from.buf, w.at[0].buf, from.len);
	}
}

XT_CASE(CL, who_is_bound_anew_sends_from_there)
{
	struct xt_addr from;
	struct two w;
	char in;

	not_raw();
	if (xt->inet)
		T_SKIP("addresses are hosts'");
	make(&w, 0);
	for (int i = 0; i < 10; i++) {
		struct t_bind tb = {.qlen = 0};

		T_TOK(snd(&w, 0, "x", 1));
		T_EQ(T_TOK(rcv(&w, 1, &in, 1, NULL, &from)), 1);
		T_EQ(from.len, w.at[0].len);
		T_MEM(from.buf, w.at[0].buf, from.len);
		T_TOK(t_unbind(w.fd[0]));
		xt_netbuf(&tb.addr, &w.at[0]);
		T_TOK(t_bind(w.fd[0], NULL, &tb));
		w.at[0].len = tb.addr.len;
	}
	/* and an endpoint that goes is not sent to any more */
	T_TOK(t_unbind(w.fd[1]));
	T_TOK(snd(&w, 0, "x", 1));
	T_EVENT(w.fd[0], T_UDERR);
}

XT_CASE(CL, many_to_one)
{
	struct t_unitdata ud = {.udata = {.len = 1}};
	struct xt_addr at;
	int to = xt_bound_at(0, 0, &at), flags, seen[20] = {0};
	char c;

	not_raw();
	for (int i = 0; i < 20; i++) {
		int fd = xt_bound(0, 0);

		c = (char)i;
		xt_netbuf(&ud.addr, &at);
		ud.udata.buf = &c;
		ud.udata.len = 1;
		T_TOK(t_sndudata(fd, &ud));
	}
	for (int i = 0; i < 20; i++) {
		memset(&ud, 0, sizeof(ud));
		ud.udata.buf = &c;
		ud.udata.maxlen = 1;
		T_TOK(t_rcvudata(to, &ud, &flags));
		T_EQ(seen[(int)c]++, 0);
	}
}

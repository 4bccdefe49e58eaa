/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams.
 */
#include "tp.h"

#include <str/inspect.h>

#include <sys/timod.h>

static void
two(int fd[2], struct tp_addr a[2])
{
	int i;

	tp_need_clts();
	for (i = 0; i < 2; i++) {
		fd[i] = tp_open();
		tp_bind(fd[i], 0, &a[i]);
	}
	if (tp_is()->raw)
		T_SKIP("everybody gets them");
}

/* Who sends is told at once, or held back: not so by the kernel's sockets. */
static void
near(void)
{
	if (tp_is()->inet && !tp_is()->native)
		T_SKIP("the network drops, and unbinding is its own matter");
}

static void
want_from(int fd, const struct tp_addr *a, const void *data, int len)
{
	tp_want(fd, T_UNITDATA_IND);
	T_EQ(tp.p.unitdata_ind.SRC_length, a->len);
	T_MEM(tp.ctl + tp.p.unitdata_ind.SRC_offset, a->buf, (size_t)a->len);
	T_EQ(tp.datalen, len);
	T_MEM(tp.data, data, (size_t)len);
}

T_CASE(a_datagram_comes_with_the_senders_address)
{
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	tp_udata(fd[0], &a[1], "hello", 5);
	want_from(fd[1], &a[0], "hello", 5);
	tp_udata(fd[1], &a[0], "there", 5);
	want_from(fd[0], &a[1], "there", 5);
}

T_CASE(a_datagram_to_oneself_comes_back)
{
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	tp_udata(fd[0], &a[0], "me", 2);
	want_from(fd[0], &a[0], "me", 2);
}

T_CASE(a_datagram_of_no_bytes_is_one)
{
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	tp_udata(fd[0], &a[1], "", 0);
	tp_want(fd[1], T_UNITDATA_IND);
	T_LE(tp.datalen, 0);
	tp_udata(fd[0], &a[1], "x", 1);
	want_from(fd[1], &a[0], "x", 1);
}

T_CASE(datagrams_stay_apart_and_in_order)
{
	struct tp_addr a[2];
	int fd[2], i;

	two(fd, a);
	for (i = 0; i < 50; i++)
		tp_udata(fd[0], &a[1], &i, sizeof(i));
	for (i = 0; i < 50; i++)
		want_from(fd[1], &a[0], &i, sizeof(i));
}

T_CASE(the_largest_datagram_arrives)
{
	static unsigned char big[65507];
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	memset(big, 0x5a, sizeof(big));
	tp_udata(fd[0], &a[1], big, sizeof(big));
	want_from(fd[1], &a[0], big, sizeof(big));
}

T_CASE(a_datagram_that_is_too_large_is_an_error)
{
	static unsigned char big[65530];
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	tp_udata(fd[0], &a[1], big, sizeof(big));
	tp_want(fd[0], T_UDERROR_IND);
	T_EQ(tp.p.uderror_ind.ERROR_type, EMSGSIZE);
	T_EQ(tp.p.uderror_ind.DEST_length, a[1].len);
	tp_quiet(fd[1]);
}

T_CASE(nobody_there_is_an_error_with_the_address)
{
	struct tp_addr a[2], gone;
	int fd[2];

	two(fd, a);
	near();
	tp_nobody(&gone);
	tp_udata(fd[0], &gone, "x", 1);
	tp_want(fd[0], T_UDERROR_IND);
	T_EQ(tp.p.uderror_ind.DEST_length, gone.len);
	T_MEM(tp.ctl + tp.p.uderror_ind.DEST_offset, gone.buf,
		(size_t)gone.len);
	T_NE(tp.p.uderror_ind.ERROR_type, 0);
	tp_udata(fd[0], &a[1], "x", 1); /* nothing has changed */
	want_from(fd[1], &a[0], "x", 1);
}

/* What is wrong with the address or the options makes no fatal error. */
static void
bad(int dlen, int doff, int olen, int ooff)
{
	struct {
		struct T_unitdata_req r;
		struct t_opthdr o;
	} m = { { T_UNITDATA_REQ, dlen, doff, olen, ooff },
		{ 99, XTI_GENERIC, 1, 0 } };
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	tp_put(fd[0], &m, sizeof(m), "x", 1);
	tp_want(fd[0], T_UDERROR_IND);
	T_NE(tp.p.uderror_ind.ERROR_type, 0);
	T_EQ(tp_state(fd[0]), TS_IDLE);
}

#define BAD(name_, ...) T_CASE(name_) { bad(__VA_ARGS__); }
BAD(no_destination, 0, 0, 0, 0)
BAD(a_destination_of_negative_length, -1, 20, 0, 0)
BAD(a_destination_too_long, 0x7fffffff, 20, 0, 0)
BAD(a_destination_before_the_message, 4, -4, 0, 0)
BAD(a_destination_over_the_header, 4, 0, 0, 0)
BAD(a_destination_behind_the_message, 4, 4096, 0, 0)
BAD(a_destination_that_ends_behind, 17, 20, 0, 0)
BAD(a_destination_that_wraps_around, 16, 0x7ffffff0, 0, 0)
BAD(options_of_negative_length, 4, 20, -1, 20)
BAD(options_too_long, 4, 20, 0x7fffffff, 20)
BAD(options_behind_the_message, 4, 20, 16, 4096)
BAD(options_with_a_broken_header, 4, 20, 16, 20)
BAD(options_shorter_than_a_header, 4, 20, 8, 20)

T_CASE(a_datagram_may_be_of_high_priority)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[256];
	} m;
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	m.r = (struct T_unitdata_req){ T_UNITDATA_REQ, a[1].len, sizeof(m.r),
		0, 0 };
	memcpy(m.addr, a[1].buf, (size_t)a[1].len);
	T_OK(tp_try(fd[0], &m, (int)sizeof(m.r) + a[1].len, "x", 1, -1));
	want_from(fd[1], &a[0], "x", 1);
	T_FALSE(tp.hipri);
}

T_CASE(a_short_sender_can_have_a_long_address)
{
	struct tp_addr a[2] = { { .len = 200 }, { .len = 1, .buf = "s" } };
	int fd[2], i;

	tp_need_clts();
	tp_need_loopback();
	memset(a[0].buf, 'l', 200);
	for (i = 0; i < 2; i++) {
		fd[i] = tp_open();
		tp_bind_req(fd[i], &a[i], 0, T_BIND_REQ);
		tp_want(fd[i], T_BIND_ACK);
	}
	tp_udata(fd[0], &a[1], "x", 1);
	want_from(fd[1], &a[0], "x", 1);
	tp_udata(fd[1], &a[0], "y", 1);
	want_from(fd[0], &a[1], "y", 1);
}

T_CASE(unbinding_ends_reception)
{
	struct tp_addr a[2];
	int fd[2];

	two(fd, a);
	near();
	tp_udata(fd[0], &a[1], "old", 3);
	tp_unbind(fd[1]);
	tp_quiet(fd[1]);
	tp_udata(fd[0], &a[1], "x", 1);
	tp_want(fd[0], T_UDERROR_IND);
	tp_bind_req(fd[1], &a[1], 0, T_BIND_REQ);
	tp_want(fd[1], T_BIND_ACK);
	tp_udata(fd[0], &a[1], "new", 3);
	want_from(fd[1], &a[0], "new", 3);
}

/* What the tools see of datagrams that were dropped. */
static uint64_t
shown(void)
{
	static uint64_t buf[1 << 17]; /* aligned */
	long n = strm_inspect(buf, sizeof(buf), STR_I_WANT_STREAMS), at;
	const struct str_i *i;
	uint64_t sum = 0;

	T_GT(n, 0);
	T_LE(n, (long)sizeof(buf));
	for (at = 0; at < n; at += (long)i->size) {
		i = (const struct str_i *)(const void *)((char *)buf + at);
		if (i->kind == STR_I_QUEUE)
			sum += ((const struct str_i_queue *)(const void *)i)->drops;
	}
	return sum;
}

/* Five seconds are how long a datagram waits for who does not read. */
T_CASE_TIMEOUT(what_is_dropped_is_counted, 60)
{
	struct strioctl si = { .ic_cmd = TI_GETDROPS };
	static char data[8192];
	struct tp_addr a[2];
	unsigned n = 77;
	int fd[2];

	two(fd, a);
	near();
	si.ic_dp = (char *)&n;
	T_OK(ioctl(fd[0], I_STR, &si));
	T_EQ(si.ic_len, (int)sizeof(n));
	T_EQ(n, 0u);
	T_EQ(shown(), 0u);
	if (T_OK(fork()) == 0)
		for (;;)
			tp_udata(fd[0], &a[1], data, sizeof(data));
	do {
		t_pause();
		si.ic_len = 0;
		T_OK(ioctl(fd[0], I_STR, &si));
	} while (n == 0);
	T_GE(shown(), n);
	tp_want(fd[1], T_UNITDATA_IND);
	si.ic_len = 0;
	T_OK(ioctl(fd[1], I_STR, &si));
	T_EQ(n, 0u); /* it is the sender's count */
}

/* How many the endpoint @fd has dropped. */
static unsigned
drops_of(int fd)
{
	unsigned n = 0;
	struct strioctl si = { .ic_cmd = TI_GETDROPS, .ic_dp = (char *)&n };

	T_OK(ioctl(fd, I_STR, &si));
	return n;
}

static void
let_pass(uint64_t ns)
{
	uint64_t end = t_now_ns() + ns;

	while (t_now_ns() < end)
		t_pause();
}

/*
 * The time in which the sender is stopped does not count among the five
 * seconds: the receiver may have been stopped with it, by a terminal.
 */
T_CASE_TIMEOUT(a_sender_that_was_stopped_drops_nothing, 60)
{
	static char data[8192];
	unsigned sent, n;
	struct tp_addr a[2];
	int fd[2], tell[2], st;
	pid_t pid;

	two(fd, a);
	near();
	T_OK(pipe2(tell, O_NONBLOCK));
	pid = T_OK(fork());
	if (pid == 0) {
		for (sent = 1;; sent++) {
			memcpy(data, &sent, sizeof(sent));
			tp_udata(fd[0], &a[1], data, sizeof(data));
			T_EQ(write(tell[1], &sent, sizeof(sent)),
				(int)sizeof(sent));
		}
	}
	/* until it has not sent anything for 200 ms: it waits */
	for (sent = n = 0;;) {
		let_pass(200000000u);
		while (read(tell[0], &sent, sizeof(sent)) == sizeof(sent))
			;
		if (sent != 0 && sent == n)
			break;
		n = sent;
	}
	T_OK(kill(pid, SIGSTOP));
	T_EQ(T_OK(waitpid(pid, &st, WUNTRACED)), pid);
	let_pass(5500000000u);
	T_OK(kill(pid, SIGCONT));
	let_pass(300000000u);
	T_EQ(drops_of(fd[0]), 0u);
	for (n = 1; n <= sent; n++) {
		tp_want(fd[1], T_UNITDATA_IND);
		T_MEM(tp.data, &n, sizeof(n));
	}
	T_OK(kill(pid, SIGKILL));
	T_OK(waitpid(pid, NULL, 0));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Flow control: nothing is lost, nothing is doubled, no process waits for ever.
 */
#include <sys/timod.h>

#include "tp.h"

enum { RECORDS = 4000, CROWD = 8 };

/* A record: its number, its length, and bytes that follow from them. */
static int
make_record(unsigned char *buf, unsigned who, unsigned n)
{
	unsigned len = 12 + (n * 2654435761u >> 20) % 900, i;

	memcpy(buf, &who, 4);
	memcpy(buf + 4, &n, 4);
	memcpy(buf + 8, &len, 4);
	for (i = 12; i < len; i++)
		buf[i] = (unsigned char)(n + i * 7 + who);
	return (int)len;
}

/* Not always as fast as the other side. */
static void
stall(unsigned n)
{
	if (n % 997 == 0)
		t_pause();
}

/* Send records, some bare, some with their block, some expedited. */
static void
send_records(int fd, unsigned who, unsigned count, int mixed)
{
	unsigned char buf[1024];
	unsigned n;

	for (n = 0; n < count; n++) {
		int len = make_record(buf, who, n);

		if (mixed && n % 64 == 5)
			tp_exsend(fd, &n, 1, 0);
		if (n % 3 == 0)
			T_EQ(T_OK(write(fd, buf, (size_t)len)), len);
		else
			tp_send(fd, buf, len, mixed && n % 5 == 0);
		stall(n + 500);
	}
}

/* Read a stream of bytes and see that it is these records. */
static void
check_stream(int fd, unsigned who, unsigned count, int mixed)
{
	static unsigned char want[1024];
	unsigned n, at = 0, ex = 0;
	int len = 0, i;

	for (n = 0; n < count;) {
		int prim = tp_get(fd);

		if (prim == T_EXDATA_IND) {
			T_EQ(tp.datalen, 1);
			ex++;
			continue;
		}
		T_TRUE(prim == -1 || prim == T_DATA_IND);
		for (i = 0; i < tp.datalen;) {
			int part;

			if (at == 0)
				len = make_record(want, who, n);
			part = len - (int)at < tp.datalen - i ?
				len - (int)at : tp.datalen - i;
			T_MEM(tp.data + i, want + at, (size_t)part);
			i += part;
			at += (unsigned)part;
			if ((int)at == len) {
				at = 0;
				n++;
				stall(n);
			}
		}
	}
	while (mixed && ex < (count + 58) / 64) {
		tp_want(fd, T_EXDATA_IND);
		ex++;
	}
}

static void
reap(pid_t pid)
{
	int status;

	T_EQ(waitpid(pid, &status, 0), pid);
	T_EQ(status, 0);
}

static pid_t
fork_(void)
{
	pid_t pid = fork();

	T_GE(pid, 0);
	return pid;
}

T_CASE_TIMEOUT(nothing_is_lost_on_a_connection, 60)
{
	int fd[2];
	pid_t pid;

	tp_need_cots();
	tp_pair(fd);
	pid = fork_();
	if (pid == 0) {
		send_records(fd[0], 1, RECORDS, 0);
		_exit(0);
	}
	check_stream(fd[1], 1, RECORDS, 0);
	reap(pid);
}

T_CASE_TIMEOUT(nothing_is_lost_both_ways_with_expedited_data_between, 60)
{
	int fd[2];
	pid_t pid[2];
	int i;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	for (i = 0; i < 2; i++) {
		pid[i] = fork_();
		if (pid[i] == 0) {
			send_records(fd[i], (unsigned)i, RECORDS / 2, 1);
			_exit(0);
		}
	}
	pid_t reader = fork_();
	if (reader == 0) {
		check_stream(fd[0], 1, RECORDS / 2, 1);
		_exit(0);
	}
	check_stream(fd[1], 0, RECORDS / 2, 1);
	reap(reader);
	reap(pid[0]);
	reap(pid[1]);
}

/* Processes in pairs, all in one transport at a time. */
T_CASE_TIMEOUT(eight_processes_do_not_meet, 60)
{
	pid_t pid[CROWD];
	int i, fd[2];

	tp_need_cots();
	for (i = 0; i < CROWD; i += 2) {
		tp_pair(fd);
		pid[i] = fork_();
		if (pid[i] == 0) {
			send_records(fd[0], (unsigned)i, RECORDS / 4, 0);
			_exit(0);
		}
		pid[i + 1] = fork_();
		if (pid[i + 1] == 0) {
			check_stream(fd[1], (unsigned)i, RECORDS / 4, 0);
			_exit(0);
		}
		T_OK(close(fd[0]));
		T_OK(close(fd[1]));
	}
	for (i = 0; i < CROWD; i++)
		reap(pid[i]);
}

/* Fill @fd until no more is taken; how many messages were. */
static int
fill(int fd)
{
	char block[1000];
	int n = 0;

	memset(block, 'f', sizeof(block));
	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	while (write(fd, block, sizeof(block)) == (int)sizeof(block))
		T_LT(++n, 1000000);
	T_EQ(errno, EAGAIN);
	T_OK(fcntl(fd, F_SETFL, O_RDWR));
	return n;
}

static void
drain(int fd, int n)
{
	static char block[1000];
	int i;

	memset(block, 'f', sizeof(block));
	for (i = 0; i < n; i++)
		tp_data(fd, block, sizeof(block));
}

T_CASE(a_connection_that_is_not_read_takes_so_much)
{
	struct pollfd pfd;
	int fd[2], n;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	T_GT(n, 10);
	pfd = (struct pollfd){ .fd = fd[0], .events = POLLOUT };
	T_EQ(poll(&pfd, 1, 0), 0);
	drain(fd[1], n);
	tp_quiet(fd[1]);
	T_EQ(poll(&pfd, 1, TP_WAIT), 1);
	tp_send(fd[0], "more", 4, 0);
	tp_data(fd[1], "more", 4);
}

/* The head holds ordinary messages back: so it goes in front. */
static void
urgent(int fd, const void *req, int len)
{
	T_OK(tp_try(fd, req, len, NULL, -1, -1));
}

T_CASE(requests_are_answered_while_data_is_stuck)
{
	struct T_info_req r = { T_INFO_REQ };
	struct T_addr_req ar = { T_ADDR_REQ };
	int fd[2], n;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	urgent(fd[0], &r, sizeof(r));
	tp_want(fd[0], T_INFO_ACK);
	T_EQ(tp.p.info_ack.CURRENT_state, TS_DATA_XFER);
	urgent(fd[0], &ar, sizeof(ar));
	tp_want(fd[0], T_ADDR_ACK);
	drain(fd[1], n);
}

T_CASE(expedited_data_overtakes_what_is_stuck)
{
	int fd[2], n;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	T_OK(tp_try(fd[0], &(struct T_exdata_req){ T_EXDATA_REQ, 0 },
		sizeof(struct T_exdata_req), "!", 1, 1));
	tp_want(fd[1], T_EXDATA_IND);
	drain(fd[1], n);
}

T_CASE(a_disconnection_overtakes_what_is_stuck)
{
	struct T_discon_req r = { T_DISCON_REQ, -1 };
	int fd[2], n, got = 0;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	urgent(fd[0], &r, sizeof(r));
	tp_ok(fd[0], T_DISCON_REQ);
	/* what had arrived can be read, and then the end of it */
	while (tp_get(fd[1]) == -1)
		got++;
	T_EQ(tp.prim, T_DISCON_IND);
	T_LT(got, n);
}

T_CASE(who_releases_and_closes_while_stuck_loses_nothing)
{
	int fd[2], n;

	tp_need_ord();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	/* a head that is full takes no more; its modules do */
	pid_t pid = fork_();
	if (pid == 0) {
		tp_prim(fd[0], T_ORDREL_REQ);
		_exit(0);
	}
	T_OK(close(fd[0]));
	drain(fd[1], n);
	tp_want(fd[1], T_ORDREL_IND);
	reap(pid);
}

T_CASE(what_was_stuck_when_its_sender_closed_can_be_read)
{
	int fd[2], n;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	T_OK(fcntl(fd[0], F_SETFL, O_RDWR | O_NONBLOCK));
	T_OK(close(fd[0])); /* does not wait for it */
	drain(fd[1], n);
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
}

/* Whether a piece is told to be one is not for its sender's close to say. */
T_CASE(what_was_stuck_when_its_sender_closed_has_units_where_there_are_units)
{
	struct T_data_req r = { T_DATA_REQ, 1 };
	static char block[1000];
	int fd[2], n = 0, want;

	tp_need_cots();
	tp_need_loopback();
	want = tp_is()->tsdu != 0 ? T_DATA_IND : -1;
	tp_pair(fd);
	T_OK(fcntl(fd[0], F_SETFL, O_RDWR | O_NONBLOCK));
	while (tp_try(fd[0], &r, sizeof(r), block, sizeof(block), 0) == 0)
		n++;
	T_EQ(errno, EAGAIN);
	T_OK(close(fd[0]));
	while (n-- > 0) {
		T_EQ(tp_get(fd[1]), want);
		if (want == T_DATA_IND)
			T_EQ(tp.p.data_ind.MORE_flag, 1);
		T_EQ(tp.datalen, (int)sizeof(block));
	}
	T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
}

/* close(2) waits for it, and is not itself what it waits for */
T_CASE_TIMEOUT(a_close_that_waits_sends_what_is_stuck, 30)
{
	int fd[2], told[2], n;
	char go;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	T_OK(pipe(told));
	n = fill(fd[0]);
	pid_t pid = fork_();
	if (pid == 0) {
		T_OK(close(fd[0]));
		T_EQ(write(told[1], "!", 1), 1);
		drain(fd[1], n);
		T_EQ(tp_discon_ind(fd[1]), ECONNRESET);
		_exit(0);
	}
	T_EQ(read(told[0], &go, 1), 1);
	T_OK(close(fd[0]));
	reap(pid);
	T_OK(close(told[0]));
	T_OK(close(told[1]));
}

T_CASE(flushing_the_sender_drops_what_is_stuck)
{
	int fd[2], n, got = 0;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	T_OK(ioctl(fd[0], I_FLUSH, FLUSHW));
	tp_send(fd[0], "end", 3, 0);
	while (tp_get(fd[1]) == -1 && tp.datalen == 1000)
		got++;
	T_EQ(tp.datalen, 3);
	T_LT(got, n);
}

/* What was to follow the data still does. */
T_CASE(a_release_behind_what_is_flushed_is_kept)
{
	struct T_ordrel_req r = { T_ORDREL_REQ };
	int fd[2];

	tp_need_ord();
	tp_pair(fd);
	(void)fill(fd[0]);
	urgent(fd[0], &r, sizeof(r));
	T_OK(ioctl(fd[0], I_FLUSH, FLUSHW));
	while (tp_get(fd[1]) == -1)
		;
	T_EQ(tp.prim, T_ORDREL_IND);
	T_EQ(tp_state(fd[0]), TS_WIND_ORDREL);
}

/* Data that waits for its reader goes, the end of it is told of. */
T_CASE(an_end_behind_what_its_reader_flushes_is_told_of)
{
	int fd[2], n;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	n = fill(fd[0]);
	T_GT(n, 10);
	T_OK(fcntl(fd[0], F_SETFL, O_RDWR | O_NONBLOCK));
	T_OK(close(fd[0])); /* all of it waits on the reader's side now */
	T_OK(ioctl(fd[1], I_FLUSH, FLUSHR));
	while (tp_get(fd[1]) == -1)
		;
	T_EQ(tp.prim, T_DISCON_IND);
	T_EQ(tp.p.discon_ind.DISCON_reason, ECONNRESET);
}

T_CASE(a_buffer_that_is_larger_takes_more)
{
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		unsigned val;
	} m = { { T_OPTMGMT_REQ, 20, sizeof(m.r), T_NEGOTIATE },
		{ 20, XTI_GENERIC, XTI_RCVBUF, 0 }, 4096 };
	int fd[2], small, large;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	tp_put(fd[1], &m, sizeof(m), NULL, -1);
	tp_want(fd[1], T_OPTMGMT_ACK);
	small = fill(fd[0]);
	drain(fd[1], small);
	m.val = 1 << 20;
	tp_put(fd[1], &m, sizeof(m), NULL, -1);
	tp_want(fd[1], T_OPTMGMT_ACK);
	large = fill(fd[0]);
	T_GT(large, small + 500);
	drain(fd[1], large);
}

/* -------------------------------------------------------------------- datagrams */

static int
receiver(struct tp_addr *a)
{
	int fd = tp_open();

	tp_bind(fd, 0, a);
	return fd;
}

static void
send_datagrams(unsigned who, const struct tp_addr *to, unsigned count)
{
	int fd = tp_open();
	unsigned char buf[1024];
	unsigned n;

	tp_bind(fd, 0, NULL);
	for (n = 0; n < count; n++)
		tp_udata(fd, to, buf, make_record(buf, who, n));
	T_OK(close(fd)); /* waits for what has not gone */
}

/* All of @n senders' datagrams, each sender's in order. */
static void
check_datagrams(int fd, unsigned n, unsigned count)
{
	static unsigned char want[1024];
	unsigned next[CROWD] = { 0 }, all;

	for (all = 0; all < n * count; all++) {
		unsigned who;

		tp_want(fd, T_UNITDATA_IND);
		memcpy(&who, tp.data, 4);
		T_LT(who, n);
		T_EQ(tp.datalen, make_record(want, who, next[who]));
		T_MEM(tp.data, want, (size_t)tp.datalen);
		next[who]++;
		stall(all);
	}
	tp_quiet(fd);
}

T_CASE_TIMEOUT(datagrams_to_a_full_receiver_wait, 60)
{
	struct tp_addr a;
	int fd;
	pid_t pid;

	tp_need_clts();
	tp_need_loopback();
	fd = receiver(&a);
	pid = fork_();
	if (pid == 0) {
		send_datagrams(0, &a, RECORDS);
		_exit(0);
	}
	check_datagrams(fd, 1, RECORDS);
	reap(pid);
}

T_CASE_TIMEOUT(seven_senders_and_one_receiver_lose_nothing, 60)
{
	struct tp_addr a;
	pid_t pid[CROWD - 1];
	int fd, i;

	tp_need_clts();
	tp_need_loopback();
	fd = receiver(&a);
	for (i = 0; i < CROWD - 1; i++) {
		pid[i] = fork_();
		if (pid[i] == 0) {
			send_datagrams((unsigned)i, &a, RECORDS / 8);
			_exit(0);
		}
	}
	check_datagrams(fd, CROWD - 1, RECORDS / 8);
	for (i = 0; i < CROWD - 1; i++)
		reap(pid[i]);
}

/* Send to @a until no more is taken. */
static int
flood(int fd, const struct tp_addr *a)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[256];
	} m = { .r = { T_UNITDATA_REQ, a->len, sizeof(m.r), 0, 0 } };
	static char block[1000];
	int n = 0;

	memcpy(m.addr, a->buf, (size_t)a->len);
	T_OK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK));
	while (tp_try(fd, &m, (int)sizeof(m.r) + a->len, block, sizeof(block),
		0) == 0)
		T_LT(++n, 1000000);
	T_EQ(errno, EAGAIN);
	return n;
}

T_CASE(a_receiver_that_goes_frees_who_waits_for_it)
{
	struct tp_addr a, b;
	int fd, full, other, n;

	tp_need_clts();
	tp_need_loopback();
	full = receiver(&a);
	other = receiver(&b);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	n = flood(fd, &a);
	T_GT(n, 10);
	T_OK(close(full));
	tp_want(fd, T_UDERROR_IND);
	T_OK(fcntl(fd, F_SETFL, O_RDWR));
	tp_udata(fd, &b, "x", 1);
	tp_want(other, T_UNITDATA_IND);
}

/* Without room for longer than one is waited for that does not read. */
T_CASE_TIMEOUT(a_receiver_that_reads_slowly_loses_nothing, 60)
{
	struct tp_addr a;
	unsigned drops = 0;
	struct strioctl si = { TI_GETDROPS, 0, 0, (char *)&drops };
	int fd, full, n, i;

	tp_need_clts();
	tp_need_loopback();
	full = receiver(&a);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	n = flood(fd, &a);
	for (i = 0; i < n; i++) {
		if (i < 13)
			(void)poll(NULL, 0, 500);
		tp_want(full, T_UNITDATA_IND);
	}
	T_OK(ioctl(fd, I_STR, &si));
	T_EQ(drops, 0u);
	tp_quiet(full);
}

T_CASE_TIMEOUT(a_receiver_that_never_reads_does_not_hold_others_up, 60)
{
	struct tp_addr a, b;
	int fd, full, other;

	tp_need_clts();
	tp_need_loopback();
	full = receiver(&a);
	other = receiver(&b);
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	(void)flood(fd, &a);
	T_OK(fcntl(fd, F_SETFL, O_RDWR));
	tp_udata(fd, &b, "x", 1);
	tp_want(other, T_UNITDATA_IND);
	tp_want(full, T_UNITDATA_IND);
}

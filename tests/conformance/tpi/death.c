/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Processes that are killed, or stopped, in the midst of it.
 */
#include "tp.h"

#include <sched.h>
#include <sys/bufmod.h>

enum { KILLS = 15 };

static pid_t
fork_(void)
{
	pid_t pid = fork();

	T_GE(pid, 0);
	return pid;
}

static void
kill_(pid_t pid)
{
	int status;

	T_OK(kill(pid, SIGKILL));
	T_EQ(waitpid(pid, &status, 0), pid);
}

/* Let the others get somewhere: where, is what the seed decides. */
static void
let_run(unsigned us)
{
	uint64_t end = t_now_ns() + us * 1000u;

	while (t_now_ns() < end)
		(void)sched_yield();
}

T_CASE(a_peer_that_is_killed_disconnects)
{
	struct tp_addr a;
	int lfd, seq, acc;
	pid_t pid;

	tp_need_cots();
	lfd = tp_listener(1, &a);
	pid = fork_();
	if (pid == 0) {
		int fd = tp_call(&a);

		tp_want(fd, T_CONN_CON);
		tp_send(fd, "alive", 5, 0);
		for (;;)
			pause();
	}
	seq = tp_conn_ind(lfd);
	acc = tp_open();
	tp_conn_res(lfd, tp_id(acc), seq);
	tp_ok(lfd, T_CONN_RES);
	tp_data(acc, "alive", 5);
	kill_(pid);
	if (tp_is()->inet)
		return; /* as the network's close */
	T_EQ(tp_discon_ind(acc), ECONNRESET);
	T_EQ(tp_state(acc), TS_IDLE);
}

T_CASE(a_caller_that_is_killed_is_withdrawn)
{
	struct tp_addr a;
	int lfd, seq, p[2];
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = fork_();
	if (pid == 0) {
		(void)tp_call(&a);
		for (;;)
			pause();
	}
	seq = tp_conn_ind(lfd);
	kill_(pid);
	(void)tp_discon_ind(lfd);
	T_EQ(tp.p.discon_ind.SEQ_number, seq);
	T_EQ(tp_state(lfd), TS_IDLE);
}

T_CASE(a_listener_that_is_killed_refuses)
{
	struct tp_addr a;
	int fd, p[2];
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	fd = tp_open();
	tp_bind(fd, 0, NULL);
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = fork_();
	if (pid == 0) {
		(void)tp_listener(1, &a);
		T_EQ(write(p[1], &a, sizeof(a)), (int)sizeof(a));
		for (;;)
			pause();
	}
	T_EQ(read(p[0], &a, sizeof(a)), (int)sizeof(a));
	tp_conn_req(fd, &a);
	tp_ok(fd, T_CONN_REQ);
	kill_(pid);
	T_EQ(tp_discon_ind(fd), ECONNREFUSED);
}

T_CASE(the_address_of_who_is_killed_is_free)
{
	struct tp_addr a;
	int fd, p[2], i;
	pid_t pid;

	tp_need_loopback();
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	fd = tp_open();
	pid = fork_();
	if (pid == 0) {
		int mine = tp_open();

		tp_bind(mine, 0, &a);
		T_EQ(write(p[1], &a, sizeof(a)), (int)sizeof(a));
		for (;;)
			pause();
	}
	T_EQ(read(p[0], &a, sizeof(a)), (int)sizeof(a));
	kill_(pid);
	for (i = 0; i < 5000; i++) {
		tp_bind_req(fd, &a, 0, T_BIND_REQ);
		if (tp_get(fd) == T_BIND_ACK)
			break;
		T_EQ(tp.p.error_ack.TLI_error, TADDRBUSY);
		t_pause();
	}
	T_EQ(tp.prim, T_BIND_ACK);
}

/* Connect, send, and disconnect or release, for ever. */
static void
restless(const struct tp_addr *a, volatile unsigned *turns)
{
	for (;;) {
		int fd = tp_open(), i;

		tp_bind(fd, 0, NULL);
		tp_conn_req(fd, a);
		if (tp_get(fd) != T_OK_ACK || tp_get(fd) != T_CONN_CON) {
			T_OK(close(fd));
			continue;
		}
		for (i = 0; i < 50; i++)
			tp_send(fd, "restless", 8, 0);
		++*turns;
		if ((*turns & 1) != 0)
			tp_discon_req(fd, -1);
		T_OK(close(fd));
	}
}

/* Accept each caller, read what comes, until it ends. */
static void
serve(int lfd)
{
	for (;;) {
		int seq, acc;

		if (tp_get(lfd) != T_CONN_IND)
			continue; /* a caller has gone */
		seq = tp.p.conn_ind.SEQ_number;
		acc = tp_open();
		tp_conn_res(lfd, tp_id(acc), seq);
		while (tp_get(lfd) == T_CONN_IND || tp.prim == T_DISCON_IND)
			;
		while (tp.prim == T_OK_ACK && tp_get(acc) == -1)
			tp.prim = T_OK_ACK;
		T_OK(close(acc));
	}
}

/* Killed at any moment, callers leave a provider that works. */
T_CASE_TIMEOUT(callers_that_are_killed_do_no_harm, 60)
{
	volatile unsigned *turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tp_addr a;
	int lfd, fd[2], i;
	pid_t pid, server;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(2, &a);
	server = fork_();
	if (server == 0)
		serve(lfd);
	for (i = 0; i < KILLS; i++) {
		unsigned was = *turns;

		pid = fork_();
		if (pid == 0)
			restless(&a, turns);
		T_SOON(*turns != was, 10000);
		let_run((unsigned)t_rand_below(3000));
		kill_(pid);
	}
	kill_(server);
	tp_pair(fd);
	tp_send(fd[0], "still here", 10, 0);
	tp_data(fd[1], "still here", 10);
}

/* Senders of datagrams are killed; their receiver sees whole ones. */
T_CASE_TIMEOUT(senders_that_are_killed_leave_whole_datagrams, 60)
{
	struct tp_addr a;
	int fd, i, n = 0;
	pid_t pid;

	tp_need_clts();
	tp_need_loopback();
	fd = tp_open();
	tp_bind(fd, 0, &a);
	for (i = 0; i < KILLS; i++) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		pid = fork_();
		if (pid == 0) {
			int mine = tp_open();

			tp_bind(mine, 0, NULL);
			for (;;)
				tp_udata(mine, &a, "0123456789", 10);
		}
		let_run((unsigned)t_rand_below(3000));
		T_EQ(poll(&pfd, 1, TP_WAIT), 1);
		kill_(pid);
		while (poll(&pfd, 1, 0) == 1) {
			tp_want(fd, T_UNITDATA_IND);
			T_EQ(tp.datalen, 10);
			n++;
		}
	}
	T_GE(n, KILLS);
	tp_udata(fd, &a, "me", 2);
	do
		tp_want(fd, T_UNITDATA_IND);
	while (tp.datalen == 10);
	T_EQ(tp.datalen, 2);
}

/* Who is stopped keeps its own connection waiting, and no other. */
T_CASE(who_is_stopped_holds_up_nobody_else)
{
	int fd[2], other[2], i;
	pid_t pid;

	tp_need_cots();
	tp_pair(fd);
	pid = fork_();
	if (pid == 0)
		for (;;)
			tp_send(fd[0], "busy", 4, 0);
	for (i = 0; i < 10; i++)
		tp_want(fd[1], -1);
	T_OK(kill(pid, SIGSTOP));
	tp_pair(other);
	for (i = 0; i < 100; i++) {
		tp_send(other[0], "go", 2, 0);
		tp_data(other[1], "go", 2);
	}
	kill_(pid);
}

/* Who shares an endpoint and is killed in it leaves it to the others. */
T_CASE_TIMEOUT(sharers_that_are_killed_leave_the_endpoint_to_the_others, 60)
{
	int fd[2], i, ends;
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	for (i = 0; i < KILLS; i++) {
		pid = fork_();
		if (pid == 0)
			for (;;)
				tp_send(fd[0], "child", 5, 0);
		tp_want(fd[1], -1);
		let_run((unsigned)t_rand_below(2000));
		kill_(pid);
		/* the queue may be full of what the child sent */
		pid = fork_();
		if (pid == 0) {
			tp_send(fd[0], "mine", 4, 0);
			_exit(0);
		}
		for (ends = 0; !ends;) {
			tp_want(fd[1], -1);
			if (tp.datalen == 4)
				T_MEM(tp.data, "mine", 4);
			else
				T_EQ(tp.datalen, 5);
			ends = tp.datalen == 4;
		}
		T_EQ(waitpid(pid, &ends, 0), pid);
		T_EQ(ends, 0);
	}
}

/* The same of datagrams. */
T_CASE_TIMEOUT(sharers_of_a_sender_that_are_killed_leave_it_usable, 60)
{
	struct tp_addr a;
	int fd, mine, i;
	pid_t pid;

	tp_need_clts();
	tp_need_loopback();
	fd = tp_open();
	tp_bind(fd, 0, &a);
	mine = tp_open();
	tp_bind(mine, 0, NULL);
	for (i = 0; i < KILLS; i++) {
		pid = fork_();
		if (pid == 0)
			for (;;)
				tp_udata(mine, &a, "child", 5);
		tp_want(fd, T_UNITDATA_IND);
		let_run((unsigned)t_rand_below(2000));
		kill_(pid);
		pid = fork_();
		if (pid == 0) {
			tp_udata(mine, &a, "mine", 4);
			_exit(0);
		}
		do
			tp_want(fd, T_UNITDATA_IND);
		while (tp.datalen == 5);
		T_EQ(tp.datalen, 4);
		T_EQ(waitpid(pid, NULL, 0), pid);
	}
}

/* A disconnection while the other end is busy sending, again and again. */
T_CASE_TIMEOUT(nothing_of_an_old_connection_comes_into_a_new_one, 60)
{
	struct tp_addr a;
	int lfd, acc, i, p[2];
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	acc = tp_open();
	T_OK(socketpair(AF_UNIX, SOCK_STREAM, 0, p));
	pid = fork_();
	if (pid == 0) {
		int fd = tp_open();

		tp_bind(fd, 0, NULL);
		for (i = 0;; i++) {
			tp_conn_req(fd, &a);
			while (tp_get(fd) != T_CONN_CON)
				;
			do
				tp_send(fd, &i, sizeof(i), 0);
			while (tp_try(fd, NULL, 0, &i, sizeof(i), 0) == 0 &&
				poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) ==
					0);
			(void)tp_discon_ind(fd);
		}
	}
	for (i = 0; i < 200; i++) {
		int seq = tp_conn_ind(lfd), n, got;

		tp_conn_res(lfd, tp_id(acc), seq);
		tp_ok(lfd, T_CONN_RES);
		for (n = (int)t_rand_below(20); n >= 0; n--) {
			tp_want(acc, -1);
			memcpy(&got, tp.data, sizeof(got));
			T_EQ(got, i);
		}
		tp_discon_req(acc, -1);
		while (tp_get(acc) != T_OK_ACK)
			T_EQ(tp.prim, -1);
	}
	kill_(pid);
}

/* What is written without a primitive may take a shorter way. */
T_CASE_TIMEOUT(writers_that_are_killed_leave_whole_messages, 60)
{
	char big[3000];
	int fd[2], i, ends;
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	memset(big, 'b', sizeof(big));
	for (i = 0; i < KILLS; i++) {
		pid = fork_();
		if (pid == 0)
			for (;;)
				if (write(fd[0], big, sizeof(big)) !=
					(int)sizeof(big))
					_exit(1);
		tp_want(fd[1], -1);
		let_run((unsigned)t_rand_below(2000));
		kill_(pid);
		pid = fork_();
		if (pid == 0)
			_exit(write(fd[0], "mine", 4) != 4);
		for (ends = 0; !ends;) {
			tp_want(fd[1], -1);
			ends = tp.datalen == 4;
			if (ends)
				T_MEM(tp.data, "mine", 4);
			else
				T_EQ(tp.datalen, (int)sizeof(big));
		}
		T_EQ(waitpid(pid, &ends, 0), pid);
		T_EQ(ends, 0);
	}
}

T_CASE_TIMEOUT(nothing_written_before_comes_into_a_new_connection, 60)
{
	struct tp_addr a;
	int lfd, acc, i;
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	lfd = tp_listener(1, &a);
	acc = tp_open();
	pid = fork_();
	if (pid == 0) {
		int fd = tp_open();

		tp_bind(fd, 0, NULL);
		for (i = 0;; i++) {
			tp_conn_req(fd, &a);
			while (tp_get(fd) != T_CONN_CON)
				;
			do
				T_EQ(write(fd, &i, sizeof(i)), (int)sizeof(i));
			while (poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 0) ==
				0);
			(void)tp_discon_ind(fd);
		}
	}
	for (i = 0; i < 200; i++) {
		int seq = tp_conn_ind(lfd), n, got;

		tp_conn_res(lfd, tp_id(acc), seq);
		tp_ok(lfd, T_CONN_RES);
		for (n = (int)t_rand_below(40); n >= 0; n--) {
			tp_want(acc, -1);
			memcpy(&got, tp.data, sizeof(got));
			T_EQ(got, i);
		}
		tp_discon_req(acc, -1);
		while (tp_get(acc) != T_OK_ACK)
			T_EQ(tp.prim, -1);
	}
	kill_(pid);
}

/* Modules come and go while a process writes. */
T_CASE_TIMEOUT(modules_pushed_meanwhile_keep_the_order, 60)
{
	int fd[2], i, got, pushed[2] = { 0, 0 };
	pid_t pid;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	pid = fork_();
	if (pid == 0)
		for (i = 0;; i++)
			if (write(fd[0], &i, sizeof(i)) != (int)sizeof(i))
				_exit(1);
	for (i = 0; i < 20000; i++) {
		int e = (int)t_rand_below(400);

		tp_want(fd[1], -1);
		T_EQ(tp.datalen, (int)sizeof(got));
		memcpy(&got, tp.data, sizeof(got));
		T_EQ(got, i);
		if (e > 1)
			continue;
		if (pushed[e])
			T_OK(ioctl(fd[e], I_POP, 0));
		else
			T_OK(ioctl(fd[e], I_PUSH, "nullmod"));
		pushed[e] = !pushed[e];
	}
	kill_(pid);
	/* or the other end's close waits for what is not read */
	T_OK(close(fd[1]));
}

/* bufmod puts a header in front: nothing goes past it. */
T_CASE(what_is_written_goes_through_what_is_pushed)
{
	unsigned none = 0;
	struct strioctl each = { SBIOCSCHUNK, 5, 0, (char *)&none };
	int fd[2], i, round;

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 40; i++) {
			T_EQ(write(fd[0], "data", 4), 4);
			tp_want(fd[1], -1);
			if (round & 1)
				T_GT(tp.datalen, 4);
			else
				T_EQ(tp.datalen, 4);
		}
		if (round & 1) {
			T_OK(ioctl(fd[1], I_POP, 0));
		} else {
			T_OK(ioctl(fd[1], I_PUSH, "bufmod"));
			each.ic_len = sizeof(none);
			T_OK(ioctl(fd[1], I_STR, &each));
		}
	}
}

/* Two processes write, the reader stalls now and then, so that it is full. */
T_CASE_TIMEOUT(two_who_write_keep_their_order, 60)
{
	static int msg[4096];
	int fd[2], i, who, next[2] = { 0, 0 };
	pid_t pid[2];

	tp_need_cots();
	tp_need_loopback();
	tp_pair(fd);
	for (who = 0; who < 2; who++) {
		pid[who] = fork_();
		if (pid[who] != 0)
			continue;
		msg[0] = who;
		for (;; msg[1]++)
			if (write(fd[0], msg, sizeof(msg)) != (int)sizeof(msg))
				_exit(1);
	}
	for (i = 0; i < 3000; i++) {
		if (i % 50 == 0)
			let_run((unsigned)t_rand_below(3000));
		T_EQ(read(fd[1], msg, sizeof(msg)), (int)sizeof(msg));
		who = msg[0] & 1;
		T_EQ(msg[1], next[who]);
		next[who]++;
	}
	kill_(pid[0]);
	kill_(pid[1]);
	T_OK(close(fd[1])); /* as above */
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SCTP between endpoints of one domain, without packets: flow control, and the
 * end of a connection while data is unread or waits.
 */
#include "sctp_near.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xti_inet.h>
#include <unistd.h>

/* -------------------------------------------------------------------- the end */

/* All that was sent before a release comes before it, both ways. */
XT_CASE(ORD, a_release_comes_behind_all_data)
{
	int fd[2], flags;
	char buf[64];

	xt_near_need();
	for (int i = 0; i < 30; i++) {
		xt_pair(fd);
		for (int k = 0; k < i * 3; k++)
			xt_say(fd[0], "before");
		T_TOK(t_sndrel(fd[0]));
		for (int k = 0; k < i * 3; k++)
			xt_hear(fd[1], "before");
		T_EVENT(fd[1], T_ORDREL);
		T_TERR(t_rcv(fd[1], buf, sizeof(buf), &flags), TLOOK);
		T_TOK(t_rcvrel(fd[1]));
		/* half closed */
		for (int k = 0; k < i * 3; k++)
			xt_say(fd[1], "after");
		T_TOK(t_sndrel(fd[1]));
		T_STATE(fd[1], T_IDLE);
		for (int k = 0; k < i * 3; k++)
			xt_hear(fd[0], "after");
		T_EVENT(fd[0], T_ORDREL);
		T_TOK(t_rcvrel(fd[0]));
		T_STATE(fd[0], T_IDLE);
		T_EQ(T_TOK(t_look(fd[0])), 0);
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
	}
}

/* An ABORT ends both sides; both can be connected again, and have no old data. */
XT_CASE(CO, after_an_abort_both_ends_are_as_new)
{
	struct xt_addr at;
	char buf[64];
	int lfd, fd[2];

	xt_near_need();
	lfd = xt_bound_at(0, 1, &at);
	fd[0] = xt_bound(1, 0);
	for (int i = 0; i < 20; i++) {
		xt_call(fd[0], &at);
		fd[1] = xt_accept(lfd);
		T_EVENT(fd[0], T_CONNECT);
		T_TOK(t_rcvconnect(fd[0], NULL));
		for (int k = 0; k < 5; k++) {
			xt_say(fd[0], "there");
			xt_say(fd[1], "back");
		}
		T_TOK(t_snddis(fd[i % 2], NULL));
		T_STATE(fd[i % 2], T_IDLE);
		T_EQ(T_TOK(t_look(fd[i % 2])), 0);
		for (int k = 0; k < 5; k++)
			xt_hear(fd[1 - i % 2], i % 2 == 0 ? "there" : "back");
		T_EVENT(fd[1 - i % 2], T_DISCONNECT);
		T_TOK(t_rcvdis(fd[1 - i % 2], NULL));
		T_STATE(fd[1 - i % 2], T_IDLE);
		T_EQ(T_TOK(t_look(fd[1 - i % 2])), 0);
		T_TERR(t_snd(fd[0], buf, 4, 0), TOUTSTATE);
		T_TOK(t_close(fd[1]));
	}
}

/* ------------------------------------------------------------- flow control */

/* Send until the provider has no room.  How many. */
static unsigned
fill_up(int fd)
{
	struct numbered m = {0};

	while (t_snd(fd, (char *)&m, sizeof(m), 0) == (int)sizeof(m))
		m.nr++;
	T_EQ(t_errno, TFLOW);
	T_GT(m.nr, 100);
	T_LT(m.nr, 20000); /* XTI_SNDBUF, XTI_RCVBUF: 512 KiB, and queues */
	return m.nr;
}

static void
drain(int fd, unsigned n)
{
	struct numbered m;
	int flags;

	for (unsigned i = 0; i < n; i++) {
		T_SOON(t_look(fd) == T_DATA, 10000);
		T_EQ(T_TOK(t_rcv(fd, (char *)&m, sizeof(m), &flags)),
			(int)sizeof(m));
		T_EQ(m.nr, i);
	}
}

XT_CASE_TIMEOUT(CO, both_directions_may_be_full_at_once, 60)
{
	unsigned n[2];
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 2; i++) {
			xt_block(fd[i], 0);
			n[i] = fill_up(fd[i]);
		}
		/* expedited data does not wait for the others */
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ex", 2, T_EXPEDITED)), 2);
		T_EVENT(fd[1], T_EXDATA);
		{
			char buf[8];
			int flags;

			T_EQ(T_TOK(t_rcv(fd[1], buf, 8, &flags)), 2);
			T_EQ(flags, T_EXPEDITED);
		}
		drain(fd[1], n[0]);
		drain(fd[0], n[1]);
	}
}

/* What waits at a full receiver arrives though its sender closes. */
XT_CASE_TIMEOUT(ORD, a_close_delivers_messages_that_wait_for_room, 60)
{
	unsigned n;
	int fd[2];

	xt_near_need();
	for (int killed = 0; killed < 2; killed++) {
		xt_pair(fd);
		xt_block(fd[0], 0);
		n = fill_up(fd[0]);
		if (killed) {
			pid_t pid = T_OK(fork());
			int st;

			if (pid == 0) {
				T_TOK(t_close(fd[1]));
				pause();
			}
			T_TOK(t_close(fd[0]));
			T_OK(kill(pid, SIGKILL));
			T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		} else {
			T_TOK(t_close(fd[0]));
		}
		drain(fd[1], n);
		T_EVENT(fd[1], T_ORDREL);
		T_TOK(t_close(fd[1]));
	}
}

/* Has the writer been waiting for some time? */
static void
await_block(volatile unsigned *sent)
{
	unsigned was, i;

	do {
		was = *sent;
		for (i = 0; i < 20; i++)
			t_pause();
	} while (was == 0 || was != *sent);
}

/* A writer that waits for room learns that its reader has gone. */
static void
reader_goes(int how)
{
	volatile unsigned *sent = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct numbered m = {0};
	int fd[2], st;
	pid_t pid;

	xt_near_need();
	xt_pair(fd);
	pid = T_OK(fork());
	if (pid == 0) {
		T_TOK(t_close(fd[0]));
		await_block(sent);
		if (how == 0)
			T_OK(kill(getpid(), SIGKILL));
		else if (how == 1)
			T_TOK(t_close(fd[1]));
		else
			T_TOK(t_snddis(fd[1], NULL));
		pause();
	}
	T_TOK(t_close(fd[1]));
	while (t_snd(fd[0], (char *)&m, sizeof(m), 0) == (int)sizeof(m))
		++*sent;
	T_EQ(t_errno, TLOOK);
	/* first a release, if the stream was closed; data that has waited for
	 * room is answered by an ABORT */
	if (T_TOK(t_look(fd[0])) == T_ORDREL)
		T_TOK(t_rcvrel(fd[0]));
	T_EVENT(fd[0], T_DISCONNECT);
	T_TOK(t_rcvdis(fd[0], NULL));
	T_STATE(fd[0], T_IDLE);
	T_OK(kill(pid, SIGKILL));
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
}

XT_CASE(CO, a_blocked_writer_learns_that_its_reader_was_killed)
{
	reader_goes(0);
}

XT_CASE(CO, a_blocked_writer_learns_that_its_reader_has_closed)
{
	reader_goes(1);
}

XT_CASE(CO, a_blocked_writer_learns_that_its_reader_has_aborted)
{
	reader_goes(2);
}

/* Send and receive until the connection ends. */
static void
talk(int fd, unsigned seed)
{
	struct numbered m;
	unsigned nr = 0, got = 0;
	int n, flags, how, ended = 0;

	xt_block(fd, 0);
	memset(&m, 0, sizeof(m));
	for (unsigned i = 0;; i++) {
		how = (i * 7 + seed) % 50 == 0 ? T_EXPEDITED : 0;
		m.nr = how ? ~0u : nr;
		n = ended ? -1 : t_snd(fd, (char *)&m, sizeof(m), how);
		ended |= n < 0 && t_errno != TFLOW;
		nr += n > 0 && !how;
		if (i % 3 == 0 && !ended)
			continue; /* the end is behind data */
		n = t_rcv(fd, (char *)&m, sizeof(m), &flags);
		if (n < 0 && t_errno != TNODATA)
			break;
		if (n < 0 || (flags & T_EXPEDITED) != 0)
			continue;
		T_EQ(n, (int)sizeof(m));
		T_EQ(m.nr, got++);
	}
	T_EQ(t_errno, TLOOK);
	n = t_look(fd);
	T_TRUE(n == T_ORDREL || n == T_DISCONNECT);
}

/* Whatever a killed process was doing, its peer soon learns of its end. */
XT_CASE_TIMEOUT(CO, an_end_that_is_killed_at_any_moment, 120)
{
	pid_t pid[2];
	int fd[2], st;

	if (!xt->whole)
		T_SKIP("not SCTP");
	for (unsigned i = 0; i < 60; i++) {
		xt_pair(fd);
		for (int k = 0; k < 2; k++) {
			pid[k] = T_OK(fork());
			if (pid[k] != 0)
				continue;
			T_TOK(t_close(fd[1 - k]));
			talk(fd[k], i + (unsigned)k);
			_exit(0);
		}
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
		for (unsigned k = 0; k <= i % 8; k++)
			t_pause();
		T_OK(kill(pid[i % 2], SIGKILL));
		T_EQ(T_OK(waitpid(pid[i % 2], &st, 0)), pid[i % 2]);
		T_EQ(T_OK(waitpid(pid[1 - i % 2], &st, 0)), pid[1 - i % 2]);
		T_EQ(st, 0);
	}
}

/* ------------------------------------------------------------- T_SCTP_STATUS */

static struct t_sctp_status
status_of(int fd)
{
	struct option o = {.h = {.len = sizeof(o.h), .level = T_INET_SCTP,
		.name = T_SCTP_STATUS}};
	char back[sizeof(struct t_opthdr) + sizeof(struct t_sctp_status)];
	struct t_optmgmt req = {.opt = {.buf = (char *)&o,
		.len = sizeof(o.h)}, .flags = T_CURRENT};
	struct t_optmgmt ret = {.opt = {.buf = back, .maxlen = sizeof(back)}};
	struct t_sctp_status s;

	T_TOK(t_optmgmt(fd, &req, &ret));
	T_EQ(ret.opt.len, sizeof(back));
	memcpy(&s, back + sizeof(struct t_opthdr), sizeof(s));
	return s;
}

XT_CASE(CO, the_status_counts_what_goes_in_packets)
{
	struct t_sctp_status was, is, peer;
	int fd[2], near = xt->whole != XT_PACKETS;

	if (!xt->whole)
		T_SKIP("not SCTP");
	T_EQ(status_of(xt_bound(0, 0)).state, T_SCTP_S_CLOSED);
	xt_pair(fd);
	xt_say(fd[0], "first");
	xt_hear(fd[1], "first");
	was = status_of(fd[0]);
	T_EQ(was.state, T_SCTP_S_ESTABLISHED);
	T_EQ(was.direct, near);
	T_EQ(was.ostreams, 10);
	T_EQ(was.istreams, 10); /* as many as the peer sends on */
	T_EQ(was.addresses, 1);
	T_EQ(was.unread, 0);
	T_GE(was.cwnd, 4380);
	T_EQ(was.rto, 1000000);
	for (int i = 0; i < 10; i++) {
		xt_say(fd[0], "hello");
		xt_hear(fd[1], "hello");
	}
	is = status_of(fd[0]);
	peer = status_of(fd[1]);
	T_EQ(is.next_tsn, was.next_tsn + (near ? 0 : 10));
	T_EQ(peer.rcvd_tsn, is.next_tsn - 1);
	T_LE(is.unacked, near ? 0 : 50);
	T_EQ(peer.window, 262144);
	T_TOK(t_sndrel(fd[0]));
	T_EVENT(fd[1], T_ORDREL);
	T_EQ(status_of(fd[1]).state, T_SCTP_S_SHUTDOWN_RECEIVED);
	T_EQ(status_of(fd[0]).state, T_SCTP_S_SHUTDOWN_SENT);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * SCTP between endpoints of one domain: data goes without packets, and in
 * packets where they can be seen or are needed; the order is kept.
 */
#include "sctp_near.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stropts.h>
#include <sys/ipwire.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/xti_inet.h>
#include <unistd.h>

#define SIZE (sizeof(struct t_opthdr) + sizeof(t_uscalar_t))

void
xt_near_need(void)
{
	if (!xt->whole || xt->whole == XT_PACKETS)
		T_SKIP("not SCTP without packets");
}

static void
set_option(int fd, unsigned name, unsigned value)
{
	struct option o = {.h = {.len = SIZE, .level = T_INET_SCTP,
		.name = name}, .v = {value, 0}};
	char back[64];
	struct t_optmgmt req = {.opt = {.buf = (char *)&o, .len = SIZE},
		.flags = T_NEGOTIATE};
	struct t_optmgmt ret = {.opt = {.buf = back, .maxlen = sizeof(back)}};

	T_TOK(t_optmgmt(fd, &req, &ret));
	T_EQ(ret.flags, T_SUCCESS);
}

/* How many packets lo has carried. */
static unsigned long long
packets(void)
{
	struct ipw_info info = {.index = 0};
	struct strioctl si = {.ic_cmd = IPW_INFO, .ic_len = sizeof(info),
		.ic_dp = (char *)&info};
	int fd = T_OK(open("/dev/streams/clone/ip", O_RDWR));

	T_OK(ioctl(fd, I_STR, &si));
	T_EQ(strcmp(info.conf.name, "lo"), 0);
	T_OK(close(fd));
	return info.count[1];
}

static int
open_tap(void)
{
	struct ipw_tap want = {"lo", 0, 0};
	struct strioctl si = {.ic_cmd = IPW_TAP, .ic_len = sizeof(want),
		.ic_dp = (char *)&want};
	int tap = T_OK(open("/dev/ip", O_RDWR | O_NONBLOCK));

	T_OK(ioctl(tap, I_STR, &si));
	return tap;
}

/* Does a packet that the tap has got contain @what? */
static int
tap_has(int tap, const char *what)
{
	char pkt[2048];
	struct strbuf d = {sizeof(pkt), 0, pkt};
	int flags = 0, found = 0;

	while (getmsg(tap, NULL, &d, &flags) >= 0) {
		found |= d.len > 0 && memmem(pkt, (size_t)d.len, what,
			strlen(what)) != NULL;
		flags = 0;
	}
	T_EQ(errno, EAGAIN);
	return found;
}

void
xt_say(int fd, const char *what)
{
	T_EQ(T_TOK(t_snd(fd, (char *)what, (unsigned)strlen(what), 0)),
		(int)strlen(what));
}

void
xt_hear(int fd, const char *what)
{
	char buf[64];
	int flags, n;

	n = T_TOK(t_rcv(fd, buf, sizeof(buf), &flags));
	T_EQ(n, (int)strlen(what));
	T_MEM(buf, what, (size_t)n);
	T_EQ(flags, 0);
}

XT_CASE(CO, data_within_a_domain_makes_no_packets)
{
	unsigned long long before;
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	before = packets();
	for (int i = 0; i < 1000; i++) {
		xt_say(fd[i % 2], "hello");
		xt_hear(fd[1 - i % 2], "hello");
	}
	T_LT(packets(), before + 10);
	set_option(fd[0], T_SCTP_LOCHECK, T_YES);
	before = packets();
	for (int i = 0; i < 100; i++) {
		xt_say(fd[i % 2], "hello");
		xt_hear(fd[1 - i % 2], "hello");
	}
	T_GE(packets(), before + 100);
}

/* Of the packet with @what: the type of its chunk, whose header has @hdr bytes. */
static int
chunk_type(int tap, const char *what, size_t hdr)
{
	char pkt[2048], *p;
	struct strbuf d = {sizeof(pkt), 0, pkt};
	int flags = 0, found = -1;

	while (getmsg(tap, NULL, &d, &flags) >= 0) {
		p = d.len <= 0 ? NULL : memmem(pkt, (size_t)d.len, what,
			strlen(what));
		if (p != NULL && p - pkt > (ssize_t)hdr)
			found = (unsigned char)p[-(ssize_t)hdr];
		flags = 0;
	}
	return found;
}

/* RFC 8260: I-DATA is used if both ends want it. */
XT_CASE(CO, data_goes_as_i_data_if_both_ends_want_it)
{
	int lfd, fd[2], tap, both;
	struct xt_addr at;

	xt_near_need();
	for (both = 0; both < 2; both++) {
		lfd = xt_bound_at(0, 1, &at);
		fd[0] = xt_bound(1, 0);
		set_option(lfd, T_SCTP_INTERLEAVE, T_YES);
		set_option(fd[0], T_SCTP_INTERLEAVE, both ? T_YES : T_NO);
		xt_call(fd[0], &at);
		fd[1] = xt_accept(lfd);
		T_EVENT(fd[0], T_CONNECT);
		T_TOK(t_rcvconnect(fd[0], NULL));
		tap = open_tap();
		xt_say(fd[0], "looked at");
		T_EQ(chunk_type(tap, "looked at", both ? 20 : 16),
			both ? 0x40 : 0);
		xt_hear(fd[1], "looked at");
		T_OK(close(tap));
		xt_say(fd[1], "not looked at");
		xt_hear(fd[0], "not looked at");
		T_TOK(t_close(fd[0]));
		T_TOK(t_close(fd[1]));
		T_TOK(t_close(lfd));
	}
}

XT_CASE(CO, a_tap_sees_the_data_that_is_sent_from_then_on)
{
	int fd[2], tap;

	xt_near_need();
	xt_pair(fd);
	for (int i = 0; i < 3; i++)
		xt_say(fd[0], "early");
	tap = open_tap();
	xt_say(fd[0], "seen first");
	T_EQ(tap_has(tap, "seen first"), 1);
	xt_say(fd[0], "seen second");
	T_EQ(tap_has(tap, "seen second"), 1);
	T_OK(close(tap));
	xt_say(fd[0], "late one");
	xt_say(fd[0], "late two");
	for (int i = 0; i < 3; i++)
		xt_hear(fd[1], "early");
	xt_hear(fd[1], "seen first");
	xt_hear(fd[1], "seen second");
	xt_hear(fd[1], "late one");
	xt_hear(fd[1], "late two");
}

XT_CASE(CO, messages_have_options_as_soon_as_their_receiver_asks)
{
	char buf[16], obuf[256];
	struct t_optmgmt got = {.opt = {.buf = obuf, .maxlen = sizeof(obuf)}};
	int fd[2], flags;

	xt_near_need();
	xt_pair(fd);
	for (int i = 0; i < 3; i++)
		xt_say(fd[0], "plain");
	set_option(fd[1], T_SCTP_RECVOPT, T_YES);
	xt_say(fd[0], "options");
	xt_say(fd[0], "options");
	for (int i = 0; i < 3; i++)
		xt_hear(fd[1], "plain");
	for (int i = 0; i < 2; i++) {
		T_EQ(T_TOK(t_rcvopt(fd[1], &got, buf, sizeof(buf), &flags)), 7);
		T_EQ(got.opt.len, 4 * SIZE);
	}
	set_option(fd[1], T_SCTP_RECVOPT, T_NO);
	xt_say(fd[0], "plain");
	xt_hear(fd[1], "plain");
}

/* fd[0] has an answer of fd[1], which wants options.  @far: it has some, too. */
static void
answer(const int fd[2], int far)
{
	struct option o = {.h = {.len = SIZE, .level = T_INET_SCTP,
		.name = T_SCTP_PPI}, .v = {77, 0}};
	struct t_optmgmt om = {.opt = {.buf = (char *)&o, .len = SIZE}};
	char buf[16], obuf[256];
	struct t_optmgmt got = {.opt = {.buf = obuf, .maxlen = sizeof(obuf)}};
	int flags;

	xt_say(fd[0], "request");
	T_EQ(T_TOK(t_rcvopt(fd[1], &got, buf, sizeof(buf), &flags)), 7);
	if (far)
		T_EQ(T_TOK(t_sndopt(fd[1], &om, (char *)"answer", 6, 0)), 6);
	else
		xt_say(fd[1], "answer");
	xt_hear(fd[0], "answer");
}

/* A request goes in a packet.  Its answer does not, and carries no SACK. */
XT_CASE(CO, a_request_that_is_answered_without_packets_has_its_own_sack)
{
	enum { REQUESTS = 40 };
	unsigned long long sent;
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	set_option(fd[1], T_SCTP_RECVOPT, T_YES);
	sent = packets();
	for (int i = 0; i < REQUESTS; i++)
		answer(fd, 0);
	T_SOON(packets() >= sent + 2 * REQUESTS, 5000);
}

/*
 * Of three requests the first is acknowledged by its answer, which goes in a
 * packet; the two others by SACKs, the first of which has been delayed.
 */
XT_CASE(CO, a_delayed_sack_is_sent_before_the_first_answer_without_packets)
{
	enum { TIMES = 20 };
	unsigned long long sent;
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	set_option(fd[1], T_SCTP_RECVOPT, T_YES);
	sent = packets();
	for (int i = 0; i < 3 * TIMES; i++)
		answer(fd, i % 3 == 0);
	T_SOON(packets() >= sent + 6 * TIMES, 5000);
}

enum { ROUNDS = 30000 };

/* Messages of one stream: whole, in pieces, with options. */
static void
send_mixed(int fd)
{
	struct numbered m;
	struct option o = {.h = {.len = SIZE, .level = T_INET_SCTP,
		.name = T_SCTP_PPI}, .v = {77, 0}};
	struct t_optmgmt om = {.opt = {.buf = (char *)&o, .len = SIZE}};
	unsigned n;

	memset(&m, 'm', sizeof(m));
	for (m.nr = 0; m.nr < ROUNDS; m.nr++) {
		n = 4 + m.nr % 200;
		if (m.nr % 67 == 13) {
			T_EQ(T_TOK(t_snd(fd, (char *)&m, 4, T_MORE)), 4);
			T_EQ(T_TOK(t_snd(fd, m.fill, n, 0)), (int)n);
		} else if (m.nr % 101 == 7) {
			T_EQ(T_TOK(t_sndopt(fd, &om, (char *)&m, n, 0)),
				(int)n);
		} else {
			T_EQ(T_TOK(t_snd(fd, (char *)&m, n, 0)), (int)n);
		}
	}
}

static void
receive_mixed(int fd)
{
	struct numbered m;
	int flags, n, want;

	for (unsigned i = 0; i < ROUNDS; i++) {
		n = T_TOK(t_rcv(fd, (char *)&m, sizeof(m), &flags));
		want = (int)(4 + i % 200 + (i % 67 == 13 ? 4 : 0));
		T_EQ(m.nr, i);
		T_EQ(n, want);
		T_EQ(flags, 0);
	}
}

XT_CASE_TIMEOUT(CO, messages_of_all_kinds_stay_in_order, 60)
{
	struct xt_traffic tr;
	int fd[2], tap;

	xt_near_need();
	xt_pair(fd);
	xt_traffic(&tr, 2, fd, send_mixed, receive_mixed);
	for (int i = 0; i < 20; i++) {
		tap = open_tap();
		t_pause();
		T_OK(close(tap));
		t_pause();
	}
	xt_traffic_ends(&tr);
}

XT_CASE_TIMEOUT(ORD, what_a_killed_process_has_sent_arrives, 60)
{
	struct numbered m;
	volatile unsigned *sent = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd[2], st, flags, n;
	unsigned got;
	pid_t pid;

	xt_near_need();
	for (int i = 0; i < 20; i++) {
		xt_pair(fd);
		*sent = 0;
		pid = T_OK(fork());
		if (pid == 0) {
			T_TOK(t_close(fd[1]));
			for (m.nr = 0;; m.nr++, (*sent)++)
				xt_snd_all(fd[0], &m, sizeof(m), 0);
		}
		T_TOK(t_close(fd[0]));
		for (got = 0; got < 50u * (unsigned)i; got++)
			T_TOK(t_rcv(fd[1], (char *)&m, sizeof(m), &flags));
		T_OK(kill(pid, SIGKILL));
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		while ((n = t_rcv(fd[1], (char *)&m, sizeof(m), &flags)) > 0) {
			T_EQ(n, (int)sizeof(m));
			T_EQ(m.nr, got);
			got++;
		}
		T_EQ(t_errno, TLOOK);
		T_GE(got, *sent);
		T_LE(got, *sent + 1);
		T_TOK(t_close(fd[1]));
	}
}

/* A connection gets nothing of the one before it. */
XT_CASE_TIMEOUT(CO, a_new_connection_gets_no_data_of_the_old_one, 60)
{
	struct xt_addr at;
	int lfd, fd, cfd, flags, st;
	char buf[16];
	pid_t pid;

	xt_near_need();
	lfd = xt_bound_at(0, 1, &at);
	cfd = xt_bound(1, 0);
	for (int i = 0; i < 50; i++) {
		memset(buf, i, sizeof(buf));
		xt_call(cfd, &at);
		fd = xt_accept(lfd);
		T_EVENT(cfd, T_CONNECT);
		T_TOK(t_rcvconnect(cfd, NULL));
		pid = T_OK(fork());
		if (pid == 0) {
			while (t_snd(fd, buf, sizeof(buf), 0) > 0)
				;
			_exit(t_errno == TLOOK ? 0 : 1);
		}
		for (int k = 0; k < 10; k++) {
			T_EVENT(cfd, T_DATA);
			T_EQ(T_TOK(t_rcv(cfd, buf, sizeof(buf), &flags)),
				(int)sizeof(buf));
			T_EQ(buf[3], i);
		}
		T_TOK(t_snddis(cfd, NULL));
		T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
		T_EQ(st, 0);
		T_TOK(t_close(fd));
	}
}

/* ------------------------------------------------- back to data without packets */

/* Data goes without packets again, after @n messages at most. */
static void
is_near_again(const int fd[2], int n)
{
	unsigned long long before;

	for (int i = 0; i < n; i++) {
		xt_say(fd[0], "hello");
		xt_hear(fd[1], "hello");
	}
	before = packets();
	for (int i = 0; i < 100; i++) {
		xt_say(fd[0], "hello");
		xt_hear(fd[1], "hello");
	}
	T_LT(packets(), before + 5);
}

XT_CASE(CO, after_a_tap_has_gone_data_goes_without_packets_again)
{
	int fd[2], tap;

	xt_near_need();
	xt_pair(fd);
	xt_say(fd[0], "hello");
	xt_hear(fd[1], "hello");
	tap = open_tap();
	for (int i = 0; i < 7; i++) {
		xt_say(fd[0], "seen");
		xt_hear(fd[1], "seen");
	}
	T_OK(close(tap));
	is_near_again(fd, 300);
}

XT_CASE(CO, after_options_are_reset_data_goes_without_packets_again)
{
	static const unsigned names[] = {T_SCTP_LOCHECK, T_SCTP_RECVOPT};
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	for (int end = 0; end < 2; end++)
		for (int i = 0; i < 2; i++) {
			xt_say(fd[0], "hello");
			xt_hear(fd[1], "hello");
			set_option(fd[end], names[i], T_YES);
			xt_say(fd[0], "packet");
			xt_hear(fd[1], "packet");
			set_option(fd[end], names[i], T_NO);
			is_near_again(fd, 300);
		}
}

XT_CASE(CO, after_messages_that_need_packets_the_others_do_not)
{
	struct option o = {.h = {.len = SIZE, .level = T_INET_SCTP,
		.name = T_SCTP_LIFETIME}, .v = {60000, 0}};
	struct t_optmgmt om = {.opt = {.buf = (char *)&o, .len = SIZE}};
	char buf[64];
	int fd[2], flags;

	xt_near_need();
	xt_pair(fd);
	for (int i = 0; i < 3; i++) {
		xt_say(fd[0], "plain");
		T_EQ(T_TOK(t_sndopt(fd[0], &om, (char *)"opt", 3, 0)), 3);
		xt_say(fd[0], "behind");
		T_EQ(T_TOK(t_snd(fd[0], (char *)"pie", 3, T_MORE)), 3);
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ces", 3, 0)), 3);
		xt_say(fd[0], "last");
		T_EQ(T_TOK(t_snd(fd[0], (char *)"ex", 2, T_EXPEDITED)), 2);
		T_EVENT(fd[1], T_EXDATA);
		T_EQ(T_TOK(t_rcv(fd[1], buf, sizeof(buf), &flags)), 2);
		T_EQ(flags, T_EXPEDITED);
		xt_hear(fd[1], "plain");
		xt_hear(fd[1], "opt");
		xt_hear(fd[1], "behind");
		xt_hear(fd[1], "pieces");
		xt_hear(fd[1], "last");
		is_near_again(fd, 300);
	}
}

/* Modules come and go above both ends while data flows. */
XT_CASE_TIMEOUT(CO, modules_are_pushed_while_data_flows, 60)
{
	struct xt_traffic tr;
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	xt_traffic(&tr, 1, fd, send_mixed, receive_mixed);
	for (int i = 0; i < 30; i++) {
		T_OK(ioctl(fd[i % 2], I_PUSH, "nullmod"));
		t_pause();
		T_OK(ioctl(fd[i % 2], I_POP, 0));
		t_pause();
	}
	xt_traffic_ends(&tr);
}

static void
impair_lo(unsigned delay)
{
	struct ipw_impair im = {.name = "lo", .delay = delay,
		.jitter = delay / 2, .reorder = delay != 0 ? 20000 : 0};
	struct strioctl si = {.ic_cmd = IPW_IMPAIR, .ic_len = sizeof(im),
		.ic_dp = (char *)&im};
	int fd = T_OK(open("/dev/streams/clone/ip", O_RDWR));

	T_OK(ioctl(fd, I_STR, &si));
	T_OK(close(fd));
}

/* Packets are late, and then come behind none of the messages without packets. */
XT_CASE_TIMEOUT(CO, impairments_come_and_go_while_data_flows, 60)
{
	struct xt_traffic tr;
	int fd[2];

	xt_near_need();
	xt_pair(fd);
	xt_traffic(&tr, 2, fd, send_mixed, receive_mixed);
	for (int i = 0; i < 15; i++) {
		impair_lo(300);
		t_pause();
		impair_lo(0);
		t_pause();
	}
	xt_traffic_ends(&tr);
	is_near_again(fd, 600);
}

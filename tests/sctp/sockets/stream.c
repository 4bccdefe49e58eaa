/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Changes of streams (RFC 6525), schedulers (RFC 8260), messages that fail
 * (RFC 6458 s6.1.4, RFC 7496), and the end of idle associations.
 */
#include <poll.h>

#include "sk.h"

/* Numbers of any type. */
#define SAME(a, b) T_EQ((long)(a), (long)(b))

/* Receive a notification of @type; its data may be up to 100 streams. */
union note {
	union sctp_notification n;
	char room[sizeof(union sctp_notification) + 200];
};

static void
expect(int fd, int type, union note *n)
{
	int fl = 0, r;

	memset(n, 0, sizeof(*n));
	r = (int)T_OK(sctp_recvmsg(fd, n, sizeof(*n), NULL, NULL, NULL, &fl));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	SAME(n->n.sn_header.sn_type, type);
	SAME(n->n.sn_header.sn_length, r);
	T_TRUE((fl & MSG_EOR) != 0);
}

static void
set_value(int fd, int name, uint32_t v)
{
	struct sctp_assoc_value av = {.assoc_value = v};

	T_OK(setsockopt(fd, IPPROTO_SCTP, name, &av, sizeof(av)));
}

static uint32_t
value_of(int fd, int name)
{
	struct sctp_assoc_value av = {.assoc_value = 77};
	socklen_t len = sizeof(av);

	T_OK(getsockopt(fd, IPPROTO_SCTP, name, &av, &len));
	SAME(len, (int)sizeof(av));
	return av.assoc_value;
}

/* Two connected sockets that are told of changes; @permit: what both allow. */
static void
changing_pair(int fd[2], uint32_t permit)
{
	int i;

	pair(fd);
	for (i = 0; i < 2; i++) {
		subscribe(fd[i], SCTP_STREAM_RESET_EVENT);
		subscribe(fd[i], SCTP_ASSOC_RESET_EVENT);
		subscribe(fd[i], SCTP_STREAM_CHANGE_EVENT);
		subscribe(fd[i], SCTP_DATA_IO_EVENT);
		set_value(fd[i], SCTP_ENABLE_STREAM_RESET, permit);
	}
}

static int
add(int fd, unsigned out, unsigned in)
{
	struct sctp_add_streams a = {.sas_outstrms = (uint16_t)out,
		.sas_instrms = (uint16_t)in};

	return setsockopt(fd, IPPROTO_SCTP, SCTP_ADD_STREAMS, &a, sizeof(a));
}

static int
reset(int fd, unsigned flags, unsigned n, const uint16_t *sid)
{
	union {
		struct sctp_reset_streams r;
		char room[sizeof(struct sctp_reset_streams) + 200];
	} o;

	memset(&o, 0, sizeof(o));
	o.r.srs_flags = (uint16_t)flags;
	o.r.srs_number_streams = (uint16_t)n;
	if (n != 0)
		memcpy(o.room + sizeof(o.r), sid, n * sizeof(*sid));
	return setsockopt(fd, IPPROTO_SCTP, SCTP_RESET_STREAMS, &o,
		(socklen_t)(sizeof(o.r) + n * sizeof(*sid)));
}

static void
send_on(int fd, unsigned sid)
{
	SAME(T_OK(sctp_sendmsg(fd, "a", 1, NULL, 0, 0, 0, (uint16_t)sid, 0, 0)),
		1);
}

/* The next message is on stream @sid and has this number. */
static void
receive(int fd, unsigned sid, unsigned ssn)
{
	struct sctp_sndrcvinfo si;
	int fl = 0;
	char c;

	SAME(T_OK(sctp_recvmsg(fd, &c, 1, NULL, NULL, &si, &fl)), 1);
	SAME(fl & MSG_NOTIFICATION, 0);
	SAME(si.sinfo_stream, sid);
	SAME(si.sinfo_ssn, ssn);
}

T_CASE(streams_are_added_for_sending)
{
	union note n;
	int fd[2];

	changing_pair(fd, SCTP_ENABLE_CHANGE_ASSOC_REQ);
	T_ERR(sctp_sendmsg(fd[0], "a", 1, NULL, 0, 0, 0, 12, 0, 0), EINVAL);
	T_OK(add(fd[0], 5, 0));
	expect(fd[0], SCTP_STREAM_CHANGE_EVENT, &n);
	SAME(n.n.sn_strchange_event.strchange_flags, 0);
	SAME(n.n.sn_strchange_event.strchange_outstrms, 15);
	SAME(n.n.sn_strchange_event.strchange_instrms, 10);
	expect(fd[1], SCTP_STREAM_CHANGE_EVENT, &n);
	SAME(n.n.sn_strchange_event.strchange_outstrms, 10);
	SAME(n.n.sn_strchange_event.strchange_instrms, 15);
	send_on(fd[0], 12);
	receive(fd[1], 12, 0);
	T_ERR(sctp_sendmsg(fd[0], "a", 1, NULL, 0, 0, 0, 15, 0, 0), EINVAL);
}

T_CASE(streams_are_added_for_receiving)
{
	union note n;
	int fd[2];

	changing_pair(fd, SCTP_ENABLE_CHANGE_ASSOC_REQ);
	T_OK(add(fd[0], 0, 3));
	expect(fd[0], SCTP_STREAM_CHANGE_EVENT, &n);
	SAME(n.n.sn_strchange_event.strchange_instrms, 13);
	expect(fd[1], SCTP_STREAM_CHANGE_EVENT, &n);
	SAME(n.n.sn_strchange_event.strchange_outstrms, 13);
	send_on(fd[1], 12);
	receive(fd[0], 12, 0);
	T_ERR(recv(fd[0], &n, sizeof(n), MSG_DONTWAIT), EAGAIN);
}

T_CASE(changes_are_denied_unless_they_are_enabled)
{
	union note n;
	int fd[2];

	changing_pair(fd, 0);
	SAME(value_of(fd[1], SCTP_ENABLE_STREAM_RESET), 0);
	T_OK(add(fd[0], 5, 0));
	expect(fd[0], SCTP_STREAM_CHANGE_EVENT, &n);
	SAME(n.n.sn_strchange_event.strchange_flags,
		SCTP_STREAM_CHANGE_DENIED);
	SAME(n.n.sn_strchange_event.strchange_outstrms, 10);
	T_OK(reset(fd[0], SCTP_STREAM_RESET_OUTGOING, 0, NULL));
	expect(fd[0], SCTP_STREAM_RESET_EVENT, &n);
	SAME(n.n.sn_strreset_event.strreset_flags,
		SCTP_STREAM_RESET_OUTGOING_SSN | SCTP_STREAM_RESET_DENIED);
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RESET_ASSOC, &(sctp_assoc_t){0},
		sizeof(sctp_assoc_t)));
	expect(fd[0], SCTP_ASSOC_RESET_EVENT, &n);
	SAME(n.n.sn_assocreset_event.assocreset_flags, SCTP_ASSOC_RESET_DENIED);
	T_ERR(recv(fd[1], &n, sizeof(n), MSG_DONTWAIT), EAGAIN);
	send_on(fd[0], 1);
	receive(fd[1], 1, 0);
}

T_CASE(outgoing_streams_are_reset)
{
	const uint16_t sid[3] = {1, 7, 3};
	union note n;
	int fd[2], i;

	changing_pair(fd, SCTP_ENABLE_RESET_STREAM_REQ);
	for (i = 0; i < 2; i++) {
		send_on(fd[0], 1);
		send_on(fd[0], 2);
		receive(fd[1], 1, (unsigned)i);
		receive(fd[1], 2, (unsigned)i);
	}
	T_OK(reset(fd[0], SCTP_STREAM_RESET_OUTGOING, 3, sid));
	expect(fd[0], SCTP_STREAM_RESET_EVENT, &n);
	SAME(n.n.sn_strreset_event.strreset_flags,
		SCTP_STREAM_RESET_OUTGOING_SSN);
	SAME(n.n.sn_header.sn_length, sizeof(n.n.sn_strreset_event) + 6);
	SAME(memcmp(n.n.sn_strreset_event.strreset_stream_list, sid, 6), 0);
	expect(fd[1], SCTP_STREAM_RESET_EVENT, &n);
	SAME(n.n.sn_strreset_event.strreset_flags,
		SCTP_STREAM_RESET_INCOMING_SSN);
	SAME(memcmp(n.n.sn_strreset_event.strreset_stream_list, sid, 6), 0);
	send_on(fd[0], 1);
	send_on(fd[0], 2);
	receive(fd[1], 1, 0);
	receive(fd[1], 2, 2);
}

T_CASE(incoming_streams_are_reset)
{
	union note n;
	int fd[2];

	changing_pair(fd, SCTP_ENABLE_RESET_STREAM_REQ);
	send_on(fd[1], 4);
	receive(fd[0], 4, 0);
	T_OK(reset(fd[0], SCTP_STREAM_RESET_INCOMING, 0, NULL));
	expect(fd[0], SCTP_STREAM_RESET_EVENT, &n);
	SAME(n.n.sn_strreset_event.strreset_flags,
		SCTP_STREAM_RESET_INCOMING_SSN);
	SAME(n.n.sn_header.sn_length, sizeof(n.n.sn_strreset_event));
	expect(fd[1], SCTP_STREAM_RESET_EVENT, &n);
	SAME(n.n.sn_strreset_event.strreset_flags,
		SCTP_STREAM_RESET_OUTGOING_SSN);
	send_on(fd[1], 4);
	receive(fd[0], 4, 0);
}

T_CASE(an_association_is_reset)
{
	union note n[2];
	int fd[2];

	changing_pair(fd, SCTP_ENABLE_RESET_ASSOC_REQ);
	send_on(fd[0], 1);
	receive(fd[1], 1, 0);
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_RESET_ASSOC,
		&(sctp_assoc_t){0}, sizeof(sctp_assoc_t)));
	expect(fd[0], SCTP_ASSOC_RESET_EVENT, &n[0]);
	expect(fd[1], SCTP_ASSOC_RESET_EVENT, &n[1]);
	SAME(n[0].n.sn_assocreset_event.assocreset_flags, 0);
	SAME(n[0].n.sn_assocreset_event.assocreset_local_tsn,
		n[1].n.sn_assocreset_event.assocreset_remote_tsn);
	SAME(n[1].n.sn_assocreset_event.assocreset_local_tsn,
		n[0].n.sn_assocreset_event.assocreset_remote_tsn);
	send_on(fd[0], 1);
	receive(fd[1], 1, 0);
}

/* Number of the notifications of @fd in front of data. */
static unsigned
notes_of(int fd)
{
	unsigned k = 0;
	union note n;
	int fl = 0;

	for (;; k++) {
		T_OK(sctp_recvmsg(fd, &n, sizeof(n), NULL, NULL, NULL, &fl));
		if ((fl & MSG_NOTIFICATION) == 0)
			return k;
		SAME(n.n.sn_header.sn_type, SCTP_STREAM_RESET_EVENT);
	}
}

/* The peer decides how many there are. */
T_CASE(notifications_that_are_not_read_have_a_limit)
{
	const unsigned most = 2000; /* 300 KB and more */
	union note n;
	unsigned i;
	int fd[2];

	changing_pair(fd, SCTP_ENABLE_RESET_STREAM_REQ);
	set_int(fd[1], SOL_SOCKET, SO_RCVBUF, 4096);
	for (i = 0; i < most; i++) {
		T_OK(reset(fd[0], SCTP_STREAM_RESET_OUTGOING, 0, NULL));
		expect(fd[0], SCTP_STREAM_RESET_EVENT, &n);
	}
	send_on(fd[0], 1);
	i = notes_of(fd[1]);
	T_TRUE(i > 32 && i < most / 2);
	/* and later ones are told */
	T_OK(reset(fd[0], SCTP_STREAM_RESET_OUTGOING, 0, NULL));
	expect(fd[0], SCTP_STREAM_RESET_EVENT, &n);
	expect(fd[1], SCTP_STREAM_RESET_EVENT, &n);
}

T_CASE(requests_for_changes_that_cannot_be_fail)
{
	const uint16_t bad = 10;
	int fd[2], s = new_socket(), l = listener(1);

	changing_pair(fd, SCTP_ENABLE_STRRESET_MASK);
	T_ERR(reset(fd[0], SCTP_STREAM_RESET_OUTGOING, 1, &bad), EINVAL);
	T_ERR(reset(fd[0], 0, 0, NULL), EINVAL);
	T_ERR(reset(fd[0], 4, 0, NULL), EINVAL);
	T_ERR(add(fd[0], 0, 0), EINVAL);
	T_ERR(add(fd[0], 65530, 0), EINVAL);
	T_ERR(reset(s, SCTP_STREAM_RESET_OUTGOING, 0, NULL), ENOTCONN);
	T_ERR(add(s, 1, 0), ENOTCONN);
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_ENABLE_STREAM_RESET,
		&(int){8}, sizeof(int)), EINVAL);
	/* a peer that does not offer RE-CONFIG */
	set_value(l, SCTP_RECONFIG_SUPPORTED, 0);
	T_OK(call(s, port_of(l)));
	SAME(value_of(s, SCTP_RECONFIG_SUPPORTED), 0);
	SAME(value_of(fd[0], SCTP_RECONFIG_SUPPORTED), 1);
	T_ERR(add(s, 1, 0), ENOPROTOOPT);
}

/* ----------------------------------------------------------------- schedulers */

T_CASE(a_socket_has_a_scheduler_and_its_streams_have_values)
{
	static const unsigned row[] = {SCTP_SS_FCFS, SCTP_SS_PRIO, SCTP_SS_RR,
		SCTP_SS_FC, SCTP_SS_WFQ};
	struct sctp_stream_value v = {.stream_id = 3, .stream_value = 9};
	socklen_t len = sizeof(v);
	int fd[2];
	size_t i;

	pair(fd);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		set_value(fd[0], SCTP_STREAM_SCHEDULER, row[i]);
		SAME(value_of(fd[0], SCTP_STREAM_SCHEDULER), row[i]);
		send_on(fd[0], 3);
		SAME(T_OK(recv(fd[1], &(char){0}, 1, 0)), 1);
	}
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_STREAM_SCHEDULER,
		&(int){SCTP_SS_MAX + 1}, sizeof(int)), EINVAL);
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &v,
		sizeof(v)));
	v.stream_value = 0;
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &v,
		&len));
	SAME(v.stream_value, 9);
	v.stream_id = 10;
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &v,
		sizeof(v)), EINVAL);
	T_ERR(getsockopt(fd[0], IPPROTO_SCTP, SCTP_STREAM_SCHEDULER_VALUE, &v,
		&len), EINVAL);
}

T_CASE(extensions_are_agreed_upon)
{
	int l = listener(5), a = new_socket(), b = new_socket();

	SAME(value_of(a, SCTP_INTERLEAVING_SUPPORTED), 0);
	SAME(value_of(a, SCTP_PR_SUPPORTED), 1);
	/* the user must be ready to get messages in parts that are mixed */
	T_ERR(setsockopt(a, IPPROTO_SCTP, SCTP_INTERLEAVING_SUPPORTED, &(int){1},
		sizeof(int)), EPERM);
	T_ERR(setsockopt(a, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, &(int){3},
		sizeof(int)), EINVAL);
	set_int(a, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, 2);
	SAME(get_int(a, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE), 2);
	set_value(a, SCTP_INTERLEAVING_SUPPORTED, 1);
	set_int(a, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, 0);
	SAME(value_of(a, SCTP_INTERLEAVING_SUPPORTED), 0);
	set_int(a, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, 1);
	set_int(l, IPPROTO_SCTP, SCTP_FRAGMENT_INTERLEAVE, 1);
	set_value(l, SCTP_INTERLEAVING_SUPPORTED, 1);
	set_value(a, SCTP_INTERLEAVING_SUPPORTED, 1);
	set_value(b, SCTP_PR_SUPPORTED, 0);
	T_OK(call(a, port_of(l)));
	T_OK(call(b, port_of(l)));
	SAME(value_of(a, SCTP_INTERLEAVING_SUPPORTED), 1);
	SAME(value_of(a, SCTP_PR_SUPPORTED), 1);
	SAME(value_of(b, SCTP_INTERLEAVING_SUPPORTED), 0);
	SAME(value_of(b, SCTP_PR_SUPPORTED), 0);
}

T_CASE(the_size_of_fragments_is_limited)
{
	struct sctp_status st;
	socklen_t len = sizeof(st);
	char buf[2000] = {0};
	int fd[2];

	pair(fd);
	set_value(fd[0], SCTP_MAXSEG, 500);
	memset(&st, 0, sizeof(st));
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_STATUS, &st, &len));
	SAME(st.sstat_fragmentation_point, 500);
	SAME(T_OK(sctp_sendmsg(fd[0], buf, sizeof(buf), NULL, 0, 0, 0, 1, 0,
		0)), sizeof(buf));
	SAME(T_OK(recv(fd[1], buf, sizeof(buf), 0)), sizeof(buf));
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_MAXSEG, &(int){3},
		sizeof(int)), EINVAL);
}

/* --------------------------------------------------------- messages that fail */

#define BIG 50000

/*
 * Send until the peer, which does not read, takes no more, and on: what follows
 * waits in the buffer of @fd.
 */
static unsigned
fill(int fd)
{
	static char buf[BIG];
	struct sctp_status st;
	socklen_t len = sizeof(st);
	unsigned n = 0;

	set_int(fd, SOL_SOCKET, SO_SNDBUF, 1 << 24);
	memset(&st, 0, sizeof(st));
	do {
		SAME(T_OK(sctp_sendmsg(fd, buf, BIG, NULL, 0, 0, 0, 1, 0, 0)),
			BIG);
		T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_STATUS, &st, &len));
		T_TRUE(++n < 1000);
	} while (st.sstat_rwnd >= BIG);
	SAME(T_OK(sctp_sendmsg(fd, buf, BIG, NULL, 0, 0, 0, 1, 0, 0)), BIG);
	return n + 1;
}

static void
status_of(int fd, int name, unsigned policy, unsigned unsent)
{
	struct sctp_prstatus st = {.sprstat_policy = (uint16_t)policy,
		.sprstat_sid = 2};
	socklen_t len = sizeof(st);

	T_OK(getsockopt(fd, IPPROTO_SCTP, name, &st, &len));
	SAME(st.sprstat_abandoned_unsent, (int)unsent);
	SAME(st.sprstat_abandoned_sent, 0);
}

T_CASE(a_message_whose_life_is_over_fails)
{
	static char buf[BIG];
	union note n;
	int fd[2], fl = 0;
	unsigned k;

	pair(fd);
	subscribe(fd[0], SCTP_SEND_FAILED_EVENT);
	k = fill(fd[0]);
	SAME(T_OK(sctp_sendmsg(fd[0], "late", 4, NULL, 0, 0x1234, 0, 2, 1,
		0x77)), 4);
	(void)poll(NULL, 0, 20); /* its life is over */
	for (; k != 0; k--)
		SAME(T_OK(sctp_recvmsg(fd[1], buf, BIG, NULL, NULL, NULL,
			&fl)), BIG);
	expect(fd[0], SCTP_SEND_FAILED_EVENT, &n);
	SAME(n.n.sn_send_failed_event.ssf_flags, SCTP_DATA_UNSENT);
	SAME(n.n.sn_send_failed_event.ssf_error, 0);
	SAME(n.n.sn_send_failed_event.ssfe_info.snd_sid, 2);
	SAME(n.n.sn_send_failed_event.ssfe_info.snd_ppid, 0x1234);
	SAME(n.n.sn_send_failed_event.ssfe_info.snd_context, 0x77);
	SAME(n.n.sn_header.sn_length, sizeof(n.n.sn_send_failed_event) + 4);
	SAME(memcmp(n.n.sn_send_failed_event.ssf_data, "late", 4), 0);
	status_of(fd[0], SCTP_PR_ASSOC_STATUS, SCTP_PR_SCTP_TTL, 1);
	status_of(fd[0], SCTP_PR_ASSOC_STATUS, SCTP_PR_SCTP_ALL, 1);
	status_of(fd[0], SCTP_PR_ASSOC_STATUS, SCTP_PR_SCTP_RTX, 0);
	status_of(fd[0], SCTP_PR_STREAM_STATUS, SCTP_PR_SCTP_TTL, 1);
}

T_CASE(messages_fail_when_the_peer_aborts)
{
	struct linger hard = {.l_onoff = 1};
	union note n;
	int fd[2], fl = 0, r;

	pair(fd);
	subscribe(fd[0], SCTP_SEND_FAILED);
	subscribe(fd[0], SCTP_ASSOC_CHANGE);
	(void)fill(fd[0]);
	T_OK(sctp_sendmsg(fd[0], "last", 4, NULL, 0, 0, 0, 2, 0, 5));
	T_OK(setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard)));
	T_OK(close(fd[1]));
	do {
		/* most are longer than the buffer, and are cut */
		memset(&n, 0, sizeof(n));
		r = (int)T_OK(sctp_recvmsg(fd[0], &n, sizeof(n), NULL, NULL,
			NULL, &fl));
		T_TRUE((fl & MSG_NOTIFICATION) != 0);
		SAME(n.n.sn_header.sn_type, SCTP_SEND_FAILED);
		SAME(n.n.sn_send_failed.ssf_error, 12); /* the user's ABORT */
		SAME((fl & MSG_TRUNC) != 0, r == (int)sizeof(n));
	} while (n.n.sn_send_failed.ssf_info.sinfo_context != 5);
	SAME(n.n.sn_send_failed.ssf_info.sinfo_stream, 2);
	SAME(memcmp(n.n.sn_send_failed.ssf_data, "last", 4), 0);
	expect(fd[0], SCTP_ASSOC_CHANGE, &n);
	SAME(n.n.sn_assoc_change.sac_state, SCTP_COMM_LOST);
}

/* ------------------------------------------------------------------- autoclose */

T_CASE(an_idle_association_ends_by_itself)
{
	struct sockaddr_in sa = loop(0);
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	int s = new_socket();
	char c;

	T_ERR(setsockopt(s, IPPROTO_SCTP, SCTP_AUTOCLOSE, &(int){1},
		sizeof(int)), EOPNOTSUPP);
	T_OK(bind(m, (struct sockaddr *)&sa, sizeof(sa)));
	set_int(m, IPPROTO_SCTP, SCTP_AUTOCLOSE, 1);
	SAME(get_int(m, IPPROTO_SCTP, SCTP_AUTOCLOSE), 1);
	T_OK(listen(m, 1));
	T_OK(call(s, port_of(m)));
	SAME(T_OK(send(s, "a", 1, 0)), 1);
	SAME(T_OK(recv(m, &c, 1, 0)), 1);
	SAME(T_OK(recv(s, &c, 1, 0)), 0);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Notifications: RFC 6458 s6.
 */
#include "sk.h"

/* Receive a notification of @type. */
static void
expect(int fd, int type, union sctp_notification *n)
{
	int fl = 0, r;

	memset(n, 0, sizeof(*n));
	r = (int)T_OK(sctp_recvmsg(fd, n, sizeof(*n), NULL, NULL, NULL, &fl));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	T_TRUE((fl & MSG_EOR) != 0);
	T_EQ(n->sn_header.sn_type, type);
	T_EQ((int)n->sn_header.sn_length, r);
}

/* Two connected sockets that tell all of their events. */
static void
told_pair(int fd[2])
{
	struct sctp_event_subscribe all = {.sctp_data_io_event = 1,
		.sctp_association_event = 1, .sctp_address_event = 1,
		.sctp_peer_error_event = 1, .sctp_shutdown_event = 1,
		.sctp_partial_delivery_event = 1};
	int l = listener(5);

	T_OK(setsockopt(l, IPPROTO_SCTP, SCTP_EVENTS, &all, sizeof(all)));
	fd[0] = new_socket();
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_EVENTS, &all, sizeof(all)));
	T_OK(call(fd[0], port_of(l)));
	fd[1] = (int)T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
}

T_CASE(both_ends_are_told_that_communication_is_up)
{
	union sctp_notification n;
	int fd[2], i;

	told_pair(fd);
	for (i = 0; i < 2; i++) {
		expect(fd[i], SCTP_ASSOC_CHANGE, &n);
		T_EQ(n.sn_assoc_change.sac_state, SCTP_COMM_UP);
		T_EQ(n.sn_assoc_change.sac_outbound_streams, 10);
		T_NE(n.sn_assoc_change.sac_assoc_id, 0);
	}
	T_ERR(recv(fd[0], &n, sizeof(n), MSG_DONTWAIT), EAGAIN);
}

T_CASE(a_shutdown_is_told_and_then_its_completion_and_then_the_end)
{
	union sctp_notification n;
	char buf[10];
	int fd[2];

	told_pair(fd);
	expect(fd[0], SCTP_ASSOC_CHANGE, &n);
	expect(fd[1], SCTP_ASSOC_CHANGE, &n);
	T_OK(send(fd[0], "abc", 3, 0));
	T_OK(shutdown(fd[0], SHUT_WR));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 3);
	expect(fd[1], SCTP_SHUTDOWN_EVENT, &n);
	expect(fd[1], SCTP_ASSOC_CHANGE, &n);
	T_EQ(n.sn_assoc_change.sac_state, SCTP_SHUTDOWN_COMP);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
	expect(fd[0], SCTP_ASSOC_CHANGE, &n);
	T_EQ(n.sn_assoc_change.sac_state, SCTP_SHUTDOWN_COMP);
	T_EQ((int)T_OK(recv(fd[0], buf, sizeof(buf), 0)), 0);
}

T_CASE(a_lost_association_is_told_before_the_error)
{
	union sctp_notification n;
	int fd[2];

	told_pair(fd);
	expect(fd[1], SCTP_ASSOC_CHANGE, &n);
	T_OK(sctp_sendmsg(fd[0], NULL, 0, NULL, 0, 0, SCTP_ABORT, 0, 0, 0));
	expect(fd[1], SCTP_ASSOC_CHANGE, &n);
	T_EQ(n.sn_assoc_change.sac_state, SCTP_COMM_LOST);
	T_ERR(recv(fd[1], &n, sizeof(n), 0), ECONNRESET);
}

T_CASE(dryness_is_told_when_all_is_acknowledged)
{
	union sctp_notification n;
	char buf[10];
	int fd[2];

	pair(fd);
	subscribe(fd[0], SCTP_SENDER_DRY_EVENT);
	expect(fd[0], SCTP_SENDER_DRY_EVENT, &n);
	T_OK(sctp_sendmsg(fd[0], "abc", 3, NULL, 0, 0, 0, 1, 0, 0));
	T_OK(recv(fd[1], buf, sizeof(buf), 0));
	expect(fd[0], SCTP_SENDER_DRY_EVENT, &n);
}

T_CASE(notifications_are_no_data_and_data_is_none)
{
	union sctp_notification n;
	char buf[100];
	int fd[2], fl = 0;

	told_pair(fd);
	T_OK(send(fd[0], "abc", 3, 0));
	expect(fd[1], SCTP_ASSOC_CHANGE, &n);
	T_EQ((int)T_OK(sctp_recvmsg(fd[1], buf, sizeof(buf), NULL, NULL, NULL,
		&fl)), 3);
	T_EQ(fl, MSG_EOR);
	/* without room for it it is cut, and says so */
	fl = 0;
	T_EQ((int)T_OK(sctp_recvmsg(fd[0], buf, 4, NULL, NULL, NULL, &fl)), 4);
	T_EQ(fl, MSG_NOTIFICATION | MSG_TRUNC);
	T_ERR(recv(fd[0], buf, sizeof(buf), MSG_DONTWAIT), EAGAIN);
}

T_CASE(what_is_subscribed_to_can_be_read_back)
{
	struct sctp_event_subscribe s, in = {.sctp_association_event = 1,
		.sctp_sender_dry_event = 1};
	struct sctp_event ev = {.se_type = SCTP_SHUTDOWN_EVENT, .se_on = 1};
	socklen_t len = sizeof(s);
	int fd = new_socket();

	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &in, sizeof(in)));
	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)));
	T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &s, &len));
	T_EQ(s.sctp_association_event, 1);
	T_EQ(s.sctp_sender_dry_event, 1);
	T_EQ(s.sctp_shutdown_event, 1);
	T_EQ(s.sctp_data_io_event, 0);
	/* a program of an older header */
	len = 8;
	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &in, 8));
	T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &s, &len));
	T_EQ((int)len, 8);
	T_ERR(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &in, 0), EINVAL);
	T_ERR(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &in, sizeof(in) + 1),
		EINVAL);
	ev.se_type = 5;
	T_ERR(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)),
		EINVAL);
	ev.se_type = SCTP_SHUTDOWN_EVENT;
	len = sizeof(ev);
	T_OK(getsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, &len));
	T_EQ(ev.se_on, 0);
}

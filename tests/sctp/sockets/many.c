/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Sockets of the one-to-many style: RFC 6458 s3.
 */
#include <poll.h>

#include "sk.h"

static int
many(void)
{
	struct sctp_event_subscribe ev = {.sctp_data_io_event = 1,
		.sctp_association_event = 1, .sctp_shutdown_event = 1};
	struct sockaddr_in sa = loop(0);
	int fd = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));

	T_OK(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &ev, sizeof(ev)));
	T_OK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)));
	T_OK(listen(fd, 5));
	return fd;
}

/* Receive an association's change; its number. */
static sctp_assoc_t
changed(int fd, int state)
{
	union sctp_notification n;
	int fl = 0;

	T_OK(sctp_recvmsg(fd, &n, sizeof(n), NULL, NULL, NULL, &fl));
	T_TRUE((fl & MSG_NOTIFICATION) != 0);
	T_EQ(n.sn_header.sn_type, SCTP_ASSOC_CHANGE);
	T_EQ(n.sn_assoc_change.sac_state, state);
	return n.sn_assoc_change.sac_assoc_id;
}

/* Receive data: the association. */
static sctp_assoc_t
data(int fd, const char *want, struct sctp_sndrcvinfo *si,
	struct sockaddr_in *from)
{
	socklen_t len = sizeof(*from);
	char buf[100];
	int fl = 0, n;

	n = (int)T_OK(sctp_recvmsg(fd, buf, sizeof(buf),
		(struct sockaddr *)from, &len, si, &fl));
	T_EQ(fl, MSG_EOR);
	T_EQ(n, (int)strlen(want));
	T_EQ(memcmp(buf, want, strlen(want)), 0);
	return si->sinfo_assoc_id;
}

static int
value_of(int fd, int name, sctp_assoc_t id)
{
	struct sctp_assoc_value av = {.assoc_id = id, .assoc_value = 77};
	socklen_t len = sizeof(av);

	T_OK(getsockopt(fd, IPPROTO_SCTP, name, &av, &len));
	return (int)av.assoc_value;
}

static void
set_value(int fd, int name, sctp_assoc_t id, uint32_t v)
{
	struct sctp_assoc_value av = {.assoc_id = id, .assoc_value = v};

	T_OK(setsockopt(fd, IPPROTO_SCTP, name, &av, sizeof(av)));
}

/* RFC 6458 s8.1: an option of one association changes nothing else. */
T_CASE(an_association_keeps_its_options_when_one_is_set)
{
	struct sctp_rtoinfo rto = {.srto_initial = 1500};
	socklen_t len = sizeof(rto);
	int m = many(), fd[2], i;
	sctp_assoc_t id[2];

	for (i = 0; i < 2; i++) {
		fd[i] = new_socket();
		T_OK(call(fd[i], port_of(m)));
		id[i] = changed(m, SCTP_COMM_UP);
	}
	set_value(m, SCTP_STREAM_SCHEDULER, id[0], SCTP_SS_PRIO);
	set_value(m, SCTP_ENABLE_STREAM_RESET, id[0],
		SCTP_ENABLE_RESET_STREAM_REQ);
	set_value(m, SCTP_MAX_BURST, id[0], 9);
	rto.srto_assoc_id = id[0];
	T_OK(setsockopt(m, IPPROTO_SCTP, SCTP_RTOINFO, &rto, sizeof(rto)));
	set_value(m, SCTP_MAXSEG, id[0], 500);
	subscribe(m, SCTP_SEND_FAILED_EVENT);
	T_EQ(value_of(m, SCTP_STREAM_SCHEDULER, id[0]), SCTP_SS_PRIO);
	T_EQ(value_of(m, SCTP_ENABLE_STREAM_RESET, id[0]),
		SCTP_ENABLE_RESET_STREAM_REQ);
	T_EQ(value_of(m, SCTP_MAX_BURST, id[0]), 9);
	T_EQ(value_of(m, SCTP_MAXSEG, id[0]), 500);
	T_OK(getsockopt(m, IPPROTO_SCTP, SCTP_RTOINFO, &rto, &len));
	T_EQ((int)rto.srto_initial, 1500);
	/* the other one, and those to come, have what they had */
	for (i = 0; i < 2; i++) {
		rto.srto_assoc_id = i == 0 ? 0 : id[1];
		T_OK(getsockopt(m, IPPROTO_SCTP, SCTP_RTOINFO, &rto, &len));
		T_EQ((int)rto.srto_initial, 1000);
		T_EQ(value_of(m, SCTP_STREAM_SCHEDULER, rto.srto_assoc_id),
			SCTP_SS_FCFS);
		T_EQ(value_of(m, SCTP_ENABLE_STREAM_RESET, rto.srto_assoc_id),
			0);
	}
	/* a number alone is for the socket */
	set_int(m, IPPROTO_SCTP, SCTP_MAX_BURST, 7);
	T_EQ(value_of(m, SCTP_MAX_BURST, 0), 7);
	T_EQ(value_of(m, SCTP_MAX_BURST, id[0]), 9);
	rto.srto_assoc_id = id[0] + 1000;
	T_ERR(getsockopt(m, IPPROTO_SCTP, SCTP_RTOINFO, &rto, &len), EINVAL);
}

T_CASE(a_message_to_an_address_begins_an_association)
{
	struct sctp_sndrcvinfo si;
	struct sockaddr_in to, from;
	int a = many(), b = many();
	sctp_assoc_t at_a, at_b;

	to = loop(port_of(b));
	T_EQ((int)T_OK(sctp_sendmsg(a, "hello", 5, (struct sockaddr *)&to,
		sizeof(to), htonl(3), 0, 2, 0, 0)), 5);
	at_a = changed(a, SCTP_COMM_UP);
	at_b = changed(b, SCTP_COMM_UP);
	T_GT(at_a, SCTP_ALL_ASSOC);
	T_EQ(data(b, "hello", &si, &from), at_b);
	T_EQ(si.sinfo_stream, 2);
	T_EQ(ntohl(si.sinfo_ppid), 3u);
	T_EQ(ntohs(from.sin_port), port_of(a));
	/* the answer by address, and one by number */
	T_OK(sendto(b, "re", 2, 0, (struct sockaddr *)&from, sizeof(from)));
	T_EQ(data(a, "re", &si, &from), at_a);
	memset(&si, 0, sizeof(si));
	si.sinfo_assoc_id = at_b;
	si.sinfo_stream = 5;
	T_OK(sctp_send(b, "again", 5, &si, 0));
	T_EQ(data(a, "again", &si, &from), at_a);
	T_EQ(si.sinfo_stream, 5);
	T_EQ(get_int(a, IPPROTO_SCTP, SCTP_GET_ASSOC_NUMBER), 1);
}

#define PEERS 40
T_CASE(one_socket_serves_many_peers)
{
	struct sctp_sndrcvinfo si;
	struct sockaddr_in to, from;
	int s = many(), fd[PEERS], i;
	char c, buf[2] = {0};

	to = loop(port_of(s));
	for (i = 0; i < PEERS; i++) {
		fd[i] = new_socket();
		T_OK(connect(fd[i], (struct sockaddr *)&to, sizeof(to)));
		(void)changed(s, SCTP_COMM_UP);
	}
	T_EQ(get_int(s, IPPROTO_SCTP, SCTP_GET_ASSOC_NUMBER), PEERS);
	for (i = 0; i < PEERS; i++) {
		buf[0] = (char)('!' + i);
		T_OK(send(fd[i], buf, 1, 0));
		(void)data(s, buf, &si, &from);
		T_OK(sctp_send(s, buf, 1, &si, 0));
		T_EQ((int)T_OK(recv(fd[i], &c, 1, 0)), 1);
		T_EQ(c, buf[0]);
	}
	for (i = 0; i < PEERS; i++) {
		T_OK(close(fd[i]));
		T_OK(recv(s, &(union sctp_notification){{0}},
			sizeof(union sctp_notification), 0));
		(void)changed(s, SCTP_SHUTDOWN_COMP);
	}
	T_EQ(get_int(s, IPPROTO_SCTP, SCTP_GET_ASSOC_NUMBER), 0);
}

T_CASE(flags_end_one_association)
{
	struct sockaddr_in to;
	int a = many(), b = many();
	sctp_assoc_t id;
	char c;

	to = loop(port_of(b));
	T_OK(sctp_sendmsg(a, "x", 1, (struct sockaddr *)&to, sizeof(to), 0, 0,
		0, 0, 0));
	id = changed(a, SCTP_COMM_UP);
	(void)changed(b, SCTP_COMM_UP);
	T_OK(recv(b, &c, 1, 0));
	T_OK(sctp_send(a, NULL, 0, &(struct sctp_sndrcvinfo){
		.sinfo_flags = SCTP_EOF, .sinfo_assoc_id = id}, 0));
	T_EQ(changed(a, SCTP_SHUTDOWN_COMP), id);
	T_OK(recv(b, &(union sctp_notification){{0}},
		sizeof(union sctp_notification), 0));
	(void)changed(b, SCTP_SHUTDOWN_COMP);
	T_ERR(sctp_send(a, "y", 1, &(struct sctp_sndrcvinfo){
		.sinfo_assoc_id = id}, MSG_NOSIGNAL), EPIPE);
	/* and an abort */
	T_OK(sctp_sendmsg(a, "x", 1, (struct sockaddr *)&to, sizeof(to), 0, 0,
		0, 0, 0));
	id = changed(a, SCTP_COMM_UP);
	(void)changed(b, SCTP_COMM_UP);
	T_OK(recv(b, &c, 1, 0));
	T_OK(sctp_send(a, NULL, 0, &(struct sctp_sndrcvinfo){
		.sinfo_flags = SCTP_ABORT, .sinfo_assoc_id = id}, 0));
	T_EQ(changed(a, SCTP_COMM_LOST), id);
	(void)changed(b, SCTP_COMM_LOST);
}

T_CASE(a_call_that_fails_is_told)
{
	int a = many(), b = many();
	struct sockaddr_in to = loop(port_of(b));

	T_OK(close(b));
	T_ERR(sendto(a, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)),
		ECONNREFUSED);
	(void)changed(a, SCTP_CANT_STR_ASSOC);
	T_ERR(connect(a, (struct sockaddr *)&to, sizeof(to)), ECONNREFUSED);
	(void)changed(a, SCTP_CANT_STR_ASSOC);
}

T_CASE(an_association_becomes_a_socket_of_its_own)
{
	struct sctp_sndrcvinfo si;
	struct sockaddr_in to, from;
	socklen_t len = sizeof(from);
	int s = many(), c = new_socket(), p;
	sctp_assoc_t id;
	char buf[10];

	to = loop(port_of(s));
	T_OK(connect(c, (struct sockaddr *)&to, sizeof(to)));
	id = changed(s, SCTP_COMM_UP);
	p = (int)T_OK(sctp_peeloff(s, id));
	T_EQ(get_int(p, SOL_SOCKET, SO_TYPE), SOCK_STREAM);
	T_EQ(get_int(s, IPPROTO_SCTP, SCTP_GET_ASSOC_NUMBER), 0);
	T_OK(getpeername(p, (struct sockaddr *)&from, &len));
	T_EQ(ntohs(from.sin_port), port_of(c));
	T_OK(send(c, "abc", 3, 0));
	(void)data(p, "abc", &si, &from);
	T_OK(send(p, "de", 2, 0));
	T_EQ((int)T_OK(recv(c, buf, sizeof(buf), 0)), 2);
	T_ERR(sctp_peeloff(s, id), EINVAL);
	T_ERR(sctp_peeloff(p, 3), EINVAL);
	T_OK(close(s));
	T_OK(send(c, "f", 1, 0));
	(void)data(p, "f", &si, &from);
	T_OK(close(c));
}

T_CASE(calls_of_the_other_style_are_refused)
{
	struct sockaddr_in sa, no = loop(0);
	socklen_t len = sizeof(sa);
	int s = many();
	struct pollfd pfd = {.fd = s, .events = POLLIN | POLLOUT};
	char c;

	T_ERR(accept(s, NULL, NULL), EOPNOTSUPP);
	T_ERR(shutdown(s, SHUT_WR), EOPNOTSUPP);
	T_ERR(getpeername(s, (struct sockaddr *)&sa, &len), EOPNOTSUPP);
	T_ERR(send(s, "a", 1, MSG_NOSIGNAL), ENOTCONN);
	T_ERR(sendto(s, "a", 1, MSG_NOSIGNAL, (struct sockaddr *)&no,
		sizeof(no)), EINVAL);
	T_ERR(recv(s, &c, 1, MSG_DONTWAIT), EAGAIN);
	T_EQ((int)T_OK(poll(&pfd, 1, 0)), 1);
	T_EQ(pfd.revents, POLLOUT);
	T_EQ(get_int(s, SOL_SOCKET, SO_TYPE), SOCK_SEQPACKET);
}

T_CASE(options_name_an_association)
{
	struct sockaddr_in to, *pa;
	struct sctp_status st = {.sstat_assoc_id = 0};
	struct sockaddr *list;
	socklen_t len = sizeof(st);
	int a = many(), b = many();
	sctp_assoc_t id = 0;

	to = loop(port_of(b));
	T_OK(sctp_connectx(a, (struct sockaddr *)&to, 1, &id));
	T_EQ(changed(a, SCTP_COMM_UP), id);
	T_ERR(sctp_connectx(a, (struct sockaddr *)&to, 1, &id), EISCONN);
	T_OK(sctp_opt_info(a, id, SCTP_STATUS, &st, &len));
	T_EQ(st.sstat_state, SCTP_ESTABLISHED);
	T_EQ(st.sstat_assoc_id, id);
	T_ERR(sctp_opt_info(a, id + 1, SCTP_STATUS, &st, &len), EINVAL);
	T_EQ((int)T_OK(sctp_getpaddrs(a, id, &list)), 1);
	pa = (struct sockaddr_in *)(void *)list;
	T_EQ(pa->sin_port, to.sin_port);
	T_OK(sctp_freepaddrs(list));
	T_EQ(sctp_getassocid(a, (struct sockaddr *)&to), id);
}

T_CASE(what_waits_at_a_close_is_delivered)
{
	static char out[60000], in[60000];
	int s = many(), c = new_socket(), i;
	struct sockaddr_in to = loop(port_of(s));
	sctp_assoc_t id;
	size_t sum = 0;

	T_OK(connect(c, (struct sockaddr *)&to, sizeof(to)));
	id = changed(s, SCTP_COMM_UP);
	for (i = 0; i < 1000; i++)
		if (sctp_send(s, out, sizeof(out), &(struct sctp_sndrcvinfo){
			.sinfo_assoc_id = id}, MSG_DONTWAIT) < 0)
			break;
	T_EQ(errno, EAGAIN);
	T_OK(close(s));
	for (;;) {
		ssize_t n = T_OK(recv(c, in, sizeof(in), 0));

		if (n == 0)
			break;
		sum += (size_t)n;
	}
	T_EQ(sum, (size_t)i * sizeof(out));
}

T_CASE(a_receive_that_nothing_can_end_is_refused)
{
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	char c;

	T_ERR(recv(m, &c, 1, 0), ENOTCONN);
}

T_CASE(a_message_to_several_addresses_of_a_peer_goes_to_the_first_ones_port)
{
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	int l = listener(1), a;
	struct sockaddr_in sa[2] = {loop(port_of(l)), loop(0)};
	struct iovec iov = {"a", 1};
	char c;

	sa[1].sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	T_EQ((int)T_OK(sctp_sendv(m, &iov, 1, (struct sockaddr *)sa, 2, NULL,
		0, SCTP_SENDV_NOINFO, 0)), 1);
	a = (int)T_OK(accept(l, NULL, NULL));
	T_EQ((int)T_OK(recv(a, &c, 1, 0)), 1);
}

T_CASE(a_message_of_several_packets_is_refused_on_wish)
{
	static char buf[100000];
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	int l = listener(1);
	struct sockaddr_in sa = loop(port_of(l));

	T_EQ((int)T_OK(sendto(m, "a", 1, 0, (struct sockaddr *)&sa,
		sizeof(sa))), 1);
	T_OK(accept(l, NULL, NULL));
	set_int(m, IPPROTO_SCTP, SCTP_DISABLE_FRAGMENTS, 1);
	T_ERR(sendto(m, buf, sizeof(buf), 0, (struct sockaddr *)&sa,
		sizeof(sa)), EMSGSIZE);
}

T_CASE(options_of_an_association_that_there_is_not_are_refused)
{
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP));
	struct sctp_rtoinfo r = {.srto_assoc_id = 4711};

	T_ERR(setsockopt(m, IPPROTO_SCTP, SCTP_RTOINFO, &r, sizeof(r)),
		EINVAL);
}

T_CASE(a_connect_that_does_not_wait_is_in_progress)
{
	int m = (int)T_OK(socket(AF_INET, SOCK_SEQPACKET | SOCK_NONBLOCK,
		IPPROTO_SCTP));
	int l = listener(1);
	struct sockaddr_in sa = loop(port_of(l));

	T_ERR(connect(m, (struct sockaddr *)&sa, sizeof(sa)), EINPROGRESS);
	T_OK(accept(l, NULL, NULL));
	T_EQ(get_int(m, IPPROTO_SCTP, SCTP_GET_ASSOC_NUMBER), 1);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* docs/sctp.md: a server with two addresses, in the one-to-many style. */
#include <arpa/inet.h>
#include <netinet/sctp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void
check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	perror(what);
	exit(1);
}

static void
subscribe(int fd, int type)
{
	struct sctp_event ev = { .se_type = type, .se_on = 1 };

	check(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENT, &ev, sizeof(ev)),
		"SCTP_EVENT");
}

/* A notification; 1: an association has been shut down. */
static int
told(const union sctp_notification *n)
{
	if (n->sn_header.sn_type != SCTP_ASSOC_CHANGE)
		return 0;
	if (n->sn_assoc_change.sac_state == SCTP_COMM_UP)
		printf("server: a client has connected, with %d streams\n",
			n->sn_assoc_change.sac_inbound_streams);
	if (n->sn_assoc_change.sac_state != SCTP_SHUTDOWN_COMP)
		return 0;
	printf("server: it has gone\n");
	return 1;
}

/* Return each message on its stream, until a client has gone. */
static void
serve(int fd)
{
	char buf[1000];
	struct iovec iov = { buf, sizeof(buf) };
	struct sctp_rcvinfo info;
	struct sctp_sndinfo reply;
	socklen_t len;
	unsigned type;
	int n, flags;

	for (;;) {
		flags = 0;
		len = sizeof(info);
		iov.iov_len = sizeof(buf);
		n = sctp_recvv(fd, &iov, 1, NULL, NULL, &info, &len, &type,
			&flags);
		check(n, "sctp_recvv");
		if (flags & MSG_NOTIFICATION) {
			if (told((union sctp_notification *)buf))
				return;
			continue;
		}
		memset(&reply, 0, sizeof(reply));
		reply.snd_sid = info.rcv_sid;
		reply.snd_assoc_id = info.rcv_assoc_id;
		iov.iov_len = n;
		check(sctp_sendv(fd, &iov, 1, NULL, 0, &reply, sizeof(reply),
			SCTP_SENDV_SNDINFO, 0), "sctp_sendv");
	}
}

int
main(int argc, char **argv)
{
	struct sockaddr_in sa[2];
	int fd, i, on = 1;

	memset(sa, 0, sizeof(sa));
	for (i = 0; i < 2; i++) {
		sa[i].sin_family = AF_INET;
		sa[i].sin_port = htons(argc > 1 ? atoi(argv[1]) : 5000);
		sa[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = socket(AF_INET, SOCK_SEQPACKET, IPPROTO_SCTP);
	check(fd, "socket");
	check(sctp_bindx(fd, (struct sockaddr *)sa, 2, SCTP_BINDX_ADD_ADDR),
		"sctp_bindx");
	subscribe(fd, SCTP_ASSOC_CHANGE);
	check(setsockopt(fd, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof(on)),
		"SCTP_RECVRCVINFO");
	check(listen(fd, 5), "listen");
	printf("server: ready\n");
	serve(fd);
	return 0;
}

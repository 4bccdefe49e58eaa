/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* docs/sctp.md: a client that knows both addresses of its server. */
#include <arpa/inet.h>
#include <netinet/sctp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	perror(what);
	exit(1);
}

/* The server's addresses, and the one that data is sent to. */
static void
show_addresses(int fd)
{
	struct sctp_prim prim = { .ssp_assoc_id = 0 };
	socklen_t len = sizeof(prim);
	struct sockaddr_storage ss;
	struct sockaddr *list;
	int n, i;

	n = sctp_getpaddrs(fd, 0, &list);
	check(n, "sctp_getpaddrs");
	for (i = 0; i < n; i++)
		printf("client: the server has %s\n",
			inet_ntoa(((struct sockaddr_in *)list)[i].sin_addr));
	sctp_freepaddrs(list);
	check(getsockopt(fd, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &prim, &len),
		"SCTP_PRIMARY_ADDR");
	memcpy(&ss, &prim.ssp_addr, sizeof(ss));
	printf("client: data goes to %s\n",
		inet_ntoa(((struct sockaddr_in *)&ss)->sin_addr));
}

static void
use_address(int fd, const struct sockaddr_in *sa)
{
	struct sctp_prim prim = { .ssp_assoc_id = 0 };

	memcpy(&prim.ssp_addr, sa, sizeof(*sa));
	check(setsockopt(fd, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &prim,
		sizeof(prim)), "SCTP_PRIMARY_ADDR");
}

/* Send @text on stream @sid, and print the answer. */
static void
ask(int fd, int sid, const char *text)
{
	struct sctp_sndrcvinfo info;
	char buf[1000];
	int n, flags = 0;

	check(sctp_sendmsg(fd, text, strlen(text), NULL, 0, 0, 0, sid, 0, 0),
		"sctp_sendmsg");
	n = sctp_recvmsg(fd, buf, sizeof(buf), NULL, NULL, &info, &flags);
	check(n, "sctp_recvmsg");
	printf("client: stream %d returns %.*s\n", info.sinfo_stream, n, buf);
}

int
main(int argc, char **argv)
{
	struct sctp_event_subscribe ev = { .sctp_data_io_event = 1 };
	struct sockaddr_in sa[2];
	int fd, i;

	memset(sa, 0, sizeof(sa));
	for (i = 0; i < 2; i++) {
		sa[i].sin_family = AF_INET;
		sa[i].sin_port = htons(argc > 1 ? atoi(argv[1]) : 5000);
		sa[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK + i);
	}
	fd = socket(AF_INET, SOCK_STREAM, IPPROTO_SCTP);
	check(fd, "socket");
	check(setsockopt(fd, IPPROTO_SCTP, SCTP_EVENTS, &ev, sizeof(ev)),
		"SCTP_EVENTS");
	check(sctp_connectx(fd, (struct sockaddr *)sa, 2, NULL),
		"sctp_connectx");
	show_addresses(fd);
	ask(fd, 1, "one");
	ask(fd, 2, "two");
	use_address(fd, &sa[1]);
	show_addresses(fd);
	ask(fd, 1, "three");
	close(fd);
	return 0;
}

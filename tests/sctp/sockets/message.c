/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Messages and what is known about them: RFC 6458 s5, s9.
 */
#include <sched.h>
#include <stropts.h>
#include <sys/uio.h>

#include "sk.h"

T_CASE(messages_keep_their_boundaries)
{
	char buf[100];
	int fd[2];

	pair(fd);
	T_EQ((int)T_OK(send(fd[0], "one", 3, 0)), 3);
	T_EQ((int)T_OK(write(fd[0], "second", 6)), 6);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 3);
	T_EQ((int)T_OK(read(fd[1], buf, sizeof(buf))), 6);
	T_EQ(memcmp(buf, "second", 6), 0);
}

T_CASE(recvfrom_tells_the_peers_address)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char c;
	int fd[2];

	pair(fd);
	T_OK(send(fd[0], "a", 1, 0));
	T_EQ((int)T_OK(recvfrom(fd[1], &c, 1, 0, (struct sockaddr *)&from,
		&len)), 1);
	T_EQ((int)len, (int)sizeof(from));
	T_EQ(ntohs(from.sin_port), port_of(fd[0]));
}

T_CASE(a_message_is_received_in_parts_and_its_end_is_marked)
{
	struct iovec iov;
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	char buf[4];
	int fd[2];

	pair(fd);
	T_OK(send(fd[0], "abcdefghij", 10, 0));
	T_OK(send(fd[0], "k", 1, 0));
	iov = (struct iovec){buf, sizeof(buf)};
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 4);
	T_EQ(mh.msg_flags & MSG_EOR, 0);
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 4);
	T_EQ(mh.msg_flags & MSG_EOR, 0);
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 2);
	T_TRUE((mh.msg_flags & MSG_EOR) != 0);
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 1);
	T_TRUE((mh.msg_flags & MSG_EOR) != 0);
	T_EQ(buf[0], 'k');
}

T_CASE(pieces_are_gathered_and_scattered)
{
	struct iovec out[3] = {{(char *)(uintptr_t)"ab", 2},
		{(char *)(uintptr_t)"", 0}, {(char *)(uintptr_t)"cde", 3}};
	char a[1], b[10];
	struct iovec in[2] = {{a, 1}, {b, sizeof(b)}};
	int fd[2];

	pair(fd);
	T_EQ((int)T_OK(writev(fd[0], out, 3)), 5);
	T_EQ((int)T_OK(readv(fd[1], in, 2)), 5);
	T_EQ(a[0], 'a');
	T_EQ(memcmp(b, "bcde", 4), 0);
}

T_CASE(peek_leaves_the_message)
{
	char buf[10];
	int fd[2];

	pair(fd);
	T_ERR(recv(fd[1], buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT), EAGAIN);
	T_OK(send(fd[0], "abc", 3, 0));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), MSG_PEEK)), 3);
	T_EQ((int)T_OK(recv(fd[1], buf, 2, MSG_PEEK)), 2);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 3);
	T_OK(close(fd[0]));
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), MSG_PEEK)), 0);
	T_EQ((int)T_OK(recv(fd[1], buf, sizeof(buf), 0)), 0);
}

/* Messages of these sizes, at both sides of limits. */
T_CASE(streams_and_ppids_arrive_with_their_messages)
{
	struct sctp_sndrcvinfo si;
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char buf[10];
	int fd[2], fl = 0, i;

	pair(fd);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	for (i = 0; i < 10; i++)
		T_EQ((int)T_OK(sctp_sendmsg(fd[0], "x", 1, NULL, 0,
			htonl(100u + (unsigned)i), 0, (uint16_t)i, 0, 0)), 1);
	for (i = 0; i < 10; i++) {
		memset(&si, 0x55, sizeof(si));
		T_EQ((int)T_OK(sctp_recvmsg(fd[1], buf, sizeof(buf),
			(struct sockaddr *)&from, &len, &si, &fl)), 1);
		T_EQ(si.sinfo_stream, i);
		T_EQ(ntohl(si.sinfo_ppid), 100u + (unsigned)i);
		T_EQ(si.sinfo_ssn, 0);
		T_EQ(fl, MSG_EOR);
		T_EQ(ntohs(from.sin_port), port_of(fd[0]));
		T_NE(si.sinfo_assoc_id, 0);
	}
	T_ERR(sctp_sendmsg(fd[0], "x", 1, NULL, 0, 0, 0, 10, 0, 0), EINVAL);
	T_ERR(sctp_sendmsg(fd[0], "x", 1, NULL, 0, 0, 0x8000, 0, 0, 0),
		EINVAL);
	/* the connection has survived that */
	T_OK(sctp_sendmsg(fd[0], "y", 1, NULL, 0, 0, 0, 9, 0, 0));
	fl = 0;
	T_EQ((int)T_OK(sctp_recvmsg(fd[1], buf, sizeof(buf), NULL, NULL, &si,
		&fl)), 1);
	T_EQ(si.sinfo_stream, 9);
	T_EQ(si.sinfo_ssn, 1);
}

T_CASE(unordered_messages_are_marked)
{
	struct sctp_sndrcvinfo si;
	char buf[10];
	int fd[2], fl = 0;

	pair(fd);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	T_OK(sctp_sendmsg(fd[0], "x", 1, NULL, 0, 0, SCTP_UNORDERED, 2, 0, 0));
	T_EQ((int)T_OK(sctp_recvmsg(fd[1], buf, sizeof(buf), NULL, NULL, &si,
		&fl)), 1);
	T_TRUE((si.sinfo_flags & SCTP_UNORDERED) != 0);
	T_EQ(si.sinfo_stream, 2);
}

T_CASE(sendv_and_recvv_carry_information)
{
	struct sctp_sendv_spa spa;
	struct sctp_rcvinfo ri;
	struct iovec iov = {(char *)(uintptr_t)"abc", 3};
	char buf[10];
	struct iovec in = {buf, sizeof(buf)};
	socklen_t len = sizeof(ri);
	unsigned type = 99;
	int fd[2], fl = 0;

	pair(fd);
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	memset(&spa, 0, sizeof(spa));
	spa.sendv_flags = SCTP_SEND_SNDINFO_VALID | SCTP_SEND_PRINFO_VALID;
	spa.sendv_sndinfo.snd_sid = 4;
	spa.sendv_sndinfo.snd_ppid = 17;
	spa.sendv_prinfo.pr_policy = SCTP_PR_SCTP_TTL;
	spa.sendv_prinfo.pr_value = 60000;
	T_EQ((int)T_OK(sctp_sendv(fd[0], &iov, 1, NULL, 0, &spa, sizeof(spa),
		SCTP_SENDV_SPA, 0)), 3);
	T_EQ((int)T_OK(sctp_recvv(fd[1], &in, 1, NULL, NULL, &ri, &len, &type,
		&fl)), 3);
	T_EQ((int)type, SCTP_RECVV_RCVINFO);
	T_EQ((int)len, (int)sizeof(ri));
	T_EQ(ri.rcv_sid, 4);
	T_EQ(ri.rcv_ppid, 17u);
	T_EQ((int)T_OK(sctp_sendv(fd[0], &iov, 1, NULL, 0, NULL, 0,
		SCTP_SENDV_NOINFO, 0)), 3);
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, &spa, 1, SCTP_SENDV_SPA, 0),
		EINVAL);
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, &spa, sizeof(spa), 77, 0),
		EINVAL);
	T_ERR(sctp_sendv(fd[0], &iov, -1, NULL, 0, NULL, 0,
		SCTP_SENDV_NOINFO, 0), EINVAL);
	spa.sendv_prinfo.pr_policy = SCTP_PR_SCTP_PRIO;
	T_ERR(sctp_sendv(fd[0], &iov, 1, NULL, 0, &spa, sizeof(spa),
		SCTP_SENDV_SPA, 0), EINVAL);
}

T_CASE(ancillary_data_is_sent_and_received)
{
	union {
		struct cmsghdr h;
		char buf[256];
	} c;
	struct iovec iov = {(char *)(uintptr_t)"abc", 3};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c};
	struct sctp_sndinfo snd = {.snd_sid = 3, .snd_ppid = 5};
	struct sctp_sndrcvinfo sr;
	struct sctp_rcvinfo ri;
	char buf[10];
	int fd[2];

	pair(fd);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	memset(&c, 0, sizeof(c));
	c.h.cmsg_level = IPPROTO_SCTP;
	c.h.cmsg_type = SCTP_SNDINFO;
	c.h.cmsg_len = CMSG_LEN(sizeof(snd));
	memcpy(CMSG_DATA(&c.h), &snd, sizeof(snd));
	mh.msg_controllen = CMSG_SPACE(sizeof(snd));
	T_EQ((int)T_OK(sendmsg(fd[0], &mh, 0)), 3);

	iov = (struct iovec){buf, sizeof(buf)};
	memset(&c, 0, sizeof(c));
	mh.msg_controllen = sizeof(c);
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 3);
	T_EQ(CMSG_FIRSTHDR(&mh)->cmsg_type, (int)SCTP_RCVINFO);
	memcpy(&ri, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(ri));
	T_EQ(ri.rcv_sid, 3);
	T_EQ(ri.rcv_ppid, 5u);
	T_TRUE(CMSG_NXTHDR(&mh, &c.h) != NULL);
	memcpy(&sr, CMSG_DATA(CMSG_NXTHDR(&mh, &c.h)), sizeof(sr));
	T_EQ(sr.sinfo_stream, 3);
	T_EQ(sr.sinfo_tsn, ri.rcv_tsn);

	/* without room for it */
	T_OK(send(fd[0], "d", 1, 0));
	mh.msg_controllen = 4;
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 1);
	T_TRUE((mh.msg_flags & MSG_CTRUNC) != 0);

	/* lengths and types that are wrong */
	iov = (struct iovec){buf, 1};
	c.h.cmsg_level = IPPROTO_SCTP;
	c.h.cmsg_type = SCTP_SNDINFO;
	c.h.cmsg_len = CMSG_LEN(sizeof(snd) - 1);
	mh.msg_controllen = CMSG_SPACE(sizeof(snd));
	T_ERR(sendmsg(fd[0], &mh, 0), EINVAL);
	c.h.cmsg_len = sizeof(c) * 2;
	T_ERR(sendmsg(fd[0], &mh, 0), EINVAL);
	c.h.cmsg_len = CMSG_LEN(sizeof(struct sctp_authinfo));
	c.h.cmsg_type = SCTP_AUTHINFO;
	T_ERR(sendmsg(fd[0], &mh, 0), EINVAL);
}

T_CASE(defaults_are_used_for_messages_without_information)
{
	struct sctp_sndrcvinfo d, si;
	socklen_t len = sizeof(d);
	char c;
	int fd[2], fl = 0;

	pair(fd);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	memset(&d, 0, sizeof(d));
	d.sinfo_stream = 6;
	d.sinfo_ppid = 9;
	d.sinfo_flags = SCTP_UNORDERED;
	T_OK(setsockopt(fd[0], IPPROTO_SCTP, SCTP_DEFAULT_SEND_PARAM, &d,
		sizeof(d)));
	T_OK(getsockopt(fd[0], IPPROTO_SCTP, SCTP_DEFAULT_SEND_PARAM, &si,
		&len));
	T_EQ(si.sinfo_stream, 6);
	T_EQ(si.sinfo_ppid, 9u);
	T_OK(send(fd[0], "x", 1, 0));
	T_OK(sctp_recvmsg(fd[1], &c, 1, NULL, NULL, &si, &fl));
	T_EQ(si.sinfo_stream, 6);
	T_EQ(si.sinfo_ppid, 9u);
	T_TRUE((si.sinfo_flags & SCTP_UNORDERED) != 0);
	d.sinfo_stream = 10;
	T_ERR(setsockopt(fd[0], IPPROTO_SCTP, SCTP_DEFAULT_SEND_PARAM, &d,
		sizeof(d)), EINVAL);
	/* and one that the association turns out not to have */
	T_OK(sctp_sendmsg(fd[0], "y", 1, NULL, 0, 0, 0, 0, 0, 0));
	T_OK(sctp_recvmsg(fd[1], &c, 1, NULL, NULL, &si, &fl));
	T_EQ(si.sinfo_stream, 0);
}

T_CASE(information_asked_for_after_the_arrival_is_there)
{
	struct sctp_sndrcvinfo si;
	char c[8];
	int fd[2], fl = 0;

	pair(fd);
	T_OK(sctp_sendmsg(fd[0], "abcd", 4, NULL, 0, 7, 0, 3, 0, 0));
	T_EQ((int)T_OK(recv(fd[1], c, 1, MSG_PEEK)), 1);
	subscribe(fd[1], SCTP_DATA_IO_EVENT);
	memset(&si, 0, sizeof(si));
	T_EQ((int)T_OK(sctp_recvmsg(fd[1], c, 2, NULL, NULL, &si, &fl)), 2);
	T_EQ(si.sinfo_stream, 3);
	T_EQ(si.sinfo_ppid, 7u);
	T_EQ(fl & MSG_EOR, 0);
	memset(&si, 0, sizeof(si));
	T_EQ((int)T_OK(sctp_recvmsg(fd[1], c, 8, NULL, NULL, &si, &fl)), 2);
	T_EQ(si.sinfo_stream, 3);
	T_TRUE((fl & MSG_EOR) != 0);
}

T_CASE(the_next_message_is_described)
{
	struct iovec iov;
	struct sctp_recvv_rn rn;
	union {
		struct cmsghdr h;
		char room[200];
	} c;
	char buf[10];
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &c, .msg_controllen = sizeof(c)};
	struct sctp_nxtinfo ni;
	socklen_t len = sizeof(rn);
	unsigned type = 77;
	int fd[2], fl = 0, n;

	pair(fd);
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVNXTINFO, 1);
	T_EQ(get_int(fd[1], IPPROTO_SCTP, SCTP_RECVNXTINFO), 1);
	T_OK(sctp_sendmsg(fd[0], "a", 1, NULL, 0, 7, 0, 1, 0, 0));
	T_OK(sctp_sendmsg(fd[0], "next", 4, NULL, 0, 9, 0, 2, 0, 0));
	while (T_OK(ioctl(fd[1], I_NREAD, &n)) != 2)
		(void)sched_yield();
	/* a look at a message tells nothing of the next */
	iov = (struct iovec){.iov_base = buf, .iov_len = sizeof(buf)};
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, MSG_PEEK)), 1);
	T_EQ((int)mh.msg_controllen, 0);
	mh.msg_controllen = sizeof(c);
	T_EQ((int)T_OK(recvmsg(fd[1], &mh, 0)), 1);
	T_EQ((int)c.h.cmsg_len, (int)CMSG_LEN(sizeof(ni)));
	T_EQ(c.h.cmsg_type, SCTP_NXTINFO);
	memcpy(&ni, CMSG_DATA(&c.h), sizeof(ni));
	T_EQ(ni.nxt_sid, 2);
	T_EQ((int)ni.nxt_ppid, 9);
	T_EQ((int)ni.nxt_length, 4);
	T_EQ(ni.nxt_flags, 0);
	/* there is none behind the last one */
	set_int(fd[1], IPPROTO_SCTP, SCTP_RECVRCVINFO, 1);
	T_EQ((int)T_OK(sctp_recvv(fd[1], &iov, 1, NULL, NULL, &rn, &len, &type,
		&fl)), 4);
	T_EQ((int)type, SCTP_RECVV_RCVINFO);
	T_EQ(rn.recvv_rcvinfo.rcv_sid, 2);
}

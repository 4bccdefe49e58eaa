/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * udp(7), rawip(7) and icmp(7) by their primitives, with plain sockets at the
 * other end.
 */
#include <netinet/ip_icmp.h>
#include <sys/resource.h>

#include "in.h"

T_TARGETS("ipv4", "ipv6")

static int
family(void)
{
	return strcmp(t_target(), "ipv6") == 0 ? AF_INET6 : AF_INET;
}

static const char *
dev(void)
{
	return family() == AF_INET6 ? "/dev/udp6" : "/dev/udp";
}

static const char *
home(void)
{
	return family() == AF_INET6 ? "::1" : "127.0.0.1";
}

/* A bound endpoint, its address, and a bound plain socket with its own. */
struct both {
	int fd, s;
	struct sockaddr_storage me, peer;
	socklen_t len;
};

static void
both(struct both *b)
{
	b->s = in_here(family(), SOCK_DGRAM, &b->peer, &b->len);
	b->len = in_addr(&b->me, family(), home(), 0);
	b->fd = in_open(dev());
	((struct sockaddr_in *)&b->me)->sin_port =
		htons((uint16_t)in_bind(b->fd, &b->me, b->len, 0));
}

static void
done(struct both *b)
{
	T_OK(close(b->fd));
	T_OK(close(b->s));
}

T_CASE(the_info_is_that_of_datagrams)
{
	int fd = in_open(dev());
	struct T_info_req r = {T_INFO_REQ};

	in_put(fd, &r, sizeof(r), NULL, 0, 1);
	in_want(fd, T_INFO_ACK);
	T_EQ(in.p.info_ack.TSDU_size, 65507);
	T_EQ(in.p.info_ack.ETSDU_size, -2);
	T_EQ(in.p.info_ack.TIDU_size, 65507);
	T_EQ(in.p.info_ack.SERV_type, T_CLTS);
	T_EQ(in.p.info_ack.PROVIDER_flag, XPG4_1 | T_SNDZERO);
	T_OK(close(fd));
}

T_CASE(datagrams_go_both_ways_and_keep_their_bounds)
{
	static const int size[] = {1, 0, 100, 1500, 2112, 2113, 9000, 65507};
	static unsigned char buf[65536], got[65536];
	struct sockaddr_storage from;
	struct both b;
	socklen_t len;
	unsigned i, k;

	both(&b);
	for (k = 0; k < sizeof(buf); k++)
		buf[k] = in_byte(k);
	for (i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		in_unitdata(b.fd, &b.peer, (int)b.len, buf, size[i]);
		len = sizeof(from);
		T_EQ(T_OK(recvfrom(b.s, got, sizeof(got), 0,
			(struct sockaddr *)&from, &len)), size[i]);
		T_MEM(got, buf, (size_t)size[i]);
		T_EQ(in_port(&from), in_port(&b.me));
		T_EQ(T_OK(sendto(b.s, buf, (size_t)size[i], 0,
			(struct sockaddr *)&b.me, b.len)), size[i]);
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, size[i]);
		T_MEM(in.data, buf, (size_t)size[i]);
		T_EQ(in.p.unitdata_ind.SRC_length, (int)b.len);
		T_MEM(in.ctl + in.p.unitdata_ind.SRC_offset, &b.peer, b.len);
	}
	done(&b);
}

T_CASE(many_of_all_sizes_keep_their_order)
{
	static unsigned char buf[4000], got[65536];
	struct both b;
	int i, k, n;

	both(&b);
	for (i = 0; i < 2000; i++) {
		/* runs of one size, some of them broken by another one */
		n = i % 7 == 0 ? 1 + (i * 37) % 3999 : 1 + (i / 100) * 150;
		for (k = 0; k < n; k++)
			buf[k] = (unsigned char)(i + k);
		in_unitdata(b.fd, &b.peer, (int)b.len, buf, n);
		if (i % 20 != 19)
			continue;
		for (k = i - 19; k <= i; k++) {
			n = k % 7 == 0 ? 1 + (k * 37) % 3999 :
				1 + (k / 100) * 150;
			T_EQ(T_OK(recv(b.s, got, sizeof(got), 0)), n);
			T_EQ(got[0], (unsigned char)k);
			T_EQ(got[n - 1], (unsigned char)(k + n - 1));
		}
	}
	done(&b);
}

T_CASE(two_endpoints_of_one_domain_lose_nothing_they_have_room_for)
{
	static unsigned char buf[2000];
	struct both a, b;
	int i, n;

	both(&a);
	both(&b);
	for (i = 0; i < 50; i++) {
		n = 1 + (i * 97) % 1999;
		memset(buf, i, (size_t)n);
		in_unitdata(a.fd, &b.me, (int)b.len, buf, n);
	}
	for (i = 0; i < 50; i++) {
		n = 1 + (i * 97) % 1999;
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, n);
		T_EQ(in.data[0], (unsigned char)i);
		T_EQ(in.data[n - 1], (unsigned char)i);
		T_MEM(in.ctl + in.p.unitdata_ind.SRC_offset, &a.me, a.len);
	}
	done(&a);
	done(&b);
}

T_CASE(a_port_that_nobody_has_is_an_error_of_the_datagram)
{
	struct both b;
	int i;

	both(&b);
	T_OK(close(b.s));
	for (i = 0; i < 3; i++) {
		in_unitdata(b.fd, &b.peer, (int)b.len, "lost", 4);
		in_want(b.fd, T_UDERROR_IND);
		T_EQ(in.p.uderror_ind.ERROR_type, ECONNREFUSED);
		T_EQ(in.p.uderror_ind.DEST_length, (int)b.len);
		T_EQ(in_port(in.ctl + in.p.uderror_ind.DEST_offset),
			in_port(&b.peer));
	}
	T_EQ(in_state(b.fd), TS_IDLE);
	T_OK(close(b.fd));
}

T_CASE(what_is_too_long_or_has_no_address_is_an_error_of_the_datagram)
{
	static unsigned char buf[65535];
	struct both b;

	both(&b);
	in_unitdata(b.fd, &b.peer, (int)b.len, buf, 65508);
	in_want(b.fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EMSGSIZE);
	in_unitdata(b.fd, &b.peer, 7, buf, 1);
	in_want(b.fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EINVAL);
	((struct sockaddr_in *)&b.peer)->sin_port = 0;
	in_unitdata(b.fd, &b.peer, (int)b.len, buf, 1);
	in_want(b.fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EINVAL);
	T_EQ(in_state(b.fd), TS_IDLE);
	done(&b);
}

T_CASE(broadcasts_need_the_option)
{
	struct sockaddr_storage ss;
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		t_uscalar_t v;
	} m = {{T_OPTMGMT_REQ, sizeof(m.h) + sizeof(m.v), sizeof(m.r),
		T_NEGOTIATE}, {sizeof(m.h) + sizeof(m.v), INET_IP,
		T_IP_BROADCAST, 0}, T_YES};
	socklen_t len;
	int fd;

	if (family() == AF_INET6)
		T_SKIP("IPv6 has none");
	fd = in_open(dev());
	in_bind(fd, NULL, 0, 0);
	len = in_addr(&ss, AF_INET, "127.255.255.255", 9);
	in_unitdata(fd, &ss, (int)len, "x", 1);
	in_want(fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EACCES);
	in_put(fd, &m, sizeof(m), NULL, 0, 0);
	in_want(fd, T_OPTMGMT_ACK);
	T_EQ(in.p.optmgmt_ack.MGMT_flags, T_SUCCESS);
	in_unitdata(fd, &ss, (int)len, "x", 1);
	T_TRUE(in_quiet(fd, 50));
	T_OK(close(fd));
}

T_CASE(a_reader_that_is_slow_gets_trains_in_order)
{
	struct both a, b;
	int i, n = 0, last = -1, v;
	unsigned char buf[64];

	both(&a);
	both(&b);
	memset(buf, 0, sizeof(buf));
	for (i = 0; i < 500; i++) {
		memcpy(buf, &i, sizeof(i));
		in_unitdata(a.fd, &b.me, (int)b.len, buf, sizeof(buf));
	}
	while (!in_quiet(b.fd, 200)) {
		in_want(b.fd, T_UNITDATA_IND);
		T_EQ(in.datalen, (int)sizeof(buf));
		memcpy(&v, in.data, sizeof(v));
		T_GT(v, last);
		last = v;
		n++;
	}
	T_EQ(n, 500);
	done(&a);
	done(&b);
}

/* Who has had many at once naps for the next ones, but not when none come. */
T_CASE(who_waits_after_a_flow_sleeps)
{
	struct rusage before, after;
	unsigned char byte = 1;
	struct both b;
	pid_t pid;
	int i, st;

	both(&b);
	for (i = 0; i < 200; i++)
		T_EQ(T_OK(sendto(b.s, &byte, 1, 0, (struct sockaddr *)&b.me,
			b.len)), 1);
	for (i = 0; i < 200; i++)
		in_want(b.fd, T_UNITDATA_IND);
	pid = T_OK(fork());
	if (pid == 0) {
		/* what is asked is what happens while nothing does */
		for (i = 0; i < 150; i++)
			t_pause();
		(void)sendto(b.s, &byte, 1, 0, (struct sockaddr *)&b.me,
			b.len);
		_exit(0);
	}
	T_OK(getrusage(RUSAGE_SELF, &before));
	in_want(b.fd, T_UNITDATA_IND);
	T_OK(getrusage(RUSAGE_SELF, &after));
	T_LE(after.ru_nvcsw - before.ru_nvcsw, 300);
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	done(&b);
}

/* udp(4): between endpoints of one domain the sender is held back */
T_CASE_TIMEOUT(a_receiver_of_the_domain_that_stalls_loses_nothing, 60)
{
	enum { N = 20000 };
	static unsigned char buf[1500];
	struct both a, b;
	int i, v, st;
	pid_t pid;

	both(&a);
	both(&b);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			memcpy(buf, &i, sizeof(i));
			in_unitdata(a.fd, &b.me, (int)b.len, buf,
				(int)sizeof(i) + (i / 1000 * 70) % 1400);
		}
		_exit(0);
	}
	for (i = 0; i < N; i++) {
		in_want(b.fd, T_UNITDATA_IND);
		memcpy(&v, in.data, sizeof(v));
		T_EQ(v, i);
		T_EQ(in.datalen, (int)sizeof(i) + (i / 1000 * 70) % 1400);
		if (i % 2000 == 0)
			t_pause();
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	done(&a);
	done(&b);
}

/* ... and for what its buffer takes now */
T_CASE(a_receiver_of_the_domain_with_less_room_than_before_loses_nothing)
{
	enum { N = 300 };
	struct {
		struct T_optmgmt_req r;
		struct t_opthdr h;
		t_uscalar_t v;
	} m = {{T_OPTMGMT_REQ, sizeof(m.h) + sizeof(m.v), sizeof(m.r),
		T_NEGOTIATE}, {sizeof(m.h) + sizeof(m.v), XTI_GENERIC,
		XTI_RCVBUF, 0}, 16384};
	static unsigned char buf[1000];
	struct both a, b;
	int i, v, st;
	pid_t pid;

	both(&a);
	both(&b);
	in_put(b.fd, &m, sizeof(m), NULL, 0, 0);
	in_want(b.fd, T_OPTMGMT_ACK);
	T_EQ(in.p.optmgmt_ack.MGMT_flags, T_SUCCESS);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			memcpy(buf, &i, sizeof(i));
			in_unitdata(a.fd, &b.me, (int)b.len, buf, sizeof(buf));
		}
		_exit(0);
	}
	/* without looking, so that the sender sends as long as it may */
	for (i = 0; i < 20; i++)
		t_pause();
	for (i = 0; i < N; i++) {
		T_FALSE(in_quiet(b.fd, 5000));
		in_want(b.fd, T_UNITDATA_IND);
		memcpy(&v, in.data, sizeof(v));
		T_EQ(v, i);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	done(&a);
	done(&b);
}

/* ... but not for ever by one that does not read at all */
T_CASE(a_receiver_of_the_domain_that_does_not_read_holds_nobody_for_ever)
{
	static unsigned char buf[1000];
	struct both a, b;
	uint64_t end;
	int i;

	both(&a);
	both(&b);
	T_OK(fcntl(a.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	end = t_now_ns() + 8000000000u;
	for (i = 0; i < 2000 && t_now_ns() < end;) {
		struct {
			struct T_unitdata_req r;
			unsigned char addr[128];
		} m = {{T_UNITDATA_REQ, (int)b.len, sizeof(m.r), 0, 0}, {0}};
		struct strbuf c = {0, (int)(sizeof(m.r) + b.len), (char *)&m};
		struct strbuf d = {0, sizeof(buf), (char *)buf};

		memcpy(m.addr, &b.me, b.len);
		if (putmsg(a.fd, &c, &d, 0) == 0)
			i++;
		else
			t_pause();
	}
	T_EQ(i, 2000);
	done(&a);
	done(&b);
}

/* Two endpoints of rawip(4); *@ss is the address of *@b. */
static void
raw_pair(int *a, int *b, struct sockaddr_storage *ss, socklen_t *len)
{
	if (family() == AF_INET6)
		T_SKIP("IPv4 only");
	if (geteuid() != 0)
		T_SKIP("for the super-user");
	*a = in_open("/dev/rawip");
	*b = in_open("/dev/rawip");
	*len = in_addr(ss, AF_INET, "127.0.0.1", 0);
	in_bind(*a, ss, *len, 0);
	in_addr(ss, AF_INET, "127.0.0.2", 0);
	in_bind(*b, ss, *len, 0);
}

T_CASE(rawip_carries_what_is_behind_the_header)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int a, b;

	raw_pair(&a, &b, &ss, &len);
	in_unitdata(a, &ss, (int)len, "payload", 7);
	in_want(b, T_UNITDATA_IND);
	T_EQ(in.datalen, 7);
	T_MEM(in.data, "payload", 7);
	T_OK(close(a));
	T_OK(close(b));
}

/* rawip(4): as udp(4), between endpoints of one domain */
T_CASE_TIMEOUT(rawip_holds_a_sender_back_while_its_receiver_stalls, 60)
{
	enum { N = 20000 };
	static unsigned char buf[1500];
	struct sockaddr_storage ss;
	socklen_t len;
	int a, b, i, v, st;
	pid_t pid;

	raw_pair(&a, &b, &ss, &len);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < N; i++) {
			memcpy(buf, &i, sizeof(i));
			in_unitdata(a, &ss, (int)len, buf,
				(int)sizeof(i) + (i / 1000 * 70) % 1400);
		}
		_exit(0);
	}
	for (i = 0; i < N; i++) {
		in_want(b, T_UNITDATA_IND);
		memcpy(&v, in.data, sizeof(v));
		T_EQ(v, i);
		if (i % 2000 == 0)
			t_pause();
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	T_OK(close(a));
	T_OK(close(b));
}

T_CASE(icmp_gets_an_echo)
{
	struct icmphdr *h;
	struct sockaddr_storage ss;
	unsigned char req[8] = {ICMP_ECHO, 0, 0, 0, 0x12, 0x34, 0, 1};
	unsigned sum = 0;
	socklen_t len;
	int fd, i;

	if (family() == AF_INET6)
		T_SKIP("IPv4 only");
	if (geteuid() != 0)
		T_SKIP("for the super-user");
	fd = in_open("/dev/icmp");
	in_bind(fd, NULL, 0, 0);
	for (i = 0; i < 8; i += 2)
		sum += (unsigned)(req[i] << 8 | req[i + 1]);
	sum = ~((sum & 0xffff) + (sum >> 16));
	req[2] = (unsigned char)(sum >> 8);
	req[3] = (unsigned char)sum;
	len = in_addr(&ss, AF_INET, "127.0.0.1", 0);
	in_unitdata(fd, &ss, (int)len, req, 8);
	do {
		in_want(fd, T_UNITDATA_IND);
		h = (void *)(in.data + (in.data[0] & 15) * 4);
	} while (h->type != ICMP_ECHOREPLY);
	T_EQ(ntohs(h->un.echo.id), 0x1234);
	T_OK(close(fd));
}

T_CASE(raw_endpoints_are_the_super_users)
{
	int fd, st;
	pid_t pid;

	if (family() == AF_INET6)
		T_SKIP("IPv4 only");
	if (geteuid() != 0)
		T_SKIP("for the super-user, who gives it up");
	/* before the domain is made: it is one user's */
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setgid(65534));
		T_OK(setuid(65534));
		T_OK(setenv("STREAMS_LINGER", "250", 1));
		fd = in_open("/dev/rawip");
		in_bind_req(fd, T_BIND_REQ, NULL, 0, 0);
		in_error(fd, T_BIND_REQ, TACCES, 0);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	/* its streamsd, killed here, would leave that user's directory */
	T_SOON(access("/dev/shm/streams-65534", F_OK) != 0, 10000);
}

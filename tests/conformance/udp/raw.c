/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * rawip2: protocols by number, with and without the header; what goes on lo as
 * its raw endpoints see it.
 */
#include "ud.h"

#define PROTO 253 /* for experiments: RFC 3692 */

/* A raw endpoint; the protocol is where a port would be. */
static void
raw(struct ud *u, int proto)
{
	if (!ud_native())
		T_SKIP("rawip2's");
	t_need_raw();
	ud_addr(u, ud_home(), proto);
	u->fd = in_open(ud_six() ? "/dev/rawip2_6" : "/dev/rawip2");
}

static void
raw_bound(struct ud *u, int proto)
{
	raw(u, proto);
	T_EQ(in_bind(u->fd, &u->at, u->len, 0), proto);
	ud_addr(u, ud_home(), 0);
}

T_CASE(all_who_listen_to_a_protocol_get_it)
{
	struct ud a, b, c, other;

	raw_bound(&a, PROTO);
	raw_bound(&b, PROTO);
	raw_bound(&c, PROTO);
	raw_bound(&other, PROTO + 1);
	ud_send(&a, &b, "payload", 7);
	ud_get(&a, "payload", 7, &b);
	ud_get(&b, "payload", 7, &b);
	ud_get(&c, "payload", 7, &b);
	ud_quiet(&other);
	ud_close(&a);
	ud_close(&b);
	ud_close(&c);
	ud_close(&other);
}

T_CASE(the_header_comes_with_it_for_who_wants_it)
{
	struct iphdr h;
	struct ud a, b;

	if (ud_six())
		T_SKIP("IPv6 has no such option");
	raw(&b, PROTO);
	ud_set_int(b.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
	T_EQ(in_bind(b.fd, &b.at, b.len, 0), PROTO);
	raw_bound(&a, PROTO);
	ud_addr(&b, ud_home(), 0);
	ud_set_int(a.fd, T_INET_IP, T_IP_TTL, 7);
	ud_send(&a, &b, "payload", 7);
	ud_get(&a, "payload", 7, &b);
	T_FALSE(in_quiet(b.fd, 5000));
	in_want(b.fd, T_UNITDATA_IND);
	T_EQ(in.datalen, (int)sizeof(h) + 7);
	memcpy(&h, in.data, sizeof(h));
	T_EQ((int)h.version, 4);
	T_EQ(h.protocol, PROTO);
	T_EQ(h.ttl, 7);
	T_MEM(in.data + sizeof(h), "payload", 7);
	T_OK(close(a.fd));
	T_OK(close(b.fd));
}

T_CASE(who_wants_the_header_no_more_gets_none)
{
	struct ud a;
	int i;

	if (ud_six())
		T_SKIP("IPv6 has no such option");
	for (i = 0; i < 2; i++) {
		raw(&a, PROTO);
		if (i != 0)
			ud_set_int(a.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
		ud_set_int(a.fd, T_INET_IP, T_IP_HDRINCL, T_NO);
		T_EQ(in_bind(a.fd, &a.at, a.len, 0), PROTO);
		ud_addr(&a, ud_home(), 0);
		ud_send(&a, &a, "payload", 7);
		ud_get(&a, "payload", 7, &a);
		ud_set_int(a.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
		ud_set_int(a.fd, T_INET_IP, T_IP_HDRINCL, T_NO);
		ud_send(&a, &a, "payload", 7);
		ud_get(&a, "payload", 7, &a);
		ud_close(&a);
	}
}

T_CASE(who_says_so_sends_the_header_too)
{
	struct {
		struct iphdr h;
		char data[8];
	} m;
	struct ud a, b;

	if (ud_six())
		T_SKIP("IPv6 has no such option");
	raw_bound(&a, PROTO);
	raw(&b, PROTO);
	ud_set_int(b.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
	T_EQ(in_bind(b.fd, &b.at, b.len, 0), PROTO);
	memset(&m, 0, sizeof(m));
	m.h.version = 4;
	m.h.ihl = 5;
	m.h.ttl = 3;
	m.h.protocol = PROTO;
	m.h.saddr = htonl(0x7f090909);
	m.h.daddr = htonl(INADDR_LOOPBACK);
	memcpy(m.data, "included", 8);
	ud_send(&b, &a, &m, sizeof(m));
	ud_addr(&b, "127.9.9.9", 0);
	ud_get(&a, "included", 8, &b);
	T_OK(close(a.fd));
	T_OK(close(b.fd));
}

/* Of the next packet that @r is given from @a to @b: whole, in in.data. */
static void
packet_of(const struct ud *r, const struct ud *a, const struct ud *b)
{
	unsigned short udp[4];

	/* what other programs of this machine say to each other comes, too */
	do {
		T_FALSE(in_quiet(r->fd, 5000));
		in_want(r->fd, T_UNITDATA_IND);
		memset(udp, 0, sizeof(udp));
		if (in.datalen >= (int)(sizeof(struct iphdr) + sizeof(udp)))
			memcpy(udp, in.data + sizeof(struct iphdr),
				sizeof(udp));
	} while (ntohs(udp[0]) != in_port(&a->at) ||
		ntohs(udp[1]) != in_port(&b->at));
}

T_CASE(who_only_listens_is_not_told_what_others_datagrams_met)
{
	struct ud r, from, closed;

	if (ud_six())
		T_SKIP("of IPv4");
	raw(&r, IPPROTO_UDP);
	ud_set_int(r.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
	T_EQ(in_bind(r.fd, &r.at, r.len, 0), IPPROTO_UDP);
	ud_plain(&from, ud_home(), 0);
	ud_plain(&closed, ud_home(), 0);
	T_OK(close(closed.fd));
	ud_plain_send(&from, &closed, "nobody", 6);
	packet_of(&r, &from, &closed);
	/* its error has come before this one */
	ud_plain_send(&from, &from, "somebody", 8);
	packet_of(&r, &from, &from);
	T_OK(close(from.fd));
	ud_close(&r);
}

T_CASE(a_datagram_on_lo_has_real_headers)
{
	static unsigned char full[1000];
	struct ud a, b, r;
	struct iphdr ip;
	unsigned short udp[4];

	if (ud_six())
		T_SKIP("IPv6 has no such option");
	raw(&r, IPPROTO_UDP);
	ud_set_int(r.fd, T_INET_IP, T_IP_HDRINCL, T_YES);
	T_EQ(in_bind(r.fd, &r.at, r.len, 0), IPPROTO_UDP);
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_set_int(a.fd, T_INET_IP, T_IP_TOS, 0x28);
	ud_set_int(a.fd, T_INET_IP, T_IP_TTL, 9);
	memset(full, 0x5a, sizeof(full));
	ud_send(&a, &b, full, sizeof(full));
	ud_get(&b, full, sizeof(full), &a);
	packet_of(&r, &a, &b);
	T_EQ(in.datalen, (int)(sizeof(ip) + sizeof(udp) + sizeof(full)));
	memcpy(&ip, in.data, sizeof(ip));
	T_EQ((int)ip.version, 4);
	T_EQ((int)ip.ihl, 5);
	T_EQ(ip.tos, 0x28);
	T_EQ(ip.ttl, 9);
	T_EQ(ip.protocol, IPPROTO_UDP);
	T_EQ(ntohs(ip.tot_len), in.datalen);
	T_EQ(ip.saddr, htonl(INADDR_LOOPBACK));
	T_EQ(ip.daddr, htonl(INADDR_LOOPBACK));
	memcpy(udp, in.data + sizeof(ip), sizeof(udp));
	T_EQ(ntohs(udp[0]), in_port(&a.at));
	T_EQ(ntohs(udp[1]), in_port(&b.at));
	T_EQ(ntohs(udp[2]), sizeof(udp) + sizeof(full));
	T_MEM(in.data + sizeof(ip) + sizeof(udp), full, sizeof(full));
	ud_close(&a);
	ud_close(&b);
	ud_close(&r);
}

T_CASE(the_kernel_answers_an_echo)
{
	unsigned char req[8] = {8, 0, 0, 0, 0x12, 0x34, 0, 1}, type;
	unsigned sum = 0;
	struct ud a;
	int i;

	if (ud_six())
		T_SKIP("of IPv4");
	raw_bound(&a, IPPROTO_ICMP);
	for (i = 0; i < 8; i += 2)
		sum += (unsigned)(req[i] << 8 | req[i + 1]);
	sum = ~((sum & 0xffff) + (sum >> 16));
	req[2] = (unsigned char)(sum >> 8);
	req[3] = (unsigned char)sum;
	ud_send(&a, &a, req, 8);
	do {
		T_FALSE(in_quiet(a.fd, 5000));
		in_want(a.fd, T_UNITDATA_IND);
		type = in.data[0];
	} while (type != 0 || in.data[4] != 0x12 || in.data[5] != 0x34);
	ud_close(&a);
}

T_CASE(plain_sockets_and_raw_endpoints_hear_each_other)
{
	struct ud a, home;
	struct pollfd pfd;
	unsigned char buf[256];
	int s, skip = ud_six() ? 0 : (int)sizeof(struct iphdr);

	raw_bound(&a, PROTO);
	ud_addr(&home, ud_home(), 0);
	s = T_OK(socket(ud_family(), SOCK_RAW | SOCK_CLOEXEC, PROTO));
	T_EQ(T_OK(sendto(s, "plain", 5, 0, (struct sockaddr *)&home.at,
		home.len)), 5);
	ud_get(&a, "plain", 5, &home);
	T_EQ(T_OK(recv(s, buf, sizeof(buf), 0)), skip + 5);
	ud_send(&a, &home, "ours", 4);
	ud_get(&a, "ours", 4, &home);
	pfd = (struct pollfd){s, POLLIN, 0};
	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_EQ(T_OK(recv(s, buf, sizeof(buf), 0)), skip + 4);
	T_MEM(buf + skip, "ours", 4);
	T_OK(close(s));
	ud_close(&a);
}

T_CASE(raw_endpoints_are_the_super_users)
{
	struct ud a;
	int st;
	pid_t pid;

	if (!ud_native())
		T_SKIP("rawip2's");
	if (geteuid() != 0)
		T_SKIP("for the super-user, who gives it up");
	t_need_raw();
	/* before the domain is made: it is one user's */
	pid = T_OK(fork());
	if (pid == 0) {
		T_OK(setgid(65534));
		T_OK(setuid(65534));
		T_OK(setenv("STREAMS_LINGER", "250", 1));
		a.fd = in_open(ud_six() ? "/dev/rawip2_6" : "/dev/rawip2");
		in_bind_req(a.fd, T_BIND_REQ, NULL, 0, 0);
		in_error(a.fd, T_BIND_REQ, TACCES, 0);
		_exit(0);
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	/* its streamsd, killed here, would leave that user's directory */
	T_SOON(access("/dev/shm/streams-65534", F_OK) != 0, 10000);
}

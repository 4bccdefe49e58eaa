/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Datagrams: sizes, order, groups, options; with plain sockets both ways.
 */
#include <sys/ipwire.h>

#include "ud.h"

static unsigned char buf[70000];

static void
fill(int n, int seed)
{
	int i;

	for (i = 0; i < n; i++)
		buf[i] = in_byte((uint64_t)seed * 1000003 + (uint64_t)i);
}

static const int sizes[] = {0, 1, 7, 64, 1000, 1472, 1473, 2113, 9000, 32768,
	65506, 65507};
#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

T_CASE(all_sizes_go_between_endpoints)
{
	struct ud a, b;
	unsigned i;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	for (i = 0; i < NSIZES; i++) {
		fill(sizes[i], (int)i);
		ud_send(&a, &b, buf, sizes[i]);
		ud_get(&b, buf, sizes[i], &a);
		ud_send(&b, &a, buf, sizes[i]);
		ud_get(&a, buf, sizes[i], &b);
	}
	ud_close(&a);
	ud_close(&b);
}

T_CASE(all_sizes_go_to_plain_sockets_and_back)
{
	struct ud a, p;
	unsigned i;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	for (i = 0; i < NSIZES; i++) {
		fill(sizes[i], (int)i);
		ud_send(&a, &p, buf, sizes[i]);
		ud_plain_get(&p, buf, sizes[i], &a);
		ud_plain_send(&p, &a, buf, sizes[i]);
		ud_get(&a, buf, sizes[i], &p);
	}
	ud_close(&a);
	ud_close(&p);
}

/* @to may be an endpoint, or not be there at all. */
static void
too_long(const struct ud *a, const struct ud *to)
{
	ud_send(a, to, buf, 65508);
	ud_error(a, to, EMSGSIZE);
	ud_send(a, to, buf, 65535);
	ud_error(a, to, EMSGSIZE);
}

T_CASE(what_is_too_long_is_an_error_of_the_datagram)
{
	struct ud a, b, p;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	too_long(&a, &b);
	too_long(&a, &p);
	ud_send(&a, &b, "short", 5);
	ud_get(&b, "short", 5, &a);
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
}

T_CASE(a_datagram_of_no_data_part_is_one_of_no_bytes)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[sizeof(struct sockaddr_in6)];
	} m = {{T_UNITDATA_REQ, 0, sizeof(m.r), 0, 0}, {0}};
	struct ud a, b;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	m.r.DEST_length = (t_scalar_t)b.len;
	memcpy(m.addr, &b.at, b.len);
	in_put(a.fd, &m, (int)(sizeof(m.r) + b.len), NULL, 0, 0);
	ud_get(&b, "", 0, &a);
	ud_close(&a);
	ud_close(&b);
}

T_CASE(order_is_kept)
{
	enum { N = 3000 };
	struct ud a, b;
	int i, k;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	for (i = 0; i < N; i += 30) {
		for (k = i; k < i + 30; k++) {
			fill(1 + k % 700, k);
			ud_send(&a, &b, buf, 1 + k % 700);
		}
		for (k = i; k < i + 30; k++) {
			fill(1 + k % 700, k);
			ud_get(&b, buf, 1 + k % 700, &a);
		}
	}
	ud_close(&a);
	ud_close(&b);
}

/* Short ones are sent many at a time, long ones by themselves. */
T_CASE(order_is_kept_to_a_plain_socket)
{
	static const int len[] = {1, 700, 9000, 1, 33000, 64, 64, 2500, 64, 1};
	enum { N = 400, BURST = 10 };
	struct ud a, p;
	int i, k;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	for (i = 0; i < N; i += BURST) {
		for (k = 0; k < BURST; k++) {
			fill(len[k], i + k);
			ud_send(&a, &p, buf, len[k]);
		}
		for (k = 0; k < BURST; k++) {
			fill(len[k], i + k);
			ud_plain_get(&p, buf, len[k], &a);
		}
	}
	ud_close(&a);
	ud_close(&p);
}

/* As many as one call sends, and more: the last of each is taken from here. */
T_CASE(bursts_of_one_length_to_a_plain_socket)
{
	static const struct {
		int len, n;
	} v[] = {{16384, 7}, {13000, 6}, {8192, 9}, {4000, 18}, {1, 200}};
	struct ud a, p;
	unsigned i;
	int k, r;

	ud_bound(&a, ud_home(), 0);
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		ud_plain(&p, ud_home(), 0);
		for (r = 0; r < 5; r++) {
			for (k = 0; k < v[i].n; k++) {
				fill(v[i].len, r + k);
				ud_send(&a, &p, buf, v[i].len);
			}
			for (k = 0; k < v[i].n; k++) {
				fill(v[i].len, r + k);
				ud_plain_get(&p, buf, v[i].len, &a);
			}
		}
		ud_close(&p);
	}
	ud_close(&a);
}

/* What comes from bad memory does not go, and is in no other's way. */
T_CASE(bad_memory_to_a_plain_socket)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[sizeof(struct sockaddr_in6)];
	} m = {{T_UNITDATA_REQ, 0, sizeof(m.r), 0, 0}, {0}};
	static const int len[] = {1, 64, 9000, 33000, 65000};
	struct ud a, p;
	int i;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	m.r.DEST_length = (t_scalar_t)p.len;
	memcpy(m.addr, &p.at, p.len);
	for (i = 0; i < 40; i++) {
		struct strbuf ctl = {0, (int)(sizeof(m.r) + p.len), (char *)&m};
		struct strbuf data = {0, len[i % 5], (char *)16};

		fill(64, i);
		ud_send(&a, &p, buf, 64);
		T_ERR(putmsg(a.fd, &ctl, &data, 0), EFAULT);
		fill(50, i);
		ud_send(&a, &p, buf, 50);
		fill(64, i);
		ud_plain_get(&p, buf, 64, &a);
		fill(50, i);
		ud_plain_get(&p, buf, 50, &a);
	}
	ud_quiet(&a);
	ud_close(&a);
	ud_close(&p);
}

/* The port's present owner gets it. */
T_CASE(a_port_goes_from_plain_sockets_to_endpoints_and_back)
{
	struct ud a, p, b;
	int i, k, at;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	at = in_port(&p.at);
	for (i = 0; i < 20; i++) {
		for (k = 0; k < 3; k++) {
			ud_send(&a, &p, &i, sizeof(i));
			ud_plain_get(&p, &i, sizeof(i), &a);
		}
		ud_close(&p);
		ud_bound(&b, ud_home(), at);
		for (k = 0; k < 3; k++) {
			ud_send(&a, &b, &k, sizeof(k));
			ud_get(&b, &k, sizeof(k), &a);
		}
		ud_close(&b);
		ud_plain(&p, ud_home(), at);
	}
	ud_close(&p);
	ud_close(&a);
}

T_CASE(one_sender_reaches_many_in_turn)
{
	enum { N = 20 };
	struct ud a, b[N], p;
	int i, k, v;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	for (i = 0; i < N; i++)
		ud_bound(&b[i], ud_home(), 0);
	for (k = 0; k < 5; k++) {
		for (i = 0; i < N; i++) {
			v = k * N + i;
			ud_send(&a, &b[i], &v, sizeof(v));
		}
		ud_send(&a, &p, &k, sizeof(k));
	}
	for (i = 0; i < N; i++)
		for (k = 0; k < 5; k++) {
			v = k * N + i;
			ud_get(&b[i], &v, sizeof(v), &a);
		}
	for (k = 0; k < 5; k++)
		ud_plain_get(&p, &k, sizeof(k), &a);
	for (i = 0; i < N; i++)
		ud_close(&b[i]);
	ud_close(&a);
	ud_close(&p);
}

T_CASE(from_oneself)
{
	struct ud a;

	ud_bound(&a, ud_home(), 0);
	ud_send(&a, &a, "me", 2);
	ud_get(&a, "me", 2, &a);
	ud_close(&a);
}

/* Who waits is woken by whatever comes, from wherever. */
T_CASE(who_waits_gets_it_from_near_and_far)
{
	struct ud a, b, p;
	int i, st;
	pid_t pid;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	pid = T_OK(fork());
	if (pid == 0) {
		for (i = 0; i < 60; i++) {
			in_want(b.fd, T_UNITDATA_IND);
			T_EQ(in.datalen, (int)sizeof(i));
			T_MEM(in.data, &i, sizeof(i));
			ud_send(&b, &a, &i, sizeof(i));
		}
		_exit(0);
	}
	for (i = 0; i < 60; i++) {
		/* runs of either, so that it may settle down to one */
		if (i / 10 % 2 == 0)
			ud_send(&a, &b, &i, sizeof(i));
		else
			ud_plain_send(&p, &b, &i, sizeof(i));
		ud_get(&a, &i, sizeof(i), &b);
		if (i % 10 == 9)
			t_pause();
	}
	T_EQ(T_OK(waitpid(pid, &st, 0)), pid);
	T_EQ(st, 0);
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
}

T_CASE(who_polls_is_told_from_near_and_far)
{
	struct ud a, b, p;
	int i;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	for (i = 0; i < 40; i++) {
		struct pollfd pfd[2] = {{b.fd, POLLIN, 0}, {a.fd, POLLIN, 0}};

		T_EQ(T_OK(poll(pfd, 2, 0)), 0);
		if (i / 10 % 2 == 0)
			ud_send(&a, &b, &i, sizeof(i));
		else
			ud_plain_send(&p, &b, &i, sizeof(i));
		T_EQ(T_OK(poll(pfd, 2, 5000)), 1);
		T_TRUE((pfd[0].revents & POLLIN) != 0);
		ud_get(&b, &i, sizeof(i), NULL);
	}
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
}

/* A descriptor that does not block finds what has come from far. */
T_CASE(who_does_not_wait_finds_it)
{
	struct strbuf c = {sizeof(in.ctl), 0, (char *)in.ctl};
	struct strbuf d = {sizeof(in.data), 0, (char *)in.data};
	struct ud a, b, p, after;
	int fl = 0, i;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	ud_plain(&after, ud_home(), 0);
	T_OK(fcntl(b.fd, F_SETFL, O_RDWR | O_NONBLOCK));
	for (i = 0; i < 50; i++) {
		ud_send(&a, &b, "near", 4);
		T_FALSE(in_quiet(b.fd, 5000));
		T_OK(getmsg(b.fd, &c, &d, &fl));
		T_ERR(getmsg(b.fd, &c, &d, &fl), EAGAIN);
	}
	ud_plain_send(&p, &b, "far", 3);
	/* on a busy machine the kernel delivers a little later */
	ud_plain_send(&p, &after, "after", 5);
	ud_plain_get(&after, "after", 5, &p);
	/* streamsd may have taken it from the socket, and be about to pass it up */
	T_SOON(getmsg(b.fd, &c, &d, &fl) == 0, 5000);
	T_EQ(d.len, 3);
	T_ERR(getmsg(b.fd, &c, &d, &fl), EAGAIN);
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
	ud_close(&after);
}

/* ---------------------------------------------------------- groups, options */

T_CASE(broadcasts_need_the_option)
{
	struct ud a, b, p, to;

	if (ud_six())
		T_SKIP("IPv6 has none");
	ud_bound(&a, ud_any(), 0);
	ud_shared(&b, ud_any(), 0);
	ud_addr(&p, ud_any(), in_port(&b.at));
	p.fd = in_sock(AF_INET, SOCK_DGRAM);
	T_OK(setsockopt(p.fd, SOL_SOCKET, SO_REUSEADDR, &(int){1},
		sizeof(int)));
	T_OK(bind(p.fd, (struct sockaddr *)&p.at, p.len));
	ud_addr(&to, "127.255.255.255", in_port(&b.at));
	ud_send(&a, &to, "x", 1);
	ud_error(&a, &to, EACCES);
	ud_set_int(a.fd, XTI_GENERIC, XTI_BROADCAST, T_YES);
	ud_send(&a, &to, "all", 3);
	ud_get(&b, "all", 3, NULL);
	ud_plain_get(&p, "all", 3, NULL);
	ud_close(&a);
	ud_close(&b);
	ud_close(&p);
}

T_CASE(groups_are_joined_and_left)
{
	struct ip_mreq mr;
	struct in_addr lo;
	struct ud a, b, to;

	if (ud_six())
		T_SKIP("of IPv4");
	lo.s_addr = htonl(INADDR_LOOPBACK);
	T_EQ(inet_pton(AF_INET, "239.77.1.2", &mr.imr_multiaddr), 1);
	mr.imr_interface = lo;
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_any(), 0);
	ud_addr(&to, "239.77.1.2", in_port(&b.at));
	T_EQ(ud_set(a.fd, T_INET_IP, T_IP_MULTICAST_IF, &lo, sizeof(lo)),
		T_SUCCESS);
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &mr, sizeof(mr)),
		T_SUCCESS);
	ud_send(&a, &to, "member", 6);
	ud_get(&b, "member", 6, &a);
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_DROP_MEMBERSHIP, &mr, sizeof(mr)),
		T_SUCCESS);
	ud_send(&a, &to, "none", 4);
	ud_quiet(&b);
	ud_close(&a);
	ud_close(&b);
}

/* Before there is an address, too; and each group by itself. */
T_CASE(groups_are_joined_before_a_bind_and_for_the_next_one)
{
	static const char *const name[] = {"239.77.1.3", "239.77.1.4",
		"239.77.1.5"};
	struct T_unbind_req ub = {T_UNBIND_REQ};
	struct ip_mreq mr[3];
	struct in_addr lo;
	struct ud a, b, to;
	int i, round;

	if (ud_six())
		T_SKIP("of IPv4");
	lo.s_addr = htonl(INADDR_LOOPBACK);
	ud_bound(&a, ud_home(), 0);
	T_EQ(ud_set(a.fd, T_INET_IP, T_IP_MULTICAST_IF, &lo, sizeof(lo)),
		T_SUCCESS);
	b.fd = in_open(ud_dev());
	for (i = 0; i < 3; i++) {
		T_EQ(inet_pton(AF_INET, name[i], &mr[i].imr_multiaddr), 1);
		mr[i].imr_interface = lo;
		T_EQ(ud_set(b.fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &mr[i],
			sizeof(mr[i])), T_SUCCESS);
	}
	/* left, joined again; and one that is left for good */
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_DROP_MEMBERSHIP, &mr[0],
		sizeof(mr[0])), T_SUCCESS);
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &mr[0],
		sizeof(mr[0])), T_SUCCESS);
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_DROP_MEMBERSHIP, &mr[2],
		sizeof(mr[2])), T_SUCCESS);
	/* one cannot leave what one is not in, or join no group */
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_DROP_MEMBERSHIP, &mr[2],
		sizeof(mr[2])), T_FAILURE);
	mr[2].imr_multiaddr = lo;
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &mr[2],
		sizeof(mr[2])), T_FAILURE);
	for (round = 0; round < 2; round++) {
		b.at = a.at;
		in_addr(&b.at, AF_INET, ud_any(), 0);
		b.len = a.len;
		ud_addr(&b, ud_any(), in_bind(b.fd, &b.at, b.len, 0));
		for (i = 0; i < 3; i++) {
			ud_addr(&to, name[i], in_port(&b.at));
			ud_send(&a, &to, name[i], 10);
			if (i < 2)
				ud_get(&b, name[i], 10, &a);
			else
				ud_quiet(&b);
		}
		in_put(b.fd, &ub, sizeof(ub), NULL, 0, 0);
		in_ok(b.fd, T_UNBIND_REQ);
	}
	ud_close(&a);
	ud_close(&b);
}

/* XNS: T_ALLOPT, all of them as they are by default */
T_CASE(all_options_go_back_to_their_defaults)
{
	struct ip_mreq mr = {.imr_interface.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned char ttl = 0;
	struct ud a, b, to;

	if (ud_six())
		T_SKIP("of IPv4");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_any(), 0);
	T_EQ(inet_pton(AF_INET, "239.77.1.6", &mr.imr_multiaddr), 1);
	T_EQ(ud_set(b.fd, T_INET_IP, T_IP_ADD_MEMBERSHIP, &mr, sizeof(mr)),
		T_SUCCESS);
	T_EQ(ud_set(a.fd, T_INET_IP, T_IP_MULTICAST_IF, &mr.imr_interface,
		sizeof(mr.imr_interface)), T_SUCCESS);
	ud_set_int(a.fd, T_INET_IP, T_IP_TTL, 9);
	ud_set_int(b.fd, T_INET_IP, T_IP_TTL, 9);
	T_EQ(ud_set(b.fd, T_INET_IP, T_ALLOPT, NULL, 0), T_SUCCESS);
	T_EQ(ud_get_opt(b.fd, T_INET_IP, T_IP_TTL, &ttl, 1), 1);
	T_EQ(ttl, 64);
	/* a membership is not a value: it stays */
	ud_addr(&to, "239.77.1.6", in_port(&b.at));
	ud_send(&a, &to, "member", 6);
	ud_get(&b, "member", 6, &a);
	ud_close(&a);
	ud_close(&b);
}

/* What a plain socket sees in the header. */
static int
seen(const struct ud *p, int level, int type)
{
	_Alignas(struct cmsghdr) char ctl[256];
	struct pollfd pfd = {p->fd, POLLIN, 0};
	struct iovec iov = {buf, sizeof(buf)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof(ctl)};
	struct cmsghdr *c;
	int v = 0;

	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_OK(recvmsg(p->fd, &m, 0));
	for (c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == level && c->cmsg_type == type) {
			memcpy(&v, CMSG_DATA(c),
				c->cmsg_len - CMSG_LEN(0) < sizeof(v) ? 1 :
				sizeof(v));
			return v;
		}
	T_FAIL("nothing is said of it");
}

/* Set for the endpoint, for one datagram, and back. */
static void
field(int name, int level, int ask, int type, int dflt)
{
	struct {
		struct T_unitdata_req r;
		struct sockaddr_in6 addr;
		struct t_opthdr h;
		t_uscalar_t v;
	} m;
	unsigned char v = 0;
	struct ud a, p;

	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	T_OK(setsockopt(p.fd, level, ask, &(int){1}, sizeof(int)));
	ud_send(&a, &p, "x", 1);
	T_EQ(seen(&p, level, type), dflt);
	ud_set_int(a.fd, T_INET_IP, name, 0x28);
	T_EQ(ud_get_opt(a.fd, T_INET_IP, name, &v, 1), 1);
	T_EQ(v, 0x28);
	ud_send(&a, &p, "x", 1);
	T_EQ(seen(&p, level, type), 0x28);
	memset(&m, 0, sizeof(m));
	m.r.PRIM_type = T_UNITDATA_REQ;
	m.r.DEST_length = (t_scalar_t)p.len;
	m.r.DEST_offset = (t_scalar_t)((char *)&m.addr - (char *)&m);
	m.r.OPT_length = sizeof(m.h) + 4;
	m.r.OPT_offset = (t_scalar_t)((char *)&m.h - (char *)&m);
	memcpy(&m.addr, &p.at, p.len);
	m.h.len = sizeof(m.h) + 1;
	m.h.level = T_INET_IP;
	m.h.name = (t_uscalar_t)name;
	memcpy(&m.v, &(unsigned char){0x10}, 1);
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	T_EQ(seen(&p, level, type), 0x10);
	/* a whole number is a value, too; what is left to us is the default */
	m.h.len = sizeof(m.h) + 4;
	m.v = 0x11;
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	T_EQ(seen(&p, level, type), 0x11);
	m.v = (t_uscalar_t)T_UNSPEC;
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	T_EQ(seen(&p, level, type), 0x28);
	/* what cannot be is an error of the datagram */
	m.v = 0x100 + 0x12;
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	T_EQ(in_get(a.fd), T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EINVAL);
	m.h.len = sizeof(m.h) + 3;
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	T_EQ(in_get(a.fd), T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, EINVAL);
	ud_send(&a, &p, "x", 1);
	T_EQ(seen(&p, level, type), 0x28);
	ud_close(&a);
	ud_close(&p);
}

/* The options in the header of what @p receives; how many bytes. */
static int
header_options(const struct ud *p, unsigned char *to, size_t room)
{
	_Alignas(struct cmsghdr) char ctl[256];
	struct pollfd pfd = {p->fd, POLLIN, 0};
	struct iovec iov = {buf, sizeof(buf)};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = ctl, .msg_controllen = sizeof(ctl)};
	struct cmsghdr *c;

	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_OK(recvmsg(p->fd, &m, 0));
	for (c = CMSG_FIRSTHDR(&m); c != NULL; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == IPPROTO_IP &&
			c->cmsg_type == IP_RECVOPTS) {
			T_LE(c->cmsg_len - CMSG_LEN(0), room);
			memcpy(to, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
			return (int)(c->cmsg_len - CMSG_LEN(0));
		}
	return 0;
}

T_CASE(a_datagram_can_have_options_in_its_header)
{
	static const unsigned char some[4] = {1, 1, 1, 0};
	struct {
		struct T_unitdata_req r;
		struct sockaddr_in addr;
		struct t_opthdr h;
		unsigned char v[44];
	} m;
	unsigned char got[40];
	struct ud a, p;

	if (ud_six())
		T_SKIP("of IPv4");
	ud_bound(&a, ud_home(), 0);
	ud_plain(&p, ud_home(), 0);
	T_OK(setsockopt(p.fd, IPPROTO_IP, IP_RECVOPTS, &(int){1},
		sizeof(int)));
	memset(&m, 0, sizeof(m));
	m.r.PRIM_type = T_UNITDATA_REQ;
	m.r.DEST_length = (t_scalar_t)p.len;
	m.r.DEST_offset = (t_scalar_t)((char *)&m.addr - (char *)&m);
	m.r.OPT_length = sizeof(m.h) + sizeof(some);
	m.r.OPT_offset = (t_scalar_t)((char *)&m.h - (char *)&m);
	memcpy(&m.addr, &p.at, p.len);
	m.h.len = sizeof(m.h) + sizeof(some);
	m.h.level = T_INET_IP;
	m.h.name = T_IP_OPTIONS;
	memcpy(m.v, some, sizeof(some));
	in_put(a.fd, &m, sizeof(m), "with", 4, 0);
	T_EQ(header_options(&p, got, sizeof(got)), 4);
	T_MEM(got, some, sizeof(some));
	/* of that datagram alone */
	ud_send(&a, &p, "without", 7);
	T_EQ(header_options(&p, got, sizeof(got)), 0);
	/* no header has so many */
	m.h.len = sizeof(m.h) + sizeof(m.v);
	m.r.OPT_length = (t_scalar_t)m.h.len;
	in_put(a.fd, &m, sizeof(m), "x", 1, 0);
	ud_error(&a, &p, EINVAL);
	ud_close(&a);
	ud_close(&p);
}

T_CASE(the_type_of_service_can_be_chosen)
{
	if (ud_six())
		field(T_IP_TOS, IPPROTO_IPV6, IPV6_RECVTCLASS, IPV6_TCLASS, 0);
	else
		field(T_IP_TOS, IPPROTO_IP, IP_RECVTOS, IP_TOS, 0);
}

T_CASE(the_time_to_live_can_be_chosen)
{
	if (ud_six())
		field(T_IP_TTL, IPPROTO_IPV6, IPV6_RECVHOPLIMIT,
			IPV6_HOPLIMIT, 64);
	else
		field(T_IP_TTL, IPPROTO_IP, IP_RECVTTL, IP_TTL, 64);
}

T_CASE(with_options_it_goes_to_endpoints_as_well)
{
	struct ud a, b;
	int i;

	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_set_int(a.fd, T_INET_IP, T_IP_TOS, 0x20);
	ud_set_int(a.fd, T_INET_IP, T_IP_TTL, 3);
	ud_set_int(a.fd, T_INET_UDP, T_UDP_CHECKSUM, T_NO);
	for (i = 0; i < 3; i++) {
		ud_send(&a, &b, "x", 1);
		ud_get(&b, "x", 1, &a);
	}
	ud_close(&a);
	ud_close(&b);
}

T_CASE(checksums_can_be_made_and_looked_at_in_memory_too)
{
	struct ud a, b;
	unsigned i;

	if (!ud_native())
		T_SKIP("the kernel's lo has no such thing");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	ud_set_int(a.fd, T_INET_UDP, T_UDP_LOCHECK, T_YES);
	for (i = 0; i < NSIZES; i++) {
		fill(sizes[i], (int)i);
		ud_send(&a, &b, buf, sizes[i]);
		ud_get(&b, buf, sizes[i], &a);
	}
	T_EQ(ud_set(a.fd, T_INET_UDP, T_UDP_CHECKSUM, &(int){T_NO},
		sizeof(int)), T_SUCCESS);
	ud_send(&a, &b, "no sum", 6);
	ud_get(&b, "no sum", 6, &a);
	ud_close(&a);
	ud_close(&b);
}

/* What lo has carried: packets out and in, bytes out and in. */
static void
carried(unsigned long long n[4])
{
	struct ipw_info info = {.index = 0};
	struct strioctl si = {.ic_cmd = IPW_INFO, .ic_len = sizeof(info),
		.ic_dp = (char *)&info};
	int fd = T_OK(open("/dev/streams/clone/ip", O_RDWR));

	T_OK(ioctl(fd, I_STR, &si));
	T_EQ(strcmp(info.conf.name, "lo"), 0);
	n[0] = info.count[1];
	n[1] = info.count[0];
	n[2] = info.count[3];
	n[3] = info.count[2];
	T_OK(close(fd));
}

T_CASE(lo_shows_a_packet_once_checked_or_not)
{
	struct ipw_tap want = {"lo", 0, 0};
	struct strioctl si = {.ic_cmd = IPW_TAP, .ic_len = sizeof(want),
		.ic_dp = (char *)&want};
	unsigned char pkt[512];
	struct strbuf d = {sizeof(pkt), 0, (char *)pkt};
	int on, tap, hdr = ud_six() ? 48 : 28, flags = 0;
	struct ud a, b;

	if (!ud_native())
		T_SKIP("udp2's");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	tap = T_OK(open("/dev/ip", O_RDWR | O_NONBLOCK));
	T_OK(ioctl(tap, I_STR, &si));
	for (on = 0; on < 2; on++) {
		ud_set_int(a.fd, T_INET_UDP, T_UDP_LOCHECK, on ? T_YES : T_NO);
		ud_send(&a, &b, "look", 4);
		ud_get(&b, "look", 4, &a);
		T_OK(getmsg(tap, NULL, &d, &flags));
		T_EQ(d.len, (int)sizeof(struct ipw_pkt) + hdr + 4);
		T_EQ(getmsg(tap, NULL, &d, &flags), -1);
		T_EQ(errno, EAGAIN);
	}
	T_OK(close(tap));
	ud_close(&a);
	ud_close(&b);
}

T_CASE(lo_counts_what_it_carries_checked_or_not)
{
	unsigned long long was[4], now[4];
	int on, i, hdr = ud_six() ? 48 : 28;
	struct strioctl si = {.ic_cmd = UDP2_LOCHECK, .ic_len = sizeof(on),
		.ic_dp = (char *)&on};
	struct ud a, b;

	if (!ud_native())
		T_SKIP("udp2's");
	ud_bound(&a, ud_home(), 0);
	ud_bound(&b, ud_home(), 0);
	for (on = 0; on < 2; on++) {
		si.ic_len = sizeof(on);
		T_OK(ioctl(b.fd, I_STR, &si));
		carried(was);
		for (i = 0; i < 10; i++) {
			ud_send(&a, &b, "0123456789", 10);
			ud_get(&b, "0123456789", 10, &a);
		}
		ud_send(&a, &b, "", 0);
		ud_get(&b, "", 0, &a);
		carried(now);
		T_EQ(now[0] - was[0], 11u);
		T_EQ(now[1] - was[1], 11u);
		T_EQ(now[2] - was[2], (unsigned long long)(11 * hdr + 100));
		T_EQ(now[3] - was[3], (unsigned long long)(11 * hdr + 100));
	}
	/* what an endpoint that is no more has sent counts as well */
	ud_close(&a);
	carried(was);
	T_EQ(was[0], now[0]);
	T_EQ(was[3], now[3]);
	ud_close(&b);
}

T_CASE(the_receive_buffer_has_the_size_that_was_asked_for)
{
	struct ud a;
	int v = 0;

	ud_bound(&a, ud_home(), 0);
	ud_set_int(a.fd, XTI_GENERIC, XTI_RCVBUF, 16384);
	T_EQ(ud_get_opt(a.fd, XTI_GENERIC, XTI_RCVBUF, &v, sizeof(v)),
		(int)sizeof(v));
	T_EQ(v, 16384);
	ud_close(&a);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What the tests of UDP have in common. */
#include "ud.h"

T_TARGETS("inet-4", "inet-6", "udp2-4", "udp2-6")

int
ud_native(void)
{
	return strncmp(t_target(), "udp2", 4) == 0;
}

int
ud_six(void)
{
	return t_target()[strlen(t_target()) - 1] == '6';
}

int
ud_family(void)
{
	return ud_six() ? AF_INET6 : AF_INET;
}

const char *
ud_dev(void)
{
	if (ud_native())
		return ud_six() ? "/dev/udp2_6" : "/dev/udp2";
	return ud_six() ? "/dev/udp6" : "/dev/udp";
}

const char *
ud_home(void)
{
	return ud_six() ? "::1" : "127.0.0.1";
}

const char *
ud_any(void)
{
	return ud_six() ? "::" : "0.0.0.0";
}

void
ud_addr(struct ud *u, const char *text, int port)
{
	u->len = in_addr(&u->at, ud_family(), text, port);
}

static void
set_port(struct ud *u, int port)
{
	((struct sockaddr_in *)&u->at)->sin_port = htons((uint16_t)port);
}

/* Bind an open endpoint at @text; port 0: one that no other gets. */
static void
bind_at(struct ud *u, const char *text, int port)
{
	int prim;

	do {
		ud_addr(u, text, port == UD_ANY ? 0 : port != 0 ? port :
			t_port(ud_family(), SOCK_DGRAM));
		in_bind_req(u->fd, T_BIND_REQ, &u->at, (int)u->len, 0);
		prim = in_get(u->fd);
	} while (prim == T_ERROR_ACK && port == 0 &&
		in.p.error_ack.TLI_error == TADDRBUSY); /* another was faster */
	T_EQ(prim, T_BIND_ACK);
	set_port(u, in_port(in.ctl + in.p.bind_ack.ADDR_offset));
}

void
ud_bound(struct ud *u, const char *text, int port)
{
	u->fd = in_open(ud_dev());
	bind_at(u, text, port);
}

void
ud_shared(struct ud *u, const char *text, int port)
{
	u->fd = in_open(ud_dev());
	ud_set_int(u->fd, XTI_GENERIC, XTI_REUSEADDR, T_YES);
	bind_at(u, text, port);
}

void
ud_plain(struct ud *u, const char *text, int port)
{
	int r;

	u->fd = in_sock(ud_family(), SOCK_DGRAM);
	do {
		ud_addr(u, text, port != 0 ? port :
			t_port(ud_family(), SOCK_DGRAM));
		r = bind(u->fd, (struct sockaddr *)&u->at, u->len);
	} while (r < 0 && port == 0 && errno == EADDRINUSE);
	T_OK(r);
	T_OK(getsockname(u->fd, (struct sockaddr *)&u->at, &u->len));
}

void
ud_close(struct ud *u)
{
	T_OK(close(u->fd));
}

void
ud_send(const struct ud *from, const struct ud *to, const void *p, int n)
{
	in_unitdata(from->fd, &to->at, (int)to->len, p, n);
}

/* The same port, and, if @at says one, the same address. */
static void
same(const void *got, socklen_t len, const struct ud *at)
{
	struct sockaddr_in6 s6;
	struct sockaddr_in s4;

	T_EQ(len, at->len);
	T_EQ(in_port(got), in_port(&at->at));
	if (len == sizeof(s4)) {
		memcpy(&s4, got, sizeof(s4));
		T_EQ(s4.sin_family, AF_INET);
		T_MEM(&s4.sin_addr,
			&((const struct sockaddr_in *)&at->at)->sin_addr, 4);
	} else {
		memcpy(&s6, got, sizeof(s6));
		T_EQ(s6.sin6_family, AF_INET6);
		T_MEM(&s6.sin6_addr,
			&((const struct sockaddr_in6 *)&at->at)->sin6_addr,
			16);
	}
}

void
ud_get(const struct ud *to, const void *p, int n, const struct ud *from)
{
	T_FALSE(in_quiet(to->fd, 5000));
	in_want(to->fd, T_UNITDATA_IND);
	T_EQ(in.datalen < 0 ? 0 : in.datalen, n);
	T_MEM(in.data, p, (size_t)n);
	T_EQ(in.p.unitdata_ind.OPT_length, 0);
	if (from != NULL)
		same(in.ctl + in.p.unitdata_ind.SRC_offset,
			(socklen_t)in.p.unitdata_ind.SRC_length, from);
}

void
ud_plain_send(const struct ud *from, const struct ud *to, const void *p, int n)
{
	T_EQ(T_OK(sendto(from->fd, p, (size_t)n, 0,
		(const struct sockaddr *)&to->at, to->len)), n);
}

void
ud_plain_get(const struct ud *to, const void *p, int n, const struct ud *from)
{
	static unsigned char buf[70000];
	struct pollfd pfd = {to->fd, POLLIN, 0};
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	T_EQ(T_OK(poll(&pfd, 1, 5000)), 1);
	T_EQ(T_OK(recvfrom(to->fd, buf, sizeof(buf), 0,
		(struct sockaddr *)&ss, &len)), n);
	T_MEM(buf, p, (size_t)n);
	if (from != NULL)
		same(&ss, len, from);
}

void
ud_quiet(const struct ud *u)
{
	T_TRUE(in_quiet(u->fd, 20));
}

void
ud_error(const struct ud *u, const struct ud *to, int error)
{
	T_FALSE(in_quiet(u->fd, 5000));
	in_want(u->fd, T_UDERROR_IND);
	T_EQ(in.p.uderror_ind.ERROR_type, error);
	same(in.ctl + in.p.uderror_ind.DEST_offset,
		(socklen_t)in.p.uderror_ind.DEST_length, to);
	T_EQ(in_state(u->fd), TS_IDLE);
}

struct optmgmt {
	struct T_optmgmt_req r;
	struct t_opthdr h;
	unsigned char val[64];
};

static void
manage(int fd, int level, int name, int what, const void *val, unsigned len)
{
	struct optmgmt m;

	memset(&m, 0, sizeof(m));
	m.r.PRIM_type = T_OPTMGMT_REQ;
	m.r.OPT_length = (t_scalar_t)(sizeof(m.h) + len);
	m.r.OPT_offset = sizeof(m.r);
	m.r.MGMT_flags = what;
	m.h.len = (t_uscalar_t)(sizeof(m.h) + len);
	m.h.level = (t_uscalar_t)level;
	m.h.name = (t_uscalar_t)name;
	if (len != 0)
		memcpy(m.val, val, len);
	in_put(fd, &m, (int)(sizeof(m.r) + ((m.h.len + 3) & ~3u)), NULL, 0, 0);
	in_want(fd, T_OPTMGMT_ACK);
}

int
ud_set(int fd, int level, int name, const void *val, unsigned len)
{
	manage(fd, level, name, T_NEGOTIATE, val, len);
	return (int)in.p.optmgmt_ack.MGMT_flags;
}

void
ud_set_int(int fd, int level, int name, int val)
{
	T_EQ(ud_set(fd, level, name, &val, sizeof(val)), T_SUCCESS);
}

int
ud_get_opt(int fd, int level, int name, void *val, unsigned room)
{
	struct t_opthdr h;

	manage(fd, level, name, T_CURRENT, NULL, 0);
	memcpy(&h, in.ctl + in.p.optmgmt_ack.OPT_offset, sizeof(h));
	T_LE(h.len - sizeof(h), room);
	memcpy(val, in.ctl + in.p.optmgmt_ack.OPT_offset + sizeof(h),
		h.len - sizeof(h));
	return (int)(h.len - sizeof(h));
}

unsigned
ud_drops(int fd)
{
	unsigned n = 0;
	struct strioctl si = {.ic_cmd = TI_GETDROPS, .ic_dp = (char *)&n};

	T_OK(ioctl(fd, I_STR, &si));
	return n;
}

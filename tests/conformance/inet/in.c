/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/* What the tests of inet have in common. */
#include <stdio.h>

#include "in.h"

struct in_msg in;

int
in_open(const char *dev)
{
	return T_OK(open(dev, O_RDWR));
}

void
in_put(int fd, const void *ctl, int ctllen, const void *data, int datalen,
	int hipri)
{
	struct strbuf c = {0, ctllen, (char *)(uintptr_t)ctl};
	struct strbuf d = {0, datalen, (char *)(uintptr_t)data};

	T_OK(putmsg(fd, ctl != NULL ? &c : NULL, data != NULL ? &d : NULL,
		hipri ? RS_HIPRI : 0));
}

int
in_get(int fd)
{
	struct strbuf c = {sizeof(in.ctl), 0, (char *)in.ctl};
	struct strbuf d = {sizeof(in.data), 0, (char *)in.data};

	in.flags = 0;
	in.more = T_OK(getmsg(fd, &c, &d, &in.flags));
	in.ctllen = c.len;
	in.datalen = d.len;
	in.prim = c.len >= (int)sizeof(t_scalar_t) ? in.p.type : -1;
	return in.prim;
}

void
in_want(int fd, int prim)
{
	T_EQ(in_get(fd), prim);
}

int
in_quiet(int fd, int ms)
{
	struct pollfd p = {fd, POLLIN | POLLPRI | POLLRDBAND, 0};

	return T_OK(poll(&p, 1, ms)) == 0;
}

void
in_ok(int fd, int prim)
{
	in_want(fd, T_OK_ACK);
	T_EQ(in.p.ok_ack.CORRECT_prim, prim);
}

void
in_error(int fd, int prim, int tli, int err)
{
	in_want(fd, T_ERROR_ACK);
	T_EQ(in.p.error_ack.ERROR_prim, prim);
	T_EQ(in.p.error_ack.TLI_error, tli);
	T_EQ(in.p.error_ack.UNIX_error, err);
}

socklen_t
in_addr(struct sockaddr_storage *ss, int family, const char *text, int port)
{
	struct sockaddr_in6 *s6 = (void *)ss;
	struct sockaddr_in *s4 = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)family;
	s4->sin_port = htons((uint16_t)port);
	if (family == AF_INET) {
		T_EQ(inet_pton(family, text, &s4->sin_addr), 1);
		return sizeof(*s4);
	}
	T_EQ(inet_pton(family, text, &s6->sin6_addr), 1);
	return sizeof(*s6);
}

int
in_port(const void *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

void
in_bind_req(int fd, int prim, const void *addr, int len, unsigned qlen)
{
	struct {
		struct T_bind_req r;
		unsigned char addr[128];
	} m = {{prim, len, len != 0 ? sizeof(m.r) : 0, qlen}, {0}};

	if (len != 0)
		memcpy(m.addr, addr, (size_t)len);
	in_put(fd, &m, (int)sizeof(m.r) + len, NULL, 0, 0);
}

/* The port that it is bound to; qlen is in in.p.bind_ack. */
int
in_bind(int fd, const struct sockaddr_storage *ss, socklen_t len,
	unsigned qlen)
{
	in_bind_req(fd, T_BIND_REQ, ss, (int)len, qlen);
	in_want(fd, T_BIND_ACK);
	T_GE(in.p.bind_ack.ADDR_length, (int)sizeof(struct sockaddr_in));
	return in_port(in.ctl + in.p.bind_ack.ADDR_offset);
}

void
in_conn_req(int fd, const void *addr, int len)
{
	struct {
		struct T_conn_req r;
		unsigned char addr[128];
	} m = {{T_CONN_REQ, len, sizeof(m.r), 0, 0}, {0}};

	memcpy(m.addr, addr, (size_t)len);
	in_put(fd, &m, (int)sizeof(m.r) + len, NULL, 0, 0);
}

void
in_accept(int fd, int seq, int to)
{
	struct T_conn_res r = {T_CONN_RES, (t_uscalar_t)in_id(to), 0, 0, seq};

	in_put(fd, &r, sizeof(r), NULL, 0, 0);
	in_ok(fd, T_CONN_RES);
}

void
in_discon(int fd, int seq)
{
	struct T_discon_req r = {T_DISCON_REQ, seq};

	in_put(fd, &r, sizeof(r), NULL, 0, 0);
}

void
in_prim(int fd, int prim)
{
	t_scalar_t p = prim;

	in_put(fd, &p, sizeof(p), NULL, 0, 0);
}

int
in_id(int fd)
{
	struct T_capability_req r = {T_CAPABILITY_REQ, TC1_ACCEPTOR_ID};

	in_put(fd, &r, sizeof(r), NULL, 0, 1);
	in_want(fd, T_CAPABILITY_ACK);
	return (int)in.p.capability_ack.ACCEPTOR_id;
}

int
in_state(int fd)
{
	struct T_info_req r = {T_INFO_REQ};

	in_put(fd, &r, sizeof(r), NULL, 0, 1);
	in_want(fd, T_INFO_ACK);
	return in.p.info_ack.CURRENT_state;
}

void
in_unitdata(int fd, const void *addr, int alen, const void *data, int len)
{
	struct {
		struct T_unitdata_req r;
		unsigned char addr[128];
	} m = {{T_UNITDATA_REQ, alen, sizeof(m.r), 0, 0}, {0}};

	memcpy(m.addr, addr, (size_t)alen);
	in_put(fd, &m, (int)sizeof(m.r) + alen, data, len, 0);
}

int
in_sock(int family, int type)
{
	return T_OK(socket(family, type | SOCK_CLOEXEC, 0));
}

int
in_here(int family, int type, struct sockaddr_storage *ss, socklen_t *len)
{
	int s = in_sock(family, type), r;

	do {
		*len = in_addr(ss, family,
			family == AF_INET ? "127.0.0.1" : "::1",
			t_port(family, type));
		r = bind(s, (struct sockaddr *)ss, *len);
	} while (r < 0 && errno == EADDRINUSE); /* another was faster */
	T_OK(r);
	return s;
}

int
in_listener(int family, struct sockaddr_storage *ss, socklen_t *len)
{
	int s = in_here(family, SOCK_STREAM, ss, len);

	T_OK(listen(s, 128));
	return s;
}

int
in_pair(const char *dev, int family, int *ret)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int l = in_listener(family, &ss, &len), fd = in_open(dev);

	in_bind(fd, NULL, 0, 0);
	in_conn_req(fd, &ss, (int)len);
	in_ok(fd, T_CONN_REQ);
	in_want(fd, T_CONN_CON);
	*ret = T_OK(accept(l, NULL, NULL));
	T_OK(close(l));
	return fd;
}

void
in_readn(int s, void *buf, size_t n)
{
	size_t have = 0;
	ssize_t r;

	while (have < n) {
		r = T_OK(read(s, (char *)buf + have, n - have));
		T_GT(r, 0);
		have += (size_t)r;
	}
}

int
in_asleep(pid_t pid, pid_t tid)
{
	char name[64], line[512], *p;
	FILE *f;
	int i;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/stat", (int)pid,
		(int)tid);
	for (i = 0; i < 10; i++) {
		f = fopen(name, "re");
		if (f == NULL)
			return 0;
		p = fgets(line, sizeof(line), f) != NULL ?
			strrchr(line, ')') : NULL;
		T_EQ(fclose(f), 0);
		if (p == NULL || p[2] != 'S')
			return 0;
		t_pause();
	}
	return 1;
}

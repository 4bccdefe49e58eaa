/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The Fast-STREAMS authors */

/*
 * Names to addresses: netdir_getbyname() and its relatives.
 *
 * Two translations are built in, by family.  Loopback: an address is the
 * service's name, byte for byte, on this host only.  inet: the C library's
 * hosts and services, struct sockaddr_in; universal addresses are RFC 1833's,
 * "a.b.c.d.p1.p2".  The libraries that netconfig(5) names are not loaded.
 */
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <netdir.h>
#include <xti.h>

#include "xti_impl.h"

static __thread int nd_error;

STR_EXPORT int *
_nd_errno(void)
{
	return &nd_error;
}

static int
fail(int err)
{
	nd_error = err;
	return err;
}

STR_EXPORT char *
netdir_sperror(void)
{
	static const char *const text[] = {
		"bad argument", "out of memory", "no error", "no such host",
		"no such service", "no such symbol", "cannot open",
		"access denied", "unknown error", "no such option",
		"option failed", "system error",
	};
	static __thread char buf[32];

	if (nd_error >= ND_BADARG && nd_error <= ND_SYSTEM)
		return (char *)(uintptr_t)text[nd_error - ND_BADARG];
	snprintf(buf, sizeof(buf), "error %d", nd_error);
	return buf;
}

STR_EXPORT void
netdir_perror(const char *msg)
{
	fprintf(stderr, "%s: %s\n", msg != NULL ? msg : "", netdir_sperror());
}

static int
is_inet(const struct netconfig *nc)
{
	return nc != NULL && strcmp(nc->nc_protofmly, NC_INET) == 0;
}

static int
is_loopback(const struct netconfig *nc)
{
	return nc != NULL && strcmp(nc->nc_protofmly, NC_LOOPBACK) == 0;
}

/* -------------------------------------------------------------------- freeing */

static void
free_netbuf(struct netbuf *nb)
{
	if (nb != NULL)
		free(nb->buf);
	free(nb);
}

STR_EXPORT void
netdir_free(void *ptr, int struct_type)
{
	struct nd_hostservlist *hl;
	struct nd_addrlist *al;
	struct nd_hostserv *hs;

	if (ptr == NULL)
		return;
	switch (struct_type) {
	case ND_HOSTSERV:
		hs = ptr;
		free(hs->h_host);
		free(hs->h_serv);
		free(hs);
		break;
	case ND_HOSTSERVLIST:
		hl = ptr;
		for (int i = 0; i < hl->h_cnt; i++) {
			free(hl->h_hostservs[i].h_host);
			free(hl->h_hostservs[i].h_serv);
		}
		free(hl->h_hostservs);
		free(hl);
		break;
	case ND_ADDR:
		free_netbuf(ptr);
		break;
	case ND_ADDRLIST:
		al = ptr;
		for (int i = 0; i < al->n_cnt; i++)
			free(al->n_addrs[i].buf);
		free(al->n_addrs);
		free(al);
		break;
	default:
		break;
	}
}

/* A list of @n addresses of nothing. */
static struct nd_addrlist *
addr_list(int n)
{
	struct nd_addrlist *al = calloc(1, sizeof(*al));

	if (al == NULL)
		return NULL;
	al->n_addrs = calloc((size_t)n, sizeof(*al->n_addrs));
	if (al->n_addrs == NULL) {
		free(al);
		return NULL;
	}
	return al;
}

static int
add_addr(struct nd_addrlist *al, const void *p, size_t len)
{
	struct netbuf *nb = &al->n_addrs[al->n_cnt];

	nb->buf = malloc(len);
	if (nb->buf == NULL)
		return -1;
	memcpy(nb->buf, p, len);
	nb->len = nb->maxlen = (unsigned)len;
	al->n_cnt++;
	return 0;
}

/* ------------------------------------------------------------- names, forwards */

static int
loop_byname(const struct nd_hostserv *hs, struct nd_addrlist **ret)
{
	struct nd_addrlist *al;
	char self[256] = "";

	(void)gethostname(self, sizeof(self) - 1);
	if (hs->h_host != NULL && strcmp(hs->h_host, HOST_SELF) != 0 &&
	    strcmp(hs->h_host, HOST_ANY) != 0 &&
	    strcmp(hs->h_host, "localhost") != 0 &&
	    strcmp(hs->h_host, self) != 0)
		return fail(ND_NOHOST);
	if (hs->h_serv == NULL || *hs->h_serv == '\0')
		return fail(ND_NOSERV);
	al = addr_list(1);
	if (al == NULL || add_addr(al, hs->h_serv, strlen(hs->h_serv)) < 0) {
		netdir_free(al, ND_ADDRLIST);
		return fail(ND_NOMEM);
	}
	*ret = al;
	return ND_OK;
}

/* The hosts with a meaning, as getaddrinfo() knows them. */
static const char *
inet_host(const char *host, int *ai_flags)
{
	if (host == NULL || strcmp(host, HOST_ANY) == 0) {
		*ai_flags |= AI_PASSIVE;
		return NULL;
	}
	if (strcmp(host, HOST_SELF) == 0)
		return "127.0.0.1";
	if (strcmp(host, HOST_BROADCAST) == 0)
		return "255.255.255.255";
	return host;
}

static int
inet_byname(const struct netconfig *nc, const struct nd_hostserv *hs,
	struct nd_addrlist **ret)
{
	struct addrinfo hint = {.ai_family = AF_INET}, *list, *ai;
	const char *serv = hs->h_serv;
	struct nd_addrlist *al;
	const char *host;
	int n = 0, err;

	hint.ai_socktype = strcmp(nc->nc_proto, NC_TCP) == 0 ? SOCK_STREAM :
							       SOCK_DGRAM;
	host = inet_host(hs->h_host, &hint.ai_flags);
	if (serv == NULL || strcmp(serv, "rpcbind") == 0)
		serv = serv == NULL ? "0" : "111";
	err = getaddrinfo(host, serv, &hint, &list);
	if (err != 0)
		return fail(err == EAI_SERVICE ? ND_NOSERV :
			err == EAI_MEMORY ? ND_NOMEM :
			err == EAI_SYSTEM ? ND_SYSTEM : ND_NOHOST);
	for (ai = list; ai != NULL; ai = ai->ai_next)
		n++;
	al = addr_list(n);
	for (ai = list; al != NULL && ai != NULL; ai = ai->ai_next)
		if (add_addr(al, ai->ai_addr, ai->ai_addrlen) < 0) {
			netdir_free(al, ND_ADDRLIST);
			al = NULL;
			break;
		}
	freeaddrinfo(list);
	if (al == NULL)
		return fail(ND_NOMEM);
	*ret = al;
	return ND_OK;
}

STR_EXPORT int
netdir_getbyname(struct netconfig *config, struct nd_hostserv *service,
	struct nd_addrlist **addrs)
{
	if (config == NULL || service == NULL || addrs == NULL)
		return fail(ND_BADARG);
	*addrs = NULL;
	nd_error = ND_OK;
	if (is_loopback(config))
		return loop_byname(service, addrs);
	if (is_inet(config))
		return inet_byname(config, service, addrs);
	return fail(ND_NOSYM);
}

/* ------------------------------------------------------------ names, backwards */

static int
inet_byaddr(const struct netconfig *nc, const struct netbuf *nb, char *host,
	size_t hostlen, char *serv, size_t servlen)
{
	int flags = strcmp(nc->nc_proto, NC_TCP) == 0 ? 0 : NI_DGRAM;

	if (nb->len < sizeof(struct sockaddr_in) || nb->buf == NULL)
		return fail(ND_BADARG);
	if (getnameinfo(nb->buf, nb->len, host, (socklen_t)hostlen, serv,
		    (socklen_t)servlen, flags) != 0)
		return fail(ND_NOHOST);
	return ND_OK;
}

STR_EXPORT int
netdir_getbyaddr(struct netconfig *config, struct nd_hostservlist **service,
	struct netbuf *netaddr)
{
	char host[1025] = "", serv[256] = "";
	struct nd_hostservlist *hl;

	if (config == NULL || service == NULL || netaddr == NULL)
		return fail(ND_BADARG);
	*service = NULL;
	nd_error = ND_OK;
	if (is_inet(config)) {
		if (inet_byaddr(config, netaddr, host, sizeof(host), serv,
			    sizeof(serv)) != ND_OK)
			return nd_error;
	} else if (is_loopback(config)) {
		if (netaddr->buf == NULL || netaddr->len == 0 ||
		    netaddr->len >= sizeof(serv))
			return fail(ND_BADARG);
		(void)gethostname(host, sizeof(host) - 1);
		memcpy(serv, netaddr->buf, netaddr->len);
	} else {
		return fail(ND_NOSYM);
	}
	hl = calloc(1, sizeof(*hl));
	if (hl != NULL)
		hl->h_hostservs = calloc(1, sizeof(*hl->h_hostservs));
	if (hl == NULL || hl->h_hostservs == NULL) {
		free(hl);
		return fail(ND_NOMEM);
	}
	hl->h_cnt = 1;
	hl->h_hostservs[0].h_host = strdup(host);
	hl->h_hostservs[0].h_serv = strdup(serv);
	if (hl->h_hostservs[0].h_host == NULL ||
	    hl->h_hostservs[0].h_serv == NULL) {
		netdir_free(hl, ND_HOSTSERVLIST);
		return fail(ND_NOMEM);
	}
	*service = hl;
	return ND_OK;
}

/* --------------------------------------------------------- universal addresses */

/* Bytes that cannot be printed, and backslashes, in octal. */
static char *
loop_uaddr(const struct netbuf *nb)
{
	char *s = malloc(4 * (size_t)nb->len + 1), *p = s;
	const unsigned char *b = nb->buf;

	if (s == NULL)
		return NULL;
	for (unsigned i = 0; i < nb->len; i++)
		if (isascii(b[i]) && isprint(b[i]) && b[i] != '\\')
			*p++ = (char)b[i];
		else
			p += sprintf(p, "\\%03o", b[i]);
	*p = '\0';
	return s;
}

STR_EXPORT char *
taddr2uaddr(struct netconfig *config, struct netbuf *addr)
{
	char ip[INET_ADDRSTRLEN], *s = NULL;
	struct sockaddr_in sin;
	unsigned port;

	nd_error = ND_BADARG;
	if (config == NULL || addr == NULL || addr->buf == NULL)
		return NULL;
	nd_error = ND_NOMEM;
	if (is_loopback(config)) {
		s = loop_uaddr(addr);
	} else if (is_inet(config) && addr->len >= sizeof(sin)) {
		memcpy(&sin, addr->buf, sizeof(sin));
		port = ntohs(sin.sin_port);
		(void)inet_ntop(AF_INET, &sin.sin_addr, ip, sizeof(ip));
		if (asprintf(&s, "%s.%u.%u", ip, port >> 8, port & 255) < 0)
			s = NULL;
	} else {
		nd_error = ND_BADARG;
	}
	if (s != NULL)
		nd_error = ND_OK;
	return s;
}

static int
octal(const char *p)
{
	return p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' &&
		p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
}

static struct netbuf *
make_netbuf(const void *p, size_t len)
{
	struct netbuf *nb = calloc(1, sizeof(*nb));

	if (nb == NULL)
		return NULL;
	nb->buf = malloc(len != 0 ? len : 1);
	if (nb->buf == NULL) {
		free(nb);
		return NULL;
	}
	memcpy(nb->buf, p, len);
	nb->len = nb->maxlen = (unsigned)len;
	return nb;
}

static struct netbuf *
loop_taddr(const char *uaddr)
{
	size_t n = strlen(uaddr), len = 0;
	char *b = malloc(n + 1);
	struct netbuf *nb;

	if (b == NULL)
		return NULL;
	while (*uaddr != '\0')
		if (octal(uaddr)) {
			b[len++] = (char)((uaddr[1] - '0') << 6 |
				(uaddr[2] - '0') << 3 | (uaddr[3] - '0'));
			uaddr += 4;
		} else {
			b[len++] = *uaddr++;
		}
	nb = make_netbuf(b, len);
	free(b);
	return nb;
}

STR_EXPORT struct netbuf *
uaddr2taddr(struct netconfig *config, char *uaddr)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	unsigned a[6];
	struct netbuf *nb = NULL;
	char end;

	nd_error = ND_BADARG;
	if (config == NULL || uaddr == NULL)
		return NULL;
	if (is_loopback(config)) {
		nd_error = ND_NOMEM;
		nb = loop_taddr(uaddr);
	} else if (is_inet(config)) {
		if (sscanf(uaddr, "%3u.%3u.%3u.%3u.%3u.%3u%c", &a[0], &a[1],
			    &a[2], &a[3], &a[4], &a[5], &end) != 6)
			return NULL;
		for (int i = 0; i < 6; i++)
			if (a[i] > 255)
				return NULL;
		sin.sin_addr.s_addr = htonl(a[0] << 24 | a[1] << 16 |
			a[2] << 8 | a[3]);
		sin.sin_port = htons((uint16_t)(a[4] << 8 | a[5]));
		nd_error = ND_NOMEM;
		nb = make_netbuf(&sin, sizeof(sin));
	}
	if (nb != NULL)
		nd_error = ND_OK;
	return nb;
}

/* --------------------------------------------------------------------- options */

/* One option of @level, an unsigned number, on the endpoint. */
static int
set_option(int fd, t_uscalar_t level, t_uscalar_t name, t_uscalar_t value)
{
	struct {
		struct t_opthdr h;
		t_uscalar_t v;
	} o = {{sizeof(o), level, name, 0}, value}, r;
	struct t_optmgmt req = {{0, sizeof(o), &o}, T_NEGOTIATE};
	struct t_optmgmt ret = {{sizeof(r), 0, &r}, 0};

	if (t_optmgmt(fd, &req, &ret) < 0)
		return fail(ND_FAILCTRL);
	return ret.flags == T_SUCCESS ? ND_OK : fail(ND_FAILCTRL);
}

/* Bind to a port of the superuser's, which only it can. */
static int
reserved_port(int fd, struct netbuf *want)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	struct t_bind req = {.addr = {sizeof(sin), sizeof(sin), &sin}};

	if (want != NULL && want->buf != NULL && want->len >= sizeof(sin))
		memcpy(&sin, want->buf, sizeof(sin));
	for (unsigned port = 1023; port > 511; port--) {
		sin.sin_port = htons((uint16_t)port);
		if (t_bind(fd, &req, NULL) == 0)
			return ND_OK;
		if (t_errno != TADDRBUSY)
			return fail(t_errno == TACCES ? ND_ACCESS :
							ND_FAILCTRL);
	}
	return fail(ND_FAILCTRL);
}

static int
is_reserved(const struct netbuf *nb)
{
	struct sockaddr_in sin;

	if (nb == NULL || nb->buf == NULL || nb->len < sizeof(sin))
		return fail(ND_BADARG);
	memcpy(&sin, nb->buf, sizeof(sin));
	return ntohs(sin.sin_port) < IPPORT_RESERVED ? ND_OK :
						       fail(ND_FAILCTRL);
}

/* A server bound to any address: the client reached it at one of its own. */
static int
merge(const struct netconfig *nc, struct nd_mergearg *m)
{
	const char *s, *c;
	int n;

	if (m == NULL || m->s_uaddr == NULL)
		return fail(ND_BADARG);
	if (is_inet(nc) && strncmp(m->s_uaddr, "0.0.0.0.", 8) == 0 &&
	    m->c_uaddr != NULL) {
		s = m->s_uaddr + 8;
		for (n = 0, c = m->c_uaddr; *c != '\0'; c++)
			if (*c == '.' && ++n == 4)
				break;
		if (n != 4)
			return fail(ND_BADARG);
		if (asprintf(&m->m_uaddr, "%.*s.%s", (int)(c - m->c_uaddr),
			    m->c_uaddr, s) < 0)
			m->m_uaddr = NULL;
	} else {
		m->m_uaddr = strdup(m->s_uaddr);
	}
	return m->m_uaddr != NULL ? ND_OK : fail(ND_NOMEM);
}

STR_EXPORT int
netdir_options(struct netconfig *config, int option, int fd, char *arg)
{
	if (config == NULL)
		return fail(ND_BADARG);
	nd_error = ND_OK;
	switch (option) {
	case ND_SET_BROADCAST:
		if (!is_inet(config))
			return fail(ND_NOCTRL);
		return set_option(fd, T_INET_IP, T_IP_BROADCAST, T_YES);
	case ND_SET_RESERVEDPORT:
		if (!is_inet(config))
			return fail(ND_NOCTRL);
		return reserved_port(fd, (struct netbuf *)(void *)arg);
	case ND_CHECK_RESERVEDPORT:
		if (!is_inet(config))
			return fail(ND_NOCTRL);
		return is_reserved((struct netbuf *)(void *)arg);
	case ND_MERGEADDR:
		return merge(config, (struct nd_mergearg *)(void *)arg);
	default:
		return fail(ND_NOCTRL);
	}
}
